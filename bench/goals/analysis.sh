# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# analysis.sh - what the analyses cost in time: straggler scores per event, and a complete causal profile.

seconds() { # command... : of the processor, in the kernel, too
	local TIMEFORMAT="%U %S"
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

elapsed() { # command...: as the clock on the wall has it
	local TIMEFORMAT=%R
	{ time "$@" >/dev/null 2>&1; } 2>&1
}

# Traces as the recorder leaves them: packed.
made() { # kind
	case $1 in
	messages) "$B/test/synthesize" --hosts 4 --messages 1600000 --work 200 ;;
	threads) "$B/test/synthesize" --hosts 4 --ranks 4 --threads 16 --messages 150000 --work 200 ;;
	nested) awk -v rounds=57000 -f bench/nested_trace.awk ;;
	ranks) "$B/test/synthesize" --hosts 32 --ranks 1024 --messages 1600000 --work 200 ;;
	esac | "$B/bin/dprof-analyze" pack - "$here/$1" && "$B/bench/repack" "$here/$1"
}
table "What an event costs, of 10^7 in packed files" "In ns of processor time, from opening the trace to the answer. $rounds rounds."
goals() { # kind -> name, goals of csp, coz and report
	case $1 in
	messages) echo 40 100 130 many messages, 4 ranks ;;
	threads) echo 20 60 80 few messages, 64 threads ;;
	nested) echo 12 30 40 20 nested regions in a body ;;
	ranks) echo 40 120 160 1,024 ranks ;;
	esac
}
passes() { # command
	case $1 in
	csp) echo "the stack, matching and the sweep" ;;
	coz) echo "the stack, matching, the graph, and each what-if's saving at each of its nodes" ;;
	report) echo "those of csp and of coz" ;;
	esac
}
for kind in messages threads nested ranks; do
	progress "$kind"
	made $kind
	"$B/bench/csp" "$here/$kind" "$rounds" >"$here/ns"
	events=$(head -1 "$here/ns")
	read -r csp coz report name < <(goals $kind)
	for command in csp coz report; do
		for round in $(seq "$rounds"); do
			progress "$kind, $command, round $round of $rounds"
			seconds "$B/bin/dprof-analyze" $command --jobs 1 --json "$here/$kind"
		done | awk -v events="$events" '{ print 1e9 * $1 / events }' | estimate >"$here/estimate"
		row "$command: $name" "$(cat "$here/estimate")" ns "<= ${!command}"
		why "the files are read once; what is left are passes over columns: $(passes $command)"
	done
	sed 1d "$here/ns" | awk '{ print $2 }' | estimate >"$here/estimate"
	row "reading once more: $name" "$(cat "$here/estimate")" ns "<= 6"
	why "columns are unpacked, and all that an analysis may ask of an event is given"
	sed 1d "$here/ns" | awk '{ print $1 }' | estimate >"$here/estimate"
	row "adding up words: $name" "$(cat "$here/estimate")" ns
	for round in $(seq "$rounds"); do
		for jobs in 1 2; do
			echo "$round $jobs $(elapsed "$B/bin/dprof-analyze" csp --jobs $jobs --json "$here/$kind")"
		done
	done >"$here/jobs"
	row "csp, two jobs of one: $name" "$(paired ratio 2 1 <"$here/jobs" | estimate)" x "<= 0.56"
	why "the program's messages are matched, and clocks solved, by one core; so is each sweep. Other cores must be idle"
	if command -v mpirun >/dev/null; then
		for round in $(seq "$rounds"); do
			echo "$round 1 $(elapsed "$B/bin/dprof-analyze" csp --jobs 1 --json "$here/$kind")"
			echo "$round 2 $(elapsed mpirun --allow-run-as-root --oversubscribe -n 2 "$B/bin/dprof-analyze" csp --json "$here/$kind")"
		done >"$here/processes"
		row "csp, two processes of one: $name" "$(paired ratio 2 1 <"$here/processes" | estimate)" x "<= 0.56"
		why "the start of mpirun is in it; what two jobs cannot share two processes cannot either"
	fi
	if [ "$kind" = messages ]; then
		for round in $(seq "$rounds"); do
			for command in coz path waits; do
				progress "$kind, $command, round $round of $rounds"
				echo "$round $command $(seconds "$B/bin/dprof-analyze" $command --jobs 1 --json "$here/$kind")"
			done
		done >"$here/same"
		for command in path waits; do
			row "$command, time of coz: $name" "$(paired ratio $command coz <"$here/same" | estimate)" x "<= 1.5"
			why "for path the graph is visited forwards and back; for waits once more, with what each thread did before"
		done
		for round in $(seq "$rounds"); do
			progress "$kind, report --html, round $round of $rounds"
			echo "$round html $(seconds "$B/bin/dprof-analyze" report --jobs 1 --html "$here/page.html" --force "$here/$kind")"
			echo "$round page $(seconds "$B/bin/dprof-analyze" report --jobs 1 "$here/$kind")"
		done >"$here/html"
		row "report --html, time of report: $name" "$(paired ratio html page <"$here/html" | estimate)" x "<= 1"
		why "the page has waits, critical path, call paths, efficiencies and diagnosis as well, which report has not"
		row "report --html: $name" "$(wc -c <"$here/page.html" | awk '{ print $1 / 1e6 }' | estimate)" MB "<= 10"
		why "its timeline has at most so many bars; its tables have rows for each thread and each place"
	fi
	for round in $(seq "$rounds"); do
		progress "$kind, diagnose, round $round of $rounds"
		echo "$round diagnose $(seconds "$B/bin/dprof-analyze" diagnose --jobs 1 --json "$here/$kind")"
		echo "$round reading $(seconds "$B/bin/dprof-analyze" clocks --jobs 1 --links packets --json "$here/$kind")"
	done >"$here/diagnose"
	row "diagnose, of reading: $name" "$(paired ratio diagnose reading <"$here/diagnose" | estimate)" x "<= 2"
	why "it is given waiting, call paths and what-ifs, each of which goes through the graph; its own rules take some 10 ms"
	rm -rf "${here:?}/$kind"
done

table "Straggler scores of 10^6 events on many hosts, one core" "In processor time. $rounds rounds."
for shape in "10 10" "300 300" "100 10000"; do
	read -r hosts ranks <<<"$shape"
	progress "$ranks ranks on $hosts hosts"
	"$B/test/synthesize" --hosts "$hosts" --ranks "$ranks" --messages 160000 --work 200 | "$B/bin/dprof-analyze" pack - "$here/many"
	"$B/bench/csp" "$here/many" "$rounds" | sed 1d | awk -v way="$ranks" '{ print NR, way, $0 }' >>"$here/many.ns"
	for round in $(seq "$rounds"); do
		echo "$round $ranks $(seconds "$B/bin/dprof-analyze" query --jobs 1 --json --links packets "$here/many" "count(recv) >= 2")"
	done >>"$here/many.query"
	rm -rf "$here/many"
done
column() { awk -v c="$1" '{ print $1, $2, $(c + 2) }' "$here/many.ns"; } # of bench/csp
row "300 hosts, of 10 hosts" "$(column 3 | paired ratio 300 10 | estimate)" x "<= 2"
why "the trace is opened file by file, and the clocks of 300 hosts are solved by as many links as they have"
row "300 hosts, the sweep alone" "$(column 5 | paired ratio 300 10 | estimate)" x "<= 2"
why "a change costs as many steps as a tournament of all hosts is high"
row "query, 300 hosts, of 10 hosts" "$(paired ratio 300 10 <"$here/many.query" | estimate)" x "<= 2"
why "as csp"
row "10,000 ranks" "$(column 3 | only 10000 | estimate)" ns "<= 100"
why "10,000 files of 100 events are opened, decoded and checked one by one; the sweep is the least part of it"
row "10,000 ranks, links from messages" "$(column 4 | only 10000 | estimate)" ns "<= 100"
why "as above, and every message is matched"
for ranks in 10 300; do
	awk -v ranks=$ranks '$2 == ranks { print $7 / $8 }' "$here/many.ns" | estimate >"$here/pruned"
	row "pruned, of not, $ranks hosts" "$(cat "$here/pruned")" x
done
rm -f "$here/many.ns" "$here/many.query" "$here/pruned"

table "A complete causal profile, 20 regions by 21 percentages" "In multiples of csp on the same trace. $rounds rounds."
profile_row() { # name [goal], of the trace that comes
	"$B/bin/dprof-analyze" pack - "$here/profile.trace"
	for round in $(seq "$rounds"); do
		progress "causal profile, round $round of $rounds"
		echo "$round csp $(seconds "$B/bin/dprof-analyze" csp --jobs 1 --json "$here/profile.trace")"
		echo "$round coz $(seconds "$B/bin/dprof-analyze" coz --jobs 1 --json "$here/profile.trace")"
	done >"$here/profile"
	row "$1" "$(paired ratio coz csp <"$here/profile" | estimate)" x ${2+"$2"}
	rm -rf "$here/profile.trace"
}
for visits in 20 2; do
	profile_row "$visits visits between barriers" "<= 3" \
		< <(awk -v rounds=$((480000 / (8 * visits + 8))) -v visits=$visits -f bench/profile_trace.awk)
	why "each barrier costs 800 sums for each thread, shared by too few region visits"
done
profile_row "a lock that is taken in turn" < <(awk -v rounds=36000 -f bench/locks_trace.awk)

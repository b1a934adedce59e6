# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# analysis.sh - what the analyses cost: straggler scores per event, and a complete causal profile.

table "Straggler scores of 10^7 events on 4 hosts, one core" "In events per second of processor time. $rounds rounds."
progress "scores"
"$B/test/synthesize" --hosts 4 --messages 1500000 --work 200 | "$B/bin/dprof-analyze" pack - "$here/csp"
"$B/bench/csp" "$here/csp" "$rounds" >"$here/csp.ns"
events_per_second() { # column: of the ns in each round
	sed 1d "$here/csp.ns" | awk -v c="$1" '$c > 0 { print 1e3 / $c }' | estimate
}
row "csp --links packets" "$(events_per_second 3)" M/s ">= 50"
why "all events of this trace change a state, so each is decoded twice and goes through a stack, a merge by \
stamps, two conversions and a merge by times: 870 instructions in all"
row "csp" "$(events_per_second 4)" M/s ">= 50"
why "two of three events belong to messages, which are matched one by one: another 600 instructions; and \
the links that other links do not imply are solved"
row "decoding alone" "$(events_per_second 2)" M/s
row "adding up the files' words" "$(events_per_second 1)" M/s
rm -rf "$here/csp"

seconds() { # command... : of the processor
	local TIMEFORMAT=%U
	{ time "$@" >/dev/null 2>&1; } 2>&1
}
table "Straggler scores of 10^6 events on many hosts, one core" "In processor time. $rounds rounds."
for shape in "10 10" "300 300" "100 10000"; do
	read -r hosts ranks <<<"$shape"
	progress "$ranks ranks on $hosts hosts"
	"$B/test/synthesize" --hosts "$hosts" --ranks "$ranks" --messages 160000 --work 200 | "$B/bin/dprof-analyze" pack - "$here/many"
	"$B/bench/csp" "$here/many" "$rounds" | sed 1d | awk -v way="$ranks" '{ print NR, way, $0 }' >>"$here/many.ns"
	for round in $(seq "$rounds"); do
		echo "$round $ranks $(seconds "$B/bin/dprof-analyze" query --json --links packets "$here/many" "count(recv) >= 2")"
	done >>"$here/many.query"
	rm -rf "$here/many"
done
column() { awk -v c="$1" '{ print $1, $2, $(c + 2) }' "$here/many.ns"; } # of bench/csp
row "300 hosts, of 10 hosts" "$(column 3 | paired ratio 300 10 | estimate)" x "<= 2"
why "the trace is opened file by file, and the clocks of 300 hosts are solved by as many links as they have"
row "300 hosts, the sweep alone" "$(column 5 | paired ratio 300 10 | estimate)" x "<= 2"
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
for visits in 20 2; do
	awk -v rounds=$((480000 / (8 * visits + 8))) -v visits=$visits -f bench/profile_trace.awk |
		"$B/bin/dprof-analyze" pack - "$here/profile.$visits"
	for round in $(seq "$rounds"); do
		progress "causal profile, round $round of $rounds"
		echo "$round csp $(seconds "$B/bin/dprof-analyze" csp --json "$here/profile.$visits")"
		echo "$round coz $(seconds "$B/bin/dprof-analyze" coz --json "$here/profile.$visits")"
	done >"$here/profile"
	row "$visits visits between barriers" "$(paired ratio coz csp <"$here/profile" | estimate)" x "<= 3"
	why "each barrier costs 800 sums for each thread, shared by too few region visits"
done

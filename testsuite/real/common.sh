# SPDX-License-Identifier: MIT
#
# common.sh - what the scripts of the programs share; each is started by run in a folder of its own, $dir.
set -euo pipefail
: "${B:?the build folder}" "${dir:?where to work}" "${here:?the folder of the scripts}"
export PATH=$B/bin:$PATH LC_ALL=C OMP_NUM_THREADS=1 DPROF_DIR=$dir/traces
unset DPROF_OFF DPROF_HOST MAKEFLAGS MFLAGS MAKEOVERRIDES # what we are made with is not theirs
results=$dir/results
: >"$results"

say() { printf '\n%s\n' "$*"; }

# source_of PACKAGE: Debian's original source, as it is, in ./source.
source_of() {
	"$here/../debian-source" "$1" source || exit 77
}

# built FOLDER COMMAND...: runs it once in a copy of ./source, and again when dprof's plugin or library is newer.
built() {
	local stamp=$dir/$1.built start=$SECONDS
	[ ! -e "$stamp" ] || [ "$B/plugin/dprof.so" -nt "$stamp" ] || [ "$B/lib/libdprof.so" -nt "$stamp" ] || return 0
	rm -rf "$1"
	cp -r source "$1"
	(cd "$1" && "${@:2}") >build.log 2>&1 || { tail -5 build.log; echo "the build failed: $dir/build.log"; exit 1; }
	touch "$stamp"
	echo "  built in $((SECONDS - start)) s with $(grep -c 'dprof-' build.log) commands of the wrappers"
}

mpi() { # ranks command...
	local n=$1
	shift
	mpirun --allow-run-as-root --oversubscribe --quiet --mca mpi_yield_when_idle "$((n > $(nproc)))" -n "$n" "$@"
}

monitoring() { # NAME: options of mpirun, to have NAME.RANK.prof
	echo "--mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename $dir/$1"
}

# profile RANKS COMMAND...: one run that three look at: dprof, clocked.so, OpenMPI's own monitoring. -> $trace, $ranks
profile() {
	ranks=$1
	shift
	rm -rf "$DPROF_DIR" clocked monitored.*
	mkdir -p "$DPROF_DIR" clocked
	# shellcheck disable=SC2046
	mpi "$ranks" $(monitoring monitored) \
		-x LD_PRELOAD="$B/test/clocked.so" -x CLOCKED="$dir/clocked" "$@" >out 2>&1 || { tail -5 out; exit 1; }
	trace=$(echo "$DPROF_DIR"/dprof-*)
}

# verdict STATUS WHAT: counted by run.
verdict() {
	[ "$1" = 0 ] && echo "agree $2" >>"$results" || echo "DIFFER $2" >>"$results"
}

report() { dprof-analyze "$trace" | sed 's/^./    &/'; }

# Is the trace sound; who waited and was alone; which messages were sent.
opinions() {
	local status=0
	say "  dprof-analyze check:"
	dprof-analyze check "$trace" | sed 's/^/    /' || status=1
	verdict $status "the trace is sound"
	dprof-analyze csp --json "$trace" >csp.json || true

	status=0
	python3 "$here/second_opinion.py" clocked csp.json || status=1
	verdict $status "who waited, who was alone"
	messages
}

# dprof itself sends some when MPI begins: as many as in a program that does nothing else.
own_messages() { # ranks
	echo '#include <mpi.h>
		int main(int n, char **v) { MPI_Init(&n, &v); return MPI_Finalize(); }' >empty.c
	dprof-mpicc empty.c -o empty
	# shellcheck disable=SC2046
	DPROF_OFF=1 mpi "$1" $(monitoring own) ./empty
	awk '$1 == "E" { print $2, $3, $6, $4 }' own.*.prof
}

# Point-to-point messages of each pair of ranks, as OpenMPI counted them and as the trace has them.
messages() {
	local status=0
	{ own_messages "$ranks" | sed 's/^/own /'; awk '$1 == "E" { print "all", $2, $3, $6, $4 }' monitored.*.prof; } |
		awk '{ pair = $2 " " $3; sign = $1 == "own" ? -1 : 1; n[pair] += sign * $4; bytes[pair] += sign * $5 }
			END { for (p in n) if (n[p]) print p, n[p], bytes[p] }' | sort >messages.monitored
	dprof-analyze dump "$trace" | awk '
		function value(key) { return match($0, " " key "=[^ ]+") ? substr($0, RSTART + length(key) + 2,
			RLENGTH - length(key) - 2) : "" }
		$1 == "thread" { rank[$2] = value("rank") }
		$1 == "site" && $3 == "kind=send" { sends[$2] = 1 }
		$1 == "e" && $5 == "enter" && ($4 in sends) && value("peer") != "" {
			pair = rank[$2] " " value("peer"); n[pair]++; bytes[pair] += value("bytes")
		}
		END { for (p in n) print p, n[p], bytes[p] }' | sort >messages.dprof
	say "  Messages, as OpenMPI's monitoring counted them and as dprof recorded them"
	echo "    from  to   OpenMPI: messages, bytes    dprof: messages, bytes"
	cmp -s messages.monitored messages.dprof || status=1
	paste -d' ' messages.monitored messages.dprof |
		awk -v s=$status '{ printf "    %4s %3s %18s %9s %17s %9s   %s\n", $1, $2, $3, $4, $7, $8,
		$1 " " $2 " " $3 " " $4 == $5 " " $6 " " $7 " " $8 ? "agree" : "DIFFER" }'
	verdict $status "messages and bytes of each pair of ranks"
}

# region_s NAME RANK: seconds in a region, "lo hi".
region_s() {
	[ report.json -nt "$trace" ] || dprof-analyze --json "$trace" >report.json || true
	python3 -c '
import json, sys
for r in json.load(open("report.json"))["regions"]:
    if r["region"] == sys.argv[1] and r["rank"] == int(sys.argv[2]):
        print(r["time_s"]["lo"], r["time_s"]["hi"])' "$1" "$2"
}

# near WHAT "LO HI" OTHER BY TOLERANCE: is the other figure as near as that to dprof's interval?
near() {
	local status=0
	# shellcheck disable=SC2086
	set -- "$1" ${2:-missing missing} "$3" "$4" "$5"
	awk -v what="$1" -v lo="$2" -v hi="$3" -v x="$4" -v by="$5" -v t="$6" 'BEGIN {
		fine = hi ~ /^[0-9]/ && x ~ /^[0-9]/ && x >= lo - t && x <= hi + t
		printf "    %-44s dprof %.5f .. %.5f s, %s %.5f s   %s\n", what, lo, hi, by, x, fine ? "agree" : "DIFFER"
		exit !fine }' || status=1
	verdict $status "$1"
}

# predicted ARGUMENTS-OF-COZ...: how much shorter the run would be, in percent of it, "lo hi".
predicted() {
	dprof-analyze coz --json "$@" "$trace" 2>/dev/null | python3 -c '
import json, sys
p = json.load(sys.stdin)["expected_percent"]
print(p["lo"], p["hi"])'
}

# pairs AS-IT-WAS CHANGED: runs the two commands, which print how many seconds they took and leave a trace in again,
# in turn; of each the least disturbed run counts. -> the file pairs; $trace: of the fastest as it was
pairs() {
	local a b fastest=
	: >pairs
	rm -rf fastest
	for _ in 1 2 3 4 5; do
		a=$($1)
		if [ -z "$fastest" ] || awk -v a="$a" -v b="$fastest" 'BEGIN { exit !(a < b) }'; then
			fastest=$a
			rm -rf fastest
			mv again fastest
		fi
		b=$($2)
		echo "$a $b" >>pairs
	done
	trace=$(echo "$dir"/fastest/dprof-*)
}

# what_if "LO HI": what is predicted, beside the pairs. Other jobs may make that meaningless: the least two runs should
# not differ by more than what is to be told.
what_if() {
	local said
	# shellcheck disable=SC2086
	set -- ${1:-missing missing} pairs
	said=$(paste -d' ' <(cut -d' ' -f1 "$3" | sort -g) <(cut -d' ' -f2 "$3" | sort -g) | awk -v lo="$1" -v hi="$2" '
		NR == 1 { a = $1; b = $2 }
		NR == 2 { noise = 100 * (($1 - a) + ($2 - b)) / a }
		END {
			x = 100 * (1 - b / a); tolerance = 2
			fine = hi ~ /^[0-9]/ && x >= lo - tolerance && x <= hi + tolerance
			printf "dprof %.2f .. %.2f %%, really %.2f %% (%.3f s, then %.3f s; noise %.1f points): %s\n", lo, hi, x, a, b,
				noise, (fine ? "agree" : noise > tolerance ? "UNDECIDED" : "DIFFER") }')
	echo "    $said"
	echo "${said##*: } what if: ${said%: *}" >>"$results"
}

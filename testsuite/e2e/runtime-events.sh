#!/bin/bash
# SPDX-License-Identifier: MIT
#
# DPROF_EVENTS: what is left out is left out wholly, whoever would have recorded it, and all else is there as
# without it, each with its own arguments; the trace says so, and no analysis prints bounds that lack it.
command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null || exit 77
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
rounds=50 here=$PWD

# shellcheck disable=SC2046
mpicc.openmpi -O2 $(pkg-config --cflags dprof-openmpi) testsuite/fixtures/runtime/kinds.c -o "$dir/kinds" -pthread \
	$(pkg-config --libs dprof-openmpi) || exit 1
cd "$dir" || exit 1

record() { # events
	rm -rf dprof-*
	# shellcheck disable=SC2046
	DPROF_EVENTS=$1 $(mpirun_of openmpi) -n 2 \
		./kinds $rounds >out 2>err || fail "DPROF_EVENTS=$1: status $?: $(cat err)"
	[ "$(cat out)" = $((rounds * (rounds - 1))) ] || fail "DPROF_EVENTS=$1: the program prints $(cat out)"
	"$analyze" check dprof-kinds.* >check 2>&1 || fail "DPROF_EVENTS=$1: $(cat check)"
	"$analyze" dump dprof-kinds.* >text 2>&1
}

# kind name op arguments -> how often. Ids and stamps are left out; so are numbers of threads, which they get
# as they record.
sums() {
	awk '/^site / { for (i = 3; i <= NF; i++) { split($i, p, "="); v[p[1]] = p[2] } kind[$2] = v["kind"]; name[$2] = v["name"] }
		/^e / { a = ""; for (i = 6; i <= NF; i++) { split($i, p, "="); a = a " " (p[1] == "id" || p[1] == "group" ? p[1] : $i) }
			n[kind[$4] " " name[$4] " " $5 a]++ }
		END { for (k in n) print k, "x", n[k] }' text | sort
}

# What is there of these kinds in the trace of everything, and here; but for calls of the C library, which are recorded
# when they took long.
same_as_everything() { # events kinds: as a pattern
	grep -E "^($2) " everything >expected
	sums | grep -vE '^(io|sleep) ' >found
	diff expected found >difference || fail "DPROF_EVENTS=$1 differs: $(head -5 difference)"
}

record ""
sums >everything
for kind in region barrier coll send recv wait fork join lock progress; do
	grep -q "^$kind " everything || fail "the program has no event of kind $kind"
done
grep -q '^without' text && fail "something is left out although that is not wanted"

all='region|barrier|coll|send|recv|wait|fork|join|lock|progress'
while read -r events kinds without; do
	record "$events"
	same_as_everything "$events" "$kinds"
	grep -qx "without $without" text || fail "DPROF_EVENTS=$events: $(grep ^without text)"
	"$analyze" pack text again && "$analyze" dump again | diff - text >/dev/null ||
		fail "DPROF_EVENTS=$events: the text is not read back"
	rm -rf again
	"$analyze" coz dprof-kinds.* 2>&1 | tr -s ' \n' ' ' >answer
	case $without:$kinds in
	progress:*) grep -q 'How much shorter the run' answer || fail "DPROF_EVENTS=$events: coz says $(cat answer)" ;;
	*:*region*) grep -q 'since it was left out' answer || fail "DPROF_EVENTS=$events: coz says $(cat answer)" ;;
	*) grep -q 'No region was recorded' answer || fail "DPROF_EVENTS=$events: coz says $(cat answer)" ;;
	esac
	grep -q 'were not recorded (DPROF_EVENTS, or MPI' answer || fail "DPROF_EVENTS=$events: coz has no note"
	"$analyze" csp --json dprof-kinds.* >scores 2>&1
	status=$?
	case $without in # that says nothing of work and waiting
	progress) [ $status = 0 ] || fail "DPROF_EVENTS=$events: csp: $(cat scores)" ;;
	*) [ $status = 1 ] && ! grep '"straggler_percent"' scores | grep -vq '{"lo": *0, *"hi": *100}' ||
		fail "DPROF_EVENTS=$events: csp: $(cat scores)" ;;
	esac
done <<END
region region barrier,coll,send,recv,wait,fork,join,lock,progress,io,sleep
-lock ${all/|lock/} lock
-region ${all/region|/} region
-progress ${all/|progress/} progress
-barrier,-wait ${all/barrier|/} barrier,wait
END

# Who looks at kinds asks nothing of the system for that: neither where regions are left out, nor where others are. A
# machine that is busy only adds.
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -o visits "$here/testsuite/fixtures/runtime/visits.c" $(pkg-config --libs dprof) ||
	fail "visits"
for events in "" region -region progress region,barrier; do
	for _ in 1 2 3 4 5; do
		answer=$(DPROF_EVENTS=$events ./visits)
		[ "$answer" = yes ] && break
	done
	[ "$answer" = yes ] || fail "DPROF_EVENTS=$events: a visit to a region takes as long as system calls"
done

record "region,locks"
same_as_everything "region,locks" "$all"
grep -q "^note .*DPROF_EVENTS.*'locks'.*no%20kind" text || fail "a wrong name is not noted: $(grep ^note text)"
grep -q '^without' text && fail "a wrong name leaves something out"

exit $failed

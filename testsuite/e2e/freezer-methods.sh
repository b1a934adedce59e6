#!/bin/bash
# SPDX-License-Identifier: MIT
#
# clocks --method runs what others do on the same trace.
. testsuite/fixtures/analysis/setup.sh

# Clock h1 shows 1.25 times the time, plus 7000; packets travel 1000 ticks each way. The ranks leave
# barriers at the same moment, but the last one 100 ticks apart, and one that only one of them recorded: that is named, and the status is 1.
world() {
	cat <<-END
		dprof-text 1
		clock 0 host=h0 ghz=2
		clock 1 host=h1 ghz=2
		thread 0 clock=0 rank=0
		thread 1 clock=1 rank=1
		group 7 threads=0,1
		site 0 kind=barrier name=MPI_Barrier file=made.c line=2
	END
	for t in 1000000 2000000 9000000; do
		echo "link 0 $t 1 $((t + t / 4 + 7000 + 1250))"
		echo "link 1 $((t + t / 4 + 7000 + 1250)) 0 $((t + 2000))"
	done
	cat <<-END
		e 0 1000000 0 enter group=7 seq=0
		e 0 1000400 0 exit
		e 1 1257000 0 enter group=7 seq=0
		e 1 1257500 0 exit
		e 0 2000000 0 enter group=7 seq=1
		e 0 9000300 0 exit
		e 1 11257000 0 enter group=7 seq=1
		e 1 11257500 0 exit
		e 0 9900000 0 enter group=7 seq=2
		e 0 9900900 0 exit
	END
}

rate() { # method least most
	expect 1 clocks --json --method "$1" made
	says out "\"method\": \"$1\""
	sed -n 's/.*"rate": \(.*\),/\1/p' out | awk -v lo="$2" -v hi="$3" '
		!(lo <= $1 && $1 <= hi) { exit 1 } END { exit NR != 1 }' ||
		fail "$1: expected a rate in $2 .. $3, found: $(cat out)"
}

world | trace made
rate regression 0.799999 0.800001
rate hull 0.799999 0.800001
rate lp 0.799999 0.800001
rate freezer 0.799999 0.800001
rate barriers 0.79998 0.80000 # (9000300 - 1000400) / (11257500 - 1257500) = 0.79999
says out '"outside_proven": 0'
says_not out '"width_s"'

# Both who claim bounds; the formula's grow by two round trips.
for method in lp freezer; do
	expect 1 clocks --json --method $method made
	tr -d ' \n' <out | sed 's/.*"width_s":{"min":\([^,]*\),"median":[^,]*,"max":\([^}]*\).*/\1 \2/' >$method
done
awk '{ exit !(1.0e-6 <= $1 && $2 < 1.2e-6) }' lp || fail "lp: $(cat lp)"
awk '{ exit !(1.0e-6 <= $1 && $1 < 1.2e-6 && 2.9e-6 < $2 && $2 < 3.2e-6) }' freezer || fail "freezer: $(cat freezer)"

expect 1 clocks --method freezer made
says out "FreeZer's formula"
expect 1 clocks --method regression --base h1 made
says out " h0 "
expect 2 clocks --method guess made
says err 'expected regression, hull, lp, freezer or barriers; found "guess"'
expect 2 report --method lp made
says err "report has no option --method"
world | grep -v ^link | trace unlinked
expect 1 clocks --links packets --method lp unlinked
says out "too little is known of this clock"
echo "as expected"

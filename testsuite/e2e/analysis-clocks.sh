#!/bin/bash
# SPDX-License-Identifier: MIT
#
# clocks says how well each clock is known, and says so when one is not known at all.
. testsuite/fixtures/analysis/setup.sh

# Clock h1 shows 1.25 times the time, plus 7000; packets travel 1000 and 600 ticks.
world() {
	cat <<-END
		dprof-text 1
		clock 0 host=h0 ghz=2
		clock 1 host=h1 ghz=2
		thread 0 clock=0 rank=0
		thread 1 clock=1 rank=1
		site 0 kind=region name=body file=made.c line=1
		site 1 kind=barrier name=MPI_Barrier file=made.c line=2
	END
	for t in 1000000 2000000 9000000; do
		echo "link 0 $t 1 $((t + t / 4 + 7000 + 1250))"
		echo "link 1 $((t + t / 4 + 7000)) 0 $((t + 600))"
	done
	cat <<-END
		e 0 1000000 0 enter
		e 0 8000000 0 exit
		e 1 1257000 0 enter
		e 1 2507000 0 exit
		e 1 2507000 1 enter
		e 1 11257000 1 exit
	END
}

numbers() { # what follows a key in the file out
	sed -n "s/.*\"$1\": \([-0-9.e]*\).*/\1/p" out
}

world | trace good
expect 0 clocks --json good
says out '"model": "drift:10"'
says out '"bounds": "proven"'
expect 0 clocks --json --clock-model affine good
says out '"base": "h0"'
says out '"model": "affine"'
says out '"rate": {"lo": 1, "hi": 1}'
sed -n 's/.*"rate": {"lo": \(.*\), "hi": \(.*\)}.*/\1 \2/p' out | awk '
	NR == 2 { exit !($1 <= 0.8 && 0.8 <= $2 && $2 - $1 < 0.001) } END { exit NR != 2 }' ||
	fail "the rate of h1 is not 0.8 to a thousandth: $(cat out)"
sed -n 's/.*"fastest_packets_s": {"lo": \(.*\), "hi": \(.*\)}.*/\1 \2/p' out | awk '
	{ n++; if (!($1 <= 8e-7 && 8e-7 <= $2)) bad = 1 } END { exit bad || n != 1 }' || fail "the fastest packets there and back took 1600 ticks: $(cat out)"
paste -d' ' <(numbers min) <(numbers median) <(numbers max) | awk '
	!($1 <= $2 && $2 <= $3) { bad = 1 }
	NR == 1 && $3 > 1e-9 { bad = 1 }                # the base: a tick
	NR == 2 && ($1 < 7.9e-7 || $3 > 1.2e-6) { bad = 1 } # both packets, and a little
	END { exit bad || NR != 2 }' || fail "widths: $(cat out)"
expect 0 clocks good
says out "fastest packet round trip: 0."
says out "rate 0."

expect 0 clocks --json --base h1 good
says out '"base": "h1"'
expect 2 clocks --base h7 good
says err 'expected a host of the trace, such as h'

# Without packets h1 has no place: its threads are still analysed, and nothing is claimed.
world | grep -v ^link | trace unlinked
expect 1 clocks --json unlinked
says out '"status": "unlinked"'
says out '"rate": {"lo": 0, "hi": null}'
says err "clock h1: too few links with clock h0 (0 found)"
expect 1 clocks unlinked
says out "unlinked      no place"
expect 1 csp --json unlinked
awk '/"ranks"/ { exit } /straggler_percent/ { n++; if ($0 !~ /"lo": 0,/) exit 1 } END { exit n != 2 }' out ||
	fail "none is proved to wait: $(cat out)"
expect 1 report unlinked
says out "rank 1"
says err "analysed on their own clock only"

# A packet that arrives before it was sent.
{ world; echo "link 0 5000000 1 5000000"; } | grep -v '^e' >text
world | grep '^e' >>text
trace contradiction <text
expect 1 clocks contradiction
says err "not proven"
says err "h0 5000000 -> h1 5000000"
ppm=$(sed -n 's/.*--clock-model drift:\([0-9.]*\) is the least that reconciles them.*/\1/p' err)
[ "$ppm" ] || fail "no drift that reconciles the links: $(cat err)"
expect 0 clocks --clock-model "drift:$ppm" contradiction
expect 1 clocks --clock-model "drift:$(awk "BEGIN { printf \"%.3f\", $ppm - 0.001 }")" contradiction
says err "drift:$ppm is the least"
echo "as expected"

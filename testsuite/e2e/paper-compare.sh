#!/bin/bash
# SPDX-License-Identifier: MIT
#
# compare: what the methods of others make of the clocks of a recorded trace, beside what is proven.
. testsuite/fixtures/analysis/setup.sh

# Clock h1 shows 1.25 times the time, plus 7000; packets travel 1000 ticks each way. The ranks leave
# barriers at the same moment, but the last one 100 ticks apart, and one that only one of them recorded.
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

# The line of a method, in the file found: what it says of h1.
compared() { # trace method status
	"$B/bench/paper/compare" "$1" >out 2>err
	[ $? -eq "$3" ] || fail "compare: expected status $3: $(cat out err)"
	grep -P "^$2\th1\t" out >found || fail "$2 is missing: $(cat out)"
}

number() { # column least most: of the line in the file found
	awk -F '\t' -v n="$1" -v lo="$2" -v hi="$3" '{ exit !($n ~ /^[0-9.e-]+$/ && lo <= $n + 0 && $n + 0 <= hi) }' found ||
		fail "expected $2 .. $3 in column $1, found: $(cat found)"
}

none() { # column...
	local n
	for n in "$@"; do
		[ "$(cut -f "$n" found)" = - ] || fail "expected nothing in column $n, found: $(cat found)"
	done
}

# A rate, of four events of h1 and the last one again; nothing is wrong by more than the packets allow.
world | trace made
for method in regression convex-hull fastest-middles lp-per-stamp freezer-formula; do
	compared made $method 0
	number 3 0.799999 0.800001
	number 4 5 5
	number 8 0 0
	number 9 0 0
done
compared made two-barriers 0
number 3 0.79998 0.79999999 # (9000300 - 1000400) / (11257500 - 1257500) = 0.79999
[ "$(wc -l <out)" -eq 6 ] || fail "expected a line for each of six methods, found: $(cat out)"

# Both who claim bounds; the formula's grow by two round trips, of 1 us.
compared made lp-per-stamp 0
number 5 1.0 1.2
number 7 1.0 1.2
compared made freezer-formula 0
number 5 1.0 1.2
number 7 2.9 3.2
for method in regression convex-hull fastest-middles two-barriers; do
	compared made $method 0
	none 5 6 7
done

# Who takes ranks to leave a barrier at one moment is wrong where they do not, by almost as much.
world | sed 's/^e 1 11257500 /e 1 11267500 /' | trace apart
compared apart two-barriers 0
number 8 1 5
number 9 3 4 # 10000 ticks, of 1.25 each; 0.5 us are proven

# Nothing is proven of a clock that jumped, so no method is judged by it.
world | awk '$1 == "link" && $2 == 1 && $3 > 5000000 { $3 += 400000 } $1 == "link" && $4 == 1 && $5 > 5000000 { $5 += 400000 } 1' |
	trace jump
compared jump regression 1
none 8 9
says err "contradict the assumption"

world | grep -v ^link | trace unlinked
compared unlinked lp-per-stamp 0
[ "$(cut -f 3 found)" = too-little-evidence ] || fail "without packets: $(cat found)"

expect 2 clocks --method lp made # it is no part of the product
says err "there is no option --method"
"$B/bench/paper/compare" nowhere >out 2>err && fail "a trace that is not there: $(cat out)"
says err "expected a trace directory, found nothing of that name"
echo "as expected"

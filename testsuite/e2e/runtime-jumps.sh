#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Whatever leaves a region without passing its end (longjmp, a signal handler's siglongjmp, an exception through C,
# another context, a stack switched by assembly, a jump that the compiler makes, pthread_exit, cancellation, exit, _exit):
# what the program itself measured of that region lies in every interval that is printed of it; and only what was
# certainly not left has an exact one. Stacks whose exits nest are told by who switches them.
. testsuite/fixtures/analysis/setup.sh
fixtures=$fixtures/../runtime
export DPROF_DIR=$tmp DPROF_QUIET=1
"$B/bin/dprof-cc" -O2 -c "$fixtures/jumps.c" -o jumps.o || fail "jumps.c does not compile"
"$B/bin/dprof-c++" -O2 -U_FORTIFY_SOURCE -pthread "$fixtures/jump-ways.cc" jumps.o -o ways || fail "jump-ways.cc does not compile"

number() { # of a JSON file: the seconds of region `left`, or of a query
	tr -d ' \n' <"$1" | sed -n "s/.*$2:{\"lo\":\([^,]*\),\"hi\":\([^}]*\)}.*/\1 \2/p"
}
contains() { # what truth lo hi
	[ $# -eq 4 ] || fail "$way: nothing is said of $1: $(cat out)"
	case $way in # a region that the process ends in lasts until then: behind what the program could measure
	exit | _exit) is_true "$2 <= $3 + 1e-4" ;;
	*-exit) is_true "$3 <= $2 + 1e-4 && $2 <= $4 + 1e-4" ;; # the last of two visits, in time of both
	*) is_true "$3 <= $2 + 1e-4 && $2 <= $4 + 1e-4" ;;
	esac || fail "$way: $1 is $2, found $3 .. $4"
}
for way in longjmp signal exception context pthread_exit cancel exit _exit jumped-exit tangled-exit assembly builtin builtin-exit \
	swap nested-swap nested-jump; do
	rm -rf dprof-*
	ticks=$(./ways $way) || fail "$way: status $?"
	run=$(echo dprof-*)
	expect 0 check "$run"
	case $way in
	nested-* | tangled-exit | context) says out "it switched stacks (swapcontext, setcontext, longjmp) inside of 'left' " ;;
	*) says_not out 'switched stacks' ;;
	esac
	case $way in
	exit | _exit) says out "its process ended inside of 'left' " && says out ', which lasts until then' ;;
	longjmp | signal | exception | context | jumped-exit | builtin-exit) says out "had not been left; as the thread may have jumped" ;;
	swap) says_not out 'note: ' ;;
	nested-*) says out ': it may be anywhere at any time' ;;
	tangled-exit | assembly) says out ' no enter: it may be anywhere at any time' ;;
	*)
		says out ': it jumped (longjmp, an exception, another stack, pthread_exit, exit), so 1 enter has no exit, first of '
		says out "'left' (" && says out ': how long it was there is an interval'
		;;
	esac
	truth=$("$analyze" dump "$run" 2>/dev/null |
		awk -v n="$ticks" '$1 == "clock" { sub(".*ghz=", ""); printf "%.9f\n", n / $1 / 1e9 }')
	"$analyze" report --json "$run" >out 2>/dev/null
	case $way in *-exit) visits=2 ;; *) visits=1 ;; esac
	jq -e "[.regions[] | select(.region == \"left\") | .visits] == [$visits]" out >held ||
		fail "$way: expected $visits visits of left, found $(jq -c '[.regions[] | [.region, .visits]]' out)"
	seconds=$(number out '"region":"left"[^{]*"time_s"')
	contains "the region" "$truth" $seconds
	case $way in
	tangled-exit | assembly) # nothing takes longer than the run
		"$analyze" profile --json "$run" >profile 2>/dev/null
		jq -e '.span_s.hi as $run | all(.calls[]; .exclusive_s.hi < 1.01 * $run)' profile >held ||
			fail "$way: profile: $(head -40 profile)" ;;
	esac
	"$analyze" query --json "$run" 'count(left) == 1' >out 2>/dev/null
	contains "the query" "$truth" $(number out '"holds_s"')
	# Behind what was left, at an unknown time, the program sleeps for 30 ms at least.
	wide=$(echo "$seconds" | awk '{ print ($2 - $1 > 0.0299) ? "wide" : "exact" }')
	case $way in
	exit | _exit) [ "$wide" = exact ] || fail "$way: it was there to the end ($truth), found $seconds" ;;
	swap) [ "$wide" = exact ] || fail "$way: it was on one stack throughout ($truth), found $seconds" ;;
	pthread_exit | cancel | *-exit) ;; # the thread ends at once
	*) [ "$wide" = wide ] || fail "$way: at an unknown time it was left, found $seconds" ;;
	esac
done

# A function that nobody marked is left before it calls longjmp(), what was marked in it is not.
cat >parse.c <<'END'
#include <setjmp.h>
static jmp_buf error;
__attribute__((noinline)) static int parse(volatile int n)
{
#pragma dprof region(scan)
	while (n++ < 20)
		if (n == 10)
			longjmp(error, 1);
	return n;
}
int main(void)
{
	volatile int times = 0;
	setjmp(error);
	return times++ < 4 ? parse(0) : 0;
}
END
"$B/bin/dprof-cc" -w -O2 -fplugin-arg-dprof-auto=functions parse.c -o parse && ./parse || fail "parse.c: status $?"
expect 0 check dprof-parse.*
says out "so 4 enters have no exit, first of 'scan' (parse.c:5): how long it was there is an interval"
expect 0 csp dprof-parse.*
[ ! -s err ] || fail "csp of a function that is left before it jumps: $(cat err)"

# What is inside of a region that is left at its end was left before that; a query's certain part is what has an exit.
head='dprof-text 1
clock 0 host=h0 ghz=1
thread 0 clock=0 rank=0
site 0 kind=region name=outer file=x.c line=1
site 1 kind=region name=inner file=x.c line=2
e 0 1000000 0 enter'
printf '%s\n' "$head" 'e 0 2000000 1 enter' 'e 0 3000000 1 enter' 'e 0 4000000 1 exit' 'e 0 6000000 0 exit' \
	'e 0 8000000 0 enter' 'e 0 9000000 0 exit' | trace skipped
expect 1 query --json skipped 'count(inner) == 1'
[ "$(number out '"holds_s"' | awk '{ printf "%.5f %.5f", $1, $2 }')" = "0.00100 0.00400" ] ||
	fail "inner lasts from 1 to 4 ms: $(cat out)"
expect 1 query --json --work inner skipped 'count(working) == 1'
[ "$(number out '"holds_s"' | awk '{ printf "%.5f %.5f", $1, $2 }')" = "0.00100 0.00400" ] ||
	fail "it works inside of inner from 1 to 4 ms: $(cat out)"

# Who switches stacks inside of something may be anywhere, and so may who does it when records had been lost.
switch='site 2 kind=io name=stack%20switch'
printf '%s\n' "$head" "$switch" 'e 0 2000000 1 enter' 'e 0 3000000 2 point' 'e 0 5000000 2 point' 'e 0 6000000 1 exit' \
	'e 0 6000000 0 exit' | trace switched
printf '%s\n' "$head" "$switch" 'lost 0 3' 'e 0 2000000 2 point' 'e 0 3000000 1 enter' 'e 0 5000000 1 exit' \
	'e 0 6000000 0 exit' | trace unknown
printf '%s\n' "$head" "$switch" 'e 0 2000000 1 enter' 'e 0 5000000 1 exit' 'e 0 5500000 0 exit' 'e 0 6000000 2 point' | trace one
for row in 'switched 0 0.00000 0.00500' 'unknown 1 0.00000 0.00500' 'one 0 0.00300 0.00300'; do
	read -r name status seconds <<<"$row"
	expect "$status" query --json "$name" 'count(inner) == 1'
	[ "$(number out '"holds_s"' | awk '{ printf "%.5f %.5f", $1, $2 }')" = "$seconds" ] ||
		fail "$name: expected inner for $seconds s: $(cat out)"
done

# Exits that do not nest are of two stacks: the thread may be anywhere.
printf '%s\n' "$head" 'e 0 2000000 1 enter' 'e 0 3000000 0 exit' 'e 0 6000000 1 exit' | trace tangled
expect 1 query --json tangled 'count(inner) == 1'
[ "$(number out '"holds_s"' | awk '{ printf "%.5f %.5f", $1, $2 }')" = "0.00000 0.00500" ] ||
	fail "inner may have lasted throughout: $(cat out)"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that lowers its own limits: it does and prints what it does without us, no signal of ours ends it, and what
# could not be recorded for that is counted and named with its cause; nothing else is said to be wrong.
from=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
export DPROF_EVENTS=region
cd "$dir" || exit 1
gcc -Wall -Wextra -Wno-unknown-pragmas -O1 -pthread -o bare "$from/limits.c" || exit 1
"$B/bin/dprof-cc" -Wall -Wextra -O1 -pthread -o limits "$from/limits.c" || exit 1
"$B/bin/dprof-cc" -Wall -Wextra -O1 -shared -fPIC -o limits-library.so "$from/limits-library.c" || exit 1

# Events of the threads that have a file, and their losses.
all() {
	"$analyze" dump dprof-limits.* 2>/dev/null >text
	awk '$1 == "thread" && / name=/ && match($0, / lost=[0-9]+/) { n += substr($0, RSTART + 6, RLENGTH - 6) }
		$1 == "e" && ($5 == "enter" || $5 == "exit") { n++ } END { print n + 0 }' text
}
homeless() { sed -n 's/^lost \([0-9]*\) why=.*/\1/p' dprof-limits.*/*.process | tr -d '\n'; }

limited() { # way, how many events there were, what check says of each loss ("" for none), the cause
	timeout 60 ./bare "$1" | cat >expected # a pipe has no limit
	echo "status ${PIPESTATUS[0]}" >>expected
	rm -rf dprof-limits.*
	timeout 60 ./limits "$1" | cat >said
	echo "status ${PIPESTATUS[0]}" >>said
	cmp -s expected said || fail "$1: $(diff expected said)"
	"$analyze" check dprof-limits.* >check 2>&1
	# Behind its verdict it says what has no cause.
	sed '/^dprof-limits[^:]*: \(fine\|[0-9]* problem\)/,$d' check | grep -v '^dprof-limits' >problems
	n=$(all)
	[ "$2" = any ] || [ $((n + 10#0$(homeless))) = "$2" ] ||
		fail "$1: expected $2 events, found $n and $(homeless) lost without a file"
	if [ -z "$3" ]; then
		[ ! -s problems ] || fail "$1: $(cat problems)"
	else
		grep -qE "$3" problems || { [[ $3 = *'|^$' ]] && [ ! -s problems ]; } || fail "$1: expected to hear \"$3\", found $(cat check)"
		! grep -vE "$3" problems || fail "$1: more than that"
	fi
}

none="expected events, found no thread that recorded any$"
limit="(lost|dropped.*): the limit of a file's size is reached: raise it \(ulimit -f\)$"
files="(lost|dropped.*): too many files are open: raise the limit \(ulimit -n\)$"
limited no-bytes-at-first 20 "$limit|$none"
limited no-bytes 600020 "$limit"
limited no-bytes-for-a-library 22 "limits-library"
grep -q "^note no%20name.*limits-library.so.*ulimit%20-f" dprof-limits.*/*.process ||
	fail "the cause is not named: $(cat dprof-limits.*/*.process)"
# Between two looks at the limit; so perhaps at none.
for _ in {1..5}; do limited bytes-now-and-then 11002 "$limit|^$"; [ ! -s problems ] ||
	break; done # start functions are regions, too
[ -s problems ] || fail "bytes-now-and-then: nothing was lost"
limited own-pending 600004 "$limit|$none" # its handler is a region, too; and a second one where no record says that it is
limited few-descriptors 20 ""
limited no-descriptors 20 ""
limited no-memory 20 ""
limited used-up 600002 "$files|$none"

# Recording takes stack, too, which a thread has been given; and where the process's first has little (of which the environment is a
# part), little.
"$B/bin/dprof-cc" -Wall -Wextra -O1 -pthread -o small-stack "$from/small-stack.c" || exit 1
[ "$(env -u DPROF_EVENTS timeout 60 ./small-stack)" = "done" ] || fail "a thread with a small stack does not run"
gcc -O1 -pthread -o small-bare "$from/small-stack.c" || exit 1
small() { (ulimit -s 20 && exec env -i DPROF_QUIET=1 "./$1") 2>&1; }
[ "$(small small-bare)" != "done" ] || [ "$(small small-stack)" = "done" ] || fail "a program does not run on a stack of 20 KiB"

# As much as dprof(7) says.
"$B/bin/dprof-cc" -Wall -Wextra -O1 -pthread -o depths "$from/depths.c" && gcc -O1 -pthread -o depths-bare "$from/depths.c" ||
	exit 1
env -u DPROF_EVENTS DPROF_QUIET=1 ./depths >with && ./depths-bare | paste with - >both || fail "depths: exit status $?"
awk '$1 - $2 > 4300 { bad = 1 } END { exit bad || NR != 3 }' both || fail "stacks are deeper by more than 4.2 KiB: $(cat both)"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

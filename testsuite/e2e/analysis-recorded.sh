#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the runtime really writes, of a program that is interrupted by signals all the time: it is fine, it
# nests, it survives dump and pack; and what a killed program had recorded is there, and survives them too.
from=$PWD/testsuite/fixtures/analysis
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
flags=($(pkg-config --cflags dprof)) libs=($(pkg-config --libs dprof))
cd "$dir" || exit 1
gcc -O2 "${flags[@]}" "$from/recorded.c" -o recorded "${libs[@]}" -pthread || exit 1

lost_in() { # the text of a trace
	sed -n 's/^thread .* lost=\([0-9]*\).*/\1/p' "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# A handler that comes while its thread changes chunks, or is made known, drops its records. That is said, and nothing
# else; what is missing is never more than that. On a busy machine it may be much, so of five runs the first counts that
# lost little, or the last.
for run in 1 2 3 4 5; do
	rm -rf dprof-recorded.*
	./recorded || fail 'the program'
	trace=$(echo dprof-recorded.*)
	"$analyze" check "$trace" >out
	"$analyze" dump "$trace" >once
	lost=$(lost_in once)
	[ "$lost" -lt 1000 ] && break
done
grep -q ': \(fine\|[0-9]* problems\?\)[:;].* [1-9][0-9]* events' out || fail "check says $(cat out)"
sed '/^dprof-recorded/,$d' out | grep -v 'expected all records, found [0-9]* dropped\( of threads that had no file\)\?: \(\(the helper was too late: set DPROF_BUFFER higher\|a signal handler came while its thread changed chunks\|their thread had ended\|dprof itself called the C library, and it the program.s malloc, or a handler came\)\(; \|$\)\)*$' && fail 'check'
for name in outer inner handler; do
	site=$(sed -n "s/^site \([0-9]*\) kind=region name=$name .*/\1/p" once)
	enters=$(grep -c "^e [0-9]* [0-9]* $site enter" once) exits=$(grep -c "^e [0-9]* [0-9]* $site exit" once)
	[ $((enters - exits)) -le "$lost" ] && [ $((exits - enters)) -le "$lost" ] && [ "$enters" -gt 0 ] ||
		fail "$name: $enters enters, $exits exits, $lost lost"
	[ $name = handler ] || [ $((20000 - enters)) -le "$lost" ] || fail "$name: $enters enters, $lost lost"
done
grep -q '^e ' once && "$analyze" pack once packed || fail 'pack'
"$analyze" dump packed | cmp - once || fail 'dump, pack, dump'
awk '$1 == "e" { if ($3 + 0 < last[$2]) bad = 1; last[$2] = $3 + 0 } END { exit bad }' once || fail 'a stamp goes back'

rm -r dprof-recorded.*
{ ./recorded kill; } 2>/dev/null && fail "it was not killed"
trace=$(echo dprof-recorded.*)
"$analyze" check "$trace" >out
[ $? -eq 1 ] || fail 'a killed program is called fine'
[ "$(sed '/^dprof-recorded/q' out | grep -vc -e ' dropped: ' -e '^note: .* when \(its\|their\) records end: ')" -eq 2 ] ||
	fail "more than that it was killed: $(cat out)"
grep -q "expected a line 'finished', found none: the process still runs, was killed" out || fail "$(cat out)"
"$analyze" dump "$trace" 2>/dev/null >once
[ "$(grep -c '^e 0 ' once)" -ge $((50000 - $(lost_in once))) ] || fail 'events are missing'
"$analyze" pack once packed-killed || fail 'pack of a killed program'
"$analyze" dump packed-killed 2>err | cmp - once || fail "a killed program: dump, pack, dump: $(cat err)"
exit $failed

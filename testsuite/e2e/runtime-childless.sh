#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who waits for children until there is none has not waited for anything in the end: else what ended that would be in no trace,
# and the path before it lost. But where nobody need wait for a child, or another thread or a handler may have, it may have waited
# for the end of one.
fixtures=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
cd "$dir" || exit 1
"$B/bin/dprof-cc" -O2 -pthread -Wall -Wextra -Werror "$fixtures/childless.c" -o childless || exit 1
export DPROF_QUIET=1 DPROF_BLOCKED_NS=0

waits() { # of the first process, how many have a child's end, and how many have none
	"$analyze" dump dprof-* | awk '$1 == "site" && / name=wait/ { wait[$2] = 1 } $1 == "e" && $5 == "exit" && $4 in wait { n[/ process=/]++ }
		END { print n[1] + 0, n[0] + 0 }'
}
while read -r how expected; do
	for _ in 1 2 3 4 5; do # a busy machine may keep it from waiting before the signal comes
		rm -rf dprof-*
		./childless "$how" || fail "$how: exit status $?"
		[ "$how" = handled ] && [ "$(waits)" != "$expected" ] || break
	done
	[ "$(waits)" = "$expected" ] || fail "$how: expected waits with and without a child $expected, found $(waits)"
	[ "${expected#* }" = 1 ] && continue
	"$analyze" path --json dprof-* >path || fail "$how: $(cat path)"
	jq -e '[.segments[].share_percent.lo] | add > 50' path >verdict ||
		fail "$how: the path is lost: $(jq -c .segments path)"
done <<'T'
wait    1 0
waitid  1 0
ignored 0 1
threads 1 1
handled 1 1
T
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

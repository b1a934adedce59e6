#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who waits for children until there is none has not waited for anything in the end: else what ended that would be in no trace,
# and the path before it lost. But where nobody need wait for a child, or another thread or a handler may have, it may have waited
# for the end of one.
#
# And a child that another process of the trace has killed is no damage, whoever waits for it and whatever call that was, also where
# the trace is written anew; one that crashed, or was killed from outside, is.
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

"$B/bin/dprof-cc" -O2 -Wall -Wextra -Werror "$fixtures/killed.c" -o killed || exit 1
while read -r how status said; do
	rm -rf dprof-* again
	(ulimit -c 0; timeout 20 ./killed "$how") || fail "killed $how: exit status $?"
	"$analyze" dump dprof-* >text 2>dumped
	"$analyze" pack text again || fail "killed $how: pack says $?"
	for trace in dprof-* again; do
		"$analyze" check "$trace" >verdict 2>&1
		[ $? = "$status" ] && { [ -z "$said" ] || grep -Eq "^note: pid [0-9]+ was ended by $said" verdict; } &&
			[ "$(grep -c 'was ended by' verdict)" = "$(grep -c . <<<"$said")" ] || fail "killed $how: check says $(cat verdict)"
	done
	[ "$status" = 1 ] && [[ $(<dumped) != *"expected a line 'finished'"* ]] && fail "killed $how: its end is no problem: $(cat dumped)"
done <<'T'
term     0 SIGTERM, which pid [0-9]+ has sent at kill
kill     0 SIGKILL, which pid [0-9]+ has sent at kill
tgkill   0 SIGTERM, which pid [0-9]+ has sent at tgkill
sigqueue 0 SIGTERM, which pid [0-9]+ has sent at sigqueue
pidfd    0 SIGTERM, which pid [0-9]+ has sent at pidfd_send_signal
group    0 SIGTERM, which pid [0-9]+ has sent at kill
sibling  0 SIGTERM, which pid [0-9]+ has sent at kill
left     0 SIGTERM, which pid [0-9]+ has sent at kill
late     0 SIGTERM, which pid [0-9]+ has sent at kill
crash    1
outside  1
ignored  0
T
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

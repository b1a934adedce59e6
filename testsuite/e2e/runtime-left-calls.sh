#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A handler leaves a call that blocks by a jump: the call is recorded from when it began to when the jump came, whatever it
# was, whichever stack the handler ran on, and only once; a jump inside of the handler ends nothing.
fixtures=$PWD/testsuite/fixtures/runtime
. testsuite/lib.sh
cd "$dir" || exit 1
"$B/bin/dprof-cc" -O2 -pthread -Wall -Wextra -Werror -Wno-clobbered "$fixtures/left-calls.c" -o left-calls || exit 1
export DPROF_QUIET=1

# NAME BEFORE BEHIND of what the program says: exactly one visit lies in there. What part of it that takes, the least of all.
shares() {
	awk 'FNR == NR { name[NR] = $1; before[NR] = $2; behind[NR] = $3; n = NR; next }
		$1 == "site" { sub(/^name=/, "", $4); site[$2] = $4 }
		$1 == "e" && $5 == "enter" { since[$2, $4] = $3 }
		$1 == "e" && $5 == "exit" {
			for (i = 1; i <= n; i++)
				if (site[$4] == name[i] && since[$2, $4] >= before[i] && $3 <= behind[i]) {
					visits[i]++
					took[i] = ($3 - since[$2, $4]) / (behind[i] - before[i])
				}
		}
		END { least = 1
		      for (i = 1; i <= n; i++) { if (visits[i] != 1) { print name[i], visits[i] + 0, "visits"; exit }
			if (took[i] < least) least = took[i] }
		      print least }' said text
}

for way in read fgets syscall poll pause nanosleep sem_wait join waitpid stack context inner; do
	for _ in 1 2 3 4 5; do # who has no core just before or behind the call takes longer for it than is recorded
		rm -rf dprof-*
		timeout 60 ./left-calls "$way" >said || fail "$way: exit status $?"
		[ "$(wc -l <said)" = 2 ] || fail "$way: expected two calls, found $(cat said)"
		"$analyze" check dprof-* >verdict 2>&1
		grep -q '[0-9] problem' verdict && ! grep -q "expected a line 'finished'" verdict && fail "$way: $(cat verdict)"
		"$analyze" dump dprof-* >text 2>/dev/null
		shares >found
		[[ $(cat found) != *visits ]] || fail "$way: expected one visit, found $(cat found)"
		is_true "$(cat found) >= 0.9" && break
	done
	is_true "$(cat found) >= 0.9" || fail "$way: expected a visit that takes nearly all, found $(cat found) of it"
done
for way in read sem_wait join cond_wait; do
	timeout 60 ./left-calls $way exit >said || fail "$way: then pthread_exit: exit status $?"
done
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

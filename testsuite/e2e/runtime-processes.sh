#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who waits for another process, by a lock, a semaphore or a condition variable that both share, most likely waits for
# that one, as both say that it is the same: the run would have been shorter without what the other one did. But nothing is
# proved, as there may be others.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O1 -D_GNU_SOURCE -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) -o processes \
	"$from/processes.c" $(pkg-config --libs dprof) || fail "processes.c does not compile"

# For how much of the run the parent waited while the child had that turn after which it went on, in percent. (It may get a core long
# after that, but that would be so without the turn.)
waited() {
	"$analyze" dump dprof-* | awk '
		$1 == "site" { is[$2] = $4 == "name=held" ? "held" : $4 ~ /^name=(pthread_(mutex_lock|rwlock_wrlock|spin_lock|cond_wait)|sem_wait)$/ ? "waits" : "" }
		$1 != "e" { next }
		{ first = first && first < $3 ? first : $3; last = last > $3 ? last : $3 }
		is[$4] == "held" && $5 == "enter" { held_from[++held] = $3 }
		is[$4] == "held" && $5 == "exit" { held_to[held] = $3 }
		is[$4] == "waits" && $2 == 0 && $5 == "enter" { from[++waits] = $3 }
		is[$4] == "waits" && $2 == 0 && $5 == "exit" { to[waits] = $3 }
		function both(a, b) { a = from[i] > held_from[k] ? from[i] : held_from[k]; b = to[i] < held_to[k] ? to[i] : held_to[k]; return b > a ? b - a : 0 }
		END {
			for (i = 1; i <= waits; i++) {
				for (k = 1; k < held && held_to[k] < from[i];) k++
				t += both()
			}
			printf "%.6f\n", 100 * t / (last - first)
		}'
}

# A parent that gets no core in time need not wait.
has_waited() {
	rm -rf dprof-*
	timeout 60 ./processes "$1" || fail "$1: exit status $?"
	share=$(waited)
	is_true "$share > 5"
}

for what in mutex rwlock spin semaphore condition; do
	one_of_six has_waited $what || fail "$what: the parent waited for $share % of the run"
	"$analyze" coz dprof-* --region held --reduce 100 --json >json || fail "$what: coz: exit status $?"
	grep -q "the trace does not say for whom" json && fail "$what: it is not known for whom: $(cat json)"
	# of 4 turns of 25 ms and a tail of 50 ms the turns are two thirds, where all get a core in time: by the stamps it is $share %
	interval speedup_percent <json >bounds
	read -r lo hi <bounds
	is_true "$share > 1 && ${lo:-9} <= 0 && ${hi:-0} > 0.9 * $share" ||
		fail "$what: expected bounds around what the child's turns took, $share %, found $(cat bounds)"
	interval expected_percent <json >expected
	read -r lo hi <expected
	is_true "${lo:-0} + ${hi:-0} > 0.9 * $share" ||
		fail "$what: expected is that the parent waits for the child's turns, $share %, found $(cat expected)"
done
exit $failed

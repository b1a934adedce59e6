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

for what in mutex rwlock spin semaphore condition; do
	rm -rf dprof-*
	timeout 60 ./processes $what || fail "$what: exit status $?"
	"$analyze" coz dprof-* --region held --reduce 100 --json >json || fail "$what: coz: exit status $?"
	grep -q "the trace does not say for whom" json && fail "$what: it is not known for whom: $(cat json)"
	# of 4 turns of 25 ms and a tail of 50 ms the turns are two thirds
	interval speedup_percent <json >bounds
	awk '$1 <= 0 && $2 > 20 { ok = 1 } END { exit !ok }' bounds ||
		fail "$what: expected bounds around what the child's turns took, found $(cat bounds)"
	interval expected_percent <json >expected
	awk '($1 + $2) / 2 > 20 { ok = 1 } END { exit !ok }' expected ||
		fail "$what: expected is that the parent waits for the child's turns, found $(cat expected)"
done
exit $failed

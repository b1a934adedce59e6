#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who waits for another process, by a lock, a semaphore or a condition variable that both share, is not
# said to have waited for no other: the run would have been shorter without what the other one did, and coz
# says that this may be so.
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
	grep -q "the trace does not say for whom" json || fail "$what: coz says nothing: $(cat json)"
	# of 4 turns of 25 ms and a tail of 50 ms the turns are two thirds
	interval speedup_percent <json >bounds
	awk '$1 < 60 && $2 > 20 { ok = 1 } END { exit !ok }' bounds ||
		fail "$what: expected bounds around what the child's turns took, found $(cat bounds)"
done
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads that record little share a file; those that record more have their own besides. Whatever becomes of the
# process, each is there with all that it recorded, and room that was made ahead is no damage.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

# shellcheck disable=SC2046
gcc -O2 -D_GNU_SOURCE -pthread $(pkg-config --cflags dprof) -o many "$from/many.c" $(pkg-config --libs dprof) ||
	fail "many.c does not compile"

visits() { # what expected
	local n
	n=$("$analyze" dump dprof-many.* 2>/dev/null | awk '$1 == "site" && $4 == "name=short" { site[$2] = 1 }
		$1 == "e" && $4 in site && $5 == "exit" { n++ } END { print n + 0 }')
	[ "$n" = "$2" ] || fail "$1: expected $2 visits, found $n"
}
fine() { # what: the trace is whole
	"$analyze" check dprof-many.* >out || fail "$1: $(cat out)"
}
files() { find dprof-many.* -name "*.$1" | wc -l; }
have() { # what events nurseries
	[ "$(files events)" -eq "$2" ] && [ "$(files nursery)" -eq "$3" ] ||
		fail "$1: expected $2 files of events and $3 nurseries, found $(files events) and $(files nursery)"
}

./many 40 || fail "status $?"
fine 'one by one'
visits 'one by one' 41
have 'one by one' 1 1
# What was made ahead is given back: 40 slots, and what a block of the file system adds to it.
room=$(du -k dprof-many.*/*.nursery | cut -f1)
[ "$room" -le 240 ] || fail "40 slots of 4 KiB take up $room KiB"
rm -r dprof-many.*

# What threads leave behind stays mapped, but not for ever: about eight batches of 32 slots, some of them made ahead. A child has none of it.
{ read -r parent && read -r child; } < <(./many 700 maps)
[ "$parent" -ge 768 ] && [ "$parent" -le 1024 ] && [ "$child" = 0 ] ||
	fail "expected 768 to 1024 KiB of the nursery mapped, and none in the child; found $parent and $child"
visits 'one by one' 701
rm -r dprof-many.*

./many 64 burst || fail "burst: status $?"
fine burst
visits burst 65
have burst 1 1
rm -r dprof-many.*

./many 40 fork || fail "fork: status $?"
fine fork
visits fork 121
have fork 2 2
rm -r dprof-many.*

# 14 threads come 1000 times: more than there is room for in a slot.
./many 40 long || fail "long: status $?"
fine long
visits long 14027
have long 15 1
# What they recorded first stays in their slots, since these have a page each anyway.
nursery=$(echo dprof-many.*/*.nursery)
for file in "${nursery%.nursery}"-[1-9]*.events; do
	thread=${file##*-} thread=${thread%.events}
	[ "$(od -An -tu8 -j $((thread * 4096 + 512)) -N 8 "$nursery" | tr -d ' ')" = 13 ] ||
		fail "long: the first chunk of thread $thread is not in its slot"
done
rm -r dprof-many.*

# A process that ends while threads begin all the time: each is there, or is no part of the run.
# shellcheck disable=SC2046
gcc -O2 -pthread $(pkg-config --cflags dprof) -o restless "$from/restless.c" $(pkg-config --libs dprof) ||
	fail "restless.c does not compile"
for i in 1 3 6 12; do
	timeout 60 ./restless $((i * 700)) || fail "restless $i: status $?"
	"$analyze" check dprof-restless.* >out || fail "restless $i: $(cat out)"
	rm -r dprof-restless.*
done

# Past the limit of a file's size there is no slot, but still a file for each.
(ulimit -f 64 && ./many 40) || fail "limit: status $?"
fine limit
visits limit 41
[ "$(files events)" -gt 1 ] || fail "limit: there is no file but the nursery"
rm -r dprof-many.*

# Killed: at the end, and anywhere.
(./many 40 kill) 2>/dev/null
"$analyze" check dprof-many.* >out
grep -q '^dprof-many.*: 1 problem;.* 41 threads' out || fail "killed: $(cat out)"
visits killed 41
rm -r dprof-many.*
for i in 1 2 3 4 5 6 7 8 9 10; do
	(./many 100000 long) 2>/dev/null &
	sleep 0.0$i
	kill -KILL $!
	wait $! 2>/dev/null
	[ -d dprof-many.* ] || continue
	"$analyze" check dprof-many.* >out
	grep -q '^dprof-many.*: 1 problem;' out && grep -q "expected a line 'finished'" out ||
		! grep -q ' [1-9][0-9]* threads' out || fail "killed after 0.0$i s: $(cat out)"
	rm -r dprof-many.*
done
echo "as expected"

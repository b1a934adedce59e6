#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of windows, which say of no call what it waits for, and of exchanges with neighbours.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# Nobody says what calls for a window wait for. Who calls one again and again, and sleeps in between, has waited for what another
# thread did just before the last call; what hardly takes any time has most likely not waited.
windows() { # when b is over
	ranks 2
	echo "site 16 kind=wait name=MPI_Win_flush file=x.c line=17"
	echo "site 17 kind=wait name=MPI_Win_unlock_all file=x.c line=18"
	for at in 1000000 1200000 1490000 1500100; do
		op 0 16 $at $((at + 2000)) peer=72057594037927934
		op 0 30 $((at + 2000)) $((at + 2010))
	done
	op 0 0 1502110 2000000
	op 0 17 2000000 2000400 peer=72057594037927934
	op 0 17 2000400 2000500 peer=72057594037927934
	op 1 1 1000000 "$1"
}
windows 1500000 | trace windows
buys windows b 50 249875
buys windows a 50 248820
may_buy windows b 50 0
windows 1489000 | trace windows-looked # it would have been seen
expect 0 coz --json --region b --reduce 50 windows-looked
interval expected_percent <out | { read -r lo hi && is_true "$lo == 0 && $hi > 24"; } || fail "windows-looked: $(cat out)"

# Or it locks the window for each look.
locked_windows() { # when b is over
	windows "$1" | awk '{ sub("name=MPI_Win_flush ", "name=MPI_Win_unlock ") }
		$1 == "e" && $4 == 16 && $5 == "enter" {
			print "e", $2, $3, 18, "enter id=9 role=0 tag=0 object=9 peer=72057594037927934"
			print "e", $2, $3, 18, "exit"
			print "e", $2, $3, 19, "point id=9 object=9"
		}
		{ print }
		$1 == "site" && $2 == 17 {
			print "site 18 kind=lock name=MPI_Win_lock file=x.c line=19"
			print "site 19 kind=lock name=MPI_Win%20is%20unlocked"
		}'
}
locked_windows 1500000 | trace windows-locked
expect 0 coz --json --region b --reduce 50 windows-locked
interval expected_percent <out | { read -r lo hi && is_true "$lo > 24.9 && $hi < 25.1"; } || fail "windows-locked: $(cat out)"
gains "lo <= 0 && hi > 24.9" || fail "windows-locked: $(cat out)"

# Something is to be complete at rank 0, which calls MPI for the first time at 1500000: then the wait is over, if no
# other thread has not just ended something as well.
for at in 0 72057594037927935; do
	{
		ranks 3
		echo "site 16 kind=wait name=MPI_Win_flush file=x.c line=17"
		op 0 1 1000000 1500000
		op 0 2 1500000 2000000 group=1 seq=0
		op 1 16 1000000 1500010 tag=$at peer=72057594037927934
		op 1 0 1500010 2000000
		op 1 2 2000000 2000000 group=1 seq=0
		op 2 0 1000000 1499990
		op 2 2 1499990 2000000 group=1 seq=0
	} | trace target
	buys target b 50 250000
	may_buy target b 50 0
done

# What need not wait took long at rank 0: it adds for all of region a, or it waits; and so does rank 1 for that, or for nobody.
{
	ranks 2
	echo "site 16 kind=wait name=MPI_Accumulate file=x.c line=17"
	echo "e 0 1000000 0 enter"
	op 0 16 1000000 1500000 tag=0 peer=72057594037927934
	echo "e 0 1500000 0 exit"
	op 0 2 1500000 1500010 group=1 seq=0
	op 1 1 1000000 1000010
	op 1 16 1000010 1500000 tag=0 peer=72057594037927934
	op 1 2 1500000 1500010 group=1 seq=0
} | trace accumulates
may_buy accumulates a 50 499990
may_buy accumulates a 50 0
interval expected_percent <out | { read -r lo hi && is_true "$lo <= 0 && $hi >= 0"; } || fail "accumulates: $(cat out)"

# Rank 1 has the lock of a window when rank 0 has given it back; which may go on only when rank 2, whose part it is, calls MPI.
window_lock() { # when rank 2 does, and when rank 1 has the lock
	ranks 3
	echo "site 16 kind=lock name=MPI_Win_lock file=x.c line=17"
	echo "site 17 kind=lock name=MPI_Win%20is%20unlocked"
	echo "site 18 kind=wait name=MPI_Win_unlock file=x.c line=18"
	op 0 16 1000000 1000010 id=9 tag=2 peer=72057594037927934 object=9
	op 0 0 1000010 1400000
	echo "e 0 1400000 17 point id=9 object=9"
	op 0 18 1400000 1400010 tag=2 peer=72057594037927934
	op 1 16 1000100 "$2" id=9 tag=2 peer=72057594037927934 object=9
	op 1 30 "$2" 2000000
	op 2 1 1000000 "$1"
	op 2 2 "$1" "$1" group=2 seq=0
	echo "group 2 threads=2"
}
window_lock 1001000 1400020 | trace window-lock
buys window-lock a 50 199995
may_buy window-lock a 50 0
window_lock 1500000 1500020 | trace window-progress
buys window-progress b 10 50000
buys window-progress a 50 0

# From other hosts others may have it, and their stamps do not tell when: so it is not known who had it, nor in which order.
{
	window_lock 1001000 1400020
	echo "clock 1 host=h1 ghz=1"
	for ((at = 900000; at <= 2100000; at += 100000)); do
		echo "link 0 $at 1 $((at + 10))"
		echo "link 1 $at 0 $((at + 10))"
	done
	echo "thread 3 clock=1 rank=3"
	op 3 30 1000000 1000010
} | trace window-hosts
expect 0 coz --json --region a --reduce 50 window-hosts
gains "lo < 0 && hi > 99" || fail "window-hosts: $(cat out)"

# Ranks count in a window, and whoever has the next number does what that stands for: b takes four times as long as each
# of eight a. What a rank does another may do.
count() { # rank at
	echo "e $1 $2 16 point offset=5 $swaps"
	op "$1" 17 "$2" $(($2 + 20)) tag=0 peer=72057594037927934
}
counter() {
	ranks 2
	echo "site 16 kind=wait name=MPI_Win%20counts"
	echo "site 17 kind=wait name=MPI_Win_flush file=x.c line=17"
	for ((at = 1000000; at < 1600000; at += 100000)); do
		count 1 $at
		op 1 0 $((at + 20)) $((at + 100000))
		[ $at = 1000000 ] || [ $at -ge 1400000 ] || continue
		count 0 $at
		op 0 $((at == 1000000)) $((at + 20)) $((at == 1000000 ? 1400000 : at + 100000))
	done
	for rank in 0 1; do
		count $rank 1600000
		op $rank 2 1600020 1600020 group=1 seq=0
	done
}
swaps= counter | trace counter
buys counter b 50 166645 100
may_buy counter b 50 0
swaps=role=0 counter | trace swaps # perhaps in vain: so it is not known who shares out what
buys swaps b 50 0
may_buy swaps b 50 166645

# What is begun and complete in one call needs no later one; so whoever gets something from a neighbour waits for that in
# every run, unless it is nothing.
exchanges() { # rank from to site bytes
	echo "e $1 $2 40 enter"
	op "$1" "$4" "$2" "$2" group=1 peer=$((1 - $1)) tag=9 bytes="$5" id=1
	echo "e $1 $3 $4 point id=1"
	echo "e $1 $3 40 exit"
}
neighbors() { # bytes, when rank 1 leaves
	ranks 2
	echo "site 40 kind=coll name=MPI_Neighbor_alltoallv file=x.c line=41"
	echo "site 41 kind=send name=MPI_Neighbor%20sends"
	echo "site 42 kind=recv name=MPI_Neighbor%20receives"
	op 0 0 1000000 1500000
	exchanges 0 1500000 1500010 41 "$1"
	exchanges 1 1000000 "$2" 42 "$1"
	op 1 1 "$2" 2000000
}
neighbors 0 1000010 | trace neighbors
buys neighbors a 50 0
neighbors 0 1000010 | sed 's/MPI_Neighbor%20sends/MPI_Win%20posts/; s/MPI_Neighbor%20receives/MPI_Win%20is%20posted/' | trace posted
buys posted a 50 0
neighbors 8 1500010 | trace neighbors
buys neighbors a 50 250000
gains "lo > 24.9" || fail "of neighbours is proved: $(cat out)"

# Whom a lock of a window is waited for is said by nobody: that is no fault of the trace, but of nothing behind it is anything
# certain. Who waits for the end of an epoch waits for whoever completes it; who completes it may have waited for its post.
{
	ranks 2
	echo "site 40 kind=wait name=MPI_Win_lock file=x.c line=41"
	op 0 0 1000000 1500000
	op 0 40 1500000 1500010 peer=72057594037927934
	op 0 1 1500010 2000000
} | trace locked
may_buy locked a 50 250000
may_buy locked a 50 0
says out "For whom one waits at MPI_Win_lock (x.c:41) is not known: perhaps for nobody."
{
	ranks 2
	echo "site 40 kind=wait name=MPI_Win_complete file=x.c line=41"
	echo "site 41 kind=send name=MPI_Win%20completes"
	echo "site 42 kind=recv name=MPI_Win%20is%20completed"
	op 0 0 1000000 1500000
	exchanges 0 1500000 1500010 41 ""
	exchanges 1 1000000 1500010 42 ""
	op 1 1 1500010 2000000
} | sed 's/ bytes= / /' | trace completed
buys completed a 50 250000
gains "lo > 24.9" || fail "the end of an epoch is proved: $(cat out)"
echo "as expected"

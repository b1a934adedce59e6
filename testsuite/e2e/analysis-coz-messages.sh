#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of messages: which was waited for, whether a send waits, and what another run may do.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# A receive of anything from anywhere, whose sender is late; another that came first.
{
	ranks 3
	op 0 15 1000000 1500010 group=1
	echo "e 0 1500010 15 point peer=1 tag=7 bytes=8 group=1"
	op 0 15 1500010 1500020 group=1 peer=2 tag=7 bytes=8
	op 0 0 1500020 2000000
	op 1 1 1000000 1500000
	op 1 14 1500000 1500005 group=1 peer=0 tag=7 bytes=8
	op 2 14 1000000 1000010 group=1 peer=0 tag=7 bytes=8
} | sed 's/^e 0 1500010 15 exit/later/' | awk '/^later/ { held = 1; next } { print } held && /point/ { print "e 0 1500010 15 exit"; held = 0 }' | trace anything
buys anything b 100 499999 5 # its own cost is not known, only that it is at most a transfer
buys anything b 20 100000 5
buys anything a 50 249990

# The only message that was waited for took long, perhaps since a thread was off its core: another need not take as long.
{
	ranks 2
	op 0 14 1000200 1000210 group=1 peer=1 tag=7 bytes=8
	op 0 14 1100400 1100410 group=1 peer=1 tag=7 bytes=8
	op 1 15 1000100 1001200 group=1 peer=0 tag=7 bytes=8
	op 1 0 1001300 1101300
	op 1 15 1101400 1101500 group=1 peer=0 tag=7 bytes=8
	op 1 1 1101500 1200000
} | trace once-long
may_buy once-long a 100 5500

# Two receives, one Waitall; each has its "done".
{
	ranks 3
	op 0 4 1000000 1000000 group=1 peer=1 tag=0 bytes=8 id=1
	op 0 4 1000000 1000000 group=1 peer=2 tag=0 bytes=8 id=2
	echo "e 0 1000000 5 enter"
	echo "e 0 1600010 4 point id=2 peer=2 tag=0 bytes=8 group=1"
	echo "e 0 1600010 4 point id=1 peer=1 tag=0 bytes=8 group=1"
	echo "e 0 1600010 5 exit"
	op 0 0 1600010 2000000
	op 1 1 1000000 1600000
	op 1 3 1600000 1600000 group=1 peer=0 tag=0 bytes=8 id=1
	op 2 0 1000000 1500000
	op 2 3 1500000 1500000 group=1 peer=0 tag=0 bytes=8 id=9
} | trace waitall
buys waitall b 10 60000
buys waitall b 100 100000 30 # then rank 2 is the last; its message takes what rank 1's was seen to

# A send that must wait for its receiver; two that did, as nothing else explains how long they took.
for send in "MPI_Ssend 8" "MPI_Send 8" "MPI_Send 100000"; do
	{
		ranks 2
		op 0 14 1000000 1500010 group=1 peer=1 tag=0 bytes=${send#* }
		op 0 0 1500010 2000000
		op 1 1 1000000 1500000
		op 1 15 1500000 1500010 group=1 peer=0 tag=0 bytes=${send#* }
	} | sed "s/name=MPI_Send /name=${send% *} /" | trace "${send/ /-}"
done
buys MPI_Ssend-8 b 50 250000
buys MPI_Send-8 b 50 250000
may_buy MPI_Send-8 b 50 0 # it may be buffered
buys MPI_Send-100000 b 50 250000
may_buy MPI_Send-100000 b 50 0

# Likewise between hosts whose clocks leave open whether a receive had begun before its send was over. Of the long ones all
# lasted until then.
for send in "MPI_Ssend 8" "MPI_Send 100000"; do
	{
		ranks 2 | sed 's/^clock 0 .*/&\nclock 1 host=h1 ghz=1/; s/^thread 1 clock=0/thread 1 clock=1/'
		for at in 900000 2100000; do
			echo "link 0 $at 1 $((at + 50))"
			echo "link 1 $((at + 60)) 0 $((at + 110))"
		done
		for at in 1000000 1200000 1400000; do
			op 0 14 $at $((at + 200000)) group=1 peer=1 tag=0 bytes=${send#* }
			op 1 1 $at $((at + 199990))
			op 1 15 $((at + 199990)) $((at + 200000)) group=1 peer=0 tag=0 bytes=${send#* }
		done
		op 0 0 1600000 2000000
	} | sed "s/name=MPI_Send /name=${send% *} /" | trace "${send/ /-}-between-hosts"
	buys "${send/ /-}-between-hosts" b 50 300000 1000
done

# The receiver works, and then sends something itself: with that it takes what it is sent, and receives it only then.
{
	ranks 3
	op 0 14 1000000 1500010 group=1 peer=1 tag=0 bytes=1000
	op 0 0 1500010 2000000
	op 1 1 1000000 1500000
	op 1 14 1500000 1500020 group=1 peer=2 tag=0 bytes=8
	op 1 15 1500020 1500030 group=1 peer=0 tag=0 bytes=1000
	op 2 15 1000000 1500015 group=1 peer=1 tag=0 bytes=8
} | trace taken
buys taken b 50 250000
may_buy taken b 50 0 # it may be sent without

# Likewise what was begun before, and is waited for together with a message that came long before.
{
	ranks 3
	op 0 4 1000000 1000010 group=1 peer=2 tag=0 bytes=8 id=1
	op 0 3 1000010 1000020 group=1 peer=1 tag=0 bytes=1000 id=2
	op 0 0 1000020 1100000
	echo "e 0 1100000 5 enter"
	echo "e 0 1500010 4 point id=1 peer=2 tag=0 bytes=8 group=1"
	echo "e 0 1500010 3 point id=2"
	echo "e 0 1500010 5 exit"
	op 0 0 1500010 2000000
	op 1 1 1000000 1500000
	op 1 14 1500000 1500020 group=1 peer=2 tag=0 bytes=8
	op 1 15 1500020 1500030 group=1 peer=0 tag=0 bytes=1000
	op 2 14 1000000 1000005 group=1 peer=0 tag=0 bytes=8
	op 2 15 1000005 1500015 group=1 peer=1 tag=0 bytes=8
} | trace taken-all
buys taken-all b 50 250000
may_buy taken-all b 50 0

# Messages take 10 or 1,000, and a receive of one that is there 10. One takes 14: that does not prove that its message went on only
# with the sender's next call, 514 before.
{
	ranks 2
	op 0 15 100000 200010 group=1 peer=1 tag=0 bytes=8
	op 0 15 250000 301000 group=1 peer=1 tag=0 bytes=8
	op 0 15 410000 410010 group=1 peer=1 tag=0 bytes=8
	op 0 1 500000 600000
	op 0 15 600000 600014 group=1 peer=1 tag=0 bytes=8
	op 0 0 600014 1100000
	op 0 15 1100000 1100010 group=1 peer=1 tag=0 bytes=8
	for at in 200000 300000 350000 450000 599500; do op 1 14 $at $((at + 5)) group=1 peer=0 tag=0 bytes=8; done
} | trace cost
may_buy cost b 50 50000

# The receiver of a synchronous send had come before it: without what came before the send, it waits for the receiver.
{
	ranks 2
	op 0 0 1000000 1500000
	op 0 14 1500000 1500010 group=1 peer=1 tag=0 bytes=8
	op 0 1 1500010 2000000
	op 1 1 1000000 1400000
	op 1 15 1400000 1500010 group=1 peer=0 tag=0 bytes=8
} | sed "s/name=MPI_Send /name=MPI_Ssend /" | trace ready
buys ready a 100 100000

# ---- What another run may wait for, or need not ------------------------------------------------

# A short message, long before it is received: in another run the send may wait for that.
{
	ranks 2
	op 0 0 1000000 1400000
	op 0 14 1400000 1400010 group=1 peer=1 tag=0 bytes=8
	op 0 1 1400010 2000000
	op 1 15 1500000 1500010 group=1 peer=0 tag=0 bytes=8
} | trace later
buys later a 50 200000
may_buy later a 50 0

# A leaf of MPI_Gather, or who sends, leaves before the other side has come, 20 ns later: another run may wait for that, and
# goes on no later than 30 ns, which all of it took here, behind its begin.
late() { # of rank 1, of rank 0
	ranks 2
	op 1 0 1000000 1500000
	op 1 2 1500000 1500010 group=1 seq=0
	op 1 $1
	op 1 1 1500020 2000000
	op 0 2 1000000 1500010 group=1 seq=0
	op 0 $2
}
late "32 1500010 1500020 group=1 seq=1 role=0 bytes=8" "32 1500030 1500040 group=1 seq=1 role=1 bytes=8" | trace late-root
late "14 1500010 1500020 group=1 peer=0 tag=7 bytes=8" "15 1500030 1500040 group=1 peer=1 tag=7 bytes=8" | trace late-receive
late "32 1500010 1500020 group=1 seq=1 role=0 bytes=8" "32 1700010 1700040 group=1 seq=1 role=1 bytes=8" | trace later-root
proves late-root a 50 249970 250000
proves late-receive a 50 249970 250000
proves later-root a 50 49970 250000

# But whoever sends first and then receives, as the other side does, could not go on there; and what is received from anyone
# may be of another.
{
	late "14 1500010 1500020 group=1 peer=0 tag=7 bytes=8" "14 1500010 1500020 group=1 peer=1 tag=7 bytes=8"
	op 0 15 1500030 1500040 group=1 peer=1 tag=7 bytes=8
} | sed 's/^e 1 1500020 14 exit/&\ne 1 1500020 15 enter group=1 peer=0 tag=7 bytes=8\ne 1 1500020 15 exit/' | trace both-send
{
	ranks 3
	late "14 1500010 1500020 group=1 peer=0 tag=7 bytes=8" "15 1500030 1500040 group=1" | grep '^e' |
		sed 's/^e 0 1500040 15 exit/e 0 1500040 15 point peer=1 tag=7 bytes=8 group=1\n&/'
	op 2 2 1000000 1500010 group=1 seq=0
} | trace late-any
proves both-send a 50 0 250000
may_buy late-any a 50 0

# Whatever MPI_Waitany leaves to a wait that names it might have come first, and what came first here might have been left.
{
	ranks 3
	echo "site 40 kind=wait name=MPI_Waitany file=x.c line=41"
	echo "site 41 kind=wait name=MPI_Wait file=x.c line=42"
	op 0 4 1000000 1000010 group=1 peer=1 tag=0 bytes=8 id=1
	op 0 4 1000020 1000030 group=1 peer=2 tag=0 bytes=8 id=2
	echo "e 0 1000040 40 enter"
	echo "e 0 1300010 4 point id=2"
	echo "e 0 1300015 40 exit"
	op 0 1 1300020 1700000
	echo "e 0 1700010 41 enter role=1"
	echo "e 0 1700020 4 point id=1"
	echo "e 0 1700025 41 exit"
	op 1 0 1000000 1400000
	op 1 14 1400000 1400005 group=1 peer=0 tag=0 bytes=8
	op 2 1 1000000 1300000
	op 2 14 1300000 1300005 group=1 peer=0 tag=0 bytes=8
} | trace left
expects left 14.29 14.29
may_buy left a 50 142855
# What is done between the begin of a receive and its wait is work, also where the message had been looked for.
{
	ranks 3
	op 0 14 1000000 1000005 group=1 peer=1 tag=0 bytes=8
	op 1 34 1000000 1000010
	op 1 4 1000011 1000012 group=1 peer=0 tag=0 bytes=8 id=1
	op 1 0 1000012 1500000
	op 1 5 1500000 1500005 id=1
	op 1 1 1500005 2000000
} | trace overlap
buys overlap a 50 249994

# From anyone another may come first. Then a receive that names its sender gets another one of it, and who sends synchronously meets
# another receive. As often as here receives from anyone take one of a rank's in any run: where they take none, they never do.
receives() { # rank from to source
	echo "e $1 $2 15 enter group=1 tag=0 bytes=8"
	echo "e $1 $3 15 point peer=$4 bytes=8"
	echo "e $1 $3 15 exit"
}
{
	ranks 3
	receives 0 1000000 1050010 2
	op 0 1 1050010 1300000
	receives 0 1300000 1300010 1
	op 1 0 1000000 1100000
	op 1 37 1100000 1300010 group=1 peer=0 tag=0 bytes=8
	op 1 1 1300010 1800000
	op 2 1 1000000 1050000
	op 2 14 1050000 1050005 group=1 peer=0 tag=0 bytes=8
} | trace meets
may_buy meets a 100 375000
named() { # whose message the first receive takes, and then whose
	ranks 3
	receives 0 1000000 1050010 "$1"
	op 0 15 1050010 1300010 group=1 peer=1 tag=0 bytes=8
	op 0 1 1300010 1800000
	receives 0 1800000 1800010 "$2"
	op 1 1 1000000 1050000
	[ "$1" -ne 1 ] || op 1 14 1050000 1050005 group=1 peer=0 tag=0 bytes=8
	op 1 1 1050005 1300000
	op 1 14 1300000 1300005 group=1 peer=0 tag=0 bytes=8
	op 2 0 1000000 1040000
	[ "$1" -ne 2 ] || op 2 14 1050000 1050005 group=1 peer=0 tag=0 bytes=8
	op 2 0 1050005 1350000
	op 2 14 1350000 1350005 group=1 peer=0 tag=0 bytes=8
}
named 1 2 | trace named
may_buy named a 100 312496
named 2 2 | trace named-only
expect 0 coz --json --region a --reduce 100 named-only
gains "hi < 0.01" || fail "named-only: $(cat out)"
# Of two threads of a rank either may send first; and a rank may send to itself.
{
	ranks 2
	echo "thread 2 clock=0 rank=1 number=1"
	op 0 15 1000000 1250010 group=1 peer=1 tag=0 bytes=8
	op 0 1 1250010 1500000
	op 0 15 1500000 1500010 group=1 peer=1 tag=0 bytes=8
	op 1 39 1000000 1000010 thread=1
	op 1 1 1000010 1250000
	op 1 14 1250000 1250005 group=1 peer=0 tag=0 bytes=8
	op 2 0 1000010 1350000
	op 2 14 1350000 1350005 group=1 peer=0 tag=0 bytes=8
} | trace two-send
may_buy two-send a 100 499970
{
	ranks 2
	op 0 0 1000000 1250000
	op 0 3 1250000 1250001 group=1 peer=0 tag=0 bytes=8 id=1
	receives 0 1250002 1250010 1
	op 0 1 1250010 1350000
	receives 0 1350000 1350010 0
	op 0 5 1350010 1350020 id=1
	op 1 1 1000000 1150000
	op 1 14 1150000 1150005 group=1 peer=0 tag=0 bytes=8
} | trace to-itself
may_buy to-itself a 100 571396

# Who takes a message has waited for it since he looked for it; and what of it was still missing keeps nobody else.
found() { # rank 1's operations...
	ranks 2
	op 0 0 1000000 1500000
	op 0 14 1500000 1500010 group=1 peer=1 tag=0 bytes=8
	"$@"
	op 1 1 1500040 2000000
}
probed() {
	op 1 34 1000000 1500010
	op 1 15 1500020 1500030 group=1 peer=0 tag=0 bytes=8
}
taken() {
	op 1 35 1000000 1500010 group=1 peer=0 tag=0 bytes=8
	op 1 36 1500020 1500030
	op 1 6 1500031 1500032 id=7
}
found probed | trace probed
buys probed a 50 250000
found taken | trace taken
buys taken a 50 250000

# Two messages were seen to take 1000 and 10 ns; the third one took 900 of which its receiver waited for 400 at most.
{
	ranks 2
	op 1 14 1100000 1100005 group=1 peer=0 tag=0 bytes=8
	op 1 14 1200000 1200005 group=1 peer=0 tag=0 bytes=8
	op 1 1 1300000 1500000
	op 1 14 1500000 1500005 group=1 peer=0 tag=0 bytes=8
	op 0 15 1000000 1101000 group=1 peer=1 tag=0 bytes=8
	op 0 15 1150000 1200010 group=1 peer=1 tag=0 bytes=8
	op 0 0 1200010 1500500
	op 0 15 1500500 1500900 group=1 peer=1 tag=0 bytes=8
	op 0 0 1500900 2000000
} | trace longest
buys longest b 100 0 410
buys longest b 100 390 410
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of collective operations: for whom they wait, where they only begin, or move nothing.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# Whoever completes what ranks have begun together, before another comes, has not waited for that one.
{
	ranks 2
	echo "site 16 kind=coll name=MPI_File_iwrite_all file=x.c line=17"
	op 0 16 1000000 1000010 group=1 seq=0 role=2 id=1
	op 0 0 1000010 1400000
	echo "e 0 1400000 5 enter"
	echo "e 0 1400010 16 point id=1"
	echo "e 0 1400010 5 exit"
	op 0 0 1400010 2000000
	op 1 1 1000000 1600000
	op 1 16 1600000 1600010 group=1 seq=0 role=2 id=1
	echo "e 1 1600010 5 enter"
	echo "e 1 1600020 16 point id=1"
	echo "e 1 1600020 5 exit"
} | trace begun-missed
buys begun-missed a 20 199996
may_buy begun-missed a 20 119998
buys begun-missed b 20 0

# The root of a broadcast that only began needs nothing, and may have to wait until others take what it gives.
{
	ranks 2
	for r in 0 1; do
		at=$((1000000 + r * 500000))
		[ $r -eq 0 ] || op 1 1 1000000 $at
		op $r 31 $at $((at + 1)) group=1 seq=0 role=$((1 - r)) bytes=400000 id=1
		echo "e $r $((at + 1)) 5 enter id=1"
		echo "e $r 1500010 31 point id=1"
		echo "e $r 1500010 5 exit id=1"
	done
	op 0 0 1500010 2000000
} | trace root
buys root b 50 250000

# A participant of a broadcast on another host, whose entry may have come before the exit or behind it.
{
	ranks 3 | sed 's/^clock 0 .*/&\nclock 1 host=h1 ghz=1/; s/^thread 1 clock=0/thread 1 clock=1/'
	for at in 900000 2100000; do
		echo "link 0 $at 1 $((at + 50))"
		echo "link 1 $((at + 60)) 0 $((at + 110))"
	done
	op 0 26 1000000 1000010 group=1 seq=0 role=1 bytes=8
	op 1 1 1000000 1500000
	op 1 26 1500000 1500010 group=1 seq=0 role=0 bytes=8
	op 2 26 1000000 1500010 group=1 seq=0 role=0 bytes=8
	op 2 0 1500010 2000000
} | trace apart
may_buy apart b 50 249900

# What both have begun goes on when the receiver waits for it; what comes from rank 0 is not all that a broadcast needs.
{
	ranks 2
	op 1 4 1000000 1000000 group=1 peer=0 tag=0 bytes=100000 id=1
	op 1 1 1000000 1500000
	echo "e 1 1500000 5 enter"
	echo "e 1 1500010 4 point id=1 peer=0 tag=0 bytes=100000 group=1"
	echo "e 1 1500010 5 exit"
	op 0 14 1000000 1500010 group=1 peer=1 tag=0 bytes=100000
	op 0 0 1500010 2000000
} | trace progress
buys progress b 50 250000
{
	ranks 3
	op 0 26 1000000 1000010 group=1 seq=0 role=1 bytes=8
	op 1 1 1000000 1500000
	op 1 26 1500000 1500010 group=1 seq=0 role=0 bytes=8
	op 2 26 1000000 1500010 group=1 seq=0 role=0 bytes=8
	op 2 0 1500010 2000000
} | trace tree
buys tree b 50 250000
may_buy tree b 50 0

# Who gives something to the root of the second gathering has waited for it to come to the first: there was no room.
{
	ranks 2
	op 0 0 1000000 1500000
	op 0 32 1500000 1500010 group=1 seq=0 role=1 bytes=8
	op 0 32 1500010 1500020 group=1 seq=1 role=1 bytes=8
	op 1 32 1000000 1000010 group=1 seq=0 role=0 bytes=8
	op 1 32 1000010 1500008 group=1 seq=1 role=0 bytes=8
	op 1 1 1500010 2000000
} | trace room
may_buy room a 50 249000

# Where it is not known between whom data flow, all wait for all; or, if one has left before, for whoever came last.
split() { # when rank 2 leaves
	ranks 3
	op 0 33 1000000 1500010 group=1 seq=0
	op 0 1 1500010 2000000
	op 1 0 1000000 1500000
	op 1 33 1500000 1500010 group=1 seq=0
	op 2 33 1000000 "$1" group=1 seq=0
}
for left in 1500010 1000010; do
	split $left | trace split$left
	buys split$left a 50 250000
	may_buy split$left a 50 0
done

# Who gives something in a gathering, and has waited four times as long for the root as it then took, has most likely waited for that.
{
	ranks 2
	echo "site 97 kind=coll name=MPI_Gatherv file=x.c line=98"
	op 0 0 1000000 1400000
	op 0 97 1400000 1500000 group=1 seq=0 role=1
	op 1 97 1000000 1500000 group=1 seq=0 role=0 bytes=200000
	op 1 1 1500000 2000000
} | trace gathered
expects gathered 20 20

# How long a reduction that only began takes was never seen; but that it was over 60 after one had begun it, and 600,000 after the other.
{
	ranks 2
	echo "site 16 kind=coll name=MPI_Iallreduce file=x.c line=17"
	op 1 0 1000000 1600000
	op 0 16 1000000 1000010 group=1 seq=0 bytes=4 id=1
	op 1 16 1600000 1600010 group=1 seq=0 bytes=4 id=1
	op 1 1 1600010 1600050
	for r in 0 1; do
		echo "e $r $((1000020 + r * 600030)) 5 enter"
		echo "e $r $((1600060 + r)) 16 point id=1"
		echo "e $r $((1600060 + r)) 5 exit"
	done
	op 0 1 1600060 2000000
} | trace unseen
buys unseen a 50 300000 100

# Who leaves what moves no bytes before another comes has not waited for that one, who comes because of what he does next.
nothing() { # site, roles
	ranks 2
	echo "site 16 kind=coll name=MPI_Allreduce file=x.c line=17"
	op 0 "$1" 1000000 1000010 group=1 seq=0 bytes=0 $2
	op 0 0 1000010 1500000
	op 0 14 1500000 1500010 group=1 peer=1 tag=1 bytes=4
	op 1 15 1000000 1500020 group=1 peer=0 tag=1 bytes=4
	op 1 "$1" 1500030 1500040 group=1 seq=0 bytes=0 $3
	op 1 1 1500040 2000000
}
nothing 16 "" "" | trace nothing-to-all
buys nothing-to-all a 50 249995 30
nothing 32 role=0 role=1 | trace nothing-to-root
buys nothing-to-root a 50 249995 30

# If nobody has left before who gives nothing came, all have waited for that one, most likely.
{
	ranks 2
	echo "site 16 kind=coll name=MPI_Allgatherv file=x.c line=17"
	op 0 16 1000000 1500010 group=1 seq=0 bytes=8
	op 0 0 1500010 2000000
	op 1 1 1000000 1500000
	op 1 16 1500000 1500010 group=1 seq=0 bytes=0
} | trace gives-nothing
buys gives-nothing b 50 250000
may_buy gives-nothing b 50 0
# And if one has, each who left only behind that.
{
	ranks 3
	echo "site 16 kind=coll name=MPI_Allgatherv file=x.c line=17"
	op 0 16 1000000 1500010 group=1 seq=0 bytes=8
	op 0 0 1500010 2000000
	op 1 1 1000000 1500000
	op 1 16 1500000 1500010 group=1 seq=0 bytes=0
	op 2 16 1000000 1000010 group=1 seq=0 bytes=8
} | trace one-missed
buys one-missed b 50 250000
may_buy one-missed b 50 0

# Who is given nothing need not wait for the root, and of four who come to a barrier of two it is chance who meet.
{
	ranks 2
	op 0 1 1000000 1500000
	op 0 26 1500000 1500010 group=1 seq=0 role=1 bytes=8
	op 1 0 1000000 1499000
	op 1 26 1499000 1500010 group=1 seq=0 role=0 bytes=0
	op 1 1 1500010 2000000
} | trace nothing
may_buy nothing a 50 249000
{
	head_of 4
	echo "group 7 threads=0,1,2,3 size=2"
	op 0 0 1000000 1300000
	op 1 1 1000000 1100000
	op 2 1 1000000 1200000
	op 3 1 1000000 1400000
	op 1 10 1100000 1200010 group=7 seq=0
	op 2 10 1200000 1200010 group=7 seq=0
	op 0 10 1300000 1400010 group=7 seq=1
	op 3 10 1400000 1400010 group=7 seq=1
	op 1 1 1200010 2000000
} | trace chance
may_buy chance a 90 99000
echo "as expected"

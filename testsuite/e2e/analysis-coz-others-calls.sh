#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a rank has given may go on only when it calls MPI again: what coz expects and proves of that.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# What is sent from a buffer may go on only when its sender calls MPI again.
{
	ranks 2
	op 1 38 1000000 1000010 group=1 peer=0 tag=7 bytes=2000000
	op 1 0 1000010 1400010
	op 1 2 1400010 2000000 group=1 seq=0
	op 0 1 1000000 1200000
	op 0 15 1200000 1400020 group=1 peer=1 tag=7 bytes=2000000
	op 0 1 1400020 1999990
	op 0 2 1999990 2000000 group=1 seq=0
} | trace from-buffer
buys from-buffer a 50 200000

# So may what a send has copied that is over long before; but not what had come by then, as the first one here.
from_copy() { # when the second receive begins, and ends
	ranks 2
	op 1 14 1000010 1000011 group=1 peer=0 tag=6 bytes=30000
	op 1 14 1000030 1000040 group=1 peer=0 tag=7 bytes=30000
	op 1 0 1000040 1400010
	op 1 2 1400010 2000000 group=1 seq=0
	op 0 15 1000000 1000020 group=1 peer=1 tag=6 bytes=30000
	op 0 1 1000020 "$1"
	op 0 15 "$1" "$2" group=1 peer=1 tag=7 bytes=30000
	op 0 1 "$2" 1999990
	op 0 2 1999990 2000000 group=1 seq=0
}
from_copy 1200000 1400020 | trace from-copy
buys from-copy a 50 199985
may_buy from-copy b 50 300000 # of 200, and then 600 microseconds
from_copy 1200000 1200010 | trace from-copy-there
buys from-copy-there a 50 0
proves from-copy-there b 50 499980 499980
from_copy 1500000 1500010 | trace from-copy-late
buys from-copy-late a 50 0
proves from-copy-late b 50 349980 499980 # it might go on only at 1400010

# Nor need the next call bring it, but perhaps one behind that, or one of another thread of its rank.
later_call() { # threads of rank 1, who calls, and how often
	local i
	head_of 0
	for ((i = 0; i < $1; i++)); do echo "thread $i clock=0 rank=1 number=$i"; done
	echo "thread $1 clock=0 rank=0 number=0"
	echo "group 1 threads=0,$1"
	op 0 38 1000010 1000020 group=1 peer=0 tag=5 bytes=8
	op 0 14 1000020 1000030 group=1 peer=0 tag=7 bytes=8
	[ "$1" = 2 ] || op 0 14 1000030 1000040 group=1 peer=0 tag=6 bytes=8
	op "$2" 0 1000040 1400000
	for ((i = 0; i < $3; i++)); do op "$2" 34 1400000 1400000 peer=72057594037927934; done
	op "$1" 15 1000000 1000025 group=1 peer=1 tag=5 bytes=8
	op "$1" 15 1000025 1400120 group=1 peer=1 tag=7 bytes=8
	op "$1" 1 1400120 2000000
	[ "$1" = 2 ] || op "$1" 15 2000000 2000000 group=1 peer=1 tag=6 bytes=8
}
later_call 1 0 1 | trace later-call
later_call 2 1 1 | trace call-of-thread
later_call 2 1 1200 | trace calls-of-thread
for t in later-call call-of-thread calls-of-thread; do
	may_buy $t a 50 199980
	may_buy $t a 50 0
done

# But no receive is over sooner than it began, whoever calls meanwhile.
{
	ranks 2
	op 1 14 1000000 1000010 group=1 peer=0 tag=7 bytes=8
	op 1 14 1000010 1000020 group=1 peer=0 tag=6 bytes=8
	op 1 0 1000020 1500005
	op 1 5 1500005 1500006 id=0
	op 0 1 1000000 1500000
	op 0 15 1500000 1500020 group=1 peer=1 tag=7 bytes=8
	op 0 1 1500020 2000000
	op 0 15 2000000 2000000 group=1 peer=1 tag=6 bytes=8
} | trace call-meanwhile
proves call-meanwhile a 50 0 20

# Likewise what was given in an operation of several, or said in it, by a rank that has left. It takes a after that.
comes_back() { # events of rank 0 and of rank 1, and how often that calls MPI before a
	local i
	ranks 2
	op 0 $1
	op 0 1 1500020 2000000
	op 1 1 1000000 1100000
	op 1 $2
	for ((i = 0; i < $3; i++)); do op 1 34 1100010 1100010 peer=72057594037927934; done
	op 1 0 1100010 1500000
	op 1 34 1500000 1500000 peer=72057594037927934
	op 1 1 1500000 1500020
}
comes_back "2 1000000 1500020 group=1 seq=0" "2 1100000 1100010 group=1 seq=0" 0 | trace back-to-barrier
comes_back "2 1000000 1500020 group=1 seq=0" "2 1100000 1100010 group=1 seq=0" 1200 | trace back-often
comes_back "26 1000000 1500020 group=1 seq=0 role=0 bytes=8" "26 1100000 1100010 group=1 seq=0 role=1 bytes=8" 0 | trace back-to-root
comes_back "32 1000000 1500020 group=1 seq=0 role=1 bytes=8" "32 1100000 1100010 group=1 seq=0 role=0 bytes=8" 0 | trace back-to-leaf
comes_back "33 1000000 1500020 group=1 seq=0" "33 1100000 1100010 group=1 seq=0" 0 | trace back-to-split
comes_back "37 1000000 1500020 group=1 peer=1 tag=0 bytes=8" "15 1100000 1100010 group=1 peer=0 tag=0 bytes=8" 0 | trace back-to-receiver
for t in barrier root leaf split receiver; do
	may_buy back-to-$t a 50 199990
	may_buy back-to-$t a 50 0
done
may_buy back-often a 50 199990
# On two hosts, whose clocks leave open whether the call came before.
on_two_hosts() { # how long packets take
	sed 's/^clock 0 .*/&\nclock 1 host=h1 ghz=1/; s/^thread 1 clock=0/thread 1 clock=1/'
	for at in 900000 2100000; do
		echo "link 0 $at 1 $((at + $1))"
		echo "link 1 $((at + $1)) 0 $((at + 2 * $1))"
	done
}
comes_back "2 1000000 1500020 group=1 seq=0" "2 1100000 1100010 group=1 seq=0" 0 | on_two_hosts 50 | trace back-on-hosts
may_buy back-on-hosts a 50 199990
later_call 1 0 1 | on_two_hosts 400 | trace call-on-hosts
may_buy call-on-hosts a 50 199980
later_call 2 1 1 | on_two_hosts 400 | sed 's/^thread 1 clock=1/thread 1 clock=0/; s/^thread 2 clock=0/thread 2 clock=1/' |
	trace thread-on-hosts
may_buy thread-on-hosts a 50 199980
# Of three, one leaves behind another that may have waited so.
{
	ranks 3
	for r in 0 1 2; do op $r 1 1000000 1100000; done
	op 0 2 1100000 1100010 group=1 seq=0
	op 0 0 1100010 1500000
	op 0 34 1500000 1500000 peer=72057594037927934
	op 1 2 1100000 1500010 group=1 seq=0
	op 2 2 1100000 1500020 group=1 seq=0
	op 2 1 1500020 2000000
} | trace back-to-three
may_buy back-to-three a 50 199995
# Nor need that rank come back any sooner, if it has to wait for something else.
{
	ranks 2
	op 0 2 1000000 1500020 group=1 seq=0
	op 0 0 1500020 2000000
	op 1 1 1000000 1100000
	op 1 2 1100000 1100010 group=1 seq=0
	op 1 29 1100010 1500000 channel=7 role=1 bytes=8
	op 1 5 1500000 1500010 id=0
} | trace back-no-sooner
may_buy back-no-sooner b 100 0

# The rest of a long message that was found comes most likely when its sender calls MPI again, if that was just before.
for fetch in "36 " "40 peer=72057594037927934 role=0"; do
	{
		ranks 2
		echo "site 40 kind=wait name=MPI_Wait file=x.c line=41" # behind MPI_Imrecv
		op 0 3 1000000 1000010 group=1 peer=1 tag=0 bytes=1000000 id=1
		op 0 0 1000020 1500000
		echo "e 0 1500000 5 enter"
		echo "e 0 1500010 3 point id=1"
		echo "e 0 1500015 5 exit"
		op 1 35 1000000 1000020 group=1 peer=0 tag=0 bytes=1000000
		op 1 ${fetch%% *} 1000025 1500020 ${fetch#* }
		op 1 1 1500020 2000000
	} | trace "fetched${fetch%% *}"
	expects "fetched${fetch%% *}" 25 25
	gains "lo >= 0" || fail "fetched: a shorter region makes nothing longer: $(cat out)"
done

# Who has fetched two short ones at once has found none of those that another thread gives it.
{
	ranks 2
	echo "site 40 kind=wait name=MPI_Wait file=x.c line=41"
	for tag in 0 1; do
		op 0 14 10000$((2 * tag))0 10000$((2 * tag + 1))0 group=1 peer=1 tag=$tag bytes=8
		op 1 35 10001$((2 * tag))0 10001$((2 * tag + 1))0 group=1 peer=0 tag=$tag bytes=8
	done
	op 1 40 1000200 1000210 peer=72057594037927934 role=0
	op 0 0 1000300 1500000
	op 1 36 1000300 1500020
	op 1 1 1500020 2000000
} | trace given
expects given 24.98 24.98

# A synchronous send is over when its receiver calls MPI again, and not when the receive has begun or has found it.
begun_by_receiver() {
	op 1 4 1000000 1000000 group=1 peer=0 tag=0 bytes=8 id=1
	op 1 0 1000000 1500000
	echo "e 1 1500000 5 enter"
	echo "e 1 1500005 4 point id=1 peer=0 tag=0 bytes=8 group=1"
	echo "e 1 1500005 5 exit"
}
found_by_receiver() {
	op 1 35 1000000 1000005 group=1 peer=0 tag=0 bytes=8
	op 1 0 1000005 1500000
	op 1 36 1500000 1500005
}
for way in begun found; do
	{
		ranks 2
		op 1 15 900000 950010 group=1 peer=0 tag=1 bytes=8 # a message takes 10
		op 0 14 950000 950001 group=1 peer=1 tag=1 bytes=8
		${way}_by_receiver
		op 0 37 999990 1500010 group=1 peer=1 tag=0 bytes=8
		op 0 1 1500010 2000000
	} | trace synchronous-$way
done
buys synchronous-begun a 50 227272 100
buys synchronous-found a 50 227270.5 100

# Nor has one waited for a receive that was there much longer than any message took: then it took longer than others by itself.
{
	ranks 2
	op 1 14 800000 800001 group=1 peer=0 tag=0 bytes=8
	op 0 15 799990 800050 group=1 peer=1 tag=0 bytes=8 # a message takes 50
	for i in $(seq 1 8); do # to receive what is there 5
		op 1 14 $((800000 + i * 1000)) $((800001 + i * 1000)) group=1 peer=0 tag=2 bytes=8
		op 0 15 $((800500 + i * 1000)) $((800505 + i * 1000)) group=1 peer=1 tag=2 bytes=8
	done
	op 1 4 1000000 1000001 group=1 peer=0 tag=1 bytes=8 id=9
	op 1 1 1000001 1200000
	op 1 14 1200000 1200001 group=1 peer=0 tag=3 bytes=8
	op 1 1 1200001 1600000
	op 0 0 1000000 1500000
	op 0 37 1500000 1500200 group=1 peer=1 tag=1 bytes=8
	op 0 15 1500200 1500205 group=1 peer=1 tag=3 bytes=8
	op 0 1 1500205 2000000
	echo "e 1 1600000 5 enter"
	echo "e 1 1600010 4 point id=9"
	echo "e 1 1600010 5 exit"
} | trace synchronous-there
expects synchronous-there 20.83 20.83
echo "as expected"

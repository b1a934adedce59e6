#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of condition variables and semaphores, in runs of 1,000,000 ns.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# A condition variable.
{
	head_of 2
	op 0 0 1000000 1400000
	echo "e 0 1400000 7 point id=5"
	op 1 7 1000000 1400010 id=5
	op 1 1 1400010 2000000
} | trace signals
buys signals a 100 400000 300
buys signals b 100 599990 100

# Two who signalled: without both of their regions the wait ends as soon as it began, or when the first came.
{
	head_of 3
	op 0 0 1000000 1300000
	echo "e 0 1300000 7 point id=5"
	op 1 0 1000000 1400000
	echo "e 1 1400000 7 point id=5"
	op 2 7 1000000 1400010 id=5
	op 2 1 1400010 2000000
} | trace both
buys both a 100 300000 100100
buys both a 100 400000 100100

# Both of them could have come before the wait began: it began 200,000 before the first, 300,000 before the last.
{
	head_of 3
	op 0 0 1000000 1300000
	echo "e 0 1300000 7 point id=5"
	op 1 0 1000000 1400000
	echo "e 1 1400000 7 point id=5"
	op 2 1 1000000 1100000
	op 2 7 1100000 1400010 id=5
	op 2 1 1400010 2000000
} | trace early
buys early a 100 200000 100100
buys early a 100 300000 100100

# With its mutex, and two who signalled: which of them ended the wait is not known.
{
	head_of 3
	op 0 0 1000000 1300000
	echo "e 0 1300000 7 point id=5"
	op 1 1 1000000 1400000
	echo "e 1 1400000 7 point id=5"
	op 2 7 1000000 1400010 id=5
	op 2 6 1400010 1400020 id=9
	op 2 13 1400020 1400020
	op 2 0 1400020 2000000
	echo "e 2 2000000 6 point id=9"
} | sed '/ 13 /d' | trace mutex
buys mutex b 100 399000 400010
buys mutex b 100 1000 400010

# Likewise, but they signalled soon one behind the other: so it hardly matters, and the first has most likely woken who
# waited longest.
bursts() { # who waits longer
	head_of 4
	op 0 0 1000000 1390000
	echo "e 0 1390000 7 point id=5"
	op 1 1 1000000 1400000
	echo "e 1 1400000 7 point id=5"
	echo "e 1 1400020 7 point id=5"
	for thread in 2 3; do
		[ "$thread" = "$1" ] && since=1000000 || since=1000100
		op "$thread" 7 "$since" "1400${thread}10" id=5
		op "$thread" 6 "1400${thread}10" "1400${thread}20" id=9
		echo "e $thread 1400${thread}30 6 point id=9"
	done
	op 3 0 1400400 2000000
}
bursts 3 | trace burst
buys burst b 50 0 10100
bursts 2 | trace burst-second
buys burst-second b 50 200000 10100

# Two who count down under a lock, and the last signals: without half of a b is the last, if each came once, or had done something
# before it came again, as who has several tasks; but not if it comes once more behind the signal, and has waited for nothing.
counts_down() { # when b comes to the lock, perhaps more often; what waits, and for what; what b does each time before
	head_of 3
	op 0 0 1000000 1400000
	op 0 6 1400000 1400000 id=9
	echo "e 0 1400000 $3 point id=5"
	echo "e 0 1400000 6 point id=9"
	op 1 1 1000000 1280000
	for at in $1; do
		[ -z "${4:-}" ] || op 1 "$4" $((at - 5000)) "$at" id=3
		op 1 6 "$at" "$at" id=9
		echo "e 1 $at 6 point id=9"
	done
	op 2 "$2" 1000000 1400005 id=5
	if [ "$2" = 7 ]; then
		op 2 6 1400005 1400010 id=9
		echo "e 2 1400010 6 point id=9"
	fi
	op 2 1 1400010 2000000
}
counts_down 1300000 7 7 | trace counts
buys counts a 50 100000 100
counts_down 1300000 8 8 | trace counts-posts
buys counts-posts a 50 100000 100
counts_down '1290000 1300000' 7 7 | trace counts-twice
buys counts-twice a 50 200000 100
counts_down '1290000 1300000' 7 7 8 | trace counts-tasks
buys counts-tasks a 50 100000 100
counts_down '1290000 1300000 1500000' 7 7 6 | trace counts-tasks-on
buys counts-tasks-on a 50 200000 100

# Likewise by a number of which there is no record: of threads that were created alike the last posts, behind which it ends.
# Not if one of the others works on, nor does one that has posted itself count down, nor one that is made only later.
counts_unrecorded() { # when b ends, and when its thread has posted before
	head_of 5
	op 2 39 999970 999980 thread=3
	op 2 39 999980 999990 thread=0
	op 2 39 999990 1000000 thread=1
	op 3 1 1000010 1250000
	op 0 0 1000010 1400000
	echo "e 0 1400000 8 point id=5"
	op 1 1 1000010 "${2:-1000020}"
	[ -z "${2:-}" ] || echo "e 1 $2 8 point id=5"
	op 1 1 "${2:-1000020}" "$1"
	[ -z "${2:-}" ] || op 2 8 1000000 "$((${2:-0} + 10))" id=5
	op 2 8 "$((${2:-999990} + 10))" 1400010 id=5
	op 2 1 1400010 2000000
}
counts_unrecorded 1300000 | trace unrecorded
buys unrecorded a 50 99997 100
{
	counts_unrecorded 1300000
	op 2 39 2000000 2000010 thread=4
	op 4 1 2000010 2000020
} | trace unrecorded-later
buys unrecorded-later a 50 99995 100
counts_unrecorded 1500000 | trace unrecorded-works
buys unrecorded-works a 50 199989 100
counts_unrecorded 1300000 1100000 | trace unrecorded-posts
buys unrecorded-posts a 50 149996 100

# With its mutex, two who wait and two who signal: the first signal has woken the other one.
{
	head_of 4
	op 0 0 1000000 1300000
	echo "e 0 1300000 7 point id=5"
	op 1 1 1000000 1400000
	echo "e 1 1400000 7 point id=5"
	op 2 7 1000000 1400010 id=5
	op 2 6 1400010 1400020 id=9
	echo "e 2 1400030 6 point id=9"
	op 2 0 1400030 2000000
	op 3 7 1000000 1300010 id=5
	op 3 6 1300010 1300020 id=9
	echo "e 3 1300030 6 point id=9"
} | trace woken
buys woken b 50 200000 100

# A semaphore that begins with one: the second wait is for the first post.
{
	head_of 2
	op 0 0 1000000 1400000
	echo "e 0 1400000 8 point id=6"
	op 1 8 1000000 1000001 id=6
	op 1 8 1000001 1400010 id=6
	op 1 1 1400010 2000000
} | trace semaphore
buys semaphore a 100 400000 300
buys semaphore a 50 200000 300

# With how much a semaphore began is not known where no wait has shown that it was empty.
{
	head_of 2
	op 0 0 1000000 1100000
	echo "e 0 1100000 28 point id=1"
	op 1 1 1000000 1500000
	op 1 8 1500000 1500000 id=1
	op 1 0 1500000 2000000
} | trace initial
may_buy initial b 100 480000

# Who waits for a condition variable in pieces, and has its mutex for a moment in between, waits for the signal; unless it has
# the mutex longer than it waited.
again() { # until when it has the mutex in between
	head_of 2
	op 0 0 1000000 1400000
	op 0 6 1400000 1400000 id=5
	echo "e 0 1400010 7 point id=8"
	echo "e 0 1400020 6 point id=5"
	op 1 6 1000000 1000000 id=5
	echo "e 1 1000010 6 point id=5"
	op 1 7 1000010 1150000 until=1000
	op 1 6 1150000 1150010 id=5
	echo "e 1 $1 6 point id=5"
	op 1 7 "$1" 1390000 until=1200
	op 1 6 1390000 1390010 id=5
	echo "e 1 1390020 6 point id=5"
	op 1 7 1390020 1400030 id=8
	op 1 6 1400030 1400040 id=5
	echo "e 1 1400050 6 point id=5"
	op 1 1 1400050 2000000
}
again 1150020 | trace again
expects again 20 20
again 1310000 | trace held
expects held 9 9
# A barrier that is made of a lock and a condition variable: who signals there would have waited for the others.
meets() { # function in which it is signalled [again]
	head_of 2
	echo "site 40 kind=lock name=pthread_mutex_lock file=x.c line=41 function=meet"
	echo "site 41 kind=wait name=pthread_cond_wait file=x.c line=42 function=meet"
	echo "site 42 kind=wait name=pthread_cond_broadcast file=x.c line=43 function=$1"
	op 0 0 1000000 1400000
	op 0 40 1400001 1400001 id=5
	echo "e 0 1400002 42 point id=8"
	echo "e 0 1400003 40 point id=5"
	op 0 1 1400003 2000000
	[ -z "${2:-}" ] || echo "e 0 2000001 42 point id=8"
	op 1 1 1000000 1300000
	op 1 40 1300001 1300001 id=5
	echo "e 1 1300002 40 point id=5"
	op 1 41 1300003 1400004 id=8
	op 1 40 1400004 1400005 id=5
	echo "e 1 1400006 40 point id=5"
	op 1 1 1400006 1600000
}
meets meet again | trace own_barrier
unsure own_barrier 10 10
meets other again | trace no_barrier
unsure no_barrier 20 20
meets meet | trace flag
expects flag 20 20
# A condition variable that counts what is put: who takes the second thing waits for it, too, where it comes sooner.
{
	head_of 2
	echo "site 40 kind=lock name=pthread_mutex_lock file=x.c line=41"
	for put in 1100000 1600000; do
		op 0 1 $((put - 100000)) "$put"
		op 0 40 "$put" "$put" id=5
		echo "e 0 $put 7 point id=8"
		echo "e 0 $put 6 point id=5"
	done
	op 1 6 1000000 1000000 id=5
	echo "e 1 1000000 6 point id=5"
	op 1 7 1000000 1100000 id=8
	op 1 6 1100000 1100000 id=5
	echo "e 1 1100000 6 point id=5"
	op 1 0 1100000 1650000
	op 1 6 1650000 1650000 id=5
	echo "e 1 1650000 6 point id=5"
	op 1 1 1650000 2000000
} | trace counts
unsure counts 5 5

# Or one that is signalled once, behind which another thread comes to the lock: where it comes sooner, it waits for that. Not where
# it comes there for other things, too.
given() { # when the other one comes there, too
	head_of 2
	op 0 1 1000000 1300000
	op 0 6 1300000 1300000 id=5
	echo "e 0 1300000 7 point id=8"
	echo "e 0 1300000 6 point id=5"
	[ "$1" != 1000000 ] || comes "$1"
	op 1 0 1000000 1400000
	comes 1400000
	op 1 1 1400000 2000000
	[ "$1" != 2000000 ] || comes "$1"
}
comes() {
	op 1 6 "$1" "$1" id=5
	echo "e 1 $1 6 point id=5"
}
given never | trace given
unsure given 10 10
given 1000000 | trace given_before
expects given_before 20 20
given 2000000 | trace given_again
expects given_again 20 20
echo "as expected"

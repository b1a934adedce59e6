#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coz gives what a faster region would really buy, through every kind of waiting; says what a trace
# lacks; and refuses what cannot be meant. (Random programs: testsuite/unit/truth_coz.c.)
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

# ---- The Coz paper's Figure 1 ------------------------------------------------------------------

trace figure <"$fixtures/coz-two-threads.txt"
buys figure a 100 44776.119403 0.01
buys figure b 100 0 0
buys figure a 0 0 0
buys figure a 4.477611 44776.11 0.01
expect 0 coz figure
says out "a                    4.48 ±0.01      4.48 ±0.01      4.48 ±0.01      proved"
# Of no trace it is known which waits have had a time limit, or who has asked how much there is: so that is said.
expect 0 coz --json --region a --reduce 50 figure
says out "nor on how much there is to take (sem_getvalue, FIONREAD)."
says out "Who has waited with a time limit, and had what it waited for, has that within the limit in any run."

# ---- Every kind of waiting, in runs of 1,000,000 ns ---------------------------------------------

# In a barrier inside of a region nothing is cut; what comes behind it moves.
{
	ranks 2
	echo "e 0 1000000 0 enter"
	op 0 2 1200000 1600000 group=1 seq=0
	echo "e 0 2000000 0 exit"
	op 1 1 1000000 1600000
	op 1 2 1600000 1600000 group=1 seq=0
} | trace barrier
buys barrier a 100 400000 # only the second half
buys barrier b 100 400000 # until rank 0 is the last
buys barrier b 50 300000

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

# A wait whose own exit says that what was before it is not known, since a sleep inside of it has no end; nothing is hidden here.
{
	ranks 2
	op 0 0 1000000 1500000
	echo "e 0 1500000 2 enter group=1 seq=0"
	echo "e 0 1510000 30 enter"
	echo "e 0 1600000 2 exit group=1 seq=0"
	op 0 1 1600000 2000000
	op 1 0 1000000 1500000
	op 1 2 1500000 1600000 group=1 seq=0
	op 1 1 1600000 2000000
} | trace forgets-at-exit
status=1 proves forgets-at-exit a 100 0 500000

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

# A lock is handed on.
{
	head_of 2
	op 0 6 1000000 1000010 id=5
	op 0 0 1000010 1500000
	echo "e 0 1500000 6 point id=5"
	op 0 1 1500000 1500100
	op 1 6 1000020 1500010 id=5
	op 1 1 1500010 2000000
	echo "e 1 2000000 6 point id=5"
} | trace lock
buys lock a 50 249995
buys lock b 50 249995 300

# In another run who comes to a lock behind half of a has it first, and keeps the other thread waiting, which has much
# to do behind it: that takes 350,020 ns instead of 255,010. What is proved holds for any order. It is not known what it
# takes to hand that lock on.
{
	head_of 2
	op 0 0 1000000 1080000
	op 0 6 1080000 1080010 id=5
	op 0 1 1080010 1180010
	echo "e 0 1180010 6 point id=5"
	op 1 1 1000000 1045000
	op 1 6 1045000 1045010 id=5
	op 1 1 1045010 1055010
	echo "e 1 1055010 6 point id=5"
	op 1 1 1055010 1255010
} | trace tail
may_buy tail a 50 -372573
buys tail a 0 0 0

# Two who do not keep a lock for long. In no order is any lost but their critical sections, and what it took to hand the lock on.
short() { # [what else]
	head_of 2
	op 0 0 1000000 1500000
	op 0 6 1500000 1500010 id=5
	op 0 1 1500010 1500500
	${1:-}
	op 0 1 1500600 1501000
	echo "e 0 1501000 6 point id=5"
	op 1 0 1000000 1500500
	op 1 6 1500500 1501010 id=5
	op 1 1 1501010 1502000
	echo "e 1 1502000 6 point id=5"
}
short | trace short
proves short a 50 497499 499523

# But nothing bounds how long one has the lock who sleeps there until a moment, or waits for more than locks; and where
# somebody signals the other one may wait there in another run, for longer than either has the lock.
sleeps() { op 0 30 1500500 1500600; }
signals() { echo "e 0 1500550 41 point id=8"; }
posts() { echo "e 0 1500550 28 point id=8"; }
for what in sleeps signals posts; do
	short "$what" | sed 's/^site 0 .*/&\nsite 41 kind=wait name=pthread_cond_signal file=x.c line=42/' | trace "short-$what"
	may_buy "short-$what" a 50 -900000
done

# Who takes the lock gets the next piece of work: 9 of 100,000 ns that thread 1 does while thread 0 has one of 900,000. If
# that takes 450,000, thread 0 does the 6th and the 8th of them, and all is done after 700,000; and where nobody knows that
# it is so, another run may give anything to anybody.
dealt() { # lock waits: the key of what is taken
	head_of 2
	op 0 "$1" 1000000 1000000 id=5
	[ "$1" -ne 6 ] || echo "e 0 1000000 6 point id=5"
	op 0 0 1000001 1900000
	op 0 "$1" 1900001 1900001 id=5
	[ "$1" -ne 6 ] || echo "e 0 1900001 6 point id=5"
	echo "e 0 2000000 12 point"
	for i in $(seq 0 8); do
		op 1 "$1" "$((1000010 + i * 100000))" "$((1000010 + i * 100000))" id=5
		[ "$1" -ne 6 ] || echo "e 1 $((1000010 + i * 100000)) 6 point id=5"
		op 1 1 "$((1000011 + i * 100000))" "$((1100000 + i * 100000))"
	done
	op 1 "$1" 1900010 1900010 id=5
	[ "$1" -ne 6 ] || echo "e 1 1900010 6 point id=5"
	echo "e 1 2000000 12 point"
}
dealt 6 | trace pool
buys pool a 50 200000 100
says out "may be decided by the order of pthread_mutex_lock (x.c:7)"
dealt 8 | trace permits
may_buy permits a 50 225000

# How often a point is reached is not known, either, where a signal interrupts what its thread waits for.
{
	head_of 2
	echo "e 0 1000000 12 point"
	op 0 0 1000000 1500000
	echo "e 0 1500000 28 point id=8"
	op 0 1 1500000 2000000
	echo "e 0 2000000 12 point"
	echo "e 1 1000000 8 enter id=8"
	op 1 0 1100000 1200000
	echo "e 1 1500010 8 exit"
} | trace interrupted
expect 0 coz --json --progress begun --region a --reduce 50 interrupted
says out '"throughput_percent": {"lo": null, "hi": null}'

# Threads that were created in one place, do 1 and 9 pieces, and are through together: a counter that nobody sees may
# give those out. Not so if they have as many each, or one is through much earlier.
counted() { # pieces of 100,000 ns of the second thread
	head_of 3
	op 0 39 1000000 1000001 thread=1
	op 0 39 1000001 1000002 thread=2
	op 0 40 1000002 2000000 thread=1
	op 0 40 2000000 2000001 thread=2
	op 1 0 1000010 1900000
	op 1 1 1900000 1999000
	for i in $(seq 1 "$1"); do op 2 1 $((900010 + i * 100000)) $((1000000 + i * 100000)); done
	[ "$1" -gt 8 ] || op 2 0 $((1000000 + $1 * 100000)) 1900000
}
for n in 9 1 2; do
	counted "$n" | sed 's/^site 0 .*/&\nsite 40 kind=join name=pthread_join file=x.c line=41/' | trace "counted-$n"
done
may_buy counted-9 a 50 225000
says out "may be decided by the order of b (x.c:2)"
for n in 1 2; do
	expect 0 coz --json --region a --reduce 50 "counted-$n"
	! grep -qF "may be decided by" out || fail "$n pieces: $(cat out)"
done

# So do processes that one forked in one place, but not in two.
counted_children() { # site where the second one is forked
	counted 9 | grep -v '^thread\|^dprof\|^clock\|^e 0'
	printf 'site %s kind=fork name=fork file=x.c line=%s\n' 16 17 17 18
	echo "site 18 kind=wait name=wait file=x.c line=19"
	op 0 16 999000 999001 process=11
	op 0 "$1" 999001 999002 process=12
	op 0 18 999002 2000000 process=11 peer=72057594037927934
	op 0 18 2000000 2000001 process=12 peer=72057594037927934
}
for site in 16 17; do
	{
		printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "process 0 pid=10"
		printf 'process %s forked=1 parent=0\n' "1 pid=11 started=999000" "2 pid=12 started=999001"
		printf 'thread %s clock=0 process=%s number=0\n' 0 0 1 1 2 2
		counted_children "$site"
	} | trace "counted-children-$site"
done
may_buy counted-children-16 a 50 225000
says out "may be decided by the order of b (x.c:2)"
expect 0 coz --json --region a --reduce 50 counted-children-17
says_not out "may be decided by the order of b"

# Whoever has a robust lock ends, and another one goes on 30 us later: not with thread 2, which does so just then.
{
	head_of 3
	op 0 6 1100000 1530000 id=5
	op 0 1 1530000 2000000
	echo "e 0 2000000 6 point id=5"
	op 1 6 1000000 1000001 id=5
	op 1 0 1000001 1500000
	op 2 1 1000000 1529990
} | trace lock-ends
buys lock-ends a 50 249999

# Thread 0 waits for a semaphore that both others post, and answers each by one of its own: without a, which takes 400,000 as
# does the first b of thread 2, thread 1 would do six of the eight that take 100,000, and not four. Not so if it waits for both
# before it answers both.
ask() { # thread when long site
	echo "e $1 $2 28 point id=9"
	op "$1" 8 $(($2 + 1)) $(($2 + 40)) id="$1"
	[ -z "$3" ] || op "$1" "${4:-1}" $(($2 + 40)) $(($2 + $3))
}
hear() { # until
	op 0 8 "$heard" "$1" id=9
	heard=$(($1 + 1))
}
answer() { # thread
	echo "e 0 $heard 28 point id=$1"
	heard=$((heard + 1))
}
dispatched() { # one_by_one or all
	local heard=999990 at
	head_of 3
	for at in 0 400000 500000 600000 700000 800000; do
		at=$((1000000 + at))
		hear $((at + 2))
		[ "$1" = all ] || answer 1
		hear $((at + 22))
		[ "$1" = one_by_one ] || answer 1
		answer 2
	done
	ask 1 1000000 400000 0
	ask 2 1000020 400000
	for at in 400000 500000 600000 700000; do
		ask 1 $((1000000 + at)) 100000
		ask 2 $((1000020 + at)) 100000
	done
	ask 1 1800000 ""
	ask 2 1800020 ""
}
dispatched one_by_one | trace dispatched
may_buy dispatched a 100 249900
says out "may be decided by the order of sem_post (x.c:29)"
dispatched all | trace dispatched-all
expect 0 coz --json --region a --reduce 100 dispatched-all
says_not out "may be decided by the order of sem_post"

# Of three that come to a lock the last creates a thread behind it, or the first while it has it: without half of a, in the one case
# of thread 1 and in the other of thread 2, another one is that, so that the run is over 40,000 or 130,000 before.
creates() { # whose a is when each comes, and when it is created
	head_of 5
	echo "site 40 kind=join name=pthread_join file=x.c line=41"
	for thread in 1 2 3; do op 0 39 $((999990 + thread)) $((999991 + thread)) thread=$thread; done
	op 0 40 999994 1400070 thread=1
	for thread in 2 3; do op 0 40 $((1400069 + thread)) $((1400070 + thread)) thread=$thread; done
	op 0 40 1400080 1700000 thread=4
	for thread in 1 2 3; do
		op $thread $(($1 != thread)) 1000000 "${*:thread + 1:1}"
		op $thread 6 "${*:thread + 1:1}" "${*:thread + 1:1}" id=5
		[ $thread -ne 1 ] || [ "$5" = behind ] || op 1 39 $(($2 + 10)) $(($2 + 20)) thread=4
		echo "e $thread $((${*:thread + 1:1} + 30)) 6 point id=5"
	done
	[ "$5" != behind ] || op 1 39 $(($2 + 40)) $(($2 + 50)) thread=4
	op 4 1 $(($2 + 50)) 1699990
}
creates 1 1400000 1340000 1360000 behind | trace last-creates
may_buy last-creates a 50 57142
creates 2 1300000 1340000 1360000 inside | trace first-creates
may_buy first-creates a 50 185714

# Each takes the lock once before a barrier: nothing that it does afterwards is given out.
{
	head_of 2
	op 0 0 1000000 1800000
	op 0 6 1800000 1800001 id=5
	echo "e 0 1800001 6 point id=5"
	op 0 10 1800002 1800003 group=1 seq=0
	op 0 1 1800003 2000000
	op 1 1 1000000 1400000
	op 1 6 1400000 1400001 id=5
	echo "e 1 1400001 6 point id=5"
	op 1 10 1400002 1800003 group=1 seq=0
	op 1 1 1800003 2000000
	echo "group 1 threads=0,1"
} | trace counter
buys counter a 20 160000 100
expect 0 coz --region a --reduce 20 counter
says_not out "decided by the order"

# Or it does something, at 300: with what may depend on who was first. If thread 1, after 250, it would do the first of both
# regions b. Likewise of whoever is told that it is the serial thread of a barrier.
{
	head_of 2
	op 0 1 1000000 1300000
	op 0 6 1300000 1300001 id=5
	echo "e 0 1300001 6 point id=5"
	op 0 1 1300002 1900000
	op 0 1 1900001 2500000
	op 1 0 1000000 1500000
	op 1 6 1500000 1500001 id=5
	echo "e 1 1500001 6 point id=5"
} | trace first
may_buy first a 50 400000
says out "may be decided by the order of pthread_mutex_lock (x.c:7)"
# Likewise if he takes it again and again, and what he does meanwhile is not marked.
{
	head_of 2
	for i in 1 2 3 4 5; do
		op 0 6 $((900000 + i * 200000)) $((900000 + i * 200000)) id=5
		echo "e 0 $((900000 + i * 200000)) 6 point id=5"
	done
	echo "e 0 2500000 12 point"
	op 1 0 1000000 1500000
	op 1 6 1500000 1500001 id=5
	echo "e 1 1500001 6 point id=5"
} | trace again
may_buy again a 50 100000
serial() { # the barrier's name
	head_of 2
	echo "site 16 kind=barrier name=$1 file=x.c line=17"
	echo "site 17 kind=region name=c file=x.c line=18"
	op 0 0 1000000 1300000
	op 0 16 1300000 1300001 group=1 seq=0
	op 0 1 1300002 1800000
	op 0 1 1800001 2000000
	op 1 1 1000000 1250000
	op 1 16 1250000 1300001 group=1 seq=0
	op 0 10 2000000 2000001 group=1 seq=1
	op 1 10 1300002 2000001 group=1 seq=1
	op 0 17 2000001 2010000
	op 1 1 2000001 2005000
	echo "group 1 threads=0,1"
}
serial 'pthread_barrier_wait%20(serial%20thread)' | trace serial
may_buy serial a 50 240000
says out "may be decided by the order of pthread_barrier_wait (serial thread) (x.c:17)"
expect 0 coz --json --region c --reduce 50 serial
gains "lo > 0.4" || fail "behind the next barrier: $(cat out)"
serial pthread_barrier_wait | trace no-serial
expect 0 coz --json --region a --reduce 50 no-serial
gains "hi < 6" || fail "no-serial: $(cat out)"
# How many permits are there when somebody takes those that there are, or how many messages have come, is chance.
some() { # name of what takes what there is
	head_of 2
	echo "site 16 kind=wait name=$1 file=x.c line=17"
	for i in 1 2 3 4; do
		op 1 0 $((800000 + i * 200000)) $((1000000 + i * 200000))
		echo "e 1 $((1000000 + i * 200000)) 28 point id=7"
		op 0 16 $((1000000 + i * 200000)) $((1000010 + i * 200000)) id=7
		op 0 1 $((1000020 + i * 200000)) $((1180000 + i * 200000))
	done
}
some sem_trywait | trace drains
may_buy drains a 90 600000

# A sleep outside of regions may be what is left of a period: then nothing is saved. In a region it is work.
{
	head_of 1
	op 0 0 1000000 1600000
	op 0 30 1600000 2000000
} | trace rest
may_buy rest a 50 0
may_buy rest a 50 300000
{
	head_of 1
	op 0 0 1000000 1600000
	echo "e 0 1600000 1 enter"
	op 0 30 1600000 2000000
	echo "e 0 2000000 1 exit"
} | trace work
buys work a 50 300000

# A sleep that a signal ended, of another thread perhaps, may end as much earlier as that saves.
{
	head_of 2
	op 0 0 1000000 1900000
	op 1 1 1000000 1100000
	op 1 30 1100000 1900010 peer=72057594037927934
	op 1 1 1900010 2000000
} | trace signal
may_buy signal a 50 450000

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

# Two who count down under a lock, and the last signals: without half of a b is the last, if each came once.
counts_down() { # when b comes to the lock, perhaps twice; what waits, and for what
	head_of 3
	op 0 0 1000000 1400000
	op 0 6 1400000 1400000 id=9
	echo "e 0 1400000 $3 point id=5"
	echo "e 0 1400000 6 point id=9"
	op 1 1 1000000 1290000
	for at in $1; do
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

# Barriers that do not say whose they are.
{
	head_of 2
	for i in 0 1; do
		op $i 10 $((1500000 - i * 400000)) 1500000
		op $i 10 $((1600000 + i * 400000)) 2000000
	done
	echo "e 0 1000000 0 enter"; echo "e 1 1000000 0 enter"
} | awk '/enter$/ && / 0 enter/ { first[$2] = $0; next } /^e/ { body[$2] = body[$2] $0 "\n"; next } { print }
	END { for (t = 0; t < 2; t++) printf "%s\n%s%s\n", first[t], body[t], "e " t " 2000000 0 exit" }' | trace bare
buys bare a 50 500000 # half of the first 500,000 of thread 0, and of the last 500,000 of thread 1

# One left before the other came: so they are not of one group.
{ head_of 2; op 0 10 1100000 1200000; op 1 10 1500000 1600000; } | trace apart
expect 0 coz apart
noted "the trace does not say for whom: 2 times, first rank 0 thread 0 at GOMP_barrier (x.c:11), stamp 1200000"

# A team: opened, a barrier, closed.
{
	head_of 2
	echo "group 3 threads=0,1"
	op 0 0 1000000 1200000
	op 0 9 1200000 1200000 group=3 seq=0 role=1
	op 1 9 1200001 1200001 group=3 seq=0 role=0
	op 0 10 1300000 1600000 group=3 seq=1
	op 1 1 1200001 1600000
	op 1 10 1600000 1600000 group=3 seq=1
	op 1 11 1600000 1600000 group=3 seq=2 role=0
	op 0 11 1700000 1700000 group=3 seq=2 role=1
	op 0 0 1700000 2000000
} | trace team
buys team b 50 200000
buys team b 100 300000
buys team a 100 500000

# Sections: each thread of the team has one, and the longer one is a. Or one more, which whoever is ready first does.
sections() { # when there is nothing left for thread 1, and when both leave
	head_of 2
	echo "group 3 threads=0,1"
	echo "site 16 kind=fork name=dynamic%20loop file=x.c line=17"
	op 0 9 1000000 1000000 group=3 seq=0 role=1
	op 1 9 1000000 1000000 group=3 seq=0 role=0
	echo "e 0 1000000 16 point group=3"
	echo "e 1 1000000 16 point group=3"
	op 0 0 1000000 1800000
	op 1 1 1000000 1500000
	[ "$1" = 1500000 ] || op 1 1 1500000 "$1"
	op 0 10 1800000 "$2" group=3 seq=1
	op 1 10 "$1" "$2" group=3 seq=1
	op 0 1 "$2" 2000000
}
sections 1500000 1800000 | trace sections
buys sections a 50 300000
sections 1900000 1900000 | trace three-sections
buys three-sections a 50 100000
# A loop: thread 0 has done two iterations, and then one of thread 1's, unless those were one piece. Where nothing is
# said behind the first piece, nobody knows how many there were: what is saved is shared out evenly.
loop() { # pieces of one iteration, or of two, or of which only the first is said
	head_of 2
	echo "group 3 threads=0,1"
	echo "site 16 kind=fork name=dynamic%20loop file=x.c line=17"
	for t in 0 1; do
		op $t 9 1000000 1000000 group=3 seq=0 role=$((1 - t))
		echo "e $t 1000000 16 point group=3"
		[ "$1" = 1 ] || echo "e $t 1000000 16 point group=3 seq=0"
	done
	op 0 0 1000000 1400000
	op 0 0 1400000 1800000
	op 1 1 1000000 1500000
	op 1 1 1500000 1900000
	[ "$1" != 2 ] || echo "e 0 1800000 16 point group=3 seq=1"
	[ "$1" != 2 ] || echo "e 1 1900000 16 point group=3 seq=1"
	op 0 10 1800000 1900000 group=3 seq=1
	op 1 10 1900000 1900000 group=3 seq=1
	op 0 1 1900000 2000000
}
loop 1 | trace iterations
buys iterations a 50 100000
loop 2 | trace pieces
buys pieces a 50 0
loop first | trace first-piece
buys first-piece a 50 200000 100010
# Likewise tasks in a barrier.
run_task() { # thread site from to task
	echo "e $1 $3 10 enter group=3 seq=1"
	echo "e $1 $3 10 exit task=$5"
	echo "e $1 $3 17 enter task=$5"
	op "$1" "$2" "$3" "$4"
	echo "e $1 $4 17 exit"
}
{
	head_of 2
	echo "group 3 threads=0,1"
	echo "site 16 kind=fork name=omp%20task file=x.c line=17"
	echo "site 17 kind=region name=task file=x.c line=18 auto=1"
	op 0 9 1000000 1000000 group=3 seq=0 role=1
	op 1 9 1000000 1000000 group=3 seq=0 role=0
	for t in 11 12 13; do echo "e 0 1000000 16 point task=$t id=1"; done
	run_task 0 0 1000000 1800000 11
	run_task 1 1 1000000 1500000 12
	run_task 1 1 1500000 1900000 13
	op 0 10 1800000 1900000 group=3 seq=1
	op 1 10 1900000 1900000 group=3 seq=1
	op 0 1 1900000 2000000
} | trace tasks
buys tasks a 50 100000
# A single: it is thread 1 that comes first, if a takes half as long.
{
	head_of 2
	echo "group 3 threads=0,1"
	echo "site 16 kind=fork name=single file=x.c line=17"
	op 0 1 1000000 1300000
	echo "e 0 1300000 16 point group=3"
	op 0 1 1300000 1600000
	op 0 10 1600000 1600000 group=3 seq=1
	op 0 1 1600000 1700000
	op 1 0 1000000 1500000
	echo "e 1 1500000 16 point group=3"
	op 1 10 1500000 1600000 group=3 seq=1
} | trace single
buys single a 50 71428.57
# Not if both work on behind it: that is their own.
{
	head_of 2
	echo "group 3 threads=0,1"
	echo "site 16 kind=fork name=single file=x.c line=17"
	op 0 1 1000000 1300000
	echo "e 0 1300000 16 point group=3"
	op 0 1 1300000 1600000
	op 0 10 1600000 1600000 group=3 seq=1
	op 0 1 1600000 1700000
	op 1 0 1000000 1500000
	echo "e 1 1500000 16 point group=3"
	op 1 1 1500000 1510000
	op 1 10 1510000 1600000 group=3 seq=1
} | trace single-nowait
buys single-nowait a 50 0

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

# Ranks that exchange 20,000 bytes, in turns one is late. Once a message took long, for reasons of its own: who came far
# behind the other was waited for all the same.
{
	ranks 2
	for i in 0 1 2 3; do
		from=$((1000000 + i * 250000)) slow=$((i == 1 ? 60000 : 10))
		end=$((from + 150000 + slow))
		op $((i % 2)) 0 $from $((from + 150000))
		op $((1 - i % 2)) 1 $from $((from + 50000))
		for r in 0 1; do
			at=$((r == i % 2 ? from + 150000 : from + 50000))
			echo "e $r $at 5 enter"
			echo "e $r $at 4 enter group=1 peer=$((1 - r)) tag=0 bytes=20000 id=$i"
			echo "e $r $((at + 1)) 3 enter group=1 peer=$((1 - r)) tag=0 bytes=20000 id=9"
			echo "e $r $end 4 point id=$i bytes=20000"
			echo "e $r $end 3 point id=9"
			echo "e $r $end 3 exit"
			echo "e $r $end 4 exit"
			echo "e $r $end 5 exit"
			op $r 1 $end $((from + 250000))
		done
	done
} | sed 's/name=MPI_Waitall/name=MPI_Sendrecv/' | trace exchange
buys exchange a 40 240000 4000

# Who only begins an exchange waits for it later: to begin it was no attempt in vain.
{
	ranks 2
	echo "site 99 kind=wait name=MPI_Isendrecv file=x.c line=100"
	for r in 0 1; do
		begins=$((1100000 + 300000 * r)) waits=$((1150000 + 300000 * r)) ends=$((1400020 + 50000 * r))
		op $r $((1 - r)) 1000000 $begins
		echo "e $r $begins 99 enter"
		op $r 3 $begins $begins group=1 peer=$((1 - r)) tag=0 bytes=8 id=1
		op $r 4 $begins $begins group=1 peer=$((1 - r)) tag=0 bytes=8 id=2
		echo "e $r $begins 99 exit"
		op $r 1 $begins $waits
		echo "e $r $waits 5 enter"
		echo "e $r $ends 4 point id=2 bytes=8"
		echo "e $r $ends 3 point id=1"
		echo "e $r $ends 5 exit"
		op $r 1 $ends $((2000000 - 100000 * r))
	done
} | trace begun-exchange
buys begun-exchange a 50 200000 100

# Who waits once, for a message and for whoever takes another one: both came with the other rank, and nothing tells what it takes.
{
	ranks 2
	for r in 0 1; do
		begins=$((1100000 + 300000 * r)) ends=1400090
		op $r $((1 - r)) 1000000 $begins
		op $r 4 $begins $((begins + 20)) group=1 peer=$((1 - r)) tag=0 bytes=8 id=1
		op $r 3 $((begins + 20)) $((begins + 40)) group=1 peer=$((1 - r)) tag=0 bytes=8 id=2
		echo "e $r $((begins + 50)) 5 enter"
		echo "e $r $ends 4 point id=1 bytes=8"
		echo "e $r $ends 3 point id=2"
		echo "e $r $ends 5 exit"
		op $r 1 $ends $((2000000 - 100000 * r))
	done
} | sed "s/name=MPI_Isend /name=MPI_Issend /" | trace once-for-both
buys once-for-both a 50 200000 100

# Ranks in a ring work 8,000, one of them in turns longer, and exchange messages: with the next one by MPI_Sendrecv, with
# it or with both neighbours by MPI_Irecv, MPI_Isend and MPI_Waitall. It is expected that each waits for the others.
rings() { # way, bytes, how long the longer work takes
	ranks 3
	echo "site 99 kind=wait name=MPI_Sendrecv file=x.c line=100"
	awk -v way="$1" -v bytes="$2" -v long="$3" -v n=3 '
	function op(t, site, from, to, more) { print "e", t, from, site, "enter", more; print "e", t, to, site, "exit" }
	function begins(t, site, from, peer, id) {
		op(t, site, from, from, "group=1 peer=" peer " tag=" (id > 2) " bytes=" bytes " id=" id)
	}
	function got(t, peer, id) {
		print "e", t, done, 4, "point id=" id " peer=" peer " tag=" (id > 2) " bytes=" bytes " group=1"
	}
	function arrives(from) { done = sent[from] + 20 + bytes / 1000 > done ? sent[from] + 20 + bytes / 1000 : done }
	BEGIN {
		for (t = 0; t < n; t++) end[t] = 1000000
		for (i = 0; i < 9; i++) {
			for (t = 0; t < n; t++) {
				if (way != "sendrecv") begins(t, 4, end[t], (t + 2) % n, 1)
				if (way == "halo") begins(t, 4, end[t], (t + 1) % n, 3)
				sent[t] = end[t] + (i % n == t ? long : 8000)
				op(t, i % n != t, end[t], sent[t])
				if (way == "sendrecv") {
					print "e", t, sent[t], 99, "enter"
					begins(t, 4, sent[t], (t + 2) % n, 1)
				}
				begins(t, 3, sent[t], (t + 1) % n, 2)
				if (way == "halo") begins(t, 3, sent[t], (t + 2) % n, 4)
				if (way != "sendrecv") print "e", t, sent[t] + 3, 5, "enter"
			}
			for (t = 0; t < n; t++) {
				done = sent[t] + 10
				arrives((t + 2) % n)
				if (way == "halo") arrives((t + 1) % n)
				got(t, (t + 2) % n, 1)
				print "e", t, done, 3, "point id=2 group=1"
				if (way == "halo") { got(t, (t + 1) % n, 3); print "e", t, done, 3, "point id=4 group=1" }
				print "e", t, done, way == "sendrecv" ? 99 : 5, "exit"
				end[t] = done
			}
		}
	}'
}
last_of() { awk '$1 == "e" && $3 > last { last = $3 } END { print last - 1000000 }'; }
for way in sendrecv waitall halo; do
	for bytes in 1000 20000 1000000; do
		rings $way $bytes 20000 | trace $way-$bytes
		buys $way-$bytes a 50 "$(echo "$(rings $way $bytes 20000 | last_of) $(rings $way $bytes 10000 | last_of)" |
			awk '{ printf "%.6f", 1e6 * ($1 - $2) / $1 }')" 100
	done
done

# What one thread of a rank has begun another one may wait for: a receive, a send and a barrier of ranks. It waits for the other rank,
# which is late by a. Of what no record tells it is not known for whom that is.
completes() { # what the first thread begins, and what the other rank calls, with keys
	head_of 2
	echo "thread 2 clock=0 rank=1"
	echo "group 1 threads=0,2"
	op 0 $1 1000000 1000010 $2 id=3
	op 0 39 1000010 1000020 thread=1
	op 1 5 1001000 1501000 id=3
	op 1 1 1501000 2000000
	op 2 0 1000000 1500000
	op 2 $3 1500000 1500010 $4
}
completes 4 "group=1 peer=1 tag=7 bytes=8" 14 "group=1 peer=0 tag=7 bytes=8" | trace completed-receive
buys completed-receive a 50 250000
completes 3 "group=1 peer=1 tag=7 bytes=8" 15 "group=1 peer=0 tag=7 bytes=8" | sed "s/name=MPI_Isend /name=MPI_Issend /" | trace completed-send
buys completed-send a 50 250000
{ completes 31 "group=1 seq=0" 31 "group=1 seq=0 id=9"; op 2 5 1500020 1501000 id=9; } | sed "s/name=MPI_Ibcast /name=MPI_Ibarrier /" | trace completed-barrier
buys completed-barrier b 50 249500 1100
expect 0 coz --json --region a --reduce 50 completed-barrier
gains "lo < 0.001 && 24.999 <= hi && hi < 25.1" || fail "who has begun a barrier waits for the other rank: $(cat out)"
completes 30 "" 30 "" | trace completed-unknown
expect 0 coz --json --region a --reduce 50 completed-unknown
gains "lo < 0.001 && 24.999 <= hi" || fail "who waits for what nobody knows waits as long in any run: $(cat out)"

# Its receiver had come before it: without what came before the send, it waits for the receiver.
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

# Who waited for a lock that another held might have had it first.
{
	head_of 2
	op 1 6 1050000 1050000 id=1
	op 1 1 1050000 1500000
	echo "e 1 1500000 6 point id=1"
	op 0 0 1000000 1100000
	op 0 6 1100000 1500000 id=1
	op 0 1 1500000 2000000
} | trace order
may_buy order a 100 450000
may_buy order a 100 0

# Who takes the lock at 600,000, when it is free, would come while another still has it, until 500,000.
{
	head_of 2
	op 0 1 1000000 1200000
	op 0 6 1200000 1200000 id=5
	op 0 1 1200000 1500000
	echo "e 0 1500000 6 point id=5"
	op 1 0 1000000 1600000
	op 1 6 1600000 1600000 id=5
	op 1 1 1600000 1700000
	echo "e 1 1700000 6 point id=5"
} | trace held
buys held a 50 142857

# Two wait for a lock, and the one who came 10 ns later has it first. So he would in another run.
{
	head_of 3
	op 0 1 1000000 1100000
	op 0 6 1100000 1700000 id=5
	op 0 1 1700000 1800000
	echo "e 0 1800000 6 point id=5"
	op 0 0 1800000 1900000
	op 1 1 1000000 1100010
	op 1 6 1100010 1500000 id=5
	op 1 1 1500000 1700000
	echo "e 1 1700000 6 point id=5"
	op 2 6 1000000 1000000 id=5
	op 2 1 1000000 1500000
	echo "e 2 1500000 6 point id=5"
} | trace tie
buys tie a 50 55555

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

# Attempts between pieces of work: with fewer of them there is less of that work, too.
{
	head_of 2
	op 1 6 1000000 1000000 id=1
	op 1 1 1000000 1500000
	echo "e 1 1500000 6 point id=1"
	for i in 0 1 2 3 4; do op 0 0 1${i}00010 1$((i + 1))00000; done
	op 0 27 1500000 1500000 id=1
	op 0 0 1500000 2000000
} | trace attempts
may_buy attempts b 50 200000

# Pieces of work between attempts of MPI go on until the message is there: with half of b there are fewer of them. But not if one is
# followed by something else, if the attempt before the last one would have found the message, or if there are too few to tell.
polled() { # rounds, when the second message is sent, what follows a piece
	ranks 2
	echo "site 16 kind=wait name=MPI_Test file=x.c line=17"
	echo "site 17 kind=region name=c file=x.c line=18"
	for ((k = 0; k < $1; k++)); do
		local at=$((1000000 + 250010 * k)) sent
		sent=$((k == 1 ? $2 : at + 199000))
		op 0 4 $at $((at + 10)) group=1 peer=1 tag=0 bytes=8 id=$((k + 1))
		for i in 0 1 2 3; do op 0 0 $((at + 10 + 50000 * i)) $((at + 50005 + 50000 * i)); done
		echo "e 0 $((at + 200020)) 16 enter"
		echo "e 0 $((at + 200030)) 4 point id=$((k + 1)) peer=1 tag=0 bytes=8 group=1"
		echo "e 0 $((at + 200030)) 16 exit"
		op 0 "$3" $((at + 200030)) $((at + 200040))
		op 0 17 $((at + 200040)) $((at + 250000))
		op 0 2 $((at + 250000)) $((at + 250010)) group=1 seq=$k
		op 1 1 $at $sent
		op 1 14 $sent $((sent + 5)) group=1 peer=0 tag=0 bytes=8
		op 1 2 $((sent + 5)) $((at + 250010)) group=1 seq=$k
	done
	op 0 17 $((1000000 + 250010 * $1)) $((2000000 + 250010 * $1))
}
polled 3 1449010 17 | trace polled
buys polled b 50 170568.7
may_buy polled b 50 0
for not in "3 1449010 0" "3 1260000 17" "1 0 17"; do
	polled $not | trace polled-not
	buys polled-not b 50 0
done

# Likewise for a permit, or a lock; and where waits with a time limit lie between them, of which only the last is not in vain.
tried() { # a try that succeeds, what gives that, how long the first piece takes, what else that try says
	head_of 2
	echo "site 43 kind=wait name=sem_trywait file=x.c line=44"
	echo "site 44 kind=region name=c file=x.c line=45"
	echo "site 45 kind=lock name=pthread_mutex_lock file=x.c line=46"
	echo "site 46 kind=wait name=std::stop_token::stop_requested file=x.cc line=47"
	echo "site 47 kind=wait name=std::stop_source::request_stop file= line=0"
	echo "site 48 kind=wait name=std::latch::try_wait file=x.cc line=49"
	echo "site 49 kind=wait name=std::latch::count_down file= line=0"
	echo "site 50 kind=wait name=std::future::wait_for file=x.cc line=51"
	echo "site 51 kind=wait name=std::promise file= line=0"
	local round at=1000000 given=1000000
	for round in 1 2 3; do
		[ "$2" != 6 ] || op 0 45 $((given + 10)) $((given + 10)) id=9
		op 0 1 $((given + 10)) $((given += 60000))
		echo "e 0 $given $2 point id=9"
		op 1 44 $at $((at += $3))
		while ((at < given)); do
			op 1 0 $at $((at += 9000))
		done
		op 1 "$1" $at $at id=9 "${@:4}"
		[ "$2" != 6 ] || echo "e 1 $at 6 point id=9"
		at=$((at + 10)) given=$((at > given && $2 == 6 ? at : given))
	done
	op 1 44 $at $((at + 5000))
}
expects_b() { # directory, of half of b in percent
	expect 0 coz --json --region b --reduce 50 "$1"
	interval expected_percent <out | awk -v x="$2" '{ n++; good = $1 > x - 0.02 && $2 < x + 0.02 } END { exit n != 1 || !good }' ||
		fail "$1: expected $2 %, found $(cat out)"
}
tried 43 28 5000 | trace tried
expects_b tried 47.105
tried 27 6 5000 | trace tried_lock
expects_b tried_lock 43.05
tried 43 28 45000 | trace tried_seldom
expects_b tried_seldom 0
# Or until a thread is told to stop, a latch is counted down, or a future is there. Nothing of that is proved: another run may do
# more pieces before.
for way in "46 47 5000" "48 49 5000" "50 51 5000 role=0"; do
	tried $way | trace "tried_${way%% *}"
	expects_b "tried_${way%% *}" 47.105
	may_buy "tried_${way%% *}" b 50 0
	may_buy "tried_${way%% *}" c 50 20000
done
timed() { # waits in vain
	head_of 2
	echo "site 41 kind=wait name=pthread_cond_signal file=x.c line=42"
	echo "site 45 kind=lock name=pthread_mutex_lock file=x.c line=46"
	local at=1000000 i
	for ((i = 1; i <= $1; i++)); do
		op 1 6 $at $at id=5
		echo "e 1 $((at + 5)) 6 point id=5"
		op 1 7 $((at + 10)) $((at += 30000)) until=$((i * 40000))
		op 1 6 $at $((at + 5)) id=5
		echo "e 1 $((at + 10)) 6 point id=5"
		op 1 0 $((at + 15)) $((at += 10000))
	done
	op 0 1 1000000 $((at + 10000))
	op 0 45 $((at + 10000)) $((at + 10000)) id=5
	echo "e 0 $((at + 10005)) 41 point id=8"
	echo "e 0 $((at + 10010)) 45 point id=5"
	op 1 6 $at $at id=5
	echo "e 1 $((at + 5)) 6 point id=5"
	op 1 7 $((at + 10)) $((at + 10020)) id=8
	op 1 6 $((at + 10020)) $((at + 10025)) id=5
	echo "e 1 $((at + 10030)) 6 point id=5"
	op 1 0 $((at + 10035)) $((at + 20000))
}
timed 6 | trace timed
expects_b timed 48.077
timed 2 | trace timed_twice
expects_b timed_twice 10.016
# Or it finds under the lock what it would have waited for.
seen() {
	head_of 2
	echo "site 41 kind=wait name=pthread_cond_signal file=x.c line=42"
	echo "site 45 kind=lock name=pthread_mutex_lock file=x.c line=46"
	local at=1000000 i
	for i in 1 2 3 4 5 6; do
		op 1 6 $at $at id=5
		echo "e 1 $((at + 5)) 6 point id=5"
		op 1 7 $((at + 10)) $((at += 30000)) until=$((i * 40000))
		op 1 6 $at $((at + 5)) id=5
		echo "e 1 $((at + 10)) 6 point id=5"
		op 1 0 $((at + 15)) $((at += 10000))
	done
	op 0 1 1000000 $((at - 5000))
	op 0 45 $((at - 5000)) $((at - 5000)) id=5
	echo "e 0 $((at - 4995)) 41 point id=8"
	echo "e 0 $((at - 4990)) 45 point id=5"
	op 1 6 $at $at id=5
	echo "e 1 $((at + 5)) 6 point id=5"
	op 1 1 $((at + 10)) $((at + 10010))
}
seen | trace seen
expects_b seen 48.998

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

# The wait begins with the first attempt: what an unmarked program does before it is work, also where the message was there
# meanwhile.
tests() { # the first attempt, the last one, and when the message was sent
	ranks 2 | grep -v kind=region
	echo "site 16 kind=wait name=MPI_Test file=x.c line=17"
	op 0 4 0 10 group=1 peer=1 tag=0 bytes=8 id=1
	[ "$1" = "$2" ] || op 0 16 "$1" "$2" tag=0 peer=72057594037927935
	echo "e 0 $2 16 enter"
	echo "e 0 40020 4 point id=1 peer=1 tag=0 bytes=8 group=1"
	echo "e 0 40020 16 exit"
	op 0 2 40020 40040 group=1 seq=0
	op 1 30 0 10
	op 1 14 "$3" $(($3 + 5)) group=1 peer=0 tag=0 bytes=8
	op 1 2 $(($3 + 5)) 40040 group=1 seq=0
}
tests 40010 40010 20 | trace early
buys early "outside regions" 50 499500 200
tests 20010 40000 39995 | trace late
buys late "outside regions" 50 499440 200

# Who looks now and then gains more than what is cut.
{
	head_of 2
	op 1 6 1000000 1000000 id=1
	op 1 1 1000000 1410000
	echo "e 1 1410000 6 point id=1"
	for i in 0 2 4; do op 0 0 1${i}00010 1$((i + 2))00000; done
	op 0 27 1600000 1600000 id=1
	op 0 0 1600000 2000000
} | trace looks
may_buy looks b 5 200000

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

# What was waited for is not known, and it may have been called in vain before.
{
	ranks 2
	op 0 0 1000000 1500000
	op 1 29 1500000 1500010 peer=72057594037927934
	op 1 1 1500010 2000000
} | trace read
may_buy read a 50 250000

# Waited until a moment, for nothing: a faster region waits longer.
{
	head_of 1
	op 0 0 1000000 1300000
	op 0 8 1300000 1400000
	op 0 0 1400000 1800000
	op 0 8 1800000 2000000
} | trace moment
may_buy moment a 50 0

# Nobody can tell whether that moment is so far from when the wait began; nor if the mutex is taken again behind it. A sleep
# until a moment most likely is until that in any run.
expects() { # directory from to, of half of a in percent
	expect "${status:-0}" coz --json --region a --reduce 50 "$1"
	interval expected_percent <out | awk -v lo="$2" -v hi="$3" '
		{ n++; good = $1 >= lo - 0.01 && $1 <= lo + 0.01 && $2 >= hi - 0.01 && $2 <= hi + 0.01 }
		END { exit n != 1 || !good }' || fail "$1: expected $2 .. $3 %, found $(cat out)"
}

expects tail -37.26 -37.25 # what is expected, too

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
expects counted-9 25 25 # whoever comes next does the next piece
# Likewise of a team, in which one is as often in some region, but for two visits: a static loop gives nobody more than one more.
team() { # visits of the second thread
	head_of 2
	echo "group 1 threads=0,1"
	op 0 1 900000 950000
	echo "e 0 1000000 9 enter group=1 seq=0"
	op 0 39 1000001 1000002 thread=1
	echo "e 0 1000010 9 exit"
	op 1 9 1000005 1000006 group=1 seq=0
	op 0 0 1000020 1400000
	op 0 1 1400000 1500000
	local i
	for ((i = 0; i < $1; i++)); do op 1 1 $((1000020 + i * 500000 / $1)) $((1000000 + (i + 1) * 500000 / $1)); done
	op 0 11 1500000 1500010 group=1 seq=0 role=1
	op 1 11 1500000 1500000 group=1 seq=0 role=0
	op 0 1 1500020 1600000
}
team 5 | trace team
may_buy team a 50 142857
expects team 14.284 14.284
team 2 | trace static_team
proves static_team a 50 0 15

{
	head_of 1
	op 0 6 1000000 1000000 id=5
	op 0 0 1000000 1400000
	echo "e 0 1400000 6 point id=5"
	op 0 7 1400000 1600000
	op 0 6 1600000 1600000 id=5
	op 0 1 1600000 2000000
} | trace moment
expects moment 0 30
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
# Likewise for a lock.
{
	head_of 2
	echo "site 40 kind=wait name=pthread_mutex_timedlock file=x.c line=41"
	echo "site 41 kind=lock name=pthread_mutex_timedlock file=x.c line=41"
	op 0 6 1000000 1000000 id=5
	op 0 0 1000000 1400000
	echo "e 0 1400000 6 point id=5"
	op 1 40 1000010 1200000
	op 1 40 1200000 1390000
	op 1 41 1390000 1400010 id=5
	op 1 1 1400010 2000000
} | trace locked
expects locked 20 20
# An iteration waits for another one, by its number: for whoever has said it meanwhile.
{
	head_of 2
	echo "site 40 kind=wait name=omp%20ordered%20sink file=x.c line=41"
	echo "site 41 kind=wait name=omp%20ordered%20source file=x.c line=42"
	op 0 40 1000000 1400010 peer=72057594037927934 id=7
	op 0 1 1400010 2000000
	echo "e 1 1000000 41 point id=6"
	op 1 0 1000001 1400000
	echo "e 1 1400000 41 point id=7"
} | trace sink
expects sink 20 20
# Processes that share a semaphore; a queue of messages with room for one, or for many: then nothing waits to give; a lock,
# which is free when another process has given it back. Nothing of that is certain.
unsure() { # directory from to
	expects "$@"
	gains "lo <= 0" || fail "$1: something is certain: $(cat out)"
}
processes() {
	ranks 2
	echo "site 40 kind=wait name=msgsnd file=x.c line=41"
	echo "site 41 kind=wait name=msgrcv file=x.c line=42"
}
{
	processes
	op 0 0 1000000 1400000
	echo "e 0 1400000 28 point id=1 object=7"
	op 1 8 1000000 1400010 peer=72057594037927934 object=7
	op 1 1 1400010 2000000
} | trace shared
unsure shared 20 20
{
	processes | sed 's/^clock 0 .*/&\nclock 1 host=h1 ghz=1/; s/^thread 1 clock=0/thread 1 clock=1/'
	for at in 900000 2100000; do
		echo "link 0 $at 1 $((at + 50))"
		echo "link 1 $((at + 60)) 0 $((at + 110))"
	done
	op 0 0 1000000 1400000
	echo "e 0 1400000 28 point id=1 object=7"
	op 1 8 1000000 1400010 peer=72057594037927934 object=7
	op 1 1 1400010 2000000
} | trace elsewhere
unsure elsewhere 0 0 # another host's has the same number
queue() { # whether who gives has to wait
	processes
	op 0 40 1000000 1000001 object=7 bytes=8 role=1
	op 0 40 1000001 1500020 object=7 bytes=8 role=1 ${1:-}
	op 0 1 1500020 2000000
	op 1 0 1000000 1500000
	op 1 41 1500000 1500010 object=7 bytes=8
	op 1 41 1500020 1500030 object=7 bytes=8
	op 1 1 1500030 2000000
}
queue peer=72057594037927934 | trace full
unsure full 25 25
queue | trace empty
unsure empty 0 0
# There was room for a connection, of whose other end nothing is recorded: who asks for it earlier may wait.
{
	head_of 1
	echo "site 40 kind=wait name=connect file=x.c line=41"
	op 0 0 1000000 1500000
	op 0 40 1500000 1500010 object=7 role=1
	op 0 1 1500010 2000000
} | trace connects
proves connects a 50 0 250000
# Who wakes somebody may take long, though there is room.
{
	processes
	op 0 0 1000000 1600000
	op 0 40 1600000 1600020 object=7 bytes=8 role=1 peer=72057594037927934
	op 0 1 1600020 1900020
	op 1 1 1000000 1400000
	op 1 41 1400000 1600030 object=7 bytes=8 peer=72057594037927934
} | trace woke
unsure woke 33.33 33.33
{
	processes
	op 0 6 1000000 1000000 id=8 object=9 peer=72057594037927934
	op 0 0 1000000 1400000
	echo "e 0 1400000 6 point id=8 object=9"
	op 1 6 1000010 1400010 id=6 object=9 peer=72057594037927934
	op 1 1 1400010 2000000
	echo "e 1 2000000 6 point id=6 object=9"
} | trace ours
unsure ours 20 20
# A barrier of theirs: a round is over when one of it has left; who lacks others, that are not recorded, is neither damaged nor
# certain of anything.
meet() { # arguments of a visit...
	op 0 0 1000000 1400000
	op 0 10 1400000 1400010 object=7 "$@"
	op 0 1 1400010 1500000
	op 0 10 1500000 2000010 object=7 "$@"
	op 1 10 1000000 1400020 object=7 "$@"
	op 1 1 1400020 1900020
	op 1 10 2000000 2000020 object=7 "$@"
}
{
	processes
	meet tag=2
} | trace met
unsure met 20 20
{
	processes
	meet
} | trace untold
unsure untold 20 20
{
	processes
	meet tag=3
} | trace third
unsure third 20 20 # the last of them hardly waited, and the other did until this one came
grep -q 'a collective operation lacks participants: 4 times' out || fail "third: $(cat out)"
# Nobody says what has ended a wait: most likely what another thread did just before, where that is hardly chance; and
# where it was over at once, nothing has.
unsaid() { # until when another works beside
	head_of 3
	op 0 0 1000000 1400000
	op 1 29 1000000 1400010 peer=72057594037927934
	op 1 1 1400010 2000000
	op 2 1 1000000 "$1"
}
unsaid 1100000 | trace presumed
unsure presumed 20 20
unsaid 1399950 | trace undecided
unsure undecided 0 20
{
	head_of 2
	op 1 29 1000000 1000010
	op 1 0 1000010 1400000
	op 1 29 1400000 1400010 peer=72057594037927934
	op 1 1 1400010 2000000
} | trace at_once
unsure at_once 20 20
# Likewise of one that was tried again, until a time limit each; and of sleeps in which nothing else is done, unless
# they are in a marked region.
{
	head_of 2
	op 0 0 1000000 1400000
	op 1 29 1000000 1200000 peer=72057594037927934 until=0
	op 1 29 1200010 1350000 peer=72057594037927934 until=0
	op 1 29 1350010 1400010 peer=72057594037927934
	op 1 1 1400010 2000000
} | trace limited
unsure limited 20 20
sleeps() { # what comes before, and behind, and when the other one is done
	head_of 2
	op 0 0 1000000 "${3:-1400000}"
	$1
	op 1 30 1000000 1150000
	op 1 30 1150010 1300000
	op 1 30 1300010 1390010
	op 1 30 1390020 1400010
	$2
	op 1 1 1400010 2000000
}
sleeps : : | trace asks
unsure asks 20 20
sleeps : : 1390015 | trace raced # behind the last look, before the last sleep
unsure raced 19.5 19.5
sleeps 'echo e 1 1000000 1 enter' 'echo e 1 1400010 1 exit' | trace works
expects works 0 0
# So it is for whoever asks for causes, where nothing is marked: half of what thread 1 does behind its sleeps is 30 %.
{
	head_of 3 | sed -e '/ kind=region /d; /^thread 2/a group 1 threads=0,1,2'
	for t in 0 1 2; do op $t 14 999990 999999 group=1 peer=$t tag=$t; done
	sleeps : : | grep '^e 1 .* 30 '
	op 0 2 1400000 2000000 group=1 seq=0
	op 1 2 2000000 2000000 group=1 seq=0
	op 2 2 1100000 2000000 group=1 seq=0
} | trace later
expect 0 diagnose --json later
jq -e '.findings[] | select(.cause == "imbalance").expected_percent | .lo > 29.9 and .hi < 30.1' out >is ||
	fail "later: $(jq -c '.findings[] | [.cause, .expected_percent]' out)"
# A number under a lock, looked at until it is there: what a look in vain does at its time here is no part of another run, in which
# the number is there before.
looks() {
	head_of 2
	local length at=1003900 raised=1000000
	for length in 50000 40000 30000; do
		op 0 0 $raised $((raised += length))
		op 0 6 $raised $((raised + 10)) id=5
		echo "e 0 $((raised += 20)) 6 point id=5"
		for ((; at < raised; at += 5010)); do
			op 1 6 $at $((at + 2)) id=5
			echo "e 1 $((at + 4)) 6 point id=5"
			op 1 30 $((at + 6)) $((at + 5006))
		done
		op 1 6 $at $((at + 2)) id=5
		echo "e 1 $((at + 4)) 6 point id=5"
		op 1 1 $((at + 6)) $((at += 5010))
	done
}
looks | trace looks
expects looks 46.46 46.46
# Where most such sleeps have been ended by one thread, it has ended another row as well, though that was seen later.
rows() {
	head_of 2
	local n at=1001000
	for n in 0 40000 80000; do op 0 0 $((1000000 + n)) $((1040000 + n)); done
	for n in 8 6 5; do
		for ((; n > 0; n--)); do op 1 30 $at $((at += 5000)); done
		op 1 1 $at $((at += 12200))
	done
}
rows | trace rows
expects rows 45.25 45.25
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
# Such moments that are equally far apart stay; any other is so far from when the wait began.
paced() { # moments of three waits
	head_of 1
	for i in 1 2 3; do
		op 0 0 $((i * 300000)) $((i * 300000 + 200000))
		op 0 8 $((i * 300000 + 200000)) $((i * 300000 + 300000)) until="$1"
		shift
	done
}
paced 7000300001 7000600001 7000900001 | trace paced
expects paced 0 0
paced 7000300001 7000600001 7000900002 | trace paced
expects paced 33.3333 33.3333
paced 7000300001 7000600001 7000900002 | grep -v -e "^e 0 [68]00000 0 " -e "^e 0 900000 0 enter" -e "^e 0 1100000 0 exit" |
	trace paced
expect 0 coz --json --region a --reduce 50 paced # it has looked three times
is_true "$(interval expected_percent <out | awk '{ print $2 - $1 }') > 10" || fail "who looks again knows: $(cat out)"
{
	head_of 1
	op 0 0 1000000 1400000
	op 0 30 1400000 1600000 until=5
	op 0 1 1600000 2000000
} | trace moment
expects moment 0 0
# Where it is over already nobody sleeps; nor does one that begins earlier, but for until then.
{
	head_of 1
	op 0 0 1000000 1400000
	op 0 30 1400000 1400010 until=5 tag=100000
	op 0 1 1400010 2000000
} | trace over
expects over 10 10
# A moment so long behind a reading of the clock: that was at the begin of b, as moments are as far apart as those.
{
	head_of 1
	begin=1000000
	for more in 0 37000 11000 23000; do
		read_at=$((begin + 100000 + 2 * more))
		op 0 0 $begin $read_at
		op 0 1 $read_at $((read_at + 50000 + more))
		op 0 30 $((read_at + 50000 + more)) $((read_at + 200000)) until=$((read_at + 700000200123))
		op 0 1 $((read_at + 200000)) $((read_at + 300000 + more))
		begin=$((read_at + 300000 + more))
	done
} | trace read
expects read 14.9476 14.9476

# One thread cancels a loop, and the other one is told that; or nobody does, and had he done so it would be recorded.
ended_loop() { # of the first thread's point, and of the second one's
	head_of 2
	echo "group 1 threads=0,1"
	echo "site 46 kind=fork name=cancellation%20point file=x.c line=47"
	op 0 0 1000000 1400000
	echo "e 0 1400005 46 point group=1 $1"
	op 0 10 1400010 1400060 group=1 seq=0
	echo "e 1 1000005 46 point group=1 $2"
	op 1 1 1000010 1400030
	op 1 10 1400040 1400060 group=1 seq=0
	op 1 1 1400060 2000000
}
ended_loop tag=1 tag=0 | trace cancelled_loop
expects cancelled_loop 20 20
ended_loop tag=0 tag=0 | trace whole_loop
expects whole_loop 0 0
ended_loop tag=0 "" | trace some_loop # of a taskgroup, or before that was recorded
expects some_loop 0 20
# A thread that is cancelled goes on until then in any run; but not one that ends much later.
cancelled() { # when thread 1 ends
	head_of 2
	echo "site 40 kind=join name=pthread_cancel file=x.c line=41"
	echo "site 41 kind=join name=thread%20end file=x.c line=42"
	echo "site 42 kind=join name=pthread_join file=x.c line=43"
	op 0 39 1000000 1000010 thread=1
	op 0 0 1000010 1400010
	echo "e 0 1400010 40 point thread=1"
	op 0 42 1400020 $(($1 + 10)) thread=1
	op 0 1 $(($1 + 10)) 2000000
	op 1 1 1000010 "$1"
	echo "e 1 $1 41 point"
}
cancelled 1410000 | trace cancelled
expects cancelled 20 20
cancelled 1900000 | trace later
expects later 0 0
may_buy later a 50 699980 # it may not have let itself be cancelled meanwhile
{
	head_of 2
	echo "site 40 kind=join name=pthread_cancel file=x.c line=41"
	echo "site 41 kind=join name=thread%20end file=x.c line=42"
	echo "site 42 kind=join name=pthread_join file=x.c line=43"
	op 0 39 1000000 1000010 thread=1
	op 0 0 1000010 1400000
	echo "e 0 1400000 40 point thread=1"
	op 0 42 1400000 1400010 thread=1
	op 1 1 1000010 1320000
	echo "e 1 1320000 41 point"
} | trace over # before it is cancelled; so it ends sooner where that is
may_buy over a 100 999950
# What it does in the end, as its handlers do, comes behind the cancel: a post here, for which thread 2 waits.
cleaned() { # when thread 1 does
	cancelled "$(($1 + 10))" | sed "s/^thread 1 .*/&\nthread 2 clock=0 rank=0 number=2/
		s/^e 1 $(($1 + 10)) 1 exit.*/e 1 $1 1 exit\ne 1 $(($1 + 5)) 28 point id=9/"
	op 2 8 1000010 $(($1 + 7)) id=9
	op 2 1 $(($1 + 7)) 2000000
}
cleaned 1410000 | trace cleaned
buys cleaned a 50 200000
cleaned 1600000 | trace cleaned-later
may_buy cleaned-later a 50 200000

# A thread of which it is not recorded who made it may have been made earlier.
{
	head_of 2
	op 0 0 1000000 1500000
	op 1 1 1500010 2000000
} | trace unmade
buys unmade a 50 250000
may_buy unmade a 50 0

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

# Who gives something in one, and has waited four times as long for the root as it then took, has most likely waited for that.
{
	ranks 2
	echo "site 97 kind=coll name=MPI_Gatherv file=x.c line=98"
	op 0 0 1000000 1400000
	op 0 97 1400000 1500000 group=1 seq=0 role=1
	op 1 97 1000000 1500000 group=1 seq=0 role=0 bytes=200000
	op 1 1 1500000 2000000
} | trace gathered
expects gathered 20 20

# Nor has it waited for a receive that was there much longer than any message took: then it took longer than others by itself.
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

# How often a signal's handler comes in the midst of work may be a timer's.
{
	head_of 1
	echo "site 50 kind=region name=handler%20tick file=x.c line=50 auto=1"
	echo "e 0 1000000 1 enter"
	for at in 1200000 1400000 1600000 1800000; do
		echo "e 0 $at 50 enter"
		op 0 0 $at $((at + 100000))
		echo "e 0 $((at + 100000)) 50 exit"
	done
	echo "e 0 2000000 1 exit"
} | trace handled
may_buy handled a 50 250000
expects handled 20 20

# Who waits it is not known for whom may wait for a lock, which another may have first.
{
	head_of 3
	echo "site 50 kind=wait name=flock file=x.c line=50"
	op 0 0 1000000 1250000
	op 0 50 1250000 1275010 peer=72057594037927934
	op 0 1 1275010 1775000
	op 1 1 1000000 1200000
	op 1 50 1200000 1225010 peer=72057594037927934
	op 1 1 1225010 2275000
	op 2 1 1000000 1225000
} | trace file-lock
may_buy file-lock a 100 -392157

# Nor is it known here who takes bytes, and so makes room; but of two that give them either may have it first.
{
	head_of 2
	echo "site 50 kind=wait name=write file=x.c line=50"
	op 0 0 1000000 1250000
	op 0 50 1250000 1700000 peer=72057594037927934 channel=5 offset=1000 bytes=10 role=1
	op 0 1 1700000 2200000
	op 1 1 1000000 1200000
	op 1 50 1200000 1699500 peer=72057594037927934 channel=5 offset=0 bytes=1000 role=1
} | trace room
may_buy room a 100 416666

# A thread ends its process while the first one waits for another, which sleeps: in another run that may be over before.
{
	head_of 3 | sed '/^thread/d'
	echo "process 0 pid=7 program=p job=7 started=1000"
	for t in 0 1 2; do echo "thread $t clock=0 process=0 number=$t jumps=0 ran_on=1 ended=1750010"; done
	echo "site 50 kind=join name=pthread_join file=x.c line=50"
	op 0 39 1000000 1000010 thread=1
	op 0 39 1000010 1000020 thread=2
	op 0 0 1000020 1500000
	echo "e 0 1500000 28 point id=9"
	echo "e 0 1500010 50 enter thread=1"
	op 1 8 1000020 1500010 id=9
	echo "e 1 1500020 30 enter"
	op 2 1 1000020 1750000
} | trace watched
may_buy watched a 100 466000 # it sleeps for 400,000

# Whoever looks for a message, from anyone perhaps, and answers gives out work: in another run another may come first.
asks() { # rank at
	op "$1" 14 "$2" $(($2 + 5)) group=1 peer=0 tag=0 bytes=8
	op "$1" 15 $(($2 + 6)) $(($2 + 40)) group=1 peer=0 tag=1 bytes=8
}
answers() { # since rank at: it takes what it has found by MPI_Recv, or by MPI_Irecv and MPI_Wait, with work in between
	op 0 34 "$1" $(($3 + 10))
	if [ "$way" = received ]; then
		op 0 15 $(($3 + 11)) $(($3 + 20)) group=1 peer="$2" tag=0 bytes=8
	else
		op 0 4 $(($3 + 11)) $(($3 + 12)) group=1 peer="$2" tag=0 bytes=8 id=1
		[ "$way" = begun ] || op 0 1 $(($3 + 12)) $(($3 + 13))
		op 0 5 $(($3 + 13)) $(($3 + 20)) id=1
	fi
	op 0 14 $(($3 + 25)) $(($3 + 30)) group=1 peer="$2" tag=1 bytes=8
}
for way in received begun overlapped; do
	{
		ranks 3
		asks 1 1000000
		op 1 0 1000040 1500000
		asks 1 1500000
		op 1 1 1500040 1700000
		op 2 1 1000000 1000100
		asks 2 1000100
		op 2 1 1000140 1900000
		asks 2 1900000
		answers 1000000 1 1000000
		answers 1000030 2 1000100
		answers 1000130 1 1500000
		answers 1500030 2 1900000
	} | trace master-$way
	may_buy master-$way a 90 100000
done

# How long such a thing takes was never seen; but that it was over 60 after one had begun it, and 600,000 after the other.
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

# Each visit may have lasted a tick more or less than its stamps say.
{
	ranks 1
	for i in $(seq 1000); do op 0 0 $((1000000 + i * 100)) $((1000001 + i * 100)); done
	op 0 1 1200000 2000100
} | trace short
buys short a 100 10 2010
buys short a 100 1990 2010

# ---- Progress points -----------------------------------------------------------------------------

# Three requests, begun by rank 0, ended by rank 1 in another order; b is the time on the way.
{
	head_of 1
	for i in 0 1 2; do
		echo "e 0 $((1000000 + i * 300000)) 12 point"
		op 0 1 $((1000000 + i * 300000)) $((1200000 + i * 300000))
		echo "e 0 $((1200000 + i * 300000)) 13 point"
		op 0 0 $((1200000 + i * 300000)) $((1300000 + i * 300000))
	done
} | trace requests
expect 0 coz --from begun --to ended --region b --reduce 50 requests
says out "50 %       50.000 ±0.002"
says out "(3 set out, 3 arrived)"
expect 0 coz --from begun --to ended --region a --reduce 50 requests
says out "50 %       -0.00"
expect 0 coz --progress begun --region a --reduce 100 requests # 600 to 400
says out "100 %      50.000 ±0.001"
expect 0 coz --progress begun --region a --json requests
says out '"throughput_percent"'

# ---- What a trace lacks --------------------------------------------------------------------------

{ ranks 2; op 0 15 1000000 1500000 group=1 peer=1 tag=0 bytes=8; op 1 1 1000000 1200000; } | trace unsent
expect 0 coz unsent
noted "a message was received, but its send is not in the trace or not certain: 1 time, first rank 0 thread 0 at MPI_Recv (x.c:16), stamp 1500000"
{ ranks 2; op 0 14 1000000 1500000 group=1 peer=1 tag=0 bytes=8; op 1 1 1000000 1200000; } | trace untaken
expect 0 coz untaken
noted "a message was sent, but its receive is not in the trace: 1 time, first rank 0 thread 0 at MPI_Send"
{ ranks 2; op 0 2 1000000 1500000 group=1 seq=0; op 1 1 1000000 1200000; } | trace crashed
expect 1 coz crashed
noted "a collective operation lacks participants: 1 time, first rank 0 thread 0 at MPI_Barrier (x.c:3)"
# Who opened a team may not have left that when another member ends the process.
{ ranks 2; op 1 9 1100000 1200000 group=1 seq=0 role=0; op 1 1 1200000 1500000; echo "e 0 1000000 9 enter group=1 seq=0 role=1"; } >text
sed 's/^thread.*/& ran_on=1/' text | trace ended
expect 0 coz ended
trace killed <text
expect 1 coz killed
says_not out 'lacks participants' # all have come, and one has not left
{ ranks 1; op 0 1 1000000 1100000; echo "e 0 1200000 0 enter"; op 0 1 1200000 2000000; } >text
trace open <text
expect 1 coz open
noted "rank 0 thread 0 at a (x.c:1): the region has no exit; when it was left is not known"
sed 's/^thread.*/& complete=0 jumps=0/' text | trace open
expect 1 coz open
noted "rank 0 thread 0 at a (x.c:1): the region is still open at the end of the records"
{
	ranks 2
	op 0 15 1000000 1500000 group=1 peer=1 tag=0 bytes=8; op 0 14 1500000 1600000 group=1 peer=1 tag=0 bytes=8
	op 1 15 1000000 1500000 group=1 peer=0 tag=0 bytes=8; op 1 14 1500000 1600000 group=1 peer=0 tag=0 bytes=8
} | trace circle
expect 1 coz circle
says err "what it waits for is not in the trace or comes only after it"
{
	ranks 1
	op 0 0 1000000 1400000
	echo "lost 0 5"
	op 0 0 1600000 2000000
} | sed 's/^thread 0 clock=0 rank=0$/& lost=5/' | trace lost
expect 1 coz --region a --reduce 50 --json lost
status=1 buys lost a 50 400000 500010 # nothing was in the region while records were lost; or always
status=1 buys lost a 50 499990 500010
status=1 buys lost b 50 0 500010
status=1 buys lost b 0 0 0
{
	head_of 2
	echo "site 16 kind=join name=pthread_join file=x.c line=17"
	op 0 0 1000000 1400000
	op 0 16 1400000 1500000 thread=1
	op 1 1 1000000 1600000
} | trace alive
expect 0 coz alive
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at pthread_join (x.c:17), stamp 1500000"
{
	head_of 2
	op 0 6 1000000 1000010 id=5
	op 1 6 1000020 1200000 id=5
	echo "e 0 1500000 6 point id=5"
	echo "e 1 1600000 6 point id=5"
} | trace held
expect 0 coz held
noted "a lock was taken although it was not released before: 1 time, first rank 0 thread 1 at pthread_mutex_lock (x.c:7), stamp 1200000"
{ head_of 1; echo "e 0 1 2 enter"; echo "e 0 5 2 exit"; } | trace nothing
expect 0 coz --region a nothing

# ---- Bytes, and processes -------------------------------------------------------------------------

# Who takes bytes comes behind whoever gave them, whether it had to wait or would have if it had come sooner.
bytes() { # when region b of who takes begins and ends, and the read, arguments of the read...
	head_of 2
	op 1 0 0 1000000
	op 1 29 1000000 1000010 channel=7 offset=0 bytes=4 role=1
	op 0 1 "$1" "$2"
	op 0 29 "$3" "$4" channel=7 "${@:5}"
	op 0 12 1500000 1500000
}
bytes 0 100000 100000 1000020 peer=72057594037927934 offset=0 bytes=4 | trace waits
buys waits a 50 333333
buys waits b 100 0
bytes 0 1200000 1200000 1200010 offset=0 bytes=4 | trace late
buys late b 50 133333
buys late a 50 0
# Who writes to itself, and took long over it, did not wait for its own read, which came only later; nor, when it finds that
# there are no more bytes, for anything else that it did itself.
{
	head_of 1
	op 0 0 0 500000
	op 0 29 500000 600000 channel=7 offset=0 bytes=4 peer=72057594037927934 role=1
	op 0 29 600000 600010 channel=7 offset=0 bytes=4
	op 0 1 600010 1000000
	op 0 29 1000000 1000010 channel=7 offset=4 bytes=0 peer=72057594037927934
} | trace own
for region in 'a 25' 'b 20'; do
	may_buy own "${region% *}" 50 "${region#* }0000"
	interval expected_percent <out | { read -r lo hi && is_true "$lo > ${region#* } - .01 && $hi < ${region#* } + .01"; } ||
		fail "own: $(cat out)"
done
# Of what was not given in the trace it is not known when it came.
bytes 0 100000 100000 1000020 peer=72057594037927934 offset=0 bytes=5 | trace not-given
expect 0 coz not-given
noted "an operation waits for others, but the trace does not say for whom: 1 time, first rank 0 thread 0 at read (x.c:30), stamp 1000020"
# Nor of bytes that nobody counted, which a stream took.
bytes 0 100000 100000 1000020 peer=72057594037927934 | trace not-counted
expect 0 coz not-counted
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at read"
# The channel's number stood for another one before.
{
	bytes 0 100000 100000 1000020 peer=72057594037927934 offset=0 bytes=4
	op 1 29 1100000 1100010 channel=7 offset=0 bytes=4 role=1
} | trace reused
expect 0 coz reused
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at read"
# A read that took what two had given could have been over with the first of it.
{
	bytes 0 100000 100000 1200020 peer=72057594037927934 offset=0 bytes=8
	op 1 0 1000020 1200000
	op 1 29 1200000 1200010 channel=7 offset=4 bytes=4 role=1
} | trace two
buys two a 50 399993
gains "hi > 46.6 && hi < 46.7" || fail "two: $(cat out)"

# Who takes as many bytes as there are (role=0) may take those of two at once, and work half as much; who goes on until he has
# all that he wants may not.
pieces() { # what stands between two reads of 4 bytes
	head_of 2
	for i in 1 2 3 4; do
		op 1 0 $((800000 + i * 200000)) $((1000000 + i * 200000))
		op 1 29 $((1000000 + i * 200000)) $((1000000 + i * 200000)) channel=7 offset=$((i * 4 - 4)) bytes=4 role=1
		op 0 29 $((980000 + i * 200000)) $((1000020 + i * 200000)) channel=7 offset=$((i * 4 - 4)) bytes=4 role=0 \
			peer=72057594037927934
		[ "$1" = 0 ] || op 0 1 $((1000020 + i * 200000)) $((1180000 + i * 200000))
	done
	op 1 29 1995000 1995010 channel=7 offset=16 bytes=4 role=1
	op 0 29 1990000 2000000 channel=7 offset=16 bytes=4 peer=72057594037927934
	op 0 1 2000030 2180000
}
pieces 1 | trace as-they-come
may_buy as-they-come a 90 500000
says out "may be decided by the order of read (x.c:30)"
pieces 0 | trace until-all
expect 0 coz until-all
says_not out "decided by the order"

# Of two that give, another run may have the other one first: what is done with the first bytes is begun earlier then,
# though whoever gave them here was not made faster.
first() { # offset of what a is behind, channel of what b is behind, and when it is first waited for that
	head_of 3
	echo "site 16 kind=wait name=poll file=x.c line=17"
	op 1 0 0 500000
	op 1 29 500000 500010 channel=7 offset="$1" bytes=1 role=1
	op 2 1 0 300000
	op 2 29 300000 300010 channel="$2" offset=0 bytes=1 role=1
	[ "$3" = 0 ] || op 0 16 0 300010 peer=72057594037927934
	op 0 29 "$3" 300020 peer=72057594037927934 channel="$2" offset=0 bytes=1
	op 0 12 300020 600020
	op 0 29 600030 600040 peer=72057594037927934 channel=7 offset="$1" bytes=1
	op 0 12 900040 900040
}
may_buy_either() { # trace: nothing, or 250 of 900
	may_buy "$1" a 90 0
	may_buy "$1" a 90 277000
}
first 1 7 0 | trace writers
may_buy_either writers
# Likewise of two channels, if it may have been told which one has something.
first 0 8 300012 | trace polled
may_buy_either polled

# Who has looked which of two has asked turns to the one that asks first in another run; but not who has only waited for a signal.
asked() { # what it has waited in
	head_of 3
	echo "site 16 kind=wait name=$1 file=x.c line=17"
	op 0 16 0 100000 peer=72057594037927934
	op 0 1 100000 1000000
	op 0 29 1000000 1000010 channel=1 offset=0 bytes=1 peer=72057594037927934
	op 0 1 1000010 2000000
	op 0 29 2000000 2000010 channel=3 offset=0 bytes=1 role=1
	op 0 29 2000010 2000020 channel=2 offset=0 bytes=1 peer=72057594037927934
	op 0 1 2000020 2200000
	op 0 29 2200000 2200010 channel=4 offset=0 bytes=1 role=1
	op 1 1 0 400000
	op 1 29 400000 400010 channel=1 offset=0 bytes=1 role=1
	op 1 29 400010 2000020 channel=3 offset=0 bytes=1 peer=72057594037927934
	op 2 0 0 800000
	op 2 29 800000 800010 channel=2 offset=0 bytes=1 role=1
	op 2 29 800010 2200020 channel=4 offset=0 bytes=1 peer=72057594037927934
	op 2 1 2200020 5000000
}
expects_about() { # directory, percent
	expect 0 coz --json --region a --reduce 90 "$1"
	jq -e --argjson truth "$2" '.expected_percent | .lo >= $truth - 2 and .hi <= $truth + 2' out >found || fail "$1: expected $2 %, found: $(cat out)"
}
asked poll | trace polled-first
asked sigwait | trace signalled
expects_about polled-first 20
expects_about signalled 0

# Of two threads that look at one place, each at a channel of its own, none takes what is the other's, though it came for something
# when that was there already.
looks() { # thread from to, of the look; until, of taking it; and what is taken
	op "$1" 16 "$2" "$3" peer=72057594037927934
	op "$1" 29 "$3" "$4" peer=72057594037927934 "$5" "$6" bytes=1
}
{
	head_of 3
	echo "site 16 kind=wait name=poll file=x.c line=17"
	op 0 29 0 10 channel=7 offset=0 bytes=1 role=1
	op 0 0 10 50000
	looks 0 50000 600020 600030 channel=8 offset=0
	op 1 0 0 200000
	looks 1 200000 200010 200020 channel=7 offset=0
	op 1 1 200020 650000
	looks 1 650000 650010 650020 channel=7 offset=1
	op 1 0 650020 750020
	op 2 0 0 600000
	op 2 29 600000 600010 channel=7 offset=1 bytes=1 role=1
	op 2 29 600010 600020 channel=8 offset=0 bytes=1 role=1
} | trace own-looks
buys own-looks a 100 399989.3 5

# A process begins with its fork, and who learns of its end comes behind it.
processes() { # arguments of the wait...
	head_of 0
	for p in 0 1 2; do
		echo "process $p pid=1$p program=x job=10"
		echo "thread $p clock=0 process=$p number=0"
	done
	cat <<-END
	site 16 kind=fork name=fork file=x.c line=17
	site 17 kind=wait name=waitpid file=x.c line=18
	site 18 kind=region name=c file=x.c line=19
	END
	op 0 0 0 1000000
	op 0 16 1000000 1000010 process=11
	op 0 16 1000010 1000020 process=12
	op 1 1 1000100 1600000
	op 2 18 1000200 1400000
	op 0 17 1000030 1600100 process=11 "$@"
	op 0 17 1600110 1600120 process=12 "$@"
	op 0 0 1600200 2000000
}
processes role=1 peer=72057594037927934 | trace forked
buys forked a 50 349950 # half of both
buys forked b 50 100010
# Nor is a thread asked that the child has joined: that was over before.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	printf 'process %s\n' "0 pid=10 program=x job=10" "1 pid=11 program=x job=10"
	printf 'thread %s\n' "0 clock=0 process=0 number=0" "1 clock=0 process=1 number=0" "2 clock=0 process=1 number=1"
	echo "$sites"
	printf 'site %s file=x.c line=17\n' "16 kind=fork name=fork" "17 kind=wait name=waitpid" "18 kind=fork name=pthread_create" \
		"19 kind=join name=pthread_join"
	op 0 16 1000000 1000010 process=11
	op 1 18 1000100 1000110 thread=1
	op 1 0 1000120 1600000
	op 1 19 1600000 1600010 thread=1
	op 2 1 1000200 1300000
	op 0 17 1000030 1640000 process=11 peer=72057594037927934
	op 0 0 1640000 2000000
} | trace joined_there
buys joined_there a 50 479940 # 299,940 of it in the child
# Pieces of work between looks whether a child has ended go on until it has, where the last look is not long behind that.
looks_for_child() { # how long a piece takes
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for p in 0 1; do
		echo "process $p pid=1$p program=x job=10"
		echo "thread $p clock=0 process=$p number=0"
	done
	echo "$sites"
	echo "site 16 kind=fork name=fork file=x.c line=17"
	echo "site 17 kind=wait name=waitpid file=x.c line=18"
	echo "site 18 kind=region name=c file=x.c line=19"
	op 0 16 1000000 1000010 process=11
	op 1 1 1000100 1600000
	local at=1000020
	for i in 1 2 3 4 5 6 7 8; do
		op 0 18 $at $((at += $1))
	done
	op 0 17 $at $((at + 10)) process=11 role=1
	op 0 0 $((at + 10)) 2000000
}
looks_for_child 80000 | trace child_looks
expects_b child_looks 29.995
may_buy child_looks b 50 0
looks_for_child 100000 | trace child_looks_late # they are as many as they are
expects_b child_looks_late 0
# Of a child that has no end in the trace it is likely that it takes as long as it did, since its fork; or that it was killed
# by who waits for it, if that is over at once.
child() { # until
	head_of 1
	echo "site 18 kind=fork name=fork file=x.c line=19"
	echo "site 17 kind=wait name=waitpid file=x.c line=18"
	op 0 18 1000000 1000000 process=77
	op 0 0 1000000 1400000
	op 0 17 1400000 "$1" process=77 role=1 peer=72057594037927934
	op 0 1 "$1" 2000000
}
child 1600000 | trace other
expects other 0 0
child 1400010 | trace killed
expects killed 20 20

# What ended a wait is not known: that may be anything, but not a region that is not there. So no proof is refuted by it.
{
	head_of 2
	echo "site 16 kind=wait name=system file=x.c line=17"
	for at in 1000000 1200000 1400000; do
		op 0 0 $at $((at + 50000))
		op 0 2 $((at + 50000)) $((at + 199999))
		op 1 16 $at $((at + 199000)) peer=72057594037927934
		op 1 2 $((at + 199000)) $((at + 199999))
	done
} | trace system
expect 0 coz --json --region a --thread 1 --reduce 50 system
gains "lo == 0 && hi == 0" || fail "system: $(cat out)"

# The end of any child would have done, so another run may wait for the other one first; as even this one would, if who is
# first was waited for first, and then 20 sooner.
processes peer=72057594037927934 | trace any
buys any b 50 100001
gains "hi > 14.9" || fail "any: $(cat out)"

# Who listens to anyone and answers gives out work, and another run may give it to others: here thread 1 does a of 500,000
# while thread 2 does five times b of 100,000. It reads one pipe, or looks which one of two has something.
masters() { # channels over which threads 1 and 2 ask
	head_of 3
	echo "site 16 kind=wait name=poll file=x.c line=17"
	printf '%s\n' 1/10 2/20 2/100020 2/200020 2/300020 2/400020 1/500010 2/500020 | awk -F/ -v free=1 -v first="$1" -v second="$2" '
	function op(t, site, from, to, more) { print "e", t, from, site, "enter", more; print "e", t, to, site, "exit" }
	function gives(t, at, channel, offset) { op(t, 29, at, at, "channel=" channel " offset=" offset " bytes=1 role=1") }
	function takes(t, from, to, channel, offset) {
		op(t, 29, from, to, "channel=" channel " offset=" offset " bytes=1 peer=72057594037927934")
	}
	{
		t = $1; at = $2; asks = t == 1 ? first : second
		if (last[t])
			op(t, t - 1, last[t], at)
		gives(t, at, asks, asked[asks] + 0)
		if (first != second)
			op(0, 16, free, at + 1, "peer=72057594037927934")
		takes(0, first == second ? free : at + 1, at + 2, asks, asked[asks]++ + 0)
		gives(0, at + 3, 10 + t, given[t] + 0)
		takes(t, at + 1, at + 4, 10 + t, given[t]++ + 0)
		last[t] = at + 5
		free = at + 4
	}'
	op 2 1 500025 600020
}
lets_go() { # trace: what a saves is not known
	expect 0 coz --json --region a --reduce 90 "$1"
	gains "lo < 0.01 && hi > 20" || fail "$1: $(cat out)"
}
masters 7 7 | trace one-pipe
lets_go one-pipe
says out "may be decided by the order of read (x.c:30)"
masters 7 8 | trace two-pipes
lets_go two-pipes

# An inner team takes its threads with it: who has nothing to do waits, unrecorded, until all have come, and then ends.
{
	head_of 3
	echo "site 16 kind=join name=omp%20parallel file=x.c line=17"
	echo "site 17 kind=join name=thread%20end file=x.c line=18"
	op 0 16 1000 1000000 group=5 seq=0 role=1
	op 1 0 1000 901000
	op 2 1 1000 101000
	for t in 1 2; do
		at=$((1701000 - 800000 * t))
		op $t 16 $at $at group=5 seq=0 role=0
		echo "e $t $((999000 + t)) 17 point"
	done
} | trace inner
expects inner 45.04 45.05
gains "lo < 0.2 && hi > 45" || fail "inner: $(cat out)"

# Or its opener's end does, which has gone on alone.
{
	head_of 2
	echo "site 16 kind=join name=omp%20parallel file=x.c line=17"
	echo "site 17 kind=join name=thread%20end file=x.c line=18"
	op 0 1 1000 101000
	op 1 1 1000 101000
	op 0 16 101000 101000 group=5 seq=0 role=1
	op 1 16 101000 101000 group=5 seq=0 role=0
	op 0 0 101000 901000
	echo "e 0 901000 17 point"
	echo "e 1 902000 17 point"
} | trace outer
expects outer 44.39 44.4

# Two threads of a rank receive from one stream of messages, so either may take the next one; not if their tags differ.
stream() { # tags that the threads of rank 1 want, as their keys
	head_of 0
	cat <<-END
	process 0 pid=10 program=x job=10 rank=0
	process 1 pid=11 program=x job=10 rank=1
	thread 0 clock=0 process=0 rank=0 number=0
	thread 1 clock=0 process=1 rank=1 number=0
	thread 2 clock=0 process=1 rank=1 number=1
	group 1 threads=0,1
	END
	op 0 14 10 11 group=1 peer=1 tag=1 bytes=4
	for i in 1 2 3 4 5; do op 0 14 "${i}0000" "${i}0001" group=1 peer=1 "tag=$1" bytes=4; done
	op 1 15 5 20 group=1 peer=0 tag=1 bytes=4
	op 1 0 20 500020
	for i in 1 2 3 4 5; do
		op 2 15 $((i * 100000 + 10)) $((i * 100000 + 20)) group=1 peer=0 "tag=$1" bytes=4
		op 2 1 $((i * 100000 + 20)) $((i * 100000 + 100000))
	done
}
stream 1 | trace one-tag
lets_go one-tag
stream 2 | trace two-tags
buys two-tags a 90 0
gains "hi < 20" || fail "two-tags: $(cat out)"

# ---- What is there for good once it is given --------------------------------------------------------

# Who finds it there would have to wait for it if it came earlier; of what another thread had done by then, a counter in
# memory may have decided who gives it: if that one was at work then, nothing is proved; if it was waiting or over, it
# cannot have come later.
future() { # the address at which it is given
	head_of 3
	echo "site 16 kind=wait name=std::future file=x.c line=17"
	echo "site 17 kind=wait name=std::promise file= line=0"
	op 0 0 1000000 1400000
	op 0 16 1400000 1400010 id=5
	op 0 1 1400010 2000000
	op 1 1 1000000 1360000
	echo "e 1 1360000 17 point id=$1"
}
future 5 | trace future
buys future a 100 40000
proves future a 100 40000 40000
proves future a 2 8000 8000
{ future 5; op 2 1 1000000 1340000; } | trace future-over
proves future-over a 100 40000 40000
{ future 5; op 2 1 1000000 1340000; op 2 8 1340000 1700000 peer=$((2 ** 56 - 2)); } | trace future-waits
expect 0 coz --json --region a --reduce 100 future-waits # in another run that wait, for nobody knows whom, may be longer
gains "lo < 0 && hi < 4.001" || fail "future-waits: $(cat out)"
{ future 5; op 2 1 1000000 1500000; } | trace future-works
buys future-works a 100 40000
may_buy future-works a 100 0
future 6 | trace future-other
expect 0 coz future-other
noted "an operation waits for others, but the trace does not say for whom: 1 time, first rank 0 thread 0 at std::future (x.c:17), stamp 1400010"
may_buy future-other a 100 0
# Another one may have given it first, if it went on before the look was over: so it need not have been waited for.
{
	future 5
	op 2 1 1000000 1200000
	op 2 8 1200000 1380000 peer=$((2 ** 56 - 2))
	op 2 1 1380000 1390000
} | trace future-first
expect 0 coz --json --region a --reduce 100 future-first
gains "lo < 0 && hi > 39.99 && hi < 40.001" ||
	fail "future-first: $(cat out)"
# For a latch, everybody who has counted it down since it was made.
latch() { # how thread 1 counts down
	head_of 3
	echo "site 16 kind=wait name=std::latch file=x.c line=17"
	echo "site 17 kind=wait name=std::latch::count_down file= line=0"
	op 0 1 1000000 1100000
	op 0 16 1100000 1600020 id=5
	op 0 1 1600020 2000000
	op 1 1 1000000 1300000
	echo "e 1 1300000 17 point id=5 tag=$1"
	op 2 0 1000000 1600000
	echo "e 2 1600000 17 point id=5 tag=1"
}
latch 2 | trace latch
buys latch a 100 300000
latch 1 | trace latch-again # at the address of one that was there before
buys latch-again a 100 500000

# What whoever comes first makes, another one makes in another run.
once() { # the address of what is made
	head_of 2
	echo "site 16 kind=wait name=pthread_once file=x.c line=17"
	echo "site 17 kind=wait name=pthread_once%20done file= line=0"
	op 0 0 1000000 1400000
	op 0 16 1400000 1400010 id=5
	op 0 1 1400010 2000000
	op 1 1 1000000 1360000
	echo "e 1 1360000 17 point id=$1"
}
once 5 | trace once
buys once a 100 40000
may_buy once a 100 -100000
once 6 | trace once-other
buys once-other a 100 400000

# ---- Memory that another thread changes ------------------------------------------------------------

# Whoever was woken had waited for the last one who woke somebody at this address; of nothing is it proved.
futex() { # address that thread 1 wakes, arguments of the wait...
	head_of 3
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	op 1 0 0 1000000
	echo "e 1 1000000 17 point id=$1"
	op 2 1 0 600000
	echo "e 2 600000 17 point id=5"
	op 0 16 100000 1000020 "${@:2}"
	op 0 12 1500000 1500000
}
futex 5 id=5 | trace woken
buys woken a 30 200000
buys woken b 100 0
may_buy woken a 30 0 # another may have stored it
says out "Who does not block at futex"
# Who wakes others does not end it, nor does the thread itself.
futex 6 id=5 | trace other
buys other b 50 200000 30
futex 5 id=6 | trace nobody
expect 0 coz nobody
noted "an operation waits for others, but the trace does not say for whom: 1 time, first rank 0 thread 0 at futex (x.c:17), stamp 1000020"
# A barrier: the one who woke both others would have waited for the later of them, and so would the other. But not if
# somebody else, who never waited here, has to do with futexes.
at_barrier() { # who else wakes somebody
	head_of 4
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	op 0 1 1000000 1300000
	op 0 16 1300000 1600000 id=5
	op 0 1 1600000 1700000
	op 1 1 1000000 1400000
	op 1 16 1400000 1600000 id=5
	op 1 1 1600000 1700000
	op 2 0 1000000 1600000
	echo "e 2 1600000 17 point id=5"
	op 2 1 1600000 1800000
	echo "e ${1:-2} 1800000 17 point id=6"
}
at_barrier | trace futex-barrier
buys futex-barrier a 50 250000
at_barrier 3 | trace futex-flag
buys futex-flag a 50 375000
# Whoever comes last does something once for all, before it wakes the other: in another run that begins when the later
# one has come. But not if both have begun as much since they met.
does_once() { # what thread 0 does besides
	head_of 2
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	for at in 1000000 1250010; do
		op 0 1 $at $((at + 100000))
		[ -z "${1:-}" ] || op 0 1 $((at + 100000)) $((at + 140000))
		op 0 16 $((at + 140000)) $((at + 250010)) id=5
		op 1 0 $at $((at + 200000))
		op 1 1 $((at + 200000)) $((at + 250000))
		echo "e 1 $((at + 250000)) 17 point id=5"
	done
}
does_once | trace futex-once
buys futex-once a 50 239990
does_once more | trace futex-leader
buys futex-leader a 50 399984
# Who wakes one at a time wakes whoever came first: with half of a thread 0 does, at 50,000 and not at 100,000.
{
	head_of 3
	echo "site 16 kind=wait name=futex file=x.c line=17"
	echo "site 17 kind=wait name=futex%20wake file=x.c line=18"
	op 2 1 1000000 1300000
	echo "e 2 1300000 17 point id=5"
	op 2 1 1300000 1500000
	echo "e 2 1500000 17 point id=5"
	op 0 0 1000000 1100000
	op 0 16 1100000 1500010 id=5
	op 0 1 1500010 1600000
	op 1 1 1000000 1080000
	op 1 16 1080000 1300010 id=5
	op 1 1 1300010 1350000
} | trace futex-queue
buys futex-queue a 50 83333.33

# Nor anybody, if it was a moment, or a signal.
futex 5 id=5 peer=72057594037927934 | trace moment
expect 0 coz moment
noted "the trace does not say for whom: 1 time, first rank 0 thread 0 at futex"
# Who comes earlier may have to wait for what was there in time here.
{
	futex 5 id=5
	op 0 0 1500000 2000000
} | trace there
may_buy there a 50 0
may_buy there a 50 375000

# Nor is anything recorded of who takes bytes that nobody counts and does not block, but that there are such calls; who
# gives them may have to wait for room.
uncounted() { # what thread 0 does first
	head_of 2
	echo "$1"
	op 0 0 0 1000000
	op 0 29 1000000 1000000 channel=7 bytes=4 role=1
	op 0 1 1000000 2000000
	op 1 12 0 0
}
uncounted "" | trace gives
may_buy gives a 50 0
may_buy gives b 50 250000
expect 0 coz --json --region b --reduce 50 gives
gains "lo > 24.9" || fail "gives: $(cat out)"
uncounted "e 0 0 29 point" | trace takes
may_buy takes b 50 0
says out "Who does not block at read (x.c:30) leaves no record"

# One join was woken late, and of joins that waited for nobody only one was seen: another that took longer than that need not have
# waited for its thread, which was over long before. With nothing left of a it does, and may be woken at once.
joins() { # when the thread that is joined first goes on
	head_of 5
	echo "site 16 kind=join name=pthread_join file=x.c line=17"
	echo "site 17 kind=join name=thread%20end file=x.c line=18"
	for t in 1 2 4; do op 0 39 $((1000000 + 2 * t)) $((1000001 + 2 * t)) thread=$t; done
	op 0 16 1000100 1500010 thread=1
	op 0 16 1500020 1500050 thread=2
	op 0 16 1500060 1500070 thread=4
	op 0 1 1500070 2000000
	op 1 0 1000100 1500000
	echo "e 1 1500000 17 point"
	op 2 39 1000100 1000110 thread=3
	op 2 16 1000200 "$1" thread=3
	op 2 1 "$1" 1470000
	echo "e 2 1470000 17 point"
	echo "e 3 1100000 17 point"
	echo "e 4 1100000 17 point"
}
for late in 1110000 1175000; do
	joins $late | trace joins$late
	may_buy joins$late a 100 30000
done

# ---- Regions that were left out -------------------------------------------------------------------

# Rank 1 comes to the barrier after 600000 ns: whether in a region was not recorded, and it may have been in any.
left_out() { # what rank 0 left out, what rank 1 did, and what both did
	echo "dprof-text 1"
	echo "clock 0 host=h0 ghz=1"
	echo "process 0 rank=0 size=2 $1"
	echo "process 1 rank=1 size=2 $2"
	echo "thread 0 clock=0 rank=0 process=0 number=0"
	echo "thread 1 clock=0 rank=1 process=1 number=0"
	echo "$sites"
	[ -z "$3" ] || echo "$3"
	echo "group 1 threads=0,1"
	if [ -z "$1$3" ]; then op 0 1 1000000 1100000; else echo "e 0 1000000 12 point"; fi
	op 0 2 1100000 1600000 group=1 seq=0
	if [ -z "$1$3" ]; then op 0 1 1600000 2000000; else echo "e 0 2000000 12 point"; fi
	[ -n "$2$3" ] || op 1 0 1000000 1600000
	op 1 2 1600000 1600000 group=1 seq=0
}
left_out "" "" "" | trace all-regions
proves all-regions a 100 500000 500000
proves all-regions b 100 400000 400000
left_out "" without=region "" | trace rank-1-without
proves rank-1-without a 100 0 500000
proves rank-1-without b 100 400000 1000000
noted "regions were left out by DPROF_EVENTS in 1 of 2 processes"
left_out without=region "" "" | trace rank-0-without
proves rank-0-without a 100 500000 1000000
proves rank-0-without b 100 0 400000
left_out "" "" "without region" | trace ranks-without
proves ranks-without a 100 0 1000000
noted "regions were left out by DPROF_EVENTS in 2 of 2 processes"
for name in rank-1-without ranks-without; do
	expect 0 dump $name
	cp out $name.text
	trace $name-again <$name.text
	expect 0 dump $name-again
	cmp -s out $name.text || fail "$name: another text of what was packed: $(diff out $name.text)"
	expect 0 coz $name
	! grep -q ' proved$' out || fail "$name: a place is proved: $(cat out)"
	says out undecided
done

# As may a process whose last event comes long before its end, for which another waits.
{
	echo "dprof-text 1"
	echo "clock 0 host=h0 ghz=1"
	echo "process 0 pid=10"
	echo "process 1 pid=11 without=region"
	echo "thread 0 clock=0 process=0 number=0"
	echo "thread 1 clock=0 process=1 number=0 ran_on=1 ended=1600000"
	echo "$sites"
	echo "site 40 kind=fork name=fork file=x.c line=41"
	echo "site 41 kind=wait name=waitpid file=x.c line=42"
	op 0 40 1000000 1000010 process=11
	op 0 41 1000020 1600010 process=11 role=1 peer=72057594037927934
	op 0 1 1600010 2000000
	op 1 30 1100000 1100010
} | trace child-without
may_buy child-without a 100 599000

# ---- Processes of other jobs ----------------------------------------------------------------------

# Ranks wait for those that they have started, or are connected with, and what these do no record tells; if in a region, that may
# have been all that was waited for.
other_jobs() { # events...
	ranks 2
	echo "site 40 kind=wait name=MPI_Comm_spawn file=x.c line=41"
	printf '%s\n' "$@"
	op 0 1 1600000 2000000
	op 1 1 1600000 2000000
}
both() { op 0 "$@" && op 1 "$@"; }
unknown=peer=72057594037927934
jobs_may_buy() { # name millionths events...
	other_jobs "${@:3}" | trace "$1"
	may_buy "$1" a 100 "$2"
	noted "processes of another job may take part"
}
started=$(both 40 1000000 1100000 $unknown)
jobs_may_buy spawned 500000 "$started" "$(both 2 1100000 1600000 role=2)"
jobs_may_buy spawned-before 500000 "$started" "$(both 2 1100000 1600000)"
jobs_may_buy spawned-slowly 500000 "$(both 40 1000000 1600000 $unknown)"
jobs_may_buy between 600000 "$(both 2 1000000 1600000 role=2)"
jobs_may_buy between-data 600000 "$(both 26 1000000 1600000 role=2)"
jobs_may_buy from-outside 600000 "$(op 0 15 1000000 1600000 bytes=8)"
jobs_may_buy to-outside 600000 "$(op 0 14 1000000 1600000 bytes=8)"
jobs_may_buy to-outside-on 600000 "$(op 0 3 1000000 1000010 bytes=8 id=7)" "e 0 1000010 5 enter id=7" "e 0 1600000 3 point id=7" \
	"e 0 1600000 5 exit id=7"
{ # nor does it tell whether they were waited for more than anyone here
	ranks 2
	echo "site 40 kind=wait name=MPI_Comm_spawn file=x.c line=41"
	both 40 1000000 1600000 $unknown
	op 0 1 1600000 2000000
	both 2 2000000 2000010 group=1 seq=0 | sed 's/^e 1 2000000/e 1 1600000/'
} >spawned-straggler.text
trace spawned-straggler <spawned-straggler.text
expect 0 csp spawned-straggler
grep -q 'rank 0 .* undecided' out || fail "rank 0 is no proved straggler, found: $(cat out)"
sed 's/MPI_Comm_spawn/MPI_Win_lock/' spawned-straggler.text | trace straggler
expect 0 csp straggler
grep -q 'rank 0 .* proved' out || fail "rank 0 is a straggler, found: $(cat out)"
{ # what was copied waits for nobody
	ranks 2
	op 0 0 1000000 1100000
	op 0 38 1100000 1100010 bytes=8
	op 0 1 1600000 2000000
} | trace copied-outside
proves copied-outside a 100 100000 100000

# ---- A thread's own time --------------------------------------------------------------------------

# Input, output and sleeps inside of a region are part of it; a sleep until a moment ends when it does, so that
# only what the region does behind it is certain to count.
own() { # kind arguments...
	head_of 1
	echo "site 16 kind=$1 name=own file=x.c line=17"
	op 0 0 1000000 1300000
	echo "e 0 1400000 0 enter"
	echo "e 0 1400010 16 enter ${*:2}"
	echo "e 0 1600000 16 exit"
	echo "e 0 1700000 0 exit"
	op 0 1 1700000 2000000
}
own io bytes=10 | trace io
buys io a 100 600000
own sleep | trace sleep
buys sleep a 100 600000
own sleep until=12345 | trace until
buys until a 100 100000 600020
expect 0 check until
expect 0 query until 'count(sleep) == 1'

# ---- What cannot be meant -------------------------------------------------------------------------

for percent in -1 100.0000001 101 1e3 "" x 5% 99999999999999999999; do
	expect 2 coz --reduce "$percent" figure
	says err "--reduce: expected a percentage from 0 to 100 with at most 6 decimals; found \"$percent\""
done
expect 2 coz --region aa figure
says err '--region: expected the name of a region of this trace, such as a; found "aa"'
expect 2 coz --rank 3 barrier
says err '--rank: expected a rank of this trace, such as 0; found "3"'
expect 2 coz --rank 0 figure
says err "the pid of a process, as there are no ranks, such as"
expect 2 coz --progress begin requests
says err "such as begun"
expect 2 coz --from begun requests
says err "--from: expected --to as well; found \"begun\""
expect 2 coz --transfer best figure
says err '--transfer: expected worst; found "best"'
expect 0 coz --rank 1 --region a --transfer worst barrier

# Where nothing was recorded, nothing is known of the run either.
two_regions | sed '2a thread 0 clock=0 rank=0' | trace unrecorded
for arguments in "" "--region b --reduce 30"; do
	expect 0 coz $arguments unrecorded
	[ "$(<out)" = "Nothing was recorded: nothing is known of what a region would buy." ] || fail "nothing was recorded: $(cat out)"
done

# 80 columns.
for arguments in "" "--region b" "--region b --reduce 30" "--from begun --to ended" "--progress ended"; do
	expect 0 coz $arguments requests
	fits_80 out || fail "coz $arguments: nothing, or wider than 80 columns"
done
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coz knows that whoever comes gets the next piece of work: by a lock, a counter, a semaphore, messages or bytes.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

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
expects counted-9 25 25 # whoever comes next does the next piece

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
serial() { # the barrier's name, and its place
	head_of 2
	echo "site 16 kind=barrier name=$1 file=${2-x.c} line=${3-17}"
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
# So it may be where code calls it that was compiled without the plugin: nobody has said whether that asks.
serial pthread_barrier_wait '' 0 | trace perhaps-serial
may_buy perhaps-serial a 50 240000
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
echo "as expected"

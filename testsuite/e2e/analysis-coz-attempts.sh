#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who tries again and again waits since the first attempt, or does pieces of work until one succeeds: coz knows both.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

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
# Or until a thread is over.
over() {
	head_of 4
	echo "site 55 kind=join name=pthread_tryjoin_np file=x.c line=56"
	local thread at=1000000 until
	for thread in 1 2 3; do
		op 0 39 $at $((at + 10)) thread=$thread
		op $thread 1 $((at + 10)) $((until = at + 60010))
		at=$((at + 10))
		while ((at < until)); do
			op 0 0 $at $((at += 9000))
		done
		op 0 55 $at $at thread=$thread
	done
	op 0 2 $at $((at + 5000))
}
over | trace over
expects_b over 46.385
may_buy over b 50 0
# Or until there are bytes, between looks with a time limit: the first of them may find some in another run. They may also come
# during the only piece.
keeps() {
	head_of 2
	echo "site 57 kind=wait name=poll file=x.c line=58"
	local round=0 at=1000000 given=1000000 takes
	for takes in 50000 50000 50000 50000 24000; do
		op 1 1 $given $((given += takes))
		op 1 29 $given $((given += 10)) channel=7 offset=$round bytes=1 role=1
		while ((at + 15000 < given)); do
			op 0 57 $at $((at += 15000)) until=0 peer=72057594037927934
			op 0 0 $at $((at += 5000))
		done
		op 0 57 $at $((at = (at < given ? given : at) + 10)) peer=72057594037927934
		op 0 29 $at $((at += 10)) channel=7 offset=$((round++)) bytes=1 peer=72057594037927934
		op 0 2 $at $((at += 5000))
	done
}
keeps | trace keeps
expects_b keeps 48.679
may_buy keeps b 50 0
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

# Or until another has said, under a lock or in memory, that they shall stop. But not if it has had the lock before, if somebody looks
# again behind that, or waits for others between pieces, or for the lock, or if there are too few of these to tell.
stops() { # by lock or flag; pieces; what else: before again waits
	head_of 3
	echo "site 45 kind=lock name=pthread_mutex_lock file=x.c line=46"
	echo "site 52 kind=wait name=flag%20in%20memory file=x.c line=53"
	local thread i at else=${3:-} end=$((1000000 + 10000 * $2 + 2000))
	[[ $else != before ]] || { op 0 45 1000000 1000000 id=5; echo "e 0 1000005 45 point id=5"; }
	op 0 1 1000010 $((end - 7000))
	[[ $1 != lock ]] || { op 0 45 $((end - 7000)) $((end - 7000)) id=5; echo "e 0 $((end - 6995)) 45 point id=5"; }
	[[ $1 != flag ]] || echo "e 0 $((end - 7000)) 52 point offset=8"
	for thread in 1 2; do
		at=$((1000000 + 2000 * thread))
		for ((i = 0; i <= $2 + $([[ $else = again ]] && echo 1 || echo 0); i++)); do
			local had=0 until=5
			[[ $else$thread$i != contended13 ]] || had=1003
			[[ $else$thread$i != contended22 ]] || until=9000
			[[ $1 != lock ]] || { op $thread 6 $at $((at + had)) id=5; echo "e $thread $((at + had + until)) 6 point id=5"; }
			[[ $else != waits || $i != 3 ]] || op $thread 27 $((at + 5)) $((at + 6)) id=9
			[[ $else != waits || $i != 3 ]] || echo "e $thread $((at + 7)) 27 point id=9"
			[[ $i = "$2" && $else != again ]] || op $thread 0 $((at + had + until + 5)) $((at + 9990))
			at=$((at + 10000))
		done
		[[ $1 != flag ]] || echo "e $thread $((at - 10000)) 52 point offset=8"
	done
}
for way in lock flag; do
	stops $way 10 | trace stops
	expects_b stops 45.67
	may_buy stops b 50 0
	stops $way 4 | trace stops-few
	expects_b stops-few 0
done
for else in before again waits contended; do
	stops lock 10 $else | trace "stops-$else"
	expects_b "stops-$else" 0
done
# Who is kept from looking has waited for the lock.
expect 0 waits -v stops-contended
says out 'thread 1 rank 0 thread 2 lock'
# Also if some did more pieces than others, which looks as if they had shared them out.
crew() {
	head_of 3
	echo "site 52 kind=wait name=flag%20in%20memory file=x.c line=53"
	local thread at
	op 0 39 1000000 1000001 thread=1
	op 0 39 1000002 1000003 thread=2
	op 0 1 1000010 1100000
	echo "e 0 1100000 52 point offset=8"
	for thread in 1 2; do
		for ((at = 1000010; at <= 1100000;)); do
			op $thread 0 $at $((at += 11000 - 2000 * thread))
		done
		echo "e $thread $at 52 point offset=8"
	done
}
crew | trace crew
expects_b crew 46.287

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
echo "as expected"

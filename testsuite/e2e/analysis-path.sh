#!/bin/bash
# SPDX-License-Identifier: MIT
#
# path goes back from the run's end over what ended each wait, whole or in parts; says where two may have been the last,
# and what a trace lacks; and refuses what cannot be meant. (Random programs: testsuite/unit/truth_path.c.)
. testsuite/fixtures/analysis/setup.sh

# A share of the path holds what it truly is, in percent, and is no wider than told.
share() { # directory rank thread name percent [width]
	expect "${status:-0}" path --json "$1"
	jq -r --argjson rank "$2" --argjson thread "$3" --arg name "$4" \
		'[.segments[] | select(.rank == $rank and .thread == $thread and .name == $name) | .share_percent][0]
		// {lo: 0, hi: 0} | "\(.lo) \(.hi)"' out >found
	read -r lo hi <found
	is_true "$lo <= $5 && $hi >= $5 && $hi - $lo <= ${6:-0.1}" || fail "$*: found $lo .. $hi"
}

# Two ranks on one clock of nanoseconds, a message, a barrier, a lock, a thread.
sites() {
	two_regions
	cat <<-END
	site 5 kind=progress name=step file=x.c line=6
	site 6 kind=wait name=sem_post file=x.c line=7
	site 7 kind=wait name=sem_wait file=x.c line=8
	site 8 kind=barrier name=GOMP_barrier file=x.c line=9
	END
}

# A thread that has left its team, and waits for another one, runs no code that may have ended the process: who opened the team did.
{
	sites
	cat <<-END
	site 20 kind=fork name=omp%20parallel file=x.c line=20
	site 21 kind=join name=omp%20parallel file=x.c line=20
	thread 0 clock=0 rank=0 number=0 complete=1 ran_on=1
	thread 1 clock=0 rank=0 number=1 complete=1 ran_on=1
	group 1 threads=0,1
	e 0 1000 0 enter
	e 0 81000 0 exit
	e 0 81000 20 enter group=1 seq=0 role=1
	e 0 81100 20 exit group=1 seq=0 role=1
	e 0 81100 1 enter
	e 0 100000 1 exit
	e 0 100000 21 enter group=1 seq=0 role=1
	e 0 101000 21 exit group=1 seq=0 role=1
	e 1 81050 20 enter group=1 seq=0 role=0
	e 1 81150 20 exit group=1 seq=0 role=0
	e 1 81150 1 enter
	e 1 91000 1 exit
	e 1 91000 21 enter group=1 seq=0 role=0
	e 1 91000 21 exit group=1 seq=0 role=0
	END
} | trace team
share team 0 0 a 80
share team 0 0 b 18.9

{
	sites
	cat <<-END
	clock 1 host=h1 ghz=1
	link 0 500 1 600
	link 1 600 0 700
	link 0 1000500 1 1000600
	link 1 1000600 0 1000700
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	group 1 threads=0,1
	e 0 1000 5 point
	e 0 1000 0 enter
	e 0 301000 0 exit
	e 0 301000 3 enter group=1 peer=1 tag=1 bytes=8
	e 0 302000 3 exit
	e 0 401000 5 point
	e 0 401000 0 enter
	e 0 501000 0 exit
	e 0 501000 2 enter group=1 seq=0
	e 0 902000 2 exit
	e 0 952000 0 enter
	e 0 1001000 0 exit
	e 1 1000 1 enter
	e 1 101000 1 exit
	e 1 101000 4 enter group=1 peer=0 tag=1 bytes=8
	e 1 311000 4 exit
	e 1 311000 1 enter
	e 1 901000 1 exit
	e 1 901000 2 enter group=1 seq=0
	e 1 902000 2 exit
	END
} | trace two

# From 1,000 to 1,001,000: a of rank 0 up to its send, the message, b of rank 1 up to the barrier, rank 0 again.
share two 0 0 a 34.9
share two 1 0 b 59.0
share two 1 0 MPI_Recv 1.0
share two 0 0 MPI_Barrier 0.1
share two 0 0 'outside regions' 5.0
jq -e '[.segments[].share_percent.lo] | add <= 100' out >shares || fail "shares are more than all"
jq -e '.length_s.lo <= 0.001 and .length_s.hi >= 0.001 and .span_s == .length_s' out >length ||
	fail "the path is not as long as the run"
jq -e 'all(.segments[]; .name != "MPI_Send" and (.verdict == "proved" or .share_percent.hi < 0.2))' out >verdict ||
	fail "what waited, or cannot be known: $(cat out)"

# Over all threads; rank 0 comes to the barrier 400 us before rank 1; and the path goes over to rank 1 and back.
near='def near($us): .lo <= $us * 1e-6 and .hi >= $us * 1e-6 and .hi - .lo < 1e-6;'
jq -e "$near"'[.regions[] | select(.name == "a" or .name == "b")] | map({(.name): .}) | add |
	(.a.seconds | near(349)) and (.a.mean_s | near(224.5)) and (.a.imbalance_s | near(124.5)) and
	(.b.seconds | near(590)) and (.b.mean_s | near(345)) and (.b.imbalance_s | near(245))' out >is || fail "two: regions: $(jq -c .regions out)"
jq -e '[.slack[] | select(.name == "a" or .name == "b") | .slack_s.lo] | length == 2 and max == 0' out >is ||
	fail "two: slack: $(jq -c .slack out)"
jq -e "$near"'[.messages[] | [.from, .to]] == [[0, 1], [1, 0]] and (.messages[0].seconds | near(10)) and (.messages[1].seconds | near(1)) and
	all(.messages[]; .verdict == "proved" and .count == 1)' out >is || fail "two: messages: $(jq -c .messages out)"
expect 0 path two
says out 'The critical path of the run'
says out '0 -> 1'
fits_80 out || fail "two: wider than 80 columns"
# Who finds a message waits for it where it looks: the path comes there, and is in the receive no longer than that took.
{
	sites
	echo 'site 10 kind=wait name=MPI_Probe file=x.c line=10'
	printf 'thread %d clock=0 rank=%d\n' 0 0 1 1
	echo 'group 1 threads=0,1'
	work 0 0 1000 481000
	op 0 3 481000 482000 group=1 peer=1 tag=1 bytes=8
	work 1 1 1000 11000
	op 1 10 11000 501000
	op 1 4 511000 521000 group=1 peer=0 tag=1 bytes=8
	work 1 1 521000 1001000
} | trace looks
share looks 0 0 a 48
share looks 1 0 MPI_Probe 2
share looks 1 0 'outside regions' 1
share looks 1 0 MPI_Recv 1
share looks 1 0 b 48
# Likewise who asks in vain until it is there, and then takes it.
expect 0 dump looks
sed 's/MPI_Probe/MPI_Iprobe/; s/^e 1 11000 [0-9]* enter/& peer=72057594037927935 tag=0/' out | trace asked
share asked 0 0 a 48
share asked 1 0 MPI_Iprobe 2
share asked 1 0 MPI_Recv 1
# Or who asks whether what it has begun is complete, and does something else before it completes it.
{
	sites
	printf 'site %d kind=%s name=%s file=x.c line=%d\n' 10 wait MPI_Request_get_status 10 11 wait MPI_Wait 11 12 recv MPI_Irecv 12 13 recv received 0
	printf 'thread %d clock=0 rank=%d\n' 0 0 1 1
	echo 'group 1 threads=0,1'
	work 0 0 1000 481000
	op 0 3 481000 482000 group=1 peer=1 tag=1 bytes=8
	work 1 1 1000 10000
	op 1 12 10000 11000 group=1 peer=0 tag=1 bytes=8 id=1
	op 1 10 11000 500000 peer=72057594037927935 tag=0
	op 1 10 500000 501000
	work 1 1 501000 901000
	printf 'e 1 %d %s\n' 901000 '11 enter' 901500 '13 point id=1 bytes=8' 902000 '11 exit'
	work 1 1 902000 1001000
} | trace status
share status 0 0 a 48
share status 1 0 MPI_Request_get_status 2
share status 1 0 b 49.9
# Or who has been woken, and then gets the mutex.
{
	sites
	printf 'site %d kind=%s name=%s file=x.c line=%d\n' 20 wait pthread_cond_wait 20 21 wait pthread_cond_signal 21 22 lock pthread_mutex_lock 22
	printf 'thread %d clock=0 rank=0 number=%d\n' 0 0 1 1
	work 0 0 1000 100000
	op 0 22 100000 100000 id=5
	echo 'e 0 100000 21 point id=7'
	echo 'e 0 101000 22 point id=5'
	op 1 22 1000 1000 id=5
	echo 'e 1 40000 22 point id=5'
	op 1 20 40000 106000 id=7
	op 1 22 106000 111000 id=5
	work 1 1 111000 201000
	echo 'e 1 201000 22 point id=5'
} | trace woken
share woken 0 0 a 49.5 0.6
share woken 0 1 pthread_cond_wait 2.5 0.6
share woken 0 1 pthread_mutex_lock 2.5
share woken 0 1 b 45
# Or it was there: then it has not waited.
expect 0 dump looks
sed -E 's/^e 1 11000/e 1 491000/; s/^(e 0 )48/\11/' out | trace there
share there 1 0 b 97
share there 1 0 MPI_Probe 1
share there 1 0 MPI_Recv 1

early() { # until: rank 1 comes to the barrier
	sites
	printf 'thread %d clock=0 rank=%d\n' 0 0 1 1
	echo 'group 1 threads=0,1'
	printf 'e 0 %d %d %s\n' 1000 0 enter 501000 0 exit
	printf 'e 1 %d %d %s\n' 1000 1 enter "$1" 1 exit
	for e in '0 501000' "1 $1"; do echo "e $e 2 enter group=1 seq=0"; done
	for e in '0 502000' '1 502000'; do echo "e $e 2 exit group=1 seq=0"; done
}
early 101000 | trace early
expect 0 path --json early
jq -e "$near"'.slack[] | select(.rank == 1 and .name == "b") | (.slack_s | near(400)) and (.seconds | near(100))' out >is ||
	fail "early: slack: $(jq -c .slack out)"
expect 0 path early
says out 'Nearly critical'
fits_80 out || fail "early: wider than 80 columns"
says_not out 'Other paths'

# It comes 100 us early, after 400: when a gives those 100, b is on the longest path.
early 401000 | trace nearly
expect 0 path --json nearly
jq -e "$near"'.near_paths | length == 1 and (.[0] | (.shorter_s | near(100)) and (.length_s | near(401)) and
	(.segments | map({(.name): .seconds}) | add | (.b | near(400)) and (has("a") | not) and (.MPI_Barrier | near(1))))' out >is ||
	fail "nearly: $(jq -c .near_paths out)"
expect 0 path nearly
says out 'Other paths'
grep -q 'rank 1 b (x.c:2)$' out && grep -q '^  instead of  *rank 0 a (x.c:1)$' out || fail "nearly: $(cat out)"
fits_80 out || fail "nearly: wider than 80 columns"

# Thread 0 waits for who comes last, to a counter that nobody records: that one posts, wakes, or gives bytes. Of each
# thread but 0: when it comes.
come=() after=0 # so long they go on: us
last_gives() { # semaphore, futex, bytes
	local wait=7 post='6 point id=7' waits=id=7 last t
	case $1 in
	futex) wait=10 post='9 point id=7' ;;
	bytes) wait=12 waits='channel=7 offset=0 bytes=4' post="11 enter $waits role=1" ;;
	esac
	sites
	printf 'site %d kind=wait name=%s file=x.c line=9\n' 9 futex%20wake 10 futex 11 write 12 read
	printf 'thread %d clock=0 rank=0 number=%d complete=1\n' 0 0 1 1 2 2 3 3
	last=$(printf '%d\n' "${come[@]}" | sort -n | tail -n 1)
	# shellcheck disable=SC2086
	op 0 $wait 1000 $((last * 1000 + 20)) $waits
	work 0 1 $((last * 1000 + 20)) $((last * 1000 + 200000))
	for t in 1 2 3; do
		work $t 0 1000 $((come[t - 1] * 1000))
		((come[t - 1] < last)) || echo "e $t $((last * 1000)) $post"
		((come[t - 1] < last)) || [ "$1" != bytes ] || echo "e $t $((last * 1000 + 5)) 11 exit"
		work $t 1 $((come[t - 1] * 1000 + 10)) $(((come[t - 1] + after) * 1000))
	done
}
# So much later a thread may come, in us: no later than the last, which goes on for longer than all others.
may_be_later() { # index
	local last
	last=$(printf '%d\n' "${come[@]}" | sort -n | tail -n 1)
	echo $((last - come[$1]))
}
RANDOM=${SEED:-7}
for how in semaphore futex bytes semaphore futex bytes; do
	come=($((100 + RANDOM % 300)) $((100 + RANDOM % 300)) 450) after=$((50 + RANDOM % 100))
	last_gives $how | trace last
	expect 0 path --json last
	for t in 1 2; do
		jq -e --argjson true "$(may_be_later $((t - 1)))" --argjson t $t '.slack[] | select(.thread == $t and .name == "a") |
			.slack_s.lo <= $true * 1e-6 and .slack_s.hi >= $true * 1e-6 and .slack_s.hi < 600e-6' out >is ||
			fail "$how ${come[*]} $after: slack of thread $t, truly $(may_be_later $((t - 1))) us: $(jq -c .slack out)"
	done
	jq -e 'all(.near_paths[].segments[]; .thread == 0 or .thread == 3)' out >is ||
		fail "$how: who was not the last is on another path: $(jq -c .near_paths out)"
	expect 0 path last
	says out 'Left out is what a thread did before'
	fits_80 out || fail "$how: wider than 80 columns"
done

# Before an attempt that succeeds, the first that is known, a thread has perhaps tried, too seldom for a record; or done
# anything else, such as work without a mark: then who posted meanwhile was not waited for. Nor is that left open if it
# posts during the attempt.
tries() { # when it posts
	sites
	echo 'site 9 kind=wait name=sem_trywait file=x.c line=9'
	printf 'thread %d clock=0 rank=0 number=%d complete=1\n' 0 0 1 1
	work 0 0 1000 21000
	op 0 9 81000 82000 id=7
	work 0 0 82000 101000
	work 1 1 1000 "$1"
	echo "e 1 $1 6 point id=7"
}
tries 51000 | trace tries
expect 0 path --json tries
jq -e 'def on(t; n): [.segments[] | select(.thread == t and .name == n) | .share_percent][0];
	(on(1; "b") | .lo == 0 and .hi >= 49.9) and (on(0; "a") | .lo <= 19.1 and .hi >= 38.9) and (on(0; "outside regions") | .lo == 0 and .hi >= 59.9) and
	([.slack[] | select(.thread == 1 and .name == "b") | .slack_s | .lo <= 0 and .hi >= 30e-6] == [true])' out >is || fail "tries: $(jq -c '.segments, .slack' out)"
tries 81500 | trace tries
share tries 0 1 b 80.5

# A lock that was free: whoever had it before may become what the end waits for sooner than by the end of its thread.
{
	sites
	echo 'site 9 kind=lock name=pthread_mutex_lock file=x.c line=9'
	printf 'thread %d clock=0 rank=0 number=%d complete=1\n' 0 0 1 1
	work 0 0 1000 400000
	op 0 9 400000 400010 id=5
	echo e 0 400100 9 point id=5
	work 0 0 400100 500000
	work 1 1 1000 300000
	op 1 9 300000 300010 id=5
	echo e 1 300100 9 point id=5
} | trace free
expect 0 path --json free
jq -e '(.slack[] | select(.thread == 1 and .name == "b") | .slack_s) as $s | $s.lo <= 100e-6 and $s.lo > 99e-6 and
	(.near_paths | length == 1) and .near_paths[0].shorter_s.lo == $s.lo and .near_paths[0].shorter_s.hi >= $s.hi' out >is ||
	fail "free: $(jq -c '[.slack, .near_paths]' out)"

# Several runs: that with fewer threads first, the longest parts of any.
{ sites; echo 'thread 0 clock=0 rank=0'; printf 'e 0 %d 0 %s\n' 1000 enter 801000 exit; } | trace one
expect 0 path --json two one
jq -e '[.runs[] | .threads] == [1, 2] and ([.runs[] | [.regions[] | select(.name == "a") | .share_percent.hi] | .[0]] | .[0] == 100 and .[1] < 36)' out >is ||
	fail "several runs: $(cat out)"
expect 0 path two one
says out 'a (x.c:1):'
fits_80 out || fail "several runs: wider than 80 columns"
expect 0 path --to 100us two one
tr -s ' \n' ' ' <out | grep -q "^A part of the critical paths of 2 runs, from their begin to 100us, " || fail "parts of several runs: $(cat out)"
{ sites; echo 'thread 0 clock=0 rank=0'; } | trace empty
expect 1 path --json one empty
jq -e '[.runs[].threads] == [1, 0] and .runs[1].length_s == {"lo": 0, "hi": null} and .runs[1].regions == []' out >is ||
	fail "empty: $(jq -c .runs out)"
says err "empty: Nothing was recorded: no critical path is known"
expect 2 path --every 1ms two one
expect 0 path two
says out 'b (x.c:2)'
fits_80 out || fail "wider than 80 columns"

# ---- Parts of the run ------------------------------------------------------------------------------------

part() { # name percent, of what the options say
	jq -r --arg name "$1" '[.segments[] | select(.name == $name) | .share_percent][0] // {lo: 0, hi: 0} | "\(.lo) \(.hi)"' out >found
	read -r lo hi <found
	is_true "$lo <= $2 && $hi >= $2 && $hi - $lo < 0.2" || fail "$1: expected $2, found $lo .. $hi"
}
expect 0 path --json two --from 100us --to 400us
part a 66.667
part b 30.0
jq -e "$near"'.messages | length == 1 and .[0].from == 0 and .[0].to == 1 and .[0].count == 1 and (.[0].seconds | near(10)) and
	.[0].verdict == "proved"' out >is || fail "from 100us to 400us: messages: $(jq -c .messages out)"
expect 0 path --json two --from 305us --to 400us
jq -e '.messages | length == 1 and .[0].seconds.lo == 0 and .[0].seconds.hi >= 5e-6 and .[0].verdict == "undecided"' out >is ||
	fail "from 305us: messages: $(jq -c .messages out)"
expect 0 path --json two --from 320us --to 400us
jq -e '.messages == []' out >is || fail "from 320us: messages: $(jq -c .messages out)"
expect 0 path --json two --from step --to step#2
part a 75.0
part b 22.5
expect 0 path --json two --from step#2
part b 83.333
expect 0 path --json two --every 250us
jq -e '[.slices[].segments[0].name] == ["a", "b", "b", "b"]' out >slices ||
	fail "slices: $(jq -c '[.slices[].segments[0].name]' out)"
# Of ticks that make no whole microsecond there is no part more.
expect 0 dump two
sed 's/ghz=1$/ghz=2.3333/' out | trace odd
expect 0 path --json odd --from 1us --to 4us --every 1us
jq -e '[.slices[].length_s.hi * 1e6 | round] == [1, 1, 1]' out >slices || fail "whole parts: $(jq -c '[.slices[].length_s]' out)"
expect 0 path two --every 250us
fits_80 out || fail "wider than 80 columns"
for wrong in '--from 2s' '--to 0s' '--from stop' '--from step#3' '--from step#0' '--from 5us --to 4us' '--every 0s' '--every soon' \
	'--every 1ns' '--region a'; do
	# shellcheck disable=SC2086
	expect 2 path two $wrong
	[ ! -s out ] && [ "$(wc -l <err)" -ge 1 ] || fail "$wrong: $(cat out err)"
done
# A progress point is known as its clock is, here to 100 us: truly rank 1 comes to it at 9,920 and 10,500 us, and rank 0 is in a until 10,000. How long
# it is from one to the other is known better.
{
	sites
	echo 'clock 1 host=h1 ghz=1'
	for ((at = 1000; at < 20000000; at += 500000)); do
		echo "link 0 $at 1 $((at + 190000))"
		echo "link 1 $((at + 200000)) 0 $((at + 210000))"
	done
	printf 'thread %d clock=%d rank=%d\n' 0 0 0 1 1 1
	work 0 0 1000 10000000
	work 0 1 10000000 20000000
	echo 'e 1 1000000 1 enter'
	printf 'e 1 %d 5 point\n' 9920000 10500000 10550000
	echo 'e 1 15000000 1 exit'
} | trace vague
expect 0 path --json vague --from step --to step#2
jq -e '[.segments[] | select(.name == "a" or .name == "b") | [.share_percent.lo < {a: 13.793, b: 86.207}[.name], .share_percent.hi > {a: 13.793, b: 86.207}[.name],
	.share_percent.hi - .share_percent.lo < 40]] == [[true, true, true], [true, true, true]] and (.length_s | .lo > 570e-6 and .hi < 590e-6)' out >is ||
	fail "vague: $(jq -c '.length_s, .segments' out)"
expect 0 path --json vague --from step --every 100us
jq -e '(.slices | length == 102) and (.slices[0].from_s | .lo < 9919e-6 and .hi > 9919e-6) and (.slices[0].length_s | .lo > 99e-6 and .hi < 101e-6) and
	any(.slices[0].segments[]; .name == "a" and .share_percent.lo < 81 and .share_percent.hi == 100)' out >is ||
	fail "vague: parts: $(jq -c '.slices | length, .[0]' out)"
expect 0 path vague --from step --every 1ms
says out '~0.009'
fits_80 out || fail "vague: wider than 80 columns"
expect 2 path vague --from step#3 --to step#2

expect 2 path two --from stop
says err 'expected a time (0.5s, 20ms) or a progress point of this trace, such as step; found "stop"'

# ---- Clocks that are not known well enough ---------------------------------------------------------------

# Rank 1 comes to the barrier 50 us before rank 0, on a clock that is known to 100, and rank 2 comes 500 us before: the least
# slack of b is 50.
{
	sites
	echo 'clock 1 host=h1 ghz=1'
	for ((at = 1000; at < 2000000; at += 500000)); do
		echo "link 0 $at 1 $((at + 100000))"
		echo "link 1 $((at + 200000)) 0 $((at + 300000))"
	done
	printf 'thread %d clock=%d rank=%d\n' 0 0 0 1 1 1 2 1 2
	echo 'group 1 threads=0,1,2'
	for t in 0 1 2; do
		until=$((t == 0 ? 1000000 : t == 1 ? 950000 : 500000))
		work $t $((t > 0)) 1000 $until
		op $t 2 $until 1001000 group=1 seq=0
	done
} | trace least
expect 0 path --json least
jq -e '.regions[] | select(.name == "b") | .slack_s | .lo <= 50e-6 and .hi >= 50e-6' out >is ||
	fail "least: $(jq -c '.regions[] | [.name, .slack_s]' out)"

# Which of two ranks came last to a barrier: 200 ns, and clocks known to some 400.
{
	sites
	cat <<-END
	clock 1 host=h1 ghz=1
	link 0 500 1 700
	link 1 700 0 900
	link 0 90500 1 90700
	link 1 90700 0 90900
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	group 1 threads=0,1
	e 0 1000 0 enter
	e 0 51000 0 exit
	e 0 51000 2 enter group=1 seq=0
	e 0 52000 2 exit
	e 0 52000 0 enter
	e 0 101000 0 exit
	e 1 1200 1 enter
	e 1 51200 1 exit
	e 1 51200 2 enter group=1 seq=0
	e 1 52200 2 exit
	END
} | trace close
expect 0 path --json close
jq -e '.segments[] | select(.name == "b") | .verdict == "undecided" and .share_percent.lo == 0 and .share_percent.hi > 49' out >b ||
	fail "b is $(jq -c '.segments[]' out)"
jq -e '.segments[] | select(.name == "a") | .verdict == "undecided" and .share_percent.lo > 48 and .share_percent.lo < 50 and
	.share_percent.hi > 98' out >a || fail "a is $(jq -c '.segments[]' out)"
expect 0 path close
says out 'than one thread may have'

# A third rank, on the first one's host, which came 300 ns after it: so the first was not the last.
"$analyze" dump close | sed '/^thread 1/a thread 2 clock=0 rank=2
s/threads=0,1/threads=0,1,2/; s/size=2/size=3/' >three.txt
cat >>three.txt <<-END
	e 2 1000 1 enter
	e 2 51300 1 exit
	e 2 51300 2 enter group=1 seq=0
	e 2 52000 2 exit
END
trace three <three.txt
expect 0 path --json three --base h1
jq -e '[.segments[] | select(.rank == 0 and .name == "a")] | length == 1 and .[0].share_percent.hi < 50' out >a ||
	fail "rank 0 was not the last: $(jq -c '.segments[]' out)"

# Two threads come to a barrier in the same tick. Both ways lead to thread 0: over its own coming, or over what it posted for
# thread 1, before which it is on the path for certain.
{
	sites
	cat <<-END
	thread 0 clock=0 rank=0 number=0
	thread 1 clock=0 rank=0 number=1
	group 1 threads=0,1
	e 0 1000 0 enter
	e 0 31000 0 exit
	e 0 31000 6 point id=7
	e 0 31000 0 enter
	e 0 51000 0 exit
	e 0 51000 8 enter group=1 seq=0
	e 0 52000 8 exit
	e 1 1200 7 enter id=7
	e 1 31500 7 exit
	e 1 31500 1 enter
	e 1 51000 1 exit
	e 1 51000 8 enter group=1 seq=0
	e 1 52000 8 exit
	END
} | trace joined
expect 0 path --json joined
jq -e '.segments[] | select(.name == "a") | .share_percent.lo > 58 and .share_percent.lo < 60 and .share_percent.hi > 97' out >a ||
	fail "a is $(jq -c '.segments[]' out)"

# Thread 1 is in a wait for good when its process ends: it is not waited for, though its event is the run's last.
{
	sites
	cat <<-END
	thread 0 clock=0 rank=0 number=0 ran_on=1
	thread 1 clock=0 rank=0 number=1 ran_on=1
	e 0 1000 0 enter
	e 0 91000 0 exit
	e 1 1000 1 enter
	e 1 101000 1 exit
	e 1 101000 7 enter id=7
	END
} | trace parked
expect 0 path --json parked
jq -e '.length_s.lo <= 90e-6 and .length_s.hi >= 90e-6 and ([.segments[] | select(.name == "a")] | length == 1)' out >a ||
	fail "parked: $(jq -c '[.length_s, .segments]' out)"

# ---- What the trace lacks --------------------------------------------------------------------------------

# A receive whose send is not there: what was before it is not known, what came later is.
grep -v ' 3 enter' <(
	sites
	cat <<-END
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	e 0 1000 0 enter
	e 0 41000 0 exit
	e 1 1000 1 enter
	e 1 11000 1 exit
	e 1 11000 4 enter group=1 peer=0 tag=1 bytes=8
	e 1 51000 4 exit
	e 1 51000 1 enter
	e 1 101000 1 exit
	END
) | trace unsent
share unsent 1 0 b 60 20
jq -e '.segments[] | select(.name == "a") | .share_percent.lo == 0 and .share_percent.hi >= 40 and .verdict == "undecided"' out >a ||
	fail "a is $(jq -c '.segments[]' out)"
expect 0 path unsent
says out 'what ended a wait is not in the'

# But it was never in a wait that another thread is known to have ended: rank 0 waits 30 us at a barrier for rank 1, before that.
{
	sites
	cat <<-END
	thread 0 clock=0 rank=0
	thread 1 clock=0 rank=1
	group 1 threads=0,1
	END
	work 0 0 1000 11000; op 0 2 11000 41010 "group=1 seq=0"
	work 0 0 41010 61000
	work 1 1 1000 41000; op 1 2 41000 41010 "group=1 seq=0"
	op 1 4 41010 81000 "peer=0 tag=1 bytes=8"; work 1 1 81000 101000
} | trace waited
expect 0 path --json waited
jq -e '[.segments[] | select(.name == "MPI_Barrier") | .seconds.hi < 20e-9] | length == 2 and all' out >is ||
	fail "waited: $(jq -c '.segments[] | [.rank, .name, .seconds]' out)"
jq -e '.segments[] | select(.name == "b" and .rank == 1) | .seconds.hi > 39e-6' out >is || fail "waited: b of rank 1 may be on the path"

# What ends these waits is not in the trace. While all threads waited the path was outside of that; else, before the last such end,
# perhaps. Who runs on behind its last record does not wait.
unknown=72057594037927934
outside() { # lines: more of the second thread
	sites
	cat <<-END
	site 9 kind=wait name=epoll_wait file=x.c line=9
	site 10 kind=wait name=read file=x.c line=10
	process 0 pid=100 started=500 ended=101000
	thread 0 clock=0 process=0 number=0 ended=101000
	END
	work 0 0 1000 11000; op 0 9 11000 51000 "peer=$unknown"
	op 0 10 51000 51010 channel=7 offset=0 bytes=5 # which did not block
	work 0 0 51010 71000; op 0 9 71000 81000 "peer=$unknown"
	work 0 1 81000 101000
	[ $# = 0 ] || printf '%s\n' "$@"
}
elsewhere() { # trace ns-least
	expect 0 path --json "$1"
	jq -e --argjson least "$2" '(.segments[] | select(.name == "a wait for what is not recorded") |
		.thread == null and .pid == null and (.seconds.lo * 1e9 - $least | fabs) < 5 and (.seconds.hi * 1e9 - 80000 | fabs) < 5) and
		([.segments[] | select(.name == "epoll_wait") | .seconds.hi < 1e-8] | all) and
		(.segments[] | select(.name == "b" and .thread == 0) | .seconds.lo > 19.9e-6 and .seconds.hi < 20.1e-6) and
		(.segments[] | select(.name == "a") | .seconds.lo == 0 and .seconds.hi > 29.9e-6 and .seconds.hi < 30.1e-6)' out >is ||
		fail "$1: $(jq -c '.segments[] | [.thread, .name, .seconds]' out)"
	expect 0 check --json "$1"
	jq -e --argjson least "$2" '.causes.all_waited_s.lo * 1e9 - $least | fabs < 5' out >is || fail "$1: $(jq -c .causes.all_waited_s out)"
}
outside | trace outside
elsewhere outside 50000
jq -e '[.causes.violations[] | select(.property == "wait_state_termination") | [.name, .count]] == [["epoll_wait", 2]]' out >is ||
	fail "what it took at once was no wait: $(jq -c .causes out)"
expect 0 path outside
says out 'a wait for what is not recorded'
expect 0 path --every 10us outside
says out 'an unrecorded wait'
fits_80 out || fail "path --every of a wait for what is not recorded: wider than 80 columns"
outside 'thread 1 clock=0 process=0 number=1 ended=101000' "$(op 1 9 1000 20000 "peer=$unknown"; work 1 1 20000 30000; op 1 9 30000 101000 "peer=$unknown")" |
	trace outside-two
expect 0 path --json outside-two
jq -e '.segments[] | select(.name == "a wait for what is not recorded") | .seconds.lo > 39.9e-6 and .seconds.lo < 40.1e-6' out >is ||
	fail "outside-two: $(jq -c '.segments[] | [.thread, .name, .seconds]' out)"
outside 'thread 1 clock=0 process=0 number=1 ran_on=1 ended=101000' "$(op 1 9 1000 20000 "peer=$unknown"; work 1 1 20000 30000)" |
	trace outside-on
elsewhere outside-on 9000

# A time limit has ended the wait: that is a cause, and path does not say that there is none. It is the thread's own time, as a sleep
# is, unless it was tried again, or nobody knows until when it was to wait: then a signal may have ended it.
limit() { # of the wait; lines: another one before it
	sites
	echo 'site 9 kind=wait name=sem_wait file=x.c line=9'
	printf 'thread %d clock=0 rank=0 number=%d\n' 0 0 1 1
	work 0 0 1000 11000; [ $# = 1 ] || printf '%s\n' "${@:2}"
	op 0 9 31000 51000 "$1"; work 0 1 51000 101000
	work 1 0 1000 61000
}
limit until=1700000000000000000 | trace limit
expect 0 check --json limit
jq -e '.causes.missing == 0' out >is || fail "limit: $(jq -c .causes out)"
expect 0 path limit
says_not out 'what ended a wait is not in the'
expect 0 path --json limit
jq -e '[.segments[] | select(.name | IN("a", "b", "sem_wait")) | [.thread, .name, (.seconds.lo * 1e6 | round), (.seconds.hi * 1e6 | round)]] ==
	[[0, "b", 50, 50], [0, "sem_wait", 20, 20], [0, "a", 10, 10]]' out >is || fail "limit: $(jq -c '.segments[] | [.thread, .name, .seconds]' out)"
unknown_limit() { # as limit
	limit "$@" | trace limit
	expect 0 path limit
	says out 'what came last is not known'
	says_not out 'what ended a wait is not in the'
}
unknown_limit until=0
# Behind a wait for a condition variable a mutex is taken again: who had that meanwhile has perhaps been waited for.
retakes() { # lines: of thread 1
	sites
	echo 'site 9 kind=wait name=pthread_cond_wait file=x.c line=9'
	echo 'site 12 kind=lock name=pthread_mutex_lock file=x.c line=12'
	printf 'thread %d clock=0 rank=0 number=%d\n' 0 0 1 1
	op 0 12 500 510 id=7; echo "e 0 1000 12 point id=7"; op 0 9 1001 51000 until=1700000000000000000; op 0 12 51001 51002 id=7
	work 0 1 51002 101000; printf '%s\n' "$@"
}
of() { # name: of that the path has so much, in us
	jq -r --arg name "$1" '[.segments[] | select(.name == $name) | .seconds | (.lo, .hi) * 1e6 | round] | join(" ")' out
}
retakes "$(work 1 0 1010 41000)" | trace free
expect 0 path --json free
[ "$(of pthread_cond_wait)" = "50 50" ] || fail "free: $(jq -c '.segments[] | [.thread, .name, .seconds]' out)"
retakes "$(op 1 12 1003 1008 id=7; work 1 0 1010 41000)" "e 1 41000 12 point id=7" | trace held
expect 0 path --json held
[[ "$(of pthread_cond_wait) $(of a)" = "0 50 0 40" ]] || fail "held: $(jq -c '.segments[] | [.thread, .name, .seconds]' out)"
unknown_limit until=1700000000000000000 "$(op 0 9 11000 30990 until=1699999999999990000)"

# Who asks again and again, sleeping until a moment each time, waits: for what another one did, perhaps.
{
	sites
	echo 'site 9 kind=sleep name=clock_nanosleep file=x.c line=9'
	printf 'thread %d clock=0 rank=0 number=%d\n' 0 0 1 1
	for k in 0 1 2 3; do op 0 9 $((1000 + k * 20000)) $((20900 + k * 20000)) until=$((1700000000000000000 + k * 20000)); done
	work 0 1 81000 101000; work 1 0 1000 71000
} | trace moments
expect 0 path --json moments
[[ "$(of a) $(of b)" = "0 70 20 20" ]] || fail "moments: $(jq -c '.segments[] | [.thread, .name, .seconds]' out)"

# A robust lock that processes share is free when the process of whoever has it is over, also behind the last record.
{
	sites
	cat <<-END
	site 9 kind=lock name=pthread_mutex_lock file=x.c line=9
	process 0 pid=100 started=500 ended=101000
	process 1 pid=101 started=500 ended=61000
	thread 0 clock=0 process=0 number=0 ended=101000
	thread 1 clock=0 process=1 number=0 ended=61000
	END
	work 0 1 1000 20000; op 0 9 20000 61100 object=7; work 0 1 61100 101000
	op 1 9 1000 1010 object=7; work 1 0 1010 41000
} | trace robust
expect 0 check --json robust
jq -e '.causes.missing == 0' out >is || fail "robust: $(jq -c .causes out)"
expect 0 path --json robust
jq -e '(.segments[] | select(.name == "a") | .seconds.lo > 39.9e-6) and
	([.segments[] | select(.name == "b" and .thread == 0) | .seconds] | length == 1 and .[0].lo > 39.8e-6 and .[0].hi < 40e-6)' out >is ||
	fail "robust: $(jq -c '.segments[] | [.pid, .name, .seconds]' out)"
expect 0 waits --json robust
jq -e '.waits | length == 1 and .[0].kind == "lock" and .[0].seconds.lo > 40.9e-6 and .[0].caused_by.pid == 101' out >is ||
	fail "robust: $(jq -c .waits out)"

# Records that were lost on the way back: what is before them may have been on the path, or not; what is behind them is.
"$analyze" dump two | sed '/^e 1 311000 1 enter/a lost 1 3' | trace lossy
status=1 share lossy 0 0 'outside regions' 5.0 11
status=1 share lossy 0 0 a 34.9 60
jq -e '.segments[] | select(.name == "a") | .share_percent.lo < 6 and .verdict == "undecided"' out >a ||
	fail "a is $(jq -c '.segments[]' out)"

# Who waited was left out: nothing is known.
"$analyze" dump two | sed '/^group/a without recv' | trace without
expect 0 path without
says out 'Who waited for whom is not known'
expect 0 path --json without
jq -e '.span_s == null and .segments == null' out >nothing || fail "$(cat out)"

# A run of no length is none of which a part was asked for.
{ sites; echo 'thread 0 clock=0 rank=0'; echo 'e 0 1000 5 point'; } | trace point
expect 0 path --json point
says_not err '--from'

# Two are as long in the same region each time: whichever way the path goes, it is there for no longer than all of it is.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h ghz=1" "thread 0 clock=0 rank=0" "thread 1 clock=0 rank=1" "group 1 threads=0,1" \
		"site 0 kind=region name=a file=x.c line=1" "site 1 kind=barrier name=MPI_Barrier file=x.c line=2"
	for k in {0..9}; do
		for t in 0 1; do
			work $t 0 $((1100 * k)) $((1100 * k + 1000)); op $t 1 $((1100 * k + 1000)) $((1100 * k + 1100)) group=1 seq=$k
		done
	done
} | trace ties
expect 0 path --json ties
jq -e '.length_s.hi as $all | [.regions[] | select(.name == "a") | .seconds.hi <= $all and .imbalance_s.hi <= $all - .mean_s.lo + 3e-9] == [true]' out >is ||
	fail "ties: $(jq -c .regions out)"

# What came to a barrier has lost its records: so its last to come is not outside of the trace, and who waited there may have been on
# the path in it, as it was.
awk '/^e 3 (30010|44000|44010|54000) / { if (!other++) print "lost 3 4"; next }
	/^e 0 (40020|50000) / { if (!first++) print "lost 0 2"; next }
	{ print }' "$fixtures/job.txt" | trace damaged
"$analyze" pack "$fixtures/job.txt" whole || fail "whole: not packed"
for name in whole damaged; do
	"$analyze" path --json $name >out 2>err
	jq -r '.segments[] | select(.rank == 1 and .name == "MPI_Barrier") | .seconds | "\(.lo) \(.hi)"' out
done >both
awk '{ lo[NR] = $1; hi[NR] = $2 } END { exit !(NR == 2 && lo[1] > 0 && lo[2] <= lo[1] && hi[2] >= lo[1]) }' both ||
	fail "a barrier whose others are lost: $(xargs <both)"
exit $failed

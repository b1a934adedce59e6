#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What ended a wait has perhaps no record of its own: a child goes on behind its last one until it ends, a channel is
# closed in the midst of a region, and a semaphore is made anew where another one was. waits and path prove nothing then
# that was not so.
. testsuite/fixtures/analysis/setup.sh
unknown=72057594037927934 # DPROF_PEER_UNKNOWN

# A trace of one clock that shows nanoseconds.
head_of() {
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	site 0 kind=region name=a file=x.c line=1
	site 1 kind=region name=b file=x.c line=2
	site 2 kind=region name=c file=x.c line=3
	site 3 kind=wait name=waitpid file=x.c line=4
	site 4 kind=fork name=fork file=x.c line=5
	site 5 kind=wait name=read file=x.c line=6
	site 6 kind=wait name=write file=x.c line=7
	site 7 kind=wait name=sem_wait file=x.c line=8
	site 8 kind=wait name=sem_post file=x.c line=9
	site 9 kind=wait name=sem_init file=x.c line=10
	END
}

# What a wait, or a stay on the path, is said to be, in ns: expected, and how far from that it may be.
holds() { # directory command filter ns most
	expect 0 "$2" --json "$1"
	jq -e --argjson ns "$4" --argjson most "$5" "[$3] | map({ lo: (.seconds.lo * 1e9), hi: (.seconds.hi * 1e9) }) |
		{ lo: (map(.lo) | add // 0), hi: (map(.hi) | add // 0) } | .lo <= \$ns and .hi >= \$ns and .hi - .lo <= \$most" out >is ||
		fail "$1: $2, $3: expected $4 ns, found $(jq -c "[$3]" out)"
}

# ---- The end of a process -----------------------------------------------------------------------------------------

# The child's last record is that it leaves a; then it works for 100 us more.
child() { # how the parent goes on
	head_of
	cat <<-END
	process 0 pid=100 started=500 ended=400000
	process 1 pid=101 forked=1 started=11000 ended=150000
	thread 0 clock=0 process=0 number=0 ended=400000
	thread 1 clock=0 process=1 number=0 ended=150000
	e 0 10000 4 enter process=101
	e 0 10500 4 exit
	END
	work 1 0 12000 50000
	work 0 1 10500 "$1"
	op 0 3 "$1" 150100 "peer=$unknown" process=101 role=1
	work 0 2 150100 300000
}
for since in 20000 90000; do
	child $since | trace child
	holds child waits '.waits[] | select(.name == "waitpid")' $((150000 - since)) 100
	holds child path '.segments[] | select(.name == "waitpid")' 100 100
	holds child path '.segments[] | select(.name == "outside regions" and .pid == 101)' 100000 200
	holds child path '.segments[] | select(.name == "a")' 38000 100
	expect 0 efficiency --json child
	jq -e '.ideal_s | .lo <= 290e-6 and .hi >= 289.8e-6' out >is || fail "child, $since: ideal $(jq -c .ideal_s out)"
done

# ---- The end of a channel -----------------------------------------------------------------------------------------

# Thread 0 has given 8 bytes, and closes the channel in the midst of a, at 150 us: of that there is no record.
channel() { # the reader's second read begins
	head_of
	echo "thread 0 clock=0 rank=0 number=0"
	echo "thread 1 clock=0 rank=0 number=1"
	op 0 6 10000 10000 channel=7 offset=0 bytes=8 role=1
	work 0 0 40000 200000
	op 1 5 5000 10100 "peer=$unknown" channel=7 offset=0 bytes=8
	work 1 1 10100 "$1"
	op 1 5 "$1" 150100 "peer=$unknown" channel=7 offset=8 bytes=0
	work 1 2 150100 300000
}
for since in 30000 145000; do
	channel $since | trace channel
	expect 0 waits --json channel
	jq -e '.unknown == 1 and ([.waits[] | select(.name == "read") | .seconds.hi] | add) < 6e-6' out >is ||
		fail "channel, $since: $(jq -c '[.unknown, .waits]' out)"
	expect 0 path --json channel
	jq -e '.segments | map(select(.name == "read" and .seconds.lo > 1e-6)) == []' out >is ||
		fail "channel, $since: path $(jq -c .segments out)"
done

# But a process that ended has closed what it had when it did, at the latest.
{
	head_of
	echo "process 0 pid=100 started=500 ended=400000"
	echo "process 1 pid=101 forked=1 started=600 ended=150000"
	echo "thread 0 clock=0 process=0 number=0 ended=400000 ran_on=1"
	echo "thread 1 clock=0 process=1 number=0 ended=150000 ran_on=1"
	work 1 0 1000 10000
	op 1 6 10000 10000 channel=7 offset=0 bytes=8 role=1
	op 0 5 5000 10100 "peer=$unknown" channel=7 offset=0 bytes=8
	work 0 1 10100 30000
	op 0 5 30000 150100 "peer=$unknown" channel=7 offset=8 bytes=0
	work 0 2 150100 300000
} | trace ended
holds ended waits '.waits[] | select(.name == "read" and .seconds.hi > 10e-6)' 120000 100
holds ended path '.segments[] | select(.name == "outside regions" and .pid == 101)' 140000 200

# Of threads that run on when their process ends, one is known to have ended it. The path begins there, wherever the others were,
# and what that one saves is expected of the run; but another might have ended it sooner, as far as is proved.
ran_on() { # thread 0's way
	head_of
	echo "process 0 pid=100 started=500 ended=200000"
	echo "thread 0 clock=0 process=0 number=0 jumps=0 ended=200000 ran_on=$1"
	echo "thread 1 clock=0 process=0 number=1 jumps=0 ended=200000 ran_on=1"
	work 0 0 1000 199000
	work 1 1 1000 150000
	echo "e 1 150000 1 enter"
}
ran_on 2 | sed 's/kind=region/& auto=1/' | trace returned
ran_on 1 | sed 's/kind=region/& auto=1/' | trace unsaid
ran_on 2 | sed 's/kind=region/& auto=1/' | "$analyze" pack - again && "$analyze" dump again | grep -q "number=0 .* ran_on=2" ||
	fail "who ended the process is not in the text"
holds returned path '.segments[] | select(.thread == 0 and .name == "a")' 198000 100
holds returned path '.segments[] | select(.thread == 1)' 0 100
for region in a b; do
	expect 0 coz --region $region --reduce 50 --json returned
	jq -c .speedup_percent out >proved && jq -c .expected_percent out >expected
	case $region in
	a) is_true "$(jq .lo expected) > 49 && $(jq .hi expected) < 51" || fail "half of a is expected to save $(cat expected)" ;;
	b) is_true "$(jq .hi expected) < 1" || fail "half of b is expected to save $(cat expected)" ;;
	esac
	is_true "$(jq .lo proved) < 1 && $(jq .hi proved) > 49" || fail "half of $region is proved to save $(cat proved)"
done

# While its process ends a thread may go on: it was in its region until its own last event, and did not end there.
{
	head_of | sed 's/kind=region/& auto=1/'
	echo "process 0 pid=100 started=500 ended=199500"
	echo "thread 0 clock=0 process=0 number=0 jumps=0 ended=199500 ran_on=2"
	echo "thread 1 clock=0 process=0 number=1 jumps=0 ran_on=1"
	work 0 0 1000 199000
	echo "e 1 1000 1 enter"
	work 1 2 201000 204000
} | trace beyond
"$analyze" dump beyond | "$analyze" pack - repacked
for of in beyond repacked; do
	expect 0 query --json $of 'count(b) == 1'
	jq -e '.holds_s.lo > 199.9e-6 and .holds_s.hi < 203.1e-6' out >is || fail "$of: b held for $(jq -c .holds_s out)"
	expect 0 report $of
	says_not out 'ended inside'
done

# ---- Who is asked is not in the trace -----------------------------------------------------------------------------

# Nobody knows who answers; most likely that takes as long, whenever it is asked.
{
	head_of
	echo "site 11 kind=wait name=getpwuid"
	echo "process 0 pid=100 ended=200000"
	echo "thread 0 clock=0 process=0 number=0 jumps=0 ended=200000"
	echo "thread 1 clock=0 process=0 number=1 jumps=0 ended=60000"
	work 0 0 1000 101000
	op 0 11 101000 191000 "peer=$unknown"
	work 0 2 191000 199000
	work 1 1 1000 60000
} | trace asked
for region in a c; do
	expect 0 coz --region $region --reduce 100 --json asked
	jq -c .expected_percent out >expected
	is_true "$(jq .hi expected) - $(jq .lo expected) < 1" || fail "asked: $region is expected to save $(cat expected)"
done
is_true "$(jq .lo expected) > 3.9 && $(jq .hi expected) < 4.2" || fail "asked: c is expected to save $(cat expected)"
is_true "$(jq .speedup_percent.hi out) > 50" || fail "asked: c is proved to save $(jq -c .speedup_percent out)"

# So the path was in the call, and before that where its thread was.
holds asked path '.segments[] | select(.name == "a")' 100000 100
holds asked path '.segments[] | select(.name == "getpwuid")' 90000 100
holds asked path '.segments[] | select(.thread == 1)' 0 0
expect 0 path --json asked
jq -e '.slack[] | select(.thread == 1) | .slack_s.lo > 138e-6 and .slack_s.hi < 140.1e-6' out >is ||
	fail "asked: slack $(jq -c .slack out)"

# What comes from outside of the trace comes earlier by no more than is cut anywhere, most likely. Not so what was looked for from
# time to time.
outside() { # what ended it
	head_of
	echo "thread 0 clock=0 rank=0 number=0"
	echo "thread 1 clock=0 rank=0 number=1"
	work 0 0 1000 3000
	op 0 5 3000 151000 "$1 peer=$unknown"
	work 0 2 151000 201000
	work 1 1 1000 41000
}
outside "" | trace outside
for region in 'a 1' 'b 20'; do
	read -r name most <<<"$region"
	expect 0 coz --region "$name" --reduce 100 --json outside
	jq -e --argjson most "$most" '(.expected_percent | .lo == 0 and .hi <= $most * 1.001 and .hi >= $most * 0.999) and
		.speedup_percent.hi > 70' out >is || fail "outside: $name $(jq -c '[.expected_percent, .speedup_percent]' out)"
done

# Who looks with a lock and yields in between went on because of the one who has given it back meanwhile, or by itself; before both
# were one it is sure again where the path was. So it is where two have.
looks() { # further events
	head_of
	printf 'site %d kind=%s name=%s file=x.c line=%d\n' 11 lock pthread_mutex_lock 11 12 lock pthread_mutex_unlock 12 13 wait sched_yield 13 \
		14 fork pthread_create 14
	echo "thread 0 clock=0 rank=0 number=0"
	echo "thread 1 clock=0 rank=0 number=1"
	echo "thread 2 clock=0 rank=0 number=2"
	work 0 0 1000 101000
	printf 'e 0 101000 14 enter thread=%d\ne 0 101000 14 exit thread=%d\n' 1 1 2 2
	for look in 102000 112000 122000 132000; do
		echo "e 0 $look 11 enter id=5"
		echo "e 0 $look 11 exit id=5"
		echo "e 0 $((look + 100)) 12 point id=5"
		[ $look = 132000 ] || op 0 13 $((look + 200)) $((look + 9900)) "until=0 peer=$unknown"
	done
	work 0 2 132200 200000
	work 1 1 102000 130000
	printf 'e 1 130000 11 enter id=5\ne 1 130000 11 exit id=5\ne 1 130100 12 point id=5\n'
	echo "e 2 102000 1 enter"
	printf 'e 2 115000 11 enter id=5\ne 2 115000 11 exit id=5\ne 2 115100 12 point id=5\n' # which was not that
	echo "e 2 128000 1 exit"
	echo "$1"
}
looks '' | trace looks
holds looks path '.segments[] | select(.name == "c")' 67800 100
holds looks path '.segments[] | select(.name == "a")' 100000 100
holds looks path '.segments[] | select(.thread == 2)' 0 0
expect 0 path --json looks
jq -e '[.segments[] | select(.thread == 1 and .name == "b") | .seconds][0] | .lo == 0 and .hi > 27.9e-6 and .hi < 28.1e-6' out >is ||
	fail "looks: $(jq -c .segments out)"
looks $'e 2 128000 11 enter id=5\ne 2 128000 11 exit id=5\ne 2 128100 12 point id=5' | trace both
holds both path '.segments[] | select(.name == "a")' 100000 100

# That is one wait, of which it is not known how long it was for whom.
for of in 'looks 1' 'both 2'; do
	read -r name n <<<"$of"
	expect 0 waits --json "$name"
	jq -e --argjson n "$n" '.waits | map(select(.name == "sched_yield")) | length == $n and (map(.seconds | select(.lo > 0 or .hi > 29e-6)) == [])' out >is ||
		fail "$name: $(jq -c .waits out)"
done
expect 0 path --json both
for thread in 1 2; do
	jq -e --argjson thread $thread '[.segments[] | select(.thread == $thread and .name == "b") | .seconds][0] | .lo == 0 and .hi > 25.9e-6' out >is ||
		fail "looks of both: $(jq -c .segments out)"
done

# ---- Semaphores ---------------------------------------------------------------------------------------------------

threads() {
	head_of
	echo "thread 0 clock=0 rank=0 number=0"
	echo "thread 1 clock=0 rank=0 number=1"
}
made() { # at with
	echo "e 1 $1 9 point id=5 tag=$2"
}
post() {
	echo "e 0 $1 8 point id=5"
}

# A post is left over when the semaphore is made anew.
{ threads; made 1000 0; work 0 0 1000 10000; post 10000; post 11000; work 0 0 11000 200000; post 200000; work 0 1 200000 210000
	op 1 7 5000 10100 id=5; work 1 1 10100 90000; made 90000 0; op 1 7 100000 200100 id=5; work 1 1 200100 300000; } | trace left
holds left waits '.waits[]' 105000 10
holds left path '.segments[] | select(.name == "a")' 198000 3000

# Each time it is made with one permit, which is taken at once.
{ threads; made 900 1; work 0 0 1000 100000; post 100000; work 0 0 100000 300000; post 300000; work 0 1 300000 310000
	op 1 7 1000 1010 id=5; op 1 7 1100 100100 id=5; work 1 1 100100 200000
	made 200000 1; op 1 7 200010 200020 id=5; op 1 7 200100 300100 id=5; work 1 1 300100 400000; } | trace anew
holds anew waits '.waits[]' 198800 10
expect 0 coz --region a --reduce 100 --json anew
jq -e '.regions[0].curve[0].speedup_percent | .lo <= 49.82 and .hi >= 49.81' out >is ||
	fail "anew: of a $(jq -c '.regions[0].curve' out)"

# It was made with none, and goes on without a post: whoever posted is not recorded.
{ threads; made 900 0; work 0 0 1000 100000; op 1 7 1000 90000 id=5; work 1 1 90000 200000; } | trace unposted
expect 0 waits --json unposted
jq -e '.unknown == 1 and .waits == []' out >is || fail "unposted: $(cat out)"

# ---- Events -------------------------------------------------------------------------------------------------------

# A barrier of a team is over when its tasks are, one of them only when thread 2, which is of no team, says so: in the midst of a.
team() { # the event comes
	head_of
	echo "site 11 kind=barrier name=omp%20barrier file=x.c line=11"
	echo "site 12 kind=fork name=omp%20task"
	echo "site 13 kind=join name=omp_fulfill_event"
	echo "site 14 kind=region name=task file=x.c line=14 auto=1"
	for t in 0 1 2; do echo "thread $t clock=0 rank=0 number=$t"; done
	echo "group 3 threads=0,1"
	echo "e 0 1000 12 point task=9 id=1"
	echo "e 0 1100 14 enter task=9 tag=77"
	echo "e 0 1200 14 exit"
	work 0 1 1200 20000
	op 0 11 20000 150100 group=3 seq=0
	work 0 2 150100 300000
	work 1 1 1000 50000
	op 1 11 50000 150200 group=3 seq=0
	work 1 2 150200 300000
	echo "e 2 1000 0 enter"
	echo "e 2 $1 13 point id=77"
	echo "e 2 200000 0 exit"
}
team 150000 | trace event
expect 0 waits --json event
jq -e '.unknown == 2 and .waits == []' out >is || fail "event: $(jq -c '[.unknown, .waits]' out)"
expect 0 path --json event
jq -e '.segments | map(select(.name == "omp barrier" and .seconds.lo > 1e-6)) == []' out >is ||
	fail "event: path $(jq -c .segments out)"
team 30000 | trace event
holds event waits '.waits[] | select(.thread == 0)' 30000 10

# ---- The rest of a message ----------------------------------------------------------------------------------------

# What has been found perhaps goes on only when its sender comes back to MPI, as with MPI_Recv; but not what is short.
found() { # bytes
	head_of
	echo "site 11 kind=send name=MPI_Isend file=x.c line=11"
	echo "site 12 kind=wait name=MPI_Wait file=x.c line=12"
	echo "site 13 kind=recv name=MPI_Mprobe file=x.c line=13"
	echo "site 14 kind=wait name=MPI_Mrecv file=x.c line=14"
	echo "site 15 kind=send name=sent"
	for t in 0 1; do echo "thread $t clock=0 rank=$t"; done
	echo "group 1 threads=0,1"
	op 0 11 10000 11000 group=1 peer=1 tag=1 "bytes=$1" id=3
	work 0 0 11000 100000
	echo "e 0 100000 12 enter"
	echo "e 0 101000 15 point id=3"
	echo "e 0 101000 12 exit"
	op 1 13 5000 12000 group=1 peer=0 tag=1
	op 1 14 12000 101000
	work 1 1 101000 200000
}
found 1000000 | trace found
expect 0 path --json found
jq -e '.segments | map(select(.name == "MPI_Mrecv" and .seconds.lo > 1e-6)) == [] and any(.name == "a" and .seconds.hi > 88e-6)' out >is ||
	fail "found: path $(jq -c .segments out)"
found 100 | trace found
holds found path '.segments[] | select(.name == "MPI_Mrecv")' 89000 10

# ---- A collective operation in which nobody knows who gives data to whom --------------------------------------------

# Rank 0 may get data of rank 1 alone, who came 90 us behind it, or of rank 2, too, who came 140 us behind it.
nowhere() {
	head_of
	echo "site 11 kind=coll name=MPI_Alltoallv file=x.c line=11"
	for t in 0 1 2; do echo "thread $t clock=0 rank=$t"; done
	echo "group 1 threads=0,1,2"
	for t in 0 1 2; do
		set -- 10000 100000 150000
		work $t 0 1000 "${@:t+1:1}"
		op $t 11 "${@:t+1:1}" 170000 group=1 seq=0 bytes=100
		work $t 1 170000 300000
	done
}
nowhere | trace nowhere
expect 0 waits --json nowhere
jq -e '.waits | map(select(.rank == 0)) | (map(.seconds.lo) | add // 0) <= 90e-6 and (map(.seconds.hi) | add // 0) >= 140e-6' out >is ||
	fail "nowhere: waits $(jq -c .waits out)"
expect 0 path --json nowhere
jq -e '.segments | map(select(.name == "a") | .seconds.hi) | add > 149e-6' out >is || fail "nowhere: path $(jq -c .segments out)"
jq -e '.segments | map(select(.name == "a" and .rank == 2) | .seconds.lo) | add // 0 < 1e-6' out >is ||
	fail "nowhere: path $(jq -c .segments out)"

echo "as expected"

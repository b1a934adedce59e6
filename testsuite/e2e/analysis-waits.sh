#!/bin/bash
# SPDX-License-Identifier: MIT
#
# waits says of each kind of waiting how long it was, where, for whom, and what that one was doing; what may have been
# two threads' doing is nobody's for certain. (Random programs: testsuite/unit/truth_waits.c.)
. testsuite/fixtures/analysis/setup.sh

# A trace of one clock that shows nanoseconds: two ranks, or two threads of one.
{
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	site 0 kind=region name=a file=x.c line=1
	site 1 kind=region name=b file=x.c line=2
	site 2 kind=barrier name=MPI_Barrier file=x.c line=3
	site 3 kind=send name=MPI_Ssend file=x.c line=4
	site 4 kind=recv name=MPI_Recv file=x.c line=5
	site 5 kind=coll name=MPI_Bcast file=x.c line=6
	site 6 kind=coll name=MPI_Reduce file=x.c line=7
	site 7 kind=coll name=MPI_Allreduce file=x.c line=8
	site 8 kind=lock name=pthread_mutex_lock file=x.c line=9
	site 9 kind=wait name=sem_wait file=x.c line=10
	site 10 kind=wait name=sem_post file=x.c line=11
	site 11 kind=recv name=MPI_Irecv file=x.c line=12
	site 12 kind=wait name=MPI_Wait file=x.c line=13
	site 13 kind=send name=MPI_Send file=x.c line=14
	site 14 kind=wait name=pthread_cond_wait file=x.c line=15
	site 15 kind=wait name=pthread_cond_signal file=x.c line=16
	site 16 kind=lock name=pthread_mutex_lock
	site 17 kind=wait name=MPI_Probe file=x.c line=17
	site 59 kind=wait name=MPI_Iprobe file=x.c line=23
	site 50 kind=coll name=MPI_Ibarrier file=x.c line=18
	site 51 kind=coll name=MPI_Ibcast file=x.c line=19
	site 52 kind=wait name=write file=x.c line=20
	site 53 kind=wait name=read file=x.c line=21
	site 54 kind=wait name=MPI_Sendrecv file=x.c line=22
	site 55 kind=send name=sends
	site 56 kind=recv name=receives
	site 57 kind=recv name=completed
	site 58 kind=send name=completed
	END
} >sites

ranks() {
	cat sites
	echo "thread 0 clock=0 rank=0"
	echo "thread 1 clock=0 rank=1"
	echo "group 1 threads=0,1"
}

threads() {
	cat sites
	echo "thread 0 clock=0 rank=0 number=0"
	echo "thread 1 clock=0 rank=0 number=1"
}

# The only wait of note: its kind, who waited at which line, for how many ns, and for whom in which region.
waited() { # directory kind rank thread line ns for-rank for-thread region
	expect 0 waits --json "$1"
	jq -e --arg kind "$2" --arg site "x.c:$5" --arg region "$9" --argjson who "[$3, $4, $7, $8]" --argjson ns "$6" '
		([.waits[] | select(.seconds.hi > 1e-6)] | length == 1 and (.[0] |
		.kind == $kind and .site == $site and [.rank, .thread, .caused_by.rank, .caused_by.thread] == $who and
		.caused_by.region == $region and .verdict == "proved" and
		.seconds.lo <= $ns * 1e-9 and .seconds.hi >= $ns * 1e-9 and .seconds.hi - .seconds.lo < 1e-7)),
		[.waits[].seconds.lo] == [.places[].seconds.lo],
		(.span_s.lo > 0 and .unknown == 0)' out >is && [ "$(sort -u is)" = true ] ||
		fail "$1: expected $* and as long in the places, found $(xargs <is), $(jq -c '.waits, .places, .span_s, .unknown' out)"
	expect 0 waits "$1"
	fits_80 out || fail "$1: wider than 80 columns"
}

{ ranks; work 0 0 1000 101000; op 0 2 101000 102000 group=1 seq=0; work 1 1 1000 41000; op 1 2 41000 102000 group=1 seq=0; } |
	trace barrier
waited barrier wait_at_barrier 1 0 3 60000 0 0 a
"$analyze" dump barrier | sed 's/name=a file=x.c/name=before_all_have_the_sums file=a_file.c/' | trace named
for command in waits profile; do
	expect 0 $command named
	tr -s ' \n' ' ' <out >page
	says page ' was in before_all_have_the_sums (a_file.c:1)'
done
{ ranks; work 0 0 1000 101000; op 0 7 101000 102000 group=1 seq=0 bytes=8; work 1 1 1000 41000; op 1 7 41000 102000 group=1 seq=0 bytes=8; } | trace nxn
waited nxn wait_at_nxn 1 0 8 60000 0 0 a
{ ranks; work 0 0 1000 101000; op 0 5 101000 102000 group=1 seq=0 bytes=8 role=1; work 1 1 1000 41000; op 1 5 41000 102500 group=1 seq=0 bytes=8; } | trace bcast
waited bcast late_broadcast 1 0 6 60000 0 0 a
{ ranks; work 0 0 1000 41000; op 0 6 41000 102000 group=1 seq=0 bytes=8 role=1; work 1 1 1000 101000; op 1 6 101000 101500 group=1 seq=0 bytes=8; } | trace reduce
waited reduce early_reduce 0 0 7 60000 1 0 b
{ ranks; work 0 0 1000 101000; op 0 13 101000 102000 group=1 peer=1 tag=1 bytes=8; work 1 1 1000 41000; op 1 4 41000 103000 group=1 peer=0 tag=1 bytes=8; } | trace sender
waited sender late_sender 1 0 5 60000 0 0 a
{ ranks; work 0 0 1000 41000; op 0 3 41000 102000 group=1 peer=1 tag=1 bytes=8; work 1 1 1000 101000; op 1 4 101000 102500 group=1 peer=0 tag=1 bytes=8; } | trace receiver
waited receiver late_receiver 0 0 4 60000 1 0 b
{ ranks; op 0 11 900 950 group=1 peer=1 tag=1 bytes=8 id=3; work 0 0 1000 41000; op 0 12 41000 103000 id=3
	work 1 1 1000 101000; op 1 13 101000 102000 group=1 peer=0 tag=1 bytes=8; } | trace request
waited request late_sender 0 0 13 60000 1 0 b
# Who waits for a send that was begun waits for its receiver, whatever call of that one brings it on.
issend() { # name of the send
	ranks; echo "site 18 kind=send name=$1 file=x.c line=24"; op 0 18 900 950 group=1 peer=1 tag=1 bytes=8000 id=3; work 0 0 1000 41000
	op 0 12 41000 103000 id=3; work 1 1 1000 101000; op 1 11 101000 101050 group=1 peer=0 tag=1 bytes=8000 id=4; op 1 12 101055 103000 id=4
}
issend MPI_Issend | trace issend
waited issend late_receiver 0 0 13 60050 1 0 b
issend MPI_Isend | trace isend
expect 0 waits --json isend
jq -e '[.waits[].kind] | unique == ["late_receiver"]' out >is || fail "isend: $(jq -c .waits out)"
{ threads; op 0 8 1000 1100 id=5; work 0 0 1100 101000; echo 'e 0 101000 8 point id=5'; work 0 1 101000 111000
	work 1 1 1000 41000; op 1 8 41000 101500 id=5; echo 'e 1 103000 8 point id=5'; } | trace lock
waited lock lock 0 1 9 60000 0 0 a
{ threads; work 0 0 1000 101000; echo 'e 0 101000 10 point id=6'; work 1 1 1000 41000; op 1 9 41000 101500 id=6; } | trace semaphore
waited semaphore condition 0 1 10 60000 0 0 a
# The routine of pthread_once is run by another thread; by one that is not recorded: that is not known.
once() { # at which address it is done
	threads
	echo "site 60 kind=wait name=pthread_once file=x.c line=24"
	echo "site 61 kind=wait name=pthread_once%20done"
	work 0 0 1000 101000
	echo "e 0 101000 61 point id=$1"
	work 1 1 1000 41000
	op 1 60 41000 101050 id=5 peer=72057594037927934
}
once 5 | trace once
waited once condition 0 1 24 60000 0 0 a
once 6 | trace once-unsaid
expect 0 waits --json once-unsaid
jq -e '.unknown == 1 and .waits == []' out >is || fail "once-unsaid: $(cat out)"
# A condition variable's wait is over when its mutex is had again: it is one wait, where it began, for whoever signalled and
# then released; and what that one did is what it did before it took the mutex, which was free.
{ threads; op 1 8 900 900 id=5; echo 'e 1 950 8 point id=5'; op 1 14 1000 102000 id=7; op 1 16 102000 102100 id=5; echo 'e 1 103000 8 point id=5'
	work 0 0 1000 101000; op 0 8 101000 101000 id=5; echo 'e 0 101350 15 point id=7'; echo 'e 0 101400 8 point id=5'; } | trace condition
waited condition condition 0 1 15 100400 0 0 a
# Who is woken for others and waits again at once has waited as long as it waited, and no longer.
{ threads; work 0 0 1000 50000; echo 'e 0 50000 15 point id=7'; work 0 0 50010 120000; echo 'e 0 120000 15 point id=7'
	work 0 0 120010 140000; echo 'e 0 140000 15 point id=7'
	op 1 8 900 910 id=5; echo 'e 1 950 8 point id=5'
	op 1 14 960 50100 id=7; op 1 8 50100 50110 id=5; echo 'e 1 54000 8 point id=5'
	op 1 14 54010 120100 id=7; op 1 8 120100 120110 id=5; echo 'e 1 124000 8 point id=5'; } | trace again
waited again condition 0 1 15 115030 0 0 a
# Of a burst of signals by two threads the first has most likely woken who has waited longest, but nobody knows.
{ threads; echo "thread 2 clock=0 rank=0 number=2"; echo "thread 3 clock=0 rank=0 number=3"
	work 0 0 1000 99000; echo "e 0 99000 15 point id=7"; work 1 1 1000 101000; echo "e 1 101000 15 point id=7"; echo "e 1 101010 15 point id=7"
	for thread in 2 3; do
		since=$((900 + 100 * thread)) until=$((101000 + 100 * thread))
		op $thread 14 $since $until id=7; op $thread 8 $until $((until + 10)) id=5; echo "e $thread $((until + 20)) 8 point id=5"
	done; } | trace burst
expect 0 waits --json burst
jq -e '[.waits[] | select(.seconds.hi > 9e-5)] | all(.verdict == "undecided" and .seconds.lo < 1e-6) and
	(map([.thread, .caused_by.thread]) | index([[2, 0]]) and index([[3, 0]]) and index([[2, 1]]) and index([[3, 1]]))' out >is ||
	fail "burst: which signal woke a thread is not known: $(jq -c .waits out)"

# Who has left a team that is its last one waits for those who have not, and not for a thread to end.
last_team() {
	threads; printf 'site %d kind=%s name=%s file=x.c line=18\n' 20 fork omp%20parallel 21 join omp%20parallel%20end; echo 'site 22 kind=join name=thread%20end'
	echo 'group 1 threads=0,1'; op 0 20 1000 1100 group=1 seq=0 role=1; work 0 0 1200 101000; op 0 21 101000 101100 group=1 seq=0 role=1; work 0 1 101200 109000
	op 1 20 1050 1150 group=1 seq=0 role=0; work 1 1 1200 41000; op 1 21 41000 41000 group=1 seq=0 role=0
}
{ last_team; echo 'e 1 103000 22 point'; } | trace last_team
waited last_team imbalance 0 1 18 60000 0 0 a
jq -e '.waits | map(select(.thread == 1) | [.kind, .name]) == [["imbalance", "omp parallel end"], ["task_starvation", "omp parallel end"]]' <(
	"$analyze" waits --json last_team) >is || fail "last_team: $("$analyze" waits --json last_team | jq -c .waits)"

# So does who goes on until its process ends: behind its last event. What that goes back to is found.
last_team | trace goes_on
# And then it is idle: for csp it waits from 41,000 to the end at 109,000, and for waits up to 101,000.
expect 0 waits --json goes_on
jq -e '.idle | length == 1 and (.[0] | .thread == 1 and .seconds.lo <= 8e-6 and .seconds.hi >= 8e-6 and .seconds.hi < 8.1e-6)' out >is ||
	fail "goes_on: $(jq -c .idle out)"
expect 0 waits goes_on
says out '1 thread left its last team and had no other: idle'
waited goes_on imbalance 0 1 18 60000 0 0 a
jq -e '.waiting_s.hi < 61e-6 and (.delays[0] | .region == "a" and .seconds.lo > 58e-6)' <("$analyze" waits --json goes_on) >is ||
	fail "goes_on: $("$analyze" waits --json goes_on | jq -c '[.waiting_s, .delays]')"

# What was there already is no end of what a thread did, whatever it asked for: rank 1 is in a until 900,000, while rank 0 waits in a barrier.
ready() { # name, events...: of what rank 1 has at once
	{
		cat sites
		printf 'thread %d clock=0 rank=%d number=%d\n' 0 0 0 1 1 0 2 1 1
		printf 'group %d threads=%s\n' 1 0,1 2 1,2
		printf 'site %d kind=%s name=%s file=x.c line=%d\n' 20 fork omp%20parallel 18 21 join omp%20parallel 18 22 fork pthread_create 19 \
			23 join pthread_join 20
		printf '%s\n' "${@:2}"
		work 1 0 4000 900000
		op 0 2 100000 910000 group=1 seq=9
		op 1 2 905000 910000 group=1 seq=9
	} >text
	{ grep -v '^e ' text; grep '^e ' text | sort -s -n -k 3,3; } | trace "$1"
	expect 0 waits --json "$1"
	jq -e '[.waits[] | select(.rank == 0 and .seconds.lo > 8e-4)] | length == 1 and .[0].caused_by.region == "a" and .[0].caused_by.site == "x.c:1"' out >is ||
		fail "$1: $(jq -c .waits out)"
}
ready root "$(op 0 5 50000 51000 group=1 seq=0 role=1 bytes=8)" "$(op 1 5 901000 902000 group=1 seq=0 role=0 bytes=8)"
ready sums "$(op 0 6 50000 51000 group=1 seq=0 role=0 bytes=8)" "$(op 1 6 901000 902000 group=1 seq=0 role=1 bytes=8)"
ready over "$(op 1 22 1000 2000 thread=1)" "$(work 2 1 2500 50000)" "$(op 1 23 901000 902000 thread=1)"
ready post "$(work 2 1 2500 50000)" 'e 2 50000 10 point id=5' "$(op 1 9 901000 902000 id=5)" "$(work 2 1 903000 909000)"
ready team "$(op 1 20 3000 3500 group=2 seq=0 role=1)" "$(op 2 20 3200 3600 group=2 seq=0 role=0)" "$(work 2 1 3600 50000)" \
	"$(op 2 21 50000 912000 group=2 seq=0 role=0)" "$(op 1 21 901000 902000 group=2 seq=0 role=1)"

# With problems in the trace nothing is proved: what records are lost of may have waited for all of its time, and
# whatever it did then may be what others waited for.
{ ranks; work 0 0 1000 41000; op 0 2 41000 102000 group=1 seq=0; work 1 1 1000 11000; echo 'lost 1 1'; work 1 1 51000 101000; op 1 2 101000 102000 group=1 seq=0; } |
	trace lossy
expect 1 waits --json lossy
jq -e '([.waits[], .delays[]] | length >= 2 and all(.verdict == "undecided")) and (.delays | length > 0 and all(.seconds.lo == 0 and .seconds.hi >= 1.6e-4)) and
	(.waiting_s | .lo > 59e-6 and .lo < 61e-6 and .hi >= 1.6e-4)' out >is || fail "lossy: $(cat out)"
expect 1 waits lossy
says out '1 thread lacks records, or what ended a wait'
[ "$(grep -c undecided out)" -ge 2 ] || fail "lossy: what is proved in $(cat out)"

# Who finds a message and then takes it has waited for it since it looked, and there.
{ ranks; work 0 0 1000 101000; op 0 13 101000 102000 group=1 peer=1 tag=1 bytes=8; work 1 1 1000 41000; op 1 17 41000 103000
	op 1 4 103000 203100 group=1 peer=0 tag=1 bytes=8; } | trace probe
waited probe late_sender 1 0 17 60000 0 0 a
# So it is where it works in a region before it takes it, whose time is no part of that; unless what it takes was sent only later.
found() { # when it was sent
	ranks; work 0 0 1000 $(($1 - 10)); op 0 13 "$1" $(($1 + 1000)) group=1 peer=1 tag=1 bytes=8; work 1 1 1000 41000; op 1 17 41000 103000
	work 1 1 103000 150000; op 1 4 150000 203100 group=1 peer=0 tag=1 bytes=8
}
found 101000 | trace found_behind
waited found_behind late_sender 1 0 17 60000 0 0 a
expect 0 coz --json --region a --reduce 50 found_behind
interval expected_percent <out | { read -r lo hi && is_true "$lo > 24 && $hi < 25"; } || fail "found: $(jq -c .expected_percent out)"
expect 0 path --json found_behind
jq -e '[.segments[] | select(.name == "a" or .name == "b") | [.rank, (.seconds.lo * 1e6 | round), .verdict]] == [[0, 100, "proved"], [1, 47, "proved"]]' out >is ||
	fail "found: the path is $(jq -c .segments out)"
found 170000 | trace found_later
waited found_later late_sender 1 0 5 20000 0 0 a
# Or where it only begins to receive it, and waits for that in another call.
{ ranks; work 0 0 1000 101000; op 0 13 101000 102000 group=1 peer=1 tag=1 bytes=8; work 1 1 1000 41000; op 1 17 41000 103000
	op 1 11 103100 103200 group=1 peer=0 tag=1 bytes=8 id=4; work 1 1 103300 150000; op 1 12 150100 150200 id=4; } | trace found_begun
waited found_begun late_sender 1 0 17 60000 0 0 a
# It was the one that came as the look ended, though another one is taken first, which had been there for long.
{ ranks; echo 'thread 2 clock=0 rank=2'; echo 'group 2 threads=0,1,2'; op 2 13 1500 1600 group=2 peer=1 tag=1 bytes=8; work 0 0 1000 101000; op 0 13 101000 102000 group=2 peer=1 tag=1 bytes=8
	work 1 1 1000 1400; op 1 17 1410 103000; work 1 1 103000 150000; op 1 4 150000 150100 group=2 peer=2 tag=1 bytes=8; op 1 4 150200 150300 group=2 peer=0 tag=1 bytes=8; } |
	trace found_last
waited found_last late_sender 1 0 17 99590 0 0 a
# Not so where it then does something else, and what it takes is another one.
{ ranks; work 0 0 1000 21000; op 0 13 21000 22000 group=1 peer=1 tag=1 bytes=8; work 0 0 22000 101000; op 0 13 101000 102000 group=1 peer=1 tag=2 bytes=8
	work 1 1 1000 31000; op 1 17 31000 32000; work 1 1 32000 41000; op 1 59 41000 102000 peer=72057594037927935 tag=0; op 1 4 102000 102100 group=1 peer=0 tag=2 bytes=8
	op 1 4 102200 102300 group=1 peer=0 tag=1 bytes=8; } | trace looked
waited looked late_sender 1 0 23 60000 0 0 a
# Or comes to a barrier, which is entered behind that.
{ ranks; op 0 13 1000 2000 group=1 peer=1 tag=1 bytes=8; work 0 0 2000 101000; op 0 2 101000 102000 group=1 seq=0
	op 1 17 31000 40990; op 1 2 41000 102000 group=1 seq=0; op 1 4 102200 102300 group=1 peer=0 tag=1 bytes=8; } | trace left
waited left wait_at_barrier 1 0 3 60000 0 0 a
# Who asks in vain, and then takes or waits for it in another call, has waited where that was longer.
asks() { # until
	ranks
	work 0 0 1000 101000
	op 0 13 101000 102000 group=1 peer=1 tag=1 bytes=8
	work 1 1 1000 41000
	op 1 59 41000 "$1" peer=72057594037927935 tag=0
	op 1 4 "$1" 103100 group=1 peer=0 tag=1 bytes=8
}
asks 103000 | trace asked
waited asked late_sender 1 0 23 60000 0 0 a
asks 51000 | trace gave_up
waited gave_up late_sender 1 0 5 60000 0 0 a
# What had nothing to take (all of MPI_PROC_NULL) has found no message: who then works, in no region, and receives waits only there.
{ ranks; op 0 54 900 950; work 0 0 1000 101000; op 0 13 101000 102000 group=1 peer=1 tag=1 bytes=8; op 1 54 1000 1010; op 1 12 1020 1030
	op 1 4 41000 103000 group=1 peer=0 tag=1 bytes=8; } | trace nothing
waited nothing late_sender 1 0 5 60000 0 0 a
expect 0 check --json probe
jq -e '.causes | .missing == 0 and .violations == []' out >is || fail "probe: $(cat out)"

# Several times: what a look has found is no wait of its own, and delays go back over the receives alone.
{ ranks; for round in 0 1 2; do
	from=$((1000 + 200000 * round))
	work 1 0 $from $((from + 100000)); op 1 13 $((from + 100000)) $((from + 101000)) group=1 peer=0 tag=1 bytes=8
	work 0 1 $from $((from + 40000)); op 0 17 $((from + 40000)) $((from + 102000)); op 0 4 $((from + 102000)) $((from + 102100)) group=1 peer=1 tag=1 bytes=8
done; } | trace probes
expect 0 waits --json probes
jq -e '[.delays[] | select(.rank == 1 and .region == "a")] | length == 1 and (.[0].seconds | .lo > 1.77e-4 and .hi < 1.78e-4)' out >is ||
	fail "probes: $(jq -c .delays out)"

# Rank 0 asks, and the question is there when rank 1 comes to it: what that one did before is what rank 0 waits for, if
# it waits that long.
{ ranks; op 0 13 900 950 group=1 peer=1 tag=1 bytes=8; op 0 4 1000 102000 group=1 peer=1 tag=2 bytes=8
	work 1 0 900 95000; op 1 4 95000 95100 group=1 peer=0 tag=1 bytes=8; work 1 1 95100 101000; op 1 13 101000 101500 group=1 peer=0 tag=2 bytes=8; } | trace asked
waited asked late_sender 0 0 5 100000 1 0 a
{ ranks; op 0 13 900 950 group=1 peer=1 tag=1 bytes=8; work 0 1 1000 94500; op 0 4 94500 102000 group=1 peer=1 tag=2 bytes=8
	work 1 0 900 95000; op 1 4 95000 95100 group=1 peer=0 tag=1 bytes=8; work 1 1 95100 101000; op 1 13 101000 101500 group=1 peer=0 tag=2 bytes=8; } | trace late
waited late late_sender 0 0 5 6500 1 0 b

# So it is at a barrier to which rank 1 comes last, of its team of one or of other ranks: what it did before made rank 0
# wait, if that one waited then.
after_barrier() { # when rank 0 begins to wait -> its events, and those of rank 1: 90 us of a, then a barrier of ranks 1 and 2, and 10 of b
	ranks
	echo "thread 2 clock=0 rank=2"
	echo "group 2 threads=1,2"
	work 0 1 1000 "$1"; op 0 4 "$1" 102000 group=1 peer=1 tag=2 bytes=8
	work 1 0 1000 91000; op 1 2 91000 91100 group=2 seq=0; work 1 1 91100 101000; op 1 13 101000 101500 group=1 peer=0 tag=2 bytes=8
}
{ after_barrier 41000; op 2 2 90900 91100 group=2 seq=0; } | trace behind
waited behind late_sender 0 0 5 60000 1 0 a
{ after_barrier 92000; op 2 2 90900 91100 group=2 seq=0; } | trace nearer
waited nearer late_sender 0 0 5 9000 1 0 b
{ after_barrier 41000 | sed 's/^group 2 .*/group 2 threads=1/'; } | trace own
waited own late_sender 0 0 5 60000 1 0 a

# Who comes late because it has waited itself, has mostly done what it did since.

{
	cat sites
	for t in 0 1 2; do echo "thread $t clock=0 rank=$t"; done
	echo "group 1 threads=0,1,2"
	work 0 0 1000 91000
	op 0 13 91000 91500 group=1 peer=1 tag=1 bytes=8
	op 0 2 92010 102000 group=1 seq=0
	work 1 0 1000 61000
	op 1 4 61000 92000 group=1 peer=0 tag=1 bytes=8
	work 1 1 92000 101000
	op 1 2 101000 102000 group=1 seq=0
	op 2 2 1000 102000 group=1 seq=0
} | trace chain
expect 0 waits --json chain
jq -e '[.waits[] | select(.seconds.hi > 1e-6) | [.kind, .rank, .caused_by.rank, .caused_by.region]] ==
	[["wait_at_barrier", 2, 1, "b"], ["late_sender", 1, 0, "a"], ["wait_at_barrier", 0, 1, "b"]]' out >is || fail "chain: $(jq -c .waits out)"

# What that goes back to: rank 1 had done a and b, and had waited itself since rank 0 did a for longer, of which came as much
# waiting of rank 2. What rank 0 waited for was b, which came behind its message, and the end of the receive of that.
delay() { # rank thread region ns short-term long-term
	jq -e --argjson who "[$1, $2]" --arg region "$3" --argjson ns "[$4, $5, $6]" '
		def near($ns): .lo <= $ns * 1e-9 and .hi >= $ns * 1e-9 and .hi - .lo < 1e-7;
		.delays[] | select([.rank, .thread] == $who and .region == $region and (.seconds.hi > 1e-7 or $ns[0] == 0)) | .verdict == "proved" and
		(.seconds | near($ns[0])) and (.short_term_s | near($ns[1])) and (.long_term_s | near($ns[2]))' out >is ||
		fail "expected of $*: $(jq -c .delays out)"
}
delay 0 0 a 60000 30000 30000
delay 1 0 a 60000 60000 0
delay 1 0 b 17091 17091 0
delay 1 0 MPI_Recv 1899 1899 0
jq -e '.waiting_s.lo <= 138.99e-6 and .waiting_s.hi >= 138.99e-6 and .uncaused_s.hi < 1e-7' out >is ||
	fail "chain: $(jq -c '[.waiting_s, .uncaused_s]' out)"
expect 0 waits chain
says out 'longer on'
tr -s ' \n' ' ' <out >page
says page 'what making it shorter would buy says dprof-analyze coz --region NAME'
fits_80 out || fail "chain: wider than 80 columns"

# Rank 0 has sent what rank 1 takes late, by 2,000 ns, and does a for 10,000 until it waits for an answer: only so much of its waiting
# goes back to what rank 1 did before, and the rest to a, since then.
late_by() { # ns
	cat sites; echo "thread 0 clock=0 rank=0"; echo "thread 1 clock=0 rank=1"; echo "group 1 threads=0,1"
	work 0 0 0 70000; op 0 13 70000 70000 group=1 peer=1 tag=1 bytes=8; work 0 0 70000 80000
	work 1 1 0 $((70000 + $1)); op 1 4 $((70000 + $1)) $((70000 + $1)) group=1 peer=0 tag=1 bytes=8; work 1 0 $((70000 + $1)) $((130000 + $1))
	op 1 13 $((130000 + $1)) $((130000 + $1)) group=1 peer=0 tag=2 bytes=8
	op 0 4 80000 $((130000 + $1)) group=1 peer=1 tag=2 bytes=8
}
late_by 2000 | trace taken
expect 0 waits --json taken
delay 1 0 a 50000 50000 0
delay 1 0 b 2000 2000 0
# A lock that was free is none of those: in another order thread 1 has it without thread 0.
{ threads; op 0 8 0 0 id=5; work 0 0 0 70000; echo 'e 0 70000 8 point id=5'; work 0 0 70000 80000; op 0 9 80000 132000 id=6
	work 1 1 0 72000; op 1 8 72000 72000 id=5; echo 'e 1 72000 8 point id=5'; work 1 0 72000 132000; echo 'e 1 132000 10 point id=6'; } | trace free
expect 0 waits --json free
delay 0 1 b 52000 52000 0
# Thread 1 was created when thread 0 had done a for 70,000 ns, and began 1,000 later: it was late for what it did since, and for that.
created() { # synchronisations by itself behind that
	threads; echo 'site 30 kind=fork name=pthread_create file=x.c line=30'; echo 'site 31 kind=join name=pthread_join file=x.c line=31'
	echo 'group 3 threads=0'
	work 0 0 0 70000; op 0 30 70000 70001 thread=1
	for ((k = 0; k < $1; k++)); do op 0 2 70001 70001 group=3 seq=$k; done
	work 0 0 70001 80001; op 0 31 80001 131000 thread=1
	work 1 0 71000 131000
}
for many in 0 300; do
	created $many | trace created
	expect 0 waits --json created
	jq -e '(.delays[0] | [.thread, .region] == [1, "a"] and .seconds.lo > 49.9e-6 and .seconds.hi < 50.1e-6) and
		(.uncaused_s | .lo > 0.98e-6 and .hi < 1.02e-6)' out >is || fail "created, and $many: $(jq -c '[.delays, .uncaused_s]' out)"
done
# Who begins later than whoever waits for it, and was not created by that one, was late for that, too: by 30,000 ns, and for b.
{ ranks; work 0 0 0 50000; op 0 4 50000 90000 group=1 peer=1 tag=1 bytes=8; work 1 1 30000 90000; op 1 13 90000 90000 group=1 peer=0 tag=1 bytes=8; } |
	trace began
expect 0 waits --json began
delay 1 0 b 26667 26667 0
jq -e '.uncaused_s | .lo > 13.3e-6 and .hi < 13.4e-6' out >is || fail "began: $(jq -c .uncaused_s out)"

# Of a team thread 2 is longest; then thread 0 is alone in b. Who had left the team before waits for the next one until
# thread 0 comes, who has waited for thread 2: only what came behind that is b's.
member() { # thread leaves
	op "$1" 18 900 1100 group=3 seq=0 role=0
	work "$1" 0 1100 "$2"
	op "$1" 19 "$2" "$2" group=3 seq=0 role=0
	op "$1" 18 "$2" 34000 group=3 seq=1 role=0
	op "$1" 19 35000 35000 group=3 seq=1 role=0
}
{
	cat sites
	echo "site 18 kind=fork name=omp%20parallel file=x.c line=18"
	echo "site 19 kind=join name=omp%20parallel file=x.c line=18"
	for t in 0 1 2; do echo "thread $t clock=0 rank=0 number=$t"; done
	echo "group 3 threads=0,1,2"
	op 0 18 1000 1100 group=3 seq=0 role=1
	work 0 0 1100 11000
	op 0 19 11000 32000 group=3 seq=0 role=1
	work 0 1 32000 34000
	op 0 18 34000 34000 group=3 seq=1 role=1
	op 0 19 35010 35020 group=3 seq=1 role=1
	member 1 11000
	member 2 31000
} | trace team
expect 0 waits --json team
delay 0 0 b 4000 4000 0
delay 0 0 "omp parallel" 2000 2000 0
delay 0 2 a 40000 20000 20000

# Before whoever opens the next team the last of this one was waited for: random teams, of which awk knows who was that.
awk -v seed="${SEED:-1}" -v rounds=40 -v n=4 '
	function visit(t, site, from, to, what) { print "e " t, from, site " enter " what; print "e " t, to, site " exit"; return to }
	function note(t, kind, other, ns) { if (ns > 0) truth[t " " kind " " other] += ns }
	BEGIN {
		srand(seed)
		print "# teams"
		for (t = 0; t < n; t++) at[t] = 1000 + 100 * t
		begin = 2000
		for (r = 0; r < rounds; r++) {
			last = 0
			for (t = 0; t < n; t++) {
				if (t && r) note(t, "imbalance", before, joined - at[t])
				if (t) note(t, "task_starvation", 0, begin - (at[t] > joined ? at[t] : joined))
				left[t] = visit(t, 18, t ? at[t] : begin, begin + 40 + 10 * t, "group=3 seq=" r " role=" (t == 0))
				left[t] = visit(t, 0, left[t], left[t] + 1000 + 100 * int(1000 * rand()) + 20 * t, "")
				if (left[t] > left[last]) last = t
			}
			if (last) note(0, "imbalance", last, left[last] - left[0])
			for (t = 1; t < n; t++) at[t] = visit(t, 19, left[t], left[t], "group=3 seq=" r " role=0")
			begin = visit(0, 19, left[0], left[last] + 200, "group=3 seq=" r " role=1")
			begin = visit(0, 1, begin, begin + 100 * int(100 * rand()), "")
			before = last
			joined = left[last]
		}
		for (t = 1; t < n; t++) note(t, "imbalance", before, joined - at[t])
		for (key in truth) print key, truth[key] >"truth"
	}' >events
{
	cat sites
	echo "site 18 kind=fork name=omp%20parallel file=x.c line=18"
	echo "site 19 kind=join name=omp%20parallel file=x.c line=18"
	for t in 0 1 2 3; do echo "thread $t clock=0 rank=0 number=$t"; done
	echo "group 3 threads=0,1,2,3"
	sed 1d events
} | trace teams
expect 0 waits --json teams
jq -r '[.waits[] | select(.seconds.hi > 2e-7)] | group_by([.thread, .kind, .caused_by.thread])[] |
	[.[0].thread, .[0].kind, .[0].caused_by.thread, (map(.seconds.lo) | add) * 1e9, (map(.seconds.hi) | add) * 1e9] | join(" ")' out >found
awk 'NR == FNR { lo[$1 " " $2 " " $3] = $4; hi[$1 " " $2 " " $3] = $5; next }
	{ key = $1 " " $2 " " $3; if (!(key in lo) || $4 < lo[key] || $4 > hi[key] || hi[key] - lo[key] > 500) { print; bad = 1 } delete lo[key] }
	END { for (key in lo) { print "not " key; bad = 1 } exit bad }' found truth >wrong || fail "teams, SEED=${SEED:-1}: $(cat wrong found)"

# ---- What is not known -----------------------------------------------------------------------------------

two_clocks() { # which know each other to 200 ns
	cat sites
	cat <<-END
	clock 1 host=h1 ghz=1
	link 0 500 1 700
	link 1 700 0 900
	link 0 150500 1 150700
	link 1 150700 0 150900
	END
}

# Which of two came last is not known as well as that rank 2 waited.
{
	two_clocks
	cat <<-END
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	thread 2 clock=0 rank=2
	group 1 threads=0,1,2
	END
	work 0 0 1000 101000
	op 0 2 101000 102000 group=1 seq=0
	work 1 1 1200 101200
	op 1 2 101200 102200 group=1 seq=0
	op 2 2 41000 102000 group=1 seq=0
} | trace close
expect 0 waits --json close
jq -e '[.places[] | select(.rank == 2)] | length == 1 and .[0].seconds.lo > 59e-6 and .[0].seconds.hi < 61e-6' out >is ||
	fail "close: $(jq -c .places out)"
jq -e '[.waits[] | select(.rank == 2)] | length == 2 and all(.seconds.lo == 0 and .seconds.hi > 59e-6 and .verdict == "undecided")' out >is ||
	fail "close: $(jq -c .waits out)"
jq -e '[.waits[] | select(.rank != 2)] | length == 2 and all(.seconds.lo == 0 and .verdict == "undecided")' out >is ||
	fail "close: one of two waited for the other: $(jq -c .waits out)"
jq -e '[.delays[] | select(.region | . == "a" or . == "b") | [.rank, .region, .verdict]] | sort == [[0, "a", "undecided"], [1, "b", "undecided"]]' out >is &&
	jq -e '.delays | all(.seconds.lo == 0) and any(.seconds.hi > 59e-6)' out >is || fail "close: delays: $(jq -c .delays out)"
expect 0 waits close
says out undecided

# What is known to come of one thread, but not how much of it, has one verdict on the page and in the data.
{
	cat sites
	echo 'clock 1 host=h1 ghz=1'
	for at in 1000 201000; do echo "link 0 $at 1 $((at + 9000))"; echo "link 1 $at 0 $((at + 9000))"; done
	echo 'thread 0 clock=0 rank=0'; echo 'thread 1 clock=1 rank=1'; echo 'group 1 threads=0,1'
	work 0 0 11000 31000; op 0 2 31000 102000 group=1 seq=0
	work 1 1 11000 101000; op 1 2 101000 102000 group=1 seq=0
	work 0 0 103000 125000; op 0 2 125000 141000 group=1 seq=1
	work 1 1 103000 140000; op 1 2 140000 141000 group=1 seq=1
} | trace loose
for command in waits path; do
	expect 0 $command --json loose
	jq '[(.waits // [], .delays // [], .segments // [])[].verdict | select(. == "undecided")] | length' out >data
	expect 0 $command -v loose
	grep -cE '(^| )undecided$' out >page
	[ "$(cat data)" -gt 0 ] && cmp -s data page || fail "$command: undecided in data $(cat data), on the page $(cat page): $(cat out)"
done

# All who wait for the same two hear of both: what was found for the first of them is remembered for the others.
{
	two_clocks
	cat <<-END
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	END
	for t in $(seq 2 39); do echo "thread $t clock=0 rank=$t"; done
	echo "group 1 threads=$(seq -s, 0 39)"
	work 0 0 1000 101000
	op 0 2 101000 102000 group=1 seq=0
	work 1 1 1200 101200
	op 1 2 101200 102200 group=1 seq=0
	for t in $(seq 2 39); do op "$t" 2 41000 102000 group=1 seq=0; done
	for t in $(seq 0 39); do op "$t" 2 103000 104000 group=1 seq=1; done
} | trace many
expect 0 waits --json many
jq -e '[.waits[] | select(.rank >= 2 and .seconds.hi > 2e-6)] | length == 76 and all(.seconds.lo == 0 and .seconds.hi > 59e-6) and
	([.[].caused_by.rank] | group_by(.) | map([.[0], length])) == [[0, 38], [1, 38]]' out >is || fail "many: $(jq -c .waits out)"
jq -e '[.places[] | select(.rank >= 2)] | length == 38 and all(.seconds.lo > 59e-6 and .seconds.hi < 62e-6)' out >is ||
	fail "many: $(jq -c .places out)"

# Each has sent only behind its receive: one of them cannot have waited for that, and which is not known.
{
	cat <<-END
	dprof-text 1
	clock 0 host=h0 ghz=1
	clock 1 host=h1 ghz=1
	site 1 kind=send name=MPI_Ssend file=x.c line=2
	site 2 kind=recv name=MPI_Recv file=x.c line=3
	thread 0 clock=0 rank=0
	thread 1 clock=1 rank=1
	link 0 500 1 900
	link 1 900 0 1600000
	END
	for me in 0 1; do
		op $me 2 11000 12000 peer=$((1 - me)) tag=$me bytes=8
		op $me 1 12000 13000 peer=$((1 - me)) tag=$((1 - me)) bytes=8
	done
} | sed 's/^site 1/site 0 kind=region name=a file=x.c line=1\n&/' | trace circle
expect 0 waits --json circle
jq -e '.unknown == 1' out >is || fail "circle: $(jq -c '[.unknown, .waits]' out)"
expect 0 check circle
says out 'cause is later'

# Nobody sent what was received.
{ ranks; work 0 0 1000 101000; work 1 1 1000 41000; op 1 4 41000 103000 group=1 peer=0 tag=1 bytes=8; } | trace unsent
expect 0 waits --json unsent
jq -e '.waits == [] and .unknown == 1' out >is || fail "unsent: $(cat out)"
expect 0 waits unsent
says out 'not known what ended'

# A thread that left what it had not entered switched stacks, so that it may be anywhere: so may be where it waited.
{
	cat sites
	for t in 0 1 2; do echo "thread $t clock=0 rank=$t"; done
	echo "group 1 threads=0,1,2"
	echo "group 2 threads=0,1"
	op 0 2 1000 5000 group=1 seq=0
	op 0 2 5100 9000 group=2 seq=0
	echo "e 1 4000 0 exit"
	op 1 2 4100 5000 group=1 seq=0
	op 1 2 8000 9000 group=2 seq=0
	echo "e 2 9100 2 exit group=1 seq=0"
} | trace switched
expect 1 waits --json switched
jq -e '.unknown > 0 and ([.delays[] | [.rank, .region]] == [[1, "not known"]])' out >is || fail "switched: $(cat out)"

# What began with a call of its own and is waited for in another is of the kind of what began.
begun() { # site keys0 keys1
	ranks
	op 0 "$1" 1000 1100 group=1 seq=0 id=3 ${2:+"$2"}
	op 0 12 1200 51200 id=3
	work 1 0 1000 51000
	op 1 "$1" 51000 51100 group=1 seq=0 id=3 ${3:+"$3"}
	op 1 12 51110 51210 id=3
}
begun 50 | trace ibarrier
begun 51 role=0 role=1 | trace ibcast
for kind in ibarrier:wait_at_barrier ibcast:late_broadcast; do
	expect 0 waits --json "${kind%:*}"
	jq -e --arg kind "${kind#*:}" '.waits[0] | .kind == $kind and .site == "x.c:13" and .caused_by.rank == 1 and .caused_by.region == "a"' out >is ||
		fail "$kind: $(jq -c .waits out)"
done

# Two who exchange messages in one call each wait for what the other one sends, though it receives in that call, too.
{ ranks; for r in 0 1; do
	((r == 0)) || work 1 0 1000 51000
	at=$((1000 + 50000 * r)) other="group=1 peer=$((1 - r)) tag=1 bytes=4"
	echo "e $r $at 54 enter"; echo "e $r $((at + 10)) 55 enter $other id=1"; echo "e $r $((at + 20)) 56 enter $other id=2"
	echo "e $r 51090 57 point id=2 bytes=4"; echo "e $r 51091 58 point id=1"
	echo "e $r 51092 56 exit"; echo "e $r 51093 55 exit"; echo "e $r 51100 54 exit"
done; } | trace exchange
expect 0 waits --json exchange
jq -e '.places | length == 1 and (.[0] | .kind == "late_sender" and .rank == 0 and .seconds.lo > 49e-6)' out >is ||
	fail "exchange: $(jq -c .places out)"

# A pipe is full of what another thread gave: it may be its reader who was waited for, though two give.
{ cat sites; printf 'thread %d clock=0 rank=0 number=%d\n' 0 0 1 1 2 2
	op 0 52 1000 1100 channel=7 offset=0 bytes=65536 role=1
	op 1 52 2000 61000 peer=72057594037927934 channel=7 offset=65536 bytes=1 role=1
	work 2 0 1000 60000; op 2 53 60000 60500 channel=7 offset=0 bytes=65536; } | trace full
expect 0 waits --json full
jq -e '[.waits[] | select(.seconds.hi > 1e-6)] | length == 1 and (.[0] | .kind == "late_receiver" and .thread == 1 and .caused_by.thread == 2 and .caused_by.region == "a" and
	.seconds.lo == 0 and .seconds.hi >= 58e-6)' out >is || fail "full: $(jq -c .waits out)"
expect 0 profile --json full
jq -e '.operations[] | select(.name == "write" and .threads == 2) | .waiting_s.hi >= 58e-6 and .transfer_s.lo < 1.2e-6' out >is ||
	fail "full: $(jq -c .operations out)"

# Whoever comes last to what is made of futexes, and wakes the others, has not waited, whatever it did before without a
# record: what csp says is work waits for nobody, is on the path, and would make the run shorter. Recorded were:
agrees() { # trace; % of the run that thread 1 is on the path; % that is saved without its work
	trace agrees <"$fixtures/futexes/$1.txt"
	for command in csp waits path coz; do
		expect 0 $command --json --quiet agrees $([ $command != coz ] || echo --all-work --thread 1 --reduce 100)
		cp out agrees.$command
	done
	jq -n -e --argjson least "[$2, $3]" --slurpfile csp agrees.csp --slurpfile waits agrees.waits --slurpfile path agrees.path --slurpfile coz agrees.coz '
		def waits($of): [$waits[0].waits[] | select(.thread == $of) | .seconds.lo] | add // 0;
		def path($of): [$path[0].segments[] | select(.thread == $of) | .share_percent];
		([$csp[0].threads[] | select(waits(.thread) > .waiting_s.hi + 1e-4 or
			(path(.thread) | map(.hi) | add // 0) < .straggler_percent.lo - 0.5)] == []) and
		(path(1) | map(.lo) | add) >= $least[0] and $coz[0].expected_percent.lo >= $least[1]' >is ||
		fail "$1: $(jq -c '[.threads[] | {thread, waiting_s, straggler_percent}]' agrees.csp) $(jq -c '[.waits[] | {thread, seconds}]' agrees.waits
			jq -c '[.segments[] | {thread, share_percent}]' agrees.path) $(jq -c .expected_percent agrees.coz)"
}
agrees barrier-auto 99 65
agrees barrier-computes 99 41
agrees barrier-marked 99 65
agrees futex 99 65
agrees atomic 74 74
# Nor has it before what it does once for all who have come.
{ threads; printf 'site %d kind=wait name=%s file=x.c line=%d\n' 60 futex 60 61 futex%20wake 61
	for at in 1000000 1300000; do
		work 0 1 $at $((at + 100000)); op 0 60 $((at + 140000)) $((at + 250010)) id=5
		work 1 0 $at $((at + 10000)); work 1 1 $((at + 200000)) $((at + 250000)); echo "e 1 $((at + 250000)) 61 point id=5"
	done; } | trace once
expect 0 waits --json once
jq -e '[.waits[] | select(.seconds.lo > 1e-6) | .thread] == [0]' out >is || fail "once: $(jq -c .waits out)"

# Nor does a wait begin before the first yield that is recorded, though the process has marks and none of them is there.
{ threads; printf 'site %d kind=wait name=%s\n' 60 futex 61 futex%20wake 62 sched_yield
	work 0 0 1000000 1010000; op 0 62 1100000 1108000 until=0 peer=72057594037927934; op 0 60 1108100 1200010 id=5
	work 1 1 1000000 1200000; echo 'e 1 1200000 61 point id=5'; } | trace yields
expect 0 waits --json yields
jq -e '[.waits[] | select(.seconds.hi > 1e-6)] | length == 1 and (.[0] | .thread == 0 and .name == "futex" and
	.seconds.lo > 91e-6 and .seconds.hi > 99.9e-6 and .seconds.hi < 100.1e-6)' out >is || fail "yields: $(jq -c .waits out)"

# Rank 0 waits 42 us for rank 1, which waited most of that for rank 2: it was in that receive; or in b, if that was most.
chain() { # ns at which rank 2 has sent
	ranks; echo 'thread 2 clock=0 rank=2'
	work 2 0 1000 "$1"; op 2 13 "$1" $(($1 + 10)) peer=1 tag=1 bytes=8
	op 1 4 1000 $(($1 + 20)) peer=2 tag=1 bytes=8; work 1 1 $(($1 + 20)) 43000; op 1 13 43000 43010 peer=0 tag=2 bytes=8
	op 0 4 1000 43020 peer=1 tag=2 bytes=8
}
for case in '41000 MPI_Recv x.c:5' '11000 b x.c:2'; do
	read -r sent name site <<<"$case"
	chain "$sent" | trace chain
	expect 0 waits --json chain
	jq -e --arg name "$name" --arg site "$site" '.waits[] | select(.rank == 0) | .seconds.lo > 41.9e-6 and
		(.caused_by | .rank == 1 and .region == $name and .site == $site)' out >is || fail "chain: $(jq -c .waits out)"
done

# Who left what it had not entered may be anywhere: it is known for how long others wait for it, but not for what, nor to what
# that goes back, of what it took before. Such an exit of a call of MPI is damage, which csp says as well as check.
anywhere() { # site of the exit
	ranks | sed 's/rank=1/rank=1 jumps=0 ran_on=2 ended=60000/'
	work 0 0 1000 2000; op 0 3 2100 2200 group=1 peer=1 tag=0 bytes=4; op 0 2 2300 51100 group=1 seq=0
	echo "e 1 1000 $1 exit"; op 1 4 2000 2200 group=1 peer=0 tag=0 bytes=4; work 1 1 3000 51000; op 1 2 51000 51100 group=1 seq=0
}
anywhere 1 | trace anywhere
for command in report waits diagnose check csp; do expect 0 "$command" anywhere; done
expect 0 waits --json anywhere
jq -e '(.waits[] | .kind == "wait_at_barrier" and .seconds.lo > 48e-6 and .caused_by.region == "not known") and
	([.delays[] | .region == "not known" and .seconds.lo == 0 and .verdict == "undecided"] | all) and
	.uncaused_s.lo == 0' out >is || fail "anywhere: $(cat out)"
expect 0 waits anywhere
says out 'that one was in what is not known'
says_not out 'outside'
anywhere 13 | trace damaged-call
for command in report check csp; do expect 1 "$command" damaged-call; done
expect 1 query damaged-call 'count(barrier) >= 1'
says err "'MPI_Send' (x.c:14) is left without having been entered, 1 time"

# In a sentence, what is outside of regions is code.
{ ranks; op 0 2 1000 51000 group=1 seq=0; echo 'e 1 1000 3 enter group=1 peer=1 tag=9 bytes=4 id=9'; echo 'e 1 1010 3 exit'; op 1 2 50000 51000 group=1 seq=0; } |
	trace outside
expect 0 waits outside
says out 'that one was in code outside'

# Nobody waits at all.
{ cat sites; echo 'thread 0 clock=0 rank=0'; work 0 0 1000 101000; } | trace alone
expect 0 waits alone
says out 'No thread waited for another.'
# Whether a wait that a time limit has ended was for another one is not known.
{ threads; echo 'site 62 kind=wait name=pthread_cond_wait file=x.c line=3'; op 0 62 1000 51000 until=1700000000000000000; work 1 1 1000 61000; } | trace limit
expect 0 waits limit
says out 'It is not known that a thread waited for another.'
says out '1 wait that a time limit or a signal ended is in no table'
expect 0 waits --json limit
jq -e '.expired == 1 and .unknown == 0' out >is || fail "limit: $(head -c 2000 out)"
"$analyze" dump barrier | sed '/^group/a without barrier' | trace without
expect 0 waits without
says out 'Who waited for whom is not known'
expect 0 waits --json without
jq -e '.unknown | startswith("Who waited for whom is not known")' out >is || fail "without: $(cat out)"
expect 2 waits barrier --region a
exit $failed

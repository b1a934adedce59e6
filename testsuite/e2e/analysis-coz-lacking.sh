#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coz says what a trace lacks, and proves nothing of it: events, records, regions that were left out, and other jobs.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

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
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What coz expects and proves of teams of OpenMP: barriers, loops, tasks, who cancels one, and how they end.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

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
# One that was made last is run first, as it has priority: with half of a thread 0 takes another one behind it.
{
	head_of 2
	echo "group 3 threads=0,1"
	echo "site 16 kind=fork name=omp%20task file=x.c line=17"
	echo "site 17 kind=region name=task file=x.c line=18 auto=1"
	op 0 9 1000000 1000000 group=3 seq=0 role=1
	op 1 9 1000000 1000000 group=3 seq=0 role=0
	echo "e 0 1000000 16 point task=11 id=1"
	echo "e 0 1000010 16 point task=12 id=1"
	echo "e 0 1000020 16 point task=13 id=1 role=1"
	run_task 0 0 1000030 1800030 13
	run_task 1 1 1000030 1500030 11
	run_task 1 1 1500030 2000030 12
	op 0 10 1800030 2000030 group=3 seq=1
	op 1 10 2000030 2000030 group=3 seq=1
} | trace priority
buys priority a 50 99997
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
echo "as expected"

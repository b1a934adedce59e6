#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who comes to a std::barrier, which says where it is and how many come, has waited for all who were there together. Nobody counts
# the visits: rounds are found by who comes before anybody has left, and are certain where only so many threads come to a barrier.
. testsuite/fixtures/analysis/setup.sh
. "$fixtures/coz.sh"

head_of_meeting() { # threads
	head_of "$1"
	echo "site 16 kind=barrier name=std::barrier::arrive_and_wait file=x.c line=17"
	echo "site 17 kind=barrier name=std::barrier::arrive_and_drop file= line=0"
	echo "site 18 kind=barrier name=std::barrier%20completion%20function file= line=0"
}
work_and_meet() { # thread region begin comes leaves keys...
	op "$1" "$2" "$3" "$4"
	op "$1" 16 "$4" "$5" "${@:6}"
}

# Threads 0 and 1 work for 400,000 and 300,000, then for 100,000 and 500,000.
twice() { # first round's id and tag, second's
	head_of_meeting 2
	work_and_meet 0 0 1000000 1400000 1400000 $1
	work_and_meet 1 1 1000000 1300000 1400000 $1
	work_and_meet 0 0 1400000 1500000 1900000 $2
	work_and_meet 1 1 1400000 1900000 1900000 $2
}
twice "id=5 tag=2" "id=5 tag=2" | trace twice
proves twice a 100 111111 111111
proves twice b 100 444444 444444
expect 0 waits --json twice
says out wait_at_barrier
twice "id=5 tag=2" "id=6 tag=2" | trace other
proves other b 100 444444 444444
# An odd number of threads of which one does not come, of which there is no record: nothing is known.
twice "id=5 tag=3" "id=5 tag=3" | trace missing
status=0 may_buy missing a 100 0
may_buy missing a 100 111111
expect 0 coz missing
says out "participants"

# The third one of which there is a record comes when the others have left.
{
	head_of_meeting 3
	work_and_meet 0 0 1000000 1400000 1400000 id=5 tag=3
	work_and_meet 1 1 1000000 1300000 1400000 id=5 tag=3
	work_and_meet 2 1 1000000 1600000 1700000 id=5 tag=3
} | trace behind
expect 0 coz behind
says out "lacks participants: 3 times"
# Two are made at one address, one after the other: to each come two threads, which are three.
again() {
	head_of_meeting 3
	echo "site 19 kind=barrier name=std::barrier::barrier file= line=0"
	echo "e 0 1000000 19 point id=5 tag=2 role=1"
	work_and_meet 0 0 1000010 1400000 1400000 id=5 tag=2
	echo "e 0 1400000 19 point id=5 tag=2 role=1"
	op 0 39 1400000 1400000 thread=2
	work_and_meet 0 0 1400000 1500000 1900000 id=5 tag=2
	work_and_meet 1 1 1000010 1300000 1400000 id=5 tag=2
	work_and_meet 2 1 1400000 1900000 1900000 id=5 tag=2
}
again | trace again
proves again b 100 444444 444444
# Three come to one for two: without region b the third one comes with the second.
three() {
	head_of_meeting 3
	work_and_meet 0 0 1000000 1400000 1500000 id=5 tag=2
	work_and_meet 1 1 1000000 1500000 1500000 id=5 tag=2
	work_and_meet 2 1 1000000 1600000 2000000 id=5 tag=2
	work_and_meet 0 0 1500000 2000000 2000000 id=5 tag=2
}
three | trace three
may_buy three b 100 0
may_buy three b 100 100000

# Who drops out is waited for, and waits for nobody; from then on one less comes.
drops() {
	head_of_meeting 2
	op 0 0 1000000 1400000
	echo "e 0 1400000 17 point id=5 tag=2"
	op 0 0 1400000 1450000
	work_and_meet 1 1 1000000 1300000 1400000 id=5 tag=2
	work_and_meet 1 1 1400000 1900000 1900000 id=5 tag=1
}
drops | trace drops
proves drops a 100 111111 111111
proves drops b 100 500000 500000

# Thread 1 comes last, and runs the function of the barrier: in another run thread 0 does. 250,000 are in there.
completes() { # region of it
	head_of_meeting 2
	work_and_meet 0 0 1000000 1400000 1750000 id=5 tag=2
	work_and_meet 1 1 1000000 1500000 1500000 id=5 tag=2
	op 1 "$1" 1500000 1750000
	echo "e 1 1750000 18 point id=5"
	work_and_meet 0 0 1750000 1850000 2000000 id=5 tag=2
	work_and_meet 1 1 1750000 2000000 2000000 id=5 tag=2
	echo "e 1 2000000 18 point id=5"
}
completes 19 | sed '/^site 18/a site 19 kind=region name=once file=x.c line=20' | trace completes
proves completes once 100 250000 250000
proves completes b 100 250000 250000
proves completes a 100 0 0
# Thread 0 drops out last, and runs it.
{
	head_of_meeting 2
	echo "site 19 kind=region name=once file=x.c line=20"
	op 0 0 1000000 1500000
	echo "e 0 1500000 17 point id=5 tag=2"
	op 0 19 1500000 1750000
	echo "e 0 1750000 18 point id=5"
	work_and_meet 1 1 1000000 1400000 1750000 id=5 tag=2
	op 1 1 1750000 2000000
} | trace drops_last
may_buy drops_last once 100 250000
may_buy drops_last a 100 100000
# Who comes, works, and only then waits for that round: thread 0 works for 400,000 before, thread 1 for 100,000 and then 100,000 more.
comes_and_waits() { # thread region begin comes waits leaves
	op "$1" "$2" "$3" "$4"
	echo "e $1 $4 20 point id=5 tag=2 role=0"
	op "$1" 0 "$4" "$5"
	op "$1" 21 "$5" "$6" id=5
}
head_of_arrivals() {
	head_of_meeting 2
	echo "site 20 kind=barrier name=std::barrier::arrive file= line=0"
	echo "site 21 kind=barrier name=std::barrier::wait file=x.c line=21"
}
{
	head_of_arrivals
	comes_and_waits 0 1 1000000 1400000 1500000 1500000
	comes_and_waits 1 1 1000000 1100000 1200000 1400000
	comes_and_waits 0 1 1500000 1600000 1700000 1800000
	comes_and_waits 1 1 1400000 1800000 1900000 1900000
} | trace arrives
proves arrives b 100 777777 777777
expect 0 coz -v arrives
tr -s ' \n' ' ' <out >page
says page "waits for the round to which it came last"
expect 0 coz -v twice
says_not out "came last"
expect 0 waits --json arrives
says out wait_at_barrier
# Thread 1 waits for the round in which thread 0 comes only once more: it has come twice before it waits, or not at all.
{
	head_of_arrivals
	comes_and_waits 0 1 1000000 1400000 1500000 1500000
	comes_and_waits 1 1 1000000 1100000 1200000 1400000
	op 1 21 1400000 1500000 id=5
} | trace arrives_not
expect 0 coz arrives_not
says out "lacks participants: 1 time"
# Thread 1 never waits: in another run it may come twice before thread 0.
{
	head_of_arrivals
	comes_and_waits 0 0 1000000 1300000 1300000 1400000
	op 1 1 1000000 1400000
	echo "e 1 1400000 20 point id=5 tag=2 role=0"
	op 1 1 1400000 1900000
	echo "e 1 1900000 20 point id=5 tag=2 role=0"
	comes_and_waits 0 0 1400000 1500000 1500000 1900000
} | trace arrives_only
may_buy arrives_only b 100 555555
interval speedup_percent <out | awk '{ exit !($1 < 0) }' || fail "whose rounds these are is taken for certain: $(cat out)"
# Thread 1 comes last, waits, and runs the function; without b thread 0 does, which works on behind its arrival: the run would be
# longer by 250,000.
{
	head_of_arrivals
	comes_and_waits 0 0 1000000 1400000 1900000 1900000
	work_and_meet 1 1 1000000 1500000 1500000 id=5 tag=2
	op 1 19 1500000 1750000
	echo "e 1 1750000 18 point id=5"
} | sed '/^site 18/a site 19 kind=region name=once file=x.c line=20' | trace arrives_last
may_buy arrives_last b 100 -250000
interval speedup_percent <out | awk '{ exit !($2 < 30) }' || fail "who waits is later than who runs the function: $(cat out)"
expect 0 coz -v arrives_last
tr -s ' \n' ' ' <out >page
says page "may be decided by the order of std::barrier completion function"
# Nobody can come to one for none.
twice "id=5 tag=0" "id=5 tag=0" | trace nobody
may_buy nobody a 100 111111
expect 0 coz nobody
says out "participants"
expect 0 coz -v --thread 1 completes
tr -s ' \n' ' ' <out >page
says page "is run by the same thread in every run"
expect 0 coz -v completes
says_not out "the same thread in every"
expect 0 waits --json completes
awk '/"wait_at_barrier"/ { n++ } END { exit n == 0 }' out || fail "nobody waits at the barrier: $(cat out)"
exit "$failed"

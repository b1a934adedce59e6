#!/bin/bash
# SPDX-License-Identifier: MIT
#
# While a thread runs a task it is in the regions in which the task was made, and not in those around the wait in which it
# runs it. Queries, the profile and what-ifs all see it; tasks in tasks, and one that its maker runs at once.
. testsuite/fixtures/analysis/setup.sh

head() {
	cat <<-'END'
		dprof-text 1
		clock 0 host=h0 ghz=1
		thread 0 clock=0 rank=0 number=0
		thread 1 clock=0 rank=0 number=1
		group 1 threads=0,1
		site 0 kind=region name=all file=a.c line=1
		site 1 kind=region name=make file=a.c line=2
		site 2 kind=region name=join_ file=a.c line=3
		site 3 kind=region name=task file=a.c line=4
		site 4 kind=fork name=omp%20task file= line=0
		site 5 kind=join name=omp%20taskwait file= line=0
		site 6 kind=barrier name=omp%20barrier file=a.c line=5
		site 7 kind=region name=inner file=a.c line=6
		site 8 kind=region name=other file=a.c line=7
	END
}

run() { # thread operation's-site task from to keys...: out of the operation and back
	echo "e $1 $4 $2 exit task=$3"
	echo "e $1 $4 3 enter task=$3"
	cat # what it does there
	echo "e $1 $5 3 exit"
	echo "e $1 $5 $2 enter ${*:6}"
}

# Thread 0 makes tasks 11 and 12 in make, which it does at once (13), too, and waits in join_ for 11, that makes 14 in inner, and
# for 14; thread 1 runs 12 in a barrier, in its region other.
{
	head
	cat <<-'END'
		e 0 0 0 enter
		e 0 1000 1 enter id=5
		e 0 1100 4 point task=11 id=1
		e 0 1100 4 point task=12 id=1
		e 0 1200 4 point task=13 id=1
		e 0 1200 3 enter task=13
		e 0 1300 3 exit
		e 0 1400 1 exit
		e 0 2000 2 enter
		e 0 2000 5 enter id=1
	END
	run 0 5 11 2000 4000 id=1 <<-'END'
		e 0 2500 7 enter
		e 0 2600 4 point task=14 id=11
		e 0 3000 7 exit
		e 0 3000 5 enter id=11
		e 0 3000 5 exit task=14
		e 0 3000 3 enter task=14
		e 0 3600 3 exit
		e 0 3600 5 enter id=11
		e 0 3600 5 exit
	END
	cat <<-'END'
		e 0 6000 5 exit
		e 0 6500 2 exit
		e 0 9000 6 enter group=1 seq=0
		e 0 9000 6 exit
		e 0 10000 0 exit
		e 1 0 8 enter
		e 1 1500 6 enter group=1 seq=0
	END
	run 1 6 12 2000 6000 group=1 seq=0 </dev/null
	echo "e 1 9000 6 exit"
	echo "e 1 10000 8 exit"
} >t.txt
trace t <t.txt
expect 0 check t

lasts() { # ticks condition: for so long it holds, up to two ticks at each change
	expect 0 query --json t "$2"
	tr -d '"{},:' <out | awk -v truth="$1" '$1 == "holds_s" {
		fine = $3 * 1e9 <= truth + 0.01 && truth <= $5 * 1e9 + 0.01 && $5 - $3 < 30e-9 }
		END { exit !fine }' || fail "$2: expected $1 ticks, found: $(cat out)"
}
lasts 2500 "thread 0.0 in join_"
lasts $((400 + 2000)) "thread 0.0 in make"
lasts $((500 + 600)) "thread 0.0 in inner"
lasts 10000 "thread 0.0 in all"
lasts 4000 "thread 0.1 in make"
lasts 4000 "thread 0.1 in all"
lasts 6000 "thread 0.1 in other"
lasts 2000 "count(make) == 2"

expect 0 profile --json t
jq -e '[.flat[] | select(.name == "join_")] | .[0].visits == 1 and (.[0].inclusive_s | .lo <= 2501e-9 and .hi >= 2499e-9 and .hi < 2550e-9)' out >is ||
	fail "the profile of join_: $(jq -c '.flat[]' out)"
jq -e '[.flat[] | select(.name == "make")] | .[0].visits == 1' out >is || fail "the profile of make: $(jq -c '.flat[]' out)"

# Of which visit a task is that has a number, it says itself.
lasts 4400 "count(make[5]) != 0"

# The text form says what was recorded, and where it is lost where tasks were made nothing is said of them.
expect 0 dump t
[ "$(grep -c '^e ' out)" -eq "$(grep -c '^e ' t.txt)" ] || fail "dump: $(cat out)"
sed 's/^thread 0 /thread 0 lost=1 /; s/^e 0 1100 4 point task=12.*/lost 0 1/' t.txt | trace t
"$analyze" query --json t "thread 0.1 in make" >out 2>err
tr -d '"{},:' <out | awk '$1 == "holds_s" { fine = $3 == 0 && $5 * 1e9 >= 3900 } END { exit !fine }' ||
	fail "expected that nothing is known: $(cat out err)"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads of a team are in the regions that its opener was in when it opened the team, until they leave it: in
# teams of teams, and in tasks that they run on their way out. Queries, the table of regions, instances and
# what-ifs all see it; dump and pack do not.
. testsuite/fixtures/analysis/setup.sh

team() { # thread group seq role from to: an opener's fork and join, or another thread's
	if [ "$4" -eq 1 ]; then
		echo "e $1 $5 1 enter group=$2 seq=$3 role=1"
	else
		echo "e $1 $(($5 - 100)) 1 enter group=$2 seq=$3 role=0"
	fi
	echo "e $1 $(($5 + 10)) 1 exit"
}
leave() { # thread group seq role from to
	echo "e $1 $5 2 enter group=$2 seq=$3 role=$4"
	echo "e $1 $6 2 exit"
}

# Thread 0 opens a team of 0, 1, 2 in region solve [7]; thread 1, in region inner, opens one of 1 and 3 in there.
head() {
	cat <<-'END'
		dprof-text 1
		clock 0 host=h0 ghz=1
		thread 0 clock=0 rank=0 number=0
		thread 1 clock=0 rank=0 number=1
		thread 2 clock=0 rank=0 number=2
		thread 3 clock=0 rank=0 number=3
		group 1 threads=0,1,2
		group 2 threads=1,3
		site 0 kind=region name=solve file=a.c line=5
		site 1 kind=fork name=omp%20parallel file=a.c line=6
		site 2 kind=join name=omp%20parallel file=a.c line=6
		site 3 kind=region name=inner file=a.c line=7
		site 4 kind=region name=omp%20task file= line=0 auto=1
		site 5 kind=fork name=omp%20task file= line=0
	END
}
{
	head
	echo "e 0 1000 0 enter id=7"
	team 0 1 0 1 1100
	echo "e 0 1500 5 point task=5 id=1"
	leave 0 1 0 1 2000 6000
	echo "e 0 6100 0 exit"
	echo "e 0 7000 0 enter id=8"
	echo "e 0 7100 0 exit"
	team 1 1 0 0 1100
	echo "e 1 1200 3 enter"
	team 1 2 0 1 1300
	leave 1 2 0 1 1800 2300
	echo "e 1 2400 3 exit"
	leave 1 1 0 0 2500 2500
	team 2 1 0 0 1100
	leave 2 1 0 0 3000 3010
	echo "e 2 3020 2 enter group=1 seq=0 role=0"
	echo "e 2 4000 2 exit task=5"
	echo "e 2 4000 4 enter task=5"
	echo "e 2 5500 4 exit"
	echo "e 2 5500 2 enter group=1 seq=0 role=0"
	echo "e 2 5500 2 exit"
	team 3 2 0 0 1300
	leave 3 2 0 0 2200 2200
} >t.txt
trace t <t.txt

lasts() { # ticks condition: for so long it holds, up to a tick
	expect 0 query --json t "$2"
	tr -d '"{},:' <out | awk -v truth="$1" '$1 == "holds_s" {
		fine = $3 * 1e9 <= truth + 0.01 && truth <= $5 * 1e9 + 0.01 && $5 - $3 < 9e-9 }
		END { exit !fine }' || fail "$2: expected $1 ticks, found: $(cat out)"
}
lasts 5200 "thread 0.0 in solve"
lasts 1390 "thread 0.1 in solve"
lasts $((1890 + 1500)) "thread 0.2 in solve"
lasts 890 "thread 0.3 in solve"
lasts 1200 "thread 0.1 in inner"
lasts 890 "thread 0.3 in inner"
lasts 0 "thread 0.2 in inner"
lasts 890 "count(solve[7]) == 4"
lasts 100 "count(solve[8]) == 1"
lasts 890 "thread 0.3 working"

expect 0 report --json t
says out '"visits": 2' # of thread 0
expect 0 csp --json --instances solve t
tr -d ' \n' <out | grep -q '"visits":5' || fail "instance 7 has 5 visits: $(cat out)"

# The opener itself works for 20 % of the run in there.
expect 0 coz --json --region solve --reduce 100 t
tr -d '"{},:' <out | awk '$1 == "expected_percent" { fine = $3 > 30 } END { exit !fine }' ||
	fail "expected that others' work in solve is cut: $(cat out)"

# The text form says what was recorded, and with the opener's records lost it is not known what is inherited.
expect 0 dump t
[ "$(grep -c '^e ' out)" -eq "$(grep -c '^e ' t.txt)" ] || fail "dump: $(cat out)"
sed 's/^thread 0 /thread 0 lost=1 /; /^e 0 /s/^e 0 1000 0 enter id=7/lost 0 1/' t.txt | trace t
"$analyze" query --json t "thread 0.1 in solve" >out 2>err
tr -d '"{},:' <out | awk '$1 == "holds_s" { fine = $3 == 0 && $5 * 1e9 >= 1390 } END { exit !fine }' ||
	fail "expected that nothing is known: $(cat out err)"

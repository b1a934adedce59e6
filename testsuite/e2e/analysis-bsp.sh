#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose names what was slow in runs of supersteps whose true times are known
# (testsuite/fixtures/diagnose/bsp_run.py), with what it cost, and proves nothing that was not so. Other programs are no
# such runs, and it says why.
made=$PWD/testsuite/fixtures/diagnose
. testsuite/fixtures/analysis/setup.sh
export PYTHONDONTWRITEBYTECODE=1

judge() { # seed fault ranks
	python3 "$made/bsp_run.py" "$@" truth.json >run.txt || fail "$*: the run cannot be made"
	trace run <run.txt
	expect 0 diagnose --json run
	jq -nr --slurpfile truth truth.json --slurpfile said out -f "$made/bsp_judge.jq" >wrong || fail "$*: $(head -c 2000 out)"
	[ ! -s wrong ] || fail "SEED=$1: $2 with $3 ranks: $(cat wrong)"
}

first=${SEED:-1}
for ((seed = first; seed < first + 2 * ${TIMES:-1}; seed++)); do
	for fault in none late changing comm small init final mixed; do
		judge $seed $fault $((2 + 3 * (seed % 3)))
	done
	# With neighbours only: of what each gives them when it has worked and before it gets anything, and else.
	for fault in halo-changing halo-mixed shift-mixed pack-mixed pass-changing overlap-mixed; do
		judge $seed $fault $((2 + 3 * (seed % 3)))
	done
	judge $seed halo-late 3 # all messages are to the one in the middle, or from it
done
expect 0 diagnose --json run
jq -e '.why_model | startswith("3 processes exchange messages with their neighbours ")' out >is ||
	fail "neighbours: $(head -c 2000 out)"
expect 0 diagnose --json --model master-worker run
jq -e '.model == "master-worker"' out >is || fail "asked: $(head -c 2000 out)"
expect 0 diagnose run
fits_80 out || fail "wider than 80 columns"

# Neighbours answer when they have worked: each gives what it has made of what it got. That is no exchange.
neighbours() { # for how long
	local a b k at
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 1 kind=send name=MPI_Send file=x.c line=2" \
		"site 2 kind=recv name=MPI_Recv file=x.c line=3"
	for a in 0 1 2 3; do echo "thread $a clock=0 rank=$a"; done
	echo "group 1 threads=0,1,2,3"
	for k in {0..19}; do
		for a in 0 2; do
			at=$((10000 * k)) b=$((a + 1))
			work $a 0 $at $((at + 1000)); op $a 1 $((at + 1000)) $((at + 1100)) group=1 peer=$b tag=0 bytes=8
			op $a 2 $((at + 1100)) $((at + 1200 + $1)) group=1 peer=$b tag=1 bytes=8
			work $b 0 $at $((at + 1000)); op $b 2 $((at + 1000)) $((at + 1100)) group=1 peer=$a tag=0 bytes=8
			work $b 0 $((at + 1100)) $((at + 1100 + $1)); op $b 1 $((at + 1100 + $1)) $((at + 1200 + $1)) group=1 peer=$a tag=1 bytes=8
		done
	done
}
neighbours 0 | trace exchange
expect 0 diagnose --json exchange
jq -e '.model == "bsp" and .why_model == "4 processes exchange messages with their neighbours 20 times"' out >is ||
	fail "exchange: $(head -c 2000 out)"
neighbours 900 | trace answer
expect 0 diagnose --json answer
jq -e '.model == "generic"' out >is || fail "answer: $(head -c 2000 out)"

# In programs without marks what is between two operations is work, but few of it is between what one gets and what it sends.
# Three in a line, as often as given, are no master with two workers; nor are three, or four, of which each goes on with what
# the one before has made, to the last and back again.
line() { # ranks rounds [regions]
	local t k r at=0
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 1 kind=send name=MPI_Send file=x.c line=2" "site 2 kind=recv name=MPI_Recv file=x.c line=3"
	[ $# -lt 3 ] || echo "site 0 kind=region name=a file=x.c line=1"
	for ((t = 0; t < $1; t++)); do echo "thread $t clock=0 rank=$t"; done
	echo "group 1 threads=$(seq -s , 0 $(($1 - 1)))"
	for ((k = 0; k < $2; k++)); do
		"${@:4}"
		at=$((at + 10000))
	done
}
odd_even() {
	op 1 2 $((at + 1000)) $((at + 1200)) group=1 peer=0 tag=0 bytes=8; op 1 1 $((at + 1210)) $((at + 1300)) group=1 peer=0 tag=0 bytes=8
	op 1 2 $((at + 1310)) $((at + 1400)) group=1 peer=2 tag=0 bytes=8; op 1 1 $((at + 1410)) $((at + 1500)) group=1 peer=2 tag=0 bytes=8
	for r in 0 2; do
		op $r 1 $((at + 1100)) $((at + 1200)) group=1 peer=1 tag=0 bytes=8; op $r 2 $((at + 1210)) $((at + 1300 + r * 100)) group=1 peer=1 tag=0 bytes=8
	done
}
there_and_back() {
	for ((r = 0; r < ranks; r++)); do
		((r == 0)) || op $r 2 $((at + 1000 * r)) $((at + 1000 * r + 100)) group=1 peer=$((r - 1)) tag=0 bytes=8
		work $r 0 $((at + 1000 * r + 110)) $((at + 1000 * r + 900))
		((r == ranks - 1)) || op $r 1 $((at + 1000 * r + 910)) $((at + 1000 * r + 990)) group=1 peer=$((r + 1)) tag=0 bytes=8
	done
	for ((r = ranks - 1; r >= 0; r--)); do
		((r == ranks - 1)) || op $r 2 $((at + 1000 * (2 * ranks - r))) $((at + 1000 * (2 * ranks - r) + 100)) group=1 peer=$((r + 1)) tag=0 bytes=8
		work $r 0 $((at + 1000 * (2 * ranks - r) + 110)) $((at + 1000 * (2 * ranks - r) + 900))
		((r == 0)) || op $r 1 $((at + 1000 * (2 * ranks - r) + 910)) $((at + 1000 * (2 * ranks - r) + 990)) group=1 peer=$((r - 1)) tag=0 bytes=8
	done
}
for rounds in 5 20; do
	line 3 $rounds '' odd_even | sed '/^site 0/d' | trace unmarked
	expect 0 diagnose --json unmarked
	jq -e --argjson n $rounds '.model == (if $n < 7 then "generic" else "bsp" end)' out >is || fail "unmarked: $(head -c 2000 out)"
done
for ranks in 3 4; do
	line $ranks 20 marked there_and_back | trace sweep
	expect 0 diagnose --json sweep
	jq -e '.model == "generic"' out >is || fail "sweep of $ranks: $(head -c 2000 out)"
done

# Ranks come together, and so do the threads of each rank: supersteps are those of the ranks, whichever team is first, and of
# others nothing is said: rank 0's second thread works for longer than both.
teams() { # rank that is first
	local k r at
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 1 kind=region name=b file=x.c line=2" \
		"site 2 kind=barrier name=MPI_Barrier file=x.c line=3" "site 3 kind=barrier name=pthread_barrier_wait file=x.c line=4" \
		"thread 0 clock=0 rank=0" "thread 1 clock=0 rank=0 number=1" "thread 2 clock=0 rank=1" "thread 3 clock=0 rank=1 number=1" \
		"group 1 threads=0,2" "group 2 threads=0,1" "group 3 threads=2,3"
	for k in {0..9}; do
		at=$((30000 * k))
		for r in 0 1; do
			work $((2 * r)) 0 $at $((at + 4000 + 6000 * r)); op $((2 * r)) 2 $((at + 4000 + 6000 * r)) $((at + 10100)) group=1 seq=$k
			work $((2 * r + 1)) 0 $at $((at + 12000 - 6000 * r))
			op $((2 * r)) 3 $((at + 10100)) $((at + 20000 + (r != $1))) group=$((2 + r)) seq=$k
			op $((2 * r + 1)) 3 $((at + 12000 - 6000 * r)) $((at + 20000 + (r != $1))) group=$((2 + r)) seq=$k
		done
	done
}
for r in 0 1; do
	teams $r | trace teams
	expect 0 diagnose --json teams
	jq -e '.model == "bsp" and .why_model == "2 of 4 threads (rank 0 thread 0 and rank 1 thread 0) come together 10 times" and
		([.explanation[].text] | any(startswith("rank 1 thread 0 works most of these 2 threads, and works longest in 10 of 10 supersteps"))) and
		any(.findings[]; .cause == "imbalance" and .rank == 1 and (.what | startswith("others that come together with it have less")))
		' out >is || fail "teams: $(jq -c '[.why_model, .explanation, .findings]' out)"
done

# Of two pairs of ranks the one that comes together more often, or else the first, whichever does so first.
pairs() { # how often each of them, and how late the first pair
	local p k at
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 2 kind=barrier name=MPI_Barrier file=x.c line=3"
	for r in 0 1 2 3; do echo "thread $r clock=0 rank=$r"; done
	printf '%s\n' "group 1 threads=0,1" "group 2 threads=2,3"
	for p in 0 1; do
		for ((k = 0; k < (p ? $2 : $1); k++)); do
			at=$((10000 * k + (p ? 100 : $3)))
			for r in $((2 * p)) $((2 * p + 1)); do work $r 0 $at $((at + 5000)); op $r 2 $((at + 5000)) $((at + 5100)) group=$((1 + p)) seq=$k; done
		done
	done
}
while read -r first second later expected; do
	pairs $first $second $later | trace pairs
	expect 0 diagnose --json pairs
	jq -e --arg why "2 of 4 threads ($expected) come together 10 times" '.why_model == $why' out >is || fail "pairs: $(jq -c .why_model out)"
done <<-END
	10 10 200 rank 0 and rank 1
	10 10 0 rank 0 and rank 1
	3 10 0 rank 2 and rank 3
END

# They come together too seldom.
ranks() {
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" \
		"site 1 kind=barrier name=MPI_Barrier file=x.c line=2" "thread 0 clock=0 rank=0" "thread 1 clock=0 rank=1" "group 1 threads=0,1"
}
steps() { # how many, and the first of them so much longer
	local k at=0 end
	for ((k = 0; k < $1; k++)); do
		end=$((at + (k ? 1000 : $2)))
		work 0 0 $at $end; op 0 1 $end $((end + 100)) group=1 seq=$k; work 1 0 $at $end; op 1 1 $end $((end + 100)) group=1 seq=$k
		at=$((end + 100))
	done
}
{ ranks; steps 6 1000; } | trace seldom
expect 0 diagnose --json --model bsp seldom
jq -e '.model == "generic" and .why_model == "bsp does not fit: threads come together 6 times, and at least 7 are expected"' out >is ||
	fail "seldom: $(head -c 2000 out)"
{ ranks; steps 7 1000; } | trace enough
expect 0 diagnose --json enough
jq -e '.model == "bsp"' out >is || fail "enough: $(head -c 2000 out)"
# Nearly all is done in one.
{ ranks; steps 20 30000; } | trace lopsided
expect 0 diagnose --json --model bsp lopsided
jq -e '.model == "generic" and (.why_model | endswith("one superstep has more than half of all work"))' out >is ||
	fail "lopsided: $(head -c 2000 out)"

# In a program with marks, of the waiting for what one does outside of regions it is said who that is, and not that
# nothing costs anything.
{
	ranks
	for k in {0..19}; do
		at=$((2100 * k))
		work 0 0 $at $((at + 1000)); op 0 1 $((at + 1000)) $((at + 2100)) group=1 seq=$k
		work 1 0 $at $((at + 1000)); op 1 1 $((at + 2000)) $((at + 2100)) group=1 seq=$k
	done
} | trace outside
expect 0 diagnose --json outside
jq -e '.model == "bsp" and .findings[0].rank == 1 and (.findings[0].proved | not) and .findings[0].cost_percent.hi > 23 and
	([.explanation[].text] | any(contains("works most") or contains("only one thread")) | not)' out >is || fail "outside: $(head -c 2000 out)"

# What one does alone before MPI_Finalize costs what others wait there, though they need not come together in that.
{
	ranks
	echo "site 2 kind=region name=final file=x.c line=3"
	echo "site 3 kind=barrier name=MPI_Finalize file=x.c line=4"
	steps 20 1000
	work 1 2 22000 42000; op 0 3 22000 42100 group=1 seq=20; op 1 3 42000 42100 group=1 seq=20
} | trace finalize
expect 0 diagnose --json finalize
jq -e '.model == "bsp" and (.findings[0] | .cause == "sequential" and .proved and .rank == 1 and .cost_percent.lo > 23) and
	([.explanation[].text] | any(test("^Another 23[.0-9 ]+ .* waiting in other operations")))' out >is || fail "finalize: $(head -c 2000 out)"

# What others do meanwhile in no region may be work: rank 0 is longer in regions, alone in one of them, and is never last for that.
# Ranks 1 to 3 take turns in being last in a, which waiting goes back to.
turns() { # name of rank 0's other region
	local r k at=200 d
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 1 kind=region name=$1 file=x.c line=2" \
		"site 2 kind=barrier name=MPI_Barrier file=x.c line=3"
	for r in 0 1 2 3; do echo "thread $r clock=0 rank=$r"; done
	echo "group 1 threads=0,1,2,3"
	for k in {0..8}; do
		for r in 0 1 2 3; do
			d=$((at + 10000 + 4000 * (r == 1 + k % 3)))
			work $r 0 $at $d
			((r)) || work 0 1 $d $((d + 5000))
			op $r 2 $((d + 5000)) $((at + 19200)) group=1 seq=$k
		done
		at=$((at + 19200))
	done
}
for region in log a; do
	turns $region | trace elsewhere
	expect 0 diagnose --json elsewhere
	jq -e '.model == "bsp" and ([.findings[] | select(.cause != "changing") | .proved] | length > 0 and (any | not))' out >is ||
		fail "elsewhere, in $region: $(jq -c '[.model, .findings]' out)"
	[ $region = a ] || jq -e 'any(.findings[]; .cause == "changing" and .proved)' out >is || fail "elsewhere: $(jq -c .findings out)"
done
# So may what other operations take: rank 0 sends nothing and works on.
{
	turns b | sed 's/^site 2 .*/&\nsite 3 kind=send name=MPI_Send file=x.c line=4/' |
		awk '$1 == "e" && $2 > 0 && $4 == 0 && $5 == "exit" { print; print "e", $2, $3, 3, "enter group=1 peer=9 tag=1 bytes=8"; print "e", $2, $3 + 5000, 3, "exit"; next } 1'
} | trace sends
expect 0 diagnose --json sends
jq -e '.model == "bsp" and ([.findings[] | select(.rank == 0 and .region == "b") | .proved] == [false])' out >is ||
	fail "sends: $(jq -c '[.model, .findings]' out)"

# Others wait for what rank 0 does alone, or in another operation, and for nobody who has more of the work that all do,
# or now has more.
rounds() { # of each rank, of one superstep after the other, what it does: SITE:TIME,SITE:TIME/SITE:TIME...
	awk -v n=$# -v how="$*" '
		BEGIN {
			print "dprof-text 1\nclock 0 host=h0 ghz=1\nsite 0 kind=region name=a file=x.c line=1\nsite 1 kind=region name=output file=x.c line=2"
			print "site 2 kind=region name=input file=x.c line=3\nsite 3 kind=barrier name=MPI_Barrier file=x.c line=4"
			print "site 4 kind=send name=MPI_Send file=x.c line=5\nsite 5 kind=region name=c file=x.c line=6"
			for (t = 0; t < n; t++) { print "thread " t " clock=0 rank=" t; all = all (t ? "," : "") t }
			print "group 1 threads=" all
			split(how, of, " ")
			for (k = 0; k < 12; k++) {
				start = end + 0
				for (t = 0; t < n; t++) {
					m = split(of[t + 1], step, "/"); parts = split(step[k % m + 1], part, ","); at = start
					for (i = 1; i <= parts; i++) {
						split(part[i], x, ":")
						print "e", t, at, x[1], "enter", (x[1] == 4 ? "group=1 peer=9 tag=1 bytes=8" : "")
						print "e", t, at += 1000 * x[2], x[1], "exit"
					}
					come[t] = at
					end = at + 10 > end ? at + 10 : end
				}
				for (t = 0; t < n; t++) { print "e", t, come[t], 3, "enter group=1 seq=" k; print "e", t, end, 3, "exit" }
			}
		}'
}
verdict_of() { # cause, expression; ranks...
	rounds "${@:3}" | trace rounds
	expect 0 diagnose --json rounds
	jq -e --arg cause "$1" ".model == \"bsp\" and ([.findings[] | select(.cause == \$cause)] | $2)" out >is ||
		fail "$*: $(jq -c '[.model, .findings]' out)"
}
# What it does alone is instead of what they do meanwhile: it has more to do, and to do that while others work is no advice.
verdict_of imbalance 'map([.region, .proved, (.suggestion | contains("while others work"))]) | sort == [["a", false, false], ["output", true, false]]' 1:100 0:92 0:90 0:90
verdict_of sequential 'length == 0' 1:100 0:92 0:90 0:90
verdict_of sequential 'map(.proved) == [true]' 1:100,0:92 0:92 0:90 0:90
# Who works most is said of what they all do: rank 0 does more, alone.
verdict_of sequential 'map(.proved) == [true]' 0:100,1:120 0:100 0:102
jq -e '[.explanation[].text | select(test("works most|thread works"))] | length > 0 and all(contains(", but for what only one thread ever does"))' out >is ||
	fail "who works most: $(jq -c '[.explanation[].text]' out)"
verdict_of changing 'map(.proved) == [false]' 1:100 0:90/0:20 0:20/0:90
verdict_of imbalance 'map(.proved) == [false]' 0:100 0:40,4:62 0:45 0:45
verdict_of changing 'map(.proved) == [false]' 0:100/0:50 0:40,4:62/0:92 0:40,4:62/0:92
# Without these it is proved.
verdict_of imbalance 'map(.proved) == [true]' 0:100 0:92 0:90 0:90
verdict_of changing 'map(.proved) == [true]' 0:90/0:20 0:20/0:90
# Two do something alone at the same time: no more is surely waited for that than what goes back to it, 16 of each 20 of 220.
verdict_of sequential 'length == 1 and all(.cost_percent.lo < 8)' 1:80,0:10/1:80,0:30 2:80,0:30/2:80,0:10
# They take turns in a; in c they all work longest, as long.
verdict_of changing 'map([.region, .proved]) == [["a", true]]' 5:100,0:30/5:100/5:100 5:100/5:100,0:30/5:100 5:100/5:100/5:100,0:30
verdict_of changing 'map([.proved, .what]) == [[true, "now one works longer in a superstep, now another, mostly in a"]]' 5:100,0:10/5:100,0:50 5:100,0:50/5:100,0:10
# Rank 0 takes turns with others in being last in a, and is there for longer while they send, and nobody waits for it.
verdict_of imbalance 'map(.proved) == [false]' 0:50/0:10/0:10/0:80 0:10/0:50/0:10/0:10,4:70 0:10/0:10/0:50/0:10,4:70
# In every other superstep threads 1 to 3 do not come together late for their own work, but as each gets something from
# the one before. That is no work which is now one's and now another's, and nobody waits for thread 0.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 1 kind=barrier name=pthread_barrier_wait file=x.c line=2" \
		"site 2 kind=wait name=sem_wait file=x.c line=3" "site 3 kind=wait name=sem_post file=x.c line=4" "group 1 threads=0,1,2,3"
	for t in 0 1 2 3; do echo "thread $t clock=0 rank=0 number=$t"; done
	for k in {0..11}; do
		at=$((k * 200000)) from=0
		work 0 0 $at $((at + 100000))
		for t in 1 2 3; do
			((t == 1)) || op $t 2 $at $((at + from + 20)) id=$t
			work $t 0 $((at + from + (t > 1) * 20)) $((at + (t == 1 ? 40000 : t == 2 ? 70020 : 100300)))
			from=$((t == 1 ? 40000 : 70020))
			((t == 3)) || echo "e $t $((at + from)) 3 point id=$((t + 1))"
		done
		for t in 0 1 2 3; do
			op $t 1 $((at + (t == 0 ? 100000 : t == 1 ? 40000 : t == 2 ? 70020 : 100300))) $((at + 100310)) group=1 seq=$((2 * k))
			work $t 0 $((at + 100310)) $((at + 140310 + (t > 0) * 40000)); op $t 1 $((at + 140310 + (t > 0) * 40000)) $((at + 199000)) group=1 seq=$((2 * k + 1))
		done
	done
} | sed '/^group/{h;d}; /^thread 3/G' | trace line
expect 0 diagnose --json line
jq -e '.model == "bsp" and ([.findings[] | select(.cause | IN("changing", "imbalance")) | .proved] == [false, false])' out >is ||
	fail "line: $(jq -c '[.model, .findings]' out)"
# Each rank that comes together has a thread beside it, for which it waits in each superstep: that is none of them, and costs most.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "thread 0 clock=0 rank=0" "thread 1 clock=0 rank=0" "thread 2 clock=0 rank=1" "thread 3 clock=0 rank=1" \
		"group 1 threads=0,2" "site 0 kind=region name=step file=x.c line=1" "site 1 kind=barrier name=MPI_Barrier file=x.c line=2" \
		"site 2 kind=wait name=sem_wait file=x.c line=3" "site 3 kind=wait name=sem_post file=x.c line=4" "site 4 kind=region name=helper file=x.c line=5"
	for k in {0..9}; do for t in 0 2; do
		at=$((k * 1030 + 100))
		echo "e $t $at 3 point id=$((t + 7))"; work $t 0 $((at + 1)) $((at + 101)); op $t 2 $((at + 102)) $((at + 1010)) id=$((t + 8))
		op $t 1 $((at + 1011)) $((at + 1020)) group=1 seq=$k
		op $((t + 1)) 2 $((at - (k ? 20 : 60))) $((at + 2)) id=$((t + 7)); work $((t + 1)) 4 $((at + 3)) $((at + 1003)); echo "e $((t + 1)) $((at + 1004)) 3 point id=$((t + 8))"
	done; done
} | trace helped
expect 0 diagnose --json helped
jq -e '.model == "bsp" and (.findings[0] | .region == "helper" and .thread == 1 and .cost_percent.hi > 40 and .expected_percent.lo > 40)' out >is ||
	fail "helped: $(jq -c '[.model, .findings]' out)"

# Rank 1 has nothing to do until rank 0 has done something alone and sent that: others do not work meanwhile.
{
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 1 kind=region name=b file=x.c line=2" \
		"site 2 kind=barrier name=MPI_Barrier file=x.c line=3" "site 3 kind=send name=MPI_Send file=x.c line=4" \
		"site 4 kind=recv name=MPI_Recv file=x.c line=5" "thread 0 clock=0 rank=0" "thread 1 clock=0 rank=1" "group 1 threads=0,1"
	for k in {0..11}; do
		at=$((20000 * k)); sent=$((at + 12000))
		work 0 1 $at $sent; op 0 3 $sent $((sent + 100)) group=1 peer=1 tag=1 bytes=8; work 0 0 $((sent + 100)) $((sent + 200))
		op 1 4 $at $((sent + 200)) group=1 peer=0 tag=1 bytes=8; work 1 0 $((sent + 200)) $((sent + 7000))
		for r in 0 1; do op $r 2 $((sent + 200 + 6800 * r)) $((at + 20000)) group=1 seq=$k; done
	done
} | trace first
expect 0 diagnose --json --model bsp first
jq -e '.model == "bsp" and any(.findings[]; .region == "b" and .cause == "sequential")' out >is || fail "first: $(jq -c '[.model, .findings]' out)"

echo "as expected"

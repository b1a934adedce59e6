#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose names what was slow in runs of supersteps whose true times are known (testsuite/fixtures/diagnose/bsp_run.py), with what it
# cost, and proves nothing that was not so. Other programs are no such runs, and it says why.
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
	for fault in halo-changing halo-mixed shift-mixed pass-changing overlap-mixed; do
		judge $seed $fault $((2 + 3 * (seed % 3)))
	done
	judge $seed halo-late 3 # all messages are to the one in the middle, or from it
done
expect 0 diagnose --json run
jq -e '.why_model | startswith("3 processes exchange messages with their neighbours ")' out >is || fail "neighbours: $(head -c 2000 out)"
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
jq -e '.model == "bsp" and .why_model == "4 processes exchange messages with their neighbours 20 times"' out >is || fail "exchange: $(head -c 2000 out)"
neighbours 900 | trace answer
expect 0 diagnose --json answer
jq -e '.model == "generic"' out >is || fail "answer: $(head -c 2000 out)"

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

# In a program with marks, of the waiting for what one does outside of regions it is said who that is, and not that nothing costs anything.
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
	([.explanation[].text] | any(contains("works most")) | not)' out >is || fail "outside: $(head -c 2000 out)"

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
jq -e '.model == "bsp" and ([.findings[] | select(.cause == "sequential") | .proved] == [false])' out >is || fail "sends: $(jq -c '[.model, .findings]' out)"
echo "as expected"

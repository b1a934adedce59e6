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
done
expect 0 diagnose run
fits_80 out || fail "wider than 80 columns"
says out "threads come together"

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
echo "as expected"

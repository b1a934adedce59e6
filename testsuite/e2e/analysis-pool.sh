#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose names what was slow in runs of threads that take tasks out of a pool, whose true times are known (testsuite/fixtures/diagnose/pool_run.py):
# each worker's time is divided as it was, and nothing is proved that was not so.
made=$PWD/testsuite/fixtures/diagnose
. testsuite/fixtures/analysis/setup.sh
export PYTHONDONTWRITEBYTECODE=1

judge() { # seed fault workers
	python3 "$made/pool_run.py" "$@" truth.json >run.txt || fail "$*: the run cannot be made"
	trace run <run.txt
	expect 0 diagnose --json run
	jq -nr --slurpfile truth truth.json --slurpfile said out -f "$made/pool_judge.jq" >wrong || fail "$*: $(head -c 2000 out)"
	[ ! -s wrong ] || fail "SEED=$1: $2 with $3 workers: $(cat wrong)"
}

first=${SEED:-1}
for ((seed = first; seed < first + ${TIMES:-1}; seed++)); do
	for fault in none starve hold last init small; do
		judge $seed $fault $((2 + seed % 4))
	done
done
expect 0 diagnose run
fits_80 out || fail "wider than 80 columns"
says out "take"

# That tasks were late is not proved where workers wait for each other.
judge $first starve 3
jq -e '.findings[0] | .proved and .thread == 0 and .region == "make"' out >is || fail "starve: $(jq -c .findings out)"
awk '/^e 0 .* 5 point/ { next } { print } / 0 exit$/ && $2 == 1 { print "e", $2, $3, "5 point id=1" }' run.txt >own.txt
trace own <own.txt
expect 0 diagnose --json own
jq -e 'all(.findings[]; .cause != "starvation" or (.proved | not))' out >is || fail "own: $(jq -c .findings out)"

# Locks before whatever is done make no pool, nor do tasks that threads do in regions of their own; supersteps are no pool.
sed 's/^\(e 1 [0-9]*\) 0 /\1 3 /; s/^\(e 2 [0-9]*\) 0 /\1 1 /' run.txt | trace apart
expect 0 diagnose --json --model task-pool apart
jq -e '.model == "generic" and (.why_model | startswith("task-pool does not fit: no two threads take"))' out >is || fail "apart: $(head -c 2000 out)"
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# csp's intervals contain the truth of random traces on one to three hosts, and they are narrow. SEED=N runs
# the one trace N.
. testsuite/fixtures/analysis/setup.sh

# "KEY RANK LO HI" of each thread, and "span - LO HI", from csp's JSON; one value a line, as it is written.
values() {
	awk '
	function interval(key,	x) {
		split($0, x, /[{}:, ]+/)
		print key, (key == "span" ? "-" : rank), x[4], x[6]
	}
	/"ranks": \[/ { exit }
	/"span_s"/ { interval("span") }
	/"rank"/ { rank = $2 + 0 }
	/"straggler_percent"/ { interval("alone") }
	/"working_s"/ { interval("work") }
	/"waiting_s"/ { interval("wait") }'
}

# Truth, then intervals: each is inside; and a score is at most 2 points wide when work takes 500 us, since
# clocks here are known to within some us and each piece of work has some ten ends.
compare() {
	awk '
	NR == FNR { truth[$1 == "span" ? "span -" : $1 " " $2] = $NF; n++; next }
	{
		key = $1 " " $2; slack = truth[key] * 1e-11 + 1e-11 # of printing the truth
		seen++
		if (!(key in truth) || truth[key] + slack < $3 || $4 < truth[key] - slack) {
			print key ": " truth[key] " is not in [" $3 ", " $4 "]"; bad = 1
		}
		if ($1 == "alone" && truth["span -"] > 0.015 && $4 - $3 > 2) { print key ": " $3 " .. " $4 " is wide"; bad = 1 }
	}
	END { exit bad || seen != n }' truth intervals
}

for seed in ${SEED:-$(seq 30)}; do
	hosts=$((1 + seed % 3))
	awk -v seed="$seed" -v hosts=$hosts -v ranks=$((2 + seed % 4)) -v truth=truth \
		-f "$fixtures/world.awk" >text || fail "SEED=$seed: no trace"
	trace world <text
	for base in 0 $((hosts == 2)); do
		expect 0 csp --json --base "h$base" world
		values <out >intervals
		[ -s intervals ] && [ -s truth ] || fail "SEED=$seed: nothing to compare"
		# The rates of other clocks are not 1: what is compared in seconds needs the first base.
		[ "$base" -eq 0 ] || { grep alone intervals >i && mv i intervals && grep alone truth >t && mv t truth; }
		compare || fail "SEED=$seed: $hosts hosts, base h$base"
	done
done

# What counts as work and as waiting can be said; what is not there is refused, with what is near.
expect 0 csp --work inner --wait MPI_Recv world
expect 2 csp --work iner world
says err "such as inner; found \"iner\""
expect 2 csp --wait barrier world
says err 'found "barrier"'
expect 2 csp --work body --wait body world
says err "different names"

# Nobody waits for a thread that is alone, nor for the only rank.
{ two_regions; echo 'thread 0 clock=0 rank=0'; work 0 0 1000 9000; } | trace alone
expect 0 csp --json alone
jq -e '[.threads[0], .ranks[0]] | all(.[]; .straggler_percent == {"lo": 0, "hi": 0} and .alone_s == {"lo": 0, "hi": 0} and (has("site") | not))' out >is ||
	fail "alone: $(jq -c '.threads, .ranks' out)"
echo "as expected"

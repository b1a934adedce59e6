#!/bin/bash
# SPDX-License-Identifier: MIT
#
# csp --frames and --instances on a trace of which everything is known.
. testsuite/fixtures/analysis/setup.sh

trace run <"$fixtures/iterations.txt"

# 52 events; the longest frame is from the begin of the first bodies to their first end, 40 ms.
expect 0 csp --frames --instances iteration run
says out "52 events in"
says out "body (app.c:12)                ranks 0, 2-3"
says out "MPI_Recv (app.c:16)            rank 1"
says out "Instances of region iteration: 2"
says_not out "are counted"
# Visits are 100 ms each, with the barrier in them: compared are the 98 ms that rank 1, and then rank 3, do not wait.
says out "Most work is that of one visit: its length without what was waited in it."
expect 0 csp --instances iteration --json run
jq -e '[.by_instance.instances | sort_by(.instance)[] | .verdict, .slowest_rank, (.slowest_work_s | .lo > 0.0979 and .hi < 0.0981)] ==
	["proved", 1, true, "proved", 3, true]' out >held || fail "who is slowest in an iteration: $(jq -c .by_instance.instances out)"
expect 0 csp --frames --json run
tr -d ' \n' <out | grep -oE '"longest":\[\{"certain":true,"begin_s":\{[^}]*\},"length_s":\{"lo":[0-9.e-]*' >first
awk -F: '{ exit !($NF > 0.03999 && $NF <= 0.04) }' first || fail "the longest frame is not 40 ms: $(cat first)"
awk '/"histogram"/ { on = 1 } on && /"events"/ { n += $2 } /\]/ { on = 0 } END { exit n != 52 }' out ||
	fail "the histogram does not have all events: $(cat out)"

# Who is nowhere is in the list of places, though a thread before it recorded nothing at all.
trace silent <<'EOF'
dprof-text 1
clock 0 host=h0 ghz=1
thread 0 clock=0 rank=0
thread 1 clock=0 rank=1
site 0 kind=region name=a file=x.c line=1
e 1 1000 0 enter
e 1 2000 0 exit
e 1 5000 0 enter
e 1 6000 0 exit
EOF
expect 0 query --json silent 'count(a) == 0'
tr -d ' \n' <out | grep -qF '"places":[{"site":null,"threads":[{"rank":1,"thread":0}]}]' || fail "rank 1 has no place: $(cat out)"

# Without ids visits are counted; rank 1 has the longest body in iteration 0 and rank 3 in iteration 1.
expect 0 csp --instances body run
says out "are counted, in each thread from 0"
grep -E "^  0 .*rank 1, proved" out >/dev/null || fail "iteration 0: $(cat out)"
grep -E "^  1 .*rank 3, proved" out >/dev/null || fail "iteration 1: $(cat out)"
expect 0 csp --instances body --json run
says out '"slowest_rank": 3'

# The median of an odd number is one of them, and of an even number between two.
lengths() { # us...
	local us at=1000
	printf 'dprof-text 1\nclock 0 host=h0 ghz=1\nthread 0 clock=0 rank=0\nsite 0 kind=region name=a file=x.c line=1\n'
	for us in "$@"; do
		work 0 0 $at $((at + us * 1000))
		at=$((at + us * 1000 + 1000))
	done
}
for case in "4 9 1 4" "5.5 9 4 1 7"; do
	# shellcheck disable=SC2086
	lengths ${case#* } | trace lengths
	expect 0 csp --instances a --json lengths
	jq -e --argjson us "${case%% *}" '.by_instance.median_s | .lo <= $us * 1e-6 and .hi >= $us * 1e-6 and .hi - .lo < 1e-8' out >held ||
		fail "the median of ${case#* } us: $(jq -c .by_instance.median_s out)"
done

expect 2 csp --instances bodi run
says err "expected the name of a region of this trace, such as body"
expect 2 report --instances body run
says err "report has no option --instances"

# A visit that was never left is left out, and said.
sed '/^thread 3/s/$/ complete=0/; /^e 3 690000000/,$d' "$fixtures/iterations.txt" | trace killed
expect 1 csp --instances body killed
says out "Left out, as not left, or behind records that were lost: 1 visit."
says out "1 thread ended inside of something: rank 3 thread 0 in body"
echo "as expected"

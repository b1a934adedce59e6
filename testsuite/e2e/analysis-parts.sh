#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose of a program that is a master with workers in one phase or for some of its processes, and a pipeline,
# supersteps or divide and conquer in another one or for others: each is diagnosed as if it were alone.
. testsuite/fixtures/analysis/setup.sh

run() { python3 "$fixtures/../diagnose/parts_run.py" "$1"; }
for shape in star chain phases groups marked steps split stencil beside tree forest; do
	run $shape >$shape.txt
	trace $shape <$shape.txt
	expect 0 diagnose --json $shape
	mv out $shape.json
done

# Models and lengths; and what each part lost to its cause, in seconds, is what it lost alone: the run's time differs.
for shape in phases marked; do
	jq -e --slurpfile star star.json --slurpfile chain chain.json '
		def lost($of; $cause): (.findings[] | select(.cause == $cause) | .cost_percent) as $c |
			{lo: ($c.lo * $of.span_s.lo), hi: ($c.hi * $of.span_s.hi)};
		def meets($x; $y): $x.lo <= $y.hi and $y.lo <= $x.hi and $x.lo > 0.998 * $y.lo and $x.hi < 1.002 * $y.hi;
		. as $run | .model == "several" and (.why_model | contains("parts")) and
		([.parts[] | [.part, .model, .processes]] == [[1, "master-worker", "rank 0, rank 1, rank 2 and rank 3"],
			[2, "pipeline", "rank 0, rank 1, rank 2 and rank 3"]]) and
		(.parts[1] | .begins_s.lo > 0.0029 and .begins_s.hi < 0.003 and .length_s.lo > 0.0123 and .length_s.hi < 0.0124) and
		([.findings[] | [.cause, .part, .proved, .region, .rank]] == [["slow-stage", 2, true, "stage2", 2], ["setup", 1, true, "setup", 0]]) and
		meets(lost($run; "slow-stage"); ($chain[0] | lost($chain[0]; "slow-stage"))) and
		meets(lost($run; "setup"); ($star[0] | lost($star[0]; "setup")))' $shape.json >is ||
		fail "$shape: $(jq -c '[.model, .parts, .findings]' $shape.json)"
done
jq -e --slurpfile star star.json '[.metrics[] | select(.part == 1) | .seconds] as $x | [$star[0].metrics[].seconds] as $y | ($x | length) > 30 and
	([$x, $y] | transpose | all(.[0].lo <= .[1].hi + 1e-9 and .[1].lo <= .[0].hi + 1e-9))' phases.json >is ||
	fail "phases: metrics: $(jq -c '[.metrics[] | [.metric, .seconds.lo]]' phases.json)"
jq -e '.model == "several" and ([.parts[] | [.model, .processes]] == [["master-worker", "rank 0, rank 1, rank 2 and rank 3"],
	["pipeline", "rank 4, rank 5, rank 6 and rank 7"]]) and (.findings[0] | .cause == "slow-stage" and .part == 2 and .rank == 6) and
	all(.findings[]; .cause != "sequential" or (.proved | not))' groups.json >is || fail "groups: $(jq -c '[.model, .parts, .findings]' groups.json)"

# Supersteps, master and workers, divide and conquer: whatever one loses alone, in seconds, it loses in parts.
lost() { # shape alone cause...
	jq -e --slurpfile alone "$2.json" '
		def lost($of; $cause): ([$of.findings[] | select(.cause == $cause)] | first | .cost_percent) as $c |
			{lo: ($c.lo * $of.span_s.lo), hi: ($c.hi * $of.span_s.hi)};
		def threads($of): if $of.model == "several" then ([$of.parts[].processes] | if any(.[]; contains("rank 7")) then 8 else 4 end) else 4 end;
		. as $run | all($ARGS.positional[]; . as $cause | ($run | lost($run; $cause) | {lo: (.lo * threads($run)), hi: (.hi * threads($run))}) as $x |
			($alone[0] | lost($alone[0]; $cause) | {lo: (.lo * threads($alone[0])), hi: (.hi * threads($alone[0]))}) as $y |
			$x.lo <= $y.hi and $y.lo <= $x.hi and $x.lo > 0.97 * $y.lo and $x.hi < 1.03 * $y.hi)' "$1.json" --args "${@:3}" >is ||
		fail "$1: $(jq -c '[.model, .parts, .findings]' "$1.json"), $2: $(jq -c .findings "$2.json")"
}
parts_are() { # shape models, and [cause, part, region, rank] of what is proved
	jq -e --argjson models "$2" --argjson found "$3" '.model == "several" and ([.parts[].model] == $models) and
		([.findings[] | select(.proved) | [.cause, .part, .region, .rank]] == $found)' "$1.json" >is ||
		fail "$1: $(jq -c '[.model, .parts, .findings]' "$1.json")"
}
parts_are split '["bsp", "master-worker"]' '[["imbalance", 1, "step", 2], ["setup", 2, "setup", 0]]'
parts_are stencil '["bsp", "master-worker"]' '[["imbalance", 1, "step", 2], ["setup", 2, "setup", 0]]'
jq -e '.parts[0].why_model == "4 processes exchange messages with their neighbours 30 times, and all come together 1 time"' stencil.json >is ||
	fail "stencil: $(jq -c .parts stencil.json)"
lost stencil star setup
lost stencil steps imbalance
parts_are beside '["master-worker", "bsp"]' '[["imbalance", 2, "step", 6], ["setup", 1, "setup", 0]]'
parts_are forest '["bsp", "divide-conquer"]' '[["uneven", 2, "solve", 3], ["imbalance", 1, "step", 2], ["divide", 2, "divide", 0]]'
lost split steps imbalance
lost split star setup
lost beside steps imbalance
lost forest steps imbalance
lost forest tree uneven divide
jq -e 'any(.explanation[]; .part == 2 and (.text | test("all threads. time 21[.]. ±0[.]1 % is waiting")))' forest.json >is ||
	fail "forest: $(jq -c .explanation forest.json)"
jq -e '[.metrics[] | select(.part == 1 and (has("rank") | not)) | {(.metric): .seconds}] | add | .comp.lo <= 0.0135 and .comp.hi >= 0.0135 and
	.wait.lo <= 0.0045 and .wait.hi >= 0.0045 and .imbalance == .wait and .life.lo <= 0.01812 and .life.hi >= 0.01812 and .life.hi < 0.01813' split.json >is ||
	fail "split: $(jq -c '[.metrics[] | select(.part == 1)]' split.json)"
# Who waits for the other group, all together at the end, does not wait for who is late in a superstep.
awk '/^e [0-3] [0-9]+ 4 enter group=1 seq=1$/ { $3 += 3000000 } /^e [0-7] [0-9]+ 4 exit$/ && $3 > 4531500 { $3 = 5930000 } { print }' beside.txt | trace later
expect 0 diagnose --json later
mv out later.json
parts_are later '["master-worker", "bsp"]' '[["imbalance", 2, "step", 6], ["setup", 1, "setup", 0]]'
lost later steps imbalance
# A region that is in both parts is of none of them: who waited for it when is not told apart.
sed 's/^\(e [0-9]* [0-9]*\) 10 /\1 12 /' forest.txt | trace both
expect 0 diagnose --json both
jq -e '[.parts[].model] == ["bsp", "divide-conquer"] and all(.findings[]; .region != "solve" or .part == 1)' out >is ||
	fail "both: $(jq -c '[.parts, .findings]' out)"
expect 0 diagnose groups
tr -s ' \n' ' ' <out >page
says page 'before or behind all tasks, when rank 0 does not work itself'
says_not page 'in none'
for shape in phases groups; do
	expect 0 diagnose $shape
	says out 'Part 2 (pipeline): '
	says out 'part 1: '
	fits_80 out || fail "$shape: wider than 80 columns"
done

# Tasks are done by teams: of a worker's time its tasks are all that its team takes, not what the first thread does; and
# that the second one has more to do is found, too.
run teams | trace teams
expect 0 diagnose --json teams
jq -e '.model == "master-worker" and ([.metrics[] | select(.metric == "comp" and (has("thread") | not)) | .seconds] | length == 1 and
	(.[0] | .lo > 0.00599 and .lo <= 0.006 and .hi >= 0.006 and .hi < 0.00601)) and
	any(.findings[]; .cause == "imbalance" and .thread == 1 and .region == "task" and .cost_percent.lo > 15) and
	all(.findings[]; .cause != "bottleneck" or .cost_percent.hi < 5)' out >is || fail "teams: $(jq -c '[.model, [.metrics[] | select(has("thread") | not)], .findings]' out)"
expect 0 diagnose teams
fits_80 out || fail "teams: wider than 80 columns"

# One model that is asked for is that of parts that have it; what they leave out has the generic one.
expect 0 diagnose --json --model pipeline phases
jq -e '[.parts[].model] == [null, "pipeline"] and ([.findings[] | select(.part == 1)] == []) and any(.findings[]; .cause == "slow-stage" and .part == 2) and
	any(.findings[]; has("part") | not)' out >is || fail "asked: $(jq -c '[.parts, .findings]' out)"
expect 0 diagnose --json --model wavefront phases
jq -e '.model == "generic" and (.why_model | startswith("wavefront does not fit")) and (has("parts") | not)' out >is ||
	fail "wavefront: $(jq -c .why_model out)"

# A message that is under way while all come together is of no phase alone.
sed 's/^group 1/site 30 kind=send name=MPI_Isend file=x.c line=30\n&/; 0,/^e 0 .* 4 enter.*seq=0/s/^e 0 \([0-9]*\) 4 enter.*seq=0/e 0 \1 30 enter group=1 peer=3 tag=9 bytes=8 id=9\ne 0 \1 30 exit\n&/' phases.txt |
	awk '{ print } /^e 3 [0-9]+ 4 exit/ && !n++ { print "e 3 " $3 " 3 enter group=1 peer=0 tag=9 bytes=8"; print "e 3 " $3 " 3 exit" }' | trace crossed
expect 0 diagnose --json crossed
jq -e '.model == "generic" and (has("parts") | not)' out >is || fail "crossed: $(jq -c '[.model, .parts]' out)"

# The user's rules are applied once, to all of the run.
echo '(defrule mine (run (threads ?n)) => (printout t "threads " ?n crlf))' >mine.clp
expect 0 diagnose --rules mine.clp phases
[ "$(grep -c '^threads 4$' out)" = 1 ] || fail "my rule: $(cat out)"
exit $failed

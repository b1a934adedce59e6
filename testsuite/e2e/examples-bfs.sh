#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Breadth-first search: the levels are those that networkx finds, with any number of ranks; rank 0 generates the graph alone, so
# path names that, for as long as it takes, and all others wait for it.
. testsuite/fixtures/examples/setup.sh
oracle=$root/testsuite/fixtures/examples/bfs_oracle.py

check() { # graph options...
	mpi 1 "$B/examples/plain/bfs" "${@:2}" --output levels >line || fail "$*: status $?"
	/usr/bin/python3 "$oracle" "$1" levels >said 2>&1 || fail "$*: not what networkx finds: $(cat said)"
	for n in 2 3; do
		mpi $n "$B/examples/bfs" "${@:2}" --imbalance 1:50 --output levels2 >line2 || fail "$*: $n ranks: status $?"
		cmp levels levels2 || fail "$*: $n ranks: other levels"
		[ "$(sed 's/, [^,]* s$//' line)" = "$(sed 's/, [^,]* s$//' line2)" ] || fail "$*: $n ranks: $(cat line line2)"
	done
	cat said
}

# What it makes is what rmat writes, but for nodes without edges.
"$B/examples/rmat" --scale 10 --edges 4 --seed 3 >graph
check graph --scale 10 --edges 4 --seed 3
check graph --graph graph --root "$(sed -n '$s/\t.*//p' graph)"
zcat "$B/data/debian.txt.gz" | head -20000 >debian
check debian --graph debian
mpi 2 "$B/examples/bfs" --graph graph --root 4000000 >out 2>&1 && fail "an unknown root: $(cat out)"
grep -q 'there is no node 4000000' out || fail "an unknown root: $(cat out)"
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }

# 4,096 edges of 50 us: 205 ms on rank 0. What follows is twice as much work, on all three.
rm -rf dprof-*
mpi 3 "$B/examples/bfs" --scale 8 --pace 50000 >line 2>&1 || fail "$(cat line)"
trace=$(echo dprof-bfs.*)
"$analyze" check "$trace" >out || fail "check: $(cat out)"
"$analyze" report --json "$trace" >report.json || fail "report"
"$analyze" path --json "$trace" >path.json || fail "path"
jq -e --slurpfile report report.json '
	($report[0] | ([.regions[] | select(.region == "generate") | .time_s.lo] | add) / .span_s.hi * 100) as $share |
	[.segments[] | select(.name == "generate")] | map(.share_percent) |
	(map(.lo) | add) <= $share + 0.1 and (map(.hi) | add) >= $share - 0.1 and (map(.lo) | add) > $share / 2' path.json >is ||
	fail "generate on the path: $(jq -c .segments path.json); $(jq -c '[.span_s, .regions[0]]' report.json)"
jq -e '[.segments[] | select(.name == "generate")] | all(.rank == 0)' path.json >is || fail "generate: $(jq -c .segments path.json)"
"$analyze" waits --json "$trace" |
	jq -e '[.waits[] | select(.caused_by.region == "generate")] | map(.rank) | unique == [1, 2]' >is ||
	fail "ranks 1 and 2 wait for generate on rank 0: $("$analyze" waits "$trace")"
echo "as expected"

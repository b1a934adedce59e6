#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Master and workers, pipeline, wavefront, divide and conquer: their results do not depend on how the work is divided; and of each
# fault that a switch puts in, the region that has it has most of the critical path (examples/README.md), and diagnose names it.
. testsuite/fixtures/examples/setup.sh

result() { # ranks program options... -> what it says, without the time
	mpi "$1" "$B/examples/plain/$2" "${@:3}" >line 2>&1 || fail "$*: $(cat line)"
	sed 's/, [^,]* s$//' line
}

same() { # expected ranks program options...
	[ "$(result "${@:2}")" = "$1" ] || fail "${*:2}: expected $1, found $(cat line)"
}

# What one rank finds in one piece is the reference.
distance=$(result 1 wavefront --length 50 --blocks 1)
sorted=$(result 1 divide_conquer --numbers 1000)
[[ $sorted == *", sorted, "* ]] || fail "divide_conquer: $sorted"
for ranks in 2 3 5; do
	same "$distance" $ranks wavefront --length 50 --blocks $((ranks * 11))
	same "$sorted" $ranks divide_conquer --numbers 1000 --uneven $((ranks * 15))
done
same "40 rows, $(result 1 master_worker --rows 40 | sed 's/^40 rows, //')" 3 master_worker --rows 40 --chunk 7 --last 12

# Items 1 to 9 through three stages: each is multiplied, and has the number of the stage added.
sum=0
for item in 1 2 3 4 5 6 7 8 9; do
	for stage in 0 1 2; do item=$((item * 6364136223846793005 + stage)); done
	sum=$((sum + item))
done
same "9 items through 3 stages, sum $(printf '%016x' $sum)" 3 pipeline --items 9
same "9 items through 3 stages, sum $(printf '%016x' $sum)" 3 pipeline --items 9 --synchronous --imbalance 1:100
[ -z "${SAN:-}" ] || { echo "beside a sanitizer MPI's own threads are recorded, too"; exit 77; }

record() { # program options...
	ranks=${np:-4} recorded=("$@")
	rm -rf dprof-*
	mpi "$ranks" "$B/examples/$1" -q "${@:2}" >line 2>&1 || fail "$*: $(cat line)"
	trace=$(echo dprof-"$1".*)
}

# The region that has most of the critical path, and that it has as much of what regions have, in percent, at least: operations take
# long where a rank waits for a core.
decides() { # region rank percent program options...
	for _ in {1..6}; do # a rank that waits for a core decides, too
		record "${@:4}"
		"$analyze" path --json "$trace" >path.json 2>err || fail "$*: path: $(cat err)"
		jq -e --arg region "$1" --argjson rank "$2" --argjson least "$3" '
			[.segments[] | select(.name | test("^[a-z]+$")) | {rank, name, share: .share_percent.lo}] | (map(.share) | add) as $all |
			max_by(.share) | .name == $region and .share >= $least / 100 * $all and ($rank < 0 or .rank == $rank)' path.json >is && return
	done
	fail "$*: expected that most of the path is there, found $(jq -c '[.segments[] | [.rank, .name, .share_percent]]' path.json)"
}

# What diagnose proves of that trace, among other things: what ranks that wait for a core lose may cost more, and may
# have hidden it.
diagnosed() { # cause or causes with | between them, region or regions
	for _ in {1..6}; do
		"$analyze" diagnose --json "$trace" >diagnosis.json 2>err || fail "diagnose: $(cat err)"
		jq -e --arg causes "^($1)$" --arg regions "^($2)$" '
			any(.findings[]; .proved and (.cause | test($causes)) and (.region // "" | test($regions)))' diagnosis.json >is && return
		np=$ranks record "${recorded[@]}"
	done
	fail "${recorded[*]}: expected $1 in $2, found $(jq -c '[.findings[] | [.cause, .region, .cost_percent, .proved]]' diagnosis.json)"
}

# Somebody waited like that for a rank.
waited() { # kind rank
	for _ in {1..6}; do
		"$analyze" waits --json "$trace" >waits.json 2>err || fail "waits: $(cat err)"
		jq -e --arg kind "$1" --argjson rank "$2" '
			any(.waits[]; .kind == $kind and .caused_by.rank == $rank and .share_percent.lo > 5)' waits.json >is && return
		np=$ranks record "${recorded[@]}"
	done
	fail "$trace: expected $* to wait for, found $(jq -c '[.waits[] | [.kind, .caused_by, .share_percent]]' waits.json)"
}

tasks="--rows 24 --chunk 1 --pace 5000000"
# shellcheck disable=SC2086
{
	decides init 0 50 master_worker $tasks --init 150000
	diagnosed sequential init
	decides handle 0 70 master_worker $tasks --handle 5000
	diagnosed bottleneck handle
	decides setup 0 70 master_worker $tasks --setup 5000
	diagnosed 'setup|bottleneck' setup # as long as a task: workers wait as long for their own as for others'
	decides compute -1 70 master_worker $tasks --last 16
	diagnosed finalization compute
	decides compute 1 70 master_worker --rows 24 --chunk 8 --pace 5000000 --imbalance 1:100
	waited wait_at_barrier 1
	diagnosed finalization compute
	decides handle 0 30 master_worker --rows 600 --chunk 1 --pace 50000 --handle 20
	diagnosed 'granularity|bottleneck' handle # where the master waits for a core it keeps all waiting
	np=8 decides handle 0 70 master_worker $tasks --handle 1500
	diagnosed bottleneck handle
}
decides filter 2 60 pipeline --items 20 --pace 50000 --imbalance 2:200
diagnosed slow-stage filter
decides filter 2 60 pipeline --items 20 --pace 50000 --imbalance 2:400 --synchronous
diagnosed slow-stage filter
waited late_receiver 2 # those before it do, too
record pipeline --pace 500000 --items 4
diagnosed filling 'source|filter|sink'
decides init 0 40 pipeline --items 10 --pace 50000 --init 150000
diagnosed sequential init
decides cells 1 60 wavefront --length 120 --pace 40000 --imbalance 1:200
diagnosed imbalance cells
record wavefront --length 120 --pace 40000 --blocks 1
diagnosed filling cells
decides combine 0 25 divide_conquer --numbers 5000 --pace 40000 --combine 500
diagnosed combine combine
decides solve 0 40 divide_conquer --numbers 5000 --pace 40000 --uneven 80
diagnosed uneven solve
decides solve 3 40 divide_conquer --numbers 5000 --pace 40000 --imbalance 3:100
diagnosed uneven solve
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs of a master and workers that are made up, each with a fault that is known, on hosts with clocks of their own: diagnose names the
# fault first, proves no cause that costs less than it must, and what it says of each worker's time holds the truth and adds up.
# TIMES=7 tries 21 seeds; SEED=N begins with another.
. testsuite/fixtures/analysis/setup.sh
made=${fixtures%/analysis}/diagnose
export PYTHONDONTWRITEBYTECODE=1

judge() { # seed fault workers
	python3 "$made/master_worker_run.py" "$@" truth.json >run.txt || fail "$*: the run cannot be made"
	trace run <run.txt
	expect 0 diagnose --json run
	jq -nr --slurpfile truth truth.json --slurpfile said out -f "$made/master_worker_judge.jq" >wrong || fail "$*: $(head -c 2000 out)"
	[ ! -s wrong ] || fail "SEED=$1: $2 with $3 workers: $(cat wrong)"
}

first=${SEED:-1}
for ((seed = first; seed < first + 3 * ${TIMES:-1}; seed++)); do
	for fault in none init handle setup paper last many small; do
		judge $seed $fault $((3 + 2 * (seed % 3)))
	done
done
expect 0 diagnose run
fits_80 out || fail "wider than 80 columns"
says out "1. rank "
says out "suggestion: deal out several at once"
# The master does nothing but to answer at once. Messages take half as long as a task, and workers have work of their own behind their last
# one, rank 1 most: nobody waits for what the master does.
message() { # from to time: had 5 us later
	op "$1" 0 "$3" $(($3 + 20)) group=1 "peer=$2" tag=1 bytes=8
	op "$2" 1 "$4" $(($3 + 5000)) group=1 "peer=$1" tag=1 bytes=8
}
lazy() {
	local i rank at free=(0 0 0) asked=0
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for rank in 0 1 2; do echo "thread $rank clock=0 rank=$rank"; done
	printf '%s\n' "group 1 threads=0,1,2" "site 0 kind=send name=MPI_Send file=x.c line=1" \
		"site 1 kind=recv name=MPI_Recv file=x.c line=2" "site 2 kind=region name=task file=x.c line=3" \
		"site 3 kind=region name=end file=x.c line=4" "site 4 kind=barrier name=MPI_Barrier file=x.c line=5"
	for ((i = 0; i < 6; i++)); do
		for rank in 1 2; do
			at=$((free[rank] + 200 * rank * (i == 0)))
			message $rank 0 $at $asked
			message 0 $rank $((at + 5010)) $((at + 30))
			asked=$((at + 5050))
			((i == 5)) || work $rank 2 $((at + 10020)) $((at + 20000))
			free[rank]=$((at + (i == 5 ? 10020 : 20000)))
		done
	done
	work 1 3 ${free[1]} $((free[1] + 40000)); at=$((free[1] + 41000))
	op 1 4 $((free[1] + 40000)) $at group=1 seq=0; op 2 4 ${free[2]} $at group=1 seq=0; op 0 4 $asked $at group=1 seq=0
}
lazy | trace lazy
expect 0 diagnose --json lazy
jq -e '.model == "master-worker" and ([.findings[] | select(.cause | IN("sequential", "bottleneck")) | .proved] | . == [false, false])' out >is ||
	fail "lazy: expected nothing proved of the master, found $(jq -c '[.model, .findings]' out)"
expect 0 diagnose --model generic run
says out "(model: generic)"

# A model that does not fit: why, and the generic one.
talk() { # messages, each FROM-TO
	local i=0 from to rank
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for rank in 0 1 2 3 4; do echo "thread $rank clock=0 rank=$rank"; done
	printf '%s\n' "group 1 threads=0,1,2,3,4" "site 0 kind=send name=MPI_Send file=x.c line=1" \
		"site 1 kind=recv name=MPI_Recv file=x.c line=2" "site 2 kind=region name=a file=x.c line=3"
	for rank in 0 1 2 3 4; do work $rank 2 0 100; done
	for message; do
		i=$((i + 1000))
		IFS=- read -r from to <<<"$message"
		op "$from" 0 $i $((i + 100)) group=1 "peer=$to" tag=1 bytes=8
		op "$to" 1 $((i + 10)) $((i + 200)) group=1 "peer=$from" tag=1 bytes=8
	done
}

misfit() { # why messages...
	talk "${@:2}" | trace other
	expect 0 diagnose --json --model master-worker other
	jq -e --arg why "master-worker does not fit: $1" '.model == "generic" and .why_model == $why' out >is ||
		fail "expected \"$1\", found $(jq -c '[.model, .why_model]' out)"
	expect 0 diagnose --json other
	jq -e '.model != "master-worker"' out >is || fail "taken for a master and workers: $(jq -c '[.model, .why_model]' out)"
}
misfit "there are no messages"
misfit "messages are not all to one process, or from it" 0-1 1-2 2-0
misfit "rank 1 sends 1 messages and gets 1: it does not ask again and again; what does is divide-conquer" 0-1 0-2 1-0 2-0
# A chain, and two that only talk to each other: no shape has all of it.
talk 0-1 1-2 3-4 4-3 | trace other
expect 0 diagnose --json other
jq -e '.model == "generic"' out >is || fail "taken for a chain: $(jq -c '[.model, .why_model]' out)"

# ---- Roles -----------------------------------------------------------------------------------------
# Of two that only talk to each other marks say who is the master.
pair() { # role of rank 0's region, of rank 1's
	local i at=0
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "thread 0 clock=0 rank=0" "thread 1 clock=0 rank=1" "group 1 threads=0,1" \
		"site 0 kind=send name=MPI_Send file=x.c line=1" "site 1 kind=recv name=MPI_Recv file=x.c line=2" \
		"site 2 kind=region name=deal file=x.c line=3${1:+ role=$1}" "site 3 kind=region name=task file=x.c line=4${2:+ role=$2}"
	for ((i = 0; i < 6; i++)); do
		message 1 0 $at $((at + 10)); work 0 2 $((at + 5020)) $((at + 9000)); message 0 1 $((at + 9010)) $((at + 100))
		((i == 5)) || work 1 3 $((at + 14100)) $((at + 20000))
		at=$((at + 20100))
	done
}
model_is() { # roles expected-model expected-why
	pair $1 | trace pair
	expect 0 diagnose --json pair
	jq -e --arg model "$2" --arg why "$3" '.model == $model and ((.why_model // "") | contains($why))' out >is ||
		fail "roles $1: expected $2 and '$3', found $(jq -c '[.model, .why_model]' out)"
}
model_is "" generic ""
model_is "master worker" master-worker "ask rank 0 again and again"
model_is "worker worker" generic ""
model_is "master master" generic "roles are contradictory: rank 1 was in task (x.c:4), role(master), and so was rank 0"

# Three, of which the messages say that rank 0 is the master.
lazy | sed 's/name=task file=x.c line=3/& role=worker/' | trace lazy
expect 0 diagnose --json lazy
jq -e '.model == "master-worker"' out >is || fail "roles that agree: $(jq -c '[.model, .why_model]' out)"
lazy | sed 's/name=end file=x.c line=4/& role=master/' | trace lazy
expect 0 diagnose --json lazy
jq -e '.model == "generic" and (.why_model | contains("roles contradict the messages: rank 1 was in end (x.c:4), role(master)"))' out >is ||
	fail "roles that the messages contradict: $(jq -c '[.model, .why_model]' out)"

# What is marked is set-up, whatever else the master does in it: of handling requests, then, too.
share_of() { # metric
	jq "[.findings[] | select(.cause == \"$1\") | .cost_percent.hi] | add // 0" out
}
python3 "$made/master_worker_run.py" 3 handle 5 truth.json >run.txt && trace run <run.txt
expect 0 diagnose --json run
bottleneck=$(share_of bottleneck) setup=$(share_of setup)
sed '/^site .*name=handle/s/$/ role=setup/' run.txt | trace run
expect 0 diagnose --json run
is_true "$bottleneck > 10 && $setup < 2 && $(share_of bottleneck) < 0.75 * $bottleneck && $(share_of setup) > 0.25 * $bottleneck" ||
	fail "role(setup): bottleneck $bottleneck, setup $setup became $(share_of bottleneck), $(share_of setup)"

# A role goes through text and back.
"$analyze" dump run | grep -q '^site .*name=handle.* role=setup$' || fail "dump has no role"
"$analyze" dump run | "$analyze" pack - again && "$analyze" dump again | cmp -s - <("$analyze" dump run) || fail "a role is lost in the text form"
echo 'site 0 kind=region name=a role=servant' | sed '1i dprof-text 1' | "$analyze" pack - bad 2>&1 | grep -q 'expected role=master' ||
	fail "an unknown role is taken"
echo "as expected"

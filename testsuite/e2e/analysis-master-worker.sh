#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs of a master and workers that are made up, each with a fault that is known, on hosts with clocks of their own:
# diagnose names the fault first, proves no cause that costs less than it must, and what it says of each worker's time
# holds the truth and adds up. TIMES=7 tries 21 seeds; SEED=N begins with another.
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
says out "1. The least efficient worker is rank "
says out "suggestion: deal out several at once"
# The master does nothing but to answer at once. Messages take half as long as a task, and workers have work of their
# own behind their last one, rank 1 most: nobody waits for what the master does.
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
# Four rounds of tasks, after each of which the master works alone for 400 and then sends all what comes next: they wait for that,
# and no worker for the last of them, which is done 10 behind the other.
with_serial() {
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for rank in 0 1 2; do echo "thread $rank clock=0 rank=$rank"; done
	printf '%s\n' "group 1 threads=0,1,2" "site 0 kind=send name=MPI_Send file=x.c line=1" "site 1 kind=recv name=MPI_Recv file=x.c line=2" \
		"site 2 kind=region name=task file=x.c line=3" "site 3 kind=region name=serial file=x.c line=4" "site 4 kind=coll name=MPI_Bcast file=x.c line=5"
}
ask() { # worker when tag: it has what it gets 3 later
	op $1 0 $2 $(($2 + 1)) group=1 peer=0 tag=1 bytes=8
	op 0 1 $(($2 - 3)) $(($2 + 1)) group=1 "peer=$1" tag=1 bytes=8
	op 0 0 $(($2 + 2)) $(($2 + 3)) group=1 "peer=$1" "tag=$3" bytes=8
	op $1 1 $(($2 + 1)) $(($2 + 3)) group=1 peer=0 "tag=$3" bytes=8
}
rounds() {
	local at=0 round i rank
	with_serial
	for round in 0 1 2 3; do
		for i in 0 1 2 3; do
			for rank in 1 2; do
				ask $rank $((at + i * 100 + rank * 10)) $((i < 3 ? 2 : 3))
				((i == 3)) || work $rank 2 $((at + i * 100 + rank * 10 + 3)) $((at + i * 100 + rank * 10 + 98))
			done
		done
		work 0 3 $((at + 324)) $((at + 724))
		for rank in 0 1 2; do op $rank 4 $((at + (rank ? 304 + rank * 10 : 725))) $((at + 728)) group=1 "seq=$round" bytes=80 role=$((rank == 0)); done
		at=$((at + 730))
	done
}
rounds | trace rounds
expect 0 diagnose --json rounds
jq -e '.model == "master-worker" and (.findings[0] | .cause == "sequential" and .proved and .region == "serial" and .cost_percent.lo > 35) and
	([.findings[].cause] | index("finalization") | not)' out >is || fail "rounds: $(jq -c '[.model, .findings]' out)"

# Before all that it is elsewhere while workers work as well, and the last time it does little: what they wait for is the same.
{ rounds | awk '$1 == "e" { $3 += 200 } $1 == "e" && $2 == 0 && $4 == 3 && $5 == "exit" && $3 > 2700 { $3 -= 390 } 1'
	echo "site 5 kind=region name=before file=x.c line=6"; work 0 5 10 190; } |
	awk '$1 != "e" { print; next } { at[NR] = $0 } END { for (i in at) print at[i] | "sort -s -k2n -k3n -k5r"; }' | trace elsewhere
expect 0 diagnose --json elsewhere
jq -e '.model == "master-worker" and (.findings[0] | .cause == "sequential" and .proved and .region == "serial")' out >is ||
	fail "elsewhere: $(jq -c '[.model, .findings]' out)"
# It answers at once, and then writes down what it has answered, while others ask: that is the bottleneck, not the answers.
writes_down() {
	local i rank at=100 asked=(0 10 20)
	with_serial
	echo "site 5 kind=region name=answer file=x.c line=6"
	for ((i = 0; i < 16; i++)); do
		rank=$((1 + i % 2)); tag=$((i < 14 ? 2 : 3))
		op $rank 0 ${asked[rank]} $((asked[rank] + 1)) group=1 peer=0 tag=1 bytes=8; op 0 1 $at $((at + 1)) group=1 peer=$rank tag=1 bytes=8
		work 0 5 $((at + 2)) $((at + 6)); op 0 0 $((at + 7)) $((at + 8)) group=1 peer=$rank tag=$tag bytes=8
		op $rank 1 $((asked[rank] + 1)) $((at + 9)) group=1 peer=0 tag=$tag bytes=8; work $rank 2 $((at + 10)) $((at + (i < 14 ? 60 : 11)))
		work 0 3 $((at + 9)) $((at + 200)); asked[rank]=$((at + 61)); at=$((at + 201))
	done
}
writes_down | trace writes
expect 0 diagnose --json writes
jq -e '.model == "master-worker" and (.findings[0] | .cause == "bottleneck" and .proved and .region == "serial" and
	(.suggestion | startswith("make serial shorter")) and (.expected_percent.lo > 30))' out >is || fail "writes: $(jq -c '[.model, .findings]' out)"

# The master takes requests in a fixed order: rank 1, whose tasks are short, waits for rank 2's, as the master does. What it worked
# before that, when both had something to do, is nobody's waiting.
in_order() {
	local at=2007 i tag
	with_serial
	op 1 0 2001 2002 group=1 peer=0 tag=1 bytes=8; op 0 1 2000 2002 group=1 peer=1 tag=1 bytes=8
	op 0 0 2003 2004 group=1 peer=1 tag=2 bytes=8; op 1 1 2002 2004 group=1 peer=0 tag=2 bytes=8
	op 2 0 2003 2005 group=1 peer=0 tag=1 bytes=8; op 0 1 2004 2005 group=1 peer=2 tag=1 bytes=8
	op 0 0 2006 2007 group=1 peer=2 tag=2 bytes=8; op 2 1 2005 2007 group=1 peer=0 tag=2 bytes=8
	for i in {0..7}; do
		tag=$((i < 7 ? 2 : 3))
		work 0 3 $at $((at + 30)); work 1 2 $at $((at + 40)); work 2 2 $at $((at + 100))
		op 2 0 $((at + 100)) $((at + 101)) group=1 peer=0 tag=1 bytes=8; op 0 1 $((at + 30)) $((at + 101)) group=1 peer=2 tag=1 bytes=8
		op 0 0 $((at + 102)) $((at + 103)) group=1 peer=2 tag=$tag bytes=8; op 2 1 $((at + 101)) $((at + 103)) group=1 peer=0 tag=$tag bytes=8
		op 1 0 $((at + 40)) $((at + 41)) group=1 peer=0 tag=1 bytes=8; op 0 1 $((at + 103)) $((at + 104)) group=1 peer=1 tag=1 bytes=8
		op 0 0 $((at + 105)) $((at + 106)) group=1 peer=1 tag=$tag bytes=8; op 1 1 $((at + 41)) $((at + 106)) group=1 peer=0 tag=$tag bytes=8
		at=$((at + 106))
	done
}
in_order | trace inorder
expect 0 diagnose --json inorder
jq -e '.model == "master-worker" and any(.findings[]; .cause == "bottleneck" and (.proved | not) and .cost_percent.hi > 15)' out >is ||
	fail "in order: $(jq -c '[.model, .findings]' out)"
# If it works while rank 1 waits that is proved, less than all of it.
in_order | awk '$1 == "e" && $2 == 0 && $4 == 3 { $3 += $5 == "enter" ? 38 : 62 }
	$1 == "e" && $2 == 0 && $4 == 1 && $5 == "enter" && /peer=2/ && $3 > 2010 { $3 += 62 } 1' | trace busy
expect 0 diagnose --json busy
jq -e 'any(.findings[]; .cause == "bottleneck" and .proved and (.cost_percent | .lo > 10 and .lo < 16 and .hi > 15))' out >is ||
	fail "busy: $(jq -c '[.model, .findings]' out)"

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
# With what is not known: it may do tasks, too.
jq -e 'any(.findings[]; .cause == "bottleneck" and .proved and (.what | test("^workers wait while rank [0-9] is busy, mostly in handle$")))' out >is ||
	fail "a bottleneck: $(jq -c .findings out)"
sed '/^site .*name=handle/s/$/ role=setup/' run.txt | trace run
expect 0 diagnose --json run
is_true "$bottleneck > 10 && $setup < 2 && $(share_of bottleneck) < 0.75 * $bottleneck && $(share_of setup) > 0.25 * $bottleneck" ||
	fail "role(setup): bottleneck $bottleneck, setup $setup became $(share_of bottleneck), $(share_of setup)"

# What workers do in role(task), role(init) and role(final) is that, wherever it stands, also inside of other regions;
# what else they do between messages is not their tasks'. Each of two workers asks three times: for two tasks, of 10 us
# with 3 us of logging behind each, and in vain (it is told to try again, which takes 4 us); behind that it writes for 6
# us, and then comes to a barrier. It prepares for 5 us behind its first request.
marked() { # role of: prepare, compute, log
	local rank at i
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for rank in 0 1 2; do echo "thread $rank clock=0 rank=$rank"; done
	printf '%s\n' "group 1 threads=0,1,2" "site 0 kind=send name=MPI_Send file=x.c line=1" "site 1 kind=recv name=MPI_Recv file=x.c line=2" \
		"site 2 kind=region name=prepare file=x.c line=3${1:+ role=$1}" "site 3 kind=region name=compute file=x.c line=4${2:+ role=$2}" \
		"site 4 kind=region name=inner file=x.c line=5" "site 5 kind=region name=log file=x.c line=6${3:+ role=$3}" \
		"site 6 kind=region name=again file=x.c line=7" "site 7 kind=region name=write file=x.c line=8" \
		"site 8 kind=barrier name=MPI_Barrier file=x.c line=9"
	for i in 0 1 2; do
		for rank in 1 2; do
			at=$((i * 40000 + rank * 1000))
			op $rank 0 $at $((at + 20)) group=1 peer=0 tag=1 bytes=8
			op 0 1 $((at + 100)) $((at + 200)) group=1 peer=$rank tag=1 bytes=8
			((i > 0)) || work $rank 2 $((at + 20)) $((at + 5020))
			op 0 0 $((at + 200)) $((at + 300)) group=1 peer=$rank tag=1 bytes=8
			op $rank 1 $((at + 5020)) $((at + 5320)) group=1 peer=0 tag=1 bytes=8
			if ((i < 2)); then
				echo "e $rank $((at + 5320)) 3 enter"; work $rank 4 $((at + 6000)) $((at + 9000)); echo "e $rank $((at + 15320)) 3 exit"
				work $rank 5 $((at + 15320)) $((at + 18320))
			else
				work $rank 6 $((at + 5320)) $((at + 9320)); work $rank 7 $((at + 9320)) $((at + 15320))
			fi
		done
	done
	for rank in 0 1 2; do op $rank 8 $((rank ? rank * 1000 + 95320 : 82300)) 98000 group=1 seq=0; done
}
metrics() { # init, comp and final of rank 1, in ns; roles...
	marked "${@:2}" | trace marked
	expect 0 diagnose --json marked
	local found=$(jq -c '[.metrics[] | select(.rank == 1) | select(.metric | IN("init", "comp", "final")) | .seconds | (.lo + .hi) * 5e8 | round]' out)
	[ "$found" = "$1" ] || fail "roles ${*:2}: expected $1, found $found, $(jq -c '[.model, .why_model]' out)"
}
# Nobody says what is a task: that is all between two requests.
metrics "[0,69360,15680]"
metrics "[5000,69360,15680]" init
metrics "[0,20000,15680]" "" task
metrics "[5000,20000,21680]" init task final
# The third request brings a task, too: it is behind its last task when that is over, and then writes for 6 us and
# leaves the barrier.
marked "" task | sed 's/name=again file=x.c line=7/& role=task/' | trace last
expect 0 diagnose --json last
jq -e '[.metrics[] | select(.rank == 1 and .metric == "final") | .seconds | (.lo + .hi) * 5e8 | round] == [6680]' out >is ||
	fail "a last task: $(jq -c '[.metrics[] | select(.rank == 1)]' out)"
# Rank 2 has no marks, and says so; of two that talk to each other the one who does tasks is no master.
marked "" task | sed 's/^site 3 .*/&\nsite 9 kind=region name=other file=x.c line=10/; s/^e 2 \([0-9]*\) 3 /e 2 \1 9 /' |
	trace missing
expect 0 diagnose --json missing
jq -e '.model == "master-worker" and (.why_model | endswith("roles are missing: rank 2 was in no region with role(worker) or role(task), which others were in"))' \
	out >is || fail "rank 2 without a role: $(jq -c '[.model, .why_model]' out)"
pair "" task | trace pair
expect 0 diagnose --json pair
jq -e '.model == "master-worker" and (.why_model | contains("ask rank 0 again and again"))' out >is ||
	fail "pair: $(jq -c '[.model, .why_model]' out)"

# A role goes through text and back.
for role in task init final stage:1 stage:999; do
	sed "/^site .*name=handle/s/\$/ role=$role/" run.txt | trace roles
	"$analyze" dump roles | grep -q "^site .*name=handle.* role=$role\$" || fail "dump has no role=$role"
done
for role in stage stage: stage:0 stage:01 stage:1000 stage:1x task:1 tas; do
	echo "site 0 kind=region name=a role=$role" | sed '1i dprof-text 1' | "$analyze" pack - bad 2>&1 |
		grep -q 'expected role=master' ||
		fail "role=$role is taken"
done
sed '/^site .*name=handle/s/$/ role=setup/' run.txt | trace run
"$analyze" dump run | grep -q '^site .*name=handle.* role=setup$' || fail "dump has no role"
"$analyze" dump run | "$analyze" pack - again && "$analyze" dump again | cmp -s - <("$analyze" dump run) ||
	fail "a role is lost in the text form"
echo 'site 0 kind=region name=a role=servant' | sed '1i dprof-text 1' | "$analyze" pack - bad 2>&1 |
	grep -q 'expected role=master' ||
	fail "an unknown role is taken"

# The last worker is done 50 us behind the other, which waits at a barrier; the master answers it, and works alone for
# 100 us before it answers the last one, or not: then that is what the other waits for, and else it is the last worker.
ends() { # for how long the master works
	local rank at i
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "thread 0 clock=0 rank=0" "thread 1 clock=0 rank=1" "thread 2 clock=0 rank=2" \
		"group 1 threads=0,1,2" "site 0 kind=send name=MPI_Send file=x.c line=1" "site 1 kind=recv name=MPI_Recv file=x.c line=2" \
		"site 2 kind=region name=task file=x.c line=3" "site 3 kind=region name=analyse file=x.c line=4" "site 4 kind=barrier name=MPI_Barrier file=x.c line=5"
	for ((i = 0; i < 6; i++)); do
		for rank in 1 2; do
			at=$((i * 20000 + rank * 1000 + (i == 5 && rank == 2) * 50000))
			[ $i$rank = 52 ] && [ $1 != 0 ] && work 0 3 $((102000)) $((102000 + $1))
			op $rank 0 $at $((at + 20)) group=1 peer=0 tag=1 bytes=8
			((i < 5 || rank < 2 || $1 == 0)) || at=$((102100 + $1))
			op 0 1 $((i == 5 && rank == 2 ? ($1 ? at : 102000) : at + 100)) $((at + 200)) group=1 peer=$rank tag=1 bytes=8
			op 0 0 $((at + 200)) $((at + 300)) group=1 peer=$rank tag=1 bytes=8
			op $rank 1 $((i == 5 && rank == 2 ? 152020 : at + 20)) $((at + 320)) group=1 peer=0 tag=1 bytes=8
			((i == 5)) || work $rank 2 $((at + 320)) $((at + 19000 + (i == 4 && rank == 2) * 50000))
			((i < 5)) || op $rank 4 $((at + 320)) $(($1 ? 102600 + $1 : 152500)) group=1 seq=0
		done
	done
	op 0 4 $(($1 ? 102500 + $1 : 152400)) $(($1 ? 102600 + $1 : 152500)) group=1 seq=0
}
last_is() { # proved, where the master works behind all tasks; for how long
	ends "$3" | trace ends
	expect 0 diagnose --json ends
	jq -e --argjson proved "$1" --arg region "$2" '.model == "master-worker" and ([.findings[] | select(.cause == "finalization") | .proved] == [$proved]) and
		([.findings[] | select(.cause == "sequential") | .region] == (if $region == "" then [] else [$region] end))' out >is ||
		fail "the master works for $3 at the end: $(jq -c '[.model, .findings]' out)"
}
last_is true "" 0
last_is false analyse 100000
# Worker 1 is in load before its first task, and worker 2 in post behind its last one, for longer than its tasks take: that is said,
# but not that it is proved to cost anything.
busy_before_and_behind() {
	local i
	with_serial
	printf '%s\n' "site 6 kind=region name=load file=x.c line=6" "site 7 kind=region name=post file=x.c line=7"
	work 1 6 0 2000; work 2 6 0 100
	for ((i = 0; i < 18; i++)); do
		ask 2 $((110 + i * 100)) 2; work 2 2 $((110 + i * 100 + 3)) $((110 + i * 100 + 90))
	done
	for ((i = 0; i < 6; i++)); do
		ask 1 $((2010 + i * 100)) $((i < 5 ? 2 : 3)); ((i == 5)) || work 1 2 $((2013 + i * 100)) $((2100 + i * 100))
		ask 2 $((2050 + i * 100)) $((i < 5 ? 2 : 3)); ((i == 5)) || work 2 2 $((2053 + i * 100)) $((2140 + i * 100))
	done
	work 2 7 2560 4000
}
busy_before_and_behind | trace busy
expect 0 diagnose --json busy
jq -e '.model == "master-worker" and ([.findings[] | select(.cause == "init" or .cause == "final") | [.cause, .rank, .region, .proved]] | sort) ==
	[["final", 2, "post", false], ["init", 1, "load", false]]' out >is || fail "busy: $(jq -c '[.model, .findings]' out)"

echo "as expected"

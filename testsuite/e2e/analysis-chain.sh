#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs of pipelines and wavefronts that are made up, each with a fault that is known, on hosts with clocks of their own:
# diagnose takes them for what they are, names the fault first, and what it says of the stages' time holds the truth.
# And a tree of messages: divide and conquer, by phases. Stages that are equally slow, or marked. TIMES=7 tries 21
# seeds; SEED=N begins with another.
. testsuite/fixtures/analysis/setup.sh
made=${fixtures%/analysis}/diagnose
export PYTHONDONTWRITEBYTECODE=1

judge() { # seed fault stages [chain|tree]
	local kind=${4:-chain}
	python3 "$made/${kind}_run.py" "${@:1:3}" truth.json >run.txt || fail "$*: the run cannot be made"
	trace run <run.txt
	expect 0 diagnose --json run
	jq -nr --slurpfile truth truth.json --slurpfile said out -f "$made/${kind}_judge.jq" >wrong || fail "$*: $(head -c 2000 out)"
	[ ! -s wrong ] || fail "SEED=$1: $2 with $3 stages: $(cat wrong)"
}

first=${SEED:-1}
for ((seed = first; seed < first + 3 * ${TIMES:-1}; seed++)); do
	for fault in none slow few init; do
		judge $seed $fault $((3 + 2 * (seed % 3)))
		judge $seed $fault-wave $((3 + 2 * (seed % 3)))
	done
done
expect 0 diagnose run
fits_80 out || fail "wider than 80 columns"
says out "(model: wavefront)"
says out "1. Place 1 of the front, cells on rank 0, works for "

# Divide and conquer.
for ((seed = first; seed < first + 3 * ${TIMES:-1}; seed++)); do
	for fault in none init divide combine uneven; do
		judge $seed $fault $((3 + 2 * (seed % 3))) tree
	done
done

# Rank 0 makes, divides and combines for 10, 20 and 30 us; rank 1 solves for 80, others for 40 and 50 us.
message() { # from to time: sent, and had 1 us later
	op "$1" 0 "$3" $(($3 + 100)) group=1 "peer=$2" tag=1 bytes=8
}
three() {
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for rank in 0 1 2; do echo "thread $rank clock=0 rank=$rank"; done
	printf '%s\n' "group 1 threads=0,1,2" "site 0 kind=send name=MPI_Send file=x.c line=1" \
		"site 1 kind=recv name=MPI_Recv file=x.c line=2" "site 2 kind=region name=make file=x.c line=3" \
		"site 3 kind=region name=divide file=x.c line=4" "site 4 kind=region name=solve file=x.c line=5" \
		"site 5 kind=region name=combine file=x.c line=6" "site 6 kind=barrier name=MPI_Barrier file=x.c line=7" \
		"site 7 kind=region name=own file=x.c line=8"
}
{
	three
	work 0 2 0 10000; work 0 3 10000 20000; message 0 1 20000; work 0 3 20100 30100; message 0 2 30100
	work 0 4 30200 80200
	op 0 1 80200 101200 group=1 peer=1 tag=1 bytes=8; work 0 5 101200 116200
	op 0 1 116200 116400 group=1 peer=2 tag=1 bytes=8; work 0 5 116400 131400
	op 1 1 0 21000 group=1 peer=0 tag=1 bytes=8; work 1 4 21000 101000; message 1 0 101000
	op 2 1 0 31000 group=1 peer=0 tag=1 bytes=8; work 2 4 31000 71000; message 2 0 71000
	op 0 6 131400 132000 group=1 seq=0; op 1 6 101200 132000 group=1 seq=0; op 2 6 71200 132000 group=1 seq=0
} >tree.txt
trace tree <tree.txt
expect 0 diagnose --json tree
jq -e '.model == "divide-conquer" and
	([.explanation[] | select(.level == 1) | .text | sub(":.*"; "")] == ["divide (divide)", "make (divide)", "solve (solve)", "combine (combine)"]) and
	([.findings[] | {(.cause): [.region, .proved]}] | add | .combine == ["combine", true] and .divide == ["divide", true] and
	 .sequential == ["make", true] and .uneven[0] == "solve") and .findings[0].cause == "combine"' out >is || fail "tree: $(jq -c '[.model, .explanation, .findings]' out)"
expect 0 diagnose tree
fits_80 out || fail "tree: wider than 80 columns"

# Two that send each other something before either has got it solve no parts of a problem: neighbours, which work in different regions.
{
	two_regions
	printf 'thread %d clock=0 rank=%d\n' 0 0 1 1 2 2 3 3
	group_of 4
	near_to=(1 "0 2" "1 3" 2)
	for k in {0..7}; do for r in {0..3}; do
		at=$((1000 + 20000 * k)) near=${near_to[r]}
		for peer in $near; do op $r 3 $((at += 100)) $((at + 50)) group=1 peer=$peer tag=$k bytes=8; done
		for peer in $near; do op $r 4 $((at += 200)) $((at + 50)) group=1 peer=$peer tag=$k bytes=8; done
		work $r $((r == 2)) $((2000 + 20000 * k)) $((15000 + 20000 * k + 2000 * r))
	done; done
} | trace exchange
expect 0 diagnose --json exchange
jq -e '.model == "generic"' out >is || fail "exchange: $(jq -c '[.model, .why_model]' out)"
expect 0 diagnose --json --model divide-conquer exchange
jq -e '.why_model | startswith("divide-conquer does not fit: messages go along a tree, but")' out >is || fail "exchange: $(jq -c '[.model, .why_model]' out)"

# Rank 2 has something else to do meanwhile.
sed 's/^e 2 0 1 enter/e 2 0 7 enter\ne 2 9000 7 exit\ne 2 9000 1 enter/' tree.txt | trace meanwhile
expect 0 diagnose --json meanwhile
jq -e '.findings[] | select(.region == "make") | .cause == "sequential" and (.proved | not) and (.what | contains("before others have") | not)' \
	out >is || fail "meanwhile: $(jq -c .findings out)"
# Rank 0 waits for others, whose parts take as long.
{
	three; message 0 1 0; message 0 2 100
	for rank in 1 2; do
		op $rank 1 0 $((900 + 100 * rank)) group=1 peer=0 tag=1 bytes=8; work $rank 4 $((900 + 100 * rank)) $((80900 + 100 * rank))
		message $rank 0 $((80900 + 100 * rank)); op $rank 6 $((81000 + 100 * rank)) 85000 group=1 seq=0
		op 0 1 $((rank == 1 ? 200 : 82000)) $((81900 + 100 * rank)) group=1 peer=$rank tag=1 bytes=8
	done
	op 0 6 82100 85000 group=1 seq=0
} | trace equal
expect 0 diagnose --json equal
jq -e '.model == "divide-conquer" and (.findings[0] | .cause == "uneven" and (.proved | not))' out >is ||
	fail "equal: $(jq -c '[.model, .findings]' out)"

# ---- Stages that are equally slow, and stages that are marked ----------------------------------------

# Items go from one to the next.
line() { # processes items, and of each process "STAGE:NS", or "STAGE:NS:NS of sending" (stage 0: not marked)
	awk -v n="$1" -v items="$2" -v how="${*:3}" '
		function op(t, site, from, to, keys) { print "e", t, from + 0, site, "enter", keys; print "e", t, to + 0, site, "exit", keys }
		BEGIN {
			split(how, of, " ")
			print "dprof-text 1\nclock 0 host=h0 ghz=1"
			for (t = 0; t < n; t++) { print "thread " t " clock=0 rank=" t; all = all (t ? "," : "") t }
			print "group 1 threads=" all
			print "site 0 kind=send name=MPI_Send file=x.c line=1\nsite 1 kind=recv name=MPI_Recv file=x.c line=2"
			for (t = 0; t < n; t++) {
				split(of[t + 1], x, ":")
				takes[t] = x[2]; sends[t] = x[3] ? x[3] : 50
				print "site " 2 + t " kind=region name=s" t " file=x.c line=" 3 + t (x[1] > 0 ? " role=stage:" x[1] : "")
			}
			for (i = 0; i < items; i++)
				for (t = 0; t < n; t++) {
					if (t) {
						begun = at[t]
						at[t] = (there > begun ? there : begun) + 100
						op(t, 1, begun, at[t], "group=1 peer=" t - 1 " tag=1 bytes=8")
					}
					op(t, 2 + t, at[t], at[t] + takes[t]); at[t] += takes[t]
					if (t < n - 1) { op(t, 0, at[t], at[t] + sends[t], "group=1 peer=" t + 1 " tag=1 bytes=8"); there = at[t]; at[t] += sends[t] }
				}
		}'
}
verdicts() { # directory: of each cause, whether it is proved
	expect 0 diagnose --json "$1"
	jq -c '[.findings[] | {(.cause): .proved}] | add // {}' out
}
line 4 40 0:10000 0:10000 0:18000 0:10000 | trace slow
verdicts slow >found
jq -e '.["slow-stage"]' found >is || fail "one slow stage: $(cat found)"
jq -e '.findings[0] | .rank == 2 and (.what | startswith("rank 2 has more to do in s2 than other stages"))' out >is ||
	fail "one slow stage: $(jq -c .findings out)"
# Two are slow: both are named, and neither is the one.
line 4 40 0:10000 0:18000 0:18010 0:10000 | trace tie
verdicts tie >found
jq -e '.model == "pipeline" and (.findings[0] | .cause == "slow-stage" and .proved and .rank == null and
	(.what | startswith("rank 1 in s1 and rank 2 in s2 have as much to do, and more than other stages")))' out >is || fail "a tie: $(jq -c .findings out)"
expect 0 diagnose tie
fits_80 out || fail "tie: wider than 80 columns"
# What rank 1 does in no region may be work: whether it has less to do than rank 2 is not known.
line 4 40 0:10000 0:18000 0:10000 0:10000 | sed '/^e 1 [0-9]* 3 /d' | trace unmarked
verdicts unmarked >found
jq -e 'has("slow-stage") and (.["slow-stage"] | not)' found >is || fail "a stage without marks: $(jq -c .findings out)"
# Of two one sends for long, and the other has nothing to do then: neither is for sure what the longest loses.
line 3 100 0:10000 0:14000:5000 0:14000 | trace tie
verdicts tie >found
jq -e 'has("communication") and has("filling") and (.communication or .filling | not)' found >is ||
	fail "a tie: $(jq -c .findings out)"

# All wait in a barrier for one that is in no stage: that is what costs most, and no proof that the pipeline fills.
{ line 3 6 0:40000 0:20000 0:20000; printf '%s\n' "thread 3 clock=0 rank=3" "group 2 threads=0,1,2,3" \
	"site 7 kind=region name=output file=x.c line=8" "site 8 kind=barrier name=MPI_Barrier file=x.c line=9"; work 3 7 0 2000000
	for rank in 0 1 2 3; do op $rank 8 $((rank < 3 ? 400000 : 2000000)) 2000100 group=2 seq=0; done; } | trace output
verdicts output >found
jq -e '.model == "pipeline" and (.findings[0] | .cause == "sequential" and .proved and .rank == 3 and .region == "output")' out >is &&
	jq -e '.filling | not' found >is || fail "one in no stage: $(jq -c '[.model, .findings]' out)"

model_is() { # model why
	trace model
	expect 0 diagnose --json model
	jq -e --arg model "$1" --arg why "$2" '.model == $model and (.why_model // "" | contains($why))' out >is ||
		fail "expected $1 and '$2', found $(jq -c '[.model, .why_model]' out)"
}
# Marks say what stages are: two are enough, all in one region are no wavefront, and a stage has the number that it is given.
model_is pipeline "2 processes are in one" < <(line 2 10 5:10000 7:20000)
jq -e '[.explanation[] | select(.level == 1) | .text | split(",")[0]] == ["Stage 5", "Stage 7"]' out >is ||
	fail "numbers: $(jq -c .explanation out)"
model_is generic "" < <(line 2 10 0:10000 0:20000)
model_is generic "roles contradict the messages: rank 0, role(stage:1), sends to rank 1, role(stage:1), which is not next to it" < <(line 3 10 1:10000 2:10000 3:10000 | sed 's/name=s[0-9] file=x.c line=[0-9]/name=s file=x.c line=3/; s/ role=stage:[23]/ role=stage:1/')
model_is generic "rank 0, role(stage:1), sends to rank 1, role(stage:1)" < <(line 3 10 1:10000 1:10000 2:10000)
model_is generic "rank 0, role(stage:3), sends to rank 1, role(stage:1)" < <(line 3 10 3:10000 1:10000 2:10000)
model_is pipeline "roles are missing: rank 2 was in no region with role(stage:K), which others were in" < <(line 3 10 1:10000 2:10000 0:10000)
model_is generic "rank 0 has contradictory roles: it was in s0 (x.c:3), role(stage:1), and in t (x.c:9), role(stage:2)" < <({ line 3 10 1:10000 2:10000 3:10000 | sed 's/^site 2.*/&\nsite 9 kind=region name=t file=x.c line=9 role=stage:2/'; work 0 9 1000000 1001000; })
# Two are in the second stage, and answer: neither a chain nor a star without marks.
both() { # role of: first, second, third stage
	local i at=0 t
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for t in 0 1 2 3; do echo "thread $t clock=0 rank=$t"; done
	printf '%s\n' "group 1 threads=0,1,2,3" "site 0 kind=send name=MPI_Send file=x.c line=1" "site 1 kind=recv name=MPI_Recv file=x.c line=2" \
		"site 2 kind=region name=a file=x.c line=3 $1" "site 3 kind=region name=b file=x.c line=4 $2" "site 4 kind=region name=c file=x.c line=5 $3"
	for ((i = 0; i < 12; i++)); do
		t=$((1 + i % 2)); at=$((at + 2000))
		work 0 2 $at $((at + 900)); op 0 0 $((at + 900)) $((at + 950)) group=1 peer=$t tag=1 bytes=8
		op $t 1 $((at + 900)) $((at + 1000)) group=1 peer=0 tag=1 bytes=8; op $t 0 $((at + 1000)) $((at + 1050)) group=1 peer=0 tag=2 bytes=8
		op 0 1 $((at + 950)) $((at + 1100)) group=1 peer=$t tag=2 bytes=8
		work $t 3 $((at + 1050)) $((at + 2800)); op $t 0 $((at + 2800)) $((at + 2850)) group=1 peer=3 tag=1 bytes=8
		op 3 1 $((at + 2700)) $((at + 2900)) group=1 peer=$t tag=1 bytes=8; work 3 4 $((at + 3000)) $((at + 3900))
	done
}
model_is pipeline "4 processes are in one" < <(both role=stage:1 role=stage:2 role=stage:3)
jq -e '[.explanation[] | select(.level == 1) | .text | split(", works")[0]] ==
	["Stage 1, a on rank 0", "Stage 2, b on rank 1", "Stage 2, b on rank 2", "Stage 3, c on rank 3"]' out >is || fail "two in a stage: $(jq -c .explanation out)"
model_is generic "" < <(both "" "" "")

# The last stage loads something for as long as the others take for all items, which they send on meanwhile: nobody waits for that,
# and the last one has no less to do than they. If they begin when that is done it is proved, and 31 % of the run.
load() { # when the others begin
	local i at
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1"
	for i in 0 1 2; do echo "thread $i clock=0 rank=$i"; done
	printf '%s\n' "group 1 threads=0,1,2" "site 0 kind=send name=MPI_Send file=x.c line=1" "site 1 kind=recv name=MPI_Recv file=x.c line=2" \
		"site 2 kind=region name=a file=x.c line=3" "site 3 kind=region name=b file=x.c line=4" "site 4 kind=region name=c file=x.c line=5" \
		"site 5 kind=region name=load file=x.c line=6" "site 6 kind=barrier name=MPI_Barrier file=x.c line=7"
	work 2 5 0 3000
	((! $1)) || for i in 0 1 2; do op $i 6 $((i == 2 ? 3000 : 0)) $(($1 + 1)) group=1 seq=0; done
	for ((i = 0; i < 30; i++)); do
		at=$(($1 + 1 + i * 100))
		work 0 2 $at $((at + 97)); op 0 0 $((at + 97)) $((at + 98)) group=1 peer=1 tag=1 bytes=8
		op 1 1 $((i ? at + 96 : $1 + 1)) $((at + 99)) group=1 peer=0 tag=1 bytes=8; work 1 3 $((at + 99)) $((at + 194))
		op 1 0 $((at + 194)) $((at + 195)) group=1 peer=2 tag=1 bytes=8
		at=$(($1 + 3250 + i * 50))
		op 2 1 $((i ? at : ($1 ? $1 + 1 : 3000))) $((at + 1)) group=1 peer=1 tag=1 bytes=8; work 2 4 $((at + 1)) $((at + 50))
	done
}
load 0 | trace meanwhile
expect 0 diagnose --json --model pipeline meanwhile
jq -e '.model == "pipeline" and ([.findings[] | select(.cause | IN("sequential", "slow-stage")) | .proved] == [false, false])' out >is ||
	fail "meanwhile: $(jq -c '[.model, .findings]' out)"
load 3000 | trace before
expect 0 diagnose --json --model pipeline before
jq -e '.model == "pipeline" and any(.findings[]; .cause == "sequential" and .proved and (.cost_percent | .lo > 25 and .hi - .lo < 2))' out >is ||
	fail "before: $(jq -c '[.model, .findings]' out)"

# The last stage loads something once while the first one waits for what is not in the trace: nobody waits for that.
before=$(echo "site 8 kind=region name=load file=x.c line=9"; echo "site 9 kind=wait name=read file=x.c line=10"
	work 3 8 0 500000; op 0 9 0 800000 peer=72057594037927934)
line 4 10 0:40000 0:40000 0:40000 0:40000 | awk -v before="$before" '$1 == "e" { if (!n++) print before; $3 += 800000 } 1' |
	trace load
verdicts load >found
jq -e '.sequential == false' found >is || fail "nobody waits for what is loaded: $(jq -c .findings out)"
# All four have as much to do, and are named, for two of an item's times are in no region: "1 others" would be no shorter.
line 4 10 0:40000 0:40000 0:40000 0:40000 | awk '$1 == "e" && $2 == 1 && $4 == 3 && ++n > 8 && n <= 12 { next } 1' | trace four
verdicts four >found
jq -e 'any(.findings[]; .what | startswith("one of rank 0 in s0, rank 1 in s1, rank 2 in s2 and rank 3 in s3 has most to do"))' out >is ||
	fail "four names: $(jq -c .findings out)"
# Rank 1 has most to do, 30 of each 100 us, but waits for rank 0, which waits for something else: rank 0 loses nothing
# by it, and rank 2 no more than that takes.
awk '
	function op(t, site, to, keys) { print "e", t, at[t] + 0, site, "enter", keys; print "e", t, at[t] = to, site, "exit", keys }
	BEGIN {
		print "dprof-text 1\nclock 0 host=h0 ghz=1\nsite 0 kind=send name=MPI_Send file=x.c line=1\nsite 1 kind=recv name=MPI_Recv file=x.c line=2"
		print "site 2 kind=wait name=read file=x.c line=3"
		for (t = 0; t < 3; t++) { print "thread " t " clock=0 rank=" t; print "site " 3 + t " kind=region name=s" t " file=x.c line=" 4 + t }
		print "group 1 threads=0,1,2"
		for (i = 0; i < 20; i++) {
			op(0, 2, i * 100000 + 90000, "peer=72057594037927934")
			for (t = 0; t < 3; t++) {
				if (t) op(t, 1, there + 100, "group=1 peer=" t - 1 " tag=1 bytes=8")
				op(t, 3 + t, at[t] + (t == 1 ? 30000 : 8000))
				there = at[t]
				if (t < 2) op(t, 0, at[t] + 50, "group=1 peer=" t + 1 " tag=1 bytes=8")
			}
		}
	}' | trace source
expect 0 diagnose --json source
jq -e '.model == "pipeline" and any(.findings[]; .cause == "slow-stage" and .rank == 1 and .cost_percent.lo < 10.1 and .cost_percent.hi > 14)' out >is ||
	fail "a stage for which the first does not wait: $(jq -c .findings out)"
# What rank 0 does in no region may be work: it need not have as much to do as rank 1.
line 3 40 0:30000 0:30000 0:8000 | awk '$1 == "e" && $2 == 0 && $4 == 2 && $5 == "enter" { $3 += 22000 } 1' | trace perhaps
expect 0 diagnose --json perhaps
jq -e 'any(.findings[]; .cause == "slow-stage" and .what == "one of rank 0 in s0 and rank 1 in s1 has most to do, and other stages wait for it")' out >is ||
	fail "who may have most to do: $(jq -c .findings out)"

# Divide and conquer: what the root alone does at the end is not before others have anything to do.
sed 's/^e 0 131400 6 enter/e 0 131400 7 enter\ne 0 331400 7 exit\ne 0 331400 6 enter/; s/132000/332000/' tree.txt | trace end
expect 0 diagnose --json end
jq -e '.model == "divide-conquer" and (.findings[0] | .cause == "sequential" and .region == "own" and .proved and
	(.what | endswith("once, when others have nothing more to do")))' out >is || fail "end: $(jq -c '[.model, .findings]' out)"
# ---- What is done outside of the messages' phase, or does not wait for them ----------------------------

# Three ranks are in load first, the given one for 60 ms and others for 2; then there are 12 items or steps, each is 8 ms of work for
# all. In a pipe and in a front each gets, works and sends; a front comes together behind each step, and in extra rank 1 works in
# more then. In a shift all work, send and get what nobody needs before the next step; late is one in which they get before they send.
around() { # pipe|front|extra|shift|late rank
	awk -v how="$1" -v slow="$2" '
		function op(t, site, to, keys) { print "e", t, at[t] + 0, site, "enter", keys; print "e", t, at[t] = to, site, "exit", keys }
		function works(t, site, ns) { op(t, site, at[t] + ns) }
		function sends(t) { if (t < 2) { there[t + 1, i] = at[t]; op(t, 0, at[t] + 100, "group=1 peer=" t + 1 " tag=1 bytes=8") } }
		function gets(t) { if (t) op(t, 1, (there[t, i] > at[t] ? there[t, i] : at[t]) + 200, "group=1 peer=" t - 1 " tag=1 bytes=8") }
		function together(t, last) {
			for (t = 0; t < 3; t++) last = at[t] > last ? at[t] : last
			for (t = 0; t < 3; t++) op(t, 2, last + 300, "group=1 seq=" seq + 0)
			seq++
		}
		BEGIN {
			print "dprof-text 1\nclock 0 host=h0 ghz=1"
			for (t = 0; t < 3; t++) print "thread " t " clock=0 rank=" t
			print "group 1 threads=0,1,2\nsite 0 kind=send name=MPI_Send file=x.c line=1\nsite 1 kind=recv name=MPI_Recv file=x.c line=2"
			print "site 2 kind=barrier name=MPI_Barrier file=x.c line=3\nsite 3 kind=region name=load file=x.c line=4"
			print "site 4 kind=region name=more file=x.c line=5"
			for (t = 0; t < 3; t++) print "site " 5 + t " kind=region name=" (how == "pipe" ? "s" t : "comp") " file=x.c line=" (how == "pipe" ? 6 + t : 6)
			for (t = 0; t < 3; t++) works(t, 3, t == slow ? 60000000 : 2000000)
			for (i = 0; i < 12; i++) {
				for (t = 0; t < 3; t++) {
					if (how == "pipe" || how == "front" || how == "extra") gets(t)
					works(t, 5 + t, 8000000)
					if (how == "extra") works(t, 4, t == 1 ? 7000000 : 500000)
					if (how == "late") gets(t)
					sends(t)
					if (how == "shift") gets(t)
				}
				if (how != "pipe") together()
			}
			together()
		}' >around.txt
	trace around <around.txt
	expect 0 diagnose --json around
}
# Rank 1 waits in each item for a thread of its own: that is what it does, and others wait for it; and likewise if it makes
# one for each item. Not if that may wait for other processes.
helped() { # how: one, each, or deals (with others)
	awk -v how=$1 '
		function op(t, site, to, keys) { print "e", t, at[t] + 0, site, "enter", keys; print "e", t, at[t] = to, site, "exit", keys }
		function point(t, site, id) { print "e", t, at[t] + 0, site, "point id=" id }
		function stage(t, i) {
			print "e", t, at[t] + 0, 2, "enter"
			at[t] += 4000
			if (t == 1) help(how == "each" ? 3 + i : 3, i)
			print "e", t, at[t], 2, "exit"
		}
		function help(h, i, to) {
			to = at[1] + 16000
			if (how == "each") { op(1, 7, at[1] + 10, "thread=" i + 1); print "e", h, at[1] + 15, 9, "point" } else { point(1, 5, 1); op(h, 4, at[1] + 10, "id=1") }
			at[h] = at[1] + 20
			op(h, how == "deals" && i == 5 ? 0 : 3, to, how == "deals" && i == 5 ? "group=1 peer=9 tag=1 bytes=8" : "")
			if (how == "each") { print "e", h, to + 1, 10, "point"; op(1, 8, to + 20, "thread=" i + 1) } else { point(h, 5, 2); op(1, 4, to + 20, "id=2") }
		}
		BEGIN {
			print "dprof-text 1\nclock 0 host=h0 ghz=1\nsite 0 kind=send name=MPI_Send file=x.c line=1\nsite 1 kind=recv name=MPI_Recv file=x.c line=2"
			print "site 2 kind=region name=stage file=x.c line=3\nsite 3 kind=region name=helper file=x.c line=4"
			print "site 4 kind=wait name=sem_wait file=x.c line=5\nsite 5 kind=wait name=sem_post file=x.c line=6"
			print "site 6 kind=barrier name=MPI_Finalize file=x.c line=7\nsite 7 kind=fork name=pthread_create file=x.c line=8"
			print "site 8 kind=join name=pthread_join file=x.c line=9\nsite 9 kind=fork name=thread%20begin\nsite 10 kind=join name=thread%20end"
			for (t = 0; t < (how == "each" ? 15 : 4); t++) print "thread " t " clock=0 rank=" (t < 3 ? t : "1 number=" t - 2)
			print "group 1 threads=0,1,2"
			for (i = 0; i < 12; i++)
				for (t = 0; t < 3; t++) {
					if (t) op(t, 1, (there[t] > at[t] ? there[t] : at[t]) + 100, "group=1 peer=" t - 1 " tag=1 bytes=8")
					stage(t, i)
					there[t + 1] = at[t]
					if (t < 2) op(t, 0, at[t] + 50, "group=1 peer=" t + 1 " tag=1 bytes=8")
				}
			for (t = 0; t < 3; t++) { end = at[2] + 100; op(t, 6, end, "group=1 seq=0") }
		}' | trace helped
	expect 0 diagnose --json helped
}
for how in one each; do
	helped $how
	jq -e '.model == "wavefront" and any(.explanation[].text; test("^Place 2 .* works for 9[5-8]")) and
		any(.findings[]; .cause == "imbalance" and .rank == 1 and .region == "stage" and .proved and (.what | endswith("other threads of its process"))) and
		(.explanation[] | select(.level == 2) | .text | test(" (2[.]4|0[.]6) ±0[.]. % while the front")) and
		all(.findings[]; .cause != "filling" or .cost_percent.hi < 5)' out >is || fail "helped by $how: $(jq -c '[.model, .explanation, .findings]' out)"
done
jq -e 'all(.findings[]; .region != "helper" or (.what | contains("one after the other")))' out >is || fail "helped by each: $(jq -c .findings out)"
helped deals
jq -e '.model == "wavefront" and any(.explanation[].text; test("^Place 2 .* works for (19|2[0-3])[.0-9]* [.][.] 9[0-8]")) and
	all(.findings[]; ((.cause != "filling" and .cause != "imbalance") or (.proved | not)) and (.what | contains("have as much to do") | not))' out >is || fail "helped: $(jq -c '[.model, .explanation, .findings]' out)"

# All stages have as much to do. That one has more to do before is said, and is no proof that the pipeline fills meanwhile.
for slow in 0 1 2; do
	around pipe $slow
	jq -e --argjson slow $slow '.model == "pipeline" and any(.findings[]; .region == "load" and .rank == $slow and .proved) and
		all(.findings[]; .cause != "slow-stage" and (.cause != "filling" or (.cost_percent | .lo < 9.4 and .hi < 40))) and
		all(.explanation[] | select(.level == 1) | .text; test("works for (55.8|58.5|61.5)"))' out >is || fail "a stage that loads: $(jq -c '[.model, .explanation, .findings]' out)"
done
# Likewise of a front. Where one has more to do is where it does more than others, not where all do most.
around front 1
jq -e '.model == "wavefront" and all(.findings[]; .cause != "imbalance" or .region == "load")' out >is || fail "front: $(jq -c '[.model, .findings]' out)"
around extra 3
jq -e '.model == "wavefront" and any(.findings[]; .cause == "imbalance" and .region == "more" and .rank == 1) and
	all(.findings[]; .cause != "imbalance" or .region == "more")' out >is || fail "a front with more: $(jq -c '[.model, .findings]' out)"
# What comes when all have worked is no front: they work at the same time.
for how in shift late; do
	around $how 0
	jq -e '.model == "bsp" and (.findings[0] | .cause == "imbalance" and .proved and .region == "load" and .rank == 0) and
		all(.findings[1:][]; .proved | not)' out >is || fail "$how: $(jq -c '[.model, .findings]' out)"
	expect 0 diagnose --json --model wavefront around
	jq -e '.why_model | startswith("wavefront does not fit: messages go along a chain, but")' out >is || fail "$how: $(jq -c .why_model out)"
done

# Rank 2, a leaf of the tree, is in own until it gets its part, and rank 1 for a while: that is no dividing.
sed 's/^e 1 0 1 enter/e 1 0 7 enter\ne 1 1000 7 exit\ne 1 1000 1 enter/; s/^e 2 0 1 enter/e 2 0 7 enter\ne 2 30500 7 exit\ne 2 30500 1 enter/' tree.txt |
	trace leaf
expect 0 diagnose --json leaf
jq -e '.model == "divide-conquer" and any(.explanation[].text; startswith("divide (divide)")) and all(.explanation[].text; startswith("own") | not) and
	all(.findings[]; .region != "own" or .cause == "imbalance")' out >is || fail "a leaf that loads: $(jq -c '[.model, .explanation, .findings]' out)"

echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose names what was slow in runs in which that is known by hand: its cause, where, how much it cost, and what less of it would
# buy. What may not have been so is not proved. Rules of the user's are applied, too, and what is wrong with them is said.
. testsuite/fixtures/analysis/setup.sh

# A trace of one clock that shows nanoseconds.
sites() {
	two_regions
	echo "site 5 kind=lock name=pthread_mutex_lock file=x.c line=6"
}

# The most expensive finding: its cause, rank, place, region and verdict, and its cost, which is no wider than 0.1
# points. What half of it would buy is expected within a point.
first() { # directory cause rank place region proved percent [buys]
	expect 0 diagnose --model generic --json "$1"
	jq -e --arg cause "$2" --argjson rank "$3" --arg where "$4" --arg region "$5" --argjson proved "$6" --argjson percent "$7" '
		.findings[0] | .cause == $cause and .rank == $rank and .where == $where and .region == $region and .proved == $proved and
		(.cost_percent | .lo <= $percent and .hi >= $percent and .hi - .lo <= 0.1)' out >is ||
		fail "$1: expected $*, found $(jq -c .findings out)"
	jq -e --argjson buys "${8:-null}" '$buys == null or (.findings[0] | .less_percent == 50 and
		(.expected_percent | .lo <= $buys + 1 and .hi >= $buys - 1))' out >is || fail "$1: expected to buy $8, found $(jq -c .findings[0] out)"
	jq -e '[.findings[] | .cost_percent | .lo + .hi] | . == (sort | reverse)' out >is || fail "$1: not the largest first"
	expect 0 diagnose --model generic "$1"
	fits_80 out || fail "$1: wider than 80 columns"
}

# Only rank 0 works in a for 100 us, and then both in b; the span is 102 us, and two threads have 204.
{ ranks 2; work 0 0 0 60000; op 0 2 60000 61000 group=1 seq=0; work 0 1 61000 101000; op 0 2 101000 102000 group=1 seq=1
	op 1 2 0 61000 group=1 seq=0; work 1 1 61000 101000; op 1 2 101000 102000 group=1 seq=1; } | trace sequential
first sequential sequential 0 x.c:1 a true 29.412 29.4
says out "only rank 0 works in a, and others wait for that, longest in"
# Folders are no part of what is said.
"$analyze" dump sequential | sed 's,file=x.c,file=/a/long/way/x.c,' | trace folders
expect 0 diagnose folders
tr -s ' \n' ' ' <out | grep -q 'longest in MPI_Barrier (x.c:3) ' || fail "a folder is said: $(cat out)"
# Both work in b, rank 1 longer: by 50 of 202.
{ ranks 2; work 0 1 0 50000; op 0 2 50000 101000 group=1 seq=0; work 1 1 0 100000; op 1 2 100000 101000 group=1 seq=0; } |
	trace imbalance
first imbalance imbalance 1 x.c:2 b true 24.752 49.5
# They take turns in being longer in b by 50: nobody has more to do than others.
{ ranks 2; for rank in 0 1; do
	work $rank 1 0 $((50000 + 50000 * rank)); op $rank 2 $((50000 + 50000 * rank)) 101000 group=1 seq=0
	work $rank 1 101000 $((201000 - 50000 * rank)); op $rank 2 $((201000 - 50000 * rank)) 202000 group=1 seq=1
done; } | trace turns
expect 0 diagnose --model generic --json turns
jq -e '.findings[0] | .cause == "imbalance" and (.proved | not) and (.what | startswith("threads take turns in being longest in b")) and
	(.suggestion | contains("give") | not)' out >is || fail "turns: $(jq -c .findings out)"
# Rank 0 is in b for as long as rank 1, in two parts; behind the first of them it waits for rank 1.
{ ranks 2; work 0 1 0 50000; op 0 2 50000 101000 group=1 seq=0; work 0 1 101000 151000; work 1 1 0 100000; op 1 2 100000 101000 group=1 seq=0
	work 1 0 101000 151000; } | trace parted
expect 0 diagnose --model generic --json parted
jq -e '.findings[0] | .cause == "imbalance" and .region == "b" and (.proved | not)' out >is || fail "parted: $(jq -c .findings out)"
# Of three threads one waits for the others, which have as much to do.
{ ranks 3; work 0 1 0 100000; work 1 1 0 100000; for rank in 0 1 2; do op $rank 2 $((rank < 2 ? 100000 : 0)) 101000 group=1 seq=0; done; } | trace equal
expect 0 diagnose --model generic --json equal
jq -e '.findings[0] | .cause == "imbalance" and .region == "b" and (.proved | not)' out >is || fail "equal: $(jq -c .findings out)"
# Rank 1 has not been in b for longer than those who wait; so a is to blame, where it was longer.
{ ranks 2; work 0 1 0 50000; op 0 2 50000 101000 group=1 seq=0; work 1 1 0 50000; work 1 0 50000 100000
	op 1 2 100000 101000 group=1 seq=0; } | trace other
first other sequential 1 x.c:1 a true 24.752
# However long a source's name is, a line is not.
{ ranks 2; work 0 0 0 60000; op 0 2 60000 61000 group=1 seq=0; op 1 2 0 61000 group=1 seq=0; } |
	sed "s,file=x.c,file=/src/$(printf 'f%.0s' {1..70}).c," | trace long-file
expect 0 diagnose --model generic long-file
says out 'f.c:3)'
fits_80 out || fail "a long source's name: wider than 80 columns: $(cat out)"

# Thread 1 waits for 60 of 202 for what thread 0 holds in a.
{ sites; echo "thread 0 clock=0 rank=0 number=0"; echo "thread 1 clock=0 rank=0 number=1"
	op 0 5 0 100 id=5; work 0 0 100 100000; echo 'e 0 100000 5 point id=5'; work 0 1 100000 101000
	work 1 1 0 40000; op 1 5 40000 100500 id=5; echo 'e 1 100600 5 point id=5'; work 1 1 100600 101000; } | trace lock
first lock lock 0 x.c:1 a true 29.703
expect 0 diagnose --model generic --json lock
jq -e '[.findings[] | select(.cause != "lock" and .proved)] == []' out >is ||
	fail "lock: what a lock explains is proved of something else: $(jq -c .findings out)"
# What thread 0 does before it takes the lock, for longer, is not what it holds that for; nor is what it does in a lock
# within, and behind that.
{ sites; echo "site 7 kind=region name=c file=x.c line=7"; echo "thread 0 clock=0 rank=0 number=0"; echo "thread 1 clock=0 rank=0 number=1"
	work 0 0 0 100000; op 0 5 100000 100050 id=5; work 0 1 100050 120000; op 0 5 120000 120010 id=6; work 0 7 120010 125000
	echo 'e 0 125000 5 point id=6'; work 0 1 125000 130000; echo 'e 0 130000 5 point id=5'; work 0 7 130000 170000
	work 1 1 0 105000; op 1 5 105000 130050 id=5; echo 'e 1 130060 5 point id=5'; op 1 5 130070 130080 id=6; work 1 1 130080 170000; } | trace held
expect 0 diagnose --model generic --json held
jq -e 'any(.findings[]; .cause == "lock" and .proved and .region == "b" and (.what | endswith("for a lock that others hold in b")))' out >is ||
	fail "held: $(jq -c .findings out)"
expect 0 waits --json held
jq -e '[.waits[] | .caused_by.region] == ["b"]' out >is || fail "held: $(jq -c .waits out)"
# Thread 0 waits a little longer for thread 1 than then for thread 2, which has twice as much to do: that is the one that takes longer.
{ sites; for t in 0 1 2; do echo "thread $t clock=0 rank=0 number=$t"; done
	printf '%s\n' "site 8 kind=fork name=pthread_create file=x.c line=8" "site 9 kind=join name=pthread_join file=x.c line=9"
	op 0 8 0 10 thread=1; op 0 8 20 30 thread=2; op 0 9 40 52010 thread=1; op 0 9 52020 100110 thread=2
	work 1 1 15 52000; work 2 1 35 100100; } | trace joins
expect 0 diagnose --model generic --json joins
jq -e '.findings[0] | .cause == "imbalance" and .proved and .thread == 2 and (.suggestion | startswith("give rank 0 thread 2 less")) and
	.expected_percent.lo > 40' out >is || fail "joins: $(jq -c .findings out)"
# Where three are as long each time, and thread 0 only joins them, it waits for no imbalance. It is one where one of two takes 8 times
# as long.
joined() { # for how long threads 1 and 2 are in b each time, and 3
	local t k at n
	sites
	for t in 0 1 2 3; do echo "thread $t clock=0 rank=0 number=$t"; done
	printf '%s\n' "group 1 threads=1,2,3" "site 8 kind=fork name=pthread_create file=x.c line=8" "site 9 kind=join name=pthread_join file=x.c line=9"
	for t in 1 2 3; do
		op 0 8 $((20 * t - 20)) $((20 * t - 10)) thread=$t
		n=$((t == 3 ? $2 : $1))
		for k in 0 1 2 3; do
			at=$((100 + k * 30000))
			work $t 0 $at $((at + 20000)); work $t 1 $((at + 20000)) $((at + 20000 + n))
			op $t 2 $((at + 20000 + n)) $((at + 30000)) group=1 seq=$k
		done
	done
	for t in 1 2 3; do op 0 9 $((t == 1 ? 60 : 120110 + 10 * t)) $((120118 + 10 * t)) thread=$t; done
}
joined 9900 9950 | trace balanced
expect 0 diagnose --json --model generic balanced
jq -e '.findings == []' out >is || fail "balanced: $(jq -c .findings out)"
joined 1000 8000 | trace longer
expect 0 diagnose --json --model generic longer
jq -e '.findings[0] | .cause == "imbalance" and .region == "b" and .proved and .thread == 3' out >is || fail "longer: $(jq -c .findings out)"
# Forty messages of a few bytes, each taking as long as what lies between two; in a few great ones that is no matter of grain.
chatter() { # messages bytes
	local i at
	ranks 2
	for ((i = 0; i < $1; i++)); do
		at=$((i * 2000))
		work 0 0 $at $((at + 1000)); op 0 3 $((at + 1000)) $((at + 1900)) group=1 peer=1 tag=1 "bytes=$2"
		work 1 1 $at $((at + 1001)); op 1 4 $((at + 1001)) $((at + 1901)) group=1 peer=0 tag=1 "bytes=$2"
	done
}
chatter 40 8 | trace grain
expect 0 diagnose --json --model generic grain
jq -e '[.findings[] | select(.cause == "granularity" and .proved)] | length == 2 and .[0].cost_percent.lo > 15' out >is ||
	fail "grain: expected granularity at send and receive, found $(jq -c .findings out)"
chatter 8 1000000 | trace bulk
expect 0 diagnose --json --model generic bulk
jq -e '[.findings[] | select(.cause == "granularity")] == [] and ([.findings[] | select(.cause == "communication")] | length > 0)' out >is ||
	fail "bulk: expected communication, found $(jq -c .findings out)"

# A few of 8 bytes each: there is no less to move.
chatter 8 8 | trace few
expect 0 diagnose --json --model generic few
jq -e '[.findings[] | select(.cause == "communication") | .suggestion | contains("each moves little") and (contains("move less") | not)] |
	length > 0 and all' out >is || fail "few: $(jq -c .findings out)"

# Nothing is moved in a barrier: less of it cannot be.
{ ranks 2; for i in 0 1 2 3; do for rank in 0 1; do work $rank 0 $((i * 2000)) $((i * 2000 + 1000)); op $rank 2 $((i * 2000 + 1000)) $((i * 2000 + 2000)) group=1 seq=$i; done; done; } |
	trace still
expect 0 diagnose --json --model generic still
jq -e '.findings[0] | .where == "x.c:3" and .cause == "communication" and (.suggestion | startswith("have fewer of these"))' out >is ||
	fail "still: $(jq -c .findings out)"

# But MPI_Finalize every rank has to call: nobody can have fewer of it.
"$analyze" dump still | sed 's/MPI_Barrier/MPI_Finalize/' | trace due
expect 0 diagnose --json --model generic due
jq -e '.findings[0] | .where == "x.c:3" and (.suggestion | startswith("none: every process has to call it"))' out >is || fail "due: $(jq -c .findings out)"

# Who receives what is sent, and who holds the lock, is not in the trace: that may have been late.
{ ranks 2; work 0 0 0 20000; op 0 3 20000 60000 group=1 peer=1 tag=1 bytes=8; op 0 5 60000 99000 id=5; work 1 0 0 100000; } |
	trace uncaused
expect 0 diagnose --model generic --json uncaused
jq -e '[.findings[] | select(.cause == "communication")] | length == 2 and all(.proved | not)' out >is ||
	fail "uncaused: expected communication, and not proved, found $(jq -c .findings out)"

# Which of two hosts was late is not known where their clocks are not: nothing is proved, and the truth is inside.
{ ranks 2 | sed 's/^thread 1 clock=0/thread 1 clock=1/; /^clock 0/a clock 1 host=h1 ghz=1'
	echo "link 0 0 1 300000"; echo "link 1 0 0 300000"; echo "link 0 200000 1 500000"; echo "link 1 200000 0 500000"
	work 0 0 1000 100000; op 0 2 100000 101000 group=1 seq=0; work 1 1 1000 99000; op 1 2 99000 101000 group=1 seq=0; } | trace unknown
expect 0 diagnose --model generic --json unknown
jq -e '[.findings[] | select(.proved)] == []' out >is || fail "unknown: what is not known is proved: $(jq -c .findings out)"

# A trace that contradicts itself proves nothing.
{ ranks 2; for r in 0 1; do
	op $r 4 1000 2000 group=1 peer=$((1 - r)) tag=1 bytes=8; op $r 3 3000 9000 group=1 peer=$((1 - r)) tag=1 bytes=8
done; } | trace circle
expect 1 diagnose --json circle
jq -e '.findings | length > 0 and all(.proved | not)' out >is || fail "circle: $(jq -c .findings out)"

# One thread, and nothing at all.
{ ranks 1; work 0 0 0 100000; } | trace one
expect 0 diagnose one
says out "Only one thread is recorded: it waited for none."
says out "No cause was found that costs enough to matter."
# One that waits for whom nobody knows has not waited for none: a client of a server that is not recorded.
{ ranks 1; echo "site 7 kind=wait name=poll file=x.c line=7"; work 0 0 0 10000; op 0 7 10000 100000 peer=72057594037927934; } | trace client
expect 0 diagnose --json client
jq -e '(.explanation[0].text | contains("0 .. 91 % waiting for others")) and
	(.findings[0] | .where == "x.c:7" and (.proved | not) and .cost_percent.hi > 89)' out >is || fail "client: $(jq -c '[.explanation, .findings]' out)"
sites | trace empty
expect 0 diagnose empty
says out "Nothing was recorded: nothing can be diagnosed."

# ---- Rules of the user's ---------------------------------------------------------------------------------

cat >mine.clp <<'END'
; What I know of my program.
(defrule mine
  (region (id ?id) (name "b") (work-lo ?lo) (work-hi ?hi))
  =>
  (printout t "b has " (shown ?lo ?hi) crlf)
  (assert (finding (cause mine) (cost-lo ?lo) (cost-hi ?hi) (least 10.0) (site ?id) (what "b is slow") (suggestion "leave it out")
                   (ask yes) (ask-site ?id) (ask-percent 100))))
(defrule small
  (region (id ?id) (name "b"))
  =>
  (assert (finding (cause open) (cost-lo 1.0) (cost-hi 20.0) (least 10.0) (site ?id)))
  (assert (finding (cause none) (cost-lo 1.0) (cost-hi 9.0) (least 10.0) (site ?id)))
  (assert (finding (cause unsure) (cost-lo 11.0) (cost-hi 20.0) (least 10.0) (sure no) (site ?id)))
  (assert (finding (cause senseless) (cost-lo 30.0) (cost-hi 20.0) (least 10.0) (site 4711) (thread -3) (ask yes) (ask-percent 4711))))
END
expect 0 diagnose --model generic --rules mine.clp --json imbalance
jq -e '.findings | map({ (.cause): .proved }) | add == { mine: true, imbalance: true, open: false, unsure: false, senseless: false }' out >is ||
	fail "my rules: $(jq -c .findings out)"
jq -e '.findings[] | select(.cause == "mine") | .where == "x.c:2" and .less_percent == 100 and .expected_percent.hi > 90' out >is ||
	fail "my rule: $(jq -c .findings out)"
expect 0 diagnose --model generic --rules mine.clp imbalance
says out "b has 74.3"
says out "suggestion: leave it out"
printf '\n(defrule wrong\n  (region (colour red))\n  =>)\n' >wrong.clp
expect 2 diagnose --rules wrong.clp imbalance
says err "wrong.clp:3: [TMPLTDEF1] Invalid slot colour not defined in corresponding deftemplate region."
[ ! -s out ] || fail "an answer from rules that are wrong: $(cat out)"
expect 2 diagnose --rules nowhere.clp imbalance
says err "nowhere.clp: expected a file of rules that can be read"
expect 2 diagnose --rules . imbalance
says err ".: expected a file of rules that can be read"
echo '(defrule leave (run) => (exit 7))' >exit.clp
expect 2 diagnose --rules exit.clp imbalance
says err 'exit.clp:1: '
echo '(defrule write (run) => (open "written" file "w"))' >open.clp
expect 2 diagnose --rules open.clp imbalance
says err 'open.clp:1: '
printf '\0\0\0' >nul.clp
expect 2 diagnose --rules nul.clp imbalance
says err "nul.clp:1: expected text, found a NUL byte"
echo '(defrule round (run) => (while TRUE do (bind ?x 1)))' >loop.clp
expect 2 diagnose --rules loop.clp imbalance
says err "rule round: a loop came to no end: 1000000 turns were made"
printf '(defrule zero (run) => (printout t (/ 1 0)))' >zero.clp
expect 2 diagnose --rules zero.clp imbalance
says err "as rules were applied: [PRNTUTIL7] Attempt to divide by zero"
expect 2 diagnose --model genric imbalance
says err '--model: expected auto or a model such as generic; found "genric"'

# A token goes round: all work in one region for as long each, but one after the other. That is no turn in being
# longest. And where one does nearly all, no others do anything after it.
token() { # how much longer rank 1 works each time
	local k r at=0 end
	printf '%s\n' "dprof-text 1" "clock 0 host=h ghz=1" "site 0 kind=region name=a file=x.c line=1" "site 1 kind=send name=MPI_Send file=x.c line=2" \
		"site 2 kind=recv name=MPI_Recv file=x.c line=3" "site 3 kind=region name=begin file=x.c line=4"
	for r in 0 1 2; do echo "thread $r clock=0 rank=$r"; done
	echo "group 1 threads=0,1,2"
	local since=(0 0 0)
	for ((k = 0; k < 8; k++)); do
		for r in 0 1 2; do
			[ $((k + r)) = 0 ] || op $r 2 ${since[r]} $((at + 10)) group=1 peer=$(((r + 2) % 3)) tag=0 bytes=8
			end=$((at + 10 + 10000 + (r == 1 ? $1 : 0)))
			work $r 0 $((at + 10)) $end
			op $r 1 $end $((end + 5)) group=1 peer=$(((r + 1) % 3)) tag=0 bytes=8
			since[r]=$((end + 5)) at=$end
		done
	done
	op 0 2 ${since[0]} $((at + 10)) group=1 peer=2 tag=0 bytes=8
}
token 0 | trace token
expect 0 diagnose --json --model generic token
jq -e '(.findings[0] | .cause == "sequential" and .proved and .cost_percent.lo > 50 and (has("rank") | not)) and ([.findings[].cause] | index("imbalance") | not) and
	([.explanation[].text] | any(startswith("On average 1.0 ")))' out >is || fail "token: $(jq -c '.findings, .explanation' out)"
# All work in a at the same time, and take turns in being longest; an operation that takes long has all of them in it for the rest
# of the time. Then rank 0 is in a for longer while nobody waits for it: the others do something else.
meet() { # thread from to seq
	op "$1" 6 "$2" "$3" group=1 "seq=$4" bytes=8
}
together() { # how long the operation takes; for how long rank 0 is in a at last
	local at=0 k r d
	ranks 4 | sed 's/^site 5 .*/&\nsite 6 kind=coll name=MPI_Allreduce file=x.c line=7/'
	for k in 0 1 2 3; do
		for r in 0 1 2 3; do
			d=$((1000 + 500 * (k == r)))
			work $r 0 $at $((at + d)); meet $r $((at + d)) $((at + 1500 + $1)) $k
		done
		at=$((at + 1500 + $1))
	done
	for r in 0 1 2 3; do work $r $((r ? 1 : 0)) $at $((at + $2)); meet $r $((at + $2)) $((at + $2 + 1)) 4; done
}
together 6500 0 | trace together
expect 0 diagnose --json --model generic together
jq -e '(.findings[0].cause == "communication") and any(.findings[]; .cause == "imbalance" and (.proved | not)) and
	([.findings[].cause] | index("sequential") | not)' out >is || fail "together: $(jq -c .findings out)"
# Of two threads one works alone in b for nearly all of the run; in a they are at the same time, but for its end.
{ ranks 2; work 0 1 0 88000; at=88000
	for k in 0 1; do
		for r in 0 1; do
			d=$((4500 + 2500 * (k == r)))
			[ $k = 0 ] && op $r 2 $((r ? 0 : 88000)) 88001 group=1 seq=9
			work $r 0 $((at + 2)) $((at + d)); op $r 2 $((at + d)) $((at + 7001)) group=1 seq=$k
		done
		at=$((at + 7001))
	done; } | trace nearly
expect 0 diagnose --json --model generic nearly
jq -e 'any(.findings[]; .region == "a" and .cause == "imbalance" and (.proved | not)) and (any(.findings[]; .region == "a" and .cause == "sequential") | not)' \
	out >is || fail "nearly: $(jq -c .findings out)"
together 1 4000 | trace elsewhere
expect 0 diagnose --json --model generic elsewhere
jq -e '.findings[0] | .cause == "imbalance" and .region == "a" and (.proved | not) and .cost_percent.hi > 14 and .cost_percent.lo < 0.1' out >is ||
	fail "elsewhere: $(jq -c .findings out)"
# Likewise where all of them have done more in b before that, each time: what waiting goes back to counts, not what was done mostly.
{ ranks 4; at=0
	for k in {0..7}; do
		for r in 0 1 2 3; do
			d=$((10000 + 1000 + 4000 * (k % 4 == r)))
			work $r 1 $at $((at + 10000)); work $r 0 $((at + 10000)) $((at + d)); op $r 2 $((at + d)) $((at + 15001)) group=1 seq=$k
		done
		at=$((at + 15001))
	done
	for r in 0 1 2 3; do work $r $((r == 1 ? 0 : 1)) $at $((at + 32000)); op $r 2 $((at + 32000)) $((at + 32001)) group=1 seq=8; done; } | trace behind
expect 0 diagnose --json --model generic behind
jq -e '.findings[0] | .cause == "imbalance" and .region == "a" and (.proved | not) and .cost_percent.hi > 14 and .cost_percent.lo < 0.1' out >is ||
	fail "behind: $(jq -c .findings out)"
# Rank 1 is late, for what it did so many synchronisations ago that it is not looked at, and works in 60 regions for a little each:
# others wait for that no longer than it takes. If it is late as it begins late, they wait for none of that.
alone() { # begins at
	echo "group 3 threads=1"
	for k in {1..300}; do [ "$1" = late ] || op 1 2 "$2" "$2" group=3 seq=$k; done
}
late() { # begins
	ranks 2; [ "$1" = late ] || work 1 1 1000 500000
	alone "$1" 502000
	for k in {10..69}; do echo "site $k kind=region name=r$k file=x.c line=$k"; work 1 $k $((500000 + k * 200)) $((500000 + k * 200 + 200)); done
	op 0 2 1000 514001 group=1 seq=0; op 1 2 514000 514001 group=1 seq=0
	for r in 0 1; do work $r 1 514001 914001; op $r 2 914001 914002 group=1 seq=1; done
}
late soon | trace long_ago
expect 0 diagnose --json --model generic long_ago
jq -e '.findings[0] | (.what | test("in 6[0-9] places")) and (.proved | not) and .cost_percent.lo < 0.7 and .cost_percent.hi > 27' out >is ||
	fail "long_ago: $(jq -c .findings out)"
late late | trace late
expect 0 diagnose --json --model generic late
jq -e '.findings | all(.cost_percent.hi < 0.7)' out >is || fail "late: $(jq -c .findings out)"

# Two take turns for 2 us each time, as one begins 80 us late: others wait no longer for what they do than that takes.
{ ranks 2; for k in {0..3}; do
	at=$((80000 + 5000 * k))
	work 1 0 $at $((at + 2000)); op 1 3 $((at + 2000)) $((at + 2100)) group=1 peer=0 tag=1 bytes=8
	op 0 4 $((k ? at - 400 : 0)) $((at + 2200)) group=1 peer=1 tag=1 bytes=8
	work 0 0 $((at + 2200)) $((at + 4200)); op 0 3 $((at + 4200)) $((at + 4300)) group=1 peer=1 tag=1 bytes=8
	op 1 4 $((at + 2100)) $((at + 4400)) group=1 peer=0 tag=1 bytes=8
done; } | trace token
expect 0 diagnose --json --model generic token
jq -e '.findings[0] | .cause == "sequential" and .region == "a" and .cost_percent.lo > 7 and .cost_percent.hi < 8.1' out >is ||
	fail "a late token: $(jq -c .findings out)"

token 200000 | trace lopsided
expect 0 diagnose --json --model generic lopsided
jq -e '(.findings[0] | .cause == "imbalance" and .rank == 1) and ([.findings[].cause] | index("sequential") | not)' out >is ||
	fail "lopsided: $(jq -c .findings out)"
# What is called once.
{ ranks 1; work 0 0 0 1000; op 0 2 1000 9000 group=1 seq=0; } | trace once
expect 0 diagnose once
tr -s ' \n' ' ' <out | grep -q "takes that, in 1 call: " || fail "one call: $(cat out)"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diagnose names what was slow in runs of threads that take tasks out of a pool, whose true times are known
# (testsuite/fixtures/diagnose/pool_run.py): each worker's time is divided as it was, and nothing is proved that was not
# so.
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

# Two that take locks of their own each share no pool.
own_locks() { # the lock of each; or anything, if they take none again when there are no more tasks
	local k at t
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=task file=x.c line=1" \
		"site 3 kind=lock name=pthread_mutex_lock file=x.c line=4" "thread 0 clock=0 rank=0 number=0" "thread 1 clock=0 rank=0 number=1"
	for t in 0 1; do for k in {0..7}; do
		at=$((k * 2000 + t * 500)); op $t 3 $at $((at + 10)) "id=$((t ? $2 : $1))"; echo "e $t $((at + 20)) 3 point id=$((t ? $2 : $1))"
		work $t 0 $((at + 30)) $((at + 1900))
	done; [ $# -gt 2 ] || { op $t 3 $((16450 + 20 * t)) $((16460 + 20 * t)) "id=$((t ? $2 : $1))"; echo "e $t $((16465 + 20 * t)) 3 point id=$((t ? $2 : $1))"; }; done
}
own_locks 7 7 | trace locks
expect 0 diagnose --json locks
jq -e '.model == "task-pool"' out >is || fail "one lock: $(jq -c '[.model, .why_model]' out)"
own_locks 7 8 | trace locks
expect 0 diagnose --json locks
jq -e '.model == "generic"' out >is || fail "a lock of each: $(jq -c '[.model, .why_model]' out)"

# Nor do two take tasks that are done when others still take some, with a lock around something else: a log when they have worked,
# or a table before. Each has 8 pieces of its own.
own_locks 7 7 none | trace table
own_locks 7 7 | awk '$1 == "e" && $2 == 0 && $3 > 9950 && $3 < 16000 { next } $1 == "e" && $2 == 0 && $3 > 16000 { $3 -= 6000 } 1' |
	trace early
own_locks 7 7 | awk '$1 == "e" && !seen[$2]++ { print "e", $2, $3 - 500, 0, "enter"; print "e", $2, $3 - 5, 0, "exit" } 1' | awk '$1 == "e" { $3 += 1000 } 1' | trace log
for own in table early log; do
	expect 0 diagnose --json $own
	jq -e '.model == "generic"' out >is || fail "$own: $(jq -c '[.model, .why_model]' out)"
done

# What each does while it has the lock is a critical section, of which there are as many as the program says.
own_locks 7 7 | awk '$1 == "e" && $5 == "point" { late = $0; next } { print } $1 == "e" && $4 == 0 && $5 == "exit" { split(late, x, " "); print "e", $2, $3 + 1, x[4], x[5], x[6] }' |
	sed 's/^e 1 \([0-9]*\)/e 1 1\1/' | trace critical
expect 0 diagnose --json critical
jq -e '.model == "generic"' out >is || fail "critical sections: $(jq -c '[.model, .why_model]' out)"

# One that takes none works on when they are done, and another one waits for all of them.
{ own_locks 7 7; printf '%s\n' "site 4 kind=join name=pthread_join file=x.c line=5" "site 6 kind=region name=logger file=x.c line=6" "thread 2 clock=0 rank=0 number=2" \
	"thread 3 clock=0 rank=0 number=3"; work 2 6 0 80000; at=10; for t in 0 1 2; do until=$((t < 2 ? 17000 + t : 80010)); op 3 4 $at $until thread=$t; at=$((until + 1)); done; } | trace logs
expect 0 diagnose --json logs
jq -e '.model == "task-pool" and (.findings[0] | .cause == "sequential" and .proved and .thread == 2 and .region == "logger")' out >is ||
	fail "a thread that takes no tasks: $(jq -c '[.model, .findings]' out)"

# What it holds a lock for that takes none is found once.
{ own_locks 7 7 none; printf '%s\n' "site 6 kind=region name=holder file=x.c line=6" "thread 2 clock=0 rank=0 number=2"
	op 2 3 16100 16110 id=7; work 2 6 16120 60000; echo "e 2 60010 3 point id=7"
	for t in 0 1; do at=$((60020 + 40 * t)); op $t 3 $((16600 + t)) $at id=7; echo "e $t $((at + 10)) 3 point id=7"; work $t 0 $((at + 20)) 62000; op $t 3 $((62010 + t)) $((62011 + t)) id=7; done; } | trace held
expect 0 diagnose --json held
jq -e '.model == "task-pool" and ([.findings[] | select(.cause == "lock" and .region == "holder")] | length == 1 and .[0].proved)' out >is ||
	fail "held: $(jq -c '[.model, .findings]' out)"

# Who has to make the tasks is named, and that they were late is not proved where workers wait for each other: two that take turns.
judge $first starve 3
jq -e '.findings[0] | .proved and .thread == 0 and .region == "make"' out >is || fail "starve: $(jq -c .findings out)"
threads() {
	printf '%s\n' "dprof-text 1" "clock 0 host=h0 ghz=1" "site 0 kind=region name=task file=x.c line=1" "site 1 kind=wait name=sem_wait file=x.c line=2" \
		"site 2 kind=wait name=sem_post file=x.c line=3" "site 3 kind=lock name=pthread_mutex_lock file=x.c line=4" \
		"site 4 kind=barrier name=pthread_barrier_wait file=x.c line=5" "thread 0 clock=0 rank=0 number=0" "thread 1 clock=0 rank=0 number=1" \
		"group 1 threads=0,1"
}
turns() {
	local k at
	for k in {0..7}; do
		at=$((k * 2000))
		op 0 1 $((at - (k ? 1000 : 0))) $at id=1; work 0 0 $at $((at + 1000)); echo "e 0 $((at + 1000)) 2 point id=2"
		op 1 1 $at $((at + 1000)) id=2; work 1 0 $((at + 1000)) $((at + 2000)); echo "e 1 $((at + 2000)) 2 point id=1"
	done
	for k in 0 1; do op $k 3 $((16001 + k)) $((16002 + k)) id=3; done
}
{ threads; turns; } | trace turns
expect 0 diagnose --json turns
jq -e '.model == "task-pool" and any(.findings[]; .cause == "starvation" and .cost_percent.hi > 40 and (.proved | not))' out >is ||
	fail "turns: $(jq -c '[.model, .findings]' out)"

# For a third thread they wait before that, and for none of its tasks then.
{ threads | sed 's/^thread 1 .*/&\nthread 2 clock=0 rank=0 number=2\nsite 6 kind=region name=prepare file=x.c line=6/'
	printf '%s\n' "e 2 -20000 6 enter" "e 2 -2 2 point id=9" "e 2 0 6 exit" "e 2 1 2 point id=1"; work 2 6 2 16000; op 0 1 -20000 1 id=1; op 1 1 -20000 -1 id=9
	turns | sed '/^e 0 0 1 enter/d; /^e 0 0 1 exit/d; s/^e 0 0 0 enter/e 0 1 0 enter/'; } |
	awk '$1 == "e" { $3 += 20000 } 1' | trace prepared
expect 0 diagnose --json prepared
jq -e '.model == "task-pool" and any(.findings[]; .cause == "starvation" and .cost_percent.hi > 12 and (.proved | not))' out >is ||
	fail "prepared: $(jq -c '[.model, .findings]' out)"

# Work behind other operations is no task, nor is what threads do in regions of their own.
{ threads; for thread in 0 1; do
	op $thread 3 0 10 id=$((5 + thread))
	for k in {0..5}; do work $thread 0 $((10 + 2000 * k)) $((1000 + 2000 * k)); op $thread 4 $((1000 + 2000 * k)) $((2000 + 2000 * k)) group=1 seq=$k; done
done; } | trace barriers
expect 0 diagnose --json barriers
jq -e '.model == "generic"' out >is || fail "barriers: $(head -c 2000 out)"
sed 's/^\(e 1 [0-9]*\) 0 /\1 3 /; s/^\(e 2 [0-9]*\) 0 /\1 1 /' run.txt | trace apart
expect 0 diagnose --json --model task-pool apart
jq -e '.model == "generic" and (.why_model | startswith("task-pool does not fit: no two threads take"))' out >is ||
	fail "apart: $(head -c 2000 out)"

# The thread's body is a region, too, and does a little at each lock: a task is what is marked.
{ threads | sed 's/^site 0 .*/&\nsite 6 kind=region name=body file=x.c line=6 auto=1/'; for thread in 0 1; do
	echo "e $thread 0 6 enter"
	for k in {0..5}; do
		at=$((10000 * k + 5000 * thread + 100))
		op $thread 3 $at $((at + 10)) id=5; echo "e $thread $((at + 15)) 3 point id=5"; op $thread 1 $((at + 20)) $((at + 30)) id=$((7 + thread))
		work $thread 0 $((at + 35)) $((at + 9500))
	done
	op $thread 3 $((65000 + thread)) $((65001 + thread)) id=5; echo "e $thread 66000 6 exit"
done; } | trace bodies
expect 0 diagnose --json bodies
jq -e '.model == "task-pool" and (.why_model | contains(" take 12 tasks ") and endswith(" task"))' out >is ||
	fail "bodies: $(jq -c '[.model, .why_model]' out)"
# Nor is it one that it does little in, where what is marked follows something else than what they take.
"$analyze" dump bodies | sed 's/^\(site [0-9]* kind=\)wait name=sem_wait/\1send name=MPI_Isend/' | trace elsewhere
expect 0 diagnose --json elsewhere
jq -e '.model == "generic"' out >is || fail "elsewhere: $(jq -c '[.model, .why_model]' out)"

# Who gives them permits need not put tasks there: it may take what they have done.
{ threads | sed 's/^thread 1 .*/&\nthread 2 clock=0 rank=0 number=2\nsite 6 kind=region name=write file=x.c line=6/'
	for k in {0..11}; do
		at=$((k * 40000))
		for thread in 0 1; do
			op $thread 3 $at $((at + 10)) id=100; echo "e $thread $((at + 10)) 3 point id=100"; work $thread 0 $((at + 10)) $((at + 20000))
			work 2 6 $((at + 10000 + 12000 * thread)) $((at + 22000 + 12000 * thread)); echo "e 2 $((at + 22000 + 12000 * thread)) 2 point id=$((1 + thread))"
			op $thread 1 $((at + 20000)) $((at + 22100 + 12000 * thread)) id=$((1 + thread))
		done
	done; } >room.txt
trace room <room.txt
expect 0 diagnose --json room
jq -e '.model == "task-pool" and any(.findings[]; .cause == "starvation" and .proved and .region == "write" and
	(.what | endswith("mostly in write: for tasks, or until it takes what they have done")))' out >is || fail "room: $(jq -c '[.model, .findings]' out)"
exit $failed

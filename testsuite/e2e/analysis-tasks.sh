#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who runs a task in a barrier comes to it again; a task that was made behind the barrier, and taken by a thread
# on its way out, is no reason to think that this thread came late; a task that was not run is one
# to say that nothing is known.
. testsuite/fixtures/analysis/setup.sh

world() { # events
	cat <<-END
		dprof-text 1
		clock 0 host=h ghz=1
		process 0 clock=0 pid=1
		thread 0 clock=0 process=0 number=0
		thread 1 clock=0 process=0 number=1
		group 7 threads=0,1
		site 0 kind=barrier name=omp%20barrier file=made.c line=1
		site 1 kind=fork name=omp%20task file= line=0
		site 2 kind=region name=omp%20task file= line=0
		site 3 kind=join name=omp%20taskwait file= line=0
		site 4 kind=region name=body file=made.c line=2
	END
	cat
}

coz() { # region, what its absence saves in percent, options; a stamp is known to a tick of 1000
	expect 0 coz --json --region "$1" --reduce 100 "${@:3}" t
	[ ! -s err ] || fail "$1: $(cat err)"
	interval expected_percent <out >saved
	interval speedup_percent <out >>saved
	awk -v x="$2" '{ n++; if (!($1 <= x && x <= $2 && (n == 2 || $2 - $1 < 1))) bad = 1 } END { exit bad || n != 2 }' saved ||
		fail "$1, $2: $(cat out)"
}

# 1000 ticks: thread 0 works for 400 and makes a task, which thread 1 runs from 400 to 1000 in the barrier.
world <<-'END' | trace t
	e 0 0 4 enter
	e 0 400 4 exit
	e 0 400 1 point task=5 id=6
	e 0 400 0 enter group=7 seq=0
	e 0 1000 0 exit
	e 1 0 0 enter group=7 seq=0
	e 1 400 0 exit task=5
	e 1 400 2 enter task=5
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
END
expect 0 check t
says out "fine"
coz body 40
coz "omp task" 60
expect 0 csp --json t

# The same where that work is copying the task's data: it is said to be made before and behind each part.
world <<-'END' | trace t
	e 0 0 1 point task=5 id=6
	e 0 0 4 enter
	e 0 200 4 exit
	e 0 200 1 point task=5 id=6
	e 0 200 4 enter
	e 0 400 4 exit
	e 0 400 1 point task=5 id=6
	e 0 400 0 enter group=7 seq=0
	e 0 1000 0 exit
	e 1 0 0 enter group=7 seq=0
	e 1 400 0 exit task=5
	e 1 400 2 enter task=5
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
END
expect 0 check t
coz body 40
coz "omp task" 60

# Thread 0 leaves the barrier at 500, works until 800 and makes a task, which thread 1 runs on its way out.
world <<-'END' | trace t
	e 0 0 0 enter group=7 seq=0
	e 0 500 0 exit
	e 0 500 4 enter
	e 0 800 4 exit
	e 0 800 1 point task=5 id=6
	e 0 800 3 enter id=6
	e 0 1000 3 exit
	e 1 500 0 enter group=7 seq=0
	e 1 800 0 exit task=5
	e 1 800 2 enter task=5
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
END
expect 0 check t
coz body 30
coz "omp task" 20

# Thread 2 comes to the barrier last, at 390; thread 0 leaves it, and makes a task at 420, which thread 1 runs on its way out: it
# waited for thread 2 for 380, and behind that for thread 0 perhaps.
world <<-'END' | sed 's/^group 7.*/thread 2 clock=0 process=0 number=2\ngroup 7 threads=0,1,2/' | trace t
	e 0 0 0 enter group=7 seq=0
	e 0 400 0 exit
	e 0 420 1 point task=5 id=6
	e 0 420 3 enter id=6
	e 0 1000 3 exit
	e 1 10 0 enter group=7 seq=0
	e 1 440 0 exit task=5
	e 1 440 2 enter task=5
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
	e 2 0 4 enter
	e 2 390 4 exit
	e 2 390 0 enter group=7 seq=0
	e 2 410 0 exit
END
expect 0 waits --json t
jq -r '.waits[] | select(.thread == 1) |
	"\(.kind) \(.caused_by.thread) \(.verdict) \(.seconds.lo * 1e9 | round) \(.seconds.hi * 1e9 | round)"' out | LC_ALL=C sort >is
cat >shall <<-END
	wait_at_barrier 0 undecided 0 32
	wait_at_barrier 2 proved 379 381
END
cmp -s is shall || fail "a task made behind a barrier: waited $(cat is)"

# In a single thread 0 makes nine tasks in a taskgroup, of which thread 1 runs the first, which takes 400, and two more
# in the barrier, while thread 0 runs six: without the first, both would share out the other eight.
piece() { # thread task from to operation's site and key...
	echo "e $1 $3 $5 exit task=$2"
	echo "e $1 $3 2 enter task=$2"
	echo "e $1 $3 $([ "$2" -eq 11 ] && echo 6 || echo 4) enter"
	echo "e $1 $4 $([ "$2" -eq 11 ] && echo 6 || echo 4) exit"
	echo "e $1 $4 2 exit"
	echo "e $1 $4 $5 enter ${*:6}"
}
{
	echo "site 5 kind=join name=omp%20taskgroup file=made.c line=3"
	echo "site 6 kind=region name=long file=made.c line=4"
	echo "site 7 kind=fork name=single file=made.c line=5"
	echo "e 0 0 7 point group=7"
	for i in {11..19}; do echo "e 0 0 1 point task=$i id=6 tag=9"; done
	echo "e 0 10 5 enter id=9"
	for i in {0..5}; do piece 0 $((14 + i)) $((10 + 100 * i)) $((110 + 100 * i)) 5 id=9; done
	echo "e 0 610 5 exit"
	echo "e 0 610 0 enter group=7 seq=0"
	echo "e 0 1000 0 exit"
	echo "e 1 0 7 point group=7"
	echo "e 1 0 0 enter group=7 seq=0"
	piece 1 11 10 410 0 group=7 seq=0
	piece 1 12 410 510 0 group=7 seq=0
	piece 1 13 510 610 0 group=7 seq=0
	echo "e 1 1000 0 exit"
} | world | sed '/^e . 1000 0 exit/s/1000/610/' | trace t
expect 0 check t
says out "fine"
coz long 32.8 # from 610 to 410

# The same with two tasks, one after the other.
world <<-'END' | trace t
	e 0 0 0 enter group=7 seq=0
	e 0 500 0 exit
	e 0 500 4 enter
	e 0 800 4 exit
	e 0 800 1 point task=5 id=6
	e 0 800 1 point task=8 id=6
	e 0 800 3 enter id=6
	e 0 1000 3 exit
	e 1 500 0 enter group=7 seq=0
	e 1 800 0 exit task=5
	e 1 800 2 enter task=5
	e 1 900 2 exit
	e 1 900 0 enter group=7 seq=0
	e 1 900 0 exit task=8
	e 1 900 2 enter task=8
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
END
expect 0 check t
coz body 30
coz "omp task" 20

# Two write one address: thread 0, which waits for both, runs the second one when the first is over.
world <<-'END' | trace t
	e 0 0 1 point task=5 id=6
	e 0 0 1 point id=9 role=1
	e 0 0 1 point task=8 id=6
	e 0 0 1 point id=9 role=1
	e 0 0 3 enter id=6
	e 0 600 3 exit task=8
	e 0 600 2 enter task=8
	e 0 1000 2 exit
	e 0 1000 3 enter id=6
	e 0 1000 3 exit
	e 0 1000 0 enter group=7 seq=0
	e 0 1000 0 exit
	e 1 0 0 enter group=7 seq=0
	e 1 0 0 exit task=5
	e 1 0 2 enter task=5
	e 1 0 4 enter
	e 1 600 4 exit
	e 1 600 2 exit
	e 1 600 0 enter group=7 seq=0
	e 1 1000 0 exit
END
coz body 60

# A taskwait with dependences runs the first writer, and the second one is made later: nothing tells the second one
# of the end of the first, however long that would take. (Thread 1 has another task before.)
world <<-'END' | trace t
	e 0 0 1 point task=5 id=6
	e 0 0 1 point id=9 role=1
	e 0 0 1 point task=7 id=6
	e 0 0 1 point task=10 id=6 role=0
	e 0 0 1 point id=9 role=0
	e 0 0 3 enter task=10
	e 0 0 3 exit task=5
	e 0 0 2 enter task=5
	e 0 300 2 exit
	e 0 300 3 enter task=10
	e 0 300 3 exit
	e 0 300 4 enter
	e 0 600 4 exit
	e 0 600 1 point task=8 id=6
	e 0 600 1 point id=9 role=1
	e 0 600 0 enter group=7 seq=0
	e 0 1000 0 exit
	e 1 0 0 enter group=7 seq=0
	e 1 0 0 exit task=7
	e 1 0 2 enter task=7
	e 1 300 4 enter
	e 1 600 4 exit
	e 1 600 2 exit
	e 1 600 0 enter group=7 seq=0
	e 1 600 0 exit task=8
	e 1 600 2 enter task=8
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
END
coz body 30 --transfer worst

# A taskwait, behind which another task is made, for which the next one waits.
world <<-'END' | trace t
	e 0 0 1 point task=5 id=6
	e 0 0 3 enter id=6
	e 0 500 3 exit
	e 0 500 1 point task=8 id=6
	e 0 500 4 enter
	e 0 800 4 exit
	e 0 800 3 enter id=6
	e 0 1000 3 exit
	e 0 1000 0 enter group=7 seq=0
	e 0 1000 0 exit
	e 1 0 0 enter group=7 seq=0
	e 1 0 0 exit task=5
	e 1 0 2 enter task=5
	e 1 500 2 exit
	e 1 500 0 enter group=7 seq=0
	e 1 500 0 exit task=8
	e 1 500 2 enter task=8
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
END
coz body 0
coz "omp task" 70

# Thread 1 comes last, at 1000, and leaves the barrier for a task in the tick in which thread 0 leaves it for good: which
# was first is not known, so it is not proved that thread 1 waits for none. It does, for thread 0, which is there at 600.
world <<-'END' | trace t
	e 0 600 0 enter group=7 seq=0
	e 0 1000 0 exit
	e 1 0 4 enter
	e 1 1000 1 point task=5 id=6
	e 1 1000 4 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit task=5
	e 1 1000 2 enter task=5
	e 1 1000 2 exit
	e 1 1000 0 enter group=7 seq=0
	e 1 1000 0 exit
	e 1 2000 3 enter id=6
	e 1 2000 3 exit
END
expect 0 coz --region body --reduce 100 --json t
interval speedup_percent <out | awk '{ exit !($1 <= 20 && 20 <= $2) }' || fail "leaves and is left at once: $(cat out)"

# The task was not run.
world <<-'END' | trace t
	e 0 0 1 point task=5 id=6
	e 0 100 3 enter id=6
	e 0 1000 3 exit
	e 1 0 4 enter
	e 1 900 4 exit
END
expect 0 coz --json --region body --reduce 100 t
noted "an operation waits for others, but the trace does not say for whom"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Threads: what programs do with pthreads, the C++ library and OpenMP is recorded once, whole and in
# groups that all agree on; with the plugin and without. The program itself is never disturbed.
from=$PWD/testsuite/fixtures/threads
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

read -ra with_plugin < <(pkg-config --cflags dprof)
read -ra libraries < <(pkg-config --libs dprof)
compile() { # name compiler... source: with the plugin, or without, if its name is ...-unseen
	local name=$1 how=(-Werror "${with_plugin[@]}")
	case $name in *-unseen) how=(-Wno-unknown-pragmas) ;; esac
	"${@:2}" -O2 -D_GNU_SOURCE -pthread -Wall -Wextra "${how[@]}" -o "$name" "${libraries[@]}" || fail "$name does not compile"
}

declare -A sums
record() { # program arguments... -> text, sums
	rm -rf dprof-*
	timeout 60 "$@" >out 2>&1 || fail "$*: exit status $?: $(cat out)"
	[ ! -s out ] || fail "$*: printed $(head -3 out)"
	"$analyze" check dprof-* >verdict || fail "$*: $(cat verdict)"
	"$analyze" coz dprof-* >/dev/null 2>diagnostics || fail "$*: coz: exit status $?" # said of what is not known
	[ ! -s diagnostics ] || fail "$*: coz: $(cat diagnostics)"
	"$analyze" dump dprof-* >text || fail "$*: dump: exit status $?"
	# NAME OPERATION [id] COUNT; an exit has the arguments of its enter
	sums=()
	local what n
	while read -r n what; do sums[$what]=$n; done < <(awk '
	     $1 == "site" { sub(/^name=/, "", $4); sub(/^task%20openmp.c:[0-9]+$/, "task%20openmp.c", $4); name[$2] = $4 }
	     $1 == "e" { n[name[$4] " " $5 ($5 != "exit" && / id=/ ? " id" : "")]++ }
	     $1 == "e" && $5 == "exit" && / task=/ { n[name[$4] " interrupted"]++ }
	     END { for (what in n) print n[what], what }' text)
}

counts() { # name operation[ id] expected
	local got=${sums[$1 $2]:-0}
	[ "$got" = "$3" ] || fail "$program: expected $3 times $1 $2, found $got"
}

operations() { # name expected: entered and left
	counts "$1" "$3" "$2"
	counts "$1" exit "$2"
}

# Each group and number of a kind of operation has every thread of the group once; who runs a task
# meanwhile comes again, and who has left a team may come again to its end.
consistent() {
	awk '$1 == "site" { sub(/^kind=/, "", $3); kind[$2] = $3 }
	     $1 == "group" { sub(/^threads=/, "", $3); size[$2] = split($3, member, ",") }
	     $1 == "e" && $5 == "exit" && / task=/ { interrupted[at[$2, $4], $2] = 1 }
	     $1 == "e" && $5 == "enter" && match($0, / group=[0-9]+ seq=[0-9]+/) {
		key = at[$2, $4] = kind[$4] substr($0, RSTART, RLENGTH)
		if (seen[key, $2]++) {
			if (!interrupted[key, $2] && (key !~ /^join/ || / role=1/))
				print key ": thread " $2 " came twice"
			interrupted[key, $2] = 0
			next
		}
		came[key]++
		split(substr($0, RSTART + 7), words, " ")
		of[key] = words[1]
		if ($0 ~ /role=1/) roots[key]++
	     }
	     END {
		for (key in came) {
			if (came[key] != size[of[key]]) print key ": " came[key] " of " size[of[key]]
			if (key ~ /^(fork|join)/ && roots[key] != 1) print key ": " roots[key] + 0 " opened it"
		}
	     }' text >wrong
	[ ! -s wrong ] || fail "$program: $(head -5 wrong)"
}

for unseen in "" -unseen; do
	compile c$unseen gcc "$from/pthreads.c"
	compile c11$unseen gcc "$from/c11.c"
	compile std$unseen g++ "$from/std.cc"
	compile omp$unseen gcc -fopenmp "$from/openmp.c"
	compile tasks$unseen gcc -fopenmp "$from/tasks.c"
done
compile c++ g++ -x c++ "$from/pthreads.c" -x none
compile tasks++ g++ -fopenmp -x c++ "$from/tasks.c" -x none
compile omp++ g++ -fopenmp -x c++ "$from/openmp.c" -x none

for program in c c-unseen c++; do
	record ./$program create
	operations pthread_create 6 enter # of which one could not be made
	operations pthread_join 3 enter
	counts thread%20begin point 5
	counts thread%20end point 5
	operations sem_wait 2 "enter id"
	counts sem_post "point id" 2

	record ./$program locks
	operations pthread_create 6 enter
	operations pthread_mutex_lock 60 "enter id"
	operations pthread_mutex_trylock 1 "enter id"
	counts pthread_mutex_unlock "point id" 61
	operations pthread_rwlock_rdlock 60 "enter id"
	operations pthread_rwlock_wrlock 60 "enter id"
	counts pthread_rwlock_unlock "point id" 120
	operations pthread_spin_lock 60 "enter id"
	counts pthread_spin_unlock "point id" 60
	[ "$(grep -c 'enter .*role=0' text)" = 60 ] || fail "$program: 60 readers: $(grep -c 'enter .*role=0' text)"

	record ./$program waits
	counts pthread_cond_signal "point id" 20
	operations sem_wait 20 "enter id"
	counts sem_post "point id" 20
	counts sem_init "point id" 1
	grep -q 'point id=.* tag=0$' text || fail "$program: no semaphore was made with no permits"
	counts pthread_cond_wait enter 2 # cancelled, and given up
	taken=${sums[pthread_mutex_lock exit]:-0}
	counts pthread_mutex_lock "enter id" "$taken"
	counts pthread_mutex_unlock "point id" "$taken"

	record ./$program barriers
	operations pthread_barrier_wait 120 enter
	[ "$(sed -n 's/^e .* \(group=[0-9]* seq=[0-9]*\).*/\1/p' text | sort -u | wc -l)" = 40 ] ||
		fail "$program: not 40 collective operations"
	consistent
done

for program in c11 c11-unseen; do
	record ./$program
	operations pthread_create 3 enter
	operations pthread_join 3 enter
	counts pthread_cond_signal "point id" 1
	counts pthread_cond_broadcast "point id" 1
	taken=${sums[pthread_mutex_lock exit]:-0}
	[ "$taken" -ge 43 ] || fail "$program: $taken locks"
	counts pthread_mutex_lock "enter id" "$taken"
	counts pthread_mutex_unlock "point id" "$taken"
done

for program in std std-unseen; do
	record ./$program
	operations pthread_create 2 enter
	operations pthread_join 2 enter
	counts pthread_cond_broadcast "point id" 20
done

for program in omp omp-unseen omp++; do
	for threads in 1 2 3 4; do
		record ./$program $threads
		consistent
		rounds=$((threads == 1 ? 1 : 7)) # in which a thread could wait for a task
		members=$((6 * threads + 2))
		counts omp_set_lock "point id" $members
		counts omp%20critical "point id" $((2 * members))
		counts omp%20atomic%20or%20reduction "enter id" $((2 * members))
		counts omp%20atomic%20or%20reduction "point id" $((2 * members))
		counts omp%20ordered "point id" $((7 * 4 + members)) # of each iteration, and when a thread is through with some
		counts omp%20taskwait "enter id" $((rounds + ${sums[omp%20taskwait interrupted]:-0}))
		counts omp%20task "point id" 7
		# Each of two loops and the sections begins, and has a first piece or none; where something is recorded
		# in each, all eight.
		teams=$((threads == 1 ? 1 : 7)) # of more than one thread
		case $program in *unseen) pieces=0 ;; *) pieces=$((8 * teams)) ;; esac
		counts dynamic%20loop point $((6 * (threads == 1 ? 2 : members) + pieces))
		case $program in *unseen) operations omp%20task 7 enter ;; *) operations task%20openmp.c 7 enter ;; esac
	done
done

# Each task that is made is run, by whoever; all that waits is explained.
every_task() {
	awk '/ point task=/ { made[$6]++ } / enter task=/ { run[$6]++; n++ }
	     END {
		for (task in made) if (!run[task] || made[task] > 1) print task ": made " made[task] ", run " run[task] + 0
		for (task in run) if (!made[task]) print task ": not made"
		if (!n) print "no tasks"
	     }' text >wrong
	[ ! -s wrong ] || fail "$program: $(head -5 wrong)"
}

for run in "tasks 1 forms" "tasks 3 forms" "tasks 1 reductions" "tasks 3 reductions" "tasks++ 3 reductions" "tasks 3 depths" \
	"tasks 1 leftovers" "tasks 3 leftovers" "tasks 3 target" "tasks 3 detached" "tasks 1 alone" "tasks-unseen 3 forms" "tasks++ 3 forms"; do
	program=${run%% *}
	# shellcheck disable=SC2086
	record ./$run
	consistent
	case $run in # a taskwait with dependences is a task that is not run
	*leftovers | *target | *detached) every_task ;;
	esac
done

# No lock is recorded when they are not wanted, and the trace says so.
program="DPROF_EVENTS=-lock,-wait"
DPROF_EVENTS=-lock,-wait record ./c locks
operations pthread_create 6 enter
grep -q '^e .* id=' text && fail "locks are recorded although they are off"
grep -qs '^without wait,lock$' dprof-*/*.process || fail "nothing says that locks are off"
DPROF_EVENTS=-lock record ./omp 2
[[ " ${!sums[*]}" == *" omp"@(%20critical|%20atomic*|_set_lock|%20ordered)" "* ]] && fail "OpenMP's locks are recorded although they are off"
rm -rf dprof-*
DPROF_OFF=1 ./c locks && DPROF_OFF=1 ./omp 3 || fail "DPROF_OFF disturbs the program"
[ -z "$(ls -d dprof-* 2>/dev/null)" ] || fail "DPROF_OFF leaves a trace"

# The helper looks at threads after some 10 ms: what it then finds does not change what was said at the end of the process.
compile brief gcc "$from/brief.c"
leave=(leave "")
for ((try = 0; try < 40; try++)); do
	rm -rf dprof-*
	./brief ${leave[try % 2]} || fail "brief: exit status $?"
	"$analyze" check dprof-* >verdict 2>&1
	read -rd '' verdict <verdict
	[[ $verdict != *'the sum'* ]] || fail "brief: $verdict"
done

# A thread that begins among many has smaller chunks, and records as much all the same.
program="many threads"
cat >many.c <<'END'
#include <pthread.h>
enum { FEW_EACH = 254 };
static pthread_barrier_t begun, over;
static volatile int n;
static void *work(void *times)
{
	for (int i = 0; i < *(int *)times; i++) {
#pragma dprof region(many)
		n = i;
	}
	if (*(int *)times == 10)
		pthread_barrier_wait(&begun);
	pthread_barrier_wait(&over);
	return times;
}
int main(void)
{
	static int few = 10, much = 300000;
	pthread_t thread[FEW_EACH + 1];
	pthread_barrier_init(&begun, 0, FEW_EACH + 1);
	pthread_barrier_init(&over, 0, FEW_EACH + 1);
	for (int i = 0; i < FEW_EACH; i++)
		pthread_create(&thread[i], 0, work, &few);
	pthread_barrier_wait(&begun);
	pthread_create(&thread[FEW_EACH], 0, work, &much);
	for (int i = 0; i <= FEW_EACH; i++)
		pthread_join(thread[i], 0);
	return 0;
}
END
compile many gcc many.c
export DPROF_EVENTS=region
record ./many
unset DPROF_EVENTS
operations many 302540 enter
head -qc 104 dprof-*/*.events | od -A n -v -t u8 -w104 | awk '{ print $13 }' | sort -n >largest # each of byte 96
if [ "$(head -1 largest)" != 262144 ] || ! awk '{ n += $1 } END { exit !(n < 160 * 2 ^ 20) }' largest; then
	fail "many threads: bytes of the largest chunks: $(uniq -c largest | xargs)"
fi

# A barrier that processes share says which it is, and so does one that a child has from its parent: that is another one.
program="barriers of processes"
cat >shared.c <<'END'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t own, *shared;
static void *meet(void *barrier)
{
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(barrier);
	return 0;
}
static void meet_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, meet, &own);
	meet(&own);
	pthread_join(thread, 0);
}
int main(void)
{
	pthread_barrierattr_t of_processes;
	pid_t child;
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&of_processes);
	pthread_barrierattr_setpshared(&of_processes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(shared, &of_processes, 2);
	pthread_barrier_init(&own, 0, 2);
	child = fork();
	meet(shared);
	meet_thread();
	if (child)
		waitpid(child, 0, 0);
	return 0;
}
END
compile shared gcc shared.c
record ./shared
sed -n 's/.* enter .*object=\([0-9]*\).*/\1/p' text | sort | uniq -c | awk '{ print $1 }' | xargs >each
[ "$(cat each)" = "6 6" ] || fail "$program: visits that say a barrier: $(cat each)"

# Threads that are made at once have the numbers that their makers were told, each of them: dprof's own lock, for which
# they wait, records nothing, with which a thread would begin before it knows who it is.
cat >many.c <<'END'
#include <pthread.h>
static void *nothing(void *x)
{
	return x;
}
static void *make(void *x)
{
	pthread_t made[8];
	for (int round = 0; round < 25; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&made[i], 0, nothing, x);
		for (int i = 0; i < 8; i++)
			pthread_join(made[i], 0);
	}
	return x;
}
int main(void)
{
	pthread_t makers[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&makers[i], 0, make, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(makers[i], 0);
	return 0;
}
END
compile many gcc many.c
for _ in 1 2 3 4 5 6; do
	record ./many
	numbers=$(sed -n 's/^threads //p' dprof-many.*/*.process)
	[ "$numbers" = 0-804 ] || fail "$program: expected threads 0-804, found $numbers"
done

# A thread of high priority waits for no other one of its core for as long as the kernel lets it have that (0.95 s and more).
"$B/bin/dprof-cc" -O2 -pthread -Wall -Wextra -Werror -o priorities "$from/priorities.c" || fail "priorities.c does not compile"
for _ in 1 2; do # or nobody had a core for the other one
	longest=$(DPROF_QUIET=1 timeout -s KILL 120 ./priorities)
	status=$?
	[ "$status" = 77 ] || is_true "$status == 0 && ${longest:-9} < 0.5" && break
	rm -rf dprof-priorities.*
done
[ "$status" = 77 ] || is_true "$status == 0 && ${longest:-9} < 0.5" || fail "priorities: exit status $status, asked for $longest s"

[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

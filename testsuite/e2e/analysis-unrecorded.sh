#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who was blocked in a call that no adapter sees seems to work. The kernel's count shows that it was not running:
# that is said with figures, and nothing is proved that it could change. Who spins while it waits, and who is
# blocked in what was recorded, is blamed for nothing.
from=$PWD/testsuite/fixtures/analysis
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# The worker works 30 ms at a time; its victim waits for it, and is ready at once.
cat >program.c <<'C'
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 15

static int there[2], back[2];

#ifdef RAW
static long call(long number, long fd, void *to, long bytes)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(fd), "S"(to), "d"(bytes)
			 : "rcx", "r11", "memory");
	return result;
}
#define CALL(function, fd, to, bytes) call(SYS_##function, fd, to, bytes)
#else
#define CALL(function, fd, to, bytes) function(fd, to, bytes)
#endif

static void *worker(void *x)
{
	char c = 0;
	for (int i = 0; i < ROUNDS; i++) {
		usleep(30000);
		if (CALL(write, there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return &there;
	}
	return x;
}

static void *victim(void *x)
{
	char c = 0;
	for (int i = 0; i < ROUNDS; i++) {
		if (CALL(read, there[0], &c, 1) != 1)
			return &there;
		usleep(1000);
		if (write(back[1], &c, 1) != 1)
			return &there;
	}
	return x;
}

int main(void)
{
	pthread_t threads[2];
	void *result[2];
	if (pipe(there) || pipe(back) || pthread_create(&threads[0], NULL, worker, NULL) ||
	    pthread_create(&threads[1], NULL, victim, NULL))
		return 1;
	pthread_join(threads[0], &result[0]);
	pthread_join(threads[1], &result[1]);
	return result[0] || result[1];
}
C

# Who is early at the barrier spins.
cat >spin.c <<'C'
#include <omp.h>
#include <unistd.h>

int main(void)
{
#pragma omp parallel num_threads(2)
	for (int i = 0; i < 10; i++) {
		usleep(omp_get_thread_num() ? 30000 : 1000);
#pragma omp barrier
	}
	return 0;
}
C

record() { # NAME SOURCE FLAGS...
	local name=$1 source=$2
	shift 2
	# shellcheck disable=SC2046
	gcc -O2 -I"$from" $(pkg-config --cflags dprof) "$@" -o "$name" "$source" $(pkg-config --libs dprof) || fail "$name"
	"./$name" >said || fail "$name: exit status $?"
	"$analyze" report dprof-"$name".* >out || fail "report: $(cat out)"
	tr -s ' \n' ' ' <out >page
	"$analyze" csp --json dprof-"$name".* >json || fail "csp: $(cat json)"
	"$analyze" coz dprof-"$name".* >coz 2>err
}

# "THREAD LO HI" of what each thread was blocked in unrecorded calls, seconds
blocked() {
	tr -d '"{},:' <json | awk '$1 == "thread" { t = $2 } $1 == "blocked_unrecorded_s" { print t, $3, $5 }'
}

if [ "$(cat /proc/self/schedstat 2>/dev/null || echo 0 0 0)" = "0 0 0" ]; then
	echo "this kernel does not count delays"
	exit 77
fi

# The victim is thread 1 or 2, whichever was first; the other one is blamed for nothing.
record raw program.c -pthread -DRAW
grep -q ' proved ' out && fail "something is proved: $(cat out)"
"$analyze" diagnose --json dprof-raw.* 2>/dev/null |
	jq -e '.findings | length > 0 and all(.region == "worker" or (.proved | not))' >/dev/null ||
	fail "diagnose proves what the victim cost"
# Where the machine itself was kept from running, others were blocked for some ms.
grep -Eq 'by the kernel.s count these were blocked where nothing was recorded that blocks: .*thread [12] for (0\.[1-9]|[1-9])[0-9.]* \.\. [0-9.]* s[,.]' page ||
	fail "nothing is said of the victim: $(cat out)"
grep -q 'Undecided: .* blocked and dprof does not know in what' page || fail "the verdict does not say why: $(cat out)"
grep -q 'by the kernel.s count' coz || fail "coz does not say it: $(cat coz)"
grep -q ' proved$' coz && fail "coz proves something: $(cat coz)"
grep -q 'this kernel does not count' out && fail "this kernel counts: $(cat out)"
blocked | awk '$2 > 0.05 { victims++; if ($3 < 0.2 || $2 > $3) exit 1 } END { exit victims != 1 }' ||
	fail "expected one victim, blocked for some 0.4 s: $(blocked)"
# What counts as work may have been waiting: of the three threads the victim may have worked for that much less. On a busy machine
# it works for long, too, when it has no core.
share=$(blocked | awk -v span="$(interval span_s <json | cut -d' ' -f1)" '$2 > 0.05 { print 100 * $2 / span }')
"$analyze" efficiency --json dprof-raw.* >json || fail "efficiency: $(cat json)"
jq -e ".parallel.hi - .parallel.lo >= $share / 3 - 1" json >held || fail "efficiency, blocked for $share %: $(jq -c .parallel json)"
"$analyze" efficiency dprof-raw.* | tr -s ' \n' ' ' |
	grep -q 'blocked where nothing was recorded that blocks, for at most [0-9.]* s' ||
	fail "efficiency does not say it: $("$analyze" efficiency dprof-raw.*)"
"$analyze" coz --json --region victim --reduce 100 dprof-raw.* >json 2>err || fail "coz: $(cat err)"
jq -e "[.expected_percent.lo, .speedup_percent.lo] | all(. <= 101 - $share)" json >held || fail "coz, blocked for $share %: $(jq -c . json)"

# Who sleeps beside a worker, where the user has left sleeps out, is blamed for none of them. It says for how long it slept, and for how long there was
# no worker, in seconds.
cat >polls.c <<'C'
#include <pthread.h>
#include <unistd.h>

#include "counted.h"

static double came, went;

static void *worker(void *x)
{
	came = now();
	for (clock_t until = clock() + CLOCKS_PER_SEC / 5; clock() < until;)
		;
	went = now();
	return x;
}

int main(void)
{
	pthread_t thread;
	double begin = now(), begun;
	if (pthread_create(&thread, NULL, worker, NULL))
		return 1;
	begun = begin_count();
	for (int i = 0; i < 12; i++) /* the worker is long through */
		usleep(50000);
	double slept = blocked_since(begun);
	if (pthread_join(thread, NULL))
		return 1;
	printf("%.6f %.6f\n", slept, came - begin + now() - went);
	return 0;
}
C
DPROF_EVENTS=-sleep record polls polls.c -pthread
read -r slept alone <said
is_true "$slept < 0.1" || grep -q 'by the kernel.s count these were blocked where nothing was recorded that blocks: .*thread 0 for [0-9]*\.' page ||
	fail "sleeps that were left out are work: $(cat out)"
! grep -q '(proved' page || fail "who slept unrecorded or worked beside that is proved: $(cat out)"
jq -e ".threads | (.[] | select(.thread == 0) | .blocked_unrecorded_s.hi >= $slept - 0.001 and .alone_s.lo <= $alone + 0.001) and
	(.[] | select(.thread == 1).alone_s.hi >= $slept - $alone - 0.001)" json >held ||
	fail "main slept for $slept s beside the worker, and was alone for $alone s: $(cat json)"

# Where the kernel tells nothing of threads that is said, and nothing is proved.
hide_threads() { # PROGRAM, with its process's folder of threads empty
	unshare --mount sh -c 'mount -t tmpfs none /proc/$$/task && exec "$1"' sh "$1"
}
rm -r dprof-raw.*
if hide_threads /bin/true 2>err; then
	hide_threads ./raw || fail "without /proc/PID/task: $?"
	"$analyze" dprof-raw.* >out 2>&1 || fail "report: $(cat out)"
	tr -s ' \n' ' ' <out | grep -q 'note: this kernel does not count for how long threads had to wait for a core' ||
		fail "the kernel tells nothing, and no note says so: $(cat out)"
	grep -q '[0-9]  *proved ' out && fail "the kernel tells nothing, and it is proved: $(cat out)"
fi

# Where the bounds are open nothing is proved, either. The worker works for WORK us, and then its victim for REST, twice: had the
# victim not been seen to be blocked before, it would be the first.
cat >open.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int channel[2];
static pthread_barrier_t both;

static void *worker(void *x)
{
	for (int i = 0; i < 2; i++) {
		usleep(WORK);
		if (write(channel[1], "x", 1) != 1)
			abort();
		pthread_barrier_wait(&both);
	}
	pthread_barrier_wait(&both);
	return x;
}

/* While it sleeps what main needs to be recorded is opened. */
static void *early(void *x)
{
	usleep(REST);
	return x;
}

static long wait_unseen(char *to)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_read), "D"((long)channel[0]), "S"(to), "d"(1L)
			 : "rcx", "r11", "memory");
	return result;
}

int main(void)
{
	pthread_t thread;
	char c, folder[] = "rootXXXXXX";
	if (pipe(channel) || pthread_barrier_init(&both, NULL, 2))
		return 1;
	if (pthread_create(&thread, NULL, early, NULL) || pthread_join(thread, NULL))
		return 1;
	if (NO_PROC && (!mkdtemp(folder) || chroot(folder)))
		return 77;
	if (pthread_create(&thread, NULL, worker, NULL))
		return 1;
	for (int i = 0; i < 2; i++) {
		if (wait_unseen(&c) != 1)
			return 1;
		usleep(REST);
		pthread_barrier_wait(&both);
	}
	if (KILLED)
		raise(SIGKILL);
	pthread_barrier_wait(&both);
	return pthread_join(thread, NULL);
}
C

# On a busy machine the order may be sure all the same: whoever is before one that is proved, or is it, was alone for longer than
# the next even without all the time for which it may have been blocked.
stays_first() {
	jq -e '[.threads as $all | $all[] | select(.verdict == "proved") as $one | $all[] | select(.thread != $one.thread) as $other |
		(if $one.alone_s.lo > $other.alone_s.hi then [$one, $other] else [$other, $one] end) as [$more, $less] |
		$more.alone_s.lo - ($more.blocked_unrecorded_s.hi // infinite) > $less.alone_s.hi] | length > 0 and all' >held
}

open_verdict() { # NAME STATUS PLANNED-SECONDS FLAGS...
	local name=$1 status=$2 planned=$3
	shift 3
	# shellcheck disable=SC2046
	gcc -O2 $(pkg-config --cflags dprof) -DKILLED=0 -DNO_PROC=0 "$@" -o "$name" open.c -pthread $(pkg-config --libs dprof) ||
		fail "$name"
	for _ in 1 2 3 4 5; do # where the machine kept the victim from running as well, it may be the first
		rm -rf dprof-"$name".*
		{ "./$name"; } 2>/dev/null
		[ $? = "$status" ] || fail "$name: expected exit status $status"
		"$analyze" csp dprof-"$name".* >out 2>err
		"$analyze" csp --json dprof-"$name".* >json 2>/dev/null
		interval span_s <json | awk -v planned="$planned" '{ exit $1 > planned }' && break
	done
	if grep -q '[0-9]  *proved ' out; then
		stays_first <json || fail "$name: something is proved: $(cat out)"
		return
	fi
	tr -s ' \n' ' ' <out | grep -Eq 'by the kernel.s count|the kernel.s counts leave open whether these were blocked .*: thread 0|some threads ended inside of .* what they did then is not known' ||
		fail "$name: nothing is said of the victim: $(cat out)"
}

# So short that the kernel's answers are of its begin and its end alone; killed, so that the last one is missing; and where
# there is no /proc any more.
open_verdict short 0 0.025 -DWORK=5000 -DREST=2000
open_verdict killed 137 0.7 -UKILLED -DKILLED=1 -DWORK=200000 -DREST=50000
if [ "$(id -u)" = 0 ]; then
	open_verdict no-proc 0 0.7 -UNO_PROC -DNO_PROC=1 -DWORK=200000 -DREST=50000
fi

# A child that records nothing before it waits has been there all the same: the other one works for 400 ms meanwhile.
cat >children.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counted.h"

int main(void)
{
	int channel[2], status;
	char c = 0;
	volatile int *waits = mmap(NULL, sizeof *waits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (waits == MAP_FAILED || pipe(channel))
		return 1;
	if (fork() == 0) {
		double begun = begin_count();
		*waits = 1;
		if (call(SYS_read, channel[0], &c, 1) != 1)
			abort();
		double waited = blocked_since(begun);
		usleep(50000);
		printf("%.6f\n", waited);
		exit(0);
	}
	if (fork() == 0) {
		while (!*waits)
			usleep(1000);
		usleep(400000);
		if (call(SYS_write, channel[1], &c, 1) != 1)
			abort();
		exit(0);
	}
	return wait(&status) < 0 || wait(&status) < 0;
}
C
record children children.c
waited=$(<said)
is_true "$waited < 0.2" || jq -e '[.threads[].verdict] | all(. == "undecided")' json >held || fail "children: something is proved: $(cat out)"
jq -e ".threads | map(.blocked_unrecorded_s) | any(.hi >= $waited - 0.001) and all(.lo < $waited + 0.1)" json >held ||
	fail "children: expected one to be blocked for $waited s: $(cat json)"
jq -e '[.machine[].cpu_s.hi] | all(. > 0.000001)' json >held || fail "children: no processor time: $(jq -c .machine json)"

# The same through the C library, which is recorded; and spinning. (A page of the program may have to be read.)
record recorded program.c -pthread
blocked | awk '$2 > 0.05 { exit 1 }' || fail "recorded calls: $(blocked)"
export OMP_WAIT_POLICY=active
record spin spin.c -fopenmp
blocked | awk '$2 > 0.05 { exit 1 }' || fail "spinning: $(blocked)"

# Of a thread that surely ran nearly always nobody else can have been alone for long, whatever they were blocked for: its
# place holds, although each of the others may have been blocked for as long as it was alone.
{
	echo 'dprof-text 1'
	echo 'clock 0 host=h ghz=1'
	echo 'process 0 rank=0 size=1 pid=1 program=a job=1'
	for thread in 0 1 2; do
		echo "thread $thread clock=0 rank=0 process=0 number=$thread name=a"
	done
	echo 'group 1 threads=0,1,2'
	echo 'site 0 kind=region name=body file=a.c line=1 column=1 function=main'
	echo 'site 1 kind=barrier name=barrier file=a.c line=2 column=1 function=main'
	for thread in 0 1 2; do
		came=$((thread == 1 ? 99000000 : 70000000))
		echo "sched $thread 1000000 1000000 cpu=1000000 delay=0"
		echo "sched $thread 101000000 101000000 cpu=$((came + 1000000)) delay=0 last=1"
		echo "e $thread 1000000 0 enter"
		echo "e $thread $((came + 1000000)) 0 exit"
		echo "e $thread $((came + 1000001)) 1 enter group=1 seq=0"
		echo "e $thread 101000000 1 exit group=1 seq=0"
	done
} | "$analyze" pack - holds || fail "pack refused the trace"
"$analyze" csp --json holds >json || fail "csp: $(cat json)"
blocked | awk '$1 != 1 && $3 < 0.02 { exit 1 }' || fail "the others may be blocked for 30 ms: $(blocked)"
tr -d '"{},:' <json | awk '$1 == "thread" { t = $2 } $1 == "verdict" && t == 1 { exit $2 != "proved" }' ||
	fail "thread 1 is not proved: $("$analyze" csp holds)"
# What intervals of scores leave out is said where they stand, and where it is said that they contain the truth.
for command in csp report; do
	"$analyze" $command holds | tr -s ' \n' ' ' >page
	grep -q 'Scores (others wait) take for work what may have been a wait that was not recorded: up to 3[0-9.]* % of the run in one thread' page ||
		fail "$command: how much of the scores may have been waiting: $(cat page)"
done
"$analyze" csp --json holds | jq -e '.open_work_percent | .lo == 0 and .hi > 30 and .hi < 40' >is || fail "open_work_percent: $(cat is)"
"$analyze" dump holds | sed '/^sched/d' | "$analyze" pack - silent || fail "pack refused the trace"
"$analyze" report silent | grep -q 'Scores (others wait)' && fail "nothing is open where the kernel says nothing: $("$analyze" report silent)"
echo "as expected"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Signals come to threads that have just begun, or are about to end: what their handlers record is there, all of it, and is of
# the thread that was made. A thread that has signals of its own from the beginning keeps them.
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_DIR=$dir DPROF_QUIET=1
cat >"$dir/young.c" <<'C'
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
enum { THREADS = 400 };
static volatile long x;
static long handled, wrong;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;
static sigset_t before;
static void handle(int signal)
{
	(void)signal;
#pragma dprof region(handler)
	for (int i = 0; i < 50; i++)
		x += i;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}
static void differ(const sigset_t *expected)
{
	sigset_t now;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int signal = 1; signal < NSIG; signal++)
		wrong += sigismember(&now, signal) != sigismember(expected, signal);
}
static void *work(void *how)
{
	differ(&before);
	switch ((long)how % 4) {
	case 0: {
#pragma dprof region(work)
		x++;
		break;
	}
	case 1:
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		break;
	case 2:
		sem_wait(&posted);
		break;
	default:
		usleep(10);
	}
	return NULL;
}
static void *differs(void *own)
{
	differ(own);
	return NULL;
}
static void signals_of_its_own(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t own;
	sigemptyset(&own);
	sigaddset(&own, SIGUSR2);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &own);
	pthread_create(&thread, &attr, differs, &own);
	pthread_join(thread, NULL);
}
/* Then signals wait for a thread when it begins. */
static void stay_on_one_core(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}
int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = handle, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGALRM, &a, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	sem_init(&posted, 0, 0);
	(void)argv;
	if (argc > 1)
		stay_on_one_core();
	signals_of_its_own();
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < THREADS; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, (void *)i);
		for (int k = 0; k < 3; k++)
			pthread_kill(thread, SIGUSR1);
		sem_post(&posted);
		pthread_join(thread, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	differ(&before);
	printf("%d threads, %ld handlers, %ld wrong signals\n", THREADS + 2, handled, wrong);
	return 0;
}
C
# shellcheck disable=SC2046
gcc -O1 -D_GNU_SOURCE -pthread -Wall -Wextra -Werror $(pkg-config --cflags dprof) "$dir/young.c" -o "$dir/young" $(pkg-config --libs dprof) || exit 1
for how in "" one-core; do
	about() { echo "young $how: "; }
	rm -rf "$dir"/dprof-young.*
	# shellcheck disable=SC2086
	"$dir/young" $how >"$dir/said" || fail "exit status $?"
	"$analyze" check "$dir"/dprof-young.* >"$dir/verdict" 2>&1 || fail "$(cat "$dir/verdict")"
	"$analyze" dump "$dir"/dprof-young.* >"$dir/text"
	awk '$1 == "site" { sub(/^name=/, "", $4); name[$2] = $4 }
	     $1 == "e" && name[$4] == "handler" && $5 == "exit" { handlers++ }
	     $1 == "e" && name[$4] == "pthread_create" && $5 == "enter" && match($0, / thread=[0-9]+/) {
		made[substr($0, RSTART + 8, RLENGTH - 8)]
	     }
	     $1 == "e" && name[$4] ~ /^thread.*begin$/ { began[$2] }
	     END { threads = 1; for (t in made) threads += t in began
		printf "%d threads, %d handlers, 0 wrong signals\n", threads, handlers }' "$dir/text" | diff "$dir/said" - >"$dir/wrong" ||
		fail "the program said, and its trace has: $(cat "$dir/wrong")"
	cat "$dir/said"
done

# Where threads are not recorded their creator has its signals back, too.
DPROF_EVENTS=region "$dir/young" >"$dir/said" || fail "regions only: exit status $?"
grep -q ' 0 wrong signals' "$dir/said" || fail "regions only: $(cat "$dir/said")"
exit "$failed"

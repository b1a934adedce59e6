#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a thread does while a command runs for it (system), while all streams are written out (fflush(NULL), of which some
# may be the program's own), or before a signal ends its sleep, may be work or waiting: no other is proved for that.
. testsuite/fixtures/analysis/setup.sh
at_once=
export DPROF_DIR=$tmp DPROF_QUIET=1

# A thread has something done for 300 ms, and then main works for 100 ms; or main sleeps until the thread has worked. Before that
# either may stand still for some ms: what keeps it is not recorded. Prints for how long the thread has something done, for how long
# of that main waits, for how long main works then, and how long all of it takes, in seconds.
cat >mixed.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t both;
static pthread_t first;
static const char *way;
static long still_ms, main_still_ms;
static double waits, begun, done;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ssize_t slowly(void *cookie, const char *from, size_t n)
{
	(void)cookie, (void)from;
	usleep(300000);
	return (ssize_t)n;
}

static void flush_all(void)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = slowly });
	fputs("x", f);
	fflush(NULL);
}

static void stand_still(long ms)
{
	struct timespec t = { 0, ms * 1000000 };
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(&t), "S"(NULL) : "rcx", "r11", "memory");
}

static void *other(void *x)
{
	stand_still(still_ms);
	begun = now();
	if (strcmp(way, "flush") == 0) {
		flush_all();
	} else if (strcmp(way, "system") == 0) {
		if (system("sleep .3"))
			abort();
	} else {
		usleep(300000);
		done = now();
		pthread_kill(first, SIGUSR1);
	}
	done = done > 0 ? done : now();
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return x;
}

static void ignore(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	double start = now(), works;
	way = argc > 1 ? argv[1] : "";
	still_ms = argc > 2 ? atol(argv[2]) : 0;
	main_still_ms = argc > 3 ? atol(argv[3]) : 0;
	first = pthread_self();
	signal(SIGUSR1, ignore);
	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	waits = now();
	if (strcmp(way, "sleep") == 0)
		sleep(10);
	pthread_barrier_wait(&both);
	works = now();
	stand_still(main_still_ms);
	usleep(100000);
	works = now() - works;
	pthread_barrier_wait(&both);
	if (pthread_join(thread, NULL))
		return 1;
	printf("%.6f %.6f %.6f %.6f\n", done - begun, done - (begun > waits ? begun : waits), works, now() - start);
	return 0;
}
C
"$B/bin/dprof-cc" -O1 -pthread mixed.c -o mixed || fail "mixed.c does not compile"

# The thread kept main waiting for some 75 %: that is inside of its interval, but not what is sure, and main is not proved to be the
# first, unless it had no core for so long that it is.
for way in system flush sleep; do
	rm -rf dprof-*
	./mixed $way >said || fail "$way: exit status $?"
	read -r took alone works run <said
	"$analyze" csp dprof-* >out 2>err || fail "$way: csp: $(cat err)"
	is_true "$run - $took > $alone" || ! grep -Eq '[0-9]  *proved ' out || fail "$way: something is proved: $(cat out)"
	grep -q 'ended inside' out && fail "$way: nothing ended inside of anything: $(cat out)"
	"$analyze" csp --json dprof-* | jq -e ".threads[] | select(.thread == 1).alone_s |
		.lo < $run - $took - $works + 0.001 and .hi > $alone - 0.001" >held ||
		fail "$way: what thread 1 did ($alone of $took s) is not inside: $(cat out)"
	[ $way = sleep ] || tr -s ' \n' ' ' <out | grep -q 'is not recorded, and may be work or waiting' ||
		fail "$way: it does not say why: $(cat out)"
done

# Of two causes that of the widest score is named.
cause() { # MS MS-OF-MAIN WORDS
	for _ in 1 2 3 4 5 6; do # a main that sleeps for 100 ms, and gets no core for as long, is the first in question
		rm -rf dprof-*
		./mixed flush "$1" "$2" >said || fail "flush $*: exit status $?"
		"$analyze" csp dprof-* >out 2>err || fail "flush $*: csp: $(cat err)"
		[ "$2" = 0 ] && grep -q 'Undecided: thread 0' out || break
	done
	tr -s ' \n' ' ' <out | grep -q "Undecided: .*$3" || fail "flush, unrecorded for $1 and $2 ms: expected '$3', found $(cat out)"
}
cause 20 0 'what is done in fflush(NULL) is not recorded'
cause 0 900 'threads were blocked and dprof does not know in what'
exit $failed

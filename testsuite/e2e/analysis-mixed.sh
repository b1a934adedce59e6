#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a thread does while a command runs for it (system), while all streams are written out (fflush(NULL), of which some
# may be the program's own), or before a signal ends its sleep, may be work or waiting: no other is proved for that.
. testsuite/fixtures/analysis/setup.sh
at_once=
export DPROF_DIR=$tmp DPROF_QUIET=1

# A thread has something done for 300 ms, and then main works for 100 ms; or main sleeps until the thread has worked. Before that
# either may stand still for some ms: what keeps it is not recorded.
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
	if (strcmp(way, "flush") == 0) {
		flush_all();
	} else if (strcmp(way, "system") == 0) {
		if (system("sleep .3"))
			abort();
	} else {
		usleep(300000);
		pthread_kill(first, SIGUSR1);
	}
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
	way = argc > 1 ? argv[1] : "";
	still_ms = argc > 2 ? atol(argv[2]) : 0;
	main_still_ms = argc > 3 ? atol(argv[3]) : 0;
	first = pthread_self();
	signal(SIGUSR1, ignore);
	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	if (strcmp(way, "sleep") == 0)
		sleep(10);
	pthread_barrier_wait(&both);
	stand_still(main_still_ms);
	usleep(100000);
	pthread_barrier_wait(&both);
	return pthread_join(thread, NULL);
}
C
"$B/bin/dprof-cc" -O1 -pthread mixed.c -o mixed || fail "mixed.c does not compile"

# The thread kept main waiting for some 75 %: that is inside of its interval, and main is not proved to be the first.
for way in system flush sleep; do
	rm -rf dprof-*
	./mixed $way || fail "$way: exit status $?"
	"$analyze" csp dprof-* >out 2>err || fail "$way: csp: $(cat err)"
	grep -Eq '[0-9]  *proved ' out && fail "$way: something is proved: $(cat out)"
	grep -q 'ended inside' out && fail "$way: nothing ended inside of anything: $(cat out)"
	"$analyze" csp --json dprof-* | tr -d '"{},:' | awk '
		$1 == "thread" { thread = $2 }
		$1 == "straggler_percent" && thread == 1 { exit !($3 < 20 && $5 > 40) }' ||
		fail "$way: what thread 1 did is not inside: $(cat out)"
	[ $way = sleep ] || tr -s ' \n' ' ' <out | grep -q 'is not recorded, and may be work or waiting' ||
		fail "$way: it does not say why: $(cat out)"
done

# Of two causes that of the widest score is named.
cause() { # MS MS-OF-MAIN WORDS
	for _ in 1 2 3 4 5 6; do # a main that sleeps for 100 ms, and gets no core for as long, is the first in question
		rm -rf dprof-*
		./mixed flush "$1" "$2" || fail "flush $*: exit status $?"
		"$analyze" csp dprof-* >out 2>err || fail "flush $*: csp: $(cat err)"
		[ "$2" = 0 ] && grep -q 'Undecided: thread 0' out || break
	done
	tr -s ' \n' ' ' <out | grep -q "Undecided: .*$3" || fail "flush, unrecorded for $1 and $2 ms: expected '$3', found $(cat out)"
}
cause 20 0 'what is done in fflush(NULL) is not recorded'
cause 0 900 'threads were blocked and dprof does not know in what'
exit $failed

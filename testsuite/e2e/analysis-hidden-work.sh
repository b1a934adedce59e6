#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A signal's handler works while its thread waits in read() or pause(). Without a mark that counts as waiting, and who works for
# a shorter time seems to keep it waiting; but the kernel counts that the thread ran, so nothing is proved, and that is said.
# With a mark it is work, and seen.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# The handler takes 0.3 s of a processor; then main works, and the thread waits for it.
cat >program.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t both;
static volatile int worked;

static double took(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void work(int signal)
{
	(void)signal;
	REGION
	for (double end = took() + 0.3; took() < end;)
		;
	worked = 1;
}

static void *other(void *x)
{
	int *channel = x;
	char c;
	(void)channel, (void)c;
	while (!worked)
		WAIT;
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = work };
	int channel[2];
	pthread_t thread;
	sigaction(SIGUSR1, &action, NULL);
	if (pipe(channel) || pthread_barrier_init(&both, NULL, 2) || pthread_create(&thread, NULL, other, channel))
		return 1;
	usleep(50000);
	pthread_kill(thread, SIGUSR1);
	pthread_barrier_wait(&both);
	usleep(100000);
	pthread_barrier_wait(&both);
	return pthread_join(thread, NULL);
}
C

run() { # NAME FLAGS...
	local name=$1
	shift
	# shellcheck disable=SC2046
	gcc -O2 $(pkg-config --cflags dprof) "$@" -o "$name" program.c -pthread $(pkg-config --libs dprof) || fail "$name does not compile"
	timeout 60 "./$name" || fail "$name: $?"
	"$analyze" csp dprof-"$name".* >out || fail "$name: csp: $?"
	tr -s ' \n' ' ' <out >line
}

for wait in 'read(channel[0], &c, 1)' 'pause()'; do
	name=${wait%%(*}
	run "$name" -DREGION= "-DWAIT=$wait"
	grep -q '[0-9]  *proved ' out && fail "$name: something is proved: $(cat out)"
	grep -q 'these ran while they were in operations that wait: pid [0-9]* thread 1 for 0.[23]' line ||
		fail "$name: nothing is said of the handler: $(cat out)"
done
run marked '-DREGION=_Pragma("dprof region(handler)")' '-DWAIT=read(channel[0], &c, 1)'
grep -q 'these ran while' line && fail "marked: $(cat out)"
exit $failed

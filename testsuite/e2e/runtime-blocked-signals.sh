#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program blocks signals that instructions cause as well (SIGSEGV ...) in all its threads, and one of them waits for those that
# are sent: none is let through while something is recorded. But those that a thread has to answer at once, wherever it is, are not
# blocked: SIGSYS of a filter, nor that by which the C library changes the user of all threads.
. testsuite/lib.sh
"$B/bin/dprof-cc" -O1 -pthread -Wall -Wextra -Werror testsuite/fixtures/runtime/broker.c -o "$dir/broker" || exit 1
cd "$dir" || exit 1
export DPROF_QUIET=1
cat >blocked.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define TIMES 20

static void *wait_for_all(void *signals)
{
	int signal;
	for (int n = 0; n < TIMES; n++)
		sigwait(signals, &signal);
	return NULL;
}

static void send(int signal)
{
	for (int i = 0; i < TIMES; i++) {
#pragma dprof region(send)
		kill(getpid(), signal);
		usleep(500);
	}
}

int main(int argc, char **argv)
{
	sigset_t all;
	pthread_t thread;
	if (argc != 2)
		return 2;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&thread, NULL, wait_for_all, &all);
	send(atoi(argv[1]));
	pthread_cancel(thread);
	return pthread_join(thread, NULL);
}
C
"$B/bin/dprof-cc" -O1 -pthread -Wall -Wextra -Werror blocked.c -o blocked || exit 1
for signal in ILL TRAP BUS FPE SEGV SYS USR1; do
	timeout 60 ./blocked "$(kill -l $signal)" || fail "SIG$signal, blocked: exit status $?"
done
for end in return leave; do
	said=$(timeout -s KILL 60 ./broker $end)
	status=$?
	[ "$status" = 77 ] || [ "$status $said" = "0 fine" ] || fail "a sandbox, $end: exit status $status, said: $said"
done
[ "$failed" = 0 ] && echo "as expected"
exit "$failed"

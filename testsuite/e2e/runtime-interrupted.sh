#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that computes in marked regions may be cancelled at any moment, and a handler may leave the computing by
# siglongjmp(): the program goes on as without dprof, and what comes later is recorded.
. testsuite/lib.sh
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_DIR=$dir DPROF_QUIET=1 DPROF_BUFFER=64K
cat >"$dir/left.c" <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static volatile long x;
static sigjmp_buf back;
static void compute(void)
{
#pragma dprof region(work)
	for (int i = 0; i < 200; i++)
		x += i;
}
static void *for_ever(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		compute();
	return unused;
}
static void cancel(void)
{
	pthread_t thread[3];
	for (int k = 0; k < 3; k++)
		pthread_create(&thread[k], NULL, for_ever, NULL);
	usleep((useconds_t)(1000 + rand() % 4000));
	for (int k = 0; k < 3; k++)
		pthread_cancel(thread[k]);
	for (int k = 0; k < 3; k++)
		pthread_join(thread[k], NULL);
}
static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}
int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 700 }, { 0, 700 } }, never = { 0 };
	volatile int n = 0;
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		cancel();
	if (argc > 1)
		return 0;
	signal(SIGALRM, jump);
	sigsetjmp(back, 1);
	if (n++ == 0)
		setitimer(ITIMER_REAL, &often, NULL);
	while (n < 150)
		compute();
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < 1000; i++) {
#pragma dprof region(after)
		x++;
	}
	return 0;
}
C
# shellcheck disable=SC2046
gcc -O1 -pthread $(pkg-config --cflags dprof) "$dir/left.c" -o "$dir/left" $(pkg-config --libs dprof) || exit 1
for round in 1 2 3; do
	about() { echo "round $round: "; }
	"$dir/left" 60 || fail "cancelled threads: exit status $?"
	rm -rf "$dir"/dprof-left.*
	"$dir/left" || fail "jumps: exit status $?"
	"$analyze" check "$dir"/dprof-left.* >"$dir/verdict" 2>&1 || fail "$(cat "$dir/verdict")"
	"$analyze" report --json "$dir"/dprof-left.* >"$dir/report" 2>/dev/null
	jq -e '[.regions[] | select(.region == "after") | .visits] == [1000]' "$dir/report" >/dev/null ||
		fail "of 1000 visits behind the jumps: $(jq -c '[.regions[] | [.region, .visits]]' "$dir/report")"
	rm -rf "$dir"/dprof-left.*
done
exit "$failed"

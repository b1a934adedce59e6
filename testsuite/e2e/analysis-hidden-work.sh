#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A signal's handler works while its thread waits in read() or pause(). It is a region, of its own or of dprof's, and who
# keeps others waiting. Where the program has set it past the C library that counts as waiting, and who works for a
# shorter time seems to keep it waiting; but the kernel counts that the thread ran, so nothing is proved, and that is said.
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
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t both;
static volatile int worked;
static _Atomic int waiter; /* by its number for the kernel, when it goes to wait */

static double took(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static HIDDEN void work(int signal)
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
	waiter = gettid();
	while (!worked)
		WAIT;
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return NULL;
}

__attribute__((naked)) static void back(void)
{
	__asm__("movl $15, %eax; syscall"); /* rt_sigreturn */
}

/* As the kernel has it. */
static void set_unseen(void)
{
	struct { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; } action = {
		work, AGAIN | 0x04000000, back, 0 };
	syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, sizeof(action.mask));
}

/* A signal that comes before the wait is not handled in there. */
static void until_it_waits(void)
{
	char path[64], state = 0;
	while (state != 'S') {
		usleep(10000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter);
		FILE *stat = waiter ? fopen(path, "r") : NULL;
		if (stat && fscanf(stat, "%*s %*s %c", &state) != 1)
			state = 0;
		if (stat)
			fclose(stat);
	}
}

int main(void)
{
	struct sigaction action = { .sa_handler = work, .sa_flags = AGAIN };
	int channel[2];
	pthread_t thread;
	sigaction(SIGUSR1, &action, NULL);
	if (UNSEEN)
		set_unseen();
	if (pipe(channel) || pthread_barrier_init(&both, NULL, 2) || pthread_create(&thread, NULL, other, channel))
		return 1;
	until_it_waits();
	pthread_kill(thread, SIGUSR1);
	if (AGAIN && write(channel[1], "x", 1) != 1)
		return 1;
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
	gcc -O2 $(pkg-config --cflags dprof) -DAGAIN=0 -DUNSEEN=0 "$@" -o "$name" program.c -pthread $(pkg-config --libs dprof) ||
		fail "$name does not compile"
	timeout 60 "./$name" || fail "$name: $?"
	"$analyze" csp dprof-"$name".* >out || fail "$name: csp: $?"
	tr -s ' \n' ' ' <out >line
}

for wait in 'read(channel[0], &c, 1)' 'pause()'; do
	name=${wait%%(*}
	run "$name" '-DHIDDEN=__attribute__((no_instrument_function))' -DREGION= "-DWAIT=$wait" -UUNSEEN -DUNSEEN=1
	grep -q '[0-9]  *proved ' out && fail "$name: something is proved: $(cat out)"
	grep -q 'these worked, or may have, while they were in operations that wait, by the kernel.s count or as others began in there: thread 1 for 0.[23]' line ||
		fail "$name: nothing is said of the handler: $(cat out)"
	for region in handler.work signal.handler; do
		[ $region = handler.work ] && seen= || seen='__attribute__((no_instrument_function))'
		for _ in 1 2 3 4 5 6; do # what a thread did where a virtual machine stopped it nobody knows
			rm -rf dprof-by-itself-*
			run "by-itself-$name-$region" "-DHIDDEN=$seen" -DREGION= "-DWAIT=$wait"
			grep -q 'these worked, or may have.*thread 1 .*What did that' line && fail "by-itself-$name, $region: $(cat out)"
			"$analyze" dprof-"by-itself-$name-$region".* | tr -s ' \n' ' ' >line
			grep -q 'threads were blocked and dprof does not know in what' line || break
		done
		grep -q "Look at thread 1: .* (proved), mostly in region $region[ .]" line ||
			fail "by-itself-$name, $region: expected that thread 1 keeps the other waiting in its handler, found $(cat line)"
	done
done

# Where the wait goes on behind the handler nothing but the kernel's count tells of it. Nobody else worked meanwhile:
# what is printed of the thread holds that, too. (Its process is the only one, for which no other waits.)
run again '-DHIDDEN=__attribute__((no_instrument_function))' -DREGION= '-DWAIT=read(channel[0], &c, 1)' -UAGAIN -DAGAIN=SA_RESTART \
	-UUNSEEN -DUNSEEN=1
"$analyze" csp --json dprof-again.* >json 2>err || fail "again: csp: $(cat err)"
jq -e '.span_s.hi as $run | (.threads[] | select(.thread == 1) | .alone_s.hi > 0.2 and .straggler_percent.hi * $run > 20) and
	.ranks[0].alone_s.hi == 0' json >held ||
	fail "again: thread 1 kept the other waiting in its handler for 0.3 s, found $(cat json)"
run marked -DHIDDEN= '-DREGION=_Pragma("dprof region(handler)")' '-DWAIT=read(channel[0], &c, 1)'
grep -q 'these worked, or may have.*thread 1 .*What did that' line && fail "marked: $(cat out)"
# Thread 1 waits until thread 0 posts, in the midst of its own wait for thread 1.
made() { # NAME EVENTS-OF-THE-HANDLER CPU DELAY
	"$analyze" pack - "$1" <<T || fail "pack $1"
dprof-text 1
clock 0 host=vm ghz=1
process 0 pid=1 program=made job=1
thread 0 clock=0 process=0 number=0 jumps=0
thread 1 clock=0 process=0 number=1 jumps=0
site 0 kind=wait name=sem_wait file=s.c line=1
site 1 kind=wait name=sem_post file=s.c line=2
site 2 kind=sleep name=nanosleep file=s.c line=3
site 3 kind=region name=th file=s.c line=4
site 4 kind=wait name=sem_wait file=s.c line=5
site 5 kind=wait name=sem_post file=s.c line=6
site 6 kind=region name=handler file=s.c line=7
sched 0 1000 2000 cpu=100 delay=0
sched 0 300001000 300002000 cpu=$3 delay=$4
sched 1 1000 2000 cpu=100 delay=0
sched 1 300001000 300002000 cpu=49980000 delay=0
e 0 3000 0 enter id=1
$2
e 0 300000000 0 exit id=1
e 1 3000 3 enter
e 1 4000 4 enter id=2
e 1 250010000 4 exit id=2
e 1 299990000 5 point id=1
e 1 300000500 3 exit
T
}

undecided() { # NAME SECONDS
	"$analyze" csp "$1" >out || fail "$1: csp: $?"
	tr -s ' \n' ' ' <out >line
	grep -q '[0-9]  *proved ' out && fail "$1: something is proved: $(cat out)"
	grep -q "these worked, or may have,.*: thread 0 for $2" line || fail "$1: nothing is said of the handler: $(cat out)"
	"$analyze" efficiency "$1" | tr -s ' \n' ' ' | grep -q 'Threads worked, or may have, while they were in operations that wait' ||
		fail "$1: efficiency says nothing of the handler: $("$analyze" efficiency "$1")"
	"$analyze" efficiency --json "$1" >json || fail "$1: efficiency: $?"
	jq -e '.parallel.hi > 40 and .load_balance.hi > 60' json >held || fail "$1: the handler was useful, or may have been: $(cat json)"
	"$analyze" query --json "$1" 'count(working) == 0' >json || fail "$1: query: $?"
	jq -e '.holds_s.lo < 0.05 and .holds_s.hi > 0.2' json >held || fail "$1: thread 0 may have worked in its handler: $(cat json)"
}

post='e 0 250004000 1 point id=2'
made posts "$post" 900000 0
undecided posts '0.000 .. 0.2[56]'
made sleeps "e 0 10003000 2 enter
e 0 250003000 2 exit
$post" 900000 0
undecided sleeps '0.000 .. 0.2[56]'
made delayed '' 20000000 200000000
undecided delayed '0.0[12][0-9]* .. 0.2[23]'

# What the region in there would buy is not known: the signal came from outside.
made marked-post "e 0 10003000 6 enter
e 0 250003000 6 exit
$post" 241000000 0
"$analyze" coz --region handler --reduce 50 marked-post | tr -s ' \n' ' ' >line
grep -q '(proved 0 .. \(50\|100\))' line || fail "coz: $(cat line)"

# What a handler does is its thread's own also where that waits: if the kernel counts that it did not run, and it does not
# sleep in there as far as is recorded, something blocked it. Thread 1 waits for thread 0, or thread 0 for whoever that was.
for sleeps in '' sleeps; do
	nap=${sleeps:+"e 0 10004000 2 enter
e 0 250002000 2 exit
"}
	made "blocked-$sleeps" "e 0 10003000 6 enter
${nap}e 0 250003000 6 exit
$post" 900000 0
	"$analyze" csp "blocked-$sleeps" >out || fail "blocked-$sleeps: csp: $?"
	tr -s ' \n' ' ' <out >line
	if [ "$sleeps" ]; then
		grep -q 'where nothing was recorded that blocks' line && fail "who sleeps in a handler was blocked: $(cat out)"
	else
		grep -q 'these were blocked where nothing was recorded that blocks: thread 0 for 0.2[34]' line ||
			fail "nothing is said of the handler that was blocked: $(cat out)"
		grep -q '[0-9]  *proved ' out && fail "a handler was blocked, and something is proved: $(cat out)"
	fi
done
exit $failed

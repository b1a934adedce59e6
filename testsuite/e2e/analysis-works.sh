#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How long a thread worked holds what is true although a wait was not recorded: one that it left by siglongjmp, so that its
# end never came, or one that no adapter saw. Its lower end is less by all that the kernel's counts leave to such waits, its
# upper end stays; waiting and scores likewise hold both.
from=$PWD/testsuite/fixtures/analysis
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# Thread 0 works for 100 ms, as far as is recorded, and ran for 50 of them; thread 1 is ready after 30. Of thread 2, of a process
# that was killed, the kernel said nothing.
cat >made.txt <<'T'
dprof-text 1
clock 0 host=h ghz=1
process 0 pid=1 program=made job=1
thread 0 clock=0 process=0 number=0 jumps=0
thread 1 clock=0 process=0 number=1 jumps=0
thread 2 clock=0 process=0 number=2 jumps=0
group 1 threads=0,1,2
site 0 kind=region name=body file=a.c line=1
site 1 kind=barrier name=barrier file=a.c line=2
sched 0 1000000 1000000 cpu=1000000 delay=0
sched 0 102000000 102000000 cpu=52000000 delay=0 last=1
sched 1 1000000 1000000 cpu=1000000 delay=0
sched 1 102000000 102000000 cpu=32000000 delay=0 last=1
e 0 1000000 0 enter
e 0 101000000 0 exit
e 0 101000001 1 enter group=1 seq=0
e 0 102000000 1 exit group=1 seq=0
e 1 1000000 0 enter
e 1 31000000 0 exit
e 1 31000001 1 enter group=1 seq=0
e 1 102000000 1 exit group=1 seq=0
e 2 1000000 0 enter
e 2 21000000 0 exit
e 2 21000001 1 enter group=1 seq=0
e 2 102000000 1 exit group=1 seq=0
T
"$analyze" pack - made <made.txt || fail "pack"
"$analyze" csp --json made >json || fail "csp: $(cat json)"
told() { # WHAT FILTER
	jq -e "[.threads[]] | $2" json >held || fail "$1: $(jq -c '.threads[] | [.working_s, .waiting_s, .straggler_percent]' json)"
}
told "thread 0 worked 50 to 100 ms" '.[0].working_s | .lo > 0.048 and .lo <= 0.0501 and .hi >= 0.1 and .hi < 0.1001'
told "thread 0 waited 1 to 51 ms" '.[0].waiting_s | .lo >= 0.0009 and .lo <= 0.001 and .hi >= 0.0509 and .hi < 0.053'
told "thread 0 was alone for 20 to 70 ms" '.[0] | .straggler_percent.lo < 19.9 and .straggler_percent.hi > 69 and .alone_s.lo <= 0.0201'
told "thread 1 may have been alone while thread 0 was blocked" '.[1].straggler_percent.hi > 9'
told "thread 1 may have run in the barrier, which may ask again and again" '.[1].working_s | .lo <= 0.03 and .hi >= 0.03 and .hi < 0.0301'
told "thread 2 is open" '.[2].working_s | .lo == 0 and .hi >= 0.02 and .hi < 0.0201'
"$analyze" report made >out || fail "report: $(cat out)"
grep -q 'thread 0  *4[89][.0-9]* \.\. \|thread 0  *7[34][.0-9]* ±' out || fail "report: works, %: $(cat out)"
"$analyze" efficiency --json made >json || fail "efficiency: $(cat json)"
jq -e '.parallel.lo < 27 and .parallel.hi > 49' json >held || fail "efficiency: $(jq -c .parallel json)"
"$analyze" path --json made >json || fail "path: $(cat json)"
jq -e '[.segments[] | select(.thread == 0 and .name == "body").share_percent] | .[0].lo < 50 and .[0].hi > 98' json >held ||
	fail "path: $(jq -c '.segments[]' json)"
"$analyze" path made | grep -q 'by the kernel.s count these were blocked' || fail "path does not say it"
"$analyze" diagnose --json made >json || fail "diagnose: $(cat json)"
jq -re '.explanation[0].text' json >line || fail "diagnose: $(cat json)"
grep -qE '^Of the time of 3 threads 1[0-6] \.\. 50 % was work, 4[89] \.\. 8[34] % waiting' line || fail "diagnose: $(cat line)"
jq -e '.findings[] | select(.cause == "imbalance") | (.proved | not) and .cost_percent.lo == 0 and .cost_percent.hi > 55 and
	.speedup_percent.lo == 0' json >held || fail "diagnose: what thread 0 cost may be what it waited for: $(jq -c .findings json)"
# So it is if all but the first 10 ms of that is outside of regions.
sed 's/^e 0 101000000 0 exit/e 0 11000000 0 exit/' made.txt | "$analyze" pack - outside || fail "pack"
"$analyze" diagnose --json outside | jq -re '.explanation[0].text' >line || fail "diagnose: outside of regions"
grep -qE '^Of the time of 3 threads 1[0-6] \.\. 50 % was work, 4[89] \.\. 8[34] % waiting' line ||
	fail "diagnose: outside of regions: $(cat line)"
"$analyze" diff --json outside outside | jq -e '.rows[] | select(.name == "all of it").a[0] | .lo < 0.11 and .hi > 0.15' >held ||
	fail "diff: outside of regions"
"$analyze" diff --json made made >json || fail "diff: $(cat json)"
jq -e '[.rows[] | select(.name == "body" and (.what == "region" or .what == "path")) | .a[0] | .lo < 0.11 and .hi > 0.099] | length == 2 and all' \
	json >held || fail "diff: $(jq -c '.rows[]' json)"
"$analyze" export --to source made.source made >out || fail "export: $(cat out)"
grep -q ' 49 \.\. 100 .* 1 | body' made.source || fail "export: $(cat made.source)"
"$analyze" waits --json made >json || fail "waits: $(cat json)"
jq -e '[.delays[] | select(.thread == 0 and .region == "body")][0] | .seconds.lo < 0.03 and .seconds.hi > 0.15 and .verdict == "undecided"' json >held ||
	fail "waits: $(jq -c '.delays[]' json)"
jq -e '[.waits[] | select(.thread == 1)][0] | .seconds.lo > 0.06 and .verdict == "proved"' json >held ||
	fail "waits: that it waited for thread 0 is recorded: $(jq -c '.waits[]' json)"
"$analyze" waits made | grep -q 'by the kernel.s count these were blocked' || fail "waits does not say it"
sed 's/cpu=52000000/cpu=22000000/' made.txt | "$analyze" pack - less || fail "pack"
"$analyze" diagnose --json less | jq -e '.findings[] | select(.cause == "imbalance").what | startswith("others wait")' >held ||
	fail "diagnose: thread 0 may have worked for 20 ms, less than the mean of others: $("$analyze" diagnose less)"

# Thread 0 alone works for 70 ms as far as is recorded, and may have waited for 51 of them; both work for 30 (of thread 2
# nothing is known).
sed '/^\(thread\|e\) 2 /d; s/threads=0,1,2/threads=0,1/' made.txt | "$analyze" pack - two || fail "pack"
holds() { # CONDITION LO HI: milliseconds
	"$analyze" query --json two "$1" >json || fail "query $1: $(cat json)"
	jq -e "(.holds_s.lo * 1000 - $2 | fabs) < 1 and (.holds_s.hi * 1000 - $3 | fabs) < 1" json >held ||
		fail "query $1: $(jq -c .holds_s json)"
	jq -e '.notes[0] | startswith("by the kernel")' json >held || fail "query $1: no note"
}
holds "count(working) == 1" 20 100
holds "count(working) == 2" 0 30
holds "count(waiting) >= 1" 71 101
jq -e '.frames.certain == 1 and .longest[0].certain' json >held || fail "query: $(cat json)"
"$analyze" query two "count(in body) == 1" | grep -q kernel && fail "query: whoever is in a region is there, blocked or not"

# Nor is it proved to be the slowest in body, if another process works there for 80 ms; but it is if it ran all the time.
sed 's/^process 0.*/&\nprocess 1 pid=2 program=made job=1/; s/^thread 1 clock=0 process=0 number=1/thread 1 clock=0 process=1 number=0/
	/^\(thread\|e\) 2 /d; s/threads=0,1,2/threads=0,1/; s/^e 1 310000/e 1 810000/; s/cpu=32000000/cpu=82000000/' made.txt >apart.txt
slowest() { # VERDICT LO: milliseconds
	rm -rf apart; "$analyze" pack - apart <apart.txt || fail "pack"
	"$analyze" csp --json --instances body apart >json || fail "csp: $(cat json)"
	jq -e --arg verdict "$1" '.by_instance.instances[0] | .verdict == $verdict and .slowest_thread == 0 and
		(.slowest_work_s | (.lo * 1000 - '"$2"' | fabs) < 2 and .hi >= 0.1 and .hi < 0.1001)' json >held ||
		fail "slowest: expected $*, found $(jq -c .by_instance.instances json)"
}
slowest undecided 50
sed -i 's/cpu=52000000/cpu=102000000/' apart.txt
slowest proved 100

# A read that never returns is left 4 times, after 50 ms of waiting at least.
cat >left.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "counted.h"

static int never[2];
static pthread_barrier_t both;
static sigjmp_buf out;
static double waited, alone; /* the latter until thread 0 sent its signal, and waited itself */
static _Atomic double sent;
static atomic_bool can_leave;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void *other(void *x)
{
	char c;
	for (volatile int i = 0; i < 4; i++) {
		volatile double begun = begin_count();
		if (!sigsetjmp(out, 1)) {
			can_leave = true;
			if (read(never[0], &c, 1) >= 0)
				return &never;
		}
		can_leave = false;
		double until = now(), was = blocked_since(begun);
		waited += was;
		alone += was > until - sent ? was - (until - sent) : 0;
		pthread_barrier_wait(&both);
	}
	return x;
}

int main(void)
{
	struct sigaction action = { .sa_handler = leave };
	pthread_t thread;
	void *result;
	double started = now();
	sigaction(SIGUSR1, &action, NULL);
	if (pipe(never) || pthread_barrier_init(&both, NULL, 2) || pthread_create(&thread, NULL, other, NULL))
		return 1;
	for (int i = 0; i < 4; i++) {
		usleep(50000);
		while (!can_leave) /* it has had no core */
			usleep(5000);
		sent = now();
		pthread_kill(thread, SIGUSR1);
		pthread_barrier_wait(&both);
	}
	pthread_join(thread, &result);
	printf("%.6f %.6f %.6f\n", now() - started, waited, alone);
	return result != NULL;
}
C

if [ "$(cat /proc/self/schedstat 2>/dev/null || echo 0 0 0)" = "0 0 0" ]; then
	echo "this kernel does not count delays"
	exit 77
fi
# shellcheck disable=SC2046
gcc -O2 -I"$from" $(pkg-config --cflags dprof) -o left left.c -pthread $(pkg-config --libs dprof) || fail "left.c does not compile"
read -r run waited alone <<<"$(./left)"
[ -n "$alone" ] || fail "left: nothing is said"
"$analyze" csp --json dprof-left.* >json 2>err || fail "csp: $(cat err)"
most=$(echo "$run $waited" | awk '{ print $1 - $2 + 0.001 }')
told "it waited for $waited s" ".[1] | .working_s.lo <= $most and .waiting_s.hi >= $waited - 0.001"
told "thread 0 may have been alone for $alone s" ".[0].alone_s.hi >= $alone - 0.001"
"$analyze" diagnose --json dprof-left.* >json 2>err || fail "diagnose: $(cat err)"
jq -re '.explanation[0].text' json >line || fail "diagnose: $(cat json)"
# Who left the read was woken by a signal, which may be a time limit of its own: so its time may be waiting or not. (Of 2 x $run s.)
read -r least most wait < <(sed -n 's/^Of the time of 2 threads \([0-9]*\) \.\. \([0-9]*\) % was work, .* \.\. \([0-9]*\) % waiting.*/\1 \2 \3/p' line)
is_true "${least:-100} <= 100 - 50 * $waited / $run && ${most:-0} >= 50 * ($waited + $alone) / $run - 1" &&
	is_true "${wait:-100} <= 101 - 50 * $alone / $run && ${wait:-0} >= 50 * $waited / $run - 1" ||
	fail "diagnose: a thread waited for $waited of $run s while the other worked for $alone: $(cat line)"
exit $failed

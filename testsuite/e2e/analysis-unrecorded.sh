#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Who was blocked in a call that no adapter sees seems to work. The kernel's count shows that it was not running:
# that is said with figures, and nothing is proved that it could change. Who spins while it waits, and who is
# blocked in what was recorded, is blamed for nothing.
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
	gcc -O2 $(pkg-config --cflags dprof) "$@" -o "$name" "$source" $(pkg-config --libs dprof) || fail "$name"
	"./$name" || fail "$name: exit status $?"
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
grep -q 'by the kernel.s count these were blocked where nothing was recorded that blocks: pid [0-9]* thread [12] for 0\.[0-9]* \.\. 0\.[0-9]* s\.' page ||
	fail "nothing is said of the victim: $(cat out)"
grep -q 'Undecided: .* blocked and dprof does not know in what' page || fail "the verdict does not say why: $(cat out)"
grep -q 'by the kernel.s count' coz || fail "coz does not say it: $(cat coz)"
grep -q ' proved$' coz && fail "coz proves something: $(cat coz)"
blocked | awk '$2 > 0.05 { victims++; if ($3 < 0.2 || $2 > $3) exit 1 } END { exit victims != 1 }' ||
	fail "expected one victim, blocked for some 0.4 s: $(blocked)"

# The same through the C library, which is recorded; and spinning. (A page of the program may have to be read.)
record recorded program.c -pthread
blocked | awk '$2 > 0.05 { exit 1 }' || fail "recorded calls: $(blocked)"
export OMP_WAIT_POLICY=active
record spin spin.c -fopenmp
blocked | awk '$2 > 0.05 { exit 1 }' || fail "spinning: $(blocked)"
echo "as expected"

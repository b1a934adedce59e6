#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A library that was compiled without dprof works in a thread of its own, while all that is recorded waits for it. Nothing is
# proved of who works alone, and the report says why; of a program all of whose threads are recorded nothing is withheld,
# nor of one whose MPI has threads.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig
cd "$dir" || exit 1

# Each request takes 0.2 s of a processor.
cat >library.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int requests[2];

static double took(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *work(void *to)
{
	char c;
	while (read(requests[0], &c, 1) == 1) {
		for (double end = took() + 0.2; took() < end;)
			;
		if (write(*(int *)to, &c, 1) != 1)
			abort();
	}
	return NULL;
}

void library_start(int *to)
{
	pthread_t thread;
	if (pipe(requests) || pthread_create(&thread, NULL, work, to) || pthread_detach(thread))
		abort();
}

void library_ask(void)
{
	if (write(requests[1], "x", 1) != 1)
		abort();
}
C

# The other thread waits for main, and main for the library; then main works.
cat >program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void library_start(int *), library_ask(void);
static pthread_barrier_t both;

static void *other(void *x)
{
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return x;
}

int main(int argc, char **argv)
{
	int answers[2];
	pthread_t thread;
	char c;
	if (pipe(answers) || pthread_barrier_init(&both, NULL, 2))
		return 1;
	library_start(&answers[1]);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	pthread_barrier_wait(&both);
	library_ask();
	if (read(answers[0], &c, 1) != 1)
		return 1;
	usleep(50000);
	if (argc > 1 && !strcmp(argv[1], "for-ever"))
		while (1)
			pause();
	pthread_barrier_wait(&both);
	return pthread_join(thread, NULL);
}
C

dprof() { # OUT SOURCE LIBRARY...
	# shellcheck disable=SC2046
	gcc -O2 $(pkg-config --cflags dprof) -o "$1" "$2" "${@:3}" -pthread $(pkg-config --libs dprof) || fail "$1 does not compile"
}

# The last line counts.
unseen_ms() { # FILES
	sed -n 's/^unseen .* cpu=\([0-9]*\).*/\1/p' "$@" | awk '{ ms = $1 / 1e6 } END { print ms + 0 }'
}

gcc -O2 -fPIC -shared -o libplain.so library.c -pthread || fail "no library"
dprof plain program.c -L. -lplain -Wl,-rpath,"$dir"
./plain || fail "plain: $?"
is_true "$(unseen_ms dprof-plain.*/*.process) >= 200" || fail "the library's thread: $(grep -h unseen dprof-plain.*/*.process)"
"$analyze" csp dprof-plain.* >out || fail "csp: $?"
grep -q 'proved ' out && fail "what the library did could change it: $(cat out)"
"$analyze" csp --json dprof-plain.* >json 2>&- || fail "csp --json: $?"
jq -e '.verdict == "undecided"' json >is || fail "one process, whose threads are undecided: $(cat json)"
for command in report csp coz query; do
	arguments=(dprof-plain.*)
	[ $command != query ] || arguments+=('count(other) == 1')
	"$analyze" $command "${arguments[@]}" 2>&1 | tr -s ' \n' ' ' >out
	grep -q 'ran in no recorded thread' out || fail "$command: $(cat out)"
done
"$analyze" dump dprof-plain.* >text && "$analyze" pack text packed && "$analyze" dump packed | diff text - ||
	fail "not the same text"
grep -q 'unseen_ns=2' text || fail "not in the text: $(grep process text)"

# As long as it runs, too.
rm -r dprof-plain.*
./plain for-ever &
for ((i = 0; i < 600; i++)); do
	is_true "$(unseen_ms dprof-plain.*/*.process 2>&-) >= 100" && break
	sleep 0.1
done
kill -9 $!
wait $! 2>&-
is_true "$(unseen_ms dprof-plain.*/*.process) >= 100" || fail "of a process that runs: nothing said"

# The same library, compiled with dprof.
# shellcheck disable=SC2046
gcc -O2 $(pkg-config --cflags dprof) -c library.c || fail "library.c does not compile"
dprof seen program.c library.o
for _ in 1 2 3 4 5 6; do # to a thread that ends the kernel may add what a virtual machine's core was taken away for
	rm -rf dprof-seen.*
	./seen || fail "seen: $?"
	"$analyze" dprof-seen.* 2>&1 | tr -s ' \n' ' ' >out
	[ "${PIPESTATUS[0]}" = 0 ] || fail "report: $(cat out)"
	grep -q 'ran in no recorded thread' out && is_true "$(unseen_ms dprof-seen.*/*.process) >= 1" || break
done
# Where the kernel adds more than is reckoned with, that is said, but no more than threads take to end.
grep -q 'ran in no recorded thread' out && is_true "$(unseen_ms dprof-seen.*/*.process) >= 1" && fail "all was recorded, but $(grep -h unseen dprof-seen.*/*.process): $(cat out)"

# What ran before exec() was another program's: threads that the exec ended count for nothing.
cat >before.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void *work(void *x)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 200000000);
	return x;
}

static void *replace(void *x)
{
	execl("./after", "./after", (char *)NULL);
	return x;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	if (argc > 1) /* the others are ended by the exec */
		pthread_create(&thread, NULL, replace, argv);
	else
		replace(argv);
	return pause();
}
C
cat >after.c <<'C'
#include <unistd.h>

int main(void)
{
	return usleep(1000);
}
C
gcc -O2 -o before before.c -pthread || fail "before does not compile"
dprof after after.c
for thread in "" other; do
	# shellcheck disable=SC2086
	./before $thread || fail "after: $?"
	is_true "$(unseen_ms dprof-after.*/*.process) < 100" || fail "what ran before exec: $(grep -h unseen dprof-after.*/*.process)"
	rm -r dprof-after.*
done

# The thread that ends the process behind pthread_exit() in main was recorded, also where it records nothing in exit().
cat >last.c <<'C'
#include <pthread.h>
#include <time.h>

static void *work(void *x)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 200000000);
	return x;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_detach(thread);
	pthread_exit(NULL);
}
C
dprof last last.c
./last || fail "last: $?"
is_true "$(unseen_ms dprof-last.*/*.process) < 100" || fail "who ends the process: $(grep -h unseen dprof-last.*/*.process)"

# What MPI's threads do is a part of its operations.
cat >ranks.c <<'C'
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 100; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
C
# shellcheck disable=SC2046
mpicc -O2 $(pkg-config --cflags dprof) -o ranks ranks.c $(pkg-config --libs dprof) || fail "ranks does not compile"
timeout 60 $(mpirun_of openmpi) -n 2 ./ranks >out 2>&1 || fail "ranks: $(cat out)"
for file in dprof-ranks.*/*.process; do
	grep -q '^unseen' "$file" || fail "$file: not said"
	is_true "$(unseen_ms "$file") < 20" || fail "MPI's threads: $(grep -h unseen "$file")"
done
exit $failed

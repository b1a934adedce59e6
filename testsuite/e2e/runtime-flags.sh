#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Where threads look at memory that others change, to know what to do, it is recorded, once for each place, and nothing is proved
# of such a run. It is not where they only wait for that, or it never changes, or nobody else has it.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

cat >flags.cc <<'C'
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <unistd.h>

static std::atomic<bool> loaded, converted, maybe, changed, set_first, set_behind, set_plainly;
static std::atomic_flag tested = ATOMIC_FLAG_INIT;
static std::atomic<int> compared, level{ 3 }, waited, tried, unread;
static int by_openmp, referred, added, swapped, flushed;
static volatile int plain, behind_plain, uncompared, computed;
static double sum;

static struct { int near; volatile unsigned narrow : 3; } bits;
static std::atomic<double> floating;
struct pair { int a, b; };
static std::atomic<pair> both;
static std::atomic<int> indexed, ored, anded{ -1 };
static std::shared_ptr<int> owner = std::make_shared<int>(1), locked_owner = std::make_shared<int>(2);
static std::atomic<std::shared_ptr<int>> pointer{ owner };
static const std::weak_ptr<int> locks = locked_owner;
static std::counting_semaphore<1000> worked(0), is_set(0);

static void work()
{
#pragma dprof region(work)
	usleep(300);
	worked.release();
}

static double more(double x)
{
	for (int i = 0; i < 1000; i++)
		x += x * 1e-9 + i;
	return x;
}

static void use_library()
{
	static std::once_flag once;
	static std::shared_ptr<int> shared = std::make_shared<int>(getpid());
	std::shared_ptr<int> mine = shared;
	std::call_once(once, work);
	if (mine.use_count() > 1)
		work();
}

static void stop() {}
static std::atomic<void (*)()> called{ work };

static bool over() { return loaded.load(); } /* FLAG loaded */

static void look(const char *what)
{
	if (!strcmp(what, "loaded"))
		while (!over())
			work();
	else if (!strcmp(what, "converted"))
		while (!converted) /* FLAG converted */
			work();
	else if (!strcmp(what, "tested"))
		while (!tested.test()) /* FLAG tested */
			work();
	else if (!strcmp(what, "compared"))
		while (compared.load(std::memory_order_relaxed) < 3) /* FLAG compared */
			work();
	else if (!strcmp(what, "maybe"))
		while (!maybe.load()) { /* FLAG maybe */
			usleep(300);
			if (what[0])
				work();
		}
	else if (!strcmp(what, "changed"))
		while (!changed.load()) { /* FLAG changed */
			work();
			if (!what[0] && changed.exchange(true))
				return;
		}
	else if (!strcmp(what, "openmp"))
		for (int seen = 0; !seen; work()) {
#pragma omp atomic read /* FLAG openmp */
			seen = by_openmp;
		}
	else if (!strcmp(what, "set_first")) {
		is_set.acquire();
		if (set_first) /* FLAG set_first */
			work();
	} else if (!strcmp(what, "set_behind")) {
		if (!set_behind)
			work();
		is_set.acquire();
	} else if (!strcmp(what, "set_plainly")) {
		if (!__atomic_load_n((bool *)&set_plainly, __ATOMIC_ACQUIRE))
			work();
		is_set.acquire();
	}

	else if (!strcmp(what, "flushed"))
		while (!flushed) { /* FLAG flushed */
			work();
#pragma omp flush
		}
	else if (!strcmp(what, "plain"))
		while (!plain) /* FLAG plain */
			work();
	else if (!strcmp(what, "narrow"))
		while (bits.narrow < 3) /* FLAG narrow */
			work();
	else if (!strcmp(what, "floating"))
		while (!(floating.load() > 0.5)) /* FLAG floating */
			work();
	else if (!strcmp(what, "both"))
		while (both.load().b == 0) /* FLAG both */
			work();
	else if (!strcmp(what, "referred"))
		while (!std::atomic_ref<int>(referred).load()) /* FLAG referred */
			work();
	else if (!strcmp(what, "added"))
		while (!__sync_fetch_and_add(&added, 0)) /* FLAG added */
			work();
	else if (!strcmp(what, "swapped"))
		while (!__sync_val_compare_and_swap(&swapped, 0, 0)) /* FLAG swapped */
			work();
	else if (!strcmp(what, "ored"))
		while (!ored.fetch_or(0)) /* FLAG ored */
			work();
	else if (!strcmp(what, "anded"))
		while (anded.fetch_and(-1)) /* FLAG anded */
			work();
	else if (!strcmp(what, "indexed")) {
		const bool on[] = { true, false };
		while (on[indexed.load()]) /* FLAG indexed */
			work();
	} else if (!strcmp(what, "called"))
		for (int i = 0; i < 50; i++)
			called.load()(); /* FLAG called */
	else if (!strcmp(what, "pointer"))
		while (pointer.load()) /* FLAG pointer */
			work();
	else if (!strcmp(what, "expired"))
		for (std::weak_ptr<int> users = locks; !users.expired();) /* FLAG expired */
			work();
	else if (!strcmp(what, "locks"))
		while (locks.lock()) /* FLAG locks */
			work();
	else if (!strcmp(what, "users"))
		while (locks.use_count() > 0) /* FLAG users */
			work();
	else if (!strcmp(what, "behind_plain")) {
		if (!behind_plain)
			work();
		is_set.acquire();
	}

	else if (!strcmp(what, "computed")) {
		worked.release(50);
		while (!computed) /* FLAG computed */
			sum = more(sum);
	}

	/* And these are none. */
	else if (!strcmp(what, "own")) {
		volatile int i = 0;
		while (i < 5) {
			i = i + 1;
			work();
		}
	} else if (!strcmp(what, "uncompared")) {
		for (int i = 0; i < 5; i++, work())
			uncompared = uncompared + 1;
	} else if (!strcmp(what, "waited"))
		while (!waited)
			usleep(200);
	else if (!strcmp(what, "tried"))
		while (tried.load() || tried.exchange(1))
			;
	else if (!strcmp(what, "level"))
		for (int i = 0; i < 5; i++) {
			if (level > 2)
				work();
		}
	else if (!strcmp(what, "library")) {
		use_library();
		use_library();
	}
}

static void set(const char *what, bool waits)
{
	if (waits)
		worked.acquire(); /* it has looked */
	loaded = true;
	computed = 1;
	converted.store(true);
	tested.test_and_set();
	compared += 3;
#pragma omp atomic write
	by_openmp = 1;
	if (!strcmp(what, "set_first"))
		set_first = true;
	if (!strcmp(what, "set_behind"))
		set_behind = true; /* FLAG set_behind */
	if (!strcmp(what, "set_plainly"))
		__atomic_store_n((bool *)&set_plainly, true, __ATOMIC_RELEASE); /* FLAG set_plainly */
	flushed = 1;
#pragma omp flush
	plain = 1;
	bits.narrow = 7;
	floating = 1;
	both = pair{ 1, 1 };
	std::atomic_ref<int>(referred).fetch_add(1);
	__sync_fetch_and_add(&added, 1);
	__sync_fetch_and_add(&swapped, 1);
	ored |= 1;
	anded &= 0;
	indexed = 1;
	called = stop;
	pointer = std::shared_ptr<int>();
	locked_owner.reset();
	uncompared = uncompared + 1;
	if (!strcmp(what, "behind_plain"))
		behind_plain = 1; /* FLAG behind_plain */
	maybe = changed = true;
	waited = 1;
	tried = 0;
	unread = 1;
	unread = 2;
	is_set.release();
}

int main(int, char **argv)
{
	std::thread one(look, argv[1]), two(set, argv[1], argv[2][0] == '1');
	one.join();
	two.join();
	if (!strcmp(argv[1], "alone"))
		for (int i = 0; i < 6; i++) {
			converted = i > 3;
			if (!converted)
				work();
		}
}
C

# Where each is said to be in the source: "WORD LINE".
places=$(awk 'match($0, /FLAG [a-z_]+/) { print substr($0, RSTART + 5, RLENGTH - 5), NR }' flags.cc)

said() {
	"$analyze" dump trace/dprof-* | awk '$1 == "site" && /name=flag%20in%20memory/ { match($0, /line=[0-9]+/)
			line[$2] = substr($0, RSTART + 5, RLENGTH - 5) }
		$1 == "e" && $4 in line { print line[$4] }'
}
looked() { # what, whether others work before that is set: lines of the source at which it was said, each as often as it was
	rm -rf trace && mkdir trace
	DPROF_DIR=$dir/trace ./flags "$1" "$2" || fail "$1: status $?"
	said
}

for options in "-O0" "-O3 -flto"; do
	# shellcheck disable=SC2046,SC2086
	g++ -std=c++20 $options -fopenmp -pthread $(pkg-config --cflags dprof) -o flags flags.cc $(pkg-config --libs dprof) ||
		fail "flags.cc does not compile with $options"
	while read -r what line; do
		looked "$what" $([ "$what" = set_first ]; echo $?) >lines
		grep -qx "$line" lines && [ -z "$(sort lines | uniq -d)" ] ||
			fail "$options: $what: expected it once at line $line, found $(xargs <lines)"
	done <<<"$places"
	for what in waited tried level own uncompared library alone; do
		looked $what 0 >lines
		[ ! -s lines ] || fail "$options: $what: expected nothing, found it at line $(xargs <lines)"
	done
done

# In C, and between processes, which have one thread each.
cat >flags.c <<'C'
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct three { int a, b, c; };
static _Atomic double floating;
static _Atomic struct three big;
static volatile int *plain;
static int own;
static volatile int *in_own = &own;

static void work(void)
{
#pragma dprof region(work)
	usleep(300);
	plain[2] = 1;
}

static void *look(void *what)
{
	if (!strcmp(what, "c_floating"))
		while (floating < 0.5) /* FLAG c_floating */
			work();
	else if (!strcmp(what, "c_big"))
		while (atomic_load(&big).c == 0) /* FLAG c_big */
			work();
	else if (!strcmp(what, "c_plain"))
		while (!*plain) /* FLAG c_plain */
			work();
	else if (!strcmp(what, "c_atomic"))
		while (!atomic_load((_Atomic int *)plain + 1)) /* FLAG c_atomic */
			work();
	else if (!strcmp(what, "c_own"))
		for (int i = 0; i < 5; i++) {
			*in_own = i;
			if (*in_own > 2)
				work();
		}
	return NULL;
}

static void set(void)
{
	const struct three set = { 1, 1, 1 };
	while (!plain[2])
		usleep(200);
	floating = 1;
	atomic_store(&big, set);
	*plain = 1;
	atomic_store((_Atomic int *)plain + 1, 1);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	plain = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 2) {
		pid_t child = fork();
		if (child == 0) {
			look(argv[1]);
			exit(0);
		}
		set();
		return waitpid(child, NULL, 0) != child;
	}
	pthread_create(&thread, NULL, look, argv[1]);
	set();
	return pthread_join(thread, NULL);
}
C
# shellcheck disable=SC2046
gcc -O2 -pthread $(pkg-config --cflags dprof) -o flags flags.c $(pkg-config --libs dprof) -latomic || fail "flags.c does not compile"
places=$(awk 'match($0, /FLAG [a-z_]+/) { print substr($0, RSTART + 5, RLENGTH - 5), NR }' flags.c)
while read -r what line; do
	for processes in "" 2; do
		[ -n "$processes" ] && [[ $what = c_[fb]* ]] && continue
		rm -rf trace && mkdir trace
		# shellcheck disable=SC2086
		DPROF_DIR=$dir/trace ./flags "$what" $processes || fail "$what: status $?"
		said >lines
		grep -qx "$line" lines && [ -z "$(sort lines | uniq -d)" ] || fail "$what $processes: expected it once at line $line, found $(xargs <lines)"
	done
done <<<"$places"
rm -rf trace && mkdir trace
DPROF_DIR=$dir/trace ./flags c_own 2 || fail "c_own: status $?"
said >lines
[ ! -s lines ] || fail "c_own: expected nothing, found it at line $(xargs <lines)"

# shellcheck disable=SC2046
g++ -std=c++20 -fopenmp -pthread $(pkg-config --cflags dprof) -o flags flags.cc $(pkg-config --libs dprof) || fail "flags.cc does not compile"
looked loaded 1 >/dev/null
"$analyze" coz -v trace/dprof-* | tr '\n' ' ' | tr -s ' ' >answer
grep -q "What is done behind flag in memory (flags.cc:[0-9]*) depends on what another thread or process has written there, so nothing is proved" answer ||
	fail "the place is not named: $(cat answer)"
"$analyze" coz --region work --reduce 50 trace/dprof-* | tr '\n' ' ' >answer
grep -q 'proved -[0-9]' answer || fail "something is proved: $(cat answer)"
COLUMNS=80 "$analyze" trace/dprof-* | tr '\n' ' ' | tr -s ' ' >answer
grep -q "so nothing is proved. What is expected takes it to be the same." answer || fail "the report does not say so: $(cat answer)"
echo "as expected"

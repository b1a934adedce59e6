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
static int by_openmp;
static std::counting_semaphore<1000> worked(0), is_set(0);

static void work()
{
#pragma dprof region(work)
	usleep(300);
	worked.release();
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

	/* And these are none. */
	else if (!strcmp(what, "waited"))
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

looked() { # what, whether others work before that is set: lines of the source at which it was said, each as often as it was
	rm -rf trace && mkdir trace
	DPROF_DIR=$dir/trace ./flags "$1" "$2" || fail "$1: status $?"
	"$analyze" dump trace/dprof-* | awk '$1 == "site" && /name=flag%20in%20memory/ { match($0, /line=[0-9]+/)
			line[$2] = substr($0, RSTART + 5, RLENGTH - 5) }
		$1 == "e" && $4 in line { print line[$4] }'
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
	for what in waited tried level library alone; do
		looked $what 0 >lines
		[ ! -s lines ] || fail "$options: $what: expected nothing, found it at line $(xargs <lines)"
	done
done

looked loaded 1 >/dev/null
"$analyze" coz -v trace/dprof-* | tr '\n' ' ' | tr -s ' ' >answer
grep -q "What is done behind flag in memory (flags.cc:[0-9]*) depends on what another thread or process has written there, so nothing is proved" answer ||
	fail "the place is not named: $(cat answer)"
"$analyze" coz --region work --reduce 50 trace/dprof-* | tr '\n' ' ' >answer
grep -q 'proved -[0-9]' answer || fail "something is proved: $(cat answer)"
COLUMNS=80 "$analyze" trace/dprof-* | tr '\n' ' ' | tr -s ' ' >answer
grep -q "so nothing is proved. What is expected takes it to be the same." answer || fail "the report does not say so: $(cat answer)"
echo "as expected"

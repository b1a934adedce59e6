#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Loops that only look at memory until another thread has stored something there are waits: recorded with where that is, and ended by
# whoever stored there last. What works, stores, sleeps or finds what it looks for is none.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

# One thread does X, and stores; the other waits for it in memory, and does Y.
cat >spins.cc <<'C'
#include <atomic>
#include <cstring>
#include <thread>
#include <time.h>
#include <unistd.h>

#define ROUNDS 6
static const char *what;
static std::atomic<int> seq, room, slot, tallies;
static int referred, swapped, ored;
static long tally;
static std::atomic_flag taken = ATOMIC_FLAG_INIT, begun = ATOMIC_FLAG_INIT;
static std::atomic<bool> locked;
static std::atomic<unsigned> next, serving;
static volatile int plain;
static volatile struct { int near, at; } member;
static int synced, by_openmp, flushed, barred, factor = 1;
static double sum;
struct flag {
	std::atomic<int> v{ 0 };
	bool ready(int i) const { return v.load() > i; }
} wrapped;

static struct {
	void sleep() { room.store(seq + 1); }
} robot;

static bool is(const char *w) { return !strcmp(what, w); }
static void relax() { __builtin_ia32_pause(); }

static void X()
{
#pragma dprof region(X)
	usleep(20000);
}

static void Y()
{
#pragma dprof region(Y)
	usleep(1000);
}

static void give(int i)
{
	X();
	if (is("store") || is("sleeps") || is("slept") || is("yields") || is("watched") || is("tallied"))
		seq.store(i + 1);
	else if (is("referred"))
		std::atomic_ref<int>(referred).store(i + 1);
	else if (is("slot"))
		slot = 1;
	else if (is("added") || is("product") || is("bounded"))
		seq++;
	else if (is("exchanged"))
		seq.exchange(i + 1);
	else if (is("claimed")) {
		int old = i;
		seq.compare_exchange_strong(old, i + 1);
	} else if (is("volatile"))
		plain = i + 1;
	else if (is("counted"))
		plain = plain + 1;
	else if (is("member"))
		member.at = i + 1;
	else if (is("builtin"))
		__atomic_store_n(&synced, i + 1, __ATOMIC_RELEASE);
	else if (is("wrapped"))
		wrapped.v = i + 1;
	else if (is("openmp")) {
#pragma omp atomic write
		by_openmp = i + 1;
	} else if (is("flushed")) {
		flushed = i + 1;
#pragma omp flush
	} else if (is("barred")) {
		__asm__ volatile("" ::: "memory");
		barred = i + 1;
	}
}

static void take(int i)
{
	if (is("store"))
		while (seq.load(std::memory_order_acquire) <= i) /* SPIN store */
			;
	else if (is("sleeps"))
		while (seq <= i) /* SPIN sleeps */
			usleep(200);
	else if (is("slept"))
		while (seq <= i) /* SPIN slept */
			std::this_thread::sleep_for(std::chrono::microseconds(100 + i));
	else if (is("yields"))
		while (seq <= i) /* SPIN yields */
			std::this_thread::yield();
	else if (is("watched")) {
		timespec now;
		while (seq <= i) { /* SPIN watched */
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec < 0)
				return;
		}
	} else if (is("tallied"))
		while (seq <= i) { /* SPIN tallied */
			tally++;
			tallies.fetch_add(1);
		}
	else if (is("referred"))
		while (std::atomic_ref<int>(referred).load() <= i) /* SPIN referred */
			relax();
	else if (is("slot"))
		for (int full = 1; !slot.compare_exchange_strong(full, 0); full = 1) /* SPIN slot */
			relax();
	else if (is("added"))
		while (!(seq > i)) /* SPIN added */
			relax();
	else if (is("product"))
		while (seq < (i + 1) * factor) /* SPIN product */
			relax();
	else if (is("exchanged"))
		for (int tries = 1; seq <= i; tries = tries < 64 ? tries * 2 : tries) /* SPIN exchanged */
			for (int k = 0; k < tries; k++)
				relax();
	else if (is("claimed"))
		for (;;) {
			int now = seq; /* SPIN claimed */
			if (now > i)
				break;
			relax();
		}
	else if (is("volatile") || is("counted"))
		while (plain <= i) /* SPIN volatile SPIN counted */
			;
	else if (is("member"))
		while (member.at <= i) /* SPIN member */
			;
	else if (is("builtin"))
		while (__atomic_load_n(&synced, __ATOMIC_ACQUIRE) <= i) /* SPIN builtin */
			relax();
	else if (is("openmp"))
		for (int seen = 0; seen <= i;) {
#pragma omp atomic read /* SPIN openmp */
			seen = by_openmp;
		}
	else if (is("flushed"))
		while (flushed <= i) { /* SPIN flushed */
#pragma omp flush
		}
	else if (is("barred"))
		while (barred <= i) /* SPIN barred */
			__asm__ volatile("pause" ::: "memory");
	else if (is("wrapped"))
		while (!wrapped.ready(i)) /* SPIN wrapped */
			relax();
	else if (is("bounded")) {
		while (seq <= i) /* SPIN bounded */
			for (int k = 0; k < 1000 && seq.load() <= i; k++)
				relax();
	}
}

static bool try_it()
{
	return __sync_bool_compare_and_swap(&swapped, 0, 1);
}

/* X is done by both, one behind the other. */
static void lock()
{
	if (is("swapped"))
		while (!__sync_bool_compare_and_swap(&swapped, 0, 1)) /* SPIN swapped */
			;
	else if (is("tried"))
		while (!try_it()) /* SPIN tried */
			relax();
	else if (is("ored"))
		while (__atomic_fetch_or(&ored, 1, __ATOMIC_ACQUIRE) & 1) /* SPIN ored */
			relax();
	else if (is("tagged"))
		for (unsigned was = next & ~1u; !next.compare_exchange_weak(was, was | 1); was = next & ~1u) /* SPIN tagged */
			relax();
	else if (is("taken"))
		while (taken.test_and_set()) /* SPIN taken */
			relax();
	else if (is("looked"))
		for (;;) {
			while (locked.load(std::memory_order_relaxed)) /* SPIN looked */
				relax();
			if (!locked.exchange(true)) /* SPIN looked */
				return;
		}
	else if (is("ticket"))
		for (unsigned mine = next++; serving != mine;) /* SPIN ticket */
			relax();
}

static void unlock()
{
	if (is("swapped") || is("tried"))
		__atomic_store_n(&swapped, 0, __ATOMIC_RELEASE);
	else if (is("ored"))
		__atomic_fetch_and(&ored, ~1, __ATOMIC_RELEASE);
	else if (is("tagged"))
		next &= ~1u;
	else if (is("taken"))
		taken.clear();
	else if (is("looked"))
		locked = false;
	else if (is("ticket"))
		serving.store(serving + 1);
}

static double more(double x)
{
	for (int i = 0; i < 1000; i++)
		x += x * 1e-9 + i;
	return x;
}

/* None of these is a wait. */
static void other()
{
	unsigned hash = 1;
	if (is("works"))
		while (seq < ROUNDS)
			sum = more(sum);
	else if (is("hashes"))
		while (seq < ROUNDS)
			hash = hash >> 1 ^ (hash & 1 ? 0xedb88320u : 0);
	else if (is("stores"))
		while (seq < ROUNDS)
			room.store(seq + 1);
	else if (is("robot"))
		while (seq < ROUNDS)
			robot.sleep();
	else if (is("counts"))
		for (plain = 0; plain < 1000000;)
			plain = plain + 1;
	else if (is("updates"))
		for (int k = 0; k < 1000; k++)
			for (int old = room; !room.compare_exchange_weak(old, old * 3 + 1);)
				relax();
	else if (is("free"))
		for (int k = 0; k < 1000; k++) {
			while (!__sync_bool_compare_and_swap(&swapped, 0, 1))
				relax();
			__atomic_store_n(&swapped, 0, __ATOMIC_RELEASE);
		}
	else if (is("passes"))
		for (int k = 0; k < 1000; k++)
			while (!wrapped.ready(-1))
				relax();
	else if (is("found"))
		for (int k = 0; k < 100000; k++)
			while (seq < 0)
				relax();
	factor = hash ? 1 : 2;
}

static bool locks()
{
	return is("taken") || is("looked") || is("ticket") || is("swapped") || is("tried") || is("ored") || is("tagged");
}

static void with_lock()
{
	lock();
	X();
	unlock();
}

static void one()
{
	for (int i = 0; i < ROUNDS; i++)
		if (locks()) {
			with_lock();
		} else {
			give(i);
			if (is("works") || is("hashes") || is("stores") || is("robot") || is("updates") || is("free") || is("found") || is("passes"))
				seq = i + 1;
		}
}

static void two()
{
	for (int i = 0; i < ROUNDS; i++)
		if (locks()) {
			with_lock();
		} else {
			take(i);
			Y();
		}
	other();
}

int main(int, char **argv)
{
	what = argv[1];
	std::thread a(one), b(two);
	a.join();
	b.join();
}
C

# Where each is said to be in the source: "WORD LINE", of some at one of two.
places=$(awk '{ for (i = 1; i < NF; i++) if ($i == "SPIN") print $(i + 1), NR }' spins.cc)

run() { # program what
	rm -rf trace && mkdir trace
	DPROF_DIR=$dir/trace "./$1" "$2" || fail "$2: status $?"
	"$analyze" dump trace/dprof-* >events
}

# Waits that say where, or do not: "LINE known|unknown", of each place and kind of wait how often.
waits() {
	<events awk '$1 == "site" && /name=spin%20wait/ { match($0, /line=[0-9]+/)
			line[$2] = substr($0, RSTART + 5, RLENGTH - 5) }
		$1 == "e" && $5 == "enter" && $4 in line && !/role=0/ { print line[$4], /id=|object=/ ? "known" : "unknown" }' | sort | uniq -c
}
# How often it is said that a thread may wait, where it is not known at what it looks.
passed() {
	<events awk '$1 == "site" && /name=spin%20wait/ { spin[$2] } $1 == "e" && $5 == "point" && NF == 5 && $4 in spin' | wc -l
}

# How often something was stored at the place of a wait.
stores() {
	<events awk '$1 == "site" && /name=store%20to%20memory/ { store[$2] } $1 == "e" && $4 in store && /id=/' | wc -l
}

# Sleeps and yields of both: one in each X and Y, and what starts and ends threads.
rests() {
	<events awk '$1 == "site" && /name=(usleep|nanosleep|sched_yield) / { rest[$2] } $1 == "e" && $5 == "enter" && $4 in rest' | wc -l
}

# What part of the run X takes; and what is expected of half of it, in %.
share() {
	<events awk '$1 == "site" && /name=X / { x[$2] } $1 == "e" { first = first ? first : $3; last = $3 > last ? $3 : last }
		$1 == "e" && $4 in x { of[$2] = $5 == "enter" ? $3 : of[$2]; all += $5 == "exit" ? $3 - of[$2] : 0 }
		END { print all / (last - first) * 100 }'
}
expected() {
	"$analyze" coz --json trace/dprof-* | jq -r '.regions[] | select(.region == "X") | .curve[] | select(.reduce_percent.lo == 50) |
		"\(.expected_percent.lo) \(.expected_percent.hi)"'
}

# Of a run whether its waits stand at these lines and say where, and of -O2 what is expected; else it says what not.
holds() { # options what lines
	local options=$1 what=$2 lines=$3 known=known least=3 lo hi
	case $what in wrapped | tried | tagged) known=unknown ;; esac
	case $what in taken | looked | ticket | swapped | tried | ored | tagged) least=1 ;; esac # who gives a lock back may get it again
	run spins "$what"
	waits >found
	if ! awk -v lines="$lines" -v how=$known -v least=$least '{ n += $1 } !index(lines, $2) || $3 != how { bad = 1 }
		END { exit bad || n < least }' found; then
		echo "expected waits at line $lines, $known, found: $(cat found)"
		return 1
	fi
	if [ $known = known ] && [ "$(stores)" -eq 0 ]; then
		echo "nothing was stored, for all that is recorded"
		return 1
	fi
	if [ "$(rests)" -gt 20 ]; then
		echo "$(rests) sleeps are recorded, found: $(cat found)"
		return 1
	fi
	[ "$options" = -O2 ] && [ "$known" = known ] && [ "$what" != bounded ] || return 0 # who gives up waited for anything
	read -r lo hi < <(expected)
	if ! is_true "$lo > $(share) / 2 - 4 && $hi < $(share) / 2 + 1"; then
		echo "X takes $(share) % of the run, expected of half of it is $lo .. $hi"
		return 1
	fi
	"$analyze" csp trace/dprof-* >scores
	[ "$least" = 1 ] || grep -A1 'others wait for it' scores | grep -qE 'thread 1 .* X \(spins.cc' && return
	echo "the others do not wait for thread 1 in X: $(cat scores)"
	return 1
}

for options in "-O0" "-O2"; do
	# shellcheck disable=SC2046,SC2086
	g++ -std=c++20 $options -fopenmp -pthread $(pkg-config --cflags dprof) -o spins spins.cc $(pkg-config --libs dprof) ||
		fail "spins.cc does not compile with $options"
	for what in $(cut -d' ' -f1 <<<"$places" | uniq); do
		lines=$(awk -v what="$what" '$1 == what { print $2 }' <<<"$places" | xargs)
		one_of_six holds "$options" "$what" "$lines" >why || fail "$options: $what: $(cat why)"
	done
	for what in works hashes stores robot counts updates free found passes; do
		run spins $what
		[ -z "$(waits)" ] || fail "$options: $what: expected no wait, found: $(waits)"
		[ $what != updates ] || [ "$(passed)" -eq 0 ] || fail "$options: who stores what it has computed is said to have waited"
		[[ $what != passes && $what != free ]] || [ "$(passed)" -eq 1 ] || fail "$options: it is said $(passed) times that somebody may wait"
		n=$(<events grep -c 'enter id=.* role=0')
		[ "$n" -le 7 ] || fail "$options: $what: $n looks are recorded though something was stored six times"
	done
done

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Flags and bits by which threads claim their work are recorded, and when what they decided is over; spin locks, attempts that are
# repeated, reference counts and what nobody looks at are not. What was claimed may be another thread's in another run; who finds
# that something is initialised does his own work in any.
. testsuite/lib.sh
at_once=1
export PKG_CONFIG_PATH=$B/lib/pkgconfig DPROF_QUIET=1
cd "$dir" || exit 1

cat >program.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define N 6

static atomic_flag flags[N], lock = ATOMIC_FLAG_INIT, slots[N];
static atomic_int spin, ready, references, largest, swapped[N];
static unsigned long bits, more;
static int table, plain[N], sums;
static const char *what;
static struct node { struct node *next; } *_Atomic head;

static void work(int i)
{
	if (i == 0) {
#pragma dprof region(X)
		usleep(60000);
	} else {
#pragma dprof region(other)
		usleep(20000);
	}
}

static void claim(void)
{
	for (int i = 0; i < N && !strcmp(what, "flags"); i++)
		if (!atomic_flag_test_and_set(&flags[i])) /* CLAIMED OVER */
			work(i);
	for (int i = 0; i < N && !strcmp(what, "swaps"); i++)
		if (!atomic_exchange(&swapped[i], 1)) /* CLAIMED OVER */
			work(i);
	for (int i = 0; i < N && !strcmp(what, "bits"); i++)
		if (!(__atomic_fetch_or(&bits, 1ul << i, __ATOMIC_SEQ_CST) >> i & 1)) /* CLAIMED OVER */
			work(i);
	while (!strcmp(what, "mask")) {
		unsigned long b = __atomic_load_n(&more, __ATOMIC_SEQ_CST);
		int i = __builtin_ctzl(~b);
		if (i == N)
			break;
		if (__atomic_compare_exchange_n(&more, &b, b | 1ul << i, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) /* CLAIMED OVER */
			work(i);
	}
}

static void claim_either_way(int down)
{
	for (int i = 0; i < N && !down; i++)
		if (!atomic_flag_test_and_set(&flags[i])) /* CLAIMED OVER */
			work(i);
	for (int i = N - 1; i >= 0 && down; i--)
		if (!atomic_flag_test_and_set(&flags[i])) /* CLAIMED OVER */
			work(i);
}

static int pick(void)
{
	for (int i = 0; i < N; i++)
		if (!atomic_flag_test_and_set(&slots[i])) /* CLAIMED */
			return i;
	return -1;
}

static int sum(void)
{
	int n = 0;
	for (int i = 0; i < N; i++)
		if (!__sync_lock_test_and_set(&plain[i], 1)) /* CLAIMED */
			n += i;
	return n;
}

static _Bool try(void)
{
	return !atomic_flag_test_and_set(&lock);
}

static void back_off(void)
{
	usleep(1);
}

static void locks(struct node *own)
{
	int is = 0, m = largest;

	while (atomic_flag_test_and_set(&lock))
		;
	atomic_flag_clear(&lock);
	while (!try())
		back_off();
	atomic_flag_clear(&lock);
	while (!atomic_compare_exchange_weak(&spin, &is, 1)) {
		is = 0;
		back_off();
	}
	atomic_store(&spin, 0);
	for (;;) {
		while (atomic_load(&spin))
			back_off();
		if (!atomic_exchange(&spin, 1))
			break;
	}
	atomic_store(&spin, 0);
	own->next = head;
	while (!atomic_compare_exchange_weak(&head, &own->next, own))
		;
	while (m < N && !atomic_compare_exchange_weak(&largest, &m, N))
		;
	atomic_fetch_add(&references, 1);
	atomic_exchange(&swapped[0], 1);
	if (atomic_fetch_sub(&references, 1) == 1)
		free(NULL);
}

static void *run(void *first)
{
	struct node own;

	claim();
	if (!strcmp(what, "two"))
		claim_either_way(!first);
	if (strcmp(what, "own"))
		return NULL;
	locks(&own);
	if (!atomic_exchange(&ready, 1)) /* CLAIMED OVER */
		table = N;
	if (first) {
#pragma dprof region(A)
		usleep(60000);
	} else {
#pragma dprof region(B)
		usleep(30000);
	}
	return NULL;
}

static void *rest(void *unused)
{
	__atomic_fetch_add(&sums, pick() + sum(), __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	what = argv[argc - 1];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, strcmp(what, "rest") ? run : rest, i ? NULL : thread))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
C
cat >program.cc <<'C'
#include <atomic>
#include <thread>
static std::atomic<bool> taken[3];
static std::atomic<int> owner, bits;
static std::atomic_flag flag, lock;
static int sum;
alignas(4) static int plain;
static void work(int i)
{
	if (i < 0)
		throw i;
	__atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
}
static void claim(int self)
{
	int nobody = 0;
	std::atomic_ref<int> referred(plain);
	while (lock.test_and_set(std::memory_order_acquire))
		std::this_thread::yield();
	lock.clear();
	for (int i = 0; i < 3; i++)
		if (!taken[i].exchange(true)) /* CLAIMED OVER */
			work(i);
	if (owner.compare_exchange_strong(nobody, self)) /* CLAIMED OVER */
		work(3);
	if (!(bits.fetch_or(1) & 1)) /* CLAIMED OVER */
		work(4);
	if (!flag.test_and_set()) /* CLAIMED OVER */
		work(5);
	if (referred.exchange(1) == 0) /* CLAIMED OVER */
		work(6);
	if (!std::atomic_exchange(&taken[0], true)) /* CLAIMED OVER */
		work(7);
}
int main()
{
	std::thread a(claim, 1), b(claim, 2);
	a.join();
	b.join();
}
C

compile() { # SOURCE COMPILER...
	local source=$1
	shift
	# shellcheck disable=SC2046
	"$@" $(pkg-config --cflags dprof) -o program "$source" $(pkg-config --libs dprof) -lpthread || fail "$source does not compile"
}

run() { # WHAT...
	rm -rf dprof-*
	local what
	for what; do
		timeout 60 ./program "$what" || fail "$what: exit status $?"
	done
}

# The lines at which something is claimed, and those of them at which that is over.
expect_claims() { # SOURCE
	local t
	for t in dprof-*; do
		"$analyze" dump "$t" || fail "$1: dump"
	done >dump
	awk '$1 == "site" && / name=atomic%20claim / { match($0, / line=[0-9]+/); line[$2] = substr($0, RSTART + 6, RLENGTH - 6) }
		$1 == "site" && !/ name=atomic%20claim / { delete line[$2] }
		$1 == "e" && $4 in line { print line[$4], $7 == "tag=1" ? "OVER" : "CLAIMED" }' dump | sort -u >found
	awk '/CLAIMED/ { print NR, "CLAIMED" } /CLAIMED OVER/ { print NR, "OVER" }' "$1" | sort -u >wanted
	cmp -s wanted found || fail "$1: expected and found: $(diff wanted found)"
}

compile program.c gcc -O2
run flags swaps bits mask two own rest
expect_claims program.c
compile program.cc g++ -std=c++20 -O2
run any
expect_claims program.cc
# By the stamps, in percent of the run: what is left of it when both threads have come to claim something, and how long they
# were at what they had claimed, up to where that was over. A busy machine may start a thread late, or take its core just there.
shares() {
	"$analyze" dump dprof-* | awk '
		$1 == "site" { claims[$2] = / name=atomic%20claim / }
		$1 != "e" { next }
		{ first = first ? first : $3; last = last > $3 ? last : $3 }
		claims[$4] && !come[$2]++ { all = all > $3 ? all : $3 }
		claims[$4] && $7 != "tag=1" { since[$2] = $3 }
		claims[$4] && $7 == "tag=1" { took += $3 - since[$2] }
		END { printf "%.6f %.6f\n", 100 * (last - all) / (last - first), 100 * took / (last - first) }'
}

compile program.c gcc -O0
for what in flags swaps bits mask two; do
	run $what
	"$analyze" coz --json --region X --reduce 100 dprof-* >json 2>err || fail "coz: $(cat err)"
	read -r together _ < <(shares)
	jq -e --argjson together "$together" '.speedup_percent.lo < 0 and .speedup_percent.hi > 0.4 * $together and
		(.assumptions | contains("atomic claim (program.c:"))' json >held ||
		fail "$what: what is claimed is not known to be: $together % of the run: $(jq -c '[.speedup_percent, .assumptions]' json)"
done
# What takes less than a hundredth of the run is no work; one that loses its core there has worked, for all that is known.
done_at_once() {
	run own
	read -r _ claimed < <(shares)
	is_true "$claimed < 0.9"
}
if one_of_six done_at_once; then
	"$analyze" coz --json --region A --reduce 100 dprof-* >json 2>err || fail "coz: $(cat err)"
	jq -e '.assumptions | contains("atomic claim") | not' json >held ||
		fail "own: who has looked whether all is ready might do another thread's work: $(jq -c '[.speedup_percent, .assumptions]' json)"
fi

# Of claims that are over at once, many one after the other, few leave a record.
cat >short.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_uchar claimed[1000000];
static long sum;
static void *take(void *unused)
{
	for (int i = 0; i < 1000000; i++)
		if (!atomic_exchange(&claimed[i], 1))
			sum++;
	return unused;
}
int main(void)
{
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, take, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
C
compile short.c gcc -O2
run any
records=$("$analyze" dump dprof-* | grep -c 'point offset=')
[ "$records" -gt 0 ] && [ "$records" -lt 20000 ] || fail "short claims: of 2,000,000 expected some records, and less than 20,000, found $records"

# What is claimed in what is done for another, at once, is over before that is; and what comes behind many that were over at once may
# be another's as well.
cat >within.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_uchar claimed[40], inner[2];
static int within;
static void take_one(atomic_uchar *flag, int deeper)
{
	if (!atomic_exchange(flag, 1)) {
		if (deeper)
			take_one(flag + 1, 0);
		if (deeper) {
#pragma dprof region(X)
			usleep(60000);
		}
	}
}
static void *take(void *unused)
{
	for (int i = 0; i < 19 && !within; i++)
		take_one(&claimed[i], i == 16);
	take_one(inner, within);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread[2];
	(void)argv;
	within = argc > 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, take, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
C
compile within.c gcc -O2
for argument in "" within; do
	rm -rf dprof-*
	# shellcheck disable=SC2086
	./program $argument || fail "within $argument: exit status $?"
	"$analyze" dump dprof-* | awk '
		$1 == "site" && $4 == "name=X" { x = $2 }
		$1 == "e" && / point offset=/ { over[$2] = / tag=1/ }
		$1 == "e" && $4 == x && $5 == "enter" { n++; bad += !($2 in over) || over[$2] }
		END { exit n != 1 || bad }' || fail "within $argument: X is behind all that was claimed: $("$analyze" dump dprof-* | grep '^e')"
done
echo "as expected"

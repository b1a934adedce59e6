/* SPDX-License-Identifier: MIT
 *
 * analysis_sched.c - what the kernel counted, between two events, encloses the truth.
 *
 * A thread runs, waits for a core or is blocked, in turn; it records while it runs. Others ask the kernel now and
 * then, whatever it does. The kernel adds a wait up when it is over. If it moves the thread to another core while that is
 * blocked, it may take the rest of that for waiting, too. */
#include "analysis/states/blocked.h"
#include "analysis/trace/sched.h"
#include "analysis/trace/trace_jumps.h"
#include "testsuite/unit/stored_records.h"
#include "testsuite/unit/unit.h"

#define WORLDS 3000
#define TURNS  300
#define ASKED  7

static uint64_t longest_wait = 30000, longest_turn = 10000;
static int turns = TURNS; /* at most */
static bool just_made; /* when the kernel is asked first: it waits for its first core then */
static bool moves;     /* to other cores, in its sleep */
enum { RUNS, WAITS, BLOCKED };
static struct sched_world {
	uint64_t random;
	uint64_t begin[TURNS + 1]; /* of each turn, in ticks of 1 ns */
	int does[TURNS];
	uint64_t moved[TURNS];     /* when it was, in this turn; or 0 */
	struct dprof_sched sched[ASKED];
	struct tr_thread thread;
	struct tr_clock clock;
	struct trace trace;
} w;

static uint64_t random_below(uint64_t most)
{
	w.random = w.random * 6364136223846793005 + 1442695040888963407;
	return (w.random >> 33) % most;
}

static void make_turns(void)
{
	w.begin[0] = 1000000;
	for (int i = 0; i < turns; i++) {
		w.does[i] = i == 0 ? (just_made ? WAITS : RUNS) : w.does[i - 1] == RUNS ? 1 + (int)random_below(2)
				     : w.does[i - 1] == BLOCKED ? WAITS : RUNS;
		w.begin[i + 1] = w.begin[i] + 1 + random_below(w.does[i] == WAITS ? longest_wait : longest_turn);
		if (moves && w.does[i] == BLOCKED && random_below(3) == 0)
			w.moved[i] = w.begin[i] + random_below(w.begin[i + 1] - w.begin[i]);
	}
}

static uint64_t moves_until(uint64_t at)
{
	uint64_t n = 0;
	for (int i = 0; i < turns; i++)
		n += w.moved[i] && w.moved[i] <= at;
	return n;
}

/* When the kernel takes it for waiting, which it is in that turn. */
static uint64_t waits_since(int turn)
{
	return turn > 0 && w.moved[turn - 1] ? w.moved[turn - 1] : w.begin[turn];
}

/* How long it did that until a moment. The kernel knows of no wait that goes on. */
static uint64_t truth(int what, uint64_t until, bool as_counted)
{
	uint64_t sum = 0;
	for (int i = 0; i < turns && w.begin[i] < until; i++) {
		bool goes_on = w.begin[i + 1] > until;
		if (w.does[i] == what && !(goes_on && as_counted && what == WAITS))
			sum += (goes_on ? until : w.begin[i + 1]) - (as_counted && what == WAITS ? waits_since(i) : w.begin[i]);
	}
	return sum;
}

static void ask(struct dprof_sched *s, uint64_t at)
{
	*s = (struct dprof_sched){ .from = at - random_below(50), .to = at + random_below(50),
				   .cpu_ns = truth(RUNS, at, true), .delay_ns = truth(WAITS, at, true),
				   .moves = moves_until(at),
				   .known = DPROF_SCHED_CPU | DPROF_SCHED_DELAY | DPROF_SCHED_MOVES };
}

static uint64_t while_it_runs(void)
{
	int turn;
	do
		turn = (int)random_below(turns);
	while (w.does[turn] != RUNS);
	return w.begin[turn] + random_below(w.begin[turn + 1] - w.begin[turn]);
}

static void make_world(uint64_t seed)
{
	memset(&w, 0, sizeof w);
	w.random = seed;
	make_turns();
	uint64_t run = w.begin[turns] - w.begin[0];
	ask(&w.sched[0], w.begin[0]);
	for (uint64_t i = 1; i < ASKED; i++)
		ask(&w.sched[i], w.begin[0] + 100 + (run * i + random_below(run / 2)) / ASKED);
	w.clock = (struct tr_clock){ .ghz = 1 };
	w.thread = (struct tr_thread){ .sched = w.sched, .nsched = ASKED - seed % 3 };
	w.trace = (struct trace){ .clocks = &w.clock, .nclocks = 1, .threads = &w.thread, .nthreads = 1 };
}

static void check(uint64_t seed, const char *what, struct interval found, uint64_t ns)
{
	double seconds = (double)ns / 1e9;
	ck_assert_msg(found.lo <= seconds && seconds <= found.hi, "SEED=%" PRIu64 ": %s: %.9f is not in %.9f .. %.9f",
		      seed, what, seconds, found.lo, found.hi);
}

static void check_world(uint64_t seed)
{
	make_world(seed);
	ck_assert(sched_possible(w.sched, w.thread.nsched));
	for (int i = 0; i < 20; i++) {
		uint64_t a = while_it_runs(), b = while_it_runs(), from = a < b ? a : b, to = a < b ? b : a;
		struct sched_use use = sched_use(&w.trace, 0, from, to);
		check(seed, "ran", use.cpu_s, truth(RUNS, to, false) - truth(RUNS, from, false));
		check(seed, "waited", use.delay_s, truth(WAITS, to, false) - truth(WAITS, from, false));
	}
}

/* ---- Blocked in what was not recorded -------------------------------------------------------- */

static struct tr_site places[] = { { .kind = DPROF_KIND_RECV, .name = "read", .file = "", .function = "" },
					  { .kind = DPROF_KIND_IO, .name = "fread", .file = "", .function = "" },
					  { .kind = DPROF_KIND_REGION, .name = "all", .file = "", .function = "" },
					  { .kind = DPROF_KIND_REGION, .name = "try", .file = "", .function = "" } };
static bool jumps; /* out of a first operation, to behind "try" */
static bool asked_once; /* at the end */

static void record(struct tr_record *records, uint64_t stamp, enum dprof_op op, uint32_t site)
{
	records[w.thread.nrecords++] = (struct tr_record){ stamp, TR_WHAT(site, op) };
}

/* Of its blocked turns the thread records so many in a hundred. -> for how long it was in others. */
static uint64_t record_turns(struct tr_record *records, uint64_t recorded)
{
	uint64_t others = 0;
	int first = just_made, last = turns - 1;
	while (w.does[last] != RUNS)
		last--;
	record(records, w.begin[first], DPROF_ENTER, 2);
	if (jumps) {
		record(records, w.begin[first], DPROF_ENTER, 3);
		record(records, w.begin[first], DPROF_ENTER, 0);
		record(records, w.begin[first], DPROF_EXIT, 3);
	}
	for (int i = first + 1; i < last; i++) {
		int next = i + 1;
		while (w.does[next] != RUNS)
			next++;
		if (w.does[i] != BLOCKED)
			continue;
		uint32_t site = (uint32_t)random_below(2);
		if (random_below(100) >= recorded) {
			others += w.begin[i + 1] - w.begin[i];
			continue;
		}
		record(records, w.begin[i] - 1, DPROF_ENTER, site);
		record(records, w.begin[next], DPROF_EXIT, site);
	}
	record(records, w.begin[last], DPROF_EXIT, 2);
	return others;
}

static void find_jumps(const struct tr_record *records)
{
	struct jumps_scan scan;
	jumps_begin(&scan, &w.trace, &w.thread);
	for (size_t i = 0; i < w.thread.nrecords; i++)
		jumps_event(&scan, &records[i], i);
	jumps_end(&scan, true);
	ck_assert((w.thread.jumps != NULL) == jumps);
}

static struct blocked ask_blocked(uint64_t seed, uint64_t recorded, uint64_t *truth)
{
	static struct tr_record records[2 * TURNS + 5];
	static struct tr_process process = { .rank = -1 };
	struct roles roles;

	make_world(seed);
	if (asked_once)
		w.thread.sched = &w.sched[w.thread.nsched - 1], w.thread.nsched = 1;
	w.trace.processes = &process;
	w.trace.nprocesses = 1;
	w.trace.sites = places;
	w.trace.nsites = sizeof places / sizeof *places;
	trace_classify(&w.trace);
	*truth = record_turns(records, recorded);
	find_jumps(records);
	store_thread(&w.trace, &w.thread, records, w.thread.nrecords);
	ck_assert(roles_open(&roles, &w.trace, NULL, NULL));
	struct blocked b = blocked_unrecorded(&w.trace, 0, &roles, 0);
	roles_close(&roles);
	unstore_thread(&w.trace, &w.thread);
	jumps_close(w.thread.jumps);
	ck_assert(b.known);
	return b;
}

/* Both operations are such that a thread sleeps there, and does not run; or such that it may poll. */
static void let_sleep(bool sleep)
{
	places[0].kind = sleep ? DPROF_KIND_WAIT : DPROF_KIND_RECV;
	places[0].name = sleep ? "pthread_cond_wait" : "read";
	places[1].kind = sleep ? DPROF_KIND_SLEEP : DPROF_KIND_IO;
	places[1].name = sleep ? "usleep" : "fread";
	longest_turn = sleep ? 300000 : 10000;
}

START_TEST(what_was_not_recorded_is_inside)
{
	for (uint64_t i = 0; i < unit_times(WORLDS); i++) {
		uint64_t truth;
		let_sleep(i % 2 == 1);
		jumps = i % 4 == 3;
		asked_once = i % 5 == 4;
		just_made = i % 7 == 6;
		moves = i % 13 < 5;
		turns = i % 11 < 5 && !just_made ? 8 : TURNS; /* about one answer a turn */
		struct blocked b = ask_blocked(unit_seed + i, i % 3 * 50, &truth);
		check(unit_seed + i, "blocked", b.s, truth);
		if (i % 3 == 2)
			ck_assert(b.s.lo == 0);
	}
	asked_once = just_made = moves = false;
	turns = TURNS;
	let_sleep(false);
}
END_TEST

/* A delay that goes on at many answers is taken for unknown once: so a thread that mostly waits for a core is not open for
 * as long, and not for what it had to wait at first. */
START_TEST(delays_leave_little_open)
{
	uint64_t worlds = unit_times(WORLDS);
	double open = 0, lives = 0;
	longest_wait = 400000;
	just_made = _i == 1;
	for (uint64_t i = 0; i < worlds; i++) {
		uint64_t truth;
		struct blocked b = ask_blocked(3 * (unit_seed + i), 100, &truth);
		ck_assert(truth == 0);
		open += b.s.hi;
		lives += (double)(w.begin[turns] - w.begin[0]) / 1e9;
	}
	longest_wait = 30000;
	just_made = false;
	ck_assert_msg(open < lives / 10, "%g of %g s", open, lives);
}
END_TEST

/* Of a thread that works as long as it sleeps little is open: where it slept it did not run, so it ran in its own time. */
START_TEST(who_sleeps_did_not_run_there)
{
	uint64_t worlds = unit_times(WORLDS), tight = 0;
	longest_wait = 1000;
	for (uint64_t i = 0; i < worlds; i++) {
		uint64_t truth;
		let_sleep(true);
		struct blocked b = ask_blocked(3 * (unit_seed + i), 100, &truth); /* asked as often as can be */
		ck_assert(truth == 0);
		tight += b.s.hi < (double)(w.begin[turns] - w.begin[0]) / 1e9 / 4;
	}
	let_sleep(false);
	longest_wait = 30000;
	ck_assert_msg(tight > worlds * 9 / 10, "%" PRIu64 " of %" PRIu64, tight, worlds);
}
END_TEST

/* A good part of it is noticed, even behind an operation that was left by a jump. */
START_TEST(what_was_not_recorded_is_noticed)
{
	uint64_t noticed = 0, worlds = unit_times(WORLDS);
	longest_wait = 1000; /* a machine that is not shared */
	jumps = _i == 1;
	asked_once = _i == 2;
	for (uint64_t i = 0; i < worlds; i++) {
		uint64_t truth;
		struct blocked b = ask_blocked(unit_seed + i, 50, &truth);
		noticed += b.s.lo > (double)truth / 1e9 / 4;
	}
	longest_wait = 30000;
	asked_once = false;
	ck_assert_msg(noticed > worlds / 2, "%" PRIu64 " of %" PRIu64, noticed, worlds);
}
END_TEST

START_TEST(truth_is_inside)
{
	for (uint64_t i = 0; i < unit_times(WORLDS); i++)
		check_world(unit_seed + i);
}
END_TEST

/* From one answer to another nearly nothing is unknown. */
START_TEST(whole_lives_are_known)
{
	make_world(3);
	uint64_t last = w.sched[ASKED - 1].from;
	struct sched_use use = sched_use(&w.trace, 0, w.begin[0] - 100, last);
	ck_assert(use.known);
	ck_assert(use.delay_s.hi - use.delay_s.lo < 1e-6);
	ck_assert(use.delay_s.lo > 1e-4);
	w.sched[2].known = 0;
	w.sched[3].delay_ns = w.sched[1].delay_ns - 1;
	ck_assert(!sched_possible(w.sched, w.thread.nsched));
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(900, 1);

	tcase_add_test(tc, truth_is_inside);
	tcase_add_test(tc, whole_lives_are_known);
	tcase_add_test(tc, what_was_not_recorded_is_inside);
	tcase_add_test(tc, who_sleeps_did_not_run_there);
	tcase_add_loop_test(tc, delays_leave_little_open, 0, 2);
	tcase_add_loop_test(tc, what_was_not_recorded_is_noticed, 0, 3);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * truth_causes.c - what has no cause is found: random programs whose true times are known have all causes; then some messages are
 * received as if nobody had sent them, and what is said of that is held against a list of all waits, moment by moment. */
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_causes.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/causes_twin.h"
#include "testsuite/unit/unit.h"

static uint64_t seed, programs;
static struct { uint64_t missing, still; double truly, least, most; } seen;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(200);
}

/* ---- Messages that nobody sent --------------------------------------------------------------- */

static bool receives(const struct program_event *e)
{
	return e->site == PROGRAM_RECV || e->site == PROGRAM_IRECV || e->site == PROGRAM_WAIT;
}

/* All that a thread receives with a tag, as which a program has few, has another one: its messages are in order still. */
static void take_sends_away(struct program *p, struct dice *dice)
{
	struct program_thread *t = &p->threads[roll(dice) % p->nthreads];
	uint64_t n = 0, chosen = 0, tag = 0;

	for (size_t i = 0; i < t->nevents; i++)
		n += receives(&t->events[i]) && tag_of(&t->events[i]);
	chosen = n ? roll(dice) % n : 0;
	for (size_t i = 0; i < t->nevents; i++)
		if (receives(&t->events[i]) && tag_of(&t->events[i]) && chosen-- == 0)
			tag = tag_of(&t->events[i])->value;
	for (size_t i = 0; i < t->nevents && n; i++)
		if (receives(&t->events[i]) && tag_of(&t->events[i]) && tag_of(&t->events[i])->value == tag)
			tag_of(&t->events[i])->value = tag + 77777;
}

/* ---- What was said --------------------------------------------------------------------------- */

static void check_time(const struct program *p, const char *of, int64_t truth, frz_time found)
{
	ck_assert_msg(program_compare(truth, found.lo) >= 0 && program_compare(truth, found.hi) <= 0,
		      "SEED=%" PRIu64 ": %s: truly %.3f ticks, found %" PRId64 " .. %" PRId64, p->seed, of,
		      (double)truth / PROGRAM_FINE, found.lo, found.hi);
}

static void check(const struct program *p, const struct causes *c, const struct causes_truth *t)
{
	uint64_t missing = 0;

	ck_assert_msg(c->missing == t->missing, "SEED=%" PRIu64 ": %" PRIu64 " causes are missing, found %" PRIu64, p->seed,
		      t->missing, c->missing);
	ck_assert_uint_eq(c->waits, t->n);
	for (size_t i = 0; i < c->n; i++) {
		const struct causes_row *r = &c->rows[i];
		ck_assert_msg(r->lack == CAUSES_WAIT || r->lack == CAUSES_STANDSTILL,
			      "SEED=%" PRIu64 ": a row of %d", p->seed, r->lack);
		if (r->lack == CAUSES_STANDSTILL)
			continue;
		ck_assert_uint_eq(r->count, t->lacks[r->site].count);
		check_time(p, "waits without a cause", t->lacks[r->site].ticks, r->ticks);
		check_time(p, "the first of them", t->lacks[r->site].first - p->begin, r->first);
		missing += r->count;
	}
	ck_assert_uint_eq(missing, t->missing);
	check_time(p, "all waited", t->still, c->standstill);
}

static struct causes causes_of(const struct trace *trace, const struct times *times)
{
	struct graph g;
	struct graph_order order;
	struct causes c;

	graph_open(&g, trace, times);
	graph_order_open(&order, &g);
	causes_open(&c, &g, &order);
	graph_order_close(&order);
	graph_close(&g);
	return c;
}

static void check_program(uint64_t number, bool lacks, const struct program_spec *spec)
{
	struct program *p = program_draw(number, spec);
	struct dice dice = { number };
	struct options options = { .assumption = p->assumption };
	struct times times;

	if (lacks)
		take_sends_away(p, &dice);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct causes_truth t = causes_truth(p);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	struct causes c = causes_of(trace, &times);
	check(p, &c, &t);
	ck_assert_msg(lacks || (t.missing == 0 && c.standstill.hi == 0), "SEED=%" PRIu64 ": something is missing", p->seed);
	seen.missing += c.missing;
	seen.still += c.standstill.lo > 0;
	seen.truly += (double)t.still / PROGRAM_FINE;
	seen.least += (double)c.standstill.lo;
	seen.most += (double)c.standstill.hi;
	causes_close(&c);
	times_close(&times);
	trace_close(trace);
	causes_truth_free(&t);
	program_free(p);
}

#define SIMPLE (PROGRAM_BARRIERS | PROGRAM_COLLECTIVES | PROGRAM_MESSAGES | PROGRAM_THREADS | PROGRAM_LOCKS)

START_TEST(what_lacks_a_cause_is_found)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, true, &(struct program_spec){ .may = SIMPLE, .affine = i % 3 == 0, .varying = i % 2,
								      .ranks = 2 + (unsigned)((seed + i) % 3), .twins = i % 4 == 0 });
	printf("%" PRIu64 " causes missing; %" PRIu64 " standstills, of truly %.0f ticks, %.0f .. %.0f found\n",
	       seen.missing, seen.still, seen.truly, seen.least, seen.most);
	ck_assert_msg(seen.still > programs / 20 && seen.least > 0.9 * seen.truly && seen.most < 1.5 * seen.truly,
		      "SEED=%" PRIu64 " and %" PRIu64 " more: %" PRIu64 " standstills, of truly %.0f ticks, %.0f .. %.0f found", seed,
		      programs - 1, seen.still, seen.truly, seen.least, seen.most);
}
END_TEST

START_TEST(healthy_programs_lack_nothing)
{
	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = program_draw(seed + i, &(struct program_spec){ .varying = i % 2 });
		struct options options = { .assumption = p->assumption };
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct times times;

		ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
		struct causes c = causes_of(trace, &times);
		ck_assert_msg(c.n == 0 && c.missing == 0, "SEED=%" PRIu64 ": %" PRIu64 " causes are missing", p->seed, c.missing);
		causes_close(&c);
		times_close(&times);
		trace_close(trace);
		program_free(p);
	}
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, healthy_programs_lack_nothing);
	tcase_add_test(c, what_lacks_a_cause_is_found);
	return unit_end();
}

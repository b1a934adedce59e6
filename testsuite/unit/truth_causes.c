/* SPDX-License-Identifier: MIT
 *
 * truth_causes.c - what has no cause is found: random programs whose true times are known have all causes; then some messages are
 * received as if nobody had sent them, and what is said of that is held against a list of all waits, moment by moment. */
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_causes.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/ends_twin.h"
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

static struct tr_arg *tag_of(struct program_event *e)
{
	for (unsigned i = 0; i < e->nargs; i++)
		if (e->args[i].key == DPROF_KEY_TAG)
			return &e->args[i];
	return NULL;
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

/* ---- All waits ------------------------------------------------------------------------------- */

struct causes_truth {
	struct causes_stretch { uint32_t thread; int64_t from, to; } *v; size_t n;
	int64_t *made;           /* when another thread made this one, or INT64_MIN */
	struct { uint64_t count; int64_t ticks, first; } lacks[PROGRAM_SITES];
	uint64_t missing;
	int64_t still;
};

/* From the enter until the last that it waited for, or all the way. */
static void add_wait(struct causes_truth *t, const struct program *p, const struct graph *g, uint32_t thread,
		     const struct graph_sync_point *s)
{
	const struct graph_node *node = &g->nodes[s->number];
	const struct program_event *exit = &p->threads[thread].events[s->at];
	int64_t from = exit[-1].truth, to = from;
	bool known = node->kind != GRAPH_UNKNOWN;

	ck_assert(exit[-1].site == exit->site && exit[-1].op == DPROF_ENTER && exit->op == DPROF_EXIT);
	for (size_t i = node->first; known && i < node->first + node->ninputs; i++) {
		int64_t when = twin_time_posted(p, g, i);
		if (g->inputs[i].sure && !g->inputs[i].candidate && when > to)
			to = when;
	}
	if (!known) {
		to = exit->truth;
		if (t->lacks[exit->site].count++ == 0 || to < t->lacks[exit->site].first)
			t->lacks[exit->site].first = to;
		t->lacks[exit->site].ticks += to - from;
		t->missing++;
	}
	*MEM_GROW(t->v, t->n) = (struct causes_stretch){ thread, from, to };
}

static int by_number(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Between two moments, between which nothing changes: each thread waits, or is not there; and one does wait. */
static bool is_still(const struct causes_truth *t, const struct program *p, int64_t from, int64_t to)
{
	bool any = false;

	for (uint32_t thread = 0; thread < p->nthreads; thread++) {
		const struct program_thread *self = &p->threads[thread];
		bool waits = false;
		for (size_t i = 0; i < t->n; i++)
			waits |= t->v[i].thread == thread && t->v[i].from <= from && to <= t->v[i].to;
		bool away = !self->nevents || to <= t->made[thread] || from >= self->events[self->nevents - 1].truth;
		if (!waits && !away)
			return false;
		any |= waits;
	}
	return any;
}

static void add_stillness(struct causes_truth *t, const struct program *p)
{
	int64_t *moments = NULL;
	size_t n = 0;

	for (uint32_t thread = 0; thread < p->nthreads; thread++)
		for (size_t i = 0; i < p->threads[thread].nevents; i++)
			*MEM_GROW(moments, n) = p->threads[thread].events[i].truth;
	for (size_t i = 0; i < t->n; i++)
		*MEM_GROW(moments, n) = t->v[i].to;
	qsort(moments, n, sizeof *moments, by_number);
	for (size_t i = 1; i < n; i++)
		if (moments[i - 1] < moments[i] && is_still(t, p, moments[i - 1], moments[i]))
			t->still += moments[i] - moments[i - 1];
	free(moments);
}

static struct causes_truth truth_of(const struct program *p)
{
	struct options options = { .assumption = p->assumption };
	struct trace *trace = program_trace(p, PROGRAM_TRUE);
	struct causes_truth t = { .v = NULL };
	struct times times;
	struct graph g;

	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	graph_open(&g, trace, &times);
	t.made = mem_resize(NULL, p->nthreads, sizeof *t.made);
	for (uint32_t thread = 0; thread < p->nthreads; thread++) {
		t.made[thread] = INT64_MIN;
		for (size_t i = 0; i < g.threads[thread].nsyncs; i++) {
			const struct graph_sync_point *s = &g.threads[thread].syncs[i];
			if (s->what == GRAPH_WAITS && s->at > 0)
				add_wait(&t, p, &g, thread, s);
			else if (s->what == GRAPH_WAITS)
				t.made[thread] = twin_time_posted(p, &g, g.nodes[s->number].first);
		}
	}
	add_stillness(&t, p);
	graph_close(&g);
	times_close(&times);
	trace_close(trace);
	return t;
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
	struct causes_truth t = truth_of(p);
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
	free(t.v);
	free(t.made);
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

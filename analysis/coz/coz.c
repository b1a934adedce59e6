/* SPDX-License-Identifier: MIT
 *
 * coz.c - visits all events in an order of causes before effects.
 *
 * A thread goes on over a few of its synchronisation points; of those that can go on, the one whose next point
 * is earliest goes first, so that little is under way. One that waits for a node sleeps until
 * the last input is posted. When all sleep, the trace contradicts itself: the earliest
 * sleeper's node is then taken for unknown. */
#include "analysis/coz/coz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/coz/coz_private.h"
#include "analysis/coz/orders.h"

#define NO_THREAD UINT32_MAX

static void add_diagnostic(const struct visit *v, char *text)
{
	struct graph_said *said = &v->coz->graph->said;
	*MEM_GROW(said->diagnostics, said->ndiagnostics) = text;
}

frz_time visit_time(struct visit *v, uint32_t thread, uint64_t stamp)
{
	return frz_time_of(&v->cursors[v->g->clocks[thread]], stamp);
}

frz_time visit_elapsed(struct visit *v, uint32_t thread, uint64_t stamp)
{
	frz_time now = visit_time(v, thread, stamp);
	frz_time e = { ticks_minus(now.lo, v->span->first.hi),
		       ticks_minus(now.hi, v->span->first.lo) };
	e.hi = e.hi > 0 ? e.hi : 0;
	return e;
}

/* ---- Waiting for nodes ------------------------------------------------------------------------- */

/* Of what comes at a point: by then the thread is awake. */
static uint64_t key_of(struct visit *v, uint32_t thread, const struct graph_sync_point *s)
{
	return merge_key(heap_key(visit_time(v, thread, s->stamp).lo));
}

static void go_on(struct visit *v, uint32_t thread)
{
	merge_set(&v->awake, thread, key_of(v, thread, &v->g->threads[thread].syncs[v->visitors[thread].sync]));
}

/* Its turn comes soon: where it is, is fetched until then. */
static void wake(struct visit *v, uint32_t thread)
{
	const struct visitor *r = &v->visitors[thread];
	merge_set(&v->awake, thread, r->wakes);
	__builtin_prefetch(&v->g->threads[thread].syncs[r->sync]);
	__builtin_prefetch(&v->steps[thread].v[r->step]);
}

/* The node has happened: its inputs are done with, and who slept goes on. */
static void finish(struct visit *v, uint32_t number, struct saving *saving)
{
	const struct graph_node *j = &v->g->nodes[number];
	struct node_state *state = &v->states[number];
	for (size_t i = 0; i < j->ninputs; i++) {
		saving_drop(v->all, v->held[j->first + i]);
		v->held[j->first + i] = NULL;
	}
	struct graph_lates lates = visit_lates(v, number);
	for (uint32_t i = lates.first; i < lates.end; i++) {
		saving_drop(v->all, v->held_late[i]);
		v->held_late[i] = NULL;
	}
	state->saving = saving;
	state->happened = true;
	for (uint32_t sleeper = state->sleepers; sleeper; sleeper = v->visitors[sleeper - 1].next_sleeper)
		wake(v, sleeper - 1);
	state->sleepers = 0;
}

/* Another run may have given the thread more work, less, or none. */
static void chance(struct visit *v, struct visitor *r)
{
	if (r->schedule == GRAPH_STATIC && !r->pools)
		return;
	r->saving = saving_own(v->all, r->saving);
	saving_chance(v->all, r->saving, COZ_PROVED);
	if (!v->orders->given)
		saving_lose(v->all, r->saving, COZ_PROVED);
}

static bool has_all_lates(struct visit *v, uint32_t node)
{
	struct graph_lates lates = visit_lates(v, node);
	bool all = true;
	for (uint32_t i = lates.first; i < lates.end; i++)
		all &= v->held_late[i] != NULL;
	return all;
}

static bool has_all_inputs(const struct visit *v, uint32_t node)
{
	return v->states[node].posted == v->g->nodes[node].ninputs;
}

static void happen_if_all(struct visit *v, uint32_t number)
{
	if (has_all_inputs(v, number) && has_all_lates(v, number))
		finish(v, number, visit_happen(v, &v->g->nodes[number]));
}

static void post(struct visit *v, struct visitor *r, uint32_t input)
{
	uint32_t number = v->g->inputs[input].node;
	struct node_state *state = &v->states[number];
	if (state->happened)
		return; /* it had to happen without */
	chance(v, r);
	v->held[input] = saving_keep(r->saving);
	state->given += r->schedule == GRAPH_DYNAMIC_EVENLY;
	state->posted++;
	happen_if_all(v, number);
}

static void post_late(struct visit *v, struct visitor *r, uint32_t late)
{
	uint32_t number = v->g->lates[late].node;
	if (v->states[number].happened)
		return;
	chance(v, r);
	v->held_late[late] = saving_keep(r->saving);
	happen_if_all(v, number);
}

/* False when the node has not happened yet. */
static bool pass_node(struct visit *v, struct visitor *r, const struct graph_sync_point *s)
{
	uint32_t number = s->number;
	struct node_state *state = &v->states[number];
	bool counts = !r->inside;
	r->sleeps = !state->happened && counts;
	if (r->sleeps) {
		r->next_sleeper = state->sleepers;
		r->wakes = key_of(v, (uint32_t)(r - v->visitors), s);
		state->sleepers = (uint32_t)(r - v->visitors + 1);
		return false;
	}
	if (counts && s->what == GRAPH_PERHAPS) {
		r->saving = saving_own(v->all, r->saving);
		saving_perhaps(v->all, r->saving, COZ_PROVED, state->saving,
			       (int64_t)graph_beyond_ticks(&v->g->inputs[v->g->nodes[number].first]));
	} else if (counts) {
		saving_drop(v->all, r->saving);
		r->saving = saving_keep(state->saving);
	}
	if (++state->passed == v->g->nodes[number].nwaiting) {
		saving_drop(v->all, state->saving);
		state->saving = NULL;
	}
	return true;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Why a region began inside of an operation, or a signal's handler, nobody knows, nor what came of it, nor what a thread would do
 * that had more time left: nothing is proved of any event. */
static struct saving *prove_nothing(struct visit *v, struct saving *s, uint32_t thread, uint64_t stamp)
{
	if (!v->g->interrupted && !v->g->handles && v->g->filled == TR_NO_SITE)
		return s;
	s = saving_own(v->all, s);
	frz_time elapsed = visit_elapsed(v, thread, stamp);
	saving_forget(v->all, s, COZ_PROVED, elapsed);
	if (v->g->filled != TR_NO_SITE)
		saving_may_delay(v->all, s, COZ_PROVED, elapsed);
	return s;
}

/* Whatever the order of locks. */
static struct saving *settle(struct visit *v, struct saving *s)
{
	if (!v->orders->any)
		return s;
	s = saving_own(v->all, s);
	saving_settle(v->all, s, COZ_PROVED, v->orders->longest);
	return s;
}

/* Inside of an operation a point is somewhere between its begin and its end. */
static void probe(struct visit *v, struct visitor *r, uint32_t number)
{
	const struct coz_probe *p = &v->coz->probes[number];
	chance(v, r);
	struct saving *now = prove_nothing(v, settle(v, saving_keep(r->saving)), p->event.thread, p->event.stamp);
	if (r->inside) {
		now = saving_own(v->all, now);
		saving_forget(v->all, now, SAVING_ALL, visit_elapsed(v, p->event.thread, p->event.stamp));
	}
	for (unsigned i = 0; i < COZ_SUMS; i++)
		if (p->sums & 1u << i)
			v->coz->sum[i] = saving_add(v->all, v->coz->sum[i], now);
	if (p->keep)
		v->coz->kept[number] = saving_keep(now);
	saving_drop(v->all, now);
}

static void cut(struct visit *v, struct visitor *r, size_t row, frz_time duration)
{
	bool beside = v->orders->any && orders_beside(v->orders, r);
	r->saving = saving_own(v->all, r->saving);
	for (size_t q = 0; q < v->rows->nquestions; q++) {
		uint32_t region = visit_region_of(v, r->asked, row, q);
		if (region != TR_NO_SITE)
			saving_cut(v->all, r->saving, region, duration, beside ? COZ_PROVED : SAVING_NONE);
	}
}

/* What happens before the next point. */
static void take_steps(struct visit *v, struct visitor *r)
{
	const struct coz_steps *steps = &v->steps[r - v->visitors];
	for (; r->step < steps->n && steps->v[r->step].sync <= r->sync; r->step++) {
		const struct coz_step *s = &steps->v[r->step];
		switch ((enum coz_step_what)s->what) {
		case STEP_CUT: cut(v, r, s->row, s->ticks); break;
		case STEP_FORGET:
			r->saving = saving_own(v->all, r->saving);
			saving_forget(v->all, r->saving, SAVING_ALL, s->ticks);
			break;
		case STEP_DELAY:
			r->saving = saving_own(v->all, r->saving);
			saving_delay(v->all, r->saving, COZ_PROVED);
			break;
		case STEP_INSIDE: r->inside = true; break;
		}
	}
}

/* False when the thread must wait there. */
static bool do_point(struct visit *v, struct visitor *r, const struct graph_sync_point *s)
{
	switch (s->what) {
	case GRAPH_WAITS:
	case GRAPH_ENDS:
	case GRAPH_PERHAPS: return pass_node(v, r, s);
	case GRAPH_SCHEDULES: visitor_schedule(r, s->number); break;
	case GRAPH_REQUESTS:
	case GRAPH_FINISHES:
	case GRAPH_OBTAINS:
	case GRAPH_COMES:
	case GRAPH_RUNS:
	case GRAPH_RELEASES: break; /* of replays */
	case GRAPH_POSTS: post(v, r, s->number); break;
	case GRAPH_LATE: post_late(v, r, s->number); break;
	case GRAPH_PROBE: probe(v, r, s->number); break;
	}
	return true;
}

#define STEPS_AHEAD 64 /* who follows one thread after the other for single events finds none of it in the cache */

/* Finds the steps to its next points, unless it has slept there or they were found, and further ones up to so many. Those that
 * came behind the last points are still to be taken. */
static void follow_on(struct visit *v, uint32_t thread)
{
	struct visitor *r = &v->visitors[thread];
	struct coz_steps *steps = &v->steps[thread];
	if (v->runners[thread].sync > r->sync)
		return;
	steps->n -= r->step;
	if (steps->n)
		memmove(steps->v, steps->v + r->step, steps->n * sizeof *steps->v);
	r->step = 0;
	while (thread_follow(v, &v->runners[thread]) && steps->n < STEPS_AHEAD)
		;
}

/* What comes beside the paths (orders.h) is left out of this one. */
static void skip_beside(struct visit *v, struct visitor *r, uint64_t stamp)
{
	int64_t passed = not_negative(orders_passed(v, r, stamp).lo);
	if (passed == 0)
		return;
	r->saving = saving_own(v->all, r->saving);
	saving_skip(v->all, r->saving, COZ_PROVED, passed);
}

/* The point that comes behind the next one, and the node of the next one, are fetched until then: that is in any place. */
static void fetch_next(const struct visit *v, const struct graph_thread *t, size_t i)
{
	if (i + 2 < t->nsyncs && t->syncs[i + 2].what == GRAPH_POSTS)
		__builtin_prefetch(&v->g->inputs[t->syncs[i + 2].number]);
	if (i + 1 < t->nsyncs && t->syncs[i + 1].what == GRAPH_POSTS)
		__builtin_prefetch(&v->states[v->g->inputs[t->syncs[i + 1].number].node]);
}

/* All points of the next event. False when the thread has ended or sleeps. */
static bool run(struct visit *v, struct visitor *r)
{
	const struct graph_thread *t = &v->g->threads[r - v->visitors];
	if (!v->hides)
		follow_on(v, (uint32_t)(r - v->visitors));
	uint64_t at = t->syncs[r->sync].at;
	for (; r->sync < t->nsyncs && t->syncs[r->sync].at == at; r->sync++) {
		const struct graph_sync_point *s = &t->syncs[r->sync];
		fetch_next(v, t, r->sync);
		take_steps(v, r);
		if (v->orders->any)
			skip_beside(v, r, s->stamp);
		if (!do_point(v, r, s))
			return false;
		if (v->orders->any)
			orders_pass(v->orders, v->g, r, t, r->sync);
		r->inside = false;
	}
	return r->sync < t->nsyncs;
}

#define AT_ONCE 16 /* events: to find who is next costs as much as some of them */

static bool run_on(struct visit *v, struct visitor *r)
{
	bool goes_on = true;
	for (size_t i = 0; i < AT_ONCE && goes_on; i++, spill_relax(v->g->spill))
		goes_on = run(v, r);
	return goes_on;
}

/* Where everyone sleeps, those wait for nothing that comes later for whom it comes only behind that. */
static bool go_without_lates(struct visit *v)
{
	bool any = false;
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++) {
		const struct visitor *r = &v->visitors[t];
		uint32_t number = r->sleeps ? v->g->threads[t].syncs[r->sync].number : 0;
		if (!r->sleeps || v->states[number].happened || !has_all_inputs(v, number))
			continue;
		finish(v, number, visit_happen(v, &v->g->nodes[number]));
		any = true;
	}
	return any;
}

/* Where the thread is that waits at a point. */
static uint32_t site_of(const struct visit *v, uint32_t thread, const struct graph_sync_point *s)
{
	struct tr_cursor events = trace_places(v->g->trace, thread);
	struct tr_event e = { .site = TR_NO_SITE };
	events.inheritance = NULL;
	events.told = true;
	events.next = s->at;
	trace_next_bare(&events, &e);
	trace_end(&events);
	return e.site;
}

/* Of those that sleep; NULL if none does. */
static const struct graph_sync_point *earliest_wait(struct visit *v, uint32_t *thread)
{
	const struct graph_sync_point *earliest = NULL;
	int64_t when = INT64_MAX;
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++) {
		const struct visitor *r = &v->visitors[t];
		if (!r->sleeps)
			continue;
		const struct graph_sync_point *s = &v->g->threads[t].syncs[r->sync];
		int64_t lo = visit_time(v, t, s->stamp).lo;
		if (earliest && lo >= when)
			continue;
		earliest = s;
		when = lo;
		*thread = t;
	}
	return earliest;
}

/* Everyone sleeps: the node of whoever is earliest is unknown. */
static bool break_stalemate(struct visit *v)
{
	uint32_t thread;
	if (go_without_lates(v))
		return true;
	const struct graph_sync_point *s = earliest_wait(v, &thread);
	if (!s)
		return false;
	if (v->stuck++ == 0 && !v->coz->asked) {
		char *where = graph_place(v->g->trace, thread, site_of(v, thread, s));
		add_diagnostic(v,
			       mem_format("%s, stamp %" PRIu64 ": what it waits for is not in the "
					  "trace or comes only after it; it may have waited for "
					  "anything", where, s->stamp));
		free(where);
	}
	struct saving *saving = saving_own(v->all, saving_keep(v->visitors[thread].saving));
	saving_forget(v->all, saving, SAVING_ALL, visit_elapsed(v, thread, s->stamp));
	finish(v, s->number, saving);
	return true;
}

static void visit(struct visit *v)
{
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++)
		if (v->g->threads[t].nsyncs > 0)
			go_on(v, t);
	do {
		while (merge_first(&v->awake).key != MERGE_OVER) {
			uint32_t thread = merge_first(&v->awake).source;
			if (run_on(v, &v->visitors[thread]))
				go_on(v, thread);
			else
				merge_set(&v->awake, thread, MERGE_OVER);
		}
	} while (break_stalemate(v));
}

/* ---- Begin and end --------------------------------------------------------------------------- */

bool coz_is_all(struct coz_location who)
{
	return who.rank == COZ_ANY && who.pid == COZ_ANY && who.thread == COZ_ANY;
}

bool coz_is_asked(const struct trace *trace, size_t thread, struct coz_location who)
{
	const struct tr_thread *self = &trace->threads[thread];
	return (who.rank == COZ_ANY || self->rank == who.rank) &&
	       (who.pid == COZ_ANY || (int64_t)trace->processes[self->process].pid == who.pid) &&
	       (who.thread == COZ_ANY || self->number == who.thread);
}

static uint32_t questions_about(const struct coz *c, size_t thread)
{
	uint32_t about = 0;
	for (size_t q = 0; q < c->nquestions; q++)
		about |= (uint32_t)coz_is_asked(c->graph->trace, thread, c->questions[q].who) << q;
	return about;
}

/* Where it matters how much there is to be cut in all, each thread is followed to its end before the visit; else only as far as
 * that has come. */
static void open_runners(struct visit *v)
{
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++) {
		struct runner *r = &v->runners[t];
		thread_open(v, r, t);
		while ((v->hides || v->g->threads[t].nsyncs == 0) && thread_follow(v, r))
			;
		if (v->hides)
			thread_close(v, r);
	}
}

static void close_runners(struct visit *v)
{
	for (uint32_t t = 0; t < v->g->trace->nthreads && !v->hides; t++)
		thread_close(v, &v->runners[t]);
}

static void open_visitors(struct visit *v)
{
	uint32_t n = (uint32_t)v->g->trace->nthreads;
	v->runners = mem_resize(NULL, n + 1, sizeof *v->runners);
	v->visitors = mem_resize(NULL, n + 1, sizeof *v->visitors);
	v->steps = mem_resize(NULL, n + 1, sizeof *v->steps);
	for (uint32_t t = 0; t < n; t++) {
		v->visitors[t] = (struct visitor){ .saving = saving_none(v->all), .asked = questions_about(v->coz, t) };
		v->steps[t] = (struct coz_steps){ NULL, 0 };
	}
}

static void close_visitors(struct visit *v)
{
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++) {
		saving_drop(v->all, v->visitors[t].saving);
		spill_free(v->g->spill, v->steps[t].v);
	}
	free(v->runners);
	free(v->visitors);
	free(v->steps);
}

static void open_visit(struct visit *v)
{
	const struct graph *g = v->g;
	const struct trace *trace = g->trace;
	open_visitors(v);
	merge_open(&v->awake, trace->nthreads);
	v->states = spill_zeros(g->spill, g->nnodes, sizeof *v->states);
	v->held = spill_zeros(g->spill, g->ninputs, sizeof(struct saving *));
	v->held_late = spill_zeros(g->spill, g->nlates, sizeof(struct saving *));
	v->cursors = times_cursors(v->times);
	v->latest = mem_resize(NULL, trace->nclocks, sizeof *v->latest);
	v->latest_lo = mem_resize(NULL, trace->nclocks, sizeof *v->latest_lo);
	v->latest_hi = mem_resize(NULL, trace->nclocks, sizeof *v->latest_hi);
	v->came = mem_resize(NULL, trace->nclocks, sizeof *v->came);
}

static void close_visit(struct visit *v)
{
	const struct graph *g = v->g;
	for (size_t i = 0; i < g->nnodes; i++, spill_relax(g->spill))
		saving_drop(v->all, v->states[i].saving);
	for (size_t i = 0; i < g->ninputs; i++, spill_relax(g->spill))
		saving_drop(v->all, v->held[i]);
	for (size_t i = 0; i < g->nlates; i++, spill_relax(g->spill))
		saving_drop(v->all, v->held_late[i]);
	close_visitors(v);
	merge_close(&v->awake);
	spill_free(g->spill, v->states);
	spill_free(g->spill, v->held);
	spill_free(g->spill, v->held_late);
	free(v->cursors);
	free(v->slacks);
	free(v->passed);
	free(v->latest);
	free(v->latest_lo);
	free(v->latest_hi);
	free(v->came);
}

/* ---- How much there is to be cut -------------------------------------------------------------- */

static bool saves_beyond(const struct graph *g, const struct graph_node *j)
{
	return j->kind == GRAPH_SYNC && j->what == GRAPH_RETURNED && graph_beyond_ticks(&g->inputs[j->first]) > 0;
}

static bool hides_something(const struct graph *g)
{
	if (g->dynamic || g->filled != TR_NO_SITE)
		return true;
	for (size_t i = 0; i < g->nnodes; i++, spill_relax(g->spill))
		if (g->nodes[i].hidden || g->nodes[i].kind == GRAPH_UNKNOWN || orders_decide(&g->nodes[i]) || saves_beyond(g, &g->nodes[i]))
			return true;
	return false;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void say_bad_exits(const struct visit *v)
{
	if (v->bad_exits > 0)
		add_diagnostic(v,
			       mem_format("%" PRIu64 " exits do not match what was entered; what was "
					  "saved before them is not known", v->bad_exits));
}

bool coz_possible(const struct times *times)
{
	const struct trace *trace = times->trace;
	if (trace->left_out & operation_kinds(OP_OTHERS))
		return false;
	for (size_t t = 1; t < trace->nthreads; t++)
		if (times->time_base[trace->threads[t].clock] != times->time_base[trace->threads[0].clock])
			return false;
	return trace->nthreads > 0;
}

static void add_probes(struct coz *c)
{
	struct graph_probe *probes = mem_resize(NULL, c->nprobes + 1, sizeof *probes);
	for (size_t i = 0; i < c->nprobes; i++)
		probes[i] = c->probes[i].event;
	graph_add_probes(c->graph, probes, c->nprobes);
	free(probes);
}

static void follow(struct coz *c, struct graph *g, bool worst)
{
	c->graph = g;
	c->span = graph_span(g);
	transfer_open(&c->transfer, g, worst);
}

void coz_on_graph(struct coz *c, struct graph *g, bool worst)
{
	*c = (struct coz){ .nprobes = 0 };
	follow(c, g, worst);
}

void coz_open(struct coz *c, const struct trace *trace, const struct times *times, bool worst,
	      const struct coz_probe *probes, size_t nprobes)
{
	*c = (struct coz){ .probes = probes, .nprobes = nprobes };
	graph_open(&c->own, trace, times);
	follow(c, &c->own, worst);
	add_probes(c);
	c->kept = mem_zeroed(nprobes + 1, sizeof *c->kept);
}

static void forget_answers(struct coz *c)
{
	if (!c->answered)
		return;
	saving_drop(&c->all, c->end);
	for (unsigned i = 0; i < COZ_SUMS; i++)
		saving_drop(&c->all, c->sum[i]);
	for (size_t i = 0; i < c->nprobes; i++) {
		saving_drop(&c->all, c->kept[i]);
		c->kept[i] = NULL;
	}
	savings_close(&c->all);
	coz_rows_close(&c->rows);
}

/* But not beyond what is proved, against which a replay is no evidence. */
static void move_to(struct visit *v, struct saving **s, size_t scenario, double ticks)
{
	if (!*s)
		return;
	struct savings_bounds proved = saving_bounds(v->all, *s, COZ_PROVED, scenario);
	*s = saving_own(v->all, *s);
	saving_move(v->all, *s, COZ_EXPECTED, scenario, ticks, greedy_knows(v->greedy), proved);
}

/* Of one region: what is expected where orders are decided again. */
static void decide_again(struct visit *v, size_t region)
{
	struct coz *c = v->coz;
	for (size_t scenario = c->all.first[region]; scenario < c->all.first[region + 1]; scenario++) {
		double sum[COZ_SUMS] = { 0 }, end;
		const double *probes = greedy_replay(v->greedy, region, scenario, &end);
		if (!probes)
			continue;
		move_to(v, &c->end, scenario, end);
		for (size_t i = 0; i < c->nprobes; i++) {
			move_to(v, &c->kept[i], scenario, probes[i]);
			for (unsigned k = 0; k < COZ_SUMS; k++)
				sum[k] += c->probes[i].sums & 1u << k ? probes[i] : 0;
		}
		for (unsigned k = 0; k < COZ_SUMS; k++)
			move_to(v, &c->sum[k], scenario, sum[k]);
	}
}

static void decide_all(struct visit *v)
{
	size_t region = 0;
	for (size_t q = 0; q < v->coz->nquestions; q++)
		for (size_t row = 0; row < v->coz->questions[q].nrows; row++, region++)
			if (v->decides >> q & 1)
				decide_again(v, region);
}

/* For those questions for which there is not too much to be decided again. */
static void open_greedy(struct visit *v)
{
	struct coz *c = v->coz;
	for (size_t q = 0; q < c->nquestions; q++) {
		bool too_many = greedy_too_many(c->graph, c->questions[q].nrows * c->questions[q].nreductions);
		v->decides |= (uint32_t)!too_many << q;
		c->orders_kept |= too_many;
	}
	v->greedy = v->decides ? greedy_open(c->graph, &c->all) : NULL;
	v->decides = v->greedy ? v->decides : 0;
}

/* Nor of the run's end, which was at the last event of some thread. */
static struct saving *prove_no_end(struct visit *v, struct saving *end)
{
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++)
		if (v->g->threads[t].nevents > 0)
			end = prove_nothing(v, end, t, v->g->threads[t].last);
	return end;
}

static void find_answers(struct coz *c)
{
	struct visit v = { .coz = c, .g = c->graph, .times = c->graph->times, .span = &c->span,
			   .all = &c->all, .rows = &c->rows };
	struct orders orders;
	for (unsigned i = 0; i < COZ_SUMS; i++)
		c->sum[i] = saving_none(&c->all);
	open_visit(&v);
	open_greedy(&v);
	v.hides = hides_something(c->graph);
	open_runners(&v);
	orders_open(&orders, &v);
	visit(&v);
	close_runners(&v);
	if (!c->asked)
		say_bad_exits(&v);
	c->asked = true;
	struct saving *end = v.states[c->graph->end].saving;
	c->end = prove_no_end(&v, settle(&v, end ? saving_keep(end) : saving_none(&c->all)));
	if (v.greedy)
		decide_all(&v);
	greedy_close(v.greedy);
	orders_close(&orders);
	close_visit(&v);
}

static void open_savings(struct coz *c)
{
	struct savings_region *regions = NULL;
	size_t n = 0;
	for (size_t q = 0; q < c->nquestions; q++)
		for (size_t row = 0; row < c->questions[q].nrows; row++)
			*MEM_GROW(regions, n) = (struct savings_region){ c->questions[q].reductions, c->questions[q].nreductions };
	savings_open(&c->all, regions, n, COZ_ANSWERS);
	free(regions);
}

void coz_ask(struct coz *c, const struct coz_question *questions, size_t nquestions)
{
	forget_answers(c);
	c->questions = questions;
	c->nquestions = nquestions;
	c->answered = true;
	coz_rows_open(&c->rows, questions, nquestions, COZ_SITES(c->graph->trace));
	open_savings(c);
	progress_begin("carrying savings along", trace_records(c->graph->trace));
	find_answers(c);
	progress_end();
}

void coz_close(struct coz *c)
{
	forget_answers(c);
	free(c->kept);
	transfer_close(&c->transfer);
	if (c->graph == &c->own)
		graph_close(&c->own);
}

struct savings_bounds coz_saving(const struct coz *c, enum coz_answer answer, size_t region, size_t reduction)
{
	return saving_bounds(&c->all, c->end, answer, c->all.first[region] + reduction);
}

/* ---- Several events, of which the latest or the earliest counts ------------------------------ */

static struct moment moment_of(const struct coz *c, size_t probe)
{
	const struct graph_probe *event = &c->probes[probe].event;
	return (struct moment){ c->graph->trace->threads[event->thread].clock, event->stamp };
}

/* The longest way from probe i to any of them, or to it; not below 0. */
static struct slack way(const struct coz *c, const size_t *probes, size_t count, size_t i,
			bool from)
{
	struct slack slack = { 0, 0, true, false };
	for (size_t k = 0; k < count; k++) {
		struct moment self = moment_of(c, probes[i]), other = moment_of(c, probes[k]);
		if (k == i)
			continue;
		frz_time between = from ? times_between(c->graph->times, self, other)
					: times_between(c->graph->times, other, self);
		slack.lo = between.lo > slack.lo ? between.lo : slack.lo;
		slack.hi = between.hi > slack.hi ? between.hi : slack.hi;
	}
	return slack;
}

struct saving *coz_latest(struct coz *c, const size_t *probes, size_t count)
{
	saving_begin(&c->all, false);
	for (size_t i = 0; i < count; i++)
		saving_input(&c->all, SAVING_ALL, c->kept[probes[i]], way(c, probes, count, i, true));
	return saving_end(&c->all);
}

struct saving *coz_earliest(struct coz *c, const size_t *probes, size_t count)
{
	struct saving *s = NULL;
	for (size_t i = 0; i < count; i++)
		s = saving_earlier(&c->all, s, c->kept[probes[i]], way(c, probes, count, i, false));
	return s;
}

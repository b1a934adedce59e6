/* SPDX-License-Identifier: MIT
 *
 * waits.c - see waits.h. Each thread is replayed once, which says where it waited, and what it had done when it posted
 * what others waited for; then each wait is looked at. */
#include "analysis/waits/waits.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/graph/graph_last.h"

struct wait {                /* that has ended */
	uint64_t until;      /* stamp */
	uint64_t surely;     /* likewise: from then on it waited, ... */
	uint64_t between;    /* ... but for so many ticks between attempts */
	uint32_t thread, site, node;
};

struct finder {
	struct waits *waits;
	const struct graph *g;
	struct wait *list; size_t n; /* in the graph's spill */
	uint32_t *did;       /* of each input: what its thread had mostly done; likewise */
	struct graph_last last;
	struct wait_sum *causes; size_t ncauses; /* one for each wait and thread that may have caused it */
};

/* ---- What a thread has done since it last waited --------------------------------------------- */

struct doing {
	const struct trace *trace;
	struct replay replay;
	uint64_t *ticks;     /* of each site, and outside of them */
	uint32_t *used; size_t nused;
	uint64_t stamp;
	uint64_t asks, between; /* since when in vain, or 0; without any attempt under way for so many ticks of that, */
	uint64_t left;       /* up to here */
};

static void add_until(struct doing *d, uint64_t stamp)
{
	const struct replay_entry *place = replay_place(&d->replay);
	uint32_t row = place ? place->site : (uint32_t)d->trace->nsites;
	if (stamp <= d->stamp)
		return;
	if (!d->ticks[row])
		*MEM_GROW(d->used, d->nused) = row;
	d->ticks[row] += stamp - d->stamp;
	d->stamp = stamp;
}

static void forget(struct doing *d)
{
	for (size_t i = 0; i < d->nused; i++)
		d->ticks[d->used[i]] = 0;
	d->nused = 0;
}

/* Of equally long ones the first. */
static uint32_t mostly(const struct doing *d)
{
	uint32_t most = TR_OUTSIDE;
	uint64_t ticks = 0;
	for (size_t i = 0; i < d->nused; i++) {
		if (d->ticks[d->used[i]] <= ticks)
			continue;
		ticks = d->ticks[d->used[i]];
		most = d->used[i] < d->trace->nsites ? d->used[i] : TR_OUTSIDE;
	}
	return most < d->trace->nsites && tr_is(d->trace, most, OP_REGION) ? d->trace->sites[most].alike : most;
}

static void move(struct doing *d, const struct tr_event *e)
{
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE)
		replay_lose(&d->replay);
	else if (e->op == DPROF_ENTER && !e->jumped)
		replay_enter(&d->replay, tr_entry(d->trace, e));
	else if (e->op == DPROF_EXIT)
		replay_exit(&d->replay, e->site);
}

/* Attempts in vain follow each other, but for sleeps. Behind them another operation may be what ends the wait. */
static void note_attempts(struct doing *d, const struct tr_cursor *events, const struct tr_event *e)
{
	const struct operation *o = tr_operation(d->trace, e);
	struct tr_event x = *e;
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE || o->is & OP_REGION ||
	    (e->op == DPROF_EXIT && !(o->is & (OP_ATTEMPT | OP_SLEEP))))
		d->asks = d->between = 0;
	if (e->op == DPROF_EXIT && !(o->is & OP_SLEEP))
		d->left = e->stamp;
	if (e->op != DPROF_ENTER || e->site == TR_NO_SITE || o->is & OP_SLEEP)
		return;
	d->between += d->asks && e->stamp > d->left ? e->stamp - d->left : 0;
	if (!(o->is & OP_ATTEMPT))
		return;
	trace_arguments(events, &x);
	if (!arg_in_vain(o, &x))
		return;
	d->asks = d->asks ? d->asks : e->stamp;
	d->between += arg_between(o, &x);
}

/* Since when the thread surely has been waiting, in the outermost operation that it is in, or 0: the graph knows. */
static uint64_t surely_since(const struct doing *d)
{
	for (size_t i = 0; i < d->replay.depth && !d->asks; i++)
		if (d->replay.entry[i].is & OP_OTHERS)
			return d->replay.entry[i].stamp;
	return d->asks;
}

/* Notes the waits that end at an event, and what had been done before what it posts. */
static void note_points(struct finder *f, struct doing *d, uint32_t thread, size_t *sync, uint64_t at, const struct tr_event *e)
{
	const struct graph_thread *t = &f->g->threads[thread];
	for (; *sync < t->nsyncs && t->syncs[*sync].at == at; ++*sync) {
		const struct graph_sync_point *s = &t->syncs[*sync];
		if (s->what == GRAPH_POSTS)
			f->did[s->number] = mostly(d);
		if (s->what != GRAPH_WAITS)
			continue;
		forget(d);
		*SPILL_GROW(f->g->spill, f->list, f->n) =
			(struct wait){ s->stamp, surely_since(d), d->between, thread, e->site, s->number };
		if (f->g->nodes[s->number].kind != GRAPH_UNKNOWN)
			d->asks = d->between = 0;
	}
}

static void replay_thread(struct finder *f, uint32_t thread)
{
	const struct trace *trace = f->g->trace;
	struct doing d = { .trace = trace };
	struct tr_cursor events = trace_places(trace, thread);
	struct tr_event e;
	size_t sync = 0;
	uint64_t at = 0;
	d.ticks = mem_resize(NULL, trace->nsites + 1, sizeof *d.ticks);
	memset(d.ticks, 0, (trace->nsites + 1) * sizeof *d.ticks);
	replay_open(&d.replay, trace->nsites);
	d.stamp = f->g->threads[thread].first;
	while (sync < f->g->threads[thread].nsyncs && trace_next_bare(&events, &e)) {
		add_until(&d, e.stamp);
		if (!e.inherited)
			note_points(f, &d, thread, &sync, at, &e);
		move(&d, &e);
		note_attempts(&d, &events, &e);
		at += !e.inherited;
		spill_relax(f->g->spill);
	}
	trace_end(&events);
	replay_close(&d.replay);
	free(d.ticks);
	free(d.used);
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

static enum wait_kind kind_of_flow(enum flow flow)
{
	return flow == FLOW_FROM_ROOT ? WAIT_LATE_BROADCAST : flow == FLOW_TO_ROOT ? WAIT_EARLY_REDUCE : WAIT_AT_NXN;
}

/* What began with a call of its own and was waited for in another. */
static enum wait_kind kind_of_node(const struct trace *trace, const struct graph_node *node, const struct graph_input *cause)
{
	if (node->kind == GRAPH_SYNC)
		return WAIT_AT_NXN;
	if (node->kind == GRAPH_WOKEN)
		return WAIT_CONDITION;
	switch (node->what) {
	case GRAPH_RECEIVED:
	case GRAPH_WAITED_FOR: return cause->receiver ? WAIT_LATE_RECEIVER : WAIT_LATE_SENDER;
	case GRAPH_JOINED:
	case GRAPH_PROCESS_OVER: return WAIT_JOIN;
	case GRAPH_TASK_BEGAN:
	case GRAPH_TASKS_OVER: return WAIT_TASK_STARVATION;
	case GRAPH_BYTES:
	case GRAPH_BYTES_ENDED: return WAIT_LATE_SENDER;
	case GRAPH_BYTES_GIVEN: return WAIT_LATE_RECEIVER;
	case GRAPH_LOCKED:
	case GRAPH_POSTED:
	case GRAPH_WOKEN_UP: return WAIT_CONDITION;
	default: return kind_of_flow(trace->sites[node->what - GRAPH_COLLECTIVE].op.begun);
	}
}

static enum wait_kind kind_of(const struct trace *trace, const struct wait *w, const struct graph_node *node,
			      const struct graph_input *cause)
{
	const struct operation *op = &trace->sites[w->site].op;
	switch (op->kind) {
	case DPROF_KIND_BARRIER: return WAIT_AT_BARRIER;
	case DPROF_KIND_COLL: return kind_of_flow(op->flow);
	case DPROF_KIND_SEND: return WAIT_LATE_RECEIVER;
	case DPROF_KIND_RECV: return WAIT_LATE_SENDER;
	case DPROF_KIND_LOCK: return WAIT_LOCK;
	case DPROF_KIND_JOIN: return op->is & OP_TEAM_LEFT ? WAIT_IMBALANCE : WAIT_JOIN;
	case DPROF_KIND_FORK: return WAIT_TASK_STARVATION;
	default:
		if (op->is & OP_FUTEX && node->kind == GRAPH_SYNC)
			return WAIT_AT_BARRIER; /* of the C++ library's, or the program's own */
		return kind_of_node(trace, node, cause);
	}
}

static const struct { const char *key, *words; } kinds[WAIT_KINDS] = {
	[WAIT_LATE_SENDER] = { "late_sender", "late sender" },
	[WAIT_LATE_RECEIVER] = { "late_receiver", "late receiver" },
	[WAIT_AT_BARRIER] = { "wait_at_barrier", "barrier" },
	[WAIT_AT_NXN] = { "wait_at_nxn", "all to all" },
	[WAIT_LATE_BROADCAST] = { "late_broadcast", "late broadcast" },
	[WAIT_EARLY_REDUCE] = { "early_reduce", "early reduce" },
	[WAIT_LOCK] = { "lock", "lock" },
	[WAIT_JOIN] = { "join", "join" },
	[WAIT_CONDITION] = { "condition", "condition" },
	[WAIT_TASK_STARVATION] = { "task_starvation", "no task" },
	[WAIT_IMBALANCE] = { "imbalance", "end of team" },
};

const char *wait_kind_key(enum wait_kind kind)
{
	return kinds[kind].key;
}

const char *wait_kind_words(enum wait_kind kind)
{
	return kinds[kind].words;
}

/* ---- One wait -------------------------------------------------------------------------------- */

/* The thread's own input: it began to wait there. NULL: it did not, as a thread that begins. */
static const struct graph_input *own_input(const struct graph *g, const struct wait *w)
{
	const struct graph_node *node = &g->nodes[w->node];
	for (size_t i = 0; i < node->ninputs; i++) {
		const struct graph_input *input = &g->inputs[node->first + i];
		if (input->thread == w->thread)
			return input;
		if (node->kind != GRAPH_SYNC)
			return NULL;
	}
	return NULL;
}

static frz_time not_negative(frz_time t)
{
	return (frz_time){ t.lo > 0 ? t.lo : 0, t.hi > 0 ? t.hi : 0 };
}

/* Before what is recorded as waiting it may have worked, and so between attempts. */
static frz_time from_own(struct finder *f, const struct wait *w, const struct graph_input *own, const struct graph_input *other)
{
	frz_time t = times_between_near(f->g->times, f->last.cursors, graph_moment(f->g, own), graph_moment(f->g, other));
	uint64_t unsure = w->between + (w->surely > own->stamp ? w->surely - own->stamp : 0);
	if (unsure)
		t.lo = ticks_minus(t.lo, times_duration(f->g->times, f->g->trace->threads[w->thread].clock, unsure).hi);
	return not_negative(t);
}

static void add_cause(struct finder *f, const struct wait *w, const struct graph_input *cause, frz_time ticks, bool sure)
{
	const struct graph_node *node = &f->g->nodes[w->node];
	*MEM_GROW(f->causes, f->ncauses) =
		(struct wait_sum){ kind_of(f->g->trace, w, node, cause), w->thread, w->site, cause->thread,
				   f->did[cause - f->g->inputs], { sure ? ticks.lo : 0, ticks.hi }, 1, sure };
}

static void add_place(struct finder *f, const struct wait *w, const struct graph_input *cause, frz_time ticks)
{
	struct wait_sum sum = { kind_of(f->g->trace, w, &f->g->nodes[w->node], cause), w->thread, w->site, UINT32_MAX, TR_NO_SITE,
				ticks, 1, true };
	*MEM_GROW(f->waits->places, f->waits->nplaces) = sum;
}

/* From its begin until the last of the others had come: that is one of those that may have been the last. */
static void look_at(struct finder *f, const struct wait *w)
{
	const struct graph *g = f->g;
	const struct graph_node *node = &g->nodes[w->node];
	const struct graph_input *own = own_input(g, w), *any = NULL;
	if (w->site >= g->trace->nsites || node->kind == GRAPH_UNKNOWN) {
		f->waits->unknown++;
		return;
	}
	if (!own)
		return;
	graph_last_find(&f->last, w->node);
	frz_time whole = times_of_thread(g->times, w->thread, own->stamp, w->until > own->stamp ? w->until : own->stamp);
	frz_time all = { 0, 0 };
	bool alone = true; /* own coming was not the last, and one other was */
	for (size_t i = 0; i < f->last.n; i++) {
		const struct graph_input *input = &g->inputs[f->last.input[i]];
		frz_time until = from_own(f, w, own, input);
		alone &= input != own && (!any || any == input);
		if (input == own)
			continue;
		any = input;
		if (graph_was_waited_for(node, f->last.input[i] - node->first, input))
			all.lo = until.lo > all.lo ? until.lo : all.lo;
		all.hi = until.hi > all.hi ? until.hi : all.hi;
	}
	all.hi = all.hi < whole.hi ? all.hi : whole.hi;
	if (!any || all.hi == 0)
		return;
	add_place(f, w, any, all);
	for (size_t i = 0; i < f->last.n; i++) {
		const struct graph_input *input = &g->inputs[f->last.input[i]];
		frz_time until = from_own(f, w, own, input);
		until.hi = until.hi < whole.hi ? until.hi : whole.hi;
		if (input != own && until.hi > 0)
			add_cause(f, w, input, alone ? all : until, alone);
	}
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int by_what(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;
	const uint32_t p[] = { x->thread, x->site, x->for_thread, x->did, (uint32_t)x->kind };
	const uint32_t q[] = { y->thread, y->site, y->for_thread, y->did, (uint32_t)y->kind };
	for (size_t i = 0; i < sizeof p / sizeof *p; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;
	int64_t p = x->ticks.lo / 2 + x->ticks.hi / 2, q = y->ticks.lo / 2 + y->ticks.hi / 2;
	return p != q ? (p < q) - (p > q) : by_what(a, b);
}

/* Adds up those that are the same but for their times. */
static size_t sum_up(struct wait_sum *sums, size_t n)
{
	size_t kept = 0;
	if (n)
		qsort(sums, n, sizeof *sums, by_what);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || by_what(&sums[kept - 1], &sums[i]) != 0) {
			sums[kept++] = sums[i];
			continue;
		}
		struct wait_sum *sum = &sums[kept - 1];
		sum->ticks = time_add(sum->ticks, sums[i].ticks);
		sum->count += sums[i].count;
		sum->sure &= sums[i].sure;
	}
	return kept;
}

#define MANY 65536 /* waits that are not added up yet */

static void sum_up_all(struct finder *f)
{
	f->ncauses = sum_up(f->causes, f->ncauses);
	f->waits->nplaces = sum_up(f->waits->places, f->waits->nplaces);
}

static void look_at_all(struct finder *f)
{
	size_t most = MANY;
	for (size_t i = 0; i < f->n; i++, spill_relax(f->g->spill)) {
		look_at(f, &f->list[i]);
		progress_add(1);
		if (f->ncauses < most)
			continue;
		sum_up_all(f);
		most = f->ncauses + (f->ncauses > MANY ? f->ncauses : MANY);
	}
	sum_up_all(f);
}

void waits_of_graph(struct waits *waits, const struct graph *g)
{
	struct finder f = { .waits = waits, .g = g };
	*waits = (struct waits){ .span = graph_span(g) };
	f.did = spill_zeros(g->spill, g->ninputs, sizeof *f.did);
	progress_begin("finding waits", trace_records(g->trace));
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		replay_thread(&f, t);
	progress_end();
	graph_last_open(&f.last, g);
	progress_begin("finding what ended waits", f.n);
	look_at_all(&f);
	progress_end();
	graph_last_close(&f.last);
	spill_free(g->spill, f.did);
	spill_free(g->spill, f.list);
	waits->causes = f.causes;
	waits->ncauses = f.ncauses;
	if (waits->ncauses)
		qsort(waits->causes, waits->ncauses, sizeof *waits->causes, by_length);
	if (waits->nplaces)
		qsort(waits->places, waits->nplaces, sizeof *waits->places, by_length);
}

void waits_open(struct waits *waits, const struct trace *trace, const struct times *times)
{
	struct graph g;
	graph_open(&g, trace, times);
	waits_of_graph(waits, &g);
	waits->diagnostics = graph_take_diagnostics(&g, &waits->ndiagnostics);
	graph_close(&g);
}

void waits_close(struct waits *waits)
{
	for (size_t i = 0; i < waits->ndiagnostics; i++)
		free(waits->diagnostics[i]);
	free(waits->diagnostics);
	free(waits->causes);
	free(waits->places);
}

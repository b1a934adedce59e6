/* SPDX-License-Identifier: MIT
 *
 * graph_causes.c - see graph_causes.h. Where all nodes are known, and all begins, no event is read. */
#include "analysis/graph/graph_causes.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_activities.h"

/* ---- All waits side by side ------------------------------------------------------------------ */

enum turn_kind {
	AWAY,                /* surely the thread is not there, ... */
	WAITS,               /* ... or waits */
	MAY_BE_STILL,        /* perhaps it does, or is not */
	MAY_LACK,            /* perhaps it is in a wait whose cause is missing */
	TURN_KINDS
};

struct turn {                /* at this time that begins, or is over, ... */
	int64_t at, most;    /* ... at the latest at that */
	uint32_t thread, site; /* the operation */
	enum turn_kind kind;
	int step;
};

struct looker {
	struct causes *causes;
	const struct graph *g;
	struct frz_cursor *cursors;  /* of each clock */
	struct graph_last last;
	uint8_t *lack;               /* of each node: enum causes_lack and 1, or 0; in the spill, and so are: */
	struct turn *turns; size_t nturns;
	size_t *rows;                /* of each lack and site, 1 more than where it is among the rows */

	/* of the thread that is looked at */
	uint32_t thread, clock;
	struct stretches part;       /* of the operation that it is in */
	struct { int64_t from, to; } may; /* it may be still then */
};

static void add_turns(struct looker *l, enum turn_kind kind, int64_t from, int64_t to, int64_t most, uint32_t site)
{
	if (from >= to)
		return;
	*SPILL_GROW(l->g->spill, l->turns, l->nturns) = (struct turn){ from, from, l->thread, site, kind, 1 };
	*SPILL_GROW(l->g->spill, l->turns, l->nturns) = (struct turn){ to, most, l->thread, site, kind, -1 };
}

static void add_turn(struct looker *l, enum turn_kind kind, int64_t from, int64_t to)
{
	add_turns(l, kind, from, to, to, TR_NO_SITE);
}

/* Stretches that overlap are one. They come in the order of their begins, but for what clocks leave open. */
static void may_be_still(struct looker *l, int64_t from, int64_t to)
{
	if (from >= to)
		return;
	if (from > l->may.to) {
		add_turn(l, MAY_BE_STILL, l->may.from, l->may.to);
		l->may.from = from;
		l->may.to = to;
	}
	l->may.from = from < l->may.from ? from : l->may.from;
	l->may.to = to > l->may.to ? to : l->may.to;
}

static frz_time when(struct looker *l, uint64_t stamp)
{
	return frz_time_of(&l->cursors[l->clock], stamp);
}

/* An operation, or a part of one, is over, and its last piece: what came last of it was no waiting. */
static void add_wait(struct looker *l, const struct graph_operation *o, uint64_t until, bool lacks)
{
	struct stretches *p = &l->part;
	frz_time from = when(l, p->from), to = when(l, until);
	frz_time transfer = lacks ? (frz_time){ 0, 0 } : o->transfer;
	bool sleeps = tr_is(l->g->trace, o->site, OP_SLEEP); /* perhaps for nobody */
	bool whole = p->pieces == 1 && !sleeps; /* else it also worked in there: when is not kept */
	if (p->pieces == 0)
		return;
	may_be_still(l, from.lo, ticks_minus(to.hi, transfer.lo));
	if (whole)
		add_turns(l, WAITS, from.hi, ticks_minus(to.lo, transfer.hi), to.hi, o->site);
	if (lacks)
		add_turn(l, MAY_LACK, from.lo, to.hi);
}

static void add_step(struct looker *l, const struct graph_activities *a)
{
	frz_time from = when(l, a->step.from), to = when(l, a->step.to);
	struct stretches *p = &l->part;
	if (a->step.did == GRAPH_OPERATED) {
		p->from = p->pieces ? p->from : a->step.from;
		p->pieces += p->pieces == 0 || p->to != a->step.from;
		p->to = a->step.to;
	} else if (a->step.did == GRAPH_IDLED || a->step.did == GRAPH_DID_UNKNOWN) {
		may_be_still(l, from.lo, to.hi);
	}
	if (a->step.did == GRAPH_DID_UNKNOWN) {
		add_turn(l, MAY_LACK, from.lo, to.hi);
		p->pieces = 0;
	}
}

/* Attempts in vain, and one that found a message, are waiting, perhaps, which goes on. What a time ended is none. */
static void end_operation(struct looker *l, const struct graph_activities *a)
{
	const struct graph_operation *o = &a->step.operation;
	uint32_t node = o->node;
	bool found = node != GRAPH_NO_NODE && graph_only_found(&l->g->nodes[node]);
	if (node != GRAPH_NO_NODE && (l->g->nodes[node].kind != GRAPH_UNKNOWN || l->lack[node]))
		add_wait(l, o, a->step.to, l->lack[node]);
	else if ((found || node == GRAPH_NO_NODE) && !o->known && l->part.pieces)
		may_be_still(l, when(l, l->part.from).lo, when(l, a->step.to).hi);
	l->part.pieces = 0;
}

static int by_time(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;
	return ORDER_2(a, b, at, step);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static frz_time since_begin(const struct looker *l, frz_time t)
{
	frz_time e = time_apart(l->causes->span.first, t);
	return (frz_time){ e.lo > 0 ? e.lo : 0, e.hi > 0 ? e.hi : 0 };
}

static void add_row(struct looker *l, struct causes_row row)
{
	size_t nsites = l->g->trace->nsites + 1, site = row.site < nsites ? row.site : nsites - 1;
	size_t *at = &l->rows[row.lack * nsites + site];
	if (!*at) {
		*MEM_GROW(l->causes->rows, l->causes->n) = row;
		*at = l->causes->n;
		return;
	}
	struct causes_row *sum = &l->causes->rows[*at - 1];
	if (row.first.lo < sum->first.lo) {
		sum->first = row.first;
		sum->thread = row.thread;
	}
	sum->count += row.count;
	sum->ticks = time_add(sum->ticks, row.ticks);
}

static void add_lack(struct looker *l, enum causes_lack lack, uint32_t site, uint64_t stamp, frz_time ticks)
{
	l->causes->missing++;
	add_row(l, (struct causes_row){ lack, site, 1, l->thread, since_begin(l, when(l, stamp)), ticks });
}

/* ---- Standstills ----------------------------------------------------------------------------- */

/* All surely wait, or are not there; all may, and the cause of what one is in may be missing. */
struct stillness { bool sure, perhaps; };

static struct stillness stillness_of(const int64_t *count, int64_t nthreads)
{
	struct stillness s = { count[AWAY] + count[WAITS] == nthreads && count[WAITS] > 0, false };
	s.perhaps = s.sure || (count[MAY_BE_STILL] == nthreads && count[MAY_LACK] > 0);
	return s;
}

/* What is surely still: stretches between which all may have waited as well are one. */
struct standstill { int64_t begun, ticks; const struct turn *end; };

static void end_standstill(struct looker *l, struct standstill *s)
{
	if (s->end)
		add_row(l, (struct causes_row){ CAUSES_STANDSTILL, s->end->site, 1, s->end->thread,
						since_begin(l, (frz_time){ s->end->at, s->end->most }), { s->ticks, s->ticks } });
	*s = (struct standstill){ 0 };
}

/* All that turns at one moment; what is over then, if something is. */
static const struct turn *pass_moment(const struct looker *l, size_t *i, int64_t *count)
{
	const struct turn *over = &l->turns[*i];
	for (int64_t at = over->at; *i < l->nturns && l->turns[*i].at == at; ++*i) {
		const struct turn *t = &l->turns[*i];
		count[t->kind] += t->step;
		over = t->kind <= WAITS && t->step < 0 ? t : over;
	}
	return over;
}

static void sweep(struct looker *l, int64_t nthreads)
{
	int64_t count[TURN_KINDS] = { 0 };
	struct stillness now = { false, false };
	struct standstill whole = { 0 };
	frz_time *sum = &l->causes->standstill;
	for (size_t i = 0; i < l->nturns; spill_relax(l->g->spill)) {
		const struct turn *over = pass_moment(l, &i, count);
		struct stillness then = stillness_of(count, nthreads);
		if (now.sure && !then.sure) {
			whole.end = over;
			whole.ticks = ticks_plus(whole.ticks, ticks_minus(over->at, whole.begun));
			*SPILL_GROW(l->g->spill, l->causes->still, l->causes->nstill) =
				(struct causes_still){ whole.begun, over->at };
		}
		if (then.sure && !now.sure)
			whole.begun = over->at;
		if (!then.perhaps)
			end_standstill(l, &whole);
		now = then;
		int64_t next = i < l->nturns ? ticks_minus(l->turns[i].at, over->at) : 0;
		sum->lo = now.sure ? ticks_plus(sum->lo, next) : sum->lo;
		sum->hi = now.perhaps ? ticks_plus(sum->hi, next) : sum->hi;
	}
}

/* Of each place alone no more is known than of all together. */
static void find_standstills(struct looker *l, int64_t nthreads)
{
	struct causes *c = l->causes;
	runs_sort(l->g->spill, l->turns, l->nturns, sizeof *l->turns, by_time);
	sweep(l, nthreads);
	for (size_t i = 0; i < c->n; i++)
		if (c->rows[i].lack == CAUSES_STANDSTILL)
			c->rows[i].ticks.hi = c->standstill.hi;
}

/* ---- One thread ------------------------------------------------------------------------------ */

/* The node after which a thread begins, or GRAPH_NO_NODE. */
static uint32_t begin_of(const struct graph_thread *t)
{
	for (size_t i = 0; i < t->nsyncs && t->syncs[i].at == 0; i++)
		if (t->syncs[i].what == GRAPH_WAITS)
			return t->syncs[i].number;
	return GRAPH_NO_NODE;
}

/* Of whom nothing else is there that came before need not have been begun by it. */
static bool begin_lacks(const struct graph *g, uint32_t thread)
{
	uint32_t node = begin_of(&g->threads[thread]);
	return node != GRAPH_NO_NODE ? g->nodes[node].loose
				     : trace_begins_process(g->trace, thread) &&
				       g->trace->processes[g->trace->threads[thread].process].forked;
}

static void look_at_begin(struct looker *l)
{
	const struct graph_thread *t = &l->g->threads[l->thread];
	l->causes->begins += begin_of(t) != GRAPH_NO_NODE || begin_lacks(l->g, l->thread);
	if (begin_lacks(l->g, l->thread))
		add_lack(l, CAUSES_BEGIN, TR_BEFORE, t->first, (frz_time){ 0, 0 });
}

static void look_at_points(struct looker *l, const struct graph_activities *a)
{
	for (size_t i = 0; i < a->step.npoints; i++) {
		const struct graph_sync_point *s = &a->step.points[i];
		if (s->what != GRAPH_WAITS || !l->lack[s->number])
			continue;
		bool all = a->step.ended && a->step.operation.node == s->number;
		frz_time since = times_of_thread(l->g->times, l->thread, l->g->threads[l->thread].first, s->stamp);
		add_lack(l, (enum causes_lack)(l->lack[s->number] - 1), all ? a->step.operation.site : a->step.event.site, s->stamp,
			 all ? a->step.operation.took : (frz_time){ 0, since.hi });
	}
}

/* Before that it surely is not there: it was made by another one, or may always have been there. */
static frz_time made_when(struct looker *l, uint32_t thread)
{
	uint32_t node = begin_of(&l->g->threads[thread]);
	if (node == GRAPH_NO_NODE || l->lack[node] || begin_lacks(l->g, thread))
		return (frz_time){ INT64_MIN, INT64_MIN };
	const struct graph_input *maker = &l->g->inputs[l->g->nodes[node].first];
	return frz_time_of(&l->cursors[l->g->trace->threads[maker->thread].clock], maker->stamp);
}

/* From then on it does nothing more: behind its last event, if it waits there, or else at its end. */
static uint64_t over_at(const struct graph_activities *a)
{
	const struct graph_thread *t = &a->graph->threads[a->thread];
	uint64_t ended = a->graph->trace->threads[a->thread].ended;
	bool waits = a->idle || (a->operations > 0 && a->regions == 0 && tr_is(a->graph->trace, a->outermost, OP_WAITS));
	return ended > t->last && !waits ? ended : t->last;
}

static void look_at_thread(struct looker *l, uint32_t thread)
{
	const struct graph_thread *t = &l->g->threads[thread];
	struct graph_activities a;
	l->thread = thread;
	l->clock = l->g->trace->threads[thread].clock;
	l->part.pieces = 0;
	frz_time made = made_when(l, thread);
	l->may.from = INT64_MIN;
	l->may.to = made.hi;
	add_turns(l, AWAY, INT64_MIN, made.lo, made.hi, TR_BEFORE);
	graph_activities_open(&a, l->g, thread, &l->last);
	while (graph_activities_next(&a)) {
		add_step(l, &a);
		look_at_points(l, &a);
		if (a.step.ended)
			end_operation(l, &a);
		spill_relax(l->g->spill);
	}
	uint64_t over = over_at(&a);
	graph_activities_close(&a);
	may_be_still(l, when(l, t->last).lo, INT64_MAX);
	add_turn(l, MAY_BE_STILL, l->may.from, l->may.to);
	add_turn(l, AWAY, ticks_plus(when(l, over).hi, times_beyond(l->g->times, thread)), INT64_MAX);
}

static void look_at_threads(struct looker *l)
{
	const struct graph *g = l->g;
	int64_t present = 0;
	graph_last_open(&l->last, g);
	progress_begin("looking at causes", trace_records(g->trace));
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		if (g->threads[t].nevents > 0)
			look_at_thread(l, t);
		present += g->threads[t].nevents > 0;
	}
	progress_end();
	find_standstills(l, present);
	graph_last_close(&l->last);
	spill_free(g->spill, l->turns);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Of each node what it lacks; whether any that is waited for does. */
static bool find_lacks(struct looker *l, const struct graph_order *order)
{
	const struct graph *g = l->g;
	size_t *next = mem_zeroed(g->trace->nthreads + 1, sizeof *next);
	bool any = false;
	for (size_t i = 0; i < order->nsteps; i++, spill_relax(g->spill)) {
		struct graph_step step = order->steps[i];
		const struct graph_sync_point *s = &g->threads[step.thread].syncs[next[step.thread]++];
		if (s->what != GRAPH_WAITS)
			continue;
		const struct graph_node *node = &g->nodes[s->number];
		if (graph_lacks_cause(node))
			l->lack[s->number] = CAUSES_WAIT + 1;
		else if (step.broken || node->behind)
			l->lack[s->number] = CAUSES_CIRCLE + 1;
		l->causes->waits += s->at > 0;
		any |= l->lack[s->number] != 0;
	}
	free(next);
	return any;
}

static int by_lack(const void *x, const void *y)
{
	const struct causes_row *a = x, *b = y;
	if (a->lack != b->lack)
		return a->lack < b->lack ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return ORDER(a->site, b->site);
}

void causes_open(struct causes *causes, const struct graph *g, const struct graph_order *order)
{
	size_t nrows = CAUSES_LACKS * (g->trace->nsites + 1);
	struct looker l = { .causes = causes, .g = g, .cursors = times_cursors(g->times) };
	*causes = (struct causes){ .span = graph_span(g) };
	l.lack = spill_zeros(g->spill, g->nnodes, sizeof *l.lack);
	l.rows = mem_zeroed(nrows, sizeof *l.rows);
	for (l.thread = 0; l.thread < g->trace->nthreads; l.thread++) {
		l.clock = g->trace->threads[l.thread].clock;
		if (g->threads[l.thread].nevents > 0)
			look_at_begin(&l);
	}
	if (find_lacks(&l, order))
		look_at_threads(&l);
	if (causes->n)
		qsort(causes->rows, causes->n, sizeof *causes->rows, by_lack);
	free(l.rows);
	free(l.cursors);
	spill_free(g->spill, l.lack);
}

void causes_close(struct causes *causes)
{
	free(causes->rows);
}

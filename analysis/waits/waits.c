/* SPDX-License-Identifier: MIT
 *
 * waits.c - see waits.h. Each thread is replayed once (waits_replay.c), which says where it waited, and what it had done when it
 * posted what others waited for; then each wait is looked at. */
#include "analysis/base/order.h"
#include "analysis/waits/waits_private.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"

/* ---- Kinds ----------------------------------------------------------------------------------- */

static enum wait_kind kind_of_flow(enum flow flow)
{
	return flow == FLOW_FROM_ROOT ? WAIT_LATE_BROADCAST : flow == FLOW_TO_ROOT ? WAIT_EARLY_REDUCE : WAIT_AT_NXN;
}

/* What began with a call of its own and was waited for in another; `begun` by the other side. */
static enum wait_kind kind_of_message(const struct operation *begun, const struct graph_input *cause)
{
	if (cause->receiver)
		return WAIT_LATE_RECEIVER;
	if (!begun || begun->kind != DPROF_KIND_COLL || begun->begun == FLOW_NOWHERE) /* a sender's calls are progress, a receiver's not */
		return cause->candidate && !cause->progress ? WAIT_LATE_RECEIVER : WAIT_LATE_SENDER;
	return begun->is & OP_ARRIVAL ? WAIT_AT_BARRIER : kind_of_flow(begun->begun);
}

static enum wait_kind kind_of_node(const struct trace *trace, const struct graph_node *node, const struct operation *begun,
				   const struct graph_input *cause)
{
	if (node->kind == GRAPH_SYNC)
		return WAIT_AT_NXN;
	if (node->kind == GRAPH_WOKEN)
		return WAIT_CONDITION;
	switch (node->what) {
	case GRAPH_RECEIVED:
	case GRAPH_WAITED_FOR: return kind_of_message(begun, cause);
	case GRAPH_JOINED:
	case GRAPH_PROCESS_OVER: return WAIT_JOIN;
	case GRAPH_TASK_BEGAN:
	case GRAPH_TASKS_OVER: return WAIT_TASK_STARVATION;
	case GRAPH_BYTES:
	case GRAPH_BYTES_ENDED: return WAIT_LATE_SENDER;
	case GRAPH_BYTES_GIVEN: return WAIT_LATE_RECEIVER;
	case GRAPH_SEEN:
	case GRAPH_LOCKED:
	case GRAPH_POSTED:
	case GRAPH_WOKEN_UP: return WAIT_CONDITION;
	default: return kind_of_flow(trace->sites[node->what - GRAPH_COLLECTIVE].op.begun);
	}
}

static enum wait_kind kind_of(const struct finder *f, const struct wait *w, const struct graph_node *node,
			      const struct graph_input *cause)
{
	const struct trace *trace = f->g->trace;
	const struct posted *posted = &f->posted[wait_sent(cause) - f->g->inputs];
	uint32_t begun = posted->point ? posted->site : TR_NO_SITE;
	const struct operation *op = &trace->sites[w->site].op;
	switch (op->kind) {
	case DPROF_KIND_BARRIER: return WAIT_AT_BARRIER;
	case DPROF_KIND_COLL: return kind_of_flow(op->flow);
	case DPROF_KIND_SEND: return WAIT_LATE_RECEIVER;
	case DPROF_KIND_RECV: return WAIT_LATE_SENDER;
	case DPROF_KIND_LOCK: return WAIT_LOCK;
	case DPROF_KIND_JOIN: return !(op->is & OP_TEAM_LEFT) ? WAIT_JOIN : w->left ? WAIT_TASK_STARVATION : WAIT_IMBALANCE;
	case DPROF_KIND_FORK: return WAIT_TASK_STARVATION;
	default:
		if (op->is & OP_FUTEX && node->kind == GRAPH_SYNC)
			return WAIT_AT_BARRIER; /* of the C++ library's, or the program's own */
		if (operation_is_for_good(op))
			return WAIT_CONDITION;
		return kind_of_node(trace, node, begun < trace->nsites ? &trace->sites[begun].op : NULL, cause);
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

frz_time wait_before(const struct finder *f, const struct wait *w)
{
	const struct graph_input *own = wait_own(f, w);
	if (!w->pieces || !own)
		return (frz_time){ 0, 0 };
	uint64_t from = w->surely < own->stamp ? w->surely : own->stamp;
	return times_sum(f->g->times, w->thread, (struct stretches){ w->before, w->pieces, from, own->stamp });
}

/* What ended it came so much behind the end of the last region inside of it, or before that. */
static frz_time with_before(const struct finder *f, const struct wait *w, frz_time since)
{
	frz_time before = wait_before(f, w);
	int64_t within = times_duration(f->g->times, f->g->trace->threads[w->thread].clock, w->last).lo;
	if (since.lo < 0)
		since.lo = ticks_plus(since.lo, within) < 0 ? ticks_plus(since.lo, within) : 0;
	return (frz_time){ ticks_plus(before.lo, since.lo), ticks_plus(before.hi, since.hi > 0 ? since.hi : 0) };
}

/* Before what is recorded as waiting it may have worked, and so between attempts. */
static frz_time from_own(struct finder *f, const struct wait *w, const struct graph_input *own, const struct graph_input *other)
{
	frz_time t = graph_last_until(&f->last, graph_moment(f->g, own), other);
	t = w->pieces ? with_before(f, w, t) : t;
	uint64_t unsure = w->between + (w->surely > own->stamp ? w->surely - own->stamp : 0);
	if (unsure)
		t.lo = ticks_minus(t.lo, times_duration(f->g->times, f->g->trace->threads[w->thread].clock, unsure).hi);
	return time_positive(t);
}

static int by_what(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;
	int order = ORDER(x->thread, y->thread);
	order = order ? order : ORDER(x->site, y->site);
	order = order ? order : ORDER(x->for_thread, y->for_thread);
	order = order ? order : ORDER(x->did, y->did);
	return order ? order : ORDER(x->kind, y->kind);
}

#define MOST_BUSY 64 /* that are looked at */

struct waits_done { uint32_t did; int64_t ticks; };

static void add_done(struct waits_done *done, size_t *n, uint32_t did, int64_t ticks)
{
	size_t i = 0;
	while (i < *n && done[i].did != did)
		i++;
	if (i == *n)
		done[(*n)++] = (struct waits_done){ did, 0 };
	done[i].ticks = ticks_plus(done[i].ticks, ticks);
}

/* What the thread that posted an input had mostly done then, of what it did while another one waited for that. */
static uint32_t did_meanwhile(struct finder *f, const struct wait *w, const struct graph_input *cause)
{
	const struct posted *p = &f->posted[cause - f->g->inputs];
	const struct graph_input *own = wait_own(f, w);
	struct waits_done done[MOST_BUSY + 1], *most = done;
	uint32_t clock = f->g->trace->threads[cause->thread].clock;
	size_t n = 0;
	if (!p->before || !own)
		return p->did;
	uint64_t end = f->busy[p->before - 1].to;
	add_done(done, &n, p->did, times_duration(f->g->times, clock, cause->stamp > end ? cause->stamp - end : 0).hi);
	for (uint32_t at = p->before, i = 0; at && i < MOST_BUSY; at = f->busy[at - 1].before, i++) {
		const struct busy *b = &f->busy[at - 1];
		int64_t within = times_between_near(f->g->times, f->last.cursors, graph_moment(f->g, own),
						    (struct moment){ clock, b->to }).hi;
		int64_t whole = times_duration(f->g->times, clock, b->to - b->from).hi;
		if (within <= 0)
			break;
		add_done(done, &n, b->did, within < whole ? within : whole);
	}
	for (size_t i = 1; i < n; i++) /* of equally long ones the last that was done */
		most = done[i].ticks > most->ticks ? &done[i] : most;
	return most->did;
}

/* Whether for most of a wait the thread that caused it was in a wait itself, its last one before that. */
static bool was_idle(struct finder *f, const struct wait *w, const struct graph_input *cause)
{
	uint32_t idle = f->posted[cause - f->g->inputs].idle;
	const struct wait *its = idle ? &f->list[idle - 1] : NULL;
	const struct graph_input *own = wait_own(f, w), *begun = its ? wait_own(f, its) : NULL;
	if (!own || !begun || its->site >= f->g->trace->nsites || its->until <= begun->stamp)
		return false;
	struct moment since = graph_moment(f->g, own), over = { f->g->trace->threads[cause->thread].clock, its->until };
	int64_t within = times_between_near(f->g->times, f->last.cursors, since, over).lo;
	int64_t whole = times_of_thread(f->g->times, cause->thread, begun->stamp, its->until).lo;
	int64_t all = times_between_near(f->g->times, f->last.cursors, since, graph_moment(f->g, cause)).hi;
	return (within < whole ? within : whole) > all / 2;
}

/* Who waits for a lock waits for what is done while that is held. */
static uint32_t did_then(struct finder *f, const struct wait *w, enum wait_kind kind, const struct graph_input *cause)
{
	uint32_t holding = f->posted[cause - f->g->inputs].holding;
	if (kind == WAIT_LOCK && holding != HOLDS_NOTHING)
		return holding;
	return was_idle(f, w, cause) ? f->list[f->posted[cause - f->g->inputs].idle - 1].site : did_meanwhile(f, w, cause);
}

/* Of one that may have caused it by several things in a row, such as a signal and a release, it is one cause. */
static void add_cause(struct finder *f, const struct wait *w, enum wait_kind kind, const struct graph_input *cause, int64_t most,
		      size_t first)
{
	const struct wait_sum sum = { kind, w->thread, w->site, cause->thread,
				      did_then(f, w, kind, cause), { 0, most }, 1, false };
	struct wait_sum *before = f->ncauses > first ? &f->causes[f->ncauses - 1] : NULL;
	if (before && by_what(before, &sum) == 0)
		before->ticks.hi = before->ticks.hi > most ? before->ticks.hi : most;
	else
		*MEM_GROW(f->causes, f->ncauses) = sum;
}

static void add_place(struct finder *f, const struct wait *w, enum wait_kind kind, frz_time ticks)
{
	struct wait_sum sum = { kind, w->thread, w->site, UINT32_MAX, TR_NO_SITE, ticks, 1, true };
	*MEM_GROW(f->waits->places, f->waits->nplaces) = sum;
}

/* All of it, with what comes behind it. */
static frz_time whole_of(const struct finder *f, const struct wait *w, const struct graph_input *own)
{
	frz_time since = times_of_thread(f->g->times, w->thread, own->stamp, w->until > own->stamp ? w->until : own->stamp);
	return time_add(since, wait_before(f, w));
}

void wait_find_last(struct finder *f, const struct wait *w)
{
	graph_last_find(&f->last, w->node);
	if (w->own && w->pieces && f->last.n == 1 && f->last.input[0] + 1 == w->own)
		graph_last_find_without(&f->last, w->node, w->own - 1);
}

frz_time wait_for(struct finder *f, const struct wait *w, const struct graph_input *cause)
{
	const struct graph_input *own = wait_own(f, w);
	frz_time until = from_own(f, w, own, cause), whole = whole_of(f, w, own);
	until.hi = cause == own ? 0 : until.hi < whole.hi ? until.hi : whole.hi;
	until.lo = until.lo < until.hi ? until.lo : until.hi;
	return until;
}

/* From its begin until the last of a node's other inputs than `mine` had come: that is one of those that may have been the last. */
static void look_among(struct finder *f, const struct wait *w, uint32_t number, const struct graph_input *mine,
		       struct wait_looked *found)
{
	const struct graph *g = f->g;
	const struct graph_node *node = &g->nodes[number];
	const struct graph_input *own = wait_own(f, w);
	*found = (struct wait_looked){ .alone = true };
	if (number == w->node)
		wait_find_last(f, w);
	else
		graph_last_find(&f->last, number);
	frz_time all = { 0, 0 }, whole = whole_of(f, w, own);
	for (size_t i = 0; i < f->last.n; i++) {
		const struct graph_input *input = &g->inputs[f->last.input[i]];
		frz_time until = from_own(f, w, own, input);
		found->own |= input == mine;
		found->alone &= input != mine && (!found->any || wait_sent(found->any) == wait_sent(input));
		if (input == mine)
			continue;
		bool sure = graph_was_waited_for(node, f->last.input[i] - node->first, input);
		found->any = found->any && !sure ? found->any : input;
		if (sure)
			all.lo = until.lo > all.lo ? until.lo : all.lo;
		all.hi = until.hi > all.hi ? until.hi : all.hi;
	}
	all.hi = all.hi < whole.hi ? all.hi : whole.hi;
	all.lo = all.lo < all.hi ? all.lo : all.hi; /* what ended it may be stamped a little behind it */
	if (all.hi == 0)
		found->any = NULL;
	else
		found->ticks = all;
}

/* What is said to have ended it came behind it. */
static bool is_broken(const struct finder *f, uint32_t node)
{
	return f->nbroken > 0 && bsearch(&node, f->broken, f->nbroken, sizeof node, order_uint32);
}

bool wait_look(struct finder *f, const struct wait *w, struct wait_looked *found)
{
	const struct graph *g = f->g;
	*found = (struct wait_looked){ .alone = true };
	const struct graph_node *node = &g->nodes[w->node];
	if (w->site >= g->trace->nsites || !(graph_is_known(node) || graph_is_seen(node)) || is_broken(f, w->node))
		return false;
	if (w->own)
		look_among(f, w, w->node, wait_own(f, w), found);
	return true;
}

static void note_cost(const struct finder *f, struct wait_cost *cost, const struct wait_looked *found)
{
	cost->ticks = found->ticks;
	cost->cause = found->any && found->alone ? (uint32_t)(wait_sent(found->any) - f->g->inputs) + 1 : 0;
}

/* Of the node that was looked at last, but for so much of the wait: who was waited for besides `mine`. */
static void add_looked(struct finder *f, const struct wait *w, const struct wait_looked *found, const struct graph_input *mine,
		       frz_time before)
{
	const struct graph_node *node = &f->g->nodes[mine->node];
	bool of_team = mine != wait_own(f, w) && !wait_begins_task(&f->g->nodes[w->node]);
	size_t first = f->ncauses;
	add_place(f, w, of_team ? WAIT_IMBALANCE : kind_of(f, w, node, found->any), found->ticks);
	for (size_t i = 0; i < f->last.n; i++) {
		const struct graph_input *input = &f->g->inputs[f->last.input[i]];
		int64_t most = input == mine ? 0 : time_less(wait_for(f, w, input), before).hi;
		if (most > 0)
			add_cause(f, w, of_team ? WAIT_IMBALANCE : kind_of(f, w, node, input), input, most, first);
	}
	if (!found->own && f->ncauses == first + 1) {
		f->causes[first].ticks = found->ticks;
		f->causes[first].sure = true;
	}
}

/* Who has left a team waits for its last thread, before it waits for whoever opens the next one; and who is at a barrier for the
 * last who comes. For how long. */
static frz_time look_at_team_end(struct finder *f, const struct wait *w)
{
	const struct graph_input *left = w->left ? &f->g->inputs[w->left - 1] : NULL;
	struct wait_looked found;
	if (!left || !graph_is_known(&f->g->nodes[left->node]))
		return (frz_time){ 0, 0 };
	look_among(f, w, left->node, left, &found);
	if (found.any)
		add_looked(f, w, &found, left, (frz_time){ 0, 0 });
	return found.ticks;
}

/* A barrier was over: nothing says that who was on its way out waited for the task that it then found, and to whom all of that goes
 * back. */
static void doubt_rest(struct finder *f, size_t number, struct wait_looked *found, frz_time before)
{
	found->ticks.lo = 0;
	found->own = true;
	if (!f->delays)
		return;
	f->costs[number].ticks.lo = before.lo;
	f->costs[number].cause = 0;
}

static void look_at(struct finder *f, size_t number)
{
	const struct wait *w = &f->list[number];
	struct wait_looked found;
	bool known = wait_look(f, w, &found);
	wait_note_unknown(f, w->thread, (graph_lacks_cause(&f->g->nodes[w->node]) && !graph_is_seen(&f->g->nodes[w->node])) ||
		    (!known && f->g->nodes[w->node].kind != GRAPH_UNKNOWN));
	f->waits->expired += graph_has_expired(&f->g->nodes[w->node]);
	if (f->delays)
		note_cost(f, &f->costs[number], &found);
	if (!known || !found.any)
		return;
	frz_time before = look_at_team_end(f, w);
	found.ticks = time_less(found.ticks, before);
	if (wait_is_on_its_way(f, w))
		doubt_rest(f, number, &found, before);
	wait_find_last(f, w);
	add_looked(f, w, &found, wait_own(f, w), before);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;
	int64_t p = time_middle(x->ticks), q = time_middle(y->ticks);
	return p != q ? ORDER(q, p) : by_what(a, b);
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
		look_at(f, i);
		progress_add(1);
		if (f->ncauses < most)
			continue;
		sum_up_all(f);
		most = f->ncauses + (f->ncauses > MANY ? f->ncauses : MANY);
	}
	sum_up_all(f);
}

/* Where the trace contradicts itself. */
static void find_broken(struct finder *f)
{
	const struct graph *g = f->g;
	size_t *points = mem_zeroed(g->trace->nthreads + 1, sizeof *points);
	graph_order_open(&f->order, g);
	for (size_t i = 0; i < f->order.nsteps; i++, spill_relax(g->spill)) {
		struct graph_step step = f->order.steps[i];
		size_t point = points[step.thread]++;
		if (step.broken)
			*MEM_GROW(f->broken, f->nbroken) = g->threads[step.thread].syncs[point].number;
	}
	free(points);
	if (f->nbroken)
		qsort(f->broken, f->nbroken, sizeof *f->broken, order_uint32);
}

static void find(struct finder *f)
{
	const struct graph *g = f->g;
	f->posted = spill_zeros(g->spill, g->ninputs, sizeof *f->posted);
	graph_last_open(&f->last, g);
	progress_begin("finding waits", trace_records(g->trace));
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		waits_replay(f, t);
	progress_end();
	if (f->delays)
		find_broken(f);
	progress_begin("finding what ended waits", f->n);
	look_at_all(f);
	progress_end();
	if (f->delays) {
		delays_find(f);
		graph_order_close(&f->order);
	}
	free(f->broken);
	f->waits->causes = f->causes;
	f->waits->ncauses = f->ncauses;
	waits_widen(f->waits, g, &f->last);
	graph_last_close(&f->last);
	spill_free(g->spill, f->posted);
	spill_free(g->spill, f->busy);
	spill_free(g->spill, f->list);
}

static void find_waits(struct waits *waits, const struct graph *g, bool delays)
{
	struct finder f = { .waits = waits, .g = g, .delays = delays };
	*waits = (struct waits){ .span = graph_span(g), .lacks = mem_zeroed(g->trace->nthreads + 1, sizeof *waits->lacks) };
	if (delays)
		history_open(&f.history, g);
	find(&f);
	if (delays)
		history_close(&f.history);
	spill_free(g->spill, f.costs);
	if (waits->ncauses)
		qsort(waits->causes, waits->ncauses, sizeof *waits->causes, by_length);
	if (waits->nplaces)
		qsort(waits->places, waits->nplaces, sizeof *waits->places, by_length);
}

void waits_of_graph(struct waits *waits, const struct graph *g)
{
	find_waits(waits, g, false);
}

void waits_and_delays_of_graph(struct waits *waits, const struct graph *g)
{
	find_waits(waits, g, true);
}

void waits_open(struct waits *waits, const struct trace *trace, const struct times *times)
{
	struct graph g;
	graph_open(&g, trace, times);
	waits_and_delays_of_graph(waits, &g);
	waits->said = graph_take_said(&g);
	graph_close(&g);
}

void waits_close(struct waits *waits)
{
	graph_said_close(&waits->said);
	free(waits->causes);
	free(waits->places);
	free(waits->delays);
	free(waits->lacks);
}

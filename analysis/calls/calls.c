/* SPDX-License-Identifier: MIT
 *
 * calls.c - see calls.h. */
#include "analysis/calls/calls.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/calls/calls_private.h"
#include "analysis/graph/graph_losses.h"
#include "analysis/match/match.h"
#include "analysis/waits/waits.h"

/* ---- Over threads ---------------------------------------------------------------------------- */

void call_spread_add(struct call_spread *s, uint32_t thread, const struct call_sums *sums)
{
	frz_time time = sums->inclusive;
	bool first = s->nthreads++ == 0;
	s->longest = first || time_exceeds(time, s->most) ? thread : s->longest;
	s->least.lo = first || time.lo < s->least.lo ? time.lo : s->least.lo;
	s->least.hi = first || time.hi < s->least.hi ? time.hi : s->least.hi;
	s->most.lo = time.lo > s->most.lo ? time.lo : s->most.lo;
	s->most.hi = time.hi > s->most.hi ? time.hi : s->most.hi;
	s->all.visits += sums->visits;
	s->all.bytes += sums->bytes;
	s->all.inclusive = time_add(s->all.inclusive, time);
	s->all.exclusive = time_add(s->all.exclusive, sums->exclusive);
	s->all.waited = time_add(s->all.waited, sums->waited);
	s->all.transfer = time_add(s->all.transfer, sums->transfer);
	s->all.uncaused = ticks_plus(s->all.uncaused, sums->uncaused);
}

frz_time call_mean(const struct call_spread *s)
{
	int64_t n = (int64_t)s->nthreads;
	frz_time sum = s->all.inclusive;
	int64_t most = sum.hi < INT64_MAX ? ticks_plus(sum.hi / n, sum.hi % n > 0) : INT64_MAX;
	return (frz_time){ sum.lo / ticks_plus(n, s->unseen), most };
}

struct interval call_imbalance(const struct call_spread *s)
{
	struct interval balance = interval_percent(call_mean(s), s->most);
	return (struct interval){ 100 - balance.hi, 100 - balance.lo };
}

/* The innermost region or operation around it; or itself. */
static uint32_t belongs_to(const struct call_profile *p, const struct trace *trace, const struct call_node *node)
{
	const struct call_node *around = node;
	while (around->parent != CALL_ROOT && tr_is(trace, around->site, OP_OWN))
		around = &p->nodes[around->parent];
	return around->site < trace->nsites ? around->site : node->site;
}

frz_time *calls_own(const struct call_profile *p, const struct trace *trace)
{
	frz_time *own = mem_zeroed(trace->nsites + 1, sizeof *own);
	for (size_t i = 0; i < p->nflat; i++)
		if (p->flat[i].site < trace->nsites && !tr_is(trace, p->flat[i].site, OP_OWN))
			own[p->flat[i].site] = p->flat[i].spread.all.exclusive;
	for (size_t i = 0; i < p->nnodes; i++) {
		const struct call_node *node = &p->nodes[i];
		if (!tr_is(trace, node->site, OP_OWN))
			continue;
		uint32_t site = belongs_to(p, trace, node);
		own[site] = time_add(own[site], node->spread.all.exclusive);
	}
	return own;
}

static int by_exclusive(const void *a, const void *b)
{
	const struct call_flat *x = a, *y = b;
	frz_time p = x->spread.all.exclusive, q = y->spread.all.exclusive;
	if (time_exceeds(p, q) || time_exceeds(q, p))
		return time_exceeds(p, q) ? -1 : 1;
	return ORDER(x->site, y->site);
}

static int by_site(const void *a, const void *b)
{
	const struct call_each *x = a, *y = b;
	return ORDER_2(x, y, site, thread);
}

static void take_flat(struct calls_walk *w)
{
	struct call_profile *p = w->profile;
	uint32_t nsites = (uint32_t)w->graph->trace->nsites;
	for (uint32_t row = 0; row <= nsites; row++)
		if (w->flat[row].nthreads)
			*MEM_GROW(p->flat, p->nflat) = (struct call_flat){ row < nsites ? row : TR_NO_SITE, w->flat[row] };
	if (p->nflat)
		qsort(p->flat, p->nflat, sizeof *p->flat, by_exclusive);
	if (p->neach)
		qsort(p->each, p->neach, sizeof *p->each, by_site);
}

/* Threads may have been there in what is lost of them, and those of which all is, in as many as there were. */
static void add_lost(struct call_spread *s, const struct graph *g, int64_t most, size_t lossy)
{
	int64_t all = 0, unseen = (int64_t)(lossy - s->lossy);
	for (size_t t = 0; t < g->trace->nthreads; t++) {
		bool uncounted = g->trace->processes[g->trace->threads[t].process].absent && g->lost[t];
		all = uncounted ? INT64_MAX : ticks_plus(all, g->around[t]);
		unseen = uncounted ? INT64_MAX : unseen;
	}
	frz_time *sums[] = { &s->all.inclusive, &s->all.exclusive, &s->all.waited, &s->all.transfer };
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		sums[i]->hi = ticks_plus(sums[i]->hi, all);
	int64_t longest = ticks_plus(s->most.hi, most);
	s->most.hi = longest;
	s->least.lo = unseen ? 0 : s->least.lo;
	s->unseen = unseen;
}

static void add_all_lost(struct call_profile *p, const struct graph *g)
{
	int64_t most = 0;
	size_t lossy = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++) {
		most = g->around[t] > most ? g->around[t] : most;
		lossy += g->lost[t] > 0;
	}
	for (size_t i = 0; i < p->nnodes && g->nlosses; i++)
		add_lost(&p->nodes[i].spread, g, most, lossy);
	for (size_t i = 0; i < p->nflat && g->nlosses; i++)
		add_lost(&p->flat[i].spread, g, most, lossy);
}

static void walk_all(struct call_profile *p, const struct graph *g)
{
	const struct trace *trace = g->trace;
	struct calls_walk w = { .profile = p, .graph = g, .lacks = trace_lacks(trace) };
	bool *seen = mem_zeroed(trace->nprocesses + 1, sizeof *seen);
	w.flat = mem_zeroed(trace->nsites + 1, sizeof *w.flat);
	graph_last_open(&w.last, g);
	progress_begin("following calls", trace_records(trace));
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		calls_add_thread(&w, t);
		p->nthreads += g->threads[t].nevents > 0;
		p->nprocesses += g->threads[t].nevents > 0 && !seen[trace->threads[t].process];
		seen[trace->threads[t].process] |= g->threads[t].nevents > 0;
	}
	progress_end();
	take_flat(&w);
	add_all_lost(p, g);
	graph_last_close(&w.last);
	ids_free(&w.children);
	free(w.flat);
	free(seen);
}

/* ---- Causes ---------------------------------------------------------------------------------- */

static int by_cause(const void *a, const void *b)
{
	const struct call_cause *x = a, *y = b;
	const uint32_t p[] = { x->site, x->for_thread, x->did }, q[] = { y->site, y->for_thread, y->did };
	for (size_t i = 0; i < sizeof p / sizeof *p; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

/* Of each site the longest. */
static void find_causes(struct call_profile *p, const struct waits *waits)
{
	struct call_cause *all = mem_resize(NULL, waits->ncauses + 1, sizeof *all);
	size_t n = 0;
	for (size_t i = 0; i < waits->ncauses; i++)
		all[i] = (struct call_cause){ waits->causes[i].site, waits->causes[i].for_thread, waits->causes[i].did,
					      waits->causes[i].ticks };
	qsort(all, waits->ncauses, sizeof *all, by_cause);
	for (size_t i = 0; i < waits->ncauses; i++)
		if (n > 0 && by_cause(&all[n - 1], &all[i]) == 0)
			all[n - 1].ticks = time_add(all[n - 1].ticks, all[i].ticks);
		else
			all[n++] = all[i];
	for (size_t i = 0; i < n; i++) {
		struct call_cause *last = p->ncauses ? &p->causes[p->ncauses - 1] : NULL;
		if (!last || last->site != all[i].site)
			*MEM_GROW(p->causes, p->ncauses) = all[i];
		else if (time_exceeds(all[i].ticks, last->ticks))
			*last = all[i];
	}
	free(all);
}

const struct call_cause *call_cause_of(const struct call_profile *p, uint32_t site)
{
	for (size_t i = 0; i < p->ncauses; i++)
		if (p->causes[i].site == site)
			return &p->causes[i];
	return NULL;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int by_pair(const void *a, const void *b)
{
	const struct call_message *x = a, *y = b;
	return ORDER_2(x, y, from, to);
}

static void add_message(struct call_profile *p, struct ids *pairs, const struct trace *trace, const struct match *m)
{
	const struct match_part *sender = &m->parts[0], *receiver = &m->parts[1];
	uint32_t from = trace->threads[sender->thread].process, to = trace->threads[receiver->thread].process;
	uint64_t pair = (uint64_t)from << 32 | to, bytes = sender->bytes != MATCH_NO_BYTES ? sender->bytes : receiver->bytes;
	if (ids_add(pairs, pair))
		*MEM_GROW(p->messages, p->nmessages) = (struct call_message){ from, to, 0, 0 };
	struct call_message *message = &p->messages[ids_find(pairs, pair)];
	message->count++;
	message->bytes += bytes != MATCH_NO_BYTES ? bytes : 0;
}

static void find_messages(struct call_profile *p, const struct trace *trace, const struct times *times)
{
	struct ids pairs = { 0 };
	struct match m;
	struct match_walk *walk = match_walk_again(trace, times->program.matches);
	progress_begin("counting messages", trace_records(trace));
	while (match_walk_next(walk, &m))
		if (m.kind == MATCH_MESSAGE)
			add_message(p, &pairs, trace, &m);
	progress_end();
	const struct match_tally *tally = match_walk_tally(walk);
	p->unmatched = tally->untaken + tally->unsent + tally->doubtful;
	match_walk_close(walk);
	ids_free(&pairs);
	if (p->nmessages)
		qsort(p->messages, p->nmessages, sizeof *p->messages, by_pair);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void calls_of_graph(struct call_profile *p, const struct graph *g, const struct waits *waits)
{
	struct waits own = { .ncauses = 0 };
	*p = (struct call_profile){ .span = graph_span(g) };
	walk_all(p, g);
	if (!waits)
		waits_of_graph(&own, g);
	find_causes(p, waits ? waits : &own);
	waits_close(&own);
	find_messages(p, g->trace, g->times);
}

void calls_open(struct call_profile *p, const struct trace *trace, const struct times *times)
{
	struct graph g;
	graph_open(&g, trace, times);
	calls_of_graph(p, &g, NULL);
	p->said = graph_take_said(&g);
	graph_close(&g);
}

void calls_close(struct call_profile *p)
{
	graph_said_close(&p->said);
	free(p->nodes);
	free(p->flat);
	free(p->each);
	free(p->causes);
	free(p->messages);
}

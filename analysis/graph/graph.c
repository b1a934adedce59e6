/* SPDX-License-Identifier: MIT
 *
 * graph.c - junctions from matches, in three steps: what match.h finds becomes junctions, or marks
 * on threads; a walk along each thread says in which operation a marked message was completed and
 * collects locks; then the junctions of messages and locks are made. */
#include "analysis/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/graph/graph_private.h"
#include "analysis/trace/names.h"

/* ---- Junctions, stops, faults ---------------------------------------------------------------- */

static void add_stop(struct graph_thread *t, struct graph_stop stop)
{
	*MEM_GROW(t->stops, t->nstops) = stop;
}

uint32_t graph_junction(struct builder *b, enum graph_kind kind, const struct saw *saw, size_t n)
{
	struct graph *g = b->graph;
	uint32_t number = (uint32_t)g->njunctions;
	*MEM_GROW(g->junctions, g->njunctions) =
		(struct graph_junction){ .kind = kind, .first = g->ninputs,
					 .ninputs = (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		const struct spot *s = &saw[i].spot;
		uint32_t input = (uint32_t)g->ninputs;
		*MEM_GROW(g->inputs, g->ninputs) = (struct graph_input){
			.thread = s->thread, .junction = number, .stamp = s->stamp,
			.bytes = saw[i].bytes, .sure = saw[i].sure,
			.receiver = saw[i].receiver };
		add_stop(&g->threads[s->thread],
			 (struct graph_stop){ s->at, s->stamp, GRAPH_POSTS, input });
	}
	return number;
}

void graph_wait(struct builder *b, struct spot spot, uint32_t junction)
{
	b->graph->junctions[junction].nwaiting++;
	b->graph->junctions[junction].stamp = spot.stamp;
	add_stop(&b->graph->threads[spot.thread],
		 (struct graph_stop){ spot.at, spot.stamp, GRAPH_WAITS, junction });
}

void graph_arrival(struct builder *b, struct spot spot, uint32_t what, const struct saw *saw,
		   size_t n)
{
	uint32_t junction = graph_junction(b, GRAPH_ARRIVAL, saw, n);
	b->graph->junctions[junction].what = what;
	graph_wait(b, spot, junction);
}

void graph_unknown(struct builder *b, struct spot enter, struct spot exit)
{
	graph_wait(b, exit, graph_junction(b, GRAPH_UNKNOWN, &(struct saw){ .spot = enter }, 1));
}

void graph_fault(struct fault *f, struct spot spot, uint32_t site)
{
	if (f->count++ == 0)
		*f = (struct fault){ 1, spot.thread, site, spot.stamp };
}

char *graph_place(const struct trace *t, uint32_t thread, uint32_t site)
{
	return mem_format("%s thread %" PRIu32 "%s%s", rank_name(t, thread).text,
			  t->threads[thread].number, site == TR_NO_SITE ? "" : " at ",
			  site == TR_NO_SITE ? "" : site_name(t, site).text);
}

static void say_fault(struct graph *g, const struct fault *f, const char *what)
{
	if (!f->count)
		return;
	char *where = graph_place(g->trace, f->thread, f->site);
	*MEM_GROW(g->faults, g->nfaults) =
		mem_format("%s: %" PRIu64 " time%s, first %s, stamp %" PRIu64, what, f->count,
			   f->count > 1 ? "s" : "", where, f->stamp);
	free(where);
}

static void say_faults(const struct builder *b)
{
	struct graph *g = b->graph;
	say_fault(g, &b->unsent,
		  "a message was received, but its send is not in the trace or not certain");
	say_fault(g, &b->untaken, "a message was sent, but its receive is not in the trace");
	say_fault(g, &b->missing, "a collective operation lacks participants");
	say_fault(g, &b->alone,
		  "an operation waits for others, but the trace does not say for whom");
	say_fault(g, &b->unheld, "a lock was taken although it was not released before");
}

/* ---- What match.h finds ---------------------------------------------------------------------- */

static struct spot enter_of(const struct match_part *p)
{
	return (struct spot){ p->thread, p->enter_at, p->enter };
}

static struct spot done_of(const struct match_part *p)
{
	return (struct spot){ p->thread, p->done_at, p->done };
}

static void add_mark(struct builder *b, uint32_t thread, struct mark mark)
{
	*MEM_GROW(b->marks[thread].v, b->marks[thread].n) = mark;
}

static void explain(struct builder *b, const struct match_part *p)
{
	add_mark(b, p->thread, (struct mark){ p->enter_at, MARK_EXPLAINED, 0 });
}

static bool is_synchronous(const struct trace *t, uint32_t site)
{
	const char *name = site == TR_NO_SITE ? "" : t->sites[site].name;
	return strstr(name, "Ssend") || strstr(name, "Issend") || strstr(name, "ssend_");
}

static void add_message(struct builder *b, const struct match *m)
{
	const struct match_part *sender = &m->parts[0], *receiver = &m->parts[1];
	uint32_t number = (uint32_t)b->nmessages;
	uint64_t bytes = sender->bytes != MATCH_NO_BYTES ? sender->bytes : receiver->bytes;
	*MEM_GROW(b->messages, b->nmessages) = (struct message){
		enter_of(sender), enter_of(receiver), UINT64_MAX,
		bytes == MATCH_NO_BYTES ? 0 : bytes,
		is_synchronous(b->graph->trace, sender->site), true };
	add_mark(b, sender->thread, (struct mark){ sender->enter_at, MARK_SENDS, number });
	add_mark(b, receiver->thread, (struct mark){ receiver->done_at, MARK_COMPLETES, number });
}

static struct saw saw_of(const struct match_part *p, const struct match_part *self)
{
	return (struct saw){ .spot = enter_of(p), .sure = p == self || p->bytes != 0,
			     .bytes = p->bytes == MATCH_NO_BYTES ? 0 : p->bytes };
}

/* Whether an exit of `self` may have waited for the entry of `other`. */
static bool may_wait_for(const struct match *m, const struct match_part *self,
			 const struct match_part *other)
{
	switch (m->flow) {
	case MATCH_FROM_ROOT: return other->root;
	case MATCH_TO_ROOT:   return self->root;
	case MATCH_UPWARD:    return other->thread < self->thread;
	default:              return true;
	}
}

/* One junction for each who left. */
static void add_flow(struct builder *b, const struct match *m)
{
	struct saw *saw = mem_resize(NULL, m->nparts, sizeof *saw);
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *self = &m->parts[i];
		size_t n = 0;
		saw[n++] = saw_of(self, self);
		for (size_t k = 0; k < m->nparts; k++)
			if (k != i && may_wait_for(m, self, &m->parts[k]))
				saw[n++] = saw_of(&m->parts[k], self);
		if (n > 1)
			graph_arrival(b, done_of(self), GRAPH_COLLECTIVE + b->name[self->site], saw,
				      n);
	}
	free(saw);
}

/* Somebody had certainly left before somebody else came. */
static bool certainly_missed(const struct times *times, const struct match *m)
{
	int64_t left = INT64_MAX, came = INT64_MIN;
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *p = &m->parts[i];
		struct frz_cursor c = times_cursor(times, times->trace->threads[p->thread].clock);
		frz_time enter = frz_time_of(&c, p->enter), done = frz_time_of(&c, p->done);
		left = done.hi < left ? done.hi : left;
		came = enter.lo > came ? enter.lo : came;
	}
	return left < came;
}

/* One junction for all. */
static void add_all(struct builder *b, const struct match *m, bool sure)
{
	struct saw *saw = mem_resize(NULL, m->nparts, sizeof *saw);
	for (size_t i = 0; i < m->nparts; i++) {
		saw[i] = saw_of(&m->parts[i], NULL);
		saw[i].sure &= sure;
	}
	uint32_t junction = graph_junction(b, GRAPH_MEET, saw, m->nparts);
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].done_at != MATCH_NEVER)
			graph_wait(b, done_of(&m->parts[i]), junction);
	free(saw);
}

static void add_incomplete(struct builder *b, const struct match *m)
{
	graph_fault(&b->missing, enter_of(&m->parts[0]), m->parts[0].site);
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].done_at != MATCH_NEVER)
			graph_unknown(b, enter_of(&m->parts[i]), done_of(&m->parts[i]));
}

/* What only began is waited for as if each had sent a message to each who needs something of him. */
static void add_begun(struct builder *b, const struct match *m, bool sure)
{
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *self = &m->parts[i];
		for (size_t k = 0; k < m->nparts; k++) {
			const struct match_part *other = &m->parts[k];
			struct saw saw = saw_of(other, self);
			if (k == i || !may_wait_for(m, self, other))
				continue;
			struct mark mark = { self->done_at, MARK_COMPLETES, (uint32_t)b->nmessages };
			*MEM_GROW(b->messages, b->nmessages) = (struct message){
				saw.spot, enter_of(self), UINT64_MAX, saw.bytes, false,
				saw.sure && sure };
			add_mark(b, self->thread, mark);
		}
	}
}

/* Where it is not known who waits for whom, one who left before another came shows that not all
 * wait for all: then anything may have been waited for. */
static void add_meeting(struct builder *b, const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++)
		explain(b, &m->parts[i]);
	bool nowhere = m->flow == MATCH_NOWHERE;
	if (!m->complete)
		add_incomplete(b, m);
	else if (m->begun && !(nowhere && certainly_missed(b->graph->times, m)))
		add_begun(b, m, !nowhere);
	else if (m->flow == MATCH_ALL)
		add_all(b, m, true);
	else if (!nowhere)
		add_flow(b, m);
	else if (!certainly_missed(b->graph->times, m))
		add_all(b, m, false);
	else
		for (size_t i = 0; i < m->nparts; i++)
			graph_unknown(b, enter_of(&m->parts[i]), done_of(&m->parts[i]));
}

static void add_match(struct builder *b, const struct match *m)
{
	switch (m->kind) {
	case MATCH_MESSAGE: add_message(b, m); break;
	case MATCH_MEETING: add_meeting(b, m); break;
	case MATCH_CREATED:
	case MATCH_JOINED:  break; /* the walk knows more, where stamps are equal */
	case MATCH_UNTAKEN:
		graph_fault(&b->untaken, enter_of(&m->parts[0]), m->parts[0].site);
		break;
	case MATCH_UNSENT:  break; /* the walk finds it, and what the matcher doubts as well */
	}
}

/* Of any host: what stamps of two threads may be off by. */
static uint64_t greatest_slack(const struct trace *t)
{
	uint64_t most = 0;
	for (size_t c = 0; c < t->nclocks; c++)
		most = t->clocks[c].half_width > most ? t->clocks[c].half_width : most;
	return 2 * most;
}

static void add_matches(struct builder *b)
{
	struct match_walk *walk = match_walk_open(b->graph->trace, greatest_slack(b->graph->trace));
	struct match m;
	while (match_walk_next(walk, &m))
		add_match(b, &m);
	match_walk_close(walk);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Between each two clocks the longest message whose send certainly ended before its receive
 * began. */
static uint64_t *find_eager(const struct builder *b)
{
	const struct graph *g = b->graph;
	size_t n = g->trace->nclocks;
	uint64_t *eager = mem_resize(NULL, n * n + 1, sizeof *eager);
	for (size_t i = 0; i < n * n; i++)
		eager[i] = GRAPH_EAGER;
	for (size_t i = 0; i < b->nmessages; i++) {
		const struct message *m = &b->messages[i];
		uint32_t from = g->trace->threads[m->sent.thread].clock;
		uint32_t to = g->trace->threads[m->begun.thread].clock;
		uint64_t *longest = &eager[from * n + to];
		if (m->sent_until == UINT64_MAX || m->synchronous || m->bytes <= *longest)
			continue;
		struct moment ended = { from, m->sent_until }, began = { to, m->begun.stamp };
		if (times_between(g->times, ended, began).lo > 0)
			*longest = m->bytes;
	}
	return eager;
}

static bool waits_for_receiver(const struct builder *b, const struct message *m,
			       const uint64_t *eager)
{
	const struct trace *t = b->graph->trace;
	size_t pair = t->threads[m->sent.thread].clock * t->nclocks +
		      t->threads[m->begun.thread].clock;
	return m->synchronous || m->bytes > eager[pair];
}

static void add_exchange(struct builder *b, const struct exchange *x, const uint64_t *eager)
{
	const struct attached *attached = &b->attached[x->first];
	struct saw *saw = mem_resize(NULL, x->n + 1, sizeof *saw);
	size_t n = 0;
	saw[n++] = (struct saw){ .spot = x->enter, .sure = true };
	for (size_t i = 0; i < x->n; i++) {
		const struct message *m = &b->messages[attached[i].message];
		if (!attached[i].as_sender)
			saw[n++] = (struct saw){ m->sent, m->sure, false, m->bytes };
		else if (waits_for_receiver(b, m, eager))
			saw[n++] = (struct saw){ m->begun, m->synchronous, true, m->bytes };
	}
	if (n == 2 && saw[1].receiver) /* a send that meets its receiver */
		graph_wait(b, x->exit, graph_junction(b, GRAPH_MEET, saw, n));
	else if (n > 1)
		graph_arrival(b, x->exit, x->what, saw, n);
	free(saw);
}

static void add_exchanges(struct builder *b)
{
	uint64_t *eager = find_eager(b);
	for (size_t i = 0; i < b->nexchanges; i++)
		add_exchange(b, &b->exchanges[i], eager);
	free(eager);
}

/* ---- Ends of threads ------------------------------------------------------------------------- */

static void add_join(struct builder *b, const struct joins *j)
{
	const struct graph_thread *t = &b->graph->threads[j->thread];
	const struct trace *trace = b->graph->trace;
	uint64_t slack = 2 * trace->clocks[trace->threads[j->thread].clock].half_width;
	if (t->nevents == 0 || t->last > j->exit.stamp + slack) {
		graph_fault(&b->alone, j->exit, j->site);
		graph_unknown(b, j->enter, j->exit);
		return;
	}
	struct saw saw[] = { { .spot = j->enter, .sure = true },
			     { .spot = { j->thread, t->nevents - 1, t->last }, .sure = true } };
	graph_arrival(b, j->exit, GRAPH_JOINED, saw, 2);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int by_event(const void *x, const void *y)
{
	const struct graph_stop *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void sort_stops(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (g->threads[t].nstops)
			qsort(g->threads[t].stops, g->threads[t].nstops,
			      sizeof *g->threads[t].stops, by_event);
}

void graph_add_probes(struct graph *g, const struct graph_probe *probes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_stop(&g->threads[probes[i].thread],
			 (struct graph_stop){ probes[i].at, probes[i].stamp, GRAPH_PROBE,
					      (uint32_t)i });
	sort_stops(g);
}

static void add_end(struct builder *b)
{
	struct graph *g = b->graph;
	struct saw *saw = mem_resize(NULL, g->trace->nthreads + 1, sizeof *saw);
	size_t n = 0;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (g->threads[t].nevents > 0)
			saw[n++] = (struct saw){
				.spot = { t, g->threads[t].nevents - 1, g->threads[t].last },
				.sure = true };
	g->end = graph_junction(b, GRAPH_MEET, saw, n);
	free(saw);
}

static void find_first_stamps(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		struct tr_cursor events = trace_events(g->trace, t);
		struct tr_event e;
		g->threads[t].first = UINT64_MAX;
		while (g->threads[t].first == UINT64_MAX && trace_next(&events, &e))
			if (e.op != DPROF_LOST)
				g->threads[t].first = e.stamp;
	}
}

static uint32_t *name_sites(const struct trace *t)
{
	uint32_t *name = mem_resize(NULL, t->nsites + 1, sizeof *name);
	for (uint32_t i = 0; i < t->nsites; i++) {
		name[i] = 0;
		while (t->sites[i].kind != DPROF_KIND_REGION && name[i] < i &&
		       (t->sites[name[i]].kind != t->sites[i].kind ||
			strcmp(t->sites[name[i]].name, t->sites[i].name) != 0))
			name[i]++;
	}
	return name;
}

static void builder_close(struct builder *b)
{
	for (size_t t = 0; t < b->graph->trace->nthreads; t++)
		free(b->marks[t].v);
	free(b->marks);
	free(b->messages);
	free(b->joins);
	free(b->exchanges);
	free(b->attached);
	free(b->touches);
	free(b->made);
	free(b->runs);
	free(b->depends);
	free(b->fulfilled);
	free(b->task_waits);
	free(b->bare);
	free(b->fork);
	free(b->name);
}

void graph_open(struct graph *g, const struct trace *trace, const struct times *times)
{
	size_t n = trace->nthreads;
	*g = (struct graph){ .trace = trace, .times = times };
	struct builder b = { .graph = g };
	g->threads = mem_resize(NULL, n + 1, sizeof *g->threads);
	b.marks = mem_resize(NULL, n + 1, sizeof *b.marks);
	b.fork = mem_resize(NULL, n + 1, sizeof *b.fork);
	b.name = name_sites(trace);
	g->entered = mem_resize(NULL, trace->nsites + 1, sizeof *g->entered);
	memset(g->entered, 0, trace->nsites + 1);
	memset(g->threads, 0, n * sizeof *g->threads);
	memset(b.marks, 0, n * sizeof *b.marks);
	for (size_t t = 0; t < n; t++)
		b.fork[t].at = NO_FORK;
	progress_begin("finding who waited for whom", 2 * trace_records(trace));
	find_first_stamps(g);
	add_matches(&b);
	for (uint32_t t = 0; t < n; t++)
		graph_walk(&b, t);
	graph_begins(&b);
	progress_end();
	add_exchanges(&b);
	for (size_t i = 0; i < b.njoins; i++)
		add_join(&b, &b.joins[i]);
	graph_locks(&b);
	graph_tasks(&b);
	graph_bare_barriers(&b);
	add_end(&b);
	sort_stops(g);
	say_faults(&b);
	builder_close(&b);
}

void graph_close(struct graph *g)
{
	for (size_t t = 0; t < g->trace->nthreads; t++)
		free(g->threads[t].stops);
	for (size_t i = 0; i < g->nfaults; i++)
		free(g->faults[i]);
	free(g->faults);
	free(g->threads);
	free(g->entered);
	free(g->junctions);
	free(g->inputs);
}

/* SPDX-License-Identifier: MIT
 *
 * graph.c - nodes from matches, in three steps: what match.h finds becomes nodes, or
 * marks on threads; a walk along each thread says in which operation a marked message was completed and
 * collects locks; then the nodes of messages and locks are made. */
#include "analysis/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_last.h"
#include "analysis/graph/graph_private.h"
#include "analysis/trace/names.h"

/* ---- Nodes, synchronisation points, diagnostics ---------------------------------------------- */

static int by_event(const void *x, const void *y)
{
	const struct graph_sync_point *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void add_sync_point(struct graph *g, uint32_t thread, struct graph_sync_point sync)
{
	struct graph_thread *t = &g->threads[thread];
	*SPILL_GROW(g->spill, t->syncs, t->nsyncs) = sync;
	runs_settle(t->syncs, t->nsyncs, sizeof *t->syncs, by_event);
	spill_relax(g->spill);
}

uint32_t graph_add_node(struct builder *b, enum graph_kind kind, const struct node_input *inputs,
			size_t n)
{
	struct graph *g = b->graph;
	uint32_t number = (uint32_t)g->nnodes;
	*SPILL_GROW(g->spill, g->nodes, g->nnodes) =
		(struct graph_node){ .kind = kind, .first = (uint32_t)g->ninputs,
				     .ninputs = (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		const struct event_ref *s = &inputs[i].ref;
		uint32_t input = (uint32_t)g->ninputs;
		if (inputs[i].next)
			*SPILL_GROW(g->spill, g->opens, g->nopens) = (struct graph_open){ inputs[i].next_at, inputs[i].next, input };
		*SPILL_GROW(g->spill, g->inputs, g->ninputs) = (struct graph_input){
			.thread = s->thread, .node = number, .stamp = s->stamp,
			.bytes = inputs[i].bytes < GRAPH_MOST_BYTES ? inputs[i].bytes : GRAPH_MOST_BYTES,
			.sure = inputs[i].sure,
			.receiver = inputs[i].receiver, .needed = inputs[i].needed,
			.candidate = inputs[i].candidate, .follows = inputs[i].follows,
			.goes_on = inputs[i].goes_on, .open = inputs[i].next > 0 };
		add_sync_point(g, s->thread,
			       (struct graph_sync_point){ s->at, s->stamp, GRAPH_POSTS, input });
	}
	return number;
}

size_t graph_begin_inputs(const struct wait_begin *w, struct node_input *inputs)
{
	inputs[0] = (struct node_input){ .ref = w->enter, .sure = true, .needed = !w->tried };
	if (w->tried)
		inputs[1] = (struct node_input){ .ref = w->certain, .needed = true, .candidate = true };
	return w->tried ? 2 : 1;
}

/* Of the node that was made last. */
static void add_late(struct builder *b, struct event_ref event, int64_t lag)
{
	struct graph *g = b->graph;
	uint32_t number = (uint32_t)g->nlates, node = (uint32_t)g->nnodes - 1;
	*SPILL_GROW(g->spill, g->lates, g->nlates) = (struct graph_late){ .lag = lag, .node = node };
	g->nodes[node].late = true;
	add_sync_point(g, event.thread, (struct graph_sync_point){ event.at, event.stamp, GRAPH_LATE, number });
}

static uint32_t first_late(const struct graph *g, uint32_t node)
{
	return SEARCH(g->nlates, mid, g->lates[mid].node < node);
}

struct graph_lates graph_lates_of(const struct graph *g, uint32_t node)
{
	if (!g->nodes[node].late)
		return (struct graph_lates){ 0, 0 };
	uint32_t first = first_late(g, node), end = first;
	while (end < g->nlates && g->lates[end].node == node)
		end++;
	return (struct graph_lates){ first, end };
}

void graph_wait(struct builder *b, struct event_ref ref, uint32_t node)
{
	b->graph->nodes[node].nwaiting++;
	b->graph->nodes[node].stamp = ref.stamp;
	add_sync_point(b->graph, ref.thread,
		       (struct graph_sync_point){ ref.at, ref.stamp, GRAPH_WAITS, node });
}

struct graph_node *graph_arrival(struct builder *b, struct event_ref ref, uint32_t what,
				 const struct node_input *inputs, size_t n)
{
	uint32_t node = graph_add_node(b, GRAPH_ARRIVAL, inputs, n);
	b->graph->nodes[node].what = what;
	graph_wait(b, ref, node);
	return &b->graph->nodes[node];
}

static void add_unknown(struct builder *b, struct wait_begin begin, struct event_ref exit, const struct event_ref *since)
{
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&begin, inputs);
	for (size_t i = 0; i < n; i++) /* it may have been called in vain before, which is not recorded */
		inputs[i].needed = false;
	if (since)
		inputs[n++] = (struct node_input){ .ref = *since, .sure = true };
	uint32_t number = graph_add_node(b, GRAPH_UNKNOWN, inputs, n);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = true;
	graph_wait(b, exit, number);
}

void graph_unknown(struct builder *b, struct wait_begin begin, struct event_ref exit)
{
	add_unknown(b, begin, exit, NULL);
}

void graph_unknown_since(struct builder *b, struct wait_begin begin, struct event_ref exit, struct event_ref since)
{
	add_unknown(b, begin, exit, &since);
}

void graph_note_ended(struct builder *b, uint32_t what)
{
	b->graph->nodes[b->graph->nnodes - 1].what = what;
}

void graph_give(struct builder *b, struct event_ref ref, enum graph_given given)
{
	add_sync_point(b->graph, ref.thread,
		       (struct graph_sync_point){ ref.at, ref.stamp, GRAPH_GIVES, given });
	b->graph->gives = true;
}

uint32_t graph_group(struct builder *b, bool one)
{
	*MEM_GROW(b->graph->groups, b->graph->ngroups) = (struct graph_group){ .one = one };
	return (uint32_t)b->graph->ngroups - 1;
}

void graph_share(struct builder *b, struct event_ref comes, struct event_ref has, uint32_t group)
{
	add_sync_point(b->graph, comes.thread, (struct graph_sync_point){ comes.at, comes.stamp, GRAPH_COMES, group });
	add_sync_point(b->graph, has.thread, (struct graph_sync_point){ has.at, has.stamp, GRAPH_SHARES, group });
}

void graph_leave(struct builder *b, struct event_ref ref, uint32_t queue)
{
	add_sync_point(b->graph, ref.thread, (struct graph_sync_point){ ref.at, ref.stamp, GRAPH_LEAVES, queue });
}

void graph_diagnose(struct diagnostic *f, struct event_ref ref, uint32_t site)
{
	if (f->count++ == 0)
		*f = (struct diagnostic){ 1, ref.thread, site, ref.stamp };
}

void graph_add_diagnostic(struct diagnostic *f, const struct diagnostic *then)
{
	uint64_t count = f->count + then->count;
	if (f->count == 0)
		*f = *then;
	f->count = count;
}

char *graph_place(const struct trace *t, uint32_t thread, uint32_t site)
{
	return mem_format("%s thread %" PRIu32 "%s%s", rank_name(t, thread).text,
			  t->threads[thread].number, site == TR_NO_SITE ? "" : " at ",
			  site == TR_NO_SITE ? "" : site_name(t, site).text);
}

static char *sentence_of(const struct graph *g, const struct diagnostic *f, const char *what)
{
	char *where = graph_place(g->trace, f->thread, f->site);
	char *text = mem_format("%s: %" PRIu64 " time%s, first %s, stamp %" PRIu64, what, f->count,
				f->count > 1 ? "s" : "", where, f->stamp);
	free(where);
	return text;
}

static void say_missing(struct graph *g, const struct diagnostic *f, const char *what)
{
	if (f->count)
		*MEM_GROW(g->said.notes, g->said.nnotes) = sentence_of(g, f, what);
}

static void say_contradiction(struct graph *g, const struct diagnostic *f, const char *what)
{
	if (f->count)
		*MEM_GROW(g->said.diagnostics, g->said.ndiagnostics) = sentence_of(g, f, what);
}

static void say_diagnostics(const struct builder *b)
{
	struct graph *g = b->graph;
	say_missing(g, &b->unsent,
		       "a message was received, but its send is not in the trace or not certain");
	say_missing(g, &b->untaken, "a message was sent, but its receive is not in the trace");
	say_missing(g, &b->missing, "a collective operation lacks participants");
	say_missing(g, &b->alone,
		       "an operation waits for others, but the trace does not say for whom");
	say_contradiction(g, &b->behind, "a wait was over before what ended it: of that nothing is known");
	say_missing(g, &b->unheld, "a lock was taken although it was not released before");
}

/* ---- What match.h finds ---------------------------------------------------------------------- */

static struct event_ref enter_of(const struct match_part *p)
{
	return (struct event_ref){ p->thread, p->enter_at, p->enter };
}

static struct event_ref done_of(const struct match_part *p)
{
	return (struct event_ref){ p->thread, p->done_at, p->done };
}

static void add_mark(struct builder *b, uint32_t thread, struct event_mark mark)
{
	struct event_marks *marks = &b->marks[thread];
	*SPILL_GROW(b->spill, marks->v, marks->n) = mark;
	runs_settle(marks->v, marks->n, sizeof *marks->v, graph_by_mark);
}

static void explain(struct builder *b, const struct match_part *p)
{
	add_mark(b, p->thread, (struct event_mark){ p->enter_at, MARK_EXPLAINED, 0 });
}

static void add_message(struct builder *b, const struct match *m)
{
	const struct match_part *sender = &m->parts[0], *receiver = &m->parts[1];
	uint32_t number = (uint32_t)b->nmessages;
	uint64_t bytes = sender->bytes != MATCH_NO_BYTES ? sender->bytes : receiver->bytes;
	bool sure = bytes != 0 || !tr_is(b->graph->trace, receiver->site, OP_OF_RANKS);
	*SPILL_GROW(b->spill, b->messages, b->nmessages) = (struct message){
		.sent = enter_of(sender), .begun = enter_of(receiver), .sent_until = UINT64_MAX, .received = UINT64_MAX,
		.bytes = bytes == MATCH_NO_BYTES ? 0 : bytes,
		.synchronous = tr_is(b->graph->trace, sender->site, OP_SYNCHRONOUS),
		.buffered = tr_is(b->graph->trace, sender->site, OP_BUFFERED),
		.sends_on = tr_is(b->graph->trace, sender->site, OP_BUFFERED), .sure = sure, .possible = !sure,
		.by_choice = m->of_any && b->graph->trace->nprocesses > 2, .received_at = receiver->site };
	add_mark(b, sender->thread, (struct event_mark){ sender->enter_at, MARK_SENDS, number });
	add_mark(b, receiver->thread,
		 (struct event_mark){ receiver->done_at, MARK_COMPLETES, number });
	graph_put_in(b, m, number);
}

static struct node_input input_of(const struct match_part *p, const struct match_part *self)
{
	bool sure = p == self || p->bytes != 0;
	return (struct node_input){ .ref = enter_of(p), .sure = sure, .needed = sure,
				    .bytes = p->bytes == MATCH_NO_BYTES ? 0 : p->bytes };
}

/* Whether an exit of `self` may have waited for the entry of `other`. */
static bool may_wait_for(const struct match *m, const struct match_part *self,
			 const struct match_part *other)
{
	switch (m->flow) {
	case FLOW_FROM_ROOT: return other->root;
	case FLOW_TO_ROOT:   return self->root;
	case FLOW_UPWARD:    return other->thread < self->thread;
	case FLOW_NOWHERE:   return false; /* it is not known of any */
	default:              return true;
	}
}

/* Who is given nothing by a root need not wait for it. */
static struct node_input given_by(const struct match *m, const struct match_part *p, const struct match_part *self)
{
	struct node_input input = input_of(p, self);
	bool nothing = m->flow == FLOW_FROM_ROOT && self->bytes == 0;
	input.sure &= !nothing;
	input.needed &= !nothing;
	return input;
}

static frz_time between(const struct builder *b, struct event_ref first, struct event_ref then)
{
	const struct trace *trace = b->graph->trace;
	return times_between_near(b->graph->times, b->cursors,
				  (struct moment){ trace->threads[first.thread].clock, first.stamp },
				  (struct moment){ trace->threads[then.thread].clock, then.stamp });
}

/* Whether an event was certainly there before another. */
static bool certainly_before(const struct builder *b, struct event_ref first, struct event_ref then)
{
	return between(b, first, then).lo > 0;
}

/* Whether a rank may send to others, and if only what it was given: then it may have to wait until there is room, for
 * an earlier call of MPI of theirs. */
static bool may_send(const struct builder *b, const struct match *m, const struct match_part *self)
{
	bool ends_here = m->flow == FLOW_TO_ROOT ? self->root : m->flow == FLOW_FROM_ROOT && m->nparts == 2 && !self->root;
	return tr_is(b->graph->trace, self->site, OP_OF_RANKS) && !ends_here;
}

#define MOST_CANDIDATES 16 /* of one collective; with more, they are as if hidden */

/* How long after a participant had come all had left; or INT64_MAX. */
static int64_t until_all_left(const struct builder *b, const struct match *m, const struct match_part *self)
{
	int64_t most = 0;
	for (size_t i = 0; i < m->nparts; i++) {
		if (m->parts[i].done_at == MATCH_NEVER)
			return INT64_MAX;
		int64_t until = between(b, enter_of(self), done_of(&m->parts[i])).hi;
		most = until > most ? until : most;
	}
	return most;
}

/* How long all that is done in it can take at most once everybody has come: until all had left here, from when the last one came. */
static int64_t all_of_it(const struct builder *b, const struct match *m)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < m->nparts; i++) {
		int64_t until = until_all_left(b, m, &m->parts[i]);
		least = until < least ? until : least;
	}
	return least > 0 ? least : 0;
}

/* An implementation may do nothing before everybody has come. Then who is sooner done than that takes here is later than the last
 * of them by more than here. */
static void add_gathering(struct builder *b, const struct match *m, size_t self, int64_t takes)
{
	for (size_t k = 0; k < m->nparts; k++) {
		int64_t lag = ticks_minus(takes, between(b, enter_of(&m->parts[k]), done_of(&m->parts[self])).lo);
		if (lag > 0)
			add_late(b, enter_of(&m->parts[k]), lag);
	}
}

/* What an exit waits for, which is a node: by what is sent, and perhaps by any other participant. */
static void add_flow_to(struct builder *b, const struct match *m, size_t i, int64_t takes, struct node_input *inputs)
{
	const struct match_part *self = &m->parts[i], *late[MOST_CANDIDATES];
	bool many = m->nparts > MOST_CANDIDATES;
	size_t n = 0, nlate = 0;
	inputs[n++] = input_of(self, self);
	for (size_t k = 0; k < m->nparts; k++) {
		const struct match_part *other = &m->parts[k];
		if (k == i)
			continue;
		struct node_input given = given_by(m, other, self);
		bool missed = !given.sure && certainly_before(b, done_of(self), given.ref);
		if (may_wait_for(m, self, other) && !missed)
			inputs[n++] = given;
		else if (many)
			continue;
		else if (certainly_before(b, enter_of(other), done_of(self)))
			inputs[n++] = (struct node_input){ .ref = enter_of(other), .candidate = true };
		else
			late[nlate++] = other;
	}
	struct graph_node *node =
		graph_arrival(b, done_of(self), GRAPH_COLLECTIVE + b->graph->trace->sites[self->site].alike, inputs, n);
	int64_t lag = nlate ? until_all_left(b, m, self) : 0;
	node->hidden = many || may_send(b, m, self);
	node->delayed = many || lag == INT64_MAX;
	for (size_t k = 0; k < nlate && !node->delayed; k++)
		add_late(b, enter_of(late[k]), lag);
	if (!node->delayed)
		add_gathering(b, m, i, takes);
}

/* One node for each who left. */
static void add_flow(struct builder *b, const struct match *m)
{
	struct node_input *inputs = mem_resize(NULL, m->nparts, sizeof *inputs);
	int64_t takes = m->nparts > MOST_CANDIDATES ? 0 : all_of_it(b, m);
	for (size_t i = 0; i < m->nparts; i++)
		add_flow_to(b, m, i, takes, inputs);
	free(inputs);
}

/* One participant had certainly left before another came. */
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

/* One node for all. */
static void add_all(struct builder *b, const struct match *m, bool needed)
{
	struct node_input *inputs = mem_resize(NULL, m->nparts, sizeof *inputs);
	for (size_t i = 0; i < m->nparts; i++) {
		inputs[i] = input_of(&m->parts[i], NULL);
		inputs[i].needed &= needed;
	}
	uint32_t node = graph_add_node(b, GRAPH_SYNC, inputs, m->nparts);
	struct graph_node *chance = &b->graph->nodes[node];
	chance->loose = chance->hidden = chance->delayed = m->by_chance;
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].done_at != MATCH_NEVER)
			graph_wait(b, done_of(&m->parts[i]), node);
	free(inputs);
}

static bool came_and_left(const struct match *m, size_t thread)
{
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].thread == thread && m->parts[i].done_at != MATCH_NEVER)
			return true;
	return false;
}

/* One of a team ended their process, in good order, before another came, or left. */
static bool was_ended(const struct trace *t, const struct match *m)
{
	uint32_t process = t->threads[m->parts[0].thread].process;
	if (tr_is(t, m->parts[0].site, OP_OF_RANKS) || !t->processes[process].finished)
		return false;
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *other = &t->threads[i];
		if (other->process == process && other->complete && other->ran_on && !other->lost && !came_and_left(m, i))
			return true;
	}
	return false;
}

static void add_incomplete(struct builder *b, const struct match *m)
{
	if (!was_ended(b->graph->trace, m))
		graph_diagnose(&b->missing, enter_of(&m->parts[0]), m->parts[0].site);
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].done_at != MATCH_NEVER)
			graph_unknown(b, (struct wait_begin){ .enter = enter_of(&m->parts[i]) }, done_of(&m->parts[i]));
}

/* Part `i` of what only began waits as if part `k` had sent it a message. */
static void add_begun_by(struct builder *b, const struct match *m, size_t i, size_t k, bool sure, bool possible)
{
	const struct match_part *self = &m->parts[i];
	struct node_input input = given_by(m, &m->parts[k], self);
	struct event_mark mark = { self->done_at, MARK_COMPLETES, (uint32_t)b->nmessages };
	*SPILL_GROW(b->spill, b->messages, b->nmessages) = (struct message){
		.sent = input.ref, .begun = enter_of(self), .sent_until = UINT64_MAX, .received = UINT64_MAX,
		.bytes = input.bytes, .sure = input.sure && sure && !possible, .possible = possible, .sends_on = true };
	add_mark(b, self->thread, mark);
}

/* Who needs nothing, such as the root of MPI_Ibcast, may have to wait until others take what it gives. */
static void add_begun_possible(struct builder *b, const struct match *m, size_t i)
{
	size_t n = 0;
	for (size_t k = 0; k < m->nparts && n < MOST_CANDIDATES && m->parts[i].done_at != MATCH_NEVER; k++)
		if (k != i && certainly_before(b, enter_of(&m->parts[k]), done_of(&m->parts[i]))) {
			add_begun_by(b, m, i, k, false, true);
			n++;
		}
}

/* What only began is waited for as if each had sent a message to each who needs something of him. */
static void add_begun(struct builder *b, const struct match *m, bool sure)
{
	for (size_t i = 0; i < m->nparts; i++) {
		bool needs = false;
		for (size_t k = 0; k < m->nparts; k++) {
			if (k == i || (sure && !may_wait_for(m, &m->parts[i], &m->parts[k])))
				continue;
			add_begun_by(b, m, i, k, sure, false);
			needs = true;
		}
		if (!needs)
			add_begun_possible(b, m, i);
	}
}

static bool gives_nothing(const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].bytes == 0)
			return true;
	return false;
}

/* Where the wait dependencies are not known, all most likely wait for all; unless one who left before another came
 * shows that they do not: then each may have waited for any who came before it left. */
static void add_collective(struct builder *b, const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++)
		explain(b, &m->parts[i]);
	bool nowhere = m->flow == FLOW_NOWHERE;
	if (!m->complete)
		add_incomplete(b, m);
	else if (m->begun && !(nowhere && certainly_missed(b->graph->times, m)))
		add_begun(b, m, !nowhere);
	else if (m->flow == FLOW_ALL && !(gives_nothing(m) && certainly_missed(b->graph->times, m)))
		add_all(b, m, !m->by_chance);
	else if (nowhere && !certainly_missed(b->graph->times, m))
		add_all(b, m, false);
	else if (!m->begun && (!nowhere || m->nparts <= MOST_CANDIDATES))
		add_flow(b, m);
	else
		for (size_t i = 0; i < m->nparts; i++)
			graph_unknown(b, (struct wait_begin){ .enter = enter_of(&m->parts[i]) }, done_of(&m->parts[i]));
}

static void add_match(struct builder *b, const struct match *m)
{
	switch (m->kind) {
	case MATCH_MESSAGE: add_message(b, m); break;
	case MATCH_COLLECTIVE: add_collective(b, m); break;
	case MATCH_CREATED:
	case MATCH_JOINED:  break; /* the walk knows more, where stamps are equal */
	case MATCH_UNTAKEN:
		graph_diagnose(&b->untaken, enter_of(&m->parts[0]), m->parts[0].site);
		break;
	case MATCH_UNSENT:  break; /* the walk finds it, and what the matcher doubts as well */
	}
}

/* ---- Contradictions -------------------------------------------------------------------------- */

/* What is waited for is stamped before it can end a wait: not so of a lock's release, or of who wakes others. */
static bool is_stamped_before(const struct graph_node *node)
{
	bool message = node->what == GRAPH_RECEIVED || node->what == GRAPH_WAITED_FOR || node->what >= GRAPH_COLLECTIVE;
	return !node->loose && (node->kind == GRAPH_SYNC || (node->kind == GRAPH_ARRIVAL && message));
}

/* No earlier than that was the last that a node waited for. */
static int64_t last_input(struct builder *b, const struct graph_node *node)
{
	const struct graph *g = b->graph;
	int64_t last = INT64_MIN;
	for (size_t i = 0; is_stamped_before(node) && i < node->ninputs; i++) {
		const struct graph_input *input = &g->inputs[node->first + i];
		if (!graph_was_waited_for(node, i, input))
			continue;
		int64_t lo = frz_time_of(&b->cursors[g->trace->threads[input->thread].clock], input->stamp).lo;
		last = lo > last ? lo : last;
	}
	return last;
}

/* Waits that were over before what ended them: messages are matched by their order, which may be wrong in a damaged trace. */
static void find_contradictions(struct builder *b)
{
	struct graph *g = b->graph;
	int64_t *last = spill_zeros(b->spill, g->nnodes, sizeof *last);
	for (size_t i = 0; i < g->nnodes; i++, spill_relax(b->spill))
		last[i] = last_input(b, &g->nodes[i]);
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		struct frz_cursor *cursor = &b->cursors[g->trace->threads[t].clock];
		for (size_t i = 0; i < g->threads[t].nsyncs; i++, spill_relax(b->spill)) {
			const struct graph_sync_point *s = &g->threads[t].syncs[i];
			if (s->what != GRAPH_WAITS || frz_time_of(cursor, s->stamp).hi >= last[s->number])
				continue;
			g->nodes[s->number].behind = true;
			graph_diagnose(&b->behind, (struct event_ref){ t, s->at, s->stamp }, TR_NO_SITE);
		}
	}
	spill_free(b->spill, last);
}

static void add_matches(struct builder *b)
{
	struct match_log *log = b->graph->times->program.matches; /* where links came of it */
	struct match_walk *walk = match_walk_open(b->graph->trace, match_slack(b->graph->trace),
						  match_log_is_full(log) ? log : NULL);
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
		spill_relax(b->spill);
		uint32_t from = g->trace->threads[m->sent.thread].clock;
		uint32_t to = g->trace->threads[m->begun.thread].clock;
		uint64_t *longest = &eager[from * n + to];
		if (m->sent_until == UINT64_MAX || m->synchronous || m->bytes <= *longest)
			continue;
		struct moment ended = { from, m->sent_until }, began = { to, m->begun.stamp };
		if (times_between_near(g->times, b->cursors, ended, began).lo > 0)
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
	return m->synchronous || (m->bytes > eager[pair] && !m->buffered);
}

static struct event_ref call_of(const struct mpi_calls *calls, size_t i, uint32_t thread)
{
	return (struct event_ref){ thread, calls->v[i].at, calls->v[i].stamp };
}

static size_t first_call_behind(const struct mpi_calls *calls, uint64_t at)
{
	return SEARCH(calls->n, mid, calls->v[mid].at <= at);
}

/* Of two moments: of one clock as they are stamped, and else by the earliest that each may have been. In one order for all, no two are behind each
 * other. */
static bool comes_behind(const struct builder *b, struct event_ref x, struct event_ref y)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	uint32_t c = threads[x.thread].clock, d = threads[y.thread].clock;
	if (c == d)
		return x.stamp >= y.stamp;
	return frz_time_of(&b->cursors[c], x.stamp).lo >= frz_time_of(&b->cursors[d], y.stamp).lo;
}

/* What a send has copied, which is the last input, may go on only when its sender calls MPI again, if that was not behind the
 * end. True: that is open, and what happened there stays hidden. */
static bool add_next_call(const struct builder *b, const struct message *m, struct event_ref end, struct node_input *inputs,
			  size_t *n)
{
	const struct mpi_calls *calls = &b->calls[m->sent.thread];
	size_t next = first_call_behind(calls, m->sent.at);
	if (next == calls->n)
		return false;
	struct event_ref call = call_of(calls, next, m->sent.thread), sent = m->sent;
	frz_time until_end = between(b, call, end);
	if (comes_behind(b, call, end)) {
		inputs[*n - 1].next = until_end.hi >= 0 ? call.stamp : 0;
		inputs[*n - 1].next_at = call.at;
		return until_end.hi >= 0;
	}
	sent.stamp = m->sent_until < call.stamp ? m->sent_until : call.stamp;
	inputs[(*n)++] = (struct node_input){ .ref = call, .bytes = m->bytes, .candidate = true, .goes_on = true,
					      .follows = between(b, sent, call).hi < until_end.lo };
	return false;
}

/* How many calls of MPI of a thread were certainly before. */
static size_t calls_before(const struct builder *b, uint32_t thread, struct event_ref end)
{
	const struct mpi_calls *calls = &b->calls[thread];
	return SEARCH(calls->n, mid, certainly_before(b, call_of(calls, mid, thread), end));
}

/* Without progress outside of MPI, what the other side has begun goes on when it calls MPI again: the last such call
 * that is known to have been before `end`. `sends`: it sends the last input. */
static void add_progress(const struct builder *b, struct event_ref begun, struct event_ref end,
			 struct node_input *inputs, size_t *n, bool sends)
{
	const struct mpi_calls *calls = &b->calls[begun.thread];
	size_t before = calls_before(b, begun.thread, end);
	uint64_t bytes = sends ? inputs[*n - 1].bytes : 0;
	if (before > 0 && calls->v[before - 1].at > begun.at)
		inputs[(*n)++] = (struct node_input){ .ref = call_of(calls, before - 1, begun.thread), .bytes = bytes,
						      .candidate = true, .goes_on = sends };
}

/* A send that was over before its receive was begun may have waited until its receiver called MPI, which takes what it finds: the last
 * such call behind the begin of the send. */
static void add_call_of_receiver(const struct builder *b, const struct completion *x, const struct message *m,
				 struct node_input *inputs, size_t *n)
{
	uint32_t thread = m->begun.thread;
	size_t before = calls_before(b, thread, x->exit);
	struct event_ref call = before ? call_of(&b->calls[thread], before - 1, thread) : x->enter;
	if (certainly_before(b, x->enter, call))
		inputs[(*n)++] = (struct node_input){ .ref = call, .candidate = true };
}

/* Whether the send may be complete before its receive is begun, which is of this message in every run. */
static bool is_late(const struct builder *b, const struct completion *x, const struct message *m)
{
	return !m->synchronous && !m->buffered && !m->by_choice && m->received != UINT64_MAX &&
	       !certainly_before(b, m->begun, x->exit);
}

/* Of the node that was made last. */
static void add_late_receives(struct builder *b, const struct completion *x)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct message *m = &b->messages[x->attached[i].message];
		if (!x->attached[i].as_sender || !is_late(b, x, m))
			continue;
		struct event_ref received = { .thread = m->begun.thread, .stamp = m->received };
		int64_t until = between(b, m->sent, received).hi, own = between(b, m->sent, x->exit).hi;
		add_late(b, m->begun, until > own ? until : own);
	}
}

/* What one message that is completed adds to the inputs, and says of the node. */
static void add_end_of(struct builder *b, const struct completion *x, const struct message *m, bool as_sender,
		       const uint64_t *eager, struct node_input *inputs, size_t *n, struct graph_node *says)
{
	if (!as_sender) {
		inputs[(*n)++] = (struct node_input){ .ref = m->sent, .sure = m->sure, .bytes = m->bytes,
						      .needed = m->sure && !m->by_choice && !x->by_choice,
						      .candidate = m->possible };
		if (m->sends_on)
			add_progress(b, m->sent, x->exit, inputs, n, true);
		else
			says->hidden |= add_next_call(b, m, x->exit, inputs, n);
		says->hidden |= m->sends_on;
		says->loose |= m->by_choice || x->by_choice;
		says->hidden |= m->by_choice || x->by_choice; /* whom it would have chosen then */
		says->delayed |= m->sends_on || m->by_choice || x->by_choice;
		return;
	}
	if (m->buffered)
		return;
	bool before = certainly_before(b, m->begun, x->exit), late = is_late(b, x, m);
	bool waits = waits_for_receiver(b, m, eager) && (m->synchronous || !certainly_before(b, x->exit, m->begun));
	if (waits || before)
		inputs[(*n)++] = (struct node_input){ .ref = m->begun, .sure = m->synchronous, .receiver = true,
						      .bytes = m->bytes, .needed = m->synchronous && !x->by_choice,
						      .candidate = !m->synchronous };
	else if (x->n == 1 && !m->receives_on)
		add_call_of_receiver(b, x, m, inputs, n);
	if (m->receives_on)
		add_progress(b, m->begun, x->exit, inputs, n, false);
	says->hidden |= !m->synchronous || m->receives_on;
	says->loose |= x->by_choice;
	says->hidden |= x->by_choice;
	says->late |= late;
	says->delayed |= x->by_choice || m->receives_on || (!m->synchronous && !before && !late);
}

/* One message of several that might have come first; its input is the first one behind the begin. */
static void note_choice(struct builder *b, const struct completion *x)
{
	const struct message *m = &b->messages[x->attached[0].message];
	uint32_t process = b->graph->trace->threads[x->exit.thread].process;
	if (x->n == 1 && !x->attached[0].as_sender && m->by_choice)
		graph_turn(b, (struct graph_turn){ .first = 1 + x->begin.tried, .n = 1,
						   .queue = graph_inbox(b, process, x->by_choice ? TR_NO_SITE : m->received_at) });
}

static void add_completion(struct builder *b, const struct completion *x, const uint64_t *eager)
{
	struct node_input few[2 + BEGIN_INPUTS], *inputs = x->n > 1 ? mem_resize(NULL, 2 * x->n + BEGIN_INPUTS, sizeof *inputs) : few;
	struct graph_node says = { .loose = x->begin.tried, .delayed = x->begin.tried, .hidden = x->begin.tried }, *node;
	size_t n = graph_begin_inputs(&x->begin, inputs);
	for (size_t i = 0; i < x->n; i++)
		add_end_of(b, x, &b->messages[x->attached[i].message], x->attached[i].as_sender, eager, inputs, &n, &says);
	if (x->n == 1 && n == 2 && inputs[1].receiver && !inputs[1].candidate) { /* a send that is matched with its receive */
		uint32_t number = graph_add_node(b, GRAPH_SYNC, inputs, n);
		graph_wait(b, x->exit, number);
		node = &b->graph->nodes[number];
	} else {
		node = graph_arrival(b, x->exit, x->what, inputs, n);
	}
	node->hidden = says.hidden;
	node->loose = says.loose;
	node->delayed = says.delayed;
	if (says.late && !says.delayed)
		add_late_receives(b, x);
	note_choice(b, x);
	if (inputs != few)
		free(inputs);
}

void graph_keep_completion(struct builder *b, const struct completion *x)
{
	bool elsewhere = x->begin.tried || x->begin.enter.at != x->enter.at;
	if (elsewhere)
		*SPILL_GROW(b->spill, b->begins, b->nbegins) = x->begin;
	*SPILL_GROW(b->spill, b->completions, b->ncompletions) = (struct kept_completion){
		.enter_at = x->enter.at, .enter = x->enter.stamp, .exit_at = x->exit.at, .exit = x->exit.stamp,
		.thread = x->enter.thread, .first = (uint32_t)b->nattached, .n = (uint32_t)x->n,
		.waited_for = x->what == GRAPH_WAITED_FOR, .by_choice = x->by_choice,
		.begin = elsewhere ? (uint32_t)b->nbegins : 0 };
	for (size_t i = 0; i < x->n; i++)
		*SPILL_GROW(b->spill, b->attached, b->nattached) = x->attached[i];
}

static struct completion completion_of(const struct builder *b, const struct kept_completion *k)
{
	struct event_ref enter = { k->thread, k->enter_at, k->enter };
	return (struct completion){ enter, { k->thread, k->exit_at, k->exit },
				    k->begin ? b->begins[k->begin - 1] : (struct wait_begin){ .enter = enter },
				    k->waited_for ? GRAPH_WAITED_FOR : GRAPH_RECEIVED, k->by_choice,
				    b->attached + k->first, k->n };
}

/* Whoever looked for a message may have looked for one from anyone, and then have named who sent it. */
static bool was_looked_for(const struct builder *b, const struct kept_completion *x)
{
	return x->begin && b->begins[x->begin - 1].tried;
}

/* A receive that goes on behind its call, or when it is over; or is one of several that may be complete first. */
static void find_pending(struct builder *b)
{
	for (size_t i = 0; i < b->ncompletions; i++) {
		const struct kept_completion *x = &b->completions[i];
		spill_relax(b->spill);
		for (size_t k = 0; k < x->n; k++) {
			struct message *m = &b->messages[b->attached[x->first + k].message];
			if (b->attached[x->first + k].as_sender)
				continue;
			m->receives_on |= m->begun.thread != x->thread || m->begun.at < x->enter_at ||
					  tr_is(b->graph->trace, m->received_at, OP_IN_TWO);
			m->received = m->receives_on ? UINT64_MAX : x->exit;
			m->by_choice |= (x->by_choice || was_looked_for(b, x)) && b->graph->trace->nprocesses > 2;
		}
	}
}

static void add_completions(struct builder *b)
{
	uint64_t *eager = find_eager(b);
	find_pending(b);
	for (size_t i = 0; i < b->ncompletions; i++) {
		struct completion x = completion_of(b, &b->completions[i]);
		add_completion(b, &x, eager);
	}
	free(eager);
}

/* ---- Waits of which there is no record -------------------------------------------------------- */

/* What a thread of such a process does may begin later in another run. */
static void let_go_of_unseen(struct builder *b)
{
	const struct trace *trace = b->graph->trace;
	for (uint32_t t = 0; t < trace->nthreads; t++)
		if (b->may_wait[trace->threads[t].process] && b->graph->threads[t].nevents > 0)
			graph_give(b, (struct event_ref){ t, 0, b->graph->threads[t].first }, GRAPH_DEALT);
}

/* ---- Ends of threads ------------------------------------------------------------------------- */

static void add_join(struct builder *b, const struct joins *j)
{
	const struct graph_thread *t = &b->graph->threads[j->thread];
	const struct trace *trace = b->graph->trace;
	uint64_t slack = 2 * trace->clocks[trace->threads[j->thread].clock].uncertainty;
	if (t->nevents == 0 || t->last > j->exit.stamp + slack) {
		graph_diagnose(&b->alone, j->exit, j->site);
		graph_unknown(b, j->begin, j->exit);
		return;
	}
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&j->begin, inputs);
	inputs[n++] = (struct node_input){ .ref = { j->thread, t->nevents - 1, t->last }, .sure = true,
					   .needed = true };
	struct graph_node *node = graph_arrival(b, j->exit, GRAPH_JOINED, inputs, n);
	node->loose = node->delayed = node->hidden = j->begin.tried;
}

static int by_exit(const void *x, const void *y)
{
	const struct joins *a = x, *b = y;
	if (a->exit.thread != b->exit.thread)
		return a->exit.thread < b->exit.thread ? -1 : 1;
	return (a->exit.at > b->exit.at) - (a->exit.at < b->exit.at);
}

static void add_joins(struct builder *b)
{
	runs_sort(b->spill, b->joins, b->njoins, sizeof *b->joins, by_exit);
	for (size_t i = 0; i < b->njoins; i++)
		add_join(b, &b->joins[i]);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void sort_sync_points(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		runs_sort(g->spill, g->threads[t].syncs, g->threads[t].nsyncs, sizeof *g->threads[t].syncs, by_event);
}

void graph_add_probes(struct graph *g, const struct graph_probe *probes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_sync_point(g, probes[i].thread,
			       (struct graph_sync_point){ probes[i].at, probes[i].stamp,
							  GRAPH_PROBE, (uint32_t)i });
	sort_sync_points(g);
}

/* Whether it went on until its process ended, and may have ended that: who was in an operation did not. */
static bool may_have_ended_it(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->threads[thread].ran_on && !b->parked[thread];
}

/* It was in a marked region then: it may have called exit() there, but more likely another did who was in none. */
static bool was_at_work(const struct builder *b, uint32_t thread)
{
	const struct trace *t = b->graph->trace;
	bool marked = false;
	for (size_t i = 0; i < t->threads[thread].nopen; i++) {
		uint32_t site = t->threads[thread].open[i];
		marked |= tr_is(t, site, OP_REGION) && !t->sites[site].automatic;
	}
	return marked;
}

/* How many of a thread's process may have, or most likely did. */
struct enders { size_t all, likely; };

static struct enders count_enders(const struct builder *b, uint32_t thread)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	struct enders n = { 0, 0 };
	uint32_t t = thread;
	while (t > 0 && threads[t - 1].process == threads[thread].process)
		t--;
	for (; t < b->graph->trace->nthreads && threads[t].process == threads[thread].process; t++) {
		n.all += may_have_ended_it(b, t);
		n.likely += may_have_ended_it(b, t) && !was_at_work(b, t);
	}
	return n;
}

/* From outside, perhaps: then it need not come as far in another run. */
static bool was_stopped(const struct builder *b, uint32_t thread)
{
	const struct trace *t = b->graph->trace;
	return t->nprocesses > 1 && !t->processes[t->threads[thread].process].finished;
}

/* What was last first, in this run. */
static int by_end(const struct builder *b, const struct node_input *x, const struct node_input *y)
{
	return certainly_before(b, x->ref, y->ref) - certainly_before(b, y->ref, x->ref);
}

/* Of several threads that their process's end has stopped, any one may have ended it; then the others were not waited for.
 * Nor was a process that another one has stopped. */
static void add_end(struct builder *b)
{
	struct graph *g = b->graph;
	struct node_input *inputs = mem_resize(NULL, g->trace->nthreads + 1, sizeof *inputs);
	size_t n = 0;
	bool unsure = false;
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		struct enders enders = g->trace->threads[t].ran_on ? count_enders(b, t) : (struct enders){ 0, 0 };
		if (g->threads[t].nevents == 0 || (b->parked[t] && enders.all > 0))
			continue;
		bool one_of = was_stopped(b, t) || (may_have_ended_it(b, t) && enders.all > 1);
		bool other = one_of && !was_stopped(b, t) && enders.likely > 0 && was_at_work(b, t);
		inputs[n] = (struct node_input){ .ref = { t, g->threads[t].nevents - 1, g->threads[t].last },
						 .sure = true, .needed = !one_of, .candidate = other };
		unsure |= one_of;
		if (n > 0 && by_end(b, &inputs[n], &inputs[0]) < 0) {
			struct node_input first = inputs[0];
			inputs[0] = inputs[n];
			inputs[n] = first;
		}
		n++;
	}
	g->end = graph_add_node(b, GRAPH_SYNC, inputs, n);
	g->nodes[g->end].stamp = n ? inputs[0].ref.stamp : 0;
	g->nodes[g->end].hidden = g->nodes[g->end].delayed = unsure;
	free(inputs);
}

static void find_first_stamps(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		uint64_t first, last;
		g->threads[t].first = trace_ends(&g->trace->threads[t], &first, &last) ? first : UINT64_MAX;
	}
}

static void builder_close(struct builder *b)
{
	void *spilled[] = { b->messages, b->joins, b->completions, b->begins, b->attached, b->sync_events, b->made,
			    b->runs, b->depends, b->fulfilled, b->task_waits, b->moved, b->process_forks,
			    b->process_waits, b->bare, b->talks, b->inboxes };
	for (size_t i = 0; i < sizeof spilled / sizeof *spilled; i++)
		spill_free(b->spill, spilled[i]);
	for (size_t t = 0; t < b->graph->trace->nthreads; t++) {
		spill_free(b->spill, b->calls[t].v);
		spill_free(b->spill, b->barriers[t].v);
	}
	free(b->marks);
	free(b->calls);
	free(b->barriers);
	free(b->cursors);
	free(b->passes);
	free(b->fork);
	free(b->parked);
	free(b->listens);
	free(b->has_futexes);
	free(b->may_wait);
	ids_free(&b->inboxes_of);
	free(b->inbox_queues);
	ids_free(&b->constructs);
	ids_free(&b->comings);
	free(b->groups_of);
	free(b->times_come);
}

const struct graph_open *graph_next_call(const struct graph *g, const struct graph_input *input)
{
	size_t number = (size_t)(input - g->inputs);
	size_t lo = SEARCH(g->nopens, mid, g->opens[mid].input < number);
	return &g->opens[lo];
}

uint64_t graph_latest_stamp(const struct graph *g, const struct graph_input *input)
{
	return input->open ? graph_next_call(g, input)->stamp : input->stamp;
}

struct span graph_span(const struct graph *g)
{
	size_t n = g->trace->nthreads;
	struct ends *ends = mem_resize(NULL, n, sizeof *ends);
	for (size_t t = 0; t < n; t++)
		ends[t] = times_ends(&g->trace->threads[t]);
	struct span span = times_span(g->times, g->times->time_base[g->trace->threads[0].clock], ends);
	free(ends);
	return span;
}

#define SIDE_BY_SIDE 4 /* arrays of a thread that grow: marks, calls, barriers, synchronisation points */

void graph_open(struct graph *g, const struct trace *trace, const struct times *times)
{
	size_t n = trace->nthreads;
	*g = (struct graph){ .trace = trace, .times = times, .unseen = TR_NO_SITE, .spill = spill_open(SIDE_BY_SIDE * n) };
	struct builder b = { .graph = g, .spill = g->spill, .cursors = times_cursors(times) };
	g->threads = mem_resize(NULL, n + 1, sizeof *g->threads);
	b.marks = mem_resize(NULL, n + 1, sizeof *b.marks);
	b.passes = mem_resize(NULL, trace->nsites + 1, sizeof *b.passes);
	b.calls = mem_resize(NULL, n + 1, sizeof *b.calls);
	memset(b.calls, 0, n * sizeof *b.calls);
	b.barriers = mem_resize(NULL, n + 1, sizeof *b.barriers);
	memset(b.barriers, 0, n * sizeof *b.barriers);
	b.fork = mem_resize(NULL, n + 1, sizeof *b.fork);
	b.parked = mem_resize(NULL, n + 1, sizeof *b.parked);
	memset(b.parked, 0, n * sizeof *b.parked);
	b.listens = mem_resize(NULL, n + 1, sizeof *b.listens);
	memset(b.listens, 0, n * sizeof *b.listens);
	b.has_futexes = mem_resize(NULL, n + 1, sizeof *b.has_futexes);
	memset(b.has_futexes, 0, n * sizeof *b.has_futexes);
	b.may_wait = mem_resize(NULL, trace->nprocesses + 1, sizeof *b.may_wait);
	memset(b.may_wait, 0, trace->nprocesses * sizeof *b.may_wait);
	g->entered = mem_resize(NULL, trace->nsites + 1, sizeof *g->entered);
	memset(g->entered, 0, trace->nsites + 1);
	memset(g->threads, 0, n * sizeof *g->threads);
	memset(b.marks, 0, n * sizeof *b.marks);
	for (size_t t = 0; t < n; t++)
		b.fork[t].at = NO_FORK;
	progress_begin("finding wait dependencies",
		       (1 + !match_log_is_full(times->program.matches)) * trace_records(trace));
	find_first_stamps(g);
	add_matches(&b);
	for (uint32_t s = 0; s < trace->nsites; s++)
		b.passes[s] = graph_passes(trace, s);
	graph_walks(&b);
	for (uint32_t s = 0; s < trace->nsites; s++)
		g->entered[s] |= (b.passes[s] & TR_PASS_ENTERED) != 0;
	graph_begins(&b);
	graph_processes(&b);
	progress_end();
	graph_inboxes(&b);
	add_completions(&b);
	add_joins(&b);
	graph_bytes(&b);
	graph_masters(&b);
	graph_locks(&b);
	let_go_of_unseen(&b);
	graph_tasks(&b);
	graph_bare_barriers(&b);
	add_end(&b);
	sort_sync_points(g);
	find_contradictions(&b);
	say_diagnostics(&b);
	builder_close(&b);
}

struct graph_said graph_take_said(struct graph *g)
{
	struct graph_said said = g->said;
	g->said = (struct graph_said){ 0 };
	return said;
}

void graph_said_tell(const struct graph_said *said, struct trace *trace)
{
	for (size_t i = 0; i < said->ndiagnostics; i++)
		trace_diagnose(trace, "%s", said->diagnostics[i]);
	for (size_t i = 0; i < said->nnotes; i++)
		trace_note(trace, said->notes[i]);
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void graph_said_close(struct graph_said *said)
{
	free_texts(said->diagnostics, said->ndiagnostics);
	free_texts(said->notes, said->nnotes);
}

void graph_close(struct graph *g)
{
	graph_said_close(&g->said);
	free(g->threads);
	free(g->entered);
	free(g->dealers);
	free(g->unsaid);
	free(g->queues);
	free(g->groups);
	spill_close(g->spill);
}

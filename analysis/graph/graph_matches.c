/* SPDX-License-Identifier: MIT
 *
 * graph_matches.c - what match.h finds: nodes of collective operations, and marks on threads, where the walk finds in
 * which operation a message was completed. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_messages.h"

static struct event_ref enter_of(const struct match_part *p)
{
	return (struct event_ref){ p->thread, p->enter_at, p->enter };
}

static struct event_ref done_of(const struct match_part *p)
{
	return (struct event_ref){ p->done_in, p->done_at, p->done };
}

static void add_mark(struct builder *b, struct message_records *r, uint32_t thread, struct event_mark mark)
{
	struct event_marks *marks = &r->marks[thread];
	*SPILL_GROW(b->spill, marks->v, marks->n) = mark;
	runs_settle(marks->v, marks->n, sizeof *marks->v, graph_by_mark);
}

static void explain(struct builder *b, struct message_records *r, const struct match_part *p)
{
	add_mark(b, r, p->thread, (struct event_mark){ p->enter_at, MARK_EXPLAINED, 0 });
}

/* One number for both ranks and the group. */
static uint64_t ranks_of(const struct builder *b, const struct match *m)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	uint64_t from = threads[m->parts[0].thread].process, to = threads[m->parts[1].thread].process;
	return ids_mix(from << 32 | to, m->group);
}

static void add_message(struct builder *b, struct message_records *r, const struct match *m)
{
	const struct match_part *sender = &m->parts[0], *receiver = &m->parts[1];
	uint32_t number = (uint32_t)r->n;
	uint64_t bytes = sender->bytes != MATCH_NO_BYTES ? sender->bytes : receiver->bytes, ranks = ranks_of(b, m);
	bool sure = bytes != 0 || !tr_is(b->graph->trace, receiver->site, OP_OF_RANKS);
	*SPILL_GROW(b->spill, r->v, r->n) = (struct message){
		.sent = enter_of(sender), .begun = enter_of(receiver), .sent_until = UINT64_MAX, .received = UINT64_MAX,
		.bytes = bytes == MATCH_NO_BYTES ? 0 : bytes,
		.synchronous = tr_is(b->graph->trace, sender->site, OP_SYNCHRONOUS),
		.buffered = tr_is(b->graph->trace, sender->site, OP_BUFFERED),
		.sends_on = tr_is(b->graph->trace, sender->site, OP_BUFFERED), .sure = sure, .possible = !sure,
		.by_choice = m->of_any && b->graph->trace->nprocesses > 2, .received_at = receiver->site,
		.tag = (uint32_t)m->number, .stream = ids_mix(ranks, m->number) | 1, .kind = ids_mix(m->group + 1, m->number),
		.ranks = ranks, .of_tags = m->of_tags,
		.accepts = m->of_any ? ids_mix(m->group + 1, m->of_tags ? UINT64_MAX : m->number) : 0 };
	add_mark(b, r, sender->thread, (struct event_mark){ sender->enter_at, MARK_SENDS, number });
	add_mark(b, r, receiver->done_in, (struct event_mark){ receiver->done_at, MARK_COMPLETES, number });
	graph_put_in(b, r, m, number);
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

/* Who is given nothing need not wait for whom that would come from, but may. */
static struct node_input given_by(const struct match *m, const struct match_part *p, const struct match_part *self)
{
	struct node_input input = input_of(p, self);
	bool nothing = m->flow == FLOW_FROM_ROOT && self->bytes == 0;
	input.sure &= !nothing;
	input.needed &= !nothing;
	return input;
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
		int64_t until = graph_between(b, enter_of(self), done_of(&m->parts[i])).hi;
		most = until > most ? until : most;
	}
	return most;
}

/* How long all that is done in it can take at most once everybody has come: until all had left here, from when the last one
 * came. */
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
		int64_t lag = ticks_minus(takes, graph_between(b, enter_of(&m->parts[k]), done_of(&m->parts[self])).lo);
		if (lag > 0)
			graph_add_late(b, enter_of(&m->parts[k]), lag);
	}
}

/* What an exit waits for, which is a node: by what is sent, and perhaps by any other participant. */
static struct graph_node *add_flow_to(struct builder *b, const struct match *m, size_t i, int64_t takes, struct node_input *inputs)
{
	const struct match_part *self = &m->parts[i], *late[MOST_CANDIDATES];
	bool many = m->nparts > MOST_CANDIDATES, sends = may_send(b, m, self), dataless = false;
	size_t n = 0, nlate = 0;
	inputs[n++] = input_of(self, self);
	for (size_t k = 0; k < m->nparts; k++) {
		const struct match_part *other = &m->parts[k];
		if (k == i)
			continue;
		struct node_input given = given_by(m, other, self);
		bool missed = !given.sure && graph_certainly_before(b, done_of(self), given.ref);
		given.candidate = !given.sure;
		dataless |= may_wait_for(m, self, other) && given.candidate;
		if (may_wait_for(m, self, other) && !missed)
			inputs[n++] = given;
		else if (many)
			continue;
		else if (graph_certainly_before(b, enter_of(other), done_of(self)))
			inputs[n++] = (struct node_input){ .ref = enter_of(other), .candidate = true };
		else
			late[nlate++] = other;
	}
	for (size_t k = 0; k < nlate && sends; k++) /* who has what goes to others goes on when one of them calls MPI, for whatever */
		n += graph_add_call(b, late[k]->thread, enter_of(self), done_of(self), &inputs[n]);
	struct graph_node *node =
		graph_arrival(b, done_of(self), GRAPH_COLLECTIVE + b->graph->trace->sites[self->site].alike, inputs, n);
	int64_t lag = nlate ? until_all_left(b, m, self) : 0;
	node->hidden = many || dataless || sends;
	node->delayed = many || lag == INT64_MAX;
	for (size_t k = 0; k < nlate && !node->delayed; k++)
		graph_add_late(b, enter_of(late[k]), lag);
	if (!node->delayed)
		add_gathering(b, m, i, takes);
	return node;
}

/* Of a part that has left, and may have waited until another one came back to MPI. */
static void note_exit(struct builder *b, struct message_records *r, const struct match_part *p, bool waits)
{
	*SPILL_GROW(b->spill, r->left, r->nleft) = (struct left_mpi){ done_of(p), p->done, waits };
}

static void note_exits(struct builder *b, struct message_records *r, size_t first, bool all)
{
	*SPILL_GROW(b->spill, r->together, r->ntogether) = 
		(struct left_together){ first, (uint32_t)(r->nleft - first), all, { .at = NO_EVENT } };
}

/* One node for each who left. */
static void add_flow(struct builder *b, struct message_records *r, const struct match *m)
{
	struct node_input *inputs = mem_resize(NULL, m->nparts, sizeof *inputs);
	int64_t takes = m->nparts > MOST_CANDIDATES ? 0 : all_of_it(b, m);
	bool of_ranks = tr_is(b->graph->trace, m->parts[0].site, OP_OF_RANKS), any = false;
	size_t first = r->nleft;
	for (size_t i = 0; i < m->nparts; i++) {
		if (m->parts[i].done_at == MATCH_NEVER) /* as where records are lost, and another one seems to have left twice */
			continue;
		bool waits = !add_flow_to(b, m, i, takes, inputs)->hidden;
		if (of_ranks)
			note_exit(b, r, &m->parts[i], waits);
		any |= waits;
	}
	if (of_ranks && any)
		note_exits(b, r, first, false);
	free(inputs);
}

static void keep_flow(struct builder *b, struct message_records *r, const struct match *m)
{
	*SPILL_GROW(b->spill, r->flows, r->nflows) = (struct kept_flow){ m->flow, r->nflow_parts, m->nparts };
	for (size_t i = 0; i < m->nparts; i++)
		*SPILL_GROW(b->spill, r->flow_parts, r->nflow_parts) = m->parts[i];
}

void graph_flows(struct builder *b, struct message_records *r)
{
	for (size_t i = 0; i < r->nflows; i++, spill_relax(b->spill)) {
		const struct kept_flow *k = &r->flows[i];
		add_flow(b, r, &(struct match){ .flow = k->flow, .nparts = k->n, .parts = r->flow_parts + k->first });
	}
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

/* ---- Much data, of all to all ------------------------------------------------------------------- */

/* The most that one of them gives; or MATCH_NO_BYTES: nobody says how much. */
static uint64_t most_bytes(const struct match *m)
{
	uint64_t most = 0;
	for (size_t i = 0; i < m->nparts; i++)
		most = m->parts[i].bytes > most ? m->parts[i].bytes : most;
	return most;
}

/* Who left first, or NULL. */
static const struct match_part *first_to_leave(const struct builder *b, const struct match *m)
{
	const struct match_part *first = NULL;
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *p = &m->parts[i];
		if (p->done_at != MATCH_NEVER && (!first || graph_certainly_before(b, done_of(p), done_of(first))))
			first = p;
	}
	return first;
}

static void note_all_to_all(struct builder *b, struct message_records *r, const struct match *m, uint32_t node)
{
	const struct tr_site *site = &b->graph->trace->sites[m->parts[0].site];
	const struct match_part *first = first_to_leave(b, m);
	uint64_t bytes = most_bytes(m);
	struct all_to_all x = { .took = { INT64_MAX, INT64_MAX }, .node = node };
	if (site->kind != DPROF_KIND_COLL || bytes <= GRAPH_EAGER || !first)
		return;
	for (size_t i = 0; i < m->nparts; i++) {
		frz_time since = graph_between(b, enter_of(&m->parts[i]), done_of(first));
		x.took.lo = since.lo < x.took.lo ? since.lo : x.took.lo;
		x.took.hi = since.hi < x.took.hi ? since.hi : x.took.hi;
	}
	x.class = ids_mix(ids_mix(site->alike, m->nparts), 64 - (unsigned)__builtin_clzll(bytes));
	*SPILL_GROW(b->spill, r->all_to_all, r->nall_to_all) = x;
}

/* Those that took less than another of their class. */
static void find_longest(struct builder *b, const struct message_records *r)
{
	struct ids classes = { .n = 0 };
	int64_t *most = NULL;
	size_t n = 0;
	for (size_t i = 0; i < r->nall_to_all; i++, spill_relax(b->spill)) {
		const struct all_to_all *x = &r->all_to_all[i];
		if (ids_add(&classes, x->class))
			*MEM_GROW(most, n) = 0;
		int64_t *of = &most[ids_find(&classes, x->class)];
		*of = x->took.hi > *of ? x->took.hi : *of;
	}
	for (size_t i = 0; i < r->nall_to_all; i++, spill_relax(b->spill)) {
		const struct all_to_all *x = &r->all_to_all[i];
		struct graph_node *node = &b->graph->nodes[x->node];
		int64_t longest = most[ids_find(&classes, x->class)], least = x->took.lo > 0 ? x->took.lo : 0;
		if (x->took.hi >= longest)
			continue;
		node->what = GRAPH_EXCHANGED;
		b->graph->inputs[node->first].amount = (uint64_t)(longest - least);
	}
	ids_free(&classes);
	free(most);
}

/* One node for all. Where they do not surely wait for each other, nobody knows who waited for whom, unless it was only by chance
 * who they are; or it is MPI_Finalize, where the recorder itself has all come. */
static void add_all(struct builder *b, struct message_records *r, const struct match *m, bool needed)
{
	struct node_input *inputs = mem_resize(NULL, m->nparts, sizeof *inputs);
	for (size_t i = 0; i < m->nparts; i++) {
		inputs[i] = input_of(&m->parts[i], NULL);
		inputs[i].needed &= needed;
		inputs[i].bytes = 0;
	}
	uint32_t node = graph_add_node(b, GRAPH_SYNC, inputs, m->nparts);
	struct graph_node *chance = &b->graph->nodes[node];
	chance->loose = chance->hidden = chance->delayed = m->by_chance;
	chance->keyed = needed;
	chance->guessed = !needed && !m->by_chance && b->graph->trace->sites[m->parts[0].site].kind == DPROF_KIND_COLL;
	bool of_ranks = tr_is(b->graph->trace, m->parts[0].site, OP_OF_RANKS) && !m->by_chance;
	size_t first = r->nleft;
	for (size_t i = 0; i < m->nparts; i++) {
		if (m->parts[i].done_at == MATCH_NEVER)
			continue;
		graph_wait(b, done_of(&m->parts[i]), node);
		if (of_ranks)
			note_exit(b, r, &m->parts[i], true);
	}
	if (of_ranks)
		note_exits(b, r, first, true);
	free(inputs);
	if (needed)
		note_all_to_all(b, r, m, node);
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

/* Nobody knows what ended it. Of what another thread has completed that one's walk says so. */
static void end_unknown(struct builder *b, const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *p = &m->parts[i];
		if (p->done_at != MATCH_NEVER && p->done_in == p->thread)
			graph_unknown(b, (struct wait_begin){ .enter = enter_of(p) }, done_of(p));
	}
}

static void add_incomplete(struct builder *b, const struct match *m)
{
	if (!m->all_came && !was_ended(b->graph->trace, m))
		graph_diagnose(&b->diagnosed.missing, enter_of(&m->parts[0]), m->parts[0].site);
	end_unknown(b, m);
}

enum begun_wait { BEGUN_SURE, BEGUN_UNSURE, BEGUN_POSSIBLE };

/* Part `i` of what only began waits as if part `k` had sent it a message. */
static void add_begun_by(struct builder *b, struct message_records *r, const struct match *m, size_t i, size_t k,
			 enum begun_wait how)
{
	const struct match_part *self = &m->parts[i];
	struct node_input input = given_by(m, &m->parts[k], self);
	struct event_mark mark = { self->done_at, MARK_COMPLETES, (uint32_t)r->n };
	*SPILL_GROW(b->spill, r->v, r->n) = (struct message){
		.sent = input.ref, .begun = enter_of(self), .sent_until = UINT64_MAX, .received = UINT64_MAX,
		.bytes = input.bytes, .sure = input.sure && how == BEGUN_SURE, .possible = how == BEGUN_POSSIBLE, .sends_on = true,
		.of_begun = 1 + b->graph->trace->sites[self->site].alike };
	add_mark(b, r, self->done_in, mark);
}

/* Who needs nothing, such as the root of MPI_Ibcast, may have to wait until others take what it gives. */
static void add_begun_possible(struct builder *b, struct message_records *r, const struct match *m, size_t i)
{
	size_t n = 0;
	for (size_t k = 0; k < m->nparts && n < MOST_CANDIDATES && m->parts[i].done_at != MATCH_NEVER; k++)
		if (k != i && graph_certainly_before(b, enter_of(&m->parts[k]), done_of(&m->parts[i]))) {
			add_begun_by(b, r, m, i, k, BEGUN_POSSIBLE);
			n++;
		}
}

/* What only began is waited for as if each had sent a message to each who needs something of him. */
static void add_begun(struct builder *b, struct message_records *r, const struct match *m, bool sure)
{
	for (size_t i = 0; i < m->nparts; i++) {
		bool needs = false;
		for (size_t k = 0; k < m->nparts; k++) {
			if (k == i || (sure && !may_wait_for(m, &m->parts[i], &m->parts[k])))
				continue;
			add_begun_by(b, r, m, i, k, sure ? BEGUN_SURE : BEGUN_UNSURE);
			needs = true;
		}
		if (!needs)
			add_begun_possible(b, r, m, i);
	}
}

/* Who completed it before others came need not have waited for any of those who were there, but may. */
static void add_begun_unsure(struct builder *b, struct message_records *r, const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *self = &m->parts[i];
		size_t before = r->n;
		add_begun_possible(b, r, m, i);
		if (r->n > before || self->done_at == MATCH_NEVER)
			continue;
		add_mark(b, r, self->done_in, (struct event_mark){ self->done_at, MARK_COMPLETES, (uint32_t)r->n });
		*SPILL_GROW(b->spill, r->v, r->n) = (struct message){
			.sent = enter_of(self), .begun = enter_of(self), .sent_until = UINT64_MAX, .received = UINT64_MAX, .nobody = true };
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
static void add_collective(struct builder *b, struct message_records *r, const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++)
		explain(b, r, &m->parts[i]);
	bool nowhere = m->flow == FLOW_NOWHERE;
	if (m->unlike)
		graph_diagnose(&b->diagnosed.unlike, enter_of(&m->parts[0]), m->parts[0].site);
	if (!m->complete)
		add_incomplete(b, m);
	else if (m->begun && !(nowhere && certainly_missed(b->graph->times, m)))
		add_begun(b, r, m, !nowhere);
	else if (m->flow == FLOW_ALL && !(gives_nothing(m) && certainly_missed(b->graph->times, m)))
		add_all(b, r, m, !m->by_chance);
	else if (nowhere && !certainly_missed(b->graph->times, m))
		add_all(b, r, m, false);
	else if (m->begun && m->nparts <= MOST_CANDIDATES)
		add_begun_unsure(b, r, m);
	else if (!m->begun && (!nowhere || m->nparts <= MOST_CANDIDATES))
		keep_flow(b, r, m);
	else
		end_unknown(b, m);
}

/* Of its members only those that may end before their process does. */
static void note_left(struct builder *b, const struct match *m)
{
	const struct trace *trace = b->graph->trace;
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *p = &m->parts[i];
		const struct tr_thread *thread = &trace->threads[p->thread];
		if (p->root || p->done_at == MATCH_NEVER || !thread->complete || thread->ran_on)
			continue;
		struct left_team *left = &b->threads[p->thread].left;
		left->exit = done_of(p);
		left->site = p->site;
		left->ncame = m->nparts;
		left->came = mem_resize(left->came, m->nparts, sizeof *left->came);
		left->opener = p->thread;
		for (size_t k = 0; k < m->nparts; k++) {
			left->came[k] = enter_of(&m->parts[k]);
			if (m->parts[k].root)
				left->opener = m->parts[k].thread;
		}
	}
}

static void add_match(struct builder *b, struct message_records *r, const struct match *m)
{
	switch (m->kind) {
	case MATCH_MESSAGE: add_message(b, r, m); break;
	case MATCH_COLLECTIVE:
		add_collective(b, r, m);
		if (tr_is(b->graph->trace, m->parts[0].site, OP_TEAM_LEFT))
			note_left(b, m);
		break;
	case MATCH_SENT:
		*SPILL_GROW(b->spill, r->elsewhere, r->nelsewhere) =
			(struct sent_elsewhere){ enter_of(&m->parts[0]), done_of(&m->parts[0]) };
		break;
	case MATCH_CREATED:
	case MATCH_JOINED:  break; /* the walk knows more, where stamps are equal */
	case MATCH_UNTAKEN:
		graph_diagnose(&b->diagnosed.untaken, enter_of(&m->parts[0]), m->parts[0].site);
		break;
	case MATCH_UNSENT:  break; /* the walk finds it, and what the matcher doubts as well */
	}
}

/* The number of a message that is sent there, or none. Marks are in order. */
static uint32_t message_sent_at(const struct message_records *r, struct event_ref begun)
{
	const struct event_marks *marks = &r->marks[begun.thread];
	for (size_t i = SEARCH(marks->n, mid, marks->v[mid].at < begun.at); i < marks->n && marks->v[i].at == begun.at; i++)
		if (marks->v[i].what == MARK_SENDS)
			return marks->v[i].message;
	return NO_MESSAGE;
}

static void mark_sent_elsewhere(struct builder *b, struct message_records *r)
{
	for (size_t t = 0; t < b->graph->trace->nthreads && r->nelsewhere; t++)
		runs_sort(b->spill, r->marks[t].v, r->marks[t].n, sizeof *r->marks[t].v, graph_by_mark);
	for (size_t i = 0; i < r->nelsewhere; i++) {
		const struct sent_elsewhere *s = &r->elsewhere[i];
		struct event_mark mark = { s->done.at, MARK_SENT, message_sent_at(r, s->begun) };
		add_mark(b, r, s->done.thread, mark);
	}
	spill_free(b->spill, r->elsewhere);
}

void graph_matches(struct builder *b, struct message_records *r)
{
	struct match_walk *walk = match_walk_again(b->graph->trace, b->graph->times->program.matches);
	struct match m;
	while (match_walk_next(walk, &m))
		add_match(b, r, &m);
	match_walk_close(walk);
	mark_sent_elsewhere(b, r);
	find_longest(b, r);
}

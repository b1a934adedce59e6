/* SPDX-License-Identifier: MIT
 *
 * match.c - the events of each thread, one after the other, and what they settle. */
#include "analysis/match/match_private.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

/* ---- What is ready --------------------------------------------------------------------------- */

#define MOST_PARTS 2 /* of a match whose room is used again: nearly all */

struct ready *match_ready(struct matcher *m, enum match_kind kind, size_t nparts)
{
	struct ready *r = m->spare_ready;
	if (r && nparts <= MOST_PARTS) {
		m->spare_ready = r->next;
	} else {
		size_t room = nparts > MOST_PARTS ? nparts : MOST_PARTS;
		r = mem_resize(NULL, 1, sizeof *r + room * sizeof r->parts[0]);
		r->room = room;
	}
	r->next = NULL;
	r->match = (struct match){ .kind = kind, .flow = FLOW_NOWHERE, .nparts = nparts,
				   .parts = r->parts };
	*m->end = r;
	m->end = &r->next;
	return r;
}

static void done_with(struct matcher *m, struct ready *r)
{
	if (r && r->room == MOST_PARTS) {
		r->next = m->spare_ready;
		m->spare_ready = r;
	} else {
		free(r);
	}
}

bool match_found(struct matcher *m, struct match *out)
{
	done_with(m, m->given);
	m->given = m->first;
	if (!m->given)
		return false;
	m->first = m->given->next;
	if (!m->first)
		m->end = &m->first;
	*out = m->given->match;
	return true;
}

const struct match_tally *match_tally(const struct matcher *m)
{
	return &m->tally;
}

/* ---- Open and close -------------------------------------------------------------------------- */

/* Of each of the trace's whats. */
static bool *message_whats(const struct trace *t)
{
	size_t n = trace_kinds(t);
	bool *message = mem_resize(NULL, n + 1, sizeof *message);
	for (size_t i = 0; i < n; i++)
		message[i] = tr_is(t, t->whats[i].site, OP_MESSAGE);
	return message;
}

static bool any_messages(const struct trace *t)
{
	for (uint32_t s = 0; s < t->nsites; s++)
		if (tr_is(t, s, OP_MESSAGE))
			return true;
	return false;
}

/* Which ranks send and receive in several threads. A loss of one thread leaves the others in
 * doubt, too: in which of their stamps it fell is not known. */
static void look_ahead(struct matcher *m)
{
	const struct trace *t = m->trace;
	struct rank_seen { uint32_t threads, movers; bool lost, missing; } *seen; /* of each rank */
	seen = mem_zeroed(m->rank_numbers.n, sizeof *seen);
	bool *message = message_whats(t);
	struct tr_wanted messages = trace_wanted(t, message);
	for (size_t i = 0; i < t->nthreads; i++)
		if (m->threads[i].rank != MATCH_NO_RANK)
			seen[m->threads[i].rank].threads++;
	for (size_t i = 0; i < t->nthreads; i++) {
		if (m->threads[i].rank == MATCH_NO_RANK)
			continue;
		struct rank_seen *r = &seen[m->threads[i].rank];
		r->movers += r->threads > 1 && trace_recorded(t, &messages, i);
		r->lost |= t->threads[i].lost > 0;
		r->missing |= t->threads[i].gaps;
	}
	for (uint32_t r = 0; r < m->rank_numbers.n; r++) {
		m->ranks[r].several = seen[r].movers > 1;
		m->ranks[r].doubtful = seen[r].missing || (seen[r].lost && seen[r].movers > 1);
	}
	trace_wanted_close(&messages);
	free(message);
	free(seen);
}

struct matcher *match_open(const struct trace *t, uint64_t slack)
{
	struct matcher *m = mem_resize(NULL, 1, sizeof *m);
	*m = (struct matcher){ .trace = t, .slack = slack };
	m->end = &m->first;
	m->concerned = mem_resize(NULL, t->nsites, sizeof *m->concerned);
	for (uint32_t i = 0; i < t->nsites; i++)
		m->concerned[i] = tr_is(t, i, OP_MATCHED);
	m->threads = mem_resize(NULL, t->nthreads, sizeof *m->threads);
	for (size_t i = 0; i < t->nthreads; i++) {
		int64_t rank = t->threads[i].rank;
		m->threads[i] =
			(struct match_thread){ .rank = MATCH_NO_RANK, .last_site = TR_NO_SITE,
					       .left.key.group = UINT64_MAX };
		replay_open(&m->threads[i].replay, t->nsites);
		if (rank < 0)
			continue;
		ids_add(&m->rank_numbers, (uint64_t)rank);
		m->threads[i].rank = (uint32_t)ids_find(&m->rank_numbers, (uint64_t)rank);
	}
	m->ranks = mem_zeroed(m->rank_numbers.n, sizeof *m->ranks);
	if (any_messages(t))
		look_ahead(m);
	for (size_t i = 0; i < t->nthreads; i++)
		m->threads[i].alone = m->threads[i].rank != MATCH_NO_RANK && !m->ranks[m->threads[i].rank].several;
	messages_open(m);
	return m;
}

/* The exits of these calls are missing. */
static void abandon(struct matcher *m, const struct open_call *calls, size_t n)
{
	while (n > 0)
		message_drop(m, calls[--n].op);
}

static void free_list(struct ready *r)
{
	for (struct ready *next; r; r = next) {
		next = r->next;
		free(r);
	}
}

void match_close(struct matcher *m)
{
	for (size_t i = 0; i < m->trace->nthreads; i++) {
		struct match_thread *a = &m->threads[i];
		abandon(m, a->calls, replay_lose(&a->replay));
		replay_close(&a->replay);
		free(a->calls);
		free(a->interrupted);
	}
	messages_free(m);
	collectives_free(m);
	free_list(m->first);
	free_list(m->spare_ready);
	free(m->concerned);
	free(m->given);
	free(m->threads);
	free(m->ranks);
	ids_free(&m->rank_numbers);
	free(m);
}

/* ---- Threads that begin and end -------------------------------------------------------------- */

struct match_part match_part(const struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	return (struct match_part){
		.thread = thread,
		.done_in = thread,
		.site = e->site,
		.enter_at = m->threads[thread].count,
		.done_at = MATCH_NEVER,
		.enter = e->stamp,
		.bytes = trace_arg(e, DPROF_KEY_BYTES, MATCH_NO_BYTES),
		.root = arg_is_root(tr_operation(m->trace, e), e),
	};
}

/* Thread `number` of the process of `thread`; threads stand in the order of both. */
static uint32_t find_thread(const struct trace *t, uint32_t thread, uint64_t number)
{
	uint32_t process = t->threads[thread].process;
	size_t lo = 0, hi = t->nthreads;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct tr_thread *at = &t->threads[mid];
		if (at->process < process || (at->process == process && at->number < number))
			lo = mid + 1;
		else
			hi = mid;
	}
	bool found = lo < t->nthreads && t->threads[lo].process == process &&
		     t->threads[lo].number == number;
	return found ? (uint32_t)lo : MATCH_NO_THREAD;
}

static uint32_t named_thread(const struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	uint64_t number = trace_arg(e, DPROF_KEY_THREAD, UINT64_MAX);
	return number == UINT64_MAX ? MATCH_NO_THREAD : find_thread(m->trace, thread, number);
}

static void fork_thread(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	uint32_t child = named_thread(m, thread, e);
	if (child == MATCH_NO_THREAD || m->threads[child].count > 0)
		return;
	m->threads[child].created = true;
	m->threads[child].creator = match_part(m, thread, e);
}

static void first_event(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	if (!m->threads[thread].created)
		return;
	struct ready *r = match_ready(m, MATCH_CREATED, 2);
	r->parts[0] = m->threads[thread].creator;
	r->parts[1] = match_part(m, thread, e);
	r->match.complete = true;
}

static void join_thread(struct matcher *m, uint32_t thread, uint32_t child,
			const struct tr_event *e)
{
	const struct match_thread *gone = &m->threads[child];
	if (gone->count == 0)
		return;
	struct ready *r = match_ready(m, MATCH_JOINED, 2);
	r->parts[0] = (struct match_part){ .thread = child, .done_in = child, .site = gone->last_site,
					   .enter_at = gone->count - 1, .enter = gone->last,
					   .done_at = MATCH_NEVER, .bytes = MATCH_NO_BYTES };
	r->parts[1] = match_part(m, thread, e);
	r->parts[1].done = e->stamp;
	r->parts[1].done_at = r->parts[1].enter_at;
	r->match.complete = true;
}

/* ---- The calls that a thread is in ----------------------------------------------------------- */

/* No operation is entered within itself: then its exit is missing. */
static void add_call(struct matcher *m, struct match_thread *a, const struct tr_event *e, struct open_call call)
{
	size_t closed = replay_exit(&a->replay, e->site);
	abandon(m, a->calls + a->replay.depth, closed);
	replay_enter(&a->replay, tr_entry(m->trace, e));
	if (a->replay.depth > a->room)
		a->calls = mem_resize(a->calls, a->room = a->replay.room, sizeof *a->calls);
	a->calls[a->replay.depth - 1] = call;
}

static void enter(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	struct match_thread *a = &m->threads[thread];
	struct open_call call = { .kind = m->trace->sites[e->site].kind,
				  .id = ARG_NONE, .child = MATCH_NO_THREAD };
	switch (call.kind) {
	case DPROF_KIND_SEND:
	case DPROF_KIND_RECV:
		call.op = message_begin(m, thread, e, call.kind == DPROF_KIND_RECV);
		break;
	case DPROF_KIND_WAIT:
		call.id = arg_request(tr_operation(m->trace, e), e);
		break;
	case DPROF_KIND_FORK:
		fork_thread(m, thread, e);
		collective_enter(m, thread, e, &call);
		break;
	case DPROF_KIND_JOIN:
		call.child = named_thread(m, thread, e);
		collective_enter(m, thread, e, &call);
		break;
	case DPROF_KIND_BARRIER:
	case DPROF_KIND_COLL:
		collective_enter(m, thread, e, &call);
		break;
	default:
		return;
	}
	add_call(m, a, e, call);
}

static void leave(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	struct match_thread *a = &m->threads[thread];
	size_t closed = replay_exit(&a->replay, e->site);
	if (closed == 0)
		return;
	struct open_call call = a->calls[a->replay.depth];
	abandon(m, a->calls + a->replay.depth + 1, closed - 1);
	if (arg_called_away(tr_operation(m->trace, e), e) != ARG_NONE) {
		message_drop(m, call.op);
		collective_interrupt(m, thread, &call, e);
		return;
	}
	if (call.op)
		message_end(m, thread, call.op, e);
	if (call.id != ARG_NONE) {
		message_done_id(m, thread, call.id, e);
		collective_done_id(m, thread, call.id, e);
	}
	if (call.collective)
		collective_leave(m, thread, &call, e);
	if (call.child != MATCH_NO_THREAD)
		join_thread(m, thread, call.child, e);
}

/* A "done" speaks of its id, or of the innermost receive that its thread is in. */
static void point(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	struct match_thread *a = &m->threads[thread];
	uint64_t id = arg_request(tr_operation(m->trace, e), e);
	if (m->trace->sites[e->site].kind == DPROF_KIND_COLL && id != ARG_NONE)
		collective_done_id(m, thread, id, e);
	if (!tr_is(m->trace, e->site, OP_MESSAGE))
		return;
	if (id != ARG_NONE) {
		message_done_id(m, thread, id, e);
		return;
	}
	size_t i = a->replay.depth;
	while (i > 0 && a->calls[i - 1].kind != DPROF_KIND_RECV)
		i--;
	if (i && a->calls[i - 1].op)
		message_done(m, thread, a->calls[i - 1].op, e);
}

/* ---- Taking events --------------------------------------------------------------------------- */

static void take_operation(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	if (e->op == DPROF_ENTER)
		enter(m, thread, e);
	else if (e->op == DPROF_EXIT)
		leave(m, thread, e);
	else
		point(m, thread, e);
}

static void note_last(struct match_thread *a, const struct tr_event *e)
{
	a->last = e->stamp;
	a->last_site = e->site;
}

void match_skip(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	struct match_thread *a = &m->threads[thread];
	if (a->rank != MATCH_NO_RANK && m->ranks[a->rank].held)
		message_passed(m, a->rank, e->stamp);
	note_last(a, e);
	a->count++;
}

void match_take(struct matcher *m, uint32_t thread, const struct tr_event *e)
{
	struct match_thread *a = &m->threads[thread];
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE) {
		if (a->rank != MATCH_NO_RANK)
			message_doubt(m, a->rank);
	} else {
		if (a->rank != MATCH_NO_RANK && m->ranks[a->rank].held)
			message_passed(m, a->rank, e->stamp);
		if (a->count == 0)
			first_event(m, thread, e);
		if (m->concerned[e->site])
			take_operation(m, thread, e);
		note_last(a, e);
	}
	a->count++;
}

const bool *match_concerned(const struct matcher *m)
{
	return m->concerned;
}

uint64_t match_call_stamp(const struct matcher *m, uint32_t thread, const struct tr_columns *k, size_t i)
{
	return k->stamp[i + message_receives(m, thread, k, i)];
}

bool match_take_call(struct matcher *m, uint32_t thread, const struct tr_columns *k, size_t i)
{
	struct match_thread *a = &m->threads[thread];
	if (a->count == 0 || a->replay.depth > 0 || !message_call(m, thread, k, i))
		return false;
	a->count += 2;
	a->last = k->stamp[i + 1];
	a->last_site = trace_what(m->trace, k, i)->site;
	return true;
}

void match_pass(struct matcher *m, uint32_t thread, struct tr_passed passed)
{
	struct match_thread *a = &m->threads[thread];
	if (passed.n == 0)
		return;
	a->count += passed.n;
	a->last = passed.stamp;
	a->last_site = passed.site;
}

void match_finish(struct matcher *m)
{
	for (uint32_t r = 0; r < m->rank_numbers.n; r++)
		message_passed(m, r, UINT64_MAX);
	collectives_finish(m);
	messages_finish(m);
}

/* SPDX-License-Identifier: MIT
 *
 * graph_polls.c - work that goes on until a message, a receive, a permit or a lock is there.
 *
 *   while (!done) { #pragma dprof region(piece) ...; MPI_Test(&request, &done, ...); }
 *
 * Attempts in vain that are so far apart leave no record. What is seen is a row of visits to one region, and behind the last of
 * them the attempt that succeeded:
 *
 *   receiver   [piece] [piece] [piece] [piece]test       in another run there are as many pieces as it takes until the
 *   sender                          ----send/            message is there, and at least one
 *
 * A program that does a fixed number of pieces, and looks for messages in between, goes on with pieces when it has all messages. So
 * a row ends because of its message if each row of that region ends with an attempt that succeeds, and does so within few attempts:
 * a message may need two, and what several ranks began together some for each of its rounds. If there were more pieces the message
 * was sent behind the first one. Then the row most likely ends as long behind the message as here. Nothing of it is proved.
 *
 * Who tests a send goes on until its receive has begun.
 *
 *   while (sem_trywait(&s) != 0) piece();                          likewise, for posts and releases of locks
 *   while (poll(&p, 1, 0) == 0) piece(); read();                   likewise, for bytes
 *   while (waitpid(child, NULL, WNOHANG) == 0) piece();            likewise, until a child has ended
 *   while (pthread_tryjoin_np(thread, NULL) != 0) piece();         or a thread
 *   while (!done) { pthread_cond_timedwait(...); piece(); }        likewise, where waits in vain lie between pieces: the last wait,
 *                                                                  which is not in vain, ends as long behind the signal as here
 *
 * One piece just behind an attempt that got some of several (MPI_Testsome) may be what is done with that, and says nothing.
 *
 * A thread that mostly waits, or sleeps, and does little in between (a watchdog, or one that reports how far the run has come),
 * does none of that for its own sake: there few pieces tell enough, or none, and the signal may also come while it first waits
 * in vain. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/graph/graph_bytes.h"
#include "analysis/graph/graph_ends.h"
#include "analysis/graph/graph_locks.h"
#include "analysis/graph/graph_messages.h"
#include "analysis/graph/graph_processes.h"

#define ENOUGH_PIECES 4 /* but for the first one of each row: fewer tell nothing */
#define OWN_INPUTS    2 /* of a row */

/* What ended a wait by an attempt, or behind others in vain: a message, or one of the walk's sync events, or bytes, or the end of
 * a child or a thread; and the row in front of it, if there is one. */
struct poll {
	uint32_t thread;
	uint64_t begin_at, enter_at;
	const struct kept_completion *completion;
	size_t event;
	const struct moved_bytes *bytes;
	const struct process_wait *child;
	const struct thread_join *join;
	bool looks;               /* with a lock, perhaps; and then */
	bool sees;                /* it was the last look */
	struct polled_row row;
};

static int by_begin(const void *x, const void *y)
{
	const struct poll *a = x, *b = y;
	return ORDER_2(a, b, thread, begin_at);
}

/* ---- Rows ------------------------------------------------------------------------------------- */

/* The innermost last: what is around them is in other rows. */
struct rows {
	struct polled_row *v; size_t room;
	struct polled_pieces *pieces;
	uint64_t alone; /* so many pieces that end otherwise say nothing */
};

static struct polled_row *row_at(struct rows *r, size_t depth)
{
	while (r->room <= depth)
		*MEM_GROW(r->v, r->room) = (struct polled_row){ .n = 0 };
	return &r->v[depth];
}

static void end_row(struct rows *r, size_t depth)
{
	struct polled_row *row = row_at(r, depth);
	if (row->look && row->timed && !row->ended)
		row->look->sees = true;
	else if (row->n > r->alone + row->behind && !row->ended)
		r->pieces[row->site].others = true;
	*row = (struct polled_row){ .n = 0 };
}

static void add_piece(struct rows *r, size_t depth, struct event_ref exit, uint32_t site)
{
	struct polled_row *row = row_at(r, depth);
	struct event_ref vain = row->vain;
	uint64_t since = row->since;
	bool timed = row->timed && vain.stamp, tried = timed && row->tried;
	if (row->n == 0 || row->ended || row->site != site) {
		bool behind = row->ended && row->takes_some;
		end_row(r, depth);
		*row = (struct polled_row){ .first = exit, .last = exit, .n = 1, .site = site, .timed = timed, .behind = behind,
					    .begin = vain, .tries = tried, .waited = since };
		return;
	}
	row->vain.stamp = row->since = 0;
	uint64_t apart = exit.stamp - row->last.stamp;
	row->longest = apart > row->longest ? apart : row->longest;
	row->last = exit;
	row->look = NULL;
	row->n++;
}

/* A wait that ended when a time limit was over. */
static bool is_in_vain(const struct trace *trace, struct tr_cursor *events, struct tr_event *e)
{
	if (trace->sites[e->site].kind != DPROF_KIND_WAIT)
		return false;
	trace_arguments(events, e);
	return trace_has(e, DPROF_KEY_UNTIL) && !trace_has(e, DPROF_KEY_ID) && !trace_has(e, DPROF_KEY_OBJECT);
}

/* Who takes a lock in between may do so to look. */
static bool ends_row(const struct trace *trace, const struct tr_event *e)
{
	const struct operation *o = tr_operation(trace, e);
	return o->is & OP_OTHERS && !(o->is & OP_ATTEMPT) && !arg_in_vain(o, e) && o->kind != DPROF_KIND_LOCK;
}

/* Or sleep. */
static void wait_in_vain(struct polled_row *row, struct event_ref enter, bool timed)
{
	row->timed |= timed;
	row->tried = row->vain.stamp ? row->tried : timed;
	row->vain = row->vain.stamp ? row->vain : enter;
	row->open = enter.stamp;
}

static void waited_in_vain(struct polled_row *row, uint64_t exit)
{
	uint64_t took = row->open ? exit - row->open : 0;
	row->waited += took;
	row->since += took;
	row->open = 0;
}

/* Up to the last time that it is tried; or, without pieces, of waits alone. */
static struct polled_row row_until(const struct polled_row *row, uint64_t stamp, uint32_t no_site)
{
	struct polled_row r = *row;
	if (r.n == 0 && r.vain.stamp && r.timed) {
		r.first = r.last = r.begin = r.vain;
		r.n = 1;
		r.site = no_site;
		r.waited = r.since;
	}
	if (r.begin.stamp)
		r.worked = stamp - r.begin.stamp - r.waited;
	return r;
}

static void succeed(struct polled_row *row, bool takes_some)
{
	row->ended = true;
	row->takes_some = takes_some;
}

/* Polls of one thread. */
static void find_rows(const struct builder *b, struct rows *r, struct poll *polls, size_t n)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, polls[0].thread);
	struct poll *poll = polls, *end = polls + n;
	struct replay replay;
	struct tr_event e;
	replay_open(&replay, trace->nsites);
	for (uint64_t at = 0; trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST || e.site == TR_NO_SITE)
			continue;
		size_t closed = e.op == DPROF_EXIT ? replay_exit(&replay, e.site) : 0, depth = replay.depth;
		for (size_t inner = depth + closed; inner > depth; inner--)
			end_row(r, inner);
		bool piece = tr_is_marked(trace, e.site);
		if (closed == 1)
			waited_in_vain(row_at(r, depth), e.stamp);
		if (piece && closed == 1)
			add_piece(r, depth, (struct event_ref){ polls[0].thread, at, e.stamp }, e.site);
		while (poll < end && poll->begin_at < at && poll->enter_at < at)
			poll++;
		if (poll < end && poll->begin_at == at)
			poll->row = row_until(row_at(r, depth), e.stamp, trace->nsites);
		if (poll < end && poll->enter_at == at && poll->looks)
			row_at(r, depth)->look = row_at(r, depth)->n ? poll : NULL;
		else if (poll < end && poll->enter_at == at)
			succeed(row_at(r, depth), tr_is(trace, e.site, OP_MPI) && tr_is(trace, e.site, OP_ELECTS));
		else if (e.op == DPROF_ENTER && is_in_vain(trace, &events, &e))
			wait_in_vain(row_at(r, depth), (struct event_ref){ polls[0].thread, at, e.stamp }, true);
		else if (e.op == DPROF_ENTER && tr_is(trace, e.site, OP_SLEEP))
			wait_in_vain(row_at(r, depth), (struct event_ref){ polls[0].thread, at, e.stamp }, false);
		else if (e.op == DPROF_ENTER && ends_row(trace, &e))
			end_row(r, depth);
		if (e.op == DPROF_ENTER)
			replay_enter(&replay, tr_entry(trace, &e));
	}
	for (size_t depth = 0; depth < r->room; depth++)
		end_row(r, depth);
	trace_end(&events);
	replay_close(&replay);
}

/* ---- What ended them -------------------------------------------------------------------------- */

/* What a message that is complete has waited for: its send, or that its receive had begun. */
static const struct event_ref *cause_of(const struct message_records *r, const struct attached *a)
{
	const struct message *m = &r->v[a->message];
	if (a->as_sender)
		return m->buffered || m->nobody ? NULL : &m->begun;
	return m->sure ? &m->sent : NULL;
}

/* What the pieces that go on do before them, and then what the messages that were complete there waited for. Returns where these
 * begin. */
static size_t find_inputs(const struct message_records *r, const struct poll *p, struct node_input *inputs, size_t *n)
{
	const struct kept_completion *k = p->completion;
	inputs[0] = (struct node_input){ .ref = p->row.first, .sure = true };
	inputs[1] = (struct node_input){ .ref = r->begins[k->begin - 1].certain, .needed = true, .candidate = true };
	*n = OWN_INPUTS;
	for (uint32_t i = k->first; i < k->first + k->n; i++) {
		const struct event_ref *cause = cause_of(r, &r->attached[i]);
		if (cause)
			inputs[(*n)++] = (struct node_input){ .ref = *cause, .sure = true };
	}
	return OWN_INPUTS;
}

enum row_says { NOTHING, ENDED_BY_MESSAGES, ENDED_OTHERWISE };

/* How many pieces came since the last message was sent, or since the first piece, tells whether all other attempts were in vain;
 * of which one may have been made before the first piece. */
static enum row_says says(const struct builder *b, const struct polled_row *row, const struct node_input *sent, size_t n)
{
	uint32_t clock = b->graph->trace->threads[row->last.thread].clock;
	frz_time since = graph_between(b, row->first, row->last);
	bool behind = false;
	for (size_t i = 0; i < n; i++) {
		frz_time until = graph_between(b, sent[i].ref, row->last);
		behind |= graph_certainly_before(b, row->tries ? row->begin : row->first, sent[i].ref);
		since = until.lo < since.lo ? until : since;
	}
	uint64_t attempts = 2;
	for (size_t rounds = n; rounds > 1; rounds /= 2)
		attempts++;
	if (since.lo > times_duration(b->graph->times, clock, attempts * row->longest).hi)
		return ENDED_OTHERWISE;
	return behind ? ENDED_BY_MESSAGES : NOTHING;
}

static void end_by_messages(struct builder *b, const struct polled_row *row, const struct node_input *inputs, size_t n)
{
	for (size_t i = OWN_INPUTS; i < n; i++)
		if (!graph_certainly_before(b, inputs[i].ref, row->last))
			return;
	uint32_t number = graph_add_chance(b, GRAPH_SYNC, inputs, n);
	graph_end_by(b, row->last, number);
}

/* Those of attempts that may have been made before. */
static size_t find_polls(const struct message_records *r, struct spill *spill, struct poll **polls)
{
	size_t n = 0;
	for (size_t i = 0; i < r->ncompletions; i++, spill_relax(spill)) {
		const struct kept_completion *k = &r->completions[i];
		const struct wait_begin *begin = k->begin ? &r->begins[k->begin - 1] : NULL;
		if (begin && begin->tried && begin->enter.at < k->enter_at)
			*MEM_GROW(*polls, n) = (struct poll){ k->thread, begin->enter.at, k->enter_at, .completion = k };
	}
	return n;
}

/* What rows of each region have ended. */
static struct polled_pieces *find_pieces(const struct builder *b, struct poll *polls, size_t n, uint64_t alone)
{
	struct rows rows = { .pieces = mem_zeroed(b->graph->trace->nsites + 1, sizeof *rows.pieces), .alone = alone };
	qsort(polls, n, sizeof *polls, by_begin);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && polls[next].thread == polls[i].thread;)
			next++;
		find_rows(b, &rows, &polls[i], next - i);
	}
	free(rows.v);
	return rows.pieces;
}

/* What a row of the region that is one of several says of what ends them. */
static void take_evidence(struct polled_pieces *pieces, const struct polled_row *row, enum row_says what)
{
	pieces->n += what == ENDED_BY_MESSAGES ? row->n - 1 : 0;
	pieces->others |= what == ENDED_OTHERWISE;
}

/* First each row of several says what ended it, and when all have, those end that are ended by messages. */
static void look_at(struct builder *b, const struct message_records *r, const struct poll *p, struct polled_pieces *pieces,
		    bool decided, struct node_input *inputs)
{
	size_t n, first = find_inputs(r, p, inputs, &n);
	if (decided && pieces->n >= ENOUGH_PIECES && n > first)
		end_by_messages(b, &p->row, inputs, n);
	else if (!decided)
		take_evidence(pieces, &p->row, says(b, &p->row, inputs + first, n - first));
}

void graph_polls(struct builder *b, const struct message_records *r)
{
	struct poll *polls = NULL;
	size_t n = find_polls(r, b->spill, &polls);
	if (n == 0)
		return;
	struct polled_pieces *pieces = find_pieces(b, polls, n, 0);
	struct node_input *inputs = NULL;
	for (int decided = 0; decided < 2; decided++)
		for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
			struct polled_pieces *of = &pieces[polls[i].row.site];
			inputs = mem_resize(inputs, polls[i].completion->n + OWN_INPUTS, sizeof *inputs);
			if (polls[i].row.n > 1 && !of->others)
				look_at(b, r, &polls[i], of, decided, inputs);
		}
	free(inputs);
	free(pieces);
	free(polls);
}

/* ---- Permits, locks and signals --------------------------------------------------------------- */

/* By an attempt, before which there may have been others; or, where waits were in vain before, by one that was not, or a lock with
 * which the thread looked. */
static void add_tried(struct builder *b, const struct sync_records *sync, size_t event, struct poll **polls, size_t *n)
{
	const struct sync_event *e = &sync->v[event];
	bool tries = tr_is(b->graph->trace, e->site, OP_ATTEMPT) || (e->for_good && e->found);
	bool attempt = tries && e->begin.tried && e->begin.enter.at < e->enter.at;
	if ((e->kind != SYNC_TAKEN && e->kind != SYNC_WOKEN) || e->in_wait || (e->kind == SYNC_WOKEN && e->relocks))
		return; /* the mutex comes next */
	uint64_t enter = e->relocks ? graph_retaken(sync, e)->waiting.at : e->enter.at;
	if (attempt || e->behind_vain)
		*SPILL_GROW(b->spill, *polls, *n) = (struct poll){ e->ref.thread, attempt ? e->begin.enter.at : enter, enter, .event = event,
								   .looks = !attempt && e->kind == SYNC_TAKEN && !e->relocks };
}

/* Bytes that a look has found. */
static void add_bytes(struct builder *b, const struct moved_bytes *m, struct poll **polls, size_t *n)
{
	bool attempt = m->begin.tried && m->begin.enter.at < m->look.at;
	if (!m->gave && m->given.at != NO_EVENT && (attempt || m->by_attempts))
		*SPILL_GROW(b->spill, *polls, *n) = (struct poll){ m->exit.thread, m->by_attempts ? m->look.at : m->begin.enter.at,
								   m->look.at, .bytes = m };
}

static void add_child(struct builder *b, const struct process_wait *w, struct poll **polls, size_t *n)
{
	uint64_t enter = w->exit.at - 1;
	if (w->ended.at != NO_EVENT && w->begin.tried && w->begin.enter.at < enter)
		*SPILL_GROW(b->spill, *polls, *n) = (struct poll){ w->exit.thread, w->begin.enter.at, enter, .child = w };
}

static void add_join(struct builder *b, const struct thread_join *j, struct poll **polls, size_t *n)
{
	if (j->ended.at != NO_EVENT && j->begin.tried && j->begin.enter.at < j->enter.at)
		*SPILL_GROW(b->spill, *polls, *n) = (struct poll){ j->exit.thread, j->begin.enter.at, j->enter.at, .join = j };
}

/* What has ended it, if that is known already, and where. */
static struct tried_row row_of(const struct sync_records *sync, const struct poll *p)
{
	if (p->bytes)
		return (struct tried_row){ p->row, p->bytes->exit, p->bytes->given, true };
	if (p->child)
		return (struct tried_row){ p->row, p->child->exit, p->child->ended, true };
	if (p->join)
		return (struct tried_row){ p->row, p->join->exit, p->join->ended, true };
	return (struct tried_row){ .row = p->row, .exit = sync->v[p->event].ref };
}

static bool is_row(const struct poll *p)
{
	bool seen = !p->looks || p->sees;
	bool attempts = p->begin_at < p->enter_at || (p->bytes && p->bytes->by_attempts);
	return p->row.n > 0 && seen && (p->row.timed || (p->row.n > 1 && attempts));
}

void graph_find_tried(struct builder *b, const struct byte_records *bytes, const struct process_records *processes,
		      const struct join_records *joins, const struct sync_records *sync, struct tried_records *tried)
{
	struct poll *polls = NULL;
	size_t n = 0;
	for (size_t i = 0; i < sync->n; i++, spill_relax(b->spill))
		add_tried(b, sync, i, &polls, &n);
	for (size_t i = 0; i < bytes->n; i++, spill_relax(b->spill))
		add_bytes(b, &bytes->v[i], &polls, &n);
	for (size_t i = 0; i < processes->nwaits; i++)
		add_child(b, &processes->waits[i], &polls, &n);
	for (size_t i = 0; i < joins->n; i++)
		add_join(b, &joins->v[i], &polls, &n);
	if (n > 0)
		tried->pieces = find_pieces(b, polls, n, 1);
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		if (!is_row(&polls[i]))
			continue;
		*SPILL_GROW(b->spill, tried->v, tried->n) = row_of(sync, &polls[i]);
		if (!tried->v[tried->n - 1].known)
			sync->v[polls[i].event].tried_row = tried->n;
	}
	spill_free(b->spill, polls);
}

void graph_tried_by(struct tried_records *tried, const struct sync_event *e, struct event_ref cause)
{
	if (e->tried_row == 0)
		return;
	tried->v[e->tried_row - 1].cause = cause;
	tried->v[e->tried_row - 1].known = true;
}

#define MOSTLY_WAITS 8 /* times as long as it works */

/* It has waited before its first piece, and mostly since: what it does between waits is no work for its own sake. */
static bool mostly_waits(const struct tried_row *t)
{
	return t->row.begin.stamp && t->row.worked <= (t->exit.stamp - t->row.begin.stamp) / MOSTLY_WAITS;
}

/* With the row, if the cause was there then; or else with the wait behind it. Where it was tried before the first piece, as early
 * as that may succeed. */
static void end_tried(struct builder *b, const struct tried_row *t)
{
	struct event_ref since = t->row.tries || mostly_waits(t) ? t->row.begin : t->row.first;
	struct node_input inputs[] = { { .ref = since, .sure = true }, { .ref = t->cause, .sure = true } };
	uint32_t number = graph_add_chance(b, GRAPH_SYNC, inputs, 2);
	graph_end_by(b, graph_certainly_before(b, t->cause, t->row.last) ? t->row.last : t->exit, number);
}

void graph_end_tried(struct builder *b, struct tried_records *tried)
{
	for (int decided = 0; decided < 2; decided++)
		for (size_t i = 0; i < tried->n; i++) {
			const struct tried_row *t = &tried->v[i];
			struct polled_pieces *pieces = &tried->pieces[t->row.site];
			struct node_input cause = { .ref = t->cause };
			enum row_says what = says(b, &t->row, &cause, t->known);
			bool enough = pieces->n >= ENOUGH_PIECES || mostly_waits(t);
			if (decided && !pieces->others && enough && what == ENDED_BY_MESSAGES)
				end_tried(b, t);
			else if (!decided && t->row.site < b->graph->trace->nsites)
				take_evidence(pieces, &t->row, what);
		}
	free(tried->pieces);
	spill_free(b->spill, tried->v);
	*tried = (struct tried_records){ .n = 0 };
}

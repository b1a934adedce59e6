/* SPDX-License-Identifier: MIT
 *
 * graph_polls.c - work that goes on until a message is there.
 *
 *   while (!done) { #pragma dprof region(piece) ...; MPI_Test(&request, &done, ...); }
 *
 * Attempts in vain that are so far apart leave no record. What is seen is a row of visits to one region, and behind the last of them
 * the attempt that succeeded:
 *
 *   receiver   [piece] [piece] [piece] [piece]test       in another run there are as many pieces as it takes until the
 *   sender                          ----send/            message is there, and at least one
 *
 * A program that does a fixed number of pieces, and looks for messages in between, goes on with pieces when it has all messages. So a row
 * ends because of its message if each row of that region ends with an attempt that succeeds, and does so within few attempts: a message
 * may need two, and what several ranks began together some for each of its rounds. If there were more pieces the message was sent behind the
 * first one. Then the row most likely ends as long behind the message as here. Nothing of it is proved. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

#define ENOUGH_PIECES 4 /* but for the first one of each row: fewer tell nothing */
#define OWN_INPUTS    2 /* of a row */

/* Visits to one region, with nothing but attempts in between. */
struct row { struct event_ref first, last; uint64_t n, longest; uint32_t site; bool ended; };

/* A completion by an attempt, and the row in front of it, if there is one. */
struct poll { uint32_t thread; uint64_t begin_at; const struct kept_completion *completion; struct row row; };

struct pieces { uint64_t n; bool others; }; /* of a region: others end otherwise */

static int by_begin(const void *x, const void *y)
{
	const struct poll *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->begin_at > b->begin_at) - (a->begin_at < b->begin_at);
}

/* ---- Rows ------------------------------------------------------------------------------------- */

/* The innermost last: what is around them is in other rows. */
struct rows { struct row *v; size_t room; struct pieces *pieces; };

static struct row *row_at(struct rows *r, size_t depth)
{
	while (r->room <= depth)
		*MEM_GROW(r->v, r->room) = (struct row){ .n = 0 };
	return &r->v[depth];
}

static void end_row(struct rows *r, size_t depth)
{
	struct row *row = row_at(r, depth);
	if (row->n && !row->ended)
		r->pieces[row->site].others = true;
	*row = (struct row){ .n = 0 };
}

static void add_piece(struct rows *r, size_t depth, struct event_ref exit, uint32_t site)
{
	struct row *row = row_at(r, depth);
	if (row->n == 0 || row->ended || row->site != site) {
		end_row(r, depth);
		*row = (struct row){ .first = exit, .last = exit, .n = 1, .site = site };
		return;
	}
	uint64_t apart = exit.stamp - row->last.stamp;
	row->longest = apart > row->longest ? apart : row->longest;
	row->last = exit;
	row->n++;
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
		bool piece = tr_is(trace, e.site, OP_REGION) && !trace->sites[e.site].automatic;
		if (piece && closed == 1)
			add_piece(r, depth, (struct event_ref){ polls[0].thread, at, e.stamp }, e.site);
		while (poll < end && poll->begin_at < at && poll->completion->enter_at < at)
			poll++;
		if (poll < end && poll->begin_at == at)
			poll->row = *row_at(r, depth);
		else if (poll < end && poll->completion->enter_at == at)
			row_at(r, depth)->ended = true;
		else if (e.op == DPROF_ENTER && tr_is(trace, e.site, OP_OTHERS) && !tr_is(trace, e.site, OP_ATTEMPT))
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

/* What the pieces that go on do before them, and then the messages that were received there. Returns where these begin. */
static size_t find_inputs(const struct builder *b, const struct poll *p, struct node_input *inputs, size_t *n)
{
	const struct kept_completion *k = p->completion;
	inputs[0] = (struct node_input){ .ref = p->row.first, .sure = true };
	inputs[1] = (struct node_input){ .ref = b->begins[k->begin - 1].certain, .needed = true, .candidate = true };
	*n = OWN_INPUTS;
	for (uint32_t i = k->first; i < k->first + k->n; i++) {
		const struct message *m = &b->messages[b->attached[i].message];
		if (!b->attached[i].as_sender && m->sure)
			inputs[(*n)++] = (struct node_input){ .ref = m->sent, .sure = true };
	}
	return OWN_INPUTS;
}

enum row_says { NOTHING, ENDED_BY_MESSAGES, ENDED_OTHERWISE };

/* How many pieces came since the last message was sent, or since the first piece, tells whether all other attempts were in vain. */
static enum row_says says(const struct builder *b, const struct row *row, const struct node_input *sent, size_t n)
{
	uint32_t clock = b->graph->trace->threads[row->last.thread].clock;
	frz_time since = graph_between(b, row->first, row->last);
	bool behind = false;
	for (size_t i = 0; i < n; i++) {
		frz_time until = graph_between(b, sent[i].ref, row->last);
		behind |= graph_certainly_before(b, row->first, sent[i].ref);
		since = until.lo < since.lo ? until : since;
	}
	uint64_t attempts = 2;
	for (size_t rounds = n; rounds > 1; rounds /= 2)
		attempts++;
	if (since.lo > times_duration(b->graph->times, clock, attempts * row->longest).hi)
		return ENDED_OTHERWISE;
	return behind ? ENDED_BY_MESSAGES : NOTHING;
}

static void end_by_messages(struct builder *b, const struct row *row, const struct node_input *inputs, size_t n)
{
	for (size_t i = OWN_INPUTS; i < n; i++)
		if (!graph_certainly_before(b, inputs[i].ref, row->last))
			return;
	uint32_t number = graph_add_node(b, GRAPH_SYNC, inputs, n);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = true;
	graph_end_by(b, row->last, number);
}

/* Those of attempts that may have been made before. */
static size_t find_polls(const struct builder *b, struct poll **polls)
{
	size_t n = 0;
	for (size_t i = 0; i < b->ncompletions; i++, spill_relax(b->spill)) {
		const struct kept_completion *k = &b->completions[i];
		const struct wait_begin *begin = k->begin ? &b->begins[k->begin - 1] : NULL;
		if (begin && begin->tried && begin->enter.at < k->enter_at)
			*MEM_GROW(*polls, n) = (struct poll){ k->thread, begin->enter.at, k, { .n = 0 } };
	}
	return n;
}

/* What rows of each region have ended. */
static struct pieces *find_pieces(const struct builder *b, struct poll *polls, size_t n)
{
	struct rows rows = { .pieces = mem_resize(NULL, b->graph->trace->nsites, sizeof *rows.pieces) };
	memset(rows.pieces, 0, b->graph->trace->nsites * sizeof *rows.pieces);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && polls[next].thread == polls[i].thread;)
			next++;
		find_rows(b, &rows, &polls[i], next - i);
	}
	free(rows.v);
	return rows.pieces;
}

/* First each row of several says what ended it, and when all have, those end that are ended by messages. */
static void look_at(struct builder *b, const struct poll *p, struct pieces *pieces, bool decided, struct node_input *inputs)
{
	size_t n, first = find_inputs(b, p, inputs, &n);
	if (decided && pieces->n >= ENOUGH_PIECES && n > first) {
		end_by_messages(b, &p->row, inputs, n);
	} else if (!decided) {
		enum row_says what = says(b, &p->row, inputs + first, n - first);
		pieces->n += what == ENDED_BY_MESSAGES ? p->row.n - 1 : 0;
		pieces->others |= what == ENDED_OTHERWISE;
	}
}

void graph_polls(struct builder *b)
{
	struct poll *polls = NULL;
	size_t n = find_polls(b, &polls);
	if (n == 0)
		return;
	qsort(polls, n, sizeof *polls, by_begin);
	struct pieces *pieces = find_pieces(b, polls, n);
	struct node_input *inputs = NULL;
	for (int decided = 0; decided < 2; decided++)
		for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
			struct pieces *of = &pieces[polls[i].row.site];
			inputs = mem_resize(inputs, polls[i].completion->n + OWN_INPUTS, sizeof *inputs);
			if (polls[i].row.n > 1 && !of->others)
				look_at(b, &polls[i], of, decided, inputs);
		}
	free(inputs);
	free(pieces);
	free(polls);
}

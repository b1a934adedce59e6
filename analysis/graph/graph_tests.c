/* SPDX-License-Identifier: MIT
 *
 * graph_tests.c - who works in pieces, and tests after each of them whether what it has begun is complete.
 *
 *   sender     Isend [piece]test [piece]test [piece]test       such an attempt leaves no record if it was in vain, but what was
 *   receiver   Wait ..............over                         begun goes on with it
 *
 * So the other side may wait until a piece is over. That is expected where waits for messages of that size were seen to be over
 * just when a piece of whoever had sent them was, or of whoever was to receive them: much sooner behind that than the piece took,
 * and than the wait had lasted, some times, and hardly ever at another moment. Nothing of it is proved. */
#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_messages.h"

#define MUCH_SOONER 4
#define SHORT       8 /* such a part of a piece */
#define SOME_TIMES  3
#define HARDLY_EVER 4 /* once of so many */

/* The ends of pieces of one that tests. */
static void find_pieces(const struct builder *b, uint32_t thread, struct piece_ends *ends)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, thread);
	struct tr_event e;
	for (uint64_t at = 0; trace_next_bare(&events, &e); at++)
		if (e.op == DPROF_EXIT && e.site != TR_NO_SITE && tr_is(trace, e.site, OP_REGION) && !trace->sites[e.site].automatic)
			*SPILL_GROW(b->spill, ends->v, ends->n) = (struct event_ref){ thread, at, e.stamp };
	trace_end(&events);
}

struct piece_ends *graph_find_tests(const struct builder *b, const struct message_records *r)
{
	size_t n = b->graph->trace->nthreads;
	struct piece_ends *ends = spill_zeros(b->spill, n + 1, sizeof *ends);
	for (size_t i = 0; i < r->ncompletions; i++, spill_relax(b->spill)) {
		const struct kept_completion *x = &r->completions[i];
		ends[x->thread].tests |= x->begin && r->begins[x->begin - 1].tried;
	}
	for (uint32_t t = 0; t < n; t++)
		if (ends[t].tests)
			find_pieces(b, t, &ends[t]);
	return ends;
}

void graph_close_tests(const struct builder *b, struct piece_ends *ends)
{
	for (size_t t = 0; t < b->graph->trace->nthreads; t++)
		spill_free(b->spill, ends[t].v);
	spill_free(b->spill, ends);
}

/* The last piece that a thread has certainly done before the end of a wait, behind what it had begun; or NULL. */
static const struct event_ref *last_piece(const struct builder *b, struct piece_ends *ends, struct event_ref begun,
					  const struct completion *x)
{
	ends->near = SEARCH_NEAR(ends->n, ends->near, mid, graph_certainly_before(b, ends->v[mid], x->exit));
	const struct event_ref *last = ends->near ? &ends->v[ends->near - 1] : NULL;
	return last && last->at > begun.at && graph_certainly_before(b, x->begin.enter, *last) ? last : NULL;
}

/* Who waits only for a short part of a piece may have come late for what ended it, or that was over meanwhile by chance. */
static enum piece_says is_over_with(const struct builder *b, const struct piece_ends *ends, struct event_ref begun,
				    const struct completion *x, const struct event_ref *piece)
{
	frz_time behind = graph_between(b, *piece, x->exit), waited = graph_between(b, x->begin.enter, *piece);
	struct event_ref before = piece > ends->v && piece[-1].at > begun.at ? piece[-1] : begun;
	int64_t least = behind.hi < INT64_MAX / MUCH_SOONER ? MUCH_SOONER * behind.hi : INT64_MAX;
	frz_time lasted = graph_between(b, before, *piece);
	if (waited.hi < lasted.lo / SHORT)
		return NO_PIECE;
	return waited.lo > least && lasted.lo > least ? OVER_WITH_PIECE : OVER_ELSE;
}

enum piece_says graph_ends_with_piece(const struct builder *b, struct piece_ends *all, struct event_ref begun,
				      const struct completion *x, struct event_ref *piece)
{
	struct piece_ends *ends = &all[begun.thread];
	const struct event_ref *last = ends->n && begun.thread != x->exit.thread ? last_piece(b, ends, begun, x) : NULL;
	if (!last)
		return NO_PIECE;
	*piece = *last;
	return is_over_with(b, ends, begun, x, last);
}

bool graph_waits_for_pieces(uint32_t with, uint32_t otherwise)
{
	return with >= SOME_TIMES && with >= HARDLY_EVER * otherwise;
}

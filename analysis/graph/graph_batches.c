/* SPDX-License-Identifier: MIT
 *
 * graph_batches.c - things that a thread takes several of at once, and then works on one after the other:
 *
 *   lock, while (empty) wait, take all, unlock, for each: work
 *   sem_wait, while (sem_trywait == 0) n++,     for each: work
 *
 * A thread that is faster in another run, or those who put things there slower, finds fewer of them at a time, and works on each as
 * soon as it is there. So not the taking waits for all of them, but the work on each for its own. Of the work there is no record
 * but marked regions: it is known which piece is the n-th thing's if behind each batch as many regions begin at one site as there
 * are things in it; behind the last one perhaps one less, which says that there will be no more. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/graph/graph_private.h"

#define MOST_PIECES 65536 /* regions of a thread that are looked at */

/* A marked region begins; and what came just before. */
struct batch_piece { uint32_t site; struct event_ref before, enter; };

struct batch_pieces { struct batch_piece *v; size_t n; };

static int by_site(const void *x, const void *y)
{
	const struct batch_piece *a = x, *b = y;
	return ORDER_2(a, b, site, enter.at);
}

/* Behind an event. None if there are too many. */
static struct batch_pieces find_pieces(const struct builder *b, struct event_ref since)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, since.thread);
	struct batch_pieces p = { NULL, 0 };
	struct event_ref before = { .thread = since.thread };
	struct tr_event e;
	for (uint64_t at = 0; p.n <= MOST_PIECES && trace_next_bare(&events, &e); at++) {
		struct event_ref self = { since.thread, at, e.stamp };
		bool known = e.op == DPROF_ENTER && e.site < trace->nsites && at > since.at;
		if (known && tr_is_marked(trace, e.site))
			*MEM_GROW(p.v, p.n) = (struct batch_piece){ e.site, before, self };
		before = self;
	}
	trace_end(&events);
	if (p.n > MOST_PIECES)
		p.n = 0;
	if (p.n)
		qsort(p.v, p.n, sizeof *p.v, by_site);
	return p;
}

/* Things that were taken with no region of a site in between. They are those from i on, up to the one that is returned. */
static size_t end_of_batch(const struct taken *t, size_t n, size_t i, const struct batch_pieces *of, size_t next)
{
	while (next < of->n && of->v[next].enter.at < t[i].has.at)
		next++;
	uint64_t piece = next < of->n ? of->v[next].enter.at : NO_EVENT;
	for (i++; i < n && t[i].has.at < piece; i++)
		;
	return i;
}

/* Gives each thing its piece, all of one site. False: there are more of them, or fewer, or they are never taken several at once. */
static bool assign(struct taken *t, size_t n, struct batch_pieces of)
{
	bool several = false;
	size_t next = 0;
	for (size_t i = 0, end; i < n; i = end) {
		end = end_of_batch(t, n, i, &of, next);
		uint64_t over = end < n ? t[end].has.at : NO_EVENT;
		several |= end > i + 1;
		for (size_t k = i; k < end; k++) {
			bool there = next < of.n && of.v[next].enter.at < over;
			if (there ? of.v[next].enter.at < t[k].has.at : k + 1 < n)
				return false;
			t[k].before = there ? of.v[next].before : t[k].has;
			t[k].works = there ? of.v[next].enter : (struct event_ref){ .at = NO_EVENT };
			next += there;
		}
		if (next < of.n && of.v[next].enter.at < over)
			return false;
	}
	return several;
}

bool graph_find_works(const struct builder *b, struct taken *t, size_t n)
{
	struct batch_pieces all = n > 1 ? find_pieces(b, t->has) : (struct batch_pieces){ NULL, 0 };
	bool found = false;
	for (size_t i = 0, next; i < all.n && !found; i = next) {
		for (next = i + 1; next < all.n && all.v[next].site == all.v[i].site;)
			next++;
		found = assign(t, n, (struct batch_pieces){ all.v + i, next - i });
	}
	free(all.v);
	return found;
}

void graph_work_behind(struct builder *b, const struct taken *t)
{
	struct node_input inputs[] = { { .ref = t->before, .sure = true }, { .ref = t->put, .sure = true } };
	if (t->works.at == NO_EVENT || t->put.at == NO_EVENT || t->put.stamp > t->before.stamp)
		return;
	uint32_t number = graph_add_chance(b, GRAPH_SYNC, inputs, 2);
	graph_wait(b, (struct event_ref){ t->works.thread, t->works.at, t->before.stamp }, number);
}

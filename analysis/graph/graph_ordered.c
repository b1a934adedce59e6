/* SPDX-License-Identifier: MIT
 *
 * graph_ordered.c - whom a thread waits for in an ordered loop of OpenMP: for all iterations before its own.
 *
 *   thread 0   [ordered 0] passes [waits           ordered 2]      iteration 1 has no ordered part: thread 0 waits until
 *   thread 1   ---- iteration 1 ------------ passes                thread 1 is through with it, and says so
 *
 * All of that is of one team: turns of others have other numbers. Which iterations a thread has no record tells. So whoever has
 * its turn comes behind the last time at which each other thread was through with some, and most likely waited for the latest of
 * these. None of them is needed in every run: OpenMP may hand the turn on when an ordered part is over, where libgomp does so when
 * its thread asks for more iterations.
 *
 * Traces of before that was recorded have only ordered parts: what else was waited for there is not among the inputs, so nothing is
 * proved of it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_locks.h"

#define MOST_PASSES 16 /* of other threads, that are looked at */

/* Of each thread the last event at which it was through with iterations; those that have one, the latest first. */
struct passes {
	struct event_ref *last;
	uint32_t *latest; size_t n;
};

static void pass(struct passes *p, struct event_ref ref)
{
	size_t i = 0;
	while (i < p->n && p->latest[i] != ref.thread)
		i++;
	p->n += i == p->n;
	memmove(&p->latest[1], p->latest, i * sizeof *p->latest);
	p->latest[0] = ref.thread;
	p->last[ref.thread] = ref;
}

/* There are more than the ordered parts' own ends. */
static bool are_recorded(const struct builder *b, const struct sync_event *t, size_t n)
{
	bool *in_part = mem_zeroed(b->graph->trace->nthreads + 1, sizeof *in_part), recorded = false;
	for (size_t i = 0; i < n && !recorded; i++) {
		recorded = t[i].kind == SYNC_RELEASED && !in_part[t[i].ref.thread];
		in_part[t[i].ref.thread] = t[i].kind == SYNC_TAKEN;
	}
	free(in_part);
	return recorded;
}

static void have_turn(struct builder *b, const struct passes *p, const struct sync_event *t, bool recorded)
{
	struct node_input inputs[BEGIN_INPUTS + MOST_PASSES];
	size_t n = graph_begin_inputs(&t->begin, inputs), begins = n, i = 0;
	for (; i < p->n && n < begins + MOST_PASSES; i++)
		if (p->latest[i] != t->ref.thread)
			inputs[n++] = (struct node_input){ .ref = p->last[p->latest[i]], .sure = true };
	if (n == begins && recorded)
		return; /* the first iteration */
	struct graph_node *node = graph_arrival(b, t->ref, GRAPH_LOCKED, inputs, n);
	node->hidden = !recorded || i < p->n;
	node->loose = node->delayed = node->doubted = !recorded;
}

void graph_ordered(struct builder *b, const struct sync_event *t, size_t n)
{
	size_t nthreads = b->graph->trace->nthreads, passed = 0;
	struct passes p = { mem_resize(NULL, nthreads + 1, sizeof *p.last), mem_resize(NULL, nthreads + 1, sizeof *p.latest), 0 };
	bool recorded = are_recorded(b, t, n);
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		for (; passed < n && (passed <= i || t[passed].ref.stamp - t[i].ref.stamp <= graph_skew_of(b, &t[i])); passed++)
			if (t[passed].kind == SYNC_RELEASED)
				pass(&p, t[passed].ref);
		if (t[i].kind == SYNC_TAKEN)
			have_turn(b, &p, &t[i], recorded);
	}
	free(p.last);
	free(p.latest);
}

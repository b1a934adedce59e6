/* SPDX-License-Identifier: MIT
 *
 * slack_twin.h - how much longer a thread of a program of known truth could take before an event: the whole run is gone
 * through again, with everything behind it a very long time later, and what the end is not later by is its slack. */
#ifndef SLACK_TWIN_H
#define SLACK_TWIN_H

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_order.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/ends_twin.h"

#define SLACK_LONG  (INT64_C(1) << 58)
#define SLACK_NEVER INT64_MAX

/* How much later a node is, if its inputs are so much later; `event` waits for it. */
static inline int64_t slack_of_node(const struct graph *g, uint32_t number, const struct program_event *event, const int64_t *when,
				    const int64_t *later)
{
	const struct graph_node *node = &g->nodes[number];
	int64_t then = INT64_MIN, now = INT64_MIN;

	for (size_t i = node->first; i < node->first + node->ninputs; i++) {
		if (!twin_ends(event, &g->inputs[i]))
			continue;
		then = when[i] > then ? when[i] : then;
		now = when[i] + later[i] > now ? when[i] + later[i] : now;
	}
	return now - then;
}

/* Of what the thread does before its event `at`; on a clock that shows the truth. */
static inline int64_t slack_before(const struct program *p, const struct graph_order *order, uint32_t thread, size_t at)
{
	const struct graph *g = order->graph;
	int64_t *when = mem_resize(NULL, g->ninputs, sizeof *when), *later = mem_resize(NULL, g->ninputs, sizeof *later);
	int64_t *now = mem_resize(NULL, p->nthreads, sizeof *now); /* of each thread: how much later it is */
	size_t *next = mem_resize(NULL, p->nthreads, sizeof *next);
	bool delayed = false;

	memset(now, 0, p->nthreads * sizeof *now);
	memset(next, 0, p->nthreads * sizeof *next);
	for (size_t i = 0; i < order->nsteps; i++) {
		uint32_t t = order->steps[i].thread;
		const struct graph_sync_point *s = &g->threads[t].syncs[next[t]++];
		if (t == thread && s->at >= at && !delayed) {
			delayed = true;
			now[t] += SLACK_LONG;
		}
		if (s->what == GRAPH_WAITS) {
			now[t] = slack_of_node(g, s->number, &p->threads[t].events[s->at], when, later);
		} else if (s->what == GRAPH_POSTS) {
			when[s->number] = p->threads[t].events[s->at].truth;
			later[s->number] = now[t];
		}
	}
	int64_t end = slack_of_node(g, g->end, &(struct program_event){ .freed = 0 }, when, later);
	free(when);
	free(later);
	free(now);
	free(next);
	return end > 0 ? SLACK_LONG - end : SLACK_NEVER;
}

#endif

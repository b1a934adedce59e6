/* SPDX-License-Identifier: MIT
 *
 * graph_queues.c - turns: whom an event waited for because it came first. */
#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

uint32_t graph_queue(struct builder *b, enum graph_queue_kind kind, size_t permits)
{
	struct graph *g = b->graph;
	*MEM_GROW(g->queues, g->nqueues) = (struct graph_queue){ .kind = kind, .permits = (uint32_t)permits };
	return (uint32_t)g->nqueues - 1;
}

uint32_t graph_inbox(struct builder *b, uint32_t whose, uint32_t place, uint64_t accepts)
{
	uint64_t key = ids_mix((uint64_t)whose << 32 | place, accepts);
	if (ids_add(&b->inboxes.known, key))
		*MEM_GROW(b->inboxes.queues, b->inboxes.n) = graph_queue(b, GRAPH_INBOX, 0);
	return b->inboxes.queues[ids_find(&b->inboxes.known, key)];
}

static uint32_t queue_of(struct builder *b, const struct inbox_place *p)
{
	return graph_inbox(b, p->whose, p->site, p->accepts);
}

void graph_join_inboxes(struct builder *b, const struct inbox_place *one, const struct inbox_place *other)
{
	uint32_t to = queue_of(b, one), from = queue_of(b, other);
	for (size_t i = 0; i < b->inboxes.n; i++)
		if (b->inboxes.queues[i] == from)
			b->inboxes.queues[i] = to;
}

void graph_turn(struct builder *b, struct graph_turn turn)
{
	struct graph *g = b->graph;
	turn.node = (uint32_t)g->nnodes - 1;
	*SPILL_GROW(g->spill, g->turns, g->nturns) = turn;
}

/* SPDX-License-Identifier: MIT
 *
 * graph_loose.c - bytes of which it is not known which they are, since several took some at a time, or gave some, or connections
 * and other things of a queue that processes share: whose are they most likely?
 *
 * Law: nothing of it is proved. Where all that was given was taken, and both are recorded, on one host, it was taken in the order
 * in which it was given: that is how the kernel's queues are. Whoever comes first takes the next in another run. */
#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_bytes.h"

/* The end of what a loose one gave; those that are known came before. */
static void add_given(struct given_bytes **gave, size_t *n, const struct loose_bytes *l)
{
	uint64_t from = *n ? (*gave)[*n - 1].to : 0;
	*MEM_GROW(*gave, *n) = (struct given_bytes){ from + l->n, l->enter };
}

/* What gave the byte before this one, if there is such a byte. */
static const struct given_bytes *find_given(const struct given_bytes *gave, size_t n, uint64_t to)
{
	size_t i = SEARCH(n, mid, gave[mid].to < to);
	return i < n ? &gave[i] : NULL;
}

/* Takes so much, behind what was taken before. Returns whether that was there by then. */
static bool take(const struct builder *b, const struct loose_bytes *l, const struct given_bytes *gave, size_t n, uint64_t *taken,
		 const struct given_bytes **of)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	*taken += l->n;
	*of = find_given(gave, n, *taken);
	if (l->n == 0)
		return true;
	return *of && threads[l->exit.thread].clock == threads[(*of)->by.thread].clock &&
	       !graph_certainly_before(b, l->exit, (*of)->by);
}

/* It did not wait, here. Returns how many inputs come before what put there what it took, if that is known. */
static uint32_t have_at_once(struct builder *b, const struct loose_bytes *l, const struct event_ref *put)
{
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t begins = graph_begin_inputs(&l->begin, inputs), n = begins;
	if (put)
		inputs[n++] = (struct node_input){ .ref = *put, .likely = true };
	struct graph_node *node = graph_arrival(b, l->exit, GRAPH_BYTES, inputs, n);
	node->hidden = node->delayed = node->loose = true;
	node->polled = l->begin.tried;
	return (uint32_t)begins;
}

static void have(struct builder *b, const struct loose_bytes *l, struct event_ref put, uint32_t queue)
{
	struct unknown_wait *w = l->wait ? &b->unknown[l->wait - 1] : NULL;
	if (w)
		w->put = put;
	uint32_t first = w ? graph_unknown_put(b, w) : have_at_once(b, l, &put);
	graph_turn(b, (struct graph_turn){ .queue = queue, .first = first, .n = 1 });
}

void graph_place_loose(const struct builder *b, struct loose_channel *c)
{
	const struct given_bytes *of;
	uint64_t taken = c->taken;
	for (; c->n > 0 && c->v->gave; c->v++, c->n--)
		add_given(&c->gave, &c->ngave, c->v);
	c->placed = c->n > 0 && c->ngave > 0;
	for (size_t i = 0; i < c->n && c->placed; i++)
		c->placed = take(b, &c->v[i], c->gave, c->ngave, &taken, &of);
	c->placed = c->placed && taken == c->gave[c->ngave - 1].to;
}

void graph_have_loose(struct builder *b, const struct loose_channel *c, uint32_t queue)
{
	const struct given_bytes *of;
	uint64_t taken = c->taken;
	for (size_t i = 0; i < c->n; i++) {
		take(b, &c->v[i], c->gave, c->ngave, &taken, &of);
		if (c->placed && c->v[i].n > 0)
			have(b, &c->v[i], of->by, queue);
		else if (c->v[i].wait == 0)
			have_at_once(b, &c->v[i], NULL);
	}
}

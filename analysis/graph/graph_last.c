/* SPDX-License-Identifier: MIT
 *
 * graph_last.c - see graph_last.h. */
#include "analysis/graph/graph_last.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

struct moment graph_moment(const struct graph *g, const struct graph_input *input)
{
	return (struct moment){ g->trace->threads[input->thread].clock, input->stamp };
}

static struct moment latest_moment(const struct graph *g, const struct graph_input *input)
{
	return (struct moment){ g->trace->threads[input->thread].clock, graph_latest_stamp(g, input) };
}

frz_time graph_last_since(struct graph_last *l, const struct graph_input *input, struct moment until)
{
	frz_time t = times_between_near(l->graph->times, l->cursors, graph_moment(l->graph, input), until);
	if (input->open)
		t.lo = times_between_near(l->graph->times, l->cursors, latest_moment(l->graph, input), until).lo;
	return t;
}

frz_time graph_last_until(struct graph_last *l, struct moment from, const struct graph_input *input)
{
	frz_time t = times_between_near(l->graph->times, l->cursors, from, graph_moment(l->graph, input));
	if (input->open)
		t.hi = times_between_near(l->graph->times, l->cursors, from, latest_moment(l->graph, input)).hi;
	return t;
}

bool graph_was_waited_for(const struct graph_node *node, size_t i, const struct graph_input *input)
{
	bool one_of_them = node->kind == GRAPH_WOKEN && i > 0;
	bool in_there = node->inside && !input->needed; /* a region in there, most likely */
	return input->sure && !input->candidate && !one_of_them && !in_there && !node->guessed;
}

/* Whether an input was surely over before another one. */
static bool surely_before(struct graph_last *l, const struct graph_input *x, const struct graph_input *y)
{
	return graph_last_since(l, x, graph_moment(l->graph, y)).lo > 0;
}

/* Of those that were surely waited for, the latest on each clock; the one that is later than all others, as far as lower
 * bounds go, or NULL. */
static const struct graph_input *find_latest(struct graph_last *l, uint32_t number, uint32_t without)
{
	const struct graph_node *node = &l->graph->nodes[number];
	const struct graph_input *inputs = &l->graph->inputs[node->first], *latest = NULL;
	int64_t most = INT64_MIN;
	for (size_t i = 0; i < node->ninputs; i++) {
		uint32_t c = graph_moment(l->graph, &inputs[i]).clock;
		if (node->first + i == without || !graph_was_waited_for(node, i, &inputs[i]))
			continue;
		if (l->latest_of[c] != number || inputs[i].stamp > l->latest[c]->stamp)
			l->latest[c] = &inputs[i];
		l->latest_of[c] = number;
		int64_t lo = frz_time_of(&l->cursors[c], inputs[i].stamp).lo;
		if (latest && lo <= most)
			continue;
		latest = &inputs[i];
		most = lo;
	}
	return latest;
}

static void take_input(struct graph_last *l, uint32_t input)
{
	if (l->n == l->room)
		l->input = mem_resize(l->input, l->room = 2 * l->room + 16, sizeof *l->input);
	l->input[l->n++] = input;
}

/* All inputs that may have been the last: none that was waited for is surely later. `without`: one that does not count, or none. */
static void find_inputs(struct graph_last *l, uint32_t number, uint32_t without)
{
	const struct graph_node *node = &l->graph->nodes[number];
	const struct graph_input *latest = find_latest(l, number, without);
	bool known = number == l->graph->end && l->graph->ended_by_known;
	for (uint32_t i = node->first; i < node->first + node->ninputs; i++) {
		const struct graph_input *input = &l->graph->inputs[i];
		uint32_t c = graph_moment(l->graph, input).clock;
		if (known && input->candidate)
			continue;
		if (i == without || input->follows || (latest && surely_before(l, input, latest)))
			continue;
		if (l->latest_of[c] != number || !surely_before(l, input, l->latest[c]))
			take_input(l, i);
	}
}

/* ---- What was found is remembered ------------------------------------------------------------
 *
 * All who waited at one node ask for it, each in the course of its own thread. */

#define SEVERAL     (UINT32_C(1) << 31) /* in `of_node`: the rest is a place in `several` */
#define FEW_OF_MANY 8                   /* inputs for one that may have been the last: else they are soon found again */

static void remember(struct graph_last *l, uint32_t number)
{
	struct graph_found *found = l->graph->found;
	bool few = l->n * FEW_OF_MANY <= l->graph->nodes[number].ninputs && found->nseveral < SEVERAL;
	if (l->n == 1 && l->input[0] + 1 < SEVERAL)
		found->of_node[number] = l->input[0] + 1;
	if (l->n < 2 || !few)
		return;
	found->of_node[number] = SEVERAL | (uint32_t)found->nseveral;
	*SPILL_GROW(l->graph->spill, found->several, found->nseveral) = (uint32_t)l->n;
	for (size_t i = 0; i < l->n; i++)
		*SPILL_GROW(l->graph->spill, found->several, found->nseveral) = l->input[i];
}

static void recall(struct graph_last *l, uint32_t found)
{
	const uint32_t *several = &l->graph->found->several[found & ~SEVERAL];
	if (found & SEVERAL)
		for (uint32_t i = 1; i <= several[0]; i++)
			take_input(l, several[i]);
	else
		take_input(l, found - 1);
}

void graph_last_find(struct graph_last *l, uint32_t number)
{
	if (l->node == number)
		return;
	l->node = number;
	l->n = 0;
	uint32_t found = l->graph->found->of_node[number];
	if (found) {
		recall(l, found);
		return;
	}
	find_inputs(l, number, UINT32_MAX);
	remember(l, number);
}

void graph_last_find_without(struct graph_last *l, uint32_t number, uint32_t without)
{
	l->latest_of[graph_moment(l->graph, &l->graph->inputs[without]).clock] = GRAPH_NO_NODE;
	l->node = GRAPH_NO_NODE;
	l->n = 0;
	find_inputs(l, number, without);
	l->latest_of[graph_moment(l->graph, &l->graph->inputs[without]).clock] = GRAPH_NO_NODE;
}

/* From the last that it waited for until it went on: no longer than from any that it did wait for. */
frz_time graph_last_arrival(struct graph_last *l, uint32_t thread, uint64_t end)
{
	const struct graph_node *node = &l->graph->nodes[l->node];
	struct moment until = { l->graph->trace->threads[thread].clock, end };
	frz_time all = { INT64_MAX, 0 };
	int64_t most = INT64_MAX;
	for (size_t i = 0; i < l->n; i++) {
		const struct graph_input *input = &l->graph->inputs[l->input[i]];
		frz_time one = graph_last_since(l, input, until);
		all.lo = one.lo < all.lo ? one.lo : all.lo;
		all.hi = one.hi > all.hi ? one.hi : all.hi;
		if (graph_was_waited_for(node, l->input[i] - node->first, input))
			most = one.hi < most ? one.hi : most;
	}
	all.hi = most < all.hi ? most : all.hi;
	all.hi = all.hi > 0 ? all.hi : 0;
	all.lo = all.lo > 0 ? all.lo : 0;
	return all;
}

bool graph_last_is_doubtful(struct graph_last *l, frz_time *tried)
{
	const struct graph_node *node = &l->graph->nodes[l->node];
	const struct graph_input *own = &l->graph->inputs[node->first];
	if (node->kind != GRAPH_ARRIVAL || node->ninputs == 0 || graph_untold_ticks(own) == 0 ||
	    (l->n == 1 && l->input[0] == node->first))
		return false;
	*tried = times_of_thread(l->graph->times, own->thread, own->stamp + graph_untold_ticks(own), node->stamp);
	return graph_last_arrival(l, own->thread, node->stamp).hi > tried->lo;
}

void graph_last_open(struct graph_last *l, const struct graph *g)
{
	*l = (struct graph_last){ .graph = g, .cursors = times_cursors(g->times), .node = GRAPH_NO_NODE };
	l->latest = mem_resize(NULL, g->trace->nclocks, sizeof(struct graph_input *));
	l->latest_of = mem_resize(NULL, g->trace->nclocks, sizeof *l->latest_of);
	for (uint32_t c = 0; c < g->trace->nclocks; c++)
		l->latest_of[c] = GRAPH_NO_NODE;
	if (!g->found->of_node)
		g->found->of_node = spill_zeros(g->spill, g->nnodes, sizeof *g->found->of_node);
}

void graph_last_close(struct graph_last *l)
{
	free(l->cursors);
	free(l->input);
	free(l->latest);
	free(l->latest_of);
}

/* SPDX-License-Identifier: MIT
 *
 * graph_inside.c - regions inside of operations: signal handlers, and functions that MPI calls (graph.h has the law).
 *
 * Points of a thread move within its operation, and are to be sorted once more:
 *
 *	enter       region          region      exit
 *	posts ----> [    ] posts    waits [   ] <---- waits
 *	                       ^
 *	                       the last of the others came */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_private.h"

/* Someone whom the others have left behind waits at a node of its own: for itself, and for the last of them. */
struct left_behind { struct node_input inputs[2]; uint64_t stamp; };

struct inside_pass {
	struct builder *b;
	int64_t *left;           /* of each node: when the first who waited for it went on */
	struct left_behind *behind; size_t nbehind;
};

static int64_t middle_of(struct builder *b, uint32_t thread, uint64_t stamp)
{
	frz_time t = frz_time_of(&b->cursors[b->graph->trace->threads[thread].clock], stamp);
	return t.lo + (t.hi - t.lo) / 2;
}

static int64_t earlier(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static void find_left(struct inside_pass *p)
{
	const struct graph *g = p->b->graph;
	p->left = spill_zeros(p->b->spill, g->nnodes, sizeof *p->left);
	for (size_t i = 0; i < g->nnodes; i++, spill_relax(p->b->spill))
		p->left[i] = INT64_MAX;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		for (size_t i = 0; i < g->threads[t].nsyncs; i++, spill_relax(p->b->spill)) {
			const struct graph_sync_point *s = &g->threads[t].syncs[i];
			if (s->what == GRAPH_WAITS)
				p->left[s->number] = earlier(p->left[s->number], middle_of(p->b, t, s->stamp));
		}
}

static struct graph_sync_point *first_point(const struct graph_thread *t, uint64_t at)
{
	return t->syncs + SEARCH(t->nsyncs, mid, t->syncs[mid].at < at);
}

/* Its point, in the operation; or NULL. */
static struct graph_sync_point *find_posts(const struct graph *g, const struct inside *r, uint32_t input)
{
	const struct graph_thread *t = &g->threads[r->from.thread];
	for (struct graph_sync_point *s = first_point(t, r->enter_at); s < t->syncs + t->nsyncs && s->at <= r->exit_at; s++)
		if (s->what == GRAPH_POSTS && s->number == input)
			return s;
	return NULL;
}

#define NONE UINT32_MAX

/* The input of a node that is the thread's own; or NONE. */
static uint32_t own_input(const struct graph *g, const struct graph_node *node, uint32_t thread)
{
	for (uint32_t i = node->first; i < node->first + (node->kind == GRAPH_SYNC ? node->ninputs : 1); i++)
		if (g->inputs[i].thread == thread)
			return i;
	return NONE;
}

/* The last of the others that most likely were waited for; or NONE. */
static uint32_t last_input(struct builder *b, const struct graph_node *node, uint32_t own)
{
	const struct graph *g = b->graph;
	uint32_t last = NONE;
	int64_t when = INT64_MIN;
	for (uint32_t i = node->first; i < node->first + node->ninputs; i++) {
		int64_t came = middle_of(b, g->inputs[i].thread, g->inputs[i].stamp);
		if (i == own || g->inputs[i].candidate || came < when)
			continue;
		when = came;
		last = i;
	}
	return last;
}

/* Where an input is posted; at = NO_EVENT: that is not found. */
static struct event_ref event_of(const struct graph *g, uint32_t number)
{
	const struct graph_input *input = &g->inputs[number];
	const struct graph_thread *t = &g->threads[input->thread];
	struct event_ref ref = { input->thread, NO_EVENT, input->stamp };
	for (struct graph_sync_point *s = t->syncs + SEARCH(t->nsyncs, mid, t->syncs[mid].stamp < input->stamp);
	     s < t->syncs + t->nsyncs && s->stamp == input->stamp; s++)
		if (s->what == GRAPH_POSTS && s->number == number)
			ref.at = s->at;
	return ref;
}

/* The others have gone on while the region was not over: its thread waits for itself now. */
static void leave_behind(struct inside_pass *p, struct graph_sync_point *waits, struct event_ref to, uint32_t last)
{
	struct graph *g = p->b->graph;
	struct event_ref other = event_of(g, last);
	if (other.at == NO_EVENT)
		return;
	g->nodes[waits->number].nwaiting--;
	waits->number = (uint32_t)(g->nnodes + p->nbehind);
	*MEM_GROW(p->behind, p->nbehind) = (struct left_behind){
		{ { .ref = to, .sure = true, .needed = true }, { .ref = other, .sure = true, .needed = true } }, waits->stamp };
}

/* Of the regions in an operation, those that began before the last of the others came are before the waiting, and those that
 * began then are behind it. */
static void wait_between(struct inside_pass *p, struct graph_sync_point *waits, const struct inside *r, size_t n)
{
	struct graph *g = p->b->graph;
	struct graph_node *node = &g->nodes[waits->number];
	uint32_t thread = r->from.thread, own = own_input(g, node, thread);
	if (node->kind == GRAPH_UNKNOWN || node->behind || own == NONE)
		return;
	uint32_t last = last_input(p->b, node, own);
	int64_t came = last == NONE ? INT64_MAX : middle_of(p->b, g->inputs[last].thread, g->inputs[last].stamp);
	size_t before = 0;
	while (before < n && middle_of(p->b, thread, r[before].from.stamp) < came)
		before++;
	if (before < n) {
		waits->at = r[before].from.at;
		waits->stamp = r[before].from.stamp;
		node->stamp = node->nwaiting == 1 ? waits->stamp : node->stamp;
	}
	struct graph_sync_point *posts = before ? find_posts(g, r, own) : NULL;
	if (!posts)
		return;
	struct event_ref to = r[before - 1].to;
	if (last != NONE && middle_of(p->b, thread, to.stamp) > p->left[waits->number]) {
		leave_behind(p, waits, to, last);
		return;
	}
	posts->at = to.at;
	posts->stamp = g->inputs[own].stamp = to.stamp;
}

/* The regions of one operation. */
static void pass_operation(struct inside_pass *p, const struct inside *r, size_t n)
{
	const struct graph_thread *t = &p->b->graph->threads[r->from.thread];
	for (struct graph_sync_point *s = first_point(t, r->enter_at + 1); s < t->syncs + t->nsyncs && s->at <= r->exit_at; s++)
		if (s->what == GRAPH_WAITS)
			wait_between(p, s, r, n);
}

static void add_left_behind(struct inside_pass *p)
{
	for (size_t i = 0; i < p->nbehind; i++) {
		struct graph_node *node = &p->b->graph->nodes[graph_add_node(p->b, GRAPH_SYNC, p->behind[i].inputs, 2)];
		node->nwaiting = 1;
		node->stamp = p->behind[i].stamp;
	}
}

void graph_inside(struct builder *b)
{
	struct inside_pass p = { .b = b };
	if (b->ninside == 0)
		return;
	find_left(&p);
	for (size_t i = 0, next; i < b->ninside; i = next) {
		for (next = i + 1; next < b->ninside && b->inside[next].from.thread == b->inside[i].from.thread &&
				   b->inside[next].enter_at == b->inside[i].enter_at; next++)
			;
		pass_operation(&p, &b->inside[i], next - i);
	}
	add_left_behind(&p);
	free(p.behind);
	spill_free(b->spill, p.left);
}

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

#include "analysis/base/search.h"
#include "analysis/graph/graph_inside.h"

/* Someone waits at a node of its own: whom the others have left behind for itself, and for the last of them; and who has seen the
 * ends of others' regions in a collective operation for these. `adds`: it did not wait there. */
#define OWN_INPUTS 8
struct own_wait {
	struct node_input inputs[OWN_INPUTS]; size_t n; struct event_ref ref; bool adds;
	uint32_t of; /* the node that was left for it; or NONE */
};
#define NONE UINT32_MAX

/* A region is over in a collective operation, whose thread waits for a node. */
struct region_end { uint32_t node, next; struct event_ref to, until; /* the next one there begins, or the operation is over */ };
#define ENDS_SEEN 64 /* of a node */

struct inside_pass {
	struct builder *b;
	int64_t *left;           /* of each node: when the first who waited for it went on */
	struct own_wait *own; size_t nown; /* in the spill, as the following ones */
	struct region_end *ends; size_t nends;
	uint32_t *first_end;     /* of each node: its number and 1; or 0 */
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
	for (struct graph_sync_point *s = first_point(t, r->enter_at); s < t->syncs + t->nsyncs && s->at <= r->exit.at; s++)
		if (s->what == GRAPH_POSTS && s->number == input)
			return s;
	return NULL;
}

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
	uint32_t of = waits->number;
	g->nodes[of].nwaiting--;
	waits->number = (uint32_t)(g->nnodes + p->nown);
	*SPILL_GROW(p->b->spill, p->own, p->nown) = (struct own_wait){
		{ { .ref = to, .sure = true, .needed = true }, { .ref = other, .sure = true, .needed = true } }, 2,
		{ to.thread, waits->at, waits->stamp }, false, of };
}

/* Others may wait for the ends of these regions, which MPI calls. */
static void add_region_ends(struct inside_pass *p, uint32_t node, const struct inside *r, size_t n)
{
	if (!r->collective || p->b->graph->nodes[node].kind != GRAPH_SYNC)
		return;
	for (size_t i = 0; i < n; i++) {
		*SPILL_GROW(p->b->spill, p->ends, p->nends) = (struct region_end){
			node, p->first_end[node], r[i].to, i + 1 < n ? r[i + 1].from : r->exit };
		p->first_end[node] = (uint32_t)p->nends;
	}
}

/* What a thread that waits in an operation gives to its node, and the last of the others; NONE: it is not known what it waits
 * for. */
struct own_and_last { uint32_t own, last; };

static struct own_and_last find_own_and_last(struct builder *b, uint32_t number, uint32_t thread)
{
	const struct graph_node *node = &b->graph->nodes[number];
	uint32_t own = node->kind == GRAPH_UNKNOWN || node->behind ? NONE : own_input(b->graph, node, thread);
	return (struct own_and_last){ own, own == NONE ? NONE : last_input(b, node, own) };
}

/* How many of the regions in an operation began before the last of the others came. */
static size_t count_before(struct builder *b, struct own_and_last m, const struct inside *r, size_t n)
{
	const struct graph_input *last = m.last == NONE ? NULL : &b->graph->inputs[m.last];
	int64_t came = last ? middle_of(b, last->thread, last->stamp) : INT64_MAX;
	size_t before = 0;
	while (before < n && middle_of(b, r->from.thread, r[before].from.stamp) < came)
		before++;
	return before;
}

/* Who begins a region that MPI calls goes on. */
static void go_on_inside(struct inside_pass *p, const struct graph_sync_point *waits, const struct inside *r, size_t n)
{
	struct own_and_last m = find_own_and_last(p->b, waits->number, r->from.thread);
	size_t before = m.own == NONE ? n : count_before(p->b, m, r, n);
	int64_t *left = &p->left[waits->number];
	if (before < n && r->collective)
		*left = earlier(*left, middle_of(p->b, r->from.thread, r[before].from.stamp));
}

/* Of the regions in an operation, those that began before the last of the others came are before the waiting, and those that
 * began then are behind it. */
static void wait_between(struct inside_pass *p, struct graph_sync_point *waits, const struct inside *r, size_t n)
{
	struct graph *g = p->b->graph;
	struct graph_node *node = &g->nodes[waits->number];
	struct own_and_last m = find_own_and_last(p->b, waits->number, r->from.thread);
	uint32_t own = m.own, last = m.last;
	if (own == NONE)
		return;
	size_t before = count_before(p->b, m, r, n);
	if (before < n) {
		add_region_ends(p, waits->number, r + before, n - before);
		waits->at = r[before].from.at;
		waits->stamp = r[before].from.stamp;
		node->stamp = node->nwaiting == 1 ? waits->stamp : node->stamp;
	}
	struct graph_sync_point *posts = before ? find_posts(g, r, own) : NULL;
	if (!posts)
		return;
	struct event_ref to = r[before - 1].to;
	if (last != NONE && middle_of(p->b, to.thread, to.stamp) > p->left[waits->number]) {
		leave_behind(p, waits, to, last);
		return;
	}
	posts->at = to.at;
	posts->stamp = g->inputs[own].stamp = to.stamp;
}

/* Who takes part in the operation may wait for its regions. */
static void mark_nodes(struct graph *g, const struct inside *r)
{
	const struct graph_thread *t = &g->threads[r->from.thread];
	for (struct graph_sync_point *s = first_point(t, r->enter_at); s < t->syncs + t->nsyncs && s->at <= r->exit.at; s++) {
		const struct graph_node *node = graph_node_at(g, s);
		if (node)
			g->nodes[node - g->nodes].inside = 1;
	}
}

/* The regions of one operation: where its thread goes on, or for what it waits. */
static void pass_operation(struct inside_pass *p, const struct inside *r, size_t n, bool goes_on)
{
	const struct graph_thread *t = &p->b->graph->threads[r->from.thread];
	if (!goes_on)
		mark_nodes(p->b->graph, r);
	for (struct graph_sync_point *s = first_point(t, r->enter_at + 1); s < t->syncs + t->nsyncs && s->at <= r->exit.at; s++)
		if (s->what == GRAPH_WAITS && goes_on)
			go_on_inside(p, s, r, n);
		else if (s->what == GRAPH_WAITS)
			wait_between(p, s, r, n);
}

static void pass_operations(struct inside_pass *p, const struct inside_records *r, bool goes_on)
{
	for (size_t i = 0, next; i < r->n; i = next) {
		for (next = i + 1; next < r->n && r->v[next].from.thread == r->v[i].from.thread &&
				   r->v[next].enter_at == r->v[i].enter_at; next++)
			;
		pass_operation(p, &r->v[i], next - i, goes_on);
	}
}

static bool has_end_of(const struct own_wait *w, uint32_t thread)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->inputs[i].needed && w->inputs[i].ref.thread == thread)
			return true;
	return false;
}

/* Adds the last ends to which others of the node have come between two moments, as far as there is room. */
static void add_ends(struct inside_pass *p, struct own_wait *w, uint32_t node, uint32_t thread, int64_t from, int64_t to)
{
	size_t seen = 0;
	for (uint32_t next = p->first_end[node]; next && w->n < OWN_INPUTS && seen++ < ENDS_SEEN; next = p->ends[next - 1].next) {
		const struct region_end *e = &p->ends[next - 1];
		int64_t over = middle_of(p->b, e->to.thread, e->to.stamp);
		if (e->to.thread != thread && over > from && over < to && !has_end_of(w, e->to.thread))
			w->inputs[w->n++] = (struct node_input){ .ref = e->to, .sure = true };
	}
}

/* Who was in no region there, or began one behind the ends of others'. */
static void wait_for_ends(struct inside_pass *p, uint32_t thread, struct graph_sync_point *s)
{
	struct graph *g = p->b->graph;
	struct graph_node *node = &g->nodes[s->number];
	uint32_t own = own_input(g, node, thread), last = last_input(p->b, node, own);
	if (own == NONE || last == NONE)
		return;
	struct own_wait w = { { { .ref = event_of(g, own), .sure = true, .needed = true },
				{ .ref = event_of(g, last), .sure = true, .needed = true } }, 2,
			      { thread, s->at, s->stamp }, false, NONE };
	if (w.inputs[0].ref.at == NO_EVENT || w.inputs[1].ref.at == NO_EVENT)
		return;
	add_ends(p, &w, s->number, thread, INT64_MIN, middle_of(p->b, thread, s->stamp));
	if (w.n == 2)
		return;
	node->nwaiting--;
	s->number = (uint32_t)(g->nnodes + p->nown);
	*SPILL_GROW(p->b->spill, p->own, p->nown) = w;
}

/* Who was in a region there, and saw others' end behind that. */
static void wait_behind(struct inside_pass *p, const struct region_end *e)
{
	uint32_t thread = e->to.thread;
	struct own_wait w = { { { .ref = e->to, .sure = true, .needed = true } }, 1, e->until, true, NONE };
	add_ends(p, &w, e->node, thread, middle_of(p->b, thread, e->to.stamp), middle_of(p->b, thread, e->until.stamp));
	if (w.n > 1)
		*SPILL_GROW(p->b->spill, p->own, p->nown) = w;
}

/* Whom the others have left behind has seen the ends of regions that they came to without him. */
static void wait_behind_others(struct inside_pass *p, struct own_wait *w)
{
	if (w->of != NONE)
		add_ends(p, w, w->of, w->ref.thread, INT64_MIN, middle_of(p->b, w->ref.thread, w->ref.stamp));
}

static void wait_for_regions(struct inside_pass *p)
{
	struct graph *g = p->b->graph;
	size_t nnodes = g->nnodes;
	for (size_t i = 0; i < p->nown; i++)
		wait_behind_others(p, &p->own[i]);
	for (uint32_t t = 0; t < g->trace->nthreads && p->nends; t++)
		for (size_t i = 0; i < g->threads[t].nsyncs; i++, spill_relax(p->b->spill)) {
			struct graph_sync_point *s = &g->threads[t].syncs[i];
			if (s->what == GRAPH_WAITS && s->number < nnodes && p->first_end[s->number])
				wait_for_ends(p, t, s);
		}
	for (size_t i = 0; i < p->nends; i++)
		wait_behind(p, &p->ends[i]);
}

static void add_own(struct inside_pass *p)
{
	for (size_t i = 0; i < p->nown; i++) {
		const struct own_wait *w = &p->own[i];
		uint32_t number = graph_add_node(p->b, GRAPH_SYNC, w->inputs, w->n);
		struct graph_node *node = &p->b->graph->nodes[number];
		node->inside = 1;
		if (w->adds) {
			graph_wait(p->b, w->ref, number);
		} else {
			node->nwaiting = 1;
			node->stamp = w->ref.stamp;
		}
	}
}

void graph_inside(struct builder *b, const struct inside_records *r)
{
	struct inside_pass p = { .b = b };
	if (r->n == 0)
		return;
	find_left(&p);
	p.first_end = spill_zeros(b->spill, b->graph->nnodes, sizeof *p.first_end);
	pass_operations(&p, r, true);
	pass_operations(&p, r, false);
	wait_for_regions(&p);
	add_own(&p);
	spill_free(b->spill, p.own);
	spill_free(b->spill, p.ends);
	spill_free(b->spill, p.first_end);
	spill_free(b->spill, p.left);
}

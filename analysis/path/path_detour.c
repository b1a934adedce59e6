/* SPDX-License-Identifier: MIT
 *
 * path_detour.c - back from the end, over a message that is open: it may have come only with its sender's next call of MPI
 * (graph.h), and then the path was on the sender from that call on. The order of the graph's points does not say so, as two that
 * exchange messages could then wait for each other's next calls:
 *
 *     sender     ---x--------[wait w]------y---        the way back has passed by y, and perhaps by w
 *                    \ message, open      .
 *     receiver   -----[.................r]-----        r: one half of the flow goes on at x, the other at y
 *
 * So what comes to y goes back by itself, over all waits that have been passed, until it is where the way back is; and
 * both halves are one again wherever they come together. */
#include "analysis/path/path_private.h"
#include "analysis/base/search.h"

#define MOST_WAITS 64 /* gone back over, for one r: else it is not known where the path was */
#define MOST_LAST  16 /* that may have ended one of them */

/* The waits that were gone back over, the last one first. */
struct way {
	const struct way *before;
	uint32_t thread;
	size_t point;
};

struct detour {
	struct back *back;
	uint32_t message;    /* the input that is open */
	unsigned waits;      /* that may still be gone back over */
};

static void go_back_from(struct detour *, struct path_moment, uint64_t flow, const struct way *);

/* ---- Where a thread is ------------------------------------------------------------------------ */

static size_t point_at(const struct graph_thread *t, uint64_t event)
{
	return SEARCH(t->nsyncs, mid, t->syncs[mid].at < event);
}

struct path_moment path_next_call(const struct graph *g, const struct graph_input *input)
{
	const struct graph_open *call = graph_next_call(g, input);
	return (struct path_moment){ input->thread, call->stamp, call->at, point_at(&g->threads[input->thread], call->at) };
}

struct path_moment path_posted(const struct graph *g, uint32_t number)
{
	const struct graph_input *input = &g->inputs[number];
	const struct graph_thread *t = &g->threads[input->thread];
	size_t lo = SEARCH(t->nsyncs, mid, t->syncs[mid].stamp < input->stamp);
	while (t->syncs[lo].what != GRAPH_POSTS || t->syncs[lo].number != number)
		lo++;
	return (struct path_moment){ input->thread, input->stamp, t->syncs[lo].at, lo };
}

static bool has_passed(const struct back *b, struct path_moment p)
{
	return p.point >= b->places[p.thread].syncs;
}

/* Whoever goes back comes to nothing that is behind where it was. */
static bool is_behind(const struct way *way, struct path_moment p)
{
	for (; way; way = way->before)
		if (way->thread == p.thread && p.point > way->point)
			return true;
	return false;
}

/* ---- One stretch of a thread ------------------------------------------------------------------ */

/* Of a stretch in which the thread did not wait, that part which no stay has: if the path came to it, then it stayed
 * until the begin. */
static void add_missing(struct back *b, uint32_t thread, struct stay stay)
{
	const struct path_stay *p = &b->places[thread];
	const struct stays *s = &b->path->stays[thread];
	size_t at = s->n;
	uint64_t from = p->flow && p->until > stay.from ? p->until : stay.from;
	for (; at > 0 && s->v[at - 1].from < stay.to; at--) {
		const struct stay *other = &s->v[at - 1];
		from = other->to > from ? other->to : from;
		if (other->from == stay.from && other->at == stay.at)
			stay.at = STAY_BEGINS; /* and how it began */
	}
	stay.at = from > stay.from ? STAY_BEGINS : stay.at;
	stay.from = from;
	if (stay.from < stay.to || stay.at != STAY_BEGINS)
		path_add_stay(b, thread, stay, at);
}

/* Flow comes to a thread that has not waited between there and where the way back is. */
static void join(struct back *b, struct path_moment from, uint64_t flow)
{
	const struct graph_thread *t = &b->path->graph.threads[from.thread];
	struct path_stay *p = &b->places[from.thread];
	uint64_t now = p->syncs < from.point ? t->syncs[p->syncs].stamp : from.stamp;
	add_missing(b, from.thread, (struct stay){ .from = now, .to = from.stamp, .at = STAY_BEGINS });
	if (p->flow)
		path_end_stay(b, from.thread, (struct stay){ .from = now, .at = STAY_BEGINS });
	p->flow += flow;
	p->until = now;
}

/* ---- Over a wait ------------------------------------------------------------------------------ */

/* The half of it that goes on with a later call; if it can have come only then, and so on. */
static uint64_t go_to_next_call(struct detour *d, const struct graph_input *input, uint64_t flow, const struct way *way)
{
	if (!input->open || flow < 2)
		return 0;
	struct path_moment call = path_next_call(&d->back->path->graph, input);
	if (is_behind(way, call))
		return 0;
	go_back_from(d, call, flow / 2, way);
	return flow / 2;
}

static void go_to_input(struct detour *d, uint32_t number, uint64_t flow, const struct way *way)
{
	struct back *b = d->back;
	const struct graph *g = &b->path->graph;
	struct path_moment post = path_posted(g, number);
	flow -= go_to_next_call(d, &g->inputs[number], flow, way);
	if (is_behind(way, post))
		b->to_input[d->message] += flow; /* so it did not come that way */
	else if (has_passed(b, post))
		go_back_from(d, post, flow, way);
	else
		b->to_input[number] += flow;
}

/* All that may have ended a wait, which were found last. */
static void go_to_inputs(struct detour *d, uint64_t flow, const struct way *way)
{
	uint32_t input[MOST_LAST], n = (uint32_t)d->back->last.n;
	if (n > MOST_LAST || flow < n) {
		path_lose(d->back, way->thread, d->back->path->graph.threads[way->thread].syncs[way->point].stamp);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		input[i] = d->back->last.input[i];
	for (uint32_t i = 0; i < n; i++) {
		uint64_t part = flow / (n - i);
		flow -= part;
		go_to_input(d, input[i], part, way);
	}
}

static void go_over_wait(struct detour *d, struct path_moment from, size_t point, uint64_t flow, const struct way *before)
{
	struct back *b = d->back;
	const struct graph_sync_point *s = &b->path->graph.threads[from.thread].syncs[point];
	struct way way = { before, from.thread, point };
	if (d->waits == 0 || b->broken || !path_knows(&b->path->graph.nodes[s->number])) {
		path_lose(b, from.thread, from.stamp);
		return;
	}
	d->waits--;
	graph_last_find(&b->last, s->number);
	frz_time arrival = graph_last_arrival(&b->last, from.thread, s->stamp), tried;
	if (graph_last_is_doubtful(&b->last, &tried))
		path_lose(b, from.thread, from.stamp);
	add_missing(b, from.thread, (struct stay){ .from = s->stamp, .to = from.stamp, .at = s->at, .arrival = arrival });
	path_add_hops(b, from.thread, s->stamp, arrival);
	go_to_inputs(d, flow, &way);
}

/* ---- Back to where the way back is ------------------------------------------------------------ */

/* What a thread posts at an event first, from a point of it on; or the number of all points. */
static size_t post_at(const struct graph_thread *t, size_t point, uint64_t at)
{
	while (point < t->nsyncs && t->syncs[point].at == at && t->syncs[point].what != GRAPH_POSTS)
		point++;
	return point < t->nsyncs && t->syncs[point].at == at ? point : t->nsyncs;
}

static void go_back_from(struct detour *d, struct path_moment from, uint64_t flow, const struct way *way)
{
	struct back *b = d->back;
	const struct graph_thread *t = &b->path->graph.threads[from.thread];
	size_t now = b->places[from.thread].syncs, point = from.point, post;
	while (point > now && !path_came(b->path, from.thread, &t->syncs[point - 1]))
		point--;
	if (point > now)
		go_over_wait(d, from, point - 1, flow, way);
	else if (point == now)
		join(b, from, flow);
	else if ((post = post_at(t, point, from.at)) < t->nsyncs)
		b->to_input[t->syncs[post].number] += flow; /* it is still to come */
	else
		path_lose(b, from.thread, from.stamp);
}

bool path_detour(struct back *b, uint32_t thread, const struct graph_sync_point *s, uint64_t flow)
{
	const struct graph *g = &b->path->graph;
	struct way way = { NULL, thread, (size_t)(s - g->threads[thread].syncs) };
	struct detour d = { .back = b, .waits = MOST_WAITS };
	bool open = false;
	for (size_t i = 0; i < b->last.n && !open; i++) {
		open = g->inputs[b->last.input[i]].open;
		d.message = b->last.input[i];
	}
	if (open)
		go_to_inputs(&d, flow, &way);
	return open;
}

/* SPDX-License-Identifier: MIT
 *
 * graph_bytes.c - who gave the bytes that another took: pipes, socket pairs, connections (format.h).
 *
 * Law: whoever took bytes comes behind the entry of each operation that gave any of them, and could not come before
 * that of the first one, unless it is chance whose bytes come next. Where the channel's number stood for two channels,
 * or not all that was taken was given in the trace, it is not known what was waited for.
 *
 * Who gives waits for nobody, if there is room. How much there is no standard says: in another run anyone may have to
 * wait until its bytes are taken; and in this one it did, where nothing else explains how long it took. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_bytes.h"
#include "analysis/graph/graph_masters.h"

/* By channel, first who gave, by byte. */
static int by_byte(const void *x, const void *y)
{
	const struct moved_bytes *a = x, *b = y;
	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	if (a->gave != b->gave)
		return a->gave ? -1 : 1;
	return ORDER_2(a, b, from, enter.stamp);
}

/* Likewise, first who gave, when they began to, and then who took, when they had it. */
static int by_channel(const void *x, const void *y)
{
	const struct loose_bytes *a = x, *b = y;
	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	if (a->gave != b->gave)
		return a->gave ? -1 : 1;
	uint64_t left = a->gave ? a->enter.stamp : a->exit.stamp, right = b->gave ? b->enter.stamp : b->exit.stamp;
	return ORDER(left, right);
}

/* What was moved over one channel. */
struct bytes_channel {
	const struct moved_bytes *gave, *took;
	size_t ngave, ntook;
	bool reused;              /* a byte was given twice */
	bool several_take;               /* several threads take */
	bool shared;              /* or several give */
	uint32_t inbox;           /* of several threads that take; or NO_INBOX */
};
#define NO_INBOX UINT32_MAX

static bool are_of_several(const struct moved_bytes *m, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (m[i].enter.thread != m[0].enter.thread)
			return true;
	return false;
}

/* How many from `first` on, which are sorted, are of one channel. */
static size_t count_same(const struct moved_bytes *m, size_t n, size_t first)
{
	size_t i = first + 1;
	while (i < n && m[i].channel == m[first].channel)
		i++;
	return i - first;
}

static struct bytes_channel channel_of(const struct moved_bytes *m, size_t n)
{
	struct bytes_channel c = { .gave = m, .inbox = NO_INBOX };
	while (c.ngave < n && m[c.ngave].gave)
		c.ngave++;
	c.took = m + c.ngave;
	c.ntook = n - c.ngave;
	for (size_t i = 1; i < c.ngave; i++)
		c.reused |= m[i].from < m[i - 1].to;
	c.several_take = are_of_several(c.took, c.ntook);
	c.shared = c.several_take || are_of_several(c.gave, c.ngave);
	return c;
}

/* The last of those that begin at this byte or before it. */
static size_t find_giver(const struct bytes_channel *c, uint64_t byte)
{
	size_t lo = SEARCH(c->ngave, mid, c->gave[mid].from <= byte);
	return lo ? lo - 1 : 0;
}

/* How many from `first` on gave what was taken, all of it; or 0. */
static size_t count_givers(const struct bytes_channel *c, const struct moved_bytes *taken, size_t first)
{
	uint64_t byte = taken->from;
	size_t i = first;
	for (; i < c->ngave && byte < taken->to && c->gave[i].from <= byte && byte < c->gave[i].to; i++)
		byte = c->gave[i].to;
	return byte >= taken->to ? i - first : 0;
}

/* It did not block, and has not tried before: or a look just before has found it, and has waited if anything did. */
static bool took_at_once(const struct moved_bytes *taken)
{
	return !taken->blocked && (taken->begin.enter.at == taken->enter.at || taken->look.at != taken->enter.at);
}

/* Who took it at once has waited for nobody here, but may in another run. */
static void not_known(struct builder *b, const struct moved_bytes *taken)
{
	if (took_at_once(taken)) {
		struct node_input begin[BEGIN_INPUTS];
		size_t n = graph_begin_inputs(&taken->begin, begin);
		graph_wait_perhaps(b, taken->exit, graph_add_chance(b, GRAPH_UNKNOWN, begin, n));
		return;
	}
	graph_diagnose(&b->diagnosed.alone, taken->exit, taken->site);
	graph_unknown(b, taken->begin, taken->exit);
}

/* Others may take them, or others give them first; and who looks may find something else first. */
static bool is_chance(const struct bytes_channel *c, const struct moved_bytes *taken)
{
	return c->shared || taken->begin.tried || taken->chosen;
}

/* Where what was given as one piece, and taken as one, arrives with others: those that its taker, who is the only one of its
 * channel, takes there. */
static uint32_t inbox_of(struct builder *b, const struct bytes_channel *c, const struct moved_bytes *taken)
{
	return c->inbox != NO_INBOX ? c->inbox : graph_inbox(b, taken->exit.thread, taken->site, 0);
}

static bool is_of_process(const struct builder *b, const struct moved_bytes *gave, const struct moved_bytes *taken)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	return threads[gave->enter.thread].process == threads[taken->exit.thread].process;
}

/* Who else had to come before the last of those that gave what was waited for. To be freed. */
static struct node_input *find_alike(const struct builder *b, const struct bytes_channel *c, const struct moved_bytes *taken,
				     const struct moved_bytes *last, size_t *n)
{
	const struct moved_bytes *first = last - c->gave > GRAPH_POSTS_SEEN ? last - GRAPH_POSTS_SEEN : c->gave;
	struct event_ref *posts = NULL;
	size_t nposts = 0;
	*n = 0;
	if (c->reused || last->enter.stamp <= taken->enter.stamp || !is_of_process(b, last, taken))
		return NULL;
	for (; first <= last; first++)
		*MEM_GROW(posts, nposts) = first->enter;
	struct node_input *alike = graph_alike(b, posts, nposts - 1, taken->enter, taken->site, n);
	free(posts);
	return alike;
}

static void take_bytes(struct builder *b, const struct bytes_channel *c, const struct moved_bytes *taken)
{
	size_t first = find_giver(c, taken->from), givers = c->reused ? 0 : count_givers(c, taken, first);
	if (givers == 0) {
		not_known(b, taken);
		return;
	}
	bool by_chance = is_chance(c, taken), unsure = by_chance || taken->partial;
	size_t nalike;
	struct node_input *alike = find_alike(b, c, taken, &c->gave[first + givers - 1], &nalike);
	struct node_input *inputs = mem_resize(NULL, givers + nalike + BEGIN_INPUTS, sizeof *inputs);
	size_t n = graph_begin_inputs(&taken->begin, inputs), begins = n;
	unsure |= nalike > 0;
	for (size_t i = 0; i < givers; i++)
		inputs[n++] = (struct node_input){ .ref = c->gave[first + i].enter, .sure = true,
						   .needed = i == 0 && !unsure, .bytes = taken->to - taken->from };
	for (size_t i = 0; i < nalike; i++)
		inputs[n++] = alike[i];
	free(alike);
	struct graph_node *node = graph_arrival(b, taken->exit, GRAPH_BYTES, inputs, n);
	node->hidden = node->delayed = unsure;
	node->loose = unsure || givers > 1; /* the first bytes may do */
	node->posted = true;
	node->polled = taken->begin.tried;
	bool in_turns = c->shared || taken->begin.tried || taken->found;
	if (in_turns && c->gave[first].from == taken->from && c->gave[first].to == taken->to)
		graph_turn(b, (struct graph_turn){ .first = (uint32_t)begins, .n = 1, .queue = inbox_of(b, c, taken) });
	free(inputs);
}

#define AT_ONCE 8 /* within such a part of the time since then */

/* Whoever asked for more was told at once that there is none, long after the other side had done anything: it was known before. */
static bool had_ended(const struct moved_bytes *taken)
{
	uint64_t enter = taken->enter.stamp, other = taken->other.stamp;
	return other < enter && taken->exit.stamp - enter < (enter - other) / AT_ONCE;
}

/* Whether its process had ended by then, and nobody had closed the channel before: that is in no record. */
static bool ended_with(const struct builder *b, struct event_ref other, uint64_t until)
{
	const struct tr_thread *t = other.at == NO_EVENT ? NULL : &b->graph->trace->threads[other.thread];
	return t && t->ran_on && t->ended <= until && other.at + 1 == b->graph->threads[other.thread].nevents;
}

/* There will be no more bytes, since whoever gave them has closed the channel, or ended: some time behind the last. Where nobody
 * has waited for that, most likely as soon as the last were given. Who listens to several may be told so by another one first. */
static void find_end(struct builder *b, const struct bytes_channel *c, const struct moved_bytes *taken)
{
	struct node_input inputs[BEGIN_INPUTS + 2];
	size_t n = graph_begin_inputs(&taken->begin, inputs);
	if (c->reused || c->ngave == 0 || c->gave[c->ngave - 1].to != taken->from) {
		not_known(b, taken);
		return;
	}
	bool other = taken->other.at != NO_EVENT, behind = other && !had_ended(taken), arrives = taken->chosen && !c->several_take;
	size_t gave = n;
	inputs[n++] = (struct node_input){ .ref = c->gave[c->ngave - 1].enter, .sure = true, .needed = !is_chance(c, taken),
					   .candidate = arrives && behind };
	if (other)
		inputs[n++] = (struct node_input){ .ref = taken->other, .sure = true, .candidate = !behind };
	struct graph_node *node = graph_arrival(b, taken->exit, GRAPH_BYTES_ENDED, inputs, n);
	node->hidden = node->delayed = node->posted = true;
	node->doubted = taken->blocked && !ended_with(b, taken->other, taken->exit.stamp);
	if (arrives && taken->found)
		graph_turn(b, (struct graph_turn){ .first = (uint32_t)(gave + behind), .n = 1, .queue = inbox_of(b, c, taken) });
}

struct graph_node *graph_room(struct builder *b, struct wait_begin begin, struct event_ref other, struct event_ref exit)
{
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&begin, inputs);
	if (other.at != NO_EVENT)
		inputs[n++] = (struct node_input){ .ref = other, .candidate = true };
	struct graph_node *node = graph_arrival(b, exit, GRAPH_BYTES_GIVEN, inputs, n);
	node->hidden = node->delayed = true;
	return node;
}

/* Whoever of several takes gets the next piece of work. */
static void find_pool(struct builder *b, const struct bytes_channel *c, const struct loose_channel *l)
{
	struct take *takes = mem_resize(NULL, c->ntook + l->n + 1, sizeof *takes);
	size_t ntakes = 0;
	for (size_t i = 0; i < c->ntook; i++)
		takes[ntakes++] = (struct take){ .ref = c->took[i].exit, .has = c->took[i].exit,
						 .place.site = c->took[i].site, .goes_on = c->took[i].goes_on };
	for (size_t i = 0; i < l->n && l->placed; i++)
		takes[ntakes++] = (struct take){ .ref = l->v[i].exit, .has = l->v[i].exit, .place.site = l->v[i].site };
	graph_find_pool(b, takes, ntakes);
	free(takes);
}

static struct loose_channel place_loose(const struct builder *b, const struct bytes_channel *c,
					const struct loose_bytes *v, size_t n)
{
	struct loose_channel l = { .v = v, .n = n };
	for (size_t i = 0; i < c->ngave && n > 0; i++)
		*MEM_GROW(l.gave, l.ngave) = (struct given_bytes){ c->gave[i].to, c->gave[i].enter };
	for (size_t i = 0; i < c->ntook; i++)
		l.taken = c->took[i].to > l.taken ? c->took[i].to : l.taken;
	graph_place_loose(b, &l);
	l.placed = l.placed && !c->reused;
	return l;
}

/* Who takes by chance listens to whoever gave; who gives may answer whoever takes. */
static void note_exchanges(struct builder *b, const struct bytes_channel *c, struct exchange_records *exchanges)
{
	for (size_t i = 0; i < c->ntook; i++) {
		const struct moved_bytes *taken = &c->took[i];
		size_t first = find_giver(c, taken->from), n = c->reused ? 0 : count_givers(c, taken, first);
		if (is_chance(c, taken) && n > 0)
			graph_note_request(b, exchanges, taken->exit, c->gave[first + n - 1].enter, taken->site);
	}
	for (size_t i = 0; i < c->ngave && c->ntook > 0 && !c->several_take; i++)
		graph_note_reply(b, exchanges, c->gave[i].enter, c->took[0].enter.thread, 0);
}

static void add_channel(struct builder *b, struct bytes_channel *c, const struct loose_bytes *loose, size_t nloose,
			struct exchange_records *exchanges)
{
	struct loose_channel l = place_loose(b, c, loose, nloose);
	note_exchanges(b, c, exchanges);
	if (c->several_take || l.placed) {
		c->inbox = graph_queue(b, GRAPH_INBOX, 0);
		find_pool(b, c, &l);
	}
	for (size_t i = 0; i < c->ntook; i++)
		(c->took[i].to > c->took[i].from ? take_bytes : find_end)(b, c, &c->took[i]);
	graph_have_loose(b, &l, c->inbox);
	free(l.gave);
	bool in_turns = are_of_several(c->gave, c->ngave); /* then there may be room for another first */
	for (size_t i = 0; i < c->ngave; i++)
		graph_room(b, c->gave[i].begin, c->gave[i].other, c->gave[i].exit)->loose = in_turns;
}

/* ---- What the other side did ----------------------------------------------------------------- */

/* Of a thread the last event before this has blocked no longer. */
struct question { uint32_t thread; struct moved_bytes *of; };

static int by_thread(const void *x, const void *y)
{
	const struct question *a = x, *b = y;
	return ORDER_2(a, b, thread, of->exit.stamp);
}

/* Of one thread, in the order of their stamps. */
static void answer(const struct builder *b, const struct question *q, size_t n)
{
	struct tr_cursor events = trace_events(b->graph->trace, q->thread);
	struct event_ref last = { q->thread, NO_EVENT, 0 };
	struct tr_event e;
	for (uint64_t at = 0; n > 0 && trace_next(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		for (; n > 0 && q->of->exit.stamp < e.stamp; q++, n--)
			q->of->other = last;
		last = (struct event_ref){ q->thread, at, e.stamp };
	}
	for (; n > 0; q++, n--)
		q->of->other = last.at == NO_EVENT ? last : graph_end_of(b, q->thread, q->of->exit.stamp);
	trace_end(&events);
}

/* Who gives asks for who takes, and who takes for who gives: for one thread, if there is no other. However many others give, who
 * takes makes room for all. */
static const struct moved_bytes *other_of(const struct bytes_channel *c, const struct moved_bytes *m)
{
	if (m->gave)
		return c->ntook && !c->several_take ? c->took : NULL;
	return c->ngave && !c->shared ? c->gave : NULL;
}

/* It waited for room, or for the end; and the other side is on the same clock, and another thread: nobody waits for what they
 * do themselves later. */
static bool asks(const struct builder *b, const struct bytes_channel *c, const struct moved_bytes *m)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	const struct moved_bytes *other = other_of(c, m);
	return other && m->blocked && (m->gave || m->to == m->from) && other->enter.thread != m->enter.thread &&
	       threads[other->enter.thread].clock == threads[m->enter.thread].clock;
}

static struct bytes_channel next_channel(const struct byte_records *r, size_t first, size_t *n)
{
	*n = count_same(r->v, r->n, first);
	return channel_of(&r->v[first], *n);
}

/* Of all channels, so that each thread is read once. */
static void look_at_others(const struct builder *b, const struct byte_records *r)
{
	struct moved_bytes *m = r->v;
	struct question *asked = NULL;
	size_t nasked = 0;
	for (size_t i = 0, n; i < r->n; i += n) {
		struct bytes_channel c = next_channel(r, i, &n);
		for (size_t k = i; k < i + n; k++)
			if (asks(b, &c, &m[k]))
				*MEM_GROW(asked, nasked) = (struct question){ other_of(&c, &m[k])->enter.thread, &m[k] };
	}
	if (nasked)
		qsort(asked, nasked, sizeof *asked, by_thread);
	for (size_t i = 0, next; i < nasked; i = next) {
		for (next = i + 1; next < nasked && asked[next].thread == asked[i].thread;)
			next++;
		answer(b, &asked[i], next - i);
	}
	free(asked);
}

/* When the first of those was given that were taken. */
static void find_given(const struct bytes_channel *c, struct moved_bytes *moved, size_t n)
{
	for (struct moved_bytes *m = moved; m < moved + n; m++) {
		size_t first = find_giver(c, m->from);
		if (!m->gave && m->to > m->from && !c->reused && count_givers(c, m, first) > 0)
			m->given = c->gave[first].enter;
	}
}

void graph_bytes(struct builder *b, struct byte_records *r, struct exchange_records *exchanges)
{
	size_t n;
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_byte);
	runs_sort(b->spill, r->loose, r->nloose, sizeof *r->loose, by_channel);
	look_at_others(b, r);
	for (size_t i = 0; i < r->n; i += n) {
		struct bytes_channel c = next_channel(r, i, &n);
		find_given(&c, &r->v[i], n);
	}
	graph_find_looks(b, r);
	size_t nloose, k = 0;
	for (size_t i = 0; i < r->n || k < r->nloose; i += n, k += nloose) {
		uint64_t channel = k == r->nloose || (i < r->n && r->v[i].channel < r->loose[k].channel) ? r->v[i].channel
													: r->loose[k].channel;
		struct bytes_channel c = { .gave = r->v, .took = r->v, .inbox = NO_INBOX };
		for (n = 0, nloose = 0; k + nloose < r->nloose && r->loose[k + nloose].channel == channel;)
			nloose++;
		if (i < r->n && r->v[i].channel == channel)
			c = next_channel(r, i, &n);
		add_channel(b, &c, r->loose + k, nloose, exchanges);
	}
}

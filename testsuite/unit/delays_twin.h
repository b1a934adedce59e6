/* SPDX-License-Identifier: MIT
 *
 * delays_twin.h - what the waiting of a program of known truth goes back to, by the definition in analysis/waits/waits.h alone: on
 * a clock that shows the truth, wait by wait from the last to the first, every place looked up along the whole thread. */
#ifndef DELAYS_TWIN_H
#define DELAYS_TWIN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/waits/waits.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/ends_twin.h"
#include "testsuite/unit/unit.h"

#define TWIN_ROWS (PROGRAM_SITES + 1) /* the last: outside */

struct twin_piece { int64_t from, to; uint32_t row; };
struct twin_wait {
	uint32_t thread, point, site;
	int64_t own, last, begin, end;
	uint32_t mine, other, its;   /* my point, and the other thread's */
	double inherited;
};

struct delays_twin {
	const struct program *p;
	const struct graph *g;
	struct { struct twin_piece *v; size_t n; } *pieces; /* of each thread */
	struct twin_wait *waits; size_t n;
	double (*cost)[2][TWIN_ROWS]; /* of each thread: short and long term */
	double uncaused, all;
};

static int64_t twin_time(const struct delays_twin *t, uint32_t thread, uint32_t point)
{
	return t->p->threads[thread].events[t->g->threads[thread].syncs[point].at].truth;
}

/* Where a thread was between its events. */
static void twin_add_pieces(struct delays_twin *t, uint32_t thread)
{
	const struct trace *trace = t->g->trace;
	struct tr_cursor events = trace_places(trace, thread);
	struct tr_event e;
	uint32_t open[64], n = 0;
	int64_t since = -1;

	while (trace_next(&events, &e)) {
		uint32_t row = PROGRAM_SITES;
		for (uint32_t i = 0; i < n; i++)
			if (tr_is(trace, open[i], OP_REGION | OP_OTHERS))
				row = open[i];
		if (since >= 0)
			*MEM_GROW(t->pieces[thread].v, t->pieces[thread].n) = (struct twin_piece){ since, (int64_t)e.stamp, row };
		since = (int64_t)e.stamp;
		if (e.op == DPROF_ENTER)
			open[n++] = e.site;
		else if (e.op == DPROF_EXIT)
			n--;
	}
	trace_end(&events);
}

/* When the outermost operation began in which the thread was before an event; INT64_MIN: it was in none. */
static int64_t twin_operation(const struct delays_twin *t, uint32_t thread, size_t at)
{
	int64_t began = INT64_MIN;
	unsigned depth = 0;

	for (size_t i = 0; i < at; i++) {
		const struct program_event *e = &t->p->threads[thread].events[i];
		if (!tr_is(t->g->trace, e->site, OP_OTHERS) || e->op == DPROF_POINT)
			continue;
		if (e->op == DPROF_ENTER && depth++ == 0)
			began = e->truth;
		else if (e->op == DPROF_EXIT)
			depth--;
	}
	return depth ? began : INT64_MIN;
}

static void twin_add_wait(struct delays_twin *t, uint32_t thread, uint32_t point, int64_t before)
{
	const struct graph_sync_point *s = &t->g->threads[thread].syncs[point];
	const struct graph_node *node = &t->g->nodes[s->number];
	struct twin_wait w = { .thread = thread, .point = point, .site = t->p->threads[thread].events[s->at].site,
			       .own = INT64_MAX, .last = INT64_MIN, .end = twin_time(t, thread, point) };

	for (size_t i = node->first; i < node->first + node->ninputs; i++) {
		const struct graph_input *input = &t->g->inputs[i];
		uint32_t posted = twin_posted(t->g, i);
		int64_t when = twin_time(t, input->thread, posted);
		if (input->thread == thread && (node->kind == GRAPH_SYNC || i == node->first)) {
			w.own = when;
			w.mine = posted;
		} else if (twin_ends(&t->p->threads[thread].events[s->at], input) && when > w.last) {
			w.last = when;
			w.other = input->thread;
			w.its = input->progress ? twin_posted(t->g, i - 1) : posted;
		}
	}
	if (w.own == INT64_MAX)
		return;
	int64_t operation = twin_operation(t, thread, s->at);
	w.begin = w.own > operation ? w.own : operation;
	w.begin = w.begin > before ? w.begin : before;
	w.last = w.last > w.own ? w.last : w.own;
	t->all += (double)(w.last - w.own);
	*MEM_GROW(t->waits, t->n) = w;
}

/* ---- Where two had synchronised last --------------------------------------------------------- */

static bool twin_node(const struct delays_twin *t, uint32_t thread, uint32_t point, uint32_t *node)
{
	const struct graph_sync_point *s = &t->g->threads[thread].syncs[point];
	const struct graph_input *input = s->what == GRAPH_POSTS ? &t->g->inputs[s->number] : NULL;

	*node = input ? input->node : s->number;
	return s->what == GRAPH_WAITS || (input && input->sure && !input->candidate);
}

/* Whether a thread waited at a point of its own, and what ended that is what another one posted. */
static const struct twin_wait *twin_brought(const struct delays_twin *t, uint32_t thread, uint32_t point,
					    uint32_t other, uint32_t posted)
{
	for (size_t k = 0; k < t->n; k++) {
		const struct twin_wait *w = &t->waits[k];
		if (w->thread == thread && w->point == point && w->last > w->own && w->other == other && w->its == posted)
			return w;
	}
	return NULL;
}

/* Two threads, each up to a point, and at the end of a wait of the other one, if there is one; and where they had synchronised. */
struct twin_pair { uint32_t thread, mine, other, its, except; const struct twin_wait *upto; };
struct twin_sync {
	uint32_t a, b;               /* points up to there, or 0 */
	const struct twin_wait *ended; /* the wait that ended there: of one of both, or NULL */
	bool taken;                  /* the other thread had not waited: what was posted was there */
	bool begins;
};

/* What was posted at a point is taken by another thread, sooner or later: when that wait was over. */
static const struct twin_wait *twin_taken(const struct delays_twin *t, uint32_t other, uint32_t point, const struct graph_sync_point *post)
{
	const struct graph_node *node = &t->g->nodes[t->g->threads[other].syncs[point].number];

	if (post->what != GRAPH_POSTS || t->g->threads[other].syncs[point].what != GRAPH_WAITS || !graph_is_known(node) ||
	    node->kind == GRAPH_WOKEN || (node->kind == GRAPH_ARRIVAL && node->what == GRAPH_LOCKED))
		return NULL;
	for (size_t k = 0; k < t->n; k++)
		if (t->waits[k].thread == other && t->waits[k].point == point)
			return &t->waits[k];
	return NULL;
}

/* Whether what is at two points of them is where they had. */
static bool twin_met_at(const struct delays_twin *t, const struct twin_pair *p, uint32_t i, uint32_t k, struct twin_sync *s)
{
	const struct graph_sync_point *x = &t->g->threads[p->thread].syncs[i], *y = &t->g->threads[p->other].syncs[k];
	uint32_t m, n;

	if (!twin_node(t, p->thread, i, &m) || !twin_node(t, p->other, k, &n) || m != n || m == p->except)
		return false;
	const struct twin_wait *mine = twin_brought(t, p->thread, i, p->other, k);
	s->ended = mine ? mine : twin_brought(t, p->other, k, p->thread, i);
	s->begins = (x->at == 0 && x->what == GRAPH_WAITS) || (y->at == 0 && y->what == GRAPH_WAITS);
	if (s->ended || s->begins || (x->what == GRAPH_WAITS && y->what == GRAPH_WAITS))
		return true;
	s->ended = twin_taken(t, p->other, k, x);
	s->taken = s->ended;
	return s->taken;
}

static bool twin_met(const struct delays_twin *t, const struct twin_pair *p, uint32_t a, uint32_t b, struct twin_sync *s)
{
	const struct graph_sync_point *x = t->g->threads[p->thread].syncs, *y = t->g->threads[p->other].syncs;

	for (uint32_t i = a; i > 0 && x[i - 1].at == x[a - 1].at; i--)
		for (uint32_t k = b; k > 0 && y[k - 1].at == y[b - 1].at; k--)
			if (twin_met_at(t, p, i - 1, k - 1, s)) {
				s->a = a;
				s->b = b;
				return true;
			}
	return false;
}

/* Points up to each event that counts, back from that of a point; 0 behind the first of the thread. */
static uint32_t *twin_events(const struct delays_twin *t, uint32_t thread, uint32_t point, uint32_t except)
{
	const struct graph_thread *of = &t->g->threads[thread];
	uint32_t *list = NULL, node;
	size_t n = 0;

	for (uint32_t i = (uint32_t)of->nsyncs; i-- > 0;)
		if (of->syncs[i].at <= of->syncs[point].at && twin_node(t, thread, i, &node) && node != except &&
		    (n == 0 || of->syncs[list[n - 1] - 1].at != of->syncs[i].at))
			*MEM_GROW(list, n) = i + 1;
	*MEM_GROW(list, n) = 0;
	return list;
}

static struct twin_sync twin_since(const struct delays_twin *t, const struct twin_pair *p)
{
	struct twin_sync s = { 0 };
	uint32_t *x = twin_events(t, p->thread, p->mine, p->except), *y = twin_events(t, p->other, p->its, p->except);
	uint32_t nx = 0, ny = 0; /* that have been looked at */
	bool found = false;

	for (uint32_t back = 0; back < DELAYS_LOOK_BACK && !found && (x[nx] || y[ny]); back++) {
		for (uint32_t i = 0; i < ny && !found && x[nx]; i++)
			found = twin_met(t, p, x[nx], y[i], &s);
		nx += x[nx] > 0;
		for (uint32_t i = 0; i < nx && !found && y[ny]; i++)
			found = twin_met(t, p, x[i], y[ny], &s);
		ny += y[ny] > 0;
	}
	ck_assert_msg(found || (!x[nx] && !y[ny]), "SEED=%" PRIu64 ": a thread with very many points", t->p->seed);
	free(x);
	free(y);
	s.begins |= !found;
	return s;
}

/* How late the other thread was there. */
static int64_t twin_late(const struct delays_twin *t, const struct twin_pair *p, const struct twin_sync *s)
{
	int64_t since = s->a ? twin_time(t, p->thread, s->a - 1) : t->p->threads[p->thread].events[0].truth, late = 0;

	if (s->taken)
		late = s->ended->last - since;
	else if (s->begins && s->b <= 1)
		late = t->p->threads[p->other].events[0].truth - since;
	return late > 0 ? late : 0;
}

/* ---- What they did since --------------------------------------------------------------------- */

static bool twin_within(const struct twin_wait *k, uint32_t thread, uint32_t since, uint32_t point)
{
	return k->thread == thread && k->point >= since && k->point < point;
}

static double twin_transfer(const struct twin_wait *w)
{
	int64_t longer = w->end - w->begin - (w->last - w->own);
	return longer > 0 ? (double)longer : 0;
}

/* How long it was in each row, but for waiting. */
static void twin_profile(const struct delays_twin *t, uint32_t thread, uint32_t since, uint32_t point,
			 const struct twin_wait *ended, double *rows)
{
	int64_t from = since ? twin_time(t, thread, since - 1) : INT64_MIN, to = twin_time(t, thread, point);

	memset(rows, 0, TWIN_ROWS * sizeof *rows);
	for (size_t i = 0; i < t->pieces[thread].n; i++) {
		struct twin_piece x = t->pieces[thread].v[i];
		x.from = x.from > from ? x.from : from;
		x.to = x.to < to ? x.to : to;
		if (x.to <= x.from)
			continue;
		rows[x.row] += (double)(x.to - x.from);
		for (size_t k = 0; k < t->n; k++) {
			const struct twin_wait *w = &t->waits[k];
			int64_t begin = w->begin > x.from ? w->begin : x.from, end = w->end < x.to ? w->end : x.to;
			if (w->thread == thread && end > begin)
				rows[x.row] -= (double)(end - begin);
		}
	}
	for (size_t k = 0; k < t->n; k++) {
		const struct twin_wait *w = &t->waits[k];
		if (twin_within(w, thread, since, point) || (w == ended && w->thread == thread))
			rows[w->site] += twin_transfer(w);
	}
}

static bool twin_waited(const struct twin_wait *k, const struct twin_pair *p, const struct twin_sync *s)
{
	return k == p->upto || twin_within(k, p->other, s->b, p->its);
}

/* What a wait costs goes to what the other thread did since they had synchronised. Returns the part of how late it was then. */
static double twin_share(struct delays_twin *t, const struct twin_pair *p, const struct twin_sync *s, double own, double inherited)
{
	double a[TWIN_ROWS], b[TWIN_ROWS], late = (double)twin_late(t, p, s), sum = late;

	twin_profile(t, p->thread, s->a, p->mine, s->ended, a);
	twin_profile(t, p->other, s->b, p->its, s->ended, b);
	for (unsigned i = 0; i < TWIN_ROWS; i++)
		sum += b[i] = b[i] > a[i] ? b[i] - a[i] : 0;
	for (size_t k = 0; k < t->n; k++)
		if (twin_waited(&t->waits[k], p, s))
			sum += (double)(t->waits[k].last - t->waits[k].own);
	if (sum == 0) {
		t->uncaused += own + inherited;
		return 0;
	}
	for (unsigned i = 0; i < TWIN_ROWS; i++) {
		t->cost[p->other][0][i] += own * b[i] / sum;
		t->cost[p->other][1][i] += inherited * b[i] / sum;
	}
	for (size_t k = 0; k < t->n; k++)
		if (twin_waited(&t->waits[k], p, s))
			t->waits[k].inherited += (own + inherited) * (double)(t->waits[k].last - t->waits[k].own) / sum;
	return late / sum;
}

static void twin_share_out(struct delays_twin *t, const struct twin_wait *w)
{
	struct twin_pair p = { w->thread, w->mine, w->other, w->its, t->g->threads[w->thread].syncs[w->point].number, NULL };
	double own = (double)(w->last - w->own), inherited = w->inherited;

	for (unsigned rounds = 0; own > 0 || inherited > 0; rounds++) {
		const struct twin_sync s = twin_since(t, &p);
		double part = twin_share(t, &p, &s, own, inherited);
		own *= part;
		inherited *= part;
		if (!s.taken) {
			t->uncaused += own + inherited;
			break;
		}
		ck_assert_msg(rounds + 1 < DELAYS_LOOK_BACK, "SEED=%" PRIu64 ": late again and again", t->p->seed);
		p.except = t->g->threads[p.other].syncs[s.ended->point].number;
		p.mine = s.a - 1;
		p.its = s.ended->mine;
		p.upto = s.ended;
	}
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int twin_later(const void *x, const void *y)
{
	const struct twin_wait *a = x, *b = y;
	return (a->last < b->last) - (a->last > b->last);
}

/* Of those that end at the same moment, one to which no other passes anything on comes next. */
static struct twin_wait *twin_next(struct delays_twin *t, size_t from)
{
	for (size_t i = from; i < t->n && t->waits[i].last == t->waits[from].last; i++) {
		struct twin_wait x = t->waits[i];
		bool last = true;
		for (size_t k = from; k < t->n && t->waits[k].last == x.last; k++)
			last &= t->waits[k].other != x.thread || t->waits[k].its <= x.point;
		if (!last)
			continue;
		t->waits[i] = t->waits[from];
		t->waits[from] = x;
		break;
	}
	return &t->waits[from];
}

static void twin_open(struct delays_twin *t, const struct program *p, const struct graph *g)
{
	*t = (struct delays_twin){ .p = p, .g = g };
	t->pieces = mem_resize(NULL, p->nthreads, sizeof *t->pieces);
	memset(t->pieces, 0, p->nthreads * sizeof *t->pieces);
	t->cost = mem_resize(NULL, p->nthreads, sizeof *t->cost);
	memset(t->cost, 0, p->nthreads * sizeof *t->cost);
	for (uint32_t thread = 0; thread < p->nthreads; thread++) {
		int64_t before = INT64_MIN;
		twin_add_pieces(t, thread);
		for (uint32_t i = 0; i < g->threads[thread].nsyncs; i++) {
			if (g->threads[thread].syncs[i].what != GRAPH_WAITS)
				continue;
			twin_add_wait(t, thread, i, before);
			before = twin_time(t, thread, i);
		}
	}
	if (t->n)
		qsort(t->waits, t->n, sizeof *t->waits, twin_later);
	for (size_t i = 0; i < t->n; i++) {
		const struct twin_wait *w = twin_next(t, i);
		if (w->last > w->own || w->inherited > 0)
			twin_share_out(t, w);
	}
}

static void twin_close(struct delays_twin *t)
{
	for (size_t i = 0; i < t->p->nthreads; i++)
		free(t->pieces[i].v);
	free(t->pieces);
	free(t->cost);
	free(t->waits);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * greedy_ready.c - pieces of work that are ready only when others are done: jobs that depend on others.
 *
 *   lock, done[own] = true, signal all, while (none is ready) wait, take one, unlock, work
 *
 * Nobody says which depends on which. But where those who wait for a piece are woken by those who take pieces, a piece that
 * somebody waited for was ready when he was woken; and one that was taken while somebody waited was ready only then: when its
 * thread was through with the piece before. What was taken when nobody waited has been ready since somebody was woken last.
 *
 * Whoever comes while none is ready waits in turn; what he did there for whoever waited, he does first. Who is through with one
 * takes what is ready with that, if its thread did so here, and else what was taken first here of all that is ready. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"

/* Somebody has waited for a piece. */
struct waited_time { double from, until; };

struct finding {
	struct greedy *y;
	struct greedy_group *group;
	uint32_t *posted;        /* of each input: at which point; or GREEDY_NONE */
	bool *takes;             /* each thread: pieces of this group */
	struct waited_time *v; size_t n;
};

static uint32_t *find_posted(const struct greedy *y)
{
	uint32_t *posted = mem_resize(NULL, y->g->ninputs + 1, sizeof *posted);
	for (size_t i = 0; i < y->g->ninputs; i++)
		posted[i] = GREEDY_NONE;
	for (uint32_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_POSTS)
			posted[y->points[i].number] = i;
	return posted;
}

static bool is_of_kind(const struct greedy *y, uint32_t turn, enum graph_queue_kind kind)
{
	return turn != GREEDY_NONE && y->g->queues[y->g->turns[turn].queue].kind == kind;
}

/* Where a thread that came at a point has what it came for. */
static uint32_t find_obtained(const struct greedy *y, uint32_t point)
{
	uint32_t end = y->first[y->points[point].thread + 1], i = point + 1;
	while (i < end && y->points[i].what != GRAPH_OBTAINS && y->points[i].what != GRAPH_REQUESTS)
		i++;
	return i < end && y->points[i].what == GRAPH_OBTAINS ? i : point;
}

/* The last that another thread did for which the node waited, but to give back a lock; or GREEDY_NONE. */
static uint32_t find_signal(const struct finding *f, uint32_t node)
{
	const struct graph *g = f->y->g;
	const struct graph_node *j = &g->nodes[node];
	uint32_t turn = f->y->turn_of[node], last = GREEDY_NONE;
	for (uint32_t k = j->first + 1; k < j->first + j->ninputs; k++) {
		bool other = g->inputs[k].thread != g->inputs[j->first].thread && !isnan(f->y->slack[k]);
		bool of_turn = turn != GREEDY_NONE && greedy_is_of_turn(&g->turns[turn], j, k);
		if (other && !of_turn && f->posted[k] != GREEDY_NONE && (last == GREEDY_NONE || f->y->came[k] > f->y->came[last]))
			last = k;
	}
	return last == GREEDY_NONE ? GREEDY_NONE : f->posted[last];
}

/* At which point whoever came at another one was woken; or GREEDY_NONE: it has not waited. */
static uint32_t find_waking(const struct finding *f, uint32_t point)
{
	uint32_t obtained = find_obtained(f->y, point), waking = GREEDY_NONE;
	for (uint32_t i = point + 1; i < obtained; i++) {
		const struct greedy_point *p = &f->y->points[i];
		uint32_t signal = p->what == GRAPH_WAITS ? find_signal(f, p->number) : GREEDY_NONE;
		waking = signal == GREEDY_NONE ? waking : signal;
	}
	return waking;
}

#define JUST_BEHIND 4 /* points */

/* What it takes is counted, as permits of a semaphore are: graph_conditions.c. */
static bool is_counted(const struct greedy *y, uint32_t point)
{
	uint32_t end = y->first[y->points[point].thread + 1], last = find_obtained(y, point) + JUST_BEHIND;
	for (uint32_t i = point; i <= last && i < end; i++)
		if (y->points[i].what == GRAPH_WAITS && is_of_kind(y, y->turn_of[y->points[i].number], GRAPH_PERMITS))
			return true;
	return false;
}

/* False: it is another one's signal, or counted. */
static bool add_waited(struct finding *f, uint32_t point, uint32_t *waking)
{
	const struct greedy_point *p = f->y->points;
	*waking = find_waking(f, point);
	if (is_counted(f->y, point))
		return false;
	if (*waking == GREEDY_NONE)
		return true;
	*MEM_GROW(f->v, f->n) = (struct waited_time){ p[point].at, p[find_obtained(f->y, point)].at };
	return f->takes[p[*waking].thread];
}

/* Each piece is behind what has woken its thread; false where that is not done by those who take pieces. */
static bool find_wakings(struct finding *f)
{
	uint32_t waking;
	bool ready = true, woken = false;
	for (size_t i = 0; i < f->group->npieces; i++)
		f->takes[f->y->points[f->group->pieces[i].point].thread] = true;
	for (size_t i = 0; i < f->group->npieces && ready; i++) {
		ready = add_waited(f, f->group->pieces[i].point, &f->group->pieces[i].behind);
		woken |= f->group->pieces[i].behind != GREEDY_NONE;
	}
	for (size_t i = 0; i < f->group->nown && ready; i++)
		ready = add_waited(f, f->group->own[i].point, &waking);
	return ready && woken;
}

static int by_begin(const void *x, const void *y)
{
	const struct waited_time *a = x, *b = y;
	return ORDER_2(a, b, from, until);
}

/* Of pieces in the order in which they were had. */
static void find_behind(struct finding *f)
{
	uint32_t last = GREEDY_NONE;
	double until = -INFINITY;
	size_t next = 0;
	qsort(f->v, f->n, sizeof *f->v, by_begin);
	for (size_t i = 0; i < f->group->npieces; i++) {
		struct greedy_piece *p = &f->group->pieces[i];
		for (; next < f->n && f->v[next].from < p->at; next++)
			until = fmax(until, f->v[next].until);
		if (p->behind == GREEDY_NONE)
			p->behind = until > p->at ? p->point : last;
		last = p->behind;
	}
}

/* ---- What is done when a piece is over --------------------------------------------------------------- */

static bool is_for_others(const struct greedy *y, const struct greedy_point *p)
{
	if (p->what != GRAPH_POSTS)
		return false;
	uint32_t node = y->g->inputs[p->number].node, turn = y->turn_of[node];
	const struct graph_node *j = &y->g->nodes[node];
	return y->g->inputs[j->first].thread != p->thread && !(turn != GREEDY_NONE && greedy_is_of_turn(&y->g->turns[turn], j, p->number));
}

/* What a thread that comes at a point does for others, before it gives the lock back, comes before that. Returns where it comes
 * then. */
static uint32_t signal_first(struct greedy *y, uint32_t *posted, uint32_t point)
{
	uint32_t end = y->first[y->points[point].thread + 1];
	for (uint32_t i = point + 1; i < end && (y->points[i].what == GRAPH_POSTS || y->points[i].what == GRAPH_OBTAINS); i++) {
		struct greedy_point p = y->points[i];
		if (!is_for_others(y, &p))
			continue;
		p.at = fmin(p.at, y->points[point].at);
		for (uint32_t k = i; k > point; k--) {
			y->points[k] = y->points[k - 1];
			if (y->points[k].what == GRAPH_POSTS)
				posted[y->points[k].number] = k;
		}
		posted[p.number] = point;
		y->points[point++] = p;
	}
	return point;
}

static void signal_all_first(struct finding *f)
{
	for (size_t i = 0; i < f->group->npieces; i++)
		f->group->pieces[i].point = signal_first(f->y, f->posted, f->group->pieces[i].point);
	for (size_t i = 0; i < f->group->nown; i++)
		f->group->own[i].point = signal_first(f->y, f->posted, f->group->own[i].point);
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static int by_point(const void *x, const void *y)
{
	const struct greedy_opening *a = x, *b = y;
	return ORDER_3(a, b, point, group, piece);
}

static void add_openings(struct greedy *y, uint32_t number)
{
	const struct greedy_group *group = &y->groups[number];
	for (size_t i = 0; i < group->npieces; i++) {
		uint32_t behind = group->pieces[i].behind;
		if (behind == GREEDY_NONE)
			continue;
		*MEM_GROW(y->openings, y->nopenings) = (struct greedy_opening){ behind, number, (uint32_t)i };
		y->points[behind].opens = true;
	}
}

static void find_ready(struct finding *f, uint32_t number)
{
	const struct graph_group *is = &f->y->g->groups[number];
	f->group = &f->y->groups[number];
	f->n = 0;
	if (!is->one && !is->each && !is->batches && find_wakings(f)) {
		signal_all_first(f);
		f->n = 0;
		find_wakings(f);
		find_behind(f);
		f->group->waits = true;
		add_openings(f->y, number);
	}
	for (size_t i = 0; i < f->group->npieces; i++)
		f->takes[f->y->points[f->group->pieces[i].point].thread] = false;
}

void greedy_find_ready(struct greedy *y)
{
	struct finding f = { .y = y, .posted = find_posted(y), .takes = mem_zeroed(y->g->trace->nthreads + 1, sizeof *f.takes) };
	for (uint32_t i = 0; i < y->g->ngroups; i++)
		find_ready(&f, i);
	if (y->nopenings)
		qsort(y->openings, y->nopenings, sizeof *y->openings, by_point);
	free(f.posted);
	free(f.takes);
	free(f.v);
}

static size_t first_opening(const struct greedy *y, uint32_t point)
{
	return SEARCH(y->nopenings, mid, y->openings[mid].point < point);
}

uint32_t greedy_make_ready(struct greedy *y, uint32_t point)
{
	size_t first = first_opening(y, point);
	uint32_t group = y->openings[first].group;
	for (size_t i = first; i < y->nopenings && y->openings[i].point == point && y->openings[i].group == group; i++)
		y->groups[group].pieces[y->openings[i].piece].ready = true;
	return group;
}

struct greedy_piece *greedy_just_ready(struct greedy *y, uint32_t point)
{
	for (size_t i = first_opening(y, point); i < y->nopenings && y->openings[i].point == point; i++) {
		struct greedy_piece *p = &y->groups[y->openings[i].group].pieces[y->openings[i].piece];
		if (p->point == point && !p->taken)
			return p;
	}
	return NULL;
}

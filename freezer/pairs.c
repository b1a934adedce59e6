/* SPDX-License-Identifier: MIT
 *
 * pairs.c - searches among all pairs that look at each point but once, or nearly. */
#include "freezer/pairs.h"

#include <errno.h>
#include <stdlib.h>

bool pairs_any(const struct pairs *p)
{
	return p->nfrom && p->nto && p->from[0].x < p->to[p->nto - 1].x;
}

/* How far a point lies beyond a line of slope m through the first one, times m.dx. */
static wide excess(const struct pairs *p, const struct point *at, struct slope m)
{
	return p->sign * ((at->y - p->from[0].y) * m.dx - m.dy * (at->x - p->from[0].x));
}

struct pair pairs_farthest(const struct pairs *p, struct slope m, wide *beyond)
{
	struct pair best = { NULL, NULL };
	const struct point *start = NULL;
	wide start_excess = 0;

	for (size_t i = 0, j = 0; j < p->nto; j++) {
		for (; i < p->nfrom && p->from[i].x < p->to[j].x; i++) {
			wide e = excess(p, &p->from[i], m);

			if (!start || e < start_excess)
				start = &p->from[i], start_excess = e;
		}
		if (!start)
			continue;
		wide e = excess(p, &p->to[j], m) - start_excess;

		if (!best.from || e > *beyond)
			*beyond = e, best = (struct pair){ start, &p->to[j] };
	}
	return best;
}

/* Dinkelbach's method: each step is linear, and steps are few, as Newton's are. */
struct pair pairs_extreme(const struct pairs *p)
{
	struct pair best = { &p->from[0], &p->to[p->nto - 1] };

	for (;;) {
		wide beyond;
		struct pair next = pairs_farthest(p, pair_slope(best), &beyond);

		if (beyond <= 0)
			return best;
		best = next;
	}
}

/* Points before which no later one lies as far back beyond the line: excess rises with x. */
struct front {
	struct { const struct point *at; wide excess; } *all;
	size_t n;
};

static void front_add(struct front *f, const struct point *at, wide excess)
{
	while (f->n && f->all[f->n - 1].excess >= excess)
		f->n--;
	f->all[f->n].at = at;
	f->all[f->n++].excess = excess;
}

/* The last one of less excess, or NULL. */
static const struct point *front_last_below(const struct front *f, wide excess)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->all[middle].excess < excess)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? f->all[low - 1].at : NULL;
}

int pairs_nearest(struct pair *best, const struct pairs *p, struct slope m)
{
	struct front front = { malloc((p->nfrom + 1) * sizeof *front.all), 0 };

	*best = (struct pair){ NULL, NULL };
	if (!front.all)
		return -ENOMEM;
	for (size_t i = 0, j = 0; j < p->nto; j++) {
		const struct point *to = &p->to[j], *from;

		for (; i < p->nfrom && p->from[i].x < to->x; i++)
			front_add(&front, &p->from[i], excess(p, &p->from[i], m));
		from = front_last_below(&front, excess(p, to, m));
		if (from && (!best->from || to->x - from->x < best->to->x - best->from->x))
			*best = (struct pair){ from, to };
	}
	free(front.all);
	return 0;
}

bool pairs_crossing(struct pair *found, const struct pairs *p)
{
	for (size_t i = 0, j = 0; j < p->nto; j++) {
		while (i < p->nfrom && p->from[i].x < p->to[j].x)
			i++;
		*found = (struct pair){ &p->from[i], &p->to[j] };
		if (i < p->nfrom && found->from->x == found->to->x && found->from->y < found->to->y)
			return true;
	}
	return false;
}

/* By y instead of x; the link says which point it was. */
static void transpose(struct point *to, const struct point *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct point){ from[i].y, from[i].x, i };
	points_sort(to, n);
}

int pairs_backward(struct pair *found, const struct point *lower, size_t nlower,
		   const struct point *upper, size_t nupper)
{
	struct point *points = malloc((nlower + nupper) * sizeof *points);
	struct pairs by_time = { points, nupper, points + nupper, nlower, -1 };
	int error = -ENOMEM;

	if (points) {
		transpose(points, upper, nupper);
		transpose(points + nupper, lower, nlower);
		error = pairs_nearest(found, &by_time, (struct slope){ 0, 1 });
	}
	if (!error && found->from)
		*found = (struct pair){ &lower[found->to->link], &upper[found->from->link] };
	free(points);
	return error;
}

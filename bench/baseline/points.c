/* SPDX-License-Identifier: MIT
 *
 * points.c - links to points, exchanges and lines. */
#include "bench/baseline/points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define END_OF_RUN 0.1 /* a start burst and an end burst lie within, whatever is in between */

static bool goes_there(const struct frz_link *l, const struct baseline_evidence *e)
{
	return l->from == e->base && l->to == e->clock;
}

static bool comes_back(const struct frz_link *l, const struct baseline_evidence *e)
{
	return l->from == e->clock && l->to == e->base;
}

static bool is_between(const struct frz_link *l, const struct baseline_evidence *e)
{
	return goes_there(l, e) || comes_back(l, e);
}

static struct point point_of(const struct frz_link *l, const struct baseline_evidence *e,
			     struct baseline_moment origin)
{
	if (goes_there(l, e))
		return (struct point){ (wide)l->received + 1 - origin.stamp,
				       (wide)l->sent - origin.time, (size_t)(l - e->links) };
	return (struct point){ (wide)l->sent - origin.stamp, (wide)l->received + 1 - origin.time,
			       (size_t)(l - e->links) };
}

static struct baseline_moment origin_of(const struct baseline_evidence *e)
{
	for (const struct frz_link *l = e->links; l < e->links + e->nlinks; l++)
		if (is_between(l, e))
			return goes_there(l, e) ?
				       (struct baseline_moment){ l->received, l->sent } :
				       (struct baseline_moment){ l->sent, l->received };
	return (struct baseline_moment){ 0, 0 };
}

int baseline_points(struct baseline_points *p, struct baseline_moment *origin,
		    const struct baseline_evidence *e)
{
	size_t room = e->nlinks ? e->nlinks : 1;

	*origin = origin_of(e);
	*p = (struct baseline_points){ .under = malloc(room * sizeof *p->under),
				       .over = malloc(room * sizeof *p->over) };
	if (!p->under || !p->over) {
		baseline_points_free(p);
		return -ENOMEM;
	}
	for (const struct frz_link *l = e->links; l < e->links + e->nlinks; l++)
		if (goes_there(l, e))
			p->under[p->nunder++] = point_of(l, e, *origin);
		else if (comes_back(l, e))
			p->over[p->nover++] = point_of(l, e, *origin);
	return 0;
}

void baseline_points_free(struct baseline_points *p)
{
	free(p->under);
	free(p->over);
}

/* ---- Exchanges --------------------------------------------------------------------------------*/

struct exchanges { struct baseline_exchange *at; size_t n; };

static struct baseline_exchange exchange_of(const struct frz_link *first,
					    const struct frz_link *second,
					    const struct baseline_evidence *e,
					    struct baseline_moment origin)
{
	bool asks = goes_there(first, e);
	const struct frz_link *there = asks ? first : second, *back = asks ? second : first;
	struct point under = point_of(there, e, origin), over = point_of(back, e, origin);

	return (struct baseline_exchange){ { (double)under.x, (double)under.y },
					   { (double)over.x, (double)over.y },
					   there,
					   back };
}

static int find_exchanges(struct exchanges *all, struct baseline_moment origin,
			  const struct baseline_evidence *e)
{
	const struct frz_link *last = NULL;

	*all = (struct exchanges){ malloc((e->nlinks ? e->nlinks : 1) * sizeof *all->at), 0 };
	if (!all->at)
		return -ENOMEM;
	for (const struct frz_link *l = e->links; l < e->links + e->nlinks; l++) {
		if (!is_between(l, e))
			continue;
		if (last && l->from == last->to && l->sent >= last->received) {
			all->at[all->n++] = exchange_of(last, l, e, origin);
			last = NULL;
		} else {
			last = l;
		}
	}
	return 0;
}

static double middle_x(const struct baseline_exchange *x)
{
	return (x->under.x + x->over.x) / 2;
}

static double middle_y(const struct baseline_exchange *x)
{
	return (x->under.y + x->over.y) / 2;
}

/* Both travel times: what passed on the base, less what passed meanwhile on the clock. */
static double round_trip(const struct baseline_exchange *x, double rate)
{
	return x->over.y - x->under.y - rate * (x->over.x - x->under.x);
}

static const struct baseline_exchange *fastest(const struct exchanges *all, double from,
					       double until, double rate)
{
	const struct baseline_exchange *best = NULL;

	for (const struct baseline_exchange *x = all->at; x < all->at + all->n; x++)
		if (from <= middle_x(x) && middle_x(x) <= until &&
		    (!best || round_trip(x, rate) < round_trip(best, rate)))
			best = x;
	return best;
}

int baseline_ends(struct baseline_exchange ends[2], struct baseline_moment *origin,
		  const struct baseline_evidence *e)
{
	const struct baseline_exchange *first, *last;
	struct exchanges all;
	int error;

	*origin = origin_of(e);
	error = find_exchanges(&all, *origin, e);
	if (error)
		return error;
	first = last = all.at;
	for (const struct baseline_exchange *x = all.at; x < all.at + all.n; x++) {
		if (middle_x(x) < middle_x(first))
			first = x;
		if (middle_x(x) > middle_x(last))
			last = x;
	}
	if (!all.n || middle_x(first) == middle_x(last)) {
		error = -ENODATA;
		goto out;
	}
	double span = middle_x(last) - middle_x(first);
	double rate = (middle_y(last) - middle_y(first)) / span;

	ends[0] = *fastest(&all, middle_x(first), middle_x(first) + span * END_OF_RUN, rate);
	ends[1] = *fastest(&all, middle_x(last) - span * END_OF_RUN, middle_x(last), rate);
out:
	free(all.at);
	return error;
}

/* ---- Lines ------------------------------------------------------------------------------------*/

int baseline_through(struct baseline *b, struct baseline_place first, struct baseline_place last)
{
	if (!(last.x > first.x))
		return -ENODATA;
	b->rate = b->line.slope = (last.y - first.y) / (last.x - first.x);
	b->line.at = first.y - b->rate * first.x;
	return 0;
}

void baseline_convert_by_line(const struct baseline *b, const uint64_t *stamps,
			      struct baseline_time *times, size_t n)
{
	for (size_t i = 0; i < n; i++)
		times[i] = (struct baseline_time){ baseline_on_line(b, stamps[i]), -INFINITY,
						   INFINITY };
}

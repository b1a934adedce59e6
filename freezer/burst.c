/* SPDX-License-Identifier: MIT
 *
 * burst.c - the width that a burst has reached, robust to the rates of the two clocks. */
#include "freezer/burst.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_LOOK 32
#define HARDLY     0.95 /* of the width before */

/* Stamps relative to the first exchange, as doubles: exact enough within one burst. */
struct relative { double asked, received, answered, returned; };

static struct relative relative_to(const struct frz_sync_record *first,
				   const struct frz_sync_record *r)
{
	return (struct relative){
		.asked = (double)(int64_t)(r->asked - first->asked),
		.received = (double)(int64_t)(r->received - first->received),
		.answered = (double)(int64_t)(r->answered - first->received),
		.returned = (double)(int64_t)(r->returned - first->asked),
	};
}

/* The exchange that was underway the shortest; whether the other side's own time counts by its rate
 * or ours makes no difference worth knowing here. */
static struct relative fastest(const struct frz_sync_record *first,
			       const struct frz_sync_record *from, const struct frz_sync_record *to)
{
	struct relative best = { 0 };
	double best_trip = INFINITY;

	for (const struct frz_sync_record *r = from; r < to; r++) {
		struct relative now = relative_to(first, r);
		double trip = now.returned - now.asked - (now.answered - now.received);

		if (trip < best_trip) {
			best_trip = trip;
			best = now;
		}
	}
	return best;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

double burst_estimate(const struct frz_sync_record *e, size_t n)
{
	struct relative a = fastest(e, e, e + n / 4), b = fastest(e, e + n - n / 4, e + n);
	double rate = (b.received + b.answered - a.received - a.answered) /
		      (b.asked + b.returned - a.asked - a.returned);
	double there = INFINITY, back = INFINITY;

	for (size_t i = 0; i < n; i++) {
		struct relative now = relative_to(e, &e[i]);

		there = smaller(there, now.received - rate * now.asked);
		back = smaller(back, rate * now.returned - now.answered);
	}
	return there + back;
}

bool burst_goes_on(struct burst_width *b, const struct frz_sync_record *r)
{
	if (b->n == b->room) {
		size_t room = b->room ? 2 * b->room : FIRST_LOOK;
		struct frz_sync_record *more = realloc(b->exchanges, room * sizeof *more);

		if (!more)
			return false;
		b->exchanges = more;
		b->room = room;
	}
	b->exchanges[b->n++] = *r;
	if (b->n < b->room)
		return true;
	double before = b->width;

	b->width = burst_estimate(b->exchanges, b->n);
	return !before || b->width < HARDLY * before;
}

void burst_free(struct burst_width *b)
{
	free(b->exchanges);
	*b = (struct burst_width){ 0 };
}

/* SPDX-License-Identifier: MIT
 *
 * program_clocks.c - clocks for the hosts of a program, and packets between each and the base:
 * before it begins, now and then, and after its end. */
#include <stdlib.h>

#include "testsuite/truth/program_parts.h"

#define MOST_WANDER_PPB 1000000

struct packets { struct program *p; struct dice *dice; struct true_delay path; unsigned host; };

static struct frz_link *new_links(struct program *p, size_t n)
{
	p->links = realloc(p->links, (p->nlinks + n) * sizeof *p->links);
	if (!p->links)
		abort();
	p->nlinks += n;
	return p->links + p->nlinks - n;
}

/* A question of the base and the answer; when that has come back. */
static int64_t exchange(struct packets *x, int64_t asked)
{
	const struct clockmap *base = &x->p->maps[0], *map = &x->p->maps[x->host];
	int64_t received = asked + delay_next(&x->path, x->dice, 0);
	int64_t answered = received + roll_in(x->dice, 0, 100 * PROGRAM_FINE);
	int64_t returned = answered + delay_next(&x->path, x->dice, 1);
	struct frz_link *l = new_links(x->p, 2);

	l[0] = (struct frz_link){ 0, x->host, clockmap_stamp(base, asked),
				  clockmap_stamp(map, received) };
	l[1] = (struct frz_link){ x->host, 0, clockmap_stamp(map, answered),
				  clockmap_stamp(base, returned) };
	return returned;
}

static void exchanges(struct packets *x, unsigned n, int64_t from, int64_t apart)
{
	for (unsigned i = 0; i < n; i++)
		from = exchange(x, from + (int64_t)(roll_unit(x->dice) * (double)apart));
}

static struct clockmap draw_map(const struct program *p, struct dice *d, bool affine)
{
	struct clock_spec spec = {
		.kind = affine ? CLOCK_AFFINE
			       : (enum clock_kind)roll_in(d, CLOCK_AFFINE, CLOCK_FIRST_BROKEN - 1),
		.begin = p->begin, .end = p->end + PROGRAM_FINE,
		.own = (INT64_C(1) << 40) + roll_in(d, 0, INT64_C(1) << 45),
		.rate = roll_size(d, 0.1, 10) / PROGRAM_FINE,
		.wander_ppb = roll_size(d, 100, MOST_WANDER_PPB),
	};
	/* So that whole ticks at knots are exact enough. */
	int64_t at_least = INT64_C(480000000) * PROGRAM_FINE;

	if (spec.end - spec.begin < at_least)
		spec.end = spec.begin + at_least;
	return clock_draw(d, &spec);
}

void program_make_clocks(struct program *p, struct dice *d, bool affine)
{
	p->maps = calloc(p->nhosts, sizeof *p->maps);
	if (!p->maps)
		abort();
	p->maps[0] = clockmap_affine(0, 0, 1, PROGRAM_FINE);
	p->assumption.model = affine ? FRZ_AFFINE : FRZ_DRIFT;
	for (unsigned h = 1; h < p->nhosts; h++) {
		enum delay_kind kind = (enum delay_kind)(roll(d) % DELAY_KINDS_COUNT);
		double floor = roll_size(d, 5, 5000) * PROGRAM_FINE;
		struct packets x = { p, d, delay_draw(d, kind, floor), h };

		p->maps[h] = draw_map(p, d, affine);
		uint32_t need = affine ? 0 : clockmap_need_any_ppb(&p->maps[h], &p->maps[0]);

		p->assumption.ppb = need > p->assumption.ppb ? need : p->assumption.ppb;
		unsigned first = 4 + (unsigned)(roll(d) % 40), last = 4 + (unsigned)(roll(d) % 40);

		exchanges(&x, first, p->begin - (int64_t)(4 * floor * first), (int64_t)floor);
		exchanges(&x, (unsigned)(roll(d) % 30), p->begin, (p->end - p->begin) / 20);
		exchanges(&x, last, p->end, (int64_t)floor);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * solve.c - links sorted by clock, and each clock solved by itself. */
#include "freezer/solve.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/sweep.h"
#include "freezer/wander.h"

struct solved {
	struct frz_clock clock;
	struct sweep sweep;       /* bounds and rates by lines, */
	struct rates rates;
	struct frz_wander wander; /* or, if it has segments, both by this */
};

struct frz_solution {
	uint32_t nclocks;
	struct solved clocks[];
};

/* ---- The points of each clock -----------------------------------------------------------------*/

/* All clocks' points in one array: those of clock c start at under[c] and at over[c]. */
struct points {
	struct point *all;
	size_t *under, *over; /* nclocks + 1 each */
};

static void points_free(struct points *p)
{
	free(p->all);
	free(p->under);
	free(p->over);
}

static bool speaks_of_base(const struct frz_link *l, uint32_t base)
{
	return (l->from == base) != (l->to == base);
}

static void accumulate(size_t *counts, uint32_t n, size_t at)
{
	for (uint32_t c = 0; c <= n; c++) {
		size_t count = counts[c];

		counts[c] = at;
		at += count;
	}
}

/* Puts every link that speaks of the base at its place. */
static void points_fill(struct points *p, uint32_t base, const struct frz_link *links,
			size_t nlinks)
{
	for (size_t i = 0; i < nlinks; i++) {
		const struct frz_link *l = &links[i];

		if (!speaks_of_base(l, base))
			continue;
		if (l->from == base)
			p->all[p->under[l->to]++] = (struct point){ (wide)l->received + 1, l->sent,
								    i };
		else
			p->all[p->over[l->from]++] = (struct point){ l->sent, (wide)l->received + 1,
								     i };
	}
}

static int points_collect(struct points *p, uint32_t nclocks, uint32_t base,
			  const struct frz_link *links, size_t nlinks)
{
	size_t n = 0, nunder = 0;

	p->under = calloc((size_t)nclocks + 1, sizeof *p->under);
	p->over = calloc((size_t)nclocks + 1, sizeof *p->over);
	if (!p->under || !p->over)
		return -ENOMEM;
	for (size_t i = 0; i < nlinks; i++) {
		const struct frz_link *l = &links[i];

		if (l->from >= nclocks || l->to >= nclocks)
			return -EINVAL;
		if (!speaks_of_base(l, base))
			continue;
		n++;
		nunder += l->from == base;
		if (l->from == base)
			p->under[l->to]++;
		else
			p->over[l->from]++;
	}
	p->all = malloc((n ? n : 1) * sizeof *p->all);
	if (!p->all)
		return -ENOMEM;
	accumulate(p->under, nclocks, 0);
	accumulate(p->over, nclocks, nunder);
	points_fill(p, base, links, nlinks);
	/* Filling moved each start to its end, which is the next one's start. */
	memmove(p->under + 1, p->under, nclocks * sizeof *p->under);
	memmove(p->over + 1, p->over, nclocks * sizeof *p->over);
	p->under[0] = 0;
	p->over[0] = nunder;
	return 0;
}

/* ---- One clock --------------------------------------------------------------------------------*/

/* The least double that is not below the ratio, and the greatest not above. */
static struct frz_rate double_rate(struct slope lo, struct slope hi)
{
	struct frz_rate rate;
	mpq_t q, back;

	mpq_inits(q, back, NULL);
	wide_to_mpz(mpq_numref(q), lo.dy);
	wide_to_mpz(mpq_denref(q), lo.dx);
	mpq_canonicalize(q);
	rate.lo = mpq_get_d(q); /* truncates */
	wide_to_mpz(mpq_numref(q), hi.dy);
	wide_to_mpz(mpq_denref(q), hi.dx);
	mpq_canonicalize(q);
	rate.hi = mpq_get_d(q);
	mpq_set_d(back, rate.hi);
	if (mpq_cmp(back, q) < 0) {
		uint64_t bits;

		memcpy(&bits, &rate.hi, sizeof bits);
		bits++; /* the next greater double: the ratio is not negative */
		memcpy(&rate.hi, &bits, sizeof bits);
	}
	mpq_clears(q, back, NULL);
	return rate;
}

static void add_fault(struct frz_clock *clock, size_t link)
{
	for (unsigned i = 0; i < clock->nfaults; i++)
		if (clock->fault[i] == link)
			return;
	clock->fault[clock->nfaults++] = link;
}

static int solve_drift(struct solved *c, struct point *under, size_t nunder, struct point *over,
		       size_t nover, uint32_t ppb)
{
	const struct frz_wander *w = &c->wander;
	int error = frz_wander_solve(&c->wander, over, nover, under, nunder, ppb);

	c->clock.status = w->status;
	c->clock.rate = w->mean;
	c->clock.ppb = w->ppb;
	if (w->status != FRZ_CONTRADICTION && w->status != FRZ_CONSISTENT)
		return error;
	add_fault(&c->clock, w->quick.first);
	add_fault(&c->clock, w->quick.second);
	add_fault(&c->clock, w->slow.first);
	add_fault(&c->clock, w->slow.second);
	c->clock.least_ppb = w->least_ppb;
	return error;
}

static int solve_affine(struct solved *c, struct point *under, size_t nunder, struct point *over,
			size_t nover)
{
	struct hull lower = hull_of(under, nunder, HULL_UPPER),
		    upper = hull_of(over, nover, HULL_LOWER);
	struct polygon p = polygon_between(&lower, &upper);
	int error;

	c->clock.status = p.kind == POLYGON_BOUNDED ? FRZ_PROVEN : FRZ_UNLINKED;
	if (p.kind == POLYGON_EMPTY) {
		error = solve_drift(c, under, nunder, over, nover, 0);
		c->clock.nfaults = p.nfaults;
		memcpy(c->clock.fault, p.fault, p.nfaults * sizeof *p.fault);
		return error;
	}
	if (p.kind == POLYGON_OPEN)
		return 0;
	c->clock.rate = double_rate(p.min, p.max);
	c->rates = rates_between(p.min, p.max);
	error = bound_along(&c->sweep.lo, &lower, p.max, p.min);
	if (!error)
		error = bound_along(&c->sweep.hi, &upper, p.min, p.max);
	return error ? error : sweep_build(&c->sweep);
}

static int solve_base(struct solved *c)
{
	struct point origin = { 0 };
	struct hull under = { HULL_UPPER, &origin, 1 }, over = { HULL_LOWER, &origin, 1 };
	struct slope one = { 1, 1 };
	int error;

	c->clock.status = FRZ_PROVEN;
	c->clock.rate = (struct frz_rate){ 1, 1 };
	c->rates = rates_between(one, one);
	error = bound_along(&c->sweep.lo, &under, one, one);
	if (!error)
		error = bound_along(&c->sweep.hi, &over, one, one);
	return error ? error : sweep_build(&c->sweep);
}

static int solve_clock(struct solved *c, const struct points *p, uint32_t number,
		       struct frz_assumption assumption)
{
	struct point *under = p->all + p->under[number], *over = p->all + p->over[number];
	size_t nunder = p->under[number + 1] - p->under[number];
	size_t nover = p->over[number + 1] - p->over[number];

	c->clock.links = nunder + nover;
	c->clock.hops = nunder + nover > 0;
	if (assumption.model == FRZ_DRIFT)
		return solve_drift(c, under, nunder, over, nover, assumption.ppb);
	return solve_affine(c, under, nunder, over, nover);
}

/* ---- All clocks -------------------------------------------------------------------------------*/

int frz_solve(struct frz_solution **out, uint32_t nclocks, uint32_t base,
	      const struct frz_link *links, size_t nlinks, struct frz_assumption assumption)
{
	struct frz_solution *solution = NULL;
	struct points points = { 0 };
	int error = -EINVAL;

	*out = NULL;
	if (base >= nclocks || (assumption.model == FRZ_DRIFT && assumption.ppb >= 1000000000))
		goto out;
	error = points_collect(&points, nclocks, base, links, nlinks);
	if (error)
		goto out;
	error = -ENOMEM;
	solution = calloc(1, sizeof *solution + nclocks * sizeof solution->clocks[0]);
	if (!solution)
		goto out;
	solution->nclocks = nclocks;
	error = 0;
	for (uint32_t c = 0; c < nclocks && !error; c++)
		error = c == base ? solve_base(&solution->clocks[c])
				  : solve_clock(&solution->clocks[c], &points, c, assumption);
out:
	points_free(&points);
	if (error)
		frz_solution_free(solution);
	else
		*out = solution;
	return error;
}

static void solved_free(struct solved *c)
{
	sweep_free(&c->sweep);
	frz_wander_free(&c->wander);
}

void frz_solution_free(struct frz_solution *solution)
{
	for (uint32_t c = 0; solution && c < solution->nclocks; c++)
		solved_free(&solution->clocks[c]);
	free(solution);
}

const struct frz_clock *frz_clock(const struct frz_solution *solution, uint32_t clock)
{
	return &solution->clocks[clock].clock;
}

/* ---- Conversion -------------------------------------------------------------------------------*/

struct frz_cursor frz_cursor(const struct frz_solution *solution, uint32_t clock)
{
	const struct solved *s = &solution->clocks[clock];
	bool bent = s->wander.segments;

	return (struct frz_cursor){ solution, clock, bent,
				    bent ? s->wander.segments : s->sweep.segments };
}

frz_time frz_time_elsewhere(struct frz_cursor *c, uint64_t stamp)
{
	const struct solved *s = &c->solution->clocks[c->clock];

	return c->bent ? frz_wander_time_of(&s->wander, &c->at, stamp)
		       : sweep_time_of(&s->sweep, &c->at, stamp);
}

void frz_times_of(struct frz_cursor *c, const uint64_t *stamps, size_t n, frz_time *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = frz_time_of(c, stamps[i]);
}

frz_time frz_duration(const struct frz_solution *solution, uint32_t clock, uint64_t ticks)
{
	const struct solved *s = &solution->clocks[clock];

	return s->wander.segments ? frz_wander_duration(&s->wander, ticks)
				  : rates_duration(&s->rates, ticks);
}

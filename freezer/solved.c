/* SPDX-License-Identifier: MIT
 *
 * solved.c - one clock by lines or by envelopes. */
#include "freezer/solved.h"

#include <string.h>

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

static void add_conflict(struct frz_clock *clock, size_t link)
{
	for (unsigned i = 0; i < clock->nconflicts; i++)
		if (clock->conflict[i] == link)
			return;
	clock->conflict[clock->nconflicts++] = link;
}

static int solve_drift(struct solved *s, struct evidence *e, uint32_t ppb)
{
	const struct frz_wander *w = &s->wander;
	int error = frz_wander_solve(&s->wander, e->over, e->nover, e->under, e->nunder, e->run,
				     ppb);

	s->clock.status = w->status;
	s->clock.rate = w->mean;
	s->clock.ppb = w->ppb;
	if (w->status != FRZ_CONTRADICTION && w->status != FRZ_CONSISTENT)
		return error;
	const struct frz_wander_pair *telling = w->slow_tells ? &w->slow : &w->quick;
	const struct frz_wander_pair *other = w->slow_tells ? &w->quick : &w->slow;

	add_conflict(&s->clock, telling->first);
	add_conflict(&s->clock, telling->second);
	add_conflict(&s->clock, other->first);
	add_conflict(&s->clock, other->second);
	s->clock.least_ppb = w->least_ppb;
	return error;
}

static int solve_affine(struct solved *s, struct evidence *e)
{
	struct hull lower = hull_of(e->under, e->nunder, HULL_UPPER),
		    upper = hull_of(e->over, e->nover, HULL_LOWER);
	struct polygon p = polygon_between(&lower, &upper);
	int error;

	if (p.kind == POLYGON_EMPTY) {
		error = solve_drift(s, e, 0);
		if (s->clock.status == FRZ_CONTRADICTION && !s->wander.runs_back) {
			s->clock.nconflicts = p.nconflicts;
			memcpy(s->clock.conflict, p.conflict, p.nconflicts * sizeof *p.conflict);
		}
		return error;
	}
	s->clock.status = p.kind == POLYGON_BOUNDED ? FRZ_PROVEN : FRZ_UNLINKED;
	if (p.kind == POLYGON_OPEN)
		return 0;
	s->clock.rate = double_rate(p.min, p.max);
	s->rates = rates_between(p.min, p.max);
	error = bound_along(&s->sweep.lo, &lower, p.max, p.min);
	if (!error)
		error = bound_along(&s->sweep.hi, &upper, p.min, p.max);
	return error ? error : sweep_build(&s->sweep);
}

int solved_from(struct solved *s, struct evidence *e, struct frz_assumption assumption)
{
	int error;

	*s = (struct solved){ .clock.links = e->nunder + e->nover };
	if (assumption.model == FRZ_DRIFT)
		error = solve_drift(s, e, assumption.ppb);
	else
		error = solve_affine(s, e);
	if (error)
		solved_free(s);
	return error;
}

int solved_base(struct solved *s)
{
	struct point origin = { 0 };
	struct hull under = { HULL_UPPER, &origin, 1 }, over = { HULL_LOWER, &origin, 1 };
	struct slope one = { 1, 1 };
	int error;

	*s = (struct solved){ .clock = { .status = FRZ_PROVEN, .rate = { 1, 1 } } };
	s->rates = rates_between(one, one);
	error = bound_along(&s->sweep.lo, &under, one, one);
	if (!error)
		error = bound_along(&s->sweep.hi, &over, one, one);
	if (!error)
		error = sweep_build(&s->sweep);
	if (error)
		solved_free(s);
	return error;
}

void solved_free(struct solved *s)
{
	sweep_free(&s->sweep);
	frz_wander_free(&s->wander);
	*s = (struct solved){ .clock.status = FRZ_UNLINKED };
}

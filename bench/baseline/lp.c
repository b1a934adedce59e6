/* SPDX-License-Identifier: MIT
 *
 * lp.c - the accuracy-reporting convex hull: B. Poirier, R. Roy, M. Dagenais, "Accurate offline
 * synchronization of distributed traces using kernel-level events", 2010.
 *
 * The bounds of a stamp are the least and the greatest height there of all lines between the two
 * hulls: two linear programs of two unknowns, solved by GLPK. Rows are the corners of the hulls,
 * and each program starts from where the one before it ended, as in their implementation (LTTV).
 *
 * So that doubles serve, a line is written slope * x + 2^-16 * (a * x + b), where the slope is that
 * of the run to 16 binary places. What is left to a and b is of the size of a travel time, so every
 * row is of integers that fit a double while that has below 37 bits; which glp_exact needs, since
 * it takes anything else for a nearby simple fraction. glp_simplex has the run scaled to
 * [-1, 1]. */
#include "bench/baseline/lp.h"

#include <errno.h>
#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "bench/baseline/points.h"

#define PLACES          16
#define MOST_ITERATIONS 10000 /* the simplex in doubles may go round in circles */

enum { COLUMN_A = 1, COLUMN_B };

/* ---- Scaling ----------------------------------------------------------------------------------*/

static void stretch(const struct point **left, const struct point **right,
		    const struct point *points, size_t n)
{
	for (const struct point *p = points; p < points + n; p++) {
		if (!*left || p->x < (*left)->x)
			*left = p;
		if (!*right || p->x > (*right)->x)
			*right = p;
	}
}

/* The mean slope, to PLACES binary places; and 2^-k that takes every x into [-1, 1]. */
static double choose_scale(struct baseline_program *lp, const struct point *under, size_t nunder,
			 const struct point *over, size_t nover)
{
	const struct point *left = NULL, *right = NULL;
	int exponent;

	stretch(&left, &right, under, nunder);
	stretch(&left, &right, over, nover);
	double dx = (double)(right->x - left->x), dy = (double)(right->y - left->y);

	lp->slope = dx > 0 && dy > 0 ? ldexp(rint(ldexp(dy / dx, PLACES)), -PLACES) : 1;
	frexp(fmax(fabs((double)left->x), fabs((double)right->x)) + 1, &exponent);
	return ldexp(1, -exponent);
}

/* 2^PLACES * (y - slope * x) */
static double remainder_of(const struct baseline_program *lp, const struct point *p)
{
	wide one = (wide)1 << PLACES, slope = (wide)ldexp(lp->slope, PLACES);

	return (double)(p->y * one - slope * p->x);
}

/* ---- The program ------------------------------------------------------------------------------*/

static void add_rows(const struct baseline_program *lp, int row, int kind,
		     const struct point *points, size_t n)
{
	static const int columns[] = { 0, COLUMN_A, COLUMN_B };

	for (const struct point *p = points; p < points + n; p++, row++) {
		double y = remainder_of(lp, p);

		glp_set_row_bnds(lp->problem, row, kind, y, y);
		glp_set_rii(lp->problem, row, ldexp(1, -PLACES));
		glp_set_mat_row(lp->problem, row, 2, columns,
				(double[]){ 0, (double)p->x, 1 });
	}
}

static glp_smcp quiet(void)
{
	glp_smcp options;

	glp_init_smcp(&options);
	options.msg_lev = GLP_MSG_OFF;
	options.it_lim = MOST_ITERATIONS;
	return options;
}

static int solve(const struct baseline_program *lp, double a, double b, enum lp_end end,
		 bool exactly)
{
	glp_smcp options = quiet();

	glp_set_obj_dir(lp->problem, end == LP_LEAST ? GLP_MIN : GLP_MAX);
	glp_set_obj_coef(lp->problem, COLUMN_A, a);
	glp_set_obj_coef(lp->problem, COLUMN_B, b);
	if (!exactly && glp_simplex(lp->problem, &options) == 0 &&
	    glp_get_status(lp->problem) == GLP_OPT)
		return GLP_OPT;
	options.it_lim = INT_MAX;
	return glp_exact(lp->problem, &options) == 0 ? glp_get_status(lp->problem) : GLP_UNDEF;
}

/* Whether there is a line, and a steepest one. That must not depend on a tolerance. */
static int check(const struct baseline_program *lp)
{
	int status = solve(lp, 1, 0, LP_GREATEST, true);

	return status == GLP_OPT ? 0 : status == GLP_UNBND ? -ENODATA : -EDOM;
}

int lp_open(struct baseline_program *lp, const struct point *under, size_t nunder,
	    const struct point *over, size_t nover)
{
	int error;

	if (!nunder || !nover)
		return -ENODATA;
	double scale = choose_scale(lp, under, nunder, over, nover);

	lp->problem = glp_create_prob();
	glp_add_rows(lp->problem, (int)(nunder + nover));
	glp_add_cols(lp->problem, 2);
	/* The slope of the line is not negative. */
	glp_set_col_bnds(lp->problem, COLUMN_A, GLP_LO, -ldexp(lp->slope, PLACES), 0);
	glp_set_col_bnds(lp->problem, COLUMN_B, GLP_FR, 0, 0);
	glp_set_sjj(lp->problem, COLUMN_A, ldexp(scale, PLACES));
	glp_set_sjj(lp->problem, COLUMN_B, ldexp(1, PLACES));
	add_rows(lp, 1, GLP_LO, under, nunder);
	add_rows(lp, 1 + (int)nunder, GLP_UP, over, nover);
	error = check(lp);
	if (error)
		lp_close(lp);
	return error;
}

void lp_close(struct baseline_program *lp)
{
	glp_delete_prob(lp->problem);
}

double lp_height(const struct baseline_program *lp, double x, enum lp_end end, bool exactly)
{
	if (solve(lp, x, 1, end, exactly) != GLP_OPT)
		return NAN;
	return lp->slope * x + ldexp(glp_get_obj_val(lp->problem), -PLACES);
}

/* ---- The method -------------------------------------------------------------------------------*/

/* In the middle of the polygon's extent. */
static double middle_rate(const struct baseline_program *lp)
{
	double sum = 0;

	for (int end = LP_LEAST; end <= LP_GREATEST; end++) {
		solve(lp, 1, 0, (enum lp_end)end, true);
		sum += glp_get_obj_val(lp->problem);
	}
	return lp->slope + ldexp(sum / 2, -PLACES);
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_points p;
	int error = baseline_points(&p, &b->origin, evidence);

	if (error)
		return error;
	struct hull under = hull_of(p.under, p.nunder, HULL_UPPER),
		    over = hull_of(p.over, p.nover, HULL_LOWER);

	error = lp_open(&b->program, under.at, under.n, over.at, over.n);
	if (!error)
		b->rate = middle_rate(&b->program);
	baseline_points_free(&p);
	return error;
}

static void convert(const struct baseline *b, const uint64_t *stamps, struct baseline_time *times,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x = baseline_ticks(b, stamps[i]);
		double lo = lp_height(&b->program, x, LP_LEAST, false);
		double hi = lp_height(&b->program, x + 1, LP_GREATEST, false);

		times[i] = (struct baseline_time){ (lo + hi) / 2, lo, hi };
	}
}

static void release(struct baseline *b)
{
	lp_close(&b->program);
}

const struct baseline_method baseline_lp = {
	.name = "lp",
	.source = "accuracy-reporting convex hull (Poirier and others, 2010)",
	.bounds = true,
	.fit = fit,
	.convert = convert,
	.release = release,
};

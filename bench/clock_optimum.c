/* SPDX-License-Identifier: MIT
 *
 * clock-optimum SETS - bounds against the optimum of a linear program, over random sets of links
 * that have a solution. One line each: MODEL SETS BOUNDS BEFORE AFTER SHARE
 *
 * Under affine the program has two unknowns and is solved in rationals by enumeration
 * (freezer_twin.h). BEFORE is the greatest difference between the exact bound, before it is rounded,
 * and the optimum: 0 or not.
 *
 * Under drift the unknowns are the clock's values at all stamps of links and at the stamp asked,
 * and the mean rate m; rates between neighbours lie within m (1 - p) and m (1 + p), and the values
 * at the run's ends rise by m over it. No more freedom exists, as any clock between two stamps may
 * as well be straight. GLPK's exact simplex solves it; its answer comes as a double, so BEFORE is
 * "-". The program also knows that the clock itself rises by m over the run, which the solver uses
 * for what m can be, but not again for the bounds (wander.h): with so few links and such drifts (up
 * to 30 %) that can be seen.
 *
 * AFTER is by how many ticks a bound lies outside the optimum rounded, at most, and SHARE how many
 * in a hundred lie at most 2 outside. It stops with exit status 1 if any lies inside. */
#include <glpk.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "freezer/bound.h"
#include "testsuite/unit/freezer_random.h"
#include "testsuite/unit/freezer_twin.h"

#define STAMPS_EACH 10
#define DRIFT_LINKS 10
#define PPM         1000000
#define FINE        256 /* parts of a tick in which true times are drawn */

static uint64_t bounds, close_ones;
static int64_t most_outside;

/* ---- Links of a clock -------------------------------------------------------------------------*/

static struct frz_link link_of(int64_t sent, int64_t received, bool there, int64_t permille)
{
	uint64_t s = (uint64_t)sent / FINE, r = (uint64_t)received / FINE;
	uint64_t own_s = (uint64_t)(sent * permille / (1000 * FINE));
	uint64_t own_r = (uint64_t)(received * permille / (1000 * FINE));

	return there ? (struct frz_link){ 0, 1, s + 1000, own_r + 500 }
		     : (struct frz_link){ 1, 0, own_s + 500, r + 1000 };
}

/* A run of up to 2^bits ticks; every fourth packet takes no time. The first two and the next two
 * links are exchanges where the run begins and ends, as in any that was measured. */
static size_t draw_links(struct frz_link *links, size_t n, unsigned bits)
{
	int64_t run = 16 + (int64_t)any_size(bits);
	int64_t tail = 1 + (int64_t)any_size(bits > 8 ? bits - 4 : 4);
	int64_t permille = 100 + (int64_t)below(9900);

	for (size_t i = 0; i < n; i++) {
		int64_t sent = i < 4 ? (int64_t)(i / 2) * run * FINE :
				       (int64_t)below((uint64_t)run * FINE);
		int64_t received = sent + (int64_t)(below(4) ? below((uint64_t)tail * FINE) : 0);

		links[i] = link_of(sent, received, i < 4 ? i % 2 : below(2), permille);
	}
	return n;
}

static uint64_t draw_stamp(const struct frz_link *links, size_t n)
{
	const struct frz_link *l = &links[below(n)], *k = &links[below(n)];
	uint64_t a = l->from ? l->sent : l->received, b = k->from ? k->sent : k->received;

	return below(2) ? a + below(3) : (a < b ? a + below(b - a) : b + below(a - b + 1));
}

static void count(int64_t outside)
{
	bounds++;
	close_ones += outside <= 2;
	if (outside > most_outside)
		most_outside = outside;
}

static void wrong(const char *what, uint64_t stamp)
{
	printf("clock-optimum: seed %" PRIu64 ": %s at stamp %" PRIu64 "\n", seed, what, stamp);
	exit(1);
}

/* ---- Affine -----------------------------------------------------------------------------------*/

struct exact { struct hull under, over; struct bound lo, hi; struct point points[MAX_LINKS]; };

/* The solver's own way to its bounds, as far as they are exact. */
static void solve_exactly(struct exact *e, const struct frz_link *links, size_t n)
{
	struct point *over;
	size_t nunder = 0, nover = 0;

	for (size_t i = 0; i < n; i++)
		if (!links[i].from)
			e->points[nunder++] = (struct point){ (wide)links[i].received + 1,
							      links[i].sent, i };
	over = e->points + nunder;
	for (size_t i = 0; i < n; i++)
		if (links[i].from)
			over[nover++] = (struct point){ links[i].sent,
							(wide)links[i].received + 1, i };
	e->under = hull_of(e->points, nunder, HULL_UPPER);
	e->over = hull_of(over, nover, HULL_LOWER);
	struct polygon p = polygon_between(&e->under, &e->over);

	if (bound_along(&e->lo, &e->under, p.max, p.min) ||
	    bound_along(&e->hi, &e->over, p.min, p.max))
		exit(1);
}

/* Whether the bound at x is this optimum, as rationals. */
static bool is_exactly(const struct bound *b, wide x, mpq_t optimum)
{
	const struct line *l = &b->pieces[bound_piece(b, x)].line;
	mpq_t height;

	mpq_init(height);
	wide_to_mpz(mpq_numref(height), l->y * l->slope.dx + l->slope.dy * (x - l->x));
	wide_to_mpz(mpq_denref(height), l->slope.dx);
	mpq_canonicalize(height);
	bool same = mpq_equal(height, optimum);
	mpq_clear(height);
	return same;
}

static bool compare_affine(const struct frz_link *links, size_t n)
{
	struct frz_assumption affine = { .model = FRZ_AFFINE };
	struct frz_solution *solution;
	struct exact e;
	mpq_t least, greatest;

	if (frz_solve(&solution, 2, 0, links, n, affine))
		exit(1);
	bool proven = frz_clock(solution, 1)->status == FRZ_PROVEN;

	if (proven) {
		struct solver_twin t = twin_of(links, NULL, n);
		struct frz_cursor c = frz_cursor(solution, 1);

		mpq_inits(least, greatest, NULL);
		solve_exactly(&e, links, n);
		for (int i = 0; i < STAMPS_EACH; i++) {
			uint64_t s = draw_stamp(links, n);
			frz_time best = twin_time(&t, s), time = frz_time_of(&c, s);

			twin_optimum(&t, s, least, greatest);
			if (!is_exactly(&e.lo, s, least) || !is_exactly(&e.hi, (wide)s + 1, greatest))
				wrong("not the optimum before rounding", s);
			if (time.lo > best.lo || time.hi < best.hi)
				wrong("inside the optimum", s);
			count(best.lo - time.lo);
			count(time.hi - best.hi);
		}
		bound_free(&e.lo);
		bound_free(&e.hi);
		twin_free(&t);
		mpq_clears(least, greatest, NULL);
	}
	frz_solution_free(solution);
	return proven;
}

/* ---- Drift ------------------------------------------------------------------------------------*/

/* Column 1 is m, column 2 + i the clock's value at knot i. */
struct optimum_program { int64_t knots[DRIFT_LINKS + 1]; int nknots; glp_prob *lp; };

static int64_t own_x(const struct frz_link *l)
{
	return (int64_t)(l->from ? l->sent : l->received + 1);
}

static int column_at(const struct optimum_program *p, int64_t x)
{
	int i = 0;

	while (p->knots[i] != x)
		i++;
	return 2 + i;
}

static void add_knot(struct optimum_program *p, int64_t x)
{
	int i = 0;

	while (i < p->nknots && p->knots[i] < x)
		i++;
	if (i < p->nknots && p->knots[i] == x)
		return;
	memmove(p->knots + i + 1, p->knots + i, (size_t)(p->nknots - i) * sizeof *p->knots);
	p->knots[i] = x;
	p->nknots++;
}

/* by * (value of column b - value of column a) - factor * m <= 0, or >= 0, or = 0. */
static void add_row(struct optimum_program *p, int a, int b, double by, double factor, int kind)
{
	int row = glp_add_rows(p->lp, 1);

	glp_set_row_bnds(p->lp, row, kind, 0, 0);
	glp_set_mat_row(p->lp, row, 3, (int[]){ 0, a, b, 1 }, (double[]){ 0, -by, by, -factor });
}

static void limit(struct optimum_program *p, const struct frz_link *l)
{
	int column = column_at(p, own_x(l)), row = glp_add_rows(p->lp, 1);
	double y = (double)(l->from ? l->received + 1 : l->sent);

	glp_set_row_bnds(p->lp, row, l->from ? GLP_UP : GLP_LO, y, y);
	glp_set_mat_row(p->lp, row, 1, (int[]){ 0, column }, (double[]){ 0, 1 });
}

static struct optimum_program program_of(const struct frz_link *links, size_t n, int64_t asked, int ppm)
{
	struct optimum_program p = { .lp = glp_create_prob() };

	for (size_t i = 0; i < n; i++)
		add_knot(&p, own_x(&links[i]));
	int64_t first = p.knots[0], last = p.knots[p.nknots - 1];

	add_knot(&p, asked);
	glp_add_cols(p.lp, 1 + p.nknots);
	glp_set_col_bnds(p.lp, 1, GLP_LO, 0, 0);
	for (int i = 0; i < p.nknots; i++)
		glp_set_col_bnds(p.lp, 2 + i, GLP_FR, 0, 0);
	for (int i = 0; i + 1 < p.nknots; i++) {
		double run = (double)(p.knots[i + 1] - p.knots[i]);

		add_row(&p, 2 + i, 3 + i, PPM, run * (PPM + ppm), GLP_UP);
		add_row(&p, 2 + i, 3 + i, PPM, run * (PPM - ppm), GLP_LO);
	}
	add_row(&p, column_at(&p, first), column_at(&p, last), 1, (double)(last - first), GLP_FX);
	for (size_t i = 0; i < n; i++)
		limit(&p, &links[i]);
	return p;
}

/* The least or greatest value at the stamp asked; NAN if GLPK gives up. */
static double optimum(const struct frz_link *links, size_t n, int64_t asked, int ppm, int direction)
{
	struct optimum_program p = program_of(links, n, asked, ppm);
	glp_smcp options;
	double result = NAN;

	glp_init_smcp(&options);
	options.msg_lev = GLP_MSG_OFF;
	options.it_lim = 10000;
	glp_set_obj_dir(p.lp, direction);
	glp_set_obj_coef(p.lp, column_at(&p, asked), 1);
	glp_simplex(p.lp, &options);
	if (!glp_exact(p.lp, &options) && glp_get_status(p.lp) == GLP_OPT)
		result = glp_get_obj_val(p.lp);
	glp_delete_prob(p.lp);
	return result;
}

/* A double of this size is good to a millionth of a tick. */
static void compare_bound(double best, int64_t found, uint64_t stamp)
{
	if (isnan(best))
		return;
	if ((double)found < best - 1e-6)
		wrong("inside the optimum under drift", stamp);
	count(found - (int64_t)ceil(best - 1e-6));
}

static bool compare_drift(const struct frz_link *links, size_t n)
{
	static const int some[] = { 0, 1, 10, 100, 10000, 300000 };
	int ppm = some[below(6)];
	struct frz_solution *solution;

	if (frz_solve(&solution, 2, 0, links, n,
		      (struct frz_assumption){ FRZ_DRIFT, (uint32_t)ppm * 1000 }))
		exit(1);
	bool proven = frz_clock(solution, 1)->status == FRZ_PROVEN;

	for (int i = 0; proven && i < STAMPS_EACH / 2; i++) {
		struct frz_cursor c = frz_cursor(solution, 1);
		uint64_t s = draw_stamp(links, n);
		frz_time t = frz_time_of(&c, s);

		compare_bound(optimum(links, n, (int64_t)s + 1, ppm, GLP_MAX), t.hi, s);
		compare_bound(-optimum(links, n, (int64_t)s, ppm, GLP_MIN), -t.lo, s);
	}
	frz_solution_free(solution);
	return proven;
}

/* ---- Both -------------------------------------------------------------------------------------*/

static void report(const char *name, uint64_t sets, size_t most, unsigned bits,
		   bool (*compare)(const struct frz_link *, size_t), const char *before)
{
	struct frz_link links[MAX_LINKS];
	uint64_t done = 0;

	bounds = close_ones = 0;
	most_outside = 0;
	while (done < sets)
		done += compare(links, draw_links(links, 4 + below(most - 3), bits));
	printf("%s %" PRIu64 " %" PRIu64 " %s %" PRId64 " %.2f\n", name, done, bounds, before,
	       most_outside, 100 * (double)close_ones / (double)bounds);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: clock-optimum SETS\n");
		return 2;
	}
	uint64_t sets = strtoull(argv[1], NULL, 10);
	const char *again = getenv("SEED");

	random_begin(again ? strtoull(again, NULL, 0) : __builtin_ia32_rdtsc());
	glp_term_out(GLP_OFF);
	report("affine", sets, MAX_LINKS, 50, compare_affine, "0");
	report("drift", sets, DRIFT_LINKS, 15, compare_drift, "-");
	return 0;
}

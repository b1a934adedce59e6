/* SPDX-License-Identifier: MIT
 *
 * wander.c - what pairs of points say of the rate, and envelopes cut into segments.
 *
 * The lower points are mirrored, (x, y) to (-x, -y): what phi must exceed becomes what it must stay
 * below, and L(x) = -U'(-x) for the envelope U' of the mirrored points.
 *
 * A segment replaces an arc between two stamps, which is its chord plus c y (1 - y) / (1 + e y)
 * with y running from 0 to 1 and c = e * rise, by its chord plus c y (1 - y): outside by at most
 * e^2 * rise * 4/27, which is made small by cutting arcs. All rounding goes outward; what a rate of
 * 2^-64 loses is less than half a tick in 2^58. */
#include "freezer/wander.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/envelope.h"
#include "freezer/pairs.h"

#define TICK           ((wide)1 << 64)  /* heights are in 2^-64 ticks */
#define MAX_AWAY       ((wide)1 << 60)  /* of points from the first, in either direction */
#define MAX_REACH      ((wide)1 << 58)  /* of segments beyond the points: nine years at 1 GHz */
#define MAX_SHIFT      32               /* steeper than 2^32 is no clock */
#define MAX_BEND_SHIFT 63
#define BEND_BITS      31      /* of a bend: with ticks below 2^32, no product overflows */
#define BEND_MARGIN    (1 + 0x1p-50L)   /* more than the rounding of all that makes a bend */
#define BEND_LOSS      0.0625L          /* ticks */
#define PARTS          256              /* of an arc; then the loss is p * 10^-7 of its height */
#define NO_CLOCK_PPB   1000000          /* above, there may be many high arcs, and */
#define NO_CLOCK_PARTS 16               /* 2 * 10^-4 of the height is enough */
#define RATE_BITS      60

static wide least(wide a, wide b) { return a < b ? a : b; }
static wide greatest(wide a, wide b) { return a > b ? a : b; }

/* ---- Points -----------------------------------------------------------------------------------*/

static bool is_away(wide distance)
{
	return distance <= -MAX_AWAY || distance >= MAX_AWAY;
}

/* A point away from the first, or NULL. */
static const struct point *find_away(const struct point *first, const struct point *points,
				     size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_away(points[i].x - first->x) || is_away(points[i].y - first->y))
			return &points[i];
	return NULL;
}

/* Sorts, and keeps the lowest point of each stamp. */
static size_t sort_upper(struct point *points, size_t n)
{
	size_t kept = 0;

	points_sort(points, n);
	for (size_t i = 0; i < n; i++)
		if (!kept || points[kept - 1].x != points[i].x)
			points[kept++] = points[i];
	return kept;
}

static struct point mirrored(struct point p)
{
	return (struct point){ -p.x, -p.y, p.link };
}

/* Turns the plane by half: points that are sorted stay sorted. */
static void mirror(struct point *points, size_t n)
{
	for (size_t i = 0; i < n - i; i++) {
		struct point last = points[n - 1 - i];

		points[n - 1 - i] = mirrored(points[i]);
		points[i] = mirrored(last);
	}
}

/* Sorts, and keeps the highest point of each stamp. */
static size_t sort_lower(struct point *points, size_t n)
{
	mirror(points, n);
	n = sort_upper(points, n);
	mirror(points, n);
	return n;
}

/* ---- The mean rate --------------------------------------------------------------------------*/

/* 2^bits times the slope times a / b. */
static wide scaled(struct slope s, unsigned long a, unsigned long b, unsigned bits, bool up)
{
	mpz_t num, den;

	mpz_inits(num, den, NULL);
	wide_to_mpz(num, s.dy);
	wide_to_mpz(den, s.dx);
	mpz_mul_ui(num, num, a);
	mpz_mul_ui(den, den, b);
	mpz_mul_2exp(num, num, bits);
	if (up)
		mpz_cdiv_q(num, num, den);
	else
		mpz_fdiv_q(num, num, den);
	wide result = wide_from_mpz(num);
	mpz_clears(num, den, NULL);
	return result;
}

/* The slope times a / b in words of RATE_BITS bits. */
static struct slope short_slope(struct slope s, unsigned long a, unsigned long b, bool up)
{
	unsigned bits = RATE_BITS;

	while (bits && scaled(s, a, b, bits, up) > (wide)1 << RATE_BITS)
		bits--;
	return (struct slope){ scaled(s, a, b, bits, up), (wide)1 << bits };
}

/* One end of the interval of m. */
struct mean {
	struct slope slope; /* that, as a ratio of products */
	struct pair pair;   /* which proves it */
	struct slope rate;  /* the greatest rate below or the least above any m from here on */
};

/* What pairs say of m, `with` = ppb for steep ones and -ppb for flat ones: by themselves no more
 * than the steepest or flattest does, slope * 10^9 / (10^9 + with); together with the rest of the
 * run, rise * 10^9 / ((10^9 - with) * run + with * span). The sought pair is again farthest beyond a
 * line; only the line is rounded, so what is found is true, and the best to one in 2^60. */
static struct mean mean_from(const struct pairs *p, struct pair best, wide span, wide with)
{
	struct slope own = pair_slope(best);
	struct mean m = { { own.dy * PPB_ONE, own.dx * (PPB_ONE + with) }, best, own };

	for (;;) {
		wide beyond;
		struct slope line = short_slope(m.slope, (unsigned long)(PPB_ONE - with), PPB_ONE,
						false);
		struct pair next = pairs_farthest(p, line, &beyond);
		struct slope rise = pair_slope(next);
		wide run = (PPB_ONE - with) * rise.dx + with * span;

		rise = (struct slope){ rise.dy * PPB_ONE, run };
		if (run <= 0 || p->sign * slope_compare(rise, m.slope) <= 0)
			return m;
		m.slope = rise;
		m.pair = next;
		m.rate = short_slope(rise, (unsigned long)(PPB_ONE + with), PPB_ONE, p->sign < 0);
	}
}

struct wander_evidence {
	struct pairs quick, slow;           /* upper points before lower ones, lower before upper */
	struct pair steepest, flattest;     /* of them; no steepest one if it would not rise */
	wide span;                          /* of the run */
};

static struct mean mean_least(const struct wander_evidence *e, uint32_t ppb)
{
	if (!e->steepest.from)
		return (struct mean){ .slope = { 0, 1 }, .rate = { 0, 1 } };
	return mean_from(&e->quick, e->steepest, e->span, ppb);
}

static struct mean mean_greatest(const struct wander_evidence *e, uint32_t ppb)
{
	return mean_from(&e->slow, e->flattest, e->span, -(wide)ppb);
}

static bool agrees(const struct wander_evidence *e, uint32_t ppb)
{
	return slope_compare(mean_least(e, ppb).slope, mean_greatest(e, ppb).slope) <= 0;
}

/* The least that agrees; `too_little` does not. */
static uint32_t least_ppb(const struct wander_evidence *e, uint32_t too_little)
{
	uint32_t low, high = too_little;

	do {
		if (high == PPB_ONE - 1)
			return FRZ_NO_PPB;
		low = high;
		high = (uint32_t)least(2 * (wide)high + 1, PPB_ONE - 1);
	} while (!agrees(e, high));
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (agrees(e, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static struct frz_wander_pair pair_links(struct pair p)
{
	return (struct frz_wander_pair){ p.from->link, p.to->link };
}

/* Two points that nothing reconciles. */
static void hopeless(struct frz_wander *w, struct pair pair)
{
	w->status = FRZ_CONTRADICTION;
	w->quick = w->slow = pair_links(pair);
	w->least_ppb = FRZ_NO_PPB;
}

/* Of a rate that no clock has. */
static void unplaced(struct frz_wander *w)
{
	w->status = w->status == FRZ_PROVEN ? FRZ_UNLINKED : FRZ_CONTRADICTION;
	w->least_ppb = FRZ_NO_PPB;
}

static double rough(struct slope s)
{
	return (double)s.dy / (double)s.dx;
}

/* Names the links that prove a least m above the greatest. A step of the clock shows in one of the
 * two only, the one farther from the mean rate over all points; in its place comes the nearest pair
 * that by itself is beyond what the other one allows, as that is where the step must be. */
static int name_conflicts(struct frz_wander *w, const struct wander_evidence *e, uint32_t ppb,
			  const struct mean *lo, const struct mean *hi)
{
	const struct pairs *q = &e->quick;
	struct pair ends = { &q->from[0], &q->to[q->nto - 1] }, nearest;
	double usual = rough(pair_slope(ends));
	struct slope line;

	w->quick = pair_links(lo->pair);
	w->slow = pair_links(hi->pair);
	w->slow_tells = usual - rough(hi->slope) > rough(lo->slope) - usual;
	if (w->slow_tells)
		line = short_slope(lo->slope, PPB_ONE - ppb, PPB_ONE, false);
	else
		line = short_slope(hi->slope, PPB_ONE + ppb, PPB_ONE, true);
	int error = pairs_nearest(&nearest, w->slow_tells ? &e->slow : &e->quick, line);

	if (!error && nearest.from)
		*(w->slow_tells ? &w->slow : &w->quick) = pair_links(nearest);
	return error;
}

/* The slope rounded down to a double, which is positive or 0. */
static double to_double(struct slope s)
{
	mpq_t q;

	mpq_init(q);
	wide_to_mpz(mpq_numref(q), s.dy);
	wide_to_mpz(mpq_denref(q), s.dx);
	mpq_canonicalize(q);
	double result = mpq_get_d(q); /* cuts off */
	mpq_clear(q);
	return result;
}

/* False if the rate may be steeper than any clock's: then nothing is known. */
static bool set_rates(struct frz_wander *w, const struct rates *r)
{
	unsigned long above = PPB_ONE + r->ppb, below = PPB_ONE - r->ppb;

	while (scaled(r->fast, above, below, 64 - w->rate_shift, true) > UINT64_MAX)
		if (++w->rate_shift > MAX_SHIFT)
			return false;
	w->rate_hi = (uint64_t)scaled(r->fast, above, below, 64 - w->rate_shift, true);
	w->rate_lo = (uint64_t)scaled(r->slow, below, above, 64 - w->rate_shift, false);
	return true;
}

/* Points that are out of order by themselves, whatever the rate; those that are not leave
 * e->flattest to rise. */
static int find_backward(struct frz_wander *w, struct wander_evidence *e)
{
	const struct pairs *p = &e->slow;
	struct pair pair;
	int error = 0;

	if (pairs_crossing(&pair, &e->quick)) {
		w->runs_back = true;
		hopeless(w, pair);
		return 0;
	}
	if (!pairs_any(p))
		return 0;
	e->flattest = pairs_extreme(p);
	if (pair_slope(e->flattest).dy > 0) {
		w->status = FRZ_PROVEN;
		return 0;
	}
	error = pairs_backward(&pair, p->from, p->nfrom, p->to, p->nto);
	if (error)
		return error;
	w->runs_back = pair.from;
	hopeless(w, pair.from ? pair : e->flattest);
	return 0;
}

/* Sets what the points say of the rate, and the status. */
static int find_rates(struct frz_wander *w, struct rates *rates, struct wander_evidence *e)
{
	int error = find_backward(w, e);

	if (error || w->status != FRZ_PROVEN)
		return error;
	if (pairs_any(&e->quick)) {
		struct pair pair = pairs_extreme(&e->quick);

		if (pair_slope(pair).dy > 0)
			e->steepest = pair;
	}
	struct mean lo = mean_least(e, rates->ppb), hi = mean_greatest(e, rates->ppb);

	if (slope_compare(lo.slope, hi.slope) > 0) {
		w->least_ppb = least_ppb(e, rates->ppb);
		w->status = w->least_ppb == FRZ_NO_PPB ? FRZ_CONTRADICTION : FRZ_CONSISTENT;
		error = name_conflicts(w, e, rates->ppb, &lo, &hi);
		if (error || w->status == FRZ_CONTRADICTION)
			return error;
		rates->ppb = w->least_ppb;
		lo = mean_least(e, rates->ppb);
		hi = mean_greatest(e, rates->ppb);
	}
	w->ppb = rates->ppb;
	rates->slow = lo.rate;
	rates->fast = hi.rate;
	w->mean = (struct frz_rate){ to_double(lo.slope), to_double(hi.slope) * (1 + 0x1p-51) };
	if (!set_rates(w, rates))
		unplaced(w);
	return 0;
}

/* ---- Segments ---------------------------------------------------------------------------------*/

struct bounds {
	struct frz_wander *wander;
	struct envelope hi, lo; /* lo mirrored */
	long double enough;     /* an e that needs no further cutting */
	size_t room;
};

/* One bound from one stamp to another, `run` later. */
struct side {
	wide at, end;     /* its heights there, in 2^-64 ticks */
	long double e;    /* of its arc, between the two */
	long double bend; /* ticks per tick and tick */
};

/* x is where the envelope's arc is left, in its own direction. */
static void set_bend(struct side *side, const struct envelope *e, const struct arc *arc, wide x,
		     wide run)
{
	long double spread = 2 * (long double)e->rates.ppb, below = PPB_ONE - e->rates.ppb;

	if (!arc->left || !arc->right || run < 2) /* of two stamps the chord is exact */
		return;
	side->e = spread * run / (below * (arc->right->x - arc->left->x) +
				  spread * (x - arc->left->x));
	side->bend = side->e * (side->end - side->at + 1) / TICK / run / run * BEND_MARGIN;
}

static struct side hi_side(const struct bounds *b, const struct arc *arc, wide from, wide run)
{
	wide left = from + 1, right = left + run;
	struct side side = {
		.at = envelope_height(&b->hi, arc, left),
		.end = envelope_height(&b->hi, arc, right),
	};

	set_bend(&side, &b->hi, arc, left, run);
	return side;
}

static struct side lo_side(const struct bounds *b, const struct arc *arc, wide from, wide run)
{
	wide right = -from, left = right - run;
	struct side side = {
		.at = -envelope_height(&b->lo, arc, right),
		.end = -envelope_height(&b->lo, arc, left),
	};

	set_bend(&side, &b->lo, arc, left, run);
	return side;
}

static bool fits(const struct side *side)
{
	return side->at > -WIDE_LARGE && side->end < WIDE_LARGE &&
	       side->end - side->at < WIDE_LARGE / 2;
}

static long double enough_for(uint32_t ppb)
{
	long double e = 2 * (long double)ppb / (PPB_ONE - ppb); /* of a whole arc */

	return (e < 1 ? e : 1) / (ppb > NO_CLOCK_PPB ? NO_CLOCK_PARTS : PARTS);
}

/* One parabola loses little, and rises from end to end. */
static bool is_smooth(const struct bounds *b, const struct side *side)
{
	long double loss = side->e * side->e * (side->end - side->at) / TICK * 4 / 27;

	return side->e <= b->enough || (side->e <= 0.5L && loss <= BEND_LOSS);
}

static wide ceil_shift(wide w, unsigned shift)
{
	return (w + ((wide)1 << shift) - 1) >> shift;
}

/* The least with which a bend has its bits, or else the greatest. */
static uint8_t bend_shift_for(long double bend)
{
	int bits, shift;

	if (bend == 0)
		return MAX_BEND_SHIFT;
	frexpl(bend, &bits);
	shift = BEND_BITS - bits;
	return (uint8_t)(shift < 0 ? 0 : shift < MAX_BEND_SHIFT ? shift : MAX_BEND_SHIFT);
}

/* Sets shifts, rates and bends. The chord's rate is rounded outward, the bend too, and what the
 * bend takes off over the whole run is added to the rate, exactly. */
static void set_curves(struct frz_segment *s, const struct side *lo, const struct side *hi,
		       wide run)
{
	wide lo_chord = (lo->end - lo->at) / run, hi_chord = (hi->end - hi->at + run - 1) / run;
	wide steepest = 2 * greatest(lo_chord, hi_chord); /* for e <= 1/2 and to spare */
	long double bend = lo->bend > hi->bend ? lo->bend : hi->bend, unit;

	while (steepest >> s->shift > UINT64_MAX)
		s->shift++;
	unit = (long double)(TICK >> s->shift);
	s->bend_shift = bend_shift_for(bend * unit);
	unit = ldexpl(unit, s->bend_shift);
	s->lo_bend = (uint64_t)(lo->bend * unit) + (lo->bend > 0);
	s->hi_bend = (uint64_t)(hi->bend * unit) + (hi->bend > 0);
	wide lo_less = ceil_shift((wide)s->lo_bend * run, s->bend_shift);
	wide hi_more = ceil_shift((wide)s->hi_bend * run, s->bend_shift);
	s->hi_rate = (uint64_t)(ceil_shift(hi_chord, s->shift) + hi_more);
	if (lo_chord >> s->shift >= lo_less)
		s->lo_rate = (uint64_t)((lo_chord >> s->shift) - lo_less);
	else
		s->lo_bend = 0; /* all but flat */
}

static int add_segment(struct bounds *b, struct frz_segment s)
{
	struct frz_wander *w = b->wander;

	if (w->nsegments == b->room) {
		size_t room = b->room ? 2 * b->room : 64;
		struct frz_segment *more = realloc(w->segments, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		w->segments = more;
		b->room = room;
	}
	w->segments[w->nsegments++] = s;
	return 0;
}

/* Stamps from .. last, for which these two arcs serve. */
static int cut_segments(struct bounds *b, const struct arc *lo_arc, const struct arc *hi_arc,
			wide from, wide last)
{
	wide run = last - from;
	int error = 0;

	for (; from <= last && !error; run = least(last - from, 2 * run + 1)) {
		struct frz_segment s = { .from = (uint64_t)from };
		struct side lo = lo_side(b, lo_arc, from, run), hi = hi_side(b, hi_arc, from, run);

		while (!is_smooth(b, &lo) || !is_smooth(b, &hi)) {
			run /= 2;
			lo = lo_side(b, lo_arc, from, run);
			hi = hi_side(b, hi_arc, from, run);
		}
		if (fits(&lo) && fits(&hi)) {
			s.span = (uint64_t)run + 1;
			s.lo_at = lo.at;
			s.hi_at = hi.at + (TICK - 1);
			if (run)
				set_curves(&s, &lo, &hi, run);
		}
		error = add_segment(b, s);
		from += run + 1;
	}
	return error;
}

/* Where an arc begins to serve, as a stamp: an arc of the upper bound serves s by s + 1, one of the
 * lower by -s, and in falling order. */
static wide hi_begins(const struct envelope *e, size_t arc) { return e->arcs[arc].from - 1; }
static wide lo_begins(const struct envelope *e, size_t arc) { return 1 - e->arcs[arc + 1].from; }

static int build_segments(struct bounds *b, wide from, wide end)
{
	size_t hi = 0, lo = b->lo.n - 1;
	int error = 0;

	if (from > 0)
		error = add_segment(b, (struct frz_segment){ 0 }); /* nothing is known */
	for (wide until; from < end && !error; from = until) {
		while (hi + 1 < b->hi.n && hi_begins(&b->hi, hi + 1) <= from)
			hi++;
		while (lo > 0 && lo_begins(&b->lo, lo - 1) <= from)
			lo--;
		until = end;
		if (hi + 1 < b->hi.n)
			until = least(until, hi_begins(&b->hi, hi + 1));
		if (lo > 0)
			until = least(until, lo_begins(&b->lo, lo - 1));
		error = cut_segments(b, &b->lo.arcs[lo], &b->hi.arcs[hi], from, until - 1);
	}
	return error;
}

/* Segments from sorted points that allow `rates`. */
static int build_bounds(struct frz_wander *w, struct point *upper, size_t nupper,
			struct point *lower, size_t nlower, struct rates rates)
{
	struct bounds b = { .wander = w, .enough = enough_for(rates.ppb) };
	wide reach = MAX_REACH >> w->rate_shift;
	wide first = least(upper[0].x, lower[0].x) - reach;
	wide last = greatest(upper[nupper - 1].x, lower[nlower - 1].x) + reach;

	mirror(lower, nlower);
	int error = envelope_below(&b.hi, upper, nupper, rates);
	if (!error)
		error = envelope_below(&b.lo, lower, nlower, rates);
	if (!error)
		error = build_segments(&b, greatest(first, 0), least(last, (wide)UINT64_MAX) + 1);
	envelope_free(&b.hi);
	envelope_free(&b.lo);
	return error;
}

/* Whether they are no one run; then that is said. */
static bool too_long(struct frz_wander *w, const struct point *upper, size_t nupper,
		     const struct point *lower, size_t nlower)
{
	struct pair ends = { upper, find_away(upper, upper, nupper) };

	if (!ends.to)
		ends.to = find_away(upper, lower, nlower);
	if (ends.to)
		hopeless(w, ends);
	return ends.to;
}

int frz_wander_solve(struct frz_wander *w, struct point *upper, size_t nupper,
		     struct point *lower, size_t nlower, struct frz_wander_run run, uint32_t ppb)
{
	struct rates rates = { .ppb = ppb };

	*w = (struct frz_wander){ .status = FRZ_UNLINKED };
	if (ppb >= PPB_ONE)
		return -EINVAL;
	if (!nupper || !nlower || too_long(w, upper, nupper, lower, nlower))
		return 0;
	nupper = sort_upper(upper, nupper);
	nlower = sort_lower(lower, nlower);
	struct wander_evidence evidence = {
		.quick = { upper, nupper, lower, nlower, 1 },
		.slow = { lower, nlower, upper, nupper, -1 },
		.span = run.last - run.first,
	};
	int error = find_rates(w, &rates, &evidence);

	if (error || (w->status != FRZ_PROVEN && w->status != FRZ_CONSISTENT))
		return error;
	error = build_bounds(w, upper, nupper, lower, nlower, rates);
	if (error)
		frz_wander_free(w);
	return error;
}

void frz_wander_free(struct frz_wander *w)
{
	free(w->segments);
	*w = (struct frz_wander){ 0 };
}

/* ---- Conversion -------------------------------------------------------------------------------*/

frz_time frz_wander_time_of(const struct frz_wander *w, const struct frz_segment **near,
			    uint64_t stamp)
{
	*near = frz_segment_find(w->segments, w->nsegments, *near, stamp);
	if (stamp - (*near)->from < (*near)->span)
		return frz_segment_parabola(*near, stamp - (*near)->from);
	return (frz_time){ INT64_MIN, INT64_MAX };
}

static int64_t saturated(unsigned __int128 w)
{
	return w > INT64_MAX ? INT64_MAX : (int64_t)w;
}

frz_time frz_wander_duration(const struct frz_wander *w, uint64_t ticks)
{
	unsigned bits = 64 - w->rate_shift;
	unsigned __int128 lo = (unsigned __int128)w->rate_lo * (ticks ? ticks - 1 : 0);
	unsigned __int128 hi = (unsigned __int128)w->rate_hi * ticks + w->rate_hi; /* of a tick more */

	hi += ((unsigned __int128)1 << bits) - 1;
	return (frz_time){ saturated(lo >> bits), saturated(hi >> bits) };
}

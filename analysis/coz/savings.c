/* SPDX-License-Identifier: MIT
 *
 * savings.c - arrays of doubles, added up with the processor rounding upwards.
 *
 * GCC takes the same operation on the same numbers for the same, whatever rounding was set in
 * between. So what depends on the rounding stands in functions that it knows nothing of;
 * -frounding-math keeps it from computing anything beforehand. The loops are compiled for AVX2 as
 * well; which one runs is decided at load time. */
#include "analysis/coz/savings.h"

#include <assert.h>
#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/vectorised.h"

/* ---- What rounds ----------------------------------------------------------------------------- */

static inline void set_rounding(unsigned how)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(how) : "memory");
}

/* What was set before. fesetround() would do, but waits for the x87 as well, which rounds nothing here. */
static inline unsigned round_upwards(void)
{
	unsigned before = _mm_getcsr();
	set_rounding((before & ~(unsigned)_MM_ROUND_MASK) | _MM_ROUND_UP);
	return before;
}

__attribute__((noipa)) static double quotient(double x, double y)
{
	return x / y;
}

__attribute__((noipa)) static double of_ticks(int64_t ticks)
{
	return (double)ticks;
}

VECTORISED static void add_products(double *restrict to, const double *restrict factor, double by, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += factor[i] * by;
}

/* Both bounds at once, each with its own products. */
VECTORISED static void add_cut(double *restrict lower, double *restrict upper, const double *restrict negated_lo,
			       const double *restrict hi, double least, double most, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		lower[i] += negated_lo[i] * least;
		upper[i] += hi[i] * most;
	}
}

VECTORISED static void raise_to(double *restrict to, const double *restrict from, double add, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double sum = from[i] + add;
		to[i] = sum > to[i] ? sum : to[i];
	}
}

VECTORISED static void lower_to(double *restrict to, const double *restrict from, double add, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double sum = from[i] + add;
		to[i] = sum < to[i] ? sum : to[i];
	}
}

VECTORISED static void at_least(double *array, double value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		array[i] = array[i] > value ? array[i] : value;
}

VECTORISED static void add_to_all(double *array, double add, size_t n)
{
	for (size_t i = 0; i < n; i++)
		array[i] += add;
}

/* As they are before the first input. */
VECTORISED static void clear_inputs(double *restrict lower, double *restrict upper, double *restrict latest, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		lower[i] = -INFINITY;
		upper[i] = INFINITY;
		latest[i] = 0;
	}
}

/* All of these at once, of an input: what is added is infinite where it does not count. */
struct input_adds { double lower, upper, latest; };
VECTORISED static void take_input(double *restrict lower, double *restrict upper, double *restrict latest,
				  const double *restrict from_lower, const double *restrict from_upper,
				  struct input_adds add, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double low = from_lower[i] + add.lower, high = from_upper[i] + add.upper, last = from_upper[i] + add.latest;
		lower[i] = low > lower[i] ? low : lower[i];
		upper[i] = high < upper[i] ? high : upper[i];
		latest[i] = last > latest[i] ? last : latest[i];
	}
}

/* ---- Ownership ------------------------------------------------------------------------------- */

VECTORISED static void fill(double *array, double value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		array[i] = value;
}

static double *array_of(size_t n)
{
	return mem_resize(NULL, n + 1, sizeof(double));
}

#define WHOLE 100000000 /* 100 % in millionths of a percent */

static size_t count_scenarios(const struct savings_region *regions, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += regions[i].count;
	return count;
}

/* Of one scenario. */
static void set_share(struct savings *all, size_t scenario, uint32_t reduction)
{
	int rounding = fegetround();
	struct share *share = &all->share[scenario];
	fesetround(FE_DOWNWARD);
	share->lo = quotient(reduction, WHOLE);
	fesetround(FE_UPWARD);
	share->hi = quotient(reduction, WHOLE);
	fesetround(rounding);
	all->negated_lo[scenario] = -share->lo;
	all->hi[scenario] = share->hi;
}

void savings_open(struct savings *all, const struct savings_region *regions, size_t nregions, size_t nanswers)
{
	size_t count = count_scenarios(regions, nregions), n = nanswers * count;
	*all = (struct savings){ .nregions = nregions, .nanswers = nanswers, .nbounds = n };
	all->first = mem_resize(NULL, nregions + 1, sizeof *all->first);
	all->share = mem_resize(NULL, count + 1, sizeof *all->share);
	all->negated_lo = array_of(count);
	all->hi = array_of(count);
	all->upper = array_of(n);
	all->any = array_of(n);
	all->cut = array_of(nregions);
	all->scratch = array_of(count);
	all->beside = array_of(count);
	fill(all->beside, 0, count);
	fill(all->cut, 0, nregions);
	for (size_t r = 0; r < nregions; r++) {
		all->first[r] = all->nscenarios;
		for (size_t i = 0; i < regions[r].count; i++)
			set_share(all, all->nscenarios++, regions[r].reductions[i]);
	}
	all->first[nregions] = all->nscenarios;
	all->none = saving_own(all, NULL);
	fill(all->none->bound, 0, 2 * n);
}

void savings_close(struct savings *all)
{
	saving_drop(all, all->none);
	assert(all->in_use == 0);
	for (struct saving *s = all->free, *next; s; s = next) {
		next = s->next_free;
		free(s);
	}
	free(all->first);
	free(all->share);
	free(all->negated_lo);
	free(all->hi);
	free(all->upper);
	free(all->any);
	free(all->cut);
	free(all->scratch);
	free(all->beside);
}

static struct saving *allocate(struct savings *all)
{
	struct saving *s = all->free;
	if (s) {
		all->free = s->next_free;
	} else {
		/* Without a scenario there is still the header. */
		s = mem_resize(NULL, 1, sizeof *s + 2 * all->nbounds * sizeof *s->bound);
	}
	s->references = 1;
	all->in_use++;
	all->most = all->in_use > all->most ? all->in_use : all->most;
	return s;
}

struct saving *saving_none(struct savings *all)
{
	return saving_keep(all->none);
}

void saving_drop(struct savings *all, struct saving *s)
{
	if (!s || --s->references > 0)
		return;
	s->next_free = all->free;
	all->free = s;
	all->in_use--;
}

struct saving *saving_own(struct savings *all, struct saving *s)
{
	if (s && s->references == 1)
		return s;
	struct saving *own = allocate(all);
	if (s) {
		memcpy(own->bound, s->bound, 2 * all->nbounds * sizeof *s->bound);
		saving_drop(all, s);
	}
	return own;
}

/* ---- What happens to savings ----------------------------------------------------------------- */

/* Some bounds of all: those of one answer, or of all of them. */
struct slice { size_t first, n; };

static struct slice slice_of(const struct savings *all, size_t answer)
{
	return answer == SAVING_ALL ? (struct slice){ 0, all->nbounds }
				    : (struct slice){ answer * all->nscenarios, all->nscenarios };
}

void saving_cut(struct savings *all, struct saving *own, size_t region, frz_time duration, size_t but)
{
	unsigned rounding = round_upwards();
	double least = -of_ticks(-duration.lo), most = of_ticks(duration.hi);
	size_t first = all->first[region], n = all->first[region + 1] - first;
	for (size_t answer = 0; answer < all->nanswers; answer++) {
		double *lower = own->bound + answer * all->nscenarios + first;
		if (answer != but)
			add_cut(lower, lower + all->nbounds, all->negated_lo + first, all->hi + first, least, most, n);
		else
			add_products(lower + all->nbounds, all->hi + first, most, n);
	}
	set_rounding(rounding);
}

/* Of all scenarios of an answer, in `scratch`: what is cut anywhere, with the processor rounding upwards. */
static const double *most_of_all(struct savings *all)
{
	fill(all->scratch, 0, all->nscenarios);
	for (size_t r = 0; r < all->nregions; r++)
		add_products(all->scratch + all->first[r], all->hi + all->first[r], all->cut[r],
			     all->first[r + 1] - all->first[r]);
	return all->scratch;
}

/* ---- Time that is not on the way -------------------------------------------------------------- */

void saving_skip(struct savings *all, struct saving *own, size_t answer, int64_t least)
{
	struct slice s = slice_of(all, answer);
	unsigned rounding = round_upwards();
	add_to_all(own->bound + s.first, of_ticks(-least), s.n);
	set_rounding(rounding);
}

void saving_take_lower(struct savings *all, struct saving *own, size_t answer, const struct saving *from)
{
	struct slice s = slice_of(all, answer);
	memcpy(own->bound + s.first, from->bound + s.first, s.n * sizeof *own->bound);
}

void saving_beside(struct savings *all, int64_t most)
{
	unsigned rounding = round_upwards();
	add_to_all(all->beside, of_ticks(most), all->nscenarios);
	set_rounding(rounding);
}

void saving_cut_beside(struct savings *all, size_t region, frz_time duration)
{
	unsigned rounding = round_upwards();
	size_t first = all->first[region];
	add_products(all->beside + first, all->negated_lo + first, -of_ticks(-duration.lo), all->first[region + 1] - first);
	set_rounding(rounding);
}

void saving_settle(struct savings *all, struct saving *own, size_t answer, int64_t longest)
{
	double *lower = own->bound + slice_of(all, answer).first;
	unsigned rounding = round_upwards();
	const double *most = most_of_all(all);
	for (size_t i = 0; i < all->nscenarios; i++) {
		double negated = lower[i] + all->beside[i];
		lower[i] = most[i] > 0 ? fmin(negated, of_ticks(longest)) : 0;
	}
	set_rounding(rounding);
}

/* It saves from nothing to what is in `scratch`. */
static void forget(struct savings *all, struct saving *own, size_t answer)
{
	struct slice s = slice_of(all, answer);
	double *upper = own->bound + all->nbounds + s.first;
	for (size_t i = 0; i < s.n; i += all->nscenarios)
		raise_to(upper + i, all->scratch, 0, all->nscenarios);
	at_least(own->bound + s.first, 0, s.n);
}

void saving_forget(struct savings *all, struct saving *own, size_t answer, frz_time elapsed)
{
	unsigned rounding = round_upwards();
	fill(all->scratch, 0, all->nscenarios);
	add_products(all->scratch, all->hi, of_ticks(elapsed.hi), all->nscenarios);
	forget(all, own, answer);
	set_rounding(rounding);
}

void saving_may_delay(struct savings *all, struct saving *own, size_t answer, frz_time later)
{
	double *lower = own->bound + slice_of(all, answer).first;
	unsigned rounding = round_upwards();
	const double *most = most_of_all(all);
	for (size_t i = 0; i < all->nscenarios; i++)
		lower[i] = most[i] > 0 ? fmax(lower[i], of_ticks(later.hi)) : lower[i];
	set_rounding(rounding);
}

void saving_forget_within(struct savings *all, struct saving *own, size_t answer, frz_time elapsed)
{
	unsigned rounding = round_upwards();
	most_of_all(all);
	for (size_t i = 0; i < all->nscenarios; i++)
		all->scratch[i] = fmin(all->scratch[i], all->hi[i] * of_ticks(elapsed.hi));
	forget(all, own, answer);
	set_rounding(rounding);
}

void saving_begin(struct savings *all, bool loose)
{
	all->made = allocate(all);
	all->loose = loose;
	clear_inputs(all->made->bound, all->upper, all->made->bound + all->nbounds, all->nbounds);
	if (loose)
		fill(all->any, 0, all->nbounds);
}

/* With the processor rounding upwards. */
static void add_input(struct savings *all, struct slice to, const struct saving *s, struct slack slack)
{
	const double *lower = s->bound + to.first, *upper = lower + all->nbounds;
	double *made = all->made->bound + to.first;
	assert(slack.lo >= 0 && slack.lo <= slack.hi);
	struct input_adds add = { of_ticks(-slack.lo), INFINITY, slack.lo ? -INFINITY : 0 };
	if (slack.sure)
		add.upper = of_ticks(slack.hi);
	take_input(made, all->upper + to.first, made + all->nbounds, lower, upper, add, to.n);
	if (all->loose)
		raise_to(all->any + to.first, upper, 0, to.n);
}

void saving_input(struct savings *all, size_t answer, const struct saving *s, struct slack slack)
{
	unsigned rounding = round_upwards();
	add_input(all, slice_of(all, answer), s, slack);
	set_rounding(rounding);
}

void saving_inputs(struct savings *all, size_t answer, struct saving *const *inputs, const struct slack *slacks, size_t n)
{
	struct slice to = slice_of(all, answer);
	unsigned rounding = round_upwards();
	for (size_t i = 0; i < n; i++)
		if (!slacks[i].absent)
			add_input(all, to, inputs[i], slacks[i]);
	set_rounding(rounding);
}

/* What is hidden saves no more than all that is cut. */
void saving_hide(struct savings *all, size_t answer)
{
	struct slice s = slice_of(all, answer);
	double *latest = all->made->bound + all->nbounds + s.first;
	unsigned rounding = round_upwards();
	const double *most = most_of_all(all);
	for (size_t i = 0; i < s.n; i += all->nscenarios)
		raise_to(latest + i, most, 0, all->nscenarios);
	set_rounding(rounding);
}

void saving_loosen(struct savings *all, size_t answer)
{
	struct slice s = slice_of(all, answer);
	double *latest = all->made->bound + all->nbounds;
	assert(all->loose);
	for (size_t i = s.first; i < s.first + s.n; i++)
		if (all->any[i] > 0 || latest[i] > 0)
			latest[i] = INFINITY;
}

struct saving *saving_end(struct savings *all)
{
	struct saving *s = all->made;
	lower_to(s->bound + all->nbounds, all->upper, 0, all->nbounds);
	return s;
}

void saving_delay(struct savings *all, struct saving *own, size_t answer)
{
	struct slice s = slice_of(all, answer);
	at_least(own->bound + s.first, 0, s.n);
}

void saving_perhaps(struct savings *all, struct saving *own, size_t answer, const struct saving *s, int64_t more)
{
	struct slice to = slice_of(all, answer);
	double *upper = own->bound + all->nbounds + to.first;
	raise_to(own->bound + to.first, s->bound + to.first, 0, to.n);
	raise_to(upper, s->bound + all->nbounds + to.first, 0, to.n);
	if (more == 0)
		return;
	unsigned rounding = round_upwards();
	const double *most = most_of_all(all);
	for (size_t i = 0; i < to.n; i++)
		upper[i] += fmin(most[i % all->nscenarios], of_ticks(more));
	set_rounding(rounding);
}

void saving_lose(struct savings *all, struct saving *own, size_t answer)
{
	struct slice s = slice_of(all, answer);
	fill(own->bound + s.first, INFINITY, s.n);
}

/* Negated; and never below 0, unless nothing is known of it. */
VECTORISED static void raise_to_late(double *restrict to, const double *restrict from, double lag, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double late = from[i] + lag < 0 ? from[i] + lag : from[i] > 0 ? from[i] : 0;
		to[i] = late > to[i] ? late : to[i];
	}
}

void saving_late(struct savings *all, struct saving *own, size_t answer, const struct saving *s, int64_t lag)
{
	struct slice to = slice_of(all, answer);
	unsigned rounding = round_upwards();
	raise_to_late(own->bound + to.first, s->bound + to.first, of_ticks(lag), to.n);
	set_rounding(rounding);
}

void saving_chance(struct savings *all, struct saving *own, size_t answer)
{
	struct slice s = slice_of(all, answer);
	double *upper = own->bound + all->nbounds;
	unsigned rounding = round_upwards();
	const double *most = most_of_all(all);
	for (size_t i = s.first; i < s.first + s.n; i++)
		if (upper[i] > 0 || most[(i - s.first) % all->nscenarios] > 0)
			upper[i] = INFINITY;
	set_rounding(rounding);
}

void saving_mean(struct savings *all, struct saving *own, size_t answer, const struct saving *sum, size_t count,
		 int64_t apart)
{
	struct slice s = slice_of(all, answer);
	double n = (double)count;
	unsigned rounding = round_upwards();
	for (size_t i = s.first; i < s.first + s.n; i++) {
		double negated_lo = sum->bound[i], hi = sum->bound[all->nbounds + i];
		own->bound[i] = fmin(negated_lo / n + of_ticks(apart), 0);
		own->bound[all->nbounds + i] = hi > 0 ? hi / n + of_ticks(apart) : 0;
	}
	set_rounding(rounding);
}

void saving_count(struct savings *all, size_t region, frz_time duration)
{
	static const double one = 1;
	unsigned rounding = round_upwards();
	add_products(&all->cut[region], &one, of_ticks(duration.hi), 1);
	set_rounding(rounding);
}

struct saving *saving_add(struct savings *all, struct saving *sum, const struct saving *s)
{
	sum = saving_own(all, sum);
	unsigned rounding = round_upwards();
	add_products(sum->bound, s->bound, 1, 2 * all->nbounds);
	set_rounding(rounding);
	return sum;
}

void saving_move(struct savings *all, struct saving *own, size_t answer, size_t scenario, double ticks, bool exact,
		 struct savings_bounds within)
{
	double *negated_lo = &own->bound[answer * all->nscenarios + scenario], *hi = negated_lo + all->nbounds;
	double half = exact ? 0 : (*hi + *negated_lo) / 2;
	*negated_lo = -fmin(fmax(ticks - half, within.lo), within.hi);
	*hi = fmin(fmax(ticks + half, within.lo), within.hi);
}

struct saving *saving_earlier(struct savings *all, struct saving *so_far, const struct saving *s,
			      struct slack late)
{
	size_t n = all->nbounds;
	bool first = !so_far;
	so_far = saving_own(all, so_far);
	if (first) {
		fill(so_far->bound, INFINITY, n);
		fill(so_far->bound + n, -INFINITY, n);
	}
	unsigned rounding = round_upwards();
	lower_to(so_far->bound, s->bound, of_ticks(late.hi), n);
	raise_to(so_far->bound + n, s->bound + n, of_ticks(-late.lo), n);
	set_rounding(rounding);
	return so_far;
}

/* SPDX-License-Identifier: MIT
 *
 * savings.h - how much earlier an event happens, under many what-ifs at once.
 *
 * A *scenario* says that one region takes so many percent less; each region has reductions of its own. A *saving* holds, for each
 * scenario, a lower and an upper bound of (when the event happened - when it would have happened),
 * in ticks of the base. An event that waits for several others,
 *
 *     t = max over i of (t_i + c_i)      where no scenario changes the c_i,
 *
 * has slacks a_i = t - t_i - c_i >= 0, of which at least one is 0. With the t_i earlier by s_i,
 *
 *     t' = max over i of (t_i - s_i + c_i) = t - min over i of (s_i + a_i),
 *
 * so its saving is s = min over i of (s_i + a_i): monotone in every s_i and a_i, and never more
 * than the s_i of whoever came last.
 *
 * Law: if the true savings and slacks of the inputs lie in the bounds that are given for them, the
 * true saving lies in the bounds of the result.
 *
 * Proof. lower: by monotony. upper: s <= s_i + a_i for each i, and s <= s_k for a k with a_k = 0,
 * which is one of those whose slack may be 0: so s <= min(min_i upper(s_i + a_i), max_k
 * upper(s_k)). An input that is not sure to be one (a collective may need nothing from one of its members)
 * counts in the lower bound and among the k, but not in the upper bounds of all. Sums and products
 * are doubles that all round upwards; a lower bound is kept negated, so that this is downwards.
 *
 * Another run may wait for less than this one did, or for something else (graph.h). Then there need be no k: where
 * the node is *loose*, the upper bound is min_i upper(s_i + a_i) over the sure ones alone, if anything that it
 * depends on is saved at all; where something *hidden* may have been waited for, k may be that, whose saving is
 * at most what is cut anywhere. Where another run may wait for what came later here, nothing need be saved; or if that is
 * known, and another run is done with it no later than `lag` after its own saving, s >= min(s, its saving - lag).
 *
 * Savings begin with 0, grow only where time is cut, and slacks are never below 0: so no saving is
 * negative, but where another order may make an event later (orders.h), or does (greedy.h). Where nothing is cut, sums of 0 are 0,
 * and a slack of 0 is among the inputs: the saving of a reduction by 0 % is exactly 0.
 *
 * Several *answers* may be carried side by side (coz.h): the same scenarios, where time is cut alike, and an event
 * may have waited for other things.
 *
 * Savings are shared: keep one more reference with saving_keep; who changes one asks saving_own. */
#ifndef ANALYSIS_SAVINGS_H
#define ANALYSIS_SAVINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/interval.h"

/* A share of 1, rounded to both sides. */
struct share { double lo, hi; };

struct saving {
	uint32_t references;
	struct saving *next_free;
	double bound[];      /* for each scenario of each answer the negated lower one, then for each the upper */
};

struct savings {             /* all scenarios, and the savings that are in use */
	size_t nregions, nscenarios; /* of (region, share): first[region] + share */
	size_t *first;               /* scenario of each region; and their number */
	size_t nanswers, nbounds;    /* of (answer, scenario): answer * nscenarios + scenario */
	struct share *share;         /* of each scenario, */
	double *negated_lo, *hi;     /* and as saving_cut wants them */
	struct saving *free, *none;
	struct saving *made;         /* of the node that is being put together: its lower bounds, and in place of its upper
					ones what whoever came last saves */
	double *upper;               /* likewise: what no input that is sure lets it exceed */
	double *any;                 /* likewise, if it is loose: the greatest upper bound of an input */
	bool loose;
	double *cut;                 /* of each region: ticks that are in question, in all threads, rounded up */
	double *scratch;             /* for one answer */
	double *beside;              /* of each scenario: ticks that may come on top of any path, rounded up */
	size_t in_use, most; /* savings */
};

/* Each region by its reductions, in millionths of a percent, 0 .. 100 000 000. */
struct savings_region { const uint32_t *reductions; size_t count; };
void savings_open(struct savings *, const struct savings_region *, size_t nregions, size_t nanswers);
void savings_close(struct savings *);

struct saving *saving_none(struct savings *); /* 0 in every scenario */
static inline struct saving *saving_keep(struct saving *s)
{
	s->references++;
	return s;
}
void saving_drop(struct savings *, struct saving *);

/* One with the same bounds and no other reference; takes the reference that is given. */
struct saving *saving_own(struct savings *, struct saving *);

/* Time is cut: the thread was in `region` for so long. The lower bound of the answer `but`, if there is one, stays. */
void saving_cut(struct savings *, struct saving *own, size_t region, frz_time duration, size_t but);

/* In one answer or in all of them. */
#define SAVING_ALL  SIZE_MAX
#define SAVING_NONE SIZE_MAX

/* Time that in another run may come on top of any path, and so is left out of all (orders.h). Lower bounds are then against that,
 * until they are settled: so much of the path to an event is left out; of all there is so much, of which so much is cut; and an
 * event happens no later than `longest` after it did here. Of a scenario in which nothing is cut the lower bound is 0. */
void saving_skip(struct savings *, struct saving *own, size_t answer, int64_t least);
void saving_beside(struct savings *, int64_t most);
void saving_cut_beside(struct savings *, size_t region, frz_time duration);
void saving_settle(struct savings *, struct saving *own, size_t answer, int64_t longest);

/* The lower bound is that of another one; or there is none until it is settled. */
void saving_take_lower(struct savings *, struct saving *own, size_t answer, const struct saving *from);
void saving_lose(struct savings *, struct saving *own, size_t answer);

/* Nothing is known but that the run has lasted for `elapsed`: no path through it holds more time
 * of any region. */
void saving_forget(struct savings *, struct saving *own, size_t answer, frz_time elapsed);
/* It may also come so much later; in a scenario in which anything is cut. */
void saving_may_delay(struct savings *, struct saving *own, size_t answer, frz_time later);
/* Nothing is known, as of saving_forget(), but that whatever it waited for saves no more than is cut anywhere. */
void saving_forget_within(struct savings *, struct saving *own, size_t answer, frz_time elapsed);

/* The saving of an event that waits for others: begin, in each answer its inputs and then what else is said of it,
 * end. Some slack must be possibly 0. */
struct slack { int64_t lo, hi; bool sure, absent; }; /* absent: it is no input */
void saving_begin(struct savings *, bool loose); /* in some answer */
void saving_input(struct savings *, size_t answer, const struct saving *, struct slack);
/* All of them but those that are absent. */
void saving_inputs(struct savings *, size_t answer, struct saving *const *, const struct slack *, size_t n);
void saving_hide(struct savings *, size_t answer);
void saving_loosen(struct savings *, size_t answer);
struct saving *saving_end(struct savings *);

/* Perhaps nothing is saved. */
void saving_delay(struct savings *, struct saving *own, size_t answer);

/* Perhaps it has waited for that as well, or for that alone here; or for what saves so much more. */
void saving_perhaps(struct savings *, struct saving *own, size_t answer, const struct saving *, int64_t more);

/* Perhaps it happens no earlier than `lag` after an event that comes so much earlier. */
void saving_late(struct savings *, struct saving *own, size_t answer, const struct saving *, int64_t lag);

/* What the thread has done was chance: it saves at most anything if something is cut anywhere. */
void saving_chance(struct savings *, struct saving *own, size_t answer);

/* It is the mean of so many, whose sum is given, more or less `apart`. */
void saving_mean(struct savings *, struct saving *own, size_t answer, const struct saving *sum, size_t count,
		 int64_t apart);

/* So much of a region's time is in question, in all threads: once for each stretch, before anything hidden ends. */
void saving_count(struct savings *, size_t region, frz_time duration);

/* Sum of two; takes the first. */
struct saving *saving_add(struct savings *, struct saving *sum, const struct saving *);

/* How much earlier the earliest of several events would be: of those so far (NULL: none), and one
 * that happened `late` after the earliest: max (s_i - late_i). Takes the first. */
struct saving *saving_earlier(struct savings *, struct saving *so_far, const struct saving *,
			      struct slack late);

struct savings_bounds { double lo, hi; };
static inline struct savings_bounds saving_bounds(const struct savings *all, const struct saving *s,
						  size_t answer, size_t scenario)
{
	size_t at = answer * all->nscenarios + scenario;
	return (struct savings_bounds){ -s->bound[at], s->bound[all->nbounds + at] };
}

/* The bounds of one scenario are around what is given, as far apart as they were or, if it is exact, not at all; but no end of them
 * is outside of other bounds. */
void saving_move(struct savings *, struct saving *own, size_t answer, size_t scenario, double ticks, bool exact,
		 struct savings_bounds within);

#endif

/* SPDX-License-Identifier: MIT
 *
 * frames.h - when does a condition hold? The sweep over the clocks of one time base.
 *
 * Each clock is summed up by its count bounds as segments s, from stamp b(s) to stamp e(s). Write
 * [lo(x), hi(x)] for the time of stamp x. A *combination* has one segment of each clock, and is
 * real from its last begin to its first end. The sweep lets a segment count from lo(b) to lo(e)
 * and goes through the combinations that count in the order of these keys: from one to the next,
 * one clock moves on. The combinations that it *visits* are not all that may be real: where
 * segment s of one clock has ended by its key, but perhaps not yet, i.e. before hi(e), it is *unordered*,
 * and a segment of another clock that begins meanwhile may be real together with it.
 *
 * A *run* is a stretch of the sweep: for each clock i the segments from the one that begins at
 * stamp b_i to the one that ends at stamp e_i. During
 *	(max over i of b_i, min over i of e_i)
 * and at no other time, each clock is in a segment of the run. Its length is the least e_i - b_j,
 * each of which is enclosed by the clock's rate when i = j, by the two times otherwise. So a run
 * that begins and ends with changes on one host carries no clock error.
 *
 * Law: whatever the true clocks are, of those that agree with the links, and the true states, where
 * they are not known, the time within the span in which the condition is true lies in `holds`.
 *
 * Proof.
 *   lo: a *certain run* goes on while the condition is true for the visited combination and for
 *   every other one of the segment that has just begun with segments of the run, of other clocks,
 *   that count or are unordered; choices of counts are all tried, or bounded together. Any combination of
 *   the run's segments that can be real has been among these when the last of its segments began,
 *   by key, so the condition is true throughout the run. When a run ends because clock k moves on,
 *   the next one has only later segments of k: runs do not overlap, and lower bounds of their
 *   lengths add up.
 *   hi: a *possible run* goes on while the condition may be true for the visited combination, and
 *   is added with its upper bound. Any other combination that may be real has a segment that
 *   begins last by key, at lo(b), and then an unordered segment of another clock. If the condition
 *   may be true there, and not all of it is in the possible run, the sweep adds the time from lo(b)
 *   to the earliest hi(e) of the unordered segments and of this one; overlapping times of this sort
 *   once. A possible run is real between its latest lo(b) and its earliest hi(e), so of its upper bound no more is
 *   added than what of that time is not added so already. So each true moment is in one or the other.
 *
 * Tightness: a run loses at most the width of the times at its ends, and nothing when one host
 * begins and ends it while the others are clear of both by that width. Changes that do not matter,
 * even of unknown order, do not end a run as long as at most FRAMES_TRIES combinations of choices
 * are possible where bounds on the counts alone do not decide; with more, the result may be wider
 * than the clocks demand, never wrong. A change that ends no run but begins within the width of an
 * end may cost that width.
 *
 * Threads on other time bases may be in any state at any time, and the span is that of this one.
 *
 * Pruning. When what counts on one clock makes the condition fail, whatever all others do, it does so from when on
 * none of that clock's segments is unordered until it moves on, by its key. Segments of other clocks that begin and
 * end within that time, from lo(b) to hi(e), are left out before the sweep. Nothing changes by that, to the bit: the
 * condition fails in all their combinations, and no run is open at any key at which they count or are unordered.
 *
 * Clocks that move on at the same key do so in the order of their hosts' names (times_order).
 *
 * Memory is bounded by the window of unknown order, not by the run. A step costs the logarithm of the clocks where
 * bounds around the counts, of all that counts or is unordered, decide; else, and where a run begins, it goes through
 * the clocks that have something unordered. A run that is among the longest is copied for all clocks. */
#ifndef ANALYSIS_FRAMES_H
#define ANALYSIS_FRAMES_H

#include "analysis/clocks/times.h"
#include "analysis/states/count_bounds.h"

#define FRAMES_TRIES 256

struct ends_on_clock { uint64_t from, to; }; /* stamps, or PERIOD_BEFORE, PERIOD_AFTER */

struct frame {               /* a run */
	bool certain;
	frz_time begin;      /* since the begin of the span */
	frz_time length;     /* a possible run's lo is 0: nothing is sure of it */
	int64_t middle;      /* about there; time on the time base */
	struct ends_on_clock *clocks; /* its segments, for each clock; from > to: none */
};

struct frames {
	frz_time holds;      /* in ticks of the time base, within the span */
	uint64_t certain;    /* runs that are certain, and certainly have a length */
	uint64_t possible;   /* and stretches beside them in which it possibly holds */
	struct frame *longest; size_t nlongest; /* the longest certain runs, then possible ones */
};

/* The longest are at most `most`. */
void frames_open(struct frames *, const struct times *, const struct query *, uint32_t time_base,
		 const struct span *, size_t most);
void frames_close(struct frames *);

/* The same, and no segment is left out beforehand: what tests hold it against. */
void frames_open_unpruned(struct frames *, const struct times *, const struct query *, uint32_t time_base,
			  const struct span *, size_t most);

/* Puts a frame among the longest, if it is one of the `most`, with room for its clocks; or NULL. */
struct frame *frames_place(struct frames *, size_t most, size_t nclocks, struct frame);

#endif

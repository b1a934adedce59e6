/* SPDX-License-Identifier: MIT
 *
 * csp.h - straggler scores: how long does one participant work while every other one waits?
 *
 * Each clock is summed up by its timeline (timeline.h) as segments in which all its participants wait, or all
 * but one, who works. A *frame* of participant t is where a segment "t works alone" of t's clock and segments
 * "all wait" of all other clocks coincide: one segment of each clock. Its true length is
 *
 *     max(0, min over the ends e_i - max over the begins b_j)
 *   = max(0, min over all pairs (i,j) of e_i - b_j)
 *
 * and each e_i - b_j is enclosed by the rate when i = j, by the two times otherwise. So a frame
 * that begins and ends on one host carries no clock error.
 *
 * Law: for every choice of true times that the clocks allow, and of states where they are not
 * known, the true total of each participant lies in its [lo, hi].
 *
 * Proof. Write [lo(s), hi(s)] for the time of stamp s. The sweep lets a segment (b, e) count from
 * lo(b) to lo(e), in the order of these keys, so it visits a frame when the last of its segments
 * begins.
 *   lo: a frame adds its lower bound only when all its segments are certain. Certain segments of
 *   one clock do not overlap, so neither do such frames, and their true lengths add up to at most
 *   the truth.
 *   hi: of a frame that is not visited, let j be the segment that begins last by its key. It does
 *   so at lo(b_j), and some other segment has ended by its key: it is *unordered*: it may go on
 *   until hi(e_i) although its clock has moved on. The frame can only be real between lo(b_j) and the
 *   earliest hi(e_i) of its segments. When j begins, the sweep adds that time, for each t once, for the
 *   frame of t, among those with j and an unordered segment, of which it is the longest. A visited frame is real
 *   between its latest lo(b_j) and its earliest hi(e_i), too: of its upper bound no more is added than what of this
 *   time is not added so already. So each true moment is in time of unknown order, or in a visited frame and in
 *   what is added of it.
 * Nothing that is certain is missed either: a frame whose lower bound is positive has
 * hi(b_j) < lo(e_i) for all i != j, so it is visited.
 *
 * Tightness: a visited frame is as wide as its tightest pair (i,j), at most the widths of the two
 * times; the time of unknown order is at most the width of a segment's end, and only where another
 * clock's segment begins within that width.
 *
 * What participants did between attempts in vain (states.h, `between`) is no part of the sweep: the time for which that may
 * be work is taken from the lower bounds of all others, and added to the upper bound of its own.
 *
 * Where no thread is gone (states.h), this is the question "t working and count(waiting) == participants-1"
 * of query.h, asked for all participants in one pass; otherwise it is one that query.h has no words for.
 * frames.h would need a pass for each, and finds the same lower bounds; so the two are two sweeps, over what they
 * share: lengths (frame_length.h), the tournament that holds them, the merge of a clock's threads (merge.h), the
 * order of ties. There a run goes on through changes that do not matter; here whoever works alone changes with
 * every segment, and what is unordered of a clock comes to two numbers.
 *
 * Pruning. A segment that lies, from its lo(b) to its hi(e), where two other clocks surely do not wait, is left
 * out before the sweep. Nothing changes by that, to the bit: in each of its frames, visited or not, one of these
 * two would have to wait, and they neither count a segment that waits, nor have one that is unordered, at any key at
 * which this one counts or is unordered.
 *
 * Segments whose keys are equal go in one order: ends before begins, and else by the names of the hosts
 * (times_order). So it does not matter in which order a trace has its hosts, files and threads.
 *
 * Memory is bounded by the window of unknown order, not by the run. A segment costs the logarithm of the clocks,
 * whatever the number of threads: tournaments keep the length of the frame that is next (frame_length.h), and until
 * when all clocks may wait. Only where all may, by something unordered, a segment also costs a step for each clock
 * on which somebody may still work. */
#ifndef ANALYSIS_CSP_H
#define ANALYSIS_CSP_H

#include "analysis/clocks/times.h"
#include "analysis/states/timeline.h"

struct csp_score {
	frz_time alone;      /* base ticks in which it works and all others wait */
	uint32_t site;       /* where it works longest in that time; TR_NO_SITE without any */
	bool mostly;         /* for half of it or more, about */
	bool sure;           /* that there is no other site in which it works longer then */
};

/* Whether all participants and all events are on one time base (a participant without events lost them). */
bool csp_on_one_time_base(const struct times *, const struct participants *,
			  const struct span *spans);

/* Scores of all participants, one per participant; `spans` has that of each time base. With several time bases in use
 * no thread is proved to wait while one on another time base works, and the run may be longer than each time base's
 * span: all lower bounds are zero, and upper ones hold for the share of the span. */
struct csp_score *csp_scores(const struct times *, const struct periods *,
			     const struct participants *,
			     const struct span *spans);

/* The same, and no segment is left out beforehand: what tests hold it against. */
struct csp_score *csp_scores_unpruned(const struct times *, const struct periods *,
				      const struct participants *,
				      const struct span *spans);

#endif

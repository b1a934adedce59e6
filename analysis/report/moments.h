/* SPDX-License-Identifier: MIT
 *
 * moments.h - moments of a run as people name them: "1.5s", "20ms", or a progress point, "step" or "step#3".
 *
 * A point is that of the first thread of the trace that ever comes there, "step#3" the third time. Where clocks differ
 * the moment is known as its stamp is, and no better: all that is said of a part of the run must be true wherever in
 * these bounds it begins and ends.
 *
 * Law: a moment is in ticks of the base since the run's first event, never below 0. */
#ifndef ANALYSIS_MOMENTS_H
#define ANALYSIS_MOMENTS_H

#include "analysis/clocks/times.h"

/* Nanoseconds of "1.5s", "20ms", "3us", "7ns", or "1.5" (seconds). False if it is none of these. */
bool moment_duration(const char *text, double *nanoseconds);

struct named_moment {
	frz_time since;          /* the run's begin */
	bool point;              /* it is a progress point, and not a time: */
	struct moment at;
};

/* The moment that `text`, the value of `option`, names; false after a message. */
bool moment_find(const struct times *, const struct span *, const char *option, const char *text, struct named_moment *found);

/* From one to the other: two points of one clock are better known than each. */
frz_time moments_apart(const struct times *, const struct named_moment *from, const struct named_moment *to);

#endif

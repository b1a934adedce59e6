/* SPDX-License-Identifier: MIT
 *
 * moments.h - moments of a run as people name them: "1.5s", "20ms", or a progress point, "step" or "step#3".
 *
 * A point is that of the first thread of the trace that ever comes there, "step#3" the third time. Where clocks differ
 * the moment is the middle of the bounds of its stamp: whoever asks for a part of the run need not have one to the
 * tick, but all that is said of it must be true of the part that is named.
 *
 * Law: a moment is in ticks of the base since the run's first event, never below 0. */
#ifndef ANALYSIS_MOMENTS_H
#define ANALYSIS_MOMENTS_H

#include "analysis/clocks/times.h"

/* Nanoseconds of "1.5s", "20ms", "3us", "7ns", or "1.5" (seconds). False if it is none of these. */
bool moment_duration(const char *text, double *nanoseconds);

/* The moment that `text`, the value of `option`, names; false after a message. */
bool moment_find(const struct times *, const struct span *, const char *option, const char *text, int64_t *found);

#endif

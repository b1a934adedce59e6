/* SPDX-License-Identifier: MIT
 *
 * clock_conflicts.h - what contradicts what, where, and what would reconcile it: one diagnostic. */
#ifndef ANALYSIS_CLOCK_CONFLICTS_H
#define ANALYSIS_CLOCK_CONFLICTS_H

#include "analysis/clocks/times.h"

/* Adds to the trace's diagnostics what is wrong with a clock in one of the solutions of *t: the
 * conflicting links in words, the least drift that reconciles them, and, where the clock seems to have
 * jumped or changed its rate, between which of its stamps and by about how much. */
void clock_conflicts_say(struct times *t, uint32_t clock, const struct frz_solution *);

#endif

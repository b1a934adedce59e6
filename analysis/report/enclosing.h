/* SPDX-License-Identifier: MIT
 *
 * enclosing.h - regions that enclose all that a process did, such as one around main: that a rank is in there
 * says nothing, so no headline and no advice names it as the place to look at.
 *
 * Law: a region encloses a process when one visit of the process's first thread lasts ENCLOSES percent of what
 * that thread recorded or longer and has other regions or operations inside, and none of its other threads enters
 * it by itself (a thread's start function is entered so; members of a team inherit). */
#ifndef ANALYSIS_ENCLOSING_H
#define ANALYSIS_ENCLOSING_H

#include "analysis/states/totals.h"

#define ENCLOSES 95 /* percent */

/* `site`: one of the region's; of any that is no region's (TR_OUTSIDE, ...) the answer is no. */
bool encloses_process(const struct totals *, uint32_t site, uint32_t process);
bool encloses_run(const struct totals *, uint32_t site); /* all processes with events */

#endif

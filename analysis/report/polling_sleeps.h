/* SPDX-License-Identifier: MIT
 *
 * polling_sleeps.h - threads that sleep again and again, or whose waits only a time limit ended (states.h): whether they
 * wait for others there is not known. Scores hold both; what a command takes for work alone is not proved then. */
#ifndef ANALYSIS_POLLING_SLEEPS_H
#define ANALYSIS_POLLING_SLEEPS_H

#include "analysis/states/states.h"

/* For how many seconds threads sleep so, of those that do it for a time worth mentioning (unrecorded.h), with notes that name
 * them and where, and likewise those waits. `roles`: or NULL for those by default. */
double polling_sleeps_say(struct trace *, const struct roles *);

/* The same, with roles by default and without notes. */
double polling_sleeps_seconds(const struct trace *);

#endif

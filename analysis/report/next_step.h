/* SPDX-License-Identifier: MIT
 *
 * next_step.h - what the report ends with: what less time in one region would buy, and the command
 * that says more about it.
 *
 * Who works while *all* others wait is not always whom to look at: in a chain or a wavefront the slow one keeps only
 * its neighbours waiting. So the costliest finding of a diagnosis comes first, if it is proved and to do something
 * about it is expected to buy more.
 *
 * The region is where the worst straggler mostly works while all others wait, on that rank or thread; all its work
 * where that is outside of regions, or in one that encloses everything (enclosing.h). Where none straggles,
 * it is where the only process mostly works, or else the first of the causal profile.
 *
 * Law: nothing is said that the tables do not say; of a region that buys less than 1 % nothing. */
#ifndef ANALYSIS_NEXT_STEP_H
#define ANALYSIS_NEXT_STEP_H

#include "analysis/coz/profile.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/report/findings.h"
#include "analysis/tables/reply.h"

struct next_step {
	char *first;         /* what the diagnosis found, which is to be said before ranking_advice(); or NULL */
	char *advice;        /* NULL: there is nothing to say */
	char *there;         /* the same, behind ranking_advice() that has proved who keeps others waiting, and where; or NULL */
	char *command;       /* that the shell takes as it is */
	size_t named;        /* columns of the region's name in it */
	struct interval gain; /* percent that the advice is expected to buy; 0 without one */
};

/* What the profile is to be asked aside: half the time there, on the rank or thread that straggles; and a row for
 * all its work where the user has marked nothing there. */
struct profile_aside next_step_asks(const struct findings *);

/* What removing the straggler would buy, which is no more than that though it works while all others wait; NULL: there is
 * none. To be freed. */
char *next_step_without(const struct reply *, const struct findings *, const struct profile *);

struct next_step next_step(const struct reply *, const struct findings *, const struct profile *);
/* The diagnosis's first finding instead of the step, where that buys more. */
void next_step_prefer(struct next_step *, const struct reply *, const struct findings *, const struct profile *,
		      const struct diagnosis *);
/* A command that says more of the trace: "path", what decided how long the run took; "diagnose", why; "coz", the causal
 * profile. To be freed. */
char *next_step_command(const struct findings *, const char *name);
void next_step_close(struct next_step *);

#endif

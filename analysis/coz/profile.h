/* SPDX-License-Identifier: MIT
 *
 * profile.h - the causal profile: what each region and reduction would buy, in percent: how much shorter the run would
 * be, or how much more often a progress point would be reached, or how much shorter the way from one to another would
 * be (points.h).
 *
 * Of each there are two answers (coz.h): what is *proved* of every run, and what is *expected*, which is most
 * likely.
 *
 * Regions are ranked by the expected slope of speed-up over reduction, that of the straight line through the
 * origin that fits best: the sum of (reduction * speed-up) over the sum of reduction squared.
 *
 * Law: proved speed-ups and slopes contain the truth (coz.h). The place of a region is *proved* when its proved slope
 * does not overlap with that of any other, otherwise *undecided*; a row without rivals is proved when it certainly buys
 * something.
 *
 * What threads did outside of marks is taken for work. Where it may have been waiting and that matters (`if_work`),
 * bounds are proved only if it was work, which whoever shows them says, and no place is proved.
 *
 * The lower end of what is proved is below 0 where another order may make the run longer (orders.h), and what is
 * expected where the order that is decided again does (greedy.h).
 *
 * What is expected is cut to what is proved, which is certain. Where its middle lies outside by more than 1 % of the
 * run, one of both is wrong: then the proved bounds are widened by it, and a diagnostic says so.
 *
 * A reduction by 0 buys exactly 0. One by p percent is expected to buy at most p percent of the run, which is proved
 * only where nothing is loose (graph.h): who looks every 15 ms may gain 15 from 1 ms less. */
#ifndef ANALYSIS_PROFILE_H
#define ANALYSIS_PROFILE_H

#include "analysis/base/interval.h"
#include "analysis/coz/coz.h"
#include "analysis/coz/points.h"
#include "analysis/graph/graph.h"

#define PROFILE_STEPS 21 /* 0, 5, ... 100 % */
#define PROFILE_ROWS  64 /* regions in one pass: so memory does not grow with their number */

/* One more question beside the profile, in the same visit: this region, on this rank or thread. */
struct profile_aside {
	uint32_t site;               /* one of the region's; TR_ALL_WORK; TR_NO_SITE: no question */
	bool all_work;               /* all their work is to be a row, too */
	struct coz_location who;
	uint32_t reduction;          /* millionths of a percent */
};

/* Others of that kind, each for itself: this region, or TR_ALL_WORK, there, by so much. */
#define PROFILE_MORE 8
struct profile_more { uint32_t site; struct coz_location who; uint32_t reduction; };

struct profile_request {
	const char *region;          /* NULL: each, of which a site is `wanted` */
	bool all_work;               /* instead of regions: all work (TR_ALL_WORK) */
	const bool *wanted;          /* of each site; NULL: all */
	struct coz_location who;
	const uint32_t *reductions;  /* millionths of a percent; NULL: the steps */
	size_t nreductions;
	bool worst;
	const char *from, *to;       /* progress points: both, the first, or neither */
	const struct profile_aside *aside; /* or NULL */
	const struct profile_more *more; size_t nmore; /* at most PROFILE_MORE */
	struct graph *graph;         /* that is there, for questions without progress points; or NULL */
	double polling_sleeps_s;               /* of open_s in both answers: rows of sleeps (polling_sleeps.h) */
	double open_s[COZ_ANSWERS];  /* so much that counts as work, of all threads, may have been waiting for what is not known */
	bool hidden;                 /* some thread worked while it seemed to wait: what it did then began nobody knows why */
	bool unsure;                 /* some thread was blocked in what was not recorded, or ran and is not: nothing is proved */
	bool if_work;                /* some thread did what nobody can classify: what is proved is so only if that was work */
};

struct profile_row {
	uint32_t site;               /* one of the region's; TR_OUTSIDE, TR_ALL_WORK */
	struct profile_gain {
		struct interval *percent; /* gain, for each reduction */
		struct interval *little;  /* of a pair of points, by Little's law */
		struct interval slope;
	} gain[COZ_ANSWERS];
	bool of_one;                 /* not of all ranks, but of `who`: it competes with no other row */
	struct coz_location who;
	bool proved;
};

struct profile {
	struct coz_location who;     /* whose time the rows are about */
	struct profile_row *rows; size_t nrows; /* the steepest first */
	uint32_t *reductions; size_t nreductions;
	bool asked_aside;
	struct interval aside[COZ_ANSWERS]; /* the gain that was asked for aside, in percent of the run */
	struct interval without[COZ_ANSWERS]; /* if none of the work there, in any region, took any time */
	struct interval more[PROFILE_MORE][COZ_ANSWERS]; /* likewise, if it is possible to know */
	struct interval span_s;
	double open[COZ_ANSWERS];    /* percent of the run: open_s */
	bool hidden;                 /* as was asked, or somebody was in a region inside of an operation */
	bool possible;               /* coz_possible(); otherwise nothing is known */
	bool end_lost;               /* a thread lost its end: how much earlier that had come is not known */
	bool untold;                 /* of some waits nothing tells what ended them */
	bool presumed;               /* of some waits it is not recorded what ended them, but that is likely (graph_presumed.c) */
	bool apart;                  /* some thread comes to a barrier, and waits only later for that round */
	bool transfers;              /* something is sent, or handed over */
	bool ranks;                  /* of MPI */
	char *pools;                 /* what gave out work, so that its order decided who did what; or NULL */
	char *unsaid;                /* which calls of MPI wait, and never say for whom; or NULL */
	char *filled;                /* what a clock or a flag in memory decides: a sentence; or NULL */
	char *untied;                /* threads of which nothing says who created them; or NULL */
	char *unseen;                /* where who need not wait leaves no record; or NULL */
	bool orders_kept;            /* there are too many of them to be decided again */
	bool if_work;                /* as was asked */
	uint64_t narrow;             /* answers whose proved bounds did not hold what is expected, and were widened */
	bool rigid;                  /* another run waits for the same: no order, chance or attempt decides */
	bool marked;                 /* some process has marks, so time outside of them is unclassified */
	struct graph_said said;      /* by the graph: what makes bounds wide */
	struct points points;        /* empty when none were asked for */
	struct interval total_s[POINTS_WHATS]; /* what was measured of them */
};

void profile_open(struct profile *, const struct trace *, const struct times *,
		  const struct profile_request *);
void profile_close(struct profile *);

/* What is assumed beside the clocks, in sentences. The first two are to be freed. */
#define PROFILE_ASSUMPTIONS 16
struct profile_assumptions {
	char *meaning;           /* what each of the two answers is */
	char *here;              /* what was seen in this run that leaves answers open, or NULL */
	size_t nalways;          /* what holds of any program */
	const char *always[PROFILE_ASSUMPTIONS];
};

struct profile_assumptions profile_assumptions(const struct profile *, bool worst);

#endif

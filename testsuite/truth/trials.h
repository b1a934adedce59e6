/* SPDX-License-Identifier: MIT
 *
 * trials.h - the solver on trial: random worlds in which every conversion is compared with the
 * truth.
 *
 * Law: a case is told by its seed and the plan alone, whatever was tried before it. */
#ifndef TRUTH_TRIALS_H
#define TRUTH_TRIALS_H

#include "testsuite/truth/world.h"

struct plan {                     /* what to draw from; its COUNT or NULL: any */
	int model;                /* of struct world_spec; -1: any */
	enum clock_kind clock;
	enum delay_kind delay;
	const char *topology;     /* as for frz_topology_parse() */
	unsigned conversions;     /* of each case */
};

struct verdict {
	struct world_spec spec;   /* what was drawn */
	uint32_t ppb;             /* assumed */
	uint64_t conversions, outside; /* bounds that were computed, and those without the truth */
	uint64_t silent;          /* of them: of clocks that were called proven */
	unsigned clocks, unlinked, contradicted, consistent; /* other than the base */
	double width; /* median, as a multiple of the fastest packet there and back; 0 */
	/* In widths that the broken clock's bounds would have had, had it kept the assumption: */
	double break_size;        /* by how much it was set or stood still, or went astray */
	double excess;            /* how far outside a silent bound the truth was at most */
	bool break_unlinked;      /* it came before the clock's first link or after its last */
	char complaint[200];      /* about the first bound without the truth */
};

struct verdict try_case(uint64_t seed, const struct plan *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * solution.h - what is known of all clocks, while solve.c fills it in. */
#ifndef FREEZER_SOLUTION_H
#define FREEZER_SOLUTION_H

#include "freezer/solved.h"

struct frz_solution {
	uint32_t nclocks;
	struct solved clocks[];
};

#endif

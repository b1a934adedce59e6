/* SPDX-License-Identifier: MIT
 *
 * relations.h - whether it is known who waited for whom, and if not, why. */
#ifndef ANALYSIS_RELATIONS_H
#define ANALYSIS_RELATIONS_H

#include <stdbool.h>

#include "analysis/clocks/times.h"

/* Half a sentence; NULL: it is known, as far as the records go. */
const char *relations_missing(const struct times *);

/* But for a tenth: worth no word beside an interval that says it. */
static inline bool relations_decided(frz_time ticks)
{
	return ticks.hi - ticks.lo <= ticks.hi / 10;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * relations.h - why it is not known who waited for whom. */
#ifndef ANALYSIS_RELATIONS_H
#define ANALYSIS_RELATIONS_H

#include "analysis/clocks/times.h"

/* Half a sentence; NULL: it is known, as far as the records go. */
const char *relations_missing(const struct times *);

#endif

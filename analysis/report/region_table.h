/* SPDX-License-Identifier: MIT
 *
 * region_table.h - time in each region, and waiting, of each rank (inclusive; threads of a rank
 * added up). */
#ifndef ANALYSIS_REGION_TABLE_H
#define ANALYSIS_REGION_TABLE_H

#include "analysis/report/findings.h"
#include "analysis/tables/reply.h"

/* The page: the regions that took most; of many ranks those that spent most and least. */
void region_table_say(struct reply *, const struct findings *);
void region_table_fill(struct reply *, const struct findings *); /* "regions": all of them */

#endif

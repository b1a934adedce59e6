/* SPDX-License-Identifier: MIT
 *
 * region_table.h - time in each region, and waiting, of each rank (inclusive; threads of a rank
 * added up). */
#ifndef ANALYSIS_REGION_TABLE_H
#define ANALYSIS_REGION_TABLE_H

#include "analysis/base/json.h"
#include "analysis/report/findings.h"

/* The regions that took most; of many ranks those that spent most and least. */
void region_table_print(const struct findings *);
void region_table_json(struct json *, const char *key, const struct findings *); /* all of them */

#endif

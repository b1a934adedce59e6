/* SPDX-License-Identifier: MIT
 *
 * location_table.h - a row for each rank, and for each thread where a rank has several: how long it worked and waited, how
 * long all others waited for it, and where it mostly waits.
 *
 * What a rank with several threads did is the mean of its threads; but it works, where others wait for it, while one of them
 * does. Where a thread waits, or may, is taken from its periods (periods.h).
 *
 * Law: each share of the run lies in the interval given for it. */
#ifndef ANALYSIS_LOCATION_TABLE_H
#define ANALYSIS_LOCATION_TABLE_H

#include "analysis/report/findings.h"
#include "analysis/tables/reply.h"

/* At most `most` of each, those for whom others wait the longest first; more than 16 threads in groups (routines.h).
 * `every`: all of them, one by one, and where they keep others waiting. */
void location_table_say(struct reply *, const struct findings *, size_t most, bool every);

#endif

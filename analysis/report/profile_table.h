/* SPDX-License-Identifier: MIT
 *
 * profile_table.h - the causal profile as tables. */
#ifndef ANALYSIS_PROFILE_TABLE_H
#define ANALYSIS_PROFILE_TABLE_H

#include "analysis/coz/profile.h"
#include "analysis/tables/reply.h"
#include "analysis/trace/names.h"

/* "12.5 %" of millionths of a percent; a gain, or "unknown". */
struct percentage { char text[24]; };
struct percentage profile_percentage(uint32_t millionths);
/* What is proved of a gain, in percent of the run, as people read it: "nothing" where the run may become longer, or vanish. */
struct interval_text profile_bounds(const struct reply *, struct interval proved, int decimals);
/* "28.21 % shorter (proved 0.00 .. 28.43)": what is expected, and what is proved; "(proved)" where that is the same;
 * and if what. */
struct gains_text { char text[200]; };
struct gains_text profile_gains(const struct reply *, const struct profile *, const struct interval gain[COZ_ANSWERS],
				int decimals);

/* "rank 1", "pid 4711 thread 2", "all ranks". */
struct location_name profile_who(struct coz_location);

/* The page: at most `most` regions; `little`: by Little's law. */
void profile_table_say(struct reply *, const struct trace *, const struct profile *, bool little, size_t most);
/* All reductions of a region, whose gains are called `gain`. Without a key for the page. */
void profile_curve(struct reply *, const char *key, const struct profile *, const struct profile_row *, bool little,
		   const char *gain);

/* The data: all regions with their curves. */
void profile_table_fill(struct reply *, const char *key, const struct trace *, const struct profile *, const char *gain);

#endif

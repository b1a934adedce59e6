/* SPDX-License-Identifier: MIT
 *
 * profile_table.h - the causal profile as a table of 80 columns and as JSON. */
#ifndef ANALYSIS_PROFILE_TABLE_H
#define ANALYSIS_PROFILE_TABLE_H

#include "analysis/base/json.h"
#include "analysis/coz/profile.h"
#include "analysis/trace/names.h"

/* "12.5 %" of millionths of a percent; a gain, or "unknown". */
struct percentage { char text[24]; };
struct percentage profile_percentage(uint32_t millionths);
/* "28.21 % shorter (proved 0.00 .. 28.43)": what is expected, and what is proved; "(proved)" where that is the same. */
struct gains_text { char text[160]; };
struct gains_text profile_gains(const struct interval gain[COZ_ANSWERS], int decimals);
struct interval_text profile_gain(struct interval, int decimals);

/* "rank 1", "pid 4711 thread 2", "all ranks". */
struct location_name profile_who(struct coz_location);

/* At most `most` regions; `little`: by Little's law. */
void profile_table_print(const struct trace *, const struct profile *, bool little, size_t most);

/* An array of all regions with their curves, whose gains are called `gain`. */
void profile_table_json(struct json *, const char *key, const struct trace *,
			const struct profile *, const char *gain);

#endif

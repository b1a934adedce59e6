/* SPDX-License-Identifier: MIT
 *
 * profile_table.c - see profile_table.h. */
#include "analysis/report/profile_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/trace/names.h"

#define MILLION 1000000

struct percentage profile_percentage(uint32_t millionths)
{
	struct percentage p;
	snprintf(p.text, sizeof p.text, "%.9g %%", millionths / (double)MILLION);
	return p;
}

struct interval_text profile_gain(struct interval x, int decimals)
{
	if (isfinite(x.lo) && isfinite(x.hi))
		return interval_range(x, decimals);
	return (struct interval_text){ "unknown" };
}

static struct site_name row_name(const struct trace *trace, const struct profile_row *row)
{
	struct site_name name = region_name_within(trace, row->site, 20);
	if (row->of_rank)
		snprintf(name.text, sizeof name.text, "all work of rank %" PRId64, row->rank);
	return name;
}

/* A line has room for three of the reductions: a quarter, half, and all. */
void profile_table_print(const struct trace *trace, const struct profile *p, bool little,
			 size_t most)
{
	size_t n = p->nreductions;
	size_t columns[] = { n / 4, n / 2, n - 1 };
	size_t first = n == 1 ? 2 : 0;
	printf("  %-20s", "less by");
	for (size_t c = first; c < 3; c++)
		printf(c < 2 ? " %-15s" : " %s", profile_percentage(p->reductions[columns[c]]).text);
	putchar('\n');
	for (size_t r = 0; r < p->nrows && r < most; r++) {
		const struct profile_row *row = &p->rows[r];
		printf("  %-20s", row_name(trace, row).text);
		for (size_t c = first; c < 3; c++) {
			const struct interval *gains = little ? row->little : row->percent;
			printf(little && c == 2 ? " %s" : " %-15s",
			       profile_gain(gains[columns[c]], 2).text);
		}
		printf("%s\n", little ? "" : row->proved ? " proved" : " undecided");
	}
	if (p->nrows > most)
		printf("  and %zu more, see dprof-analyze coz\n", p->nrows - most);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void json_row(struct json *j, const struct trace *trace, const struct profile *p,
		     const struct profile_row *row, const char *gain)
{
	jw_object(j, NULL);
	if (row->site >= trace->nsites) {
		jw_string(j, "region", site_name(trace, row->site).text);
	} else {
		const struct tr_site *site = &trace->sites[row->site];
		jw_string(j, "region", site->name);
		jw_string(j, "file", site->file);
		jw_integer(j, "line", site->line);
	}
	if (row->of_rank)
		jw_integer(j, "rank", row->rank);
	jw_interval(j, "slope", row->slope);
	jw_string(j, "verdict", row->proved ? "proved" : "undecided");
	jw_array(j, "curve");
	for (size_t i = 0; i < p->nreductions; i++) {
		double reduction = p->reductions[i] / (double)MILLION;
		jw_object(j, NULL);
		jw_interval(j, "reduce_percent", (struct interval){ reduction, reduction });
		jw_interval(j, gain, row->percent[i]);
		if (p->points.pair)
			jw_interval(j, "little_percent", row->little[i]);
		jw_end(j);
	}
	jw_end(j);
	jw_end(j);
}

void profile_table_json(struct json *j, const char *key, const struct trace *trace,
			const struct profile *p, const char *gain)
{
	jw_array(j, key);
	for (size_t r = 0; r < p->nrows; r++)
		json_row(j, trace, p, &p->rows[r], gain);
	jw_end(j);
}

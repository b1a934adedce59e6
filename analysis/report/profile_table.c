/* SPDX-License-Identifier: MIT
 *
 * profile_table.c - see profile_table.h. */
#include "analysis/report/profile_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

#define MILLION     1000000
#define NAME_COLUMN 20

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

struct gains_text profile_gains(const struct interval gain[COZ_ANSWERS], int decimals)
{
	struct interval_text expected = profile_gain(gain[COZ_EXPECTED], decimals);
	struct interval_text proved = profile_gain(gain[COZ_PROVED], decimals);
	bool same = strcmp(expected.text, proved.text) == 0;
	struct gains_text both;
	snprintf(both.text, sizeof both.text, "%s %% shorter (proved%s%s)", expected.text, same ? "" : " ",
		 same ? "" : proved.text);
	return both;
}

struct location_name profile_who(struct coz_location who)
{
	struct location_name name = { "all ranks" };
	int length = 0;
	if (coz_is_all(who))
		return name;
	name.text[0] = '\0';
	if (who.rank != COZ_ANY || who.pid != COZ_ANY)
		length = snprintf(name.text, sizeof name.text, who.rank != COZ_ANY ? "rank %" PRId64 : "pid %" PRId64,
				  who.rank != COZ_ANY ? who.rank : who.pid);
	if (who.thread != COZ_ANY)
		snprintf(name.text + length, sizeof name.text - (size_t)length, "%sthread %" PRId64,
			 length ? " " : "", who.thread);
	return name;
}

static struct site_name row_name(const struct trace *trace, const struct profile_row *row)
{
	struct site_name name = region_name_within(trace, row->site, NAME_COLUMN);
	if (strstr(name.text, "..")) /* without its middle */
		name = region_name_within(trace, row->site, SITE_NAME_ROOM);
	if (row->of_one)
		snprintf(name.text, sizeof name.text, "all work of %s", profile_who(row->who).text);
	return name;
}

/* One that is longer than its column has a line of its own. */
static void print_name(const char *name)
{
	bool fits = strlen(name) <= NAME_COLUMN;
	if (!fits)
		printf("  %s\n", name);
	printf("  %-*s", NAME_COLUMN, fits ? name : "");
}

/* "12.31 .. 12.32   24.62 .. 24.64" */
static char *gains_of(const struct profile_gain *gain, bool little, const size_t *columns, size_t n)
{
	char *text = mem_copy("");
	for (size_t c = 0; c < n; c++) {
		char *longer = mem_format("%s %-15s", text, profile_gain((little ? gain->little : gain->percent)[columns[c]], 2).text);
		free(text);
		text = longer;
	}
	return text;
}

/* What is expected, and on a second line what is proved, where that is less exact. */
static void print_row(const struct trace *trace, const struct profile_row *row, bool little, const size_t *columns,
		      size_t n)
{
	const char *verdict = little ? "" : row->proved ? " proved" : " undecided";
	char *expected = gains_of(&row->gain[COZ_EXPECTED], little, columns, n);
	char *proved = gains_of(&row->gain[COZ_PROVED], little, columns, n);
	print_name(row_name(trace, row).text);
	if (strcmp(expected, proved) == 0) {
		printf("%s%s\n", expected, verdict);
	} else {
		printf("%s\n", expected);
		print_name("  proved:");
		printf("%s%s\n", proved, verdict);
	}
	free(expected);
	free(proved);
}

/* A line has room for three of the reductions: a quarter, half, and all. */
void profile_table_print(const struct trace *trace, const struct profile *p, bool little,
			 size_t most)
{
	size_t n = p->nreductions;
	size_t columns[] = { n / 4, n / 2, n - 1 };
	size_t first = n == 1 ? 2 : 0;
	print_name("less by");
	for (size_t c = first; c < 3; c++)
		printf(c < 2 ? " %-15s" : " %s", profile_percentage(p->reductions[columns[c]]).text);
	putchar('\n');
	for (size_t r = 0; r < p->nrows && r < most; r++)
		print_row(trace, &p->rows[r], little, columns + first, 3 - first);
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
	if (row->of_one && row->who.rank != COZ_ANY)
		jw_integer(j, "rank", row->who.rank);
	if (row->of_one && row->who.pid != COZ_ANY)
		jw_integer(j, "pid", row->who.pid);
	if (row->of_one && row->who.thread != COZ_ANY)
		jw_integer(j, "thread", row->who.thread);
	jw_interval(j, "slope", row->gain[COZ_PROVED].slope);
	jw_interval(j, "expected_slope", row->gain[COZ_EXPECTED].slope);
	jw_string(j, "verdict", row->proved ? "proved" : "undecided");
	jw_array(j, "curve");
	for (size_t i = 0; i < p->nreductions; i++) {
		double reduction = p->reductions[i] / (double)MILLION;
		jw_object(j, NULL);
		jw_interval(j, "reduce_percent", (struct interval){ reduction, reduction });
		jw_interval(j, gain, row->gain[COZ_PROVED].percent[i]);
		jw_interval(j, "expected_percent", row->gain[COZ_EXPECTED].percent[i]);
		if (p->points.pair)
			jw_interval(j, "little_percent", row->gain[COZ_PROVED].little[i]);
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

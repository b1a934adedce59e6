/* SPDX-License-Identifier: MIT
 *
 * region_table.c - a row for each region and rank; waiting is the last region. */
#include "analysis/report/region_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

#define REGIONS_SHOWN 8
#define NAME_COLUMN   22
#define RANKS_SHOWN   8 /* of each region: half of them the longest, half the shortest */

struct row {
	uint32_t region;     /* totals.nregions: waiting */
	size_t thread;       /* a thread of the rank */
	uint64_t visits;
	frz_time time;
	struct interval seconds;
};

struct rows { struct row *list; size_t count; };

static void add_thread(const struct findings *f, struct row *row, size_t thread)
{
	const struct thread_totals *t = &f->totals.threads[thread];
	bool waiting = row->region == f->totals.nregions;
	const struct total *total = waiting ? &t->wait : &t->regions[row->region].time;
	row->visits += waiting ? t->wait.sure.count + t->wait.possible.count
			       : t->regions[row->region].visits;
	row->time = time_add(row->time, totals_time(&f->times, findings_span(f, thread),
						    &f->totals, thread, total));
}

/* One row per rank of one region, ranks in which it may have been only. */
static struct rows rows_of(const struct findings *f, uint32_t region)
{
	const struct trace *trace = f->trace;
	struct rows rows = { NULL, 0 };
	size_t *row_of = mem_resize(NULL, trace->nprocesses + 1, sizeof *row_of);
	for (size_t p = 0; p < trace->nprocesses; p++)
		row_of[p] = SIZE_MAX;
	for (size_t i = 0; i < trace->nthreads; i++) {
		size_t *at = &row_of[trace->threads[i].process];
		if (*at == SIZE_MAX) {
			*at = rows.count;
			*MEM_GROW(rows.list, rows.count) =
				(struct row){ .region = region, .thread = i };
		}
		add_thread(f, &rows.list[*at], i);
	}
	size_t kept = 0;
	for (size_t i = 0; i < rows.count; i++)
		if (rows.list[i].visits > 0 || rows.list[i].time.hi > 0)
			rows.list[kept++] = rows.list[i];
	rows.count = kept;
	for (size_t i = 0; i < rows.count; i++)
		rows.list[i].seconds = findings_seconds(f, rows.list[i].thread, rows.list[i].time);
	free(row_of);
	return rows;
}

/* ---- As text --------------------------------------------------------------------------------- */

static int longest_first(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	return (a->seconds.lo < b->seconds.lo) - (a->seconds.lo > b->seconds.lo);
}

static struct site_name name_of(const struct findings *f, uint32_t region)
{
	if (region == f->totals.nregions)
		return (struct site_name){ "waiting" };
	return site_name(f->trace, f->totals.site_of_region[region]);
}

static void print_row(const struct findings *f, const struct row *row, bool first)
{
	struct site_name name = { "" };
	if (first)
		name = name_of(f, row->region);
	if (strlen(name.text) > NAME_COLUMN) { /* has a line of its own */
		printf("  %s\n", name.text);
		name.text[0] = '\0';
	}
	struct interval share = interval_percent(row->time, findings_span(f, row->thread)->length);
	char visits[24];
	snprintf(visits, sizeof visits, "%" PRIu64, row->visits);
	printf("  %-*s %-10.10s %8s  ", NAME_COLUMN, name.text, rank_name(f->trace, row->thread).text,
	       visits);
	if (f->several_threads)
		printf("%s\n", interval_compact(row->seconds, 9).text);
	else
		printf("%-20s %s\n", interval_compact(row->seconds, 9).text,
		       interval_compact(share, 2).text);
}

static void print_rows(const struct findings *f, struct rows *rows)
{
	if (rows->count > RANKS_SHOWN)
		qsort(rows->list, rows->count, sizeof *rows->list, longest_first);
	for (size_t i = 0; i < rows->count; i++) {
		bool hidden = rows->count > RANKS_SHOWN && i >= RANKS_SHOWN / 2 &&
			      i < rows->count - RANKS_SHOWN / 2;
		if (!hidden)
			print_row(f, &rows->list[i], i == 0);
		else if (i == RANKS_SHOWN / 2)
			printf("  %-*s ... %zu more\n", NAME_COLUMN, "", rows->count - RANKS_SHOWN);
	}
}

/* The regions by their time in all ranks, longest first. */
struct by_time { uint32_t region; double seconds; };

static int by_time(const void *x, const void *y)
{
	const struct by_time *a = x, *b = y;
	return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

void region_table_print(const struct findings *f)
{
	struct by_time *order = mem_resize(NULL, f->totals.nregions + 1, sizeof *order);
	for (uint32_t r = 0; r < f->totals.nregions; r++) {
		struct rows rows = rows_of(f, r);
		order[r] = (struct by_time){ r, 0 };
		for (size_t i = 0; i < rows.count; i++)
			order[r].seconds += rows.list[i].seconds.lo;
		free(rows.list);
	}
	qsort(order, f->totals.nregions, sizeof *order, by_time);
	printf("  %-*s %-10s %8s  %s\n", NAME_COLUMN, "region", "", "visits",
	       f->several_threads ? "thread seconds" : "seconds              % of run");
	for (uint32_t r = 0; r <= f->totals.nregions; r++) {
		if (r >= REGIONS_SHOWN && r < f->totals.nregions)
			continue;
		struct rows rows = rows_of(f, r < f->totals.nregions ? order[r].region : r);
		print_rows(f, &rows);
		free(rows.list);
	}
	if (f->totals.nregions > REGIONS_SHOWN)
		printf("  and %u more regions, see --json\n", f->totals.nregions - REGIONS_SHOWN);
	free(order);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void json_region(struct json *j, const struct findings *f, uint32_t region)
{
	const struct tr_site *site = region == f->totals.nregions ?
					     NULL : &f->trace->sites[f->totals.site_of_region[region]];
	jw_string(j, "region", site ? site->name : NULL);
	if (site) {
		jw_string(j, "file", site->file);
		jw_integer(j, "line", site->line);
	}
}

void region_table_json(struct json *j, const char *key, const struct findings *f)
{
	jw_array(j, key);
	for (uint32_t r = 0; r <= f->totals.nregions; r++) {
		struct rows rows = rows_of(f, r);
		for (size_t i = 0; i < rows.count; i++) {
			bool waiting = r == f->totals.nregions;
			jw_object(j, NULL);
			json_region(j, f, r);
			jw_bool(j, "waiting", waiting);
			jw_integer(j, "rank", f->trace->threads[rows.list[i].thread].rank);
			jw_integer(j, "visits", (int64_t)rows.list[i].visits);
			jw_interval(j, "time_s", rows.list[i].seconds);
			jw_end(j);
		}
		free(rows.list);
	}
	jw_end(j);
}

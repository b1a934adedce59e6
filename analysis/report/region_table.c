/* SPDX-License-Identifier: MIT
 *
 * region_table.c - a row for each region and rank; waiting is the last region. */
#include "analysis/report/region_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/names.h"

#define REGIONS_SHOWN 8
#define NAME_COLUMN   21
#define NAME_BY_ENDS  8  /* where both ends of intervals need the room */
#define COLUMNS       10
#define RANKS_SHOWN   8 /* of each region: half of them the longest, half the shortest */

struct table_region_time {
	uint32_t region;     /* totals.nregions: waiting */
	size_t thread;       /* a thread of the rank */
	uint64_t visits;
	frz_time time;
	struct interval seconds;
};

struct region_times { struct table_region_time *list; size_t count; };

static void add_thread(const struct findings *f, struct table_region_time *row, size_t thread)
{
	const struct thread_totals *t = &f->totals.threads[thread];
	bool waiting = row->region == f->totals.nregions;
	if (waiting && !t->waits)
		return;
	row->visits += waiting ? t->wait.sure.count + t->wait.possible.count
			       : t->regions[row->region].visits;
	row->time = time_add(row->time, waiting ? findings_wait(f, thread)
						: totals_time(&f->times, findings_span(f, thread), &f->totals, thread,
							      &t->regions[row->region].time));
}

/* One row per rank of one region, ranks in which it may have been only. */
static struct region_times rows_of(const struct findings *f, uint32_t region)
{
	const struct trace *trace = f->trace;
	struct region_times rows = { NULL, 0 };
	size_t *row_of = mem_resize(NULL, trace->nprocesses + 1, sizeof *row_of);
	for (size_t p = 0; p < trace->nprocesses; p++)
		row_of[p] = SIZE_MAX;
	for (size_t i = 0; i < trace->nthreads; i++) {
		size_t *at = &row_of[trace->threads[i].process];
		if (*at == SIZE_MAX) {
			*at = rows.count;
			*MEM_GROW(rows.list, rows.count) =
				(struct table_region_time){ .region = region, .thread = i };
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

/* ---- The table ------------------------------------------------------------------------------- */

static void begin_table(struct reply *r, const struct findings *f, const char *key, struct tab_column *columns)
{
	static const struct tab_column all[] = {
		TAB_SHOWN(NULL, "region", NAME_COLUMN, .alone = true), TAB_SHOWN(NULL, "", 10), TAB_KEY("region"),
		TAB_KEY("waiting"), TAB_KEY("rank"), TAB_KEY("pid"), TAB_SHOWN("visits", "visits", -7),
		TAB_SHOWN("time_s", "seconds", 20, 9, .gap = 1), TAB_SHOWN(NULL, "% of run", 0, 2), { 0 } };
	memcpy(columns, all, sizeof all);
	columns[0].width = r->ends ? NAME_BY_ENDS : NAME_COLUMN;
	if (f->several_threads) {
		columns[7].title = "thread seconds";
		columns[8].title = "";
	}
	reply_table(r, key, columns, key ? 0 : SIZE_MAX);
}

/* The first row of a region names it. */
static void add_row(struct reply *r, const struct findings *f, const struct table_region_time *row, bool first)
{
	bool waiting = row->region == f->totals.nregions;
	struct tab_cell name = waiting ? tab_text("waiting") : tab_site(f->trace, f->totals.site_of_region[row->region]);
	struct interval share = interval_percent(row->time, findings_span(f, row->thread)->length);
	reply_row(r, first ? name : TAB_NONE, tab_text(rank_name(f->trace, row->thread).text),
		  waiting ? tab_text(NULL) : name, tab_flag(waiting), tab_count(f->trace->threads[row->thread].rank),
		  tab_pid(f->trace, row->thread), tab_count(row->visits), tab_interval(row->seconds),
		  f->several_threads ? TAB_NONE : tab_interval(share));
}

static int longest_first(const void *x, const void *y)
{
	const struct table_region_time *a = x, *b = y;
	return ORDER(b->seconds.lo, a->seconds.lo);
}

static void say_rows(struct reply *r, const struct findings *f, struct region_times *rows)
{
	if (rows->count > RANKS_SHOWN)
		qsort(rows->list, rows->count, sizeof *rows->list, longest_first);
	for (size_t i = 0; i < rows->count; i++) {
		bool hidden = rows->count > RANKS_SHOWN && i >= RANKS_SHOWN / 2 &&
			      i < rows->count - RANKS_SHOWN / 2;
		if (!hidden)
			add_row(r, f, &rows->list[i], i == 0);
		else if (i == RANKS_SHOWN / 2)
			reply_say(r, SAY_LINE, "  %-*s ... %zu more", NAME_COLUMN, "", rows->count - RANKS_SHOWN);
	}
}

/* The regions by their time in all ranks, longest first; those that nobody was in have none. */
struct by_time { uint32_t region; double seconds; };

static int by_time(const void *x, const void *y)
{
	const struct by_time *a = x, *b = y;
	return ORDER(b->seconds, a->seconds);
}

void region_table_say(struct reply *r, const struct findings *f)
{
	struct by_time *order = mem_resize(NULL, f->totals.nregions + 1, sizeof *order);
	struct tab_column columns[COLUMNS];
	uint32_t visited = 0;
	for (uint32_t i = 0; i < f->totals.nregions; i++) {
		struct region_times rows = rows_of(f, i);
		order[i] = (struct by_time){ i, rows.count ? 0 : -1 };
		visited += rows.count > 0;
		for (size_t k = 0; k < rows.count; k++)
			order[i].seconds += rows.list[k].seconds.lo;
		free(rows.list);
	}
	qsort(order, f->totals.nregions, sizeof *order, by_time);
	begin_table(r, f, NULL, columns);
	for (uint32_t i = 0; i <= f->totals.nregions; i++) {
		if (i >= REGIONS_SHOWN && i < f->totals.nregions)
			continue;
		struct region_times rows = rows_of(f, i < f->totals.nregions ? order[i].region : i);
		say_rows(r, f, &rows);
		free(rows.list);
	}
	reply_end(r);
	if (visited > REGIONS_SHOWN)
		reply_say(r, SAY_LINE, "  and %u more regions, see --json", visited - REGIONS_SHOWN);
	free(order);
}

void region_table_fill(struct reply *r, const struct findings *f)
{
	struct tab_column columns[COLUMNS];
	begin_table(r, f, "regions", columns);
	for (uint32_t region = 0; region <= f->totals.nregions; region++) {
		struct region_times rows = rows_of(f, region);
		for (size_t i = 0; i < rows.count; i++)
			add_row(r, f, &rows.list[i], i == 0);
		free(rows.list);
	}
	reply_end(r);
}

/* SPDX-License-Identifier: MIT
 *
 * frame_list.c - see frame_list.h. */
#include "analysis/report/frame_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/frame_sites.h"
#include "analysis/trace/names.h"

/* ---- Who is where ---------------------------------------------------------------------------- */

/* "ranks 0-2, 5", "threads 0.0-0.3", "pid 4711": of those at `site` in one frame. When no
 * process has several threads, ranks are enough. */
struct names { char *text; bool by_thread; int64_t first, last, rank; };

static void end_of_range(struct names *n)
{
	if (n->last == n->first)
		return;
	char *more = n->by_thread ? mem_format("%s-%" PRId64 ".%" PRId64, n->text, n->rank, n->last)
				  : mem_format("%s-%" PRId64, n->text, n->last);
	free(n->text);
	n->text = more;
}

static void add_name(struct names *n, bool by_thread, int64_t rank, int64_t number)
{
	if (n->text && number == n->last + 1 && n->by_thread == by_thread &&
	    (!by_thread || n->rank == rank)) {
		n->last = number;
		return;
	}
	char *name = by_thread ? mem_format("%" PRId64 ".%" PRId64, rank, number)
			       : mem_format("%" PRId64, number);
	if (n->text)
		end_of_range(n);
	char *more = mem_format("%s%s%s", n->text ? n->text : "", n->text ? ", " : "", name);
	free(name);
	free(n->text);
	*n = (struct names){ more, by_thread, number, number, rank };
}

/* Whether some process has several threads; they stand together. */
static bool several_threads(const struct trace *t)
{
	for (size_t i = 1; i < t->nthreads; i++)
		if (t->threads[i - 1].process == t->threads[i].process)
			return true;
	return false;
}

#define WHO_COLUMNS 45 /* of 80, behind the place, ... */
#define ROW_COLUMNS 74 /* ... and both together */

/* "threads 1.0-1.3, 2.0-2.3, ...": as many as there is room for; with --json all of them are there. */
static void shorten(char *who)
{
	static const char more[] = ", ...";
	size_t at = WHO_COLUMNS - strlen(more);
	if (strlen(who) <= WHO_COLUMNS)
		return;
	while (at > 0 && who[at] != ',')
		at--;
	if (at > 0)
		strcpy(who + at, more);
}

/* To be freed; NULL when none is there. */
static char *who_is_at(const struct trace *trace, const uint32_t *sites, uint32_t site)
{
	struct names names = { .text = NULL };
	bool threads = several_threads(trace), pids = false;
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct tr_thread *t = &trace->threads[i];
		if (sites[i] != site || !query_knows(trace, i))
			continue;
		int64_t rank = t->rank >= 0 ? t->rank
					    : (int64_t)trace->processes[t->process].pid;
		add_name(&names, threads, rank, threads ? t->number : rank);
		pids |= t->rank < 0;
	}
	if (!names.text)
		return NULL;
	end_of_range(&names);
	const char *what = threads ? "thread" : pids ? "pid" : "rank";
	bool several = strpbrk(names.text, ",-") != NULL;
	char *text = mem_format("%s%s %s", what, several ? "s" : "", names.text);
	free(names.text);
	shorten(text);
	return text;
}

/* Whether a known thread before it is at the same place. */
static bool met_before(const struct trace *trace, const uint32_t *sites, size_t thread)
{
	for (size_t i = 0; i < thread; i++)
		if (sites[i] == sites[thread] && query_knows(trace, i))
			return true;
	return false;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* In a stretch of which nothing is sure a frame may begin at any time. Where something is missing, it may be longer than what is
 * there makes certain, to either side, but not than all the time for which the condition may hold. */
static frz_time begin_of(const struct frame *f, bool damaged)
{
	return (frz_time){ damaged ? 0 : f->begin.lo, f->certain ? f->begin.hi : ticks_plus(f->begin.hi, f->length.hi) };
}

static frz_time length_of(const struct frame *f, bool damaged, frz_time holds)
{
	return (frz_time){ f->length.lo, damaged && holds.hi > f->length.hi ? holds.hi : f->length.hi };
}

static void fill_place(struct reply *r, const struct trace *trace, const uint32_t *sites, uint32_t site)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), { 0 } };
	char *who = who_is_at(trace, sites, site);
	struct site_name name = site_name_within(trace, site, ROW_COLUMNS - (who ? strlen(who) : 0));
	reply_row(r, site == TR_NO_SITE ? tab_text(NULL) : tab_site(trace, site),
		  tab_text(site == TR_NO_SITE ? "(nothing)" : name.text), tab_text(who));
	free(who);
	reply_table(r, "threads", columns, 0);
	for (size_t i = 0; i < trace->nthreads; i++)
		if (sites[i] == site && query_knows(trace, i))
			reply_row(r, tab_count(trace->threads[i].rank), tab_pid(trace, i), tab_count(trace->threads[i].number));
	reply_end(r);
}

static void fill_places(struct reply *r, const struct trace *trace, const uint32_t *sites)
{
	static const struct tab_column columns[] = { TAB_KEY("site"), TAB_SHOWN(NULL, "", 30, .gap = 2),
						     TAB_SHOWN(NULL, ""), { 0 } };
	reply_table(r, "places", columns, SIZE_MAX);
	for (size_t i = 0; i < trace->nthreads; i++)
		if (query_knows(trace, i) && !met_before(trace, sites, i))
			fill_place(r, trace, sites, sites[i]);
	reply_end(r);
}

void frame_list_fill(struct reply *r, const char *key, const struct times *times, uint32_t time_base,
		     const struct frames *f)
{
	static const struct tab_column columns[] = {
		TAB_KEY("certain"), TAB_SHOWN("begin_s", "seconds since begin", 22, 9),
		TAB_SHOWN("length_s", "longest, seconds", 22, 9), TAB_SHOWN(NULL, ""), { 0 } };
	uint32_t *sites = frame_sites(times, f);
	bool damaged = !trace_has_all(times->trace);
	if (f->nlongest > 0)
		reply_gap(r);
	reply_table(r, key, columns, SIZE_MAX);
	for (size_t i = 0; i < f->nlongest; i++) {
		const struct frame *frame = &f->longest[i];
		reply_row(r, tab_flag(frame->certain), tab_interval(times_seconds(times, time_base, begin_of(frame, damaged))),
			  tab_interval(times_seconds(times, time_base, length_of(frame, damaged, f->holds))),
			  tab_text(frame->certain ? "" : "perhaps"));
		fill_places(r, times->trace, sites + i * times->trace->nthreads);
	}
	reply_end(r);
	free(sites);
}

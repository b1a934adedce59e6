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
	return text;
}

static bool met_before(const uint32_t *sites, size_t thread)
{
	for (size_t i = 0; i < thread; i++)
		if (sites[i] == sites[thread])
			return true;
	return false;
}

/* ---- The list ---------------------------------------------------------------------------------
 * */

static void print_frame(const struct times *times, uint32_t time_base, const struct frame *f,
			const uint32_t *sites)
{
	const struct trace *trace = times->trace;
	printf("  %-22s %-22s %s\n",
	       interval_compact(times_seconds(times, time_base, f->begin), 9).text,
	       interval_compact(times_seconds(times, time_base, f->length), 9).text,
	       f->certain ? "" : "perhaps");
	for (size_t i = 0; i < trace->nthreads; i++) {
		char *who = met_before(sites, i) ? NULL : who_is_at(trace, sites, sites[i]);
		if (who)
			printf("    %-30s %s\n",
			       sites[i] == TR_NO_SITE ? "(nothing)"
						      : site_name(trace, sites[i]).text, who);
		free(who);
	}
}

void frame_list_print(const struct times *times, uint32_t time_base, const struct frames *f)
{
	uint32_t *sites = frame_sites(times, f);
	if (f->nlongest > 0)
		printf("\n  %-22s %-22s\n", "seconds since begin", "longest, seconds");
	for (size_t i = 0; i < f->nlongest; i++)
		print_frame(times, time_base, &f->longest[i], sites + i * times->trace->nthreads);
	free(sites);
}

static void json_place(struct json *j, const struct trace *trace, const uint32_t *sites,
		       uint32_t site)
{
	const struct tr_site *s = site == TR_NO_SITE ? NULL : &trace->sites[site];
	jw_object(j, NULL);
	jw_string(j, "site", s ? s->name : NULL);
	if (s) {
		jw_string(j, "file", s->file);
		jw_integer(j, "line", s->line);
	}
	jw_array(j, "threads");
	for (size_t i = 0; i < trace->nthreads; i++) {
		if (sites[i] != site || !query_knows(trace, i))
			continue;
		jw_object(j, NULL);
		jw_integer(j, "rank", trace->threads[i].rank);
		jw_integer(j, "thread", trace->threads[i].number);
		jw_end(j);
	}
	jw_end(j);
	jw_end(j);
}

static void json_frame(struct json *j, const struct times *times, uint32_t time_base,
		       const struct frame *f, const uint32_t *sites)
{
	const struct trace *trace = times->trace;
	jw_object(j, NULL);
	jw_bool(j, "certain", f->certain);
	jw_interval(j, "begin_s", times_seconds(times, time_base, f->begin));
	jw_interval(j, "length_s", times_seconds(times, time_base, f->length));
	jw_array(j, "places");
	for (size_t i = 0; i < trace->nthreads; i++)
		if (query_knows(trace, i) && !met_before(sites, i))
			json_place(j, trace, sites, sites[i]);
	jw_end(j);
	jw_end(j);
}

void frame_list_json(struct json *j, const char *key, const struct times *times, uint32_t time_base,
		     const struct frames *f)
{
	uint32_t *sites = frame_sites(times, f);
	jw_array(j, key);
	for (size_t i = 0; i < f->nlongest; i++)
		json_frame(j, times, time_base, &f->longest[i], sites + i * times->trace->nthreads);
	jw_end(j);
	free(sites);
}

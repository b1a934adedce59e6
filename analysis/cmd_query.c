/* SPDX-License-Identifier: MIT
 *
 * cmd_query.c - dprof-analyze query: for how long does a condition hold, and when? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clock_facts.h"
#include "analysis/frame_sites.h"
#include "analysis/memory.h"
#include "analysis/notes.h"
#include "analysis/open_ends.h"
#include "analysis/standings.h"
#include "analysis/totals.h"

#define LONGEST_TEXT 5
#define LONGEST_JSON 20

struct answer {
	struct trace *trace;
	const char *text;        /* of the query */
	struct times times;
	struct roles roles;
	struct query query;
	struct totals totals;
	struct span span;
	uint32_t line;
	struct frames frames;
	uint32_t *sites;         /* of each of the longest, for each thread */
};

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

/* To be freed; NULL when nobody is there. */
static char *who_is_at(const struct answer *a, const uint32_t *sites, uint32_t site)
{
	struct names names = { .text = NULL };
	bool threads = several_threads(a->trace), pids = false;
	for (size_t i = 0; i < a->trace->nthreads; i++) {
		const struct tr_thread *t = &a->trace->threads[i];
		if (sites[i] != site || !query_knows(a->trace, i))
			continue;
		int64_t rank = t->rank >= 0 ? t->rank
					    : (int64_t)a->trace->processes[t->process].pid;
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

/* ---- As text --------------------------------------------------------------------------------- */

static struct interval seconds(const struct answer *a, frz_time ticks)
{
	return times_seconds(&a->times, a->line, ticks);
}

static void print_frame(const struct answer *a, size_t frame)
{
	const struct frame *f = &a->frames.longest[frame];
	const uint32_t *sites = a->sites + frame * a->trace->nthreads;
	printf("  %-22s %-22s %s\n", interval_compact(seconds(a, f->begin), 9).text,
	       interval_compact(seconds(a, f->length), 9).text, f->certain ? "" : "perhaps");
	for (size_t i = 0; i < a->trace->nthreads; i++) {
		char *who = met_before(sites, i) ? NULL : who_is_at(a, sites, sites[i]);
		if (who)
			printf("    %-30s %s\n",
			       sites[i] == TR_NO_SITE ? "(nothing)"
						      : site_name(a->trace, sites[i]).text, who);
		free(who);
	}
}

static void print_text(const struct answer *a)
{
	const struct frames *f = &a->frames;
	struct interval percent = interval_percent(f->holds, a->span.length);
	printf("%s\n  holds for %s s of the run's %s s, that is %s %%\n", a->text,
	       interval_compact(seconds(a, f->holds), 9).text,
	       interval_compact(seconds(a, a->span.length), 9).text,
	       interval_range(percent, 3).text);
	printf("  certain in %" PRIu64 " stretch%s, possible in %" PRIu64 " more\n", f->certain,
	       f->certain == 1 ? "" : "es", f->possible);
	if (f->nlongest > 0)
		printf("\n  %-22s %-22s\n", "seconds since begin", "longest, seconds");
	for (size_t i = 0; i < f->nlongest; i++)
		print_frame(a, i);
	for (size_t i = 0; i < a->query.nnotes; i++)
		print_wrapped("Note: ", a->query.notes[i]);
	clock_bounds_print(&a->times);
	notes_print(a->trace);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void json_place(struct json *j, const struct answer *a, const uint32_t *sites, uint32_t site)
{
	const struct tr_site *s = site == TR_NO_SITE ? NULL : &a->trace->sites[site];
	jw_object(j, NULL);
	jw_string(j, "site", s ? s->name : NULL);
	if (s) {
		jw_string(j, "file", s->file);
		jw_integer(j, "line", s->line);
	}
	jw_array(j, "threads");
	for (size_t i = 0; i < a->trace->nthreads; i++) {
		if (sites[i] != site || !query_knows(a->trace, i))
			continue;
		jw_object(j, NULL);
		jw_integer(j, "rank", a->trace->threads[i].rank);
		jw_integer(j, "thread", a->trace->threads[i].number);
		jw_end(j);
	}
	jw_end(j);
	jw_end(j);
}

static void json_frame(struct json *j, const struct answer *a, size_t frame)
{
	const struct frame *f = &a->frames.longest[frame];
	const uint32_t *sites = a->sites + frame * a->trace->nthreads;
	jw_object(j, NULL);
	jw_bool(j, "certain", f->certain);
	jw_interval(j, "begin_s", seconds(a, f->begin));
	jw_interval(j, "length_s", seconds(a, f->length));
	jw_array(j, "places");
	for (size_t i = 0; i < a->trace->nthreads; i++)
		if (query_knows(a->trace, i) && !met_before(sites, i))
			json_place(j, a, sites, sites[i]);
	jw_end(j);
	jw_end(j);
}

static void print_json(const struct answer *a)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_string(&j, "query", a->text);
	jw_string(&j, "bounds", clock_bounds_word(&a->times));
	jw_interval(&j, "span_s", seconds(a, a->span.length));
	jw_interval(&j, "holds_s", seconds(a, a->frames.holds));
	jw_interval(&j, "share_percent", interval_percent(a->frames.holds, a->span.length));
	jw_object(&j, "frames");
	jw_integer(&j, "certain", (int64_t)a->frames.certain);
	jw_integer(&j, "possible", (int64_t)a->frames.possible);
	jw_end(&j);
	jw_array(&j, "longest");
	for (size_t i = 0; i < a->frames.nlongest; i++)
		json_frame(&j, a, i);
	jw_end(&j);
	jw_array(&j, "remarks");
	for (size_t i = 0; i < a->query.nnotes; i++)
		jw_string(&j, NULL, a->query.notes[i]);
	jw_end(&j);
	notes_json(&j, a->trace);
	jw_end(&j);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void say_error(const char *text, struct query_error *error)
{
	fprintf(stderr, "dprof-analyze: query: %s\n  %s\n  ", error->what, text);
	for (size_t i = 0; i < error->at; i++) /* a letter may have several bytes */
		if ((text[i] & 0xc0) != 0x80)
			putc(text[i] == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
	free(error->what);
}

/* The base's line; the first one that has events when the base has none. */
static void find_span(struct answer *a)
{
	a->span = times_span(&a->times, a->line, a->totals.ends);
	for (uint32_t line = 1; line < a->times.nlines && !a->span.events; line++) {
		a->line = line;
		a->span = times_span(&a->times, line, a->totals.ends);
	}
}

static void compute(struct answer *a, const struct options *options)
{
	totals_open(&a->totals, a->trace, &a->roles);
	say_open_ends(a->trace, &a->totals);
	find_span(a);
	frames_open(&a->frames, &a->times, &a->query, a->line, &a->span,
		    options->json ? LONGEST_JSON : LONGEST_TEXT);
	a->sites = frame_sites(&a->times, &a->frames);
	if (options->json)
		print_json(a);
	else
		print_text(a);
	free(a->sites);
	frames_close(&a->frames);
	totals_close(&a->totals);
}

int cmd_query(struct trace *trace, const struct options *options)
{
	struct answer a = { .trace = trace, .text = options->query };
	struct query_error error;
	int status = times_open(&a.times, trace, options);
	if (status != EXIT_FINE)
		return status;
	status = EXIT_USAGE;
	if (roles_open(&a.roles, trace, options->work, options->wait)) {
		if (query_open(&a.query, trace, &a.roles, options->query, &error)) {
			compute(&a, options);
			query_close(&a.query);
			status = trace->nproblems > 0 ? EXIT_DAMAGED : EXIT_FINE;
		} else {
			say_error(options->query, &error);
		}
	}
	roles_close(&a.roles);
	times_close(&a.times);
	return status;
}

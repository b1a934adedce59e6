/* SPDX-License-Identifier: MIT
 *
 * paje.c - Paje's trace file format: what each event consists of, then the types, then containers, states and links.
 * Times are seconds with ns. Sites are values of states; names are in quotes, and those in a name become apostrophes,
 * as the format has no other way.
 *
 * Of each container events are in the order of time. */
#define _GNU_SOURCE /* fputs_unlocked */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/decimal.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/export/export.h"
#include "analysis/match/match.h"
#include "analysis/trace/names.h"

/* Aliases: J the job, P a process, T a thread; S states, V a site, L links. */
static const char definitions[] =
	"%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
	"%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
	"%EventDef PajeDefineEntityValue 2\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n"
	"%EventDef PajeDefineLinkType 3\n% Alias string\n% Type string\n% StartContainerType string\n% EndContainerType string\n"
	"% Name string\n%EndEventDef\n"
	"%EventDef PajeCreateContainer 4\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef\n"
	"%EventDef PajeDestroyContainer 5\n% Time date\n% Type string\n% Name string\n%EndEventDef\n"
	"%EventDef PajePushState 6\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n"
	"%EventDef PajePopState 7\n% Time date\n% Type string\n% Container string\n%EndEventDef\n"
	"%EventDef PajeStartLink 8\n% Time date\n% Type string\n% Container string\n% StartContainer string\n"
	"% Value string\n% Key string\n%EndEventDef\n"
	"%EventDef PajeEndLink 9\n% Time date\n% Type string\n% Container string\n% EndContainer string\n"
	"% Value string\n% Key string\n%EndEventDef\n";

static void put_name(FILE *out, const char *name)
{
	putc('"', out);
	for (; *name; name++)
		putc(*name == '"' ? '\'' : *name, out);
	putc('"', out);
}

/* Since the begin, which nothing is before. */
static void put_time(FILE *out, const struct moments *m, int event, int64_t at)
{
	int64_t ns = export_ns(m, at);
	char text[2 * DECIMAL_MOST + 4], *end = decimal_put(text, event);
	*end++ = ' ';
	end = decimal_put(end, ns / 1000000000);
	decimal_put(end, 1000000000 + ns % 1000000000); /* whose first digit gives way to the point */
	*end = '.';
	fwrite_unlocked(text, 1, (size_t)(end + 10 - text), out);
}

static void put_number(FILE *out, const char *before, int64_t number)
{
	char text[DECIMAL_MOST];
	fputs_unlocked(before, out);
	fwrite_unlocked(text, 1, (size_t)(decimal_put(text, number) - text), out);
}

static void put_types(FILE *out, const struct trace *t)
{
	fputs(definitions, out);
	fputs("0 TJ 0 job\n0 TP TJ process\n0 TT TP thread\n1 S TT state\n3 L TJ TT TT message\n2 VM L message \"0 0 0\"\n", out);
	for (size_t i = 0; i <= t->nsites; i++) {
		bool region = i < t->nsites && t->sites[i].kind == DPROF_KIND_REGION;
		fprintf(out, "2 V%zu S ", i);
		put_name(out, export_site_name(t, (uint32_t)i));
		fprintf(out, " \"%s\"\n", region ? "0 0.45 0.7" : "0.84 0.37 0"); /* told apart by the colour-blind */
	}
}

static void put_containers(FILE *out, const struct trace *t)
{
	fputs("4 0 J TJ 0 ", out);
	put_name(out, t->nprocesses ? t->processes[0].program : "job");
	putc('\n', out);
	for (size_t p = 0; p < t->nprocesses; p++) {
		fprintf(out, "4 0 P%zu TP J \"%s %" PRId64 "\"\n", p, t->processes[p].rank >= 0 ? "rank" : "pid",
			t->processes[p].rank >= 0 ? t->processes[p].rank : (int64_t)t->processes[p].pid);
	}
	for (size_t i = 0; i < t->nthreads; i++)
		fprintf(out, "4 0 T%zu TT P%" PRIu32 " \"%s\"\n", i, t->threads[i].process, thread_name(t, i).text);
}

static void put_steps(FILE *out, const struct moments *m, uint32_t thread)
{
	struct nested steps;
	nested_open(&steps, m, thread);
	for (struct nested_step s; nested_next(&steps, &s);) {
		if (s.what == NESTED_POINT)
			continue;
		put_time(out, m, s.what == NESTED_ENTER ? 6 : 7, s.at);
		put_number(out, " S T", thread);
		if (s.what == NESTED_ENTER)
			put_number(out, " V", (int64_t)(s.site < m->trace->nsites ? s.site : m->trace->nsites));
		putc_unlocked('\n', out);
	}
	nested_close(&steps);
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct link { int64_t at; uint64_t key; uint32_t thread; bool ends; };

static int by_time(const void *x, const void *y)
{
	const struct link *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->ends != b->ends ? a->ends - b->ends : ORDER(a->key, b->key);
}

static void put_links(FILE *out, const struct moments *m)
{
	struct link *links = NULL;
	size_t n = 0, key = 0;
	struct match_walk *walk = moments_matches(m);
	for (struct match match; match_walk_next(walk, &match); key++)
		for (size_t i = 0; match.kind == MATCH_MESSAGE && i < 2; i++) {
			uint32_t thread = i == 0 ? match.parts[i].thread : match.parts[i].done_in;
			struct moments_cursor c = moments_of(m, thread);
			frz_time bounds;
			int64_t at = moments_at_any(&c, i == 0 ? match.parts[i].enter : match.parts[i].done, &bounds);
			*MEM_GROW(links, n) = (struct link){ at, key, thread, i == 1 };
		}
	match_walk_close(walk);
	if (n)
		qsort(links, n, sizeof *links, by_time);
	for (size_t i = 0; i < n; i++) {
		put_time(out, m, links[i].ends ? 9 : 8, links[i].at);
		put_number(out, " L J T", links[i].thread);
		put_number(out, " VM ", (int64_t)links[i].key);
		putc_unlocked('\n', out);
	}
	free(links);
}

void export_paje(FILE *out, const struct moments *m)
{
	put_types(out, m->trace);
	put_containers(out, m->trace);
	for (uint32_t t = 0; t < m->trace->nthreads; t++)
		put_steps(out, m, t);
	put_links(out, m);
}

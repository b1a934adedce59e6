/* SPDX-License-Identifier: MIT
 *
 * routines.c - see routines.h. */
#include "analysis/report/routines.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"

/* ---- Start routines -------------------------------------------------------------------------- */

static bool any_automatic(const struct trace *trace)
{
	for (size_t i = 0; i < trace->nsites; i++)
		if (trace->sites[i].automatic)
			return true;
	return false;
}

static uint32_t first_automatic(const struct trace *trace, size_t thread)
{
	struct tr_cursor cursor = trace_events(trace, thread);
	uint32_t found = TR_NO_SITE;
	for (struct tr_event e; found == TR_NO_SITE && trace_next_bare(&cursor, &e);)
		if (e.op == DPROF_ENTER && e.site != TR_NO_SITE && trace->sites[e.site].automatic)
			found = e.site;
	trace_end(&cursor);
	return found;
}

uint32_t *routines_find(const struct trace *trace)
{
	uint32_t *routines = mem_resize(NULL, trace->nthreads + 1, sizeof *routines);
	bool any = any_automatic(trace);
	for (size_t t = 0; t < trace->nthreads; t++)
		routines[t] = any ? first_automatic(trace, t) : TR_NO_SITE;
	return routines;
}

/* Of a thread without an automatic region. */
static const char *name_instead(const struct tr_thread *thread)
{
	if (thread->number == 0)
		return "main thread";
	return *thread->name ? thread->name : "other thread";
}

struct site_name routine_name(const struct trace *trace, const uint32_t *routines, size_t thread, size_t room)
{
	if (routines[thread] != TR_NO_SITE)
		return site_name_within(trace, routines[thread], room);
	struct site_name name = { "" };
	const char *text = name_instead(&trace->threads[thread]);
	size_t length = shown_fit(text, room < SITE_NAME_ROOM ? room : SITE_NAME_ROOM);
	memcpy(name.text, text, length);
	return name;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The same one may have several sites: an inline function's, in each object that has it. */
static int compare_sites(const struct tr_site *a, const struct tr_site *b)
{
	if (a == b)
		return 0;
	int names = strcmp(a->name, b->name), files = names ? names : strcmp(a->file, b->file);
	return files ? files : ORDER(a->line, b->line);
}

struct routine_member { const struct ranked *ranked; const struct tr_thread *thread;
			const struct tr_site *routine; };

static int compare_groups(const struct routine_member *a, const struct routine_member *b)
{
	if (a->thread->process != b->thread->process)
		return a->thread->process < b->thread->process ? -1 : 1;
	if (!a->routine || !b->routine) {
		bool none = !a->routine && !b->routine;
		return none ? strcmp(name_instead(a->thread), name_instead(b->thread))
			    : (a->routine ? 1 : -1);
	}
	return compare_sites(a->routine, b->routine);
}

static int by_group(const void *x, const void *y)
{
	const struct routine_member *a = x, *b = y;
	int groups = compare_groups(a, b);
	return groups ? groups : ORDER(a->ranked, b->ranked);
}

static int by_highest(const void *x, const void *y)
{
	const struct routine_group *a = x, *b = y;
	return ORDER(a->highest, b->highest);
}

static void add_other(struct routine_group *g, struct interval percent)
{
	if (g->threads++ == 1)
		g->others = percent;
	g->others.lo = percent.lo < g->others.lo ? percent.lo : g->others.lo;
	g->others.hi = percent.hi > g->others.hi ? percent.hi : g->others.hi;
}

struct routine_group *routines_group(const struct findings *f, const uint32_t *routines, size_t *ngroups)
{
	const struct ranking *s = &f->threads;
	const struct trace *trace = f->trace;
	struct routine_member *members = mem_resize(NULL, s->count + 1, sizeof *members);
	struct routine_group *groups = mem_resize(NULL, s->count + 1, sizeof *groups);
	size_t n = 0;
	for (size_t i = 0; i < s->count; i++) {
		size_t thread = s->list[i].thread;
		uint32_t site = routines[thread];
		members[i] = (struct routine_member){ &s->list[i], &trace->threads[thread],
						      site == TR_NO_SITE ? NULL
						      : &trace->sites[site] };
	}
	qsort(members, s->count, sizeof *members, by_group);
	for (size_t i = 0; i < s->count; i++)
		if (i > 0 && compare_groups(&members[i - 1], &members[i]) == 0)
			add_other(&groups[n - 1], members[i].ranked->percent);
		else
			groups[n++] = (struct routine_group){ .highest = members[i].ranked, .threads = 1 };
	qsort(groups, n, sizeof *groups, by_highest);
	free(members);
	*ngroups = n;
	return groups;
}

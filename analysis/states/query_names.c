/* SPDX-License-Identifier: MIT
 *
 * query_names.c - what the names in a condition stand for. */
#include "analysis/states/query_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"

/* ---- Places ---------------------------------------------------------------------------------- */

static const struct { const char *word; int what; } states[] = {
	{ "working", ATOM_WORKING }, { "waiting", ATOM_WAITING }, { "alive", ATOM_ALIVE },
};
#define NSTATES (sizeof states / sizeof *states)

static enum dprof_kind kind_of(const char *word)
{
	int kind = 1;
	while (kind < DPROF_KIND_COUNT && strcmp(word, tr_kind_word((enum dprof_kind)kind)) != 0)
		kind++;
	return kind < DPROF_KIND_COUNT ? (enum dprof_kind)kind : DPROF_KIND_NONE;
}

/* Its name, or "kmeans.c:88". */
static bool site_is_called(const struct tr_site *site, const char *name)
{
	const char *file = strrchr(site->file, '/') ? strrchr(site->file, '/') + 1 : site->file;
	size_t length = strlen(file);
	char line[16];
	snprintf(line, sizeof line, ":%" PRIu32, site->line);
	return strcmp(site->name, name) == 0 ||
	       (strncmp(name, file, length) == 0 && strcmp(name + length, line) == 0);
}

static bool has_site(const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->nsites; i++)
		if (site_is_called(&trace->sites[i], name))
			return true;
	return false;
}

static char *no_place(const struct trace *trace, const char *name)
{
	size_t count = 0;
	const char **names = mem_resize(NULL, trace->nsites + DPROF_KIND_COUNT + NSTATES,
					sizeof *names);
	for (size_t i = 0; i < trace->nsites; i++)
		names[count++] = trace->sites[i].name;
	for (int kind = 1; kind < DPROF_KIND_COUNT; kind++)
		names[count++] = tr_kind_word((enum dprof_kind)kind);
	for (size_t i = 0; i < NSTATES; i++)
		names[count++] = states[i].word;
	const char *meant = nearest(name, names, count);
	free(names);
	return mem_format("expected a region, a site, a kind or a state, found \"%s\"%s%s%s",
			  name, meant ? ": did you mean " : "", meant ? meant : "",
			  meant ? "?" : "");
}

/* A region may have the name of a kind. */
static void note_homonym(struct query *q, const char *name)
{
	bool kind = kind_of(name) != DPROF_KIND_NONE;
	for (size_t i = 0; i < q->trace->nsites; i++) {
		const struct tr_site *site = &q->trace->sites[i];
		if (strcmp(site->name, name) != 0 || (kind && site->kind == kind_of(name)))
			continue;
		*MEM_GROW(q->notes, q->nnotes) =
			mem_format("%s is read as the word of the query language; for the %s of "
				   "that name write \"%s\" in double quotes",
				   name, tr_kind_word(site->kind), name);
		return;
	}
}

/* Nobody is ever in what is a moment. */
static void note_points(struct query *q, const char *name, const struct query_atom *atom)
{
	bool points = true;
	for (size_t i = 0; i < q->trace->nsites; i++)
		points &= !atom->sites[i] || q->trace->sites[i].kind == DPROF_KIND_PROGRESS;
	if (points)
		*MEM_GROW(q->notes, q->nnotes) = mem_format("%s is a progress point, which takes no time: no thread is ever in it", name);
}

bool query_place(struct query *q, const char *name, bool quoted, struct query_atom *atom,
		 char **error)
{
	size_t nsites = q->trace->nsites;
	enum dprof_kind kind = quoted ? DPROF_KIND_NONE : kind_of(name);
	for (size_t i = 0; i < NSTATES && !quoted; i++)
		if (strcmp(name, states[i].word) == 0) {
			atom->what = states[i].what;
			note_homonym(q, name);
			return true;
		}
	if (kind == DPROF_KIND_NONE && !has_site(q->trace, name)) {
		*error = no_place(q->trace, name);
		return false;
	}
	atom->what = ATOM_SITES;
	atom->sites = mem_resize(NULL, nsites, sizeof *atom->sites);
	for (size_t i = 0; i < nsites; i++)
		atom->sites[i] = kind == DPROF_KIND_NONE ? site_is_called(&q->trace->sites[i], name)
							 : q->trace->sites[i].kind == kind;
	if (kind != DPROF_KIND_NONE)
		note_homonym(q, name);
	if (kind == DPROF_KIND_NONE || kind == DPROF_KIND_PROGRESS)
		note_points(q, name, atom);
	return true;
}

/* ---- Subjects -------------------------------------------------------------------------------- */

static bool is_process(const struct trace *trace, const struct tr_thread *t, enum query_who who, uint64_t number)
{
	return who == WHO_RANK ? t->rank >= 0 && (uint64_t)t->rank == number : trace->processes[t->process].pid == number;
}

static bool is_meant(const struct trace *trace, size_t thread, const struct query_subject *s)
{
	const struct tr_thread *t = &trace->threads[thread];
	if (s->who == WHO_HOST)
		return strcmp(trace->clocks[t->clock].host, s->host) == 0;
	return (s->who == WHO_ONLY || is_process(trace, t, s->who, s->process)) && (!s->one_thread || t->number == s->thread);
}

static bool has_process(const struct trace *trace, enum query_who who, uint64_t number)
{
	for (size_t i = 0; i < trace->nthreads; i++)
		if (is_process(trace, &trace->threads[i], who, number))
			return true;
	return false;
}

static bool has_one_process(const struct trace *trace)
{
	for (size_t i = 1; i < trace->nthreads; i++)
		if (trace->threads[i].process != trace->threads[0].process)
			return false;
	return true;
}

static char *no_host(const struct trace *trace, const char *host)
{
	const char **names = mem_resize(NULL, trace->nclocks, sizeof *names);
	for (size_t i = 0; i < trace->nclocks; i++)
		names[i] = trace->clocks[i].host;
	const char *meant = nearest(host, names, trace->nclocks);
	char *text = mem_format("expected a host of the trace, such as %s; found \"%s\"",
				meant ? meant : names[0], host);
	free(names);
	return text;
}

/* The processes that there are, for who asked for another. */
static char *no_process(const struct trace *trace, const struct query_subject *s)
{
	int64_t lowest = INT64_MAX, highest = -1;
	for (size_t i = 0; i < trace->nthreads; i++) {
		int64_t rank = trace->threads[i].rank;
		lowest = rank >= 0 && rank < lowest ? rank : lowest;
		highest = rank > highest ? rank : highest;
	}
	if (s->who == WHO_PID)
		return mem_format("expected the pid of a process of this trace, found %" PRIu64, s->process);
	if (highest >= 0)
		return mem_format("expected a rank from %" PRId64 " to %" PRId64 ", found %" PRIu64, lowest, highest, s->process);
	if (s->who == WHO_RANK || !trace->nthreads)
		return mem_format("expected pid N, since no process of this trace has a rank; found rank %" PRIu64, s->process);
	const struct tr_thread *first = &trace->threads[0];
	return mem_format("expected thread PID.N, such as thread %" PRIu64 ".%" PRIu32 ", since no process of this trace has a rank; "
			  "found %" PRIu64 ".%" PRIu64, trace->processes[first->process].pid, first->number, s->process, s->thread);
}

/* Of a process that is there. */
static char *no_thread(const struct trace *trace, struct query_subject s)
{
	uint64_t thread = s.thread, highest = 0;
	char *process = s.who == WHO_ONLY ? mem_copy("")
					  : mem_format(" of %s %" PRIu64, s.who == WHO_RANK ? "rank" : "pid", s.process);
	s.one_thread = false;
	for (size_t i = 0; i < trace->nthreads; i++)
		if (is_meant(trace, i, &s) && trace->threads[i].number > highest)
			highest = trace->threads[i].number;
	char *text = mem_format("expected a thread%s, from 0 to %" PRIu64 ", found %" PRIu64, process, highest, thread);
	free(process);
	return text;
}

static char *nobody(const struct trace *trace, const struct query_subject *s)
{
	if (s->who == WHO_HOST)
		return no_host(trace, s->host);
	if (s->who == WHO_ONLY && !has_one_process(trace))
		return mem_format("expected thread RANK.N or thread PID.N, since this trace has several processes; found thread %" PRIu64,
				  s->thread);
	return s->who == WHO_ONLY || (s->who != WHO_THREAD && has_process(trace, s->who, s->process)) ? no_thread(trace, *s)
												      : no_process(trace, s);
}

bool query_subject(const struct query *q, struct query_subject s, bool *threads, char **error)
{
	bool any = false, open = s.who == WHO_ONLY && !has_one_process(q->trace);
	if (s.who == WHO_THREAD && has_process(q->trace, WHO_RANK, s.process))
		s.who = WHO_RANK;
	else if (s.who == WHO_THREAD && has_process(q->trace, WHO_PID, s.process))
		s.who = WHO_PID;
	for (size_t i = 0; i < q->trace->nthreads; i++) {
		threads[i] = !open && s.who != WHO_THREAD && is_meant(q->trace, i, &s);
		any |= threads[i];
	}
	if (!any)
		*error = nobody(q->trace, &s);
	return any;
}

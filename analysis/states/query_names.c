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
	return true;
}

/* ---- Subjects -------------------------------------------------------------------------------- */

static bool is_meant(const struct trace *trace, size_t thread, enum query_who who,
		     const char *host, uint64_t number, uint64_t of_rank)
{
	const struct tr_thread *t = &trace->threads[thread];
	switch (who) {
	case WHO_RANK: return t->rank >= 0 && (uint64_t)t->rank == number;
	case WHO_PID: return trace->processes[t->process].pid == number;
	case WHO_THREAD: return t->rank >= 0 && (uint64_t)t->rank == number && t->number == of_rank;
	default: return strcmp(trace->clocks[t->clock].host, host) == 0;
	}
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

/* The ranks that there are, for who asked for another. */
static char *no_rank(const struct trace *trace, uint64_t number)
{
	int64_t lowest = INT64_MAX, highest = -1;
	for (size_t i = 0; i < trace->nthreads; i++) {
		int64_t rank = trace->threads[i].rank;
		lowest = rank >= 0 && rank < lowest ? rank : lowest;
		highest = rank > highest ? rank : highest;
	}
	if (highest < 0)
		return mem_format("expected pid N, since no process of this trace has a rank; "
				  "found rank %" PRIu64, number);
	return mem_format("expected a rank from %" PRId64 " to %" PRId64 ", found %" PRIu64, lowest,
			  highest, number);
}

static char *no_thread(const struct trace *trace, uint64_t rank, uint64_t number)
{
	uint64_t highest = 0;
	bool any = false;
	for (size_t i = 0; i < trace->nthreads; i++)
		if (is_meant(trace, i, WHO_RANK, NULL, rank, 0)) {
			any = true;
			highest = trace->threads[i].number > highest ? trace->threads[i].number
								     : highest;
		}
	if (!any)
		return no_rank(trace, rank);
	return mem_format("expected a thread of rank %" PRIu64 ", from 0 to %" PRIu64
			  ", found %" PRIu64,
			  rank, highest, number);
}

bool query_subject(const struct query *q, enum query_who who, const char *host, uint64_t number,
		   uint64_t thread, bool *threads, char **error)
{
	bool any = false;
	for (size_t i = 0; i < q->trace->nthreads; i++) {
		threads[i] = is_meant(q->trace, i, who, host, number, thread);
		any |= threads[i];
	}
	if (any)
		return true;
	switch (who) {
	case WHO_RANK: *error = no_rank(q->trace, number); break;
	case WHO_PID: *error = mem_format("expected the pid of a process of this trace, found %"
					  PRIu64, number); break;
	case WHO_THREAD: *error = no_thread(q->trace, number, thread); break;
	default: *error = no_host(q->trace, host); break;
	}
	return false;
}

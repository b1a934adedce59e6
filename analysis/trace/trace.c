/* SPDX-License-Identifier: MIT
 *
 * trace.c - opens a trace directory step by step (see trace_private.h). */
#define _GNU_SOURCE /* vasprintf */
#include "analysis/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/trace/inherit.h"
#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"
#include "freezer/synclog.h"

/* ---- Packets --------------------------------------------------------------------------------- */

/* The trace's numbers of the clocks in the logs: plus 1; 0 while none is known. */
struct clock_numbers { uint32_t *of; size_t n; };

static uint32_t *number_of(struct clock_numbers *known, size_t clockid)
{
	size_t n = known->n;
	if (clockid >= n) {
		known->n = 2 * clockid + 1;
		known->of = mem_resize(known->of, known->n, sizeof *known->of);
		memset(known->of + n, 0, (known->n - n) * sizeof *known->of);
	}
	return &known->of[clockid];
}

static struct clock_numbers known_clocks(const struct opened_trace *o)
{
	struct clock_numbers known = { 0 };
	for (size_t i = o->nfiles; i-- > 0;)
		if (o->files[i].clockid >= 0)
			*number_of(&known, (size_t)o->files[i].clockid) = o->files[i].clock + 1;
	return known;
}

/* The trace's number of the clock that has `clockid` in the logs. One that no process speaks of
 * is kept: its links may join two that matter. */
static uint32_t clock_of(struct opened_trace *o, uint32_t clockid, struct clock_numbers *known)
{
	uint32_t *number = number_of(known, clockid);
	if (*number)
		return *number - 1;
	*MEM_GROW(o->t.clocks, o->t.nclocks) = (struct tr_clock){
		.host = mem_format("unknown-%" PRIu32, clockid),
		.ghz = o->t.clocks[0].ghz,
		.source = mem_copy("tsc"),
	};
	trace_diagnose(&o->t,
		       "%s: expected the process of a host with clockid %" PRIu32 ", found none",
		       o->t.directory, clockid);
	return (*number = (uint32_t)o->t.nclocks) - 1;
}

/* False if it speaks of a clock that no host can have. */
static bool add_links(struct opened_trace *o, const struct frz_sync_record *r,
		      struct clock_numbers *known)
{
	struct frz_link links[2];
	unsigned n = frz_sync_links(r, links);
	for (unsigned i = 0; i < n; i++) {
		if (links[i].from > UINT16_MAX || links[i].to > UINT16_MAX)
			return false;
		links[i].from = clock_of(o, links[i].from, known);
		links[i].to = clock_of(o, links[i].to, known);
		*MEM_GROW(o->t.links, o->t.nlinks) = links[i];
	}
	return true;
}

/* The process that says that it writes the file; NULL without one. */
static const struct process_file *writer_of(const struct opened_trace *o, const char *name)
{
	for (size_t i = 0; i < o->nfiles; i++)
		for (size_t j = 0; j < o->files[i].nsyncs; j++)
			if (strcmp(o->files[i].syncs[j].file, name) == 0)
				return &o->files[i];
	return NULL;
}

#define STILL_MEASURES (UINT64_C(1) << 30) /* ticks: the thread that measures may be in an exchange when its process ends */

/* Whether the process was there that writes the file when its host asked or answered; in another run it was not. */
static bool is_of_run(const struct process_file *writer, const struct frz_syncfile *file, const struct frz_sync_record *r)
{
	bool asks = r->asker == file->clock;
	if (!writer || r->kind != FRZ_SYNC_EXCHANGE || (!asks && r->answerer != file->clock))
		return true;
	const struct tr_process *p = &writer->process;
	uint64_t first = asks ? r->asked : r->received, last = asks ? r->returned : r->answered;
	uint64_t slack = 2 * writer->uncertainty;
	return (!p->started || first + slack >= p->started) && (!p->ended || last <= p->ended + slack + STILL_MEASURES);
}

/* What is wrong with the next record of the file, if something is. */
static int next_links(struct opened_trace *o, struct frz_syncfile *file, const struct process_file *writer,
		      struct clock_numbers *known, struct frz_damage *damage)
{
	struct frz_sync_record record;
	uint64_t offset = file->offset;
	int result = frz_syncfile_next(file, &record, damage);
	bool of_run = result != 1 || is_of_run(writer, file, &record);
	if (result != 1 || (of_run && add_links(o, &record, known)))
		return result;
	*damage = (struct frz_damage){ .offset = offset };
	if (!of_run) {
		snprintf(damage->what, sizeof damage->what, "expected packets of this run, found some sent at %" PRIu64
			 ": is this directory a mixture?", record.asked);
		return -EBADMSG;
	}
	snprintf(damage->what, sizeof damage->what, "expected numbers of clocks, found %" PRIu32 " and %" PRIu32,
		 record.asker, record.answerer);
	return -EBADMSG;
}

/* How many records a process says that it has written to a file of packets. */
struct written { const struct sync_line *line; const char *process; };

static int by_file(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	int order = strcmp(x->line->file, y->line->file);
	return order ? order : strcmp(x->process, y->process);
}

/* In the order of the files; to be freed. */
static struct written *what_was_written(const struct opened_trace *o, size_t *n)
{
	struct written *all = NULL;
	*n = 0;
	for (size_t i = 0; i < o->nfiles; i++)
		for (size_t j = 0; j < o->files[i].nsyncs; j++)
			if (o->files[i].syncs[j].closed)
				*MEM_GROW(all, *n) = (struct written){ &o->files[i].syncs[j], o->files[i].name };
	if (*n)
		qsort(all, *n, sizeof *all, by_file);
	return all;
}

/* `w`: moves on to the file, whose names come in order. */
static void check_records(struct opened_trace *o, const char *name, uint64_t records, const struct written **w,
			  const struct written *end)
{
	while (*w < end && strcmp((*w)->line->file, name) < 0)
		++*w;
	for (; *w < end && strcmp((*w)->line->file, name) == 0; ++*w)
		if ((*w)->line->records != records)
			trace_diagnose(&o->t,
				       "%s: expected %" PRIu64 " records, as %s says, found %" PRIu64,
				       name, (*w)->line->records, (*w)->process, records);
}

/* False if it cannot be opened; `count`: of its records. */
static bool read_sync(struct opened_trace *o, const char *name, struct clock_numbers *known, uint64_t *count)
{
	struct frz_syncfile file;
	struct frz_damage damage;
	const char *found;
	int fd = open_named(o, name, &found), result = frz_syncfile_read(&file, fd, found, &damage);
	if (result) {
		trace_diagnose(&o->t, "%s: offset %" PRIu64 ": %s", name,
			       result == -EBADMSG ? damage.offset : 0,
			       result == -EBADMSG ? damage.what : strerror(-result));
		return false;
	}
	const struct process_file *writer = writer_of(o, name);
	size_t damaged = 0, records = 0;
	while ((result = next_links(o, &file, writer, known, &damage)) == 1 || (result == -EBADMSG && ++damaged)) {
		records++;
		if (result != 1 && damaged == 1)
			trace_diagnose(&o->t, "%s: offset %" PRIu64 ": %s", name, damage.offset,
				       damage.what);
	}
	if (damaged > 1)
		trace_diagnose(&o->t, "%s: expected whole records, found %zu damaged ones%s", name,
			       damaged,
			       file.garbage == FRZ_SYNC_GARBAGE ? ": what follows is left out"
			       : "");
	if (result)
		trace_diagnose(&o->t, "%s: offset %" PRIu64 ": cannot be read: %s", name,
			       file.offset, strerror(-result));
	frz_syncfile_close(&file);
	*count = records;
	return true;
}

static void open_links(struct opened_trace *o)
{
	struct clock_numbers known = known_clocks(o);
	size_t n;
	struct written *written = what_was_written(o, &n);
	const struct written *next = written;
	uint64_t records;
	for (size_t i = 0; i < o->nnames; i++)
		if (name_ends(o->names[i], ".sync") && read_sync(o, o->names[i], &known, &records))
			check_records(o, o->names[i], records, &next, written + n);
	free(written);
	free(known.of);
}

/* ---- Open and close -------------------------------------------------------------------------- */

void trace_diagnose(struct trace *t, const char *format, ...)
{
	char *diagnostic = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&diagnostic, format, args) < 0)
		diagnostic = mem_copy(format);
	va_end(args);
	*MEM_GROW(t->diagnostics, t->ndiagnostics) = shown_copy(diagnostic);
	free(diagnostic);
}

void trace_forget_repeated(struct trace *trace, size_t before)
{
	size_t kept = before;
	for (size_t i = before; i < trace->ndiagnostics; i++) {
		bool known = false;
		for (size_t k = 0; k < before && !known; k++)
			known = strcmp(trace->diagnostics[k], trace->diagnostics[i]) == 0;
		if (known)
			free(trace->diagnostics[i]);
		else
			trace->diagnostics[kept++] = trace->diagnostics[i];
	}
	trace->ndiagnostics = kept;
}

void trace_note(struct trace *t, const char *note)
{
	for (size_t i = 0; i < t->nnotes; i++)
		if (strcmp(t->notes[i], note) == 0)
			return;
	*MEM_GROW(t->notes, t->nnotes) = shown_copy(note);
}

/* Why there is nothing to analyse: the first diagnostic, if one was found. */
static char *nothing(const struct opened_trace *o)
{
	if (o->t.ndiagnostics)
		return mem_copy(o->t.diagnostics[0]);
	return mem_format("%s: expected a file HOST-RANK.process, found none", o->t.directory);
}

struct opened_trace *begin_trace(const char *directory)
{
	struct opened_trace *o = mem_resize(NULL, 1, sizeof *o);
	*o = (struct opened_trace){ .t.directory = mem_copy(directory), .directory = -1 };
	return o;
}

char *open_sites_of_all(struct opened_trace *o)
{
	open_processes(o);
	if (!o->nfiles)
		return nothing(o);
	open_modules(o);
	return NULL;
}

struct trace *refuse_trace(struct opened_trace *o, char *raw, char **error)
{
	*error = shown_copy(raw);
	free(raw);
	trace_close(&o->t);
	return NULL;
}

struct trace *finish_trace(struct opened_trace *o)
{
	open_absent_threads(o);
	open_killed(o);
	o->t.nnotes_of_files = o->t.nnotes - o->t.note_of_file;
	say_unfinished(o);
	open_forked(o);
	open_sched(o);
	open_groups(o);
	open_links(o);
	open_texts(o);
	close_process_files(o);
	o->t.inheritance = inherit_open();
	return &o->t;
}

struct trace *trace_open(const char *directory, char **error)
{
	struct opened_trace *o = begin_trace(directory);
	char *why = list_directory(o);
	if (!why)
		why = open_sites_of_all(o);
	if (why)
		return refuse_trace(o, why, error);
	open_threads(o);
	*error = NULL;
	return finish_trace(o);
}

static void free_strings(char **strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
}

static void free_processes(struct trace *t)
{
	for (size_t i = 0; i < t->nprocesses; i++) {
		free(t->processes[i].program);
		free(t->processes[i].job);
		free(t->processes[i].host);
		close_modules(t->processes[i].modules);
	}
	free(t->processes);
}

static void free_opened(struct opened_trace *o)
{
	close_process_files(o);
	for (size_t i = 0; i < o->nsites; i++) {
		free(o->sites[i]->name);
		free(o->sites[i]->bytes);
		free(o->sites[i]->what);
		free(o->sites[i]);
	}
	free(o->sites);
	free(o->uses);
	close_given(o);
	free_strings(o->names, o->nnames);
	if (o->directory >= 0)
		close(o->directory);
}

void trace_thread_free(struct tr_thread *t)
{
	words_close(t->words);
	blocks_close(t->blocks);
	jumps_close(t->jumps);
	free(t->open);
	free(t->name);
	free(t->sched);
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	close_texts(t);
	inherit_close(t->inheritance);
	free_opened((struct opened_trace *)t);
	free_processes(t);
	for (size_t i = 0; i < t->nclocks; i++) {
		free(t->clocks[i].host);
		free(t->clocks[i].source);
	}
	for (size_t i = 0; i < t->nthreads; i++)
		trace_thread_free(&t->threads[i]);
	for (size_t i = 0; i < t->ngroups; i++)
		free(t->groups[i].threads);
	store_close(t->store);
	free(t->clocks);
	free(t->threads);
	free(t->sites);
	free(t->groups);
	free(t->links);
	free_strings(t->diagnostics, t->ndiagnostics);
	free_strings(t->notes, t->nnotes);
	free(t->directory);
	free(t);
}

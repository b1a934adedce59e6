/* SPDX-License-Identifier: MIT
 *
 * trace.c - opens a trace directory step by step (see trace_private.h). */
#define _GNU_SOURCE /* vasprintf */
#include "analysis/trace/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/trace/inherit.h"
#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"
#include "freezer/regular.h"
#include "freezer/synclog.h"

/* ---- The directory --------------------------------------------------------------------------- */

bool name_ends(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);
	return length > end && strcmp(name + length - end, suffix) == 0;
}

static bool read_all(int fd, char *to, size_t size, size_t *got)
{
	for (*got = 0; *got < size;) {
		ssize_t n = read(fd, to + *got, size - *got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		*got += (size_t)n;
	}
	return true;
}

char *read_whole(struct opened_trace *o, const char *name, size_t most, size_t *size,
		 const char **found)
{
	struct stat status;
	char *bytes = NULL;
	int fd = frz_open_regular(o->directory, name, found);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_size > most) {
		*found = "a file that is far too big";
	} else {
		bytes = mem_resize(NULL, (size_t)status.st_size, 1);
		if (!read_all(fd, bytes, (size_t)status.st_size, size)) {
			*found = strerror(errno);
			free(bytes);
			bytes = NULL;
		}
	}
	close(fd);
	return bytes;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_ours(const char *name)
{
	return name_ends(name, ".process") || name_ends(name, ".events") ||
	       name_ends(name, ".packed") ||
	       name_ends(name, ".sites") || name_ends(name, ".sync");
}

/* Why there is none; `inner` looks like one (DPROF_DIR was given in place of what is in it). Frees it. */
static char *no_trace(const char *directory, size_t others, char *inner)
{
	char *why = inner ? mem_format("%s: expected a trace, found a directory of traces: name one, such "
				       "as %s/%s", directory, directory, inner)
			  : mem_format("%s: expected a trace (files *.process and *.events), found %s",
				       directory, others ? "only other files" : "an empty directory");
	free(inner);
	return why;
}

/* Lists the directory; NULL, or why there is no trace in it. */
static char *list_directory(struct opened_trace *o)
{
	o->directory = open(o->t.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int listed = o->directory < 0 ? -1 : dup(o->directory);
	DIR *d = listed < 0 ? NULL : fdopendir(listed);
	if (!d)
		return mem_format("%s: expected a trace directory, found %s", o->t.directory,
				  errno == ENOTDIR  ? "something that is not a directory"
				  : errno == ENOENT ? "nothing of that name"
						    : strerror(errno));
	size_t others = 0;
	char *inner = NULL;
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		if (is_ours(e->d_name))
			*MEM_GROW(o->names, o->nnames) = mem_copy(e->d_name);
		else if (others++, !inner && strncmp(e->d_name, "dprof-", strlen("dprof-")) == 0)
			inner = mem_copy(e->d_name);
	}
	closedir(d);
	if (!o->nnames)
		return no_trace(o->t.directory, others, inner);
	free(inner);
	qsort(o->names, o->nnames, sizeof *o->names, by_name);
	return NULL;
}

/* ---- Packets --------------------------------------------------------------------------------- */

/* The trace's numbers of the clocks in the logs: plus 1; 0 while none is known. */
struct clock_numbers { uint32_t of[UINT16_MAX + 1]; };

static struct clock_numbers *known_clocks(const struct opened_trace *o)
{
	struct clock_numbers *known = mem_resize(NULL, 1, sizeof *known);
	*known = (struct clock_numbers){ 0 };
	for (size_t i = o->nfiles; i-- > 0;)
		if (o->files[i].clockid >= 0)
			known->of[o->files[i].clockid] = o->files[i].clock + 1;
	return known;
}

/* The trace's number of the clock that has `clockid` in the logs. One that no process speaks of
 * is kept: its links may join two that matter. */
static uint32_t clock_of(struct opened_trace *o, uint32_t clockid, struct clock_numbers *known)
{
	if (known->of[clockid])
		return known->of[clockid] - 1;
	*MEM_GROW(o->t.clocks, o->t.nclocks) = (struct tr_clock){
		.host = mem_format("unknown-%" PRIu32, clockid),
		.ghz = o->t.clocks[0].ghz,
		.source = mem_copy("tsc"),
	};
	trace_diagnose(&o->t,
		       "%s: expected the process of a host with clockid %" PRIu32 ", found none",
		       o->t.directory, clockid);
	return (known->of[clockid] = (uint32_t)o->t.nclocks) - 1;
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

/* What is wrong with the next record of the file, if something is. */
static int next_links(struct opened_trace *o, struct frz_syncfile *file,
		      struct clock_numbers *known, struct frz_damage *damage)
{
	struct frz_sync_record record;
	uint64_t offset = file->offset;
	int result = frz_syncfile_next(file, &record, damage);
	if (result != 1 || add_links(o, &record, known))
		return result;
	*damage = (struct frz_damage){ .offset = offset };
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
	char *path = mem_format("%s/%s", o->t.directory, name);
	int result = frz_syncfile_open(&file, path, &damage);
	free(path);
	if (result) {
		trace_diagnose(&o->t, "%s: offset %" PRIu64 ": %s", name,
			       result == -EBADMSG ? damage.offset : 0,
			       result == -EBADMSG ? damage.what : strerror(-result));
		return false;
	}
	size_t damaged = 0, records = 0;
	while ((result = next_links(o, &file, known, &damage)) == 1 || (result == -EBADMSG && ++damaged)) {
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

void open_links(struct opened_trace *o)
{
	struct clock_numbers *known = known_clocks(o);
	size_t n;
	struct written *written = what_was_written(o, &n);
	const struct written *next = written;
	uint64_t records;
	for (size_t i = 0; i < o->nnames; i++)
		if (name_ends(o->names[i], ".sync") && read_sync(o, o->names[i], known, &records))
			check_records(o, o->names[i], records, &next, written + n);
	free(written);
	free(known);
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

/* Why there is nothing to analyse: the first diagnostic, if one was found. */
static char *nothing(const struct opened_trace *o)
{
	if (o->t.ndiagnostics)
		return mem_copy(o->t.diagnostics[0]);
	return mem_format("%s: expected a file HOST-RANK.process, found none", o->t.directory);
}

struct trace *trace_open(const char *directory, char **error)
{
	struct opened_trace *o = mem_resize(NULL, 1, sizeof *o);
	*o = (struct opened_trace){ .t.directory = mem_copy(directory), .directory = -1 };
	*error = list_directory(o);
	if (!*error) {
		open_processes(o);
		if (!o->nfiles)
			*error = nothing(o);
	}
	if (*error) {
		char *raw = *error;
		*error = shown_copy(raw);
		free(raw);
		trace_close(&o->t);
		return NULL;
	}
	open_modules(o);
	open_threads(o);
	open_absent_threads(o);
	open_sched(o);
	open_groups(o);
	open_links(o);
	open_texts(o);
	close_process_files(o);
	o->t.inheritance = inherit_open();
	return &o->t;
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

/* SPDX-License-Identifier: MIT
 *
 * trace_parts.c - see trace_parts.h: the steps of trace_open(), and what goes from one process to another between them. */
#include "analysis/trace/trace_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"
#include "freezer/regular.h"
#include "runtime/sum.h"

#define MOST_BYTES ((size_t)1 << 27) /* of a small file: more than of a file of sites is ever read */

/* ---- The files ------------------------------------------------------------------------------- */

struct opened_trace *part_list(const char *directory, char **why)
{
	struct opened_trace *o = begin_trace(directory);
	*why = list_directory(o);
	return o;
}

struct part_file *part_seen(const struct opened_trace *o, size_t *n)
{
	struct part_file *files = mem_resize(NULL, o->nnames, sizeof *files);
	for (*n = 0; *n < o->nnames; ++*n) {
		struct stat s = { 0 };
		const char *name = o->names[*n];
		bool there = fstatat(o->directory, name, &s, 0) == 0;
		uint64_t size = there ? (uint64_t)s.st_size : 0, stored = there ? (uint64_t)s.st_blocks * 512 : 0;
		files[*n] = (struct part_file){
			.name = mem_copy(name), .size = size, .bytes = size < stored ? size : stored,
			.changed = s.st_mtim.tv_sec * INT64_C(1000000000) + s.st_mtim.tv_nsec,
			.readable = there && S_ISREG(s.st_mode) && faccessat(o->directory, name, R_OK, AT_EACCESS) == 0 };
	}
	return files;
}

void part_free_files(struct part_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].name);
	free(files);
}

void part_files(struct opened_trace *o, const struct part_file *files, size_t n, bool elsewhere)
{
	for (size_t i = 0; i < o->nnames; i++)
		free(o->names[i]);
	o->names = mem_resize(o->names, n, sizeof *o->names);
	o->given = mem_zeroed(n, sizeof *o->given);
	for (o->nnames = 0; o->nnames < n; o->nnames++)
		o->names[o->nnames] = mem_copy(files[o->nnames].name);
	o->elsewhere = elsewhere;
}

bool part_is_small(const char *name)
{
	return name_ends(name, ".process") || name_ends(name, ".sites");
}

bool part_is_packets(const char *name)
{
	return name_ends(name, ".sync");
}

void part_read_bytes(struct opened_trace *o, size_t i)
{
	struct tr_given *g = &o->given[i];
	const char *found;
	int fd = frz_open_regular(o->directory, o->names[i], &found);
	g->error = fd;
	if (fd >= 0) {
		g->error = -EIO;
		g->bytes = (uint8_t *)read_opened(fd, MOST_BYTES, &g->size, &found);
	}
	g->known = g->bytes || o->elsewhere || strcmp(found, FOUND_TOO_BIG) != 0;
	g->found = g->bytes || !g->known ? NULL : mem_copy(found);
}

void part_move_bytes(struct opened_trace *o, size_t i, struct tr_pipe *p)
{
	struct tr_given *g = &o->given[i];
	if (!p->sends) {
		free(g->found);
		free(g->bytes);
	}
	g->known = pipe_value(p, g->known);
	g->error = (int)pipe_value(p, (uint64_t)(int64_t)g->error);
	pipe_string(p, &g->found);
	PIPE_ARRAY(p, g->bytes, g->size);
}

/* ---- Processes and sites --------------------------------------------------------------------- */

bool part_begin(struct opened_trace *o, char **why)
{
	*why = open_sites_of_all(o);
	return !*why;
}

uint64_t part_sum(const struct opened_trace *o)
{
	uint64_t sum = dprof_sum_bytes(DPROF_SUM_BEGIN, (size_t[]){ sizeof(struct tr_thread), o->nfiles, o->t.nsites },
			      3 * sizeof(size_t));
	for (size_t i = 0; i < o->nfiles; i++) {
		const struct tr_modules *m = o->t.processes[i].modules;
		sum = dprof_sum_bytes(sum, o->files[i].name, strlen(o->files[i].name));
		sum = dprof_sum_bytes(sum, (uint64_t[]){ m->nmodules, m->clock, o->files[i].changed }, 3 * sizeof(uint64_t));
	}
	for (size_t i = 0; i < o->t.nsites; i++) {
		const struct tr_site *s = &o->t.sites[i];
		sum = dprof_sum_bytes(sum, s->name, strlen(s->name));
		sum = dprof_sum_bytes(sum, (uint32_t[]){ s->kind, s->line, s->column }, 3 * sizeof(uint32_t));
	}
	return sum;
}

/* ---- Files of events ------------------------------------------------------------------------- */

static int by_its_name(const void *name, const void *other)
{
	return strcmp(name, *(const char *const *)other);
}

struct reading *part_read(struct opened_trace *o, const size_t *files, size_t n)
{
	struct reading *r = mem_resize(NULL, 1, sizeof *r);
	reading_begin(r, o);
	r->ntasks = 0;
	for (size_t i = 0; i < n; i++) {
		const char **is = bsearch(o->names[files[i]], r->name, r->n, sizeof *r->name, by_its_name);
		r->task[r->ntasks++] = (size_t)(is - r->name);
	}
	reading_share(r);
	return r;
}

/* The name of a site, as its number. */
static void move_site_name(struct trace *t, struct tr_pipe *p, const char **name)
{
	size_t site = 0;
	while (p->sends && *name && site < t->nsites && t->sites[site].name != *name)
		site++;
	site = pipe_value(p, *name ? site : t->nsites);
	if (!p->sends)
		*name = site < t->nsites ? t->sites[site].name : NULL;
}

static struct tr_jumps *move_jumps(struct tr_pipe *p, struct tr_jumps *jumps)
{
	if (!pipe_value(p, jumps != NULL))
		return NULL;
	if (!p->sends) {
		jumps = mem_resize(NULL, 1, sizeof *jumps);
		*jumps = (struct tr_jumps){ 0 };
	}
	jumps->tangled = pipe_value(p, jumps->tangled);
	jumps->switched_in = (uint32_t)pipe_value(p, jumps->switched_in);
	PIPE_ARRAY(p, jumps->event, jumps->n);
	PIPE_ARRAY(p, jumps->sites, jumps->nsites);
	return jumps;
}

static struct tr_blocks *move_blocks(struct tr_pipe *p, struct tr_blocks *blocks, struct store_place place)
{
	if (!pipe_value(p, blocks != NULL))
		return NULL;
	if (!p->sends)
		blocks = mem_resize(NULL, 1, sizeof *blocks);
	struct tr_block *block = p->sends ? blocks->block : NULL;
	pipe_bytes(p, blocks, sizeof *blocks);
	blocks->block = block;
	PIPE_ARRAY(p, blocks->block, blocks->nblocks);
	if (!p->sends)
		blocks_place(blocks, place);
	return blocks;
}

static void move_thread(struct trace *t, struct tr_pipe *p, struct tr_thread *thread, struct store_place place)
{
	struct tr_thread own = *thread;
	pipe_bytes(p, thread, sizeof *thread);
	if (!p->sends) /* in place of pointers that mean nothing here */
		thread->name = NULL, thread->unseen_by = own.unseen_by, thread->jumps = NULL, thread->open = NULL,
		thread->blocks = NULL, thread->sched = NULL, thread->words = NULL;
	pipe_string(p, &thread->name);
	move_site_name(t, p, &thread->unseen_by);
	thread->jumps = move_jumps(p, thread->jumps);
	PIPE_ARRAY(p, thread->open, thread->nopen);
	PIPE_ARRAY(p, thread->sched, thread->nsched);
	thread->blocks = move_blocks(p, thread->blocks, place);
}

static void move_found(struct trace *t, struct tr_pipe *p, struct file_found *f, struct store_place place)
{
	f->nthreads = pipe_value(p, f->nthreads);
	f->ndiagnostics = pipe_value(p, f->ndiagnostics);
	if (!p->sends) {
		f->threads = mem_zeroed(f->nthreads, sizeof *f->threads);
		f->diagnostics = mem_zeroed(f->ndiagnostics, sizeof *f->diagnostics);
	}
	for (size_t i = 0; i < f->nthreads; i++)
		move_thread(t, p, &f->threads[i], place);
	PIPE_ARRAY(p, f->uses, f->nuses);
	for (size_t i = 0; i < f->ndiagnostics; i++)
		pipe_string(p, &f->diagnostics[i]);
}

void part_move(struct reading *r, struct tr_pipe *p)
{
	struct trace *t = &r->o->t;
	if (p->sends) /* whatever comes of that: the first process sees it, too */
		reading_finish(r);
	struct store_place place = store_move(t->store, p);
	size_t files = pipe_value(p, r->ntasks);
	for (size_t i = 0; i < files; i++) {
		size_t file = pipe_value(p, p->sends ? r->task[i] : 0);
		move_found(t, p, &r->found[file], place);
	}
}

/* ---- The end --------------------------------------------------------------------------------- */

struct trace *part_end(struct reading *r, bool all_here, char **error)
{
	struct opened_trace *o = r->o;
	bool joined = reading_join(r, all_here);
	reading_end(r, joined);
	free(r);
	*error = NULL;
	if (joined)
		return finish_trace(o);
	return part_refuse(o, mem_format("%s: expected less kinds of events than one process can tell apart, found more: "
					  "bring its files to one place, and run without mpirun", o->t.directory), error);
}

void part_close(struct reading *r)
{
	struct opened_trace *o = r->o;
	reading_end(r, false);
	free(r);
	trace_close(&o->t);
}

struct trace *part_refuse(struct opened_trace *o, char *why, char **error)
{
	return refuse_trace(o, why, error);
}

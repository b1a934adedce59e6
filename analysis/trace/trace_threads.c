/* SPDX-License-Identifier: MIT
 *
 * trace_threads.c - finds the files of events, has them read, several at the same time, and puts their threads in order.
 *
 * Law: threads, diagnostics, and all else that comes of it is what one reader alone would give, that reads the files in the
 * order of their names. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/pool.h"
#include "analysis/base/progress.h"
#include "analysis/base/shown.h"
#include "analysis/trace/store.h"
#include "analysis/trace/trace_private.h"

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_one(void *of, size_t task, size_t worker)
{
	struct reading *r = of;
	size_t file = r->task[task];
	struct opened_trace o = *r->o; /* of which the reader changes this: */
	o.t.threads = NULL, o.t.nthreads = 0;
	o.t.diagnostics = NULL, o.t.ndiagnostics = 0;
	o.uses = NULL, o.nuses = 0;
	o.reader = &r->readers[worker];
	(name_ends(r->name[file], ".nursery") ? read_nursery : read_events)(&o, r->name[file], r->by_stem);
	r->found[file] = (struct file_found){ o.t.threads, o.t.nthreads, o.uses, o.nuses,
					      o.t.diagnostics, o.t.ndiagnostics };
}

/* Puts what a file gave behind what the files before it gave. */
static void take_found(struct opened_trace *o, struct file_found *f)
{
	uint32_t first = (uint32_t)o->t.nthreads;
	for (size_t i = 0; i < f->nthreads; i++) {
		struct tr_thread *t = MEM_GROW(o->t.threads, o->t.nthreads);
		*t = f->threads[i];
		for (size_t k = 0; k < t->nsched; k++)
			sched_keep(&o->files[t->process], t->number, &t->sched[k]);
		free(t->sched);
		t->sched = NULL;
		t->nsched = 0;
	}
	for (size_t i = 0; i < f->nuses; i++)
		*MEM_GROW(o->uses, o->nuses) = (struct group_use){ first + f->uses[i].thread, f->uses[i].id };
	for (size_t i = 0; i < f->ndiagnostics; i++)
		*MEM_GROW(o->t.diagnostics, o->t.ndiagnostics) = f->diagnostics[i];
	free(f->threads);
	free(f->uses);
	free(f->diagnostics);
}

static void drop_found(struct file_found *f)
{
	for (size_t i = 0; i < f->nthreads; i++)
		trace_thread_free(&f->threads[i]);
	for (size_t i = 0; i < f->ndiagnostics; i++)
		free(f->diagnostics[i]);
	free(f->threads);
	free(f->uses);
	free(f->diagnostics);
	*f = (struct file_found){ 0 };
}

static void read_files(struct reading *r, struct tr_store *store, size_t workers)
{
	r->readers = mem_resize(NULL, workers, sizeof *r->readers);
	for (size_t i = 0; i < workers; i++)
		r->readers[i] = (struct event_reader){ ch_unpacker_open(r->o->directory), store_writer(store), NULL };
	pool_run(r->ntasks, workers, read_one, r);
	for (size_t i = 0; i < workers; i++) {
		ch_unpacker_close(r->readers[i].unpacker);
		if (r->readers[i].modules)
			close_module_ids(r->readers[i].modules);
	}
	free(r->readers);
}

/* Each reader has a few files open; so have others a few, and libraries (MPI) some. */
#define DESCRIPTORS       5
#define OTHER_DESCRIPTORS 32

static size_t other_descriptors(void)
{
	size_t n = OTHER_DESCRIPTORS / 2;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > OTHER_DESCRIPTORS ? n : OTHER_DESCRIPTORS;
}

static size_t readers_for(size_t files)
{
	struct rlimit limit;
	size_t workers = pool_workers(files), others = other_descriptors(), room = others;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		room = limit.rlim_cur < SIZE_MAX ? (size_t)limit.rlim_cur : SIZE_MAX;
	size_t most = room > others ? (room - others) / DESCRIPTORS : 0;
	return workers < most ? workers : most ? most : 1;
}

struct process_file **processes_by_stem(const struct opened_trace *o)
{
	struct process_file **sorted = mem_resize(NULL, o->nfiles, sizeof(struct process_file *));
	for (size_t i = 0; i < o->nfiles; i++)
		sorted[i] = &o->files[i];
	qsort(sorted, o->nfiles, sizeof(struct process_file *), process_by_stem);
	return sorted;
}

/* One by one, in the order of the files, if there is only one reader. */
static void read_with(struct reading *r, size_t workers)
{
	r->o->t.store = store_open(r->o->t.nsites, r->nthreads);
	progress_begin("reading records", 0);
	read_files(r, r->o->t.store, workers);
	progress_end();
}

bool reading_finish(struct reading *r)
{
	const char *kept_in_memory;
	r->o->t.whats = store_finish(r->o->t.store, &kept_in_memory);
	if (r->o->t.whats && kept_in_memory)
		shown_complain("no temporary file has room for the decoded events (%s): they stay in memory; set "
			       "TMPDIR to a directory with room", kept_in_memory);
	return r->o->t.whats;
}

/* All is to be read anew, by one reader. */
static void forget_read(struct reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		drop_found(&r->found[i]);
	store_close(r->o->t.store);
	r->o->t.store = NULL;
}

/* ---- The order of threads --------------------------------------------------------------------- */

struct read_thread { struct tr_thread thread; uint32_t read; };

static int by_place(const void *a, const void *b)
{
	const struct read_thread *x = a, *y = b;
	return ORDER_3(x, y, thread.process, thread.number, read);
}

/* Processes stand in the order of their ranks, so threads do when they are sorted by process. */
void sort_threads(struct opened_trace *o)
{
	size_t n = o->t.nthreads;
	struct read_thread *places = mem_resize(NULL, n, sizeof *places);
	uint32_t *now = mem_resize(NULL, n, sizeof *now);
	for (uint32_t i = 0; i < n; i++)
		places[i] = (struct read_thread){ o->t.threads[i], i };
	qsort(places, n, sizeof *places, by_place);
	for (uint32_t i = 0; i < n; i++) {
		o->t.threads[i] = places[i].thread;
		now[places[i].read] = i;
	}
	for (size_t i = 0; i < o->nuses; i++)
		o->uses[i].thread = now[o->uses[i].thread];
	free(places);
	free(now);
}

/* ---- All ------------------------------------------------------------------------------------- */

void reading_begin(struct reading *r, struct opened_trace *o)
{
	*r = (struct reading){ .o = o, .by_stem = processes_by_stem(o) };
	for (size_t i = 0; i < o->nnames; i++)
		if (name_ends(o->names[i], ".events") || name_ends(o->names[i], ".nursery")) {
			*MEM_GROW(r->name, r->n) = o->names[i];
			*MEM_GROW(r->task, r->ntasks) = r->n - 1;
			r->nthreads += name_ends(o->names[i], ".nursery") ? slots_in(o, o->names[i]) : 1;
		}
	r->found = mem_zeroed(r->n, sizeof *r->found);
}

void reading_share(struct reading *r)
{
	read_with(r, readers_for(r->ntasks));
}

bool reading_join(struct reading *r, bool all_here)
{
	if (reading_finish(r))
		return true;
	forget_read(r);
	if (!all_here)
		return false;
	for (r->ntasks = 0; r->ntasks < r->n; r->ntasks++)
		r->task[r->ntasks] = r->ntasks;
	read_with(r, 1);
	return reading_finish(r);
}

/* That a process has recorded nothing it says itself, if it ended in good order: else its files may be missing. */
static bool says_nothing_recorded(const struct process_file *p)
{
	return p->process.finished && p->summed && p->sum && !p->changed && !p->nthreads && !p->nmissing && !p->lost;
}

static bool all_say_nothing_recorded(const struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++)
		if (!says_nothing_recorded(&o->files[i]))
			return false;
	return true;
}

void reading_end(struct reading *r, bool take)
{
	struct opened_trace *o = r->o;
	for (size_t i = 0; i < r->n; i++)
		if (take)
			take_found(o, &r->found[i]);
		else
			drop_found(&r->found[i]);
	free(r->found);
	free(r->name);
	free(r->task);
	free(r->by_stem);
	if (take && !o->t.nthreads && !all_say_nothing_recorded(o))
		trace_diagnose(&o->t, "%s: expected events, found no thread that recorded any",
			       o->t.directory);
}

void open_threads(struct opened_trace *o)
{
	struct reading r;
	reading_begin(&r, o);
	reading_share(&r);
	reading_join(&r, true);
	reading_end(&r, true);
}

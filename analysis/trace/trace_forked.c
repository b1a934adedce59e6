/* SPDX-License-Identifier: MIT
 *
 * trace_forked.c - a child that was forked begins in the regions in which the thread that forked it was.
 *
 * Of a region that the child leaves by an exit its own records tell (trace_events.c). It may as well be in there until it ends
 * (_exit, exit, exec, a signal), or leave it by a jump; so once all records are read, what its parent's say comes before its own.
 *
 * Law: the first records of the first thread of such a child are an enter, with the stamp from which on it was there, of each
 * region that the thread that forked it was in then, outermost first. That thread is the one with a record of a fork of that pid,
 * the last before the child; or, if there is none (daemon), the only one of the parent; or else it is not known, and a site that
 * is missing is entered, likewise where the parent's records do not tell, or threads of several processes forked one of that pid,
 * in different regions.
 *
 * Memory: the records of one child, and a word for each region around a fork. */
#define _GNU_SOURCE /* qsort_r */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/trace/inherit.h"
#include "analysis/trace/trace_private.h"

/* Of `sites`, outermost first. */
struct fork_regions { size_t first, n; };

/* The first thread of a child. */
struct birth {
	size_t thread;
	uint32_t process, parent;
	uint64_t started;
	bool known;              /* `regions` are: those of its parent's only thread when it began */
	struct fork_regions regions;
};

/* A thread forked a process with this pid. */
struct recorded_fork { uint64_t pid, stamp; uint32_t clock, process; struct fork_regions regions; };

struct forked {
	struct opened_trace *o;
	struct birth *births; size_t nbirths; /* by parent, then by stamp */
	size_t *order;           /* of them, by stamp */
	struct recorded_fork *forks; size_t nforks;
	uint32_t *sites; size_t nsites;
	bool *walked;            /* each process: its forks are known */
};

static bool is_child(const struct tr_process *p)
{
	return p->forked && !p->executed && !p->says_entered;
}

/* ---- What forks are in ------------------------------------------------------------------------ */

struct fork_walk {
	struct forked *all;
	struct replay open;
	bool lost;
	struct birth *birth, *end; /* if no other thread can have forked them */
};

static bool same_regions(const struct forked *all, struct fork_regions x, struct fork_regions y)
{
	return x.n == y.n && !memcmp(all->sites + x.first, all->sites + y.first, x.n * sizeof *all->sites);
}

static struct fork_regions regions_now(struct fork_walk *w)
{
	struct forked *all = w->all;
	struct fork_regions now = { all->nsites, 0 };
	if (w->lost)
		*MEM_GROW(all->sites, all->nsites) = TR_NO_SITE;
	for (size_t i = 0; i < w->open.depth; i++) {
		const struct replay_entry *e = &w->open.entry[i];
		if (e->is & OP_REGION || e->site == TR_NO_SITE)
			*MEM_GROW(all->sites, all->nsites) = e->jumped || e->unsure ? TR_NO_SITE : e->site;
	}
	now.n = all->nsites - now.first;
	struct fork_regions before = { now.first - (now.first < now.n ? 0 : now.n), now.n };
	if (before.first < now.first && same_regions(all, before, now)) {
		all->nsites = now.first;
		return before;
	}
	return now;
}

/* What comes next comes at that stamp, or later. */
static void begin_children(struct fork_walk *w, uint64_t stamp)
{
	for (; w->birth < w->end && w->birth->started < stamp; w->birth++) {
		w->birth->regions = regions_now(w);
		w->birth->known = true;
	}
}

static void pass(struct fork_walk *w, const struct trace *t, size_t thread, const struct tr_event *e)
{
	uint64_t pid = e->op == DPROF_ENTER ? arg_forked_process(tr_operation(t, e), e) : ARG_NONE;
	if (e->op == DPROF_LOST) {
		replay_lose(&w->open);
		w->lost = true;
		return;
	}
	begin_children(w, e->stamp);
	if (pid != ARG_NONE)
		*MEM_GROW(w->all->forks, w->all->nforks) =
			(struct recorded_fork){ pid, e->stamp, t->threads[thread].clock, t->threads[thread].process,
						regions_now(w) };
	if (e->op == DPROF_ENTER)
		replay_enter(&w->open, tr_entry(t, e));
	else if (e->op == DPROF_EXIT)
		replay_exit(&w->open, e->site);
}

static void walk_thread(struct forked *all, size_t thread, bool alone)
{
	const struct trace *t = &all->o->t;
	uint32_t process = t->threads[thread].process;
	struct fork_walk w = { .all = all, .lost = t->threads[thread].gaps };
	struct tr_cursor events = trace_places(t, thread);
	w.birth = all->births + SEARCH(all->nbirths, mid, all->births[mid].parent < process);
	for (w.end = w.birth; alone && w.end < all->births + all->nbirths && w.end->parent == process; w.end++)
		;
	replay_open(&w.open, t->nsites);
	for (struct tr_event e; trace_next(&events, &e);)
		pass(&w, t, thread, &e);
	begin_children(&w, UINT64_MAX);
	replay_close(&w.open);
	trace_end(&events);
}

/* Those that its children are to know. */
static void walk_process(struct forked *all, size_t first)
{
	struct trace *t = &all->o->t;
	uint32_t process = t->threads[first].process;
	bool alone = first + 1 == t->nthreads || t->threads[first + 1].process != process;
	t->inheritance = inherit_open();
	for (size_t i = first; i < t->nthreads && t->threads[i].process == process; i++)
		walk_thread(all, i, alone);
	inherit_close(t->inheritance);
	t->inheritance = NULL;
	all->walked[process] = true;
}

/* ---- Records of a child ------------------------------------------------------------------------ */

struct fork_records { struct tr_record *v; size_t n; };

static void add(struct fork_records *r, uint64_t stamp, uint64_t what)
{
	*MEM_GROW(r->v, r->n) = (struct tr_record){ stamp, what };
}

/* All but the first so many. */
static void copy_records(const struct trace *t, size_t thread, size_t but, struct fork_records *to)
{
	struct tr_cursor events = trace_events(t, thread);
	struct tr_columns k;
	while (trace_columns(&events, &k))
		for (size_t i = 0; i < k.n; i++) {
			const struct tr_what *what = trace_what(t, &k, i);
			const uint64_t *value = k.value + k.argument[i];
			if (but > 0) {
				but--;
			} else if (what->op == DPROF_LOST) {
				add(to, value[0], TR_WHAT(0, DPROF_LOST));
			} else {
				add(to, k.stamp[i], TR_WHAT(what->site, what->op));
				for (unsigned a = 0; a < what->nargs; a++)
					add(to, value[a], TR_WHAT(what->key[a], DPROF_ARG));
			}
		}
	trace_end(&events);
}

/* What the child's own exits say that it was in, outermost first. To be freed. */
static uint32_t *exited_regions(const struct trace *t, size_t thread, size_t *n)
{
	struct tr_cursor events = trace_events(t, thread);
	uint32_t *sites = NULL;
	struct tr_event e;
	*n = 0;
	while (*n < t->threads[thread].entered && trace_next_bare(&events, &e))
		*MEM_GROW(sites, *n) = e.site;
	trace_end(&events);
	return sites;
}

static size_t find_region(const struct forked *all, struct fork_regions regions, size_t from, uint32_t site)
{
	while (from < regions.n && all->sites[regions.first + from] != site)
		from++;
	return from;
}

/* Both together: what only exits tell (a handler that forks may have come in an enter's way) is right around what they tell
 * next. */
static void enter_all(const struct forked *all, size_t thread, struct fork_regions regions, uint64_t stamp, struct fork_records *to)
{
	size_t n, at = 0, alone = 0;
	uint32_t *exited = exited_regions(&all->o->t, thread, &n);
	for (size_t i = 0; i <= n; i++) {
		size_t found = i < n ? find_region(all, regions, at, exited[i]) : regions.n;
		if (i < n && found == regions.n)
			continue;
		for (; at < found; at++)
			add(to, stamp, TR_WHAT(all->sites[regions.first + at], DPROF_ENTER));
		for (; alone < i; alone++)
			add(to, stamp, TR_WHAT(exited[alone], DPROF_ENTER));
		if (i < n)
			add(to, stamp, TR_WHAT(exited[alone++], DPROF_ENTER)), at++;
	}
	free(exited);
}

static void enter_regions(struct forked *all, size_t thread, struct fork_regions regions)
{
	struct tr_thread *self = &all->o->t.threads[thread];
	uint64_t started = all->o->t.processes[self->process].started, first, last;
	struct fork_records records = { NULL, 0 };
	if (!trace_ends(self, &first, &last))
		return;
	enter_all(all, thread, regions, started && started < first ? started : first, &records);
	size_t entered = records.n;
	copy_records(&all->o->t, thread, self->entered, &records);
	self->entered = entered;
	replace_stored(all->o, self, records.v, records.n);
	free(records.v);
}

/* The regions in which it was forked; false: nothing says that it was in any. */
static bool find_regions(struct forked *all, const struct birth *birth, struct fork_regions *regions)
{
	const struct trace *t = &all->o->t;
	uint32_t clock = t->threads[birth->thread].clock;
	uint64_t pid = t->processes[birth->process].pid, until = birth->started + 2 * t->clocks[clock].uncertainty;
	const struct recorded_fork *last = NULL;
	bool unclear = false;
	for (size_t i = 0; i < all->nforks; i++) {
		const struct recorded_fork *f = &all->forks[i];
		if (f->pid != pid || f->clock != clock || f->stamp > until)
			continue;
		unclear |= last && last->process != f->process && !same_regions(all, last->regions, f->regions);
		if (!last || f->stamp > last->stamp)
			last = f;
	}
	if (unclear) /* in different namespaces of process ids, perhaps */
		trace_diagnose(&all->o->t, "pid %" PRIu64 ": expected one process that forked it, found several, in different regions: in which "
			       "of these it began is not known", pid);
	if (!unclear && (last || birth->known)) {
		*regions = last ? last->regions : birth->regions;
		return regions->n > 0;
	}
	*regions = (struct fork_regions){ all->nsites, 1 };
	if (unclear || birth->parent != TR_NO_PARENT)
		*MEM_GROW(all->sites, all->nsites) = TR_NO_SITE;
	return unclear || birth->parent != TR_NO_PARENT;
}

/* ---- All --------------------------------------------------------------------------------------- */

static int by_parent(const void *x, const void *y)
{
	const struct birth *a = x, *b = y;
	return ORDER_2(a, b, parent, started);
}

static int by_start(const void *x, const void *y, void *births)
{
	const struct birth *a = (const struct birth *)births + *(const size_t *)x, *b = (const struct birth *)births + *(const size_t *)y;
	return ORDER(a->started, b->started);
}

static void find_births(struct forked *all)
{
	const struct trace *t = &all->o->t;
	for (size_t i = 0; i < t->nthreads; i++) {
		uint32_t process = t->threads[i].process;
		const struct tr_process *p = &t->processes[process];
		if (is_child(p) && trace_begins_process(t, i) && t->threads[i].number == 0)
			*MEM_GROW(all->births, all->nbirths) =
				(struct birth){ .thread = i, .process = process, .parent = p->parent, .started = p->started };
	}
	if (!all->nbirths)
		return;
	qsort(all->births, all->nbirths, sizeof *all->births, by_parent);
	all->order = mem_resize(NULL, all->nbirths, sizeof *all->order);
	for (size_t i = 0; i < all->nbirths; i++)
		all->order[i] = i;
	qsort_r(all->order, all->nbirths, sizeof *all->order, by_start, all->births);
}

/* Who was not forked, or has not recorded anything in its first thread, knows at once what its children were in; a child does
 * when it is known what it was in itself, and so does not come before its parent. */
static void begin_all(struct forked *all)
{
	const struct trace *t = &all->o->t;
	for (size_t i = 0; i < all->nbirths; i++)
		all->walked[all->births[i].process] = true;
	for (size_t i = 0; i < t->nthreads; i++)
		if (trace_begins_process(t, i) && !all->walked[t->threads[i].process])
			walk_process(all, i);
	for (size_t i = 0; i < all->nbirths; i++) {
		const struct birth *birth = &all->births[all->order[i]];
		struct fork_regions regions;
		if (find_regions(all, birth, &regions))
			enter_regions(all, birth->thread, regions);
		walk_process(all, birth->thread);
	}
}

static bool has_regions(const struct trace *t)
{
	for (uint32_t i = 0; i < t->nsites; i++)
		if (tr_is(t, i, OP_REGION))
			return true;
	return false;
}

void open_forked(struct opened_trace *o)
{
	struct forked all = { .o = o };
	if (!o->t.whats || !has_regions(&o->t))
		return;
	find_births(&all);
	if (all.nbirths) {
		all.walked = mem_zeroed(o->t.nprocesses + 1, 1);
		begin_all(&all);
	}
	free(all.births);
	free(all.order);
	free(all.forks);
	free(all.sites);
	free(all.walked);
}

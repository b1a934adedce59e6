/* SPDX-License-Identifier: MIT
 *
 * trace_groups.c - who takes part in what: from the lines "group" of the process files and from
 * the events that name a group.
 *
 * Two processes speak of the same group when they give it the same id and the same members. An
 * id that means something else to another process (a communicator of its own, or a team of its own
 * threads) gets another number in the trace; the cursor translates.
 *
 * Law: after this an id belongs to one group, and a thread that takes part in a group is in its
 * list. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/ids.h"
#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace_private.h"

/* A group while it is put together. */
struct draft {
	uint64_t id, stored;     /* in the trace, in the records */
	const char *ranks;       /* NULL: of threads, or never described */
	uint32_t owner;          /* the process of which all its threads are, or NO_OWNER */
	size_t size;             /* as described; 0: whoever is there */
	bool reordered;          /* a line that names threads says so */
	uint32_t *member; size_t nmembers; /* threads; some may stand there twice */
	size_t next;             /* of the same key; SIZE_MAX */
};

#define NO_OWNER UINT32_MAX

struct drafts {
	struct opened_trace *o;
	struct draft *v; size_t n;
	struct ids keys;         /* of drafts: key_of(), ... */
	struct key_drafts { size_t first, last; } *of_key; /* ... and which have it */
	struct ids taken;        /* ids that a draft has, or its records */
	uint64_t next_free;      /* each id below it is taken */
	struct meanings *meanings; /* for each process */
};

/* What the ids of a process's group lines mean: the first line of each counts. */
struct meanings { struct ids ids; size_t *draft; };

static size_t count_list(const char *list)
{
	size_t n = 0;
	uint64_t number;
	bool wrong;
	while (ln_list_next(&list, &number, &wrong))
		n++;
	return n;
}

/* Equal for equal groups. */
static uint64_t key_of(uint64_t stored, const char *ranks)
{
	uint64_t key = stored;
	for (; ranks && *ranks; ranks++)
		key = (key ^ (unsigned char)*ranks) * UINT64_C(0x100000001b3); /* FNV's prime */
	return key;
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static uint64_t new_id(struct drafts *d, uint64_t stored)
{
	if (ids_add(&d->taken, stored))
		return stored;
	while (!ids_add(&d->taken, d->next_free))
		d->next_free++;
	return d->next_free;
}

/* The draft of that key becomes its last one. */
static void put_behind(struct drafts *d, uint64_t key, size_t draft)
{
	size_t place = d->keys.n;
	if (ids_add(&d->keys, key)) {
		*MEM_GROW(d->of_key, place) = (struct key_drafts){ draft, draft };
		return;
	}
	struct key_drafts *same_key = &d->of_key[ids_find(&d->keys, key)];
	d->v[same_key->last].next = draft;
	same_key->last = draft;
}

static size_t draft(struct drafts *d, uint64_t stored, const char *ranks, uint32_t owner)
{
	uint64_t key = key_of(stored, ranks);
	size_t place = ids_find(&d->keys, key);
	for (size_t i = place == SIZE_MAX ? place : d->of_key[place].first; i != SIZE_MAX; i = d->v[i].next)
		if (d->v[i].stored == stored && same(d->v[i].ranks, ranks) &&
		    (d->v[i].owner == owner || owner == NO_OWNER || d->v[i].owner == NO_OWNER))
			return i;
	uint64_t id = new_id(d, stored);
	*MEM_GROW(d->v, d->n) = (struct draft){ .id = id, .stored = stored, .ranks = ranks, .owner = owner,
						.size = ranks ? count_list(ranks) : 0, .next = SIZE_MAX };
	put_behind(d, key, d->n - 1);
	return d->n - 1;
}

/* The first thread that is not before that one; they stand in that order. */
static size_t find_thread(const struct trace *t, uint32_t process, uint64_t number)
{
	size_t first = 0, end = t->nthreads;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct tr_thread *m = &t->threads[middle];
		if (m->process < process || (m->process == process && m->number < number))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* The threads of the process that a line "group ID threads=..." names. */
static void add_named(struct drafts *d, struct draft *g, uint32_t process,
		      const struct group_line *line)
{
	const struct trace *trace = &d->o->t;
	const char *list = line->threads;
	uint64_t number;
	bool wrong;
	while (ln_list_next(&list, &number, &wrong))
		for (size_t t = find_thread(trace, process, number);
		     t < trace->nthreads && trace->threads[t].process == process &&
		     trace->threads[t].number == number; t++)
			*MEM_GROW(g->member, g->nmembers) = (uint32_t)t;
	if (line->size > g->size)
		g->size = (size_t)line->size;
	g->reordered |= line->reordered;
}

static void rename_in(struct tr_modules *m, uint64_t id, uint64_t now)
{
	size_t n = m->renamed.n;
	if (ids_add(&m->renamed, id))
		*MEM_GROW(m->now, n) = now;
}

/* A team of threads of one process is no other's, whatever others call theirs. */
static uint32_t owner_of(uint32_t process, const struct group_line *line)
{
	return line->threads && !line->shared ? process : NO_OWNER;
}

static void read_group_lines(struct drafts *d)
{
	for (uint32_t p = 0; p < d->o->nfiles; p++) {
		const struct process_file *f = &d->o->files[p];
		struct meanings *m = &d->meanings[p];
		for (size_t i = 0; i < f->ngroups; i++) {
			size_t g = draft(d, f->groups[i].id, f->groups[i].ranks,
					 owner_of(p, &f->groups[i])), place = m->ids.n;
			if (ids_add(&m->ids, f->groups[i].id))
				*MEM_GROW(m->draft, place) = g;
			if (d->v[g].id != f->groups[i].id) /* also if only messages name it */
				rename_in(d->o->t.processes[p].modules, f->groups[i].id,
					  d->v[g].id);
			if (f->groups[i].threads)
				add_named(d, &d->v[g], p, &f->groups[i]);
		}
	}
}

/* What `id` means to a process: its own line's group, or the one that is not described by ranks. */
static size_t meaning(struct drafts *d, uint32_t process, uint64_t id)
{
	const struct meanings *m = &d->meanings[process];
	size_t place = ids_find(&m->ids, id);
	return place != SIZE_MAX ? m->draft[place] : draft(d, id, NULL, NO_OWNER);
}

static void add_users(struct drafts *d)
{
	for (size_t i = 0; i < d->o->nuses; i++) {
		const struct group_use *use = &d->o->uses[i];
		uint32_t process = d->o->t.threads[use->thread].process;
		size_t g = meaning(d, process, use->id);
		*MEM_GROW(d->v[g].member, d->v[g].nmembers) = use->thread;
		if (d->v[g].id != use->id)
			rename_in(d->o->t.processes[process].modules, use->id, d->v[g].id);
	}
}

static bool ascends(const char *list)
{
	uint64_t number, before = 0;
	bool wrong;
	for (bool first = true; ln_list_next(&list, &number, &wrong); first = false) {
		if (!first && number < before)
			return false;
		before = number;
	}
	return true;
}

static void finish(struct trace *t, const struct draft *g)
{
	struct tr_group *out = MEM_GROW(t->groups, t->ngroups);
	*out = (struct tr_group){ .id = g->id, .by_rank = g->ranks ? ascends(g->ranks) : !g->reordered };
	if (g->nmembers)
		qsort(g->member, g->nmembers, sizeof *g->member, order_uint32);
	for (size_t i = 0; i < g->nmembers; i++)
		if (i == 0 || g->member[i] != g->member[i - 1])
			*MEM_GROW(out->threads, out->nthreads) = g->member[i];
	out->size = g->size || g->ranks ? g->size : out->nthreads;
}

static int by_id(const void *a, const void *b)
{
	const struct tr_group *x = a, *y = b;
	return ORDER(x->id, y->id);
}

void open_groups(struct opened_trace *o)
{
	struct drafts d = { .o = o };
	d.meanings = mem_zeroed(o->nfiles, sizeof *d.meanings);
	read_group_lines(&d);
	add_users(&d);
	for (size_t g = 0; g < d.n; g++)
		finish(&o->t, &d.v[g]);
	if (o->t.ngroups)
		qsort(o->t.groups, o->t.ngroups, sizeof *o->t.groups, by_id);
	for (size_t g = 0; g < d.n; g++)
		free(d.v[g].member);
	for (size_t p = 0; p < o->nfiles; p++) {
		ids_free(&d.meanings[p].ids);
		free(d.meanings[p].draft);
	}
	free(d.meanings);
	ids_free(&d.keys);
	ids_free(&d.taken);
	free(d.of_key);
	free(d.v);
}

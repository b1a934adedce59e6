/* SPDX-License-Identifier: MIT
 *
 * kineto_groups.c - which operations of different files belong together: see kineto.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/kineto/kineto_private.h"

/* Of one group, what one file has of it. */
struct kineto_member { size_t file, thread; struct kineto_slice **slices; size_t n; };

struct kineto_members {
	struct kineto_member *v; size_t n;
	bool usable;             /* each of its ranks has a file, and there one stream */
};

static size_t file_of(const struct kineto_trace *t, int64_t rank)
{
	for (size_t i = 0; i < t->nfiles; i++)
		if (t->files[i].rank == rank)
			return i;
	return KINETO_NONE;
}

static struct kineto_member member_of(const struct kineto_file *f, size_t file, const char *group, bool *usable)
{
	struct kineto_member m = { file, KINETO_NONE, NULL, 0 };
	for (size_t i = 0; i < f->nthreads; i++) {
		for (size_t k = 0; k < f->threads[i].n; k++) {
			struct kineto_slice *s = &f->threads[i].slices[k];
			if (!s->group || strcmp(s->group, group) != 0)
				continue;
			*usable &= m.thread == KINETO_NONE || m.thread == i;
			m.thread = i;
			*MEM_GROW(m.slices, m.n) = s;
		}
	}
	*usable &= m.n > 0;
	return m;
}

/* Its name begins with its ranks. */
static struct kineto_members members_of(const struct kineto_trace *t, const char *group)
{
	struct kineto_members m = { .usable = true };
	for (char *at = (char *)group; *at >= '0' && *at <= '9'; at += *at == ' ') {
		size_t file = file_of(t, (int64_t)strtoull(at, &at, 10));
		m.usable &= file != KINETO_NONE;
		for (size_t i = 0; i < m.n; i++)
			m.usable &= m.v[i].file != file;
		if (m.usable)
			*MEM_GROW(m.v, m.n) = member_of(&t->files[file], file, group, &m.usable);
	}
	m.usable &= m.n > 1;
	return m;
}

static int by_number(const void *a, const void *b)
{
	const struct kineto_slice *x = *(struct kineto_slice *const *)a, *y = *(struct kineto_slice *const *)b;
	return ORDER(x->number, y->number);
}

/* Then all are in the order of their numbers. */
static bool are_numbered(struct kineto_members *m)
{
	bool numbered = true;
	for (size_t i = 0; i < m->n; i++) {
		for (size_t k = 0; k < m->v[i].n; k++)
			numbered &= m->v[i].slices[k]->number >= 0;
		if (numbered)
			qsort(m->v[i].slices, m->v[i].n, sizeof *m->v[i].slices, by_number);
		for (size_t k = 1; k < m->v[i].n && numbered; k++)
			numbered &= m->v[i].slices[k]->number > m->v[i].slices[k - 1]->number;
	}
	return numbered;
}

static bool are_alike(const struct kineto_members *m)
{
	bool alike = true;
	for (size_t i = 1; i < m->n; i++) {
		alike &= m->v[i].n == m->v[0].n;
		for (size_t k = 0; alike && k < m->v[0].n; k++)
			alike &= strcmp(m->v[i].slices[k]->what, m->v[0].slices[k]->what) == 0;
	}
	return alike;
}

/* In each file at its place `next`. False: some file has none of that number, or says that it was something else. */
static bool is_whole(const struct kineto_members *m, const size_t *next, int64_t number)
{
	bool whole = true;
	for (size_t i = 0; i < m->n && whole; i++) {
		const struct kineto_slice *s = next[i] < m->v[i].n ? m->v[i].slices[next[i]] : NULL;
		whole = s && s->all && (number < 0 || s->number == number) && strcmp(s->what, m->v[0].slices[next[0]]->what) == 0;
	}
	return whole;
}

/* Those of the first file, with what the others have of the same number, or in the same place. */
static void relate_all(struct kineto_members *m, bool numbered, size_t group)
{
	size_t *next = mem_zeroed(m->n, sizeof *next);
	uint64_t seq = 0;
	for (; next[0] < m->v[0].n; next[0]++) {
		int64_t number = numbered ? m->v[0].slices[next[0]]->number : -1;
		for (size_t i = 1; i < m->n; i++) {
			next[i] = numbered ? next[i] : next[0];
			while (numbered && next[i] < m->v[i].n && m->v[i].slices[next[i]]->number < number)
				next[i]++;
		}
		if (!is_whole(m, next, number))
			continue;
		for (size_t i = 0; i < m->n; i++) {
			m->v[i].slices[next[i]]->match = group;
			m->v[i].slices[next[i]]->seq = seq;
		}
		seq++;
	}
	free(next);
}

static void add_group(struct kineto_trace *t, const char *name)
{
	struct kineto_members m = members_of(t, name);
	bool numbered = m.usable && are_numbered(&m);
	struct kineto_group g = { .name = mem_copy(name) };
	if (m.usable && (numbered || are_alike(&m))) {
		relate_all(&m, numbered, t->ngroups);
		t->counted |= !numbered;
		for (size_t i = 0; i < m.n; i++) {
			size_t n = g.n, same = g.n;
			*MEM_GROW(g.file, n) = m.v[i].file;
			*MEM_GROW(g.thread, same) = m.v[i].thread;
			g.n = n;
		}
	}
	*MEM_GROW(t->groups, t->ngroups) = g;
	for (size_t i = 0; i < m.n; i++)
		free(m.v[i].slices);
	free(m.v);
}

static bool is_there(const struct kineto_trace *t, const char *group)
{
	for (size_t i = 0; i < t->ngroups; i++)
		if (strcmp(t->groups[i].name, group) == 0)
			return true;
	return false;
}

void kineto_relate(struct kineto_trace *t)
{
	for (size_t f = 0; f < t->nfiles; f++)
		for (size_t i = 0; i < t->files[f].nthreads; i++) {
			const struct kineto_thread *thread = &t->files[f].threads[i];
			for (size_t k = 0; k < thread->n; k++)
				if (thread->slices[k].group && !is_there(t, thread->slices[k].group))
					add_group(t, thread->slices[k].group);
		}
}

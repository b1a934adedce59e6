/* SPDX-License-Identifier: MIT
 *
 * shares.c - see shares.h. */
#include "analysis/driver/shares.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct part_file *)a)->name, ((const struct part_file *)b)->name);
}

/* The file of that name, as a process sees it; NULL: it does not. */
static const struct part_file *seen_as(const struct sight *s, const char *name)
{
	return s->n ? bsearch(&(struct part_file){ .name = (char *)name }, s->files, s->n, sizeof *s->files, by_name) : NULL;
}

static bool same(const struct part_file *a, const struct part_file *b)
{
	return a && b && a->size == b->size && a->changed == b->changed;
}

/* ---- The files of the trace ------------------------------------------------------------------ */

static void take_files(struct shares *s, const struct sight *sight)
{
	for (size_t i = 0; i < sight->n; i++) {
		struct part_file *f = MEM_GROW(s->files, s->n);
		*f = sight->files[i];
		f->name = mem_copy(f->name);
	}
}

/* Of each name the first one stays: they were taken in the order of processes. */
static int by_name_then_place(const void *a, const void *b)
{
	const struct part_file *const *x = a, *const *y = b;
	int order = by_name(*x, *y);
	return order ? order : (*x > *y) - (*x < *y);
}

static void sort_files(struct shares *s)
{
	struct part_file **sorted = mem_resize(NULL, s->n, sizeof(struct part_file *)), *kept;
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		sorted[i] = &s->files[i];
	qsort(sorted, s->n, sizeof(struct part_file *), by_name_then_place);
	kept = mem_resize(NULL, s->n, sizeof *kept);
	for (size_t i = 0; i < s->n; i++)
		if (n && strcmp(kept[n - 1].name, sorted[i]->name) == 0)
			free(sorted[i]->name);
		else
			kept[n++] = *sorted[i];
	free(s->files);
	free(sorted);
	s->files = kept;
	s->n = n;
}

/* ---- Who reads what -------------------------------------------------------------------------- */

static bool ends(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);
	return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Files beside a file of events: their numbers, or that of none. */
struct beside { size_t packed, nursery; };

/* Frees the name. */
static size_t number_of(const struct shares *s, char *name)
{
	const struct part_file *f = bsearch(&(struct part_file){ .name = name }, s->files, s->n, sizeof *s->files, by_name);
	free(name);
	return f ? (size_t)(f - s->files) : s->n;
}

static struct beside beside(const struct shares *s, size_t events)
{
	const char *name = s->files[events].name, *thread = strrchr(name, '-');
	if (!thread || !ends(name, ".events"))
		return (struct beside){ s->n, s->n };
	return (struct beside){ number_of(s, mem_format("%.*s.packed", (int)(strlen(name) - strlen(".events")), name)),
				number_of(s, mem_format("%.*s.nursery", (int)(thread - name), name)) };
}

/* Or there is none. */
static bool can_read(const struct shares *s, const struct sight *sight, size_t file)
{
	const struct part_file *f = file < s->n ? seen_as(sight, s->files[file].name) : NULL;
	return file == s->n || (same(f, &s->files[file]) && f->readable);
}

static bool may_read(const struct shares *s, const struct sight *sight, size_t events, struct beside b)
{
	return can_read(s, sight, events) && can_read(s, sight, b.packed) && can_read(s, sight, b.nursery);
}

static void choose_reader(struct shares *s, const struct sight *sights, size_t processes, size_t events, uint64_t *load)
{
	struct beside b = beside(s, events);
	size_t reader = (size_t)s->has[events];
	bool any = false;
	for (size_t i = 0; i < processes; i++)
		if ((!any || load[i] < load[reader]) && may_read(s, &sights[i], events, b)) {
			reader = i;
			any = true;
		}
	s->reads[events] = (int)reader;
	load[reader] += 1 + s->files[events].bytes + (b.packed < s->n ? s->files[b.packed].bytes : 0);
}

struct shares shares_make(const struct sight *sights, size_t processes, bool elsewhere)
{
	struct shares s = { .n = 0 };
	for (size_t i = 0; i < (elsewhere ? processes : 1); i++)
		take_files(&s, &sights[i]);
	sort_files(&s);
	s.has = mem_resize(NULL, s.n, sizeof *s.has);
	s.reads = mem_resize(NULL, s.n, sizeof *s.reads);
	uint64_t *load = mem_zeroed(processes, sizeof *load);
	for (size_t f = 0; f < s.n; f++) {
		for (s.has[f] = 0; !seen_as(&sights[s.has[f]], s.files[f].name); s.has[f]++)
			;
		s.reads[f] = -1;
	}
	for (size_t f = 0; f < s.n; f++)
		if (ends(s.files[f].name, ".events") || ends(s.files[f].name, ".nursery"))
			choose_reader(&s, sights, processes, f, load);
	free(load);
	return s;
}

void shares_free(struct shares *s)
{
	part_free_files(s->files, s->n);
	free(s->has);
	free(s->reads);
}

/* ---- What the user should know --------------------------------------------------------------- */

/* The first file that stands in the way of a process that should read from the first one's directory; NULL: none does. */
static const char *in_the_way(const struct shares *s, const struct sight *sight)
{
	for (size_t f = 0; f < s->n; f++)
		if (s->reads[f] >= 0 && !may_read(s, sight, f, beside(s, f)))
			return s->files[f].name;
	return NULL;
}

static const char *only_there(const struct shares *s, const struct sight *sight)
{
	for (size_t i = 0; i < sight->n; i++)
		if (!bsearch(&sight->files[i], s->files, s->n, sizeof *s->files, by_name))
			return sight->files[i].name;
	return NULL;
}

/* A process that reads with others from one directory. */
static char *remark_on_share(const struct shares *s, const struct sight *sight, size_t process)
{
	const char *other = only_there(s, sight), *missing = in_the_way(s, sight);
	if (other)
		return mem_format("rank %zu on %s: expected the files that rank 0 sees, found others there, such as %s: with "
				  "--local, each rank reads what is on its own disk", process, sight->host, other);
	if (sight->why)
		return mem_format("rank %zu on %s reads nothing, others do: %s", process, sight->host, sight->why);
	if (missing)
		return mem_format("rank %zu on %s: expected the same files as rank 0, found that it cannot read %s, or "
				  "another one of that name: others read what it cannot", process, sight->host,
				  missing);
	return NULL;
}

static char *remark_on_nothing(const struct sight *sight, size_t process)
{
	return sight->why ? mem_format("rank %zu on %s has no file of the trace: %s", process, sight->host, sight->why) : NULL;
}

/* Of another length: of two copies the one may be the younger. */
static char *remark_on_file(const struct shares *s, const struct sight *sights, size_t processes, size_t f)
{
	for (size_t i = (size_t)s->has[f] + 1; i < processes; i++) {
		const struct part_file *own = seen_as(&sights[i], s->files[f].name);
		if (own && own->size != s->files[f].size)
			return mem_format("%s: expected one file of this name, found another on rank %zu (%s): that of rank %d "
					  "(%s) is read", s->files[f].name, i, sights[i].host, s->has[f], sights[s->has[f]].host);
	}
	return NULL;
}

static void add(struct remark **all, size_t *n, char *text, bool contradicts)
{
	if (text)
		*MEM_GROW(*all, *n) = (struct remark){ text, contradicts };
}

struct remark *shares_remarks(const struct shares *s, const struct sight *sights, size_t processes, bool elsewhere, size_t *n)
{
	struct remark *all = NULL;
	*n = 0;
	for (size_t i = 0; i < processes && s->n; i++)
		add(&all, n, elsewhere ? remark_on_nothing(&sights[i], i) : i ? remark_on_share(s, &sights[i], i) : NULL, false);
	for (size_t f = 0; f < s->n && elsewhere; f++)
		add(&all, n, remark_on_file(s, sights, processes, f), true);
	return all;
}

/* SPDX-License-Identifier: MIT
 *
 * trace_sites.c - copies of the sections "dprof_sites": from the address in a record to a site.
 *
 * A file is walked once, site by site, into a table with one entry for each 8 bytes of it. Sites that
 * say the same (a header's, in several objects; a program's, on several ranks) are one site of
 * the trace.
 *
 * Law: after damage the walk goes on at the next magic number that begins a whole site. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/site_bytes.h"
#include "analysis/trace/trace_private.h"
#include "runtime/sum.h"

/* Of a file of sites. Ids tell no more of them apart. */
#define MOST_BYTES (DPROF_IDS * 8)

/* Sites of the trace by content: an open hash table of indices, a power of two large. */
struct site_set { uint32_t *slot; size_t room; };

static uint64_t hash_site(const struct tr_site *s)
{
	const char *strings[] = { s->name, s->file, s->function };
	uint64_t h = (uint64_t)s->kind << 56 ^ (uint64_t)s->line << 24 ^ s->column;
	for (int i = 0; i < 3; i++)
		for (const char *c = strings[i]; ; c++) {
			h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3); /* FNV's prime */
			if (!*c)
				break;
		}
	return h ^ h >> 29;
}

static bool same_site(const struct tr_site *a, const struct tr_site *b)
{
	return a->kind == b->kind && a->automatic == b->automatic && a->role == b->role && a->stage == b->stage && a->line == b->line &&
	       a->column == b->column &&
	       !strcmp(a->name, b->name) && !strcmp(a->file, b->file) &&
	       !strcmp(a->function, b->function);
}

static uint32_t *find(const struct site_set *set, const struct trace *t, const struct tr_site *site)
{
	size_t i = hash_site(site) & (set->room - 1);
	while (set->slot[i] != TR_NO_SITE && !same_site(&t->sites[set->slot[i]], site))
		i = (i + 1) & (set->room - 1);
	return &set->slot[i];
}

static void make_room(struct site_set *set, const struct trace *t)
{
	if (2 * t->nsites < set->room)
		return;
	set->room = set->room ? 2 * set->room : 64;
	set->slot = mem_resize(set->slot, set->room, sizeof *set->slot);
	memset(set->slot, 0xff, set->room * sizeof *set->slot);
	for (size_t i = 0; i < t->nsites; i++)
		*find(set, t, &t->sites[i]) = (uint32_t)i;
}

static uint32_t add_site(struct site_set *set, struct trace *t, const struct tr_site *site)
{
	make_room(set, t);
	uint32_t *slot = find(set, t, site);
	if (*slot == TR_NO_SITE) {
		*slot = (uint32_t)t->nsites;
		*MEM_GROW(t->sites, t->nsites) = *site;
	}
	return *slot;
}

/* What words say that name one of the site's first three multiples of 16. */
static void mark(struct tr_sites *file, size_t unit, uint32_t site)
{
	for (uint32_t op = DPROF_ENTER; op <= DPROF_POINT; op++)
		file->what[unit + op * (DPROF_SITE_ALIGN / 8)] = 4 * site + op;
}

/* False after a diagnostic about what cannot be read. */
static bool walk(struct opened_trace *o, struct tr_sites *file, struct site_set *set)
{
	struct tr_site site;
	size_t size, damaged = 0, first = 0;
	const char *expected = NULL;
	for (size_t at = 0; at < file->size; at += size) {
		const char *wrong = site_read(file->bytes + at, file->size - at, &site, &size);
		if (!wrong) {
			mark(file, at / 8, add_site(set, &o->t, &site));
			continue;
		}
		if (!expected) {
			expected = wrong;
			first = at;
		}
		size = site_skip(file->size - at);
		damaged += size;
	}
	if (!expected)
		return true;
	uint32_t found = 0;
	memcpy(&found, file->bytes + first, file->size - first < 4 ? file->size - first : 4);
	trace_diagnose(&o->t,
		       "%s: offset %zu: expected %s, found 0x%08" PRIx32
		       " (%zu of %zu bytes cannot be read)",
		       file->name, first, expected, found, damaged, file->size);
	return false;
}

/* The file's name is a hash of what it held when it was written: FNV-1a, 64 bits. Of another content each site may
 * be another one. */
static void check_hash(struct opened_trace *o, struct tr_sites *file)
{
	char *expected = mem_format("%016" PRIx64 ".sites", dprof_sum_bytes(DPROF_SUM_BEGIN, file->bytes, file->size));
	if (strcmp(expected, file->name) != 0) {
		if (!file->damaged)
			trace_diagnose(&o->t,
				       "%s: expected the name %s that its content gives: it was changed or "
				       "cut short, and is left out",
				       file->name, expected);
		memset(file->what, 0xff, (file->size / 8 + 1) * sizeof *file->what);
		file->damaged = true;
	}
	free(expected);
}

static struct tr_sites *open_sites(struct opened_trace *o, struct site_set *set,
				   const struct process_file *p, const struct module_line *m)
{
	for (size_t i = 0; i < o->nsites; i++)
		if (strcmp(o->sites[i]->name, m->sites) == 0)
			return o->sites[i];
	struct tr_sites *file = mem_resize(NULL, 1, sizeof *file);
	*file = (struct tr_sites){ .name = mem_copy(m->sites) };
	*MEM_GROW(o->sites, o->nsites) = file;
	const char *found = "a path";
	file->bytes = strchr(m->sites, '/')
			      ? NULL
			      : (uint8_t *)read_whole(o, m->sites, MOST_BYTES, &file->size, &found);
	if (!file->bytes) {
		trace_diagnose(&o->t, "%s:%zu: expected the sites of %s in %s, found %s", p->name,
			       m->line, m->path, m->sites, found);
		return file;
	}
	if (!file->size)
		trace_diagnose(&o->t, "%s: offset 0: expected a site, found an empty file",
			       file->name);
	file->what = mem_resize(NULL, file->size / 8 + 1, sizeof *file->what);
	memset(file->what, 0xff, (file->size / 8 + 1) * sizeof *file->what);
	file->damaged = !walk(o, file, set);
	if (file->size)
		check_hash(o, file);
	return file;
}

static int by_address(const void *a, const void *b)
{
	const struct tr_module *x = a, *y = b;
	return x->at != y->at ? ORDER(x->at, y->at) : ORDER(x->from, y->from);
}

/* ---- What ids say ---------------------------------------------------------------------------- */

static uint32_t says_nothing[IDS_PAGE] = { [0 ... IDS_PAGE - 1] = TR_NO_SITE };

/* Nothing is done for each page: there may be as many processes as files. */
static struct tr_ids *open_ids(void)
{
	static uint32_t *const nothing[IDS_PAGES] = { [0 ... IDS_PAGES - 1] = says_nothing };
	struct tr_ids *ids = mem_resize(NULL, 1, sizeof *ids);
	memcpy(ids->page, nothing, sizeof nothing);
	ids->nown = 0;
	return ids;
}

static uint32_t *id_place(struct tr_ids *ids, uint64_t id)
{
	uint32_t **page = &ids->page[id / 2 / IDS_PAGE];
	if (*page == says_nothing) {
		*page = mem_resize(NULL, IDS_PAGE, sizeof **page);
		memset(*page, 0xff, sizeof says_nothing);
		ids->own[ids->nown++] = *page;
	}
	return &(*page)[id / 2 % IDS_PAGE];
}

static void add_ids(struct tr_ids *ids, const struct tr_module *m)
{
	for (uint64_t unit = 0; unit < m->size / 8 && unit < DPROF_IDS; unit += 2) {
		uint32_t what = m->what[unit];
		if (what == TR_NO_SITE)
			continue;
		uint32_t *says = id_place(ids, (m->first_id + unit) & (DPROF_IDS - 1));
		uint32_t now = (uint32_t)TR_WHAT(what / 4, what % 4);
		*says = *says == TR_NO_SITE || *says == now ? now : TR_SEVERAL;
	}
}

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

void open_module_ids(struct tr_modules *m)
{
	pthread_mutex_lock(&opening);
	if (m->readers++ == 0) {
		m->ids = open_ids();
		for (size_t i = 0; i < m->nmodules; i++)
			add_ids(m->ids, &m->module[i]);
	}
	pthread_mutex_unlock(&opening);
}

static void free_ids(struct tr_modules *m)
{
	for (size_t i = 0; m->ids && i < m->ids->nown; i++)
		free(m->ids->own[i]);
	free(m->ids);
	m->ids = NULL;
}

void close_module_ids(struct tr_modules *m)
{
	pthread_mutex_lock(&opening);
	if (--m->readers == 0)
		free_ids(m);
	pthread_mutex_unlock(&opening);
}

void close_modules(struct tr_modules *m)
{
	free_ids(m);
	free(m->module);
	ids_free(&m->renamed);
	free(m->now);
	free(m);
}

/* Whether any region of the module was marked by the user. */
static bool has_marks(const struct trace *t, const struct tr_sites *file)
{
	for (size_t unit = 0; unit < file->size / 8; unit++) {
		uint32_t what = file->what[unit];
		if (what != TR_NO_SITE && what % 4 == DPROF_ENTER &&
		    t->sites[what / 4].kind == DPROF_KIND_REGION && !t->sites[what / 4].automatic)
			return true;
	}
	return false;
}

/* Whether the program of the module has regions at all, marked or not, but for those of dprof's own library. */
static bool has_regions(const struct trace *t, const struct tr_sites *file)
{
	for (size_t unit = 0; unit < file->size / 8; unit++) {
		uint32_t what = file->what[unit];
		if (what != TR_NO_SITE && what % 4 == DPROF_ENTER && t->sites[what / 4].kind == DPROF_KIND_REGION &&
		    *t->sites[what / 4].file)
			return true;
	}
	return false;
}

/* Of sites that cannot be read it is not known whether they are marks. */
static void find_marks(struct trace *t, size_t process, const struct tr_sites *file)
{
	bool unknown = !file->size || file->damaged;
	struct tr_process *p = &t->processes[process];
	p->marked |= unknown || has_marks(t, file);
	p->marks_unknown |= unknown;
	if (p->left_out & TR_KIND_BIT(DPROF_KIND_REGION))
		p->regions_left_out |= unknown || has_regions(t, file);
}

static void open_process_modules(struct opened_trace *o, struct site_set *set,
				 struct process_file *p)
{
	struct tr_modules *modules = o->t.processes[p - o->files].modules;
	for (size_t i = 0; i < p->nmodules; i++) {
		struct module_line *line = &p->modules[i];
		struct tr_sites *sites = open_sites(o, set, p, line);
		modules->incomplete |= !sites->size || sites->damaged;
		find_marks(&o->t, (size_t)(p - o->files), sites);
		if (!sites->size)
			continue;
		if (line->at % DPROF_SITE_ALIGN || line->at > UINT64_MAX - sites->size)
			trace_diagnose(&o->t,
				       "%s:%zu: expected an address at=, a multiple of 16, found "
				       "0x%" PRIx64,
				       p->name, line->line, line->at);
		else
			*MEM_GROW(modules->module, modules->nmodules) =
				(struct tr_module){ line->at, sites->size, dprof_id(line->at, 0),
						    line->from, sites->what };
	}
	o->t.processes[p - o->files].marked &= !p->no_marks;
	o->t.processes[p - o->files].marked |= p->marks_unknown;
	o->t.processes[p - o->files].marks_unknown |= p->marks_unknown;
	if (modules->nmodules)
		qsort(modules->module, modules->nmodules, sizeof *modules->module, by_address);
	for (size_t i = 1; i < modules->nmodules; i++) {
		struct tr_module *a = &modules->module[i - 1], *b = a + 1;
		if (b->at - a->at < a->size && b->what != a->what && b->from == a->from)
			trace_diagnose(&o->t,
				       "%s: expected the sites of different modules apart, found "
				       "both at address 0x%" PRIx64,
				       p->name, b->at);
	}
}

void open_modules(struct opened_trace *o)
{
	struct site_set set = { 0 };
	for (size_t i = 0; i < o->nfiles; i++)
		open_process_modules(o, &set, &o->files[i]);
	free(set.slot);
	trace_classify(&o->t);
}

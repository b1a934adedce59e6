/* SPDX-License-Identifier: MIT
 *
 * paje.c - Paje's trace file format: what each event consists of, then the types, then containers, states and links.
 * Times are seconds with ns. Sites are values of states; names are in quotes, and those in a name become apostrophes,
 * as the format has no other way.
 *
 * Events are in the order of time: who reads them takes the last one's for the end of all. */
#define _GNU_SOURCE /* fputs_unlocked */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/decimal.h"
#include "analysis/base/heap.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/export/export.h"
#include "analysis/match/match.h"
#include "analysis/trace/names.h"

/* Aliases: J the job, P a process, T a thread; S states, V a site, L links. */
static const char definitions[] =
	"%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
	"%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
	"%EventDef PajeDefineEntityValue 2\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n"
	"%EventDef PajeDefineLinkType 3\n% Alias string\n% Type string\n% StartContainerType string\n% EndContainerType string\n"
	"% Name string\n%EndEventDef\n"
	"%EventDef PajeCreateContainer 4\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef\n"
	"%EventDef PajeDestroyContainer 5\n% Time date\n% Type string\n% Name string\n%EndEventDef\n"
	"%EventDef PajePushState 6\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n"
	"%EventDef PajePopState 7\n% Time date\n% Type string\n% Container string\n%EndEventDef\n"
	"%EventDef PajeStartLink 8\n% Time date\n% Type string\n% Container string\n% StartContainer string\n"
	"% Value string\n% Key string\n%EndEventDef\n"
	"%EventDef PajeEndLink 9\n% Time date\n% Type string\n% Container string\n% EndContainer string\n"
	"% Value string\n% Key string\n%EndEventDef\n";

static void put_name(FILE *out, const char *name)
{
	putc('"', out);
	for (; *name; name++)
		putc(*name == '"' ? '\'' : *name, out);
	putc('"', out);
}

/* Since the begin, which nothing is before. */
static void put_time(FILE *out, const struct moments *m, int event, int64_t at)
{
	int64_t ns = export_ns(m, at);
	char text[2 * DECIMAL_MOST + 4], *end = decimal_put(text, event);
	*end++ = ' ';
	end = decimal_put(end, ns / 1000000000);
	decimal_put(end, 1000000000 + ns % 1000000000); /* whose first digit gives way to the point */
	*end = '.';
	fwrite_unlocked(text, 1, (size_t)(end + 10 - text), out);
}

static void put_number(FILE *out, const char *before, int64_t number)
{
	char text[DECIMAL_MOST];
	fputs_unlocked(before, out);
	fwrite_unlocked(text, 1, (size_t)(decimal_put(text, number) - text), out);
}

static void put_types(FILE *out, const struct trace *t)
{
	fputs(definitions, out);
	fputs("0 TJ 0 job\n0 TP TJ process\n0 TT TP thread\n1 S TT state\n3 L TJ TT TT message\n2 VM L message \"0 0 0\"\n", out);
	for (size_t i = 0; i <= t->nsites; i++) {
		bool region = i < t->nsites && t->sites[i].kind == DPROF_KIND_REGION;
		fprintf(out, "2 V%zu S ", i);
		put_name(out, export_site_name(t, (uint32_t)i));
		fprintf(out, " \"%s\"\n", region ? "0 0.45 0.7" : "0.84 0.37 0"); /* told apart by the colour-blind */
	}
}

static void put_containers(FILE *out, const struct trace *t)
{
	fputs("4 0 J TJ 0 ", out);
	put_name(out, t->nprocesses ? t->processes[0].program : "job");
	putc('\n', out);
	for (size_t p = 0; p < t->nprocesses; p++) {
		fprintf(out, "4 0 P%zu TP J \"%s %" PRId64 "\"\n", p, t->processes[p].rank >= 0 ? "rank" : "pid",
			t->processes[p].rank >= 0 ? t->processes[p].rank : (int64_t)t->processes[p].pid);
	}
	for (size_t i = 0; i < t->nthreads; i++)
		fprintf(out, "4 0 T%zu TT P%" PRIu32 " \"%s\"\n", i, t->threads[i].process, thread_name(t, i).text);
}

static void put_step(FILE *out, const struct moments *m, uint32_t thread, const struct nested_step *s)
{
	put_time(out, m, s->what == NESTED_ENTER ? 6 : 7, s->at);
	put_number(out, " S T", thread);
	if (s->what == NESTED_ENTER)
		put_number(out, " V", (int64_t)(s->site < m->trace->nsites ? s->site : m->trace->nsites));
	putc_unlocked('\n', out);
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct link { int64_t at; uint64_t key; uint32_t thread; bool ends; };

static int by_time(const void *x, const void *y)
{
	const struct link *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->ends != b->ends ? a->ends - b->ends : ORDER(a->key, b->key);
}

struct paje_links { struct link *v; size_t n, next; };

static struct paje_links find_links(const struct moments *m)
{
	struct paje_links l = { .n = 0 };
	size_t key = 0;
	struct match_walk *walk = moments_matches(m);
	for (struct match match; match_walk_next(walk, &match); key++)
		for (size_t i = 0; match.kind == MATCH_MESSAGE && i < 2; i++) {
			uint32_t thread = i == 0 ? match.parts[i].thread : match.parts[i].done_in;
			struct moments_cursor c = moments_of(m, thread);
			frz_time bounds;
			int64_t at = moments_at_any(&c, i == 0 ? match.parts[i].enter : match.parts[i].done, &bounds);
			*MEM_GROW(l.v, l.n) = (struct link){ at, key, thread, i == 1 };
		}
	match_walk_close(walk);
	if (l.n)
		qsort(l.v, l.n, sizeof *l.v, by_time);
	return l;
}

static void put_link(FILE *out, const struct moments *m, const struct link *link)
{
	put_time(out, m, link->ends ? 9 : 8, link->at);
	put_number(out, " L J T", link->thread);
	put_number(out, " VM ", (int64_t)link->key);
	putc_unlocked('\n', out);
}

/* ---- In the order of time -------------------------------------------------------------------- */

/* What a thread does next. Points are no states. */
struct paje_stream { struct nested steps; struct nested_step next; };

static bool next_state(struct paje_stream *s)
{
	while (nested_next(&s->steps, &s->next))
		if (s->next.what != NESTED_POINT)
			return true;
	return false;
}

struct paje_merge {
	const struct moments *m;
	struct paje_stream *streams;  /* of the threads */
	struct paje_links links;      /* a source behind these */
	struct heap heap;
};

/* Whether the first source has more. */
static bool put_first(FILE *out, struct paje_merge *x, int64_t *next)
{
	uint32_t source = x->heap.items[0].source;
	struct paje_links *l = &x->links;
	if (source < x->m->trace->nthreads) {
		struct paje_stream *s = &x->streams[source];
		put_step(out, x->m, source, &s->next);
		bool more = next_state(s);
		*next = s->next.at;
		return more;
	}
	put_link(out, x->m, &l->v[l->next++]);
	*next = l->next < l->n ? l->v[l->next].at : 0;
	return l->next < l->n;
}

static void merge_open(struct paje_merge *x, const struct moments *m)
{
	uint32_t n = (uint32_t)m->trace->nthreads;
	*x = (struct paje_merge){ .m = m, .streams = mem_resize(NULL, n + 1, sizeof *x->streams), .links = find_links(m) };
	x->heap.items = mem_resize(NULL, n + 1, sizeof *x->heap.items);
	for (uint32_t t = 0; t < n; t++) {
		nested_open(&x->streams[t].steps, m, t);
		if (next_state(&x->streams[t]))
			heap_add(&x->heap, heap_key(x->streams[t].next.at), t);
	}
	if (x->links.n)
		heap_add(&x->heap, heap_key(x->links.v[0].at), n);
}

static void merge_close(struct paje_merge *x)
{
	for (size_t t = 0; t < x->m->trace->nthreads; t++)
		nested_close(&x->streams[t].steps);
	free(x->streams);
	free(x->links.v);
	free(x->heap.items);
}

/* When the last was. */
static int64_t put_events(FILE *out, const struct moments *m)
{
	struct paje_merge x;
	int64_t last = 0;
	merge_open(&x, m);
	while (x.heap.count > 0) {
		int64_t next;
		last = (int64_t)(x.heap.items[0].key ^ heap_key(0));
		if (put_first(out, &x, &next))
			heap_change_first(&x.heap, heap_key(next));
		else
			heap_remove_first(&x.heap);
	}
	merge_close(&x);
	return last;
}

static void destroy_containers(FILE *out, const struct moments *m, int64_t at)
{
	const struct trace *t = m->trace;
	for (size_t i = 0; i < t->nthreads; i++) {
		put_time(out, m, 5, at);
		fprintf(out, " TT T%zu\n", i);
	}
	for (size_t p = 0; p < t->nprocesses; p++) {
		put_time(out, m, 5, at);
		fprintf(out, " TP P%zu\n", p);
	}
	put_time(out, m, 5, at);
	fputs(" TJ J\n", out);
}

void export_paje(FILE *out, const struct moments *m)
{
	put_types(out, m->trace);
	put_containers(out, m->trace);
	destroy_containers(out, m, put_events(out, m));
}

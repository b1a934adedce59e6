/* SPDX-License-Identifier: MIT
 *
 * quantities.c - see quantities.h. */
#include "analysis/diff/quantities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/calls/calls.h"
#include "analysis/efficiency/efficiency.h"
#include "analysis/path/path.h"
#include "analysis/report/doubt.h"
#include "analysis/report/findings.h"
#include "analysis/report/path_tables.h"
#include "analysis/report/relations.h"

#define THREAD "thread " /* begins the name of a thread's score */

const char *quantity_word(enum quantity_kind kind)
{
	static const char *const words[QUANTITY_KINDS] = { "run", "efficiency", "score", "region", "path", "wait" };
	return words[kind];
}

int quantities_order(const struct quantity *x, const struct quantity *y)
{
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	int order = strcmp(x->name, y->name);
	order = order ? order : x->by_name - y->by_name;
	return order || x->by_name ? order : strcmp(x->file ? x->file : "", y->file ? y->file : "");
}

static int order(const void *x, const void *y)
{
	return quantities_order(x, y);
}

/* ---- Of each analysis ------------------------------------------------------------------------ */

struct quantities_writer { struct quantities *q; const struct findings *f; };

bool quantities_know_score(const struct quantities *q, const struct quantity *what)
{
	bool thread = strncmp(what->name, THREAD, strlen(THREAD)) == 0;
	return q->scores == SCORES_OF_NONE || (q->scores == SCORES_OF_THREADS) == thread;
}

static void add(const struct quantities_writer *w, enum quantity_kind kind, const char *name, const char *file,
		bool by_name, struct interval value)
{
	*MEM_GROW(w->q->v, w->q->n) = (struct quantity){ kind, mem_copy(name), file ? mem_copy(file) : NULL, value, by_name };
}

static struct interval seconds(const struct quantities_writer *w, frz_time ticks)
{
	struct interval s = times_seconds(&w->f->times, findings_time_base(w->f), ticks);
	return (struct interval){ s.lo > 0 ? s.lo : 0, s.hi > 0 ? s.hi : 0 };
}

static const char *name_of(const struct trace *trace, enum quantity_kind kind, uint32_t site)
{
	if (site == TR_OUTSIDE && kind == QUANTITY_REGION)
		return "all of it";
	return path_site_name(trace, site);
}

static void add_at(const struct quantities_writer *w, enum quantity_kind kind, uint32_t site, frz_time ticks)
{
	const struct trace *trace = w->f->trace;
	const char *file = site < trace->nsites ? trace->sites[site].file : NULL;
	const char *last = file ? strrchr(file, '/') : NULL;
	if (ticks.hi > 0)
		add(w, kind, name_of(trace, kind, site), last ? last + 1 : file, file && tr_is(trace, site, OP_REGION), seconds(w, ticks));
}

/* Ranks have their numbers in every run; processes without ranks only their order. One alone has no others that wait for it. */
static void add_scores(const struct quantities_writer *w)
{
	const struct trace *trace = w->f->trace;
	bool process = w->f->ranks.count > 1;
	const struct ranking *ranking = process ? &w->f->ranks : &w->f->threads;
	if (ranking->count < 2)
		return;
	w->q->scores = process ? SCORES_OF_PROCESSES : SCORES_OF_THREADS;
	for (size_t i = 0; i < ranking->count; i++) {
		const struct tr_thread *t = &trace->threads[ranking->list[i].thread];
		char *name = !process ? mem_format(THREAD "%u", t->number)
			     : t->rank >= 0 ? mem_format("rank %ld", (long)t->rank) : mem_format("process %u", t->process);
		add(w, QUANTITY_SCORE, name, NULL, false, ranking->list[i].alone_s);
		free(name);
	}
}

static void add_efficiency(const struct quantities_writer *w, const struct graph *graph, const struct waits *waits)
{
	struct efficiency e;
	bool any = efficiency_of_graph(&e, w->f->trace, graph, waits);
	for (int f = 0; f < FACTORS && any; f++)
		add(w, QUANTITY_EFFICIENCY, factor_words(f), NULL, false, e.factors.of[f]);
	efficiency_close(&e);
}

/* Ticks of one thread, of `at_most` that it was there. */
static int64_t ticks_of(const struct quantities_writer *w, uint32_t thread, double s, int64_t at_most)
{
	const struct span *span = findings_span(w->f, thread);
	int64_t ticks = blocked_ticks(s, span, findings_seconds(w->f, thread, span->length).lo);
	return ticks < at_most ? ticks : at_most;
}

/* But for waiting: whoever surely was blocked there unrecorded may have waited, or have worked where it seems to wait. */
static frz_time doubted(const struct quantities_writer *w, uint32_t thread, int64_t at_most, frz_time time)
{
	const struct unrecorded *u = &w->f->unrecorded;
	double most_s = u->worth[thread] ? unrecorded_most(u, w->f->trace, thread) : 0;
	return (frz_time){ ticks_minus(time.lo, ticks_of(w, thread, most_s, at_most)),
			   ticks_plus(time.hi, ticks_of(w, thread, u->threads[thread].hidden_s.hi, at_most)) };
}

static frz_time within(frz_time time, int64_t most)
{
	return (frz_time){ time.lo > 0 ? time.lo : 0, time.hi < most ? time.hi : most };
}

static frz_time region_time(const struct quantities_writer *w, const struct call_profile *p, uint32_t site,
			    const struct call_sums *all)
{
	frz_time time = time_apart(all->waited, all->inclusive);
	bool doubt = w->f->unrecorded.count || w->f->unrecorded.hidden;
	for (size_t i = 0; i < p->neach && doubt; i++)
		if (p->each[i].site == site)
			time = doubted(w, p->each[i].thread, p->each[i].sums.inclusive.hi, time);
	return doubt ? within(time, all->inclusive.hi) : time;
}

/* All that threads did. */
static frz_time whole_time(const struct quantities_writer *w, const struct call_sums *all)
{
	frz_time time = time_apart(all->waited, all->inclusive);
	bool doubt = w->f->unrecorded.count || w->f->unrecorded.hidden;
	for (uint32_t t = 0; t < w->f->trace->nthreads && doubt; t++)
		time = doubted(w, t, INT64_MAX, time);
	return doubt ? within(time, all->inclusive.hi) : time;
}

static void add_calls(const struct quantities_writer *w, const struct graph *graph, const struct waits *waits)
{
	struct call_profile p;
	const struct trace *trace = w->f->trace;
	calls_of_graph(&p, graph, waits);
	if (p.nnodes > 0) /* its root, all that threads did */
		add_at(w, QUANTITY_REGION, TR_OUTSIDE, whole_time(w, &p.nodes[0].spread.all));
	for (size_t i = 0; i < p.nflat; i++) {
		uint32_t site = p.flat[i].site;
		const struct call_sums *all = &p.flat[i].spread.all;
		if (site < trace->nsites && !tr_is(trace, site, OP_REGION))
			add_at(w, QUANTITY_WAIT, site, all->waited);
		else if (site < trace->nsites)
			add_at(w, QUANTITY_REGION, site, region_time(w, &p, site, all));
	}
	calls_close(&p);
}

static void add_path(const struct quantities_writer *w, struct path *path)
{
	struct path_profile profile;
	path_profile_open(&profile, path, PATH_ALL);
	for (size_t i = 0; i < profile.nshares; i++)
		add_at(w, QUANTITY_PATH, profile.shares[i].site, profile.shares[i].ticks);
	path_profile_close(&profile);
}

/* What stands on who waited for whom. */
static void add_relations(const struct quantities_writer *w)
{
	struct path path;
	struct waits waits;
	path_open(&path, w->f->trace, &w->f->times);
	doubt_path(&path, &w->f->unrecorded);
	graph_said_tell(&path.graph.said, w->f->trace);
	waits_of_graph(&waits, &path.graph);
	add_calls(w, &path.graph, &waits);
	add_path(w, &path);
	add_efficiency(w, &path.graph, &waits);
	waits_close(&waits);
	path_close(&path);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Several threads, and several places that are not told apart, are one. */
static void sum_up(struct quantities *q)
{
	size_t kept = 0;
	qsort(q->v, q->n, sizeof *q->v, order);
	for (size_t i = 0; i < q->n; i++) {
		if (kept == 0 || quantities_order(&q->v[kept - 1], &q->v[i]) != 0) {
			q->v[kept++] = q->v[i];
			continue;
		}
		q->v[kept - 1].value = interval_add(q->v[kept - 1].value, q->v[i].value);
		free(q->v[i].name);
		free(q->v[i].file);
	}
	q->n = kept;
}

int quantities_found(struct quantities *q, const char *directory, struct trace *trace, const struct options *options)
{
	struct findings f;
	const struct quantities_writer w = { q, &f };
	int status = findings_open(&f, trace, options);
	if (status != EXIT_FINE)
		return status;
	const struct tr_clock *base = &trace->clocks[times_unit(&f.times, findings_time_base(&f))];
	const char *why = relations_unanswered(&f.times);
	*q = (struct quantities){ .directory = directory, .host = mem_copy(base->host), .ghz = base->ghz, .related = !why,
				  .lossy = f.lost > 0 };
	add(&w, QUANTITY_RUN, "run", NULL, false, findings_run_s(&f));
	add_scores(&w);
	if (why)
		trace_diagnose(trace, "%s: %s", why,
			       trace_records(trace) ? "only the run and scores are compared" : "nothing is compared with it");
	else
		add_relations(&w);
	sum_up(q);
	q->sound = trace->ndiagnostics == 0;
	findings_close(&f);
	return EXIT_FINE;
}

int quantities_open(struct quantities *q, const char *directory, struct trace *trace, const struct options *options)
{
	int status = quantities_found(q, directory, trace, options);
	for (size_t i = 0; status == EXIT_FINE && i < q->n && !q->sound; i++)
		q->v[i].value = (struct interval){ 0, INFINITY };
	return status;
}

void quantities_close(struct quantities *q)
{
	for (size_t i = 0; i < q->n; i++) {
		free(q->v[i].name);
		free(q->v[i].file);
	}
	free(q->v);
	free(q->host);
}

/* SPDX-License-Identifier: MIT
 *
 * diagnose.c - see diagnose.h. */
#include "analysis/diagnose/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/diagnose/bsp.h"
#include "analysis/diagnose/chain.h"
#include "analysis/diagnose/list_names.h"
#include "analysis/diagnose/master_worker_facts.h"
#include "analysis/diagnose/part_facts.h"
#include "analysis/diagnose/parts.h"
#include "analysis/diagnose/pattern.h"
#include "analysis/diagnose/rules.h"
#include "analysis/diagnose/task_pool.h"
#include "analysis/diagnose/tree.h"
#include "analysis/trace/names.h"
#include "analysis/trace/sched.h"

#define MILLION 1000000

/* The first one fits any program. */
#define GENERIC "generic"
#define BSP     "bsp"
#define POOL    "task-pool"

#define PARTS_ENOUGH 90 /* percent of all threads' time */
#define PARTS_LEAST  50 /* if they are less, a model of the whole run, or none, is better */

const char *const diagnosis_models[] = { GENERIC, "master-worker", "pipeline", "wavefront", "divide-conquer", BSP, POOL, NULL };

bool diagnosis_has_model(const char *name)
{
	for (size_t i = 0; diagnosis_models[i]; i++)
		if (strcmp(name, diagnosis_models[i]) == 0)
			return true;
	return false;
}

/* ---- What rules found ------------------------------------------------------------------------ */

static uint32_t site_of(const struct trace *trace, int64_t number, uint32_t otherwise)
{
	return number >= 0 && (uint64_t)number < trace->nsites ? (uint32_t)number : otherwise;
}

static uint32_t thread_of(const struct trace *trace, int64_t number)
{
	return number >= 0 && (uint64_t)number < trace->nthreads ? (uint32_t)number : UINT32_MAX;
}

/* Of a cost that cannot be one, as a rule may have it, nothing is known. */
static struct interval cost_of(struct expert *e, const struct expert_found *f)
{
	struct interval x = { expert_number(e, f, "cost-lo"), expert_number(e, f, "cost-hi") };
	x.lo = fmin(fmax(x.lo, 0), 100);
	x.hi = fmin(fmax(x.hi, 0), 100);
	return x.lo <= x.hi ? x : (struct interval){ 0, 100 };
}

static uint32_t percent_of(int64_t percent)
{
	return percent < 1 ? 1 : percent > 100 ? 100 : (uint32_t)percent;
}

static void take_finding(struct diagnosis *d, const struct trace *trace, struct expert *e, const struct expert_found *f,
			 size_t part)
{
	struct interval cost = cost_of(e, f);
	double least = expert_number(e, f, "least");
	if (!(cost.hi >= least && cost.hi > 0))
		return;
	*MEM_GROW(d->findings, d->nfindings) = (struct diagnosis_finding){
		.part = part, .cause = shown_copy(expert_text(e, f, "cause")), .what = shown_copy(expert_text(e, f, "what")),
		.suggestion = shown_copy(expert_text(e, f, "suggestion")), .cost = cost, .least = least,
		.proved = cost.lo >= least && cost.lo > 0 && strcmp(expert_text(e, f, "sure"), "yes") == 0 && !trace_lacks(trace),
		.site = site_of(trace, expert_count(e, f, "site"), TR_NO_SITE),
		.thread = thread_of(trace, expert_count(e, f, "thread")),
		.asked = strcmp(expert_text(e, f, "ask"), "yes") == 0,
		.ask_site = site_of(trace, expert_count(e, f, "ask-site"), TR_ALL_WORK),
		.ask_thread = thread_of(trace, expert_count(e, f, "ask-thread")),
		.ask_percent = percent_of(expert_count(e, f, "ask-percent")),
	};
}

static void forget_finding(struct diagnosis_finding *f)
{
	free(f->cause);
	free(f->what);
	free(f->suggestion);
}

static int by_cost(const void *a, const void *b)
{
	const struct diagnosis_finding *x = a, *y = b;
	double p = x->cost.lo + x->cost.hi, q = y->cost.lo + y->cost.hi;
	if (p != q)
		return p > q ? -1 : 1;
	int order = strcmp(x->cause, y->cause);
	return order ? order : (x->site > y->site) - (x->site < y->site);
}

static int by_level(const void *a, const void *b)
{
	const struct diagnosis_line *x = a, *y = b;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void take_answers(struct diagnosis *d, const struct trace *trace, struct expert *e, size_t part)
{
	for (struct expert_found f = { 0 }; expert_next(e, "finding", &f);)
		take_finding(d, trace, e, &f, part);
	for (struct expert_found f = { 0 }; expert_next(e, "explanation", &f);)
		*MEM_GROW(d->lines, d->nlines) =
			(struct diagnosis_line){ part, (int)expert_count(e, &f, "level"), expert_number(e, &f, "order"),
						 shown_copy(expert_text(e, &f, "text")) };
}

static void take_errors(struct diagnosis *d, const struct expert *e)
{
	char *before = d->printed;
	size_t n;
	char *const *errors = expert_errors(e, &n);
	for (size_t i = 0; i < n; i++)
		*MEM_GROW(d->errors, d->nerrors) = mem_copy(errors[i]);
	d->printed = mem_format("%s%s", before ? before : "", expert_printed(e));
	free(before);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static bool load_installed(struct expert *e, const char *name)
{
	char *file = rules_file(name, "clp");
	bool loaded = expert_load(e, file);
	free(file);
	return loaded;
}

/* Those of the user's come last, so that they may replace others. */
static bool load(struct expert *e, const char *model, const char *users)
{
	return load_installed(e, "facts") && load_installed(e, model) && (!users || expert_load(e, users));
}

/* ---- Models ---------------------------------------------------------------------------------- */

/* What is at hand while the graph is. */
struct patient {
	struct diagnosis *d;
	const struct graph *graph;
	const struct waits *waits;
	const struct call_profile *calls;
	const struct diagnosis_doubts *doubts;
	struct graph_last *last;
	const struct part *part;     /* of which it is, or NULL: of the whole run */
	size_t number;               /* of the part, from 1 on; or 0 */
	const char *model;
	struct pattern pattern;
	struct master_worker workers;
	struct chain chain;
	struct bsp bsp;
	struct task_pool pool;
	bool sought_pool, has_pool;
	struct neighbours neighbours;
	bool sought_neighbours, exchange; /* there are some */
	bool sought_supersteps, supersteps;
	char *no_supersteps;         /* why there are none; or NULL */
	struct facts facts;
	struct part_facts of_part;   /* if it is one that facts.h tells of */
};

/* NULL, and an error. */
static struct event_type *life_cycle(struct diagnosis *d)
{
	char *error = NULL, *file = rules_file("master-worker", "events"), *text = rules_text(file);
	struct event_type *type = text ? event_type_read(text, &error) : NULL;
	if (!type)
		*MEM_GROW(d->errors, d->nerrors) = mem_format("%s: %s", file, error ? error : "expected a file that can be read");
	free(error);
	free(text);
	free(file);
	return type;
}

static const struct steps_window *windows_of(const struct patient *p)
{
	return p->part ? p->part->windows : NULL;
}

static const char *find_workers(struct patient *p)
{
	struct event_type *type = life_cycle(p->d);
	bool tasks = type && master_worker_open(&p->workers, p->graph, p->last, type, p->pattern.role_of, windows_of(p));
	event_type_free(type);
	return tasks ? "master-worker" : NULL;
}

static const char *find_stages(struct patient *p)
{
	chain_open(&p->chain, p->graph, p->last, &p->pattern, p->calls,
		   p->part ? p->part->length : p->calls->span.length, windows_of(p));
	bool marked = p->chain.n > 0 && p->pattern.stage_of[p->pattern.order[0]] > 0;
	return marked && p->chain.n >= 2 ? "pipeline" : p->chain.n < 3 ? NULL : p->chain.same ? "wavefront" : "pipeline";
}

static bool any_region(const struct patient *p)
{
	const struct call_profile *calls = p->facts.calls;
	bool any = false;
	for (size_t i = 0; i < calls->nflat; i++)
		any |= tr_is(p->graph->trace, calls->flat[i].site, OP_REGION);
	return any;
}

/* Sought once. Roles that are marked say something else. */
static bool find_neighbours(struct patient *p)
{
	if (!p->sought_neighbours)
		p->exchange = !p->pattern.marked && p->pattern.shape != SHAPE_CHAIN &&
			      neighbours_open(&p->neighbours, p->graph, p->last, p->calls, p->part, BSP_LEAST - 1);
	p->sought_neighbours = true;
	return p->exchange;
}

/* Of a tree: who solves a part of a problem first gets it. */
static bool answers(const struct patient *p)
{
	return neighbours_answer(p->graph, p->calls, p->part);
}

/* Likewise. */
static bool find_supersteps(struct patient *p)
{
	if (!p->sought_supersteps)
		p->supersteps = bsp_open(&p->bsp, p->graph, p->last, p->calls, p->part,
					 find_neighbours(p) ? &p->neighbours : NULL, &p->no_supersteps);
	p->sought_supersteps = true;
	return p->supersteps;
}

/* Likewise. */
static bool find_pool(struct patient *p)
{
	if (!p->sought_pool)
		p->has_pool = task_pool_open(&p->pool, &p->facts, p->graph, p->last, p->part);
	p->sought_pool = true;
	return p->has_pool;
}

/* What does not say anything about messages, or NULL. */
static const char *fitting_anyway(struct patient *p, const char *asked)
{
	bool pool_first = asked && strcmp(asked, POOL) == 0 && find_pool(p);
	return pool_first ? POOL : find_supersteps(p) ? BSP : find_pool(p) ? POOL : NULL;
}

/* The model that fits the messages, or NULL. Neighbours may be a star or a tree; they are none if something else is asked for. */
static const char *fitting_model(struct patient *p, const char *asked)
{
	bool may_exchange = !asked || strcmp(asked, "auto") == 0 || strcmp(asked, BSP) == 0;
	if (p->pattern.shape != SHAPE_NONE && may_exchange && find_neighbours(p) && find_supersteps(p))
		return BSP;
	switch (p->pattern.shape) {
	case SHAPE_STAR: return find_workers(p);
	case SHAPE_CHAIN: return find_stages(p);
	case SHAPE_TREE:
		if (answers(p))
			return any_region(p) ? "divide-conquer" : NULL; /* or there are no phases */
		return fitting_anyway(p, asked);
	default: return p->pattern.contradiction ? NULL : fitting_anyway(p, asked);
	}
}

static const char *why_not(const struct patient *p, const char *asked)
{
	if (strcmp(asked, BSP) == 0)
		return p->no_supersteps;
	if (strcmp(asked, POOL) == 0)
		return "no two threads take one lock or wait for one condition again and again, and work in one region behind that";
	if (p->pattern.shape == SHAPE_TREE && strcmp(asked, "divide-conquer") == 0 && !answers(p))
		return "messages go along a tree, but two send each other some before either has got any";
	return strcmp(asked, "master-worker") == 0 && p->pattern.no_star ? p->pattern.no_star : p->pattern.why;
}

/* To be freed. */
static char *why_fits(const struct patient *p, const char *model)
{
	return strcmp(model, BSP) == 0  ? bsp_why(&p->bsp)
	     : strcmp(model, POOL) == 0 ? task_pool_why(&p->facts, &p->pool)
					: mem_copy(p->pattern.why);
}

/* The one that was asked for, if it fits; else the generic one. */
static void choose_model(struct patient *p, const char *asked)
{
	struct diagnosis *d = p->d;
	bool of_itself = !asked || strcmp(asked, "auto") == 0;
	d->model = GENERIC;
	if (!of_itself && strcmp(asked, GENERIC) == 0)
		return;
	pattern_open(&p->pattern, p->graph->trace, p->calls);
	const char *fits = !of_itself && strcmp(asked, BSP) == 0 && find_supersteps(p) ? BSP : fitting_model(p, asked);
	if (fits && (of_itself || strcmp(asked, fits) == 0)) {
		d->model = fits;
		d->why = why_fits(p, fits);
	} else if (of_itself && p->pattern.contradiction) {
		d->why = mem_copy(p->pattern.contradiction);
	} else if (!of_itself) {
		d->why = mem_format("%s does not fit: %s%s%s", asked, why_not(p, asked), fits ? "; what does is " : "",
				    fits ? fits : "");
	}
}

static void take_metrics(struct diagnosis *d, const struct facts *f, const struct model_metric *list, size_t n, size_t part)
{
	uint32_t base = f->times->time_base[f->trace->threads[0].clock];
	for (size_t i = 0; i < n; i++)
		*MEM_GROW(d->metrics, d->nmetrics) = (struct diagnosis_metric){
			part, list[i].thread, list[i].name, times_seconds(f->times, base, list[i].ticks),
			list[i].share, list[i].lost };
}

static void tell_workers(struct patient *p, struct expert *e)
{
	struct model_metric *list;
	size_t n = master_worker_metrics(&p->facts, &p->workers, &list);
	master_worker_tell(&p->facts, &p->workers, list, n, e);
	take_metrics(p->d, &p->facts, list, n, p->number);
	free(list);
}

static void tell_supersteps(struct patient *p, struct expert *e)
{
	struct model_metric *list;
	size_t n = bsp_metrics(&p->facts, &p->bsp, &list);
	bsp_tell(&p->facts, &p->bsp, e);
	take_metrics(p->d, &p->facts, list, n, p->number);
	free(list);
}

static void tell_pool(struct patient *p, struct expert *e)
{
	struct model_metric *list;
	size_t n = task_pool_metrics(&p->facts, &p->pool, &list);
	task_pool_tell(&p->facts, &p->pool, list, n, e);
	take_metrics(p->d, &p->facts, list, n, p->number);
	free(list);
}

static void tell(struct patient *p, struct expert *e)
{
	facts_tell(&p->facts, e);
	if (strcmp(p->model, GENERIC) == 0)
		return;
	if (strcmp(p->model, BSP) == 0)
		tell_supersteps(p, e);
	else if (strcmp(p->model, POOL) == 0)
		tell_pool(p, e);
	else if (p->pattern.shape == SHAPE_STAR)
		tell_workers(p, e);
	else if (p->pattern.shape == SHAPE_CHAIN)
		chain_tell(&p->facts, &p->chain, e);
	else
		tree_tell(&p->facts, p->graph, p->last, &p->pattern, windows_of(p), e);
}

/* Rules of its model, and the user's, if any. False: they cannot be used. */
static bool apply_rules(struct patient *p, const char *users)
{
	struct expert *e = expert_open();
	bool loaded = load(e, p->model, users);
	if (loaded && p->calls->nthreads > 0) {
		tell(p, e);
		expert_run(e);
		take_answers(p->d, p->graph->trace, e, p->number);
	}
	take_errors(p->d, e);
	expert_close(e);
	return loaded;
}

static void close_models(struct patient *p)
{
	master_worker_close(&p->workers);
	chain_close(&p->chain);
	bsp_close(&p->bsp);
	task_pool_close(&p->pool);
	neighbours_close(&p->neighbours);
	free(p->no_supersteps);
	part_facts_close(&p->of_part);
}

/* Those that take tasks, and for whom they wait then. */
static void find_in_pool(const struct task_pool *pool, uint32_t nthreads, bool *in)
{
	for (size_t i = 0; i < pool->n; i++)
		in[pool->workers[i].thread] = true;
	if (pool->feeder < nthreads)
		in[pool->feeder] = true;
}

/* Of each thread whether a model tells of it; to be freed. Of several models it is the first ones. */
static bool *find_in_model(const struct patient *p)
{
	const struct trace *trace = p->graph->trace;
	const struct pattern *shape = &p->pattern;
	bool bsp = strcmp(p->d->model, BSP) == 0, pool = strcmp(p->d->model, POOL) == 0, shaped = !bsp && !pool;
	bool several = strcmp(p->d->model, SEVERAL_MODELS) == 0;
	bool *in = mem_resize(NULL, trace->nthreads + 1, sizeof *in), *process = mem_resize(NULL, trace->nprocesses + 1, sizeof *process);
	for (size_t i = 0; i < trace->nprocesses; i++)
		process[i] = several || (shaped && shape->shape == SHAPE_STAR && shape->role_of[i] != ROLE_ANY);
	for (size_t i = 0; i < shape->n && shaped; i++)
		process[shape->order[i]] = true;
	for (size_t t = 0; t < trace->nthreads; t++)
		in[t] = trace->threads[t].number == 0 && process[trace->threads[t].process];
	for (size_t i = 0; i < p->bsp.n && bsp; i++)
		in[p->bsp.threads[i]] = true;
	if (pool)
		find_in_pool(&p->pool, (uint32_t)trace->nthreads, in);
	free(process);
	return in;
}

static bool all_are_in_model(const struct patient *p, const bool *in)
{
	for (uint32_t t = 0; t < p->graph->trace->nthreads; t++)
		if (p->graph->threads[t].nevents && !in[t])
			return false;
	return true;
}

/* The model's own rules have found the same, among the first so many. */
static bool is_found_again(const struct diagnosis *d, size_t first, const struct diagnosis_finding *f)
{
	bool again = false;
	for (size_t i = 0; i < first && !again; i++)
		again = d->findings[i].part == f->part && !strcmp(d->findings[i].cause, f->cause) && !strcmp(d->findings[i].what, f->what);
	return again;
}

/* What rules of the generic model find of other threads is kept. False: they cannot be used. */
static bool examine_others(struct patient *p, const bool *in)
{
	struct diagnosis *d = p->d;
	size_t kept = d->nfindings, first = kept, lines = d->nlines;
	p->model = GENERIC;
	bool loaded = apply_rules(p, NULL);
	for (size_t i = first; i < d->nfindings; i++) {
		struct diagnosis_finding f = d->findings[i];
		if (f.thread < p->graph->trace->nthreads && !in[f.thread] && !is_found_again(d, first, &f))
			d->findings[kept++] = f;
		else
			forget_finding(&f);
	}
	d->nfindings = kept;
	while (d->nlines > lines)
		free(d->lines[--d->nlines].text); /* how one comes to that is told of the model */
	return loaded;
}

/* A model is of what processes do with each other, by their first threads, or of threads that come together or take tasks. What others cost, and
 * processes that have nothing to do with it, is found by the generic one. */
static bool examine_other_threads(struct patient *p)
{
	bool *in = find_in_model(p), loaded = all_are_in_model(p, in) || examine_others(p, in);
	free(in);
	return loaded;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* To be freed. */
static char *who_is_in(const struct trace *trace, const struct part *part)
{
	char *names = NULL;
	for (size_t i = 0; i < list_names_shown(part->n); i++)
		names = list_names_add(names, i, part->n, name_of_process(trace, part->processes[i]).text);
	return list_names_end(names, part->n);
}

static struct patient patient_of_part(const struct patient *whole, const struct part *part, size_t number)
{
	return (struct patient){ .d = whole->d, .graph = whole->graph, .waits = whole->waits, .calls = &part->calls,
				 .doubts = whole->doubts, .last = whole->last, .part = part, .number = number,
				 .pattern = part->pattern };
}

/* `asked`: no other model, or NULL: any. */
static void examine_part(struct patient *p, const struct patient *whole, const struct parts *parts, const char *asked)
{
	part_facts_open(&p->of_part, &whole->facts, p->graph, p->last, parts, p->number - 1);
	p->facts = p->of_part.facts;
	p->model = fitting_model(p, asked);
	p->model = asked && p->model && strcmp(asked, p->model) != 0 ? NULL : p->model;
}

/* Percent of all threads' time in parts that have a model, at least. */
static double share_with_models(const struct patient *whole, const struct parts *parts, const struct patient *of)
{
	frz_time sum = { 0, 0 };
	for (size_t i = 0; i < parts->n; i++)
		if (of[i].model)
			sum = time_add(sum, time_times(parts->v[i].length, parts->v[i].n));
	return facts_share(&whole->facts, sum).lo;
}

static void note_part(struct diagnosis *d, const struct trace *trace, const struct patient *p)
{
	char *why = p->model ? why_fits(p, p->model) : mem_copy(p->pattern.why);
	*MEM_GROW(d->parts, d->nparts) =
		(struct diagnosis_part){ p->model, who_is_in(trace, p->part), why, p->part->begins, p->part->length };
}

/* Parts are better than one model of the run if some have another one, and if that fits, if they are nearly all. */
static bool are_better(const struct patient *whole, const struct parts *parts, const struct patient *of, const char *asked,
		       double share)
{
	const char *model = whole->d->model;
	bool fits = strcmp(model, GENERIC) != 0, other = false;
	for (size_t i = 0; i < parts->n; i++)
		other |= of[i].model && strcmp(of[i].model, model) != 0;
	return other && share >= (asked ? 1 : fits && strcmp(model, BSP) != 0 ? PARTS_ENOUGH : PARTS_LEAST);
}

static void take_parts(struct patient *whole, const struct parts *parts, struct patient *of, bool *loaded)
{
	for (size_t i = 0; i < parts->n; i++) {
		note_part(whole->d, whole->graph->trace, &of[i]);
		if (of[i].model && *loaded)
			*loaded = apply_rules(&of[i], NULL);
	}
	whole->d->model = SEVERAL_MODELS;
	free(whole->d->why);
	whole->d->why = mem_copy("no one fits all of the run, but parts of it have models of their own");
}

/* Each part by its model. `asked`: only parts with that one, or NULL. False: that is no better than one model of the whole run. */
static bool examine_parts(struct patient *whole, const char *asked, const char *users, bool *loaded)
{
	struct parts parts;
	parts_open(&parts, whole->graph, whole->calls);
	struct patient *of = mem_resize(NULL, parts.n + 1, sizeof *of);
	for (size_t i = 0; i < parts.n; i++) {
		of[i] = patient_of_part(whole, &parts.v[i], i + 1);
		examine_part(&of[i], whole, &parts, asked);
	}
	double share = share_with_models(whole, &parts, of);
	bool better = are_better(whole, &parts, of, asked, share);
	if (better)
		take_parts(whole, &parts, of, loaded);
	whole->model = GENERIC;
	if (better && *loaded && (users || share < PARTS_ENOUGH))
		*loaded = apply_rules(whole, users);
	else if (better && *loaded)
		*loaded = examine_other_threads(whole);
	for (size_t i = 0; i < parts.n; i++)
		close_models(&of[i]);
	free(of);
	parts_close(&parts);
	return better;
}

/* But where one model was asked for that fits the whole run. */
static bool may_have_parts(const struct patient *p, const char *asked)
{
	bool of_itself = !asked || strcmp(asked, "auto") == 0;
	if (p->calls->nthreads == 0 || (!of_itself && strcmp(asked, GENERIC) == 0))
		return false;
	return of_itself || (p->pattern.shape == SHAPE_NONE && strcmp(p->d->model, asked) != 0);
}

static void sort_answers(struct diagnosis *d)
{
	if (d->nfindings)
		qsort(d->findings, d->nfindings, sizeof *d->findings, by_cost);
	if (d->nlines)
		qsort(d->lines, d->nlines, sizeof *d->lines, by_level);
}

/* False: rules cannot be used. */
static bool examine(struct patient *p, const struct options *o)
{
	struct graph_last last;
	bool loaded = true, of_itself = !o->model || strcmp(o->model, "auto") == 0;
	graph_last_open(&last, p->graph);
	p->last = &last;
	p->facts = facts_of(p->graph, p->waits, p->calls, p->doubts);
	p->d->nthreads = p->calls->nthreads;
	choose_model(p, o->model);
	if (!may_have_parts(p, o->model) || !examine_parts(p, of_itself ? NULL : o->model, o->rules, &loaded)) {
		p->model = p->d->model;
		loaded = apply_rules(p, o->rules);
		if (loaded && strcmp(p->model, GENERIC) != 0)
			loaded = examine_other_threads(p);
	}
	sort_answers(p->d);
	graph_last_close(&last);
	pattern_close(&p->pattern);
	close_models(p);
	return loaded;
}

/* ---- What was not recorded ------------------------------------------------------------------- */

/* Seconds of a thread, or of all: at most blocked, or surely, and at most hidden. */
struct doubt_sum { double most, surely, hidden; };

static void add_doubt(struct doubt_sum *sum, const struct diagnosis_doubts *doubts, uint32_t thread)
{
	sum->most += doubts->most_s[thread];
	sum->surely += doubts->surely[thread] ? doubts->most_s[thread] : 0;
}

static struct doubt_sum doubt_sum_of(const struct diagnosis_doubts *doubts, const struct trace *trace)
{
	struct doubt_sum sum = { 0, 0, 0 };
	for (uint32_t i = 0; i < trace->nthreads; i++) {
		add_doubt(&sum, doubts, i);
		sum.hidden += doubts->blocked[i].hidden_s.hi;
	}
	return sum;
}

/* As long as a thread may have waited where it seems to have worked, all others may have waited for whom it waited for; and
 * whatever a thread did where it seems to wait, for that. A finding of no thread's own may be of any. */
static void doubt_finding(struct diagnosis_finding *f, const struct diagnosis_doubts *doubts, const struct trace *trace,
			  const struct doubt_sum *all, double run_s)
{
	double percent = run_s > 0 ? 100 / run_s * (1 + SCHED_NOMINAL_ERROR) : INFINITY;
	struct doubt_sum own = { 0, 0, 0 };
	if (f->thread < trace->nthreads)
		add_doubt(&own, doubts, f->thread);
	else
		own = *all;
	if (own.most + all->hidden > 0)
		f->proved &= f->cost.lo - (own.most + all->hidden) * percent >= f->least;
	if (own.surely + all->hidden > 0)
		f->cost.lo = fmax(0, f->cost.lo - (own.surely + all->hidden) * percent);
	if (all->surely + all->hidden > 0)
		f->cost.hi = fmin(100, f->cost.hi + (all->surely + all->hidden) * percent);
}

static void doubt(struct diagnosis *d, const struct graph *g, const struct diagnosis_doubts *doubts)
{
	const struct trace *trace = g->trace;
	double run_s = times_seconds(g->times, g->times->time_base[trace->threads[0].clock], d->span.length).lo;
	struct doubt_sum all = doubt_sum_of(doubts, trace);
	for (size_t i = 0; i < d->nfindings; i++)
		doubt_finding(&d->findings[i], doubts, trace, &all, run_s);
}

/* Whatever is wrong with the trace may change any of it. */
void diagnosis_prove_nothing(struct diagnosis *d)
{
	for (size_t i = 0; i < d->nfindings; i++)
		d->findings[i].proved = false;
}

static void forget_lines(struct diagnosis *d)
{
	for (size_t i = 0; i < d->nlines; i++)
		free(d->lines[i].text);
	for (size_t i = 0; i < d->nparts; i++) {
		free(d->parts[i].who);
		free(d->parts[i].why);
	}
	free(d->parts);
	free(d->lines);
	free(d->metrics);
	free(d->why);
	free(d->printed);
}

static void forget_findings(struct diagnosis *d)
{
	for (size_t i = 0; i < d->nfindings; i++)
		forget_finding(&d->findings[i]);
	free(d->findings);
}

/* What has no sites of its own may have marks, and outside of regions its threads work, or not. */
static const char *why_unknown(const struct graph *g)
{
	bool unmarked = false;
	for (size_t i = 0; i < g->trace->nprocesses; i++)
		unmarked |= g->trace->processes[i].marks_unknown;
	return g->nlosses ? "Records are missing" : unmarked ? "Places in the program are missing" : NULL;
}

/* Errors of rules are kept. */
static void find_nothing(struct diagnosis *d, const char *why)
{
	forget_findings(d);
	forget_lines(d);
	*d = (struct diagnosis){ .unknown = why, .span = d->span, .errors = d->errors, .nerrors = d->nerrors,
				 .printed = mem_copy("") };
}

/* ---- What it would buy ----------------------------------------------------------------------- */

static struct coz_location who_of(const struct trace *trace, uint32_t thread)
{
	if (thread == UINT32_MAX)
		return COZ_ALL;
	const struct tr_thread *t = &trace->threads[thread];
	bool ranked = t->rank >= 0;
	return (struct coz_location){ ranked ? t->rank : COZ_ANY, ranked ? COZ_ANY : (int64_t)trace->processes[t->process].pid,
				      t->number };
}

/* Of the most expensive findings: the others are not worth much. */
size_t diagnosis_asks(struct diagnosis *d, const struct trace *trace, struct profile_more *more)
{
	size_t n = 0;
	for (size_t i = 0; i < d->nfindings; i++) {
		struct diagnosis_finding *f = &d->findings[i];
		bool all_work = f->ask_site == TR_ALL_WORK;
		f->asked &= n < PROFILE_MORE && (all_work || tr_is(trace, f->ask_site, OP_REGION));
		if (f->asked)
			more[n++] = (struct profile_more){ f->ask_site, who_of(trace, f->ask_thread), f->ask_percent * MILLION };
	}
	return n;
}

void diagnosis_take(struct diagnosis *d, const struct profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < d->nfindings; i++) {
		if (!d->findings[i].asked)
			continue;
		d->findings[i].expected = p->more[n][COZ_EXPECTED];
		d->findings[i].bought = p->more[n++][COZ_PROVED];
	}
}

static void ask_coz(struct diagnosis *d, struct graph *g, const struct diagnosis_doubts *doubts)
{
	struct profile_more more[PROFILE_MORE];
	struct profile_request request = { .who = COZ_ALL, .graph = g, .more = more, .nmore = diagnosis_asks(d, g->trace, more),
					   .hidden = doubts->hidden, .polling_sleeps_s = doubts->polling_sleeps_s };
	struct profile p;
	if (!request.nmore)
		return;
	bool *none = mem_zeroed(g->trace->nsites + 1, sizeof *none);
	request.wanted = none;
	memcpy(request.open_s, doubts->open_s, sizeof request.open_s);
	profile_open(&p, g->trace, g->times, &request);
	diagnosis_take(d, &p);
	profile_close(&p);
	free(none);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool find(struct diagnosis *d, struct graph *g, const struct waits *waits, const struct call_profile *calls,
		 const struct diagnosis_doubts *doubts, const struct options *o)
{
	struct patient p = { .d = d, .graph = g, .waits = waits, .calls = calls, .doubts = doubts };
	*d = (struct diagnosis){ .span = graph_span(g) };
	bool loaded = examine(&p, o);
	if (g->trace->ndiagnostics > 0 || g->said.ndiagnostics > 0)
		diagnosis_prove_nothing(d);
	const char *unknown = why_unknown(g);
	if (unknown)
		find_nothing(d, unknown);
	if (loaded && d->nfindings) {
		d->if_work = doubts->if_work;
		doubt(d, g, doubts);
	}
	return loaded;
}

bool diagnosis_of_graph(struct diagnosis *d, struct graph *g, const struct waits *waits, const struct call_profile *calls,
			const struct diagnosis_doubts *doubts, const struct options *o)
{
	bool loaded = find(d, g, waits, calls, doubts, o);
	if (loaded)
		ask_coz(d, g, doubts);
	return loaded;
}

bool diagnosis_find(struct diagnosis *d, struct graph *g, const struct diagnosis_doubts *doubts, const struct options *o)
{
	struct waits waits;
	struct call_profile calls;
	waits_and_delays_of_graph(&waits, g);
	calls_of_graph(&calls, g, &waits);
	bool loaded = find(d, g, &waits, &calls, doubts, o);
	calls_close(&calls);
	waits_close(&waits);
	return loaded;
}

bool diagnosis_open(struct diagnosis *d, struct trace *trace, const struct times *times, const struct diagnosis_doubts *doubts,
		    const struct options *o)
{
	struct graph g;
	graph_open(&g, trace, times);
	bool loaded = diagnosis_find(d, &g, doubts, o);
	d->said = graph_take_said(&g);
	if (loaded)
		ask_coz(d, &g, doubts);
	graph_close(&g);
	return loaded;
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void diagnosis_close(struct diagnosis *d)
{
	forget_findings(d);
	forget_lines(d);
	free_texts(d->errors, d->nerrors);
	graph_said_close(&d->said);
}

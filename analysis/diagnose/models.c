/* SPDX-License-Identifier: MIT
 *
 * models.c - see models.h. */
#include "analysis/diagnose/models.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/diagnose/master_worker_facts.h"
#include "analysis/diagnose/rules.h"
#include "analysis/diagnose/tree.h"

static const struct diagnosis_model master_worker_model, pipeline_model, wavefront_model, divide_conquer_model, pool_model;

/* ---- Whether one fits ------------------------------------------------------------------------ */

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

static void find_in_shape(const struct patient *p, bool *threads);

/* Opened once. */
static void find_phase(struct patient *p)
{
	if (p->phase.threads)
		return;
	bool *threads = mem_zeroed(p->graph->trace->nthreads + 1, sizeof *threads);
	find_in_shape(p, threads);
	phase_open(&p->phase, p->graph, p->last, threads, p->pattern.role_of, windows_of(p));
	free(threads);
}

static bool find_workers(struct patient *p)
{
	struct event_type *type = life_cycle(p->d);
	bool tasks = type && master_worker_open(&p->workers, p->graph, p->last, type, p->pattern.role_of, windows_of(p));
	event_type_free(type);
	if (tasks)
		find_phase(p);
	return tasks;
}

static const struct diagnosis_model *find_stages(struct patient *p)
{
	find_phase(p);
	chain_open(&p->chain, p->graph, p->last, &p->pattern, &p->phase, p->calls,
		   p->part ? p->part->length : p->calls->span.length, windows_of(p));
	bool marked = p->chain.n > 0 && p->pattern.stage_of[p->pattern.order[0]] > 0;
	if (marked && p->chain.n >= 2)
		return &pipeline_model;
	return p->chain.n < 3 ? NULL : p->chain.same ? &wavefront_model : &pipeline_model;
}

/* Of a chain: what one does waits for what the one before does. Marks say so. */
static bool passes_on(const struct patient *p)
{
	return p->pattern.marked ||
	       neighbours_pass_on(p->graph, p->last, p->calls, p->part, p->pattern.order, p->pattern.n);
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
			      neighbours_open(&p->neighbours, p->graph, p->last, p->calls, p->part, 2);
	p->sought_neighbours = true;
	return p->exchange;
}

/* Of a star: whoever works asks for that, or else gets it first. Roles that are marked say something else. */
static bool begin_alike(const struct patient *p)
{
	uint32_t master = 0;
	while (master < p->graph->trace->nprocesses && p->pattern.role_of[master] != ROLE_MASTER)
		master++;
	return p->pattern.marked || neighbours_begin_alike(p->graph, p->calls, p->part, master);
}

/* Of a tree: who solves a part of a problem first gets it, and the problem has more parts than one. */
static bool answers(const struct patient *p)
{
	return neighbours_answer(p->graph, p->calls, p->part);
}

/* Likewise. */
bool model_has_supersteps(struct patient *p)
{
	if (!p->sought_supersteps)
		p->supersteps = bsp_open(&p->bsp, p->graph, p->last, p->calls, p->part,
					 find_neighbours(p) && p->neighbours.rounds >= BSP_LEAST - 1 ? &p->neighbours : NULL,
					 &p->no_supersteps);
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
static const struct diagnosis_model *fitting_anyway(struct patient *p, const struct diagnosis_model *asked)
{
	bool pool_first = asked == &pool_model && find_pool(p);
	return pool_first ? &pool_model : model_has_supersteps(p) ? &model_bsp : find_pool(p) ? &pool_model : NULL;
}

/* Neighbours may be a star or a tree; they are none if something else is asked for. */
const struct diagnosis_model *model_fitting(struct patient *p, const struct diagnosis_model *asked)
{
	bool may_exchange = !asked || asked == &model_bsp;
	if (p->pattern.shape != SHAPE_NONE && may_exchange && find_neighbours(p))
		return fitting_anyway(p, asked);
	switch (p->pattern.shape) {
	case SHAPE_STAR:
		if (asked == &master_worker_model || begin_alike(p))
			return find_workers(p) ? &master_worker_model : NULL;
		return fitting_anyway(p, asked);
	case SHAPE_CHAIN: return passes_on(p) ? find_stages(p) : fitting_anyway(p, asked);
	case SHAPE_TREE:
		if (answers(p))
			return any_region(p) ? &divide_conquer_model : NULL; /* or there are no phases */
		return fitting_anyway(p, asked);
	default: return p->pattern.contradiction ? NULL : fitting_anyway(p, asked);
	}
}

/* ---- Why, and why not ------------------------------------------------------------------------ */

static char *why_messages(const struct patient *p)
{
	return mem_copy(p->pattern.why);
}

static char *why_supersteps(const struct patient *p)
{
	return bsp_why(&p->bsp, p->graph->trace);
}

static char *why_pool(const struct patient *p)
{
	return task_pool_why(&p->facts, &p->pool);
}

static const char *no_chain(const struct patient *p)
{
	if (p->pattern.shape == SHAPE_CHAIN && !passes_on(p))
		return "messages go along a chain, but who is within it sends before it has got anything, or does little in between";
	return p->pattern.why;
}

static const char *no_star(const struct patient *p)
{
	return p->pattern.no_star ? p->pattern.no_star : p->pattern.why;
}

static const char *no_tree(const struct patient *p)
{
	if (p->pattern.shape == SHAPE_TREE && !answers(p))
		return "messages go along a tree, but nobody gives parts of a problem to two others and gets back what they find";
	return p->pattern.why;
}

static const char *no_supersteps(const struct patient *p)
{
	return p->no_supersteps;
}

static const char *no_pool(const struct patient *p)
{
	(void)p;
	return "no two threads take one lock or wait for one condition again and again, and work in one region behind that";
}

/* ---- What it tells --------------------------------------------------------------------------- */

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
	master_worker_tell(&p->facts, &p->workers, &p->phase, list, n, e);
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

static void tell_stages(struct patient *p, struct expert *e)
{
	chain_tell(&p->facts, &p->chain, &p->phase, e);
}

static void tell_tree(struct patient *p, struct expert *e)
{
	find_phase(p);
	p->in_tree = mem_zeroed(p->graph->trace->nsites + 1, sizeof *p->in_tree);
	tree_tell(&p->facts, p->graph, p->last, &p->pattern, &p->phase, windows_of(p), p->in_tree, e);
}

/* ---- Of which threads ------------------------------------------------------------------------ */

static void find_in_parts(const struct patient *p, bool *threads)
{
	for (size_t t = 0; t < p->graph->trace->nthreads; t++)
		threads[t] = p->graph->trace->threads[t].number == 0;
}

/* All that send or receive what the shape is of. */
static void find_in_shape(const struct patient *p, bool *threads)
{
	const struct trace *trace = p->graph->trace;
	const struct pattern *shape = &p->pattern;
	bool *process = mem_zeroed(trace->nprocesses, sizeof *process);
	for (size_t i = 0; i < trace->nprocesses; i++)
		process[i] = shape->shape == SHAPE_STAR && shape->role_of[i] != ROLE_ANY;
	for (size_t i = 0; i < shape->n; i++)
		process[shape->order[i]] = true;
	for (size_t t = 0; t < trace->nthreads; t++)
		threads[t] = trace->threads[t].number == 0 && process[trace->threads[t].process];
	free(process);
}

static void find_in_supersteps(const struct patient *p, bool *threads)
{
	for (size_t i = 0; i < p->bsp.n; i++)
		threads[p->bsp.threads[i]] = true;
}

/* Those that take tasks, and for whom they wait then. */
static void find_in_pool(const struct patient *p, bool *threads)
{
	for (size_t i = 0; i < p->pool.n; i++)
		threads[p->pool.workers[i].thread] = true;
	if (p->pool.feeder < p->graph->trace->nthreads)
		threads[p->pool.feeder] = true;
}

/* ---- And of what these do -------------------------------------------------------------------- */

static bool tells_of_stage(const struct patient *p, uint32_t thread, uint32_t site)
{
	return chain_tells_of(&p->chain, &p->phase, p->calls, thread, site);
}

/* All that the master does; and of a worker tasks, and what it does between them. */
static bool tells_of_worker(const struct patient *p, uint32_t thread, uint32_t site)
{
	return thread == p->workers.master || phase_at_home(&p->phase, thread, site);
}

/* Of all that threads do at the problem. */
static bool tells_of_problem(const struct patient *p, uint32_t thread, uint32_t site)
{
	(void)thread;
	return site >= p->graph->trace->nsites || p->in_tree[tr_row(p->graph->trace, site)];
}

/* ---- All of them ----------------------------------------------------------------------------- */

const struct diagnosis_model model_generic = { .name = "generic" };
const struct diagnosis_model model_bsp = { "bsp", why_supersteps, no_supersteps, tell_supersteps, find_in_supersteps, NULL };
const struct diagnosis_model model_several = { .name = SEVERAL_MODELS, .find_threads = find_in_parts };
static const struct diagnosis_model master_worker_model = { "master-worker", why_messages, no_star, tell_workers, find_in_shape,
							   tells_of_worker };
static const struct diagnosis_model pipeline_model = { "pipeline", why_messages, no_chain, tell_stages, find_in_shape,
						      tells_of_stage };
static const struct diagnosis_model wavefront_model = { "wavefront", why_messages, no_chain, tell_stages, find_in_shape,
						       tells_of_stage };
static const struct diagnosis_model divide_conquer_model = { "divide-conquer", why_messages, no_tree, tell_tree, find_in_shape,
							    tells_of_problem };
static const struct diagnosis_model pool_model = { "task-pool", why_pool, no_pool, tell_pool, find_in_pool, NULL };

static const struct diagnosis_model *const models[] = { &model_generic, &master_worker_model, &pipeline_model, &wavefront_model,
					      &divide_conquer_model, &model_bsp, &pool_model };

const char *diagnosis_model_name(size_t i)
{
	return i < sizeof models / sizeof *models ? models[i]->name : NULL;
}

const struct diagnosis_model *model_named(const char *name)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strcmp(name, models[i]->name) == 0)
			return models[i];
	return NULL;
}

bool diagnosis_has_model(const char *name)
{
	return model_named(name) != NULL;
}

void patient_close(struct patient *p)
{
	phase_close(&p->phase);
	free(p->in_tree);
	master_worker_close(&p->workers);
	chain_close(&p->chain);
	bsp_close(&p->bsp);
	task_pool_close(&p->pool);
	neighbours_close(&p->neighbours);
	free(p->no_supersteps);
	part_facts_close(&p->of_part);
}

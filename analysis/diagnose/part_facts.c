/* SPDX-License-Identifier: MIT
 *
 * part_facts.c - see part_facts.h. */
#include "analysis/diagnose/part_facts.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

struct part_sums {
	const struct graph *g;
	struct call_sums all, *of;   /* of each site: operations */
};

/* ---- What threads did in the part ------------------------------------------------------------ */

static void add_to(struct call_sums *sums, frz_time waited, frz_time transfer)
{
	sums->visits++;
	sums->waited = time_add(sums->waited, waited);
	sums->transfer = time_add(sums->transfer, transfer);
}

/* Where records are lost, who ended it may be among those. */
static void add_step(struct part_sums *p, const struct step *s)
{
	const struct event_step *is = &s->is;
	bool hidden = p->g->nlosses && s->site < p->g->trace->nsites;
	frz_time waited = hidden ? (frz_time){ is->waited.lo, is->took.hi } : is->waited;
	frz_time transfer = hidden ? (frz_time){ 0, is->transfer.hi } : is->transfer;
	if (is->kind == EVENT_WORK)
		return;
	add_to(&p->all, waited, transfer);
	if (s->site < p->g->trace->nsites)
		add_to(&p->of[s->site], waited, transfer);
}

static void add_thread(struct part_sums *p, struct graph_last *last, const struct part *part, uint32_t thread)
{
	struct steps_window w = steps_window_of(p->g, thread, part->windows);
	struct steps steps;
	steps_open(&steps, p->g, last, thread, part->pattern.role_of, part->windows);
	for (size_t i = 0; i < steps.n; i++)
		add_step(p, &steps.list[i]);
	steps_close(&steps);
	p->all.inclusive = time_add(p->all.inclusive, times_of_thread(p->g->times, thread, w.from, w.to));
}

/* ---- The profile ----------------------------------------------------------------------------- */

/* Of one operation: bytes as they are on average. */
static struct call_flat sums_of(const struct part_sums *p, const struct call_flat *run)
{
	struct call_flat flat = { .site = run->site, .spread.all = p->of[run->site] };
	struct call_sums *all = &flat.spread.all;
	const struct call_sums *of_run = &run->spread.all;
	all->uncaused = of_run->uncaused < all->transfer.hi ? of_run->uncaused : all->transfer.hi;
	all->bytes = of_run->visits ? (uint64_t)((double)of_run->bytes / (double)of_run->visits * (double)all->visits) : 0;
	return flat;
}

static void fill_flat(struct part_facts *f, const struct part_sums *p, const struct call_profile *run,
		      const uint32_t *part_of, size_t part)
{
	const struct trace *trace = p->g->trace;
	for (size_t i = 0; i < run->nflat; i++) {
		const struct call_flat *flat = &run->flat[i];
		bool region = tr_is(trace, flat->site, OP_REGION) && part_of[flat->site] == part + 1;
		if (flat->site >= trace->nsites || (!region && !p->of[flat->site].visits))
			continue;
		*MEM_GROW(f->calls.flat, f->calls.nflat) = region ? *flat : sums_of(p, flat);
	}
	for (size_t i = 0; i < run->neach; i++)
		if (tr_is(trace, run->each[i].site, OP_REGION) && part_of[run->each[i].site] == part + 1)
			*MEM_GROW(f->calls.each, f->calls.neach) = run->each[i];
}

/* The whole of its threads. */
static void fill_node(struct part_facts *f, const struct part_sums *p)
{
	struct call_node *node = MEM_GROW(f->calls.nodes, f->calls.nnodes);
	*node = (struct call_node){ .parent = CALL_ROOT, .site = TR_OUTSIDE, .spread.all = p->all };
	for (size_t i = 0; i < f->calls.nflat; i++)
		node->spread.all.uncaused = ticks_plus(node->spread.all.uncaused, f->calls.flat[i].spread.all.uncaused);
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void fill_waits(struct part_facts *f, const struct trace *trace, const struct waits *run, const uint32_t *part_of,
		       size_t part)
{
	f->waits = *run;
	f->waits.delays = NULL;
	f->waits.causes = NULL;
	f->waits.ndelays = f->waits.ncauses = 0;
	for (size_t i = 0; i < run->ndelays; i++)
		if (tr_is(trace, run->delays[i].site, OP_REGION) && part_of[run->delays[i].site] == part + 1)
			*MEM_GROW(f->waits.delays, f->waits.ndelays) = run->delays[i];
	for (size_t i = 0; i < run->ncauses; i++)
		if (tr_is(trace, run->causes[i].did, OP_REGION) && part_of[tr_row(trace, run->causes[i].did)] == part + 1)
			*MEM_GROW(f->waits.causes, f->waits.ncauses) = run->causes[i];
}

/* ---- All of it ------------------------------------------------------------------------------- */

void part_facts_open(struct part_facts *f, const struct facts *whole, const struct graph *g, struct graph_last *last,
		     const struct parts *parts, size_t part)
{
	const struct part *of = &parts->v[part];
	struct part_sums p = { .g = g, .of = mem_zeroed(g->trace->nsites + 1, sizeof *p.of) };
	*f = (struct part_facts){ .facts = *whole, .calls = *whole->calls };
	f->calls.nodes = NULL;
	f->calls.flat = NULL;
	f->calls.each = NULL;
	f->calls.nnodes = f->calls.nflat = f->calls.neach = 0;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (part_has(of, g->trace->threads[t].process) && g->threads[t].nevents)
			add_thread(&p, last, of, t);
	fill_flat(f, &p, whole->calls, parts->part_of, part);
	fill_node(f, &p);
	fill_waits(f, g->trace, whole->waits, parts->part_of, part);
	f->facts.calls = &f->calls;
	f->facts.waits = &f->waits;
	free(p.of);
}

void part_facts_close(struct part_facts *f)
{
	free(f->calls.nodes);
	free(f->calls.flat);
	free(f->calls.each);
	free(f->waits.delays);
	free(f->waits.causes);
}

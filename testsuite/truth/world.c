/* SPDX-License-Identifier: MIT
 *
 * world.c - see world.h. */
#include "testsuite/truth/world.h"

#include <math.h>
#include <stdlib.h>

#define BEGIN (INT64_C(1) << 48) /* packets come before */

/* ---- Clocks --------------------------------------------------------------------------------- */

/* 0.1 to 10 GHz, started up to some weeks apart. */
static struct clockmap draw_map(struct dice *d, const struct world_spec *spec, unsigned h)
{
	bool broken = spec->clock >= CLOCK_FIRST_BROKEN;
	int64_t end = BEGIN + llrint(spec->run_ns * WORLD_FINE);
	struct clock_spec w = {
		.kind = !broken || h == spec->broken ? spec->clock : CLOCK_AFFINE,
		.begin = BEGIN, .end = end,
		.own = (INT64_C(1) << 42) + roll_in(d, 0, INT64_C(1) << 52),
		.rate = roll_size(d, 0.1, 10) / WORLD_FINE,
		.wander_ppb = spec->ppb,
		.break_ticks = llrint(spec->break_ns * WORLD_FINE),
		.break_at = BEGIN + llrint((double)(end - BEGIN) * spec->break_at),
	};

	return clock_draw(d, &w);
}

/* ---- Packets -------------------------------------------------------------------------------- */

struct true_edge {
	struct world *w;
	struct dice *dice;
	struct true_delay path;
	unsigned asker, answerer;
	bool leads_to_base;
};

static void link_host(struct world *w, unsigned h, int64_t truth, int64_t stamp)
{
	struct linked *l = &w->linked[h];

	l->first = truth < l->first ? truth : l->first;
	l->last = truth > l->last ? truth : l->last;
	l->first_stamp = stamp < l->first_stamp ? stamp : l->first_stamp;
	l->last_stamp = stamp + 1 > l->last_stamp ? stamp + 1 : l->last_stamp;
	w->first = truth < w->first ? truth : w->first;
	w->last = truth > w->last ? truth : w->last;
}

static void add_link(struct world *w, unsigned from, int64_t sent, unsigned to, int64_t received)
{
	if (w->nlinks == w->room) {
		w->room = w->room ? 2 * w->room : 256;
		w->links = realloc(w->links, w->room * sizeof *w->links);
		if (!w->links)
			abort();
	}
	w->links[w->nlinks++] = (struct frz_link){ from, to, world_stamp(w, from, sent),
						   world_stamp(w, to, received) };
	link_host(w, from, sent, (int64_t)w->links[w->nlinks - 1].sent);
	link_host(w, to, received, (int64_t)w->links[w->nlinks - 1].received);
}

/* One question of a and its answer; when that is back. */
static int64_t exchange(struct true_edge *e, int64_t asked)
{
	int64_t there = delay_next(&e->path, e->dice, 0), back = delay_next(&e->path, e->dice, 1);
	int64_t answered = asked + there + roll_in(e->dice, 0, 200 * WORLD_FINE);
	int64_t *slack = &e->w->slack[e->answerer];

	add_link(e->w, e->asker, asked, e->answerer, asked + there);
	add_link(e->w, e->answerer, answered, e->asker, answered + back);
	if (e->leads_to_base && (*slack < 0 || there + back < *slack))
		*slack = there + back;
	return answered + back + roll_in(e->dice, 0, 500 * WORLD_FINE);
}

/* When the last answer is back. */
static int64_t burst(struct true_edge *e, unsigned n, int64_t at)
{
	for (unsigned i = 0; i < n; i++)
		at = exchange(e, at);
	return at;
}

struct true_edges { struct true_edge *edge; size_t n; };

static struct true_edges draw_edges(struct world *w, struct dice *d, const struct world_spec *spec)
{
	struct frz_edge *plan;
	struct true_edges e;

	if (frz_topology_edges(spec->topology, w->nhosts, &plan, &e.n))
		abort();
	e.edge = calloc(e.n + 1, sizeof *e.edge);
	if (!e.edge)
		abort();
	for (size_t i = 0; i < e.n; i++) {
		struct true_delay path = delay_draw(d, spec->delay, spec->floor_ns * WORLD_FINE);
		bool leads = plan[i].asker == 0 || spec->topology.shape == FRZ_TREE;

		e.edge[i] = (struct true_edge){ w, d, path, plan[i].asker, plan[i].answerer, leads };
	}
	free(plan);
	return e;
}

/* Bursts along all edges, in their order, each when its hosts are free; how long that took. */
static int64_t bursts(const struct true_edges *edges, unsigned n, int64_t at)
{
	const struct world *w = edges->edge[0].w;
	int64_t *free_at = calloc(w->nhosts, sizeof *free_at), end = at;

	if (!free_at)
		abort();
	for (size_t i = 0; i < edges->n; i++) {
		struct true_edge *e = &edges->edge[i];
		int64_t *a = &free_at[e->asker], *b = &free_at[e->answerer];

		*a = *b = burst(e, n, at + (*a > *b ? *a : *b)) - at;
		end = at + *a > end ? at + *a : end;
	}
	free(free_at);
	return end - at;
}

/* Some time before the program begins: first bursts may well be over then. */
static int64_t lead_time(const struct true_edges *edges, const struct world_spec *spec)
{
	double longest = 0;

	for (size_t i = 0; i < edges->n; i++)
		longest = fmax(longest,
			       edges->edge[i].path.floor[0] + edges->edge[i].path.floor[1]);
	return llrint(4 * (longest + 1000 * WORLD_FINE) * spec->first);
}

static void exchange_all(struct world *w, struct dice *d, const struct world_spec *spec)
{
	struct true_edges edges = draw_edges(w, d, spec);
	double apart = (double)(w->end - w->begin) / (spec->pauses + 1);

	if (edges.n)
		w->burst = bursts(&edges, spec->first, w->begin - lead_time(&edges, spec));
	for (unsigned i = 1; i <= spec->pauses; i++)
		for (size_t k = 0; k < edges.n; k++)
			burst(&edges.edge[k], spec->between, w->begin + llrint(apart * i));
	if (edges.n)
		bursts(&edges, spec->last, w->end);
	free(edges.edge);
}

/* ---- What may be assumed -------------------------------------------------------------------- */

static uint32_t needed_ppb(const struct world *w)
{
	uint32_t most = 0;

	for (unsigned h = 1; h < w->nhosts; h++) {
		const struct linked *l = &w->linked[h];

		if (l->first_stamp >= l->last_stamp)
			continue;
		uint32_t need = clockmap_need_ppb(&w->maps[h], &w->maps[0], l->first_stamp,
						  l->last_stamp);

		most = need > most ? need : most;
	}
	return most;
}

struct world world_draw(struct dice *d, const struct world_spec *spec)
{
	struct world w = { .nhosts = spec->nhosts, .begin = BEGIN, .first = INT64_MAX };

	w.end = BEGIN + llrint(spec->run_ns * WORLD_FINE);
	w.maps = calloc(w.nhosts, sizeof *w.maps);
	w.slack = calloc(w.nhosts, sizeof *w.slack);
	w.linked = calloc(w.nhosts, sizeof *w.linked);
	if (!w.maps || !w.slack || !w.linked)
		abort();
	for (unsigned h = 0; h < w.nhosts; h++)
		w.maps[h] = draw_map(d, spec, h);
	for (unsigned h = 0; h < w.nhosts; h++) {
		w.slack[h] = -1;
		w.linked[h] = (struct linked){ INT64_MAX, 0, INT64_MAX, 0 };
	}
	exchange_all(&w, d, spec);
	w.assumption.model = spec->model == WORLD_AFFINE ? FRZ_AFFINE : FRZ_DRIFT;
	if (spec->model == WORLD_DRIFT)
		w.assumption.ppb = spec->clock >= CLOCK_FIRST_BROKEN ? spec->ppb
								    : needed_ppb(&w);
	return w;
}

void world_free(struct world *w)
{
	for (unsigned h = 0; h < w->nhosts; h++)
		clockmap_free(&w->maps[h]);
	free(w->maps);
	free(w->links);
	free(w->slack);
	free(w->linked);
	*w = (struct world){ 0 };
}

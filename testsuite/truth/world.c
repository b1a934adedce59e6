/* SPDX-License-Identifier: MIT
 *
 * world.c - see world.h. */
#include "testsuite/truth/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN (INT64_C(1) << 48) /* packets come before */

static const char *const words[] = { [STAR] = "star", [TREE] = "tree", [MESH] = "mesh" };

const char *topology_word(enum topology t)
{
	return words[t];
}

enum topology topology_of(const char *word)
{
	int t = 0;

	while (t < TOPOLOGIES && strcmp(words[t], word) != 0)
		t++;
	return (enum topology)t;
}

/* ---- Clocks --------------------------------------------------------------------------------- */

/* 0.1 to 10 GHz, started up to some weeks apart. */
static struct clockmap draw_map(struct dice *d, const struct world_wish *wish, unsigned h)
{
	bool broken = wish->clock >= CLOCK_FIRST_BROKEN;
	int64_t end = BEGIN + llrint(wish->run_ns * WORLD_FINE);
	struct clock_wish w = {
		.kind = !broken || h == wish->broken ? wish->clock : CLOCK_AFFINE,
		.begin = BEGIN, .end = end,
		.own = (INT64_C(1) << 42) + roll_in(d, 0, INT64_C(1) << 52),
		.rate = roll_size(d, 0.1, 10) / WORLD_FINE,
		.wander_ppb = wish->ppb,
		.break_ticks = llrint(wish->break_ns * WORLD_FINE),
		.break_at = BEGIN + llrint((double)(end - BEGIN) * wish->break_at),
	};

	return clock_draw(d, &w);
}

/* ---- Packets -------------------------------------------------------------------------------- */

struct edge { struct world *w; struct dice *dice; struct delay path; unsigned a, b; };

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
	w->first = sent < w->first ? sent : w->first;
	w->last = received > w->last ? received : w->last;
}

/* One question of a and its answer; when that is back. */
static int64_t exchange(struct edge *e, int64_t asked)
{
	int64_t there = delay_next(&e->path, e->dice, 0), back = delay_next(&e->path, e->dice, 1);
	int64_t answered = asked + there + roll_in(e->dice, 0, 200 * WORLD_FINE);
	unsigned host = e->a > e->b ? e->a : e->b;

	add_link(e->w, e->a, asked, e->b, asked + there);
	add_link(e->w, e->b, answered, e->a, answered + back);
	if (!e->w->slack[host] || there + back < e->w->slack[host])
		e->w->slack[host] = there + back;
	return answered + back + roll_in(e->dice, 0, 500 * WORLD_FINE);
}

static int64_t burst(struct edge *e, unsigned n, int64_t at)
{
	int64_t begin = at;

	for (unsigned i = 0; i < n; i++)
		at = exchange(e, at);
	return at - begin;
}

static void edge(struct world *w, struct dice *d, const struct world_wish *wish, unsigned a, unsigned b)
{
	struct edge e = { w, d, delay_draw(d, wish->delay, wish->floor_ns * WORLD_FINE), a, b };
	double apart = (double)(w->end - w->begin) / (wish->pauses + 1);
	int64_t before = 2 * llrint((e.path.floor[0] + e.path.floor[1] + 1000 * WORLD_FINE) * wish->first);
	int64_t took = burst(&e, wish->first, w->begin - before);

	w->burst = took > w->burst ? took : w->burst;
	for (unsigned i = 1; i <= wish->pauses; i++)
		burst(&e, wish->between, w->begin + llrint(apart * i));
	burst(&e, wish->last, w->end);
}

/* In a mesh each host exchanges with those whose numbers differ from its own in one binary digit. */
static void all_edges(struct world *w, struct dice *d, const struct world_wish *wish)
{
	for (unsigned h = 1; h < w->nhosts; h++) {
		if (wish->topology == STAR)
			edge(w, d, wish, 0, h);
		if (wish->topology == TREE)
			edge(w, d, wish, (h - 1) / wish->branch, h);
		for (unsigned bit = 1; wish->topology == MESH && bit <= h; bit <<= 1)
			if (h & bit)
				edge(w, d, wish, h ^ bit, h);
	}
}

/* ---- What may be assumed -------------------------------------------------------------------- */

bool world_ends(const struct world *w, unsigned h, int64_t *first, int64_t *last)
{
	*first = INT64_MAX, *last = 0;
	for (size_t i = 0; i < w->nlinks; i++) {
		const struct frz_link *l = &w->links[i];
		int64_t x = l->from == h ? (int64_t)l->sent : (int64_t)l->received + 1;

		if (l->from != h && l->to != h)
			continue;
		*first = x < *first ? x : *first;
		*last = x > *last ? x : *last;
	}
	return *first < *last;
}

static uint32_t needed_ppb(const struct world *w, enum topology topology)
{
	uint32_t most = 0;

	for (unsigned h = 1; h < w->nhosts; h++) {
		const struct clockmap *m = &w->maps[h], *base = &w->maps[0];
		uint32_t need = clockmap_need_any_ppb(m, base);
		int64_t first, last;

		if (topology == STAR && world_ends(w, h, &first, &last))
			need = clockmap_need_ppb(m, base, first, last);
		most = need > most ? need : most;
	}
	return most;
}

struct world world_draw(struct dice *d, const struct world_wish *wish)
{
	struct world w = { .nhosts = wish->nhosts, .begin = BEGIN, .first = INT64_MAX };

	w.end = BEGIN + llrint(wish->run_ns * WORLD_FINE);
	w.maps = calloc(w.nhosts, sizeof *w.maps);
	w.slack = calloc(w.nhosts, sizeof *w.slack);
	if (!w.maps || !w.slack)
		abort();
	for (unsigned h = 0; h < w.nhosts; h++)
		w.maps[h] = draw_map(d, wish, h);
	all_edges(&w, d, wish);
	w.assumption.model = wish->model == WORLD_AFFINE ? FRZ_AFFINE : FRZ_DRIFT;
	if (wish->model == WORLD_DRIFT)
		w.assumption.ppb = wish->clock >= CLOCK_FIRST_BROKEN ? wish->ppb
								    : needed_ppb(&w, wish->topology);
	return w;
}

void world_free(struct world *w)
{
	for (unsigned h = 0; h < w->nhosts; h++)
		clockmap_free(&w->maps[h]);
	free(w->maps);
	free(w->links);
	free(w->slack);
	*w = (struct world){ 0 };
}

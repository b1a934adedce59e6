/* SPDX-License-Identifier: MIT
 *
 * rmat.c - the edges of a random graph, one after the other. */
#include "examples/common/rmat.h"

#include "examples/common/option.h"

error_t rmat_parse(int key, char *arg, struct argp_state *state, struct rmat *r)
{
	switch (key) {
	case 's': r->scale = option_number(state, "--scale", arg, 1, RMAT_MOST_SCALE); return 0;
	case 'e': r->edges = option_number(state, "--edges", arg, 1, 1000); return 0;
	case 'r': r->seed = option_number(state, "--seed", arg, 0, INT64_MAX); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* The random numbers of Steele, Lea and Flood's SplitMix. */
static uint64_t draw(struct rmat *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* One of the scale-bit numbers for each of them, none twice: both steps can be undone. */
static uint64_t mix(const struct rmat *r, uint64_t node)
{
	uint64_t mask = ((uint64_t)1 << r->scale) - 1;
	long half = (r->scale + 1) / 2;
	for (int round = 0; round < 3; round++) {
		node = (node * 0x9e3779b97f4a7c15 + 0x7f4a7c15) & mask;
		node ^= node >> half;
	}
	return node;
}

/* Each step of an edge takes 16 random bits: below 0.57 * 65536 top left, and so on. */
static void draw_edge(struct rmat *r, uint64_t *from, uint64_t *to)
{
	enum { A = 37356, AB = A + 12452, ABC = AB + 12452 };
	uint64_t bits = 0;
	*from = *to = 0;
	for (long step = 0; step < r->scale; step++) {
		bits = step % 4 ? bits >> 16 : draw(r);
		unsigned where = bits & 65535;
		*from = *from << 1 | (where >= AB);
		*to = *to << 1 | ((where >= A && where < AB) || where >= ABC);
	}
}

void rmat_begin(struct rmat *r)
{
	r->state = (uint64_t)r->seed;
}

struct edge rmat_next(struct rmat *r)
{
	uint64_t from, to;
	draw_edge(r, &from, &to);
	return (struct edge){ (uint32_t)mix(r, from), (uint32_t)mix(r, to) };
}

/* SPDX-License-Identifier: MIT
 *
 * rmat.h - the edges of a random graph, one after the other.
 *
 * R-MAT (Chakrabarti, Zhan, Faloutsos 2004): each edge falls into one quarter of the matrix, there
 * into one quarter of the quarter, and so on, `scale` times; the quarters have Graph500's
 * probabilities 0.57, 0.19, 0.19 and 0.05. So a few nodes have very many edges, most have few, some
 * have none. Ids are then mixed, so that those with many are not neighbours.
 *
 * Law: the same scale, edges and seed give the same edges everywhere: there is nothing in it but
 * arithmetic of integers modulo 2^64. */
#ifndef EXAMPLES_RMAT_H
#define EXAMPLES_RMAT_H

#include <argp.h>
#include <stdint.h>

#include "examples/common/edges.h"

struct rmat {
	long scale, edges, seed; /* 2^scale nodes, and as many edges for each of them */
	uint64_t state;          /* of the random numbers */
};

#define RMAT_MOST_SCALE 31

#define RMAT_USUAL ((struct rmat){ .scale = 16, .edges = 16, .seed = 1 })

/* Among a program's options, and in its parser: they change that. */
#define RMAT_OPTIONS                                                                               \
	{ "scale", 's', "N", 0, "2^N nodes, from 1 to 31 (16)", 0 },                                   \
	{ "edges", 'e', "N", 0, "as many edges for each node, from 1 to 1000 (16)", 0 },               \
	{ "seed", 'r', "N", 0, "of the random numbers (1)", 0 }
error_t rmat_parse(int key, char *arg, struct argp_state *state, struct rmat *r);

static inline uint64_t rmat_count(const struct rmat *r)
{
	return (uint64_t)r->edges << r->scale;
}

void rmat_begin(struct rmat *r);
struct edge rmat_next(struct rmat *r);

#endif

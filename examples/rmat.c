/* SPDX-License-Identifier: MIT
 *
 * rmat.c - writes a random graph, as large as you like, as SNAP's list of edges.
 *
 * R-MAT (Chakrabarti, Zhan, Faloutsos 2004): each edge falls into one quarter of the matrix, there
 * into one quarter of the quarter, and so on, `scale` times; the quarters have Graph500's
 * probabilities 0.57, 0.19, 0.19 and 0.05. So a few nodes have very many edges, most have few, some
 * have none. Ids are then mixed, so that those with many are not neighbours.
 *
 * Law: the same scale, edges and seed give the same file, byte for byte, everywhere: there is
 * nothing in it but arithmetic of integers modulo 2^64. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/option.h"

enum { MOST_SCALE = 31, DIGITS = 10, LINE = 2 * DIGITS + 2, BATCH = 4096 };

struct rmat {
	long scale, edges, seed;
	uint64_t state; /* of the random numbers */
};

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

/* The number's digits from *at on, which moves behind them. */
static void put_number(char **at, uint64_t number)
{
	char digits[DIGITS];
	int n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*(*at)++ = digits[--n];
}

static void write_edges(struct rmat *r)
{
	static char text[BATCH * LINE];
	uint64_t count = (uint64_t)r->edges << r->scale, from, to;
	printf("# R-MAT graph: scale %ld, %ld edges a node, seed %ld\n# FromNodeId\tToNodeId\n",
	       r->scale, r->edges, r->seed);
	while (count) {
		char *at = text;
		for (int i = 0; i < BATCH && count; i++, count--) {
			draw_edge(r, &from, &to);
			put_number(&at, mix(r, from));
			*at++ = '\t';
			put_number(&at, mix(r, to));
			*at++ = '\n';
		}
		if (!fwrite(text, (size_t)(at - text), 1, stdout))
			return;
	}
}

static const struct argp_option options[] = {
	{ "scale", 's', "N", 0, "2^N nodes, from 1 to 31 (16)", 0 },
	{ "edges", 'e', "N", 0, "as many edges for each node, from 1 to 1000 (16)", 0 },
	{ "seed", 'r', "N", 0, "of the random numbers (1)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct rmat *r = state->input;
	switch (key) {
	case 's': r->scale = option_number(state, "--scale", arg, 1, MOST_SCALE); return 0;
	case 'e': r->edges = option_number(state, "--edges", arg, 1, 1000); return 0;
	case 'r': r->seed = option_number(state, "--seed", arg, 0, INT64_MAX); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL, "Writes a random graph (R-MAT) as SNAP's list of edges.",
		NULL, NULL, NULL,
	};
	struct rmat r = { .scale = 16, .edges = 16, .seed = 1 };
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	r.state = (uint64_t)r.seed;
	write_edges(&r);
	if (!ferror(stdout) && !fclose(stdout))
		return 0;
	fprintf(stderr, "rmat: cannot write: %s\n", strerror(errno));
	return 1;
}

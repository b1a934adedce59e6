/* SPDX-License-Identifier: MIT
 *
 * topology.c - edges, and the earliest round in which both ends of each are free. */
#include "freezer/topology.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TREE "tree:"

int frz_topology_parse(const char *text, struct frz_topology *t)
{
	char *end;
	unsigned long branching;

	*t = (struct frz_topology){ .shape = FRZ_STAR };
	if (strcmp(text, "star") == 0)
		return 0;
	t->shape = FRZ_MESH;
	if (strcmp(text, "mesh") == 0)
		return 0;
	t->shape = FRZ_TREE;
	if (strncmp(text, TREE, strlen(TREE)) != 0)
		return -EINVAL;
	text += strlen(TREE);
	branching = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || branching < 1 || branching > UINT16_MAX)
		return -EINVAL;
	t->branching = (uint32_t)branching;
	return 0;
}

/* ---- Edges ------------------------------------------------------------------------------------*/

struct edges { struct frz_edge *edge; size_t n; };

static void add(struct edges *e, uint32_t asker, uint32_t answerer)
{
	e->edge[e->n++] = (struct frz_edge){ .asker = asker, .answerer = answerer };
}

static void join(struct edges *e, struct frz_topology t, uint32_t n)
{
	bool all = t.shape == FRZ_MESH && n <= FRZ_MESH_ALL;
	bool ring = t.shape == FRZ_MESH && !all;

	for (uint32_t h = 1; h < n; h++)
		add(e, t.shape == FRZ_TREE ? (h - 1) / t.branching : 0, h);
	for (uint32_t a = 1; all && a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			add(e, a, b);
	for (uint32_t h = 2; ring && h < n; h++)
		add(e, h - 1, h);
	if (ring)
		add(e, 1, n - 1);
}

/* ---- Rounds -----------------------------------------------------------------------------------*/

#define WORD 64u

/* One row of bits a host: the rounds in which it has a peer. Each host has fewer than n edges, so
 * fewer than 2n rounds are taken at the two ends of an edge. */
static uint32_t first_free(uint64_t *a, uint64_t *b)
{
	uint32_t word = 0;

	while (~(a[word] | b[word]) == 0)
		word++;
	uint32_t bit = (uint32_t)__builtin_ctzll(~(a[word] | b[word]));

	a[word] |= UINT64_C(1) << bit;
	b[word] |= UINT64_C(1) << bit;
	return word * WORD + bit;
}

static int assign_rounds(struct edges *e, uint32_t n)
{
	size_t words = 2 * (size_t)n / WORD + 1;
	uint64_t *taken = calloc(n, words * sizeof *taken);

	if (!taken)
		return -ENOMEM;
	for (size_t i = 0; i < e->n; i++)
		e->edge[i].round = first_free(&taken[e->edge[i].asker * words],
					      &taken[e->edge[i].answerer * words]);
	free(taken);
	return 0;
}

static int by_round(const void *left, const void *right)
{
	const struct frz_edge *a = left, *b = right;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return (a->asker > b->asker) - (a->asker < b->asker);
}

int frz_topology_edges(struct frz_topology t, uint32_t n, struct frz_edge **edges, size_t *nedges)
{
	size_t most = 2 * (size_t)n + FRZ_MESH_ALL * FRZ_MESH_ALL;
	struct edges e = { malloc(most * sizeof *e.edge), 0 };
	int error = -ENOMEM;

	if (e.edge) {
		join(&e, t, n);
		error = assign_rounds(&e, n);
	}
	if (error) {
		free(e.edge);
		return error;
	}
	qsort(e.edge, e.n, sizeof *e.edge, by_round);
	*edges = e.edge;
	*nedges = e.n;
	return 0;
}

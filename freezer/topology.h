/* SPDX-License-Identifier: MIT
 *
 * topology.h - which hosts exchange packets with which, and in what order.
 *
 *   star     host 0 asks every other host.
 *   tree:B   host h asks hosts B*h+1 to B*h+B: no host talks to more than B+1 others, and the
 *            widths on the way to host 0 add up.
 *   mesh     the star, and links that only ever tighten: with up to FRZ_MESH_ALL hosts all pairs,
 *            with more a ring through hosts 1, 2, ..., n-1.
 *
 * Law: the edges join all hosts, and no two of them the same pair; the asking host has the lower
 * number. Edges come in rounds: in one round each host has one peer at most, so that the pairs of a
 * round can measure at the same time without disturbing each other. A star of n hosts takes n-1
 * rounds, a tree at most B+1, however many hosts there are. */
#ifndef FREEZER_TOPOLOGY_H
#define FREEZER_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#define FRZ_MESH_ALL 5

struct frz_topology {
	enum { FRZ_STAR, FRZ_TREE, FRZ_MESH } shape;
	uint32_t branching; /* FRZ_TREE: at least 1 */
};

struct frz_edge { uint32_t asker, answerer, round; };

/* "star", "tree:B" or "mesh". 0 or -EINVAL. */
int frz_topology_parse(const char *text, struct frz_topology *);

/* All edges between hosts 0..n-1, round by round; the caller frees them. 0 or -ENOMEM. */
int frz_topology_edges(struct frz_topology, uint32_t n, struct frz_edge **edges, size_t *nedges);

#endif

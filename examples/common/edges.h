/* SPDX-License-Identifier: MIT
 *
 * edges.h - a list of edges in a file, as SNAP writes graphs.
 *
 * Each line has two ids of nodes, from and to, from 0 to 4294967295, separated by blanks; empty
 * lines and lines that begin with '#' say nothing. Ids need not be dense.
 *
 * Law: nodes are numbered from 0 without gap, in the order of their ids. */
#ifndef EXAMPLES_EDGES_H
#define EXAMPLES_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge {
	uint32_t from, to; /* numbers of nodes */
};

struct edge_list {
	size_t count, nodes;
	struct edge *edge; /* in the order of the file */
	uint32_t *id;      /* of each node */
};

/* Reads a file, plain or gzipped. False when it was refused; then why has been said on stderr.
 * Always to be freed. */
bool edges_read(struct edge_list *e, const char *name);
void edges_free(struct edge_list *e);

#endif

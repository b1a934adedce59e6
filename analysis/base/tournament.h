/* SPDX-License-Identifier: MIT
 *
 * tournament.h - what many leaves come to together, when few of them change at a time.
 *
 * A binary tree: nodes are numbered from 1, node i joins nodes 2i and 2i + 1, and leaf i is node n + i. Who uses it
 * owns the nodes; this says which of them to make anew. Joining is associative and commutative, since leaves of a
 * tree that is not full stand in no order.
 *
 * Law: after tournament_settle() node 1 joins all leaves.
 *
 * Cost: a change of a leaf is noted; settling joins at most log2 n nodes for each leaf that has changed, however often
 * it has, and never more than all. */
#ifndef ANALYSIS_TOURNAMENT_H
#define ANALYSIS_TOURNAMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tournament {
	size_t n;
	uint32_t *changed; size_t nchanged; /* leaves, each once */
	bool *is_changed;
};

/* All leaves are new. */
void tournament_open(struct tournament *, size_t n);
void tournament_close(struct tournament *);

static inline void tournament_change(struct tournament *t, size_t leaf)
{
	if (!t->is_changed[leaf])
		t->changed[t->nchanged++] = (uint32_t)leaf;
	t->is_changed[leaf] = true;
}

/* `leaf(of, i)` makes leaf i anew, `join(of, node)` a node of its children. */
static inline __attribute__((always_inline)) void
tournament_settle(struct tournament *t, void (*leaf)(void *, size_t), void (*join)(void *, size_t), void *of)
{
	bool many = t->nchanged > t->n / 4;
	while (t->nchanged > 0) {
		size_t i = t->changed[--t->nchanged];
		t->is_changed[i] = false;
		leaf(of, i);
		for (size_t node = (t->n + i) / 2; !many && node > 0; node /= 2)
			join(of, node);
	}
	for (size_t node = t->n; many && --node > 0;)
		join(of, node);
}

#endif

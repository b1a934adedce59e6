/* SPDX-License-Identifier: MIT
 *
 * merge.h - which of many sorted streams comes next.
 *
 * A tree of winners over (key, source): node i has the lesser of nodes 2i and 2i + 1, and the root the least. Unlike
 * in a heap (heap.h) each source has its leaf, so that a change goes one way up, with a comparison a level and
 * without a branch that cannot be foreseen: for merges in which every step changes a key.
 *
 * Law: merge_first() is the least of all (key, source). A source that was not set, or that has ended, has the key MERGE_OVER. */
#ifndef ANALYSIS_MERGE_H
#define ANALYSIS_MERGE_H

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/memory.h"

#define MERGE_OVER UINT64_MAX
struct merge { struct heap_item *nodes; size_t n; }; /* source i is node n + i */

static inline void merge_open(struct merge *m, size_t sources)
{
	for (m->n = 1; m->n < sources;)
		m->n *= 2;
	m->nodes = mem_resize(NULL, 2 * m->n, sizeof *m->nodes);
	for (size_t i = 2 * m->n; i-- > 0;)
		m->nodes[i] = i < m->n ? m->nodes[2 * i] : (struct heap_item){ MERGE_OVER, (uint32_t)(i - m->n) };
}

static inline void merge_close(struct merge *m)
{
	free(m->nodes);
}

/* Of a source that goes on, however late. */
static inline uint64_t merge_key(uint64_t key)
{
	return key < MERGE_OVER ? key : MERGE_OVER - 1;
}

static inline struct heap_item merge_first(const struct merge *m)
{
	return m->nodes[1];
}

static inline void merge_set(struct merge *m, uint32_t source, uint64_t key)
{
	size_t i = m->n + source;
	m->nodes[i].key = key;
	for (; i > 1; i /= 2) {
		const struct heap_item other = m->nodes[i ^ 1];
		/* Of equal keys the left one comes first: all sources below it are less. */
		bool loses = (other.key < key) | ((other.key == key) & (i & 1));
		key = loses ? other.key : key;
		source = loses ? other.source : source;
		m->nodes[i / 2] = (struct heap_item){ key, source };
	}
}

/* Of many at once: each is put, and then all are settled, before anything else is asked. */
static inline void merge_put(struct merge *m, uint32_t source, uint64_t key)
{
	m->nodes[m->n + source].key = key;
}

static inline void merge_settle(struct merge *m)
{
	for (size_t i = m->n; --i > 0;)
		m->nodes[i] = m->nodes[2 * i + 1].key < m->nodes[2 * i].key ? m->nodes[2 * i + 1] : m->nodes[2 * i];
}

/* The least key of all sources but one. */
static inline uint64_t merge_least_but(const struct merge *m, uint32_t source)
{
	uint64_t least = UINT64_MAX;
	for (size_t i = m->n + source; i > 1; i /= 2)
		least = m->nodes[i ^ 1].key < least ? m->nodes[i ^ 1].key : least;
	return least;
}

#endif

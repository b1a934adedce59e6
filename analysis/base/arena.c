/* SPDX-License-Identifier: MIT
 *
 * arena.c - see arena.h.
 *
 * The blocks are the nodes of a binary tree: the arena is node 1, the halves of node n are 2 n and 2 n + 1. Each node knows the
 * largest free block in it: 0, or 1 + log2 of how many times ARENA_LEAST that has. */
#include "analysis/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "analysis/base/memory.h"

#define HUGE_PAGE ((size_t)1 << 21)
#define LEAST     ((size_t)1 << 25)

struct arena {
	char *mapped; size_t nmapped;
	char *begin;
	unsigned whole;   /* of node 1 */
	uint8_t *largest; /* of each node */
};

static unsigned order_of(size_t bytes) /* of a block */
{
	return 1 + (unsigned)__builtin_ctzl(bytes / ARENA_LEAST);
}

size_t arena_block(size_t bytes)
{
	return bytes <= ARENA_LEAST ? ARENA_LEAST : (size_t)1 << (64 - __builtin_clzl(bytes - 1));
}

static void fill_tree(struct arena *a)
{
	for (size_t node = 1, order = a->whole; order > 0; order--)
		for (size_t end = 2 * node; node < end; node++)
			a->largest[node] = (uint8_t)order;
}

static bool map(struct arena *a, size_t bytes)
{
	a->nmapped = bytes + HUGE_PAGE;
	a->mapped = mmap(NULL, a->nmapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return a->mapped != MAP_FAILED;
}

struct arena *arena_open(size_t bytes)
{
	struct arena a;
	while (bytes >= LEAST && !map(&a, bytes))
		bytes /= 2;
	if (bytes < LEAST)
		return NULL;
	a.begin = a.mapped + (HUGE_PAGE - (uintptr_t)a.mapped % HUGE_PAGE);
	a.whole = order_of(bytes);
	a.largest = mem_zeroed(2 * (bytes / ARENA_LEAST), 1);
	fill_tree(&a);
	/* Not the first, which is all that a small trace needs of it; or none, where the kernel has none. */
	madvise(a.begin + HUGE_PAGE, bytes - HUGE_PAGE, MADV_HUGEPAGE);
	struct arena *opened = mem_resize(NULL, 1, sizeof *opened);
	*opened = a;
	return opened;
}

void arena_close(struct arena *a)
{
	if (!a)
		return;
	munmap(a->mapped, a->nmapped);
	free(a->largest);
	free(a);
}

static uint8_t larger(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* Of all around a node that was taken or given. */
static void update(struct arena *a, size_t node, unsigned order)
{
	while (node > 1) {
		node /= 2;
		uint8_t left = a->largest[2 * node], right = a->largest[2 * node + 1];
		bool is_free = left == order && right == order;
		a->largest[node] = is_free ? (uint8_t)(order + 1) : larger(left, right);
		order++;
	}
}

void *arena_take(struct arena *a, size_t bytes)
{
	size_t block = arena_block(bytes), node = 1;
	unsigned order = order_of(block), at = a->whole;
	if (a->largest[1] < order)
		return NULL;
	for (; at > order; at--) {
		uint8_t left = a->largest[2 * node], right = a->largest[2 * node + 1];
		bool takes_right = left < order || (right >= order && right < left);
		node = 2 * node + takes_right;
	}
	a->largest[node] = 0;
	update(a, node, order);
	return a->begin + (node << (order - 1)) * ARENA_LEAST - ((size_t)ARENA_LEAST << (a->whole - 1));
}

void arena_give(struct arena *a, void *block, size_t bytes)
{
	unsigned order = order_of(arena_block(bytes));
	size_t node = (((size_t)1 << (a->whole - 1)) + (size_t)((char *)block - a->begin) / ARENA_LEAST) >> (order - 1);
	a->largest[node] = (uint8_t)order;
	update(a, node, order);
}

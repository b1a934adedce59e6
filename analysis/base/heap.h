/* SPDX-License-Identifier: MIT
 *
 * heap.h - which of a few sources comes next.
 *
 * A binary heap of (key, source). The merge of sorted streams changes only the key of the first one, so
 * that is the one operation beside adding and removing it. Of equal keys the lesser source comes first: the order
 * depends on nothing but the keys. */
#ifndef ANALYSIS_HEAP_H
#define ANALYSIS_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct heap_item { uint64_t key; uint32_t source; };
struct heap { struct heap_item *items; size_t count; };

/* Signed keys in the order of unsigned ones. */
static inline uint64_t heap_key(int64_t signed_key)
{
	return (uint64_t)signed_key ^ (UINT64_C(1) << 63);
}

static inline int heap_before(const struct heap_item *x, const struct heap_item *y)
{
	return (x->key < y->key) | ((x->key == y->key) & (x->source < y->source));
}

static inline void heap_sink(struct heap *h, size_t at)
{
	struct heap_item moved = h->items[at];
	for (size_t child; (child = 2 * at + 1) < h->count; at = child) {
		if (child + 1 < h->count && heap_before(&h->items[child + 1], &h->items[child]))
			child++;
		if (!heap_before(&h->items[child], &moved))
			break;
		h->items[at] = h->items[child];
	}
	h->items[at] = moved;
}

/* The caller has made room. */
static inline void heap_add(struct heap *h, uint64_t key, uint32_t source)
{
	struct heap_item added = { key, source };
	size_t at = h->count++;
	for (; at > 0 && heap_before(&added, &h->items[(at - 1) / 2]); at = (at - 1) / 2)
		h->items[at] = h->items[(at - 1) / 2];
	h->items[at] = added;
}

static inline void heap_replace_first(struct heap *h, uint64_t key, uint32_t source)
{
	h->items[0] = (struct heap_item){ key, source };
	heap_sink(h, 0);
}

static inline void heap_change_first(struct heap *h, uint64_t key)
{
	heap_replace_first(h, key, h->items[0].source);
}

/* Whether the first source would come before all others with this key, whatever its number. */
static inline int heap_stays_first(const struct heap *h, uint64_t key)
{
	return !(h->count > 1 && h->items[1].key <= key) && !(h->count > 2 && h->items[2].key <= key);
}

static inline void heap_remove_first(struct heap *h)
{
	h->items[0] = h->items[--h->count];
	if (h->count > 0)
		heap_sink(h, 0);
}

#endif

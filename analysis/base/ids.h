/* SPDX-License-Identifier: MIT
 *
 * ids.h - from the numbers that a text gives to things to their places in an array.
 *
 * Law: the n-th number that is added has place n. Numbers that are their own places are found at
 * once. */
#ifndef ANALYSIS_IDS_H
#define ANALYSIS_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ids {
	uint64_t *id;            /* of each place */
	size_t n;
	size_t *slot, room;      /* open hash table of places + 1; room is a power of two */
};

/* False when it is there already. */
bool ids_add(struct ids *, uint64_t id);

/* SIZE_MAX when it is not there. */
size_t ids_find(const struct ids *, uint64_t id);
void ids_free(struct ids *);

/* One number for two. */
static inline uint64_t ids_mix(uint64_t a, uint64_t b)
{
	return (a ^ b >> 32) * UINT64_C(0x9e3779b97f4a7c15) ^ b * UINT64_C(0xbf58476d1ce4e5b9);
}

#endif

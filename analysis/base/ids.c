/* SPDX-License-Identifier: MIT
 *
 * ids.c - see ids.h. */
#include "analysis/base/ids.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

/* From the upper bits of the product, on which all bits of the id bear: there are ids that differ in their upper ones. */
static size_t *probe(const struct ids *ids, uint64_t id)
{
	size_t i = id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - __builtin_ctzll(ids->room));
	while (ids->slot[i] && ids->id[ids->slot[i] - 1] != id)
		i = (i + 1) & (ids->room - 1);
	return &ids->slot[i];
}

static void make_room(struct ids *ids)
{
	if (2 * ids->n < ids->room)
		return;
	ids->room = ids->room ? 2 * ids->room : 16;
	ids->slot = mem_resize(ids->slot, ids->room, sizeof *ids->slot);
	memset(ids->slot, 0, ids->room * sizeof *ids->slot);
	for (size_t i = 0; i < ids->n; i++)
		*probe(ids, ids->id[i]) = i + 1;
}

bool ids_add(struct ids *ids, uint64_t id)
{
	make_room(ids);
	size_t *slot = probe(ids, id);
	if (*slot)
		return false;
	*MEM_GROW(ids->id, ids->n) = id;
	*slot = ids->n;
	return true;
}

size_t ids_find(const struct ids *ids, uint64_t id)
{
	if (id < ids->n && ids->id[id] == id)
		return (size_t)id;
	return ids->room ? *probe(ids, id) - 1 : SIZE_MAX;
}

void ids_free(struct ids *ids)
{
	free(ids->id);
	free(ids->slot);
}

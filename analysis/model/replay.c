/* SPDX-License-Identifier: MIT
 *
 * replay.c - see replay.h. Nearly every exit is that of the innermost entry. When one is not, and its enter is not near
 * either, the entries of each site are counted from then on, so that an exit that belongs to nothing need not look at
 * all of them. */
#include "analysis/model/replay.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

#define NEAR 16 /* entries */

void replay_open(struct replay *r, size_t nsites)
{
	*r = (struct replay){ .nsites = nsites };
}

void replay_close(struct replay *r)
{
	free(r->entry);
	free(r->open);
}

void replay_grow(struct replay *r)
{
	r->room = r->room ? 2 * r->room : 16;
	r->entry = mem_resize(r->entry, r->room, sizeof *r->entry);
}

static uint32_t *open_of(const struct replay *r, uint32_t site)
{
	return &r->open[site < r->nsites ? site : r->nsites];
}

void replay_count(struct replay *r, size_t from, size_t to, uint32_t by)
{
	for (size_t i = from; i < to; i++)
		*open_of(r, r->entry[i].site) += by;
}

static void count_open(struct replay *r)
{
	r->open = mem_zeroed(r->nsites + 1, sizeof *r->open);
	replay_count(r, 0, r->depth, 1);
}

size_t replay_find(struct replay *r, uint32_t site)
{
	for (size_t n = 1; n <= r->depth; n++) {
		if (r->entry[r->depth - n].site == site)
			return n;
		if (n < NEAR)
			continue;
		if (!r->open)
			count_open(r);
		if (!*open_of(r, site))
			return 0;
	}
	return 0;
}

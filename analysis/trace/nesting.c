/* SPDX-License-Identifier: MIT
 *
 * nesting.c - see nesting.h. The count of open entries of each site keeps an exit that belongs
 * to nothing from searching the whole stack. */
#include "analysis/trace/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

void nest_begin(struct nesting *n, size_t nsites)
{
	*n = (struct nesting){ .nsites = nsites };
	n->open = mem_resize(NULL, nsites + 1, sizeof *n->open);
	memset(n->open, 0, (nsites + 1) * sizeof *n->open);
}

void nest_end(struct nesting *n)
{
	free(n->entry);
	free(n->open);
}

static size_t *open_of(const struct nesting *n, uint32_t site)
{
	return &n->open[site < n->nsites ? site : n->nsites];
}

void nest_enter(struct nesting *n, struct nest_entry entry)
{
	if (n->depth == n->room) {
		n->room = n->room ? 2 * n->room : 16;
		n->entry = mem_resize(n->entry, n->room, sizeof *n->entry);
	}
	n->entry[n->depth++] = entry;
	++*open_of(n, entry.site);
}

size_t nest_exit(const struct nesting *n, uint32_t site)
{
	size_t count = 1;
	if (!*open_of(n, site))
		return 0;
	while (n->entry[n->depth - count].site != site)
		count++;
	return count;
}

struct nest_entry nest_pop(struct nesting *n)
{
	struct nest_entry entry = n->entry[--n->depth];
	--*open_of(n, entry.site);
	return entry;
}

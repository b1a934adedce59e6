/* SPDX-License-Identifier: MIT
 *
 * nesting.h - which enter an exit belongs to.
 *
 * Law: an exit belongs to the innermost open enter of the same site. What is open inside of that
 * was left without an exit (longjmp, for instance); an exit whose site is not open belongs to
 * nothing. */
#ifndef ANALYSIS_NESTING_H
#define ANALYSIS_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nest_entry {
	uint32_t site;
	uint64_t stamp;
	size_t record;           /* the number of the enter, as cursors count events */
};

struct nesting {
	struct nest_entry *entry;
	size_t depth, room;
	size_t *open;            /* for each site, and one more for all sites that are not known */
	size_t nsites;
};

void nest_begin(struct nesting *, size_t nsites);
void nest_end(struct nesting *);

void nest_enter(struct nesting *, struct nest_entry);

/* How many entries to pop: the last one popped is the exit's own. 0 when it has none. */
size_t nest_exit(const struct nesting *, uint32_t site);
struct nest_entry nest_pop(struct nesting *);

#endif

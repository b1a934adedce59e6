/* SPDX-License-Identifier: MIT
 *
 * network.h - the clocks of a job, the links between them, and what they tell each other.
 *
 * What a link says of one of its clocks depends on when the other clock's end of it was: at or
 * after `since` if the other clock sent, at or before `until` if it received. Of the base that is
 * known exactly. Any other clock *tells* it, for all links at once, from its own bounds; until then
 * nothing is known and the link says nothing. What is told is never taken back but as a whole, and
 * only ever replaced by something tighter: two bounds that are both true hold both. */
#ifndef FREEZER_NETWORK_H
#define FREEZER_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "freezer/link.h"
#include "freezer/solved.h"

struct network {
	uint32_t nclocks, base;
	const struct frz_link *links;
	size_t nlinks;
	struct link_end { uint64_t stamp; size_t link; } *ends; /* of each clock, by its own stamp */
	size_t *first;  /* of clock c: ends[first[c]] .. ends[first[c + 1] - 1] */
	struct told { int64_t since, until; } *told; /* of each link, in base ticks */
	struct point *points; /* room for those of any one clock */
};

/* 0, -EINVAL (a clock number out of range) or -ENOMEM. The links must outlive it. */
int network_open(struct network *, uint32_t nclocks, uint32_t base, const struct frz_link *links,
		 size_t nlinks);
void network_close(struct network *);

struct stretch { uint64_t first, last; }; /* empty if first > last */

/* What links say of a clock by now; good until the next call. */
struct evidence network_evidence(const struct network *, uint32_t clock);

/* A clock tells its neighbours what it knows, but of stamps from silent.first to silent.last.
 * `learns` is called for each that learns something that is worth another look. */
void network_tell(struct network *, uint32_t clock, struct frz_cursor, struct stretch silent,
		  void (*learns)(void *context, uint32_t clock), void *context);

/* The stamp of clock `c` on a link. */
static inline uint64_t network_stamp(const struct network *n, size_t link, uint32_t c)
{
	return n->links[link].from == c ? n->links[link].sent : n->links[link].received;
}

/* Forgets all that was told. */
void network_forget(struct network *);

/* The clock at the other end of the link. */
static inline uint32_t network_other(const struct network *n, const struct link_end *e,
				     uint32_t clock)
{
	return n->links[e->link].from == clock ? n->links[e->link].to : n->links[e->link].from;
}

#endif

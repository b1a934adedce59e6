/* SPDX-License-Identifier: MIT
 *
 * conditions.h - which of a query's atoms are true of one thread, over time.
 *
 * A *mask* has a bit for each atom that is true. A condition is the set of masks that are
 * possible: a few state sets, each of all masks between `must` and `may`. Stretches follow each other
 * without gaps, from PERIOD_BEFORE to PERIOD_AFTER, and neighbours have different conditions; so
 * an event that changes no atom is no change.
 *
 * Law: the true mask at any moment is in the condition of the stretch in which the moment falls.
 * What is not known, and from when on, is as in states.h: after a loss, at a site that cannot be
 * found, at the end of a thread that was inside of something. */
#ifndef ANALYSIS_CONDITIONS_H
#define ANALYSIS_CONDITIONS_H

#include "analysis/states/query.h"

#define CONDITION_SETS 4

struct state_set { uint32_t must, may; };
struct condition {
	unsigned count;                       /* of state sets, at least 1 */
	struct state_set set[CONDITION_SETS]; /* in ascending order, all different */
};

/* All masks of both, and perhaps some more. */
struct condition condition_join(struct condition, const struct condition *);

/* One state set around all of it. */
struct state_set condition_hull(const struct condition *);

/* What each site means for the atoms of a query; made once for all threads. */
struct atom_map {
	const struct query *query;
	uint32_t *in, *at;     /* of each site: bits that it sets, for any instance */
	bool *instances;       /* there are atoms of it for one instance */
	uint32_t all_in, all_at, working, waiting, alive; /* the bits of each sort */
};

void atom_map_open(struct atom_map *, const struct query *);
void atom_map_close(struct atom_map *);

struct condition_stretch {
	uint64_t from, to;     /* stamps, or PERIOD_BEFORE, PERIOD_AFTER */
	struct condition condition;
};

struct mask_entry {
	struct state_set in, now; /* of "in" alone; and of "at", too, while it is the innermost */
};

struct conditions {
	const struct atom_map *map;
	uint8_t also;          /* of this thread: query.h */
	struct states states;  /* says who works and who waits, and when anything changes */
	struct mask_entry *inside; /* each entry of their replay */
	size_t room;
	struct mask_entry bottom;
	bool begun, ended;
	struct condition_stretch now; /* that is being put together */
};

void conditions_open(struct conditions *, const struct atom_map *, size_t thread);
bool conditions_next(struct conditions *, struct condition_stretch *);
void conditions_close(struct conditions *);

#endif

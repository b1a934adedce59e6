/* SPDX-License-Identifier: MIT
 *
 * graph_presumed.h - what has most likely ended a wait of which no record says what did. */
#ifndef ANALYSIS_GRAPH_PRESUMED_H
#define ANALYSIS_GRAPH_PRESUMED_H

#include "analysis/graph/graph_private.h"

/* Sleeps at one site with nothing in between but looks, with a lock or at descriptors: the first ENTER, the end, and that of the
 * one before the last. */
struct sleeps {
	struct event_ref first, exit;
	uint64_t before;
	uint32_t site, n;
	bool until;               /* each lasts until a moment */
	bool between_looks;       /* for something that was found then */
	bool waits;               /* they may be a wait, and what it takes in between it gives back there; */
	bool holds;               /* not yet, this lock */
	struct looked_lock lock;
	size_t unknown;           /* of the builder's, and 1; or 0 */
};

#define MANY_SLEEPS 3
#define SOME_SLEEPS 2 /* until moments */

struct sleep_records { struct sleeps *v; size_t n; }; /* of so many */

/* First the sleeps that may be waits, before graph_locks(); then all waits, behind all others. */
struct sync_records;
struct moment_records; /* from which those are taken that are parts of such waits */
void graph_sleeps(struct builder *, struct sleep_records *, struct sync_records *, struct moment_records *);
void graph_presumed(struct builder *, const struct sync_records *);

#endif

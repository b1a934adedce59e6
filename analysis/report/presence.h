/* SPDX-License-Identifier: MIT
 *
 * presence.h - what the reader must know of threads that are not always there: said as notes of the
 * trace, one note each however many threads there are. */
#ifndef ANALYSIS_PRESENCE_H
#define ANALYSIS_PRESENCE_H

#include "analysis/states/totals.h"

/* Threads of which it is unknown what they did after their last record: inside of what. */
void say_open_ends(struct trace *, const struct totals *);

/* Threads that recorded nothing, where others did. Who joined threads of which nothing was recorded, or had something done
 * elsewhere that was not. */
void say_unrecorded(struct trace *);

/* Threads that are never in the region that --work names, or where --wait says. */
void say_absent(struct trace *, const struct totals *, const struct options *);

/* Threads beside the first of their process that synchronise with others but never work, where others do. */
void say_unmarked(struct trace *, const struct totals *, const struct options *);

/* Threads that wait, but begin late, or of which it is not known whether they end early; no thread surely is alone before
 * and after. */
void say_partly_there(struct trace *, const struct totals *, const struct times *,
		      const struct span *spans);

#endif

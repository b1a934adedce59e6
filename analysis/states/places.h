/* SPDX-License-Identifier: MIT
 *
 * places.h - where the threads of a participant work, of any stretch of time.
 *
 * A period has one site, in which it was longest. What others wait for is often not all of it: a thread that works in two
 * regions, one behind the other, is alone only in the last one. So of each period of work that is in several places these
 * are kept (periods.h), and looked up for the stretches that are asked for.
 *
 * Cost: where all periods of a participant have one place nothing is looked up; elsewhere its periods are read once more. */
#ifndef ANALYSIS_PLACES_H
#define ANALYSIS_PLACES_H

#include "analysis/states/timeline.h"

struct places; /* of all participants */

struct places *places_open(const struct trace *, const struct periods *, const struct participants *);
void places_close(struct places *);

/* Whether any of its periods of work has several places. */
bool places_several(const struct places *, uint32_t participant);

/* Gives each place, as often as there is something, between two stamps of its clock, and not before those that were asked
 * for last. */
typedef void places_give(void *to, uint32_t site, uint64_t ticks);
void places_between(struct places *, uint32_t participant, uint64_t from, uint64_t to, places_give *, void *give_to);

#endif

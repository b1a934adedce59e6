/* SPDX-License-Identifier: MIT
 *
 * burst.h - when a burst of exchanges has seen enough.
 *
 * The width that a burst gives is the fastest packet there plus the fastest packet back, once the
 * other clock's rate is taken out. It is looked at whenever the number of exchanges has doubled,
 * and the burst has seen enough when twice as many made it hardly narrower. Only the length of the
 * burst depends on this estimate, never a bound. */
#ifndef FREEZER_BURST_H
#define FREEZER_BURST_H

#include <stdbool.h>
#include <stddef.h>

#include "freezer/synclog.h"

struct burst_width { /* starts as all zero */
	struct frz_sync_record *exchanges;
	size_t n, room;
	double width; /* when it was last looked at, in ticks of the answering side; 0: never */
};

/* Takes in one more exchange; false when the burst has seen enough (or memory is short). */
bool burst_goes_on(struct burst_width *, const struct frz_sync_record *);
void burst_free(struct burst_width *);

/* The estimate itself; n >= 4. */
double burst_estimate(const struct frz_sync_record *exchanges, size_t n);

#endif

/* SPDX-License-Identifier: MIT
 *
 * open_ends.h - threads of which nobody knows what they did after their last record. */
#ifndef ANALYSIS_OPEN_ENDS_H
#define ANALYSIS_OPEN_ENDS_H

#include "analysis/totals.h"

/* Adds a note to the trace: who ended inside of what. */
void say_open_ends(struct trace *, const struct totals *);

#endif

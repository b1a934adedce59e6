/* SPDX-License-Identifier: MIT
 *
 * text_data.h - what the text form says, as data. */
#ifndef ANALYSIS_TEXT_DATA_H
#define ANALYSIS_TEXT_DATA_H

#include "analysis/clocks/times.h"
#include "analysis/tables/reply.h"
#include "analysis/trace/trace.h"

/* With "lo" and "hi" in every event when `times` is not NULL. */
void text_fill(struct reply *, const struct trace *, const struct times *times);

#endif

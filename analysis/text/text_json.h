/* SPDX-License-Identifier: MIT
 *
 * text_json.h - what the text form says, as one JSON object. */
#ifndef ANALYSIS_TEXT_JSON_H
#define ANALYSIS_TEXT_JSON_H

#include <stdio.h>

#include "analysis/clocks/times.h"
#include "analysis/trace/trace.h"

/* With "lo" and "hi" in every event when `times` is not NULL. */
void text_dump_json(FILE *, const struct trace *, const struct times *times);

#endif

/* SPDX-License-Identifier: MIT
 *
 * frame_list.h - the longest frames: when, how long, and where everybody is in their middle. */
#ifndef ANALYSIS_FRAME_LIST_H
#define ANALYSIS_FRAME_LIST_H

#include "analysis/states/frames.h"
#include "analysis/tables/reply.h"

#define FRAMES_IN_TEXT 5
#define FRAMES_IN_JSON 20

void frame_list_fill(struct reply *, const char *key, const struct times *, uint32_t time_base, const struct frames *);

#endif

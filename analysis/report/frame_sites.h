/* SPDX-License-Identifier: MIT
 *
 * frame_sites.h - where everybody is in the middle of a frame. */
#ifndef ANALYSIS_FRAME_SITES_H
#define ANALYSIS_FRAME_SITES_H

#include "analysis/states/frames.h"

/* For each frame, and in it for each thread: the site at which it is in about the middle, and
 * certainly within the changes that bound the frame; TR_NO_SITE when it is in nothing, or there is
 * no telling. To be freed. */
uint32_t *frame_sites(const struct times *, const struct frames *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * render.h - replies as a user sees them (reply.h has the law). JSON has the data; text the page, in lines of at most 80
 * columns where words allow it, and no blank ends a line. Of an empty reply nothing is written. `ends`: intervals in tables are
 * shown by both ends, with all decimals of their column. */
#ifndef ANALYSIS_RENDER_H
#define ANALYSIS_RENDER_H

#include <stdio.h>

#include "analysis/tables/reply.h"

struct reply *render_json(FILE *);
struct reply *render_text(FILE *, bool colour, bool ends);

#endif

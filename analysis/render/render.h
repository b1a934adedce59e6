/* SPDX-License-Identifier: MIT
 *
 * render.h - replies as a user sees them (reply.h has the law). JSON has the data; text the page, in lines of at most 80
 * columns, or as many as a narrower terminal has, where words allow it, and no blank ends a line. Of an empty reply nothing is
 * written.
 *
 * Law of a bar, which is drawn of a share: what is filled is at most the share's lower end, and with what is hatched it is at least
 * its upper end. */
#ifndef ANALYSIS_RENDER_H
#define ANALYSIS_RENDER_H

#include <stdio.h>

#include "analysis/tables/reply.h"

struct reply *render_json(FILE *);
struct text_style {
	size_t columns; /* of the terminal; 0: there is none */
	bool colour;
	bool ends;      /* intervals are shown by both, in tables with all decimals of their column, or as many as fit a line */
};

struct reply *render_text(FILE *, struct text_style);

#endif

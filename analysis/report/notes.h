/* SPDX-License-Identifier: MIT
 *
 * notes.h - what every reply ends with: diagnostics and notes about its trace. As text main.c says the
 * diagnostics, after whatever the command has said, and notes_damage() on top of that says that there are some. */
#ifndef ANALYSIS_NOTES_H
#define ANALYSIS_NOTES_H

#include "analysis/tables/reply.h"
#include "analysis/trace/trace.h"

void notes_damage(struct reply *, size_t diagnostics); /* one line if there are any: as many as check lists */
void notes_damage_listed(struct reply *, size_t diagnostics, const char *where); /* of what check does not read */
void notes_fill(struct reply *, const struct trace *); /* "problems" and "notes"; notes on the page */

#endif

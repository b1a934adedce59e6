/* SPDX-License-Identifier: MIT
 *
 * notes.h - diagnostics and notes about a trace, in 80 columns. Its diagnostics are in the JSON too
 * ("problems"); as text main.c says them, after whatever the command has printed, and
 * notes_damage() on top of that says that there are some. */
#ifndef ANALYSIS_NOTES_H
#define ANALYSIS_NOTES_H

#include "analysis/base/json.h"
#include "analysis/trace/trace.h"

void notes_damage(size_t diagnostics); /* one line if there are any: as many as check lists */
void notes_print(const struct trace *);
void notes_json(struct json *, const struct trace *); /* arrays "problems" and "notes" */

/* Prints text, broken between words, with `first` before its first line and as much space before
 * others. */
void print_wrapped(const char *first, const char *text);

#endif

/* SPDX-License-Identifier: MIT
 *
 * page.h - a report for the browser: one file with all that it needs.
 *
 * The page is its parts (page.html, page.css, timeline.js, page.js, and uPlot, which draws curves), which lie in the program,
 * around one JSON object: the data of the commands, each under its name, what is drawn (drawn.h) as "timeline", and
 * the program's "source". Its script draws that. Names come from the
 * program: they are in the JSON only, without any '<', so that no name ends the element it is in; the script makes text of them.
 * The page says that nothing may be fetched from anywhere.
 *
 * Law: whatever names a trace has, the page's markup is that of its parts. */
#ifndef ANALYSIS_HTML_PAGE_H
#define ANALYSIS_HTML_PAGE_H

#include <stdio.h>

#include "analysis/html/drawn.h"

/* The file, with these data, which are JSON. Whether it was written is ferror's to say. */
void page_write(FILE *, const char *json);

/* The value of the data's member "timeline":
 *
 *	{"span", "grain", "all_links", "sites": [{"name", "file", "line", "kind"}],
 *	 "threads": [{"name", "uncertainty", "bars"}], "links", "path", "moments", "clocks": [{"host", "widths"}]}
 *
 * Times are in ns of the base since the run's first event. Numbers for each
 *
 *   bar   gap before it, length, 4 * site + did, waited, most, count
 *   link  thread waited for, thread that waited, when each was, waited
 *   path  (each stay) thread, from, to, whether that is sure */
struct json;
void page_timeline(struct json *, const struct drawn *);

/* And of "source": the lines around those that were recorded, from where the trace says that they are, if that is
 * source (source_file.h):
 *
 *	[{"file", "why" (it is not read), "lines": [number, text, ...]}] */
void page_source(struct json *, const struct trace *);

#endif

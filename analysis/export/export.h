/* SPDX-License-Identifier: MIT
 *
 * export.h - a trace in the formats of other tools. Each writer is a file of its own, writes what it has to and says
 * nothing; whether all was written is ferror's to say.
 *
 * Names are those that may be shown (trace_text.c), quoted as the format wants it. Who wants one moment for each event
 * has those of moments.h; what is an interval keeps its ends where the format has a place for them. */
#ifndef ANALYSIS_EXPORT_H
#define ANALYSIS_EXPORT_H

#include <stdio.h>

#include "analysis/calls/calls.h"
#include "analysis/coz/profile.h"
#include "analysis/export/nested.h"
#include "analysis/path/path.h"

/* Of all events, with both ends of their times in ns since the begin. Times of clocks that nothing relates to the base
 * are empty. */
void export_csv(FILE *, const struct trace *, const struct times *);

/* Perfetto's protobuf: a track for each thread, slices, and messages as flows. Times in ns. */
void export_perfetto(FILE *, const struct moments *);

/* speedscope's "evented" profiles, one for each thread. */
void export_speedscope(FILE *, const struct moments *);

/* Paje's trace file: containers for processes and threads, states, and messages as links. */
void export_paje(FILE *, const struct moments *);

/* An archive of OTF2, in a folder that is made. NULL, or what went wrong, to be freed. */
char *export_otf2(const char *folder, const struct moments *);

/* The call tree: callgrind's profile format; Graphviz's language. */
void export_callgrind(FILE *, const struct call_profile *, const struct moments *);
void export_dot(FILE *, const struct call_profile *, const struct moments *);

/* For the plugin: a filter without the functions that are not worth their events. */
void export_filter(FILE *, const struct call_profile *, const struct moments *);

/* The causal profile, as profile.coz. */
void export_coz(FILE *, const struct profile *, const struct trace *);

/* The program's source, from where the trace says that it is, each line with what was found of it. */
struct source {
	const struct trace *trace;
	const struct call_profile *calls;
	const struct path_profile *path;
	const struct profile *profile;
};
void export_source(FILE *, const struct source *);

/* ---- For those that write ------------------------------------------------------------------- */

/* In ns, downward: order is kept. */
static inline int64_t export_ns(const struct moments *m, int64_t ticks)
{
	return (int64_t)((long double)ticks / m->ghz);
}

const char *export_site_name(const struct trace *, uint32_t site); /* "?" where it is missing */

#endif

/* SPDX-License-Identifier: MIT
 *
 * graph_moments.h - sleeps until a moment. */
#ifndef ANALYSIS_GRAPH_MOMENTS_H
#define ANALYSIS_GRAPH_MOMENTS_H

#include "analysis/graph/graph_private.h"

/* A sleep until a moment, which was over for so long when it began, or 0: not yet; or, where
 * that is 0, of a timer, which was set at that stamp. */
struct moment_sleep {
	struct wait_begin begin; struct event_ref exit;
	uint64_t until_ns, late_ns, set;
	uint32_t site, polled; /* polled: where its thread has looked whether it is ready; TR_NO_SITE: nowhere */
	bool rests, paced;     /* that moment was read off a clock, so that it is not exact; before what is done until then */
	bool open;             /* its thread reads the clock anew when it has found what it looks for between others */
};

/* A thread looked there for several things, and something else had come. */
struct moment_other { uint32_t thread, site; };

struct moment_records { struct moment_sleep *v; size_t n; struct moment_other *others; size_t nothers; };

void graph_moments(struct builder *, struct moment_records *);

#endif

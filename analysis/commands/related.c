/* SPDX-License-Identifier: MIT
 *
 * related.c - see related.h. */
#include "analysis/commands/related.h"

#include <stdlib.h>

#include "analysis/commands/command.h"
#include "analysis/report/doubt.h"
#include "analysis/report/polling_sleeps.h"
#include "analysis/report/unclassified.h"

struct related {
	struct path path;
	struct waits waits;
	struct call_profile calls;
	struct unrecorded unrecorded;
	struct diagnosis_doubts doubts;
	struct unclassified *unclassified;
};

static void open_related(struct related *r, struct trace *trace, const struct times *times)
{
	path_open(&r->path, trace, times);
	graph_said_tell(&r->path.graph.said, trace);
	unrecorded_find(&r->unrecorded, trace, NULL);
	doubt_path(&r->path, &r->unrecorded);
	r->unclassified = unclassified_find(trace, times);
	r->doubts = doubt_diagnosis(trace, &r->unrecorded, polling_sleeps_seconds(trace), r->unclassified);
	waits_and_delays_of_graph(&r->waits, &r->path.graph);
	calls_of_graph(&r->calls, &r->path.graph, &r->waits);
}

static void close_related(struct related *r)
{
	free(r->doubts.most_s);
	free(r->unclassified);
	unrecorded_close(&r->unrecorded);
	calls_close(&r->calls);
	waits_close(&r->waits);
	path_close(&r->path);
}

bool related_reply(struct trace *trace, const struct times *times, const struct options *options, const struct related_to *to,
		   struct diagnosis *found)
{
	struct related r;
	struct graph *graph = &r.path.graph;
	open_related(&r, trace, times);
	reply_waits(to->begin(to->to, "waits"), graph, &r.waits, &r.unrecorded, options);
	to->end(to->to);
	reply_path(to->begin(to->to, "path"), &r.path, options);
	to->end(to->to);
	reply_profile(to->begin(to->to, "profile"), graph, &r.calls, options);
	to->end(to->to);
	if (to->path)
		to->path(to->to, &r.path);
	reply_efficiency(to->begin(to->to, "efficiency"), trace, graph, &r.waits, options);
	to->end(to->to);
	bool diagnosed = reply_diagnosis(to->begin(to->to, "diagnose"), graph, &r.waits, &r.calls, &r.doubts, options, found);
	to->end(to->to);
	if (to->graph)
		to->graph(to->to, graph, diagnosed ? found : NULL);
	close_related(&r);
	return diagnosed;
}

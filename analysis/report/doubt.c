/* SPDX-License-Identifier: MIT
 *
 * doubt.c - what-ifs and the critical path know what the recorder did not see. */
#include "analysis/report/doubt.h"

#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/unseen.h"

void doubt_profile(struct profile_request *request, const struct trace *trace, const struct unrecorded *unrecorded, double naps_s)
{
	request->open_s[COZ_PROVED] = unrecorded_sum(unrecorded, trace, false) + naps_s;
	request->open_s[COZ_EXPECTED] = unrecorded_sum(unrecorded, trace, true) + naps_s;
	request->hidden = unrecorded->hidden > 0 || unrecorded->interrupted > 0;
	request->unsure = request->open_s[COZ_PROVED] > 0 || request->hidden || unseen_matters(trace);
}

void doubt_path(struct path *path, const struct unrecorded *u)
{
	for (uint32_t i = 0; i < path->graph.trace->nthreads; i++)
		if (u->worth[i])
			path_doubt(path, i, unrecorded_most(u, path->graph.trace, i));
}

struct diagnosis_doubts doubt_diagnosis(const struct trace *trace, const struct unrecorded *u, double naps_s)
{
	struct profile_request asks = { .hidden = false };
	doubt_profile(&asks, trace, u, naps_s);
	struct diagnosis_doubts doubts = { .most_s = mem_resize(NULL, trace->nthreads + 1, sizeof *doubts.most_s),
					   .surely = u->worth, .blocked = u->threads, .hidden = asks.hidden };
	memcpy(doubts.open_s, asks.open_s, sizeof doubts.open_s);
	for (size_t i = 0; i < trace->nthreads; i++)
		doubts.most_s[i] = unrecorded_most(u, trace, i);
	return doubts;
}

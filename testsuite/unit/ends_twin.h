/* SPDX-License-Identifier: MIT
 *
 * ends_twin.h - in a program of known truth, what ended a wait, and when that was posted. */
#ifndef ENDS_TWIN_H
#define ENDS_TWIN_H

#include "analysis/graph/graph.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

/* Whether what ended a wait at this event came with an input, or before: of a message that MPI held back, with its
 * sender's next call. */
static inline bool twin_ends(const struct program_event *end, const struct graph_input *input)
{
	return input->sure ? !input->candidate : input->candidate && end->freed && !input->follows;
}

/* The point of its thread that posts an input. */
static inline uint32_t twin_posted(const struct graph *g, size_t input)
{
	const struct graph_thread *of = &g->threads[g->inputs[input].thread];

	for (uint32_t i = 0; i < of->nsyncs; i++)
		if (of->syncs[i].what == GRAPH_POSTS && of->syncs[i].number == input)
			return i;
	ck_abort_msg("an input that nobody posts");
	return 0;
}

static inline int64_t twin_time_posted(const struct program *p, const struct graph *g, size_t input)
{
	uint32_t thread = g->inputs[input].thread;

	return p->threads[thread].events[g->threads[thread].syncs[twin_posted(g, input)].at].truth;
}

#endif

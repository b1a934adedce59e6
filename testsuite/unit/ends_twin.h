/* SPDX-License-Identifier: MIT
 *
 * ends_twin.h - in a program of known truth, what ended a wait. */
#ifndef ENDS_TWIN_H
#define ENDS_TWIN_H

#include "analysis/graph/graph.h"
#include "testsuite/truth/program.h"

/* Whether what ended a wait at this event came with an input, or before: of a message that MPI held back, with its
 * sender's next call. */
static inline bool twin_ends(const struct program_event *end, const struct graph_input *input)
{
	return input->sure ? !input->candidate : input->candidate && end->freed && !input->follows;
}

#endif

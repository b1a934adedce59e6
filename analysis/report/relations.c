/* SPDX-License-Identifier: MIT
 *
 * relations.c - see relations.h. */
#include "analysis/report/relations.h"

#include "analysis/coz/coz.h"

const char *relations_missing(const struct times *times)
{
	const struct trace *trace = times->trace;
	if (coz_possible(times))
		return NULL;
	if (trace->nthreads == 0)
		return "Nothing was recorded";
	return trace->left_out & operation_kinds(OP_OTHERS)
		       ? "Who waited for whom is not known, since it was left out (see the notes)"
		       : "The clocks of some hosts could not be related (see the problems)";
}

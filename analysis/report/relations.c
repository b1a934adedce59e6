/* SPDX-License-Identifier: MIT
 *
 * relations.c - see relations.h. */
#include "analysis/report/relations.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/coz/coz.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/notes.h"

#define NOTHING "Nothing was recorded"

const char *relations_missing(const struct times *times)
{
	const struct trace *trace = times->trace;
	if (coz_possible(times))
		return NULL;
	if (trace->nthreads == 0)
		return NOTHING;
	return trace->left_out & operation_kinds(OP_OTHERS)
		       ? "Who waited for whom is not known, since it was left out (see the notes)"
		       : "The clocks of some hosts could not be related (see the problems)";
}

const char *relations_unanswered(const struct times *times)
{
	return trace_records(times->trace) == 0 ? NOTHING : relations_missing(times);
}

void relations_unknown(struct reply *r, const struct trace *trace, const char *why, const char *unknown)
{
	char *text = mem_format("%s: %s.", why, unknown);
	notes_damage(r, trace->ndiagnostics);
	reply_value(r, "unknown", tab_text(text));
	reply_say(r, SAY_TEXT, "%s", text);
	free(text);
}

int relations_run(struct trace *trace, const struct options *options, struct reply *reply, const char *unknown,
		  relations_answer *answer)
{
	struct times times;
	int status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	const char *why = relations_unanswered(&times);
	if (why)
		relations_unknown(reply, trace, why, unknown);
	else
		status = answer(trace, &times, options, reply);
	if (status == EXIT_FINE)
		notes_fill(reply, trace);
	clock_bounds_say(reply, &times);
	times_close(&times);
	return status == EXIT_FINE && trace->ndiagnostics > 0 ? EXIT_DAMAGED : status;
}

/* SPDX-License-Identifier: MIT
 *
 * several.c - see several.h. */
#include "analysis/commands/several.h"

#include <stdlib.h>

#include "analysis/base/shown.h"
#include "analysis/driver/driver.h"

static int take_other(void *run, const char *directory, struct trace *first, const struct options *options, several_take *take)
{
	char *error;
	struct trace *trace = driver_open(directory, options->local, options->jobs, &error);
	if (!trace) {
		shown_complain("%s", error);
		free(error);
		return EXIT_DAMAGED;
	}
	trace_check(trace);
	int status = take(run, directory, trace, options);
	for (size_t i = 0; i < trace->ndiagnostics; i++)
		trace_diagnose(first, "%s: %s", directory, trace->diagnostics[i]);
	trace_close(trace);
	return status;
}

int several_open(void *runs, size_t size, struct trace *first, const struct options *options, several_take *take)
{
	int status = take(runs, options->directories[0], first, options);
	for (size_t i = 1; i < options->ndirectories && status == EXIT_FINE; i++)
		status = take_other((char *)runs + i * size, options->directories[i], first, options, take);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * several.c - see several.h. */
#include "analysis/commands/several.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/driver/driver.h"

/* Of which trace it is said; some say so themselves. To be freed. */
static char *said_of(const char *directory, const char *diagnostic)
{
	size_t n = strlen(directory);
	bool named = strncmp(diagnostic, directory, n) == 0 && diagnostic[n] == ':';
	return named ? mem_copy(diagnostic) : mem_format("%s: %s", directory, diagnostic);
}

static void name_diagnostics(struct trace *trace, const char *directory)
{
	char *shown = shown_copy(directory);
	for (size_t i = 0; i < trace->ndiagnostics; i++) {
		char *named = said_of(shown, trace->diagnostics[i]);
		free(trace->diagnostics[i]);
		trace->diagnostics[i] = named;
	}
	free(shown);
}

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
	name_diagnostics(trace, directory);
	for (size_t i = 0; i < trace->ndiagnostics; i++)
		trace_diagnose(first, "%s", trace->diagnostics[i]);
	trace_close(trace);
	return status;
}

int several_open(void *runs, size_t size, struct trace *first, const struct options *options, several_take *take)
{
	int status = take(runs, options->directories[0], first, options);
	if (options->ndirectories > 1)
		name_diagnostics(first, options->directories[0]);
	for (size_t i = 1; i < options->ndirectories && status == EXIT_FINE; i++)
		status = take_other((char *)runs + i * size, options->directories[i], first, options, take);
	return status;
}

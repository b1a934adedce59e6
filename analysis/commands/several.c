/* SPDX-License-Identifier: MIT
 *
 * several.c - see several.h. */
#include "analysis/commands/several.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/driver/driver.h"

/* Each says of which trace it is; some do so themselves. */
static void name_all(char **texts, size_t n, const char *directory)
{
	char *shown = shown_copy(directory);
	size_t length = strlen(shown);
	for (size_t i = 0; i < n; i++) {
		bool named = strncmp(texts[i], shown, length) == 0 && texts[i][length] == ':';
		char *text = named ? mem_copy(texts[i]) : mem_format("%s: %s", shown, texts[i]);
		free(texts[i]);
		texts[i] = text;
	}
	free(shown);
}

static void name_what_is_said(struct trace *trace, const char *directory)
{
	name_all(trace->diagnostics, trace->ndiagnostics, directory);
	name_all(trace->notes, trace->nnotes, directory);
}

#define WITH_NOTES 2 /* of more traces notes would be longer than the answer */
#define OTHERS "what there is to note of the other traces is not said here: dprof-analyze report DIR, of each"

static void take_notes(struct trace *first, const struct trace *trace, const struct options *options)
{
	bool all = options->ndirectories <= WITH_NOTES;
	for (size_t i = 0; i < trace->nnotes; i++)
		trace_note(first, all ? trace->notes[i] : OTHERS);
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
	name_what_is_said(trace, directory);
	take_notes(first, trace, options);
	for (size_t i = 0; i < trace->ndiagnostics; i++)
		trace_diagnose(first, "%s", trace->diagnostics[i]);
	trace_close(trace);
	return status;
}

int several_open(void *runs, size_t size, struct trace *first, const struct options *options, several_take *take)
{
	int status = take(runs, options->directories[0], first, options);
	if (options->ndirectories > 1)
		name_what_is_said(first, options->directories[0]);
	for (size_t i = 1; i < options->ndirectories && status == EXIT_FINE; i++)
		status = take_other((char *)runs + i * size, options->directories[i], first, options, take);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * cmd_csp.c - dprof-analyze csp: who works while everybody else waits, and for how long. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/clock_facts.h"
#include "analysis/notes.h"
#include "analysis/standings.h"

static void print_json(const struct findings *f)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_interval(&j, "span_s", findings_run_s(f));
	jw_string(&j, "bounds", clock_bounds_word(&f->times));
	jw_string(&j, "verdict", standings_verdict(&f->ranks));
	standings_json(&j, f);
	notes_json(&j, f->trace);
	jw_end(&j);
}

static void print_text(const struct findings *f)
{
	printf("Straggler scores; the run took %s s\n",
	       interval_compact(findings_run_s(f), 9).text);
	clock_bounds_print(&f->times);
	standings_print(f, SIZE_MAX);
	char *advice = standings_advice(f);
	print_wrapped("", advice);
	free(advice);
	notes_print(f->trace);
}

int cmd_csp(struct trace *trace, const struct options *options)
{
	struct findings f;
	int status = findings_open(&f, trace, options);
	if (status != EXIT_FINE)
		return status;
	if (options->json)
		print_json(&f);
	else
		print_text(&f);
	findings_close(&f);
	return trace->nproblems > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

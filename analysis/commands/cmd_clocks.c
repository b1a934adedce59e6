/* SPDX-License-Identifier: MIT
 *
 * cmd_clocks.c - dprof-analyze clocks: how well each host's clock is known on the base clock's time base. */
#include <stdio.h>

#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/notes.h"

static void print_json(const struct times *t)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_string(&j, "base", t->trace->clocks[t->base].host);
	jw_string(&j, "model", clock_model_name(t->assumption).text);
	jw_string(&j, "links", t->program_used ? "all" : "packets");
	jw_string(&j, "bounds", clock_bounds_word(t));
	clock_facts_json(&j, "clocks", t);
	notes_json(&j, t->trace);
	jw_end(&j);
}

static void print_text(const struct times *t)
{
	const struct tr_clock *base = &t->trace->clocks[t->base];
	notes_damage(t->trace->ndiagnostics);
	printf("Clocks, in ticks of %s (nominally %g GHz), model %s\n", base->host, base->ghz,
	       clock_model_name(t->assumption).text);
	clock_facts_print(t);
	print_wrapped("", "The true time of a stamp lies in an interval of the given width if the "
			  "model holds; \"proven\": nothing that was recorded contradicts that.");
	clock_bounds_print(t);
	notes_print(t->trace);
}

int cmd_clocks(struct trace *trace, const struct options *options)
{
	struct times times;
	int status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	if (options->json)
		print_json(&times);
	else
		print_text(&times);
	times_close(&times);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

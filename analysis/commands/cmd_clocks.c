/* SPDX-License-Identifier: MIT
 *
 * cmd_clocks.c - dprof-analyze clocks: how well each host's clock is known on the base's line. */
#include <stdio.h>

#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/clock_methods.h"
#include "analysis/report/notes.h"
#include "freezer/baseline/baseline.h"

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
	notes_damage(t->trace->nproblems);
	printf("Clocks, in ticks of %s (nominally %g GHz), model %s\n", base->host, base->ghz,
	       clock_model_name(t->assumption).text);
	clock_facts_print(t);
	print_wrapped("", "The true time of a stamp lies in an interval of the given width if the "
			  "model holds; \"proven\": nothing that was recorded contradicts that.");
	clock_bounds_print(t);
	notes_print(t->trace);
}

/* What others make of the same packets. */
static void print_comparison(const struct times *t, const struct baseline_method *method, bool json)
{
	const char *base = t->trace->clocks[t->base].host;
	if (json) {
		struct json j = jw_on(stdout);
		jw_object(&j, NULL);
		jw_string(&j, "base", base);
		jw_string(&j, "method", method->name);
		jw_string(&j, "source", method->source);
		clock_methods_json(&j, "clocks", t, method);
		notes_json(&j, t->trace);
		jw_end(&j);
		return;
	}
	notes_damage(t->trace->nproblems);
	printf("Clocks, in ticks of %s, by %s\n", base, method->source);
	clock_methods_print(t, method);
	print_wrapped("", "For comparison only. Outside proven: the share of the stamps whose "
			  "estimate is not in dprof's interval, so is wrong, and by how much at "
			  "least.");
	notes_print(t->trace);
}

int cmd_clocks(struct trace *trace, const struct options *options)
{
	const struct baseline_method *method = NULL;
	struct times times;
	if (options->method && !(method = clock_method(options->method)))
		return EXIT_USAGE;
	int status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	if (method)
		print_comparison(&times, method, options->json);
	else if (options->json)
		print_json(&times);
	else
		print_text(&times);
	times_close(&times);
	return trace->nproblems > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

/* SPDX-License-Identifier: MIT
 *
 * cmd_clocks.c - dprof-analyze clocks: how well each host's clock is known on the base clock's time base. */
#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/notes.h"
#include "analysis/trace/names.h"

#define HOST_ROOM 20

static void fill(struct reply *r, const struct times *t)
{
	const struct tr_clock *base = &t->trace->clocks[t->base];
	reply_value(r, "base", tab_text(base->host));
	reply_value(r, "model", tab_text(clock_model_name(t->assumption).text));
	reply_value(r, "links", tab_text(t->program_used ? "all" : "packets"));
	reply_value(r, "bounds", tab_text(clock_bounds_word(t)));
	notes_damage(r, t->trace->ndiagnostics);
	reply_say(r, SAY_LINE, "Clocks, in ticks of %s (nominally %g GHz), model %s",
		  name_within(base->host, HOST_ROOM).text, base->ghz, clock_model_name(t->assumption).text);
	clock_facts_fill(r, t);
	reply_say(r, SAY_TEXT, "The true time of a stamp lies in an interval of the given width if the "
			       "model holds; \"proven\": nothing that was recorded contradicts that.");
	clock_bounds_say(r, t);
	notes_fill(r, t->trace);
}

int cmd_clocks(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct times times;
	int status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	fill(reply, &times);
	times_close(&times);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

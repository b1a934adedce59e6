/* SPDX-License-Identifier: MIT
 *
 * cmd_audit.c - what of another tool's trace holds: are its times possible, how wrong are its clocks, which findings stand.
 *
 * The trace is opened three times (audit.h). The first, which main.c opens, has the stamps of each process's clock as they were. In
 * options->corrected they are as the tool has corrected them: these orders are looked at. In options->recorded likewise, as if
 * they were of one clock: that is what a reader of the recorded times sees. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audit/audit.h"
#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/clocks/sync_logs.h"
#include "analysis/commands/command.h"
#include "analysis/driver/driver.h"
#include "analysis/report/notes.h"

static double seconds_of(const struct trace *trace, uint64_t ticks)
{
	return (double)ticks / (trace->clocks[0].ghz * 1e9);
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* Nothing is impossible for certain where operations may have been paired wrongly: `by_order`. */
static void say_orders(struct reply *r, const struct trace *trace, const struct program_order *order, bool by_order, bool with_logs)
{
	reply_value(r, "impossible_orders", tab_number(order->impossible));
	reply_value(r, "orders", tab_number(order->links));
	reply_value(r, "paired_by_order", tab_flag(by_order));
	if (order->links == 0) {
		reply_say(r, SAY_TEXT, "Nothing in it relates its processes: no message and no collective operation between two of them.%s",
			  with_logs ? "" : " So nothing can be said of their clocks.");
		return;
	}
	if (order->impossible == 0) {
		char *rounded = mem_format(", but for %" PRIu64 " that differ by no more than its numbers are rounded",
					   order->rounded);
		reply_say(r, SAY_TEXT, "Its times are possible: nothing was received before it was sent, of %" PRIu64 " orders that messages and "
				       "collective operations prove%s.", order->links, order->rounded ? rounded : "");
		free(rounded);
		return;
	}
	char *words = program_link_words(trace, 0, &order->worst);
	double worst = seconds_of(trace, order->worst.sent - order->worst.received);
	reply_value(r, "worst_s", tab_real(worst));
	reply_say(r, SAY_TEXT, "%s: %" PRIu64 " of %" PRIu64 " orders that messages and collective operations prove are the "
			       "other way round in it, by up to %.6g ms: %s.",
		  by_order ? "If its operations are paired by their order, its times are impossible (else the pairs may be wrong)"
			   : "Its times are impossible", order->impossible, order->links, 1e3 * worst, words);
	free(words);
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static const struct tab_column clock_columns[] = {
	TAB_SHOWN("process", "clock of", 16), TAB_SHOWN("first_offset_s", "ahead at its begin, s", 26, 6),
	TAB_SHOWN("last_offset_s", "at its end, s", 26, 6), { 0 }
};

/* How far a clock is ahead of the first process's, when it shows `stamp`. */
static struct interval offset_at(const struct times *t, uint32_t clock, uint64_t stamp)
{
	struct frz_cursor cursor = times_cursor(t, clock);
	frz_time time = frz_time_of(&cursor, stamp);
	if (t->time_base[clock] != t->time_base[0] || time.lo == INT64_MIN || time.hi == INT64_MAX)
		return (struct interval){ -INFINITY, INFINITY };
	frz_time ahead = { ticks_minus((int64_t)stamp, time.hi), ticks_minus((int64_t)stamp, time.lo) };
	return times_seconds(t, t->time_base[0], ahead);
}

/* First and last stamp of its threads. */
static bool ends_of(const struct trace *trace, uint32_t clock, struct ends *all)
{
	*all = (struct ends){ .first = UINT64_MAX };
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct ends ends = times_ends(&trace->threads[i]);
		if (trace->threads[i].clock != clock || ends.first > ends.last)
			continue;
		all->first = ends.first < all->first ? ends.first : all->first;
		all->last = ends.last > all->last ? ends.last : all->last;
	}
	return all->first <= all->last;
}

static void say_clocks(struct reply *r, const struct times *t, const struct options *options)
{
	reply_gap(r);
	if (options->logs) {
		reply_value(r, "sync_links", tab_number(t->trace->nlinks));
		reply_value(r, "trace_clock", tab_text(frz_source_word(options->logs->of)));
	}
	reply_say(r, SAY_TEXT, "What they%s prove of the clocks, as they were before the tool corrected them: how far "
		  "each%s is ahead of that of %s.", options->logs ? " and the packets of --sync" : "",
		  options->logs ? " host's" : "", t->trace->clocks[0].host);
	reply_table(r, "clocks", clock_columns, options->verbose ? SIZE_MAX : 8);
	for (uint32_t c = 1; c < t->trace->nclocks; c++) {
		struct ends ends;
		if (ends_of(t->trace, c, &ends))
			reply_row(r, tab_text(t->trace->clocks[c].host), tab_range(offset_at(t, c, ends.first)),
				  tab_range(offset_at(t, c, ends.last)));
	}
	reply_end(r);
}

/* ---- Findings -------------------------------------------------------------------------------- */

static const struct tab_column claim_columns[] = { TAB_SHOWN("verdict", "verdict", 9), TAB_KEY("recorded_percent"),
						   TAB_SHOWN("bounds_percent", "truth, %", 16, 1), TAB_SHOWN("claim", "what the recorded times say"), { 0 } };

static void say_claims(struct reply *r, const struct audit *a)
{
	reply_gap(r);
	if (a->lossy)
		reply_say(r, SAY_TEXT, "Records are missing, and what was done then may have been anything: the recorded times %s.",
			  a->n == 0 ? "do not say who keeps others waiting, nor where most waiting is"
				    : "say no more than what stands here");
	else if (a->n == 0)
		reply_say(r, SAY_TEXT, "The recorded times say of no rank, operation or region that it matters.");
	reply_table(r, "findings", claim_columns, SIZE_MAX);
	for (size_t i = 0; i < a->n; i++)
		reply_row(r, tab_text(audit_word(a->claims[i].verdict)), tab_real(a->claims[i].recorded),
			  tab_range(a->claims[i].bounds), tab_text(a->claims[i].text));
	reply_end(r);
}

/* A clock of the logs alone has one without threads. */
static size_t count_processes(const struct trace *trace)
{
	size_t n = 0;
	bool *seen = mem_zeroed(trace->nprocesses, sizeof *seen);
	for (size_t i = 0; i < trace->nthreads; i++) {
		n += !seen[trace->threads[i].process];
		seen[trace->threads[i].process] = true;
	}
	free(seen);
	return n;
}

/* Of what the verdicts are true. */
static void say_assumptions(struct reply *r, const struct options *options)
{
	const char *source = options->logs ? frz_source_word(options->logs->of) : NULL;
	char *clocks = source ? mem_format("the stamps are readings of each host's %s, of the same boot as those of --sync; its", source)
			      : mem_copy("each process has a clock of its own, and its");
	reply_gap(r);
	reply_say(r, SAY_TEXT, "Percent of the run, and of waiting of the time of all threads. Holds: true at all "
		  "times that messages and collective operations%s allow; flips: at none. Assumed: %s rate changes by "
		  "no more than --clock-model says; the recorded order of each thread;%s and that a share is the same "
		  "if it is within %g point of what was recorded.",
		  source ? ", and the packets of --sync," : "", clocks,
		  options->by_order ? " that operations without numbers are paired by their order;" : "", AUDIT_POINTS);
	free(clocks);
}

/* Its exit status: what is impossible only if pairs are right may be damage. */
static int fill(struct reply *r, const struct trace *trace, const struct trace *corrected, const struct times *times,
		const struct audit *a, const struct options *options)
{
	struct program_order order = program_order(corrected, 0);
	notes_damage_listed(r, trace->ndiagnostics, "listed behind this");
	size_t processes = count_processes(trace);
	reply_say(r, SAY_LINE, "%s: %zu process%s, %zu thread%s", options->audited, processes, processes == 1 ? "" : "es",
		  trace->nthreads, trace->nthreads == 1 ? "" : "s");
	say_orders(r, corrected, &order, options->by_order, options->logs);
	if (order.links > 0 || options->logs)
		say_clocks(r, times, options);
	say_claims(r, a);
	say_assumptions(r, options);
	notes_fill(r, trace);
	return options->by_order && order.impossible > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static struct trace *open_other(const char *directory, const struct options *options)
{
	char *error;
	struct trace *trace = driver_open(directory, false, options->jobs, &error);
	if (trace)
		return trace;
	shown_complain("%s", error);
	free(error);
	return NULL;
}

/* Nobody knows the folder in which it was packed. */
static void name_as_given(struct trace *trace, const struct options *options)
{
	size_t n = strlen(trace->directory);
	for (size_t i = 0; i < trace->ndiagnostics; i++) {
		const char *said = trace->diagnostics[i];
		if (strncmp(said, trace->directory, n) != 0)
			continue;
		char *named = mem_format("%s%s", options->audited, said + n), *shown = shown_copy(named);
		free(named);
		free(trace->diagnostics[i]);
		trace->diagnostics[i] = shown;
	}
}

/* What the recorded times say: they may contradict themselves. */
static int find_recorded(struct quantities *q, const struct options *options)
{
	struct trace *trace = open_other(options->recorded, options);
	if (!trace)
		return EXIT_DAMAGED;
	int status = quantities_found(q, options->audited, trace, options);
	trace_close(trace);
	return status;
}

static int answer(struct trace *trace, const struct trace *corrected, const struct quantities *recorded,
		  const struct options *options, struct reply *reply)
{
	struct quantities bounds;
	struct times times;
	struct audit audit;
	char *misfit = options->logs ? sync_logs_misfit(options->logs, trace) : NULL;
	if (misfit) {
		shown_complain("%s", misfit);
		free(misfit);
		return EXIT_DAMAGED;
	}
	int status = quantities_open(&bounds, options->audited, trace, options);
	if (status != EXIT_FINE)
		return status;
	size_t before = trace->ndiagnostics;
	status = times_open(&times, trace, options);
	trace_forget_repeated(trace, before);
	if (status == EXIT_FINE) {
		audit_open(&audit, recorded, &bounds, trace->nthreads);
		status = fill(reply, trace, corrected, &times, &audit, options);
		audit_close(&audit);
		times_close(&times);
	}
	quantities_close(&bounds);
	return status;
}

int cmd_audit(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct quantities recorded;
	struct trace *corrected = open_other(options->corrected, options);
	if (!corrected)
		return EXIT_DAMAGED;
	name_as_given(trace, options);
	int status = find_recorded(&recorded, options);
	if (status == EXIT_FINE) {
		status = answer(trace, corrected, &recorded, options, reply);
		quantities_close(&recorded);
	}
	trace_close(corrected);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * html_page.c - see html_page.h. */
#include "analysis/commands/html_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/base/memory.h"
#include "analysis/base/output.h"
#include "analysis/commands/command.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/html/page.h"
#include "analysis/render/render.h"
#include "analysis/report/doubt.h"
#include "analysis/report/naps.h"
#include "analysis/report/relations.h"
#include "analysis/report/unclassified.h"

/* The data: one JSON object, whose members are replies. */
struct page_data {
	FILE *to;
	struct trace *trace;
	struct options options;  /* of a command */
	struct reply *reply;     /* that is begun, */
	long at;                 /* from here on */
	size_t ndiagnostics;     /* of the trace before it */
	bool diagnosed;          /* there is one: */
	struct diagnosis diagnosis;
};

static struct reply *begin_member(struct page_data *d, const char *name)
{
	fprintf(d->to, "\"%s\":", name);
	d->reply = render_json(d->to);
	d->at = ftell(d->to);
	d->ndiagnostics = d->trace->ndiagnostics;
	return d->reply;
}

static void end_member(struct page_data *d)
{
	reply_close(d->reply);
	fputs(ftell(d->to) == d->at ? "null," : ",", d->to);
	trace_forget_repeated(d->trace, d->ndiagnostics);
}

static void add_timeline(struct page_data *d, struct path *path)
{
	struct drawn drawn;
	struct json j = jw_on(d->to);
	drawn_open(&drawn, path, DRAWN_BARS);
	fputs("\"timeline\":", d->to);
	page_timeline(&j, &drawn);
	fputc(',', d->to);
	drawn_close(&drawn);
}

static void add_source(struct page_data *d)
{
	struct json j = jw_on(d->to);
	fputs("\"source\":", d->to);
	page_source(&j, d->trace);
	fputc(',', d->to);
}

/* What stands on who waited for whom, if that is known. */
static void add_relations(struct page_data *d, const struct times *times)
{
	struct path path;
	struct graph *graph = &path.graph;
	struct waits waits;
	struct call_profile calls;
	struct unrecorded unrecorded;
	path_open(&path, d->trace, times);
	graph_said_tell(&graph->said, d->trace);
	unrecorded_find(&unrecorded, d->trace, NULL);
	doubt_path(&path, &unrecorded);
	struct interval *unclassified = unclassified_find(d->trace, times);
	struct diagnosis_doubts doubts = doubt_diagnosis(d->trace, &unrecorded, naps_seconds(d->trace), unclassified);
	waits_and_delays_of_graph(&waits, graph);
	calls_of_graph(&calls, graph, &waits);
	reply_waits(begin_member(d, "waits"), graph, &waits, &unrecorded, &d->options);
	end_member(d);
	reply_path(begin_member(d, "path"), &path, &d->options);
	end_member(d);
	reply_profile(begin_member(d, "profile"), graph, &calls, &d->options);
	end_member(d);
	add_timeline(d, &path);
	reply_efficiency(begin_member(d, "efficiency"), d->trace, graph, &waits, &d->options);
	end_member(d);
	d->diagnosed = reply_diagnosis(begin_member(d, "diagnose"), graph, &waits, &calls, &doubts, &d->options, &d->diagnosis);
	end_member(d);
	free(doubts.most_s);
	free(unclassified);
	unrecorded_close(&unrecorded);
	calls_close(&calls);
	waits_close(&waits);
	path_close(&path);
}

/* The report comes last: it says what is wrong with the trace. */
static int add_members(struct page_data *d)
{
	struct times times;
	int status = times_open(&times, d->trace, &d->options);
	if (status != EXIT_FINE)
		return status;
	if (!relations_missing(&times))
		add_relations(d, &times);
	times_close(&times);
	add_source(d);
	cmd_clocks(d->trace, &d->options, begin_member(d, "clocks"));
	end_member(d);
	status = reply_report(d->trace, &d->options, begin_member(d, "report"), d->diagnosed ? &d->diagnosis : NULL);
	end_member(d);
	if (d->diagnosed)
		diagnosis_close(&d->diagnosis);
	return status == EXIT_USAGE ? EXIT_USAGE : EXIT_FINE;
}

/* NULL after a message; to be freed. */
static char *collect(struct trace *trace, const struct options *options)
{
	char *json = NULL;
	size_t size;
	struct page_data d = { .to = open_memstream(&json, &size), .trace = trace, .options = *options };
	d.options.html = NULL;
	if (!d.to)
		return NULL;
	fputc('{', d.to);
	int status = add_members(&d);
	fputs("\"version\":1}", d.to);
	fclose(d.to);
	if (status == EXIT_FINE)
		return json;
	free(json);
	return NULL;
}

/* NULL, or why not. */
static const char *write_file(const char *part, const char *json, long *size)
{
	FILE *out = output_open(part);
	if (!out)
		return strerror(errno);
	page_write(out, json);
	*size = ftell(out);
	return output_close(out);
}

int html_page(struct trace *trace, const struct options *options, struct reply *reply)
{
	long size = 0;
	struct output out;
	if (!output_begin(&out, options->html, options->force))
		return EXIT_USAGE;
	char *json = collect(trace, options);
	if (!json) {
		output_drop(&out);
		return EXIT_USAGE;
	}
	bool written = output_end(&out, write_file(out.part, json, &size));
	free(json);
	if (!written)
		return EXIT_DAMAGED;
	reply_value(reply, "html", tab_text(options->html));
	reply_value(reply, "bytes", tab_count(size));
	reply_say(reply, SAY_LINE, "%s: %s, for any browser", options->html, output_size(size).text);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

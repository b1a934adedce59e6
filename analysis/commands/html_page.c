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
#include "analysis/commands/related.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/html/page.h"
#include "analysis/render/render.h"
#include "analysis/report/relations.h"

/* The data: one JSON object, whose members are replies. */
struct page_data {
	FILE *to;
	struct trace *trace;
	struct options options;  /* of a command */
	struct reply *reply;     /* that is begun, */
	long at;                 /* from here on */
	size_t ndiagnostics;     /* of the trace before it */
	int status;              /* of the report */
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

static struct reply *begin_related(void *data, const char *command)
{
	return begin_member(data, command);
}

static void end_related(void *data)
{
	end_member(data);
}

static void add_path(void *data, struct path *path)
{
	add_timeline(data, path);
}

/* The report comes last: it says what is wrong with the trace. */
static void add_rest(void *data, struct graph *graph, const struct diagnosis *diagnosis)
{
	struct page_data *d = data;
	add_source(d);
	cmd_clocks(d->trace, &d->options, begin_member(d, "clocks"));
	end_member(d);
	d->status = reply_report(d->trace, &d->options, begin_member(d, "report"), graph, diagnosis);
	end_member(d);
}

static int add_members(struct page_data *d)
{
	struct diagnosis diagnosis;
	struct times times;
	int status = times_open(&times, d->trace, &d->options);
	if (status != EXIT_FINE)
		return status;
	if (relations_missing(&times))
		add_rest(d, NULL, NULL);
	else if (related_reply(d->trace, &times, &d->options,
			       &(struct related_to){ begin_related, end_related, add_path, add_rest, d }, &diagnosis))
		diagnosis_close(&diagnosis);
	times_close(&times);
	return d->status == EXIT_USAGE ? EXIT_USAGE : EXIT_FINE;
}

/* NULL after a message; to be freed. */
static char *collect(struct trace *trace, const struct options *options)
{
	char *json = NULL;
	size_t size;
	struct page_data d = { .to = mem_stream(&json, &size), .trace = trace, .options = *options };
	d.options.html = NULL;
	fputc('{', d.to);
	int status = add_members(&d);
	fputs("\"version\":1}", d.to);
	mem_stream_close(d.to);
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

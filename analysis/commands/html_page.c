/* SPDX-License-Identifier: MIT
 *
 * html_page.c - see html_page.h. */
#define _GNU_SOURCE /* renameat2 */
#include "analysis/commands/html_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/json.h"
#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/html/page.h"
#include "analysis/render/render.h"
#include "analysis/report/relations.h"

/* The data: one JSON object, whose members are replies. */
struct data {
	FILE *to;
	struct trace *trace;
	struct options options;  /* of a command */
	struct reply *reply;     /* that is begun, */
	long at;                 /* from here on */
	size_t ndiagnostics;     /* of the trace before it */
};

static struct reply *begin_member(struct data *d, const char *name)
{
	fprintf(d->to, "\"%s\":", name);
	d->reply = render_json(d->to);
	d->at = ftell(d->to);
	d->ndiagnostics = d->trace->ndiagnostics;
	return d->reply;
}

/* Each command finds what is wrong with clocks anew. */
static void forget_repeated(struct trace *trace, size_t before)
{
	size_t kept = before;
	for (size_t i = before; i < trace->ndiagnostics; i++) {
		bool known = false;
		for (size_t k = 0; k < before && !known; k++)
			known = strcmp(trace->diagnostics[k], trace->diagnostics[i]) == 0;
		if (known)
			free(trace->diagnostics[i]);
		else
			trace->diagnostics[kept++] = trace->diagnostics[i];
	}
	trace->ndiagnostics = kept;
}

static void end_member(struct data *d)
{
	reply_close(d->reply);
	fputs(ftell(d->to) == d->at ? "null," : ",", d->to);
	forget_repeated(d->trace, d->ndiagnostics);
}

static void add_timeline(struct data *d, struct path *path)
{
	struct drawn drawn;
	struct json j = jw_on(d->to);
	drawn_open(&drawn, path, DRAWN_BARS);
	fputs("\"timeline\":", d->to);
	page_timeline(&j, &drawn);
	fputc(',', d->to);
	drawn_close(&drawn);
}

/* What stands on who waited for whom, if that is known. */
static void add_relations(struct data *d, const struct times *times)
{
	struct path path;
	path_open(&path, d->trace, times);
	for (size_t i = 0; i < path.graph.ndiagnostics; i++)
		trace_diagnose(d->trace, "%s", path.graph.diagnostics[i]);
	reply_waits(begin_member(d, "waits"), &path.graph, &d->options);
	end_member(d);
	reply_path(begin_member(d, "path"), &path, &d->options);
	end_member(d);
	reply_profile(begin_member(d, "profile"), &path.graph, &d->options);
	end_member(d);
	add_timeline(d, &path);
	path_close(&path);
	reply_efficiency(d->trace, times, &d->options, begin_member(d, "efficiency"));
	end_member(d);
}

/* The report comes last: it says what is wrong with the trace. */
static int add_members(struct data *d)
{
	struct times times;
	int status = times_open(&times, d->trace, &d->options);
	if (status != EXIT_FINE)
		return status;
	if (!relations_missing(&times))
		add_relations(d, &times);
	times_close(&times);
	cmd_diagnose(d->trace, &d->options, begin_member(d, "diagnose"));
	end_member(d);
	cmd_clocks(d->trace, &d->options, begin_member(d, "clocks"));
	end_member(d);
	status = cmd_report(d->trace, &d->options, begin_member(d, "report"));
	end_member(d);
	return status == EXIT_USAGE ? EXIT_USAGE : EXIT_FINE;
}

/* NULL after a message; to be freed. */
static char *collect(struct trace *trace, const struct options *options)
{
	char *json = NULL;
	size_t size;
	struct data d = { .to = open_memstream(&json, &size), .trace = trace, .options = *options };
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

/* Nothing but a file of the user's is written over: no device, nor what a link leads to. */
static bool may_be_written(const char *name, bool force)
{
	struct stat found;
	if (lstat(name, &found) != 0)
		return true;
	if (!S_ISREG(found.st_mode))
		shown_complain("--html: expected the name of a file, found what is none: %s", name);
	else if (!force)
		shown_complain("--html: %s is there already; --force writes over it", name);
	return S_ISREG(found.st_mode) && force;
}

/* What was there keeps its permissions. */
static void keep_mode(FILE *out, const char *name)
{
	struct stat found;
	if (stat(name, &found) == 0)
		fchmod(fileno(out), found.st_mode & 07777);
}

/* Under its name only when it is whole; 0, or errno. */
static int write_file(const char *name, const char *json, bool anew, long *size)
{
	char *part = mem_format("%s.%ld.part", name, (long)getpid());
	FILE *out = fopen(part, "wx");
	int error = out ? 0 : errno;
	if (out) {
		keep_mode(out, name);
		page_write(out, json);
		fflush(out);
		*size = ftell(out);
		error = ferror(out) ? EIO : 0;
		if (fclose(out) != 0)
			error = errno;
		if (!error && renameat2(AT_FDCWD, part, AT_FDCWD, name, anew ? 0 : RENAME_NOREPLACE) != 0)
			error = errno;
		if (error)
			unlink(part);
	}
	free(part);
	return error;
}

int html_page(struct trace *trace, const struct options *options, struct reply *reply)
{
	long size = 0;
	if (!may_be_written(options->html, options->force))
		return EXIT_USAGE;
	char *json = collect(trace, options);
	if (!json)
		return EXIT_USAGE;
	int error = write_file(options->html, json, options->force, &size);
	free(json);
	if (error) {
		shown_complain("%s: cannot be written: %s", options->html, strerror(error));
		return EXIT_DAMAGED;
	}
	reply_value(reply, "html", tab_text(options->html));
	reply_value(reply, "bytes", tab_count(size));
	reply_say(reply, SAY_LINE, "%s: %.1f MB, for any browser", options->html, (double)size / 1e6);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

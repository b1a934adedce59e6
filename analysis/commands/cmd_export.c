/* SPDX-License-Identifier: MIT
 *
 * cmd_export.c - dprof-analyze export: writes what other tools read. One table has all formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/output.h"
#include "analysis/commands/command.h"
#include "analysis/commands/command_line.h"
#include "analysis/commands/sql_results.h"
#include "analysis/export/export.h"
#include "analysis/report/doubt.h"
#include "analysis/report/polling_sleeps.h"
#include "analysis/report/relations.h"
#include "analysis/report/unclassified.h"
#include "analysis/report/unrecorded.h"

struct export_job {
	struct trace *trace;
	const struct times *times;
	struct options options;  /* of a command: `to` is something else there */
	struct reply *reply;
};

/* ---- Formats --------------------------------------------------------------------------------- */

static char *write_sqlite(const struct export_job *j, const char *path)
{
	struct sql_source source = sql_source_of(j->trace, j->times, &j->options);
	struct sql_missing missing;
	char *wrong = sql_write(&source, path, &missing);
	for (size_t i = 0; i < missing.n; i++) {
		reply_say(j->reply, SAY_NOTE, "nothing is known of %s: there is no such table", missing.names[i]);
		free(missing.names[i]);
	}
	free(missing.names);
	return wrong;
}

static char *copy_of(const char *wrong)
{
	return wrong ? mem_copy(wrong) : NULL;
}

/* On one time line, if there is one. */
static char *write_moments(const struct export_job *j, const char *path, char *(*write)(const char *path, const struct moments *))
{
	struct moments m;
	if (!moments_possible(j->trace, j->times))
		return mem_copy(j->trace->nthreads ? "the clocks of some hosts could not be related" : "nothing was recorded");
	moments_open(&m, j->trace, j->times);
	if (!m.kept)
		reply_say(j->reply, SAY_NOTE, "clocks contradict what happened: some causes are written behind their effects");
	char *wrong = write(path, &m);
	moments_close(&m);
	return wrong;
}

/* Those that are one file. */
#define OF_FILE(name)                                                                              \
	static char *file_##name(const char *path, const struct moments *m)                        \
	{                                                                                          \
		FILE *out = output_open(path);                                                     \
		if (!out)                                                                          \
			return mem_copy(strerror(errno));                                          \
		export_##name(out, m);                                                             \
		return copy_of(output_close(out));                                                 \
	}                                                                                          \
	static char *write_##name(const struct export_job *j, const char *path)                           \
	{                                                                                          \
		return write_moments(j, path, file_##name);                                        \
	}

OF_FILE(perfetto)
OF_FILE(speedscope)
OF_FILE(paje)

static char *write_otf2(const struct export_job *j, const char *path)
{
	return write_moments(j, path, export_otf2);
}

/* What stands on who waited for whom. */
static char *write_calls(const struct export_job *j, const char *path,
			 void write(FILE *, const struct call_profile *, const struct moments *))
{
	const char *missing = relations_missing(j->times);
	struct moments unit = moments_unit(j->trace, j->times);
	struct call_profile calls;
	FILE *out = missing ? NULL : output_open(path);
	if (!out)
		return mem_copy(missing ? missing : strerror(errno));
	calls_open(&calls, j->trace, j->times);
	write(out, &calls, &unit);
	calls_close(&calls);
	return copy_of(output_close(out));
}

static char *write_callgrind(const struct export_job *j, const char *path)
{
	return write_calls(j, path, export_callgrind);
}

static char *write_dot(const struct export_job *j, const char *path)
{
	return write_calls(j, path, export_dot);
}

static char *write_filter(const struct export_job *j, const char *path)
{
	return write_calls(j, path, export_filter);
}

/* As coz answers; of a graph that is there, or NULL. */
static void open_profile(const struct export_job *j, const struct unrecorded *unrecorded, struct graph *graph,
			 struct profile *profile)
{
	struct profile_request request = { .who = COZ_ALL, .graph = graph };
	struct unclassified *unclassified = unclassified_find(j->trace, j->times);
	unclassified_say(j->trace, unclassified);
	doubt_profile(&request, j->trace, unrecorded, polling_sleeps_say(j->trace, NULL), unclassified);
	profile_open(profile, j->trace, j->times, &request);
	free(unclassified);
}

static char *write_coz(const struct export_job *j, const char *path)
{
	const char *missing = relations_missing(j->times);
	struct unrecorded unrecorded;
	struct profile profile;
	FILE *out = missing ? NULL : output_open(path);
	if (!out)
		return mem_copy(missing ? missing : strerror(errno));
	unrecorded_open(&unrecorded, j->trace, NULL);
	open_profile(j, &unrecorded, NULL, &profile);
	export_coz(out, &profile, j->trace);
	profile_close(&profile);
	unrecorded_close(&unrecorded);
	return copy_of(output_close(out));
}

static char *write_source(const struct export_job *j, const char *file)
{
	const char *missing = relations_missing(j->times);
	struct unrecorded unrecorded;
	struct path path;
	struct path_profile shares;
	struct call_profile calls;
	struct profile profile;
	FILE *out = missing ? NULL : output_open(file);
	if (!out)
		return mem_copy(missing ? missing : strerror(errno));
	unrecorded_open(&unrecorded, j->trace, NULL);
	path_open(&path, j->trace, j->times);
	doubt_path(&path, &unrecorded);
	path_profile_open(&shares, &path, PATH_ALL);
	calls_of_graph(&calls, &path.graph, NULL);
	open_profile(j, &unrecorded, &path.graph, &profile);
	export_source(out, &(struct source){ j->trace, &calls, &shares, &profile });
	profile_close(&profile);
	calls_close(&calls);
	path_profile_close(&shares);
	path_close(&path);
	unrecorded_close(&unrecorded);
	return copy_of(output_close(out));
}

static char *write_csv(const struct export_job *j, const char *path)
{
	FILE *out = output_open(path);
	if (!out)
		return mem_copy(strerror(errno));
	export_csv(out, j->trace, j->times);
	return copy_of(output_close(out));
}

static const struct format {
	const char *name, *what;
	char *(*write)(const struct export_job *, const char *path); /* NULL, or what went wrong, to be freed */
} formats[] = {
	{ "perfetto", "for ui.perfetto.dev: threads, slices, messages as flows", write_perfetto },
	{ "otf2", "for Vampir and Scalasca; FILE is a folder", write_otf2 },
	{ "speedscope", "for speedscope: a profile of each thread", write_speedscope },
	{ "paje", "for ViTE and pajeng: states, and messages as links", write_paje },
	{ "callgrind", "for KCachegrind and callgrind_annotate: the call tree", write_callgrind },
	{ "coz", "for Coz's viewer: the causal profile", write_coz },
	{ "dot", "for Graphviz: the call tree", write_dot },
	{ "source", "each line of the source with its share, and a what-if", write_source },
	{ "filter", "for the plugin: leaves out functions too short for their events", write_filter },
	{ "csv", "all events, with both ends of their times", write_csv },
	{ "sqlite", "a database: events, visits, messages, and all results", write_sqlite },
};
#define NFORMATS (sizeof formats / sizeof *formats)

char *export_formats(void)
{
	char *list = mem_copy("Formats:\n");
	for (size_t i = 0; i < NFORMATS; i++) {
		char *longer = mem_format("%s  %-10s %s\n", list, formats[i].name, formats[i].what);
		free(list);
		list = longer;
	}
	return list;
}

/* NULL after a message. */
static const struct format *find_format(const char *name)
{
	const char *names[NFORMATS];
	for (size_t i = 0; i < NFORMATS; i++) {
		names[i] = formats[i].name;
		if (name && strcmp(names[i], name) == 0)
			return &formats[i];
	}
	command_line_refuse(name ? "export: there is no format '%s'" : "export: expected --to FORMAT%s", name ? name : "",
			    name ? nearest(name, names, NFORMATS) : NULL);
	return NULL;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void fill(const struct export_job *j, const struct format *f)
{
	struct stat found = { 0 };
	bool file = stat(j->options.output, &found) == 0 && S_ISREG(found.st_mode);
	reply_value(j->reply, "file", tab_text(j->options.output));
	reply_value(j->reply, "format", tab_text(f->name));
	reply_value(j->reply, "bytes", file ? tab_count(found.st_size) : TAB_NONE);
	if (file)
		reply_say(j->reply, SAY_LINE, "%s: %s, %s", j->options.output, output_size(found.st_size).text, f->name);
	else
		reply_say(j->reply, SAY_LINE, "%s: %s", j->options.output, f->name);
}

static int write_output(const struct export_job *j, const struct format *f)
{
	struct output out;
	if (!output_begin(&out, j->options.output, j->options.force))
		return EXIT_USAGE;
	char *wrong = f->write(j, out.part);
	bool written = output_end(&out, wrong);
	free(wrong);
	if (!written)
		return EXIT_DAMAGED;
	fill(j, f);
	return EXIT_FINE;
}

int cmd_export(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct times times;
	const struct format *f = find_format(options->to);
	if (!f)
		return EXIT_USAGE;
	int status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	struct export_job j = { trace, &times, *options, reply };
	j.options.to = NULL;
	status = write_output(&j, f);
	times_close(&times);
	return status == EXIT_FINE && trace->ndiagnostics > 0 ? EXIT_DAMAGED : status;
}

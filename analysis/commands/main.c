/* SPDX-License-Identifier: MIT
 *
 * dprof-analyze [COMMAND] DIRECTORY - reads a trace and says what can be proved of it.
 *
 * One table has the commands and their help. Diagnostics of the trace go to stderr, each on a line of its own, after what
 * could be computed nevertheless. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/progress.h"
#include "analysis/base/shown.h"
#include "analysis/base/temporary.h"
#include "analysis/clocks/sync_logs.h"
#include "analysis/commands/command.h"
#include "analysis/commands/command_line.h"
#include "analysis/diff/compare.h"
#include "analysis/driver/driver.h"
#include "analysis/kineto/kineto.h"
#include "analysis/otf2/otf2.h"
#include "analysis/render/render.h"
#include "analysis/report/notes.h"

static const struct {
	struct command command;
	const char *arguments;
	const char *alias;     /* another name, or NULL */
	const char *example;   /* what stands behind "dprof-analyze " */
} commands[] = {
	{ { "report", cmd_report, "the job on one page, and what to look at (default)" }, "DIR", NULL, "dprof-app.*" },
	{ { "csp", cmd_csp, "how long all others wait for a thread" }, "DIR", "stragglers", "csp --frames dprof-app.1" },
	{ { "coz", cmd_coz, "what a faster region would buy" }, "DIR", "whatif",
	  "coz --region solve --rank 1 --reduce 50 dprof-app.1" },
	{ { "path", cmd_path, "the critical path: what the end of the run waited for" }, "DIR...", NULL,
	  "path --from step#10 --to step#11 dprof-app.1" },
	{ { "waits", cmd_waits, "who waited, where, for how long, and for whom" }, "DIR", NULL, "waits -v dprof-app.1" },
	{ { "efficiency", cmd_efficiency, "how much of the threads' time was useful, and why" }, "DIR...", NULL,
	  "efficiency dprof-app.4-ranks dprof-app.8-ranks" },
	{ { "profile", cmd_profile, "visits, time, waiting, bytes; who sent whom how much" }, "DIR", NULL,
	  "profile --calls dprof-app.1" },
	{ { "diff", cmd_diff, "how two runs differ, or two sets: A... -- B..." }, "A B", NULL,
	  "diff dprof-ab/a/* -- dprof-ab/b/*" },
	{ { "diagnose", cmd_diagnose, "what is slow, why, and what to change" }, "DIR", NULL, "diagnose dprof-app.1" },
	{ { "query", cmd_query, "for how long, and when, a condition on threads holds" }, "DIR EXPR", NULL,
	  "query dprof-app.1 'count(barrier) == threads-1'" },
	{ { "clocks", cmd_clocks, "the clock of each host, and how well it is known" }, "DIR", NULL,
	  "clocks --clock-model affine dprof-app.1" },
	{ { "check", cmd_check, "whether the trace is sound, and what is wrong with it" }, "DIR", NULL,
	  "check --json dprof-app.1" },
	{ { "export", cmd_export, "write the trace for other tools: --to FORMAT" }, "FILE DIR", NULL,
	  "export --to sqlite job.db dprof-app.1" },
	{ { "audit", cmd_audit, "which findings of another tool's trace hold" }, "FILE...", NULL, "audit scorep/traces.otf2" },
	{ { "dump", cmd_dump, "every record as text" }, "DIR", NULL, "dump --bounds dprof-app.1 | less" },
	{ { "pack", NULL, "make a trace of what dump has printed, or of OTF2" }, "FILE DIR", NULL, "pack job.txt dprof-copy" },
	{ { "sites", NULL, "what is instrumented in objects, libraries and programs" }, "FILE...", NULL, "sites --json ./app" },
};
#define NCOMMANDS (sizeof commands / sizeof *commands)

static bool is_directory(const char *name)
{
	struct stat found;
	return stat(name, &found) == 0 && S_ISDIR(found.st_mode);
}

static size_t find_command(const char *name)
{
	size_t i = 0;
	while (i < NCOMMANDS && strcmp(commands[i].command.name, name) != 0 &&
	       !(commands[i].alias && strcmp(commands[i].alias, name) == 0))
		i++;
	return i;
}

/* ---- Help ------------------------------------------------------------------------------------- */

#define READS_A_TRACE "Reads a trace that dprof has recorded and says what can be proved of it: every number is an interval that " \
	"contains the true value.\n\n"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

#define EXIT_STATUS "Exit status: 0 fine; 1 the trace is damaged or contradicts itself (what could be computed is printed, " \
	"what is wrong is said); 2 wrong usage; 3 with diff --gate, B takes more time."

static char *list_commands(void)
{
	char *list = mem_copy("");
	for (size_t i = 0; i < NCOMMANDS; i++) {
		char *also = commands[i].alias ? mem_format(" (or: %s)", commands[i].alias) : mem_copy("");
		char *longer = mem_format("%s  %-10s %-9s %s%s\n", list, commands[i].command.name,
					  commands[i].arguments, commands[i].command.help, also);
		free(also);
		free(list);
		list = longer;
	}
	return list;
}

/* The first command that the words name, whatever else they may be; or NCOMMANDS. */
static size_t named_command(char **argv)
{
	size_t command = NCOMMANDS;
	for (char **arg = argv + 1; *arg && command == NCOMMANDS; arg++)
		command = find_command(*arg);
	return command;
}

/* Of a command, or of all. `words` and `text` are to be freed. */
static struct command_line_help help_of(size_t command)
{
	if (command < NCOMMANDS) {
		const struct command *c = &commands[command].command;
		char *more = c->run == cmd_export ? export_formats() : mem_copy("");
		char *text = mem_format("%s: %s\n\n%s%sExample:\n  dprof-analyze %s\n\nOptions:\v" EXIT_STATUS, c->name,
					c->help, more, *more ? "\n" : "", commands[command].example);
		free(more);
		return (struct command_line_help){ c->name, mem_format("%s %s", c->name, commands[command].arguments), text };
	}
	char *list = list_commands();
	char *text = mem_format(READS_A_TRACE "Commands:\n%s\ndprof-analyze COMMAND --help lists what else a command "
				"understands, with an example.\n\nOptions:\v" EXIT_STATUS, list);
	free(list);
	char *usage = mem_copy("[COMMAND] DIR\nquery DIR EXPR\nexport --to FORMAT FILE DIR\npack FILE DIR\nsites FILE...");
	return (struct command_line_help){ NULL, usage, text };
}

/* ---- Running a command ----------------------------------------------------------------------- */

static int unknown_command(const char *name)
{
	const char *names[2 * NCOMMANDS];
	size_t n = 0;
	for (size_t i = 0; i < NCOMMANDS; i++) {
		names[n++] = commands[i].command.name;
		if (commands[i].alias)
			names[n++] = commands[i].alias;
	}
	return command_line_refuse("there is no command '%s'", name, nearest(name, names, n));
}

/* Records are lost, and none is left by which anything could be told. */
static bool is_all_lost(const struct trace *t)
{
	uint64_t first, last;
	bool any = false;
	for (size_t i = 0; i < t->nthreads && !any; i++)
		any = trace_ends(&t->threads[i], &first, &last);
	return !any && trace_lacks(t);
}

static int say_all_lost(struct reply *r, const struct trace *t)
{
	notes_damage(r, t->ndiagnostics);
	reply_say(r, SAY_LINE, "Nothing is known of this run: no event can be read.");
	reply_texts(r, "problems", t->diagnostics, t->ndiagnostics);
	reply_texts(r, "notes", t->notes, t->nnotes);
	return EXIT_DAMAGED;
}

/* Of the terminal that standard output is: as the user's COLUMNS says, or else itself; 0 if it is none. What mpirun shows to its
 * first process as a terminal may be a file. */
static size_t terminal_columns(void)
{
	const char *given = getenv("COLUMNS");
	struct winsize size = { 0 };
	if (!isatty(STDOUT_FILENO) || driver_is_in_job())
		return 0;
	size_t columns = given ? strtoul(given, NULL, 10) : 0;
	if (!columns && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	return columns ? columns : 80;
}

/* Colour only on a terminal, and not when NO_COLOR is set. */
static struct reply *begin_reply(const struct options *options)
{
	const char *no = getenv("NO_COLOR");
	struct text_style style = { .columns = terminal_columns(), .ends = options->verbose || options->plain };
	style.colour = style.columns && !(no && *no);
	return options->json ? render_json(stdout) : render_text(stdout, style);
}

/* What was computed, then what is wrong: of a damaged trace a region that is asked for may be what is missing. */
static int answer(const struct command *command, struct trace *t, const struct options *options)
{
	struct reply *reply = begin_reply(options);
	bool said = command->run == cmd_check; /* its reply is the diagnostics */
	if (!said && command->run != cmd_dump)
		trace_check(t);
	bool asks = !said && command->run != cmd_dump && command->run != cmd_clocks;
	if (asks && is_all_lost(t) && !t->ndiagnostics)
		trace_diagnose(t, "%s: expected events, found none that can be read", t->directory);
	int status = asks && is_all_lost(t) ? say_all_lost(reply, t) : command->run(t, options, reply);
	reply_close(reply);
	fflush(stdout);
	for (size_t i = 0; i < t->ndiagnostics && !said; i++)
		fprintf(stderr, "dprof-analyze: %s\n", t->diagnostics[i]);
	return status == EXIT_FINE && t->ndiagnostics ? EXIT_DAMAGED : status;
}

static int run(size_t command, const char *directory, const struct options *options)
{
	char *error;
	struct trace *t = driver_open(directory, options->local, options->jobs, &error);
	if (!t) {
		fprintf(stderr, "dprof-analyze: %s\n", error);
		free(error);
		return EXIT_DAMAGED;
	}
	int status = answer(&commands[command].command, t, options);
	trace_close(t);
	return status;
}

static int pack(const char *text, const char *directory, const struct options *options)
{
	struct reply *reply = begin_reply(options);
	int status = cmd_pack(text, directory);
	if (status == EXIT_FINE)
		reply_value(reply, "directory", tab_text(directory));
	reply_close(reply);
	return status;
}

static int list_sites(const struct command_line *a)
{
	if (a->nwords == 0)
		return command_line_refuse("%s: expected an object, an archive, a library or an executable", "sites", NULL);
	struct reply *reply = begin_reply(&a->options);
	int status = cmd_sites(a->word, a->nwords, reply);
	reply_close(reply);
	return status;
}

static bool is_another_tools(const struct command_line *a)
{
	bool kineto = a->nwords > 0;
	for (size_t i = 0; i < a->nwords; i++)
		kineto &= kineto_is(a->word[i]);
	return kineto || (a->nwords == 1 && otf2_is(a->word[0]));
}

/* Kineto corrects no clocks. NULL, or what went wrong. */
static char *pack_other(const struct command_line *a, enum otf2_times times, const char *directory, struct options *options)
{
	return otf2_is(a->word[0]) ? otf2_pack(a->word[0], times, times == OTF2_RAW ? options->logs : NULL, directory)
				   : kineto_pack((const char *const *)a->word, a->nwords, times == OTF2_ONE_CLOCK, directory,
						 &options->by_order);
}

/* EXIT_FINE if the logs of --sync, if any, may be of use. */
static int refuse_sync(const struct command_line *a)
{
	if (a->options.nsync > 0 && !otf2_is(a->word[0]))
		return command_line_refuse("%s: expected a trace in OTF2: the times in files of PyTorch's profiler are "
					   "computed from those of several clocks, none of which freezer measures",
					   "--sync", NULL);
	if (a->options.trace_clock && a->options.nsync == 0)
		return command_line_refuse("%s: expected logs of freezer measure (--sync=FILE) as well", "--trace-clock", NULL);
	return EXIT_FINE;
}

/* Packed three times: cmd_audit.c says why. */
static int audit(size_t command, const struct command_line *a)
{
	struct options options = a->options;
	if (a->nwords == 1 && is_directory(a->word[0]))
		return command_line_refuse("audit: expected the file of another tool's trace, found the directory %s; "
					   "a trace of dprof's own needs no audit: dprof-analyze check", a->word[0], NULL);
	if (!is_another_tools(a))
		return command_line_refuse("%s: expected one OTF2 trace, its file that ends in .otf2; or files of "
					   "PyTorch's profiler, .json, one of each rank", "audit", NULL);
	if (refuse_sync(a) != EXIT_FINE)
		return EXIT_USAGE;
	struct sync_logs logs = { .of = options.trace_clock ? options.trace_clock : FRZ_TSC };
	char *unread = sync_logs_read(&logs, options.sync, options.nsync);
	options.logs = options.nsync > 0 ? &logs : NULL;
	char *folder = temporary_folder();
	char *bounds = mem_format("%s/bounds", folder ? folder : ""), *recorded = mem_format("%s/recorded", folder ? folder : "");
	char *corrected = mem_format("%s/corrected", folder ? folder : "");
	char *wrong = unread ? unread : folder ? NULL : mem_format("no temporary folder: %s", strerror(errno));
	wrong = wrong ? wrong : pack_other(a, OTF2_RAW, bounds, &options);
	wrong = wrong ? wrong : pack_other(a, OTF2_CORRECTED, corrected, &options);
	wrong = wrong ? wrong : pack_other(a, OTF2_ONE_CLOCK, recorded, &options);
	options.audited = a->word[0];
	options.corrected = corrected;
	options.recorded = recorded;
	options.matches_again = true;
	int status = EXIT_DAMAGED;
	if (wrong)
		shown_complain("%s", wrong);
	else
		status = run(command, bounds, &options);
	if (folder)
		temporary_remove(folder);
	sync_logs_free(&logs);
	free(wrong), free(bounds), free(corrected), free(recorded), free(folder);
	return status;
}

/* ---- What the words mean --------------------------------------------------------------------- */

static void remove_word(struct command_line *a, size_t at)
{
	a->nwords--;
	memmove(&a->word[at], &a->word[at + 1], (a->nwords - at) * sizeof *a->word);
}

/* The command stands first or behind directories, and is taken out; a directory may be called like one. */
static size_t take_command(struct command_line *a)
{
	size_t at = 0;
	bool alone = a->nwords == 1 && is_directory(a->word[0]);
	while (at < a->nwords && find_command(a->word[at]) == NCOMMANDS && is_directory(a->word[at]))
		at++;
	if (at == 0 && a->nwords > 1 && find_command(a->word[0]) == NCOMMANDS && find_command(a->word[1]) < NCOMMANDS &&
	    strchr(a->word[0], '/'))
		at = 1; /* behind one that is not there: no command is called so */
	size_t command = at < a->nwords && !alone ? find_command(a->word[at]) : NCOMMANDS;
	if (command < NCOMMANDS)
		remove_word(a, at);
	return command;
}

/* Among several directories that one in which a file was made last: `dprof-analyze dprof-app.*`. */
static const char *newest(const struct command_line *a)
{
	const char *found = NULL;
	struct timespec latest = { 0, 0 };
	for (size_t i = 0; i < a->nwords; i++) {
		struct stat s;
		if (stat(a->word[i], &s) != 0)
			continue;
		bool later = s.st_mtim.tv_sec != latest.tv_sec ? s.st_mtim.tv_sec > latest.tv_sec
							       : s.st_mtim.tv_nsec >= latest.tv_nsec;
		if (!found || later) {
			found = a->word[i];
			latest = s.st_mtim;
		}
	}
	return found;
}

/* Two directories, or some, "--", and some. */
static int take_sides(struct command_line *a)
{
	size_t nfirst = 0;
	while (nfirst < a->nwords && a->word[nfirst] != a->behind)
		nfirst++;
	if (!a->behind && a->nwords == 2)
		nfirst = 1;
	a->options.nfirst = nfirst;
	for (size_t i = 0; i < a->nwords && a->nwords > 2; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(a->word[k], a->word[i]) == 0)
				return command_line_refuse("diff: expected each run once, found '%s' again", a->word[i], NULL);
	if (nfirst == 0 || nfirst == a->nwords)
		return command_line_refuse("diff: expected %s",
					   "two trace directories, A B, or several of both, A... -- B...", NULL);
	if (nfirst > COMPARE_RUNS || a->nwords - nfirst > COMPARE_RUNS)
		return command_line_refuse("diff: expected at most %s runs on each side", TEXT_OF(COMPARE_RUNS), NULL);
	return EXIT_FINE;
}

/* Everything but the command and the condition is a directory; else a message has said what is wrong. */
static int choose_directory(struct command_line *a, size_t command, const char **directory)
{
	*directory = a->word[0];
	if (a->nwords == 0 && a->options.html && is_directory(a->options.html))
		return command_line_refuse("--html: expected the file to write, such as report.html, and behind it the "
					   "trace directory; found only %s", a->options.html, NULL);
	if (a->nwords == 0)
		return command_line_refuse(command < NCOMMANDS ? "%s: expected a trace directory behind the command"
						 : "expected a trace directory, such as dprof-app.1234%s",
			     command < NCOMMANDS ? commands[command].command.name : "", NULL);
	bool compares = command < NCOMMANDS && commands[command].command.run == cmd_diff;
	if (a->nwords == 1 && !compares)
		return EXIT_FINE;
	for (size_t i = 0; i < a->nwords; i++)
		if (!is_directory(a->word[i]))
			return command == NCOMMANDS ? unknown_command(a->word[i])
						    : command_line_refuse(access(a->word[i], F_OK) == 0
										  ? "expected a trace directory, found '%s', which is none"
										  : "expected a trace directory, found nothing of the name '%s'",
									  a->word[i], NULL);
	if (compares || (command < NCOMMANDS && strcmp(commands[command].arguments, "DIR...") == 0)) { /* which looks at all */
		a->options.directories = a->word;
		a->options.ndirectories = a->nwords;
		return compares ? take_sides(a) : EXIT_FINE;
	}
	*directory = newest(a);
	if (!a->options.quiet)
		shown_complain("of %zu directories this is the newest: %s", a->nwords, *directory);
	return EXIT_FINE;
}

static int run_pack(struct command_line *a)
{
	if (a->nwords != 2)
		return command_line_refuse("%s: expected a text file (or -) and the directory to make", "pack", NULL);
	return pack(a->word[0], a->word[1], &a->options);
}

/* It wants to know who waited for whom. */
static bool makes_graph(int (*command)(struct trace *, const struct options *, struct reply *))
{
	return command == cmd_report || command == cmd_coz || command == cmd_path || command == cmd_waits || command == cmd_efficiency ||
	       command == cmd_profile || command == cmd_diff || command == cmd_check ||
	       command == cmd_diagnose || command == cmd_export;
}

static int run_words(struct command_line *a)
{
	size_t command = take_command(a);
	const char *directory;
	if (a->options.quiet)
		progress_silence();
	const char *name = command < NCOMMANDS ? commands[command].command.name : "report";
	const char *misused = command_line_misused(a, name);
	if (misused) {
		char *message = mem_format("%s has no option --%s", name, misused);
		int status = command_line_refuse("%s", message, NULL);
		free(message);
		return status;
	}
	if (command < NCOMMANDS && !commands[command].command.run)
		return strcmp(name, "sites") == 0 ? list_sites(a) : run_pack(a);
	if (command < NCOMMANDS && commands[command].command.run == cmd_audit)
		return audit(command, a);
	if (command < NCOMMANDS && commands[command].command.run == cmd_query && !a->options.sql) {
		if (a->nwords < 2)
			return command_line_refuse("%s: expected a trace directory and a condition, such as "
				     "'count(barrier) == threads-1'", "query", NULL);
		a->options.query = a->word[--a->nwords];
	}
	if (command < NCOMMANDS && commands[command].command.run == cmd_export) {
		if (a->nwords < 2)
			return command_line_refuse("%s: expected the file to write and a trace directory", "export", NULL);
		a->options.output = a->word[0];
		remove_word(a, 0);
	}
	int status = choose_directory(a, command, &directory);
	if (status != EXIT_FINE)
		return status;
	command = command < NCOMMANDS ? command : find_command("report");
	a->options.matches_again = makes_graph(commands[command].command.run);
	return run(command, directory, &a->options);
}

/* argp ends the process by itself: behind help, and behind what is wrong with an option. */
static bool reading_words;

static void end_job(int status, void *unused)
{
	(void)unused;
	if (reading_words)
		driver_end(status);
}

/* Of the first process of a job, or of the only one. */
static int run_line(int argc, char **argv)
{
	struct command_line line;
	struct command_line_help help = help_of(named_command(argv));
	if (on_exit(end_job, NULL) != 0)
		return EXIT_DAMAGED;
	reading_words = true;
	int status = command_line_read(&line, argc, argv, &help);
	reading_words = false;
	if (status == EXIT_FINE)
		status = run_words(&line);
	free(help.words);
	free(help.text);
	free(line.word);
	free(line.options.sync);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "dprof-analyze: the output cannot be written: %s\n", strerror(errno));
		status = EXIT_DAMAGED;
	}
	return status;
}

int main(int argc, char **argv)
{
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow: writing fails, which is looked at */
	if (!driver_begin())
		return EXIT_FINE;
	return driver_end(driver_leads() ? run_line(argc, argv) : driver_serve());
}

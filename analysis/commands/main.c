/* SPDX-License-Identifier: MIT
 *
 * dprof-analyze [COMMAND] DIRECTORY - reads a trace and says what can be proved of it.
 *
 * One table has the commands, their help and the options that each understands. Diagnostics of the trace
 * go to stderr, each on a line of its own, after what could be computed nevertheless. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/render/render.h"
#include "analysis/report/notes.h"

const char *argp_program_version = "dprof-analyze 0.1 (trace format 1, text form 1)";

static const struct {
	struct command command;
	const char *arguments;
	const char *options;   /* keys that it understands */
	const char *alias;     /* another name, or NULL */
} commands[] = {
	{ { "report", cmd_report, "the job on one page, and what to look at (default)" },
	  "DIR", "jvbmlwW", NULL },
	{ { "csp", cmd_csp, "how long all others wait for a thread" },
	  "DIR", "jvbmlwWfi", "stragglers" },
	{ { "coz", cmd_coz, "what a faster region would buy" }, "DIR", "jbmlraRNptPFT", "whatif" },
	{ { "query", cmd_query, "for how long, and when, a condition on threads holds" },
	  "DIR EXPR", "jbmlwW", NULL },
	{ { "clocks", cmd_clocks, "the clock of each host, and how well it is known" },
	  "DIR", "jbml", NULL },
	{ { "check", cmd_check, "verify a trace; say what is wrong" }, "DIR", "jbml", NULL },
	{ { "dump", cmd_dump, "every record as text" }, "DIR", "jbmlB", NULL },
	{ { "pack", NULL, "make a trace directory of such text; FILE may be -" }, "FILE DIR", "j", NULL },
};
#define NCOMMANDS (sizeof commands / sizeof *commands)

static const struct argp_option option_table[] = {
	{ "json", 'j', NULL, 0, "print JSON; an interval is {\"lo\":x,\"hi\":y}", 0 },
	{ "verbose", 'v', NULL, 0,
	  "csp, report: every rank and thread (default: threads by start routine where they are more than 16)", 0 },
	{ "base", 'b', "HOST", 0,
	  "times are those of this host's clock (default: the first host's)", 0 },
	{ "clock-model", 'm', "MODEL", 0,
	  "what is assumed of clocks: drift:PPM (default: drift:10), or affine", 0 },
	{ "links", 'l', "WHICH", 0,
	  "what clocks are known by: all (default), or only the packets, not the program's own "
	  "messages and barriers", 0 },
	{ "work", 'w', "REGION", 0,
	  "csp, query, report: what counts as work (default: any region, and in programs without marks all "
	  "time outside of operations)", 0 },
	{ "wait", 'W', "NAME", 0,
	  "csp, query, report: the region or site where threads wait for each other "
	  "(default: whatever waits for others: barriers, receives, locks, joins, ...)",
	  0 },
	{ "frames", 'f', NULL, 0,
	  "csp: add the aggregated event view: frames in which no thread changes its state", 0 },
	{ "instances", 'i', "REGION", 0,
	  "csp: add the instances of this region: how long, and who is slowest in each", 0 },
	{ "region", 'r', "NAME", 0, "coz: what takes less time (default: each region)", 0 },
	{ "all-work", 'a', NULL, 0,
	  "coz: all work takes less time: any region, and what programs without marks do outside of regions", 0 },
	{ "rank", 'R', "N", 0, "coz: on this rank only, or on this pid where there are no ranks (default: on all)", 0 },
	{ "thread", 'N', "N", 0, "coz: on threads of this number only (default: on all)", 0 },
	{ "reduce", 'p', "PERCENT", 0, "coz: by how much (default: by 0, 5, ... 100 percent)", 0 },
	{ "transfer", 't', "worst", 0,
	  "coz: assume nothing of how long messages and locks take (default: what was measured)",
	  0 },
	{ "progress", 'P', "NAME", 0, "coz: how often this progress point is reached", 0 },
	{ "from", 'F', "NAME", 0, "coz: how long it takes from this progress point ...", 0 },
	{ "to", 'T', "NAME", 0, "coz: ... to this one", 0 },
	{ "bounds", 'B', NULL, 0, "dump: add the interval of its time to each event", 0 },
	{ "h", 'h', NULL, OPTION_HIDDEN, NULL, 0 }, /* as --help */
	{ 0 },
};

#define DEFAULT_DRIFT_PPB 10000 /* several times what heat does to a crystal in a machine room */

struct arguments {
	struct options options;
	const char **word;       /* room for all of the command line */
	size_t nwords;
	char given[24];          /* keys of the options, in order */
};

static int usage(const char *format, const char *what, const char *like)
{
	char *shown = shown_copy(what);
	fputs("dprof-analyze: ", stderr);
	fprintf(stderr, format, shown);
	free(shown);
	if (like)
		fprintf(stderr, ": did you mean %s?", like);
	fputs("\n(dprof-analyze --help lists commands and options)\n", stderr);
	return EXIT_USAGE;
}

/* ---- The command line ------------------------------------------------------------------------ */

/* argp has nothing to say about an option that it does not know; the nearest one helps more. */
static int check_options(char **argv)
{
	static const char *const more[] = { "help", "version", "usage" };
	const char *names[32];
	size_t n = 0;
	for (const struct argp_option *o = option_table; o->name; o++)
		names[n++] = o->name;
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		names[n++] = more[i];
	for (char **arg = argv + 1; *arg && strcmp(*arg, "--") != 0; arg++) {
		bool known = strncmp(*arg, "--", 2) != 0;
		size_t length = known ? 0 : strcspn(*arg + 2, "=");
		for (size_t i = 0; i < n && !known; i++)
			known = strncmp(names[i], *arg + 2, length) == 0;
		if (known)
			continue;
		char *misspelt = mem_format("%.*s", (int)length, *arg + 2);
		const char *like = nearest(misspelt, names, n);
		char *option = like ? mem_format("--%s", like) : NULL;
		int status = usage("there is no option --%s", misspelt, option);
		free(misspelt);
		free(option);
		return status;
	}
	return EXIT_FINE;
}

/* "affine" or "drift:PPM" */
static bool read_model(const char *text, struct frz_assumption *assumption)
{
	char *end;
	*assumption = (struct frz_assumption){ .model = FRZ_AFFINE };
	if (strcmp(text, "affine") == 0)
		return true;
	if (strncmp(text, "drift:", strlen("drift:")) != 0)
		return false;
	const char *digits = text + strlen("drift:");
	double ppm = strtod(digits, &end);
	if (end == digits || *end || !(ppm > 0 && ppm <= 1000000))
		return false;
	assumption->model = FRZ_DRIFT;
	assumption->ppb = (uint32_t)(ppm * 1000 + 0.5);
	return true;
}

static bool is_directory(const char *name)
{
	struct stat found;
	return stat(name, &found) == 0 && S_ISDIR(found.st_mode);
}

static error_t take(int key, char *value, struct argp_state *state)
{
	struct arguments *a = state->input;
	struct options *o = &a->options;
	const char *keys = "jvbmlwWfiBraRNptPFT";
	if (key > 0 && key < 128 && strchr(keys, key) && !strchr(a->given, key))
		a->given[strlen(a->given)] = (char)key;
	switch (key) {
	case 'j': o->json = true; break;
	case 'v': o->verbose = true; break;
	case 'b': o->base = value; break;
	case 'w': o->work = value; break;
	case 'W': o->wait = value; break;
	case 'f': o->frames = true; break;
	case 'i': o->instances = value; break;
	case 'B': o->bounds = true; break;
	case 'l':
		if (strcmp(value, "all") != 0 && strcmp(value, "packets") != 0)
			exit(usage("--links: expected packets or all, found '%s'", value, NULL));
		o->packets_only = strcmp(value, "packets") == 0;
		break;
	case 'r': o->region = value; break;
	case 'a': o->all_work = true; break;
	case 'R': o->rank = value; break;
	case 'N': o->thread = value; break;
	case 'p': o->reduce = value; break;
	case 't': o->transfer = value; break;
	case 'P': o->progress = value; break;
	case 'F': o->from = value; break;
	case 'T': o->to = value; break;
	case 'm':
		if (!read_model(value, &o->assumption))
			exit(usage("--clock-model: expected affine or drift:PPM (0 < PPM <= "
				   "1000000), found '%s'",
				   value, NULL));
		break;
	case 'h': argp_state_help(state, stdout, ARGP_HELP_STD_HELP); break;
	case ARGP_KEY_ARG: a->word[a->nwords++] = value; break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The list of commands, for --help. */
static char *list_commands(void)
{
	char *list = mem_copy("Reads a trace that dprof has recorded and says what can be proved "
			      "of it: every number is an interval that contains the true "
			      "value.\n\nCommands:\n");
	for (size_t i = 0; i < NCOMMANDS; i++) {
		char *also = commands[i].alias ? mem_format(" (or: %s)", commands[i].alias) : mem_copy("");
		char *longer = mem_format("%s  %-7s %-9s %s%s\n", list, commands[i].command.name,
					  commands[i].arguments, commands[i].command.help, also);
		free(also);
		free(list);
		list = longer;
	}
	char *whole = mem_format("%s\nOptions:\v"
				 "Exit status: 0 fine; 1 the trace is damaged or contradicts "
				 "itself (what could be computed is printed, what is wrong is "
				 "said); 2 wrong usage.",
				 list);
	free(list);
	return whole;
}

/* ---- Running a command ----------------------------------------------------------------------- */

static size_t find_command(const char *name)
{
	size_t i = 0;
	while (i < NCOMMANDS && strcmp(commands[i].command.name, name) != 0 &&
	       !(commands[i].alias && strcmp(commands[i].alias, name) == 0))
		i++;
	return i;
}

static int unknown_command(const char *name)
{
	const char *names[2 * NCOMMANDS];
	size_t n = 0;
	for (size_t i = 0; i < NCOMMANDS; i++) {
		names[n++] = commands[i].command.name;
		if (commands[i].alias)
			names[n++] = commands[i].alias;
	}
	return usage("there is no command '%s'", name, nearest(name, names, n));
}

static int check_understood(size_t command, const char *given)
{
	for (; *given; given++) {
		const struct argp_option *o = option_table;
		while (o->key != *given)
			o++;
		if (!strchr(commands[command].options, *given)) {
			char *message = mem_format("%s has no option --%s",
						   commands[command].command.name, o->name);
			int status = usage("%s", message, NULL);
			free(message);
			return status;
		}
	}
	return EXIT_FINE;
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

/* Colour only on a terminal, and not when NO_COLOR is set. */
static struct reply *begin_reply(bool as_json)
{
	const char *no = getenv("NO_COLOR");
	return as_json ? render_json(stdout) : render_text(stdout, isatty(STDOUT_FILENO) && !(no && *no));
}

/* What was computed, then what is wrong. */
static int answer(const struct command *command, struct trace *t, const struct options *options)
{
	struct reply *reply = begin_reply(options->json);
	bool said = command->run == cmd_check; /* its reply is the diagnostics */
	if (!said && command->run != cmd_dump)
		trace_check(t);
	bool asks = !said && command->run != cmd_dump && command->run != cmd_clocks;
	if (asks && is_all_lost(t))
		trace_diagnose(t, "%s: expected events, found none that can be read", t->directory);
	int status = asks && is_all_lost(t) ? say_all_lost(reply, t) : command->run(t, options, reply);
	reply_close(reply);
	fflush(stdout);
	for (size_t i = 0; i < t->ndiagnostics && !said && status != EXIT_USAGE; i++)
		fprintf(stderr, "dprof-analyze: %s\n", t->diagnostics[i]);
	return status == EXIT_FINE && t->ndiagnostics ? EXIT_DAMAGED : status;
}

static int run(size_t command, const char *directory, const struct options *options)
{
	char *error;
	struct trace *t = trace_open(directory, &error);
	if (!t) {
		fprintf(stderr, "dprof-analyze: %s\n", error);
		free(error);
		return EXIT_DAMAGED;
	}
	int status = answer(&commands[command].command, t, options);
	trace_close(t);
	return status;
}

static int pack(const char *text, const char *directory, bool as_json)
{
	struct reply *reply = begin_reply(as_json);
	int status = cmd_pack(text, directory);
	if (status == EXIT_FINE)
		reply_value(reply, "directory", tab_text(directory));
	reply_close(reply);
	return status;
}

/* ---- What the words mean --------------------------------------------------------------------- */

static void remove_word(struct arguments *a, size_t at)
{
	a->nwords--;
	memmove(&a->word[at], &a->word[at + 1], (a->nwords - at) * sizeof *a->word);
}

/* The command stands first or behind directories, and is taken out; a directory may be called like one. */
static size_t take_command(struct arguments *a)
{
	size_t at = 0;
	bool alone = a->nwords == 1 && is_directory(a->word[0]);
	while (at < a->nwords && find_command(a->word[at]) == NCOMMANDS && is_directory(a->word[at]))
		at++;
	size_t command = at < a->nwords && !alone ? find_command(a->word[at]) : NCOMMANDS;
	if (command < NCOMMANDS)
		remove_word(a, at);
	return command;
}

/* Among several directories that one in which a file was made last: `dprof-analyze dprof-app.*`. */
static const char *newest(const struct arguments *a)
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

/* Everything but the command and the condition is a directory; else a message has said what is wrong. */
static int choose_directory(struct arguments *a, size_t command, const char **directory)
{
	*directory = a->word[0];
	if (a->nwords == 0)
		return usage(command < NCOMMANDS ? "%s: expected a trace directory behind the command"
						 : "expected a trace directory%s",
			     command < NCOMMANDS ? commands[command].command.name : "", NULL);
	if (a->nwords == 1)
		return EXIT_FINE;
	for (size_t i = 0; i < a->nwords; i++)
		if (!is_directory(a->word[i]))
			return command == NCOMMANDS ? unknown_command(a->word[i])
						    : usage("expected a trace directory, found '%s'", a->word[i], NULL);
	*directory = newest(a);
	shown_complain("of %zu directories this is the newest: %s", a->nwords, *directory);
	return EXIT_FINE;
}

static int run_pack(struct arguments *a)
{
	if (a->nwords != 2)
		return usage("%s: expected a text file (or -) and the directory to make", "pack", NULL);
	return pack(a->word[0], a->word[1], a->options.json);
}

static int run_words(struct arguments *a)
{
	size_t command = take_command(a);
	const char *directory;
	int status = check_understood(command < NCOMMANDS ? command : find_command("report"), a->given);
	if (status != EXIT_FINE)
		return status;
	if (command < NCOMMANDS && !commands[command].command.run)
		return run_pack(a);
	if (command < NCOMMANDS && commands[command].command.run == cmd_query) {
		if (a->nwords < 2)
			return usage("%s: expected a trace directory and a condition, such as "
				     "'count(barrier) == threads-1'", "query", NULL);
		a->options.query = a->word[--a->nwords];
	}
	status = choose_directory(a, command, &directory);
	return status != EXIT_FINE ? status
				   : run(command < NCOMMANDS ? command : find_command("report"), directory, &a->options);
}

int main(int argc, char **argv)
{
	struct arguments arguments = { .options.assumption = { FRZ_DRIFT, DEFAULT_DRIFT_PPB } };
	arguments.word = mem_resize(NULL, (size_t)argc + 1, sizeof *arguments.word);
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow: writing fails, which is looked at */
	char *doc = list_commands();
	struct argp argp = { option_table, take, "[COMMAND] DIR\nquery DIR EXPR\npack FILE DIR", doc, NULL,
			     NULL,         NULL };
	argp_err_exit_status = EXIT_USAGE;
	int status = check_options(argv);
	if (status == EXIT_FINE) {
		argp_parse(&argp, argc, argv, 0, NULL, &arguments);
		status = run_words(&arguments);
	}
	free(doc);
	free(arguments.word);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "dprof-analyze: the output cannot be written: %s\n",
			strerror(errno));
		status = EXIT_DAMAGED;
	}
	return status;
}

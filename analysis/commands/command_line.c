/* SPDX-License-Identifier: MIT
 *
 * command_line.c - see command_line.h. argp reads, and prints the help. */
#include "analysis/commands/command_line.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"
#include "runtime/format.h"
#include "runtime/version.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

const char *argp_program_version = "dprof-analyze " DPROF_VERSION " (trace format " TEXT_OF(DPROF_FORMAT_VERSION) ", text form 1)";

#define DEFAULT_DRIFT_PPB 10000 /* several times what heat does to a crystal in a machine room */

/* ---- The table ------------------------------------------------------------------------------- */

/* "affine" or "drift:PPM" */
static bool read_clock_model(struct options *o, const char *text)
{
	char *end;
	o->assumption = (struct frz_assumption){ .model = FRZ_AFFINE };
	if (strcmp(text, "affine") == 0)
		return true;
	if (strncmp(text, "drift:", strlen("drift:")) != 0)
		return false;
	const char *digits = text + strlen("drift:");
	double ppm = strtod(digits, &end);
	if (end == digits || *end || !(ppm > 0 && ppm < 1000000))
		return false;
	o->assumption = (struct frz_assumption){ FRZ_DRIFT, frz_ppb(ppm) };
	return true;
}

static bool read_links(struct options *o, const char *text)
{
	o->packets_only = strcmp(text, "packets") == 0;
	return o->packets_only || strcmp(text, "all") == 0;
}

/* However great: it is a bound. */
static bool read_jobs(struct options *o, const char *text)
{
	char *end;
	bool number = *text >= '0' && *text <= '9';
	o->jobs = strtoul(text, &end, 10);
	return number && !*end && o->jobs > 0;
}

static bool read_sync(struct options *o, const char *text)
{
	*MEM_GROW(o->sync, o->nsync) = text;
	return *text;
}

static bool read_trace_clock(struct options *o, const char *text)
{
	o->trace_clock = frz_source_named(text);
	return o->trace_clock != FRZ_SOURCE_UNKNOWN;
}

#define TO(member) NULL, NULL, offsetof(struct options, member)

static const struct option_line {
	const char *name;
	char key;
	const char *value;           /* what it is called; NULL: there is none, and a flag is set */
	const char *commands;        /* that understand it, and list it in their help; NULL: all that read a trace; "": all */
	bool (*read)(struct options *, const char *); /* takes the value; NULL: it, or the flag, goes where `at` says */
	const char *expected;        /* by that */
	size_t at;
	const char *help;
} table[] = {
	{ "json", 'j', NULL, "", TO(json),
	  "print JSON; an interval is {\"lo\":x,\"hi\":y}" },
	{ "jobs", 'J', "N", "", read_jobs, "a number from 1 on", 0,
	  "use at most N cores (default: all); answers do not depend on it" },
	{ "local", 'L', NULL, NULL, TO(local),
	  "under mpirun, each process reads the files on its own disk (default: all read one folder that they share)" },
	{ "verbose", 'v', NULL, "coz, csp, diagnose, diff, efficiency, path, profile, report, waits", TO(verbose),
	  "all rows, with both ends of intervals (csp, report: every thread, where more than 16 are grouped otherwise; "
	  "coz: all that is assumed)" },
	{ "plain", 'n', NULL, NULL, TO(plain),
	  "write all intervals as lo .. hi, none as x \u00b1y" },
	{ "quiet", 'q', NULL, "", TO(quiet),
	  "no progress and no remarks on standard error, only errors" },
	{ "base", 'b', "HOST", NULL, TO(base),
	  "give times on this host's clock (default: that of rank 0's host)" },
	{ "clock-model", 'm', "MODEL", NULL, read_clock_model, "affine or drift:PPM (0 < PPM < 1000000)", 0,
	  "what is assumed of clocks: drift:PPM, their rate stays so near to its mean (default: drift:10); or affine, it never changes" },
	{ "links", 'l', "WHICH", NULL, read_links, "packets or all", 0,
	  "bound the clocks by all links (default), or by packets only, without the program's own messages and barriers" },
	{ "work", 'w', "REGION", "csp, query, report", TO(work),
	  "what counts as work (default: any region, and in programs without marks all time outside of "
	  "operations)" },
	{ "wait", 'W', "NAME", "csp, query, report", TO(wait),
	  "the region or site where threads wait for each other (default: whatever waits for others: barriers, "
	  "receives, locks, joins, ...)" },
	{ "frames", 'f', NULL, "csp", TO(frames),
	  "add the aggregated event view: frames in which no thread changes its state" },
	{ "instances", 'i', "REGION", "csp", TO(instances),
	  "add the instances of this region: how long, and who is slowest in each" },
	{ "region", 'r', "NAME", "coz", TO(region),
	  "what takes less time (default: each region)" },
	{ "all-work", 'a', NULL, "coz", TO(all_work),
	  "all work takes less time: any region, and what programs without marks do outside of regions" },
	{ "rank", 'R', "N", "coz", TO(rank),
	  "only on this rank, or in the process with this pid (default: on all)" },
	{ "thread", 'N', "N", "coz", TO(thread),
	  "only on threads with this number (default: on all)" },
	{ "reduce", 'p', "PERCENT", "coz", TO(reduce),
	  "by how much (default: by 0, 5, ... 100 percent)" },
	{ "transfer", 't', "worst", "coz", TO(transfer),
	  "assume nothing of how long messages and locks take (default: what was measured)" },
	{ "progress", 'P', "NAME", "coz", TO(progress),
	  "how much the throughput of this progress point gains" },
	{ "from", 'F', "NAME", "coz, path", TO(from),
	  "coz: the latency from this progress point ...; path: the part of the run from here on (0.5s; a progress point, "
	  "or NAME#3, the third time)" },
	{ "to", 'T', "NAME", "coz, export, path", TO(to),
	  "coz: ... to this one; path: up to here; export: the format, as listed by export --help" },
	{ "every", 'e', "TIME", "path", TO(every),
	  "also each part of the run of this length: 100ms, 1s" },
	{ "calls", 'c', NULL, "profile", TO(calls),
	  "the tree of call paths" },
	{ "flat", 'g', NULL, "profile", TO(flat),
	  "the list of all regions and operations" },
	{ "html", 'H', "FILE", "report", TO(html),
	  "write the report as one file for the browser: timeline, scores, what-ifs, waits, critical path, ..." },
	{ "force", 'O', NULL, "export, report", TO(force),
	  "overwrite an existing file (report: with --html)" },
	{ "sql", 's', "SELECT", "query", TO(sql),
	  "query the trace's tables in SQL, instead of a condition: man dprof-sql" },
	{ "gate", 'G', NULL, "diff", TO(gate),
	  "exit status 3 if B takes more time than A, for use in tests" },
	{ "model", 'M', "MODEL", "diagnose", TO(model),
	  "how the program works: generic, master-worker, pipeline, wavefront, divide-conquer, bsp, task-pool, or auto "
	  "(default), which infers it from messages and collective operations" },
	{ "rules", 'u', "FILE", "diagnose", TO(rules),
	  "apply these rules as well" },
	{ "sync", 'S', "FILE", "audit", read_sync, "a file that freezer measure --log has made", 0,
	  "bound the clocks of hosts by this log of freezer measure, too; may be given more than once" },
	{ "trace-clock", 'C', "CLOCK", "audit", read_trace_clock, "tsc, monotonic, monotonic_raw or realtime", 0,
	  "with --sync: which clock of its host the tool has read, unchanged (default: tsc, as Score-P does)" },
	{ "bounds", 'B', NULL, "dump", TO(bounds),
	  "add the interval of its time to each event" },
};
#define NOPTIONS (sizeof table / sizeof *table)
_Static_assert(NOPTIONS <= COMMAND_LINE_OPTIONS, "more options than command_line.h has room for");

/* ---- What a command understands -------------------------------------------------------------- */

/* Whether "csp, query, report" has "query". */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* `command` NULL: whether all do. */
static bool is_understood(const struct option_line *o, const char *command)
{
	if (!o->commands)
		return !command || (strcmp(command, "pack") != 0 && strcmp(command, "sites") != 0);
	return !*o->commands || (command && has_word(o->commands, command));
}

const char *command_line_misused(const struct command_line *line, const char *command)
{
	for (size_t i = 0; i < NOPTIONS; i++)
		if (line->given[i] && !is_understood(&table[i], command))
			return table[i].name;
	return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

int command_line_refuse(const char *format, const char *what, const char *like)
{
	char *shown = shown_copy(what);
	fputs("dprof-analyze: ", stderr);
	fprintf(stderr, format, shown);
	free(shown);
	if (like)
		fprintf(stderr, ": did you mean %s?", like);
	fputs("\n(dprof-analyze [COMMAND] --help says what there is)\n", stderr);
	return EXIT_USAGE;
}

/* Whether the option has a value: the one of that name, or of a name that begins so. */
static bool has_value(const char *name)
{
	size_t length = strlen(name);
	const struct option_line *found = NULL;
	for (size_t i = 0; i < NOPTIONS; i++)
		if (strncmp(table[i].name, name, length) == 0 && (!found || !table[i].name[length]))
			found = &table[i];
	return found && found->value;
}

/* Whether what follows the argument is its value, whatever that begins with: "--sql", "-s", "-js". */
static bool takes_next(const char *arg)
{
	if (strncmp(arg, "--", 2) == 0)
		return has_value(arg + 2);
	for (const char *at = arg + 1; *arg == '-' && *at; at++)
		for (size_t i = 0; i < NOPTIONS; i++)
			if (table[i].key == *at && table[i].value)
				return !at[1];
	return false;
}

/* argp has nothing to say about an option that it does not know; the nearest one helps more. */
static int check_options(char **argv)
{
	static const char *const more[] = { "help", "version", "usage" };
	const char *names[COMMAND_LINE_OPTIONS + 3];
	size_t n = 0;
	for (; n < NOPTIONS; n++)
		names[n] = table[n].name;
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		names[n++] = more[i];
	for (char **arg = argv + 1; *arg && strcmp(*arg, "--") != 0; arg++) {
		bool known = strncmp(*arg, "--", 2) != 0;
		size_t length = known ? 0 : strcspn(*arg + 2, "=");
		for (size_t i = 0; i < n && !known; i++)
			known = strncmp(names[i], *arg + 2, length) == 0;
		if (known) {
			arg += takes_next(*arg) && arg[1];
			continue;
		}
		char *misspelt = mem_format("%.*s", (int)length, *arg + 2);
		const char *like = nearest(misspelt, names, n);
		char *option = like ? mem_format("--%s", like) : NULL;
		int status = command_line_refuse("there is no option --%s", misspelt, option);
		free(misspelt);
		free(option);
		return status;
	}
	return EXIT_FINE;
}

static void take_option(struct command_line *line, size_t i, const char *value)
{
	const struct option_line *o = &table[i];
	void *to = (char *)&line->options + o->at;
	line->given[i] = true;
	if (o->read && !o->read(&line->options, value)) {
		char *format = mem_format("--%s: expected %s, found '%%s'", o->name, o->expected);
		exit(command_line_refuse(format, value, NULL));
	}
	if (!o->read && o->value)
		*(const char **)to = value;
	else if (!o->read)
		*(bool *)to = true;
}

static error_t take(int key, char *value, struct argp_state *state)
{
	struct command_line *line = state->input;
	for (size_t i = 0; i < NOPTIONS; i++)
		if (key == table[i].key) {
			take_option(line, i, value);
			return 0;
		}
	if (key == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	line->word[line->nwords++] = value;
	return 0;
}

int command_line_read(struct command_line *line, int argc, char **argv, const struct command_line_help *help)
{
	struct argp_option options[NOPTIONS + 2] = { [NOPTIONS] = { "h", 'h', NULL, OPTION_HIDDEN, NULL, 0 } }; /* as --help */
	struct argp argp = { options, take, help->words, help->text, NULL, NULL, NULL };
	*line = (struct command_line){ .options.assumption = { FRZ_DRIFT, DEFAULT_DRIFT_PPB } };
	line->word = mem_resize(NULL, (size_t)argc + 1, sizeof *line->word);
	int status = check_options(argv);
	if (status != EXIT_FINE)
		return status;
	for (size_t i = 0; i < NOPTIONS; i++) {
		const struct option_line *o = &table[i];
		int shown = is_understood(o, help->command) ? 0 : OPTION_HIDDEN;
		int group = o->commands && *o->commands ? 1 : 2; /* first what only some commands understand */
		options[i] = (struct argp_option){ o->name, o->key, o->value, shown, o->help, group };
	}
	for (char **arg = argv + 1; *arg && !line->behind; arg++) /* argp moves "--" before all words */
		if (strcmp(*arg, "--") == 0)
			line->behind = arg[1];
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, line);
	return EXIT_FINE;
}

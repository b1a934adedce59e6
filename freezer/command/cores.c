/* SPDX-License-Identifier: MIT
 *
 * cores.c - `freezer cores`: how far the counters of this host's cores may differ. */
#define _GNU_SOURCE
#include "freezer/cores.h"

#include <stdio.h>
#include <string.h>

#include "freezer/clock.h"
#include "freezer/command/command.h"

#define DEADLINE_NS 10000000000u /* of a machine that is busy; else it takes milliseconds */

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "print JSON", 0 },
	{ "h", 'h', NULL, OPTION_HIDDEN, NULL, 0 }, /* as --help */
	{ 0 },
};

static error_t parse(int option, char *value, struct argp_state *state)
{
	(void)value;
	if (option == ARGP_KEY_ARG)
		argp_usage(state);
	if (option == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	if (option != 'j')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

static void print_text(const struct frz_cores *c)
{
	puts("  core   ticks ahead of the first");
	for (size_t i = 0; i < c->n; i++)
		if (i == 0)
			printf("  %4d   the first\n", c->core[i].number);
		else if (c->core[i].rounds)
			printf("  %4d   [%lld, %lld]\n", c->core[i].number,
			       (long long)c->core[i].lo, (long long)c->core[i].hi);
		else
			printf("  %4d   too busy to be compared\n", c->core[i].number);
	printf("Any stamp of %zu core%s is within %llu ticks (%.0f ns) of one clock.\n",
	       c->compared + 1, c->compared ? "s" : "", (unsigned long long)c->uncertainty,
	       (double)c->uncertainty / frz_ghz() + 0.5);
	if (c->disagree)
		printf("%zu core%s for certain: they are clocks of their own.\n", c->disagree,
		       c->disagree > 1 ? "s differ from the first" : " differs from the first");
}

static void print_json(const struct frz_cores *c)
{
	printf("{\"clock\":\"%s\",\"ghz\":%.9f,\"halfwidth_ticks\":%llu,\"compared\":%zu,"
	       "\"disagree\":%zu,\"cores\":[",
	       frz_source_word(frz_source()), frz_ghz(), (unsigned long long)c->uncertainty,
	       c->compared, c->disagree);
	for (size_t i = 0; i < c->n; i++) {
		printf("%s{\"core\":%d", i ? "," : "", c->core[i].number);
		if (c->core[i].rounds || i == 0)
			printf(",\"ahead_ticks\":{\"lo\":%lld,\"hi\":%lld}",
			       (long long)c->core[i].lo, (long long)c->core[i].hi);
		putchar('}');
	}
	puts("]}");
}

int cmd_cores(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Compare the counters of the cores on which this command may run, by stamps that go "
		"to and fro in shared memory.",
		NULL, NULL, NULL,
	};
	struct frz_cores cores;
	bool json = false;
	cpu_set_t set;
	int error = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &json);
	frz_source();
	if (sched_getaffinity(0, sizeof set, &set))
		CPU_ZERO(&set);
	error = frz_cores_compare(&cores, &set, DEADLINE_NS);
	if (error) {
		fprintf(stderr, "freezer: cannot compare the cores: %s\n", strerror(-error));
		return 1;
	}
	(json ? print_json : print_text)(&cores);
	int status = cores.disagree || cores.compared + 1 < cores.n;

	frz_cores_free(&cores);
	return status;
}

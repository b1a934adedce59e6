/* SPDX-License-Identifier: MIT
 *
 * main.c - the command `freezer`: which command, and what all of them share. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/command/command.h"

static const struct freezer_command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *purpose;
} commands[] = {
	{ "serve", cmd_serve, "answer those who measure against this host's clock" },
	{ "measure", cmd_measure, "bound the offset and the rate of other hosts' clocks" },
	{ "cores", cmd_cores, "whether the cores of this host share a clock, and how closely" },
};

#define NCOMMANDS (sizeof commands / sizeof *commands)

const char *argp_program_version = "freezer 0.1";

/* ---- Shared options ---------------------------------------------------------------------------*/

static const struct argp_option common_options[] = {
	{ "key", 'k', "HEX", 0, "32 hexadecimal digits that both ends know; without it packets are "
	  "protected against damage only", 0 },
	{ "bind", 'b', "IP", 0, "use this address of this host only", 0 },
	{ "name", 'n', "NAME", 0, "what this host is called in logs (default: its host name)", 0 },
	{ "h", 'h', NULL, OPTION_HIDDEN, NULL, 0 }, /* as --help */
	{ 0 },
};

static bool parse_key(const char *text, uint8_t key[FRZ_KEY_SIZE])
{
	if (strlen(text) != 2 * FRZ_KEY_SIZE ||
	    strspn(text, "0123456789abcdefABCDEF") != 2 * FRZ_KEY_SIZE)
		return false;
	for (size_t i = 0; i < FRZ_KEY_SIZE; i++) {
		char byte[3] = { text[2 * i], text[2 * i + 1] };

		key[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return true;
}

static error_t parse_common(int option, char *value, struct argp_state *state)
{
	struct common *common = state->input;

	switch (option) {
	case 'k':
		if (!parse_key(value, common->key))
			argp_error(state, "--key: expected 32 hexadecimal digits, found '%s'",
				   value);
		return 0;
	case 'b':
		common->bind = value;
		return 0;
	case 'n':
		if (!*value || strlen(value) >= FRZ_HOST_NAME)
			argp_error(state, "--name: expected 1 to %d bytes, found '%s'",
				   FRZ_HOST_NAME - 1, value);
		common->name = value;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

#define CORES_NS UINT64_C(2000000000)

int find_host(struct frz_host *host, const struct common *common)
{
	int error = frz_host_here(host, common->name, CORES_NS);

	if (error)
		fprintf(stderr, "freezer: cannot describe this host: %s\n", strerror(-error));
	else if (!host->compared)
		fputs("freezer: not all cores of this host were compared (busy, or not for this process to use): "
		      "dprof-analyze takes no log for its tsc\n", stderr);
	return error;
}

const struct argp common_argp = { .options = common_options, .parser = parse_common };

struct frz_stop stop = { .wake = -1 };

static void ask_to_stop(int signal_number)
{
	(void)signal_number;
	frz_stop_ask(&stop);
}

int catch_stop(void)
{
	struct sigaction action = { .sa_handler = ask_to_stop };
	int error = frz_stop_open(&stop);

	if (error) {
		fprintf(stderr, "freezer: cannot watch for signals: %s\n", strerror(-error));
		return error;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return 0;
}

/* ---- Which command ----------------------------------------------------------------------------*/

static void list_commands(FILE *out)
{
	fprintf(out, "Usage: freezer COMMAND [OPTION...]\n"
		     "Proven bounds on the clocks of other hosts, from timestamped packets.\n\n");
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].purpose);
	fprintf(out, "\n`freezer serve` there and `freezer measure THERE` here is all it takes;\n"
		     "`freezer COMMAND --help` tells more.\n");
}

/* The command's status, if all that it said could be written. */
static int said(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "freezer: standard output cannot be written: %s\n", strerror(errno));
	return status ? status : 1;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	argp_err_exit_status = 2;
	for (size_t i = 0; name && i < NCOMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0) {
			static char full[32];

			snprintf(full, sizeof full, "freezer %s", name);
			argv[1] = full; /* what argp calls the program */
			return said(commands[i].run(argc - 1, argv + 1));
		}
	if (name && (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0)) {
		list_commands(stdout);
		return 0;
	}
	if (name && (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)) {
		puts(argp_program_version);
		return 0;
	}
	if (name)
		fprintf(stderr, "freezer: no command '%s'\n", name);
	list_commands(stderr);
	return 2;
}

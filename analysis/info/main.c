/* SPDX-License-Identifier: MIT
 *
 * dprof-info - says which dprof this is, what it was built for, and what the machine offers. */
#include <argp.h>
#include <stdio.h>

#include "analysis/info/info.h"
#include "analysis/render/render.h"
#include "runtime/version.h"

const char *argp_program_version = "dprof-info " DPROF_VERSION;

static error_t parse(int option, char *value, struct argp_state *state)
{
	if (option == ARGP_KEY_ARG)
		argp_error(state, "expected no more than options, found '%s'", value);
	if (option == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	if (option != 'j')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", 'j', NULL, 0, "print JSON", 0 }, { "h", 'h', NULL, OPTION_HIDDEN, NULL, 0 }, /* as --help */ { 0 } };
	static const struct argp argp = {
		options, parse, NULL,
		"Says which dprof this is, for which GCC and MPI it was built, which variables DPROF_... are set, and "
		"what clock and cores this machine has. Takes a third of a second, in which it compares the "
		"cores.\n\nExample:\n  dprof-info --json",
		NULL, NULL, NULL };
	bool json = false;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &json);
	struct reply *reply = json ? render_json(stdout) : render_text(stdout, (struct text_style){ 0 });
	info_installation(reply);
	info_environment(reply);
	info_machine(reply);
	reply_close(reply);
	return fflush(stdout) || ferror(stdout);
}

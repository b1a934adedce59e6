/* SPDX-License-Identifier: MIT
 *
 * command_line.h - what the user gave. One table has all options: what each is called, which commands understand it, where
 * in struct options its value goes, and its help; nothing else names an option. */
#ifndef ANALYSIS_COMMAND_LINE_H
#define ANALYSIS_COMMAND_LINE_H

#include <stddef.h>

#include "analysis/base/options.h"

#define COMMAND_LINE_OPTIONS 48 /* at most, in the table */

struct command_line {
	struct options options;
	const char **word; size_t nwords; /* the rest: commands, directories, a condition */
	const char *behind;  /* the one behind "--", where there is one; the same pointer */
	bool given[COMMAND_LINE_OPTIONS];
};

/* What --help says, of all commands or of one. */
struct command_line_help {
	const char *command; /* whose options are listed; NULL: those that all commands understand */
	char *words;         /* what may stand behind the program's name; a line for each way */
	char *text;          /* above the options, and behind \v below them */
};

/* EXIT_FINE; or EXIT_USAGE after a message, or the end of the program after --help and the like. `word` is to be freed. */
int command_line_read(struct command_line *, int argc, char **argv, const struct command_line_help *);

/* The first option that was given and that the command does not understand; or NULL. */
const char *command_line_misused(const struct command_line *, const char *command);

/* "dprof-analyze: FORMAT: did you mean LIKE?" on stderr, `what` as it may be shown. EXIT_USAGE. */
int command_line_refuse(const char *format, const char *what, const char *like);

#endif

/* SPDX-License-Identifier: MIT
 *
 * cmd_pack.c - makes a trace directory of a text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/commands/command.h"
#include "analysis/text/text.h"

int cmd_pack(const char *text, const char *directory)
{
	bool standard = strcmp(text, "-") == 0;
	FILE *in = standard ? stdin : fopen(text, "r");
	if (!in) {
		fprintf(stderr, "dprof-analyze: %s: cannot be read: %s\n", text, strerror(errno));
		return EXIT_DAMAGED;
	}
	char *wrong = text_pack(in, standard ? "standard input" : text, directory);
	if (!standard)
		fclose(in);
	if (wrong)
		fprintf(stderr, "dprof-analyze: %s\n", wrong);
	free(wrong);
	return wrong ? EXIT_DAMAGED : EXIT_FINE;
}

/* SPDX-License-Identifier: MIT
 *
 * cmd_pack.c - makes a trace directory of a text, or of another tool's trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/otf2/otf2.h"
#include "analysis/text/text.h"

static char *pack_text(const char *text, const char *directory)
{
	bool standard = strcmp(text, "-") == 0;
	FILE *in = standard ? stdin : fopen(text, "r");
	char *wrong = in ? text_pack(in, standard ? "standard input" : text, directory)
			 : mem_format("%s: cannot be read: %s", text, strerror(errno));
	if (in && !standard)
		fclose(in);
	return wrong;
}

int cmd_pack(const char *file, const char *directory)
{
	char *wrong = otf2_is(file) ? otf2_pack(file, OTF2_RAW, NULL, directory) : pack_text(file, directory);
	if (!wrong)
		return EXIT_FINE;
	char *shown = shown_copy(wrong);
	fprintf(stderr, "dprof-analyze: %s\n", shown);
	free(shown);
	free(wrong);
	return EXIT_DAMAGED;
}

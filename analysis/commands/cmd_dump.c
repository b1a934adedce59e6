/* SPDX-License-Identifier: MIT
 *
 * cmd_dump.c - every record as it is stored, in the text form. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/commands/command.h"
#include "analysis/text/text.h"
#include "analysis/text/text_data.h"

int cmd_dump(struct trace *t, const struct options *options, struct reply *reply)
{
	static char buffer[1 << 16];
	struct times times;
	int status = options->bounds ? times_open(&times, t, options) : EXIT_FINE;
	if (status != EXIT_FINE)
		return status;
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	if (options->json)
		text_fill(reply, t, options->bounds ? &times : NULL);
	else
		text_dump(stdout, t, options->bounds ? &times : NULL);
	if (options->bounds)
		times_close(&times);
	return EXIT_FINE;
}

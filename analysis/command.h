/* SPDX-License-Identifier: MIT
 *
 * command.h - what every command of dprof-analyze is given and gives back.
 *
 * One file per command, cmd_NAME.c; the table of them is in main.c. */
#ifndef ANALYSIS_COMMAND_H
#define ANALYSIS_COMMAND_H

#include <stdbool.h>

#include "analysis/trace.h"

enum { EXIT_FINE = 0, EXIT_DAMAGED = 1, EXIT_USAGE = 2 };

struct options {
	bool json;
	const char *base;                /* host name of the base clock; NULL: the trace's first */
	struct frz_assumption assumption;
	bool packets_only;               /* no links from the program */
	const char *work, *wait;         /* csp: names of a region and of a region or site; NULL: default */
	bool bounds;                     /* dump */
	const char *region, *rank;       /* coz: what takes less; NULL: each, all */
	const char *reduce;              /* coz: by so many percent; NULL: 0, 5, ... 100 */
	const char *transfer;            /* coz: "worst" or NULL */
	const char *progress, *from, *to; /* coz: names of progress points, or NULL */
	const char *query;               /* query: the condition */
	bool frames;                     /* csp: the aggregated event view, too */
	const char *instances;           /* csp: by instances of this region, too; or NULL */
	const char *method;              /* clocks: of others, for comparison; NULL: dprof's own */
};

struct command {
	const char *name;
	int (*run)(struct trace *, const struct options *); /* one of the EXIT_ values */
	const char *help;
};

int cmd_report(struct trace *, const struct options *);
int cmd_csp(struct trace *, const struct options *);
int cmd_coz(struct trace *, const struct options *);
int cmd_query(struct trace *, const struct options *);
int cmd_clocks(struct trace *, const struct options *);
int cmd_check(struct trace *, const struct options *);
int cmd_dump(struct trace *, const struct options *);
int cmd_pack(const char *text, const char *directory); /* has no trace yet */

#endif

/* SPDX-License-Identifier: MIT
 *
 * options.h - what the user asked for, and what a command says when it ends. */
#ifndef ANALYSIS_OPTIONS_H
#define ANALYSIS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "freezer/clock.h"
#include "freezer/solve.h"

struct program_links;

enum { EXIT_FINE = 0, EXIT_DAMAGED = 1, EXIT_USAGE = 2, EXIT_SLOWER = 3 };

struct options {
	bool json;
	bool verbose;                    /* every row, and both ends of intervals */
	bool plain;                      /* both ends of intervals */
	bool quiet;                      /* no progress and no remarks on standard error */
	size_t jobs;                     /* threads of the analysis; 0: as many as there are cores */
	bool local;                      /* under mpirun: each process has a directory of its own */
	const char *base;                /* host name of the base clock; NULL: the trace's first */
	struct frz_assumption assumption;
	bool packets_only;               /* no links from the program */
	const struct program_links *of_run; /* not asked for: packets are made up, and what the program proves is that
					       of the run (rerun.h); or NULL */
	bool matches_again;              /* not asked for: the command needs what links are made of once more */
	const char *work, *wait;         /* csp: names of a region and of a region or site; NULL: default */
	bool bounds;                     /* dump */
	bool all_work;               /* coz: instead of regions */
	const char *region, *rank, *thread; /* coz: what takes less; NULL: each, all */
	const char *reduce;              /* coz: by so many percent; NULL: 0, 5, ... 100 */
	const char *transfer;            /* coz: "worst" or NULL */
	const char *progress, *from, *to; /* coz: names of progress points, or NULL; path: moments; export: `to` is a format */
	const char *every;               /* path: how long a slice is, or NULL */
	const char *query;               /* query: the condition */
	const char *sql;                 /* query: a SELECT instead, or NULL */
	const char *output;              /* export: the file to write */
	const char *const *directories; size_t ndirectories; /* efficiency, path, diff: all that were given, the first
								of them opened */
	size_t nfirst;                   /* diff: so many of them are A's */
	bool gate;                       /* diff: EXIT_SLOWER if B's runs are */
	const char *html;                /* report: write a page for the browser there */
	bool force;                      /* report, export: over what is there */
	bool calls, flat;                /* profile: the tree of call paths, or the list, instead of the page */
	const char *model, *rules;       /* diagnose: NULL: auto; a file, or NULL */
	const char *audited;             /* audit: another tool's trace; */
	const char *corrected, *recorded; /* and directories: of that with its corrections, and then as if all had one clock */
	const char **sync; size_t nsync; /* audit: logs of freezer measure, to be freed; */
	enum frz_source trace_clock;     /* which of a host's clocks the trace has read; 0: its tsc */
	const struct sync_logs *logs;    /* not asked for: those of --sync, as they were read; or NULL */
	bool by_order;                   /* audit: which of its operations belong together is taken from their order,
					    which may be wrong */
	bool frames;                     /* csp: the aggregated event view, too */
	const char *instances;           /* csp: by instances of this region, too; or NULL */
};

#endif

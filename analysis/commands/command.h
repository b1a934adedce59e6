/* SPDX-License-Identifier: MIT
 *
 * command.h - what every command of dprof-analyze is given and gives back.
 *
 * One file per command, cmd_NAME.c; the table of them is in main.c. A command fills a reply, which main.c has rendered;
 * dump, whose text is a form of its own, writes that itself. */
#ifndef ANALYSIS_COMMAND_H
#define ANALYSIS_COMMAND_H

#include "analysis/base/options.h"
#include "analysis/calls/calls.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/report/unrecorded.h"
#include "analysis/path/path.h"
#include "analysis/tables/reply.h"
#include "analysis/trace/trace.h"
#include "analysis/waits/waits.h"

struct command {
	const char *name;
	int (*run)(struct trace *, const struct options *, struct reply *); /* one of the EXIT_ values */
	const char *help;
};

int cmd_report(struct trace *, const struct options *, struct reply *);
int cmd_csp(struct trace *, const struct options *, struct reply *);
int cmd_coz(struct trace *, const struct options *, struct reply *);
int cmd_path(struct trace *, const struct options *, struct reply *);
int cmd_waits(struct trace *, const struct options *, struct reply *);
int cmd_efficiency(struct trace *, const struct options *, struct reply *);
int cmd_profile(struct trace *, const struct options *, struct reply *);
int cmd_diff(struct trace *, const struct options *, struct reply *);
int cmd_diagnose(struct trace *, const struct options *, struct reply *);
int cmd_query(struct trace *, const struct options *, struct reply *);
int cmd_clocks(struct trace *, const struct options *, struct reply *);
int cmd_check(struct trace *, const struct options *, struct reply *);
int cmd_audit(struct trace *, const struct options *, struct reply *);
int cmd_dump(struct trace *, const struct options *, struct reply *);
int cmd_export(struct trace *, const struct options *, struct reply *);
char *export_formats(void); /* lines for --help; to be freed */
int cmd_pack(const char *file, const char *directory); /* has no trace yet */
int cmd_sites(const char *const *files, size_t count, struct reply *); /* needs none */

/* The same of what is there already, without what relations_run() says beside it (relations.h). reply_path: false after
 * a message, if no part of the run is what was asked for. */
void reply_waits(struct reply *, const struct graph *, const struct waits *, const struct unrecorded *, const struct options *);
bool reply_path(struct reply *, struct path *, const struct options *);
void reply_profile(struct reply *, const struct graph *, const struct call_profile *, const struct options *);
void reply_efficiency(struct reply *, struct trace *, const struct graph *, const struct waits *, const struct options *);
/* False: rules could not be used, and there is no diagnosis; else it is to be closed. */
bool reply_diagnosis(struct reply *, struct graph *, const struct waits *, const struct call_profile *,
		     const struct diagnosis_doubts *, const struct options *, struct diagnosis *);
/* Of a graph and with a diagnosis that are there, or NULL. */
int reply_report(struct trace *, const struct options *, struct reply *, struct graph *, const struct diagnosis *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * sync_logs.h - logs of `freezer measure --log`, which say of another tool's trace what its hosts' clocks showed.
 *
 * Law: all links are of the logs, and a clock in them is that of one boot of one host. They are true of a trace's
 * stamps if these are readings of that clock (`of`) in that boot; what can be seen of that is looked at: the stamps lie
 * between the first and the last that the logs have of it. */
#ifndef ANALYSIS_SYNC_LOGS_H
#define ANALYSIS_SYNC_LOGS_H

#include "analysis/trace/trace.h"
#include "freezer/host.h"

struct sync_host {
	struct frz_host is;
	const char *path;        /* of the first log that has it */
	bool asks;               /* it measured others: its endpoint's clock relates theirs */
};

struct sync_logs {
	struct sync_host *hosts; size_t nhosts; /* by name, each once */
	struct frz_link *links; size_t nlinks;  /* of clocks frz_log_clock(host, source) */
	enum frz_source of;                     /* which of a host's clocks the trace's stamps are readings of */
};

/* NULL, or what went wrong (to be freed): a log that is damaged anywhere is not used. To be freed in any case. */
char *sync_logs_read(struct sync_logs *, const char *const *paths, size_t n);
void sync_logs_free(struct sync_logs *);

/* Its place among the hosts, or SIZE_MAX. */
size_t sync_logs_find(const struct sync_logs *, const char *name);

/* NULL, or why stamps of a host that are so many ticks a second cannot be readings of that clock (to be freed). */
char *sync_logs_refuse(const struct sync_logs *, size_t host, uint64_t ticks_per_s);

/* NULL, or why stamps of a clock that is in links cannot be related to each other: cores of its host may differ (to be freed). */
char *sync_logs_scattered(const struct sync_logs *, uint32_t clock);

/* Of a trace whose clocks are named like the hosts and have the links: NULL, or why its stamps cannot be of those
 * clocks (to be freed). */
char *sync_logs_misfit(const struct sync_logs *, const struct trace *);

#endif

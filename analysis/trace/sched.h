/* SPDX-License-Identifier: MIT
 *
 * sched.h - what the kernel counted of a thread: how often it moved to another core, how long it ran, and how
 * long it could have run while another one had its core.
 *
 * The kernel was asked now and then, each time between two stamps (format.h, struct dprof_sched); these may be
 * of another core than the thread's own stamps, which differs by up to the host's uncertainty.
 * Counts begin with the thread and never fall.
 *
 * Law: sched_moves() is no less than how often the thread moved to another core between two of its events; and
 * the true times lie in the intervals of sched_use(). */
#ifndef ANALYSIS_SCHED_H
#define ANALYSIS_SCHED_H

#include "analysis/base/interval.h"
#include "analysis/base/lines.h"
#include "analysis/trace/trace.h"

#define SCHED_UNKNOWN UINT64_MAX
#define SCHED_NOMINAL_ERROR 1e-3 /* of a clock's nominal frequency against the kernel's seconds */

/* Between two events of the thread, with stamps from <= to; SCHED_UNKNOWN when there is no telling. */
uint64_t sched_moves(const struct trace *, size_t thread, uint64_t from, uint64_t to);

/* What became of the time between two events of a thread, in seconds by the kernel's clock. Time in which it
 * neither ran nor was delayed, it was blocked. */
struct sched_use {
	bool known;             /* the kernel told how long it ran and how long it was delayed */
	struct interval cpu_s;  /* it ran */
	struct interval delay_s; /* it could have run, and waited for a core that another one had: as the kernel counts it (blocked.h) */
	uint64_t involuntary;   /* since it was created, when asked last, its core had been taken from it so often */
};
struct sched_use sched_use(const struct trace *, size_t thread, uint64_t from, uint64_t to);

/* What stands behind the thread in a line "sched THREAD ...": of the values of FROM, TO, DPROF_SCHED and last=,
 * in this order; and written, with the end of the line. */
#define SCHED_VALUES 7
struct dprof_sched sched_of_values(const struct ln_value[SCHED_VALUES]);
void sched_put(FILE *, const struct dprof_sched *);

/* Whether a thread's answers, sorted by `from`, do not contradict each other. */
bool sched_possible(const struct dprof_sched *, size_t n);

#endif

/* SPDX-License-Identifier: MIT
 *
 * points.h - progress points: how often one is reached, how long it takes from one to another.
 *
 * throughput   of one point, n times reached: (n - 1) / (last - first). The gain is that of this
 *              rate.
 * latency      from a point to another, the mean over matched instances: those of the same id; of
 *              points without an id the k-th of a thread with the k-th of that thread. The gain is
 *              what the mean is shorter.
 * Little's law the same without knowing what belongs together: the number under way, averaged over
 *              time, is rate times latency; so the mean latency is the sum over time of what is
 *              under way by the number that set out. What has not arrived is under way until the
 *              end.
 *
 * Law: given bounds of savings, the gains in percent contain the truth. They can be negative, when
 * the earlier point gains more than the later one. */
#ifndef ANALYSIS_POINTS_H
#define ANALYSIS_POINTS_H

#include "analysis/base/interval.h"
#include "analysis/coz/coz.h"

enum points_what { POINTS_THROUGHPUT, POINTS_LATENCY, POINTS_LITTLE, POINTS_WHATS };

struct points {
	bool pair;
	struct coz_probe *probes; size_t nprobes;
	uint8_t *ends;               /* of each probe: it is of the second point */
	uint64_t count[2], matched;  /* instances of each point; pairs */
	bool known[POINTS_WHATS];    /* there are instances enough */
	frz_time total[POINTS_WHATS]; /* last - first; sums of latencies */
	size_t *first, *last; size_t nthreads; /* probes: each thread's first and last */
};

/* Names of progress points; `to` NULL: the throughput of `from`. */
void points_open(struct points *, const struct trace *, const struct times *, const char *from,
		 const char *to);
void points_close(struct points *);

/* What is known before anything is reduced; call it once, after coz_open. */
void points_measure(struct points *, const struct coz *);

/* Gains in percent in every scenario, row by row; to be freed. */
struct interval *points_gains(const struct points *, struct coz *, enum coz_answer, enum points_what);

#endif

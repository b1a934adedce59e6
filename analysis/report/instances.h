/* SPDX-License-Identifier: MIT
 *
 * instances.h - a region's instances, over all threads: which iteration is slow, and who in it?
 *
 * The instance of a visit is the id of its ENTER (#pragma dprof region(NAME) instance(EXPR)), or,
 * where that is missing, its index among the visits of its thread, from 0. A visit is *left out*
 * when its exit is not known, and when it has no id and records of its thread were lost before it.
 *
 * Who is *slowest* worked longest: visits are compared without what their threads waited in them (states.h), as whoever
 * waits in a visit for another is in it for as long.
 *
 * Law: the time from the first enter of an instance's visits to their last exit lies in its length; the length of its
 * longest and of its shortest visit lie in theirs; for how long the slowest one did not wait lies in its work, also if the
 * thread was blocked in what was not recorded (unrecorded.h); and it is *proved* to be the slowest when that is above
 * the work of all visits of others.
 *
 * Memory grows with the number of instances. */
#ifndef ANALYSIS_INSTANCES_H
#define ANALYSIS_INSTANCES_H

#include "analysis/report/findings.h"
#include "analysis/tables/reply.h"

struct instance {
	uint64_t id;
	uint64_t visits;
	frz_time begin, end;      /* of the first enter, of the last exit */
	uint32_t clock;           /* of all its visits; UINT32_MAX: of several */
	uint64_t first, last;     /* stamps on it */
	frz_time length;
	frz_time longest, shortest; /* of the visits */
	size_t slowest;           /* thread of the one with the most work, by its middle; as recorded, and as it may be: */
	frz_time slowest_recorded, slowest_work;
	int64_t rival;            /* the most that a visit of another rank may work */
	bool proved;
};

struct instances {
	const char *region;
	struct instance *list; size_t count; /* by length, longest first */
	uint64_t left_out;        /* visits */
	bool counted;             /* some visits had no id */
	frz_time shortest, median, longest; /* of the instances */
	uint32_t time_base;
};

/* False, with a message on stderr, when the trace has no such region. Threads on other time bases
 * than that of the first visit are left out. */
bool instances_open(struct instances *, const struct findings *, const char *region);
void instances_close(struct instances *);

/* "by_instance" among the data. */
void instances_fill(struct reply *, const struct instances *, const struct findings *);

#endif

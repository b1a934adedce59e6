/* SPDX-License-Identifier: MIT
 *
 * machine.c - the clock that a program would be stamped by here, its cores, and what the kernel counts of threads. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "analysis/info/info.h"
#include "freezer/clock.h"
#include "freezer/cores.h"

#define COMPARE_NS 300000000u /* a busy machine may leave cores that were not compared */

static void fill_clock(struct reply *r)
{
	bool tsc = frz_source() == FRZ_TSC;
	reply_value(r, "clock.source", tab_text(frz_source_word(frz_source())));
	reply_value(r, "clock.nominal_ghz", tab_upper(frz_ghz())); /* no bound: one number */
	reply_say(r, SAY_INDENTED, "clock: %s, nominally %.3f GHz%s",
		  tsc ? "the time stamp counter (TSC), which is invariant" : "CLOCK_MONOTONIC_RAW", frz_ghz(),
		  tsc ? "" : ": the TSC is not invariant here, and each event costs a call more");
}

/* Nothing is said of cores that were not compared. */
static void say_cores(struct reply *r, const struct frz_cores *c, double ns)
{
	if (c->n == 1)
		reply_say(r, SAY_INDENTED, "cores: 1");
	else if (c->compared == 0)
		reply_say(r, SAY_INDENTED,
			  "cores: %zu, too busy to be compared now: whether they share a clock is not known", c->n);
	else if (c->compared < c->n - 1)
		reply_say(r, SAY_INDENTED, "cores: %zu, of which %zu share a clock to within %.0f ns; the others were "
			  "too busy to be compared now", c->n, c->compared + 1, ns);
	else
		reply_say(r, SAY_INDENTED, "cores: %zu, which share a clock to within %.0f ns", c->n, ns);
	if (c->disagree)
		reply_say(r, SAY_INDENTED,
			  "%zu of them differ from the first for certain: they are clocks of their own.", c->disagree);
}

static void fill_cores(struct reply *r)
{
	struct frz_cores cores;
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) != 0 || frz_cores_compare(&cores, &set, COMPARE_NS) != 0) {
		reply_say(r, SAY_INDENTED, "cores: they cannot be compared");
		return;
	}
	double ns = ceil((double)cores.uncertainty / frz_ghz());
	reply_value(r, "cores.count", tab_count((int64_t)cores.n));
	reply_value(r, "cores.compared", tab_count((int64_t)cores.compared));
	reply_value(r, "cores.disagree", tab_count((int64_t)cores.disagree));
	reply_value(r, "cores.uncertainty_ns", tab_upper(ns));
	say_cores(r, &cores, ns);
	frz_cores_free(&cores);
}

static void fill_kernel(struct reply *r)
{
	bool sched = access("/proc/self/schedstat", R_OK) == 0;
	reply_value(r, "schedstat", tab_flag(sched));
	reply_say(r, SAY_INDENTED, "kernel: %s", sched ? "counts for how long threads ran and waited for a core (schedstat)"
						     : "no schedstat: who shared a core is not known");
}

void info_machine(struct reply *r)
{
	reply_say(r, SAY_HEADING, "Machine");
	fill_clock(r);
	fill_cores(r);
	fill_kernel(r);
}

/* SPDX-License-Identifier: MIT
 *
 * clocks.c - loops and sleeps whose end a clock decides that the program reads, where the plugin has seen that (plugin/clocks.cc):
 *
 *   ENTER nanosleep until=NS role=1 ... EXIT             for what was left of a time (libc/sleeps.c)
 *   ENTER loop until a time until=NS role=3 ... EXIT     it did nothing but read the clock, nor sleep
 *   ENTER loop until a time offset=NS role=2 EXIT        it began so long before, and did what is recorded in between
 *   ENTER loop until a time role=2 EXIT                  that time was over already: once for several that follow each other
 *   ENTER no time left to sleep role=2 EXIT              likewise
 *
 * Law: a loop in which nothing else is done or recorded is one operation, from where it began until it is over. */
#include "runtime/adapter.h"
#include "runtime/clocks.h"
#include "runtime/sys.h"

#define A_WHILE 10 /* times what is recorded of a call that blocks: a loop that was over sooner has come too late */

__thread const struct dprof_site *dprof_adapter_rests;

DPROF_EXPORT void dprof_rests(const struct dprof_site *);
DPROF_EXPORT void dprof_rested(void);
DPROF_EXPORT void dprof_loop_begins(struct dprof_moment *);
DPROF_EXPORT void dprof_loop_is_over(const struct dprof_site *, const struct dprof_moment *since, int does);

static __thread const struct dprof_site *late; /* was so the last time, as were those before */

static void record_until(const struct dprof_site *site, uint64_t from, uint64_t now)
{
	struct timespec t = { 0 };

	sys(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	const struct dprof_argument a[] = { { DPROF_KEY_UNTIL, frz_ns(&t) }, { DPROF_KEY_ROLE, DPROF_ROLE_PACE } };
	dprof_adapter_record_visit_with(site, from, now, a, 2);
}

void dprof_was_open(const struct dprof_site *site, uint64_t from, uint64_t now)
{
	uint64_t ns = (uint64_t)((double)(now - from) / frz_ghz());
	const struct dprof_argument a[] = { { DPROF_KEY_ROLE, DPROF_ROLE_OPEN }, { DPROF_KEY_OFFSET, ns } };

	dprof_adapter_record_visit_with(site, now, now, a, from < now ? 2 : 1);
}

static void is_late(const struct dprof_site *site, uint64_t now)
{
	if (late != site)
		dprof_was_open(site, now, now);
	late = site;
}

void dprof_rests(const struct dprof_site *site)
{
	dprof_adapter_rests = site;
}

void dprof_rested(void)
{
	const struct dprof_site *site = dprof_adapter_rests;

	dprof_adapter_rests = NULL;
	if (!site)
		late = NULL;
	else if (dprof_adapter_wanted(DPROF_KIND_SLEEP))
		is_late(site, dprof_adapter_now());
}

void dprof_loop_begins(struct dprof_moment *since)
{
	*since = dprof_adapter_moment();
}

void dprof_loop_is_over(const struct dprof_site *site, const struct dprof_moment *since, int does)
{
	bool recorded = dprof_adapter_place() != since->place;
	uint64_t now;

	if (!dprof_adapter_wanted(DPROF_KIND_SLEEP) || (bool)does != recorded)
		return; /* what it did is recorded, or it is not known what it did */
	now = dprof_adapter_now();
	if (does) {
		dprof_was_open(site, since->stamp, now);
	} else if (now - since->stamp >= A_WHILE * dprof_adapter_blocked_ticks) {
		record_until(site, since->stamp, now);
		late = NULL;
	} else {
		is_late(site, now);
	}
}

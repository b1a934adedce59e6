/* SPDX-License-Identifier: MIT
 *
 * roles.c - see roles.h. */
#include "analysis/states/roles.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"

static bool is_work(const struct tr_site *site, const char *work)
{
	return site->op.is & OP_REGION && (!work || strcmp(site->name, work) == 0);
}

static bool is_wait(const struct tr_site *site, const char *wait)
{
	return wait ? strcmp(site->name, wait) == 0 : site->op.is & OP_WAITS;
}

/* No site that may be meant has the name that was asked for. */
static void say_unknown(const struct trace *trace, const char *option, bool regions_only,
			const char *name)
{
	const char **names = mem_resize(NULL, trace->nsites + 1, sizeof *names);
	size_t count = 0;
	bool operation = false;
	for (size_t i = 0; i < trace->nsites; i++) {
		bool fits = !regions_only || trace->sites[i].op.is & OP_REGION;
		operation |= !fits && strcmp(trace->sites[i].name, name) == 0;
		if (fits)
			names[count++] = trace->sites[i].name;
	}
	const char *near = nearest(name, names, count), *meant = near || count == 0 ? near : names[0];
	shown_complain(
		"%s: expected the name of a region%s of this trace%s%s; found \"%s\"%s",
		option, regions_only ? "" : " or site", meant ? ", such as " : " (it has none)",
		meant ? meant : "", name, operation ? ", which is an operation" : "");
	free(names);
}

/* On each clock the run certainly goes from its first event to its last, and possibly from the earliest that was
 * lost. */
static struct ends *ends_of_clocks(const struct trace *trace)
{
	struct ends *ends = mem_resize(NULL, trace->nclocks + 1, sizeof *ends);
	for (size_t c = 0; c < trace->nclocks; c++)
		ends[c] = (struct ends){ .first = UINT64_MAX, .earliest = UINT64_MAX };
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct ends *clock = &ends[trace->threads[i].clock], own = times_ends(&trace->threads[i]);
		clock->first = own.first < clock->first ? own.first : clock->first;
		clock->last = own.last > clock->last ? own.last : clock->last;
		clock->earliest = own.earliest < clock->earliest ? own.earliest : clock->earliest;
	}
	return ends;
}

static void open_outside(struct roles *roles, const struct trace *trace, const char *work)
{
	roles->outside = mem_resize(NULL, trace->nprocesses + 1, 1);
	for (size_t p = 0; p < trace->nprocesses; p++) {
		const struct tr_process *process = &trace->processes[p];
		roles->outside[p] = work		     ? MAY_OTHER
				    : process->marks_unknown ? MAY_WORK | MAY_BE_UNCLASSIFIED
				    : process->marked	     ? MAY_BE_UNCLASSIFIED
							     : MAY_WORK;
	}
	roles->ends = ends_of_clocks(trace);
}

/* What states.c does there looks at more than the stack. */
#define NOT_PLAIN (OP_TEAM_LEFT | OP_SLEEP | OP_LIFE_BEGINS | OP_LIFE_ENDS | OP_ATTEMPT)

/* `mixed`: what may be work instead is so, where all work is. */
static uint8_t role_of(const struct tr_site *site, bool works, bool waits, bool mixed)
{
	uint8_t wait = mixed && site->op.mixed ? MAY_WAIT | MAY_WORK : MAY_WAIT;
	return works ? MAY_WORK : waits ? wait : site->op.is & OP_WAITS ? ROLE_OTHER_OUTSIDE : 0;
}

/* Somebody may have waited there for a signal of a condition, which has come. */
static bool is_told(const struct trace *trace, const struct tr_what *what)
{
	bool waits = tr_is(trace, what->site, OP_ADDRESS) && !tr_is(trace, what->site, OP_SEMAPHORE);
	bool has_come = what->op == DPROF_ENTER && what->keys >> DPROF_KEY_ID & 1;
	return waits && has_come && trace->sites[what->site].kind == DPROF_KIND_WAIT;
}

static void set_kinds(struct roles *roles, const struct trace *trace)
{
	size_t n = trace_kinds(trace);
	roles->limits = roles->told = false;
	roles->kinds = mem_resize(roles->kinds, n + 1, sizeof *roles->kinds);
	for (size_t i = 0; i < n; i++) {
		const struct tr_what *what = &trace->whats[i];
		uint8_t role = what->site == TR_NO_SITE ? ROLE_OTHER_OUTSIDE : roles->of_site[what->site];
		bool expired = what->keys >> DPROF_KEY_UNTIL & 1;
		bool tries = what->keys >> DPROF_KEY_PEER & 1 && tr_may_try(trace, what->site);
		roles->kinds[i] = (struct plain_kind){
			.site = what->site, .op = what->op, .role = role,
			.plain = role != ROLE_OTHER_OUTSIDE && !expired && !tr_is(trace, what->site, NOT_PLAIN) && !tries };
		roles->limits |= expired;
		roles->told |= is_told(trace, what);
	}
}

bool roles_open(struct roles *roles, const struct trace *trace, const char *work, const char *wait)
{
	bool any_work = false, any_wait = false;
	open_outside(roles, trace, work);
	roles->of_site = mem_resize(NULL, trace->nsites + 1, 1);
	for (size_t i = 0; i < trace->nsites; i++) {
		bool waits = is_wait(&trace->sites[i], wait);
		/* A region that is named as the place to wait is no work. */
		bool works = is_work(&trace->sites[i], work) && (work || !waits);
		if (works && waits) {
			shown_complain("expected different names for --work and --wait; found \"%s\" twice", work);
			return false;
		}
		roles->of_site[i] = role_of(&trace->sites[i], works, waits, !work && !wait);
		any_work |= works;
		any_wait |= waits;
	}
	roles->kinds = NULL;
	set_kinds(roles, trace);
	if (work && !any_work)
		say_unknown(trace, "--work", true, work);
	if (wait && !any_wait)
		say_unknown(trace, "--wait", false, wait);
	return (any_work || !work) && (any_wait || !wait);
}

void roles_open_useful(struct roles *roles, const struct trace *trace)
{
	roles_open(roles, trace, NULL, NULL); /* which asks for no names */
	for (size_t i = 0; i < trace->nsites; i++)
		if (tr_is(trace, (uint32_t)i, OP_OTHERS) && !roles->of_site[i])
			roles->of_site[i] = MAY_WAIT;
	set_kinds(roles, trace);
}

bool roles_are_useful(const struct roles *roles, const struct trace *trace)
{
	struct roles useful;
	roles_open_useful(&useful, trace);
	bool same = memcmp(roles->of_site, useful.of_site, trace->nsites) == 0 &&
		    memcmp(roles->outside, useful.outside, trace->nprocesses) == 0;
	roles_close(&useful);
	return same;
}

void roles_close(struct roles *roles)
{
	free(roles->of_site);
	free(roles->kinds);
	free(roles->outside);
	free(roles->ends);
}

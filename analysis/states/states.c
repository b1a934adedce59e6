/* SPDX-License-Identifier: MIT
 *
 * states.c - one stack per thread; each entry carries the state that it means, so that an event
 * costs the same at any depth. */
#include "analysis/states/states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"

/* ---- Roles ----------------------------------------------------------------------------------- */

/* A send that returns only when its buffer may be used again: of a message beyond some size it waits
 * until the receiver has come. MPI_Bsend copies, and others only begin. */
static bool is_blocking_send(const struct tr_site *site)
{
	return site->kind == DPROF_KIND_SEND &&
	       (strcmp(site->name, "MPI_Send") == 0 || strcmp(site->name, "MPI_Ssend") == 0 ||
		strcmp(site->name, "MPI_Rsend") == 0);
}

/* Who has left a team waits for the next one to be opened; pthread_create waits for nobody. */
static bool is_team(const struct tr_site *site)
{
	return site->kind == DPROF_KIND_FORK && strncmp(site->name, "omp ", 4) == 0;
}

static bool waits_by_default(const struct tr_site *site)
{
	return site->kind == DPROF_KIND_JOIN || site->kind == DPROF_KIND_LOCK || is_team(site) ||
	       site->kind == DPROF_KIND_BARRIER || site->kind == DPROF_KIND_COLL ||
	       site->kind == DPROF_KIND_RECV || site->kind == DPROF_KIND_WAIT ||
	       is_blocking_send(site);
}

/* Other points of these kinds are about tasks. */
static uint8_t life_at(const struct tr_site *site)
{
	if (site->kind == DPROF_KIND_FORK && strcmp(site->name, "thread begin") == 0)
		return LIFE_BEGINS;
	if (site->kind == DPROF_KIND_JOIN && strcmp(site->name, "thread end") == 0)
		return LIFE_ENDS;
	return LIFE_GOES_ON;
}

static bool is_work(const struct tr_site *site, const char *work)
{
	return site->kind == DPROF_KIND_REGION && (!work || strcmp(site->name, work) == 0);
}

static bool is_wait(const struct tr_site *site, const char *wait)
{
	return wait ? strcmp(site->name, wait) == 0 : waits_by_default(site);
}

/* No site that may be meant has the name that was asked for. */
static void say_unknown(const struct trace *trace, const char *option, bool regions_only,
			const char *name)
{
	const char **names = mem_resize(NULL, trace->nsites + 1, sizeof *names);
	size_t count = 0;
	bool operation = false;
	for (size_t i = 0; i < trace->nsites; i++) {
		bool fits = !regions_only || trace->sites[i].kind == DPROF_KIND_REGION;
		operation |= !fits && strcmp(trace->sites[i].name, name) == 0;
		if (fits)
			names[count++] = trace->sites[i].name;
	}
	const char *near = nearest(name, names, count), *meant = near || count == 0 ? near : names[0];
	fprintf(stderr,
		"dprof-analyze: %s: expected the name of a region%s of this trace%s%s; found \"%s\"%s\n",
		option, regions_only ? "" : " or site", meant ? ", such as " : " (it has none)",
		meant ? meant : "", name, operation ? ", which is an operation" : "");
	free(names);
}

bool roles_open(struct roles *roles, const struct trace *trace, const char *work, const char *wait)
{
	bool any_work = false, any_wait = false;
	roles->of_site = mem_resize(NULL, trace->nsites + 1, 1);
	roles->life = mem_resize(NULL, trace->nsites + 1, 1);
	for (size_t i = 0; i < trace->nsites; i++) {
		bool waits = is_wait(&trace->sites[i], wait);
		/* A region that is named as the place to wait is no work. */
		bool works = is_work(&trace->sites[i], work) && (work || !waits);
		if (works && waits) {
			fprintf(stderr,
				"dprof-analyze: expected different names for --work and --wait; "
				"found \"%s\" twice\n",
				work);
			return false;
		}
		roles->of_site[i] = works ? MAY_WORK : waits ? MAY_WAIT : 0;
		roles->life[i] = life_at(&trace->sites[i]);
		any_work |= works;
		any_wait |= waits;
	}
	if (work && !any_work)
		say_unknown(trace, "--work", true, work);
	if (wait && !any_wait)
		say_unknown(trace, "--wait", false, wait);
	return (any_work || !work) && (any_wait || !wait);
}

void roles_close(struct roles *roles)
{
	free(roles->of_site);
	free(roles->life);
}

/* ---- The stack ------------------------------------------------------------------------------- */

static void push(struct states *s, uint32_t site)
{
	uint8_t role = site == TR_NO_SITE ? MAY_ANY : s->roles->of_site[site];
	if (s->depth == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->stack = mem_resize(s->stack, s->room, sizeof *s->stack);
	}
	s->stack[s->depth++] = (struct on_stack){ site, s->now };
	if (role)
		s->now = (struct state){ role, site };
}

/* Leaves `site`. Exits of what it encloses may be missing (longjmp). After a loss, an exit whose
 * enter was lost is no surprise. */
static void pop(struct states *s, uint32_t site)
{
	size_t d = s->depth;
	while (d > 0 && s->stack[d - 1].site != site)
		d--;
	if (d > 0) {
		s->unmatched += s->depth - d;
		s->depth = d - 1;
		s->now = s->stack[d - 1].before;
	} else {
		s->unmatched += !s->lost;
	}
}

static void forget(struct states *s)
{
	s->depth = 0;
	s->lost = true;
	s->now = (struct state){ MAY_ANY, TR_NO_SITE };
}

/* A thread that ended is gone whatever it was in (C's cleanup leaves no regions). */
static void live(struct states *s, uint32_t site)
{
	uint8_t life = site == TR_NO_SITE ? LIFE_GOES_ON : s->roles->life[site];
	if (life == LIFE_ENDS)
		s->now = (struct state){ MAY_GONE, TR_NO_SITE };
	else if (life == LIFE_BEGINS && s->now.may & MAY_GONE)
		s->now = (struct state){ MAY_OTHER, TR_NO_SITE };
}

static void apply(struct states *s, const struct tr_event *e)
{
	switch (e->op) {
	case DPROF_ENTER:
		push(s, e->site);
		break;
	case DPROF_EXIT:
		pop(s, e->site);
		break;
	case DPROF_POINT:
		live(s, e->site);
		break;
	case DPROF_LOST:
		s->recorded_lost += e->lost;
		forget(s);
		break;
	default:
		break;
	}
}

/* ---- Periods --------------------------------------------------------------------------------- */

/* Where a thread is before its first record; lost ones may have come at any time before the next. */
static uint8_t state_before(const struct states *s)
{
	struct tr_cursor events = s->events;
	struct tr_event first;
	bool begins = trace_next_bare(&events, &first) && first.op == DPROF_POINT &&
		      first.site != TR_NO_SITE && s->roles->life[first.site] == LIFE_BEGINS;
	return begins ? MAY_GONE : MAY_OTHER;
}

void states_open(struct states *s, const struct trace *trace, size_t thread,
		 const struct roles *roles)
{
	*s = (struct states){ .roles = roles,
			      .events = trace_events(trace, thread) };
	s->now = (struct state){ state_before(s), TR_NO_SITE };
	s->period = (struct period){ PERIOD_BEFORE, PERIOD_BEFORE, s->now.may, TR_NO_SITE };
}

void states_close(struct states *s)
{
	free(s->stack);
}

static void end_stretch(struct states *s, uint32_t site, uint64_t stamp)
{
	if (stamp - s->stretch_from >= s->stretch) {
		s->stretch = stamp - s->stretch_from;
		s->period.site = site;
	}
	s->stretch_from = stamp;
}

/* Ends the period at `stamp` and begins the next one there. */
static void turn(struct states *s, uint64_t stamp, uint8_t may, struct period *out)
{
	s->period.to = stamp;
	*out = s->period;
	s->period = (struct period){ stamp, stamp, may, s->now.site };
	s->stretch = 0;
	s->stretch_from = stamp;
}

/* What follows the last record: the thread is where it was, or nowhere; or the rest was lost. */
static uint8_t state_afterwards(const struct states *s)
{
	if (s->events.thread->lost > s->recorded_lost)
		return MAY_ANY;
	return s->now.may == MAY_GONE ? MAY_GONE : s->now.may | MAY_OTHER;
}

static bool finish(struct states *s, struct period *out)
{
	if (s->ended)
		return false;
	uint8_t after = state_afterwards(s);
	if (s->period.may != after) {
		end_stretch(s, s->now.site, s->last);
		turn(s, s->last, after, out);
		return true;
	}
	s->ended = true;
	s->period.to = PERIOD_AFTER;
	*out = s->period;
	return true;
}

bool states_next(struct states *s, struct period *out)
{
	struct tr_event e;
	while (trace_next_bare(&s->events, &e)) {
		struct state before = s->now;
		/* Lost records have no stamp: they may have come right after the event before. */
		if (e.op != DPROF_LOST && e.stamp > s->last)
			s->last = e.stamp;
		apply(s, &e);
		if (s->now.may == s->period.may && s->now.site == before.site)
			continue;
		end_stretch(s, before.site, s->last);
		if (s->now.may != s->period.may) {
			turn(s, s->last, s->now.may, out);
			return true;
		}
	}
	return finish(s, out);
}

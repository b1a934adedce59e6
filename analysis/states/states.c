/* SPDX-License-Identifier: MIT
 *
 * states.c - each entry of the thread's replay has the state before it beside it, so that an event
 * costs the same at any depth. */
#include "analysis/states/states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/shown.h"
#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/states/retry.h"
#include "analysis/trace/trace_jumps.h"

/* ---- Roles ----------------------------------------------------------------------------------- */

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

/* What the user does not name as waiting is looked through where a thread works anyway; outside of all
 * regions it is an operation, and no work. */
#define OTHER_OUTSIDE 0x80

/* apply() looks at more than the stack. */
#define NOT_PLAIN (OP_TEAM_LEFT | OP_SLEEP | OP_LIFE_BEGINS | OP_LIFE_ENDS | OP_ATTEMPT)

/* `mixed`: what may be work instead is so, where all work is. */
static uint8_t role_of(const struct tr_site *site, bool works, bool waits, bool mixed)
{
	uint8_t wait = mixed && site->op.mixed ? MAY_WAIT | MAY_WORK : MAY_WAIT;
	return works ? MAY_WORK : waits ? wait : site->op.is & OP_WAITS ? OTHER_OUTSIDE : 0;
}

static void set_kinds(struct roles *roles, const struct trace *trace)
{
	size_t n = trace_kinds(trace);
	roles->limits = false;
	roles->kinds = mem_resize(roles->kinds, n + 1, sizeof *roles->kinds);
	for (size_t i = 0; i < n; i++) {
		const struct tr_what *what = &trace->whats[i];
		uint8_t role = what->site == TR_NO_SITE ? OTHER_OUTSIDE : roles->of_site[what->site];
		bool expired = what->keys >> DPROF_KEY_UNTIL & 1;
		roles->kinds[i] = (struct plain_kind){
			.site = what->site, .op = what->op, .role = role,
			.plain = role != OTHER_OUTSIDE && !expired && !(trace->sites[what->site].op.is & NOT_PLAIN) };
		roles->limits |= expired;
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

/* ---- The state ------------------------------------------------------------------------------- */

static bool same_state(struct thread_state x, struct thread_state y)
{
	return x.may == y.may && x.site == y.site;
}

#define FAR_DOWN 64 /* entries */

/* What has no exit may be left at any time, and leaves the thread in what it was in before. What has one may be left
 * early if another one of its site, further down, has none: its exit may belong to that, or to what stands between. */
static uint8_t unsure_role(const struct states *s, const struct replay_entry *e, uint8_t role)
{
	uint8_t between = role, may = role | s->now.may;
	if (e->jumped || s->replay.depth > FAR_DOWN)
		return may;
	for (size_t d = s->replay.depth; d-- > 0;) {
		const struct replay_entry *x = &s->replay.entry[d];
		uint8_t below = x->site == TR_NO_SITE ? MAY_ANY : s->roles->of_site[x->site];
		between |= below == OTHER_OUTSIDE ? MAY_OTHER : below;
		if (x->jumped && x->site == e->site)
			may = between;
	}
	return may;
}

static inline void push(struct states *s, struct replay_entry e)
{
	uint32_t site = e.site;
	uint8_t role = site == TR_NO_SITE ? MAY_ANY : s->roles->of_site[site];
	if (!replay_enter(&s->replay, e))
		return;
	if (s->replay.depth > s->room)
		s->before = mem_resize(s->before, s->room = s->replay.room, sizeof *s->before);
	s->before[s->replay.depth - 1] = s->now;
	if (role == OTHER_OUTSIDE)
		role = same_state(s->now, s->outside)	? MAY_OTHER
		       : s->events.thread->jumps	? MAY_OTHER | s->now.may
							: 0;
	if (role)
		s->now = (struct thread_state){ e.unsure ? unsure_role(s, &e, role) : role, site };
}

static void forget(struct states *s)
{
	replay_lose(&s->replay);
	s->lost = s->forgot = true;
	s->in_team = false;
	s->now = (struct thread_state){ MAY_ANY, TR_NO_SITE };
}

/* Leaves `site`. Exits of what it encloses may be missing (longjmp). After a loss, an exit whose
 * enter was lost is no surprise: and it encloses all that was entered since. */
static void pop(struct states *s, uint32_t site)
{
	const struct trace *trace = s->events.trace;
	size_t closed = replay_exit(&s->replay, site);
	if (closed > 0) {
		if (closed > 1 && !jumps_explain(trace, s->events.thread, site, s->last, s->replay.depth == 0))
			s->unmatched += closed - 1;
		s->now = s->before[s->replay.depth];
	} else if (s->lost) {
		forget(s);
	} else if (!jumps_explain(trace, s->events.thread, site, s->last, false)) {
		s->unmatched++;
	}
}

/* A thread that ended is gone whatever it was in (C's cleanup leaves no regions). A site that cannot be found
 * may say that. */
static void live(struct states *s, uint32_t site)
{
	if (site == TR_NO_SITE)
		s->now.may |= MAY_GONE | s->outside.may;
	else if (tr_is(s->events.trace, site, OP_LIFE_ENDS))
		s->now = (struct thread_state){ MAY_GONE, TR_NO_SITE };
	else if (tr_is(s->events.trace, site, OP_LIFE_BEGINS) && s->now.may & MAY_GONE)
		s->now = s->outside;
}

/* The event that the cursor has just given, with its arguments. */
static struct tr_event whole(const struct states *s, const struct tr_event *e)
{
	struct tr_event x = *e;
	trace_arguments(&s->events, &x);
	return x;
}

/* Who has left a team waits for the next one, unless it was given a task. It is recorded as waiting only
 * when the next one comes. */
static void leave_team(struct states *s, const struct tr_event *e)
{
	const struct operation *o = tr_operation(s->events.trace, e);
	struct tr_event x = whole(s, e);
	if (e->op == DPROF_ENTER) {
		s->in_team = arg_is_member(o, &x);
	} else if (e->op == DPROF_EXIT && s->in_team && s->roles->of_site[e->site] == MAY_WAIT &&
		   arg_called_away(o, &x) == ARG_NONE) {
		s->idle = true;
		s->after_idle = s->now;
		s->now = (struct thread_state){ MAY_WAIT, e->site };
	}
}

/* What it has left may have been a team. */
static void may_idle(struct states *s)
{
	s->idle = true;
	s->after_idle = s->now;
	s->now.may |= MAY_WAIT;
}

/* ---- Sleeps before it asks again (retry.h) ----------------------------------------------------- */

/* For so many events on, unless that is 0, it may wait. */
static void pause_for(struct states *s, size_t events, bool behind_attempt)
{
	s->pause = events;
	s->behind_attempt = behind_attempt;
	s->ahead.n = 0;
}

/* What the user marked is what he says it is. */
static bool may_sleep_for_others(const struct states *s)
{
	const struct trace *trace = s->events.trace;
	const struct tr_site *in = s->now.site < trace->nsites ? &trace->sites[s->now.site] : NULL;
	bool marked = in && in->op.is & OP_REGION && !in->automatic;
	return s->now.may & MAY_WORK && !marked;
}

static bool may_poll_by_sleep(struct states *s, const struct tr_event *e)
{
	struct tr_event x = whole(s, e);
	if (!may_sleep_for_others(s) || trace_has(&x, DPROF_KEY_UNTIL) || (s->pause && s->behind_attempt))
		return false;
	bool begins = !s->polls && !s->pause && retry_begins(s->events, e);
	s->ahead.n = 0;
	return s->polls || s->pause || begins;
}

/* Who sleeps a little again and again may ask for something in between, that no record says, or in vain. */
static void sleep_begins(struct states *s, const struct tr_event *e)
{
	bool follows = s->polls;
	s->polls = may_poll_by_sleep(s, e);
	s->sleep_longest = follows ? s->sleep_longest : 0;
	s->sleep_site = e->site;
	s->sleep_from = e->stamp;
	if (s->polls)
		s->now.may |= MAY_WAIT;
}

static void sleep_ends(struct states *s, const struct tr_event *e)
{
	if (!s->polls || s->sleep_site != e->site) {
		s->polls = false;
		return;
	}
	uint64_t took = e->stamp - s->sleep_from;
	s->sleep_longest = took > s->sleep_longest ? took : s->sleep_longest;
	s->slept += took;
	if (!s->pause)
		pause_for(s, retry_until_sleep(s->events, e->stamp + s->sleep_longest), false);
	s->polls = s->pause > 0;
}

/* Until a moment: it is not the thread who made that long, and no other thread either. Where a signal ended it the thread may
 * have waited for whoever sent that. */
static void fall_asleep(struct states *s, const struct tr_event *e)
{
	struct tr_event x = whole(s, e);
	if (e->op == DPROF_ENTER && arg_for_unknown(tr_operation(s->events.trace, e), &x))
		s->now = (struct thread_state){ s->now.may | MAY_WAIT, e->site };
	if (e->op == DPROF_ENTER && trace_has(&x, DPROF_KEY_UNTIL))
		s->now = (struct thread_state){ e->unsure ? MAY_OTHER | s->now.may : MAY_OTHER,
						e->site };
	if (e->op == DPROF_ENTER)
		sleep_begins(s, e);
	else if (e->op == DPROF_EXIT)
		sleep_ends(s, e);
}

/* ---- Time limits ------------------------------------------------------------------------------ */

/* Whether the thread has waited for another all the same, which came when it had tried again. */
static bool is_told_later(struct states *s, const struct tr_event *e)
{
	if (s->row == 0) {
		s->row = retry_until_told(s->events, e->site, e->stamp, &s->told);
		s->row_site = e->site;
	}
	return s->told && s->row_site == e->site;
}

/* Nobody has ended it: perhaps the thread has waited for another in vain, or else it slept, which is its own. */
static void expire(struct states *s, const struct tr_event *e)
{
	struct tr_event x = whole(s, e);
	bool waits = s->now.site == e->site && s->now.may & MAY_WAIT;
	if (!arg_expired(tr_operation(s->events.trace, e), &x) || !waits || s->replay.depth == 0 || is_told_later(s, e))
		return;
	s->now.may |= s->before[s->replay.depth - 1].may;
	s->expires = s->now.may & ~MAY_WAIT ? s->replay.depth : 0;
	s->expires_from = e->stamp;
}

static void end_expired(struct states *s, const struct tr_event *e)
{
	s->expired += e->stamp - s->expires_from;
	s->expired_site = e->site;
	s->expires = 0;
	if (may_sleep_for_others(s) && !(s->pause && s->behind_attempt))
		pause_for(s, retry_until_wait(s->events, e->site, e->stamp), false);
}

/* ---- Attempts -------------------------------------------------------------------------------- */

#define SMALL_PART 2 /* of the time: half of it */

/* How long the operation takes that has just begun; 0: something else happens in it. */
static uint64_t length_of(struct states *s, const struct tr_event *e)
{
	struct tr_cursor events = s->events;
	struct tr_event next;
	bool ends = trace_next_bare(&events, &next) && next.op == DPROF_EXIT && next.site == e->site && next.stamp > e->stamp;
	s->ahead.n = 0;
	return ends ? next.stamp - e->stamp : 0;
}

/* What it did before goes on, perhaps, between the attempts. */
static void ask_in_vain(struct states *s, const struct tr_event *e)
{
	struct tr_event x = whole(s, e);
	const struct operation *o = tr_operation(s->events.trace, e);
	uint64_t between = arg_between(o, &x);
	if (!arg_in_vain(o, &x))
		return;
	s->asking = s->replay.depth;
	s->else_may = s->before[s->asking - 1].may;
	if (between > length_of(s, e) / SMALL_PART)
		s->now.may |= s->else_may;
	else if (s->now.may != s->else_may)
		s->between += between;
}

/* Where another attempt follows it was kept from its core, say, or is patient. */
static void asked_in_vain(struct states *s, uint32_t site)
{
	s->asking = 0;
	if (s->roles->of_site[site] & MAY_WAIT)
		pause_for(s, retry_until_attempt(s->events), true);
}

static void attempt(struct states *s, const struct tr_event *e)
{
	if (e->op == DPROF_ENTER)
		ask_in_vain(s, e);
	else if (e->op == DPROF_EXIT && s->asking > s->replay.depth)
		asked_in_vain(s, e->site);
}

/* What was so up to this event. */
static void end_before(struct states *s, const struct tr_event *e)
{
	s->row -= s->row > 0;
	s->polls &= s->pause > 1 || tr_is(s->events.trace, e->site, OP_SLEEP);
	if (s->pause) {
		s->now = s->but_for_pause;
		s->pause--;
	}
	if (s->idle)
		s->now = s->after_idle;
	s->idle = s->forgot = false;
}

/* And what is so while it does not ask, whatever it is in: but for a sleep until a moment, which is for nobody. */
static void may_pause(struct states *s, const struct tr_event *e)
{
	bool until = tr_is(s->events.trace, e->site, OP_SLEEP) && s->now.site == e->site && s->now.may == MAY_OTHER;
	if (!s->pause)
		return;
	s->but_for_pause = s->now;
	s->now.may |= until ? 0 : MAY_WAIT;
}

static void apply(struct states *s, const struct tr_event *e)
{
	end_before(s, e);
	switch (e->op) {
	case DPROF_ENTER:
		push(s, tr_entry(s->events.trace, e));
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
	if (e->site == TR_NO_SITE && e->op == DPROF_EXIT)
		may_idle(s);
	else if (tr_is(s->events.trace, e->site, OP_TEAM_LEFT))
		leave_team(s, e);
	else if (tr_is(s->events.trace, e->site, OP_SLEEP))
		fall_asleep(s, e);
	else if (tr_is(s->events.trace, e->site, OP_ATTEMPT))
		attempt(s, e);
	else if (s->roles->limits && e->op == DPROF_ENTER && tr_is(s->events.trace, e->site, OP_WAITS))
		expire(s, e);
	if (s->expires > s->replay.depth)
		end_expired(s, e);
	if (s->asking > s->replay.depth)
		s->asking = 0;
	may_pause(s, e);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

/* Its first record says that the thread was not there before. */
static bool begins_with(const struct states *s, const struct tr_event *first)
{
	const struct operation *o = tr_operation(s->events.trace, first);
	struct tr_event x = whole(s, first);
	return (o->is & OP_LIFE_BEGINS && first->op == DPROF_POINT) ||
	       (o->is & OP_TEAM && arg_is_member(o, &x));
}

/* Stamps of other cores may be a little later than that of the first event. */
static void add_change(struct states *s, uint64_t stamp, uint64_t first, struct thread_state now)
{
	s->begin[s->nbegin++] = (struct state_change){ stamp < first ? stamp : first, now };
}

/* The first thread of a process that says when it began. */
static void begin_process(struct states *s, const struct tr_process *p, uint64_t first)
{
	s->now = (struct thread_state){ p->executed && !p->unborn ? MAY_ANY : p->forked ? MAY_GONE : MAY_OTHER, TR_NO_SITE };
	if (p->executed && p->unborn)
		add_change(s, p->unborn, first, (struct thread_state){ MAY_ANY, TR_NO_SITE });
	add_change(s, p->started, first, s->outside);
	if (p->started <= p->init_from && p->init_from <= p->init_to) {
		add_change(s, p->init_from, first, (struct thread_state){ MAY_WAIT, TR_NO_SITE });
		add_change(s, p->init_to, first, s->outside);
	}
}

/* What changes before the run on its clock may lie outside of the run: there is no period for it. With
 * several clocks it may lie within, too; and likewise when the order is not sure, or first events are lost. */
static void begin_with_clock(struct states *s, uint64_t run, uint64_t slack, bool alone)
{
	uint8_t may = s->now.may;
	for (; s->next < s->nbegin && s->begin[s->next].stamp <= run; s->next++) {
		s->now = s->begin[s->next].now;
		may |= s->now.may;
		alone &= s->begin[s->next].stamp + slack < run;
	}
	if (!alone)
		s->now.may |= may;
}

static const struct thread_state in_init = { MAY_WAIT, TR_NO_SITE };

/* MPI_Init may be called in a region, behind events: surely behind the first, or else it has begun before. */
static void await_init(struct states *s, const struct tr_process *p, uint64_t first)
{
	s->inits = 2;
	if (!tr_inits_later(s->events.trace, s->events.thread, first))
		return;
	s->init[0] = p->init_from;
	s->init[1] = p->init_to;
	s->inits = 0;
}

/* It begins or ends before the next event. What is not known any more it does not tell either. */
static bool step_init(struct states *s)
{
	struct tr_cursor events = s->events;
	struct tr_event next;
	if (s->inits == 2 || (trace_next_bare(&events, &next) && next.op != DPROF_LOST &&
			      next.stamp < s->init[s->inits]))
		return false;
	s->last = s->init[s->inits] > s->last ? s->init[s->inits] : s->last;
	if (s->inits++ == 0) {
		s->before_init = s->now;
		s->now = s->lost ? s->now : in_init;
	} else if (same_state(s->now, in_init)) {
		s->now = s->before_init;
	}
	return true;
}

/* Before lost records, and before a place that cannot be found, a thread may have been anywhere. */
static bool begins_anywhere(const struct states *s, const struct tr_event *first)
{
	return first->site == TR_NO_SITE || (s->events.thread->lost > 0 && s->events.thread->nrecords == 0);
}

/* Where a thread is before its first record. */
static void begin(struct states *s, const struct trace *trace)
{
	const struct tr_thread *self = s->events.thread;
	const struct tr_process *process = &trace->processes[self->process];
	struct tr_cursor events = s->events;
	struct tr_event first = { .site = 0 };
	bool any = trace_next_bare(&s->events, &first);
	bool begins = any && begins_with(s, &first);
	s->events = events;
	await_init(s, process, any && first.op != DPROF_LOST ? first.stamp : UINT64_MAX);
	s->now = (struct thread_state){ MAY_OTHER, TR_NO_SITE };
	if (begins_anywhere(s, &first)) {
		s->now.may = MAY_ANY;
	} else if (begins) {
		s->now.may = MAY_GONE;
	} else if (any && self->number == 0 && process->started) {
		begin_process(s, process, first.stamp);
		const struct ends *run = &s->roles->ends[self->clock];
		begin_with_clock(s, run->first, 2 * trace->clocks[self->clock].uncertainty,
				 trace->nclocks == 1 && run->earliest == run->first);
	} else if (any) {
		s->now = s->outside;
		s->now.may |= MAY_OTHER;
	}
}

/* What follows the last record: the thread goes on until its end, where that is known, and is gone after it;
 * of one that was killed, or still runs, it is unknown how long it goes on; or the rest was lost. */
static void finish(struct states *s)
{
	const struct tr_thread *self = s->events.thread;
	uint64_t run_ends = s->roles->ends[self->clock].last;
	if (self->lost > s->recorded_lost) {
		s->now = (struct thread_state){ MAY_ANY, TR_NO_SITE };
		return;
	}
	if (s->now.may == MAY_GONE || self->nrecords == 0)
		return;
	bool end_known = self->complete && self->ended > s->last;
	if (end_known)
		s->last = self->ended < run_ends ? self->ended : run_ends;
	if (end_known && self->ended < run_ends)
		s->now = (struct thread_state){ MAY_GONE, TR_NO_SITE };
	else
		s->now.may |= end_known ? MAY_GONE : MAY_OTHER | MAY_GONE;
}

enum states_step states_step(struct states *s, struct tr_event *e)
{
	if (s->next < s->nbegin) {
		s->last = s->begin[s->next].stamp;
		s->now = s->begin[s->next++].now;
		return STATES_MOMENT;
	}
	if (step_init(s))
		return STATES_MOMENT;
	if (trace_next_bare(&s->events, e)) {
		/* Lost records have no stamp: they may have come right after the event before. */
		if (e->op != DPROF_LOST && e->stamp > s->last)
			s->last = e->stamp;
		if (!s->begun)
			s->now = s->outside; /* it is there, if it was not before */
		s->begun = true;
		apply(s, e);
		return STATES_EVENT;
	}
	if (s->over)
		return STATES_END;
	s->over = true;
	finish(s);
	return STATES_MOMENT;
}

/* ---- Periods --------------------------------------------------------------------------------- */

void states_open(struct states *s, const struct trace *trace, size_t thread,
		 const struct roles *roles)
{
	uint8_t outside = roles->outside[trace->threads[thread].process];
	*s = (struct states){ .roles = roles,
			      .events = trace_places(trace, thread),
			      .outside = { outside, outside == MAY_WORK ? TR_OUTSIDE : TR_NO_SITE } };
	replay_open(&s->replay, trace->nsites);
	begin(s, trace);
	s->period = (struct period){ PERIOD_BEFORE, PERIOD_BEFORE, s->now.may, s->now.site };
}

void states_close(struct states *s)
{
	trace_end(&s->events);
	replay_close(&s->replay);
	free(s->before);
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

/* Whether nothing but the next event changes the state, and that in no other way than by the stack. */
static bool is_plain(const struct states *s)
{
	const struct tr_cursor *c = &s->events;
	return s->begun && !s->idle && !s->pause && !s->expires && s->next == s->nbegin && s->inits == 2 && !c->inheritance &&
	       !c->thread->jumps;
}

static bool look_ahead(struct states *s)
{
	struct tr_cursor ahead = s->events;
	s->ahead_from = s->events.next;
	s->ahead.n = 0;
	return trace_columns_bare(&ahead, &s->ahead);
}

/* ---- Periods, one after the other ------------------------------------------------------------ */

/* Behind a step, before which the state was another one: whether a period has ended. */
static inline bool change(struct states *s, struct thread_state before, struct period *out)
{
	end_stretch(s, before.site, s->last);
	if (s->now.may == s->period.may)
		return false;
	turn(s, s->last, s->now.may, out);
	return true;
}

enum follow { FOLLOW_END, FOLLOW_ON, FOLLOW_PERIOD };

static enum follow follow_step(struct states *s, struct period *out)
{
	struct tr_event e;
	struct thread_state before = s->now;
	if (states_step(s, &e) != STATES_END)
		return !same_state(s->now, before) && change(s, before, out) ? FOLLOW_PERIOD : FOLLOW_ON;
	if (s->ended)
		return FOLLOW_END;
	s->ended = true;
	s->period.to = PERIOD_AFTER;
	*out = s->period;
	return FOLLOW_PERIOD;
}

static struct period_begin begin_of(const struct period *p)
{
	return (struct period_begin){ p->from, p->site, p->may };
}

/* What changes with plain events: copied here while they come by. */
struct plain_walk {
	struct states *s;
	struct thread_state now;
	uint64_t last, stretch_from, stretch;
	struct period_begin open; /* the period that is being put together */
};

static struct plain_walk begin_plain(struct states *s)
{
	return (struct plain_walk){ s, s->now, s->last, s->stretch_from, s->stretch,
				    { s->period.from, s->period.site, s->period.may } };
}

static void end_plain(const struct plain_walk *w)
{
	struct states *s = w->s;
	s->now = w->now;
	s->last = w->last;
	s->stretch_from = w->stretch_from;
	s->stretch = w->stretch;
	s->period = (struct period){ w->open.from, w->open.from, w->open.may, w->open.site };
}

/* As push() does it where nothing jumped, at a site whose role does not depend on what it is in. */
static inline struct thread_state enter_plain(struct plain_walk *w, const struct plain_kind *kind, uint64_t stamp)
{
	struct states *s = w->s;
	replay_enter_bare(&s->replay, stamp, 0, kind->site);
	if (s->replay.depth > s->room)
		s->before = mem_resize(s->before, s->room = s->replay.room, sizeof *s->before);
	s->before[s->replay.depth - 1] = w->now;
	return kind->role ? (struct thread_state){ kind->role, kind->site } : w->now;
}

/* One event, as states_step() does it: the state behind it in *now. False if it is not plain. */
static inline bool step_plain(struct plain_walk *w, const struct plain_kind *kind, uint64_t stamp, struct thread_state *now)
{
	struct states *s = w->s;
	*now = w->now;
	if (!kind->plain)
		return false;
	if (kind->op == DPROF_ENTER)
		*now = enter_plain(w, kind, stamp);
	else if (kind->op == DPROF_EXIT && !replay_exit_innermost(&s->replay, kind->site))
		return false;
	else if (kind->op == DPROF_EXIT)
		*now = s->before[s->replay.depth];
	w->last = stamp > w->last ? stamp : w->last;
	return true;
}

/* As change() does it. */
static inline bool change_plain(struct plain_walk *w, struct thread_state now, struct period_begin *out)
{
	uint64_t stretch = w->last - w->stretch_from;
	bool longest = stretch >= w->stretch, ends = now.may != w->open.may;
	w->stretch = longest ? stretch : w->stretch;
	w->open.site = longest ? w->now.site : w->open.site;
	w->stretch_from = w->last;
	w->now = now;
	if (!ends)
		return false;
	*out = w->open;
	w->open = (struct period_begin){ w->last, now.site, now.may };
	w->stretch = 0;
	return true;
}

/* Where is_plain(): the periods of the events at hand, as far as these are plain. */
static size_t follow_plain(struct states *s, struct period_begin *out, size_t room)
{
	const struct plain_kind *kinds = s->roles->kinds;
	struct plain_walk w = begin_plain(s);
	struct thread_state now;
	size_t n = 0, i;
	if (s->events.next - s->ahead_from >= s->ahead.n && !look_ahead(s))
		return 0;
	const struct tr_columns k = s->ahead;
	for (i = s->events.next - s->ahead_from; i < k.n && n < room; i++) {
		if (!step_plain(&w, &kinds[k.what[i]], k.stamp[i], &now))
			break;
		if (!same_state(now, w.now))
			n += change_plain(&w, now, &out[n]);
	}
	end_plain(&w);
	s->forgot &= s->events.next == s->ahead_from + i;
	s->polls &= s->events.next == s->ahead_from + i;
	s->events.next = s->ahead_from + i;
	return n;
}

size_t states_periods(struct states *s, struct period_begin *out, size_t room, uint64_t *to)
{
	struct period ended;
	size_t n = 0;
	enum follow followed = FOLLOW_ON;
	while (n < room && followed != FOLLOW_END) {
		size_t next = s->events.next;
		if (is_plain(s))
			n += follow_plain(s, out + n, room - n);
		if (s->events.next > next)
			continue;
		followed = follow_step(s, &ended);
		if (followed == FOLLOW_PERIOD)
			out[n++] = begin_of(&ended);
	}
	*to = s->ended ? PERIOD_AFTER : s->period.from;
	return n;
}

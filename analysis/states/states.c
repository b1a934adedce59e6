/* SPDX-License-Identifier: MIT
 *
 * states.c - each entry of the thread's replay has the state before it beside it, so that an event
 * costs the same at any depth. */
#include "analysis/states/states.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/states/retry.h"
#include "analysis/trace/trace_jumps.h"

/* ---- The state ------------------------------------------------------------------------------- */

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
		between |= below == ROLE_OTHER_OUTSIDE ? MAY_OTHER : below;
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
	if (role == ROLE_OTHER_OUTSIDE)
		role = states_same(s->now, s->outside)	? MAY_OTHER
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
	return s->now.may & MAY_WORK && !tr_is_marked(s->events.trace, s->now.site);
}

static bool may_poll_by_sleep(struct states *s, const struct tr_event *e)
{
	if (!may_sleep_for_others(s) || (s->pause && s->behind_attempt))
		return false;
	bool begins = !s->polls && !s->pause && retry_begins(s->roles, s->events, e);
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
		pause_for(s, retry_until_sleep(s->roles, s->events, e->stamp + s->sleep_longest), false);
	s->polls = s->pause > 0;
}

/* Until a moment: it is not the thread who made that long, and no other thread either, unless it looks for something whenever
 * one has come. Where a signal ended it the thread may have waited for whoever sent that. */
static void fall_asleep(struct states *s, const struct tr_event *e)
{
	struct tr_event x = whole(s, e);
	if (e->op == DPROF_EXIT)
		sleep_ends(s, e);
	if (e->op != DPROF_ENTER)
		return;
	sleep_begins(s, e);
	if (arg_for_unknown(tr_operation(s->events.trace, e), &x))
		s->now = (struct thread_state){ s->now.may | MAY_WAIT, e->site };
	if (trace_has(&x, DPROF_KEY_UNTIL))
		s->now = (struct thread_state){ e->unsure ? MAY_OTHER | s->now.may : MAY_OTHER, e->site };
	if (s->polls)
		s->now.may |= MAY_WAIT;
}

/* ---- Time limits ------------------------------------------------------------------------------ */

/* Whether the thread has waited for another all the same, which came when it had tried again. */
static bool is_told_later(struct states *s, const struct tr_event *e)
{
	if (s->row == 0) {
		s->row = retry_until_told(s->roles, s->events, e->site, e->stamp, &s->told);
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
		pause_for(s, retry_until_wait(s->roles, s->events, e->site, e->stamp), false);
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
		pause_for(s, retry_until_attempt(s->roles, s->events), true);
}

static void attempt(struct states *s, const struct tr_event *e)
{
	if (e->op == DPROF_ENTER)
		ask_in_vain(s, e);
	else if (e->op == DPROF_EXIT && s->asking > s->replay.depth)
		asked_in_vain(s, e->site);
}

/* A wait that others end, or a time limit; or an attempt. */
static void wait_or_try(struct states *s, const struct tr_event *e)
{
	if (tr_may_try(s->events.trace, e->site))
		attempt(s, e);
	if (s->roles->limits && e->op == DPROF_ENTER && tr_is(s->events.trace, e->site, OP_WAITS))
		expire(s, e);
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

/* And what is so while it does not ask, whatever it is in. */
static void may_pause(struct states *s)
{
	if (!s->pause)
		return;
	s->but_for_pause = s->now;
	s->now.may |= MAY_WAIT;
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
	else
		wait_or_try(s, e);
	if (s->expires > s->replay.depth)
		end_expired(s, e);
	if (s->asking > s->replay.depth)
		s->asking = 0;
	may_pause(s);
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
	} else if (states_same(s->now, in_init)) {
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
		begin_with_clock(s, run->first, tr_slack(trace, self->clock),
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

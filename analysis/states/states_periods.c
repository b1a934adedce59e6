/* SPDX-License-Identifier: MIT
 *
 * states_periods.c - from the states behind each event of a thread (states.c) to its periods.
 *
 * Most events change the state in no other way than by the stack: of these, which come in columns, the state is followed here, as
 * states.c would do it, event by event. */
#include "analysis/base/memory.h"
#include "analysis/states/periods.h"

static struct period_begin begin_of(const struct period *p)
{
	return (struct period_begin){ p->from, p->site, p->may };
}

static void end_stretch(struct states *s, uint32_t site, uint64_t stamp)
{
	if (stamp - s->stretch_from >= s->stretch) {
		s->stretch = stamp - s->stretch_from;
		s->period.site = site;
	}
	s->stretch_from = stamp;
}

/* A period of work goes on at `stamp`, at another site. */
static inline void change_place(struct states *s, struct period_begin open, uint64_t stretch_from, uint32_t site, uint64_t stamp,
			 uint32_t next)
{
	struct places_found *to = s->within;
	if (!to || !(open.may & MAY_WORK) || site == next)
		return;
	if (to->n + 2 > PERIODS_AT_ONCE) {
		periods_add(to->writer, to->at, to->n);
		to->n = 0;
	}
	if (stretch_from == open.from) /* the first place of the period */
		to->at[to->n++] = (struct period_begin){ open.from, site, 0 };
	to->at[to->n++] = (struct period_begin){ stamp, next, 0 };
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
	return s->begun && !s->idle && !s->pause && !s->expires && !s->asking && s->next == s->nbegin && s->inits == 2 &&
	       !c->inheritance && !c->thread->jumps;
}

static bool look_ahead(struct states *s)
{
	struct tr_cursor ahead = s->events;
	s->ahead_from = s->events.next;
	s->ahead.n = 0;
	return trace_columns_bare(&ahead, &s->ahead);
}

/* Behind a step, before which the state was another one: whether a period has ended. */
static inline bool change(struct states *s, struct thread_state before, struct period *out)
{
	if (s->now.may == s->period.may)
		change_place(s, begin_of(&s->period), s->stretch_from, before.site, s->last, s->now.site);
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
		return !states_same(s->now, before) && change(s, before, out) ? FOLLOW_PERIOD : FOLLOW_ON;
	if (s->ended)
		return FOLLOW_END;
	s->ended = true;
	s->period.to = PERIOD_AFTER;
	*out = s->period;
	return FOLLOW_PERIOD;
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
	if (!ends)
		change_place(w->s, w->open, w->stretch_from, w->now.site, w->last, now.site);
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
		if (!states_same(now, w.now))
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

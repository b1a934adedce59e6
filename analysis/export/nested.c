/* SPDX-License-Identifier: MIT
 *
 * nested.c - see nested.h. */
#include "analysis/export/nested.h"

void nested_open(struct nested *s, const struct moments *m, uint32_t thread)
{
	*s = (struct nested){ .moments = m, .cursor = trace_events(m->trace, thread), .clock = moments_of(m, thread) };
	replay_open(&s->replay, m->trace->nsites);
}

void nested_close(struct nested *s)
{
	replay_close(&s->replay);
	trace_end(&s->cursor);
}

/* One of those that an exit, a loss or the end has closed. The outermost of an exit's is its own. */
static void leave(struct nested *s, struct nested_step *step)
{
	const struct replay_entry *entry = &s->replay.entry[s->replay.depth + s->leaving - 1];
	bool own = s->leaving == 1 && !s->over && s->event.op == DPROF_EXIT;
	*step = (struct nested_step){ NESTED_EXIT, entry->site, s->at, s->bounds, own ? &s->event : NULL, s->ordinal - 1 };
	s->leaving--;
}

static void find_moment(struct nested *s)
{
	s->at = moments_at(&s->clock, s->event.stamp, &s->bounds);
}

/* Whether the event is a step, or closes some. */
static bool take(struct nested *s, struct nested_step *step)
{
	const struct tr_event *e = &s->event;
	if (e->op == DPROF_LOST) {
		s->leaving = replay_lose(&s->replay);
		return s->leaving > 0;
	}
	find_moment(s);
	if (e->op == DPROF_EXIT) {
		s->leaving = replay_exit(&s->replay, e->site);
		return s->leaving > 0;
	}
	if (e->op == DPROF_ENTER && !replay_enter(&s->replay, tr_entry(s->moments->trace, e)))
		return false;
	*step = (struct nested_step){ e->op == DPROF_ENTER ? NESTED_ENTER : NESTED_POINT, e->site, s->at, s->bounds, e, s->ordinal - 1 };
	return true;
}

bool nested_next(struct nested *s, struct nested_step *step)
{
	while (!s->leaving && !s->over) {
		if (!trace_next_bare(&s->cursor, &s->event)) {
			s->over = true;
			s->leaving = replay_lose(&s->replay);
			continue;
		}
		s->ordinal++;
		if (take(s, step) && !s->leaving)
			return true;
	}
	if (!s->leaving)
		return false;
	leave(s, step);
	return true;
}

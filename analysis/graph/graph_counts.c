/* SPDX-License-Identifier: MIT
 *
 * graph_counts.c - threads that count down under a lock, of which the last signals:
 *
 *   lock, if (--left == 0) signal, unlock
 *
 * In another run another may be the last. So a wait for the signal has waited for all who came to that lock since
 * the signal before: most likely, if each came once, one of them while it was waited, and none of them signalled
 * or waited itself. If they all came before the wait, what they did may have been no business of it: that is not sure. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

#define MOST_EVENTS 256 /* that are looked at for one signal, of the lock and of what is signalled */

static bool is_of(const struct sync_event *s, uint32_t process, uint64_t id, bool lock)
{
	return s->process == process && s->id == id && (s->kind == SYNC_RELEASED || s->kind == SYNC_TAKEN) == lock;
}

/* The stamp of the signal before, or 0. False: so far back it was not looked. */
static bool find_signal_before(const struct builder *b, const struct sync_event *signal, uint64_t *before)
{
	size_t from = graph_sync_events(b, signal->process, signal->id, false, signal->section.taken.stamp);
	*before = 0;
	for (size_t i = from; i-- > 0 && is_of(&b->sync_events[i], signal->process, signal->id, false);) {
		*before = b->sync_events[i].ref.stamp;
		if (b->sync_events[i].kind == SYNC_SIGNALLED)
			return true;
		if (from - i == MOST_EVENTS)
			return false;
	}
	*before = 0;
	return true;
}

/* Whether the thread waits for the signal, now or soon, or gives it behind having come to the lock then. */
static bool takes_part(const struct builder *b, const struct sync_event *signal, uint64_t before, const struct sync_event *comes)
{
	size_t from = graph_sync_events(b, signal->process, signal->id, false, before + 1);
	for (size_t i = from; i < b->nsync_events && i - from < MOST_EVENTS; i++) {
		const struct sync_event *s = &b->sync_events[i];
		if (!is_of(s, signal->process, signal->id, false))
			return false;
		if (s->ref.thread == comes->ref.thread &&
		    (s->kind == SYNC_WOKEN || s->section.taken.at == comes->ref.at))
			return true;
	}
	return false;
}

static bool came(const struct node_input *inputs, size_t n, uint32_t thread)
{
	for (size_t i = 0; i < n; i++)
		if (inputs[i].ref.thread == thread)
			return true;
	return false;
}

struct node_input *graph_counted(const struct builder *b, const struct sync_event *signal, struct event_ref since, size_t *n)
{
	const struct section *section = &signal->section;
	struct node_input *inputs = NULL;
	uint64_t before;
	bool sure = false;
	*n = 0;
	if (section->taken.at == NO_EVENT || !find_signal_before(b, signal, &before))
		return NULL;
	size_t from = graph_sync_events(b, section->process, section->id, true, section->taken.stamp);
	for (size_t i = from; i-- > 0 && from - i <= MOST_EVENTS;) {
		const struct sync_event *s = &b->sync_events[i];
		if (!is_of(s, section->process, section->id, true) || s->ref.stamp <= before)
			break;
		if (s->kind != SYNC_TAKEN || s->in_wait || s->ref.thread == since.thread)
			continue;
		if (s->ref.thread == section->taken.thread || came(inputs, *n, s->ref.thread) || s->relocks ||
		    takes_part(b, signal, before, s)) {
			free(inputs);
			*n = 0;
			return NULL;
		}
		sure |= s->ref.stamp > since.stamp;
		*MEM_GROW(inputs, *n) = (struct node_input){ .ref = s->ref };
	}
	for (size_t i = 0; i < *n; i++)
		inputs[i].sure = sure;
	return inputs;
}

/* SPDX-License-Identifier: MIT
 *
 * graph_looks.c - whose bytes a thread takes next: whoever's are there first, or those of one channel?
 *
 *   poll(all); read(a); read(c)      whichever had bytes: in another run it may be b, and is taken first
 *   read(a); read(b); read(c)        one after the other: it waits for a while there are bytes in b
 *
 * A thread that has looked at several channels, at any time before, may turn to any: nothing else is proved of it. But it
 * most likely does so only behind a look, and no more once it has turned to another channel and waited there for bytes: what
 * it had found by looking would have been there; nor to bytes that came before those for which the look itself waited, which
 * would have ended it. Up to the next look it takes from channels in an order of its own. */
#include <stdlib.h>

#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_bytes.h"

/* What may have been found by looking: in the order of its thread. */
struct found { uint32_t thread; uint64_t at; struct moved_bytes *taken; };

static int by_thread(const void *x, const void *y)
{
	const struct found *a = x, *b = y;
	return ORDER_2(a, b, thread, at);
}

static bool is_behind_look(const struct moved_bytes *m)
{
	return m->look.at != m->enter.at;
}

/* It was not the look just before that found them, but they were waited for; and they are not the rest of what came before. */
static bool waits_for_one(const struct builder *b, const struct moved_bytes *m, const struct found *before)
{
	bool turns = !before || before->taken->channel != m->channel;
	return turns && !is_behind_look(m) && graph_certainly_before(b, m->enter, m->given);
}

/* The last look has waited for others, which came later than these. */
static bool was_not_looked_for(const struct builder *b, const struct moved_bytes *m, const struct moved_bytes *waited)
{
	return waited && !is_behind_look(m) && graph_certainly_before(b, m->given, waited->given);
}

void graph_find_looks(struct builder *b, struct byte_records *r)
{
	struct found *found = NULL;
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].chosen && !r->v[i].gave)
			*SPILL_GROW(b->spill, found, n) = (struct found){ r->v[i].enter.thread, r->v[i].enter.at, &r->v[i] };
	runs_sort(b->spill, found, n, sizeof *found, by_thread);
	bool in_order = true;
	const struct moved_bytes *waited = NULL; /* what the last look has found, for which it waited */
	for (size_t i = 0; i < n; i++) {
		const struct found *before = i > 0 && found[i - 1].thread == found[i].thread ? &found[i - 1] : NULL;
		struct moved_bytes *m = found[i].taken;
		bool known = m->given.at != NO_EVENT;
		if (!before || before->taken->looks != m->looks) {
			in_order = m->looks == 0;
			waited = known && is_behind_look(m) && graph_certainly_before(b, m->look, m->given) ? m : NULL;
		}
		in_order |= known && (waits_for_one(b, m, before) || was_not_looked_for(b, m, waited));
		m->found = !in_order;
	}
	spill_free(b->spill, found);
}

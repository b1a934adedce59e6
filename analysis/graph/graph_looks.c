/* SPDX-License-Identifier: MIT
 *
 * graph_looks.c - whose bytes a thread takes next: whoever's are there first, or those of one channel?
 *
 *   poll(all); read(a); read(c)      whichever had bytes: in another run it may be b, and is taken first
 *   read(a); read(b); read(c)        one after the other: it waits for a while there are bytes in b
 *
 * A thread that has looked at several channels, at any time before, may turn to any: nothing else is proved of it. But it
 * most likely does so only behind a look, and no more once it has turned to another channel and waited there for bytes: what
 * it had found by looking would have been there. Up to the next look it takes from channels in an order of its own. */
#include <stdlib.h>

#include "analysis/base/runs.h"
#include "analysis/graph/graph_bytes.h"

/* What may have been found by looking: in the order of its thread. */
struct found { uint32_t thread; uint64_t at; struct moved_bytes *taken; };

static int by_thread(const void *x, const void *y)
{
	const struct found *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* It was not the look just before that found them, but they were waited for; and they are not the rest of what came before. */
static bool waits_for_one(const struct builder *b, const struct found *f, const struct found *before)
{
	const struct moved_bytes *m = f->taken;
	bool behind_look = m->looks_at != m->enter.at, known = m->given.at != NO_EVENT;
	bool turns = !before || before->taken->channel != m->channel;
	return turns && known && !behind_look && graph_certainly_before(b, m->enter, m->given);
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
	for (size_t i = 0; i < n; i++) {
		const struct found *before = i > 0 && found[i - 1].thread == found[i].thread ? &found[i - 1] : NULL;
		struct moved_bytes *m = found[i].taken;
		if (!before || before->taken->looks != m->looks)
			in_order = m->looks == 0;
		in_order |= waits_for_one(b, &found[i], before);
		m->found = !in_order;
	}
	spill_free(b->spill, found);
}

/* SPDX-License-Identifier: MIT
 *
 * graph_streams.c - messages of one rank to another with one tag: which of them a receive gets, in another run.
 *
 *   receive of any, ..., receive of that rank   the first may take one of any rank's; the other gets the next one of that rank
 *   two threads of a rank send                  whichever is first; also with two tags, where the receive is with any
 *
 * Who sends to such a receive, and waits for it, may wait for another one then. All such receives of one group and tag, those
 * that name a sender as well, have an inbox in common, whose turns say which stream is named: a replay takes the first message
 * that fits.
 *
 * Law: as many messages of a stream are sent in any run, and as many receives name it; so receives of any rank, or any tag, take as
 * many of it as here, and none where they take none here. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_messages.h"

static uint32_t process_of(const struct builder *b, struct event_ref ref)
{
	return b->graph->trace->threads[ref.thread].process;
}

/* Of each process whether more than one of its threads sends. To be freed. */
static bool *find_several(const struct builder *b, const struct message_records *r)
{
	size_t n = b->graph->trace->nprocesses;
	uint32_t *sender = mem_resize(NULL, n + 1, sizeof *sender);
	bool *several = mem_resize(NULL, n + 1, sizeof *several);
	for (size_t p = 0; p < n; p++) {
		sender[p] = UINT32_MAX;
		several[p] = false;
	}
	for (size_t i = 0; i < r->n; i++, spill_relax(b->spill)) {
		const struct message *m = &r->v[i];
		uint32_t from = process_of(b, m->sent);
		if (!m->stream)
			continue;
		several[from] |= sender[from] != UINT32_MAX && sender[from] != m->sent.thread;
		sender[from] = m->sent.thread;
	}
	free(sender);
	return several;
}

#define FEW 2 /* processes: one receives what the other sends, unless a rank sends to itself or in several threads */

bool graph_send_several(const struct builder *b, const struct message_records *r)
{
	if (b->graph->trace->nprocesses > FEW)
		return true;
	bool *several = find_several(b, r), any = false;
	for (size_t p = 0; p < b->graph->trace->nprocesses; p++)
		any |= several[p];
	for (size_t i = 0; i < r->n && !any; i++, spill_relax(b->spill))
		any = r->v[i].stream && process_of(b, r->v[i].sent) == process_of(b, r->v[i].begun);
	free(several);
	return any;
}

/* Who was the first to send there. */
struct senders { struct ids seen; uint32_t *first; size_t n; };

static void senders_close(struct senders *s)
{
	ids_free(&s->seen);
	free(s->first);
}

/* Whether another thread was. */
static bool note_sender(struct senders *s, uint64_t where, uint32_t thread)
{
	if (ids_add(&s->seen, where))
		*MEM_GROW(s->first, s->n) = thread;
	return s->first[ids_find(&s->seen, where)] != thread;
}

/* Those into which more than one thread sends. */
static void add_shared(const struct builder *b, const struct message_records *r, const bool *several, struct ids *streams)
{
	struct senders senders = { .n = 0 };
	for (size_t i = 0; i < r->n; i++, spill_relax(b->spill)) {
		const struct message *m = &r->v[i];
		if (m->stream && several[process_of(b, m->sent)] && note_sender(&senders, m->stream, m->sent.thread))
			ids_add(streams, m->stream);
	}
	senders_close(&senders);
}

static bool is_in(const struct ids *ids, uint64_t id)
{
	return ids_find(ids, id) != SIZE_MAX;
}

/* Of those from which receives with any tag take, those of a rank to another into which, together, more than one thread sends. */
static void add_of_any_tag(const struct builder *b, const struct message_records *r, const bool *several, struct ids *streams)
{
	struct ids taken = { .n = 0 }, shared = { .n = 0 };
	struct senders senders = { .n = 0 };
	for (size_t i = 0; i < r->n; i++, spill_relax(b->spill))
		if (r->v[i].of_tags && several[process_of(b, r->v[i].sent)])
			ids_add(&taken, r->v[i].stream);
	for (size_t i = 0; i < r->n && taken.n; i++, spill_relax(b->spill)) {
		const struct message *m = &r->v[i];
		if (m->stream && is_in(&taken, m->stream) && note_sender(&senders, m->ranks, m->sent.thread))
			ids_add(&shared, m->ranks);
	}
	for (size_t i = 0; i < r->n && shared.n; i++, spill_relax(b->spill))
		if (r->v[i].of_tags && is_in(&shared, r->v[i].ranks))
			ids_add(streams, r->v[i].stream);
	senders_close(&senders);
	ids_free(&taken);
	ids_free(&shared);
}

static uint64_t kind_at(const struct builder *b, const struct message *m)
{
	return ids_mix(process_of(b, m->begun), m->kind);
}

/* Those of which a receive that names the sender may get another one. */
static void find_contested(const struct builder *b, struct message_records *r)
{
	struct ids named = { .n = 0 };
	for (size_t i = 0; i < r->n; i++, spill_relax(b->spill))
		if (r->v[i].unordered && !r->v[i].by_choice)
			ids_add(&named, kind_at(b, &r->v[i]));
	for (size_t i = 0; i < r->n && named.n; i++, spill_relax(b->spill))
		r->v[i].contested = r->v[i].unordered && is_in(&named, kind_at(b, &r->v[i]));
	ids_free(&named);
}

void graph_find_unordered(struct builder *b, struct message_records *r, struct ids *chosen)
{
	bool several = graph_send_several(b, r);
	for (size_t i = 0; i < r->n; i++, spill_relax(b->spill)) {
		struct message *m = &r->v[i];
		m->by_choice |= m->accepts && several;
		if (m->accepts && several)
			ids_add(chosen, m->stream);
	}
	bool *senders = find_several(b, r);
	add_shared(b, r, senders, chosen);
	add_of_any_tag(b, r, senders, chosen);
	free(senders);
	for (size_t i = 0; i < r->n && chosen->n; i++, spill_relax(b->spill))
		r->v[i].unordered = r->v[i].stream && is_in(chosen, r->v[i].stream);
	if (chosen->n)
		find_contested(b, r);
}

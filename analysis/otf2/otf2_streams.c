/* SPDX-License-Identifier: MIT
 *
 * otf2_streams.c - which messages and collective operations can be told from others: see otf2_private.h. */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "analysis/base/memory.h"
#include "analysis/otf2/otf2_private.h"

struct key { uint64_t from, to; OTF2_CommRef comm; uint32_t tag; };

struct otf2_stream {
	struct key key;
	int64_t outstanding;     /* sends without a receive, or fewer than 0 */
	UT_hash_handle hh;
};

/* Of a message between two ranks of a communicator; false if it is none. */
static bool key_of(const struct otf2_trace *t, size_t from, size_t to, OTF2_CommRef comm, uint32_t tag, struct key *key)
{
	memset(key, 0, sizeof *key);
	*key = (struct key){ from, to, comm, tag };
	return from != OTF2_NOWHERE && to != OTF2_NOWHERE && otf2_comm(t, comm);
}

/* Among all ranks, of one of a communicator. */
static size_t rank_in(const struct otf2_trace *t, OTF2_CommRef comm, uint32_t peer)
{
	const struct otf2_group *g = otf2_comm(t, comm);
	return g && peer < g->n ? g->members[peer] : OTF2_NOWHERE;
}

static struct otf2_stream *find(const struct otf2_trace *t, const struct key *key)
{
	struct otf2_stream *s;
	HASH_FIND(hh, t->streams, key, sizeof *key, s);
	return s;
}

static void count(struct otf2_trace *t, size_t from, size_t to, OTF2_CommRef comm, uint32_t tag, int by)
{
	struct key key;
	if (!key_of(t, from, to, comm, tag, &key))
		return;
	struct otf2_stream *s = find(t, &key);
	if (!s) {
		s = mem_resize(NULL, 1, sizeof *s);
		*s = (struct otf2_stream){ .key = key };
		HASH_ADD(hh, t->streams, key, sizeof key, s);
	}
	s->outstanding += by;
}

void otf2_count_send(struct otf2_trace *t, size_t rank, uint32_t peer, OTF2_CommRef comm, uint32_t tag)
{
	count(t, rank, rank_in(t, comm, peer), comm, tag, 1);
}

void otf2_count_receive(struct otf2_trace *t, size_t rank, uint32_t peer, OTF2_CommRef comm, uint32_t tag)
{
	count(t, rank_in(t, comm, peer), rank, comm, tag, -1);
}

bool otf2_is_told(const struct otf2_trace *t, size_t from, size_t to, OTF2_CommRef comm, uint32_t tag)
{
	struct key key;
	const struct otf2_stream *s = key_of(t, from, to, comm, tag, &key) ? find(t, &key) : NULL;
	return s && s->outstanding == 0;
}

/* ---- Collective operations ------------------------------------------------------------------- */

void otf2_count_calls(struct otf2_trace *t, const uint64_t *called, bool cut)
{
	t->ncut += cut;
	for (size_t c = 0; c < t->ncomms; c++) {
		struct otf2_calls *calls = &t->calls[c];
		if (called[c] == 0)
			continue;
		if (cut) {
			calls->most_of_cut = called[c] > calls->most_of_cut ? called[c] : calls->most_of_cut;
			continue;
		}
		calls->differ |= calls->locations > 0 && called[c] != calls->each;
		calls->each = called[c];
		calls->locations++;
	}
}

/* Whoever of its members is in none of them is whole and recorded none, or is cut. */
bool otf2_are_calls_told(const struct otf2_trace *t, OTF2_CommRef comm)
{
	const struct otf2_group *g = otf2_comm(t, comm);
	const struct otf2_calls *calls = g ? &t->calls[ids_find(&t->comm_ids, comm)] : NULL;
	bool longer = calls && calls->locations > 0 && calls->most_of_cut > calls->each;
	return calls && !calls->differ && !longer && calls->locations + t->ncut >= g->n;
}

void otf2_forget_streams(struct otf2_trace *t)
{
	free(t->calls);
	struct otf2_stream *s, *next;
	HASH_ITER(hh, t->streams, s, next) {
		HASH_DEL(t->streams, s);
		free(s);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * graph_places.c - a thread that looks for messages of several kinds in turn, each of which it receives at a place of its own,
 * and takes whichever comes first.
 *
 *   if (MPI_Iprobe(MPI_ANY_SOURCE, 0, ...), found) MPI_Recv(...)               looks in vain leave no record, so nothing says that
 *   else if (MPI_Iprobe(MPI_ANY_SOURCE, 1, ...), found) MPI_Recv(...)          it looked for the others as well
 *
 * A program that waits for one kind after the other, as for a header and for what follows it, leaves what comes out of turn
 * where it is. So two places have an inbox in common if none of what one gets, which came while the thread waited at the other,
 * was left there for longer than the thread ever needed to find what came; and if it is not always the other's turn, but goes
 * from each to the other several times. */
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_messages.h"
#include "analysis/graph/graph_walk.h"

#define MOST_PLACES 16 /* of one thread */
#define SEVERAL     2  /* times from each place to another */
#define FAR         64 /* messages behind one, of which some may have been left */

/* A message that was looked for. */
struct sought { struct event_ref enter; const struct wait_begin *begin; const struct message *m; uint32_t place; };

/* Of one thread: where it receives, how often it turned from one to another, and whether one was certainly not looked at from the
 * other; and how long it took to find what it had waited for. */
struct seeker {
	struct inbox_place places[MOST_PLACES]; uint32_t n;
	size_t turns[MOST_PLACES][MOST_PLACES];
	bool apart[MOST_PLACES][MOST_PLACES];
	int64_t longest;
};

static int by_thread(const void *x, const void *y)
{
	const struct sought *a = x, *b = y;
	return ORDER_2(a, b, enter.thread, enter.at);
}

static bool is_same(struct inbox_place a, struct inbox_place b)
{
	return a.whose == b.whose && a.site == b.site && a.accepts == b.accepts;
}

/* Or MOST_PLACES: there are too many. */
static uint32_t number_of(struct seeker *l, struct inbox_place place)
{
	uint32_t i = 0;
	while (i < l->n && !is_same(l->places[i], place))
		i++;
	if (i == l->n && i < MOST_PLACES)
		l->places[l->n++] = place;
	return i;
}

static bool waited(const struct builder *b, const struct sought *x)
{
	return graph_certainly_before(b, x->begin->enter, x->m->sent);
}

/* What came while a message was waited for at another place, and was taken only behind it. */
static void find_left(const struct builder *b, struct seeker *l, const struct sought *x, const struct sought *end)
{
	for (const struct sought *y = x + 1; y < end && y < x + FAR; y++)
		if (y->place != x->place && graph_between(b, y->m->sent, x->m->sent).lo > l->longest)
			l->apart[x->place][y->place] = l->apart[y->place][x->place] = true;
}

static bool take_turns(const struct seeker *l, uint32_t i, uint32_t k)
{
	bool stays = l->turns[i][i] > 0 || l->turns[k][k] > 0;
	return stays && l->turns[i][k] >= SEVERAL && l->turns[k][i] >= SEVERAL && !l->apart[i][k];
}

/* looks[0 .. n): of one thread. */
static void join_places(struct builder *b, struct sought *looks, size_t n)
{
	struct seeker l = { .n = 0 };
	for (size_t i = 0; i < n; i++) {
		looks[i].place = number_of(&l, graph_message_place(b, looks[i].m));
		if (looks[i].place == MOST_PLACES)
			return;
		int64_t found = waited(b, &looks[i]) ? graph_between(b, looks[i].m->sent, looks[i].enter).hi : 0;
		l.longest = found > l.longest ? found : l.longest;
	}
	for (size_t i = 0; i < n && l.n > 1; i++, spill_relax(b->spill)) {
		l.turns[looks[i ? i - 1 : 0].place][looks[i].place] += i > 0;
		if (waited(b, &looks[i]))
			find_left(b, &l, &looks[i], looks + n);
	}
	for (uint32_t k = 1; k < l.n; k++)
		for (uint32_t i = 0; i < k; i++)
			if (take_turns(&l, i, k))
				graph_join_inboxes(b, &l.places[i], &l.places[k]);
}

/* One message from anyone that was looked for. */
static bool is_look(const struct message_records *r, const struct kept_completion *x)
{
	if (!x->begin || !r->begins[x->begin - 1].tried || x->by_choice || x->n != 1 || r->attached[x->first].as_sender)
		return false;
	const struct message *m = &r->v[r->attached[x->first].message];
	return m->by_choice && !m->nobody && !m->contested;
}

void graph_places(struct builder *b, const struct message_records *r)
{
	struct sought *looks = NULL;
	size_t n = 0;
	for (size_t i = 0; i < r->ncompletions; i++, spill_relax(b->spill)) {
		const struct kept_completion *x = &r->completions[i];
		if (is_look(r, x))
			*SPILL_GROW(b->spill, looks, n) = (struct sought){ { x->thread, x->enter_at, x->enter }, &r->begins[x->begin - 1],
									 &r->v[r->attached[x->first].message], 0 };
	}
	runs_sort(b->spill, looks, n, sizeof *looks, by_thread);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && looks[next].enter.thread == looks[i].enter.thread;)
			next++;
		join_places(b, looks + i, next - i);
	}
	spill_free(b->spill, looks);
}

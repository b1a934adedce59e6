/* SPDX-License-Identifier: MIT
 *
 * graph_semaphores.c - semaphores of a process, and what processes of a host share: which post has served which wait.
 *
 * A queue of messages is two semaphores: there is a message, and there is room for one. Where whoever takes one may take any of
 * several kinds, it is the one that comes first, or of those that are there one of the least kind (arg_message_kind): those kinds
 * have an inbox in common. Each other kind is a semaphore of its own. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_locks.h"

/* The least that a semaphore began with, so that no wait ends before its post. */
static size_t begins_with(const struct builder *b, const struct sync_event *t, size_t n)
{
	size_t least = 0, waits = 0, posts = 0, next = 0;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		if (t[i].kind != SYNC_WOKEN)
			continue;
		uint64_t until = t[i].ref.stamp + graph_skew_of(b, &t[i]);
		for (; next < n && t[next].ref.stamp <= until; next++)
			posts += t[next].kind == SYNC_SIGNALLED;
		if (++waits > posts + least)
			least = waits - posts;
	}
	return least;
}

/* With how many it is made, as far as is known, and how many waits are served by none that is posted (`first`). */
static size_t find_permits(const struct builder *b, const struct sync_event *t, size_t n, size_t *first)
{
	size_t least = begins_with(b, t, n), permits = t->kind == SYNC_MADE ? t->counts_from : least;
	*first = permits > least ? permits : least;
	return permits;
}

/* Whether all events of a kind are of one thread. */
static bool by_one(const struct sync_event *t, size_t n, enum sync_event_kind kind)
{
	const struct sync_event *one = NULL;
	for (size_t i = 0; i < n; i++) {
		if (t[i].kind == kind && one && t[i].ref.thread != one->ref.thread)
			return false;
		one = t[i].kind == kind ? &t[i] : one;
	}
	return true;
}

/* Whether some wait began before the post that serves it: then nothing was left of what the semaphore began with. */
static bool was_empty(const struct builder *b, const struct sync_event *t, size_t n, size_t first)
{
	size_t waits = 0, post = 0;
	for (size_t i = 0; i < n; i++) {
		if (t[i].kind != SYNC_WOKEN || waits++ < first)
			continue;
		while (t[post].kind != SYNC_SIGNALLED)
			post++;
		if (t[i].enter.stamp + graph_skew_of(b, &t[i]) < t[post++].ref.stamp)
			return true;
	}
	return false;
}

/* What one thread has taken of a semaphore, with what was posted. None where that is not to be known, or where it never tried
 * whether there is more; or if it is not known where it works on which. */
static struct taken *find_works(const struct builder *b, const struct sync_event *t, size_t n, size_t first)
{
	struct taken *all = NULL;
	size_t count = 0, post = 0;
	bool tries = false;
	for (size_t i = 0; i < n; i++)
		tries |= t[i].kind == SYNC_WOKEN && tr_is(b->graph->trace, t[i].site, OP_ATTEMPT);
	for (size_t i = 0; i < n && tries; i++) {
		struct taken one = { .has = t[i].ref, .put.at = NO_EVENT };
		if (t[i].kind != SYNC_WOKEN)
			continue;
		while (count >= first && t[post].kind != SYNC_SIGNALLED)
			post++;
		if (count >= first)
			one.put = t[post++].ref;
		*MEM_GROW(all, count) = one;
	}
	if (graph_find_works(b, all, count))
		return all;
	free(all);
	return NULL;
}

/* Returns which input the post is. If `work` waits for it, the attempt does not. */
static size_t serve_one(struct sync_pass *p, const struct sync_event *w, const struct sync_event *post, bool ordered,
			const struct taken *work)
{
	struct builder *b = p->b;
	bool tries = work && tr_is(b->graph->trace, w->site, OP_ATTEMPT);
	struct node_input begin[BEGIN_INPUTS], *inputs = NULL;
	size_t begins = graph_begin_inputs(&w->begin, begin), n = 0;
	for (size_t i = 0; i < begins; i++)
		*MEM_GROW(inputs, n) = begin[i];
	*MEM_GROW(inputs, n) = (struct node_input){ .ref = post->ref, .sure = !tries, .needed = ordered && !tries, .candidate = tries };
	graph_tried_by(p->tried, w, post->ref);
	bool counted = post->ref.stamp > w->enter.stamp && graph_add_counted(p, post, w->enter, w->site, &inputs, &n) > 0;
	inputs[begins].needed &= !counted;
	struct graph_node *node = graph_arrival(b, w->ref, GRAPH_POSTED, inputs, n);
	node->loose = node->delayed = node->hidden = !ordered || counted || w->begin.tried; /* another post may come first */
	node->posted = true;
	node->polled = w->begin.tried;
	free(inputs);
	if (tries)
		graph_work_behind(b, work);
	return begins;
}

/* It takes one of those with which the semaphore was made; or, if these are gone, what nobody who is recorded has posted. */
static void take_first(struct builder *b, const struct sync_event *t, bool is_made_with_it, bool ordered, uint32_t queue)
{
	if (!is_made_with_it) {
		graph_diagnose(&b->diagnosed.alone, t->ref, t->site);
		graph_unknown(b, t->begin, t->ref);
	} else if (!ordered) {
		graph_wait_for_none(b, t);
		graph_turn(b, (struct graph_turn){ .queue = queue, .first = 1 });
	}
}

/* A wait, and the post that serves it; or NULL, if that is one of those with which it was made. */
struct served { const struct sync_event *woken, *post; };

/* Both waited when what serves them was posted, and the later one for longer: so that was woken first, though its call was over
 * later. */
static bool waited_longer(const struct served *first, const struct served *later)
{
	const struct sync_event *f = first->woken, *l = later->woken;
	return first->post && l->ref.thread != f->ref.thread && l->enter.stamp < f->enter.stamp &&
	       f->enter.stamp < first->post->ref.stamp && later->post->ref.stamp < f->ref.stamp;
}

/* Of t[0 .. n) all that waited, as they were served: whoever has waited longest is next. Of the spill. */
static struct served *find_served(const struct builder *b, const struct sync_event *t, size_t n, size_t first)
{
	struct served *all = NULL;
	size_t count = 0, post = 0;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		if (t[i].kind != SYNC_WOKEN)
			continue;
		while (count >= first && t[post].kind != SYNC_SIGNALLED)
			post++;
		struct served last = { &t[i], count >= first ? &t[post++] : NULL };
		*SPILL_GROW(b->spill, all, count) = last;
		for (size_t k = count - 1; k > 0 && last.post && waited_longer(&all[k - 1], &all[k]); k--) {
			const struct sync_event *longer = all[k].woken;
			all[k].woken = all[k - 1].woken;
			all[k - 1].woken = longer;
		}
	}
	return all;
}

/* The n-th who waits is served by the n-th post, but for what the semaphore began with: in every run, where there is one
 * thread for each and it is known with what it began. */
static void serve(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	struct builder *b = p->b;
	size_t first, permits = find_permits(b, t, n, &first), waits = 0;
	bool ordered = by_one(t, n, SYNC_SIGNALLED) && by_one(t, n, SYNC_WOKEN) && was_empty(b, t, n, first);
	ordered &= !graph_is_of_processes(b, t) && first == permits;
	uint32_t queue = ordered ? 0 : graph_queue(b, GRAPH_PERMITS, permits);
	struct taken *works = ordered ? find_works(b, t, n, first) : NULL;
	struct served *all = find_served(b, t, n, first);
	for (size_t i = 0; i < n; i++) {
		if (t[i].kind != SYNC_WOKEN) {
			if (!ordered && t[i].kind == SYNC_SIGNALLED)
				graph_release(b, t[i].ref, queue);
			continue;
		}
		const struct served *one = &all[waits++];
		if (!one->post) {
			take_first(b, one->woken, waits <= permits, ordered, queue);
			continue;
		}
		size_t begins = serve_one(p, one->woken, one->post, ordered, works ? &works[waits - 1] : NULL);
		if (!ordered)
			graph_turn(b, (struct graph_turn){ .queue = queue, .first = (uint32_t)begins, .n = 1 });
	}
	spill_free(b->spill, all);
	free(works);
}

/* Who waits for what several post listens to them, and tells one something by what this one alone waits for. */
static void note_exchanges(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	bool one = by_one(t, n, SYNC_WOKEN), told = by_one(t, n, SYNC_SIGNALLED);
	size_t first, waits = 0, post = 0;
	find_permits(p->b, t, n, &first);
	for (size_t i = 0; i < n && one; i++) {
		if (t[i].kind != SYNC_WOKEN || waits++ < first)
			continue;
		while (t[post].kind != SYNC_SIGNALLED)
			post++;
		const struct sync_event *by = &t[post++];
		if (told)
			graph_note_reply(p->b, &p->exchanges, by->ref, t[i].ref.thread, 0);
		else
			graph_note_request(p->b, &p->exchanges, t[i].ref, by->ref, by->site);
	}
}

/* Whether messages for which nobody had come were in the queue when the i-th came, of as many as are `inside` before it now. */
static bool were_inside(const struct sync_event *t, size_t i, int64_t inside)
{
	uint64_t came = t[i].enter.stamp;
	for (; i > 0 && t[i - 1].ref.stamp > came; i--)
		inside -= t[i - 1].kind == SYNC_WOKEN ? 1 : -1;
	return inside > 0;
}

/* Whoever gave a message had room at once, unless it was seen to wait, and that not only to wake who takes it: how much there is
 * nobody says. */
static bool was_full(const struct sync_event *t, size_t n)
{
	int64_t inside = 0; /* given, less those who have come for one */
	for (size_t i = 0; i < n; i++) {
		if (t[i].blocked && were_inside(t, i, inside))
			return true;
		inside += t[i].kind == SYNC_WOKEN ? 1 : -1;
	}
	return false;
}

static void give_room(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].kind == SYNC_WOKEN)
			graph_room(p->b, t[i].begin, (struct event_ref){ .at = NO_EVENT }, t[i].ref);
}

static void serve_messages(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	serve(p, t, n);
	note_exchanges(p, t, n);
	graph_takes(p, t, n, SYNC_WOKEN, true);
}

/* ---- Messages of several kinds ------------------------------------------------------------------ */

static bool are_alike(const struct sync_event *t, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (t[i].message != t[0].message)
			return false;
	return true;
}

/* Up to which kind it may take one, where it may take several. */
static int64_t takes_upto(const struct sync_event *t)
{
	return t->asked == 0 || t->asked == INT64_MIN ? INT64_MAX : t->asked < 0 ? -t->asked : INT64_MIN;
}

/* Up to which kind those are that have an inbox in common. */
static int64_t find_common(const struct sync_event *t, size_t n)
{
	int64_t most = INT64_MIN;
	for (size_t i = 0; i < n; i++)
		if (t[i].kind == SYNC_WOKEN && takes_upto(&t[i]) > most)
			most = takes_upto(&t[i]);
	return most;
}

struct message_place { int64_t message; size_t at; };

static int by_message(const void *x, const void *y)
{
	const struct message_place *a = x, *b = y;
	return ORDER_2(a, b, message, at);
}

/* By kind, and of each by time. Of the spill. */
static struct sync_event *sort_by_kind(struct spill *spill, const struct sync_event *t, size_t n)
{
	struct message_place *places = spill_grow(spill, NULL, n, sizeof *places);
	struct sync_event *sorted = spill_grow(spill, NULL, n, sizeof *sorted);
	for (size_t i = 0; i < n; i++)
		places[i] = (struct message_place){ t[i].message, i };
	runs_sort_here(spill, places, n, sizeof *places, by_message);
	for (size_t i = 0; i < n; i++, spill_relax(spill))
		sorted[i] = t[places[i].at];
	spill_free(spill, places);
	return sorted;
}

static size_t end_of_kind(const struct sync_event *sorted, size_t n, size_t i)
{
	int64_t message = sorted[i].message;
	while (i < n && sorted[i].message == message)
		i++;
	return i;
}

/* Those that were served with a message of a kind; and the kinds, in order. */
struct served_message { struct served is; uint32_t kind; };
struct served_kinds { struct served_message *v; size_t n; int64_t *kinds; uint32_t nkinds; };

static int by_end(const void *x, const void *y)
{
	const struct sync_event *a = ((const struct served_message *)x)->is.woken, *b = ((const struct served_message *)y)->is.woken;
	return ORDER_3(a, b, ref.stamp, ref.thread, ref.at);
}

/* Messages of one kind are taken in the order in which they were put there. */
static void serve_kind(const struct builder *b, struct served_kinds *k, const struct sync_event *t, size_t n)
{
	size_t first, waits = 0;
	find_permits(b, t, n, &first);
	struct served *all = find_served(b, t, n, first);
	for (size_t i = 0; i < n; i++)
		if (t[i].kind == SYNC_WOKEN)
			*SPILL_GROW(b->spill, k->v, k->n) = (struct served_message){ all[waits++], k->nkinds + 1 };
	spill_free(b->spill, all);
	*MEM_GROW(k->kinds, k->nkinds) = t->message;
}

/* Which kinds it may take, as a replay has them. */
static struct graph_turn turn_of(const struct served_kinds *k, const struct served_message *s)
{
	const struct sync_event *w = s->is.woken;
	int64_t most = takes_upto(w);
	uint32_t upto = (uint32_t)SEARCH(k->nkinds, mid, k->kinds[mid] <= most);
	return (struct graph_turn){ .n = 1, .kind = s->kind, .stream = s->kind, .named = w->asked > 0, .upto = w->asked < 0 ? upto : 0 };
}

/* Of t[0 .. n) by kind, all of which have an inbox. */
static void serve_common(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	struct builder *b = p->b;
	struct served_kinds k = { .n = 0 };
	for (size_t i = 0, next; i < n; i = next) {
		next = end_of_kind(t, n, i);
		serve_kind(b, &k, t + i, next - i);
	}
	if (k.n)
		runs_sort_here(b->spill, k.v, k.n, sizeof *k.v, by_end);
	uint32_t queue = graph_queue(b, GRAPH_INBOX, 0);
	b->graph->queues[queue].by_kind = true;
	for (size_t i = 0; i < k.n; i++, spill_relax(b->spill)) {
		const struct served *s = &k.v[i].is;
		if (!s->post) {
			graph_wait_for_none(b, s->woken);
			continue;
		}
		struct graph_turn turn = turn_of(&k, &k.v[i]);
		turn.first = (uint32_t)serve_one(p, s->woken, s->post, false, NULL);
		turn.queue = queue;
		graph_turn(b, turn);
	}
	spill_free(b->spill, k.v);
	free(k.kinds);
}

static void serve_kinds(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	struct spill *spill = p->b->spill;
	struct sync_event *sorted = sort_by_kind(spill, t, n);
	int64_t most = find_common(t, n);
	size_t common = 0;
	while (common < n && sorted[common].message <= most && most != INT64_MIN)
		common++;
	if (common && !are_alike(sorted, common)) {
		serve_common(p, sorted, common);
		for (size_t i = 0, k = 0; i < n && k < common; i++) /* by time, again */
			if (t[i].message <= most)
				sorted[k++] = t[i];
		graph_takes(p, sorted, common, SYNC_WOKEN, true);
	} else {
		common = 0;
	}
	for (size_t i = common, next; i < n; i = next) {
		next = end_of_kind(sorted, n, i);
		serve_messages(p, sorted + i, next - i);
	}
	spill_free(spill, sorted);
}

void graph_semaphore(struct sync_pass *p, const struct sync_event *t, size_t n, bool for_room)
{
	if (for_room && !was_full(t, n))
		give_room(p, t, n);
	else if (for_room)
		serve(p, t, n);
	else if (are_alike(t, n))
		serve_messages(p, t, n);
	else
		serve_kinds(p, t, n);
}

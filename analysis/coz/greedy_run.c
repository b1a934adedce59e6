/* SPDX-License-Identifier: MIT
 *
 * greedy_run.c - one replay, in the order of time. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"

/* ---- Bodies ----------------------------------------------------------------------------------- */

/* Behind a wait that has happened. Where another message came, that is served. */
static void pass(struct greedy_body *b, const struct greedy_wait *w)
{
	b->saving = w->saving;
	if (w->instead == GREEDY_NONE)
		return;
	b->serves = w->turn;
	b->other = w->instead;
}

/* Sleeps where the node has not happened yet. */
static bool passes(struct greedy *y, struct greedy_body *b, uint32_t node)
{
	struct greedy_wait *w = &y->waits[node];
	if (w->happened) {
		pass(b, w);
		return true;
	}
	b->next_sleeper = w->bodies;
	w->bodies = (uint32_t)(b - y->bodies) + 1;
	return false;
}

/* Comes to its next point, which may be where it begins to serve another message, or where that is over. */
static const struct greedy_point *arrive(const struct greedy *y, struct greedy_body *b)
{
	const struct greedy_point *p = y->points;
	const struct greedy_service *own = b->serves == GREEDY_NONE ? NULL : &y->services[b->serves];
	const struct greedy_service *other = own ? &y->services[b->other] : NULL;
	bool open = own && (own->open || other->open), over;
	if (own && b->point == own->first) {
		b->saving += p[other->waits].at - p[own->waits].at;
		b->point = other->first;
	}
	over = own && b->point == other->end;
	if (over && open) {
		b->saving += p[own->end - 1].at - p[other->end - 1].at;
		b->point = own->end;
	}
	b->saving += y->share * p[b->point].less;
	if (b->slower != 0)
		b->saving -= b->slower * greedy_works_until(y, b->point);
	if (over && !open) {
		b->saving += p[own->end].at - p[other->end].at;
		b->point = own->end;
	}
	b->serves = over ? GREEDY_NONE : b->serves;
	return &p[b->point];
}

/* To the next point at which it does something. */
static void go_on(struct greedy *y, struct greedy_body *b)
{
	for (; b->point < y->first[b->thread + 1]; b->point++) {
		const struct greedy_point *p = arrive(y, b);
		if (p->what == GREEDY_PASSED) {
			y->passed++;
			continue;
		}
		if (p->what != GRAPH_WAITS) {
			heap_add(&y->heap, heap_key((int64_t)(p->at - b->saving)), (uint32_t)(b - y->bodies));
			return;
		}
		if (!passes(y, b, p->number))
			return;
		y->passed++;
	}
}

/* The node has happened so much earlier: who slept goes on. */
static void happen(struct greedy *y, uint32_t node, double saving)
{
	struct greedy_wait *w = &y->waits[node];
	w->happened = true;
	w->saving = saving;
	if (node == y->g->end)
		y->found[y->nprobes] = saving;
	for (uint32_t sleeper = w->bodies, next; sleeper; sleeper = next) {
		struct greedy_body *b = &y->bodies[sleeper - 1];
		next = b->next_sleeper;
		pass(b, w);
		b->point++;
		y->passed++;
		go_on(y, b);
	}
	w->bodies = 0;
}

/* ---- Queues ----------------------------------------------------------------------------------- */

/* Behind those whose place is no later. */
static void stand_in(struct greedy_line *l, struct greedy_waiter w)
{
	*MEM_GROW(l->v, l->n) = w;
	size_t i = l->n - 1;
	for (; i > l->first && l->v[i - 1].place > w.place; i--)
		l->v[i] = l->v[i - 1];
	l->v[i] = w;
}

static struct greedy_waiter step_out(struct greedy_line *l, size_t i)
{
	struct greedy_waiter w = l->v[i];
	memmove(&l->v[l->first + 1], &l->v[l->first], (i - l->first) * sizeof *l->v);
	l->first++;
	return w;
}

/* It is this turn's, at last. */
static void have(struct greedy *y, uint32_t turn, double when)
{
	happen(y, y->g->turns[turn].node, y->had[turn].at - when);
}

/* Something is there; and all, for whom nobody takes anything later. */
static bool has_batch(const struct greedy_queue *q, uint32_t turn)
{
	return turn == q->last_turn ? q->came >= q->all : q->permits > 0;
}

/* The first who only reads; or how many there are. */
static size_t find_reader(const struct greedy *y, const struct greedy_queue *q)
{
	size_t i = q->waiting.first;
	while (i < q->waiting.n && !y->g->turns[q->waiting.v[i].turn].shared)
		i++;
	return i;
}

/* The first of those that may go on: if there is a permit, or the lock is free for one that wants it so. Readers pass a
 * writer that waits for readers, and where they are preferred any other. As many as there are: nobody. */
static size_t find_next(const struct greedy *y, uint32_t queue)
{
	const struct greedy_queue *q = &y->queues[queue];
	const struct graph_queue *is = &y->g->queues[queue];
	size_t first = q->waiting.first, none = q->waiting.n;
	if (is->kind == GRAPH_BATCHES)
		return first < none && has_batch(q, q->waiting.v[first].turn) ? first : none;
	if (is->kind == GRAPH_PERMITS ? q->permits == 0 : q->held)
		return none;
	if (!q->readers && !is->prefers_readers)
		return first;
	size_t reader = find_reader(y, q);
	return q->readers || reader < none ? reader : first;
}

/* Whether somebody waits who did not in this run, nor has anything of that turn waited for him in the visit. */
static bool waits_anew(const struct greedy *y, struct greedy_waiter w, double free)
{
	return free > w.since && isinf(greedy_least_slack(y, &y->g->turns[w.turn], true));
}

/* The body leaves out what it did up to another point. */
static void leave_out(struct greedy *y, struct greedy_body *b, uint32_t to)
{
	b->saving += y->points[to].at - y->points[b->point].at;
	for (; b->point < to; b->point++, y->passed++)
		if (y->points[b->point].what == GRAPH_PROBE)
			y->found[y->points[b->point].number] = b->saving;
	y->changed = true;
}

/* Who has slept until the last thing came takes no other batch behind it. */
static uint32_t take_last(struct greedy *y, const struct greedy_queue *q, uint32_t turn)
{
	struct greedy_wait *w = &y->waits[y->g->turns[turn].node];
	if (turn == q->last_turn || q->came < q->all || w->bodies == 0)
		return turn;
	leave_out(y, &y->bodies[w->bodies - 1], q->last_at);
	y->waits[y->g->turns[q->last_turn].node].bodies = w->bodies;
	w->bodies = 0;
	return q->last_turn;
}

static void hand_on(struct greedy *y, uint32_t queue)
{
	struct greedy_queue *q = &y->queues[queue];
	for (size_t i; (i = find_next(y, queue)) < q->waiting.n;) {
		struct greedy_waiter w = step_out(&q->waiting, i);
		bool lock = y->g->queues[queue].kind == GRAPH_LOCK, shared = y->g->turns[w.turn].shared;
		double free = q->left + y->had[w.turn].handed;
		y->changed |= w.turn < q->last || waits_anew(y, w, free);
		q->last = w.turn;
		q->permits -= !lock;
		q->held = lock && !shared;
		q->readers += lock && shared;
		if (y->g->queues[queue].kind == GRAPH_BATCHES) {
			q->permits = 0;
			w.turn = take_last(y, q, w.turn);
		}
		have(y, w.turn, fmax(w.since, free));
	}
}

/* Whether one who comes now need not stand behind others: it is free, and they sleep. */
static bool may_barge(const struct greedy *y, uint32_t queue)
{
	const struct greedy_queue *q = &y->queues[queue];
	return q->wakes && (y->g->queues[queue].kind == GRAPH_PERMITS ? q->permits > 0 : !q->held && !q->readers);
}

/* Whoever is next there has it when it is awake, unless somebody comes before. */
static void wake_next(struct greedy *y, uint32_t queue)
{
	struct greedy_queue *q = &y->queues[queue];
	size_t next = find_next(y, queue);
	if (next == q->waiting.n)
		return;
	q->awake = q->left + y->had[q->waiting.v[next].turn].handed;
	if (!q->wakes)
		heap_add(&y->heap, heap_key((int64_t)q->awake), (uint32_t)y->g->trace->nthreads + queue);
	q->wakes = true;
}

/* It was to be awake now; or later, if somebody has had it since. */
static void be_awake(struct greedy *y, uint32_t queue, uint64_t now)
{
	struct greedy_queue *q = &y->queues[queue];
	uint64_t awake = heap_key((int64_t)q->awake);
	if (awake > now) {
		heap_add(&y->heap, awake, (uint32_t)y->g->trace->nthreads + queue);
		return;
	}
	q->wakes = false;
	hand_on(y, queue);
}

/* Permits that come in another order serve others than here. */
static void leave(struct greedy *y, uint32_t queue, const struct greedy_point *p, double now)
{
	struct greedy_queue *q = &y->queues[queue];
	bool was_free = may_barge(y, queue);
	y->changed |= y->g->queues[queue].kind == GRAPH_PERMITS && p->at < q->latest;
	q->latest = fmax(q->latest, p->at);
	q->left = now;
	q->permits++;
	q->came++;
	q->readers -= !q->held && q->readers;
	q->held = false;
	if (!q->barges)
		hand_on(y, queue);
	else if (!was_free)
		wake_next(y, queue);
}

/* Whether what is done with a message is done for whom it is from, or what its kind asks for. */
static bool is_served(const struct greedy *y, uint32_t turn)
{
	const struct greedy_queue *q = &y->queues[y->g->turns[turn].queue];
	return y->g->queues[y->g->turns[turn].queue].by_kind || y->services[turn].answers || (q->answers && !q->gives_others);
}

/* Whether one thread serves and answers both messages, and who sent them do only their own work. */
static bool may_serve(const struct greedy *y, uint32_t turn, uint32_t other)
{
	const struct greedy_service *a = &y->services[turn], *b = &y->services[other];
	if (!y->serves || turn == other || a->waits == GREEDY_NONE || b->waits == GREEDY_NONE)
		return false;
	uint32_t thread = y->points[a->waits].thread, end = y->first[thread + 1];
	return thread == y->points[b->waits].thread && !y->shares[greedy_sender_of(y, turn)] && !y->shares[greedy_sender_of(y, other)] &&
	       is_served(y, turn) && is_served(y, other) && a->end < end && b->end < end;
}

/* An input of a node that waits for all of them has come, so much earlier; that was the last: it happens. */
static bool is_last(struct greedy_wait *w, double earlier)
{
	w->saving = fmin(w->saving, earlier);
	return --w->missing == 0;
}

/* Whose message it takes goes on from when the receive began. */
static void meet(struct greedy *y, uint32_t receive, uint32_t message)
{
	uint32_t input = y->receives[message].meets;
	if (input == GREEDY_NONE || y->receives[message].met)
		return;
	y->receives[message].met = true;
	uint32_t node = y->g->inputs[input].node;
	if (is_last(&y->waits[node], y->came[input] - y->receives[receive].began + y->slack[input]))
		happen(y, node, y->waits[node].saving);
}

#define MOST_ARRIVED 1024 /* that are looked at for one */

/* Who names a sender takes any message of that stream; or in a replay that keeps those, the one of this run. */
static bool may_take(const struct greedy *y, uint32_t turn, uint32_t message)
{
	const struct graph_turn *t = &y->g->turns[turn], *m = &y->g->turns[message];
	if (!y->names && (t->named || m->named || t->upto || m->upto))
		return turn == message;
	return (!t->named || t->stream == m->stream) && (!t->upto || m->kind <= t->upto);
}

/* The first of the least kind that has arrived; or how many there are. */
static size_t find_least(const struct greedy *y, const struct greedy_line *arrived, size_t end, uint32_t turn)
{
	size_t least = arrived->n;
	for (size_t i = arrived->first; i < end; i++) {
		uint32_t best = least < end ? y->g->turns[arrived->v[least].turn].kind : UINT32_MAX;
		if (may_take(y, turn, arrived->v[i].turn) && y->g->turns[arrived->v[i].turn].kind < best)
			least = i;
	}
	return least;
}

/* The first that has arrived and that this one may take, and behind which there are as many as it takes; or how many there are. */
static size_t find_arrived(const struct greedy *y, const struct greedy_line *arrived, uint32_t turn)
{
	size_t i = arrived->first, end = i + MOST_ARRIVED < arrived->n ? i + MOST_ARRIVED : arrived->n;
	uint32_t n = 0;
	if (y->g->turns[turn].upto)
		return find_least(y, arrived, end, turn);
	for (; i < end && n < y->g->turns[turn].n; i++)
		n = may_take(y, turn, arrived->v[i].turn) ? n + 1 : 0;
	return n == y->g->turns[turn].n ? i - n : arrived->n;
}

/* It takes what has arrived, from there on, and has waited for the last of that. */
static double take_arrived(struct greedy *y, struct greedy_line *arrived, size_t from, struct greedy_waiter w)
{
	double since = w.since;
	for (uint32_t n = y->g->turns[w.turn].n; n > 0; n--) {
		struct greedy_waiter a = step_out(arrived, from++);
		y->changed |= a.turn != w.turn;
		y->waits[y->g->turns[w.turn].node].instead = may_serve(y, w.turn, a.turn) ? a.turn : GREEDY_NONE;
		meet(y, w.turn, a.turn);
		since = fmax(since, a.since);
	}
	return since;
}

static void deliver(struct greedy *y, struct greedy_queue *q)
{
	for (size_t i = q->waiting.first, k; i < q->waiting.n && q->arrived.first < q->arrived.n; i++) {
		k = find_arrived(y, &q->arrived, q->waiting.v[i].turn);
		if (k == q->arrived.n)
			continue;
		struct greedy_waiter w = step_out(&q->waiting, i);
		have(y, w.turn, take_arrived(y, &q->arrived, k, w));
	}
}

/* It wants its turn, from then on. */
static void come(struct greedy *y, struct greedy_waiter w)
{
	uint32_t queue = y->g->turns[w.turn].queue;
	struct greedy_queue *q = &y->queues[queue];
	if (may_barge(y, queue))
		w.place = -INFINITY;
	stand_in(&q->waiting, w);
	if (y->g->queues[queue].kind == GRAPH_INBOX)
		deliver(y, q);
	else
		hand_on(y, queue);
}

/* ---- Points ----------------------------------------------------------------------------------- */

static void post(struct greedy *y, uint32_t input, double saving)
{
	uint32_t node = y->g->inputs[input].node;
	struct greedy_wait *w = &y->waits[node];
	const struct graph_turn *turn = w->turn == GREEDY_NONE ? NULL : &y->g->turns[w->turn];
	double earlier = saving + y->slack[input];
	if (turn && greedy_is_of_turn(turn, &y->g->nodes[node], input)) {
		struct greedy_queue *q = &y->queues[turn->queue];
		if (y->g->queues[turn->queue].kind != GRAPH_INBOX || isnan(earlier))
			return;
		double came = y->had[w->turn].at - earlier;
		stand_in(&q->arrived, (struct greedy_waiter){ came, came + y->had[w->turn].came_late, w->turn });
		deliver(y, q);
		return;
	}
	if (isnan(earlier) || y->met_at[input])
		return; /* it is absent, or comes with a message */
	if (turn && input == greedy_begin_of(y, &y->g->nodes[node]))
		y->receives[w->turn].began = y->came[input] - saving;
	bool last = is_last(w, earlier);
	if (y->tasks)
		greedy_make_task(y, input);
	if (!last)
		return;
	double since = turn ? y->had[w->turn].at - w->saving : 0;
	if (turn)
		come(y, (struct greedy_waiter){ since, since + y->had[w->turn].late, w->turn });
	else
		happen(y, node, w->saving);
}

void greedy_pass_at_once(struct greedy *y, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++, y->passed++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what == GRAPH_POSTS)
			post(y, p->number, p->at - y->now);
		else if (p->what == GRAPH_PROBE)
			y->found[p->number] = p->at - y->now;
	}
	y->changed = true;
}

/* Where a thread goes on by itself first. Not there: all of them. */
static size_t first_own(const struct greedy *y, const struct greedy_group *group, uint32_t thread)
{
	size_t lo = SEARCH(group->nown, mid, y->points[group->own[mid].point].thread < thread);
	return lo < group->nown && y->points[group->own[lo].point].thread == thread ? lo : group->nown;
}

/* Likewise, but where it has not yet done so; or NULL. */
static struct greedy_own *next_own(const struct greedy *y, const struct greedy_group *group, uint32_t thread)
{
	for (size_t i = first_own(y, group, thread); i < group->nown && y->points[group->own[i].point].thread == thread; i++)
		if (!group->own[i].passed)
			return &group->own[i];
	return NULL;
}

/* Somewhere in the only piece of what one thread alone does. */
static bool is_within(const struct greedy *y, uint32_t number, uint32_t point)
{
	const struct greedy_group *group = &y->groups[number];
	uint32_t thread = y->points[point].thread;
	if (!y->g->groups[number].one || group->npieces == 0 || y->points[group->pieces[0].point].thread != thread)
		return false;
	return point > group->pieces[0].point && point < group->own[first_own(y, group, thread)].point;
}

static bool some_are_left(struct greedy_group *group)
{
	while (group->next < group->npieces && group->pieces[group->next].taken)
		group->next++;
	return group->next < group->npieces;
}

#define MOST_NOT_READY 1024 /* that are looked at for one */

/* Of the pieces that are left the next one that is ready; or NULL. */
static struct greedy_piece *next_piece(struct greedy_group *group)
{
	size_t end = some_are_left(group) ? group->next + MOST_NOT_READY : 0;
	for (size_t i = group->next; i < end && i < group->npieces; i++)
		if (!group->pieces[i].taken && (!group->waits || group->pieces[i].ready || group->pieces[i].behind == GREEDY_NONE))
			return &group->pieces[i];
	return NULL;
}

/* More may be there than what was taken next: it takes that at once, and comes less often. */
static void come_for_batch(struct greedy *y, struct greedy_body *b, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	size_t came = y->queues[y->g->groups[number].queue].came;
	while (group->next < group->npieces && group->pieces[group->next].left <= came)
		group->next++;
	if (group->next > 0 && group->pieces[group->next - 1].point > b->point)
		leave_out(y, b, group->pieces[group->next - 1].point);
}

/* The body goes on behind the next piece of work that is ready, or if `over` or there is none, where it is to go on by itself. */
static void go_behind(struct greedy *y, struct greedy_body *b, uint32_t number, bool over)
{
	struct greedy_group *group = &y->groups[number];
	struct greedy_own *own = next_own(y, group, (uint32_t)(b - y->bodies));
	struct greedy_piece *own_next = y->points[b->point].opens ? greedy_just_ready(y, b->point) : NULL;
	struct greedy_piece *piece = over ? NULL : own_next ? own_next : next_piece(group);
	uint32_t to = piece ? piece->point : own ? own->point : GREEDY_NONE;
	if (piece) {
		piece->taken = true;
		b->slower = greedy_slower(y, group, piece, (uint32_t)(b - y->bodies));
	} else if (own) {
		own->passed = true;
	}
	if (to == GREEDY_NONE || to == b->point)
		return;
	y->changed = true;
	b->saving += y->points[to].at - y->points[b->point].at;
	b->point = to;
	b->thread = y->points[to].thread;
}

#define JUST_BEFORE 16 /* points */

/* Who came with a lock does not have it while it waits. */
static void give_lock_back(struct greedy *y, const struct greedy_body *b)
{
	for (uint32_t i = b->point; i-- > y->first[b->thread] && b->point - i <= JUST_BEFORE;) {
		uint32_t turn = y->points[i].what == GRAPH_WAITS ? y->turn_of[y->points[i].number] : GREEDY_NONE;
		if (turn == GREEDY_NONE)
			continue;
		if (y->g->queues[y->g->turns[turn].queue].kind == GRAPH_LOCK)
			leave(y, y->g->turns[turn].queue, &y->points[b->point], y->now);
		return;
	}
}

static void sleep_for_piece(struct greedy *y, struct greedy_body *b, struct greedy_group *group)
{
	uint32_t self = (uint32_t)(b - y->bodies) + 1;
	b->next_sleeper = 0;
	if (group->first_sleeper)
		y->bodies[group->last_sleeper - 1].next_sleeper = self;
	else
		group->first_sleeper = self;
	group->last_sleeper = self;
	y->changed = true;
	give_lock_back(y, b);
}

/* Those who wait for pieces go on, as far as some are ready, or all have been taken. */
static void wake_for_pieces(struct greedy *y, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	while (group->first_sleeper && (next_piece(group) || !some_are_left(group))) {
		struct greedy_body *b = &y->bodies[group->first_sleeper - 1];
		group->first_sleeper = b->next_sleeper;
		b->saving = y->points[b->point].at - y->now;
		go_behind(y, b, number, false);
		b->point++;
		y->passed++;
		go_on(y, b);
	}
}

/* False: it waits until there is something for it. */
static bool share(struct greedy *y, struct greedy_body *b, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	b->slower = 0;
	if (y->g->groups[number].batches) {
		come_for_batch(y, b, number);
		return true;
	}
	if (y->g->groups[number].leads)
		return !greedy_come_to_lead(y, b, number);
	if (is_within(y, number, b->point))
		return true;
	bool over = y->g->groups[number].each && y->points[b->point].what == GRAPH_FINISHES;
	if (group->waits && some_are_left(group) && !next_piece(group)) {
		sleep_for_piece(y, b, group);
		return false;
	}
	go_behind(y, b, number, over);
	return true;
}

static void do_point(struct greedy *y, struct greedy_body *b)
{
	const struct greedy_point *p = &y->points[b->point];
	bool waits = false;
	y->now = p->at - b->saving;
	if (p->what == GRAPH_COMES && y->tasks && !greedy_come_for_task(y, b))
		return;
	uint32_t opened = p->opens ? greedy_make_ready(y, b->point) : GREEDY_NONE;
	switch (p->what) {
	case GRAPH_POSTS: post(y, p->number, b->saving); break;
	case GRAPH_PROBE: y->found[p->number] = b->saving; break;
	case GRAPH_RELEASES: leave(y, p->number, p, p->at - b->saving); break;
	case GRAPH_REQUESTS:
	case GRAPH_FINISHES:
		waits = !share(y, b, p->number);
		opened = y->groups[p->number].waits ? p->number : opened;
		break;
	}
	if (!waits) {
		b->point++;
		y->passed++;
		go_on(y, b);
	}
	if (opened != GREEDY_NONE)
		wake_for_pieces(y, opened);
}

/* ---- A replay ---------------------------------------------------------------------------------- */

static void begin(struct greedy *y)
{
	const struct graph *g = y->g;
	for (size_t i = 0; i < g->nnodes; i++) {
		uint32_t turn = y->turn_of[i];
		y->waits[i] = (struct greedy_wait){ .saving = INFINITY, .turn = turn, .missing = y->waits_for[i],
						    .instead = GREEDY_NONE };
	}
	for (size_t i = 0; i < g->nturns; i++)
		y->receives[i].met = false;
	for (size_t q = 0; q < g->nqueues; q++) {
		struct greedy_queue *queue = &y->queues[q];
		queue->waiting.n = queue->waiting.first = queue->arrived.n = queue->arrived.first = 0;
		queue->readers = queue->last = 0;
		queue->came = 0;
		queue->permits = g->queues[q].permits;
		queue->held = queue->wakes = false;
		queue->left = queue->latest = -INFINITY;
	}
	for (size_t i = 0; i < g->ngroups; i++) {
		y->groups[i].next = 0;
		y->groups[i].first_sleeper = 0;
		for (size_t k = 0; k < y->groups[i].npieces; k++)
			y->groups[i].pieces[k].taken = y->groups[i].pieces[k].ready = false;
		for (size_t k = 0; k < y->groups[i].nown; k++)
			y->groups[i].own[k].passed = false;
	}
}

/* False where some go on sleeping, or what pieces of several groups have in common was left out. */
static bool try_run(struct greedy *y, double share, bool serves, bool names)
{
	y->names = names;
	y->serves = serves;
	y->share = share;
	y->changed = false;
	y->passed = 0;
	greedy_find_paces(y);
	begin(y);
	greedy_begin_leaders(y);
	if (y->tasks)
		greedy_begin_tasks(y);
	for (uint32_t t = 0; t < y->g->trace->nthreads; t++) {
		y->bodies[t] = (struct greedy_body){ .thread = t, .point = y->first[t], .serves = GREEDY_NONE };
		go_on(y, &y->bodies[t]);
	}
	while (y->heap.count > 0) {
		struct heap_item next = y->heap.items[0];
		size_t nthreads = y->g->trace->nthreads, nothers = nthreads + y->g->nqueues;
		heap_remove_first(&y->heap);
		if (next.source < nthreads)
			do_point(y, &y->bodies[next.source]);
		else if (next.source < nothers)
			be_awake(y, (uint32_t)(next.source - nthreads), next.key);
		else
			greedy_end_lead(y, (uint32_t)(next.source - nothers));
	}
	return y->waits[y->g->end].happened && y->passed == y->npoints;
}

bool greedy_run(struct greedy *y, double share)
{
	return try_run(y, share, true, true) || try_run(y, share, true, false) || try_run(y, share, false, false);
}

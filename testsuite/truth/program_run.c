/* SPDX-License-Identifier: MIT
 *
 * program_run.c - gives the events of a program their true times. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "testsuite/truth/program_parts.h"

#define FIRST_MOMENT (INT64_C(1) << 50) /* packets come before */

struct play {
	struct program *p;
	const struct program_cut *cut;
	int64_t now[MAX_THREADS];
	unsigned depth[MAX_THREADS];   /* how many regions are on the stack, inherited ones among them */
	unsigned inside[MAX_THREADS];  /* how often the region that is cut is on the stack */
	unsigned inherited[MAX_THREADS], inherited_inside[MAX_THREADS]; /* of both */
	struct place { unsigned depth, inside; } left[MAX_THREADS], *made; /* for a task; and where it was made, of each action */
	size_t room[MAX_THREADS];
	int64_t *sent;                 /* of each action that sends */
	struct patience *patience;     /* or NULL */
	struct holding *holding;       /* likewise */
};

/* For each action: when who took part in it was done in the recorded run, by rank; and of those that send when their
 * receive began, in this run and as far as it is known from the one before. */
struct patience {
	int64_t (*done)[MAX_RANKS];
	int64_t *begun, *known;
};

/* For each action that sends and is held back: when its thread calls MPI again, in this run and as far as it is known
 * from the one before. Which of each thread that is, and 1; or 0. */
struct holding {
	int64_t *next, *known;
	size_t held[MAX_THREADS];
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool is_in_question(const struct play *y, size_t t)
{
	const struct program_thread *thread = &y->p->threads[t];
	return (y->cut->rank < 0 || (unsigned)y->cut->rank == thread->rank) &&
	       (y->cut->thread < 0 || (unsigned)y->cut->thread == thread->number);
}

/* Work that is cut wherever it is, or wherever no region is. */
static bool is_cut_anyway(const struct play *y, size_t t)
{
	const struct program_cut *cut = y->cut;

	return cut && y->p->threads[t].nevents > 0 && is_in_question(y, t) &&
	       (cut->site == PROGRAM_ALL_WORK || (cut->site == PROGRAM_OUTSIDE && !y->depth[t]));
}

/* A stretch of the thread's own, which the cut shortens. */
static void pass(struct play *y, size_t t, int64_t ticks)
{
	if ((y->inside[t] && is_in_question(y, t)) || is_cut_anyway(y, t))
		ticks -= ticks / 1000 * y->cut->permille;
	y->now[t] += ticks;
}

static struct program_event *event(struct play *y, size_t t, enum program_site site,
				   enum dprof_op op)
{
	struct program_thread *thread = &y->p->threads[t];

	if (thread->nevents == y->room[t]) {
		y->room[t] = y->room[t] ? 2 * y->room[t] : 64;
		thread->events = realloc(thread->events, y->room[t] * sizeof *thread->events);
		if (!thread->events)
			abort();
	}
	struct program_event *e = &thread->events[thread->nevents++];

	*e = (struct program_event){ .truth = y->now[t], .site = site, .op = op };
	return e;
}

static void say(struct program_event *e, enum dprof_key key, uint64_t value)
{
	assert(e->nargs < sizeof e->args / sizeof e->args[0]);
	e->args[e->nargs++] = (struct tr_arg){ key, value };
}

static void say_message(struct program_event *e, const struct action *a)
{
	say(e, DPROF_KEY_GROUP, 1);
	say(e, DPROF_KEY_PEER, a->peer);
	say(e, DPROF_KEY_TAG, a->tag);
	say(e, DPROF_KEY_BYTES, a->bytes);
	if (a->kind == ISEND || a->kind == IRECV)
		say(e, DPROF_KEY_ID, a->id);
}

static bool is_cut(const struct play *y, enum program_site site)
{
	return y->cut && y->cut->site == site;
}

static struct program_event *leave_at(struct play *y, size_t t, enum program_site site, int64_t truth)
{
	y->now[t] = truth;
	return event(y, t, site, DPROF_EXIT);
}

/* What would be done then has to wait until then, if it may. */
static int64_t wait_until(const struct play *y, size_t action, unsigned rank, int64_t done, int64_t until)
{
	if (!y->patience)
		return done;
	int64_t *recorded = &y->patience->done[action][rank];
	if (!y->cut)
		*recorded = done;
	return later(done, until < *recorded ? until : *recorded);
}

/* Likewise for the receive of what is sent. */
static int64_t wait_for_receive(const struct play *y, size_t sent, const struct action *a, int64_t done)
{
	const struct program *p = y->p;
	size_t number = (size_t)(a - p->script->actions);
	int64_t known = y->patience ? y->patience->known[sent] + a->cost : 0;
	return wait_until(y, number, p->threads[a->thread].rank, done, known);
}

static void note_receive(const struct play *y, const struct action *a)
{
	if (y->patience)
		y->patience->begun[a->other] = y->now[a->thread];
}

/* A thread calls MPI, which lets go of what it has held back. */
static void note_call(struct play *y, size_t t)
{
	if (!y->holding)
		return;
	size_t held = y->holding->held[t];
	if (held)
		y->holding->next[held - 1] = y->now[t];
	y->holding->held[t] = 0;
}

/* One of three that block, whoever sends it. */
static void hold_back(struct play *y, const struct action *a)
{
	size_t number = (size_t)(a - y->p->script->actions);

	if (y->holding && a->kind == SEND && (y->p->seed + number) % 3 == 0)
		y->holding->held[a->thread] = number + 1;
}

/* When its sender called MPI again, or 0. */
static int64_t freed(const struct play *y, size_t sent)
{
	return y->holding ? y->holding->known[sent] : 0;
}

static int64_t message_arrival(const struct play *y, size_t sent, int64_t transfer)
{
	return later(y->sent[sent], freed(y, sent)) + transfer;
}

/* ---- Operations of all ---------------------------------------------------------------------- */

static enum program_site site_of(enum action_kind kind)
{
	static const enum program_site of[] = {
		[BARRIER] = PROGRAM_BARRIER, [ALLREDUCE] = PROGRAM_ALLREDUCE,
		[BCAST] = PROGRAM_BCAST,     [REDUCE] = PROGRAM_REDUCE,
		[SCAN] = PROGRAM_SCAN,	     [SEND] = PROGRAM_SEND,
		[RECEIVE] = PROGRAM_RECV,    [ISEND] = PROGRAM_ISEND,
		[IRECV] = PROGRAM_IRECV,
	};
	return of[kind];
}

/* Whether data flows from rank `from` to rank `to`; every rank waits for itself. */
static bool flows(const struct action *a, unsigned from, unsigned to)
{
	switch (a->kind) {
	case BCAST: return from == a->peer;
	case REDUCE: return to == a->peer;
	case SCAN: return from < to;
	default: return true;
	}
}

static void synchronise(struct play *y, const struct action *a)
{
	unsigned n = y->p->nranks;
	const size_t *main_thread = y->p->script->main_thread;
	int64_t entered[MAX_RANKS], last = 0;

	for (unsigned r = 0; r < n; r++) {
		pass(y, main_thread[r], a->gaps[r]);
		note_call(y, main_thread[r]);
		struct program_event *e = event(y, main_thread[r], site_of(a->kind), DPROF_ENTER);

		say(e, DPROF_KEY_GROUP, 1);
		say(e, DPROF_KEY_SEQ, a->id);
		if (a->kind != BARRIER)
			say(e, DPROF_KEY_BYTES, a->bytes);
		if (a->kind == BCAST || a->kind == REDUCE)
			say(e, DPROF_KEY_ROLE, r == a->peer);
		entered[r] = e->truth;
		last = later(last, e->truth);
	}
	for (unsigned to = 0; to < n; to++) {
		bool all = a->kind == BARRIER || a->kind == ALLREDUCE;
		int64_t done = entered[to] + a->cost;

		for (unsigned from = 0; from < n; from++)
			if (flows(a, from, to) && from != to)
				done = later(done, entered[from] + (all ? a->cost : a->transfer));
		done = wait_until(y, (size_t)(a - y->p->script->actions), to, done, last + a->cost);
		leave_at(y, main_thread[to], site_of(a->kind), done);
	}
}

/* ---- Operations of two ---------------------------------------------------------------------- */

static void send(struct play *y, const struct action *a)
{
	note_call(y, a->thread);
	struct program_event *e = event(y, a->thread, site_of(a->kind), DPROF_ENTER);

	hold_back(y, a);
	say_message(e, a);
	size_t number = (size_t)(a - y->p->script->actions);
	int64_t done = e->truth + a->cost;

	y->sent[number] = e->truth;
	leave_at(y, a->thread, site_of(a->kind), a->kind == SEND ? wait_for_receive(y, number, a, done) : done);
}

static void receive(struct play *y, const struct action *a)
{
	note_call(y, a->thread);
	struct program_event *e = event(y, a->thread, PROGRAM_RECV, DPROF_ENTER);

	say_message(e, a);
	note_receive(y, a);
	e = leave_at(y, a->thread, PROGRAM_RECV, later(e->truth + a->cost, message_arrival(y, a->other, a->transfer)));
	e->freed = freed(y, a->other);
}

static void begin_receive(struct play *y, const struct action *a)
{
	note_call(y, a->thread);
	struct program_event *e = event(y, a->thread, PROGRAM_IRECV, DPROF_ENTER);

	say_message(e, a);
	note_receive(y, a);
	leave_at(y, a->thread, PROGRAM_IRECV, e->truth + a->cost);
}

static void wait_for(struct play *y, const struct action *a)
{
	const struct action *begun = &y->p->script->actions[a->other];
	note_call(y, a->thread);
	struct program_event *e = event(y, a->thread, PROGRAM_WAIT, DPROF_ENTER);
	int64_t done = e->truth + a->cost;

	say(e, DPROF_KEY_ID, begun->id);
	if (begun->kind == IRECV)
		done = later(done, message_arrival(y, begun->other, begun->transfer));
	else
		done = wait_for_receive(y, a->other, a, done);
	y->now[a->thread] = done;
	e = event(y, a->thread, begun->kind == IRECV ? PROGRAM_IRECV : PROGRAM_ISEND, DPROF_POINT);
	say(e, DPROF_KEY_ID, begun->id);
	say(e, DPROF_KEY_PEER, begun->peer);
	say(e, DPROF_KEY_TAG, begun->tag);
	say(e, DPROF_KEY_BYTES, begun->bytes);
	say(e, DPROF_KEY_GROUP, 1);
	e = leave_at(y, a->thread, PROGRAM_WAIT, done);
	e->freed = begun->kind == IRECV ? freed(y, begun->other) : 0;
}

static void fork_thread(struct play *y, const struct action *a)
{
	struct program_event *e = event(y, a->thread, PROGRAM_CREATE, DPROF_ENTER);

	say(e, DPROF_KEY_THREAD, y->p->threads[a->other].number);
	y->now[a->other] = e->truth + a->transfer;
	leave_at(y, a->thread, PROGRAM_CREATE, e->truth + a->cost);
}

static void join_thread(struct play *y, const struct action *a)
{
	struct program_event *e = event(y, a->thread, PROGRAM_JOIN, DPROF_ENTER);

	say(e, DPROF_KEY_THREAD, y->p->threads[a->other].number);
	leave_at(y, a->thread, PROGRAM_JOIN,
		 later(e->truth + a->cost, y->now[a->other] + a->transfer));
}

static uint64_t lock_id(const struct play *y, const struct action *a)
{
	return 1 + a->id + LOCKS * y->p->threads[a->thread].rank; /* processes share no locks */
}

static void lock(struct play *y, const struct action *a, int64_t *released)
{
	struct program_event *e = event(y, a->thread, PROGRAM_LOCK, DPROF_ENTER);

	say(e, DPROF_KEY_ID, lock_id(y, a));
	leave_at(y, a->thread, PROGRAM_LOCK, later(e->truth + a->cost, *released + a->transfer));
}

/* ---- Teams ---------------------------------------------------------------------------------- */

static int64_t come_to_team(struct play *y, const struct action *a, size_t t, enum program_site site)
{
	const struct program_thread *thread = &y->p->threads[t];

	pass(y, t, a->gaps[thread->number]);
	struct program_event *e = event(y, t, site, DPROF_ENTER);

	say(e, DPROF_KEY_GROUP, PROGRAM_PARALLEL_OF(thread->rank, (unsigned)a->tag));
	say(e, DPROF_KEY_SEQ, a->id);
	say(e, DPROF_KEY_ROLE, t == a->thread);
	return e->truth;
}

static void inherit(struct play *y, size_t t, size_t opener)
{
	y->depth[t] += y->inherited[t] = y->depth[opener];
	y->inside[t] += y->inherited_inside[t] = y->inside[opener];
}

static void inherit_no_more(struct play *y, size_t t)
{
	y->depth[t] -= y->inherited[t];
	y->inside[t] -= y->inherited_inside[t];
	y->inherited[t] = y->inherited_inside[t] = 0;
}

/* The threads of a team but for its opener: the one behind t, or a number that no thread has. */
static size_t next_member(const struct play *y, const struct action *a, size_t t)
{
	size_t first = y->p->script->main_thread[y->p->threads[a->thread].rank];

	for (t++; t < first + 3; t++)
		if (a->tag >> (t - first) & 1 && t != a->thread)
			return t;
	return SIZE_MAX;
}

static size_t first_member(const struct play *y, const struct action *a)
{
	return next_member(y, a, y->p->script->main_thread[y->p->threads[a->thread].rank] - 1);
}

static void begin_team(struct play *y, const struct action *a)
{
	int64_t opened = come_to_team(y, a, a->thread, PROGRAM_PARALLEL);

	for (size_t t = first_member(y, a); t != SIZE_MAX; t = next_member(y, a, t)) {
		int64_t came = come_to_team(y, a, t, PROGRAM_PARALLEL);

		leave_at(y, t, PROGRAM_PARALLEL, later(came + a->cost, opened + a->transfer));
		inherit(y, t, a->thread);
	}
	leave_at(y, a->thread, PROGRAM_PARALLEL, opened + a->cost);
}

static void end_team(struct play *y, const struct action *a)
{
	int64_t done = come_to_team(y, a, a->thread, PROGRAM_PARALLEL_END) + a->cost;

	for (size_t t = first_member(y, a); t != SIZE_MAX; t = next_member(y, a, t)) {
		int64_t left = come_to_team(y, a, t, PROGRAM_PARALLEL_END);

		inherit_no_more(y, t);
		leave_at(y, t, PROGRAM_PARALLEL_END, left + a->cost);
		done = later(done, left + a->transfer);
	}
	leave_at(y, a->thread, PROGRAM_PARALLEL_END, done);
}

/* ---- Tasks ---------------------------------------------------------------------------------- */

static struct place place_of(const struct play *y, size_t t)
{
	return (struct place){ y->depth[t], y->inside[t] };
}

static void go_to(struct play *y, size_t t, struct place to)
{
	y->depth[t] = to.depth;
	y->inside[t] = to.inside;
}

static void come(struct play *y, const struct action *a)
{
	struct program_event *e = event(y, a->thread, a->site, DPROF_ENTER);

	if (a->site == PROGRAM_TEAM) {
		say(e, DPROF_KEY_GROUP, PROGRAM_TEAM_OF(y->p->threads[a->thread].rank));
		say(e, DPROF_KEY_SEQ, a->tag);
	} else {
		say(e, DPROF_KEY_ID, a->tag);
	}
}

static void make(struct play *y, const struct action *a)
{
	struct program_event *e = event(y, a->thread, PROGRAM_MADE, DPROF_POINT);

	say(e, DPROF_KEY_TASK, a->id);
	say(e, DPROF_KEY_ID, a->tag);
	if (a->bytes)
		say(e, DPROF_KEY_TAG, a->bytes);
	y->sent[a - y->p->script->actions] = e->truth;
	y->made[a - y->p->script->actions] = place_of(y, a->thread);
	for (unsigned i = 0; i < a->ndepends; i++) {
		e = event(y, a->thread, PROGRAM_DEPEND, DPROF_POINT);
		say(e, DPROF_KEY_ID, a->depends[i].address);
		say(e, DPROF_KEY_ROLE, a->depends[i].how);
	}
}

/* When that has arrived; what the thread itself did is there already. */
static int64_t arrival(const struct play *y, const struct action *a, size_t sent)
{
	bool own = y->p->script->actions[sent].thread == a->thread;

	return own ? y->now[a->thread] : y->sent[sent] + a->transfer;
}

static int64_t after(const struct play *y, const struct action *a)
{
	int64_t done = y->now[a->thread] + a->cost;

	for (size_t i = 0; i < a->nafter; i++)
		done = later(done, arrival(y, a, a->after[i]));
	return done;
}

static void begin_task(struct play *y, const struct action *a)
{
	y->now[a->thread] = later(after(y, a), arrival(y, a, a->other));
	say(event(y, a->thread, a->site, DPROF_EXIT), DPROF_KEY_TASK, a->id);
	say(event(y, a->thread, PROGRAM_TASK, DPROF_ENTER), DPROF_KEY_TASK, a->id);
	y->left[a->thread] = place_of(y, a->thread);
	go_to(y, a->thread, y->made[a->other]);
	y->depth[a->thread]++;
}

static void end_task(struct play *y, const struct action *a)
{
	y->sent[a - y->p->script->actions] = y->now[a->thread];
	event(y, a->thread, PROGRAM_TASK, DPROF_EXIT);
	go_to(y, a->thread, y->left[a->thread]);
	come(y, a);
}

static void go_all(struct play *y, const struct action *a)
{
	unsigned rank = y->p->threads[a->thread].rank;
	int64_t last = 0;

	for (size_t t = 0; t < y->p->nthreads; t++)
		if (y->p->threads[t].rank == rank)
			last = later(last, y->now[t]);
	for (size_t t = 0; t < y->p->nthreads; t++)
		if (y->p->threads[t].rank == rank)
			leave_at(y, t, a->site, last + a->cost);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void act(struct play *y, const struct action *a, int64_t *released)
{
	bool waits = a->kind == BEGIN || a->kind == GO || a->kind == GO_ALL || a->kind == OPEN_TEAM ||
		     a->kind == CLOSE_TEAM;

	if ((a->kind < BARRIER || a->kind > SCAN) && !waits)
		pass(y, a->thread, a->gap);
	switch (a->kind) {
	case WORK:
		return;
	case ENTER:
		event(y, a->thread, a->site, DPROF_ENTER);
		y->inside[a->thread] += is_cut(y, a->site);
		y->depth[a->thread]++;
		return;
	case LEAVE:
		event(y, a->thread, a->site, DPROF_EXIT);
		y->inside[a->thread] -= is_cut(y, a->site);
		y->depth[a->thread]--;
		return;
	case POINT:
		event(y, a->thread, PROGRAM_STEP, DPROF_POINT);
		return;
	case SEND: case ISEND:
		send(y, a);
		return;
	case RECEIVE:
		receive(y, a);
		return;
	case IRECV:
		begin_receive(y, a);
		return;
	case WAIT:
		wait_for(y, a);
		return;
	case FORK:
		fork_thread(y, a);
		return;
	case JOIN:
		join_thread(y, a);
		return;
	case LOCK:
		lock(y, a, released);
		return;
	case MAKE:
		make(y, a);
		return;
	case COME:
		come(y, a);
		return;
	case BEGIN:
		begin_task(y, a);
		return;
	case END:
		end_task(y, a);
		return;
	case GO:
		leave_at(y, a->thread, a->site, after(y, a));
		return;
	case GO_ALL:
		go_all(y, a);
		return;
	case OPEN_TEAM:
		begin_team(y, a);
		return;
	case CLOSE_TEAM:
		end_team(y, a);
		return;
	case UNLOCK:
		say(event(y, a->thread, PROGRAM_LOCK, DPROF_POINT), DPROF_KEY_ID, lock_id(y, a));
		*released = y->now[a->thread];
		return;
	default:
		synchronise(y, a);
	}
}

/* ---- Who comes first ------------------------------------------------------------------------- */

/* Actions in the order of the script, but for critical sections: each LOCK, WORK, UNLOCK of one thread. They are in the order in
 * which threads come to the locks, which the cut may change. */
struct turns {
	bool *done;                    /* each action */
	size_t waiting[MAX_THREADS], nwaiting; /* the LOCKs that threads have come to */
	bool blocked[MAX_THREADS];     /* by an earlier action that is not done */
	size_t nblocked;
	int64_t released[MAX_RANKS][LOCKS];
};

static bool takes_part(const struct program *p, const struct action *a, size_t t)
{
	bool of_rank = p->threads[t].rank == p->threads[a->thread].rank;

	if (a->kind >= BARRIER && a->kind <= SCAN)
		return t == p->script->main_thread[p->threads[t].rank];
	if (a->kind >= GO_ALL && of_rank)
		return a->kind == GO_ALL || a->tag >> p->threads[t].number & 1;
	return t == a->thread || ((a->kind == FORK || a->kind == JOIN) && t == a->other);
}

/* The action whose message comes with this one, or which made its task; or itself. */
static size_t comes_from(const struct program_script *s, size_t number)
{
	const struct action *a = &s->actions[number];

	if (a->kind == WAIT && s->actions[a->other].kind == IRECV)
		return s->actions[a->other].other;
	return a->kind == RECEIVE || a->kind == BEGIN ? a->other : number;
}

static bool is_ready(const struct program *p, const struct turns *x, size_t number)
{
	const struct action *a = &p->script->actions[number];
	size_t from = comes_from(p->script, number);
	bool ready = from == number || x->done[from];

	for (size_t i = 0; i < a->nafter && ready; i++)
		ready = x->done[a->after[i]];

	for (size_t t = 0; t < p->nthreads && ready && x->nblocked; t++)
		ready = !x->blocked[t] || !takes_part(p, a, t);
	return ready;
}

static void block(const struct program *p, struct turns *x, const struct action *a)
{
	for (size_t t = 0; t < p->nthreads; t++)
		if (!x->blocked[t] && takes_part(p, a, t)) {
			x->blocked[t] = true;
			x->nblocked++;
		}
}

/* When the thread comes to the lock. */
static int64_t comes(struct play *y, const struct action *a)
{
	int64_t now = y->now[a->thread], then;

	pass(y, a->thread, a->gap);
	then = y->now[a->thread];
	y->now[a->thread] = now;
	return then;
}

/* Does all that needs no lock. */
static void do_ready(struct play *y, struct turns *x, size_t from)
{
	const struct program_script *s = y->p->script;

	memset(x->blocked, 0, sizeof x->blocked);
	x->nblocked = x->nwaiting = 0;
	for (size_t i = from; i < s->nactions && x->nblocked < y->p->nthreads; i++) {
		const struct action *a = &s->actions[i];

		if (x->done[i])
			continue;
		bool ready = is_ready(y->p, x, i);
		if (ready && a->kind != LOCK) {
			act(y, a, NULL);
			x->done[i] = true;
			continue;
		}
		if (ready)
			x->waiting[x->nwaiting++] = i;
		block(y->p, x, a);
	}
}

static int64_t *released(struct turns *x, const struct play *y, const struct action *a)
{
	return &x->released[y->p->threads[a->thread].rank][a->id];
}

/* Whoever came first, or any who has come to that lock until it was released. */
static size_t whose_turn(struct play *y, struct turns *x)
{
	const struct action *actions = y->p->script->actions;
	size_t first = x->waiting[0], turn;

	for (size_t i = 1; i < x->nwaiting; i++)
		if (comes(y, &actions[x->waiting[i]]) < comes(y, &actions[first]))
			first = x->waiting[i];
	turn = first;
	for (size_t i = 0; i < x->nwaiting && y->cut && y->cut->unfair; i++) {
		const struct action *other = &actions[x->waiting[i]];
		const int64_t *since = released(x, y, other);

		if (since == released(x, y, &actions[first]) && comes(y, other) <= *since && (y->p->seed + x->waiting[i]) % 2)
			turn = x->waiting[i];
	}
	return turn;
}

static void do_all(struct play *y)
{
	const struct program_script *s = y->p->script;
	struct turns x = { .done = calloc(s->nactions + 1, sizeof *x.done) };
	size_t from = 0;

	if (!x.done)
		abort();
	for (do_ready(y, &x, from); x.nwaiting; do_ready(y, &x, from)) {
		size_t turn = whose_turn(y, &x);

		for (size_t i = turn; i < turn + 3; i++) {
			act(y, &s->actions[i], released(&x, y, &s->actions[turn]));
			x.done[i] = true;
		}
		while (from < s->nactions && x.done[from])
			from++;
	}
	free(x.done);
}

static void find_ends(struct program *p)
{
	p->begin = INT64_MAX;
	p->end = INT64_MIN;
	for (size_t t = 0; t < p->nthreads; t++) {
		const struct program_thread *thread = &p->threads[t];

		if (!thread->nevents)
			continue;
		if (thread->events[0].truth < p->begin)
			p->begin = thread->events[0].truth;
		p->end = later(p->end, thread->events[thread->nevents - 1].truth);
	}
}

static void play(struct program *p, const struct program_cut *cut, struct patience *patience, struct holding *holding)
{
	static const int64_t apart = 1000 * PROGRAM_FINE; /* ranks do not start together */
	const struct program_script *s = p->script;
	struct play y = { .p = p, .cut = cut, .patience = patience, .holding = holding,
			  .sent = calloc(s->nactions + 1, sizeof *y.sent),
			  .made = calloc(s->nactions + 1, sizeof *y.made) };

	if (!y.sent || !y.made)
		abort();
	for (unsigned r = 0; r < p->nranks; r++)
		y.now[s->main_thread[r]] = FIRST_MOMENT +
					   (int64_t)(p->seed >> r % 32) % 100 * apart;
	for (size_t t = 0; t < p->nthreads; t++)
		p->threads[t].nevents = 0;
	do_all(&y);
	free(y.sent);
	free(y.made);
	find_ends(p);
}

/* When receives begin is known at the end; then some sends are done later, which may make others so: until nothing is
 * later any more. */
static void play_patiently(struct program *p, const struct program_cut *cut)
{
	size_t n = p->script->nactions + 1;
	struct patience x = { calloc(n, sizeof *x.done), calloc(n, sizeof *x.begun), calloc(n, sizeof *x.known) };

	if (!x.done || !x.begun || !x.known)
		abort();
	play(p, NULL, &x, NULL);
	memset(x.begun, 0, n * sizeof *x.begun);
	do {
		memcpy(x.known, x.begun, n * sizeof *x.known);
		play(p, cut, &x, NULL);
	} while (memcmp(x.known, x.begun, n * sizeof *x.known) != 0);
	free(x.done);
	free(x.begun);
	free(x.known);
}

/* Likewise, of when who holds back a message calls MPI again. */
static void play_holding(struct program *p, const struct program_cut *cut)
{
	size_t n = p->script->nactions + 1;
	struct holding x = { calloc(n, sizeof *x.next), calloc(n, sizeof *x.known), { 0 } };

	if (!x.next || !x.known)
		abort();
	do {
		memcpy(x.known, x.next, n * sizeof *x.known);
		memset(x.held, 0, sizeof x.held);
		play(p, cut, NULL, &x);
	} while (memcmp(x.known, x.next, n * sizeof *x.known) != 0);
	free(x.next);
	free(x.known);
}

void program_run(struct program *p, const struct program_cut *cut)
{
	if (cut && cut->patient)
		play_patiently(p, cut);
	else if (p->holds)
		play_holding(p, cut);
	else
		play(p, cut, NULL, NULL);
}

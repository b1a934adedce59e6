/* SPDX-License-Identifier: MIT
 *
 * graph_walk_work.c - along a thread: work that is given out by chance or evenly, in pieces, until a barrier ends it. */
#include "analysis/base/memory.h"
#include "analysis/graph/graph_walk.h"

/* From here on, up to the next barrier, another run may do other things. */
void walk_begin_chance(struct thread_walk *w, struct event_ref exit)
{
	graph_note_pool(w->b->graph, w->entered.site);
	if (!w->by_chance)
		graph_set_schedule(w->b, exit, GRAPH_POOL_ENTERED);
	w->by_chance = true;
}

static void end_chance(struct thread_walk *w, struct event_ref exit)
{
	if (w->by_chance)
		graph_set_schedule(w->b, exit, GRAPH_POOL_LEFT);
	w->by_chance = false;
}

/* What the thread leaves. Barriers that do not say their group are counted (graph_barriers.c). */
static struct passed_barrier barrier_left(struct thread_walk *w, struct event_ref exit)
{
	const struct trace *t = w->b->graph->trace;
	enum dprof_kind kind = walk_kind(w, w->entered.site);
	const struct collective_id id = walk_collective(&w->entered);
	const struct tr_group *group = trace_group(t, id.group);
	uint64_t object = arg_barrier(walk_operation(w, &w->entered), &w->entered);
	uint64_t address = arg_barrier_at(walk_operation(w, &w->entered), &w->entered), visit;
	struct passed_barrier left = { exit.at, exit.stamp, 0, BARRIER_OF_UNKNOWN };
	if (address != ARG_NONE) {
		left.group = graph_address_barrier(w->b, w->thread, address, &visit);
		left.key = ids_mix(left.group, visit);
	} else if (group) {
		left.group = (uint32_t)(group - t->groups);
		left.key = ids_mix(ids_mix(id.group, id.seq), kind == DPROF_KIND_JOIN ? 0 : 1);
	} else if (object != ARG_NONE) {
		left.group = BARRIER_OF_ANY;
		left.key = ids_mix(object, ++w->nshared);
	} else if (kind == DPROF_KIND_BARRIER && id.group == UINT64_MAX) {
		left.group = tr_is(t, w->entered.site, OP_OF_RANKS) ? BARRIER_OF_ANY : BARRIER_OF_PROCESS;
		left.key = ++w->nbare;
	}
	return left;
}

/* All work that was given out before it is done behind it: of threads, or of ranks with one thread each. What only begins is no
 * barrier. */
void walk_note_barrier(struct thread_walk *w, struct event_ref exit)
{
	enum dprof_kind kind = walk_kind(w, w->entered.site);
	const struct trace *t = w->b->graph->trace;
	bool alone = (w->thread == 0 || t->threads[w->thread - 1].process != w->process) &&
		     (w->thread + 1 == t->nthreads || t->threads[w->thread + 1].process != w->process);
	bool all = kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_COLL ||
		   (kind == DPROF_KIND_JOIN && trace_has(&w->entered, DPROF_KEY_GROUP));
	bool begins = arg_request(walk_operation(w, &w->entered), &w->entered) != ARG_NONE;
	if (!all || begins || (!alone && tr_is(t, w->entered.site, OP_OF_RANKS)))
		return;
	struct thread_facts *self = &w->b->threads[w->thread];
	self->in_teams |= kind == DPROF_KIND_JOIN;
	*SPILL_GROW(w->b->spill, self->barriers.v, self->barriers.n) = barrier_left(w, exit);
	end_chance(w, exit);
}

/* Ranks that count at one place share out work by that, and so do threads that count at one address. */
void walk_count(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct counter_records *counters = &w->records->counters;
	uint64_t at = arg_counter(o, e);
	*SPILL_GROW(w->b->spill, counters->v, counters->n) = (struct counter_take){
		o->is & OP_MPI || arg_counter_shared(o, e) ? at : ids_mix(at, w->process), arg_counted(o, e),
		{ .ref = ref, .has = ref, .place.site = e->site, .in_vain = arg_swaps(o, e), .counts = true } };
	w->windows.counted = counters->n;
}

/* The number is there at the latest with the call that completes it. */
void walk_end_counting(struct thread_walk *w, struct event_ref exit)
{
	struct counter_take *last = w->windows.counted ? &w->records->counters.v[w->windows.counted - 1] : NULL;
	if (last && last->take.has.at + 1 == w->enter.at)
		last->take.has = exit;
}

#define DEEPEST_CLAIMS 16 /* one in what is done for another; behind which it is not known that they are over */

/* Of this thread; the last at that place which is not over yet. */
static void end_claim(struct thread_walk *w, uint32_t site, struct event_ref ref)
{
	struct counter_records *r = &w->records->counters;
	for (size_t k = 1; k <= DEEPEST_CLAIMS && k <= r->nclaims; k++) {
		struct take *t = &r->claims[r->nclaims - k].take;
		if (t->ref.thread == w->thread && t->place.site == site && t->left.at == NO_EVENT) {
			t->left = ref;
			return;
		}
	}
}

/* What it found there says what it does next. */
void walk_claim(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct counter_records *r = &w->records->counters;
	if (arg_claim_over(o, e))
		end_claim(w, e->site, ref);
	else
		*SPILL_GROW(w->b->spill, r->claims, r->nclaims) = (struct claimed_take){
			arg_counter_shared(o, e) ? UINT32_MAX : w->process, arg_counter(o, e),
			{ .ref = ref, .has = ref, .left.at = NO_EVENT, .place.site = e->site, .tries = true, .counts = true } };
}

/* What a cancellation point says (runtime/gomp/worksharing.c). */
enum { GOES_ON, CANCELS, GOES_ON_IN_TASKGROUP, CANCELS_TASKGROUP };

static bool is_of_taskgroup(const struct tr_event *e)
{
	uint64_t tag = trace_arg(e, DPROF_KEY_TAG, UINT64_MAX);
	return tag == GOES_ON_IN_TASKGROUP || tag == CANCELS_TASKGROUP;
}

/* Another thread of the team may end what this one does; or this one does that. */
void walk_note_cancellation(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	struct cancel_records *cancels = &w->records->cancels;
	uint64_t tag = trace_arg(e, DPROF_KEY_TAG, UINT64_MAX);
	if (tag == CANCELS_TASKGROUP)
		walk_cancel_taskgroup(w);
	if (is_of_taskgroup(e)) /* only its tasks are not begun */
		return;
	w->cancellable.since = ref;
	w->cancellable.team = trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX);
	w->cancellable.is = !trace_has(e, DPROF_KEY_ROLE) && tag != CANCELS;
	w->cancellable.said = tag == GOES_ON;
	if (!w->cancellable.is)
		*SPILL_GROW(w->b->spill, cancels->regions, cancels->nregions) =
			(struct cancellation){ .group = w->cancellable.team, .ref = ref, .since = ref, .cancels = true };
}

/* It comes to a barrier of its team. */
void walk_end_cancellable(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	struct cancel_records *cancels = &w->records->cancels;
	if (!w->cancellable.is || trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX) != w->cancellable.team)
		return;
	*SPILL_GROW(w->b->spill, cancels->regions, cancels->nregions) =
		(struct cancellation){ .group = w->cancellable.team, .ref = ref, .since = w->cancellable.since, .said = w->cancellable.said };
	w->cancellable.is = false;
}

/* What the thread runs begins: all that it does is in there. */
static bool is_body(const struct thread_walk *w, const struct tr_event *e, uint64_t at)
{
	const struct trace *t = w->b->graph->trace;
	return at <= 1 && e->site < t->nsites && t->sites[e->site].automatic;
}

/* Behind what was taken, or any operation, something begins that is neither a wait nor the next barrier. */
void walk_note_going_on(struct thread_walk *w, const struct tr_event *e, uint64_t at)
{
	const uint32_t kinds = DPROF_KIND_BIT(DPROF_KIND_REGION) | DPROF_KIND_BIT(DPROF_KIND_SEND) |
			       DPROF_KIND_BIT(DPROF_KIND_RECV) | DPROF_KIND_BIT(DPROF_KIND_IO) |
			       DPROF_KIND_BIT(DPROF_KIND_SLEEP);
	enum dprof_kind kind = walk_kind(w, e->site);
	bool does = kinds >> kind & 1, creates = kind == DPROF_KIND_FORK && !arg_is_member(walk_operation(w, e), e);
	struct things_done *done = &w->b->threads[w->thread].done;
	if (e->op != DPROF_ENTER)
		return;
	w->works |= w->replay.depth == 0 && !is_body(w, e, at) && (does || creates);
	if (w->behind_any && w->replay.depth == 0 && (does || creates)) {
		*SPILL_GROW(w->b->spill, done->v, done->n) = at;
		w->behind_any = false;
	}
	if (!w->taken.just_now)
		return;
	w->taken.just_now = false;
	if (!does)
		return;
	if (w->taken.bytes)
		w->records->bytes.v[w->taken.bytes - 1].goes_on = true;
	else
		w->records->sync.v[w->taken.event - 1].goes_on = true;
}

/* Behind bytes of which there could have been more: unless it takes them next, another run may do with more or fewer what it
 * does now. */
void walk_note_pieces(struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = walk_operation(w, e);
	struct moved_bytes *last = &w->records->bytes.v[w->taken.bytes - 1];
	bool next = e->op == DPROF_ENTER && arg_channel(o, e) == last->channel && !arg_gives_bytes(o, e);
	w->taken.may_be_more = false;
	if (next)
		return;
	last->partial = true;
	walk_begin_chance(w, last->exit);
}

/* The group of those who have come to a construct of a team; of one that has a number. */
uint32_t walk_group(struct thread_walk *w, uint64_t team, uint64_t number, bool one)
{
	uint64_t construct = ids_mix(team, number);
	struct team_constructs *c = w->constructs;
	if (ids_add(&c->known, construct))
		*MEM_GROW(c->groups, c->ngroups) = graph_group(w->b, one);
	return c->groups[ids_find(&c->known, construct)];
}

/* Which construct of a team is this for the thread: its threads come to all of them, in the same order. */
static uint64_t count_construct(struct thread_walk *w, uint64_t team)
{
	struct team_constructs *c = w->constructs;
	uint64_t member = ids_mix(team, w->thread);
	if (ids_add(&c->members, member))
		*MEM_GROW(c->reached, c->nmembers) = 0;
	return c->reached[ids_find(&c->members, member)]++;
}

/* Comes for the first piece. */
static void begin_pieces(struct thread_walk *w, struct event_ref ref, bool one)
{
	w->given.group = walk_group(w, w->given.team, UINT64_MAX - count_construct(w, w->given.team), one);
	w->given.in_pieces = true;
	w->given.said = false;
	w->given.n = w->given.depth = 0;
	graph_request(w->b, ref, ref, w->given.group);
}

/* Who does which is not evened out, as that can be said. */
static void begin_piece(struct thread_walk *w, struct event_ref ref)
{
	if (w->given.n++ == 0)
		graph_set_schedule(w->b, ref, w->given.schedule = GRAPH_DYNAMIC);
}

/* The thread comes for the next one. */
static void end_piece(struct thread_walk *w, struct event_ref ref)
{
	w->given.in_pieces = w->given.n < MOST_PIECES;
	w->b->graph->groups[w->given.group].many |= !w->given.in_pieces;
	if (w->given.in_pieces)
		graph_request(w->b, ref, ref, w->given.group);
	else
		graph_set_schedule(w->b, ref, w->given.schedule = GRAPH_DYNAMIC_EVENLY);
}

/* A marked region in what is given out begins, or has ended. */
void walk_note_piece(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct trace *trace = w->b->graph->trace;
	if (!tr_is_marked(trace, e->site) || w->replay.depth > 0)
		return;
	if (e->op == DPROF_ENTER && w->given.depth++ == 0)
		begin_piece(w, ref);
	if (e->op == DPROF_EXIT && w->given.depth > 0 && --w->given.depth == 0)
		end_piece(w, ref);
}

/* Pieces are recorded: regions in them are none. Behind the first one comes another if anything was recorded in it, or if it is of
 * several iterations: else it is not known how many there were. */
static void have_piece(struct thread_walk *w, uint64_t piece, uint64_t team, struct event_ref ref)
{
	if (!w->given.in_pieces || team != w->given.team)
		return;
	w->given.said = true;
	if (piece == 0) {
		w->given.first = ref;
		return;
	}
	if (w->given.n == 0)
		begin_piece(w, w->given.first);
	end_piece(w, ref);
	if (w->given.in_pieces)
		begin_piece(w, ref);
}

/* What an inner team gives out is part of what the outer one gave. */
void walk_begin_given_work(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	bool loop = tr_is(w->b->graph->trace, e->site, OP_EVENS_OUT), evens_out = loop && w->given.schedule != GRAPH_DYNAMIC;
	uint64_t team = trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX), piece = arg_piece(walk_operation(w, e), e);
	bool taskgroup = tr_is(w->b->graph->trace, e->site, OP_ELECTS) && is_of_taskgroup(e);
	if (piece != ARG_NONE) {
		have_piece(w, piece, team, ref);
		return;
	}
	if (taskgroup && team == UINT64_MAX)
		return;
	if (w->given.schedule == GRAPH_STATIC)
		w->given.team = team;
	w->given.schedule = evens_out ? GRAPH_DYNAMIC_EVENLY : GRAPH_DYNAMIC;
	graph_set_schedule(w->b, ref, w->given.schedule);
	if (team == w->given.team && !taskgroup)
		begin_pieces(w, ref, !loop);
}

/* With the team's next barrier, or its end. */
void walk_end_given_work(struct thread_walk *w, struct event_ref exit)
{
	enum dprof_kind kind = walk_kind(w, w->entered.site);
	if (w->given.schedule == GRAPH_STATIC || (kind != DPROF_KIND_BARRIER && kind != DPROF_KIND_JOIN) ||
	    trace_arg(&w->entered, DPROF_KEY_GROUP, UINT64_MAX) != w->given.team)
		return;
	w->given.schedule = GRAPH_STATIC;
	w->given.in_pieces = false;
	graph_set_schedule(w->b, exit, w->given.schedule);
}

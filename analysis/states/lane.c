/* SPDX-License-Identifier: MIT
 *
 * lane.c - merges the periods of one clock's threads and counts.
 *
 * Per actor, how many of its threads may or must work and may or must wait; per lane, how many
 * actors may or must wait. "All but one" is a count; which one is the exclusive or of the actors
 * that are not in it, so nothing is ever searched for. */
#include "analysis/states/lane.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/states/totals.h"

struct member {               /* one thread */
	size_t thread;
	struct states states;
	struct period now;
	uint8_t may;          /* as counted; within a tick the union of what it was and becomes */
	uint8_t alone_is[MAY_ANY + 1]; /* by `may`: what an actor is who is this thread alone */
	uint32_t actor;       /* in this lane */
	bool waits;
	bool any;             /* what it did in unclassified time is open */
	bool may_abstain;     /* whether it waits at all, so whether it keeps anybody from waiting, is open */
	bool blurred;         /* is in lane.blurred */
};

struct actor {
	uint32_t threads;
	uint32_t waiters;             /* threads that ever wait, or are gone */
	uint32_t may_work, must_work; /* how many threads */
	uint32_t may_wait, must_wait; /* how many of the waiters; or be gone */
	uint8_t is;                   /* what follows from that: IS_... */
	uint32_t site;                /* where it began to work last */
};
enum { IS_MAY_WAIT = 1, IS_MUST_WAIT = 2, IS_MAY_WORK = 4, IS_MUST_WORK = 8 };

/* A stretch between two stamps and what it says: who may work alone, and two bits. That is one
 * number, because it is moved and compared at every change of a thread. */
struct piece { uint64_t from, to, says; uint32_t site; };
#define SAYS_ALL_WAIT (UINT64_C(1) << 32)
#define SAYS_CERTAIN  (UINT64_C(1) << 33)
#define SAYS_NOTHING  ((uint64_t)LANE_NOBODY)
#define SAYS_ALONE(says) ((uint32_t)(says))

struct lane {
	struct totals *totals; /* to complete; or NULL */
	uint64_t slack;       /* stamps that differ by no more are in unknown order */
	struct member *members;
	struct actor *actors;
	uint32_t *ids;        /* of the actors, in the cast */
	size_t nmembers, nactors;
	struct heap ends;     /* of the members' periods */

	/* Over the actors. */
	uint64_t counts; /* who may wait; who must; who may wait, or else may work */
	uint32_t xor_not_may_wait, xor_both;

	uint64_t stamp;       /* of the last change that was counted */
	bool at_change;       /* the next piece begins with one */
	bool ended;
	uint32_t *blurred;    /* members that changed in this tick, if more than once in all */
	size_t nblurred;
	uint64_t says;        /* what the last piece between two changes says */
	struct piece open;    /* to be given out once it cannot get longer */
	uint64_t open_stretch;
};

/* ---- Actors ---------------------------------------------------------------------------------- */

static uint8_t is(bool may_wait, bool must_wait, bool may_work, bool must_work)
{
	return (uint8_t)(may_wait * IS_MAY_WAIT | must_wait * IS_MUST_WAIT |
			 may_work * IS_MAY_WORK | must_work * IS_MUST_WORK);
}

static uint8_t is_of_threads(const struct actor *a)
{
	return is(a->waiters > 0 && a->may_wait == a->waiters && a->must_work == 0,
		  a->waiters > 0 && a->must_wait == a->waiters && a->may_work == 0,
		  a->may_work > 0, a->must_work > 0);
}

static bool may_idle(uint8_t may)
{
	return may & (MAY_WAIT | MAY_GONE);
}

static bool must_idle(uint8_t may)
{
	return may && !(may & ~(MAY_WAIT | MAY_GONE));
}

static uint8_t is_of_thread(bool waits, uint8_t may)
{
	return is(waits && may_idle(may), waits && must_idle(may), may & MAY_WORK, may == MAY_WORK);
}

static void count_member(struct actor *actor, const struct member *m, int by)
{
	actor->may_work += m->may & MAY_WORK ? by : 0;
	actor->must_work += m->may == MAY_WORK ? by : 0;
	if (m->waits) {
		actor->may_wait += may_idle(m->may) ? by : 0;
		actor->must_wait += must_idle(m->may) ? by : 0;
	}
}

/* What an actor adds to the lane's counts: three numbers in one. */
#define COUNT_BITS 21
#define COUNT_MAY_WAIT  UINT64_C(1)
#define COUNT_MUST_WAIT (UINT64_C(1) << COUNT_BITS)
#define COUNT_BOTH      (UINT64_C(1) << 2 * COUNT_BITS)
static const uint64_t counts_as[16] = {
#define X(is)                                                                                      \
	[is] = ((is) & IS_MAY_WAIT ? COUNT_MAY_WAIT : 0) +                                         \
	       ((is) & IS_MUST_WAIT ? COUNT_MUST_WAIT : 0) +                                       \
	       ((is) & IS_MAY_WAIT && (is) & IS_MAY_WORK ? COUNT_BOTH : 0)
	X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7),
	X(8), X(9), X(10), X(11), X(12), X(13), X(14), X(15),
#undef X
};

static size_t count_of(const struct lane *lane, uint64_t unit)
{
	return lane->counts / unit & ((UINT64_C(1) << COUNT_BITS) - 1);
}

/* Takes an actor from what it was to what it is now, in the lane's counts. */
static void count_actor(struct lane *lane, uint32_t a, uint8_t now)
{
	uint64_t before = counts_as[lane->actors[a].is], after = counts_as[now];
	lane->actors[a].is = now;
	lane->counts += after - before;
	lane->xor_not_may_wait ^= (before ^ after) & COUNT_MAY_WAIT ? a : 0;
	lane->xor_both ^= (before ^ after) & COUNT_BOTH ? a : 0;
}

static void set_member(struct lane *lane, struct member *m, uint8_t may)
{
	struct actor *actor = &lane->actors[m->actor];
	if (may == m->may)
		return;
	if (actor->threads == 1) {
		m->may = may;
		count_actor(lane, m->actor, m->alone_is[may]);
	} else {
		count_member(actor, m, -1);
		m->may = may;
		count_member(actor, m, 1);
		count_actor(lane, m->actor, is_of_threads(actor));
	}
	if (may & MAY_WORK && m->now.site != TR_NO_SITE)
		actor->site = m->now.site;
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* What may be true with the counts as they are, and where the one works who works alone. */
static uint64_t describe(const struct lane *lane, uint32_t *site)
{
	uint64_t says = 0;
	uint32_t a = LANE_NOBODY;
	size_t may_wait = count_of(lane, COUNT_MAY_WAIT), both = count_of(lane, COUNT_BOTH);
	size_t must_wait = count_of(lane, COUNT_MUST_WAIT);
	*site = TR_NO_SITE;
	if (may_wait == lane->nactors) {
		says = SAYS_ALL_WAIT;
		a = both == 0 ? LANE_NOBODY : both == 1 ? lane->xor_both : LANE_ANYBODY;
	} else if (may_wait == lane->nactors - 1 &&
		   lane->actors[lane->xor_not_may_wait].is & IS_MAY_WORK) {
		a = lane->xor_not_may_wait;
	}
	if (a >= lane->nactors)
		return says | a | (must_wait == lane->nactors ? SAYS_CERTAIN : 0);
	*site = lane->actors[a].site;
	bool certain = must_wait == lane->nactors - 1 && lane->actors[a].is & IS_MUST_WORK;
	return says | lane->ids[a] | (certain ? SAYS_CERTAIN : 0);
}

static uint64_t next_stamp(const struct lane *lane)
{
	return lane->ends.items[0].key;
}

/* Any choice of what is open. Who waits only by such a choice may do neither of both without keeping anybody
 * from waiting. */
static uint8_t any_choice(const struct member *m, uint8_t may)
{
	if (m->any && may & MAY_BE_UNCLASSIFIED)
		may |= MAY_WORK | MAY_WAIT | MAY_OTHER;
	return may & (MAY_OTHER | MAY_BE_UNCLASSIFIED) && m->may_abstain ? may | MAY_WAIT : may;
}

static void next_period(struct lane *lane, struct member *m)
{
	states_next(&m->states, &m->now);
	if (lane->totals)
		totals_add(lane->totals, m->thread, &m->now);
	m->now.may = any_choice(m, m->now.may);
}

/* Takes the member whose period ends first to its next one. */
static struct member *turn_first(struct lane *lane)
{
	struct member *m = &lane->members[lane->ends.items[0].source];
	next_period(lane, m);
	heap_change_first(&lane->ends, m->now.to);
	return m;
}

static void blur(struct lane *lane, struct member *m)
{
	set_member(lane, m, m->may | m->now.may);
	if (!m->blurred)
		lane->blurred[lane->nblurred++] = (uint32_t)(m - lane->members);
	m->blurred = true;
}

/* The earliest change of any member but the one that changes next. */
static uint64_t second_stamp(const struct lane *lane)
{
	const struct heap_item *items = lane->ends.items;
	uint64_t second = lane->ends.count > 1 ? items[1].key : PERIOD_AFTER;
	return lane->ends.count > 2 && items[2].key < second ? items[2].key : second;
}

static bool unordered(const struct lane *lane, uint64_t later)
{
	return later != PERIOD_AFTER && later - lane->stamp <= lane->slack;
}

/* Counts what changes at the next stamp. With several changes in unknown order every order of them
 * is possible: until unblur(), each thread may be in any state that it has up to lane->stamp. */
static void cross(struct lane *lane)
{
	lane->stamp = next_stamp(lane);
	bool together = unordered(lane, second_stamp(lane));
	struct member *m = turn_first(lane);
	if (!together && next_stamp(lane) != lane->stamp) {
		set_member(lane, m, m->now.may);
		return;
	}
	blur(lane, m);
	while (unordered(lane, next_stamp(lane))) {
		lane->stamp = next_stamp(lane);
		blur(lane, turn_first(lane));
	}
}

static void unblur(struct lane *lane)
{
	while (lane->nblurred > 0) {
		struct member *m = &lane->members[lane->blurred[--lane->nblurred]];
		m->blurred = false;
		set_member(lane, m, m->now.may);
	}
}

/* Without what a neighbour says, whose ticks contain this one. */
static uint64_t leave_to(uint64_t says, uint64_t neighbour)
{
	says &= ~(neighbour & SAYS_ALL_WAIT);
	return SAYS_ALONE(says) == SAYS_ALONE(neighbour) ? says | SAYS_NOTHING : says;
}

/* The next piece of the lane; pieces follow each other without gaps and may say nothing. */
static bool next_piece(struct lane *lane, struct piece *piece)
{
	if (lane->ended)
		return false;
	if (lane->at_change) {
		piece->from = next_stamp(lane);
		cross(lane);
		lane->at_change = false;
		if (lane->nblurred > 0) {
			uint32_t ignored;
			piece->to = lane->stamp;
			piece->says = describe(lane, &piece->site) & ~SAYS_CERTAIN;
			unblur(lane);
			if (piece->from == piece->to) {
				piece->says = leave_to(piece->says, lane->says);
				piece->says = leave_to(piece->says, describe(lane, &ignored));
			}
			return true;
		}
	}
	piece->from = lane->stamp;
	piece->to = next_stamp(lane);
	piece->says = lane->says = describe(lane, &piece->site);
	lane->at_change = true;
	lane->ended = piece->to == PERIOD_AFTER;
	return true;
}

/* False when there is nothing to say. */
static bool give_out(const struct piece *open, struct lane_segment *out)
{
	out->from = open->from;
	out->to = open->to;
	out->all_wait = open->says & SAYS_ALL_WAIT;
	out->certain = open->says & SAYS_CERTAIN;
	out->alone = SAYS_ALONE(open->says);
	out->site = open->site;
	return out->all_wait || out->alone != LANE_NOBODY;
}

bool lane_next(struct lane *lane, struct lane_segment *out)
{
	struct piece piece;
	while (next_piece(lane, &piece)) {
		uint64_t stretch = piece.to - piece.from;
		bool longer = piece.says == lane->open.says, given = false;
		if (!longer) {
			given = give_out(&lane->open, out);
			lane->open.from = piece.from;
			lane->open.says = piece.says;
		}
		lane->open.to = piece.to;
		if (!longer || stretch > lane->open_stretch) {
			lane->open_stretch = stretch;
			lane->open.site = piece.site;
		}
		if (given)
			return true;
	}
	bool given = give_out(&lane->open, out);
	lane->open.says = SAYS_NOTHING;
	return given;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The index in this lane of an actor of the cast. */
static uint32_t find_actor(struct lane *lane, uint32_t id)
{
	for (size_t a = lane->nactors; a-- > 0;)
		if (lane->ids[a] == id)
			return (uint32_t)a;
	lane->ids[lane->nactors] = id;
	lane->actors[lane->nactors] = (struct actor){ .site = TR_NO_SITE };
	return (uint32_t)lane->nactors++;
}

static void add_member(struct lane *lane, const struct trace *trace, size_t thread,
		       const struct roles *roles, const struct cast *cast)
{
	struct member *m = &lane->members[lane->nmembers++];
	*m = (struct member){ .thread = thread,
			      .actor = find_actor(lane, cast->actor_of[thread]),
			      .waits = cast->waits[thread] || cast->any,
			      .any = cast->any,
			      .may_abstain = !cast->idles[thread] };
	for (uint8_t may = 0; may <= MAY_ANY; may++)
		m->alone_is[may] = is_of_thread(m->waits, may);
	states_open(&m->states, trace, thread, roles);
	next_period(lane, m);
	m->may = m->now.may;
	if (m->may & MAY_WORK && m->now.site != TR_NO_SITE)
		lane->actors[m->actor].site = m->now.site;
	lane->actors[m->actor].threads++;
	lane->actors[m->actor].waiters += m->waits;
	count_member(&lane->actors[m->actor], m, 1);
	heap_add(&lane->ends, m->now.to, (uint32_t)(m - lane->members));
}

struct lane *lane_open(const struct trace *trace, uint32_t clock, const struct roles *roles,
		       const struct cast *cast, struct totals *totals)
{
	size_t count = 0;
	for (size_t i = 0; i < trace->nthreads; i++)
		count += trace->threads[i].clock == clock && cast->actor_of[i] != LANE_NOBODY;
	if (count == 0)
		return NULL;
	struct lane *lane = mem_resize(NULL, 1, sizeof *lane);
	*lane = (struct lane){ .totals = totals,
			       .slack = 2 * trace->clocks[clock].half_width,
			       .members = mem_resize(NULL, count, sizeof *lane->members),
			       .actors = mem_resize(NULL, count, sizeof *lane->actors),
			       .ids = mem_resize(NULL, count, sizeof *lane->ids),
			       .ends.items = mem_resize(NULL, count, sizeof *lane->ends.items),
			       .blurred = mem_resize(NULL, count, sizeof *lane->blurred),
			       .open = { .says = SAYS_NOTHING, .site = TR_NO_SITE } };
	for (size_t i = 0; i < trace->nthreads; i++)
		if (trace->threads[i].clock == clock && cast->actor_of[i] != LANE_NOBODY)
			add_member(lane, trace, i, roles, cast);
	for (uint32_t a = 0; a < lane->nactors; a++) {
		lane->xor_not_may_wait ^= a;
		count_actor(lane, a, is_of_threads(&lane->actors[a]));
	}
	return lane;
}

void lane_close(struct lane *lane)
{
	if (!lane)
		return;
	for (size_t i = 0; i < lane->nmembers; i++) {
		struct member *m = &lane->members[i];
		if (lane->totals)
			totals_end(lane->totals, m->thread, &m->states);
		states_close(&m->states);
	}
	free(lane->members);
	free(lane->actors);
	free(lane->ids);
	free(lane->ends.items);
	free(lane->blurred);
	free(lane);
}

const uint32_t *lane_actors(const struct lane *lane, size_t *count)
{
	*count = lane->nactors;
	return lane->ids;
}

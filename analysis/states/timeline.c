/* SPDX-License-Identifier: MIT
 *
 * timeline.c - merges the periods of one clock's threads and counts.
 *
 * Per participant, how many of its threads may or must work and may or must wait; per timeline, how many
 * participants may or must wait. "All but one" is a count; which one is the exclusive or of the participants
 * that are not in it, so nothing is ever searched for. */
#include "analysis/states/timeline.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/merge.h"

struct timeline_thread {      /* one thread */
	struct period_cursor periods;
	struct period now;
	uint8_t may;          /* as counted; within a tick the union of what it was and becomes */
	uint8_t by_choice[MAY_ANY + 1]; /* by what a period says: any choice of that */
	uint8_t alone_is[MAY_ANY + 1]; /* by `may`: what a participant is that is this thread alone */
	uint32_t participant; /* in this timeline */
	bool waits;
	bool any;             /* what it did in unclassified time is open */
	bool may_abstain;     /* whether it waits at all, so whether it keeps others from waiting, is open */
	bool merged;          /* is in timeline.merged */
	size_t step;          /* over so many periods */
	uint64_t kept_until;  /* as kept_until() found it last */
};

struct participant {
	uint32_t threads;
	uint32_t waiters;             /* threads that ever wait, or are gone */
	uint64_t works;               /* how many threads may; and, MUST each, must */
	uint64_t waits;               /* likewise how many of the waiters wait; or are gone */
	uint8_t is;                   /* what follows from that: IS_... */
	uint32_t site;                /* where it began to work last; or TIMELINE_SITE_LATER */
	uint64_t since;               /* as in struct timeline_segment */
};
enum { IS_MAY_WAIT = 1, IS_MUST_WAIT = 2, IS_MAY_WORK = 4, IS_MUST_WORK = 8 };

/* A stretch between two stamps and what it says: who may work alone, and two bits. That is one
 * number, because it is moved and compared at every change of a thread. Of the stretches between two changes that it
 * consists of, the length of the longest, and where `alone` worked in the first of those. */
struct timeline_piece { uint64_t from, to, says, longest, since; uint32_t site; };
#define SAYS_ALL_WAIT (UINT64_C(1) << 32)
#define SAYS_CERTAIN  (UINT64_C(1) << 33)
#define SAYS_NOTHING  ((uint64_t)NO_PARTICIPANT)
#define SAYS_ALONE(says) ((uint32_t)(says))

struct timeline {
	uint64_t slack;       /* stamps that differ by no more are in unknown order */
	struct timeline_thread *members;
	struct participant *participants;
	uint32_t *ids;        /* of the participants, in the whole list */
	size_t nmembers, nparticipants;
	struct merge ends;    /* of the members' periods */

	/* Over the participants. */
	uint64_t counts; /* who may wait; who must; who may wait, or else may work */
	uint32_t xor_not_may_wait, xor_both;

	uint64_t stamp;       /* of the last change that was counted */
	uint64_t since;       /* right before the first of those that are in unknown order with it */
	bool at_change;       /* of one thread: the next piece begins with one */
	struct timeline_thread *turned; /* who changed at the stamp, in unknown order with others; or NULL */
	bool ended;
	uint32_t *merged;     /* members that changed in this tick, if more than once in all */
	size_t nmerged;
	uint64_t says;        /* what the last piece between two changes says, ... */
	uint32_t who;         /* ... of whom: describe(); ... */
	bool told;            /* ... and that is so with the counts as they are */
	struct timeline_piece open; /* to be given out once it cannot get longer */
	uint64_t open_stretch;

	bool is_alone;        /* there is one thread: */
	uint64_t says_of[MAY_ANY + 1]; /* what a piece says, by its states */
	bool runs_on;         /* through changes that leave what is said as it is */
	bool leaps;           /* there are several threads */
	uint64_t horizon;     /* of leaps, when it was looked for last: it only moves on */
	unsigned pause, patience; /* so often it is not tried; and how often after the next vain attempt */

	const struct trace *trace; /* what it is opened with, for: */
	const struct periods *periods;
	const struct participants *all;
	uint32_t clock;
	struct timeline *slow; /* the same without leaps, which finds sites; NULL: none was asked for */
	bool seeks;           /* it passes over what lies far before a segment whose site is asked for */
};

/* ---- Participants ---------------------------------------------------------------------------- */

static uint8_t is(bool may_wait, bool must_wait, bool may_work, bool must_work)
{
	return (uint8_t)(may_wait * IS_MAY_WAIT | must_wait * IS_MUST_WAIT |
			 may_work * IS_MAY_WORK | must_work * IS_MUST_WORK);
}

#define MUST (UINT64_C(1) << 32)

static uint8_t is_of_threads(const struct participant *a)
{
	return is(a->waiters > 0 && (uint32_t)a->waits == a->waiters && a->works < MUST,
		  a->waiters > 0 && a->waits / MUST == a->waiters && a->works == 0,
		  a->works > 0, a->works >= MUST);
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

/* What a thread adds to its participant's counts, by its states: as one that works, and as one that waits. */
#define WORKS(may) (((may) & MAY_WORK ? 1 : 0) + ((may) == MAY_WORK ? MUST : 0))
#define IDLES(may) ((may) & (MAY_WAIT | MAY_GONE))
#define WAITS(may) ((IDLES(may) ? 1 : 0) + ((may) && IDLES(may) == (may) ? MUST : 0))
#define FOUR(as, may)  as(may), as((may) + 1), as((may) + 2), as((may) + 3)
#define EIGHT(as, may) FOUR(as, may), FOUR(as, (may) + 4)
static const uint64_t works_as[MAY_ANY + 1] = { EIGHT(WORKS, 0), EIGHT(WORKS, 8), EIGHT(WORKS, 16), EIGHT(WORKS, 24) };
static const uint64_t waits_as[MAY_ANY + 1] = { EIGHT(WAITS, 0), EIGHT(WAITS, 8), EIGHT(WAITS, 16), EIGHT(WAITS, 24) };

/* Takes a thread from one set of states to another, in its participant's counts. */
static inline void count_member(struct participant *participant, const struct timeline_thread *m, uint8_t before,
				uint8_t now)
{
	participant->works += works_as[now] - works_as[before];
	participant->waits += m->waits ? waits_as[now] - waits_as[before] : 0;
}

/* What a participant adds to the timeline's counts: three numbers in one. */
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

static size_t count_of(const struct timeline *timeline, uint64_t unit)
{
	return timeline->counts / unit & ((UINT64_C(1) << COUNT_BITS) - 1);
}

/* Takes a participant from what it was to what it is now, in the timeline's counts. */
static inline void count_participant(struct timeline *timeline, uint32_t a, uint8_t now)
{
	uint64_t before = counts_as[timeline->participants[a].is], after = counts_as[now];
	if (timeline->participants[a].is == now)
		return;
	timeline->told = false;
	timeline->participants[a].is = now;
	timeline->counts += after - before;
	timeline->xor_not_may_wait ^= (before ^ after) & COUNT_MAY_WAIT ? a : 0;
	timeline->xor_both ^= (before ^ after) & COUNT_BOTH ? a : 0;
}

static inline void set_member(struct timeline *timeline, struct timeline_thread *m, uint8_t may)
{
	struct participant *participant = &timeline->participants[m->participant];
	if (m->now.may & MAY_WORK && m->now.site != TR_NO_SITE) {
		participant->site = m->now.site;
		participant->since = timeline->since;
	}
	if (may == m->may)
		return;
	if (participant->threads == 1) {
		m->may = may;
		count_participant(timeline, m->participant, m->alone_is[may]);
	} else {
		count_member(participant, m, m->may, may);
		m->may = may;
		count_participant(timeline, m->participant, is_of_threads(participant));
	}
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* What may be true with the counts as they are; and who may work alone, by his index in this timeline, if that is one. */
static uint64_t describe(const struct timeline *timeline, uint32_t *who)
{
	uint64_t says = 0;
	uint32_t a = NO_PARTICIPANT;
	size_t may_wait = count_of(timeline, COUNT_MAY_WAIT), both = count_of(timeline, COUNT_BOTH);
	size_t must_wait = count_of(timeline, COUNT_MUST_WAIT);
	*who = NO_PARTICIPANT;
	if (may_wait + 1 < timeline->nparticipants)
		return SAYS_NOTHING;
	if (may_wait == timeline->nparticipants) {
		says = SAYS_ALL_WAIT;
		a = both == 0 ? NO_PARTICIPANT : both == 1 ? timeline->xor_both : ANY_PARTICIPANT;
	} else if (may_wait == timeline->nparticipants - 1 &&
		   timeline->participants[timeline->xor_not_may_wait].is & IS_MAY_WORK) {
		a = timeline->xor_not_may_wait;
	}
	if (a >= timeline->nparticipants)
		return says | a | (must_wait == timeline->nparticipants ? SAYS_CERTAIN : 0);
	*who = a;
	bool certain = must_wait == timeline->nparticipants - 1 &&
		       timeline->participants[a].is & IS_MUST_WORK;
	return says | timeline->ids[a] | (certain ? SAYS_CERTAIN : 0);
}

/* Where somebody began to work last; TR_NO_SITE of nobody. */
static inline void set_site(const struct timeline *timeline, struct timeline_piece *piece, uint32_t who)
{
	piece->site = who == NO_PARTICIPANT ? TR_NO_SITE : timeline->participants[who].site;
	piece->since = who == NO_PARTICIPANT ? 0 : timeline->participants[who].since;
}

static uint64_t next_stamp(const struct timeline *timeline)
{
	return merge_first(&timeline->ends).key;
}

/* Any choice of what is open. Who waits only by such a choice may do neither of both without keeping
 * others from waiting. */
static uint8_t any_choice(const struct timeline_thread *m, uint8_t may)
{
	if (m->any && may & MAY_BE_UNCLASSIFIED)
		may |= MAY_WORK | MAY_WAIT | MAY_OTHER;
	return may & (MAY_OTHER | MAY_BE_UNCLASSIFIED) && m->may_abstain ? may | MAY_WAIT : may;
}

static inline void next_period(struct timeline_thread *m)
{
	period_next(&m->periods, &m->now);
	m->now.may = m->by_choice[m->now.may];
}

/* Takes the member whose period ends first to its next one. */
static inline struct timeline_thread *turn_first(struct timeline *timeline)
{
	uint32_t first = merge_first(&timeline->ends).source;
	struct timeline_thread *m = &timeline->members[first];
	next_period(m);
	merge_set(&timeline->ends, first, m->now.to);
	return m;
}

static void merge_states(struct timeline *timeline, struct timeline_thread *m)
{
	set_member(timeline, m, m->may | m->now.may);
	if (!m->merged)
		timeline->merged[timeline->nmerged++] = (uint32_t)(m - timeline->members);
	m->merged = true;
}

static bool unordered(const struct timeline *timeline, uint64_t later)
{
	return later != PERIOD_AFTER && later - timeline->stamp <= timeline->slack;
}

/* Counts what changes at the next stamp. False where that is in unknown order with other changes. */
static inline bool cross(struct timeline *timeline)
{
	timeline->stamp = next_stamp(timeline);
	timeline->since = timeline->stamp - (timeline->stamp > 0);
	struct timeline_thread *m = turn_first(timeline);
	if (unordered(timeline, next_stamp(timeline)) &&
	    (next_stamp(timeline) == timeline->stamp ||
	     unordered(timeline, merge_least_but(&timeline->ends, (uint32_t)(m - timeline->members))))) {
		timeline->turned = m;
		return false;
	}
	set_member(timeline, m, m->now.may);
	return true;
}

/* With several changes in unknown order every order of them is possible: until settle_states(), each thread may be in
 * any state that it has up to timeline->stamp. */
static void cross_all(struct timeline *timeline)
{
	merge_states(timeline, timeline->turned);
	timeline->turned = NULL;
	while (unordered(timeline, next_stamp(timeline))) {
		timeline->stamp = next_stamp(timeline);
		merge_states(timeline, turn_first(timeline));
	}
}

static void settle_states(struct timeline *timeline)
{
	while (timeline->nmerged > 0) {
		struct timeline_thread *m =
			&timeline->members[timeline->merged[--timeline->nmerged]];
		m->merged = false;
		set_member(timeline, m, m->now.may);
	}
}

/* Without what a neighbour says, whose ticks contain this one. */
static uint64_t leave_to(uint64_t says, uint64_t neighbour)
{
	says &= ~(neighbour & SAYS_ALL_WAIT);
	return SAYS_ALONE(says) == SAYS_ALONE(neighbour) ? says | SAYS_NOTHING : says;
}

/* ---- Leaps ----------------------------------------------------------------------------------- */

#define PATIENCE_MOST 64

/* While a thread is so its participant does not wait. */
static bool keeps_from_waiting(const struct timeline_thread *m, uint8_t may)
{
	return (m->waits && !may_idle(may)) || may == MAY_WORK;
}

/* Until when a thread keeps its participant from waiting, by its periods at hand, one after the other; 0: it does not. */
static uint64_t kept_until(struct timeline_thread *m)
{
	const struct period_begin *b = m->periods.begin + m->periods.next, *end = m->periods.begin + m->periods.n;
	if (!keeps_from_waiting(m, m->may))
		return 0;
	if (m->kept_until > m->now.from)
		return m->kept_until;
	while (b < end && keeps_from_waiting(m, m->by_choice[b->may]))
		b++;
	m->kept_until = b < end ? b->from : period_horizon(&m->periods);
	return m->kept_until;
}

/* `until`; but no later than up to where periods can be stepped over without reading. */
static uint64_t within_horizon(struct timeline *timeline, uint64_t until)
{
	if (until <= timeline->horizon)
		return until;
	timeline->horizon = PERIOD_AFTER;
	for (size_t i = 0; i < timeline->nmembers; i++) {
		uint64_t seen = period_horizon(&timeline->members[i].periods);
		timeline->horizon = seen < timeline->horizon ? seen : timeline->horizon;
	}
	return until < timeline->horizon ? until : timeline->horizon;
}

/* Until when two participants surely do not wait; 0 without two. */
static uint64_t two_kept_until(struct timeline *timeline)
{
	uint64_t last = 0, second = 0;
	uint32_t of_last = NO_PARTICIPANT;
	for (size_t i = 0; i < timeline->nmembers; i++) {
		struct timeline_thread *m = &timeline->members[i];
		uint64_t until = kept_until(m);
		if (m->participant == of_last) {
			last = until > last ? until : last;
		} else if (until > last) {
			second = last;
			last = until;
			of_last = m->participant;
		} else {
			second = until > second ? until : second;
		}
	}
	return second;
}

/* Until when one of the threads surely works; 0 if none does. */
static uint64_t works_until(const struct timeline *timeline)
{
	uint64_t last = 0;
	for (size_t i = 0; i < timeline->nmembers; i++) {
		const struct timeline_thread *m = &timeline->members[i];
		last = m->may == MAY_WORK && m->now.to > last ? m->now.to : last;
	}
	return last;
}

/* How many periods of a thread end before `until`; *behind: when the last of them does, if later; *ahead: the first that
 * does not, if earlier. */
static size_t count_steps(const struct timeline_thread *m, uint64_t until, uint64_t *behind, uint64_t *ahead)
{
	const struct period_begin *next = m->periods.begin + m->periods.next;
	size_t left = m->periods.n - m->periods.next, n = 0;
	while (n < left && next[n].from < until)
		n++;
	uint64_t first = n < left ? next[n].from : PERIOD_AFTER;
	*behind = n && next[n - 1].from > *behind ? next[n - 1].from : *behind;
	*ahead = first < *ahead ? first : *ahead;
	return n;
}

/* Where a participant is several threads, which of them began to work last is left for later. */
static void step_over(struct timeline *timeline, struct timeline_thread *m)
{
	struct participant *participant = &timeline->participants[m->participant];
	bool one = participant->threads == 1;
	for (; one && m->step > 1; m->step--) {
		const struct period_begin *b = &m->periods.begin[m->periods.next++];
		if (m->by_choice[b->may] & MAY_WORK && b->site != TR_NO_SITE)
			participant->site = b->site;
	}
	m->periods.next += m->step - 1;
	next_period(m);
	set_member(timeline, m, m->now.may);
	if (!one)
		participant->site = TIMELINE_SITE_LATER;
	merge_put(&timeline->ends, (uint32_t)(m - timeline->members), m->now.to);
}

/* Steps over all changes before `until`, before which they do not change what is said; whether there are any. */
static bool leap(struct timeline *timeline, uint64_t until)
{
	uint64_t behind = 0, ahead = PERIOD_AFTER;
	size_t steps = 0;
	until = within_horizon(timeline, until);
	for (size_t i = 0; i < timeline->nmembers && until; i++) {
		struct timeline_thread *m = &timeline->members[i];
		m->step = count_steps(m, until, &behind, &ahead);
		steps += m->step;
	}
	bool ordered = ahead == PERIOD_AFTER || ahead - behind > timeline->slack;
	for (size_t i = 0; i < timeline->nmembers && steps && ordered; i++)
		if (timeline->members[i].step)
			step_over(timeline, &timeline->members[i]);
	if (steps && ordered)
		merge_settle(&timeline->ends);
	bool vain = !ordered || steps < timeline->nmembers / 4 + 1;
	timeline->patience = !vain ? 0 : timeline->patience < PATIENCE_MOST ? 2 * timeline->patience + 1 : PATIENCE_MOST;
	timeline->pause = timeline->patience;
	return steps && ordered;
}

/* Before the next change: of what leaves the piece as it is as much as can be. */
static void try_to_leap(struct timeline *timeline, struct timeline_piece *piece)
{
	if (timeline->pause)
		timeline->pause--;
	else if (piece->says == SAYS_NOTHING && timeline->nparticipants > 1)
		leap(timeline, two_kept_until(timeline));
	else if (timeline->nparticipants == 1 && timeline->participants->is & IS_MUST_WORK &&
		 leap(timeline, works_until(timeline)))
		piece->site = TIMELINE_SITE_LATER;
}

/* What is said of a piece of changes, between others: certain only if these say the same. */
static uint64_t says_between(uint64_t says, uint64_t before, uint64_t after, bool has_ticks)
{
	if (says & SAYS_CERTAIN && says == before && says == after)
		return says;
	says &= ~SAYS_CERTAIN;
	return has_ticks ? says : leave_to(leave_to(says, before), after);
}

/* From the stamp of a change to the last one that is in unknown order with it. */
static void piece_of_changes(struct timeline *timeline, struct timeline_piece *piece)
{
	uint32_t who, ignored;
	piece->from = timeline->stamp;
	cross_all(timeline);
	piece->to = timeline->stamp;
	piece->longest = piece->to - piece->from;
	piece->says = describe(timeline, &who);
	set_site(timeline, piece, who);
	settle_states(timeline);
	piece->says = says_between(piece->says, timeline->says, describe(timeline, &ignored), piece->from < piece->to);
}

/* To the next change, and on through those that leave what is said as it is: they change at most where somebody works. */
static void run_on(struct timeline *timeline, struct timeline_piece *piece)
{
	if (timeline->leaps)
		try_to_leap(timeline, piece);
	piece->to = next_stamp(timeline);
	piece->longest = piece->to - piece->from;
	while (piece->to != PERIOD_AFTER && cross(timeline) && timeline->told && timeline->runs_on) {
		uint64_t from = piece->to;
		if (timeline->leaps && timeline->nparticipants == 1)
			try_to_leap(timeline, piece);
		piece->to = next_stamp(timeline);
		if (piece->to - from <= piece->longest || piece->site == TIMELINE_SITE_LATER)
			continue;
		piece->longest = piece->to - from;
		piece->site = timeline->who == NO_PARTICIPANT ? TR_NO_SITE : timeline->participants[timeline->who].site;
	}
}

/* The next piece of the timeline; pieces follow each other without gaps and may say nothing. */
static bool next_piece(struct timeline *timeline, struct timeline_piece *piece)
{
	if (timeline->ended)
		return false;
	if (timeline->turned) {
		piece_of_changes(timeline, piece);
		return true;
	}
	piece->from = timeline->stamp;
	if (!timeline->told)
		timeline->says = describe(timeline, &timeline->who);
	timeline->told = true;
	piece->says = timeline->says;
	set_site(timeline, piece, timeline->who);
	run_on(timeline, piece);
	timeline->ended = piece->to == PERIOD_AFTER;
	return true;
}

/* ---- One thread ------------------------------------------------------------------------------ */

static void set_says(struct timeline *timeline)
{
	struct timeline_thread *m = timeline->members;
	uint8_t now = m->may;
	uint32_t ignored;
	for (uint8_t may = 0; may <= MAY_ANY; may++) {
		set_member(timeline, m, may);
		timeline->says_of[may] = describe(timeline, &ignored);
	}
	set_member(timeline, m, now);
}

/* The index of whom a piece speaks. */
static inline uint32_t who_alone(uint64_t says)
{
	return SAYS_ALONE(says) == NO_PARTICIPANT ? NO_PARTICIPANT : 0;
}

static inline void turn_alone(struct timeline *timeline)
{
	struct timeline_thread *m = timeline->members;
	timeline->stamp = m->now.to;
	next_period(m);
	if (m->now.may & MAY_WORK && m->now.site != TR_NO_SITE)
		timeline->participants->site = m->now.site;
}

/* As cross() and what follows it, where periods without ticks are in unknown order with others. */
static void cross_alone(struct timeline *timeline, uint8_t may, struct timeline_piece *piece)
{
	struct timeline_thread *m = timeline->members;
	may |= m->now.may;
	while (unordered(timeline, m->now.to)) {
		turn_alone(timeline);
		may |= m->now.may;
	}
	piece->to = timeline->stamp;
	piece->longest = piece->to - piece->from;
	piece->says = timeline->says_of[may];
	set_site(timeline, piece, who_alone(piece->says));
	piece->says = says_between(piece->says, timeline->says, timeline->says_of[m->now.may], piece->from < piece->to);
}

/* As next_piece(), of one thread: what is counted never says more than its state. */
static inline bool next_alone(struct timeline *timeline, struct timeline_piece *piece)
{
	struct timeline_thread *m = timeline->members;
	if (timeline->ended)
		return false;
	if (timeline->at_change) {
		uint8_t may = m->now.may;
		turn_alone(timeline);
		piece->from = timeline->stamp;
		timeline->at_change = false;
		if (m->now.to == timeline->stamp) {
			cross_alone(timeline, may, piece);
			return true;
		}
	}
	piece->from = timeline->stamp;
	piece->says = timeline->says = timeline->says_of[m->now.may];
	set_site(timeline, piece, who_alone(piece->says));
	piece->to = m->now.to;
	piece->longest = piece->to - piece->from;
	timeline->at_change = true;
	timeline->ended = piece->to == PERIOD_AFTER;
	return true;
}

/* ---- Segments, one after the other ----------------------------------------------------------- */

/* False when there is nothing to say. */
static inline bool give_out(const struct timeline_piece *open, struct timeline_segment *out)
{
	out->from = open->from;
	out->to = open->to;
	out->all_wait = open->says & SAYS_ALL_WAIT;
	out->certain = open->says & SAYS_CERTAIN;
	out->alone = SAYS_ALONE(open->says);
	out->site = open->site;
	out->since = open->since;
	return out->all_wait || out->alone != NO_PARTICIPANT;
}

static bool timeline_next(struct timeline *timeline, struct timeline_segment *out)
{
	struct timeline_piece piece;
	bool alone = timeline->is_alone;
	while (alone ? next_alone(timeline, &piece) : next_piece(timeline, &piece)) {
		bool longer = piece.says == timeline->open.says, given = false;
		if (!longer) {
			given = give_out(&timeline->open, out);
			timeline->open.from = piece.from;
			timeline->open.says = piece.says;
			timeline->open.since = piece.since;
		}
		timeline->open.to = piece.to;
		if (!longer || piece.site == TIMELINE_SITE_LATER ||
		    (piece.longest > timeline->open_stretch && timeline->open.site != TIMELINE_SITE_LATER)) {
			timeline->open_stretch = piece.longest;
			timeline->open.site = piece.site;
		}
		if (given)
			return true;
	}
	bool given = give_out(&timeline->open, out);
	timeline->open.says = SAYS_NOTHING;
	return given;
}

/* Behind periods that were gone through at hand: the last of them is `now`. */
static void stand_in(struct timeline *timeline, struct period now, const struct timeline_piece *open, uint32_t site)
{
	timeline->members->now = now;
	timeline->stamp = now.from;
	timeline->says = timeline->says_of[now.may];
	timeline->open = *open;
	timeline->participants->site = site;
}

/* Of one thread, at a change: goes through its periods at hand, of which each has ticks, as next_alone() does, until as many
 * segments are found as there is room for. */
static size_t run_alone(struct timeline *timeline, struct timeline_segment *out, size_t room)
{
	struct timeline_thread *m = timeline->members;
	struct period_cursor *c = &m->periods;
	const struct period_begin *first = c->begin + c->next, *b = first, *end = c->begin + c->n;
	struct timeline_piece open = timeline->open;
	uint64_t stretch = timeline->open_stretch;
	uint32_t site = timeline->participants->site;
	size_t n = 0;
	for (; b + 1 < end && b->from < b[1].from && n < room; b++) {
		uint8_t may = m->by_choice[b->may];
		uint64_t says = timeline->says_of[may], length = b[1].from - b->from;
		bool longer = says == open.says;
		site = may & MAY_WORK && b->site != TR_NO_SITE ? b->site : site;
		if (!longer) {
			n += give_out(&open, &out[n]);
			open.from = b->from;
			open.says = says;
		}
		if (!longer || length > stretch) {
			stretch = length;
			open.site = SAYS_ALONE(says) == NO_PARTICIPANT ? TR_NO_SITE : site;
		}
		open.to = b[1].from;
	}
	timeline->open_stretch = stretch;
	if (b > first)
		stand_in(timeline, (struct period){ b[-1].from, b->from, m->by_choice[b[-1].may], b[-1].site }, &open, site);
	c->next = (size_t)(b - c->begin);
	return n;
}

size_t timeline_segments(struct timeline *timeline, struct timeline_segment *out, size_t room)
{
	size_t n = 0;
	while (n < room) {
		if (timeline->is_alone && timeline->at_change)
			n += run_alone(timeline, out + n, room - n);
		if (n == room || !timeline_next(timeline, &out[n]))
			break;
		n++;
	}
	return n;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The index in this timeline of a participant of the whole list. */
static uint32_t find_participant(struct timeline *timeline, uint32_t id)
{
	for (size_t a = timeline->nparticipants; a-- > 0;)
		if (timeline->ids[a] == id)
			return (uint32_t)a;
	timeline->ids[timeline->nparticipants] = id;
	timeline->participants[timeline->nparticipants] =
		(struct participant){ .site = TR_NO_SITE };
	return (uint32_t)timeline->nparticipants++;
}

static void add_member(struct timeline *timeline, size_t thread, const struct periods *periods,
		       const struct participants *who)
{
	struct timeline_thread *m = &timeline->members[timeline->nmembers++];
	*m = (struct timeline_thread){ .periods = periods_cursor(periods, thread),
				       .participant = find_participant(timeline,
								       who->participant_of[thread]),
				       .waits = who->waits[thread] || who->any,
				       .any = who->any,
				       .may_abstain = !who->idles[thread] };
	for (uint8_t may = 0; may <= MAY_ANY; may++) {
		m->by_choice[may] = any_choice(m, may);
		m->alone_is[may] = is_of_thread(m->waits, may);
	}
	next_period(m);
	m->may = m->now.may;
	if (m->may & MAY_WORK && m->now.site != TR_NO_SITE)
		timeline->participants[m->participant].site = m->now.site;
	timeline->participants[m->participant].threads++;
	timeline->participants[m->participant].waiters += m->waits;
}

/* Anew, of what each member is in now. */
static void count_all(struct timeline *timeline)
{
	timeline->counts = timeline->xor_not_may_wait = timeline->xor_both = 0;
	timeline->told = false;
	for (uint32_t a = 0; a < timeline->nparticipants; a++) {
		struct participant *participant = &timeline->participants[a];
		participant->works = participant->waits = participant->is = 0;
		timeline->xor_not_may_wait ^= a;
	}
	for (size_t i = 0; i < timeline->nmembers; i++) {
		struct timeline_thread *m = &timeline->members[i];
		m->may = m->now.may;
		timeline->participants[m->participant].works += works_as[m->may];
		timeline->participants[m->participant].waits += m->waits ? waits_as[m->may] : 0;
		merge_put(&timeline->ends, (uint32_t)i, m->now.to);
	}
	for (uint32_t a = 0; a < timeline->nparticipants; a++)
		count_participant(timeline, a, is_of_threads(&timeline->participants[a]));
	merge_settle(&timeline->ends);
}

struct timeline *timeline_open(const struct trace *trace, uint32_t clock, const struct periods *periods,
			       const struct participants *who, bool leaps)
{
	size_t count = 0;
	for (size_t i = 0; i < trace->nthreads; i++)
		count += trace->threads[i].clock == clock &&
			 who->participant_of[i] != NO_PARTICIPANT;
	if (count == 0)
		return NULL;
	struct timeline *timeline = mem_resize(NULL, 1, sizeof *timeline);
	*timeline = (struct timeline){ .trace = trace, .clock = clock, .periods = periods, .all = who,
				       .slack = tr_slack(trace, clock),
				       .members =
					       mem_resize(NULL, count, sizeof *timeline->members),
				       .participants = mem_resize(NULL, count,
								  sizeof *timeline->participants),
				       .ids = mem_resize(NULL, count, sizeof *timeline->ids),
				       .merged = mem_resize(NULL, count, sizeof *timeline->merged),
				       .open = { .says = SAYS_NOTHING, .site = TR_NO_SITE } };
	merge_open(&timeline->ends, count);
	for (size_t i = 0; i < trace->nthreads; i++)
		if (trace->threads[i].clock == clock && who->participant_of[i] != NO_PARTICIPANT)
			add_member(timeline, i, periods, who);
	timeline->leaps = leaps && timeline->nmembers > 2;
	timeline->runs_on = timeline->seeks = leaps;
	count_all(timeline);
	timeline->is_alone = leaps && timeline->nmembers == 1;
	if (timeline->is_alone)
		set_says(timeline);
	return timeline;
}

void timeline_close(struct timeline *timeline)
{
	if (!timeline)
		return;
	timeline_close(timeline->slow);
	for (size_t i = 0; i < timeline->nmembers; i++)
		period_cursor_close(&timeline->members[i].periods);
	free(timeline->members);
	free(timeline->participants);
	free(timeline->ids);
	merge_close(&timeline->ends);
	free(timeline->merged);
	free(timeline);
}

/* ---- Sites that were left for later ---------------------------------------------------------- */

/* Goes on from a moment before which all changes are in a known order with all others. */
static void seek(struct timeline *timeline, uint64_t stamp)
{
	for (size_t i = 0; i < timeline->nmembers; i++)
		while (timeline->members[i].now.to <= stamp)
			next_period(&timeline->members[i]);
	for (size_t a = 0; a < timeline->nparticipants; a++)
		timeline->participants[a].site = TIMELINE_SITE_LATER;
	timeline->stamp = stamp;
	timeline->turned = NULL;
	timeline->open.says = SAYS_NOTHING;
	count_all(timeline);
}

static uint32_t look_up(struct timeline *timeline, const struct timeline_segment *of)
{
	struct timeline_segment found = { .from = PERIOD_BEFORE };
	if (!timeline->slow)
		timeline->slow = timeline_open(timeline->trace, timeline->clock, timeline->periods, timeline->all, false);
	if (timeline->seeks && of->since > timeline->slow->stamp)
		seek(timeline->slow, of->since);
	while (timeline_next(timeline->slow, &found) && (found.from < of->from || found.to < of->to))
		;
	assert(found.from == of->from && found.to == of->to && found.alone == of->alone);
	return found.site;
}

/* Who has worked for long may have begun before what was passed over for another one: then all is followed. */
uint32_t timeline_site(struct timeline *timeline, const struct timeline_segment *of)
{
	uint32_t site = look_up(timeline, of);
	if (site != TIMELINE_SITE_LATER)
		return site;
	timeline_close(timeline->slow);
	timeline->slow = NULL;
	timeline->seeks = false;
	return look_up(timeline, of);
}

const uint32_t *timeline_participants(const struct timeline *timeline, size_t *count)
{
	*count = timeline->nparticipants;
	return timeline->ids;
}

/* SPDX-License-Identifier: MIT
 *
 * timeline.h - all participants of one clock, seen as one: when do they all wait, when does one work alone?
 *
 * An *participant* is a thread, or all threads of a process taken together: it works while one of its
 * threads works, and waits while none works and every thread of it that ever waits or is gone does so
 * or is gone. (Who is gone is not waited for; only so has a thread a score that goes on when all others have
 * ended.) Threads that never work and never wait (helpers) take no part; a participant of such
 * threads does not exist. Where records are lost it may not be known whether a thread ever waits:
 * then in time of which it is known that it neither worked nor waited it may keep others from
 * waiting, or not take part.
 *
 * In unclassified time a thread does neither. Or else a timeline is opened for *any choice* of what
 * threads did then: whatever part of it one worked or waited, in whatever part it did neither, and
 * so took part or did not, is among the choices of states below.
 *
 * Stamps of one clock are in a known order, up to one tick, and up to the width by which its cores
 * may differ. So whatever the number of threads, a clock is summed up without any error by
 * segments, each between two of its stamps, in which
 *   - all participants may wait, or
 *   - `alone` may work while all others wait; ANY_PARTICIPANT when several participants may each be that
 *     one,
 * or both, when states are not known. A segment is *certain* when it says what is true for every
 * choice of states; then it says only one of the two. Changes of several threads in unknown order
 * become a segment from the first of their stamps to the last; unless a certain segment goes on through them, because
 * what it says is true in every order.
 *
 * Law: at each moment, what is true of the participants of this clock is said by a segment whose ticks,
 * from its first stamp's to its last stamp's, contain the moment; and what a certain segment says
 * is true from the end of the first tick to the begin of the last. Certain segments of one timeline do
 * not overlap, and segments come in order.
 *
 * Leaping. A thread that surely works, or surely neither waits nor is gone, keeps its participant from waiting until it
 * may do so: through any order of changes between such states. While two participants are kept so, no segment says
 * anything, whatever the others do; and while a thread of the only participant surely works, all that is said is that this
 * one works. Changes until then are stepped over, thread by thread, without the merge. Nothing changes by that, to the bit:
 * only changes that are in a known order with all that are not stepped over are. Where one works, of several threads, hangs
 * on all of its changes: of the few segments of which that is wanted, it is looked up where nothing is stepped over
 * (timeline_site()).
 *
 * A change that leaves its participant what it was, as most do where one is many threads, changes at most where it works:
 * the sweep runs on through such changes without looking at what is said.
 *
 * Nor does anything change where one thread is alone on its clock: its states say all, and nothing is counted or merged.
 *
 * Cost: there are counts of participants by state, so a change of a thread costs O(log threads), for the
 * merge; and one that is stepped over a few ns. */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include "analysis/states/periods.h"

#define NO_PARTICIPANT UINT32_MAX
#define ANY_PARTICIPANT (UINT32_MAX - 1)

struct timeline_segment {
	uint64_t from, to;   /* stamps, or PERIOD_BEFORE, PERIOD_AFTER */
	bool all_wait;       /* may be true */
	uint32_t alone;      /* participant who may work alone; or NO_PARTICIPANT, ANY_PARTICIPANT */
	bool certain;
	uint32_t site;       /* where `alone` works; or TIMELINE_SITE_LATER, for timeline_site() */
	uint64_t since;      /* where that looks from: no change before is in unknown order with one behind, and before
				the segment `alone` has begun to work */
};
#define TIMELINE_SITE_LATER (UINT32_MAX - 5) /* no site */

/* Which threads take part as what; indices are those of the trace's threads. */
struct participants {
	uint32_t *participant_of; /* each thread's participant; NO_PARTICIPANT: takes no part */
	bool *waits;         /* threads that ever wait, or are gone, or may do so */
	bool *idles;         /* those of which that is known */
	uint32_t *clock_of;  /* each participant's clock */
	uint64_t *between;   /* ticks of it in which the participant may have done something else than its periods say */
	uint32_t nparticipants;
	bool any;            /* for any choice of what threads did in unclassified time */
};

struct timeline; /* of one clock */

/* NULL when no participant lives on this clock. Without `leaps` every change is counted: what tests hold the others
 * against. */
struct timeline *timeline_open(const struct trace *, uint32_t clock, const struct periods *,
			       const struct participants *, bool leaps);
/* The next ones, as many as there is room for. 0 when there are no more. */
size_t timeline_segments(struct timeline *, struct timeline_segment *, size_t room);
void timeline_close(struct timeline *);

/* Of a segment that was given, and not before the last one that this was asked of. */
uint32_t timeline_site(struct timeline *, const struct timeline_segment *);

/* The participants of this timeline. */
const uint32_t *timeline_participants(const struct timeline *, size_t *count);

#endif

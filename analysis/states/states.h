/* SPDX-License-Identifier: MIT
 *
 * states.h - what a thread does over time: it works, it waits, or something else.
 *
 * A thread is in every site on its stack. Sites of the role *work* and *wait* decide its state, and
 * of those the innermost; all others are looked through. So a barrier inside a region is waiting, a
 * helper region inside a chosen --work region is working, and so is a send that only begins. A
 * sleep, and reading a file, is the thread's own time; only who sleeps until a given moment neither works nor waits, and
 * whose sleep was ended by a signal may have waited for that. Who has a command run (system), or all streams written out,
 * may work or wait. A
 * blocking send (MPI_Send, MPI_Ssend, MPI_Rsend) waits: of a long message for its receiver.
 *
 * Who asks again and again in vain (MPI_Test, ...) waits, too. What it does between one attempt and the next is no
 * waiting for certain: where that is most of the time it may wait or do what it did before; where it is not, it waits, and
 * `between` is the time for which that may be wrong. Who does not ask for a while, or sleeps, and then asks again, may wait
 * or not.
 *
 * Who sleeps three times and more in a row at one place, in no region that the user marked, with no more between two
 * sleeps than the longest before took, and nothing but looks (retry.h), may look for what others do in between, or
 * sleep for itself: it works or waits. So does who sleeps between two waits of which the first ended with nothing. Where these
 * sleeps are until moments it waits, or does neither.
 *
 * Who waits with a time limit and is ended by that alone has waited for nobody that is known: it waits, or does what it did
 * before. So does who yields.
 *
 * Outside of all these sites a thread works too if its process has no region that the user marked. With
 * marks, what a thread does outside of them is *unclassified*: it may work there or wait, and there is
 * no telling; nor can anybody where sites are missing, which may be marks. (When the user names the
 * region of work, all else is neither work nor unclassified.)
 *
 * A thread that recorded when it began and when it ended is *gone* before and after that: it neither waits nor is
 * waited for. So is a thread of a team before its first one; after its last one it waits for another. The first thread
 * of a process is there from when the process began, and waits in MPI_Init, whatever region that is in; before, the
 * child of a fork is gone, and of another process it is unknown. Any other thread without a recorded begin may have
 * been there before its first event. After its last event a thread goes on until its end, and when its process ended in
 * good order it is gone after that. One that was killed, or still runs, or of which no end is known (the text form has
 * none), may go on, or be gone.
 *
 * A period is a stretch between two events of the thread in which it *may* be in any of a set of
 * states; a set of one is certain. Periods of one thread follow each other without gaps, from
 * PERIOD_BEFORE (it has recorded nothing yet) to PERIOD_AFTER (nor will it any more).
 *
 * Law: the true state at any moment is in the set of the period in which the moment falls, but for moments of which there
 * are no more than `between` in all, in which the thread may do something else. Where
 * records are missing, the set grows:
 *   - before and after lost records nothing is known until a site of a role is entered, and again when it
 *     is left, or something else is that was entered before: what was below it on the stack is gone;
 *   - a site that cannot be found may be of any role;
 *   - what was left without an exit, by a jump, may be left at any time before something around it is
 *     (trace_jumps.h);
 *   - a thread that ends inside of something may have been killed there, or may be there still. */
#ifndef ANALYSIS_STATES_H
#define ANALYSIS_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/states/roles.h"

#define PERIOD_BEFORE UINT64_C(0)
#define PERIOD_AFTER  UINT64_MAX

struct period {
	uint64_t from, to; /* stamps, or PERIOD_BEFORE, PERIOD_AFTER */
	uint8_t may;       /* never 0 */
	uint32_t site;     /* that gave the state for the longest stretch; TR_OUTSIDE, or TR_NO_SITE */
};

struct thread_state { uint32_t may, site; };
static inline bool states_same(struct thread_state x, struct thread_state y)
{
	return x.may == y.may && x.site == y.site;
}

/* From a stamp on, without an event. */
struct state_change { uint64_t stamp; struct thread_state now; };
#define CHANGES 4

struct period_begin { uint64_t from; uint32_t site; uint8_t may; };

struct states {
	const struct roles *roles;
	struct tr_cursor events;
	struct thread_state outside;/* of all sites of a role */
	struct state_change begin[CHANGES]; /* before the first event: from `next` on they are to come */
	unsigned nbegin, next;
	uint64_t init[2];    /* MPI_Init behind the first event: from `inits` on they are to come */
	unsigned inits;
	struct thread_state before_init;
	bool in_team;        /* the ENTER of a team's join was that of a thread which leaves it */
	bool idle;           /* it has left: */
	struct thread_state after_idle;
	size_t asking;       /* depth of an attempt that is in vain; 0: there is none. In it, now and then, */
	uint8_t else_may;    /* the thread may do that */
	uint64_t between;    /* for how many ticks it did so, in states that do not say it */
	size_t pause;        /* it asks again, or sleeps before it does, so many events on; or 0. It may wait until then, ... */
	struct thread_state but_for_pause;
	bool behind_attempt; /* ... as it does behind an attempt in vain */
	bool polls;          /* the sleep before was one of a loop's that may ask for something (retry.h): */
	uint32_t sleep_site; /* it, ... */
	uint64_t sleep_from, sleep_longest; /* ... and what the longest of that row took */
	uint64_t slept;      /* ticks in sleeps of which that is so */
	size_t row;          /* of waits that their time limits ended (retry.h): it is over so many events on, or 0: there is none; ... */
	bool told;           /* ... then by another; ... */
	uint32_t row_site;   /* ... there */
	size_t expires;      /* depth of a wait that nobody ended but its time limit; 0: there is none */
	uint64_t expires_from, expired; /* since when; ticks in such waits, */
	uint32_t expired_site; /* and the last of them */
	struct replay replay;
	struct thread_state *before; /* each of its entries was entered */
	size_t room;
	struct thread_state now;
	bool lost;           /* what is below all of its entries is not known; */
	bool forgot;         /* since the last event */
	uint64_t recorded_lost;
	uint64_t unmatched;  /* exits that did not fit the stack */
	uint64_t last;       /* stamp of the last event */
	struct period period;/* that is being put together */
	uint64_t stretch_from, stretch; /* of one site in it, and the longest so far */
	struct places_found *within; /* where the places of periods of work that have several are put; NULL: nowhere */
	bool begun;          /* its first event has been given */
	bool over, ended;    /* all events have been given; all periods have */
	struct tr_columns ahead; /* events at hand, for states_periods(): ... */
	size_t ahead_from;   /* ... the number of the first of them */
};

void states_open(struct states *, const struct trace *, size_t thread, const struct roles *);

/* The next periods: where each begins, the site in which it was longest and the states; as many as there is room for, and
 * in *to where the last one of them ends. 0 when there are no more. */
size_t states_periods(struct states *, struct period_begin *, size_t room, uint64_t *to);
#define PERIODS_AT_ONCE 256 /* enough room */

struct places_found { struct tr_writer *writer; size_t n; struct period_begin at[PERIODS_AT_ONCE]; };

/* The i-th of n that were given so. */
static inline struct period states_period(const struct period_begin *begin, size_t n, size_t i, uint64_t to)
{
	return (struct period){ begin[i].from, i + 1 < n ? begin[i + 1].from : to, begin[i].may, begin[i].site };
}

/* Likewise event by event: the state from `last` on is `now`, after an event and after a moment in which it
 * changes without one. After the last of these nothing is recorded any more. */
enum states_step { STATES_END, STATES_EVENT, STATES_MOMENT };
enum states_step states_step(struct states *, struct tr_event *);
void states_close(struct states *);

#endif

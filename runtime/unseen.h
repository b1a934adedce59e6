/* SPDX-License-Identifier: MIT
 *
 * unseen.h - for how long threads ran of which nothing is recorded: those that a library made which was compiled
 * without dprof, or that were made past the C library.
 *
 * The kernel counts what processor time the process took, with all threads that ended, and what each of its threads
 * took. What is left when recorded threads and dprof's own are taken away was theirs. Those of a library whose
 * operations are recorded (MPI's) are counted as dprof's own (adapter.h). The kernel's count goes on across exec():
 * threads that the exec ended are not of this program.
 *
 * Law: what is said is no less than that. It is more by what recorded threads took at their very end, when they were
 * asked for the last time, and while the clocks of those that run were read. */
#ifndef RUNTIME_UNSEEN_H
#define RUNTIME_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

/* When recording begins. What was counted of threads that have ended by then is left out; where there may be several
 * threads now, nothing is. */
void dprof_unseen_begin(void);

/* The calling thread is dprof's own, from here to there. */
void dprof_unseen_own_begins(void);
void dprof_unseen_own_ends(void);

/* For the helper: a line in the process file, if there is more to say than before. And when the process ends, in any case. */
void dprof_unseen_look(uint64_t now);
void dprof_unseen_say(void);

/* In the child of a fork. */
void dprof_unseen_forget(void);

#endif

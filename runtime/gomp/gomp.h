/* SPDX-License-Identifier: MIT
 *
 * gomp.h - the parts of the adapter for GCC's OpenMP.
 *
 *   teams.c     teams of threads: how they begin and end
 *   barriers.c  barriers, also those of other constructs
 *   tasks.c     tasks: who makes them, who runs them, who waits for them
 *   waits.c     operations in which a thread may be given tasks to run
 *   worksharing.c  constructs whose parts are given out as they run
 *   doacross.c  iterations that wait for other iterations
 *   target.c    what runs in place of a target device
 *   locks.c     critical sections, ordered ones, atomic ones, OpenMP's locks
 *
 * Linked only into programs that call libgomp, before it. Not recorded, since no thread waits there for
 * others: *_end_nowait, GOMP_taskyield, reductions being registered. */
#ifndef RUNTIME_GOMP_H
#define RUNTIME_GOMP_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/adapter.h"
#include "runtime/next.h"

#define SITE(s) ((const struct dprof_site *)&(s))

/* libgomp's function of that name. */
#define REAL(name) ((__typeof__(&name))NEXT_FUNCTION(#name, __typeof__(name)))

/* Is the call of the exported function in which this stands to be recorded? */
#define IS_OURS (dprof_adapter_recording() && dprof_adapter_is_ours(__builtin_return_address(0)))

/* At which site; NULL: it is not to be. */
#define SITE_OF_CALL(site) dprof_adapter_site(SITE(site), __builtin_return_address(0))

/* ---- waits.c ---------------------------------------------------------------------------------- */

/* An operation, on the stack of whoever waits in it. libgomp lets the thread run tasks there: then it is
 * left for the time of the task, and entered again (format.h). */
struct waiting {
	const struct dprof_site *site;
	struct dprof_arguments arguments;
	bool entered;              /* else it is recorded only when a task is run in it, or */
	struct dprof_moment since; /* at its end, as entered at that moment */
	uint64_t until;            /* it is over when this task begins */
	struct waiting *around;
};

/* One for something that has a number. */
static inline __attribute__((always_inline)) struct waiting waiting_for(const struct dprof_site *site,
									 enum dprof_key key, uint64_t value)
{
	struct waiting w;

	w.site = site;
	w.entered = false;
	w.since = (struct dprof_moment){ 0, NULL };
	w.until = 0;
	w.around = NULL;
	w.arguments.words = 0;
	dprof_say(&w.arguments, key, value);
	return w;
}

/* From one of the first three to wait_end the calling thread waits. */
void wait_enter(struct waiting *);      /* records the ENTER */
void wait_begin(struct waiting *);      /* it was recorded, or will be later, as of `since`, ... */
void wait_from_now(struct waiting *);   /* ... which is now */
void wait_end(struct waiting *);        /* does not record the EXIT */
void wait_late(struct waiting *);       /* records its ENTER, if it was not recorded yet */

/* The thread begins and ends a task: the operation that it is in, if it is in one. */
struct waiting *wait_leave_for(uint64_t task);
void wait_return(struct waiting *, uint64_t task);

/* A thread that has left its team runs tasks until the team is at its end: `w` is how it left, and when. */
void wait_idle(const struct waiting *w, uint64_t since);
struct dprof_moment wait_idle_end(void); /* since when it has been idle */

/* ---- teams.c ---------------------------------------------------------------------------------- */

/* The team that the calling thread is in, and the number of its next barrier. */
struct team_place {
	uint64_t group, barriers;
	uint64_t gone_on, in_taskgroup, pieces; /* worksharing.c */
	const uint64_t *had;      /* likewise: the end of what was recorded of the last of them, */
	bool small;               /* of a kind of which there may be any number */
	unsigned loops;           /* likewise: how many a doacross iteration is of; 0: not seen */
};
extern __thread struct team_place team_place;

/* ---- locks.c ---------------------------------------------------------------------------------- */

/* The calling thread is through with its iterations of an ordered loop: before libgomp is told, by this caller; and behind that. */
struct dprof_moment ordered_pass(const void *caller);
void ordered_passed(struct dprof_moment since);

/* ---- worksharing.c ---------------------------------------------------------------------------- */

/* The calling thread begins with a loop of its team that is not static, or with sections; with one that is given out in pieces of
 * several iterations; with what the environment says of the schedule; and with a `single`. */
void worksharing_begin(void);
void worksharing_begin_pieces(void);
void worksharing_begin_by_environment(void);
void worksharing_begin_single(void);

/* ---- tasks.c ---------------------------------------------------------------------------------- */

/* What the calling thread does is part of this task; 0: it has no number yet. */
struct taskgroup { uint64_t number; struct taskgroup *around; };
struct task {
	uint64_t number;
	bool has_children;
	bool given;                  /* a body that libgomp runs, maybe when its thread has left the team */
	struct taskgroup *group;
};
extern __thread struct task task_now;

/* The calling thread makes a task, of which others may run nothing yet; with its dependences, or NULL. Returns its number. */
uint64_t task_make(void **depend);

/* It waits from now on for what its task depends on, until that task is run, by wait_leave_for(), or to wait_end(). */
void task_begin_waiting(struct waiting *, uint64_t task);

/* From one to the other the calling thread waits as a task with these dependences would, of which nothing is run, if it may
 * have to. */
bool task_depends(struct waiting *, const struct dprof_site *, void **depend);
void task_depended(struct waiting *);

/* The site of such a call; NULL: it is not to be recorded. */
const struct dprof_site *task_wait_site(const void *caller);

/* The calling thread makes a task of which nothing is run. */
void task_make_nothing(void **depend);

/* ---- teams.c, for target.c -------------------------------------------------------------------- */

/* From one to the other the calling thread runs what is outside of all teams, and opens other teams than before. */
struct teams { uint64_t group, teams, barriers; unsigned size; };
struct teams_host { struct teams last; struct team_place place; struct task task; };
struct teams_host teams_on_host(void);
void teams_off_host(struct teams_host);

#endif

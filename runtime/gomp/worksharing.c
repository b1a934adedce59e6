/* SPDX-License-Identifier: MIT
 *
 * worksharing.c - constructs whose parts are given to whichever thread asks first.
 *
 *   POINT dynamic loop group       the thread begins with a loop whose schedule is not static, or with sections
 *   POINT dynamic loop group seq   it has its seq-th piece of that, from 0, which may be of several iterations; or
 *                                  there is none left
 *   POINT single group             it comes to a `single`, which whoever comes first runs
 *   POINT cancellation point group tag=0  it goes on, and would not if another thread had cancelled the construct: once before
 *                                         each barrier. Without a tag: recorded when nothing was of cancelled loops or taskgroups
 *   POINT cancellation point group tag=1  it cancels a loop or sections: who is told that comes to the barrier behind them
 *   POINT cancellation point group tag=2  as 0, but of a taskgroup: who is told that goes on behind its task
 *   POINT cancellation point [group] tag=3  it cancels a taskgroup: of its tasks none begins any more. Who has left its team runs
 *                                         tasks, too, and says no group
 *   POINT cancellation point group role=1 it cancels the region: from here on not all of the team come to its barriers
 *
 * Which thread does what from there to the team's next barrier may be otherwise in another run. Of parts that are single iterations
 * or sections there is no end: one in which nothing was recorded counts as part of the next. A combined construct
 * (GOMP_parallel_loop_dynamic) is begun by teams.c.
 *
 * What libgomp calls a schedule: 0 the one that the environment gives, 1 static, others are dynamic. */
#include <omp.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_loop, DPROF_KIND_FORK, "dynamic loop");
DPROF_SITE_OF(site_single, DPROF_KIND_FORK, "single");

DPROF_SITE_OF(site_cancellation, DPROF_KIND_FORK, "cancellation point");

enum { BY_ENVIRONMENT, STATIC, DYNAMIC, GUIDED };
enum { CANCEL_PARALLEL = 1, CANCEL_LOOP = 2, CANCEL_SECTIONS = 4, CANCEL_TASKGROUP = 8 }; /* likewise: of what is cancelled */
enum { GOES_ON, CANCELS, GOES_ON_IN_TASKGROUP, CANCELS_TASKGROUP };

static void say_more(const struct dprof_site *site, struct dprof_arguments *a)
{
	if (!team_place.group || !dprof_adapter_wanted(DPROF_KIND_FORK))
		return;
	dprof_say(a, DPROF_KEY_GROUP, team_place.group);
	dprof_adapter_record(site, DPROF_POINT, dprof_adapter_now(), a);
}

static void say(const struct dprof_site *site)
{
	struct dprof_arguments a = { 0 };

	say_more(site, &a);
}

/* team_place.pieces: how many it has had, and 1; or 0. `small`: they are single iterations or sections. */
static void begin(bool small)
{
	team_place.pieces = 1;
	team_place.small = small;
	say(SITE(site_loop));
	team_place.had = NULL;
}

void worksharing_begin(void)
{
	begin(true);
}

void worksharing_begin_pieces(void)
{
	begin(false);
}

void worksharing_begin_by_environment(void)
{
	omp_sched_t schedule;
	int chunk;

	omp_get_schedule(&schedule, &chunk);
	schedule &= ~omp_sched_monotonic;
	if (schedule == omp_sched_dynamic && chunk <= 1)
		worksharing_begin();
	else if (schedule != omp_sched_static)
		worksharing_begin_pieces();
}

static void have_piece(bool more)
{
	struct dprof_arguments a = { 0 };

	if (!team_place.pieces || !team_place.group || !dprof_adapter_wanted(DPROF_KIND_FORK))
		return;
	if (team_place.small && team_place.had == dprof_adapter_place())
		return;
	dprof_say(&a, DPROF_KEY_GROUP, team_place.group);
	dprof_say(&a, DPROF_KEY_SEQ, team_place.pieces - 1);
	dprof_adapter_record(SITE(site_loop), DPROF_POINT, dprof_adapter_now(), &a);
	team_place.pieces = more ? team_place.pieces + 1 : 0;
	team_place.had = dprof_adapter_place();
}

void worksharing_begin_single(void)
{
	say(SITE(site_single));
}

static inline void begin_loop(const void *caller, long schedule, unsigned long long chunk)
{
	team_place.pieces = 0;
	if (!dprof_adapter_recording() || !dprof_adapter_is_ours(caller))
		return;
	schedule &= 0xff; /* without its modifiers */
	if (schedule == BY_ENVIRONMENT)
		worksharing_begin_by_environment();
	else if (schedule == DYNAMIC && chunk <= 1)
		worksharing_begin();
	else if (schedule != STATIC)
		worksharing_begin_pieces();
}

/* How many iterations wait for others by (doacross.c). */
static inline long keep_loops(unsigned loops, long schedule)
{
	team_place.loops = loops;
	return schedule;
}

/* `schedule` and `chunk` are among the parameters, or known. */
#define START(result, name, schedule, chunk, parameters, arguments)          \
	DPROF_EXPORT result name parameters;                                 \
	DPROF_EXPORT result name parameters                                  \
	{                                                                    \
		result has;                                                  \
                                                                             \
		begin_loop(__builtin_return_address(0), (long)(schedule), (unsigned long long)(chunk)); \
		has = REAL(name) arguments;                                  \
		have_piece(has);                                             \
		return has;                                                  \
	}
#define NEXT(name, type)                                                     \
	DPROF_EXPORT bool name(type *first, type *end);                      \
	DPROF_EXPORT bool name(type *first, type *end)                       \
	{                                                                    \
		bool has = REAL(name)(first, end);                           \
                                                                             \
		have_piece(has);                                             \
		return has;                                                  \
	}

/* The turn of an ordered loop goes on here. */
#define NEXT_IN_TURN(name, type)                                             \
	DPROF_EXPORT bool name(type *first, type *end);                      \
	DPROF_EXPORT bool name(type *first, type *end)                       \
	{                                                                    \
		struct dprof_moment since = ordered_pass(__builtin_return_address(0)); \
		bool has = REAL(name)(first, end);                           \
                                                                             \
		ordered_passed(since);                                       \
		have_piece(has);                                             \
		return has;                                                  \
	}

/* Each kind of loop is there for long and, with a direction before the bounds, for unsigned long long. */
#define BOUNDS(type)   type from, type to, type step
#define BEGUN(type)    type *first, type *end
#define REDUCED        uintptr_t *reductions, void **memory
#define LOOPS(X, schedule, name)                                                                       \
	X(GOMP_loop_##name##_start, schedule, chunk, (BOUNDS(long), long chunk, BEGUN(long)),                 \
	  (from, to, step, chunk, first, end))                                                         \
	X(GOMP_loop_ull_##name##_start, schedule, chunk,                                               \
	  (bool up, BOUNDS(unsigned long long), unsigned long long chunk, BEGUN(unsigned long long)), \
	  (up, from, to, step, chunk, first, end))
#define LOOPS_BY_ENVIRONMENT(X, name)                                                                  \
	X(GOMP_loop_##name##_start, BY_ENVIRONMENT, 0, (BOUNDS(long), BEGUN(long)), (from, to, step, first, end)) \
	X(GOMP_loop_ull_##name##_start, BY_ENVIRONMENT, 0,                                             \
	  (bool up, BOUNDS(unsigned long long), BEGUN(unsigned long long)), (up, from, to, step, first, end))
#define LOOPS_GIVEN(X, name)                                                                           \
	X(GOMP_loop_##name##start, schedule, chunk, (BOUNDS(long), long schedule, long chunk, BEGUN(long), REDUCED), \
	  (from, to, step, schedule, chunk, first, end, reductions, memory))                           \
	X(GOMP_loop_ull_##name##start, schedule, chunk,                                                \
	  (bool up, BOUNDS(unsigned long long), long schedule, unsigned long long chunk,               \
	   BEGUN(unsigned long long), REDUCED),                                                        \
	  (up, from, to, step, schedule, chunk, first, end, reductions, memory))
#define DOACROSS(X, infix, type)                                                                       \
	X(GOMP_loop_##infix##doacross_static_start, STATIC, chunk,                                     \
	  (unsigned n, type *counts, type chunk, BEGUN(type)), (n, counts, chunk, first, end))         \
	X(GOMP_loop_##infix##doacross_dynamic_start, DYNAMIC, chunk,                                   \
	  (unsigned n, type *counts, type chunk, BEGUN(type)), (n, counts, chunk, first, end))         \
	X(GOMP_loop_##infix##doacross_guided_start, GUIDED, chunk,                                     \
	  (unsigned n, type *counts, type chunk, BEGUN(type)), (n, counts, chunk, first, end))         \
	X(GOMP_loop_##infix##doacross_runtime_start, BY_ENVIRONMENT, 0, (unsigned n, type *counts, BEGUN(type)), \
	  (n, counts, first, end))                                                                     \
	X(GOMP_loop_##infix##doacross_start, schedule, chunk,                                          \
	  (unsigned n, type *counts, long schedule, type chunk, BEGUN(type), REDUCED),                 \
	  (n, counts, schedule, chunk, first, end, reductions, memory))

#define LOOP(name, schedule, chunk, parameters, arguments) START(bool, name, schedule, chunk, parameters, arguments)
LOOPS(LOOP, DYNAMIC, dynamic)
LOOPS(LOOP, GUIDED, guided)
LOOPS(LOOP, DYNAMIC, nonmonotonic_dynamic)
LOOPS(LOOP, GUIDED, nonmonotonic_guided)
LOOPS(LOOP, STATIC, ordered_static)
LOOPS(LOOP, DYNAMIC, ordered_dynamic)
LOOPS(LOOP, GUIDED, ordered_guided)
LOOPS_BY_ENVIRONMENT(LOOP, runtime)
LOOPS_BY_ENVIRONMENT(LOOP, ordered_runtime)
LOOPS_BY_ENVIRONMENT(LOOP, nonmonotonic_runtime)
LOOPS_BY_ENVIRONMENT(LOOP, maybe_nonmonotonic_runtime)
LOOPS_GIVEN(LOOP, )
LOOPS_GIVEN(LOOP, ordered_)
#define ACROSS(name, schedule, chunk, parameters, arguments) LOOP(name, keep_loops(n, schedule), chunk, parameters, arguments)
DOACROSS(ACROSS, , long)
DOACROSS(ACROSS, ull_, unsigned long long)
START(unsigned, GOMP_sections_start, DYNAMIC, 1, (unsigned n), (n))
START(unsigned, GOMP_sections2_start, DYNAMIC, 1, (unsigned n, REDUCED), (n, reductions, memory))

#define NEXTS(X, name)                     \
	X(GOMP_loop_##name##_next, long)   \
	X(GOMP_loop_ull_##name##_next, unsigned long long)
NEXTS(NEXT, dynamic)
NEXTS(NEXT, guided)
NEXTS(NEXT, runtime)
NEXTS(NEXT, nonmonotonic_dynamic)
NEXTS(NEXT, nonmonotonic_guided)
NEXTS(NEXT, nonmonotonic_runtime)
NEXTS(NEXT, maybe_nonmonotonic_runtime)
NEXTS(NEXT_IN_TURN, ordered_static)
NEXTS(NEXT_IN_TURN, ordered_dynamic)
NEXTS(NEXT_IN_TURN, ordered_guided)
NEXTS(NEXT_IN_TURN, ordered_runtime)

DPROF_EXPORT unsigned GOMP_sections_next(void);
DPROF_EXPORT unsigned GOMP_sections_next(void)
{
	unsigned has = REAL(GOMP_sections_next)();

	have_piece(has);
	return has;
}

/* gone_on, in_taskgroup: how many barriers there had been when it was last said, and 1. */
static void go_on(int which)
{
	bool taskgroup = which == CANCEL_TASKGROUP;
	uint64_t *said = taskgroup ? &team_place.in_taskgroup : &team_place.gone_on;
	struct dprof_arguments a = { 0 };

	if (!omp_get_cancellation() || *said == team_place.barriers + 1)
		return;
	*said = team_place.barriers + 1;
	dprof_say(&a, DPROF_KEY_TAG, taskgroup ? GOES_ON_IN_TASKGROUP : GOES_ON);
	say_more(SITE(site_cancellation), &a);
}

DPROF_EXPORT bool GOMP_cancellation_point(int which);
DPROF_EXPORT bool GOMP_cancellation_point(int which)
{
	bool cancelled = REAL(GOMP_cancellation_point)(which);
	if (IS_OURS && !cancelled)
		go_on(which);
	return cancelled;
}

static void say_cancelled(int key, uint64_t value)
{
	struct dprof_arguments a = { 0 };

	dprof_say(&a, key, value);
	say_more(SITE(site_cancellation), &a);
}

static void say_cancelled_taskgroup(void)
{
	struct dprof_arguments a = { 0 };

	if (!dprof_adapter_wanted(DPROF_KIND_FORK))
		return;
	if (team_place.group)
		dprof_say(&a, DPROF_KEY_GROUP, team_place.group);
	dprof_say(&a, DPROF_KEY_TAG, CANCELS_TASKGROUP);
	dprof_adapter_record(SITE(site_cancellation), DPROF_POINT, dprof_adapter_now(), &a);
}

DPROF_EXPORT bool GOMP_cancel(int which, bool cancels);
DPROF_EXPORT bool GOMP_cancel(int which, bool cancels)
{
	bool cancelled = REAL(GOMP_cancel)(which, cancels);
	if (IS_OURS && !cancelled)
		go_on(which);
	else if (IS_OURS && which == CANCEL_PARALLEL)
		say_cancelled(DPROF_KEY_ROLE, 1);
	else if (IS_OURS && (which == CANCEL_LOOP || which == CANCEL_SECTIONS))
		say_cancelled(DPROF_KEY_TAG, CANCELS);
	else if (IS_OURS && which == CANCEL_TASKGROUP && cancels)
		say_cancelled_taskgroup();
	return cancelled;
}

DPROF_EXPORT bool GOMP_single_start(void);
DPROF_EXPORT bool GOMP_single_start(void)
{
	if (IS_OURS)
		worksharing_begin_single();
	return REAL(GOMP_single_start)();
}

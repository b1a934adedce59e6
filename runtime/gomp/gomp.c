/* SPDX-License-Identifier: MIT
 *
 * gomp.c - GCC's OpenMP: teams, their barriers, critical sections and locks.
 *
 *   who opens a team  ENTER omp parallel (fork) role=1 ... EXIT body ENTER (join) role=1 ... EXIT
 *   the others        ENTER omp parallel (fork) role=0 ... EXIT body ENTER (join) role=0 EXIT
 *
 * libgomp is called by the code that GCC makes of a construct, and by way of the dynamic linker also
 * here. Each thread of a team is made to run `member`, which records and calls the body. A thread
 * that is no opener begins to wait for its next team when it has left one; of which group that will
 * be is known when it comes, so its ENTER is recorded then and stamped with the moment of waiting.
 *
 * A group stands for a set of threads, and must be known before the team is there. libgomp takes the same
 * threads again for an outermost team of the same size as the one before, so that has the group
 * of the one before; every other team has a new one.
 *
 * Law: the threads of a team record the same group and number at its fork, at its join and at the n-th
 * barrier in between. (OpenMP: all threads of a team come to the same barriers in the same
 * order.) Not seen: who runs which task. */
#include <dlfcn.h>
#include <omp.h>
#include <stddef.h>

#include "runtime/adapter.h"
#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_fork, DPROF_KIND_FORK, "omp parallel");
DPROF_SITE_OF(site_join, DPROF_KIND_JOIN, "omp parallel");
DPROF_SITE_OF(site_barrier, DPROF_KIND_BARRIER, "omp barrier");
DPROF_SITE_OF(site_copy, DPROF_KIND_BARRIER, "omp single copyprivate");
DPROF_SITE_OF(site_taskwait, DPROF_KIND_JOIN, "omp taskwait");

#define SITE(s) ((const struct dprof_site *)&(s))

/* A parallel region, on the stack of its opener. */
struct region {
	void (*body)(void *);
	void *data;
	uint64_t group, number;  /* no group: it is a team of one */
	uint64_t barriers;       /* of the group before this region; its opener adds its own */
};

/* The team that the calling thread is in, and the number of its next barrier. A thread in no team, or
 * in one of its own, has a group of its own as soon as it comes to a barrier. */
struct place { uint64_t group, barriers; };
static __thread struct place in, alone;

/* Teams that it opened as the outermost ones. */
static __thread struct { uint64_t group, teams, barriers; unsigned size; } last;

/* It has been waiting for a team since. */
static __thread struct dprof_moment idle;

/* ---- Teams ------------------------------------------------------------------------------------ */

static void say_team(const struct region *r, bool opener)
{
	struct dprof_argument a[] = {
		{ DPROF_KEY_GROUP, r->group },
		{ DPROF_KEY_SEQ, r->number },
		{ DPROF_KEY_ROLE, opener },
	};

	dprof_adapter_arguments(a, 3);
}

static void enter_team(const struct region *r, bool opener)
{
	if (!opener) {
		dprof_adapter_enter_at(SITE(site_fork), idle);
		say_team(r, opener);
	}
	dprof_adapter_exit(SITE(site_fork));
}

static void leave_team(struct region *r, bool opener)
{
	dprof_adapter_enter(SITE(site_join));
	say_team(r, opener);
	if (opener) {
		r->barriers = in.barriers;
		return;
	}
	dprof_adapter_exit(SITE(site_join));
	idle = dprof_adapter_moment();
}

static void member(void *region)
{
	struct region *r = region;
	struct place outer = in;
	bool opener = omp_get_thread_num() == 0;

	if (r->group)
		enter_team(r, opener);
	in = (struct place){ r->group, r->barriers };
	r->body(r->data);
	if (r->group)
		leave_team(r, opener);
	in = outer;
}

/* As many as it would have; there may be fewer, but not always others. */
static unsigned size_of_team(unsigned threads)
{
	if (omp_get_active_level() >= omp_get_max_active_levels())
		return 1;
	return threads ? threads : (unsigned)omp_get_max_threads();
}

static void choose_group(struct region *r, unsigned size)
{
	if (omp_get_level() > 0) {
		r->group = dprof_adapter_new_group();
		return;
	}
	if (size != last.size || omp_get_dynamic()) {
		last.group = dprof_adapter_new_group();
		last.size = size;
		last.teams = last.barriers = 0;
	}
	r->group = last.group;
	r->number = last.teams++;
	r->barriers = last.barriers;
}

static struct region begin(void (*body)(void *), void *data, unsigned threads)
{
	struct region r = { .body = body, .data = data };
	unsigned size = size_of_team(threads);

	if (size > 1) {
		choose_group(&r, size);
		dprof_adapter_enter(SITE(site_fork));
		say_team(&r, true);
	}
	return r;
}

static void end(const struct region *r)
{
	if (!r->group)
		return;
	dprof_adapter_exit(SITE(site_join));
	if (r->group == last.group)
		last.barriers = r->barriers;
}

/* What stands behind (body, data, threads: parameters, and the same as arguments. */
#define PARALLEL(result, name, parameters, arguments)                                      \
	DPROF_EXPORT result name(void (*body)(void *), void *data, unsigned threads parameters); \
	DPROF_EXPORT result name(void (*body)(void *), void *data, unsigned threads parameters) \
	{                                                                                  \
		if (!IS_OURS)                                                              \
			return REAL(name)(body, data, threads arguments);                  \
		struct region r = begin(body, data, threads);                              \
		CALL_##result(REAL(name)(member, &r, threads arguments))                   \
	}
#define CALL_void(call)     \
	call;               \
	end(&r);
#define CALL_unsigned(call)            \
	unsigned result_of_it = call;  \
	end(&r);                       \
	return result_of_it;
#define AND(...) , __VA_ARGS__

#define LOOP          AND(long start, long stop, long step, unsigned flags)
#define LOOP_GIVEN    AND(start, stop, step, flags)
#define CHUNKED       AND(long start, long stop, long step, long chunk, unsigned flags)
#define CHUNKED_GIVEN AND(start, stop, step, chunk, flags)

PARALLEL(void, GOMP_parallel, AND(unsigned flags), AND(flags))
PARALLEL(unsigned, GOMP_parallel_reductions, AND(unsigned flags), AND(flags))
PARALLEL(void, GOMP_parallel_sections, AND(unsigned count, unsigned flags), AND(count, flags))
PARALLEL(void, GOMP_parallel_loop_static, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_dynamic, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_guided, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_dynamic, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_guided, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_runtime, LOOP, LOOP_GIVEN)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_runtime, LOOP, LOOP_GIVEN)
PARALLEL(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, LOOP, LOOP_GIVEN)

/* ---- Barriers --------------------------------------------------------------------------------- */

static void say_meeting(void)
{
	struct place *p = in.group ? &in : &alone;
	struct dprof_argument a[2];

	if (!p->group)
		p->group = dprof_adapter_new_group();
	a[0] = (struct dprof_argument){ DPROF_KEY_GROUP, p->group };
	a[1] = (struct dprof_argument){ DPROF_KEY_SEQ, p->barriers++ };
	dprof_adapter_arguments(a, 2);
}

/* Returns whether an EXIT is due. A thread alone waits for nobody; the plugin did not know that. */
static bool enter_barrier(bool ours)
{
	bool seen = dprof_adapter_entered(SITE(site_barrier)->strings);
	bool due = !seen && ours && in.group;

	if (due)
		dprof_adapter_enter(SITE(site_barrier));
	if (seen || due)
		say_meeting();
	return due;
}

static void leave_barrier(bool due)
{
	if (due)
		dprof_adapter_exit(SITE(site_barrier));
}

#define BARRIER(name)                              \
	DPROF_EXPORT void name(void);              \
	DPROF_EXPORT void name(void)               \
	{                                          \
		bool due = enter_barrier(IS_OURS); \
                                                   \
		REAL(name)();                      \
		leave_barrier(due);                \
	}
#define BARRIER_CANCEL(name)                       \
	DPROF_EXPORT bool name(void);              \
	DPROF_EXPORT bool name(void)               \
	{                                          \
		bool due = enter_barrier(IS_OURS); \
		bool cancelled = REAL(name)();     \
                                                   \
		leave_barrier(due);                \
		return cancelled;                  \
	}

BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

/* `single copyprivate`: one thread gets NULL at once and meets the others when it is done. */
DPROF_EXPORT void *GOMP_single_copy_start(void);
DPROF_EXPORT void *GOMP_single_copy_start(void)
{
	bool recording = IS_OURS && in.group;
	struct dprof_moment since = dprof_adapter_moment();
	void *copied = REAL(GOMP_single_copy_start)();

	if (recording && copied) {
		dprof_adapter_enter_at(SITE(site_copy), since);
		say_meeting();
		dprof_adapter_exit(SITE(site_copy));
	}
	return copied;
}

DPROF_EXPORT void GOMP_single_copy_end(void *data);
DPROF_EXPORT void GOMP_single_copy_end(void *data)
{
	bool recording = IS_OURS && in.group;

	if (recording) {
		dprof_adapter_enter(SITE(site_copy));
		say_meeting();
	}
	REAL(GOMP_single_copy_end)(data);
	if (recording)
		dprof_adapter_exit(SITE(site_copy));
}

/* ---- Tasks: that somebody waits for them, but not for whom ------------------------------------ */

#define TASKWAIT(name)                                       \
	DPROF_EXPORT void name(void);                        \
	DPROF_EXPORT void name(void)                         \
	{                                                    \
		bool recording = IS_OURS && in.group;       \
                                                             \
		if (recording)                               \
			dprof_adapter_enter(SITE(site_taskwait)); \
		REAL(name)();                                \
		if (recording)                               \
			dprof_adapter_exit(SITE(site_taskwait)); \
	}

TASKWAIT(GOMP_taskwait)
TASKWAIT(GOMP_taskgroup_end)

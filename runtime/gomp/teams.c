/* SPDX-License-Identifier: MIT
 *
 * teams.c - teams of threads.
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
 * of the one before, unless it was asked to end them (omp_pause_resource); every other team has a new one. What
 * runs in place of a target device has threads of its own.
 *
 * Law: the threads of a team record the same group and number at its fork, at its join and at the n-th
 * barrier in between, a number that no other team of that group has. (OpenMP: all threads of a team come to the
 * same barriers in the same order. Where a region is cancelled they do not, and who cancels it says
 * so: worksharing.c.) */
#include <omp.h>
#include <stddef.h>
#include <stdlib.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_fork, DPROF_KIND_FORK, "omp parallel");
DPROF_SITE_OF(site_join, DPROF_KIND_JOIN, "omp parallel end");

#define LINE 64 /* bytes that go from core to core at a time */

/* A parallel region, on the stack of its opener. What the others read has a line of its own: what the opener writes
 * meanwhile does not take that away from them. */
struct parallel_region {
	void *reductions __attribute__((aligned(LINE))); /* which libgomp looks for where the body's data begin */
	void (*body)(void *);
	void *data;
	uint64_t group, number;  /* no group: it is a team of one */
	uint64_t barriers;       /* of the group before this region */
	void (*begin_work)(void); /* worksharing.c's, or NULL */
	const struct dprof_site *site_fork, *site_join;
	uint64_t barriers_after __attribute__((aligned(LINE))); /* of who came to the most: not all do where it is cancelled */
	struct waiting join;     /* of its opener */
};

/* What a thread is part of; in a team that is another place, and another task. */
struct team_part { struct team_place place; struct task task; };

/* A region that GOMP_parallel_start began: its opener runs the body by itself. */
struct opened_region { struct parallel_region region; struct team_part outer;
		       struct opened_region *around; };

__thread struct team_place team_place;
static __thread struct opened_region *opened;

/* Teams that the calling thread opened as the outermost ones. */
static __thread struct teams last;

/* ---- The threads of a team -------------------------------------------------------------------- */

static void operation(struct waiting *w, const struct dprof_site *site,
		      const struct parallel_region *r, bool opener)
{
	w->site = site;
	w->until = 0;
	w->arguments.words = 0;
	dprof_say(&w->arguments, DPROF_KEY_GROUP, r->group);
	dprof_say(&w->arguments, DPROF_KEY_SEQ, r->number);
	dprof_say(&w->arguments, DPROF_KEY_ROLE, opener);
}

/* A thread that was idle. */
static void join_team(const struct parallel_region *r)
{
	struct dprof_moment since = wait_idle_end();
	uint64_t stamp = dprof_adapter_now_fenced();
	struct waiting fork;

	operation(&fork, r->site_fork, r, false);
	if (since.place == dprof_adapter_place()) {
		dprof_adapter_record_visit(fork.site, since.stamp, stamp, &fork.arguments);
		return;
	}
	dprof_adapter_record_enter_late(fork.site, since.stamp, &fork.arguments);
	dprof_adapter_exit(fork.site);
}

static struct team_part enter_team(const struct parallel_region *r, bool opener)
{
	struct team_part outer = { team_place, task_now };

	if (r->group && opener)
		dprof_adapter_exit(r->site_fork);
	else if (r->group)
		join_team(r);
	team_place = (struct team_place){ .group = r->group, .barriers = r->barriers };
	task_now = (struct task){ 0 };
	return outer;
}

static void note_barriers(struct parallel_region *r)
{
	uint64_t most;

	if (team_place.barriers == r->barriers)
		return;
	most = __atomic_load_n(&r->barriers_after, __ATOMIC_RELAXED);
	while (most < team_place.barriers &&
	       !__atomic_compare_exchange_n(&r->barriers_after, &most, team_place.barriers, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Who is no opener does not wait here, so that one stamp is enough. */
static void leave_team(struct parallel_region *r, bool opener, struct team_part outer)
{
	struct waiting join;
	uint64_t left_at;

	note_barriers(r);
	team_place = outer.place;
	task_now = outer.task;
	if (!r->group)
		return;
	if (opener) {
		operation(&r->join, r->site_join, r, opener);
		wait_enter(&r->join);
		return;
	}
	left_at = dprof_adapter_now();
	operation(&join, r->site_join, r, opener);
	dprof_adapter_record_visit(join.site, left_at, left_at, &join.arguments);
	wait_idle(&join, left_at);
}

static void member(void *region)
{
	struct parallel_region *r = region;
	bool opener = omp_get_thread_num() == 0;
	struct team_part outer = enter_team(r, opener);

	if (r->begin_work)
		r->begin_work();
	r->body(r->data);
	leave_team(r, opener, outer);
}

/* ---- Their opener ----------------------------------------------------------------------------- */

/* As many as it will have, if that does not change at will. */
static unsigned size_of_team(unsigned threads)
{
	unsigned limit = (unsigned)omp_get_thread_limit();

	if (omp_get_active_level() >= omp_get_max_active_levels())
		return 1;
	threads = threads ? threads : (unsigned)omp_get_max_threads();
	return threads < limit ? threads : limit;
}

static void choose_group(struct parallel_region *r, unsigned size)
{
	if (omp_get_level() > 0) {
		r->group = dprof_adapter_new_group();
		return;
	}
	if (size != last.size || omp_get_dynamic())
		last = (struct teams){ .group = dprof_adapter_new_group(), .size = size };
	r->group = last.group;
	r->number = last.teams++;
	r->barriers = r->barriers_after = last.barriers;
}

/* The threads that libgomp kept for the calling thread's next team may be no more. */
#define PAUSE(name, parameters, arguments)                \
	DPROF_EXPORT int name parameters;                 \
	DPROF_EXPORT int name parameters                  \
	{                                                 \
		int result = REAL(name) arguments;        \
                                                          \
		last = (struct teams){ 0 };               \
		return result;                            \
	}

PAUSE(omp_pause_resource, (omp_pause_resource_t kind, int device), (kind, device))
PAUSE(omp_pause_resource_, (const int32_t *kind, const int32_t *device), (kind, device))
PAUSE(omp_pause_resource_all, (omp_pause_resource_t kind), (kind))
PAUSE(omp_pause_resource_all_, (const int32_t *kind), (kind))

/* The plugin puts the site of the join behind that of the fork. */
static const struct dprof_site *join_behind(const struct dprof_site *fork)
{
	return fork == SITE(site_fork) ? SITE(site_join)
				       : (const struct dprof_site *)((const char *)fork + fork->size);
}

static void begin(struct parallel_region *r, void (*body)(void *), void *data, unsigned threads, void (*begin_work)(void),
		  const struct dprof_site *site)
{
	unsigned size = size_of_team(threads);
	struct waiting fork;

	r->body = body;
	r->data = data;
	r->begin_work = begin_work;
	r->site_fork = site;
	r->site_join = join_behind(site);
	r->group = r->number = r->barriers = r->barriers_after = 0;
	if (size <= 1)
		return;
	choose_group(r, size);
	operation(&fork, site, r, true);
	dprof_adapter_record(fork.site, DPROF_ENTER, 0, &fork.arguments);
}

static void end(struct parallel_region *r)
{
	if (!r->group)
		return;
	wait_end(&r->join);
	dprof_adapter_exit(r->join.site);
	if (r->group == last.group)
		last.barriers = r->barriers_after;
}

/* What stands behind (body, data, threads: parameters, and the same as arguments. Where a result is given, libgomp reads where
 * the data begin. */
#define PARALLEL(result, name, work, parameters, arguments)                                      \
	DPROF_EXPORT result name(void (*body)(void *), void *data, unsigned threads parameters); \
	DPROF_EXPORT result name(void (*body)(void *), void *data, unsigned threads parameters) \
	{                                                                                  \
		const struct dprof_site *site = SITE_OF_CALL(site_fork);                   \
                                                                                           \
		if (!site)                                                                 \
			return REAL(name)(body, data, threads arguments);                  \
		struct parallel_region r;                                                  \
		r.reductions = HEAD_##result(data);                                        \
		begin(&r, body, data, threads, work, site);                                \
		CALL_##result(REAL(name)(member, &r, threads arguments))                   \
	}
#define HEAD_void(data)     NULL
#define HEAD_unsigned(data) (*(void **)(data))
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
#define WITH_CHUNK    (chunk > 1 ? worksharing_begin_pieces : worksharing_begin)

PARALLEL(void, GOMP_parallel, NULL, AND(unsigned flags), AND(flags))
PARALLEL(unsigned, GOMP_parallel_reductions, NULL, AND(unsigned flags), AND(flags))
PARALLEL(void, GOMP_parallel_sections, worksharing_begin, AND(unsigned count, unsigned flags), AND(count, flags))
PARALLEL(void, GOMP_parallel_loop_static, NULL, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_dynamic, WITH_CHUNK, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_guided, worksharing_begin_pieces, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_dynamic, WITH_CHUNK, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_guided, worksharing_begin_pieces, CHUNKED, CHUNKED_GIVEN)
PARALLEL(void, GOMP_parallel_loop_runtime, worksharing_begin_by_environment, LOOP, LOOP_GIVEN)
PARALLEL(void, GOMP_parallel_loop_nonmonotonic_runtime, worksharing_begin_by_environment, LOOP, LOOP_GIVEN)
PARALLEL(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, worksharing_begin_by_environment, LOOP, LOOP_GIVEN)

/* ---- As GCC before 4.9 does it ----------------------------------------------------------------
 *
 * The opener calls _start, then the body, then GOMP_parallel_end. The other threads may run for as
 * long as that takes, so the region is not on a stack. */
static void start(struct opened_region *o)
{
	o->around = opened;
	o->outer = enter_team(&o->region, true);
	opened = o;
}

#define PARALLEL_START(name, parameters, arguments)                                        \
	DPROF_EXPORT void name(void (*body)(void *), void *data, unsigned threads parameters); \
	DPROF_EXPORT void name(void (*body)(void *), void *data, unsigned threads parameters) \
	{                                                                                  \
		struct opened_region *o = IS_OURS ? aligned_alloc(LINE, sizeof(*o)) : NULL; \
                                                                                           \
		if (!o) {                                                                  \
			REAL(name)(body, data, threads arguments);                         \
			return;                                                            \
		}                                                                          \
		begin(&o->region, body, data, threads, NULL, SITE(site_fork));             \
		REAL(name)(member, &o->region, threads arguments);                         \
		start(o);                                                                  \
	}

#define OLD_LOOP          AND(long from, long to, long step)
#define OLD_LOOP_GIVEN    AND(from, to, step)
#define OLD_CHUNKED       AND(long from, long to, long step, long chunk)
#define OLD_CHUNKED_GIVEN AND(from, to, step, chunk)

PARALLEL_START(GOMP_parallel_start, , )
PARALLEL_START(GOMP_parallel_sections_start, AND(unsigned count), AND(count))
PARALLEL_START(GOMP_parallel_loop_static_start, OLD_CHUNKED, OLD_CHUNKED_GIVEN)
PARALLEL_START(GOMP_parallel_loop_dynamic_start, OLD_CHUNKED, OLD_CHUNKED_GIVEN)
PARALLEL_START(GOMP_parallel_loop_guided_start, OLD_CHUNKED, OLD_CHUNKED_GIVEN)
PARALLEL_START(GOMP_parallel_loop_runtime_start, OLD_LOOP, OLD_LOOP_GIVEN)

DPROF_EXPORT void GOMP_parallel_end(void);
DPROF_EXPORT void GOMP_parallel_end(void)
{
	struct opened_region *o = opened;

	if (o)
		leave_team(&o->region, true, o->outer);
	REAL(GOMP_parallel_end)();
	if (!o)
		return;
	end(&o->region);
	opened = o->around;
	free(o);
}

/* ---- In place of a target device -------------------------------------------------------------- */

struct teams_host teams_on_host(void)
{
	struct teams_host h = { last, team_place, task_now };

	last = (struct teams){ 0 };
	team_place = (struct team_place){ 0 };
	task_now = (struct task){ 0 };
	return h;
}

void teams_off_host(struct teams_host h)
{
	last = h.last;
	team_place = h.place;
	task_now = h.task;
}

/* SPDX-License-Identifier: MIT
 *
 * barriers.c - barriers, also those at the end of worksharing and of `single copyprivate`.
 *
 * A thread that is in no team of several does not wait. Where the plugin has seen the call that is recorded,
 * too, and the thread gets a group of its own. */
#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_barrier, DPROF_KIND_BARRIER, "omp barrier");
DPROF_SITE_OF(site_copy, DPROF_KIND_BARRIER, "omp single copyprivate");

static void __attribute__((constructor)) here(void)
{
	next_look_up_all();
	dprof_adapter_present(DPROF_ADAPTER_GOMP);
}

/* Of a thread without a team; made when it first comes to a barrier. */
static __thread struct team_place alone;

static struct waiting wait_at(const struct dprof_site *site)
{
	struct team_place *p = team_place.group ? &team_place : &alone;
	struct waiting w;

	if (!p->group)
		p->group = dprof_adapter_new_group();
	w = waiting_for(site, DPROF_KEY_GROUP, p->group);
	dprof_say(&w.arguments, DPROF_KEY_SEQ, p->barriers++);
	return w;
}

struct team_barrier { struct waiting w; bool recorded; };

static struct team_barrier enter_barrier(const void *caller)
{
	const struct dprof_site *site = dprof_adapter_site(SITE(site_barrier), caller);
	struct team_barrier b;

	b.recorded = site && (team_place.group || site != SITE(site_barrier));
	if (b.recorded)
		b.w = wait_at(site);
	return b;
}

static void begin_barrier(struct team_barrier *b)
{
	if (b->recorded)
		wait_enter(&b->w);
}

static void leave_barrier(const struct team_barrier *b)
{
	if (!b->recorded)
		return;
	wait_end((struct waiting *)&b->w);
	dprof_adapter_exit(b->w.site);
}

#define BARRIER(name)                                         \
	DPROF_EXPORT void name(void);                         \
	DPROF_EXPORT void name(void)                          \
	{                                                     \
		struct team_barrier b = enter_barrier(__builtin_return_address(0)); \
                                                              \
		begin_barrier(&b);                            \
		REAL(name)();                                 \
		leave_barrier(&b);                            \
	}
#define BARRIER_CANCEL(name)                                  \
	DPROF_EXPORT bool name(void);                         \
	DPROF_EXPORT bool name(void)                          \
	{                                                     \
		struct team_barrier b = enter_barrier(__builtin_return_address(0)); \
		bool cancelled;                               \
                                                              \
		begin_barrier(&b);                            \
		cancelled = REAL(name)();                     \
		leave_barrier(&b);                            \
		return cancelled;                             \
	}

BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

/* The end of worksharing with a task reduction is a barrier unless that was cancelled. */
DPROF_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled);
DPROF_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
	struct team_barrier b = { 0 };

	if (!cancelled)
		b = enter_barrier(__builtin_return_address(0));
	begin_barrier(&b);
	REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
	leave_barrier(&b);
}

/* `single copyprivate`: one thread gets NULL at once and synchronises with the others when it is done. */
DPROF_EXPORT void *GOMP_single_copy_start(void);
DPROF_EXPORT void *GOMP_single_copy_start(void)
{
	bool recording = IS_OURS && team_place.group;
	struct waiting w;
	void *copied;

	if (!recording)
		return REAL(GOMP_single_copy_start)();
	worksharing_begin_single();
	w = wait_at(SITE(site_copy));
	wait_from_now(&w);
	copied = REAL(GOMP_single_copy_start)();
	wait_end(&w);
	if (copied) {
		wait_late(&w);
		dprof_adapter_exit(w.site);
	} else {
		team_place.barriers--; /* it was none yet */
	}
	return copied;
}

DPROF_EXPORT void GOMP_single_copy_end(void *data);
DPROF_EXPORT void GOMP_single_copy_end(void *data)
{
	struct team_barrier b = { .recorded = IS_OURS && team_place.group };

	if (b.recorded)
		b.w = wait_at(SITE(site_copy));
	begin_barrier(&b);
	REAL(GOMP_single_copy_end)(data);
	leave_barrier(&b);
}

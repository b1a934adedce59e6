/* SPDX-License-Identifier: MIT
 *
 * windows.c - one-sided communication: what makes windows and what synchronises on them. A window
 * has a number among those of groups, since it has collective operations of its own.
 *
 *   MPI_Win_fence          ENTER group seq [role=ROLE_UNKNOWN] ... EXIT
 *   MPI_Win_post           ENTER  sends to each, nothing  EXIT
 *   MPI_Win_start          ENTER  receives that ............ EXIT
 *   MPI_Win_complete       ENTER  sends to each ............ EXIT
 *   MPI_Win_wait           ENTER  receives that ............ EXIT
 *   MPI_Win_lock           ENTER id [role] tag peer=UNKNOWN object .. EXIT
 *   MPI_Win_unlock         released id object, ENTER tag peer=UNKNOWN ... EXIT
 *   MPI_Win_flush, ...     ENTER tag peer=UNKNOWN ............ EXIT
 *   MPI_Win_flush_all, ... ENTER tag=TARGET_ALL peer=UNKNOWN .. EXIT
 *   MPI_Fetch_and_op, ...  POINT offset [role]   that counts at a place, which has that number
 *   MPI_Put, MPI_Accumulate, ... ENTER tag peer=UNKNOWN ... EXIT   if it took long
 *
 * A lock is that of one rank's part of a window, the tag is that rank; it is had at the latest when something is complete under
 * it, but all MPIs in use wait for it where it is asked for.
 *
 * What is complete at the next synchronisation only need not wait, but may: until other ranks are through with what they
 * accumulate at the same one, until that one calls MPI, until there is room for one more, or for a lock that was asked for before.
 * Or it copies or adds for that long, which is work. Nothing tells these apart.
 *
 * Who is told that it may begin has perhaps waited for that, there or when it completes its epoch; who waits for the end
 * of an epoch has surely waited until all had come to complete theirs.
 *
 * Law: a fence says that all waited for all only where no MPI could do otherwise: others may have
 * written into this rank's part of the window until they came to this fence. That is so if the part
 * is not empty, a fence before this one has allowed it, and neither has asserted anything. */
#include "runtime/mpi/adapter.h"

#include <stdlib.h>

struct window {
	struct group *group;
	bool exposed; /* this rank's part is not empty */
	bool open;    /* since the last fence others may write there */
	struct neighbors *targets, *origins; /* of the epoch that was started, or posted; or NULL */
};

static int keyval = MPI_KEYVAL_INVALID;

static int forget(MPI_Win win, int key, void *value, void *unused)
{
	struct window *w = value;

	(void)win;
	(void)key;
	(void)unused;
	group_release(w->group);
	free(w->targets);
	free(w->origins);
	free(w);
	return MPI_SUCCESS;
}

static struct window *find(MPI_Win win)
{
	struct window *w = NULL;
	int found = 0;

	if (!mpi_active || keyval == MPI_KEYVAL_INVALID || win == MPI_WIN_NULL)
		return NULL;
	PMPI_Win_get_attr(win, keyval, &w, &found);
	return found ? w : NULL;
}

/* All who share it are here. */
static void made(MPI_Win win, MPI_Comm comm, bool exposed)
{
	struct group *parent = mpi_active ? group_of(comm) : NULL;
	uint64_t id = parent ? group_derive(parent) : 0;
	MPI_Group members;
	struct window *w;

	if (!id || (keyval == MPI_KEYVAL_INVALID &&
		    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &keyval, NULL)))
		return;
	w = malloc(sizeof(*w));
	if (!w)
		return;
	PMPI_Win_get_group(win, &members);
	*w = (struct window){ .group = group_with(members, id), .exposed = exposed };
	if (w->group && PMPI_Win_set_attr(win, keyval, w) == MPI_SUCCESS)
		return;
	if (w->group)
		group_release(w->group);
	free(w);
}

/* ---- Made and freed --------------------------------------------------------------------------- */

#define MAKE_AS(name, called, exposed, parameters, arguments)                                     \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct mpi_call c = collective_begin(NAMED(name), comm, NOT_ROOTED, UNKNOWN_BYTES); \
		int result = PMPI_##called arguments;                                             \
                                                                                                  \
		if (result != MPI_SUCCESS && mpi_active)                                          \
			collective_failed(c, group_known(comm));                                  \
		call_end(c);                                                                      \
		if (result == MPI_SUCCESS)                                                        \
			made(*win, comm, exposed);                                                \
		return result;                                                                    \
	}
#define MAKE(name, exposed, parameters, arguments)                                                \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	MAKE_AS(name, name, exposed, parameters, arguments)

#define OF_WINDOW(unit) MPI_Aint size, unit disp, MPI_Info info, MPI_Comm comm
MAKE(Win_create, size > 0, (void *base, OF_WINDOW(int), MPI_Win *win),
     (base, size, disp, info, comm, win))
MAKE(Win_allocate, size > 0, (OF_WINDOW(int), void *base, MPI_Win *win),
     (size, disp, info, comm, base, win))
MAKE(Win_allocate_shared, size > 0, (OF_WINDOW(int), void *base, MPI_Win *win),
     (size, disp, info, comm, base, win))
MAKE(Win_create_dynamic, false, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
#if MPI_VERSION >= 4
MAKE_AS(Win_create, Win_create_c, size > 0, (void *base, OF_WINDOW(MPI_Aint), MPI_Win *win),
	(base, size, disp, info, comm, win))
MAKE_AS(Win_allocate, Win_allocate_c, size > 0, (OF_WINDOW(MPI_Aint), void *base, MPI_Win *win),
	(size, disp, info, comm, base, win))
MAKE_AS(Win_allocate_shared, Win_allocate_shared_c, size > 0,
	(OF_WINDOW(MPI_Aint), void *base, MPI_Win *win), (size, disp, info, comm, base, win))
#endif

DPROF_SITE_OF(site_Win_free, DPROF_KIND_COLL, "MPI_Win_free");
DPROF_EXPORT int MPI_Win_free(MPI_Win *win)
{
	struct window *w = find(*win);
	struct mpi_call c =
		group_operation_begin(NAMED(Win_free), w ? w->group : NULL, ROLE_UNKNOWN,
				      UNKNOWN_BYTES);
	int result = PMPI_Win_free(win);

	call_end(c);
	return result;
}

/* ---- Synchronised ----------------------------------------------------------------------------- */

DPROF_SITE_OF(site_Win_fence, DPROF_KIND_COLL, "MPI_Win_fence");
DPROF_EXPORT int MPI_Win_fence(int asserted, MPI_Win win)
{
	struct window *w = find(win);
	bool all_for_all = w && w->exposed && w->open && asserted == 0;
	struct mpi_call c = group_operation_begin(NAMED(Win_fence), w ? w->group : NULL,
						  all_for_all ? NOT_ROOTED : ROLE_UNKNOWN,
						  UNKNOWN_BYTES);
	int result = PMPI_Win_fence(asserted, win);

	if (result != MPI_SUCCESS)
		collective_failed(c, w ? w->group : NULL);
	if (w)
		w->open = !(asserted & (MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT));
	call_end(c);
	return result;
}

/* ---- Epochs of some ranks ----------------------------------------------------------------------- */

/* Their ranks in the window. */
static bool find_ranks(struct neighbors *near, MPI_Group some, MPI_Win win)
{
	int n = near->n, *ranks = malloc(2 * (size_t)n * sizeof(*ranks));
	MPI_Group all;

	if (!ranks || PMPI_Win_get_group(win, &all) != MPI_SUCCESS) {
		free(ranks);
		return false;
	}
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	PMPI_Group_translate_ranks(some, n, ranks, all, ranks + n);
	PMPI_Group_free(&all);
	for (int i = 0; i < n; i++)
		near->with[i].rank = ranks[n + i];
	free(ranks);
	return true;
}

/* Those of an epoch that begins; NULL: they are not known, or there are none. */
static struct neighbors *of_epoch(const struct window *w, MPI_Group some, MPI_Win win)
{
	struct neighbors *near = NULL;
	int n = 0;

	if (w && w->group && w->group->id && PMPI_Group_size(some, &n) == MPI_SUCCESS && n > 0)
		near = neighbors_make(n, 0);
	if (near && !find_ranks(near, some, win)) {
		free(near);
		near = NULL;
	}
	return near;
}

/* The call tells them something, or is told that by them. Nobody: it is not known for whom it waits. */
static struct mpi_call tell(const void *site, const char *name, const struct window *w, struct neighbors *near,
			    enum neighbors_kind kind, bool sends)
{
	if (!near)
		return wait_begin(site, name);
	near->nout = sends ? near->n : 0;
	for (int i = 0; i < near->n; i++)
		near->with[i].bytes = kind == NEIGHBORS_POST ? 0 : UNKNOWN_BYTES;
	return neighbors_begin(site, name, w->group, near, kind);
}

/* The epoch is over. */
static void forget_epoch(struct neighbors **near, int result)
{
	if (result != MPI_SUCCESS)
		return;
	free(*near);
	*near = NULL;
}

DPROF_SITE_OF(site_Win_post, DPROF_KIND_WAIT, "MPI_Win_post");
DPROF_EXPORT int MPI_Win_post(MPI_Group group, int asserted, MPI_Win win)
{
	struct window *w = find(win);
	struct neighbors *near = of_epoch(w, group, win);
	struct mpi_call c = { 0 };
	int result;

	if (near)
		c = tell(NAMED(Win_post), w, near, NEIGHBORS_POST, true);
	result = PMPI_Win_post(group, asserted, win);
	neighbors_end(c, near, result == MPI_SUCCESS);
	if (w) {
		free(w->origins);
		w->origins = near;
	}
	return result;
}

DPROF_SITE_OF(site_Win_start, DPROF_KIND_WAIT, "MPI_Win_start");
DPROF_EXPORT int MPI_Win_start(MPI_Group group, int asserted, MPI_Win win)
{
	struct window *w = find(win);
	struct neighbors *near = of_epoch(w, group, win);
	struct mpi_call c = tell(NAMED(Win_start), w, near, NEIGHBORS_POST, false);
	int result = PMPI_Win_start(group, asserted, win);

	neighbors_end(c, near, result == MPI_SUCCESS);
	if (w) {
		free(w->targets);
		w->targets = near;
	}
	return result;
}

DPROF_SITE_OF(site_Win_complete, DPROF_KIND_WAIT, "MPI_Win_complete");
DPROF_EXPORT int MPI_Win_complete(MPI_Win win)
{
	struct window *w = find(win);
	struct neighbors *near = w ? w->targets : NULL;
	struct mpi_call c = tell(NAMED(Win_complete), w, near, NEIGHBORS_COMPLETE, true);
	int result = PMPI_Win_complete(win);

	neighbors_end(c, near, result == MPI_SUCCESS);
	if (w)
		forget_epoch(&w->targets, result);
	return result;
}

DPROF_SITE_OF(site_Win_wait, DPROF_KIND_WAIT, "MPI_Win_wait");
DPROF_EXPORT int MPI_Win_wait(MPI_Win win)
{
	struct window *w = find(win);
	struct neighbors *near = w ? w->origins : NULL;
	struct mpi_call c = tell(NAMED(Win_wait), w, near, NEIGHBORS_COMPLETE, false);
	int result = PMPI_Win_wait(win);

	neighbors_end(c, near, result == MPI_SUCCESS);
	if (w)
		forget_epoch(&w->origins, result);
	return result;
}

/* Recorded afterwards, when the window's epoch is over. */
DPROF_SITE_OF(site_Win_test, DPROF_KIND_WAIT, "MPI_Win_test");
DPROF_EXPORT int MPI_Win_test(MPI_Win win, int *over)
{
	int result = PMPI_Win_test(win, over);
	struct window *w = result == MPI_SUCCESS && *over ? find(win) : NULL;
	struct neighbors *near = w ? w->origins : NULL;

	if (result != MPI_SUCCESS || !*over)
		return result;
	neighbors_end(tell(NAMED(Win_test), w, near, NEIGHBORS_COMPLETE, false), near, true);
	if (w)
		forget_epoch(&w->origins, result);
	return result;
}

/* ---- Locks --------------------------------------------------------------------------------------- */

#define MOST_OBJECT ((UINT64_C(1) << 56) - 1)

/* The number of what is at a rank of a window. */
static uint64_t object_of(const struct window *w, uint64_t rank)
{
	return (w->group->id * UINT64_C(0x9e3779b97f4a7c15) + rank) * UINT64_C(0xbf58476d1ce4e5b9) >> 8 & MOST_OBJECT;
}

static uint64_t place_of(const struct window *w, uint64_t rank, MPI_Aint at)
{
	return (object_of(w, rank) + (uint64_t)at) * UINT64_C(0x9e3779b97f4a7c15) >> 8 & MOST_OBJECT;
}

/* A rank of the window in MPI_COMM_WORLD. */
static bool find_target(const struct window *w, int rank, uint64_t *target)
{
	if (!w || !w->group || !w->group->id || rank < 0 || rank >= w->group->npeers)
		return false;
	*target = (uint64_t)w->group->peers[rank];
	return true;
}

DPROF_SITE_OF(site_Win_lock, DPROF_KIND_LOCK, "MPI_Win_lock");
DPROF_EXPORT int MPI_Win_lock(int type, int rank, int asserted, MPI_Win win)
{
	struct mpi_call c = call_of(NAMED(Win_lock));
	const struct window *w = c.on ? find(win) : NULL;
	struct dprof_arguments a;
	uint64_t target;
	int result;

	a.words = 0;
	if (c.on && find_target(w, rank, &target)) {
		dprof_say(&a, DPROF_KEY_ID, object_of(w, target));
		if (type == MPI_LOCK_SHARED)
			dprof_say(&a, DPROF_KEY_ROLE, 0);
		dprof_say(&a, DPROF_KEY_TAG, target);
		dprof_say(&a, DPROF_KEY_OBJECT, object_of(w, target));
	}
	if (c.on)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	call_enter(&c, &a);
	result = PMPI_Win_lock(type, rank, asserted, win);
	call_end(c);
	return result;
}

DPROF_SITE_OF(site_unlocked, DPROF_KIND_LOCK, "MPI_Win is unlocked");

/* Who waits for it may have it before all is complete here. */
static void say_unlocked(const struct window *w, int rank)
{
	uint64_t target;

	if (!calls_recorded() || !find_target(w, rank, &target))
		return;
	const struct dprof_argument a[] = { { DPROF_KEY_ID, object_of(w, target) }, { DPROF_KEY_OBJECT, object_of(w, target) } };
	dprof_adapter_record_with((const void *)&site_unlocked, DPROF_POINT, 0, a, 2);
}

/* The call waits until something is complete at a rank: for whom is unknown, but perhaps for that one. */
static struct mpi_call wait_for_target(const void *site, const char *name, const struct window *w, int rank)
{
	struct mpi_call c = call_of(site, name);
	struct dprof_arguments a;
	uint64_t target;

	a.words = 0;
	if (c.on && find_target(w, rank, &target))
		dprof_say(&a, DPROF_KEY_TAG, target);
	if (c.on)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	call_enter(&c, &a);
	return c;
}

DPROF_SITE_OF(site_Win_unlock, DPROF_KIND_WAIT, "MPI_Win_unlock");
DPROF_EXPORT int MPI_Win_unlock(int rank, MPI_Win win)
{
	const struct window *w = find(win);
	struct mpi_call c;
	int result;

	say_unlocked(w, rank);
	c = wait_for_target(NAMED(Win_unlock), w, rank);
	result = PMPI_Win_unlock(rank, win);
	call_end(c);
	return result;
}

#define FLUSH(name)                                                                               \
	DPROF_SITE_OF(site_##name, DPROF_KIND_WAIT, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name(int rank, MPI_Win win)                                        \
	{                                                                                         \
		struct mpi_call c = wait_for_target(NAMED(name), find(win), rank);                \
		int result = PMPI_##name(rank, win);                                              \
                                                                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
FLUSH(Win_flush)
FLUSH(Win_flush_local)

/* At all ranks. */
static struct mpi_call wait_for_all(const void *site, const char *name)
{
	struct mpi_call c = call_of(site, name);
	struct dprof_arguments a;

	a.words = 0;
	if (c.on) {
		dprof_say(&a, DPROF_KEY_TAG, DPROF_TARGET_ALL);
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	}
	call_enter(&c, &a);
	return c;
}

#define ALL_RANKS(name, parameters, arguments)                                                    \
	DPROF_SITE_OF(site_##name, DPROF_KIND_WAIT, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		struct mpi_call c = wait_for_all(NAMED(name));                                    \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
ALL_RANKS(Win_lock_all, (int asserted, MPI_Win win), (asserted, win))
ALL_RANKS(Win_unlock_all, (MPI_Win win), (win))
ALL_RANKS(Win_flush_all, (MPI_Win win), (win))
ALL_RANKS(Win_flush_local_all, (MPI_Win win), (win))

/* ---- Counters ------------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_counts, DPROF_KIND_WAIT, "MPI_Win counts");

/* Whoever learns what is at a place, and changes it: by that ranks share out work. A swap may be in vain. Who only reads is not
 * said. */
static void say_counts(MPI_Win win, int rank, MPI_Aint at, bool swaps)
{
	const struct window *w = calls_recorded() ? find(win) : NULL;
	struct dprof_argument a[2];
	uint64_t target;

	if (!find_target(w, rank, &target))
		return;
	a[0] = (struct dprof_argument){ DPROF_KEY_OFFSET, place_of(w, target, at) };
	a[1] = (struct dprof_argument){ DPROF_KEY_ROLE, 0 };
	dprof_adapter_record_with((const void *)&site_counts, DPROF_POINT, 0, a, swaps ? 2 : 1);
}

/* ---- Begun ------------------------------------------------------------------------------------ */

static struct dprof_moment may_wait(void)
{
	return calls_recorded() ? dprof_adapter_moment() : (struct dprof_moment){ 0, NULL };
}

/* A call with this target, which began then, is over. */
static void may_have_waited(const void *site, struct dprof_moment since, int rank, MPI_Win win)
{
	struct dprof_arguments a;
	uint64_t target, until;

	if (!since.stamp || dprof_adapter_now() - since.stamp < dprof_adapter_blocked_ticks)
		return;
	until = dprof_adapter_now_fenced();
	a.words = 0;
	if (find_target(find(win), rank, &target))
		dprof_say(&a, DPROF_KEY_TAG, target);
	dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	dprof_adapter_record_enter_at(site, since, &a);
	dprof_adapter_record(site, DPROF_EXIT, until, NULL);
}

#define BEGIN_AS(name, called, parameters, arguments, says, keeps)                                \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct dprof_moment since;                                                        \
		int result;                                                                       \
                                                                                                  \
		says;                                                                             \
		since = may_wait();                                                               \
		result = PMPI_##called arguments;                                                 \
		may_have_waited(&site_##name, since, rank, win);                                  \
		if (result == MPI_SUCCESS)                                                        \
			keeps;                                                                    \
		return result;                                                                    \
	}
#define NOTHING     (void)0
#define COUNTS(op)  op == MPI_NO_OP ? (void)0 : say_counts(win, rank, at, op == MPI_REPLACE)
#define KEEPS       request_foreign(*request)

#define TARGET(count) int rank, MPI_Aint at, count nthere, MPI_Datatype there
#define ORIGIN(count) count n, MPI_Datatype type
#define BACK(count)   void *back, count nback, MPI_Datatype tback
#define THERE         rank, at, nthere, there
#define ONE_SIDED(end, count)                                                                     \
	BEGIN_AS(Put, Put##end, (const void *data, ORIGIN(count), TARGET(count), MPI_Win win),    \
		 (data, n, type, THERE, win), NOTHING, NOTHING)                                   \
	BEGIN_AS(Get, Get##end, (void *data, ORIGIN(count), TARGET(count), MPI_Win win),          \
		 (data, n, type, THERE, win), NOTHING, NOTHING)                                   \
	BEGIN_AS(Accumulate, Accumulate##end,                                                     \
		 (const void *data, ORIGIN(count), TARGET(count), MPI_Op op, MPI_Win win),        \
		 (data, n, type, THERE, op, win), NOTHING, NOTHING)                               \
	BEGIN_AS(Get_accumulate, Get_accumulate##end,                                             \
		 (const void *data, ORIGIN(count), BACK(count), TARGET(count), MPI_Op op, MPI_Win win), \
		 (data, n, type, back, nback, tback, THERE, op, win), COUNTS(op), NOTHING)        \
	BEGIN_AS(Rput, Rput##end,                                                                 \
		 (const void *data, ORIGIN(count), TARGET(count), MPI_Win win, MPI_Request *request), \
		 (data, n, type, THERE, win, request), NOTHING, KEEPS)                            \
	BEGIN_AS(Rget, Rget##end,                                                                 \
		 (void *data, ORIGIN(count), TARGET(count), MPI_Win win, MPI_Request *request),   \
		 (data, n, type, THERE, win, request), NOTHING, KEEPS)                            \
	BEGIN_AS(Raccumulate, Raccumulate##end,                                                   \
		 (const void *data, ORIGIN(count), TARGET(count), MPI_Op op, MPI_Win win, MPI_Request *request), \
		 (data, n, type, THERE, op, win, request), NOTHING, KEEPS)                        \
	BEGIN_AS(Rget_accumulate, Rget_accumulate##end,                                           \
		 (const void *data, ORIGIN(count), BACK(count), TARGET(count), MPI_Op op, MPI_Win win, \
		  MPI_Request *request),                                                          \
		 (data, n, type, back, nback, tback, THERE, op, win, request), COUNTS(op), KEEPS)

DPROF_SITE_OF(site_Put, DPROF_KIND_WAIT, "MPI_Put");
DPROF_SITE_OF(site_Get, DPROF_KIND_WAIT, "MPI_Get");
DPROF_SITE_OF(site_Accumulate, DPROF_KIND_WAIT, "MPI_Accumulate");
DPROF_SITE_OF(site_Get_accumulate, DPROF_KIND_WAIT, "MPI_Get_accumulate");
DPROF_SITE_OF(site_Fetch_and_op, DPROF_KIND_WAIT, "MPI_Fetch_and_op");
DPROF_SITE_OF(site_Compare_and_swap, DPROF_KIND_WAIT, "MPI_Compare_and_swap");
DPROF_SITE_OF(site_Rput, DPROF_KIND_WAIT, "MPI_Rput");
DPROF_SITE_OF(site_Rget, DPROF_KIND_WAIT, "MPI_Rget");
DPROF_SITE_OF(site_Raccumulate, DPROF_KIND_WAIT, "MPI_Raccumulate");
DPROF_SITE_OF(site_Rget_accumulate, DPROF_KIND_WAIT, "MPI_Rget_accumulate");

ONE_SIDED(, int)
BEGIN_AS(Fetch_and_op, Fetch_and_op,
	 (const void *data, void *back, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op, MPI_Win win),
	 (data, back, type, rank, at, op, win), COUNTS(op), NOTHING)
BEGIN_AS(Compare_and_swap, Compare_and_swap,
	 (const void *data, const void *expected, void *back, MPI_Datatype type, int rank, MPI_Aint at, MPI_Win win),
	 (data, expected, back, type, rank, at, win), say_counts(win, rank, at, true), NOTHING)
#if MPI_VERSION >= 4
ONE_SIDED(_c, MPI_Count)
#endif

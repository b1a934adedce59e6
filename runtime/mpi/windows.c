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
 *   MPI_Win_lock, ...      ENTER peer=UNKNOWN ................ EXIT
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

WRAP_WAIT(Win_lock, (int type, int rank, int asserted, MPI_Win win), (type, rank, asserted, win))
WRAP_WAIT(Win_lock_all, (int asserted, MPI_Win win), (asserted, win))
WRAP_WAIT(Win_unlock, (int rank, MPI_Win win), (rank, win))
WRAP_WAIT(Win_unlock_all, (MPI_Win win), (win))
WRAP_WAIT(Win_flush, (int rank, MPI_Win win), (rank, win))
WRAP_WAIT(Win_flush_all, (MPI_Win win), (win))
WRAP_WAIT(Win_flush_local, (int rank, MPI_Win win), (rank, win))
WRAP_WAIT(Win_flush_local_all, (MPI_Win win), (win))

/* ---- Begun ------------------------------------------------------------------------------------ */

#define TARGET(count) int rank, MPI_Aint at, count nthere, MPI_Datatype there
#define ORIGIN(count) count n, MPI_Datatype type
#define THERE         rank, at, nthere, there
#define ONE_SIDED(called, count)                                                                  \
	WRAP_FOREIGN(Rput##called, (const void *data, ORIGIN(count), TARGET(count), MPI_Win win,  \
				    MPI_Request *request), (data, n, type, THERE, win, request))  \
	WRAP_FOREIGN(Rget##called, (void *data, ORIGIN(count), TARGET(count), MPI_Win win,        \
				    MPI_Request *request), (data, n, type, THERE, win, request))  \
	WRAP_FOREIGN(Raccumulate##called, (const void *data, ORIGIN(count), TARGET(count),        \
					   MPI_Op op, MPI_Win win, MPI_Request *request),         \
		     (data, n, type, THERE, op, win, request))                                    \
	WRAP_FOREIGN(Rget_accumulate##called,                                                     \
		     (const void *data, ORIGIN(count), void *back, count nback,                   \
		      MPI_Datatype tback, TARGET(count), MPI_Op op, MPI_Win win,                  \
		      MPI_Request *request),                                                      \
		     (data, n, type, back, nback, tback, THERE, op, win, request))
ONE_SIDED(, int)
#if MPI_VERSION >= 4
ONE_SIDED(_c, MPI_Count)
#endif

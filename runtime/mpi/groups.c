/* SPDX-License-Identifier: MIT
 *
 * groups.c - a number for every communicator, the same on all its members.
 *
 * MPI_COMM_WORLD is 1. Any other one gets its number when it is made, or, if that was by a function
 * that is not wrapped, at its first collective operation: its rank 0 draws a number that no other
 * rank draws and broadcasts it on the communicator itself, where all members are at this moment.
 * Between two groups both leaders draw, and the smaller number counts; the trace's group is made of
 * both. Communicators with members from other jobs, or with ranks that are not linked with
 * the adapter, have no number: those do not know of us.
 *
 * Where no rank may wait (MPI_Comm_idup), or more than a communicator is made (a window, an open file), the number
 * is made of the parent's and of how many were made of that before:
 *
 *   | 0 | 0 | 22 bits: n, from 1 | 32 bits: of the parent |        in the 56 bits of an argument
 *
 * Law: two communicators, windows or open files that are there at the same time have different numbers. */
#include "runtime/mpi/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/adapter.h"
#include "runtime/mpi/members.h"

#define WORLD_ID     1
#define DERIVED      32 /* bits of the parent's number */
#define DERIVED_MOST ((UINT64_C(1) << 22) - 1)

static struct group *world, unknown;
static int keyval = MPI_KEYVAL_INVALID;
static int world_rank, world_size;
static uint64_t drawn;     /* how many numbers this rank has given out */
unsigned groups_gone;
__thread struct group_asked group_last;

void group_forget(struct group *g)
{
	if (g == &unknown)
		return;
	free(g->peers);
	free(g->near);
	free(g);
}

static int forget(MPI_Comm comm, int key, void *value, void *unused)
{
	(void)comm;
	(void)key;
	(void)unused;
	__atomic_fetch_add(&groups_gone, 1, __ATOMIC_RELEASE);
	group_release(value);
	return MPI_SUCCESS;
}

static void tell(uint64_t id, const int *ranks, int n)
{
	char *text = malloc((size_t)n * 12), *at = text;

	if (!text)
		return;
	for (int i = 0; i < n; i++)
		at += sprintf(at, i ? ",%d" : "%d", ranks[i]);
	dprof_adapter_group(id, text);
	free(text);
}

static int by_rank(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Both groups in one; each rank says the same. */
static void tell_both(const struct group *g, const int *ours, int n)
{
	int *both = malloc((size_t)(n + g->npeers) * sizeof(int));

	if (!both)
		return;
	memcpy(both, ours, (size_t)n * sizeof(int));
	memcpy(both + n, g->peers, (size_t)g->npeers * sizeof(int));
	qsort(both, (size_t)(n + g->npeers), sizeof(int), by_rank);
	tell(g->id, both, n + g->npeers);
	free(both);
}

/* The ranks in MPI_COMM_WORLD of a group's members, to be freed; NULL when there are others. */
static int *ranks_of(MPI_Group group, int n)
{
	int *theirs = malloc((size_t)n * sizeof(int)), *ours = malloc((size_t)n * sizeof(int));
	MPI_Group of_world;

	for (int i = 0; theirs && i < n; i++)
		theirs[i] = i;
	if (theirs && ours) {
		PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
		PMPI_Group_translate_ranks(group, n, theirs, of_world, ours);
		PMPI_Group_free(&of_world);
	}
	for (int i = 0; theirs && ours && i < n; i++)
		if (ours[i] == MPI_UNDEFINED) {
			free(theirs);
			theirs = NULL;
		}
	if (!theirs) {
		free(ours);
		ours = NULL;
	}
	free(theirs);
	return ours;
}

/* Whom messages can go to. */
static void learn_peers(struct group *g, MPI_Group of)
{
	PMPI_Group_size(of, &g->npeers);
	g->peers = ranks_of(of, g->npeers);
	PMPI_Group_free(&of);
}

static void tell_members(const struct group *g, MPI_Comm comm)
{
	MPI_Group here;
	int n, *ours;

	if (!g->between) {
		tell(g->id, g->peers, g->npeers);
		return;
	}
	PMPI_Comm_group(comm, &here);
	PMPI_Group_size(here, &n);
	ours = ranks_of(here, n);
	PMPI_Group_free(&here);
	if (ours)
		tell_both(g, ours, n);
	free(ours);
}

static uint64_t draw(void)
{
	return WORLD_ID + 1 + (uint64_t)world_rank +
	       (uint64_t)world_size * __atomic_fetch_add(&drawn, 1, __ATOMIC_RELAXED);
}

static uint64_t agree_within(MPI_Comm comm, int rank)
{
	uint64_t id = rank == 0 ? draw() : 0;

	return PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm) == MPI_SUCCESS ? id : 0;
}

/* Such a reduction gives each group what the other one has; so twice gives one's own. */
static uint64_t agree_between(MPI_Comm comm, int rank)
{
	uint64_t mine = rank == 0 ? draw() : 0, theirs = 0, ours = 0;

	if (PMPI_Allreduce(&mine, &theirs, 1, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS ||
	    PMPI_Allreduce(&theirs, &ours, 1, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
		return 0;
	return ours < theirs ? ours : theirs;
}

/* The program's own error handler stays out of it: by default it ends the program. */
static void agree(struct group *g, MPI_Comm comm)
{
	MPI_Errhandler theirs;

	PMPI_Comm_get_errhandler(comm, &theirs);
	PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	g->id = g->between ? agree_between(comm, g->rank) : agree_within(comm, g->rank);
	PMPI_Comm_set_errhandler(comm, theirs);
	PMPI_Errhandler_free(&theirs);
}

/* Who is linked with the adapter; of two groups, in both. Others would not agree with us. */
static bool all_are_members(MPI_Comm comm, const struct group *g)
{
	MPI_Group here;
	bool all = g->peers != NULL;
	int n, *ours;

	if (members_are_all())
		return true;
	PMPI_Comm_group(comm, &here);
	PMPI_Group_size(here, &n);
	ours = ranks_of(here, n);
	PMPI_Group_free(&here);
	for (int i = 0; all && i < g->npeers; i++)
		all = members_has(g->peers[i]);
	for (int i = 0; all && ours && i < n; i++)
		all = members_has(ours[i]);
	all = all && ours;
	free(ours);
	return all;
}

/* Whether the members can be told is the same for all of them, but between groups. */
static void learn(struct group *g, MPI_Comm comm, uint64_t id)
{
	int between = 0;
	MPI_Group peers;

	PMPI_Comm_test_inter(comm, &between);
	g->between = between;
	g->users = 1;
	g->id = id;
	PMPI_Comm_rank(comm, &g->rank);
	if (between)
		PMPI_Comm_remote_group(comm, &peers);
	else
		PMPI_Comm_group(comm, &peers);
	learn_peers(g, peers);
	if (!id && (g->peers || between) && all_are_members(comm, g))
		agree(g, comm);
	if (!g->peers)
		g->id = 0;
	if (g->id)
		tell_members(g, comm);
}

static struct group *look_up(MPI_Comm comm)
{
	unsigned gone = __atomic_load_n(&groups_gone, __ATOMIC_ACQUIRE);
	struct group *g = world;
	int found = comm == MPI_COMM_WORLD;

	if (group_last.group && group_last.comm == comm && group_last.gone == gone)
		return group_last.group;
	if (!found)
		PMPI_Comm_get_attr(comm, keyval, &g, &found);
	if (!found)
		return NULL;
	group_last = (struct group_asked){ comm, g, gone };
	return g;
}

/* id 0: they agree. */
static struct group *learn_new(MPI_Comm comm, uint64_t id)
{
	struct group fresh = { 0 }, *g;

	learn(&fresh, comm, id);
	g = malloc(sizeof(*g));
	if (g)
		*g = fresh;
	else
		g = &unknown; /* or the others would wait for us to agree again */
	PMPI_Comm_set_attr(comm, keyval, g);
	return g;
}

static bool is_between(MPI_Comm comm)
{
	int between = 0;

	PMPI_Comm_test_inter(comm, &between);
	return between;
}

struct group *group_of(MPI_Comm comm)
{
	struct group *g;

	if (comm == MPI_COMM_WORLD)
		return world;
	if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID)
		return NULL;
	g = look_up(comm);
	if (!g && !is_between(comm))
		g = learn_new(comm, 0);
	return g && g->id ? g : NULL;
}

/* One that has a single member agrees with itself. */
struct group *group_known_any(MPI_Comm comm)
{
	struct group *g;

	if (comm == MPI_COMM_WORLD)
		return look_up(comm);
	if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID)
		return NULL;
	g = comm == MPI_COMM_SELF ? group_of(comm) : look_up(comm);
	return g && g->id ? g : NULL;
}

void group_made(MPI_Comm comm)
{
	group_made_as(comm, 0);
}

void group_made_as(MPI_Comm comm, uint64_t id)
{
	if (mpi_active && comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID && !look_up(comm))
		learn_new(comm, id);
}

uint64_t group_derive(struct group *g)
{
	uint64_t n = __atomic_add_fetch(&g->nderived, 1, __ATOMIC_RELAXED);

	return g->id >> DERIVED || n > DERIVED_MOST ? 0 : n << DERIVED | g->id;
}

void group_doubt(struct group *g)
{
	g->instead = draw();
	__atomic_store_n(&g->nderived, DERIVED_MOST, __ATOMIC_RELAXED);
}

struct group *group_with(MPI_Group members, uint64_t id)
{
	struct group *g = calloc(1, sizeof(*g));

	if (!g) {
		PMPI_Group_free(&members);
		return NULL;
	}
	PMPI_Group_rank(members, &g->rank);
	learn_peers(g, members);
	g->users = 1;
	g->id = g->peers ? id : 0;
	if (g->id)
		tell(g->id, g->peers, g->npeers);
	return g;
}

/* What is told at MPI_Init stays until MPI_Finalize. */
void groups_start(void)
{
	MPI_Group all;

	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
	if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) != MPI_SUCCESS)
		keyval = MPI_KEYVAL_INVALID;
	world = calloc(1, sizeof(*world));
	if (!world)
		return;
	*world = (struct group){ .id = WORLD_ID, .rank = world_rank, .users = 1 };
	PMPI_Comm_group(MPI_COMM_WORLD, &all);
	learn_peers(world, all);
	if (world->peers)
		tell(WORLD_ID, world->peers, world_size);
	else
		world->npeers = 0;
}

void groups_stop(void)
{
	if (keyval != MPI_KEYVAL_INVALID)
		PMPI_Comm_free_keyval(&keyval);
	if (world)
		group_release(world);
	world = NULL;
	__atomic_fetch_add(&groups_gone, 1, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: MIT
 *
 * groups.c - a number for every communicator, the same on all its members.
 *
 * MPI_COMM_WORLD is 1. Any other one gets its number at its first collective operation,
 * whatever made it: its rank 0 draws a number that no other rank draws and broadcasts it on
 * the communicator itself, where all members are at this moment. Intercommunicators, and
 * communicators with members from other jobs (which may not know of us), have none. */
#include "runtime/openmpi/openmpi.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/adapter.h"

#define WORLD_ID 1

static struct group world, unknown;
static int keyval = MPI_KEYVAL_INVALID;
static int world_rank, world_size;
static uint64_t drawn; /* how many numbers this rank has given out */

static int forget(MPI_Comm comm, int key, void *value, void *unused)
{
	(void)comm;
	(void)key;
	(void)unused;
	if (value != &unknown)
		free(value);
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

/* The members' ranks in MPI_COMM_WORLD, to be freed; NULL when there are others than these. */
static int *members(MPI_Comm comm, int n)
{
	int *theirs = malloc((size_t)n * sizeof(int)), *ours = malloc((size_t)n * sizeof(int));
	MPI_Group of_comm, of_world;

	if (theirs && ours) {
		for (int i = 0; i < n; i++)
			theirs[i] = i;
		PMPI_Comm_group(comm, &of_comm);
		PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
		PMPI_Group_translate_ranks(of_comm, n, theirs, of_world, ours);
		PMPI_Group_free(&of_comm);
		PMPI_Group_free(&of_world);
		for (int i = 0; i < n; i++)
			if (ours[i] == MPI_UNDEFINED) {
				free(ours);
				ours = NULL;
				break;
			}
	}
	free(theirs);
	return ours;
}

/* The program's own error handler stays out of it: by default it ends the program. */
static uint64_t agree(MPI_Comm comm, int rank)
{
	uint64_t id = 0;
	MPI_Errhandler theirs;

	if (rank == 0)
		id = WORLD_ID + 1 + (uint64_t)world_rank +
		     (uint64_t)world_size * __atomic_fetch_add(&drawn, 1, __ATOMIC_RELAXED);
	PMPI_Comm_get_errhandler(comm, &theirs);
	PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	if (PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm) != MPI_SUCCESS)
		id = 0;
	PMPI_Comm_set_errhandler(comm, theirs);
	PMPI_Errhandler_free(&theirs);
	return id;
}

static void learn(struct group *g, MPI_Comm comm)
{
	int inter = 1, n = 0, *ranks;

	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		return;
	PMPI_Comm_size(comm, &n);
	PMPI_Comm_rank(comm, &g->rank);
	ranks = members(comm, n);
	if (!ranks)
		return;
	g->id = agree(comm, g->rank);
	if (g->id)
		tell(g->id, ranks, n);
	free(ranks);
}

struct group *group_of(MPI_Comm comm)
{
	struct group *g = NULL;
	int found = 0;

	if (comm == MPI_COMM_WORLD)
		return &world;
	if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID)
		return NULL;
	PMPI_Comm_get_attr(comm, keyval, &g, &found);
	if (!found) {
		struct group fresh = { 0 };

		learn(&fresh, comm);
		g = malloc(sizeof(*g));
		if (g)
			*g = fresh;
		else
			g = &unknown; /* or the others would wait for us to agree again */
		PMPI_Comm_set_attr(comm, keyval, g);
	}
	return g->id ? g : NULL;
}

void groups_start(void)
{
	int *ranks;

	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
	world = (struct group){ .id = WORLD_ID, .rank = world_rank };
	if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) != MPI_SUCCESS)
		keyval = MPI_KEYVAL_INVALID;
	ranks = members(MPI_COMM_WORLD, world_size);
	if (ranks)
		tell(WORLD_ID, ranks, world_size);
	free(ranks);
}

void groups_stop(void)
{
	if (keyval != MPI_KEYVAL_INVALID)
		PMPI_Comm_free_keyval(&keyval);
}

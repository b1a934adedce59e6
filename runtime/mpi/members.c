/* SPDX-License-Identifier: MIT
 *
 * members.c - finds out which ranks are linked with the adapter, while the others do something
 * else.
 *
 * Each member has announced itself in the job's key-value store before MPI begins; after it the lowest member
 * reads all names, and sends the others the list. These messages travel on MPI_COMM_WORLD, but each
 * is received before its receiver leaves MPI_Init. Without such a store all ranks are taken for members.
 *
 * Law: no message goes to, and no operation takes in, a rank that is not a member. */
#include "runtime/mpi/members.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/adapter.h"

#define TAG_LIST 0x6470 /* below what every MPI allows */

static bool announced;
static char *list; /* for each rank whether it is a member; NULL: all are */
static int size;

void members_announce(void)
{
	announced = kvs_put();
}

bool members_has(int rank)
{
	return !list || (rank >= 0 && rank < size && list[rank]);
}

bool members_are_all(void)
{
	return !list;
}

/* The lowest member; -1: unknown. */
static int find_first(int rank)
{
	for (int r = 0; r < rank; r++) {
		int is = kvs_has(r);

		if (is != 0)
			return is > 0 ? r : -1;
	}
	return rank;
}

/* From `first` on; what is unknown is not a member. */
static void read_kvs(int first)
{
	for (int r = first; r < size; r++)
		list[r] = r == first || kvs_has(r) > 0;
}

static void share(int rank, int first)
{
	if (rank != first) {
		PMPI_Recv(list, size, MPI_CHAR, first, TAG_LIST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	read_kvs(first);
	for (int r = first + 1; r < size; r++)
		if (list[r])
			PMPI_Send(list, size, MPI_CHAR, r, TAG_LIST, MPI_COMM_WORLD);
}

static int count(void)
{
	int n = 0;

	for (int r = 0; r < size; r++)
		n += list[r];
	return n;
}

static MPI_Comm only_members(int n)
{
	MPI_Comm made = MPI_COMM_NULL;
	MPI_Group world, some;
	int *ranks = malloc((size_t)n * sizeof(int)), k = 0;

	if (!ranks)
		return made;
	for (int r = 0; r < size; r++)
		if (list[r])
			ranks[k++] = r;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_incl(world, n, ranks, &some);
	if (PMPI_Comm_create_group(MPI_COMM_WORLD, some, TAG_LIST, &made) != MPI_SUCCESS)
		made = MPI_COMM_NULL;
	PMPI_Group_free(&some);
	PMPI_Group_free(&world);
	free(ranks);
	return made;
}

static void note_missing(int n)
{
	char text[128];

	snprintf(text, sizeof(text), "%d of %d ranks are not linked with dprof's adapter: what they "
		 "do is not recorded", size - n, size);
	dprof_adapter_line("note", text);
}

MPI_Comm members_connect(void)
{
	MPI_Comm made = MPI_COMM_NULL;
	int rank, first, n;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	first = announced && size > 1 ? find_first(rank) : -1;
	list = first >= 0 ? calloc((size_t)size, 1) : NULL;
	if (list)
		share(rank, first);
	kvs_close();
	n = list ? count() : size;
	if (n < size) {
		note_missing(n);
		return only_members(n);
	}
	free(list);
	list = NULL;
	return PMPI_Comm_dup(MPI_COMM_WORLD, &made) == MPI_SUCCESS ? made : MPI_COMM_NULL;
}

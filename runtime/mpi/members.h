/* SPDX-License-Identifier: MIT
 *
 * members.h - the ranks whose program is linked with the adapter; the others know nothing of us,
 * and must not be waited for. */
#ifndef RUNTIME_MPI_MEMBERS_H
#define RUNTIME_MPI_MEMBERS_H

#include <mpi.h>
#include <stdbool.h>

/* Before and after MPI begins. A communicator of all members, ours to free, or MPI_COMM_NULL. */
void members_announce(void);
MPI_Comm members_connect(void);

/* After that: is this rank of MPI_COMM_WORLD a member? Are all? */
bool members_has(int rank);
bool members_are_all(void);

/* ---- The job's key-value store (kvs.c) --------------------------------------------------------*/

/* Before MPI begins: writes that this rank is a member; false: there is no store. */
bool kvs_put(void);
/* After: 1 that rank is, 0 it is not, -1 it is unknown. */
int kvs_has(int rank);
void kvs_close(void);

#endif

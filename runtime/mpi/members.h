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
MPI_Comm members_meet(void);

/* After that: is this rank of MPI_COMM_WORLD a member? Are all? */
bool members_has(int rank);
bool members_are_all(void);

/* ---- The board of the job (board.c) ------------------------------------------------------------*/

/* Before MPI begins: writes that this rank is a member; false: there is no board. */
bool board_write(void);
/* After: 1 that rank is, 0 it is not, -1 nobody knows. */
int board_shows(int rank);
void board_leave(void);

#endif

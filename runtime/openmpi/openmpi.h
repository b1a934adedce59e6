/* SPDX-License-Identifier: MIT
 *
 * openmpi.h - the parts of the MPI adapter.
 *
 * calls.c wraps MPI's functions, groups.c numbers communicators, hosts.c numbers hosts and lets
 * FreeZer measure between them.
 *
 * Law: what needs all ranks of MPI_COMM_WORLD is done by all of them or by none, whether a
 * rank itself records or not; and no error of MPI in here reaches the program. */
#ifndef RUNTIME_OPENMPI_H
#define RUNTIME_OPENMPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A communicator as the trace knows it. */
struct group {
	uint64_t id;   /* 0: the trace does not know it */
	uint64_t seq;  /* of its next collective operation */
	int rank;      /* ours in it */
};

/* The group of `comm`, or NULL. At the first collective operation on a communicator all its members
 * come here and agree on a number. */
struct group *group_of(MPI_Comm comm);

/* After MPI_Init, before MPI_Finalize. On ranks that agreed that somebody records. */
void groups_start(void);
void groups_stop(void);

/* Collective over all ranks, after MPI_Init; true when any rank records. */
bool hosts_start(void);
/* Measures once more and gives everything back; before MPI_Finalize. */
void hosts_stop(void);

#endif

/* SPDX-License-Identifier: MIT
 *
 * hydra.h - what MPICH's starter knows of the job: its name, and a board on which ranks write for
 * others.
 *
 * The starter's proxy on each host answers one line with one line (version 1 of the process
 * management interface) on the descriptor PMI_FD. MPI itself talks there, too, but only in calls of
 * its own; nothing is asked while the program is in one.
 *
 * Law: nothing is written to a descriptor that does not lead to a proxy of Hydra; and who does not
 * answer within a second is not asked again. */
#ifndef RUNTIME_HYDRA_H
#define RUNTIME_HYDRA_H

#include <stdbool.h>
#include <stddef.h>

/* The job's name, the same on all its hosts; false: there is no such starter. */
bool hydra_job(char *to, size_t size);

/* What one rank has written, all ranks of the job can read. */
bool hydra_write(const char *key);
/* 1 it was written, 0 it was not, -1 nobody knows. */
int hydra_written(const char *key);

#endif

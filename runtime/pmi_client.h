/* SPDX-License-Identifier: MIT
 *
 * pmi_client.h - what MPICH's starter knows of the job: its name, and a key-value store in which
 * ranks put values for others.
 *
 * The starter's proxy on each host answers one line with one line (version 1 of the process
 * management interface) on the descriptor PMI_FD. MPI itself talks there, too, but only in calls of
 * its own; nothing is asked while the program is in one.
 *
 * Law: nothing is written to a descriptor that does not lead to a proxy of Hydra; and who does not
 * answer within a second is not asked again. */
#ifndef RUNTIME_PMI_CLIENT_H
#define RUNTIME_PMI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/* The job's name, the same on all its hosts; false: there is no such starter. */
bool pmi_client_job(char *to, size_t size);

/* What one rank has published, all ranks of the job can look up. */
bool pmi_client_publish(const char *key);
/* 1 it was published, 0 it was not, -1 it is unknown. */
int pmi_client_published(const char *key);

#endif

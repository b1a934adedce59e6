/* SPDX-License-Identifier: MIT
 *
 * info.h - what there is to work with: the installation, the compilers and MPIs around it, the environment, the machine.
 *
 * Law: what is said to be there was found there, now; nothing is guessed from names. */
#ifndef ANALYSIS_INFO_H
#define ANALYSIS_INFO_H

#include "analysis/tables/reply.h"

void info_installation(struct reply *); /* version, plugins by GCC, adapters by MPI, compilers in PATH */
void info_environment(struct reply *);  /* variables DPROF_..., where traces go */
void info_machine(struct reply *);      /* clock, cores, what the kernel counts */

#endif

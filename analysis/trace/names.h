/* SPDX-License-Identifier: MIT
 *
 * names.h - what a report calls a rank, a thread and a site. */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include "analysis/trace/trace.h"

/* "rank 3", or "pid 4711" without ranks. */
struct actor_name { char text[40]; };
struct actor_name rank_name(const struct trace *, size_t thread);
struct actor_name thread_name(const struct trace *, size_t thread); /* with " thread 2" behind */

/* As much of a qualified name as has room: "LAMMPS_NS::Pair::compute" -> "Pair::compute", or less. */
const char *short_name(const char *name, size_t room);

#define OUTSIDE_REGIONS "outside regions" /* of TR_OUTSIDE */

/* "assign (kmeans.c:88)" */
struct site_name { char text[64]; };
struct site_name site_name(const struct trace *, uint32_t site);

#endif

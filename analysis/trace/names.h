/* SPDX-License-Identifier: MIT
 *
 * names.h - what a report calls a rank, a thread and a site. */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include "analysis/trace/trace.h"

/* "rank 3", or "pid 4711" without ranks. */
struct location_name { char text[40]; };
struct location_name rank_name(const struct trace *, size_t thread);
struct location_name name_of_process(const struct trace *, uint32_t process); /* likewise, of a process; "" if it has no thread */
/* "rank 3 thread 2"; of the only process, without ranks: "thread 2". */
struct location_name thread_name(const struct trace *, size_t thread);

/* "assign (kmeans.c:88)", or "parallel kmeans.c:154" where the name says it, in at most `room` bytes. What has no room
 * loses first the qualifiers of its name ("LAMMPS_NS::Pair::compute" -> "Pair::compute"), then the middle of it, then
 * that of the file; never the line. */
#define SITE_NAME_ROOM 72
struct site_name { char text[SITE_NAME_ROOM + 1]; };
struct site_name site_name_within(const struct trace *, uint32_t site, size_t room);
struct site_name site_name(const struct trace *, uint32_t site); /* as long as it can be */

/* "app.c:12", or the name where no place is known; NULL: there is no such site. To be freed. */
char *site_place(const struct trace *, uint32_t site);

/* The name alone. */
struct site_name region_name_within(const struct trace *, uint32_t site, size_t room);

/* "a_long..name", of a program or a host. */
struct site_name name_within(const char *, size_t room);

#define OUTSIDE_REGIONS "outside regions" /* of TR_OUTSIDE */
#define OUTSIDE_CODE "code outside regions" /* likewise, in a sentence: "was in ..." */
#define PLACE_NOT_KNOWN "not known" /* of TR_NO_SITE, where a thread may have been anywhere; and likewise: */
#define CODE_NOT_KNOWN "what is not known"
struct site_name site_name_said(const struct trace *, uint32_t site, size_t room); /* within that room, in a sentence */

/* A region that is a whole function, which the plugin took by itself. */
bool site_is_function(const struct tr_site *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * path_tables.h - the critical path of a whole run from other sides: over all threads, from rank to rank, and what is
 * nearly on it. */
#ifndef ANALYSIS_PATH_TABLES_H
#define ANALYSIS_PATH_TABLES_H

#include "analysis/path/path.h"
#include "analysis/report/locations.h"
#include "analysis/tables/reply.h"

#define WAITS_UNRECORDED "a wait for what is not recorded" /* PATH_ELSEWHERE */

/* What a share of the path is called. */
const char *path_site_name(const struct trace *, uint32_t site);
struct tab_cell path_site_cell(const struct trace *, uint32_t site);
struct site_name path_site_shown(const struct trace *, uint32_t site, size_t room);
struct location_name path_location(const struct trace *, uint32_t thread);

/* A region or operation of all threads, on the path and elsewhere. */
struct path_region {
	uint32_t site;         /* of regions of one name the first; TR_OUTSIDE, TR_BEFORE, TR_NO_SITE, PATH_ELSEWHERE */
	frz_time on_path;
	bool everywhere;       /* what follows is known: of regions and outside of them */
	frz_time mean;         /* of all threads: time in it */
	frz_time imbalance;    /* on the path, less the mean */
	frz_time slack;        /* least of the threads' that are not on the path there; hi is INT64_MAX: none surely
				  has a limit */
};

struct path_regions { struct path_region *v; size_t n; }; /* what is longest on the path first */
void path_regions_open(struct path_regions *, const struct path *, const struct path_profile *, const struct path_slack *);
void path_regions_close(struct path_regions *);

/* "messages": from rank to rank, in a slice; `every`: on the page, too, all rows. */
void path_tables_messages(struct reply *, const struct path *, const struct path_profile *, bool every);

/* "regions", "slack", "near_paths", "messages"; likewise. */
void path_tables_fill(struct reply *, struct path *, const struct path_profile *, const struct path_slack *, bool every);

#endif

/* SPDX-License-Identifier: MIT
 *
 * objects.h - what is instrumented in what a compiler or a linker has made, read by libelf; nothing of it is run.
 *
 * Law: every whole site of every section "dprof_sites" is there, once for each place, in the order of files and lines; what is
 * no site is counted. The file may be anything: its names are given as they may be shown. */
#ifndef ANALYSIS_OBJECTS_H
#define ANALYSIS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/trace.h"

struct object {
	char *name;              /* the file's; of what lies in an archive, "FILE(MEMBER)" */
	const char *kind;        /* "object", "executable", "library" */
	bool lto;                /* its code, and with it its sites, is made only when it is linked (gcc -flto) */
	bool cut;                /* its end is missing, and with it perhaps all sites */
	size_t damaged;          /* bytes where sites should be and are none */
	struct tr_site *sites; size_t nsites;
	char **libraries; size_t nlibraries; /* shared ones that it is linked with */
};

struct objects { struct object *object; size_t n; };

/* Adds those of one more file: one, or the members of an archive. NULL; or what is wrong with the file, to be freed. */
char *objects_add(struct objects *, const char *file);
void objects_free(struct objects *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * list_names.h - a few names, and how many more there are: "rank 0, rank 1 and rank 2"; "rank 0, rank 1, rank 2 and 4 others". */
#ifndef ANALYSIS_LIST_NAMES_H
#define ANALYSIS_LIST_NAMES_H

#include <stdlib.h>

#include "analysis/base/memory.h"

#define LIST_NAMES_MOST 3

/* How many of so many are named: "and 1 others" is longer than a name. */
static inline size_t list_names_shown(size_t all)
{
	return all <= LIST_NAMES_MOST + 1 ? all : LIST_NAMES_MOST;
}

/* One more, behind so many; the list before (at first NULL) is freed. */
static inline char *list_names_add(char *list, size_t before, size_t all, const char *name)
{
	const char *between = before == 0 ? "" : before + 1 == all ? " and " : ", ";
	char *longer = mem_format("%s%s%s", list ? list : "", between, name);
	free(list);
	return longer;
}

/* Behind the last that is shown. */
static inline char *list_names_end(char *list, size_t all)
{
	size_t shown = list_names_shown(all);
	if (shown == all)
		return list;
	char *whole = mem_format("%s and %zu others", list, all - shown);
	free(list);
	return whole;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * shares.h - which files a trace has, when several processes look, and who reads which.
 *
 * The trace has the files that the first process sees, or (`elsewhere`, --local) those that any sees; where files of one name
 * differ, it has that of the first process of all that have one. A file of events stands with its packed chunks, and with the
 * nursery in which its thread may have begun; a nursery stands for all threads that are nowhere else. It may be read
 * by whoever sees the very same file (its length, and when it was changed last); it is read by whoever of them has
 * least to read so far, file by file in the order of their names.
 *
 * Law: each file of events and each nursery is in one share, of a process that has what the trace has; and which file of a
 * name the trace has depends neither on how many processes there are behind the first that sees it, nor on who reads it. */
#ifndef ANALYSIS_DRIVER_SHARES_H
#define ANALYSIS_DRIVER_SHARES_H

#include "analysis/trace/trace_parts.h"

/* What one process sees. */
struct sight {
	struct part_file *files; size_t n; /* by name */
	char *why;               /* it finds no trace there; or NULL */
	char *host;
};

struct shares {
	struct part_file *files; size_t n; /* of the trace, by name */
	int *has;                /* of each: the first process that has it */
	int *reads;              /* of a file of events, or a nursery, who reads it; of others -1 */
};

struct shares shares_make(const struct sight *, size_t processes, bool elsewhere);
void shares_free(struct shares *);

/* What the user should know of who sees what, one sentence each, to be freed; `contradicts`: that is damage to the trace. */
struct remark { char *text; bool contradicts; };
struct remark *shares_remarks(const struct shares *, const struct sight *, size_t processes, bool elsewhere, size_t *n);

#endif

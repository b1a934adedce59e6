/* SPDX-License-Identifier: MIT
 *
 * trace_parts.h - a trace that several processes read together, each some of its files of events.
 *
 *   in every process                                 in the first one
 *   part_list()         what it sees
 *                       [who reads what]
 *   part_files()        the trace's files
 *   part_read_bytes()   of the small ones, in one that has them;
 *   part_move_bytes()   from there to all others
 *   part_begin()        processes and sites: from the same bytes, so the same
 *   part_read()         its share of the files of events
 *   part_move() ---------------------------------->  part_move()
 *   part_close()                                     part_end()     the trace
 *
 * Law: what part_end() gives is what trace_open() gives of a directory that has all those files, whoever has read which. */
#ifndef ANALYSIS_TRACE_PARTS_H
#define ANALYSIS_TRACE_PARTS_H

#include "analysis/trace/pipe.h"
#include "analysis/trace/trace.h"

struct opened_trace;

/* A file of a trace, as one process sees it. */
struct part_file {
	char *name;
	uint64_t bytes;          /* that it takes */
	uint64_t size;           /* how long it is, */
	int64_t changed;         /* and when it was changed last: two that say the same of these are the same file */
	bool readable;
};

/* What is in the directory; *why: why there is no trace in it, or NULL, to be freed. */
struct opened_trace *part_list(const char *directory, char **why);

/* Each of its files, by name; to be freed with part_free_files(). */
struct part_file *part_seen(const struct opened_trace *, size_t *n);
void part_free_files(struct part_file *, size_t n);

/* The trace has these files, by name. `elsewhere`: in several directories; this process looks into its own only for those
 * of events. */
void part_files(struct opened_trace *, const struct part_file *, size_t n, bool elsewhere);

/* Whether processes and sites come of it, or packets. */
bool part_is_small(const char *name), part_is_packets(const char *name);

/* What is in file number i, or why it cannot be read: nothing if it is too big and not `elsewhere`, then each process reads its
 * own. The second sends that, or takes it in. */
void part_read_bytes(struct opened_trace *, size_t i);
void part_move_bytes(struct opened_trace *, size_t i, struct tr_pipe *);

/* False: there is no trace; *why says why, to be freed. */
bool part_begin(struct opened_trace *, char **why);

/* What all processes must agree about, to go on. */
uint64_t part_sum(const struct opened_trace *);

/* Reads the files of events with these numbers among the trace's files. */
struct reading *part_read(struct opened_trace *, const size_t *files, size_t n);

/* What was found in them goes to the first process, or comes in there. */
void part_move(struct reading *, struct tr_pipe *);

/* NULL with a message in *error, to be freed; `all_here`: the first process has all files. Frees the rest. */
struct trace *part_end(struct reading *, bool all_here, char **error);
void part_close(struct reading *); /* in the others */
struct trace *part_refuse(struct opened_trace *, char *why, char **error); /* in place of part_read(): NULL; frees `why` */

#endif

/* SPDX-License-Identifier: MIT
 *
 * settings.h - what the environment says: the user's DPROF_* and who this process is in its job.
 *
 * Read once, when the library is loaded, and never changed. A value that cannot be understood
 * counts as absent and leaves a note for the report. */
#ifndef RUNTIME_SETTINGS_H
#define RUNTIME_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPROF_NAME_SIZE 65 /* of a host or job in file names, with NUL */
#define DPROF_COMPLAINTS 8

struct dprof_settings {
	bool off;                     /* DPROF_OFF */
	bool quiet;                   /* DPROF_QUIET: not a word on standard error */
	bool gather;                  /* DPROF_GATHER: files of other disks come to rank 0's folder */
	uint32_t left_out;            /* DPROF_EVENTS: kinds (bits) that are not recorded */
	uint64_t blocked_ns;          /* DPROF_BLOCKED_NS: from here on a call of the C library has blocked */
	size_t chunk_bytes;           /* DPROF_BUFFER: how much of a file is mapped at a time */
	int64_t rank;                 /* as the starter of the job says; -1: it does not */
	int64_t local_rank;           /* among the processes of the job on this host; -1: it does not say */
	char program[PATH_MAX];       /* the executable */
	char parent[PATH_MAX];        /* DPROF_DIR, absolute */
	const char *parent_given;     /* as it was given, or NULL; the environment's */
	char job[DPROF_NAME_SIZE];    /* the same in all processes of a job */
	char host[DPROF_NAME_SIZE];   /* DPROF_HOST, else the host's name */
	char hostid[2 * DPROF_NAME_SIZE]; /* equal means same clock */
	char complaint[DPROF_COMPLAINTS][160]; /* what was not understood; then empty ones */
};

/* The bit of a kind. */

extern struct dprof_settings dprof_settings;

void dprof_settings_read(void);

/* Copies what may stand in a file name, and '_' for all else. */
void dprof_file_name(char *to, size_t size, const char *from);

#endif

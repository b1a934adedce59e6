/* SPDX-License-Identifier: MIT
 *
 * trace_private.h - what the files trace*.c share while they open a trace.
 *
 *   trace.c          the order of things, the cursor
 *   trace_process.c  HOST-RANK.process: processes, clocks, modules; do they belong together?
 *   trace_sites.c    HASH.sites: from the address in a record to a site
 *   trace_events.c   HOST-RANK-THREAD.events: threads and their records
 *   trace_order.c    records that a signal handler put out of order
 *   trace_groups.c   who takes part in what */
#ifndef ANALYSIS_TRACE_PRIVATE_H
#define ANALYSIS_TRACE_PRIVATE_H

#include "analysis/trace.h"

/* One HASH.sites, read once however many processes name it. */
struct tr_sites {
	char *name;
	uint8_t *bytes;          /* strings of sites point into it */
	size_t size;
	bool damaged;            /* some sites could not be read; that has been said */
	uint32_t *site;          /* for each 8 bytes: the site that begins here, or TR_NO_SITE */
};

struct tr_module {
	uint64_t at, size;       /* addresses at <= a < at + size name its sites */
	const uint32_t *site;    /* of struct tr_sites */
};

/* A group that has one id in the records of a process and another in the trace. */
struct tr_renamed { uint64_t id, now; };

struct tr_modules {
	uint32_t clock;           /* of the process */
	struct tr_module *module; /* by address */
	size_t nmodules;
	bool incomplete;          /* a module's sites could not be read; that has been said */
	struct tr_renamed *renamed;
	size_t nrenamed;
};

/* A line "group ID ranks=..." or "group ID threads=... size=N" of a process file. */
struct group_line {
	uint64_t id;
	char *ranks;             /* as written; NULL when the line names threads */
	char *threads;           /* numbers of this process's threads; NULL when it names ranks */
	uint64_t size;           /* of a line that names threads; 0 when it does not say */
};

/* A line "module ..." of a process file. */
struct module_line {
	uint64_t at;
	char *sites, *path;
	size_t line;
};

/* A process file as read, before it is known where in the trace the process belongs. */
struct process_file {
	struct tr_process process;
	char *name, *stem;       /* HOST-RANK.process, HOST-RANK */
	char *hostid, *source;
	double ghz;
	int64_t clockid;         /* -1 when not said */
	uint32_t clock;          /* index in the trace */
	uint64_t half_width;     /* of the host's cores; 0 when not said */
	struct tr_packets packets;
	struct module_line *modules; size_t nmodules;
	struct group_line *groups;   size_t ngroups;
	char **notes;                size_t nnotes;
};

/* That a thread's records name this group. */
struct group_use {
	uint32_t thread;         /* index in the order of reading, then in the trace's */
	uint64_t id;
};

struct mapping { void *address; size_t size; };

/* What a struct trace really is. */
struct opened {
	struct trace t;          /* first, so that one pointer serves both */
	int directory;           /* descriptor, while opening */
	char **names; size_t nnames; /* of the files in it, sorted */
	struct process_file *files; size_t nfiles; /* same order as t.processes */
	struct tr_sites **sites; size_t nsites;
	struct mapping *mappings; size_t nmappings; /* event files */
	void **copies; size_t ncopies;  /* of records that had to be put in order */
	struct group_use *uses; size_t nuses;
};

bool name_ends(const char *name, const char *suffix);

/* Reads a whole file of the directory into memory, with a NUL behind it. NULL with errno set. */
char *read_whole(struct opened *, const char *name, size_t *size);

void open_processes(struct opened *);    /* files, t.processes, t.clocks, t.notes */
void open_modules(struct opened *);      /* sites, t.sites, modules of each process */
void open_threads(struct opened *);      /* t.threads, uses */
void open_groups(struct opened *);       /* t.groups */
void open_links(struct opened *);        /* t.links */
void close_process_files(struct opened *);

/* The site at an address that a record of that process names. */
static inline uint32_t site_at(const struct tr_modules *m, uint64_t address)
{
	size_t lo = 0, hi = m->nmodules;
	while (lo < hi) { /* modules before lo begin at or below the address, from hi on above */
		size_t mid = lo + (hi - lo) / 2;
		if (m->module[mid].at <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return TR_NO_SITE;
	const struct tr_module *module = &m->module[lo - 1];
	uint64_t offset = address - module->at;
	return offset < module->size ? module->site[offset / 8] : TR_NO_SITE;
}

/* A signal handler that records more than this is not believed. */
#define HANDLER_RECORDS 4096

/* The record of an event that was written whole. Before the first other stamp of a thread that
 * ended in good order, 0 is a stamp, too; elsewhere it is what remains when nobody came back to
 * read the counter: the process ended, or a signal handler jumped away. */
static inline bool is_event(const struct dprof_record *r, bool zero_is_stamp)
{
	return DPROF_OP(r->what) <= DPROF_POINT && DPROF_BODY(r->what) &&
	       (r->stamp || zero_is_stamp);
}

/* What a thread's records lost on the way into order. */
struct order_damage {
	size_t dropped;          /* records whose stamps contradict their place */
	size_t first;            /* the first of them; its stamp should have been ... */
	uint64_t at_least, at_most; /* ... from the kept one before to the kept one after */
};

/* Writes the n records of `in` to `out`, without unfinished ones, in the order of their stamps,
 * as far as signal handlers explain the disorder, without those that they do not explain. The
 * number written. */
size_t order_records(const struct dprof_record *in, size_t n, bool complete,
		     struct dprof_record *out, struct order_damage *damage);

#endif

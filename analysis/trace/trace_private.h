/* SPDX-License-Identifier: MIT
 *
 * trace_private.h - what the files trace*.c share while they open a trace.
 *
 *   trace.c          the order of things
 *   trace_files.c    the directory
 *   trace_process.c  HOST-RANK.process, line by line
 *   trace_processes.c  all of them: processes, clocks, modules; do they belong together?
 *   trace_sites.c    HASH.sites: which site stands at which address
 *   trace_classify.c what each site is
 *   chunks*.c        the words of a thread, from its files
 *   trace_decode.c   from words to records
 *   store.c          from records to blocks of columns
 *   columns.c        the cursor
 *   trace_threads.c  which files of events there are, and who reads them
 *   trace_parts.c    several processes read a trace together
 *   trace_nursery.c  HOST-RANK.nursery: threads that have a slot there, and no file of events
 *   trace_events.c   HOST-RANK-THREAD.events: threads and their records
 *   trace_scan.c     a look at each record, on its way into the store
 *   trace_jumps.c    places that were left without an exit
 *   trace_order.c    records that a signal handler put out of order
 *   trace_late.c     operations that were recorded behind what a signal handler did meanwhile
 *   trace_sched.c    what the kernel said of each thread
 *   trace_check.c    what contradicts itself
 *   trace_absent.c   threads and ranks of which nothing is here
 *   trace_killed.c   until when processes without an end may have run
 *   trace_groups.c   who takes part in what
 *   trace_forked.c   children that begin in the regions in which they were forked
 *   trace_text.c     names as they may be shown */
#ifndef ANALYSIS_TRACE_PRIVATE_H
#define ANALYSIS_TRACE_PRIVATE_H

#include "analysis/base/ids.h"
#include "analysis/trace/chunks.h"
#include "analysis/trace/store.h"
#include "analysis/trace/trace.h"
#include "runtime/words.h"

/* One HASH.sites, read once however many processes name it. */
struct tr_sites {
	char *name;
	uint8_t *bytes;          /* strings of sites point into it */
	size_t size;
	bool damaged;            /* some sites could not be read; that has been said */
	/* For each 8 bytes: what an event's word means that names them. A site begins here (4 * site),
	 * 16 bytes before (+ DPROF_EXIT), 32 bytes before (+ DPROF_POINT), or none does: TR_NO_SITE. */
	uint32_t *what;
};

struct tr_module {
	uint64_t at, size;       /* addresses at <= a < at + size name its sites */
	uint64_t first_id;       /* of `at`, in words */
	uint64_t from;           /* the stamp since which ids that it shares with others are its own */
	const uint32_t *what;    /* of struct tr_sites */
};

/* What the ids of words say, by id / 2 (their lowest bit is 0): TR_WHAT of a site and an operation, or
 * that no module knows the id, or that several do. All pages that say nothing are one. */
#define IDS_PAGE   4096
#define IDS_PAGES  (DPROF_IDS / 2 / IDS_PAGE)
#define TR_SEVERAL (TR_NO_SITE - 1)
struct tr_ids {
	uint32_t *page[IDS_PAGES];
	uint32_t *own[IDS_PAGES]; size_t nown; /* those that say something */
};

struct tr_modules {
	uint32_t clock;           /* of the process */
	struct tr_module *module; /* by address */
	size_t nmodules;
	struct tr_ids *ids;       /* of all modules, while words of the process are read; else NULL */
	size_t readers;           /* who reads them, each on a POSIX thread of its own */
	bool incomplete;          /* a module's sites could not be read; that has been said */
	struct ids renamed;       /* groups that have one id in its records ... */
	uint64_t *now;            /* ... and another in the trace */
};

/* A line "group ID ranks=..." or "group ID threads=... size=N" of a process file. */
struct group_line {
	uint64_t id;
	char *ranks;             /* as written; NULL when the line names threads */
	char *threads;           /* numbers of this process's threads; NULL when it names ranks */
	uint64_t size;           /* of a line that names threads; 0 when it does not say */
	bool shared;             /* it names threads, and others are in other processes */
	bool reordered;          /* likewise, and the group's order is not that of the ranks */
};

/* A line "module ..." of a process file. */
struct module_line {
	uint64_t at, from;
	char *sites, *path;
	size_t line;
};

/* A line "sched ...", or what the header of a file of events says of that. */
struct sched_line { uint32_t thread; struct dprof_sched says; };
/* A line "sync FILE [records=N]". */
struct sync_line { char *file; uint64_t records; bool closed; };

/* A line "ran PROGRAM [pid=N]"; 0: not said. */
struct ran_line { char *program; uint64_t pid; };

/* A line "missing THREAD why=WORD". */
struct missing_line { uint32_t number; uint64_t why; };

/* A process file as read, before it is known where in the trace the process belongs. */
struct process_file {
	struct tr_process process;
	char *name, *stem;       /* HOST-RANK.process, HOST-RANK */
	char *hostid, *source;
	double ghz;
	int64_t clockid;         /* -1 when not said */
	uint32_t clock;          /* index in the trace */
	uint64_t uncertainty;    /* of the host's cores; 0 when not said, */
	bool compared;           /* as is, then, that they were compared */
	uint64_t entered;        /* first records of its first thread: where that was forked */
	bool no_marks, marks_unknown; /* whatever its modules' sites say */
	bool was_damaged;        /* the trace, when it was dumped as the text of which this one is made */
	struct tr_packets packets;
	struct module_line *modules; size_t nmodules;
	struct group_line *groups;   size_t ngroups;
	struct stopped_line *stopped;          size_t nstopped;
	struct sched_line *sched;    size_t nsched;
	struct sync_line *syncs;     size_t nsyncs;
	struct missing_line *missing; size_t nmissing;
	struct ran_line *programs;   size_t nprograms;
	uint64_t lost, why;      /* records without a file of events, and why: bits */
	char **threads;              size_t nthreads; /* lists of numbers and ranges */
	char *parent;            /* HOST-RANK of the process that it was forked from; NULL when not said */
	char **children;             size_t nchildren; /* likewise of its children that were over and have files */
	bool summed, sum;        /* it is to end with a sum; and does */
	bool changed;            /* it is not what was written, or of another job: nothing that it says counts */
	uint32_t left_out;       /* kinds */
	char **notes;                size_t nnotes;
};

/* From a stamp to a stamp of a process: what was recorded meanwhile has ambiguous stamps. */
struct stopped_line { uint64_t from, to; };

/* That a thread's records name this group. */
struct group_use {
	uint32_t thread;         /* index in the order of reading, then in the trace's */
	uint64_t id;
};

void sched_keep(struct process_file *, uint32_t thread, const struct dprof_sched *);

/* What another process has read of a file; or why it could not. */
struct tr_given { bool known; uint8_t *bytes; size_t size; char *found; int error; };

/* What a struct trace really is. */
struct opened_trace {
	struct trace t;          /* first, so that one pointer serves both */
	int directory;           /* descriptor, or -1 */
	char **names; size_t nnames; /* of the files in it, sorted */
	struct tr_given *given;  /* of each of them; NULL: nothing of any */
	bool elsewhere;          /* what is not given is not there, but for files of events and of packed chunks */
	struct process_file *files; size_t nfiles; /* same order as t.processes */
	struct tr_sites **sites; size_t nsites;
	struct group_use *uses; size_t nuses;
	struct event_reader *reader; /* while files of events are read */
};

/* Reads files of events, one at a time, with what it needs for that; others do at the same time (trace_threads.c). */
struct event_reader {
	struct ch_unpacker *unpacker;
	struct tr_writer *writer; /* of t.store */
	struct tr_modules *modules; /* whose ids are open for it, or NULL */
};

bool name_ends(const char *name, const char *suffix);

/* Lists the directory; NULL, or why there is no trace in it, to be freed. */
char *list_directory(struct opened_trace *);
int by_file_name(const void *a, const void *b); /* for qsort and bsearch, of names */
void close_given(struct opened_trace *);

/* As frz_open_regular(): a file of the directory, or what was given of it. */
int open_named(const struct opened_trace *, const char *name, const char **found);

/* Reads a whole file of the directory, of at most so many bytes, into memory, to be freed. NULL: then
 * *found says what was found instead. */
char *read_whole(struct opened_trace *, const char *name, size_t most, size_t *size,
		 const char **found);
/* Likewise what was opened already, and closes it. Of one that is bigger than that, *found is FOUND_TOO_BIG. */
#define FOUND_TOO_BIG "a file that is far too big"
char *read_opened(int fd, size_t most, size_t *size, const char **found);

/* What trace_open() does, one behind the other: with the list of files; with the files of events read; */
struct opened_trace *begin_trace(const char *directory);
char *open_sites_of_all(struct opened_trace *); /* NULL, or why there is no trace, to be freed */
struct trace *finish_trace(struct opened_trace *);
struct trace *refuse_trace(struct opened_trace *, char *why, char **error); /* instead: NULL; frees `why` */

void read_process_file(struct opened_trace *, const char *name); /* adds it to the files */
void free_process_lines(struct process_file *);
void open_processes(struct opened_trace *); /* files, t.processes, t.clocks, t.notes */
void open_modules(struct opened_trace *); /* sites, t.sites, modules of each process */
void close_modules(struct tr_modules *);
void open_module_ids(struct tr_modules *);  /* for one more reader, */
void close_module_ids(struct tr_modules *); /* for one less */
void open_threads(struct opened_trace *); /* t.threads, uses */

/* What a file of events gave. */
struct file_found {
	struct tr_thread *threads; size_t nthreads;
	struct group_use *uses;    size_t nuses;
	char **diagnostics;        size_t ndiagnostics;
};

/* What open_threads() does, in steps. Between the last two another process may have added what it found in others. */
struct reading {
	struct opened_trace *o;
	const char **name; size_t n;   /* of the files of events, and of nurseries */
	size_t nthreads;               /* that they may have */
	size_t *task; size_t ntasks;   /* which of them are to be read here; all, unless that is changed */
	struct process_file **by_stem;
	struct event_reader *readers;
	struct file_found *found;      /* in each */
};
void reading_begin(struct reading *, struct opened_trace *);
void reading_share(struct reading *);
/* False if all has to be read anew by one reader (store_finish()); the other does that, unless not all is here: then it is
 * false. */
bool reading_finish(struct reading *);
bool reading_join(struct reading *, bool all_here);
void reading_end(struct reading *, bool take); /* `take`: what was found becomes the trace's */

/* Where the header of a thread stands: in a file of events, or in a slot of a nursery at some offset. */
struct header_place { const char *name; uint64_t at; bool in_slot; };

/* All processes in the order of their stems, for the caller to free; that with the n bytes of a stem, or NULL; and how long
 * that is in the name of a file HOST-RANK.*, or with `number` HOST-RANK-THREAD.*: 0 if the name is none of the kind. */
int process_by_stem(const void *a, const void *b); /* for qsort */
struct process_file **processes_by_stem(const struct opened_trace *);
const struct process_file *process_with_stem(const struct opened_trace *, const char *name, size_t n,
					     struct process_file *const *by_stem);
size_t stem_of(const char *name, uint32_t *number);

/* trace_events.c: adds the thread of a file, or of a header, to t.threads, unless there is none, and what it uses to uses; to
 * its `sched` only what the header says. `by_stem`: all processes. */
void read_events(struct opened_trace *, const char *name, struct process_file *const *by_stem);
void read_header_at(struct opened_trace *, struct header_place, struct process_file *const *by_stem);

/* trace_nursery.c: those of all slots whose threads have no file of events; does this thread, of the process with that
 * stem, have a slot; and how many threads may there be in it? */
void read_nursery(struct opened_trace *, const char *name, struct process_file *const *by_stem);
bool has_slot(const struct opened_trace *, const char *stem, uint32_t number);
size_t slots_in(const struct opened_trace *, const char *name);
void open_sched(struct opened_trace *);  /* sched of t.threads */

/* trace_absent.c: the ranks that the others say there were, and processes of which only other files are here; and the
 * threads of which nothing is here. */
void open_absent_processes(struct opened_trace *); /* behind check_ranks: files */
void open_absent_threads(struct opened_trace *); /* t.threads, as trace.h wants them */
void open_forked(struct opened_trace *); /* behind that: what the first threads of children were in when they were forked */
/* Once all records are read, these are the records of the thread. */
void replace_stored(struct opened_trace *, struct tr_thread *, const struct tr_record *, size_t n);
void add_absent_thread(struct opened_trace *, const struct process_file *, uint32_t number);
void sort_threads(struct opened_trace *);  /* as trace.h wants them */

void open_groups(struct opened_trace *); /* t.groups */
void open_killed(struct opened_trace *); /* who has no end: `latest` of its threads, and what killed it, where that is known */
void say_unfinished(struct opened_trace *); /* behind that */
void open_texts(struct opened_trace *);  /* all strings of t become what may be shown; last */
void close_texts(struct trace *);
void close_process_files(struct opened_trace *);
void trace_thread_free(struct tr_thread *); /* what is its own */

/* ---- Words ----------------------------------------------------------------------------------- */

struct word_place {
	size_t at;               /* of the next word */
	size_t record;           /* of the record before */
	uint64_t near, epoch;    /* the stamp before, and the last epoch */
	bool is_behind;          /* the thread's last call, too */
};

/* A thread's words, while the trace is opened. */
struct tr_words {
	const struct tr_modules *modules;
	struct ch_words words;
	struct dprof_last_call last;
};

enum word_damage {
	DAMAGE_NONE,             /* a record */
	DAMAGE_SILENT, DAMAGE_END,
	DAMAGE_NO_SITE, DAMAGE_NO_MODULE, DAMAGE_AMBIGUOUS, /* an event all the same */
	DAMAGE_FOREIGN, DAMAGE_UNWRITTEN,                   /* no record */
};

static inline bool is_record(enum word_damage d)
{
	return d == DAMAGE_NONE ||
	       (d >= DAMAGE_NO_SITE && d <= DAMAGE_AMBIGUOUS);
}

/* The record at a place, which moves behind it; never DAMAGE_SILENT. */
enum word_damage words_next(struct tr_words *, struct word_place *, struct tr_record *);

/* What an event's word says, as the table has it. */
static inline uint32_t words_what(const struct tr_ids *ids, uint64_t word)
{
	uint64_t at = (word & (DPROF_IDS - 1)) / 2;
	return ids->page[at / IDS_PAGE][at % IDS_PAGE];
}

/* An argument, of which the next word says no more. */
static inline bool words_plain_argument(uint64_t word, uint64_t next)
{
	unsigned key = dprof_small(word);
	return dprof_is(word, DPROF_ESCAPE_ARG) && key != DPROF_KEY_NONE && key < DPROF_KEY_COUNT &&
	       !dprof_is(next, DPROF_ESCAPE_ARG_HIGH) && !dprof_is(next, DPROF_ESCAPE_EPOCH);
}

void words_close(struct tr_words *);

/* A signal handler that records more than this is not believed. */
#define HANDLER_RECORDS 4096

/* The records of a thread; of each one its word, and the epoch before it. */
struct loaded { struct tr_record *record; size_t *word; uint64_t *epoch; size_t n; };

/* trace_late.c: what was recorded later than it began goes to its place. */
void bring_forward(struct loaded *);

/* What a thread's records lost on the way into order. */
struct order_damage {
	size_t dropped;          /* records whose stamps contradict their place */
	size_t first;            /* the first of them; its stamp should have been ... */
	uint64_t at_least, at_most; /* ... from the kept one before to the kept one after */
};

/* Writes the n records of `in` to `out` in the order of their stamps, as far as signal handlers
 * explain the disorder, without those that they do not explain. The number written. Sites are the trace's. */
size_t order_records(const struct trace *, const struct tr_record *in, size_t n, struct tr_record *out,
		     struct order_damage *damage);

#endif

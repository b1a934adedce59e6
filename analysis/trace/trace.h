/* SPDX-License-Identifier: MIT
 *
 * trace.h - a trace directory as the analyses see it.
 *
 * Law: a trace gives every record that can be read, in the order of recording, and names everything
 * that cannot: each diagnostic is a sentence with file, offset, what was expected and what was found.
 * Nothing here interprets clocks: stamps are raw.
 *
 * All records are decoded once, when the trace is opened, into columns that stand in memory or in a temporary file
 * (store.h), so that memory does not grow with the length of a run, and files that change later change nothing. A
 * cursor has a buffer of its own: any number of them may be used at once, each by one POSIX thread at a time. */
#ifndef ANALYSIS_TRACE_H
#define ANALYSIS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/search.h"
#include "analysis/model/arguments.h"
#include "analysis/model/event.h"
#include "analysis/model/operation.h"
#include "analysis/model/replay.h"
#include "freezer/solve.h"
#include "runtime/format.h"

struct tr_blocks;
struct tr_jumps;
struct tr_reader;
struct tr_store;
struct tr_words;

struct tr_packets {           /* of a host's endpoint, over the whole run */
	uint64_t exchanges, unanswered; /* questions it asked */
	uint64_t forged, stale;         /* packets it dropped */
};

struct tr_clock {             /* one per host; number 0 is the base unless the user says otherwise */
	char *host;
	double ghz;           /* nominal, for seconds only */
	char *source;         /* "tsc" or "monotonic_raw" */
	uint64_t uncertainty; /* ticks by which any stamp of the host may differ from this clock, because
				 it was taken on one core or another; 0 when that was not measured: */
	bool compared;        /* it was, or the kernel's clock was read, which sees to that */
	struct tr_packets packets;
};

struct tr_site {
	enum dprof_kind kind;
	const char *name, *file, *function; /* function may be "" */
	uint32_t line, column;
	bool automatic; /* a region that the user did not mark */
	enum dprof_role role;
	uint32_t stage; /* of that role: from 1 on */
	struct operation op; /* what that is; and */
	uint32_t alike; /* the first site of its kind and name: trace_classify() */
};

/* What an event is, but for its stamp and the values of its arguments: each once in a trace. */
struct tr_what {
	uint32_t site;           /* index; TR_NO_SITE of a loss, and of an event whose site is missing */
	uint8_t op;              /* enum dprof_op: ENTER, EXIT, POINT or LOST */
	uint8_t nargs;
	uint16_t keys;           /* bits 1 << key: of its arguments */
	uint8_t key[DPROF_KEY_COUNT]; /* of each argument, in the order of recording */
};

/* Events of one thread that follow each other. */
struct tr_columns {
	size_t n;
	const uint64_t *stamp;   /* of a loss: that of the event before it, or 0 */
	const uint32_t *what;    /* index in the trace's whats */
	const uint32_t *argument; /* index of its first argument, and behind it the others, in ... */
	const uint64_t *value;   /* a loss has one: how many records are lost */
};

struct tr_thread {
	uint32_t clock;
	int64_t rank;         /* -1 without one */
	uint32_t number;      /* of the thread in its process */
	char *name;
	uint64_t lost;        /* records that are not here; 1 for each place where it is not known how many, */
	uint64_t dropped;     /* those among them that were dropped, ... */
	uint64_t why;         /* ... because of this: bits 1 << enum dprof_why */
	bool unrecorded;      /* no adapter had noticed that it was made, but it was: it counts as one that lost 1 */
	size_t unknown_joins; /* of threads that no adapter had noticed */
	uint32_t joined;      /* of the threads that it joined, the highest number, and 1; or 0 */
	size_t unseen;        /* calls that it asked the C library for, in threads of its own; children of it ... */
	const char *unseen_by; /* ... that were killed: the name of the last one's site */
	bool lost_child;      /* there are such children */
	bool lost_last;       /* more than the LOST among its records say: at any time behind them */
	uint64_t earliest, latest; /* none was recorded before or after these stamps */
	bool gaps;            /* some records were damaged, or left out as out of order */
	bool complete;        /* ended in good order; otherwise it was killed or still runs */
	uint64_t ended;       /* stamp, if it is complete: it records nothing after that */
	bool ran_on;          /* it ended because its process did, */
	bool ended_it;        /* ... which it has ended itself */
	uint64_t may_jump;    /* from this stamp on it may have left places without an exit; UINT64_MAX: it has not */
	bool switches;        /* stacks: swapcontext, ... (trace_jumps.h) */
	struct tr_jumps *jumps; /* which (trace_jumps.h); NULL: none */
	size_t entered;       /* so many first records are none: it was forked in these regions (trace_forked.c) */
	uint32_t *open; size_t nopen; /* the regions, innermost first, that its process's end ended: trace_events and
				 trace_places give an exit of each at `ended`, which no record says */
	struct tr_blocks *blocks; /* its events, in the order of their stamps (store.h); NULL: none */
	struct tr_words *words;  /* while the trace is opened */
	size_t nrecords;      /* events, arguments, losses */
	struct dprof_sched *sched; /* what the kernel said of it, in that order (sched.h) */
	size_t nsched;
	uint32_t process;     /* index of its process; sites are looked up in that process's modules */
};

struct tr_group {
	uint64_t id;
	uint32_t *threads;    /* indices of the threads that take part, ascending */
	size_t nthreads;
	size_t size;          /* how many should take part; more than nthreads when a rank is missing */
	bool by_rank;         /* its own order is that of the ranks */
};

#define TR_OUTSIDE (UINT32_MAX - 2) /* no site: outside of all regions and operations */
#define TR_BEFORE (UINT32_MAX - 4)   /* no site: the thread has recorded nothing yet */
#define TR_ALL_WORK (UINT32_MAX - 3) /* no site: in any region, or outside of all where that is work */

#define TR_NO_PARENT UINT32_MAX

struct tr_process {
	char *program, *job, *host;
	int64_t rank, size;   /* -1 when unknown */
	bool absent;          /* a rank of which nothing is here */
	uint64_t pid;
	bool finished;
	bool ran;             /* it started other programs, which are not in the trace */
	uint32_t execs;       /* that did not fail: unless it finished, another program took its place */
	uint32_t killed;      /* by this signal, which another process of the trace had sent, or so it seems; 0: not known */
	uint64_t started;     /* stamp from which on its first thread is known to be there; 0: not known */
	uint64_t ended;       /* stamp of its end in good order; 0: not known */
	bool forked;          /* and before that it was nowhere; ... */
	bool executed;        /* ... or was another program, which did anything, ... */
	bool says_entered;    /* its first thread's records have all regions in which it was forked */
	uint64_t unborn;      /* ... but was nowhere at this stamp; 0: that is not known of any */
	uint32_t parent;      /* index of the process that forked it, or one without files that comes from it; TR_NO_PARENT */
	uint64_t init_from, init_to; /* stamps: its first thread was in MPI_Init; 0: not known */
	uint64_t unseen_ns;   /* by the kernel's clock: threads of it ran so long that are not recorded, ... */
	uint64_t unseen_ended; /* ... with what so many that are recorded ran as they ended */
	bool marked;          /* its program has regions that the user marked, or may have: */
	bool marks_unknown;   /* some of its sites cannot be read */
	uint32_t left_out;    /* kinds (TR_KIND_BIT) that it did not record: DPROF_EVENTS */
	bool regions_left_out; /* its program has regions, or may have, and did not record them */
	/* what trace.c needs to look sites up is private to it, in trace_private.h */
	struct tr_modules *modules;
};

/* A string of the trace that could not be shown as it was (trace_text.c). */
struct tr_raw { const char *shown, *raw; bool of_site; };

struct trace {
	char *directory;
	struct tr_clock *clocks;     size_t nclocks;
	struct tr_process *processes; size_t nprocesses;
	uint64_t uncounted;   /* ranks that are missing beside these: of very many the first stand for all */
	struct tr_thread *threads;   size_t nthreads;   /* by rank, then number */
	struct tr_site *sites;       size_t nsites;
	struct tr_group *groups;     size_t ngroups;
	struct frz_link *links;      size_t nlinks;     /* packets, in the order of the logs */
	char **diagnostics;          size_t ndiagnostics; /* damage and contradictions, one sentence each */
	char **notes;                size_t nnotes;     /* what the reader is to know, but damage */
	size_t note_of_file, nnotes_of_files; /* of them: those what check says of files and ends, though no record is lost */
	struct tr_inheritance *inheritance; /* what threads of teams inherit (inherit.h); or NULL */
	uint32_t left_out;    /* kinds that some process did not record */
	struct tr_raw *raw;          size_t nraw;       /* by address of what is shown */
	struct tr_store *store;      /* the events of all threads, and ... */
	const struct tr_what *whats; /* ... what they are */
};
#define TR_KIND_BIT(kind) (UINT32_C(1) << (kind))

/* Whether a site is any of `is` (OP_...); one that is missing is nothing. */
static inline bool tr_is(const struct trace *t, uint32_t site, uint32_t is)
{
	return site < t->nsites && t->sites[site].op.is & is;
}

static inline bool tr_may_try(const struct trace *t, uint32_t site)
{
	return site < t->nsites && operation_may_try(&t->sites[site].op);
}

/* Of a region: the user marked it. */
static inline bool tr_is_marked(const struct trace *t, uint32_t site)
{
	return tr_is(t, site, OP_REGION) && !t->sites[site].automatic;
}

/* Stamps of a clock's host that differ by no more may have been taken in the other order: its cores do not show quite the same. */
static inline uint64_t tr_slack(const struct trace *t, uint32_t clock)
{
	return 2 * t->clocks[clock].uncertainty;
}

/* Of a thread's clock. */
static inline double tr_ghz(const struct trace *t, size_t thread)
{
	return t->clocks[t->threads[thread].clock].ghz;
}

/* As which site it counts where times are added up by site: regions of one name are one, the first of them. One that is missing
 * (and what stands for none) is itself. */
static inline uint32_t tr_row(const struct trace *t, uint32_t site)
{
	return tr_is(t, site, OP_REGION) ? t->sites[site].alike : site;
}

/* Likewise, as the row of a table that has one more, the last, for all that is missing or no site. */
static inline uint32_t tr_row_or_last(const struct trace *t, uint32_t site)
{
	return site < t->nsites ? tr_row(t, site) : (uint32_t)t->nsites;
}

/* What the site of an event is; nothing when it is missing. */
static inline const struct operation *tr_operation(const struct trace *t, const struct tr_event *e)
{
	static const struct operation missing = { .flow = FLOW_NOWHERE, .begun = FLOW_NOWHERE };
	return e->site < t->nsites ? &t->sites[e->site].op : &missing;
}

/* The group with this id; NULL: there is none. They stand in the order of their ids. */
static inline const struct tr_group *trace_group(const struct trace *t, uint64_t id)
{
	size_t at = SEARCH(t->ngroups, i, t->groups[i].id < id);
	return at < t->ngroups && t->groups[at].id == id ? &t->groups[at] : NULL;
}

/* Whether it is the first thread of its process that is there. */
static inline bool trace_begins_process(const struct trace *t, size_t thread)
{
	return thread == 0 || t->threads[thread - 1].process != t->threads[thread].process;
}

static inline int64_t trace_pid(const struct trace *t, size_t thread)
{
	return (int64_t)t->processes[t->threads[thread].process].pid;
}

/* Of an ENTER, for whoever replays a thread. */
static inline struct replay_entry tr_entry(const struct trace *t, const struct tr_event *e)
{
	return (struct replay_entry){ .stamp = e->stamp, .site = e->site, .is = tr_operation(t, e)->is,
				      .jumped = e->jumped, .unsure = e->unsure };
}

/* Whether the thread was in MPI_Init, of which there are no events, from init_from to init_to of its process: surely behind
 * its first event, which has this stamp. */
static inline bool tr_inits_later(const struct trace *t, const struct tr_thread *thread, uint64_t first)
{
	const struct tr_process *p = &t->processes[thread->process];
	uint64_t slack = tr_slack(t, thread->clock);
	return thread->number == 0 && p->init_from <= p->init_to && first < p->init_from &&
	       p->init_from - first > slack;
}

/* Sets `op` and `alike` of all sites; trace_open() has done so. */
void trace_classify(struct trace *);

/* Opens a trace directory. Whatever is readable is there even when it is damaged; look at ndiagnostics.
 * NULL with a message in *error (to be freed) when there is nothing to analyse at all. */
struct trace *trace_open(const char *directory, char **error);
void trace_close(struct trace *);

/* How much a walk over all threads reads. */
static inline uint64_t trace_records(const struct trace *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].nrecords;
	return n;
}

/* A string of the trace as it was recorded; all strings in struct trace may be shown on a terminal. */
const char *trace_raw(const struct trace *, const char *shown);
/* Looks for what contradicts itself in the records: each such thing, and each loss, is then a
 * diagnostic; and what a process ended inside of a note. How many events there are. */
uint64_t trace_check(struct trace *);

/* Adds a diagnostic, for whoever finds a contradiction later. */
void trace_diagnose(struct trace *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a note, for whoever finds later that something is not known: no damage. What is a note already is none more. */
void trace_note(struct trace *, const char *note);

/* Drops of the diagnostics from `before` on those that stand before it: several commands that ask the same find it anew. */
void trace_forget_repeated(struct trace *, size_t before);

/* Regions that are inherited, outermost first: inherit.c. */
struct tr_places { const struct inherited_region *v; size_t n; };

/* Walks one thread's events in the order of recording. A copy looks ahead or back, and shares the buffer: it is for the
 * same POSIX thread, and has no end of its own. */
struct tr_cursor {
	const struct trace *trace;
	const struct tr_thread *thread;
	struct tr_reader *reader; /* its buffer */
	size_t open;          /* of the regions that are open at the end, how many it has left */
	size_t next;          /* event */
	/* of trace_places(), which inherit.c sees to */
	const struct tr_inheritance *inheritance; /* NULL: nothing is inherited */
	uint64_t group, seq, stamp;
	struct tr_places inside, leave, enter; /* what it is in of its team's; what is to be left, and then entered, now */
	size_t run, nruns;    /* the task that it runs, and how many it has begun */
	uint32_t team_site;
	bool forks, in_team, switched;
	bool tangled, told;   /* its places are not known: and that has been said, by a LOST */
};
struct tr_cursor trace_events(const struct trace *, size_t thread);
void trace_end(struct tr_cursor *);

/* Likewise, and with the enters and exits of regions that the thread inherits (inherit.h): for whoever asks
 * where a thread is. Of a thread that is tangled (trace_jumps.h) all sites are unknown. */
struct tr_cursor trace_places(const struct trace *, size_t thread);
bool trace_next(struct tr_cursor *, struct tr_event *);

/* Likewise in two steps, for those who seldom want the arguments: the event without them, and then, if
 * wanted, the arguments of the event that the cursor has given last. */
bool trace_next_bare(struct tr_cursor *, struct tr_event *);
void trace_arguments(const struct tr_cursor *, struct tr_event *);

/* Likewise many at once: the events from the cursor on that are at hand, until it, or a copy of it, is used again. Nothing
 * that is inherited or implied is among them, and nothing says what is `jumped`. False at the end. */
bool trace_columns(struct tr_cursor *, struct tr_columns *);

/* Likewise, for those who want no arguments: only stamps, and what the events are. */
bool trace_columns_bare(struct tr_cursor *, struct tr_columns *);

/* Passes over events, as far as their sites let it, and says how many and what the last one was: TR_PASS_BARE events
 * without arguments, TR_PASS_ARGUMENTS those with them; notes in TR_PASS_ENTERED that a site was entered. Stops before
 * a loss, and passes over nothing of trace_places() or of a thread that jumped. */
enum { TR_PASS_BARE = 1, TR_PASS_ARGUMENTS = 2, TR_PASS_ENTERED = 4 };
struct tr_passed { size_t n; uint64_t stamp; uint32_t site; };
struct tr_passed trace_pass(struct tr_cursor *, uint8_t *sites);

/* Adds the stamps of every `step`-th event of a thread that trace_next() gives, losses not counted, and once more that of
 * its last one. Where nothing is lost it looks at those alone, and reads only blocks in which there is one. */
struct tr_sample { uint64_t *stamp; size_t count; };
void trace_sample(const struct trace *, size_t thread, size_t step, struct tr_sample *);

/* How many whats there are. Who asks the same of each event in columns asks it of these, once. */
size_t trace_kinds(const struct trace *);

/* Which of these are wanted, once for all threads; and whether a thread has recorded any of them: of most that have none that is
 * known without looking at its events. */
struct tr_wanted { const bool *what; uint64_t *kinds; };
struct tr_wanted trace_wanted(const struct trace *, const bool *what);
void trace_wanted_close(struct tr_wanted *);
bool trace_recorded(const struct trace *, const struct tr_wanted *, size_t thread);

/* Event i of the columns, with its arguments, as trace_next() gives it. */
void trace_event_of(const struct trace *, const struct tr_columns *, size_t i, struct tr_event *);
static inline const struct tr_what *trace_what(const struct trace *t, const struct tr_columns *k, size_t i)
{
	return &t->whats[k->what[i]];
}

/* An argument of event i of the columns, or `otherwise`. */
static inline uint64_t trace_value(const struct trace *t, const struct tr_columns *k, size_t i, enum dprof_key key,
				   uint64_t otherwise)
{
	const struct tr_what *what = trace_what(t, k, i);
	for (unsigned a = 0; a < what->nargs && what->keys >> key & 1; a++)
		if (what->key[a] == key)
			return k->value[k->argument[i] + a];
	return otherwise;
}

/* The stamps of a thread's first event and its last; false when it has none. */
bool trace_ends(const struct tr_thread *, uint64_t *first, uint64_t *last);

/* Whether records may be lost before its first event, and behind its last one. */
bool trace_lost_before(const struct tr_thread *);
bool trace_lost_behind(const struct tr_thread *);

/* Another program took its place (exec), as far as it says. What that did is not here. */
static inline bool trace_was_replaced(const struct tr_process *p)
{
	return !p->finished && p->execs > 0;
}

/* It has no end, and the trace does not say why: it may still run, or have lost the right to write. */
static inline bool trace_was_cut(const struct tr_process *p)
{
	return !p->finished && !p->execs && !p->killed;
}

/* All that happened may be in it: it is not damaged, and nobody was killed, of whom it lacks what came behind the last record. */
bool trace_has_all(const struct trace *);

/* Whether it may have gone on behind its last record, until `latest`: some are lost there, or it was killed, or still runs. */
bool trace_goes_on(const struct tr_thread *);

/* Whether a thread may have gone on behind all events of its clock: then it is not known when the run ended. */
bool trace_end_open(const struct trace *);

/* ": the disk is full: set ...; ..." from bits 1 << enum dprof_why, "" from none; to be freed. */
char *trace_why(uint64_t why);

/* Whether any thread lacks records. */
bool trace_lacks(const struct trace *);

/* "enter", "region", "group", ... : the words of the text form. */
const char *tr_kind_word(enum dprof_kind);
struct role_word { char text[16]; };
struct role_word tr_role_word(const struct tr_site *); /* "stage:3"; "" of none */
bool tr_role_of(const char *word, struct tr_site *); /* false: there is no such word, and the site has none */
const char *tr_key_word(enum dprof_key);

/* Sets of kinds, with commas between them; the words are to be freed. */
char *tr_kinds_words(uint32_t kinds);
bool tr_kinds_of(const char *words, uint32_t *kinds);

#endif

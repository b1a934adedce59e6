/* SPDX-License-Identifier: MIT
 *
 * text.h - the text form of a trace, "dprof-text 1".
 *
 *   clock N host=NAME ghz=X source=WORD halfwidth=N  the first is the base
 *   process N clock=N rank=N size=N pid=N program=PATH job=ID finished=0|1
 *        ran=1                                    format.h, lines ran: it started other programs
 *        execs=1                                  format.h, the line exec: another program took its place
 *        started=STAMP forked=1 parent=N unborn=STAMP  format.h, the line started; N: of a process
 *        init_from=STAMP init_to=STAMP            format.h, the line init
 *        marks=none|unknown                       format.h, the line marks
 *        ended=STAMP                              it finished then, and not with the last thing that its threads did
 *        unseen_ns=N unseen_ended=N               format.h, the line unseen
 *        without=KINDS                            format.h, the line without
 *   thread N clock=N rank=N process=N number=N name=TEXT lost=N complete=0|1
 *        ran_on=0|1|2                             complete: it ended; ran_on: because its process did (2: which it has ended)
 *        ended=STAMP                              ... and then, behind its last event; where records are lost it is not
 *                                                 known without
 *        jumps=STAMP                              from then on it may have left places without an exit (0: never did;
 *                                                 trace_jumps.h)
 *        entered=N                                format.h, the line entered
 *   group N threads=N,N,... size=N                  size: how many should take part
 *        by_rank=0                                its own order is not that of the ranks
 *   site N kind=WORD name=TEXT file=PATH line=N column=N function=NAME
 *        auto=0|1                                 auto: a region that the user did not mark
 *        role=WORD                                format.h, struct dprof_site
 *   link CLOCK STAMP CLOCK STAMP
 *   sched THREAD STAMP STAMP cpu=NS delay=NS involuntary=N moves=N last=0|1   format.h, struct dprof_sched
 *   without KINDS                                   of all processes
 *   damaged                                         what the text was made of was, and it does not say all that is missing
 *   note TEXT
 *   e THREAD STAMP SITE enter|exit|point KEY=N...   SITE is - when the trace does not say which
 *   lost THREAD N                                   here N records were dropped
 *
 * Only N of a clock, thread, group and site, clock= of a thread, host= and ghz= of a clock, and
 * kind= and name= of a site must be there. Threads of one rank are one process, threads without
 * a rank are one for each clock. Clocks, threads and sites come before the lines that name them.
 * '#' begins a comment.
 *
 * Law: pack and dump lose nothing: what dump prints of what pack made of it is the same text. */
#ifndef ANALYSIS_TEXT_H
#define ANALYSIS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/lines.h"
#include "analysis/clocks/times.h"
#include "analysis/trace/trace.h"

#define TEXT_FIRST_LINE "dprof-text 1"

enum {
	TEXT_CLOCK, TEXT_PROCESS, TEXT_THREAD, TEXT_GROUP, TEXT_SITE, TEXT_LINK, TEXT_NOTE,
	TEXT_WITHOUT, TEXT_LOST, TEXT_SCHED, TEXT_DAMAGED, TEXT_FORMS
};
enum { CLOCK_N, CLOCK_HOST, CLOCK_GHZ, CLOCK_SOURCE, CLOCK_UNCERTAINTY };
enum {
	PROCESS_N, PROCESS_CLOCK, PROCESS_RANK, PROCESS_SIZE, PROCESS_PID, PROCESS_PROGRAM,
	PROCESS_JOB, PROCESS_FINISHED, PROCESS_RAN, PROCESS_EXECS, PROCESS_UNSEEN_NS, PROCESS_UNSEEN_ENDED,
	PROCESS_WITHOUT, PROCESS_STARTED, PROCESS_FORKED, PROCESS_PARENT, PROCESS_UNBORN, PROCESS_INIT_FROM, PROCESS_INIT_TO,
	PROCESS_MARKS, PROCESS_ENDED
};
enum { THREAD_N, THREAD_CLOCK, THREAD_RANK, THREAD_PROCESS, THREAD_NUMBER, THREAD_NAME, THREAD_LOST,
       THREAD_COMPLETE, THREAD_RAN_ON, THREAD_ENDED, THREAD_JUMPS, THREAD_ENTERED };
enum { GROUP_N, GROUP_THREADS, GROUP_SIZE, GROUP_BY_RANK };
enum { SITE_N, SITE_KIND, SITE_NAME, SITE_FILE, SITE_LINE, SITE_COLUMN, SITE_FUNCTION, SITE_AUTO, SITE_ROLE };
enum { LINK_FROM, LINK_SENT, LINK_TO, LINK_RECEIVED };
enum { LOST_THREAD, LOST_COUNT };
enum { SCHED_THREAD, SCHED_FROM, SCHED_TO, SCHED_CPU, SCHED_DELAY, SCHED_INVOLUNTARY, SCHED_MOVES,
       SCHED_LAST };
extern const struct ln_form text_forms[TEXT_FORMS];

/* A line "e ...". */
struct text_event {
	uint64_t thread, stamp, site;
	bool no_site;
	enum dprof_op op;
	unsigned nargs;
	struct tr_arg args[DPROF_KEY_COUNT];
};

/* Whether the line is one of an event; `at` then stands behind the e. */
bool text_is_event(char *line, char **at);

/* Reads what stands behind the e. NULL, or what is wrong (to be freed). */
char *text_event(char *at, struct text_event *out);

/* Prints the trace; with bounds on every event when `times` is not NULL. */
void text_dump(FILE *, const struct trace *, const struct times *times);

/* Makes a trace directory, which must not exist yet, of the text in `in`, called `name` in
 * messages. NULL, or what is wrong (to be freed); then nothing is left behind. */
char *text_pack(FILE *in, const char *name, const char *directory);

#endif

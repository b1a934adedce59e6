/* SPDX-License-Identifier: MIT
 *
 * trace_scan.h - looks at every record of a thread once, on its way into the store.
 *
 * The look finds what a cursor must be able to rely on (stamps that do not go back) and what the user must be told (records
 * that make no sense, sites that no module has), and which groups a thread takes part in.
 *
 * Law: each kind of damage gives one diagnostic for each thread: where first, and how often. */
#ifndef ANALYSIS_TRACE_SCAN_H
#define ANALYSIS_TRACE_SCAN_H

#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"

enum scan_damage { FOREIGN, NO_SITE, NO_MODULE, AMBIGUOUS, UNWRITTEN, NO_EVENT, TWICE, NOT_LATER, NDAMAGES };

struct scan {
	struct opened_trace *o;
	struct tr_thread *thread;
	uint32_t index;                 /* of the thread, in the order of reading */
	uint64_t highest;               /* stamp so far */
	uint64_t vouched;               /* the highest of those events of which the file says the sum */
	bool back;                      /* a stamp goes back, or an operation began before what stands before it */
	size_t unwritten;               /* words just before, in a row */
	size_t all_unwritten;
	unsigned keys;                  /* bits: arguments of the last event; 0: there is one */
	bool joins;                     /* the last event: ENTER of a wait for a thread's end, */
	uint32_t joining;               /* ... of this number, and 1; or 0. Its EXIT comes next of such a wait */
	struct ids groups;              /* that it has named */
	uint64_t group;                 /* the last of them */
	struct jumps_scan jumps;
	uint64_t lost, unsaid;          /* by LOST; and those of them that are not recorded as lost */
	size_t count[NDAMAGES], first[NDAMAGES];
};

/* From the begin of the thread's words, which are open: its records go to the writer of o->reader, between store_begin() and
 * store_end(). `index`: of the thread, in the order of reading. */
void scan_begin(struct scan *, struct opened_trace *o, struct tr_thread *, uint32_t index);

/* Takes the next record, or damage. False at the end. */
bool scan_one(struct scan *, struct word_place *);

/* Takes the records of plain words, as scan_one() does one by one; how many. */
size_t scan_plain(struct scan *, struct word_place *);

/* Whether so much was never written that there is no end of it. */
bool scan_is_endless(const struct scan *);

/* Behind the last record: says what was found. The jumps are still to be ended. */
void scan_end(struct scan *);

#endif

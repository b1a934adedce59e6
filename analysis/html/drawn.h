/* SPDX-License-Identifier: MIT
 *
 * drawn.h - a whole run as few enough pieces to be drawn: what each thread did when, who ended whose waiting, and where the
 * critical path was.
 *
 * A *bar* is a stretch of a thread in which it did one thing: it worked in a region, was in an operation, and waited
 * there for so long, or was idle. Where a run has more of them than DRAWN_BARS, neighbours are put together, the
 * shortest first, into bars that are shorter than one `grain`: such a bar says what took most of it, how much that was,
 * and how many bars it stands for. So long things are drawn as they were, and short ones as far as there is room.
 *
 * Law: bars of a thread follow each other, do not overlap, and together are as long as the thread; what each took and
 * waited adds up, whatever the grain is. A bar longer than the grain is no mixture.
 *
 * Times are where they most likely were, the middle of their intervals; `uncertainty` says how far a thread's may be
 * from there. Bars are drawn; nothing is computed from them.
 *
 * All clocks with threads must be on one time base. */
#ifndef ANALYSIS_HTML_DRAWN_H
#define ANALYSIS_HTML_DRAWN_H

#include "analysis/path/path.h"

#define DRAWN_BARS  150000
#define DRAWN_LINKS 10000  /* and as many stays of the critical path; the longest */

enum drawn_did { DRAWN_WORK, DRAWN_OPERATION, DRAWN_IDLE, DRAWN_UNKNOWN };

struct drawn_bar {
	uint64_t from, to;   /* stamps */
	uint64_t most;       /* ticks of its own of what took most of it; */
	uint64_t waited;     /* of all of it that was waiting */
	uint32_t site;       /* and its region or operation; or TR_OUTSIDE */
	uint32_t count;      /* bars that it stands for */
	enum drawn_did did;
};

struct drawn_thread {
	struct drawn_bar *bars; size_t nbars;
	double rate;         /* ticks of the base in one of its own */
	int64_t uncertainty;  /* ticks of the base */
};

struct drawn_link {          /* the last that was waited for, where that is known */
	uint32_t from, to;   /* threads */
	uint64_t sent, done; /* stamps of each: when what was waited for happened; when the waiting ended */
	uint64_t waited;     /* ticks of the base */
};

struct drawn_stay { uint32_t thread; uint64_t from, to; bool sure; };

struct drawn {
	struct path *path;
	struct drawn_thread *threads; /* of the trace */
	size_t nbars;                 /* of all */
	uint64_t grain;               /* ticks of the base; 0: nothing is put together */
	struct drawn_link *links; size_t nlinks, all_links; /* the longest waits first */
	struct drawn_stay *stays; size_t nstays;            /* likewise */
};

/* `most` bars at most, if that is 2 for each thread or more. The path must last. */
void drawn_open(struct drawn *, struct path *, size_t most);
void drawn_close(struct drawn *);

/* Since the run's first event: the middle, ticks of the base. */
int64_t drawn_time(const struct drawn *, uint32_t thread, uint64_t stamp);

#endif

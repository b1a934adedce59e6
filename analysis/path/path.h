/* SPDX-License-Identifier: MIT
 *
 * path.h - the critical path of a run: what it was doing at any moment that the end had to wait for.
 *
 * Laws, if a wait was ended by what the graph connects it with (graph.h). In the interval given for it lies
 *
 *   share   the time for which the true path was at a site of a thread, within the slice;
 *   hop     likewise for which it was on its way from one rank to another;
 *   slack   the least slack that a thread truly had at a site;
 *   near    by how much another path is shorter, which goes from the run's begin to its end over what was surely waited
 *           for.
 *
 * Path. From the last event it goes back along its thread. Where that thread had waited, it goes on at the last of the
 * events that were waited for, on another thread. Where the thread's own coming was the last of these, it stays there.
 * So the path is never in a wait: of an operation only that is on it which lies behind the last event that was waited
 * for, which is what transfer and the operation itself took. (A wait that surely its own time limit has ended, which
 * the thread had not tried before, is no such wait: it is the thread's own time, as a sleep is.) It goes back to the
 * begin of the run; what is on it is as long as the run, and no other way through the run is longer. (The method is
 * that of the critical-path thesis, Definition 3.12, Algorithm 1, sections 3.4 and 5.3: back from the end, preferring a
 * thread's own activity; Theorem 3.13 is the proof.)
 *
 * Flow. Whose event was the last is known where clocks are exact enough. Where it is not, the path may go on at each of
 * several: all of these ways are followed, each with a part of one *flow*. Whatever has all of it is surely on the
 * path, whatever has some of it is perhaps; ways that come together again are sure again. A message that is open
 * (graph.h) came perhaps only with its sender's next call of MPI: then the path was on the sender from that call on,
 * and half of the flow goes there (path_detour.c).
 *
 * Where nothing is known of the path, all that came before may have been on it, or not: at a node that is UNKNOWN or
 * broken, at splits beyond counting, and where records are lost, then or later of any thread, or at all of the thread
 * that it was on. But while all threads waited it was surely *elsewhere*: whoever is not in the trace did something, or the
 * call went on in which a thread waited for that. Nor was it in a wait of which it is known what ended it: wherever it went on, it
 * came from there. So all of a wait without a cause is elsewhere, where nothing is known; unless
 * the trace is damaged: then the cause may have been recorded.
 *
 * Slack is how much longer a thread could take where it is before the run's end comes later, if nothing else changes:
 * the least, over all ways from there to the end, of what lies on that way between an event and the last that was
 * waited for with it. On the path it is 0; elsewhere a path over there is so much shorter than the critical one, and
 * becomes critical when that gives as much somewhere else. (Back from the end as Kelley and Walker's total float, CPM,
 * 1959.)
 *
 * It is from 0 on where it is not known what ended some later wait. So it is of what a thread did before another thread
 * of its process ended a wait by what it gave (a post, a signal, a wake-up, bytes: node `posted` of graph.h): perhaps
 * that one gave because it came last of several, to a counter that nobody records; had this thread come later, it would
 * have given itself. Not so of messages, and of what processes share. And so it is of all threads of a process in which nobody
 * recorded who created one of them, and who waits for its end (graph.untied).
 *
 * What is given for another path begins no higher than the least slack of where it was found: other ways that go
 * through there may be longer, and with no less given is this one the longest.
 *
 * The imbalance indicator of a region is how long it was on the path, less how long a thread was in it on average
 * (D. Boehme, F. Wolf, M. Geimer: Characterizing load and communication imbalance in large-scale parallel applications,
 * 2012).
 *
 * Memory: 8 bytes for each input and 56 for each node of the graph, 20 for each of its points, 48 for each stay of the
 * path, and of another one, on a thread and 56 for each time that it came from another, in the graph's spill; what the
 * answer has; and the sites of one thread at a time. */
#ifndef ANALYSIS_PATH_H
#define ANALYSIS_PATH_H

#include "analysis/graph/graph_causes.h"
#include "analysis/graph/graph_order.h"

/* No site, and no thread's: all threads waited, for what is not in the trace; or one did, and it is not known whether the path was
 * in what that waited for. */
#define PATH_ELSEWHERE (UINT32_MAX - 5)

struct path {
	struct graph graph;
	struct graph_order order;
	const struct times *times;
	struct span span;
	frz_time length;             /* of all of it: the span's, but where what came last was not waited for */
	struct frz_cursor *cursors;  /* of each clock */
	uint64_t *first;             /* likewise, its first stamp; UINT64_MAX without any */
	struct stays *stays;         /* of each thread: when the path was there */
	int64_t *unrecorded;         /* of each thread, ticks: path_doubt */
	int64_t known_from;          /* since the run began: before that it may have been anywhere */
	struct hop *hops; size_t nhops; /* each, in the spill */
	struct causes causes;        /* what lacks any, if something is not known */
	bool all_recorded;           /* what ended such a wait is not in the trace because it never was */
};

/* All clocks with threads must be on one time base. Matches all, orders all; the trace and the times must last. */
void path_open(struct path *, const struct trace *, const struct times *);
void path_close(struct path *);

/* The thread was blocked for up to so many seconds by the kernel's clock in what was not recorded (blocked.h): where
 * the path is on it, it may truly have been on others then. To be said before any profile. */
void path_doubt(struct path *, uint32_t thread, double s);

/* In ticks of the time base since the run's first event, as far as these moments are known, and how long it is, which may be known
 * better. */
struct path_slice { frz_time from, to, length; };
#define PATH_ALL ((struct path_slice){ { 0, 0 }, { INT64_MAX, INT64_MAX }, { 0, INT64_MAX } })

struct path_share {
	uint32_t thread, site; /* the innermost region or operation, of regions of one name the first; TR_OUTSIDE;
				  TR_BEFORE; or TR_NO_SITE: it is not known. Or PATH_ELSEWHERE, both */
	frz_time ticks;        /* for which the path was there, within the slice */
	bool sure;             /* whenever it may have been there, it was */
};

/* The path came from a thread of one rank's to another of the same or another rank, through a wait. */
struct path_hop {
	int64_t from, to;      /* ranks; -1 without one */
	frz_time ticks;        /* on the way, within the slice: transfer */
	uint64_t count;        /* so often, perhaps */
	bool sure;
};

struct path_profile {
	frz_time length;       /* of the path within the slice */
	struct path_share *shares; size_t nshares; /* the longest first */
	struct path_hop *hops; size_t nhops; /* likewise */
	bool certain;          /* at any moment of the slice it is known on which thread it was */
};

/* Reads all events of the threads on the path once more. */
void path_profile_open(struct path_profile *, struct path *, struct path_slice);
void path_profile_close(struct path_profile *);

/* Of the whole run. */
struct path_place {
	uint32_t thread, site; /* as in a share */
	frz_time ticks;        /* for which the thread was there, waiting or not */
	frz_time slack;        /* least; hi is INT64_MAX where there may be no limit */
};

/* Another way through the run, over what was waited for, which is not the critical path. */
struct path_near {
	frz_time shorter;      /* than that */
	struct stays *stays;   /* of each thread: when it is there */
};
#define PATH_NEAR 3            /* at most */

struct path_slack {
	struct path_place *places; size_t n; /* the least slack first; not operations in which threads only wait */
	bool withheld;         /* some might have none because of who gives, and would have had some */
	bool known;            /* else there are none: the trace contradicts itself */
	struct path_near near[PATH_NEAR]; size_t nnear; /* of each thread, through where it has the least slack and is
							   surely not on the path: the nearest ones; none where it is
							   not known what ended some wait */
	const struct graph *graph;
};

/* Reads all events once more. */
void path_slack_open(struct path_slack *, struct path *);
void path_slack_close(struct path_slack *);

/* How long such a way is at which sites; without hops. Reads all events of the threads on it once more. */
void path_near_profile_open(struct path_profile *, struct path *, const struct path_near *);

#endif

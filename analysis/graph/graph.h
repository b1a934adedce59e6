/* SPDX-License-Identifier: MIT
 *
 * graph.h - what each event of a run had to wait for.
 *
 * The events of a thread follow each other; what the thread did in
 * between is its own, except inside of an operation (anything but a region), where it
 * may have waited. Only where threads synchronise is something stored: a *node* is an end of waiting,
 * its *inputs* are events that it waited for; threads have *synchronisation points*, in the order
 * of their events:
 *
 *     waits      the event happens when the node does
 *     ends       likewise, most likely: though it was the thread's own time, another one ended it. Only what-ifs ask for that
 *     perhaps    it may have waited for that node besides, in this run or another: only what what-ifs prove counts that
 *     posts      the event is an input of a node
 *     late       what came later than a node, which may wait for it in another run
 *     schedules  from here on the thread's work is scheduled otherwise: by the program (static) or by who asks first (dynamic)
 *     requests   the thread requests another piece of what a group of threads shares out among them,
 *     obtains    and has it, perhaps after it has waited until there was one,
 *     finishes   or finds that there is none left for it, and goes on by itself
 *     comes      it waits where it may run tasks of OpenMP meanwhile: for the first one, or again behind each of them,
 *     runs       and runs one, which ends where it comes again; who comes last to a wait runs no more there
 *     releases   it gives back a lock, or another permit, for which others may stand in a queue
 *     probe      the caller wants to know about the event
 *
 *   thread 0   ---[work]--enter)        (exit--[work]---
 *                          posts \     / waits
 *                                 node: SYNC
 *                          posts /     \ waits
 *   thread 1   ------[work]----enter)  (exit--[work]---
 *
 * How long an input must be over before the node happens is one of these:
 *
 *   SYNC     all inputs share one cost: a barrier, a collective operation of all to all. But where that moves much data, those who
 *            come early may have done some of it before the last comes: where all come together it takes as long as it was seen to
 *   ARRIVAL  input 0 begins to wait and costs something of its own, the others send something that
 *            takes a time of its own, see transfer.h: messages, collective operations with a root,
 *            bytes, a thread's or a process's end, a lock that is handed on, and with it a condition variable's signal,
 *            a futex, a task that was made, and the ends of tasks
 *   WOKEN    input 0 begins to wait, and one of the others, it is unknown which, ended that
 *   UNKNOWN  what ended it is not in the trace; but perhaps when it was laid down for how long: most likely it takes as
 *            long from its input behind the first that is sure; or it was what another thread did just before the end, where that
 *            is hardly chance (graph_presumed.c)
 *
 * An input that is not *sure* may have been waited for or not. All of this is what *most likely* happens, also in
 * another run: the *expected* graph. What is certain in every run, of every implementation that keeps to the
 * standards, is less: the *proved* graph is the same one, of which only some things count:
 *
 *   needed      the input must be waited for in every run: data come from there
 *   candidate   the input may have been waited for, also in another run, though nothing says so: any participant
 *               of a rooted collective, the receiver of any send (buffering is never guaranteed) or a call of MPI of its, the
 *               sender's next call of MPI, which may bring what its send has copied; unless that call was certainly not before
 *               the end: then no run needs it (nor a later one, or one of another thread: perhaps)
 *   hidden      so may something that is not among the inputs: the other side's next call of MPI, as there need
 *               be no progress outside of it
 *   loose       order, chance or a choice decided what was waited for: another run may wait for less (a lock,
 *               a wildcard, which thread runs a task); and if it is delayed as well, for what comes later than all that was
 *               waited for here, since another one is first (coz/orders.h)
 *   delayed     or for what came only later in this run
 *   late        likewise; but it is known which events those are (graph_late): whoever may be sent to only when it is
 *               there (the receiver of a send, another participant of a rooted collective), and was not certainly there
 *
 * Of what is *late*: if another run does wait for it, then no longer, from there on, than what passed here from there on
 * until all who take part were done, and besides that what the waiting operation took here; for in the worst case it does
 * all that it did here only then. So the node happens no later than its *lag* after the event, the lag being the time from
 * the begin of the operation until all were done here: with the event earlier by s, and in the order of this run,
 *
 *     node' <= event' + (all done - event) + (node - begin) = node - (s - (all done - begin)) = node - (s - lag).
 *
 * Who takes part in a rooted operation may, in another run, do nothing before everybody has come, and only then what it did here
 * while it waited. It is done no later than `takes` after the last of them has come, which is the time until all had left here,
 * since the last one came. So for who left here sooner than that after an event, the event is late as well, with a lag of what is
 * missing. A send that waits for its receiver in another run likewise (coz/transfer.h, transfer_lag).
 *
 * So of an operation that is over for all soon after it was begun little is lost. In a program that goes on only if it does
 * not wait there (all send, then all receive) the event comes only behind the node; then the node is delayed.
 *
 * Law: if operations do what format.h says, then in every run an event happens no earlier than its needed inputs;
 * and in this run, unless its node is hidden, loose or UNKNOWN, one of its inputs is what it waited for last; and if it is hidden
 * only because an input is open, one of them, or what comes of that one. If
 * also what is assumed below holds, an event that waited for others is a node whose inputs, but for candidates,
 * are these others (or it is UNKNOWN).
 *
 * Assumed by the expected graph, since no trace can show it:
 *   - threads that share out their work (groups) are equally far at any time;
 *   - the order in which a lock is handed on is that of stamps, or where the cores of a host do not show quite the same,
 *     one that the lock allows; likewise which post of a semaphore serves which wait: the n-th the n-th, but for those
 *     that it began with, which are as few as the trace allows;
 *   - who comes to a lock once and does not signal counts down to what the last of them signals (graph_counts.c); so does who
 *     comes where that one comes behind its signal, and has not left again (graph_alike.c);
 *   - who comes to a barrier of its team begins the task that is ready for the longest time, and who waits for tasks the last of
 *     those that is; tasks that nobody waits to begin are begun by the same thread; of a loop that is
 *     given out as it runs, of sections and of a `single`, whoever comes next does the next piece, as it is recorded, or
 *     else what a thread does from one marked region to the next; without either what is left is shared out evenly;
 *   - a process whose fork is not recorded is begun by the first thread on its clock that was there from the begin;
 *   - who went on at a cancellation point of OpenMP comes to its team's next barrier because another one has cancelled the region,
 *     if that came in between (graph_cancels.c);
 *   - who calls MPI for a window again and again, with nothing in between but sleeps, waits; and what hardly took any time, of that
 *     of which no record says what ended it, takes no longer;
 *   - of threads that come to one lock once between two barriers, and of which the first or the last does otherwise than the
 *     others, whoever comes as the first, second, ... does what that one does here (graph_elections.c);
 *   - whoever comes last to a barrier of which the program asks who is the serial thread does what the last one does here behind
 *     it, if each last one does more there (graph_serials.c);
 *   - pieces of work between attempts to receive a message, to pass a semaphore or to take a lock, or between waits with a time
 *     limit, end because of what the last of these got, where all of them end so (graph_polls.c);
 *   - who looks with a lock between pieces of its work, until another one has taken that lock, once, or at a number in memory,
 *     which another has set, stops because of that (graph_stops.c);
 *   - who receives at several places messages that it has looked for, and turns from one to the other, looks for all of them in
 *     turn, unless it leaves some where they are (graph_places.c);
 *   - who tests whether what it has begun is complete does so behind each piece of its work; and where waits of another rank were
 *     over just when such a piece was, it has waited for that (graph_tests.c);
 *   - what has ended a wait of which no record says so is what another thread did just before (graph_presumed.c); so is what ended
 *     sleeps, outside of marked regions, with nothing in between;
 *   - a wait of which no record says what ended it, with nothing but such waits between it and a call that learns of a child's
 *     end, which came meanwhile, was for that end (graph_processes.c);
 *   - who is woken and waits for the same condition variable again at once has waited for nothing, but for signals of threads that
 *     then mostly wait until it is through, which it may count (graph_wakes.c);
 *   - who comes once to a lock at one place, waits there for a condition variable, and is woken by one who came there last has been
 *     at a barrier (graph_counts.c); and a condition variable of which each wait seen was for a signal of its own, by those who
 *     only signal, counts them as a semaphore does; so does one that is signalled once, for those who come to its lock once, behind
 *     whoever signals (graph_conditions.c); but one thread that takes less often than others put there takes all that is
 *     there (graph_conditions.c), works on each when it has come (graph_batches.c), or on all at once in a time that does not
 *     depend on how much that is, if that looks so;
 *   - one of several who put something does for all what takes long, and wakes them, if some went away behind that without
 *     having done anything, and no two do so at a time: whoever comes while nobody does (graph_leaders.c);
 *   - what several take from a pipe at a time, or accept, was taken in the order in which it was put there, if all of that is
 *     recorded (graph_loose.c);
 *   - bytes were there as soon as the last of them was given; a channel's end came when the thread that gave them had
 *     done what it did last before, or with the last bytes if nobody waited for it;
 *   - of several threads that ran on when their process ended, who was in no marked region ended it;
 *   - a message of at most GRAPH_EAGER bytes, or no longer than another between the same hosts
 *     whose send ended before its receive began, is sent without waiting for the receiver; of a longer one
 *     the receiver is a candidate, too, so that it counts where nothing else explains how long the send took; and where all sends
 *     of about that size, between the same hosts, lasted until a receiver came that was late, it counts in any case;
 *   - a thread whose creation is not recorded is begun by the first thread of its process right
 *     after that thread's last event before it;
 *   - who waits for a collective operation that was only begun waits until each rank that has begun it comes back to MPI behind the
 *     begin of the last, if one of that name was seen to be over just when a rank did;
 *   - MPI_Scan goes by the order of ranks in MPI_COMM_WORLD;
 *   - where it is not known between whom the data of a collective operation flow, all wait for all, if none left
 *     before the last one came; and else each for whoever came last, if nothing else explains when it left;
 *   - barriers that do not say their group are those of all threads of their process that have such
 *     barriers, or of MPI of all ranks that do, the n-th with the n-th.
 *
 * Regions inside of an operation are signal handlers, and functions that the operation calls. They are the thread's own
 * time, and the operation goes on behind them; nobody recorded why they began.
 *
 *   - One that began before the last of the others came has interrupted the wait. In another run it most likely begins
 *     as long after the operation as here, or behind what another thread did just before (graph_presumed.c), and the
 *     thread waits from when it was over on.
 *   - One that began behind that is what the operation does with what came: it comes as long after that, so there the
 *     wait is over.
 *   - Others who take part in the operation may have waited for the region, too (graph_node.inside).
 *   - In a collective operation, where such a region is what MPI calls, whoever came out of it, or went on to a region
 *     of its own there, behind the ends of others' regions most likely has: these are inputs that are not needed.
 *
 * Of a run in which there are any (interrupted), or in which a handler ran in the midst of work (handles), which a
 * timer may call more or less often in another run, or what a thread did was decided by a clock or by a flag
 * in memory, or under a lock (filled), nothing is proved.
 *
 * Queues: where it depends on who comes first whom an event waited for, its node has a *turn*. It says which inputs are
 * those of this run, and at which queue others might have been it: a lock, permits (a semaphore), or an inbox, into which
 * such inputs of all its turns arrive; or who has his turn takes all that others have left there. So a replay can decide
 * orders again (coz/greedy.h).
 *
 * What is missing or contradicts itself becomes UNKNOWN, and a diagnostic.
 *
 * Memory: that of a spill (base/spill.h): SPILL_MEMORY, and what is under way. There, or on the disk, 24 bytes for each node,
 * for each input and for each synchronisation point: with messages 290 for each, and 580 while the graph is made; nothing for
 * regions. Besides stay in memory which task depends on which, and an index of tasks. */
#ifndef ANALYSIS_GRAPH_H
#define ANALYSIS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/spill.h"
#include "analysis/clocks/times.h"
#include "analysis/trace/trace.h"

#define GRAPH_EAGER 4096 /* bytes; no MPI in use has a lower limit */

enum graph_kind { GRAPH_SYNC, GRAPH_ARRIVAL, GRAPH_WOKEN, GRAPH_UNKNOWN };

/* What kind of thing arrives; collective operations follow, by name. */
enum {
	GRAPH_RECEIVED, GRAPH_WAITED_FOR, GRAPH_JOINED, GRAPH_LOCKED, GRAPH_POSTED,
	GRAPH_TASK_BEGAN, GRAPH_TASKS_OVER, GRAPH_BYTES, GRAPH_BYTES_GIVEN, GRAPH_BYTES_ENDED, GRAPH_PROCESS_OVER,
	GRAPH_WOKEN_UP,
	/* UNKNOWN, and nothing is missing: */
	GRAPH_EXPIRED, /* it ended when a time was over, or at a moment, that the thread had named */
	GRAPH_OWN_LIMIT, /* likewise, and surely so, and it had not been tried before */
	GRAPH_LIMIT_LOCKED, /* as OWN_LIMIT; but it was over only when the thread had its lock again */
	GRAPH_FOUND,   /* with a message, which a receive has waited for since it began */
	/* UNKNOWN, and nothing says so: */
	GRAPH_PRESUMED, /* but its last input, a candidate, has most likely ended it */
	GRAPH_SEEN,     /* likewise, if its first has not; or another of those: they gave back the lock with which it looks, between
			   its last two looks */
	GRAPH_ANSWERED, /* but whoever was asked as it began: a daemon, say, which waits for nobody here */
	GRAPH_TIMED,    /* but it was a timer, whoever has set it, and when */
	/* SYNC: much data went from all to all */
	GRAPH_EXCHANGED,
	/* and what may have been waited for besides: one of those calls of MPI that are inputs */
	GRAPH_RETURNED,
	GRAPH_COLLECTIVE,
};

/* What an event has to do with the end of a wait. Each bit has one meaning, for all kinds of nodes:
 *
 *   sure        it was waited for, if the wait was not over before
 *   likely      so it was most likely, though it is not sure: the begin of a receive for which sends of this kind always waited;
 *               that signal of several which has most likely woken the thread; a call with which a rank came back
 *   needed      every run must wait for it
 *   candidate   it is not in the expected graph, unless it alone explains the end
 *   receiver    it is no message, but the begin of the receive of one
 *   open        a message that came perhaps only with its sender's next call of MPI (struct graph_open)
 *
 * and of candidates:
 *
 *   never_last  it cannot have ended the wait here: a task that its own thread ran before, or where the wait began (graph_resumes)
 *   progress    a later call of MPI, with which the message that the input before it sends may go on
 *   follows     its thread came to it from the input before it sooner than the end came from there
 *   vain        a call in vain, one of many: another would have come about then in any case
 *
 * `amount` is read by what it is of that kind of node: graph_bytes_sent(), graph_untold_ticks(), graph_overdue_ticks(),
 * graph_longer_ticks(), graph_beyond_ticks(). */
struct graph_input {
	uint64_t stamp;
	uint64_t amount : 54;    /* GRAPH_MOST: that or more */
	uint64_t sure : 1, likely : 1, needed : 1, candidate : 1, receiver : 1, open : 1;
	uint64_t never_last : 1, progress : 1, follows : 1, vain : 1;
	uint32_t thread, node;
};
#define GRAPH_MOST ((UINT64_C(1) << 54) - 1)

struct graph_node {
	uint64_t stamp;          /* its end, on the same thread: not for SYNC */
	uint32_t first;          /* input; ARRIVAL, WOKEN and UNKNOWN: the begin of the waiting */
	uint32_t ninputs, nwaiting;
	uint32_t what : 19;      /* ARRIVAL; of more sites than that some fall together. UNKNOWN: those of it, or 0 */
	uint32_t kind : 2;       /* enum graph_kind */
	uint32_t hidden : 1, loose : 1, delayed : 1;
	uint32_t late : 1;       /* there are some of graph_late */
	uint32_t inside : 1;     /* who waits for it, or gives something to it, was in a region inside of that operation */
	uint32_t polled : 1;     /* it was waited for by attempts, so that it ended with the first behind what it waited for */
	uint32_t posted : 1;     /* a thread posted, woke or gave bytes: perhaps because the program saw it come last of several */
	uint32_t behind : 1;     /* what it waited for came surely behind an end of waiting: the trace contradicts itself */
	uint32_t keyed : 1;      /* SYNC: all who take part in that very instance of it are known, whatever else is lost */
	uint32_t guessed : 1;    /* SYNC: who waited for whom there nobody knows, most likely all for all */
	uint32_t doubted : 1;    /* meanwhile records are lost (graph_losses.h): what it waited for may be among those; or what that was
				    has none, as when a channel is closed */
};
_Static_assert(sizeof(struct graph_input) == 24 && sizeof(struct graph_node) == 24, "there are many");

/* Of what is sent: an input but the first, of a node that something arrives at, or that all inputs share. */
static inline uint64_t graph_bytes_sent(const struct graph_input *sent)
{
	return sent->amount;
}

/* Of an ARRIVAL: for how long, from its first input on, nobody knows whether the thread tried, or did anything else first. */
static inline uint64_t graph_untold_ticks(const struct graph_input *first)
{
	return first->amount;
}

/* Of what is GRAPH_EXCHANGED: by how much longer than here, behind the last who came, such an operation was seen to take. */
static inline uint64_t graph_longer_ticks(const struct graph_input *first)
{
	return first->amount;
}

/* Of what is GRAPH_RETURNED: how much more may be saved, of which no input tells. */
static inline uint64_t graph_beyond_ticks(const struct graph_input *first)
{
	return first->amount;
}

/* Of an UNKNOWN: for how long the moment that its last input lays down was over when the waiting began. */
static inline uint64_t graph_overdue_ticks(const struct graph_input *last)
{
	return last->amount;
}

/* A wait of which no record says what ended it; but it is known what most likely did. */
static inline bool graph_is_presumed(const struct graph_node *n)
{
	return n->kind == GRAPH_UNKNOWN && (n->what == GRAPH_PRESUMED || n->what == GRAPH_SEEN);
}

/* Or one of several did that is known, or nothing. */
static inline bool graph_is_seen(const struct graph_node *n)
{
	return n->kind == GRAPH_UNKNOWN && n->what == GRAPH_SEEN && !n->behind && !n->doubted;
}

static inline bool graph_has_expired(const struct graph_node *n)
{
	return n->kind == GRAPH_UNKNOWN && (n->what == GRAPH_EXPIRED || n->what == GRAPH_OWN_LIMIT || n->what == GRAPH_LIMIT_LOCKED);
}

/* A wait that ended because of something that is not in the trace. */
static inline bool graph_lacks_cause(const struct graph_node *n)
{
	return n->kind == GRAPH_UNKNOWN ? !graph_has_expired(n) && n->what != GRAPH_FOUND : n->ninputs == 0;
}

static inline bool graph_only_found(const struct graph_node *n)
{
	return n->kind == GRAPH_UNKNOWN && n->what == GRAPH_FOUND;
}

/* What ended it is among its inputs. */
static inline bool graph_is_known(const struct graph_node *n)
{
	return n->kind != GRAPH_UNKNOWN && n->ninputs > 0 && !n->behind && !n->doubted;
}

/* Of an input: its thread's next call of MPI, which clocks do not show to be behind the end, nor before it. That call is a
 * candidate as well, but no input: two that exchange messages could then wait for each other's next calls. In the order of
 * inputs. */
struct graph_open { uint64_t at, stamp; uint32_t input; };

/* What came later than a node, perhaps; in the order of nodes. Ticks of the base. */
struct graph_late { int64_t lag; uint32_t node; };

/* The inputs from `first` on, n of them, of a node are whom it waited for at a queue in this run. Turns are in the order of
 * their nodes, which is that in which they were had. */
enum graph_queue_kind { GRAPH_LOCK, GRAPH_PERMITS, GRAPH_INBOX, GRAPH_BATCHES };
struct graph_queue {
	enum graph_queue_kind kind;
	uint32_t permits;     /* to begin with */
	bool by_kind;         /* an inbox: of what kind a message is says what is done with it */
	bool prefers_readers; /* when it is given back, also to a writer who came before: as pthread_rwlock_t does
				 unless told otherwise */
};
struct graph_turn {
	uint32_t node, queue, n;
	uint32_t kind;       /* of an inbox: messages with another tag are of another one; */
	uint32_t upto;       /* it takes one of the least kind, which is no more than that; or 0: the first of any */
	uint32_t stream;     /* likewise: of its message, or 0; */
	uint32_t named : 1;  /* and its receive takes only what is of that */
	uint32_t first : 29;
	uint32_t shared : 1; /* a reader's */
	uint32_t plain : 1;  /* of a lock: its thread waits for nothing else, and until it has it */
};

/* What is shared out, in pieces between one and the next time that a thread comes: `one`, if only one thread has any (a
 * `single`); `many`: of some of them it is not known where they begin; `each`: every thread does one piece, and finishes behind
 * it; `batches`: one thread comes for all that is left in a queue, and what it does then takes as long however much that is;
 * `leads`: one of those who come does something for all, from the first of two points at which it obtains something to the
 * second, and all of them finish when that is over. */
struct graph_group { bool one, many, each, batches, leads; uint32_t queue; };

/* Where a thread runs tasks of OpenMP while it waits. At a barrier of its team: any of that team, whose number is that of its
 * group; all who come to one barrier have the same one. For tasks, by the number of the task that has made them, or of their
 * taskgroup: those. Until a task may begin: those that the same task has made before it. */
#define GRAPH_NO_BARRIER UINT32_MAX
enum graph_task_wait_kind { GRAPH_FOR_TEAM, GRAPH_FOR_TASKS, GRAPH_TO_BEGIN };
struct graph_task_wait { uint64_t number; uint32_t process, barrier; enum graph_task_wait_kind kind; };

/* A task that a thread has left such a wait for. Of a taskloop all have one number. It may cancel its taskgroup. */
struct graph_task_run { uint64_t task, maker, group; uint32_t process, priority; bool made, cancels; };

/* How a thread's work is scheduled: as the program lays it down (static); or its team gives it to whoever asks first, which may be
 * another thread in another run (dynamic), and so that nobody is idle while there is something left (evenly). Besides, the program
 * itself may have a pool of work, with a lock, a semaphore or a rank, in which a thread is in stretches that may overlap: it enters
 * and leaves each. */
enum graph_schedule { GRAPH_STATIC, GRAPH_DYNAMIC, GRAPH_DYNAMIC_EVENLY, GRAPH_POOL_ENTERED, GRAPH_POOL_LEFT };

struct graph_sync_point {
	uint64_t at;         /* index of the event in its thread, from 0 */
	uint64_t stamp;      /* of the event; of a thread's last one perhaps that of its end, for which another waited */
	enum { GRAPH_WAITS, GRAPH_ENDS, GRAPH_PERHAPS, GRAPH_SCHEDULES, GRAPH_REQUESTS, GRAPH_FINISHES, GRAPH_OBTAINS, GRAPH_COMES,
	       GRAPH_RUNS, GRAPH_POSTS, GRAPH_LATE, GRAPH_RELEASES, GRAPH_PROBE } what : 8;
	unsigned arrives : 1; /* POSTS: its thread waits for that node at the same event, from there on; so this comes before all
				 else of it */
	uint32_t number;     /* of the node that is waited for, of the input that is posted, of what is late, of the group,
				of the task wait, of the task run, of the queue, or of the probe; or an enum graph_schedule */
};

struct graph_thread {
	struct graph_sync_point *syncs; /* in the spill; by event, of one event first what it waits for, unless it arrives there */
	size_t nsyncs, room;      /* for so many */
	uint64_t first, last;     /* stamps; first > last without events */
	uint64_t nevents;
};

/* What the graph has to say of the trace, a sentence each. */
struct graph_said {
	char **diagnostics; size_t ndiagnostics; /* what contradicts itself */
	char **notes; size_t nnotes;             /* what is missing: it may never have been recorded, so that is no damage; ... */
	size_t nwaits;                           /* ... the first ones of waits without a cause */
};

struct graph {
	const struct trace *trace;
	const struct times *times;
	struct spill *spill;          /* nodes, inputs, points, and what the visit keeps of them */
	struct graph_node *nodes; size_t nnodes;
	struct graph_input *inputs; size_t ninputs;
	struct graph_thread *threads; /* of the trace's threads */
	uint32_t *clocks;             /* likewise, of which there is nothing else so near together */
	bool *entered;                /* each site that is no operation: is it ever? */
	uint32_t end;                 /* node: the last events of all threads, */
	bool ended_by_known;          /* of which those that are no candidates have ended their processes, in this run */
	bool interrupted;             /* some thread was in a region inside of an operation, */
	uint32_t filled;              /* site: what a thread did was decided there, by a clock or a flag in memory; or TR_NO_SITE */
	bool handles;                 /* or came to a signal's handler, wherever it was: when, and how often, nobody recorded why */
	bool apart;                   /* some thread comes to a barrier, and waits only later for that round */
	bool dynamic;                 /* some work is scheduled dynamically, or in a pool */
	struct graph_late *lates; size_t nlates; /* likewise in the spill */
	struct graph_open *opens; size_t nopens; /* likewise */
	struct graph_turn *turns; size_t nturns; /* in the spill */
	struct graph_queue *queues; size_t nqueues;
	struct graph_group *groups; size_t ngroups; /* of threads that share out their work */
	struct graph_task_wait *task_waits; size_t ntask_waits; /* in the spill */
	struct graph_task_run *task_runs; size_t ntask_runs; /* likewise */
	uint32_t *pools; size_t npools; /* sites at which the program itself has a pool of work */
	uint32_t *unsaid; size_t nunsaid; /* sites of calls of MPI that wait, and never say for whom */
	double unknown_s;             /* of all threads: waits of which it is not known what ended them */
	bool outside;                 /* that may have been work of processes that are not in the trace, but of the program */
	bool other_jobs;              /* likewise, but of other jobs: MPI_Comm_spawn, ... */
	double slept_for_others_s;    /* seconds of rows of sleeps (states.h) that another thread has most likely ended */
	uint32_t unseen;              /* site at which who need not wait leaves no record, or TR_NO_SITE */
	bool *untied;                 /* each process: of some of its threads nobody recorded who created it, nor who waits for it, ... */
	uint32_t nuntied, first_untied; /* ... of so many, and the first; not where a process has recorded one thread alone */
	struct graph_found *found;    /* what ended waits, as far as that was asked for (graph_last.h) */
	frz_time *losses; size_t nlosses; /* when records of some thread are lost: times of the base, apart and in order; and ... */
	int64_t *lost;                /* ... of each thread for how long, at most, and ... */
	int64_t *around;              /* ... how long it is not known what is around what it was in: all as
					 graph_losses.h finds them */
	struct graph_said said;
};

/* Whether the last input of a node is where its wait began, most likely. */
static inline bool graph_resumes(const struct graph *g, const struct graph_node *n)
{
	return n->kind == GRAPH_ARRIVAL && n->what == GRAPH_LOCKED && n->ninputs > 1 &&
	       g->inputs[n->first + n->ninputs - 1].never_last;
}

/* All clocks with threads must be on one time base. */
void graph_open(struct graph *, const struct trace *, const struct times *);
void graph_close(struct graph *);

/* What outlives it, to be closed; and to the trace, as its own diagnostics and notes. */
struct graph_said graph_take_said(struct graph *);
void graph_said_close(struct graph_said *);
void graph_said_tell(const struct graph_said *, struct trace *);

/* One more synchronisation point; all of them, before the graph is used. Events of one thread in any order. */
struct graph_probe { uint32_t thread; uint64_t at, stamp; };
void graph_add_probes(struct graph *, const struct graph_probe *, size_t count);

/* Those of graph_late of a node; found sooner if they are `near`. */
struct graph_lates { uint32_t first, end; };
struct graph_lates graph_lates_of(const struct graph *, uint32_t node, uint32_t near);

/* The stamp of an input, or if that is open, of the call with which it came at the latest. */
uint64_t graph_latest_stamp(const struct graph *, const struct graph_input *);

/* How long behind a thread's last event a point is. */
uint64_t graph_behind(const struct graph *, uint32_t thread, const struct graph_sync_point *);

/* The input that a thread gave as it left its team, with its last two events, and 1; the last of that team came at the stamp. Or 0:
 * it did something else, or who came is not known. And of who waits for that last one; or 0, if it is that itself. */
uint32_t graph_left_team(const struct graph *, uint32_t thread, uint64_t *until);
uint32_t graph_last_team(const struct graph *, uint32_t thread, uint64_t *until);

/* The node that is waited for at a point, or to which it gives an input; NULL: neither. */
const struct graph_node *graph_node_at(const struct graph *, const struct graph_sync_point *);

/* That call, of an input that is open. */
const struct graph_open *graph_next_call(const struct graph *, const struct graph_input *);

/* From the run's first event to its last. */
struct span graph_span(const struct graph *);

/* "rank 1 thread 0 at MPI_Recv (app.c:12)" for diagnostics; site may be TR_NO_SITE. To be freed. */
char *graph_place(const struct trace *, uint32_t thread, uint32_t site);

#endif

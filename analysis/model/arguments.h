/* SPDX-License-Identifier: MIT
 *
 * arguments.h - what the arguments of an event mean.
 *
 * Keys are few (format.h): what `id`, `tag`, `role`, `task` and `peer` say depends on the kind of the event, on whether it
 * is an enter, an exit or a point, and on its other arguments. Here each meaning has a name of its own. Whoever
 * analyses asks for that, and not for keys, but for those that mean the same wherever they stand: group, seq, bytes,
 * thread, and until of a sleep. What processes share (locks, waits) has an object in place of an address.
 *
 *   id    of a request       send, recv, coll: begun under it, and done (point); wait: for it
 *         an address         lock, wait: of the lock, the condition variable, the semaphore, the futex
 *         a barrier          barrier of one process: its address
 *         an instance        region, progress
 *         a task's maker     fork, point with task
 *         a dependence       fork, point without task: its address
 *         tasks to wait for  join: all that a task has made, or all in a taskgroup
 *         an event           join, point: it has come
 *   tag   of a message       send, recv
 *         a taskgroup        fork, point with task
 *         an event           region with task: the task is over only when that has come
 *         a number           wait with channel: so many messages, which offset counts instead of bytes
 *         a time             wait that was in vain: for so many of its ticks the thread did not ask
 *         a signal           wait with process: by which that one was ended; point: that was sent to it
 *         a number           barrier with object or id: so many threads go on together
 *         a time             sleep until a moment, or of a timer: which was over for so many nanoseconds
 *   offset a time            sleep: its timer was set so many nanoseconds before
 *         a rank             wait, lock of MPI for an unknown peer: whose part of a window is meant
 *   role  a root             coll, fork, join: 1 is, 0 is not; a team's opener and its members
 *         a barrier is made  barrier, point: 1
 *         it comes again     barrier, point: 0
 *         a failure          coll, send, recv: DPROF_ROLE_UNKNOWN
 *         a reader           lock: 0
 *         who gives bytes    wait with channel: 1; nothing takes them, and so does 0, which would have taken more
 *         who gives          wait with object: 1, a message
 *         who was meant      wait with process: 1, that one alone
 *         in vain, perhaps   wait, point with offset: 0
 *         how it depends     fork, point without task
 *         nothing to run     fork, point with task: 0
 *         a rest             sleep: 1, of a time that was read off a clock; 3, which was laid down before; 2, what was done until
 *                            then is as much as there was time for
 *   task  that was made      fork, point
 *         that runs          region
 *         that calls away    exit of an operation
 *         to wait for        join: until it may begin
 *   peer  a rank             send, recv
 *         no message         send, recv: DPROF_PEER_NONE
 *         a failure          barrier, coll: DPROF_PEER_NONE, of this one or one before it
 *         not known          wait, lock, sleep (which a signal ended): DPROF_PEER_UNKNOWN
 *         in vain            wait: DPROF_PEER_NONE
 *   until a time limit       wait: which alone ended it, at this moment, or 0
 *
 * Law: each meaning stands in one place (kinds, operations) and is asked for there alone: of any other event, and of
 * one that does not say it, the answer is ARG_NONE, or false. Only of a wait that no one knows (operation.h) the id may be
 * that of a request or an address. */
#ifndef ANALYSIS_ARGUMENTS_H
#define ANALYSIS_ARGUMENTS_H

#include "analysis/model/event.h"
#include "analysis/model/operation.h"
#include "runtime/clocks.h"

#define ARG_NONE UINT64_MAX

/* The value of a key in an event of one of these kinds, which is one of these (1 << DPROF_ENTER, ...). */
enum { ARG_ENTER = 1 << DPROF_ENTER, ARG_EXIT = 1 << DPROF_EXIT, ARG_POINT = 1 << DPROF_POINT };
#define ARG_KIND(kind) DPROF_KIND_BIT(DPROF_KIND_##kind)

static inline uint64_t arg_at(const struct operation *o, const struct tr_event *e, enum dprof_key key, uint32_t kinds,
			      unsigned ops)
{
	bool there = kinds >> o->kind & 1 && ops >> e->op & 1;
	return there ? trace_arg(e, key, ARG_NONE) : ARG_NONE;
}

/* ---- Ids ------------------------------------------------------------------------------------- */

static inline uint64_t arg_request(const struct operation *o, const struct tr_event *e)
{
	bool is = o->kind == DPROF_KIND_WAIT ? !(o->is & OP_ADDRESS) && e->op != DPROF_POINT : o->is & OP_REQUEST;
	return is ? trace_arg(e, DPROF_KEY_ID, ARG_NONE) : ARG_NONE;
}

static inline uint64_t arg_address(const struct operation *o, const struct tr_event *e)
{
	bool is = o->kind == DPROF_KIND_WAIT ? !(o->is & OP_REQUEST) || e->op == DPROF_POINT : o->is & OP_ADDRESS;
	return is ? trace_arg(e, DPROF_KEY_ID, ARG_NONE) : ARG_NONE;
}

/* From how much it counts down; 0: not known. */
static inline uint64_t arg_counts_from(const struct operation *o, const struct tr_event *e)
{
	return o->counted && e->op == DPROF_POINT ? trace_arg(e, DPROF_KEY_TAG, 0) : 0;
}

/* With how many permits it was made. */
static inline uint64_t arg_permits(const struct operation *o, const struct tr_event *e)
{
	return o->makes && e->op == DPROF_POINT ? trace_arg(e, DPROF_KEY_TAG, 0) : 0;
}

/* What processes share, but for barriers. */
static inline uint64_t arg_object(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_OBJECT, ARG_KIND(WAIT) | ARG_KIND(LOCK), ARG_ENTER | ARG_POINT);
}

/* It puts a message there. */
static inline bool arg_gives_message(const struct operation *o, const struct tr_event *e)
{
	return o->kind == DPROF_KIND_WAIT && arg_object(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, 0) == 1;
}

/* Of a message: its kind; those of the least are taken first, where that matters. */
static inline int64_t arg_message_kind(const struct operation *o, const struct tr_event *e)
{
	uint64_t kind = arg_object(o, e) == ARG_NONE ? 0 : trace_arg(e, DPROF_KEY_TAG, 0);
	return (int64_t)(o->urgent ? 0 - kind : kind);
}

/* Which one is taken, as msgrcv is told: if that is 0 the first of any; -n: of the least kind up to n; else of that kind. */
static inline int64_t arg_asked_kind(const struct operation *o, const struct tr_event *e)
{
	return o->urgent ? -INT64_MAX : arg_object(o, e) == ARG_NONE ? 0 : (int64_t)trace_arg(e, DPROF_KEY_OFFSET, 0);
}

/* Of whatever the user asks for an instance of: any number may be one, also ARG_NONE, which is -1. */
static inline bool arg_has_instance(const struct tr_event *e)
{
	return trace_has(e, DPROF_KEY_ID);
}

static inline uint64_t arg_instance(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_ID, ARG_NONE);
}

/* ---- Collective operations and teams --------------------------------------------------------- */

#define ARG_TEAMS       (ARG_KIND(FORK) | ARG_KIND(JOIN))
#define ARG_COLLECTIVES (ARG_KIND(BARRIER) | ARG_KIND(COLL) | ARG_TEAMS)

/* It says who is the root, or that another is. */
static inline bool arg_is_rooted(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_COLLECTIVES, ARG_ENTER) != ARG_NONE;
}

static inline bool arg_is_root(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_COLLECTIVES, ARG_ENTER) == 1;
}

/* It failed, or one before it: which of the others' it is nobody knows. */
static inline bool arg_failed(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PEER, ARG_COLLECTIVES, ARG_ENTER) == DPROF_PEER_NONE;
}

/* Likewise, or it is between two groups, ...: its wait dependencies are not known. */
static inline bool arg_is_doubtful(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_COLLECTIVES, ARG_ENTER) == DPROF_ROLE_UNKNOWN || arg_failed(o, e);
}

/* A collective operation or a message of MPI of which nobody knows who takes part: not all of them need be in the trace. */
static inline bool arg_is_of_unknown(const struct operation *o, const struct tr_event *e)
{
	bool message = o->is & OP_MESSAGE && o->is & OP_MPI && !trace_has(e, DPROF_KEY_PEER) && !trace_has(e, DPROF_KEY_GROUP);
	bool collective = o->is & OP_COLLECTIVE && o->is & OP_MPI && !trace_has(e, DPROF_KEY_GROUP) && arg_is_doubtful(o, e);
	return e->op == DPROF_ENTER && (message || collective);
}

/* A fork or a join of a team, and not of a thread or of tasks; */
static inline bool arg_is_of_team(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_TEAMS, ARG_ENTER) != ARG_NONE && trace_has(e, DPROF_KEY_GROUP);
}

/* ... of a team that another thread has opened. */
static inline bool arg_is_member(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_TEAMS, ARG_ENTER) == 0;
}

/* Of work that a team gives out, in pieces that are recorded: the thread has this one, from 0, or there is none left. */
static inline uint64_t arg_piece(const struct operation *o, const struct tr_event *e)
{
	return o->is & OP_EVENS_OUT ? arg_at(o, e, DPROF_KEY_SEQ, ARG_KIND(FORK), ARG_POINT) : ARG_NONE;
}

/* A barrier to which other processes may come; */
static inline uint64_t arg_barrier(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_OBJECT, ARG_KIND(BARRIER), ARG_ENTER);
}

/* ... or only threads of one process, to which the thread comes, and waits or not (a point). */
static inline uint64_t arg_barrier_at(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ID, ARG_KIND(BARRIER), ARG_ENTER | ARG_POINT);
}

/* A barrier is made there. */
static inline bool arg_makes_barrier(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(BARRIER), ARG_POINT) == 1;
}

/* It comes without waiting, and not for the last time: it may wait later, and come again. */
static inline bool arg_comes_again(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(BARRIER), ARG_POINT) == 0;
}

/* Of all who come: so many threads go on together. ARG_NONE: not known; or the thread of one process has come before and waits. */
static inline uint64_t arg_barrier_threads(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TAG, ARG_KIND(BARRIER), ARG_ENTER | ARG_POINT);
}

/* ---- Messages: their begin, and their done ---------------------------------------------------- */

#define ARG_MESSAGES (ARG_KIND(SEND) | ARG_KIND(RECV))
#define ARG_TOLD     (ARG_ENTER | ARG_POINT)

static inline uint64_t arg_rank(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PEER, ARG_MESSAGES, ARG_TOLD);
}

/* None is moved. */
static inline bool arg_no_message(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PEER, ARG_MESSAGES, ARG_TOLD) == DPROF_PEER_NONE;
}

static inline uint64_t arg_message_tag(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TAG, ARG_MESSAGES, ARG_TOLD);
}

/* It is not known whether one was moved. */
static inline bool arg_message_failed(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_MESSAGES, ARG_ENTER) == DPROF_ROLE_UNKNOWN;
}

/* ---- Locks and waits ------------------------------------------------------------------------- */

static inline bool arg_is_reader(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(LOCK) | (o->locks ? ARG_KIND(WAIT) : 0), ARG_ENTER) == 0;
}

/* It does not say for whom it waits: a probe, what several processes share, ... But of an iteration it is one of those who have
 * said its number. */
static inline bool arg_for_unknown(const struct operation *o, const struct tr_event *e)
{
	if (o->kind == DPROF_KIND_WAIT && o->is & OP_IN_ORDER)
		return false;
	return arg_at(o, e, DPROF_KEY_PEER, ARG_KIND(WAIT) | ARG_KIND(LOCK) | ARG_KIND(SLEEP), ARG_ENTER) == DPROF_PEER_UNKNOWN;
}

/* It looks whether something is stored, and that is so at once. */
static inline bool arg_finds_stored(const struct operation *o, const struct tr_event *e)
{
	return o->stored && trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 0;
}

/* Likewise whether it is given, before it waits: so it is an attempt (OP_ATTEMPT). */
static inline bool arg_finds_given(const struct operation *o, const struct tr_event *e)
{
	return o->once && o->kind == DPROF_KIND_WAIT && trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 0;
}

/* It waits for the rest of messages that were received where they were found. */
static inline bool arg_fetches(const struct operation *o, const struct tr_event *e)
{
	bool begun = o->is & OP_MPI && arg_for_unknown(o, e) && trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 0;
	return o->kind == DPROF_KIND_WAIT && (begun || o->is & OP_IN_TWO);
}

/* It waits for what another call has left that waited for one of several, which may be the other way round. */
static inline bool arg_is_left(const struct operation *o, const struct tr_event *e)
{
	return o->kind == DPROF_KIND_WAIT && o->is & OP_REQUEST && !trace_has(e, DPROF_KEY_PEER) &&
	       trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 1;
}

/* It waits until something is complete at this rank, in MPI_COMM_WORLD, or at all (DPROF_TARGET_ALL). */
static inline uint64_t arg_target(const struct operation *o, const struct tr_event *e)
{
	return o->is & OP_MPI && arg_for_unknown(o, e) ? trace_arg(e, DPROF_KEY_TAG, ARG_NONE) : ARG_NONE;
}

/* It counts at this place of a window, or at an atomic number with this address, and learns how far others have counted; */
static inline uint64_t arg_counter(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_OFFSET, ARG_KIND(WAIT), ARG_POINT);
}

/* ... so far; or ARG_NONE: that is not recorded; */
static inline uint64_t arg_counted(const struct operation *o, const struct tr_event *e)
{
	return arg_counter(o, e) != ARG_NONE ? trace_arg(e, DPROF_KEY_TAG, ARG_NONE) : ARG_NONE;
}

/* ... in memory that processes share; */
static inline bool arg_counter_shared(const struct operation *o, const struct tr_event *e)
{
	return arg_counter(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, 0) == 1;
}

/* ... it has claimed something there, or not; or what it did then because of that is over. */
static inline bool arg_claim_over(const struct operation *o, const struct tr_event *e)
{
	return o->claims && trace_arg(e, DPROF_KEY_TAG, ARG_NONE) == 1;
}

/* ... by a swap, which may be in vain. */
static inline bool arg_swaps(const struct operation *o, const struct tr_event *e)
{
	return arg_counter(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 0;
}

/* It found a message, or what else has come, and left it to whoever takes it next. */
static inline bool arg_only_found(const struct operation *o, const struct tr_event *e)
{
	return o->finds && e->op == DPROF_ENTER && !trace_has(e, DPROF_KEY_ID) && !trace_has(e, DPROF_KEY_PEER);
}

/* It ended because its time limit was over, and nothing else: nobody is known whom it waited for; */
static inline bool arg_expired(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_UNTIL, ARG_KIND(WAIT), ARG_ENTER) != ARG_NONE;
}

/* ... at this moment, or ARG_NONE: not known. */
static inline uint64_t arg_expired_at(const struct operation *o, const struct tr_event *e)
{
	uint64_t until = arg_at(o, e, DPROF_KEY_UNTIL, ARG_KIND(WAIT), ARG_ENTER);
	return until ? until : ARG_NONE;
}

/* It began so many nanoseconds after the moment until which it was to sleep; or ARG_NONE: before that. */
static inline uint64_t arg_too_late(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TAG, ARG_KIND(SLEEP), ARG_ENTER);
}

/* Its thread had set its timer so many nanoseconds before. */
static inline uint64_t arg_set_before(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_OFFSET, ARG_KIND(SLEEP), ARG_ENTER);
}

/* Until a moment that was read off a clock: it slept for what was left. */
static inline bool arg_rests(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(SLEEP), ARG_ENTER) == DPROF_ROLE_REST;
}

/* Likewise, and that moment was laid down before it began. */
static inline bool arg_paced(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(SLEEP), ARG_ENTER) == DPROF_ROLE_PACE;
}

/* What its thread did until then was as much as there was time for. */
static inline bool arg_fills_time(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(SLEEP), ARG_ENTER) == DPROF_ROLE_OPEN;
}

/* A thread of this process that is cancelled here. */
static inline uint64_t arg_cancelled_thread(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_THREAD, ARG_KIND(JOIN), ARG_POINT);
}

/* Attempts that follow each other, all in vain; */
static inline bool arg_in_vain(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PEER, ARG_KIND(WAIT), ARG_ENTER) == DPROF_PEER_NONE;
}

/* ... for so many ticks in between there was none. */
static inline uint64_t arg_between(const struct operation *o, const struct tr_event *e)
{
	return arg_in_vain(o, e) ? trace_arg(e, DPROF_KEY_TAG, 0) : 0;
}

/* ---- Bytes, and other processes ---------------------------------------------------------------- */

static inline uint64_t arg_channel(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_CHANNEL, ARG_KIND(WAIT), ARG_ENTER);
}

/* Of the first byte; ARG_NONE: not known. */
static inline uint64_t arg_offset(const struct operation *o, const struct tr_event *e)
{
	return arg_channel(o, e) == ARG_NONE ? ARG_NONE : trace_arg(e, DPROF_KEY_OFFSET, ARG_NONE);
}

/* How many bytes, or messages where those are counted; ARG_NONE: not known. */
static inline uint64_t arg_moved(const struct operation *o, const struct tr_event *e)
{
	return arg_channel(o, e) == ARG_NONE ? ARG_NONE : trace_arg(e, DPROF_KEY_TAG, trace_arg(e, DPROF_KEY_BYTES, ARG_NONE));
}

static inline bool arg_gives_bytes(const struct operation *o, const struct tr_event *e)
{
	return arg_channel(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, 0) == 1;
}

/* It took what was there, and would have taken more. */
static inline bool arg_takes_what_there_is(const struct operation *o, const struct tr_event *e)
{
	return arg_channel(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 0;
}

/* The pid of the one whose end was waited for; */
static inline uint64_t arg_ended_process(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PROCESS, ARG_KIND(WAIT), ARG_ENTER);
}

/* no other would have done. */
static inline bool arg_of_one_process(const struct operation *o, const struct tr_event *e)
{
	return arg_ended_process(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, 0) == 1;
}

/* By which signal; 0: by none, or not known. */
static inline uint64_t arg_ended_by(const struct operation *o, const struct tr_event *e)
{
	bool is = arg_ended_process(o, e) != ARG_NONE && arg_channel(o, e) == ARG_NONE;
	return is ? trace_arg(e, DPROF_KEY_TAG, 0) : 0;
}

/* The pid of another one to which a signal was sent that may end it; 0: of any; and which signal. */
static inline uint64_t arg_signalled_process(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PROCESS, ARG_KIND(WAIT), ARG_POINT);
}

static inline uint64_t arg_signal(const struct operation *o, const struct tr_event *e)
{
	return arg_signalled_process(o, e) != ARG_NONE ? trace_arg(e, DPROF_KEY_TAG, 0) : 0;
}

static inline uint64_t arg_forked_process(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_PROCESS, ARG_KIND(FORK), ARG_ENTER);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* The thread leaves the operation for this task, and comes back. */
static inline uint64_t arg_called_away(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TASK, ~ARG_KIND(REGION), ARG_EXIT);
}

/* The region is the run of a task, ... */
static inline uint64_t arg_task_run(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TASK, ARG_KIND(REGION), ARG_ENTER);
}

/* ... which is over only when this event has come. */
static inline uint64_t arg_run_event(const struct operation *o, const struct tr_event *e)
{
	return arg_task_run(o, e) == ARG_NONE ? ARG_NONE : trace_arg(e, DPROF_KEY_TAG, ARG_NONE);
}

/* A task is made, ... */
static inline uint64_t arg_task_made(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TASK, ARG_KIND(FORK), ARG_POINT);
}

/* ... by this one, in this taskgroup, ... */
static inline uint64_t arg_task_maker(const struct operation *o, const struct tr_event *e)
{
	return arg_task_made(o, e) == ARG_NONE ? ARG_NONE : trace_arg(e, DPROF_KEY_ID, ARG_NONE);
}

static inline uint64_t arg_taskgroup(const struct operation *o, const struct tr_event *e)
{
	return arg_task_made(o, e) == ARG_NONE ? ARG_NONE : trace_arg(e, DPROF_KEY_TAG, ARG_NONE);
}

/* ... and there is nothing to run: a taskwait with dependences. */
static inline bool arg_task_empty(const struct operation *o, const struct tr_event *e)
{
	return arg_task_made(o, e) != ARG_NONE && trace_arg(e, DPROF_KEY_ROLE, ARG_NONE) == 0;
}

/* ... or before which others are run that have a greater one. */
static inline uint64_t arg_task_priority(const struct operation *o, const struct tr_event *e)
{
	return arg_task_made(o, e) != ARG_NONE ? trace_arg(e, DPROF_KEY_ROLE, 0) : 0;
}

/* The task made just before depends on this address, ... */
static inline uint64_t arg_dependence(const struct operation *o, const struct tr_event *e)
{
	bool is = arg_task_made(o, e) == ARG_NONE;
	return is ? arg_at(o, e, DPROF_KEY_ID, ARG_KIND(FORK), ARG_POINT) : ARG_NONE;
}

/* ... as in (0), out or inout (1), mutexinoutset (2), inoutset (3). */
static inline uint64_t arg_dependence_how(const struct operation *o, const struct tr_event *e)
{
	bool is = arg_task_made(o, e) == ARG_NONE;
	return is ? arg_at(o, e, DPROF_KEY_ROLE, ARG_KIND(FORK), ARG_POINT) : ARG_NONE;
}

static inline uint64_t arg_event_come(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_ID, ARG_KIND(JOIN), ARG_POINT);
}

/* A join waits until this task may begin, ... */
static inline uint64_t arg_awaited_task(const struct operation *o, const struct tr_event *e)
{
	return arg_at(o, e, DPROF_KEY_TASK, ARG_KIND(JOIN), ARG_ENTER);
}

/* ... or for all that this one has made, or all in this taskgroup. */
static inline uint64_t arg_awaited_tasks(const struct operation *o, const struct tr_event *e)
{
	bool is = arg_awaited_task(o, e) == ARG_NONE;
	return is ? arg_at(o, e, DPROF_KEY_ID, ARG_KIND(JOIN), ARG_ENTER) : ARG_NONE;
}

#endif

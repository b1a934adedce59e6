/* SPDX-License-Identifier: MIT
 *
 * graph_walk.c - along each thread: what does each operation complete, and who explains it?
 *
 * Threads are walked side by side, some stretch of time each, so that what is made of them lies in the order of the run
 * and what belongs together near to each other. What comes of it does not depend on that: one thread's walk wants
 * nothing of another's.
 *
 * Only the outermost operation counts: what happens inside of another is a part of it, and so is
 * every message that is completed inside. Regions are passed over. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_private.h"

/* Something begun with an id, whose completion comes later. */
struct begun_id { uint64_t id, at; uint32_t message; bool as_sender, looked_for; };

/* A task that runs: of the builder's runs, and the site of its region. */
struct running { size_t run; uint32_t site; };

struct thread_walk {
	struct builder *b;
	uint32_t thread, process;
	struct tr_cursor events;
	uint64_t at;              /* the next event */
	bool ended;
	struct event_marks *marks;
	size_t mark;              /* the next one */
	struct replay replay;     /* of its operations */
	struct begun_id *begun; size_t nbegun;

	/* of the outermost operation */
	struct tr_event entered;
	struct event_ref enter;
	bool explained, completed, doubtful;
	bool looked_for;          /* it completes what was begun because it had been looked for */
	uint32_t sent;            /* the message that it sends */
	struct attached *attached; size_t nattached; /* messages that are completed in it */
	struct inside *inside; size_t ninside; uint32_t nregions; /* inside of it, and how many of them are open */
	bool bad;                 /* records were lost: what has no match has been said */
	bool chooses;             /* it has waited for it is not known whom (poll, ...), who may say whose bytes it takes */

	struct running *running; size_t nrunning; /* the innermost last */
	bool of_several;          /* threads of its process: three or more */
	bool comes_on;            /* its last coming goes on */
	struct collective_id { uint64_t group, seq; } *left; size_t nleft; /* for tasks, likewise */
	bool resumed;             /* the outermost operation was one of those */

	/* What was taken last: of sync_events or of moved, and 1; or 0. And whether nothing else has begun since. */
	size_t took, took_bytes;
	bool just_took;
	bool takes_on;            /* bytes, of which there could have been more: perhaps it goes on until it has them all */
	bool by_chance;           /* what it does up to its next barrier (OP_ELECTS) */

	struct section section;   /* the last */

	/* The last wait for a condition variable; if it was for nothing, its mutex, taken again and given back. */
	size_t woken;             /* its event, and 1; or 0 */
	size_t retaken, returned; /* likewise */

	size_t made;              /* the last task: of the builder's, and 1; or 0 */
	uint64_t order;           /* of what concerns tasks, so far */
	struct diagnostic unsent, alone, missing;

	/* Attempts: the last event that was none, nor sleep nor input and output; the end of the last operation */
	bool any;                 /* there has been an event */
	struct event_ref before, operation;
	bool failed, failed_since; /* one has failed since `before`, and since `operation` */
	struct event_ref tried;   /* the first that has since `before` */
	struct moments { uint32_t site; uint64_t last, step; bool stay; } until; /* until which it has waited last, for nothing */
	uint64_t failed_at, failed_for; /* the last one that did, and how long it took */

	enum graph_given given;   /* the work that it does now */
	uint64_t giver;           /* by the team of this group */
	bool in_pieces;           /* that work, each of which is a marked region, or */
	bool pieces_said;         /* as it is recorded */
	uint32_t group, npieces;  /* then: of the graph's; and how many it has had */
	uint32_t piece_depth;     /* marked regions that have begun in this one */
	bool runs_tasks;          /* it has left an operation for a task, which another might have run, and not come back for good */
	bool in_no_team;          /* it has left its team, and waits for another one: no code of the program's runs there */
	bool has_tasks;           /* it is in a barrier of its team, and runs tasks there that another may run: */
	uint32_t task_group, ntasks; /* of this group; and how many it has run */
	struct event_ref *comes; size_t ncomes; /* for tasks while it waited for some of its own, since its team's last barrier */
	uint64_t waits_for;       /* with this id; */
	bool waits_on, waits_again; /* it still does; there has been another such wait */
};

static const struct operation *operation(const struct thread_walk *w, const struct tr_event *e)
{
	return tr_operation(w->b->graph->trace, e);
}

static enum dprof_kind kind_of(const struct thread_walk *w, uint32_t site)
{
	return site == TR_NO_SITE ? DPROF_KIND_REGION : w->b->graph->trace->sites[site].kind;
}

/* ---- Ids ------------------------------------------------------------------------------------- */

static void begin_id(struct thread_walk *w, uint64_t id, uint64_t at, uint32_t message, bool as_sender)
{
	*MEM_GROW(w->begun, w->nbegun) = (struct begun_id){ id, at, message, as_sender, w->failed };
}

/* What was begun with the id, which may now be used again; the latest one counts. */
static bool end_id(struct thread_walk *w, uint64_t id, struct begun_id *out)
{
	for (size_t i = w->nbegun; i-- > 0;) {
		if (w->begun[i].id != id)
			continue;
		*out = w->begun[i];
		w->begun[i] = w->begun[--w->nbegun];
		return true;
	}
	return false;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Threads one behind the other, as they stand in the trace. */
static uint64_t next_order(struct thread_walk *w)
{
	return (uint64_t)w->thread << 40 | ++w->order;
}

static void make_task(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = operation(w, e);
	struct builder *b = w->b;
	*SPILL_GROW(b->spill, b->made, b->nmade) = (struct made_task){
		.process = w->process, .task = arg_task_made(o, e), .order = next_order(w), .ref = ref,
		.parent = arg_task_maker(o, e), .group = arg_taskgroup(o, e), .empty = arg_task_empty(o, e) };
	w->made = b->nmade;
}

#define HOW_UNKNOWN 1 /* as what waits for all before, and is waited for by all behind */

/* Of the task that was made last, by the same thread. */
static void depend(struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = operation(w, e);
	struct builder *b = w->b;
	const struct made_task *last = w->made ? &b->made[w->made - 1] : NULL;
	uint64_t how = arg_dependence_how(o, e);
	if (last)
		*SPILL_GROW(b->spill, b->depends, b->ndepends) = (struct depends){
			w->process, last->parent, arg_dependence(o, e), last->order, last->task,
			(unsigned)(how == ARG_NONE ? HOW_UNKNOWN : how) };
}

static void task_point(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = operation(w, e);
	uint64_t event = arg_event_come(o, e);
	if (arg_task_made(o, e) != ARG_NONE)
		make_task(w, e, ref);
	else if (arg_dependence(o, e) != ARG_NONE)
		depend(w, e);
	else if (event != ARG_NONE)
		*SPILL_GROW(w->b->spill, w->b->fulfilled, w->b->nfulfilled) =
			(struct fulfilled){ w->process, event, ref };
}

#define MOST_PIECES 4096 /* of a thread, of one construct: with more, the mean is as good */

/* It comes for the next task. */
static void share_tasks(struct thread_walk *w, struct event_ref ref)
{
	w->has_tasks = w->ntasks++ < MOST_PIECES;
	w->b->graph->groups[w->task_group].many |= !w->has_tasks;
	if (w->has_tasks)
		graph_share(w->b, ref, ref, w->task_group);
}

/* Likewise, as it waits for tasks that are not of a barrier. */
static void note_come(struct thread_walk *w, struct event_ref ref)
{
	if (w->ncomes < MOST_PIECES)
		*MEM_GROW(w->comes, w->ncomes) = ref;
	w->waits_again |= w->ncomes == MOST_PIECES;
}

/* Regions do not count here, but for the runs of tasks. */
static void region(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = operation(w, e);
	struct builder *b = w->b;
	if (e->op == DPROF_ENTER && e->site != TR_NO_SITE)
		b->graph->entered[e->site] = true;
	uint64_t task = arg_task_run(o, e), event = arg_run_event(o, e);
	if (task != ARG_NONE) {
		*MEM_GROW(w->running, w->nrunning) = (struct running){ b->nruns, e->site };
		*SPILL_GROW(b->spill, b->runs, b->nruns) = (struct task_run){
			.process = w->process, .task = task, .event = event, .order = next_order(w),
			.detached = event != ARG_NONE };
	} else if (e->op == DPROF_EXIT && w->nrunning &&
		   w->running[w->nrunning - 1].site == e->site) {
		struct task_run *run = &b->runs[w->running[--w->nrunning].run];
		run->ended = true;
		run->end = ref;
		if (w->has_tasks && w->nrunning == 0)
			share_tasks(w, ref);
		else if (w->waits_on && w->nrunning == 0)
			note_come(w, ref);
	}
}

static struct collective_id collective_of(const struct tr_event *e)
{
	return (struct collective_id){ trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX),
				       trace_arg(e, DPROF_KEY_SEQ, UINT64_MAX) };
}

static void wait_for_tasks(struct thread_walk *w, struct event_ref exit, uint64_t number, bool all)
{
	struct builder *b = w->b;
	*SPILL_GROW(b->spill, b->task_waits, b->ntask_waits) = (struct task_wait){
		w->process, w->entered.site, number, next_order(w), all, w->enter, exit };
}

/* ---- Attempts -------------------------------------------------------------------------------- */

/* Bytes were there, or a child was over: a look that may have found nothing before. */
static bool is_look(const struct thread_walk *w)
{
	const struct operation *o = operation(w, &w->entered);
	bool moves = arg_channel(o, &w->entered) != ARG_NONE || arg_ended_process(o, &w->entered) != ARG_NONE;
	return moves && !arg_for_unknown(o, &w->entered);
}

/* The mutex is taken again, behind a wait that ended without what it waited for. Who tried to have it has not waited like that. */
static bool retakes(const struct thread_walk *w)
{
	return kind_of(w, w->entered.site) == DPROF_KIND_LOCK && w->failed && w->failed_at + 1 == w->enter.at &&
	       !tr_is(w->b->graph->trace, w->entered.site, OP_ATTEMPT);
}

/* What may have been tried in vain begins with the first attempt that is known. Before that a program without marks works; and where
 * it has marks, it has perhaps tried since the last of them or the last operation, too seldom for a record. */
static struct event_ref tried_since(const struct thread_walk *w)
{
	if (w->b->graph->trace->processes[w->process].marked)
		return w->before;
	return w->failed ? w->tried : w->enter;
}

static struct wait_begin begin_of(const struct thread_walk *w)
{
	bool fails = tr_is(w->b->graph->trace, w->entered.site, OP_ATTEMPT) || is_look(w);
	if (retakes(w)) /* which is not over before that wait is */
		return (struct wait_begin){ .enter = w->enter };
	return (struct wait_begin){ .enter = fails || w->failed ? tried_since(w) : w->enter,
				    .tried = fails || w->failed_since, .certain = w->operation };
}

/* A wait that ended without what it waited for, and the lock that it takes again. */
static bool has_failed(struct thread_walk *w, struct event_ref exit)
{
	enum dprof_kind kind = kind_of(w, w->entered.site);
	bool took_none = arg_offset(operation(w, &w->entered), &w->entered) != ARG_NONE &&
			 !trace_has(&w->entered, DPROF_KEY_BYTES);
	bool vain = kind == DPROF_KIND_WAIT && !w->completed && w->nattached == 0 && !is_look(w) &&
		    !trace_has(&w->entered, DPROF_KEY_OBJECT) &&
		    !tr_is(w->b->graph->trace, w->entered.site, OP_IN_TWO) &&
		    !trace_has(&w->entered, DPROF_KEY_ID) && (took_none || !trace_has(&w->entered, DPROF_KEY_PEER));
	if (vain) {
		w->failed_at = exit.at;
		w->failed_for = exit.stamp - w->enter.stamp;
	}
	return vain || retakes(w);
}

/* It has asked again and again, and goes on without; so that is its own time, as long as it is not asked for again. */
static bool was_in_vain(const struct thread_walk *w)
{
	return arg_in_vain(operation(w, &w->entered), &w->entered);
}

/* Moments that are equally far apart, to the nanosecond, were laid down before; any other was read off the clock just before
 * the wait. */
static bool moment_stays(struct thread_walk *w, uint64_t until)
{
	struct moments *m = &w->until;
	if (m->site != w->entered.site)
		*m = (struct moments){ .site = w->entered.site, .last = until };
	if (until == m->last)
		return m->stay;
	m->stay = until - m->last == m->step;
	m->step = until - m->last;
	m->last = until;
	return m->stay;
}

/* It has waited until a moment, for nothing, unless it tries again. If it has done so before, it looks whether something is
 * there, and that may come as well. */
static void note_time_out(struct thread_walk *w, struct event_ref exit, bool again)
{
	uint64_t until = arg_expired_at(operation(w, &w->entered), &w->entered);
	struct wait_begin begin = begin_of(w);
	if (until != ARG_NONE && moment_stays(w, until))
		graph_unknown_since(w->b, begin, exit,
				    (struct event_ref){ w->thread, 0, w->b->graph->threads[w->thread].first });
	else if (until == ARG_NONE || again)
		graph_unknown(w->b, begin, exit);
	else
		graph_unknown_since(w->b, begin, exit, begin.enter);
	graph_note_ended(w->b, arg_only_found(operation(w, &w->entered), &w->entered) ? GRAPH_FOUND : GRAPH_EXPIRED);
}

/* From here on, up to the next barrier, another run may do other things. */
static void begin_chance(struct thread_walk *w, struct event_ref exit)
{
	graph_note_dealer(w->b->graph, w->entered.site);
	if (!w->by_chance)
		graph_give(w->b, exit, GRAPH_DEALT);
	w->by_chance = true;
}

static void end_chance(struct thread_walk *w, struct event_ref exit)
{
	if (w->by_chance)
		graph_give(w->b, exit, GRAPH_DEALT_OVER);
	w->by_chance = false;
}

/* All work that was given out before it is done behind it: of threads, or of ranks with one thread each. */
static void note_barrier(struct thread_walk *w, struct event_ref exit)
{
	enum dprof_kind kind = kind_of(w, w->entered.site);
	const struct trace *t = w->b->graph->trace;
	bool alone = (w->thread == 0 || t->threads[w->thread - 1].process != w->process) &&
		     (w->thread + 1 == t->nthreads || t->threads[w->thread + 1].process != w->process);
	bool all = kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_COLL ||
		   (kind == DPROF_KIND_JOIN && trace_has(&w->entered, DPROF_KEY_GROUP));
	if (!all || (!alone && tr_is(t, w->entered.site, OP_OF_RANKS)))
		return;
	*SPILL_GROW(w->b->spill, w->b->barriers[w->thread].v, w->b->barriers[w->thread].n) =
		(struct graph_mpi_call){ exit.at, exit.stamp };
	end_chance(w, exit);
}

/* The outermost operation was in vain. */
static void fail(struct thread_walk *w)
{
	if (!w->failed)
		w->tried = w->enter;
	w->failed = w->failed_since = true;
}

/* The outermost operation has ended. */
static void note_attempt(struct thread_walk *w, struct event_ref exit)
{
	if (was_in_vain(w)) {
		fail(w);
	} else if (has_failed(w, exit)) {
		bool again = w->failed;
		fail(w);
		if (kind_of(w, w->entered.site) == DPROF_KIND_WAIT)
			note_time_out(w, exit, again);
	} else if (kind_of(w, w->entered.site) != DPROF_KIND_SLEEP) {
		w->before = w->operation = exit;
		w->failed = w->failed_since = false;
	}
}

/* ---- Work that is given out ------------------------------------------------------------------- */

/* Behind what was taken something begins that is neither a wait nor the next barrier. */
static void note_going_on(struct thread_walk *w, const struct tr_event *e)
{
	const uint32_t does = DPROF_KIND_BIT(DPROF_KIND_REGION) | DPROF_KIND_BIT(DPROF_KIND_SEND) |
			      DPROF_KIND_BIT(DPROF_KIND_RECV) | DPROF_KIND_BIT(DPROF_KIND_IO) |
			      DPROF_KIND_BIT(DPROF_KIND_SLEEP);
	if (!w->just_took || e->op != DPROF_ENTER)
		return;
	w->just_took = false;
	if (!(does >> kind_of(w, e->site) & 1))
		return;
	if (w->took_bytes)
		w->b->moved[w->took_bytes - 1].goes_on = true;
	else
		w->b->sync_events[w->took - 1].goes_on = true;
}

/* Behind bytes of which there could have been more: unless it takes them next, another run may do with more or fewer what it
 * does now. */
static void note_pieces(struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = operation(w, e);
	struct moved_bytes *last = &w->b->moved[w->took_bytes - 1];
	bool next = e->op == DPROF_ENTER && arg_channel(o, e) == last->channel && !arg_gives_bytes(o, e);
	w->takes_on = false;
	if (next)
		return;
	last->partial = true;
	begin_chance(w, last->exit);
}

static uint64_t both(uint64_t a, uint64_t b)
{
	return (a ^ b >> 32) * 0x9e3779b97f4a7c15u ^ b * 0xbf58476d1ce4e5b9u;
}

/* The group of those who have come to a construct of a team; of one that has a number. */
static uint32_t group_of(struct builder *b, uint64_t team, uint64_t number, bool one)
{
	uint64_t construct = both(team, number);
	if (ids_add(&b->constructs, construct))
		*MEM_GROW(b->groups_of, b->ngroups_of) = graph_group(b, one);
	return b->groups_of[ids_find(&b->constructs, construct)];
}

/* Which construct of a team is this for the thread: its threads come to all of them, in the same order. */
static uint64_t count_construct(struct thread_walk *w, uint64_t team)
{
	struct builder *b = w->b;
	uint64_t coming = both(team, w->thread);
	if (ids_add(&b->comings, coming))
		*MEM_GROW(b->times_come, b->ntimes_come) = 0;
	return b->times_come[ids_find(&b->comings, coming)]++;
}

/* Comes for the first piece. */
static void begin_pieces(struct thread_walk *w, struct event_ref ref, bool one)
{
	w->group = group_of(w->b, w->giver, UINT64_MAX - count_construct(w, w->giver), one);
	w->in_pieces = true;
	w->pieces_said = false;
	w->npieces = w->piece_depth = 0;
	graph_share(w->b, ref, ref, w->group);
}

/* Who does which is not evened out, as that can be said. */
static void begin_piece(struct thread_walk *w, struct event_ref ref)
{
	if (w->npieces++ == 0)
		graph_give(w->b, ref, w->given = GRAPH_GIVEN);
}

/* The thread comes for the next one. */
static void end_piece(struct thread_walk *w, struct event_ref ref)
{
	w->in_pieces = w->npieces < MOST_PIECES;
	w->b->graph->groups[w->group].many |= !w->in_pieces;
	if (w->in_pieces)
		graph_share(w->b, ref, ref, w->group);
	else
		graph_give(w->b, ref, w->given = GRAPH_GIVEN_EVENLY);
}

/* A marked region in what is given out begins, or has ended. */
static void note_piece(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct trace *trace = w->b->graph->trace;
	if (e->site == TR_NO_SITE || trace->sites[e->site].automatic || !tr_is(trace, e->site, OP_REGION) || w->replay.depth > 0)
		return;
	if (e->op == DPROF_ENTER && w->piece_depth++ == 0)
		begin_piece(w, ref);
	if (e->op == DPROF_EXIT && w->piece_depth > 0 && --w->piece_depth == 0)
		end_piece(w, ref);
}

/* Pieces are recorded: regions in them are none. */
static void have_piece(struct thread_walk *w, uint64_t piece, uint64_t team, struct event_ref ref)
{
	if (!w->in_pieces || team != w->giver)
		return;
	w->pieces_said = true;
	if (piece > 0)
		end_piece(w, ref);
	if (w->in_pieces)
		begin_piece(w, ref);
}

/* What an inner team gives out is part of what the outer one gave. */
static void begin_given_work(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	bool loop = tr_is(w->b->graph->trace, e->site, OP_EVENS_OUT), evens_out = loop && w->given != GRAPH_GIVEN;
	uint64_t team = trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX), piece = arg_piece(operation(w, e), e);
	if (piece != ARG_NONE) {
		have_piece(w, piece, team, ref);
		return;
	}
	if (w->given == GRAPH_OWN)
		w->giver = team;
	w->given = evens_out ? GRAPH_GIVEN_EVENLY : GRAPH_GIVEN;
	graph_give(w->b, ref, w->given);
	if (team == w->giver)
		begin_pieces(w, ref, !loop);
}

static bool is_team_barrier(const struct thread_walk *w, const struct tr_event *e)
{
	enum dprof_kind kind = kind_of(w, e->site);
	return (kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_JOIN) && trace_has(e, DPROF_KEY_GROUP);
}

/* The outermost operation is left for a task: for the first one, to which the thread came when it entered, or for one more. */
static void begin_tasks(struct thread_walk *w)
{
	struct collective_id id = collective_of(&w->entered);
	if (w->has_tasks || !is_team_barrier(w, &w->entered))
		return;
	uint32_t group = group_of(w->b, id.group, id.seq, false);
	bool more = w->ntasks > 0 && group == w->task_group;
	w->task_group = group;
	w->ntasks = more ? w->ntasks : 0;
	w->has_tasks = w->ntasks < MOST_PIECES;
	if (!more)
		share_tasks(w, w->enter);
}

/* Likewise, but it is no barrier. */
static void begin_tasks_apart(struct thread_walk *w)
{
	uint64_t id = trace_arg(&w->entered, DPROF_KEY_ID, UINT64_MAX);
	if (w->nrunning > 0 || is_team_barrier(w, &w->entered))
		return;
	w->waits_again |= w->ncomes > 0 && id != w->waits_for;
	w->waits_for = id;
	w->waits_on = true;
	if (w->ncomes == 0)
		note_come(w, w->enter);
}

/* A team's barrier is over: whoever came there early has run tasks beside the one thread that waited for them before it, once,
 * and ran some as well. */
static void share_tasks_apart(struct thread_walk *w)
{
	struct collective_id id = collective_of(&w->entered);
	uint32_t group = w->ncomes > 0 && !w->waits_again ? group_of(w->b, id.group, id.seq, false) : 0;
	bool shares = w->ncomes > 0 && !w->waits_again && !(w->ntasks > 0 && w->task_group == group);
	for (size_t i = 0; i < w->ncomes && shares; i++)
		graph_share(w->b, w->comes[i], w->comes[i], group);
	if (shares) {
		w->b->graph->groups[group].many |= w->b->graph->groups[group].apart;
		w->b->graph->groups[group].apart = true;
	}
	w->ncomes = 0;
	w->waits_again = false;
}

/* Which of them it runs, and whether any, is chance, until the operation is over for which it waits. */
static void begin_task_chance(struct thread_walk *w, struct event_ref exit)
{
	if (w->runs_tasks)
		return;
	graph_note_dealer(w->b->graph, w->entered.site);
	graph_give(w->b, exit, GRAPH_DEALT);
	w->runs_tasks = true;
}

static void end_task_chance(struct thread_walk *w, struct event_ref exit)
{
	if (!w->runs_tasks || w->nrunning > 0)
		return;
	graph_give(w->b, exit, GRAPH_DEALT_OVER);
	w->runs_tasks = false;
}

/* With the team's next barrier, or its end. */
static void end_given_work(struct thread_walk *w, struct event_ref exit)
{
	enum dprof_kind kind = kind_of(w, w->entered.site);
	if (w->given == GRAPH_OWN || (kind != DPROF_KIND_BARRIER && kind != DPROF_KIND_JOIN) ||
	    trace_arg(&w->entered, DPROF_KEY_GROUP, UINT64_MAX) != w->giver)
		return;
	w->given = GRAPH_OWN;
	w->in_pieces = false;
	graph_give(w->b, exit, w->given);
}

/* ---- Completions ----------------------------------------------------------------------------- */

static void attach(struct thread_walk *w, uint32_t message, bool as_sender)
{
	*SPILL_GROW(w->b->spill, w->attached, w->nattached) = (struct attached){ message, as_sender };
}

/* The marks of the event: does one complete a message here? */
static bool take_marks(struct thread_walk *w, uint64_t at)
{
	bool completes = false;
	for (; w->mark < w->marks->n && w->marks->v[w->mark].at <= at; w->mark++) {
		const struct event_mark *m = &w->marks->v[w->mark];
		switch (m->what) {
		case MARK_EXPLAINED:
			w->explained |= w->replay.depth <= 1;
			break;
		case MARK_SENDS:
			w->sent = m->message;
			break;
		case MARK_COMPLETES:
			attach(w, m->message, false);
			completes = true;
			break;
		}
	}
	return completes;
}

static void complete_id(struct thread_walk *w, uint64_t id, bool has_match)
{
	struct begun_id what;
	if (!end_id(w, id, &what))
		return;
	w->looked_for |= !what.as_sender && what.looked_for;
	if (what.as_sender && what.message != NO_MESSAGE) {
		attach(w, what.message, true);
		w->b->messages[what.message].sends_on &= what.at < w->enter.at; /* else it is complete in one call */
	} else if (!what.as_sender && !has_match) {
		w->doubtful = true;
	}
	w->completed = true;
}

/* Who does not block at the site leaves no record. */
static void note_unseen(struct thread_walk *w, uint32_t site)
{
	w->b->may_wait[w->process] = true;
	if (w->b->graph->unseen == TR_NO_SITE)
		w->b->graph->unseen = site;
}

/* What is waited for or signalled: in this process, or of all that share it. */
struct which { uint32_t process; uint64_t id; };

static struct which which_of(const struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = operation(w, e);
	const struct trace *t = w->b->graph->trace;
	uint64_t object = arg_object(o, e);
	if (object == ARG_NONE)
		return (struct which){ w->process, arg_address(o, e) };
	return (struct which){ (uint32_t)t->nprocesses + t->threads[w->thread].clock, object };
}

static void add_signal(struct thread_walk *w, struct which which, struct event_ref ref, enum sync_event_kind kind, uint32_t site)
{
	*SPILL_GROW(w->b->spill, w->b->sync_events, w->b->nsync_events) = (struct sync_event){
		.process = which.process, .id = which.id, .ref = ref, .enter = ref, .begin.enter = w->before,
		.kind = kind, .site = site, .section = w->section };
}

static void point(struct thread_walk *w, const struct tr_event *e, struct event_ref ref,
		  bool has_match)
{
	const struct operation *o = operation(w, e);
	uint64_t request = arg_request(o, e);
	enum dprof_kind kind = o->kind;
	task_point(w, e, ref);
	w->b->left[w->thread].ends |= tr_is(w->b->graph->trace, e->site, OP_LIFE_ENDS);
	has_match |= arg_no_message(o, e);
	if (o->is & OP_REQUEST && request != ARG_NONE)
		complete_id(w, request, has_match);
	else if (kind == DPROF_KIND_RECV && !has_match)
		w->doubtful = true;
	w->completed |= kind == DPROF_KIND_RECV;
	if (kind == DPROF_KIND_LOCK && w->replay.depth == 0)
		w->just_took = w->took && w->b->sync_events[w->took - 1].id == which_of(w, e).id;
	if (kind == DPROF_KIND_WAIT && e->nargs == 0)
		note_unseen(w, e->site);
	else if (kind == DPROF_KIND_WAIT || kind == DPROF_KIND_LOCK)
		add_signal(w, which_of(w, e), ref, kind == DPROF_KIND_LOCK ? SYNC_RELEASED : SYNC_SIGNALLED, e->site);
	if (kind == DPROF_KIND_LOCK)
		w->returned = w->b->nsync_events;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void add_sync_event(struct thread_walk *w, struct event_ref exit, enum sync_event_kind kind)
{
	struct which which = which_of(w, &w->entered);
	*SPILL_GROW(w->b->spill, w->b->sync_events, w->b->nsync_events) = (struct sync_event){
		.process = which.process, .kind = kind, .ref = exit, .enter = w->enter, .begin = begin_of(w),
		.id = which.id, .site = w->entered.site,
		.shared = arg_is_reader(operation(w, &w->entered), &w->entered) };
	w->took = w->b->nsync_events;
	w->took_bytes = 0;
	w->just_took = tr_is(w->b->graph->trace, w->entered.site, OP_SEMAPHORE);
}

/* Whoever waited for a condition variable takes its mutex again before the wait is over: so the wait
 * for a signal and the one for the mutex are one. */
static void relock(struct thread_walk *w)
{
	struct sync_event *woken = w->woken ? &w->b->sync_events[w->woken - 1] : NULL;
	struct sync_event *taken = &w->b->sync_events[w->b->nsync_events - 1];
	w->woken = 0;
	if (!woken || woken->ref.at + 1 != taken->enter.at)
		return;
	woken->relocks = taken->relocks = true;
	taken->waiting = woken->enter;
	taken->waiting_begin = woken->begin;
	taken->waiting_at = woken->site;
	taken->condition = woken->id;
}

#define OP_NO_MUTEX (OP_SEMAPHORE | OP_FUTEX | OP_IN_ORDER) /* who waits there has none to give back and take again */

/* A lock has been taken, or what another has signalled. */
static void take_what_was_given(struct thread_walk *w, struct event_ref exit)
{
	if (kind_of(w, w->entered.site) == DPROF_KIND_LOCK) {
		add_sync_event(w, exit, SYNC_TAKEN);
		const struct sync_event *taken = &w->b->sync_events[w->b->nsync_events - 1];
		w->section = (struct section){ taken->process, taken->id, exit };
		w->retaken = retakes(w) ? w->b->nsync_events : 0;
		relock(w);
		return;
	}
	add_sync_event(w, exit, SYNC_WOKEN);
	if (!tr_is(w->b->graph->trace, w->entered.site, OP_NO_MUTEX))
		w->woken = w->b->nsync_events;
}

static bool is_for_condition(const struct thread_walk *w, uint32_t site)
{
	return kind_of(w, site) == DPROF_KIND_WAIT && tr_is(w->b->graph->trace, site, OP_ADDRESS) &&
	       !tr_is(w->b->graph->trace, site, OP_NO_MUTEX);
}

/* Behind a wait for nothing it waits again, soon: both are one, as if it had not had the mutex in between. */
static void wait_again(struct thread_walk *w)
{
	if (!w->retaken || !w->returned || !is_for_condition(w, w->entered.site))
		return;
	struct sync_event *taken = &w->b->sync_events[w->retaken - 1], *returned = &w->b->sync_events[w->returned - 1];
	bool soon = returned->ref.stamp - taken->enter.stamp < w->failed_for;
	if (soon && returned->ref.at == taken->ref.at + 1 && w->enter.at == returned->ref.at + 1 && returned->id == taken->id)
		taken->in_wait = returned->in_wait = true;
}

/* The room in a queue, of which whoever gives takes some, and whoever takes gives it. */
static struct which room_of(struct which queue)
{
	return (struct which){ queue.process, both(queue.id, 1) };
}

/* Behind what is recorded whether it blocks or not. */
static void share_with_processes(struct thread_walk *w, struct event_ref exit)
{
	const struct operation *o = operation(w, &w->entered);
	struct which which = which_of(w, &w->entered), room = room_of(which);
	if (arg_gives_message(o, &w->entered)) {
		add_signal(w, which, w->enter, SYNC_SIGNALLED, w->entered.site);
		*SPILL_GROW(w->b->spill, w->b->sync_events, w->b->nsync_events) = (struct sync_event){
			.process = room.process, .id = room.id, .kind = SYNC_WOKEN, .ref = exit, .enter = w->enter,
			.begin = begin_of(w), .site = w->entered.site, .for_room = true,
			.blocked = arg_for_unknown(o, &w->entered) };
		return;
	}
	take_what_was_given(w, exit);
	if (trace_has(&w->entered, DPROF_KEY_BYTES))
		add_signal(w, room, w->enter, SYNC_SIGNALLED, w->entered.site);
}

static void end_completion(struct thread_walk *w, struct event_ref exit)
{
	struct completion x = {
		.enter = w->enter, .exit = exit, .begin = begin_of(w),
		.what = kind_of(w, w->entered.site) == DPROF_KIND_WAIT ? GRAPH_WAITED_FOR : GRAPH_RECEIVED,
		.by_choice = w->looked_for || tr_is(w->b->graph->trace, w->entered.site, OP_CHOOSES),
		.attached = w->attached, .n = w->nattached };
	graph_keep_completion(w->b, &x);
}

static void unexplained(struct thread_walk *w, struct event_ref exit, struct diagnostic *diagnostic)
{
	if (!w->bad)
		graph_diagnose(diagnostic, exit, w->entered.site);
	w->nattached = 0;
	graph_unknown(w->b, begin_of(w), exit);
}

/* Of what windows and files of MPI wait for there is no record anywhere: then that is a limit of what is known, and
 * nothing is missing. */
static void for_unknown(struct thread_walk *w, struct event_ref exit)
{
	if (!tr_is(w->b->graph->trace, w->entered.site, OP_MPI)) {
		unexplained(w, exit, &w->alone);
		return;
	}
	graph_note_unsaid(w->b->graph, w->entered.site);
	w->nattached = 0;
	graph_unknown(w->b, begin_of(w), exit);
}

/* What was begun with an id goes on behind the call. */
static bool only_began(const struct thread_walk *w)
{
	return arg_request(operation(w, &w->entered), &w->entered) != ARG_NONE;
}

/* A barrier that is entered again, and was over when it was left for a task, does not wait (match.h).
 * One without a group is one of all threads of its process; of MPI, one of all ranks. */
static void barrier(struct thread_walk *w, struct event_ref exit)
{
	bool of_ranks = tr_is(w->b->graph->trace, w->entered.site, OP_OF_RANKS);
	const struct operation *o = operation(w, &w->entered);
	uint64_t object = arg_barrier(o, &w->entered);
	if (w->explained || w->resumed)
		return;
	if (object != ARG_NONE)
		*SPILL_GROW(w->b->spill, w->b->visits, w->b->nvisits) = (struct barrier_visit){
			w->b->graph->trace->threads[w->thread].clock, object, arg_barrier_threads(o, &w->entered),
			w->enter, exit, w->entered.site };
	else if (trace_arg(&w->entered, DPROF_KEY_GROUP, UINT64_MAX) == UINT64_MAX)
		*SPILL_GROW(w->b->spill, w->b->bare, w->b->nbare) = (struct bare){
			of_ranks ? ALL_RANKS : w->process, w->enter, exit, w->entered.site };
	else
		unexplained(w, exit, &w->missing);
}

static void send(struct thread_walk *w, struct event_ref exit)
{
	if (w->sent == NO_MESSAGE || only_began(w))
		return;
	w->b->messages[w->sent].sent_until = exit.stamp;
	attach(w, w->sent, true);
	end_completion(w, exit);
}

/* As long as it took here; but the sender's next call of MPI may be needed to bring the rest. */
static void fetch(struct thread_walk *w, struct event_ref exit)
{
	struct node_input begin = { .ref = w->enter, .sure = true, .needed = true };
	graph_arrival(w->b, exit, GRAPH_WAITED_FOR, &begin, 1)->hidden = true;
}

/* The thread of this process with a number; or of none. */
static uint32_t find_thread(const struct thread_walk *w, uint64_t number)
{
	const struct trace *t = w->b->graph->trace;
	uint32_t i = 0;
	while (i < t->nthreads &&
	       (t->threads[i].process != w->process || t->threads[i].number != number))
		i++;
	return i;
}

static void join(struct thread_walk *w, struct event_ref exit)
{
	const struct operation *o = operation(w, &w->entered);
	uint64_t task = arg_awaited_task(o, &w->entered), tasks = arg_awaited_tasks(o, &w->entered);
	if (arg_is_member(o, &w->entered))
		return; /* a team, once more: only its opener waits */
	if (task != ARG_NONE) {
		wait_for_tasks(w, exit, task, false);
		return;
	}
	if (tasks != ARG_NONE) {
		wait_for_tasks(w, exit, tasks, true);
		return;
	}
	uint32_t thread = find_thread(w, trace_arg(&w->entered, DPROF_KEY_THREAD, UINT64_MAX));
	if (thread < w->b->graph->trace->nthreads)
		*SPILL_GROW(w->b->spill, w->b->joins, w->b->njoins) =
			(struct joins){ w->enter, exit, begin_of(w), thread, w->entered.site };
	else
		unexplained(w, exit, &w->alone);
}

static void move_bytes(struct thread_walk *w, struct event_ref exit, uint64_t from, uint64_t bytes)
{
	struct builder *b = w->b;
	const struct operation *o = operation(w, &w->entered);
	bool gave = arg_gives_bytes(o, &w->entered);
	*SPILL_GROW(b->spill, b->moved, b->nmoved) = (struct moved_bytes){
		.channel = arg_channel(o, &w->entered), .from = from, .to = from + bytes,
		.enter = w->enter, .exit = exit, .begin = begin_of(w), .site = w->entered.site,
		.gave = gave, .blocked = arg_for_unknown(o, &w->entered),
		.chosen = w->chooses, .other.at = NO_EVENT };
	w->took_bytes = b->nmoved;
	w->just_took = !gave;
	w->takes_on = arg_takes_what_there_is(o, &w->entered);
}

/* A process's end; or bytes of which it is known which they are, or that there will be none, or that none were there. */
static bool moves_on(struct thread_walk *w, struct event_ref exit)
{
	struct builder *b = w->b;
	const struct operation *o = operation(w, &w->entered);
	uint64_t from = arg_offset(o, &w->entered), bytes = trace_arg(&w->entered, DPROF_KEY_BYTES, ARG_NONE);
	uint64_t pid = arg_ended_process(o, &w->entered);
	if (pid != ARG_NONE)
		*SPILL_GROW(b->spill, b->process_waits, b->nprocess_waits) = (struct process_wait){
			pid, exit, begin_of(w), w->entered.site, arg_of_one_process(o, &w->entered) };
	else if (from != ARG_NONE && bytes <= ARG_NONE - 1 - from)
		move_bytes(w, exit, from, bytes);
	else if (from == ARG_NONE && arg_gives_bytes(o, &w->entered) && !arg_for_unknown(o, &w->entered))
		graph_room(b, begin_of(w), (struct event_ref){ .at = NO_EVENT }, exit);
	else
		return from != ARG_NONE && bytes == ARG_NONE;
	return true;
}

/* A moment, which most likely stays. */
static void sleep_until(struct thread_walk *w, struct event_ref exit)
{
	struct event_ref first = { w->thread, 0, w->b->graph->threads[w->thread].first };
	graph_unknown_since(w->b, begin_of(w), exit, first);
	graph_note_ended(w->b, GRAPH_EXPIRED);
}

static void outermost(struct thread_walk *w, struct event_ref exit)
{
	if (moves_on(w, exit))
		return;
	enum dprof_kind kind = kind_of(w, w->entered.site);
	bool received = w->nattached > 0;
	if (kind == DPROF_KIND_RECV && !only_began(w) && !received && !w->completed &&
	    !arg_no_message(operation(w, &w->entered), &w->entered))
		w->doubtful = true;
	if (kind == DPROF_KIND_SLEEP) {
		if (arg_for_unknown(operation(w, &w->entered), &w->entered))
			graph_unknown(w->b, begin_of(w), exit);
		else if (trace_has(&w->entered, DPROF_KEY_UNTIL))
			sleep_until(w, exit);
		else if (trace_has(&w->entered, DPROF_KEY_BYTES)) /* of a timer, that may have been set long before */
			graph_unknown_since(w->b, begin_of(w), exit, begin_of(w).enter);
	} else if (w->doubtful)
		unexplained(w, exit, &w->unsent);
	else if (arg_object(operation(w, &w->entered), &w->entered) != ARG_NONE)
		share_with_processes(w, exit);
	else if (arg_for_unknown(operation(w, &w->entered), &w->entered)) {
		w->chooses = true;
		for_unknown(w, exit);
	} else if (received)
		end_completion(w, exit);
	else if (kind == DPROF_KIND_BARRIER)
		barrier(w, exit);
	else if (kind == DPROF_KIND_JOIN && !w->explained)
		join(w, exit);
	else if (kind == DPROF_KIND_COLL && !w->explained)
		unexplained(w, exit, &w->missing);
	else if (kind == DPROF_KIND_SEND)
		send(w, exit);
	else if (tr_is(w->b->graph->trace, w->entered.site, OP_IN_TWO))
		fetch(w, exit);
	else if (kind == DPROF_KIND_LOCK || (kind == DPROF_KIND_WAIT && !w->completed &&
					     arg_address(operation(w, &w->entered), &w->entered) != ARG_NONE))
		take_what_was_given(w, exit);
}

static void fork_thread(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	uint32_t thread = find_thread(w, trace_arg(e, DPROF_KEY_THREAD, UINT64_MAX));
	if (thread == w->b->graph->trace->nthreads || thread == w->thread)
		return;
	struct event_ref *fork = &w->b->fork[thread];
	if (fork->at == NO_FORK || fork->thread <= w->thread) {
		*fork = ref;
		w->b->forked_at[thread] = e->site;
	}
}

static void fork_process(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	uint64_t child = arg_forked_process(operation(w, e), e);
	if (child != ARG_NONE)
		*SPILL_GROW(w->b->spill, w->b->process_forks, w->b->nprocess_forks) = (struct process_fork){ child, ref };
}

static bool resumes(struct thread_walk *w, const struct tr_event *e)
{
	struct collective_id m = collective_of(e);
	for (size_t i = w->nleft; i-- > 0;) {
		if (w->left[i].group != m.group || w->left[i].seq != m.seq)
			continue;
		w->nleft = i;
		return true;
	}
	return false;
}

/* An operation in which it waits until there is something to do: no lock, no attempt, nor does it give anything. */
static bool is_coming(const struct thread_walk *w, const struct tr_event *e)
{
	const uint32_t waits = DPROF_KIND_BIT(DPROF_KIND_WAIT) | DPROF_KIND_BIT(DPROF_KIND_JOIN);
	bool gives = arg_gives_bytes(operation(w, e), e) || arg_gives_message(operation(w, e), e);
	return w->of_several && waits >> kind_of(w, e->site) & 1 && !gives && !trace_has(e, DPROF_KEY_GROUP) &&
	       !tr_is(w->b->graph->trace, e->site, OP_ATTEMPT | OP_MPI);
}

static void note_coming(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	struct comings *c = &w->b->comings_of[w->thread];
	w->comes_on = is_coming(w, e);
	if (w->comes_on)
		*SPILL_GROW(w->b->spill, c->v, c->n) = (struct coming){ ref.at, ref.stamp, w->before.at, w->before.stamp,
									 UINT64_MAX, e->site };
}

/* Where a handler recorded something inside of a wait, the runtime says only behind that for what it was: in an entry of its own,
 * right behind the first. */
static bool says_more(const struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	bool waits = kind_of(w, e->site) == DPROF_KIND_WAIT || kind_of(w, e->site) == DPROF_KIND_LOCK;
	return waits && w->replay.depth == 2 && e->site == w->entered.site && w->entered.nargs == 0 && ref.at == w->enter.at + 1;
}

static void enter(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	replay_enter(&w->replay, tr_entry(w->b->graph->trace, e));
	if (w->replay.depth == 1) {
		w->entered = *e;
		w->enter = ref;
		w->explained = w->completed = w->doubtful = w->looked_for = false;
		w->resumed = resumes(w, e);
		w->in_pieces &= !is_team_barrier(w, e); /* nothing of that is left */
		w->sent = NO_MESSAGE;
		w->nattached = 0;
		w->ninside = w->nregions = 0;
		wait_again(w);
		note_coming(w, e, ref);
		if (tr_is(w->b->graph->trace, e->site, OP_MPI))
			*SPILL_GROW(w->b->spill, w->b->calls[w->thread].v, w->b->calls[w->thread].n) =
				(struct graph_mpi_call){ ref.at, ref.stamp };
	} else if (kind_of(w, e->site) == DPROF_KIND_SEND) {
		w->sent = NO_MESSAGE; /* not the one begun before it in here */
	} else if (says_more(w, e, ref)) {
		w->entered = *e;
	}
	take_marks(w, ref.at);
	if (kind_of(w, e->site) == DPROF_KIND_FORK) {
		fork_thread(w, e, ref);
		fork_process(w, e, ref);
	}
	const struct operation *o = operation(w, e);
	uint64_t request = arg_request(o, e);
	if (o->kind != DPROF_KIND_WAIT && request != ARG_NONE)
		begin_id(w, request, ref.at, o->kind == DPROF_KIND_SEND ? w->sent : NO_MESSAGE,
			 o->kind != DPROF_KIND_RECV);
	if (o->kind == DPROF_KIND_SEND && request != ARG_NONE && w->sent != NO_MESSAGE)
		w->b->messages[w->sent].sends_on = true;
}

/* A region begins or ends inside of the outermost operation: a signal's handler, or what MPI calls. */
static void note_inside(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	w->b->graph->interrupted = true;
	if (e->jumped)
		return;
	if (e->op == DPROF_ENTER && w->nregions++ == 0)
		*MEM_GROW(w->inside, w->ninside) = (struct inside){ w->enter.at, ref, kind_of(w, w->entered.site) == DPROF_KIND_COLL, ref, ref };
	else if (e->op == DPROF_EXIT && w->nregions > 0 && --w->nregions == 0)
		w->inside[w->ninside - 1].to = ref;
}

/* The outermost operation is over, and so are these, unless it was left by a jump. */
static void keep_inside(struct thread_walk *w, struct event_ref exit)
{
	for (size_t i = 0; i < w->ninside && w->nregions == 0; i++) {
		w->inside[i].exit = exit;
		*SPILL_GROW(w->b->spill, w->b->inside, w->b->ninside) = w->inside[i];
	}
}

/* The exit of the site's innermost open operation; what is open inside of it was left by a jump. */
static void leave(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	if (replay_exit(&w->replay, e->site) == 0)
		return;
	bool has_match = take_marks(w, ref.at);
	uint64_t request = arg_request(operation(w, &w->entered), &w->entered);
	if (w->replay.depth > 0)
		return;
	keep_inside(w, ref);
	if (e->implied) {
		w->b->parked[w->thread] = true;
		return;
	}
	if (w->comes_on)
		w->b->comings_of[w->thread].v[w->b->comings_of[w->thread].n - 1].until = ref.stamp;
	w->in_no_team = kind_of(w, e->site) == DPROF_KIND_JOIN && arg_is_member(operation(w, &w->entered), &w->entered);
	uint64_t task = arg_called_away(operation(w, e), e);
	if (task != ARG_NONE) {
		if (collective_of(&w->entered).group != UINT64_MAX)
			*MEM_GROW(w->left, w->nleft) = collective_of(&w->entered);
		begin_tasks(w);
		begin_tasks_apart(w);
		begin_task_chance(w, ref);
		wait_for_tasks(w, ref, task, false);
		return;
	}
	if (kind_of(w, e->site) == DPROF_KIND_WAIT && request != ARG_NONE)
		complete_id(w, request, has_match || w->completed);
	w->has_tasks &= !is_team_barrier(w, &w->entered);
	w->waits_on &= w->nrunning > 0;
	if (is_team_barrier(w, &w->entered))
		share_tasks_apart(w);
	outermost(w, ref);
	note_attempt(w, ref);
	note_barrier(w, ref);
	end_task_chance(w, ref);
	if (tr_is(w->b->graph->trace, e->site, OP_ELECTS) && !was_in_vain(w))
		begin_chance(w, ref);
	end_given_work(w, ref);
}

static void take(struct thread_walk *w, const struct tr_event *e, uint64_t at)
{
	struct event_ref ref = { w->thread, at, e->stamp };
	w->in_no_team = false;
	if (w->takes_on)
		note_pieces(w, e);
	note_going_on(w, e);
	if (w->in_pieces && !w->pieces_said && w->nrunning == 0) /* what a task does is none */
		note_piece(w, e, ref);
	if (!w->any) {
		w->before = w->operation = ref;
		w->any = true;
	}
	if (tr_is(w->b->graph->trace, e->site, OP_GIVES_OUT))
		begin_given_work(w, e, ref);
	if (!tr_is(w->b->graph->trace, e->site, OP_OTHERS | OP_SLEEP)) { /* which may be until a moment */
		region(w, e, ref);
		if (w->replay.depth > 0 && tr_is(w->b->graph->trace, e->site, OP_REGION))
			note_inside(w, e, ref);
		if (kind_of(w, e->site) == DPROF_KIND_REGION && w->replay.depth == 0) {
			w->before = ref;
			w->failed = false;
		}
		return;
	}
	if (tr_is(w->b->graph->trace, e->site, OP_FUTEX)) {
		note_unseen(w, e->site);
		w->b->has_futexes[w->thread] = true;
	}
	if (e->op == DPROF_ENTER)
		enter(w, e, ref);
	else if (e->op == DPROF_EXIT)
		leave(w, e, ref);
	else if (e->op == DPROF_POINT)
		point(w, e, ref, take_marks(w, at));
}

int graph_by_mark(const void *x, const void *y)
{
	const struct event_mark *a = x, *b = y;
	return (a->at > b->at) - (a->at < b->at);
}

/* Regions, without arguments: nothing happens there but that an operation is behind them. */
uint8_t graph_passes(const struct trace *trace, uint32_t site)
{
	bool region = trace->sites[site].kind == DPROF_KIND_REGION && !tr_is(trace, site, OP_OTHERS | OP_SLEEP);
	return region ? TR_PASS_BARE : 0;
}

/* Behind the first event, outside of operations, and unless a task runs, whose region ends somewhere, or it is asked whether one begins. */
static void pass_regions(struct thread_walk *w)
{
	if (!w->any || w->nrunning || w->replay.depth || w->just_took || w->in_pieces)
		return;
	struct tr_passed passed = trace_pass(&w->events, w->b->passes);
	if (passed.n == 0)
		return;
	struct graph_thread *sums = &w->b->graph->threads[w->thread];
	w->at += passed.n;
	sums->last = passed.stamp > sums->last ? passed.stamp : sums->last;
	sums->nevents = w->at;
	w->before = (struct event_ref){ w->thread, w->at - 1, passed.stamp };
	w->failed = false;
}

/* ---- All threads ------------------------------------------------------------------------------ */

static bool is_of_several(const struct trace *trace, uint32_t thread)
{
	uint32_t first = thread > 1 ? thread - 2 : 0, n = 0;
	for (uint32_t t = first; t < trace->nthreads && t <= thread + 2; t++)
		n += trace->threads[t].process == trace->threads[thread].process;
	return n > 2;
}

static void begin_walk(struct thread_walk *w, struct builder *b, uint32_t thread)
{
	const struct trace *trace = b->graph->trace;
	*w = (struct thread_walk){ .b = b, .thread = thread, .process = trace->threads[thread].process,
				   .events = trace_events(trace, thread), .marks = &b->marks[thread], .section.taken.at = NO_EVENT,
				   .bad = trace->threads[thread].lost > 0, .of_several = is_of_several(trace, thread) };
	replay_open(&w->replay, trace->nsites);
	runs_sort(b->spill, w->marks->v, w->marks->n, sizeof *w->marks->v, graph_by_mark);
}

/* Up to an event behind the stamp. */
static void walk_until(struct thread_walk *w, uint64_t stamp)
{
	struct graph_thread *sums = &w->b->graph->threads[w->thread];
	struct tr_event e;
	while (!w->ended && sums->last <= stamp) {
		pass_regions(w);
		w->ended = !trace_next(&w->events, &e);
		if (w->ended)
			return;
		uint64_t at = w->at++;
		sums->nevents = w->at;
		spill_relax(w->b->spill);
		if (e.op == DPROF_LOST) {
			w->nrunning = 0;
			continue;
		}
		sums->last = e.stamp > sums->last ? e.stamp : sums->last;
		take(w, &e, at);
	}
}

static void end_walk(struct thread_walk *w)
{
	struct builder *b = w->b;
	graph_add_diagnostic(&b->unsent, &w->unsent);
	graph_add_diagnostic(&b->alone, &w->alone);
	graph_add_diagnostic(&b->missing, &w->missing);
	b->parked[w->thread] |= (w->replay.depth > 0 || w->in_no_team) && b->graph->trace->threads[w->thread].ran_on;
	trace_end(&w->events);
	replay_close(&w->replay);
	spill_free(b->spill, w->marks->v);
	spill_free(b->spill, w->attached);
	free(w->begun);
	free(w->running);
	free(w->left);
	free(w->inside);
	free(w->comes);
}

struct clock_ends { uint64_t first, last; };

static struct clock_ends *find_clock_ends(const struct trace *trace)
{
	struct clock_ends *ends = mem_resize(NULL, trace->nclocks, sizeof *ends);
	for (size_t c = 0; c < trace->nclocks; c++)
		ends[c] = (struct clock_ends){ UINT64_MAX, 0 };
	for (size_t t = 0; t < trace->nthreads; t++) {
		struct clock_ends *of = &ends[trace->threads[t].clock];
		uint64_t first, last;
		if (!trace_ends(&trace->threads[t], &first, &last))
			continue;
		of->first = first < of->first ? first : of->first;
		of->last = last > of->last ? last : of->last;
	}
	return ends;
}

/* Where the i-th of n stretches of a clock's time ends. */
static uint64_t end_of_stretch(struct clock_ends ends, uint64_t i, uint64_t n)
{
	if (i + 1 == n || ends.first > ends.last)
		return UINT64_MAX;
	return ends.first + (uint64_t)((unsigned __int128)(ends.last - ends.first) * (i + 1) / n);
}

#define STRETCH 16 /* events of a thread, about */
#define FEW_STRETCHES 4

void graph_walks(struct builder *b)
{
	const struct trace *trace = b->graph->trace;
	uint64_t n = trace_records(trace) / (STRETCH * (trace->nthreads + 1)) + FEW_STRETCHES;
	struct thread_walk *walks = mem_resize(NULL, trace->nthreads, sizeof *walks);
	struct clock_ends *ends = find_clock_ends(trace);
	for (uint32_t t = 0; t < trace->nthreads; t++)
		begin_walk(&walks[t], b, t);
	for (uint64_t i = 0; i < n; i++)
		for (uint32_t t = 0; t < trace->nthreads; t++)
			walk_until(&walks[t], end_of_stretch(ends[trace->threads[t].clock], i, n));
	for (uint32_t t = 0; t < trace->nthreads; t++)
		end_walk(&walks[t]);
	free(ends);
	free(walks);
}

/* ---- Begins of threads ----------------------------------------------------------------------- */

void graph_begin_after(struct builder *b, uint32_t thread, struct event_ref cause, bool recorded)
{
	struct node_input input = { .ref = cause, .sure = true, .needed = recorded };
	struct event_ref begin = { thread, 0, b->graph->threads[thread].first };
	uint32_t number = graph_add_node(b, GRAPH_SYNC, &input, 1);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = !recorded;
	graph_wait(b, begin, number);
}

/* The threads of the process from `first` on whose creator is unknown, and that begin
 * between an event of the first thread and its next one. */
static void begin_others(struct builder *b, uint32_t first, struct event_ref event, uint64_t next)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	for (uint32_t t = first + 1;
	     t < g->trace->nthreads && threads[t].process == threads[first].process; t++)
		if (b->fork[t].at == NO_FORK && g->threads[t].nevents > 0 &&
		    g->threads[t].first > event.stamp && g->threads[t].first <= next)
			graph_begin_after(b, t, event, false);
}

/* When the next thread of the process begins after the stamp. */
static uint64_t next_begin(const struct builder *b, uint32_t first, uint64_t stamp)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	uint64_t next = UINT64_MAX;
	for (uint32_t t = first + 1; t < g->trace->nthreads && threads[t].process == threads[first].process; t++)
		if (g->threads[t].first > stamp && g->threads[t].first < next)
			next = g->threads[t].first;
	return next;
}

static void begin_unknown(struct builder *b, uint32_t first)
{
	struct tr_cursor events = trace_events(b->graph->trace, first);
	struct tr_event e;
	struct event_ref before = { first, NO_FORK, 0 };
	uint64_t next = 0;
	for (uint64_t at = 0; trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		if (before.at != NO_FORK && e.stamp >= next) {
			begin_others(b, first, before, e.stamp);
			next = next_begin(b, first, e.stamp);
		}
		before = (struct event_ref){ first, at, e.stamp };
	}
	if (before.at != NO_FORK)
		begin_others(b, first, before, UINT64_MAX);
	trace_end(&events);
}

void graph_begins(struct builder *b)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	for (uint32_t first = 0, next; first < g->trace->nthreads; first = next) {
		bool unknown = false;
		for (next = first; next < g->trace->nthreads &&
				   threads[next].process == threads[first].process; next++) {
			uint64_t slack = 2 * g->trace->clocks[threads[next].clock].uncertainty;
			bool late = b->fork[next].at != NO_FORK &&
				    b->fork[next].stamp > g->threads[next].first + slack;
			if (late || g->threads[next].nevents == 0)
				b->fork[next].at = NO_FORK;
			if (b->fork[next].at != NO_FORK)
				graph_begin_after(b, next, b->fork[next], true);
			else
				unknown |= next > first;
		}
		if (unknown)
			begin_unknown(b, first);
	}
}

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
#include "analysis/graph/graph_walk.h"

/* ---- Ids ------------------------------------------------------------------------------------- */

static void begin_id(struct thread_walk *w, uint64_t id, uint64_t at, uint32_t message, bool as_sender,
		     bool of_unknown)
{
	*MEM_GROW(w->begun, w->nbegun) = (struct begun_id){ id, at, message, as_sender, w->attempts.failed, of_unknown };
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

/* ---- Completions ----------------------------------------------------------------------------- */

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
			walk_attach(w, m->message, false);
			completes = true;
			break;
		case MARK_SENT:
			if (m->message != NO_MESSAGE)
				walk_attach(w, m->message, true);
			completes = m->message != NO_MESSAGE;
			break;
		}
	}
	return completes;
}

/* What another thread began has a match, or nobody knows what it was. */
static void complete_id(struct thread_walk *w, uint64_t id, bool has_match)
{
	struct begun_id what;
	if (!end_id(w, id, &what)) {
		w->unmatched |= id != 0 && !has_match && tr_is(w->b->graph->trace, w->entered.site, OP_REQUEST);
		return;
	}
	w->looked_for |= !what.as_sender && what.looked_for;
	w->sends_outside |= what.as_sender && what.of_unknown;
	if (what.as_sender && what.message != NO_MESSAGE) {
		walk_attach(w, what.message, true);
		w->records->messages.v[what.message].sends_on &= what.at < w->enter.at; /* else it is complete in one call */
	} else if (!what.as_sender && !has_match) {
		w->doubtful = true;
	}
	w->completed = true;
}

static void change_flag(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct flag_records *flags = &w->records->flags;
	*SPILL_GROW(w->b->spill, flags->v, flags->n) =
		(struct flag_change){ arg_counter_shared(o, e) ? UINT32_MAX : w->process, arg_counter(o, e), ref };
	walk_note_filled(w, e->site);
}

/* A lock back, or what others may wait for. Who looks for a future with a time limit waits for a futex there. */
static void give(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	enum sync_event_kind kind = o->makes ? SYNC_MADE : o->kind == DPROF_KIND_LOCK || o->locks ? SYNC_RELEASED : SYNC_SIGNALLED;
	struct sync_object futex = { w->process, arg_address(o, e) };
	if (o->once)
		walk_add_signal(w, futex, ref, kind, e->site);
	walk_add_signal(w, walk_object(w, e), ref, kind, e->site);
	struct sync_event *given = &w->records->sync.v[w->records->sync.n - 1];
	given->for_good = operation_is_for_good(o);
	given->counts_from = o->makes ? arg_permits(o, e) : arg_counts_from(o, e);
}

/* A signal that was sent to others alone is nothing for which somebody here waits. */
static bool gives(const struct operation *o, const struct tr_event *e)
{
	return arg_signalled_process(o, e) == ARG_NONE || arg_address(o, e) != ARG_NONE;
}

static void signal_process(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	struct process_records *processes = &w->records->processes;
	const struct operation *o = walk_operation(w, e);
	*SPILL_GROW(w->b->spill, processes->signals, processes->nsignals) =
		(struct process_signal){ arg_signalled_process(o, e), arg_signal(o, e), ref };
}

static void point(struct thread_walk *w, const struct tr_event *e, struct event_ref ref,
		  bool has_match)
{
	const struct operation *o = walk_operation(w, e);
	uint64_t request = arg_request(o, e);
	struct cancel_records *cancels = &w->records->cancels;
	enum dprof_kind kind = o->kind;
	walk_task_point(w, e, ref);
	if (arg_cancelled_thread(o, e) != ARG_NONE)
		*SPILL_GROW(w->b->spill, cancels->threads, cancels->nthreads) =
			(struct thread_cancel){ walk_find_thread(w, arg_cancelled_thread(o, e)), ref };
	w->b->threads[w->thread].left.ends |= tr_is(w->b->graph->trace, e->site, OP_LIFE_ENDS);
	if (arg_signalled_process(o, e) != ARG_NONE)
		signal_process(w, e, ref);
	has_match |= arg_no_message(o, e);
	w->found_none |= arg_no_message(o, e) && w->replay.depth > 0 && tr_is(w->b->graph->trace, w->entered.site, OP_ATTEMPT);
	if (o->is & OP_REQUEST && request != ARG_NONE)
		complete_id(w, request, has_match);
	else if (kind == DPROF_KIND_RECV && !has_match)
		w->doubtful = true;
	w->completed |= kind == DPROF_KIND_RECV;
	if (kind == DPROF_KIND_LOCK && w->replay.depth == 0)
		w->taken.just_now = w->taken.event && w->records->sync.v[w->taken.event - 1].id == walk_object(w, e).id;
	walk_point_behind_attempt(w, e, ref);
	if (o->claims)
		walk_claim(w, e, ref);
	else if (o->told)
		change_flag(w, e, ref);
	else if (arg_counter(o, e) != ARG_NONE)
		walk_count(w, e, ref);
	else if (walk_visits(w, e))
		walk_visit_barrier(w, e, ref, (struct event_ref){ .at = NO_EVENT });
	else if (o->is & OP_MPI && arg_object(o, e) != ARG_NONE && !walk_shares(w, e))
		return;
	else if (kind == DPROF_KIND_WAIT && e->nargs == 0)
		walk_note_unseen(w, e->site);
	else if (kind == DPROF_KIND_LOCK || (kind == DPROF_KIND_WAIT && gives(o, e)))
		give(w, e, ref);
	if (kind == DPROF_KIND_LOCK)
		w->locks.returned = w->records->sync.n;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void fork_thread(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	uint32_t thread = walk_find_thread(w, trace_arg(e, DPROF_KEY_THREAD, UINT64_MAX));
	if (thread == w->b->graph->trace->nthreads || thread == w->thread)
		return;
	struct event_ref *fork = &w->b->threads[thread].fork;
	if (fork->at == NO_FORK || fork->thread <= w->thread) {
		*fork = ref;
		w->b->threads[thread].fork_site = e->site;
	}
}

static void fork_process(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	struct process_records *processes = &w->records->processes;
	uint64_t child = arg_forked_process(walk_operation(w, e), e);
	if (child != ARG_NONE)
		*SPILL_GROW(w->b->spill, processes->forks, processes->nforks) = (struct process_fork){ child, ref, e->site };
}

static bool resumes(struct thread_walk *w, const struct tr_event *e)
{
	struct collective_id m = walk_collective(e);
	for (size_t i = w->tasks.nleft; i-- > 0;) {
		if (w->tasks.left[i].group != m.group || w->tasks.left[i].seq != m.seq)
			continue;
		w->tasks.nleft = i;
		return true;
	}
	return false;
}

/* An operation in which it waits until there is something to do: no lock, no attempt, nor does it give anything. */
static bool may_block(const struct thread_walk *w, const struct tr_event *e)
{
	const uint32_t waits = DPROF_KIND_BIT(DPROF_KIND_WAIT) | DPROF_KIND_BIT(DPROF_KIND_JOIN);
	bool gives = arg_gives_bytes(walk_operation(w, e), e) || arg_gives_message(walk_operation(w, e), e);
	return w->of_several && waits >> walk_kind(w, e->site) & 1 && !gives && !trace_has(e, DPROF_KEY_GROUP) &&
	       !tr_is(w->b->graph->trace, e->site, OP_ATTEMPT | OP_MPI);
}

static void note_blocking_call(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	struct blocking_calls *c = &w->b->threads[w->thread].blocking;
	w->in_blocking_call = may_block(w, e);
	if (w->in_blocking_call)
		*SPILL_GROW(w->b->spill, c->v, c->n) = (struct blocking_call){
			ref.at, ref.stamp, w->attempts.before.at, w->attempts.before.stamp, UINT64_MAX, e->site };
}

static void end_blocking_call(struct blocking_calls *c, uint64_t stamp)
{
	c->v[c->n - 1].until = stamp;
}

/* Where a handler recorded something inside of a wait, the runtime says only behind that for what it was: in an entry of its own,
 * right behind the first. */
static bool says_more(const struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	bool waits = walk_kind(w, e->site) == DPROF_KIND_WAIT || walk_kind(w, e->site) == DPROF_KIND_LOCK;
	return waits && w->replay.depth == 2 && e->site == w->entered.site && w->entered.nargs == 0 && ref.at == w->enter.at + 1;
}

static void enter_outermost(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct mpi_calls *calls = &w->b->threads[w->thread].calls;
	bool of_team = walk_is_team_barrier(w, e);
	w->entered = *e;
	w->enter = ref;
	w->explained = w->completed = w->doubtful = w->looked_for = w->found_none = w->sends_outside = w->unmatched = false;
	w->resumed = resumes(w, e);
	w->given.in_pieces &= !of_team; /* nothing of that is left */
	if (of_team)
		walk_end_cancellable(w, e, ref);
	w->sent = NO_MESSAGE;
	w->nattached = 0;
	w->ninside = w->nregions = 0;
	walk_wait_again(w);
	w->attempts.retakes = walk_retakes(w);
	walk_try_again(w, e);
	note_blocking_call(w, e, ref);
	if (o->is & OP_MPI)
		*SPILL_GROW(w->b->spill, calls->v, calls->n) = (struct graph_mpi_call){
			.at = ref.at, .stamp = ref.stamp, .vain = w->attempts.failed && o->is & OP_ATTEMPT };
}

static void enter(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	replay_enter(&w->replay, tr_entry(w->b->graph->trace, e));
	if (w->replay.depth == 1) {
		enter_outermost(w, e, ref);
	} else if (o->kind == DPROF_KIND_SEND) {
		w->sent = NO_MESSAGE; /* not the one begun before it in here */
	} else if (says_more(w, e, ref)) {
		w->entered = *e;
	}
	take_marks(w, ref.at);
	if (o->kind == DPROF_KIND_FORK) {
		fork_thread(w, e, ref);
		fork_process(w, e, ref);
	}
	uint64_t request = arg_request(o, e);
	bool of_unknown = arg_is_of_unknown(o, e);
	if (of_unknown)
		w->b->graph->outside = w->b->graph->other_jobs = true;
	w->sends_outside |= of_unknown && o->kind == DPROF_KIND_SEND && !(o->is & OP_BUFFERED) && request == ARG_NONE;
	bool begins = o->kind != DPROF_KIND_WAIT && request != ARG_NONE;
	w->completed |= begins && w->replay.depth > 1; /* MPI_Isendrecv is no attempt in vain */
	if (begins)
		begin_id(w, request, ref.at, o->kind == DPROF_KIND_SEND ? w->sent : NO_MESSAGE,
			 o->kind != DPROF_KIND_RECV, of_unknown && !(o->is & OP_BUFFERED));
	if (o->kind == DPROF_KIND_SEND && request != ARG_NONE && w->sent != NO_MESSAGE)
		w->records->messages.v[w->sent].sends_on = true;
}

/* A region begins or ends inside of the outermost operation: a signal's handler, or what MPI calls. */
static void note_inside(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	w->b->graph->interrupted = true;
	if (e->jumped)
		return;
	if (e->op == DPROF_ENTER && w->nregions++ == 0)
		*MEM_GROW(w->inside, w->ninside) = (struct inside){
			w->enter.at, ref, walk_kind(w, w->entered.site) == DPROF_KIND_COLL, ref, ref };
	else if (e->op == DPROF_EXIT && w->nregions > 0 && --w->nregions == 0)
		w->inside[w->ninside - 1].to = ref;
}

/* The outermost operation is over, and so are these, unless it was left by a jump. */
static void keep_inside(struct thread_walk *w, struct event_ref exit)
{
	struct inside_records *kept = &w->records->inside;
	for (size_t i = 0; i < w->ninside && w->nregions == 0; i++) {
		w->inside[i].exit = exit;
		if (!tr_is(w->b->graph->trace, w->entered.site, OP_MPI))
			graph_add_unknown(w->b, (struct wait_begin){ .enter = i ? w->inside[i - 1].to : w->enter },
					  w->inside[i].from)->otherwise = OTHERWISE_HANDLED;
		*SPILL_GROW(w->b->spill, kept->v, kept->n) = w->inside[i];
	}
}

static void note_operation(struct thread_walk *w, struct event_ref exit)
{
	struct passed_operations *passed = &w->b->threads[w->thread].operations;
	uint64_t before = passed->n ? passed->v[passed->n - 1].ticks : 0;
	if (!tr_is(w->b->graph->trace, w->entered.site, OP_OWN))
		*SPILL_GROW(w->b->spill, passed->v, passed->n) = (struct passed_operation){ exit.at, before + exit.stamp - w->enter.stamp };
}

static void leave_for_task(struct thread_walk *w, struct event_ref ref, uint64_t task)
{
	if (walk_collective(&w->entered).group != UINT64_MAX)
		*MEM_GROW(w->tasks.left, w->tasks.nleft) = walk_collective(&w->entered);
	walk_leave_for_task(w, ref, task);
	walk_begin_task_chance(w, ref);
	walk_wait_for_tasks(w, ref, task, false);
}

/* The exit of the site's innermost open operation; what is open inside of it was left by a jump. */
static void leave(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	if (replay_exit(&w->replay, e->site) == 0)
		return;
	const struct operation *o = walk_operation(w, e);
	bool has_match = take_marks(w, ref.at);
	uint64_t request = arg_request(walk_operation(w, &w->entered), &w->entered);
	if (w->replay.depth > 0)
		return;
	keep_inside(w, ref);
	if (e->implied) {
		w->b->threads[w->thread].parked = true;
		return;
	}
	note_operation(w, ref);
	if (w->in_blocking_call)
		end_blocking_call(&w->b->threads[w->thread].blocking, ref.stamp);
	w->in_no_team = o->kind == DPROF_KIND_JOIN && arg_is_member(walk_operation(w, &w->entered), &w->entered);
	if (arg_called_away(o, e) != ARG_NONE) {
		leave_for_task(w, ref, arg_called_away(o, e));
		return;
	}
	if (o->kind == DPROF_KIND_WAIT && request != ARG_NONE)
		complete_id(w, request, has_match || w->completed);
	walk_end_task_wait(w);
	walk_end_operation(w, ref);
	bool others = tr_is(w->b->graph->trace, w->entered.site, OP_OTHERS) && o->kind != DPROF_KIND_LOCK && !o->locks;
	w->waited = others ? ref.stamp : w->waited;
	walk_note_attempt(w, ref);
	walk_note_barrier(w, ref);
	walk_end_task_chance(w, ref);
	if (o->is & OP_ELECTS && !walk_was_in_vain(w))
		walk_begin_chance(w, ref);
	walk_end_given_work(w, ref);
}

static void take(struct thread_walk *w, const struct tr_event *e, uint64_t at)
{
	struct event_ref ref = { w->thread, at, e->stamp };
	w->in_no_team = false;
	if (w->attempts.last)
		walk_note_next(w, e, ref);
	if (w->tasks.just_ran)
		walk_come_again(w, ref);
	if (w->taken.may_be_more)
		walk_note_pieces(w, e);
	walk_note_going_on(w, e, at);
	if (w->given.in_pieces && !w->given.said && w->tasks.nrunning == 0) /* what a task does is none */
		walk_note_piece(w, e, ref);
	if (!w->any) {
		w->attempts.before = w->attempts.operation = ref;
		w->any = true;
	}
	const struct operation *o = walk_operation(w, e);
	if (o->is & OP_GIVES_OUT)
		walk_begin_given_work(w, e, ref);
	if (o->is & OP_ELECTS && e->op == DPROF_POINT)
		walk_note_cancellation(w, e, ref);
	if (!(o->is & (OP_OTHERS | OP_SLEEP))) { /* which may be until a moment */
		walk_region(w, e, ref);
		if (w->replay.depth > 0 && o->is & OP_REGION)
			note_inside(w, e, ref);
		if (walk_kind(w, e->site) == DPROF_KIND_REGION && w->replay.depth == 0) {
			w->attempts.before = ref;
			w->attempts.failed = false;
		}
		return;
	}
	if (o->is & OP_FUTEX && (arg_address(o, e) != ARG_NONE || arg_object(o, e) != ARG_NONE)) {
		walk_note_unseen(w, e->site);
		w->b->threads[w->thread].uses_futexes = true;
	}
	w->attempts.look_events += o->kind == DPROF_KIND_LOCK;
	if (e->op == DPROF_ENTER)
		enter(w, e, ref);
	else if (e->op == DPROF_EXIT)
		leave(w, e, ref);
	else if (e->op == DPROF_POINT)
		point(w, e, ref, take_marks(w, at));
	w->behind_any |= w->replay.depth == 0;
	w->works &= w->replay.depth > 0 || !(o->is & OP_OTHERS);
}

/* Regions, without arguments: nothing happens there but that an operation is behind them. */
static uint8_t passes(const struct trace *trace, uint32_t site)
{
	bool region = trace->sites[site].kind == DPROF_KIND_REGION && !tr_is(trace, site, OP_OTHERS | OP_SLEEP);
	return region ? TR_PASS_BARE : 0;
}

/* Behind the first event, outside of operations, and unless a task runs, whose region ends somewhere, or it is asked whether
 * one begins. */
static void pass_regions(struct thread_walk *w)
{
	if (!w->any || w->tasks.nrunning || w->replay.depth || w->behind_any || !w->works || w->tasks.just_ran || w->given.in_pieces)
		return;
	struct tr_passed passed = trace_pass(&w->events, w->passes);
	if (passed.n == 0)
		return;
	struct graph_thread *sums = &w->b->graph->threads[w->thread];
	w->at += passed.n;
	sums->last = passed.stamp > sums->last ? passed.stamp : sums->last;
	sums->nevents = w->at;
	w->attempts.before = (struct event_ref){ w->thread, w->at - 1, passed.stamp };
	w->attempts.failed = false;
}

/* ---- All threads ------------------------------------------------------------------------------ */

static bool is_of_several(const struct trace *trace, uint32_t thread)
{
	uint32_t first = thread > 1 ? thread - 2 : 0, n = 0;
	for (uint32_t t = first; t < trace->nthreads && t <= thread + 2; t++)
		n += trace->threads[t].process == trace->threads[thread].process;
	return n > 2;
}

/* Of one thread, with what all walks share. */
static void begin_walk(struct thread_walk *w, const struct thread_walk *shared, uint32_t thread)
{
	struct builder *b = shared->b;
	const struct trace *trace = b->graph->trace;
	*w = (struct thread_walk){ .b = b, .records = shared->records, .constructs = shared->constructs, .passes = shared->passes,
				   .thread = thread, .process = trace->threads[thread].process,
				   .events = trace_events(trace, thread), .marks = &shared->records->messages.marks[thread],
				   .attempts = { .perhaps_at = TR_NO_SITE, .polled_at = TR_NO_SITE, .vain_at = TR_NO_SITE },
				   .look = { .vain_at = TR_NO_SITE, .found_at = TR_NO_SITE },
				   .locks.section.taken.at = NO_EVENT, .windows.relooks_at = NO_EVENT,
				   .bad = trace->threads[thread].lost > 0, .of_several = is_of_several(trace, thread) };
	replay_open(&w->replay, trace->nsites);
	runs_sort_here(b->spill, w->marks->v, w->marks->n, sizeof *w->marks->v, graph_by_mark);
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
			walk_end_look(w);
			w->tasks.nrunning = w->tasks.nwaits = 0;
			continue;
		}
		sums->last = e.stamp > sums->last ? e.stamp : sums->last;
		take(w, &e, at);
	}
}

static void end_walk(struct thread_walk *w)
{
	struct builder *b = w->b;
	walk_settle_time_out(w, false);
	walk_end_look(w);
	graph_add_diagnostic(&b->diagnosed.unsent, &w->unsent);
	graph_add_diagnostic(&b->diagnosed.alone, &w->alone);
	graph_add_diagnostic(&b->diagnosed.missing, &w->missing);
	b->threads[w->thread].parked |= (w->replay.depth > 0 || w->in_no_team) && b->graph->trace->threads[w->thread].ran_on;
	trace_end(&w->events);
	replay_close(&w->replay);
	spill_free(b->spill, w->marks->v);
	spill_free(b->spill, w->attached);
	free(w->begun);
	free(w->tasks.running);
	free(w->tasks.left);
	free(w->inside);
	free(w->tasks.waits);
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

/* What each walk begins with. */
static struct thread_walk share(struct builder *b, struct walk_records *records, struct team_constructs *constructs)
{
	const struct trace *trace = b->graph->trace;
	struct thread_walk shared = { .b = b, .records = records, .constructs = constructs,
				      .passes = mem_resize(NULL, trace->nsites + 1, sizeof *shared.passes) };
	for (uint32_t s = 0; s < trace->nsites; s++)
		shared.passes[s] = passes(trace, s);
	return shared;
}

static void end_sharing(struct thread_walk *shared)
{
	struct graph *g = shared->b->graph;
	struct team_constructs *constructs = shared->constructs;
	for (uint32_t s = 0; s < g->trace->nsites; s++)
		g->entered[s] |= (shared->passes[s] & TR_PASS_ENTERED) != 0;
	free(shared->passes);
	ids_free(&constructs->known);
	ids_free(&constructs->members);
	free(constructs->groups);
	free(constructs->reached);
}

void graph_walks(struct builder *b, struct walk_records *records)
{
	const struct trace *trace = b->graph->trace;
	uint64_t n = trace_records(trace) / (STRETCH * (trace->nthreads + 1)) + FEW_STRETCHES;
	struct thread_walk *walks = mem_resize(NULL, trace->nthreads, sizeof *walks);
	struct clock_ends *ends = find_clock_ends(trace);
	struct team_constructs constructs = { .ngroups = 0 };
	struct thread_walk shared = share(b, records, &constructs);
	for (uint32_t t = 0; t < trace->nthreads; t++)
		begin_walk(&walks[t], &shared, t);
	for (uint64_t i = 0; i < n; i++)
		for (uint32_t t = 0; t < trace->nthreads; t++)
			walk_until(&walks[t], end_of_stretch(ends[trace->threads[t].clock], i, n));
	for (uint32_t t = 0; t < trace->nthreads; t++)
		end_walk(&walks[t]);
	end_sharing(&shared);
	free(ends);
	free(walks);
}

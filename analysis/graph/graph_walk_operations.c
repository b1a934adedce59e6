/* SPDX-License-Identifier: MIT
 *
 * graph_walk_operations.c - along a thread: the end of an outermost operation. What has it waited for, of all that is known?
 *
 * Exactly one explanation is kept of each that may wait: a node of its own, or what is kept for the files that join it with
 * other threads (locks, bytes, processes, barriers, completions). */
#include "analysis/graph/graph_walk.h"

void walk_attach(struct thread_walk *w, uint32_t message, bool as_sender)
{
	*SPILL_GROW(w->b->spill, w->attached, w->nattached) = (struct attached){ message, as_sender };
}

/* Who does not block at the site leaves no record. */
void walk_note_unseen(struct thread_walk *w, uint32_t site)
{
	w->b->may_wait[w->process] = true;
	if (w->b->graph->unseen == TR_NO_SITE)
		w->b->graph->unseen = site;
}

void walk_note_filled(struct thread_walk *w, uint32_t site)
{
	if (w->b->graph->filled == TR_NO_SITE)
		w->b->graph->filled = site;
}

/* All who share it are on this clock, so that their stamps tell who had it before: a window's lock may be taken from
 * other hosts. */
bool walk_shares(const struct thread_walk *w, const struct tr_event *e)
{
	const struct trace *t = w->b->graph->trace;
	if (walk_operation(w, e)->queues)
		return false;
	return arg_object(walk_operation(w, e), e) != ARG_NONE && (t->nclocks == 1 || !tr_is(t, e->site, OP_MPI));
}

struct sync_object walk_object(const struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = walk_operation(w, e);
	const struct trace *t = w->b->graph->trace;
	uint64_t object = arg_object(o, e);
	if (object == ARG_NONE && operation_is_for_good(o)) /* which anything else may be at, at another time */
		return (struct sync_object){ w->process, ids_mix(arg_address(o, e), 2) };
	if (object == ARG_NONE)
		return (struct sync_object){ w->process, arg_address(o, e) };
	return (struct sync_object){ (uint32_t)t->nprocesses + t->threads[w->thread].clock, object };
}

void walk_add_signal(struct thread_walk *w, struct sync_object object, struct event_ref ref, enum sync_event_kind kind,
		     uint32_t site)
{
	*SPILL_GROW(w->b->spill, w->records->sync.v, w->records->sync.n) = (struct sync_event){
		.process = object.process, .id = object.id, .ref = ref, .enter = ref,
		.kind = kind, .site = site, .section = w->locks.section, .waited = w->waited };
	struct sync_event *taken = w->locks.section_at ? &w->records->sync.v[w->locks.section_at - 1] : NULL;
	bool again = !operation_is_for_good(&w->b->graph->trace->sites[site].op); /* who comes there again may signal the same */
	if (taken && kind == SYNC_SIGNALLED && again && !taken->relocks && taken->condition == 0)
		taken->condition = object.id;
}

static void add_sync_event(struct thread_walk *w, struct event_ref exit, enum sync_event_kind kind)
{
	const struct operation *o = walk_operation(w, &w->entered);
	struct sync_object object = walk_object(w, &w->entered);
	*SPILL_GROW(w->b->spill, w->records->sync.v, w->records->sync.n) = (struct sync_event){
		.process = object.process, .kind = kind, .ref = exit, .for_good = operation_is_for_good(o),
		.enter = w->enter, .begin = walk_begin_of(w), .id = object.id, .site = w->entered.site,
		.target = arg_target(o, &w->entered), .found = arg_finds_stored(o, &w->entered) || arg_finds_given(o, &w->entered),
		.shared = arg_is_reader(o, &w->entered), .section = w->locks.section, .behind_vain = w->attempts.vain_wait,
		.at_once = !w->works, .blocked = o->first && arg_for_unknown(o, &w->entered) };
	w->taken.event = w->records->sync.n;
	w->taken.bytes = 0;
	w->taken.just_now = tr_is(w->b->graph->trace, w->entered.site, OP_SEMAPHORE);
}

/* Whoever waited for a condition variable takes its mutex again before the wait is over: so the wait
 * for a signal and the one for the mutex are one. */
static void relock(struct thread_walk *w)
{
	struct sync_records *sync = &w->records->sync;
	struct sync_event *woken = w->locks.woken ? &sync->v[w->locks.woken - 1] : NULL;
	struct sync_event *taken = &sync->v[sync->n - 1];
	w->locks.woken = 0;
	if (!woken || woken->ref.at + 1 != taken->enter.at)
		return;
	woken->relocks = taken->relocks = true;
	taken->retaken = (uint32_t)sync->nretaken;
	*SPILL_GROW(w->b->spill, sync->retaken, sync->nretaken) = (struct retaken){ woken->enter, woken->begin, .site = woken->site };
	taken->condition = woken->id;
	taken->behind_vain = woken->behind_vain;
}

/* Who waits there has none to give back and take again. */
static bool has_no_mutex(const struct operation *o)
{
	return o->is & (OP_SEMAPHORE | OP_FUTEX | OP_IN_ORDER) || operation_is_for_good(o);
}

/* Who looks into a window may lock it for each look: that is in between two calls that never say for whom they wait. */
static void note_relock(struct thread_walk *w, struct event_ref exit)
{
	bool behind = w->windows.unsaid && w->b->unknown[w->windows.unsaid - 1].exit.at == w->attempts.before.at;
	if (behind && tr_is(w->b->graph->trace, w->entered.site, OP_MPI))
		w->windows.relooks_at = exit.at;
}

/* A lock has been taken, or what another has signalled. */
static void take_what_was_given(struct thread_walk *w, struct event_ref exit)
{
	if (walk_kind(w, w->entered.site) == DPROF_KIND_LOCK || walk_operation(w, &w->entered)->locks) {
		add_sync_event(w, exit, SYNC_TAKEN);
		const struct sync_event *taken = &w->records->sync.v[w->records->sync.n - 1];
		w->locks.section = (struct section){ taken->process, taken->id, exit };
		w->locks.section_at = w->records->sync.n;
		w->locks.retaken = !w->attempts.retakes ? 0 : w->locks.retaken ? w->locks.retaken : w->records->sync.n;
		note_relock(w, exit);
		relock(w);
		return;
	}
	add_sync_event(w, exit, SYNC_WOKEN);
	if (!has_no_mutex(walk_operation(w, &w->entered)))
		w->locks.woken = w->records->sync.n;
}

static bool is_for_condition(const struct thread_walk *w, uint32_t site)
{
	return walk_kind(w, site) == DPROF_KIND_WAIT && tr_is(w->b->graph->trace, site, OP_ADDRESS) &&
	       !has_no_mutex(&w->b->graph->trace->sites[site].op);
}

/* Behind a wait for nothing it waits again, soon: both are one, as if it had not had the mutex in between. */
void walk_wait_again(struct thread_walk *w)
{
	bool again = w->attempts.failed && w->attempts.perhaps_at == w->entered.site;
	if (!w->locks.retaken || !w->locks.returned || !(again || is_for_condition(w, w->entered.site)))
		return;
	struct sync_event *taken = &w->records->sync.v[w->locks.retaken - 1], *returned = &w->records->sync.v[w->locks.returned - 1];
	bool soon = returned->ref.stamp - taken->enter.stamp < w->attempts.failed_for;
	for (struct sync_event *e = taken; soon && w->attempts.failed_at + 1 == w->enter.at && e <= returned; e++) {
		if (e->id != taken->id || e->ref.thread != w->thread)
			continue;
		e->in_wait = true;
		e->begin = (struct wait_begin){ .enter = e->enter };
	}
}

/* The room in a queue, of which whoever gives takes some, and whoever takes gives it. */
static struct sync_object room_of(struct sync_object queue)
{
	return (struct sync_object){ queue.process, ids_mix(queue.id, 1) };
}

/* Which message the event that was recorded last has put into a queue, or taken. */
static void say_message(struct thread_walk *w)
{
	const struct operation *o = walk_operation(w, &w->entered);
	struct sync_event *last = &w->records->sync.v[w->records->sync.n - 1];
	last->message = arg_message_kind(o, &w->entered);
	last->asked = arg_asked_kind(o, &w->entered);
}

/* Behind what is recorded whether it blocks or not. */
static void share_with_processes(struct thread_walk *w, struct event_ref exit)
{
	const struct operation *o = walk_operation(w, &w->entered);
	struct sync_object object = walk_object(w, &w->entered), room = room_of(object);
	if (arg_gives_message(o, &w->entered)) {
		walk_add_signal(w, object, w->enter, SYNC_SIGNALLED, w->entered.site);
		say_message(w);
		*SPILL_GROW(w->b->spill, w->records->sync.v, w->records->sync.n) = (struct sync_event){
			.process = room.process, .id = room.id, .kind = SYNC_WOKEN, .ref = exit, .enter = w->enter,
			.begin = walk_begin_of(w), .site = w->entered.site, .for_room = true,
			.blocked = arg_for_unknown(o, &w->entered) };
		return;
	}
	take_what_was_given(w, exit);
	say_message(w);
	if (trace_has(&w->entered, DPROF_KEY_BYTES))
		walk_add_signal(w, room, w->enter, SYNC_SIGNALLED, w->entered.site);
}

static void end_completion(struct thread_walk *w, struct event_ref exit)
{
	const struct operation *o = walk_operation(w, &w->entered);
	struct completion x = {
		.enter = w->enter, .exit = exit, .begin = walk_begin_of(w),
		.what = walk_kind(w, w->entered.site) == DPROF_KIND_WAIT ? GRAPH_WAITED_FOR : GRAPH_RECEIVED,
		.by_choice = w->looked_for || o->is & OP_CHOOSES || arg_is_left(o, &w->entered),
		.attached = w->attached, .n = w->nattached };
	graph_keep_completion(w->b->spill, &w->records->messages, &x);
}

static void unexplained(struct thread_walk *w, struct event_ref exit, struct diagnostic *diagnostic)
{
	if (!w->bad)
		graph_diagnose(diagnostic, exit, w->entered.site);
	w->nattached = 0;
	graph_unknown(w->b, walk_begin_of(w), exit);
}

#define MOST_TARGETS 64 /* threads: of more it is not known which was waited for */

static uint64_t target_of(const struct thread_walk *w)
{
	uint64_t target = arg_target(walk_operation(w, &w->entered), &w->entered);
	return target == DPROF_TARGET_ALL && w->b->graph->trace->nthreads > MOST_TARGETS ? ARG_NONE : target;
}

/* Who calls it again at once, or after a sleep, has perhaps looked at a window whether something is there, perhaps with its lock,
 * and not found it: then all of that is one wait, which was not over when the last call but one began. */
static void add_unsaid(struct thread_walk *w, struct event_ref exit)
{
	struct unknown_wait *last = w->windows.unsaid ? &w->b->unknown[w->windows.unsaid - 1] : NULL;
	bool behind = last && (last->exit.at == w->attempts.before.at || w->windows.relooks_at == w->attempts.before.at);
	if (behind && w->windows.unsaid_at == w->entered.site) {
		last->looked = last->last;
		last->last = w->enter.stamp;
		last->exit = exit;
		return;
	}
	struct unknown_wait *wait = graph_add_unknown(w->b, walk_begin_of(w), exit);
	wait->last = w->enter.stamp;
	wait->target = target_of(w);
	w->windows.unsaid = w->b->nunknown;
	w->windows.unsaid_at = w->entered.site;
}

/* Of what windows and files of MPI wait for there is no record anywhere: then that is a limit of what is known, and
 * nothing is missing. */
static void for_unknown(struct thread_walk *w, struct event_ref exit)
{
	if (!tr_is(w->b->graph->trace, w->entered.site, OP_MPI)) {
		unexplained(w, exit, &w->alone);
		if (walk_operation(w, &w->entered)->asks)
			w->b->unknown[w->b->nunknown - 1].otherwise = OTHERWISE_ANSWERED;
		walk_note_look(w);
		return;
	}
	graph_note_unsaid(w->b->graph, w->entered.site);
	if (walk_operation(w, &w->entered)->jobs)
		w->b->graph->outside = w->b->graph->other_jobs = true;
	walk_end_counting(w, exit);
	w->nattached = 0;
	add_unsaid(w, exit);
}

/* Who takes part nobody knows, and those may be processes that are not in the trace. */
static void with_unknown(struct thread_walk *w, struct event_ref exit)
{
	graph_note_unsaid(w->b->graph, w->entered.site);
	w->nattached = 0;
	graph_unknown(w->b, walk_begin_of(w), exit);
}

/* What was begun with an id goes on behind the call. */
static bool only_began(const struct thread_walk *w)
{
	return arg_request(walk_operation(w, &w->entered), &w->entered) != ARG_NONE;
}

/* One that does not say its group, but where it is. */
void walk_visit_barrier(struct thread_walk *w, const struct tr_event *e, struct event_ref enter, struct event_ref exit)
{
	struct barrier_records *barriers = &w->records->barriers;
	const struct operation *o = walk_operation(w, e);
	uint64_t shared = arg_barrier(o, e), threads = arg_barrier_threads(o, e);
	enum visit how = e->op == DPROF_ENTER ? VISIT_WAITS : arg_makes_barrier(o, e) ? VISIT_MAKES : arg_comes_again(o, e) ?
			 VISIT_ONLY_COMES : threads != ARG_NONE ? VISIT_LEAVES : VISIT_COMPLETES;
	struct barrier_visit visit = {
		w->b->graph->trace->threads[w->thread].clock, shared == ARG_NONE ? w->process : OF_ANY_PROCESS,
		shared == ARG_NONE ? arg_barrier_at(o, e) : shared, threads, enter, exit, e->site, how, 0 };
	if (how == VISIT_WAITS && shared == ARG_NONE && threads == ARG_NONE)
		*SPILL_GROW(w->b->spill, barriers->awaits, barriers->nawaits) = visit;
	else
		*SPILL_GROW(w->b->spill, barriers->visits, barriers->nvisits) = visit;
}

bool walk_visits(const struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = walk_operation(w, e);
	return arg_barrier(o, e) != ARG_NONE || arg_barrier_at(o, e) != ARG_NONE;
}

/* A barrier that is entered again, and was over when it was left for a task, does not wait (match.h).
 * One without a group is one of all threads of its process; of MPI, one of all ranks. */
static void barrier(struct thread_walk *w, struct event_ref exit)
{
	struct barrier_records *barriers = &w->records->barriers;
	bool of_ranks = tr_is(w->b->graph->trace, w->entered.site, OP_OF_RANKS);
	const struct operation *o = walk_operation(w, &w->entered);
	if (w->explained || w->resumed)
		return;
	if (walk_visits(w, &w->entered))
		walk_visit_barrier(w, &w->entered, w->enter, exit);
	else if (arg_is_of_unknown(o, &w->entered))
		with_unknown(w, exit);
	else if (trace_arg(&w->entered, DPROF_KEY_GROUP, UINT64_MAX) == UINT64_MAX)
		*SPILL_GROW(w->b->spill, barriers->bare, barriers->nbare) = (struct bare){
			of_ranks ? ALL_RANKS : w->process, w->enter, exit, w->entered.site };
	else
		unexplained(w, exit, &w->missing);
}

static void send(struct thread_walk *w, struct event_ref exit)
{
	if (w->sent == NO_MESSAGE || only_began(w))
		return;
	w->records->messages.v[w->sent].sent_until = exit.stamp;
	walk_attach(w, w->sent, true);
	end_completion(w, exit);
}

/* It has found a message, and leaves it to whoever fetches it. */
static void find_message(struct thread_walk *w)
{
	uint64_t bytes = w->records->messages.v[w->attached[0].message].bytes;
	if (!tr_is(w->b->graph->trace, w->entered.site, OP_IN_TWO))
		return;
	w->nfound++;
	w->found_bytes = bytes > w->found_bytes ? bytes : w->found_bytes;
}

/* As long as it took here; but the sender's next call of MPI may be needed to bring the rest: in this run, too, but for what is
 * short enough to have been sent with what was found. Of several it may be any; and what was begun may fetch several at once, so
 * that behind it none is known to be left. */
static void fetch(struct thread_walk *w, struct event_ref exit)
{
	struct unknown_wait wait = { .begin.enter = w->enter, .exit = exit };
	if (w->nfound == 0 || w->found_bytes > GRAPH_EAGER)
		graph_add_unknown(w->b, wait.begin, exit)->otherwise = OTHERWISE_FETCHED;
	else
		graph_fetch(w->b, &wait, NULL);
	w->nfound = w->nfound > 0 && tr_is(w->b->graph->trace, w->entered.site, OP_IN_TWO) ? w->nfound - 1 : 0;
	w->found_bytes = w->nfound ? w->found_bytes : 0;
}

/* The thread of this process with a number; or of none. */
uint32_t walk_find_thread(const struct thread_walk *w, uint64_t number)
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
	const struct operation *o = walk_operation(w, &w->entered);
	uint64_t task = arg_awaited_task(o, &w->entered), tasks = arg_awaited_tasks(o, &w->entered);
	if (arg_is_member(o, &w->entered))
		return; /* a team, once more: only its opener waits */
	if (task != ARG_NONE) {
		walk_wait_for_tasks(w, exit, task, false);
		return;
	}
	if (tasks != ARG_NONE) {
		walk_wait_for_tasks(w, exit, tasks, true);
		return;
	}
	uint32_t thread = walk_find_thread(w, trace_arg(&w->entered, DPROF_KEY_THREAD, UINT64_MAX));
	if (thread < w->b->graph->trace->nthreads)
		*SPILL_GROW(w->b->spill, w->records->joins.v, w->records->joins.n) =
			(struct thread_join){ w->enter, exit, { .at = NO_EVENT }, walk_begin_of(w), thread, w->entered.site };
	else
		unexplained(w, exit, &w->alone);
}

/* Sleeps between attempts are a part of the wait that these make, of which it is known what ended it. */
static void pass_sleeps(struct thread_walk *w)
{
	struct wait_begin begin = walk_begin_of(w);
	struct sleeps *last = w->attempts.kept_sleeps ? &w->records->sleeps.v[w->attempts.kept_sleeps - 1] : NULL;
	bool looked = w->look.chooses && w->look.at + 1 == w->enter.at;
	uint64_t since = looked ? w->look.since : begin.tried ? begin.enter.at : UINT64_MAX;
	if (last && last->first.at > since)
		last->between_looks = true;
}

static void move_bytes(struct thread_walk *w, struct event_ref exit, uint64_t from, uint64_t bytes)
{
	struct byte_records *moved = &w->records->bytes;
	bool looked = w->look.chooses && w->look.at + 1 == w->enter.at;
	const struct operation *o = walk_operation(w, &w->entered);
	bool gave = arg_gives_bytes(o, &w->entered);
	if (looked && w->look.is_attempt && !gave)
		w->look.found_at = w->entered.site;
	*SPILL_GROW(w->b->spill, moved->v, moved->n) = (struct moved_bytes){
		.channel = arg_channel(o, &w->entered), .from = from, .to = from + bytes,
		.enter = w->enter, .exit = exit, .begin = walk_begin_of(w), .site = w->entered.site,
		.gave = gave, .blocked = arg_for_unknown(o, &w->entered),
		.chosen = w->look.chooses, .looks = w->look.channels, .other.at = NO_EVENT, .given.at = NO_EVENT,
		.look = looked ? w->look.began : w->enter, .by_attempts = w->look.found_at == w->entered.site };
	w->taken.bytes = moved->n;
	w->taken.just_now = !gave;
	w->taken.may_be_more = arg_takes_what_there_is(o, &w->entered);
	if (!gave && bytes > 0)
		pass_sleeps(w);
}

/* The last operation was a look; there may be a moment in between, at which it is said that another has left no record. */
static bool is_behind_look(const struct thread_walk *w)
{
	return w->look.chooses && w->enter.at - w->look.at <= 2;
}

static void learn_of_end(struct thread_walk *w, struct event_ref exit, uint64_t pid)
{
	struct process_records *processes = &w->records->processes;
	const struct operation *o = walk_operation(w, &w->entered);
	size_t looks = is_behind_look(w) ? w->look.first : 0;
	*SPILL_GROW(w->b->spill, processes->waits, processes->nwaits) = (struct process_wait){
		pid, exit, walk_begin_of(w), w->entered.site, arg_ended_by(o, &w->entered), arg_of_one_process(o, &w->entered),
		{ .at = NO_EVENT }, looks, looks ? w->b->nunknown + 1 - looks : 0 };
}

/* A process's end; or bytes of which it is known which they are, or that there will be none, or that none were there. */
static bool moves_on(struct thread_walk *w, struct event_ref exit)
{
	struct builder *b = w->b;
	const struct operation *o = walk_operation(w, &w->entered);
	uint64_t from = arg_offset(o, &w->entered), bytes = arg_moved(o, &w->entered);
	uint64_t pid = arg_ended_process(o, &w->entered);
	if (pid != ARG_NONE)
		learn_of_end(w, exit, pid);
	else if (from != ARG_NONE && bytes <= ARG_NONE - 1 - from)
		move_bytes(w, exit, from, bytes);
	else if (from == ARG_NONE && arg_gives_bytes(o, &w->entered) && !arg_for_unknown(o, &w->entered))
		graph_room(b, walk_begin_of(w), (struct event_ref){ .at = NO_EVENT }, exit);
	else if (from == ARG_NONE && arg_gives_bytes(o, &w->entered))
		graph_add_unknown(b, walk_begin_of(w), exit)->otherwise = OTHERWISE_OWN;
	else
		return from != ARG_NONE && bytes == ARG_NONE;
	return true;
}

static void sleep_until(struct thread_walk *w, struct event_ref exit)
{
	struct moment_records *moments = &w->records->moments;
	const struct operation *o = walk_operation(w, &w->entered);
	double ghz = tr_ghz(w->b->graph->trace, w->thread);
	struct wait_begin begin = walk_begin_of(w);
	uint64_t late = arg_too_late(o, &w->entered), before = arg_set_before(o, &w->entered);
	double waited = (double)(w->enter.stamp - begin.enter.stamp) / ghz, since = (double)before * ghz;
	*SPILL_GROW(w->b->spill, moments->v, moments->n) = (struct moment_sleep){
		.begin = begin, .exit = exit, .until_ns = trace_arg(&w->entered, DPROF_KEY_UNTIL, 0),
		.late_ns = late == ARG_NONE || (double)late < waited ? 0 : late - (uint64_t)waited, .site = w->entered.site,
		.polled = w->attempts.polled_at, .rests = arg_rests(o, &w->entered), .paced = arg_paced(o, &w->entered),
		.set = since < (double)w->enter.stamp ? w->enter.stamp - (uint64_t)since : 0 };
}

/* It has looked for what comes, which was no timer. */
static void note_other(struct thread_walk *w)
{
	struct moment_records *m = &w->records->moments;
	struct moment_other *last = m->nothers ? &m->others[m->nothers - 1] : NULL;
	bool known = last && last->thread == w->thread && last->site == w->entered.site;
	if (!known && !trace_has(&w->entered, DPROF_KEY_UNTIL))
		*SPILL_GROW(w->b->spill, m->others, m->nothers) = (struct moment_other){ w->thread, w->entered.site };
}

/* Until a moment, or until a timer comes, that may have been set long before; or for some time, which is its own. */
static void explain_sleep(struct thread_walk *w, struct event_ref exit)
{
	const struct tr_event *e = &w->entered;
	const struct operation *o = walk_operation(w, e);
	if (arg_fills_time(o, e))
		walk_note_filled(w, e->site);
	if (arg_for_unknown(o, e))
		graph_unknown(w->b, walk_begin_of(w), exit);
	else if (trace_has(e, DPROF_KEY_UNTIL) || arg_set_before(o, e) != ARG_NONE)
		sleep_until(w, exit);
	else if (trace_has(e, DPROF_KEY_BYTES))
		graph_unknown_since(w->b, walk_begin_of(w), exit, walk_begin_of(w).enter, GRAPH_TIMED);
}

/* It waits for it is not known whom, who may say whose bytes it takes next. */
static void look(struct thread_walk *w, struct event_ref exit)
{
	struct walk_look *l = &w->look;
	l->first = is_behind_look(w) && l->first ? l->first : w->b->nunknown + 1;
	l->chooses = true;
	l->channels += walk_operation(w, &w->entered)->looks;
	l->at = exit.at;
	l->began = w->enter;
	l->is_attempt = w->entered.site == l->vain_at;
	l->since = walk_begin_of(w).enter.at;
	note_other(w);
	for_unknown(w, exit);
}

static void collective(struct thread_walk *w, struct event_ref exit)
{
	if (arg_is_of_unknown(walk_operation(w, &w->entered), &w->entered) && !only_began(w))
		with_unknown(w, exit);
	else
		unexplained(w, exit, &w->missing);
}

static void explain(struct thread_walk *w, struct event_ref exit)
{
	const struct tr_event *e = &w->entered;
	const struct operation *o = walk_operation(w, e);
	enum dprof_kind kind = walk_kind(w, e->site);
	bool received = w->nattached > 0;
	if (moves_on(w, exit))
		return;
	if (kind == DPROF_KIND_RECV && !only_began(w) && !received && !w->completed && !arg_no_message(o, e))
		w->doubtful = true;
	if (kind == DPROF_KIND_SLEEP)
		explain_sleep(w, exit);
	else if (w->doubtful)
		unexplained(w, exit, &w->unsent);
	else if (w->sends_outside || w->unmatched) /* another may be waited for, or not */
		graph_unknown_since(w->b, walk_begin_of(w), exit, walk_begin_of(w).enter, 0);
	else if (walk_shares(w, e))
		share_with_processes(w, exit);
	else if (arg_fetches(o, e))
		fetch(w, exit);
	else if (arg_for_unknown(o, e) && !(o->first && trace_has(e, DPROF_KEY_ID)))
		look(w, exit);
	else if (received) {
		find_message(w);
		end_completion(w, exit);
	} else if (kind == DPROF_KIND_BARRIER)
		barrier(w, exit);
	else if (kind == DPROF_KIND_JOIN && !w->explained)
		join(w, exit);
	else if (kind == DPROF_KIND_COLL && !w->explained)
		collective(w, exit);
	else if (kind == DPROF_KIND_SEND)
		send(w, exit);
	else if (o->queues && arg_gives_message(o, e))
		graph_room(w->b, walk_begin_of(w), (struct event_ref){ .at = NO_EVENT }, exit); /* there was, here */
	else if (kind == DPROF_KIND_LOCK || (kind == DPROF_KIND_WAIT && !w->completed && arg_address(o, e) != ARG_NONE))
		take_what_was_given(w, exit);
}

/* Who takes something of which it is not known which it is has waited for whoever gave that, or would in another run. */
static void keep_loose(struct thread_walk *w, struct event_ref exit, size_t unknown, uint64_t channel, uint64_t n)
{
	struct builder *b = w->b;
	struct byte_records *moved = &w->records->bytes;
	bool gave = trace_arg(&w->entered, DPROF_KEY_ROLE, 0) == 1;
	*SPILL_GROW(b->spill, moved->loose, moved->nloose) = (struct loose_bytes){
		.channel = channel, .n = n, .enter = w->enter, .exit = exit, .begin = walk_begin_of(w),
		.site = w->entered.site, .gave = gave, .wait = b->nunknown > unknown && !gave ? b->nunknown : 0 };
}

void walk_end_operation(struct thread_walk *w, struct event_ref exit)
{
	const struct operation *o = walk_operation(w, &w->entered);
	uint64_t bytes = arg_moved(o, &w->entered);
	size_t unknown = w->b->nunknown;
	explain(w, exit);
	if (o->queues && arg_object(o, &w->entered) != ARG_NONE)
		keep_loose(w, exit, unknown, arg_object(o, &w->entered), 1);
	else if (arg_channel(o, &w->entered) != ARG_NONE && arg_offset(o, &w->entered) == ARG_NONE && bytes != ARG_NONE)
		keep_loose(w, exit, unknown, arg_channel(o, &w->entered), bytes);
}

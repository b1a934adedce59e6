/* SPDX-License-Identifier: MIT
 *
 * graph_walk_attempts.c - along a thread: waits that ended without what they waited for, and are tried again.
 *
 * Law: an attempt in vain, what the thread does between attempts, and the one that succeeds are one wait, which begins with the
 * first attempt and ends with the last. In another run there may be more or fewer of them. */
#include <string.h>

#include "analysis/graph/graph_walk.h"

/* Bytes were there, or a child was over: a look that may have found nothing before. */
static bool is_look(const struct thread_walk *w)
{
	const struct operation *o = walk_operation(w, &w->entered);
	bool moves = arg_channel(o, &w->entered) != ARG_NONE || arg_ended_process(o, &w->entered) != ARG_NONE;
	return moves && !arg_for_unknown(o, &w->entered);
}

#define AT_ONCE 8 /* it is tried again within such a part of the time that it has been tried, but for sleeps in between */

/* The mutex is taken again, behind a wait that ended without what it waited for; or it is given back, and locks are taken at once,
 * to see whether all is over or to begin anew. Who tried to have one has not waited like that. */
bool walk_retakes(const struct thread_walk *w)
{
	const struct walk_attempts *a = &w->attempts;
	bool next = a->failed && a->failed_at + 1 == w->enter.at && walk_kind(w, w->entered.site) == DPROF_KIND_LOCK;
	bool at_once = !w->locks.retaken || w->enter.stamp - a->failed_until <= a->failed_for / AT_ONCE;
	return next && at_once && !tr_is(w->b->graph->trace, w->entered.site, OP_ATTEMPT);
}

/* Directly behind an attempt: what it has taken again is given back, or an object made that nobody knows yet. */
void walk_point_behind_attempt(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	if (w->attempts.failed_at + 1 == ref.at && (o->makes || (w->locks.retaken && o->kind == DPROF_KIND_LOCK)))
		w->attempts.failed_at = ref.at;
}

/* What has been tried in vain begins with the first attempt that is known. Where there is none, a program without marks
 * has worked before; and where it has marks, it has perhaps tried since the last of them or the last operation, too
 * seldom for a record. */
static struct event_ref tried_since(const struct thread_walk *w)
{
	if (w->attempts.failed)
		return w->attempts.tried;
	return w->b->graph->trace->processes[w->process].marked ? w->attempts.before : w->enter;
}

struct wait_begin walk_begin_of(const struct thread_walk *w)
{
	bool given = arg_finds_given(walk_operation(w, &w->entered), &w->entered);
	bool fails = tr_is(w->b->graph->trace, w->entered.site, OP_ATTEMPT) || is_look(w) || given;
	if (w->attempts.retakes) /* which is not over before that wait is */
		return (struct wait_begin){ .enter = w->enter };
	struct event_ref since = fails || w->attempts.failed ? tried_since(w) : w->enter;
	return (struct wait_begin){ .enter = since, .unknown = w->attempts.failed ? 0 : w->enter.stamp - since.stamp,
				    .tried = fails || w->attempts.failed_since, .certain = w->attempts.operation };
}

/* A call of MPI that takes what it waits for, and there was nothing: requests with MPI_PROC_NULL, say. */
static bool takes_nothing(const struct operation *o)
{
	return o->is & OP_MPI && !o->finds;
}

/* A wait that ended without what it waited for, and the lock that it takes again. */
static bool has_failed(const struct thread_walk *w)
{
	enum dprof_kind kind = walk_kind(w, w->entered.site);
	bool took_none = arg_offset(walk_operation(w, &w->entered), &w->entered) != ARG_NONE &&
			 !trace_has(&w->entered, DPROF_KEY_BYTES);
	bool vain = kind == DPROF_KIND_WAIT && !w->completed && w->nattached == 0 && !is_look(w) &&
		    !takes_nothing(walk_operation(w, &w->entered)) &&
		    !trace_has(&w->entered, DPROF_KEY_OBJECT) &&
		    !tr_is(w->b->graph->trace, w->entered.site, OP_IN_TWO) &&
		    !trace_has(&w->entered, DPROF_KEY_ID) && (took_none || !trace_has(&w->entered, DPROF_KEY_PEER));
	return vain || w->attempts.retakes;
}

/* It has asked again and again, and goes on without; so that is its own time, as long as it is not asked for again. */
bool walk_was_in_vain(const struct thread_walk *w)
{
	return w->found_none || arg_in_vain(walk_operation(w, &w->entered), &w->entered);
}

/* Moments that are equally far apart, to the nanosecond, were laid down before; any other was read off the clock just before
 * the wait. */
static bool moment_stays(struct thread_walk *w, uint64_t until)
{
	struct walk_moments *m = &w->attempts.until;
	if (m->site != w->entered.site)
		*m = (struct walk_moments){ .site = w->entered.site, .last = until };
	if (until == m->last)
		return m->stay;
	m->stay = until - m->last == m->step;
	m->step = until - m->last;
	m->last = until;
	return m->stay;
}

/* Who does not try again has perhaps found there what it waited for, as its time was over when that came. Attempts before the last
 * would end none of the wait, whoever was presumed to have ended them: that need not be looked for. */
void walk_settle_time_out(struct thread_walk *w, bool tries_again)
{
	struct walk_time_out *t = &w->attempts.time_out;
	if (t->open && tries_again)
		graph_timed_out(w->b, t->begin, t->exit, GRAPH_EXPIRED);
	else if (t->open)
		graph_add_time_out(w->b, t->begin, t->exit, t->lock);
	t->open = false;
}

/* It gave a lock back just before the operation: a wait takes that again, before it is over. */
static bool gave_lock_back(const struct thread_walk *w)
{
	const struct sync_event *gave = w->locks.returned ? &w->records->sync.v[w->locks.returned - 1] : NULL;
	return gave && gave->kind == SYNC_RELEASED && gave->ref.thread == w->thread && gave->ref.at + 1 == w->enter.at;
}

/* It has waited until a moment, for nothing, unless it tries again. If it has done so before, it looks whether something is
 * there, and that may come as well. */
static void note_time_out(struct thread_walk *w, struct event_ref exit, bool again)
{
	uint64_t until = arg_expired_at(walk_operation(w, &w->entered), &w->entered);
	uint32_t what = tr_is(w->b->graph->trace, w->entered.site, OP_SEMAPHORE) ? GRAPH_OWN_LIMIT
			: gave_lock_back(w)					? GRAPH_LIMIT_LOCKED
										: GRAPH_EXPIRED;
	struct wait_begin begin = walk_begin_of(w);
	w->attempts.vain_wait = true;
	walk_settle_time_out(w, again && w->attempts.time_out.site == w->entered.site);
	if (arg_only_found(walk_operation(w, &w->entered), &w->entered))
		w->attempts.found = (struct found_message){
			.begin = begin, .exit = exit,
			.of_begun = walk_operation(w, &w->entered)->of_begun && w->nbegun == 1 };
	else if (until != ARG_NONE && moment_stays(w, until))
		graph_unknown_since(w->b, begin, exit,
				    (struct event_ref){ w->thread, 0, w->b->graph->threads[w->thread].first }, GRAPH_EXPIRED);
	else if (again)
		w->attempts.time_out = (struct walk_time_out){ begin, exit, w->entered.site, { .id = ARG_NONE, .stamp = w->enter.stamp }, true };
	else if (until == ARG_NONE)
		graph_timed_out(w->b, begin, exit, GRAPH_EXPIRED);
	else
		graph_unknown_since(w->b, begin, exit, begin.enter, what);
}

/* The outermost operation was in vain. */
static void fail(struct thread_walk *w)
{
	if (!w->attempts.failed) {
		w->attempts.tried = w->enter;
		w->attempts.vain_at = TR_NO_SITE;
	}
	w->attempts.failed = w->attempts.failed_since = true;
	struct mpi_calls *calls = &w->b->threads[w->thread].calls;
	if (calls->n && calls->v[calls->n - 1].at == w->enter.at)
		calls->v[calls->n - 1].vain = true;
}

/* A time limit has ended it, or a signal: perhaps it was in vain. */
static bool perhaps_in_vain(const struct thread_walk *w)
{
	const struct trace *t = w->b->graph->trace;
	return walk_kind(w, w->entered.site) == DPROF_KIND_WAIT && trace_has(&w->entered, DPROF_KEY_UNTIL) &&
	       arg_for_unknown(walk_operation(w, &w->entered), &w->entered) && !tr_is(t, w->entered.site, OP_MPI);
}

/* A sleep for some time, of which nothing says that it is more. */
static bool is_plain_sleep(const struct thread_walk *w, const struct tr_event *e)
{
	return walk_kind(w, e->site) == DPROF_KIND_SLEEP && !trace_has(e, DPROF_KEY_UNTIL) && !trace_has(e, DPROF_KEY_PEER) &&
	       !trace_has(e, DPROF_KEY_BYTES);
}

/* It reads a timer of which it is known when that was ready. */
static bool reads_timer(const struct thread_walk *w, const struct tr_event *e)
{
	return walk_kind(w, e->site) == DPROF_KIND_SLEEP && trace_has(e, DPROF_KEY_BYTES) &&
	       (trace_has(e, DPROF_KEY_UNTIL) || arg_set_before(walk_operation(w, e), e) != ARG_NONE);
}

/* Asked at the same place as before: who has it then may have it at a site of another kind, as a lock. */
static bool is_asked_again(const struct thread_walk *w, uint32_t site)
{
	const struct tr_site *sites = w->b->graph->trace->sites;
	uint32_t before = w->attempts.vain_at;
	if (before == TR_NO_SITE || site == before)
		return site == before;
	bool elsewhere = sites[site].line && sites[before].line && sites[site].line != sites[before].line;
	return !elsewhere && strcmp(sites[site].name, sites[before].name) == 0;
}

/* Whether it is tried again: at the same site or like that in code that has none; or at that of the attempts before it, between
 * which it yields; or otherwise, again in vain (a yield between looks), or with bytes that have come, behind a look that took too
 * little time for a record; or that was for a timer. */
static bool is_tried_again(const struct thread_walk *w, const struct tr_event *e)
{
	const struct trace *t = w->b->graph->trace;
	const struct operation *o = walk_operation(w, e);
	bool waits = walk_kind(w, e->site) == DPROF_KIND_WAIT, vain = waits && trace_has(e, DPROF_KEY_UNTIL) && arg_for_unknown(o, e);
	bool unplaced = t->sites[e->site].line == 0 && t->sites[w->attempts.perhaps_at].line == 0;
	bool takes = arg_offset(o, e) != ARG_NONE && !arg_gives_bytes(o, e);
	bool asked = e->site == w->attempts.perhaps_at || is_asked_again(w, e->site);
	return asked || (unplaced && waits) || vain || takes || reads_timer(w, e);
}

/* What was perhaps in vain was, if it is tried again at once. */
void walk_try_again(struct thread_walk *w, const struct tr_event *e)
{
	if (w->attempts.perhaps_at == TR_NO_SITE || is_plain_sleep(w, e) || w->attempts.retakes)
		return;
	uint64_t tried = w->attempts.perhaps.stamp - w->attempts.tried.stamp + w->attempts.perhaps_slept;
	bool at_once = w->attempts.failed && e->stamp - w->attempts.perhaps.stamp - w->attempts.perhaps_slept <= tried / AT_ONCE;
	bool again = is_tried_again(w, e);
	w->attempts.polled_at = reads_timer(w, e) ? w->attempts.perhaps_at : TR_NO_SITE;
	w->attempts.perhaps_at = TR_NO_SITE;
	if (again && at_once)
		return;
	w->attempts.before = w->attempts.before.stamp > w->attempts.perhaps.stamp ? w->attempts.before : w->attempts.perhaps;
	w->attempts.operation = w->attempts.perhaps;
	w->attempts.failed = w->attempts.failed_since = false;
}

/* It sleeps again and again, with nothing in between but looks, with a lock or at descriptors: perhaps until something
 * is there that no record tells of. */
static void note_sleep(struct thread_walk *w, struct event_ref exit)
{
	struct sleep_records *kept = &w->records->sleeps;
	struct sleeps *s = &w->attempts.sleeps;
	bool again = s->n > 0 && s->site == w->entered.site && s->exit.at + 1 + w->attempts.look_events == w->enter.at;
	*s = again ? (struct sleeps){ .first = s->first, .before = s->exit.stamp, .exit = exit, .site = s->site, .n = s->n + 1 }
		   : (struct sleeps){ .first = w->enter, .exit = exit, .site = w->entered.site, .n = 1 };
	s->until = trace_has(&w->entered, DPROF_KEY_UNTIL);
	w->attempts.look_events = 0;
	uint32_t many = s->until ? SOME_SLEEPS : MANY_SLEEPS;
	if (s->n == many) {
		*SPILL_GROW(w->b->spill, kept->v, kept->n) = *s;
		w->attempts.kept_sleeps = kept->n;
	} else if (s->n > many) {
		kept->v[w->attempts.kept_sleeps - 1] = *s;
	}
}

void walk_end_look(struct thread_walk *w)
{
	if (w->attempts.found.exit.at)
		graph_timed_out(w->b, w->attempts.found.begin, w->attempts.found.exit, GRAPH_FOUND);
	w->attempts.found = (struct found_message){ .n = 0 };
}

/* What has been received now, and was begun behind an event; or before it. */
static void add_received(const struct thread_walk *w, uint64_t at, struct found_message *f)
{
	const struct message *v = w->records->messages.v;
	for (size_t i = 0; i < w->nattached && f->n < FOUND_MOST; i++) {
		const struct attached *a = &w->attached[i];
		if (!a->as_sender && v[a->message].begun.thread == w->thread && (v[a->message].begun.at > at) != f->of_begun)
			f->messages[f->n++] = a->message;
	}
}

/* What was found is received next; where nothing but attempts is in between, that has waited since then itself. */
static void receive_found(struct thread_walk *w)
{
	struct message_records *r = &w->records->messages;
	const struct operation *o = walk_operation(w, &w->entered);
	bool receives = o->kind == DPROF_KIND_RECV;
	if (o->is & OP_OWN || (receives && arg_request(o, &w->entered) != ARG_NONE)) /* which only begins */
		return;
	if (w->attempts.found.exit.at)
		add_received(w, w->attempts.found.exit.at, &w->attempts.found);
	else if (w->attempts.kept_found)
		add_received(w, r->found[w->attempts.kept_found - 1].exit.at, &r->found[w->attempts.kept_found - 1]);
	if (w->attempts.found.n > 0 && !(receives && w->attempts.failed)) {
		*SPILL_GROW(w->b->spill, r->found, r->nfound) = w->attempts.found;
		w->attempts.kept_found = r->nfound;
		w->attempts.found = (struct found_message){ .n = 0 };
	} else if (w->attempts.found.exit.at) {
		walk_end_look(w);
		w->attempts.kept_found = 0;
	}
}

/* The last unknown wait is this operation, which may be in vain, and a lock was given back just before it. */
void walk_note_look(struct thread_walk *w)
{
	const struct section *s = &w->locks.section;
	const struct sync_event *gave = w->locks.returned ? &w->records->sync.v[w->locks.returned - 1] : NULL;
	bool looked = gave_lock_back(w) && s->taken.at != NO_EVENT && gave->process == s->process && gave->id == s->id;
	w->attempts.look = (struct looked_lock){ s->process, s->id, s->taken.stamp };
	w->attempts.looked = looked && perhaps_in_vain(w) ? w->b->nunknown : 0;
	if (w->attempts.seen && w->attempts.failed) /* what it saw then was not that */
		w->b->unknown[w->attempts.seen - 1].lock = (struct looked_lock){ 0 };
	w->attempts.seen = 0;
	w->attempts.last = perhaps_in_vain(w) ? w->b->nunknown : 0;
}

/* It looks behind each yield, which leaves no record, nor do yields that took no time: so if it does not yield again it has gone on
 * somewhere up to this event. */
void walk_note_next(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	if (e->site != w->entered.site)
		w->b->unknown[w->attempts.last - 1].next = ref;
	w->attempts.last = 0;
}

/* Locks are taken behind an attempt, and that goes on until then. */
static void note_retaken(struct thread_walk *w, struct event_ref exit)
{
	struct walk_attempts *a = &w->attempts;
	struct sync_object object = walk_object(w, &w->entered);
	a->seen = a->look.process == object.process && a->look.id == object.id ? a->looked : 0;
	if (a->seen)
		w->b->unknown[a->seen - 1].lock = a->look;
	a->looked = 0;
	a->failed_at = exit.at;
	a->perhaps = a->perhaps_at == TR_NO_SITE ? a->perhaps : exit;
	if (a->time_out.lock.id != ARG_NONE)
		return;
	a->time_out.lock.process = w->process;
	a->time_out.lock.id = arg_address(walk_operation(w, &w->entered), &w->entered);
}

/* A wait has ended without what it waited for, perhaps. */
static void note_failed(struct thread_walk *w, struct event_ref exit)
{
	w->attempts.failed_at = exit.at;
	w->attempts.failed_for = exit.stamp - w->enter.stamp;
	w->attempts.failed_until = exit.stamp;
	w->locks.retaken = 0;
	w->attempts.look_events += exit.at - w->enter.at + 1;
}

/* The outermost operation has ended. */
void walk_note_attempt(struct thread_walk *w, struct event_ref exit)
{
	receive_found(w);
	if (walk_was_in_vain(w)) {
		fail(w);
		w->attempts.vain_at = w->entered.site;
	} else if (has_failed(w)) {
		bool again = w->attempts.failed;
		fail(w);
		if (w->attempts.retakes) {
			note_retaken(w, exit);
		} else {
			note_failed(w, exit);
			note_time_out(w, exit, again);
		}
	} else if (perhaps_in_vain(w)) {
		fail(w);
		note_failed(w, exit);
		w->attempts.perhaps = exit;
		w->attempts.perhaps_at = w->entered.site;
		w->attempts.perhaps_slept = 0;
		w->look.vain_at = w->entered.site;
	} else if (walk_kind(w, w->entered.site) != DPROF_KIND_SLEEP || reads_timer(w, &w->entered)) {
		walk_settle_time_out(w, w->attempts.failed && w->attempts.time_out.site == w->entered.site);
		w->attempts.vain_wait &= walk_kind(w, w->entered.site) == DPROF_KIND_LOCK;
		w->attempts.before = w->attempts.operation = exit;
		w->attempts.failed = w->attempts.failed_since = false;
	} else if (!trace_has(&w->entered, DPROF_KEY_PEER)) {
		bool until = trace_has(&w->entered, DPROF_KEY_UNTIL);
		w->attempts.perhaps_slept += until ? 0 : exit.stamp - w->enter.stamp;
		note_sleep(w, exit);
	}
}

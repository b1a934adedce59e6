/* SPDX-License-Identifier: MIT
 *
 * trace_check.c - does a trace contradict itself?
 *
 * What could not be read is known since the trace was opened. Here the rest is checked: that what is entered is
 * left, that nothing was lost, that all participants of a group took part.
 *
 * Law: a trace without diagnostics has every event of every thread that ended, and each enter has
 * its exit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/pool.h"
#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"

struct check_totals {
	uint64_t *events;        /* of each thread */
	uint64_t **took_part;    /* for each group and each of its threads: how often, */
	uint64_t **last;         /* and where last: kind and number of the operation */
	bool *cancelled;         /* each group: not all need have taken part as often; */
	bool **failed;           /* nor need these of its threads, to whom MPI returned an error */
	uint32_t *failed_at;     /* of each thread: at which site, or before; or TR_NO_SITE */
};

/* "rank 1, thread 0" */
static char *name_thread(const struct trace *t, size_t thread)
{
	const struct tr_thread *self = &t->threads[thread];
	const struct tr_process *process = &t->processes[self->process];
	return self->rank >= 0
		       ? mem_format("rank %" PRId64 ", thread %" PRIu32, self->rank, self->number)
		       : mem_format("process %" PRIu64 " on %s, thread %" PRIu32, process->pid,
				    process->host, self->number);
}

static char *name_site(const struct trace *t, size_t site)
{
	if (site >= t->nsites)
		return mem_copy("an unknown site");
	const struct tr_site *s = &t->sites[site];
	return s->line ? mem_format("'%s' (%s:%" PRIu32 ")", s->name, s->file, s->line) : mem_format("'%s'", s->name);
}

/* ---- Nesting --------------------------------------------------------------------------------- */

/* For one site in one thread. */
struct unmatched {
	uint64_t enters, exits;
	uint64_t first_enter, first_exit; /* stamps */
};

struct nest_check {
	struct trace *trace;
	size_t thread;
	struct replay replay;
	struct unmatched *of_site; /* and one more for all that are unknown */
	uint64_t jumped, came;     /* enters without an exit, and exits without an enter, that a jump explains */
	uint32_t first_jumped;     /* site of the first of those enters */
};

static struct unmatched *unmatched_of(struct nest_check *c, uint32_t site)
{
	return &c->of_site[site < c->trace->nsites ? site : c->trace->nsites];
}

static bool ends_itself(const struct tr_thread *t)
{
	return t->complete && !t->ran_on;
}

/* `by_jump`: that may have been one. */
static void left_open(struct nest_check *c, const struct replay_entry *entry, bool by_jump)
{
	struct unmatched *u = unmatched_of(c, entry->site);
	if (by_jump) {
		c->first_jumped = c->jumped ? c->first_jumped : entry->site;
		c->jumped += entry->times;
		return;
	}
	if (!u->enters || entry->stamp < u->first_enter)
		u->first_enter = entry->stamp;
	u->enters += entry->times;
}

/* A call of MPI is left where it was entered, by the same function of dprof's: no jump leads into it, but for a thread that says
 * that it switches stacks. If its enter is missing, so is what it sent: who looks for that finds the sends of later calls. */
static bool no_jump_leads_to(const struct nest_check *c, uint32_t site)
{
	return tr_is(c->trace, site, OP_MPI | OP_MESSAGE) && !c->trace->threads[c->thread].switches;
}

static void check_event(struct nest_check *c, const struct tr_event *e)
{
	if (e->op == DPROF_ENTER)
		replay_enter(&c->replay, tr_entry(c->trace, e));
	if (e->op != DPROF_EXIT)
		return;
	size_t closed = replay_exit(&c->replay, e->site);
	if (!closed && !no_jump_leads_to(c, e->site) &&
	    jumps_explain(c->trace, &c->trace->threads[c->thread], e->site, e->stamp, false)) {
		c->came++;
		return;
	}
	if (!closed) {
		struct unmatched *u = unmatched_of(c, e->site);
		if (!u->exits++)
			u->first_exit = e->stamp;
		return;
	}
	bool explained = jumps_explain(c->trace, &c->trace->threads[c->thread], e->site, e->stamp, c->replay.depth == 0);
	for (; closed > 1; closed--)
		left_open(c, &c->replay.entry[c->replay.depth + closed - 1], explained);
}

/* Where records are lost, so may be what is missing of a pair. */
static void note_jumps(struct nest_check *c)
{
	struct trace *t = c->trace;
	if ((!c->jumped && !c->came) || t->threads[c->thread].lost)
		return;
	char *who = name_thread(t, c->thread), *first = c->jumped ? name_site(t, c->first_jumped) : mem_copy("");
	char *came = c->came ? mem_format(", and %" PRIu64 " exit%s no enter: it may be anywhere at any time", c->came,
					  c->came > 1 ? "s have" : " has")
			     : mem_copy("");
	*MEM_GROW(t->notes, t->nnotes) = mem_format(
		"%s: it jumped (longjmp, an exception, another stack, pthread_exit, exit), so %" PRIu64 " enter%s no exit%s%s%s%s", who,
		c->jumped, c->jumped == 1 ? " has" : "s have", *first ? ", first of " : "", first, came,
		c->came ? "" : ": how long it was there is an interval");
	free(came);
	free(first);
	free(who);
}

static void say(struct trace *t, size_t thread, size_t site, uint64_t count, uint64_t stamp,
		const char *what)
{
	if (!count)
		return;
	char *who = name_thread(t, thread), *where = name_site(t, site);
	trace_diagnose(t, "%s: %s is %s, %" PRIu64 " time%s, first at stamp %" PRIu64, who, where,
		       what, count, count > 1 ? "s" : "", stamp);
	free(who);
	free(where);
}

/* Where what a thread does in a group is counted; NULL: it is no member. As a rule the group is that of the operation
 * before. */
struct check_part { uint64_t id, *took_part, *last; bool *failed; };

/* Groups stand in the order of their ids, their threads in the order of the trace's. */
static struct check_part find_part(const struct trace *t, uint32_t thread, uint64_t id, const struct check_totals *totals)
{
	const struct tr_group *g = trace_group(t, id);
	const uint32_t *member =
		g ? bsearch(&thread, g->threads, g->nthreads, sizeof thread, order_uint32) : NULL;
	if (!member)
		return (struct check_part){ .id = id };
	return (struct check_part){ id, &totals->took_part[g - t->groups][member - g->threads],
			      &totals->last[g - t->groups][member - g->threads],
			      &totals->failed[g - t->groups][member - g->threads] };
}

static void count_part(const struct check_part *part, uint64_t operation)
{
	if (!part->took_part)
		return;
	*part->took_part += !operation || *part->last != operation;
	*part->last = operation;
}

/* The group of a message says within which ranks are counted, not who takes part. */
static bool is_of_all(const struct trace *t, const struct tr_what *what)
{
	return what->keys >> DPROF_KEY_GROUP & 1 && what->op == DPROF_ENTER && !tr_is(t, what->site, OP_MESSAGE);
}

/* Who cancels a region says so. */
static bool is_cancel(const struct trace *t, const struct tr_what *what)
{
	return what->op == DPROF_POINT && tr_is(t, what->site, OP_GIVES_OUT) && what->keys >> DPROF_KEY_ROLE & 1;
}

static void note_cancelled(const struct trace *t, uint64_t id, struct check_totals *totals)
{
	const struct tr_group *g = trace_group(t, id);
	if (g)
		__atomic_store_n(&totals->cancelled[g - t->groups], true, __ATOMIC_RELAXED);
}

static void note_failed(const struct check_totals *totals, size_t thread, uint32_t site, const struct check_part *part)
{
	if (totals->failed_at[thread] == TR_NO_SITE)
		totals->failed_at[thread] = site;
	if (part->failed)
		*part->failed = true;
}

/* Who runs tasks meanwhile enters the same one again. 0: it has no number. */
static uint64_t number_of(const struct trace *t, const struct tr_columns *k, size_t i)
{
	uint32_t site = trace_what(t, k, i)->site;
	uint64_t seq = trace_value(t, k, i, DPROF_KEY_SEQ, UINT64_MAX);
	return seq == UINT64_MAX ? 0 : seq << 8 | (site == TR_NO_SITE ? DPROF_KIND_NONE : t->sites[site].kind);
}

static bool is_automatic(const struct trace *t, uint32_t site)
{
	return site != TR_NO_SITE && t->sites[site].automatic;
}

/* A thread beside the first that waited when its process ended in good order, such as a consumer for the next job: that
 * was its last event, and a thread that ends has one more. */
static bool is_parked(const struct nest_check *c, uint64_t last)
{
	const struct trace *t = c->trace;
	const struct replay_entry *inner = replay_top(&c->replay);
	return t->threads[c->thread].complete && t->threads[c->thread].number > 0 && inner &&
	       inner->stamp == last && inner->is & OP_PARKS;
}

/* What the thread was in when its process ended is no damage, but worth a note. */
static void note_open(struct trace *t, size_t thread, uint32_t site)
{
	bool marked = site != TR_NO_SITE && t->sites[site].kind == DPROF_KIND_REGION && !is_automatic(t, site);
	if (!marked)
		return;
	char *who = name_thread(t, thread), *where = name_site(t, site);
	*MEM_GROW(t->notes, t->nnotes) = mem_format(
		t->threads[thread].nopen
			? "%s: its process ended inside of %s, which lasts until then"
			: "%s: when its process ended, %s had not been left; as the thread may have jumped (longjmp, an "
			  "exception, another stack), it is not known whether it was still there", who, where);
	free(who);
	free(where);
}

static void note_all_open(struct nest_check *c)
{
	struct trace *t = c->trace;
	const struct tr_thread *self = &t->threads[c->thread];
	for (size_t i = 0; i < self->nopen; i++)
		note_open(t, c->thread, self->open[i]);
	for (size_t i = c->replay.depth; i-- > 0 && self->complete && self->ran_on && !self->nopen;)
		note_open(t, c->thread, c->replay.entry[i].site);
}

/* What of the trace's whats is looked at; and in which of them somebody cancels. */
struct check_counting { const struct trace *trace; struct check_totals *totals; bool *counts, *cancels; struct tr_wanted wanted; };

static void begin_counting(struct check_counting *c)
{
	size_t n = trace_kinds(c->trace);
	c->counts = mem_resize(NULL, n + 1, sizeof *c->counts);
	c->cancels = mem_resize(NULL, n + 1, sizeof *c->cancels);
	for (size_t i = 0; i < n; i++) {
		const struct tr_what *what = &c->trace->whats[i];
		c->cancels[i] = is_cancel(c->trace, what);
		c->counts[i] = c->cancels[i] || is_of_all(c->trace, what);
	}
	c->wanted = trace_wanted(c->trace, c->counts);
}

static void end_counting(struct check_counting *c)
{
	trace_wanted_close(&c->wanted);
	free(c->counts);
	free(c->cancels);
}

/* From event i on, the first that counts. */
static inline size_t next_counting(const bool *counts, const struct tr_columns *k, size_t i)
{
	while (i < k->n && !counts[k->what[i]])
		i++;
	return i;
}

static void count_event(const struct check_counting *c, size_t thread, const struct tr_columns *k, size_t i,
			struct check_part *part)
{
	const struct trace *t = c->trace;
	uint64_t id = trace_value(t, k, i, DPROF_KEY_GROUP, 0);
	if (c->cancels[k->what[i]]) {
		note_cancelled(t, id, c->totals);
		return;
	}
	if (!part->took_part || part->id != id)
		*part = find_part(t, (uint32_t)thread, id, c->totals);
	count_part(part, number_of(t, k, i));
	if (trace_value(t, k, i, DPROF_KEY_PEER, 0) == DPROF_PEER_NONE)
		note_failed(c->totals, thread, trace_what(t, k, i)->site, part);
}

/* What it counts is of this thread alone, but for what was cancelled. */
static void count_events(void *counting, size_t thread, size_t worker)
{
	const struct check_counting *c = counting;
	const struct tr_blocks *b = c->trace->threads[thread].blocks;
	struct check_part part = { .id = 0 };
	struct tr_columns k;
	(void)worker;
	c->totals->events[thread] = b ? b->n - b->losses : 0;
	if (!b || !(b->kinds & c->wanted.kinds[b->writer]))
		return;
	struct tr_cursor cursor = trace_events(c->trace, thread);
	while (trace_columns(&cursor, &k))
		for (size_t i = next_counting(c->counts, &k, 0); i < k.n; i = next_counting(c->counts, &k, i + 1))
			count_event(c, thread, &k, i, &part);
	trace_end(&cursor);
}

/* The stamp of the last event. */
static uint64_t check_events(struct nest_check *c)
{
	struct tr_cursor cursor = trace_events(c->trace, c->thread);
	uint64_t last = 0;
	for (struct tr_event e; trace_next_bare(&cursor, &e); last = e.stamp)
		check_event(c, &e);
	trace_end(&cursor);
	return last;
}

static void note_switches(struct nest_check *c)
{
	struct trace *t = c->trace;
	const struct tr_jumps *jumps = t->threads[c->thread].jumps;
	if (!jumps || jumps->switched_in == TR_NO_SITE)
		return;
	char *who = name_thread(t, c->thread), *where = name_site(t, jumps->switched_in);
	*MEM_GROW(t->notes, t->nnotes) = mem_format("%s: it switched stacks (swapcontext, setcontext, longjmp) inside "
						    "of %s: it may be anywhere at any time", who, where);
	free(where);
	free(who);
}

/* What was open when a thread was killed is no damage, nor when its process ended, nor what has
 * lost its other half to a lack of room. Nor is what the user did not mark, and pthread_exit
 * ended. */
static void check_nesting(struct nest_check *c)
{
	struct trace *t = c->trace;
	replay_open(&c->replay, t->nsites);
	memset(c->of_site, 0, (t->nsites + 1) * sizeof *c->of_site);
	c->jumped = c->came = 0;
	/* Where nothing jumped each enter has its exit, or lasts (trace_jumps.h). */
	uint64_t last = t->threads[c->thread].jumps ? check_events(c) : 0;
	note_all_open(c);
	bool ended = ends_itself(&t->threads[c->thread]);
	for (const struct replay_entry *top; (top = replay_top(&c->replay)) && ended && !is_parked(c, last);) {
		if (!is_automatic(t, top->site)) /* pthread_exit, cancellation: where jumps are noticed, nothing is missing */
			left_open(c, top, t->threads[c->thread].may_jump != 0);
		replay_exit(&c->replay, top->site);
	}
	note_jumps(c);
	note_switches(c);
	replay_close(&c->replay);
	for (size_t site = 0; site <= t->nsites && !t->threads[c->thread].lost; site++) {
		const struct unmatched *u = &c->of_site[site];
		say(t, c->thread, site, u->enters, u->first_enter, "entered and never left");
		say(t, c->thread, site, u->exits, u->first_exit,
		    "left without having been entered");
	}
}

/* ---- Threads and groups ---------------------------------------------------------------------- */

static void check_losses(struct trace *t, size_t thread)
{
	const struct tr_thread *self = &t->threads[thread];
	if (!self->dropped)
		return;
	char *who = name_thread(t, thread), *why = trace_why(self->why);
	trace_diagnose(t,
		       "%s: expected all records, found %" PRIu64 " dropped%s",
			       who,
		       self->dropped, why);
	free(who);
	free(why);
}

/* A thread of a team whose process was ended, in good order, by one of the team that did not come to its next barrier. */
static bool was_ended(const struct trace *t, const struct tr_group *g, uint32_t thread)
{
	const struct tr_thread *self = &t->threads[thread];
	bool team = true;
	for (size_t i = 0; i < g->nthreads; i++)
		team &= t->threads[g->threads[i]].process == self->process;
	return team && t->processes[self->process].finished && self->complete && self->ran_on && !self->lost && !self->gaps;
}

/* How often each member of a group took part; they should all agree, but for those to whom MPI returned an error there. A group
 * that was never used is fine. */
static void check_group(struct trace *t, const struct tr_group *g, const uint64_t *times, const bool *failed, bool cancelled)
{
	uint64_t most = 0;
	for (size_t i = 0; i < g->nthreads; i++)
		most = times[i] > most && !failed[i] ? times[i] : most;
	if (most && g->nthreads < g->size)
		trace_diagnose(t, "group %" PRIu64 ": expected %zu participants, found %zu", g->id,
			       g->size, g->nthreads);
	for (size_t i = 0; i < g->nthreads && g->nthreads <= g->size && !cancelled; i++) {
		if (failed[i] || times[i] == most || (times[i] + 1 == most && was_ended(t, g, g->threads[i])))
			continue;
		char *who = name_thread(t, g->threads[i]);
		trace_diagnose(t,
			       "group %" PRIu64
			       ": expected each participant as often as the others (%" PRIu64
			       "), found %s less often (%" PRIu64 ")",
			       g->id, most, who, times[i]);
		free(who);
	}
}

static void begin_groups(const struct trace *t, struct check_totals *totals)
{
	totals->took_part = mem_resize(NULL, t->ngroups, sizeof *totals->took_part);
	totals->last = mem_resize(NULL, t->ngroups, sizeof *totals->last);
	totals->cancelled = mem_resize(NULL, t->ngroups, sizeof *totals->cancelled);
	totals->failed = mem_resize(NULL, t->ngroups, sizeof *totals->failed);
	totals->failed_at = mem_resize(NULL, t->nthreads + 1, sizeof *totals->failed_at);
	for (size_t i = 0; i < t->nthreads; i++)
		totals->failed_at[i] = TR_NO_SITE;
	for (size_t i = 0; i < t->ngroups; i++) {
		size_t n = t->groups[i].nthreads;
		totals->cancelled[i] = false;
		totals->took_part[i] = mem_zeroed(n, sizeof **totals->took_part);
		totals->last[i] = mem_zeroed(n, sizeof **totals->last);
		totals->failed[i] = mem_zeroed(n, sizeof **totals->failed);
	}
}

/* That is no damage; but what is not known for it, somebody should know. */
static void say_failed(struct trace *t, size_t thread, uint32_t site)
{
	if (site == TR_NO_SITE)
		return;
	char *who = name_thread(t, thread), *where = name_site(t, site);
	*MEM_GROW(t->notes, t->nnotes) =
		mem_format("%s: MPI returned an error at %s, or at a collective operation before it; which operations of other "
			   "ranks those of that communicator belong to from there on is not known", who, where);
	free(where);
	free(who);
}

static void check_groups(struct trace *t, struct check_totals *totals)
{
	for (size_t i = 0; i < t->ngroups; i++) {
		check_group(t, &t->groups[i], totals->took_part[i], totals->failed[i], totals->cancelled[i]);
		free(totals->took_part[i]);
		free(totals->failed[i]);
		free(totals->last[i]);
	}
	free(totals->took_part);
	free(totals->last);
	free(totals->cancelled);
	free(totals->failed);
	for (size_t i = 0; i < t->nthreads; i++)
		say_failed(t, i, totals->failed_at[i]);
	free(totals->failed_at);
}

uint64_t trace_check(struct trace *t)
{
	struct check_totals totals = { .events = mem_resize(NULL, t->nthreads + 1, sizeof *totals.events) };
	struct nest_check check = { .trace = t };
	uint64_t events = 0;
	begin_groups(t, &totals);
	check.of_site = mem_resize(NULL, t->nsites + 1, sizeof *check.of_site);
	for (check.thread = 0; check.thread < t->nthreads; check.thread++) {
		check_losses(t, check.thread);
		check_nesting(&check);
	}
	free(check.of_site);
	struct check_counting counting = { .trace = t, .totals = &totals };
	begin_counting(&counting);
	pool_run(t->nthreads, pool_workers(t->nthreads), count_events, &counting);
	end_counting(&counting);
	for (size_t i = 0; i < t->nthreads; i++)
		events += totals.events[i];
	free(totals.events);
	check_groups(t, &totals);
	return events;
}

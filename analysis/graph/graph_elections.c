/* SPDX-License-Identifier: MIT
 *
 * graph_elections.c - threads of which one does more, the first or the last that comes to a lock:
 *
 *   lock, last = ++done == all, unlock, if (last) reduce           lock, if (!ready++) initialise, unlock
 *
 * Of the number there is no record, but of what each of them does behind the lock, and while it has it: the marked regions that
 * begin there, and outside of those sleeps, messages, input and output. Where threads that take a lock at one place do different
 * things while they have it, what they find there may decide: in another run each of them may do what another does here. (Of what
 * they do behind it graph_pools.c says so.)
 *
 * Expected is that whoever comes as the first, second, ... does what that one does here, if each comes once between two barriers,
 * all but the first or the last of them do alike, and all are of one team, or were created in one place. Where they differ only
 * behind the lock, of two each is a last one: that tells nothing. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_locks.h"

#define MOST_TAKES 8 /* of a lock, by one thread between two barriers */

/* What a thread had done up to an event: numbers that stand for sequences, of all, and of what is not the same as just before. */
struct sequence { uint64_t hash, n; };
struct did { struct sequence all, changes; };

/* A thread took a lock, gave it back, and came to its next barrier or its end, which is the last event. */
struct voter {
	uint64_t lock;            /* a number of its own */
	struct take_place place;
	uint32_t epoch;
	bool pool;                /* the lock is of a pool of work: that another run may do other things behind it has been said */
	struct event_ref took, left, comes, over; /* over: behind the barrier */
	struct did at_took, at_left, at_end;
};

/* What it had done when; and since when it had been in the operation that it left then, or NULL: not asked. */
struct moment_of_voter { uint32_t thread; uint64_t at; struct did *did; struct event_ref *since; };

/* ---- Who takes a lock ----------------------------------------------------------------------------- */

static bool same_place(struct take_place a, struct take_place b)
{
	return a.site == b.site && a.role == b.role;
}

/* Of t[0 .. n), which are all of one stretch. */
static bool comes_once(const struct take *t, size_t n, size_t i)
{
	size_t here = 0;
	for (size_t k = 0; k < n; k++)
		here += same_place(t[k].place, t[i].place);
	return here == 1;
}

void graph_note_voters(struct builder *b, struct voter_records *voters, uint64_t lock, const struct take *t, size_t n, bool pool)
{
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && t[next].ref.thread == t[i].ref.thread && t[next].epoch == t[i].epoch;)
			next++;
		for (size_t k = i; k < next && next - i <= MOST_TAKES; k++)
			if (t[k].left.at != NO_EVENT && comes_once(t + i, next - i, k - i)) {
				struct event_ref over = graph_end_of_take(b, &t[k]);
				*SPILL_GROW(b->spill, voters->v, voters->n) = (struct voter){
					.lock = lock, .place = t[k].place, .epoch = t[k].epoch, .pool = pool,
					.took = t[k].ref, .left = t[k].left, .comes = over, .over = over };
			}
	}
}

static int by_place(const void *x, const void *y)
{
	const struct voter *a = x, *b = y;
	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	if (a->place.site != b->place.site)
		return a->place.site < b->place.site ? -1 : 1;
	return ORDER_4(a, b, place.role, epoch, took.stamp, took.thread);
}

static bool of_one_place(const struct voter *a, const struct voter *b)
{
	return a->lock == b->lock && same_place(a->place, b->place);
}

/* ---- What they do --------------------------------------------------------------------------------- */

static int by_moment(const void *x, const void *y)
{
	const struct moment_of_voter *a = x, *b = y;
	return ORDER_2(a, b, thread, at);
}

#define FACTOR UINT64_C(0x9e3779b97f4a7c15) /* of a polynomial */

static void do_more(struct sequence *s, uint32_t site)
{
	s->hash = s->hash * FACTOR + site + 1;
	s->n++;
}

/* From each first one to its end. */
static bool are_alike(struct sequence a, struct sequence a_end, struct sequence b, struct sequence b_end)
{
	uint64_t n = a_end.n - a.n, power = 1;
	if (n != b_end.n - b.n)
		return false;
	for (uint64_t square = FACTOR; n; n >>= 1, square *= square)
		power *= n & 1 ? square : 1;
	return a_end.hash - a.hash * power == b_end.hash - b.hash * power;
}

/* A thread on the way through its events. */
struct follower {
	struct did did;
	uint32_t last;            /* site of its last region, if no operation has come since; or TR_NO_SITE */
	uint64_t depth;           /* of marked regions */
	struct event_ref enter;   /* of its outermost operation */
	struct replay operations;
};

static void note_event(const struct trace *trace, struct follower *f, const struct tr_event *e, struct event_ref ref)
{
	const uint32_t does = DPROF_KIND_BIT(DPROF_KIND_SEND) | DPROF_KIND_BIT(DPROF_KIND_RECV) | DPROF_KIND_BIT(DPROF_KIND_IO) |
			      DPROF_KIND_BIT(DPROF_KIND_SLEEP) | DPROF_KIND_BIT(DPROF_KIND_FORK);
	bool region = tr_is_marked(trace, e->site);
	bool other = f->depth == 0 && does >> trace->sites[e->site].kind & 1, waits = tr_is(trace, e->site, OP_OTHERS);
	if (e->op == DPROF_ENTER && (region || other)) {
		do_more(&f->did.all, e->site);
		if (e->site != f->last)
			do_more(&f->did.changes, e->site);
	}
	f->last = waits ? TR_NO_SITE : e->op == DPROF_ENTER && region ? e->site : f->last;
	f->depth += region && e->op == DPROF_ENTER;
	f->depth -= region && e->op == DPROF_EXIT && f->depth > 0;
	if (waits && e->op == DPROF_ENTER && f->operations.depth == 0)
		f->enter = ref;
	if (waits && e->op == DPROF_ENTER)
		replay_enter(&f->operations, tr_entry(trace, e));
	else if (waits && e->op == DPROF_EXIT)
		replay_exit(&f->operations, e->site);
}

/* Moments of one thread. */
static void follow(const struct builder *b, const struct moment_of_voter *m, size_t n)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, m->thread);
	struct follower f = { .last = TR_NO_SITE };
	struct tr_event e;
	size_t next = 0;
	replay_open(&f.operations, trace->nsites);
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		bool known = e.op != DPROF_LOST && e.site < trace->nsites;
		if (known)
			note_event(trace, &f, &e, (struct event_ref){ m->thread, at, e.stamp });
		for (; next < n && m[next].at == at; next++) {
			*m[next].did = f.did;
			if (m[next].since && known && e.op == DPROF_EXIT && tr_is(trace, e.site, OP_OTHERS))
				*m[next].since = f.enter;
		}
	}
	replay_close(&f.operations);
	trace_end(&events);
}

static void follow_all(struct builder *b, const struct voter_records *voters)
{
	struct moment_of_voter *m = NULL;
	size_t n = 0;
	for (size_t i = 0; i < voters->n; i++, spill_relax(b->spill)) {
		struct voter *v = &voters->v[i];
		*SPILL_GROW(b->spill, m, n) = (struct moment_of_voter){ v->took.thread, v->took.at, &v->at_took, NULL };
		*SPILL_GROW(b->spill, m, n) = (struct moment_of_voter){ v->took.thread, v->left.at, &v->at_left, NULL };
		*SPILL_GROW(b->spill, m, n) = (struct moment_of_voter){ v->took.thread, v->over.at, &v->at_end, &v->comes };
	}
	runs_sort(b->spill, m, n, sizeof *m, by_moment);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && m[next].thread == m[i].thread;)
			next++;
		follow(b, m + i, next - i);
	}
	spill_free(b->spill, m);
}

/* While they have the lock, where it matters not how often one does the same; or up to their ends. */
static bool alike(const struct voter *a, const struct voter *b, bool inside)
{
	if (inside)
		return are_alike(a->at_took.changes, a->at_left.changes, b->at_took.changes, b->at_left.changes);
	return are_alike(a->at_took.all, a->at_end.all, b->at_took.all, b->at_end.all);
}

/* ---- Chance ------------------------------------------------------------------------------------------ */

/* v[0 .. n), of one place. */
static void leave_to_chance(struct builder *b, const struct voter *v, size_t n)
{
	bool several = false, differ = false;
	for (size_t i = 1; i < n; i++) {
		several |= v[i].took.thread != v->took.thread;
		differ |= !alike(&v[i], v, true);
	}
	if (v->pool || !several || !differ)
		return;
	graph_note_pool(b->graph, v->place.site);
	for (size_t i = 0; i < n; i++) {
		graph_set_schedule(b, v[i].took, GRAPH_POOL_ENTERED);
		if (v[i].over.at < b->graph->threads[v[i].over.thread].nevents - 1)
			graph_set_schedule(b, v[i].over, GRAPH_POOL_LEFT);
	}
}

/* ---- Elections --------------------------------------------------------------------------------------- */

enum elects { NONE_ELECTED, FIRST_ELECTED, LAST_ELECTED, EITHER_ELECTED, CONTRADICTS };

static bool are_of_one_kind(const struct builder *b, uint32_t s, uint32_t t)
{
	const struct trace *trace = b->graph->trace;
	bool created = b->threads[s].fork_site != TR_NO_SITE && b->threads[s].fork_site == b->threads[t].fork_site;
	bool team = b->threads[s].in_teams && b->threads[t].in_teams && trace->threads[s].process == trace->threads[t].process;
	return created || team;
}

/* v[0 .. n), of one place and epoch, in the order in which they came: who does otherwise than all others. */
static enum elects elected(const struct builder *b, const struct voter *v, size_t n, bool inside)
{
	size_t others = 0;
	if (n < 2 || (n == 2 && !inside))
		return NONE_ELECTED;
	for (size_t i = 1; i < n; i++)
		if (!are_of_one_kind(b, v->took.thread, v[i].took.thread))
			return NONE_ELECTED;
	for (size_t i = 1; i + 1 < n; i++) /* of which all do as the second one */
		others += alike(&v[i], &v[1], inside);
	bool first = !alike(&v[0], &v[1], inside), last = !alike(&v[n - 1], &v[n == 2 ? 0 : 1], inside);
	if (n == 2)
		return first ? EITHER_ELECTED : NONE_ELECTED;
	if (others != n - 2 || (first && last))
		return CONTRADICTS;
	return first ? FIRST_ELECTED : last ? LAST_ELECTED : NONE_ELECTED;
}

/* Between all barriers the same, where there is one. */
static enum elects elected_everywhere(const struct builder *b, const struct voter *v, size_t n, bool inside)
{
	enum elects all = NONE_ELECTED;
	for (size_t i = 0, next; i < n && all != CONTRADICTS; i = next) {
		for (next = i + 1; next < n && v[next].epoch == v[i].epoch;)
			next++;
		enum elects here = elected(b, v + i, next - i, inside);
		all = all == NONE_ELECTED ? here : here == NONE_ELECTED || here == all ? all : CONTRADICTS;
	}
	return all;
}

/* v[0 .. n), of one place: they do what they do here in the order in which they come. */
static void elect(struct builder *b, const struct voter *v, size_t n, bool inside)
{
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && v[next].epoch == v[i].epoch;)
			next++;
		enum elects here = elected(b, v + i, next - i, inside);
		uint32_t group = here == NONE_ELECTED ? 0 : graph_group(b, false);
		if (here != NONE_ELECTED)
			b->graph->groups[group].each = true;
		for (size_t k = i; k < next && here != NONE_ELECTED; k++) {
			graph_request(b, v[k].took, v[k].took, group);
			graph_point(b, inside ? v[k].left : v[k].comes, GRAPH_FINISHES, group);
		}
	}
}

void graph_elections(struct builder *b, struct voter_records *voters)
{
	follow_all(b, voters); /* in the order in which they were noted, which is that of threads */
	runs_sort(b->spill, voters->v, voters->n, sizeof *voters->v, by_place);
	for (size_t i = 0, next; i < voters->n; i = next) {
		const struct voter *v = &voters->v[i];
		for (next = i + 1; next < voters->n && of_one_place(v, &voters->v[next]);)
			next++;
		leave_to_chance(b, v, next - i);
		for (int outside = 0; outside < 2; outside++) {
			enum elects who = elected_everywhere(b, v, next - i, !outside);
			if (who != NONE_ELECTED && who != CONTRADICTS)
				elect(b, v, next - i, !outside);
			if (who != NONE_ELECTED)
				break;
		}
	}
	spill_free(b->spill, voters->v);
	*voters = (struct voter_records){ NULL, 0 };
}

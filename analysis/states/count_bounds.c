/* SPDX-License-Identifier: MIT
 *
 * count_bounds.c - merges the stretches of one clock's threads and counts.
 *
 * The counts are bounded by what each thread must and may be; a change of a thread takes its part
 * away and adds another. When some threads are uncertain, and few, their masks are tried one by
 * one. */
#include "analysis/states/count_bounds.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/merge.h"

#define MASKS 16               /* of one thread that are tried one by one */
#define TRIES 256              /* and of all threads together */

struct bounded_thread {        /* one thread */
	struct conditions conditions;
	struct condition_stretch now;
	struct condition condition; /* as counted; among unordered changes the join of them */
	struct state_set counted;
	bool merged;           /* is in count_bounds.merged */
};

/* Of one process and count: how many of its threads must, and may, have the atom. */
struct process_count { int32_t must, may; };

struct count_bounds {
	const struct query *query;
	size_t ncounts;
	uint64_t slack;        /* stamps that differ by no more are in unknown order */
	struct bounded_thread *members;
	size_t nmembers, nuncertain;
	uint32_t *of_counts;   /* of each member: bits of the counts in which it takes part */
	uint32_t *process;     /* of each member, numbered from 0 */
	struct process_count *parts; /* of each process, for all counts */
	struct merge ends;     /* of the members' stretches */
	int32_t *lo, *hi;      /* of the counts, now */
	size_t *merged, nmerged;
	bool at_change;        /* the next segment begins with one */
	bool ended;
	uint64_t stamp;        /* where the next segment begins */
	struct count_segment next; /* to be given out when it cannot get longer */
	struct count_segment before, after; /* what is said around changes at one stamp */
	bool has_next;
};

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Adds (by = 1) or takes away (by = -1) a member whose mask is in the set. */
static void count_set(struct count_bounds *c, size_t member, struct state_set set, int32_t by)
{
	for (uint32_t bits = c->of_counts[member]; bits; bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(bits);
		const struct query_count *count = &c->query->counts[i];
		int32_t must = by * (int32_t)(set.must >> count->atom & 1);
		int32_t may = by * (int32_t)(set.may >> count->atom & 1);
		if (count->ranks) {
			struct process_count *part = &c->parts[c->process[member] * c->ncounts + i];
			int32_t lo = part->must > 0, hi = part->may > 0;
			part->must += must;
			part->may += may;
			must = (part->must > 0) - lo;
			may = (part->may > 0) - hi;
		}
		c->lo[i] += must;
		c->hi[i] += may;
	}
}

static bool uncertain(const struct condition *c)
{
	return c->count > 1 || c->set[0].must != c->set[0].may;
}

static void set_states(struct count_bounds *c, size_t member, struct state_set set)
{
	struct bounded_thread *m = &c->members[member];
	count_set(c, member, m->counted, -1);
	m->counted = set;
	count_set(c, member, set, 1);
}

static void set_member(struct count_bounds *c, size_t member, const struct condition *condition)
{
	struct bounded_thread *m = &c->members[member];
	c->nuncertain -= uncertain(&m->condition);
	m->condition = *condition;
	c->nuncertain += uncertain(condition);
	set_states(c, member, condition_hull(condition));
}

/* ---- Choices --------------------------------------------------------------------------------- */

static size_t row_size(const struct count_bounds *c)
{
	return 2 * c->ncounts * sizeof(int32_t);
}

/* The counts as they are, unless they are there already. False without room. */
static bool add_choice(const struct count_bounds *c, struct count_choices *to)
{
	size_t half = c->ncounts * sizeof(int32_t);
	for (size_t i = 0; i < to->count; i++)
		if (memcmp(count_choice_lo(to, c->ncounts, i), c->lo, half) == 0 &&
		    memcmp(count_choice_hi(to, c->ncounts, i), c->hi, half) == 0)
			return true;
	if (to->count == COUNT_CHOICES)
		return false;
	memcpy(count_choice_lo(to, c->ncounts, to->count), c->lo, half);
	memcpy(count_choice_hi(to, c->ncounts, to->count), c->hi, half);
	to->count++;
	return true;
}

/* All masks in the condition; 0 when they are too many. */
static size_t list_masks(const struct condition *condition, uint32_t masks[MASKS])
{
	size_t count = 0;
	for (unsigned i = 0; i < condition->count; i++) {
		uint32_t open = condition->set[i].may & ~condition->set[i].must, chosen = 0;
		do { /* all subsets of the open bits */
			if (count == MASKS)
				return 0;
			masks[count++] = condition->set[i].must | chosen;
			chosen = (chosen - open) & open;
		} while (chosen);
	}
	return count;
}

/* Tries all masks of the uncertain members from `member` on. False when there are more choices than fit. */
static bool try_members(struct count_bounds *c, size_t member, struct count_choices *to)
{
	while (member < c->nmembers && !uncertain(&c->members[member].condition))
		member++;
	if (member == c->nmembers)
		return add_choice(c, to);
	uint32_t masks[MASKS];
	struct state_set whole = c->members[member].counted;
	size_t count = list_masks(&c->members[member].condition, masks);
	bool fits = count > 0;
	for (size_t i = 0; i < count && fits; i++) {
		set_states(c, member, (struct state_set){ masks[i], masks[i] });
		fits = try_members(c, member + 1, to);
	}
	set_states(c, member, whole);
	return fits;
}

/* Whether the masks of all uncertain members are few enough to be tried. */
static bool few_masks(const struct count_bounds *c)
{
	uint32_t masks[MASKS];
	size_t product = 1;
	for (size_t i = 0; i < c->nmembers && product > 0 && product <= TRIES; i++)
		if (uncertain(&c->members[i].condition))
			product *= list_masks(&c->members[i].condition, masks);
	return product > 0 && product <= TRIES;
}

static void describe(struct count_bounds *c, uint64_t from, uint64_t to, struct count_segment *out)
{
	out->from = from;
	out->to = to;
	out->choices.count = 0;
	if (c->nuncertain > 0 && few_masks(c) && try_members(c, 0, &out->choices))
		return;
	out->choices.count = 0;
	add_choice(c, &out->choices);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static uint64_t next_stamp(const struct count_bounds *c)
{
	return merge_first(&c->ends).key;
}

/* Takes the member whose stretch ends first to its next one. */
static size_t turn_first(struct count_bounds *c)
{
	uint32_t member = merge_first(&c->ends).source;
	struct bounded_thread *m = &c->members[member];
	conditions_next(&m->conditions, &m->now);
	merge_set(&c->ends, member, m->now.to);
	return member;
}

static void merge_states(struct count_bounds *c, size_t member)
{
	struct bounded_thread *m = &c->members[member];
	struct condition both = condition_join(m->condition, &m->now.condition);
	set_member(c, member, &both);
	if (!m->merged)
		c->merged[c->nmerged++] = member;
	m->merged = true;
}

static void settle_states(struct count_bounds *c)
{
	while (c->nmerged > 0) {
		struct bounded_thread *m = &c->members[c->merged[--c->nmerged]];
		m->merged = false;
		set_member(c, c->merged[c->nmerged], &m->now.condition);
	}
}

static bool unordered(const struct count_bounds *c, uint64_t stamp, uint64_t later)
{
	return later != PERIOD_AFTER && later - stamp <= c->slack;
}

/* Counts what changes at the next stamp; true when that is unordered, up to c->stamp. A thread with
 * several changes at one stamp is, too: it has been in all of these states. */
static bool cross(struct count_bounds *c)
{
	c->stamp = next_stamp(c);
	size_t member = turn_first(c);
	if (!unordered(c, c->stamp, next_stamp(c)) ||
	    (next_stamp(c) != c->stamp &&
	     !unordered(c, c->stamp, merge_least_but(&c->ends, (uint32_t)member)))) {
		set_member(c, member, &c->members[member].now.condition);
		return false;
	}
	describe(c, c->stamp, c->stamp, &c->before);
	merge_states(c, member);
	while (unordered(c, c->stamp, next_stamp(c))) {
		c->stamp = next_stamp(c);
		merge_states(c, turn_first(c));
	}
	return true;
}

/* Takes away what a neighbour says, whose ticks contain all of this. */
static void leave_to(const struct count_bounds *c, struct count_choices *x,
		     const struct count_choices *y)
{
	size_t kept = 0;
	for (size_t i = 0; i < x->count; i++) {
		const int32_t *row = count_choice_lo(x, c->ncounts, i);
		bool said = false;
		for (size_t j = 0; j < y->count; j++)
			said |= memcmp(row, count_choice_lo(y, c->ncounts, j), row_size(c)) == 0;
		if (!said)
			memmove(count_choice_lo(x, c->ncounts, kept++), row, row_size(c));
	}
	x->count = kept;
}

/* Changes in unknown order; false when their segment says nothing that its neighbours do not say.
 * */
static bool unordered_piece(struct count_bounds *c, uint64_t from, struct count_segment *out)
{
	describe(c, from, c->stamp, out);
	settle_states(c);
	if (from == c->stamp) {
		describe(c, from, c->stamp, &c->after);
		leave_to(c, &out->choices, &c->before.choices);
		leave_to(c, &out->choices, &c->after.choices);
	}
	return out->choices.count > 0;
}

/* The next segment; it may say the same as the one before. */
static bool next_piece(struct count_bounds *c, struct count_segment *out)
{
	if (c->ended)
		return false;
	if (c->at_change) {
		uint64_t from = next_stamp(c);
		c->at_change = false;
		if (cross(c) && unordered_piece(c, from, out))
			return true;
	}
	describe(c, c->stamp, next_stamp(c), out);
	c->at_change = true;
	c->ended = next_stamp(c) == PERIOD_AFTER;
	return true;
}

static bool says_the_same(const struct count_bounds *c, const struct count_segment *x,
			  const struct count_segment *y)
{
	return x->choices.count == y->choices.count &&
	       memcmp(x->choices.bounds, y->choices.bounds, x->choices.count * row_size(c)) == 0;
}

bool count_bounds_next(struct count_bounds *c, struct count_segment *out)
{
	if (!c->has_next && !next_piece(c, &c->next))
		return false;
	int32_t *room = out->choices.bounds;
	*out = c->next;
	c->next.choices.bounds = room;
	while ((c->has_next = next_piece(c, &c->next)) && says_the_same(c, out, &c->next))
		out->to = c->next.to;
	return true;
}

/* ---- Opening --------------------------------------------------------------------------------- */

void count_segment_open(struct count_segment *s, const struct query *q)
{
	*s = (struct count_segment){ .from = PERIOD_BEFORE };
	s->choices.bounds = mem_resize(NULL, COUNT_CHOICES * 2 * ((size_t)q->ncounts + 1),
				       sizeof *s->choices.bounds);
}

void count_segment_close(struct count_segment *s)
{
	free(s->choices.bounds);
}

static bool lives_on(const struct query *q, size_t thread, uint32_t clock)
{
	return q->trace->threads[thread].clock == clock && query_knows(q->trace, thread);
}

/* Threads of one process stand together in the trace. */
static void add_member(struct count_bounds *c, const struct atom_map *map, size_t thread)
{
	const struct tr_thread *threads = c->query->trace->threads;
	size_t member = c->nmembers++;
	struct bounded_thread *m = &c->members[member];
	*m = (struct bounded_thread){ .condition = { 1, { { 0, 0 } } } };
	bool same = member > 0 && c->members[member - 1].conditions.states.events.thread->process ==
					  threads[thread].process;
	c->process[member] = member == 0 ? 0 : c->process[member - 1] + !same;
	c->of_counts[member] = 0;
	for (uint32_t i = 0; i < c->ncounts; i++)
		if (c->query->counts[i].threads[thread])
			c->of_counts[member] |= UINT32_C(1) << i;
	conditions_open(&m->conditions, map, thread);
	conditions_next(&m->conditions, &m->now);
	set_member(c, member, &m->now.condition);
	merge_set(&c->ends, (uint32_t)member, m->now.to);
}

struct count_bounds *count_bounds_open(const struct atom_map *map, uint32_t clock)
{
	const struct query *q = map->query;
	size_t count = 0;
	for (size_t i = 0; i < q->trace->nthreads; i++)
		count += lives_on(q, i, clock);
	if (count == 0)
		return NULL;
	struct count_bounds *c = mem_resize(NULL, 1, sizeof *c);
	*c = (struct count_bounds){
		.query = q, .ncounts = q->ncounts,
		.slack = tr_slack(q->trace, clock),
		.members = mem_resize(NULL, count, sizeof *c->members),
		.of_counts = mem_resize(NULL, count, sizeof *c->of_counts),
		.process = mem_resize(NULL, count, sizeof *c->process),
		.parts = mem_zeroed(count * (q->ncounts + 1), sizeof *c->parts),
		.lo = mem_zeroed(2 * (q->ncounts + 1), sizeof *c->lo),
		.merged = mem_resize(NULL, count, sizeof *c->merged),
	};
	merge_open(&c->ends, count);
	c->hi = c->lo + c->ncounts;
	count_segment_open(&c->next, q);
	count_segment_open(&c->before, q);
	count_segment_open(&c->after, q);
	for (size_t i = 0; i < q->trace->nthreads; i++)
		if (lives_on(q, i, clock))
			add_member(c, map, i);
	return c;
}

void count_bounds_close(struct count_bounds *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nmembers; i++)
		conditions_close(&c->members[i].conditions);
	count_segment_close(&c->next);
	count_segment_close(&c->before);
	count_segment_close(&c->after);
	free(c->members);
	free(c->of_counts);
	free(c->process);
	free(c->parts);
	merge_close(&c->ends);
	free(c->lo);
	free(c->merged);
	free(c);
}

void count_bounds_most(const struct query *q, uint32_t clock, int32_t *most)
{
	for (uint32_t i = 0; i < q->ncounts; i++) {
		uint32_t last = UINT32_MAX;
		for (size_t t = 0; t < q->trace->nthreads; t++) {
			const struct tr_thread *thread = &q->trace->threads[t];
			if (!lives_on(q, t, clock) || !q->counts[i].threads[t])
				continue;
			most[i] += !q->counts[i].ranks || thread->process != last;
			last = thread->process;
		}
	}
}

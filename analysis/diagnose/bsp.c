/* SPDX-License-Identifier: MIT
 *
 * bsp.c - see bsp.h. */
#include "analysis/diagnose/bsp.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/diagnose/list_names.h"
#include "analysis/diagnose/steps.h"
#include "analysis/match/match.h"
#include "analysis/trace/names.h"

struct bsp_finder {
	struct bsp *b;
	const struct graph *g;
	const struct part *part;     /* or NULL: all of the run */
	const struct neighbours *exchange; /* or NULL: there is none */
	struct graph_last *last;
	enum event_role *role_of;    /* nobody has one */
	bool *alone;                 /* of each row: only one thread is ever in it */
	uint64_t *ticks;             /* of each row, of all threads */
	struct bsp_thread {          /* of one thread: */
		frz_time *steps;     /* what it works in each superstep, */
		uint64_t *rows;      /* and ticks of each row */
	} now, longest;
	struct { frz_time *besides, *alone; } does; /* of one, in each superstep: what is no work, and what it does alone */
	uint64_t alone_ticks;        /* the most of what one does alone, */
	frz_time alone_time;         /* likewise */
	bool *is_round;              /* of each time they come together: with their neighbours only */
	struct { frz_time *work, *whole; } of; /* with these: of each thread, what it works in each superstep, without and with
						  what it does alone */
};

/* ---- Where they come together ---------------------------------------------------------------- */

/* In the part, and nobody else. */
static bool is_within(const struct bsp_finder *f, const struct match *m)
{
	bool within = true;
	for (size_t i = 0; i < m->nparts && within && f->part; i++) {
		const struct match_part *p = &m->parts[i];
		const struct steps_window *w = &f->part->windows[p->thread];
		within = part_has(f->part, f->g->trace->threads[p->thread].process) && p->enter >= w->from && p->enter < w->to;
	}
	return within;
}

static void forget_threads(struct bsp *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->enters[i]);
	free(b->enters);
	free(b->threads);
	*b = (struct bsp){ .alone = UINT32_MAX };
}

static void begin_threads(struct bsp_finder *f, size_t n, uint32_t *place_of)
{
	struct bsp *b = f->b;
	forget_threads(b);
	b->n = n;
	b->threads = mem_resize(NULL, n, sizeof *b->threads);
	b->enters = mem_zeroed(n, sizeof *b->enters);
	memset(place_of, 0xff, (f->g->trace->nthreads + 1) * sizeof *place_of);
}

static void add_thread(struct bsp *b, size_t at, uint32_t thread, uint32_t *place_of)
{
	b->threads[at] = thread;
	place_of[thread] = (uint32_t)at;
}

static void begin_with_neighbours(struct bsp_finder *f, uint32_t *place_of)
{
	begin_threads(f, f->exchange->n, place_of);
	for (size_t i = 0; i < f->exchange->n; i++)
		add_thread(f->b, i, f->exchange->threads[i], place_of);
	f->b->operation = TR_NO_SITE;
}

/* But if others take part. Of one that a thread enters with the one before (they have one stamp) no superstep would begin. */
static void add_enters(struct bsp *b, const struct match *m, const uint32_t *place_of)
{
	size_t k = b->nenters;
	for (size_t i = 0; i < m->nparts; i++) {
		size_t at = place_of[m->parts[i].thread];
		if (at >= b->n || (k && b->enters[at][k - 1] >= m->parts[i].enter))
			return;
	}
	for (size_t i = 0; i < m->nparts; i++) {
		size_t at = place_of[m->parts[i].thread], n = k;
		*MEM_GROW(b->enters[at], n) = m->parts[i].enter;
	}
	b->nenters++;
}

/* Whether a thread meets itself, as where records are there twice. `last`: for each thread the number of the match it was
 * seen in. */
static bool has_twice(const struct match *m, uint64_t *last, uint64_t number)
{
	for (size_t i = 0; i < m->nparts; i++) {
		if (last[m->parts[i].thread] == number)
			return true;
		last[m->parts[i].thread] = number;
	}
	return false;
}

/* ---- Who comes together ---------------------------------------------------------------------- */

/* Threads that come together, in ascending order, and how often they do. */
struct bsp_set {
	uint32_t *threads; size_t n;
	size_t nprocesses;           /* that these are of */
	uint64_t times;
	size_t next;                 /* of those that begin with the same thread, or NO_SET */
};
#define NO_SET SIZE_MAX

/* All that are as wide as any: of most processes, and of these with most threads. */
struct bsp_sets {
	struct bsp_set *list; size_t n;
	size_t *from;                /* of each thread: the last set that begins with it, or NO_SET */
	uint64_t *seen, number;      /* of each process: the last match it was seen in */
	uint32_t *threads;           /* of one match, in ascending order */
};

static struct bsp_sets sets_open(const struct trace *trace)
{
	struct bsp_sets s = { .from = mem_resize(NULL, trace->nthreads + 1, sizeof *s.from),
			      .seen = mem_zeroed(trace->nprocesses + 1, sizeof *s.seen),
			      .threads = mem_resize(NULL, trace->nthreads + 1, sizeof *s.threads) };
	memset(s.from, 0xff, (trace->nthreads + 1) * sizeof *s.from);
	return s;
}

static void forget_sets(struct bsp_sets *s)
{
	for (size_t i = 0; i < s->n; i++) {
		s->from[s->list[i].threads[0]] = NO_SET;
		free(s->list[i].threads);
	}
	s->n = 0;
}

static void sets_close(struct bsp_sets *s)
{
	forget_sets(s);
	free(s->list);
	free(s->from);
	free(s->seen);
	free(s->threads);
}

static size_t count_processes(struct bsp_sets *s, const struct trace *trace, const struct match *m)
{
	size_t n = 0;
	s->number++;
	for (size_t i = 0; i < m->nparts; i++) {
		uint64_t *seen = &s->seen[trace->threads[m->parts[i].thread].process];
		n += *seen != s->number;
		*seen = s->number;
	}
	return n;
}

static int by_width(const struct bsp_set *a, const struct bsp_set *b)
{
	return ORDER_2(a, b, nprocesses, n);
}

static struct bsp_set *find_set(struct bsp_sets *s, const struct bsp_set *like)
{
	size_t i = s->from[like->threads[0]];
	while (i != NO_SET && memcmp(s->list[i].threads, like->threads, like->n * sizeof *like->threads) != 0)
		i = s->list[i].next;
	return i != NO_SET ? &s->list[i] : NULL;
}

static void add_set(struct bsp_sets *s, struct bsp_set set)
{
	size_t *from = &s->from[set.threads[0]];
	uint32_t *threads = mem_resize(NULL, set.n, sizeof *threads);
	memcpy(threads, set.threads, set.n * sizeof *threads);
	set.threads = threads;
	set.next = *from;
	*from = s->n;
	*MEM_GROW(s->list, s->n) = set;
}

/* Of a match in which no thread is twice. */
static void count_set(struct bsp_sets *s, const struct trace *trace, const struct match *m)
{
	struct bsp_set set = { .threads = s->threads, .n = m->nparts, .nprocesses = count_processes(s, trace, m), .times = 1 };
	int wider = s->n ? by_width(&set, &s->list[0]) : 1;
	if (wider < 0)
		return;
	if (wider > 0)
		forget_sets(s);
	for (size_t i = 0; i < m->nparts; i++)
		s->threads[i] = m->parts[i].thread;
	qsort(s->threads, set.n, sizeof *s->threads, order_uint32);
	struct bsp_set *known = find_set(s, &set);
	if (known)
		known->times++;
	else
		add_set(s, set);
}

static bool is_before(const struct bsp_set *a, const struct bsp_set *b)
{
	size_t i = 0;
	while (i + 1 < a->n && a->threads[i] == b->threads[i])
		i++;
	return a->threads[i] < b->threads[i];
}

/* The one that comes together most often, of several the one with the first threads; or NULL. */
static const struct bsp_set *set_of_most(const struct bsp_sets *s)
{
	const struct bsp_set *most = s->n ? &s->list[0] : NULL;
	for (size_t i = 1; i < s->n; i++) {
		const struct bsp_set *x = &s->list[i];
		if (x->times > most->times || (x->times == most->times && is_before(x, most)))
			most = x;
	}
	return most;
}

/* ---- When ------------------------------------------------------------------------------------ */

/* Whether such a match may be one of those sought. */
static bool comes_into_question(const struct bsp_finder *f, const struct match *m, uint64_t *last, uint64_t *number)
{
	return match_synchronises(m) && is_within(f, m) && !has_twice(m, last, ++*number);
}

static void find_set_of_most(struct bsp_finder *f, uint32_t *place_of)
{
	const struct trace *trace = f->g->trace;
	struct match_walk *walk = match_walk_again(trace, f->g->times->program.matches);
	struct bsp_sets sets = sets_open(trace);
	uint64_t *last = mem_zeroed(trace->nthreads + 1, sizeof *last), number = 0;
	for (struct match m; match_walk_next(walk, &m);)
		if (comes_into_question(f, &m, last, &number))
			count_set(&sets, trace, &m);
	match_walk_close(walk);
	const struct bsp_set *most = set_of_most(&sets);
	begin_threads(f, most ? most->n : 0, place_of);
	for (size_t i = 0; most && i < most->n; i++)
		add_thread(f->b, i, most->threads[i], place_of);
	f->b->operation = TR_NO_SITE;
	sets_close(&sets);
	free(last);
}

static void find_enters(struct bsp_finder *f)
{
	const struct trace *trace = f->g->trace;
	uint32_t *place_of = mem_resize(NULL, trace->nthreads + 1, sizeof *place_of);
	uint64_t *last = mem_zeroed(trace->nthreads + 1, sizeof *last), number = 0;
	if (f->exchange)
		begin_with_neighbours(f, place_of);
	else
		find_set_of_most(f, place_of);
	struct match_walk *walk = match_walk_again(trace, f->g->times->program.matches);
	for (struct match m; match_walk_next(walk, &m);)
		if (m.nparts == f->b->n && comes_into_question(f, &m, last, &number))
			add_enters(f->b, &m, place_of);
	match_walk_close(walk);
	free(last);
	free(place_of);
}

/* ---- With neighbours ------------------------------------------------------------------------- */

/* Of one thread both, in order. `is_round` is found of the first one; false: it is not the same for this one. */
static bool merge(struct bsp_finder *f, size_t at, bool *is_round)
{
	const struct neighbours *x = f->exchange;
	size_t n = f->b->nenters + x->rounds, i = 0, k = 0;
	const uint64_t *all = f->b->enters[at];
	uint64_t *both = mem_resize(NULL, n + 1, sizeof *both);
	bool same = true;
	for (size_t to = 0; to < n && same; to++) {
		bool round = k < x->rounds && (i == f->b->nenters || x->enters[at][k] < all[i]);
		both[to] = round ? x->enters[at][k++] : all[i++];
		same = (at == 0 || is_round[to] == round) && (to == 0 || both[to - 1] < both[to]);
		is_round[to] = round;
	}
	free(f->b->enters[at]);
	f->b->enters[at] = both;
	return same;
}

static void take_rounds_only(struct bsp_finder *f)
{
	for (size_t at = 0; at < f->b->n; at++) {
		f->b->enters[at] = mem_resize(f->b->enters[at], f->exchange->rounds + 1, sizeof **f->b->enters);
		memcpy(f->b->enters[at], f->exchange->enters[at], f->exchange->rounds * sizeof **f->b->enters);
	}
	for (size_t k = 0; k < f->exchange->rounds; k++)
		f->is_round[k] = true;
}

/* Where these and those do not come in one order for all threads, only those with neighbours. */
static void add_rounds(struct bsp_finder *f)
{
	struct bsp *b = f->b;
	bool same = true;
	f->is_round = mem_resize(NULL, b->nenters + f->exchange->rounds + 1, sizeof *f->is_round);
	for (size_t at = 0; at < b->n && same; at++)
		same = merge(f, at, f->is_round);
	if (!same)
		take_rounds_only(f);
	b->rounds = f->exchange->rounds;
	b->nenters = same ? b->nenters + b->rounds : b->rounds;
}

/* When a thread begins its next superstep: when the last of those has come whom it waits for. */
static frz_time last_to_come(const struct bsp_finder *f, size_t at, size_t k, const frz_time *come)
{
	const struct neighbours *x = f->exchange;
	frz_time last = come[at];
	for (size_t i = x->from[at]; i < x->from[at + 1] && f->is_round[k]; i++)
		last = time_most(last, come[x->with[i]]);
	for (size_t i = 0; i < f->b->n && !f->is_round[k]; i++)
		last = time_most(last, come[i]);
	return last;
}

/* How long it all takes if nothing but work takes time, and whoever comes together waits for the last; of each thread, of
 * each superstep. */
static frz_time longest_way(const struct bsp_finder *f, const frz_time *of)
{
	const struct bsp *b = f->b;
	frz_time *begins = mem_zeroed(b->n, sizeof *begins), *come = mem_resize(NULL, b->n, sizeof *come), longest = { 0, 0 };
	for (size_t k = 0; k < b->nsteps; k++) {
		for (size_t at = 0; at < b->n; at++)
			come[at] = time_add(begins[at], of[at * b->nsteps + k]);
		for (size_t at = 0; at < b->n; at++) {
			begins[at] = k + 1 < b->nsteps ? last_to_come(f, at, k, come) : come[at];
			longest = time_most(longest, begins[at]);
		}
	}
	free(begins);
	free(come);
	return longest;
}

/* `all`: if all came together each time, and `most`: if only once. What a thread gives before it has done its work ties
 * others to less of that; what it gives when it has got something to more than that. */
static frz_time way_between(const struct bsp_finder *f, const frz_time *of, frz_time all, frz_time most)
{
	frz_time way = longest_way(f, of);
	const struct neighbours *x = f->exchange;
	int64_t least = ticks_minus(ticks_minus(way.lo, x->early), x->within), lo = least > most.lo ? least : most.lo;
	int64_t hi = x->at_once ? way.hi : ticks_plus(all.hi, x->within);
	return (frz_time){ lo, hi > lo ? hi : lo };
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void find_alone(struct bsp_finder *f, const struct call_profile *calls)
{
	size_t n = f->g->trace->nsites + 1;
	f->alone = mem_zeroed(n, sizeof *f->alone);
	for (size_t i = 0; i < calls->nflat; i++)
		if (tr_is(f->g->trace, calls->flat[i].site, OP_REGION))
			f->alone[calls->flat[i].site] = calls->flat[i].spread.nthreads == 1;
}

/* Of one thread in one superstep. */
struct bsp_sums { struct stretches work, alone, unclassified; };

static void add_to_step(struct superstep *s, uint32_t at, frz_time work, frz_time alone)
{
	s->whole = time_most(s->whole, time_add(work, alone));
	s->work = time_most(s->work, work);
	if (s->longest == UINT32_MAX || time_exceeds(work, s->of_longest)) {
		s->of_others = s->longest != UINT32_MAX && s->of_longest.hi > s->of_others ? s->of_longest.hi : s->of_others;
		s->longest = at;
		s->of_longest = work;
	} else {
		s->of_others = work.hi > s->of_others ? work.hi : s->of_others;
	}
}

/* Of what is not known until then: for how long it may have worked. */
static frz_time doubt_of(const struct steps *s, size_t *next, uint64_t until)
{
	frz_time doubt = { 0, 0 };
	for (; *next < s->n && s->list[*next].is.from < until; ++*next)
		if (!s->list[*next].known && s->list[*next].is.kind == EVENT_OTHER)
			doubt.hi = ticks_plus(doubt.hi, s->list[*next].is.took.hi);
	return doubt;
}

static void add_work(struct bsp_finder *f, uint32_t at, size_t k, frz_time work, frz_time alone)
{
	f->b->work[at] = time_add(f->b->work[at], work);
	f->now.steps[k] = work;
	f->does.alone[k] = alone;
	if (f->exchange) {
		f->of.work[at * f->b->nsteps + k] = work;
		f->of.whole[at * f->b->nsteps + k] = time_add(work, alone);
	}
	add_to_step(&f->b->steps[k], at, work, alone);
}

/* What the thread works in each superstep, and in which rows. */
static void add_steps(struct bsp_finder *f, uint32_t at, const struct steps *s)
{
	const struct trace *trace = f->g->trace;
	uint32_t thread = f->b->threads[at];
	bool marked = trace->processes[trace->threads[thread].process].marked;
	size_t next = 0, piece = 0;
	for (size_t k = 0; k <= f->b->nenters; k++) {
		uint64_t until = k < f->b->nenters ? f->b->enters[at][k] : UINT64_MAX;
		struct bsp_sums sums = { .work = { 0 } };
		for (; piece < s->npieces && s->pieces[piece].from < until; piece++) {
			const struct step_piece *p = &s->pieces[piece];
			bool in_region = p->site < trace->nsites, alone = in_region && f->alone[p->site];
			if (!in_region && marked) {
				stretches_add(&sums.unclassified, p->from, p->to);
				continue;
			}
			stretches_add(alone ? &sums.alone : &sums.work, p->from, p->to);
			f->now.rows[in_region ? p->site : trace->nsites] += p->to - p->from;
		}
		frz_time doubt = doubt_of(s, &next, until);
		f->does.besides[k] = times_sum(f->g->times, thread, sums.unclassified);
		add_work(f, at, k, time_add(times_sum(f->g->times, thread, sums.work), doubt),
			 times_sum(f->g->times, thread, sums.alone));
	}
}

static void count_longest(struct bsp *b, const frz_time *work)
{
	for (size_t k = 0; k < b->nsteps; k++) {
		const struct superstep *s = &b->steps[k];
		b->surely += s->longest == b->longest && s->of_longest.lo > s->of_others;
		b->possibly += work[k].hi >= s->work.lo && work[k].hi > 0;
	}
}

/* With neighbours by messages; with all by collective operations, of which `k` is the next. */
static bool comes_together(const struct bsp_finder *f, uint32_t at, const struct step *s, size_t *k)
{
	const struct bsp *b = f->b;
	enum event_kind kind = s->is.kind;
	while (*k < b->nenters && b->enters[at][*k] < s->is.from)
		++*k;
	bool message = kind == EVENT_SEND || kind == EVENT_RECEIVE || kind == EVENT_EXCHANGE ||
		       (kind == EVENT_OTHER && tr_is(f->g->trace, s->site, OP_MESSAGE | OP_REQUEST));
	return kind != EVENT_WORK && ((f->exchange && message) || (*k < b->nenters && b->enters[at][*k] == s->is.from));
}

/* What the operations took in which it came to the others. */
static void add_operations(struct bsp_finder *f, uint32_t at, const struct steps *s)
{
	struct bsp *b = f->b;
	for (size_t i = 0, k = 0; i < s->n; i++) {
		const struct step *step = &s->list[i];
		if (!comes_together(f, at, step, &k)) {
			frz_time took = { step->known ? step->is.took.lo : 0, step->is.took.hi };
			if (step->is.kind != EVENT_WORK)
				f->does.besides[k] = time_add(f->does.besides[k], took);
			continue;
		}
		b->operation = b->operation == TR_NO_SITE ? step->site : b->operation;
		b->lives[at].waiting = time_add(b->lives[at].waiting, step->is.waited);
		b->lives[at].transfer = time_add(b->lives[at].transfer, step->is.transfer);
	}
	b->waiting = time_add(b->waiting, b->lives[at].waiting);
	b->transfer = time_add(b->transfer, b->lives[at].transfer);
}

static frz_time hull(frz_time x, frz_time y)
{
	return (frz_time){ x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
}

/* What the thread does that is no work of a superstep. */
static void note_what_it_does(struct bsp_finder *f)
{
	for (size_t k = 0; k < f->b->nsteps; k++) {
		struct superstep *s = &f->b->steps[k];
		frz_time besides = f->does.besides[k], alone = f->does.alone[k];
		s->besides = hull(s->besides, besides);
		s->instead = hull(s->instead, time_add(besides, alone));
		s->alone.hi = ticks_plus(s->alone.hi, alone.hi);
		s->alone.lo = alone.hi > 0 && alone.lo < s->alone.lo ? alone.lo : s->alone.lo;
	}
}

/* ---- Where ----------------------------------------------------------------------------------- */

static uint32_t site_of(const struct bsp_finder *f, size_t row)
{
	return row < f->g->trace->nsites ? (uint32_t)row : TR_OUTSIDE;
}

static uint64_t *new_rows(const struct bsp_finder *f)
{
	size_t n = f->g->trace->nsites + 1;
	uint64_t *rows = mem_zeroed(n, sizeof *rows);
	return rows;
}

static void note_alone(struct bsp_finder *f, uint32_t at, const uint64_t *rows)
{
	uint64_t all = 0;
	uint32_t most = TR_NO_SITE;
	for (uint32_t row = 0; row < f->g->trace->nsites; row++) {
		if (!f->alone[row] || !rows[row])
			continue;
		all += rows[row];
		most = most == TR_NO_SITE || rows[row] > rows[most] ? row : most;
	}
	if (all <= f->alone_ticks)
		return;
	f->alone_ticks = all;
	f->alone_time = (frz_time){ 0, 0 };
	for (size_t k = 0; k < f->b->nsteps; k++)
		f->alone_time = time_add(f->alone_time, f->does.alone[k]);
	f->b->alone = f->b->threads[at];
	f->b->alone_place = (struct bsp_place){ most, rows[most] >= all / 2 };
}

/* The greatest of rows. */
static struct bsp_place place_of(const struct bsp_finder *f, const uint64_t *rows)
{
	size_t most = f->g->trace->nsites;
	uint64_t all = 0;
	for (size_t row = 0; row <= f->g->trace->nsites; row++) {
		all += rows[row];
		most = rows[row] > rows[most] ? row : most;
	}
	return (struct bsp_place){ site_of(f, most), rows[most] >= all / 2 };
}

/* `rows`: of the thread that works most; `longest`: of those that work longest in a superstep. */
static void find_places(struct bsp_finder *f, const uint64_t *rows, const uint64_t *longest)
{
	uint64_t *changes = new_rows(f), *more = new_rows(f), any = 0;
	for (size_t row = 0; row <= f->g->trace->nsites; row++) {
		uint64_t mean = f->ticks[row] / f->b->n;
		changes[row] = longest[row] < rows[row] ? 0 : longest[row] - rows[row];
		more[row] = f->alone[row] || rows[row] < mean ? 0 : rows[row] - mean;
		any |= changes[row];
	}
	f->b->place = place_of(f, any ? changes : longest);
	f->b->longest_place = place_of(f, more);
	free(changes);
	free(more);
}

static bool is_ever_longest(const struct bsp *b, uint32_t at)
{
	bool is = false;
	for (size_t k = 0; k < b->nsteps && !is; k++)
		is = b->steps[k].longest == at;
	return is;
}

/* Adds what it works in the supersteps in which it works longest, but alone. */
static void add_longest(const struct bsp_finder *f, uint32_t at, const struct steps *s, uint64_t *rows)
{
	const struct bsp *b = f->b;
	const struct trace *trace = f->g->trace;
	bool marked = trace->processes[trace->threads[b->threads[at]].process].marked;
	for (size_t i = 0, k = 0; i < s->npieces; i++) {
		const struct step_piece *p = &s->pieces[i];
		bool in_region = p->site < trace->nsites;
		while (k < b->nenters && p->from >= b->enters[at][k])
			k++;
		if (b->steps[k].longest == at && (in_region ? !f->alone[p->site] : !marked))
			rows[in_region ? p->site : trace->nsites] += p->to - p->from;
	}
}

/* To be freed. */
static uint64_t *rows_of_longest(struct bsp_finder *f)
{
	uint64_t *rows = new_rows(f);
	for (uint32_t at = 0; at < f->b->n; at++) {
		struct steps s;
		if (!is_ever_longest(f->b, at))
			continue;
		steps_open(&s, f->g, f->last, f->b->threads[at], f->role_of, f->part ? f->part->windows : NULL);
		add_longest(f, at, &s, rows);
		steps_close(&s);
	}
	return rows;
}

/* ---- What others do meanwhile ---------------------------------------------------------------- */

#define BSP_MEANWHILE 10 /* part of what one does alone that is no great deal of it */

/* Pieces of what one does alone; to be freed. */
static struct step_stretch *pieces_alone(struct bsp_finder *f, size_t *n)
{
	struct step_stretch *list = NULL;
	struct steps s;
	*n = 0;
	steps_open(&s, f->g, f->last, f->b->alone, f->role_of, f->part ? f->part->windows : NULL);
	for (size_t i = 0; i < s.npieces; i++)
		if (s.pieces[i].site < f->g->trace->nsites && f->alone[s.pieces[i].site])
			*MEM_GROW(list, *n) = (struct step_stretch){ f->b->alone, s.pieces[i].from, s.pieces[i].to };
	steps_close(&s);
	return list;
}

/* Whether another one may work for longer than `most` then. */
static bool any_works_during(struct bsp_finder *f, const struct step_stretch *list, size_t n, int64_t most)
{
	struct frz_cursor *cursors = times_cursors(f->g->times);
	bool any = false;
	for (size_t at = 0; at < f->b->n && !any; at++) {
		struct steps s;
		int64_t sum = 0;
		if (f->b->threads[at] == f->b->alone)
			continue;
		steps_open(&s, f->g, f->last, f->b->threads[at], f->role_of, f->part ? f->part->windows : NULL);
		for (size_t i = 0; i < n && sum <= most; i++)
			sum = ticks_plus(sum, steps_work_during(f->g, cursors, &s, f->b->threads[at], list[i]));
		any = sum > most;
		steps_close(&s);
	}
	free(cursors);
	return any;
}

/* Whoever does most alone has surely so much less other work than any other. */
static bool has_less_besides(const struct bsp_finder *f, int64_t by)
{
	const struct bsp *b = f->b;
	int64_t least = INT64_MAX, own = 0;
	for (size_t at = 0; at < b->n; at++) {
		if (b->threads[at] == b->alone)
			own = b->work[at].hi;
		else
			least = b->work[at].lo < least ? b->work[at].lo : least;
	}
	return b->n > 1 && least - own > by;
}

static void find_instead_of(struct bsp_finder *f)
{
	int64_t little = f->alone_time.hi / BSP_MEANWHILE;
	size_t n;
	if (f->b->alone == UINT32_MAX || !has_less_besides(f, little))
		return;
	struct step_stretch *list = pieces_alone(f, &n);
	f->b->alone_meanwhile = any_works_during(f, list, n, little);
	free(list);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static struct bsp_thread new_thread(const struct bsp_finder *f)
{
	return (struct bsp_thread){ mem_resize(NULL, f->b->nsteps, sizeof(frz_time)), new_rows(f) };
}

static void free_thread(struct bsp_thread *t)
{
	free(t->steps);
	free(t->rows);
}

static void see_thread(struct bsp_finder *f, uint32_t at)
{
	size_t nrows = f->g->trace->nsites + 1;
	struct steps s;
	memset(f->now.rows, 0, nrows * sizeof *f->now.rows);
	steps_open(&s, f->g, f->last, f->b->threads[at], f->role_of, f->part ? f->part->windows : NULL);
	add_steps(f, at, &s);
	add_operations(f, at, &s);
	note_what_it_does(f);
	struct steps_window w = steps_window_of(f->g, f->b->threads[at], f->part ? f->part->windows : NULL);
	f->b->lives[at].whole = times_of_thread(f->g->times, f->b->threads[at], w.from, w.to);
	steps_close(&s);
	for (size_t row = 0; row < nrows; row++)
		f->ticks[row] += f->now.rows[row];
	note_alone(f, at, f->now.rows);
}

/* What the one did that works most is kept. */
static void see_threads(struct bsp_finder *f)
{
	struct bsp *b = f->b;
	for (uint32_t at = 0; at < b->n; at++) {
		see_thread(f, at);
		if (at > 0 && !time_exceeds(b->work[at], b->work[b->longest]))
			continue;
		struct bsp_thread kept = f->longest;
		f->longest = f->now;
		f->now = kept;
		b->longest = at;
	}
}

static void see_longest(struct bsp_finder *f)
{
	struct bsp *b = f->b;
	b->sure = true;
	for (size_t i = 0; i < b->n; i++)
		b->sure &= i == b->longest || b->work[i].hi < b->work[b->longest].lo;
	count_longest(b, f->longest.steps);
	uint64_t *rows = rows_of_longest(f);
	find_places(f, f->longest.rows, rows);
	free(rows);
	find_instead_of(f);
}

/* If all come together each time. */
static frz_time sum_of_steps(struct bsp *b)
{
	frz_time steps = { 0, 0 };
	for (size_t k = 0; k < b->nsteps; k++) {
		b->nworked += b->steps[k].whole.hi > 0;
		steps = time_add(steps, b->steps[k].work);
		b->sequential = time_add(b->sequential, time_times(time_less(b->steps[k].whole, b->steps[k].work), b->n - 1));
	}
	return steps;
}

static frz_time most_of_all(const struct bsp_finder *f, const frz_time *of)
{
	frz_time most = { 0, 0 };
	for (size_t at = 0; at < f->b->n; at++) {
		frz_time sum = { 0, 0 };
		for (size_t k = 0; k < f->b->nsteps; k++)
			sum = time_add(sum, of[at * f->b->nsteps + k]);
		most = time_most(most, sum);
	}
	return most;
}

static frz_time sequential_between(const struct bsp_finder *f, frz_time steps)
{
	frz_time all = { 0, 0 };
	for (size_t k = 0; k < f->b->nsteps; k++)
		all = time_add(all, f->b->steps[k].whole);
	frz_time whole = way_between(f, f->of.whole, all, most_of_all(f, f->of.whole));
	return time_times(time_less(whole, steps), f->b->n - 1);
}

/* What one does alone others may do as well meanwhile, each in regions of its own: all that is not of whoever is last for
 * that. Where they come together with neighbours only that may be in another superstep. */
static int64_t alone_meanwhile(const struct bsp_finder *f)
{
	const struct bsp *b = f->b;
	int64_t all = 0;
	for (size_t k = 0; k < b->nsteps; k++) {
		frz_time alone = b->steps[k].alone;
		all = ticks_plus(all, f->exchange || alone.hi == 0 ? alone.hi : alone.hi - alone.lo);
	}
	return f->exchange && b->n > 1 ? ticks_minus(all, b->sequential.lo / (int64_t)(b->n - 1)) : all;
}

static int64_t width(frz_time x)
{
	return x.hi > x.lo ? x.hi - x.lo : 0;
}

static void find_meanwhile(struct bsp_finder *f)
{
	struct bsp *b = f->b;
	frz_time instead = { 0, 0 }, besides = { 0, 0 };
	for (size_t k = 0; k < b->nsteps; k++) {
		instead.hi = ticks_plus(instead.hi, width(b->steps[k].instead));
		besides.hi = ticks_plus(besides.hi, width(b->steps[k].besides));
	}
	b->instead = time_times(instead, b->n).hi;
	b->meanwhile = ticks_plus(time_times(besides, b->n - 1).hi, alone_meanwhile(f));
}

static void divide(struct bsp_finder *f)
{
	struct bsp *b = f->b;
	frz_time most = { 0, 0 }, steps = sum_of_steps(b);
	for (size_t i = 0; i < b->n; i++)
		most = time_most(most, b->work[i]);
	for (size_t i = 0; i < b->n; i++)
		b->persistent = time_add(b->persistent, time_less(most, b->work[i]));
	if (f->exchange) {
		steps = way_between(f, f->of.work, steps, most);
		b->sequential = b->sequential.hi > 0 ? sequential_between(f, steps) : b->sequential;
	}
	b->changing = time_times(time_less(steps, most), b->n);
	find_meanwhile(f);
}

static char *why_not(const struct bsp *b)
{
	int64_t all = 0, most = 0;
	for (size_t k = 0; k < b->nsteps; k++) {
		int64_t work = b->steps[k].work.hi;
		all = ticks_plus(all, work);
		most = work > most ? work : most;
	}
	return most > all / 2 ? mem_copy("one superstep has more than half of all work") : NULL;
}

static void work_through(struct bsp_finder *f, const struct call_profile *calls)
{
	struct bsp *b = f->b;
	size_t nprocesses = f->g->trace->nprocesses + 1;
	b->nsteps = b->nenters + 1;
	b->steps = mem_resize(NULL, b->nsteps, sizeof *b->steps);
	b->work = mem_zeroed(b->n, sizeof *b->work);
	b->lives = mem_zeroed(b->n, sizeof *b->lives);
	f->role_of = mem_zeroed(nprocesses, sizeof *f->role_of);
	f->ticks = new_rows(f);
	f->now = new_thread(f);
	f->longest = new_thread(f);
	f->does.besides = mem_resize(NULL, b->nsteps, sizeof *f->does.besides);
	f->does.alone = mem_resize(NULL, b->nsteps, sizeof *f->does.alone);
	if (f->exchange) {
		f->of.work = mem_resize(NULL, b->n * b->nsteps, sizeof *f->of.work);
		f->of.whole = mem_resize(NULL, b->n * b->nsteps, sizeof *f->of.whole);
	}
	const frz_time none = { INT64_MAX, 0 };
	for (size_t k = 0; k < b->nsteps; k++)
		b->steps[k] = (struct superstep){ .longest = UINT32_MAX, .besides = none, .instead = none, .alone = none };
	find_alone(f, calls);
	see_threads(f);
	see_longest(f);
	divide(f);
	free_thread(&f->now);
	free_thread(&f->longest);
	free(f->alone);
	free(f->ticks);
	free(f->role_of);
	free(f->does.besides);
	free(f->does.alone);
	free(f->of.work);
	free(f->of.whole);
}

/* NULL; or why it does not fit. */
static char *open_steps(struct bsp_finder *f, const struct call_profile *calls)
{
	struct bsp *b = f->b;
	if (b->nenters + 1 < BSP_LEAST)
		return mem_format("threads come together %zu times, and at least %d are expected", b->nenters, BSP_LEAST - 1);
	if (f->part && b->n < f->part->n)
		return mem_format("%zu threads of %zu processes come together", b->n, f->part->n);
	work_through(f, calls);
	return why_not(b);
}

/* Threads of the run or part. */
static size_t count_all(const struct bsp_finder *f)
{
	const struct trace *trace = f->g->trace;
	size_t n = 0;
	for (size_t t = 0; t < trace->nthreads; t++)
		n += f->g->threads[t].nevents && (!f->part || part_has(f->part, trace->threads[t].process));
	return n;
}

bool bsp_open(struct bsp *b, const struct graph *g, struct graph_last *last, const struct call_profile *calls,
	      const struct part *part, const struct neighbours *exchange, char **why)
{
	struct bsp_finder f = { .b = b, .g = g, .last = last, .part = part, .exchange = exchange };
	*b = (struct bsp){ .alone = UINT32_MAX };
	find_enters(&f);
	if (exchange)
		add_rounds(&f);
	b->of = count_all(&f);
	*why = open_steps(&f, calls);
	free(f.is_round);
	return !*why;
}

void bsp_close(struct bsp *b)
{
	free(b->steps);
	free(b->work);
	free(b->lives);
	forget_threads(b);
}

/* "2 threads", if these are all; else "2 of 4 threads (rank 0 thread 0 and rank 1 thread 0)". To be freed. */
static char *which_threads(const struct bsp *b, const struct trace *trace)
{
	char *names = NULL;
	if (b->n == b->of)
		return mem_format("%zu threads", b->n);
	for (size_t i = 0; i < list_names_shown(b->n); i++)
		names = list_names_add(names, i, b->n, facts_location(trace, b->threads[i]).text);
	names = list_names_end(names, b->n);
	char *text = mem_format("%zu of %zu threads (%s)", b->n, b->of, names);
	free(names);
	return text;
}

char *bsp_why(const struct bsp *b, const struct trace *trace)
{
	if (!b->rounds) {
		char *who = which_threads(b, trace), *why = mem_format("%s come together %zu times", who, b->nenters);
		free(who);
		return why;
	}
	size_t with_all = b->nenters - b->rounds;
	char *all = with_all ? mem_format(", and all come together %zu time%s", with_all, with_all > 1 ? "s" : "") : mem_copy("");
	char *text = mem_format("%zu processes exchange messages with their neighbours %zu times%s", b->n, b->rounds, all);
	free(all);
	return text;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static frz_time all_work(const struct bsp *b)
{
	frz_time all = { 0, 0 };
	for (size_t i = 0; i < b->n; i++)
		all = time_add(all, b->work[i]);
	return all;
}

/* Of one thread in one superstep, on average. */
static struct interval mean_seconds(const struct facts *f, const struct bsp *b, frz_time all)
{
	uint32_t base = f->times->time_base[f->trace->threads[0].clock];
	int64_t n = (int64_t)(b->n * (b->nworked + !b->nworked));
	return times_seconds(f->times, base, (frz_time){ all.lo / n, all.hi / n + 1 });
}

/* Of one thread, or of all; lost is what of its life is not work. */
struct bsp_row { uint32_t thread; struct bsp_life life; frz_time work; };

static void add_metric(const struct facts *f, const struct bsp_row *row, const char *name, frz_time ticks,
		       struct model_metric **list, size_t *n)
{
	*MEM_GROW(*list, *n) = facts_metric(f, row->thread, name, ticks, row->life.whole, row->work);
}

static void add_row(const struct facts *f, const struct bsp_row *row, struct model_metric **list, size_t *n)
{
	add_metric(f, row, "life", row->life.whole, list, n);
	add_metric(f, row, "comp", row->work, list, n);
	add_metric(f, row, "wait", row->life.waiting, list, n);
	add_metric(f, row, "comm", row->life.transfer, list, n);
}

size_t bsp_metrics(const struct facts *f, const struct bsp *b, struct model_metric **list)
{
	struct bsp_row all = { UINT32_MAX, { .waiting = b->waiting, .transfer = b->transfer }, all_work(b) };
	size_t n = 0;
	*list = NULL;
	for (size_t i = 0; i < b->n; i++)
		all.life.whole = time_add(all.life.whole, b->lives[i].whole);
	add_row(f, &all, list, &n);
	add_metric(f, &all, "imbalance", b->persistent, list, &n);
	add_metric(f, &all, "changing", b->changing, list, &n);
	add_metric(f, &all, "sequential", b->sequential, list, &n);
	for (size_t i = 0; i < b->n; i++)
		add_row(f, &(struct bsp_row){ b->threads[i], b->lives[i], b->work[i] }, list, &n);
	return n;
}

static bool any_marked(const struct facts *f, const struct bsp *b)
{
	bool any = false;
	for (size_t i = 0; i < b->n; i++)
		any |= f->trace->processes[f->trace->threads[b->threads[i]].process].marked;
	return any;
}

/* For how long all threads were in no region and no operation, or not there, at most. */
static frz_time elsewhere(const struct facts *f)
{
	int64_t inside = 0;
	for (size_t i = 0; i < f->calls->nflat; i++)
		if (f->calls->flat[i].site < f->trace->nsites)
			inside = ticks_plus(inside, f->calls->flat[i].spread.all.exclusive.lo);
	return (frz_time){ 0, f->all.hi > inside ? f->all.hi - inside : 0 };
}

static const char *yes_or_no(bool is)
{
	return is ? "yes" : "no";
}

void bsp_tell(const struct facts *f, const struct bsp *b, struct expert *e)
{
	uint32_t longest = b->threads[b->longest];
	bool alone = b->alone != UINT32_MAX;
	EXPERT_FACT(e, "supersteps", EXPERT_COUNT("steps", (int64_t)b->nworked), EXPERT_COUNT("threads", (int64_t)b->n),
		    EXPERT_COUNT("of", (int64_t)b->of),
		    EXPERT_COUNT("operation", facts_site(f->trace, b->operation)),
		    EXPERT_WORD("outside", any_marked(f, b) ? "unknown" : "work"),
		    EXPERT_RANGE("elsewhere", facts_share(f, elsewhere(f))),
		    EXPERT_RANGE("instead", facts_share(f, (frz_time){ 0, b->instead })),
		    EXPERT_RANGE("meanwhile", facts_share(f, (frz_time){ 0, b->meanwhile })),
		    EXPERT_COUNT("longest", longest), EXPERT_TEXT("longest-name", facts_location(f->trace, longest).text),
		    EXPERT_WORD("sure", yes_or_no(b->sure)), EXPERT_COUNT("surely", b->surely),
		    EXPERT_COUNT("possibly", b->possibly),
		    EXPERT_COUNT("longest-region", facts_site(f->trace, b->longest_place.site)),
		    EXPERT_TEXT("longest-region-name", facts_name(f->trace, b->longest_place.site).text),
		    EXPERT_WORD("longest-mostly", yes_or_no(b->longest_place.mostly)),
		    EXPERT_COUNT("region", facts_site(f->trace, b->place.site)),
		    EXPERT_TEXT("region-name", facts_name(f->trace, b->place.site).text),
		    EXPERT_WORD("mostly", yes_or_no(b->place.mostly)),
		    EXPERT_COUNT("alone", alone ? (int64_t)b->alone : -1),
		    EXPERT_TEXT("alone-name", alone ? facts_location(f->trace, b->alone).text : "none"),
		    EXPERT_COUNT("alone-region", alone ? facts_site(f->trace, b->alone_place.site) : -1),
		    EXPERT_TEXT("alone-region-name", alone ? facts_name(f->trace, b->alone_place.site).text : "none"),
		    EXPERT_WORD("alone-mostly", yes_or_no(b->alone_place.mostly)),
		    EXPERT_WORD("alone-meanwhile", yes_or_no(b->alone_meanwhile)),
		    EXPERT_RANGE("persistent", facts_share(f, b->persistent)),
		    EXPERT_RANGE("changing", facts_share(f, b->changing)),
		    EXPERT_RANGE("sequential", facts_share(f, b->sequential)), EXPERT_RANGE("waiting", facts_share(f, b->waiting)),
		    EXPERT_RANGE("transfer", facts_share(f, b->transfer)),
		    EXPERT_RANGE("step-work", mean_seconds(f, b, all_work(b))),
		    EXPERT_RANGE("step-transfer", mean_seconds(f, b, b->transfer)));
}

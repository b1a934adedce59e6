/* SPDX-License-Identifier: MIT
 *
 * chain.c - see chain.h. */
#include "analysis/diagnose/chain.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/diagnose/list_names.h"
#include "analysis/trace/names.h"

/* ---- One stage ------------------------------------------------------------------------------- */

/* Of each row: only one thread is ever in it, once. */
static bool *find_sequential(const struct trace *trace, const struct call_profile *calls)
{
	bool *once = mem_zeroed(trace->nsites + 1, sizeof *once);
	for (size_t i = 0; i < calls->nflat; i++) {
		const struct call_spread *s = &calls->flat[i].spread;
		if (tr_is(trace, calls->flat[i].site, OP_REGION))
			once[calls->flat[i].site] = s->nthreads == 1 && s->all.visits == 1;
	}
	return once;
}

struct chain_sums {
	struct stretches work, sequential, unclassified, apart, apart_unclassified, sequential_perhaps, inside;
	uint64_t *ticks;
};

struct chain_process {
	bool several;                /* it has threads besides its first, */
	bool deals;                  /* which are, or may be, in operations with other processes */
};

/* What stages are made of. */
struct chain_looker {
	const struct graph *g;
	struct graph_last *last;
	const struct pattern *pattern;
	const struct phase *phase;
	const struct steps_window *windows;
	const bool *once;
	const struct chain_process *processes;
	uint64_t *all;               /* of each row ticks of all stages, */
	uint32_t *stage_in;          /* and which of these is ever in it, or: */
};
#define NO_STAGE UINT32_MAX
#define SEVERAL_STAGES (UINT32_MAX - 1)

static bool is_once(const struct chain_looker *l, uint32_t site)
{
	return site < l->g->trace->nsites && l->once[site];
}

/* ---- What it waits for others of its process -------------------------------------------------- */

#define WITH_OTHER_PROCESSES (OP_OF_RANKS | OP_MPI | OP_MESSAGE)

/* Of each one; to be freed. */
static struct chain_process *find_processes(const struct trace *trace, const struct call_profile *calls)
{
	struct chain_process *list = mem_zeroed(trace->nprocesses + 1, sizeof *list);
	for (size_t i = 0; i < calls->neach; i++) {
		const struct tr_thread *t = &trace->threads[calls->each[i].thread];
		list[t->process].deals |= t->number != 0 && tr_is(trace, calls->each[i].site, WITH_OTHER_PROCESSES);
	}
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct tr_thread *t = &trace->threads[i];
		list[t->process].several |= t->number != 0;
		list[t->process].deals |= t->lost > 0;
	}
	return list;
}

static bool may_be_inside(const struct chain_looker *l, const struct step *s, uint32_t thread)
{
	const struct trace *trace = l->g->trace;
	bool alone = !l->processes[trace->threads[thread].process].several;
	return s->is.kind == EVENT_OTHER && tr_is(trace, s->site, OP_OTHERS) && !tr_is(trace, s->site, WITH_OTHER_PROCESSES) &&
	       (s->inside || (!s->known && !alone));
}

static bool surely_inside(const struct chain_looker *l, const struct step *s, uint32_t thread)
{
	return may_be_inside(l, s, thread) && s->known && s->inside && !s->outside &&
	       !l->processes[l->g->trace->threads[thread].process].deals;
}

/* What lies in an operation is in pieces already: then it is not known what the rest of it is. */
static void add_inside(struct steps *steps, size_t npieces, size_t *next, struct step_piece whole)
{
	while (*next < npieces && steps->pieces[*next].to <= whole.from)
		++*next;
	for (; *next < npieces && steps->pieces[*next].from < whole.to; ++*next) {
		struct step_piece before = whole;
		whole.how = before.how = PIECE_PERHAPS;
		before.to = steps->pieces[*next].from;
		whole.from = steps->pieces[*next].to;
		if (before.to > before.from)
			*SPILL_GROW(steps->spill, steps->pieces, steps->npieces) = before;
	}
	if (whole.to > whole.from)
		*SPILL_GROW(steps->spill, steps->pieces, steps->npieces) = whole;
}

static int by_begin(const void *a, const void *b)
{
	const struct step_piece *x = a, *y = b;
	return ORDER(x->from, y->from);
}

/* Its steps, and among the pieces of its work what it waits for others of its process. */
static void open_stage(const struct chain_looker *l, uint32_t thread, struct steps *steps)
{
	steps_open(steps, l->g, l->last, thread, l->pattern->role_of, l->windows);
	size_t npieces = steps->npieces, next = 0;
	for (size_t i = 0; i < steps->n; i++) {
		const struct step *s = &steps->list[i];
		if (may_be_inside(l, s, thread))
			add_inside(steps, npieces, &next,
				   (struct step_piece){ s->around, DPROF_IN_NO_ROLE, s->is.from, s->is.to,
							surely_inside(l, s, thread) ? PIECE_WAITED_INSIDE : PIECE_PERHAPS });
	}
	if (steps->npieces > npieces)
		qsort(steps->pieces, steps->npieces, sizeof *steps->pieces, by_begin);
}

/* What operations take that are no such waits. */
static frz_time transfer_of(const struct chain_looker *l, const struct steps *steps, uint32_t thread)
{
	frz_time sum = { 0, 0 };
	for (size_t i = 0; i < steps->n; i++) {
		const struct step *s = &steps->list[i];
		frz_time x = s->is.transfer;
		if (may_be_inside(l, s, thread))
			x = (frz_time){ 0, surely_inside(l, s, thread) ? 0 : x.hi };
		sum = time_add(sum, x);
	}
	return sum;
}

/* ---- What it works --------------------------------------------------------------------------- */

/* Where such a piece belongs. Without marks it is not known which of what is before the phase is of it. */
static struct stretches *place_of(const struct chain_looker *l, const struct step_piece *p, uint32_t thread,
				  struct chain_sums *sums)
{
	const struct trace *trace = l->g->trace;
	bool marked = trace->processes[trace->threads[thread].process].marked, perhaps = p->how == PIECE_PERHAPS;
	bool in_region = p->site < trace->nsites, once = is_once(l, p->site);
	bool unknown = perhaps || (!in_region && marked && p->how == PIECE_WORKED);
	if (!once && !phase_has(l->phase, thread, p))
		return unknown ? &sums->apart_unclassified : &sums->apart;
	if (unknown || (!in_region && !phase_in_core(l->phase, thread, p)))
		return once ? &sums->sequential_perhaps : &sums->unclassified;
	return once ? &sums->sequential : &sums->work;
}

static void add_pieces(const struct chain_looker *l, const struct steps *steps, uint32_t thread, struct chain_sums *sums)
{
	size_t nsites = l->g->trace->nsites;
	for (size_t i = 0; i < steps->npieces; i++) {
		const struct step_piece *p = &steps->pieces[i];
		struct stretches *place = place_of(l, p, thread, sums);
		stretches_add(place, p->from, p->to);
		if (place == &sums->work || place == &sums->sequential)
			sums->ticks[p->site < nsites ? p->site : nsites] += p->to - p->from;
		if (place == &sums->work && p->how == PIECE_WAITED_INSIDE)
			stretches_add(&sums->inside, p->from, p->to);
	}
}

/* Of the rows that are `once` or not the one with most. */
static uint32_t longest_row(const struct trace *trace, const uint64_t *ticks, const bool *once, bool is)
{
	uint32_t found = TR_NO_SITE;
	uint64_t most = 0;
	for (uint32_t row = 0; row <= trace->nsites; row++)
		if (ticks[row] > most && once[row] == is) {
			most = ticks[row];
			found = row < trace->nsites ? row : TR_OUTSIDE;
		}
	return found;
}

static void add_rows(const struct chain_looker *l, uint32_t at, const uint64_t *ticks)
{
	for (size_t row = 0; row <= l->g->trace->nsites; row++) {
		if (!ticks[row] || l->once[row])
			continue;
		l->all[row] += ticks[row];
		l->stage_in[row] = l->stage_in[row] == NO_STAGE ? at : SEVERAL_STAGES;
	}
}

/* The stage at this place. */
static struct stage stage_of(const struct chain_looker *l, uint32_t thread, uint32_t at)
{
	const struct times *times = l->g->times;
	const struct trace *trace = l->g->trace;
	struct steps steps;
	struct chain_sums sums = { .ticks = mem_zeroed(trace->nsites + 1, sizeof *sums.ticks) };
	struct stage s = { .thread = thread, .inside = !l->processes[trace->threads[thread].process].deals };
	open_stage(l, thread, &steps);
	add_pieces(l, &steps, thread, &sums);
	s.transfer = transfer_of(l, &steps, thread);
	s.work = times_sum(times, thread, sums.work);
	s.surely = s.work;
	s.waited_inside = times_sum(times, thread, sums.inside);
	s.work.hi = ticks_plus(s.work.hi, times_sum(times, thread, sums.unclassified).hi);
	s.sequential = times_sum(times, thread, sums.sequential);
	s.sequential.hi = ticks_plus(s.sequential.hi, times_sum(times, thread, sums.sequential_perhaps).hi);
	s.apart = times_sum(times, thread, sums.apart);
	s.apart.hi = ticks_plus(s.apart.hi, times_sum(times, thread, sums.apart_unclassified).hi);
	s.site = longest_row(trace, sums.ticks, l->once, false);
	s.sequential_site = longest_row(trace, sums.ticks, l->once, true);
	add_rows(l, at, sums.ticks);
	steps_close(&steps);
	free(sums.ticks);
	return s;
}

/* ---- Where the longest has more to do --------------------------------------------------------- */

/* What only one stage ever does is one row of all of these, the first. */
struct chain_more { double own, all; uint32_t longest_own; uint64_t most_own; };

static struct chain_more more_of_own(const struct chain_looker *l, const uint64_t *ticks)
{
	struct chain_more m = { .longest_own = TR_NO_SITE };
	for (uint32_t row = 0; row <= l->g->trace->nsites; row++) {
		if (l->stage_in[row] == SEVERAL_STAGES || l->stage_in[row] == NO_STAGE)
			continue;
		m.all += (double)l->all[row];
		m.own += (double)ticks[row];
		if (ticks[row] <= m.most_own)
			continue;
		m.most_own = ticks[row];
		m.longest_own = row < l->g->trace->nsites ? row : TR_OUTSIDE;
	}
	return m;
}

/* `ticks`: of the longest, in each row. */
static void find_more(struct chain *c, const struct chain_looker *l, const uint64_t *ticks)
{
	struct chain_more own = more_of_own(l, ticks);
	double n = (double)c->n, most = own.longest_own == TR_NO_SITE ? 0 : own.own * n - own.all, sum = most > 0 ? most : 0;
	c->more = most > 0 ? own.longest_own : c->stages[c->longest].site;
	bool whole = most <= 0 || own.most_own >= own.own / 2;
	for (uint32_t row = 0; row <= l->g->trace->nsites; row++) {
		double more = (double)ticks[row] * n - (double)l->all[row];
		if (l->stage_in[row] != SEVERAL_STAGES || l->once[row] || more <= 0)
			continue;
		sum += more;
		if (more <= most)
			continue;
		most = more;
		c->more = row < l->g->trace->nsites ? row : TR_OUTSIDE;
		whole = true;
	}
	c->mostly = whole && most >= sum / 2;
}

static void see_longest(struct chain *c, const struct chain_looker *l)
{
	uint32_t thread = c->stages[c->longest].thread;
	struct steps steps;
	struct chain_sums sums = { .ticks = mem_zeroed(l->g->trace->nsites + 1, sizeof *sums.ticks) };
	open_stage(l, thread, &steps);
	add_pieces(l, &steps, thread, &sums);
	find_more(c, l, sums.ticks);
	steps_close(&steps);
	free(sums.ticks);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static uint32_t thread_of(const struct graph *g, uint32_t process)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (g->trace->threads[t].process == process && g->trace->threads[t].number == 0 && g->threads[t].nevents)
			return t;
	return UINT32_MAX;
}

static void find_longest(struct chain *c, frz_time run)
{
	c->same = true;
	for (size_t i = 1; i < c->n; i++) {
		c->longest = time_exceeds(c->stages[i].surely, c->stages[c->longest].surely) ? i : c->longest;
		c->first = time_exceeds(c->stages[i].sequential, c->stages[c->first].sequential) ? i : c->first;
		c->same &= c->stages[i].site == c->stages[0].site;
	}
	c->surely_as_long = true;
	int64_t most = 0;
	for (size_t i = 0; i < c->n; i++)
		most = c->stages[i].work.hi > most ? c->stages[i].work.hi : most;
	for (size_t i = 0; i < c->n; i++) {
		c->stages[i].long_as_any = i == c->longest ||
					   c->stages[i].work.hi >= c->stages[c->longest].work.lo - run.hi / CHAIN_TIE;
		c->nlongest += c->stages[i].long_as_any;
		bool shorter = c->stages[i].work.lo < most - 2 * (run.hi / CHAIN_TIE);
		c->surely_as_long &= !c->stages[i].long_as_any || !shorter;
	}
}

/* Of whichever of the longest. */
static frz_time transfer_of_longest(const struct chain *c)
{
	frz_time hull = c->stages[c->longest].transfer;
	for (size_t i = 0; i < c->n; i++) {
		frz_time x = c->stages[i].transfer;
		if (!c->stages[i].long_as_any)
			continue;
		hull.lo = x.lo < hull.lo ? x.lo : hull.lo;
		hull.hi = x.hi > hull.hi ? x.hi : hull.hi;
	}
	return hull;
}

/* ---- What others do meanwhile ---------------------------------------------------------------- */

#define MOST_PIECES 16 /* of sequential work that are looked at: of the rest others may do as much */

static int longest_first(const void *a, const void *b)
{
	const struct step_piece *x = a, *y = b;
	uint64_t p = x->to - x->from, q = y->to - y->from;
	return ORDER(q, p);
}

/* The longest pieces of what is done once; to be freed. Ticks of all others in *rest. */
static struct step_piece *sequential_pieces(const struct steps *s, const struct trace *trace, const bool *once, size_t *n,
					    uint64_t *rest)
{
	struct step_piece *list = NULL;
	*n = *rest = 0;
	for (size_t i = 0; i < s->npieces; i++)
		if (s->pieces[i].site < trace->nsites && once[s->pieces[i].site])
			*MEM_GROW(list, *n) = s->pieces[i];
	if (*n)
		qsort(list, *n, sizeof *list, longest_first);
	for (; *n > MOST_PIECES; --*n)
		*rest += list[*n - 1].to - list[*n - 1].from + 1;
	return list;
}

static void find_meanwhile(struct chain *c, const struct chain_looker *l)
{
	const struct stage *first = &c->stages[c->first];
	struct frz_cursor *cursors = times_cursors(l->g->times);
	struct steps steps;
	size_t n;
	uint64_t rest;
	open_stage(l, first->thread, &steps);
	struct step_piece *pieces = sequential_pieces(&steps, l->g->trace, l->once, &n, &rest);
	steps_close(&steps);
	for (size_t i = 0; i < c->n && (n || rest); i++) {
		int64_t sum = (int64_t)rest;
		if (i == c->first)
			continue;
		open_stage(l, c->stages[i].thread, &steps);
		for (size_t k = 0; k < n; k++)
			sum = ticks_plus(sum, steps_work_during(l->g, cursors, &steps, c->stages[i].thread,
							  (struct step_stretch){ first->thread, pieces[k].from, pieces[k].to }));
		steps_close(&steps);
		sum = sum < first->sequential.hi ? sum : first->sequential.hi;
		c->meanwhile = ticks_plus(c->meanwhile, sum);
		c->meanwhile_of_one = sum > c->meanwhile_of_one ? sum : c->meanwhile_of_one;
	}
	free(pieces);
	free(cursors);
}

static frz_time perhaps_less(frz_time x, int64_t by)
{
	int64_t lo = ticks_minus(x.lo, by);
	return (frz_time){ lo > 0 ? lo : 0, x.hi };
}

/* ---- All of their time ----------------------------------------------------------------------- */

static void divide(struct chain *c, frz_time run)
{
	frz_time longest = { 0, 0 };
	for (size_t i = 0; i < c->n; i++) {
		frz_time work = c->stages[i].work;
		longest.lo = work.lo > longest.lo ? work.lo : longest.lo;
		longest.hi = work.hi > longest.hi ? work.hi : longest.hi;
	}
	for (size_t i = 0; i < c->n; i++)
		c->uneven = time_add(c->uneven, time_less(longest, c->stages[i].work));
	c->uneven = perhaps_less(c->uneven, c->meanwhile);
	c->sequential = perhaps_less(time_times(c->stages[c->first].sequential, c->n - 1), c->meanwhile);
	c->transfer = time_times(transfer_of_longest(c), c->n);
	frz_time sequential = perhaps_less(c->stages[c->first].sequential, c->meanwhile_of_one);
	frz_time all = time_add(time_times(time_add(longest, sequential), c->n), c->transfer);
	for (size_t i = 0; i < c->n; i++)
		all = time_add(all, c->stages[i].apart);
	c->filling = time_less(time_times(run, c->n), all);
}

static void add_stages(struct chain *c, const struct chain_looker *l)
{
	const struct pattern *p = l->pattern;
	memset(l->stage_in, 0xff, (l->g->trace->nsites + 1) * sizeof *l->stage_in); /* NO_STAGE */
	for (size_t i = 0; i < p->n; i++) {
		uint32_t thread = thread_of(l->g, p->order[i]);
		if (thread == UINT32_MAX)
			continue;
		struct stage *s = MEM_GROW(c->stages, c->n);
		*s = stage_of(l, thread, (uint32_t)i);
		s->number = p->stage_of[p->order[i]] ? p->stage_of[p->order[i]] : (uint32_t)c->n;
	}
}

void chain_open(struct chain *c, const struct graph *g, struct graph_last *last, const struct pattern *p, const struct phase *phase,
		const struct call_profile *calls, frz_time run, const struct steps_window *windows)
{
	size_t rows = g->trace->nsites + 1;
	bool *once = find_sequential(g->trace, calls);
	struct chain_process *processes = find_processes(g->trace, calls);
	struct chain_looker l = { g, last, p, phase, windows, once, processes, mem_zeroed(rows, sizeof *l.all),
				  mem_resize(NULL, rows, sizeof *l.stage_in) };
	*c = (struct chain){ .n = 0 };
	add_stages(c, &l);
	if (c->n) {
		find_longest(c, run);
		find_meanwhile(c, &l);
		see_longest(c, &l);
		divide(c, run);
	}
	free(l.all);
	free(l.stage_in);
	free(once);
	free(processes);
}

void chain_close(struct chain *c)
{
	free(c->stages);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* "rank 1 in b, rank 2 in c, rank 3 in b and 4 others": those that are as long as any; to be freed. */
static char *names_of_longest(const struct facts *f, const struct chain *c)
{
	char *names = NULL;
	size_t named = 0;
	for (size_t i = 0; i < c->n && named < list_names_shown(c->nlongest); i++) {
		const struct stage *s = &c->stages[i];
		if (!s->long_as_any)
			continue;
		char *name = mem_format("%s in %s", facts_location(f->trace, s->thread).text, facts_name(f->trace, s->site).text);
		names = list_names_add(names, named++, c->nlongest, name);
		free(name);
	}
	return list_names_end(names, c->nlongest);
}

/* All others may wait for as long as stages do what is apart, some or all of them, though delays, which are shared out by how long
 * each place of a thread was, may say that it was for something else there. */
static int64_t wait_for_apart(const struct facts *f, const struct chain *c, bool all)
{
	int64_t sum = 0;
	for (size_t i = 0; i < c->n; i++)
		sum = ticks_plus(sum, all || c->stages[i].long_as_any ? c->stages[i].apart.hi : 0);
	return time_times((frz_time){ 0, sum }, f->calls->nthreads - 1).hi;
}

/* The one whose process the thread is of, if what that does is what the stage does. */
static const struct stage *find_stage_around(const struct facts *f, const struct chain *c, uint32_t thread)
{
	const struct tr_thread *threads = f->trace->threads;
	const struct stage *found = NULL;
	for (size_t k = 0; k < c->n && !found; k++)
		found = c->stages[k].inside && threads[c->stages[k].thread].process == threads[thread].process ? &c->stages[k] : NULL;
	return found;
}

static const struct stage *find_stage(const struct chain *c, uint32_t thread)
{
	const struct stage *found = NULL;
	for (size_t k = 0; k < c->n && !found; k++)
		found = c->stages[k].thread == thread ? &c->stages[k] : NULL;
	return found;
}

/* Threads of the process of one of the longest stages, the stage itself or not. */
static bool is_of_longest(const struct facts *f, const struct chain *c, uint32_t thread)
{
	const struct tr_thread *threads = f->trace->threads;
	bool is = false;
	for (size_t i = 0; i < c->n; i++)
		is |= c->stages[i].inside && c->stages[i].long_as_any &&
		      threads[c->stages[i].thread].process == threads[thread].process;
	return is;
}

/* For how long at least others waited for what the longest have other threads of their process do: all that goes back to these,
 * but for what threads of the process waited, and for what may be of something that is done once. */
static int64_t surely_for_inside(const struct facts *f, const struct chain *c)
{
	frz_time other = { 0, 0 };
	int64_t sum = 0;
	for (size_t i = 0; i < f->waits->ndelays; i++) {
		const struct wait_delay *d = &f->waits->delays[i];
		sum = ticks_plus(sum, is_of_longest(f, c, d->thread) && !find_stage(c, d->thread) ? d->ticks.lo : 0);
	}
	for (size_t i = 0; i < f->waits->nplaces; i++) {
		const struct wait_sum *p = &f->waits->places[i];
		other.hi = ticks_plus(other.hi, is_of_longest(f, c, p->thread) ? p->ticks.hi : 0);
	}
	for (size_t i = 0; i < c->n; i++)
		other.hi = ticks_plus(other.hi, time_times(c->stages[i].sequential, f->calls->nthreads - 1).hi);
	return sum > other.hi ? sum - other.hi : 0;
}

/* What others waited since a stage worked longer in the phase: one of the longest, of which it is said where that is, if it
 * is one; or, in what is sequential, the one that does most of that. Some of it may be for locks. */
static frz_time goes_back(const struct facts *f, const struct chain *c, const struct phase *phase, bool sequential)
{
	bool *once = find_sequential(f->trace, f->calls);
	frz_time sum = { 0, 0 }, locks = facts_locks(f);
	for (size_t i = 0; i < f->waits->ndelays; i++) {
		const struct wait_delay *d = &f->waits->delays[i];
		const struct stage *s = find_stage(c, d->thread);
		bool is_once = d->site < f->trace->nsites && once[d->site];
		if (!s || tr_is(f->trace, d->site, OP_OTHERS) || is_once != sequential)
			continue;
		bool there = c->nlongest > 1 || !c->mostly || d->site == c->more;
		if (sequential ? s == &c->stages[c->first] : s->long_as_any && (there || !phase_at_home(phase, d->thread, d->site)))
			sum = time_add(sum, d->ticks);
	}
	free(once);
	if (!sequential)
		sum = time_add(sum, (frz_time){ surely_for_inside(f, c), INT64_MAX });
	return perhaps_less(sum, ticks_plus(locks.hi, sequential ? 0 : wait_for_apart(f, c, false)));
}

/* For how long at least others waited for what is apart of a stage: no more than it does more of that than each of them, which
 * may have been at theirs meanwhile. */
static int64_t surely_for_apart(const struct facts *f, const struct chain *c, const struct phase *phase, const struct stage *s,
				const bool *once)
{
	int64_t waited = 0, more = 0;
	for (size_t i = 0; i < f->waits->ndelays; i++) {
		const struct wait_delay *d = &f->waits->delays[i];
		bool apart = tr_is(f->trace, d->site, OP_REGION) && !once[d->site] && !phase_at_home(phase, d->thread, d->site);
		waited = ticks_plus(waited, apart && d->thread == s->thread ? d->ticks.lo : 0);
	}
	for (size_t i = 0; i < c->n; i++)
		more = ticks_plus(more, time_less(s->apart, c->stages[i].apart).lo);
	return waited < more ? waited : more;
}

/* What was waited for threads that are no stages, or for what is apart: then the chain stands for them. */
static frz_time for_others(const struct facts *f, const struct chain *c, const struct phase *phase)
{
	bool *once = find_sequential(f->trace, f->calls);
	frz_time sum = { 0, wait_for_apart(f, c, true) };
	for (size_t i = 0; i < f->waits->ndelays; i++)
		sum.hi = ticks_plus(sum.hi, find_stage(c, f->waits->delays[i].thread) ||
						    find_stage_around(f, c, f->waits->delays[i].thread) ? 0 : f->waits->delays[i].ticks.hi);
	for (size_t i = 0; i < c->n; i++)
		sum.lo = ticks_plus(sum.lo, surely_for_apart(f, c, phase, &c->stages[i], once));
	free(once);
	return sum;
}

bool chain_tells_of(const struct chain *c, const struct phase *phase, const struct call_profile *calls, uint32_t thread,
		    uint32_t site)
{
	bool *once = find_sequential(phase->trace, calls);
	bool is_once = site < phase->trace->nsites && once[site], first = c->n && c->stages[c->first].thread == thread;
	free(once);
	return is_once ? first : phase_at_home(phase, thread, site);
}

void chain_tell(const struct facts *f, const struct chain *c, const struct phase *phase, struct expert *e)
{
	const struct stage *longest = &c->stages[c->longest], *first = &c->stages[c->first];
	char *names = names_of_longest(f, c);
	for (size_t i = 0; i < c->n; i++) {
		const struct stage *s = &c->stages[i];
		EXPERT_FACT(e, "stage", EXPERT_COUNT("number", s->number), EXPERT_COUNT("thread", s->thread),
			    EXPERT_TEXT("thread-name", facts_location(f->trace, s->thread).text),
			    EXPERT_COUNT("region", facts_site(f->trace, s->site)),
			    EXPERT_TEXT("region-name", facts_name(f->trace, s->site).text),
			    EXPERT_RANGE("work", interval_percent(s->work, f->calls->span.length)));
	}
	EXPERT_FACT(e, "chain", EXPERT_COUNT("stages", (int64_t)c->n), EXPERT_COUNT("as-long", (int64_t)c->nlongest),
		    EXPERT_TEXT("as-long-names", names), EXPERT_WORD("as-long-sure", c->surely_as_long ? "yes" : "no"),
		    EXPERT_COUNT("longest", longest->thread),
		    EXPERT_TEXT("longest-name", facts_location(f->trace, longest->thread).text),
		    EXPERT_COUNT("region", facts_site(f->trace, longest->site)),
		    EXPERT_TEXT("region-name", facts_name(f->trace, longest->site).text),
		    EXPERT_COUNT("more", facts_site(f->trace, c->more)),
		    EXPERT_TEXT("more-name", facts_name(f->trace, c->more).text), EXPERT_WORD("mostly", c->mostly ? "yes" : "no"),
		    EXPERT_WORD("by-others", longest->waited_inside.lo > longest->work.hi / 2 ? "yes" : "no"),
		    EXPERT_COUNT("first", first->thread), EXPERT_TEXT("first-name", facts_location(f->trace, first->thread).text),
		    EXPERT_COUNT("first-region", facts_site(f->trace, first->sequential_site)),
		    EXPERT_TEXT("first-region-name", facts_name(f->trace, first->sequential_site).text),
		    EXPERT_RANGE("uneven", facts_share(f, c->uneven)), EXPERT_RANGE("sequential", facts_share(f, c->sequential)),
		    EXPERT_RANGE("for-longest", facts_share(f, goes_back(f, c, phase, false))),
		    EXPERT_RANGE("for-first", facts_share(f, goes_back(f, c, phase, true))),
		    EXPERT_RANGE("transfer", facts_share(f, c->transfer)),
		    EXPERT_RANGE("filling", facts_share(f, time_less(c->filling, for_others(f, c, phase)))));
	free(names);
}

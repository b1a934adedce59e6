/* SPDX-License-Identifier: MIT
 *
 * parts.c - see parts.h. First where all come together; then how many messages went from whom to whom between two of these. */
#include "analysis/diagnose/parts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/joined.h"
#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/diagnose/bsp.h"
#include "analysis/match/match.h"

#define MOST_COUNTS (1u << 22)
#define MANY        UINT32_MAX

struct parts_finder {
	const struct graph *g;
	const struct call_profile *calls;
	size_t nprocesses;
	bool *communicates;                 /* of each process: it has messages */
	size_t ntalk;
	uint64_t *ends; size_t nends; /* nprocesses each: stamps at which a process has come together with all others */
	int64_t *crossed;            /* of each end: so many messages are under way then */
	uint64_t *counts;            /* of each stretch between them, from whom, to whom */
	struct part_pair { size_t stretch; uint32_t a, b; } *pairs; /* processes that come together, but not */
	size_t npairs;               /* with all others */
	bool *goes_on;               /* of each stretch: it is of one phase with the one before */
	size_t *phase_of;            /* of each stretch */
	size_t nphases;
};

static struct match_walk *walk_open(const struct parts_finder *f)
{
	return match_walk_again(f->g->trace, f->g->times->program.matches);
}

/* ---- Where all come together ----------------------------------------------------------------- */

/* Processes come together, each with its first thread. */
static bool brings_together(const struct parts_finder *f, const struct match *m)
{
	bool together = match_synchronises(m);
	for (size_t i = 0; i < m->nparts && together; i++)
		together = f->g->trace->threads[m->parts[i].thread].number == 0;
	return together;
}

static uint32_t process_of(const struct parts_finder *f, const struct match_part *part)
{
	return f->g->trace->threads[part->thread].process;
}

/* Some have no messages, and are talkers all the same: they come together with some others. */
static void find_silent_talkers(struct parts_finder *f)
{
	struct match_walk *walk = walk_open(f);
	for (struct match m; match_walk_next(walk, &m);)
		for (size_t i = 0; i < m.nparts && brings_together(f, &m) && m.nparts < f->nprocesses; i++)
			f->communicates[process_of(f, &m.parts[i])] = true;
	match_walk_close(walk);
}

static size_t count_talkers(const struct parts_finder *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->nprocesses; i++)
		n += f->communicates[i];
	return n;
}

static void find_talkers(struct parts_finder *f)
{
	f->communicates = mem_zeroed(f->nprocesses, sizeof *f->communicates);
	for (size_t i = 0; i < f->calls->nmessages; i++)
		f->communicates[f->calls->messages[i].from] = f->communicates[f->calls->messages[i].to] = true;
	if (count_talkers(f) < f->nprocesses)
		find_silent_talkers(f);
	f->ntalk = count_talkers(f);
}

/* And all talkers do. */
static bool is_end(const struct parts_finder *f, const struct match *m)
{
	size_t n = 0;
	if (!brings_together(f, m))
		return false;
	for (size_t i = 0; i < m->nparts; i++) {
		uint32_t process = process_of(f, &m->parts[i]);
		const uint64_t *before = f->nends ? f->ends + (f->nends - 1) * f->nprocesses : NULL;
		if (m->parts[i].done_at == MATCH_NEVER || (before && before[process] > m->parts[i].enter))
			return false;
		n += f->communicates[process];
	}
	return n == f->ntalk;
}

/* False: there are too many. */
static bool find_ends(struct parts_finder *f)
{
	struct match_walk *walk = walk_open(f);
	bool few = true;
	for (struct match m; few && match_walk_next(walk, &m);) {
		if (!is_end(f, &m))
			continue;
		few = f->nends < PARTS_ENDS;
		f->ends = mem_resize(f->ends, (f->nends + 1) * f->nprocesses, sizeof *f->ends);
		memset(f->ends + f->nends * f->nprocesses, 0, f->nprocesses * sizeof *f->ends);
		for (size_t i = 0; i < m.nparts; i++)
			f->ends[f->nends * f->nprocesses + f->g->trace->threads[m.parts[i].thread].process] = m.parts[i].done;
		f->nends++;
	}
	match_walk_close(walk);
	return few && (f->nends + 1) * f->nprocesses * f->nprocesses <= MOST_COUNTS;
}

/* How many of these a process has behind it. */
static size_t stretch_at(const struct parts_finder *f, uint32_t process, uint64_t stamp)
{
	return SEARCH(f->nends, mid, f->ends[mid * f->nprocesses + process] <= stamp);
}

/* ---- Messages between two of them ------------------------------------------------------------ */

static uint64_t *counts_of(const struct parts_finder *f, size_t stretch)
{
	return f->counts + stretch * f->nprocesses * f->nprocesses;
}

static void count_message(struct parts_finder *f, const struct match *m)
{
	const struct match_part *s = &m->parts[0], *r = &m->parts[1];
	uint32_t from = process_of(f, s), to = process_of(f, r);
	size_t sent = stretch_at(f, from, s->enter), received = stretch_at(f, to, r->done_at == MATCH_NEVER ? r->enter : r->done);
	counts_of(f, sent)[from * f->nprocesses + to]++;
	f->crossed[sent < received ? sent : received]++;
	f->crossed[sent < received ? received : sent]--;
}

/* `last`: of each pair, behind which stretch it came together last. */
static void note_pair(struct parts_finder *f, const struct match *m, size_t *last)
{
	uint32_t a = process_of(f, &m->parts[0]);
	size_t stretch = stretch_at(f, a, m->parts[0].enter);
	for (size_t i = 1; i < m->nparts; i++) {
		uint32_t b = process_of(f, &m->parts[i]);
		if (last[a * f->nprocesses + b] == stretch + 1)
			continue;
		last[a * f->nprocesses + b] = stretch + 1;
		*MEM_GROW(f->pairs, f->npairs) = (struct part_pair){ stretch, a, b };
	}
}

static void look_between(struct parts_finder *f)
{
	struct match_walk *walk = walk_open(f);
	size_t *last = mem_zeroed(f->nprocesses * f->nprocesses, sizeof *last);
	f->counts = mem_zeroed((f->nends + 1) * f->nprocesses * f->nprocesses, sizeof *f->counts);
	f->crossed = mem_zeroed(f->nends + 1, sizeof *f->crossed);
	for (struct match m; match_walk_next(walk, &m);) {
		if (m.kind == MATCH_MESSAGE)
			count_message(f, &m);
		else if (brings_together(f, &m) && m.nparts < f->ntalk)
			note_pair(f, &m, last);
	}
	for (size_t k = 1; k < f->nends; k++)
		f->crossed[k] += f->crossed[k - 1];
	match_walk_close(walk);
	free(last);
}

static bool same_pairs(const struct parts_finder *f, const uint64_t *x, const uint64_t *y)
{
	bool same = true;
	for (size_t i = 0; i < f->nprocesses * f->nprocesses; i++)
		same &= (x[i] > 0) == (y[i] > 0);
	return same;
}

static bool any_message(const struct parts_finder *f, const uint64_t *counts)
{
	bool any = false;
	for (size_t i = 0; i < f->nprocesses * f->nprocesses && !any; i++)
		any = counts[i] > 0;
	return any;
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Adds the counts of one stretch to those of another, which has them all then. */
static void move_counts(struct parts_finder *f, size_t to, size_t from)
{
	for (size_t i = 0; i < f->nprocesses * f->nprocesses; i++) {
		counts_of(f, to)[i] += counts_of(f, from)[i];
		counts_of(f, from)[i] = 0;
	}
}

/* Stretches of one phase are one; -> how many there are then, of which each begins with the stretch that is given. */
static size_t join(struct parts_finder *f, size_t *first)
{
	size_t n = 0;
	for (size_t k = 0; k <= f->nends; k++)
		if (f->goes_on[k])
			move_counts(f, first[n - 1], k);
		else
			first[n++] = k;
	return n;
}

/* Who has the same pairs as one of so many before goes on with that, and so does what lies between. */
static void repeat(struct parts_finder *f, const size_t *first, size_t n, size_t back)
{
	for (size_t i = 1; i < n; i++)
		for (size_t d = 1; d <= back && d <= i; d++) {
			if (!same_pairs(f, counts_of(f, first[i - d]), counts_of(f, first[i])))
				continue;
			for (size_t k = 0; k < d; k++)
				f->goes_on[first[i - k]] = true;
			break;
		}
}

/* Phases that may be parts: with messages, or of many stretches. */
static size_t count_phases(const struct parts_finder *f, const size_t *first, size_t n)
{
	size_t phases = 0, stretches = 0;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		stretches = f->goes_on[first[i]] ? stretches + 1 : 1;
		any = (f->goes_on[first[i]] && any) || any_message(f, counts_of(f, first[i]));
		bool last = i + 1 == n || !f->goes_on[first[i + 1]];
		phases += last && (any || stretches + 1 >= BSP_LEAST);
	}
	return phases;
}

/* Stretches between which messages are under way are one; then those next to each other with the same pairs; and if these
 * are too many, those that come again and again in some order. Their counts are with the first. */
static void find_phases(struct parts_finder *f)
{
	size_t *first = mem_zeroed(f->nends + 1, sizeof *first);
	f->goes_on = mem_zeroed(f->nends + 1, sizeof *f->goes_on);
	f->phase_of = mem_zeroed(f->nends + 1, sizeof *f->phase_of);
	for (size_t k = 1; k <= f->nends; k++)
		f->goes_on[k] = f->crossed[k - 1] > 0;
	size_t n = join(f, first);
	repeat(f, first, n, 1);
	if (count_phases(f, first, n) > PARTS_MOST)
		repeat(f, first, n, PARTS_LOOP);
	f->nphases = join(f, first);
	for (size_t k = 0, phase = 0; k <= f->nends; k++) {
		phase += phase + 1 < f->nphases && first[phase + 1] == k;
		f->phase_of[k] = phase;
	}
	for (size_t i = 0; i < f->nphases; i++)
		if (first[i] != i)
			move_counts(f, i, first[i]);
	free(first);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void find_windows(const struct parts_finder *f, struct part *part, size_t phase)
{
	const struct trace *trace = f->g->trace;
	size_t begin = 0, end = f->nends;
	while (f->phase_of[begin] != phase)
		begin++;
	while (f->phase_of[end] != phase)
		end--;
	part->windows = mem_resize(NULL, trace->nthreads + 1, sizeof *part->windows);
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		uint32_t process = trace->threads[t].process;
		part->windows[t] = (struct steps_window){ begin ? f->ends[(begin - 1) * f->nprocesses + process] : 0,
							  end < f->nends ? f->ends[end * f->nprocesses + process] : UINT64_MAX };
	}
}

bool part_has(const struct part *part, uint32_t process)
{
	bool in = false;
	for (size_t i = 0; i < part->n && !in; i++)
		in = part->processes[i] == process;
	return in;
}

/* The marks that a thread comes by in its window. */
static void find_marks(const struct parts_finder *f, struct part *part, uint32_t thread, bool *seen)
{
	const struct trace *trace = f->g->trace;
	struct tr_cursor events = trace_places(trace, thread);
	struct tr_event e;
	memset(seen, 0, trace->nsites * sizeof *seen);
	while (trace_next_bare(&events, &e)) {
		bool marks = e.op == DPROF_ENTER && e.site < trace->nsites && trace->sites[e.site].role != DPROF_IN_NO_ROLE;
		if (!marks || seen[e.site] || e.stamp < part->windows[thread].from || e.stamp >= part->windows[thread].to)
			continue;
		seen[e.site] = true;
		*MEM_GROW(part->each, part->neach) = (struct call_each){ .thread = thread, .site = e.site };
	}
	trace_end(&events);
}

/* If any are marked at all. */
static void find_all_marks(const struct parts_finder *f, struct part *part)
{
	const struct trace *trace = f->g->trace;
	bool any = false, *seen = mem_zeroed(trace->nsites + 1, sizeof *seen);
	for (size_t i = 0; i < f->calls->neach; i++)
		any |= f->calls->each[i].site < trace->nsites && trace->sites[f->calls->each[i].site].role != DPROF_IN_NO_ROLE;
	for (uint32_t t = 0; t < trace->nthreads && any; t++)
		if (part_has(part, trace->threads[t].process))
			find_marks(f, part, t, seen);
	free(seen);
}

static void find_length(const struct parts_finder *f, struct part *part)
{
	const struct trace *trace = f->g->trace;
	frz_time first = { INT64_MAX, INT64_MAX }, last = { INT64_MIN, INT64_MIN };
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		if (trace->threads[t].number != 0 || f->g->threads[t].nevents == 0 || !part_has(part, trace->threads[t].process))
			continue;
		struct steps_window w = steps_window_of(f->g, t, part->windows);
		struct frz_cursor c = times_cursor(f->g->times, trace->threads[t].clock);
		frz_time from = frz_time_of(&c, w.from), to = frz_time_of(&c, w.to);
		first = (frz_time){ from.lo < first.lo ? from.lo : first.lo, from.hi < first.hi ? from.hi : first.hi };
		last = time_most(last, to);
	}
	part->begins = time_less(first, f->calls->span.first);
	part->length = time_less(last, first);
}

static void fill_part(const struct parts_finder *f, struct part *part, size_t phase, uint32_t *group, uint32_t leader)
{
	const uint64_t *counts = counts_of(f, phase);
	for (uint32_t from = 0; from < f->nprocesses; from++) {
		if (!f->communicates[from] || joined_group(group, from) != leader)
			continue;
		*MEM_GROW(part->processes, part->n) = from;
		for (uint32_t to = 0; to < f->nprocesses; to++)
			if (counts[from * f->nprocesses + to])
				*MEM_GROW(part->messages, part->nmessages) =
					(struct call_message){ from, to, counts[from * f->nprocesses + to], 0 };
	}
	find_windows(f, part, phase);
	find_all_marks(f, part);
	part->calls = *f->calls;
	part->calls.messages = part->messages;
	part->calls.nmessages = part->nmessages;
	part->calls.each = part->each;
	part->calls.neach = part->neach;
	pattern_open(&part->pattern, f->g->trace, &part->calls);
	find_length(f, part);
}

static bool is_silent(const struct parts_finder *f, size_t phase, uint32_t process)
{
	const uint64_t *counts = counts_of(f, phase);
	bool silent = true;
	for (size_t i = 0; i < f->nprocesses && silent; i++)
		silent = !counts[process * f->nprocesses + i] && !counts[i * f->nprocesses + process];
	return silent;
}

/* Who has no messages then, by whom it comes together with. */
static void find_silent_groups(const struct parts_finder *f, size_t phase, uint32_t *group)
{
	size_t stretches = 0;
	for (size_t k = 0; k <= f->nends; k++)
		stretches += f->phase_of[k] == phase;
	bool all = stretches + 1 >= BSP_LEAST && !any_message(f, counts_of(f, phase));
	for (uint32_t i = 0, before = UINT32_MAX; i < f->nprocesses && all; i++) {
		if (f->communicates[i] && before != UINT32_MAX)
			joined_join(group, i, before);
		before = f->communicates[i] ? i : before;
	}
	for (size_t i = 0; i < f->npairs && !all; i++) {
		const struct part_pair *m = &f->pairs[i];
		if (f->phase_of[m->stretch] == phase && is_silent(f, phase, m->a) && is_silent(f, phase, m->b))
			joined_join(group, m->a, m->b);
	}
}

static void find_groups(const struct parts_finder *f, size_t phase, uint32_t *group)
{
	for (uint32_t from = 0; from < f->nprocesses; from++)
		for (uint32_t to = 0; to < f->nprocesses; to++)
			if (counts_of(f, phase)[from * f->nprocesses + to])
				joined_join(group, from, to);
	find_silent_groups(f, phase, group);
}

/* It has messages, or several are in it. */
static bool is_group(const struct parts_finder *f, size_t phase, uint32_t *group, uint32_t leader)
{
	size_t n = 0;
	bool any = false;
	for (uint32_t i = 0; i < f->nprocesses && joined_group(group, leader) == leader; i++) {
		bool in = joined_group(group, i) == leader;
		n += in;
		any |= in && !is_silent(f, phase, i);
	}
	return any || n > 1;
}

/* Whoever has to do with nobody in a phase is in no part then. */
static void add_parts(const struct parts_finder *f, struct parts *parts, size_t phase)
{
	uint32_t *group = joined_none(f->nprocesses);
	find_groups(f, phase, group);
	for (uint32_t leader = 0; leader < f->nprocesses && parts->n <= PARTS_MOST; leader++) {
		if (!is_group(f, phase, group, leader))
			continue;
		struct part *part = MEM_GROW(parts->v, parts->n);
		*part = (struct part){ .n = 0 };
		fill_part(f, part, phase, group, leader);
	}
	free(group);
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* From 1 on; MANY: in none. */
static uint32_t part_at(const struct parts *parts, uint32_t thread, uint32_t process, uint64_t stamp)
{
	uint32_t found = MANY;
	for (size_t i = 0; i < parts->n && found == MANY; i++) {
		const struct steps_window *w = &parts->v[i].windows[thread];
		if (stamp >= w->from && stamp < w->to && part_has(&parts->v[i], process))
			found = (uint32_t)i + 1;
	}
	return found;
}

/* Enters and exits tell where a thread was in a region. */
static void find_rows(struct parts *parts, const struct graph *g)
{
	const struct trace *trace = g->trace;
	parts->part_of = mem_zeroed(trace->nsites + 1, sizeof *parts->part_of);
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		struct tr_cursor events = trace_places(trace, t);
		struct tr_event e;
		while (trace_next_bare(&events, &e)) {
			if (!tr_is(trace, e.site, OP_REGION))
				continue;
			uint32_t *row = &parts->part_of[tr_row(trace, e.site)];
			uint32_t part = part_at(parts, t, trace->threads[t].process, e.stamp);
			*row = *row == 0 || *row == part ? part : MANY;
		}
		trace_end(&events);
	}
}

/* Stamps of all threads of a process can be compared. */
static bool has_one_clock_each(const struct trace *trace)
{
	uint32_t *clock = mem_resize(NULL, trace->nprocesses + 1, sizeof *clock);
	bool one = true;
	memset(clock, 0xff, (trace->nprocesses + 1) * sizeof *clock);
	for (size_t t = 0; t < trace->nthreads; t++) {
		uint32_t *of = &clock[trace->threads[t].process];
		one &= *of == UINT32_MAX || *of == trace->threads[t].clock;
		*of = trace->threads[t].clock;
	}
	free(clock);
	return one;
}

static void free_finder(struct parts_finder *f)
{
	free(f->communicates);
	free(f->ends);
	free(f->crossed);
	free(f->counts);
	free(f->pairs);
	free(f->goes_on);
	free(f->phase_of);
}

void parts_open(struct parts *parts, const struct graph *g, const struct call_profile *calls)
{
	struct parts_finder f = { .g = g, .calls = calls, .nprocesses = g->trace->nprocesses };
	*parts = (struct parts){ .n = 0 };
	find_talkers(&f);
	if (f.ntalk > 0 && has_one_clock_each(g->trace) && find_ends(&f)) {
		look_between(&f);
		find_phases(&f);
		for (size_t i = 0; i < f.nphases && parts->n <= PARTS_MOST; i++)
			add_parts(&f, parts, i);
	}
	free_finder(&f);
	if (parts->n < 2 || parts->n > PARTS_MOST)
		parts_close(parts);
	else
		find_rows(parts, g);
}

void parts_close(struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		struct part *p = &parts->v[i];
		pattern_close(&p->pattern);
		free(p->messages);
		free(p->each);
		free(p->processes);
		free(p->windows);
	}
	free(parts->v);
	free(parts->part_of);
	*parts = (struct parts){ .n = 0 };
}

/* SPDX-License-Identifier: MIT
 *
 * parts.c - see parts.h. First where all come together; then how many messages went from whom to whom between two of these. */
#include "analysis/diagnose/parts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/match/match.h"

#define MOST_COUNTS (1u << 22)

struct parts_finder {
	const struct graph *g;
	const struct call_profile *calls;
	size_t nprocesses;
	bool *talks;                 /* of each process: it has messages */
	size_t ntalk;
	uint64_t *ends; size_t nends; /* nprocesses each: stamps at which a process has come together with all others */
	bool *crossed;               /* of each end: a message is under way then */
	uint64_t *counts;            /* of each stretch between them, from whom, to whom */
	size_t *phase_of;            /* of each stretch */
	size_t nphases;
};

static struct match_walk *walk_open(const struct parts_finder *f)
{
	struct match_log *log = f->g->times->program.matches; /* as graph.c has it */
	return match_walk_open(f->g->trace, match_slack(f->g->trace), match_log_is_full(log) ? log : NULL);
}

static void *zeros(size_t n, size_t size)
{
	void *p = mem_resize(NULL, n + 1, size);
	memset(p, 0, (n + 1) * size);
	return p;
}

/* ---- Where all come together ----------------------------------------------------------------- */

static void find_talkers(struct parts_finder *f)
{
	f->talks = zeros(f->nprocesses, sizeof *f->talks);
	for (size_t i = 0; i < f->calls->nmessages; i++)
		f->talks[f->calls->messages[i].from] = f->talks[f->calls->messages[i].to] = true;
	for (size_t i = 0; i < f->nprocesses; i++)
		f->ntalk += f->talks[i];
}

/* Each process by its first thread; and all that have messages. */
static bool is_end(const struct parts_finder *f, const struct match *m)
{
	const struct trace *trace = f->g->trace;
	size_t n = 0;
	if (m->kind != MATCH_COLLECTIVE || m->flow != FLOW_ALL || !m->complete || m->begun || m->by_chance)
		return false;
	for (size_t i = 0; i < m->nparts; i++) {
		const struct tr_thread *t = &trace->threads[m->parts[i].thread];
		const uint64_t *before = f->nends ? f->ends + (f->nends - 1) * f->nprocesses : NULL;
		if (t->number != 0 || m->parts[i].done_at == MATCH_NEVER || (before && before[t->process] > m->parts[i].enter))
			return false;
		n += f->talks[t->process];
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

static void count_messages(struct parts_finder *f)
{
	const struct tr_thread *threads = f->g->trace->threads;
	struct match_walk *walk = walk_open(f);
	f->counts = zeros((f->nends + 1) * f->nprocesses * f->nprocesses, sizeof *f->counts);
	f->crossed = zeros(f->nends, sizeof *f->crossed);
	for (struct match m; match_walk_next(walk, &m);) {
		if (m.kind != MATCH_MESSAGE)
			continue;
		const struct match_part *s = &m.parts[0], *r = &m.parts[1];
		uint32_t from = threads[s->thread].process, to = threads[r->thread].process;
		size_t sent = stretch_at(f, from, s->enter), received = stretch_at(f, to, r->done_at == MATCH_NEVER ? r->enter : r->done);
		counts_of(f, sent)[from * f->nprocesses + to]++;
		for (size_t k = sent < received ? sent : received; k < (sent < received ? received : sent); k++)
			f->crossed[k] = true;
	}
	match_walk_close(walk);
}

static bool same_pairs(const struct parts_finder *f, const uint64_t *x, const uint64_t *y)
{
	bool same = true;
	for (size_t i = 0; i < f->nprocesses * f->nprocesses; i++)
		same &= (x[i] > 0) == (y[i] > 0);
	return same;
}

/* Adds the counts of one stretch to those of another. */
static void add_counts(struct parts_finder *f, uint64_t *to, const uint64_t *counts)
{
	for (size_t i = 0; i < f->nprocesses * f->nprocesses; i++)
		to[i] += counts[i];
}

/* Stretches between which messages are under way are one; then those next to each other with the same pairs. Their counts are with the
 * first. */
static void join_stretches(struct parts_finder *f)
{
	size_t *first = zeros(f->nends + 1, sizeof *first), n = 0;
	f->phase_of = zeros(f->nends + 1, sizeof *f->phase_of);
	for (size_t k = 0; k <= f->nends; k++) {
		bool crossed = k > 0 && f->crossed[k - 1];
		if (crossed)
			add_counts(f, counts_of(f, first[n - 1]), counts_of(f, k));
		else
			first[n++] = k;
		f->phase_of[k] = n - 1;
	}
	size_t *joined = zeros(n, sizeof *joined);
	for (size_t i = 0; i < n; i++) {
		bool same = i > 0 && same_pairs(f, counts_of(f, first[f->nphases - 1]), counts_of(f, first[i]));
		if (same)
			add_counts(f, counts_of(f, first[f->nphases - 1]), counts_of(f, first[i]));
		else
			first[f->nphases++] = first[i];
		joined[i] = f->nphases - 1;
	}
	for (size_t k = 0; k <= f->nends; k++)
		f->phase_of[k] = joined[f->phase_of[k]];
	for (size_t i = 0; i < f->nphases; i++)
		if (first[i] != i)
			memcpy(counts_of(f, i), counts_of(f, first[i]), f->nprocesses * f->nprocesses * sizeof *f->counts);
	free(joined);
	free(first);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint32_t group_of(uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

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

static bool is_in(const struct part *part, uint32_t process)
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
	bool any = false, *seen = zeros(trace->nsites, sizeof *seen);
	for (size_t i = 0; i < f->calls->neach; i++)
		any |= f->calls->each[i].site < trace->nsites && trace->sites[f->calls->each[i].site].role != DPROF_IN_NO_ROLE;
	for (uint32_t t = 0; t < trace->nthreads && any; t++)
		if (is_in(part, trace->threads[t].process))
			find_marks(f, part, t, seen);
	free(seen);
}

static frz_time minus(frz_time x, frz_time y)
{
	return (frz_time){ ticks_minus(x.lo, y.hi), ticks_minus(x.hi, y.lo) };
}

static void find_length(const struct parts_finder *f, struct part *part)
{
	const struct trace *trace = f->g->trace;
	frz_time first = { INT64_MAX, INT64_MAX }, last = { INT64_MIN, INT64_MIN };
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		if (trace->threads[t].number != 0 || f->g->threads[t].nevents == 0 || !is_in(part, trace->threads[t].process))
			continue;
		struct steps_window w = steps_window_of(f->g, t, part->windows);
		struct frz_cursor c = times_cursor(f->g->times, trace->threads[t].clock);
		frz_time from = frz_time_of(&c, w.from), to = frz_time_of(&c, w.to);
		first = (frz_time){ from.lo < first.lo ? from.lo : first.lo, from.hi < first.hi ? from.hi : first.hi };
		last = time_most(last, to);
	}
	part->begins = time_positive(minus(first, f->calls->span.first));
	part->length = time_positive(minus(last, first));
}

static void fill_part(const struct parts_finder *f, struct part *part, size_t phase, uint32_t *group, uint32_t leader)
{
	const uint64_t *counts = counts_of(f, phase);
	for (uint32_t from = 0; from < f->nprocesses; from++) {
		if (!f->talks[from] || group_of(group, from) != leader)
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

static void find_groups(const struct parts_finder *f, size_t phase, uint32_t *group)
{
	for (uint32_t i = 0; i < f->nprocesses; i++)
		group[i] = i;
	for (uint32_t from = 0; from < f->nprocesses; from++)
		for (uint32_t to = 0; to < f->nprocesses; to++)
			if (counts_of(f, phase)[from * f->nprocesses + to])
				group[group_of(group, from)] = group_of(group, to);
}

/* Whoever has no message in a phase is in no part then. */
static void add_parts(const struct parts_finder *f, struct parts *parts, size_t phase)
{
	uint32_t *group = zeros(f->nprocesses, sizeof *group);
	find_groups(f, phase, group);
	for (uint32_t leader = 0; leader < f->nprocesses && parts->n <= PARTS_MOST; leader++) {
		bool any = false;
		for (uint32_t i = 0; i < f->nprocesses && group_of(group, leader) == leader && !any; i++)
			for (uint32_t k = 0; k < f->nprocesses && !any; k++)
				any = group_of(group, i) == leader && counts_of(f, phase)[i * f->nprocesses + k];
		if (!any)
			continue;
		struct part *part = MEM_GROW(parts->v, parts->n);
		*part = (struct part){ .n = 0 };
		fill_part(f, part, phase, group, leader);
	}
	free(group);
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

void parts_open(struct parts *parts, const struct graph *g, const struct call_profile *calls)
{
	struct parts_finder f = { .g = g, .calls = calls, .nprocesses = g->trace->nprocesses };
	*parts = (struct parts){ NULL, 0 };
	find_talkers(&f);
	if (f.ntalk > 0 && has_one_clock_each(g->trace) && find_ends(&f)) {
		count_messages(&f);
		join_stretches(&f);
		for (size_t i = 0; i < f.nphases && parts->n <= PARTS_MOST; i++)
			add_parts(&f, parts, i);
	}
	if (parts->n < 2 || parts->n > PARTS_MOST)
		parts_close(parts);
	free(f.talks);
	free(f.ends);
	free(f.crossed);
	free(f.counts);
	free(f.phase_of);
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
	*parts = (struct parts){ NULL, 0 };
}

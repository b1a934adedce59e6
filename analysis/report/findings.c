/* SPDX-License-Identifier: MIT
 *
 * findings.c - from a trace to standings: times, totals, scores, ranking. */
#include "analysis/report/findings.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/presence.h"

/* Of work and of waiting: who is at a lock that is not recorded seems to work. */
#define SCORED_KINDS                                                                               \
	(TR_KIND_BIT(DPROF_KIND_REGION) | TR_KIND_BIT(DPROF_KIND_BARRIER) |                        \
	 TR_KIND_BIT(DPROF_KIND_COLL) | TR_KIND_BIT(DPROF_KIND_SEND) |                             \
	 TR_KIND_BIT(DPROF_KIND_RECV) | TR_KIND_BIT(DPROF_KIND_WAIT) |                             \
	 TR_KIND_BIT(DPROF_KIND_FORK) | TR_KIND_BIT(DPROF_KIND_JOIN) |                             \
	 TR_KIND_BIT(DPROF_KIND_LOCK))

const struct span *findings_span(const struct findings *f, size_t thread)
{
	return &f->spans[f->times.line[f->trace->threads[thread].clock]];
}

struct interval findings_seconds(const struct findings *f, size_t thread, frz_time ticks)
{
	return times_seconds(&f->times, f->times.line[f->trace->threads[thread].clock], ticks);
}

uint32_t findings_line(const struct findings *f)
{
	uint32_t line = 0;
	while (line + 1 < f->times.nlines && !f->spans[line].events)
		line++;
	return line;
}

struct interval findings_run_s(const struct findings *f)
{
	uint32_t line = findings_line(f);
	return times_seconds(&f->times, line, f->spans[line].length);
}

/* ---- Ranking --------------------------------------------------------------------------------- */

static int by_percent(const void *x, const void *y)
{
	const struct standing *a = x, *b = y;
	double middle_a = a->percent.lo + a->percent.hi, middle_b = b->percent.lo + b->percent.hi;
	if (middle_a != middle_b)
		return middle_a < middle_b ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* In the order of the middle, everyone before somebody that he overlaps with need not be his
 * neighbour: compare with the lowest lo before, and the highest hi behind. */
static void prove(struct standings *s)
{
	double lowest = 200, highest = -1;
	for (size_t i = 0; i < s->count; i++) {
		s->list[i].proved = s->list[i].percent.hi < lowest;
		lowest = s->list[i].percent.lo < lowest ? s->list[i].percent.lo : lowest;
	}
	for (size_t i = s->count; i-- > 0;) {
		s->list[i].proved &= s->list[i].percent.lo > highest;
		highest = s->list[i].percent.hi > highest ? s->list[i].percent.hi : highest;
	}
}

/* `totals`: what to complete on the way; or NULL. */
static struct standings rank_actors(const struct findings *f, const struct cast *cast,
				    struct totals *totals)
{
	struct csp_score *scores = csp_scores(&f->times, &f->roles, cast, f->spans, totals);
	struct standings s = { mem_resize(NULL, cast->nactors + 1, sizeof *s.list), cast->nactors };
	for (size_t thread = f->trace->nthreads; thread-- > 0;) {
		uint32_t a = cast->actor_of[thread];
		if (a == LANE_NOBODY)
			continue;
		s.list[a] = (struct standing){ .thread = thread, .site = scores[a].site };
		s.list[a].percent =
			interval_percent(scores[a].alone, findings_span(f, thread)->length);
		s.list[a].alone_s = findings_seconds(f, thread, scores[a].alone);
	}
	free(scores);
	qsort(s.list, s.count, sizeof *s.list, by_percent);
	prove(&s);
	return s;
}

static struct standings copy_of(struct standings s)
{
	struct standings copy = { mem_resize(NULL, s.count + 1, sizeof *copy.list), s.count };
	memcpy(copy.list, s.list, s.count * sizeof *s.list);
	return copy;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void find_spans(struct findings *f)
{
	f->spans = mem_resize(NULL, f->times.nlines, sizeof *f->spans);
	for (uint32_t line = 0; line < f->times.nlines; line++)
		f->spans[line] = times_span(&f->times, line, f->totals.ends);
}

static void count_everything(struct findings *f)
{
	for (size_t i = 0; i < f->trace->nthreads; i++) {
		const struct thread_totals *t = &f->totals.threads[i];
		f->lost += f->trace->threads[i].lost;
		f->any_events |= t->ends.first <= t->ends.last;
		f->any_work |= t->works;
		f->any_wait |= t->waits;
	}
}

static void know_nothing(const struct findings *f, struct standings *s)
{
	for (size_t i = 0; i < s->count; i++) {
		frz_time run = findings_span(f, s->list[i].thread)->length;
		s->list[i].percent = (struct interval){ 0, 100 };
		s->list[i].alone_s = (struct interval){ 0, findings_seconds(f, s->list[i].thread, run).hi };
		s->list[i].site = TR_NO_SITE;
		s->list[i].proved = false;
	}
}

/* Who works while others wait cannot be told from events that say only one of both. */
static void doubt_scores(struct findings *f)
{
	uint32_t lacking = f->trace->left_out & SCORED_KINDS;
	if (!lacking)
		return;
	char *kinds = tr_kinds_words(lacking);
	trace_problem(f->trace,
		      "%s: events of these kinds were not recorded (DPROF_EVENTS), so nothing is known of who "
		      "straggles, and times of work may have waiting in them: %s",
		      f->trace->directory, kinds);
	free(kinds);
	f->doubted = true;
	know_nothing(f, &f->ranks);
	know_nothing(f, &f->threads);
}

int findings_open(struct findings *f, struct trace *trace, const struct options *options)
{
	*f = (struct findings){ .trace = trace };
	int status = times_open(&f->times, trace, options);
	if (status != EXIT_FINE)
		return status;
	if (!roles_open(&f->roles, trace, options->work, options->wait)) {
		roles_close(&f->roles);
		times_close(&f->times);
		return EXIT_USAGE;
	}
	totals_open(&f->totals, trace, &f->roles);
	find_spans(f);
	struct cast threads = totals_cast_threads(&f->totals),
		    ranks = totals_cast_processes(&f->totals);
	count_everything(f);
	f->one_line = csp_on_one_line(&f->times, &threads, f->spans);
	f->several_threads = threads.nactors > ranks.nactors;
	f->ranks = rank_actors(f, &ranks, &f->totals);
	f->threads = f->several_threads ? rank_actors(f, &threads, NULL) : copy_of(f->ranks);
	cast_close(&threads);
	cast_close(&ranks);
	doubt_scores(f);
	say_open_ends(trace, &f->totals);
	say_absent(trace, &f->totals, options);
	say_unmarked(trace, &f->totals, options);
	say_partly_there(trace, &f->totals, &f->times, f->spans);
	return EXIT_FINE;
}

void findings_regions(struct findings *f)
{
	totals_regions(&f->totals);
	for (size_t i = 0; i < f->trace->nthreads; i++)
		f->events += f->totals.threads[i].events;
}

void findings_close(struct findings *f)
{
	free(f->threads.list);
	free(f->ranks.list);
	free(f->spans);
	totals_close(&f->totals);
	roles_close(&f->roles);
	times_close(&f->times);
}

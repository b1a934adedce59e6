/* SPDX-License-Identifier: MIT
 *
 * findings.c - from a trace to rankings: times, totals, scores. */
#include "analysis/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/pool.h"
#include "analysis/base/progress.h"
#include "analysis/report/marks.h"
#include "analysis/report/polling_sleeps.h"
#include "analysis/report/presence.h"
#include "analysis/report/run_ends.h"
#include "analysis/report/unclassified.h"
#include "analysis/trace/names.h"

const struct span *findings_span(const struct findings *f, size_t thread)
{
	return &f->spans[f->times.time_base[f->trace->threads[thread].clock]];
}

struct interval findings_seconds(const struct findings *f, size_t thread, frz_time ticks)
{
	return times_seconds(&f->times, f->times.time_base[f->trace->threads[thread].clock], ticks);
}

uint32_t findings_time_base(const struct findings *f)
{
	uint32_t time_base = 0;
	while (time_base + 1 < f->times.ntime_bases && !f->spans[time_base].events)
		time_base++;
	return time_base;
}

struct interval findings_run_s(const struct findings *f)
{
	uint32_t time_base = findings_time_base(f);
	if (!f->any_events) /* how long that was no event says */
		return (struct interval){ 0, INFINITY };
	return times_seconds(&f->times, time_base, f->spans[time_base].length);
}

/* ---- Work and waiting ------------------------------------------------------------------------ */

static frz_time recorded(const struct findings *f, size_t thread, const struct total *total)
{
	return totals_time(&f->times, findings_span(f, thread), &f->totals, thread, total);
}

frz_time findings_work(const struct findings *f, size_t thread)
{
	const struct span *span = findings_span(f, thread);
	return blocked_work(recorded(f, thread, &f->totals.threads[thread].work), unrecorded_most(&f->unrecorded, f->trace, thread),
			    &f->unrecorded.threads[thread], span, findings_seconds(f, thread, span->length).lo);
}

frz_time findings_wait(const struct findings *f, size_t thread)
{
	const struct span *span = findings_span(f, thread);
	return blocked_wait(recorded(f, thread, &f->totals.threads[thread].wait), unrecorded_most(&f->unrecorded, f->trace, thread),
			    &f->unrecorded.threads[thread], span, findings_seconds(f, thread, span->length).lo);
}

/* ---- Ranking --------------------------------------------------------------------------------- */

static int by_percent(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	double middle_a = a->percent.lo + a->percent.hi, middle_b = b->percent.lo + b->percent.hi;
	if (middle_a != middle_b)
		return middle_a < middle_b ? 1 : -1;
	return ORDER(a->thread, b->thread);
}

void ranking_sort(struct ranking *s)
{
	if (s->count)
		qsort(s->list, s->count, sizeof *s->list, by_percent);
}

/* In the order of the middle, everyone before one that he overlaps with need not be his
 * neighbour: compare with the lowest lo before, and the highest hi behind. */
void ranking_prove(struct ranking *s)
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

static struct ranking rank_participants(const struct findings *f, const struct participants *who)
{
	struct csp_score *scores = csp_scores(&f->times, &f->totals.periods, who, f->spans);
	struct ranking s = { mem_resize(NULL, who->nparticipants + 1, sizeof *s.list),
			     who->nparticipants };
	for (size_t thread = f->trace->nthreads; thread-- > 0;) {
		uint32_t a = who->participant_of[thread];
		if (a == NO_PARTICIPANT)
			continue;
		s.list[a] = (struct ranked){ .thread = thread, .site = scores[a].site, .mostly = scores[a].mostly,
					    .sure = scores[a].sure };
		s.list[a].percent =
			interval_percent(scores[a].alone, findings_span(f, thread)->length);
		s.list[a].alone_s = findings_seconds(f, thread, scores[a].alone);
	}
	free(scores);
	ranking_sort(&s);
	ranking_prove(&s);
	return s;
}

struct ranking ranking_copy(struct ranking s)
{
	struct ranking copy = { mem_resize(NULL, s.count + 1, sizeof *copy.list), s.count };
	memcpy(copy.list, s.list, s.count * sizeof *s.list);
	return copy;
}

/* ---- Unclassified time ----------------------------------------------------------------------- */

struct interval findings_unclassified(const struct findings *f, size_t thread)
{
	return unclassified_of_run(&f->times, findings_span(f, thread), &f->totals, thread);
}

/* At most so many percent of the run can be one's more or another's less, whatever threads did in
 * unclassified time; infinity when that is not so simple: a thread that waits only then, or not even
 * then, keeps others from waiting at other times. */
static double most_change(const struct findings *f)
{
	double sum = 0;
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		const struct thread_totals *totals = &f->totals.threads[t];
		if (!totals->unclassified_ever)
			continue;
		if (!f->one_time_base || !totals->waits)
			return INFINITY;
		sum = nextafter(sum + findings_unclassified(f, t).hi, INFINITY);
	}
	return sum;
}

/* As it is when each may have so many percent less or more. */
static struct ranking widened(const struct ranking *s, double change)
{
	struct ranking wide = ranking_copy(*s);
	for (size_t i = 0; i < s->count; i++) {
		wide.list[i].percent.lo = nextafter(s->list[i].percent.lo - change, -INFINITY);
		wide.list[i].percent.hi = nextafter(s->list[i].percent.hi + change, INFINITY);
	}
	ranking_prove(&wide);
	return wide;
}

static bool holds_with(const struct ranking *s, double change)
{
	struct ranking wide = widened(s, change);
	bool holds = true;
	for (size_t i = 0; i < s->count; i++)
		holds &= wide.list[i].proved || !s->list[i].proved;
	free(wide.list);
	return holds;
}

static const struct interval *score_for(const struct ranking *s, const struct findings *f, size_t thread,
					bool by_thread)
{
	const struct tr_thread *threads = f->trace->threads;
	for (size_t i = 0; i < s->count; i++)
		if (by_thread ? s->list[i].thread == thread
			      : threads[s->list[i].thread].process == threads[thread].process)
			return &s->list[i].percent;
	return NULL;
}

/* One of the two rankings, by ranks or by threads: what is known, and for every choice of what threads did in unclassified
 * time. */
struct findings_view {
	const struct findings *f;
	bool by_thread;
	const struct participants *who;
	struct ranking known, any;
	bool withheld;        /* something that is known is not proved for that */
};

static bool needs_any(const struct findings_view *v)
{
	bool proved = false;
	for (size_t i = 0; i < v->known.count; i++)
		proved |= v->known.list[i].proved;
	return proved && !holds_with(&v->known, most_change(v->f));
}

/* Who takes no part in what is known may do so here. */
static void rank_any(struct findings_view *v)
{
	const struct totals *totals = &v->f->totals;
	struct participants who = v->by_thread ? totals_participant_threads(totals, true)
					       : totals_participant_processes(totals, true);
	v->any = rank_participants(v->f, &who);
	participants_close(&who);
}

/* What is proved must hold for every choice. */
static void withhold(struct findings_view *v)
{
	for (size_t i = 0; i < v->known.count; i++) {
		struct ranked *x = &v->known.list[i];
		const struct interval *own = score_for(&v->any, v->f, x->thread, v->by_thread);
		bool before = x->proved;
		for (size_t k = 0; k < v->any.count && x->proved; k++)
			x->proved = &v->any.list[k].percent == own ||
				    interval_apart(*own, v->any.list[k].percent);
		v->withheld |= before && !x->proved;
	}
}

/* Beside what is proved no site is named that is only possibly the one. */
static void name_no_doubted_sites(struct ranking *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].proved && !s->list[i].sure)
			s->list[i].site = TR_NO_SITE;
}

static void rank_view(void *views, size_t view, size_t worker)
{
	struct findings_view *v = (struct findings_view *)views + view;
	(void)worker;
	v->known = rank_participants(v->f, v->who);
	if (needs_any(v)) {
		rank_any(v);
		withhold(v);
		free(v->any.list);
	}
	name_no_doubted_sites(&v->known);
}

static void rank(struct findings *f, const struct participants *ranks, const struct participants *threads)
{
	struct findings_view views[2] = { { .f = f, .who = ranks }, { .f = f, .who = threads, .by_thread = true } };
	size_t n = f->several_threads ? 2 : 1;
	progress_begin("adding up who worked alone", n * periods_count(&f->totals.periods));
	pool_run(n, n, rank_view, views);
	progress_end();
	f->ranks = views[0].known;
	f->threads = n == 2 ? views[1].known : ranking_copy(f->ranks);
	f->withheld = views[0].withheld || views[1].withheld;
}

static void say_unclassified(const struct findings *f)
{
	struct unclassified *all = mem_zeroed(f->trace->nthreads + 1, sizeof *all);
	for (size_t t = 0; t < f->trace->nthreads; t++)
		all[t].of_run = findings_unclassified(f, t);
	unclassified_say(f->trace, all);
	free(all);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void find_spans(struct findings *f)
{
	f->spans = mem_resize(NULL, f->times.ntime_bases, sizeof *f->spans);
	for (uint32_t time_base = 0; time_base < f->times.ntime_bases; time_base++)
		f->spans[time_base] = times_span(&f->times, time_base, f->totals.ends);
}

static void count_everything(struct findings *f)
{
	for (size_t i = 0; i < f->trace->nthreads; i++) {
		const struct thread_totals *t = &f->totals.threads[i];
		f->lost += f->trace->threads[i].unrecorded ? 0 : f->trace->threads[i].lost;
		f->why |= f->trace->threads[i].why;
		f->any_events |= t->ends.first <= t->ends.last;
		f->any_work |= t->works;
		f->any_wait |= t->waits;
	}
}

static void know_nothing(const struct findings *f, struct ranking *s)
{
	for (size_t i = 0; i < s->count; i++) {
		frz_time run = findings_span(f, s->list[i].thread)->length;
		s->list[i].percent = (struct interval){ 0, 100 };
		s->list[i].alone_s = (struct interval){ 0, findings_seconds(f, s->list[i].thread, run).hi };
		s->list[i].site = TR_NO_SITE;
		s->list[i].proved = false;
	}
}

/* A child that was killed before it recorded anything stands among its parent's threads, but was a process. */
static void doubt_parents(struct findings *f)
{
	bool lost = false;
	for (size_t i = 0; i < f->trace->nthreads; i++)
		lost |= f->trace->threads[i].lost_child;
	if (lost)
		know_nothing(f, &f->ranks);
}

/* Who works while others wait cannot be told from events that say only one of both. */
static void doubt_kinds(struct findings *f)
{
	uint32_t lacking = f->trace->left_out & operation_kinds(OP_REGION | OP_OTHERS);
	if (!lacking)
		return;
	char *kinds = tr_kinds_words(lacking);
	trace_diagnose(f->trace,
		       "%s: events of these kinds were not recorded (DPROF_EVENTS, or MPI without dprof's library), so "
		       "nothing is known of who straggles, and times of work may have waiting in them: %s",
		       f->trace->directory, kinds);
	free(kinds);
	f->doubted = true;
	know_nothing(f, &f->ranks);
	know_nothing(f, &f->threads);
}

struct opening { struct findings *f; const struct options *options; int status; };

/* Where the clocks are and what each thread did does not depend on each other. */
static void open_part(void *opening, size_t part, size_t worker)
{
	struct opening *o = opening;
	if (part == 0 && !o->f->timed)
		o->status = times_open(&o->f->times, o->f->trace, o->options);
	else if (part > 0)
		totals_follow(&o->f->totals, part - 1, worker);
}

/* `times` and `totals`. */
static int open_parts(struct findings *f, const struct options *options)
{
	struct opening o = { f, options, EXIT_FINE };
	size_t parts = 1 + f->trace->nthreads, workers = pool_workers(parts);
	totals_begin(&f->totals, f->trace, &f->roles, workers);
	bool matches = !options->packets_only && !f->timed;
	progress_begin(matches ? "following the threads and their messages" : "following the threads",
		       (1 + matches) * trace_records(f->trace));
	pool_run(parts, workers, open_part, &o);
	progress_end();
	totals_end(&f->totals);
	if (o.status != EXIT_FINE)
		totals_close(&f->totals);
	return o.status;
}

/* Unless they are known, the times are opened as well. */
static int open_all(struct findings *f, const struct options *options)
{
	struct trace *trace = f->trace;
	int status = roles_open(&f->roles, trace, options->work, options->wait) ? open_parts(f, options) : EXIT_USAGE;
	if (status != EXIT_FINE) {
		roles_close(&f->roles);
		return status;
	}
	find_spans(f);
	struct participants threads = totals_participant_threads(&f->totals, false),
		    ranks = totals_participant_processes(&f->totals, false);
	count_everything(f);
	f->one_time_base = csp_on_one_time_base(&f->times, &threads, f->spans);
	f->several_threads = threads.nparticipants > ranks.nparticipants;
	rank(f, &ranks, &threads);
	participants_close(&threads);
	participants_close(&ranks);
	unrecorded_open(&f->unrecorded, trace, &f->roles);
	findings_doubt_scores(f);
	doubt_parents(f);
	doubt_kinds(f);
	say_unclassified(f);
	f->polling_sleeps_s = polling_sleeps_say(trace, &f->roles);
	say_open_ends(trace, &f->totals);
	say_absent(trace, &f->totals, options);
	say_unmarked(trace, &f->totals, options);
	say_unrecorded(trace);
	say_partly_there(trace, &f->totals, &f->times, f->spans);
	run_ends_say(trace, &f->times, f->spans);
	return EXIT_FINE;
}

int findings_open(struct findings *f, struct trace *trace, const struct options *options)
{
	*f = (struct findings){ .trace = trace };
	return open_all(f, options);
}

int findings_open_timed(struct findings *f, struct trace *trace, const struct times *times, const struct options *options)
{
	*f = (struct findings){ .trace = trace, .times = *times, .timed = true };
	return open_all(f, options);
}

void findings_regions(struct findings *f)
{
	totals_regions(&f->totals);
	for (size_t i = 0; i < f->trace->nthreads; i++)
		f->events += f->totals.threads[i].events;
}

void findings_close(struct findings *f)
{
	unrecorded_close(&f->unrecorded);
	free(f->threads.list);
	free(f->ranks.list);
	free(f->spans);
	totals_close(&f->totals);
	roles_close(&f->roles);
	if (!f->timed)
		times_close(&f->times);
}

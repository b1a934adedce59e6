/* SPDX-License-Identifier: MIT
 *
 * findings.c - from a trace to rankings: times, totals, scores. */
#include "analysis/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/pool.h"
#include "analysis/base/progress.h"
#include "analysis/report/marks.h"
#include "analysis/report/polling_sleeps.h"
#include "analysis/report/presence.h"
#include "analysis/report/run_ends.h"
#include "analysis/report/unclassified.h"
#include "analysis/report/unseen.h"
#include "analysis/trace/names.h"
#include "analysis/trace/sched.h"

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
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* In the order of the middle, everyone before one that he overlaps with need not be his
 * neighbour: compare with the lowest lo before, and the highest hi behind. */
static void prove(struct ranking *s)
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
static struct ranking rank_participants(const struct findings *f, const struct participants *who)
{
	struct csp_score *scores = csp_scores(&f->times, &f->totals.periods, who, f->spans);
	struct ranking s = { mem_resize(NULL, who->nparticipants + 1, sizeof *s.list),
			     who->nparticipants };
	for (size_t thread = f->trace->nthreads; thread-- > 0;) {
		uint32_t a = who->participant_of[thread];
		if (a == NO_PARTICIPANT)
			continue;
		s.list[a] = (struct ranked){ .thread = thread, .site = scores[a].site, .mostly = scores[a].mostly };
		s.list[a].percent =
			interval_percent(scores[a].alone, findings_span(f, thread)->length);
		s.list[a].alone_s = findings_seconds(f, thread, scores[a].alone);
	}
	free(scores);
	qsort(s.list, s.count, sizeof *s.list, by_percent);
	prove(&s);
	return s;
}

static struct ranking copy_of(struct ranking s)
{
	struct ranking copy = { mem_resize(NULL, s.count + 1, sizeof *copy.list), s.count };
	memcpy(copy.list, s.list, s.count * sizeof *s.list);
	return copy;
}

/* ---- Unclassified time ----------------------------------------------------------------------- */

struct interval findings_unclassified(const struct findings *f, size_t thread)
{
	const struct span *span = findings_span(f, thread);
	frz_time time = totals_time(&f->times, span, &f->totals, thread,
				    &f->totals.threads[thread].unclassified);
	return span->events ? interval_percent(time, span->length) : (struct interval){ 0, 0 };
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
	struct ranking wide = copy_of(*s);
	for (size_t i = 0; i < s->count; i++) {
		wide.list[i].percent.lo = nextafter(s->list[i].percent.lo - change, -INFINITY);
		wide.list[i].percent.hi = nextafter(s->list[i].percent.hi + change, INFINITY);
	}
	prove(&wide);
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

static void rank_view(void *views, size_t view, size_t worker)
{
	struct findings_view *v = (struct findings_view *)views + view;
	(void)worker;
	v->known = rank_participants(v->f, v->who);
	if (!needs_any(v))
		return;
	rank_any(v);
	withhold(v);
	free(v->any.list);
}

static void rank(struct findings *f, const struct participants *ranks, const struct participants *threads)
{
	struct findings_view views[2] = { { .f = f, .who = ranks }, { .f = f, .who = threads, .by_thread = true } };
	size_t n = f->several_threads ? 2 : 1;
	progress_begin("adding up who worked alone", n * periods_count(&f->totals.periods));
	pool_run(n, n, rank_view, views);
	progress_end();
	f->ranks = views[0].known;
	f->threads = n == 2 ? views[1].known : copy_of(f->ranks);
	f->withheld = views[0].withheld || views[1].withheld;
}

static void say_unclassified(const struct findings *f)
{
	struct interval *percent = mem_resize(NULL, f->trace->nthreads + 1, sizeof *percent);
	for (size_t t = 0; t < f->trace->nthreads; t++)
		percent[t] = findings_unclassified(f, t);
	unclassified_say(f->trace, percent);
	free(percent);
}

/* ---- Time blocked in what was not recorded ---------------------------------------------------
 *
 * Had a participant been waiting then, and not working: what it worked alone, its score, would be less by at most that
 * time; and others would have worked alone for at most that time more, and for no more than it worked beside them. Nobody
 * works alone for longer than he works, nor while another one works for sure. */

struct open_time {
	double own;     /* percent of the run for which it may have been blocked */
	double beside;  /* and for which it worked, not alone, at most; */
	double surely;  /* and for which it, or one of its threads, worked and was not blocked */
};

static struct interval percent_of(const struct findings *f, size_t thread, const struct total *total)
{
	const struct span *span = findings_span(f, thread);
	frz_time time = totals_time(&f->times, span, &f->totals, thread, total);
	return span->events ? interval_percent(time, span->length) : (struct interval){ 0, 100 };
}

/* A thread that never waits, as far as is known, would, if it waited, keep others from being alone in its unclassified
 * time, too. */
static bool changes_all(const struct findings *f, size_t thread)
{
	const struct thread_totals *t = &f->totals.threads[thread];
	return f->unrecorded.worth[thread] && !t->waits && t->unclassified_ever;
}

/* `surely`: not of a thread of which the kernel's counts only leave it open. */
static struct open_time open_of(const struct findings *f, size_t thread, bool surely)
{
	const struct thread_totals *t = &f->totals.threads[thread];
	struct interval work = percent_of(f, thread, &t->work);
	double busy = work.hi + findings_unclassified(f, thread).hi;
	frz_time length = findings_span(f, thread)->length;
	double run = findings_seconds(f, thread, length).lo;
	double s = surely && !f->unrecorded.worth[thread] ? 0 : unrecorded_most(&f->unrecorded, f->trace, thread);
	double own = changes_all(f, thread) ? INFINITY :
		     s <= 0 ? 0 : run <= 0 ? busy : fmin(busy, 100 * s * (1 + SCHED_NOMINAL_ERROR) / run);
	return (struct open_time){ nextafter(own, INFINITY), work.hi, f->one_time_base ? work.lo : 0 };
}

/* -> of each in the ranking, of all its threads. */
static struct open_time *open_times(const struct findings *f, const struct ranking *s, bool by_thread, bool surely)
{
	const struct tr_thread *threads = f->trace->threads;
	struct open_time *open = mem_resize(NULL, s->count + 1, sizeof *open);
	size_t *place = mem_zeroed((by_thread ? f->trace->nthreads : f->trace->nprocesses) + 1, sizeof *place);
	for (size_t i = 0; i < s->count; i++) {
		open[i] = (struct open_time){ 0, 0, 0 };
		place[by_thread ? s->list[i].thread : threads[s->list[i].thread].process] = i + 1;
	}
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		size_t at = place[by_thread ? t : threads[t].process];
		struct open_time own = open_of(f, t, surely);
		if (at)
			open[at - 1] = (struct open_time){ open[at - 1].own + own.own, open[at - 1].beside + own.beside,
							   fmax(open[at - 1].surely, own.surely) };
	}
	for (size_t i = 0; i < s->count; i++)
		open[i].surely = fmax(0, open[i].surely - open[i].own);
	for (size_t i = 0; i < s->count; i++)
		open[i].beside = fmax(0, fmin(100, open[i].beside) - s->list[i].percent.lo) * (1 + SCHED_NOMINAL_ERROR);
	free(place);
	return open;
}

/* Of the run, while none but one works for sure: the `busiest`, and any other. */
struct left_by_others {
	size_t busiest;
	double to_busiest, to_others;
};

static struct left_by_others left_by_others(const struct open_time *open, size_t n)
{
	size_t busiest = 0;
	double second = 0;
	for (size_t i = 1; i < n; i++) {
		bool more = open[i].surely > open[busiest].surely;
		second = fmax(second, more ? open[busiest].surely : open[i].surely);
		busiest = more ? i : busiest;
	}
	double first = n ? fmax(0, open[busiest].surely) : 0;
	return (struct left_by_others){ busiest, nextafter(100 - second, INFINITY), nextafter(100 - first, INFINITY) };
}

/* As it is when each had been waiting for as much of its open time as there is, or for none. */
static struct ranking with_open_times(const struct ranking *s, const struct open_time *open)
{
	struct ranking wide = copy_of(*s);
	struct left_by_others left = left_by_others(open, s->count);
	double sum = 0;
	for (size_t i = 0; i < s->count; i++)
		sum += isinf(open[i].own) ? INFINITY : fmin(open[i].own, open[i].beside);
	for (size_t i = 0; i < s->count; i++) {
		struct interval *own = &wide.list[i].percent;
		double others = isinf(sum) ? INFINITY : sum - fmin(open[i].own, open[i].beside);
		own->lo = nextafter(own->lo - fmin(open[i].own, own->hi), -INFINITY);
		double more = isinf(others) ? others : fmin(fmax(0, others), open[i].beside);
		double most = isinf(others) ? INFINITY : i == left.busiest ? left.to_busiest : left.to_others;
		own->hi = fmax(own->hi, nextafter(fmin(own->hi + more, most), INFINITY));
	}
	prove(&wide);
	return wide;
}

/* Of two whose scores do not overlap. What the higher one was blocked for either takes from its own score or lets the other
 * one be alone, who else is alone only when that one does not work. */
static bool stays_apart(const struct ranking *s, const struct ranking *wide, const struct open_time *open, size_t i, size_t k)
{
	size_t high = s->list[i].percent.lo > s->list[k].percent.hi ? i : k;
	return interval_apart(wide->list[i].percent, wide->list[k].percent) ||
	       nextafter(s->list[high].percent.lo + open[high].surely, -INFINITY) > 100;
}

static bool stays_proved(const struct ranking *s, const struct ranking *wide, const struct open_time *open, size_t i)
{
	bool proved = s->list[i].proved;
	for (size_t k = 0; k < s->count && proved && !wide->list[i].proved; k++)
		proved = k == i || stays_apart(s, wide, open, i, k);
	return proved;
}

static void withhold_unsure(struct findings *f, struct ranking *s, bool by_thread)
{
	struct open_time *open = open_times(f, s, by_thread, false);
	struct ranking wide = with_open_times(s, open);
	for (size_t i = 0; i < s->count; i++)
		wide.list[i].proved = stays_proved(s, &wide, open, i);
	for (size_t i = 0; i < s->count; i++) {
		f->unsure |= s->list[i].proved && !wide.list[i].proved;
		s->list[i].proved &= wide.list[i].proved;
	}
	free(wide.list);
	free(open);
}

static void print_widened(const struct findings *f, struct ranked *x, struct interval percent)
{
	struct interval run = findings_seconds(f, x->thread, findings_span(f, x->thread)->length);
	x->percent = (struct interval){ fmax(0, percent.lo), fmin(100, percent.hi) };
	x->alone_s = (struct interval){ fmin(x->alone_s.lo, fmax(0, nextafter(x->percent.lo / 100 * run.lo, -INFINITY))),
					fmax(x->alone_s.hi, nextafter(x->percent.hi / 100 * run.hi, INFINITY)) };
}

/* Where a thread surely was blocked, what is printed holds both. */
static void widen_scores(struct findings *f, struct ranking *s, bool by_thread)
{
	if (!f->unrecorded.count)
		return;
	struct open_time *open = open_times(f, s, by_thread, true);
	struct ranking wide = with_open_times(s, open);
	for (size_t i = 0; i < s->count; i++)
		print_widened(f, &s->list[i], wide.list[i].percent);
	qsort(s->list, s->count, sizeof *s->list, by_percent);
	free(wide.list);
	free(open);
}

/* Of the threads in which surely nothing was blocked that is worth mentioning, and of no more than they worked. */
static void say_open(struct findings *f)
{
	double *most = mem_resize(NULL, f->trace->nthreads + 1, sizeof *most);
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		const struct thread_totals *totals = &f->totals.threads[t];
		double works = findings_seconds(f, t, totals_time(&f->times, findings_span(f, t), &f->totals, t, &totals->work)).hi;
		most[t] = f->unrecorded.worth[t] ? 0 : fmin(works, unrecorded_most(&f->unrecorded, f->trace, t));
	}
	if (f->unsure)
		unrecorded_say_open(f->trace, most);
	free(most);
}

/* ---- Threads that ran and were not recorded, or seemed to wait --------------------------------
 *
 * While one of them worked, no other participant was alone, though it may seem so; and it may have been alone itself. Of a
 * rank each is a part: there it keeps the others from being alone, and may be the one that was. */

struct unseen_work {          /* percent of the run, at most */
	double *process, *thread; /* in each, in all its threads together; of each that is recorded */
	double sum, most;         /* of all; of the threads in one process that are not recorded */
};

static double percent_at_most(const struct findings *f, double s)
{
	uint32_t time_base = findings_time_base(f);
	double run = times_seconds(&f->times, time_base, f->spans[time_base].length).lo;
	return s <= 0 ? 0 : run <= 0 ? 100 : fmin(100, nextafter(100 * s * (1 + SCHED_NOMINAL_ERROR) / run, INFINITY));
}

static bool has_outside(const struct trace *trace)
{
	for (size_t i = 0; i < trace->nprocesses; i++)
		if (trace->processes[i].ran || trace_was_replaced(&trace->processes[i]))
			return true;
	return false;
}

/* Processes of another job may have taken part (MPI_Comm_spawn, ...). */
static bool has_other_jobs(const struct findings *f)
{
	bool any = false;
	for (size_t i = 0; i < f->trace->nthreads; i++)
		for (size_t k = 0; k < f->totals.threads[i].nwaited && !any; k++) {
			uint32_t site = f->totals.threads[i].waited[k].site;
			any = site < f->trace->nsites && f->trace->sites[site].op.jobs;
		}
	return any;
}

/* Programs that a process of the trace has started worked at most for as long as somebody waited for what they may have
 * ended; as did other jobs, for which calls of MPI wait, too. */
static double waited_outside_s(const struct findings *f, size_t thread, bool other_jobs)
{
	const struct thread_totals *t = &f->totals.threads[thread];
	uint64_t ticks = 0;
	for (size_t i = 0; i < t->nwaited; i++)
		if (tr_is(f->trace, t->waited[i].site, OP_MPI) ? other_jobs
							       : t->waited[i].site < f->trace->nsites &&
									 f->trace->sites[t->waited[i].site].kind == DPROF_KIND_WAIT)
			ticks += t->waited[i].ticks;
	return (double)ticks / (f->trace->clocks[f->trace->threads[thread].clock].ghz * 1e9);
}

static struct unseen_work unseen_work(const struct findings *f)
{
	const struct trace *trace = f->trace;
	bool other_jobs = has_other_jobs(f), outside = has_outside(trace) || other_jobs;
	struct unseen_work u = { mem_resize(NULL, trace->nprocesses + 1, sizeof *u.process),
				 mem_resize(NULL, trace->nthreads + 1, sizeof *u.thread), 0, 0 };
	for (size_t i = 0; i < trace->nprocesses; i++) {
		u.process[i] = percent_at_most(f, unseen_s(&trace->processes[i]));
		u.most = fmax(u.most, u.process[i]);
	}
	for (size_t i = 0; i < trace->nthreads && outside; i++) {
		double percent = percent_at_most(f, waited_outside_s(f, i, other_jobs));
		u.process[trace->threads[i].process] += percent;
		u.most = fmax(u.most, percent);
	}
	for (size_t i = 0; i < trace->nthreads; i++) {
		u.thread[i] = percent_at_most(f, f->unrecorded.threads[i].hidden_s.hi);
		u.process[trace->threads[i].process] += u.thread[i];
	}
	for (size_t i = 0; i < trace->nprocesses; i++)
		u.sum = nextafter(u.sum + u.process[i], INFINITY);
	return u;
}

/* -> the place behind all participants is for the unseen thread that ran longest, if they are threads. */
static struct ranking with_unseen(const struct findings *f, const struct ranking *s, bool by_thread)
{
	struct ranking wide = { mem_resize(NULL, s->count + 1, sizeof *wide.list), s->count };
	struct unseen_work u = unseen_work(f);
	for (size_t i = 0; i < s->count; i++) {
		size_t thread = s->list[i].thread;
		double own = by_thread ? u.thread[thread] : u.process[f->trace->threads[thread].process];
		wide.list[i] = s->list[i];
		wide.list[i].percent.lo = nextafter(s->list[i].percent.lo - fmax(0, u.sum - own), -INFINITY);
		wide.list[i].percent.hi = nextafter(s->list[i].percent.hi + own, INFINITY);
	}
	if (by_thread && u.most > 0)
		wide.list[wide.count++] = (struct ranked){ .percent = { 0, u.most } };
	free(u.process);
	free(u.thread);
	return wide;
}

/* Where that is worth mentioning what is printed holds both. */
static void widen_unseen(struct findings *f, struct ranking *s, bool by_thread)
{
	if (!f->unrecorded.hidden && !unseen_matters(f->trace))
		return;
	struct ranking wide = with_unseen(f, s, by_thread);
	for (size_t i = 0; i < s->count; i++)
		print_widened(f, &s->list[i], wide.list[i].percent);
	qsort(s->list, s->count, sizeof *s->list, by_percent);
	free(wide.list);
}

static void withhold_unseen(struct findings *f, struct ranking *s, bool by_thread)
{
	struct ranking wide = with_unseen(f, s, by_thread);
	for (size_t i = 0; i < s->count; i++) {
		bool proved = s->list[i].proved;
		for (size_t k = 0; k < wide.count && proved; k++)
			proved = k == i || interval_apart(wide.list[i].percent, wide.list[k].percent);
		f->unseen |= s->list[i].proved && !proved;
		s->list[i].proved &= proved;
	}
	free(wide.list);
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
static void doubt_scores(struct findings *f)
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
	withhold_unsure(f, &f->ranks, false);
	withhold_unsure(f, &f->threads, f->several_threads);
	say_open(f);
	withhold_unseen(f, &f->ranks, false);
	withhold_unseen(f, &f->threads, f->several_threads);
	widen_unseen(f, &f->ranks, false);
	widen_unseen(f, &f->threads, f->several_threads);
	widen_scores(f, &f->ranks, false);
	widen_scores(f, &f->threads, f->several_threads);
	unseen_say(trace, f->unseen);
	doubt_parents(f);
	doubt_scores(f);
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

/* SPDX-License-Identifier: MIT
 *
 * score_doubts.c - what scores may be besides, and which places are proved all the same, where threads may have been blocked in
 * what was not recorded, or worked where nothing was. */
#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/report/findings.h"
#include "analysis/report/unseen.h"
#include "analysis/trace/sched.h"

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
	struct ranking wide = ranking_copy(*s);
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
	ranking_prove(&wide);
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
	ranking_sort(s);
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

/* Where it surely was blocked the score holds that. */
double findings_open_work(const struct findings *f)
{
	double most = 0;
	for (size_t i = 0; i < f->threads.count; i++) {
		size_t thread = f->threads.list[i].thread;
		struct open_time open = open_of(f, thread, false);
		most = f->unrecorded.worth[thread] ? most : fmax(most, fmin(open.own, open.beside));
	}
	return most;
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
	return (double)ticks / (tr_ghz(f->trace, thread) * 1e9);
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
	ranking_sort(s);
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

void findings_doubt_scores(struct findings *f)
{
	withhold_unsure(f, &f->ranks, false);
	withhold_unsure(f, &f->threads, f->several_threads);
	say_open(f);
	withhold_unseen(f, &f->ranks, false);
	withhold_unseen(f, &f->threads, f->several_threads);
	widen_unseen(f, &f->ranks, false);
	widen_unseen(f, &f->threads, f->several_threads);
	widen_scores(f, &f->ranks, false);
	widen_scores(f, &f->threads, f->several_threads);
	unseen_say(f->trace, f->unseen);
}

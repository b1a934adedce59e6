/* SPDX-License-Identifier: MIT
 *
 * blocked.c - the thread's own time up to each answer of the kernel, and what lies between them. */
#include "analysis/states/blocked.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/trace/sched.h"

#define NEEDED (DPROF_SCHED_CPU | DPROF_SCHED_DELAY)

/* One answer of the kernel, and where the thread was when it was asked. */
struct blocked_answer {
	const struct dprof_sched *says;
	uint64_t from, to;     /* stamps of the thread's clock, with the difference between cores */
	uint64_t own_from, own_to; /* ticks of its own until then */
	uint64_t ran_least, ran_most; /* bounds of those at which it may have run in others, until then; */
	uint64_t awake_least, awake_most; /* if no handler works where it waits */
	uint64_t before;       /* its last event before `from`, */
	uint64_t behind;       /* and its first behind `to`; UINT64_MAX without one */
	bool itself;           /* no delay went on: the thread asked, and ran, or was just made */
};

struct blocked_walk {
	struct blocked_answer *list;
	size_t n, next_from, next_to, next_behind;
	uint64_t first, last;  /* when it was there, or its first event; and the last one so far */
	uint64_t ran;          /* the last one of its own, at which it ran; or 0 */
	uint64_t own, others;  /* until `last`; ticks at which it may have run, of its own and not */
	uint64_t runs, copies; /* for at most so many in an operation that sleeps, or blocks */
	uint64_t inside;       /* in operations that wait, until others there began, and in sleeps in there */
	bool interrupted;      /* any did, or a region */
	uint64_t awake, allowed; /* likewise `others`, if no handler works in those; and in all of them */
};

static struct blocked_answer *find_answers(const struct trace *trace, const struct tr_thread *t, size_t *n)
{
	struct blocked_answer *list = mem_resize(NULL, t->nsched + 1, sizeof *list);
	uint64_t slack = tr_slack(trace, t->clock);
	*n = 0;
	for (size_t i = 0; i < t->nsched; i++) {
		const struct dprof_sched *s = &t->sched[i];
		if ((s->known & NEEDED) != NEEDED)
			continue;
		struct blocked_answer a = { .says = s, .from = s->from > slack ? s->from - slack : 0,
				    .to = s->to < UINT64_MAX - slack ? s->to + slack : UINT64_MAX,
				    .behind = UINT64_MAX, .itself = (s->last && !t->ran_on) || s->cpu_ns == 0 };
		if (*n && a.to < list[*n - 1].to)
			a.to = list[*n - 1].to;
		list[(*n)++] = a;
	}
	return list;
}

/* ---- Own time -------------------------------------------------------------------------------- */

enum place { OWN, MAY_RUN, BLOCKS, SLEEPS };

/* At most so many of these ticks it ran, in a place that is not its own. */
static uint64_t running(const struct blocked_walk *w, enum place place, uint64_t ticks)
{
	return place == OWN ? 0 : place == SLEEPS && ticks > w->runs ? w->runs : ticks;
}

/* The same, if no handler works there. */
static uint64_t awake(const struct blocked_walk *w, enum place place, uint64_t ticks)
{
	return place == BLOCKS && ticks > w->copies ? w->copies : running(w, place, ticks);
}

/* From the last event to `stamp` the thread was there. */
static void advance(struct blocked_walk *w, uint64_t stamp, enum place place)
{
	for (; w->next_from < w->n && w->list[w->next_from].from < stamp; w->next_from++) {
		struct blocked_answer *a = &w->list[w->next_from];
		uint64_t ticks = a->from > w->last ? a->from - w->last : 0;
		a->own_from = w->own + (place == OWN ? ticks : 0);
		a->ran_least = w->others + (place == MAY_RUN || place == BLOCKS ? ticks : 0);
		a->awake_least = w->awake + (place == MAY_RUN ? ticks : 0);
		a->before = w->ran;
	}
	for (; w->next_to < w->n && w->list[w->next_to].to < stamp; w->next_to++) {
		struct blocked_answer *a = &w->list[w->next_to];
		uint64_t ticks = a->to > w->last ? a->to - w->last : 0;
		a->own_to = w->own + (place == OWN ? ticks : 0);
		a->ran_most = w->others + running(w, place, ticks);
		a->awake_most = w->awake + awake(w, place, ticks);
	}
	w->own += place == OWN ? stamp - w->last : 0;
	w->others += running(w, place, stamp - w->last);
	w->awake += awake(w, place, stamp - w->last);
	w->allowed += place == SLEEPS || place == BLOCKS ? awake(w, place, stamp - w->last) : 0;
	w->last = stamp;
}

static void see_event(struct blocked_walk *w, uint64_t stamp)
{
	w->ran = stamp;
	for (; w->next_behind < w->n && w->list[w->next_behind].to <= stamp; w->next_behind++)
		w->list[w->next_behind].behind = stamp;
}

/* Where it waited something else began: the C library calls nothing that is recorded, so a handler did that. */
static void see_handler(struct blocked_walk *w, const struct trace *trace, const struct tr_event *e, uint32_t outer)
{
	bool began = e->op == DPROF_ENTER || e->op == DPROF_POINT;
	if (outer == TR_NO_SITE || !began || e->site == outer || e->site >= trace->nsites)
		return;
	const struct operation *o = &trace->sites[e->site].op;
	if (!(o->is & (OP_OTHERS | OP_OWN | OP_REGION)))
		return;
	w->interrupted = true;
	w->inside += o->is & OP_REGION ? 0 : e->stamp - (w->ran ? w->ran : e->stamp);
}

/* A sleep, or what else is its own time, is over, and it still waits: the handler did that. */
static void see_own_end(struct blocked_walk *w, const struct trace *trace, const struct tr_event *e, uint32_t outer)
{
	bool ended = e->op == DPROF_EXIT && e->site < trace->nsites && e->site != outer;
	if (outer != TR_NO_SITE && ended && trace->sites[e->site].op.is & OP_OWN)
		w->inside += e->stamp - (w->ran ? w->ran : e->stamp);
}

/* In a place in which a thread may be blocked, as is known. What a region in there does is the thread's own (a handler's, or what
 * MPI calls), but if the region has no exit, it may be over. */
static bool may_block(const struct replay *r)
{
	for (size_t i = r->depth; i-- > 0;)
		if (r->entry[i].is & (OP_OTHERS | OP_OWN) || (r->entry[i].is & OP_REGION && !r->entry[i].jumped))
			return !(r->entry[i].is & OP_REGION);
	return false;
}

static bool is_own(const struct states *s)
{
	return !may_block(&s->replay) && s->now.may != 0 && !(s->now.may & (MAY_WAIT | MAY_GONE));
}

static enum place place_of(const struct states *s, const struct trace *trace)
{
	const struct replay *r = &s->replay;
	if (is_own(s))
		return OWN;
	const struct replay_entry *top = r->depth ? &r->entry[r->depth - 1] : NULL;
	if (!top || top->site >= trace->nsites || top->jumped)
		return MAY_RUN;
	const struct operation *op = &trace->sites[top->site].op;
	return op->sleeps ? SLEEPS : op->blocks ? BLOCKS : MAY_RUN;
}

/* The operation that waits, innermost: or TR_NO_SITE. */
static uint32_t waits_in(const struct states *s, enum place place)
{
	const struct replay *r = &s->replay;
	return place == SLEEPS || place == BLOCKS ? r->entry[r->depth - 1].site : TR_NO_SITE;
}

/* From here on it is known to be there. */
static void begin_walk(struct blocked_walk *w, uint64_t stamp)
{
	w->first = stamp;
	w->last = w->list[0].from < stamp ? w->list[0].from : stamp;
}

/* A process's first thread is there before its first event: where all of that lies before the run on its clock, it
 * begins with the run. */
static enum place place_at_first(struct blocked_walk *w, const struct states *s, const struct trace *trace)
{
	uint64_t run = s->roles->ends[s->events.thread->clock].first;
	bool there = s->nbegin > 0 && s->next == s->nbegin && s->now.may == s->outside.may;
	if (!there)
		return MAY_RUN;
	begin_walk(w, run);
	advance(w, run, MAY_RUN);
	return place_of(s, trace);
}

static void walk_events(struct blocked_walk *w, const struct trace *trace, size_t thread, const struct roles *roles)
{
	struct states s;
	struct tr_event e;
	enum states_step step;
	w->runs = (uint64_t)(BLOCKED_RUNS_NS * tr_ghz(trace, thread));
	w->copies = (uint64_t)(BLOCKED_COPIES_NS * tr_ghz(trace, thread));
	states_open(&s, trace, thread, roles);
	enum place place = place_at_first(w, &s, trace);
	uint32_t outer = TR_NO_SITE;
	while ((step = states_step(&s, &e)) != STATES_END) {
		if (w->first == UINT64_MAX)
			begin_walk(w, s.last);
		advance(w, s.last, place);
		bool recorded = step == STATES_EVENT && !e.inherited;
		if (recorded)
			see_handler(w, trace, &e, outer);
		place = s.over ? MAY_RUN : place_of(&s, trace);
		outer = waits_in(&s, place);
		if (recorded) {
			see_own_end(w, trace, &e, outer);
			see_event(w, s.last);
		}
	}
	advance(w, UINT64_MAX, MAY_RUN);
	states_close(&s);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static double ns(const struct trace *trace, const struct tr_thread *t, uint64_t ticks)
{
	return (double)ticks / trace->clocks[t->clock].ghz;
}

/* At most so long a delay went on, not yet counted, when answer `j` was given. */
static double pending(const struct trace *trace, const struct tr_thread *t, const struct blocked_walk *w, size_t j)
{
	const struct blocked_answer *a = &w->list[j];
	double most = a->before ? ns(trace, t, a->to - a->before) * (1 + SCHED_NOMINAL_ERROR) : INFINITY;
	if (a->itself)
		return 0;
	for (size_t k = j + 1; k < w->n; k++)
		if (w->list[k].itself || w->list[k].from >= a->behind)
			return fmin(most, (double)(w->list[k].says->delay_ns - a->says->delay_ns));
	return most;
}

/* Upper bounds of what it was blocked in its own time up to an answer: between the last answers by that time itself, or
 * by what the kernel counted of all its time; the latter takes in a run of answers as one, with one pending delay. */
struct upper { double by_own, by_counts; };

static double upper_least(struct upper u)
{
	return fmin(u.by_own, u.by_counts);
}

/* Whether it was on one core from when it ran last before an answer until the next: then it was delayed for what was counted. */
static bool stayed(const struct blocked_walk *w, size_t i)
{
	const struct blocked_answer *a = &w->list[i], *ran = a;
	while (!ran->itself && ran->to > a->before && ran > w->list)
		ran--;
	const struct dprof_sched *s = ran->says, *next = a[1].says;
	return (ran->itself || ran->to <= a->before) && s->known & next->known & DPROF_SCHED_MOVES && s->moves == next->moves;
}

/* Adds what happened between an answer and the next. */
static void add_between(const struct trace *trace, const struct tr_thread *t, const struct blocked_walk *w, size_t i,
			struct blocked *sum, struct upper *upper)
{
	const struct blocked_answer *a = &w->list[i], *b = a + 1;
	uint64_t own_least = b->own_from > a->own_to && b->from > a->to ? b->own_from - a->own_to : 0;
	uint64_t all_least = b->from > a->to ? b->from - a->to : 0, own_most = b->own_to - a->own_from;
	double least = ns(trace, t, own_least) * (1 - SCHED_NOMINAL_ERROR);
	double most = ns(trace, t, own_most) * (1 + SCHED_NOMINAL_ERROR);
	double other = ns(trace, t, all_least > own_most ? all_least - own_most : 0) * (1 - SCHED_NOMINAL_ERROR);
	double all = ns(trace, t, b->to - a->from) * (1 + SCHED_NOMINAL_ERROR);
	double ran = (double)(b->says->cpu_ns - a->says->cpu_ns);
	double counted = (double)(b->says->delay_ns - a->says->delay_ns);
	double delay = counted + pending(trace, t, w, i + 1);
	double elsewhere = fmax(0, other - ran - delay); /* blocked, but not in its own time */
	double others = ns(trace, t, b->ran_most - a->ran_least) * (1 + SCHED_NOMINAL_ERROR);
	double before = upper_least(*upper), delayed = stayed(w, i) ? counted : 0;
	sum->s.lo += fmax(0, least - ran - delay);
	sum->hidden_s.lo += fmax(0, ran - most - ns(trace, t, b->awake_most - a->awake_least) * (1 + SCHED_NOMINAL_ERROR));
	upper->by_counts = fmin(upper->by_counts, before + pending(trace, t, w, i)) + all - ran - delayed - elsewhere;
	upper->by_own = before + fmax(0, most - fmax(0, ran - others));
	sum->s.hi -= ns(trace, t, own_least) * (1 + SCHED_NOMINAL_ERROR);
}

/* All of its events and answers, in its own time or not. */
static double ever_blocked(const struct trace *trace, const struct tr_thread *t, const struct blocked_walk *w)
{
	const struct blocked_answer *first = &w->list[0], *last = &w->list[w->n - 1];
	struct ends ends = times_ends(t);
	uint64_t began = t->number == 0 ? trace->processes[t->process].started : 0;
	uint64_t there = began && began < ends.first ? began : ends.first;
	uint64_t end = t->complete && t->ended > ends.last ? t->ended : ends.last;
	uint64_t from = there < first->from ? there : first->from;
	uint64_t to = end > last->to ? end : last->to;
	double ran = (double)(last->says->cpu_ns - first->says->cpu_ns);
	return fmax(0, ns(trace, t, to - from) * (1 + SCHED_NOMINAL_ERROR) - ran);
}

/* Running or delayed between its first answer and its last: in nanoseconds, at most. */
static double counted_of_all(const struct trace *trace, const struct tr_thread *t, const struct blocked_walk *w)
{
	const struct dprof_sched *first = w->list[0].says, *last = w->list[w->n - 1].says;
	double counted = (double)(last->cpu_ns - first->cpu_ns) + (double)(last->delay_ns - first->delay_ns);
	double all = ns(trace, t, w->list[w->n - 1].to - w->list[0].from) * (1 + SCHED_NOMINAL_ERROR);
	return fmin(all, counted + pending(trace, t, w, w->n - 1));
}

static double delays_of_all(const struct trace *trace, const struct tr_thread *t, const struct blocked_walk *w)
{
	return (double)(w->list[w->n - 1].says->delay_ns - w->list[0].says->delay_ns) + pending(trace, t, w, w->n - 1);
}

static void add_all(struct blocked_walk *w, const struct trace *trace, size_t thread, const struct roles *roles, double worth,
		    struct blocked *sum)
{
	const struct tr_thread *t = &trace->threads[thread];
	walk_events(w, trace, thread, roles);
	struct upper upper = { 0, INFINITY };
	sum->s = (struct interval){ 0, ns(trace, t, w->own) * (1 + SCHED_NOMINAL_ERROR) };
	for (size_t i = 0; i + 1 < w->n; i++)
		add_between(trace, t, w, i, sum, &upper);
	sum->s.hi += upper_least(upper);
	sum->waits_s = delays_of_all(trace, t, w);
	sum->hidden_s.hi = counted_of_all(trace, t, w);
	if (sum->hidden_s.lo < fmax(worth * 1e9, BLOCKED_HIDDEN * ns(trace, t, w->allowed)))
		sum->hidden_s = (struct interval){ 0, 0 };
}

/* Of one answer alone: all that it counted, since the thread began, may have been in its own time. */
static void add_only(struct blocked_walk *w, const struct trace *trace, size_t thread, const struct roles *roles,
		     struct blocked *sum)
{
	const struct tr_thread *t = &trace->threads[thread];
	walk_events(w, trace, thread, roles);
	const struct blocked_answer *a = &w->list[0];
	double counted = (double)(a->says->cpu_ns + a->says->delay_ns) + pending(trace, t, w, 0);
	sum->waits_s = (double)a->says->delay_ns + pending(trace, t, w, 0);
	sum->s = (struct interval){ fmax(0, ns(trace, t, a->own_from) * (1 - SCHED_NOMINAL_ERROR) - counted),
				    ns(trace, t, w->own) * (1 + SCHED_NOMINAL_ERROR) };
}

/* In its own time, with delays if it surely waited. */
static void limit_waits(struct blocked *b, double own_s, double worth)
{
	bool surely = worth > 0 && b->s.lo >= worth;
	b->waits_s = fmax(b->s.hi, surely ? fmin(own_s, b->s.hi + b->waits_s / 1e9) : 0);
}

/* A handler may have worked from when the operation began, and slept: so long, at most, and of that nothing is sure. */
static void add_inside(struct blocked *b, const struct blocked_walk *w, const struct trace *trace, const struct tr_thread *t,
		       double worth)
{
	double most = ns(trace, t, w->inside) * (1 + SCHED_NOMINAL_ERROR);
	b->interrupted = w->interrupted;
	if (most >= worth * 1e9)
		b->hidden_s.hi = fmax(0, b->hidden_s.hi) + most;
}

/* The bounds are wide by far more than what these sums round off. */
struct blocked blocked_unrecorded(const struct trace *trace, size_t thread, const struct roles *roles, double worth)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct blocked_walk w = { .first = UINT64_MAX };
	struct blocked b = { .s = { 0, 0 } };
	if (t->lost || t->gaps || t->nrecords == 0)
		return b;
	w.list = find_answers(trace, t, &w.n);
	b.known = w.n > 0;
	if (b.known) {
		b.s.hi = w.n > 1 ? ever_blocked(trace, t, &w) : INFINITY;
		if (w.n == 1)
			add_only(&w, trace, thread, roles, &b);
		else if (b.s.hi >= worth * 1e9)
			add_all(&w, trace, thread, roles, worth, &b);
		add_inside(&b, &w, trace, t, worth);
		b.hidden_s.lo /= 1e9;
		b.hidden_s.hi /= 1e9;
		b.s.lo /= 1e9;
		b.s.hi = fmax(b.s.hi / 1e9, b.s.lo);
		limit_waits(&b, ns(trace, t, w.own) / 1e9 * (1 + SCHED_NOMINAL_ERROR), worth);
	}
	free(w.list);
	return b;
}

/* ---- What was not recorded may have been waiting, or work ------------------------------------ */

bool *blocked_counts(const struct trace *trace)
{
	bool *counts = mem_zeroed(trace->nclocks + 1, sizeof *counts);
	for (size_t i = 0; i < trace->nthreads; i++)
		counts[trace->threads[i].clock] |= trace->threads[i].nsched > 0;
	return counts;
}

double blocked_most(const struct blocked *b, const struct trace *trace, size_t thread, const bool *counts)
{
	if (b->known)
		return b->waits_s;
	const struct tr_thread *t = &trace->threads[thread];
	bool was_to_count = counts[t->clock] || !trace->processes[t->process].finished;
	return was_to_count ? INFINITY : 0;
}

int64_t blocked_ticks(double s, const struct span *span, double run_s)
{
	if (s <= 0)
		return 0;
	double length = (double)span->length.hi, ticks = run_s > 0 ? s / run_s * length * (1 + SCHED_NOMINAL_ERROR) : length;
	return ticks < length ? (int64_t)ceil(ticks) : span->length.hi;
}

static frz_time less_or_more(frz_time time, int64_t less, int64_t more, const struct span *span)
{
	int64_t lo = ticks_minus(time.lo < span->length.hi ? time.lo : span->length.hi, less), hi = ticks_plus(time.hi, more);
	int64_t most = span->length.hi > time.hi ? span->length.hi : time.hi;
	return (frz_time){ lo > 0 ? lo : 0, hi < most ? hi : most };
}

frz_time blocked_work(frz_time work, double most_s, const struct blocked *b, const struct span *span, double run_s)
{
	return less_or_more(work, blocked_ticks(most_s, span, run_s), blocked_ticks(b->hidden_s.hi, span, run_s), span);
}

frz_time blocked_wait(frz_time wait, double most_s, const struct blocked *b, const struct span *span, double run_s)
{
	return less_or_more(wait, blocked_ticks(b->hidden_s.hi, span, run_s), blocked_ticks(most_s, span, run_s), span);
}

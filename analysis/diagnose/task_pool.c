/* SPDX-License-Identifier: MIT
 *
 * task_pool.c - see task_pool.h. */
#include "analysis/diagnose/task_pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/ids.h"
#include "analysis/base/joined.h"
#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

/* Of one thread in one region: whether it began without taking anything; when the task before its last one ended. */
struct task_pool_row { uint32_t row; struct task_pool_worker is; bool untaken; uint64_t last_but_one; };

struct task_pool_finder {
	struct task_pool *pool;
	const struct graph *g;
	struct graph_last *last;
	const struct part *part;
	enum event_role *role_of;    /* nobody has one */
	struct task_pool_row *rows; size_t nrows;
	uint64_t *last_take;         /* of each thread: stamp at which it had what it took last, or 0 */
};

static const struct steps_window *windows_of(const struct task_pool_finder *f)
{
	return f->part ? f->part->windows : NULL;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static bool is_take(const struct trace *trace, const struct step *s)
{
	return s->is.kind == EVENT_OTHER && tr_is(trace, s->site, OP_ADDRESS);
}

static struct task_pool_row *row_of(struct task_pool_finder *f, size_t first, uint32_t thread, const struct step *begins,
				    bool taken)
{
	for (size_t i = first; i < f->nrows; i++)
		if (f->rows[i].row == begins->site)
			return &f->rows[i];
	struct task_pool_row *r = MEM_GROW(f->rows, f->nrows);
	*r = (struct task_pool_row){ begins->site, { .thread = thread, .first = begins->is.from }, !taken, 0 };
	return r;
}

static void find_tasks(struct task_pool_finder *f, uint32_t thread)
{
	const struct trace *trace = f->g->trace;
	struct steps s;
	size_t first = f->nrows;
	steps_open(&s, f->g, f->last, thread, f->role_of, windows_of(f));
	for (size_t i = 0; i < s.n; i++) {
		const struct step *step = &s.list[i];
		bool taken = i > 0 && is_take(trace, step - 1);
		if (is_take(trace, step))
			f->last_take[thread] = step->is.to;
		if (step->is.kind != EVENT_WORK || step->site >= trace->nsites)
			continue;
		struct task_pool_row *r = row_of(f, first, thread, step, taken);
		if (!taken)
			continue;
		r->is.first = r->is.tasks ? r->is.first : step->is.from;
		r->is.tasks++;
		r->last_but_one = r->is.last;
		r->is.last = step->is.to;
	}
	steps_close(&s);
}

/* How many threads have enough tasks there, whether it is marked, and these so many. */
struct pool_count { size_t threads; bool marked; uint64_t tasks; };

static struct pool_count count_of(const struct task_pool_finder *f, uint32_t row)
{
	struct pool_count count = { .marked = !f->g->trace->sites[row].automatic };
	for (size_t i = 0; i < f->nrows; i++) {
		bool is = f->rows[i].row == row && f->rows[i].is.tasks >= TASK_POOL_LEAST;
		count.threads += is;
		count.tasks += is ? f->rows[i].is.tasks : 0;
	}
	return count;
}

/* Around a marked region there is often a thread's body, which does a little at each lock, too. */
static bool is_more(struct pool_count x, struct pool_count y)
{
	if (x.threads != y.threads)
		return x.threads > y.threads;
	return x.marked != y.marked ? x.marked : x.tasks > y.tasks;
}

/* False: there are no two workers, or their stamps cannot be compared. */
static bool find_workers(struct task_pool_finder *f)
{
	struct task_pool *p = f->pool;
	struct pool_count most = { .threads = 1, .marked = true, .tasks = UINT64_MAX };
	bool one_clock = true;
	for (size_t i = 0; i < f->nrows; i++) {
		struct pool_count n = count_of(f, f->rows[i].row);
		if (!is_more(n, most))
			continue;
		most = n;
		p->site = f->rows[i].row;
	}
	p->first = UINT64_MAX;
	for (size_t i = 0; i < f->nrows && most.threads > 1; i++) {
		const struct task_pool_worker *w = &f->rows[i].is;
		if (f->rows[i].row != p->site || w->tasks < TASK_POOL_LEAST)
			continue;
		*MEM_GROW(p->workers, p->n) = *w;
		p->tasks += w->tasks;
		p->first = w->first < p->first ? w->first : p->first;
		p->last_worker = w->last > p->last ? p->n - 1 : p->last_worker;
		p->last = w->last > p->last ? w->last : p->last;
		one_clock &= f->g->trace->threads[w->thread].clock == f->g->trace->threads[p->workers[0].thread].clock;
	}
	return most.threads > 1 && one_clock;
}

/* ---- Whether there are none left ------------------------------------------------------------- */

static bool is_worker(const struct task_pool *p, uint32_t thread)
{
	bool is = false;
	for (size_t i = 0; i < p->n && !is; i++)
		is = p->workers[i].thread == thread;
	return is;
}

static bool has_tasks(const struct task_pool_finder *f, const struct task_pool_row *r)
{
	return r->row == f->pool->site && r->is.tasks >= TASK_POOL_LEAST;
}

/* Of all workers, in the region. */
static uint64_t count_visits(const struct task_pool_finder *f, const struct call_profile *calls)
{
	uint64_t visits = 0;
	for (size_t i = 0; i < calls->neach; i++)
		if (calls->each[i].site == f->pool->site && is_worker(f->pool, calls->each[i].thread))
			visits += calls->each[i].sums.visits;
	return visits;
}

/* Who takes tasks out of a pool begins each of them by that, and ends when it takes once more and finds none: then there are
 * none for others, either, that do a task then and take one more. Whoever has tasks of its own, with a lock around something
 * else, does not. Where tasks take something themselves, what is behind that is no other task, and that is not looked at. */
static bool take_until_none_is_left(const struct task_pool_finder *f, const struct call_profile *calls)
{
	const struct task_pool *p = f->pool;
	size_t untaken = 0, ends = 0;
	uint64_t last_but_one = 0;
	bool early = false, whole = p->tasks <= count_visits(f, calls);
	for (size_t i = 0; i < f->nrows && whole; i++)
		if (has_tasks(f, &f->rows[i]) && f->rows[i].last_but_one > last_but_one)
			last_but_one = f->rows[i].last_but_one;
	for (size_t i = 0; i < f->nrows; i++) {
		const struct task_pool_row *r = &f->rows[i];
		if (!has_tasks(f, r))
			continue;
		bool again = f->last_take[r->is.thread] >= r->is.last;
		untaken += r->untaken;
		ends += again;
		early |= again && f->last_take[r->is.thread] < last_but_one;
	}
	return untaken <= p->n / 2 && ends > p->n / 2 && !early;
}

/* ---- What they take them from ---------------------------------------------------------------- */

/* Locks, conditions and semaphores, by address or object, and which worker was the first at each. */
struct taken_from { struct ids known; uint32_t *first; size_t n; bool unknown; uint32_t *group; };

static void note_taken(struct taken_from *t, uint32_t worker, uint64_t process, const struct operation *o, const struct tr_event *e)
{
	uint64_t object = arg_object(o, e), id = object != ARG_NONE ? object : arg_address(o, e) ^ process << 48;
	t->unknown |= object == ARG_NONE && arg_address(o, e) == ARG_NONE;
	if (ids_add(&t->known, id))
		*MEM_GROW(t->first, t->n) = worker;
	joined_join(t->group, t->first[ids_find(&t->known, id)], worker);
}

/* What is done in the region while a lock is held is a critical section, and no task. */
struct task_count { uint64_t held, inside, all; };

static void count_task(struct task_count *c, const struct trace *trace, uint32_t row, const struct tr_event *e)
{
	bool lock = e->site < trace->nsites && trace->sites[e->site].kind == DPROF_KIND_LOCK;
	if (lock && e->op == DPROF_EXIT)
		c->held++;
	else if (lock && e->op == DPROF_POINT)
		c->held -= c->held > 0;
	if (e->op != DPROF_ENTER || tr_row(trace, e->site) != row)
		return;
	c->all++;
	c->inside += c->held > 0;
}

static bool are_apart(uint32_t *group, size_t n, uint32_t worker)
{
	for (uint32_t k = 0; k < n; k++)
		if (k != worker && joined_group(group, k) == joined_group(group, worker))
			return false;
	return true;
}

/* Each has taken or given something where another one has, too, and most tasks are done without it: else there is no pool. */
static bool take_together(const struct task_pool_finder *f)
{
	const struct trace *trace = f->g->trace;
	const struct task_pool *p = f->pool;
	struct taken_from t = { .group = joined_none(p->n) };
	struct task_count count = { 0, 0, 0 };
	bool apart = false;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t thread = p->workers[i].thread, process = trace->threads[thread].process;
		struct tr_cursor events = trace_events(trace, thread);
		count.held = 0;
		for (struct tr_event e; trace_next(&events, &e);) {
			count_task(&count, trace, p->site, &e);
			if (e.op != DPROF_EXIT && e.site < trace->nsites && tr_is(trace, e.site, OP_ADDRESS))
				note_taken(&t, i, process, tr_operation(trace, &e), &e);
		}
		trace_end(&events);
	}
	for (uint32_t i = 0; i < p->n; i++)
		apart |= are_apart(t.group, p->n, i);
	ids_free(&t.known);
	free(t.first);
	free(t.group);
	return (!apart || t.unknown) && count.inside <= count.all / 2;
}

/* ---- A worker's time ------------------------------------------------------------------------- */

static void add(struct task_pool_worker *w, enum task_pool_metric m, frz_time ticks)
{
	w->metric[m] = time_add(w->metric[m], ticks);
}

/* It waits at the begin of the operation: until then, and then. */
static void divide_wait(const struct task_pool_finder *f, struct task_pool_worker *w, const struct step *s, uint64_t until,
			enum task_pool_metric before, enum task_pool_metric behind)
{
	frz_time first = { 0, 0 };
	if (s->is.from < until)
		first = times_of_thread(f->g->times, w->thread, s->is.from, s->is.to < until ? s->is.to : until);
	add(w, before, time_least(s->is.waited, first));
	add(w, behind, time_less(s->is.waited, first));
}

static bool is_lock(const struct trace *trace, const struct step *s)
{
	return s->site < trace->nsites && trace->sites[s->site].kind == DPROF_KIND_LOCK;
}

static void add_wait(const struct task_pool_finder *f, struct task_pool_worker *w, const struct step *s)
{
	const struct trace *trace = f->g->trace;
	if (is_lock(trace, s))
		add(w, TASK_POOL_LOCK, s->is.waited);
	else if (s->is.from >= w->last)
		divide_wait(f, w, s, f->pool->last, TASK_POOL_FINALIZATION, TASK_POOL_SEQ);
	else
		divide_wait(f, w, s, f->pool->first, TASK_POOL_SEQ, TASK_POOL_STARVED);
	w->wait = time_add(w->wait, s->is.waited);
}

static void see_worker(struct task_pool_finder *f, struct task_pool_worker *w)
{
	const struct trace *trace = f->g->trace;
	struct steps_window all = steps_window_of(f->g, w->thread, windows_of(f));
	struct stretches inside = { 0 }, outside = { 0 };
	struct steps s;
	steps_open(&s, f->g, f->last, w->thread, f->role_of, windows_of(f));
	for (size_t i = 0; i < s.npieces; i++) {
		const struct step_piece *p = &s.pieces[i];
		stretches_add(p->site < trace->nsites ? &inside : &outside, p->from, p->to);
	}
	for (size_t i = 0; i < s.n; i++) {
		if (s.list[i].is.kind == EVENT_WORK)
			continue;
		add_wait(f, w, &s.list[i]);
		add(w, TASK_POOL_COMM, s.list[i].is.transfer);
		if (is_lock(trace, &s.list[i]) || s.list[i].is.waited.hi < s.list[i].is.transfer.lo)
			w->taking = time_add(w->taking, s.list[i].is.transfer);
	}
	add(w, TASK_POOL_COMP, times_sum(f->g->times, w->thread, inside));
	add(w, TASK_POOL_COMM, times_sum(f->g->times, w->thread, outside));
	w->taking = time_add(w->taking, times_sum(f->g->times, w->thread, outside));
	w->life = times_of_thread(f->g->times, w->thread, all.from, all.to);
	steps_close(&s);
}

/* They seem to work in their bodies, which no mark says, and are in marked regions for longer, which follow none of their takes. */
static bool works_elsewhere(const struct task_pool_finder *f, const struct call_profile *calls)
{
	const struct trace *trace = f->g->trace;
	frz_time there = { 0, 0 }, marked = { 0, 0 };
	for (size_t i = 0; i < calls->neach; i++) {
		const struct call_each *e = &calls->each[i];
		if (e->site >= trace->nsites || !is_worker(f->pool, e->thread))
			continue;
		if (e->site == f->pool->site)
			there = time_add(there, e->sums.exclusive);
		else if (tr_is_marked(trace, e->site))
			marked = time_add(marked, e->sums.inclusive);
	}
	return trace->sites[f->pool->site].automatic && marked.hi > there.hi;
}

/* ---- Who puts tasks there -------------------------------------------------------------------- */

/* Causes: the longest first. */
static void find_feeder(struct task_pool *p, const struct waits *waits)
{
	p->feeder = UINT32_MAX;
	p->feeds = TR_NO_SITE;
	for (size_t i = 0; i < waits->ncauses; i++) {
		const struct wait_sum *s = &waits->causes[i];
		if (s->kind != WAIT_CONDITION || !is_worker(p, s->thread) ||
		    s->for_thread == UINT32_MAX || is_worker(p, s->for_thread))
			continue;
		p->fed = time_add(p->fed, (frz_time){ s->sure ? s->ticks.lo : 0, s->ticks.hi });
		if (p->feeder != UINT32_MAX)
			continue;
		p->feeder = s->for_thread;
		p->feeds = s->did;
	}
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool may_take(const struct facts *f)
{
	bool may = false;
	for (size_t i = 0; i < f->calls->nflat && !may; i++)
		may = tr_is(f->trace, f->calls->flat[i].site, OP_ADDRESS);
	return may;
}

bool task_pool_open(struct task_pool *p, const struct facts *facts, const struct graph *g, struct graph_last *last,
	       const struct part *part)
{
	struct task_pool_finder f = { .pool = p, .g = g, .last = last, .part = part };
	*p = (struct task_pool){ .feeder = UINT32_MAX };
	if (!may_take(facts))
		return false;
	f.role_of = mem_zeroed(g->trace->nprocesses + 1, sizeof *f.role_of);
	f.last_take = mem_zeroed(g->trace->nthreads + 1, sizeof *f.last_take);
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (g->threads[t].nevents && (!part || part_has(part, g->trace->threads[t].process)))
			find_tasks(&f, t);
	bool fits = find_workers(&f) && take_until_none_is_left(&f, facts->calls) && take_together(&f) &&
		    !works_elsewhere(&f, facts->calls);
	for (size_t i = 0; i < p->n && fits; i++)
		see_worker(&f, &p->workers[i]);
	if (fits)
		find_feeder(p, facts->waits);
	free(f.rows);
	free(f.last_take);
	free(f.role_of);
	return fits;
}

void task_pool_close(struct task_pool *p)
{
	free(p->workers);
}

char *task_pool_why(const struct facts *f, const struct task_pool *p)
{
	return mem_format("%zu threads take %" PRIu64 " tasks out of a pool, to do them in %s", p->n, p->tasks,
			  facts_name(f->trace, p->site).text);
}

/* ---- The table ------------------------------------------------------------------------------- */

static const char *const keys[TASK_POOL_METRICS] = { "comp", "lock", "starved", "finalization", "seq", "comm" };

static void add_metric(const struct facts *f, const struct task_pool_worker *w, const char *name, frz_time ticks,
		       struct model_metric **list, size_t *n)
{
	*MEM_GROW(*list, *n) = facts_metric(f, w->thread, name, ticks, w->life, w->metric[TASK_POOL_COMP]);
}

static void add_worker(const struct facts *f, const struct task_pool_worker *w, struct model_metric **list, size_t *n)
{
	add_metric(f, w, "life", w->life, list, n);
	for (int k = 0; k < TASK_POOL_METRICS; k++)
		add_metric(f, w, keys[k], w->metric[k], list, n);
	add_metric(f, w, "wait", w->wait, list, n);
}

static struct task_pool_worker sum_of(const struct task_pool *p)
{
	struct task_pool_worker all = { .thread = UINT32_MAX };
	for (size_t i = 0; i < p->n; i++) {
		all.life = time_add(all.life, p->workers[i].life);
		all.wait = time_add(all.wait, p->workers[i].wait);
		all.taking = time_add(all.taking, p->workers[i].taking);
		for (int k = 0; k < TASK_POOL_METRICS; k++)
			add(&all, k, p->workers[i].metric[k]);
	}
	return all;
}

size_t task_pool_metrics(const struct facts *f, const struct task_pool *p, struct model_metric **list)
{
	struct task_pool_worker all = sum_of(p);
	size_t n = 0;
	*list = NULL;
	add_worker(f, &all, list, &n);
	for (size_t i = 0; i < p->n; i++)
		add_worker(f, &p->workers[i], list, &n);
	return n;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Of one task, on average. */
static struct interval mean_seconds(const struct facts *f, const struct task_pool *p, frz_time all)
{
	int64_t n = (int64_t)p->tasks;
	return times_seconds(f->times, f->times->time_base[f->trace->threads[0].clock], (frz_time){ all.lo / n, all.hi / n + 1 });
}

static void tell_metric(const struct facts *f, const struct task_pool *p, const struct model_metric *x, struct expert *e)
{
	bool last = strcmp(x->name, "finalization") == 0, starved = strcmp(x->name, "starved") == 0;
	uint32_t site = starved ? p->feeds : p->site, thread = starved ? p->feeder : UINT32_MAX;
	thread = last ? p->workers[p->last_worker].thread : thread;
	EXPERT_FACT(e, "metric", EXPERT_COUNT("worker", facts_thread(x->thread)),
		    EXPERT_TEXT("worker-name", facts_location(f->trace, x->thread).text), EXPERT_WORD("name", x->name),
		    EXPERT_RANGE("share", x->share), EXPERT_RANGE("lost", x->lost),
		    EXPERT_COUNT("region", facts_site(f->trace, site)),
		    EXPERT_TEXT("region-name", facts_name(f->trace, site).text),
		    EXPERT_COUNT("thread", facts_thread(thread)),
		    EXPERT_TEXT("thread-name", facts_location(f->trace, thread).text));
}

/* Work of workers in the region in which tasks are done, and in what that encloses. */
static frz_time work_at_tasks(const struct facts *f, const struct task_pool *p)
{
	frz_time sum = { 0, 0 };
	for (size_t i = 0; i < f->calls->neach; i++) {
		const struct call_each *e = &f->calls->each[i];
		if (e->site == p->site && is_worker(p, e->thread))
			sum = time_add(sum, time_less(e->sums.inclusive, time_add(e->sums.waited, e->sums.transfer)));
	}
	return sum;
}

/* While the pool is open: at least what cannot have been before or behind that. */
static frz_time fed_with_tasks(const struct task_pool *p, const struct task_pool_worker *all)
{
	frz_time apart = time_add(all->metric[TASK_POOL_SEQ], all->metric[TASK_POOL_FINALIZATION]);
	return (frz_time){ time_less(p->fed, apart).lo, p->fed.hi };
}

void task_pool_tell(const struct facts *f, const struct task_pool *p, const struct model_metric *metrics, size_t count,
		    struct expert *e)
{
	struct task_pool_worker all = sum_of(p);
	frz_time fed = fed_with_tasks(p, &all);
	EXPERT_FACT(e, "pool", EXPERT_COUNT("workers", (int64_t)p->n), EXPERT_COUNT("tasks", (int64_t)p->tasks),
		    EXPERT_COUNT("region", facts_site(f->trace, p->site)),
		    EXPERT_TEXT("region-name", facts_name(f->trace, p->site).text),
		    EXPERT_COUNT("feeder", facts_thread(p->feeder)), EXPERT_RANGE("fed", facts_share(f, fed)),
		    EXPERT_RANGE("task", mean_seconds(f, p, work_at_tasks(f, p))),
		    EXPERT_RANGE("take", mean_seconds(f, p, all.taking)),
		    EXPERT_RANGE("taking", facts_share(f, all.taking)));
	for (size_t i = 0; i < count; i++)
		tell_metric(f, p, &metrics[i], e);
}

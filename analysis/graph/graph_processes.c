/* SPDX-License-Identifier: MIT
 *
 * graph_processes.c - processes that another one forked, and those whose end another waited for.
 *
 * Law: a process whose fork is recorded begins no earlier than that. Who waited for the end of one that ended in good
 * order comes behind all that its threads recorded; and, if it has but one thread and no other process would have done,
 * could not come before that. A thread that another one has joined is over before that one is, and need not be asked. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_processes.h"

static uint32_t clock_of(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->threads[thread].clock;
}

static uint32_t process_of(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->threads[thread].process;
}

static uint64_t pid_of(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->processes[process_of(b, thread)].pid;
}

/* ---- Begins ---------------------------------------------------------------------------------- */

static int by_pid(const void *x, const void *y)
{
	const struct process_fork *a = x, *b = y;
	return ORDER_2(a, b, pid, ref.stamp);
}

/* The recorded fork of a process, the last one on a clock that was until then; or NULL. They are by pid. Several processes that
 * forked one of that pid may have been in different namespaces of process ids: then whose child it is is not known (`unclear`). */
static const struct process_fork *last_fork(const struct builder *b, const struct process_records *r, uint64_t pid, uint32_t clock,
					    uint64_t until, bool *unclear)
{
	const struct process_fork *last = NULL;
	size_t lo = 0, hi = r->nforks;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct process_fork *f = &r->forks[mid];
		if (f->pid < pid || (f->pid == pid && f->ref.stamp <= until))
			lo = mid + 1;
		else
			hi = mid;
	}
	*unclear = false;
	while (lo-- > 0 && r->forks[lo].pid == pid) {
		const struct process_fork *f = &r->forks[lo];
		if (clock_of(b, f->ref.thread) != clock)
			continue;
		last = last ? last : f;
		*unclear |= process_of(b, f->ref.thread) != process_of(b, last->ref.thread);
	}
	return *unclear ? NULL : last;
}

/* Of a thread's process. */
static const struct process_fork *find_fork(const struct builder *b, const struct process_records *r, uint32_t thread)
{
	uint32_t clock = clock_of(b, thread);
	bool unclear;
	return last_fork(b, r, pid_of(b, thread), clock, b->graph->threads[thread].first + tr_slack(b->graph->trace, clock), &unclear);
}

/* The first thread of such a process, and since when it has been there. */
struct child { uint64_t started; uint32_t thread; };

static int by_start(const void *x, const void *y)
{
	const struct child *a = x, *b = y;
	return a->started != b->started ? ORDER(a->started, b->started)
					: ORDER(a->thread, b->thread);
}

static bool was_forked(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->processes[process_of(b, thread)].forked;
}

/* What it did between its fork and its begin as another program is not known. */
static bool was_executed(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->processes[process_of(b, thread)].executed;
}

/* Those on a clock, in the order of their begins; to be freed. */
static struct child *find_children(const struct builder *b, const struct process_records *r, uint32_t clock, size_t *n)
{
	const struct trace *trace = b->graph->trace;
	struct child *children = NULL;
	*n = 0;
	for (uint32_t t = 0; t < trace->nthreads; t++)
		if (trace->threads[t].clock == clock && trace_begins_process(trace, t) && was_forked(b, t) &&
		    b->graph->threads[t].nevents > 0 && !find_fork(b, r, t))
			*MEM_GROW(children, *n) = (struct child){ trace->processes[process_of(b, t)].started, t };
	if (*n)
		qsort(children, *n, sizeof *children, by_start);
	return children;
}

/* Each after the last event before it of a thread that was there from the begin: which one forked it is not known. */
static void begin_children(struct builder *b, const struct process_records *r, uint32_t first)
{
	const struct trace *trace = b->graph->trace;
	size_t n, next = 0;
	struct child *children = find_children(b, r, trace->threads[first].clock, &n);
	struct event_ref before = { first, NO_FORK, 0 };
	struct tr_cursor events = trace_events(trace, first);
	struct tr_event e;
	for (uint64_t at = 0; next < n && trace_next(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		for (; next < n && children[next].started < e.stamp; next++)
			if (before.at != NO_FORK) /* or else it was there before that one's first event */
				graph_begin_after(b, children[next].thread, before, false);
		before = (struct event_ref){ first, at, e.stamp };
	}
	for (; before.at != NO_FORK && next < n; next++)
		graph_begin_after(b, children[next].thread, before, false);
	trace_end(&events);
	free(children);
}

/* Those whose fork is not recorded, on each clock that has any. */
static void begin_unrecorded(struct builder *b, const struct process_records *r)
{
	const struct trace *trace = b->graph->trace;
	bool *waits = mem_zeroed(trace->nclocks + 1, sizeof *waits);
	for (uint32_t t = 0; t < trace->nthreads; t++)
		waits[trace->threads[t].clock] |= was_forked(b, t);
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		if (!waits[trace->threads[t].clock] || was_forked(b, t) || b->graph->threads[t].nevents == 0)
			continue;
		waits[trace->threads[t].clock] = false;
		begin_children(b, r, t);
	}
	free(waits);
}

static void begin_forked(struct builder *b, const struct process_records *r)
{
	runs_sort(b->spill, r->forks, r->nforks, sizeof *r->forks, by_pid);
	for (uint32_t t = 0; t < b->graph->trace->nthreads; t++) {
		const struct process_fork *f = NULL;
		if (trace_begins_process(b->graph->trace, t) && b->graph->threads[t].nevents > 0)
			f = find_fork(b, r, t);
		if (!f)
			continue;
		graph_begin_after(b, t, f->ref, !was_executed(b, t));
		b->threads[t].fork_site = f->site;
		b->threads[t].forked_by = process_of(b, f->ref.thread);
	}
}

/* ---- Ends ------------------------------------------------------------------------------------ */

/* The first thread of a process, and its first stamp. */
struct leader { uint64_t pid, first; uint32_t clock, thread; };

struct families {
	const struct process_records *records;
	struct leader *leaders; size_t n; /* by pid, clock and stamp */
	uint32_t *children;       /* how many each process is known to have forked */
	bool *waits_for_any;      /* each process, now and then */
	bool *joined;             /* each thread, by another one of its process, in any run that comes as far */
};

static int by_leader(const void *x, const void *y)
{
	const struct leader *a = x, *b = y;
	return ORDER_4(a, b, pid, clock, first, thread);
}

/* Whoever joined the thread could not have gone on before its end. */
static bool is_over(const struct builder *b, const struct thread_join *j)
{
	return !j->begin.tried && b->graph->threads[j->thread].last <= j->exit.stamp;
}

static void open_families(struct families *f, const struct builder *b, const struct process_records *r,
			  const struct join_records *joins)
{
	const struct trace *trace = b->graph->trace;
	*f = (struct families){ .records = r,
				.children = mem_zeroed(trace->nprocesses + 1, sizeof *f->children),
				.joined = mem_zeroed(trace->nthreads + 1, sizeof *f->joined),
				.waits_for_any = mem_zeroed(trace->nprocesses + 1, sizeof *f->waits_for_any),
				.leaders = mem_resize(NULL, trace->nprocesses + 1, sizeof *f->leaders) };
	for (size_t i = 0; i < joins->n; i++)
		f->joined[joins->v[i].thread] |= is_over(b, &joins->v[i]);
	for (size_t i = 0; i < r->nforks; i++)
		f->children[process_of(b, r->forks[i].ref.thread)]++;
	for (size_t i = 0; i < r->nwaits; i++)
		f->waits_for_any[process_of(b, r->waits[i].exit.thread)] |= !r->waits[i].of_one;
	for (uint32_t t = 0; t < trace->nthreads; t++)
		if (trace_begins_process(trace, t))
			f->leaders[f->n++] = (struct leader){ pid_of(b, t), b->graph->threads[t].first, clock_of(b, t), t };
	qsort(f->leaders, f->n, sizeof *f->leaders, by_leader);
}

static void close_families(struct families *f)
{
	free(f->children);
	free(f->waits_for_any);
	free(f->joined);
	free(f->leaders);
}

/* Whether no other child's end would have done. Who waits for any may ask for the one that was first by its name. */
static bool is_of_one(const struct families *f, const struct builder *b, const struct process_wait *w)
{
	uint32_t process = process_of(b, w->exit.thread);
	return !f->waits_for_any[process] || f->children[process] == 1;
}

/* Whether the thread's process was there before that fork, which gave its number to another one. */
static bool is_older(const struct builder *b, uint32_t thread, const struct process_fork *fork)
{
	uint64_t slack = tr_slack(b->graph->trace, clock_of(b, thread));
	return fork && b->graph->threads[thread].nevents > 0 && b->graph->threads[thread].first + slack < fork->ref.stamp;
}

/* The first thread of the process with this pid that was there last; or of none. */
static uint32_t find_ended(const struct families *f, const struct builder *b, const struct process_wait *w)
{
	struct leader last = { w->pid, w->exit.stamp, clock_of(b, w->exit.thread), UINT32_MAX };
	size_t lo = SEARCH(f->n, mid, by_leader(&f->leaders[mid], &last) <= 0);
	bool found = lo > 0 && f->leaders[lo - 1].pid == last.pid && f->leaders[lo - 1].clock == last.clock, unclear;
	const struct process_fork *fork = last_fork(b, f->records, w->pid, last.clock, last.first, &unclear);
	found = found && !unclear && !is_older(b, f->leaders[lo - 1].thread, fork);
	return found ? f->leaders[lo - 1].thread : (uint32_t)b->graph->trace->nthreads;
}

struct event_ref graph_end_of(const struct builder *b, uint32_t thread, uint64_t until)
{
	const struct tr_thread *t = &b->graph->trace->threads[thread];
	const struct graph_thread *self = &b->graph->threads[thread];
	bool is_known = t->complete && !trace_lost_behind(t) && t->ended > self->last && t->ended <= until;
	return (struct event_ref){ thread, self->nevents - 1, is_known ? t->ended : self->last };
}

/* The ends of its threads; none if one of them, or its own, is not known to have been before. */
static size_t ends_of(const struct families *f, const struct builder *b, uint32_t first, uint64_t until,
		      struct node_input *inputs)
{
	const struct trace *trace = b->graph->trace;
	const struct tr_process *p = &trace->processes[process_of(b, first)];
	size_t n = 0;
	if (!p->finished || p->ended > until)
		return 0;
	for (uint32_t t = first; t < trace->nthreads && process_of(b, t) == process_of(b, first); t++) {
		const struct graph_thread *self = &b->graph->threads[t];
		if (self->nevents == 0)
			continue;
		if (self->last > until)
			return 0;
		if (t == first || !f->joined[t])
			inputs[n++] = (struct node_input){ .ref = graph_end_of(b, t, until), .sure = trace->threads[t].number == 0 };
	}
	return n;
}

static int by_target(const void *x, const void *y)
{
	const struct process_signal *a = x, *b = y;
	return ORDER_4(a, b, pid, ref.stamp, ref.thread, ref.at);
}

/* The last signal to this pid that may have ended the child; or NULL. They are in order. */
static const struct event_ref *find_signal_to(const struct builder *b, const struct process_records *r,
					      const struct process_wait *w, uint64_t pid)
{
	size_t i = SEARCH(r->nsignals, mid, r->signals[mid].pid < pid || (r->signals[mid].pid == pid &&
									  r->signals[mid].ref.stamp <= w->exit.stamp));
	while (i-- > 0 && r->signals[i].pid == pid)
		if (r->signals[i].signal == w->signal && clock_of(b, r->signals[i].ref.thread) == clock_of(b, w->exit.thread))
			return &r->signals[i].ref;
	return NULL;
}

/* What has ended a child that another process has killed: what was sent to it alone, rather than to several. */
static const struct event_ref *find_signal(const struct builder *b, const struct process_records *r, const struct process_wait *w)
{
	const struct event_ref *to_it = w->signal ? find_signal_to(b, r, w, w->pid) : NULL;
	return to_it || !w->signal ? to_it : find_signal_to(b, r, w, 0);
}

#define SOON 20 /* times longer than its end was waited for, a child had been there: then it was ended just before */

/* A child that has no end in the trace: it was killed, or is another program. Where nobody is known to have killed it, most likely
 * who waits for it then has, and any other works for as long as it did since its fork. */
static void add_lost_end(struct builder *b, const struct families *f, const struct process_wait *w)
{
	bool unclear;
	const struct process_fork *fork = last_fork(b, f->records, w->pid, clock_of(b, w->exit.thread), w->exit.stamp, &unclear);
	const struct event_ref *killed = find_signal(b, f->records, w);
	b->graph->outside = true;
	if (!killed)
		graph_diagnose(&b->diagnosed.alone, w->exit, w->site);
	if (killed)
		graph_unknown_by(b, &(struct unknown_wait){ .begin = w->begin, .exit = w->exit }, killed);
	else if (!fork)
		graph_unknown(b, w->begin, w->exit);
	else if ((w->exit.stamp - w->begin.enter.stamp) * SOON < w->exit.stamp - fork->ref.stamp)
		graph_unknown_since(b, w->begin, w->exit, w->begin.enter, 0);
	else
		graph_unknown_since(b, w->begin, w->exit, fork->ref, 0);
}

/* Who waited for nobody knows what (poll, signalfd, pause), and learnt next of the end of a process, which came meanwhile, has
 * waited for that. */
static void end_looks(struct builder *b, const struct process_wait *w)
{
	for (size_t i = 0; i < w->nlooks; i++) {
		struct unknown_wait *look = &b->unknown[w->looks - 1 + i];
		bool meanwhile = w->ended.stamp > look->begin.enter.stamp && w->ended.stamp <= look->exit.stamp;
		if (look->otherwise == OTHERWISE_UNKNOWN && meanwhile)
			look->ended = w->ended;
	}
}

#define ANY_CHILD (TR_NO_SITE - 1) /* wherever it is waited for: the first that ends is taken first */

static void add_end(struct builder *b, const struct families *f, struct process_wait *w, struct node_input *inputs)
{
	uint32_t first = find_ended(f, b, w);
	uint64_t until = w->exit.stamp + tr_slack(b->graph->trace, clock_of(b, w->exit.thread));
	size_t begin = graph_begin_inputs(&w->begin, inputs), n = 0;
	if (first < b->graph->trace->nthreads)
		n = ends_of(f, b, first, until, inputs + begin);
	if (n == 0) {
		add_lost_end(b, f, w);
		return;
	}
	w->ended = inputs[begin].ref;
	end_looks(b, w);
	bool of_one = !w->begin.tried && is_of_one(f, b, w);
	if (n == 1)
		inputs[begin].needed = of_one;
	struct graph_node *node = graph_arrival(b, w->exit, GRAPH_PROCESS_OVER, inputs, begin + n);
	node->hidden = !of_one; /* another child, which would have ended first */
	node->loose = node->delayed = !of_one || n > 1;
	if (!w->of_one && !of_one && n == 1) /* most likely it is asked for by its name because of nobody else */
		graph_turn(b, (struct graph_turn){ .first = (uint32_t)begin, .n = 1,
			   .queue = graph_inbox(b, process_of(b, w->exit.thread), ANY_CHILD, 0) });
}

/* ---- Who takes the next child that ends ------------------------------------------------------------------ */

struct child_take { uint32_t process; struct take take; };

static int by_parent(const void *x, const void *y)
{
	const struct child_take *a = x, *b = y;
	return a->process != b->process ? (a->process < b->process ? -1 : 1)
					: ORDER(a->take.ref.stamp, b->take.ref.stamp);
}

/* All that were waited for by whoever waits for any. To be freed. */
static struct child_take *find_taken(const struct builder *b, const struct process_records *r, size_t *n)
{
	struct child_take *taken = NULL;
	*n = 0;
	for (size_t i = 0; i < r->nwaits; i++) {
		const struct process_wait *w = &r->waits[i];
		if (!w->of_one)
			*MEM_GROW(taken, *n) = (struct child_take){ process_of(b, w->exit.thread), { .ref = w->exit, .has = w->exit,
											       .left.at = NO_EVENT, .place.site = w->site } };
	}
	if (*n)
		qsort(taken, *n, sizeof *taken, by_parent);
	return taken;
}

/* What a thread does then is for that child, which another one may take in another run. */
static void find_pools(struct builder *b, const struct process_records *r)
{
	size_t n, ntakes = 0;
	struct child_take *taken = find_taken(b, r, &n);
	struct take *takes = NULL;
	for (size_t i = 0; i < n; i++) {
		*SPILL_GROW(b->spill, takes, ntakes) = taken[i].take;
		if (i + 1 < n && taken[i + 1].process == taken[i].process)
			continue;
		graph_find_pool(b, takes, ntakes);
		ntakes = 0;
	}
	spill_free(b->spill, takes);
	free(taken);
}

/* Whether a process, or its child that has recorded nothing here, was another program: then waits may have been for that. */
static bool has_outside(const struct families *f, const struct builder *b)
{
	const struct trace *trace = b->graph->trace;
	for (size_t i = 0; i < trace->nprocesses; i++)
		if (trace->processes[i].ran || trace_was_replaced(&trace->processes[i]))
			return true;
	for (size_t i = 0; i < f->records->nforks; i++) {
		uint64_t pid = f->records->forks[i].pid;
		size_t at = SEARCH(f->n, mid, f->leaders[mid].pid < pid);
		if (at == f->n || f->leaders[at].pid != pid)
			return true;
	}
	return false;
}

void graph_processes(struct builder *b, struct process_records *r, const struct join_records *joins)
{
	struct node_input *inputs = mem_resize(NULL, b->graph->trace->nthreads + BEGIN_INPUTS, sizeof *inputs);
	struct families families;
	begin_forked(b, r);
	begin_unrecorded(b, r);
	open_families(&families, b, r, joins);
	runs_sort(b->spill, r->signals, r->nsignals, sizeof *r->signals, by_target);
	b->graph->outside |= has_outside(&families, b);
	for (size_t i = 0; i < r->nwaits; i++)
		add_end(b, &families, &r->waits[i], inputs);
	find_pools(b, r);
	close_families(&families);
	free(inputs);
}

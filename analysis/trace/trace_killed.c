/* SPDX-License-Identifier: MIT
 *
 * trace_killed.c - until when a process without an end in good order may have run, at the latest; and what has killed it.
 *
 * Law: whoever was told of a process's end was told behind all that its threads did. So none of them is said to have gone on
 * behind that, if one process alone has this pid on this clock, and none of its records comes later.
 *
 * It was killed by a signal of the job itself if another process has sent it that before its end was told, and whoever was told
 * learnt that this one has ended it; or, if nobody was told, if it has no record behind one that was sent to it. What has ended it
 * otherwise (its own fault, somebody outside) nobody says here. */
#define _GNU_SOURCE /* sigabbrev_np */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/trace/names.h"
#include "analysis/trace/trace_private.h"

/* first: thread; told: somebody was told of its end, at this stamp, and that the signal has ended it (0: or something else) */
struct known_pid { uint64_t pid; size_t first; uint32_t clock; bool alone; uint64_t told, signal; };

struct known_pids { struct known_pid *v; size_t n; };

static int by_pid(const void *a, const void *b)
{
	const struct known_pid *x = a, *y = b;
	return ORDER_2(x, y, pid, clock);
}

/* All processes, by pid and clock, if any of them was killed; else none. */
static struct known_pids find_pids(const struct trace *t)
{
	struct known_pids all = { NULL, 0 };
	bool any = false;
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *self = &t->threads[i];
		const struct tr_process *p = &t->processes[self->process];
		if (i > 0 && self[-1].process == self->process)
			continue;
		any |= !p->finished;
		*MEM_GROW(all.v, all.n) = (struct known_pid){ p->pid, i, self->clock, true, 0, 0 };
	}
	if (!any)
		all.n = 0;
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_pid);
	for (size_t i = 1; i < all.n; i++)
		if (by_pid(&all.v[i - 1], &all.v[i]) == 0)
			all.v[i - 1].alone = all.v[i].alone = false;
	return all;
}

static uint64_t last_of(const struct tr_thread *thread)
{
	uint64_t first, last = 0;
	trace_ends(thread, &first, &last);
	return last;
}

/* Threads of a process stand together. */
static void end_process(struct trace *t, size_t first, uint64_t stamp)
{
	size_t end;
	for (end = first; end < t->nthreads && t->threads[end].process == t->threads[first].process; end++)
		if (last_of(&t->threads[end]) > stamp)
			return;
	for (size_t i = first; i < end; i++)
		if (t->threads[i].latest > stamp)
			t->threads[i].latest = stamp;
}

/* One that may end another process, sent by a thread at a site; pid 0: to any. */
struct sent_signal { uint64_t pid, signal, stamp; uint32_t thread, site; };

struct known_ends { struct trace *t; struct known_pids all; struct sent_signal *sent; size_t nsent; };

/* What a thread was told, as it entered an operation. */
struct told_end { uint64_t pid, signal; uint32_t site; };

static void take_end(struct known_ends *x, uint32_t clock, const struct told_end *told, uint64_t stamp)
{
	struct trace *t = x->t;
	struct known_pid key = { .pid = told->pid, .clock = clock };
	struct known_pid *found = bsearch(&key, x->all.v, x->all.n, sizeof *x->all.v, by_pid);
	uint64_t slack = tr_slack(t, clock);
	if (!found || !found->alone || t->processes[t->threads[found->first].process].finished)
		return;
	found->told = stamp < UINT64_MAX - slack ? stamp + slack : UINT64_MAX;
	found->signal = told->signal;
	end_process(t, found->first, found->told);
}

/* Whose ends a thread was told of, by the exit of the operation that says so, and what it sent. */
static void follow(struct known_ends *x, uint32_t thread)
{
	struct tr_cursor events = trace_events(x->t, thread);
	struct tr_columns k;
	struct told_end told = { .pid = ARG_NONE };
	while (trace_columns(&events, &k))
		for (size_t i = 0; i < k.n; i++) {
			const struct tr_what *what = trace_what(x->t, &k, i);
			struct tr_event e;
			if (what->op == DPROF_EXIT && told.pid != ARG_NONE && what->site == told.site) {
				take_end(x, x->t->threads[thread].clock, &told, k.stamp[i]);
				told.pid = ARG_NONE;
			}
			if (what->op == DPROF_EXIT || !(what->keys >> DPROF_KEY_PROCESS & 1))
				continue;
			trace_event_of(x->t, &k, i, &e);
			const struct operation *o = tr_operation(x->t, &e);
			if (e.op == DPROF_ENTER)
				told = (struct told_end){ arg_ended_process(o, &e), arg_ended_by(o, &e), e.site };
			else if (arg_signalled_process(o, &e) != ARG_NONE)
				*MEM_GROW(x->sent, x->nsent) = (struct sent_signal){
					arg_signalled_process(o, &e), arg_signal(o, &e), e.stamp, thread, e.site };
		}
	trace_end(&events);
}

/* ---- By whom it was killed ------------------------------------------------------------------- */

static uint64_t last_of_process(const struct trace *t, size_t first)
{
	uint64_t last = 0;
	for (size_t i = first; i < t->nthreads && t->threads[i].process == t->threads[first].process; i++)
		last = last_of(&t->threads[i]) > last ? last_of(&t->threads[i]) : last;
	return last;
}

static bool may_have_ended(const struct known_ends *x, const struct known_pid *p, const struct sent_signal *s, uint64_t last)
{
	const struct tr_thread *by = &x->t->threads[s->thread], *self = &x->t->threads[p->first];
	if (by->clock != p->clock || by->process == self->process || (s->pid && s->pid != p->pid))
		return false;
	return p->told ? s->signal == p->signal && s->stamp <= p->told : s->stamp + tr_slack(x->t, p->clock) >= last;
}

static int by_target(const void *a, const void *b)
{
	const struct sent_signal *x = a, *y = b;
	return ORDER_4(x, y, pid, stamp, thread, signal);
}

/* Of those to this pid the first behind its last record, or else the last. They are in order. */
static const struct sent_signal *find_killer_to(const struct known_ends *x, const struct known_pid *p, uint64_t pid, uint64_t last)
{
	const struct sent_signal *found = NULL;
	size_t i = SEARCH(x->nsent, mid, x->sent[mid].pid < pid);
	for (; i < x->nsent && x->sent[i].pid == pid && (!found || found->stamp < last); i++)
		if (may_have_ended(x, p, &x->sent[i], last))
			found = &x->sent[i];
	return found;
}

/* One that was sent to it alone, rather than to several. */
static const struct sent_signal *find_killer(const struct known_ends *x, const struct known_pid *p)
{
	uint64_t last = last_of_process(x->t, p->first);
	const struct sent_signal *to_it = find_killer_to(x, p, p->pid, last);
	return to_it ? to_it : find_killer_to(x, p, 0, last);
}

/* "SIGTERM, which pid 7 has sent at kill (a.c:5)"; to be freed. */
static char *killer_text(const struct trace *t, const struct sent_signal *s)
{
	const char *name = s->signal <= INT32_MAX ? sigabbrev_np((int)s->signal) : NULL;
	char *signal = name ? mem_format("SIG%s", name) : mem_format("signal %" PRIu64, s->signal);
	char *text = mem_format("%s, which %s has sent at %s", signal, name_of_process(t, t->threads[s->thread].process).text,
				site_name(t, s->site).text);
	free(signal);
	return text;
}

/* That is no damage: all that it recorded until then is here, and it was to end there. */
static void note_killed(struct trace *t, const struct known_pid *p, const struct sent_signal *by, size_t more)
{
	char *killer = killer_text(t, by), *others = more ? mem_format("; so were %zu more by others of the job", more) : mem_copy("");
	*MEM_GROW(t->notes, t->nnotes) = mem_format("pid %" PRIu64 " was ended by %s%s: what %s did behind %s last record is not known",
						    p->pid, killer, others, more ? "they" : "it", more ? "their" : "its");
	free(killer);
	free(others);
}

static void find_killed(struct known_ends *x)
{
	const struct known_pid *first = NULL;
	const struct sent_signal *by = NULL;
	size_t count = 0;
	qsort(x->sent, x->nsent, sizeof *x->sent, by_target);
	for (size_t i = 0; i < x->all.n; i++) {
		const struct known_pid *p = &x->all.v[i];
		struct tr_process *process = &x->t->processes[x->t->threads[p->first].process];
		const struct sent_signal *s = p->alone && !process->finished && !process->execs ? find_killer(x, p) : NULL;
		if (!s)
			continue;
		process->killed = (uint32_t)s->signal;
		first = first ? first : p;
		by = by ? by : s;
		count++;
	}
	if (count)
		note_killed(x->t, first, by, count - 1);
}

/* ---- The run's end --------------------------------------------------------------------------- */

bool trace_end_open(const struct trace *t)
{
	uint64_t *last = mem_zeroed(t->nclocks + 1, sizeof *last);
	bool open = false;
	for (size_t i = 0; i < t->nthreads; i++) {
		uint64_t own = last_of(&t->threads[i]), *of = &last[t->threads[i].clock];
		*of = own > *of ? own : *of;
	}
	for (size_t i = 0; i < t->nthreads; i++)
		open |= trace_goes_on(&t->threads[i]) && t->threads[i].latest > last[t->threads[i].clock];
	free(last);
	return open;
}

/* ---- All of it ------------------------------------------------------------------------------- */

void open_killed(struct opened_trace *o)
{
	struct known_ends x = { &o->t, find_pids(&o->t), NULL, 0 };
	for (uint32_t i = 0; i < o->t.nthreads && x.all.n > 1; i++)
		if (o->t.threads[i].nrecords)
			follow(&x, i);
	if (x.nsent)
		find_killed(&x);
	free(x.all.v);
	free(x.sent);
}

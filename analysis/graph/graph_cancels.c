/* SPDX-License-Identifier: MIT
 *
 * graph_cancels.c - regions of OpenMP that one thread ends for all of its team, and threads that another one ends.
 *
 *   #pragma omp cancel parallel               one of them has found what all look for
 *   #pragma omp cancellation point parallel   the others see that there, and come to the end of the region
 *
 * Who went on at a cancellation point, and comes to the team's next barrier behind another one's cancel, has most likely done so
 * because of that: as long behind it as here. It does not say what else it would have done, and in another run it may have done it
 * all. Where a loop, sections or a taskgroup were cancelled before that was recorded, it may have been so, or not. Who goes on in a
 * taskgroup that is cancelled begins no more of its tasks, and comes to no barrier because of that.
 *
 * A thread that ends soon behind a pthread_cancel of it has most likely ended because of that, whatever it was about then: what it
 * does behind it, as its handlers do (pthread_cleanup_push), comes as long behind it as here. One that ended before, or long behind
 * it, has most likely ended by itself; but where that came sooner in another run, it may end because of it. Nothing of all this is
 * proved. */
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_cancels.h"

static int by_group(const void *x, const void *y)
{
	const struct cancellation *a = x, *b = y;
	return ORDER_4(a, b, group, ref.stamp, ref.thread, ref.at);
}

/* Because of the cancel, or nobody knows why. */
static void end_because(struct builder *b, const struct cancellation *c, const struct cancellation *cancel)
{
	struct node_input inputs[2] = { { .ref = c->since, .sure = true } };
	if (cancel)
		inputs[1] = (struct node_input){ .ref = cancel->ref, .sure = true };
	uint32_t number = graph_add_chance(b, cancel ? GRAPH_SYNC : GRAPH_UNKNOWN, inputs, 1 + (cancel != NULL));
	graph_end_by(b, c->ref, number);
}

/* Of one group, by time. */
static void end_all(struct builder *b, const struct cancellation *c, size_t n)
{
	const struct cancellation *cancel = NULL;
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any |= c[i].cancels;
	for (size_t i = 0; i < n; i++) {
		bool ended = cancel && cancel->ref.stamp > c[i].since.stamp;
		if (c[i].cancels)
			cancel = &c[i];
		else if ((!any && !c[i].said) || ended)
			end_because(b, &c[i], cancel);
	}
}

void graph_cancellations(struct builder *b, struct cancel_records *r)
{
	struct cancellation *c = r->regions;
	runs_sort(b->spill, c, r->nregions, sizeof *c, by_group);
	for (size_t i = 0, next; i < r->nregions; i = next) {
		for (next = i + 1; next < r->nregions && c[next].group == c[i].group;)
			next++;
		end_all(b, &c[i], next - i);
	}
}

/* ---- Threads ---------------------------------------------------------------------------------- */

#define SOON 8 /* within such a part of the time for which it had been there */

static int by_thread(const void *x, const void *y)
{
	const struct thread_cancel *a = x, *b = y;
	return ORDER_2(a, b, thread, ref.stamp);
}

/* What it does first behind the cancel, which may be part of how it ends (pthread_cleanup_push); or its end. */
static struct event_ref find_behind(const struct builder *b, const struct thread_cancel *c)
{
	const struct trace *trace = b->graph->trace;
	const struct graph_thread *t = &b->graph->threads[c->thread];
	uint64_t slack = tr_slack(trace, trace->threads[c->thread].clock);
	struct event_ref behind = { c->thread, t->nevents - 1, t->last };
	struct tr_cursor events = trace_events(trace, c->thread);
	struct tr_event e;
	for (uint64_t at = 0; trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST || at == 0 || e.stamp + slack < c->ref.stamp)
			continue;
		behind = (struct event_ref){ c->thread, at, e.stamp };
		break;
	}
	trace_end(&events);
	return behind;
}

static void end_cancelled(struct builder *b, const struct thread_cancel *c)
{
	const struct graph_thread *t = &b->graph->threads[c->thread];
	bool alone = t->nevents < 2 || c->ref.thread == c->thread, within = c->ref.stamp > t->first && c->ref.stamp <= t->last;
	bool soon = within && (t->last - c->ref.stamp) <= (c->ref.stamp - t->first) / SOON;
	if (!b->threads[c->thread].left.ends || alone)
		return;
	struct event_ref behind = find_behind(b, c);
	if (!soon) {
		graph_let_go(b, behind);
		return;
	}
	struct node_input inputs[] = { { .ref = { c->thread, 0, t->first }, .sure = true }, { .ref = c->ref, .sure = true } };
	uint32_t number = graph_add_node(b, GRAPH_SYNC, inputs, 2);
	struct graph_node *node = &b->graph->nodes[number];
	node->hidden = node->delayed = true;
	graph_end_by(b, behind, number);
}

void graph_thread_cancels(struct builder *b, struct cancel_records *r)
{
	struct thread_cancel *c = r->threads;
	runs_sort(b->spill, c, r->nthreads, sizeof *c, by_thread);
	for (size_t i = 0; i < r->nthreads; i++)
		if (c[i].thread < b->graph->trace->nthreads && (i == 0 || c[i].thread != c[i - 1].thread))
			end_cancelled(b, &c[i]);
}

/* SPDX-License-Identifier: MIT
 *
 * graph_futexes.c - who waits until another thread has stored something: C++'s atomics, latches, barriers, semaphores
 * and futures, and whatever else is made of futexes.
 *
 * Only who blocked is recorded, and who woke somebody, perhaps. Neither who stored what was waited for (which need not be
 * who woke), nor who came later and found it stored: in another run that one may have to wait. So
 * nothing is proved of the threads of a process in which anybody waits so. Expected is that the last one who woke
 * somebody at the same address before the end of a wait did end it. */
#include "analysis/graph/graph_private.h"

/* The last that woke somebody, and the last of another thread than that one. */
struct wakes { const struct sync_event *last, *other; };

static void add_wake(struct wakes *w, const struct sync_event *wake)
{
	if (w->last && w->last->ref.thread != wake->ref.thread)
		w->other = w->last;
	w->last = wake;
}

/* The last of another thread before the end of t[0]'s wait; or, as stamps of different cores show it, just behind. */
static const struct sync_event *find_wake(const struct wakes *before, const struct sync_event *t, size_t n, uint64_t slack)
{
	bool own = before->last && before->last->ref.thread == t->ref.thread;
	const struct sync_event *wake = own ? before->other : before->last;
	for (size_t i = 1; !wake && i < n && t[i].ref.stamp <= t->ref.stamp + slack; i++)
		if (t[i].kind == SYNC_SIGNALLED && t[i].ref.thread != t->ref.thread)
			wake = &t[i];
	return wake;
}

static void add_woken(struct builder *b, const struct sync_event *w, const struct sync_event *wake)
{
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t begins = graph_begin_inputs(&w->begin, inputs);
	if (!wake) {
		graph_diagnose(&b->alone, w->ref, w->site);
		graph_unknown(b, w->begin, w->ref);
		return;
	}
	inputs[begins] = (struct node_input){ .ref = wake->ref, .sure = true };
	struct graph_node *node = graph_arrival(b, w->ref, GRAPH_WOKEN_UP, inputs, begins + 1);
	node->loose = node->hidden = node->delayed = true;
}

void graph_futexes(struct builder *b, const struct sync_event *t, size_t n)
{
	const struct trace *trace = b->graph->trace;
	struct wakes before = { NULL, NULL };
	for (size_t i = 0; i < n; i++) {
		uint64_t slack = 2 * trace->clocks[trace->threads[t[i].ref.thread].clock].uncertainty;
		if (t[i].kind == SYNC_SIGNALLED)
			add_wake(&before, &t[i]);
		else if (tr_is(trace, t[i].site, OP_FUTEX))
			add_woken(b, &t[i], find_wake(&before, &t[i], n - i, slack));
	}
}

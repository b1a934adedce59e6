/* SPDX-License-Identifier: MIT
 *
 * graph_ends.c - who waited for the ends of threads, what those waited for that ended with their team, and whose ends the run
 * waited for. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_ends.h"

/* What the thread that is joined did behind its last record may have taken most of the wait. */
static void add_join(struct builder *b, struct thread_join *j)
{
	const struct graph_thread *t = &b->graph->threads[j->thread];
	const struct trace *trace = b->graph->trace;
	uint64_t slack = tr_slack(trace, trace->threads[j->thread].clock);
	bool later = t->nevents && t->last > j->exit.stamp + slack;
	bool left = trace->threads[j->exit.thread].may_jump <= j->exit.stamp; /* perhaps: it was not over then */
	if (t->nevents == 0 || later) {
		graph_diagnose(later && !left ? &b->diagnosed.behind : &b->diagnosed.alone, j->exit, j->site);
		graph_unknown(b, j->begin, j->exit);
		return;
	}
	if (trace_goes_on(&trace->threads[j->thread])) {
		graph_unknown(b, j->begin, j->exit);
		return;
	}
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&j->begin, inputs);
	j->ended = (struct event_ref){ j->thread, t->nevents - 1, t->last };
	inputs[n++] = (struct node_input){ .ref = j->ended, .sure = true, .needed = true };
	struct graph_node *node = graph_arrival(b, j->exit, GRAPH_JOINED, inputs, n);
	node->loose = node->delayed = node->hidden = node->polled = j->begin.tried;
}

static int by_exit(const void *x, const void *y)
{
	const struct thread_join *a = x, *b = y;
	return ORDER_2(a, b, exit.thread, exit.at);
}

void graph_joins(struct builder *b, struct join_records *r)
{
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_exit);
	for (size_t i = 0; i < r->n; i++)
		add_join(b, &r->v[i]);
}

/* ---- Ends of a team's members ------------------------------------------------------------------ */

/* Its end, and what its team's opener did last before that. */
struct let_go { struct event_ref end, before; uint32_t opener; };

static int by_opener(const void *x, const void *y)
{
	const struct let_go *a = x, *b = y;
	return ORDER_2(a, b, opener, end.stamp);
}

/* Those of one opener, in order. */
static void find_before(const struct builder *b, struct let_go *of, size_t n)
{
	uint32_t opener = of->opener;
	struct tr_cursor events = trace_events(b->graph->trace, opener);
	struct event_ref before = { .at = NO_EVENT };
	struct tr_event e;
	size_t next = 0;
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		for (; next < n && of[next].end.stamp <= e.stamp; next++)
			of[next].before = before;
		before = (struct event_ref){ opener, at, e.stamp };
	}
	for (; next < n; next++)
		of[next].before = before;
	trace_end(&events);
}

/* Who has left a team goes on waiting, until all others have come to its end and there is another team, or none (GCC's libgomp:
 * inner teams take their threads with them; who does not fit into the next team ends, and all do when their opener does). That is
 * not recorded. So its end waits for them, most likely for what their opener did last, and perhaps for more. */
static void add_team_end(struct builder *b, const struct let_go *ends)
{
	uint32_t thread = ends->end.thread;
	const struct left_team *left = &b->threads[thread].left;
	struct node_input *inputs = mem_resize(NULL, left->ncame + 1, sizeof *inputs);
	inputs[0] = (struct node_input){ .ref = left->exit, .sure = true, .needed = true };
	size_t n = 1;
	for (size_t i = 0; i < left->ncame; i++)
		if (left->came[i].thread != thread && !graph_certainly_before(b, ends->end, left->came[i]))
			inputs[n++] = (struct node_input){ .ref = left->came[i], .sure = true, .needed = true };
	if (ends->opener != thread && ends->before.at != NO_EVENT)
		inputs[n++] = (struct node_input){ .ref = ends->before, .sure = true };
	uint32_t what = GRAPH_COLLECTIVE + b->graph->trace->sites[left->site].alike;
	struct graph_node *node = graph_arrival(b, ends->end, what, inputs, n);
	node->hidden = node->delayed = true;
	free(inputs);
}

void graph_team_ends(struct builder *b)
{
	const struct graph *g = b->graph;
	struct let_go *ends = NULL;
	size_t n = 0;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (b->threads[t].left.ends && b->threads[t].left.ncame > 0 &&
		    b->threads[t].left.exit.at + 2 == g->threads[t].nevents)
			*MEM_GROW(ends, n) = (struct let_go){ .end = { t, g->threads[t].nevents - 1, g->threads[t].last },
							      .opener = b->threads[t].left.opener };
	if (n > 0)
		qsort(ends, n, sizeof *ends, by_opener);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && ends[next].opener == ends[i].opener; next++)
			;
		find_before(b, &ends[i], next - i);
	}
	for (size_t i = 0; i < n; i++)
		add_team_end(b, &ends[i]);
	free(ends);
}

/* ---- The end of the run ------------------------------------------------------------------------ */

/* Whether it went on until its process ended, and may have ended that: who was in an operation did not. */
static bool may_have_ended_it(const struct builder *b, uint32_t thread)
{
	return b->graph->trace->threads[thread].ran_on && !b->threads[thread].parked;
}

/* It was in a marked region then: it may have called exit() there, but more likely another did who was in none. */
static bool was_at_work(const struct builder *b, uint32_t thread)
{
	const struct trace *t = b->graph->trace;
	bool marked = false;
	for (size_t i = 0; i < t->threads[thread].nopen; i++) {
		uint32_t site = t->threads[thread].open[i];
		marked |= tr_is_marked(t, site);
	}
	return marked;
}

/* How many of a thread's process may have, most likely did, or are known to have. */
struct enders { size_t all, likely, known; };

/* Another run of the same program is likely to end where this one did. */
static bool is_likely(const struct builder *b, uint32_t thread, const struct enders *n)
{
	return n->known > 0 ? b->graph->trace->threads[thread].ended_it : !was_at_work(b, thread);
}

static struct enders count_enders(const struct builder *b, uint32_t thread)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	struct enders n = { 0 };
	uint32_t t = thread;
	while (t > 0 && threads[t - 1].process == threads[thread].process)
		t--;
	for (; t < b->graph->trace->nthreads && threads[t].process == threads[thread].process; t++) {
		n.all += may_have_ended_it(b, t);
		n.likely += may_have_ended_it(b, t) && !was_at_work(b, t);
		n.known += may_have_ended_it(b, t) && threads[t].ended_it;
	}
	return n;
}

/* From outside, perhaps: then it need not come as far in another run. */
static bool was_stopped(const struct builder *b, uint32_t thread)
{
	const struct trace *t = b->graph->trace;
	return t->nprocesses > 1 && !t->processes[t->threads[thread].process].finished;
}

/* By another process: it works for as long as it is let, in any run, and nobody waits for what it did last. */
static bool was_killed(const struct builder *b, uint32_t thread)
{
	const struct trace *t = b->graph->trace;
	return t->processes[t->threads[thread].process].killed > 0;
}

static bool is_joined(const struct join_records *r, uint32_t thread)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].thread == thread)
			return true;
	return false;
}

static uint32_t first_of_process(const struct builder *b, uint32_t thread)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	while (thread > 0 && threads[thread - 1].process == threads[thread].process)
		thread--;
	return thread;
}

/* Nobody waited for its end, nor did the end of its process, which the first thread has ended: in another run it may go on until
 * then. */
static bool was_let_go(const struct builder *b, const struct join_records *r, uint32_t thread)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	uint32_t first = first_of_process(b, thread);
	return first != thread && b->threads[thread].fork.at != NO_FORK && may_have_ended_it(b, first) && !threads[thread].ran_on &&
	       !is_joined(r, thread);
}

/* It has ended its process, while the first thread was in an operation: in another run that one may have returned before. */
static bool was_first_to_end(const struct builder *b, uint32_t thread)
{
	uint32_t first = first_of_process(b, thread);
	return first != thread && may_have_ended_it(b, thread) && b->graph->trace->threads[first].ran_on &&
	       b->threads[first].parked;
}

/* What was last first, in this run. */
static int by_end(const struct builder *b, const struct node_input *x, const struct node_input *y)
{
	return graph_certainly_before(b, x->ref, y->ref) - graph_certainly_before(b, y->ref, x->ref);
}

/* Of several threads that their process's end has stopped, any one may have ended it; then the others were not waited for. Where
 * it is known which one has, that one is expected to, though in another run any other may come to that sooner.
 * Nor was a process that another one has stopped. Whoever ended it would not have come to that where another had before. */
void graph_end(struct builder *b, const struct join_records *r)
{
	struct graph *g = b->graph;
	struct node_input *inputs = mem_resize(NULL, g->trace->nthreads + 1, sizeof *inputs);
	size_t n = 0;
	bool unsure = false;
	g->ended_by_known = true;
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		struct enders enders = g->trace->threads[t].ran_on ? count_enders(b, t) : (struct enders){ 0 };
		if (g->threads[t].nevents == 0 || (b->threads[t].parked && enders.all > 0))
			continue;
		bool one_of = was_stopped(b, t) || (may_have_ended_it(b, t) && enders.all > 1);
		bool other = one_of && !was_stopped(b, t) && enders.likely + enders.known > 0 && !is_likely(b, t, &enders);
		bool let_go = was_let_go(b, r, t) || was_killed(b, t);
		if (was_first_to_end(b, t))
			graph_let_go(b, (struct event_ref){ t, g->threads[t].nevents - 1, g->threads[t].last });
		inputs[n] = (struct node_input){ .ref = { t, g->threads[t].nevents - 1, g->threads[t].last },
						 .sure = true, .needed = !one_of && !let_go, .candidate = other || let_go };
		unsure |= one_of;
		g->ended_by_known &= !one_of || (enders.known > 0 && !was_stopped(b, t));
		if (n > 0 && by_end(b, &inputs[n], &inputs[0]) < 0) {
			struct node_input first = inputs[0];
			inputs[0] = inputs[n];
			inputs[n] = first;
		}
		n++;
	}
	g->end = graph_add_node(b, GRAPH_SYNC, inputs, n);
	g->nodes[g->end].stamp = n ? inputs[0].ref.stamp : 0;
	g->nodes[g->end].hidden = g->nodes[g->end].delayed = unsure;
	free(inputs);
}

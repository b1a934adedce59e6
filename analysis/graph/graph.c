/* SPDX-License-Identifier: MIT
 *
 * graph.c - the graph, in three steps: what match.h finds becomes nodes, or marks on threads; a walk along each thread says in
 * which operation a marked message was completed and collects locks; then the nodes of messages, locks and all others are made. */
#include "analysis/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_last.h"
#include "analysis/graph/graph_losses.h"
#include "analysis/graph/graph_masters.h"
#include "analysis/graph/graph_private.h"
#include "analysis/graph/graph_records.h"
#include "analysis/trace/names.h"

/* ---- Nodes, synchronisation points, diagnostics ---------------------------------------------- */

/* Inlined wherever points are put in order: that consists of little else. */
RUNS_INLINE int by_event(const void *x, const void *y)
{
	const struct graph_sync_point *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->stamp != b->stamp) /* what stands behind the thread's last event */
		return a->stamp < b->stamp ? -1 : 1;
	if (a->arrives != b->arrives)
		return a->arrives ? -1 : 1;
	return ORDER_2(a, b, what, number);
}

static void add_sync_point(struct graph *g, uint32_t thread, struct graph_sync_point sync)
{
	struct graph_thread *t = &g->threads[thread];
	if (t->nsyncs == t->room) {
		t->syncs = spill_grow(g->spill, t->syncs, t->nsyncs, sizeof sync);
		t->room = spill_room(t->syncs) / sizeof sync;
	}
	t->syncs[t->nsyncs++] = sync;
	runs_settle(t->syncs, t->nsyncs, sizeof *t->syncs, by_event);
	spill_relax(g->spill);
}

static uint64_t amount_of(const struct node_input *input)
{
	uint64_t amount = input->untold ? input->untold : input->overdue ? input->overdue : input->bytes;
	return amount < GRAPH_MOST ? amount : GRAPH_MOST;
}

uint32_t graph_add_node(struct builder *b, enum graph_kind kind, const struct node_input *inputs,
			size_t n)
{
	struct graph *g = b->graph;
	uint32_t number = (uint32_t)g->nnodes;
	*SPILL_GROW(g->spill, g->nodes, g->nnodes) =
		(struct graph_node){ .kind = kind, .first = (uint32_t)g->ninputs,
				     .ninputs = (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		const struct event_ref *s = &inputs[i].ref;
		uint32_t input = (uint32_t)g->ninputs;
		if (inputs[i].next)
			*SPILL_GROW(g->spill, g->opens, g->nopens) = (struct graph_open){ inputs[i].next_at, inputs[i].next, input };
		*SPILL_GROW(g->spill, g->inputs, g->ninputs) = (struct graph_input){
			.thread = s->thread, .node = number, .stamp = s->stamp, .amount = amount_of(&inputs[i]),
			.sure = inputs[i].sure, .likely = inputs[i].likely, .needed = inputs[i].needed,
			.candidate = inputs[i].candidate, .receiver = inputs[i].receiver, .open = inputs[i].next > 0,
			.never_last = inputs[i].never_last, .progress = inputs[i].progress, .follows = inputs[i].follows,
			.vain = inputs[i].vain };
		add_sync_point(g, s->thread,
			       (struct graph_sync_point){ s->at, s->stamp, GRAPH_POSTS, .arrives = inputs[i].arrives, .number = input });
	}
	return number;
}

uint32_t graph_add_chance(struct builder *b, enum graph_kind kind, const struct node_input *inputs, size_t n)
{
	uint32_t number = graph_add_node(b, kind, inputs, n);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = true;
	return number;
}

static struct moment moment_of(const struct builder *b, struct event_ref ref)
{
	return (struct moment){ b->graph->clocks[ref.thread], ref.stamp };
}

struct timed_moment graph_timed(const struct builder *b, struct event_ref ref)
{
	struct moment at = moment_of(b, ref);
	return (struct timed_moment){ at, frz_time_of(&b->cursors[at.clock], at.stamp) };
}

double graph_seconds(const struct builder *b, uint32_t thread, uint64_t ticks)
{
	return (double)ticks / (tr_ghz(b->graph->trace, thread) * 1e9);
}

frz_time graph_between(const struct builder *b, struct event_ref first, struct event_ref then)
{
	return times_between_near(b->graph->times, b->cursors, moment_of(b, first), moment_of(b, then));
}

bool graph_certainly_before(const struct builder *b, struct event_ref first, struct event_ref then)
{
	return times_surely_before(b->graph->times, b->cursors, moment_of(b, first), moment_of(b, then));
}

size_t graph_begin_inputs(const struct wait_begin *w, struct node_input *inputs)
{
	inputs[0] = (struct node_input){ .ref = w->enter, .sure = true, .needed = !w->tried, .untold = w->unknown };
	if (w->tried)
		inputs[1] = (struct node_input){ .ref = w->certain, .needed = true, .candidate = true };
	return w->tried ? 2 : 1;
}

void graph_add_late(struct builder *b, struct event_ref event, int64_t lag)
{
	struct graph *g = b->graph;
	uint32_t number = (uint32_t)g->nlates, node = (uint32_t)g->nnodes - 1;
	*SPILL_GROW(g->spill, g->lates, g->nlates) = (struct graph_late){ .lag = lag, .node = node };
	g->nodes[node].late = true;
	add_sync_point(g, event.thread, (struct graph_sync_point){ event.at, event.stamp, GRAPH_LATE, .number = number });
}

struct graph_lates graph_lates_of(const struct graph *g, uint32_t node, uint32_t near)
{
	if (!g->nodes[node].late)
		return (struct graph_lates){ 0, 0 };
	uint32_t first = SEARCH_NEAR(g->nlates, near, mid, g->lates[mid].node < node), end = first;
	while (end < g->nlates && g->lates[end].node == node)
		end++;
	return (struct graph_lates){ first, end };
}

static void happen_at(struct builder *b, struct event_ref ref, uint32_t node, int how)
{
	b->graph->nodes[node].nwaiting++;
	b->graph->nodes[node].stamp = ref.stamp;
	add_sync_point(b->graph, ref.thread, (struct graph_sync_point){ ref.at, ref.stamp, how, .number = node });
}

void graph_wait(struct builder *b, struct event_ref ref, uint32_t node)
{
	happen_at(b, ref, node, GRAPH_WAITS);
}

void graph_end_by(struct builder *b, struct event_ref ref, uint32_t node)
{
	happen_at(b, ref, node, GRAPH_ENDS);
}

void graph_wait_perhaps(struct builder *b, struct event_ref ref, uint32_t node)
{
	happen_at(b, ref, node, GRAPH_PERHAPS);
}

struct graph_node *graph_arrival(struct builder *b, struct event_ref ref, uint32_t what,
				 const struct node_input *inputs, size_t n)
{
	uint32_t node = graph_add_node(b, GRAPH_ARRIVAL, inputs, n);
	b->graph->nodes[node].what = what;
	graph_wait(b, ref, node);
	return &b->graph->nodes[node];
}

static void add_unknown(struct builder *b, struct wait_begin begin, struct event_ref exit, const struct node_input *more,
			size_t nmore, uint32_t what)
{
	struct node_input inputs[BEGIN_INPUTS + GRAPH_MOST_SEEN];
	size_t n = graph_begin_inputs(&begin, inputs);
	for (size_t i = 0; i < n; i++) /* it may have been called in vain before, which is not recorded */
		inputs[i].needed = false;
	for (size_t i = 0; i < nmore; i++)
		inputs[n++] = more[i];
	uint32_t number = graph_add_chance(b, GRAPH_UNKNOWN, inputs, n);
	struct graph_node *node = &b->graph->nodes[number];
	node->what = what;
	graph_wait(b, exit, number);
	if (!graph_has_expired(node))
		b->graph->unknown_s += graph_seconds(b, exit.thread, exit.stamp - begin.enter.stamp);
}

struct unknown_wait *graph_add_unknown(struct builder *b, struct wait_begin begin, struct event_ref exit)
{
	struct unknown_wait *w = SPILL_GROW(b->spill, b->unknown, b->nunknown);
	*w = (struct unknown_wait){ .begin = begin, .exit = exit, .clock = b->graph->trace->threads[exit.thread].clock,
				     .target = ARG_NONE, .put.at = NO_EVENT, .ended.at = NO_EVENT };
	return w;
}

void graph_add_time_out(struct builder *b, struct wait_begin begin, struct event_ref exit, struct looked_lock lock)
{
	struct unknown_wait *w = graph_add_unknown(b, begin, exit);
	w->otherwise = OTHERWISE_TIMED_OUT;
	w->lock = lock.id == ARG_NONE ? (struct looked_lock){ 0 } : lock;
}

void graph_unknown(struct builder *b, struct wait_begin begin, struct event_ref exit)
{
	graph_add_unknown(b, begin, exit);
}

void graph_unknown_by(struct builder *b, const struct unknown_wait *w, const struct event_ref *cause)
{
	struct node_input last = { .candidate = true };
	if (cause)
		last.ref = *cause;
	add_unknown(b, w->begin, w->exit, &last, cause ? 1 : 0, cause ? GRAPH_PRESUMED : 0);
}

void graph_unknown_seen(struct builder *b, const struct unknown_wait *w, const struct event_ref *causes, size_t n)
{
	struct node_input inputs[GRAPH_MOST_SEEN];
	for (size_t i = 0; i < n; i++)
		inputs[i] = (struct node_input){ .ref = causes[i], .candidate = true };
	add_unknown(b, w->begin, w->exit, inputs, n, GRAPH_SEEN);
}

/* The rest of a message: whoever sent that has perhaps called MPI again meanwhile, which is most likely the cause. */
void graph_fetch(struct builder *b, const struct unknown_wait *w, const struct event_ref *cause)
{
	struct node_input inputs[] = { { .ref = w->begin.enter, .sure = true, .needed = true }, { .candidate = true } };
	if (cause)
		inputs[1].ref = *cause;
	struct graph_node *node = graph_arrival(b, w->exit, GRAPH_WAITED_FOR, inputs, cause ? 2 : 1);
	node->hidden = true;
	node->doubted = w->otherwise == OTHERWISE_FETCHED;
}

/* What put it there is nothing but expected. */
uint32_t graph_unknown_put(struct builder *b, const struct unknown_wait *w)
{
	struct node_input last = { .ref = w->put, .candidate = true, .never_last = true };
	add_unknown(b, w->begin, w->exit, &last, 1, GRAPH_PRESUMED);
	return b->graph->nodes[b->graph->nnodes - 1].ninputs - 1;
}

void graph_unknown_since(struct builder *b, struct wait_begin begin, struct event_ref exit, struct event_ref since, uint32_t what)
{
	struct node_input last = { .ref = since, .sure = true };
	add_unknown(b, begin, exit, &last, 1, what);
}

void graph_expired_at(struct builder *b, struct wait_begin begin, struct event_ref exit, struct event_ref since, uint64_t late)
{
	struct node_input last = { .ref = since, .sure = true, .overdue = late };
	add_unknown(b, begin, exit, &last, 1, GRAPH_EXPIRED);
}

void graph_timed_out(struct builder *b, struct wait_begin begin, struct event_ref exit, uint32_t what)
{
	add_unknown(b, begin, exit, NULL, 0, what);
}

void graph_set_schedule(struct builder *b, struct event_ref ref, enum graph_schedule schedule)
{
	add_sync_point(b->graph, ref.thread,
		       (struct graph_sync_point){ ref.at, ref.stamp, GRAPH_SCHEDULES, .number = schedule });
	b->graph->dynamic = true;
}

uint32_t graph_group(struct builder *b, bool one)
{
	*MEM_GROW(b->graph->groups, b->graph->ngroups) = (struct graph_group){ .one = one };
	return (uint32_t)b->graph->ngroups - 1;
}

void graph_point(struct builder *b, struct event_ref ref, int how, uint32_t number)
{
	add_sync_point(b->graph, ref.thread, (struct graph_sync_point){ ref.at, ref.stamp, how, .number = number });
}

void graph_request(struct builder *b, struct event_ref comes, struct event_ref has, uint32_t group)
{
	graph_point(b, comes, GRAPH_REQUESTS, group);
	graph_point(b, has, GRAPH_OBTAINS, group);
}

void graph_release(struct builder *b, struct event_ref ref, uint32_t queue)
{
	graph_point(b, ref, GRAPH_RELEASES, queue);
}

void graph_diagnose(struct diagnostic *f, struct event_ref ref, uint32_t site)
{
	if (f->count++ == 0)
		*f = (struct diagnostic){ 1, ref.thread, site, ref.stamp };
}

void graph_add_diagnostic(struct diagnostic *f, const struct diagnostic *then)
{
	uint64_t count = f->count + then->count;
	if (f->count == 0)
		*f = *then;
	f->count = count;
}

char *graph_place(const struct trace *t, uint32_t thread, uint32_t site)
{
	return mem_format("%s%s%s", thread_name(t, thread).text, site == TR_NO_SITE ? "" : " at ",
			  site == TR_NO_SITE ? "" : site_name(t, site).text);
}

static char *sentence_of(const struct graph *g, const struct diagnostic *f, const char *what)
{
	char *where = graph_place(g->trace, f->thread, f->site);
	char *text = mem_format("%s: %" PRIu64 " time%s, first %s, stamp %" PRIu64, what, f->count,
				f->count > 1 ? "s" : "", where, f->stamp);
	free(where);
	return text;
}

static void say_missing(struct graph *g, const struct diagnostic *f, const char *what)
{
	if (f->count)
		*MEM_GROW(g->said.notes, g->said.nnotes) = sentence_of(g, f, what);
}

static void say_contradiction(struct graph *g, const struct diagnostic *f, const char *what)
{
	if (f->count)
		*MEM_GROW(g->said.diagnostics, g->said.ndiagnostics) = sentence_of(g, f, what);
}

static void say_untied(struct graph *g)
{
	if (g->nuntied == 0)
		return;
	struct diagnostic first = { g->nuntied, g->first_untied, TR_NO_SITE, g->threads[g->first_untied].first };
	say_missing(g, &first,
		    "no record says who created a thread, nor who waits for its end: any other of its process may, so nothing is proved "
		    "of what these save. Link the program with dprof-cc, or -ldprof-pthread, and not with -static (dprof(7))");
}

static void say_diagnostics(const struct builder *b)
{
	struct graph *g = b->graph;
	say_missing(g, &b->diagnosed.unsent,
		       "a message was received, but its send is not in the trace or not certain");
	say_missing(g, &b->diagnosed.missing, "a collective operation lacks participants");
	say_missing(g, &b->diagnosed.alone,
		       "an operation waits for others, but the trace does not say for whom");
	g->said.nwaits = g->said.nnotes;
	say_untied(g);
	say_missing(g, &b->diagnosed.untaken, "a message was sent, but its receive is not in the trace");
	say_contradiction(g, &b->diagnosed.behind, "a wait was over before what ended it: of that nothing is known");
	say_contradiction(g, &b->diagnosed.unmade, "a thread began before it was created: of that nothing is known");
	say_missing(g, &b->diagnosed.unheld, "a lock was taken although it was not released before");
	say_missing(g, &b->diagnosed.unlike, "not all called the same collective operation, or it has not one root, "
		    "which MPI does not allow");
}

/* ---- Contradictions -------------------------------------------------------------------------- */

/* What is waited for is stamped before it can end a wait: not so of a lock's release, or of who wakes others. */
static bool is_stamped_before(const struct graph_node *node)
{
	bool message = node->what == GRAPH_RECEIVED || node->what == GRAPH_WAITED_FOR || node->what >= GRAPH_COLLECTIVE;
	return !node->loose && (node->kind == GRAPH_SYNC || (node->kind == GRAPH_ARRIVAL && message));
}

/* No earlier than that was the last that a node waited for. */
static int64_t last_input(struct builder *b, const struct graph_node *node)
{
	const struct graph *g = b->graph;
	int64_t last = INT64_MIN;
	for (size_t i = 0; is_stamped_before(node) && i < node->ninputs; i++) {
		const struct graph_input *input = &g->inputs[node->first + i];
		if (!graph_was_waited_for(node, i, input))
			continue;
		int64_t lo = frz_time_of(&b->cursors[g->clocks[input->thread]], input->stamp).lo;
		last = lo > last ? lo : last;
	}
	return last;
}

/* Waits that were over before what ended them: messages are matched by their order, which may be wrong in a damaged trace. */
static void find_contradictions(struct builder *b)
{
	struct graph *g = b->graph;
	int64_t *last = spill_zeros(b->spill, g->nnodes, sizeof *last);
	for (size_t i = 0; i < g->nnodes; i++, spill_relax(b->spill))
		last[i] = last_input(b, &g->nodes[i]);
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		struct frz_cursor *cursor = &b->cursors[g->clocks[t]];
		for (size_t i = 0; i < g->threads[t].nsyncs; i++, spill_relax(b->spill)) {
			const struct graph_sync_point *s = &g->threads[t].syncs[i];
			if (s->what != GRAPH_WAITS || frz_time_of(cursor, s->stamp).hi >= last[s->number])
				continue;
			g->nodes[s->number].behind = true;
			graph_diagnose(&b->diagnosed.behind, (struct event_ref){ t, s->at, s->stamp }, TR_NO_SITE);
		}
	}
	spill_free(b->spill, last);
}

/* ---- Waits of which there is no record -------------------------------------------------------- */

/* What a thread of such a process does may begin later in another run. */
static void let_go_of_unseen(struct builder *b)
{
	const struct trace *trace = b->graph->trace;
	for (uint32_t t = 0; t < trace->nthreads; t++)
		if (b->may_wait[trace->threads[t].process] && b->graph->threads[t].nevents > 0)
			graph_set_schedule(b, (struct event_ref){ t, 0, b->graph->threads[t].first }, GRAPH_POOL_ENTERED);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void sort_sync_points(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		runs_sort_here(g->spill, g->threads[t].syncs, g->threads[t].nsyncs, sizeof *g->threads[t].syncs, by_event);
}

void graph_add_probes(struct graph *g, const struct graph_probe *probes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_sync_point(g, probes[i].thread,
			       (struct graph_sync_point){ probes[i].at, probes[i].stamp,
							  GRAPH_PROBE, .number = (uint32_t)i });
	if (count)
		sort_sync_points(g);
}

static void find_clocks(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		g->clocks[t] = g->trace->threads[t].clock;
}

/* The plugin and the runtime name their regions so (dprof(7)). */
static bool is_handler(const struct tr_site *site)
{
	return site->automatic && (!strncmp(site->name, "handler ", 8) || !strcmp(site->name, "signal handler"));
}

static void find_handlers(struct graph *g)
{
	for (uint32_t s = 0; s < g->trace->nsites; s++)
		g->handles |= g->entered[s] && is_handler(&g->trace->sites[s]);
}

static void find_first_stamps(struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		uint64_t first, last;
		g->threads[t].first = trace_ends(&g->trace->threads[t], &first, &last) ? first : UINT64_MAX;
	}
}

static uint32_t *find_first_of_rank(const struct trace *trace)
{
	size_t n = trace->nthreads;
	uint32_t *first = mem_resize(NULL, n + 1, sizeof *first);
	for (size_t r = 0; r < n; r++)
		first[r] = (uint32_t)n;
	for (size_t t = n; t-- > 0;)
		if (trace->threads[t].rank >= 0 && (uint64_t)trace->threads[t].rank < n)
			first[trace->threads[t].rank] = (uint32_t)t;
	return first;
}

static void builder_close(struct builder *b)
{
	spill_free(b->spill, b->unknown);
	for (size_t t = 0; t < b->graph->trace->nthreads; t++) {
		struct thread_facts *of = &b->threads[t];
		spill_free(b->spill, of->calls.v);
		spill_free(b->spill, of->blocking.v);
		spill_free(b->spill, of->barriers.v);
		spill_free(b->spill, of->done.v);
		spill_free(b->spill, of->operations.v);
		free(of->left.came);
		free(of->regions.v);
	}
	free(b->threads);
	free(b->first_of_rank);
	free(b->cursors);
	free(b->may_wait);
	ids_free(&b->address_barriers.places);
	ids_free(&b->address_barriers.comers);
	free(b->address_barriers.visits);
	ids_free(&b->inboxes.known);
	free(b->inboxes.queues);
}

static void records_close(struct walk_records *r, struct spill *spill)
{
	void *spilled[] = { r->barriers.bare, r->barriers.visits, r->barriers.awaits, r->bytes.v, r->bytes.loose, r->cancels.regions,
			    r->cancels.threads, r->flags.v, r->inside.v, r->joins.v, r->messages.v, r->messages.inboxes,
			    r->messages.completions, r->messages.begins, r->messages.attached, r->messages.found,
			    r->messages.all_to_all, r->messages.left, r->messages.together, r->messages.flows, r->messages.flow_parts,
			    r->moments.v, r->moments.others, r->processes.forks, r->processes.waits, r->processes.signals, r->sleeps.v, r->sync.v,
			    r->sync.retaken, r->tasks.made,
			    r->tasks.runs, r->tasks.depends, r->tasks.fulfilled, r->tasks.waits, r->tasks.visits, r->counters.v, r->counters.claims };
	for (size_t i = 0; i < sizeof spilled / sizeof *spilled; i++)
		spill_free(spill, spilled[i]);
	free(r->messages.marks);
}

const struct graph_open *graph_next_call(const struct graph *g, const struct graph_input *input)
{
	size_t number = (size_t)(input - g->inputs);
	size_t lo = SEARCH(g->nopens, mid, g->opens[mid].input < number);
	return &g->opens[lo];
}

uint64_t graph_latest_stamp(const struct graph *g, const struct graph_input *input)
{
	return input->open ? graph_next_call(g, input)->stamp : input->stamp;
}

struct span graph_span(const struct graph *g)
{
	size_t n = g->trace->nthreads;
	struct ends *ends = mem_resize(NULL, n, sizeof *ends);
	for (size_t t = 0; t < n; t++)
		ends[t] = times_ends(&g->trace->threads[t]);
	struct span span = times_span(g->times, g->times->time_base[g->trace->threads[0].clock], ends);
	free(ends);
	return span;
}

/* Arrays of a thread that grow: marks, calls, blocking calls, barriers, things done, operations, synchronisation points. */
#define SIDE_BY_SIDE 7

static void builder_open(struct builder *b, struct graph *g)
{
	size_t n = g->trace->nthreads;
	struct span span = graph_span(g);
	*b = (struct builder){ .graph = g, .spill = g->spill, .cursors = times_cursors(g->times) };
	b->threads = mem_zeroed(n + 1, sizeof *b->threads);
	b->first_of_rank = find_first_of_rank(g->trace);
	b->may_wait = mem_zeroed(g->trace->nprocesses + 1, sizeof *b->may_wait);
	b->run = span.length.lo;
	for (size_t t = 0; t < n; t++) {
		b->threads[t].fork.at = NO_FORK;
		b->threads[t].fork_site = TR_NO_SITE;
		b->threads[t].forked_by = TR_NO_PARENT;
	}
}

/* Operations of which it is recorded who takes part in them become nodes, or marks for the walks along threads. These keep all
 * others, by what they are. */
static void walk_threads(struct builder *b, struct walk_records *records)
{
	const struct trace *trace = b->graph->trace;
	progress_begin("finding wait dependencies",
		       (1 + !match_log_is_full(b->graph->times->program.matches)) * trace_records(trace));
	find_first_stamps(b->graph);
	graph_matches(b, &records->messages);
	graph_walks(b, records);
	find_handlers(b->graph);
	graph_begins(b);
	graph_processes(b, &records->processes, &records->joins);
	progress_end();
}

/* Those that were kept become nodes, kind by kind. The order matters: attempts are found before locks say what ended each
 * (graph_find_tried, graph_end_tried); locks, ranks and counters that give out work before what threads only seem to share out
 * (graph_counters); and waits of which nothing has said what ended them come last (graph_presumed). */
static void make_nodes(struct builder *b, struct walk_records *records)
{
	struct exchange_records exchanges = { .n = 0 };
	struct tried_records tried = { .n = 0 };
	struct voter_records voters = { .n = 0 };
	graph_inboxes(b, &records->messages);
	graph_flows(b, &records->messages);
	graph_completions(b, &records->messages);
	graph_returns(b, &records->messages);
	graph_polls(b, &records->messages);
	graph_joins(b, &records->joins);
	graph_team_ends(b);
	graph_bytes(b, &records->bytes, &exchanges);
	graph_masters(b, &records->messages, &exchanges);
	spill_free(b->spill, exchanges.v);
	graph_sleeps(b, &records->sleeps, &records->sync, &records->moments);
	graph_find_tried(b, &records->bytes, &records->processes, &records->joins, &records->sync, &tried);
	graph_locks(b, &records->sync, &tried, &voters);
	graph_elections(b, &voters);
	graph_serials(b);
	graph_end_tried(b, &tried);
	graph_recorded_counters(b, &records->counters);
	graph_claims(b, &records->counters);
	graph_flag_stops(b, &records->flags);
	graph_counters(b);
	let_go_of_unseen(b);
	graph_tasks(b, &records->tasks);
	graph_cancellations(b, &records->cancels);
	graph_thread_cancels(b, &records->cancels);
	graph_bare_barriers(b, &records->barriers);
	graph_counted_barriers(b, &records->barriers);
	graph_end(b, &records->joins);
	graph_moments(b, &records->moments);
	graph_presumed(b, &records->sync);
}

void graph_open(struct graph *g, const struct trace *trace, const struct times *times)
{
	*g = (struct graph){ .trace = trace, .times = times, .unseen = TR_NO_SITE, .filled = TR_NO_SITE,
		.spill = spill_open(SPILL_MEMORY, SIDE_BY_SIDE * trace->nthreads) };
	struct builder b;
	struct walk_records records = { .messages.marks = mem_zeroed(trace->nthreads + 1, sizeof *records.messages.marks) };
	g->found = mem_zeroed(1, sizeof *g->found);
	g->threads = mem_zeroed(trace->nthreads + 1, sizeof *g->threads);
	g->entered = mem_zeroed(trace->nsites + 1, sizeof *g->entered);
	g->clocks = mem_zeroed(trace->nthreads + 1, sizeof *g->clocks);
	g->untied = mem_zeroed(trace->nprocesses + 1, sizeof *g->untied);
	find_clocks(g);
	builder_open(&b, g);
	walk_threads(&b, &records);
	make_nodes(&b, &records);
	sort_sync_points(g);
	find_contradictions(&b);
	graph_doubt_by_events(g, &records.tasks);
	graph_inside(&b, &records.inside);
	if (g->interrupted)
		sort_sync_points(g);
	graph_find_losses(g, b.cursors);
	say_diagnostics(&b);
	records_close(&records, g->spill);
	builder_close(&b);
}

uint64_t graph_behind(const struct graph *g, uint32_t thread, const struct graph_sync_point *s)
{
	uint64_t last = g->threads[thread].last;
	return s->stamp > last ? s->stamp - last : 0;
}

static bool is_of_team_left(const struct graph *g, const struct graph_node *n)
{
	return n->kind == GRAPH_ARRIVAL && n->what >= GRAPH_COLLECTIVE && tr_is(g->trace, n->what - GRAPH_COLLECTIVE, OP_TEAM_LEFT) &&
	       graph_is_known(n);
}

uint32_t graph_left_team(const struct graph *g, uint32_t thread, uint64_t *until)
{
	const struct graph_thread *t = &g->threads[thread];
	*until = 0;
	for (size_t i = t->nsyncs; i-- > 0 && t->syncs[i].at + 2 >= t->nevents;) {
		uint32_t input = t->syncs[i].what == GRAPH_POSTS ? t->syncs[i].number : UINT32_MAX;
		const struct graph_node *node = input < UINT32_MAX ? &g->nodes[g->inputs[input].node] : NULL;
		if (!node || node->first == input || !is_of_team_left(g, node))
			continue;
		for (uint32_t k = node->first; k < node->first + node->ninputs; k++)
			*until = g->inputs[k].stamp > *until ? g->inputs[k].stamp : *until;
		return input + 1;
	}
	return 0;
}

uint32_t graph_last_team(const struct graph *g, uint32_t thread, uint64_t *until)
{
	uint32_t left = graph_left_team(g, thread, until);
	return *until > g->threads[thread].last ? left : 0;
}

const struct graph_node *graph_node_at(const struct graph *g, const struct graph_sync_point *s)
{
	if (s->what != GRAPH_WAITS && s->what != GRAPH_POSTS)
		return NULL;
	return &g->nodes[s->what == GRAPH_WAITS ? s->number : g->inputs[s->number].node];
}

struct graph_said graph_take_said(struct graph *g)
{
	struct graph_said said = g->said;
	g->said = (struct graph_said){ 0 };
	return said;
}

void graph_said_tell(const struct graph_said *said, struct trace *trace)
{
	for (size_t i = 0; i < said->ndiagnostics; i++)
		trace_diagnose(trace, "%s", said->diagnostics[i]);
	for (size_t i = 0; i < said->nnotes; i++)
		trace_note(trace, said->notes[i]);
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void graph_said_close(struct graph_said *said)
{
	free_texts(said->diagnostics, said->ndiagnostics);
	free_texts(said->notes, said->nnotes);
}

void graph_close(struct graph *g)
{
	graph_said_close(&g->said);
	free(g->threads);
	free(g->clocks);
	free(g->untied);
	free(g->entered);
	free(g->pools);
	free(g->unsaid);
	free(g->queues);
	free(g->groups);
	free(g->found);
	free(g->losses);
	free(g->lost);
	free(g->around);
	spill_close(g->spill);
}

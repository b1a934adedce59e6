/* SPDX-License-Identifier: MIT
 *
 * transfer.c - first L from those who waited, then o from those who did not. */
#include "analysis/coz/transfer.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

#define ANYTHING ((frz_time){ 0, INT64_MAX })

static struct moment moment_of(const struct graph *g, const struct graph_input *i)
{
	return (struct moment){ g->clocks[i->thread], i->stamp };
}

/* The end of the node, which is on the thread of its first input. */
static struct moment end_of(const struct graph *g, const struct graph_node *j)
{
	struct moment begin = moment_of(g, &g->inputs[j->first]);
	return (struct moment){ begin.clock, j->stamp };
}

static struct timed_moment timed(const struct transfer *t, struct moment m)
{
	return (struct timed_moment){ m, frz_time_of(&t->cursors[m.clock], m.stamp) };
}

/* Before anything is asked of a node: each of its moments is wanted several times. */
static void look_at(struct transfer *t, const struct graph_node *j)
{
	const struct graph *g = t->graph;
	if (t->node == j)
		return;
	if (j->ninputs > t->room) {
		t->room = 2 * j->ninputs;
		t->inputs = mem_resize(t->inputs, t->room, sizeof *t->inputs);
		t->seen = mem_resize(t->seen, t->room, sizeof *t->seen);
	}
	for (size_t i = 0; i < j->ninputs; i++)
		t->inputs[i] = timed(t, moment_of(g, &g->inputs[j->first + i]));
	t->end = timed(t, end_of(g, j));
	t->node = j;
	t->closer = false;
}

/* From one input of the node to another. */
static frz_time between(const struct transfer *t, size_t from, size_t to)
{
	return times_between_timed(t->graph->times, &t->inputs[from], &t->inputs[to]);
}

/* What is open may have come only with a later call of its sender's. */
static frz_time until_end(const struct transfer *t, const struct graph_node *j, size_t from)
{
	const struct graph *g = t->graph;
	const struct graph_input *input = &g->inputs[j->first + from];
	frz_time until = times_between_timed(g->times, &t->inputs[from], &t->end);
	if (input->open) {
		struct timed_moment latest = timed(t, (struct moment){ t->inputs[from].at.clock, graph_latest_stamp(g, input) });
		until.lo = times_between_timed(g->times, &latest, &t->end).lo;
	}
	return until;
}

void transfer_passed(struct transfer *t, const struct graph_node *j, frz_time *passed)
{
	look_at(t, j);
	for (size_t i = 0; i < j->ninputs; i++)
		passed[i] = times_between_timed(t->graph->times, &t->inputs[i], &t->end);
}

/* ---- Classes --------------------------------------------------------------------------------- */

static uint64_t size_of(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

/* Numbers are small enough that the parts do not overlap, or else some classes fall together. */
static uint64_t class_of(uint64_t what, uint64_t from, uint64_t to, uint64_t bytes)
{
	return ((what << 20 ^ from) << 20 ^ to) << 7 | size_of(bytes);
}

static uint64_t transfer_class(const struct graph *g, const struct graph_node *j, size_t input)
{
	const struct graph_input *from = &g->inputs[j->first + input], *to = &g->inputs[j->first];
	uint64_t what = j->what == GRAPH_WAITED_FOR ? GRAPH_RECEIVED : j->what;
	return class_of(2 * what, g->clocks[from->thread], g->clocks[to->thread],
			graph_bytes_sent(from));
}

/* Of a wait for several things: by the waiting host alone, and how many they are. */
static uint64_t cost_class(const struct graph *g, const struct graph_node *j)
{
	const struct graph_input *inputs = &g->inputs[j->first];
	uint64_t bytes = 0, to = g->clocks[inputs[0].thread], n = 0, only = 0;
	for (size_t i = 1; i < j->ninputs; i++) {
		if (inputs[i].candidate)
			continue;
		bytes += graph_bytes_sent(&inputs[i]);
		only = g->clocks[inputs[i].thread];
		n++;
	}
	uint64_t from = n == 1 ? only : g->trace->nclocks + size_of(n + 1);
	return class_of(2 * (uint64_t)j->what + 1, from, to, bytes);
}

#define A_SEND 64 /* no size is that large */

/* Of a send whose receiver may be waited for: by both hosts and the size. Or 0. */
static uint64_t send_class(const struct graph *g, const struct graph_node *j)
{
	const struct graph_input *inputs = &g->inputs[j->first];
	if (j->ninputs != 2 || !inputs[1].receiver)
		return 0;
	return class_of(2 * (uint64_t)j->what + 1, g->clocks[inputs[1].thread], g->clocks[inputs[0].thread],
			graph_bytes_sent(&inputs[1])) | A_SEND;
}

static struct transfer_range range_of(const struct transfer *t, uint64_t class)
{
	size_t at = ids_find(&t->classes, class);
	return at == SIZE_MAX ? (struct transfer_range){ ANYTHING, 0 } : t->ranges[at];
}

/* When all has been learnt. */
static void look_closer(struct transfer *t, const struct graph_node *j)
{
	look_at(t, j);
	for (size_t i = 0; i < j->ninputs && !t->closer; i++)
		t->seen[i] = range_of(t, i ? transfer_class(t->graph, j, i) : cost_class(t->graph, j));
	t->closer = true;
}

static void learn(struct transfer *t, uint64_t class, frz_time ticks)
{
	if (ids_add(&t->classes, class))
		*MEM_GROW(t->ranges, t->nranges) =
			(struct transfer_range){ { INT64_MAX, 0 }, 0 };
	struct transfer_range *r = &t->ranges[ids_find(&t->classes, class)];
	ticks.lo = ticks.lo > 0 ? ticks.lo : 0;
	r->ticks.lo = ticks.lo < r->ticks.lo ? ticks.lo : r->ticks.lo;
	r->ticks.hi = ticks.hi > r->ticks.hi ? ticks.hi : r->ticks.hi;
	r->seen++;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static bool is_plain(const struct graph *g, const struct graph_node *j)
{
	if (j->kind != GRAPH_ARRIVAL)
		return false;
	for (size_t i = 1; i < j->ninputs; i++) {
		const struct graph_input *input = &g->inputs[j->first + i];
		if (!input->candidate && (input->receiver || !input->sure))
			return false;
	}
	return true;
}

/* Whether an input certainly came no earlier than another. What one thread did has an order, however near it was. */
static bool is_behind(const struct transfer *t, const struct graph_node *j, size_t input, size_t other)
{
	const struct graph_input *a = &t->graph->inputs[j->first + input], *b = &t->graph->inputs[j->first + other];
	return a->thread == b->thread ? a->stamp >= b->stamp : between(t, other, input).lo > 0;
}

/* Whether a candidate behind an input is the same arrival: the same thread, nearer to the input than to the end. Who
 * enters MPI_Sendrecv sends, and begins to receive. */
static bool same_arrival(const struct transfer *t, const struct graph_node *j, size_t input, size_t candidate)
{
	const struct graph_input *a = &t->graph->inputs[j->first + input], *b = &t->graph->inputs[j->first + candidate];
	return b->candidate && a->thread == b->thread &&
	       until_end(t, j, candidate).lo > between(t, input, candidate).hi;
}

/* What was certainly sent last, and after the waiting had begun; or 0. */
static size_t waited_for(const struct transfer *t, const struct graph_node *j)
{
	const struct graph_input *inputs = &t->graph->inputs[j->first];
	for (size_t last = 1; last < j->ninputs; last++) {
		bool certain = !inputs[last].candidate;
		for (size_t i = 0; i < j->ninputs && certain; i++)
			certain = i == last || is_behind(t, j, last, i) || same_arrival(t, j, last, i);
		if (certain)
			return last;
	}
	return 0;
}

/* All was sent, or went on, so long before that it was there, and no candidate came later, nor perhaps a call up to which something
 * is open. */
static bool all_there(const struct transfer *t, const struct graph_node *j)
{
	const struct graph *g = t->graph;
	const struct graph_input *inputs = &g->inputs[j->first];
	for (size_t i = 1; i < j->ninputs; i++) {
		struct transfer_range range = range_of(t, transfer_class(g, j, i));
		bool sends = !inputs[i].candidate || inputs[i].progress;
		if ((!range.seen && sends) || inputs[i].open || between(t, i, 0).lo <= (sends ? range.ticks.hi : 0))
			return false;
	}
	return true;
}

/* How long what came last took; or, if it went on at a candidate behind it, no longer than from there. */
static frz_time transfer_of(const struct transfer *t, const struct graph_node *j, size_t last)
{
	frz_time took = until_end(t, j, last);
	for (size_t i = 1; i < j->ninputs; i++) {
		int64_t least = t->graph->inputs[j->first + i].candidate ? until_end(t, j, i).lo : took.lo;
		took.lo = least < took.lo ? least : took.lo;
	}
	return took;
}

/* Of what was certainly waited for. What it was certainly not may have been there before; those are added to `rest`. */
static size_t measure_transfers(struct transfer *t, uint32_t **rest)
{
	const struct graph *g = t->graph;
	size_t n = 0;
	for (uint32_t k = 0; k < g->nnodes; k++, spill_relax(g->spill)) {
		const struct graph_node *j = &g->nodes[k];
		if (!is_plain(g, j))
			continue;
		look_at(t, j);
		size_t last = waited_for(t, j);
		if (last) {
			t->visible_transfers++;
			learn(t, transfer_class(g, j, last), transfer_of(t, j, last));
		} else {
			*SPILL_GROW(g->spill, *rest, n) = k;
		}
	}
	return n;
}

static void measure_costs(struct transfer *t, const uint32_t *nodes, size_t n)
{
	const struct graph *g = t->graph;
	for (size_t i = 0; i < n; i++, spill_relax(g->spill)) {
		const struct graph_node *j = &g->nodes[nodes[i]];
		look_at(t, j);
		if (!all_there(t, j))
			continue;
		t->visible_costs++;
		learn(t, cost_class(g, j), until_end(t, j, 0));
		if (send_class(g, j))
			learn(t, send_class(g, j), until_end(t, j, 0));
	}
}

/* What was sent last behind the begin of a wait was not there at its begin, so that a node is one of the one or the other. */
static void measure(struct transfer *t)
{
	uint32_t *rest = NULL;
	size_t n = measure_transfers(t, &rest);
	measure_costs(t, rest, n);
	spill_free(t->graph->spill, rest);
}

void transfer_open(struct transfer *t, const struct graph *g, bool worst)
{
	*t = (struct transfer){ .graph = g, .worst = worst, .cursors = times_cursors(g->times) };
	if (!worst)
		measure(t);
}

void transfer_close(struct transfer *t)
{
	ids_free(&t->classes);
	free(t->ranges);
	free(t->cursors);
	free(t->inputs);
	free(t->seen);
}

/* ---- Slacks ---------------------------------------------------------------------------------- */

#define MUCH_NEARER 8
#define NEARER	    4
#define ENOUGH	    8

/* Time that passed less what of it was needed: neither is below 0. */
static struct slack left_over(frz_time passed, frz_time needed, bool sure)
{
	int64_t lo = ticks_minus(passed.lo, needed.hi), hi = ticks_minus(passed.hi, needed.lo);
	return (struct slack){ lo > 0 ? lo : 0, hi > 0 ? hi : 0, sure, false };
}

/* The own cost, and if it was seen seldom, or never, up to the longest transfer. */
static frz_time own_cost(const struct transfer *t, const struct graph_node *j)
{
	const struct graph *g = t->graph;
	struct transfer_range own = t->seen[0];
	if (own.seen >= ENOUGH)
		return own.ticks;
	frz_time cost = own.seen ? own.ticks : (frz_time){ 0, 0 };
	bool others = false;
	for (size_t i = 1; i < j->ninputs; i++) {
		if (g->inputs[j->first + i].candidate)
			continue;
		others = true;
		struct transfer_range range = t->seen[i];
		bool known = range.seen && !g->inputs[j->first + i].receiver;
		if (!known || range.ticks.hi > cost.hi)
			cost.hi = known ? range.ticks.hi : INT64_MAX;
	}
	return others || own.seen ? cost : ANYTHING;
}

static bool has_candidates(const struct transfer *t, const struct graph_node *j)
{
	bool any = false;
	for (size_t i = 1; i < j->ninputs; i++)
		any |= t->graph->inputs[j->first + i].candidate && !t->graph->inputs[j->first + i].never_last;
	return any;
}

#define COST_VARIES 2

/* What it takes from the begin at most. That a candidate was waited for is not proved by its taking a little longer than ever
 * seen. */
static frz_time cost_of(const struct transfer *t, const struct graph_node *j, bool proved)
{
	frz_time own = own_cost(t, j);
	if (proved && own.hi < INT64_MAX / COST_VARIES && has_candidates(t, j))
		own.hi *= COST_VARIES;
	return own;
}

/* Something was tight. If nothing can have been, a cost was out of its range: then anything. If only
 * one can have been, it was. */
static void one_is_tight(struct slack *slack, size_t n)
{
	size_t possible = 0, last = 0;
	for (size_t i = 0; i < n; i++)
		if (!slack[i].absent && slack[i].lo == 0) {
			possible++;
			last = i;
		}
	if (possible == 1)
		slack[last].hi = 0;
	for (size_t i = 0; i < n && possible == 0; i++)
		slack[i].lo = 0;
}

/* The candidate that came last, if it certainly came behind all inputs that are none; or 0. */
static size_t late_candidate(const struct transfer *t, const struct graph_node *j)
{
	const struct graph_input *inputs = &t->graph->inputs[j->first];
	size_t latest = 0;
	for (size_t k = 1; k < j->ninputs; k++) {
		bool behind = inputs[k].candidate && !inputs[k].vain;
		for (size_t i = 0; i < j->ninputs && behind; i++)
			behind = i == k || (inputs[i].candidate && i != latest) || is_behind(t, j, k, i);
		latest = behind ? k : latest;
	}
	return latest;
}

/* Whether what was seen of such transfers and costs explains that the node happened so late. From the begin of a receive on a
 * message takes no longer than another. */
static bool explained(const struct transfer *t, const struct graph_node *j, const struct slack *slack)
{
	const struct graph *g = t->graph;
	for (size_t i = 0; i < j->ninputs; i++) {
		struct transfer_range seen = t->seen[i];
		bool late = g->inputs[j->first + i].receiver && until_end(t, j, i).lo > seen.ticks.hi;
		if (!slack[i].absent && seen.seen && slack[i].lo == 0 && !late)
			return true;
	}
	return false;
}

/* Of what was never seen to be waited for: if the wait was over so soon that it is no accident, what was sent was there,
 * and took no longer than that. */
static frz_time unseen_transfer(const frz_time *passed, size_t i)
{
	return passed[0].hi < passed[i].lo / MUCH_NEARER ? (frz_time){ 0, passed[0].hi } : ANYTHING;
}

/* Whether the candidate is so much nearer to the end than all inputs that are none that it is hardly an accident: the first message
 * between two ranks may take much longer than others. */
static bool is_near(const struct transfer *t, const struct graph_node *j, size_t candidate, const struct slack *slack)
{
	int64_t own = until_end(t, j, candidate).hi;
	for (size_t i = 0; i < j->ninputs; i++)
		if (!slack[i].absent && !t->graph->inputs[j->first + i].candidate && until_end(t, j, i).lo / NEARER < own)
			return false;
	return true;
}

/* Whether from the candidate on it took what a message of its thread's, which may have gone on only there, was seen to take. */
static bool goes_on_there(const struct transfer *t, const struct graph_node *j, size_t candidate)
{
	const struct graph_input *inputs = &t->graph->inputs[j->first];
	frz_time until = until_end(t, j, candidate);
	for (size_t i = 1; i < j->ninputs; i++) {
		struct transfer_range seen = t->seen[i];
		bool sent = inputs[i].thread == inputs[candidate].thread && !inputs[i].candidate && !inputs[i].receiver;
		if (sent && seen.seen && until.lo <= seen.ticks.hi && until.hi >= seen.ticks.lo)
			return inputs[candidate].progress;
	}
	return false;
}

/* What nothing else explains has waited for the latest candidate. False when there is none. */
static bool blame_candidate(const struct transfer *t, const struct graph_node *j, struct slack *slack)
{
	size_t latest = late_candidate(t, j);
	if (t->worst || !latest || explained(t, j, slack))
		return false;
	if (!is_near(t, j, latest, slack) && !goes_on_there(t, j, latest))
		return false;
	for (size_t i = 0; i < j->ninputs; i++) {
		if (slack[i].absent)
			continue;
		int64_t before = between(t, i, latest).lo;
		slack[i].lo = before > 0 ? before : 0;
		slack[i].hi = slack[i].hi > slack[i].lo ? slack[i].hi : slack[i].lo;
	}
	slack[latest] = (struct slack){ 0, 0, true, false };
	return true;
}

/* What it took at least, of what came in such a way; INT64_MAX: not seen. */
static int64_t least_seen(const struct transfer *t, const struct graph_node *j)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < j->ninputs; i++) {
		struct transfer_range seen = t->seen[i];
		bool counts = seen.seen && !t->graph->inputs[j->first + i].candidate;
		least = counts && seen.ticks.lo < least ? seen.ticks.lo : least;
	}
	return least;
}

/* Another thing of the same thread, which that one did before: it is waited for no longer than for the last. */
static bool comes_with(const struct transfer *t, const struct graph_node *j, size_t input, size_t last)
{
	const struct graph_input *inputs = &t->graph->inputs[j->first];
	return input > 0 && inputs[input].thread == inputs[last].thread && is_behind(t, j, last, input);
}

/* Where several may have been tight, since some such transfers took long or none was seen: whoever of them came far behind all
 * others, compared with the least that such a one took, or with what it took behind that one, most likely was. That stays, as far
 * as what was seen of the others allows. */
static void trust_latest(const struct transfer *t, const struct graph_node *j, struct slack *slack)
{
	int64_t seen = least_seen(t, j);
	for (size_t k = 0; k < j->ninputs; k++) {
		int64_t least = seen < INT64_MAX ? seen : until_end(t, j, k).hi;
		bool far = !slack[k].absent && slack[k].lo == 0 && least < INT64_MAX / MUCH_NEARER;
		for (size_t i = 0; i < j->ninputs && far; i++)
			far = i == k || slack[i].absent || comes_with(t, j, i, k) || between(t, i, k).lo > MUCH_NEARER * least;
		if (!far)
			continue;
		for (size_t i = 0; i < j->ninputs; i++) {
			int64_t before = i == k ? 0 : between(t, i, k).lo;
			before = before < slack[i].hi ? before : slack[i].hi;
			slack[i].lo = before > slack[i].lo ? before : slack[i].lo;
		}
		slack[k].hi = 0;
		return;
	}
}

/* Then what is expected is what is proved, where all such transfers were seen and no candidate explains it. */
static bool is_certain(const struct graph_node *j)
{
	return !j->loose && !j->hidden && !j->delayed && !j->late;
}

/* What was seen so often, the least of it was hardly off its core. */
static bool is_least_known(const struct transfer *t, size_t i)
{
	return t->seen[i].seen >= ENOUGH;
}

/* Of waits in a row of which all but the last were for nothing, that one is over no sooner than the first begins, if others end
 * it. */
static void begin_with_first(const struct transfer *t, const struct graph_node *j, struct slack *slack)
{
	size_t first = j->ninputs - 1;
	if (!graph_resumes(t->graph, j) || slack[0].lo == 0)
		return;
	frz_time before = between(t, first, 0);
	slack[first] = (struct slack){ slack[0].lo + before.lo, slack[0].hi + before.hi, true, false };
	slack[0].absent = true;
}

/* A send that was begun behind the begin of its receive, and was over later behind that than any message took, has not waited for
 * it: its own cost was out of its range. */
static bool began_long_before(const struct transfer *t, size_t receiver)
{
	struct transfer_range seen = t->seen[receiver];
	return seen.seen && between(t, receiver, 0).lo > seen.ticks.hi;
}

bool transfer_slacks(struct transfer *t, const struct graph_node *j, const frz_time *passed, bool proved,
		     struct slack *out)
{
	const struct graph *g = t->graph;
	bool all_sure = true, all_seen = true;
	look_closer(t, j);
	for (size_t i = 0; i < j->ninputs; i++) {
		const struct graph_input *input = &g->inputs[j->first + i];
		struct transfer_range seen = t->seen[i];
		bool any = input->receiver && (proved || (!input->likely && !began_long_before(t, i)));
		frz_time needed = i == 0				       ? cost_of(t, j, proved)
				  : any					       ? ANYTHING
				  : seen.seen || proved || t->worst	       ? seen.ticks
									       : unseen_transfer(passed, i);
		bool sure = proved ? input->needed : input->sure || input->likely, open = proved && needed.lo > 0 && !is_least_known(t, i);
		needed.lo = open ? 0 : needed.lo;
		all_seen &= !open && (i == 0 || seen.seen || t->worst);
		out[i] = left_over(passed[i], needed, sure);
		out[i].absent = input->never_last || (input->candidate && !input->likely && !proved);
		all_sure &= sure || out[i].absent;
	}
	bool blamed = !proved && blame_candidate(t, j, out);
	if (!blamed && (all_sure || proved))
		one_is_tight(out, j->ninputs);
	if (!blamed && all_sure && !proved && !t->worst && !(all_seen && is_certain(j)))
		trust_latest(t, j, out);
	if (!proved)
		begin_with_first(t, j, out);
	if (!blamed && !all_sure && !proved)
		out[0].lo = 0; /* the others may be none of its business */
	return all_seen;
}

int64_t transfer_lag(struct transfer *t, const struct graph_node *j, size_t candidate)
{
	struct transfer_range own = range_of(t, send_class(t->graph, j));
	look_at(t, j);
	int64_t lag = between(t, 0, candidate).hi;
	if (own.seen) {
		int64_t beyond = ticks_minus(own.ticks.hi, until_end(t, j, candidate).lo);
		lag = beyond < lag ? beyond : lag;
	}
	return lag > 0 ? lag : 0;
}

static int64_t longest_seen(const struct transfer *t, uint32_t clock, uint64_t what)
{
	struct transfer_range seen = range_of(t, class_of(2 * what, clock, clock, 0));
	return seen.seen ? seen.ticks.hi : -1;
}

int64_t transfer_handed_on(struct transfer *t, const struct graph_node *j)
{
	look_at(t, j);
	uint32_t clock = t->end.at.clock;
	int64_t locked = longest_seen(t, clock, GRAPH_LOCKED), joined = longest_seen(t, clock, GRAPH_JOINED);
	int64_t posted = longest_seen(t, clock, GRAPH_POSTED), took = until_end(t, j, 0).hi, woken = joined > posted ? joined : posted;
	if (locked >= 0)
		return locked;
	return woken < 0 || took > INT64_MAX - woken ? INT64_MAX : took + woken;
}

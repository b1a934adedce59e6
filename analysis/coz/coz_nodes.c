/* SPDX-License-Identifier: MIT
 *
 * coz_nodes.c - how much earlier a node happens, once all its inputs have come. */
#include "analysis/coz/coz_private.h"

#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/coz/orders.h"

static void room_for(struct visit *v, size_t n)
{
	if (n <= v->nslacks)
		return;
	v->nslacks = 2 * n;
	v->slacks = mem_resize(v->slacks, v->nslacks, sizeof *v->slacks);
	v->passed = mem_resize(v->passed, v->nslacks, sizeof *v->passed);
}

/* Whether an input is one in this answer; and whether it must be waited for. */
static bool counts(const struct graph_input *input, enum coz_answer answer)
{
	return answer == COZ_PROVED ? !input->never_last : !input->candidate;
}

static bool is_sure(const struct graph_input *input, enum coz_answer answer)
{
	return answer == COZ_PROVED ? input->needed : input->sure;
}

/* On each clock the latest input: of those that are sure, or of all. */
static void find_latest(struct visit *v, const struct graph_node *j, enum coz_answer answer, bool sure_only)
{
	const struct trace *trace = v->g->trace;
	memset(v->came, 0, trace->nclocks * sizeof *v->came);
	for (size_t i = 0; i < j->ninputs; i++) {
		const struct graph_input *input = &v->g->inputs[j->first + i];
		uint32_t c = v->g->clocks[input->thread];
		if (!counts(input, answer) || (sure_only && !is_sure(input, answer)))
			continue;
		if (!v->came[c] || input->stamp > v->latest[c])
			v->latest[c] = input->stamp;
		v->came[c] = true;
	}
	for (uint32_t c = 0; c < trace->nclocks; c++) {
		if (!v->came[c])
			continue;
		frz_time t = frz_time_of(&v->cursors[c], v->latest[c]);
		v->latest_lo[c] = t.lo;
		v->latest_hi[c] = t.hi;
	}
}

/* From an input to the latest of those that were found; exact on its own clock. */
static frz_time until_latest(struct visit *v, const struct graph_input *input, bool alone)
{
	const struct trace *trace = v->g->trace;
	uint32_t own = v->g->clocks[input->thread];
	frz_time until = { 0, 0 };
	if (v->came[own] && v->latest[own] >= input->stamp && !alone)
		until = times_duration(v->times, own, v->latest[own] - input->stamp);
	if (trace->nclocks == 1)
		return until;
	frz_time t = frz_time_of(&v->cursors[own], input->stamp);
	for (uint32_t c = 0; c < trace->nclocks; c++) {
		if (c == own || !v->came[c])
			continue;
		int64_t lo = ticks_minus(v->latest_lo[c], t.hi);
		int64_t hi = ticks_minus(v->latest_hi[c], t.lo);
		until.lo = lo > until.lo ? lo : until.lo;
		until.hi = hi > until.hi ? hi : until.hi;
	}
	return until;
}

/* How much longer it may take behind the last who comes, as another run may leave less to be done before that. */
static int64_t takes_longer(const struct visit *v, const struct graph_node *j)
{
	return j->kind == GRAPH_SYNC && j->what == GRAPH_EXCHANGED ? (int64_t)graph_longer_ticks(&v->g->inputs[j->first]) : 0;
}

/* Who gives nothing need not be waited for; but is, most likely, where nobody has left before he came. */
static void sync_slacks(struct visit *v, const struct graph_node *j, enum coz_answer answer, struct slack *slack)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	int64_t longer = answer == COZ_PROVED ? takes_longer(v, j) : 0;
	bool all_sure = true, alone = j->ninputs == 1, expected = answer == COZ_EXPECTED;
	find_latest(v, j, answer, false);
	for (size_t i = 0; i < j->ninputs; i++) {
		frz_time until = until_latest(v, &inputs[i], alone);
		slack[i] = (struct slack){ not_negative(until.lo - longer), not_negative(until.hi),
					   expected || is_sure(&inputs[i], answer), !counts(&inputs[i], answer) };
		all_sure &= slack[i].sure || slack[i].absent;
	}
	if (all_sure)
		return;
	find_latest(v, j, answer, true);
	for (size_t i = 0; i < j->ninputs; i++)
		slack[i].lo = not_negative(until_latest(v, &inputs[i], alone).lo - longer);
}

/* It began to wait before the first of the signals, and one of them ended that. */
static void woken_slacks(struct visit *v, const struct graph_node *j, struct slack *slack)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	uint32_t clock = v->g->clocks[inputs[0].thread];
	struct moment begin = { clock, inputs[0].stamp }, first = { clock, UINT64_MAX };
	struct moment last = { clock, 0 };
	for (size_t i = 1; i < j->ninputs; i++) {
		first.stamp = inputs[i].stamp < first.stamp ? inputs[i].stamp : first.stamp;
		last.stamp = inputs[i].stamp > last.stamp ? inputs[i].stamp : last.stamp;
		slack[i] = (struct slack){ 0, 0, false, false };
	}
	slack[0] = (struct slack){ not_negative(times_between(v->times, begin, first).lo),
				   not_negative(times_between(v->times, begin, last).hi), true, false };
}

/* Another run may not wait at all: no input is known to be tight. */
static void all_slack(struct visit *v, const struct graph_node *j, struct slack *slack)
{
	for (size_t i = 0; i < j->ninputs; i++)
		slack[i] = (struct slack){ 0, not_negative(v->passed[i].hi), v->g->inputs[j->first + i].needed,
					   v->g->inputs[j->first + i].never_last };
}

/* The input from which on it takes as long as it did, or the first one. */
static size_t since_of(const struct visit *v, const struct graph_node *j)
{
	size_t last = j->ninputs - 1;
	return v->g->inputs[j->first + last].sure ? last : 0;
}

/* Where that lays down a moment, the thread waits no longer than until then; and not at all where that was over. */
static void unknown_slacks(const struct visit *v, const struct graph_node *j, struct slack *slack)
{
	size_t since = since_of(v, j);
	int64_t late = since ? (int64_t)graph_overdue_ticks(&v->g->inputs[j->first + since]) : 0;
	for (size_t i = 0; i < j->ninputs; i++)
		slack[i] = (struct slack){ 0, 0, true, i != since };
	if (late == 0)
		return;
	slack[0].absent = false;
	slack[since].lo = slack[since].hi = late;
}

/* What it took behind its most likely cause stays, and so much later it could have begun; or behind its begin, and so much later
 * that could have come. */
static void presumed_slacks(const struct visit *v, const struct graph_node *j, struct slack *slack)
{
	const struct graph_input *begin = &v->g->inputs[j->first], *cause = &v->g->inputs[j->first + j->ninputs - 1];
	bool before = cause->stamp < begin->stamp;
	uint64_t ticks = before ? begin->stamp - cause->stamp : cause->stamp - begin->stamp;
	frz_time apart = times_duration(v->times, v->g->clocks[begin->thread], ticks);
	for (size_t i = 0; i < j->ninputs; i++)
		slack[i] = (struct slack){ 0, 0, true, i > 0 && i + 1 < j->ninputs };
	slack[before ? j->ninputs - 1 : 0] = (struct slack){ apart.lo, apart.hi, true, false };
}

/* The last input that came while it was waited; or 0. */
static size_t last_within(const struct visit *v, const struct graph_node *j)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	size_t last = 0;
	for (size_t i = 1; i < j->ninputs; i++)
		if (!inputs[i].candidate && v->passed[i].hi < v->passed[last].lo)
			last = i;
	return last;
}

/* What passed from the last input to the next attempt stays where it is waited for; who comes later finds it with the first
 * attempt. */
static void polled_slacks(const struct visit *v, const struct graph_node *j, size_t last, struct slack *slack)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	for (size_t i = 0; i < j->ninputs; i++) {
		int64_t lo = ticks_minus(v->passed[i].lo, v->passed[last].hi), hi = ticks_minus(v->passed[i].hi, v->passed[last].lo);
		slack[i] = (struct slack){ not_negative(lo), not_negative(hi), inputs[i].sure, inputs[i].candidate };
	}
	slack[0].lo = not_negative(v->passed[0].lo);
	slack[0].hi = not_negative(v->passed[0].hi);
	slack[last].lo = slack[last].hi = 0;
}

/* Any of the calls may have ended it; and no sooner than it began is a wait over. */
static void returned_slacks(struct visit *v, const struct graph_node *j, enum coz_answer answer, struct slack *slack)
{
	for (size_t i = 0; i < j->ninputs; i++) {
		const struct graph_input *input = &v->g->inputs[j->first + i];
		int64_t passed = input->needed ? not_negative(v->passed[i].hi) : 0;
		slack[i] = (struct slack){ passed, passed, input->needed, !counts(input, answer) };
	}
}

/* Whether it is as well what is expected, as far as transfers go. */
static bool find_slacks(struct visit *v, const struct graph_node *j, enum coz_answer answer)
{
	bool proved = answer == COZ_PROVED;
	struct slack *slack = v->slacks;
	if (j->kind == GRAPH_SYNC && j->what == GRAPH_RETURNED) {
		returned_slacks(v, j, answer, slack);
		return false;
	}
	if (proved && (j->loose || j->hidden)) {
		all_slack(v, j, slack);
		return false;
	}
	size_t last = j->polled ? last_within(v, j) : 0;
	if (last) {
		polled_slacks(v, j, last, slack);
		return false;
	}
	switch (j->kind) {
	case GRAPH_SYNC:    sync_slacks(v, j, answer, slack); break;
	case GRAPH_WOKEN:   woken_slacks(v, j, slack); break;
	case GRAPH_ARRIVAL: return transfer_slacks(&v->coz->transfer, j, v->passed, proved, slack);
	case GRAPH_UNKNOWN: (graph_is_presumed(j) ? presumed_slacks : unknown_slacks)(v, j, slack); break;
	}
	return true;
}

static void add_inputs(struct visit *v, const struct graph_node *j, size_t answer)
{
	saving_inputs(v->all, answer, &v->held[j->first], v->slacks, j->ninputs);
}

/* Whether both answers say the same of a node: all that was waited for is certain, and all that is certain was. */
static bool answers_agree(const struct visit *v, const struct graph_node *j)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	bool agree = !j->loose && !j->hidden && !j->delayed && !j->late && takes_longer(v, j) == 0;
	for (size_t i = 0; i < j->ninputs && agree; i++)
		agree = inputs[i].never_last || (inputs[i].sure && inputs[i].needed && !inputs[i].candidate);
	return agree;
}

/* Another run may wait for what came later in this one. Of what has not come yet it is not known when, and of what takes
 * any time not how long. */
static void wait_for_lates(struct visit *v, const struct graph_node *j, struct saving *own)
{
	struct graph_lates lates = visit_lates(v, (uint32_t)(j - v->g->nodes));
	for (uint32_t i = lates.first; i < lates.end; i++) {
		if (v->held_late[i] && !v->coz->transfer.worst)
			saving_late(v->all, own, COZ_PROVED, v->held_late[i], v->g->lates[i].lag);
		else
			saving_delay(v->all, own, COZ_PROVED);
	}
}

/* Another run may wait for a receiver for whom this one did not wait, and do all its own work only then. */
static void wait_for_receivers(struct visit *v, const struct graph_node *j, struct saving *own)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	for (size_t i = 1; i < j->ninputs && j->kind == GRAPH_ARRIVAL; i++) {
		int64_t lag = inputs[i].receiver && inputs[i].candidate ? transfer_lag(&v->coz->transfer, j, i) : 0;
		if (lag > 0)
			saving_late(v->all, own, COZ_PROVED, v->held[j->first + i], lag);
	}
}

/* The threads of a team have shared out what there was to do: each saves the mean, whoever had the savings. By how much
 * they would be apart at the end is not known, but about as much as they were. */
static void even_out(struct visit *v, const struct graph_node *j, struct saving *own)
{
	const struct graph_input *inputs = &v->g->inputs[j->first];
	struct saving *sum = saving_none(v->all);
	uint64_t last = 0, idle = 0;
	for (size_t i = 0; i < j->ninputs; i++)
		last = inputs[i].stamp > last ? inputs[i].stamp : last;
	for (size_t i = 0; i < j->ninputs; i++) {
		sum = saving_add(v->all, sum, v->held[j->first + i]);
		idle += last - inputs[i].stamp;
	}
	uint32_t clock = v->g->clocks[inputs[0].thread];
	saving_mean(v->all, own, COZ_EXPECTED, sum, j->ninputs,
		    times_duration(v->times, clock, idle / j->ninputs).hi);
	saving_drop(v->all, sum);
}

/* All came from work that their team gave them evenly. */
static bool evens_out(const struct visit *v, const struct graph_node *j)
{
	bool of_team = j->kind == GRAPH_SYNC || (j->kind == GRAPH_ARRIVAL && j->what >= GRAPH_COLLECTIVE);
	return of_team && v->states[j - v->g->nodes].given == j->ninputs;
}

/* The path leaves out how long it waits for a lock, and whoever had that. */
static void skip_wait(struct visit *v, const struct graph_node *j, struct saving *own)
{
	const struct graph_input *begin = &v->g->inputs[j->first];
	saving_take_lower(v->all, own, COZ_PROVED, v->held[j->first]);
	saving_skip(v->all, own, COZ_PROVED, not_negative(times_of_thread(v->times, begin->thread, begin->stamp, j->stamp).lo));
}

/* Nor is it known what it waits for in another run: that saves no more than is cut anywhere, unless it looks from time to time. */
static void expect_nothing(struct visit *v, const struct graph_node *j, struct saving *s)
{
	frz_time elapsed = visit_elapsed(v, v->g->inputs[j->first].thread, j->stamp);
	if (graph_has_expired(j))
		saving_forget(v->all, s, COZ_EXPECTED, elapsed);
	else
		saving_forget_within(v->all, s, COZ_EXPECTED, elapsed);
}

struct saving *visit_happen(struct visit *v, const struct graph_node *j)
{
	room_for(v, j->ninputs);
	if (j->kind == GRAPH_ARRIVAL || j->loose || j->hidden || j->what == GRAPH_RETURNED)
		transfer_passed(&v->coz->transfer, j, v->passed);
	saving_begin(v->all, j->loose);
	if (answers_agree(v, j) && find_slacks(v, j, COZ_PROVED)) {
		if (v->greedy)
			greedy_slacks(v->greedy, j, v->slacks);
		add_inputs(v, j, SAVING_ALL);
	} else {
		find_slacks(v, j, COZ_EXPECTED);
		if (v->greedy)
			greedy_slacks(v->greedy, j, v->slacks);
		add_inputs(v, j, COZ_EXPECTED);
		find_slacks(v, j, COZ_PROVED);
		add_inputs(v, j, COZ_PROVED);
	}
	if (j->hidden)
		saving_hide(v->all, COZ_PROVED);
	if (j->loose)
		saving_loosen(v->all, COZ_PROVED);
	struct saving *s = saving_end(v->all);
	if (v->orders->any && orders_is_plain(v->orders, v->g, (uint32_t)(j - v->g->nodes)))
		skip_wait(v, j, s);
	else if (j->delayed && v->orders->open)
		saving_lose(v->all, s, COZ_PROVED);
	else if (j->delayed)
		saving_delay(v->all, s, COZ_PROVED);
	if (j->late)
		wait_for_lates(v, j, s);
	wait_for_receivers(v, j, s);
	if (evens_out(v, j))
		even_out(v, j, s);
	if (j->kind == GRAPH_UNKNOWN && !graph_is_presumed(j) && since_of(v, j) == 0)
		expect_nothing(v, j, s);
	return s;
}

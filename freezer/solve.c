/* SPDX-License-Identifier: MIT
 *
 * solve.c - clocks solved one after the other, each from what the others tell it.
 *
 * Rounds start at the base. In each round every clock that learnt something is solved, and then
 * those that are proven tell their neighbours: so a clock `hops` links away is placed in round
 * `hops`, and later rounds tighten. A clock tightens at most TIGHTENINGS times, which bounds the
 * work; where it matters, the first time brings nearly all.
 *
 * A clock whose links contradict the assumption is settled: it keeps what it has and tells no other.
 * If it had told others before, all start again without it, as what it told rests on an assumption
 * that does not hold; after RESTARTS of that, nothing is tightened any more, and then no clock
 * tells before its links have agreed with each other. Only when nothing more can be proven, settled
 * clocks speak to those that have no place at all. */
#include "freezer/solve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/network.h"
#include "freezer/solution.h"

#define TIGHTENINGS 2
#define RESTARTS    8

enum solve_phase { PROVING, TIGHTENING_NO_MORE, CONSISTENT };

struct solve_work {
	struct network network;
	struct frz_assumption assumption;
	struct frz_solution *solution;
	enum solve_phase phase;
	struct clock_state { bool queued, settled; unsigned char solved; } *states;
	uint32_t *queue, *round;      /* clocks to solve next, and those of this round */
	uint32_t nqueue, nround;
};

static bool may_solve(const struct solve_work *w, uint32_t clock)
{
	const struct clock_state *s = &w->states[clock];

	if (clock == w->network.base || s->queued || s->settled)
		return false;
	if (!frz_placed(&w->solution->clocks[clock].clock))
		return true;
	return w->phase == PROVING && s->solved <= TIGHTENINGS;
}

static void enqueue(void *work, uint32_t clock)
{
	struct solve_work *w = work;

	if (!may_solve(w, clock))
		return;
	w->states[clock].queued = true;
	w->queue[w->nqueue++] = clock;
}

/* ---- One clock --------------------------------------------------------------------------------*/

/* A clock that is placed only because of clocks that are not proven is not, either, and the links
 * in conflict are theirs: those of the one that drifts most. */
static void inherit_doubt(struct solve_work *w, uint32_t clock)
{
	const struct network *n = &w->network;
	struct frz_clock *mine = &w->solution->clocks[clock].clock;

	if (mine->status != FRZ_PROVEN)
		return;
	mine->status = FRZ_CONSISTENT;
	mine->least_ppb = mine->ppb;
	for (const struct link_end *e = n->ends + n->first[clock];
	     e < n->ends + n->first[clock + 1];
	     e++) {
		const struct frz_clock *other =
			&w->solution->clocks[network_other(n, e, clock)].clock;

		if (other->status != FRZ_CONSISTENT || other->least_ppb < mine->least_ppb ||
		    other == mine)
			continue;
		mine->least_ppb = mine->ppb = other->least_ppb;
		mine->nconflicts = other->nconflicts;
		memcpy(mine->conflict, other->conflict, sizeof mine->conflict);
	}
}

/* One more than of the nearest neighbour that has a place. */
static uint32_t hops_of(const struct solve_work *w, uint32_t clock)
{
	const struct network *n = &w->network;
	uint32_t hops = UINT32_MAX;

	for (const struct link_end *e = n->ends + n->first[clock];
	     e < n->ends + n->first[clock + 1];
	     e++) {
		const struct frz_clock *c =
			&w->solution->clocks[network_other(n, e, clock)].clock;

		if (frz_placed(c) && c->hops < hops)
			hops = c->hops;
	}
	return hops + 1;
}

/* Solves a clock and says in *restart whether what it told before must be forgotten. */
static int solve_clock(struct solve_work *w, uint32_t clock, bool *restart)
{
	struct solved *old = &w->solution->clocks[clock], s;
	struct clock_state *state = &w->states[clock];
	struct evidence e = network_evidence(&w->network, clock);
	bool told = frz_placed(&old->clock);
	int error = solved_from(&s, &e, w->assumption);

	if (error)
		return error;
	s.clock.hops = told ? old->clock.hops : frz_placed(&s.clock) ? hops_of(w, clock) : 0;
	solved_free(old);
	*old = s;
	state->solved++;
	if (s.clock.status == FRZ_CONSISTENT || s.clock.status == FRZ_CONTRADICTION) {
		state->settled = true;
		*restart |= told;
	}
	if (w->phase == CONSISTENT)
		inherit_doubt(w, clock);
	return 0;
}

/* ---- All clocks -------------------------------------------------------------------------------*/

/* Whether its neighbours may hear it. */
static bool may_tell(const struct solve_work *w, uint32_t clock)
{
	enum frz_status status = w->solution->clocks[clock].clock.status;

	return status == (w->phase == CONSISTENT ? FRZ_CONSISTENT : FRZ_PROVEN);
}

/* Where a clock's links contradict each other it may have jumped: there it had better be silent. */
static struct stretch doubtful(const struct solve_work *w, uint32_t clock)
{
	const struct frz_clock *c = &w->solution->clocks[clock].clock;

	if (!w->states[clock].settled || c->nconflicts < 2)
		return (struct stretch){ 1, 0 };
	uint64_t a = network_stamp(&w->network, c->conflict[0], clock);
	uint64_t b = network_stamp(&w->network, c->conflict[1], clock);

	return a < b ? (struct stretch){ a, b } : (struct stretch){ b, a };
}

static void tell(struct solve_work *w, uint32_t clock)
{
	if (may_tell(w, clock))
		network_tell(&w->network, clock, frz_cursor(w->solution, clock),
			     doubtful(w, clock), enqueue, w);
}

/* Rounds until no clock learns any more, or *restart. */
static int run_rounds(struct solve_work *w, bool *restart)
{
	int error = 0;

	while (w->nqueue && !error && !*restart) {
		uint32_t *queue = w->queue;

		w->queue = w->round;
		w->round = queue;
		w->nround = w->nqueue;
		w->nqueue = 0;
		for (uint32_t i = 0; i < w->nround && !error; i++)
			error = solve_clock(w, w->round[i], restart);
		for (uint32_t i = 0; i < w->nround; i++)
			w->states[w->round[i]].queued = false;
		for (uint32_t i = 0; i < w->nround && !error && !*restart; i++)
			tell(w, w->round[i]);
	}
	return error;
}

/* Those that are settled stay as they are. */
static void start_again(struct solve_work *w)
{
	const struct network *n = &w->network;

	network_forget(&w->network);
	for (uint32_t i = 0; i < w->nqueue; i++)
		w->states[w->queue[i]].queued = false;
	w->nqueue = 0;
	for (uint32_t c = 0; c < n->nclocks; c++) {
		if (c == n->base || w->states[c].settled)
			continue;
		solved_free(&w->solution->clocks[c]);
		w->states[c] = (struct clock_state){ 0 };
	}
	for (const struct link_end *e = n->ends + n->first[n->base];
	     e < n->ends + n->first[n->base + 1]; e++)
		enqueue(w, network_other(n, e, n->base));
}

static int prove_all(struct solve_work *w)
{
	int error;
	bool restart;

	for (int restarts = 0;; restarts++) {
		restart = false;
		w->phase = restarts < RESTARTS ? PROVING : TIGHTENING_NO_MORE;
		start_again(w);
		error = run_rounds(w, &restart);
		if (error || !restart)
			return error;
	}
}

/* What clocks that are not proven have to say. */
static int place_more(struct solve_work *w)
{
	bool restart = false;

	w->phase = CONSISTENT;
	for (uint32_t c = 0; c < w->network.nclocks; c++)
		tell(w, c);
	return run_rounds(w, &restart);
}

static int solve_all(struct solve_work *w)
{
	uint32_t nclocks = w->network.nclocks;
	int error;

	w->states = calloc(nclocks, sizeof *w->states);
	w->queue = malloc(nclocks * sizeof *w->queue);
	w->round = malloc(nclocks * sizeof *w->round);
	w->solution = calloc(1, sizeof *w->solution + nclocks * sizeof w->solution->clocks[0]);
	if (!w->states || !w->queue || !w->round || !w->solution)
		return -ENOMEM;
	w->solution->nclocks = nclocks;
	error = solved_base(&w->solution->clocks[w->network.base]);
	if (!error)
		error = prove_all(w);
	return error ? error : place_more(w);
}

int frz_solve(struct frz_solution **out, uint32_t nclocks, uint32_t base,
	      const struct frz_link *links, size_t nlinks, struct frz_assumption assumption)
{
	struct solve_work w = { .assumption = assumption };
	int error = -EINVAL;

	*out = NULL;
	if (base >= nclocks || (assumption.model == FRZ_DRIFT && assumption.ppb >= 1000000000))
		goto out;
	error = network_open(&w.network, nclocks, base, links, nlinks);
	if (!error)
		error = solve_all(&w);
out:
	free(w.states);
	free(w.queue);
	free(w.round);
	network_close(&w.network);
	if (error)
		frz_solution_free(w.solution);
	else
		*out = w.solution;
	return error;
}

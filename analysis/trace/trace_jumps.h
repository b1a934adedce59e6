/* SPDX-License-Identifier: MIT
 *
 * trace_jumps.h - which places a thread left without an exit: by longjmp, by an exception through C, by pthread_exit.
 *
 * An exit belongs to the innermost open enter of its site, so that what has no exit is among the outermost (replay.h).
 * Other pairs may be the true ones: of `enter s, enter s, exit s` either may have been left by a jump. But whatever
 * the true pairs are, and whenever the jumps came,
 *   - a thread is in s at least from each enter of s to the exit that belongs to it here;
 *   - what it is in stands on the stack that pops as late as possible, in the same order: an enter without an exit
 *     (`jumped`) may be left at any time from then on until something that encloses it is left;
 *   - an enter of s before which another one `jumped` may be that one in truth (`unsure`): it may be left early, too.
 * What is open when records end, or are lost, was not left, unless its thread ended by itself or may have jumped
 * (struct dprof_jumps). A thread with an exit of what is not open switched stacks: it may be anywhere (`tangled`).
 * So it may be if it says that it switches stacks (operations.def, SWITCHES) while something is open, though all exits
 * nest: what is open stays so on a stack that does not run. Where each switch finds nothing open, and no records are
 * lost before, whatever is entered is left before the next switch, on the same stack.
 * Where all its records are as they were written that is no damage, though nobody noticed it (trace_events.c); but an exit
 * of what no jump leads into is, such as a call of MPI (trace_check.c).
 *
 * Law: if a thread runs as it says it does, what is neither `jumped` nor `unsure` lasts from its enter to its exit. */
#ifndef ANALYSIS_TRACE_JUMPS_H
#define ANALYSIS_TRACE_JUMPS_H

#include "analysis/trace/store.h"
#include "analysis/trace/trace.h"

struct tr_jumped_site { uint32_t site; size_t first; };

struct tr_jumps {
	size_t *event; size_t n;              /* the number of each enter that jumped, ascending */
	struct tr_jumped_site *sites; size_t nsites; /* by site: the first of its enters that jumped */
	bool tangled;
	uint64_t odd;          /* the stamp of the first exit of what was not entered last; or UINT64_MAX */
	uint32_t switched_in;  /* the innermost place that was open at the first switch that found any; or TR_NO_SITE */
};

/* While the records of one thread come by, in order. */
struct jumps_scan {
	const struct trace *trace;
	struct tr_thread *thread;
	uint64_t stamp;          /* of the last event */
	bool lost;
	bool switched;           /* stacks */
	struct replay open;
	struct tr_jumps found;
	struct replay_entry *last; size_t nlast; /* what was open when records were lost, or ended */
};

void jumps_begin(struct jumps_scan *, const struct trace *, struct tr_thread *);
/* `number`: of the event; of a loss it does not matter. */
static inline void jumps_event(struct jumps_scan *, const struct tr_record *, size_t number);
/* Likewise of an ENTER, a POINT that switches no stacks, or the EXIT of what was entered last; of another it does nothing, and
 * is false. */
static inline bool jumps_plain(struct jumps_scan *, enum dprof_op, uint32_t site, uint64_t stamp, size_t number);
/* Sets thread->jumps: NULL where it never jumped. `lasts`: what is open when records end, or are lost, was not left. */
void jumps_end(struct jumps_scan *, bool lasts);

void jumps_close(struct tr_jumps *);

/* Whether it is no damage that places inside of `site`, which was left at that stamp, have no exit: the thread may have
 * jumped; or `outermost`, nothing is around that site, and it was left because the thread ended itself (pthread_exit,
 * cancellation); or that was its last event, a call such as exit(), before which a function is left that the user did not
 * mark, but nothing that he did. */
bool jumps_explain(const struct trace *, const struct tr_thread *, uint32_t site, uint64_t stamp, bool outermost);

/* What is seldom needed of jumps_event(). */
void jumps_leave(struct jumps_scan *, uint32_t site);
void jumps_switch(struct jumps_scan *);
bool jumps_may_switch(const struct jumps_scan *, uint32_t site); /* at a point of that site */
void jumps_lose(struct jumps_scan *);

static inline __attribute__((always_inline)) void jumps_event(struct jumps_scan *j, const struct tr_record *r, size_t number)
{
	enum dprof_op op = TR_OP(r->what);
	uint32_t site = (uint32_t)TR_BODY(r->what);
	const struct replay_entry *top = replay_top(&j->open);
	if (op == DPROF_LOST) {
		if (r->stamp)
			jumps_lose(j);
		return;
	}
	j->stamp = r->stamp;
	if (op == DPROF_ENTER)
		replay_enter_bare(&j->open, r->stamp, number, site);
	else if (op == DPROF_EXIT && top && top->site == site)
		replay_leave(&j->open, 1);
	else if (op == DPROF_EXIT)
		jumps_leave(j, site);
	else if (jumps_may_switch(j, site))
		jumps_switch(j);
}

static inline bool jumps_plain(struct jumps_scan *j, enum dprof_op op, uint32_t site, uint64_t stamp, size_t number)
{
	if (op == DPROF_ENTER)
		replay_enter_bare(&j->open, stamp, number, site);
	else if (op == DPROF_EXIT ? !replay_exit_innermost(&j->open, site) : jumps_may_switch(j, site))
		return false;
	j->stamp = stamp;
	return true;
}

/* Says of the event with a number whether it is left without an exit. */
void jumps_mark(const struct tr_jumps *, size_t number, struct tr_event *);

#endif

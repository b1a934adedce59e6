/* SPDX-License-Identifier: MIT
 *
 * phase.h - which work of a thread belongs to what its messages are for, and which it does before that or behind it.
 *
 * Law: what is said to be in the phase is work that the thread did when it had begun with its messages, or could not
 * have begun with them later.
 *
 * A thread's *core* goes from its first operation that sends or receives something to its last. It is *at home* in a
 * region (or outside of regions) if half or more of its work there is in the core; if it is the last region in which it
 * works before it sends something, and that is its first message; or the first in which it works behind its last
 * message, if it received that. In the *phase* is all work in the core; where it is at home what is behind that; and,
 * of who begins by sending, what is before. Whoever begins by receiving has nothing to work on before. */
#ifndef ANALYSIS_PHASE_H
#define ANALYSIS_PHASE_H

#include "analysis/diagnose/steps.h"

struct phase {
	const struct trace *trace;
	struct phase_thread {
		bool in;             /* it has messages */
		bool sends_first, receives_last;
		uint64_t from, to;   /* stamps: its core */
		uint32_t before, behind; /* where it works longest before that, and behind it; TR_OUTSIDE, or TR_NO_SITE */
	} *threads;
	bool **home;                 /* of each thread with messages: of each row, or outside of regions (the last one) */
};

/* Of those threads; `role_of`, `windows`: as of steps.h. */
void phase_open(struct phase *, const struct graph *, struct graph_last *, const bool *threads,
		const enum event_role *role_of, const struct steps_window *windows);
void phase_close(struct phase *);

/* `site`: or TR_OUTSIDE. Of a thread without messages that is known nothing is said: it is at home everywhere. */
bool phase_at_home(const struct phase *, uint32_t thread, uint32_t site);
bool phase_has(const struct phase *, uint32_t thread, const struct step_piece *);
bool phase_in_core(const struct phase *, uint32_t thread, const struct step_piece *);

#endif

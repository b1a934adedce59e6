/* SPDX-License-Identifier: MIT
 *
 * orders.h - how much later anything may happen in another run because locks are had in another order.
 *
 * With less work another thread may come first, and then the run may even be longer (R. L. Graham, Bounds on Multiprocessing
 * Timing Anomalies, 1969). So a lower bound of what is saved has to hold for every order.
 *
 * While a thread waits for a lock, another one has it, or has just given it back. So any path back from an event through another
 * run goes along threads and what they must wait for in every run, but where it comes to a thread that waits for a lock: there it
 * goes on in those who had the lock, one after the other, until that thread has come. On one path no time is counted twice. So an
 * event happens no later than the longest path to it of those that leave out all time in critical sections and all waiting for
 * locks, and on top of that all critical sections of all threads, once each, and as often the longest that a lock took to be handed
 * on:
 *
 *     event' <= event - skipped - cut + beside,
 *
 * of which savings.h carries (skipped + cut) along the paths, cut only outside of critical sections, while `beside` is one
 * sum for all. Nothing is lost where critical sections are on the path in any case, nor much where they are short.
 *
 * Likewise work that is given out, between one lock and the next: who does it is not known, but it is done once.
 *
 * That holds for locks that are *plain*: every take of it waits for nothing else, in no loop of attempts; who has it gives it back,
 * and waits meanwhile for nothing but plain locks; no sleep in there is what is left of a period; all threads are in the trace; and
 * how long such a lock takes to be handed on was seen. Work that is given out must not wait for anything else, either, nor give
 * anything. Behind any other choice (a lock that is none of these, a semaphore, a wildcard, a task, or a wait of which it is not
 * known for whom: that may have been a lock, of a file perhaps) nothing is known but that at any moment some thread does what it
 * did here, or waits for what comes at a moment that was known here: so no event happens later than it did here by more than all
 * threads took, one after the other.
 *
 * Law: in every run an event's saving is no less than its lower bound, settled (saving_settle), in whatever order locks are had. */
#ifndef ANALYSIS_ORDERS_H
#define ANALYSIS_ORDERS_H

#include "analysis/coz/coz_private.h"

struct orders {
	bool *plain;         /* each queue of the graph is a plain lock */
	bool given;          /* work that is given out is as it must be */
	bool any;            /* some order, or whose work it is, is not certain: else nothing below matters */
	bool open;           /* of some of them it is not known how much later that may make anything */
	int64_t longest;     /* ticks that anything may be later than here */
};

/* Threads have been followed to their ends (v->hides). Says how much comes beside the paths. */
void orders_open(struct orders *, struct visit *);
void orders_close(struct orders *);

/* Whether the node is a take of a plain lock. */
bool orders_is_plain(const struct orders *, const struct graph *, uint32_t node);

/* Whether what it waits for depends on an order, and it may wait for what comes later here. */
bool orders_decide(const struct graph_node *);

/* Where a thread is, between its points: whether its time comes beside the paths; the time since the point before, if so; and
 * behind a point. */
bool orders_beside(const struct orders *, const struct visitor *);
frz_time orders_passed(const struct visit *, struct visitor *, uint64_t stamp);
void orders_pass(const struct orders *, const struct graph *, struct visitor *, const struct graph_thread *, size_t sync);

#endif

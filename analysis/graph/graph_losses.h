/* SPDX-License-Identifier: MIT
 *
 * graph_losses.h - when records may be missing: in a gap of those of a thread, before or behind all of them, or all of a thread's.
 *
 * A thread of which no adapter had noticed that it was made lost nothing: that it is not recorded is no damage.
 *
 * Law: in which way a thread's records are completed, any that are added are of a moment within its losses. What ended a wait that
 * was over before them, or began behind them, is therefore among those that are here; of others nothing is known (graph.h). */
#ifndef ANALYSIS_GRAPH_LOSSES_H
#define ANALYSIS_GRAPH_LOSSES_H

#include "analysis/graph/graph.h"

/* Sets graph.losses, graph.lost, graph.around and node.doubted. Behind a loss it is not known in what a thread, and whoever
 * inherits from it, is besides what it has entered since. */
void graph_find_losses(struct graph *, struct frz_cursor *cursors);

/* Whether nothing is here of what a thread recorded. */
bool graph_lost_all_of(const struct graph *, uint32_t thread);

/* The stamp with which a thread came to the node for which it waits at its point `at`; 0: not known. */
uint64_t graph_wait_begin(const struct graph *, uint32_t thread, size_t at);

/* Of all threads: of graph.lost, or graph.around. */
int64_t graph_sum_of(const struct graph *, const int64_t *ticks);

#endif

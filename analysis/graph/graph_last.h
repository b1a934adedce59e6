/* SPDX-License-Identifier: MIT
 *
 * graph_last.h - which event ended a wait: the last of those that were waited for.
 *
 * Law: if a node is not UNKNOWN, and what ended the wait is among its inputs (graph.h), then the last of the inputs that were
 * waited for is among those that are given; and if one only is given, it is that. (Of those that follow another, graph.h, that
 * one is given; and of the call up to which one is open likewise.)
 *
 * All clocks with threads must be on one time base.
 *
 * What was found stays with the graph, so that each analysis of it, and who asks once more for each of many that waited, is
 * answered at once.
 *
 * Memory: 4 bytes for each node of the graph, in its spill, and for nodes of many inputs of which few may have been the last 4 for
 * each of these. */
#ifndef ANALYSIS_GRAPH_LAST_H
#define ANALYSIS_GRAPH_LAST_H

#include "analysis/graph/graph.h"

struct graph_found {
	uint32_t *of_node;           /* which of its inputs may have been the last, if that is remembered: one and 1, or where in */
	uint32_t *several; size_t nseveral; /* their number stands, and they behind it; or 0 */
};

struct graph_last {
	const struct graph *graph;
	struct frz_cursor *cursors;  /* of each clock */
	uint32_t node;               /* that was looked at last, or GRAPH_NO_NODE; its inputs that may have been the last: */
	uint32_t *input; size_t n, room;
	const struct graph_input **latest; /* of it, on each clock, */
	uint32_t *latest_of;         /* if this is that node */
};
#define GRAPH_NO_NODE UINT32_MAX

void graph_last_open(struct graph_last *, const struct graph *); /* to which no node is added any more */
void graph_last_close(struct graph_last *);

/* Finds those of a node. */
void graph_last_find(struct graph_last *, uint32_t node);

/* As if this input of it were none. */
void graph_last_find_without(struct graph_last *, uint32_t node, uint32_t input);

/* Then: how long before the wait's end, at this stamp of the thread, the last was; not below 0. */
frz_time graph_last_arrival(struct graph_last *, uint32_t thread, uint64_t end);

/* And whether that was perhaps when the thread had not tried yet, and did anything else: with what it took since it surely did. */
bool graph_last_is_doubtful(struct graph_last *, frz_time *tried);

/* Whether an input was surely waited for; and where on the clocks it is. */
bool graph_was_waited_for(const struct graph_node *, size_t i, const struct graph_input *); /* its i-th */
struct moment graph_moment(const struct graph *, const struct graph_input *);

/* From when an input was there until then; from then until it was there. What is open was there at the latest with that call. */
frz_time graph_last_since(struct graph_last *, const struct graph_input *, struct moment until);
frz_time graph_last_until(struct graph_last *, struct moment from, const struct graph_input *);

#endif

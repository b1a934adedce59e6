/* SPDX-License-Identifier: MIT
 *
 * neighbours.h - processes that exchange messages with their neighbours again and again, as those of a stencil do with
 * what lies at their borders (halo exchange): all work, each sends to its neighbours and receives from each, and all
 * work again.
 *
 * Law: what is said of a round is the same for all orders in which messages may have been under way. All that processes
 * work between what they receive and what they send in their rounds takes no longer than `within`, and all between what
 * they send first in a round and when they begin to wait for their neighbours no longer than `early`. If it is
 * `at_once`, each sends what it sends in a round before it has received anything of that round.
 *
 * The k-th *round* of a process are the k-th messages to and from each neighbour, as it has sent and received them; or
 * always m messages, where there are m times as many as between those with the fewest. It fits if
 *
 *   - between any two neighbours as many messages go one way as the other, and as many as between those with the
 *     fewest, or a multiple of that;
 *   - no process does more of its work than 1/NEIGHBOURS_ANSWER between what it receives in a round and what it sends in
 *     the same one, as where it packs what it sends: a server, a worker, or whoever solves part of a problem answers what
 *     it received when it has worked;
 *   - each round of a process is over before its next one begins;
 *   - all mostly work in the same region, which a master does not with its workers. */
#ifndef ANALYSIS_NEIGHBOURS_H
#define ANALYSIS_NEIGHBOURS_H

#include "analysis/diagnose/parts.h"
#include "analysis/graph/graph_last.h"

#define NEIGHBOURS_MOST (1u << 22) /* messages: of more this is not looked at */
#define NEIGHBOURS_ANSWER 8

struct neighbours {
	uint32_t *threads; size_t n; /* the first of each process */
	uint32_t *with; size_t *from; /* of each of these: places of its neighbours, those behind from[at] and before
					 from[at + 1] */
	uint64_t **enters; size_t rounds; /* of each: when it begins to wait for its neighbours; a stamp */
	int64_t within, early;       /* ticks */
	bool at_once;
};

/* At least so many rounds, of a part or of all of the run (NULL). False: it does not fit, and there is nothing to
 * close. */
bool neighbours_open(struct neighbours *, const struct graph *, struct graph_last *, const struct call_profile *,
		     const struct part *, size_t least);
void neighbours_close(struct neighbours *);

/* Of any two that send each other as many messages, one sends each only when it has got as many, as far as that is known; and
 * somebody is answered by two. */
bool neighbours_answer(const struct graph *, const struct call_profile *, const struct part *);

/* Of all that have messages with this process, each first sends it some, or each first gets some. */
bool neighbours_begin_alike(const struct graph *, const struct call_profile *, const struct part *, uint32_t process);

/* Of a chain of processes in this order: whoever has one before and one behind sends nothing before it has got as much
 * (or, if it sends more than it gets, as large a part), and does 1/NEIGHBOURS_ANSWER of its work or more behind what it gets and
 * before what it sends then, as far as that is known: the next one cannot do its work meanwhile. */
bool neighbours_pass_on(const struct graph *, struct graph_last *, const struct call_profile *, const struct part *,
			const uint32_t *order, size_t n);

#endif

/* SPDX-License-Identifier: MIT
 *
 * bsp.h - how threads that work in supersteps spent the run: each works, then all come together, again and again.
 *
 * Law: each of the times below lies in its interval. The first three are of durations on one clock each, and so no
 * wider for clocks that disagree; waiting and transfer are as graph_activities.h says of operations.
 *
 * Threads *come together* in a collective operation that none leaves before all are there: of threads of as many
 * processes as the one that has most, and of these with as many threads as any; of several such sets of threads the
 * one that does so most often, or else the one with the first threads of the trace. Or each process comes together
 * with its neighbours, by messages (neighbours.h), and all of these in collective operations.
 *
 * A *superstep* is what a thread does between two of these, before the first or behind the last. Its *work* is as in
 * chain.h, but for what the thread does *alone*: in regions in which no other thread of the run ever is. Thread t of n
 * works w(t,k) in superstep k, and v(t,k) with what it does alone; W(t) is the sum of its w(t,k); max is that of all t.
 *
 *   persistent  the sum over t of max(W) - W(t): whoever is late is so again and again
 *   changing    n times (the sum over k of max(w(.,k)) less max(W)): others are late each time; none of it would be if
 *               they came together only once. With persistent it is the sum over t and k of max(w(.,k)) - w(t,k)
 *   sequential  n - 1 times the sum over k of max(v(.,k)) - max(w(.,k)): so much longer steps are for what one does
 *               alone
 *   waiting     of the operations in which they come together, and
 *   transfer    what these take besides
 *
 * What one does alone is instead of other work if it has less of that than any other, by a tenth of what it does alone,
 * and if others may work during more than a tenth of that: it is no longer than others for doing it besides.
 *
 * The first three are lost only if threads do nothing else. Whoever does more of what is no such work may be the last
 * in a superstep by that, and then nobody waits for the one who works longest. So much less of them may be lost:
 *
 *   instead     of the first two: n times the sum over k of the most that one thread may do more of that than another;
 *               n times, since for so long none of them may wait for who works more
 *   meanwhile   of sequential: what n - 1 others may do likewise while one works alone, and what they do alone
 *               themselves
 *
 * With neighbours only, the sum over k of the longest is the longest way through the supersteps, on which each
 * begins when the last of its neighbours has come: of w, and of v. It may be shorter, but no shorter than coming together
 * once, by what is worked before one waits and when one has sent (early and within, neighbours.h); and unless all is
 * sent at once, it may be as long as coming together with all each time, and what is worked within.
 *
 * It fits if there are BSP_LEAST supersteps or more and none has more than half of all work.
 *
 * (Superstep: L. G. Valiant, A bridging model for parallel computation, 1990. max(W) and max(w(.,k)) are those of POP's
 * load balance and serialisation.) */
#ifndef ANALYSIS_BSP_H
#define ANALYSIS_BSP_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/neighbours.h"
#include "analysis/diagnose/parts.h"
#include "analysis/graph/graph_last.h"

#define BSP_LEAST 8

struct superstep {
	frz_time work, whole;        /* the longest of any thread, and with what each does alone */
	uint32_t longest;            /* the one that most likely works longest, */
	frz_time of_longest;
	int64_t of_others;           /* and for how long another may, at most */
	frz_time besides, instead;   /* what a thread does that is no such work, from the least of any to the most:
					outside of regions, if they are marked, and in other operations; and with what
					each does alone */
	frz_time alone;              /* from the least that anybody does alone who does, to all that all do */
};

struct bsp_place {
	uint32_t site;               /* or TR_OUTSIDE */
	bool mostly;                 /* half of it is there, or more: it is not in many places */
};

struct bsp {
	uint32_t *threads; size_t n; /* that come together, */
	size_t of;                   /* of so many of the run or part */
	uint64_t **enters; size_t nenters; /* of each of them: stamps at which it comes, ... */
	size_t rounds;               /* ... of these so many times with its neighbours only */
	struct superstep *steps; size_t nsteps; /* one more */
	size_t nworked;              /* of these have work */
	frz_time *work;              /* of each thread, in all; */
	struct bsp_life {
		frz_time whole;      /* all of its time; and */
		frz_time waiting, transfer; /* of the operations in which it comes to others */
	} *lives;
	size_t longest;              /* the thread with most of that */
	bool sure;                   /* no other may have more */
	int64_t surely, possibly;    /* supersteps in which it works longest */
	struct bsp_place longest_place; /* in which it has most more work than the mean of all */
	struct bsp_place place;      /* in which those that work longest in a superstep have most more than that one has there */
	uint32_t alone;              /* who does most alone, UINT32_MAX: nobody; */
	struct bsp_place alone_place; /* and where most of that; */
	bool alone_meanwhile;        /* instead of other work, which others do meanwhile */
	uint32_t operation;          /* in which they come together most often */
	frz_time persistent, changing, sequential, waiting, transfer;
	int64_t instead, meanwhile;  /* ticks, at most: how much less of the first two may be lost, and of sequential */
};

/* Of a part, of which all processes must come together, or of all of the run (NULL); with neighbours, or NULL. False:
 * it does not fit, and `why` says why not, to be freed. */
bool bsp_open(struct bsp *, const struct graph *, struct graph_last *, const struct call_profile *, const struct part *,
	      const struct neighbours *, char **why);
void bsp_close(struct bsp *);
char *bsp_why(const struct bsp *, const struct trace *); /* why it fits; to be freed */

/* The table, to be freed; how long it is: of all together (thread UINT32_MAX), and of each thread, "life", "comp"
 * (work), "wait" and "comm" (transfer); of all also "imbalance" (persistent), "changing" and "sequential". */
size_t bsp_metrics(const struct facts *, const struct bsp *, struct model_metric **);
void bsp_tell(const struct facts *, const struct bsp *, struct expert *);

#endif

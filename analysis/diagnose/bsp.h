/* SPDX-License-Identifier: MIT
 *
 * bsp.h - how threads spent the run that work in supersteps: each works, and all come together, again and again.
 *
 * They come together in a collective operation that none leaves before all are there, and all threads of the one with most of them take
 * part; or each process with its neighbours, by messages (neighbours.h), and in collective operations of all these. A *superstep* is what lies between two of these for each thread, or before the first, or behind the last. Its *work* is as in
 * chain.h, but for what a thread does *alone*: in regions in which no other thread of the run ever is. With n threads, of which thread t works
 * w(t,k) in superstep k, and with what it does alone v(t,k),
 *
 *   persistent  how much less the others work in the whole run than the one that works most: the sum over t of max(W) - W(t), where W(t)
 *               is the sum of its w(t,k). Whoever is late is so again and again
 *   changing    what is left of the sum over t and k of max(w(.,k)) - w(t,k): n times the sum over k of max(w(.,k)) less max(W). Others are
 *               late each time; if they came together only once, none of it would be
 *   sequential  n - 1 times the sum over k of max(v(.,k)) - max(w(.,k)): so much longer steps are for what one does alone
 *   waiting     of the operations in which they come together, and
 *   transfer    what these take besides
 *
 * That is lost if threads do nothing else. What one does more than another that is no such work, in a superstep, may make it the last there, and
 * others no later: *instead* is n times the sum over k of how much more of it that may be, n times since for as long none of them may wait
 * for who works more. *meanwhile* is likewise what n - 1 others may do while one works alone, and what they do alone.
 *
 * Where they come together with neighbours only, the sums of the longest are those along the longest way through the supersteps on which each
 * begins when the last of its neighbours has come: of w, and of w + v. If what they give does not tell how much of their work is before that
 * (neighbours.h), its bounds are those of coming together once, or with all each time.
 *
 * Law: each lies in its interval; waiting and transfer as graph_activities.h says of operations. The first three are of durations on one
 * clock each, and so no wider for clocks that disagree.
 *
 * (L. G. Valiant: A bridging model for parallel computation, 1990, has the superstep; max(W) and max(w(.,k)) are what POP's load balance
 * and serialisation are of.)
 *
 * It fits if there are BSP_LEAST supersteps or more and none has more than half of all work. */
#ifndef ANALYSIS_BSP_H
#define ANALYSIS_BSP_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/master_worker_facts.h"
#include "analysis/diagnose/neighbours.h"
#include "analysis/diagnose/parts.h"
#include "analysis/graph/graph_last.h"

#define BSP_LEAST 8

struct superstep {
	frz_time work, whole;        /* the longest of any thread, and with what each does alone */
	uint32_t longest;            /* the one that most likely works longest, */
	frz_time of_longest;
	int64_t of_others;           /* and for how long another may, at most */
	frz_time besides, instead;   /* what threads do that is no such work, from the least of any to the most: outside of regions that they mark, and in
					other operations; and with what each does alone */
	frz_time alone;              /* from the least that anybody does alone who does, to all that all do */
};

struct bsp_place {
	uint32_t site;               /* or TR_OUTSIDE */
	bool mostly;                 /* half of it is there, or more: it is not in many places */
};

struct bsp {
	uint32_t *threads; size_t n; /* that come together */
	uint64_t **enters; size_t nenters; /* of each of them: stamps at which it comes, ... */
	size_t rounds;               /* ... of these so many times with its neighbours only */
	struct superstep *steps; size_t nsteps; /* one more */
	size_t nworked;              /* of these have work */
	frz_time *work;              /* of each thread, in all; */
	struct bsp_life { frz_time whole, waiting, transfer; } *lives; /* all of its time; and of the operations in which it comes to others */
	size_t longest;              /* the thread with most of that */
	bool sure;                   /* no other may have more */
	int64_t surely, possibly;    /* supersteps in which it works longest */
	struct bsp_place longest_place; /* in which it has most more work than the mean of all */
	struct bsp_place place;      /* in which there is most work */
	uint32_t alone;              /* who does most alone, UINT32_MAX: nobody; */
	struct bsp_place alone_place; /* and where most of that */
	uint32_t operation;          /* in which they come together most often */
	frz_time persistent, changing, sequential, waiting, transfer;
	int64_t instead, meanwhile;  /* ticks, at most: how much less of the first two may be lost, and of sequential */
};

/* Of a part, of which all processes must come together, or of all of the run (NULL); with neighbours, or NULL. False: it does not fit, and `why` says why not, to be freed. */
bool bsp_open(struct bsp *, const struct graph *, struct graph_last *, const struct call_profile *, const struct part *,
	      const struct neighbours *, char **why);
void bsp_close(struct bsp *);
char *bsp_why(const struct bsp *); /* why it fits; to be freed */

/* The table, to be freed; how long it is: of all together (thread UINT32_MAX), and of each thread, "life", "comp" (work), "wait" and "comm" (transfer);
 * of all also "imbalance" (persistent), "changing" and "sequential". */
size_t bsp_metrics(const struct facts *, const struct bsp *, struct metric **);
void bsp_tell(const struct facts *, const struct bsp *, struct expert *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * chain.h - how the stages of a pipeline, or the ranks of a wavefront, spent the run: threads of which each gets what
 * it works on from the one before.
 *
 * Law: each of the times below lies in its interval, if a wait was ended by what the graph connects it with. With all
 * work of all stages, sequential or not, but what others do that is sequential, too, they are n times the run, where
 * others do nothing while one does what is sequential.
 *
 * The *work* of a stage is what it does in regions of the chain's phase (phase.h), and may be what it does outside of
 * them then (in a program without marks it is all outside of operations). It does what it waits for others of its
 * process as well, surely if none of these ever is in an operation with other processes. All that but for what is
 * *sequential*: regions that only one thread is ever in, once. What else it does is *apart*: no stage is slow by that,
 * nor does the chain fill meanwhile. With the longest work W of all n stages, the least the run takes is W; so of the
 * stages' time, n times the run's,
 *
 *   uneven      the others have less: the sum of W - work
 *   sequential  n - 1 times what the thread does that has most of that (while it does others cannot begin), but for
 *               what these do meanwhile
 *   transfer    n times what the operations of the longest stage take besides waiting
 *   filling     n times what is left of the run, but for what is apart: before the longest stage has something to do,
 *               behind its last, and when it waits in between
 *
 * Stages whose work may be less than W by no more than 1/CHAIN_TIE of the run are *as long as any*: to shorten only one
 * of them buys no more than that. Transfer may then be that of each of them.
 *
 * What others do meanwhile is not lost, and whoever is at sequential work then has no less to do than they: so much
 * less is surely lost to that, or is uneven, and so much more of the run may be left for filling. */
#ifndef ANALYSIS_CHAIN_H
#define ANALYSIS_CHAIN_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/pattern.h"
#include "analysis/diagnose/phase.h"
#include "analysis/diagnose/steps.h"
#include "analysis/graph/graph_last.h"

#define CHAIN_TIE 50

struct stage {
	uint32_t thread, site;       /* where it works longest; TR_OUTSIDE */
	uint32_t number;             /* as it is marked, or from 1 on */
	bool long_as_any;
	frz_time work, sequential, transfer;
	frz_time surely;             /* of its work */
	frz_time waited_inside;      /* likewise: what it surely waits for others of its process; and ... */
	bool inside;                 /* ... that is all that it waits for them */
	frz_time apart;
	uint32_t sequential_site;    /* where most of that is, or TR_NO_SITE */
};

struct chain {
	struct stage *stages; size_t n;
	size_t longest, first;       /* stages: that with the longest work; that with most sequential work */
	size_t nlongest;             /* how many are as long as any, */
	bool surely_as_long;         /* and none of them may be shorter by much more than that */
	bool same;                   /* all work in the same region */
	uint32_t more;               /* where the longest has most more to do than others: what only one stage does is to
					others what only they do */
	bool mostly;                 /* half of what it has more to do is there, or more */
	frz_time uneven, sequential, transfer, filling;
	int64_t meanwhile, meanwhile_of_one; /* ticks, at most: work of all others while `first` does what is sequential; of the
						one with most */
};

/* `run`: for so long, and `windows`: of each thread only in there (steps.h), or NULL. */
void chain_open(struct chain *, const struct graph *, struct graph_last *, const struct pattern *, const struct phase *,
		const struct call_profile *, frz_time run, const struct steps_window *windows);
void chain_close(struct chain *);

/* What such a stage does there is told of: work of the phase, or what is sequential of the first. */
bool chain_tells_of(const struct chain *, const struct phase *, const struct call_profile *, uint32_t thread, uint32_t site);

void chain_tell(const struct facts *, const struct chain *, const struct phase *, struct expert *);

#endif

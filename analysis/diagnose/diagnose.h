/* SPDX-License-Identifier: MIT
 *
 * diagnose.h - what was slow in a run, why, and what to change: rules that are applied to what the analyses know.
 *
 * Law: what a finding cost lies in its interval. It is *proved* when its lower bound alone makes it a finding (it is at
 * least `least`), what the rule stands on besides is sure, the trace lacks nothing and nothing is wrong with it, and it
 * would be one whatever was not recorded (doubts.h).
 *
 * Where records are lost, nothing is found: rules, and what they count and compare, know only of what is there, and
 * whoever is lost may have done anything.
 *
 * The method is that of L. Li and A. D. Malony: Model-Based Performance Diagnosis of Master-Worker Parallel
 * Computations, Euro-Par 2006. What was measured becomes facts (facts.h), and knowledge of performance problems becomes
 * rules for CLIPS (expert.h, rules/), which go from symptoms to causes level by level. Each finding is a cause with
 * what it cost, and with what it would buy to do something about it, which coz is asked.
 *
 * A *model* says how the program works. The generic one fits any; others (pattern.h) fit only programs whose messages
 * look like that, or parts of a program (parts.h) that do. Each part is then diagnosed by its own model; and all of the
 * run by the generic one, if parts with a model are less than PARTS_ENOUGH percent of all threads' time.
 *
 * Memory: that of the graph; and of waits with delays, of the profile by call path and of coz, one after the other. */
#ifndef ANALYSIS_DIAGNOSE_H
#define ANALYSIS_DIAGNOSE_H

#include "analysis/base/options.h"
#include "analysis/calls/calls.h"
#include "analysis/coz/profile.h"
#include "analysis/diagnose/doubts.h"
#include "analysis/waits/waits.h"

struct diagnosis_finding {
	char *cause, *what, *suggestion;
	struct interval cost;        /* percent of all threads' time */
	double least;                /* from here on it is a finding */
	bool proved;
	size_t part;                 /* of which it is, from 1 on; 0: of the whole run */
	uint32_t site, thread;       /* where; TR_NO_SITE and UINT32_MAX: nowhere of its own */
	bool asked;                  /* what it would buy; half of the time there, or so much: */
	uint32_t ask_site, ask_thread, ask_percent; /* TR_ALL_WORK; UINT32_MAX: all threads */
	struct interval expected, bought; /* percent of the run */
};

struct diagnosis_line { size_t part; int level; double order; char *text; };

/* Some processes in some of the run, which have a model of their own. */
struct diagnosis_part {
	const char *model;           /* or NULL: none fits */
	char *who, *why;             /* "rank 0, rank 1 and 2 others"; why it fits, or what the messages look like */
	frz_time begins, length;     /* since the run's begin, and for so long */
};

/* Where time went that the model tells apart (facts.h, struct model_metric). */
struct diagnosis_metric {
	size_t part;
	uint32_t thread;
	const char *name;
	struct interval seconds, share, lost;
};

struct diagnosis {
	const char *unknown;         /* why nothing is said of causes, or NULL: all that follows, but for the span, is empty then */
	const char *model;           /* that was applied; with parts: SEVERAL_MODELS */
	struct diagnosis_part *parts; size_t nparts; /* or none */
	char *why;                   /* why that one, or why not the one that was asked for; or NULL */
	struct span span;
	size_t nthreads;             /* with events */
	struct diagnosis_finding *findings; size_t nfindings; /* the most expensive first */
	struct diagnosis_line *lines; size_t nlines; /* of the explanation, level by level */
	struct diagnosis_metric *metrics; size_t nmetrics;
	char *printed;               /* by rules */
	char **errors; size_t nerrors; /* of rules */
	bool if_work;                /* what changes would buy is proved only if unclassified time is work (profile.h) */
	struct graph_said said;      /* by the graph */
};

/* All clocks with threads must be on one time base, and nothing left out. False: rules cannot be used, and there are
 * only errors. */
bool diagnosis_open(struct diagnosis *, struct trace *, const struct times *, const struct diagnosis_doubts *,
		    const struct options *);
/* In steps, for whoever asks coz of the same graph in any case, so that one visit answers all: what is found; what coz
 * is to be asked about it, with how many questions, at most PROFILE_MORE; and the profile that was asked these. */
bool diagnosis_find(struct diagnosis *, struct graph *, const struct diagnosis_doubts *, const struct options *);
size_t diagnosis_asks(struct diagnosis *, const struct trace *, struct profile_more *);
void diagnosis_take(struct diagnosis *, const struct profile *);
void diagnosis_prove_nothing(struct diagnosis *); /* something is wrong with the trace */
/* Of what is there already: waits with delays. What the graph says stays with it, but for what coz adds. */
bool diagnosis_of_graph(struct diagnosis *, struct graph *, const struct waits *, const struct call_profile *,
			const struct diagnosis_doubts *, const struct options *);
void diagnosis_close(struct diagnosis *);

#define SEVERAL_MODELS "several"

/* Whether there is such a model; and the name of the i-th, or NULL. */
bool diagnosis_has_model(const char *name);
const char *diagnosis_model_name(size_t i);

#endif

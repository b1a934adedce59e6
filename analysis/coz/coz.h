/* SPDX-License-Identifier: MIT
 *
 * coz.h - what if a region took p percent less? For every region and many p at once.
 *
 * The events of all threads are visited in an order in which whatever an event waited for comes
 * before it (graph.h). Each thread carries its saving (savings.h):
 *
 *   program order   s(v) = s(u) + p * (time between u and v), if the region is on the stack and no
 *                   operation is, but for those around a region (graph.h); else s(u). The time between two stamps of one clock is
 *                   enclosed by the clock's rate, and never the difference of two enclosed times.
 *   node            s = min over inputs of (s(input) + slack), the slacks from times: of a collective,
 *                   (its latest input - the input), and what came after its latest input stays.
 *   the end         is a node of the last events of all threads: its saving is the run's.
 *
 * There are two answers, which are never mixed, and carried along side by side. The *proved* one takes of the
 * graph what is certain in every run, of every implementation that keeps to the standards; the *expected* one takes
 * all of it: what was waited for will be waited for again, in the same order.
 *
 * Law: if the links between clocks are true and the assumption about clocks holds, and transfers take what
 * transfer.h says and what is late what graph.h says, then the saving of the run in which every visit to the region (and
 * everything it encloses but operations) had taken p percent less, and nothing else had changed,
 * lies in the proved bounds, as long as less work makes nothing later, but for orders that it changes (orders.h: then the lower
 * bound may be below 0), and each thread is given the same work, but for what the graph says is given out; and in the expected ones
 * if waiting is as the expected graph says.
 *
 * Where something is missing (lost records, unmatched operations), the lower bound is what remains
 * when nothing was saved, the upper one p percent of all that went before.
 *
 * Memory: that of the graph, and a saving (16 bytes for each scenario) for each thread and for what
 * is under way between threads at one time. What the visit knows of nodes lies beside them in the graph's spill. */
#ifndef ANALYSIS_COZ_H
#define ANALYSIS_COZ_H

#include "analysis/coz/coz_rows.h"
#include "analysis/coz/savings.h"
#include "analysis/coz/transfer.h"
#include "analysis/graph/graph.h"

/* Whose time is in question: of all of them (COZ_ANY), or of those with this rank, or, of processes without one,
 * with this pid, and of their threads that with this number. */
#define COZ_ANY INT64_MIN
struct coz_location { int64_t rank, pid, thread; };
#define COZ_ALL ((struct coz_location){ COZ_ANY, COZ_ANY, COZ_ANY })
bool coz_is_all(struct coz_location);
bool coz_is_asked(const struct trace *, size_t thread, struct coz_location);

/* An event whose saving is wanted: added to sums, kept, or both. */
#define COZ_SUMS 4
struct coz_probe {
	struct graph_probe event;
	uint8_t sums;                /* 1 << number */
	bool keep;
};

/* Work without a site is in question as if there were two more sites: what unmarked processes do outside
 * of regions, and all work, that is this and any region. */
#define COZ_OUTSIDE(trace)  ((trace)->nsites)
#define COZ_ALL_WORK(trace) ((trace)->nsites + 1)
#define COZ_SITES(trace)    ((trace)->nsites + 2)

enum coz_answer { COZ_EXPECTED, COZ_PROVED, COZ_ANSWERS };

struct coz_question {
	const uint32_t *row_of_site; /* the region that each of COZ_SITES is in question as, or TR_NO_SITE */
	size_t nrows;
	const uint32_t *reductions;  /* millionths of a percent */
	size_t nreductions;
	struct coz_location who;
};

struct coz {
	struct graph *graph, own;  /* the latter, or one that was there */
	struct transfer transfer;
	struct span span;            /* of the run */
	const struct coz_probe *probes; size_t nprobes;
	bool asked;                  /* whatever is wrong or not known the graph has said */
	bool answered;
	bool orders_kept;            /* of some question there was too much to be decided again */
	const struct coz_question *questions; size_t nquestions; /* while they are asked; whose answers are: */
	struct coz_rows rows;
	struct savings all;          /* each in both answers */
	struct saving *end;          /* of the run */
	struct saving *sum[COZ_SUMS];
	struct saving **kept;        /* of each probe, or NULL */
};

/* Whether all that was recorded is on one time base, and no cause was left out; without that there is no
 * graph. */
bool coz_possible(const struct times *);

/* `worst`: nothing is assumed of transfer times. */
void coz_open(struct coz *, const struct trace *, const struct times *, bool worst,
	      const struct coz_probe *, size_t nprobes);
/* Without probes, in a graph that is there already and must last; what coz has to say it says, too. */
void coz_on_graph(struct coz *, struct graph *, bool worst);
void coz_close(struct coz *);

/* Questions that are asked at once cost little more than one, and each is answered as if it had been asked alone. Any
 * number of times; both answers are there until the next. */
void coz_ask(struct coz *, const struct coz_question *, size_t nquestions);

/* How much earlier the latest of some probes that were kept would be, and the earliest. */
struct saving *coz_latest(struct coz *, const size_t *probes, size_t count);
struct saving *coz_earliest(struct coz *, const size_t *probes, size_t count);

/* How much shorter the run would be, in ticks of the base; `region`: the rows of all questions, one after the other. */
struct savings_bounds coz_saving(const struct coz *, enum coz_answer, size_t region, size_t reduction);

#endif

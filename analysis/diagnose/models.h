/* SPDX-License-Identifier: MIT
 *
 * models.h - how a program may work: the models that a run, or a part of it, is diagnosed by, one row each of a table
 * (models.c).
 *
 * Law: what is particular to a model is in its row, and is asked for there alone. Whether one fits is sought once. */
#ifndef ANALYSIS_MODELS_H
#define ANALYSIS_MODELS_H

#include "analysis/diagnose/bsp.h"
#include "analysis/diagnose/chain.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/diagnose/master_worker.h"
#include "analysis/diagnose/part_facts.h"
#include "analysis/diagnose/parts.h"
#include "analysis/diagnose/pattern.h"
#include "analysis/diagnose/phase.h"
#include "analysis/diagnose/task_pool.h"

/* What is diagnosed, a run or a part of one, and what is at hand while the graph is. */
struct patient {
	struct diagnosis *d;
	const struct graph *graph;
	const struct waits *waits;
	const struct call_profile *calls;
	const struct diagnosis_doubts *doubts;
	struct graph_last *last;
	const struct part *part;     /* of which it is, or NULL: of the whole run */
	size_t number;               /* of the part, from 1 on; or 0 */
	const struct diagnosis_model *model;   /* or NULL: none fits */
	struct pattern pattern;
	struct phase phase;          /* of the messages, if they have a shape, when the model is known */
	bool *in_tree;               /* of each site, whether the tree's rules were told of it; or NULL */
	struct master_worker workers;
	struct chain chain;
	struct bsp bsp;
	struct task_pool pool;
	bool sought_pool, has_pool;
	struct neighbours neighbours;
	bool sought_neighbours, exchange; /* there are some */
	bool sought_supersteps, supersteps;
	char *no_supersteps;         /* why there are none; or NULL */
	struct facts facts;
	struct part_facts of_part;   /* if it is one that facts.h tells of */
};

struct diagnosis_model {
	const char *name;            /* and of its rules */
	char *(*why)(const struct patient *);           /* it fits; to be freed */
	const char *(*why_not)(const struct patient *); /* it does not */
	void (*tell)(struct patient *, struct expert *); /* besides what facts.h tells; or NULL: nothing */
	void (*find_threads)(const struct patient *, bool *threads); /* sets those of which it tells, */
	bool (*tells_of)(const struct patient *, uint32_t thread, uint32_t site); /* and whether of what such a one does
											in a region; NULL: always */
};

extern const struct diagnosis_model model_generic;  /* fits any program */
extern const struct diagnosis_model model_bsp;
extern const struct diagnosis_model model_several;  /* parts have models of their own; it has no rules */

/* NULL: there is none of that name. */
const struct diagnosis_model *model_named(const char *name);

/* The one that fits, or NULL. Another one may fit if that is `asked` for, or NULL. */
const struct diagnosis_model *model_fitting(struct patient *, const struct diagnosis_model *asked);

/* What comes together in supersteps may have messages of some shape as well. */
bool model_has_supersteps(struct patient *);

/* What was found of models, but for the pattern. */
void patient_close(struct patient *);

#endif

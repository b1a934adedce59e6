/* SPDX-License-Identifier: MIT
 *
 * trace_classify.c - what each site is: asked of its kind and its name once, when the trace is opened. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace.h"

static int by_kind_and_name(const void *x, const void *y, void *sites)
{
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct tr_site *a = (const struct tr_site *)sites + i, *b = (const struct tr_site *)sites + k;
	int order = a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
	return order ? order : ORDER(i, k);
}

static bool alike(const struct tr_site *a, const struct tr_site *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

void trace_classify(struct trace *t)
{
	uint32_t *sorted = mem_resize(NULL, t->nsites + 1, sizeof *sorted);
	for (uint32_t i = 0; i < t->nsites; i++)
		sorted[i] = i;
	struct operation op = { .is = 0 };
	uint32_t unplaced = 0;
	qsort_r(sorted, t->nsites, sizeof *sorted, by_kind_and_name, t->sites);
	for (size_t i = 0, first = 0; i < t->nsites; i++) {
		struct tr_site *site = &t->sites[sorted[i]];
		if (!alike(site, &t->sites[sorted[first]]))
			first = i;
		if (i == first) {
			op = operation_of(site->kind, site->name);
			unplaced = operation_unplaced(site->kind, site->name);
		}
		site->op = op;
		site->op.is |= site->line ? 0 : unplaced;
		site->alike = sorted[first];
	}
	free(sorted);
}

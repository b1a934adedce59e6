/* SPDX-License-Identifier: MIT
 *
 * tree.c - see tree.h. */
#include "analysis/diagnose/tree.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/diagnose/steps.h"

struct tree_row {
	uint64_t ticks, before, behind;
	uint64_t home;           /* of the ticks: in the tree's phase */
	bool root;               /* the only thread that is ever there divides first */
	uint32_t threads, last;
	uint64_t from, to;       /* stamps of that thread: of the first and last work there */
	int64_t meanwhile;       /* for how long others may have worked at anything between these, in all */
};

struct tree_finder {
	const struct graph *g;
	struct graph_last *last;
	const struct pattern *pattern;
	const struct phase *phase;
	const struct steps_window *windows;
	struct tree_row *rows;        /* of each region */
	uint32_t solve;          /* row */
	struct frz_cursor *cursors;
};

/* Calls `see` for each thread of the tree. */
static void each_thread(struct tree_finder *f, void (*see)(struct tree_finder *, uint32_t thread, const struct steps *))
{
	const struct trace *trace = f->g->trace;
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		bool in = false;
		for (size_t i = 0; i < f->pattern->n && !in; i++)
			in = f->pattern->order[i] == trace->threads[t].process && trace->threads[t].number == 0;
		if (!in)
			continue;
		struct steps steps;
		steps_open(&steps, f->g, f->last, t, f->pattern->role_of, f->windows);
		see(f, t, &steps);
		steps_close(&steps);
	}
}

static void add_rows(struct tree_finder *f, uint32_t thread, const struct steps *s)
{
	for (size_t i = 0; i < s->npieces; i++) {
		const struct step_piece *p = &s->pieces[i];
		if (p->site >= f->g->trace->nsites)
			continue;
		struct tree_row *row = &f->rows[p->site];
		row->from = row->threads == 0 ? p->from : row->from;
		row->to = p->to;
		row->threads += row->threads == 0 || row->last != thread;
		row->last = thread;
		row->ticks += p->to - p->from;
		row->home += phase_has(f->phase, thread, p) ? p->to - p->from : 0;
		row->root = row->threads == 1 && f->phase->threads[thread].sends_first;
	}
}

static void add_phases(struct tree_finder *f, uint32_t thread, const struct steps *s)
{
	bool solved = false;
	(void)thread;
	for (size_t i = 0; i < s->npieces; i++) {
		const struct step_piece *p = &s->pieces[i];
		solved |= p->site == f->solve;
		if (p->site < f->g->trace->nsites)
			*(solved ? &f->rows[p->site].behind : &f->rows[p->site].before) += p->to - p->from;
	}
}

static void add_meanwhile(struct tree_finder *f, uint32_t thread, const struct steps *s)
{
	for (uint32_t i = 0; i < f->g->trace->nsites; i++) {
		struct tree_row *row = &f->rows[i];
		struct step_stretch whole = { row->last, row->from, row->to };
		for (size_t k = 0; row->threads == 1 && row->last != thread && k < s->npieces; k++) {
			struct step_stretch piece = { thread, s->pieces[k].from, s->pieces[k].to };
			row->meanwhile = ticks_plus(row->meanwhile, steps_overlap(f->g, f->cursors, piece, whole));
		}
	}
}

/* What else threads do is not done to solve the problem. */
static bool is_in_tree(const struct tree_row *row)
{
	return row->threads && (row->root || row->home >= row->ticks / 2);
}

static int64_t apart_from(const struct tree_row *row)
{
	return row->root ? 0 : (int64_t)(row->ticks - row->home);
}

static uint32_t find_solve(const struct tree_finder *f)
{
	uint32_t found = TR_NO_SITE;
	for (uint32_t i = 0; i < f->g->trace->nsites; i++) {
		const struct tree_row *row = &f->rows[i], *best = found == TR_NO_SITE ? NULL : &f->rows[found];
		if (is_in_tree(row) &&
		    (!best || row->threads > best->threads || (row->threads == best->threads && row->ticks > best->ticks)))
			found = i;
	}
	return found;
}

void tree_tell(const struct facts *facts, const struct graph *g, struct graph_last *last, const struct pattern *pattern,
	       const struct phase *phase, const struct steps_window *windows, bool *told, struct expert *e)
{
	struct tree_finder f = { .g = g, .last = last, .pattern = pattern, .phase = phase, .windows = windows };
	f.rows = mem_zeroed(facts->trace->nsites + 1, sizeof *f.rows);
	each_thread(&f, add_rows);
	f.solve = find_solve(&f);
	if (f.solve != TR_NO_SITE) {
		each_thread(&f, add_phases);
		f.cursors = times_cursors(g->times);
		each_thread(&f, add_meanwhile);
	}
	for (uint32_t i = 0; i < facts->trace->nsites && f.solve != TR_NO_SITE; i++) {
		const struct tree_row *row = &f.rows[i];
		const char *is = i == f.solve ? "solve" : row->behind > row->before ? "combine" : "divide";
		told[i] = is_in_tree(row);
		if (told[i])
			EXPERT_FACT(e, "phase", EXPERT_COUNT("region", i), EXPERT_WORD("is", is),
				    EXPERT_RANGE("apart", facts_share(facts, (frz_time){ 0, apart_from(row) })),
				    EXPERT_RANGE("meanwhile", facts_share(facts, (frz_time){ 0, row->meanwhile })));
	}
	free(f.cursors);
	free(f.rows);
}

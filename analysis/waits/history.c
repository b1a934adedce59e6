/* SPDX-License-Identifier: MIT
 *
 * history.c - what threads did between their synchronisation points; see waits_private.h. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/waits/waits_private.h"

void history_open(struct history *h, const struct graph *g)
{
	*h = (struct history){ .graph = g };
	size_t nrows = waits_rows(g->trace);
	h->first = mem_resize(NULL, g->trace->nthreads + 1, sizeof *h->first);
	h->first[0] = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		h->first[t + 1] = h->first[t] + g->threads[t].nsyncs;
	h->begins = mem_resize(NULL, g->trace->nthreads + 1, sizeof *h->begins);
	h->upto = spill_zeros(g->spill, h->first[g->trace->nthreads], sizeof *h->upto);
	h->used = mem_resize(NULL, nrows, sizeof *h->used);
	h->rows = mem_zeroed(nrows, sizeof *h->rows);
}

void history_close(struct history *h)
{
	spill_free(h->graph->spill, h->pieces);
	spill_free(h->graph->spill, h->upto);
	free(h->first);
	free(h->begins);
	free(h->rows);
	free(h->used);
}

void history_begin_thread(struct history *h, uint32_t thread)
{
	h->begins[thread] = h->least = history_cut(h);
	h->nupto = h->first[thread];
}

/* Stretches that touch are one. */
void history_add(struct history *h, uint32_t row, uint64_t from, uint64_t to)
{
	struct history_row *r = &h->rows[row];
	if (!r->pieces)
		h->used[h->nused++] = row;
	r->pieces += r->pieces == 0 || row != h->last; /* even where both are in one tick */
	r->ticks += to - from;
	h->last = row;
}

static void add_piece(struct history *h, struct history_piece piece)
{
	*SPILL_GROW(h->graph->spill, h->pieces, h->n) = piece;
}

size_t history_cut(struct history *h)
{
	for (size_t i = 0; i < h->nused; i++) {
		struct history_row *r = &h->rows[h->used[i]];
		add_piece(h, (struct history_piece){ r->ticks, h->used[i], r->pieces });
		*r = (struct history_row){ 0 };
	}
	h->nused = 0;
	return h->n;
}

void history_point(struct history *h)
{
	h->upto[h->nupto++] = (uint32_t)history_cut(h);
}

void history_forget(struct history *h, size_t since, uint32_t row)
{
	history_cut(h);
	for (size_t i = since > h->least ? since : h->least; i < h->n; i++)
		if (h->pieces[i].pieces > 0 && h->pieces[i].row == row)
			h->pieces[i] = (struct history_piece){ 0, row, 1 };
}

void history_wait(struct history *h, size_t cut, uint32_t row, size_t wait)
{
	history_cut(h);
	h->n = cut > h->least ? cut : h->least;
	for (size_t i = h->nupto; i-- > 0 && h->upto[i] > h->n;)
		h->upto[i] = (uint32_t)h->n;
	add_piece(h, (struct history_piece){ wait, row, 0 });
	h->least = h->n;
}

/* SPDX-License-Identifier: MIT
 *
 * phase.c - see phase.h. */
#include "analysis/diagnose/phase.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

static size_t row_of(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites ? site : trace->nsites;
}

static bool is_message(const struct step *s)
{
	return s->is.kind == EVENT_SEND || s->is.kind == EVENT_RECEIVE || s->is.kind == EVENT_EXCHANGE;
}

static struct phase_thread core_of(const struct steps *s)
{
	struct phase_thread t = { .before = TR_NO_SITE, .behind = TR_NO_SITE };
	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->list[i];
		if (!is_message(step))
			continue;
		t.from = t.in ? t.from : step->is.from;
		t.sends_first = t.in ? t.sends_first : step->is.kind == EVENT_SEND;
		t.to = step->is.to;
		t.receives_last = step->is.kind == EVENT_RECEIVE;
		t.in = true;
	}
	return t;
}

static bool is_in_core(const struct phase_thread *t, const struct step_piece *p)
{
	return p->from >= t->from && p->from < t->to;
}

/* The last region before the core, or the first behind it. */
static void find_ends(const struct phase *p, const struct phase_thread *t, const struct steps *s, bool *home)
{
	size_t last = s->npieces, first = s->npieces;
	for (size_t i = 0; i < s->npieces; i++) {
		const struct step_piece *piece = &s->pieces[i];
		if (piece->site >= p->trace->nsites)
			continue;
		last = piece->from < t->from ? i : last;
		first = piece->from >= t->to && first == s->npieces ? i : first;
	}
	if (t->sends_first && last < s->npieces)
		home[s->pieces[last].site] = true;
	if (t->receives_last && first < s->npieces)
		home[s->pieces[first].site] = true;
}

/* The row with most ticks. */
static uint32_t longest(const struct trace *trace, const uint64_t *ticks)
{
	uint32_t found = TR_NO_SITE;
	uint64_t most = 0;
	for (uint32_t row = 0; row <= trace->nsites; row++)
		if (ticks[row] > most) {
			most = ticks[row];
			found = row < trace->nsites ? row : TR_OUTSIDE;
		}
	return found;
}

static bool *find_home(const struct phase *p, struct phase_thread *t, const struct steps *s)
{
	size_t n = p->trace->nsites + 1;
	uint64_t *before = mem_zeroed(3 * n, sizeof *before), *inside = before + n, *behind = inside + n;
	bool *home = mem_zeroed(n, sizeof *home);
	for (size_t i = 0; i < s->npieces; i++) {
		const struct step_piece *piece = &s->pieces[i];
		size_t row = row_of(p->trace, piece->site);
		*(is_in_core(t, piece) ? &inside[row] : piece->from < t->from ? &before[row] : &behind[row]) += piece->to - piece->from;
	}
	for (size_t row = 0; row < n; row++)
		home[row] = inside[row] > 0 && inside[row] >= before[row] + behind[row];
	find_ends(p, t, s, home);
	t->before = longest(p->trace, before);
	t->behind = longest(p->trace, behind);
	free(before);
	return home;
}

void phase_open(struct phase *p, const struct graph *g, struct graph_last *last, const bool *threads,
		const enum event_role *role_of, const struct steps_window *windows)
{
	size_t n = g->trace->nthreads + 1;
	*p = (struct phase){ g->trace, mem_zeroed(n, sizeof *p->threads), mem_zeroed(n, sizeof *p->home) };
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		struct steps s;
		if (!threads[t] || !g->threads[t].nevents)
			continue;
		steps_open(&s, g, last, t, role_of, windows);
		p->threads[t] = core_of(&s);
		if (p->threads[t].in)
			p->home[t] = find_home(p, &p->threads[t], &s);
		steps_close(&s);
	}
}

void phase_close(struct phase *p)
{
	for (size_t t = 0; p->threads && t < p->trace->nthreads; t++)
		free(p->home[t]);
	free(p->home);
	free(p->threads);
}

bool phase_at_home(const struct phase *p, uint32_t thread, uint32_t site)
{
	return !p->threads[thread].in || p->home[thread][row_of(p->trace, site)];
}

bool phase_in_core(const struct phase *p, uint32_t thread, const struct step_piece *piece)
{
	return !p->threads[thread].in || is_in_core(&p->threads[thread], piece);
}

bool phase_has(const struct phase *p, uint32_t thread, const struct step_piece *piece)
{
	const struct phase_thread *t = &p->threads[thread];
	if (phase_in_core(p, thread, piece))
		return true;
	return (piece->from >= t->to || t->sends_first) && phase_at_home(p, thread, piece->site);
}

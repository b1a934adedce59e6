/* SPDX-License-Identifier: MIT
 *
 * trace_jumps.c - see trace_jumps.h. Almost every thread has none, and then keeps nothing. */
#include "analysis/trace/trace_jumps.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"

void jumps_begin(struct jumps_scan *j, const struct trace *trace, struct tr_thread *thread)
{
	*j = (struct jumps_scan){ .trace = trace, .thread = thread };
	j->found.switched_in = TR_NO_SITE;
	j->found.odd = UINT64_MAX;
	replay_open(&j->open, trace->nsites);
}

static void jumped(struct jumps_scan *j, const struct replay_entry *entry)
{
	*MEM_GROW(j->found.event, j->found.n) = entry->record;
	*MEM_GROW(j->found.sites, j->found.nsites) = (struct tr_jumped_site){ entry->site, entry->record };
}

/* Records end here, or are lost. */
static void end_of_records(struct jumps_scan *j)
{
	for (size_t closed = replay_lose(&j->open); closed > 0; closed--)
		*MEM_GROW(j->last, j->nlast) = j->open.entry[closed - 1];
}

void jumps_leave(struct jumps_scan *j, uint32_t site)
{
	size_t closed = replay_exit(&j->open, site);
	j->found.tangled |= !closed && !j->lost;
	if (j->found.odd == UINT64_MAX)
		j->found.odd = j->stamp;
	for (; closed > 1; closed--)
		jumped(j, &j->open.entry[j->open.depth + closed - 1]);
}

void jumps_lose(struct jumps_scan *j)
{
	end_of_records(j);
	j->lost = true;
}

/* A point whose site is missing may be one, in a thread that told of a jump. */
bool jumps_may_switch(const struct jumps_scan *j, uint32_t site)
{
	uint64_t jump = j->thread->may_jump;
	return site < j->trace->nsites ? j->trace->sites[site].op.switches : jump && jump != UINT64_MAX;
}

void jumps_switch(struct jumps_scan *j)
{
	const struct replay_entry *top = replay_top(&j->open);
	j->switched = true;
	j->found.tangled |= top || j->lost;
	if (top && j->found.switched_in == TR_NO_SITE)
		j->found.switched_in = top->site;
}

static int by_site(const void *x, const void *y)
{
	const struct tr_jumped_site *a = x, *b = y;
	return ORDER_2(a, b, site, first);
}

/* Keeps the first of each site. */
static void sort(struct tr_jumps *found)
{
	size_t n = 0;
	if (!found->n)
		return;
	qsort(found->event, found->n, sizeof *found->event, order_uint64);
	qsort(found->sites, found->nsites, sizeof *found->sites, by_site);
	for (size_t i = 0; i < found->nsites; i++)
		if (n == 0 || found->sites[n - 1].site != found->sites[i].site)
			found->sites[n++] = found->sites[i];
	found->nsites = n;
}

/* A process that ends in good order ends the regions that its threads are in, where they are in no operation: of
 * that it is unknown how it went on. What a thread recorded when its process had said that it ends, and still packed what
 * was recorded, say, it did until its own last event. */
static void find_open(struct jumps_scan *j, size_t before)
{
	struct tr_thread *t = j->thread;
	const struct tr_process *p = &j->trace->processes[t->process];
	bool beyond = p->finished && p->ended && j->stamp >= p->ended;
	bool known = t->complete && t->ran_on && !t->lost && !j->found.tangled && j->nlast > before &&
		     (t->ended > j->stamp || beyond);
	for (size_t i = before; i < j->nlast; i++)
		known &= tr_is(j->trace, j->last[i].site, OP_REGION);
	if (known && beyond)
		t->ended = j->stamp;
	for (size_t i = before; known && i < j->nlast; i++)
		*MEM_GROW(t->open, t->nopen) = j->last[i].site;
}

void jumps_end(struct jumps_scan *j, bool lasts)
{
	size_t before = j->nlast;
	free(j->thread->open);
	j->thread->open = NULL;
	j->thread->nopen = 0;
	end_of_records(j);
	j->thread->switches = j->switched;
	if (lasts)
		find_open(j, before);
	replay_close(&j->open);
	for (size_t i = 0; i < j->nlast && !lasts; i++)
		jumped(j, &j->last[i]);
	free(j->last);
	if (!j->found.n && !j->found.tangled)
		return;
	sort(&j->found);
	j->thread->jumps = mem_resize(NULL, 1, sizeof *j->thread->jumps);
	*j->thread->jumps = j->found;
}

void jumps_close(struct tr_jumps *jumps)
{
	if (!jumps)
		return;
	free(jumps->event);
	free(jumps->sites);
	free(jumps);
}

static int site_of(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = ((const struct tr_jumped_site *)y)->site;
	return ORDER(a, b);
}

void jumps_mark(const struct tr_jumps *jumps, size_t number, struct tr_event *e)
{
	const struct tr_jumped_site *first =
		jumps->n ? bsearch(&e->site, jumps->sites, jumps->nsites, sizeof *jumps->sites, site_of) : NULL;
	e->unsure = e->op == DPROF_ENTER && first && first->first <= number;
	e->jumped = e->unsure && bsearch(&number, jumps->event, jumps->n, sizeof number, order_uint64);
}

bool jumps_explain(const struct trace *trace, const struct tr_thread *t, uint32_t site, uint64_t stamp, bool outermost)
{
	bool automatic = site < trace->nsites && trace->sites[site].automatic;
	bool by_process = t->ran_on && automatic && t->blocks && t->blocks->last == stamp;
	bool by_end = t->complete && (by_process || (outermost && !t->ran_on && t->may_jump != 0));
	return by_end || (t->may_jump && t->may_jump <= stamp); /* 0: it would not have been noticed */
}

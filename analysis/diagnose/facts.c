/* SPDX-License-Identifier: MIT
 *
 * facts.c - see facts.h. */
#include "analysis/diagnose/facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/names.h"

struct facts facts_of(const struct graph *g, const struct waits *waits, const struct call_profile *calls,
		      const struct diagnosis_doubts *doubts)
{
	uint32_t time_base = g->times->time_base[g->trace->threads[0].clock];
	int64_t n = (int64_t)calls->nthreads;
	frz_time span = calls->span.length, all = { 0, INT64_MAX };
	if (__builtin_mul_overflow(span.lo, n, &all.lo) || __builtin_mul_overflow(span.hi, n, &all.hi))
		all = (frz_time){ span.lo, INT64_MAX };
	return (struct facts){ g->trace, g->times, waits, calls, doubts, times_seconds(g->times, time_base, span).lo, all };
}

struct interval facts_share(const struct facts *f, frz_time part)
{
	return interval_percent(part, f->all);
}

#define FILE_ROOM 48 /* with a line's number on one line of what is said */

/* "app.c:12", or the name where no place is known, or of what has no site; to be freed. */
static char *place_of(const struct trace *trace, uint32_t site)
{
	if (site >= trace->nsites || !trace->sites[site].line)
		return site < trace->nsites ? site_place(trace, site) : mem_copy(site == TR_NO_SITE ? PLACE_NOT_KNOWN : OUTSIDE_REGIONS);
	const char *file = trace->sites[site].file, *slash = strrchr(file, '/');
	return mem_format("%s:%u", name_within(slash ? slash + 1 : file, FILE_ROOM).text, trace->sites[site].line);
}

struct location_name facts_location(const struct trace *trace, uint32_t thread)
{
	bool several = false;
	if (thread == UINT32_MAX)
		return (struct location_name){ "all" };
	for (size_t t = 0; t < trace->nthreads && !several; t++)
		several = trace->threads[t].number > 0;
	return several ? thread_name(trace, thread) : rank_name(trace, thread);
}

int64_t facts_thread(uint32_t thread)
{
	return thread == UINT32_MAX ? -1 : (int64_t)thread;
}

/* For texts of rules, which are lines of 80 columns. */
#define NAME_ROOM 40
struct site_name facts_name(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites ? region_name_within(trace, site, NAME_ROOM)
				    : site_name_said(trace, site == TR_NO_SITE ? site : TR_OUTSIDE, NAME_ROOM);
}

int64_t facts_site(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites ? (int64_t)site : -1;
}

struct model_metric facts_metric(const struct facts *f, uint32_t thread, const char *name, frz_time ticks, frz_time life,
			   frz_time work)
{
	struct interval share = thread == UINT32_MAX ? facts_share(f, ticks) : interval_percent(ticks, life);
	return (struct model_metric){ thread, name, ticks, share, interval_percent(ticks, time_less(life, work)) };
}

/* What may have been waiting without a cause in the trace is no transfer for sure. */
static frz_time transfer_of(const struct call_sums *s)
{
	return (frz_time){ s->transfer.lo > s->uncaused ? s->transfer.lo - s->uncaused : 0, s->transfer.hi };
}

static frz_time waited_of(const struct call_sums *s)
{
	return (frz_time){ s->waited.lo, ticks_plus(s->waited.hi, s->uncaused) };
}

/* ---- What was not recorded ------------------------------------------------------------------- */

static int64_t hidden_of(const struct facts *f, uint32_t thread)
{
	return blocked_ticks(f->doubts->blocked[thread].hidden_s.hi, &f->calls->span, f->run_s);
}

/* -> of each thread, how long at most it was in no operation, in regions or outside of them; to be freed. */
static int64_t *own_times(const struct facts *f)
{
	int64_t *own = mem_resize(NULL, f->trace->nthreads + 1, sizeof *own);
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		struct ends ends = times_ends(&f->trace->threads[t]);
		own[t] = ends.first < ends.last ? times_of_thread(f->times, t, ends.first, ends.last).hi : 0;
	}
	for (size_t i = 0; i < f->calls->neach; i++) {
		const struct call_each *each = &f->calls->each[i];
		if (tr_is(f->trace, each->site, OP_OTHERS))
			own[each->thread] = ticks_minus(own[each->thread], each->sums.exclusive.lo);
	}
	return own;
}

/* Ticks for which all threads may have been blocked where they seem to have worked; `surely`: only those that surely were. */
static int64_t blocked_sum(const struct facts *f, bool surely)
{
	int64_t sum = 0, *own = own_times(f);
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		int64_t most = surely && !f->doubts->surely[t] ? 0 : blocked_ticks(f->doubts->most_s[t], &f->calls->span, f->run_s);
		most = most < own[t] ? most : own[t];
		sum = ticks_plus(sum, most > 0 ? most : 0);
	}
	free(own);
	return sum;
}

static int64_t hidden_sum(const struct facts *f)
{
	int64_t sum = 0;
	for (uint32_t t = 0; t < f->trace->nthreads; t++)
		sum = ticks_plus(sum, hidden_of(f, t));
	return sum;
}

/* It may have been so much less, and so much more, of at most `all`. */
static frz_time less_or_more(frz_time x, int64_t less, int64_t more, int64_t all)
{
	int64_t lo = ticks_minus(x.lo, less), hi = ticks_plus(x.hi, more), most = all > x.hi ? all : x.hi;
	return (frz_time){ lo > 0 ? lo : 0, hi < most ? hi : most };
}

/* ---- Regions and operations ------------------------------------------------------------------ */

/* In a region, or on all of a call path: what no operation took. */
static frz_time worked(const struct call_sums *s)
{
	int64_t operations_lo = ticks_plus(s->waited.lo, s->transfer.lo), operations_hi = ticks_plus(s->waited.hi, s->transfer.hi);
	return (frz_time){ s->inclusive.lo > operations_hi ? s->inclusive.lo - operations_hi : 0,
			   s->inclusive.hi > operations_lo ? s->inclusive.hi - operations_lo : 0 };
}

/* Of one thread, which surely may have been blocked there, or may have worked in operations. */
static frz_time worked_by(const struct facts *f, const struct call_each *each)
{
	double blocked_s = f->doubts->surely[each->thread] ? f->doubts->most_s[each->thread] : 0;
	return less_or_more(worked(&each->sums), blocked_ticks(blocked_s, &f->calls->span, f->run_s), hidden_of(f, each->thread),
			    each->sums.inclusive.hi);
}

/* How long threads worked in a region and what it encloses, and who longest. */
struct spread {
	int64_t nthreads, visits;
	frz_time all, most;
	uint32_t longest;
	frz_time of_longest;
};

/* `from` is the first of the site's. */
static struct spread spread_of(const struct facts *f, size_t from)
{
	const struct call_profile *p = f->calls;
	struct spread s = { .nthreads = 0 };
	for (size_t i = from; i < p->neach && p->each[i].site == p->each[from].site; i++) {
		frz_time work = worked_by(f, &p->each[i]);
		bool longest = s.nthreads++ == 0 || time_exceeds(work, s.of_longest);
		s.longest = longest ? p->each[i].thread : s.longest;
		s.of_longest = longest ? work : s.of_longest;
		s.visits += (int64_t)p->each[i].sums.visits;
		s.all = time_add(s.all, work);
		s.most = time_most(s.most, work);
	}
	return s;
}

static void tell_region(const struct facts *f, struct expert *e, size_t from)
{
	const struct trace *trace = f->trace;
	uint32_t site = f->calls->each[from].site;
	struct spread s = spread_of(f, from);
	char *at = place_of(trace, site);
	frz_time mean = { s.all.lo / s.nthreads, s.all.hi / s.nthreads + 1 };
	EXPERT_FACT(e, "region", EXPERT_COUNT("id", site), EXPERT_TEXT("name", facts_name(trace, site).text),
		    EXPERT_TEXT("at", at),
		    EXPERT_COUNT("threads", s.nthreads), EXPERT_COUNT("visits", s.visits),
		    EXPERT_RANGE("work", facts_share(f, s.all)),
		    EXPERT_COUNT("longest", s.longest),
		    EXPERT_TEXT("longest-name", facts_location(trace, s.longest).text),
		    EXPERT_RANGE("most", interval_percent(s.most, f->calls->span.length)),
		    EXPERT_RANGE("mean", interval_percent(mean, f->calls->span.length)));
	free(at);
}

static void tell_operation(const struct facts *f, struct expert *e, const struct call_flat *flat)
{
	const struct trace *trace = f->trace;
	const struct call_sums *all = &flat->spread.all;
	int64_t hidden = hidden_sum(f);
	char *at = place_of(trace, flat->site);
	EXPERT_FACT(e, "operation", EXPERT_COUNT("id", flat->site),
		    EXPERT_TEXT("name", facts_name(trace, flat->site).text),
		    EXPERT_TEXT("at", at), EXPERT_COUNT("visits", (int64_t)all->visits), EXPERT_COUNT("bytes", (int64_t)all->bytes),
		    EXPERT_WORD("due", trace->sites[flat->site].op.due ? "yes" : "no"),
		    EXPERT_RANGE("waiting", facts_share(f, less_or_more(waited_of(all), hidden, 0, 0))),
		    EXPERT_RANGE("transfer", facts_share(f, less_or_more(transfer_of(all), hidden, 0, 0))));
	free(at);
}

/* Regions and operations beside those that took most are told if `wanted`. */
static void tell_places(const struct facts *f, struct expert *e, const bool *wanted)
{
	const struct call_profile *p = f->calls;
	size_t regions = 0, operations = 0;
	for (size_t i = 0; i < p->nflat; i++) {
		uint32_t site = p->flat[i].site;
		if (tr_is(f->trace, site, OP_OTHERS) && (operations++ < FACTS_MOST || wanted[site]))
			tell_operation(f, e, &p->flat[i]);
		if (!tr_is(f->trace, site, OP_REGION) || (regions++ >= FACTS_MOST && !wanted[site]))
			continue;
		size_t from = 0;
		while (p->each[from].site != site)
			from++;
		tell_region(f, e, from);
	}
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* What came of one region of whatever threads. */
struct facts_blame {
	uint32_t site;
	frz_time ticks;
	uint32_t thread;     /* that has most of it */
	frz_time of_thread;
	const struct wait_sum *mostly; /* the longest wait of it that has one cause, or NULL */
};

struct blames { struct facts_blame *list; size_t n; };

static struct facts_blame *blame_of(struct blames *b, uint32_t site)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->list[i].site == site)
			return &b->list[i];
	struct facts_blame *another = MEM_GROW(b->list, b->n);
	*another = (struct facts_blame){ .site = site };
	return another;
}

static void add_blame(struct facts_blame *b, uint32_t thread, frz_time ticks)
{
	b->ticks = time_add(b->ticks, ticks);
	if (time_exceeds(ticks, b->of_thread)) {
		b->thread = thread;
		b->of_thread = ticks;
	}
}

static int by_ticks(const void *a, const void *b)
{
	const struct facts_blame *x = a, *y = b;
	if (time_exceeds(x->ticks, y->ticks) || time_exceeds(y->ticks, x->ticks))
		return time_exceeds(x->ticks, y->ticks) ? -1 : 1;
	return ORDER(x->site, y->site);
}

static int64_t of_all_others(const struct facts *f, int64_t ticks)
{
	int64_t all;
	return __builtin_mul_overflow(ticks, (int64_t)f->calls->nthreads - 1, &all) ? INT64_MAX : all;
}

/* Of each thread, in ticks, what others waited since it was there for longer, and at most what it waited itself since
 * others were there for longer: that is no more than all its waiting, nor than all that goes back to those, whoever it
 * was for whom it waited. */
struct waiting_there { frz_time for_it; int64_t own; };

/* To be freed. */
static struct waiting_there *waiting_there_of(const struct facts *f, uint32_t site)
{
	struct waiting_there *of = mem_zeroed(f->trace->nthreads + 1, sizeof *of);
	int64_t all = 0;
	for (size_t i = 0; i < f->waits->ndelays; i++) {
		const struct wait_delay *d = &f->waits->delays[i];
		if (d->site != site)
			continue;
		of[d->thread].for_it = time_add(of[d->thread].for_it, d->ticks);
		all = ticks_plus(all, d->ticks.hi);
	}
	for (size_t i = 0; i < f->waits->nplaces; i++)
		of[f->waits->places[i].thread].own = ticks_plus(of[f->waits->places[i].thread].own, f->waits->places[i].ticks.hi);
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		int64_t others = ticks_minus(all, of[t].for_it.hi);
		of[t].own = of[t].own < others ? of[t].own : others;
	}
	return of;
}

/* For how long a thread works, `own`, beyond the mean of `n` others, which work `others` in all, for each other thread of
 * the run. */
static frz_time beyond_mean(const struct facts *f, frz_time own, frz_time others, int64_t n)
{
	frz_time mean = n ? (frz_time){ others.lo / n, others.hi / n + 1 } : (frz_time){ 0, 0 };
	return (frz_time){ of_all_others(f, own.lo > mean.hi ? own.lo - mean.hi : 0),
			   of_all_others(f, own.hi > mean.lo ? own.hi - mean.lo : 0) };
}

/* For how long threads work there, and in what that encloses, beyond the mean of all others that do, for each other
 * thread of the run: had one been no longer than they, those would have waited less by so much at most. Nor by more
 * than they waited for it there; and if it waits for them, too, as where threads take turns in being the last, it is
 * surely no longer than they by what each of them may be longer then. Outside of regions that is not known. */
struct excess {
	frz_time all, of_thread; /* of all threads, and of the one whose share of the blame is the greatest */
	frz_time most; uint32_t thread; /* and the greatest of one, and whose that is */
};

static struct excess excess_of(const struct facts *f, const struct facts_blame *b)
{
	const struct call_each *each = f->calls->each;
	frz_time all = { 0, 0 };
	struct excess sum = { .thread = b->thread };
	int64_t n = 0;
	if (b->site >= f->trace->nsites)
		return (struct excess){ { 0, INT64_MAX }, { 0, INT64_MAX }, { 0, INT64_MAX }, b->thread };
	struct waiting_there *waiting = waiting_there_of(f, b->site);
	for (size_t i = 0; i < f->calls->neach; i++) {
		all = each[i].site == b->site ? time_add(all, worked_by(f, &each[i])) : all;
		n += each[i].site == b->site;
	}
	for (size_t i = 0; i < f->calls->neach; i++) {
		const struct waiting_there *there = &waiting[each[i].thread];
		if (each[i].site != b->site || there->for_it.hi <= 0)
			continue;
		frz_time own = worked_by(f, &each[i]), others = { ticks_minus(all.lo, own.lo), ticks_minus(all.hi, own.hi) };
		frz_time waited = time_less(there->for_it, (frz_time){ 0, of_all_others(f, there->own) });
		frz_time excess = time_least(beyond_mean(f, own, others, n - 1), waited);
		sum.all = time_add(sum.all, excess);
		sum.of_thread = each[i].thread == b->thread ? excess : sum.of_thread;
		if (!time_exceeds(excess, sum.most))
			continue;
		sum.most = excess;
		sum.thread = each[i].thread;
	}
	free(waiting);
	return sum;
}

/* For how long at most a thread was in no region, and in no operation in which others take part. */
static int64_t outside_of(const struct facts *f, uint32_t thread)
{
	struct ends ends = times_ends(&f->trace->threads[thread]);
	int64_t outside = ends.first < ends.last ? times_of_thread(f->times, thread, ends.first, ends.last).hi : 0;
	for (size_t i = 0; i < f->calls->neach; i++) {
		const struct call_each *each = &f->calls->each[i];
		if (each->thread == thread && tr_is(f->trace, each->site, OP_REGION | OP_OTHERS))
			outside = ticks_minus(outside, each->sums.exclusive.lo);
	}
	return outside;
}

/* The file input or output, or sleep, that surely took half of that or more, TR_NO_SITE if none did. It is looked for among
 * those in which no thread was for longer. */
static uint32_t mostly_outside(const struct facts *f, uint32_t thread)
{
	int64_t outside = outside_of(f, thread);
	for (size_t i = 0; i < f->calls->nnodes; i++) {
		const struct call_node *node = &f->calls->nodes[i];
		if (node->depth == 1 && tr_is(f->trace, node->site, OP_OWN) && node->spread.longest == thread &&
		    node->spread.most.lo >= outside / 2 && outside > 0)
			return node->site;
	}
	return TR_NO_SITE;
}

static void tell_blame(const struct facts *f, struct expert *e, const char *template, const struct facts_blame *b)
{
	uint32_t mostly = b->site < f->trace->nsites ? TR_NO_SITE : mostly_outside(f, b->thread);
	bool marked = f->trace->processes[f->trace->threads[b->thread].process].marked;
	char *mostly_at = mostly == TR_NO_SITE ? mem_copy("") : place_of(f->trace, mostly);
	char *at = place_of(f->trace, b->site);
	char *waits_at = b->mostly ? place_of(f->trace, b->mostly->site) : mem_copy("");
	struct excess excess = excess_of(f, b);
	EXPERT_FACT(e, template, EXPERT_COUNT("region", facts_site(f->trace, b->site)),
		    EXPERT_TEXT("name", facts_name(f->trace, b->site).text), EXPERT_TEXT("at", at),
		    EXPERT_WORD("operation", tr_is(f->trace, b->site, OP_OTHERS) ? "yes" : "no"),
		    EXPERT_COUNT("thread", b->thread), EXPERT_TEXT("thread-name", facts_location(f->trace, b->thread).text),
		    EXPERT_WORD("outside", marked ? "unknown" : "work"),
		    EXPERT_TEXT("mostly-in", mostly == TR_NO_SITE ? "" : facts_name(f->trace, mostly).text),
		    EXPERT_TEXT("mostly-at", mostly_at),
		    EXPERT_WORD("kind", b->mostly ? wait_kind_key(b->mostly->kind) : "none"),
		    EXPERT_TEXT("waits-in", b->mostly ? facts_name(f->trace, b->mostly->site).text : ""),
		    EXPERT_TEXT("waits-at", waits_at), EXPERT_RANGE("cost", facts_share(f, b->ticks)),
		    EXPERT_RANGE("of-thread", facts_share(f, b->of_thread)), EXPERT_RANGE("excess", facts_share(f, excess.all)),
		    EXPERT_COUNT("longest", excess.thread), EXPERT_TEXT("longest-name", facts_location(f->trace, excess.thread).text),
		    EXPERT_RANGE("longer", facts_share(f, excess.of_thread)));
	free(waits_at);
	free(mostly_at);
	free(at);
}

/* The greatest of them. */
static void tell_blames(const struct facts *f, struct expert *e, const char *template, const struct blames *b)
{
	for (size_t i = 0; i < b->n && i < FACTS_MOST; i++)
		tell_blame(f, e, template, &b->list[i]);
}

/* Rules ask about the regions and operations of those that are told. */
static void want_places(const struct facts *f, const struct blames *b, bool *wanted)
{
	for (size_t i = 0; i < b->n && i < FACTS_MOST; i++)
		if (b->list[i].site < f->trace->nsites)
			wanted[b->list[i].site] = true;
}

static void sort_blames(struct blames *b)
{
	if (b->n)
		qsort(b->list, b->n, sizeof *b->list, by_ticks);
}

static struct blames delays_of(const struct facts *f)
{
	struct blames b = { NULL, 0 };
	for (size_t i = 0; i < f->waits->ndelays; i++) {
		const struct wait_delay *d = &f->waits->delays[i];
		if (d->site != TR_NO_SITE) /* that says nothing */
			add_blame(blame_of(&b, d->site), d->thread, d->ticks);
	}
	for (size_t i = 0; i < f->waits->ncauses; i++) /* the longest first */
		for (size_t k = 0; k < b.n; k++)
			if (b.list[k].site == f->waits->causes[i].did && !b.list[k].mostly)
				b.list[k].mostly = &f->waits->causes[i];
	sort_blames(&b);
	return b;
}

static bool is_lock(const struct wait_sum *s)
{
	return s->kind == WAIT_LOCK;
}

static struct blames contention_of(const struct facts *f)
{
	struct blames list = { NULL, 0 };
	for (size_t i = 0; i < f->waits->ncauses; i++) {
		const struct wait_sum *s = &f->waits->causes[i];
		if (!is_lock(s))
			continue;
		struct facts_blame *b = blame_of(&list, s->did);
		add_blame(b, s->for_thread, s->ticks);
		b->mostly = b->mostly ? b->mostly : s;
	}
	sort_blames(&list);
	return list;
}

/* ---- What is little by itself ---------------------------------------------------------------- */

static bool is_little(const struct facts *f, frz_time ticks)
{
	return facts_share(f, ticks).hi < FACTS_LITTLE;
}

/* How long threads worked there, and how many. */
struct works { frz_time all; size_t threads; };

/* -> of each site; to be freed. */
static struct works *works_of(const struct facts *f)
{
	struct works *of = mem_zeroed(f->trace->nsites + 1, sizeof *of);
	for (size_t i = 0; i < f->calls->neach; i++) {
		const struct call_each *each = &f->calls->each[i];
		if (!tr_is(f->trace, each->site, OP_REGION))
			continue;
		of[each->site].all = time_add(of[each->site].all, worked_by(f, each));
		of[each->site].threads++;
	}
	return of;
}

/* Of what goes back to what one does alone no other thread surely waits for longer than that takes, though delays, which
 * are shared out by how long each place was, may say so: of who begins late, say. */
static frz_time can_have_cost(const struct facts *f, const struct facts_blame *b, const struct works *works)
{
	if (b->site >= f->trace->nsites || works[b->site].threads != 1)
		return b->ticks;
	int64_t most = of_all_others(f, works[b->site].all.lo);
	return (frz_time){ b->ticks.lo < most ? b->ticks.lo : most, b->ticks.hi };
}

static void tell_little(const struct facts *f, struct expert *e, const char *of, const struct blames *b)
{
	struct blames threads = { NULL, 0 };
	frz_time all = { 0, 0 }, alone = { 0, 0 };
	int64_t places = 0;
	struct works *works = works_of(f);
	for (size_t i = 0; i < b->n; i++) {
		const struct facts_blame *x = &b->list[i];
		if (!is_little(f, x->ticks))
			continue;
		frz_time cost = can_have_cost(f, x, works);
		places++;
		all = time_add(all, cost);
		if (x->site < f->trace->nsites && works[x->site].threads == 1)
			alone = time_add(alone, cost);
		add_blame(blame_of(&threads, x->thread), x->thread, x->of_thread);
	}
	sort_blames(&threads);
	if (places)
		EXPERT_FACT(e, "little", EXPERT_WORD("of", of), EXPERT_COUNT("places", places),
			    EXPERT_RANGE("alone", facts_share(f, alone)),
			    EXPERT_COUNT("thread", threads.list[0].thread),
			    EXPERT_TEXT("thread-name", facts_location(f->trace, threads.list[0].thread).text),
			    EXPERT_RANGE("of-thread", facts_share(f, threads.list[0].ticks)),
			    EXPERT_RANGE("cost", facts_share(f, all)));
	free(threads.list);
	free(works);
}

static void tell_little_operations(const struct facts *f, struct expert *e)
{
	int64_t places = 0, visits = 0, bytes = 0, hidden = hidden_sum(f);
	frz_time all = { 0, 0 };
	for (size_t i = 0; i < f->calls->nflat; i++) {
		const struct call_sums *sums = &f->calls->flat[i].spread.all;
		frz_time transfer = less_or_more(transfer_of(sums), hidden, 0, 0);
		if (!tr_is(f->trace, f->calls->flat[i].site, OP_OTHERS) || !is_little(f, transfer))
			continue;
		places++;
		visits = ticks_plus(visits, (int64_t)sums->visits);
		bytes = ticks_plus(bytes, (int64_t)sums->bytes);
		all = time_add(all, transfer);
	}
	if (places)
		EXPERT_FACT(e, "little-operations", EXPERT_COUNT("places", places), EXPERT_COUNT("visits", visits),
			    EXPERT_COUNT("bytes", bytes), EXPERT_RANGE("transfer", facts_share(f, all)));
}

/* ---- All of it ------------------------------------------------------------------------------- */

frz_time facts_locks(const struct facts *f)
{
	frz_time locks = { 0, 0 };
	for (size_t i = 0; i < f->waits->nplaces; i++)
		if (is_lock(&f->waits->places[i]))
			locks = time_add(locks, f->waits->places[i].ticks);
	return locks;
}

static frz_time joins_of(const struct facts *f)
{
	frz_time joins = { 0, 0 };
	for (size_t i = 0; i < f->waits->nplaces; i++)
		if (f->waits->places[i].kind == WAIT_JOIN)
			joins = time_add(joins, f->waits->places[i].ticks);
	return joins;
}

static void tell_run(const struct facts *f, struct expert *e)
{
	const struct call_profile *p = f->calls;
	const struct call_sums *all = &p->nodes[0].spread.all; /* the whole of all threads */
	frz_time locks = facts_locks(f), joins = joins_of(f);
	int64_t blocked = blocked_sum(f, false), surely = blocked_sum(f, true), hidden = hidden_sum(f), most = f->all.hi;
	uint32_t time_base = f->times->time_base[f->trace->threads[0].clock];
	EXPERT_FACT(e, "run", EXPERT_COUNT("threads", (int64_t)p->nthreads), EXPERT_COUNT("processes", (int64_t)p->nprocesses),
		    EXPERT_RANGE("seconds", times_seconds(f->times, time_base, p->span.length)),
		    EXPERT_RANGE("work", facts_share(f, less_or_more(worked(all), blocked, hidden, most))),
		    EXPERT_RANGE("waiting", facts_share(f, less_or_more(waited_of(all), hidden, blocked, most))),
		    EXPERT_RANGE("transfer", facts_share(f, less_or_more(transfer_of(all), hidden, surely, most))),
		    EXPERT_RANGE("locks", facts_share(f, less_or_more(locks, hidden, surely, most))),
		    EXPERT_RANGE("joins", facts_share(f, less_or_more(joins, hidden, surely, most))));
}

void facts_tell(const struct facts *f, struct expert *e)
{
	bool *wanted = mem_zeroed(f->trace->nsites + 1, sizeof *wanted);
	struct blames delays = delays_of(f), contention = contention_of(f);
	want_places(f, &delays, wanted);
	want_places(f, &contention, wanted);
	tell_run(f, e);
	tell_places(f, e, wanted);
	tell_blames(f, e, "delay", &delays);
	tell_blames(f, e, "contention", &contention);
	tell_little(f, e, "delay", &delays);
	tell_little(f, e, "contention", &contention);
	tell_little_operations(f, e);
	free(delays.list);
	free(contention.list);
	free(wanted);
}

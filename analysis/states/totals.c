/* SPDX-License-Identifier: MIT
 *
 * totals.c - regions by their enters and exits, states by their periods. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/states/totals.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/pool.h"
#include "analysis/base/progress.h"

#define NO_TOTAL                                                                                   \
	((struct total){ .sure_until = PERIOD_BEFORE, .until = PERIOD_BEFORE, .since = PERIOD_AFTER })

/* ---- Regions --------------------------------------------------------------------------------- */

static int by_name(const void *x, const void *y, void *sites)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(((struct tr_site *)sites)[a].name, ((struct tr_site *)sites)[b].name);
	return order ? order : ORDER(a, b);
}

/* Sites of the same name are one region. */
static void number_regions(struct totals *t)
{
	const struct trace *trace = t->trace;
	uint32_t *sorted = mem_resize(NULL, trace->nsites + 1, sizeof *sorted), count = 0;
	t->region_of_site = mem_resize(NULL, trace->nsites + 1, sizeof *t->region_of_site);
	t->site_of_region = mem_resize(NULL, trace->nsites + 1, sizeof *t->site_of_region);
	for (uint32_t i = 0; i < trace->nsites; i++) {
		t->region_of_site[i] = TR_NO_SITE;
		if (tr_is(trace, i, OP_REGION))
			sorted[count++] = i;
	}
	qsort_r(sorted, count, sizeof *sorted, by_name, trace->sites);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 ||
		    strcmp(trace->sites[sorted[i]].name, trace->sites[sorted[i - 1]].name) != 0)
			t->site_of_region[t->nregions++] = sorted[i];
		t->region_of_site[sorted[i]] = t->nregions - 1;
	}
	free(sorted);
}

static void add_piece(struct pieces *p, uint64_t ticks)
{
	p->ticks += ticks;
	p->count++;
}

static void enter(struct region_total *r, uint64_t stamp, bool visits)
{
	if (r->depth++ == 0) {
		r->entered = stamp;
		r->visits += visits;
	}
}

static void leave(struct region_total *r, uint64_t stamp)
{
	if (r->depth > 0 && --r->depth == 0)
		add_piece(&r->time.sure, stamp - r->entered);
}

/* Until `stamp` the thread was in it, or perhaps, or was not. */
static void settle(struct region_total *r, uint64_t stamp)
{
	if (r->depth > 0)
		add_piece(&r->time.sure, stamp - r->entered);
	else if (r->jumped > 0)
		add_piece(&r->time.possible, stamp - r->entered);
	r->entered = stamp;
}

/* From `last` on it is not known in which regions the thread is. */
static void lose(struct totals *t, struct thread_totals *thread, uint64_t last)
{
	for (uint32_t r = 0; r < t->nregions; r++) {
		struct region_total *region = &thread->regions[r];
		settle(region, last);
		region->depth = region->jumped = 0;
		if (region->time.since > last)
			region->time.since = last;
	}
}

/* A region that is open at the end lasted until the last record, and possibly on. */
static void stop(struct totals *t, struct thread_totals *thread, uint64_t last)
{
	for (uint32_t r = 0; r < t->nregions; r++) {
		struct region_total *region = &thread->regions[r];
		settle(region, last);
		if (region->depth > 0 || region->jumped > 0)
			region->time.since = last < region->time.since ? last : region->time.since;
	}
}

/* Of a thread that jumped: pairs of enter and exit need a stack. */
static void enter_or_jump(struct region_total *r, struct replay *open, const struct replay_entry *entry, bool visits,
			  uint64_t stamp)
{
	bool anew = replay_enter(open, *entry);
	if (!r)
		return;
	settle(r, stamp);
	r->visits += visits && r->depth == 0;
	*(entry->jumped ? &r->jumped : &r->depth) += anew;
}

static void leave_all(struct totals *t, struct thread_totals *thread, struct replay *open, uint32_t site,
		      uint64_t stamp)
{
	for (size_t closed = replay_exit(open, site); closed > 0; closed--) {
		const struct replay_entry *entry = &open->entry[open->depth + closed - 1];
		uint32_t r = entry->site == TR_NO_SITE ? TR_NO_SITE : t->region_of_site[entry->site];
		if (r == TR_NO_SITE)
			continue;
		settle(&thread->regions[r], stamp);
		*(entry->jumped ? &thread->regions[r].jumped : &thread->regions[r].depth) -= 1;
	}
}

static void add_jumping(struct totals *t, struct thread_totals *thread, struct replay *open,
			const struct tr_event *e, uint64_t stamp)
{
	uint32_t r = e->site == TR_NO_SITE ? TR_NO_SITE : t->region_of_site[e->site];
	struct replay_entry entry = tr_entry(t->trace, e);
	if (e->op == DPROF_ENTER)
		enter_or_jump(r == TR_NO_SITE ? NULL : &thread->regions[r], open, &entry, !e->inherited, stamp);
	else if (e->op == DPROF_EXIT)
		leave_all(t, thread, open, e->site, stamp);
}

/* One that does not jump. `visits`: it is none that the thread inherited. */
static inline void add_plain(struct totals *t, struct thread_totals *thread, uint32_t site, enum dprof_op op,
			     uint64_t stamp, bool visits)
{
	uint32_t r = site == TR_NO_SITE ? TR_NO_SITE : t->region_of_site[site];
	if (r != TR_NO_SITE && op == DPROF_ENTER)
		enter(&thread->regions[r], stamp, visits);
	else if (r != TR_NO_SITE && op == DPROF_EXIT)
		leave(&thread->regions[r], stamp);
}

/* Where a thread is, in which regions. */
struct region_walk { struct totals *t; struct thread_totals *thread; struct replay open; uint64_t last, lost; bool jumps; };

static void add_event(struct region_walk *w, const struct tr_event *e)
{
	bool any = e->op == DPROF_ENTER && e->site == TR_NO_SITE; /* region */
	if (e->op != DPROF_LOST) {
		w->last = e->stamp > w->last ? e->stamp : w->last;
		w->thread->events += !e->inherited;
	}
	w->lost += e->lost;
	if (any || e->op == DPROF_LOST) {
		lose(w->t, w->thread, w->last);
		replay_lose(&w->open);
	}
	if (w->jumps)
		add_jumping(w->t, w->thread, &w->open, e, w->last);
	else
		add_plain(w->t, w->thread, e->site, e->op, w->last, !e->inherited);
}

/* The recorded events of a thread that neither jumps nor inherits, as add_event() does it. */
static void add_columns(struct region_walk *w, const struct tr_columns *k)
{
	const struct tr_what *whats = w->t->trace->whats;
	for (size_t i = 0; i < k->n; i++) {
		const struct tr_what *what = &whats[k->what[i]];
		if (what->op == DPROF_LOST || what->site == TR_NO_SITE) {
			uint64_t lost = what->op == DPROF_LOST ? k->value[k->argument[i]] : 0;
			add_event(w, &(struct tr_event){ k->stamp[i], what->op, what->site, .lost = lost });
			continue;
		}
		w->last = k->stamp[i] > w->last ? k->stamp[i] : w->last;
		w->thread->events++;
		add_plain(w->t, w->thread, what->site, what->op, w->last, true);
	}
}

/* Of a thread that switches stacks nothing says which enters are outermost: all that were recorded are visits. */
static void count_tangled(struct totals *t, size_t index)
{
	struct tr_cursor events = trace_events(t->trace, index);
	for (struct tr_event e; trace_next_bare(&events, &e);) {
		uint32_t r = e.op != DPROF_ENTER || e.site == TR_NO_SITE ? TR_NO_SITE : t->region_of_site[e.site];
		if (r != TR_NO_SITE)
			t->threads[index].regions[r].visits++;
	}
	trace_end(&events);
}

static void add_regions(struct totals *t, size_t index)
{
	const struct tr_thread *self = &t->trace->threads[index];
	struct region_walk w = { .t = t, .thread = &t->threads[index], .jumps = self->jumps != NULL };
	struct tr_cursor events = trace_places(t->trace, index);
	struct tr_columns k;
	replay_open(&w.open, t->trace->nsites);
	while (!w.jumps && !events.inheritance && trace_columns(&events, &k))
		add_columns(&w, &k);
	for (struct tr_event e; trace_next_bare(&events, &e);)
		add_event(&w, &e);
	replay_close(&w.open);
	if (self->lost > w.lost)
		lose(t, w.thread, w.last);
	stop(t, w.thread, w.last);
	trace_end(&events);
	if (events.tangled)
		count_tangled(t, index);
}

/* ---- States ---------------------------------------------------------------------------------- */

/* One that begins before all events, or ends behind them. */
static void add_period(struct total *total, const struct period *p, uint8_t state)
{
	if (!(p->may & state))
		return;
	if (p->from == PERIOD_BEFORE && p->to == PERIOD_AFTER)
		total->since = 0;
	else if (p->to == PERIOD_AFTER)
		total->since = p->from;
	else if (p->may == state)
		total->sure_until = p->to;
	else
		total->until = p->to;
}

/* Whether the thread ever works, and ever waits, and whether any of its time is unclassified: looks at its periods in
 * order, until all of that is known. */
struct glance { bool marked, takes_part, idle; };

static void look_at(struct glance *g, struct thread_totals *t, const struct period *p)
{
	t->works |= p->may & MAY_WORK;
	t->waits |= p->may & MAY_WAIT;
	t->goes |= p->may & MAY_GONE;
	t->comes |= p->from == PERIOD_BEFORE && p->may & MAY_GONE;
	g->takes_part |= p->may == MAY_WORK || p->may == MAY_WAIT;
	g->idle |= !(p->may & ~(MAY_WAIT | MAY_GONE));
	t->idles = g->takes_part && g->idle;
	t->unclassified_ever |= p->may & MAY_BE_UNCLASSIFIED;
}

static void look_if_unknown(struct thread_totals *t, struct glance *g, const struct period *p)
{
	if (!(t->works && t->waits && t->idles && (t->unclassified_ever || !g->marked)))
		look_at(g, t, p);
}

/* Nearly all periods lie between two events: of these it is enough to know how long each set of states lasted. */
struct totals_sums { struct pieces of_set[MAY_ANY + 1]; uint64_t *waited; size_t nsites; }; /* `waited`: of each site */

static inline void add_to_totals(struct thread_totals *t, struct glance *g, struct totals_sums *sums, const struct period *p)
{
	struct pieces *alike = &sums->of_set[p->may];
	bool between = p->from != PERIOD_BEFORE && p->to != PERIOD_AFTER;
	if (!between || alike->count == 0)
		look_if_unknown(t, g, p);
	if (between) {
		add_piece(alike, p->to - p->from);
		if (p->may & MAY_WAIT && p->site < sums->nsites)
			sums->waited[p->site] += p->to - p->from;
		return;
	}
	add_period(&t->work, p, MAY_WORK);
	add_period(&t->wait, p, MAY_WAIT);
	add_period(&t->unclassified, p, MAY_BE_UNCLASSIFIED);
}

static void add_sums(struct total *total, const struct totals_sums *sums, uint8_t state)
{
	for (uint8_t may = 0; may <= MAY_ANY; may++) {
		struct pieces *to = may == state ? &total->sure : &total->possible;
		if (!(may & state))
			continue;
		to->ticks += sums->of_set[may].ticks;
		to->count += sums->of_set[may].count;
	}
}

static void keep_waited(struct thread_totals *t, const struct totals_sums *sums)
{
	for (uint32_t site = 0; site < sums->nsites; site++)
		if (sums->waited[site])
			*MEM_GROW(t->waited, t->nwaited) = (struct waited_at){ site, sums->waited[site] };
}

static void follow_states(struct states *states, struct thread_totals *totals, bool marked, struct tr_writer *writer)
{
	size_t nsites = states->events.trace->nsites;
	struct glance glance = { marked, false, false };
	struct totals_sums sums = { .waited = mem_zeroed(nsites + 1, sizeof *sums.waited), .nsites = nsites };
	struct period_begin begin[PERIODS_AT_ONCE];
	uint64_t to;
	for (size_t n; (n = states_periods(states, begin, PERIODS_AT_ONCE, &to));) {
		for (size_t i = 0; i < n; i++) {
			struct period p = states_period(begin, n, i, to);
			add_to_totals(totals, &glance, &sums, &p);
		}
		periods_add(writer, begin, n);
	}
	add_sums(&totals->work, &sums, MAY_WORK);
	add_sums(&totals->wait, &sums, MAY_WAIT);
	add_sums(&totals->unclassified, &sums, MAY_BE_UNCLASSIFIED);
	keep_waited(totals, &sums);
	free(sums.waited);
}

void totals_follow(struct totals *t, size_t thread, size_t worker)
{
	struct tr_writer *writer = t->writers[2 * worker];
	struct places_found within = { .writer = t->writers[2 * worker + 1] };
	struct thread_totals *totals = &t->threads[thread];
	struct states states;
	states_open(&states, t->trace, thread, t->roles);
	states.within = &within;
	periods_begin(writer);
	periods_begin(within.writer);
	follow_states(&states, totals, t->roles->outside[t->trace->threads[thread].process] & MAY_BE_UNCLASSIFIED, writer);
	periods_end(&t->periods, writer, thread);
	periods_add(within.writer, within.at, within.n);
	periods_end(t->periods.within, within.writer, thread);
	const struct replay_entry *top = replay_top(&states.replay);
	totals->between = states.between;
	totals->unmatched = states.unmatched;
	totals->ends_open = top != NULL;
	totals->open_site = top ? top->site : TR_NO_SITE;
	states_close(&states);
}

static void say_unmatched(struct totals *t, size_t thread)
{
	const struct tr_thread *self = &t->trace->threads[thread];
	if (t->threads[thread].unmatched > 0)
		trace_diagnose(t->trace,
			       "rank %lld thread %u: %llu exits do not match what was entered; "
			       "times inside of these places are doubtful",
			       (long long)self->rank, self->number,
			       (unsigned long long)t->threads[thread].unmatched);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void totals_regions(struct totals *t)
{
	progress_begin("adding up regions", trace_records(t->trace));
	for (size_t i = 0; i < t->trace->nthreads; i++) {
		struct thread_totals *thread = &t->threads[i];
		thread->regions = mem_resize(NULL, t->nregions + 1, sizeof *thread->regions);
		for (uint32_t r = 0; r < t->nregions; r++)
			thread->regions[r] = (struct region_total){ .time = NO_TOTAL };
		add_regions(t, i);
	}
	progress_end();
}

void totals_begin(struct totals *t, struct trace *trace, const struct roles *roles, size_t workers)
{
	*t = (struct totals){ .trace = trace, .roles = roles };
	number_regions(t);
	t->threads = mem_resize(NULL, trace->nthreads + 1, sizeof *t->threads);
	t->ends = mem_resize(NULL, trace->nthreads + 1, sizeof *t->ends);
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct thread_totals *thread = &t->threads[i];
		*thread = (struct thread_totals){ .work = NO_TOTAL,
						  .wait = NO_TOTAL,
						  .unclassified = NO_TOTAL,
						  .open_site = TR_NO_SITE };
		thread->ends = times_ends(&trace->threads[i]);
		t->ends[i] = thread->ends;
	}
	periods_open(&t->periods, trace);
	t->writers = mem_resize(NULL, 2 * workers, sizeof *t->writers);
	for (size_t i = 0; i < 2 * workers; i++)
		t->writers[i] = store_writer(i % 2 ? t->periods.within->store : t->periods.store);
}

void totals_end(struct totals *t)
{
	periods_finish(&t->periods, t->trace);
	free(t->writers);
	t->writers = NULL;
	for (size_t i = 0; i < t->trace->nthreads; i++)
		say_unmatched(t, i);
}

static void follow(void *totals, size_t thread, size_t worker)
{
	totals_follow(totals, thread, worker);
}

void totals_open(struct totals *t, struct trace *trace, const struct roles *roles)
{
	size_t workers = pool_workers(trace->nthreads);
	totals_begin(t, trace, roles, workers);
	progress_begin("following the threads", trace_records(trace));
	pool_run(trace->nthreads, workers, follow, t);
	progress_end();
	totals_end(t);
}

void totals_close(struct totals *t)
{
	for (size_t i = 0; i < t->trace->nthreads; i++) {
		free(t->threads[i].regions);
		free(t->threads[i].waited);
	}
	periods_close(&t->periods);
	free(t->threads);
	free(t->ends);
	free(t->region_of_site);
	free(t->site_of_region);
}

static frz_time time_of(const struct times *times, const struct totals *t, size_t thread,
			const struct pieces *p)
{
	const struct tr_thread *self = &t->trace->threads[thread];
	const struct ends *own = &t->threads[thread].ends, *run = &t->roles->ends[self->clock];
	/* States may begin before its first event, and go on after its last. */
	uint64_t last = self->ended > own->last ? run->last : own->last;
	return times_sum(times, thread, (struct stretches){ p->ticks, p->count, run->first, last });
}

/* Between attempts in vain it may have worked, say, and not waited. */
static frz_time allow_between(const struct times *times, const struct totals *t, size_t thread, const struct total *total,
			      frz_time time)
{
	const struct thread_totals *self = &t->threads[thread];
	bool marked = t->roles->outside[t->trace->threads[thread].process] & MAY_BE_UNCLASSIFIED;
	int64_t between = times_duration(times, t->trace->threads[thread].clock, self->between).hi;
	if (total == &self->wait)
		time.lo = time.lo > between ? time.lo - between : 0;
	else if (total == &self->work || (total == &self->unclassified && marked))
		time.hi = ticks_plus(time.hi, between);
	return time;
}

frz_time totals_time(const struct times *times, const struct span *span, const struct totals *t,
		     size_t thread, const struct total *total)
{
	struct frz_cursor c = times_cursor(times, t->trace->threads[thread].clock);
	frz_time time = time_of(times, t, thread, &total->sure);
	int64_t more = time_of(times, t, thread, &total->possible).hi;
	if (total->sure_until != PERIOD_BEFORE) {
		frz_time end = frz_time_of(&c, total->sure_until);
		int64_t least = ticks_minus(end.lo, span->first.hi);
		time.lo = ticks_plus(time.lo, least > 0 ? least : 0);
		more = ticks_plus(more, ticks_minus(end.hi, span->first.lo));
	}
	if (total->until != PERIOD_BEFORE)
		more = ticks_plus(more,
				  ticks_minus(frz_time_of(&c, total->until).hi, span->first.lo));
	if (total->since == PERIOD_BEFORE)
		more = span->length.hi;
	else if (total->since != PERIOD_AFTER)
		more = ticks_plus(more,
				  ticks_minus(span->last.hi, frz_time_of(&c, total->since).lo));
	time.hi = ticks_plus(time.hi, more);
	if (t->threads[thread].between)
		time = allow_between(times, t, thread, total, time);
	if (time.hi > span->length.hi)
		time.hi = span->length.hi;
	return time;
}

/* ---- Who takes part -------------------------------------------------------------------------- */

static bool takes_part(const struct thread_totals *t, bool any)
{
	return t->works || t->waits || (any && t->unclassified_ever);
}

static struct participants participants_open(const struct totals *t, bool processes, bool any)
{
	size_t count = t->trace->nthreads;
	struct participants who = { .participant_of = mem_resize(NULL, count + 1,
								 sizeof *who.participant_of),
				    .waits = mem_resize(NULL, count + 1, sizeof *who.waits),
				    .idles = mem_resize(NULL, count + 1, sizeof *who.idles),
				    .clock_of = mem_resize(NULL, count + 1, sizeof *who.clock_of),
				    .between = mem_resize(NULL, count + 1, sizeof *who.between),
				    .any = any };
	uint32_t *of_process = mem_resize(NULL, t->trace->nprocesses + 1, sizeof *of_process);
	for (size_t p = 0; p < t->trace->nprocesses; p++)
		of_process[p] = NO_PARTICIPANT;
	for (size_t i = 0; i < count; i++) {
		const struct tr_thread *thread = &t->trace->threads[i];
		who.waits[i] = t->threads[i].waits || t->threads[i].goes;
		who.idles[i] = t->threads[i].idles;
		who.participant_of[i] = NO_PARTICIPANT;
		if (!takes_part(&t->threads[i], any))
			continue;
		if (!processes || of_process[thread->process] == NO_PARTICIPANT) {
			who.clock_of[who.nparticipants] = thread->clock;
			who.between[who.nparticipants] = 0;
			of_process[thread->process] = who.nparticipants++;
		}
		who.participant_of[i] = of_process[thread->process];
		who.between[who.participant_of[i]] += t->threads[i].between;
	}
	free(of_process);
	return who;
}

struct participants totals_participant_threads(const struct totals *t, bool any)
{
	return participants_open(t, false, any);
}

struct participants totals_participant_processes(const struct totals *t, bool any)
{
	return participants_open(t, true, any);
}

void participants_close(struct participants *who)
{
	free(who->participant_of);
	free(who->waits);
	free(who->idles);
	free(who->clock_of);
	free(who->between);
}

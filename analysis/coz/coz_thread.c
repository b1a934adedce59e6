/* SPDX-License-Identifier: MIT
 *
 * coz_thread.c - along one thread: regions are entered and left, operations begin and end, and what
 * lies in between is cut. Stretches are added up as ticks and pieces, and become savings only where
 * the result is wanted (thread_settle). */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/coz/coz_private.h"
#include "analysis/trace/trace_jumps.h"

/* ---- Cutting --------------------------------------------------------------------------------- */

static void begin_piece(const struct runner *r, struct row_time *t, uint64_t stamp)
{
	t->since = stamp;
	t->since_at = r->pending.inherited ? r->at - 1 : r->at; /* behind the event before */
}

/* Even between equal stamps up to a tick may have passed. */
static void end_piece(struct row_time *t, uint64_t stamp)
{
	if (t->pieces++ == 0)
		t->first = t->since;
	t->ticks += stamp - t->since;
}

static void cut_region(struct visit *v, struct runner *r, size_t region, frz_time duration, bool decides)
{
	if (v->counts) {
		saving_count(v->all, region, duration);
		if (decides)
			greedy_cut(v->greedy, region, duration);
		return;
	}
	r->saving = saving_own(v->all, r->saving);
	saving_cut(v->all, r->saving, region, duration);
}

/* What the question has the row as, if it asks about this thread; or TR_NO_SITE. */
static uint32_t region_of(const struct visit *v, const struct runner *r, size_t row, size_t question)
{
	return r->asked >> question & 1 ? v->rows->region[row * v->rows->nquestions + question] : TR_NO_SITE;
}

/* For each question that asks. */
static void cut(struct visit *v, struct runner *r, size_t row, frz_time duration)
{
	for (size_t q = 0; q < v->rows->nquestions; q++)
		if (region_of(v, r, row, q) != TR_NO_SITE)
			cut_region(v, r, region_of(v, r, row, q), duration, v->decides >> q & 1);
}

static void count(struct visit *v, const struct runner *r, size_t row, frz_time duration)
{
	for (size_t q = 0; q < v->rows->nquestions; q++)
		if (region_of(v, r, row, q) != TR_NO_SITE)
			saving_count(v->all, region_of(v, r, row, q), duration);
}

/* Anything up to all of the time may have been in any region. */
static void cut_doubtful(struct visit *v, struct runner *r)
{
	if (!r->asked)
		return;
	frz_time any = times_of_thread(v->times, (size_t)(r - v->runners), r->cut_until, r->stamp);
	any.lo = 0;
	for (size_t row = 0; row < v->rows->n; row++)
		cut(v, r, row, any);
	r->cut_until = r->stamp;
}

/* That is not yet cut. */
static frz_time time_of_row(struct visit *v, const struct runner *r, const struct row_time *t)
{
	return times_sum(v->times, (size_t)(r - v->runners),
			 (struct stretches){ t->ticks, t->pieces, t->first, r->stamp });
}

void thread_settle(struct visit *v, struct runner *r)
{
	if (r->doubtful) {
		cut_doubtful(v, r);
		return;
	}
	for (size_t i = 0; i < r->nopen && !r->operations; i++) {
		struct row_time *row = &r->rows[r->open[i]];
		if (row->since_at == r->at)
			continue;
		end_piece(row, r->stamp);
		begin_piece(r, row, r->stamp);
	}
	for (size_t row = 0; row < v->rows->n; row++) {
		struct row_time *t = &r->rows[row];
		if (!t->pieces)
			continue;
		cut(v, r, row, time_of_row(v, r, t));
		t->ticks = t->pieces = 0;
	}
}

static void forget(struct visit *v, struct runner *r)
{
	thread_settle(v, r);
	if (v->counts)
		return;
	r->saving = saving_own(v->all, r->saving);
	saving_forget(v->all, r->saving, SAVING_ALL,
		      visit_elapsed(v, (uint32_t)(r - v->runners), r->stamp));
}

/* ---- Where it is ----------------------------------------------------------------------------- */

/* Rows of a site, from the first to before the end; those that are in question in this thread are `followed`. */
struct row_list { const uint32_t *at, *end; };

static struct row_list rows_of(const struct visit *v, size_t site)
{
	return (struct row_list){ v->rows->of_site + v->rows->first[site], v->rows->of_site + v->rows->first[site + 1] };
}

static bool is_followed(const struct visit *v, const struct runner *r, uint32_t row)
{
	return v->rows->asks[row] & r->asked;
}

static void begin_row(struct runner *r, uint32_t row, uint64_t stamp)
{
	struct row_time *t = &r->rows[row];
	if (t->depth++ > 0)
		return;
	begin_piece(r, t, stamp);
	r->open[r->nopen++] = row;
}

static void end_row(struct runner *r, uint32_t row, uint64_t stamp)
{
	struct row_time *t = &r->rows[row];
	if (--t->depth > 0)
		return;
	if (!r->operations)
		end_piece(t, stamp);
	size_t i = r->nopen - 1;
	while (r->open[i] != row)
		i--;
	memmove(&r->open[i], &r->open[i + 1], (r->nopen - i - 1) * sizeof *r->open);
	r->nopen--;
}

/* Whether there are any. */
static inline bool begin_rows(const struct visit *v, struct runner *r, size_t site, uint64_t stamp)
{
	bool any = false;
	for (struct row_list rows = rows_of(v, site); rows.at < rows.end; rows.at++)
		if (is_followed(v, r, *rows.at)) {
			begin_row(r, *rows.at, stamp);
			any = true;
		}
	return any;
}

static inline bool end_rows(const struct visit *v, struct runner *r, size_t site, uint64_t stamp)
{
	bool any = false;
	for (struct row_list rows = rows_of(v, site); rows.at < rows.end; rows.at++)
		if (is_followed(v, r, *rows.at)) {
			end_row(r, *rows.at, stamp);
			any = true;
		}
	return any;
}

static void begin_operation(struct runner *r, uint64_t stamp)
{
	if (r->operations++ > 0)
		return;
	for (size_t i = 0; i < r->nopen; i++)
		end_piece(&r->rows[r->open[i]], stamp);
}

static void end_operation(struct runner *r, uint64_t stamp)
{
	if (--r->operations > 0)
		return;
	for (size_t i = 0; i < r->nopen; i++)
		begin_piece(r, &r->rows[r->open[i]], stamp);
}

/* A region inside of operations is the thread's own time: they go on behind it. None of MPI_Init, of which there are no events. */
static void begin_inside(struct runner *r, uint64_t stamp)
{
	if (r->operations == 0 || r->inits == 1)
		return;
	*MEM_GROW(r->interrupted, r->ninterrupted) = (struct interrupted){ r->replay.depth, r->operations };
	r->operations = 1;
	end_operation(r, stamp);
}

/* The entry with that number is left: behind it they go on. */
static void end_inside(struct runner *r, size_t entry, uint64_t stamp)
{
	if (r->ninterrupted == 0 || r->interrupted[r->ninterrupted - 1].region != entry)
		return;
	begin_operation(r, stamp);
	r->operations = r->interrupted[--r->ninterrupted].operations;
}

/* Rows of work without a site: `all` is open in regions, and where there are no marks outside of them too;
 * `outside` is open only there. */
static void enter_regions(struct visit *v, struct runner *r, uint64_t stamp)
{
	if (r->marked)
		begin_rows(v, r, COZ_ALL_WORK(v->g->trace), stamp);
	else
		end_rows(v, r, COZ_OUTSIDE(v->g->trace), stamp);
}

static void leave_regions(struct visit *v, struct runner *r, uint64_t stamp)
{
	if (r->marked)
		end_rows(v, r, COZ_ALL_WORK(v->g->trace), stamp);
	else
		begin_rows(v, r, COZ_OUTSIDE(v->g->trace), stamp);
}

static bool is_region(const struct visit *v, uint32_t site)
{
	return tr_is(v->g->trace, site, OP_REGION);
}

static void enter(struct visit *v, struct runner *r, const struct tr_event *e, uint64_t stamp)
{
	struct replay_entry entry = tr_entry(v->g->trace, e);
	replay_enter(&r->replay, entry);
	if (entry.is & OP_REGION && replay_regions(&r->replay) == 1)
		enter_regions(v, r, stamp);
	if (!begin_rows(v, r, e->site, stamp) && entry.is & OP_OTHERS)
		begin_operation(r, stamp);
	if (entry.is & OP_REGION)
		begin_inside(r, stamp);
}

/* The innermost entries are closed; before that so many regions were open. */
static void leave_all(struct visit *v, struct runner *r, size_t closed, uint32_t regions, uint64_t stamp)
{
	for (; closed > 0; closed--) {
		const struct replay_entry *entry = &r->replay.entry[r->replay.depth + closed - 1];
		if (!end_rows(v, r, entry->site, stamp) && entry->is & OP_OTHERS)
			end_operation(r, stamp);
		end_inside(r, r->replay.depth + closed, stamp);
	}
	if (regions > 0 && replay_regions(&r->replay) == 0)
		leave_regions(v, r, stamp);
}

/* What is open inside of `site` was left by a jump, at an unknown time; and a site that is not open
 * was entered at an unknown time. */
static void leave(struct visit *v, struct runner *r, uint32_t site, uint64_t stamp)
{
	uint32_t regions = replay_regions(&r->replay);
	size_t closed = replay_exit(&r->replay, site);
	leave_all(v, r, closed, regions, stamp);
	if (closed == 1)
		return;
	v->bad_exits += !r->doubtful && !jumps_explain(v->g->trace, r->events.thread, site, stamp, closed && !r->replay.depth);
	r->stamp = stamp;
	forget(v, r);
}

/* Records are missing from here on, or cannot be understood; or what is entered is left at an unknown time. */
static void doubt(struct visit *v, struct runner *r)
{
	thread_settle(v, r);
	uint32_t regions = replay_regions(&r->replay);
	leave_all(v, r, replay_lose(&r->replay), regions, r->stamp);
	for (size_t row = 0; row < v->rows->n; row++)
		r->rows[row].ticks = r->rows[row].pieces = 0;
	if (!r->doubtful)
		r->cut_until = r->stamp;
	r->doubtful = r->forgets = true;
}

/* A sleep outside of marked regions may be what is left of a period: whoever comes to it earlier sleeps longer. */
static void doubt_sleep(struct visit *v, struct runner *r)
{
	for (size_t i = 0; i < r->replay.depth; i++) {
		const struct replay_entry *entry = &r->replay.entry[i];
		if (entry->is & OP_REGION && !v->g->trace->sites[entry->site].automatic)
			return;
	}
	thread_settle(v, r);
	if (v->counts)
		return;
	r->saving = saving_own(v->all, r->saving);
	saving_delay(v->all, r->saving, COZ_PROVED);
}

void thread_discard(struct visit *v, struct runner *r, uint64_t stamp)
{
	for (size_t row = 0; row < v->rows->n; row++) {
		struct row_time *t = &r->rows[row];
		if (t->pieces && v->counts)
			count(v, r, row, time_of_row(v, r, t));
		t->ticks = t->pieces = 0;
	}
	for (size_t i = 0; i < r->nopen; i++)
		begin_piece(r, &r->rows[r->open[i]], stamp);
	r->cut_until = stamp;
}

/* What the first thread of a process did before its first event, since the run began: from when it had left
 * MPI_Init, or was there at all, it worked; before that it is unknown. */
static void cut_begin(struct visit *v, struct runner *r, size_t site)
{
	const struct tr_thread *self = r->events.thread;
	const struct tr_process *p = &v->g->trace->processes[self->process];
	uint64_t since = p->init_to ? p->init_to : p->started;
	if (self->number > 0)
		return;
	frz_time before = visit_elapsed(v, (uint32_t)(r - v->runners), r->stamp);
	int64_t least = since && since <= r->stamp
				? times_duration(v->times, self->clock, r->stamp - since).lo
				: 0;
	before.lo = before.lo < least ? before.lo : least;
	before.lo = before.lo > 0 ? before.lo : 0;
	for (struct row_list rows = rows_of(v, site); rows.at < rows.end; rows.at++)
		cut(v, r, *rows.at, before);
}

/* The first event: from here on the rows of work without a site are open, where that is work. */
static void begin_outside(struct visit *v, struct runner *r)
{
	size_t sites[] = { COZ_OUTSIDE(v->g->trace), COZ_ALL_WORK(v->g->trace) };
	r->begun = true;
	if (r->marks_unknown)
		doubt(v, r);
	for (size_t i = 0; i < 2 && !r->marked; i++) {
		cut_begin(v, r, sites[i]);
		begin_rows(v, r, sites[i], r->stamp);
	}
}

static const struct tr_process *process_of(const struct visit *v, const struct runner *r)
{
	return &v->g->trace->processes[r->events.thread->process];
}

/* MPI_Init may be called in a region, surely behind the first event. */
static void await_init(const struct visit *v, struct runner *r)
{
	r->inits = tr_inits_later(v->g->trace, r->events.thread, r->stamp) ? 0 : 2;
}

/* It is an operation, of which there are no events. What is cut goes on behind it, before the event that comes. */
static void pass_init(const struct visit *v, struct runner *r, uint64_t stamp)
{
	if (r->inits > 1)
		return;
	const struct tr_process *p = process_of(v, r);
	if (r->inits == 0 && p->init_from <= stamp) {
		begin_operation(r, p->init_from);
		r->inits++;
	}
	if (r->inits != 1 || p->init_to > stamp)
		return;
	end_operation(r, p->init_to);
	for (size_t i = 0; i < r->nopen && !r->operations; i++)
		r->rows[r->open[i]].since_at = r->at - 1;
	r->inits++;
}

void thread_apply(struct visit *v, struct runner *r, const struct tr_event *e)
{
	if (e->op == DPROF_LOST) {
		doubt(v, r);
		return;
	}
	if (r->begun)
		pass_init(v, r, e->stamp);
	r->stamp = e->stamp > r->stamp ? e->stamp : r->stamp;
	if (!r->begun) {
		begin_outside(v, r);
		await_init(v, r);
	}
	if (e->jumped && !r->events.thread->may_jump && r->jumped == TR_NO_SITE && e->site != TR_NO_SITE && is_region(v, e->site) &&
	    !v->g->trace->sites[e->site].automatic)
		r->jumped = e->site;
	if (e->site == TR_NO_SITE || e->jumped) {
		doubt(v, r);
	} else if (e->op == DPROF_ENTER) {
		enter(v, r, e, r->stamp);
	} else if (e->op == DPROF_EXIT) {
		leave(v, r, e->site, r->stamp);
		if (tr_is(v->g->trace, e->site, OP_SLEEP))
			doubt_sleep(v, r);
	}
	if (r->forgets)
		forget(v, r);
	r->forgets = false;
}

/* SPDX-License-Identifier: MIT
 *
 * coz_thread.c - along one thread: regions are entered and left, operations begin and end, and what
 * lies in between is cut. Stretches are added up as ticks and pieces, and become steps only where
 * the result is wanted (settle). */
#include <inttypes.h>
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

static void clear(struct row_time *t)
{
	t->ticks = t->pieces = 0;
	t->mixed = 0;
}

/* Even between equal stamps up to a tick may have passed. */
static void end_piece(struct row_time *t, uint64_t stamp)
{
	if (t->pieces++ == 0)
		t->first = t->since;
	t->ticks += stamp - t->since;
}

static void note(struct visit *v, const struct runner *r, enum coz_step_what what, uint32_t row, frz_time ticks)
{
	struct coz_steps *steps = &v->steps[r->thread];
	*SPILL_GROW(v->g->spill, steps->v, steps->n) = (struct coz_step){ ticks, (uint32_t)r->sync, row, what };
	spill_relax(v->g->spill);
}

/* There is so much to be cut, for each question that asks. */
static void count(struct visit *v, const struct runner *r, size_t row, frz_time duration, bool cut)
{
	for (size_t q = 0; q < v->rows->nquestions; q++) {
		uint32_t region = visit_region_of(v, r->asked, row, q);
		if (region == TR_NO_SITE)
			continue;
		saving_count(v->all, region, duration);
		if (cut && v->decides >> q & 1)
			greedy_cut(v->greedy, r->thread, region, duration);
	}
}

static void cut(struct visit *v, struct runner *r, size_t row, frz_time duration)
{
	if (!(v->rows->asks[row] & r->asked))
		return;
	note(v, r, STEP_CUT, (uint32_t)row, duration);
	if (v->hides)
		count(v, r, row, duration, true);
}

/* Anything up to all of the time may have been in any region. */
static void cut_doubtful(struct visit *v, struct runner *r)
{
	if (!r->asked)
		return;
	frz_time any = times_of_thread(v->times, r->thread, r->cut_until, r->stamp);
	any.lo = 0;
	for (size_t row = 0; row < v->rows->n; row++)
		cut(v, r, row, any);
	r->cut_until = r->stamp;
}

/* That is not yet cut. */
static frz_time time_of_row(struct visit *v, const struct runner *r, const struct row_time *t)
{
	frz_time time = { 0, 0 };
	if (t->pieces)
		time = times_sum(v->times, r->thread, (struct stretches){ t->ticks, t->pieces, t->first, r->stamp });
	if (t->perhaps)
		time.lo = 0;
	time.hi += t->mixed;
	return time;
}

/* What is left to be cut is cut, up to the stamp of its last event. */
static void settle(struct visit *v, struct runner *r)
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
		if (!t->pieces && !t->mixed)
			continue;
		cut(v, r, row, time_of_row(v, r, t));
		clear(t);
	}
}

static void forget(struct visit *v, struct runner *r)
{
	settle(v, r);
	note(v, r, STEP_FORGET, 0, visit_elapsed(v, r->thread, r->stamp));
}

/* ---- Where it is ----------------------------------------------------------------------------- */

/* Rows of a site, from the first to before the end. */
struct row_list { const uint32_t *at, *end; };

static struct row_list rows_of(const struct visit *v, size_t site)
{
	return (struct row_list){ v->rows->of_site + v->rows->first[site], v->rows->of_site + v->rows->first[site + 1] };
}

/* Whether the row is in question in this thread. */
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

/* An operation is over since which the rows are open again: it may have been work in all of them. */
static void end_mixed(const struct visit *v, struct runner *r, uint64_t since, uint64_t stamp)
{
	int64_t most = times_of_thread(v->times, r->thread, since, stamp).hi;
	for (size_t i = 0; i < r->nopen && !r->operations; i++)
		r->rows[r->open[i]].mixed += most;
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

/* Rows of work without a site: COZ_ALL_WORK is open in regions, and where there are no marks outside of them too;
 * COZ_OUTSIDE is open only there. */
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
		if (!end_rows(v, r, entry->site, stamp) && entry->is & OP_OTHERS) {
			end_operation(r, stamp);
			if (v->g->trace->sites[entry->site].op.mixed)
				end_mixed(v, r, entry->stamp, stamp);
		}
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
	settle(v, r);
	uint32_t regions = replay_regions(&r->replay);
	leave_all(v, r, replay_lose(&r->replay), regions, r->stamp);
	for (size_t row = 0; row < v->rows->n; row++)
		clear(&r->rows[row]);
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
	settle(v, r);
	note(v, r, STEP_DELAY, 0, (frz_time){ 0, 0 });
}

/* From the stamp on nothing is left to be cut. */
static void discard(struct visit *v, struct runner *r, uint64_t stamp)
{
	for (size_t row = 0; row < v->rows->n; row++) {
		struct row_time *t = &r->rows[row];
		if (t->pieces && v->hides)
			count(v, r, row, time_of_row(v, r, t), false);
		clear(t);
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
	frz_time before = visit_elapsed(v, r->thread, r->stamp);
	int64_t least = since && since <= r->stamp
				? times_duration(v->times, self->clock, r->stamp - since).lo
				: 0;
	before.lo = before.lo < least ? before.lo : least;
	before.lo = before.lo > 0 ? before.lo : 0;
	for (struct row_list rows = rows_of(v, site); rows.at < rows.end; rows.at++)
		cut(v, r, *rows.at, before);
}

/* Regions that were left out may have been open all the time; work in all then only where there is nothing but marks. */
static void open_unrecorded(struct visit *v, struct runner *r)
{
	const struct trace *trace = v->g->trace;
	frz_time before = visit_elapsed(v, r->thread, r->stamp);
	before.lo = 0;
	for (size_t site = 0; site < COZ_SITES(trace); site++) {
		bool any = site < trace->nsites ? trace->sites[site].op.is & OP_REGION : site != COZ_ALL_WORK(trace) || r->marked;
		for (struct row_list rows = rows_of(v, site); any && rows.at < rows.end; rows.at++) {
			if (!is_followed(v, r, *rows.at) || r->rows[*rows.at].perhaps)
				continue;
			r->rows[*rows.at].perhaps = true;
			cut(v, r, *rows.at, before);
			begin_row(r, *rows.at, r->stamp);
		}
	}
}

/* And they may be so behind its last event. */
static void cut_behind(struct visit *v, struct runner *r)
{
	const struct tr_thread *self = r->events.thread;
	int64_t left = ticks_minus(v->span->last.hi, visit_time(v, r->thread, r->stamp).lo);
	frz_time behind = { 0, left > 0 ? left : 0 };
	if (r->at + 1 != v->g->threads[r->thread].nevents)
		return;
	if (self->ended > r->stamp && self->ended < UINT64_MAX)
		behind.hi = times_duration(v->times, self->clock, self->ended - r->stamp).hi;
	for (size_t row = 0; row < v->rows->n; row++)
		if (r->rows[row].perhaps)
			cut(v, r, row, behind);
}

/* The first event: from here on the rows of work without a site are open, where that is work. */
static void begin_outside(struct visit *v, struct runner *r)
{
	size_t sites[] = { COZ_OUTSIDE(v->g->trace), COZ_ALL_WORK(v->g->trace) };
	r->begun = true;
	if (r->unrecorded)
		open_unrecorded(v, r);
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

/* Where the thread is behind the event. */
static void apply(struct visit *v, struct runner *r, const struct tr_event *e)
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

/* ---- From point to point --------------------------------------------------------------------- */

/* That of the event that has come which is next, or NULL. */
static const struct graph_sync_point *next_point(const struct visit *v, const struct runner *r)
{
	const struct graph_thread *t = &v->g->threads[r->thread];
	bool comes = r->sync < t->nsyncs && t->syncs[r->sync].at == r->at && !r->pending.inherited;
	return comes ? &t->syncs[r->sync] : NULL;
}

/* An operation inside of another does not count; but a wait may be over where a region begins inside. */
static bool wait_counts(const struct visit *v, const struct runner *r)
{
	return r->operations <= 1 || tr_is(v->g->trace, r->pending.site, OP_REGION);
}

static void pass_point(struct visit *v, struct runner *r, const struct graph_sync_point *s, bool inside)
{
	if (inside)
		note(v, r, STEP_INSIDE, 0, (frz_time){ 0, 0 });
	if (v->greedy && v->hides && !(inside && s->what == GRAPH_WAITS))
		greedy_point(v->greedy, r->thread, s, visit_time(v, r->thread, s->stamp));
	r->sync++;
}

/* What waits comes before the event, ... */
static void pass_waits(struct visit *v, struct runner *r)
{
	for (const struct graph_sync_point *s; (s = next_point(v, r)) && s->what == GRAPH_WAITS;) {
		bool counts = wait_counts(v, r);
		if (counts)
			discard(v, r, r->pending.stamp);
		pass_point(v, r, s, !counts);
	}
}

/* A probe that stands in an operation, or a wait that begins where it is over (graph.h, `arrives`), in another one. */
static bool is_inside(const struct visit *v, const struct runner *r, const struct graph_sync_point *s)
{
	if (s->what == GRAPH_WAITS)
		return !wait_counts(v, r);
	return s->what == GRAPH_PROBE && r->operations > 0 && r->pending.op == DPROF_POINT;
}

/* ... and what is posted behind it. */
static void pass_others(struct visit *v, struct runner *r)
{
	const struct graph_sync_point *s = next_point(v, r);
	if (s)
		settle(v, r);
	if (r->unrecorded && !r->doubtful)
		cut_behind(v, r);
	for (; s; s = next_point(v, r))
		pass_point(v, r, s, is_inside(v, r, s));
}

static void follow_event(struct visit *v, struct runner *r)
{
	bool points = next_point(v, r);
	if (points)
		pass_waits(v, r);
	apply(v, r, &r->pending);
	if (points)
		pass_others(v, r);
	r->at += !r->pending.inherited;
	spill_relax(v->g->spill);
}

/* Whether nothing but a region that is entered or left can change where the thread is. */
static bool is_in_regions(const struct runner *r)
{
	const struct tr_cursor *c = &r->events;
	return r->begun && r->inits == 2 && !r->doubtful && !r->forgets && r->operations == 0 && r->ninterrupted == 0 &&
	       !c->inheritance && !c->thread->jumps;
}

/* As apply() does it there; false if more happens in the event than that. */
static inline bool apply_region(struct visit *v, struct runner *r, const struct tr_what *what, uint64_t stamp)
{
	const struct replay_entry *top = replay_top(&r->replay);
	uint32_t site = what->site, is = site == TR_NO_SITE ? 0 : v->g->trace->sites[site].op.is;
	bool enters = what->op == DPROF_ENTER, leaves = what->op == DPROF_EXIT && top && top->site == site;
	if ((is & (OP_REGION | OP_OTHERS | OP_SLEEP)) != OP_REGION || !(enters || leaves))
		return false;
	r->stamp = stamp > r->stamp ? stamp : r->stamp;
	if (enters) {
		replay_enter(&r->replay, (struct replay_entry){ .stamp = stamp, .site = site, .is = is });
		if (replay_regions(&r->replay) == 1)
			enter_regions(v, r, r->stamp);
		begin_rows(v, r, site, r->stamp);
	} else {
		replay_exit_innermost(&r->replay, site);
		end_rows(v, r, site, r->stamp);
		if (replay_regions(&r->replay) == 0)
			leave_regions(v, r, r->stamp);
	}
	return true;
}

/* Up to its next point, as far as nothing else happens. */
static void follow_regions(struct visit *v, struct runner *r)
{
	const struct graph_thread *t = &v->g->threads[r->thread];
	uint64_t until = r->sync < t->nsyncs ? t->syncs[r->sync].at : UINT64_MAX;
	struct tr_columns k;
	size_t i = 0;
	if (r->at >= until || !is_in_regions(r) || !trace_columns_bare(&r->events, &k))
		return;
	for (; i < k.n && r->at < until && apply_region(v, r, &v->g->trace->whats[k.what[i]], k.stamp[i]); i++)
		r->at++;
	r->events.next -= k.n - i;
}

/* What is wrong with where it is, once. A region that the user did not mark may be open where its thread was cancelled. */
static void say_doubts(const struct visit *v, const struct runner *r)
{
	const struct trace *trace = v->g->trace;
	struct graph_said *said = &v->coz->graph->said;
	if (r->jumped != TR_NO_SITE) {
		char *where = graph_place(trace, r->thread, r->jumped);
		*MEM_GROW(said->notes, said->nnotes) =
			mem_format("%s: the region has no exit; when it was left is not known", where);
		free(where);
	}
	for (size_t i = 0; i < r->replay.depth; i++) {
		const struct replay_entry *entry = &r->replay.entry[i];
		if (entry->is & OP_OTHERS || trace->sites[entry->site].automatic)
			continue;
		char *where = graph_place(trace, r->thread, entry->site);
		*MEM_GROW(said->notes, said->nnotes) =
			mem_format("%s: the region is still open at the end of the records; its time counts up to there", where);
		free(where);
		break;
	}
}

void thread_open(const struct visit *v, struct runner *r, uint32_t thread)
{
	const struct trace *trace = v->g->trace;
	const struct tr_process *process = &trace->processes[trace->threads[thread].process];
	size_t nrows = v->rows->n;
	*r = (struct runner){ .thread = thread,
			      .events = trace_places(trace, thread),
			      .jumped = TR_NO_SITE,
			      .rows = mem_zeroed(nrows + 1, sizeof *r->rows),
			      .open = mem_resize(NULL, nrows + 1, sizeof *r->open),
			      .marked = process->marked,
			      .marks_unknown = process->marks_unknown,
			      .unrecorded = process->regions_left_out,
			      .asked = v->visitors[thread].asked };
	replay_open(&r->replay, trace->nsites);
}

void thread_close(const struct visit *v, struct runner *r)
{
	if (!v->coz->asked)
		say_doubts(v, r);
	trace_end(&r->events);
	replay_close(&r->replay);
	free(r->rows);
	free(r->open);
	free(r->interrupted);
}

bool thread_follow(struct visit *v, struct runner *r)
{
	const struct graph_thread *t = &v->g->threads[r->thread];
	size_t sync = r->sync;
	while (r->sync == sync && (sync < t->nsyncs || t->nsyncs == 0)) {
		follow_regions(v, r);
		if (!trace_next_bare(&r->events, &r->pending))
			break;
		follow_event(v, r);
	}
	return r->sync > sync;
}

/* SPDX-License-Identifier: MIT
 *
 * recorded.c - threads, sites and events, as they were recorded. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/sql/table.h"

/* A row of the trace's threads, or of its sites. */
struct numbered {
	const struct sql_world *world;
	size_t at, end;          /* the row is before `at` */
	size_t count;
};

static void *open_numbered(const struct sql_world *w, size_t count)
{
	struct numbered *rows = mem_resize(NULL, 1, sizeof *rows);
	*rows = (struct numbered){ .world = w, .count = count };
	return rows;
}

static void *open_threads(const struct sql_world *w, const struct sql_table *table, char **error)
{
	(void)table, (void)error;
	return open_numbered(w, w->trace->nthreads);
}

static void *open_sites(const struct sql_world *w, const struct sql_table *table, char **error)
{
	(void)table, (void)error;
	return open_numbered(w, w->trace->nsites);
}

static void rewind_numbered(void *rows, int64_t number)
{
	struct numbered *r = rows;
	bool one = number != SQL_ALL, there = one && (uint64_t)number < r->count;
	r->at = there ? (size_t)number : 0;
	r->end = one ? r->at + there : r->count;
}

static bool next_numbered(void *rows)
{
	struct numbered *r = rows;
	return r->at < r->end && ++r->at;
}

static void put_thread(const void *rows, int column, sqlite3_context *to)
{
	const struct numbered *r = rows;
	const struct trace *t = r->world->trace;
	const struct tr_thread *thread = &t->threads[r->at - 1];
	const struct tr_process *p = &t->processes[thread->process];
	switch (column) {
	case 0: sqlite3_result_int64(to, (int64_t)r->at - 1); break;
	case 1: sqlite3_result_int64(to, thread->rank); break;
	case 2: sqlite3_result_int64(to, (int64_t)p->pid); break;
	case 3: sqlite3_result_int64(to, thread->number); break;
	case 4: sql_put_text(to, t->clocks[thread->clock].host); break;
	case 5: sql_put_text(to, p->program); break;
	case 6: sql_put_text(to, thread->name); break;
	case 7: sqlite3_result_int(to, thread->complete); break;
	case 8: sqlite3_result_int64(to, (int64_t)thread->lost); break;
	}
}

static void put_site(const void *rows, int column, sqlite3_context *to)
{
	const struct numbered *r = rows;
	const struct tr_site *site = &r->world->trace->sites[r->at - 1];
	switch (column) {
	case 0: sqlite3_result_int64(to, (int64_t)r->at - 1); break;
	case 1: sql_put_text(to, tr_kind_word(site->kind)); break;
	case 2: sql_put_text(to, site->name); break;
	case 3: sql_put_text(to, site->file); break;
	case 4: sqlite3_result_int64(to, site->line); break;
	case 5: sql_put_text(to, site->function); break;
	}
}

const struct sql_table sql_threads = {
	"threads", "thread INTEGER, rank INTEGER, pid INTEGER, number INTEGER, host TEXT, program TEXT, routine TEXT, "
		   "complete INTEGER, lost INTEGER",
	.numbered = true, .open = open_threads, .rewind = rewind_numbered, .next = next_numbered, .column = put_thread, .close = free,
};

const struct sql_table sql_sites = {
	"sites", "site INTEGER, kind TEXT, name TEXT, file TEXT, line INTEGER, function TEXT",
	.numbered = true, .open = open_sites, .rewind = rewind_numbered, .next = next_numbered, .column = put_site, .close = free,
};

/* ---- Events ---------------------------------------------------------------------------------- */

struct recorded_events {
	const struct sql_world *world;
	size_t thread, end;      /* the one that is read; behind the last one that is asked for */
	bool open;
	struct tr_cursor cursor;
	struct tr_columns columns;
	size_t at;               /* in them */
	struct frz_cursor clock;
	bool placed;
};

static void *open_events(const struct sql_world *w, const struct sql_table *table, char **error)
{
	struct recorded_events *e = mem_resize(NULL, 1, sizeof *e);
	(void)table, (void)error;
	*e = (struct recorded_events){ .world = w };
	return e;
}

static void end_thread(struct recorded_events *e)
{
	if (e->open)
		trace_end(&e->cursor);
	e->open = false;
}

static void close_events(void *rows)
{
	end_thread(rows);
	free(rows);
}

static void rewind_events(void *rows, int64_t number)
{
	struct recorded_events *e = rows;
	size_t n = e->world->trace->nthreads;
	bool one = number != SQL_ALL, there = one && (uint64_t)number < n;
	end_thread(e);
	e->thread = there ? (size_t)number : 0;
	e->end = one ? e->thread + there : n;
	e->at = e->columns.n = 0;
}

static void begin_thread(struct recorded_events *e)
{
	uint32_t clock = e->world->trace->threads[e->thread].clock;
	e->cursor = trace_events(e->world->trace, e->thread);
	e->placed = sql_is_placed(e->world, clock);
	if (e->placed)
		e->clock = times_cursor(e->world->times, clock);
	e->open = true;
}

/* The next events that there are, perhaps of another thread. */
static bool read_more(struct recorded_events *e)
{
	while (e->thread < e->end) {
		if (!e->open)
			begin_thread(e);
		e->at = 0;
		if (trace_columns(&e->cursor, &e->columns))
			return true;
		end_thread(e);
		e->thread++;
	}
	return false;
}

static bool next_event(void *rows)
{
	struct recorded_events *e = rows;
	return ++e->at < e->columns.n || read_more(e);
}

static void put_argument(const struct recorded_events *e, enum dprof_key key, sqlite3_context *to)
{
	const struct trace *t = e->world->trace;
	if (trace_what(t, &e->columns, e->at)->keys >> key & 1)
		sqlite3_result_int64(to, (int64_t)trace_value(t, &e->columns, e->at, key, 0));
}

static void put_event_time(const struct recorded_events *e, sqlite3_context *to, void put(sqlite3_context *, struct interval))
{
	struct frz_cursor clock = e->clock;
	if (e->placed)
		put(to, sql_time(e->world, &clock, e->columns.stamp[e->at]));
}

static void put_event(const void *rows, int column, sqlite3_context *to)
{
	static const char *const ops[] = {
		[DPROF_ENTER] = "enter", [DPROF_EXIT] = "exit", [DPROF_POINT] = "point", [DPROF_LOST] = "lost"
	};
	static const enum dprof_key keys[] = {
		DPROF_KEY_PEER, DPROF_KEY_TAG, DPROF_KEY_BYTES, DPROF_KEY_GROUP, DPROF_KEY_SEQ, DPROF_KEY_ID
	};
	const struct recorded_events *e = rows;
	const struct tr_what *what = trace_what(e->world->trace, &e->columns, e->at);
	bool lost = what->op == DPROF_LOST;
	switch (column) {
	case 0: sqlite3_result_int64(to, (int64_t)e->thread); break;
	case 1:
		if (what->site != TR_NO_SITE)
			sqlite3_result_int64(to, what->site);
		break;
	case 2: sql_put_text(to, ops[what->op]); break;
	case 3: sqlite3_result_int64(to, (int64_t)e->columns.stamp[e->at]); break;
	case 4: put_event_time(e, to, sql_put_lo); break;
	case 5: put_event_time(e, to, sql_put_hi); break;
	case 6: sqlite3_result_int64(to, lost ? (int64_t)e->columns.value[e->columns.argument[e->at]] : 0); break;
	default: put_argument(e, keys[column - 7], to); break;
	}
}

const struct sql_table sql_events = {
	"events", "thread INTEGER, site INTEGER, op TEXT, stamp INTEGER, time_lo REAL, time_hi REAL, lost INTEGER, peer INTEGER, "
		  "tag INTEGER, bytes INTEGER, group_id INTEGER, seq INTEGER, id INTEGER",
	.numbered = true, .large = true, .open = open_events, .rewind = rewind_events, .next = next_event, .column = put_event,
	.close = close_events,
};

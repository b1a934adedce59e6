/* SPDX-License-Identifier: MIT
 *
 * visits.c - each time that a thread was in a region or in an operation, from its enter to its exit, in the order of the
 * exits. What was left without an exit is none. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/sql/table.h"

struct recorded_visits {
	const struct sql_world *world;
	size_t thread, end;      /* the one that is followed; behind the last one that is asked for */
	bool open;
	struct tr_cursor cursor;
	struct replay replay;
	struct replay_entry visit; /* the row: */
	uint64_t left;           /* stamp */
	size_t depth;            /* of what it is in */
	struct frz_cursor clock;
	bool placed;
};

static void *open_visits(const struct sql_world *w, const struct sql_table *table, char **error)
{
	struct recorded_visits *v = mem_resize(NULL, 1, sizeof *v);
	(void)table, (void)error;
	*v = (struct recorded_visits){ .world = w };
	return v;
}

static void end_thread(struct recorded_visits *v)
{
	if (v->open) {
		trace_end(&v->cursor);
		replay_close(&v->replay);
	}
	v->open = false;
}

static void close_visits(void *rows)
{
	end_thread(rows);
	free(rows);
}

static void rewind_visits(void *rows, int64_t number)
{
	struct recorded_visits *v = rows;
	size_t n = v->world->trace->nthreads;
	bool one = number != SQL_ALL, there = one && (uint64_t)number < n;
	end_thread(v);
	v->thread = there ? (size_t)number : 0;
	v->end = one ? v->thread + there : n;
}

static void begin_thread(struct recorded_visits *v)
{
	uint32_t clock = v->world->trace->threads[v->thread].clock;
	v->cursor = trace_events(v->world->trace, v->thread);
	replay_open(&v->replay, v->world->trace->nsites);
	v->placed = sql_is_placed(v->world, clock);
	if (v->placed)
		v->clock = times_cursor(v->world->times, clock);
	v->open = true;
}

/* Whether the event ends a visit. */
static bool follow(struct recorded_visits *v, const struct tr_event *e)
{
	if (e->op == DPROF_LOST)
		replay_lose(&v->replay);
	if (e->op == DPROF_ENTER)
		replay_enter(&v->replay, tr_entry(v->world->trace, e));
	if (e->op != DPROF_EXIT || replay_exit(&v->replay, e->site) == 0)
		return false;
	v->depth = v->replay.depth;
	v->visit = v->replay.entry[v->depth];
	v->left = e->stamp;
	return !v->visit.jumped && !v->visit.unsure;
}

static bool next_visit(void *rows)
{
	struct recorded_visits *v = rows;
	for (struct tr_event e; v->thread < v->end; end_thread(v), v->thread++) {
		if (!v->open)
			begin_thread(v);
		while (trace_next_bare(&v->cursor, &e))
			if (follow(v, &e))
				return true;
	}
	return false;
}

static void put_visit_time(const struct recorded_visits *v, uint64_t stamp, sqlite3_context *to,
			   void put(sqlite3_context *, struct interval))
{
	struct frz_cursor clock = v->clock;
	if (v->placed)
		put(to, sql_time(v->world, &clock, stamp));
}

/* As exact as the rate of the thread's clock. */
static void put_length(const struct recorded_visits *v, sqlite3_context *to, void put(sqlite3_context *, struct interval))
{
	if (v->placed)
		put(to, sql_seconds(v->world, times_of_thread(v->world->times, v->thread, v->visit.stamp, v->left)));
}

static void put_visit(const void *rows, int column, sqlite3_context *to)
{
	const struct recorded_visits *v = rows;
	switch (column) {
	case 0: sqlite3_result_int64(to, (int64_t)v->thread); break;
	case 1:
		if (v->visit.site != TR_NO_SITE)
			sqlite3_result_int64(to, v->visit.site);
		break;
	case 2: sqlite3_result_int64(to, (int64_t)v->depth); break;
	case 3: put_visit_time(v, v->visit.stamp, to, sql_put_lo); break;
	case 4: put_visit_time(v, v->visit.stamp, to, sql_put_hi); break;
	case 5: put_visit_time(v, v->left, to, sql_put_lo); break;
	case 6: put_visit_time(v, v->left, to, sql_put_hi); break;
	case 7: put_length(v, to, sql_put_lo); break;
	case 8: put_length(v, to, sql_put_hi); break;
	}
}

const struct sql_table sql_visits = {
	"visits", "thread INTEGER, site INTEGER, depth INTEGER, enter_lo REAL, enter_hi REAL, exit_lo REAL, exit_hi REAL, "
		  "seconds_lo REAL, seconds_hi REAL",
	.numbered = true, .large = true, .open = open_visits, .rewind = rewind_visits, .next = next_visit, .column = put_visit,
	.close = close_visits,
};

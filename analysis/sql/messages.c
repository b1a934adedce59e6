/* SPDX-License-Identifier: MIT
 *
 * messages.c - messages of which both sides are known, as they are matched: from the begin of the send to the end of the
 * receive. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/match/match.h"
#include "analysis/sql/table.h"

struct messages {
	const struct sql_world *world;
	struct match_walk *walk;
	struct match match;
	struct frz_cursor *clocks;
};

static void *open_messages(const struct sql_world *w, const struct sql_table *table, char **error)
{
	struct messages *m = mem_resize(NULL, 1, sizeof *m);
	(void)table, (void)error;
	*m = (struct messages){ .world = w, .clocks = times_cursors(w->times) };
	return m;
}

static void rewind_messages(void *rows, int64_t number)
{
	struct messages *m = rows;
	(void)number;
	if (m->walk)
		match_walk_close(m->walk);
	m->walk = match_walk_open(m->world->trace, match_slack(m->world->trace), NULL);
}

static void close_messages(void *rows)
{
	struct messages *m = rows;
	if (m->walk)
		match_walk_close(m->walk);
	free(m->clocks);
	free(m);
}

static bool next_message(void *rows)
{
	struct messages *m = rows;
	while (match_walk_next(m->walk, &m->match))
		if (m->match.kind == MATCH_MESSAGE)
			return true;
	return false;
}

static uint32_t clock_of(const struct messages *m, uint32_t thread)
{
	return m->world->trace->threads[thread].clock;
}

static void put_end(const struct messages *m, uint32_t thread, uint64_t stamp, sqlite3_context *to,
		    void put(sqlite3_context *, struct interval))
{
	uint32_t clock = clock_of(m, thread);
	if (sql_is_placed(m->world, clock))
		put(to, sql_time(m->world, &m->clocks[clock], stamp));
}

/* It was there no sooner than it was sent. */
static void put_flight(const struct messages *m, sqlite3_context *to, void put(sqlite3_context *, struct interval))
{
	const struct match_part *from = &m->match.parts[0], *by = &m->match.parts[1];
	uint32_t s = clock_of(m, from->thread), r = clock_of(m, by->done_in);
	if (!sql_is_placed(m->world, s) || !sql_is_placed(m->world, r))
		return;
	struct moment sent = { s, from->enter }, received = { r, by->done };
	frz_time flight = times_between_near(m->world->times, m->clocks, sent, received);
	flight.lo = flight.lo > 0 || flight.hi < 0 ? flight.lo : 0;
	put(to, sql_seconds(m->world, flight));
}

static void put_rank(const struct messages *m, const struct match_part *part, sqlite3_context *to)
{
	sqlite3_result_int64(to, m->world->trace->threads[part->thread].rank);
}

static void put_message(const void *rows, int column, sqlite3_context *to)
{
	const struct messages *m = rows;
	const struct match_part *from = &m->match.parts[0], *by = &m->match.parts[1];
	switch (column) {
	case 0: sqlite3_result_int64(to, from->thread); break;
	case 1: sqlite3_result_int64(to, by->done_in); break;
	case 2: put_rank(m, from, to); break;
	case 3: put_rank(m, by, to); break;
	case 4: sqlite3_result_int64(to, from->site); break;
	case 5: sqlite3_result_int64(to, by->site); break;
	case 6: sqlite3_result_int64(to, (int64_t)m->match.group); break;
	case 7: sqlite3_result_int64(to, (int64_t)m->match.number); break;
	case 8:
		if (from->bytes != MATCH_NO_BYTES)
			sqlite3_result_int64(to, (int64_t)from->bytes);
		break;
	case 9: put_end(m, from->thread, from->enter, to, sql_put_lo); break;
	case 10: put_end(m, from->thread, from->enter, to, sql_put_hi); break;
	case 11: put_end(m, by->done_in, by->done, to, sql_put_lo); break;
	case 12: put_end(m, by->done_in, by->done, to, sql_put_hi); break;
	case 13: put_flight(m, to, sql_put_lo); break;
	case 14: put_flight(m, to, sql_put_hi); break;
	}
}

const struct sql_table sql_messages = {
	"messages", "from_thread INTEGER, to_thread INTEGER, from_rank INTEGER, to_rank INTEGER, send_site INTEGER, "
		    "receive_site INTEGER, group_id INTEGER, tag INTEGER, bytes INTEGER, sent_lo REAL, sent_hi REAL, "
		    "received_lo REAL, received_hi REAL, seconds_lo REAL, seconds_hi REAL",
	.large = true, .open = open_messages, .rewind = rewind_messages, .next = next_message, .column = put_message,
	.close = close_messages,
};

/* SPDX-License-Identifier: MIT
 *
 * columns.c - cursors: the blocks of the store (store.h) become columns again, one block for each reader. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/trace/inherit.h"
#include "analysis/trace/trace_jumps.h"
#include "analysis/trace/trace_private.h"

/* A thread's block at hand, in memory of its own. */
struct tr_reader {
	size_t block;            /* its number */
	size_t first;            /* of its first event */
	bool counted;            /* the column of first arguments is made: when it is wanted, as most do not want it */
	struct tr_columns columns;
	uint64_t *stamp, *value; /* to which the columns point */
	uint32_t *what, *argument;
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The first argument of each event. */
static void find_arguments(const struct tr_what *whats, struct tr_reader *r)
{
	uint32_t at = 0;
	for (size_t i = 0; i < r->columns.n; i++) {
		r->argument[i] = at;
		at += whats[r->what[i]].nargs;
	}
	r->counted = true;
}

static inline const struct tr_columns *with_arguments(const struct tr_cursor *c)
{
	if (!c->reader->counted)
		find_arguments(c->trace->whats, c->reader);
	return &c->reader->columns;
}

/* Groups of which the process had another idea. */
static void translate(const struct tr_cursor *c, const struct tr_modules *m)
{
	const struct tr_what *whats = c->trace->whats;
	const struct tr_columns *k = with_arguments(c);
	for (size_t i = 0; i < k->n; i++) {
		const struct tr_what *what = &whats[k->what[i]];
		for (unsigned a = 0; a < what->nargs && what->keys >> DPROF_KEY_GROUP & 1; a++) {
			uint64_t *id = &c->reader->value[k->argument[i] + a];
			size_t place = what->key[a] == DPROF_KEY_GROUP ? ids_find(&m->renamed, *id) : SIZE_MAX;
			*id = place == SIZE_MAX ? *id : m->now[place];
		}
	}
}

static void make_room(struct tr_reader *r, const struct tr_blocks *b)
{
	if (r->stamp)
		return;
	r->stamp = mem_resize(NULL, b->most + b->most_values, sizeof *r->stamp);
	r->what = mem_resize(NULL, 2 * b->most, sizeof *r->what);
	r->value = r->stamp + b->most;
	r->argument = r->what + b->most;
}

static void read_block(const struct tr_cursor *c, size_t block)
{
	uint64_t bytes[BLOCK_BYTES(STORE_EVENTS, 2 * STORE_EVENTS) / sizeof(uint64_t)];
	const struct tr_blocks *b = c->thread->blocks;
	const struct tr_block *at = &b->block[block];
	const struct tr_modules *modules = c->trace->processes[c->thread->process].modules;
	struct tr_reader *r = c->reader;
	make_room(r, b);
	store_read(c->trace->store, at, bytes);
	struct block_head head = block_columns(bytes, r->what, r->stamp, r->value);
	const uint32_t *whats = store_whats(c->trace->store, b->writer);
	for (size_t i = 0; whats && i < head.n; i++)
		r->what[i] = whats[r->what[i]];
	r->block = block;
	r->first = at->first;
	r->counted = false;
	r->columns = (struct tr_columns){ head.n, r->stamp, r->what, r->argument, r->value };
	if (modules && modules->renamed.n)
		translate(c, modules);
	progress_add((uint64_t)head.n + head.nvalues);
}

/* The one with event i. */
static size_t block_of(const struct tr_blocks *b, size_t i)
{
	size_t lo = 0, hi = b->nblocks;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (b->block[mid].first <= i)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Another block than the one at hand, as a rule the next. False behind the last event. */
static bool read_elsewhere(const struct tr_cursor *c, size_t i)
{
	const struct tr_blocks *b = c->thread->blocks;
	struct tr_reader *r = c->reader;
	if (!b || i >= b->n)
		return false;
	bool next = r->columns.n && i == r->first + r->columns.n;
	read_block(c, next ? r->block + 1 : block_of(b, i));
	return true;
}

/* Event i of the thread: its place in the columns at hand, which may be others than before. SIZE_MAX: there is none. */
static inline size_t place_of(const struct tr_cursor *c, size_t i)
{
	const struct tr_reader *r = c->reader;
	return i - r->first < r->columns.n || read_elsewhere(c, i) ? i - r->first : SIZE_MAX;
}

/* ---- Cursors --------------------------------------------------------------------------------- */

struct tr_cursor trace_events(const struct trace *t, size_t thread)
{
	struct tr_cursor c = { .trace = t, .thread = &t->threads[thread] };
	c.reader = mem_resize(NULL, 1, sizeof *c.reader);
	*c.reader = (struct tr_reader){ .block = 0 };
	return c;
}

struct tr_cursor trace_places(const struct trace *t, size_t thread)
{
	struct tr_cursor c = trace_events(t, thread);
	c.inheritance = inherit_of(t, thread);
	c.team_site = TR_NO_SITE;
	c.run = SIZE_MAX;     /* none */
	c.tangled = (c.thread->jumps && c.thread->jumps->tangled) || (c.thread->switches && c.inheritance);
	return c;
}

void trace_end(struct tr_cursor *c)
{
	if (!c->reader)
		return;
	free(c->reader->stamp);
	free(c->reader->what);
	free(c->reader);
	c->reader = NULL;
}

bool trace_columns_bare(struct tr_cursor *c, struct tr_columns *out)
{
	size_t i = place_of(c, c->next);
	if (i == SIZE_MAX)
		return false;
	const struct tr_columns *k = &c->reader->columns;
	*out = (struct tr_columns){ .n = k->n - i, .stamp = k->stamp + i, .what = k->what + i };
	c->next += out->n;
	return true;
}

bool trace_columns(struct tr_cursor *c, struct tr_columns *out)
{
	if (!trace_columns_bare(c, out))
		return false;
	const struct tr_columns *k = with_arguments(c);
	out->argument = k->argument + (k->n - out->n);
	out->value = k->value;
	return true;
}

static inline void give_bare(const struct tr_what *what, const struct tr_columns *k, size_t i, struct tr_event *e)
{
	e->op = what->op;
	e->site = what->site;
	e->inherited = e->implied = e->jumped = e->unsure = false;
	e->nargs = e->keys = 0;
	e->stamp = k->stamp[i];
	e->lost = 0;
	if (e->op == DPROF_LOST) {
		e->stamp = 0;
		e->lost = k->value[k->argument[i]];
	}
}

static inline void give_arguments(const struct tr_what *what, const struct tr_columns *k, size_t i, struct tr_event *e)
{
	const uint64_t *value = k->value + k->argument[i];
	e->keys = what->keys;
	e->nargs = what->nargs;
	for (unsigned a = 0; a < what->nargs; a++)
		e->args[a] = (struct tr_arg){ what->key[a], value[a] };
}

/* Of those at hand; only a loss needs its argument for that. */
static inline void give_next(const struct tr_cursor *c, size_t i, struct tr_event *e)
{
	const struct tr_columns *k = &c->reader->columns;
	const struct tr_what *what = trace_what(c->trace, k, i);
	if (what->op == DPROF_LOST)
		k = with_arguments(c);
	give_bare(what, k, i, e);
}

void trace_event_of(const struct trace *t, const struct tr_columns *k, size_t i, struct tr_event *e)
{
	const struct tr_what *what = trace_what(t, k, i);
	give_bare(what, k, i, e);
	if (e->op != DPROF_LOST)
		give_arguments(what, k, i, e);
}

/* Whether the next event is as it stands in the columns at hand: *i. Nearly all are. */
static inline bool at_hand(const struct tr_cursor *c, size_t *i)
{
	*i = c->next - c->reader->first;
	return *i < c->reader->columns.n && !c->inheritance && !c->thread->jumps;
}

/* From i on, in the columns at hand: the first event that is not passed over. */
static size_t pass_columns(const struct tr_cursor *c, size_t i, uint8_t *sites)
{
	const struct tr_columns *k = &c->reader->columns;
	for (; i < k->n; i++) {
		const struct tr_what *what = trace_what(c->trace, k, i);
		if (what->site == TR_NO_SITE || !(sites[what->site] & (what->keys ? TR_PASS_ARGUMENTS : TR_PASS_BARE)))
			break;
		sites[what->site] |= what->op == DPROF_ENTER ? TR_PASS_ENTERED : 0;
	}
	return i;
}

struct tr_passed trace_pass(struct tr_cursor *c, uint8_t *sites)
{
	struct tr_passed passed = { 0 };
	bool at_hand = !c->inheritance && !c->thread->jumps;
	for (size_t i; at_hand && (i = place_of(c, c->next)) != SIZE_MAX;) {
		const struct tr_columns *k = &c->reader->columns;
		size_t end = pass_columns(c, i, sites);
		c->next += end - i;
		if (end > i)
			passed = (struct tr_passed){ passed.n + end - i, k->stamp[end - 1],
						     trace_what(c->trace, k, end - 1)->site };
		at_hand = end == k->n;
	}
	return passed;
}

struct tr_wanted trace_wanted(const struct trace *t, const bool *what)
{
	return (struct tr_wanted){ what, t->store ? store_kinds(t->store, what) : NULL };
}

void trace_wanted_close(struct tr_wanted *w)
{
	free(w->kinds);
}

bool trace_recorded(const struct trace *t, const struct tr_wanted *w, size_t thread)
{
	const struct tr_blocks *b = t->threads[thread].blocks;
	struct tr_columns k;
	bool has = false;
	if (!b || !(b->kinds & w->kinds[b->writer]))
		return false;
	struct tr_cursor events = trace_events(t, thread);
	while (!has && trace_columns_bare(&events, &k))
		for (size_t i = 0; i < k.n; i++)
			has |= w->what[k.what[i]];
	trace_end(&events);
	return has;
}

static void add_stamp(struct tr_sample *s, uint64_t stamp)
{
	*MEM_GROW(s->stamp, s->count) = stamp;
}

static uint64_t stamp_of(const struct tr_cursor *c, size_t i)
{
	size_t at = place_of(c, i);
	return c->reader->columns.stamp[at];
}

/* Of the events in the store, of which none is a loss; *last: of the last of them. How many they are. */
static size_t sample_store(struct tr_cursor *c, size_t step, struct tr_sample *s, uint64_t *last)
{
	size_t n = c->thread->blocks ? c->thread->blocks->n : 0;
	for (size_t i = 0; i < n; i += step)
		add_stamp(s, stamp_of(c, i));
	if (n)
		*last = stamp_of(c, n - 1);
	return c->next = n;
}

void trace_sample(const struct trace *t, size_t thread, size_t step, struct tr_sample *s)
{
	struct tr_cursor c = trace_events(t, thread);
	struct tr_event e;
	uint64_t last = 0;
	size_t n = t->threads[thread].lost ? 0 : sample_store(&c, step, s, &last);
	while (trace_next_bare(&c, &e)) {
		if (e.op == DPROF_LOST)
			continue;
		last = e.stamp;
		if (n++ % step == 0)
			add_stamp(s, last);
	}
	if (n)
		add_stamp(s, last);
	trace_end(&c);
}

bool trace_next_bare(struct tr_cursor *c, struct tr_event *e)
{
	size_t i;
	if (at_hand(c, &i)) {
		give_next(c, i, e);
		c->next++;
		return true;
	}
	if (c->tangled && !c->told) {
		*e = (struct tr_event){ .op = DPROF_LOST, .site = TR_NO_SITE, .inherited = true };
		c->told = true;
		return true;
	}
	return c->inheritance ? inherit_next(c, e) : trace_next_recorded(c, e);
}

static bool leave_at_the_end(struct tr_cursor *c, struct tr_event *e)
{
	if (c->open == c->thread->nopen)
		return false;
	*e = (struct tr_event){ .stamp = c->thread->ended, .op = DPROF_EXIT, .implied = true,
				.site = c->thread->open[c->open] };
	c->open++;
	return true;
}

bool trace_next_recorded(struct tr_cursor *c, struct tr_event *e)
{
	size_t i = place_of(c, c->next);
	if (i == SIZE_MAX)
		return leave_at_the_end(c, e);
	give_next(c, i, e);
	c->next++;
	if (c->thread->jumps && e->op != DPROF_LOST)
		jumps_mark(c->thread->jumps, c->next - 1, e);
	if (c->tangled && e->op != DPROF_LOST)
		e->site = TR_NO_SITE;
	return true;
}

void trace_arguments(const struct tr_cursor *c, struct tr_event *e)
{
	if (e->op == DPROF_LOST || e->inherited || e->implied || !c->next)
		return;
	size_t i = place_of(c, c->next - 1);
	if (i == SIZE_MAX)
		return;
	const struct tr_columns *k = with_arguments(c);
	give_arguments(trace_what(c->trace, k, i), k, i, e);
}

bool trace_next(struct tr_cursor *c, struct tr_event *e)
{
	size_t i;
	if (at_hand(c, &i)) {
		trace_event_of(c->trace, with_arguments(c), i, e);
		c->next++;
		return true;
	}
	if (!trace_next_bare(c, e))
		return false;
	trace_arguments(c, e);
	return true;
}

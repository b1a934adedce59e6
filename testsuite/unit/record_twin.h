/* SPDX-License-Identifier: MIT
 *
 * record_twin.h - the slow twin of the store: it goes along the records themselves, one at a time. */
#ifndef TESTSUITE_RECORD_TWIN_H
#define TESTSUITE_RECORD_TWIN_H

#include "analysis/base/memory.h"
#include "analysis/trace/trace_private.h"
#include "testsuite/unit/thread_words.h"
#include "testsuite/unit/unit.h"

/* ---- Events of records ----------------------------------------------------------------------- */

struct record_twin { const struct tr_record *record; size_t n, next; const struct tr_modules *modules; };

static inline uint64_t twin_group(const struct tr_modules *m, uint64_t id)
{
	size_t place = m && m->renamed.n ? ids_find(&m->renamed, id) : SIZE_MAX;
	return place == SIZE_MAX ? id : m->now[place];
}

/* The arguments of the event: the first of each key counts. */
static inline void twin_arguments(struct record_twin *t, struct tr_event *e)
{
	for (; t->next < t->n && TR_OP(t->record[t->next].what) == DPROF_ARG; t->next++) {
		const struct tr_record *r = &t->record[t->next];
		unsigned key = (unsigned)TR_BODY(r->what);
		if (e->op == DPROF_LOST || e->keys & 1u << key)
			continue;
		e->keys |= 1u << key;
		e->args[e->nargs++] = (struct tr_arg){ (enum dprof_key)key,
			key == DPROF_KEY_GROUP ? twin_group(t->modules, r->stamp) : r->stamp };
	}
}

static inline bool twin_next(struct record_twin *t, struct tr_event *e)
{
	while (t->next < t->n) {
		const struct tr_record *r = &t->record[t->next++];
		*e = (struct tr_event){ .op = TR_OP(r->what), .site = TR_NO_SITE };
		if (is_event(r)) {
			e->stamp = r->stamp;
			e->site = (uint32_t)TR_BODY(r->what);
			twin_arguments(t, e);
			return true;
		}
		e->lost = r->stamp;
		if (e->op == DPROF_LOST && r->stamp)
			return true;
	}
	return false;
}

static inline bool twin_same_event(const struct tr_event *x, const struct tr_event *y)
{
	bool same = x->stamp == y->stamp && x->op == y->op && x->site == y->site && x->lost == y->lost &&
		    x->nargs == y->nargs && x->keys == y->keys;
	for (unsigned i = 0; same && i < x->nargs; i++)
		same = x->args[i].key == y->args[i].key && x->args[i].value == y->args[i].value;
	return same;
}

/* The next columns of one cursor; those of another are the same, as far as they go. */
static inline bool twin_columns(struct tr_cursor *all, struct tr_cursor *bare, struct tr_columns *k)
{
	struct tr_columns b;
	return trace_columns(all, k) && trace_columns_bare(bare, &b) && b.n == k->n &&
	       !memcmp(b.stamp, k->stamp, k->n * sizeof *b.stamp) && !memcmp(b.what, k->what, k->n * sizeof *b.what);
}

/* How many events the thread has; SIZE_MAX, if it has others than the records say, event by event or in columns. */
static inline size_t twin_events(const struct trace *t, size_t thread, const struct tr_record *record, size_t n)
{
	struct record_twin twin = { record, n, 0, t->processes[t->threads[thread].process].modules };
	struct tr_cursor one = trace_events(t, thread), many = trace_events(t, thread), bare = trace_events(t, thread);
	struct tr_columns k = { 0 };
	struct tr_event truth, e;
	size_t events = 0, at = 0;
	bool same = true;
	for (; same && twin_next(&twin, &truth); events++, at++) {
		if (at == k.n) {
			same = twin_columns(&many, &bare, &k);
			at = 0;
		}
		same = same && trace_next(&one, &e) && twin_same_event(&e, &truth);
		if (same)
			trace_event_of(t, &k, at, &e);
		same = same && twin_same_event(&e, &truth);
	}
	same = same && at == k.n && !trace_columns(&many, &k) && (!trace_next(&one, &e) || e.implied);
	trace_end(&one);
	trace_end(&many);
	trace_end(&bare);
	return same ? events : SIZE_MAX;
}

/* ---- Records of words ------------------------------------------------------------------------ */

static inline bool twin_goes_back(uint64_t *highest, unsigned *keys, const struct tr_record *r)
{
	uint64_t key = TR_BODY(r->what);
	bool back = is_event(r) && r->stamp < *highest;
	if (is_event(r)) {
		*highest = r->stamp;
		*keys = 1;
	} else if (TR_OP(r->what) == DPROF_LOST) {
		*keys = 0;
	} else if (*keys & 1 && !(*keys & 1u << key)) {
		*keys |= 1u << key;
		back = key == DPROF_KEY_SINCE && r->stamp < *highest;
	}
	return back;
}

/* The records of a thread in the order of its stamps, to be freed. */
static inline struct tr_record *twin_records(const struct trace *t, struct tr_words *w, size_t *n)
{
	struct loaded l = { .n = 0 };
	struct word_place p = { 0 };
	struct tr_record r, *sorted = NULL;
	struct order_damage damage;
	uint64_t highest = 0;
	unsigned keys = 0;
	bool back = false;
	for (enum word_damage d; (d = words_next(w, &p, &r)) != DAMAGE_END;) {
		keys = d == DAMAGE_UNWRITTEN ? 0 : keys;
		if (!is_record(d))
			continue;
		back |= twin_goes_back(&highest, &keys, &r);
		keys = d == DAMAGE_NONE ? keys : 1;
		l.record = mem_grow(l.record, l.n, sizeof r);
		l.word = mem_grow(l.word, l.n, sizeof *l.word);
		l.epoch = mem_grow(l.epoch, l.n, sizeof *l.epoch);
		l.word[l.n] = l.epoch[l.n] = 0;
		l.record[l.n++] = r;
	}
	*n = l.n;
	if (back) {
		sorted = mem_resize(NULL, l.n + 1, sizeof *sorted);
		bring_forward(&l);
		*n = order_records(t, l.record, l.n, sorted, &damage);
		free(l.record);
	}
	free(l.word);
	free(l.epoch);
	return back ? sorted : l.record;
}

#endif

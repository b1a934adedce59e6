/* SPDX-License-Identifier: MIT
 *
 * trace_scan.c - see trace_scan.h. */
#include "analysis/trace/trace_scan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"

/* ---- Looking at the records ------------------------------------------------------------------ */

/* A word here and there may never have been written: a signal handler jumped away. Not so many
 * in a row. */
#define HOLE_WORDS 16

/* Nor so many in all: a sparse file may be of any size. */
#define UNWRITTEN_WORDS ((size_t)1 << 24)

static const struct { const char *expected, *advice; } damages[NDAMAGES] = {
	[FOREIGN] = { "a record", "" },
	[NO_SITE] = { "the address of a site", "" },
	[NO_MODULE] = { "an address in a module of its process", ": was the program stripped?" },
	[AMBIGUOUS] = { "an address in one module of its process", ", which is in several" },
	[UNWRITTEN] = { "records", " and as much behind it" },
	[NO_EVENT] = { "an event before the argument", "" },
	[NOT_LATER] = { "an event later than those before its process's end", "" },
	[TWICE] = { "an argument that the event does not have yet", "" },
};

static void found(struct scan *s, enum scan_damage d, size_t word)
{
	if (!s->count[d]++)
		s->first[d] = word;
}

static void use_group(struct scan *s, uint64_t id)
{
	struct opened_trace *o = s->o;
	if (s->groups.n && id == s->group)
		return;
	s->group = id;
	if (ids_add(&s->groups, id))
		*MEM_GROW(o->uses, o->nuses) = (struct group_use){ s->index, id };
}

static inline void scan_argument(struct scan *s, const struct tr_record *r, size_t word)
{
	uint64_t key = TR_BODY(r->what);
	if (!(s->keys & 1))
		found(s, NO_EVENT, word);
	else if (s->keys & 1u << key)
		found(s, TWICE, word);
	else if (key == DPROF_KEY_GROUP)
		use_group(s, r->stamp);
	else if (key == DPROF_KEY_SINCE && r->stamp < s->highest)
		s->back = true;
	else if (key == DPROF_KEY_THREAD && s->joins && r->stamp < UINT32_MAX)
		s->joining = (uint32_t)r->stamp + 1;
	s->keys |= s->keys & 1 ? 1u << key : 0;
}

/* Of an event that may end a thread, or whose site says that something is unseen: few are such. */
static void look_closer(struct scan *s, const struct tr_record *r)
{
	uint32_t site = (uint32_t)TR_BODY(r->what);
	s->joins = TR_OP(r->what) == DPROF_ENTER && tr_is(&s->o->t, site, OP_JOINS_THREAD);
	if (TR_OP(r->what) == DPROF_EXIT && s->joining > s->thread->joined)
		s->thread->joined = s->joining;
	s->joining = 0;
	if (TR_OP(r->what) != DPROF_POINT || !tr_is(&s->o->t, site, OP_UNSEEN))
		return;
	s->thread->unseen++;
	s->thread->unseen_by = s->o->t.sites[site].name;
	s->thread->lost_child |= tr_is(&s->o->t, site, OP_CHILD);
}

/* All arguments of the last event have been seen. */
static inline void end_event(struct scan *s)
{
	if (s->joins && !(s->keys & 1u << DPROF_KEY_THREAD))
		s->thread->unknown_joins++;
	s->joins = false;
}

/* Behind the words of which the file says the sum stands only what the thread recorded since. */
static void scan_order(struct scan *s, const struct tr_record *r, size_t word)
{
	if (word < s->thread->words->words.vouched)
		s->vouched = r->stamp > s->vouched ? r->stamp : s->vouched;
	else if (r->stamp <= s->vouched)
		found(s, NOT_LATER, word);
	if (r->stamp < s->highest)
		s->back = true;
	s->highest = r->stamp;
}

/* `number`: of the event, if it is one. */
static inline __attribute__((always_inline)) void scan_record(struct scan *s, const struct tr_record *r, size_t word, size_t number)
{
	if (TR_OP(r->what) == DPROF_ARG) {
		scan_argument(s, r, word);
		return;
	}
	jumps_event(&s->jumps, r, number);
	end_event(s);
	s->keys = is_event(r);
	if (!s->keys) {
		s->lost += r->stamp;
		return;
	}
	scan_order(s, r, word);
	if (tr_is(&s->o->t, (uint32_t)TR_BODY(r->what), OP_JOINS_THREAD | OP_UNSEEN))
		look_closer(s, r);
}

static void scan_damage(struct scan *s, enum word_damage damage, size_t word)
{
	bool known = !s->thread->words->modules->incomplete;
	if (damage == DAMAGE_UNWRITTEN) {
		s->unwritten++;
		s->all_unwritten++;
		s->keys = 0;
		return;
	}
	if (s->unwritten >= HOLE_WORDS)
		found(s, UNWRITTEN, word - s->unwritten);
	s->unwritten = 0;
	if (damage == DAMAGE_FOREIGN)
		found(s, FOREIGN, word);
	else if (damage == DAMAGE_AMBIGUOUS)
		found(s, AMBIGUOUS, word);
	else if (damage == DAMAGE_NO_SITE && known)
		found(s, NO_SITE, word);
	else if (damage == DAMAGE_NO_MODULE && known)
		found(s, NO_MODULE, word);
}

static void tell(const struct scan *s)
{
	struct ch_words *w = &s->thread->words->words;
	for (int d = 0; d < NDAMAGES; d++) {
		if (!s->count[d])
			continue;
		char *more = s->count[d] > 1
				     ? mem_format(" (and %zu more like it)", s->count[d] - 1)
				     : mem_copy("");
		trace_diagnose(&s->o->t,
			       "%s: offset %" PRIu64 ": expected %s, found 0x%" PRIx64 "%s%s",
			       ch_file(w, s->first[d]), ch_offset(w, s->first[d]),
			       damages[d].expected, ch_word(w, s->first[d]), damages[d].advice,
			       more);
		free(more);
	}
}

/* ---- One after the other --------------------------------------------------------------------- */

/* It was forked in a region that is not known (trace_forked.c), as the trace says that was made of its text: no damage. */
static bool forked_anywhere(const struct scan *s, enum word_damage damage, const struct tr_record *r)
{
	return damage == DAMAGE_NO_MODULE && TR_OP(r->what) == DPROF_ENTER && s->thread->nrecords < s->thread->entered;
}

bool scan_one(struct scan *s, struct word_place *p)
{
	struct tr_record r;
	enum word_damage damage = words_next(s->thread->words, p, &r);
	if (forked_anywhere(s, damage, &r))
		damage = DAMAGE_NONE;
	scan_damage(s, damage, p->record);
	if (is_record(damage)) {
		scan_record(s, &r, p->record, store_events(s->o->reader->writer));
		store_record(s->o->reader->writer, &r);
		s->thread->nrecords++;
	}
	if (is_record(damage) && damage != DAMAGE_NONE) {
		s->unsaid += TR_OP(r.what) == DPROF_LOST ? r.stamp : 0;
		s->keys = 1; /* what stands behind it is of an event that was there */
	}
	return damage != DAMAGE_END;
}

/* ---- Plain words ------------------------------------------------------------------------------- */

/* Where a run of them is; and what changes with every event of what the scan knows. */
struct scan_plain { struct scan *s; const struct tr_site *sites; struct store_tail tail; uint64_t near, highest; bool back; };

static inline bool take_argument(struct scan_plain *p, uint64_t word)
{
	unsigned key = dprof_small(word);
	uint64_t value = dprof_value(word);
	if (!tail_argument(&p->tail, key, value))
		return false;
	if (key == DPROF_KEY_GROUP)
		use_group(p->s, value);
	p->back |= key == DPROF_KEY_SINCE && value < p->highest;
	return true;
}

/* An event that needs no closer look. */
static inline bool take_event(struct scan_plain *p, uint32_t what, uint64_t word)
{
	uint64_t stamp = dprof_stamp_near(word, p->near);
	uint32_t site = (uint32_t)TR_BODY(what), is;
	if (what >= TR_SEVERAL || !word || p->sites[site].op.is & (OP_JOINS_THREAD | OP_UNSEEN) ||
	    !(is = tail_knows(&p->tail, what)) ||
	    !jumps_plain(&p->s->jumps, TR_OP(what), site, stamp, p->tail.first + p->tail.n))
		return false;
	tail_event(&p->tail, is, stamp);
	p->back |= stamp < p->highest;
	p->highest = p->near = stamp;
	return true;
}

/* The words at hand, of which the file says the sum or says none. */
static struct ch_run run_of_vouched(struct ch_words *w, size_t at)
{
	struct ch_run run = ch_run(w, at);
	if (run.n > w->vouched - at)
		run.n = w->vouched - at;
	return run;
}

/* Of the words at hand; of the last of them it is not known what stands behind it. How many. */
static inline size_t take_run(struct scan_plain *p, const struct tr_ids *ids, struct ch_run run)
{
	size_t i = 0;
	for (; i + 1 < run.n; i++) {
		uint64_t word = run.word[i];
		bool taken = !dprof_is_escape(word) ? take_event(p, words_what(ids, word), word)
			     : words_plain_argument(word, run.word[i + 1]) && take_argument(p, word);
		if (!taken)
			break;
	}
	return i;
}

/* The run has taken n words. A copy is what says so, that the compiler may have the other in registers. */
static void end_run(struct scan_plain p, struct word_place *place, size_t n, size_t events)
{
	struct scan *s = p.s;
	store_put_tail(s->o->reader->writer, &p.tail);
	s->keys = (events ? 1 : s->keys) | store_last(s->o->reader->writer)->keys;
	s->vouched = p.highest > s->vouched ? p.highest : s->vouched;
	s->highest = p.highest;
	s->back |= p.back;
	s->thread->nrecords += n;
	place->at += n;
	place->near = p.near;
	progress_add(n);
}

size_t scan_plain(struct scan *s, struct word_place *place)
{
	struct tr_words *w = s->thread->words;
	struct store_tail tail;
	if (place->at >= w->words.n || place->at >= w->words.vouched || !(s->keys & 1) ||
	    s->joins || !store_tail(s->o->reader->writer, &tail))
		return 0;
	struct scan_plain p = { .s = s, .sites = s->o->t.sites, .tail = tail, .near = place->near, .highest = s->highest };
	size_t n = take_run(&p, w->modules->ids, run_of_vouched(&w->words, place->at));
	if (n)
		end_run(p, place, n, p.tail.n - tail.n);
	return n;
}

void scan_begin(struct scan *s, struct opened_trace *o, struct tr_thread *thread, uint32_t index)
{
	*s = (struct scan){ .o = o, .thread = thread, .index = index };
	jumps_begin(&s->jumps, &o->t, thread);
}

bool scan_is_endless(const struct scan *s)
{
	return s->all_unwritten == UNWRITTEN_WORDS;
}

void scan_end(struct scan *s)
{
	end_event(s);
	for (int d = 0; d < NDAMAGES; d++)
		s->thread->gaps |= s->count[d] > 0;
	ids_free(&s->groups);
	tell(s);
}

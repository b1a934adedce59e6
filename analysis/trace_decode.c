/* SPDX-License-Identifier: MIT
 *
 * trace_decode.c - from the words of a file (runtime/words.h) to records, block by block.
 *
 * Law: the same words give the same records each time, so a block can be decoded again whenever it
 * is wanted, and memory does not grow with the length of a run. */
#include <stdlib.h>
#include <string.h>

#include "analysis/memory.h"
#include "analysis/trace_private.h"

/* ---- One record ------------------------------------------------------------------------------ */

/* The site at `address` in its module, with `op`, as the `what` of a record; or TR_NO_SITE there. */
static uint64_t what_at(const struct tr_modules *m, uint64_t address, unsigned op,
			enum word_damage *damage)
{
	bool within = false;
	for (size_t i = 0; i < m->nmodules; i++) {
		uint64_t offset = address - m->module[i].at;
		if (offset >= m->module[i].size)
			continue;
		uint32_t what = m->module[i].what[offset / 8];
		within = true;
		if (what != TR_NO_SITE && what % 4 == DPROF_ENTER && offset % 8 == 0)
			return TR_WHAT(what / 4, op);
	}
	*damage = within ? DAMAGE_NO_SITE : DAMAGE_NO_MODULE;
	return TR_WHAT(TR_NO_SITE, op);
}

/* What an id says in one module: a site and an operation, as struct tr_module has them. */
static uint32_t what_in(const struct tr_module *m, uint64_t id)
{
	uint64_t unit = (id - m->first_id) & (DPROF_IDS - 1);
	return unit < m->size / 8 ? m->what[unit] : TR_NO_SITE;
}

static bool is_in(const struct tr_module *m, uint64_t id)
{
	return ((id - m->first_id) & (DPROF_IDS - 1)) < m->size / 8;
}

/* An id that no module knows, or several. */
static enum word_damage strange(const struct tr_modules *m, uint64_t id)
{
	unsigned known = 0, within = 0;
	for (size_t i = 0; i < m->nmodules; i++) {
		known += what_in(&m->module[i], id) != TR_NO_SITE;
		within += is_in(&m->module[i], id);
	}
	return known ? DAMAGE_AMBIGUOUS : within ? DAMAGE_NO_SITE : DAMAGE_NO_MODULE;
}

/* What it did is not known when its site is not: that is as good as lost. */
static inline enum word_damage event_of(const struct tr_modules *m, uint64_t id,
					struct tr_record *r)
{
	uint32_t found = TR_NO_SITE;
	unsigned n = 0;
	for (size_t i = 0; i < m->nmodules; i++) {
		uint32_t what = what_in(&m->module[i], id);
		if (what == TR_NO_SITE)
			continue;
		found = what;
		n++;
	}
	if (n == 1) {
		r->what = TR_WHAT(found / 4, found % 4);
		return DAMAGE_NONE;
	}
	*r = (struct tr_record){ 1, TR_WHAT(0, DPROF_LOST) };
	return strange(m, id);
}

static uint64_t with_high(const struct tr_words *w, struct word_place *p, unsigned key,
			  uint64_t value)
{
	size_t at = p->at;
	while (at < w->n && dprof_is(w->word[at], DPROF_ESCAPE_EPOCH))
		at++;
	if (at == w->n || !dprof_is(w->word[at], DPROF_ESCAPE_ARG_HIGH) ||
	    dprof_small(w->word[at]) != key)
		return value;
	for (; p->at < at; p->at++)
		p->near = dprof_value(w->word[p->at]) * DPROF_EPOCH_UNIT;
	return value | dprof_value(w->word[p->at++]) << 56;
}

static enum word_damage wide(const struct tr_words *w, struct word_place *p, unsigned op,
			     struct tr_record *r)
{
	enum word_damage damage = DAMAGE_NONE;
	uint64_t stamp, site;
	if (w->n - p->at < DPROF_WIDE_WORDS - 1 || op > DPROF_POINT) {
		p->at = op > DPROF_POINT ? p->at : w->n;
		return op > DPROF_POINT ? DAMAGE_FOREIGN : DAMAGE_UNWRITTEN;
	}
	stamp = w->word[p->at++];
	site = w->word[p->at++];
	if (!site) /* the process ended before it wrote that, or a handler jumped away */
		return DAMAGE_UNWRITTEN;
	p->near = stamp;
	*r = (struct tr_record){ stamp, what_at(w->modules, site, op, &damage) };
	return damage;
}

/* One escape; DAMAGE_SILENT when it is no record. */
static enum word_damage escape(const struct tr_words *w, struct word_place *p, uint64_t word,
			       struct tr_record *r)
{
	unsigned small = dprof_small(word);
	switch (dprof_escape_kind(word)) {
	case DPROF_ESCAPE_EPOCH:
		p->near = p->epoch = dprof_value(word) * DPROF_EPOCH_UNIT;
		return DAMAGE_SILENT;
	case DPROF_ESCAPE_NOTHING:
		return DAMAGE_SILENT;
	case DPROF_ESCAPE_ARG:
		if (small == DPROF_KEY_NONE || small >= DPROF_KEY_COUNT)
			return DAMAGE_FOREIGN;
		*r = (struct tr_record){ with_high(w, p, small, dprof_value(word)),
					 TR_WHAT(small, DPROF_ARG) };
		return DAMAGE_NONE;
	case DPROF_ESCAPE_LOST:
		*r = (struct tr_record){ dprof_value(word), TR_WHAT(0, DPROF_LOST) };
		return DAMAGE_NONE;
	case DPROF_ESCAPE_WIDE:
		return wide(w, p, small, r);
	case DPROF_ESCAPE_ARG_HIGH:
		break;
	}
	return DAMAGE_FOREIGN;
}

enum word_damage words_next(const struct tr_words *w, struct word_place *p, struct tr_record *r)
{
	enum word_damage damage = DAMAGE_SILENT;
	while (p->at < w->n && damage == DAMAGE_SILENT) {
		uint64_t word = w->word[p->record = p->at++];
		if (!word)
			return DAMAGE_UNWRITTEN;
		if (dprof_is_escape(word)) {
			damage = escape(w, p, word, r);
			continue;
		}
		r->stamp = p->near = dprof_stamp_near(word, p->near);
		damage = event_of(w->modules, word & (DPROF_IDS - 1), r);
	}
	return damage == DAMAGE_SILENT ? DAMAGE_END : damage;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

void words_add_block(struct tr_words *w, const struct word_place *p)
{
	*MEM_GROW(w->block, w->nblocks) = *p;
}

static void decode(const struct tr_words *w, size_t block, struct tr_block *into)
{
	struct word_place p = w->block[block];
	if (!into->record)
		into->record = mem_resize(NULL, BLOCK_RECORDS, sizeof *into->record);
	into->first = block * BLOCK_RECORDS;
	into->n = 0;
	while (into->n < BLOCK_RECORDS) {
		enum word_damage damage = words_next(w, &p, &into->record[into->n]);
		if (damage == DAMAGE_END)
			return;
		into->n += is_record(damage);
	}
}

const struct tr_record *words_record_elsewhere(struct tr_words *w, size_t i)
{
	w->recent = !w->recent;
	struct tr_block *b = &w->decoded[w->recent];
	if (i - b->first >= b->n)
		decode(w, i / BLOCK_RECORDS, b);
	return &b->record[i - b->first];
}

void words_close(struct tr_words *w)
{
	if (!w)
		return;
	free(w->decoded[0].record);
	free(w->decoded[1].record);
	free(w->block);
	free(w);
}

/* ---- Threads --------------------------------------------------------------------------------- */

bool trace_ends(const struct tr_thread *thread, uint64_t *first, uint64_t *last)
{
	size_t i = 0, end = thread->nrecords;
	while (i < end && !is_event(thread_record(thread, i)))
		i++;
	if (i == end)
		return false;
	*first = thread_record(thread, i)->stamp;
	while (!is_event(thread_record(thread, end - 1)))
		end--;
	*last = thread_record(thread, end - 1)->stamp;
	return true;
}

void trace_load(const struct tr_thread *thread, struct tr_record *to)
{
	for (size_t i = 0; i < thread->nrecords; i++)
		to[i] = *thread_record(thread, i);
}

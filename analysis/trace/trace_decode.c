/* SPDX-License-Identifier: MIT
 *
 * trace_decode.c - from the words of a file (runtime/words.h) to records.
 *
 * Law: the same words give the same records each time. */
#include <stdlib.h>

#include "analysis/trace/trace_private.h"

/* ---- One record ------------------------------------------------------------------------------ */

/* The site at `address` in its module, with `op`, as the `what` of a record; or TR_NO_SITE there. Where that was
 * several modules' one after another, in the last one that was there at `stamp`. */
static uint64_t what_at(const struct tr_modules *m, uint64_t address, unsigned op, uint64_t stamp,
			enum word_damage *damage)
{
	bool within = false;
	uint64_t found = TR_WHAT(TR_NO_SITE, op), since = 0;
	for (const struct tr_module *x = m->module; x < m->module + m->nmodules; x++) {
		uint64_t offset = address - x->at;
		if (offset >= x->size)
			continue;
		uint32_t what = x->what[offset / 8];
		within = true;
		if (what == TR_NO_SITE || what % 4 != DPROF_ENTER || offset % 8 || x->from > stamp)
			continue;
		if (found == TR_WHAT(TR_NO_SITE, op) || x->from > since) {
			found = TR_WHAT(what / 4, op);
			since = x->from;
		}
	}
	if (found == TR_WHAT(TR_NO_SITE, op))
		*damage = within ? DAMAGE_NO_SITE : DAMAGE_NO_MODULE;
	return found;
}

/* What the id that several modules have means in the last one that was there at `stamp`; TR_SEVERAL where there is
 * none, or more than one. */
static uint32_t what_then(const struct tr_modules *m, uint64_t id, uint64_t stamp)
{
	uint32_t found = TR_SEVERAL;
	uint64_t since = 0;
	bool any = false;
	for (const struct tr_module *x = m->module; x < m->module + m->nmodules; x++) {
		uint64_t unit = (id - x->first_id) & (DPROF_IDS - 1);
		uint32_t says = unit < x->size / 8 ? x->what[unit] : TR_NO_SITE;
		uint32_t what = (uint32_t)TR_WHAT(says / 4, says % 4);
		if (says == TR_NO_SITE || x->from > stamp || (any && x->from < since))
			continue;
		found = any && x->from == since && what != found ? TR_SEVERAL : what;
		since = x->from;
		any = true;
	}
	return found;
}

static bool in_a_module(const struct tr_modules *m, uint64_t id)
{
	for (size_t i = 0; i < m->nmodules; i++)
		if (((id - m->module[i].first_id) & (DPROF_IDS - 1)) < m->module[i].size / 8)
			return true;
	return false;
}

/* What it did is not known when its site is not: that is as good as lost. */
static enum word_damage event_of(const struct tr_modules *m, uint64_t word, struct tr_record *r)
{
	uint32_t what = words_what(m->ids, word);
	if (what == TR_SEVERAL)
		what = what_then(m, word & (DPROF_IDS - 1), r->stamp);
	if (what < TR_SEVERAL) {
		r->what = what;
		return DAMAGE_NONE;
	}
	*r = (struct tr_record){ 1, TR_WHAT(0, DPROF_LOST) };
	return what == TR_SEVERAL                          ? DAMAGE_AMBIGUOUS
	       : in_a_module(m, word & (DPROF_IDS - 1)) ? DAMAGE_NO_SITE
							: DAMAGE_NO_MODULE;
}

static uint64_t with_high(struct tr_words *w, struct word_place *p, unsigned key,
			  uint64_t value)
{
	size_t at = p->at;
	while (at < w->words.n && dprof_is(ch_word(&w->words, at), DPROF_ESCAPE_EPOCH))
		at++;
	if (at == w->words.n || !dprof_is(ch_word(&w->words, at), DPROF_ESCAPE_ARG_HIGH) ||
	    dprof_small(ch_word(&w->words, at)) != key)
		return value;
	for (; p->at < at; p->at++)
		p->near = dprof_value(ch_word(&w->words, p->at)) * DPROF_EPOCH_UNIT;
	return value | dprof_value(ch_word(&w->words, p->at++)) << 56;
}

static enum word_damage wide(struct tr_words *w, struct word_place *p, unsigned op,
			     struct tr_record *r)
{
	enum word_damage damage = DAMAGE_NONE;
	uint64_t stamp, site;
	if (w->words.n - p->at < DPROF_WIDE_WORDS - 1 || op > DPROF_POINT) {
		p->at = op > DPROF_POINT ? p->at : w->words.n;
		return op > DPROF_POINT ? DAMAGE_FOREIGN : DAMAGE_UNWRITTEN;
	}
	stamp = ch_word(&w->words, p->at++);
	site = ch_word(&w->words, p->at++);
	if (!site) /* the process ended before it wrote that, or a handler jumped away */
		return DAMAGE_UNWRITTEN;
	p->near = stamp;
	*r = (struct tr_record){ stamp, what_at(w->modules, site, op, stamp, &damage) };
	return damage;
}

/* One escape; DAMAGE_SILENT when it is no record. */
static enum word_damage escape(struct tr_words *w, struct word_place *p, uint64_t word,
			       struct tr_record *r)
{
	unsigned small = dprof_small(word);
	switch (dprof_escape_kind(word)) {
	case DPROF_ESCAPE_EPOCH:
		p->near = p->epoch = dprof_value(word) * DPROF_EPOCH_UNIT;
		return DAMAGE_SILENT;
	case DPROF_ESCAPE_NOTHING:
	case DPROF_ESCAPE_CHUNK:
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

/* The call that the thread was in when its process ended, if it has recorded nothing since. */
static enum word_damage last_call(const struct tr_words *w, struct word_place *p, struct tr_record *r)
{
	enum word_damage damage = DAMAGE_NONE;
	if (p->is_behind || !w->last.since || w->last.since < p->near || !p->at)
		return DAMAGE_END;
	p->is_behind = true;
	p->record = p->at - 1;
	*r = (struct tr_record){ w->last.since, what_at(w->modules, w->last.site, DPROF_ENTER, w->last.since, &damage) };
	return damage == DAMAGE_NONE ? DAMAGE_NONE : DAMAGE_END;
}

enum word_damage words_next(struct tr_words *w, struct word_place *p, struct tr_record *r)
{
	enum word_damage damage = DAMAGE_SILENT;
	while (p->at < w->words.n && damage == DAMAGE_SILENT) {
		uint64_t word = ch_word(&w->words, p->record = p->at++);
		if (!word)
			return DAMAGE_UNWRITTEN;
		if (dprof_is_escape(word)) {
			damage = escape(w, p, word, r);
			continue;
		}
		r->stamp = p->near = dprof_stamp_near(word, p->near);
		damage = event_of(w->modules, word, r);
	}
	return damage == DAMAGE_SILENT ? last_call(w, p, r) : damage;
}

void words_close(struct tr_words *w)
{
	if (!w)
		return;
	ch_close(&w->words);
	free(w);
}

/* ---- Threads --------------------------------------------------------------------------------- */

bool trace_ends(const struct tr_thread *thread, uint64_t *first, uint64_t *last)
{
	if (!thread->blocks || !thread->blocks->any)
		return false;
	*first = thread->blocks->first;
	*last = thread->nopen ? thread->ended : thread->blocks->last;
	return true;
}

bool trace_lost_before(const struct tr_thread *thread)
{
	return (thread->blocks && thread->blocks->lost_before) || (thread->lost > 0 && !thread->nrecords);
}

bool trace_lost_behind(const struct tr_thread *thread)
{
	return thread->lost_last || (thread->blocks && thread->blocks->lost_behind);
}

bool trace_has_all(const struct trace *t)
{
	for (size_t i = 0; i < t->nprocesses; i++)
		if (t->processes[i].killed)
			return false;
	return t->ndiagnostics == 0;
}

bool trace_goes_on(const struct tr_thread *thread)
{
	uint64_t first, last = 0;
	trace_ends(thread, &first, &last);
	return (!thread->complete || trace_lost_behind(thread)) && thread->latest > last;
}

/* SPDX-License-Identifier: MIT
 *
 * events.c - see events.h. An expression becomes the automaton of its positions (V. M. Glushkov, The abstract theory of
 * automata, 1961): which can be first, which last, and which can follow which. */
#include "analysis/diagnose/events.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/clocks/times.h"

static const char *const kinds[EVENT_KINDS] = { "work", "send", "receive", "exchange", "collective", "other" };
static const char *const roles[ROLES] = { "any", "master", "worker" };
static const char *const measures[] = { "took", "waited", "transfer" };

/* ---- Words ----------------------------------------------------------------------------------- */

struct reader {
	struct event_type *type;
	const char *at;              /* in the line */
	size_t line;
	char *error;
};

static void skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t");
}

static bool fail(struct reader *r, const char *expected)
{
	skip_blanks(r);
	size_t n = strcspn(r->at, " \t\n");
	if (!r->error)
		r->error = n ? mem_format("line %zu: expected %s, found \"%.*s\"", r->line, expected, (int)n, r->at)
			     : mem_format("line %zu: expected %s, found the end of the line", r->line, expected);
	return false;
}

static size_t word_length(const char *at)
{
	size_t n = 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '-')
		n++;
	return n;
}

static bool take_sign(struct reader *r, char sign)
{
	skip_blanks(r);
	if (*r->at != sign)
		return false;
	r->at++;
	return true;
}

static bool take_word(struct reader *r, const char *word)
{
	skip_blanks(r);
	size_t n = word_length(r->at);
	if (n != strlen(word) || strncmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool take_name(struct reader *r, char **name)
{
	skip_blanks(r);
	size_t n = word_length(r->at);
	if (n == 0)
		return fail(r, "a name");
	*name = mem_format("%.*s", (int)n, r->at);
	r->at += n;
	return true;
}

/* One of some words. */
static bool take_one(struct reader *r, const char *const *words, size_t n, const char *expected, unsigned *found)
{
	for (*found = 0; *found < n; ++*found)
		if (take_word(r, words[*found]))
			return true;
	return fail(r, expected);
}

static bool take_role(struct reader *r, enum event_role *role)
{
	unsigned found;
	if (!take_one(r, roles, ROLES, "a role", &found))
		return false;
	*role = (enum event_role)found;
	return true;
}

size_t event_constituent(const struct event_type *type, const char *name)
{
	for (size_t i = 0; i < type->nconstituents; i++)
		if (strcmp(type->constituent[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

static bool take_constituent(struct reader *r, size_t *found)
{
	char *name;
	const char *before = r->at;
	if (!take_name(r, &name))
		return false;
	*found = event_constituent(r->type, name);
	free(name);
	if (*found != SIZE_MAX)
		return true;
	r->at = before;
	return fail(r, "a constituent that was named before");
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* Of a part of an expression. */
struct events_part { uint64_t first, last; bool empty; /* may be nothing */ };
static const struct events_part NOTHING = { 0, 0, true };

static bool read_choice(struct reader *, struct events_part *);

static bool add_position(struct reader *r, size_t constituent, struct events_part *p)
{
	struct event_type *t = r->type;
	if (t->npositions == EVENT_POSITIONS)
		return fail(r, "at most 64 constituents in an expression");
	t->is[t->npositions] = (uint8_t)constituent;
	p->first = p->last = UINT64_C(1) << t->npositions++;
	p->empty = false;
	return true;
}

/* What may follow those of `last` are those of `first`. */
static void connect(struct event_type *t, uint64_t last, uint64_t first)
{
	for (size_t i = 0; i < t->npositions; i++)
		if (last >> i & 1)
			t->follow[i] |= first;
}

static struct events_part sequence(struct event_type *t, struct events_part a, struct events_part b)
{
	connect(t, a.last, b.first);
	return (struct events_part){ a.first | (a.empty ? b.first : 0), b.last | (b.empty ? a.last : 0), a.empty && b.empty };
}

static struct events_part choice(struct events_part a, struct events_part b)
{
	return (struct events_part){ a.first | b.first, a.last | b.last, a.empty || b.empty };
}

static bool read_atom(struct reader *r, struct events_part *p)
{
	size_t constituent;
	if (take_sign(r, '('))
		return read_choice(r, p) && (take_sign(r, ')') || fail(r, "\")\""));
	return take_constituent(r, &constituent) && add_position(r, constituent, p);
}

static bool read_repeated(struct reader *r, struct events_part *p)
{
	if (!read_atom(r, p))
		return false;
	for (;;) {
		bool plus = take_sign(r, '+'), star = !plus && take_sign(r, '*'), once = !plus && !star && take_sign(r, '?');
		if (!plus && !star && !once)
			return true;
		if (!once)
			connect(r->type, p->last, p->first);
		p->empty |= !plus;
	}
}

static bool read_sequence(struct reader *r, struct events_part *p)
{
	if (!read_repeated(r, p))
		return false;
	while (take_sign(r, '.')) {
		struct events_part next;
		if (!read_repeated(r, &next))
			return false;
		*p = sequence(r->type, *p, next);
	}
	return true;
}

#define MOST_AT_ONCE 4 /* of "&": 24 orders */

/* All orders of those that are left, each read anew for places of its own. */
static bool read_orders(struct reader *r, const char *const *from, unsigned left, struct events_part *p)
{
	bool any = false;
	for (unsigned i = 0; left >> i; i++) {
		struct events_part head, rest;
		if (!(left >> i & 1))
			continue;
		r->at = from[i];
		if (!read_sequence(r, &head) || (left != 1u << i && !read_orders(r, from, left & ~(1u << i), &rest)))
			return false;
		head = left != 1u << i ? sequence(r->type, head, rest) : head;
		*p = any ? choice(*p, head) : head;
		any = true;
	}
	return true;
}

/* Behind the next sequence; what is read for that is forgotten. */
static bool pass_sequence(struct reader *r)
{
	struct event_type before = *r->type;
	struct events_part p;
	bool passed = read_sequence(r, &p);
	*r->type = before;
	return passed;
}

static bool read_concurrent(struct reader *r, struct events_part *p)
{
	const char *from[MOST_AT_ONCE];
	unsigned n = 0;
	do {
		if (n == MOST_AT_ONCE)
			return fail(r, "at most 4 in any order");
		from[n++] = r->at;
		if (!pass_sequence(r))
			return false;
	} while (take_sign(r, '&'));
	const char *behind = r->at;
	bool read = read_orders(r, from, (1u << n) - 1, p);
	r->at = read ? behind : r->at;
	return read;
}

static bool read_choice(struct reader *r, struct events_part *p)
{
	if (!read_concurrent(r, p))
		return false;
	while (take_sign(r, '|')) {
		struct events_part next;
		if (!read_concurrent(r, &next))
			return false;
		*p = choice(*p, next);
	}
	return true;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool read_event(struct reader *r)
{
	if (r->type->name)
		return fail(r, "one event");
	return take_name(r, &r->type->name) && (take_word(r, "at") || fail(r, "at")) && take_role(r, &r->type->at);
}

static bool read_constituent(struct reader *r)
{
	struct event_type *t = r->type;
	unsigned kind;
	if (t->nconstituents == EVENT_CONSTITUENTS || t->npositions)
		return fail(r, "at most 16 constituents, before the expression");
	t->constituent[t->nconstituents].name = NULL;
	if (!take_name(r, &t->constituent[t->nconstituents].name))
		return false;
	t->constituent[t->nconstituents].with = ROLE_ANY;
	t->nconstituents++;
	if (!take_sign(r, '='))
		return fail(r, "\"=\"");
	if (!take_one(r, kinds, EVENT_KINDS, "work, send, receive, exchange, collective or other", &kind))
		return false;
	t->constituent[t->nconstituents - 1].kind = (enum event_kind)kind;
	bool with = take_word(r, "to") || take_word(r, "from") || take_word(r, "with");
	return !with || take_role(r, &t->constituent[t->nconstituents - 1].with);
}

static bool read_expression(struct reader *r)
{
	struct events_part p = NOTHING;
	if (r->type->npositions)
		return fail(r, "one expression");
	if (!read_choice(r, &p))
		return false;
	r->type->first = p.first;
	r->type->last = p.last;
	return true;
}

static bool read_associated(struct reader *r)
{
	if (r->type->associated)
		return fail(r, "one associated event");
	return take_name(r, &r->type->associated) && (take_word(r, "at") || fail(r, "at")) &&
	       take_role(r, &r->type->associated_at);
}

static bool read_summands(struct reader *r, uint32_t *of)
{
	size_t constituent;
	if (!take_sign(r, '('))
		return fail(r, "\"(\"");
	do {
		if (!take_constituent(r, &constituent))
			return false;
		*of |= UINT32_C(1) << constituent;
	} while (take_sign(r, ','));
	return take_sign(r, ')') || fail(r, "\")\"");
}

static bool read_attribute(struct reader *r)
{
	struct event_type *t = r->type;
	struct event_attribute *a = &t->attribute[t->nattributes];
	unsigned measure;
	if (t->nattributes == EVENT_ATTRIBUTES)
		return fail(r, "at most 16 attributes");
	*a = (struct event_attribute){ .name = NULL };
	if (!take_name(r, &a->name))
		return false;
	t->nattributes++;
	if (!take_sign(r, '='))
		return fail(r, "\"=\"");
	if (!take_one(r, measures, sizeof measures / sizeof *measures, "took, waited or transfer", &measure))
		return false;
	a->measure = (enum event_measure)measure;
	return read_summands(r, &a->of);
}

static bool read_line(struct reader *r)
{
	static const struct { const char *word; bool (*read)(struct reader *); } lines[] = {
		{ "event", read_event }, { "constituent", read_constituent }, { "expression", read_expression },
		{ "associated", read_associated }, { "attribute", read_attribute },
	};
	skip_blanks(r);
	if (*r->at == '#' || *r->at == '\n' || !*r->at)
		return true;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (take_word(r, lines[i].word)) {
			if (!lines[i].read(r))
				return false;
			skip_blanks(r);
			return *r->at == '\n' || !*r->at || fail(r, "the end of the line");
		}
	return fail(r, "event, constituent, expression, associated or attribute");
}

struct event_type *event_type_read(const char *description, char **error)
{
	struct event_type *type = mem_resize(NULL, 1, sizeof *type);
	struct reader r = { .type = type };
	*type = (struct event_type){ .name = NULL };
	for (const char *line = description; *line && !r.error; line += strcspn(line, "\n"), line += *line == '\n') {
		char *copy = mem_format("%.*s", (int)strcspn(line, "\n"), line);
		r.at = copy;
		r.line++;
		read_line(&r);
		free(copy);
	}
	if (!r.error && (!type->name || !type->npositions))
		r.error = mem_format("expected an event with an expression, found %s", type->name ? "no expression" : "no event");
	*error = r.error;
	if (!r.error)
		return type;
	event_type_free(type);
	return NULL;
}

void event_type_free(struct event_type *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nconstituents; i++)
		free(t->constituent[i].name);
	for (size_t i = 0; i < t->nattributes; i++)
		free(t->attribute[i].name);
	free(t->name);
	free(t->associated);
	free(t);
}

/* ---- Recognising ----------------------------------------------------------------------------- */

/* Of some positions those at which the activity may stand. */
static uint64_t fitting(const struct event_type *t, uint64_t positions, const struct event_step *s)
{
	uint64_t fit = 0;
	for (size_t i = 0; i < t->npositions; i++) {
		size_t c = t->is[i];
		bool is = t->constituent[c].kind == s->kind &&
			  (t->constituent[c].with == ROLE_ANY || t->constituent[c].with == s->with);
		fit |= is ? positions & UINT64_C(1) << i : 0;
	}
	return fit;
}

static uint64_t followers(const struct event_type *t, uint64_t positions)
{
	uint64_t all = 0;
	for (size_t i = 0; i < t->npositions; i++)
		all |= positions >> i & 1 ? t->follow[i] : 0;
	return all;
}

static void add_step(struct event_recognizer *r, const struct event_step *s)
{
	size_t first = (size_t)__builtin_ctzll(r->positions);
	struct event_part *part = &r->found.of[r->type->is[first]];
	if (part->count++ == 0) {
		part->sum = *s;
	} else {
		part->sum.to = s->to;
		part->sum.took = time_add(part->sum.took, s->took);
		part->sum.waited = time_add(part->sum.waited, s->waited);
		part->sum.transfer = time_add(part->sum.transfer, s->transfer);
	}
	r->found.to = s->to;
}

bool event_end(struct event_recognizer *r, struct event_found *complete)
{
	bool whole = r->positions & r->type->last;
	if (whole)
		*complete = r->found;
	r->positions = 0;
	return whole;
}

bool event_next(struct event_recognizer *r, const struct event_step *s, struct event_found *complete)
{
	const struct event_type *t = r->type;
	uint64_t next = r->positions ? fitting(t, followers(t, r->positions), s) : 0;
	bool whole = false;
	if (!next) {
		whole = event_end(r, complete);
		next = fitting(t, t->first, s);
		r->found = (struct event_found){ .from = s->from };
	}
	r->positions = next;
	if (next)
		add_step(r, s);
	return whole;
}

static frz_time measured(const struct event_step *s, enum event_measure measure)
{
	switch (measure) {
	case EVENT_WAITED: return s->waited;
	case EVENT_TRANSFER: return s->transfer;
	default: return s->took;
	}
}

frz_time event_attribute(const struct event_type *t, const struct event_found *f, const char *name)
{
	frz_time sum = { 0, 0 };
	size_t a = 0;
	while (a < t->nattributes && strcmp(t->attribute[a].name, name) != 0)
		a++;
	for (size_t i = 0; a < t->nattributes && i < t->nconstituents; i++)
		if (t->attribute[a].of >> i & 1 && f->of[i].count)
			sum = time_add(sum, measured(&f->of[i].sum, t->attribute[a].measure));
	return sum;
}

/* SPDX-License-Identifier: MIT
 *
 * audit.c - see audit.h. */
#include "analysis/audit/audit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"

#define MOST_SHARES 3 /* of each kind, of which claims are made */

const char *audit_word(enum audit_verdict verdict)
{
	static const char *const words[] = { "holds", "flips", "undecided" };
	return words[verdict];
}

/* ---- Shares ---------------------------------------------------------------------------------- */

struct audit_share {
	const struct quantity *what;
	struct interval recorded, bounds; /* percent */
};

struct audit_shares { struct audit_share *v; size_t n; };

static struct interval run_of(const struct quantities *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].kind == QUANTITY_RUN)
			return q->v[i].value;
	return (struct interval){ 0, INFINITY };
}

#define ROUNDED 1e-15 /* three operations are off by less */

/* Of so many times the run; what is in it is part of that. */
static struct interval percent(struct interval part, struct interval run, double times)
{
	double lo = isfinite(run.hi) && run.hi > 0 ? 100 * part.lo / (run.hi * times) : 0;
	double hi = run.lo > 0 ? 100 * part.hi / (run.lo * times) : 100;
	return (struct interval){ fmax(0, fmin(lo * (1 - ROUNDED), 100)), fmin(hi * (1 + ROUNDED), 100) };
}

/* What does not occur may, where not all is known. */
static struct interval value_in(const struct quantities *q, const struct quantity *what)
{
	for (size_t i = 0; i < q->n; i++)
		if (quantities_order(&q->v[i], what) == 0)
			return q->v[i].value;
	return (struct interval){ 0, q->sound && q->related ? 0 : INFINITY };
}

/* What a reader of the recorded times takes it for: of an operation that may have waited, all of it was waiting. */
static double said(const struct audit_share *s)
{
	return s->what->kind == QUANTITY_PATH ? (s->recorded.lo + s->recorded.hi) / 2 : s->recorded.hi;
}

static int largest_first(const void *a, const void *b)
{
	double x = said(a), y = said(b);
	return ORDER(y, x);
}

static void add_shares(struct audit_shares *s, enum quantity_kind kind, const struct quantities *of,
		       const struct quantities *recorded, const struct quantities *bounds, size_t threads)
{
	double times = kind == QUANTITY_WAIT ? (double)threads : 1;
	for (size_t i = 0; i < of->n; i++) {
		const struct quantity *what = &of->v[i];
		if (what->kind != kind || (of == bounds && value_in(recorded, what).hi > 0))
			continue;
		*MEM_GROW(s->v, s->n) = (struct audit_share){ what, percent(value_in(recorded, what), run_of(recorded), times),
							percent(value_in(bounds, what), run_of(bounds), times) };
	}
}

/* All that occur in either, as recorded the largest first. */
static struct audit_shares shares_of(enum quantity_kind kind, const struct quantities *recorded,
				     const struct quantities *bounds, size_t threads)
{
	struct audit_shares s = { NULL, 0 };
	add_shares(&s, kind, recorded, recorded, bounds, threads);
	add_shares(&s, kind, bounds, recorded, bounds, threads);
	if (s.n > 0)
		qsort(s.v, s.n, sizeof *s.v, largest_first);
	return s;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static void claim(struct audit *a, char *text, const struct audit_share *s, enum audit_verdict verdict)
{
	*MEM_GROW(a->claims, a->n) = (struct audit_claim){ text, said(s), s->bounds, verdict };
}

/* That the first is the largest of all. */
static enum audit_verdict verdict_of_first(const struct audit_shares *s)
{
	enum audit_verdict verdict = AUDIT_HOLDS;
	for (size_t i = 1; i < s->n; i++) {
		if (s->v[i].bounds.lo > s->v[0].bounds.hi)
			return AUDIT_FLIPS;
		if (s->v[i].bounds.hi >= s->v[0].bounds.lo)
			verdict = AUDIT_UNDECIDED;
	}
	return verdict;
}

/* That it is about what was recorded. */
static enum audit_verdict verdict_of_share(const struct audit_share *s)
{
	double least = said(s) - AUDIT_POINTS, most = said(s) + AUDIT_POINTS;
	if (s->bounds.hi < least || s->bounds.lo > most)
		return AUDIT_FLIPS;
	return s->bounds.lo >= least && s->bounds.hi <= most ? AUDIT_HOLDS : AUDIT_UNDECIDED;
}

#define NAME_ROOM 24 /* of names in claims */

static char *words_of_first(const struct quantity *what)
{
	int fits = (int)shown_fit(what->name, NAME_ROOM);
	switch (what->kind) {
	case QUANTITY_SCORE:
		return mem_format("%.*s keeps the others waiting longest", fits, what->name);
	case QUANTITY_WAIT:
		return mem_format("most waiting is in %.*s", fits, what->name);
	default:
		return mem_format("most of the critical path is in %.*s", fits, what->name);
	}
}

static char *words_of_share(const struct quantity *what, double recorded)
{
	int fits = (int)shown_fit(what->name, NAME_ROOM);
	switch (what->kind) {
	case QUANTITY_SCORE:
		return mem_format("others wait for %.*s for %.1f %%", fits, what->name, recorded);
	case QUANTITY_WAIT:
		return mem_format("threads wait in %.*s for %.1f %%", fits, what->name, recorded);
	default:
		return mem_format("%.*s has %.1f %% of the path", fits, what->name, recorded);
	}
}

/* At any moment all others wait for one at most: if the scores are more than the run in all, what may have been work and what may
 * have been waiting is the same. */
static bool is_too_much(const struct audit_shares *s)
{
	double all = 0;
	for (size_t i = 0; i < s->n; i++)
		all += s->v[i].what->kind == QUANTITY_SCORE ? said(&s->v[i]) : 0;
	return all > 100 + AUDIT_POINTS;
}

/* More than nothing; and of the critical path, or where records are missing, or it is too much in all, only what the recorded times
 * say: no reader takes what is missing for waiting, nor for work. */
static bool is_said(const struct audit *a, const struct audit_shares *all, const struct audit_share *s)
{
	bool any = s->what->kind != QUANTITY_PATH && !a->lossy && !is_too_much(all);
	return said(s) >= AUDIT_POINTS && (any || s->recorded.hi - s->recorded.lo <= AUDIT_POINTS);
}

static void add_claims(struct audit *a, const struct audit_shares *s)
{
	if (s->n == 0 || !is_said(a, s, &s->v[0]))
		return;
	if (s->n > 1 && said(&s->v[0]) > said(&s->v[1]))
		claim(a, words_of_first(s->v[0].what), &s->v[0], verdict_of_first(s));
	for (size_t i = 0; i < s->n && i < MOST_SHARES && is_said(a, s, &s->v[i]); i++)
		claim(a, words_of_share(s->v[i].what, said(&s->v[i])), &s->v[i], verdict_of_share(&s->v[i]));
}

void audit_open(struct audit *a, const struct quantities *recorded, const struct quantities *bounds, size_t threads)
{
	static const enum quantity_kind kinds[] = { QUANTITY_SCORE, QUANTITY_WAIT, QUANTITY_PATH };
	*a = (struct audit){ .lossy = recorded->lossy };
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct audit_shares s = shares_of(kinds[k], recorded, bounds, threads);
		add_claims(a, &s);
		free(s.v);
	}
}

void audit_close(struct audit *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->claims[i].text);
	free(a->claims);
}

/* SPDX-License-Identifier: MIT
 *
 * analysis_events.c - abstract events are recognised as their expressions say: random expressions and activities,
 * against a twin that rewrites the expression by each activity (J. A. Brzozowski, Derivatives of regular expressions,
 * 1964). What is wrong with a description is said, with its line. */
#include "analysis/base/memory.h"
#include "analysis/diagnose/events.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/unit.h"

#define CASES 3000
#define STEPS 40
#define KINDS 4 /* work, send, receive, exchange: w s r e */

/* ---- The twin: expressions as trees ------------------------------------------------------------- */

struct tree { enum { NONE, EMPTY, ONE, SEQ, ALT, BOTH, STAR } is; unsigned kind; const struct tree *a, *b; };
static struct tree trees[100000];
static size_t ntrees;

static const struct tree *node(int is, unsigned kind, const struct tree *a, const struct tree *b)
{
	ck_assert(ntrees < sizeof trees / sizeof *trees);
	trees[ntrees] = (struct tree){ is, kind, a, b };
	return &trees[ntrees++];
}

static bool same(const struct tree *x, const struct tree *y)
{
	return x == y || (x && y && x->is == y->is && x->kind == y->kind && same(x->a, y->a) && same(x->b, y->b));
}

static bool is_choice_of(const struct tree *whole, const struct tree *t)
{
	return same(whole, t) || (whole->is == ALT && (is_choice_of(whole->a, t) || is_choice_of(whole->b, t)));
}

/* What is the same by the laws of a sequence (nothing is none, what is empty adds nothing) and of a choice (none adds nothing, nor
 * does the same again) is made only once, so that what is behind many activities has no more parts than it has meanings. */
static const struct tree *make(int is, unsigned kind, const struct tree *a, const struct tree *b)
{
	if (is == SEQ && (a->is == NONE || b->is == EMPTY))
		return a;
	if (is == SEQ && (b->is == NONE || a->is == EMPTY))
		return b;
	if (is == ALT && (b->is == NONE || is_choice_of(a, b)))
		return a;
	if (is == ALT && a->is == NONE)
		return b;
	return is == ALT && b->is == ALT ? make(ALT, 0, make(ALT, 0, a, b->a), b->b) : node(is, kind, a, b);
}

static bool may_be_empty(const struct tree *t)
{
	switch (t->is) {
	case EMPTY: case STAR: return true;
	case SEQ: case BOTH: return may_be_empty(t->a) && may_be_empty(t->b);
	case ALT: return may_be_empty(t->a) || may_be_empty(t->b);
	default: return false;
	}
}

static bool is_none(const struct tree *t)
{
	switch (t->is) {
	case NONE: return true;
	case SEQ: case BOTH: return is_none(t->a) || is_none(t->b);
	case ALT: return is_none(t->a) && is_none(t->b);
	default: return false;
	}
}

static const struct tree *behind(const struct tree *t, unsigned kind)
{
	const struct tree *none = make(NONE, 0, NULL, NULL);
	switch (t->is) {
	case ONE: return t->kind == kind ? make(EMPTY, 0, NULL, NULL) : none;
	case ALT: return make(ALT, 0, behind(t->a, kind), behind(t->b, kind));
	case STAR: return make(SEQ, 0, behind(t->a, kind), t);
	case BOTH: /* a and then b, or b and then a */
		return make(ALT, 0, behind(make(SEQ, 0, t->a, t->b), kind), behind(make(SEQ, 0, t->b, t->a), kind));
	case SEQ: {
		const struct tree *first = make(SEQ, 0, behind(t->a, kind), t->b);
		return is_none(first) ? (may_be_empty(t->a) ? behind(t->b, kind) : none)
				      : may_be_empty(t->a) ? make(ALT, 0, first, behind(t->b, kind)) : first;
	}
	default: return none;
	}
}

/* ---- Random expressions, as text and as trees --------------------------------------------------- */

static const struct tree *draw(struct dice *d, unsigned depth, char *text)
{
	char a[400] = "", b[400] = "";
	int what = depth ? (int)roll_in(d, 0, 6) : 0;
	const struct tree *x, *y;
	if (what == 0) {
		unsigned kind = (unsigned)roll_in(d, 0, KINDS - 1);
		sprintf(text, "%c", "wsre"[kind]);
		return make(ONE, kind, NULL, NULL);
	}
	x = draw(d, depth - 1, a);
	if (what >= 4) {
		sprintf(text, "(%s)%c", a, "+*?"[what - 4]);
		return what == 4 ? make(SEQ, 0, x, make(STAR, 0, x, NULL))
		       : what == 5 ? make(STAR, 0, x, NULL) : make(ALT, 0, x, make(EMPTY, 0, NULL, NULL));
	}
	y = draw(d, depth - 1, b);
	sprintf(text, what == 1 ? "(%s) . (%s)" : what == 2 ? "(%s) | (%s)" : "((%s) & (%s))", a, b);
	return make(what == 1 ? SEQ : what == 2 ? ALT : BOTH, 0, x, y);
}

static struct event_type *describe(const char *expression, char **error)
{
	char *text = mem_format("event E at worker\nconstituent w = work\nconstituent s = send to master\nconstituent r = receive\n"
				"constituent e = exchange with master\nexpression %s\n", expression);
	struct event_type *type = event_type_read(text, error);
	free(text);
	return type;
}

/* Where events of these activities begin and end: pairs. */
static size_t twin(const struct tree *whole, const unsigned *kinds, size_t n, size_t *found)
{
	size_t count = 0;
	for (size_t i = 0; i < n;) {
		const struct tree *t = whole;
		size_t end = i;
		for (; end < n; end++) {
			const struct tree *next = behind(t, kinds[end]);
			if (is_none(next))
				break;
			t = next;
		}
		if (end > i && may_be_empty(t)) {
			found[2 * count] = i;
			found[2 * count++ + 1] = end;
		}
		i = end > i ? end : i + 1;
	}
	return count;
}

static size_t recognised(const struct event_type *type, const unsigned *kinds, size_t n, size_t *found)
{
	struct event_recognizer r = { .type = type };
	struct event_found e;
	size_t count = 0;
	for (size_t i = 0; i <= n; i++) {
		struct event_step s = { .kind = (enum event_kind)kinds[i < n ? i : 0], .with = ROLE_MASTER, .from = i, .to = i + 1,
					.took = { 1, 2 } };
		if (!(i < n ? event_next(&r, &s, &e) : event_end(&r, &e)))
			continue;
		size_t parts = 0;
		for (size_t c = 0; c < EVENT_CONSTITUENTS; c++) {
			parts += e.of[c].count;
			ck_assert(e.of[c].sum.took.lo == (int64_t)e.of[c].count &&
				  e.of[c].sum.took.hi == 2 * (int64_t)e.of[c].count);
		}
		ck_assert_uint_eq(parts, e.to - e.from);
		found[2 * count] = e.from;
		found[2 * count++ + 1] = e.to;
	}
	return count;
}

START_TEST(events_are_what_the_expression_says)
{
	uint64_t fit = 0;
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(CASES); seed++) {
		struct dice d = { seed };
		char text[1000], *error;
		unsigned kinds[STEPS];
		size_t expected[2 * STEPS + 2], found[2 * STEPS + 2];
		ntrees = 0;
		const struct tree *tree = draw(&d, 3, text);
		struct event_type *type = describe(text, &error);
		if (!type) { /* too many places */
			free(error);
			continue;
		}
		size_t n = (size_t)roll_in(&d, 0, STEPS);
		for (size_t i = 0; i < n; i++)
			kinds[i] = (unsigned)roll_in(&d, 0, KINDS - 1);
		size_t count = twin(tree, kinds, n, expected), seen = recognised(type, kinds, n, found);
		fit += count;
		ck_assert_msg(seen == count && memcmp(found, expected, 2 * count * sizeof *found) == 0,
			      "SEED=%" PRIu64 ": %s: %zu events, not %zu", seed, text, seen, count);
		event_type_free(type);
	}
	ck_assert_uint_gt(fit, CASES / 10);
}
END_TEST

/* Activities with others are none of a constituent's, and attributes are sums over some. */
START_TEST(roles_and_attributes_count)
{
	char *error;
	struct event_type *type = event_type_read(
		"event Life at worker\nconstituent ask = send to master\nconstituent get = receive from master\n"
		"constituent do = work\nexpression ask . get . do\nassociated Service at master\n"
		"attribute wait = waited(get)\nattribute comp = took(do)\nattribute comm = transfer(ask, get)\n", &error);
	ck_assert_ptr_nonnull(type);
	ck_assert_str_eq(type->associated, "Service");
	const struct event_step steps[] = {
		{ EVENT_SEND, ROLE_WORKER, 0, 1, { 1, 1 }, { 0, 0 }, { 1, 1 }, 0 }, /* to another worker */
		{ EVENT_SEND, ROLE_MASTER, 1, 3, { 2, 2 }, { 0, 0 }, { 2, 2 }, 1 },
		{ EVENT_RECEIVE, ROLE_MASTER, 3, 9, { 6, 6 }, { 4, 5 }, { 1, 2 }, 2 },
		{ EVENT_WORK, ROLE_ANY, 9, 20, { 11, 11 }, { 0, 0 }, { 0, 0 }, 3 },
	};
	struct event_recognizer r = { .type = type };
	struct event_found e;
	struct event_step other = steps[2];
	other.with = ROLE_WORKER; /* not from the master: no task */
	ck_assert(!event_next(&r, &steps[1], &e) && !event_next(&r, &other, &e) && !event_next(&r, &steps[3], &e) &&
		  !event_end(&r, &e));
	for (size_t i = 0; i < 4; i++)
		ck_assert(!event_next(&r, &steps[i], &e));
	ck_assert(event_end(&r, &e));
	ck_assert_uint_eq(e.from, 1);
	ck_assert_uint_eq(e.to, 20);
	ck_assert_int_eq(event_attribute(type, &e, "wait").lo, 4);
	ck_assert_int_eq(event_attribute(type, &e, "comp").hi, 11);
	ck_assert_int_eq(event_attribute(type, &e, "comm").lo, 3);
	ck_assert_int_eq(event_attribute(type, &e, "comm").hi, 4);
	ck_assert_int_eq(event_attribute(type, &e, "setup").hi, 0);
	event_type_free(type);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
	static const struct { const char *text, *error; } cases[] = {
		{ "", "expected an event with an expression, found no event" },
		{ "event E at worker\n", "expected an event with an expression, found no expression" },
		{ "event E at king\n", "line 1: expected a role, found \"king\"" },
		{ "event E at worker\n\nconstituent a = sleep\n",
		  "line 3: expected work, send, receive, exchange, collective or other, found \"sleep\"" },
		{ "event E at worker\nconstituent a = work\nexpression a . b\n",
		  "line 3: expected a constituent that was named before, found \"b\"" },
		{ "event E at worker\nconstituent a = work\nexpression (a . a\n",
		  "line 3: expected \")\", found the end of the line" },
		{ "event E at worker\nconstituent a = work\nexpression a a\n",
		  "line 3: expected the end of the line, found \"a\"" },
		{ "event E at worker\nconstituent a = work\nexpression a\nattribute x = length(a)\n",
		  "line 4: expected took, waited or transfer, found \"length(a)\"" },
		{ "event E at worker\nconstituent a = work\nexpression a\nattribute x = took(a,)\n",
		  "line 4: expected a name, found \")\"" },
		{ "event E at worker\nconstituent a = work\nexpression a & a & a & a & a\n",
		  "line 3: expected at most 4 in any order, found \"a\"" },
		{ "events E\n", "line 1: expected event, constituent, expression, associated or attribute, found \"events\"" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *error;
		ck_assert_ptr_null(event_type_read(cases[i].text, &error));
		ck_assert_str_eq(error, cases[i].error);
		free(error);
	}
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(120, UNIT_ANEW);

	tcase_add_test(tc, events_are_what_the_expression_says);
	tcase_add_test(tc, roles_and_attributes_count);
	tcase_add_test(tc, what_is_wrong_is_said);
	return unit_end();
}

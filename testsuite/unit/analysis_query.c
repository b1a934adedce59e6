/* SPDX-License-Identifier: MIT
 *
 * analysis_query.c - conditions on threads' states against a twin that knows the truth.
 *
 * A random condition is made as a tree and printed as text. The analysis reads the text and a
 * recording of a random world (analysis_world.h); the twin evaluates the tree on the true stacks,
 * at every moment between two true events.
 *
 * Laws: the true time is inside; what comes out is not much wider than the clocks are where
 * something changes; and what it finds certain is what csp.h does, where both are asked the same. */
#include <stdarg.h>

#include "analysis/states/csp.h"
#include "analysis/states/frames.h"
#include "analysis/states/totals.h"
#include "testsuite/unit/analysis_world.h"

#define WORLDS  5000
#define QUERIES 5      /* of each world */
#define NODES   200

/* ---- A random condition ---------------------------------------------------------------------- */

struct query_place {
	uint32_t sites;      /* bits; or nothing of these: */
	enum { NO_STATE, IS_WORKING, IS_WAITING, IS_ALIVE } state;
	bool innermost, one_instance;
	uint64_t instance;
};

enum op { NUMBER, COUNT, PLUS, MINUS, TIMES, EQ, NE, LT, LE, GT, GE, NOT, AND, OR };

struct node {
	enum op op;
	int64_t number;
	struct query_place place;
	bool ranks;
	int64_t rank, thread; /* only on these; -1: all */
	int left, right;
};

static struct node nodes[NODES];
static int nnodes;
static char text[4096];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + length, sizeof text - length, format, args);
	va_end(args);
	if (strlen(text) == sizeof text - 1)
		ck_abort_msg("the condition is too long: %s", text);
}

static struct query_place random_place(void)
{
	static const struct { const char *word; uint32_t sites; } words[] = {
		{ "a", 1 << REGION_A }, { "b", 1 << REGION_B }, { "bar", 1 << BARRIER },
		{ "\"recv\"", 1 << RECEIVE }, { "region", 1 << REGION_A | 1 << REGION_B },
		{ "barrier", 1 << BARRIER }, { "send", 1 << SEND }, { "\"x.c:2\"", 1 << REGION_B },
	};
	static const char *const states[] = { "", "working", "waiting", "alive" };
	struct query_place p = { .state = below(3) ? NO_STATE : 1 + (int)below(3) };
	if (p.state != NO_STATE) {
		say("%s", states[p.state]);
		return p;
	}
	size_t which = below(sizeof words / sizeof *words);
	p.sites = words[which].sites;
	p.innermost = below(3) == 0;
	p.one_instance = below(6) == 0;
	p.instance = below(3);
	say("%s%s", p.innermost ? "at " : below(2) ? "in " : "", words[which].word);
	if (p.one_instance)
		say(" [%d]", (int)p.instance);
	return p;
}

static int new_node(struct node node)
{
	if (nnodes == NODES)
		ck_abort_msg("the condition has too many nodes: %s", text);
	nodes[nnodes] = node;
	return nnodes++;
}

static int new_number(int64_t number)
{
	return new_node((struct node){ .op = NUMBER, .number = number });
}

static void choose_subject(struct node *n, bool one_thread)
{
	size_t i = below(w.nthreads);
	n->rank = w.threads[i].rank;
	n->thread = one_thread ? (int64_t)i : -1;
	if (one_thread)
		say(below(2) ? "thread %d.%u" : "rank %d thread %u", (int)n->rank, w.threads[i].number);
	else
		say("rank %d", (int)n->rank);
}

static int random_count(void)
{
	struct node n = { .op = COUNT, .ranks = below(4) == 0, .rank = -1, .thread = -1 };
	say(n.ranks ? "ranks(" : "count(");
	n.place = random_place();
	if (below(4) == 0) {
		say(" on ");
		choose_subject(&n, false);
	}
	say(")");
	return new_node(n);
}

static int64_t known_threads(bool ranks)
{
	int64_t count = 0;
	uint32_t last = UINT32_MAX;
	for (size_t i = 0; i < w.nthreads; i++)
		if (w.threads[i].nrecords > 0 || w.threads[i].lost > 0) {
			count += !ranks || w.threads[i].process != last;
			last = w.threads[i].process;
		}
	return count;
}

static int random_sum(int depth)
{
	if (depth > 0 && below(3) == 0) {
		bool plus = below(2), parentheses = below(2);
		say(parentheses ? "(" : "");
		int left = random_sum(depth - 1);
		say(plus ? " + (" : "-(");
		int right = random_sum(depth - 1);
		say(parentheses ? "))" : ")");
		return new_node((struct node){ .op = plus ? PLUS : MINUS, .left = left,
					       .right = right });
	}
	int64_t number = (int64_t)below(4);
	switch (below(6)) {
	case 0:
		say("%d", (int)number);
		return new_number(number);
	case 1:
		say("threads");
		return new_number(known_threads(false));
	case 2:
		say(number ? "%d *" : "ranks + %d *", (int)number);
		number = number ? new_number(number) : new_number(0);
		int product = random_count();
		product = new_node((struct node){ .op = TIMES, .left = (int)number,
						  .right = product });
		if (nodes[number].number)
			return product;
		return new_node((struct node){ .op = PLUS, .left = new_number(known_threads(true)),
					       .right = product });
	default:
		return random_count();
	}
}

static int random_someone(void)
{
	struct node n = { .op = COUNT };
	choose_subject(&n, below(2));
	say(" ");
	n.place = random_place();
	int some = new_node(n);
	return new_node((struct node){ .op = GE, .left = some, .right = new_number(1) });
}

static int random_condition(int depth)
{
	static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=" };
	if (depth > 0 && below(2)) {
		enum op op = NOT + (int)below(3);
		say(op == NOT ? "not (" : "(");
		int left = random_condition(depth - 1), right = left;
		if (op != NOT) {
			say(op == AND ? ") and (" : ") or (");
			right = random_condition(depth - 1);
		}
		say(")");
		return new_node((struct node){ .op = op, .left = left, .right = right });
	}
	if (below(3) == 0)
		return random_someone();
	int left = random_sum(1);
	enum op op = EQ + (int)below(6);
	say(" %s ", signs[op - EQ]);
	int right = random_sum(1);
	return new_node((struct node){ .op = op, .left = left, .right = right });
}

/* ---- The truth ------------------------------------------------------------------------------- */

struct stack {
	const struct true_event *entry[EVENTS];
	size_t depth;
	bool alive;
	uint8_t outside;     /* its state outside of all sites of a role */
};

static struct stack true_stack(const struct true_thread *t, double time)
{
	struct stack s = { .depth = 0, .outside = state_before(t, time) };
	for (size_t i = 0; i < t->count && t->events[i].time <= time; i++) {
		if (t->events[i].op == DPROF_ENTER)
			s.entry[s.depth++] = &t->events[i];
		else
			s.depth--;
		s.alive = true;
		s.outside = t->outside;
	}
	if (t->count > 0 && time >= t->events[t->count - 1].time && time >= t->gone)
		s = (struct stack){ .depth = 0 };
	return s;
}

static bool is_in(const struct stack *s, const struct query_place *p)
{
	size_t depth = s->depth;
	if (p->state == IS_ALIVE)
		return s->alive;
	if (p->state != NO_STATE) {
		while (depth > 0 && s->entry[depth - 1]->site == SEND)
			depth--;
		bool works = depth > 0 && s->entry[depth - 1]->site <= REGION_B;
		if (depth == 0)
			return s->outside == (p->state == IS_WORKING ? MAY_WORK : MAY_WAIT);
		return works == (p->state == IS_WORKING);
	}
	for (size_t i = p->innermost && depth > 0 ? depth - 1 : 0; i < depth; i++)
		if (p->sites >> s->entry[i]->site & 1 &&
		    (!p->one_instance || s->entry[i]->instance == p->instance))
			return true;
	return false;
}

static int64_t true_count(const struct node *n, const struct stack *stacks)
{
	int64_t count = 0;
	uint32_t last = UINT32_MAX;
	for (size_t i = 0; i < w.nthreads; i++) {
		if ((n->rank >= 0 && w.threads[i].rank != n->rank) ||
		    (n->thread >= 0 && (size_t)n->thread != i) || !is_in(&stacks[i], &n->place))
			continue;
		count += !n->ranks || w.threads[i].process != last;
		last = w.threads[i].process;
	}
	return count;
}

static int64_t true_value(int node, const struct stack *stacks)
{
	const struct node *n = &nodes[node];
	if (n->op == NUMBER)
		return n->number;
	if (n->op == COUNT)
		return true_count(n, stacks);
	int64_t x = true_value(n->left, stacks), y = true_value(n->right, stacks);
	switch (n->op) {
	case PLUS: return x + y;
	case MINUS: return x - y;
	case TIMES: return x * y;
	case EQ: return x == y;
	case NE: return x != y;
	case LT: return x < y;
	case LE: return x <= y;
	case GT: return x > y;
	case GE: return x >= y;
	case NOT: return !x;
	case AND: return x && y;
	default: return x || y;
	}
}

/* The span of the line on which the base is. */
static void true_span(double *first, double *last)
{
	*first = INFINITY;
	*last = -INFINITY;
	for (size_t i = 0; i < w.nthreads; i++)
		for (size_t j = 0; j < w.thread[i].count; j++) {
			const struct true_event *e = &w.thread[i].events[j];
			if (w.unplaced && w.threads[i].clock == w.nclocks - 1)
				continue;
			*first = fmin(*first, e->time);
			*last = fmax(*last, e->time);
		}
}

static double true_time(int condition)
{
	double moments[THREADS * (EVENTS + 6) + 2], first, last, sum = 0;
	size_t count = true_moments(moments);
	true_span(&first, &last);
	for (size_t m = 1; m < count; m++) {
		double from = fmax(moments[m - 1], first), to = fmin(moments[m], last);
		if (moments[m] == moments[m - 1] || from >= to)
			continue;
		struct stack stacks[THREADS];
		for (size_t i = 0; i < w.nthreads; i++)
			stacks[i] = true_stack(&w.thread[i], moments[m - 1]);
		if (true_value(condition, stacks))
			sum += to - from;
	}
	return sum;
}

/* ---- The laws -------------------------------------------------------------------------------- */

struct world_times {
	struct times times;
	struct roles roles;
	struct totals totals;
	struct span span;
};

static void open_times(struct world_times *x)
{
	ck_assert_int_eq(times_open(&x->times, &w.trace, &(struct options){ .json = false }),
			 EXIT_FINE);
	ck_assert(roles_open(&x->roles, &w.trace, NULL, NULL));
	totals_open(&x->totals, &w.trace, &x->roles);
	x->span = times_span(&x->times, 0, x->totals.ends);
}

static void close_times(struct world_times *x)
{
	totals_close(&x->totals);
	roles_close(&x->roles);
	times_close(&x->times);
}

static struct frames ask(const struct world_times *x, const char *condition, uint64_t seed)
{
	struct query query;
	struct query_error error;
	struct frames frames;
	ck_assert_msg(query_open(&query, &w.trace, &x->roles, condition, &error),
		      "SEED=%" PRIu64 ": %s: %s at %zu", seed, condition, error.what,
		      error.at);
	frames_open(&frames, &x->times, &query, 0, &x->span, 3);
	query_close(&query);
	return frames;
}

static void check_frames(const struct frames *f, const struct span *span)
{
	for (size_t i = 0; i < f->nlongest; i++) {
		const struct frame *x = &f->longest[i];
		ck_assert(x->length.lo <= x->length.hi && x->begin.lo <= x->begin.hi);
		ck_assert(x->certain ? x->length.lo > 0 && x->length.lo <= f->holds.lo
				     : x->length.lo == 0);
		ck_assert_int_le(x->length.lo, span->length.hi);
		ck_assert(i == 0 || f->longest[i - 1].certain >= x->certain);
	}
}

/* What is left out beforehand changes nothing. */
static void check_pruning(uint64_t seed, const struct world_times *x, const char *condition,
			  const struct frames *pruned)
{
	struct query query;
	struct query_error error;
	struct frames all;
	ck_assert(query_open(&query, &w.trace, &x->roles, condition, &error));
	frames_open_unpruned(&all, &x->times, &query, 0, &x->span, 3);
	query_close(&query);
	bool same = pruned->holds.lo == all.holds.lo && pruned->holds.hi == all.holds.hi &&
		    pruned->certain == all.certain && pruned->possible == all.possible &&
		    pruned->nlongest == all.nlongest;
	for (size_t i = 0; same && i < all.nlongest; i++) {
		const struct frame *p = &pruned->longest[i], *q = &all.longest[i];
		same = p->certain == q->certain && p->begin.lo == q->begin.lo && p->begin.hi == q->begin.hi &&
		       p->length.lo == q->length.lo && p->length.hi == q->length.hi && p->middle == q->middle;
		for (size_t c = 0; c < w.nclocks; c++)
			same &= p->clocks[c].from == q->clocks[c].from && p->clocks[c].to == q->clocks[c].to;
	}
	ck_assert_msg(same, "SEED=%" PRIu64 ": %s: pruned [%" PRId64 ", %" PRId64 "], not [%" PRId64 ", %" PRId64 "]",
		      seed, condition, pruned->holds.lo, pruned->holds.hi, all.holds.lo, all.holds.hi);
	frames_close(&all);
}

static void check_query(uint64_t seed, const struct world_times *x)
{
	nnodes = 0;
	text[0] = '\0';
	int condition = random_condition(3);
	double truth = true_time(condition);
	struct frames f = ask(x, text, seed);
	check_inside(seed, text, 0, f.holds, truth);
	check_frames(&f, &x->span);
	check_pruning(seed, x, text, &f);
	if (!w.damaged && !w.unplaced && w.uncertainty == 0)
		ck_assert_msg((double)(f.holds.hi - f.holds.lo) <= allowed_width(),
			      "SEED=%" PRIu64 ": %s: [%" PRId64 ", %" PRId64
			      "] is wider than %.0f",
			      seed, text, f.holds.lo, f.holds.hi, allowed_width());
	frames_close(&f);
}

static void check_world(uint64_t seed)
{
	struct world_times x;
	make_world(seed, seed % 8 ? 0 : 1 + seed / 8 % 40, false, false);
	if (below(3) == 0)
		lose_some();
	open_times(&x);
	for (int i = 0; i < QUERIES && x.span.events; i++)
		check_query(seed, &x);
	close_times(&x);
}

START_TEST(truth_is_inside_and_bounds_are_tight)
{
	for (uint64_t i = 0; i < unit_times(WORLDS); i++)
		check_world(unit_seed + i);
}
END_TEST

/* ---- Nonsense ---------------------------------------------------------------------------------- */

/* Words of the language in any order: understood, or refused with a place inside of the text. */
START_TEST(nonsense_is_refused_where_it_stands)
{
	static const char *const words[] = {
		"count", "(", ")", "in", "at", "a", "\"b\"", "rank", "0", "1", "thread", ".", "and",
		"or", "not", "==", "<", "+", "-", "*", "threads", "ranks", "on", "host", "[", "]",
		"working", "barrier", "\"", "=", "%", "99999999999999999999", "pid", "x", "\xc3\xa9",
	};
	make_world(1, 0, false, false);
	struct roles roles;
	ck_assert(roles_open(&roles, &w.trace, NULL, NULL));
	for (uint64_t i = 0; i < unit_times(20 * WORLDS); i++) {
		struct query query;
		struct query_error error;
		text[0] = '\0';
		for (size_t n = below(12); n > 0; n--)
			say("%s ", words[below(sizeof words / sizeof *words)]);
		if (query_open(&query, &w.trace, &roles, text, &error)) {
			query_close(&query);
			continue;
		}
		if (error.at > strlen(text) || !error.what[0])
			ck_abort_msg("\"%s\": \"%s\" at %zu", text, error.what, error.at);
		free(error.what);
	}
	roles_close(&roles);
}
END_TEST

/* ---- The same question twice ----------------------------------------------------------------- */

/* The straggler score of every thread, asked of the other sweep. */
static void compare_scores(uint64_t seed, const struct world_times *x)
{
	struct participants who = totals_participant_threads(&x->totals, false);
	struct csp_score *scores = csp_scores(&x->times, &x->totals.periods, &who, &x->span);
	for (size_t i = 0; i < w.nthreads; i++) {
		if (who.participant_of[i] == NO_PARTICIPANT)
			continue;
		frz_time score = scores[who.participant_of[i]].alone;
		char question[80];
		int64_t process = w.threads[i].rank >= 0 ? w.threads[i].rank : (int64_t)w.processes[w.threads[i].process].pid;
		snprintf(question, sizeof question, "thread %" PRId64 ".%d working and count(waiting) == %u", process,
			 (int)w.threads[i].number, who.nparticipants - 1);
		struct frames f = ask(x, question, seed);
		ck_assert_msg(score.lo == f.holds.lo && score.hi >= f.holds.lo,
			      "SEED=%" PRIu64 ": %s: score [%" PRId64 ", %" PRId64
			      "], query [%" PRId64 ", %" PRId64 "]",
			      seed, question, score.lo, score.hi, f.holds.lo, f.holds.hi);
		frames_close(&f);
	}
	free(scores);
	participants_close(&who);
}

/* No query has words for who is gone. */
static void let_all_stay(void)
{
	for (size_t i = 0; i < w.nthreads; i++)
		w.threads[i].ended = w.threads[i].complete ? UINT64_MAX - 1 : 0;
	for (size_t p = 0; p < w.nprocesses; p++)
		w.processes[p].forked = false;
}

/* As in a program without MPI. */
static void take_ranks(void)
{
	for (size_t i = 0; i < w.nthreads; i++)
		w.threads[i].rank = -1;
	for (size_t p = 0; p < w.nprocesses; p++) {
		w.processes[p].rank = -1;
		w.processes[p].pid = w.nprocesses - p;
	}
}

START_TEST(scores_and_queries_agree)
{
	for (uint64_t i = 0; i < unit_times(WORLDS / 2); i++) {
		uint64_t seed = unit_seed + i;
		struct world_times x;
		make_world(seed, 0, false, false);
		let_all_stay();
		if (below(2))
			take_ranks();
		open_times(&x);
		if (x.span.events && !w.unplaced)
			compare_scores(seed, &x);
		close_times(&x);
	}
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(0, 1);

	tcase_add_test(tc, truth_is_inside_and_bounds_are_tight);
	tcase_add_test(tc, nonsense_is_refused_where_it_stands);
	tcase_add_test(tc, scores_and_queries_agree);
	return unit_end();
}

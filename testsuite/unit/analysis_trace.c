/* SPDX-License-Identifier: MIT
 *
 * Records that signal handlers put out of order come back into it; and only damage loses any. */
#include "analysis/trace/trace_scan.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/record_twin.h"

#define ROUNDS  3000
#define MOST    400

static uint64_t seed;
/* ---- A thread that records, and is interrupted ----------------------------------------------- */

struct trace_told {
	struct tr_record event, arg[3];
	size_t nargs;
};

struct trace_recording {
	unsigned deepest;                /* handlers in handlers; where events have arguments: 1 */
	bool arguments;
	uint64_t clock;
	struct tr_record record[MOST]; /* as the runtime leaves them */
	size_t n;
	struct trace_told truth[MOST];
	size_t ntruth;
};

#define SITE(i)      TR_WHAT(MOST + (i), 0)
#define OPERATION(i) TR_WHAT(i, 0)

static struct tr_site sites[2 * MOST]; /* operations, and behind them regions */
static const struct trace trace = { .sites = sites, .nsites = 2 * MOST };

static void interrupt(struct trace_recording *r, unsigned depth);

static struct trace_told *tell(struct trace_recording *r, uint64_t stamp, uint64_t what)
{
	r->record[r->n++] = (struct tr_record){ stamp, what };
	r->truth[r->ntruth] = (struct trace_told){ .event = { stamp, what } };
	return &r->truth[r->ntruth++];
}

static void say(struct trace_recording *r, struct trace_told *told)
{
	for (uint64_t i = r->arguments ? draw_below(4) : 0; i--;) {
		struct tr_record arg = { draw_below(3), TR_WHAT(i + 1, DPROF_ARG) };
		r->record[r->n++] = told->arg[told->nargs++] = arg;
	}
}

/* What an operation was is known, and when it began and ended, before a slot of it is claimed; all are claimed at once, mostly. */
static void operate(struct trace_recording *r, unsigned depth)
{
	uint64_t begin = r->clock += 1 + draw_below(3), end = begin + draw_below(2), site = r->n;
	bool visit = draw_below(3);
	r->clock = end;
	interrupt(r, depth);
	struct trace_told *told = tell(r, begin, OPERATION(site) | (visit ? DPROF_ENTER : DPROF_POINT));
	if (!depth)
		say(r, told);
	if (visit && !r->arguments)
		interrupt(r, depth); /* they may be claimed one after the other, where a chunk ends */
	if (visit)
		tell(r, end, OPERATION(site) | DPROF_EXIT);
}

/* An enter and a point claim a slot, then read the counter; an exit does it the other way round. */
static void record(struct trace_recording *r, unsigned depth, enum dprof_op op)
{
	uint64_t stamp = 0;
	if (op == DPROF_EXIT) {
		stamp = r->clock += 1 + draw_below(3);
		interrupt(r, depth);
	}
	size_t slot = r->n++;
	if (op != DPROF_EXIT) {
		interrupt(r, depth);
		stamp = r->clock += 1 + draw_below(3);
	}
	r->record[slot] = (struct tr_record){ stamp, SITE(slot) | op };
	struct trace_told *told = &r->truth[r->ntruth++];
	*told = (struct trace_told){ .event = r->record[slot] };
	if (!depth)
		say(r, told);
}

/* Now and then a handler comes, which marks a region with points and operations in it, and says no more of
 * them. */
static void interrupt(struct trace_recording *r, unsigned depth)
{
	if (depth == r->deepest || r->n > MOST / 2 || draw_below(6))
		return;
	record(r, depth + 1, DPROF_ENTER);
	for (uint64_t i = draw_below(3); i--;)
		if (draw_below(2))
			record(r, depth + 1, DPROF_POINT);
		else
			operate(r, depth + 1);
	record(r, depth + 1, DPROF_EXIT);
}

static int by_stamp(const void *a, const void *b)
{
	const struct trace_told *x = a, *y = b;
	if (x->event.stamp != y->event.stamp)
		return x->event.stamp > y->event.stamp ? 1 : -1;
	return (x->event.what & DPROF_EXIT) > (y->event.what & DPROF_EXIT) ? 1 : -1; /* an operation that took no time */
}

static void random_recording(struct trace_recording *r)
{
	memset(r, 0, sizeof *r);
	r->arguments = draw_below(2);
	r->deepest = r->arguments ? 1 : 3;
	r->clock = draw_below(1000);
	for (uint64_t i = draw_below(MOST); i-- && r->n < MOST / 2;)
		if (draw_below(4))
			record(r, 0, (enum dprof_op)draw_below(3));
		else
			operate(r, 0);
	qsort(r->truth, r->ntruth, sizeof *r->truth, by_stamp);
}

static bool is_truth(const struct trace_recording *r, const struct tr_record *found)
{
	for (size_t i = 0; i < r->ntruth; i++) {
		const struct trace_told *told = &r->truth[i];
		if (memcmp(found++, &told->event, sizeof *found) ||
		    memcmp(found, told->arg, told->nargs * sizeof *found))
			return false;
		found += told->nargs;
	}
	return true;
}

START_TEST(interrupted_records_come_into_order)
{
	static struct trace_recording r;
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		draw_state = seed;
		random_recording(&r);
		struct tr_record found[MOST];
		struct order_damage damage;
		size_t n = order_records(&trace, r.record, r.n, found, &damage);
		ck_assert_msg(n == r.n && !damage.dropped, "SEED=%" PRIu64 ": %zu of %zu", seed, n,
			      r.n);
		ck_assert_msg(is_truth(&r, found), "SEED=%" PRIu64 ": another order", seed);
	}
}
END_TEST

/* ---- Damage ---------------------------------------------------------------------------------- */

/* The length of a longest sorted selection, the slow and simple way. */
static size_t longest(const struct tr_record *r, size_t n)
{
	size_t best[MOST], all = 0;
	for (size_t i = 0; i < n; i++) {
		best[i] = 1;
		for (size_t k = 0; k < i; k++)
			if (r[k].stamp <= r[i].stamp && best[k] + 1 > best[i])
				best[i] = best[k] + 1;
		all = best[i] > all ? best[i] : all;
	}
	return all;
}

START_TEST(what_no_handler_explains_loses_as_little_as_can_be)
{
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS / 4); seed++) {
		draw_state = seed;
		struct tr_record in[MOST], found[MOST];
		struct order_damage damage;
		size_t n = 1 + draw_below(MOST - 1);
		for (size_t i = 0; i < n; i++)
			in[i] = (struct tr_record){ 1 + 10 * i, SITE(i) | draw_below(3) };
		for (uint64_t i = draw_below(30); i--;)
			in[draw_below(n)].stamp = 1 + draw_below(20 * n);
		size_t kept = order_records(&trace, in, n, found, &damage);
		ck_assert_msg(kept + damage.dropped == n, "SEED=%" PRIu64 ": %zu + %zu of %zu", seed,
			      kept, damage.dropped, n);
		ck_assert_msg(kept >= longest(in, n), "SEED=%" PRIu64 ": kept %zu", seed, kept);
		for (size_t i = 1; i < kept; i++)
			ck_assert_msg(found[i - 1].stamp <= found[i].stamp,
				      "SEED=%" PRIu64 ": not sorted", seed);
	}
}
END_TEST

/* No handler lets an exit stand before an older enter. */
START_TEST(one_wrong_stamp_is_found)
{
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		draw_state = seed;
		struct tr_record in[100], found[100];
		struct order_damage damage;
		size_t wrong = 6 + draw_below(80), far = 3 + draw_below(4);
		bool up = draw_below(2);
		for (size_t i = 0; i < 100; i++)
			in[i] = (struct tr_record){ 100 + 10 * i,
						       SITE(i) | (i == wrong ? up : !up) };
		in[wrong].stamp = up ? in[wrong + far].stamp + 1 : in[wrong - far].stamp - 1;
		ck_assert_uint_eq(order_records(&trace, in, 100, found, &damage), 99);
		ck_assert_msg(damage.dropped == 1 && damage.first == wrong &&
				      damage.at_least == in[wrong - 1].stamp &&
				      damage.at_most == in[wrong + 1].stamp,
			      "SEED=%" PRIu64 ": another record", seed);
	}
}
END_TEST

/* A handler is not believed to have recorded a whole run: that is one stamp that is too high. */
START_TEST(one_stamp_far_too_high_is_damage)
{
	const size_t n = 3 * HANDLER_RECORDS;
	struct tr_record *in = malloc(n * sizeof *in), *found = malloc(n * sizeof *found);
	struct order_damage damage;
	for (size_t i = 0; i < n; i++)
		in[i] = (struct tr_record){ i == 5 ? UINT64_C(1) << 60 : 10 + i, SITE(i) };
	ck_assert_uint_eq(order_records(&trace, in, n, found, &damage), n - 1);
	ck_assert(damage.dropped == 1 && damage.first == 5 && damage.at_least == 14 &&
		  damage.at_most == 16);
	free(in);
	free(found);
}
END_TEST

/* Nor does a handler that has not begun what it ends let an operation stand behind it. */
START_TEST(an_operation_is_late_behind_whole_handlers_only)
{
	const struct tr_record whole[] = { { 10, SITE(0) | DPROF_ENTER }, { 20, SITE(1) | DPROF_ENTER },
					   { 30, SITE(1) | DPROF_EXIT }, { 15, OPERATION(2) | DPROF_ENTER },
					   { 16, OPERATION(2) | DPROF_EXIT }, { 40, SITE(0) | DPROF_EXIT } };
	struct tr_record in[6], found[6];
	struct order_damage damage;
	memcpy(in, whole, sizeof in);
	ck_assert_uint_eq(order_records(&trace, in, 6, found, &damage), 6);
	ck_assert(found[1].stamp == 15 && found[2].stamp == 16 && found[3].stamp == 20);
	in[1].stamp = 12;
	ck_assert_uint_eq(order_records(&trace, in, 6, found, &damage), 5);
	memcpy(in, whole, sizeof in);
	in[3].what = SITE(2) | DPROF_ENTER;
	ck_assert_uint_eq(order_records(&trace, in, 6, found, &damage), 5);
	memcpy(in, whole, sizeof in);
	in[4].stamp = 35; /* when the operation was over it had just been claimed */
	ck_assert_uint_eq(order_records(&trace, in, 6, found, &damage), 5);
}
END_TEST

/* ---- Many words at once ---------------------------------------------------------------------- */

#define WORDS 300

static struct tr_site few_sites[] = {
	{ .kind = DPROF_KIND_REGION }, { .kind = DPROF_KIND_REGION },
	{ .kind = DPROF_KIND_JOIN, .op.is = OP_JOINS_THREAD }, { .kind = DPROF_KIND_PROGRESS, .name = "c", .op.is = OP_UNSEEN },
};
static const uint32_t few_whats[] = {
	TR_WHAT(0, DPROF_ENTER), TR_WHAT(0, DPROF_EXIT), TR_WHAT(1, DPROF_ENTER), TR_WHAT(1, DPROF_EXIT),
	TR_WHAT(2, DPROF_ENTER), TR_WHAT(3, DPROF_POINT), TR_SEVERAL,
};
#define FEW_SITES (sizeof few_sites / sizeof *few_sites)
#define FEW_WHATS (sizeof few_whats / sizeof *few_whats)

/* Any words, most of them such as threads record; few ids, of which some are known, and few sites. */
static uint64_t random_word(uint64_t *stamp)
{
	unsigned small = (unsigned)draw_below(DPROF_KEY_COUNT + 1);
	switch (draw_below(60)) {
	case 0:
		return 0;
	case 1:
		return draw_below(UINT64_C(1) << 33) << 31 | draw_below(UINT64_C(1) << 33);
	case 2:
		return dprof_epoch_word(*stamp += draw_below(UINT64_C(1) << 38));
	case 3:
		return dprof_escape_word(DPROF_ESCAPE_ARG_HIGH, small, 1 + draw_below(255));
	case 4:
		return dprof_escape_word(DPROF_ESCAPE_LOST, 0, draw_below(3));
	case 5 ... 25:
		return dprof_escape_word(DPROF_ESCAPE_ARG, small,
					 small == DPROF_KEY_SINCE ? *stamp - draw_below(draw_below(20) ? 1 : 9) : draw_below(1000));
	case 26:
		*stamp -= draw_below(draw_below(20) ? 1 : 2000); /* fall through */
	default:
		return (*stamp += draw_below(1000)) << DPROF_ID_BITS | 2 * draw_below(draw_below(30) ? 4 : FEW_WHATS + 1);
	}
}

/* A scan of a thread's words, and what it left. */
struct scanned {
	struct event_reader reader;
	struct opened_trace o;
	struct tr_thread thread;
	struct tr_process process;
	struct tr_words words;
	struct scan scan;
	struct word_place place;
	size_t nplain;
};

/* The blocks of the store are as small as can be. `plain`: as many words at once as are plain. */
static void scan_all(struct scanned *x, const struct tr_modules *modules, uint64_t *word, bool plain)
{
	const char *kept;
	struct tr_store *store = store_open(FEW_SITES, STORE_BUDGET);
	*x = (struct scanned){ .reader.writer = store_writer(store), .process.pid = 1,
			       .words = { .modules = modules, .words = { .n = WORDS, .vouched = SIZE_MAX,
							       .buffer = word, .nbuffered = WORDS } } };
	x->thread = (struct tr_thread){ .words = &x->words, .may_jump = UINT64_MAX };
	x->o = (struct opened_trace){ .reader = &x->reader, .t = {
		.processes = &x->process, .nprocesses = 1, .threads = &x->thread, .nthreads = 1,
		.sites = few_sites, .nsites = FEW_SITES, .store = store } };
	scan_begin(&x->scan, &x->o, &x->thread, 0);
	store_begin(x->reader.writer, NULL);
	for (size_t n = 0; (plain && (n = scan_plain(&x->scan, &x->place))) || scan_one(&x->scan, &x->place);)
		x->nplain += n;
	x->thread.blocks = store_end(x->reader.writer);
	x->o.t.whats = store_finish(store, &kept);
	jumps_end(&x->scan.jumps, true);
}

static void scanned_free(struct scanned *x)
{
	x->thread.words = NULL;
	trace_thread_free(&x->thread);
	ids_free(&x->scan.groups);
	free(x->o.uses);
	store_close(x->o.t.store);
}

static bool same_jumps(const struct tr_jumps *a, const struct tr_jumps *b)
{
	return a == b || (a && b && a->n == b->n && a->nsites == b->nsites && a->tangled == b->tangled &&
			  !memcmp(a->event, b->event, a->n * sizeof *a->event));
}

static bool same_scan(const struct scanned *a, const struct scanned *b)
{
	const struct scan *x = &a->scan, *y = &b->scan;
	return x->highest == y->highest && x->back == y->back && x->unwritten == y->unwritten && x->keys == y->keys &&
	       x->joins == y->joins && x->lost == y->lost && x->unsaid == y->unsaid &&
	       !memcmp(x->count, y->count, sizeof x->count) && !memcmp(x->first, y->first, sizeof x->first) &&
	       a->o.nuses == b->o.nuses && a->thread.nrecords == b->thread.nrecords && a->thread.unseen == b->thread.unseen &&
	       a->thread.unknown_joins == b->thread.unknown_joins && same_jumps(a->thread.jumps, b->thread.jumps) &&
	       a->place.near == b->place.near && a->place.epoch == b->place.epoch;
}

static bool same_events(const struct scanned *a, const struct scanned *b)
{
	struct tr_cursor x = trace_events(&a->o.t, 0), y = trace_events(&b->o.t, 0);
	struct tr_event e, f;
	bool same = true, more = true;
	while (same && more) {
		more = trace_next(&x, &e);
		same = more == trace_next(&y, &f) && (!more || twin_same_event(&e, &f));
	}
	trace_end(&x);
	trace_end(&y);
	return same;
}

/* No plain word has a meaning of its own: many at once are taken as each by itself. */
START_TEST(plain_words_are_taken_as_each_by_itself)
{
	uint32_t says[IDS_PAGE], says_nothing[IDS_PAGE];
	struct tr_ids ids;
	struct tr_modules modules = { .ids = &ids };
	uint64_t word[WORDS], plain = 0;

	memset(says, 0xff, sizeof says);
	memset(says_nothing, 0xff, sizeof says_nothing);
	memcpy(says, few_whats, sizeof few_whats);
	for (size_t i = 0; i < IDS_PAGES; i++)
		ids.page[i] = i ? says_nothing : says;
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		struct scanned each, many;
		draw_state = seed;
		uint64_t stamp = draw_below(UINT64_C(1) << 33) << 20;
		for (size_t i = 0; i < WORDS; i++)
			word[i] = random_word(&stamp);
		scan_all(&each, &modules, word, false);
		scan_all(&many, &modules, word, true);
		ck_assert_msg(same_scan(&each, &many) && same_events(&each, &many), "SEED=%" PRIu64 ": another scan", seed);
		plain += many.nplain;
		scanned_free(&each);
		scanned_free(&many);
	}
	ck_assert_uint_gt(plain, unit_times(ROUNDS) * WORDS / 4);
}
END_TEST

START_TEST(an_id_of_several_modules_is_ambiguous)
{
	uint32_t says[IDS_PAGE] = { TR_SEVERAL };
	struct tr_ids ids = { .page = { says } };
	struct tr_modules modules = { .ids = &ids };
	uint64_t several = UINT64_C(1) << DPROF_ID_BITS;
	struct tr_words one = { .modules = &modules, .words = { .n = 1, .buffer = &several, .nbuffered = 1 } };
	ck_assert_int_eq(words_next(&one, &(struct word_place){ 0 }, &(struct tr_record){ 0 }), DAMAGE_AMBIGUOUS);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, UNIT_ANEW);

	for (size_t i = 0; i < 2 * MOST; i++)
		sites[i].kind = i < MOST ? DPROF_KIND_LOCK : DPROF_KIND_REGION;
	tcase_add_test(c, interrupted_records_come_into_order);
	tcase_add_test(c, what_no_handler_explains_loses_as_little_as_can_be);
	tcase_add_test(c, one_wrong_stamp_is_found);
	tcase_add_test(c, one_stamp_far_too_high_is_damage);
	tcase_add_test(c, an_operation_is_late_behind_whole_handlers_only);
	tcase_add_test(c, plain_words_are_taken_as_each_by_itself);
	tcase_add_test(c, an_id_of_several_modules_is_ambiguous);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * analysis_store.c - columns are the records that were put in; for any number of readers, of threads, and wherever
 * there is room for them. */
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testsuite/unit/draw.h"
#include "testsuite/unit/record_twin.h"

#define SITES   300
#define ROUNDS  300
#define THREADS 4
#define WRITERS 3

static uint64_t seed;

/* Of any size. */
static uint64_t random_value(void)
{
	uint64_t bits = draw_below(UINT64_C(1) << 32) << 32 | draw_below(UINT64_C(1) << 32);
	return bits >> draw_below(64);
}

/* ---- A trace with any records ---------------------------------------------------------------- */

static struct tr_site sites[SITES];
static struct tr_clock host = { .ghz = 1 };

struct made_thread { struct tr_record *record; size_t n; };

struct made {
	struct made_thread made[THREADS];
	struct tr_process process;
	struct tr_thread threads[THREADS];
	struct trace trace;
	struct tr_modules modules;
	const char *kept_in_memory;
};

/* How many sites, how many arguments, how far apart, how much is lost differ from thread to thread. */
static struct made_thread some_records(size_t most)
{
	struct made_thread made = { .n = draw_below(most) };
	uint64_t nsites = 1 + draw_below(SITES), args = draw_below(12), step = 1 + random_value() % (1 << 20);
	uint64_t stamp = random_value() >> 16, lossy = 2 + draw_below(1000), small = draw_below(2);
	made.record = mem_resize(NULL, made.n, sizeof *made.record);
	for (size_t i = 0; i < made.n; i++) {
		struct tr_record *r = &made.record[i];
		if (draw_below(12) < args)
			*r = (struct tr_record){ small ? draw_below(200) : random_value(),
						 TR_WHAT(1 + draw_below(DPROF_KEY_COUNT - 1), DPROF_ARG) };
		else if (!draw_below(lossy))
			*r = (struct tr_record){ draw_below(3), TR_WHAT(0, DPROF_LOST) };
		else
			*r = (struct tr_record){ stamp += draw_below(step),
						 TR_WHAT(draw_below(20) ? draw_below(nsites) : TR_NO_SITE,
							 draw_below(3)) };
	}
	return made;
}

static bool put_behind(struct store_tail *t, const struct tr_record *r)
{
	uint32_t is = 0;
	if (TR_OP(r->what) == DPROF_ARG)
		return tail_argument(t, (unsigned)TR_BODY(r->what), r->stamp);
	if (is_event(r) && TR_BODY(r->what) < SITES && (is = tail_knows(t, r->what)))
		tail_event(t, is, r->stamp);
	return is;
}

/* Some of them by themselves. */
static void put(struct tr_writer *w, const struct tr_record *r, size_t n)
{
	struct store_tail tail;
	for (size_t i = 0; i < n;) {
		if (draw_below(10) && store_tail(w, &tail)) {
			while (i < n && put_behind(&tail, &r[i]))
				i++;
			store_put_tail(w, &tail);
		}
		if (i < n)
			store_record(w, &r[i++]);
	}
}

/* `most` records of each thread, in a trace of so many threads, put in by one of several writers. */
static struct made *make(size_t most, size_t nthreads)
{
	struct made *m = mem_resize(NULL, 1, sizeof *m);
	*m = (struct made){ .process.modules = &m->modules };
	m->trace = (struct trace){ .clocks = &host, .nclocks = 1, .processes = &m->process, .nprocesses = 1,
				   .threads = m->threads, .nthreads = THREADS, .sites = sites, .nsites = SITES,
				   .store = store_open(SITES, nthreads) };
	struct tr_writer *writers[WRITERS];
	size_t nwriters = 1 + draw_below(WRITERS);
	for (size_t i = 0; i < nwriters; i++)
		writers[i] = store_writer(m->trace.store);
	for (size_t t = 0; t < THREADS; t++) {
		struct tr_writer *writer = writers[draw_below(nwriters)];
		for (int again = 0; again < 2; again++) { /* what is put in again counts */
			free(m->made[t].record);
			m->made[t] = some_records(most);
			store_begin(writer, again ? m->threads[t].blocks : NULL);
			put(writer, m->made[t].record, m->made[t].n);
			m->threads[t].blocks = store_end(writer);
		}
	}
	m->trace.whats = store_finish(m->trace.store, &m->kept_in_memory);
	return m;
}

static void unmake(struct made *m)
{
	for (size_t t = 0; t < THREADS; t++) {
		free(m->made[t].record);
		blocks_close(m->threads[t].blocks);
	}
	ids_free(&m->modules.renamed);
	free(m->modules.now);
	store_close(m->trace.store);
	free(m);
}

/* Groups 1 to 3 are others in this trace. */
static void rename_groups(struct made *m)
{
	for (uint64_t id = 1; id <= 3; id++) {
		size_t n = m->modules.renamed.n;
		ids_add(&m->modules.renamed, id);
		*MEM_GROW(m->modules.now, n) = 1000 + id;
	}
}

static size_t check(const struct made *m)
{
	size_t all = 0;
	for (size_t t = 0; t < THREADS; t++) {
		size_t n = twin_events(&m->trace, t, m->made[t].record, m->made[t].n);
		ck_assert_msg(n != SIZE_MAX, "SEED=%" PRIu64 ": thread %zu has other events", seed, t);
		ck_assert_uint_eq(n, m->threads[t].blocks->n);
		all += n;
	}
	return all;
}

START_TEST(columns_are_the_records)
{
	static const size_t threads[] = { 1, 1000, 5000, 20000, 10000000 };
	size_t all = 0;
	for (seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		draw_state = seed;
		struct made *m = make(seed % 10 ? 6000 : 60000, threads[draw_below(5)]);
		if (draw_below(2))
			rename_groups(m);
		ck_assert_ptr_null(m->kept_in_memory);
		all += check(m);
		unmake(m);
	}
	ck_assert_uint_gt(all, unit_times(ROUNDS) * 5000);
}
END_TEST

/* ---- Where events are, and what a block is --------------------------------------------------- */

/* The slow way: from the first event on. */
static void check_ends(const struct made *m, size_t t)
{
	const struct made_thread *made = &m->made[t];
	struct tr_thread *thread = &((struct made *)(uintptr_t)m)->threads[t];
	uint64_t first = 0, last = 0, found_first, found_last;
	bool any = false, before = false, behind = false;
	for (size_t i = 0; i < made->n; i++) {
		bool event = is_event(&made->record[i]), lost = TR_OP(made->record[i].what) == DPROF_LOST;
		first = event && !any ? made->record[i].stamp : first;
		last = event ? made->record[i].stamp : last;
		any |= event;
		before |= lost && !any;
		behind = (behind || lost) && !event;
	}
	thread->nrecords = made->n;
	ck_assert_int_eq(trace_ends(thread, &found_first, &found_last), any);
	ck_assert(!any || (found_first == first && found_last == last));
	ck_assert_int_eq(trace_lost_before(thread), before);
	ck_assert_int_eq(trace_lost_behind(thread), behind);
}

START_TEST(ends_are_known_without_reading)
{
	for (seed = unit_seed; seed < unit_seed + unit_times(2000); seed++) {
		draw_state = seed;
		struct made *m = make(1 + draw_below(20), 1);
		for (size_t t = 0; t < THREADS; t++)
			check_ends(m, t);
		unmake(m);
	}
}
END_TEST

/* The slow way: event by event. */
static void check_recorded(const struct made *m, const bool *what, const struct tr_wanted *wanted)
{
	for (size_t t = 0; t < THREADS; t++) {
		struct tr_cursor events = trace_events(&m->trace, t);
		size_t losses = 0;
		bool recorded = false;
		for (struct tr_columns k; trace_columns(&events, &k);)
			for (size_t i = 0; i < k.n; i++) {
				recorded |= what[k.what[i]];
				losses += trace_what(&m->trace, &k, i)->op == DPROF_LOST;
			}
		trace_end(&events);
		ck_assert_msg(trace_recorded(&m->trace, wanted, t) == recorded, "SEED=%" PRIu64 ": thread %zu", seed, t);
		ck_assert_uint_eq(m->threads[t].blocks->losses, losses);
	}
}

START_TEST(what_a_thread_recorded_is_known)
{
	for (seed = unit_seed; seed < unit_seed + unit_times(500); seed++) {
		draw_state = seed;
		struct made *m = make(1 + draw_below(200), draw_below(2) ? 1 : 10000000); /* one block, or several */
		size_t n = trace_kinds(&m->trace);
		bool *what = mem_resize(NULL, n + 1, sizeof *what);
		for (size_t i = 0; i < n; i++)
			what[i] = draw_below(n) < 2;
		struct tr_wanted wanted = trace_wanted(&m->trace, what);
		check_recorded(m, what, &wanted);
		trace_wanted_close(&wanted);
		free(what);
		unmake(m);
	}
}
END_TEST

/* A copy looks ahead and back, and the cursor goes on as if it had not. */
START_TEST(copies_do_not_disturb)
{
	for (seed = unit_seed; seed < unit_seed + unit_times(20); seed++) {
		draw_state = seed;
		struct made *m = make(6000, 100000);
		struct record_twin twin = { m->made[0].record, m->made[0].n, 0, &m->modules };
		struct tr_cursor c = trace_events(&m->trace, 0);
		struct tr_event truth, e, other;
		while (twin_next(&twin, &truth)) {
			struct tr_cursor ahead = c, back = c;
			for (uint64_t i = draw_below(4) ? 0 : draw_below(60); i--;)
				trace_next(&ahead, &other);
			ck_assert(trace_next_bare(&c, &e));
			back.next = draw_below(c.next);
			if (draw_below(4) == 0)
				trace_next(&back, &other);
			trace_arguments(&c, &e);
			ck_assert_msg(twin_same_event(&e, &truth), "SEED=%" PRIu64 ": another event", seed);
		}
		ck_assert(!trace_next(&c, &e));
		trace_end(&c);
		unmake(m);
	}
}
END_TEST

static bool may_pass(const uint8_t *passes, const struct tr_event *e)
{
	return e->op != DPROF_LOST && e->site != TR_NO_SITE &&
	       passes[e->site] & (e->nargs ? TR_PASS_ARGUMENTS : TR_PASS_BARE);
}

/* What is passed over is as many events as the other cursor gives before the next one that is not. */
static void check_passed(struct tr_cursor *all, struct tr_passed passed, const uint8_t *passes, bool *entered)
{
	struct tr_event e = { 0 };
	for (size_t i = 0; i < passed.n; i++) {
		ck_assert(trace_next(all, &e));
		ck_assert_msg(may_pass(passes, &e), "SEED=%" PRIu64 ": passed over site %u", seed, e.site);
		entered[e.site] |= e.op == DPROF_ENTER;
	}
	ck_assert(passed.n == 0 || (passed.stamp == e.stamp && passed.site == e.site));
}

START_TEST(what_is_passed_over_is_counted)
{
	uint64_t total = 0;
	for (seed = unit_seed; seed < unit_seed + unit_times(40); seed++) {
		draw_state = seed;
		struct made *m = make(6000, 100000);
		uint8_t passes[SITES];
		bool entered[SITES] = { false }, more = true;
		uint64_t stops = 1 + draw_below(20);
		for (uint32_t s = 0; s < SITES; s++)
			passes[s] = (uint8_t)(draw_below(stops) ? 1 + draw_below(3) : 0);
		struct tr_cursor some = trace_events(&m->trace, 0), all = trace_events(&m->trace, 0);
		for (struct tr_event e, truth; more;) {
			struct tr_passed passed = trace_pass(&some, passes);
			total += passed.n;
			check_passed(&all, passed, passes, entered);
			more = trace_next(&some, &e);
			ck_assert(trace_next(&all, &truth) == more);
			ck_assert(!more || (twin_same_event(&e, &truth) && !may_pass(passes, &e)));
		}
		for (uint32_t s = 0; s < SITES; s++)
			ck_assert(entered[s] == ((passes[s] & TR_PASS_ENTERED) != 0));
		trace_end(&some);
		trace_end(&all);
		unmake(m);
	}
	ck_assert_uint_gt(total, unit_times(40) * 500);
}
END_TEST

/* The slow way: all events, one after the other. */
static struct tr_sample sample_slowly(const struct trace *t, size_t step)
{
	struct tr_sample s = { NULL, 0 };
	struct tr_cursor c = trace_events(t, 0);
	uint64_t last = 0;
	size_t n = 0;
	for (struct tr_event e; trace_next(&c, &e);) {
		last = e.op == DPROF_LOST ? last : e.stamp;
		if (e.op != DPROF_LOST && n++ % step == 0)
			*MEM_GROW(s.stamp, s.count) = last;
	}
	if (n)
		*MEM_GROW(s.stamp, s.count) = last;
	trace_end(&c);
	return s;
}

static bool loses_some(const struct trace *t)
{
	bool lost = false;
	struct tr_cursor c = trace_events(t, 0);
	for (struct tr_event e; trace_next(&c, &e);)
		lost |= e.op == DPROF_LOST;
	trace_end(&c);
	return lost;
}

START_TEST(a_sample_is_every_so_many_th_event)
{
	size_t whole = 0;
	for (seed = unit_seed; seed < unit_seed + unit_times(60); seed++) {
		draw_state = seed;
		struct made *m = make(draw_below(2) ? 6000 : 60, 100000);
		struct tr_thread *self = m->trace.threads;
		uint32_t open[2] = { 0, 1 };
		size_t step = 1 + draw_below(draw_below(2) ? 5 : 3000);
		self->lost = loses_some(&m->trace);
		whole += !self->lost;
		self->open = open;
		self->nopen = draw_below(3);
		struct tr_sample expected = sample_slowly(&m->trace, step), found = { NULL, 0 };
		trace_sample(&m->trace, 0, step, &found);
		ck_assert_uint_eq(found.count, expected.count);
		for (size_t i = 0; i < found.count; i++)
			ck_assert_msg(found.stamp[i] == expected.stamp[i], "SEED=%" PRIu64 ": stamp %zu", seed, i);
		free(found.stamp);
		free(expected.stamp);
		self->open = NULL;
		self->nopen = 0;
		unmake(m);
	}
	ck_assert_uint_gt(whole, 0);
}
END_TEST

/* ---- Many readers ---------------------------------------------------------------------------- */

static void *read_all(void *made)
{
	for (int round = 0; round < 3; round++)
		check(made);
	return NULL;
}

START_TEST(readers_share_nothing)
{
	pthread_t reader[8];
	draw_state = seed = unit_seed;
	struct made *m = make(100000, 1000);
	rename_groups(m);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&reader[i], NULL, read_all, m), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(reader[i], NULL);
	unmake(m);
}
END_TEST

/* ---- Many threads ---------------------------------------------------------------------------- */

/* All readers of `nthreads` threads at once: what they take. */
static size_t memory_of_readers(size_t nthreads, size_t events)
{
	struct tr_thread *threads = mem_resize(NULL, nthreads, sizeof *threads);
	struct tr_cursor *cursor = mem_resize(NULL, nthreads, sizeof *cursor);
	struct tr_process process = { .pid = 1 };
	struct trace t = { .clocks = &host, .nclocks = 1, .processes = &process, .nprocesses = 1, .threads = threads,
			   .nthreads = nthreads, .sites = sites, .nsites = SITES, .store = store_open(SITES, nthreads) };
	struct tr_writer *writer = store_writer(t.store);
	const char *kept_in_memory;
	struct tr_event e;
	for (size_t i = 0; i < nthreads; i++) {
		store_begin(writer, NULL);
		for (uint64_t k = 0; k < events; k++)
			put(writer, (struct tr_record[]){
				{ 1000 * k, TR_WHAT(k % SITES, DPROF_ENTER) }, { k, TR_WHAT(DPROF_KEY_SEQ, DPROF_ARG) },
				{ i, TR_WHAT(DPROF_KEY_PEER, DPROF_ARG) } }, 3);
		threads[i] = (struct tr_thread){ .blocks = store_end(writer) };
	}
	t.whats = store_finish(t.store, &kept_in_memory);
	size_t before = mallinfo2().uordblks;
	for (size_t i = 0; i < nthreads; i++)
		cursor[i] = trace_events(&t, i);
	for (size_t i = 0; i < nthreads; i++)
		for (uint64_t k = 0; k < 300; k++)
			ck_assert(trace_next(&cursor[i], &e) && e.stamp == 1000 * k && e.args[1].value == i);
	size_t taken = mallinfo2().uordblks - before;
	for (size_t i = 0; i < nthreads; i++) {
		trace_end(&cursor[i]);
		blocks_close(threads[i].blocks);
	}
	store_close(t.store);
	free(threads);
	free(cursor);
	return taken;
}

START_TEST(readers_of_many_threads_have_one_budget)
{
	size_t few = memory_of_readers(100, 3000), many = memory_of_readers(10000, 500);
	ck_assert_uint_lt(few, 100 * (32 * STORE_EVENTS + 1000));
	ck_assert_uint_lt(many, STORE_BUDGET + 10000 * 300);
}
END_TEST

/* ---- Where there is no room ------------------------------------------------------------------ */

static void check_kept_in_memory(size_t most, bool expected)
{
	draw_state = seed;
	struct made *m = make(most, 1);
	ck_assert_int_eq(m->kept_in_memory != NULL, expected);
	check(m);
	unmake(m);
}

START_TEST(without_a_temporary_file_events_stay_in_memory)
{
	seed = unit_seed;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	check_kept_in_memory(100000, true);
	check_kept_in_memory(100, false); /* nor would there be one */
	unsetenv("TMPDIR");
	check_kept_in_memory(100000, false);
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit = { 300000, 300000 };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_kept_in_memory(100000, true);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, UNIT_ANEW);

	tcase_add_test(c, columns_are_the_records);
	tcase_add_test(c, ends_are_known_without_reading);
	tcase_add_test(c, what_a_thread_recorded_is_known);
	tcase_add_test(c, copies_do_not_disturb);
	tcase_add_test(c, what_is_passed_over_is_counted);
	tcase_add_test(c, a_sample_is_every_so_many_th_event);
	tcase_add_test(c, readers_share_nothing);
	tcase_add_test(c, readers_of_many_threads_have_one_budget);
	tcase_add_test(c, without_a_temporary_file_events_stay_in_memory);
	return unit_end();
}

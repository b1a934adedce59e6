/* SPDX-License-Identifier: MIT
 *
 * analysis_csp.c - straggler scores and totals against a twin that knows the truth.
 *
 * A random world (analysis_world.h) is analysed; the twin adds up the truth by looking at every
 * moment between two true events. Who takes part is what the analysis says before any records are lost.
 *
 * Laws: the truth is inside; and what comes out is not much wider than the clocks are where frames
 * end. */
#include "analysis/states/csp.h"
#include "analysis/states/totals.h"
#include "testsuite/unit/analysis_world.h"

#define WORLDS 6000

/* ---- The truth ------------------------------------------------------------------------------- */

static uint8_t true_state(const struct true_thread *t, double time)
{
	uint8_t state = state_before(t, time);
	size_t stretch = 0;
	for (size_t i = 0; i < t->count && t->events[i].time <= time; i++) {
		state = t->events[i].state;
		stretch = i + 1;
	}
	bool over = t->count > 0 && time >= t->events[t->count - 1].time && time >= t->gone;
	if (over && state != MAY_GONE)
		return t->after;
	return w.chosen && state == MAY_BE_UNCLASSIFIED ? t->choice[stretch] : state;
}

static uint8_t true_participant_state(const struct participants *who, uint32_t participant,
				      double time)
{
	bool works = false, all_wait = true, any_waits = false;
	for (size_t i = 0; i < w.nthreads; i++) {
		if (who->participant_of[i] != participant)
			continue;
		uint8_t state = true_state(&w.thread[i], time);
		works |= state == MAY_WORK;
		if (who->waits[i]) {
			any_waits |= state == MAY_WAIT || state == MAY_GONE;
			all_wait &= state == MAY_WAIT || state == MAY_GONE;
		}
	}
	return works ? MAY_WORK : any_waits && all_wait ? MAY_WAIT : MAY_OTHER;
}

static bool takes_part(const struct participants *who, uint32_t participant)
{
	bool takes = false;
	for (size_t i = 0; i < w.nthreads; i++)
		takes |= who->participant_of[i] == participant;
	return takes;
}

static void true_scores(const struct participants *who, double *score)
{
	double moments[THREADS * (EVENTS + 6) + 2];
	size_t count = true_moments(moments);
	for (uint32_t a = 0; a < who->nparticipants; a++)
		score[a] = 0;
	for (size_t m = 1; m < count; m++) {
		if (moments[m] == moments[m - 1] || moments[m - 1] < w.first || moments[m] > w.last)
			continue;
		uint32_t waiting = 0, worker = NO_PARTICIPANT;
		for (uint32_t a = 0; a < who->nparticipants && waiting + 1 >= a; a++) {
			if (!takes_part(who, a)) {
				waiting++;
				continue;
			}
			uint8_t state = true_participant_state(who, a, moments[m - 1]);
			waiting += state == MAY_WAIT;
			worker = state == MAY_WORK ? a : worker;
		}
		if (waiting + 1 == who->nparticipants && worker != NO_PARTICIPANT)
			score[worker] += moments[m] - moments[m - 1];
	}
}

/* True scores, by the participants of another list; all that have one are among them. */
static void scores_of(const struct participants *whole, const struct participants *who,
		      double *score)
{
	double of_whole[THREADS];
	true_scores(whole, of_whole);
	for (uint32_t a = 0; a < who->nparticipants; a++)
		score[a] = 0;
	for (size_t i = 0; i < w.nthreads; i++) {
		if (whole->participant_of[i] == NO_PARTICIPANT ||
		    of_whole[whole->participant_of[i]] <= 0)
			continue;
		if (who->participant_of[i] != NO_PARTICIPANT)
			score[who->participant_of[i]] = of_whole[whole->participant_of[i]];
	}
}

static double true_total(const struct true_thread *t, uint8_t state)
{
	double moments[THREADS * (EVENTS + 6) + 2], total = 0;
	size_t count = true_moments(moments);
	for (size_t m = 1; m < count; m++) {
		double from = fmax(moments[m - 1], w.first), to = fmin(moments[m], w.last);
		if (to > from && true_state(t, moments[m - 1]) == state)
			total += to - from;
	}
	return total;
}

/* In a region, at any depth of the stack. */
static double true_region(const struct true_thread *t, uint32_t site)
{
	double total = 0, end = fmin(t->gone, w.last);
	int depth = 0;
	for (size_t i = 0; i < t->count; i++) {
		if (t->events[i].site == site)
			depth += t->events[i].op == DPROF_ENTER ? 1 : -1;
		double from = fmax(t->events[i].time, w.first),
		       to = i + 1 < t->count ? t->events[i + 1].time : end;
		if (depth > 0 && fmin(to, w.last) > from)
			total += fmin(to, w.last) - from;
	}
	return total;
}

/* ---- Pruning ---------------------------------------------------------------------------------- */

/* What is left out beforehand changes nothing. */
static void check_pruning(uint64_t seed, const struct times *times, const struct periods *periods,
			  const struct participants *who, const struct span *spans,
			  const struct csp_score *pruned)
{
	struct csp_score *all = csp_scores_unpruned(times, periods, who, spans);
	for (uint32_t a = 0; a < who->nparticipants; a++)
		ck_assert_msg(pruned[a].alone.lo == all[a].alone.lo && pruned[a].alone.hi == all[a].alone.hi &&
				      pruned[a].site == all[a].site,
			      "SEED=%" PRIu64 ": pruned [%" PRId64 ", %" PRId64 "], not [%" PRId64 ", %" PRId64 "]",
			      seed, pruned[a].alone.lo, pruned[a].alone.hi, all[a].alone.lo, all[a].alone.hi);
	free(all);
}

/* ---- Unclassified time ----------------------------------------------------------------------- */

/* A choice of what each thread did in its unclassified stretches, and who takes part then. */
static void choose(const struct totals *totals, const struct participants *any,
		   struct participants *who)
{
	uint64_t lazy = below(3);
	*who = *any;
	who->waits = calloc(THREADS, sizeof *who->waits);
	who->participant_of = calloc(THREADS, sizeof *who->participant_of);
	for (size_t i = 0; i < w.nthreads; i++) {
		const struct thread_totals *t = &totals->threads[i];
		bool works = t->works, waits = t->waits || t->goes;
		for (size_t k = 0; k < EVENTS + 3; k++) {
			uint8_t state = (uint8_t)(1 << (lazy && below(lazy) ? 2 : below(3)));
			w.thread[i].choice[k] = state;
			bool used = k > 0 ? k <= w.thread[i].count &&
					    w.thread[i].events[k - 1].state == MAY_BE_UNCLASSIFIED
					  : w.thread[i].count && w.thread[i].outside == MAY_BE_UNCLASSIFIED &&
					    w.thread[i].events[0].site != BEGIN;
			works |= used && state == MAY_WORK;
			waits |= used && state == MAY_WAIT;
		}
		who->waits[i] = waits;
		who->participant_of[i] = works || t->waits ||
					 waits ? any->participant_of[i] : NO_PARTICIPANT;
	}
	w.chosen = true;
}

/* The true score for every choice is in the score for any choice. */
static void check_any(uint64_t seed, const struct times *times, const struct periods *periods,
		      const struct participants *any, const struct span *spans,
		      const struct totals *whole, const struct participants *whole_any)
{
	struct csp_score *scores = csp_scores(times, periods, any, spans);
	check_pruning(seed, times, periods, any, spans, scores);
	for (int choices = 0; choices < 3; choices++) {
		struct participants who;
		double truth[THREADS], run = w.last - w.first;
		choose(whole, whole_any, &who);
		scores_of(&who, any, truth);
		for (uint32_t a = 0; a < any->nparticipants && run > 0; a++) {
			if (!spans[times->time_base[any->clock_of[a]]].events)
				continue;
			struct interval percent = interval_percent(
				scores[a].alone, spans[times->time_base[any->clock_of[a]]].length);
			ck_assert_msg(percent.lo <= 100 * truth[a] / run + SLACK &&
					      100 * truth[a] / run - SLACK <= percent.hi,
				      "SEED=%" PRIu64 ": by a choice of what is unclassified participant %u has "
				      "%.6f %%, not in %.6f .. %.6f",
				      seed, a, 100 * truth[a] / run, percent.lo, percent.hi);
		}
		free(who.waits);
		free(who.participant_of);
		w.chosen = false;
	}
	free(scores);
}

/* ---- The laws -------------------------------------------------------------------------------- */

/* With all clocks on one line: ticks. Otherwise each line has its own, but percentages are
 * comparable. */
static void check_score(uint64_t seed, const char *what, uint32_t a, frz_time score, double truth,
			const struct span *span)
{
	struct interval percent = interval_percent(score, span->length);
	double run = w.last - w.first;
	ck_assert_msg(run <= 0 || (percent.lo <= 100 * truth / run + SLACK &&
				   100 * truth / run - SLACK <= percent.hi),
		      "SEED=%" PRIu64 ": %s %u: %.6f %% is not in %.6f .. %.6f", seed, what,
		      a, 100 * truth / run, percent.lo, percent.hi);
	if (w.unplaced)
		return;
	check_inside(seed, what, a, score, truth);
	if (!w.damaged && w.uncertainty == 0)
		ck_assert_msg((double)(score.hi - score.lo) <= allowed_width(),
			      "SEED=%" PRIu64 ": %s %u: [%" PRId64 ", %" PRId64
			      "] is wider than %.0f",
			      seed, what, a, score.lo, score.hi, allowed_width());
}

static void check_scores(uint64_t seed, const struct times *times, const struct periods *periods,
			 const struct participants *who, const struct span *spans,
			 const struct participants *whole, const char *what)
{
	double truth[THREADS];
	scores_of(whole, who, truth);
	struct csp_score *scores = csp_scores(times, periods, who, spans);
	check_pruning(seed, times, periods, who, spans, scores);
	for (uint32_t a = 0; a < who->nparticipants; a++)
		ck_assert_msg(scores[a].site >= SITES || sites[scores[a].site].op.is & OP_REGION,
			      "SEED=%" PRIu64 ": %s %u works in %s", seed, what, a, sites[scores[a].site].name);
	for (uint32_t a = 0; a < who->nparticipants; a++)
		if (spans[times->time_base[who->clock_of[a]]].events)
			check_score(seed, what, a, scores[a].alone, truth[a],
				    &spans[times->time_base[who->clock_of[a]]]);
	free(scores);
}

/* Totals of one thread, in ticks of the base. */
static void check_totals(uint64_t seed, const struct times *times, const struct span *span,
			 const struct totals *totals, uint32_t thread)
{
	const struct thread_totals *t = &totals->threads[thread];
	const struct true_thread *truth = &w.thread[thread];
	check_inside(seed, "working", thread, totals_time(times, span, totals, thread, &t->work),
		     true_total(truth, MAY_WORK));
	check_inside(seed, "waiting", thread, totals_time(times, span, totals, thread, &t->wait),
		     true_total(truth, MAY_WAIT));
	check_inside(seed, "unclassified", thread,
		     totals_time(times, span, totals, thread, &t->unclassified),
		     true_total(truth, MAY_BE_UNCLASSIFIED));
	for (uint32_t r = 0; r < totals->nregions; r++) {
		uint32_t site = totals->site_of_region[r];
		check_inside(seed, sites[site].name, thread,
			     totals_time(times, span, totals, thread, &t->regions[r].time),
			     true_region(truth, site));
	}
}

/* Who takes part: threads, processes, and both for any choice of what is unclassified. */
struct all_who { struct participants threads, processes, any_threads, any_processes; };

static struct all_who open_participants(const struct totals *t)
{
	return (struct all_who){ totals_participant_threads(t, false),
				 totals_participant_processes(t, false),
				 totals_participant_threads(t, true),
				 totals_participant_processes(t, true) };
}

static void close_participants(struct all_who *c)
{
	participants_close(&c->threads);
	participants_close(&c->processes);
	participants_close(&c->any_threads);
	participants_close(&c->any_processes);
}

static void check_all_scores(uint64_t seed, const struct times *times, const struct span *spans,
			     const struct totals *totals, const struct totals *whole)
{
	const struct periods *periods = &totals->periods;
	struct all_who all_who = open_participants(totals), all = open_participants(whole);
	check_scores(seed, times, periods, &all_who.threads, spans, &all.threads, "thread");
	check_scores(seed, times, periods, &all_who.processes, spans, &all.processes, "process");
	check_any(seed, times, periods, &all_who.any_threads, spans, whole, &all.any_threads);
	check_any(seed, times, periods, &all_who.any_processes, spans, whole, &all.any_processes);
	close_participants(&all_who);
	close_participants(&all);
}

static void check_recording(uint64_t seed, const struct times *times, const struct totals *whole)
{
	struct roles roles;
	struct totals totals;
	ck_assert(roles_open(&roles, &w.trace, w.one_region ? "a" : NULL, NULL));
	totals_open(&totals, &w.trace, &roles);
	totals_regions(&totals);
	struct span spans[2] = { times_span(times, 0, totals.ends) };
	if (w.unplaced)
		spans[1] = times_span(times, 1, totals.ends);
	if (!w.unplaced && spans[0].events) {
		check_inside(seed, "span", 0, spans[0].length, w.last - w.first);
		check_inside(seed, "first", 0, spans[0].first, w.first);
		check_inside(seed, "last", 0, spans[0].last, w.last);
	}
	if (w.first <= w.last)
		check_all_scores(seed, times, spans, &totals, whole ? whole : &totals);
	for (uint32_t i = 0; i < w.nthreads && !w.unplaced && spans[0].events; i++)
		check_totals(seed, times, spans, &totals, i);
	totals_close(&totals);
	roles_close(&roles);
}

/* As it was recorded, and when some of that is lost. */
static void check_world(uint64_t seed)
{
	make_world(seed, seed % 8 ? 0 : 1 + seed / 8 % 40, seed % 5 == 0, seed % 3 == 0);
	struct times times;
	struct roles roles;
	struct totals whole;
	ck_assert_int_eq(times_open(&times, &w.trace, &(struct options){ .json = false }),
			 EXIT_FINE);
	ck_assert(roles_open(&roles, &w.trace, w.one_region ? "a" : NULL, NULL));
	totals_open(&whole, &w.trace, &roles);
	check_recording(seed, &times, NULL);
	lose_some();
	check_recording(seed, &times, &whole);
	totals_close(&whole);
	roles_close(&roles);
	times_close(&times);
}

/* ---- Frames by hand -------------------------------------------------------------------------- */

static void add_event(size_t thread, uint64_t stamp, uint32_t site, enum dprof_op op)
{
	struct tr_thread *t = &w.threads[thread];
	w.thread[thread].records[t->nrecords++] =
		(struct tr_record){ stamp, (uint64_t)site << 3 | op };
}

static void add_visit(size_t thread, uint64_t from, uint64_t to, uint32_t site)
{
	add_event(thread, from, site, DPROF_ENTER);
	add_event(thread, to, site, DPROF_EXIT);
}

/* Two hosts whose clocks are known to within 300 ticks; thread 0 is on the base. */
static void make_hosts(size_t nthreads)
{
	memset(&w, 0, sizeof w);
	w.nclocks = 2;
	w.clocks[0].host = "h0";
	w.clocks[1].host = "h1";
	w.nthreads = w.nprocesses = nthreads;
	for (int i = 0; i < LINES; i++) {
		w.lines[0][i] = (struct world_line){ 1, 0 };
		w.lines[1][i] = (struct world_line){ 1, 100.0 * i };
	}
	for (uint32_t i = 0; i < nthreads; i++)
		w.processes[i].marked = true;
	for (uint32_t i = 0; i < nthreads; i++)
		w.threads[i] = (struct tr_thread){ .clock = i > 0,
						   .process = i,
						   .rank = i,
						   .complete = true };
	w.trace = (struct trace){ .clocks = w.clocks,
				  .nclocks = 2,
				  .threads = w.threads,
				  .nthreads = nthreads,
				  .processes = w.processes,
				  .nprocesses = nthreads,
				  .sites = sites,
				  .nsites = SITES };
	trace_classify(&w.trace);
}

static frz_time score_by_hand(uint32_t thread, uint32_t *site)
{
	struct times times;
	struct roles roles;
	struct totals totals;
	times_open(&times, &w.trace, &(struct options){ .json = false });
	roles_open(&roles, &w.trace, NULL, NULL);
	totals_open(&totals, &w.trace, &roles);
	struct span span = times_span(&times, 0, totals.ends);
	struct participants who = totals_participant_threads(&totals, false);
	struct csp_score *scores = csp_scores(&times, &totals.periods, &who, &span);
	frz_time score = scores[thread].alone;
	*site = scores[thread].site;
	free(scores);
	participants_close(&who);
	totals_close(&totals);
	roles_close(&roles);
	times_close(&times);
	return score;
}

/* Threads 1 and 2 share a clock that is 300 ticks uncertain; thread 0 waits all the time. */
START_TEST(frame_within_one_host_carries_no_clock_error)
{
	uint32_t site;
	make_hosts(3);
	add_visit(0, 1000, 9000, BARRIER);
	add_visit(1, 4000, 4050, REGION_B);
	add_visit(2, 3990, 4040, RECEIVE);
	add_visit(1, 8000, 8001, SEND);
	add_visit(2, 8000, 8001, SEND);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 40 - 1);
	ck_assert_int_eq(score.hi, 40 + 1);
	ck_assert_uint_eq(site, REGION_B);
}
END_TEST

/* Thread 0 begins to wait on one clock, thread 1 ends to work on the other. */
START_TEST(frame_between_two_hosts_is_as_wide_as_the_clock)
{
	uint32_t site;
	make_hosts(2);
	add_visit(0, 4000, 9000, BARRIER);
	add_visit(1, 1000, 5000, REGION_A);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 5000 - 4001);
	ck_assert_int_eq(score.hi, 5301 - 4000);
}
END_TEST

/* A wait on clock 0 that ends close to the begin of work on clock 1 may or may not overlap it. */
START_TEST(unknown_order_is_possible_and_not_definite)
{
	uint32_t site;
	make_hosts(2);
	add_visit(0, 1000, 4000, BARRIER);
	add_visit(0, 7000, 7001, SEND);
	add_visit(1, 3800, 6000, REGION_A);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 0);
	ck_assert_int_eq(score.hi, 4001 - 3800);
}
END_TEST

/* Thread 1 waits twice; which of the two it does when thread 0 works, is not known, but only one of them. */
START_TEST(time_of_unknown_order_counts_once)
{
	uint32_t site;
	make_hosts(2);
	add_visit(0, 4100, 4200, REGION_A);
	add_visit(1, 1000, 4000, BARRIER);
	add_visit(1, 4010, 9000, BARRIER);
	frz_time score = score_by_hand(0, &site);
	ck_assert_int_eq(score.lo, 0);
	ck_assert_int_eq(score.hi, 4201 - 4100);
}
END_TEST

/* As std::thread does: one ends at 3000, the other works on to 6000; who made them waits. */
START_TEST(who_has_ended_keeps_none_waiting)
{
	uint32_t site;
	make_hosts(3);
	w.threads[1].clock = w.threads[2].clock = 0;
	add_visit(0, 500, 6100, BARRIER);
	for (size_t t = 1; t < 3; t++) {
		add_event(t, 900, BEGIN, DPROF_POINT);
		add_visit(t, 1000 + 10 * t, t == 1 ? 3000 : 6000, REGION_A);
		add_event(t, t == 1 ? 3001 : 6001, END, DPROF_POINT);
	}
	frz_time score = score_by_hand(2, &site);
	ck_assert_int_eq(score.lo, 2999 - 1);
	ck_assert_int_eq(score.hi, 2999 + 1);
	score = score_by_hand(1, &site);
	ck_assert_int_eq(score.hi, 0);
}
END_TEST

/* Two that wait end at the same stamp: whoever of them did so first, thread 1 works alone before, then and behind. */
START_TEST(what_holds_in_every_order_of_changes_goes_on)
{
	uint32_t site;
	make_hosts(4);
	for (size_t t = 1; t < 4; t++)
		w.threads[t].clock = 0;
	add_visit(0, 1000, 9000, BARRIER);
	add_visit(1, 2000, 5000, REGION_A);
	for (size_t t = 2; t < 4; t++) {
		add_event(t, 1000, BARRIER, DPROF_ENTER);
		add_event(t, 3000, END, DPROF_POINT);
	}
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 3000 - 1);
	ck_assert_int_eq(score.hi, 3000 + 1);
}
END_TEST

/* Three processes of one host: the first waits for its children, as in waitpid(). */
static void make_children(void)
{
	make_hosts(3);
	for (uint32_t p = 0; p < 3; p++)
		w.processes[p].marked = false;
	w.threads[1].clock = w.threads[2].clock = 0;
	for (uint32_t p = 1; p < 3; p++) {
		w.processes[p].started = 1000 * p;
		w.processes[p].forked = true;
		w.threads[p].ended = 5000 * p;
		add_visit(p, 1000 * p + 10, 1000 * p + 20, REGION_A);
	}
	add_visit(0, 500, 11000, RECEIVE);
}

START_TEST(child_that_is_over_or_not_yet_there_keeps_none_waiting)
{
	uint32_t site;
	make_children();
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 1000 - 1);
	ck_assert_int_eq(score.hi, 1000 + 1);
	score = score_by_hand(2, &site);
	ck_assert_int_eq(score.lo, 5000 - 1);
	ck_assert_int_eq(score.hi, 5000 + 1);
}
END_TEST

/* One that was killed may go on working, and one that was not forked may have been there before. */
START_TEST(who_was_killed_or_not_forked_may_keep_others_waiting)
{
	uint32_t site;
	make_children();
	w.threads[1].complete = false;
	w.processes[2].forked = false;
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 0);
	score = score_by_hand(2, &site);
	ck_assert_int_eq(score.lo, 0);
	ck_assert_int_ge(score.hi, 8000 - 1);
}
END_TEST

/* Thread 1 may be a helper, which takes no part, and it ends before thread 0 does. What it lost decides. */
START_TEST(who_may_be_a_helper_may_keep_none_waiting)
{
	uint32_t site;
	make_hosts(3);
	w.threads[1].clock = w.threads[2].clock = 0;
	add_visit(0, 1000, 2000, BARRIER);
	add_visit(0, 3000, 4000, REGION_A);
	add_visit(1, 1000, 1001, SEND);
	add_visit(1, 4500, 4501, SEND);
	w.thread[1].records[w.threads[1].nrecords++] = (struct tr_record){ 3, TR_WHAT(1, DPROF_LOST) };
	w.threads[1].lost = 3;
	w.threads[1].lost_last = true;
	w.threads[1].ended = w.threads[1].latest = 6000;
	add_visit(2, 500, 9000, BARRIER);
	frz_time score = score_by_hand(0, &site);
	ck_assert_int_eq(score.lo, 0);
	ck_assert_int_eq(score.hi, 1000 + 1);
}
END_TEST

START_TEST(barrier_inside_a_region_is_waiting_and_a_helper_takes_no_part)
{
	uint32_t site;
	make_hosts(4);
	w.threads[1].clock = w.threads[2].clock = 0;
	add_event(0, 1000, REGION_A, DPROF_ENTER);
	add_visit(0, 2000, 5000, BARRIER);
	add_event(0, 6000, REGION_A, DPROF_EXIT);
	add_event(1, 1000, REGION_A, DPROF_ENTER);
	add_visit(1, 4000, 5002, BARRIER);
	add_event(1, 5990, REGION_A, DPROF_EXIT);
	add_visit(2, 3000, 3001, SEND);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 2000 - 1);
	ck_assert_int_eq(score.hi, 2000 + 1);
}
END_TEST

START_TEST(truth_is_inside_and_bounds_are_tight)
{
	for (uint64_t i = 0; i < unit_times(WORLDS); i++)
		check_world(unit_seed + i);
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(900, UNIT_ANEW);

	tcase_add_test(tc, truth_is_inside_and_bounds_are_tight);
	tcase_add_test(tc, frame_within_one_host_carries_no_clock_error);
	tcase_add_test(tc, frame_between_two_hosts_is_as_wide_as_the_clock);
	tcase_add_test(tc, unknown_order_is_possible_and_not_definite);
	tcase_add_test(tc, time_of_unknown_order_counts_once);
	tcase_add_test(tc, who_has_ended_keeps_none_waiting);
	tcase_add_test(tc, what_holds_in_every_order_of_changes_goes_on);
	tcase_add_test(tc, child_that_is_over_or_not_yet_there_keeps_none_waiting);
	tcase_add_test(tc, who_was_killed_or_not_forked_may_keep_others_waiting);
	tcase_add_test(tc, who_may_be_a_helper_may_keep_none_waiting);
	tcase_add_test(tc, barrier_inside_a_region_is_waiting_and_a_helper_takes_no_part);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * truth_path.c - the critical path that is found holds the true one: random programs whose true times are known are
 * walked back from their last event, one event at a time, on a clock that shows the truth; and how long that way was in
 * each site of each thread, or on its way from rank to rank, lies in what is said of the same program as its hosts' clocks
 * recorded it. So does how much longer each thread could have taken before the run's end came later (slack_twin.h). */
#include <math.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/path/path_private.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/causes_twin.h"
#include "testsuite/unit/slack_twin.h"
#include "testsuite/unit/unit.h"

static uint64_t seed, programs;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(200);
}

/* ---- The true path --------------------------------------------------------------------------- */

#define ROWS (PROGRAM_SITES + 2) /* sites, outside of them, and before the thread's first event */
enum { OUTSIDE = PROGRAM_SITES, BEFORE };
#define MOST_RANKS 16

struct path_truth {
	const struct program *p;
	struct graph graph;          /* of the clock that shows the truth */
	int64_t (*on)[ROWS], (*on_in_slice)[ROWS]; /* of each thread, by site */
	int64_t hops[MOST_RANKS][MOST_RANKS];
	int64_t in_slice[MOST_RANKS][MOST_RANKS]; /* of these in this slice, in true ticks */
	int64_t from, to;
	struct path_slice slice; /* which is this */
	int64_t length;
};

/* Of what the event waited for, the last; of those that come at the same time the first. */
static const struct graph_input *cause(const struct graph *g, uint32_t number, const struct program_event *event)
{
	const struct graph_node *node = &g->nodes[number];
	const struct graph_input *last = NULL;

	for (size_t i = 0; i < node->ninputs; i++) {
		const struct graph_input *input = &g->inputs[node->first + i];
		if (twin_ends(event, input) && (!last || input->stamp > last->stamp))
			last = input;
	}
	ck_assert(last);
	return last;
}

/* Where the thread is behind its event `at`; it is in its opener's regions while it is in a team. */
static unsigned row_behind(const struct trace *trace, uint32_t thread, size_t at)
{
	struct tr_cursor events = trace_places(trace, thread);
	struct tr_event e;
	unsigned open[64], n = 0;
	uint64_t since = 0;

	for (size_t own = 0; own <= at && trace_next(&events, &e); own += !e.inherited) {
		since = e.stamp;
		if (e.op == DPROF_ENTER)
			open[n++] = e.site;
		else if (e.op == DPROF_EXIT)
			n--;
	}
	while (trace_next(&events, &e) && e.inherited && e.stamp == since)
		n = e.op == DPROF_ENTER ? (open[n] = e.site, n + 1) : n - 1;
	trace_end(&events);
	return n ? open[n - 1] : OUTSIDE;
}

/* The node that the event waited for, of several the last; UINT32_MAX: it did not wait. */
static uint32_t waited_for(const struct graph *g, uint32_t thread, size_t at)
{
	const struct graph_thread *t = &g->threads[thread];

	for (size_t i = t->nsyncs; i-- > 0;)
		if (t->syncs[i].at == at && t->syncs[i].what == GRAPH_WAITS)
			return t->syncs[i].number;
	return UINT32_MAX;
}

/* The event at which a thread posts an input. */
static size_t posted_at(const struct graph *g, const struct graph_input *input)
{
	const struct graph_thread *t = &g->threads[input->thread];

	for (size_t i = 0; i < t->nsyncs; i++)
		if (t->syncs[i].what == GRAPH_POSTS && &g->inputs[t->syncs[i].number] == input)
			return t->syncs[i].at;
	ck_abort_msg("an input that nobody posts");
	return 0;
}

static int64_t in_slice(const struct path_truth *t, int64_t since, int64_t until)
{
	int64_t begin = since > t->from ? since : t->from, end = until < t->to ? until : t->to;

	return end > begin ? end - begin : 0;
}

static void add_hop(struct path_truth *t, unsigned from, unsigned to, int64_t since, int64_t until)
{
	t->hops[from][to] += until - since;
	t->in_slice[from][to] += in_slice(t, since, until);
}

static void add_on(struct path_truth *t, uint32_t thread, unsigned row, int64_t since, int64_t until)
{
	t->on[thread][row] += until - since;
	t->on_in_slice[thread][row] += in_slice(t, since, until);
}

static void walk_back(struct path_truth *t)
{
	const struct graph_input *end = cause(&t->graph, t->graph.end, &(struct program_event){ .freed = 0 });
	uint32_t thread = end->thread;
	size_t at = posted_at(&t->graph, end);

	while (true) {
		const struct program_thread *self = &t->p->threads[thread];
		uint32_t node = waited_for(&t->graph, thread, at);
		if (node != UINT32_MAX) {
			const struct graph_input *from = cause(&t->graph, node, &self->events[at]);
			unsigned row = self->events[at].op == DPROF_EXIT ? self->events[at].site : BEFORE;
			size_t other = posted_at(&t->graph, from);
			int64_t since = t->p->threads[from->thread].events[other].truth;
			ck_assert_msg(since <= self->events[at].truth, "SEED=%" PRIu64 ": an effect before its cause", t->p->seed);
			add_on(t, thread, row, since, self->events[at].truth);
			if (from->thread != thread)
				add_hop(t, t->p->threads[from->thread].rank, self->rank, since, self->events[at].truth);
			thread = from->thread;
			at = other;
		} else if (at > 0) {
			add_on(t, thread, row_behind(t->graph.trace, thread, at - 1), self->events[at - 1].truth, self->events[at].truth);
			at--;
		} else {
			add_on(t, thread, BEFORE, t->p->begin, self->events[0].truth);
			return;
		}
	}
}

/* A moment, known so well or to a tenth of the run. */
static frz_time roughly(struct dice *dice, int64_t at, int64_t ticks)
{
	int64_t most = roll(dice) % 2 ? ticks / 10 : 0, lo = at - (int64_t)(roll(dice) % (uint64_t)(most + 1));

	return (frz_time){ lo > 0 ? lo : 0, at + (int64_t)(roll(dice) % (uint64_t)(most + 1)) };
}

/* Some part of the run, in ticks of the base; of half of them it is known how long they are. */
static void draw_slice(struct path_truth *t, const struct program *p)
{
	struct dice dice = { p->seed };
	int64_t ticks = (p->end - p->begin) / PROGRAM_FINE + 1, a = (int64_t)(roll(&dice) % (uint64_t)ticks);
	int64_t length = 1 + (int64_t)(roll(&dice) % (uint64_t)ticks);

	t->slice = (struct path_slice){ roughly(&dice, a, ticks), roughly(&dice, a + length, ticks), { 0, INT64_MAX } };
	if (roll(&dice) % 2)
		t->slice.length = (frz_time){ length, length };
	t->from = p->begin + a * PROGRAM_FINE;
	t->to = p->begin + (a + length) * PROGRAM_FINE;
}

static void truth_open(struct path_truth *t, const struct program *p)
{
	struct options options = { .assumption = p->assumption };
	struct trace *trace = program_trace(p, PROGRAM_TRUE);
	struct times times;

	*t = (struct path_truth){ .p = p };
	draw_slice(t, p);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	graph_open(&t->graph, trace, &times);
	t->on = mem_resize(NULL, p->nthreads, sizeof *t->on);
	t->on_in_slice = mem_resize(NULL, p->nthreads, sizeof *t->on_in_slice);
	memset(t->on, 0, p->nthreads * sizeof *t->on);
	memset(t->on_in_slice, 0, p->nthreads * sizeof *t->on_in_slice);
	walk_back(t);
	for (size_t i = 0; i < p->nthreads; i++)
		for (unsigned row = 0; row < ROWS; row++)
			t->length += t->on[i][row];
	ck_assert_msg(t->length == p->end - p->begin, "SEED=%" PRIu64 ": the path is not as long as the run", p->seed);
	graph_close(&t->graph);
	times_close(&times);
	trace_close(trace);
}

/* ---- What was said of it --------------------------------------------------------------------- */

static struct { double sum; uint64_t n, sure, shares; } width;

static unsigned row_of(uint32_t site)
{
	ck_assert_msg(site != TR_NO_SITE, "SEED=%" PRIu64 ": something is not known", seed);
	return site == TR_OUTSIDE ? OUTSIDE : site == TR_BEFORE ? BEFORE : site;
}

static void check_share(const struct program *p, const char *of, size_t thread, unsigned row, int64_t truth, frz_time found)
{
	ck_assert_msg(program_compare(truth, found.lo) >= 0 && program_compare(truth, found.hi) <= 0,
		      "SEED=%" PRIu64 ": %s: thread %zu site %u: truly %.3f ticks on the path, found %" PRId64 " .. %" PRId64,
		      p->seed, of, thread, row, (double)truth / PROGRAM_FINE, found.lo, found.hi);
}

static void check_profile(const struct path_truth *t, struct path *path)
{
	struct path_profile profile;
	bool (*seen)[ROWS] = mem_resize(NULL, t->p->nthreads, sizeof *seen);

	memset(seen, 0, t->p->nthreads * sizeof *seen);
	path_profile_open(&profile, path, PATH_ALL);
	check_share(t->p, "length", 0, 0, t->length, profile.length);
	ck_assert_msg(profile.certain, "SEED=%" PRIu64 ": somewhere the path is lost", t->p->seed);
	for (size_t i = 0; i < profile.nshares; i++) {
		const struct path_share *s = &profile.shares[i];
		unsigned row = row_of(s->site);
		check_share(t->p, "share", s->thread, row, t->on[s->thread][row], s->ticks);
		seen[s->thread][row] = true;
		width.sum += (double)(s->ticks.hi - s->ticks.lo) / (double)(path->span.length.hi + 1);
		width.sure += s->sure;
		width.shares++;
	}
	width.n++;
	for (size_t i = 0; i < t->p->nthreads; i++)
		for (unsigned row = 0; row < ROWS; row++)
			if (!seen[i][row])
				check_share(t->p, "missing", i, row, t->on[i][row], (frz_time){ 0, 0 });
	path_profile_close(&profile);
	free(seen);
}

static void check_slice(const struct path_truth *t, struct path *path)
{
	struct path_profile profile;
	int64_t (*missing)[ROWS] = mem_resize(NULL, t->p->nthreads, sizeof *missing);

	memcpy(missing, t->on_in_slice, t->p->nthreads * sizeof *missing);
	path_profile_open(&profile, path, t->slice);
	check_share(t->p, "length of a slice", 0, 0, in_slice(t, t->p->begin, t->p->end), profile.length);
	for (size_t i = 0; i < profile.nshares; i++) {
		const struct path_share *s = &profile.shares[i];
		unsigned row = row_of(s->site);
		check_share(t->p, "share of a slice", s->thread, row, t->on_in_slice[s->thread][row], s->ticks);
		missing[s->thread][row] = 0;
	}
	for (size_t i = 0; i < t->p->nthreads; i++)
		for (unsigned row = 0; row < ROWS; row++)
			check_share(t->p, "missing in a slice", i, row, missing[i][row], (frz_time){ 0, 0 });
	path_profile_close(&profile);
	free(missing);
}

static void check_hops(const struct path_truth *t, struct path *path, struct path_slice slice,
		       int64_t truth[MOST_RANKS][MOST_RANKS])
{
	struct path_profile profile;

	path_profile_open(&profile, path, slice);
	for (unsigned from = 0; from < t->p->nranks; from++) {
		for (unsigned to = 0; to < t->p->nranks; to++) {
			frz_time found = { 0, 0 };
			for (size_t i = 0; i < profile.nhops; i++)
				if (profile.hops[i].from == from && profile.hops[i].to == to)
					found = profile.hops[i].ticks;
			check_share(t->p, "from rank to rank", from, to, truth[from][to], found);
		}
	}
	path_profile_close(&profile);
}

static void check_program(uint64_t number, const struct program_spec *spec)
{
	struct program *p = program_draw(number, spec);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct times times;
	struct path_truth truth;
	struct path path;

	truth_open(&truth, p);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	path_open(&path, trace, &times);
	check_profile(&truth, &path);
	check_slice(&truth, &path);
	check_hops(&truth, &path, PATH_ALL, truth.hops);
	check_hops(&truth, &path, truth.slice, truth.in_slice);
	path_close(&path);
	times_close(&times);
	trace_close(trace);
	free(truth.on);
	free(truth.on_in_slice);
	program_free(p);
}

/* ---- Elsewhere ------------------------------------------------------------------------------- */

static struct { double truly, least; uint64_t rows; } elsewhere;

/* Within a slice all threads waited for so long at most before it is known where the path was. */
static int64_t stood_still(const struct causes_truth *t, const struct program *p, struct path_slice slice, int64_t known_from)
{
	int64_t from = p->begin + slice.from.lo * PROGRAM_FINE, sum = 0, limit = (p->end - p->begin) / PROGRAM_FINE + 1;
	int64_t until = slice.to.hi < known_from ? slice.to.hi : known_from, to = p->begin + (until < limit ? until : limit) * PROGRAM_FINE;

	for (size_t i = 0; i < t->nstills; i++) {
		int64_t begin = t->stills[i].from > from ? t->stills[i].from : from;
		int64_t end = t->stills[i].to < to ? t->stills[i].to : to;
		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

static bool is_blocking(const struct program_event *e)
{
	return e->site == PROGRAM_SEND || e->site == PROGRAM_RECV;
}

/* All messages with that tag are received from somebody outside, and nobody sends them. False: others have that tag, too. */
static bool take_outside(struct program *p, uint64_t tag, bool try)
{
	bool fits = true;

	for (size_t i = 0; i < p->nthreads; i++) {
		struct program_event *e = p->threads[i].events;
		for (size_t k = 0; k < p->threads[i].nevents; k++) {
			struct tr_arg *of = tag_of(&e[k]);
			if (!of || of->value != tag)
				continue;
			fits &= is_blocking(&e[k]) && e[k].op == DPROF_ENTER && e[k + 1].site == e[k].site;
			if (try || !fits)
				continue;
			bool receives = e[k].site == PROGRAM_RECV;
			e[k].site = e[k + 1].site = receives ? PROGRAM_EPOLL : PROGRAM_A;
			e[k].args[0] = (struct tr_arg){ DPROF_KEY_PEER, DPROF_PEER_UNKNOWN };
			e[k].nargs = receives;
			e[k + 1].nargs = 0;
		}
	}
	return fits;
}

static bool take_some_outside(struct program *p, struct dice *dice)
{
	const struct program_thread *t = &p->threads[roll(dice) % p->nthreads];
	size_t first = t->nevents ? roll(dice) % t->nevents : 0;

	for (size_t i = 0; i < t->nevents; i++) {
		struct program_event *e = &t->events[(first + i) % t->nevents];
		if (e->site == PROGRAM_RECV && tag_of(e) && take_outside(p, tag_of(e)->value, true))
			return take_outside(p, tag_of(e)->value, false);
	}
	return false;
}

/* Whoever is outside may have waited for anybody, but for nobody who waits: while all do, the path is on none of them; and no more
 * is said of where it is. */
static void check_elsewhere(const struct causes_truth *t, const struct program *p, struct path *path, struct path_slice slice)
{
	struct path_profile profile;
	int64_t still = stood_still(t, p, slice, path->known_from);
	frz_time found = { 0, 0 };

	path_profile_open(&profile, path, slice);
	for (size_t i = 0; i < profile.nshares; i++) {
		if (profile.shares[i].thread != PATH_ELSEWHERE)
			continue;
		found = profile.shares[i].ticks;
		elsewhere.rows++;
	}
	ck_assert_msg(program_compare(still, found.lo) >= 0,
		      "SEED=%" PRIu64 ": all waited for %.3f ticks, and the path was elsewhere for %" PRId64 " .. %" PRId64, p->seed,
		      (double)still / PROGRAM_FINE, found.lo, found.hi);
	if (path->all_recorded) {
		elsewhere.truly += (double)still / PROGRAM_FINE;
		elsewhere.least += (double)found.lo;
	}
	path_profile_close(&profile);
}

static void check_elsewhere_of(uint64_t number, const struct program_spec *spec)
{
	struct program *p = program_draw(number, spec);
	struct dice dice = { number };
	struct options options = { .assumption = p->assumption };
	struct path_truth slice = { .p = p };
	struct times times;
	struct path path;

	draw_slice(&slice, p);
	if (!take_some_outside(p, &dice)) {
		program_free(p);
		return;
	}
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct causes_truth t = causes_truth(p);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	path_open(&path, trace, &times);
	check_elsewhere(&t, p, &path, PATH_ALL);
	check_elsewhere(&t, p, &path, slice.slice);
	path_close(&path);
	times_close(&times);
	trace_close(trace);
	causes_truth_free(&t);
	program_free(p);
}

START_TEST(no_more_is_elsewhere_than_all_waited)
{
	for (uint64_t i = 0; i < programs; i++)
		check_elsewhere_of(seed + i, &(struct program_spec){ .may = PROGRAM_BARRIERS | PROGRAM_COLLECTIVES | PROGRAM_MESSAGES |
									    PROGRAM_THREADS | PROGRAM_LOCKS,
								     .affine = i % 3 == 0, .varying = i % 2,
								     .ranks = 2 + (unsigned)((seed + i) % 3), .twins = i % 4 == 0 });
	printf("%" PRIu64 " times elsewhere; where all is recorded all waited for %.0f ticks, %.0f found\n", elsewhere.rows, elsewhere.truly, elsewhere.least);
	ck_assert_msg(elsewhere.least > 0.9 * elsewhere.truly && elsewhere.truly > 0,
		      "SEED=%" PRIu64 " and %" PRIu64 " more: all waited for %.0f ticks, %.0f found", seed, programs - 1, elsewhere.truly,
		      elsewhere.least);
}
END_TEST

/* ---- Slack ----------------------------------------------------------------------------------- */

static struct { double wide, all; uint64_t n, limited; } slack_seen;

/* Of one thread in each row, the least, and how long it was there. */
struct slack_truth { int64_t least[ROWS], ticks[ROWS]; };

static void find_slack(struct slack_truth *truth, const struct program *p, const struct graph_order *order, uint32_t thread)
{
	struct tr_cursor events = trace_places(order->graph->trace, thread);
	struct tr_event e;
	size_t at = 0;
	int64_t since = -1, slack = SLACK_NEVER;
	uint32_t open[64], n = 0;

	*truth = (struct slack_truth){ { 0 }, { 0 } };
	for (unsigned row = 0; row < ROWS; row++)
		truth->least[row] = SLACK_NEVER;
	for (bool changed = true; trace_next(&events, &e); at += changed) {
		unsigned row = n ? open[n - 1] : OUTSIDE;
		if (since >= 0) {
			slack = slack_before(p, order, thread, at);
			truth->least[row] = slack < truth->least[row] ? slack : truth->least[row];
			truth->ticks[row] += (int64_t)e.stamp - since;
		}
		since = (int64_t)e.stamp;
		if (e.op == DPROF_ENTER)
			open[n++] = e.site;
		else if (e.op == DPROF_EXIT)
			n--;
		changed = !e.inherited;
	}
	trace_end(&events);
}

static void check_place(const struct program *p, const struct slack_truth *t, const struct path_place *found)
{
	unsigned row = row_of(found->site);
	int64_t slack = t->least[row];

	check_share(p, "time", found->thread, row, t->ticks[row], found->ticks);
	ck_assert_msg(program_compare(slack == SLACK_NEVER ? INT64_MAX : slack, found->slack.lo) >= 0 || slack == SLACK_NEVER,
		      "SEED=%" PRIu64 ": thread %u site %u: slack %.3f, found at least %" PRId64, p->seed, found->thread, row,
		      (double)slack / PROGRAM_FINE, found->slack.lo);
	ck_assert_msg(found->slack.hi == INT64_MAX || (slack != SLACK_NEVER && program_compare(slack, found->slack.hi) <= 0),
		      "SEED=%" PRIu64 ": thread %u site %u: slack %.3f, found at most %" PRId64, p->seed, found->thread, row,
		      (double)slack / PROGRAM_FINE, found->slack.hi);
	slack_seen.n += slack != SLACK_NEVER;
	if (found->slack.hi == INT64_MAX || slack == SLACK_NEVER)
		return;
	slack_seen.limited++;
	slack_seen.wide += (double)(found->slack.hi - found->slack.lo);
	slack_seen.all += (double)(p->end - p->begin) / PROGRAM_FINE;
}

static void check_slack(struct path *path, const struct program *p, const struct graph_order *order, uint32_t thread)
{
	struct slack_truth truth;
	struct path_slack found;
	bool seen[ROWS] = { false };

	find_slack(&truth, p, order, thread);
	path_slack_open(&found, path);
	ck_assert(found.known);
	for (size_t i = 0; i < found.n; i++) {
		if (found.places[i].thread != thread)
			continue;
		check_place(p, &truth, &found.places[i]);
		seen[row_of(found.places[i].site)] = true;
	}
	for (unsigned row = 0; row < ROWS; row++)
		ck_assert_msg(seen[row] || truth.least[row] == SLACK_NEVER,
			      "SEED=%" PRIu64 ": thread %u site %u: slack %.3f, found none", p->seed, thread, row,
			      (double)truth.least[row] / PROGRAM_FINE);
	path_slack_close(&found);
}

/* ---- Other ways through the run --------------------------------------------------------------- */

static uint64_t ways_seen;

static int64_t truth_at(const struct program *p, const struct graph *g, const struct graph_input *input)
{
	return p->threads[input->thread].events[posted_at(g, input)].truth;
}

/* When a way truly comes to a node, behind which it has a stay (or NULL): at the last of its inputs up to which it is
 * on a thread. */
static int64_t taken(const struct program *p, const struct graph *g, const struct path_near *way, uint32_t number,
		     const struct stay *behind)
{
	const struct graph_node *node = &g->nodes[number];
	int64_t last = INT64_MIN;

	for (uint32_t i = node->first; i < node->first + node->ninputs; i++) {
		const struct graph_input *input = &g->inputs[i];
		const struct stays *s = &way->stays[input->thread];
		size_t before = behind >= s->v && behind < s->v + s->n ? (size_t)(behind - s->v) + 1 : 0;
		for (size_t k = before; k < s->n && graph_was_waited_for(node, i - node->first, input); k++)
			if (s->v[k].to == input->stamp && truth_at(p, g, input) > last)
				last = truth_at(p, g, input);
	}
	ck_assert_msg(last != INT64_MIN, "a way that comes from nowhere");
	return last;
}

/* What truly lies between where it comes to a node and the last that was waited for there. */
static int64_t shorter_at(const struct program *p, const struct graph *g, const struct path_near *way, uint32_t number,
			  const struct stay *behind, const struct program_event *event)
{
	const struct graph_node *node = &g->nodes[number];
	int64_t last = INT64_MIN;

	for (uint32_t i = node->first; i < node->first + node->ninputs; i++) {
		int64_t at = truth_at(p, g, &g->inputs[i]);
		last = twin_ends(event, &g->inputs[i]) && at > last ? at : last;
	}
	return last - taken(p, g, way, number, behind);
}

static int64_t truly_shorter(const struct program *p, const struct graph *g, const struct path_near *way)
{
	static const struct program_event end = { .freed = 0 };
	int64_t sum = shorter_at(p, g, way, g->end, NULL, &end);

	for (uint32_t t = 0; t < p->nthreads; t++)
		for (size_t i = 0; i < way->stays[t].n; i++) {
			const struct stay *stay = &way->stays[t].v[i];
			if (stay->at != STAY_BEGINS)
				sum += shorter_at(p, g, way, waited_for(g, t, stay->at), stay,
						  &p->threads[t].events[stay->at]);
		}
	return sum;
}

/* Each is so much shorter than the run. */
static void check_near(struct path *path, const struct program *p)
{
	struct path_slack found;
	struct path_profile profile;

	path_slack_open(&found, path);
	for (size_t i = 0; i < found.nnear; i++) {
		frz_time shorter = found.near[i].shorter, all = { 0, 0 };
		int64_t truth = truly_shorter(p, &path->graph, &found.near[i]);
		check_share(p, "shorter", 0, (unsigned)i, truth, shorter);
		path_near_profile_open(&profile, path, &found.near[i]);
		check_share(p, "length of a way", 0, (unsigned)i, p->end - p->begin - truth, profile.length);
		for (size_t k = 0; k < profile.nshares; k++)
			all = time_add(all, profile.shares[k].ticks);
		check_share(p, "all of a way", 0, (unsigned)i, p->end - p->begin - truth, all);
		path_profile_close(&profile);
	}
	ways_seen += found.nnear;
	path_slack_close(&found);
}

static void check_slack_of(uint64_t number)
{
	struct program *p = program_draw(number, &(struct program_spec){ .affine = number % 3 == 0, .varying = number % 2,
									 .twins = number % 4 == 0,
									 .holds = number % 5 == 0 });
	struct trace *shown = program_trace(p, PROGRAM_TRUE), *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct times truly, times;
	struct path true_path, path;

	ck_assert_int_eq(times_open(&truly, shown, &options), EXIT_FINE);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	path_open(&true_path, shown, &truly);
	path_open(&path, trace, &times);
	check_slack(&path, p, &true_path.order, (uint32_t)(number % p->nthreads));
	if (!p->holds)
		check_near(&path, p);
	path_close(&path);
	path_close(&true_path);
	times_close(&times);
	times_close(&truly);
	trace_close(trace);
	trace_close(shown);
	program_free(p);
}

/* There a lock is given back and, in the same tick, taken by another thread, which had not waited. */
#define FREE_WITHIN_A_TICK 1008331

START_TEST(slack_holds_the_truth)
{
	for (uint64_t i = 0; i < programs; i++)
		check_slack_of(seed + i);
	check_slack_of(FREE_WITHIN_A_TICK);
	printf("%" PRIu64 " other paths in %" PRIu64 " programs\n", ways_seen, programs);
	ck_assert_msg(ways_seen >= programs / 2, "SEED=%" PRIu64 ": %" PRIu64 " other paths in %" PRIu64 " programs", seed,
		      ways_seen, programs);
	double wide = slack_seen.wide / slack_seen.all, limited = (double)slack_seen.limited / (double)slack_seen.n;
	printf("slacks are %.6f of the run wide; %.6f of those that have a limit are found to\n", wide, limited);
	ck_assert_msg(wide <= 0.02 && limited >= 0.9, "SEED=%" PRIu64 " and %" PRIu64 " more: slacks are %.6f of the run wide, expected "
		      "0.02; %.6f are limited, expected 0.9", seed, programs - 1, wide, limited);
}
END_TEST

static void check_width(double most, double least_sure)
{
	double mean = width.sum / (double)width.n, sure = (double)width.sure / (double)width.shares;

	printf("of %" PRIu64 " runs all shares together are %.6f of the run wide; %.6f of them are sure\n", width.n, mean, sure);
	ck_assert_msg(mean <= most && sure >= least_sure,
		      "SEED=%" PRIu64 " and %" PRIu64 " more: shares are %.6f of the run wide, expected at most %.6f; "
		      "%.6f of them are sure, expected %.6f", seed, programs - 1, mean, most, sure, least_sure);
	memset(&width, 0, sizeof width);
}

START_TEST(shares_hold_the_truth)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .affine = (seed + i) % 3 == 0,
								.varying = (seed + i) % 2,
								.unmarked = (seed + i) % 5 < 2 });
	check_width(0.06, 0.88);
}
END_TEST

START_TEST(shares_hold_the_truth_where_messages_are_held_back)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .holds = true, .twins = (seed + i) % 2,
								.varying = (seed + i) % 3 == 0 });
	check_width(0.06, 0.8);
}
END_TEST

/* Nothing is unknown on one clock. */
START_TEST(shares_are_exact_on_one_clock)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .twins = true, .varying = (seed + i) % 2 });
	check_width(0.04, 0.9);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, shares_hold_the_truth);
	tcase_add_test(c, shares_hold_the_truth_where_messages_are_held_back);
	tcase_add_test(c, shares_are_exact_on_one_clock);
	tcase_add_test(c, no_more_is_elsewhere_than_all_waited);
	tcase_add_test(c, slack_holds_the_truth);
	return unit_end();
}

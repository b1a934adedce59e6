/* SPDX-License-Identifier: MIT
 *
 * truth_links.c - what random programs prove of their clocks: matches are the true ones, also when
 * records are missing; links are true; and more links never make a bound wider. */
#include <unistd.h>

#include "analysis/clocks/times.h"
#include "analysis/text/text.h"
#include "analysis/match/match.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

static uint64_t seed, programs, drawn;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(300);
}

static struct program *some_program(uint64_t i)
{
	struct program_spec spec = { .affine = (seed + i) % 3 == 0, .varying = (seed + i) % 2 };

	drawn = (seed + i) * 6364136223846793005 + 1;
	return program_draw(seed + i, &spec);
}

static uint64_t below(uint64_t n)
{
	drawn = drawn * 6364136223846793005 + 1442695040888963407;
	return (drawn >> 33) % n;
}

static uint64_t stamp_of(const struct program *p, size_t thread, const struct program_event *e)
{
	return clockmap_stamp(&p->maps[p->threads[thread].host], e->truth);
}

/* ---- The twin: every send and every receive of a program, paired by counting ----------------- */

struct half { /* of a message */
	size_t thread, at;
	uint64_t peer, tag, begun, completed;
	int64_t truth, done;
	bool send, taken;
};

struct halves { struct half *v; size_t n; };

static uint64_t arg_of(const struct program_event *e, enum dprof_key key)
{
	for (unsigned i = 0; i < e->nargs; i++)
		if (e->args[i].key == key)
			return e->args[i].value;
	return UINT64_MAX;
}

/* The event that completes the receive begun by event `at`: its done, else the EXIT of the wait for
 * it, else its own. */
static const struct program_event *completion(const struct program_thread *t, size_t at)
{
	const struct program_event *begun = &t->events[at], *wait = NULL;
	uint64_t id = arg_of(begun, DPROF_KEY_ID);

	for (size_t i = at + 1; i < t->nevents; i++) {
		const struct program_event *e = &t->events[i];
		bool receives = e->site == PROGRAM_RECV || e->site == PROGRAM_IRECV ||
				e->site == PROGRAM_ISEND || e->site == PROGRAM_SEND;

		if (e->op == DPROF_POINT && receives && arg_of(e, DPROF_KEY_ID) == id)
			return e;
		if (id == UINT64_MAX && e->op == DPROF_EXIT && e->site == begun->site)
			return e;
		if (e->site == PROGRAM_WAIT && e->op == DPROF_ENTER &&
		    arg_of(e, DPROF_KEY_ID) == id)
			wait = e;
		if (e->site == PROGRAM_WAIT && e->op == DPROF_EXIT && wait)
			return e;
	}
	return NULL;
}

static struct halves halves_of(const struct program *p)
{
	struct halves all = { NULL, 0 };

	for (size_t t = 0; t < p->nthreads; t++) {
		for (size_t i = 0; i < p->threads[t].nevents; i++) {
			const struct program_event *e = &p->threads[t].events[i], *done;
			bool send = e->site == PROGRAM_SEND || e->site == PROGRAM_ISEND;

			if (e->op != DPROF_ENTER ||
			    !(send || e->site == PROGRAM_RECV || e->site == PROGRAM_IRECV))
				continue;
			done = completion(&p->threads[t], i);
			ck_assert(send || done);
			all.v = realloc(all.v, (all.n + 1) * sizeof *all.v);
			all.v[all.n++] = (struct half){
				.thread = t, .at = i, .send = send, .truth = e->truth,
				.peer = arg_of(e, DPROF_KEY_PEER), .tag = arg_of(e, DPROF_KEY_TAG),
				.begun = stamp_of(p, t, e),
			};
			struct half *h = &all.v[all.n - 1];
			if (send)
				continue;
			h->done = done->truth;
			h->completed = stamp_of(p, t, done);
			h->peer = h->peer == UINT64_MAX ? arg_of(done, DPROF_KEY_PEER) : h->peer;
			h->tag = h->tag == UINT64_MAX ? arg_of(done, DPROF_KEY_TAG) : h->tag;
		}
	}
	return all;
}

/* How many of the same stream were begun before. */
static size_t place(const struct program *p, const struct halves *all, const struct half *h)
{
	size_t before = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct half *o = &all->v[i];

		before += o->send == h->send && o->peer == h->peer && o->tag == h->tag &&
			  p->threads[o->thread].rank == p->threads[h->thread].rank &&
			  (o->truth < h->truth ||
			   (o->truth == h->truth && (o->thread < h->thread ||
						     (o->thread == h->thread && o->at < h->at))));
	}
	return before;
}

static bool pair(const struct program *p, const struct halves *all, const struct half *send,
		 const struct half *take)
{
	return p->threads[send->thread].rank == take->peer &&
	       p->threads[take->thread].rank == send->peer && send->tag == take->tag &&
	       place(p, all, send) == place(p, all, take);
}

/* ---- Matches --------------------------------------------------------------------------------- */

static struct half *find(const struct program *p, struct halves *all, const struct match *m,
			 bool send)
{
	const struct match_part *part = &m->parts[!send];
	unsigned other = p->threads[m->parts[send].thread].rank;

	for (size_t i = 0; i < all->n; i++) {
		struct half *h = &all->v[i];

		if (h->thread == part->thread && h->send == send && h->begun == part->enter &&
		    h->tag == m->number && h->peer == other &&
		    (send || h->completed == part->done) && !h->taken)
			return h;
	}
	return NULL;
}

static void check_message(const struct program *p, struct halves *all, const struct match *m)
{
	struct half *send = find(p, all, m, true), *take = find(p, all, m, false);

	ck_assert_msg(send && take && pair(p, all, send, take), "SEED=%" PRIu64 ": message %" PRIu64
		      " -> %" PRIu64 " is not true", p->seed, m->parts[0].enter, m->parts[1].done);
	ck_assert_uint_eq(m->parts[0].bytes, m->parts[1].bytes);
	ck_assert_int_le(send->truth, take->done);
	send->taken = take->taken = true;
}

/* Of a trace of the whole program, or of what was left of it. The number of messages. */
static uint64_t check_matches(const struct program *p, struct halves *all,
			      const struct trace *trace, uint64_t *collectives, uint64_t *doubtful)
{
	struct match_walk *walk = match_walk_open(trace, 0, NULL);
	struct match m;
	uint64_t messages = 0;

	while (match_walk_next(walk, &m)) {
		messages += m.kind == MATCH_MESSAGE;
		*collectives += m.kind == MATCH_COLLECTIVE && m.complete;
		if (m.kind == MATCH_MESSAGE)
			check_message(p, all, &m);
	}
	*doubtful += match_walk_tally(walk)->doubtful;
	match_walk_close(walk);
	return messages;
}

static bool on_one_clock(const struct trace *t, const struct match *m)
{
	bool one = true;

	for (size_t i = 1; i < m->nparts; i++)
		one &= t->threads[m->parts[i].thread].clock == t->threads[m->parts[0].thread].clock;
	return one;
}

/* A match, in words that tell it from all others; what takes part in the order of its threads and events. */
static int by_part(const void *a, const void *b)
{
	const struct match_part *x = a, *y = b;

	return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
				      : (x->enter_at > y->enter_at) - (x->enter_at < y->enter_at);
}

static char *match_words(const struct match *m)
{
	struct match_part *parts = calloc(m->nparts, sizeof *parts);
	char *words = NULL;
	size_t room = 0;
	FILE *out = open_memstream(&words, &room);

	memcpy(parts, m->parts, m->nparts * sizeof *parts);
	if (m->kind == MATCH_COLLECTIVE)
		qsort(parts, m->nparts, sizeof *parts, by_part);
	fprintf(out, "%d %d %" PRIu64 " %" PRIu64 " %d%d%d%d", m->kind, m->flow, m->group, m->number, m->complete,
		m->of_any, m->of_tags, m->begun);
	for (size_t i = 0; i < m->nparts; i++)
		fprintf(out, ", %u %u %zu %zu %" PRIu64 " %" PRIu64 " %" PRIu64, parts[i].thread, parts[i].site,
			parts[i].enter_at, parts[i].done_at, parts[i].enter, parts[i].done, parts[i].bytes);
	fclose(out);
	free(parts);
	return words;
}

static int by_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct all_words { char **v; size_t n; uint64_t local, doubtful; };

/* All that a walk gives, sorted: clocks are walked in any order. Without what is on one clock, if that is not wanted. */
static struct all_words words_of(struct match_walk *walk, const struct trace *t, bool between)
{
	struct all_words all = { 0 };
	struct match m;

	while (match_walk_next(walk, &m)) {
		bool local = on_one_clock(t, &m);

		all.local += local && m.kind == MATCH_COLLECTIVE;
		if (local && between)
			continue;
		all.v = realloc(all.v, (all.n + 1) * sizeof *all.v);
		all.v[all.n++] = match_words(&m);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_words);
	all.doubtful = match_walk_tally(walk)->doubtful;
	match_walk_close(walk);
	return all;
}

static void check_same(struct all_words *x, struct all_words *y, const char *what, uint64_t program)
{
	bool same = x->n == y->n && x->doubtful == y->doubtful;

	for (size_t i = 0; same && i < x->n; i++)
		same = strcmp(x->v[i], y->v[i]) == 0;
	ck_assert_msg(same, "SEED=%" PRIu64 ": %s, others are matched", program, what);
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i]);
	for (size_t i = 0; i < y->n; i++)
		free(y->v[i]);
	free(x->v);
	free(y->v);
}

static void check_between(const struct trace *t, uint64_t program, uint64_t *others)
{
	struct all_words all = words_of(match_walk_open(t, 0, NULL), t, true);
	struct all_words between = words_of(match_walk_open_between(t, 0), t, true);

	*others += all.local;
	ck_assert_uint_eq(between.local, 0);
	check_same(&all, &between, "without operations of one clock", program);
}

/* Calls are taken at once, where they can be. */
static void check_calls(const struct trace *t, uint64_t program)
{
	struct all_words all = words_of(match_walk_open(t, 0, NULL), t, false);
	struct all_words events = words_of(match_walk_open_by_events(t, 0), t, false);

	check_same(&all, &events, "of calls that are taken at once", program);
}

START_TEST(matches_are_true)
{
	uint64_t others = 0, messages = 0, sends = 0, collectives = 0, doubtful = 0;

	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct halves all = halves_of(p);

		for (size_t k = 0; k < all.n; k++)
			sends += all.v[k].send;
		messages += check_matches(p, &all, trace, &collectives, &doubtful);
		check_between(trace, p->seed, &others);
		check_calls(trace, p->seed);
		free(all.v);
		trace_close(trace);
		program_free(p);
	}
	ck_assert_uint_gt(others, programs);
	ck_assert_uint_gt(messages, 5 * programs);
	ck_assert_uint_gt(collectives, 5 * programs);
	ck_assert_uint_eq(doubtful, 0);
	ck_assert_uint_eq(messages, sends);
}
END_TEST

/* ---- Matches of traces that say less --------------------------------------------------------- */

/* A receive that does not say from whom, or with which tag, before it is done. */
struct wildcards { char done[64]; };

/* Takes peer or tag or both out of the line; false if it is no receive that begins. */
static bool to_wildcard(char *line, struct wildcards *b)
{
	unsigned site, group, peer, tag;
	uint64_t thread, stamp, what = below(4);
	int read = 0;

	if (sscanf(line, "e %" SCNu64 " %" SCNu64 " %u enter group=%u peer=%u tag=%u%n", &thread,
		   &stamp, &site, &group, &peer, &tag, &read) != 6 ||
	    (site != PROGRAM_RECV && site != PROGRAM_IRECV))
		return false;
	char *rest = strdup(line + read);
	int n = sprintf(line, "e %" PRIu64 " %" PRIu64 " %u enter group=%u", thread, stamp, site,
			group);
	if (what & 1)
		n += sprintf(line + n, " peer=%u", peer);
	if (what & 2)
		n += sprintf(line + n, " tag=%u", tag);
	strcpy(line + n, rest);
	free(rest);
	if (site == PROGRAM_RECV)
		snprintf(b->done, sizeof b->done, "peer=%u tag=%u group=%u", peer, tag, group);
	return true;
}

/* All receives take from any source; a blocking one then has a "done" before its EXIT. */
static void all_to_wildcards(FILE *in, FILE *out)
{
	char line[4096];
	struct wildcards b[64] = { 0 };
	uint64_t thread, stamp;
	unsigned site;

	while (fgets(line, sizeof line, in)) {
		if (sscanf(line, "e %" SCNu64 " %" SCNu64 " %u exit", &thread, &stamp,
			   &site) == 3 && site == PROGRAM_RECV && strstr(line, " exit") && b[thread].done[0]) {
			fprintf(out, "e %" PRIu64 " %" PRIu64 " %u point %s\n", thread, stamp, site,
				b[thread].done);
			b[thread].done[0] = 0;
		}
		if (sscanf(line, "e %" SCNu64, &thread) == 1)
			to_wildcard(line, &b[thread]);
		fputs(line, out);
	}
}

/* Leaves out runs of a few records of one thread, and says how many. */
static void lose(FILE *in, FILE *out)
{
	char line[4096];
	uint64_t victim = below(4), count = 0, thread;

	while (fgets(line, sizeof line, in)) {
		bool event = sscanf(line, "e %" SCNu64, &thread) == 1 && thread == victim;

		if (event && (count > 0 ? below(4) > 0 : below(40) == 0)) {
			count++;
			continue;
		}
		if (count > 0 && (event || line[0] != 'e')) {
			fprintf(out, "lost %" PRIu64 " %" PRIu64 "\n", victim, count);
			count = 0;
		}
		fputs(line, out);
	}
	if (count > 0)
		fprintf(out, "lost %" PRIu64 " %" PRIu64 "\n", victim, count);
}

typedef void edit(FILE *in, FILE *out);

static FILE *edited(FILE *in, edit *by)
{
	FILE *out = tmpfile();

	by(in, out);
	fclose(in);
	rewind(out);
	return out;
}

static struct trace *open_edited(const struct program *p, const char *directory, bool wildcards,
				 bool loses)
{
	char path[64], *error;
	FILE *text = tmpfile();

	program_text(p, PROGRAM_RECORDED, text);
	rewind(text);
	text = wildcards ? edited(text, all_to_wildcards) : text;
	text = loses ? edited(text, lose) : text;
	snprintf(path, sizeof path, "%s/t", directory);
	error = text_pack(text, "text", path);
	ck_assert_msg(!error, "SEED=%" PRIu64 ": %s", p->seed, error);
	struct trace *trace = trace_open(path, &error);
	ck_assert(trace != NULL);
	fclose(text);
	return trace;
}

static void remove_trace(const char *directory)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s/t", directory);
	ck_assert_int_eq(system(command), 0);
}

/* The share of all sends that found their receives, in percent; and what was in doubt. */
static uint64_t match_edited(bool wildcards, bool loses, uint64_t *doubtful)
{
	char directory[] = "/tmp/dprof-links-XXXXXX";
	uint64_t messages = 0, collectives = 0, sends = 0;

	ck_assert(mkdtemp(directory) != NULL);
	for (uint64_t i = 0; i < programs / 2; i++) {
		struct program *p = some_program(i);
		struct trace *trace = open_edited(p, directory, wildcards, loses);
		struct halves all = halves_of(p);

		for (size_t k = 0; k < all.n; k++)
			sends += all.v[k].send;
		messages += check_matches(p, &all, trace, &collectives, doubtful);
		check_calls(trace, p->seed);
		free(all.v);
		trace_close(trace);
		remove_trace(directory);
		program_free(p);
	}
	rmdir(directory);
	return 100 * messages / sends;
}

START_TEST(receives_from_any_are_matched)
{
	uint64_t doubtful = 0;

	ck_assert_uint_eq(match_edited(true, false, &doubtful), 100);
	ck_assert_uint_eq(doubtful, 0);
}
END_TEST

START_TEST(losses_make_no_false_matches)
{
	uint64_t doubtful = 0;

	ck_assert_uint_gt(match_edited(false, true, &doubtful), 30);
	ck_assert_uint_gt(match_edited(true, true, &doubtful), 30);
	ck_assert_uint_gt(doubtful, programs / 4);
}
END_TEST

/* ---- Links ----------------------------------------------------------------------------------- */

/* The true time of an event stamped so: the earliest of an ENTER, the latest of others. */
static int64_t truth_of(const struct program *p, uint32_t host, uint64_t stamp, bool enter)
{
	int64_t found = enter ? INT64_MAX : INT64_MIN;

	for (size_t t = 0; t < p->nthreads; t++) {
		for (size_t i = 0; p->threads[t].host == host && i < p->threads[t].nevents; i++) {
			const struct program_event *e = &p->threads[t].events[i];

			if ((e->op == DPROF_ENTER) != enter || stamp_of(p, t, e) != stamp)
				continue;
			if (enter ? e->truth < found : e->truth > found)
				found = e->truth;
		}
	}
	return found;
}

START_TEST(links_are_true)
{
	uint64_t links = 0;

	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct program_links l = program_links(trace, 0, NULL, NULL);

		for (size_t k = 0; k < l.nlinks; k++) {
			const struct frz_link *x = &l.links[k];

			ck_assert_uint_ne(x->from, x->to);
			ck_assert_msg(truth_of(p, x->from, x->sent, true) <=
				      truth_of(p, x->to, x->received, false),
				      "SEED=%" PRIu64 ": %" PRIu64 " -> %" PRIu64, p->seed, x->sent,
				      x->received);
		}
		links += l.nlinks;
		program_links_free(&l);
		trace_close(trace);
		program_free(p);
	}
	ck_assert_uint_gt(links, 20 * programs);
}
END_TEST

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void check_narrower(const struct program *p, const struct times *fewer,
			   const struct times *more, uint64_t *tighter)
{
	for (size_t t = 0; t < p->nthreads; t++) {
		uint32_t host = p->threads[t].host;

		if (fewer->time_base[host] != 0)
			continue;
		ck_assert_uint_eq(more->time_base[host], 0);
		struct frz_cursor c = times_cursor(fewer, host), d = times_cursor(more, host);
		for (size_t i = 0; i < p->threads[t].nevents; i++) {
			uint64_t stamp = stamp_of(p, t, &p->threads[t].events[i]);
			frz_time x = frz_time_of(&c, stamp), y = frz_time_of(&d, stamp);

			ck_assert_msg(y.lo >= x.lo && y.hi <= x.hi,
				      "SEED=%" PRIu64 ": stamp %" PRIu64 ": packets %" PRId64
				      " .. %" PRId64 ", all %" PRId64 " .. %" PRId64,
				      p->seed, stamp, x.lo, x.hi, y.lo, y.hi);
			*tighter += y.lo > x.lo || y.hi < x.hi;
		}
	}
}

START_TEST(more_links_are_never_wider)
{
	uint64_t tighter = 0;

	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct options all = { .assumption = p->assumption }, packets = all;
		struct times few, more;

		packets.packets_only = true;
		ck_assert_int_eq(times_open(&few, trace, &packets), EXIT_FINE);
		ck_assert_int_eq(times_open(&more, trace, &all), EXIT_FINE);
		ck_assert(more.program_used == (more.program.nlinks > 0));
		check_narrower(p, &few, &more, &tighter);
		times_close(&few);
		times_close(&more);
		trace_close(trace);
		program_free(p);
	}
	ck_assert_uint_gt(tighter, programs);
}
END_TEST

/* What link_filter.h leaves out costs nothing between two hosts. Of more, the solver tightens bounds a
 * few times and then stops, here a little sooner and there a little later. */
struct link_widths { double filtered, all; };

static void add_widths(const struct program *p, const struct times *filtered,
		       const struct frz_solution *all, struct link_widths *w)
{
	for (size_t t = 0; t < p->nthreads; t++) {
		uint32_t host = p->threads[t].host;

		if (filtered->time_base[host] != 0)
			continue;
		struct frz_cursor c = times_cursor(filtered, host), d = frz_cursor(all, host);
		for (size_t i = 0; i < p->threads[t].nevents; i++) {
			uint64_t stamp = stamp_of(p, t, &p->threads[t].events[i]);
			frz_time x = frz_time_of(&c, stamp), y = frz_time_of(&d, stamp);

			ck_assert_msg(filtered->trace->nclocks > 2 ||
					      (llabs(x.lo - y.lo) <= 1 && llabs(x.hi - y.hi) <= 1),
				      "SEED=%" PRIu64 ": stamp %" PRIu64 ": filtered %" PRId64
				      " .. %" PRId64 ", all %" PRId64 " .. %" PRId64,
				      p->seed, stamp, x.lo, x.hi, y.lo, y.hi);
			w->filtered += (double)(x.hi - x.lo);
			w->all += (double)(y.hi - y.lo);
		}
	}
}

/* Whether one of the links between the same clocks is as early (or late) by either stamp. */
static bool has_ends_for(const struct program_links *few, const struct frz_link *l)
{
	bool found[4] = { false };

	for (size_t i = 0; i < few->nlinks; i++) {
		const struct frz_link *k = &few->links[i];

		if (k->from != l->from || k->to != l->to)
			continue;
		found[0] |= k->sent <= l->sent;
		found[1] |= k->sent >= l->sent;
		found[2] |= k->received <= l->received;
		found[3] |= k->received >= l->received;
	}
	return found[0] && found[1] && found[2] && found[3];
}

START_TEST(the_filter_costs_no_width)
{
	uint64_t found = 0, kept = 0, pairs = 0;
	struct link_widths w = { 0, 0 };

	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct options options = { .assumption = p->assumption };
		struct frz_solution *all;
		struct times times;

		ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
		struct program_links few = times.program;
		times.program = program_links(trace, times.base, NULL, NULL);
		ck_assert_uint_eq(times.program.nlinks, times.program.found);
		for (size_t k = 0; k < times.program.nlinks; k++)
			ck_assert(has_ends_for(&few, &times.program.links[k]));
		found += few.found;
		kept += few.nlinks;
		pairs += trace->nclocks == 2 && few.found;
		struct frz_link *links = times_links(&times, true);
		ck_assert_int_eq(frz_solve(&all, (uint32_t)trace->nclocks, times.base, links,
					   trace->nlinks + times.program.nlinks, p->assumption), 0);
		add_widths(p, &times, all, &w);
		frz_solution_free(all);
		free(links);
		program_links_free(&few);
		times_close(&times);
		trace_close(trace);
		program_free(p);
	}
	ck_assert_uint_gt(pairs, programs / 10);
	ck_assert_uint_lt(kept, found * 2 / 3);
	ck_assert_double_le(w.filtered, 1.001 * w.all);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(600, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, matches_are_true);
	tcase_add_test(c, receives_from_any_are_matched);
	tcase_add_test(c, losses_make_no_false_matches);
	tcase_add_test(c, links_are_true);
	tcase_add_test(c, more_links_are_never_wider);
	tcase_add_test(c, the_filter_costs_no_width);
	return unit_end();
}

/* SPDX-License-Identifier: MIT
 *
 * synthesize.c - prints a trace of any size in dprof's text form: a program that never ran, on
 * hosts that do not exist.
 *
 *   synthesize --hosts 4 --messages 1e6 --clock walk | dprof-analyze pack - DIR
 *
 * Each round, every thread works in the region "body", the threads of a rank synchronise, each rank sends
 * a message to its right neighbour and receives one from its left; every so many rounds all ranks
 * synchronise at an MPI_Barrier. The program is played twice with the same dice: once to see how long it
 * takes, so that packets can go around it, and once to print it, so that memory does not grow with
 * it.
 *
 * Law: everything happens in an order that clocks of the kind asked for would have seen: messages
 * arrive after they were sent, barriers are left after all have entered. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testsuite/truth/world.h"

#define BEGIN_NS 1000000 /* after the first burst */

struct settings {
	struct world_spec world;
	unsigned ranks, threads;  /* threads of each rank */
	uint64_t messages, seed;
	unsigned barrier_every;
	double work_us, interval_s;
	bool true_clock;
};

struct player {
	const struct settings *s;
	const struct world *w;    /* NULL: do not print */
	struct dice dice;
	struct true_delay path;
	int64_t *now, *sent;      /* of each thread; of each rank's message of this round */
	uint64_t rounds, collectives;
};

enum { BODY, THREADS_BARRIER, RANKS_BARRIER, SEND, RECV, SITES };

/* ---- One round ------------------------------------------------------------------------------ */

static int64_t ticks(double us)
{
	return (int64_t)(us * 1000 * WORLD_FINE);
}

static void event(struct player *p, unsigned thread, int site, bool enters)
{
	unsigned rank = thread / p->s->threads;
	int64_t truth = p->now[thread];

	if (!p->w)
		return;
	printf("e %u %" PRIu64 " %d %s", thread,
	       p->s->true_clock ? (uint64_t)truth : world_stamp(p->w, rank % p->w->nhosts, truth),
	       site, enters ? "enter" : "exit");
	if (enters && site == THREADS_BARRIER)
		printf(" group=%u seq=%" PRIu64, 2 + rank, p->rounds);
	if (enters && site == RANKS_BARRIER)
		printf(" group=1 seq=%" PRIu64, p->collectives);
	if (enters && site == SEND)
		printf(" group=1 peer=%u tag=0 bytes=1000", (rank + 1) % p->s->ranks);
	if (enters && site == RECV)
		printf(" group=1 peer=%u tag=0 bytes=1000", (rank + p->s->ranks - 1) % p->s->ranks);
	putchar('\n');
}

static void pass(struct player *p, unsigned thread, double most_us)
{
	p->now[thread] += 1 + ticks(most_us * roll_unit(&p->dice));
}

static void work(struct player *p, unsigned thread)
{
	pass(p, thread, 1);
	event(p, thread, BODY, true);
	pass(p, thread, 2 * p->s->work_us);
	event(p, thread, BODY, false);
}

/* The threads first, first + apart, ...: n of them. */
static void synchronise(struct player *p, unsigned first, unsigned apart, unsigned n, int site)
{
	int64_t latest = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned t = first + i * apart;

		pass(p, t, 0.2);
		event(p, t, site, true);
		latest = p->now[t] > latest ? p->now[t] : latest;
	}
	for (unsigned i = 0; i < n; i++) {
		p->now[first + i * apart] = latest;
		pass(p, first + i * apart, 0.5);
		event(p, first + i * apart, site, false);
	}
}

static void messages(struct player *p)
{
	const struct settings *s = p->s;

	for (unsigned r = 0; r < s->ranks; r++) {
		unsigned t = r * s->threads;

		pass(p, t, 0.2);
		p->sent[r] = p->now[t];
		event(p, t, SEND, true);
		pass(p, t, 1);
		event(p, t, SEND, false);
	}
	for (unsigned r = 0; r < s->ranks; r++) {
		unsigned t = r * s->threads;
		int64_t arrival = p->sent[(r + s->ranks - 1) % s->ranks] +
				  delay_next(&p->path, &p->dice, 0);

		pass(p, t, 0.2);
		event(p, t, RECV, true);
		p->now[t] = arrival > p->now[t] ? arrival : p->now[t];
		pass(p, t, 0.3);
		event(p, t, RECV, false);
	}
}

static void one_round(struct player *p)
{
	const struct settings *s = p->s;

	for (unsigned t = 0; t < s->ranks * s->threads; t++)
		work(p, t);
	for (unsigned r = 0; r < s->ranks && s->threads > 1; r++)
		synchronise(p, r * s->threads, 1, s->threads, THREADS_BARRIER);
	if (s->ranks > 1)
		messages(p);
	p->rounds++;
	if (p->rounds % s->barrier_every == 0) {
		synchronise(p, 0, s->threads, s->ranks, RANKS_BARRIER);
		p->collectives++;
	}
}

/* When the last thread is done. */
static int64_t play(const struct settings *s, const struct world *w, int64_t begin)
{
	unsigned nthreads = s->ranks * s->threads;
	struct player p = { .s = s, .w = w, .dice = { s->seed } };
	int64_t end = begin;

	p.now = calloc(nthreads, sizeof *p.now);
	p.sent = calloc(s->ranks, sizeof *p.sent);
	if (!p.now || !p.sent)
		abort();
	p.path = delay_draw(&p.dice, s->world.delay, s->world.floor_ns * WORLD_FINE);
	for (unsigned t = 0; t < nthreads; t++)
		p.now[t] = begin + ticks(100 * roll_unit(&p.dice));
	for (uint64_t sent = 0; sent < s->messages; sent += s->ranks)
		one_round(&p);
	for (unsigned t = 0; t < nthreads; t++)
		end = p.now[t] > end ? p.now[t] : end;
	free(p.now);
	free(p.sent);
	return end;
}

/* ---- The trace ------------------------------------------------------------------------------ */

static void print_heads(const struct settings *s, const struct world *w)
{
	static const char *const sites[SITES] = {
		"region name=body",   "barrier name=team",  "barrier name=MPI_Barrier",
		"send name=MPI_Send", "recv name=MPI_Recv",
	};

	puts("dprof-text 1");
	for (unsigned h = 0; h < (s->true_clock ? 1 : w->nhosts); h++) {
		const struct clockmap_knot *k = w->maps[h].knots;

		printf("clock %u host=h%u ghz=%.6f\n", h, h,
		       s->true_clock ? (double)WORLD_FINE
				     : WORLD_FINE * (double)(k[1].own - k[0].own) /
					       (double)(k[1].truth - k[0].truth));
	}
	for (unsigned t = 0; t < s->ranks * s->threads; t++)
		printf("thread %u clock=%u rank=%u number=%u\n", t,
		       s->true_clock ? 0 : t / s->threads % w->nhosts, t / s->threads,
		       t % s->threads);
	printf("group 1 threads=0");
	for (unsigned r = 1; r < s->ranks; r++)
		printf(",%u", r * s->threads);
	for (unsigned t = 0; t < s->ranks * s->threads && s->threads > 1; t++) {
		if (t % s->threads == 0)
			printf("\ngroup %u threads=%u", 2 + t / s->threads, t);
		else
			printf(",%u", t);
	}
	putchar('\n');
	for (int i = 0; i < SITES; i++)
		printf("site %d kind=%s file=synthetic.c line=%d\n", i, sites[i], i + 1);
}

static void print_links(const struct world *w)
{
	for (size_t i = 0; i < w->nlinks; i++)
		printf("link %u %" PRIu64 " %u %" PRIu64 "\n", w->links[i].from, w->links[i].sent,
		       w->links[i].to, w->links[i].received);
}

static void synthesize(struct settings *s)
{
	struct dice dice = { ~s->seed };
	double run_ns = (double)play(s, NULL, 0) / WORLD_FINE + 2 * BEGIN_NS;

	s->world.run_ns = run_ns;
	s->world.pauses = (unsigned)(run_ns * 1e-9 / s->interval_s);
	struct world w = world_draw(&dice, &s->world);

	print_heads(s, &w);
	if (!s->true_clock)
		print_links(&w);
	play(s, &w, w.begin + ticks(BEGIN_NS / 1000));
	world_free(&w);
}

/* ---- Command line --------------------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "hosts", 'h', "N", 0, "hosts (2)", 0 },
	{ "ranks", 'r', "N", 0, "ranks, host by host in turn (one for each host)", 0 },
	{ "threads", 't', "N", 0, "threads of each rank (1)", 0 },
	{ "messages", 'm', "N", 0, "messages from neighbour to neighbour, at least (1000)", 0 },
	{ "barrier", 'b', "N", 0, "all synchronise every so many rounds (10)", 0 },
	{ "work", 'w', "US", 0, "microseconds that a thread works in a round, on average (100)",
	  0 },
	{ "clock", 'c', "KIND", 0,
	  "affine sine walk switch ramp; "
	  "or on the last host only: forward back pause excess. (What a clock that was set back stamped "
	  "is no trace: pack refuses it.) (affine)",
	  0 },
	{ "wander", 'p', "PPB", 0, "how far rates wander (10000)", 0 },
	{ "break", 'k', "US", 0,
	  "by how much a broken clock is set, or how long it stands still, in "
	  "the middle of the run on the last host (10000)",
	  0 },
	{ "delay", 'd', "KIND", 0,
	  "instant symmetric asymmetric bursty exponential heavy congested, of "
	  "packets and messages (symmetric)",
	  0 },
	{ "floor", 'f', "US", 0, "of the fastest packet (5)", 0 },
	{ "topology", 'y', "star|tree:B|mesh", 0, "who exchanges packets with whom (star)", 0 },
	{ "interval", 'i', "S", 0, "between exchanges during the run (0.25)", 0 },
	{ "seed", 's', "N", 0, "same seed, same trace (1)", 0 },
	{ "true", 'T', NULL, 0, "the same program, all on one clock of 2^-10 ns: the truth", 0 },
	{ 0 },
};

static double positive(const char *text, const char *what, struct argp_state *state)
{
	char *end;
	double x = strtod(text, &end);

	if (*end || !(x > 0 && x < 1e12))
		argp_error(state, "--%s: expected a number above 0, found '%s'", what, text);
	return x;
}

static unsigned count(const char *text, const char *what, struct argp_state *state)
{
	double n = positive(text, what, state);

	if (n < 1 || n > 65536)
		argp_error(state, "--%s: expected 1 to 65536, found '%s'", what, text);
	return (unsigned)n;
}

static error_t kind(int key, const char *text, struct argp_state *state)
{
	struct world_spec *w = &((struct settings *)state->input)->world;

	if (key == 'c' && (w->clock = clock_kind_of(text)) == CLOCK_KINDS_COUNT)
		argp_error(state, "--clock: '%s' is no kind of clock", text);
	if (key == 'd' && (w->delay = delay_kind_of(text)) == DELAY_KINDS_COUNT)
		argp_error(state, "--delay: '%s' is no kind of delay", text);
	if (key == 'y' && frz_topology_parse(text, &w->topology))
		argp_error(state, "--topology: expected star, tree:B or mesh, found '%s'", text);
	return 0;
}

static error_t option(int key, char *text, struct argp_state *state)
{
	struct settings *s = state->input;

	switch (key) {
	case 'h': s->world.nhosts = count(text, "hosts", state); return 0;
	case 'r': s->ranks = count(text, "ranks", state); return 0;
	case 't': s->threads = count(text, "threads", state); return 0;
	case 'm': s->messages = (uint64_t)positive(text, "messages", state); return 0;
	case 'b': s->barrier_every = count(text, "barrier", state); return 0;
	case 'w': s->work_us = positive(text, "work", state); return 0;
	case 'p': s->world.ppb = (uint32_t)positive(text, "wander", state); return 0;
	case 'k': s->world.break_ns = 1000 * positive(text, "break", state); return 0;
	case 'f': s->world.floor_ns = 1000 * positive(text, "floor", state); return 0;
	case 'i': s->interval_s = positive(text, "interval", state); return 0;
	case 's': s->seed = strtoull(text, NULL, 10); return 0;
	case 'T': s->true_clock = true; return 0;
	case 'c': case 'd': case 'y': return kind(key, text, state);
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	struct settings s = {
		.world = { .nhosts = 2, .clock = CLOCK_AFFINE, .delay = DELAY_SYMMETRIC,
			   .floor_ns = 5000, .first = 100, .between = 8, .last = 100,
			   .model = WORLD_DRIFT, .ppb = 10000, .break_ns = 1e7, .break_at = 0.5 },
		.threads = 1, .messages = 1000, .seed = 1, .barrier_every = 10, .work_us = 100,
		.interval_s = 0.25,
	};
	static const struct argp argp = {
		options,
		option,
		NULL,
		"Prints a synthetic trace in dprof's text form; dprof-analyze pack - DIR makes it a trace.",
		NULL,
		NULL,
		NULL
	};

	argp_parse(&argp, argc, argv, 0, NULL, &s);
	s.ranks = s.ranks ? s.ranks : s.world.nhosts;
	s.world.broken = s.world.nhosts - 1;
	synthesize(&s);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

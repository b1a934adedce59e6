/* SPDX-License-Identifier: MIT
 *
 * recording.c - see recording.h. */
#include "bench/paper/recording.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEN   INT64_C(1000000) /* a rate is a whole number of these parts */
#define KNOTS 2000             /* of a wandering clock, over the run */
#define TURN  6.283185307179586

static void die(const char *path, size_t line, const char *expected)
{
	fprintf(stderr, "%s: line %zu: expected %s\n", path, line, expected);
	exit(1);
}

/* ---- Reading ----------------------------------------------------------------------------------*/

static void add(struct transfers *t, struct frz_link link)
{
	if ((t->n & (t->n + 1)) == 0) { /* room for 1, 3, 7, ... */
		t->truth = realloc(t->truth, (2 * t->n + 1) * sizeof *t->truth);
		if (!t->truth)
			abort();
	}
	t->truth[t->n++] = link;
}

static void take_transfer(struct recording *r, struct transfers *t, struct frz_link l)
{
	add(t, l);
	if (l.sent < r->first)
		r->first = l.sent;
	if (l.received > r->last)
		r->last = l.received;
}

/* false: not a line of a recording. */
static bool take_line(struct recording *r, const char *line, unsigned *barriers)
{
	struct frz_link l;
	char word[16];

	if (sscanf(line, "%15s", word) != 1)
		return false;
	if (strcmp(word, "ghz") == 0)
		return sscanf(line, "ghz %lf", &r->ghz) == 1 && r->ghz > 0;
	if (strcmp(word, "barrier") == 0) {
		uint64_t *left = r->left[*barriers];

		return ++*barriers <= 2 &&
		       sscanf(line, "barrier %" SCNu64 " %" SCNu64, &left[0], &left[1]) == 2;
	}
	if (sscanf(line, "%*s %" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu64, &l.from, &l.sent, &l.to,
		   &l.received) != 4 || l.from > 1 || l.to != 1 - l.from)
		return false;
	if (strcmp(word, "packet") != 0 && strcmp(word, "message") != 0)
		return false;
	take_transfer(r, *word == 'p' ? &r->packets : &r->messages, l);
	return true;
}

void recording_read(struct recording *r, const char *path)
{
	unsigned barriers = 0;
	char line[256];
	size_t n = 0;

	*r = (struct recording){ .first = UINT64_MAX };
	FILE *file = fopen(path, "r");

	if (!file)
		die(path, 0, "a recording that can be opened");
	while (fgets(line, sizeof line, file)) {
		n++;
		if (!take_line(r, line, &barriers))
			die(path, n, "a line of a recording (bench/paper/recording.h)");
	}
	fclose(file);
	if (barriers != 2 || !r->packets.n || !r->messages.n || !(r->ghz > 0))
		die(path, n, "ghz, two barriers, packets and messages before the end");
}

/* ---- Clocks -----------------------------------------------------------------------------------*/

/* Straight from knot to knot; the knots lie on the wave. */
static struct clockmap wandering(const struct recording *r, struct made_up c, int64_t offset)
{
	struct clockmap m = { malloc(KNOTS * sizeof *m.knots), KNOTS };
	double step = (double)(r->last - r->first) / (KNOTS - 1);
	double period = c.period_s * r->ghz * 1e9;

	if (!m.knots)
		abort();
	for (int i = 0; i < KNOTS; i++) {
		double t = floor(i * step);
		double wave = c.wander_ppm * 1e-6 * period / TURN * sin(TURN * t / period);

		m.knots[i] = (struct clockmap_knot){ (int64_t)r->first + (int64_t)t,
						     offset + (int64_t)(c.rate * (t + wave)) };
	}
	return m;
}

static void see(struct transfers *t, const struct clockmap *m)
{
	t->seen = malloc(t->n * sizeof *t->seen);
	if (!t->seen)
		abort();
	for (size_t i = 0; i < t->n; i++) {
		struct frz_link *l = &t->seen[i];
		uint64_t *stamp = t->truth[i].from == CLOCK ? &l->sent : &l->received;

		*l = t->truth[i];
		*stamp = clockmap_stamp(m, (int64_t)*stamp);
	}
}

static void forget(struct recording *r)
{
	free(r->packets.seen);
	free(r->messages.seen);
	r->packets.seen = r->messages.seen = NULL;
	if (r->map.knots)
		clockmap_free(&r->map);
}

void recording_see(struct recording *r, struct made_up c)
{
	int64_t offset = (int64_t)((double)r->first * c.rate + c.offset_ms * 1e6 * r->ghz);

	forget(r);
	r->map = c.wander_ppm > 0 ? wandering(r, c, offset) :
		 clockmap_affine((int64_t)r->first, offset, llround(c.rate * (double)DEN), DEN);
	see(&r->packets, &r->map);
	see(&r->messages, &r->map);
	for (int i = 0; i < 2; i++)
		r->barriers[i] = (struct baseline_moment){
			clockmap_stamp(&r->map, (int64_t)r->left[i][1]), r->left[i][0] };
}

void recording_free(struct recording *r)
{
	forget(r);
	free(r->packets.truth);
	free(r->messages.truth);
}

double recording_rate(const struct recording *r, uint64_t from, uint64_t until)
{
	if (r->map.count == 2) /* exactly */
		return (double)(r->map.knots[1].truth - r->map.knots[0].truth) /
		       (double)(r->map.knots[1].own - r->map.knots[0].own);
	return (double)(until - from) / (double)(clockmap_stamp(&r->map, (int64_t)until) -
						 clockmap_stamp(&r->map, (int64_t)from));
}

struct made_up made_up_of(const char *text)
{
	struct made_up c = { .rate = 1, .period_s = 1 };
	int n = sscanf(text, "%lf,%lf,%lf,%lf", &c.rate, &c.offset_ms, &c.wander_ppm, &c.period_s);

	if (n < 1 || n == 3 || !(c.rate >= 0.1 && c.rate <= 10) || !(c.period_s > 0) ||
	    !(c.wander_ppm >= 0 && c.wander_ppm < 1e5)) {
		fprintf(stderr, "a clock: expected RATE[,OFFSET_MS[,WANDER_PPM,PERIOD_S]], found %s\n",
			text);
		exit(2);
	}
	return c;
}

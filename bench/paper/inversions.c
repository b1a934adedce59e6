/* SPDX-License-Identifier: MIT
 *
 * inversions RECORDING CLOCK - of two events on different hosts, the second some delay after the first,
 * how often does each method show them the wrong way round?
 *
 * Methods are fitted to the packets of the recording. The events are made: their times are drawn from
 * the run, the first on either host in turn, and the map of the clock gives their stamps. One line for
 * each method and delay, separated by tabs:
 *
 *   METHOD DELAY_US PAIRS INVERTED UNDECIDED PROVED_WRONG
 *
 * INVERTED: pairs in which the estimate of the second is not after that of the first. UNDECIDED: their
 * intervals overlap. PROVED_WRONG: the whole interval of the second lies before that of the first.
 * "-" where there are no intervals. A method that cannot be fitted has no lines; stderr says why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/paper/methods.h"
#include "bench/paper/recording.h"

#define PAIRS       10000
#define LP_PAIRS    500   /* two linear programs a pair */
#define LEAST_US    0.1
#define MOST_US     1000
#define PER_DECADE  5

struct inversion_count { size_t inverted, undecided, proved_wrong; };

static void compare(struct inversion_count *c, struct baseline_time first, struct baseline_time second)
{
	c->inverted += second.estimate <= first.estimate;
	c->undecided += second.lo <= first.hi && first.lo <= second.hi;
	c->proved_wrong += second.hi < first.lo;
}

static struct baseline_time time_on(struct fitted *f, const struct recording *r, int host,
				    uint64_t truth)
{
	double t = (double)(int64_t)(truth - f->origin);

	if (host == CLOCK)
		return method_time(f, clockmap_stamp(&r->map, (int64_t)truth));
	return (struct baseline_time){ t, t, t + 1 };
}

static uint64_t draw_time(const struct recording *r, uint64_t delay)
{
	return r->first + (uint64_t)(drand48() * (double)(r->last - r->first - delay));
}

static void run_delay(struct fitted *f, const struct recording *r, double delay_us)
{
	size_t pairs = f->method->baseline == &baseline_lp ? LP_PAIRS : PAIRS;
	uint64_t delay = (uint64_t)llround(delay_us * 1e3 * r->ghz);
	struct inversion_count c = { 0 };

	srand48(1); /* the same pairs for every method */
	for (size_t i = 0; i < pairs; i++) {
		uint64_t at = draw_time(r, delay);
		int host = (int)(i % 2);

		compare(&c, time_on(f, r, host, at), time_on(f, r, 1 - host, at + delay));
	}
	printf("%s\t%.4g\t%zu\t%zu", f->method->name, delay_us, pairs, c.inverted);
	if (f->method->bounds)
		printf("\t%zu\t%zu\n", c.undecided, c.proved_wrong);
	else
		printf("\t-\t-\n");
}

int main(int argc, char **argv)
{
	struct recording r;

	if (argc != 3) {
		fprintf(stderr, "usage: inversions RECORDING CLOCK\n");
		return 2;
	}
	recording_read(&r, argv[1]);
	recording_see(&r, made_up_of(argv[2]));
	struct baseline_evidence evidence = { CLOCK, 0, r.packets.seen, r.packets.n, r.barriers };

	for (const struct method *m = methods; m->name; m++) {
		struct fitted f;
		int error = method_fit(&f, m, &evidence, r.first);

		if (error) {
			fprintf(stderr, "%s: %s\n", m->name, method_why(error));
			continue;
		}
		for (int i = 0; LEAST_US * pow(10, (double)i / PER_DECADE) <= MOST_US * 1.001; i++)
			run_delay(&f, &r, LEAST_US * pow(10, (double)i / PER_DECADE));
		method_release(&f);
	}
	recording_free(&r);
	return 0;
}

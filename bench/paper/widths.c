/* SPDX-License-Identifier: MIT
 *
 * widths RECORDING CLOCK - how wide are the intervals over the run, and is the truth in them?
 *
 * Methods that claim bounds are fitted to the packets of the recording and asked for stamps spread
 * evenly over it, and as many over as long a time before it, where the clock is known to have gone on
 * alike. One line for each method and stamp, separated by tabs; SECONDS are negative before the run:
 *
 *   METHOD SECONDS WIDTH_US INSIDE         INSIDE: 1 if the true time is in the interval, else 0
 *
 * and a last line: fastest-packets - WIDTH_US -, the fastest there plus the fastest back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/paper/methods.h"
#include "bench/paper/recording.h"

#define STAMPS 101

static double fastest_us(const struct recording *r)
{
	double least[2] = { INFINITY, INFINITY };

	for (const struct frz_link *l = r->packets.truth; l < r->packets.truth + r->packets.n; l++)
		least[l->from] = fmin(least[l->from], (double)(l->received - l->sent));
	return (least[0] + least[1]) / r->ghz / 1e3;
}

static void run(struct fitted *f, const struct recording *r)
{
	double rounding = method_rounding_ticks(f->method);

	for (int i = 1 - STAMPS; i < STAMPS; i++) {
		int64_t step = (int64_t)(r->last - r->first) / (STAMPS - 1);
		uint64_t truth = r->first + (uint64_t)(step * i);
		struct baseline_time t = method_time(f, clockmap_stamp(&r->map, (int64_t)truth));
		double is = (double)(int64_t)(truth - f->origin);

		printf("%s\t%.4f\t%.3f\t%d\n", f->method->name, is / r->ghz / 1e9,
		       (t.hi - t.lo) / r->ghz / 1e3, t.lo - rounding <= is && is <= t.hi + rounding);
	}
}

int main(int argc, char **argv)
{
	struct recording r;

	if (argc != 3) {
		fprintf(stderr, "usage: widths RECORDING CLOCK\n");
		return 2;
	}
	recording_read(&r, argv[1]);
	recording_see(&r, made_up_of(argv[2]));
	struct baseline_evidence evidence = { CLOCK, 0, r.packets.seen, r.packets.n, NULL };

	for (const struct method *m = methods; m->name; m++) {
		struct fitted f;
		int error = m->bounds ? method_fit(&f, m, &evidence, r.first) : 0;

		if (error)
			fprintf(stderr, "%s: %s\n", m->name, method_why(error));
		if (error || !m->bounds)
			continue;
		run(&f, &r);
		method_release(&f);
	}
	printf("fastest-packets\t-\t%.3f\t-\n", fastest_us(&r));
	recording_free(&r);
	return 0;
}

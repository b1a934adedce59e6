/* SPDX-License-Identifier: MIT
 *
 * sends RECORDING CLOCK - which messages does each method show as faster than they can have been?
 *
 * A method is fitted to FreeZer's packets or to the messages of every second round trip, and judged on
 * the messages of the other round trips. One line for each, separated by tabs:
 *
 *   METHOD EVIDENCE MESSAGES BEFORE TOO_FAST IMPOSSIBLE UNDECIDED OUTSIDE STAMPS WIDTH_US ERROR_US
 *
 * BEFORE: messages whose estimated arrival is not after their departure. TOO_FAST: these, and those
 * that seem to travel faster than the fastest packet or message in their direction really did.
 * IMPOSSIBLE: the whole interval of the arrival lies before that of the departure. UNDECIDED: the two
 * overlap. OUTSIDE: stamps (of STAMPS) whose true time is not in their interval. WIDTH_US: median
 * width. ERROR_US: the largest error of an estimate. "-" where a method has no intervals; a method
 * that cannot be fitted has one word in place of all numbers. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/paper/methods.h"
#include "bench/paper/recording.h"

struct sends_verdict {
	size_t messages, before, too_fast, impossible, undecided, outside;
	double *widths, error;
};

struct fastest { double ticks[2]; }; /* by the clock that sent */

static void look_for_fastest(struct fastest *f, const struct transfers *t)
{
	for (const struct frz_link *l = t->truth; l < t->truth + t->n; l++)
		f->ticks[l->from] = fmin(f->ticks[l->from], (double)(l->received - l->sent));
}

static struct baseline_time of_base(uint64_t stamp, uint64_t origin)
{
	double t = (double)(int64_t)(stamp - origin);

	return (struct baseline_time){ t, t, t + 1 };
}

static void judge_message(struct sends_verdict *v, struct fitted *f, const struct frz_link *truth,
			  const struct frz_link *seen, double fastest)
{
	bool comes_back = seen->from == CLOCK;
	uint64_t true_stamp = stamp_of_clock(truth), base = comes_back ? seen->received : seen->sent;
	struct baseline_time there = method_time(f, stamp_of_clock(seen));
	struct baseline_time here = of_base(base, f->origin), sent, received;
	double is = (double)(int64_t)(true_stamp - f->origin);
	double rounding = method_rounding_ticks(f->method);

	sent = comes_back ? there : here;
	received = comes_back ? here : there;
	v->before += received.estimate <= sent.estimate;
	v->too_fast += received.estimate - sent.estimate < fastest;
	v->impossible += received.hi < sent.lo;
	v->undecided += received.lo <= sent.hi && sent.lo <= received.hi;
	v->outside += is < there.lo - rounding || is > there.hi + rounding;
	v->error = fmax(v->error, fabs(there.estimate - is));
	v->widths[v->messages++] = there.hi - there.lo;
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static void print(const struct sends_verdict *v, bool bounds, double ghz)
{
	qsort(v->widths, v->messages, sizeof *v->widths, ascending);
	printf("%zu\t%zu\t%zu\t", v->messages, v->before, v->too_fast);
	if (bounds)
		printf("%zu\t%zu\t%zu\t%zu\t%.3f", v->impossible, v->undecided, v->outside,
		       v->messages, v->widths[v->messages / 2] / ghz / 1e3);
	else
		printf("-\t-\t-\t%zu\t-", v->messages);
	printf("\t%.3f\n", v->error / ghz / 1e3);
}

/* Judged on the messages of rounds 1, 3, 5, ...; two messages a round. */
static void judge(struct fitted *f, const struct recording *r)
{
	struct sends_verdict v = { .widths = malloc(r->messages.n * sizeof *v.widths) };
	struct fastest fastest = { { INFINITY, INFINITY } };

	if (!v.widths)
		abort();
	look_for_fastest(&fastest, &r->packets);
	look_for_fastest(&fastest, &r->messages);
	for (size_t i = 0; i < r->messages.n; i++)
		if (i / 2 % 2 == 1)
			judge_message(&v, f, &r->messages.truth[i], &r->messages.seen[i],
				      fastest.ticks[r->messages.truth[i].from]);
	print(&v, f->method->bounds, r->ghz);
	free(v.widths);
}

static void run(const struct method *method, const char *evidence_name,
		struct baseline_evidence evidence, const struct recording *r)
{
	struct fitted f;
	int error = method_fit(&f, method, &evidence, r->first);

	printf("%s\t%s\t", method->name, evidence_name);
	if (error) {
		printf("%s\n", method_why(error));
		return;
	}
	judge(&f, r);
	method_release(&f);
}

/* The messages of rounds 0, 2, 4, ... */
static struct baseline_evidence half_of_messages(const struct recording *r)
{
	struct frz_link *links = malloc(r->messages.n * sizeof *links);
	size_t n = 0;

	if (!links)
		abort();
	for (size_t i = 0; i < r->messages.n; i++)
		if (i / 2 % 2 == 0)
			links[n++] = r->messages.seen[i];
	return (struct baseline_evidence){ CLOCK, 0, links, n, NULL };
}

int main(int argc, char **argv)
{
	struct recording r;

	if (argc != 3) {
		fprintf(stderr, "usage: sends RECORDING CLOCK\n");
		return 2;
	}
	recording_read(&r, argv[1]);
	recording_see(&r, made_up_of(argv[2]));
	struct baseline_evidence packets = { CLOCK, 0, r.packets.seen, r.packets.n, r.barriers };
	struct baseline_evidence messages = half_of_messages(&r);

	for (const struct method *m = methods; m->name; m++)
		run(m, m->baseline == &baseline_barriers ? "barriers" : "packets", packets, &r);
	for (const struct method *m = methods; m->name; m++)
		if (m->baseline != &baseline_barriers && m->baseline != &baseline_freezer &&
		    m->baseline != &baseline_middles)
			run(m, "messages", messages, &r); /* the three need something else */
	free((void *)messages.links);
	recording_free(&r);
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * barriers.c - two barriers and linear interpolation.
 *
 * The program passes a barrier when it starts and one when it ends. All processes are taken to have
 * left a barrier at one moment; between the two and beyond them, time is interpolated linearly. How
 * far apart the processes really left is unknown.
 *
 * That is the plain way. StarPU has *synchronised* barriers, which all leave at a time that was agreed
 * upon by the middle of the fastest of some exchanges. So where the evidence has no barriers, the
 * middles of the fastest exchanges at both ends stand for them: that is StarPU's way. (A. Denis,
 * E. Jeannot, P. Swartvagher, S. Thibault, "Tracing task-based runtime systems: feedbacks from the
 * StarPU case", 2023, section 5.3.) */
#include <errno.h>

#include "bench/baseline/points.h"

struct place { double x, y; };

static int through(struct baseline_line *line, struct place first, struct place last)
{
	if (!(last.x > first.x))
		return -ENODATA;
	line->slope = (last.y - first.y) / (last.x - first.x);
	line->at = first.y - line->slope * first.x;
	return 0;
}

/* The middle of both ticks. */
static struct place place_of(struct baseline_moment m, struct baseline_moment origin)
{
	return (struct place){ (double)(int64_t)(m.stamp - origin.stamp) + 0.5,
			       (double)(int64_t)(m.time - origin.time) + 0.5 };
}

static struct place middle(const struct baseline_exchange *x)
{
	return (struct place){ (x->under.x + x->over.x) / 2, (x->under.y + x->over.y) / 2 };
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_exchange ends[2];
	int error;

	if (evidence->barriers) {
		b->origin = evidence->barriers[0];
		error = through(&b->line, place_of(evidence->barriers[0], b->origin),
				place_of(evidence->barriers[1], b->origin));
	} else {
		error = baseline_ends(ends, &b->origin, evidence);
		if (!error)
			error = through(&b->line, middle(&ends[0]), middle(&ends[1]));
	}
	b->rate = b->line.slope;
	return error;
}

const struct baseline_method baseline_barriers = {
	.name = "barriers",
	.source = "two barriers",
	.fit = fit,
	.convert = baseline_convert_by_line,
};

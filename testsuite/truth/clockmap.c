/* SPDX-License-Identifier: MIT
 *
 * clockmap.c - see clockmap.h. Products of two 64-bit numbers are taken in 128 bits. */
#include "testsuite/truth/clockmap.h"

#include <assert.h>
#include <stdlib.h>

struct clockmap clockmap_affine(int64_t origin_truth, int64_t origin_own, int64_t num, int64_t den)
{
	assert(num > 0 && den > 0);
	struct clockmap m = { malloc(2 * sizeof *m.knots), 2 };
	if (!m.knots)
		abort();
	m.knots[0] = (struct clockmap_knot){ origin_truth, origin_own };
	m.knots[1] = (struct clockmap_knot){ origin_truth + den, origin_own + num };
	return m;
}

void clockmap_free(struct clockmap *m)
{
	free(m->knots);
	*m = (struct clockmap){ 0 };
}

/* The segment whose line holds at `truth`. */
static const struct clockmap_knot *segment(const struct clockmap *m, int64_t truth)
{
	size_t lo = 0, hi = m->count - 1; /* the answer is in [lo, hi) */
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (m->knots[mid].truth <= truth)
			lo = mid;
		else
			hi = mid;
	}
	return &m->knots[lo];
}

uint64_t clockmap_stamp(const struct clockmap *m, int64_t truth)
{
	const struct clockmap_knot *k = segment(m, truth);
	__int128 run = k[1].truth - k[0].truth, rise = k[1].own - k[0].own;
	__int128 product = rise * (truth - k[0].truth);
	__int128 quotient = product / run - (product % run < 0);
	__int128 own = k[0].own + quotient;
	assert(own >= 0 && own <= INT64_MAX);
	return (uint64_t)own;
}

int clockmap_compare(const struct clockmap *m, int64_t truth, int64_t own)
{
	const struct clockmap_knot *k = segment(m, truth);
	__int128 run = k[1].truth - k[0].truth, rise = k[1].own - k[0].own;
	__int128 left = rise * (truth - k[0].truth), right = run * ((__int128)own - k[0].own);
	return (left > right) - (left < right);
}

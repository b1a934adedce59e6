/* SPDX-License-Identifier: MIT
 *
 * coz_profile.c - the causal profile for the viewer of Coz (Curtsinger and Berger): each reduction of a region is an
 * experiment, whose progress point is the run itself: it is reached once in as long as the run is expected to take. */
#include <inttypes.h>
#include <math.h>

#include "analysis/export/export.h"

/* The format has tabs between fields; names that may be shown have none. */
static void put_selected(FILE *out, const struct trace *t, uint32_t site)
{
	const struct tr_site *s = &t->sites[site];
	if (s->line)
		fprintf(out, "%s:%" PRIu32, s->file, s->line);
	else
		fputs(s->name, out);
}

static void put_row(FILE *out, const struct trace *t, const struct profile *p, const struct profile_row *row)
{
	double run_ns = (isfinite(p->span_s.hi) ? (p->span_s.lo + p->span_s.hi) / 2 : p->span_s.lo) * 1e9;
	for (size_t i = 0; i < p->nreductions; i++) {
		struct interval gain = row->gain[COZ_EXPECTED].percent[i];
		double shorter = (gain.lo + gain.hi) / 200;
		fputs("experiment\tselected=", out);
		put_selected(out, t, row->site);
		fprintf(out, "\tspeedup=%.4f\tduration=%.0f\tselected-samples=1\nthroughput-point\tname=end of the run\tdelta=1\n",
			p->reductions[i] / 1e8, run_ns * (1 - shorter));
	}
}

void export_coz(FILE *out, const struct profile *p, const struct trace *t)
{
	fputs("startup\ttime=0\n", out);
	for (size_t i = 0; i < p->nrows; i++)
		if (p->rows[i].site < t->nsites && !p->rows[i].of_one)
			put_row(out, t, p, &p->rows[i]);
}

/* SPDX-License-Identifier: MIT
 *
 * filter.c - a filter in Score-P's format for the plugin (plugin/filter.cc), which leaves out the functions that are not
 * worth their events: regions that auto=functions made, a visit of which surely takes less than FILTER_US by itself, on
 * average, and which make FILTER_LEAST percent or more of all visits. The most frequent first. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/export/export.h"
#include "analysis/trace/names.h"

#define FILTER_US    1.0
#define FILTER_LEAST 0.1

/* As the shell's patterns and the words of a filter want it. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++) {
		if (isspace((unsigned char)*name) || strchr("*?[]\\#", *name))
			putc('\\', out);
		putc(*name, out);
	}
}

/* Of one visit, at most, in us. */
static double most_us(const struct call_flat *f, double ghz)
{
	return 1e6 * interval_seconds(f->spread.all.exclusive, ghz).hi / (double)f->spread.all.visits;
}

static int by_visits(const void *x, const void *y)
{
	const struct call_flat *const *a = x, *const *b = y;
	uint64_t p = (*a)->spread.all.visits, q = (*b)->spread.all.visits;
	return p != q ? (p < q) - (p > q) : ((*a)->site > (*b)->site) - ((*a)->site < (*b)->site);
}

/* -> to be freed; -> visits of all. */
static const struct call_flat **find_short(const struct call_profile *p, const struct moments *m, size_t *n, uint64_t *visits)
{
	const struct call_flat **list = mem_resize(NULL, p->nflat + 1, sizeof *list);
	*n = *visits = 0;
	for (size_t i = 0; i < p->nflat; i++)
		*visits += p->flat[i].spread.all.visits;
	for (size_t i = 0; i < p->nflat; i++) {
		const struct call_flat *f = &p->flat[i];
		bool often = (double)f->spread.all.visits * 100 >= FILTER_LEAST * (double)*visits && f->spread.all.visits > 0;
		if (often && f->site < m->trace->nsites && site_is_function(&m->trace->sites[f->site]) && most_us(f, m->ghz) < FILTER_US)
			list[(*n)++] = f;
	}
	qsort(list, *n, sizeof *list, by_visits);
	return list;
}

void export_filter(FILE *out, const struct call_profile *p, const struct moments *m)
{
	size_t n;
	uint64_t visits;
	const struct call_flat **list = find_short(p, m, &n, &visits);
	fprintf(out, "# Functions that take less than %g us a visit by themselves, and make %g %% or more of the %" PRIu64 " visits.\n"
		"# For -fplugin-arg-dprof-filter=FILE, beside -fplugin-arg-dprof-auto=functions.\n"
		"SCOREP_REGION_NAMES_BEGIN\n", FILTER_US, FILTER_LEAST, visits);
	for (size_t i = 0; i < n; i++) {
		fputs("  EXCLUDE ", out);
		put_name(out, m->trace->sites[list[i]->site].name);
		fprintf(out, " # %" PRIu64 " visits, of up to %.3f us\n", list[i]->spread.all.visits, most_us(list[i], m->ghz));
	}
	fputs("SCOREP_REGION_NAMES_END\n", out);
	free(list);
}

/* SPDX-License-Identifier: MIT
 *
 * page_timeline.c - what is drawn, as JSON. */
#include <stdlib.h>

#include "analysis/base/json.h"
#include "analysis/base/memory.h"
#include "analysis/html/page.h"
#include "analysis/report/locations.h"
#include "analysis/report/path_tables.h"

#define MOMENTS 200 /* at which clocks' widths are shown */

struct timeline_writer {
	struct json *j;
	const struct drawn *d;
	const struct trace *trace;
	double ghz;              /* of the base */
};

static int64_t ns(const struct timeline_writer *w, int64_t ticks)
{
	return (int64_t)((double)ticks / w->ghz);
}

static void put(const struct timeline_writer *w, int64_t number)
{
	jw_integer(w->j, NULL, number);
}

static int64_t at(const struct timeline_writer *w, uint32_t thread, uint64_t stamp)
{
	return ns(w, drawn_time(w->d, thread, stamp));
}

/* The trace's sites, and behind them what is none. */
static uint32_t number_of(const struct timeline_writer *w, uint32_t site)
{
	return site < w->trace->nsites ? site : (uint32_t)w->trace->nsites + (site != TR_OUTSIDE);
}

static void put_site(const struct timeline_writer *w, const char *name, const struct tr_site *site)
{
	jw_object(w->j, NULL);
	jw_string(w->j, "name", name);
	if (site) {
		jw_string(w->j, "file", site->file);
		jw_integer(w->j, "line", site->line);
		jw_string(w->j, "kind", site->kind == DPROF_KIND_REGION ? "region" : "operation");
	}
	jw_end(w->j);
}

static void put_sites(const struct timeline_writer *w)
{
	jw_array(w->j, "sites");
	for (size_t i = 0; i < w->trace->nsites; i++)
		put_site(w, w->trace->sites[i].name, &w->trace->sites[i]);
	put_site(w, path_site_name(w->trace, TR_OUTSIDE), NULL);
	put_site(w, path_site_name(w->trace, TR_NO_SITE), NULL);
	jw_end(w->j);
}

/* Ends that follow each other may be rounded apart: each begins where the last one ended. */
static void put_bars(const struct timeline_writer *w, uint32_t thread)
{
	const struct drawn_thread *t = &w->d->threads[thread];
	int64_t last = 0;
	jw_array(w->j, "bars");
	for (size_t i = 0; i < t->nbars; i++) {
		const struct drawn_bar *bar = &t->bars[i];
		int64_t from = at(w, thread, bar->from), to = at(w, thread, bar->to);
		from = from > last ? from : last;
		to = to > from ? to : from;
		put(w, from - last);
		put(w, to - from);
		put(w, (int64_t)number_of(w, bar->site) * 4 + bar->did);
		put(w, ns(w, (int64_t)((double)bar->waited * t->rate)));
		put(w, ns(w, (int64_t)((double)bar->most * t->rate)));
		put(w, bar->count);
		last = to;
	}
	jw_end(w->j);
}

static void put_threads(const struct timeline_writer *w)
{
	jw_array(w->j, "threads");
	for (uint32_t t = 0; t < w->trace->nthreads; t++) {
		jw_object(w->j, NULL);
		jw_string(w->j, "name", location_name(w->trace, t).text);
		jw_integer(w->j, "uncertainty", ns(w, w->d->threads[t].uncertainty) + 1);
		put_bars(w, t);
		jw_end(w->j);
	}
	jw_end(w->j);
}

static void put_links(const struct timeline_writer *w)
{
	jw_array(w->j, "links");
	for (size_t i = 0; i < w->d->nlinks; i++) {
		const struct drawn_link *l = &w->d->links[i];
		put(w, l->from);
		put(w, l->to);
		put(w, at(w, l->from, l->sent));
		put(w, at(w, l->to, l->done));
		put(w, ns(w, (int64_t)l->waited));
	}
	jw_end(w->j);
}

static void put_path(const struct timeline_writer *w)
{
	jw_array(w->j, "path");
	for (size_t i = 0; i < w->d->nstays; i++) {
		const struct drawn_stay *s = &w->d->stays[i];
		put(w, s->thread);
		put(w, at(w, s->thread, s->from));
		put(w, at(w, s->thread, s->to));
		put(w, s->sure);
	}
	jw_end(w->j);
}

/* How wide the bounds of a clock are, at moments that lie equally far apart between its threads' first event and their last. */
static void put_widths(const struct timeline_writer *w, uint32_t clock, uint64_t first, uint64_t last)
{
	struct frz_cursor cursor = times_cursor(w->d->path->times, clock);
	jw_object(w->j, NULL);
	jw_string(w->j, "host", w->trace->clocks[clock].host);
	jw_array(w->j, "widths");
	for (int i = 0; i <= MOMENTS; i++) {
		frz_time x = frz_time_of(&cursor, first + (uint64_t)((double)(last - first) * i / MOMENTS));
		put(w, ns(w, ticks_minus(x.hi, x.lo)));
	}
	jw_end(w->j);
	jw_end(w->j);
}

static void put_clocks(const struct timeline_writer *w, int64_t span)
{
	const struct graph *g = &w->d->path->graph;
	jw_array(w->j, "moments");
	for (int i = 0; i <= MOMENTS; i++)
		put(w, (int64_t)((double)span * i / MOMENTS));
	jw_end(w->j);
	jw_array(w->j, "clocks");
	for (uint32_t c = 0; c < w->trace->nclocks; c++) {
		uint64_t first = UINT64_MAX, last = 0;
		for (size_t t = 0; t < w->trace->nthreads; t++) {
			if (w->trace->threads[t].clock != c || g->threads[t].nevents == 0)
				continue;
			first = g->threads[t].first < first ? g->threads[t].first : first;
			last = g->threads[t].last > last ? g->threads[t].last : last;
		}
		if (first <= last)
			put_widths(w, c, first, last);
	}
	jw_end(w->j);
}

void page_timeline(struct json *j, const struct drawn *d)
{
	const struct trace *trace = d->path->graph.trace;
	const struct times *times = d->path->times;
	uint32_t base = times_unit(times, times->time_base[trace->threads[0].clock]);
	struct timeline_writer w = { j, d, trace, trace->clocks[base].ghz };
	frz_time length = d->path->span.length;
	int64_t span = ns(&w, length.hi < INT64_MAX ? length.hi : length.lo); /* all that is drawn, where it has no end */
	jw_object(j, NULL);
	jw_integer(j, "span", span > 0 ? span : 1);
	jw_integer(j, "grain", ns(&w, (int64_t)d->grain));
	jw_integer(j, "all_links", (int64_t)d->all_links);
	put_sites(&w);
	put_threads(&w);
	put_links(&w);
	put_path(&w);
	put_clocks(&w, span);
	jw_end(j);
}

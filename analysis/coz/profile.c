/* SPDX-License-Identifier: MIT
 *
 * profile.c - from savings to percentages and a ranking. */
#include "analysis/coz/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/names.h"
#include "analysis/trace/sched.h"

#define MILLION 1000000

/* ---- Which regions --------------------------------------------------------------------------- */

static bool any_unmarked(const struct trace *trace)
{
	bool any = false;
	for (size_t p = 0; p < trace->nprocesses; p++)
		any |= !trace->processes[p].marked;
	return any;
}

/* By some process. */
static bool left_out_regions(const struct trace *trace)
{
	bool any = false;
	for (size_t p = 0; p < trace->nprocesses; p++)
		any |= trace->processes[p].regions_left_out;
	return any;
}

/* All work, if that is the question; what is outside of regions, if that is work anywhere. */
static void add_without_site(struct profile *p, const struct trace *trace,
			     const struct profile_request *request, uint32_t *row)
{
	bool outside = request->region ? strcmp(request->region, OUTSIDE_REGIONS) == 0
				    : any_unmarked(trace);
	if (!outside && !request->all_work)
		return;
	row[request->all_work ? COZ_ALL_WORK(trace) : COZ_OUTSIDE(trace)] = 0;
	*MEM_GROW(p->rows, p->nrows) =
		(struct profile_row){ .site = request->all_work ? TR_ALL_WORK : TR_OUTSIDE };
}

/* Sites of the same name are one region; gives each site its row. */
static uint32_t *find_rows(struct profile *p, const struct trace *trace,
			   const struct profile_request *request)
{
	uint32_t *row = mem_resize(NULL, COZ_SITES(trace), sizeof *row);
	row[COZ_OUTSIDE(trace)] = row[COZ_ALL_WORK(trace)] = TR_NO_SITE;
	add_without_site(p, trace, request, row);
	for (uint32_t i = 0; i < trace->nsites; i++) {
		const struct tr_site *site = &trace->sites[i];
		row[i] = TR_NO_SITE;
		if (request->all_work || site->kind != DPROF_KIND_REGION ||
		    (request->wanted && !request->wanted[i]) ||
		    (request->region && strcmp(site->name, request->region) != 0))
			continue;
		for (size_t r = 0; r < p->nrows && row[i] == TR_NO_SITE; r++)
			if (p->rows[r].site < trace->nsites &&
			    strcmp(trace->sites[p->rows[r].site].name, site->name) == 0)
				row[i] = (uint32_t)r;
		if (row[i] != TR_NO_SITE)
			continue;
		row[i] = (uint32_t)p->nrows;
		*MEM_GROW(p->rows, p->nrows) = (struct profile_row){ .site = i };
	}
	return row;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static double middle(struct interval x)
{
	return x.lo / 2 + x.hi / 2;
}

/* Below 0: so many percent of the run, which is as short as it may have been, or as long. Roundings are outward. */
static double longer_at_most(double ticks, frz_time span)
{
	return span.lo > 0 ? nextafter(nextafter(100 * ticks, -INFINITY) / (double)span.lo, -INFINITY) * (1 + 0x1p-52) : -INFINITY;
}

static double longer_at_least(double ticks, frz_time span)
{
	return span.hi < INT64_MAX ? nextafter(nextafter(100 * ticks, INFINITY) / (double)span.hi, INFINITY) * (1 - 0x1p-52) : 0;
}

/* Where all that waits would wait for the same again, p percent less buys at most p percent (`rigid`). */
static struct interval speedup(struct savings_bounds saving, frz_time span, uint32_t reduction, bool rigid)
{
	/* Whole ticks, outward; both are below 2^53 unless nothing is known. */
	frz_time ticks = { (int64_t)fmin(fmax(0, floor(saving.lo)), 0x1p62),
			   (int64_t)fmin(fmax(0, ceil(saving.hi)), 0x1p62) };
	struct interval percent = interval_percent(ticks, span);
	double most = rigid ? nextafter((double)reduction / MILLION, INFINITY) : 100;
	percent.hi = fmin(percent.hi, reduction ? most : 0);
	if (saving.hi < 0 && reduction)
		percent.hi = longer_at_least(ceil(saving.hi), span);
	if (saving.lo < 0 && reduction)
		percent.lo = longer_at_most(floor(saving.lo), span);
	percent.lo = fmin(percent.lo, percent.hi);
	percent.lo += 0.0; /* not -0 */
	percent.hi += 0.0;
	return percent;
}

/* Of the run, whose end some thread has lost or not. */
static struct savings_bounds of_the_run(const struct profile *p, struct savings_bounds saving)
{
	return p->end_lost ? (struct savings_bounds){ fmin(0, saving.lo), INFINITY } : saving;
}

static struct interval slope_of(const struct profile *p, const struct profile_gain *gain)
{
	struct interval sum = { 0, 0 };
	double squares = 0;
	for (size_t i = 0; i < p->nreductions; i++) {
		double x = (double)p->reductions[i] / MILLION;
		if (x > 0)
			sum = interval_add(sum, interval_times(gain->percent[i], x));
		squares += x * x;
	}
	if (squares == 0)
		return (struct interval){ 0, 0 };
	/* The few roundings of the squares are well below a part in 10^12. */
	return (struct interval){ sum.lo / squares - fabs(sum.lo / squares) * 1e-12 + 0.0,
				  sum.hi / squares + fabs(sum.hi / squares) * 1e-12 };
}

static int by_slope(const void *x, const void *y)
{
	const struct profile_row *a = x, *b = y;
	double middle_a = middle(a->gain[COZ_EXPECTED].slope), middle_b = middle(b->gain[COZ_EXPECTED].slope);
	if (middle_a < middle_b || middle_a > middle_b)
		return middle_a < middle_b ? 1 : -1;
	return ORDER(a->site, b->site);
}

/* Whether a row's place is certain; one without rivals has none, and is certain to buy something. */
static bool stands_apart(const struct profile *p, size_t i)
{
	struct interval own = p->rows[i].gain[COZ_PROVED].slope;
	bool rivals = false, apart = true;
	for (size_t k = 0; k < p->nrows && !p->rows[i].of_one; k++) {
		if (k == i || p->rows[k].of_one)
			continue;
		rivals = true;
		apart &= interval_apart(own, p->rows[k].gain[COZ_PROVED].slope);
	}
	return rivals ? apart : own.lo > 0;
}

/* Where records are missing, there may have been a region of which none is here. */
static void prove(struct profile *p, const struct trace *trace, bool unsure)
{
	bool all = !trace_lacks(trace) && !unsure;
	for (size_t i = 0; i < p->nrows; i++)
		p->rows[i].proved = all && stands_apart(p, i);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Whether savings are all that matters: no wait was for what is not known, or for work of programs that are not in the trace; and
 * all points were recorded. */
static bool gains_are_known(const struct profile *p)
{
	return p->open[COZ_PROVED] <= 0 && !p->hidden && !p->end_lost;
}

static void forget_gains(const struct profile *p, struct interval *gains, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p->reductions[i % p->nreductions] > 0)
			gains[i] = (struct interval){ -INFINITY, INFINITY };
}

static void take_gains(struct profile *p, struct coz *c, struct profile_row *rows, size_t n, enum points_what what)
{
	for (int answer = 0; answer < COZ_ANSWERS; answer++) {
		struct interval *gains = points_gains(&p->points, c, answer, what);
		if (answer == COZ_PROVED && !gains_are_known(p))
			forget_gains(p, gains, n * p->nreductions);
		for (size_t r = 0; r < n; r++) {
			struct profile_gain *gain = &rows[r].gain[answer];
			memcpy(what == POINTS_LITTLE ? gain->little : gain->percent, gains + r * p->nreductions,
			       p->nreductions * sizeof *gains);
		}
		free(gains);
	}
}

#define NEAR 1 /* percent of the run: what is expected is no proof */

/* What is proved holds some of what is expected: else it is not to be trusted. What is expected may be wide, where nobody knows
 * what ended a wait. */
static void reconcile(struct profile *p, struct interval *expected, struct interval *proved)
{
	if (expected->lo > proved->hi + NEAR || expected->hi < proved->lo - NEAR) {
		*proved = (struct interval){ fmin(proved->lo, expected->lo), fmax(proved->hi, expected->hi) };
		p->narrow++;
	}
	expected->lo = fmin(fmax(expected->lo, proved->lo), proved->hi);
	expected->hi = fmax(fmin(expected->hi, proved->hi), proved->lo);
}

/* A wait that counts as work takes as long whatever comes earlier: what was saved before it may have been of no use, and it may
 * have been shorter by all that it took. */
static struct interval with_open(struct interval x, double open, double most)
{
	if (open <= 0)
		return x;
	return (struct interval){ fmin(x.lo, 0), fmax(x.hi, fmin(most, nextafter(x.hi + open, INFINITY))) };
}

/* Work inside a wait begins with a signal, or with what else nobody knows: it may begin as much earlier as anything, or no earlier
 * at all, and with it all that came of it. So nothing is proved but what is true of any run. */
static struct interval with_hidden(struct interval x, bool hidden)
{
	return hidden ? (struct interval){ fmin(x.lo, 0), 100 } : x;
}

/* Of the run, in both answers: the i-th reduction of a region, by so many millionths. */
static void take_speedup(struct profile *p, const struct coz *c, size_t region, size_t i, uint32_t millionths,
			 struct interval gain[COZ_ANSWERS])
{
	struct interval *expected = &gain[COZ_EXPECTED], *proved = &gain[COZ_PROVED];
	*expected = speedup(of_the_run(p, coz_saving(c, COZ_EXPECTED, region, i)), c->span.length, millionths, true);
	*proved = speedup(of_the_run(p, coz_saving(c, COZ_PROVED, region, i)), c->span.length, millionths, p->rigid);
	double most = (double)millionths / MILLION;
	*expected = with_open(*expected, p->open[COZ_EXPECTED], most);
	if (millionths > 0) { /* else it is this run */
		*proved = with_open(*proved, p->open[COZ_PROVED], p->rigid ? most : 100);
		*proved = with_hidden(*proved, p->hidden);
	}
	reconcile(p, expected, proved);
}

static void take_speedups(struct profile *p, const struct coz *c, size_t region, struct profile_row *row)
{
	for (size_t i = 0; i < p->nreductions; i++) {
		struct interval gain[COZ_ANSWERS];
		take_speedup(p, c, region, i, p->reductions[i], gain);
		row->gain[COZ_EXPECTED].percent[i] = gain[COZ_EXPECTED];
		row->gain[COZ_PROVED].percent[i] = gain[COZ_PROVED];
	}
}

#define SITES_SAID 3

/* "pthread_mutex_lock (pool.c:12), ... and 2 more"; NULL: there are none. */
static char *say_sites(const struct graph *g, const uint32_t *sites, size_t n)
{
	char *text = NULL;
	for (size_t i = 0; i < n && i < SITES_SAID; i++) {
		char *before = text;
		text = mem_format("%s%s%s", before ? before : "", before ? ", " : "", site_name(g->trace, sites[i]).text);
		free(before);
	}
	if (n > SITES_SAID) {
		char *before = text;
		text = mem_format("%s and %zu more", before, n - SITES_SAID);
		free(before);
	}
	return text;
}

static double percent_open(const struct coz *c, double s)
{
	const struct times *times = c->graph->times;
	double run = times_seconds(times, times->time_base[times->trace->threads[0].clock], c->span.length).lo;
	return s <= 0 ? 0 : run <= 0 ? 100 : fmin(100, 100 * s * (1 + SCHED_NOMINAL_ERROR) / run);
}

/* Rows of sleeps that another thread has most likely ended are waits of the graph's. And a region may have been in processes
 * that are not in the trace as well: what waited for them may be shorter by all that it took. */
static double open_seconds(const struct coz *c, const struct profile_request *request, enum coz_answer answer)
{
	double waits = answer == COZ_EXPECTED ? fmin(request->polling_sleeps_s, c->graph->slept_for_others_s) : 0;
	double outside = answer == COZ_PROVED && c->graph->outside ? c->graph->unknown_s : 0;
	return request->open_s[answer] - waits + outside;
}

static char *say_filled(const struct graph *g)
{
	bool told = g->trace->sites[g->filled].op.told || g->trace->sites[g->filled].kind == DPROF_KIND_LOCK;
	return mem_format(told ? "What is done behind %s depends on what another thread or process has written there, so nothing is "
				 "proved. "
			       : "What is done before %s is as much as a clock leaves time for, so nothing is proved. ",
			  site_name(g->trace, g->filled).text);
}

static void take_facts(struct profile *p, const struct coz *c)
{
	const struct times *times = c->graph->times;
	uint32_t time_base = times->time_base[times->trace->threads[0].clock];
	p->span_s = times_seconds(times, time_base, c->span.length);
	for (size_t j = 0; j < c->graph->nnodes; j++, spill_relax(c->graph->spill)) {
		p->transfers |= c->graph->nodes[j].kind == GRAPH_ARRIVAL;
		p->presumed |= graph_is_presumed(&c->graph->nodes[j]);
		p->untold |= graph_lacks_cause(&c->graph->nodes[j]) && !graph_is_presumed(&c->graph->nodes[j]);
	}
	p->pools = say_sites(c->graph, c->graph->pools, c->graph->npools);
	p->unsaid = say_sites(c->graph, c->graph->unsaid, c->graph->nunsaid);
	if (c->graph->unseen != TR_NO_SITE && c->graph->trace->sites[c->graph->unseen].op.stored)
		p->unseen = mem_copy("a place in memory, since it has seen before what is stored there,");
	else if (c->graph->unseen != TR_NO_SITE)
		p->unseen = mem_format("%s", site_name(c->graph->trace, c->graph->unseen).text);
	if (c->graph->filled != TR_NO_SITE)
		p->filled = say_filled(c->graph);
	if (c->graph->nuntied)
		p->untied = mem_format("%s%s", thread_name(c->graph->trace, c->graph->first_untied).text, c->graph->nuntied > 1 ? ", ..." : "");
	p->rigid = !c->graph->dynamic;
	p->apart = c->graph->apart;
	for (size_t j = 0; j < c->graph->nnodes; j++, spill_relax(c->graph->spill))
		p->rigid &= !c->graph->nodes[j].loose;
	points_measure(&p->points, c);
	for (unsigned what = 0; what < POINTS_WHATS; what++)
		p->total_s[what] = times_seconds(times, time_base, p->points.total[what]);
}

static void open_row(const struct profile *p, struct profile_row *row)
{
	for (int answer = 0; answer < COZ_ANSWERS; answer++)
		row->gain[answer] = (struct profile_gain){
			.percent = mem_resize(NULL, p->nreductions, sizeof(struct interval)),
			.little = mem_resize(NULL, p->nreductions, sizeof(struct interval)) };
}

static void free_row(struct profile_row *row)
{
	for (int answer = 0; answer < COZ_ANSWERS; answer++) {
		free(row->gain[answer].percent);
		free(row->gain[answer].little);
	}
}

static void open_one(struct profile *p, struct coz_location who)
{
	struct profile_row *row = MEM_GROW(p->rows, p->nrows);
	*row = (struct profile_row){ .site = TR_ALL_WORK, .of_one = true, .who = who };
	open_row(p, row);
}

/* ---- Questions ------------------------------------------------------------------------------- */

#define QUESTIONS (3 + PROFILE_MORE) /* regions; all work of one rank or thread; what is asked aside; and more */

/* What is asked at once. */
struct asking {
	const struct trace *trace;
	struct coz_question questions[QUESTIONS]; size_t n;
	size_t nregions;             /* rows of all of them */
	uint32_t *row_of_site[QUESTIONS];
	uint32_t reductions[2];      /* aside */
	size_t more;                 /* region of the first; all others are before it */
};

/* One more question, and where its sites are to say in which row they are; its first region. */
static size_t add_question(struct asking *a, struct coz_question question, uint32_t **row_of_site)
{
	size_t nsites = COZ_SITES(a->trace), first = a->nregions;
	uint32_t *rows = mem_resize(NULL, nsites, sizeof *rows);
	for (size_t i = 0; i < nsites; i++)
		rows[i] = TR_NO_SITE;
	a->row_of_site[a->n] = *row_of_site = rows;
	a->questions[a->n] = question;
	a->questions[a->n++].row_of_site = rows;
	a->nregions += question.nrows;
	return first;
}

static void close_asking(struct asking *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->row_of_site[i]);
}

/* `n` rows from `first` on. */
static void add_rows(struct asking *a, const struct profile *p, const struct profile_request *request, const uint32_t *row_of_site,
		     size_t first, size_t n)
{
	uint32_t *row;
	add_question(a, (struct coz_question){ NULL, n, p->reductions, p->nreductions, request->who }, &row);
	for (size_t i = 0; i < COZ_SITES(a->trace); i++)
		if (row_of_site[i] >= first && row_of_site[i] < first + n)
			row[i] = row_of_site[i] - (uint32_t)first;
}

static void take_rows(struct profile *p, struct coz *c, const struct profile_request *request, size_t first, size_t n)
{
	if (!request->from)
		for (size_t r = 0; r < n; r++)
			take_speedups(p, c, r, &p->rows[first + r]);
	else
		take_gains(p, c, &p->rows[first], n, request->to ? POINTS_LATENCY : POINTS_THROUGHPUT);
	if (request->to)
		take_gains(p, c, &p->rows[first], n, POINTS_LITTLE);
}

/* All work of one rank or thread is a row of its own, beside those of regions. */
static size_t add_all_work(struct asking *a, const struct profile *p, struct coz_location who)
{
	uint32_t *row;
	size_t region = add_question(a, (struct coz_question){ NULL, 1, p->reductions, p->nreductions, who }, &row);
	row[COZ_ALL_WORK(a->trace)] = 0;
	return region;
}

/* The sites of a region's name are this row. */
static void mark_alike(const struct trace *trace, uint32_t site, uint32_t *row)
{
	for (size_t i = 0; i < trace->nsites; i++)
		if (trace->sites[i].kind == DPROF_KIND_REGION && strcmp(trace->sites[i].name, trace->sites[site].name) == 0)
			row[i] = 0;
}

/* Of all work, or of sites like this one, and without any of their work. */
static size_t add_aside(struct asking *a, const struct profile_aside *aside)
{
	uint32_t all_work = aside->site == TR_ALL_WORK ? 0 : 1, *row;
	a->reductions[0] = aside->reduction;
	a->reductions[1] = 100 * MILLION;
	size_t region = add_question(a, (struct coz_question){ NULL, all_work + 1, a->reductions, 2, aside->who }, &row);
	row[COZ_ALL_WORK(a->trace)] = all_work;
	if (all_work)
		mark_alike(a->trace, aside->site, row);
	return region;
}

static void add_more(struct asking *a, const struct profile_request *request)
{
	a->more = a->nregions;
	for (size_t i = 0; i < request->nmore; i++) {
		const struct profile_more *m = &request->more[i];
		uint32_t *row;
		add_question(a, (struct coz_question){ NULL, 1, &m->reduction, 1, m->who }, &row);
		if (m->site == TR_ALL_WORK)
			row[COZ_ALL_WORK(a->trace)] = 0;
		else
			mark_alike(a->trace, m->site, row);
	}
}

static void take_more(struct profile *p, const struct coz *c, const struct asking *a, const struct profile_request *request)
{
	for (size_t i = 0; i < request->nmore; i++)
		take_speedup(p, c, a->more + i, 0, request->more[i].reduction, p->more[i]);
}

static void take_all_work(struct profile *p, const struct coz *c, size_t region, struct coz_location who)
{
	open_one(p, who);
	take_speedups(p, c, region, &p->rows[p->nrows - 1]);
}

static void take_aside(struct profile *p, const struct coz *c, size_t region, const struct asking *a)
{
	size_t last = a->more - 1; /* all work */
	p->asked_aside = true;
	take_speedup(p, c, region, 0, a->reductions[0], p->aside);
	take_speedup(p, c, last, 1, a->reductions[1], p->without);
}

/* `n` rows from `first` on, and if they are the first what is to be asked beside them: in one visit. */
static void ask(struct profile *p, struct coz *c, const struct profile_request *request, const uint32_t *row_of_site,
		size_t first, size_t n)
{
	struct asking a = { .trace = c->graph->trace };
	const struct profile_aside *aside = first == 0 ? request->aside : NULL;
	bool all_work = aside && aside->all_work, more = aside && aside->site != TR_NO_SITE;
	add_rows(&a, p, request, row_of_site, first, n);
	size_t of_one = all_work ? add_all_work(&a, p, aside->who) : 0;
	size_t beside = more ? add_aside(&a, aside) : 0;
	if (first == 0)
		add_more(&a, request);
	coz_ask(c, a.questions, a.n);
	take_rows(p, c, request, first, n);
	if (all_work)
		take_all_work(p, c, of_one, aside->who);
	if (more)
		take_aside(p, c, beside, &a);
	if (first == 0)
		take_more(p, c, &a, request);
	close_asking(&a);
}

static void ask_in_turn(struct profile *p, struct coz *c, const struct profile_request *request, const uint32_t *row_of_site)
{
	const struct profile_aside *aside = request->aside;
	size_t nrows = p->nrows, first = 0;
	bool more = request->nmore || (aside && (aside->all_work || aside->site != TR_NO_SITE));
	for (; first < nrows || more; first += PROFILE_ROWS, more = false) {
		size_t left = first < nrows ? nrows - first : 0;
		ask(p, c, request, row_of_site, first, left < PROFILE_ROWS ? left : PROFILE_ROWS);
	}
}

/* Whether a site was entered; or may have been, without a record, as it is one of the program's own. */
static bool may_be_entered(const struct graph *g, size_t site, bool left_out)
{
	return site >= g->trace->nsites || g->entered[site] || (left_out && *g->trace->sites[site].file);
}

/* The rows of regions that were entered come first; how many there are. */
static size_t put_entered_first(struct profile *p, const struct graph *g, uint32_t *row_of_site)
{
	size_t nsites = COZ_SITES(g->trace), kept = 0;
	bool left_out = left_out_regions(g->trace);
	uint32_t *now = mem_resize(NULL, p->nrows + 1, sizeof *now);
	for (size_t r = 0; r < p->nrows; r++)
		now[r] = TR_NO_SITE;
	for (size_t i = 0; i < nsites; i++)
		if (row_of_site[i] != TR_NO_SITE && may_be_entered(g, i, left_out) && now[row_of_site[i]] == TR_NO_SITE)
			now[row_of_site[i]] = (uint32_t)kept++;
	size_t others = kept;
	for (size_t r = 0; r < p->nrows; r++)
		now[r] = now[r] == TR_NO_SITE ? (uint32_t)others++ : now[r];
	struct profile_row *rows = mem_resize(NULL, p->nrows + 1, sizeof *rows);
	for (size_t r = 0; r < p->nrows; r++)
		rows[now[r]] = p->rows[r];
	for (size_t i = 0; i < nsites; i++)
		if (row_of_site[i] != TR_NO_SITE)
			row_of_site[i] = now[row_of_site[i]];
	free(p->rows);
	free(now);
	p->rows = rows;
	return kept;
}

/* Of a region that was never entered there is nothing to say, unless it was asked for, or is all there
 * is. */
static void drop_unentered(struct profile *p, const struct graph *g,
			   const struct profile_request *request, uint32_t *row_of_site)
{
	size_t kept = put_entered_first(p, g, row_of_site);
	if (request->region || kept == 0)
		return;
	for (size_t r = kept; r < p->nrows; r++)
		free_row(&p->rows[r]);
	p->nrows = kept;
}

static void say_left_out(struct profile *p, const struct trace *trace)
{
	size_t n = 0;
	for (size_t i = 0; i < trace->nprocesses; i++)
		n += trace->processes[i].regions_left_out;
	if (n > 0)
		*MEM_GROW(p->said.notes, p->said.nnotes) =
			mem_format("regions were left out by DPROF_EVENTS in %zu of %zu processes: what these did outside of operations may "
				   "have been in any region, or in none", n, trace->nprocesses);
}

static void ask_all(struct profile *p, const struct trace *trace, const struct times *times,
		    const struct profile_request *request, uint32_t *row_of_site)
{
	struct coz c;
	points_open(&p->points, trace, times, request->from, request->to);
	if (request->graph)
		coz_on_graph(&c, request->graph, request->worst);
	else
		coz_open(&c, trace, times, request->worst, p->points.probes, p->points.nprobes);
	take_facts(p, &c);
	p->hidden = request->hidden || c.graph->interrupted || c.graph->nlosses; /* so may work that began or ended where that is lost */
	p->rigid &= !p->hidden; /* in another run the signal may not come, or come too late */
	for (int k = 0; k < COZ_ANSWERS; k++)
		p->open[k] = percent_open(&c, open_seconds(&c, request, (enum coz_answer)k));
	drop_unentered(p, c.graph, request, row_of_site);
	ask_in_turn(p, &c, request, row_of_site);
	p->said = graph_take_said(c.graph);
	if (p->narrow)
		*MEM_GROW(p->said.diagnostics, p->said.ndiagnostics) =
			mem_format("%" PRIu64 " proved bounds did not hold what is expected, so they are false, and were "
				   "widened by it: please report this", p->narrow);
	say_left_out(p, trace);
	if (c.graph->other_jobs)
		*MEM_GROW(p->said.notes, p->said.nnotes) = mem_copy(
			"processes of another job may take part (MPI_Comm_spawn, MPI_Comm_connect, ..., or a communicator of which nobody "
			"knows the members): what they do is not in this trace, and who waits for them may wait less");
	p->orders_kept = c.orders_kept;
	coz_close(&c);
}

/* Nothing is known but that p percent less of anything buys at most p percent of the run. */
static void give_up(struct profile *p, const struct profile_request *request)
{
	const struct interval nothing = { -INFINITY, INFINITY };
	p->span_s = (struct interval){ 0, INFINITY };
	for (size_t k = 0; k < p->nrows * p->nreductions * COZ_ANSWERS; k++) {
		struct profile_gain *gain = &p->rows[k / COZ_ANSWERS / p->nreductions].gain[k % COZ_ANSWERS];
		size_t i = k / COZ_ANSWERS % p->nreductions;
		struct savings_bounds any = { 0, p->reductions[i] };
		gain->percent[i] = request->from ? nothing : speedup(any, (frz_time){ 0, 0 }, p->reductions[i],
							k % COZ_ANSWERS == COZ_EXPECTED);
		gain->little[i] = nothing;
	}
}

static void choose_reductions(struct profile *p, const struct profile_request *request)
{
	p->nreductions = request->reductions ? request->nreductions : PROFILE_STEPS;
	p->reductions = mem_resize(NULL, p->nreductions, sizeof *p->reductions);
	for (size_t i = 0; i < p->nreductions; i++)
		p->reductions[i] = request->reductions
					   ? request->reductions[i]
					   : (uint32_t)i * (100 * MILLION / (PROFILE_STEPS - 1));
}

void profile_open(struct profile *p, const struct trace *trace, const struct times *times,
		  const struct profile_request *request)
{
	*p = (struct profile){ .who = request->who, .possible = coz_possible(times), .if_work = request->if_work };
	choose_reductions(p, request);
	for (size_t i = 0; i < trace->nprocesses; i++)
		p->marked |= trace->processes[i].marked;
	p->end_lost = trace_end_open(trace);
	for (size_t i = 0; i < trace->nthreads; i++) {
		p->end_lost |= trace_lost_behind(&trace->threads[i]);
		p->ranks |= trace->threads[i].rank >= 0;
	}
	uint32_t *row_of_site = find_rows(p, trace, request);
	for (size_t r = 0; r < p->nrows; r++)
		open_row(p, &p->rows[r]);
	if (p->possible)
		ask_all(p, trace, times, request, row_of_site);
	else
		give_up(p, request);
	for (size_t k = 0; k < p->nrows * COZ_ANSWERS; k++) {
		struct profile_gain *gain = &p->rows[k / COZ_ANSWERS].gain[k % COZ_ANSWERS];
		gain->slope = slope_of(p, gain);
	}
	if (p->nrows)
		qsort(p->rows, p->nrows, sizeof *p->rows, by_slope);
	prove(p, trace, request->unsure || request->if_work || left_out_regions(trace));
	free(row_of_site);
}

void profile_close(struct profile *p)
{
	for (size_t r = 0; r < p->nrows; r++)
		free_row(&p->rows[r]);
	graph_said_close(&p->said);
	free(p->pools);
	free(p->filled);
	free(p->untied);
	free(p->unseen);
	free(p->unsaid);
	points_close(&p->points);
	free(p->rows);
	free(p->reductions);
}

/* What each of the two answers is. */
static char *meaning(const struct profile *p)
{
	return mem_format(
		"Proved: whatever MPI, locks and schedulers do that keep to their standards, and in whatever order locks are "
		"taken, if only the region changes: below 0 such an order may make the run longer. Expected: what was waited for in this "
		"run is waited for again. %s%s%s",
		p->presumed ? "Where no record tells what that was, it was what another thread did just before the wait was over, if "
			      "hardly any other ends its work as near to that by chance. " : "",
		p->untold ? "Where nothing tells, it comes earlier by no more than is cut in all threads together. " : "",
		p->orders_kept ? "All orders stay as they were: there is too much to be decided again."
			       : "Who comes first to a lock, a semaphore, a message, bytes or the next piece of work is "
				 "decided again, by when everybody would have come.");
}

/* What was seen in this run that leaves answers open, or NULL. */
static char *of_this_run(const struct profile *p)
{
	if (!p->pools && !p->unsaid && !p->unseen && !p->filled && !p->untied)
		return NULL;
	return mem_format("%s%s%s%s%s%s%s%s%s%s%s%s%s",
		p->pools ? "Who did which work, and in which pieces, may be decided by the order of " : "", p->pools ? p->pools : "",
		p->pools ? ", which another run need not keep. " : "",
		p->unsaid ? "For whom one waits at " : "", p->unsaid ? p->unsaid : "",
		p->unsaid ? " is not known: perhaps for nobody. " : "",
		p->unseen ? "Who does not block at " : "", p->unseen ? p->unseen : "",
		p->unseen ? " leaves no record, so nothing is proved of what threads of such a process save. " : "",
		p->filled ? p->filled : "",
		p->untied ? "Of " : "", p->untied ? p->untied : "",
		p->untied ? " no record says who created it, nor who waits for its end: any other thread of its process may, so nothing is "
			    "proved of what these save. " : "");
}

/* Of any program, in the order in which they matter to most. */
static const char *const of_any_program[] = {
	"A shorter region makes nothing later but by such orders, and then some thread does at any time what it did here.",
	"Each thread has a core for as much of its time as here, also where others that it shares one with work less, and is not stopped "
	"(SIGSTOP, a debugger) while it sleeps.",
	"Work goes to the same threads, in the same pieces, unless it is seen to be given out: by OpenMP's loops, sections and single; by "
	"locks, semaphores and pipes; by whoever listens to several and answers, takes what there is, or asks for a barrier's serial "
	"thread; by an atomic number that threads of one host count (or compare and exchange) and, in one function, or in one of the "
	"same file to which it is returned, compare for order, or read something by, compiled with the plugin; by flags or bits which "
	"they set or exchange there, but in loops that do nothing else. "
	"Lines of a file or stream that threads share are not seen, nor are other counters; but these are taken to give out work where "
	"threads that were created in one place, or processes that one forked there, are not all as often in a region, or those of an "
	"OpenMP team differ by two visits, and through with it at about the same time.",
	"Whoever would wait does so in a recorded call: not for a flag in memory that the plugin does not see, what a file holds, or its "
	"lock, nor, in code compiled without the plugin, for what "
	"everybody found done here (a C++ future or semaphore, std::this_thread::sleep_until).",
	"What is done, by whomever, depends neither on such an order, nor on who is the last, or the first, by an atomic number that "
	"all count and that is only compared with one value, which leaves no record, nor on a clock, but where the plugin sees in one "
	"function that it decides how long a sleep lasts or a loop goes on, nor on what others have written in memory, but where the "
	"plugin sees that it is looked at (an atomic or volatile variable, asm that locks memory) and changes, nor on an attempt in "
	"vain, nor on how much there is to take (sem_getvalue, FIONREAD), what a file holds, or whether it is there, or what else the "
	"kernel says of others (getppid, kill without a signal, sigpending). Nobody is told in a broadcast who was first, and does other "
	"things then, nor takes a lock that one thread alone took at that place here.",
	"Who has waited with a time limit, and had what it waited for, has that within the limit in any run.",
	"Nobody waits for a condition for which here nobody waited or signalled.",
};

static void add(struct profile_assumptions *a, const char *sentences)
{
	assert(a->nalways < PROFILE_ASSUMPTIONS);
	a->always[a->nalways++] = sentences;
}

struct profile_assumptions profile_assumptions(const struct profile *p, bool worst)
{
	struct profile_assumptions a = { meaning(p), of_this_run(p), .nalways = 0 };
	for (size_t i = 0; i < sizeof of_any_program / sizeof *of_any_program; i++)
		add(&a, of_any_program[i]);
	if (p->marked)
		add(&a, "Unclassified time, outside of regions and operations, is work of no region and as long as it was.");
	if (p->transfers && worst)
		add(&a, "Nothing is assumed of how long messages and locks take.");
	if (p->transfers && !worst)
		add(&a, "Messages and locks take as long as others of their kind and size were seen to take, and to wait for whoever "
			"came later here takes no longer than all did here (--transfer worst assumes neither).");
	if (p->who.thread != COZ_ANY)
		add(&a, "The function of a std::barrier, which whoever comes last runs, is run by the same thread in every run.");
	if (p->apart)
		add(&a, "Who waits at a std::barrier to which it came before waits for the round to which it came last: for no other thread's.");
	if (p->ranks)
		add(&a, "What came before whoever gave it called MPI again needs no such call in any run.");
	return a;
}

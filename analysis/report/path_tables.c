/* SPDX-License-Identifier: MIT
 *
 * path_tables.c - see path_tables.h. */
#include "analysis/report/path_tables.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/graph/graph_losses.h"
#include "analysis/report/locations.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"

#define MOST_ROWS        5
#define SHARE_OF_NOTHING 0.01 /* percent of the path; less is shown with -v */

/* ---- Over all threads ------------------------------------------------------------------------ */

static int by_site(const void *x, const void *y)
{
	const struct path_region *a = x, *b = y;
	return ORDER(a->site, b->site);
}

static int by_length(const void *x, const void *y)
{
	const struct path_region *a = x, *b = y;
	int64_t p = a->on_path.lo / 2 + a->on_path.hi / 2, q = b->on_path.lo / 2 + b->on_path.hi / 2;
	return p != q ? ORDER(q, p) : by_site(x, y);
}

static size_t count_threads(const struct graph *g)
{
	size_t n = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		n += g->threads[t].nevents > 0;
	return n;
}

static frz_time mean_of(frz_time sum, size_t n)
{
	return (frz_time){ sum.lo / (int64_t)n, sum.hi / (int64_t)n + (sum.hi % (int64_t)n != 0) };
}

static void sum_up(struct path_regions *r)
{
	size_t kept = 0;
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, by_site);
	for (size_t i = 0; i < r->n; i++) {
		if (kept == 0 || r->v[kept - 1].site != r->v[i].site) {
			r->v[kept++] = r->v[i];
			continue;
		}
		struct path_region *sum = &r->v[kept - 1];
		sum->on_path = time_add(sum->on_path, r->v[i].on_path);
		sum->mean = time_add(sum->mean, r->v[i].mean);
		sum->everywhere |= r->v[i].everywhere;
		sum->slack.lo = r->v[i].slack.lo < sum->slack.lo ? r->v[i].slack.lo : sum->slack.lo;
		sum->slack.hi = r->v[i].slack.hi < sum->slack.hi ? r->v[i].slack.hi : sum->slack.hi;
	}
	r->n = kept;
}

/* Of threads of which all is lost, it is not known how many there were. */
static void add_lost(struct path_region *x, const struct graph *g, size_t nthreads, frz_time span)
{
	int64_t lost = graph_sum_of(g, g->around), mean = ticks_plus(x->mean.hi, lost / (int64_t)nthreads + 1);
	x->on_path.hi = ticks_plus(x->on_path.hi, lost);
	x->mean.hi = mean < span.hi ? mean : span.hi;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		if (graph_lost_all_of(g, (uint32_t)t))
			x->mean = (frz_time){ 0, span.hi };
}

static int by_place(const void *x, const void *y)
{
	const struct path_share *a = x, *b = y;
	return ORDER_2(a, b, thread, site);
}

/* To be freed. */
static struct path_share *shares_by_place(const struct path_profile *p)
{
	struct path_share *shares = mem_resize(NULL, p->nshares + 1, sizeof *shares);
	for (size_t i = 0; i < p->nshares; i++)
		shares[i] = p->shares[i];
	qsort(shares, p->nshares, sizeof *shares, by_place);
	return shares;
}

/* Of a place that is not on the path; of one that is perhaps on it, from 0 on. */
static frz_time slack_off_path(const struct path_share *shares, size_t n, const struct path_place *place)
{
	const struct path_share like = { .thread = place->thread, .site = place->site };
	const struct path_share *share = bsearch(&like, shares, n, sizeof *shares, by_place);
	if (place->slack.lo > 0)
		return place->slack;
	return (frz_time){ share && share->ticks.lo > 0 ? INT64_MAX : 0, INT64_MAX };
}

void path_regions_open(struct path_regions *r, const struct path *p, const struct path_profile *profile,
		       const struct path_slack *slack)
{
	static const frz_time no_limit = { INT64_MAX, INT64_MAX };
	const struct trace *trace = p->graph.trace;
	size_t nthreads = count_threads(&p->graph);
	struct path_share *shares = shares_by_place(profile);
	*r = (struct path_regions){ NULL, 0 };
	for (size_t i = 0; i < profile->nshares; i++)
		*MEM_GROW(r->v, r->n) = (struct path_region){ .site = profile->shares[i].site, .on_path = profile->shares[i].ticks,
							      .slack = no_limit };
	for (size_t i = 0; i < slack->n; i++) {
		const struct path_place *place = &slack->places[i];
		bool region = place->site >= trace->nsites || tr_is(trace, place->site, OP_REGION);
		*MEM_GROW(r->v, r->n) = (struct path_region){ .site = place->site, .everywhere = region,
							      .mean = region ? place->ticks : (frz_time){ 0, 0 },
							      .slack = slack_off_path(shares, profile->nshares, place) };
	}
	free(shares);
	sum_up(r);
	for (size_t i = 0; i < r->n; i++) {
		struct path_region *x = &r->v[i];
		x->mean = mean_of(x->mean, nthreads ? nthreads : 1);
		if (p->graph.nlosses)
			add_lost(x, &p->graph, nthreads ? nthreads : 1, p->span.length);
		x->on_path.hi = x->on_path.hi < profile->length.hi ? x->on_path.hi : profile->length.hi; /* where several threads may be on it */
		x->imbalance = time_minus(x->on_path, x->mean);
	}
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, by_length);
}

void path_regions_close(struct path_regions *r)
{
	free(r->v);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

struct path_table_writer {
	struct reply *r;
	const struct path *p;
	const struct path_profile *profile;
	uint32_t time_base;
	bool every;
};

static struct interval seconds(const struct path_table_writer *w, frz_time ticks)
{
	return times_seconds(w->p->times, w->time_base, ticks);
}

/* Which may be below zero. */
static struct interval difference(const struct path_table_writer *w, frz_time ticks)
{
	struct interval lo = ticks.lo < 0 ? seconds(w, (frz_time){ -ticks.lo, -ticks.lo }) : seconds(w, (frz_time){ ticks.lo, ticks.lo });
	struct interval hi = ticks.hi < 0 ? seconds(w, (frz_time){ -ticks.hi, -ticks.hi }) : seconds(w, (frz_time){ ticks.hi, ticks.hi });
	return (struct interval){ ticks.lo < 0 ? -lo.hi : lo.lo, ticks.hi < 0 ? -hi.lo : hi.hi };
}

const char *path_site_name(const struct trace *trace, uint32_t site)
{
	if (site < trace->nsites)
		return trace->sites[site].name;
	if (site == PATH_ELSEWHERE)
		return WAITS_UNRECORDED;
	return site == TR_OUTSIDE ? OUTSIDE_REGIONS : site == TR_BEFORE ? "before its first event" : PLACE_NOT_KNOWN;
}

struct site_name path_site_shown(const struct trace *trace, uint32_t site, size_t room)
{
	if (site == TR_NO_SITE)
		return (struct site_name){ "what is not known" };
	if (site == PATH_ELSEWHERE && room < sizeof WAITS_UNRECORDED - 1)
		return (struct site_name){ "an unrecorded wait" };
	return site == PATH_ELSEWHERE ? (struct site_name){ WAITS_UNRECORDED } : site_name_within(trace, site, room);
}

struct location_name path_location(const struct trace *trace, uint32_t thread)
{
	return thread == PATH_ELSEWHERE ? (struct location_name){ "-" } : location_name(trace, thread);
}

struct tab_cell path_site_cell(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites ? tab_site(trace, site) : tab_text(path_site_name(trace, site));
}

static void fill_regions(const struct path_table_writer *w, const struct path_regions *regions)
{
	static const struct tab_column columns[] = { TAB_KEY("name"), TAB_KEY("share_percent"), TAB_KEY("seconds"),
						     TAB_KEY("mean_s"), TAB_KEY("imbalance_s"), TAB_KEY("slack_s"), { 0 } };
	reply_table(w->r, "regions", columns, 0);
	for (size_t i = 0; i < regions->n; i++) {
		const struct path_region *x = &regions->v[i];
		bool limited = x->slack.hi < INT64_MAX; /* of a thread that is surely not on it */
		reply_row(w->r, path_site_cell(w->p->graph.trace, x->site),
			  tab_interval(interval_percent(x->on_path, w->profile->length)),
			  tab_interval(seconds(w, x->on_path)),
			  x->everywhere ? tab_interval(seconds(w, x->mean)) : TAB_NONE,
			  x->everywhere ? tab_interval(difference(w, x->imbalance)) : TAB_NONE,
			  limited ? tab_interval(seconds(w, x->slack)) : TAB_NONE);
	}
	reply_end(w->r);
}

static void say_regions(const struct path_table_writer *w, const struct path_regions *regions)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "% of it", 17, 3, .bar = true), TAB_SHOWN(NULL, "more than the mean, s", 24, 6),
		TAB_SHOWN(NULL, "in", 0), { 0 } };
	size_t shown = 0;
	reply_gap(w->r);
	reply_say(w->r, SAY_TEXT, "By region, all threads together, and how much longer it was on the path than a "
		  "thread was in it on average (what there is to gain by balance):");
	reply_table(w->r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < regions->n && (w->every || shown < MOST_ROWS); i++) {
		const struct path_region *x = &regions->v[i];
		if (!x->everywhere || (!w->every && interval_percent(x->on_path, w->profile->length).hi <= SHARE_OF_NOTHING))
			continue;
		shown++;
		reply_row(w->r, tab_range(interval_percent(x->on_path, w->profile->length)), tab_range(difference(w, x->imbalance)),
			  tab_text(site_name_within(w->p->graph.trace, x->site, 34).text));
	}
	reply_end(w->r);
}

/* ---- What is nearly on the path -------------------------------------------------------------- */

static void fill_slack(const struct path_table_writer *w, const struct path_slack *slack)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("name"),
						     TAB_KEY("seconds"), TAB_KEY("slack_s"), { 0 } };
	const struct trace *trace = w->p->graph.trace;
	reply_table(w->r, "slack", columns, 0);
	for (size_t i = 0; i < slack->n; i++) {
		const struct path_place *x = &slack->places[i];
		const struct tr_thread *t = &trace->threads[x->thread];
		reply_row(w->r, tab_count(t->rank), tab_number(trace->processes[t->process].pid), tab_count(t->number),
			  path_site_cell(trace, x->site), tab_interval(seconds(w, x->ticks)),
			  x->slack.lo < INT64_MAX ? tab_interval(seconds(w, x->slack)) : TAB_NONE);
	}
	reply_end(w->r);
}

static void say_slack(const struct path_table_writer *w, const struct path_slack *slack)
{
	const struct trace *trace = w->p->graph.trace;
	int width = locations_width(trace), rest = 48 - width;
	const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "slack, s", 24, 6), TAB_SHOWN(NULL, "on", width), TAB_SHOWN(NULL, "in", rest), { 0 } };
	size_t shown = 0;
	for (size_t i = 0; i < slack->n && (w->every || shown < MOST_ROWS); i++) {
		const struct path_place *x = &slack->places[i];
		if (x->slack.lo == 0 || x->slack.hi == INT64_MAX)
			continue;
		if (shown++ == 0) {
			reply_gap(w->r);
			reply_say(w->r, SAY_TEXT, "Nearly critical: so much longer a thread could take there, at the "
				  "least place, before the run does; or becomes critical when the path gives as much "
				  "elsewhere:");
			reply_table(w->r, NULL, columns, SIZE_MAX);
		}
		reply_row(w->r, tab_range(seconds(w, x->slack)), tab_text(location_name(trace, x->thread).text),
			  tab_text(site_name_within(trace, x->site, (size_t)rest).text));
	}
	if (shown)
		reply_end(w->r);
	if (!slack->withheld)
		return;
	reply_gap(w->r);
	reply_say(w->r, SAY_TEXT, "Left out is what a thread did before another one of its process posted, woke others "
		  "or gave bytes: that may have been done by whoever came last, so it is not known whether there was "
		  "any slack (-j: from 0 on).");
}

/* ---- Paths that are nearly critical ----------------------------------------------------------- */

struct near_profiles { struct path_profile v[PATH_NEAR]; size_t n; };

static void fill_near(const struct path_table_writer *w, const struct path_slack *slack, const struct near_profiles *near)
{
	static const struct tab_column columns[] = { TAB_KEY("shorter_s"), TAB_KEY("length_s"), { 0 } };
	static const struct tab_column parts[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("name"),
						   TAB_KEY("seconds"), { 0 } };
	const struct trace *trace = w->p->graph.trace;
	reply_table(w->r, "near_paths", columns, 0);
	for (size_t i = 0; i < near->n; i++) {
		const struct path_profile *p = &near->v[i];
		reply_row(w->r, tab_interval(seconds(w, slack->near[i].shorter)), tab_interval(seconds(w, p->length)));
		reply_table(w->r, "segments", parts, 0);
		for (size_t k = 0; k < p->nshares; k++) {
			const struct tr_thread *t = &trace->threads[p->shares[k].thread];
			reply_row(w->r, tab_count(t->rank), tab_number(trace->processes[t->process].pid), tab_count(t->number),
				  path_site_cell(trace, p->shares[k].site), tab_interval(seconds(w, p->shares[k].ticks)));
		}
		reply_end(w->r);
	}
	reply_end(w->r);
}

static frz_time ticks_in(const struct path_profile *p, const struct path_share *where)
{
	for (size_t i = 0; i < p->nshares; i++)
		if (p->shares[i].thread == where->thread && p->shares[i].site == where->site)
			return p->shares[i].ticks;
	return (frz_time){ 0, 0 };
}

/* Where one path is surely longer than the other, and by most; NULL: nowhere. */
static const struct path_share *longer_in(const struct path_profile *one, const struct path_profile *other)
{
	const struct path_share *longest = NULL;
	int64_t most = 0;
	for (size_t i = 0; i < one->nshares; i++) {
		int64_t more = ticks_minus(one->shares[i].ticks.lo, ticks_in(other, &one->shares[i]).hi);
		longest = more > most ? &one->shares[i] : longest;
		most = more > most ? more : most;
	}
	return longest;
}

static void say_near_row(const struct path_table_writer *w, struct tab_cell first, const struct path_share *s, size_t width)
{
	const struct trace *trace = w->p->graph.trace;
	struct location_name on = s ? location_name(trace, s->thread) : (struct location_name){ "-" };
	struct site_name in = s ? site_name_within(trace, s->site, width) : (struct site_name){ "-" };
	reply_row(w->r, first, tab_text(on.text), tab_text(in.text));
}

static void say_near(const struct path_table_writer *w, const struct path_slack *slack, const struct near_profiles *near)
{
	int width = locations_width(w->p->graph.trace), rest = 48 - width;
	const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "shorter, s", 24, 6), TAB_SHOWN(NULL, "on", width), TAB_SHOWN(NULL, "in", rest), { 0 } };
	if (!near->n)
		return;
	reply_gap(w->r);
	reply_say(w->r, SAY_TEXT, "Other paths through the run: so much the critical one must give where it is apart "
		  "from such a path, before that is the longest; and where they are apart by most:");
	reply_table(w->r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < near->n; i++) {
		say_near_row(w, tab_range(seconds(w, slack->near[i].shorter)), longer_in(&near->v[i], w->profile), (size_t)rest);
		say_near_row(w, tab_text("instead of"), longer_in(w->profile, &near->v[i]), (size_t)rest);
	}
	reply_end(w->r);
}

/* ---- From rank to rank ----------------------------------------------------------------------- */

static void fill_hops(const struct path_table_writer *w)
{
	const struct path_profile *p = w->profile;
	static const struct tab_column columns[] = { TAB_KEY("from"), TAB_KEY("to"), TAB_KEY("seconds"), TAB_KEY("share_percent"),
						     TAB_KEY("count"), TAB_KEY("verdict"), { 0 } };
	reply_table(w->r, "messages", columns, 0);
	for (size_t i = 0; i < p->nhops; i++) {
		const struct path_hop *h = &p->hops[i];
		reply_row(w->r, tab_count(h->from), tab_count(h->to), tab_interval(seconds(w, h->ticks)),
			  tab_interval(interval_percent(h->ticks, w->profile->length)), tab_number(h->count), tab_verdict(h->sure));
	}
	reply_end(w->r);
}

static void say_hops(const struct path_table_writer *w)
{
	const struct path_profile *p = w->profile;
	static const struct tab_column columns[] = { TAB_SHOWN(NULL, "% of it", 17, 3), TAB_SHOWN(NULL, "times", -8),
						     TAB_SHOWN(NULL, "from rank to rank", 0, .gap = 1), { 0 } };
	size_t shown = 0;
	for (size_t i = 0; i < p->nhops && (w->every || shown < MOST_ROWS); i++) {
		const struct path_hop *h = &p->hops[i];
		if (h->from == h->to)
			continue;
		if (shown++ == 0) {
			reply_gap(w->r);
			reply_say(w->r, SAY_TEXT, "Between ranks, on its way in messages and collective operations:");
			reply_table(w->r, NULL, columns, SIZE_MAX);
		}
		char *ranks = mem_format("%lld -> %lld", (long long)h->from, (long long)h->to);
		reply_row(w->r, tab_range(interval_percent(h->ticks, w->profile->length)), tab_number(h->count), tab_text(ranks));
		free(ranks);
	}
	if (shown)
		reply_end(w->r);
}

void path_tables_messages(struct reply *r, const struct path *p, const struct path_profile *profile, bool every)
{
	struct path_table_writer w = { .r = r, .p = p, .profile = profile, .every = every,
			    .time_base = p->times->time_base[p->graph.trace->threads[0].clock] };
	fill_hops(&w);
	say_hops(&w);
}

/* ---- All of them ----------------------------------------------------------------------------- */

void path_tables_fill(struct reply *r, struct path *p, const struct path_profile *profile, const struct path_slack *slack,
		      bool every)
{
	uint32_t clock = p->graph.trace->threads[0].clock;
	struct path_table_writer w = { .r = r, .p = p, .profile = profile, .time_base = p->times->time_base[clock],
				       .every = every };
	struct path_regions regions;
	path_regions_open(&regions, p, profile, slack);
	fill_regions(&w, &regions);
	fill_slack(&w, slack);
	struct near_profiles near = { .n = slack->nnear };
	for (size_t i = 0; i < near.n; i++)
		path_near_profile_open(&near.v[i], p, &slack->near[i]);
	fill_near(&w, slack, &near);
	fill_hops(&w);
	if (slack->known)
		say_regions(&w, &regions);
	say_slack(&w, slack);
	say_near(&w, slack, &near);
	say_hops(&w);
	for (size_t i = 0; i < near.n; i++)
		path_profile_close(&near.v[i]);
	path_regions_close(&regions);
}

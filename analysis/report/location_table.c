/* SPDX-License-Identifier: MIT
 *
 * location_table.c - see location_table.h. */
#include "analysis/report/location_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/routines.h"
#include "analysis/trace/names.h"

#define MANY_THREADS 16 /* more are shown in groups */
#define NAME_COLUMN  6  /* at least */
#define BEGAN_ROOM   30 /* for the name of a routine */

typedef struct location_name namer(const struct trace *, size_t thread);

struct location_table {
	struct reply *reply;
	const struct findings *f;
	const struct ranking *s;
	bool by_thread, every;
	namer *name;
	struct tab_column columns[6];
};

/* ---- What one did ---------------------------------------------------------------------------- */

struct location_did { struct interval work, wait; uint32_t waits_at; }; /* percent of the run */

/* In one of the threads, or in all of its process. */
static bool is_of(const struct location_table *t, size_t thread, size_t one)
{
	const struct tr_thread *threads = t->f->trace->threads;
	return t->by_thread ? thread == one : threads[thread].process == threads[one].process;
}

static uint32_t longest_of(const uint64_t *at, size_t nsites)
{
	uint32_t longest = TR_NO_SITE;
	for (uint32_t site = 0; site < nsites; site++)
		if (at[site] > (longest == TR_NO_SITE ? 0 : at[longest]))
			longest = site;
	return longest;
}

static struct interval mean_share(frz_time sum, int64_t n, const struct span *span)
{
	frz_time mean = { sum.lo / n, ticks_plus(sum.hi / n, sum.hi % n > 0) };
	return interval_percent(mean, span->length);
}

/* `one`: the thread, or any one of the rank's. */
static struct location_did find(const struct location_table *table, size_t one)
{
	const struct findings *f = table->f;
	const struct span *span = findings_span(f, one);
	frz_time work = { 0, 0 }, wait = { 0, 0 };
	int64_t n = 0;
	uint64_t *at = mem_zeroed(f->trace->nsites + 1, sizeof *at);
	for (size_t i = 0; i < f->trace->nthreads; i++) {
		const struct thread_totals *t = &f->totals.threads[i];
		if (!is_of(table, i, one) || (!t->works && !t->waits))
			continue;
		work = time_add(work, findings_work(f, i));
		wait = time_add(wait, findings_wait(f, i));
		for (size_t k = 0; k < t->nwaited; k++)
			at[t->waited[k].site] += t->waited[k].ticks;
		n++;
	}
	uint32_t longest = longest_of(at, f->trace->nsites);
	free(at);
	return (struct location_did){ mean_share(work, n ? n : 1, span), mean_share(wait, n ? n : 1, span), longest };
}

/* ---- Rows ------------------------------------------------------------------------------------ */

#define FINE_NAMES 16 /* longer ones leave no room for a third decimal */

/* With both ends of all intervals there is no room for where it waits. */
static void begin(struct location_table *t)
{
	size_t width = NAME_COLUMN;
	for (size_t i = 0; i < t->s->count; i++) {
		size_t length = strlen(t->name(t->f->trace, t->s->list[i].thread).text);
		width = length > width ? length : width;
	}
	bool fine = t->every && width <= FINE_NAMES;
	int share = fine ? 16 : t->reply->ends ? 14 : 10, decimals = fine ? 3 : t->every ? 2 : 1;
	t->columns[0] = (struct tab_column){ .title = "", .width = (int)width };
	t->columns[1] = (struct tab_column){ .title = "works, %", .width = share, .decimals = decimals };
	t->columns[2] = (struct tab_column){ .title = "waits, %", .width = share, .decimals = decimals };
	t->columns[3] = (struct tab_column){ .title = "others wait, %", .width = t->reply->ends ? 16 : 14,
					     .decimals = 3, .bar = true };
	t->columns[4] = (struct tab_column){ .title = t->every ? "" : t->reply->ends ? "waits at" : "waits mostly at" };
	t->columns[5] = (struct tab_column){ 0 };
	reply_gap(t->reply);
	reply_table(t->reply, NULL, t->columns, SIZE_MAX);
}

static void say_one(const struct location_table *t, const struct ranked *x)
{
	const struct trace *trace = t->f->trace;
	struct location_did did = find(t, x->thread);
	struct tab_cell last = t->every ? tab_verdict(x->proved) : tab_site(trace, did.waits_at);
	reply_row(t->reply, tab_text(t->name(trace, x->thread).text), tab_interval(did.work), tab_interval(did.wait),
		  tab_interval(x->percent), last);
	if (t->every && did.waits_at != TR_NO_SITE)
		reply_say(t->reply, SAY_DETAIL, "waits mostly at %s", site_name_within(trace, did.waits_at, 40).text);
	if (t->every && x->site != TR_NO_SITE)
		reply_say(t->reply, SAY_DETAIL, "keeps others waiting in %s", site_name_within(trace, x->site, 40).text);
}

/* How long others wait for any of those from there on, at most. */
static double most_of(const struct ranking *s, size_t from)
{
	double most = 0;
	for (size_t i = from; i < s->count; i++)
		most = s->list[i].percent.hi > most ? s->list[i].percent.hi : most;
	return most;
}

static void say_all(struct location_table *t, size_t most)
{
	begin(t);
	for (size_t i = 0; i < t->s->count && i < most; i++)
		say_one(t, &t->s->list[i]);
	reply_end(t->reply);
	if (t->s->count > most)
		reply_say(t->reply, SAY_LINE, "  and %zu more, for each of which others wait for at most %s %%: see -v",
			  t->s->count - most, interval_upper(most_of(t->s, most), 3).text);
}

/* What is said of a group beside its highest thread. */
static void say_others(const struct location_table *t, const struct routine_group *g, const uint32_t *routines)
{
	reply_say(t->reply, SAY_LINE, "    and %zu other%s: %s; began in %s", g->threads - 1, g->threads == 2 ? "" : "s",
		  reply_interval(t->reply, g->others, 3).text,
		  routine_name(t->f->trace, routines, g->highest->thread, BEGAN_ROOM).text);
}

static void say_groups(struct location_table *t, size_t most)
{
	uint32_t *routines = routines_find(t->f->trace);
	size_t n;
	struct routine_group *groups = routines_group(t->f, routines, &n);
	begin(t);
	for (size_t i = 0; i < n && i < most; i++) {
		say_one(t, groups[i].highest);
		if (groups[i].threads > 1)
			say_others(t, &groups[i], routines);
	}
	reply_end(t->reply);
	if (n > most)
		reply_say(t->reply, SAY_LINE, "  and %zu more group%s", n - most, n - most == 1 ? "" : "s");
	reply_say(t->reply, SAY_LINE, "  %zu threads in %zu group%s by the routine they began in; -v shows each", t->s->count, n,
		  n == 1 ? "" : "s");
	free(groups);
	free(routines);
}

void location_table_say(struct reply *r, const struct findings *f, size_t most, bool every)
{
	struct location_table ranks = { .reply = r, .f = f, .s = &f->ranks, .every = every, .name = rank_name };
	struct location_table threads = { .reply = r, .f = f, .s = &f->threads, .by_thread = true, .every = every,
					  .name = thread_name };
	most = every ? SIZE_MAX : most;
	if (f->ranks.count > 1)
		say_all(&ranks, most);
	if (f->several_threads && f->threads.count > MANY_THREADS && !every)
		say_groups(&threads, most);
	else if (f->several_threads)
		say_all(&threads, most);
}

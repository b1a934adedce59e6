/* SPDX-License-Identifier: MIT
 *
 * profile_table.c - see profile_table.h. */
#include "analysis/report/profile_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/unclassified.h"
#include "analysis/trace/names.h"

#define MILLION     1000000
#define NAME_COLUMN 20

struct percentage profile_percentage(uint32_t millionths)
{
	struct percentage p;
	snprintf(p.text, sizeof p.text, "%.9g %%", millionths / (double)MILLION);
	return p;
}

static struct interval_text gain_text(const struct reply *r, struct interval x, int decimals)
{
	if (isfinite(x.lo) && isfinite(x.hi))
		return reply_interval(r, x, decimals);
	return (struct interval_text){ "unknown" };
}

static bool is_anything(struct interval percent)
{
	return percent.lo < 0 && percent.hi >= 100;
}

struct interval_text profile_bounds(const struct reply *r, struct interval proved, int decimals)
{
	return is_anything(proved) ? (struct interval_text){ "nothing" } : gain_text(r, proved, decimals);
}

struct gains_text profile_gains(const struct reply *r, const struct profile *p, const struct interval gain[COZ_ANSWERS],
				int decimals)
{
	struct interval_text expected = gain_text(r, gain[COZ_EXPECTED], decimals);
	struct interval_text proved = profile_bounds(r, gain[COZ_PROVED], decimals);
	bool same = strcmp(expected.text, proved.text) == 0;
	struct gains_text both;
	const char *longer = gain[COZ_EXPECTED].hi < 0 ? "below 0: longer; " : "";
	snprintf(both.text, sizeof both.text, "%s %% shorter (%sproved%s%s%s)", expected.text, longer, same ? "" : " ",
		 same ? "" : proved.text, p->if_work ? " if " UNCLASSIFIED_IF : "");
	return both;
}

struct location_name profile_who(struct coz_location who)
{
	struct location_name name = { "all ranks" };
	int length = 0;
	if (coz_is_all(who))
		return name;
	name.text[0] = '\0';
	if (who.rank != COZ_ANY || who.pid != COZ_ANY)
		length = snprintf(name.text, sizeof name.text, who.rank != COZ_ANY ? "rank %" PRId64 : "pid %" PRId64,
				  who.rank != COZ_ANY ? who.rank : who.pid);
	if (who.thread != COZ_ANY)
		snprintf(name.text + length, sizeof name.text - (size_t)length, "%sthread %" PRId64,
			 length ? " " : "", who.thread);
	return name;
}

static struct site_name row_name(const struct trace *trace, const struct profile_row *row)
{
	struct site_name name = region_name_within(trace, row->site, NAME_COLUMN);
	if (strstr(name.text, "..")) /* without its middle */
		name = region_name_within(trace, row->site, SITE_NAME_ROOM);
	if (row->of_one)
		snprintf(name.text, sizeof name.text, "all work of %s", profile_who(row->who).text);
	return name;
}

/* ---- The page -------------------------------------------------------------------------------- */

#define DECIMALS 2
#define LAST_DIGIT 0.01
#define SHOWN 3 /* reductions that a line has room for: a quarter, half, and all */

/* An infinite one is shown as unknown. */
static struct tab_cell gain_cell(struct interval x)
{
	return isfinite(x.lo) && isfinite(x.hi) ? tab_interval(x) : tab_range(x);
}

static struct tab_cell bounds_cell(struct tab_cell gain, bool little)
{
	return !little && is_anything(gain.interval) ? tab_text("nothing") : gain;
}

/* Whether no digit that is shown need tell them apart. */
static bool nearly_same(struct interval x, struct interval y)
{
	return (x.lo == y.lo || fabs(x.lo - y.lo) < LAST_DIGIT) && (x.hi == y.hi || fabs(x.hi - y.hi) < LAST_DIGIT);
}

/* What is expected, and on a second line what is proved, where that is less exact; else that alone, which holds both. */
static void say_region(struct reply *r, const struct trace *trace, const struct profile *p,
		       const struct profile_row *row, bool little, const size_t *at, size_t n)
{
	const char *bounds = p->if_work ? "  proved if work:" : "  proved:";
	const char *verdict = little ? "" : row->proved ? "proved" : "undecided";
	struct tab_cell gain[COZ_ANSWERS][SHOWN];
	bool same = true;
	for (size_t i = 0; i < n; i++) {
		for (int a = 0; a < COZ_ANSWERS; a++)
			gain[a][i] = gain_cell((little ? row->gain[a].little : row->gain[a].percent)[at[i]]);
		same &= nearly_same(gain[COZ_EXPECTED][i].interval, gain[COZ_PROVED][i].interval);
	}
	for (int proved = 0; proved <= !same; proved++) {
		struct tab_cell cells[SHOWN + 2] = { tab_text(proved ? bounds : row_name(trace, row).text) };
		for (size_t i = 0; i < n; i++)
			cells[1 + i] = proved ? bounds_cell(gain[COZ_PROVED][i], little) : gain[same ? COZ_PROVED : COZ_EXPECTED][i];
		cells[1 + n] = tab_text(proved || same ? verdict : "");
		reply_cells(r, cells, n + 2);
	}
}

void profile_table_say(struct reply *r, const struct trace *trace, const struct profile *p, bool little, size_t most)
{
	size_t n = p->nreductions < SHOWN ? 1 : SHOWN, last = p->nreductions - 1;
	size_t at[SHOWN] = { n > 1 ? p->nreductions / 4 : last, p->nreductions / 2, last };
	struct tab_column columns[SHOWN + 3] = { { .title = "less by", .width = NAME_COLUMN, .alone = true } };
	struct percentage less[SHOWN];
	for (size_t i = 0; i < n; i++) {
		less[i] = profile_percentage(p->reductions[at[i]]);
		columns[1 + i] = (struct tab_column){ .title = less[i].text, .width = 15, .decimals = DECIMALS };
	}
	columns[1 + n].title = "";
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < p->nrows && i < most; i++)
		say_region(r, trace, p, &p->rows[i], little, at, n);
	reply_end(r);
	if (p->nrows > most)
		reply_say(r, SAY_LINE, "  and %zu more, see dprof-analyze coz", p->nrows - most);
	if (p->if_work)
		reply_say(r, SAY_INDENTED, "Proved only if " UNCLASSIFIED_IF ", and not waiting: see the note.");
}

/* ---- The data -------------------------------------------------------------------------------- */

void profile_curve(struct reply *r, const char *key, const struct profile *p, const struct profile_row *row, bool little,
		   const char *gain)
{
	const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "less by", 10), TAB_KEY("reduce_percent"), TAB_SHOWN(NULL, "gain, %: expected", 20, 3),
		TAB_SHOWN(gain, p->if_work ? "proved if work" : "proved", 0, 3), TAB_KEY("expected_percent"), TAB_KEY("little_percent"), { 0 } };
	const struct profile_gain *expected = &row->gain[COZ_EXPECTED], *proved = &row->gain[COZ_PROVED];
	reply_table(r, key, columns, key ? 0 : SIZE_MAX);
	for (size_t i = 0; i < p->nreductions; i++) {
		double less = p->reductions[i] / (double)MILLION;
		struct interval answer = (little ? expected->little : expected->percent)[i];
		reply_row(r, tab_text(profile_percentage(p->reductions[i]).text), tab_range((struct interval){ less, less }),
			  tab_range(answer), tab_range((little ? proved->little : proved->percent)[i]),
			  tab_range(answer), p->points.pair ? tab_range(proved->little[i]) : TAB_NONE);
	}
	reply_end(r);
}

static struct tab_cell given(const struct profile_row *row, int64_t number)
{
	return row->of_one && number != COZ_ANY ? tab_count(number) : TAB_NONE;
}

void profile_table_fill(struct reply *r, const char *key, const struct trace *trace, const struct profile *p,
			const char *gain)
{
	static const struct tab_column columns[] = {
		TAB_KEY("region"), TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("slope"),
		TAB_KEY("expected_slope"), TAB_KEY("verdict"), { 0 } };
	reply_table(r, key, columns, 0);
	for (size_t i = 0; i < p->nrows; i++) {
		const struct profile_row *row = &p->rows[i];
		reply_row(r, tab_site(trace, row->site), given(row, row->who.rank), given(row, row->who.pid),
			  given(row, row->who.thread), tab_interval(row->gain[COZ_PROVED].slope),
			  tab_interval(row->gain[COZ_EXPECTED].slope), tab_verdict(row->proved));
		profile_curve(r, "curve", p, row, false, gain);
	}
	reply_end(r);
}

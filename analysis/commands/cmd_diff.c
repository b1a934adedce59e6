/* SPDX-License-Identifier: MIT
 *
 * cmd_diff.c - dprof-analyze diff: in what two runs, or two sets of runs, differ, and whether that is proved, or no chance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/commands/several.h"
#include "analysis/diff/compare.h"
#include "analysis/diff/quantities.h"
#include "analysis/report/notes.h"
#include "analysis/trace/names.h"

#define MOST_ROWS     12
#define LITTLE        0.001  /* of the run: what takes less than that on average of all runs is left out */
#define CHANGE_WANTED 0.02
#define MOST_PERCENT  1e6   /* as a lower bound; what A had none of is more than that */

/* How often, of 100 comparisons of runs that are alike, something is called faster or slower: half of it for the run, half for all
 * other rows together (Bonferroni). */
#define FALSE_PERCENT 5
#define ALPHA_RUN     (FALSE_PERCENT / 200.0)
#define ALPHA_REST    (FALSE_PERCENT / 200.0)

/* Between two runs the counter of one machine may become so much faster or slower; those of two machines are known so well. */
#define RATE_SAME_HOST 20e-6
#define RATE_ANY_HOST  1e-3

struct diff_row {
	const struct quantity *what;         /* of one run in which it is; its value is not used */
	struct interval *values;             /* of each run, A's first */
	double a_s, b_s;                     /* about what it takes: the medians */
	struct interval percent;             /* the difference */
};

struct diff_answer {
	const struct options *options;
	struct quantities *runs;
	size_t na, nb;
	bool one_host;
	struct diff_row *rows; size_t nrows;      /* the run first, then efficiencies, then what makes the greatest difference */
};

static struct compare_side side_a(const struct diff_answer *a, const struct diff_row *row)
{
	return (struct compare_side){ row->values, a->na };
}

static struct compare_side side_b(const struct diff_answer *a, const struct diff_row *row)
{
	return (struct compare_side){ row->values + a->na, a->nb };
}

static bool is_single(const struct diff_answer *a)
{
	return a->na == 1 && a->nb == 1;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int by_quantity(const void *x, const void *y)
{
	const struct quantity *const *p = x, *const *q = y;
	return quantities_order(*p, *q);
}

/* Of a run in which it does not occur. */
static struct interval absent(const struct quantities *run, const struct quantity *what)
{
	bool known = run->related && run->sound && (what->kind != QUANTITY_SCORE || quantities_know_score(run, what));
	return (struct interval){ 0, known ? 0 : INFINITY };
}

static struct interval value_in(const struct quantities *run, const struct quantity *what)
{
	size_t low = SEARCH(run->n, middle, quantities_order(&run->v[middle], what) < 0);
	return low < run->n && quantities_order(&run->v[low], what) == 0 ? run->v[low].value : absent(run, what);
}

static double middle_of(struct interval x)
{
	return isfinite(x.hi) ? (x.lo + x.hi) / 2 : x.lo;
}

static double median(struct compare_side side)
{
	double *v = mem_resize(NULL, side.n, sizeof *v);
	for (size_t i = 0; i < side.n; i++)
		v[i] = middle_of(side.v[i]);
	qsort(v, side.n, sizeof *v, order_doubles);
	double found = (v[(side.n - 1) / 2] + v[side.n / 2]) / 2;
	free(v);
	return found;
}

static double mean(const struct diff_answer *a, const struct diff_row *row)
{
	double sum = 0;
	for (size_t i = 0; i < a->na + a->nb; i++)
		sum += middle_of(row->values[i]);
	return sum / (double)(a->na + a->nb);
}

static struct diff_row row_of(const struct diff_answer *a, const struct quantity *what)
{
	struct diff_row row = { .what = what, .values = mem_resize(NULL, a->na + a->nb, sizeof *row.values) };
	for (size_t i = 0; i < a->na + a->nb; i++)
		row.values[i] = value_in(&a->runs[i], what);
	row.a_s = median(side_a(a, &row));
	row.b_s = median(side_b(a, &row));
	return row;
}

/* What takes time: efficiencies take none. */
static bool is_little(const struct diff_answer *a, const struct diff_row *row)
{
	bool takes_time = row->what->kind != QUANTITY_EFFICIENCY;
	return a->nrows > 0 && takes_time && mean(a, row) < LITTLE * mean(a, &a->rows[0]);
}

/* Which rows there are depends on all runs, and not on which side they are: so chance is as likely as is said. */
static void make_rows(struct diff_answer *a)
{
	const struct quantity **all = NULL;
	size_t n = 0;
	for (size_t i = 0; i < a->na + a->nb; i++)
		for (size_t k = 0; k < a->runs[i].n; k++)
			*MEM_GROW(all, n) = &a->runs[i].v[k];
	qsort(all, n, sizeof *all, by_quantity);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && quantities_order(all[i - 1], all[i]) == 0)
			continue;
		struct diff_row row = row_of(a, all[i]);
		if (is_little(a, &row))
			free(row.values);
		else
			*MEM_GROW(a->rows, a->nrows) = row;
	}
	free(all);
}

/* ---- What is said of them -------------------------------------------------------------------- */

static struct interval widened(const struct diff_answer *a, const struct diff_row *row, struct interval factor)
{
	double rate = row->what->kind == QUANTITY_EFFICIENCY ? 0 : a->one_host ? RATE_SAME_HOST : RATE_ANY_HOST;
	return (struct interval){ nextafter(factor.lo * (1 - rate), 0), nextafter(factor.hi * (1 + rate), INFINITY) };
}

static double alpha_of(const struct diff_answer *a, const struct diff_row *row)
{
	return row->what->kind == QUANTITY_RUN ? ALPHA_RUN : ALPHA_REST / (double)(a->nrows - 1);
}

static void compare(const struct diff_answer *a, struct diff_row *row)
{
	struct interval factor = widened(a, row, compare_factor(side_a(a, row), side_b(a, row), alpha_of(a, row)));
	row->percent.lo = fmin(nextafter(100 * nextafter(factor.lo - 1, -INFINITY), -INFINITY), MOST_PERCENT);
	row->percent.hi = nextafter(100 * nextafter(factor.hi - 1, INFINITY), INFINITY);
}

static const char *verdict(const struct diff_row *row)
{
	bool less = row->percent.hi < 0, more = row->percent.lo > 0, good = row->what->kind == QUANTITY_EFFICIENCY;
	return less == more ? "undecided" : less != good ? "faster" : "slower";
}

static bool is_decided(const struct diff_row *row)
{
	return row->percent.hi < 0 || row->percent.lo > 0;
}

/* The run, efficiencies, what differs, and what may; of these what makes the greatest difference first. */
static int by_difference(const void *x, const void *y)
{
	const struct diff_row *p = x, *q = y;
	enum quantity_kind k = p->what->kind, l = q->what->kind;
	if (k <= QUANTITY_EFFICIENCY || l <= QUANTITY_EFFICIENCY)
		return k != l ? ORDER(k, l) : quantities_order(p->what, q->what);
	if (is_decided(p) != is_decided(q))
		return is_decided(p) ? -1 : 1;
	double d = fabs(p->b_s - p->a_s), e = fabs(q->b_s - q->a_s);
	return d != e ? ORDER(e, d) : quantities_order(p->what, q->what);
}

/* ---- The data -------------------------------------------------------------------------------- */

static void fill_values(struct reply *r, const char *key, struct compare_side side)
{
	static const struct tab_column columns[] = { TAB_KEY(""), { 0 } };
	reply_table(r, key, columns, 0);
	for (size_t i = 0; i < side.n; i++)
		reply_row(r, tab_interval(side.v[i]));
	reply_end(r);
}

static void fill_rows(struct reply *r, const struct diff_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("what"), TAB_KEY("name"), TAB_KEY("file"),
						     TAB_KEY("difference_percent"), TAB_KEY("verdict"), { 0 } };
	reply_table(r, "rows", columns, 0);
	for (size_t i = 0; i < a->nrows; i++) {
		const struct diff_row *row = &a->rows[i];
		reply_row(r, tab_text(quantity_word(row->what->kind)), tab_text(row->what->name),
			  row->what->file ? tab_text(row->what->file) : TAB_NONE, tab_interval(row->percent), tab_text(verdict(row)));
		fill_values(r, "a", side_a(a, row));
		fill_values(r, "b", side_b(a, row));
	}
	reply_end(r);
}

static void fill_directories(struct reply *r, const char *key, const struct quantities *runs, size_t n)
{
	static const struct tab_column columns[] = { TAB_KEY(""), { 0 } };
	reply_table(r, key, columns, 0);
	for (size_t i = 0; i < n; i++)
		reply_row(r, tab_text(runs[i].directory));
	reply_end(r);
}

/* ---- The page -------------------------------------------------------------------------------- */

#define NAME_COLUMN 31
#define NAME_ROOM   64 /* on a line of its own */
#define FILE_ROOM   24

#define NEAR_DECIMALS 7 /* at most */

/* "-9.1 .. -0.00004", not -0.0: rounded outward, an end beside 0 must not look like 0. */
static struct interval_text apart_from_0(struct interval_text t, struct interval x)
{
	const char *between = strstr(t.text, " .. ");
	bool below = x.hi < 0;
	if (!between || (!below && !(x.lo > 0)) || strtod(below ? between + strlen(" .. ") : t.text, NULL) != 0)
		return t;
	struct interval_text near, apart;
	int decimals = 0;
	do
		near = below ? interval_upper(x.hi, ++decimals) : interval_lower(x.lo, ++decimals);
	while (strtod(near.text, NULL) == 0 && decimals < NEAR_DECIMALS);
	if (strtod(near.text, NULL) == 0)
		near = (struct interval_text){ "0" };
	const char *beside = near.text[1] ? "" : below ? "below " : "above ";
	if (below)
		snprintf(apart.text, sizeof apart.text, "%.*s .. %s%.16s", (int)(between - t.text), t.text, beside, near.text);
	else
		snprintf(apart.text, sizeof apart.text, "%s%.16s%s", beside, near.text, between);
	return apart;
}

/* "-25.006 ±0.010", or where nothing bounds it "-". */
static struct interval_text difference_text(const struct reply *r, struct interval percent)
{
	if (isfinite(percent.hi))
		return apart_from_0(reply_interval(r, percent, 3), percent);
	struct interval_text t = { "-" };
	return percent.lo > 0 ? (struct interval_text){ "new" } : t;
}

/* About; "-" where it is not known, and with a "~" where by less than a tenth. */
static char *number(const struct diff_answer *a, const struct diff_row *row, struct compare_side side, double value)
{
	double widest = 0;
	for (size_t i = 0; i < side.n; i++)
		widest = fmax(widest, side.v[i].hi - side.v[i].lo);
	if (!isfinite(widest))
		return mem_copy("-");
	const char *about = widest > value / 10 ? "~" : "";
	if (row->what->kind == QUANTITY_EFFICIENCY)
		return mem_format("%s%.2f %%", about, value);
	return mem_format("%s%.*f", about, a->rows[0].a_s < 100 ? 6 : 3, value);
}

/* Whether the file tells it from another row. */
static bool has_namesake(const struct diff_answer *a, const struct quantity *what)
{
	size_t n = 0;
	for (size_t i = 0; i < a->nrows; i++)
		n += a->rows[i].what->kind == what->kind && strcmp(a->rows[i].what->name, what->name) == 0;
	return n > 1;
}

/* To be freed. */
static char *name_of(const struct diff_answer *a, const struct quantity *what)
{
	if (what->kind == QUANTITY_RUN)
		return mem_copy(what->name);
	if (what->file && has_namesake(a, what))
		return mem_format("%s: %s (%s)", quantity_word(what->kind), name_within(what->name, NAME_ROOM - FILE_ROOM).text,
				  name_within(what->file, FILE_ROOM).text);
	return mem_format("%s: %s", quantity_word(what->kind), name_within(what->name, NAME_ROOM).text);
}

static void say_rows(struct reply *r, const struct diff_answer *a, size_t most)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "", NAME_COLUMN, .alone = true), TAB_SHOWN(NULL, "A", -9), TAB_SHOWN(NULL, "B", -9),
		TAB_SHOWN(NULL, "difference, %", 16), TAB_SHOWN(NULL, ""), { 0 } };
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < a->nrows && i < most; i++) {
		const struct diff_row *row = &a->rows[i];
		char *of_a = number(a, row, side_a(a, row), row->a_s), *of_b = number(a, row, side_b(a, row), row->b_s);
		char *name = name_of(a, row->what);
		reply_row(r, tab_text(name), tab_text(of_a), tab_text(of_b), tab_text(difference_text(r, row->percent).text),
			  tab_text(verdict(row)));
		free(name);
		free(of_a);
		free(of_b);
	}
	reply_end(r);
	if (a->nrows > most)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", a->nrows - most);
}

static void say_finding(struct reply *r, const struct diff_answer *a)
{
	const struct diff_row *run = &a->rows[0];
	struct interval less = { -run->percent.hi, -run->percent.lo };
	const char *how = is_single(a) ? "proved of these two runs" : "by chance that is found in at most 2.5 % of comparisons";
	if (run->percent.hi < 0)
		reply_say(r, SAY_ADVICE, "B takes %s %% less time than A (%s).", difference_text(r, less).text, how);
	else if (run->percent.lo > 0)
		reply_say(r, SAY_ADVICE, "B takes %s %% more time than A (%s).", difference_text(r, run->percent).text, how);
	else
		reply_say(r, SAY_ADVICE, "Undecided: whether B takes more time than A, or less.");
}

/* To find a change of the first row. */
static void say_power(struct reply *r, const struct diff_answer *a)
{
	size_t needed = compare_runs_needed(side_a(a, a->rows), side_b(a, a->rows), ALPHA_RUN, CHANGE_WANTED);
	reply_value(r, "runs_needed", needed ? tab_number(needed) : TAB_NONE);
	if (needed)
		reply_say(r, SAY_TEXT, "To find a change of the run by %g %% nine times in ten takes about %zu runs of "
			  "each, as far as these vary as others will.", 100 * CHANGE_WANTED, needed);
	else
		reply_say(r, SAY_TEXT, "These runs differ by so much that even %d of each may not find a change of "
			  "%g %%: make them longer, or run them while nothing else does.", COMPARE_RUNS,
			  100 * CHANGE_WANTED);
}

/* What one would have to do to know more. */
static void say_runs_needed(struct reply *r, const struct diff_answer *a)
{
	double rest = alpha_of(a, &a->rows[a->nrows - 1]);
	reply_gap(r);
	if (is_single(a)) {
		reply_say(r, SAY_TEXT, "One run of each says nothing of how much runs differ by chance. Several do: dprof-ab -n 10 -- A -- B.");
	} else if (compare_rank(a->na, a->nb, ALPHA_RUN / 2) == 0) {
		reply_say(r, SAY_TEXT, "So few runs can decide nothing: it takes %zu of each, and for the other rows %zu.",
			  compare_fewest(ALPHA_RUN), compare_fewest(rest));
	} else {
		if (compare_rank(a->na, a->nb, rest / 2) == 0)
			reply_say(r, SAY_TEXT, "So few runs can decide only the first row: the others take %zu of each.",
				  compare_fewest(rest));
		say_power(r, a);
	}
}

static const char *assumptions(const struct diff_answer *a)
{
	if (is_single(a))
		return a->one_host ? "Assumed: the base clock ran as fast in both runs, to 20 ppm."
				   : "Assumed: the base clocks, of different hosts, run as fast as they say, to 0.1 %.";
	return a->one_host ? "Assumed: runs are independent of each other, and those of one side alike; the base clock "
			     "ran as fast in all, to 20 ppm."
			   : "Assumed: runs are independent of each other, and those of one side alike; the base "
			     "clocks, of different hosts, run as fast as they say, to 0.1 %.";
}

/* A false proof would be worse than none. */
static void say_unsound(struct reply *r, const struct diff_answer *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->na + a->nb; i++)
		n += !a->runs[i].sound;
	if (n)
		reply_say(r, SAY_TEXT, "%zu of %zu traces %s damaged, and nothing is said of what took how long in %s.",
			  n, a->na + a->nb, n == 1 ? "is" : "are", n == 1 ? "it" : "them");
}

static void say_side(struct reply *r, const char *which, const struct quantities *runs, size_t n)
{
	char *directory = shown_copy(runs->directory);
	if (n == 1)
		reply_say(r, SAY_LINE, "%s: %s", which, directory);
	else
		reply_say(r, SAY_LINE, "%s: %zu runs, %s and so on", which, n, directory);
	free(directory);
}

static void fill(struct reply *r, const struct diff_answer *a, const struct trace *trace)
{
	notes_damage(r, trace->ndiagnostics);
	fill_directories(r, "a", a->runs, a->na);
	fill_directories(r, "b", a->runs + a->na, a->nb);
	reply_value(r, "verdict", tab_text(verdict(&a->rows[0])));
	fill_rows(r, a);
	reply_value(r, "assumptions", tab_text(assumptions(a)));
	say_side(r, "A", a->runs, a->na);
	say_side(r, "B", a->runs + a->na, a->nb);
	say_unsound(r, a);
	say_finding(r, a);
	say_rows(r, a, a->options->verbose ? SIZE_MAX : MOST_ROWS);
	reply_say(r, SAY_TEXT,
		  "A and B: seconds%s, in the middle of their bounds (~ where these are a tenth apart or more); --json has the "
		  "bounds. Region: of all threads, without waiting; wait: likewise, waiting; score: all others wait for it; "
		  "path: on the critical path.",
		  is_single(a) ? "" : ", medians of the runs");
	say_runs_needed(r, a);
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions(a));
	notes_fill(r, trace);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int take_run(void *run, const char *directory, struct trace *trace, const struct options *options)
{
	return quantities_open(run, directory, trace, options);
}

/* On one host a tick is as long in each run, whatever each found the counter's rate to be. */
static void use_one_rate(struct diff_answer *a)
{
	const struct quantities *first = &a->runs[0];
	a->one_host = true;
	for (size_t i = 1; i < a->na + a->nb; i++)
		a->one_host &= strcmp(a->runs[i].host, first->host) == 0 && fabs(a->runs[i].ghz / first->ghz - 1) < RATE_ANY_HOST;
	for (size_t i = 1; i < a->na + a->nb && a->one_host; i++)
		for (size_t k = 0; k < a->runs[i].n; k++) {
			struct interval *x = &a->runs[i].v[k].value;
			if (a->runs[i].v[k].kind != QUANTITY_EFFICIENCY && a->runs[i].ghz != first->ghz)
				*x = interval_times(*x, a->runs[i].ghz / first->ghz);
			x->lo = fmax(x->lo, 0);
		}
}

static void close_answer(struct diff_answer *a)
{
	for (size_t i = 0; i < a->nrows; i++)
		free(a->rows[i].values);
	free(a->rows);
	for (size_t i = 0; i < a->na + a->nb; i++)
		quantities_close(&a->runs[i]);
	free(a->runs);
}

static int answer(struct diff_answer *a, struct trace *trace, struct reply *reply)
{
	use_one_rate(a);
	make_rows(a);
	for (size_t i = 0; i < a->nrows; i++)
		compare(a, &a->rows[i]);
	qsort(a->rows, a->nrows, sizeof *a->rows, by_difference);
	fill(reply, a, trace);
	bool slower = strcmp(verdict(&a->rows[0]), "slower") == 0;
	if (trace->ndiagnostics > 0)
		return EXIT_DAMAGED;
	return a->options->gate && slower ? EXIT_SLOWER : EXIT_FINE;
}

int cmd_diff(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct diff_answer a = { .options = options, .na = options->nfirst, .nb = options->ndirectories - options->nfirst };
	a.runs = mem_zeroed(options->ndirectories, sizeof *a.runs);
	int status = several_open(a.runs, sizeof *a.runs, trace, options, take_run);
	if (status == EXIT_FINE)
		status = answer(&a, trace, reply);
	close_answer(&a);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * cmd_coz.c - dprof-analyze coz: what would it buy if a region took less time? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/memory.h"
#include "analysis/nearest.h"
#include "analysis/notes.h"
#include "analysis/profile.h"
#include "analysis/standings.h"

#define MILLION 1000000

/* ---- What was asked for ---------------------------------------------------------------------- */

/* "12.5" -> 12500000 */
static bool read_reduction(const char *text, uint32_t *millionths)
{
	uint64_t value = 0;
	unsigned digits = 0, decimals = 0;
	bool point = false;
	for (; *text; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || (point && decimals == 6) || value > 1000000000)
			return false;
		value = 10 * value + (uint64_t)(*text - '0');
		digits++;
		decimals += point;
	}
	for (; decimals < 6; decimals++)
		value *= 10;
	*millionths = (uint32_t)value;
	return digits > 0 && value <= 100 * MILLION;
}

static int refuse(const char *option, const char *expected, const char *found)
{
	fprintf(stderr, "dprof-analyze: %s: expected %s; found \"%s\"\n", option, expected, found);
	return EXIT_USAGE;
}

static int find_reduction(const struct options *o, struct profile_wish *wish, uint32_t *reduction)
{
	if (!o->reduce)
		return EXIT_FINE;
	if (!read_reduction(o->reduce, reduction))
		return refuse("--reduce", "a percentage from 0 to 100 with at most 6 decimals",
			      o->reduce);
	wish->reductions = reduction;
	wish->nreductions = 1;
	return EXIT_FINE;
}

static int find_rank(const struct trace *trace, const struct options *o, struct profile_wish *wish)
{
	wish->rank = COZ_ALL_RANKS;
	if (!o->rank)
		return EXIT_FINE;
	size_t n = 0, nnames = trace->nthreads;
	char **names = mem_resize(NULL, nnames + 1, sizeof *names);
	const char **list = mem_resize(NULL, nnames + 1, sizeof *list);
	for (size_t t = 0; t < nnames; t++) {
		list[n] = names[n] = mem_format("%" PRId64, trace->threads[t].rank);
		if (trace->threads[t].rank >= 0 && strcmp(names[n], o->rank) == 0)
			wish->rank = trace->threads[t].rank;
		n++;
	}
	const char *like = nearest(o->rank, list, n);
	char *expected = mem_format("a rank of this trace, such as %s", like ? like : list[0]);
	int status = EXIT_FINE;
	if (wish->rank == COZ_ALL_RANKS)
		status = refuse("--rank", n && trace->threads[0].rank >= 0 ? expected
				: "no rank, since this trace has none", o->rank);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	free(list);
	free(expected);
	return status;
}

/* A name among the sites of a kind; what is near when it is not there. */
static int find_name(const struct trace *trace, enum dprof_kind kind, const char *option,
		     const char *what, const char *name)
{
	const char **names = mem_resize(NULL, trace->nsites + 1, sizeof *names);
	size_t n = 0;
	int status = name ? EXIT_USAGE : EXIT_FINE;
	for (size_t i = 0; i < trace->nsites; i++) {
		if (trace->sites[i].kind != kind)
			continue;
		names[n++] = trace->sites[i].name;
		if (name && strcmp(trace->sites[i].name, name) == 0)
			status = EXIT_FINE;
	}
	if (status != EXIT_FINE) {
		const char *like = nearest(name, names, n);
		char *expected = mem_format("the name of a %s of this trace%s%s", what,
					    like ? ", such as " : n ? ", such as " : " (it has none)",
					    like ? like : n ? names[0] : "");
		refuse(option, expected, name);
		free(expected);
	}
	free(names);
	return status;
}

static int find_wish(const struct trace *trace, const struct options *o, struct profile_wish *wish,
		     uint32_t *reduction)
{
	*wish = (struct profile_wish){ .region = o->region, .worst = o->transfer != NULL };
	if (o->transfer && strcmp(o->transfer, "worst") != 0)
		return refuse("--transfer", "worst", o->transfer);
	int status = find_reduction(o, wish, reduction);
	if (status == EXIT_FINE)
		status = find_rank(trace, o, wish);
	if (status == EXIT_FINE)
		status = find_name(trace, DPROF_KIND_REGION, "--region", "region", o->region);
	return status;
}

/* ---- As text --------------------------------------------------------------------------------- */

/* "on rank 3" */
static struct actor_name where(const struct options *o)
{
	struct actor_name name = { "" };
	if (o->rank)
		snprintf(name.text, sizeof name.text, " on rank %.20s", o->rank);
	return name;
}

struct percentage { char text[24]; };

static struct percentage percentage(uint32_t millionths)
{
	struct percentage p;
	snprintf(p.text, sizeof p.text, "%.9g %%", millionths / (double)MILLION);
	return p;
}

/* A region's line has at most three of the reductions: about a quarter, half, and all. */
static void print_table(const struct trace *trace, const struct profile *p)
{
	size_t n = p->nreductions, columns[] = { n / 4 ? n / 4 - 1 : 0, n / 2 ? n / 2 - 1 : 0, n - 1 };
	size_t first = n == 1 ? 2 : 0;
	printf("\n  %-20s", "less by");
	for (size_t c = first; c < 3; c++)
		printf(" %-15s", percentage(p->reductions[columns[c]]).text);
	putchar('\n');
	for (size_t r = 0; r < p->nrows; r++) {
		const struct profile_row *row = &p->rows[r];
		printf("  %-20.20s", trace->sites[row->site].name);
		for (size_t c = first; c < 3; c++)
			printf(" %-15s", interval_range(row->percent[columns[c]], 2).text);
		printf(" %s\n", row->proved ? "proved" : "undecided");
	}
	putchar('\n');
}

static void print_curve(const struct profile *p)
{
	printf("\n  %-10s %s\n", "less by", "shorter, %");
	for (size_t i = 0; i < p->nreductions; i++)
		printf("  %-10s %s\n", percentage(p->reductions[i]).text,
		       interval_range(p->rows[0].percent[i], 3).text);
	putchar('\n');
}

static void print_answer(const struct trace *trace, const struct profile *p,
			 const struct options *o)
{
	const struct profile_row *row = &p->rows[0];
	char *answer = mem_format("Had region %s taken %s less time%s, the run of %s s would have "
				  "been %s %% shorter.", site_name(trace, row->site).text,
				  percentage(p->reductions[0]).text, where(o).text,
				  interval_compact(p->span_s, 9).text,
				  interval_range(row->percent[0], 4).text);
	print_wrapped("", answer);
	free(answer);
}

static void print_heading(const struct trace *trace, const struct profile *p,
			  const struct options *o)
{
	char *heading = mem_format(
		"How much shorter the run of %s s would be, in %% of it, if %s%s took less time%s",
		interval_compact(p->span_s, 9).text, o->region ? "region " : "a region",
		o->region ? site_name(trace, p->rows[0].site).text : "", where(o).text);
	print_wrapped("", heading);
	free(heading);
}

static void print_text(const struct trace *trace, const struct profile *p, const struct options *o)
{
	if (!p->possible)
		print_wrapped("", "The clocks of some hosts could not be related (see the problems): "
				  "nothing is known but that p percent less of anything buys at most p "
				  "percent.");
	if (p->nrows == 0) {
		print_wrapped("", "No region was recorded: mark the work with #pragma dprof "
				  "region(NAME).");
	} else if (o->region && o->reduce) {
		print_answer(trace, p, o);
	} else {
		print_heading(trace, p, o);
		if (o->region)
			print_curve(p);
		else
			print_table(trace, p);
	}
	char *assumptions = profile_assumptions(p, o->transfer);
	print_wrapped("", assumptions);
	free(assumptions);
	notes_print(trace);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void json_row(struct json *j, const struct trace *trace, const struct profile *p,
		     const struct profile_row *row)
{
	const struct tr_site *site = &trace->sites[row->site];
	jw_object(j, NULL);
	jw_string(j, "region", site->name);
	jw_string(j, "file", site->file);
	jw_integer(j, "line", site->line);
	jw_interval(j, "slope", row->slope);
	jw_string(j, "verdict", row->proved ? "proved" : "undecided");
	jw_array(j, "curve");
	for (size_t i = 0; i < p->nreductions; i++) {
		double reduction = p->reductions[i] / (double)MILLION;
		jw_object(j, NULL);
		jw_interval(j, "reduce_percent", (struct interval){ reduction, reduction });
		jw_interval(j, "speedup_percent", row->percent[i]);
		jw_end(j);
	}
	jw_end(j);
	jw_end(j);
}

static void print_json(const struct trace *trace, const struct profile *p, const struct options *o)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	if (p->nrows > 0 && o->region && o->reduce)
		jw_interval(&j, "speedup_percent", p->rows[0].percent[0]);
	jw_interval(&j, "span_s", p->span_s);
	jw_array(&j, "regions");
	for (size_t r = 0; r < p->nrows; r++)
		json_row(&j, trace, p, &p->rows[r]);
	jw_end(&j);
	char *assumptions = profile_assumptions(p, o->transfer);
	jw_string(&j, "assumptions", assumptions);
	free(assumptions);
	notes_json(&j, trace);
	jw_end(&j);
}

int cmd_coz(struct trace *trace, const struct options *options)
{
	struct profile_wish wish;
	uint32_t reduction;
	int status = find_wish(trace, options, &wish, &reduction);
	if (status != EXIT_FINE)
		return status;
	struct times times;
	status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	struct profile profile;
	profile_open(&profile, trace, &times, &wish);
	if (options->json)
		print_json(trace, &profile, options);
	else
		print_text(trace, &profile, options);
	profile_close(&profile);
	times_close(&times);
	return trace->nproblems > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

/* SPDX-License-Identifier: MIT
 *
 * source.c - the program's source, each line with what was found of it: its share of the time of all threads, of each
 * from its begin to its end, and of the critical path, and by how much the run is expected to be shorter if the region
 * there took half as long. A file that cannot be read (source_file.h) has only the lines that were recorded, by name; so
 * do sites of which no line is known, each by its own. */
#define _GNU_SOURCE /* qsort_r */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/export/export.h"
#include "analysis/report/source_file.h"
#include "analysis/trace/names.h"

#define HALF 50000000 /* millionths of a percent */
#define TAB_STOP 8
#define COLUMN 12

struct source_line {
	uint32_t site;           /* of those there the one that took most, */
	double most;             /* ... so much, percent */
	struct interval time, path, gain; /* percent */
	bool asked;              /* the gain is known */
	uint32_t counted_at;     /* a region that is marked elsewhere, too: its first place, which has all; or TR_NO_SITE */
};

/* Without a line by name. */
static int by_place(const struct trace *t, uint32_t x, uint32_t y)
{
	int order = strcmp(t->sites[x].file, t->sites[y].file);
	order = order ? order : (t->sites[x].line > t->sites[y].line) - (t->sites[x].line < t->sites[y].line);
	return order || t->sites[x].line ? order : strcmp(t->sites[x].name, t->sites[y].name);
}

static int lines_by_place(const void *x, const void *y, void *trace)
{
	return by_place(trace, ((const struct source_line *)x)->site, ((const struct source_line *)y)->site);
}

/* ---- What was found -------------------------------------------------------------------------- */

/* Parts of one whole: sums are rounded outwards, but of nothing nothing is added. */
static struct interval add_shares(struct interval x, struct interval y)
{
	if (x.hi == 0 || y.hi == 0)
		return x.hi == 0 ? y : x;
	struct interval sum = interval_add(x, y);
	return (struct interval){ sum.lo < 0 ? 0 : sum.lo < 100 ? sum.lo : 100, sum.hi < 100 ? sum.hi : 100 };
}

static void add_times(struct source_line *of_site, const struct source *s)
{
	frz_time *own = calls_own(s->calls, s->trace);
	for (size_t i = 0; i < s->calls->nflat; i++) {
		uint32_t site = s->calls->flat[i].site;
		if (site < s->trace->nsites)
			of_site[site].time = interval_percent(own[site], s->calls->nodes[0].spread.all.inclusive);
	}
	free(own);
}

static void add_path(struct source_line *of_site, const struct source *s)
{
	for (size_t i = 0; i < s->path->nshares; i++) {
		const struct path_share *share = &s->path->shares[i];
		struct interval part = interval_percent(share->ticks, s->path->length);
		if (share->site < s->trace->nsites)
			of_site[share->site].path = add_shares(of_site[share->site].path, part);
	}
}

static void add_gains(struct source_line *of_site, const struct source *s)
{
	for (size_t i = 0; i < s->profile->nrows; i++) {
		const struct profile_row *row = &s->profile->rows[i];
		for (size_t k = 0; k < s->profile->nreductions && row->site < s->trace->nsites && !row->of_one; k++)
			if (s->profile->reductions[k] == HALF) {
				of_site[row->site].gain = row->gain[COZ_EXPECTED].percent[k];
				of_site[row->site].asked = true;
			}
	}
}

/* Those of one place are one: how many are left. */
static size_t put_together(struct source_line *lines, size_t n, const struct trace *t)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct source_line *last = kept ? &lines[kept - 1] : NULL;
		if (!last || by_place(t, last->site, lines[i].site) != 0) {
			lines[kept++] = lines[i];
			continue;
		}
		if (lines[i].most > last->most) {
			last->site = lines[i].site;
			last->most = lines[i].most;
		}
		last->time = add_shares(last->time, lines[i].time);
		last->path = add_shares(last->path, lines[i].path);
		if (lines[i].asked && (!last->asked || lines[i].gain.hi > last->gain.hi))
			last->gain = lines[i].gain;
		last->asked |= lines[i].asked;
		last->counted_at = last->counted_at == lines[i].counted_at ? last->counted_at : TR_NO_SITE;
	}
	return kept;
}

/* To be freed. */
static struct source_line *find_lines(const struct source *s, size_t *n)
{
	struct source_line *lines = mem_resize(NULL, s->trace->nsites, sizeof *lines);
	for (uint32_t i = 0; i < s->trace->nsites; i++)
		lines[i] = (struct source_line){ .site = i, .counted_at = tr_row(s->trace, i) == i ? TR_NO_SITE : tr_row(s->trace, i) };
	add_times(lines, s);
	add_path(lines, s);
	add_gains(lines, s);
	for (uint32_t i = 0; i < s->trace->nsites; i++)
		lines[i].most = lines[i].time.hi;
	qsort_r(lines, s->trace->nsites, sizeof *lines, lines_by_place, (void *)s->trace);
	*n = put_together(lines, s->trace->nsites, s->trace);
	return lines;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_column(FILE *out, struct interval x, bool known)
{
	struct interval_text text = known && x.hi > 0 ? interval_shown(x, 1) : (struct interval_text){ "" };
	int bytes = (int)strlen(text.text), width = bytes - (strstr(text.text, "±") != NULL); /* which has two */
	fprintf(out, "%*s%s ", width < COLUMN ? COLUMN - width : 0, "", text.text);
}

static void put_columns(FILE *out, const struct source_line *l, const struct trace *t)
{
	const int all = 3 * (COLUMN + 1) - 1;
	if (l->counted_at != TR_NO_SITE) {
		char *where = mem_format("see %s", site_name_within(t, l->counted_at, (size_t)all - strlen("see ")).text);
		fprintf(out, "%*s ", all, where);
		free(where);
		return;
	}
	put_column(out, l->time, true);
	put_column(out, l->path, true);
	put_column(out, l->gain, l->asked);
}

static void put_line(FILE *out, const struct source_line *l, const struct trace *t, uint32_t number, const char *text)
{
	static const struct source_line none = { .counted_at = TR_NO_SITE };
	put_columns(out, l ? l : &none, t);
	if (number)
		fprintf(out, "%6" PRIu32 " | %s\n", number, text);
	else
		fprintf(out, "%6s | %s\n", "-", text);
}

/* Of operations of libraries many could have been recorded, and were not. A region's time may stand at another place of
 * its name. */
static bool is_told(const struct source_line *l, const struct trace *t)
{
	return l->time.hi > 0 || l->path.hi > 0 || tr_is(t, l->site, OP_REGION);
}

/* As they were recorded. */
static void put_recorded(FILE *out, const struct source_line *lines, size_t n, const struct trace *t)
{
	for (size_t i = 0; i < n; i++)
		if (is_told(&lines[i], t))
			put_line(out, &lines[i], t, t->sites[lines[i].site].line,
				 region_name_within(t, lines[i].site, SITE_NAME_ROOM).text);
}

/* With tabs as blanks; whatever else does not belong on a terminal is shown. To be freed. */
static char *readable(const char *text)
{
	char *blanks = mem_resize(NULL, TAB_STOP * strlen(text) + 1, 1);
	size_t n = 0;
	for (; *text; text++)
		do
			blanks[n++] = *text == '\t' ? ' ' : *text;
		while (*text == '\t' && n % TAB_STOP);
	blanks[n] = 0;
	char *shown = shown_copy(blanks);
	free(blanks);
	return shown;
}

static void put_source(FILE *out, FILE *source, const struct source_line *lines, size_t n, const struct trace *t)
{
	char *text = NULL;
	size_t room = 0, next = 0;
	uint32_t number = 1;
	while (next < n && t->sites[lines[next].site].line == 0)
		next++;
	put_recorded(out, lines, next, t);
	for (ssize_t length; (length = getline(&text, &room, source)) >= 0; number++) {
		text[strcspn(text, "\r\n")] = 0;
		while (next < n && t->sites[lines[next].site].line < number)
			next++;
		bool here = next < n && t->sites[lines[next].site].line == number;
		char *shown = readable(text);
		put_line(out, here ? &lines[next] : NULL, t, number, shown);
		free(shown);
	}
	while (next < n && t->sites[lines[next].site].line < number)
		next++;
	put_recorded(out, &lines[next], n - next, t); /* behind the end of what the file is now */
	free(text);
}

static bool any_told(const struct source_line *lines, size_t n, const struct trace *t)
{
	size_t i = 0;
	while (i < n && !is_told(&lines[i], t))
		i++;
	return i < n;
}

static void put_file(FILE *out, const struct source_line *lines, size_t n, const struct trace *t)
{
	const char *name = t->sites[lines->site].file, *why;
	FILE *source = source_open(name, &why);
	fprintf(out, "\n%s%s\n%*s %*s %*s %6s\n", *name ? name : "Of no file", why, COLUMN, "time, %", COLUMN, "path, %",
		COLUMN, "half: -%", "line");
	if (source)
		put_source(out, source, lines, n, t);
	else
		put_recorded(out, lines, n, t);
	if (source)
		fclose(source);
}

/* Those of a file follow each other; those of none are first, and come last. */
static void put_files(FILE *out, const struct source_line *lines, size_t n, const struct trace *t, bool of_none)
{
	for (size_t i = 0, next; i < n; i = next) {
		const char *file = t->sites[lines[i].site].file;
		for (next = i + 1; next < n && strcmp(file, t->sites[lines[next].site].file) == 0;)
			next++;
		if (!*file == of_none && any_told(&lines[i], next - i, t))
			put_file(out, &lines[i], next - i, t);
	}
}

void export_source(FILE *out, const struct source *s)
{
	size_t n;
	struct source_line *lines = find_lines(s, &n);
	fputs("Each line's share of the time of all threads, of each while it was there, and of\n"
	      "the critical path, in percent, and by how much the run is expected to be shorter\n"
	      "if a region there took half as long. A line of several has the dearest's name.\n"
	      "A region that is marked in several places has all of that at the first of them.\n"
	      "Sleeps, input and output count for the region that they are in.\n", out);
	put_files(out, lines, n, s->trace, false);
	put_files(out, lines, n, s->trace, true);
	free(lines);
}

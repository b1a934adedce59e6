/* SPDX-License-Identifier: MIT
 *
 * page_source.c - the program's source around the lines that were recorded, as JSON. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/html/page.h"
#include "analysis/report/source_file.h"

#define AROUND 6     /* lines before and behind one that was recorded */
#define LINES  10000 /* of all files together */
#define ROOM   240   /* bytes of a line */
#define TABS   16

struct source_writer {
	struct json *j;
	const struct trace *trace;
	const uint32_t *sites;   /* that have a line, by place */
	size_t left;             /* lines */
};

static int by_place(const void *x, const void *y, void *sites)
{
	const struct tr_site *all = sites, *a = all + *(const uint32_t *)x, *b = all + *(const uint32_t *)y;
	int order = strcmp(a->file, b->file);
	return order ? order : ORDER(a->line, b->line);
}

/* Of what the file is now: whatever does not belong on a page is shown; but the tabs that it begins with are four spaces. */
static void put_line(const struct source_writer *w, uint32_t number, char *text)
{
	size_t tabs = strspn(text, "\t");
	tabs = tabs < TABS ? tabs : TABS;
	text += tabs;
	text[strcspn(text, "\r\n")] = 0;
	if (strlen(text) > ROOM)
		memcpy(text + ROOM - 3, "...", 4);
	for (char *c = text; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	char *shown = shown_copy(text), *indented = mem_format("%*s%s", 4 * (int)tabs, "", shown);
	jw_integer(w->j, NULL, number);
	jw_string(w->j, NULL, indented);
	free(indented);
	free(shown);
}

static void put_lines(struct source_writer *w, FILE *source, size_t next, size_t end)
{
	char *text = NULL;
	size_t room = 0;
	for (uint32_t number = 1; w->left > 0 && getline(&text, &room, source) >= 0; number++) {
		while (next < end && w->trace->sites[w->sites[next]].line + AROUND < number)
			next++;
		if (next == end)
			break;
		if (number + AROUND < w->trace->sites[w->sites[next]].line)
			continue;
		put_line(w, number, text);
		w->left--;
	}
	free(text);
}

static void put_file(struct source_writer *w, size_t first, size_t end)
{
	const char *name = w->trace->sites[w->sites[first]].file, *why;
	FILE *source = source_open(name, &why);
	jw_object(w->j, NULL);
	jw_string(w->j, "file", name);
	jw_string(w->j, "why", source ? NULL : why);
	jw_array(w->j, "lines");
	if (source) {
		put_lines(w, source, first, end);
		fclose(source);
	}
	jw_end(w->j);
	jw_end(w->j);
}

void page_source(struct json *j, const struct trace *t)
{
	uint32_t *sites = mem_resize(NULL, t->nsites + 1, sizeof *sites);
	struct source_writer w = { j, t, sites, LINES };
	size_t n = 0, next;
	for (uint32_t i = 0; i < t->nsites; i++)
		if (t->sites[i].line && *t->sites[i].file)
			sites[n++] = i;
	qsort_r(sites, n, sizeof *sites, by_place, t->sites);
	jw_array(j, NULL);
	for (size_t i = 0; i < n; i = next) {
		for (next = i + 1; next < n && strcmp(t->sites[sites[i]].file, t->sites[sites[next]].file) == 0;)
			next++;
		put_file(&w, i, next);
	}
	jw_end(j);
	free(sites);
}

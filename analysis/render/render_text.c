/* SPDX-License-Identifier: MIT
 *
 * render_text.c - the page of a reply, for a terminal. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/render/render.h"
#include "analysis/trace/names.h"

#define COLUMNS 80        /* of the page, */
#define LEAST   40        /* on a narrow terminal; */
#define WITH_BARS 100     /* where a terminal has as many, bars stand behind the page, */
#define BAR     40        /* of at most this length */
#define INDENT  2 /* of a table */

struct render_text {
	struct reply reply;      /* the first, so that one is the other */
	FILE *out;
	bool colour;
	size_t columns;          /* of the page */
	size_t bar;              /* length of bars; 0: none are drawn */
};

/* ---- Sentences ------------------------------------------------------------------------------- */

/* Of the word at the begin of a text if it may not begin a line, with the blank before it; or 0. */
static size_t follower(const char *text)
{
	static const char *const followers[] = { "s", "s.", "s,", "%", "%.", "%,", "us.", "GHz." };
	size_t length = *text == ' ' ? strcspn(text + 1, " ") : 0;
	if (length && strncmp(text + 1, "±", strlen("±")) == 0)
		return 1 + length;
	for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
		if (length == strlen(followers[i]) && strncmp(text + 1, followers[i], length) == 0)
			return 1 + length;
	return 0;
}

/* Of a word; a unit stays with its number, and how exact that is. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " "), more;
	while ((more = follower(text + length)) > 0)
		length += more;
	return length;
}

/* Broken between words, with `first` before its first line and as much space before others. */
static void put_wrapped(const struct render_text *r, const char *first, const char *text)
{
	FILE *out = r->out;
	size_t indent = strlen(first), column = indent;
	fputs(first, out);
	while (*text) {
		size_t word = word_length(text), width = shown_width(text, word);
		if (column > indent && column + 1 + width > r->columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)word, text);
		column += width;
		text += word;
		text += strspn(text, " ");
	}
	putc('\n', out);
}

/* Of what is an argument to the shell: it may be quoted, and has blanks then. */
static size_t argument_length(const char *text)
{
	size_t n = 0;
	for (bool quoted = false; text[n] && (quoted || text[n] != ' '); n++) {
		quoted ^= text[n] == '\'';
		n += !quoted && text[n] == '\\' && text[n + 1];
	}
	return n;
}

/* Broken between arguments, where the shell is told that it goes on. */
static void put_command(const struct render_text *r, const char *text)
{
	const size_t indent = strlen("More: "), more = strlen(" \\");
	size_t column = 0;
	while (*text) {
		size_t n = argument_length(text), width = shown_width(text, n), next = n + strspn(text + n, " ");
		if (column > indent && column + 1 + width + (text[next] ? more : 0) > r->columns) {
			fprintf(r->out, " \\\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putc(' ', r->out);
			column++;
		}
		fprintf(r->out, "%.*s%*s", (int)n, text, column == 0 ? (int)(indent - width) : 0, "");
		column += column == 0 ? indent : width;
		text += next;
	}
	putc('\n', r->out);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The text of a cell, which `room` is for, in at most `width` bytes if that can be; or `shown`, which is to be freed: what the user
 * gave, such as a directory. */
static const char *text_of(const struct tab_column *c, const struct tab_cell *cell, size_t width, bool ends,
			   struct site_name *room, char **shown)
{
	struct interval x = cell->interval;
	*room = (struct site_name){ "" };
	switch (cell->type) {
	case TAB_TEXT: return cell->text ? *shown = shown_copy(cell->text) : "";
	case TAB_FLAG: return cell->flag ? "yes" : "no";
	case TAB_VERDICT: return cell->flag ? "proved" : "undecided";
	case TAB_NUMBER: snprintf(room->text, sizeof room->text, "%" PRIu64, cell->number); break;
	case TAB_REAL: snprintf(room->text, sizeof room->text, "%s", ln_real(cell->real).digits); break;
	case TAB_UPPER: snprintf(room->text, sizeof room->text, "%s", interval_upper(cell->upper, c->decimals).text); break;
	case TAB_COUNT: snprintf(room->text, sizeof room->text, "%" PRId64, cell->count); break;
	case TAB_RANGE:
		if (!isfinite(x.lo) || !isfinite(x.hi))
			return "unknown";
		/* fall through */
	case TAB_INTERVAL:
		snprintf(room->text, sizeof room->text, "%s", (ends ? interval_range : interval_shown)(x, c->decimals).text);
		break;
	case TAB_SITE: *room = site_name_within(cell->trace, cell->site, width); break;
	case TAB_ABSENT: break;
	}
	return room->text;
}

/* Writes it where its column begins, or behind what is there; returns where it ends. */
static size_t put_cell(FILE *out, size_t column, size_t at, const struct tab_column *c, const char *text)
{
	size_t width = shown_width(text, strlen(text)), right = c->width < 0 ? (size_t)-c->width : 0;
	if (!width)
		return column;
	at += right > width ? right - width : 0;
	at = column > 0 && at <= column ? column + 1 : at;
	fprintf(out, "%*s%s", (int)(at - column), "", text);
	return at + width;
}

/* Left of the line for a cell that begins at `at`, or behind what ended at `column`. */
static size_t room_behind(const struct render_text *r, size_t column, size_t at)
{
	at = column > 0 && at <= column ? column + 1 : at;
	return at < r->columns ? r->columns - at : 0;
}

/* Of the first share in the row, behind a line that ends at `column`. */
static void put_bar(const struct render_text *r, size_t column, const struct tab_column *c, const struct tab_cell *cells)
{
	while (!tab_is_end(c) && !c->bar) {
		c++;
		cells++;
	}
	if (tab_is_end(c) || !r->bar || column > r->columns || !(cells->interval.hi > 0))
		return;
	double most = (double)r->bar, lo = floor(cells->interval.lo / 100 * most), hi = ceil(cells->interval.hi / 100 * most);
	fprintf(r->out, "%*s", (int)(r->columns + 1 - column), "");
	for (double at = 0; at < fmin(hi, most); at++)
		fputs(at < lo ? "\u2588" : "\u2591", r->out);
}

/* A line of a table, without its end: `cells`, or its titles where that is NULL; of numbers so many decimals at most. Returns
 * where it ends. */
static size_t put_cells(FILE *out, const struct render_text *r, const struct tab_column *c,
			const struct tab_cell *cells, int decimals)
{
	size_t column = 0, at = INDENT;
	for (size_t i = 0; !tab_is_end(&c[i]); i++) {
		struct site_name room;
		struct tab_column as = c[i];
		char *shown = NULL;
		if (!c[i].title)
			continue;
		bool last = tab_is_end(&c[i + 1]);
		size_t width = (size_t)abs(c[i].width);
		at += (size_t)c[i].gap;
		as.decimals = as.decimals < decimals ? as.decimals : decimals;
		const char *text = !cells ? c[i].title
					  : text_of(&as, &cells[i], last ? room_behind(r, column, at) : SITE_NAME_ROOM,
						    r->reply.ends, &room, &shown);
		if (cells && c[i].alone && shown_width(text, strlen(text)) > width)
			fprintf(out, "%*s%s\n", (int)at, "", text);
		else
			column = put_cell(out, column, at, &c[i], text);
		free(shown);
		at += width + 1;
	}
	return column;
}

/* As many decimals as there is room for where both ends of intervals are shown: long spans of time have many digits before them. */
static int decimals_within(const struct render_text *r, const struct tab_column *c, const struct tab_cell *cells)
{
	int decimals = 0;
	for (const struct tab_column *column = c; !tab_is_end(column); column++)
		decimals = column->decimals > decimals ? column->decimals : decimals;
	for (bool fits = !r->reply.ends; !fits && decimals > 0; decimals -= !fits) {
		char *line = NULL;
		size_t size;
		FILE *out = mem_stream(&line, &size);
		fits = put_cells(out, r, c, cells, decimals) <= r->columns;
		mem_stream_close(out);
		free(line);
	}
	return decimals;
}

static void put_line(const struct render_text *r, const struct tab_column *c, const struct tab_cell *cells)
{
	size_t column = put_cells(r->out, r, c, cells, cells ? decimals_within(r, c, cells) : 0);
	if (cells)
		put_bar(r, column, c, cells);
	putc('\n', r->out);
}

/* ---- The page -------------------------------------------------------------------------------- */

static void say(struct reply *reply, enum reply_kind kind, const char *text)
{
	static const char *const before[] = {
		[SAY_INDENTED] = "  ", [SAY_DETAIL] = "               ", [SAY_NOTE] = "note: ", [SAY_ITEM] = "- "
	};
	const struct render_text *r = (const struct render_text *)reply;
	switch (kind) {
	case SAY_TEXT: put_wrapped(r, "", text); break;
	case SAY_LINE: fprintf(r->out, "%s\n", text); break;
	case SAY_COMMAND: put_command(r, text); break;
	case SAY_HEADING: fprintf(r->out, r->colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text); break;
	case SAY_ADVICE:
		fputs(r->colour ? "\033[1;32m" : "", r->out);
		put_wrapped(r, "", text);
		fputs(r->colour ? "\033[0m" : "", r->out);
		break;
	default: put_wrapped(r, before[kind], text); break;
	}
}

/* Whether a table is for people, and whether it needs a line of titles. */
static void look_at_titles(const struct tab_column *columns, bool *any, bool *line)
{
	*any = *line = false;
	for (const struct tab_column *c = columns; !tab_is_end(c); c++) {
		*any |= c->title != NULL;
		*line |= c->title && *c->title;
	}
}

static void row(struct reply *reply, const struct tab_cell *cells)
{
	const struct tab_open *t = &reply->tables[reply->depth - 1];
	const struct render_text *r = (const struct render_text *)reply;
	bool any, line;
	look_at_titles(t->columns, &any, &line);
	if (!any || t->rows >= t->most)
		return;
	if (line && t->rows == 0)
		put_line(r, t->columns, NULL);
	put_line(r, t->columns, cells);
}

/* Narrower than the page is shown; wider leaves room for bars. */
struct reply *render_text(FILE *out, struct text_style style)
{
	static const struct renderer text = { .say = say, .row = row };
	struct render_text *r = mem_resize(NULL, 1, sizeof *r);
	*r = (struct render_text){ { .renderer = &text, .page = true, .ends = style.ends }, out, style.colour, COLUMNS, 0 };
	if (style.columns && style.columns < COLUMNS)
		r->columns = style.columns > LEAST ? style.columns : LEAST;
	if (style.columns >= WITH_BARS)
		r->bar = style.columns - COLUMNS - 2 < BAR ? style.columns - COLUMNS - 2 : BAR;
	return &r->reply;
}

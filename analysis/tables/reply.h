/* SPDX-License-Identifier: MIT
 *
 * reply.h - what a command has to say: typed values, tables of them, and sentences. Nothing here prints.
 *
 * A reply is given piece by piece to a renderer (analysis/render). Some pieces are *data*: a value with a key, or a table
 * with a key. Others are of the *page* that people read: sentences, headings, and tables whose columns have titles. A
 * renderer takes what it is for and leaves out the rest, so an analysis says both and knows neither:
 *
 *	static const struct tab_column columns[] = {
 *		TAB_KEY("rank"), TAB_SHOWN("length_s", "seconds", 22, 9), TAB_SHOWN("verdict", ""), { 0 } };
 *	reply_table(r, "visits", columns, 10);
 *	for (size_t i = 0; i < n; i++)
 *		reply_row(r, tab_count(rank[i]), tab_interval(length[i]), tab_verdict(proved[i]));
 *	reply_end(r);
 *	reply_say(r, SAY_TEXT, "%s was the longest.", name);
 *
 * Until the next row, or the end, a table may be begun within a row, and a value be given to it. A key "width_s.min" is
 * the member "min" of an object "width_s"; members of one object follow each other. A table whose keys are "" has bare
 * values, or lists of them where it has several.
 *
 * Law: a renderer of data gives back every value that is not absent, with its key, in order, and an interval within one that
 * contains it; a renderer of the page gives back every sentence and the first `most` rows of each table with titles. */
#ifndef ANALYSIS_REPLY_H
#define ANALYSIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/interval.h"
#include "analysis/trace/trace.h"

/* ---- Cells ----------------------------------------------------------------------------------- */

struct tab_cell {
	enum tab_type {
		TAB_ABSENT,
		TAB_TEXT,        /* or NULL */
		TAB_COUNT,
		TAB_NUMBER,      /* of all 64 bits: as JSON a text from 2^63 on, which few readers take as a number */
		TAB_FLAG,        /* to people "yes" or "no" */
		TAB_VERDICT,     /* "proved" or "undecided" */
		TAB_INTERVAL,    /* to people with as many decimals as matter (interval_shown) */
		TAB_RANGE,       /* likewise, but "unknown" if it has no end */
		TAB_REAL,        /* a number as it is; no bound */
		TAB_UPPER,       /* an upper bound; infinite is null */
		TAB_SITE,        /* its name, "file" and "line"; without a place its name alone; TR_NO_SITE is absent */
	} type;
	union {
		const char *text;
		int64_t count;
		uint64_t number;
		bool flag;
		double upper, real;
		struct interval interval;
		struct { const struct trace *trace; uint32_t site; };
	};
};

#define TAB_NONE ((struct tab_cell){ TAB_ABSENT })

static inline struct tab_cell tab_text(const char *text) { return (struct tab_cell){ TAB_TEXT, .text = text }; }
static inline struct tab_cell tab_count(int64_t count) { return (struct tab_cell){ TAB_COUNT, .count = count }; }
static inline struct tab_cell tab_number(uint64_t number) { return (struct tab_cell){ TAB_NUMBER, .number = number }; }
static inline struct tab_cell tab_flag(bool flag) { return (struct tab_cell){ TAB_FLAG, .flag = flag }; }
static inline struct tab_cell tab_verdict(bool proved) { return (struct tab_cell){ TAB_VERDICT, .flag = proved }; }
static inline struct tab_cell tab_interval(struct interval x) { return (struct tab_cell){ TAB_INTERVAL, .interval = x }; }
static inline struct tab_cell tab_range(struct interval x) { return (struct tab_cell){ TAB_RANGE, .interval = x }; }
static inline struct tab_cell tab_real(double x) { return (struct tab_cell){ TAB_REAL, .real = x }; }
static inline struct tab_cell tab_upper(double x) { return (struct tab_cell){ TAB_UPPER, .upper = x }; }

static inline struct tab_cell tab_site(const struct trace *trace, uint32_t site)
{
	return (struct tab_cell){ TAB_SITE, .trace = trace, .site = site };
}

/* Of the process of a thread that has no rank. */
static inline struct tab_cell tab_pid(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	return t->rank < 0 ? tab_count((int64_t)trace->processes[t->process].pid) : TAB_NONE;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

struct tab_column {              /* zeros end a list of them */
	const char *key;         /* NULL: not among the data */
	const char *title;       /* NULL: not shown to people; where it is "", the one before may go on */
	int width;               /* in characters, at least; negative: on the right */
	int decimals;
	int gap;                 /* blanks before it, beside the one between columns */
	bool alone;              /* what is wider stands in a line of its own, above its row */
	bool bar;                /* percent, of which a wide terminal shows a bar */
	bool whole;              /* a point in the key is a character like others; then of all columns of the table */
};

#define TAB_KEY(key_)                { .key = (key_) }
#define TAB_SHOWN(key_, title_, ...) { .key = (key_), .title = (title_), __VA_ARGS__ }

static inline bool tab_is_end(const struct tab_column *c) { return !c->key && !c->title; }

struct tab_open {                /* a table that is being written */
	const char *key;         /* NULL: not among the data */
	const struct tab_column *columns;
	size_t most, rows;       /* so many are shown; so many were given */
};

/* ---- Replies --------------------------------------------------------------------------------- */

enum reply_kind {
	SAY_TEXT,                /* in lines of 80 columns */
	SAY_INDENTED,            /* likewise, two blanks before each */
	SAY_DETAIL,              /* of the row above */
	SAY_NOTE,                /* after "note: " */
	SAY_ITEM,                /* of a list: after "- " */
	SAY_ADVICE,              /* what matters most */
	SAY_LINE,                /* one line, however long */
	SAY_COMMAND,             /* "More: " and a command that the shell takes as it is, however it is broken */
	SAY_HEADING,             /* after an empty line */
};

#define TAB_DEPTH 4

struct reply {
	const struct renderer *renderer;
	bool data, page;         /* what it takes; what costs time to find need not be found for nobody */
	bool ends;               /* intervals are written by both ends, with all decimals for which a line has room:
				    with -v, and among data */
	struct tab_open tables[TAB_DEPTH]; /* the innermost last */
	size_t depth;
};

struct renderer {                /* NULL: of no use to it */
	void (*value)(struct reply *, const char *key, struct tab_cell);
	void (*say)(struct reply *, enum reply_kind, const char *text);
	void (*begin)(struct reply *); /* the innermost table, and so on */
	void (*row)(struct reply *, const struct tab_cell *);
	void (*end)(struct reply *);
	void (*close)(struct reply *);
};

void reply_close(struct reply *); /* one that a renderer has begun */

/* Data, of the row that is open if there is one. Nothing outlives the call but keys and columns until the end of their
 * table. */
void reply_value(struct reply *, const char *key, struct tab_cell);
void reply_texts(struct reply *, const char *key, char *const *texts, size_t count);

/* A table, which within a row is no more than that row is. Without a key it is not among the data; people see at most
 * `most` of its rows. */
void reply_table(struct reply *, const char *key, const struct tab_column *, size_t most);
void reply_cells(struct reply *, const struct tab_cell *, size_t count);
void reply_end(struct reply *);
#define reply_row(r, ...)                                                                          \
	reply_cells((r), (const struct tab_cell[]){ __VA_ARGS__ },                                 \
		    sizeof(struct tab_cell[]){ __VA_ARGS__ } / sizeof(struct tab_cell))

/* The page. */
void reply_say(struct reply *, enum reply_kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void reply_gap(struct reply *);  /* an empty line */

/* An interval in a sentence, in the notation of the reply. */
struct interval_text reply_interval(const struct reply *, struct interval, int decimals);

#endif

/* SPDX-License-Identifier: MIT
 *
 * results.c - see results.h. A command is given a reply whose renderer keeps what it wants of it. */
#include "analysis/sql/results.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

struct results_value {
	enum { NOTHING, WHOLE, REAL, TEXT, INTERVAL } type;
	union {
		int64_t whole;
		double real;
		char *text;          /* its own */
		struct interval interval;
	};
};

struct column { char *key; bool interval; };

struct results_kept {                        /* a table */
	const struct sql_result *what;
	struct sql_results *all;
	struct sql_table table;
	struct column *columns; size_t ncolumns;
	size_t *of_sql; size_t nsql; /* column of each that SQL has; of an interval it has two */
	struct results_value *rows; size_t nrows; /* ncolumns for each */
	bool run, there;             /* its command was; it has said something */
	/* while that runs: */
	size_t depth, within;        /* of the table in the reply; so many of the open ones lead to it */
	struct results_value *level[TAB_DEPTH + 1]; /* of the row of each of these */
	bool pending;                /* the innermost is a row that may go on */
};

struct sql_results {
	const struct sql_world *world;
	struct options options;
	struct results_kept *kept; size_t nkept;
};

/* ---- Columns --------------------------------------------------------------------------------- */

static void add_sql_column(struct results_kept *k, size_t column)
{
	*MEM_GROW(k->of_sql, k->nsql) = column;
}

/* "caused_by.rank" -> "caused_by_rank"; to be freed. */
static char *sql_name(const char *key)
{
	char *name = mem_copy(key);
	for (char *at = name; (at = strchr(at, '.'));)
		*at = '_';
	return name;
}

/* "KEY~": an interval; "KEY$": a text. Adds to the list of columns that SQL sees. */
static char *declare(struct results_kept *k, char *list, const char *word, size_t length)
{
	char kind = word[length - 1];
	char *key = mem_format("%.*s", (int)(length - (kind == '~' || kind == '$')), word), *name = sql_name(key);
	const char *comma = *list ? ", " : "";
	char *longer = kind == '~' ? mem_format("%s%s\"%s_lo\" REAL, \"%s_hi\" REAL", list, comma, name, name)
				   : mem_format("%s%s\"%s\"%s", list, comma, name, kind == '$' ? " TEXT" : " NUMERIC");
	add_sql_column(k, k->ncolumns);
	if (kind == '~')
		add_sql_column(k, k->ncolumns);
	*MEM_GROW(k->columns, k->ncolumns) = (struct column){ key, kind == '~' };
	free(name);
	free(list);
	return longer;
}

static char *declare_all(struct results_kept *k)
{
	char *list = mem_copy("");
	for (const char *word = k->what->keys; *word;) {
		size_t length = strcspn(word, " ");
		list = declare(k, list, word, length);
		word += length + (word[length] == ' ');
	}
	return list;
}

/* ---- What is kept of a reply ----------------------------------------------------------------- */

struct collector {
	struct reply reply;      /* the first, so that one is the other */
	struct sql_results *all;
	int (*run)(struct trace *, const struct options *, struct reply *);
	size_t before;           /* diagnostics of the trace */
};

#define FOR_EACH_KEPT(k, reply)                                                                    \
	for (struct results_kept *k = ((struct collector *)(reply))->all->kept,                            \
			 *end_ = k + ((struct collector *)(reply))->all->nkept;                    \
	     k < end_; k++)                                                                        \
		if (k->what->run == ((struct collector *)(reply))->run)

static void forget(struct results_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].type == TEXT)
			free(values[i].text);
	for (size_t i = 0; i < count; i++)
		values[i] = (struct results_value){ NOTHING };
}

static void set(struct results_kept *k, size_t level, const char *key, struct results_value value)
{
	for (size_t i = 0; i < k->ncolumns; i++)
		if (strcmp(k->columns[i].key, key) == 0) {
			forget(&k->level[level][i], 1);
			k->level[level][i] = value;
			k->pending |= level == k->depth;
			return;
		}
	forget(&value, 1);
}

static struct results_value text_value(const char *text)
{
	return text ? (struct results_value){ TEXT, .text = mem_copy(text) } : (struct results_value){ NOTHING };
}

static struct results_value value_of(const struct tab_cell *c)
{
	switch (c->type) {
	case TAB_TEXT: return text_value(c->text);
	case TAB_COUNT: return (struct results_value){ WHOLE, .whole = c->count };
	case TAB_NUMBER: return (struct results_value){ WHOLE, .whole = (int64_t)c->number };
	case TAB_FLAG: return (struct results_value){ WHOLE, .whole = c->flag };
	case TAB_VERDICT: return text_value(c->flag ? "proved" : "undecided");
	case TAB_INTERVAL:
	case TAB_RANGE: return (struct results_value){ INTERVAL, .interval = c->interval };
	case TAB_UPPER: return (struct results_value){ REAL, .real = c->upper };
	case TAB_REAL: return (struct results_value){ REAL, .real = c->real };
	default: return (struct results_value){ NOTHING };
	}
}

/* A site is its name, "file" and "line", the last two as members of the same object. */
static void set_site(struct results_kept *k, size_t level, const char *key, const struct tab_cell *c)
{
	const char *point = strrchr(key, '.');
	int prefix = point ? (int)(point + 1 - key) : 0;
	bool placed = c->site < c->trace->nsites;
	const struct tr_site *site = placed ? &c->trace->sites[c->site] : NULL;
	char *file = mem_format("%.*sfile", prefix, key), *line = mem_format("%.*sline", prefix, key);
	set(k, level, key, text_value(placed ? site->name : site_name(c->trace, c->site).text));
	if (placed) {
		set(k, level, file, text_value(site->file));
		set(k, level, line, (struct results_value){ WHOLE, .whole = site->line });
	}
	free(file);
	free(line);
}

static void set_cell(struct results_kept *k, size_t level, const char *key, const struct tab_cell *c)
{
	if (c->type != TAB_SITE)
		set(k, level, key, value_of(c));
	else if (c->site != TR_NO_SITE)
		set_site(k, level, key, c);
}

static struct results_value copied(const struct results_value *v)
{
	return v->type == TEXT ? text_value(v->text) : *v;
}

/* The innermost row, with what is around it. */
static void add_row(struct results_kept *k)
{
	if (!k->pending)
		return;
	for (size_t i = 0; i < k->ncolumns; i++) {
		size_t level = k->depth;
		while (level > 0 && k->level[level][i].type == NOTHING)
			level--;
		size_t at = k->nrows * k->ncolumns + i;
		*MEM_GROW(k->rows, at) = copied(&k->level[level][i]);
	}
	k->nrows++;
	k->pending = false;
}

static void keep_value(struct reply *reply, const char *key, struct tab_cell cell)
{
	FOR_EACH_KEPT(k, reply)
		if (k->within == reply->depth) {
			set_cell(k, reply->depth, key, &cell);
			k->there |= k->depth == 0 && k->pending;
		}
}

/* Whether the table that is open so deep is the one on the way to ours. */
static bool leads(const struct results_kept *k, const struct reply *reply)
{
	const char *key = reply->tables[reply->depth - 1].key, *at = k->what->path;
	if (k->within != reply->depth - 1 || reply->depth > k->depth || !key)
		return false;
	for (size_t i = 0; i < k->within; i++)
		at = strchr(at, '/') + 1;
	size_t length = strcspn(at, "/");
	return strlen(key) == length && strncmp(at, key, length) == 0;
}

static void keep_begin(struct reply *reply)
{
	FOR_EACH_KEPT(k, reply)
		if (leads(k, reply)) {
			k->within++;
			k->there |= k->within == k->depth;
		}
}

static void keep_row(struct reply *reply, const struct tab_cell *cells)
{
	const struct tab_column *columns = reply->tables[reply->depth - 1].columns;
	FOR_EACH_KEPT(k, reply) {
		if (k->within != reply->depth)
			continue;
		if (k->depth == reply->depth)
			add_row(k);
		forget(k->level[reply->depth], k->ncolumns);
		for (size_t i = 0; !tab_is_end(&columns[i]); i++)
			if (columns[i].key)
				set_cell(k, reply->depth, columns[i].key, &cells[i]);
	}
}

static void keep_end(struct reply *reply)
{
	FOR_EACH_KEPT(k, reply)
		if (k->within == reply->depth) {
			if (k->depth == reply->depth)
				add_row(k);
			forget(k->level[reply->depth], k->ncolumns);
			k->within--;
		}
}

static void begin_keeping(struct results_kept *k)
{
	k->depth = *k->what->path != 0;
	for (const char *at = k->what->path; (at = strchr(at, '/')); at++)
		k->depth++;
	for (size_t i = 0; i <= k->depth; i++) {
		k->level[i] = mem_zeroed(k->ncolumns, sizeof **k->level);
	}
}

static void end_keeping(struct results_kept *k)
{
	add_row(k);
	for (size_t i = 0; i <= k->depth; i++) {
		forget(k->level[i], k->ncolumns);
		free(k->level[i]);
	}
	k->run = true;
}

static struct collector *begin_command(struct sql_results *all, const struct sql_result *what)
{
	static const struct renderer keeps = { .value = keep_value, .begin = keep_begin, .row = keep_row, .end = keep_end };
	struct collector *c = mem_resize(NULL, 1, sizeof *c);
	*c = (struct collector){ .reply = { .renderer = &keeps, .data = true, .ends = true }, .all = all, .run = what->run,
				 .before = all->world->trace->ndiagnostics };
	FOR_EACH_KEPT(k, c)
		begin_keeping(k);
	return c;
}

static void end_command(struct collector *c)
{
	struct trace *trace = c->all->world->trace;
	size_t before = c->before;
	FOR_EACH_KEPT(k, c)
		end_keeping(k);
	reply_close(&c->reply);
	trace_forget_repeated(trace, before);
}

static void run_command(struct sql_results *all, const struct sql_result *what)
{
	struct collector *c = begin_command(all, what);
	what->run(all->world->trace, &all->options, &c->reply);
	end_command(c);
}

/* ---- Several commands at once ---------------------------------------------------------------- */

struct results_together { struct sql_results *all; struct collector *collector; };

static struct reply *begin_together(void *to, const char *command)
{
	struct results_together *t = to;
	size_t i = 0;
	while (strcmp(t->all->kept[i].what->command, command) != 0)
		i++;
	t->collector = begin_command(t->all, t->all->kept[i].what);
	return &t->collector->reply;
}

static void end_together(void *to)
{
	end_command(((struct results_together *)to)->collector);
}

void sql_results_run(struct sql_results *all, sql_answer_together *answer)
{
	struct results_together t = { .all = all };
	answer(all->world->trace, all->world->times, &all->options, &(struct sql_together){ begin_together, end_together, &t });
}

/* ---- Rows for SQLite ------------------------------------------------------------------------- */

struct results_cursor {
	const struct results_kept *kept;
	size_t row;              /* behind the one that it is at */
};

static void *open_rows(const struct sql_world *world, const struct sql_table *table, char **error)
{
	struct results_kept *k = table->about;
	(void)world;
	if (!k->run)
		run_command(k->all, k->what);
	if (!k->there) {
		*error = sqlite3_mprintf("nothing is known of %s; dprof-analyze %s says why", k->what->name, k->what->command);
		return NULL;
	}
	struct results_cursor *c = mem_resize(NULL, 1, sizeof *c);
	*c = (struct results_cursor){ .kept = k };
	return c;
}

static void rewind_rows(void *rows, int64_t number)
{
	(void)number;
	((struct results_cursor *)rows)->row = 0;
}

static bool next_row(void *rows)
{
	struct results_cursor *c = rows;
	return c->row < c->kept->nrows && ++c->row;
}

static void put_value(const void *rows, int column, sqlite3_context *to)
{
	const struct results_cursor *c = rows;
	const struct results_kept *k = c->kept;
	size_t of = k->of_sql[column];
	const struct results_value *v = &k->rows[(c->row - 1) * k->ncolumns + of];
	bool second = column > 0 && k->of_sql[column - 1] == of;
	switch (v->type) {
	case NOTHING: break;
	case WHOLE: sqlite3_result_int64(to, v->whole); break;
	case REAL: sqlite3_result_double(to, v->real); break;
	case TEXT: sql_put_text(to, v->text); break;
	case INTERVAL: (second ? sql_put_hi : sql_put_lo)(to, v->interval); break;
	}
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct sql_results *sql_results_open(const struct sql_result *what, size_t count, const struct sql_world *world,
				     const struct options *options)
{
	struct sql_results *all = mem_resize(NULL, 1, sizeof *all);
	*all = (struct sql_results){ .world = world, .options = *options };
	all->options.matches_again = true;
	all->kept = mem_resize(NULL, count, sizeof *all->kept);
	all->nkept = count;
	for (size_t i = 0; i < count; i++) {
		struct results_kept *k = &all->kept[i];
		*k = (struct results_kept){ .what = &what[i], .all = all };
		char *columns = declare_all(k);
		k->table = (struct sql_table){ what[i].name, columns, .open = open_rows, .rewind = rewind_rows, .next = next_row,
					       .column = put_value, .close = free, .about = k };
	}
	return all;
}

static void close_kept(struct results_kept *k)
{
	forget(k->rows, k->nrows * k->ncolumns);
	for (size_t i = 0; i < k->ncolumns; i++)
		free(k->columns[i].key);
	free(k->columns);
	free(k->of_sql);
	free(k->rows);
	free((char *)k->table.columns);
}

void sql_results_close(struct sql_results *all)
{
	for (size_t i = 0; i < all->nkept; i++)
		close_kept(&all->kept[i]);
	free(all->kept);
	free(all);
}

size_t sql_results_count(const struct sql_results *all)
{
	return all->nkept;
}

const struct sql_table *sql_results_table(const struct sql_results *all, size_t i)
{
	return &all->kept[i].table;
}

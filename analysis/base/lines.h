/* SPDX-License-Identifier: MIT
 *
 * lines.h - reads files of lines "word value... key=value...", as tables describe them.
 *
 * The text form of a trace and the process files are such files; each has one table of what its
 * lines may say. Strings are written with %XX for the bytes that would end them.
 *
 * Law: a line is understood whole, or refused with one message that says what was expected and
 * what was found. Whatever the bytes, nothing else happens. */
#ifndef ANALYSIS_LINES_H
#define ANALYSIS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ln_type {
	LN_END,    /* no more fields */
	LN_NUMBER, /* unsigned, 64 bits; hexadecimal with 0x */
	LN_REAL,   /* a positive, finite decimal */
	LN_STRING,
	LN_WORD,   /* exactly the field's own name */
};

enum ln_where {
	LN_HERE,   /* by its position, before all keys */
	LN_KEY,    /* name=value, in any order, may be left out */
	LN_NEEDED, /* name=value that must be there */
};

struct ln_field {
	const char *name;
	enum ln_type type;
	enum ln_where where;
};

#define LN_FORMS 40
#define LN_FIELDS 21 /* at most, in a form */
struct ln_form {
	const char *word;
	struct ln_field fields[LN_FIELDS + 1];
};

struct ln_value {
	bool given;
	uint64_t number;
	double real;
	char *string;
};

struct ln_line {
	int form;                        /* index in the table; -1: an empty line */
	struct ln_value value[LN_FIELDS]; /* in the order of the form's fields */
};

/* Reads `line`, which it changes and into which the strings of *out point. NULL, or what is
 * wrong with it (to be freed). */
char *ln_parse(const struct ln_form *forms, size_t nforms, char *line, struct ln_line *out);

/* Cuts off a comment: '#' where a word could begin, and the rest of the line. */
void ln_uncomment(char *line);

/* One piece at a time: the next word of *at, NUL-terminated in place; NULL at the end of the
 * line. */
char *ln_word(char **at);
bool ln_number(const char *word, uint64_t *number);

/* Numbers separated by commas: takes the first one off *list. False when there is none left;
 * *wrong then tells whether that is because something else stood there. */
bool ln_list_next(const char **list, uint64_t *number, bool *wrong);

/* With %XX where a word cannot have what stands there. */
void ln_escaped(FILE *out, const char *string);

/* As few digits as give the same number back. */
struct ln_real { char digits[32]; };
struct ln_real ln_real(double);
/* Writes the fewest digits that give the same number back. */
void ln_put_real(FILE *out, double number);

/* Found text as a message can show it: quoted, printable, not too long. To be freed. */
char *ln_quote(const char *found);

#endif

/* SPDX-License-Identifier: MIT
 *
 * notes.c - diagnostics and notes, one below the other. */
#include "analysis/report/notes.h"

#include <string.h>

#define COLUMNS 80
#define SHOWN   20 /* all are in the JSON form */

/* Of a word; a unit stays with its number. */
static size_t word_length(const char *text)
{
	static const char *const units[] = { "s", "s.", "s,", "%", "%.", "%,", "GHz." };
	size_t length = strcspn(text, " "), next = text[length] ? strcspn(text + length + 1, " ") : 0;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (next == strlen(units[i]) && strncmp(text + length + 1, units[i], next) == 0)
			return length + 1 + next;
	return length;
}

void print_wrapped(const char *first, const char *text)
{
	size_t indent = strlen(first), column = indent;
	fputs(first, stdout);
	while (*text) {
		size_t word = word_length(text);
		if (column > indent && column + 1 + word > COLUMNS) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)word, text);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

void notes_damage(size_t diagnostics)
{
	if (diagnostics)
		printf("Damaged: %zu problem%s (dprof-analyze check); nothing %s may change is proved.\n",
		       diagnostics, diagnostics > 1 ? "s" : "", diagnostics > 1 ? "they" : "it");
}

void notes_print(const struct trace *trace)
{
	for (size_t i = 0; i < trace->nnotes && i < SHOWN; i++)
		print_wrapped("note: ", trace->notes[i]);
	if (trace->nnotes > SHOWN)
		printf("note: %zu more, see --json\n", trace->nnotes - SHOWN);
}

static void json_all(struct json *j, const char *key, char *const *texts, size_t count)
{
	jw_array(j, key);
	for (size_t i = 0; i < count; i++)
		jw_string(j, NULL, texts[i]);
	jw_end(j);
}

void notes_json(struct json *j, const struct trace *trace)
{
	json_all(j, "problems", trace->diagnostics, trace->ndiagnostics);
	json_all(j, "notes", trace->notes, trace->nnotes);
}

/* SPDX-License-Identifier: MIT
 *
 * cases.c - programs that show one thing after another, each by its name. */
#include "examples/common/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/pace.h"

#define MS        1000000L /* ns */
#define MOST_MS   100000L
#define LATE_MS   100L
#define EXIT_USED 2

static void print_help(const char *program, const struct example_case *cases, const char *about)
{
	printf("Usage: %s [--late MS] [CASE...]\n%s\nThe work for which another one waits takes MS milliseconds (%ld). "
	       "Cases, all if none is named:\n", program, about, LATE_MS);
	for (; cases->name; cases++)
		printf("  %-16s %s\n", cases->name, cases->what);
}

static void refuse(bool speaks, const char *expected, const char *found)
{
	if (speaks)
		fprintf(stderr, "expected %s, found \"%s\"\n", expected, found);
	exit(EXIT_USED);
}

static int64_t milliseconds(const char *text, bool speaks)
{
	char *end;
	long ms = strtol(text, &end, 10);
	if (end == text || *end || ms < 1 || ms > MOST_MS)
		refuse(speaks, "--late with 1 to 100000 milliseconds", text);
	return ms * MS;
}

static size_t number_of(const struct example_case *cases, const char *name, bool speaks)
{
	size_t i = 0;
	while (cases[i].name && strcmp(cases[i].name, name) != 0)
		i++;
	if (!cases[i].name)
		refuse(speaks, "a case (--help lists them)", name);
	return i;
}

void cases_run(int argc, char **argv, const struct example_case *cases, const char *about, bool speaks)
{
	uint64_t wanted = 0; /* a bit for each case */
	int64_t ns = LATE_MS * MS;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			if (speaks)
				print_help(argv[0], cases, about);
			exit(0);
		} else if (strcmp(argv[i], "--late") == 0) {
			ns = milliseconds(i + 1 < argc ? argv[i + 1] : "", speaks);
			i++;
		} else {
			wanted |= UINT64_C(1) << number_of(cases, argv[i], speaks);
		}
	}
	for (size_t i = 0; cases[i].name; i++)
		if (!wanted || wanted >> i & 1)
			cases[i].run(ns);
}

void case_work(int64_t ns)
{
	pace_until(pace_now() + ns);
}

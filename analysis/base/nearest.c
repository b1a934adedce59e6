/* SPDX-License-Identifier: MIT
 *
 * nearest.c - see nearest.h. The distance is Damerau's: letters inserted, left out, replaced,
 * swapped. */
#include "analysis/base/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST 64

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Changes between a and b; SIZE_MAX when one is too long to be a name. */
static size_t distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t d[LONGEST + 1][LONGEST + 1];
	if (na > LONGEST || nb > LONGEST)
		return SIZE_MAX;
	for (size_t i = 0; i <= na; i++) {
		for (size_t j = 0; j <= nb; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[na][nb];
}

#define LEAST_OF_WORD 3

/* Who writes less than the whole name has made no mistake in it. */
static bool is_begin(const char *misspelt, const char *name)
{
	size_t n = strlen(misspelt);
	return n >= LEAST_OF_WORD && strncmp(misspelt, name, n) == 0;
}

const char *nearest(const char *misspelt, const char *const *names, size_t count)
{
	const char *best = NULL;
	size_t fewest = SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		size_t changes = is_begin(misspelt, names[i]) ? 0 : distance(misspelt, names[i]);
		if (changes < fewest && 3 * changes <= strlen(names[i]) + 2) {
			fewest = changes;
			best = names[i];
		}
	}
	return best;
}

/* SPDX-License-Identifier: MIT
 *
 * otf2_anchor.c - what stands in an anchor file before the library reads it, which would compute without end where a number in
 * it is damaged.
 *
 *   bytes 0 .. 45   two of the buffer, of which the second says the order of bytes; "OTF2", formats, versions, sizes, counts
 *   strings         machine, creator, description: each ends with a 0
 *   4 bytes         number of properties
 *   strings         name and value of each
 *   ...             the trace's number, and what else is counted
 *
 * Law: a file that the library reads to its end passes. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/otf2/otf2_private.h"
#include "freezer/regular.h"

enum { HEAD = 46, STRINGS = 3, NUMBER = 4, LEAST_PROPERTY = 2 /* bytes: two empty strings */ };
#define LITTLE_ENDIAN_MARK 'B'
#define ANCHOR_MOST (1 << 24) /* bytes that are looked at */

struct anchor { const char *path; unsigned char *bytes; size_t n, at; };

static char *wrong_at(const struct anchor *a, size_t at, const char *expected)
{
	return mem_format("%s: offset %zu of the anchor file: expected %s", a->path, at, expected);
}

/* Goes on behind a string. */
static bool pass_string(struct anchor *a)
{
	const unsigned char *end = memchr(a->bytes + a->at, 0, a->n - a->at);
	if (end)
		a->at = (size_t)(end - a->bytes) + 1;
	return end != NULL;
}

static uint32_t number_at(const struct anchor *a, size_t at)
{
	uint32_t number = 0;
	for (size_t i = 0; i < NUMBER; i++)
		number = number << 8 | a->bytes[at + (a->bytes[1] == LITTLE_ENDIAN_MARK ? NUMBER - 1 - i : i)];
	return number;
}

static char *wrong_in(struct anchor *a)
{
	if (a->n < HEAD || memcmp(a->bytes + 2, "OTF2", 4) != 0)
		return NULL; /* the library says so */
	a->at = HEAD;
	for (size_t i = 0; i < STRINGS; i++)
		if (!pass_string(a))
			return wrong_at(a, a->at, "a string (machine, creator or description), found none that ends");
	if (a->n - a->at < NUMBER)
		return wrong_at(a, a->at, "the number of properties, found the end of the file");
	size_t at = a->at;
	uint32_t properties = number_at(a, at);
	a->at += NUMBER;
	if (properties > (a->n - a->at) / LEAST_PROPERTY) {
		char *expected = mem_format("a number of properties for which there is room, at most %zu, found %" PRIu32,
					    (a->n - a->at) / LEAST_PROPERTY, properties);
		char *wrong = wrong_at(a, at, expected);
		free(expected);
		return wrong;
	}
	for (uint32_t i = 0; i < 2 * properties; i++)
		if (!pass_string(a))
			return wrong_at(a, a->at, "the name or the value of a property, found none that ends");
	return NULL;
}

char *otf2_anchor_wrong(const char *path)
{
	const char *found;
	int fd = frz_open_regular(AT_FDCWD, path, &found);
	if (fd < 0)
		return NULL; /* likewise */
	struct anchor a = { .path = path, .bytes = mem_resize(NULL, ANCHOR_MOST, 1) };
	for (ssize_t got; a.n < ANCHOR_MOST && (got = read(fd, a.bytes + a.n, ANCHOR_MOST - a.n)) > 0;)
		a.n += (size_t)got;
	close(fd);
	char *wrong = wrong_in(&a);
	free(a.bytes);
	return wrong;
}

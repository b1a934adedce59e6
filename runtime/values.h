/* SPDX-License-Identifier: MIT
 *
 * values.h - what the values of DPROF_* mean, for whoever records and for dprof-info.
 *
 * Law: a value that cannot be understood counts as absent, and `words` (of VALUES_ROOM) say so; else `words` stay as they are.
 * Text may be NULL. */
#ifndef RUNTIME_VALUES_H
#define RUNTIME_VALUES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/format.h"

#define VALUES_ROOM 160

#define VALUES_CHUNK_BYTES     ((size_t)1 << 20)
#define VALUES_CHUNK_BYTES_MIN ((size_t)4096)
#define VALUES_CHUNK_BYTES_MAX ((size_t)1 << 30)
#define VALUES_BLOCKED_NS      1000u
#define VALUES_BLOCKED_NS_MAX  1000000000u

#define VALUES_ALL_KINDS ((DPROF_KIND_BIT(DPROF_KIND_COUNT) - 1) & ~DPROF_KIND_BIT(DPROF_KIND_NONE))

#define VALUES_MS           1000000u
#define VALUES_INTERVAL_NS  (250 * VALUES_MS) /* design: drift:10 then adds 1.25 us, a fraction of the packets */
#define VALUES_SHORTEST_MS  5
#define VALUES_LONGEST_MS   3600e3

#define VALUES_NO_TOPOLOGY "DPROF_SYNC_TOPOLOGY is not star, tree:B (like tree:4) or mesh; took star"

/* A value that is cut off when it is too long. */
static inline void __attribute__((format(printf, 2, 3))) values_complain(char *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words, VALUES_ROOM, format, args);
	va_end(args);
}

static inline bool values_is_one_of(const char *value, const char *const *words)
{
	while (*words && strcasecmp(value, *words))
		words++;
	return *words;
}

/* What is neither yes nor no counts as absent. */
static inline bool values_flag(const char *name, const char *value, char *words)
{
	static const char *const yes[] = { "1", "true", "yes", "on", NULL };
	static const char *const no[] = { "", "0", "false", "no", "off", NULL };

	if (!value || values_is_one_of(value, no))
		return false;
	if (values_is_one_of(value, yes))
		return true;
	values_complain(words, "%s is '%.40s', which is neither 1 (true, yes, on) nor 0 (false, no, off); taken as 0",
			name, value);
	return false;
}

/* "64K", "1M", "2G" or plain bytes; 0 when it is none of these. */
static inline size_t values_bytes(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = 0;

	if (end == text || *text == '-')
		return 0;
	switch (*end) {
	case 'k': case 'K': shift = 10; end++; break;
	case 'm': case 'M': shift = 20; end++; break;
	case 'g': case 'G': shift = 30; end++; break;
	}
	if (*end || n > VALUES_CHUNK_BYTES_MAX >> shift)
		return 0;
	return (size_t)n << shift;
}

static inline size_t values_chunk_bytes(const char *text, char *words)
{
	size_t bytes;

	if (!text || !*text)
		return VALUES_CHUNK_BYTES;
	bytes = values_bytes(text);
	if (!bytes) {
		values_complain(words, "DPROF_BUFFER is not a size of up to 1G (like 64K, 1M); took 1M");
		return VALUES_CHUNK_BYTES;
	}
	if (bytes < VALUES_CHUNK_BYTES_MIN) {
		values_complain(words, "DPROF_BUFFER is less than 4K; took 4K");
		return VALUES_CHUNK_BYTES_MIN;
	}
	return bytes & ~(VALUES_CHUNK_BYTES_MIN - 1);
}

static inline uint64_t values_blocked_ns(const char *text, char *words)
{
	char *end;
	unsigned long long n;

	if (!text || !*text)
		return VALUES_BLOCKED_NS;
	n = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && n <= VALUES_BLOCKED_NS_MAX)
		return n;
	values_complain(words, "DPROF_BLOCKED_NS is not a number of nanoseconds up to %u; took %u", VALUES_BLOCKED_NS_MAX,
			VALUES_BLOCKED_NS);
	return VALUES_BLOCKED_NS;
}

/* The kinds that a word of DPROF_EVENTS means, or 0. */
static inline uint32_t values_kinds(const char *word, size_t length)
{
	static const char *const kinds[] = {
#define X(NAME, word) [DPROF_KIND_##NAME] = #word,
		DPROF_KINDS(X)
#undef X
	};

	if (length == strlen("all") && !strncmp(word, "all", length))
		return VALUES_ALL_KINDS;
	for (int k = 1; k < DPROF_KIND_COUNT; k++)
		if (length == strlen(kinds[k]) && !strncmp(word, kinds[k], length))
			return DPROF_KIND_BIT(k);
	return 0;
}

/* "region,barrier": only these; "-lock,-wait": all but these. What stands later counts. */
static inline uint32_t values_left_out(const char *at, char *words)
{
	uint32_t out;

	if (!at || !*at)
		return 0;
	out = *at == '-' ? 0 : VALUES_ALL_KINDS;
	for (;; at++) {
		bool less = *at == '-';
		size_t length = strcspn(at += less, ",");
		uint32_t kinds = values_kinds(at, length);

		if (!kinds) {
			values_complain(words, "DPROF_EVENTS has '%.*s', which is no kind of event (dprof(7) has a list); "
					"all kinds are recorded", (int)length, at);
			return 0;
		}
		out = less ? out | kinds : out & ~kinds;
		at += length;
		if (!*at)
			return out;
	}
}

/* "250", "250ms", "1.5s"; plain numbers are milliseconds. */
static inline bool values_parse_interval(const char *text, uint64_t *ns)
{
	char *end;
	double ms = strtod(text, &end);

	if (end == text)
		return false;
	if (strcmp(end, "s") == 0)
		ms *= 1000;
	else if (*end && strcmp(end, "ms") != 0)
		return false;
	if (ms != 0 && !(ms >= VALUES_SHORTEST_MS && ms <= VALUES_LONGEST_MS))
		return false;
	*ns = (uint64_t)(ms * VALUES_MS);
	return true;
}

static inline uint64_t values_interval_ns(const char *text, char *words)
{
	uint64_t ns = VALUES_INTERVAL_NS;

	if (text && *text && !values_parse_interval(text, &ns))
		values_complain(words, "DPROF_SYNC_INTERVAL is not 0 or a time from 5ms to 3600s (like 250ms, 1s); took 250ms");
	return ns;
}

#endif

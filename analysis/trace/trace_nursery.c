/* SPDX-License-Identifier: MIT
 *
 * trace_nursery.c - threads that have a slot in a file HOST-RANK.nursery.
 *
 * One that has a file of events as well is read with that; all others one behind the other, for they are short.
 * A slot counts if its header or its first word is not zero: then some thread was begun there, or it is damaged. Of
 * those without a header's magic the first DAMAGED_MOST are looked at one by one, as files of events are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/chunks_private.h"
#include "analysis/trace/trace_private.h"
#include "freezer/regular.h"

#define SLOTS_AT_ONCE 16
#define DAMAGED_MOST  1024

#define BEGIN_BYTES (DPROF_SLOT_HEADER + sizeof(uint64_t)) /* of a slot: its header and the chunk's first word */

static bool is_blank(const uint8_t *slot, size_t n)
{
	size_t i = 0;
	while (i < n && !slot[i])
		i++;
	return i == n;
}

struct slots {
	struct opened_trace *o;
	const char *name;
	struct process_file *const *by_stem;
	size_t damaged;
};

/* Then it is read with that. */
static bool has_file(const struct slots *s, uint64_t slot)
{
	char *name = mem_format("%.*s-%" PRIu64 ".events", (int)(strlen(s->name) - strlen(".nursery")), s->name, slot);
	bool has = bsearch(&name, s->o->names, s->o->nnames, sizeof *s->o->names, by_file_name);
	free(name);
	return has;
}

/* What is there of a slot: all of it, or less at the end of the file. */
static void read_slot(struct slots *s, uint64_t at, const uint8_t *slot, size_t n)
{
	if (is_blank(slot, n < BEGIN_BYTES ? n : BEGIN_BYTES) || has_file(s, at / DPROF_SLOT))
		return;
	bool begun = n >= sizeof(uint64_t) && !memcmp(slot, DPROF_EVENTS_MAGIC, sizeof(uint64_t));
	if (begun || s->damaged++ < DAMAGED_MOST)
		read_header_at(s->o, (struct header_place){ s->name, at, true }, s->by_stem);
}

static void read_slots(struct slots *s, int fd, uint64_t size)
{
	uint8_t slots[SLOTS_AT_ONCE * DPROF_SLOT];
	uint64_t end = size / DPROF_SLOT > UINT32_MAX ? (uint64_t)UINT32_MAX * DPROF_SLOT : size, at = DPROF_SLOT;
	for (; at < end; at += sizeof slots) {
		uint64_t data = next_data(fd, at, end);
		if (data == end)
			return;
		at = data / DPROF_SLOT * DPROF_SLOT;
		size_t n = end - at < sizeof slots ? (size_t)(end - at) : sizeof slots;
		if (!read_at(fd, slots, n, at))
			return;
		for (size_t i = 0; i < n; i += DPROF_SLOT)
			read_slot(s, at + i, slots + i, n - i < DPROF_SLOT ? n - i : DPROF_SLOT);
	}
}

void read_nursery(struct opened_trace *o, const char *name, struct process_file *const *by_stem)
{
	struct slots s = { .o = o, .name = name, .by_stem = by_stem };
	struct stat status;
	const char *found;
	int fd = frz_open_regular(o->directory, name, &found);
	if (fd >= 0 && fstat(fd, &status) == 0)
		read_slots(&s, fd, (uint64_t)status.st_size);
	else
		trace_diagnose(&o->t, "%s: expected a file of slots, found %s", name, fd < 0 ? found : strerror(errno));
	if (s.damaged > DAMAGED_MOST)
		trace_diagnose(&o->t, "%s: expected slots of threads, found %zu that are none (%zu are left out)", name,
			       s.damaged, s.damaged - DAMAGED_MOST);
	if (fd >= 0)
		close(fd);
}

size_t slots_in(const struct opened_trace *o, const char *name)
{
	struct stat status;
	return fstatat(o->directory, name, &status, 0) == 0 && status.st_size > 0 ? (size_t)status.st_size / DPROF_SLOT : 0;
}

bool has_slot(const struct opened_trace *o, const char *stem, uint32_t number)
{
	char *name = mem_format("%s.nursery", stem);
	uint8_t begin[BEGIN_BYTES];
	const char *found;
	int fd = frz_open_regular(o->directory, name, &found);
	bool has = fd >= 0 && read_at(fd, begin, sizeof begin, (uint64_t)number * DPROF_SLOT) && !is_blank(begin, sizeof begin);
	if (fd >= 0)
		close(fd);
	free(name);
	return has;
}

/* SPDX-License-Identifier: MIT
 *
 * names.c - see names.h. */
#include "analysis/trace/names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"

struct location_name rank_name(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct location_name name;
	if (t->rank >= 0)
		snprintf(name.text, sizeof name.text, "rank %" PRId64, t->rank);
	else
		snprintf(name.text, sizeof name.text, "pid %" PRIu64,
			 trace->processes[t->process].pid);
	return name;
}

struct location_name name_of_process(const struct trace *trace, uint32_t process)
{
	for (size_t t = 0; t < trace->nthreads; t++)
		if (trace->threads[t].process == process)
			return rank_name(trace, t);
	return (struct location_name){ "" };
}

struct location_name thread_name(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct location_name name = { "" };
	int length = 0;
	if (t->rank >= 0 || trace->nprocesses > 1)
		length = snprintf(name.text, sizeof name.text, "%s ", rank_name(trace, thread).text);
	snprintf(name.text + length, sizeof name.text - (size_t)length, "thread %" PRIu32, t->number);
	return name;
}

/* A template's arguments and a function's parameters stay whole. */
static const char *without_qualifiers(const char *name, size_t room)
{
	while (strlen(name) > room) {
		const char *next = strstr(name, "::");
		if (!next || (size_t)(next - name) > strcspn(name, "<("))
			break;
		name = next + 2;
	}
	return name;
}

static bool is_inside_character(char byte) /* in UTF-8 */
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* "a_long..name". `to` has room for one byte more. */
static void put_cut(char *to, const char *name, size_t room)
{
	size_t length = strlen(name);
	if (length <= room) {
		memcpy(to, name, length + 1);
		return;
	}
	size_t head = room > 2 ? (room - 2) / 2 : 0, tail = length - (room > 2 ? room - 2 - head : 0);
	head = shown_fit(name, head);
	while (is_inside_character(name[tail]))
		tail++;
	snprintf(to, room + 1, "%.*s..%s", (int)head, name, name + tail);
}

struct site_name name_within(const char *text, size_t room)
{
	struct site_name name;
	put_cut(name.text, text, room < SITE_NAME_ROOM ? room : SITE_NAME_ROOM);
	return name;
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');
	return slash ? slash + 1 : file;
}

/* "parallel kmeans.c:154" */
static bool names_its_place(const struct tr_site *s)
{
	const char *space = strrchr(s->name, ' '), *file = base_name(s->file);
	size_t length = strlen(file);
	char line[16];
	snprintf(line, sizeof line, ":%u", s->line);
	return space && strncmp(space + 1, file, length) == 0 && strcmp(space + 1 + length, line) == 0;
}

#define FILE_ROOM 20
#define NAME_LEAST 8

struct site_name site_name_within(const struct trace *trace, uint32_t site, size_t room)
{
	struct site_name name = { "-" };
	char place[48], file[FILE_ROOM + 1];
	room = room < SITE_NAME_ROOM ? room : SITE_NAME_ROOM;
	if (site == TR_NO_SITE)
		return name;
	if (site == TR_OUTSIDE)
		return (struct site_name){ OUTSIDE_REGIONS };
	if (site == TR_BEFORE)
		return (struct site_name){ "before its first event" };
	if (site == TR_ALL_WORK)
		return (struct site_name){ "all work" };
	const struct tr_site *s = &trace->sites[site];
	if (s->line == 0 || names_its_place(s))
		return region_name_within(trace, site, room);
	size_t least = strlen(s->name) < NAME_LEAST ? strlen(s->name) : NAME_LEAST;
	size_t digits = (size_t)snprintf(NULL, 0, " (:%u)", s->line);
	size_t for_file = room > least + digits ? room - least - digits : 0;
	put_cut(file, base_name(s->file), for_file < FILE_ROOM ? for_file : FILE_ROOM);
	size_t n = (size_t)snprintf(place, sizeof place, " (%s:%u)", file, s->line);
	size_t for_name = room > n ? room - n : 0;
	put_cut(name.text, without_qualifiers(s->name, for_name), for_name);
	strcat(name.text, place);
	return name;
}

struct site_name site_name_said(const struct trace *trace, uint32_t site, size_t room)
{
	if (site == TR_NO_SITE)
		return (struct site_name){ CODE_NOT_KNOWN };
	return site == TR_OUTSIDE ? (struct site_name){ OUTSIDE_CODE } : site_name_within(trace, site, room);
}

struct site_name site_name(const struct trace *trace, uint32_t site)
{
	return site_name_within(trace, site, SITE_NAME_ROOM);
}

char *site_place(const struct trace *trace, uint32_t site)
{
	if (site >= trace->nsites)
		return NULL;
	const struct tr_site *s = &trace->sites[site];
	return s->line ? mem_format("%s:%u", s->file, s->line) : mem_copy(s->name);
}

struct site_name region_name_within(const struct trace *trace, uint32_t site, size_t room)
{
	struct site_name name;
	if (site >= trace->nsites)
		return site_name(trace, site);
	put_cut(name.text, without_qualifiers(trace->sites[site].name, room), room);
	return name;
}

bool site_is_function(const struct tr_site *s)
{
	return s->kind == DPROF_KIND_REGION && s->automatic && *s->name && strcmp(s->name, s->function) == 0;
}

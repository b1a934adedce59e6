/* SPDX-License-Identifier: MIT
 *
 * names.c - see names.h. */
#include "analysis/trace/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/shown.h"

struct actor_name rank_name(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct actor_name name;
	if (t->rank >= 0)
		snprintf(name.text, sizeof name.text, "rank %" PRId64, t->rank);
	else
		snprintf(name.text, sizeof name.text, "pid %" PRIu64,
			 trace->processes[t->process].pid);
	return name;
}

struct actor_name thread_name(const struct trace *trace, size_t thread)
{
	struct actor_name name = rank_name(trace, thread);
	size_t length = strlen(name.text);
	snprintf(name.text + length, sizeof name.text - length, " thread %u",
		 trace->threads[thread].number);
	return name;
}

/* A template's arguments and a function's parameters stay whole. */
const char *short_name(const char *name, size_t room)
{
	while (strlen(name) > room) {
		const char *next = strstr(name, "::");
		if (!next || (size_t)(next - name) > strcspn(name, "<("))
			break;
		name = next + 2;
	}
	return name;
}

struct site_name site_name(const struct trace *trace, uint32_t site)
{
	struct site_name name = { "-" };
	if (site == TR_NO_SITE)
		return name;
	if (site == TR_OUTSIDE)
		return (struct site_name){ OUTSIDE_REGIONS };
	const struct tr_site *s = &trace->sites[site];
	const char *shorter = short_name(s->name, 26);
	const char *file = strrchr(s->file, '/') ? strrchr(s->file, '/') + 1 : s->file;
	if (s->line > 0)
		snprintf(name.text, sizeof name.text, "%.*s (%.*s:%u)", (int)shown_fit(shorter, 26),
			 shorter, (int)shown_fit(file, 20), file, s->line);
	else
		snprintf(name.text, sizeof name.text, "%.*s", (int)shown_fit(s->name, 60), s->name);
	return name;
}

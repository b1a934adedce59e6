/* SPDX-License-Identifier: MIT
 *
 * speedscope.c - speedscope's JSON (https://www.speedscope.app/file-format-schema.json): sites are frames, each thread is an
 * "evented" profile. Times are whole ns. */
#define _GNU_SOURCE /* unlocked streams */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/json.h"
#include "analysis/export/export.h"
#include "analysis/report/locations.h"

static void put_frames(struct json *j, const struct trace *t)
{
	jw_object(j, "shared");
	jw_array(j, "frames");
	for (size_t i = 0; i <= t->nsites; i++) {
		jw_object(j, NULL);
		jw_string(j, "name", export_site_name(t, (uint32_t)i));
		if (i < t->nsites) {
			jw_string(j, "file", t->sites[i].file);
			jw_integer(j, "line", t->sites[i].line);
		}
		jw_end(j);
	}
	jw_end(j);
	jw_end(j);
}

/* There may be millions. */
static void put_events(struct json *j, const struct moments *m, uint32_t thread)
{
	const char *comma = "";
	struct nested steps;
	jw_array(j, "events");
	nested_open(&steps, m, thread);
	for (struct nested_step s; nested_next(&steps, &s);) {
		uint32_t frame = s.site < m->trace->nsites ? s.site : (uint32_t)m->trace->nsites;
		if (s.what == NESTED_POINT)
			continue;
		fprintf(j->out, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}", comma,
			s.what == NESTED_ENTER ? 'O' : 'C', frame, export_ns(m, s.at));
		comma = ",\n";
	}
	nested_close(&steps);
	jw_end(j);
}

/* From its first event to its last. */
static void put_span(struct json *j, const struct moments *m, uint32_t thread)
{
	uint64_t first, last;
	int64_t from = 0, to = 0;
	if (trace_ends(&m->trace->threads[thread], &first, &last)) {
		struct moments_cursor c = moments_of(m, thread);
		frz_time bounds;
		from = export_ns(m, moments_at(&c, first, &bounds));
		to = export_ns(m, moments_at(&c, last, &bounds));
	}
	jw_integer(j, "startValue", from);
	jw_integer(j, "endValue", to);
}

static void put_profile(struct json *j, const struct moments *m, uint32_t thread)
{
	jw_object(j, NULL);
	jw_string(j, "type", "evented");
	jw_string(j, "name", location_name(m->trace, thread).text);
	jw_string(j, "unit", "nanoseconds");
	put_span(j, m, thread);
	put_events(j, m, thread);
	jw_end(j);
}

void export_speedscope(FILE *out, const struct moments *m)
{
	struct json j = jw_on(out);
	jw_object(&j, NULL);
	jw_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	jw_string(&j, "exporter", "dprof");
	put_frames(&j, m->trace);
	jw_array(&j, "profiles");
	for (uint32_t t = 0; t < m->trace->nthreads; t++)
		put_profile(&j, m, t);
	jw_end(&j);
	jw_end(&j);
}

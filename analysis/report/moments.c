/* SPDX-License-Identifier: MIT
 *
 * moments.c - see moments.h. */
#include "analysis/report/moments.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"

bool moment_duration(const char *text, double *nanoseconds)
{
	static const struct { const char *name; double ns; } units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 },
									 { "us", 1e3 }, { "ns", 1 } };
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	double number = strtod(text, &end);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].name) == 0) {
			*nanoseconds = number * units[i].ns;
			return *nanoseconds >= 0 && *nanoseconds < 1e18;
		}
	return false;
}

static bool is_point(const struct trace *trace, const struct tr_event *e, const char *name, size_t length)
{
	const struct tr_site *site = e->site < trace->nsites ? &trace->sites[e->site] : NULL;
	return site && site->kind == DPROF_KIND_PROGRESS && strncmp(site->name, name, length) == 0 && !site->name[length];
}

/* Where the first thread that comes to a point does so for the nth time (1 is the first); false if it does not as often. */
static bool find_point(const struct trace *trace, const char *name, size_t length, uint64_t nth, struct moment *found)
{
	struct tr_event e;
	uint64_t came = 0;
	for (size_t t = 0; t < trace->nthreads && came == 0; t++) {
		struct tr_cursor events = trace_events(trace, t);
		while (came < nth && trace_next_bare(&events, &e))
			came += is_point(trace, &e, name, length);
		trace_end(&events);
		if (came == nth) {
			*found = (struct moment){ trace->threads[t].clock, e.stamp };
			return true;
		}
	}
	return false;
}

static char *some_point(const struct trace *trace, const char *text)
{
	const char **names = mem_resize(NULL, trace->nsites + 1, sizeof *names);
	size_t n = 0;
	for (size_t i = 0; i < trace->nsites; i++)
		if (trace->sites[i].kind == DPROF_KIND_PROGRESS)
			names[n++] = trace->sites[i].name;
	const char *like = n ? nearest(text, names, n) : NULL;
	char *some = n ? mem_format(", such as %s", like ? like : names[0]) : mem_copy(" (it has none)");
	free(names);
	return some;
}

bool moment_find(const struct times *times, const struct span *span, const char *option, const char *text,
		 struct named_moment *found)
{
	const struct trace *trace = times->trace;
	const char *hash = strrchr(text, '#');
	char *end = NULL;
	double ns;
	uint64_t nth = hash ? strtoull(hash + 1, &end, 10) : 1;
	size_t length = hash ? (size_t)(hash - text) : strlen(text);
	*found = (struct named_moment){ .point = false };
	if (moment_duration(text, &ns)) {
		int64_t ticks = (int64_t)(ns * trace->clocks[times_unit(times, times->time_base[trace->threads[0].clock])].ghz);
		found->since = (frz_time){ ticks, ticks };
		return true;
	}
	if (nth > 0 && !(end && *end) && find_point(trace, text, length, nth, &found->at)) {
		struct frz_cursor cursor = times_cursor(times, found->at.clock);
		found->since = time_less(frz_time_of(&cursor, found->at.stamp), span->first);
		found->point = true;
		return true;
	}
	char *some = some_point(trace, text);
	shown_complain("%s: expected a time (0.5s, 20ms) or a progress point of this trace%s%s; found \"%s\"", option, some,
		       hash ? ", and how often it was come to, as in step#3" : "", text);
	free(some);
	return false;
}

frz_time moments_apart(const struct times *times, const struct named_moment *from, const struct named_moment *to)
{
	if (!from->point || !to->point)
		return time_apart(from->since, to->since);
	if (from->at.clock != to->at.clock || from->at.stamp <= to->at.stamp)
		return times_between(times, from->at, to->at);
	frz_time back = times_between(times, to->at, from->at);
	return (frz_time){ -back.hi, -back.lo };
}

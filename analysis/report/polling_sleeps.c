/* SPDX-License-Identifier: MIT
 *
 * polling_sleeps.c - see polling_sleeps.h. */
#include "analysis/report/polling_sleeps.h"

#include <stdlib.h>

#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/report/marks.h"
#include "analysis/report/unrecorded.h"
#include "analysis/trace/names.h"

#define NAMED 4

/* What a thread did for so long of which it is not known whether it waited; and where, the last time. */
enum open_kind { SLEPT, EXPIRED, OPEN_KINDS };
struct open_at_site { double s; uint32_t site; };
struct open_times { struct open_at_site of[OPEN_KINDS]; };

/* There is a sleep, or a wait that only a time limit ended. */
static bool any(const struct trace *trace)
{
	bool found = false;
	for (size_t i = 0; i < trace_kinds(trace) && !found; i++)
		found = tr_is(trace, trace->whats[i].site, OP_SLEEP) ||
			(trace->whats[i].keys >> DPROF_KEY_UNTIL & 1 && tr_is(trace, trace->whats[i].site, OP_WAITS));
	return found;
}

static struct open_times find(const struct trace *trace, size_t thread, const struct roles *roles)
{
	double hz = tr_ghz(trace, thread) * 1e9;
	struct states s;
	struct tr_event e;
	uint64_t before = 0;
	uint32_t sleep_site = TR_NO_SITE;
	states_open(&s, trace, thread, roles);
	while (states_step(&s, &e) != STATES_END)
		if (s.slept > before) {
			before = s.slept;
			sleep_site = s.sleep_site;
		}
	struct open_times found = { { [SLEPT] = { (double)s.slept / hz, sleep_site },
				      [EXPIRED] = { (double)s.expired / hz, s.expired_site } } };
	states_close(&s);
	return found;
}

static char *sentence(const struct trace *trace, enum open_kind kind, const char *list)
{
	if (kind == SLEPT)
		return mem_format("these slept again and again, and did nothing in between, or asked in vain: %s. "
				  "Whether they waited there for what others do, or slept for themselves, is not "
				  "known. %s", list, marks_poll(trace));
	return mem_format("yields, and waits that a time limit or a signal ended: %s. Whether these waited there for what others "
			  "do, or for nobody, is not known", list);
}

static double say(struct trace *trace, enum open_kind kind, const struct open_times *times)
{
	double worth = unrecorded_worth(trace), sum = 0;
	struct enumeration list = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct open_at_site open = times[i].of[kind];
		bool matters = open.s > 0 && open.s >= worth;
		if (!matters)
			continue;
		sum += open.s;
		char *how_long = kind == EXPIRED ? mem_format(" for %.3g s", open.s) : mem_copy("");
		enumeration_add(&list, "%s%s at %s", thread_name(trace, i).text, how_long, site_name(trace, open.site).text);
		free(how_long);
	}
	char *text = enumeration_take(&list);
	if (*text)
		*MEM_GROW(trace->notes, trace->nnotes) = sentence(trace, kind, text);
	free(text);
	return sum;
}

static double find_all(struct trace *trace, const struct roles *roles)
{
	struct open_times *times = mem_resize(NULL, trace->nthreads + 1, sizeof *times);
	for (size_t i = 0; i < trace->nthreads; i++)
		times[i] = find(trace, i, roles);
	double slept = say(trace, SLEPT, times);
	say(trace, EXPIRED, times);
	free(times);
	return slept;
}

double polling_sleeps_say(struct trace *trace, const struct roles *roles)
{
	struct roles usual;
	if (!any(trace))
		return 0;
	if (roles)
		return find_all(trace, roles);
	if (!roles_open(&usual, trace, NULL, NULL))
		return 0;
	double s = find_all(trace, &usual);
	roles_close(&usual);
	return s;
}

double polling_sleeps_seconds(const struct trace *trace)
{
	struct roles usual;
	double worth = unrecorded_worth(trace), sum = 0;
	if (!any(trace) || !roles_open(&usual, trace, NULL, NULL))
		return 0;
	for (size_t i = 0; i < trace->nthreads; i++) {
		double s = find(trace, i, &usual).of[SLEPT].s;
		sum += s >= worth ? s : 0;
	}
	roles_close(&usual);
	return sum;
}

/* SPDX-License-Identifier: MIT
 *
 * records_end.c - see records_end.h. */
#include "analysis/report/records_end.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/trace/names.h"

#define NAMED 4

struct last_place { uint32_t site; struct enumeration threads; };

/* The innermost, by its records; TR_OUTSIDE: it was in none. */
static uint32_t last_place_of(const struct trace *t, uint32_t thread)
{
	struct tr_cursor events = trace_places(t, thread);
	struct replay replay;
	replay_open(&replay, t->nsites);
	for (struct tr_event e; trace_next_bare(&events, &e);) {
		if (e.op == DPROF_ENTER)
			replay_enter(&replay, tr_entry(t, &e));
		else if (e.op == DPROF_EXIT)
			replay_exit(&replay, e.site);
	}
	const struct replay_entry *top = replay_top(&replay);
	uint32_t site = top ? top->site : TR_OUTSIDE;
	replay_close(&replay);
	trace_end(&events);
	return site;
}

static struct last_place *place_at(struct last_place **list, size_t *n, uint32_t site)
{
	for (size_t i = 0; i < *n; i++)
		if ((*list)[i].site == site)
			return &(*list)[i];
	struct last_place *another = MEM_GROW(*list, *n);
	*another = (struct last_place){ site, { .most = NAMED } };
	return another;
}

static void say(struct trace *t, struct last_place *p)
{
	size_t n = p->threads.count;
	char *who = enumeration_take(&p->threads);
	*MEM_GROW(t->notes, t->nnotes) = mem_format("%zu thread%s in %s when %s records end: %s", n, n > 1 ? "s were" : " was",
						    p->site == TR_OUTSIDE ? OUTSIDE_CODE : site_name(t, p->site).text,
						    n > 1 ? "their" : "its", who);
	free(who);
}

void records_end_say(struct trace *t)
{
	struct last_place *list = NULL;
	size_t n = 0;
	for (uint32_t i = 0; i < t->nthreads; i++) {
		uint64_t first, last;
		if (t->threads[i].complete || t->threads[i].lost || !trace_ends(&t->threads[i], &first, &last))
			continue;
		struct last_place *p = place_at(&list, &n, last_place_of(t, i));
		enumeration_add(&p->threads, "%s", thread_name(t, i).text);
	}
	for (size_t i = 0; i < n; i++)
		say(t, &list[i]);
	free(list);
}

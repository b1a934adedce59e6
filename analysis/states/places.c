/* SPDX-License-Identifier: MIT
 *
 * places.c - see places.h. */
#include "analysis/states/places.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

struct places_thread {       /* opened when it is asked for */
	struct period_cursor periods, within;
	struct period now, place;
	bool opened, any, any_place;
};

struct places {
	const struct periods *periods;
	struct places_thread *threads; /* of the trace */
	size_t nthreads;
	uint32_t *of;        /* the threads of all participants, one participant behind the other, */
	size_t *first;       /* from here to where the next one's begin */
	bool *several;
};

static void sort_threads(struct places *p, const struct participants *who)
{
	for (size_t i = 0; i < p->nthreads; i++)
		if (who->participant_of[i] != NO_PARTICIPANT)
			p->first[who->participant_of[i] + 1]++;
	for (uint32_t a = 0; a < who->nparticipants; a++)
		p->first[a + 1] += p->first[a];
	size_t *next = mem_zeroed(who->nparticipants + 1, sizeof *next);
	for (size_t i = 0; i < p->nthreads; i++) {
		uint32_t a = who->participant_of[i];
		if (a == NO_PARTICIPANT)
			continue;
		p->of[p->first[a] + next[a]++] = (uint32_t)i;
		p->several[a] |= p->periods->within->of_thread[i]->n > 0;
	}
	free(next);
}

struct places *places_open(const struct trace *trace, const struct periods *periods, const struct participants *who)
{
	struct places *p = mem_resize(NULL, 1, sizeof *p);
	*p = (struct places){ .periods = periods, .nthreads = trace->nthreads,
			      .threads = mem_zeroed(trace->nthreads + 1, sizeof *p->threads),
			      .of = mem_zeroed(trace->nthreads + 1, sizeof *p->of),
			      .first = mem_zeroed(who->nparticipants + 1, sizeof *p->first),
			      .several = mem_zeroed(who->nparticipants + 1, sizeof *p->several) };
	sort_threads(p, who);
	return p;
}

void places_close(struct places *p)
{
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].opened) {
			period_cursor_close(&p->threads[i].periods);
			period_cursor_close(&p->threads[i].within);
		}
	free(p->threads);
	free(p->of);
	free(p->first);
	free(p->several);
	free(p);
}

bool places_several(const struct places *p, uint32_t participant)
{
	return p->several[participant];
}

static void open_thread(struct places *p, uint32_t thread)
{
	struct places_thread *t = &p->threads[thread];
	if (t->opened)
		return;
	t->periods = periods_cursor(p->periods, thread);
	t->within = periods_cursor(p->periods->within, thread);
	t->any = period_next(&t->periods, &t->now);
	t->any_place = period_next(&t->within, &t->place);
	t->opened = true;
}

struct asked { uint64_t from, to; places_give *give; void *give_to; };

/* Of a period: it has either one place, or the first of several begins where it does. */
static void give_period(struct places_thread *t, const struct asked *asked)
{
	uint64_t from = asked->from > t->now.from ? asked->from : t->now.from;
	uint64_t to = asked->to < t->now.to ? asked->to : t->now.to;
	while (t->any_place && t->place.to <= from)
		t->any_place = period_next(&t->within, &t->place);
	if (!t->any_place || t->place.from < t->now.from || t->place.from > from) {
		asked->give(asked->give_to, t->now.site, to - from);
		return;
	}
	while (from < to) {
		uint64_t end = t->any_place && t->place.to < to ? t->place.to : to;
		asked->give(asked->give_to, t->place.site, end - from);
		from = end;
		if (from < to)
			t->any_place = period_next(&t->within, &t->place);
	}
}

void places_between(struct places *p, uint32_t participant, uint64_t from, uint64_t to, places_give *give, void *give_to)
{
	const struct asked asked = { from, to, give, give_to };
	for (size_t i = p->first[participant]; i < p->first[participant + 1]; i++) {
		struct places_thread *t = &p->threads[p->of[i]];
		open_thread(p, p->of[i]);
		while (t->any && t->now.to <= from)
			t->any = period_next(&t->periods, &t->now);
		while (t->any && t->now.from < to) {
			if (t->now.may & MAY_WORK)
				give_period(t, &asked);
			if (t->now.to >= to)
				break;
			t->any = period_next(&t->periods, &t->now);
		}
	}
}

/* SPDX-License-Identifier: MIT
 *
 * program_teams.c - a thread opens a team of threads of its rank, which are in the regions that it is in; inside, one
 * of them may open another one, of those that are in none.
 *
 * A thread that joins is in no region of its own then, and all regions of the team are left at its end. */
#include <stdbool.h>

#include "testsuite/truth/program_parts.h"

#define MOST_IN_A_RANK 3
#define DEEPEST        4 /* regions of a thread, as elsewhere */

struct team {
	struct author *a;
	size_t first;                    /* thread 0 of the rank */
	unsigned threads;                /* bits: who is in it, opener included, */
	unsigned elsewhere;              /* or in one around it */
	unsigned opener;
	uint8_t base[MOST_IN_A_RANK];    /* regions that are not of this team */
};

static bool is_in(unsigned set, unsigned number)
{
	return set >> number & 1;
}

static unsigned some_member(const struct team *t)
{
	unsigned number;

	do
		number = (unsigned)(roll(&t->a->dice) % MOST_IN_A_RANK);
	while (!is_in(t->threads, number));
	return number;
}

static void leave(const struct team *t, unsigned number)
{
	size_t thread = t->first + number;

	program_add(t->a, LEAVE, thread)->site = t->a->thread[thread].stack[--t->a->thread[thread].depth];
}

static void enter_or_leave(const struct team *t, unsigned number)
{
	size_t thread = t->first + number;
	uint8_t *depth = &t->a->thread[thread].depth;
	enum program_site site = (enum program_site)roll_in(&t->a->dice, PROGRAM_A, PROGRAM_D);

	if (*depth > t->base[number] && (roll(&t->a->dice) & 1)) {
		leave(t, number);
	} else if (*depth < DEEPEST) {
		program_add(t->a, ENTER, thread)->site = site;
		t->a->thread[thread].stack[(*depth)++] = (uint8_t)site;
	}
}

/* Threads of the rank that can join: they are there, in no team and in no region. */
static unsigned who_is_free(const struct author *a, size_t first, unsigned elsewhere)
{
	unsigned rank = a->p->threads[first].rank, set = 0;

	for (size_t t = first; t < a->p->nthreads && a->p->threads[t].rank == rank; t++)
		if (a->thread[t].began && !a->thread[t].ended && !a->thread[t].depth &&
		    !is_in(elsewhere, (unsigned)(t - first)))
			set |= 1u << (t - first);
	return set;
}

static void add_end(struct team *t, enum action_kind kind, uint64_t number)
{
	struct author *a = t->a;
	struct action *action = program_add(a, kind, t->first + t->opener);
	unsigned rank = a->p->threads[t->first].rank;

	program_set_costs(a, action, rank, rank);
	action->id = number;
	action->tag = t->threads;
	for (unsigned i = 0; i < MOST_IN_A_RANK; i++)
		action->gaps[i] = program_some_stretch(a);
}

static void open_team(struct author *a, size_t first, unsigned opener, unsigned elsewhere);

static void one_step(struct team *t)
{
	unsigned number = some_member(t);

	switch (roll(&t->a->dice) % 8) {
	case 0:
		program_add(t->a, POINT, t->first + number);
		return;
	case 1:
		program_add(t->a, WORK, t->first + number);
		return;
	case 2:
		open_team(t->a, t->first, number, t->elsewhere | t->threads);
		return;
	default:
		enter_or_leave(t, number);
	}
}

static void open_team(struct author *a, size_t first, unsigned opener, unsigned elsewhere)
{
	unsigned others = who_is_free(a, first, elsewhere | 1u << opener);
	struct team t = { .a = a, .first = first, .opener = opener, .elsewhere = elsewhere };

	if (!others)
		return;
	t.threads = (others & (unsigned)roll(&a->dice)) | 1u << opener;
	if (t.threads == 1u << opener)
		t.threads |= others;
	for (unsigned i = 0; i < MOST_IN_A_RANK; i++)
		t.base[i] = first + i < a->p->nthreads ? a->thread[first + i].depth : 0;
	uint64_t number = a->s->parallel[a->p->threads[first].rank][t.threads]++;

	add_end(&t, OPEN_TEAM, number);
	for (uint64_t steps = roll(&a->dice) % 12; steps > 0; steps--)
		one_step(&t);
	for (unsigned i = 0; i < MOST_IN_A_RANK; i++)
		while (is_in(t.threads, i) && a->thread[first + i].depth > t.base[i])
			leave(&t, i);
	add_end(&t, CLOSE_TEAM, number);
}

void program_team(struct author *a, unsigned rank)
{
	open_team(a, a->s->main_thread[rank], 0, 0);
}

/* SPDX-License-Identifier: MIT
 *
 * program_tasks.c - a thread of a rank makes tasks and waits for them; it, and others of the rank that wait
 * meanwhile, run them.
 *
 * What a task must wait for is found here by looking at all pairs of tasks. Whom one between them waits for
 * and keeps waiting is left out: that task's end is what it is told of, and no transfer of its own comes
 * from the earlier one. */
#include <stdlib.h>

#include "testsuite/truth/program_parts.h"

#define MOST_TASKS 8
#define ADDRESSES  3

enum { IN, OUT, MUTEX, SET };

struct crew {
	struct author *a;
	size_t thread[3];
	uint64_t waits_for[3];        /* what its operation says */
	enum program_site site;
	unsigned n;
	uint64_t maker, group;
	struct { size_t made, ended; bool child; } task[MOST_TASKS];
	unsigned ntasks;
};

static struct action *action(const struct crew *c, size_t number)
{
	return &c->a->s->actions[number];
}

static void add_after(struct action *a, size_t ended)
{
	a->after = realloc(a->after, (a->nafter + 1) * sizeof *a->after);
	if (!a->after)
		abort();
	a->after[a->nafter++] = ended;
}

static uint64_t new_number(struct author *a)
{
	return ++a->s->ids;
}

static void costs(const struct crew *c, struct action *a)
{
	unsigned rank = c->a->p->threads[a->thread].rank;

	program_set_costs(c->a, a, rank, rank);
}

static void draw_depends(struct author *a, struct action *make)
{
	make->ndepends = (unsigned)(roll(&a->dice) % 3);
	for (unsigned i = 0; i < make->ndepends; i++) {
		make->depends[i].address = 1 + (unsigned)(roll(&a->dice) % ADDRESSES);
		make->depends[i].how = (unsigned)(roll(&a->dice) % 4);
	}
	if (make->ndepends == 2 && make->depends[0].address == make->depends[1].address)
		make->ndepends = 1; /* of one address the first would count */
}

static void make(struct crew *c, size_t thread, uint64_t parent, bool child)
{
	struct author *a = c->a;
	size_t number = a->s->nactions;
	struct action *make = program_add(a, MAKE, thread);

	make->id = new_number(a);
	make->tag = parent;
	make->bytes = c->group;
	draw_depends(a, make);
	c->task[c->ntasks].made = number;
	c->task[c->ntasks++].child = child;
}

static bool conflict(const struct action *x, const struct action *y)
{
	if (x->tag != y->tag)
		return false;
	for (unsigned i = 0; i < x->ndepends; i++)
		for (unsigned k = 0; k < y->ndepends; k++) {
			unsigned how = x->depends[i].how;

			if (x->depends[i].address == y->depends[k].address &&
			    (how != y->depends[k].how || how == OUT || how == MUTEX))
				return true;
		}
	return false;
}

static bool conflicts(const struct crew *c, unsigned x, unsigned y)
{
	return conflict(action(c, c->task[x].made), action(c, c->task[y].made));
}

/* Task y waits for x, and for none that waits for x. */
static bool waits_for(const struct crew *c, unsigned y, unsigned x)
{
	bool direct = conflicts(c, x, y);

	for (unsigned between = x + 1; between < y && direct; between++)
		direct = !conflicts(c, x, between) || !conflicts(c, between, y);
	return direct;
}

/* Threads are the crew's; inside of the task may be work, a region, another task. */
static void run(struct crew *c, unsigned number, unsigned member)
{
	struct author *a = c->a;
	size_t thread = c->thread[member], made = c->task[number].made;
	uint64_t task = action(c, made)->id;
	struct action *begin = program_add(a, BEGIN, thread);

	begin->id = task;
	begin->other = made;
	begin->site = c->site;
	costs(c, begin);
	for (unsigned i = 0; i < number; i++)
		if (waits_for(c, number, i))
			add_after(begin, c->task[i].ended);
	enum program_site region = (enum program_site)roll_in(&a->dice, PROGRAM_A, PROGRAM_D);

	program_add(a, ENTER, thread)->site = region;
	if (c->ntasks < MOST_TASKS && roll_one_of(&a->dice, 3))
		make(c, thread, task, true);
	program_add(a, LEAVE, thread)->site = region;
	c->task[number].ended = a->s->nactions;
	struct action *end = program_add(a, END, thread);

	end->id = task;
	end->site = c->site;
	end->tag = c->waits_for[member];
}

static void come(struct crew *c, unsigned member)
{
	struct action *come = program_add(c->a, COME, c->thread[member]);

	come->site = c->site;
	come->tag = c->waits_for[member];
}

/* Member 0 waits for its children, or for all of the group; the others for nothing. */
static void go(struct crew *c, unsigned member)
{
	struct action *go = program_add(c->a, GO, c->thread[member]);

	go->site = c->site;
	costs(c, go);
	for (unsigned i = 0; i < c->ntasks && member == 0; i++)
		if (c->group || !c->task[i].child)
			add_after(go, c->task[i].ended);
}

static struct crew gather(struct author *a, unsigned rank)
{
	struct crew c = { .a = a };
	bool all = true;

	for (size_t t = 0; t < a->p->nthreads; t++) {
		if (a->p->threads[t].rank != rank)
			continue;
		if (a->thread[t].began && !a->thread[t].ended)
			c.thread[c.n++] = t;
		else
			all = false;
	}
	c.site = all && (roll(&a->dice) & 1) ? PROGRAM_TEAM : PROGRAM_TASKWAIT;
	c.maker = new_number(a);
	if (c.site == PROGRAM_TASKWAIT && (roll(&a->dice) & 1))
		c.group = new_number(a);
	return c;
}

void program_tasks(struct author *a, unsigned rank)
{
	struct crew c = gather(a, rank);
	uint64_t collective = a->s->teams[rank];
	unsigned tasks = 1 + (unsigned)(roll(&a->dice) % 4);

	a->s->teams[rank] += c.site == PROGRAM_TEAM;
	for (unsigned i = 0; i < c.n; i++)
		c.waits_for[i] = c.site == PROGRAM_TEAM ? collective
				 : i > 0		? new_number(a)
				 : c.group		? c.group
							: c.maker;
	for (unsigned i = 0; i < tasks; i++)
		make(&c, c.thread[0], c.maker, false);
	for (unsigned i = 0; i < c.n; i++)
		come(&c, i);
	for (unsigned i = 0; i < c.ntasks; i++)
		run(&c, i, (unsigned)(roll(&a->dice) % c.n));
	if (c.site == PROGRAM_TEAM) {
		struct action *go = program_add(a, GO_ALL, c.thread[0]);

		go->site = c.site;
		costs(&c, go);
		return;
	}
	for (unsigned i = 0; i < c.n; i++)
		go(&c, i);
}

/* SPDX-License-Identifier: MIT
 *
 * greedy_tasks.c - which task whoever waits runs next, as libgomp decides it.
 *
 * Tasks that are ready stand in lists: of their team, behind each other; and before each other those of the task that has made
 * them, and of their taskgroup; in all of them those of a greater priority first. Who is at a barrier takes the first of its
 * team's. Who waits for tasks takes the first of those, so what was ready last; if there is none, but some are not over yet, it
 * sleeps until they are, or one more is ready. All are through with a barrier when all are there, and no task is left. Each runs a
 * task where that was run here; the wait from which it has come is on the stack of its *stays*.
 *
 *   in this run   comes-runs[task 1]-comes-runs[task 2]-comes-ends-
 *   a stay        comes-->(tasks of other places, each up to where its thread came again)-->comes-ends-
 *
 * A task that cancels its taskgroup here does so in any run, at its end. Those of that taskgroup that have not begun never do, as
 * far as they make no tasks, wait for none and take nothing; what others wait for of them has come then. Who has begun one goes
 * on to its end, though it might be over at a cancellation point.
 *
 * Who sleeps at a barrier is woken by a task, and takes some time until it looks; meanwhile another may have had it. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/ids.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/model/arguments.h"

enum { OF_MAKER, OF_GROUP, OF_TEAM, NLISTS };

/* A task that one thread has run. */
struct task_run_at {
	uint32_t point, ends;    /* where its thread came for it, and where it came again */
	uint32_t wait, node;     /* there; and of its begin */
	uint32_t list[NLISTS];   /* or GREEDY_NONE */
	double begins;
	uint32_t priority;
	bool taken, cancels;
	uint32_t before[NLISTS], behind[NLISTS]; /* in those lists; of runs, and 1; or 0 */
};

/* Of those that are ready the first and the last, and 1; or 0. */
struct task_list {
	uint32_t first, last;
	size_t made, left;       /* that are not over; and not begun */
	uint32_t sleeper;        /* body that waits for them; or GREEDY_NONE */
	bool cancelled;
};

struct task_stop { uint32_t finish, list, barrier; enum graph_task_wait_kind kind; };
struct task_barrier { size_t nwaits, first, nidle; uint32_t *idle; double came; bool over; };
struct task_stay { uint32_t wait, run; double slower; };
struct task_stays { struct task_stay *v; size_t n; bool asleep; double wakes; };

struct greedy_tasks {
	struct task_run_at *runs; size_t nruns;
	struct task_list *lists; size_t nlists;
	struct task_stop *waits; size_t nwaits;
	struct task_barrier *barriers; size_t nbarriers;
	uint32_t *idle_at;       /* of each list of a team the barrier at which somebody is idle, or GREEDY_NONE */
	uint32_t *run_of;        /* of each node; or GREEDY_NONE */
	struct task_stays *stays;     /* of each body */
	double delay;            /* until who was woken looks */
};

/* ---- What there is ---------------------------------------------------------------------------- */

static uint32_t list_of(struct greedy_tasks *t, struct ids *keys, uint32_t process, uint64_t number, bool team)
{
	uint64_t key = ids_mix(ids_mix(number, process), team);
	if (ids_add(keys, key))
		*MEM_GROW(t->lists, t->nlists) = (struct task_list){ .sleeper = GREEDY_NONE };
	return (uint32_t)ids_find(keys, key);
}

static void find_waits(struct greedy *y, struct greedy_tasks *t, struct ids *keys)
{
	const struct graph *g = y->g;
	t->nwaits = g->ntask_waits;
	t->waits = mem_zeroed(t->nwaits + 1, sizeof *t->waits);
	for (size_t i = 0; i < t->nwaits; i++) {
		const struct graph_task_wait *w = &g->task_waits[i];
		bool team = w->kind == GRAPH_FOR_TEAM;
		t->waits[i] = (struct task_stop){ GREEDY_NONE, list_of(t, keys, w->process, w->number, team), w->barrier, w->kind };
		if (!team || w->barrier == GRAPH_NO_BARRIER)
			continue;
		while (t->nbarriers <= w->barrier)
			*MEM_GROW(t->barriers, t->nbarriers) = (struct task_barrier){ 0 };
		t->barriers[w->barrier].nwaits++;
	}
	for (size_t i = 0; i < t->nbarriers; i++)
		t->barriers[i].idle = mem_resize(NULL, t->barriers[i].nwaits + 1, sizeof *t->barriers[i].idle);
}

/* The node that a task waits for when it begins, between where its thread came and there. */
static uint32_t node_of(const struct greedy *y, uint32_t from, uint32_t to, double *begins)
{
	for (uint32_t i = to; i > from; i--) {
		const struct greedy_point *p = &y->points[i];
		const struct graph_node *j = p->what == GRAPH_WAITS ? &y->g->nodes[p->number] : NULL;
		*begins = p->at;
		if (j && j->kind == GRAPH_ARRIVAL && j->what == GRAPH_TASK_BEGAN)
			return p->number;
	}
	return GREEDY_NONE;
}

/* What a thread is in, as its points come by: waits, and of each the run for which it has left that. */
struct open_wait { uint32_t wait, came, run; };
struct task_place {
	struct open_wait *open; size_t n;
	uint32_t *teamless; size_t nteamless; /* runs of which the next barrier tells the team */
};

static bool begin_run(struct greedy *y, struct greedy_tasks *t, struct ids *keys, struct task_place *at, uint32_t point)
{
	const struct graph_task_run *is = &y->g->task_runs[y->points[point].number];
	struct open_wait *in = at->n ? &at->open[at->n - 1] : NULL;
	if (!in || in->run != GREEDY_NONE || !is->made)
		return false;
	struct task_run_at run = { .point = in->came, .ends = GREEDY_NONE, .wait = in->wait, .priority = is->priority,
			   .cancels = is->cancels,
			   .list = { [OF_MAKER] = list_of(t, keys, is->process, is->maker, false), [OF_GROUP] = GREEDY_NONE,
				     [OF_TEAM] = GREEDY_NONE } };
	run.node = node_of(y, in->came, point, &run.begins);
	if (is->group && is->group != ARG_NONE)
		run.list[OF_GROUP] = list_of(t, keys, is->process, is->group, false);
	uint32_t from = t->waits[in->wait].list;
	if (t->waits[in->wait].kind != GRAPH_FOR_TEAM && from != run.list[OF_MAKER] && from != run.list[OF_GROUP])
		return false; /* libgomp runs no such task there */
	if (t->waits[in->wait].kind == GRAPH_FOR_TEAM)
		run.list[OF_TEAM] = t->waits[in->wait].list;
	else if (at->n > 1)
		run.list[OF_TEAM] = t->runs[at->open[at->n - 2].run].list[OF_TEAM];
	if (run.list[OF_TEAM] == GREEDY_NONE)
		*MEM_GROW(at->teamless, at->nteamless) = (uint32_t)t->nruns;
	in->run = (uint32_t)t->nruns;
	*MEM_GROW(t->runs, t->nruns) = run;
	return run.node != GREEDY_NONE;
}

static void finish_wait(struct greedy_tasks *t, struct task_place *at)
{
	const struct open_wait *last = &at->open[--at->n];
	struct task_stop *w = &t->waits[last->wait];
	w->finish = last->came;
	for (size_t i = 0; i < at->nteamless && w->kind == GRAPH_FOR_TEAM; i++)
		t->runs[at->teamless[i]].list[OF_TEAM] = w->list;
	if (w->kind == GRAPH_FOR_TEAM)
		at->nteamless = 0;
}

/* Comes for the first time, or behind a run. */
static void come_to(struct greedy_tasks *t, struct task_place *at, uint32_t wait, uint32_t point)
{
	struct open_wait *in = at->n ? &at->open[at->n - 1] : NULL;
	if (in && in->wait == wait && in->run != GREEDY_NONE) {
		t->runs[in->run].ends = in->came = point;
		in->run = GREEDY_NONE;
		return;
	}
	*MEM_GROW(at->open, at->n) = (struct open_wait){ wait, point, GREEDY_NONE };
}

/* False where something is missing. */
static bool find_runs_of(struct greedy *y, struct greedy_tasks *t, struct ids *keys, struct task_place *at, uint32_t thread)
{
	bool found = true;
	at->n = at->nteamless = 0;
	for (uint32_t i = y->first[thread]; i < y->first[thread + 1] && found; i++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what == GRAPH_RUNS) {
			found = begin_run(y, t, keys, at, i);
		} else if (p->what == GRAPH_COMES) {
			if (at->n && at->open[at->n - 1].run == GREEDY_NONE)
				finish_wait(t, at);
			come_to(t, at, p->number, i);
		}
	}
	while (at->n && at->open[at->n - 1].run == GREEDY_NONE)
		finish_wait(t, at);
	return found && at->n == 0;
}

static bool find_runs(struct greedy *y, struct greedy_tasks *t, struct ids *keys)
{
	struct task_place at = { NULL, 0, NULL, 0 };
	bool found = true;
	for (uint32_t thread = 0; thread < y->g->trace->nthreads && found; thread++)
		found = find_runs_of(y, t, keys, &at, thread);
	free(at.open);
	free(at.teamless);
	for (size_t i = 0; i < t->nwaits && found; i++)
		found = t->waits[i].finish != GREEDY_NONE &&
			(t->waits[i].kind != GRAPH_FOR_TEAM || t->waits[i].barrier != GRAPH_NO_BARRIER);
	return found;
}

struct task_made { uint32_t team; double at; };

static int by_team(const void *x, const void *y)
{
	const struct task_made *a = x, *b = y;
	return ORDER_2(a, b, team, at);
}

/* When each task was made, in order of teams. To be freed. */
static struct task_made *find_made(const struct greedy *y, const struct greedy_tasks *t)
{
	struct task_made *made = mem_resize(NULL, t->nruns + 1, sizeof *made);
	for (size_t i = 0; i < t->nruns; i++)
		made[i] = (struct task_made){ t->runs[i].list[OF_TEAM], y->came[y->g->nodes[t->runs[i].node].first + 1] };
	qsort(made, t->nruns, sizeof *made, by_team);
	return made;
}

/* From when the first task was made behind which a thread began one that had come before. */
static double find_delay(const struct greedy *y, const struct greedy_tasks *t)
{
	struct task_made *made = find_made(y, t);
	double least = INFINITY;
	for (size_t i = 0; i < t->nruns; i++) {
		const struct task_run_at *r = &t->runs[i];
		struct task_made key = { r->list[OF_TEAM], y->came[y->g->nodes[r->node].first] };
		size_t at = SEARCH(t->nruns, mid, by_team(&made[mid], &key) <= 0);
		bool idle = t->waits[r->wait].kind == GRAPH_FOR_TEAM && at < t->nruns && made[at].team == key.team;
		if (idle && made[at].at < r->begins)
			least = fmin(least, r->begins - made[at].at);
	}
	free(made);
	return isinf(least) ? 0 : least;
}

/* Those of a taskloop are made at once; in which order is seen where they begin: at a barrier the first is taken first, elsewhere
 * the last. */
static bool is_made_before(const struct greedy_tasks *t, const struct task_run_at *a, const struct task_run_at *b)
{
	bool fifo = t->waits[a->wait].kind == GRAPH_FOR_TEAM, other = t->waits[b->wait].kind == GRAPH_FOR_TEAM;
	return fifo != other ? fifo : fifo ? a->begins < b->begins : a->begins > b->begins;
}

static struct task_run_at *run_made_at(const struct greedy *y, const struct greedy_tasks *t, const struct greedy_point *p)
{
	uint32_t node = p->what == GRAPH_POSTS ? y->g->inputs[p->number].node : GREEDY_NONE;
	uint32_t run = node == GREEDY_NONE ? GREEDY_NONE : t->run_of[node];
	return run != GREEDY_NONE && p->number == y->g->nodes[node].first + 1 ? &t->runs[run] : NULL;
}

#define MOST_AT_ONCE 256

static void order_made(struct greedy *y, const struct greedy_tasks *t)
{
	for (size_t i = 1; i < y->npoints; i++) {
		size_t least = i < MOST_AT_ONCE ? 0 : i - MOST_AT_ONCE;
		for (size_t k = i; k > least; k--) {
			struct greedy_point *a = &y->points[k - 1], *b = &y->points[k];
			const struct task_run_at *one = run_made_at(y, t, a), *two = run_made_at(y, t, b);
			if (!one || !two || a->thread != b->thread || a->at < b->at || !is_made_before(t, two, one))
				break;
			uint32_t number = a->number;
			a->number = b->number;
			b->number = number;
		}
	}
}

void greedy_find_tasks(struct greedy *y)
{
	if (y->g->ntask_runs == 0)
		return;
	struct greedy_tasks *t = mem_zeroed(1, sizeof *t);
	struct ids keys = { .n = 0 };
	y->tasks = t;
	find_waits(y, t, &keys);
	bool found = find_runs(y, t, &keys);
	ids_free(&keys);
	if (!found) {
		greedy_close_tasks(y);
		return;
	}
	size_t nthreads = y->g->trace->nthreads;
	t->idle_at = mem_resize(NULL, t->nlists + 1, sizeof *t->idle_at);
	t->stays = mem_zeroed(nthreads + 1, sizeof *t->stays);
	t->run_of = mem_resize(NULL, y->g->nnodes + 1, sizeof *t->run_of);
	memset(t->run_of, 0xff, y->g->nnodes * sizeof *t->run_of);
	for (size_t i = 0; i < t->nruns; i++)
		t->run_of[t->runs[i].node] = (uint32_t)i;
	t->delay = find_delay(y, t);
	order_made(y, t);
}

void greedy_close_tasks(struct greedy *y)
{
	struct greedy_tasks *t = y->tasks;
	if (!t)
		return;
	for (size_t i = 0; i < t->nbarriers; i++)
		free(t->barriers[i].idle);
	for (size_t i = 0; t->stays && i < y->g->trace->nthreads; i++)
		free(t->stays[i].v);
	void *arrays[] = { t->runs, t->lists, t->waits, t->barriers, t->idle_at, t->run_of, t->stays, t };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		free(arrays[i]);
	y->tasks = NULL;
}

/* ---- Lists ------------------------------------------------------------------------------------ */

/* Behind those of its priority in a team's list, else before them. */
static void add_to_list(struct greedy_tasks *t, uint32_t run, int of)
{
	struct task_run_at *r = &t->runs[run];
	struct task_list *l = &t->lists[r->list[of]];
	uint32_t before = 0, behind = 0;
	if (of == OF_TEAM) {
		for (before = l->last; before && t->runs[before - 1].priority < r->priority; before = t->runs[before - 1].before[of])
			behind = before;
	} else {
		for (behind = l->first; behind && t->runs[behind - 1].priority > r->priority; behind = t->runs[behind - 1].behind[of])
			before = behind;
	}
	r->before[of] = before;
	r->behind[of] = behind;
	*(r->before[of] ? &t->runs[r->before[of] - 1].behind[of] : &l->first) = run + 1;
	*(r->behind[of] ? &t->runs[r->behind[of] - 1].before[of] : &l->last) = run + 1;
}

static void remove_from_list(struct greedy_tasks *t, uint32_t run, int of)
{
	struct task_run_at *r = &t->runs[run];
	struct task_list *l = &t->lists[r->list[of]];
	*(r->before[of] ? &t->runs[r->before[of] - 1].behind[of] : &l->first) = r->behind[of];
	*(r->behind[of] ? &t->runs[r->behind[of] - 1].before[of] : &l->last) = r->before[of];
}

/* ---- Who sleeps ------------------------------------------------------------------------------- */

static void wake(struct greedy *y, uint32_t body, double when)
{
	y->tasks->stays[body].wakes = when;
	heap_add(&y->heap, heap_key((int64_t)when), body);
}

static void wake_sleeper(struct greedy *y, uint32_t list, double when)
{
	uint32_t sleeper = y->tasks->lists[list].sleeper;
	y->tasks->lists[list].sleeper = GREEDY_NONE;
	if (sleeper != GREEDY_NONE)
		wake(y, sleeper, when);
}

/* Whoever is idle longest. */
static void wake_idle(struct greedy *y, uint32_t list, double when)
{
	struct greedy_tasks *t = y->tasks;
	struct task_barrier *b = t->idle_at[list] == GREEDY_NONE ? NULL : &t->barriers[t->idle_at[list]];
	if (!b || b->nidle == 0)
		return;
	uint32_t body = b->idle[0];
	memmove(b->idle, b->idle + 1, --b->nidle * sizeof *b->idle);
	wake(y, body, when);
}

/* Where all are idle, and no task is left, all go on since the last has come. */
static void idle(struct greedy *y, uint32_t body, const struct task_stop *w)
{
	struct greedy_tasks *t = y->tasks;
	struct task_barrier *b = &t->barriers[w->barrier];
	t->idle_at[w->list] = w->barrier;
	b->idle[b->nidle++] = body;
	b->over = b->nidle == b->nwaits && t->lists[w->list].left == 0;
	while (b->over && b->nidle > 0)
		wake_idle(y, w->list, b->came);
}

/* ---- A replay --------------------------------------------------------------------------------- */

void greedy_begin_tasks(struct greedy *y)
{
	struct greedy_tasks *t = y->tasks;
	for (size_t i = 0; i < t->nruns; i++)
		t->runs[i].taken = false;
	for (size_t i = 0; i < t->nlists; i++) {
		t->lists[i] = (struct task_list){ .sleeper = GREEDY_NONE };
		t->idle_at[i] = GREEDY_NONE;
	}
	for (size_t i = 0; i < t->nbarriers; i++) {
		t->barriers[i].nidle = 0;
		t->barriers[i].came = -INFINITY;
		t->barriers[i].over = false;
	}
	for (size_t i = 0; i < y->g->trace->nthreads; i++) {
		t->stays[i].n = 0;
		t->stays[i].asleep = false;
	}
}

/* Whether all that a task does is to work, and what others wait for. */
static bool may_discard(const struct greedy *y, const struct task_run_at *r)
{
	for (uint32_t i = r->point + 1; i < r->ends; i++) {
		uint8_t what = y->points[i].what;
		if (what == GRAPH_COMES || what == GRAPH_REQUESTS || what == GRAPH_FINISHES || what == GRAPH_RELEASES)
			return false;
	}
	return true;
}

static void remove_task(struct greedy_tasks *t, uint32_t run)
{
	struct task_run_at *r = &t->runs[run];
	r->taken = true;
	for (int of = 0; of < NLISTS; of++)
		if (r->list[of] != GREEDY_NONE) {
			remove_from_list(t, run, of);
			t->lists[r->list[of]].left--;
		}
}

static void end_run(struct greedy *y, const struct task_run_at *r)
{
	struct greedy_tasks *t = y->tasks;
	for (int of = 0; of < OF_TEAM; of++)
		if (r->list[of] != GREEDY_NONE && --t->lists[r->list[of]].made == 0)
			wake_sleeper(y, r->list[of], y->now);
}

/* A task that is ready never begins; unless what was posted for another one has discarded it already. */
static void discard(struct greedy *y, uint32_t run)
{
	struct task_run_at *r = &y->tasks->runs[run];
	if (r->taken || !may_discard(y, r))
		return;
	remove_task(y->tasks, run);
	greedy_pass_at_once(y, r->point + 1, r->ends);
	y->passed++;
	end_run(y, r);
}

static void discard_all(struct greedy *y, struct task_list *group)
{
	group->cancelled = true;
	for (uint32_t next = group->first, run; next;) {
		run = next - 1;
		next = y->tasks->runs[run].behind[OF_GROUP];
		discard(y, run);
	}
}

void greedy_make_task(struct greedy *y, uint32_t input)
{
	struct greedy_tasks *t = y->tasks;
	uint32_t node = y->g->inputs[input].node, run = t->run_of[node];
	if (run == GREEDY_NONE)
		return;
	struct task_run_at *r = &t->runs[run];
	bool made = input == y->g->nodes[node].first + 1, ready = !r->taken && y->waits[node].missing == 1;
	for (int of = 0; of < NLISTS; of++) {
		struct task_list *l = r->list[of] == GREEDY_NONE ? NULL : &t->lists[r->list[of]];
		if (!l)
			continue;
		l->made += made;
		l->left += made;
		if (!ready)
			continue;
		add_to_list(t, run, of);
		if (of == OF_TEAM)
			wake_idle(y, r->list[of], y->now + t->delay);
		else
			wake_sleeper(y, r->list[of], y->now + t->delay);
	}
	if (ready && r->list[OF_GROUP] != GREEDY_NONE && t->lists[r->list[OF_GROUP]].cancelled)
		discard(y, run);
}

static void go_to(struct greedy *y, struct greedy_body *b, uint32_t point)
{
	y->changed |= point != b->point;
	b->saving = y->points[point].at - y->now;
	b->point = point;
	b->thread = y->points[point].thread;
}

static void take(struct greedy *y, struct greedy_body *b, uint32_t run)
{
	struct greedy_tasks *t = y->tasks;
	remove_task(t, run);
	b->slower = 0;
	go_to(y, b, t->runs[run].point);
}

/* The body runs the next task, or is through with its wait; or sleeps there: false. */
static bool look_for_task(struct greedy *y, struct greedy_body *b)
{
	struct greedy_tasks *t = y->tasks;
	uint32_t body = (uint32_t)(b - y->bodies);
	struct task_stays *s = &t->stays[body];
	struct task_stay *in = &s->v[s->n - 1];
	const struct task_stop *w = &t->waits[in->wait];
	struct task_list *l = &t->lists[w->list];
	if (l->first) {
		in->run = l->first - 1;
		take(y, b, in->run);
		return true;
	}
	s->asleep = w->kind == GRAPH_FOR_TEAM ? !t->barriers[w->barrier].over : w->kind == GRAPH_FOR_TASKS && l->made > 0;
	if (!s->asleep) {
		b->slower = in->slower;
		s->n--;
		go_to(y, b, w->finish);
		return true;
	}
	if (w->kind == GRAPH_FOR_TEAM)
		idle(y, body, w);
	else
		l->sleeper = body;
	return false;
}

bool greedy_come_for_task(struct greedy *y, struct greedy_body *b)
{
	struct greedy_tasks *t = y->tasks;
	struct task_stays *s = &t->stays[b - y->bodies];
	struct task_stay *in = s->n ? &s->v[s->n - 1] : NULL;
	if (s->asleep) {
		y->now = s->wakes;
		s->asleep = false;
		return look_for_task(y, b);
	}
	if (in && in->run != GREEDY_NONE && t->runs[in->run].ends == b->point) {
		struct task_run_at *r = &t->runs[in->run];
		end_run(y, r);
		if (r->cancels && r->list[OF_GROUP] != GREEDY_NONE)
			discard_all(y, &t->lists[r->list[OF_GROUP]]);
		in->run = GREEDY_NONE;
	} else {
		*MEM_GROW(s->v, s->n) = (struct task_stay){ y->points[b->point].number, GREEDY_NONE, b->slower };
		in = &s->v[s->n - 1];
	}
	const struct task_stop *w = &t->waits[in->wait];
	if (w->kind == GRAPH_FOR_TEAM)
		t->barriers[w->barrier].came = fmax(t->barriers[w->barrier].came, y->now);
	return look_for_task(y, b);
}

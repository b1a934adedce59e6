/* SPDX-License-Identifier: MIT
 *
 * greedy.c - a replay in the order of time. Threads of the what-if are *bodies*: where work is shared out, one may go
 * on where another thread was in this run. */
#include "analysis/coz/greedy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/memory.h"
#include "analysis/base/search.h"

#define NONE UINT32_MAX
#define PASSED UINT8_MAX /* a point within a wait that begins before it: it is no moment of its own */

/* A synchronisation point: when it was, and how much less there would be to do before it, in the scenario. */
struct greedy_point { double at, less; uint32_t thread, number; uint8_t what; bool ends; };
struct less { uint32_t point, region; double ticks; };

/* What a node waits for; its inputs but those of its turn. */
struct greedy_wait {
	double saving;           /* the least so far */
	uint32_t missing;        /* inputs */
	uint32_t turn;           /* or NONE */
	uint32_t bodies;         /* that sleep: the first, and 1; or 0 */
	uint32_t instead;        /* the turn whose message came, of an inbox; or NONE */
	bool happened;
};

/* Somebody in a queue, or what arrived in an inbox: since when, what decides where it stands, and the turn in this run. */
struct waiter { double since, place; uint32_t turn; };
struct greedy_line { struct waiter *v; size_t n, first; };

struct queue {
	struct greedy_line waiting, arrived;
	size_t readers, permits;
	size_t came;             /* what was left there, so far */
	size_t all;              /* batches: and in this run, */
	uint32_t last_turn, last_at; /* of which that turn takes the last, and the point at which it is waited for */
	bool held;
	bool barges;             /* in this run somebody was before those who stood there; */
	bool wakes;              /* so somebody stands there who is not awake yet, */
	double awake;            /* but then */
	double left;             /* when it was last given back */
	uint32_t last;           /* turn that was had */
};

/* Behind the point at which a thread came there is a piece of work, which it had then. */
struct greedy_piece {
	double at, begins, ready; /* when it was had, began, and could have begun for all that others do */
	uint32_t point, node;    /* that a task waits for when it begins; or NONE */
	size_t left;             /* a batch: so much had been left when it was had */
	bool rests, taken;
};
struct greedy_own { uint32_t point; bool rests, passed; };
struct greedy_group {
	struct greedy_piece *pieces; size_t npieces, next; /* in the order in which they were had */
	struct greedy_own *own; size_t nown;    /* where a thread goes on by itself: where it rests, and where it comes last; by point */
};

/* When somebody had his turn; what it took to be given what another gave back; and how much later than it seems he stood in
 * the queue, and what arrived for him. */
struct had { double at, handed, late, came_late; };

/* What is done with a message that is from anyone: the points from `first` on, up to another; behind the end of the wait, where it
 * is said at once that the next one may come. Of one that is `open` it is not known how much of what comes behind the last of the points
 * is done with it, and how much with none. One that `answers` gives something back to whom the message is from. */
struct service { uint32_t waits, first, end; bool open, answers; };

struct body {
	uint32_t thread, point, next_sleeper;
	uint32_t serves, other;  /* the turn that it is behind, if it serves another one's message; or NONE */
	double saving;
};

struct greedy {
	const struct graph *g;
	const struct savings *all;
	struct greedy_point *points; size_t npoints;
	struct less *less; size_t nless;
	uint32_t *first;         /* point of each thread */
	uint32_t nthreads_seen;
	double *came, *slack;    /* of each input: when; absent: NAN */
	uint32_t *turn_of;       /* of each node; */
	uint32_t *waits_for;     /* how many of its inputs are waited for, but for those of its turn */
	struct greedy_wait *waits;
	struct had *had;         /* of each turn */
	struct service *services; /* likewise, of inboxes */
	bool *shares;            /* each thread: its work may be another's */
	bool serves;             /* whoever comes is served as he was */
	struct queue *queues;
	struct greedy_group *groups;
	struct body *bodies;
	struct heap heap;
	size_t nprobes;
	size_t looks, unknown;   /* nodes that are looks; and others of which nobody knows what was waited for */
	double *baseline;        /* likewise, with nothing faster; or NULL */
	bool baseline_changed, baseline_stuck;
	size_t region;           /* whose time is in `points`, */
	bool region_has;         /* if there is any */

	/* of one replay */
	double share, *found;    /* each probe's saving, and the end's */
	size_t passed;           /* points */
	bool changed;            /* something was decided otherwise than in this run, or is waited for that was not */
};

/* ---- What is replayed ------------------------------------------------------------------------- */

static double middle(frz_time t)
{
	return (double)t.lo + (double)(t.hi - t.lo) / 2;
}

static size_t count_points(const struct graph *g)
{
	size_t n = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		n += g->threads[t].nsyncs;
	return n;
}

static size_t count_probes(const struct graph *g)
{
	size_t n = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		for (size_t i = 0; i < g->threads[t].nsyncs; i++)
			n += g->threads[t].syncs[i].what == GRAPH_PROBE;
	return n;
}

static bool nothing_to_decide(const struct graph *g)
{
	return g->nturns == 0 && g->ngroups == 0;
}

bool greedy_too_many(const struct graph *g, size_t scenarios)
{
	size_t n = nothing_to_decide(g) ? 0 : count_points(g);
	return n > GREEDY_POINTS || n * scenarios > GREEDY_MOST;
}

struct greedy *greedy_open(const struct graph *g, const struct savings *all)
{
	size_t n = nothing_to_decide(g) ? 0 : count_points(g);
	if (n == 0 || n > GREEDY_POINTS)
		return NULL;
	struct greedy *y = mem_resize(NULL, 1, sizeof *y);
	*y = (struct greedy){ .g = g, .all = all, .nprobes = count_probes(g), .region = SIZE_MAX };
	y->points = mem_resize(NULL, n, sizeof *y->points);
	y->first = mem_resize(NULL, g->trace->nthreads + 1, sizeof *y->first);
	y->came = mem_resize(NULL, g->ninputs + 1, sizeof *y->came);
	y->slack = mem_resize(NULL, g->ninputs + 1, sizeof *y->slack);
	for (size_t i = 0; i < g->ninputs; i++)
		y->slack[i] = NAN;
	y->found = mem_resize(NULL, y->nprobes + 1, sizeof *y->found);
	return y;
}

void greedy_close(struct greedy *y)
{
	if (!y)
		return;
	for (size_t q = 0; y->queues && q < y->g->nqueues; q++) {
		free(y->queues[q].waiting.v);
		free(y->queues[q].arrived.v);
	}
	for (size_t i = 0; y->groups && i < y->g->ngroups; i++) {
		free(y->groups[i].pieces);
		free(y->groups[i].own);
	}
	void *arrays[] = { y->points, y->less, y->first, y->came, y->slack, y->turn_of, y->waits_for, y->waits, y->had, y->services, y->shares, y->queues,
			   y->groups, y->bodies, y->heap.items, y->baseline, y->found };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		free(arrays[i]);
	free(y);
}

void greedy_cut(struct greedy *y, size_t region, frz_time duration)
{
	*MEM_GROW(y->less, y->nless) = (struct less){ (uint32_t)y->npoints, (uint32_t)region, middle(duration) };
}

void greedy_point(struct greedy *y, uint32_t thread, const struct graph_sync_point *s, frz_time at)
{
	while (y->nthreads_seen <= thread)
		y->first[y->nthreads_seen++] = (uint32_t)y->npoints;
	uint8_t what = s->what == GRAPH_ENDS ? GRAPH_WAITS : (uint8_t)s->what;
	y->points[y->npoints++] = (struct greedy_point){ middle(at), 0, thread, s->number, what, s->what == GRAPH_ENDS };
	if (s->what == GRAPH_POSTS)
		y->came[s->number] = middle(at);
}

/* The last that can have been waited for was. Whoever else runs a task, or waits for tasks, waits for what its thread did here, too. */
void greedy_slacks(struct greedy *y, const struct graph_node *j, const struct slack *slack)
{
	double least = INFINITY;
	bool moves = j->kind == GRAPH_ARRIVAL && (j->what == GRAPH_TASK_BEGAN || j->what == GRAPH_TASKS_OVER);
	for (size_t i = 0; i < j->ninputs; i++)
		least = slack[i].absent ? least : fmin(least, (double)slack[i].hi);
	for (size_t i = 0; i < j->ninputs; i++) {
		double own = (double)slack[0].hi - least + fmax(y->came[j->first] - y->came[j->first + i], 0);
		y->slack[j->first + i] = !slack[i].absent ? (double)slack[i].hi - least : moves ? own : NAN;
	}
}

/* ---- Made ready once --------------------------------------------------------------------------- */

static void find_turns(struct greedy *y)
{
	const struct graph *g = y->g;
	y->turn_of = mem_resize(NULL, g->nnodes, sizeof *y->turn_of);
	memset(y->turn_of, 0xff, g->nnodes * sizeof *y->turn_of);
	y->queues = mem_resize(NULL, g->nqueues + 1, sizeof *y->queues);
	memset(y->queues, 0, g->nqueues * sizeof *y->queues);
	for (size_t i = 0; i < g->nturns; i++)
		y->turn_of[g->turns[i].node] = (uint32_t)i;
}

/* From when another gave back what the node waited for until it went on. */
static void find_handed(struct greedy *y)
{
	const struct graph *g = y->g;
	y->had = mem_resize(NULL, g->nturns + 1, sizeof *y->had);
	memset(y->had, 0, g->nturns * sizeof *y->had);
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : NONE;
		if (turn == NONE)
			continue;
		const struct graph_node *j = &g->nodes[p->number];
		double least = INFINITY;
		for (uint32_t k = g->turns[turn].first; k < g->turns[turn].first + g->turns[turn].n; k++) {
			double took = p->at - y->came[j->first + k] - y->slack[j->first + k];
			least = isnan(took) ? least : fmin(least, fmax(took, 0));
		}
		y->had[turn] = (struct had){ .at = p->at, .handed = isinf(least) ? 0 : least };
	}
}

static bool is_of_turn(const struct graph_turn *turn, const struct graph_node *j, uint32_t input)
{
	return input >= j->first + turn->first && input < j->first + turn->first + turn->n;
}

/* By how much the node's begin, or what arrived for it, could have come later: the least of them. */
static double least_slack(const struct greedy *y, const struct graph_turn *turn, bool arrived)
{
	const struct graph_node *j = &y->g->nodes[turn->node];
	double least = INFINITY;
	for (uint32_t k = j->first; k < j->first + j->ninputs; k++)
		if (is_of_turn(turn, j, k) == arrived && !isnan(y->slack[k]))
			least = fmin(least, y->slack[k]);
	return least;
}

/* Behind everybody before it; returns by how much that is later than it seems. */
static double stand_behind(double *last, double seems)
{
	double place = fmax(seems, *last + 1);
	*last = place;
	return place - seems;
}

/* Who had his turn before another had come first, whatever their stamps say: the queue is not quite fair, or they came
 * within less than it takes to stand in it. In another run they would be apart by as much. */
static void find_late(struct greedy *y)
{
	const struct graph *g = y->g;
	double *last = mem_resize(NULL, 2 * g->nqueues + 1, sizeof *last);
	for (size_t q = 0; q < 2 * g->nqueues; q++)
		last[q] = -INFINITY;
	for (size_t i = 0; i < g->nturns; i++) {
		const struct graph_turn *turn = &g->turns[i];
		double waits = least_slack(y, turn, false), arrived = least_slack(y, turn, true);
		if (!isinf(waits))
			y->had[i].late = stand_behind(&last[2 * turn->queue], y->had[i].at - waits);
		y->queues[turn->queue].barges |= y->had[i].late > y->had[i].handed;
		if (!isinf(arrived))
			y->had[i].came_late = stand_behind(&last[2 * turn->queue + 1], y->had[i].at - arrived);
	}
	free(last);
}

static int by_time(const void *x, const void *y)
{
	const struct greedy_piece *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->point > b->point) - (a->point < b->point);
}

/* They are in the order of threads. */
static void sort_pieces(const struct greedy *y, struct greedy_group *group)
{
	size_t n = 0;
	for (size_t i = 0; i < group->npieces; i++) {
		struct greedy_piece *p = &group->pieces[i];
		bool last = i + 1 == group->npieces || y->points[p[0].point].thread != y->points[p[1].point].thread;
		if (last || p->rests)
			*MEM_GROW(group->own, group->nown) = (struct greedy_own){ p->point, p->rests, false };
		else
			group->pieces[n++] = *p;
	}
	group->npieces = n;
	if (n)
		qsort(group->pieces, n, sizeof *group->pieces, by_time);
}

static bool are_of_several(const struct greedy *y, const struct greedy_group *group)
{
	for (size_t i = 1; i < group->npieces; i++)
		if (y->points[group->pieces[i].point].thread != y->points[group->pieces[0].point].thread)
			return true;
	return false;
}

static bool is_begin_of_task(const struct greedy *y, const struct greedy_point *p)
{
	const struct graph_node *j = &y->g->nodes[p->number];
	return p->what == GRAPH_WAITS && j->kind == GRAPH_ARRIVAL && j->what == GRAPH_TASK_BEGAN;
}

static double least_slack_of_others(const struct greedy *y, uint32_t node)
{
	const struct graph_node *j = &y->g->nodes[node];
	double least = INFINITY;
	for (uint32_t i = j->first + 1; i < j->first + j->ninputs; i++)
		if (!isnan(y->slack[i]))
			least = fmin(least, y->slack[i]);
	return least;
}

static void have_piece(const struct greedy *y, struct greedy_piece *piece, uint32_t point)
{
	piece->at = y->points[point].at;
	for (uint32_t i = point; i > piece->point && piece->node == NONE; i--)
		if (is_begin_of_task(y, &y->points[i])) {
			piece->node = y->points[i].number;
			piece->begins = y->points[i].at;
			piece->ready = piece->begins - least_slack_of_others(y, piece->node);
		}
}

static int by_value(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/* When everything was left in a queue, in order. To be freed. */
static double *find_left(const struct greedy *y, uint32_t queue, size_t *n)
{
	double *left = NULL;
	*n = 0;
	for (size_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_LEAVES && y->points[i].number == queue)
			*MEM_GROW(left, *n) = y->points[i].at;
	if (*n)
		qsort(left, *n, sizeof *left, by_value);
	return left;
}

static bool is_turn_at(const struct greedy *y, const struct greedy_point *p, uint32_t queue)
{
	uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : NONE;
	return turn != NONE && y->g->turns[turn].queue == queue;
}

/* Of a group's batches, which are those of one thread, in its order. Their turns come soon behind. */
static void find_batches(struct greedy *y, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	uint32_t queue = y->g->groups[number].queue;
	struct queue *q = &y->queues[queue];
	size_t n, k = 0;
	double *left = find_left(y, queue, &n);
	for (size_t i = 0; i < group->npieces; i++) {
		uint32_t at = group->pieces[i].point, end = y->first[y->points[at].thread + 1];
		while (at < end && !is_turn_at(y, &y->points[at], queue))
			at++;
		if (at == end) {
			group->npieces = i;
			break;
		}
		while (k < n && left[k] <= y->points[at].at)
			k++;
		group->pieces[i].left = k;
		q->last_at = at;
		q->last_turn = y->turn_of[y->points[at].number];
		q->all = k;
	}
	free(left);
}

static void find_pieces(struct greedy *y)
{
	const struct graph *g = y->g;
	y->groups = mem_resize(NULL, g->ngroups + 1, sizeof *y->groups);
	memset(y->groups, 0, g->ngroups * sizeof *y->groups);
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what == GRAPH_COMES || p->what == GRAPH_RESTS)
			*MEM_GROW(y->groups[p->number].pieces, y->groups[p->number].npieces) =
				(struct greedy_piece){ .at = INFINITY, .point = (uint32_t)i, .node = NONE, .rests = p->what == GRAPH_RESTS };
		else if (p->what == GRAPH_SHARES)
			have_piece(y, &y->groups[p->number].pieces[y->groups[p->number].npieces - 1], (uint32_t)i);
	}
	for (size_t i = 0; i < g->ngroups; i++) {
		if (g->groups[i].batches) {
			find_batches(y, (uint32_t)i);
			continue;
		}
		sort_pieces(y, &y->groups[i]);
		if (g->groups[i].many || (g->groups[i].one && are_of_several(y, &y->groups[i])))
			y->groups[i].npieces = y->groups[i].nown = 0;
		else if (g->groups[i].one && y->groups[i].npieces > 1)
			y->groups[i].npieces = 1; /* with all that is behind it */
	}
}

/* Who looked at several, until nobody knows what, and then took something that arrived: that is what it looked for, so
 * looking takes no time of its own. */
static void find_looks(struct greedy *y)
{
	const struct graph *g = y->g;
	const struct greedy_point *look = NULL;
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what != GRAPH_WAITS)
			continue;
		uint32_t turn = y->turn_of[p->number];
		bool takes = turn != NONE && g->queues[g->turns[turn].queue].kind == GRAPH_INBOX;
		if (look && takes && look->thread == p->thread) {
			const struct graph_node *j = &g->nodes[look->number];
			y->slack[j->first] = look->at - y->came[j->first];
			for (uint32_t k = 1; k < j->ninputs; k++) /* no more than that */
				y->slack[j->first + k] = NAN;
			y->looks++;
			y->unknown -= !graph_is_presumed(j);
		}
		look = g->nodes[p->number].kind == GRAPH_UNKNOWN ? p : NULL;
		y->unknown += look && !graph_is_presumed(&g->nodes[look->number]);
	}
}

bool greedy_knows(const struct greedy *y)
{
	return y->looks > 0 && y->unknown == 0 && y->g->trace->nclocks == 1;
}

static bool is_inbox(const struct greedy *y, uint32_t turn)
{
	return turn != NONE && y->g->queues[y->g->turns[turn].queue].kind == GRAPH_INBOX;
}

static uint32_t sender_of(const struct greedy *y, uint32_t turn)
{
	const struct graph_turn *t = &y->g->turns[turn];
	return y->g->inputs[y->g->nodes[t->node].first + t->first].thread;
}

/* Where a service ends whose thread waits for the next message from anyone at a point, or does nothing more. */
static uint32_t end_of_service(const struct greedy *y, uint32_t first, uint32_t next)
{
	const struct greedy_point *p = y->points;
	if (next == y->first[p[first - 1].thread + 1])
		return next;
	uint32_t begins = y->g->nodes[p[next].number].first;
	while (next > first && (p[next].what != GRAPH_POSTS || p[next].number != begins))
		next--;
	return next;
}

/* Who waits for each node. */
static uint32_t *find_waiters(const struct greedy *y)
{
	uint32_t *waiters = mem_resize(NULL, y->g->nnodes + 1, sizeof *waiters);
	memset(waiters, 0xff, y->g->nnodes * sizeof *waiters);
	for (size_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_WAITS)
			waiters[y->points[i].number] = y->points[i].thread;
	return waiters;
}

static bool gives_back(const struct greedy *y, const struct service *s, uint32_t sender, const uint32_t *waiters)
{
	const struct graph *g = y->g;
	for (uint32_t i = s->first; i < s->end; i++)
		if (y->points[i].what == GRAPH_POSTS && waiters[g->inputs[y->points[i].number].node] == sender)
			return true;
	return false;
}

static bool is_absent(const struct greedy *y, uint32_t point)
{
	return y->points[point].what == GRAPH_POSTS && isnan(y->slack[y->points[point].number]);
}

/* From one point on, but for what nobody waits for. */
static uint32_t count_between(const struct greedy *y, uint32_t first, uint32_t end)
{
	uint32_t n = 0;
	for (; first < end; first++)
		n += !is_absent(y, first);
	return n;
}

/* Behind so many of them. */
static uint32_t behind_points(const struct greedy *y, uint32_t first, uint32_t end, uint32_t n)
{
	for (; first < end && (n > 0 || is_absent(y, first)); first++)
		n -= !is_absent(y, first);
	return first;
}

/* As many points as behind any other message of the same inbox: what comes only behind some, such as a barrier, is no part of it. */
static void find_services(struct greedy *y)
{
	const struct graph *g = y->g;
	y->services = mem_resize(NULL, g->nturns + 1, sizeof *y->services);
	memset(y->services, 0xff, g->nturns * sizeof *y->services);
	y->shares = mem_resize(NULL, g->trace->nthreads + 1, sizeof *y->shares);
	memset(y->shares, 0, g->trace->nthreads * sizeof *y->shares);
	uint32_t *least = mem_resize(NULL, g->nqueues + 1, sizeof *least), next = (uint32_t)y->npoints;
	memset(least, 0xff, g->nqueues * sizeof *least);
	for (uint32_t i = (uint32_t)y->npoints; i-- > 0;) {
		const struct greedy_point *p = &y->points[i];
		uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : NONE, first = i + 1;
		y->shares[p->thread] |= p->what == GRAPH_COMES;
		if (!is_inbox(y, turn))
			continue;
		next = next < y->first[p->thread + 1] ? next : y->first[p->thread + 1];
		while (first < next && y->points[first].at == p->at)
			first++;
		uint32_t end = end_of_service(y, first, next), *known = &least[g->turns[turn].queue];
		uint32_t n = count_between(y, first, end);
		*known = n < *known ? n : *known;
		y->services[turn] = (struct service){ i, first, end, next == y->first[p->thread + 1], false };
		next = i;
	}
	uint32_t *waiters = find_waiters(y);
	for (uint32_t i = 0; i < g->nturns; i++) {
		struct service *s = &y->services[i];
		if (s->waits == NONE)
			continue;
		uint32_t end = behind_points(y, s->first, s->end, least[g->turns[i].queue]);
		s->open |= end != s->end;
		s->end = end;
		s->answers = gives_back(y, s, sender_of(y, i), waiters);
	}
	free(waiters);
	free(least);
}

/* Where each node's wait begins, and where it is over: points, or NONE. */
struct wait_points { uint32_t *begin, *end; };

static struct wait_points find_waits(const struct greedy *y)
{
	size_t n = y->g->nnodes + 1;
	struct wait_points w = { mem_resize(NULL, n, sizeof *w.begin), mem_resize(NULL, n, sizeof *w.end) };
	memset(w.begin, 0xff, n * sizeof *w.begin);
	memset(w.end, 0xff, n * sizeof *w.end);
	for (uint32_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		uint32_t node = p->what == GRAPH_POSTS ? y->g->inputs[p->number].node : p->what == GRAPH_WAITS ? p->number : NONE;
		if (p->what == GRAPH_POSTS && p->number == y->g->nodes[node].first)
			w.begin[node] = i;
		else if (p->what == GRAPH_WAITS)
			w.end[node] = i;
	}
	return w;
}

/* What a thread does at a point between the begin of a wait and its end: nothing that concerns others, or it has a lock for a while. */
enum within { ELSEWHERE, OF_WAIT, TAKES_LOCK, LEAVES_LOCK };

static bool is_of_lock(const struct greedy *y, uint32_t turn)
{
	return turn != NONE && y->g->queues[y->g->turns[turn].queue].kind == GRAPH_LOCK;
}

static enum within is_within_wait(const struct greedy *y, const struct greedy_point *p)
{
	const struct graph *g = y->g;
	if (p->what == GRAPH_LEAVES)
		return g->queues[p->number].kind == GRAPH_LOCK ? LEAVES_LOCK : ELSEWHERE;
	if (p->what == GRAPH_GIVES)
		return OF_WAIT;
	if (p->what != GRAPH_POSTS && p->what != GRAPH_WAITS)
		return ELSEWHERE;
	if (p->what == GRAPH_POSTS && isnan(y->slack[p->number]))
		return OF_WAIT; /* it is absent */
	uint32_t node = p->what == GRAPH_POSTS ? g->inputs[p->number].node : p->number, turn = y->turn_of[node];
	const struct graph_node *j = &g->nodes[node];
	if (is_of_lock(y, turn) && p->what == GRAPH_WAITS)
		return TAKES_LOCK;
	if (is_of_lock(y, turn) && (g->inputs[j->first].thread == p->thread || is_of_turn(&g->turns[turn], j, p->number)))
		return OF_WAIT;
	bool own = j->nwaiting == 1 && turn == NONE;
	for (uint32_t i = j->first; i < j->first + j->ninputs; i++)
		own &= g->inputs[i].thread == p->thread;
	return own ? OF_WAIT : ELSEWHERE;
}

#define MOST_PASSED 8 /* looks at each point */

/* Its own thread waits for it, from a point on. */
static bool is_for_own(const struct greedy *y, const struct wait_points *w, const struct greedy_point *p, uint32_t from)
{
	const struct graph *g = y->g;
	if (p->what != GRAPH_POSTS || isnan(y->slack[p->number]))
		return false;
	uint32_t node = g->inputs[p->number].node;
	return g->inputs[g->nodes[node].first].thread == p->thread && w->end[node] >= from;
}

/* Passes over the points behind one and before another, if they are of a wait, in which each lock that is taken is given back. What
 * happens when that begins may be anything. */
static bool pass_between(struct greedy *y, const struct wait_points *w, uint32_t from, uint32_t end, size_t *looks)
{
	size_t locks = 0;
	uint32_t first = end;
	for (; first > from + 1; first--, (*looks)--) {
		const struct greedy_point *p = &y->points[first - 1];
		enum within what = *looks > 0 ? is_within_wait(y, p) : ELSEWHERE;
		if (what == ELSEWHERE || is_for_own(y, w, p, end) || (what == TAKES_LOCK && locks == 0))
			break;
		locks += (what == LEAVES_LOCK) - (size_t)(what == TAKES_LOCK);
	}
	if (locks > 0 || y->points[first - 1].at > y->points[from].at)
		return false;
	for (; first < end; first++)
		y->points[first].what = PASSED;
	return true;
}

/* The wait at a point begins earlier than it did, at another one. */
static void begin_at(struct greedy *y, uint32_t from, uint32_t begin, uint32_t wait)
{
	for (uint32_t i = begin; i < wait; i++) {
		if (y->points[i].what == GRAPH_POSTS)
			y->slack[y->points[i].number] += y->points[i].at - y->points[from].at;
		y->points[i].at = y->points[from].at;
	}
}

/* Attempts in vain, and what is done between them, are part of a wait that begins before them: in a replay it may be over before the last
 * of them was made here. */
static void pass_attempts(struct greedy *y)
{
	struct wait_points w = find_waits(y);
	size_t looks = MOST_PASSED * y->npoints;
	for (uint32_t i = (uint32_t)y->npoints; i-- > 0;) {
		const struct greedy_point *p = &y->points[i];
		uint32_t from = p->what == GRAPH_WAITS ? w.begin[p->number] : NONE, to = i;
		if (from == NONE || from >= i || y->points[from].thread != p->thread)
			continue;
		bool behind = p->ends && p[-1].what == GRAPH_WAITS && !p[-1].ends && p[-1].at >= p->at && w.begin[p[-1].number] < i;
		if (behind) /* another one */
			to = w.begin[p[-1].number];
		if (to <= from || !pass_between(y, &w, from, to, &looks))
			continue;
		if (behind)
			begin_at(y, from, to, i - 1);
		i = from + 1;
	}
	free(w.begin);
	free(w.end);
}

static void count_inputs(struct greedy *y)
{
	const struct graph *g = y->g;
	y->waits_for = mem_resize(NULL, g->nnodes + 1, sizeof *y->waits_for);
	memset(y->waits_for, 0, g->nnodes * sizeof *y->waits_for);
	for (uint32_t i = 0; i < g->ninputs; i++) {
		uint32_t node = g->inputs[i].node, turn = y->turn_of[node];
		bool of_turn = turn != NONE && is_of_turn(&g->turns[turn], &g->nodes[node], i);
		y->waits_for[node] += !of_turn && !isnan(y->slack[i]);
	}
}

static void make_ready(struct greedy *y)
{
	size_t nthreads = y->g->trace->nthreads;
	while (y->nthreads_seen <= nthreads)
		y->first[y->nthreads_seen++] = (uint32_t)y->npoints;
	for (size_t i = 0; i < y->g->nnodes; i++) /* what was not said */
		if (y->g->nodes[i].ninputs && isnan(y->slack[y->g->nodes[i].first]))
			y->slack[y->g->nodes[i].first] = 0;
	find_turns(y);
	pass_attempts(y);
	find_services(y);
	find_looks(y);
	count_inputs(y);
	find_handed(y);
	find_late(y);
	find_pieces(y);
	y->waits = mem_resize(NULL, y->g->nnodes, sizeof *y->waits);
	y->bodies = mem_resize(NULL, nthreads + 1, sizeof *y->bodies);
	y->heap.items = mem_resize(NULL, nthreads + y->g->nqueues + 1, sizeof *y->heap.items);
}

/* ---- Bodies ----------------------------------------------------------------------------------- */

/* Behind a wait that has happened. Where another message came, that is served. */
static void pass(struct body *b, const struct greedy_wait *w)
{
	b->saving = w->saving;
	if (w->instead == NONE)
		return;
	b->serves = w->turn;
	b->other = w->instead;
}

/* Sleeps where the node has not happened yet. */
static bool passes(struct greedy *y, struct body *b, uint32_t node)
{
	struct greedy_wait *w = &y->waits[node];
	if (w->happened) {
		pass(b, w);
		return true;
	}
	b->next_sleeper = w->bodies;
	w->bodies = (uint32_t)(b - y->bodies) + 1;
	return false;
}

/* Comes to its next point, which may be where it begins to serve another message, or where that is over. */
static const struct greedy_point *arrive(const struct greedy *y, struct body *b)
{
	const struct greedy_point *p = y->points;
	const struct service *own = b->serves == NONE ? NULL : &y->services[b->serves];
	const struct service *other = own ? &y->services[b->other] : NULL;
	bool open = own && (own->open || other->open), over;
	if (own && b->point == own->first) {
		b->saving += p[other->waits].at - p[own->waits].at;
		b->point = other->first;
	}
	over = own && b->point == other->end;
	if (over && open) {
		b->saving += p[own->end - 1].at - p[other->end - 1].at;
		b->point = own->end;
	}
	b->saving += y->share * p[b->point].less;
	if (over && !open) {
		b->saving += p[own->end].at - p[other->end].at;
		b->point = own->end;
	}
	b->serves = over ? NONE : b->serves;
	return &p[b->point];
}

/* To the next point at which it does something. */
static void go_on(struct greedy *y, struct body *b)
{
	for (; b->point < y->first[b->thread + 1]; b->point++) {
		const struct greedy_point *p = arrive(y, b);
		if (p->what == PASSED) {
			y->passed++;
			continue;
		}
		if (p->what != GRAPH_WAITS) {
			heap_add(&y->heap, heap_key((int64_t)(p->at - b->saving)), (uint32_t)(b - y->bodies));
			return;
		}
		if (!passes(y, b, p->number))
			return;
		y->passed++;
	}
}

/* The node has happened so much earlier: who slept goes on. */
static void happen(struct greedy *y, uint32_t node, double saving)
{
	struct greedy_wait *w = &y->waits[node];
	w->happened = true;
	w->saving = saving;
	if (node == y->g->end)
		y->found[y->nprobes] = saving;
	for (uint32_t sleeper = w->bodies, next; sleeper; sleeper = next) {
		struct body *b = &y->bodies[sleeper - 1];
		next = b->next_sleeper;
		pass(b, w);
		b->point++;
		y->passed++;
		go_on(y, b);
	}
	w->bodies = 0;
}

/* ---- Queues ----------------------------------------------------------------------------------- */

/* Behind those whose place is no later. */
static void stand_in(struct greedy_line *l, struct waiter w)
{
	*MEM_GROW(l->v, l->n) = w;
	size_t i = l->n - 1;
	for (; i > l->first && l->v[i - 1].place > w.place; i--)
		l->v[i] = l->v[i - 1];
	l->v[i] = w;
}

static struct waiter step_out(struct greedy_line *l, size_t i)
{
	struct waiter w = l->v[i];
	memmove(&l->v[l->first + 1], &l->v[l->first], (i - l->first) * sizeof *l->v);
	l->first++;
	return w;
}

/* It is this turn's, at last. */
static void have(struct greedy *y, uint32_t turn, double when)
{
	happen(y, y->g->turns[turn].node, y->had[turn].at - when);
}

/* Something is there; and all, for whom nobody takes anything later. */
static bool has_batch(const struct queue *q, uint32_t turn)
{
	return turn == q->last_turn ? q->came >= q->all : q->permits > 0;
}

/* The first of those that may go on: if there is a permit, or the lock is free for one that wants it so. Readers pass a
 * writer that waits for readers. As many as there are: nobody. */
static size_t find_next(const struct greedy *y, uint32_t queue)
{
	const struct queue *q = &y->queues[queue];
	size_t i = q->waiting.first;
	enum graph_queue_kind kind = y->g->queues[queue].kind;
	if (kind == GRAPH_BATCHES)
		return i < q->waiting.n && has_batch(q, q->waiting.v[i].turn) ? i : q->waiting.n;
	if (kind == GRAPH_PERMITS ? q->permits == 0 : q->held)
		return q->waiting.n;
	while (i < q->waiting.n && q->readers && !y->g->turns[q->waiting.v[i].turn].shared)
		i++;
	return i;
}

/* Whether somebody waits who did not in this run, nor has anything of that turn waited for him in the visit. */
static bool waits_anew(const struct greedy *y, struct waiter w, double free)
{
	return free > w.since && isinf(least_slack(y, &y->g->turns[w.turn], true));
}

/* The body leaves out what it did up to another point. */
static void leave_out(struct greedy *y, struct body *b, uint32_t to)
{
	b->saving += y->points[to].at - y->points[b->point].at;
	for (; b->point < to; b->point++, y->passed++)
		if (y->points[b->point].what == GRAPH_PROBE)
			y->found[y->points[b->point].number] = b->saving;
	y->changed = true;
}

/* Who has slept until the last thing came takes no other batch behind it. */
static uint32_t take_last(struct greedy *y, const struct queue *q, uint32_t turn)
{
	struct greedy_wait *w = &y->waits[y->g->turns[turn].node];
	if (turn == q->last_turn || q->came < q->all || w->bodies == 0)
		return turn;
	leave_out(y, &y->bodies[w->bodies - 1], q->last_at);
	y->waits[y->g->turns[q->last_turn].node].bodies = w->bodies;
	w->bodies = 0;
	return q->last_turn;
}

static void hand_on(struct greedy *y, uint32_t queue)
{
	struct queue *q = &y->queues[queue];
	for (size_t i; (i = find_next(y, queue)) < q->waiting.n;) {
		struct waiter w = step_out(&q->waiting, i);
		bool lock = y->g->queues[queue].kind == GRAPH_LOCK, shared = y->g->turns[w.turn].shared;
		double free = q->left + y->had[w.turn].handed;
		y->changed |= w.turn < q->last || waits_anew(y, w, free);
		q->last = w.turn;
		q->permits -= !lock;
		q->held = lock && !shared;
		q->readers += lock && shared;
		if (y->g->queues[queue].kind == GRAPH_BATCHES) {
			q->permits = 0;
			w.turn = take_last(y, q, w.turn);
		}
		have(y, w.turn, fmax(w.since, free));
	}
}

/* Whether one who comes now need not stand behind others: it is free, and they sleep. */
static bool may_barge(const struct greedy *y, uint32_t queue)
{
	const struct queue *q = &y->queues[queue];
	return q->wakes && (y->g->queues[queue].kind == GRAPH_PERMITS ? q->permits > 0 : !q->held && !q->readers);
}

/* Whoever is next there has it when it is awake, unless somebody comes before. */
static void wake_next(struct greedy *y, uint32_t queue)
{
	struct queue *q = &y->queues[queue];
	size_t next = find_next(y, queue);
	if (next == q->waiting.n)
		return;
	q->awake = q->left + y->had[q->waiting.v[next].turn].handed;
	if (!q->wakes)
		heap_add(&y->heap, heap_key((int64_t)q->awake), (uint32_t)y->g->trace->nthreads + queue);
	q->wakes = true;
}

/* It was to be awake now; or later, if somebody has had it since. */
static void be_awake(struct greedy *y, uint32_t queue, uint64_t now)
{
	struct queue *q = &y->queues[queue];
	uint64_t awake = heap_key((int64_t)q->awake);
	if (awake > now) {
		heap_add(&y->heap, awake, (uint32_t)y->g->trace->nthreads + queue);
		return;
	}
	q->wakes = false;
	hand_on(y, queue);
}

static void leave(struct greedy *y, uint32_t queue, double now)
{
	struct queue *q = &y->queues[queue];
	bool was_free = may_barge(y, queue);
	q->left = now;
	q->permits++;
	q->came++;
	q->readers -= !q->held && q->readers;
	q->held = false;
	if (!q->barges)
		hand_on(y, queue);
	else if (!was_free)
		wake_next(y, queue);
}

/* Whether one thread serves and answers both messages, and who sent them do only their own work. */
static bool may_serve(const struct greedy *y, uint32_t turn, uint32_t other)
{
	const struct service *a = &y->services[turn], *b = &y->services[other];
	if (!y->serves || turn == other || a->waits == NONE || b->waits == NONE)
		return false;
	uint32_t thread = y->points[a->waits].thread, end = y->first[thread + 1];
	return thread == y->points[b->waits].thread && !y->shares[sender_of(y, turn)] && !y->shares[sender_of(y, other)] &&
	       a->answers && b->answers && a->end < end && b->end < end;
}

static void deliver(struct greedy *y, struct queue *q)
{
	while (q->arrived.first < q->arrived.n && q->waiting.first < q->waiting.n) {
		struct waiter w = step_out(&q->waiting, q->waiting.first);
		struct waiter a = step_out(&q->arrived, q->arrived.first);
		y->changed |= a.turn != w.turn;
		y->waits[y->g->turns[w.turn].node].instead = may_serve(y, w.turn, a.turn) ? a.turn : NONE;
		have(y, w.turn, fmax(w.since, a.since));
	}
}

/* It wants its turn, from then on. */
static void come(struct greedy *y, struct waiter w)
{
	uint32_t queue = y->g->turns[w.turn].queue;
	struct queue *q = &y->queues[queue];
	if (may_barge(y, queue))
		w.place = -INFINITY;
	stand_in(&q->waiting, w);
	if (y->g->queues[queue].kind == GRAPH_INBOX)
		deliver(y, q);
	else
		hand_on(y, queue);
}

/* ---- Points ----------------------------------------------------------------------------------- */

static void post(struct greedy *y, uint32_t input, double saving)
{
	uint32_t node = y->g->inputs[input].node;
	struct greedy_wait *w = &y->waits[node];
	const struct graph_turn *turn = w->turn == NONE ? NULL : &y->g->turns[w->turn];
	double earlier = saving + y->slack[input];
	if (turn && is_of_turn(turn, &y->g->nodes[node], input)) {
		struct queue *q = &y->queues[turn->queue];
		if (y->g->queues[turn->queue].kind != GRAPH_INBOX || isnan(earlier))
			return;
		double came = y->had[w->turn].at - earlier;
		stand_in(&q->arrived, (struct waiter){ came, came + y->had[w->turn].came_late, w->turn });
		deliver(y, q);
		return;
	}
	if (isnan(earlier))
		return; /* it is absent */
	w->saving = fmin(w->saving, earlier);
	if (--w->missing > 0)
		return;
	double since = turn ? y->had[w->turn].at - w->saving : 0;
	if (turn)
		come(y, (struct waiter){ since, since + y->had[w->turn].late, w->turn });
	else
		happen(y, node, w->saving);
}

/* Where a thread goes on by itself first. Not there: all of them. */
static size_t first_own(const struct greedy *y, const struct greedy_group *group, uint32_t thread)
{
	size_t lo = SEARCH(group->nown, mid, y->points[group->own[mid].point].thread < thread);
	return lo < group->nown && y->points[group->own[lo].point].thread == thread ? lo : group->nown;
}

/* Likewise, but where it has not yet done so; or NULL. */
static struct greedy_own *next_own(const struct greedy *y, const struct greedy_group *group, uint32_t thread)
{
	for (size_t i = first_own(y, group, thread); i < group->nown && y->points[group->own[i].point].thread == thread; i++)
		if (!group->own[i].passed)
			return &group->own[i];
	return NULL;
}

/* Somewhere in the only piece of what one thread alone does. */
static bool is_within(const struct greedy *y, uint32_t number, uint32_t point)
{
	const struct greedy_group *group = &y->groups[number];
	uint32_t thread = y->points[point].thread;
	if (!y->g->groups[number].one || group->npieces == 0 || y->points[group->pieces[0].point].thread != thread)
		return false;
	return point > group->pieces[0].point && point < group->own[first_own(y, group, thread)].point;
}

/* Since when it could be begun, for all that others do; infinity: nobody knows. */
static double ready_since(const struct greedy *y, const struct greedy_piece *piece)
{
	if (piece->node == NONE)
		return -INFINITY;
	const struct greedy_wait *w = &y->waits[piece->node];
	return w->missing > 1 ? INFINITY : piece->begins - w->saving;
}

#define MOST_AHEAD 64 /* pieces that are looked at */

/* Whether a piece is begun before one that was had before it: if that is not ready, or ready only later now, but was not then. */
static bool overtakes(const struct greedy *y, const struct greedy_piece *piece, const struct greedy_piece *other)
{
	double ready = ready_since(y, piece), others = ready_since(y, other);
	return ready < others && (isinf(others) || piece->ready > other->ready);
}

/* Of the pieces that are left, and were had before a moment, the next one; or NULL. */
static struct greedy_piece *choose_piece(const struct greedy *y, struct greedy_group *group, double before)
{
	struct greedy_piece *best = NULL;
	while (group->next < group->npieces && group->pieces[group->next].taken)
		group->next++;
	size_t end = group->npieces - group->next < MOST_AHEAD ? group->npieces : group->next + MOST_AHEAD;
	for (size_t i = group->next; i < end && group->pieces[i].at < before; i++) {
		struct greedy_piece *p = &group->pieces[i];
		if (!p->taken && (!best || overtakes(y, p, best)))
			best = p;
	}
	return best;
}

/* More may be there than what was taken next: it takes that at once, and comes less often. */
static void come_for_batch(struct greedy *y, struct body *b, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	size_t came = y->queues[y->g->groups[number].queue].came;
	while (group->next < group->npieces && group->pieces[group->next].left <= came)
		group->next++;
	if (group->next > 0 && group->pieces[group->next - 1].point > b->point)
		leave_out(y, b, group->pieces[group->next - 1].point);
}

/* The body goes on behind the next piece of work, or if none is left, or none of those for which it waits, where it is to go on by
 * itself. */
static void share(struct greedy *y, struct body *b, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	if (y->g->groups[number].batches) {
		come_for_batch(y, b, number);
		return;
	}
	if (is_within(y, number, b->point))
		return;
	struct greedy_own *own = next_own(y, group, (uint32_t)(b - y->bodies));
	bool each = y->g->groups[number].each, over = each && y->points[b->point].what == GRAPH_RESTS;
	double before = own && own->rests && !each ? y->points[own->point].at : INFINITY;
	struct greedy_piece *piece = over ? NULL : choose_piece(y, group, before);
	uint32_t to = piece ? piece->point : own ? own->point : NONE;
	if (piece)
		piece->taken = true;
	else if (own)
		own->passed = true;
	if (to == NONE || to == b->point)
		return;
	y->changed = true;
	b->saving += y->points[to].at - y->points[b->point].at;
	b->point = to;
	b->thread = y->points[to].thread;
}

static void do_point(struct greedy *y, struct body *b)
{
	const struct greedy_point *p = &y->points[b->point];
	switch (p->what) {
	case GRAPH_POSTS: post(y, p->number, b->saving); break;
	case GRAPH_PROBE: y->found[p->number] = b->saving; break;
	case GRAPH_LEAVES: leave(y, p->number, p->at - b->saving); break;
	case GRAPH_COMES:
	case GRAPH_RESTS: share(y, b, p->number); break;
	}
	b->point++;
	y->passed++;
	go_on(y, b);
}

/* ---- Replays ---------------------------------------------------------------------------------- */

static void begin(struct greedy *y)
{
	const struct graph *g = y->g;
	for (size_t i = 0; i < g->nnodes; i++) {
		uint32_t turn = y->turn_of[i];
		y->waits[i] = (struct greedy_wait){ .saving = INFINITY, .turn = turn, .missing = y->waits_for[i], .instead = NONE };
	}
	for (size_t q = 0; q < g->nqueues; q++) {
		struct queue *queue = &y->queues[q];
		queue->waiting.n = queue->waiting.first = queue->arrived.n = queue->arrived.first = 0;
		queue->readers = queue->last = 0;
		queue->came = 0;
		queue->permits = g->queues[q].permits;
		queue->held = queue->wakes = false;
		queue->left = -INFINITY;
	}
	for (size_t i = 0; i < g->ngroups; i++) {
		y->groups[i].next = 0;
		for (size_t k = 0; k < y->groups[i].npieces; k++)
			y->groups[i].pieces[k].taken = false;
		for (size_t k = 0; k < y->groups[i].nown; k++)
			y->groups[i].own[k].passed = false;
	}
}

/* False where some go on sleeping, or what pieces of several groups have in common was left out. */
static bool try_run(struct greedy *y, double share, bool serves)
{
	y->serves = serves;
	y->share = share;
	y->changed = false;
	y->passed = 0;
	begin(y);
	for (uint32_t t = 0; t < y->g->trace->nthreads; t++) {
		y->bodies[t] = (struct body){ .thread = t, .point = y->first[t], .serves = NONE };
		go_on(y, &y->bodies[t]);
	}
	while (y->heap.count > 0) {
		struct heap_item next = y->heap.items[0];
		heap_remove_first(&y->heap);
		if (next.source < y->g->trace->nthreads)
			do_point(y, &y->bodies[next.source]);
		else
			be_awake(y, (uint32_t)(next.source - y->g->trace->nthreads), next.key);
	}
	return y->waits[y->g->end].happened && y->passed == y->npoints;
}

static bool run(struct greedy *y, double share)
{
	return try_run(y, share, true) || try_run(y, share, false);
}

static void run_baseline(struct greedy *y)
{
	make_ready(y);
	y->baseline_stuck = !run(y, 0);
	y->baseline_changed = y->changed;
	y->baseline = y->found;
	y->found = mem_resize(NULL, y->nprobes + 1, sizeof *y->found);
}

static void choose_region(struct greedy *y, size_t region)
{
	if (y->region == region)
		return;
	for (size_t i = 0; i < y->nless; i++)
		y->points[y->less[i].point].less = 0;
	y->region_has = false;
	for (size_t i = 0; i < y->nless; i++) {
		double ticks = y->less[i].region == region ? y->less[i].ticks : 0;
		y->points[y->less[i].point].less += ticks;
		y->region_has |= ticks > 0;
	}
	y->region = region;
}

const double *greedy_replay(struct greedy *y, size_t region, size_t scenario, double *end)
{
	double part = (y->all->share[scenario].lo + y->all->share[scenario].hi) / 2;
	if (!y->baseline)
		run_baseline(y);
	choose_region(y, region);
	if (y->baseline_stuck || part == 0 || !y->region_has || !run(y, part) ||
	    !(y->changed || y->baseline_changed || y->looks))
		return NULL;
	for (size_t i = 0; i <= y->nprobes; i++)
		y->found[i] -= y->baseline[i];
	*end = y->found[y->nprobes];
	return y->found;
}

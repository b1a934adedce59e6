/* SPDX-License-Identifier: MIT
 *
 * graph_barriers.c - barriers that do not say their group, and those that processes share.
 *
 * Nobody counts the visits to a barrier that processes share. But all of them have one clock, and no thread comes for the
 * next round before it has left this one, for which all had come before: so a round ends where somebody comes after one
 * of those before has left, or when all are there. As it may be another barrier at the same place, and others may
 * come who are not in the trace, nothing is certain of it. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_barriers.h"

static int by_thread(const void *x, const void *y)
{
	const struct bare *a = x, *b = y;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->enter.thread != b->enter.thread)
		return a->enter.thread < b->enter.thread ? -1 : 1;
	return (a->enter.at > b->enter.at) - (a->enter.at < b->enter.at);
}

static frz_time time_of(const struct builder *b, struct event_ref ref)
{
	const struct times *times = b->graph->times;
	struct frz_cursor c = times_cursor(times, times->trace->threads[ref.thread].clock);
	return frz_time_of(&c, ref.stamp);
}

/* Whether the r-th barriers of these threads, each of which has `rounds`, can be one. */
static bool can_be_one(const struct builder *b, const struct bare *bare, size_t threads,
		       size_t rounds, size_t r)
{
	int64_t left = INT64_MAX, came = INT64_MIN;
	for (size_t t = 0; t < threads; t++) {
		frz_time enter = time_of(b, bare[t * rounds + r].enter);
		frz_time exit = time_of(b, bare[t * rounds + r].exit);
		left = exit.hi < left ? exit.hi : left;
		came = enter.lo > came ? enter.lo : came;
	}
	return came <= left;
}

static void add_bare_barrier(struct builder *b, const struct bare *bare, size_t threads,
			     size_t rounds, size_t r)
{
	struct node_input *inputs = mem_resize(NULL, threads, sizeof *inputs);
	for (size_t t = 0; t < threads; t++)
		inputs[t] = (struct node_input){ .ref = bare[t * rounds + r].enter, .sure = true, .needed = true };
	uint32_t node = graph_add_node(b, GRAPH_SYNC, inputs, threads);
	for (size_t t = 0; t < threads; t++)
		graph_wait(b, bare[t * rounds + r].exit, node);
	free(inputs);
}

static void doubt_bare(struct builder *b, const struct bare *bare)
{
	graph_diagnose(&b->diagnosed.alone, bare->exit, bare->site);
	graph_unknown(b, (struct wait_begin){ .enter = bare->enter }, bare->exit);
}

/* How often each of the threads has one; 0 when not all as often. */
static size_t find_rounds(const struct bare *bare, size_t n, size_t *threads)
{
	size_t rounds = 0, since = 0;
	bool even = true;
	*threads = 0;
	for (size_t i = 1; i <= n; i++) {
		if (i < n && bare[i].enter.thread == bare[i - 1].enter.thread)
			continue;
		rounds = rounds ? rounds : i - since;
		even &= i - since == rounds;
		since = i;
		++*threads;
	}
	return even ? rounds : 0;
}

void graph_bare_barriers(struct builder *b, struct barrier_records *records)
{
	runs_sort(b->spill, records->bare, records->nbare, sizeof *records->bare, by_thread);
	for (size_t i = 0, next; i < records->nbare; i = next) {
		size_t threads, rounds;
		for (next = i + 1; next < records->nbare && records->bare[next].process == records->bare[i].process;
		     next++)
			;
		rounds = find_rounds(&records->bare[i], next - i, &threads);
		if (records->bare[i].process == ALL_RANKS && b->graph->other_jobs)
			rounds = 0; /* they may be with ranks of those */
		for (size_t k = i; k < next && !rounds; k++)
			doubt_bare(b, &records->bare[k]);
		for (size_t r = 0; r < rounds && threads > 1; r++) {
			if (can_be_one(b, &records->bare[i], threads, rounds, r)) {
				add_bare_barrier(b, &records->bare[i], threads, rounds, r);
				continue;
			}
			for (size_t t = 0; t < threads; t++)
				doubt_bare(b, &records->bare[i + t * rounds + r]);
		}
	}
}

/* ---- What processes share -------------------------------------------------------------------- */

static int by_coming(const void *x, const void *y)
{
	const struct barrier_visit *a = x, *b = y;
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->enter.stamp != b->enter.stamp)
		return a->enter.stamp < b->enter.stamp ? -1 : 1;
	return (a->enter.thread > b->enter.thread) - (a->enter.thread < b->enter.thread);
}

/* How many of these visits, of which there is one at least, are the first round; and how many there should be. */
static size_t round_of(const struct barrier_visit *v, size_t n, uint64_t *threads)
{
	uint64_t left = v->exit.stamp;
	size_t i = 1;
	*threads = v->threads;
	for (; i < n && i < *threads && v[i].clock == v->clock && v[i].object == v->object && v[i].enter.stamp <= left; i++) {
		left = v[i].exit.stamp < left ? v[i].exit.stamp : left;
		*threads = v[i].threads != ARG_NONE ? v[i].threads : *threads;
	}
	return i;
}

static void add_round(struct builder *b, const struct barrier_visit *v, size_t n)
{
	struct node_input *inputs = mem_resize(NULL, n, sizeof *inputs);
	for (size_t i = 0; i < n; i++)
		inputs[i] = (struct node_input){ .ref = v[i].enter, .sure = true };
	uint32_t number = graph_add_node(b, GRAPH_SYNC, inputs, n);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = true;
	for (size_t i = 0; i < n; i++)
		graph_wait(b, v[i].exit, number);
	free(inputs);
}

static void doubt_round(struct builder *b, const struct barrier_visit *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		graph_diagnose(&b->diagnosed.missing, v[i].exit, v[i].site);
		graph_unknown(b, (struct wait_begin){ .enter = v[i].enter }, v[i].exit);
	}
}

void graph_shared_barriers(struct builder *b, struct barrier_records *records)
{
	uint64_t threads;
	runs_sort(b->spill, records->visits, records->nvisits, sizeof *records->visits, by_coming);
	for (size_t i = 0, n; i < records->nvisits; i += n, spill_relax(b->spill)) {
		n = round_of(&records->visits[i], records->nvisits - i, &threads);
		if (threads == ARG_NONE ? n > 1 : n == threads)
			add_round(b, &records->visits[i], n);
		else
			doubt_round(b, &records->visits[i], n);
	}
}

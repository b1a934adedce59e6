/* SPDX-License-Identifier: MIT
 *
 * network.c - links sorted by clock and stamp, and what was told through each. */
#include "freezer/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEVER  INT64_MIN /* nothing is known of `since`, */
#define ALWAYS INT64_MAX /* of `until` */

/* Where what is in order from `from` on ends. */
static size_t run_end(const struct link_end *ends, size_t from, size_t n)
{
	while (++from < n && ends[from - 1].stamp <= ends[from].stamp)
		;
	return from < n ? from : n;
}

/* Two runs, one behind the other. */
static void merge_runs(const struct link_end *run, size_t middle, size_t n, struct link_end *to)
{
	size_t i = 0, k = middle;

	while (i < middle && k < n)
		*to++ = run[run[k].stamp < run[i].stamp ? k++ : i++];
	memcpy(to, run + i, (middle - i) * sizeof *to);
	memcpy(to + (middle - i), run + k, (n - k) * sizeof *to);
}

/* They are a few logs one behind the other, nearly all in order: so runs are merged, two by two, and those of the same stamp
 * stay as they are. `spare` has room for as many. */
static void sort_ends(struct link_end *ends, size_t n, struct link_end *spare)
{
	while (run_end(ends, 0, n) < n) {
		for (size_t at = 0, middle, end; at < n; at = end) {
			middle = run_end(ends, at, n);
			end = middle < n ? run_end(ends, middle, n) : n;
			merge_runs(ends + at, middle - at, end - at, spare + at);
		}
		memcpy(ends, spare, n * sizeof *ends);
	}
}

/* Counts in first[c + 1]; how many all have. */
static size_t count_ends(struct network *n)
{
	size_t sum = 0;

	for (const struct frz_link *l = n->links; l < n->links + n->nlinks; l++)
		if (l->from != l->to) {
			n->first[l->from + 1]++;
			n->first[l->to + 1]++;
		}
	for (uint32_t c = 0; c < n->nclocks; c++)
		sum = n->first[c + 1] += sum;
	return sum;
}

static void fill_ends(struct network *n, struct link_end *spare)
{
	for (size_t i = 0; i < n->nlinks; i++) {
		const struct frz_link *l = &n->links[i];

		if (l->from == l->to)
			continue;
		n->ends[n->first[l->from]++] = (struct link_end){ l->sent, i };
		n->ends[n->first[l->to]++] = (struct link_end){ l->received, i };
	}
	/* Filling moved each start to its end, which is the next one's start. */
	memmove(n->first + 1, n->first, n->nclocks * sizeof *n->first);
	n->first[0] = 0;
	for (uint32_t c = 0; c < n->nclocks; c++)
		sort_ends(n->ends + n->first[c], n->first[c + 1] - n->first[c], spare);
}

static size_t most_ends(const struct network *n)
{
	size_t most = 0;

	for (uint32_t c = 0; c < n->nclocks; c++)
		if (c != n->base && n->first[c + 1] - n->first[c] > most)
			most = n->first[c + 1] - n->first[c];
	return most;
}

int network_open(struct network *n, uint32_t nclocks, uint32_t base, const struct frz_link *links,
		 size_t nlinks)
{
	*n = (struct network){ nclocks, base, links, nlinks, NULL, NULL, NULL, NULL };
	for (size_t i = 0; i < nlinks; i++)
		if (links[i].from >= nclocks || links[i].to >= nclocks)
			return -EINVAL;
	n->first = calloc((size_t)nclocks + 2, sizeof *n->first);
	if (!n->first)
		return -ENOMEM;
	size_t nends = count_ends(n);
	struct link_end *spare = malloc((nends + 1) * sizeof *spare);
	n->ends = malloc((nends + 1) * sizeof *n->ends);
	n->told = malloc((nlinks + 1) * sizeof *n->told);
	if (n->ends && n->told && spare)
		fill_ends(n, spare);
	free(spare);
	if (!n->ends || !n->told || !spare)
		return -ENOMEM;
	n->points = malloc((most_ends(n) + 1) * sizeof *n->points);
	if (!n->points)
		return -ENOMEM;
	network_forget(n);
	return 0;
}

void network_close(struct network *n)
{
	free(n->first);
	free(n->ends);
	free(n->told);
	free(n->points);
	*n = (struct network){ 0 };
}

void network_forget(struct network *n)
{
	for (size_t i = 0; i < n->nlinks; i++)
		n->told[i] = (struct told){ NEVER, ALWAYS };
}

/* What a link that the clock received says of it; false if nothing. */
static bool point_under(const struct network *n, size_t link, struct point *p)
{
	const struct frz_link *l = &n->links[link];

	*p = (struct point){ (wide)l->received + 1, n->told[link].since, link };
	if (l->from == n->base)
		p->y = l->sent;
	return l->from == n->base || n->told[link].since != NEVER;
}

/* What a link that the clock sent says of it. */
static bool point_over(const struct network *n, size_t link, struct point *p)
{
	const struct frz_link *l = &n->links[link];

	*p = (struct point){ l->sent, n->told[link].until, link };
	if (l->to == n->base)
		p->y = (wide)l->received + 1;
	return l->to == n->base || n->told[link].until != ALWAYS;
}

struct evidence network_evidence(const struct network *n, uint32_t clock)
{
	const struct link_end *first = n->ends + n->first[clock],
		*end = n->ends + n->first[clock + 1];
	struct evidence e = { .under = n->points };
	struct point p;

	if (first == end)
		return e;
	e.run = (struct frz_wander_run){ first->stamp, (wide)end[-1].stamp + 1 };
	for (const struct link_end *at = first; at < end; at++)
		if (n->links[at->link].to == clock && point_under(n, at->link, &p))
			e.under[e.nunder++] = p;
	e.over = e.under + e.nunder;
	for (const struct link_end *at = first; at < end; at++)
		if (n->links[at->link].from == clock && point_over(n, at->link, &p))
			e.over[e.nover++] = p;
	return e;
}

/* What makes the neighbour solve again: something new, or a tick and more than the width / 256. */
static bool is_worth(wide gain, frz_time time)
{
	return gain > 1 && gain > ((wide)time.hi - time.lo) / 256;
}

void network_tell(struct network *n, uint32_t clock, struct frz_cursor cursor, struct stretch silent,
		  void (*learns)(void *context, uint32_t clock), void *context)
{
	const struct link_end *end = n->ends + n->first[clock + 1];

	for (const struct link_end *at = n->ends + n->first[clock]; at < end; at++) {
		struct told *told = &n->told[at->link];
		uint32_t other = network_other(n, at, clock);
		wide gain;

		if (other == n->base || (silent.first <= at->stamp && at->stamp <= silent.last))
			continue;
		frz_time time = frz_time_of(&cursor, at->stamp);

		if (n->links[at->link].from == clock) {
			gain = (wide)time.lo - told->since;
			told->since = gain > 0 ? time.lo : told->since;
		} else {
			gain = (wide)told->until - time.hi;
			told->until = gain > 0 ? time.hi : told->until;
		}
		if (is_worth(gain, time))
			learns(context, other);
	}
}

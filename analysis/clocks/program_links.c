/* SPDX-License-Identifier: MIT
 *
 * program_links.c - see program_links.h. */
#include "analysis/clocks/program_links.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/clocks/link_filter.h"

#define MOST_LINKS ((size_t)1 << 20) /* that are kept and do not imply each other */
#define FEW_CLOCKS 16 /* up to which all pairs of clocks are linked by a collective */

/* The last entry and the first exit of a collective on one clock. */
struct entry_exit { const struct match_part *last_entry, *first_exit; };

struct links_maker {
	const struct trace *trace;
	uint32_t base;
	struct match_walk *walk;
	struct match match;      /* the last one */
	struct entry_exit *of_clock; /* of each clock, in the last collective */
	uint32_t *there;         /* the clocks in it */
	size_t nthere;
	struct frz_link *links;  /* made and not yet taken, with the parts that prove them */
	const struct match_part *(*ends)[2];
	size_t nlinks, taken, room;
};

static uint32_t clock_of(const struct links_maker *k, const struct match_part *p)
{
	return k->trace->threads[p->thread].clock;
}

/* Where it was completed. */
static uint32_t clock_at_end(const struct links_maker *k, const struct match_part *p)
{
	return k->trace->threads[p->done_in].clock;
}

static void add(struct links_maker *k, const struct match_part *from, const struct match_part *to)
{
	if (k->nlinks == k->room) {
		k->room = k->room ? 2 * k->room : 16;
		k->links = mem_resize(k->links, k->room, sizeof *k->links);
		k->ends = mem_resize(k->ends, k->room, sizeof *k->ends);
	}
	k->links[k->nlinks] = (struct frz_link){ clock_of(k, from), clock_at_end(k, to), from->enter, to->done };
	k->ends[k->nlinks][0] = from;
	k->ends[k->nlinks++][1] = to;
}

/* ---- Collective operations ------------------------------------------------------------------- */

static bool moves_data(const struct match_part *p)
{
	return p->bytes != MATCH_NO_BYTES && p->bytes > 0;
}

static bool left(const struct match_part *p)
{
	return p->done_at != MATCH_NEVER;
}

static struct entry_exit *entry_exit_of(struct links_maker *k, uint32_t clock)
{
	struct entry_exit *d = &k->of_clock[clock];
	if (!d->last_entry && !d->first_exit)
		k->there[k->nthere++] = clock;
	return d;
}

static void goes_in(struct links_maker *k, const struct match_part *p)
{
	struct entry_exit *d = entry_exit_of(k, clock_of(k, p));
	if (!d->last_entry || p->enter > d->last_entry->enter)
		d->last_entry = p;
}

static void comes_out(struct links_maker *k, const struct match_part *p)
{
	struct entry_exit *d = entry_exit_of(k, clock_at_end(k, p));
	if (!d->first_exit || p->done < d->first_exit->done)
		d->first_exit = p;
}

/* Every entry comes before every exit. */
static void link_clocks(struct links_maker *k)
{
	for (size_t i = 0; i < k->nthere; i++) {
		for (size_t j = 0; j < k->nthere; j++) {
			uint32_t a = k->there[i], b = k->there[j];
			bool wanted = k->nthere <= FEW_CLOCKS || a == k->base || b == k->base;
			if (a != b && wanted && k->of_clock[a].last_entry &&
			    k->of_clock[b].first_exit)
				add(k, k->of_clock[a].last_entry, k->of_clock[b].first_exit);
		}
	}
	for (size_t i = 0; i < k->nthere; i++)
		k->of_clock[k->there[i]] = (struct entry_exit){ NULL, NULL };
	k->nthere = 0;
}

/* The only one; NULL when there is none, or more than one. */
static const struct match_part *root_of(const struct match *m)
{
	const struct match_part *root = NULL;
	for (size_t i = 0; i < m->nparts; i++) {
		if (!m->parts[i].root)
			continue;
		if (root)
			return NULL;
		root = &m->parts[i];
	}
	return root;
}

static void link_all(struct links_maker *k)
{
	for (size_t i = 0; i < k->match.nparts; i++) {
		const struct match_part *p = &k->match.parts[i];
		if (k->match.arrival || moves_data(p))
			goes_in(k, p);
		if (left(p))
			comes_out(k, p);
	}
	link_clocks(k);
}

static void link_root(struct links_maker *k)
{
	const struct match_part *root = root_of(&k->match);
	bool gives = k->match.flow == FLOW_FROM_ROOT;
	if (!root || (!gives && !left(root)))
		return;
	if (gives)
		goes_in(k, root);
	else
		comes_out(k, root);
	for (size_t i = 0; i < k->match.nparts; i++) {
		const struct match_part *p = &k->match.parts[i];
		if (p == root || !moves_data(p))
			continue;
		if (!gives)
			goes_in(k, p);
		else if (left(p))
			comes_out(k, p);
	}
	link_clocks(k);
}

static int by_rank(const void *a, const void *b)
{
	const struct match_part *const *x = a, *const *y = b;
	return ((*x)->thread > (*y)->thread) - ((*x)->thread < (*y)->thread);
}

/* From lower ranks to higher ones; threads stand in the order of their ranks. */
static void link_upward(struct links_maker *k)
{
	size_t n = k->match.nparts;
	const struct match_part **parts = mem_resize(NULL, n, sizeof *parts);
	for (size_t i = 0; i < n; i++)
		parts[i] = &k->match.parts[i];
	qsort(parts, n, sizeof *parts, by_rank);
	for (size_t i = 0; i < n; i++) {
		uint32_t here = clock_of(k, parts[i]);
		for (size_t j = 0; j < k->nthere && left(parts[i]); j++)
			if (k->there[j] != here)
				add(k, k->of_clock[k->there[j]].last_entry, parts[i]);
		if (moves_data(parts[i]))
			goes_in(k, parts[i]);
	}
	for (size_t i = 0; i < k->nthere; i++)
		k->of_clock[k->there[i]] = (struct entry_exit){ NULL, NULL };
	k->nthere = 0;
	free(parts);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* A message of a collective operation that gives nothing need not have been waited for. */
static bool arrives(const struct links_maker *k, const struct match *m)
{
	return m->kind == MATCH_MESSAGE && clock_of(k, &m->parts[0]) != clock_at_end(k, &m->parts[1]) &&
	       (m->parts[0].bytes != 0 || !tr_is(k->trace, m->parts[1].site, OP_OF_RANKS));
}

static void link_match(struct links_maker *k)
{
	const struct match *m = &k->match;
	if (arrives(k, m))
		add(k, &m->parts[0], &m->parts[1]);
	if (m->kind != MATCH_COLLECTIVE)
		return;
	if (m->flow == FLOW_ALL)
		link_all(k);
	else if (m->flow == FLOW_UPWARD)
		link_upward(k);
	else if (m->flow != FLOW_NOWHERE)
		link_root(k);
}

static struct links_maker maker_open(const struct trace *t, uint32_t base, struct match_log *matches)
{
	struct links_maker k = { .trace = t, .base = base };
	uint64_t slack = match_slack(t);
	k.walk = matches ? match_walk_open(t, slack, matches) : match_walk_open_between(t, slack);
	k.of_clock = mem_resize(NULL, t->nclocks, sizeof *k.of_clock);
	k.there = mem_resize(NULL, t->nclocks, sizeof *k.there);
	for (size_t c = 0; c < t->nclocks; c++)
		k.of_clock[c] = (struct entry_exit){ NULL, NULL };
	return k;
}

static void maker_close(struct links_maker *k)
{
	match_walk_close(k->walk);
	free(k->of_clock);
	free(k->there);
	free(k->links);
	free(k->ends);
}

/* The next link, or NULL; its ends serve until the next call. */
static const struct frz_link *next_link(struct links_maker *k, const struct match_part *ends[2])
{
	while (k->taken == k->nlinks) {
		k->taken = k->nlinks = 0;
		if (!match_walk_next(k->walk, &k->match))
			return NULL;
		link_match(k);
	}
	ends[0] = k->ends[k->taken][0];
	ends[1] = k->ends[k->taken][1];
	return &k->links[k->taken++];
}

static bool any_operations(const struct trace *t)
{
	for (uint32_t s = 0; s < t->nsites; s++)
		if (tr_is(t, s, OP_MESSAGE | OP_COLLECTIVE))
			return true;
	return false;
}

struct program_links program_links(const struct trace *t, uint32_t base,
				   const struct frz_solution *rates, struct match_log *matches)
{
	struct program_links all = { .matches = matches, .of_clock = mem_zeroed(t->nclocks, sizeof(uint64_t)) };
	const struct match_part *ends[2];
	const struct frz_link *l;
	if (t->nclocks < 2 || !any_operations(t))
		return all;
	struct links_maker k = maker_open(t, base, matches);
	struct link_filter *filter = link_filter_open(rates, MOST_LINKS);
	progress_begin("matching messages", trace_records(t));
	while ((l = next_link(&k, ends))) {
		all.found++;
		all.of_clock[l->from]++;
		all.of_clock[l->to]++;
		link_filter_put(filter, *l);
	}
	progress_end();
	all.links = link_filter_close(filter, &all.nlinks);
	all.tally = *match_walk_tally(k.walk);
	maker_close(&k);
	return all;
}

static void *copy_of(const void *array, size_t n, size_t size)
{
	void *copy = mem_resize(NULL, n + 1, size);
	return n ? memcpy(copy, array, n * size) : copy;
}

struct program_links program_links_copy(const struct program_links *all, size_t nclocks, struct match_log *matches)
{
	struct program_links copy = *all;
	copy.links = copy_of(all->links, all->nlinks, sizeof *all->links);
	copy.of_clock = copy_of(all->of_clock, all->of_clock ? nclocks : 0, sizeof *all->of_clock);
	copy.matches = matches;
	return copy;
}

void program_links_free(struct program_links *all)
{
	free(all->links);
	free(all->of_clock);
	match_log_close(all->matches);
}

struct program_order program_order(const struct trace *t, uint32_t base)
{
	struct program_order order = { 0 };
	const struct match_part *ends[2];
	const struct frz_link *l;
	uint64_t most = 0;
	if (t->nclocks < 2 || !any_operations(t))
		return order;
	struct links_maker k = maker_open(t, base, NULL);
	while ((l = next_link(&k, ends))) {
		uint64_t before = l->received < l->sent ? l->sent - l->received : 0;
		bool known = before > t->clocks[l->from].uncertainty + t->clocks[l->to].uncertainty;
		order.links++;
		order.impossible += known;
		order.rounded += before > 0 && !known;
		if (known && before > most)
			order.worst = *l;
		most = before > most ? before : most;
	}
	maker_close(&k);
	return order;
}

/* ---- In words -------------------------------------------------------------------------------- */

static char *part_words(const struct trace *t, const struct match_part *p)
{
	const struct tr_site *site = &t->sites[p->site];
	int64_t rank = t->threads[p->thread].rank;
	return site->line ? mem_format("rank %" PRId64 " (%s, %s:%" PRIu32 ")", rank, site->name, site->file, site->line)
			  : mem_format("rank %" PRId64 " (%s)", rank, site->name);
}

char *program_link_words(const struct trace *t, uint32_t base, const struct frz_link *wanted)
{
	struct links_maker k = maker_open(t, base, NULL);
	const struct match_part *ends[2];
	const struct frz_link *l;
	while ((l = next_link(&k, ends)))
		if (l->from == wanted->from && l->to == wanted->to && l->sent == wanted->sent &&
		    l->received == wanted->received)
			break;
	char *words;
	if (!l) {
		words = mem_copy("an operation");
	} else {
		char *from = part_words(t, ends[0]), *to = part_words(t, ends[1]);
		words = k.match.kind == MATCH_MESSAGE
				? mem_format("message from %s to %s", from, to)
				: mem_format("operation %" PRIu64 " of group %" PRIu64
					     ", entered by %s before it was left by %s",
					     k.match.number, k.match.group, from, to);
		free(from);
		free(to);
	}
	maker_close(&k);
	return words;
}

/* SPDX-License-Identifier: MIT
 *
 * link_filter.c - a stack for each two clocks.
 *
 * If a link is implied by any that is kept, it is by the last one: what implies it without the last
 * would imply the last, too, as what passes adds up. Likewise it implies the last one, or none. */
#include "analysis/clocks/link_filter.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/ids.h"
#include "analysis/base/memory.h"

#define ENDS 4 /* of a pair, that are not in `kept` */
#define FEW  4 /* links of a pair, for which there is always room */

struct clock_pair {              /* from one clock to another */
	struct frz_speed from, to; /* of both; no solution: nothing is known of it */
	struct frz_link first_sent, last_sent, first_received, last_received;
	struct frz_link *kept;
	size_t n, room;
	size_t each, since;      /* of so many links one is kept; so many have come for the last one */
};

struct link_filter {
	const struct frz_solution *rates;
	size_t kept, room;
	struct ids numbers;      /* of pairs, by both clocks */
	struct clock_pair *pairs;
};

struct link_filter *link_filter_open(const struct frz_solution *rates, size_t room)
{
	struct link_filter *s = mem_resize(NULL, 1, sizeof *s);
	*s = (struct link_filter){ .rates = rates, .room = room };
	return s;
}

/* ---- What implies what ----------------------------------------------------------------------- */

static struct frz_speed speed_of(const struct frz_solution *rates, uint32_t clock)
{
	return rates && frz_placed(frz_clock(rates, clock)) ? frz_speed(rates, clock) : (struct frz_speed){ .solution = NULL };
}

static frz_time forward(const struct frz_speed *speed, uint64_t ticks)
{
	return speed->solution ? frz_speed_duration(speed, ticks) : (frz_time){ 0, INT64_MAX };
}

/* Between two stamps of a clock; negative when the second is the earlier one. */
static frz_time passed(const struct frz_speed *speed, uint64_t from, uint64_t to)
{
	if (to >= from)
		return forward(speed, to - from);
	frz_time back = forward(speed, from - to);
	return (frz_time){ -back.hi, -back.lo };
}

static bool implies(const struct clock_pair *s, const struct frz_link *k, const struct frz_link *l)
{
	if (l->sent <= k->sent && l->received >= k->received)
		return true;
	return passed(&s->from, k->sent, l->sent).hi <= passed(&s->to, k->received, l->received).lo;
}

/* ---- Too many -------------------------------------------------------------------------------- */

/* What `b` arrived later than `a`, beyond what it was sent later. */
static double later(const struct frz_link *a, const struct frz_link *b, double rate)
{
	return (double)(int64_t)(b->received - a->received) -
	       rate * (double)(int64_t)(b->sent - a->sent);
}

/* Which of two links is the slower one hangs on the rate between the clocks, for which that from the first
 * to the last serves; should it be wrong, a better link goes. */
static bool is_slower(const struct clock_pair *s, const struct frz_link *a,
		      const struct frz_link *b)
{
	uint64_t sent = s->last_sent.sent - s->first_sent.sent;
	uint64_t received = s->last_received.received - s->first_received.received;
	return later(a, b, sent ? (double)received / (double)sent : 1) < 0;
}

/* Of each two neighbours the slower one goes, and of what comes from now on as many. */
static void thin(struct clock_pair *s)
{
	size_t left = 0;
	for (size_t i = 0; i < s->n; i += 2) {
		bool second = i + 1 < s->n && is_slower(s, &s->kept[i], &s->kept[i + 1]);
		s->kept[left++] = s->kept[i + second];
	}
	if (s->n % 2 == 0)
		s->since = 2 * s->each;
	s->n = left;
	s->each *= 2;
}

/* Pairs that have less than half of their share keep it, and all others have half of all, or more. */
static void make_room(struct link_filter *s)
{
	size_t share = s->kept / s->numbers.n;
	s->kept = 0;
	for (size_t i = 0; i < s->numbers.n; i++) {
		if (s->pairs[i].n >= (share + 1) / 2)
			thin(&s->pairs[i]);
		s->kept += s->pairs[i].n;
	}
}

/* ---- In and out ------------------------------------------------------------------------------ */

static struct clock_pair *pair_of(struct link_filter *s, const struct frz_link *l)
{
	uint64_t id = (uint64_t)l->from << 32 | l->to;
	size_t at = ids_find(&s->numbers, id), n = s->numbers.n;
	if (at != SIZE_MAX)
		return &s->pairs[at];
	ids_add(&s->numbers, id);
	struct clock_pair *new = MEM_GROW(s->pairs, n);
	*new = (struct clock_pair){ speed_of(s->rates, l->from), speed_of(s->rates, l->to), *l, *l, *l, *l, .each = 1 };
	return new;
}

static void push(struct link_filter *s, struct clock_pair *to, const struct frz_link *l)
{
	if (to->n && to->since < to->each) {
		struct frz_link *last = &to->kept[to->n - 1];
		to->since++;
		*last = is_slower(to, last, l) ? *l : *last;
		return;
	}
	if (s->kept >= s->room && s->kept > FEW * s->numbers.n)
		make_room(s);
	if (to->n == to->room) {
		to->room = to->room ? 2 * to->room : 16;
		to->kept = mem_resize(to->kept, to->room, sizeof *to->kept);
	}
	to->kept[to->n++] = *l;
	to->since = 1;
	s->kept++;
}

static void note_ends(struct clock_pair *s, const struct frz_link *l)
{
	if (l->sent < s->first_sent.sent)
		s->first_sent = *l;
	if (l->sent > s->last_sent.sent)
		s->last_sent = *l;
	if (l->received < s->first_received.received)
		s->first_received = *l;
	if (l->received > s->last_received.received)
		s->last_received = *l;
}

void link_filter_put(struct link_filter *s, struct frz_link l)
{
	struct clock_pair *pair = pair_of(s, &l);
	note_ends(pair, &l);
	if (s->rates && pair->n && implies(pair, &pair->kept[pair->n - 1], &l))
		return;
	while (s->rates && pair->n && implies(pair, &l, &pair->kept[pair->n - 1])) {
		pair->n--;
		s->kept--;
	}
	push(s, pair, &l);
}

static bool has(const struct frz_link *links, size_t n, const struct frz_link *l)
{
	for (size_t i = 0; i < n; i++)
		if (links[i].sent == l->sent && links[i].received == l->received)
			return true;
	return false;
}

/* Writes what is left of a pair; how many. */
static size_t give(const struct clock_pair *s, struct frz_link *out)
{
	const struct frz_link ends[ENDS] = { s->first_sent, s->last_sent, s->first_received,
					     s->last_received };
	size_t n = 0;
	for (; n < s->n; n++)
		out[n] = s->kept[n];
	for (size_t i = 0; i < ENDS; i++)
		if (!has(out, n, &ends[i]))
			out[n++] = ends[i];
	return n;
}

struct frz_link *link_filter_close(struct link_filter *s, size_t *n)
{
	struct frz_link *left = mem_resize(NULL, s->kept + ENDS * s->numbers.n, sizeof *left);
	*n = 0;
	for (size_t i = 0; i < s->numbers.n; i++) {
		*n += give(&s->pairs[i], left + *n);
		free(s->pairs[i].kept);
	}
	free(s->pairs);
	ids_free(&s->numbers);
	free(s);
	return left;
}

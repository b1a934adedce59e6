/* SPDX-License-Identifier: MIT
 *
 * conditions.c - each entry of the thread's replay has the masks beside it that are possible
 * while it is the innermost, so that an event costs the same at any depth. */
#include "analysis/states/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"

/* ---- Sets of masks --------------------------------------------------------------------------- */

static bool is_same(const struct condition *x, const struct condition *y)
{
	return x->count == y->count && memcmp(x->set, y->set, x->count * sizeof *x->set) == 0;
}

static int compare(struct state_set x, struct state_set y)
{
	if (x.must != y.must)
		return x.must < y.must ? -1 : 1;
	return ORDER(x.may, y.may);
}

struct state_set condition_hull(const struct condition *c)
{
	struct state_set hull = c->set[0];
	for (unsigned i = 1; i < c->count; i++) {
		hull.must &= c->set[i].must;
		hull.may |= c->set[i].may;
	}
	return hull;
}

static void add_set(struct condition *c, struct state_set set)
{
	unsigned at = 0;
	while (at < c->count && compare(c->set[at], set) < 0)
		at++;
	if (at < c->count && compare(c->set[at], set) == 0)
		return;
	if (c->count == CONDITION_SETS) {
		struct state_set hull = condition_hull(c);
		*c = (struct condition){ 1, { { hull.must & set.must, hull.may | set.may } } };
		return;
	}
	memmove(&c->set[at + 1], &c->set[at], (c->count - at) * sizeof *c->set);
	c->set[at] = set;
	c->count++;
}

struct condition condition_join(struct condition x, const struct condition *y)
{
	for (unsigned i = 0; i < y->count; i++)
		add_set(&x, y->set[i]);
	return x;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static void map_sites(struct atom_map *m, uint32_t i)
{
	const struct query_atom *atom = &m->query->atoms[i];
	for (size_t s = 0; s < m->query->trace->nsites; s++) {
		if (!atom->sites[s])
			continue;
		if (atom->one_instance)
			m->instances[s] = true;
		else
			*(atom->innermost ? &m->at[s] : &m->in[s]) |= UINT32_C(1) << i;
	}
	*(atom->innermost ? &m->all_at : &m->all_in) |= UINT32_C(1) << i;
}

void atom_map_open(struct atom_map *m, const struct query *query)
{
	size_t count = query->trace->nsites + 1;
	*m = (struct atom_map){ .query = query };
	m->in = mem_zeroed(count, sizeof *m->in);
	m->at = mem_zeroed(count, sizeof *m->at);
	m->instances = mem_zeroed(count, sizeof *m->instances);
	for (uint32_t i = 0; i < query->natoms; i++) {
		uint32_t bit = UINT32_C(1) << i;
		switch (query->atoms[i].what) {
		case ATOM_SITES: map_sites(m, i); break;
		case ATOM_WORKING: m->working = bit; break;
		case ATOM_WAITING: m->waiting = bit; break;
		case ATOM_ALIVE: m->alive = bit; break;
		}
	}
}

void atom_map_close(struct atom_map *m)
{
	free(m->in);
	free(m->at);
	free(m->instances);
}

/* Bits of the atoms for one instance, if this is it. */
static void add_instances(const struct atom_map *m, const struct tr_event *e, uint32_t *in,
			  uint32_t *at)
{
	uint64_t instance = arg_instance(e);
	for (uint32_t i = 0; i < m->query->natoms && arg_has_instance(e); i++) {
		const struct query_atom *atom = &m->query->atoms[i];
		if (atom->what == ATOM_SITES && atom->one_instance && atom->sites[e->site] &&
		    atom->instance == instance)
			*(atom->innermost ? at : in) |= UINT32_C(1) << i;
	}
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* While so many of the replay's entries are open. */
static const struct mask_entry *masks(const struct conditions *c, size_t depth)
{
	return depth ? &c->inside[depth - 1] : &c->bottom;
}

/* A site that cannot be found may be any. */
static struct mask_entry unknown_entry(const struct conditions *c, const struct mask_entry *below)
{
	const struct atom_map *m = c->map;
	struct state_set in = { below->in.must, m->all_in };
	return (struct mask_entry){ in, { in.must, in.may | m->all_at } };
}

/* It may be left before its exit, if it has one, and then the thread is in what it was in before. But who is in a
 * site by an enter that has an exit is in it until then, be it by that enter or one before. */
static struct mask_entry unsure_entry(const struct conditions *c, const struct tr_event *e,
				      const struct mask_entry *below, struct mask_entry entry)
{
	entry.in.must = below->in.must | (e->jumped ? 0 : c->map->in[e->site]);
	entry.now.must &= below->now.must | entry.in.must;
	entry.now.may |= below->now.may;
	return entry;
}

static struct mask_entry known_entry(const struct conditions *c, const struct tr_event *e,
				     const struct mask_entry *below)
{
	const struct atom_map *m = c->map;
	uint32_t in = m->in[e->site], at = m->at[e->site];
	if (m->instances[e->site])
		add_instances(m, e, &in, &at);
	struct mask_entry entry = { { below->in.must | in, below->in.may | in }, { 0, 0 } };
	entry.now = (struct state_set){ entry.in.must | at, entry.in.may | at };
	return e->unsure ? unsure_entry(c, e, below, entry) : entry;
}

/* The states have replayed the enter. One more of what was left by jumps stands for those before it, too. */
static void enter(struct conditions *c, const struct tr_event *e)
{
	const struct replay *r = &c->states.replay;
	const struct mask_entry *below = masks(c, replay_top(r)->times > 1 ? r->depth : r->depth - 1);
	struct mask_entry entry = e->site == TR_NO_SITE ? unknown_entry(c, below) : known_entry(c, e, below);
	if (r->depth > c->room)
		c->inside = mem_resize(c->inside, c->room = r->room, sizeof *c->inside);
	c->inside[r->depth - 1] = entry;
}

/* What was below all entries is not known any more. */
static void forget(struct conditions *c)
{
	const struct atom_map *m = c->map;
	c->bottom.in = (struct state_set){ 0, m->all_in };
	c->bottom.now = (struct state_set){ 0, m->all_in | m->all_at };
}

static void apply(struct conditions *c, struct tr_event *e)
{
	if (e->op == DPROF_ENTER && e->site != TR_NO_SITE && c->map->instances[e->site])
		trace_arguments(&c->states.events, e);
	if (e->op == DPROF_ENTER)
		enter(c, e);
	else if (c->states.forgot)
		forget(c);
}

/* And what it may be instead, as it was blocked in nothing that was recorded, or a handler worked. */
static uint8_t with_unrecorded(uint8_t may, uint8_t also)
{
	uint8_t waited = may && !(may & (MAY_WAIT | MAY_GONE)) ? also & MAY_WAIT : 0;
	return may | waited | (may & MAY_WAIT ? also & MAY_WORK : 0);
}

/* Of the masks while the thread is in one of these states. */
static struct state_set roles_of(const struct conditions *c, uint8_t may)
{
	const struct atom_map *m = c->map;
	may = with_unrecorded(may, c->also);
	return (struct state_set){
		(may == MAY_WORK ? m->working : 0) | (may == MAY_WAIT ? m->waiting : 0),
		(may & MAY_WORK ? m->working : 0) | (may & MAY_WAIT ? m->waiting : 0),
	};
}

/* From its first event to its last: all that is left of which may be lost. */
static bool surely_alive(const struct conditions *c)
{
	const struct tr_thread *self = c->states.events.thread;
	return c->begun && !(c->states.recorded_lost > 0 && c->states.recorded_lost >= self->lost && trace_lost_behind(self));
}

static struct condition condition_in(const struct conditions *c, uint8_t may)
{
	const struct states *s = &c->states;
	struct state_set set = masks(c, s->replay.depth)->now, roles;
	if (s->asking) { /* between two attempts it is in none of them */
		set.must &= masks(c, s->asking - 1)->now.must;
		set.may |= masks(c, s->asking - 1)->now.may;
		may |= s->else_may;
	}
	roles = roles_of(c, may);
	set.must |= roles.must | (surely_alive(c) ? c->map->alive : 0);
	set.may |= roles.may | c->map->alive;
	return (struct condition){ 1, { set } };
}

/* What follows the last record: the thread is where it was, or nowhere; or the rest was lost. */
static struct condition condition_afterwards(const struct conditions *c)
{
	static const struct condition nowhere = { 1, { { 0, 0 } } };
	const struct tr_thread *self = c->states.events.thread;
	uint8_t still = c->states.now.may & (uint8_t)~(MAY_OTHER | MAY_GONE);
	if (!c->begun && self->lost == 0)
		return nowhere;
	if (self->lost > c->states.recorded_lost) {
		const struct atom_map *m = c->map;
		return (struct condition){ 1, { { 0, m->all_in | m->all_at | m->working |
							     m->waiting | m->alive } } };
	}
	struct condition there = condition_in(c, still ? still : MAY_OTHER);
	if (self->complete && self->ended <= c->states.last)
		there.set[0].must &= ~c->map->alive, there.set[0].may &= ~c->map->alive;
	return condition_join(there, &nowhere);
}

/* ---- Stretches ------------------------------------------------------------------------------- */

/* Before its first event the thread is in no place and not alive, but it may work there. */
void conditions_open(struct conditions *c, const struct atom_map *map, size_t thread)
{
	*c = (struct conditions){ .map = map, .also = map->query->also ? map->query->also[thread] : 0 };
	states_open(&c->states, map->query->trace, thread, map->query->roles);
	struct state_set before = roles_of(c, c->states.now.may);
	c->now = (struct condition_stretch){ PERIOD_BEFORE, PERIOD_BEFORE, { 1, { before } } };
}

void conditions_close(struct conditions *c)
{
	states_close(&c->states);
	free(c->inside);
}

/* Ends the stretch at the last stamp and begins the next one there. */
static void turn(struct conditions *c, const struct condition *next, struct condition_stretch *out)
{
	c->now.to = c->states.last;
	*out = c->now;
	c->now = (struct condition_stretch){ c->states.last, c->states.last, *next };
}

static struct condition condition_now(struct conditions *c, enum states_step step,
				      struct tr_event *e)
{
	if (step == STATES_EVENT) {
		c->begun |= e->op != DPROF_LOST;
		apply(c, e);
	} else if (c->states.over) {
		return condition_afterwards(c);
	} else {
		return (struct condition){ 1, { roles_of(c, c->states.now.may) } };
	}
	return condition_in(c, c->states.now.may);
}

bool conditions_next(struct conditions *c, struct condition_stretch *out)
{
	struct tr_event e;
	enum states_step step;
	while ((step = states_step(&c->states, &e)) != STATES_END) {
		struct condition now = condition_now(c, step, &e);
		if (is_same(&now, &c->now.condition))
			continue;
		turn(c, &now, out);
		return true;
	}
	if (c->ended)
		return false;
	c->ended = true;
	c->now.to = PERIOD_AFTER;
	*out = c->now;
	return true;
}

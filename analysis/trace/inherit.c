/* SPDX-License-Identifier: MIT
 *
 * inherit.c - a walk along each thread finds what it is in when it opens a team; a cursor of a thread in
 * that team looks it up. */
#include "analysis/trace/inherit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/trace_jumps.h"

struct inherited_region { uint32_t site; uint64_t instance; };

struct team { uint32_t process; uint64_t group, seq; };

/* What the threads of a team inherit: what its opener had inherited itself, if it was in the team
 * `outer` without having opened it, and its own regions. */
struct estate {
	struct team outer;
	bool has_outer;
	size_t first, n;         /* entries */
};

/* The teams of a group from `from` to `to`. */
struct team_range { struct team from; uint64_t to; size_t estate; };

struct tr_inheritance {
	pthread_mutex_t finding; /* whoever asks first finds it out */
	bool known;
	struct inherited_region *entries; size_t nentries;
	struct estate *estates; size_t nestates;
	struct team_range *stretches; size_t nstretches;
	bool *inherits;          /* each thread */
	bool *lossy;             /* each process: some of its teams may be missing here */
};

struct tr_inheritance *inherit_open(void)
{
	struct tr_inheritance *all = mem_resize(NULL, 1, sizeof *all);
	*all = (struct tr_inheritance){ .known = false };
	pthread_mutex_init(&all->finding, NULL);
	return all;
}

void inherit_close(struct tr_inheritance *all)
{
	if (!all)
		return;
	pthread_mutex_destroy(&all->finding);
	free(all->entries);
	free(all->estates);
	free(all->stretches);
	free(all->inherits);
	free(all->lossy);
	free(all);
}

/* ---- What openers are in --------------------------------------------------------------------- */

/* Of a thread that goes along its records. */
struct inherit_walk {
	const struct trace *trace;
	struct tr_inheritance *all;
	uint32_t process;
	struct replay replay;    /* of its regions */
	struct inherited_region *ids; /* of what is open there */
	size_t room;
	bool lost;
	struct team own;         /* that it is in and did not open */
	bool is_member, was_member;
};

static struct team team_of(uint32_t process, const struct tr_event *e)
{
	return (struct team){ process, trace_arg(e, DPROF_KEY_GROUP, 0), trace_arg(e, DPROF_KEY_SEQ, 0) };
}

static void enter_region(struct inherit_walk *w, const struct tr_event *e)
{
	if (!replay_enter(&w->replay, tr_entry(w->trace, e)))
		return;
	if (w->replay.depth > w->room)
		w->ids = mem_resize(w->ids, w->room = w->replay.room, sizeof *w->ids);
	w->ids[w->replay.depth - 1] = (struct inherited_region){ e->unsure ? TR_NO_SITE : e->site,
						   arg_instance(e) };
}

static bool same_entry(const struct inherited_region *x, const struct inherited_region *y)
{
	return x->site == y->site && x->instance == y->instance;
}

static bool same_estate(const struct tr_inheritance *all, const struct estate *x, const struct estate *y)
{
	if (x->n != y->n || x->has_outer || y->has_outer)
		return false;
	for (size_t i = 0; i < x->n; i++)
		if (!same_entry(&all->entries[x->first + i], &all->entries[y->first + i]))
			return false;
	return true;
}

/* What the thread is in now; the number of the last estate if that is the same. */
static size_t add_estate(struct inherit_walk *w)
{
	struct tr_inheritance *all = w->all;
	struct estate x = { .outer = w->own, .has_outer = w->is_member, .first = all->nentries };
	if (w->lost)
		*MEM_GROW(all->entries, all->nentries) =
			(struct inherited_region){ TR_NO_SITE, ARG_NONE };
	for (size_t i = 0; i < w->replay.depth; i++)
		*MEM_GROW(all->entries, all->nentries) = w->ids[i];
	x.n = all->nentries - x.first;
	if (all->nestates > 0 && same_estate(all, &all->estates[all->nestates - 1], &x)) {
		all->nentries = x.first;
		return all->nestates - 1;
	}
	*MEM_GROW(all->estates, all->nestates) = x;
	return all->nestates - 1;
}

static void open_team(struct inherit_walk *w, struct team team)
{
	struct tr_inheritance *all = w->all;
	size_t estate = add_estate(w);
	struct team_range *last = all->nstretches ? &all->stretches[all->nstretches - 1] : NULL;
	if (last && last->estate == estate && last->from.process == team.process &&
	    last->from.group == team.group && last->to + 1 == team.seq)
		last->to = team.seq;
	else
		*MEM_GROW(all->stretches, all->nstretches) =
			(struct team_range){ team, team.seq, estate };
}

static void note_team(struct inherit_walk *w, const struct tr_event *e)
{
	const struct operation *o = tr_operation(w->trace, e);
	bool fork = o->kind == DPROF_KIND_FORK;
	if (arg_is_root(o, e) && fork) {
		open_team(w, team_of(w->process, e));
	} else if (!arg_is_root(o, e)) {
		w->is_member = fork;
		w->was_member |= fork;
		w->own = team_of(w->process, e);
	}
}

static bool is_tangled(const struct tr_thread *thread)
{
	return thread->jumps && thread->jumps->tangled;
}

static void walk_thread(const struct trace *trace, struct tr_inheritance *all, size_t thread)
{
	struct inherit_walk w = { .trace = trace, .all = all,
				  .process = trace->threads[thread].process,
				  .lost = trace->threads[thread].gaps ||
					  is_tangled(&trace->threads[thread]) };
	struct tr_cursor events = trace_events(trace, thread);
	replay_open(&w.replay, trace->nsites);
	for (struct tr_event e; trace_next(&events, &e);) {
		bool region = tr_is(trace, e.site, OP_REGION);
		if (e.op == DPROF_LOST || e.site == TR_NO_SITE) {
			w.lost = true;
			replay_lose(&w.replay);
		} else if (region && e.op == DPROF_ENTER)
			enter_region(&w, &e);
		else if (region && e.op == DPROF_EXIT)
			replay_exit(&w.replay, e.site);
		else if (arg_is_of_team(tr_operation(trace, &e), &e))
			note_team(&w, &e);
	}
	all->inherits[thread] = w.was_member;
	all->lossy[w.process] |= w.lost || trace->threads[thread].lost > 0;
	trace_end(&events);
	replay_close(&w.replay);
	free(w.ids);
}

static int by_team(const void *x, const void *y)
{
	const struct team_range *a = x, *b = y;
	if (a->from.process != b->from.process)
		return a->from.process < b->from.process ? -1 : 1;
	if (a->from.group != b->from.group)
		return a->from.group < b->from.group ? -1 : 1;
	return (a->from.seq > b->from.seq) - (a->from.seq < b->from.seq);
}

/* Nothing is inherited without regions and teams; both are seldom together. */
static bool possible(const struct trace *trace)
{
	bool regions = false, teams = false;
	for (size_t i = 0; i < trace->nsites; i++) {
		regions |= tr_is(trace, (uint32_t)i, OP_REGION);
		teams |= tr_is(trace, (uint32_t)i, OP_TEAM);
	}
	return regions && teams;
}

static void find_out(const struct trace *trace, struct tr_inheritance *all)
{
	all->known = true;
	all->inherits = mem_resize(NULL, trace->nthreads + 1, 1);
	all->lossy = mem_resize(NULL, trace->nprocesses + 1, 1);
	memset(all->inherits, 0, trace->nthreads + 1);
	memset(all->lossy, 0, trace->nprocesses + 1);
	for (size_t t = 0; t < trace->nthreads && possible(trace); t++)
		walk_thread(trace, all, t);
	if (all->nstretches)
		qsort(all->stretches, all->nstretches, sizeof *all->stretches, by_team);
}

const struct tr_inheritance *inherit_of(const struct trace *trace, size_t thread)
{
	struct tr_inheritance *all = trace->inheritance;
	if (!all)
		return NULL;
	pthread_mutex_lock(&all->finding);
	if (!all->known)
		find_out(trace, all);
	pthread_mutex_unlock(&all->finding);
	return all->inherits[thread] ? all : NULL;
}

/* ---- What a team inherits -------------------------------------------------------------------- */

static const struct estate *estate_of(const struct tr_inheritance *all, const struct team *team)
{
	size_t low = 0, high = all->nstretches;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct team_range asked = { .from = *team };
		if (by_team(&all->stretches[middle], &asked) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct team_range *s = low > 0 ? &all->stretches[low - 1] : NULL;
	bool found = s && s->from.process == team->process && s->from.group == team->group &&
		     s->to >= team->seq;
	return found ? &all->estates[s->estate] : NULL;
}

#define DEEPEST 64 /* teams within teams, unless the trace contradicts itself */

/* How many regions a team inherits; *entry: the one of that index, from the outermost on. */
static size_t inherited(const struct tr_inheritance *all, struct team team, size_t index,
			struct inherited_region *entry)
{
	const struct estate *chain[DEEPEST];
	size_t depth = 0, n = 0;
	const struct estate *x = estate_of(all, &team);
	bool missing = !x;
	for (; x && depth < DEEPEST; depth++) {
		chain[depth] = x;
		const struct estate *outer = x->has_outer ? estate_of(all, &x->outer) : NULL;
		missing |= x->has_outer && !outer;
		x = outer;
	}
	if (missing && all->lossy[team.process] && index == n++)
		*entry = (struct inherited_region){ TR_NO_SITE, ARG_NONE };
	for (size_t d = depth; d-- > 0; n += chain[d]->n)
		if (index >= n && index - n < chain[d]->n)
			*entry = all->entries[chain[d]->first + index - n];
	return n;
}

/* ---- The cursor ------------------------------------------------------------------------------ */

static struct tr_event whole(const struct tr_cursor *c, const struct tr_event *e)
{
	struct tr_cursor behind = *c;
	struct tr_event x = *e;
	trace_arguments(&behind, &x);
	return x;
}

static struct team own_team(const struct tr_cursor *c)
{
	return (struct team){ c->thread->process, c->group, c->seq };
}

static void give(const struct tr_cursor *c, size_t index, enum dprof_op op, struct tr_event *e)
{
	struct inherited_region entry = { TR_NO_SITE, ARG_NONE };
	inherited(c->inheritance, own_team(c), index, &entry);
	*e = (struct tr_event){ .stamp = c->stamp, .op = op, .site = entry.site, .inherited = true };
	if (entry.instance != ARG_NONE) {
		e->nargs = 1;
		e->keys = 1u << DPROF_KEY_ID;
		e->args[0] = (struct tr_arg){ DPROF_KEY_ID, entry.instance };
	}
}

/* From here on the thread is in its team. */
static void begin(struct tr_cursor *c, const struct tr_event *e)
{
	struct inherited_region ignored;
	c->stamp = e->stamp;
	c->inside = c->to_enter = (uint32_t)inherited(c->inheritance, own_team(c), 0, &ignored);
	c->forks = false;
	c->in_team = true;
}

/* The event comes when all that was inherited has been left. */
static bool leave_first(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	c->in_team = false;
	if (c->inside == 0)
		return false;
	c->next = before;
	c->stamp = e->stamp;
	c->to_leave = c->inside;
	c->inside = 0;
	return true;
}

/* False when the event must wait: the cursor stands before it again. */
static bool pass_team(struct tr_cursor *c, const struct tr_event *e, size_t before)
{
	const struct operation *o = tr_operation(c->trace, e);
	struct tr_event x = whole(c, e);
	if (arg_is_of_team(o, &x) && arg_is_member(o, &x)) {
		if (leave_first(c, e, before))
			return false;
		c->forks = o->kind == DPROF_KIND_FORK;
		c->group = trace_arg(&x, DPROF_KEY_GROUP, 0);
		c->seq = trace_arg(&x, DPROF_KEY_SEQ, 0);
		c->team_site = e->site;
	} else if (e->op == DPROF_EXIT && e->site == c->team_site && !c->in_team &&
		   (c->forks || (o->kind == DPROF_KIND_JOIN && arg_called_away(o, &x) != ARG_NONE))) {
		begin(c, e);
	}
	return true;
}

bool inherit_next(struct tr_cursor *c, struct tr_event *e)
{
	if (c->to_enter > 0) {
		give(c, c->inside - c->to_enter--, DPROF_ENTER, e);
		return true;
	}
	do {
		if (c->to_leave > 0) {
			give(c, --c->to_leave, DPROF_EXIT, e);
			return true;
		}
		size_t before = c->next;
		if (!trace_next_recorded(c, e))
			return false;
		enum dprof_kind kind =
			e->site == TR_NO_SITE ? DPROF_KIND_NONE : c->trace->sites[e->site].kind;
		if (e->op == DPROF_LOST)
			c->inside = 0; /* what is known of its places is forgotten with that */
		if ((kind != DPROF_KIND_FORK && kind != DPROF_KIND_JOIN) || pass_team(c, e, before))
			return true;
	} while (true);
}

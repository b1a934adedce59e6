/* SPDX-License-Identifier: MIT
 *
 * graph_counts.c - threads that count down under a lock, of which the last signals:
 *
 *   lock, if (--left == 0) signal, unlock
 *
 * In another run another may be the last. So a wait for the signal has waited for all who came to that lock since
 * the signal before: most likely, if each came once, one of them while it was waited, and none of them signalled
 * or waited itself. If they all came before the wait, what they did may have been no business of it: that is not sure.
 *
 * A thread of a pool does several tasks, and counts each down, as ThreadPool::wait_idle needs it. Then all come to the lock at one
 * place, one of them while it was waited, and when it is signalled none of them has a task.
 *
 * Or a barrier that the program has made of a lock and a condition variable:
 *
 *   lock, if (++come == all) come = 0, broadcast; else wait, unlock
 *
 * All come to the lock at one place, wait for the condition variable and are woken by the last; and that more than once, as a flag
 * is not raised. In another run that may be another:
 * so each of them has waited for all, and whoever signals would wait for them if it were earlier. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_locks.h"

#define MOST_EVENTS  256 /* that are looked at for one signal, of the lock and of what is signalled */
#define MOST_MEMBERS 32  /* of a barrier that the program has made, besides who signals */

static bool is_of(const struct sync_event *s, uint32_t process, uint64_t id, bool lock)
{
	return s->process == process && s->id == id && (s->kind == SYNC_RELEASED || s->kind == SYNC_TAKEN) == lock;
}

/* The stamp of the signal before, or 0. False: so far back it was not looked. */
static bool find_signal_before(const struct sync_records *r, const struct sync_event *signal, uint64_t *before)
{
	size_t from = graph_sync_events(r, signal->process, signal->id, false, signal->section.taken.stamp);
	*before = 0;
	for (size_t i = from; i-- > 0 && is_of(&r->v[i], signal->process, signal->id, false);) {
		*before = r->v[i].ref.stamp;
		if (r->v[i].kind == SYNC_SIGNALLED)
			return true;
		if (from - i == MOST_EVENTS)
			return false;
	}
	*before = 0;
	return true;
}

/* Whether the thread waits for the signal, now or soon, or gives it behind having come to the lock then. */
static bool takes_part(const struct sync_records *r, const struct sync_event *signal, uint64_t before,
		       const struct sync_event *comes)
{
	size_t from = graph_sync_events(r, signal->process, signal->id, false, before + 1);
	for (size_t i = from; i < r->n && i - from < MOST_EVENTS; i++) {
		const struct sync_event *s = &r->v[i];
		if (!is_of(s, signal->process, signal->id, false))
			return false;
		if (s->ref.thread == comes->ref.thread &&
		    (s->kind == SYNC_WOKEN || s->section.taken.at == comes->ref.at))
			return true;
	}
	return false;
}

/* Where a thread comes next, of what was found so far, or NULL. */
static const struct event_ref *comes_next(const struct node_input *inputs, size_t n, uint32_t thread)
{
	while (n-- > 0)
		if (inputs[n].ref.thread == thread)
			return &inputs[n].ref;
	return NULL;
}

static bool came(const struct node_input *inputs, size_t n, uint32_t thread)
{
	return comes_next(inputs, n, thread) != NULL;
}

/* The event with which the signal's section began, or NULL. */
const struct sync_event *graph_find_section(const struct sync_records *r, const struct section *section)
{
	size_t i = graph_sync_events(r, section->process, section->id, true, section->taken.stamp);
	for (; i < r->n && is_of(&r->v[i], section->process, section->id, true) &&
	       r->v[i].ref.stamp == section->taken.stamp; i++)
		if (r->v[i].ref.thread == section->taken.thread && r->v[i].ref.at == section->taken.at)
			return &r->v[i];
	return NULL;
}

/* Whether the thread waits for the signal, since it has come; or if it is the one that signals, at any time that is near. */
static bool waits_for(const struct sync_records *r, const struct sync_event *signal, uint32_t thread, uint64_t came)
{
	bool own = thread == signal->ref.thread;
	size_t from = graph_sync_events(r, signal->process, signal->id, false, own ? 0 : signal->ref.stamp);
	for (size_t i = from; i < r->n && i - from < MOST_EVENTS; i++) {
		const struct sync_event *s = &r->v[i];
		if (!is_of(s, signal->process, signal->id, false))
			return false;
		if (s->kind == SYNC_WOKEN && s->ref.thread == thread)
			return own || (s->enter.stamp > came && s->enter.stamp <= signal->ref.stamp);
	}
	return false;
}

static bool in_one_function(const struct trace *t, uint32_t a, uint32_t b)
{
	const char *one = t->sites[a].function, *other = t->sites[b].function;
	return one && other && one[0] && strcmp(one, other) == 0;
}

/* Another signal comes soon, or came before. */
static bool comes_again(const struct sync_records *r, const struct sync_event *signal)
{
	const struct sync_event *all = r->v;
	size_t at = (size_t)(signal - all), least = at < MOST_EVENTS ? 0 : at - MOST_EVENTS;
	for (size_t i = at + 1; i < r->n && i - at < MOST_EVENTS && is_of(&all[i], signal->process, signal->id, false); i++)
		if (all[i].kind == SYNC_SIGNALLED)
			return true;
	for (size_t i = at; i-- > least && is_of(&all[i], signal->process, signal->id, false);)
		if (all[i].kind == SYNC_SIGNALLED)
			return true;
	return false;
}

/* All of it is one function: or else the lock may be taken by one for whoever waits and whoever signals. In code without sites only
 * who waits there as well does what those do who wait. Who signals but once may raise a flag. */
static bool may_be_barrier(const struct builder *b, const struct sync_records *r, const struct sync_event *signal,
			   const struct sync_event *section)
{
	const struct trace *t = b->graph->trace;
	if (!section || section->relocks || !comes_again(r, signal))
		return false;
	return t->sites[section->site].line > 0 ? in_one_function(t, section->site, signal->site)
						 : waits_for(r, signal, signal->ref.thread, 0);
}

/* Those who wait for the signal at such a barrier, but for who signals and `self`; none: it is no barrier. To be freed. */
struct node_input *graph_barrier_of(const struct builder *b, const struct sync_records *r, const struct sync_event *signal,
				    uint32_t self, size_t *n)
{
	const struct section *of = &signal->section;
	const struct sync_event *section = of->taken.at == NO_EVENT ? NULL : graph_find_section(r, of);
	struct node_input *inputs = NULL;
	uint64_t before;
	*n = 0;
	if (!may_be_barrier(b, r, signal, section) || !find_signal_before(r, signal, &before))
		return NULL;
	for (const struct sync_event *s = section; s-- > r->v && section - s <= MOST_EVENTS;) {
		if (!is_of(s, of->process, of->id, true) || s->ref.stamp <= before)
			break;
		if (s->kind != SYNC_TAKEN || s->in_wait || (s->relocks && graph_retaken(r, s)->waiting.stamp <= before))
			continue;
		if (*n == MOST_MEMBERS || s->relocks || s->site != section->site || s->ref.thread == section->ref.thread ||
		    came(inputs, *n, s->ref.thread) || !waits_for(r, signal, s->ref.thread, s->ref.stamp)) {
			*n = 0;
			break;
		}
		*MEM_GROW(inputs, *n) = (struct node_input){ .ref = s->ref, .sure = true };
	}
	size_t others = 0;
	for (size_t i = 0; i < *n; i++)
		if (inputs[i].ref.thread != self)
			inputs[others++] = inputs[i];
	*n = others;
	return inputs;
}

void graph_signal_at_barrier(struct builder *b, const struct sync_records *r, const struct sync_event *signal)
{
	size_t n;
	struct node_input *inputs = graph_barrier_of(b, r, signal, signal->ref.thread, &n);
	if (n > 0) {
		*MEM_GROW(inputs, n) = (struct node_input){ .ref = signal->section.taken, .sure = true };
		uint32_t number = graph_add_chance(b, GRAPH_SYNC, inputs, n);
		b->graph->nodes[number].posted = true;
		graph_wait(b, signal->ref, number);
	}
	free(inputs);
}

/* Who came to the lock of a signal's section since the signal before, for whom a wait since then has waited as well. */
struct counted_comers {
	const struct sync_pass *pass;
	const struct sync_event *signal;
	struct event_ref since;
	uint64_t before;        /* the stamp of the signal before, or 0 */
	struct node_input *v; size_t n;
	bool during;            /* one came while it was waited */
};

static bool no_comers(struct counted_comers *c)
{
	free(c->v);
	c->v = NULL;
	c->n = 0;
	return false;
}

#define ONLY_LOCKED 3 /* events, from one end of a lock call to the next, if it was but given back in between */

/* At a site, where a thread that comes again has done something; or anywhere (TR_NO_SITE), and then each once. False: somebody did
 * not come to count down. */
static bool find_comers(struct counted_comers *c, uint32_t site)
{
	const struct sync_records *r = c->pass->events;
	const struct section *section = &c->signal->section;
	size_t from = graph_sync_events(r, section->process, section->id, true, section->taken.stamp);
	c->during = false;
	for (size_t i = from; i-- > 0 && from - i <= MOST_EVENTS;) {
		const struct sync_event *s = &r->v[i];
		if (!is_of(s, section->process, section->id, true) || s->ref.stamp <= c->before)
			break;
		bool elsewhere = site != TR_NO_SITE && s->site != site;
		if (s->kind != SYNC_TAKEN || s->in_wait || elsewhere || s->ref.thread == c->since.thread)
			continue;
		const struct event_ref *next = comes_next(c->v, c->n, s->ref.thread);
		next = next || s->ref.thread != section->taken.thread ? next : &section->taken;
		bool again = next && (site == TR_NO_SITE || next->at - s->ref.at <= ONLY_LOCKED);
		if (again || s->relocks || takes_part(r, c->signal, c->before, s))
			return no_comers(c);
		c->during |= s->ref.stamp > c->since.stamp;
		*MEM_GROW(c->v, c->n) = (struct node_input){ .ref = s->ref };
	}
	return c->n > 0;
}

/* Whether it has waited since the signal, before it comes to the site again, if it does: so it had begun nothing that went on
 * then. */
static bool begins_anew(const struct counted_comers *c, uint32_t thread, uint32_t site)
{
	const struct sync_records *r = c->pass->events;
	const struct section *section = &c->signal->section;
	const struct blocking_calls *calls = &c->pass->b->threads[thread].blocking;
	size_t call = SEARCH(calls->n, mid, calls->v[mid].until < c->signal->ref.stamp);
	size_t from = graph_sync_events(r, section->process, section->id, true, c->signal->ref.stamp + 1);
	for (size_t i = from; i < r->n && i - from < MOST_EVENTS && is_of(&r->v[i], section->process, section->id, true); i++)
		if (r->v[i].kind == SYNC_TAKEN && r->v[i].site == site && r->v[i].ref.thread == thread)
			return call < calls->n && calls->v[call].until < r->v[i].ref.stamp;
	return true;
}

/* Where the last signals, one may come more than once, as who does several tasks of a pool. All come to the lock where that one
 * did, one while it was waited, and then all has been done: nobody comes there again without having waited for more. */
static bool find_repeated(struct counted_comers *c)
{
	const struct sync_event *last = graph_find_section(c->pass->events, &c->signal->section);
	if (!last || last->relocks || c->pass->b->graph->trace->sites[last->site].line == 0 || !find_comers(c, last->site))
		return false;
	bool all = c->during && begins_anew(c, last->ref.thread, last->site);
	for (size_t i = 0; i < c->n && all; i++)
		all = begins_anew(c, c->v[i].ref.thread, last->site);
	return all || no_comers(c);
}

struct node_input *graph_counted(const struct sync_pass *p, const struct sync_event *signal, struct event_ref since, size_t *n)
{
	struct counted_comers c = { .pass = p, .signal = signal, .since = since };
	*n = 0;
	if (signal->section.taken.at == NO_EVENT || !find_signal_before(p->events, signal, &c.before))
		return NULL;
	if (!find_comers(&c, TR_NO_SITE) && !find_repeated(&c))
		return NULL;
	for (size_t i = 0; i < c.n; i++)
		c.v[i].sure = c.during;
	*n = c.n;
	return c.v;
}

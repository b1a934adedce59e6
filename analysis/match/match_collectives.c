/* SPDX-License-Identifier: MIT
 *
 * match_collectives.c - which calls are one collective operation: by group, number and kind. */
#include "analysis/match/match_private.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "analysis/base/memory.h"

enum collective_class { CLASS_COLLECTIVE, CLASS_FORK, CLASS_JOIN }; /* each has numbers of its own */

struct collective {
	struct collective_key key;
	struct match_part *parts;
	size_t nparts, room, left;
	size_t present, size;    /* of whom the trace knows; who should take part */
	enum flow flow;
	bool arrival;
	bool begun;              /* only: done when its id is */
	bool by_chance;
	bool unlike;             /* members name different operations */
	size_t roles;            /* members that say whether they are its root */
	struct collective *next_spare;
	UT_hash_handle hh;
};

/* Under way in a process. */
struct begun_key { uint64_t process, id; };
struct begun_part {
	struct begun_key key;
	struct collective *collective;
	size_t part;
	UT_hash_handle hh;
};

/* ---- What flows where ------------------------------------------------------------------------ */

static bool only_begins(const struct operation *op, const struct tr_event *e)
{
	return arg_request(op, e) != ARG_NONE;
}

static enum flow flow_of(const struct operation *op, const struct tr_event *e)
{
	enum flow flow = only_begins(op, e) ? op->begun : op->flow;
	if (arg_is_doubtful(op, e))
		return FLOW_NOWHERE;
	return flow != FLOW_BY_ROLE ? flow : arg_is_rooted(op, e) ? FLOW_NOWHERE : FLOW_ALL;
}

/* ---- One collective operation ---------------------------------------------------------------- */

/* With the room for parts that another one leaves. */
static struct collective *make(struct matcher *m, struct collective with)
{
	struct collective *spare = m->spare_collectives;
	if (spare) {
		m->spare_collectives = spare->next_spare;
		with.parts = spare->parts;
		with.room = spare->room;
	} else {
		spare = mem_resize(NULL, 1, sizeof *spare);
	}
	*spare = with;
	return spare;
}

static struct match_part *add_part(struct collective *c)
{
	if (c->nparts == c->room)
		c->parts = mem_resize(c->parts, c->room = 2 * c->room + 2, sizeof *c->parts);
	return &c->parts[c->nparts++];
}

static bool is_same(const struct collective_key *x, const struct collective_key *y)
{
	return x->group == y->group && x->number == y->number && x->class == y->class;
}

/* Those who take part mostly come one after the other. */
static struct collective *find(struct matcher *m, const struct collective_key *key)
{
	struct collective *c = m->latest;
	if (c && is_same(&c->key, key))
		return c;
	HASH_FIND(hh, m->collectives, key, sizeof *key, c);
	return m->latest = c;
}

static struct collective *begin(struct matcher *m, struct collective_key key,
				const struct tr_event *e)
{
	const struct operation *op = tr_operation(m->trace, e);
	const struct tr_group *group = trace_group(m->trace, key.group);
	struct collective *collective = make(m, (struct collective){ .key = key, .flow = flow_of(op, e),
								     .arrival = op->is & OP_ARRIVAL,
								     .begun = only_begins(op, e) });
	collective->present = group ? group->nthreads : SIZE_MAX;
	collective->size = group ? group->size : SIZE_MAX;
	collective->by_chance = collective->size < collective->present;
	if (collective->by_chance)
		collective->present = collective->size;
	if (collective->flow == FLOW_UPWARD && !(group && group->by_rank))
		collective->flow = FLOW_NOWHERE;
	HASH_ADD(hh, m->collectives, key, sizeof collective->key, collective);
	return m->latest = collective;
}

static bool same_operation(const struct trace *t, uint32_t a, uint32_t b)
{
	return t->sites[a].alike == t->sites[b].alike;
}

/* But for the large counts that some may use: MPI_Bcast_c is MPI_Bcast. */
static bool is_other_operation(const struct trace *t, uint32_t a, uint32_t b)
{
	const char *x = t->sites[a].name, *y = t->sites[b].name, *shorter = strlen(x) < strlen(y) ? x : y, *longer = shorter == x ? y : x;
	size_t n = strlen(shorter);
	return strncmp(shorter, longer, n) != 0 || (longer[n] && strcmp(longer + n, "_c") != 0);
}

static struct begun_part *find_begun(struct matcher *m, uint32_t thread, uint64_t id)
{
	struct begun_key key = { m->trace->threads[thread].process, id };
	struct begun_part *b;
	HASH_FIND(hh, m->begun, &key, sizeof key, b);
	return b;
}

static void forget_begun(struct matcher *m, struct begun_part *b)
{
	HASH_DELETE(hh, m->begun, b);
	free(b);
}

/* The next part is done when its id is; what was begun under it before never is. */
static void begin_id(struct matcher *m, uint32_t thread, const struct tr_event *e,
		     struct collective *collective)
{
	uint64_t id = arg_request(tr_operation(m->trace, e), e);
	struct begun_part *b = find_begun(m, thread, id);
	if (!b) {
		b = mem_resize(NULL, 1, sizeof *b);
		*b = (struct begun_part){ .key = { m->trace->threads[thread].process, id } };
		HASH_ADD(hh, m->begun, key, sizeof b->key, b);
	}
	b->collective = collective;
	b->part = collective->nparts;
}

/* The part that the thread already has of this collective, now to be played again; VISITED_NOTHING; or
 * SIZE_MAX. */
static size_t repeated(struct match_thread *a, const struct collective_key *key)
{
	for (size_t i = a->ninterrupted; i-- > 0;) {
		if (!is_same(&a->interrupted[i].key, key))
			continue;
		a->ninterrupted = i;
		return a->interrupted[i].part;
	}
	return is_same(&a->left.key, key) ? a->left.part : SIZE_MAX;
}

static bool is_part(const struct collective *collective, size_t part, uint32_t thread)
{
	return part < collective->nparts && collective->parts[part].thread == thread;
}

/* Of those who have left for good: whether any did so before the stamp, as far as stamps of different threads tell;
 * and all. */
struct left_before { bool any, all; };

static struct left_before left_before(const struct matcher *m, const struct collective *collective, uint64_t stamp)
{
	struct left_before b = { false, true };
	for (size_t i = 0; i < collective->nparts; i++) {
		const struct match_part *p = &collective->parts[i];
		bool certain = p->done < stamp && stamp - p->done > m->slack;
		if (p->done_at == MATCH_NEVER)
			continue;
		b.any |= certain;
		b.all &= certain;
	}
	return b;
}

void collective_enter(struct matcher *m, uint32_t thread, const struct tr_event *e,
		      struct open_call *call)
{
	struct collective_key key = { trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX),
				      trace_arg(e, DPROF_KEY_SEQ, UINT64_MAX),
				      call->kind == DPROF_KIND_FORK ? CLASS_FORK :
				      call->kind == DPROF_KIND_JOIN ? CLASS_JOIN : CLASS_COLLECTIVE };
	if (key.group == UINT64_MAX || key.number == UINT64_MAX)
		return;
	const struct operation *op = tr_operation(m->trace, e);
	bool begins = only_begins(op, e);
	size_t again = begins ? SIZE_MAX : repeated(&m->threads[thread], &key);
	call->key = key;
	call->part = again;
	if (again == VISITED_NOTHING)
		return;
	struct collective *collective = find(m, &key);
	if (!collective)
		collective = begin(m, key, e);
	else if (!same_operation(m->trace, collective->parts[0].site, e->site) ||
		 arg_is_doubtful(op, e))
		collective->flow = FLOW_NOWHERE;
	if (arg_failed(op, e)) /* others may take part in it, and those who seem to may not */
		collective->size = SIZE_MAX;
	collective->unlike |= collective->nparts && is_other_operation(m->trace, collective->parts[0].site, e->site);
	collective->roles += arg_is_rooted(op, e);
	if (begins) {
		begin_id(m, thread, e, collective);
		*add_part(collective) = match_part(m, thread, e);
		return;
	}
	bool anew = !is_part(collective, again, thread);
	call->collective = collective;
	call->part = anew ? collective->nparts : again;
	if (anew)
		add_part(collective);
	else
		collective->left -= collective->parts[again].done_at != MATCH_NEVER;
	if (!anew && key.class == CLASS_COLLECTIVE && left_before(m, collective, e->stamp).any) /* it was over already */
		collective->flow = FLOW_NOWHERE;
	collective->parts[call->part] = match_part(m, thread, e);
}

/* All are there, and say who is the root: nobody is, or several are. */
static bool has_not_one_root(const struct collective *c)
{
	size_t roots = 0;
	for (size_t i = 0; i < c->nparts; i++)
		roots += c->parts[i].root;
	bool known = c->nparts == c->size && c->roles == c->nparts;
	return known && (c->flow == FLOW_FROM_ROOT || c->flow == FLOW_TO_ROOT) && roots != 1;
}

/* MPI allows neither. Where an operation failed nobody knows who takes part in this one. */
static void find_unlike(struct collective *c)
{
	if (has_not_one_root(c)) {
		c->unlike = true;
		c->flow = FLOW_NOWHERE;
	}
	c->unlike &= c->key.class == CLASS_COLLECTIVE && c->size < SIZE_MAX;
}

static void give(struct matcher *m, struct collective *collective)
{
	find_unlike(collective);
	struct ready *r = match_ready(m, MATCH_COLLECTIVE, collective->nparts);
	memcpy(r->parts, collective->parts, collective->nparts * sizeof r->parts[0]);
	r->match.flow = collective->flow;
	r->match.arrival = collective->arrival;
	r->match.group = collective->key.group;
	r->match.number = collective->key.number;
	r->match.begun = collective->begun;
	r->match.by_chance = collective->by_chance;
	r->match.unlike = collective->unlike;
	r->match.all_came = collective->nparts >= collective->size;
	r->match.complete = collective->left == collective->size;
	m->tally.collectives++;
	m->tally.incomplete += !r->match.complete;
}

static void forget(struct matcher *m, struct collective *collective)
{
	HASH_DELETE(hh, m->collectives, collective);
	if (m->latest == collective)
		m->latest = NULL;
	collective->next_spare = m->spare_collectives;
	m->spare_collectives = collective;
}

static void leave(struct matcher *m, struct collective *collective, size_t part, uint32_t thread, size_t done_at,
		  uint64_t stamp)
{
	collective->parts[part].done_in = thread;
	collective->parts[part].done = stamp;
	collective->parts[part].done_at = done_at;
	collective->left++;
	if (collective->left < collective->nparts || collective->nparts < collective->present)
		return;
	give(m, collective);
	forget(m, collective);
}

/* When another has left a barrier already, it was over: the thread was on its way out when it found a task
 * that was made behind the barrier. It has left then, and its next visits are to nothing. Where it is not certain
 * that the other left before that, it comes again, and it is not known who waited for whom; nor where another has
 * left before one comes again. */
void collective_interrupt(struct matcher *m, uint32_t thread, const struct open_call *call,
			  const struct tr_event *e)
{
	struct match_thread *a = &m->threads[thread];
	if (!call->collective && call->part != VISITED_NOTHING)
		return;
	bool over = call->collective && call->collective->key.class == CLASS_COLLECTIVE && call->collective->left > 0;
	if (over && !left_before(m, call->collective, e->stamp).all) {
		call->collective->flow = FLOW_NOWHERE;
		over = false;
	}
	*MEM_GROW(a->interrupted, a->ninterrupted) =
		(struct visited){ call->key, over ? VISITED_NOTHING : call->part };
	if (over)
		leave(m, call->collective, call->part, thread, MATCH_NEVER, e->stamp);
}

void collective_leave(struct matcher *m, uint32_t thread, const struct open_call *call,
		      const struct tr_event *e)
{
	if (call->collective->key.class == CLASS_JOIN)
		m->threads[thread].left = (struct visited){ call->collective->key, call->part };
	leave(m, call->collective, call->part, thread, m->threads[thread].count, e->stamp);
}

void collective_done_id(struct matcher *m, uint32_t thread, uint64_t id, const struct tr_event *e)
{
	struct begun_part *b = find_begun(m, thread, id);
	if (!b)
		return;
	leave(m, b->collective, b->part, thread, m->threads[thread].count, e->stamp);
	forget_begun(m, b);
}

/* ---- All ------------------------------------------------------------------------------------- */

void collectives_finish(struct matcher *m)
{
	struct collective *collective, *next;
	HASH_ITER(hh, m->collectives, collective, next)
		give(m, collective);
}

void collectives_free(struct matcher *m)
{
	struct collective *collective, *next;
	struct begun_part *b, *after;
	HASH_ITER(hh, m->begun, b, after)
		forget_begun(m, b);
	HASH_ITER(hh, m->collectives, collective, next)
		forget(m, collective);
	for (collective = m->spare_collectives; collective; collective = next) {
		next = collective->next_spare;
		free(collective->parts);
		free(collective);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * match_meetings.c - who met whom, by group, number and kind of operation. */
#include "analysis/trace/match_private.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "analysis/base/memory.h"

enum meeting_class { CLASS_COLLECTIVE, CLASS_FORK, CLASS_JOIN }; /* each has numbers of its own */

struct meeting {
	struct meeting_key key;
	struct match_part *parts;
	size_t nparts, left;
	size_t present, size;    /* of whom the trace knows; who should take part */
	enum match_flow flow;
	enum dprof_kind what;
	bool begun;              /* only: done when its id is */
	UT_hash_handle hh;
};

/* Under way in a process. */
struct begun_key { uint64_t process, id; };
struct begun {
	struct begun_key key;
	struct meeting *meeting;
	size_t part;
	UT_hash_handle hh;
};

/* ---- What flows where ------------------------------------------------------------------------ */

/* Of MPI's operations, those whose data flow the name tells. The others either do not say between
 * whom data flow (MPI_Alltoallv, MPI_Neighbor_*), or need not wait for anybody (MPI_Comm_split). */
static const struct { const char *name; enum match_flow flow; } flows[] = {
	{ "MPI_Barrier", MATCH_ALL },
	{ "MPI_Allreduce", MATCH_ALL },
	{ "MPI_Allgather", MATCH_ALL },
	{ "MPI_Allgatherv", MATCH_ALL },
	{ "MPI_Alltoall", MATCH_ALL },
	{ "MPI_Reduce_scatter_block", MATCH_ALL },
	{ "MPI_Bcast", MATCH_FROM_ROOT },
	{ "MPI_Scatter", MATCH_FROM_ROOT },
	{ "MPI_Scatterv", MATCH_FROM_ROOT },
	{ "MPI_Reduce", MATCH_TO_ROOT },
	{ "MPI_Gather", MATCH_TO_ROOT },
	{ "MPI_Gatherv", MATCH_TO_ROOT },
	{ "MPI_Win_fence", MATCH_ALL },
	{ "MPI_Scan", MATCH_UPWARD },
	{ "MPI_Exscan", MATCH_UPWARD },
};

/* What only begins, like MPI_Ibcast or a start of what MPI_Bcast_init made, flows as MPI_Bcast does. */
static bool is_name(const char *name, const char *of, bool begun)
{
	static const char prefix[] = "MPI_I", suffix[] = "_init";
	if (!begun)
		return strcmp(name, of) == 0;
	if (strncmp(name, of, strlen(of)) == 0 && strcmp(name + strlen(of), suffix) == 0)
		return true;
	return strncmp(name, prefix, strlen(prefix)) == 0 &&
	       strcasecmp(name + strlen(prefix), of + strlen("MPI_")) == 0;
}

static enum match_flow flow_of_name(const char *name, bool rooted, bool begun)
{
	for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
		if (is_name(name, flows[i].name, begun))
			return flows[i].flow;
	return strncmp(name, "MPI_", strlen("MPI_")) == 0 || rooted ? MATCH_NOWHERE : MATCH_ALL;
}

static bool only_begins(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_ID, MATCH_NO_ID) != MATCH_NO_ID;
}

static bool is_uncertain(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_ROLE, 0) == DPROF_WHO_KNOWS ||
	       trace_arg(e, DPROF_KEY_PEER, 0) == DPROF_NOBODY;
}

static enum match_flow flow_of(const struct tr_site *site, const struct tr_event *e)
{
	bool rooted = trace_has(e, DPROF_KEY_ROLE);
	return is_uncertain(e) ? MATCH_NOWHERE :
	       site->kind == DPROF_KIND_FORK ? MATCH_FROM_ROOT :
	       site->kind == DPROF_KIND_JOIN ? MATCH_TO_ROOT :
	       flow_of_name(site->name, rooted, only_begins(e));
}

static enum dprof_kind what_of(const struct tr_site *site, const struct tr_event *e)
{
	return is_name(site->name, "MPI_Barrier", only_begins(e)) ||
	       strcmp(site->name, "MPI_Win_fence") == 0 ? DPROF_KIND_BARRIER : site->kind;
}

static int by_id(const void *id, const void *group)
{
	uint64_t a = *(const uint64_t *)id, b = ((const struct tr_group *)group)->id;
	return (a > b) - (a < b);
}

static const struct tr_group *find_group(const struct trace *t, uint64_t id)
{
	return t->ngroups ? bsearch(&id, t->groups, t->ngroups, sizeof *t->groups, by_id) : NULL;
}

/* ---- One meeting ----------------------------------------------------------------------------- */

static struct meeting *begin(struct matcher *m, struct meeting_key key, const struct tr_event *e)
{
	const struct tr_site *site = &m->trace->sites[e->site];
	const struct tr_group *group = find_group(m->trace, key.group);
	struct meeting *meeting = mem_resize(NULL, 1, sizeof *meeting);
	*meeting = (struct meeting){ .key = key, .flow = flow_of(site, e), .what = what_of(site, e),
				     .begun = only_begins(e) };
	meeting->present = group ? group->nthreads : SIZE_MAX;
	meeting->size = group ? group->size : SIZE_MAX;
	if (meeting->size < meeting->present)
		meeting->present = meeting->size;
	if (meeting->flow == MATCH_UPWARD && !(group && group->by_rank))
		meeting->flow = MATCH_NOWHERE;
	HASH_ADD(hh, m->meetings, key, sizeof meeting->key, meeting);
	return meeting;
}

static bool same_operation(const struct trace *t, uint32_t a, uint32_t b)
{
	return a == b || (t->sites[a].kind == t->sites[b].kind &&
			  strcmp(t->sites[a].name, t->sites[b].name) == 0);
}

static struct begun *find_begun(struct matcher *m, uint32_t thread, uint64_t id)
{
	struct begun_key key = { m->trace->threads[thread].process, id };
	struct begun *b;
	HASH_FIND(hh, m->begun, &key, sizeof key, b);
	return b;
}

static void forget_begun(struct matcher *m, struct begun *b)
{
	HASH_DELETE(hh, m->begun, b);
	free(b);
}

/* The next part is done when its id is; what was begun under it before never is. */
static void begin_id(struct matcher *m, uint32_t thread, const struct tr_event *e,
		     struct meeting *meeting)
{
	uint64_t id = trace_arg(e, DPROF_KEY_ID, MATCH_NO_ID);
	struct begun *b = find_begun(m, thread, id);
	if (!b) {
		b = mem_resize(NULL, 1, sizeof *b);
		*b = (struct begun){ .key = { m->trace->threads[thread].process, id } };
		HASH_ADD(hh, m->begun, key, sizeof b->key, b);
	}
	b->meeting = meeting;
	b->part = meeting->nparts;
}

static bool is_visit(const struct visited *v, const struct meeting_key *key)
{
	return memcmp(&v->key, key, sizeof *key) == 0;
}

/* The part that the thread already has of this meeting, now to be played again; VISITED_NOTHING; or
 * SIZE_MAX. */
static size_t repeated(struct actor *a, const struct meeting_key *key)
{
	for (size_t i = a->ninterrupted; i-- > 0;) {
		if (!is_visit(&a->interrupted[i], key))
			continue;
		a->ninterrupted = i;
		return a->interrupted[i].part;
	}
	return is_visit(&a->left, key) ? a->left.part : SIZE_MAX;
}

static bool is_part(const struct meeting *meeting, size_t part, uint32_t thread)
{
	return part < meeting->nparts && meeting->parts[part].thread == thread;
}

void meeting_enter(struct matcher *m, uint32_t thread, const struct tr_event *e, struct call *call)
{
	struct meeting_key key = { trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX),
				   trace_arg(e, DPROF_KEY_SEQ, UINT64_MAX),
				   call->kind == DPROF_KIND_FORK ? CLASS_FORK :
				   call->kind == DPROF_KIND_JOIN ? CLASS_JOIN : CLASS_COLLECTIVE };
	struct meeting *meeting;
	if (key.group == UINT64_MAX || key.number == UINT64_MAX)
		return;
	size_t again = only_begins(e) ? SIZE_MAX : repeated(&m->actors[thread], &key);
	call->met = key;
	call->part = again;
	if (again == VISITED_NOTHING)
		return;
	HASH_FIND(hh, m->meetings, &key, sizeof key, meeting);
	if (!meeting)
		meeting = begin(m, key, e);
	else if (!same_operation(m->trace, meeting->parts[0].site, e->site) ||
		 is_uncertain(e))
		meeting->flow = MATCH_NOWHERE;
	if (only_begins(e)) {
		begin_id(m, thread, e, meeting);
		*MEM_GROW(meeting->parts, meeting->nparts) = match_part(m, thread, e);
		return;
	}
	bool anew = !is_part(meeting, again, thread);
	call->meeting = meeting;
	call->part = anew ? meeting->nparts : again;
	if (anew)
		MEM_GROW(meeting->parts, meeting->nparts);
	else
		meeting->left -= meeting->parts[again].done_at != MATCH_NEVER;
	meeting->parts[call->part] = match_part(m, thread, e);
}

static void give(struct matcher *m, struct meeting *meeting)
{
	struct ready *r = match_ready(m, MATCH_MEETING, meeting->nparts);
	memcpy(r->parts, meeting->parts, meeting->nparts * sizeof r->parts[0]);
	r->match.flow = meeting->flow;
	r->match.what = meeting->what;
	r->match.group = meeting->key.group;
	r->match.number = meeting->key.number;
	r->match.begun = meeting->begun;
	r->match.complete = meeting->left == meeting->size;
	m->tally.meetings++;
	m->tally.incomplete += !r->match.complete;
}

static void forget(struct matcher *m, struct meeting *meeting)
{
	HASH_DELETE(hh, m->meetings, meeting);
	free(meeting->parts);
	free(meeting);
}

static void leave(struct matcher *m, struct meeting *meeting, size_t part, size_t done_at,
		  uint64_t stamp)
{
	meeting->parts[part].done = stamp;
	meeting->parts[part].done_at = done_at;
	meeting->left++;
	if (meeting->left < meeting->nparts || meeting->nparts < meeting->present)
		return;
	give(m, meeting);
	forget(m, meeting);
}

/* When somebody has left a barrier already, it was over: the thread was on its way out when it found a task
 * that was made behind the barrier. It has left then, and its next visits are to nothing. */
void meeting_interrupt(struct matcher *m, uint32_t thread, const struct call *call,
		       const struct tr_event *e)
{
	struct actor *a = &m->actors[thread];
	if (!call->meeting && call->part != VISITED_NOTHING)
		return;
	bool over = call->meeting && call->meeting->key.class == CLASS_COLLECTIVE &&
		    call->meeting->left > 0;
	*MEM_GROW(a->interrupted, a->ninterrupted) =
		(struct visited){ call->met, over ? VISITED_NOTHING : call->part };
	if (over)
		leave(m, call->meeting, call->part, MATCH_NEVER, e->stamp);
}

void meeting_leave(struct matcher *m, uint32_t thread, const struct call *call,
		   const struct tr_event *e)
{
	if (call->meeting->key.class == CLASS_JOIN)
		m->actors[thread].left = (struct visited){ call->meeting->key, call->part };
	leave(m, call->meeting, call->part, m->actors[thread].count, e->stamp);
}

void meeting_done_id(struct matcher *m, uint32_t thread, uint64_t id, const struct tr_event *e)
{
	struct begun *b = find_begun(m, thread, id);
	if (!b)
		return;
	leave(m, b->meeting, b->part, m->actors[thread].count, e->stamp);
	forget_begun(m, b);
}

/* ---- All ------------------------------------------------------------------------------------- */

void meetings_finish(struct matcher *m)
{
	struct meeting *meeting, *next;
	HASH_ITER(hh, m->meetings, meeting, next)
		give(m, meeting);
}

void meetings_free(struct matcher *m)
{
	struct meeting *meeting, *next;
	struct begun *b, *after;
	HASH_ITER(hh, m->begun, b, after)
		forget_begun(m, b);
	HASH_ITER(hh, m->meetings, meeting, next)
		forget(m, meeting);
}

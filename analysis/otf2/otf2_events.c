/* SPDX-License-Identifier: MIT
 *
 * otf2_events.c - see otf2_private.h. What a call of MPI was is known when it is over: till then its records are kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/otf2/otf2_private.h"
#include "runtime/format.h"

/* One end of a message, or a collective operation, as far as its record says. */
struct otf2_part {
	enum dprof_kind kind;    /* DPROF_KIND_NONE: nothing is known of it */
	OTF2_CommRef comm;
	uint32_t peer, tag;      /* rank in the communicator; of a collective operation its root */
	uint64_t bytes, id;      /* id: of the request, or 0 */
	OTF2_CollectiveOp op;
};

/* A call that has not ended, and what it began and completed. */
struct call {
	size_t region;
	uint64_t entered;
	struct otf2_part *begun; size_t nbegun;
	struct otf2_part *done; size_t ndone;
};

struct open_region { size_t region; uint64_t site; };

struct otf2_events {
	struct otf2_trace *t;
	size_t thread, process;  /* location; rank of its process, or OTF2_NOWHERE */
	enum pass { COUNTING, LOOKING_AHEAD, WRITING } pass; /* messages; for what requests turn out to be; all */
	struct otf2_part *requests; size_t nrequests; /* in the order in which they began */
	struct ids names; size_t *named, nnamed; /* of each request's name in the trace the last that was called so */
	size_t next;             /* of requests, when they are met again */
	uint32_t nblocking;      /* parts of calls that got an id here */
	struct open_region *stack; size_t depth;
	bool worker, teams;      /* not the first thread of its process; and it tells of its teams */
	size_t in_teams;         /* how many it is in */
	bool idle;               /* it is a worker, in no team and in no region */
	bool calling; size_t inner; /* in a call of MPI's, and in so many that it made itself */
	struct call call;
	uint64_t *called;        /* collective operations so far, of each communicator */
	uint64_t last;
	char *wrong;
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static uint64_t site_line(struct otf2_trace *t, const char *kind, const char *name, const char *suffix,
			  const char *file, uint32_t line, bool marked)
{
	fprintf(t->out, "site %" PRIu64 " kind=%s name=", t->nsites, kind);
	ln_escaped(t->out, *name ? name : "?");
	ln_escaped(t->out, suffix);
	fputs(" file=", t->out);
	ln_escaped(t->out, file);
	fprintf(t->out, " line=%u%s\n", (unsigned)line, strcmp(kind, "region") == 0 && !marked ? " auto=1" : "");
	return t->nsites++;
}

static const char *kind_word(enum dprof_kind kind)
{
	static const char *const words[] = { "none",
#define X(NAME, word) #word,
		DPROF_KINDS(X)
#undef X
	};
	return words[kind];
}

/* A region as that kind of operation; what a call sends and receives beside others has sites of its own. */
static uint64_t site_of(struct otf2_events *e, size_t region, enum dprof_kind kind, bool nested)
{
	struct otf2_region *r = &e->t->regions[region];
	uint64_t *site = &r->site[nested][kind];
	const char *does = kind == DPROF_KIND_SEND ? " sends" : kind == DPROF_KIND_RECV ? " receives" : " begins";
	if (*site == 0)
		*site = 1 + site_line(e->t, kind_word(kind), otf2_string(e->t, r->name), nested ? does : "",
				      otf2_string(e->t, r->file), r->line, strcmp(otf2_string(e->t, r->description), DPROF_OTF2_MARK) == 0);
	return *site - 1;
}

/* Of what is complete (format.h, "done"). */
static uint64_t site_done(struct otf2_events *e, enum dprof_kind kind)
{
	uint64_t *site = &e->t->done_site[kind];
	const char *done = kind == DPROF_KIND_SEND ? "sent" : kind == DPROF_KIND_RECV ? "received" : "completed";
	if (*site == 0)
		*site = 1 + site_line(e->t, kind_word(kind), done, "", "", 0, false);
	return *site - 1;
}

static uint64_t site_idle(struct otf2_events *e)
{
	if (e->t->idle_site == 0)
		e->t->idle_site = 1 + site_line(e->t, "wait", "no team", "", "", 0, false);
	return e->t->idle_site - 1;
}

static void event(struct otf2_events *e, uint64_t stamp, uint64_t site, const char *op)
{
	fprintf(e->t->out, "e %zu %" PRIu64 " %" PRIu64 " %s", e->thread, stamp, site, op);
}

static void key(struct otf2_events *e, const char *word, uint64_t value)
{
	fprintf(e->t->out, " %s=%" PRIu64, word, value);
}

static void end(struct otf2_events *e)
{
	putc('\n', e->t->out);
}

static size_t comm_place(const struct otf2_events *e, const struct otf2_part *p)
{
	return otf2_comm(e->t, p->comm) ? ids_find(&e->t->comm_ids, p->comm) : OTF2_NOWHERE;
}

/* Of a message that can be told from others: the rank at the other end; or OTF2_NOWHERE. */
static size_t peer_of(const struct otf2_events *e, const struct otf2_part *p)
{
	const struct otf2_group *g = otf2_comm(e->t, p->comm);
	size_t peer = g && p->peer < g->n ? g->members[p->peer] : OTF2_NOWHERE;
	bool sends = p->kind == DPROF_KIND_SEND;
	return otf2_is_told(e->t, sends ? e->process : peer, sends ? peer : e->process, p->comm, p->tag) ? peer : OTF2_NOWHERE;
}

static void peer_keys(struct otf2_events *e, const struct otf2_part *p)
{
	size_t peer = peer_of(e, p);
	if (peer == OTF2_NOWHERE)
		return;
	key(e, "peer", peer);
	key(e, "tag", p->tag);
}

static void id_key(struct otf2_events *e, const struct otf2_part *p)
{
	if (p->id)
		key(e, "id", p->id);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static bool is_rooted(OTF2_CollectiveOp op)
{
	return op == OTF2_COLLECTIVE_OP_BCAST || op == OTF2_COLLECTIVE_OP_SCATTER || op == OTF2_COLLECTIVE_OP_SCATTERV ||
	       op == OTF2_COLLECTIVE_OP_GATHER || op == OTF2_COLLECTIVE_OP_GATHERV || op == OTF2_COLLECTIVE_OP_REDUCE;
}

static void collective_keys(struct otf2_events *e, const struct otf2_part *p, uint64_t seq)
{
	const struct otf2_group *g = otf2_comm(e->t, p->comm);
	if (!g || !otf2_are_calls_told(e->t, p->comm))
		return;
	key(e, "group", comm_place(e, p) + 1);
	key(e, "seq", seq);
	if (is_rooted(p->op) && p->peer < g->n)
		key(e, "role", g->members[p->peer] == e->process);
	if (p->kind == DPROF_KIND_COLL)
		key(e, "bytes", p->bytes);
	id_key(e, p);
}

/* The keys of an enter, and of its exit. What a receive took it says only when it is done. */
static void begun_keys(struct otf2_events *e, const struct otf2_part *p, uint64_t seq)
{
	if (p->kind == DPROF_KIND_COLL || p->kind == DPROF_KIND_BARRIER) {
		collective_keys(e, p, seq);
		return;
	}
	if (peer_of(e, p) != OTF2_NOWHERE)
		key(e, "group", comm_place(e, p) + 1);
	if (p->kind == DPROF_KIND_SEND)
		peer_keys(e, p);
	if (otf2_comm(e->t, p->comm))
		key(e, "bytes", p->bytes);
	id_key(e, p);
}

static void done_point(struct otf2_events *e, uint64_t stamp, const struct otf2_part *p)
{
	event(e, stamp, site_done(e, p->kind), "point");
	id_key(e, p);
	if (p->kind == DPROF_KIND_RECV) {
		peer_keys(e, p);
		key(e, "bytes", p->bytes);
	}
	end(e);
}

static uint64_t next_in_comm(struct otf2_events *e, const struct otf2_part *p)
{
	size_t comm = p->kind == DPROF_KIND_COLL || p->kind == DPROF_KIND_BARRIER ? comm_place(e, p) : OTF2_NOWHERE;
	return comm == OTF2_NOWHERE ? 0 : e->called[comm]++;
}

/* What alone a call was. */
static void write_single(struct otf2_events *e, uint64_t left)
{
	const struct call *c = &e->call;
	const struct otf2_part *p = &c->begun[0];
	uint64_t site = site_of(e, c->region, p->kind, false), seq = next_in_comm(e, p);
	event(e, c->entered, site, "enter");
	begun_keys(e, p, seq);
	end(e);
	if (p->kind == DPROF_KIND_RECV && !p->id)
		done_point(e, left, p);
	event(e, left, site, "exit");
	begun_keys(e, p, seq);
	end(e);
}

static void write_nested(struct otf2_events *e, uint64_t stamp, const struct otf2_part *p, const char *op)
{
	event(e, stamp, site_of(e, e->call.region, p->kind, true), op);
	begun_keys(e, p, 0);
	end(e);
}

/* It waited for what it completed, of which some it may have begun itself. If that is nothing, an attempt was in vain,
 * and of others but MPI_Wait and its like nobody knows for what they waited. */
static void write_wait(struct otf2_events *e, uint64_t left)
{
	const struct call *c = &e->call;
	uint64_t site = site_of(e, c->region, DPROF_KIND_WAIT, false);
	const char *name = otf2_string(e->t, e->t->regions[c->region].name);
	event(e, c->entered, site, "enter");
	if (c->nbegun + c->ndone == 0 && !begins(name, "MPI_Wait"))
		key(e, "peer", begins(name, "MPI_Test") || begins(name, "MPI_I") ? DPROF_PEER_NONE : DPROF_PEER_UNKNOWN);
	end(e);
	for (size_t i = 0; i < c->nbegun; i++)
		write_nested(e, c->entered, &c->begun[i], "enter");
	for (size_t i = 0; i < c->ndone; i++)
		done_point(e, left, &c->done[i]);
	for (size_t i = c->nbegun; i-- > 0;)
		write_nested(e, left, &c->begun[i], "exit");
	event(e, left, site, "exit");
	end(e);
}

/* What a call that does several things sends and receives at once has an id of its own, and is done when the call is over. */
static void name_blocking(struct otf2_events *e)
{
	struct call *c = &e->call;
	for (size_t i = 0; i < c->nbegun; i++)
		if (c->begun[i].id == 0) {
			c->begun[i].id = ((uint64_t)e->thread << 32) + (UINT32_MAX - e->nblocking++);
			*MEM_GROW(c->done, c->ndone) = c->begun[i];
		}
}

static void write_call(struct otf2_events *e, uint64_t left)
{
	struct call *c = &e->call;
	if (c->nbegun == 1 && c->ndone == 0) {
		write_single(e, left);
	} else {
		name_blocking(e);
		write_wait(e, left);
	}
	c->nbegun = c->ndone = 0;
}

/* ---- Regions --------------------------------------------------------------------------------- */

static bool is_mpi(const struct otf2_events *e, size_t region)
{
	const struct otf2_region *r = &e->t->regions[region];
	return r->paradigm == OTF2_PARADIGM_MPI || begins(otf2_string(e->t, r->name), "MPI_");
}

/* Of all but MPI's. What is not known to be work may be waiting. */
static enum dprof_kind kind_of(const struct otf2_events *e, size_t region)
{
	const struct otf2_region *r = &e->t->regions[region];
	const char *name = otf2_string(e->t, r->name);
	if (strcmp(otf2_string(e->t, r->description), DPROF_OTF2_SLEEP) == 0)
		return DPROF_KIND_SLEEP;
	switch (r->role) {
	case OTF2_REGION_ROLE_FILE_IO:
	case OTF2_REGION_ROLE_FILE_IO_METADATA:
		return DPROF_KIND_IO;
	case OTF2_REGION_ROLE_FUNCTION:
	case OTF2_REGION_ROLE_WRAPPER:
	case OTF2_REGION_ROLE_LOOP:
	case OTF2_REGION_ROLE_CODE:
	case OTF2_REGION_ROLE_PARALLEL:
	case OTF2_REGION_ROLE_SECTIONS:
	case OTF2_REGION_ROLE_SECTION:
	case OTF2_REGION_ROLE_WORKSHARE:
	case OTF2_REGION_ROLE_SINGLE:
	case OTF2_REGION_ROLE_SINGLE_SBLOCK:
	case OTF2_REGION_ROLE_MASTER:
	case OTF2_REGION_ROLE_CRITICAL_SBLOCK:
	case OTF2_REGION_ROLE_ORDERED_SBLOCK:
	case OTF2_REGION_ROLE_TASK:
	case OTF2_REGION_ROLE_TASK_UNTIED:
	case OTF2_REGION_ROLE_TASK_CREATE:
		return begins(name, "pthread_") || begins(name, "sem_") ? DPROF_KIND_WAIT : DPROF_KIND_REGION;
	default:
		return DPROF_KIND_WAIT;
	}
}

/* What a worker does in no team and in no region is waiting for one; if nothing is said of teams, nobody knows. */
static void end_idleness(struct otf2_events *e, uint64_t stamp)
{
	if (!e->idle)
		return;
	event(e, stamp, site_idle(e), "exit");
	end(e);
	e->idle = false;
}

static void begin_idleness(struct otf2_events *e, uint64_t stamp)
{
	if (!e->worker || e->calling || e->depth > 0 || e->in_teams > 0)
		return;
	event(e, stamp, site_idle(e), "enter");
	if (!e->teams)
		key(e, "peer", DPROF_PEER_UNKNOWN);
	end(e);
	e->idle = true;
}

static void enter_region(struct otf2_events *e, uint64_t stamp, size_t region)
{
	enum dprof_kind kind = kind_of(e, region);
	struct open_region *o = MEM_GROW(e->stack, e->depth);
	*o = (struct open_region){ region, site_of(e, region, kind, false) };
	event(e, stamp, o->site, "enter");
	if (kind == DPROF_KIND_WAIT)
		key(e, "peer", DPROF_PEER_UNKNOWN);
	end(e);
}

/* Regions that overlap end with the one that was entered first; what has ended cannot be left again. */
static void leave_region(struct otf2_events *e, uint64_t stamp, size_t region)
{
	size_t at = e->depth;
	while (at > 0 && e->stack[at - 1].region != region)
		at--;
	while (at > 0 && e->depth >= at) {
		event(e, stamp, e->stack[--e->depth].site, "exit");
		end(e);
	}
}

static void enter_call(struct otf2_events *e, uint64_t stamp, size_t region)
{
	e->calling = true;
	e->call.region = region;
	e->call.entered = stamp;
}

/* ---- Records --------------------------------------------------------------------------------- */

static OTF2_CallbackCode stop(struct otf2_events *e, char *wrong)
{
	free(e->wrong);
	e->wrong = wrong;
	return OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode falls(struct otf2_events *e, uint64_t stamp)
{
	if (stamp < e->last)
		return stop(e, mem_format("expected stamps that do not fall, found %" PRIu64 " behind %" PRIu64, stamp, e->last));
	e->last = stamp;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_enter(OTF2_LocationRef l, OTF2_TimeStamp stamp, uint64_t at, void *user,
				    OTF2_AttributeList *a, OTF2_RegionRef ref)
{
	struct otf2_events *e = user;
	size_t region = ids_find(&e->t->region_ids, ref);
	(void)l, (void)at, (void)a;
	if (falls(e, stamp) != OTF2_CALLBACK_SUCCESS)
		return OTF2_CALLBACK_INTERRUPT;
	if (region >= e->t->nregions)
		return stop(e, mem_format("expected a region that is defined, found %u", (unsigned)ref));
	end_idleness(e, stamp);
	if (e->calling)
		e->inner++;
	else if (is_mpi(e, region))
		enter_call(e, stamp, region);
	else
		enter_region(e, stamp, region);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_leave(OTF2_LocationRef l, OTF2_TimeStamp stamp, uint64_t at, void *user,
				    OTF2_AttributeList *a, OTF2_RegionRef ref)
{
	struct otf2_events *e = user;
	size_t region = ids_find(&e->t->region_ids, ref);
	(void)l, (void)at, (void)a;
	if (falls(e, stamp) != OTF2_CALLBACK_SUCCESS)
		return OTF2_CALLBACK_INTERRUPT;
	if (e->calling && e->inner > 0) {
		e->inner--;
		return OTF2_CALLBACK_SUCCESS;
	}
	if (e->calling && region == e->call.region) {
		e->calling = false;
		write_call(e, stamp);
	} else if (!e->calling) {
		leave_region(e, stamp, region);
	}
	if (!e->idle)
		begin_idleness(e, stamp);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_team_begin(OTF2_LocationRef l, OTF2_TimeStamp stamp, uint64_t at, void *user,
					 OTF2_AttributeList *a, OTF2_CommRef team)
{
	struct otf2_events *e = user;
	(void)l, (void)at, (void)a, (void)team;
	e->teams = true;
	if (e->pass != WRITING)
		return OTF2_CALLBACK_SUCCESS;
	if (falls(e, stamp) != OTF2_CALLBACK_SUCCESS)
		return OTF2_CALLBACK_INTERRUPT;
	end_idleness(e, stamp);
	e->in_teams++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_team_end(OTF2_LocationRef l, OTF2_TimeStamp stamp, uint64_t at, void *user,
				       OTF2_AttributeList *a, OTF2_CommRef team)
{
	struct otf2_events *e = user;
	(void)l, (void)at, (void)a, (void)team;
	if (falls(e, stamp) != OTF2_CALLBACK_SUCCESS)
		return OTF2_CALLBACK_INTERRUPT;
	e->in_teams -= e->in_teams > 0;
	if (!e->idle)
		begin_idleness(e, stamp);
	return OTF2_CALLBACK_SUCCESS;
}

/* A record outside of a call says nothing of when what it tells of began. */
static void add_begun(struct otf2_events *e, struct otf2_part p)
{
	if (e->calling)
		*MEM_GROW(e->call.begun, e->call.nbegun) = p;
}

static void add_done(struct otf2_events *e, struct otf2_part p)
{
	if (e->calling)
		*MEM_GROW(e->call.done, e->call.ndone) = p;
}

/* A request begins: the next one. What it turned out to be was found before. */
static void begin_request(struct otf2_events *e, uint64_t name, struct otf2_part p)
{
	size_t which = e->next++;
	if (e->pass == LOOKING_AHEAD)
		*MEM_GROW(e->requests, e->nrequests) = p;
	else if (which < e->nrequests && p.kind != DPROF_KIND_SEND)
		p = e->requests[which];
	if (ids_add(&e->names, name))
		*MEM_GROW(e->named, e->nnamed) = which;
	else
		e->named[ids_find(&e->names, name)] = which;
	p.id = ((uint64_t)e->thread << 32) + which + 1;
	if (e->pass == WRITING && p.kind != DPROF_KIND_NONE)
		add_begun(e, p);
}

static void end_request(struct otf2_events *e, uint64_t name, struct otf2_part p)
{
	size_t at = ids_find(&e->names, name);
	if (at >= e->nnamed)
		return; /* another thread began it */
	p.id = ((uint64_t)e->thread << 32) + e->named[at] + 1;
	if (e->pass == LOOKING_AHEAD)
		e->requests[e->named[at]] = p;
	else
		add_done(e, p);
}

#define RECORD(name, ...)                                                                                         \
	static OTF2_CallbackCode name(OTF2_LocationRef l, OTF2_TimeStamp stamp, uint64_t at, void *user, \
				      OTF2_AttributeList *a, __VA_ARGS__)
#define TAKEN(does) ((void)l, (void)stamp, (void)at, (void)a, does, OTF2_CALLBACK_SUCCESS)

static struct otf2_part message(enum dprof_kind kind, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	return (struct otf2_part){ .kind = kind, .comm = comm, .peer = peer, .tag = tag, .bytes = bytes };
}

RECORD(take_send, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	return TAKEN(add_begun(user, message(DPROF_KIND_SEND, peer, comm, tag, bytes)));
}

RECORD(take_recv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	return TAKEN(add_begun(user, message(DPROF_KIND_RECV, peer, comm, tag, bytes)));
}

RECORD(take_isend, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	return TAKEN(begin_request(user, request, message(DPROF_KIND_SEND, peer, comm, tag, bytes)));
}

RECORD(take_isend_complete, uint64_t request)
{
	return TAKEN(end_request(user, request, (struct otf2_part){ .kind = DPROF_KIND_SEND }));
}

RECORD(take_irecv_request, uint64_t request)
{
	return TAKEN(begin_request(user, request, (struct otf2_part){ .kind = DPROF_KIND_RECV, .comm = OTF2_UNDEFINED_COMM }));
}

RECORD(take_irecv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	return TAKEN(end_request(user, request, message(DPROF_KIND_RECV, peer, comm, tag, bytes)));
}

/* How much a member gave, where that counts, and else how much it got (program_links.h). */
static struct otf2_part collective(OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
	bool from_root = op == OTF2_COLLECTIVE_OP_BCAST || op == OTF2_COLLECTIVE_OP_SCATTER || op == OTF2_COLLECTIVE_OP_SCATTERV;
	return (struct otf2_part){ .kind = op == OTF2_COLLECTIVE_OP_BARRIER ? DPROF_KIND_BARRIER : DPROF_KIND_COLL,
				   .comm = comm, .peer = root, .bytes = from_root && sent == 0 ? received : sent, .op = op };
}

RECORD(take_collective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
	return TAKEN(add_begun(user, collective(op, comm, root, sent, received)));
}

RECORD(take_icollective_request, uint64_t request)
{
	return TAKEN(begin_request(user, request, (struct otf2_part){ .kind = DPROF_KIND_NONE }));
}

RECORD(take_icollective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received, uint64_t request)
{
	struct otf2_part p = collective(op, comm, root, sent, received);
	p.kind = DPROF_KIND_COLL;
	return TAKEN(end_request(user, request, p));
}

/* ---- A location ------------------------------------------------------------------------------ */

RECORD(count_send, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct otf2_events *e = user;
	return TAKEN(((void)bytes, otf2_count_send(e->t, e->process, peer, comm, tag)));
}

RECORD(count_isend, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	return (void)request, count_send(l, stamp, at, user, a, peer, comm, tag, bytes);
}

RECORD(count_recv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct otf2_events *e = user;
	return TAKEN(((void)bytes, otf2_count_receive(e->t, e->process, peer, comm, tag)));
}

RECORD(count_irecv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	return (void)request, count_recv(l, stamp, at, user, a, peer, comm, tag, bytes);
}

RECORD(count_collective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
	struct otf2_events *e = user;
	struct otf2_part p = collective(op, comm, root, sent, received);
	return TAKEN((void)next_in_comm(e, &p));
}

RECORD(count_icollective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received,
       uint64_t request)
{
	return (void)request, count_collective(l, stamp, at, user, a, op, comm, root, sent, received);
}

static void choose_callbacks(OTF2_EvtReaderCallbacks *c, enum pass pass)
{
	if (pass == COUNTING) {
		OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, count_send);
		OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, count_isend);
		OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, count_recv);
		OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, count_irecv);
		OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, count_collective);
		OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, count_icollective);
		return;
	}
	OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, take_isend);
	OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, take_isend_complete);
	OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, take_irecv_request);
	OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, take_irecv);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, take_icollective_request);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, take_icollective);
	OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, take_team_begin);
	if (pass == LOOKING_AHEAD)
		return;
	OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, take_team_end);
	OTF2_EvtReaderCallbacks_SetEnterCallback(c, take_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(c, take_leave);
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, take_send);
	OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, take_recv);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, take_collective);
}

static OTF2_ErrorCode read_events(struct otf2_events *e, OTF2_EvtReader *events)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
	uint64_t n;
	choose_callbacks(c, e->pass);
	OTF2_ErrorCode status = OTF2_Reader_RegisterEvtCallbacks(e->t->reader, events, c, e);
	OTF2_EvtReaderCallbacks_Delete(c);
	OTF2_EvtReader_ApplyClockOffsets(events, e->t->times != OTF2_RAW);
	if (status == OTF2_SUCCESS)
		status = OTF2_Reader_ReadAllLocalEvents(e->t->reader, events, &n);
	OTF2_Reader_CloseEvtReader(e->t->reader, events);
	return status;
}

/* Whether all of it could be read. Only the last pass says what is wrong: it comes to it as well. */
static bool read_through(struct otf2_events *e, OTF2_LocationRef location, enum pass pass)
{
	OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(e->t->reader, location);
	e->pass = pass;
	OTF2_ErrorCode status = events ? read_events(e, events) : OTF2_ERROR_INVALID;
	if (status != OTF2_SUCCESS && pass == WRITING && !e->wrong)
		stop(e, events ? mem_format("its events cannot be read: %s", OTF2_Error_GetDescription(status))
			       : mem_copy("its events cannot be opened"));
	ids_free(&e->names);
	e->names = (struct ids){ 0 };
	e->nnamed = e->next = 0;
	return status == OTF2_SUCCESS;
}

void otf2_count(struct otf2_trace *t, size_t location)
{
	const struct otf2_location *l = &t->locations[location];
	struct otf2_events e = { .t = t, .thread = location, .process = t->processes[l->process].rank,
				  .called = mem_zeroed(t->ncomms + 1, sizeof *e.called) };
	bool whole = read_through(&e, l->ref, COUNTING);
	otf2_count_calls(t, e.called, !whole);
	free(e.called);
}

/* What was begun and has not ended is there; but nothing says that a thread waited behind its last record. */
static void write_unfinished(struct otf2_events *e)
{
	if (!e->teams)
		end_idleness(e, e->last);
	if (!e->calling)
		return;
	event(e, e->call.entered, site_of(e, e->call.region, DPROF_KIND_WAIT, false), "enter");
	key(e, "peer", DPROF_PEER_UNKNOWN);
	end(e);
}

char *otf2_events(struct otf2_trace *t, size_t location)
{
	const struct otf2_location *l = &t->locations[location];
	struct otf2_events e = { .t = t, .thread = location, .process = t->processes[l->process].rank,
				  .called = mem_zeroed(t->ncomms + 1, sizeof *e.called) };
	for (size_t i = 0; i < location; i++)
		e.worker |= t->locations[i].thread && t->locations[i].process == l->process;
	read_through(&e, l->ref, LOOKING_AHEAD);
	read_through(&e, l->ref, WRITING);
	write_unfinished(&e);
	free(e.requests), free(e.named), free(e.stack), free(e.call.begun), free(e.call.done), free(e.called);
	return e.wrong;
}

/* SPDX-License-Identifier: MIT
 *
 * otf2.c - an archive of the Open Trace Format 2, by its own library: a location for each thread, a region for each
 * site, and MPI's messages and collective operations where it is known who took part. A message whose call only begins
 * it has a request, which its wait or test completes; where that was in another thread it is written as a blocking one.
 * The ends of each interval are attributes, lo and hi, in ticks like all times.
 * https://perftools.pages.jsc.fz-juelich.de/cicd/otf2/ has what readers expect.
 *
 * A communicator is a group of the trace in which each thread is of another rank; what has none is of the first, that
 * of all ranks. */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/export/export.h"
#include "analysis/export/nested.h"
#include "analysis/match/match.h"
#include "analysis/otf2/otf2.h"
#include "analysis/trace/names.h"

/* What happens with an event besides: behind an enter, before an exit. */
struct note {
	enum { NOTE_SENDS, NOTE_RECEIVES, NOTE_BEGINS, NOTE_ENDS } what;
	size_t ordinal;          /* of the event */
	uint32_t peer, comm;     /* the other side, or the root, in the communicator */
	uint32_t tag;
	uint64_t bytes, request; /* NO_REQUEST: of a call that is over when its message is */
	uint64_t got;            /* of a collective operation, where `bytes` were given */
	OTF2_CollectiveOp op;
};
#define NO_REQUEST UINT64_MAX

struct notes { struct note *v; size_t n, next; };

struct otf2_writer {
	const struct moments *moments;
	const struct trace *trace;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *defs;
	OTF2_StringRef strings;  /* so many are written */
	uint32_t *world;         /* of each process: its place among the ranks; NO_RANK */
	uint64_t nworld;
	bool *is_comm;           /* of each group */
	struct notes *notes;     /* of each thread */
	char *wrong;             /* the first thing that was; or NULL */
};
#define NO_RANK UINT32_MAX
enum { ATTRIBUTE_LO, ATTRIBUTE_HI };
enum { COMM_WORLD, COMM_OF_GROUPS }; /* behind it those of the trace's groups; groups likewise, one further */

static OTF2_ErrorCode keep_error(void *writer, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
				 const char *format, va_list arguments)
{
	struct otf2_writer *w = writer;
	(void)file, (void)line, (void)function, (void)format, (void)arguments;
	if (!w->wrong)
		w->wrong = mem_copy(OTF2_Error_GetDescription(code));
	return code;
}

/* ---- Ranks and communicators ----------------------------------------------------------------- */

static void find_world(struct otf2_writer *w)
{
	const struct trace *t = w->trace;
	w->world = mem_resize(NULL, t->nprocesses, sizeof *w->world);
	for (size_t p = 0; p < t->nprocesses; p++)
		w->world[p] = NO_RANK;
	for (size_t i = 0; i < t->nthreads; i++) /* by rank */
		if (t->threads[i].rank >= 0 && w->world[t->threads[i].process] == NO_RANK)
			w->world[t->threads[i].process] = (uint32_t)w->nworld++;
	w->is_comm = mem_resize(NULL, t->ngroups, sizeof *w->is_comm);
	for (size_t g = 0; g < t->ngroups; g++) {
		const struct tr_group *group = &t->groups[g];
		w->is_comm[g] = group->nthreads > 0;
		for (size_t i = 0; i < group->nthreads && w->is_comm[g]; i++)
			w->is_comm[g] = t->threads[group->threads[i]].rank >= 0 &&
					(i == 0 || t->threads[group->threads[i]].process != t->threads[group->threads[i - 1]].process);
	}
}

struct otf2_place { uint32_t comm, rank; };

/* In a group's communicator; in that of all where it is in none. */
static struct otf2_place place_in(const struct otf2_writer *w, uint64_t group, uint32_t thread)
{
	const struct trace *t = w->trace;
	uint32_t process = t->threads[thread].process;
	for (uint32_t g = 0; g < t->ngroups; g++)
		for (uint32_t i = 0; t->groups[g].id == group && w->is_comm[g] && i < t->groups[g].nthreads; i++)
			if (t->threads[t->groups[g].threads[i]].process == process)
				return (struct otf2_place){ COMM_OF_GROUPS + g, i };
	return (struct otf2_place){ COMM_WORLD, w->world[process] };
}

/* ---- Notes ----------------------------------------------------------------------------------- */

static void add_note(struct otf2_writer *w, uint32_t thread, struct note note)
{
	*MEM_GROW(w->notes[thread].v, w->notes[thread].n) = note;
}

static void note_message(struct otf2_writer *w, const struct match *m)
{
	const struct match_part *from = &m->parts[0], *by = &m->parts[1];
	struct otf2_place sender = place_in(w, m->group, from->thread), receiver = place_in(w, m->group, by->thread);
	if (sender.comm != receiver.comm) {
		sender = (struct otf2_place){ COMM_WORLD, w->world[w->trace->threads[from->thread].process] };
		receiver = (struct otf2_place){ COMM_WORLD, w->world[w->trace->threads[by->thread].process] };
	}
	uint64_t bytes = from->bytes == MATCH_NO_BYTES ? 0 : from->bytes;
	if (sender.rank == NO_RANK || receiver.rank == NO_RANK || by->done_at == MATCH_NEVER)
		return;
	uint32_t tag = (uint32_t)m->number;
	add_note(w, from->thread,
		 (struct note){ NOTE_SENDS, from->enter_at, receiver.rank, sender.comm, tag, bytes, .request = NO_REQUEST });
	add_note(w, by->done_in,
		 (struct note){ NOTE_RECEIVES, by->done_at, sender.rank, sender.comm, tag, bytes, .request = NO_REQUEST });
}

static const struct { const char *name; OTF2_CollectiveOp op; } collectives[] = {
	{ "MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER },       { "MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST },
	{ "MPI_Gather", OTF2_COLLECTIVE_OP_GATHER },         { "MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV },
	{ "MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER },       { "MPI_Scatterv", OTF2_COLLECTIVE_OP_SCATTERV },
	{ "MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER },   { "MPI_Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV },
	{ "MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL },     { "MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV },
	{ "MPI_Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW },   { "MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE },
	{ "MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE },         { "MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER },
	{ "MPI_Scan", OTF2_COLLECTIVE_OP_SCAN },             { "MPI_Exscan", OTF2_COLLECTIVE_OP_EXSCAN },
	{ "MPI_Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK },
};
#define NO_OP UINT8_MAX

static OTF2_CollectiveOp op_of(const struct trace *t, uint32_t site)
{
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives && site < t->nsites; i++)
		if (strcmp(t->sites[site].name, collectives[i].name) == 0)
			return collectives[i].op;
	return NO_OP;
}

/* One of which all is known: else readers would wait for who is missing. */
static bool is_whole(const struct otf2_writer *w, const struct match *m)
{
	for (size_t i = 0; i < m->nparts; i++)
		if (m->parts[i].done_at == MATCH_NEVER || op_of(w->trace, m->parts[i].site) == NO_OP ||
		    place_in(w, m->group, m->parts[i].thread).comm == COMM_WORLD)
			return false;
	return m->complete;
}

/* What is recorded is what a rank gives, or gets if it only gets: who only gives gets nothing, and who only gets gives nothing. */
static void put_bytes(struct note *note, const struct match *m, const struct match_part *p)
{
	uint64_t bytes = p->bytes == MATCH_NO_BYTES ? 0 : p->bytes;
	note->bytes = m->flow == FLOW_FROM_ROOT && !p->root ? 0 : bytes;
	note->got = (m->flow == FLOW_FROM_ROOT && p->root) || (m->flow == FLOW_TO_ROOT && !p->root) ? 0 : bytes;
}

static void note_collective(struct otf2_writer *w, const struct match *m)
{
	uint32_t root = OTF2_UNDEFINED_UINT32;
	if (!is_whole(w, m))
		return;
	for (size_t i = 0; i < m->nparts; i++)
		root = m->parts[i].root ? place_in(w, m->group, m->parts[i].thread).rank : root;
	for (size_t i = 0; i < m->nparts; i++) {
		const struct match_part *p = &m->parts[i];
		struct note note = { NOTE_BEGINS, p->enter_at, root, place_in(w, m->group, p->thread).comm,
				     .request = NO_REQUEST, .op = op_of(w->trace, p->site) };
		put_bytes(&note, m, p);
		add_note(w, p->thread, note);
		note.what = NOTE_ENDS;
		note.ordinal = p->done_at;
		add_note(w, p->thread, note);
	}
}

static int by_event(const void *x, const void *y)
{
	const struct note *a = x, *b = y;
	return a->ordinal != b->ordinal ? ORDER(a->ordinal, b->ordinal) : (int)a->what - (int)b->what;
}

static void find_notes(struct otf2_writer *w)
{
	struct match_walk *walk = moments_matches(w->moments);
	w->notes = mem_zeroed(w->trace->nthreads, sizeof *w->notes);
	for (struct match m; match_walk_next(walk, &m);) {
		if (m.kind == MATCH_MESSAGE)
			note_message(w, &m);
		else if (m.kind == MATCH_COLLECTIVE)
			note_collective(w, &m);
	}
	match_walk_close(walk);
	for (size_t t = 0; t < w->trace->nthreads; t++)
		if (w->notes[t].n)
			qsort(w->notes[t].v, w->notes[t].n, sizeof *w->notes[t].v, by_event);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* A message that a thread has begun and not completed. */
struct begun_request {
	uint64_t id, number;     /* in the trace, where it may come again; in the archive */
	bool sends;
	UT_hash_handle hh;
};

/* Along a thread. */
struct requests {
	const struct trace *trace;
	OTF2_EvtWriter *to;
	struct notes *notes;
	struct begun_request *begun;
	uint64_t n;              /* so many were */
	uint64_t *open; size_t nopen; /* of each operation that is entered the id of what it waits for, or ARG_NONE */
};

static struct begun_request *find_request(struct requests *r, uint64_t id)
{
	struct begun_request *found = NULL;
	if (id != ARG_NONE)
		HASH_FIND(hh, r->begun, &id, sizeof id, found);
	return found;
}

static void forget_request(struct requests *r, struct begun_request *b)
{
	HASH_DELETE(hh, r->begun, b);
	free(b);
}

static void close_requests(struct requests *r)
{
	struct begun_request *b, *next;
	HASH_ITER(hh, r->begun, b, next)
		forget_request(r, b);
	free(r->open);
}

/* What is noted of the event is of this request. */
static bool give_request(struct requests *r, size_t ordinal, int what, uint64_t number)
{
	struct notes *notes = r->notes;
	for (size_t i = notes->next; i < notes->n && notes->v[i].ordinal <= ordinal; i++)
		if (notes->v[i].ordinal == ordinal && (int)notes->v[i].what == what) {
			notes->v[i].request = number;
			return true;
		}
	return false;
}

/* A send whose receive is not known is not written, and so has no request. */
static void begin_request(struct requests *r, const struct nested_step *s, uint64_t id, bool sends)
{
	struct begun_request *b = find_request(r, id);
	if (b)
		forget_request(r, b);
	if (sends ? !give_request(r, s->ordinal, NOTE_SENDS, r->n)
		  : OTF2_EvtWriter_MpiIrecvRequest(r->to, NULL, (uint64_t)s->at, r->n) != OTF2_SUCCESS)
		return;
	b = mem_resize(NULL, 1, sizeof *b);
	*b = (struct begun_request){ .id = id, .number = r->n++, .sends = sends };
	HASH_ADD(hh, r->begun, id, sizeof b->id, b);
}

static void complete_request(struct requests *r, const struct nested_step *s, uint64_t id)
{
	struct begun_request *b = find_request(r, id);
	if (!b)
		return;
	if (b->sends)
		OTF2_EvtWriter_MpiIsendComplete(r->to, NULL, (uint64_t)s->at, b->number);
	else
		give_request(r, s->ordinal, NOTE_RECEIVES, b->number);
	forget_request(r, b);
}

/* The id that the event says; ARG_NONE. */
static uint64_t request_of(const struct requests *r, struct nested *nested, const struct nested_step *s)
{
	const struct trace *t = r->trace;
	if (!s->event || s->site >= t->nsites || !(tr_is(t, s->site, OP_MESSAGE) || t->sites[s->site].kind == DPROF_KIND_WAIT))
		return ARG_NONE;
	trace_arguments(&nested->cursor, &nested->event);
	return arg_request(tr_operation(t, &nested->event), &nested->event);
}

/* Behind an enter; before an exit, or a point. */
static void follow_request(struct requests *r, struct nested *nested, const struct nested_step *s)
{
	bool message = s->site < r->trace->nsites && tr_is(r->trace, s->site, OP_MESSAGE);
	if (s->what == NESTED_EXIT) {
		uint64_t waited = r->open[--r->nopen];
		complete_request(r, s, s->event ? waited : ARG_NONE);
		return;
	}
	uint64_t id = request_of(r, nested, s);
	if (s->what == NESTED_ENTER)
		*MEM_GROW(r->open, r->nopen) = message ? ARG_NONE : id;
	else
		complete_request(r, s, message ? id : ARG_NONE);
	if (s->what == NESTED_ENTER && message && id != ARG_NONE)
		begin_request(r, s, id, r->trace->sites[s->site].kind == DPROF_KIND_SEND);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void put_send(OTF2_EvtWriter *to, uint64_t at, const struct note *n)
{
	if (n->request == NO_REQUEST)
		OTF2_EvtWriter_MpiSend(to, NULL, at, n->peer, n->comm, n->tag, n->bytes);
	else
		OTF2_EvtWriter_MpiIsend(to, NULL, at, n->peer, n->comm, n->tag, n->bytes, n->request);
}

static void put_receive(OTF2_EvtWriter *to, uint64_t at, const struct note *n)
{
	if (n->request == NO_REQUEST)
		OTF2_EvtWriter_MpiRecv(to, NULL, at, n->peer, n->comm, n->tag, n->bytes);
	else
		OTF2_EvtWriter_MpiIrecv(to, NULL, at, n->peer, n->comm, n->tag, n->bytes, n->request);
}

static void put_note(OTF2_EvtWriter *to, uint64_t at, const struct note *n)
{
	switch (n->what) {
	case NOTE_SENDS: put_send(to, at, n); break;
	case NOTE_RECEIVES: put_receive(to, at, n); break;
	case NOTE_BEGINS: OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, at); break;
	case NOTE_ENDS: OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, at, n->op, n->comm, n->peer, n->bytes, n->got); break;
	}
}

/* Those of events before `ordinal`. */
static void put_notes(struct notes *notes, OTF2_EvtWriter *to, uint64_t at, size_t ordinal)
{
	for (; notes->next < notes->n && notes->v[notes->next].ordinal < ordinal; notes->next++)
		put_note(to, at, &notes->v[notes->next]);
}

static void put_step(OTF2_EvtWriter *to, OTF2_AttributeList *bounds, const struct nested_step *s, OTF2_RegionRef region)
{
	OTF2_AttributeList_AddInt64(bounds, ATTRIBUTE_LO, s->bounds.lo);
	OTF2_AttributeList_AddInt64(bounds, ATTRIBUTE_HI, s->bounds.hi);
	if (s->what == NESTED_ENTER)
		OTF2_EvtWriter_Enter(to, bounds, (uint64_t)s->at, region);
	else if (s->what == NESTED_EXIT)
		OTF2_EvtWriter_Leave(to, bounds, (uint64_t)s->at, region);
	OTF2_AttributeList_RemoveAllAttributes(bounds);
}

/* How many there are; the last moment. */
static uint64_t put_thread(struct otf2_writer *w, uint32_t thread, uint64_t *last)
{
	OTF2_EvtWriter *to = OTF2_Archive_GetEvtWriter(w->archive, thread);
	OTF2_AttributeList *bounds = OTF2_AttributeList_New();
	struct requests requests = { .trace = w->trace, .to = to, .notes = &w->notes[thread] };
	struct nested nested;
	uint64_t n = 0;
	nested_open(&nested, w->moments, thread);
	for (struct nested_step s; to && !w->wrong && nested_next(&nested, &s);) {
		if (s.what != NESTED_ENTER)
			follow_request(&requests, &nested, &s);
		put_notes(&w->notes[thread], to, (uint64_t)s.at, s.ordinal + (s.what != NESTED_ENTER));
		put_step(to, bounds, &s, s.site < w->trace->nsites ? s.site : (OTF2_RegionRef)w->trace->nsites);
		if (s.what == NESTED_ENTER)
			follow_request(&requests, &nested, &s);
		put_notes(&w->notes[thread], to, (uint64_t)s.at, s.ordinal + 1);
		*last = (uint64_t)s.at > *last ? (uint64_t)s.at : *last;
	}
	nested_close(&nested);
	close_requests(&requests);
	OTF2_AttributeList_Delete(bounds);
	if (to) {
		OTF2_EvtWriter_GetNumberOfEvents(to, &n);
		OTF2_Archive_CloseEvtWriter(w->archive, to);
	}
	return n;
}

/* ---- Definitions ----------------------------------------------------------------------------- */

static OTF2_StringRef put_string(struct otf2_writer *w, const char *text)
{
	OTF2_GlobalDefWriter_WriteString(w->defs, w->strings, text);
	return w->strings++;
}

static OTF2_RegionRole role_of(const struct tr_site *s)
{
	switch (s->kind) {
	case DPROF_KIND_REGION: return OTF2_REGION_ROLE_CODE;
	case DPROF_KIND_BARRIER: return OTF2_REGION_ROLE_BARRIER;
	case DPROF_KIND_COLL: return OTF2_REGION_ROLE_COLL_OTHER;
	case DPROF_KIND_SEND:
	case DPROF_KIND_RECV: return OTF2_REGION_ROLE_POINT2POINT;
	case DPROF_KIND_FORK: return OTF2_REGION_ROLE_THREAD_CREATE;
	case DPROF_KIND_JOIN: return OTF2_REGION_ROLE_THREAD_WAIT;
	case DPROF_KIND_IO: return OTF2_REGION_ROLE_FILE_IO;
	default: return OTF2_REGION_ROLE_UNKNOWN;
	}
}

static OTF2_Paradigm paradigm_of(const struct tr_site *s)
{
	if (s->op.is & OP_MPI)
		return OTF2_PARADIGM_MPI;
	if (s->kind == DPROF_KIND_REGION)
		return s->automatic ? OTF2_PARADIGM_COMPILER : OTF2_PARADIGM_USER;
	return OTF2_PARADIGM_UNKNOWN;
}

static void put_regions(struct otf2_writer *w, OTF2_StringRef none)
{
	const struct trace *t = w->trace;
	for (uint32_t i = 0; i < t->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		OTF2_StringRef name = put_string(w, s->name), file = put_string(w, s->file);
		const char *as = s->kind == DPROF_KIND_SLEEP ? DPROF_OTF2_SLEEP : DPROF_OTF2_MARK;
		bool marked = s->kind == DPROF_KIND_REGION && !s->automatic;
		OTF2_StringRef is = marked || s->kind == DPROF_KIND_SLEEP ? put_string(w, as) : none;
		OTF2_GlobalDefWriter_WriteRegion(w->defs, i, name, name, is, role_of(s), paradigm_of(s),
						 OTF2_REGION_FLAG_NONE, file, s->line, s->line);
	}
	OTF2_StringRef missing = put_string(w, export_site_name(t, (uint32_t)t->nsites));
	OTF2_GlobalDefWriter_WriteRegion(w->defs, (OTF2_RegionRef)t->nsites, missing, missing, none, OTF2_REGION_ROLE_UNKNOWN,
					 OTF2_PARADIGM_UNKNOWN, OTF2_REGION_FLAG_NONE, none, 0, 0);
}

/* The machine, its hosts, their processes, their threads. */
static void put_places(struct otf2_writer *w, const uint64_t *events)
{
	const struct trace *t = w->trace;
	OTF2_StringRef machine = put_string(w, "machine"), node = put_string(w, "node");
	OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (uint32_t c = 0; c < t->nclocks; c++)
		OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, c + 1, put_string(w, t->clocks[c].host), node, 0);
	for (uint32_t i = 0; i < t->nthreads; i++) { /* those of a process follow each other */
		const struct tr_thread *thread = &t->threads[i];
		if (i == 0 || t->threads[i - 1].process != thread->process)
			OTF2_GlobalDefWriter_WriteLocationGroup(w->defs, thread->process, put_string(w, rank_name(t, i).text),
								OTF2_LOCATION_GROUP_TYPE_PROCESS, thread->clock + 1,
								OTF2_UNDEFINED_LOCATION_GROUP);
		OTF2_GlobalDefWriter_WriteLocation(w->defs, i, put_string(w, thread_name(t, i).text),
						   OTF2_LOCATION_TYPE_CPU_THREAD, events[i], thread->process);
	}
}

static void put_group(struct otf2_writer *w, OTF2_GroupRef number, OTF2_GroupType type, const char *name,
		      const uint64_t *members, size_t n)
{
	OTF2_GlobalDefWriter_WriteGroup(w->defs, number, put_string(w, name), type, OTF2_PARADIGM_MPI,
					OTF2_GROUP_FLAG_NONE, (uint32_t)n, members);
}

static void put_comms(struct otf2_writer *w)
{
	const struct trace *t = w->trace;
	uint64_t *members = mem_resize(NULL, t->nthreads, sizeof *members);
	size_t n = 0;
	if (w->nworld == 0) {
		free(members);
		return;
	}
	for (uint32_t i = 0; i < t->nthreads; i++)
		if (w->world[t->threads[i].process] == n)
			members[n++] = i;
	put_group(w, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, "", members, n);
	for (size_t i = 0; i < n; i++)
		members[i] = i;
	put_group(w, 1, OTF2_GROUP_TYPE_COMM_GROUP, "all ranks", members, n);
	OTF2_GlobalDefWriter_WriteComm(w->defs, COMM_WORLD, put_string(w, "all ranks"), 1, OTF2_UNDEFINED_COMM,
				       OTF2_COMM_FLAG_NONE);
	for (uint32_t g = 0; g < t->ngroups; g++) {
		if (!w->is_comm[g])
			continue;
		char *name = mem_format("group %" PRIu64, t->groups[g].id);
		for (size_t i = 0; i < t->groups[g].nthreads; i++)
			members[i] = w->world[t->threads[t->groups[g].threads[i]].process];
		put_group(w, g + 2, OTF2_GROUP_TYPE_COMM_GROUP, name, members, t->groups[g].nthreads);
		OTF2_GlobalDefWriter_WriteComm(w->defs, COMM_OF_GROUPS + g, put_string(w, name), g + 2,
					       OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
		free(name);
	}
	free(members);
}

static void put_definitions(struct otf2_writer *w, const uint64_t *events, uint64_t last)
{
	w->defs = OTF2_Archive_GetGlobalDefWriter(w->archive);
	if (!w->defs)
		return;
	OTF2_StringRef none = put_string(w, ""), mpi = put_string(w, "MPI");
	OTF2_GlobalDefWriter_WriteClockProperties(w->defs, (uint64_t)(w->moments->ghz * 1e9 + 0.5), 0, last + 1,
						  OTF2_UNDEFINED_TIMESTAMP);
	OTF2_GlobalDefWriter_WriteParadigm(w->defs, OTF2_PARADIGM_MPI, mpi, OTF2_PARADIGM_CLASS_PROCESS);
	OTF2_GlobalDefWriter_WriteAttribute(w->defs, ATTRIBUTE_LO, put_string(w, "lo"),
					    put_string(w, "not before; ticks like the time"), OTF2_TYPE_INT64);
	OTF2_GlobalDefWriter_WriteAttribute(w->defs, ATTRIBUTE_HI, put_string(w, "hi"), put_string(w, "not after"),
					    OTF2_TYPE_INT64);
	put_regions(w, none);
	put_places(w, events);
	put_comms(w);
	OTF2_Archive_CloseGlobalDefWriter(w->archive, w->defs);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static OTF2_FlushType flush_always(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool last)
{
	(void)data, (void)type, (void)location, (void)caller, (void)last;
	return OTF2_FLUSH;
}

#define CHUNK_EVENTS      (UINT64_C(1) << 18)
#define CHUNK_DEFINITIONS (UINT64_C(4) << 20)

static void put_archive(struct otf2_writer *w, uint64_t *events)
{
	static const OTF2_FlushCallbacks flush = { flush_always, NULL };
	uint64_t last = 0;
	OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(w->archive);
	OTF2_Archive_OpenEvtFiles(w->archive);
	for (uint32_t t = 0; t < w->trace->nthreads; t++)
		events[t] = put_thread(w, t, &last);
	OTF2_Archive_CloseEvtFiles(w->archive);
	OTF2_Archive_OpenDefFiles(w->archive);
	for (uint32_t t = 0; t < w->trace->nthreads; t++) { /* they have nothing of their own; readers want them all the same */
		OTF2_DefWriter *own = OTF2_Archive_GetDefWriter(w->archive, t);
		if (own)
			OTF2_Archive_CloseDefWriter(w->archive, own);
	}
	OTF2_Archive_CloseDefFiles(w->archive);
	put_definitions(w, events, last);
	OTF2_Archive_Close(w->archive);
}

char *export_otf2(const char *folder, const struct moments *m)
{
	struct otf2_writer w = { .moments = m, .trace = m->trace };
	uint64_t *events = mem_resize(NULL, m->trace->nthreads, sizeof *events);
	OTF2_Error_RegisterCallback(keep_error, &w);
	find_world(&w);
	find_notes(&w);
	w.archive = OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, CHUNK_EVENTS, CHUNK_DEFINITIONS, OTF2_SUBSTRATE_POSIX,
				      OTF2_COMPRESSION_NONE);
	if (w.archive)
		put_archive(&w, events);
	OTF2_Error_RegisterCallback(NULL, NULL);
	for (size_t t = 0; t < m->trace->nthreads; t++)
		free(w.notes[t].v);
	free(w.notes);
	free(w.world);
	free(w.is_comm);
	free(events);
	return w.wrong;
}

/* SPDX-License-Identifier: MIT
 *
 * messages.c - sends and receives: with whom, which tag, how much.
 *
 *   MPI_Send      ENTER group peer tag bytes ......... EXIT
 *   MPI_Isend     ENTER group peer tag bytes id EXIT  ...  done id, in the wait that completes it
 *   MPI_Recv      ENTER group [peer tag] bytes  [done [peer tag] bytes] EXIT
 *   MPI_Sendrecv  ENTER  ENTER send id  ENTER receive id  done id  done id  EXIT EXIT EXIT
 *
 * Law: sends are recorded in the order in which MPI was given them, and receives, too: between the
 * ENTER and the EXIT of each. What moves no message says so, or is not recorded. */
#include "runtime/mpi/adapter.h"

/* ---- What is said ----------------------------------------------------------------------------- */

/* In place: what is copied as soon as it is written costs more than all of this. */
static inline __attribute__((always_inline)) void address(struct message_envelope *e,
							  MPI_Count count, MPI_Datatype type,
							  int peer, int tag, MPI_Comm comm)
{
	e->group = NULL;
	e->peer = 0;
	e->bytes = UNKNOWN_BYTES;
	e->tag = (uint64_t)tag;
	e->none = peer == MPI_PROC_NULL;
	e->any_source = peer == MPI_ANY_SOURCE;
	e->any_tag = tag == MPI_ANY_TAG;
	if (e->none || !calls_recorded())
		return;
	e->group = group_known(comm);
	e->bytes = bytes_of(count, type);
	if (e->group && !e->any_source) {
		if (peer >= 0 && peer < e->group->npeers)
			e->peer = (uint64_t)e->group->peers[peer];
		else
			e->group = NULL; /* MPI will refuse it */
	}
}

struct message_envelope envelope_of(MPI_Count count, MPI_Datatype type, int peer, int tag,
				    MPI_Comm comm)
{
	struct message_envelope e;

	address(&e, count, type, peer, tag, comm);
	return e;
}

/* Without a group only how much: its messages cannot be told from those of another such one. */
static __attribute__((noinline)) void say_envelope(struct dprof_arguments *a, struct message_envelope e, uint64_t id)
{
	a->words = 0;
	if (e.none)
		dprof_say(a, DPROF_KEY_PEER, DPROF_PEER_NONE);
	if (e.group)
		dprof_say(a, DPROF_KEY_GROUP, e.group->id);
	if (e.group && !e.any_source)
		dprof_say(a, DPROF_KEY_PEER, e.peer);
	if (e.group && !e.any_tag)
		dprof_say(a, DPROF_KEY_TAG, e.tag);
	if (e.bytes != UNKNOWN_BYTES)
		dprof_say(a, DPROF_KEY_BYTES, e.bytes);
	if (id)
		dprof_say(a, DPROF_KEY_ID, id);
}

/* Most messages that only begin name all that there is to name. */
static inline bool names_all(const struct message_envelope *e)
{
	return e->group && !e->any_source && !e->any_tag && e->bytes != UNKNOWN_BYTES;
}

static inline __attribute__((always_inline)) void enter_message(struct mpi_call *c,
								const struct message_envelope *e,
									uint64_t id)
{
	const struct dprof_argument all[] = {
		{ DPROF_KEY_GROUP, e->group ? e->group->id : 0 }, { DPROF_KEY_PEER, e->peer },
		{ DPROF_KEY_TAG, e->tag }, { DPROF_KEY_BYTES, e->bytes }, { DPROF_KEY_ID, id },
	};
	struct dprof_arguments a;

	if (!c->on)
		return;
	if (__builtin_expect(!c->site || !names_all(e), 0)) {
		say_envelope(&a, *e, id);
		call_enter(c, &a);
		return;
	}
	if (id)
		dprof_adapter_record_with(c->site, DPROF_ENTER, 0, all, 5);
	else
		dprof_adapter_record_with(c->site, DPROF_ENTER, 0, all, 4);
	call_entered(c);
}

DPROF_SITE_OF(site_sent, DPROF_KIND_SEND, "sent");
DPROF_SITE_OF(site_received, DPROF_KIND_RECV, "received");

void say_sent(uint64_t id, uint64_t stamp)
{
	const struct dprof_argument a = { DPROF_KEY_ID, id };

	dprof_adapter_record_with((const void *)&site_sent, DPROF_POINT, stamp, &a, 1);
}

/* OpenMPI has both in the status, as its mpi.h says. */
#ifdef OPEN_MPI
static bool is_cancelled(const MPI_Status *status)
{
	return status->_cancelled;
}

static uint64_t bytes_received(const MPI_Status *status)
{
	return status->_ucount;
}
#else
static bool is_cancelled(const MPI_Status *status)
{
	int cancelled = 0;

	PMPI_Test_cancelled(status, &cancelled);
	return cancelled;
}

static uint64_t bytes_received(const MPI_Status *status)
{
	MPI_Count n = 0;

	if (PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS || n < 0)
		return UNKNOWN_BYTES;
	return (uint64_t)n;
}
#endif

/* Where the receive did not say all itself, or its message did not come. */
static __attribute__((noinline)) void say_rest(const struct message_envelope *e, uint64_t id,
					       const MPI_Status *status, uint64_t stamp)
{
	struct dprof_arguments a;
	int from = status ? status->MPI_SOURCE : -1;
	/* the status of a probe need not say it */
	bool cancelled = id && status && is_cancelled(status);
	uint64_t bytes = UNKNOWN_BYTES;

	if (status && !cancelled)
		bytes = bytes_received(status);
	a.words = 0;
	if (id)
		dprof_say(&a, DPROF_KEY_ID, id);
	if (cancelled)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_NONE);
	else if (e->any_source && e->group && from >= 0 && from < e->group->npeers)
		dprof_say(&a, DPROF_KEY_PEER, (uint64_t)e->group->peers[from]);
	if (status && !cancelled && e->any_tag && e->group)
		dprof_say(&a, DPROF_KEY_TAG, (uint64_t)status->MPI_TAG);
	if (bytes != UNKNOWN_BYTES)
		dprof_say(&a, DPROF_KEY_BYTES, bytes);
	dprof_adapter_record((const void *)&site_received, DPROF_POINT, stamp, &a);
}

void say_received(const struct message_envelope *e, uint64_t id, const MPI_Status *status,
		  uint64_t stamp)
{
	bool came = status && !e->any_source && !e->any_tag && !(id && is_cancelled(status));
	const struct dprof_argument a[] = { { DPROF_KEY_ID, id },
					    { DPROF_KEY_BYTES, came ? bytes_received(status) : UNKNOWN_BYTES } };

	if (id && a[1].value != UNKNOWN_BYTES)
		dprof_adapter_record_with((const void *)&site_received, DPROF_POINT, stamp, a, 2);
	else if (a[1].value != UNKNOWN_BYTES)
		dprof_adapter_record_with((const void *)&site_received, DPROF_POINT, stamp, a + 1, 1);
	else
		say_rest(e, id, status, stamp);
}

/* ---- Posts ------------------------------------------------------------------------------------ */

/* Its envelope is there. */
static inline __attribute__((always_inline)) void begin_post(struct post *p, enum dprof_kind kind, const void *site,
							     const char *name, bool has_id)
{
	p->kind = kind;
	p->call = call_of(p->envelope.none ? NULL : site, name);
	p->id = has_id && p->call.on && !p->envelope.none ? request_number() : 0;
	enter_message(&p->call, &p->envelope, p->id);
}

struct post post_as(enum dprof_kind kind, const void *site, const char *name,
		    struct message_envelope e, uint64_t id)
{
	struct post p = { .kind = kind, .envelope = e, .call = call_of(e.none ? NULL : site, name) };

	p.id = p.call.on ? id : 0;
	enter_message(&p.call, &p.envelope, p.id);
	return p;
}

static struct post post_blocking(enum dprof_kind kind, const void *site, const char *name,
				 struct message_envelope e)
{
	return post_as(kind, site, name, e, 0);
}

struct post post_begun(enum dprof_kind kind, const void *site, const char *name,
		       struct message_envelope e)
{
	return post_as(kind, site, name, e, e.none ? 0 : request_number());
}

/* What only begins is at no receiving end. */
static inline __attribute__((always_inline)) void end_post(const struct post *p, const MPI_Request *handle)
{
	uint64_t stamp;

	if (!p->id) {
		call_end(p->call);
		return;
	}
	stamp = dprof_adapter_now();
	if (handle)
		request_add_message(*handle, p->kind, p->id, &p->envelope);
	call_end_at(p->call, stamp);
}

void post_end(const struct post *p, const MPI_Request *handle)
{
	end_post(p, handle);
}

void post_received(const struct post *p, const MPI_Status *status)
{
	const struct message_envelope *e = &p->envelope;

	if (!p->call.on || !status || e->none)
		return;
	/* most messages that are named fill the room that there is for them */
	if (e->any_source || e->any_tag || p->id || bytes_received(status) != e->bytes)
		say_received(e, p->id, status, dprof_adapter_now_fenced());
}

/* What MPI_Sendrecv does: it begins both, and ends when both are complete. */
struct sendrecv { struct mpi_call call; struct post send, receive; };

DPROF_SITE_OF(site_sending, DPROF_KIND_SEND, "MPI_Sendrecv sends");
DPROF_SITE_OF(site_receiving, DPROF_KIND_RECV, "MPI_Sendrecv receives");

static struct sendrecv exchange_begin(const void *site, const char *name,
				      struct message_envelope out, struct message_envelope in)
{
	struct sendrecv x = { .call = call_begin(site, name) };

	if (!x.call.on)
		return x;
	if (!out.none)
		x.send = post_begun(DPROF_KIND_SEND, &site_sending, "", out);
	if (!in.none)
		x.receive = post_begun(DPROF_KIND_RECV, &site_receiving, "", in);
	return x;
}

static void exchange_end(const struct sendrecv *x, const MPI_Status *status)
{
	post_received(&x->receive, status);
	if (x->send.id && status)
		say_sent(x->send.id, dprof_adapter_now_fenced());
	post_end(&x->receive, NULL);
	post_end(&x->send, NULL);
	call_end(x->call);
}

/* A message that was looked for and not found, in a receive of its own. */
static void say_nothing_found(void)
{
	const struct dprof_argument a = { DPROF_KEY_PEER, DPROF_PEER_NONE };

	dprof_adapter_record_with((const void *)&site_received, DPROF_POINT, dprof_adapter_now_fenced(), &a, 1);
}

/* ---- The functions: first those that have no count -------------------------------------------- */

/* It waits for a message, and leaves it where it is: whoever takes it next has waited for it since then, as behind
 * MPI_Iprobe. */
DPROF_SITE_OF(site_Probe, DPROF_KIND_WAIT, "MPI_Probe");
DPROF_EXPORT int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct mpi_call c = call_begin(NAMED(Probe));
	int result;

	if (from == MPI_PROC_NULL) /* which leaves none */
		call_add(c, DPROF_KEY_ID, 0);
	result = PMPI_Probe(from, tag, comm, status);

	call_end(c);
	return result;
}

/* Until all that is in the buffer has been sent: their receivers may be late. */
WRAP_WAIT(Buffer_detach, (void *buffer, int *size), (buffer, size))

/* A message that is found this way is taken: what receives it later takes it out of MPI's hands. */
DPROF_SITE_OF(site_Mprobe, DPROF_KIND_RECV, "MPI_Mprobe");
DPROF_EXPORT int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message,
			    MPI_Status *status)
{
	struct post p = post_blocking(DPROF_KIND_RECV, NAMED(Mprobe),
				      envelope_of(-1, MPI_BYTE, from, tag, comm));
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && p.call.on ? &own : status;
	int result = PMPI_Mprobe(from, tag, comm, message, s);

	if (result != MPI_SUCCESS)
		post_failed(&p);
	post_received(&p, result == MPI_SUCCESS ? s : NULL);
	post_end(&p, NULL);
	return result;
}

/* Recorded afterwards, when it found something; but what several threads do at the same time must
 * be seen to overlap, and they record it every time. */
DPROF_SITE_OF(site_Improbe, DPROF_KIND_RECV, "MPI_Improbe");
DPROF_EXPORT int MPI_Improbe(int from, int tag, MPI_Comm comm, int *found, MPI_Message *message,
			     MPI_Status *status)
{
	bool on = mpi_active && dprof_adapter_recording() && from != MPI_PROC_NULL;
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && on ? &own : status;
	struct message_envelope e = envelope_of(-1, MPI_BYTE, from, tag, comm);
	struct post p = { 0 };
	int result;

	if (on && mpi_multiple)
		p = post_blocking(DPROF_KIND_RECV, NAMED(Improbe), e);
	result = PMPI_Improbe(from, tag, comm, found, message, s);
	if (on && !mpi_multiple && result == MPI_SUCCESS && *found)
		p = post_blocking(DPROF_KIND_RECV, NAMED(Improbe), e);
	if (p.call.on && (result != MPI_SUCCESS || !*found))
		say_nothing_found();
	else
		post_received(&p, s);
	post_end(&p, NULL);
	return result;
}

/* Which of the messages that were found this is nobody knows. */
WRAP_BEGUN(Imrecv, (void *data, int n, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
	   (data, n, type, message, request), request_fetches)

/* ---- With counts: each is MPI_Name, and with more to count MPI_Name_c ----------------------------- */

#define SENDS(X)       X(Send) X(Ssend) X(Bsend) X(Rsend)
#define SENDS_BEGUN(X) X(Isend) X(Issend) X(Ibsend) X(Irsend)

#define SITE_OF(name) DPROF_SITE_OF(site_##name, DPROF_KIND_SEND, "MPI_" #name);
SENDS(SITE_OF)
SENDS_BEGUN(SITE_OF)
DPROF_SITE_OF(site_Recv, DPROF_KIND_RECV, "MPI_Recv");
DPROF_SITE_OF(site_Irecv, DPROF_KIND_RECV, "MPI_Irecv");
DPROF_SITE_OF(site_Mrecv, DPROF_KIND_WAIT, "MPI_Mrecv");
DPROF_SITE_OF(site_Sendrecv, DPROF_KIND_WAIT, "MPI_Sendrecv");
DPROF_SITE_OF(site_Sendrecv_replace, DPROF_KIND_WAIT, "MPI_Sendrecv_replace");

#define COUNT      int
#define MPI(name)  MPI_##name
#define PMPI(name) PMPI_##name
#include "runtime/mpi/messages.def"
#undef COUNT
#undef MPI
#undef PMPI

#if MPI_VERSION >= 4
WRAP_WAIT_AS(Buffer_detach, Buffer_detach_c, (void *buffer, MPI_Count *size), (buffer, size))

WRAP_BEGUN(Imrecv_c, (void *data, MPI_Count n, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
	   (data, n, type, message, request), request_fetches)

/* MPICH 4.0 leaves the status as it is. */
static void exchange_begun(const struct sendrecv *x, const MPI_Request *handle)
{
	struct request out = { .envelope = x->send.envelope, .id = x->send.id,
			       .kind = DPROF_KIND_SEND };
	struct request in = { .envelope = x->receive.envelope, .id = x->receive.id,
			      .kind = DPROF_KIND_RECV, .no_status = true };

	if (in.id && out.id)
		in.also = &out;
	if (handle && (in.id || out.id))
		request_add(*handle, in.id ? &in : &out);
	post_end(&x->receive, NULL);
	post_end(&x->send, NULL);
	call_end(x->call);
}

DPROF_SITE_OF(site_Isendrecv, DPROF_KIND_WAIT, "MPI_Isendrecv");
DPROF_SITE_OF(site_Isendrecv_replace, DPROF_KIND_WAIT, "MPI_Isendrecv_replace");

#define EXCHANGES_BEGUN
#define COUNT      int
#define MPI(name)  MPI_##name
#define PMPI(name) PMPI_##name
#include "runtime/mpi/messages.def"
#undef EXCHANGES_BEGUN
#undef COUNT
#undef MPI
#undef PMPI

#define COUNT      MPI_Count
#define MPI(name)  MPI_##name##_c
#define PMPI(name) PMPI_##name##_c
#include "runtime/mpi/messages.def"
#define EXCHANGES_BEGUN
#include "runtime/mpi/messages.def"
#endif

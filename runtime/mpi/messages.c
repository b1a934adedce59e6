/* SPDX-License-Identifier: MIT
 *
 * messages.c - sends and receives: with whom, which tag, how much.
 *
 *   MPI_Send      ENTER group peer tag bytes ......... EXIT
 *   MPI_Isend     ENTER group peer tag bytes id EXIT  ...  done id, in the wait that completes it
 *   MPI_Recv      ENTER group [peer tag] bytes  [done peer tag bytes] EXIT
 *   MPI_Sendrecv  ENTER  ENTER send id  ENTER receive id  done id  done id  EXIT EXIT EXIT
 *
 * Law: sends are recorded in the order in which MPI was given them, and receives, too: between the
 * ENTER and the EXIT of each. What moves no message says so, or is not recorded. */
#include "runtime/mpi/adapter.h"

/* ---- What is said ----------------------------------------------------------------------------- */

struct envelope envelope_of(int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
	struct envelope e = { .tag = tag, .bytes = UNKNOWN_BYTES };

	if (!mpi_active || !dprof_adapter_recording())
		return e;
	e.nobody = peer == MPI_PROC_NULL;
	e.any_source = peer == MPI_ANY_SOURCE;
	e.any_tag = tag == MPI_ANY_TAG;
	if (e.nobody)
		return e;
	e.group = group_known(comm);
	e.bytes = bytes_of(count, type);
	if (e.group && !e.any_source) {
		if (peer >= 0 && peer < e.group->npeers)
			e.peer = (uint64_t)e.group->peers[peer];
		else
			e.group = NULL; /* MPI will refuse it */
	}
	return e;
}

/* Without a group only how much: its messages cannot be told from those of another such one. */
static void say_envelope(const struct envelope *e, uint64_t id)
{
	struct dprof_argument a[5];
	unsigned n = 0;

	if (e->nobody)
		a[n++] = (struct dprof_argument){ DPROF_KEY_PEER, DPROF_NOBODY };
	if (e->group)
		a[n++] = (struct dprof_argument){ DPROF_KEY_GROUP, e->group->id };
	if (e->group && !e->any_source)
		a[n++] = (struct dprof_argument){ DPROF_KEY_PEER, e->peer };
	if (e->group && !e->any_tag)
		a[n++] = (struct dprof_argument){ DPROF_KEY_TAG, (uint64_t)e->tag };
	if (e->bytes != UNKNOWN_BYTES)
		a[n++] = (struct dprof_argument){ DPROF_KEY_BYTES, e->bytes };
	if (id)
		a[n++] = (struct dprof_argument){ DPROF_KEY_ID, id };
	dprof_adapter_arguments(a, n);
}

DPROF_SITE_OF(site_sent, DPROF_KIND_SEND, "sent");
DPROF_SITE_OF(site_received, DPROF_KIND_RECV, "received");

void say_sent(uint64_t id)
{
	struct dprof_argument a = { DPROF_KEY_ID, id };

	dprof_adapter_point((const void *)&site_sent);
	dprof_adapter_arguments(&a, 1);
}

static uint64_t bytes_received(const MPI_Status *status)
{
	MPI_Count n = 0;

	if (PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS || n < 0)
		return UNKNOWN_BYTES;
	return (uint64_t)n;
}

void say_received(const struct envelope *e, uint64_t id, const MPI_Status *status)
{
	struct dprof_argument a[4];
	unsigned n = 0;
	int cancelled = 0, from = status->MPI_SOURCE;
	uint64_t bytes;

	if (id) /* the status of a probe need not say it */
		PMPI_Test_cancelled(status, &cancelled);
	bytes = cancelled ? UNKNOWN_BYTES : bytes_received(status);
	if (id)
		a[n++] = (struct dprof_argument){ DPROF_KEY_ID, id };
	if (cancelled)
		a[n++] = (struct dprof_argument){ DPROF_KEY_PEER, DPROF_NOBODY };
	else if (e->any_source && e->group && from >= 0 && from < e->group->npeers)
		a[n++] = (struct dprof_argument){ DPROF_KEY_PEER, (uint64_t)e->group->peers[from] };
	if (!cancelled && e->any_tag && e->group)
		a[n++] = (struct dprof_argument){ DPROF_KEY_TAG, (uint64_t)status->MPI_TAG };
	if (bytes != UNKNOWN_BYTES)
		a[n++] = (struct dprof_argument){ DPROF_KEY_BYTES, bytes };
	dprof_adapter_point((const void *)&site_received);
	dprof_adapter_arguments(a, n);
}

/* ---- Posts ------------------------------------------------------------------------------------ */

static struct post post(enum dprof_kind kind, const void *site, const char *name,
			struct envelope e, bool only_begun)
{
	struct post p = { .envelope = e, .kind = kind };

	p.call = call_begin(e.nobody ? NULL : site, name);
	if (!p.call.on)
		return p;
	if (only_begun && !e.nobody)
		p.id = request_number();
	say_envelope(&e, p.id);
	return p;
}

struct post post_blocking(enum dprof_kind kind, const void *site, const char *name,
			  struct envelope e)
{
	return post(kind, site, name, e, false);
}

struct post post_begun(enum dprof_kind kind, const void *site, const char *name, struct envelope e)
{
	return post(kind, site, name, e, true);
}

void post_end(const struct post *p, const MPI_Request *handle)
{
	struct request r = { .envelope = p->envelope, .id = p->id, .kind = p->kind };

	if (p->id && handle)
		request_add(*handle, &r);
	call_end(p->call);
}

void post_received(const struct post *p, const MPI_Status *status)
{
	const struct envelope *e = &p->envelope;

	if (p->call.on && status && !e->nobody && (e->any_source || e->any_tag || p->id))
		say_received(e, p->id, status);
}

/* ---- Sends ------------------------------------------------------------------------------------ */

#define NAMED(function) &site_##function, "MPI_" #function
#define OUTGOING        const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm
#define SENDS(X)        X(Send) X(Ssend) X(Bsend) X(Rsend)
#define SENDS_BEGUN(X)  X(Isend) X(Issend) X(Ibsend) X(Irsend)
#define SENDS_AGAIN(X)  X(Send_init) X(Ssend_init) X(Bsend_init) X(Rsend_init)

#define WRAP(name)                                                                                \
	DPROF_SITE_OF(site_##name, DPROF_KIND_SEND, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name(OUTGOING)                                                     \
	{                                                                                         \
		struct post p = post_blocking(DPROF_KIND_SEND, NAMED(name),                       \
					      envelope_of(n, type, to, tag, comm));               \
		int result = PMPI_##name(data, n, type, to, tag, comm);                           \
                                                                                                  \
		post_end(&p, NULL);                                                               \
		return result;                                                                    \
	}
SENDS(WRAP)
#undef WRAP

#define WRAP(name)                                                                                \
	DPROF_SITE_OF(site_##name, DPROF_KIND_SEND, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name(OUTGOING, MPI_Request *request)                               \
	{                                                                                         \
		struct post p = post_begun(DPROF_KIND_SEND, NAMED(name),                          \
					   envelope_of(n, type, to, tag, comm));                  \
		int result = PMPI_##name(data, n, type, to, tag, comm, request);                  \
                                                                                                  \
		post_end(&p, result == MPI_SUCCESS ? request : NULL);                             \
		return result;                                                                    \
	}
SENDS_BEGUN(WRAP)
#undef WRAP

/* ---- Receives --------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_Recv, DPROF_KIND_RECV, "MPI_Recv");
DPROF_EXPORT int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
			  MPI_Status *status)
{
	struct post p = post_blocking(DPROF_KIND_RECV, NAMED(Recv),
				      envelope_of(n, type, from, tag, comm));
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && p.call.on ? &own : status;
	int result = PMPI_Recv(data, n, type, from, tag, comm, s);

	post_received(&p, result == MPI_SUCCESS ? s : NULL);
	post_end(&p, NULL);
	return result;
}

DPROF_SITE_OF(site_Irecv, DPROF_KIND_RECV, "MPI_Irecv");
DPROF_EXPORT int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
			   MPI_Request *request)
{
	struct post p = post_begun(DPROF_KIND_RECV, NAMED(Irecv),
				   envelope_of(n, type, from, tag, comm));
	int result = PMPI_Irecv(data, n, type, from, tag, comm, request);

	post_end(&p, result == MPI_SUCCESS ? request : NULL);
	return result;
}

/* It waits for a message, and leaves it where it is. */
DPROF_SITE_OF(site_Probe, DPROF_KIND_WAIT, "MPI_Probe");
DPROF_EXPORT int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct call c = call_begin(NAMED(Probe));
	int result = PMPI_Probe(from, tag, comm, status);

	call_end(c);
	return result;
}

/* A message that is found this way is taken: what receives it later takes it out of MPI's hands. */
DPROF_SITE_OF(site_Mprobe, DPROF_KIND_RECV, "MPI_Mprobe");
DPROF_EXPORT int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message,
			    MPI_Status *status)
{
	struct post p = post_blocking(DPROF_KIND_RECV, NAMED(Mprobe),
				      envelope_of(-1, MPI_BYTE, from, tag, comm));
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && p.call.on ? &own : status;
	int result = PMPI_Mprobe(from, tag, comm, message, s);

	post_received(&p, result == MPI_SUCCESS ? s : NULL);
	post_end(&p, NULL);
	return result;
}

static void say_nothing_found(void)
{
	struct dprof_argument a = { DPROF_KEY_PEER, DPROF_NOBODY };

	dprof_adapter_point((const void *)&site_received);
	dprof_adapter_arguments(&a, 1);
}

/* Recorded afterwards, when it found something; but what several threads do at the same time must be
 * seen to overlap, and they record it every time. */
DPROF_SITE_OF(site_Improbe, DPROF_KIND_RECV, "MPI_Improbe");
DPROF_EXPORT int MPI_Improbe(int from, int tag, MPI_Comm comm, int *found, MPI_Message *message,
			     MPI_Status *status)
{
	bool on = mpi_active && dprof_adapter_recording() && from != MPI_PROC_NULL;
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && on ? &own : status;
	struct envelope e = envelope_of(-1, MPI_BYTE, from, tag, comm);
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

DPROF_SITE_OF(site_Mrecv, DPROF_KIND_WAIT, "MPI_Mrecv");
DPROF_EXPORT int MPI_Mrecv(void *data, int n, MPI_Datatype type, MPI_Message *message,
			   MPI_Status *status)
{
	struct call c = call_begin(NAMED(Mrecv));
	int result = PMPI_Mrecv(data, n, type, message, status);

	call_end(c);
	return result;
}

/* ---- Both at once ----------------------------------------------------------------------------- */

struct exchange { struct call call; struct post send, receive; };

DPROF_SITE_OF(site_sending, DPROF_KIND_SEND, "MPI_Sendrecv sends");
DPROF_SITE_OF(site_receiving, DPROF_KIND_RECV, "MPI_Sendrecv receives");

static struct exchange exchange_begin(const void *site, const char *name, struct envelope out,
				      struct envelope in)
{
	struct exchange x = { .call = call_begin(site, name) };

	if (!x.call.on)
		return x;
	if (!out.nobody)
		x.send = post_begun(DPROF_KIND_SEND, &site_sending, "", out);
	if (!in.nobody)
		x.receive = post_begun(DPROF_KIND_RECV, &site_receiving, "", in);
	return x;
}

static void exchange_end(const struct exchange *x, const MPI_Status *status)
{
	post_received(&x->receive, status);
	if (x->send.id && status)
		say_sent(x->send.id);
	post_end(&x->receive, NULL);
	post_end(&x->send, NULL);
	call_end(x->call);
}

DPROF_SITE_OF(site_Sendrecv, DPROF_KIND_WAIT, "MPI_Sendrecv");
DPROF_EXPORT int MPI_Sendrecv(const void *out, int nout, MPI_Datatype tout, int to, int tag_out,
			      void *in, int nin, MPI_Datatype tin, int from, int tag_in,
			      MPI_Comm comm, MPI_Status *status)
{
	struct exchange x = exchange_begin(NAMED(Sendrecv),
					   envelope_of(nout, tout, to, tag_out, comm),
					   envelope_of(nin, tin, from, tag_in, comm));
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && x.call.on ? &own : status;
	int result = PMPI_Sendrecv(out, nout, tout, to, tag_out, in, nin, tin, from, tag_in, comm,
				   s);

	exchange_end(&x, result == MPI_SUCCESS ? s : NULL);
	return result;
}

DPROF_SITE_OF(site_Sendrecv_replace, DPROF_KIND_WAIT, "MPI_Sendrecv_replace");
DPROF_EXPORT int MPI_Sendrecv_replace(void *data, int n, MPI_Datatype type, int to, int tag_out,
				      int from, int tag_in, MPI_Comm comm, MPI_Status *status)
{
	struct exchange x = exchange_begin(NAMED(Sendrecv_replace),
					   envelope_of(n, type, to, tag_out, comm),
					   envelope_of(n, type, from, tag_in, comm));
	MPI_Status own, *s = status == MPI_STATUS_IGNORE && x.call.on ? &own : status;
	int result = PMPI_Sendrecv_replace(data, n, type, to, tag_out, from, tag_in, comm, s);

	exchange_end(&x, result == MPI_SUCCESS ? s : NULL);
	return result;
}

/* ---- Again and again -------------------------------------------------------------------------- */

static void keep(const void *again, enum dprof_kind kind, const struct envelope *e,
		 const MPI_Request *handle)
{
	struct request r = { .again = again, .kind = kind, .envelope = *e };

	if (handle && mpi_active && dprof_adapter_recording() && !e->nobody)
		request_add(*handle, &r);
}

#define WRAP(name)                                                                                \
	DPROF_SITE_OF(site_##name, DPROF_KIND_SEND, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name(OUTGOING, MPI_Request *request)                               \
	{                                                                                         \
		struct envelope e = envelope_of(n, type, to, tag, comm);                          \
		int result = PMPI_##name(data, n, type, to, tag, comm, request);                  \
                                                                                                  \
		keep(&site_##name, DPROF_KIND_SEND, &e, result == MPI_SUCCESS ? request : NULL);  \
		return result;                                                                    \
	}
SENDS_AGAIN(WRAP)

DPROF_SITE_OF(site_Recv_init, DPROF_KIND_RECV, "MPI_Recv_init");
DPROF_EXPORT int MPI_Recv_init(void *data, int n, MPI_Datatype type, int from, int tag,
			       MPI_Comm comm, MPI_Request *request)
{
	struct envelope e = envelope_of(n, type, from, tag, comm);
	int result = PMPI_Recv_init(data, n, type, from, tag, comm, request);

	keep(&site_Recv_init, DPROF_KIND_RECV, &e, result == MPI_SUCCESS ? request : NULL);
	return result;
}

DPROF_EXPORT int MPI_Start(MPI_Request *request)
{
	struct request *r = mpi_active ? request_take(*request) : NULL;
	struct post p = { 0 };
	int result;

	if (r && r->again)
		p = post_begun(r->kind, r->again, "", r->envelope);
	result = PMPI_Start(request);
	if (r && r->again)
		r->id = result == MPI_SUCCESS ? p.id : 0;
	if (r)
		request_put_back(r);
	call_end(p.call);
	return result;
}

/* One after the other, as MPI allows, so that each is known to begin between its ENTER and EXIT. */
DPROF_EXPORT int MPI_Startall(int n, MPI_Request requests[])
{
	int result = MPI_SUCCESS;

	if (!mpi_active || !dprof_adapter_recording())
		return PMPI_Startall(n, requests);
	for (int i = 0; i < n && result == MPI_SUCCESS; i++)
		result = MPI_Start(&requests[i]);
	return result;
}

DPROF_EXPORT int MPI_Request_free(MPI_Request *request)
{
	struct request *r = mpi_active ? request_take(*request) : NULL;
	int result = PMPI_Request_free(request);

	if (r)
		request_drop(r);
	return result;
}

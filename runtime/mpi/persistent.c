/* SPDX-License-Identifier: MIT
 *
 * persistent.c - what may be started again and again: MPI_Send_init, MPI_Start, ...
 *
 * Law: a start is recorded as what it starts, and completed like that. */
#include "runtime/mpi/adapter.h"

static void keep(const void *again, enum dprof_kind kind, const struct message_envelope *e,
		 const MPI_Request *handle)
{
	struct request r = { .again = again, .kind = kind, .envelope = *e };

	if (handle && mpi_active && dprof_adapter_recording() && !e->none)
		request_add(*handle, &r);
}

/* ---- To be started ---------------------------------------------------------------------------- */

#define SENDS(X) X(Send_init) X(Ssend_init) X(Bsend_init) X(Rsend_init)
#define SITE_OF(name) DPROF_SITE_OF(site_##name, DPROF_KIND_SEND, "MPI_" #name);
SENDS(SITE_OF)
DPROF_SITE_OF(site_Recv_init, DPROF_KIND_RECV, "MPI_Recv_init");

#define INIT(name, called, kind, parameters)                                                      \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct message_envelope e = envelope_of(n, type, peer, tag, comm);                \
		int result = PMPI_##called(data, n, type, peer, tag, comm, request);              \
                                                                                                  \
		keep(&site_##name, kind, &e, result == MPI_SUCCESS ? request : NULL);             \
		return result;                                                                    \
	}
#define OF_MESSAGE(count)                                                                         \
	count n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request
#define SEND(name) INIT(name, name, DPROF_KIND_SEND, (const void *data, OF_MESSAGE(int)))
SENDS(SEND)
INIT(Recv_init, Recv_init, DPROF_KIND_RECV, (void *data, OF_MESSAGE(int)))
#if MPI_VERSION >= 4
#define SEND_LARGE(name) \
	INIT(name, name##_c, DPROF_KIND_SEND, (const void *data, OF_MESSAGE(MPI_Count)))
SENDS(SEND_LARGE)
INIT(Recv_init, Recv_init_c, DPROF_KIND_RECV, (void *data, OF_MESSAGE(MPI_Count)))
#endif

/* ---- Started ---------------------------------------------------------------------------------- */

/* A send in parts begins when the last part is ready. */
static struct post start(struct request *r)
{
	if (r->kind == DPROF_KIND_COLL)
		return collective_started(r);
	if (!r->parts)
		return post_begun(r->kind, r->again, "", r->envelope);
	parts_started(r->parts);
	return (struct post){ .id = request_number() };
}

DPROF_EXPORT int MPI_Start(MPI_Request *request)
{
	struct request *r = mpi_active && request ? request_take(*request) : NULL;
	struct post p = { 0 };
	int result;

	if (r && r->again)
		p = start(r);
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
	struct request *r = mpi_active && request ? request_take(*request) : NULL;
	int result = PMPI_Request_free(request);

	if (r)
		request_drop(r);
	return result;
}

/* SPDX-License-Identifier: MIT
 *
 * calls.c - MPI's collective operations, wrapped by way of its profiling interface; its begin and end. */
#include "runtime/mpi/adapter.h"

#include <stdio.h>

bool mpi_active, mpi_multiple;

struct call call_begin(const void *site, const char *name)
{
	bool seen = dprof_adapter_entered(name);

	if (!mpi_active || !dprof_adapter_recording() || (!seen && !site))
		return (struct call){ false, NULL };
	if (!seen)
		dprof_adapter_enter(site);
	return (struct call){ true, seen ? NULL : site };
}

void call_end(struct call c)
{
	if (c.due)
		dprof_adapter_exit(c.due);
}

uint64_t bytes_of(int count, MPI_Datatype type)
{
	int size = 0;

	if (type == MPI_DATATYPE_NULL || count < 0 ||
	    PMPI_Type_size(type, &size) != MPI_SUCCESS)
		return UNKNOWN_BYTES;
	return (uint64_t)count * (uint64_t)size;
}

static void add_arguments(const struct group *g, int root, uint64_t bytes, uint64_t id)
{
	struct dprof_argument a[5];
	unsigned n = 0;

	if (g) {
		a[n++] = (struct dprof_argument){ DPROF_KEY_GROUP, g->id };
		a[n++] = (struct dprof_argument){ DPROF_KEY_SEQ, g->seq };
	}
	if (g && root != NOT_ROOTED)
		a[n++] = (struct dprof_argument){ DPROF_KEY_ROLE, root == g->rank };
	if (bytes != UNKNOWN_BYTES)
		a[n++] = (struct dprof_argument){ DPROF_KEY_BYTES, bytes };
	if (id)
		a[n++] = (struct dprof_argument){ DPROF_KEY_ID, id };
	dprof_adapter_arguments(a, n);
}

/* The group is asked for first: the first time that may take a message, which is not the
 * operation's. */
struct call collective_begin(const void *site, const char *name, MPI_Comm comm, int root,
			     uint64_t bytes)
{
	struct group *g = mpi_active ? group_of(comm) : NULL;
	struct call c = call_begin(site, name);

	if (c.on && g)
		add_arguments(g, root, bytes, 0);
	if (g)
		g->seq++;
	return c;
}

/* One that only begins waits for nobody: its group must be known already. */
static struct post begun(const void *site, const char *name, struct group *g, int root,
			 uint64_t bytes)
{
	struct post p = { .call = call_begin(site, name), .kind = DPROF_KIND_COLL };

	if (p.call.on) {
		p.id = request_number();
		add_arguments(g, root, bytes, p.id);
	}
	if (g)
		g->seq++;
	return p;
}

#define SUM_OF(op) const void *send, void *recv, int n, MPI_Datatype type, MPI_Op op
#define SENDING    const void *send, int nsend, MPI_Datatype tsend
#define RECEIVING  void *recv, int nrecv, MPI_Datatype trecv
#define SENDING_V  const void *send, const int *nsend, const int *sdispls, MPI_Datatype tsend
#define RECEIVING_V void *recv, const int *nrecv, const int *rdispls, MPI_Datatype trecv

/* MPI_Name, and MPI_Iname, which only begins. The last is the bytes that this rank gives (or, where
 * that is simpler to say, gets). Counts and types that MPI does not look at on this rank (not at the
 * root, in place) are not looked at here; between two groups it is hard to say which these are, and
 * nothing is looked at. */
#define AT_ROOT     (group_known(comm)->rank == root)
#define COLLECTIVES(X)                                                                            \
	X(Barrier, barrier, BARRIER, (MPI_Comm comm), (comm), NOT_ROOTED, UNKNOWN_BYTES)          \
	X(Bcast, bcast, COLL, (void *data, int n, MPI_Datatype type, int root, MPI_Comm           \
	  comm), (data, n, type, root, comm), root, bytes_of(n, type))                            \
	X(Reduce, reduce, COLL, (SUM_OF(op), int root, MPI_Comm comm), (send, recv, n,            \
	  type, op, root, comm), root, bytes_of(n, type))                                         \
	X(Allreduce, allreduce, COLL, (SUM_OF(op), MPI_Comm comm), (send, recv, n, type,          \
	  op, comm), NOT_ROOTED, bytes_of(n, type))                                               \
	X(Scan, scan, COLL, (SUM_OF(op), MPI_Comm comm), (send, recv, n, type, op, comm),         \
	  NOT_ROOTED, bytes_of(n, type))                                                          \
	X(Exscan, exscan, COLL, (SUM_OF(op), MPI_Comm comm), (send, recv, n, type, op,            \
	  comm), NOT_ROOTED, bytes_of(n, type))                                                   \
	X(Reduce_scatter_block, reduce_scatter_block, COLL, (SUM_OF(op), MPI_Comm comm),          \
	  (send, recv, n, type, op, comm), NOT_ROOTED, bytes_of(n, type))                         \
	X(Reduce_scatter, reduce_scatter, COLL, (const void *send, void *recv, const int          \
	  *n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (send, recv, n, type, op, comm),      \
	  NOT_ROOTED, UNKNOWN_BYTES)                                                              \
	X(Gather, gather, COLL, (SENDING, RECEIVING, int root, MPI_Comm comm), (send,             \
	  nsend, tsend, recv, nrecv, trecv, root, comm), root, AT_ROOT ? bytes_of(nrecv,          \
	  trecv) : bytes_of(nsend, tsend))                                                        \
	X(Gatherv, gatherv, COLL, (SENDING, RECEIVING_V, int root, MPI_Comm comm), (send,         \
	  nsend, tsend, recv, nrecv, rdispls, trecv, root, comm), root, AT_ROOT ?                 \
	  UNKNOWN_BYTES : bytes_of(nsend, tsend))                                                 \
	X(Scatter, scatter, COLL, (SENDING, RECEIVING, int root, MPI_Comm comm), (send,           \
	  nsend, tsend, recv, nrecv, trecv, root, comm), root, AT_ROOT ? bytes_of(nsend,          \
	  tsend) : bytes_of(nrecv, trecv))                                                        \
	X(Scatterv, scatterv, COLL, (SENDING_V, RECEIVING, int root, MPI_Comm comm),              \
	  (send, nsend, sdispls, tsend, recv, nrecv, trecv, root, comm), root, AT_ROOT ?          \
	  UNKNOWN_BYTES : bytes_of(nrecv, trecv))                                                 \
	X(Allgather, allgather, COLL, (SENDING, RECEIVING, MPI_Comm comm), (send, nsend,          \
	  tsend, recv, nrecv, trecv, comm), NOT_ROOTED, bytes_of(nrecv, trecv))                   \
	X(Allgatherv, allgatherv, COLL, (SENDING, RECEIVING_V, MPI_Comm comm), (send,             \
	  nsend, tsend, recv, nrecv, rdispls, trecv, comm), NOT_ROOTED,                           \
	  bytes_of(nrecv[group_known(comm)->rank], trecv))                                        \
	X(Alltoall, alltoall, COLL, (SENDING, RECEIVING, MPI_Comm comm), (send, nsend,            \
	  tsend, recv, nrecv, trecv, comm), NOT_ROOTED, bytes_of(nrecv, trecv))                   \
	X(Alltoallv, alltoallv, COLL, (SENDING_V, RECEIVING_V, MPI_Comm comm), (send,             \
	  nsend, sdispls, tsend, recv, nrecv, rdispls, trecv, comm), NOT_ROOTED,                  \
	  UNKNOWN_BYTES)                                                                          \
	X(Alltoallw, alltoallw, COLL, (const void *send, const int *nsend, const int              \
	  *sdispls, const MPI_Datatype *tsend, void *recv, const int *nrecv, const int            \
	  *rdispls, const MPI_Datatype *trecv, MPI_Comm comm), (send, nsend, sdispls, tsend,      \
	  recv, nrecv, rdispls, trecv, comm), NOT_ROOTED, UNKNOWN_BYTES)                          \
	X(Neighbor_allgather, neighbor_allgather, COLL, (SENDING, RECEIVING, MPI_Comm             \
	  comm), (send, nsend, tsend, recv, nrecv, trecv, comm), NOT_ROOTED, UNKNOWN_BYTES)       \
	X(Neighbor_allgatherv, neighbor_allgatherv, COLL, (SENDING, RECEIVING_V, MPI_Comm         \
	  comm), (send, nsend, tsend, recv, nrecv, rdispls, trecv, comm), NOT_ROOTED,             \
	  UNKNOWN_BYTES)                                                                          \
	X(Neighbor_alltoall, neighbor_alltoall, COLL, (SENDING, RECEIVING, MPI_Comm comm),        \
	  (send, nsend, tsend, recv, nrecv, trecv, comm), NOT_ROOTED, UNKNOWN_BYTES)              \
	X(Neighbor_alltoallv, neighbor_alltoallv, COLL, (SENDING_V, RECEIVING_V, MPI_Comm         \
	  comm), (send, nsend, sdispls, tsend, recv, nrecv, rdispls, trecv, comm),                \
	  NOT_ROOTED, UNKNOWN_BYTES)                                                              \
	X(Neighbor_alltoallw, neighbor_alltoallw, COLL, (const void *send, const int              \
	  *nsend, const MPI_Aint *sdispls, const MPI_Datatype *tsend, void *recv, const int       \
	  *nrecv, const MPI_Aint *rdispls, const MPI_Datatype *trecv, MPI_Comm comm), (send,      \
	  nsend, sdispls, tsend, recv, nrecv, rdispls, trecv, comm), NOT_ROOTED,                  \
	  UNKNOWN_BYTES)

#define ALL(...) __VA_ARGS__
#define WRAP(name, lower, kind, parameters, arguments, root, bytes)                               \
	DPROF_SITE_OF(site_##name, DPROF_KIND_##kind, "MPI_" #name);                              \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		const struct group *g = mpi_active ? group_of(comm) : NULL;                       \
		struct call c = collective_begin(&site_##name, "MPI_" #name, comm, root,          \
						 g ? (bytes) : UNKNOWN_BYTES);                    \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
COLLECTIVES(WRAP)
#undef WRAP

#define WRAP(name, lower, kind, parameters, arguments, root, bytes)                               \
	DPROF_SITE_OF(site_I##lower, DPROF_KIND_COLL, "MPI_I" #lower);                            \
	DPROF_EXPORT int MPI_I##lower(ALL parameters, MPI_Request *request)                       \
	{                                                                                         \
		struct group *g = mpi_active ? group_within(comm) : NULL;                         \
		struct post p = begun(&site_I##lower, "MPI_I" #lower, g, root,                    \
				      g ? (bytes) : UNKNOWN_BYTES);                               \
		int result = PMPI_I##lower(ALL arguments, request);                               \
                                                                                                  \
		post_end(&p, result == MPI_SUCCESS ? request : NULL);                             \
		return result;                                                                    \
	}
COLLECTIVES(WRAP)

/* ---- Begin and end of MPI -------------------------------------------------------------------- */

static void after_init(void)
{
	int level = MPI_THREAD_SINGLE;

	PMPI_Query_thread(&level);
	mpi_multiple = level == MPI_THREAD_MULTIPLE;
	mpi_active = hosts_start();
	if (mpi_active)
		groups_start();
}

DPROF_EXPORT int MPI_Init(int *argc, char ***argv)
{
	int result = PMPI_Init(argc, argv);

	if (result == MPI_SUCCESS)
		after_init();
	return result;
}

DPROF_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int result = PMPI_Init_thread(argc, argv, required, provided);

	if (result == MPI_SUCCESS)
		after_init();
	return result;
}

/* What this rank has recorded is kept whatever becomes of it; the reader should know why it ends. */
DPROF_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
	char text[64];

	snprintf(text, sizeof(text), "this rank called MPI_Abort with code %d", code);
	dprof_adapter_line("note", text);
	return PMPI_Abort(comm, code);
}

DPROF_EXPORT int MPI_Finalize(void)
{
	if (mpi_active) {
		mpi_active = false;
		groups_stop();
		hosts_stop();
	}
	return PMPI_Finalize();
}

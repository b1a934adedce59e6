/* SPDX-License-Identifier: MIT
 *
 * collectives.c - MPI's collective operations, in each of their forms:
 *
 *   MPI_Bcast        ENTER group seq ............... EXIT
 *   MPI_Ibcast       ENTER group seq id EXIT  ...  done id, in the wait that completes it
 *   MPI_Bcast_init   nothing; each MPI_Start of it is like an MPI_Ibcast
 *   MPI_Neighbor_... messages (neighbors.c)
 *
 * The n-th start of the k-th persistent operation of a communicator has a number that is made of n
 * and k, since MPI orders the making of them but not the starting.
 *
 * Law: all members of a communicator give an operation the same group and number, until one fails on one of
 * them: MPI may refuse it there alone. */
#include "runtime/mpi/adapter.h"

#define PERSISTENT (UINT64_C(1) << 55)
#define STARTS     32

/* Between two groups each waits for a member of the other one. */
static uint64_t role_in(const struct group *g, int root)
{
	return g->between || root == ROLE_UNKNOWN ? DPROF_ROLE_UNKNOWN : root == g->rank;
}

static void enter(struct mpi_call *c, const struct group *g, uint64_t seq, int root, uint64_t bytes,
		  uint64_t id)
{
	struct dprof_arguments a;

	a.words = 0;
	if (g && c->on) {
		dprof_say(&a, DPROF_KEY_GROUP, g->instead ? g->instead : g->id);
		dprof_say(&a, DPROF_KEY_SEQ, seq);
	}
	if (g && c->on && g->instead)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_NONE);
	if (g && c->on && (g->between || root != NOT_ROOTED))
		dprof_say(&a, DPROF_KEY_ROLE, role_in(g, root));
	if (c->on && bytes != UNKNOWN_BYTES)
		dprof_say(&a, DPROF_KEY_BYTES, bytes);
	if (id)
		dprof_say(&a, DPROF_KEY_ID, id);
	call_enter(c, &a);
}

struct mpi_call group_operation_begin(const void *site, const char *name, struct group *g, int root,
				      uint64_t bytes)
{
	struct mpi_call c = call_of(site, name);

	enter(&c, g, g ? g->seq : 0, root, g ? bytes : UNKNOWN_BYTES, 0);
	if (g)
		g->seq++;
	return c;
}

/* The group is asked for first: the first time that may take a message, which is not the
 * operation's. */
struct mpi_call collective_begin(const void *site, const char *name, MPI_Comm comm, int root,
				 uint64_t bytes)
{
	struct group *g = mpi_active ? group_of(comm) : NULL;
	struct mpi_call c = group_operation_begin(site, name, g, root, bytes);

	if (!g && comm != MPI_COMM_NULL)
		call_add(c, DPROF_KEY_ROLE, DPROF_ROLE_UNKNOWN);
	return c;
}

void collective_failed(struct mpi_call c, struct group *g)
{
	if (!g || !g->instead)
		call_add(c, DPROF_KEY_PEER, DPROF_PEER_NONE);
	if (g)
		group_doubt(g);
}

static struct post begun(const void *site, const char *name, struct group *g, uint64_t seq,
			 int root, uint64_t bytes)
{
	struct post p = { .call = call_of(site, name), .kind = DPROF_KIND_COLL };

	if (p.call.on)
		p.id = request_number();
	enter(&p.call, g, seq, root, bytes, p.id);
	if (!g)
		call_add(p.call, DPROF_KEY_ROLE, DPROF_ROLE_UNKNOWN);
	return p;
}

/* One that only begins does not wait: its group must be known already. */
struct post collective_begun(const void *site, const char *name, struct group *g, int root,
			     uint64_t bytes)
{
	return begun(site, name, g, g ? g->seq++ : 0, root, bytes);
}

struct post collective_started(struct request *r)
{
	return begun(r->again, "", r->envelope.group, r->seq++, r->root, r->envelope.bytes);
}

/* ---- The functions --------------------------------------------------------------------------- */

#define COLLECTIVE(name, lower, kind, parameters, arguments, root, bytes)                         \
	DPROF_SITE_OF(site_##name, DPROF_KIND_##kind, "MPI_" #name);                              \
	DPROF_SITE_OF(site_I##lower, DPROF_KIND_COLL, "MPI_I" #lower);
#define NEIGHBORS(name, lower, parameters, arguments, out, in)                                    \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	DPROF_SITE_OF(site_I##lower, DPROF_KIND_WAIT, "MPI_I" #lower);
#include "runtime/mpi/collectives.def"
#undef COLLECTIVE
#undef NEIGHBORS

#define ALL(...) __VA_ARGS__
#define BLOCKING(name, called, parameters, arguments, root, bytes)                                \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct group *g = mpi_active ? group_of(comm) : NULL;                             \
		struct mpi_call c = collective_begin(&site_##name, "MPI_" #name, comm, root,      \
						     WITHIN(g) ? (bytes) : UNKNOWN_BYTES);        \
		int result = PMPI_##called arguments;                                             \
                                                                                                  \
		if (result != MPI_SUCCESS)                                                        \
			collective_failed(c, g);                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
#define BEGUN(name, called, parameters, arguments, root, bytes)                                   \
	DPROF_EXPORT int MPI_##called(ALL parameters, MPI_Request *request)                       \
	{                                                                                         \
		struct group *g = mpi_active ? group_known(comm) : NULL;                          \
		struct post p = collective_begun(&site_##name, "MPI_" #name, g, root,             \
						 WITHIN(g) ? (bytes) : UNKNOWN_BYTES);            \
		int result = PMPI_##called(ALL arguments, request);                               \
                                                                                                  \
		if (result != MPI_SUCCESS)                                                        \
			collective_failed(p.call, g);                                             \
		post_end(&p, result == MPI_SUCCESS ? request : NULL);                             \
		return result;                                                                    \
	}
#define PERSISTENT_INIT(name, called, parameters, arguments, root, bytes)                         \
	DPROF_EXPORT int MPI_##called(ALL parameters, MPI_Info info, MPI_Request *request)        \
	{                                                                                         \
		struct group *g = mpi_active ? group_of(comm) : NULL;                             \
		uint64_t size = WITHIN(g) ? (bytes) : UNKNOWN_BYTES;                              \
		int result = PMPI_##called(ALL arguments, info, request);                         \
                                                                                                  \
		if (result != MPI_SUCCESS)                                                        \
			collective_failed((struct mpi_call){ 0 }, g);                   \
		collective_keep(&site_##name##_init, g, root, size,                               \
				result == MPI_SUCCESS ? request : NULL);                          \
		return result;                                                                    \
	}
#define WITHIN(g) ((g) && !(g)->between)
#define TELL_NEIGHBORS(c, name, g, near, out, in)                                                 \
	do {                                                                                      \
		for (int i = 0; (near) && i < (near)->nout; i++)                                  \
			(near)->with[i].bytes = (out);                                            \
		for (int i = 0; (near) && i < (near)->n - (near)->nout; i++)                      \
			(near)->with[(near)->nout + i].bytes = (in);                              \
		c = neighbors_begin(&site_##name, "MPI_" #name, g, near, NEIGHBORS_EXCHANGE);     \
	} while (0)
#define AMONG_NEIGHBORS(name, called, parameters, arguments, out, in)                             \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct group *g = mpi_active ? group_of(comm) : NULL;                             \
		struct neighbors *near = neighbors_of(g, comm);                                   \
		struct mpi_call c;                                                                \
		int result;                                                                       \
                                                                                                  \
		TELL_NEIGHBORS(c, name, g, near, out, in);                                        \
		result = PMPI_##called arguments;                                                 \
		neighbors_end(c, near, result == MPI_SUCCESS);                                    \
		return result;                                                                    \
	}
#define BEGUN_AMONG_NEIGHBORS(name, called, parameters, arguments, out, in)                       \
	DPROF_EXPORT int MPI_##called(ALL parameters, MPI_Request *request)                       \
	{                                                                                         \
		struct group *g = mpi_active ? group_known(comm) : NULL;                          \
		struct neighbors *near = neighbors_of(g, comm);                                   \
		struct mpi_call c;                                                                \
		int result;                                                                       \
                                                                                                  \
		TELL_NEIGHBORS(c, name, g, near, out, in);                                        \
		result = PMPI_##called(ALL arguments, request);                                   \
		neighbors_begun(c, g, near, result == MPI_SUCCESS ? request : NULL);              \
		return result;                                                                    \
	}

#define COUNT int
#define DISPL int
#define COLLECTIVE(name, lower, kind, parameters, arguments, root, bytes)                         \
	BLOCKING(name, name, parameters, arguments, root, bytes)                                  \
	BEGUN(I##lower, I##lower, parameters, arguments, root, bytes)
#define NEIGHBORS(name, lower, parameters, arguments, out, in)                                    \
	AMONG_NEIGHBORS(name, name, parameters, arguments, out, in)                               \
	BEGUN_AMONG_NEIGHBORS(I##lower, I##lower, parameters, arguments, out, in)
#include "runtime/mpi/collectives.def"
#undef COLLECTIVE
#undef NEIGHBORS

#if MPI_VERSION >= 4
/* One that may be started again and again (NULL: making it failed). To make one may wait for the others, as MPI says. */
static void collective_keep(const void *again, struct group *g, int root, uint64_t bytes,
			    const MPI_Request *handle)
{
	struct request r = { .again = again, .kind = DPROF_KIND_COLL, .root = root,
			     .envelope = { .group = g, .bytes = bytes } };

	if (g)
		r.seq = PERSISTENT | g->npersistent++ << STARTS;
	if (handle && mpi_active && dprof_adapter_recording())
		request_add(*handle, &r);
}

#define COLLECTIVE(name, lower, kind, parameters, arguments, root, bytes)                         \
	DPROF_SITE_OF(site_##name##_init, DPROF_KIND_COLL, "MPI_" #name "_init");                 \
	PERSISTENT_INIT(name, name##_init, parameters, arguments, root, bytes)
#include "runtime/mpi/collectives.def"
#undef COLLECTIVE

#define LARGE
#undef COUNT
#undef DISPL
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define COLLECTIVE(name, lower, kind, parameters, arguments, root, bytes)                         \
	BLOCKING(name, name##_c, parameters, arguments, root, bytes)                              \
	BEGUN(I##lower, I##lower##_c, parameters, arguments, root, bytes)                         \
	PERSISTENT_INIT(name, name##_init_c, parameters, arguments, root, bytes)
#define NEIGHBORS(name, lower, parameters, arguments, out, in)                                    \
	AMONG_NEIGHBORS(name, name##_c, parameters, arguments, out, in)                           \
	BEGUN_AMONG_NEIGHBORS(I##lower, I##lower##_c, parameters, arguments, out, in)             \
	PERSISTENT_INIT(name, name##_init_c, parameters, arguments, NOT_ROOTED, UNKNOWN_BYTES)
#include "runtime/mpi/collectives.def"
#endif

/* SPDX-License-Identifier: MIT
 *
 * communicators.c - what makes communicators: recorded as a collective operation of those who make
 * one, and the new one gets its number at once, since a message may come first there.
 *
 * MPI_Comm_idup may not wait for others: its number is made without them, and belongs to the new
 * one when it is complete. What other jobs have a part in waits for an unknown peer. */
#include "runtime/mpi/adapter.h"

/* `parent`: whose operation it is; MPI_COMM_NULL where only those take part who are in what is made. */
#define MAKERS(X)                                                                                 \
	X(Comm_dup, comm, (MPI_Comm comm, MPI_Comm *made), (comm, made))                          \
	X(Comm_dup_with_info, comm, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),               \
	  (comm, info, made))                                                                     \
	X(Comm_split, comm, (MPI_Comm comm, int color, int key, MPI_Comm *made),                  \
	  (comm, color, key, made))                                                               \
	X(Comm_split_type, comm,                                                                  \
	  (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),                      \
	  (comm, type, key, info, made))                                                          \
	X(Comm_create, comm, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),                    \
	  (comm, group, made))                                                                    \
	X(Comm_create_group, MPI_COMM_NULL,                                                       \
	  (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made))    \
	X(Cart_create, comm,                                                                      \
	  (MPI_Comm comm, int n, const int *dims, const int *periods, int reorder,                \
	   MPI_Comm *made),                                                                       \
	  (comm, n, dims, periods, reorder, made))                                                \
	X(Cart_sub, comm, (MPI_Comm comm, const int *remain, MPI_Comm *made),                     \
	  (comm, remain, made))                                                                   \
	X(Graph_create, comm,                                                                     \
	  (MPI_Comm comm, int n, const int *index, const int *edges, int reorder,                 \
	   MPI_Comm *made),                                                                       \
	  (comm, n, index, edges, reorder, made))                                                 \
	X(Dist_graph_create, comm,                                                                \
	  (MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets,        \
	   const int *weights, MPI_Info info, int reorder, MPI_Comm *made),                       \
	  (comm, n, nodes, degrees, targets, weights, info, reorder, made))                       \
	X(Dist_graph_create_adjacent, comm,                                                       \
	  (MPI_Comm comm, int nin, const int *in, const int *win, int nout, const int *out,       \
	   const int *wout, MPI_Info info, int reorder, MPI_Comm *made),                          \
	  (comm, nin, in, win, nout, out, wout, info, reorder, made))                             \
	X(Intercomm_create, MPI_COMM_NULL,                                                        \
	  (MPI_Comm comm, int leader, MPI_Comm bridge, int other, int tag, MPI_Comm *made),       \
	  (comm, leader, bridge, other, tag, made))                                               \
	X(Intercomm_merge, comm, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))

/* It is known who takes part when it is made: its members, all of which come to agree on its number. */
static void say_makers(struct mpi_call c, MPI_Comm made)
{
	struct dprof_arguments a;
	struct group *g;

	group_made(made);
	g = mpi_active ? group_known(made) : NULL;
	if (!g || !c.on || !c.place)
		return;
	a.words = 0;
	dprof_say(&a, DPROF_KEY_GROUP, g->id);
	dprof_say(&a, DPROF_KEY_SEQ, g->seq++);
	if (g->between)
		dprof_say(&a, DPROF_KEY_ROLE, DPROF_ROLE_UNKNOWN);
	dprof_adapter_add(c.place, &a);
}

#define WRAP(name, parent, parameters, arguments)                                                 \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		struct mpi_call c = collective_begin(&site_##name, "MPI_" #name, parent, NOT_ROOTED, \
						     UNKNOWN_BYTES);                              \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		if (result != MPI_SUCCESS && mpi_active)                                          \
			collective_failed(c, group_known(parent));                                \
		if (result == MPI_SUCCESS && parent == MPI_COMM_NULL)                             \
			say_makers(c, *made);                                                     \
		call_end(c);                                                                      \
		if (result == MPI_SUCCESS)                                                        \
			group_made(*made);                                                        \
		return result;                                                                    \
	}
MAKERS(WRAP)

/* ---- Begun ----------------------------------------------------------------------------------- */

static struct post copy_begun(const void *site, const char *name, MPI_Comm comm, uint64_t *id)
{
	struct group *g = mpi_active ? group_known(comm) : NULL;

	*id = g ? group_derive(g) : 0;
	return collective_begun(site, name, g, NOT_ROOTED, UNKNOWN_BYTES);
}

/* Both MPIs say at once which handle it will be; where they put it may be gone when it is complete.
 * */
static void copy_end(const struct post *p, const MPI_Comm *made, uint64_t id,
		     const MPI_Request *request)
{
	struct request r = { .id = p->id, .kind = DPROF_KIND_COLL, .made = MPI_COMM_NULL };

	if (request && id) {
		r.made = *made;
		r.made_id = id;
	}
	if (request && mpi_active && dprof_adapter_recording())
		request_add(*request, &r);
	call_end(p->call);
}

#define COPY(name, parameters, arguments)                                                         \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		uint64_t id;                                                                      \
		struct post p = copy_begun(NAMED(name), comm, &id);                               \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		if (result != MPI_SUCCESS && mpi_active)                                          \
			collective_failed(p.call, group_known(comm));                             \
		copy_end(&p, made, id, result == MPI_SUCCESS ? request : NULL);                   \
		return result;                                                                    \
	}
COPY(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request), (comm, made, request))
#if MPI_VERSION >= 4
COPY(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request),
     (comm, info, made, request))
#endif

/* ---- With other jobs ------------------------------------------------------------------------- */

WRAP_WAIT(Comm_spawn,
	  (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
	   MPI_Comm *made, int errors[]),
	  (command, argv, n, info, root, comm, made, errors))
WRAP_WAIT(Comm_spawn_multiple,
	  (int count, char *commands[], char **argvs[], const int n[], const MPI_Info infos[],
	   int root, MPI_Comm comm, MPI_Comm *made, int errors[]),
	  (count, commands, argvs, n, infos, root, comm, made, errors))
WRAP_WAIT(Comm_accept,
	  (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
	  (port, info, root, comm, made))
WRAP_WAIT(Comm_connect,
	  (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
	  (port, info, root, comm, made))
WRAP_WAIT(Comm_join, (int fd, MPI_Comm *made), (fd, made))
WRAP_WAIT(Comm_disconnect, (MPI_Comm *comm), (comm))

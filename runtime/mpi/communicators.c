/* SPDX-License-Identifier: MIT
 *
 * communicators.c - what makes communicators: recorded as a collective operation of those who make
 * one, and the new one gets its number at once, since a message may come first there.
 *
 * MPI_Comm_idup is not here: what it makes may not be used before it is complete; it gets its number
 * at its first collective operation. */
#include "runtime/mpi/adapter.h"

/* `parent`: whose operation it is; MPI_COMM_NULL where not all of its members take part. */
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
	X(Intercomm_create, comm,                                                                 \
	  (MPI_Comm comm, int leader, MPI_Comm bridge, int other, int tag, MPI_Comm *made),       \
	  (comm, leader, bridge, other, tag, made))                                               \
	X(Intercomm_merge, comm, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))

#define WRAP(name, parent, parameters, arguments)                                                 \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	DPROF_EXPORT int MPI_##name parameters                                                    \
	{                                                                                         \
		struct call c = collective_begin(&site_##name, "MPI_" #name, parent, NOT_ROOTED,  \
						 UNKNOWN_BYTES);                                  \
		int result = PMPI_##name arguments;                                               \
                                                                                                  \
		call_end(c);                                                                      \
		if (result == MPI_SUCCESS)                                                        \
			group_made(*made);                                                        \
		return result;                                                                    \
	}
MAKERS(WRAP)

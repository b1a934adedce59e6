/* SPDX-License-Identifier: MIT
 *
 * rdtsc_wrapper.c - the least that a profiler of MPI calls can do: the counter read before and after each, two
 * stores. To be linked before MPI, or preloaded. */
#include <mpi.h>
#include <stdint.h>

enum { RECORDS = 1 << 12 };

static uint64_t record[RECORDS];
static unsigned next;

static void note(void)
{
	record[next++ % RECORDS] = __builtin_ia32_rdtsc();
}

#define WRAP(name, parameters, arguments)        \
	int MPI_##name parameters                \
	{                                        \
		int result;                      \
                                                 \
		note();                          \
		result = PMPI_##name arguments;  \
		note();                          \
		return result;                   \
	}

WRAP(Irecv, (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, from, tag, comm, request))
WRAP(Isend, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, to, tag, comm, request))
WRAP(Wait, (MPI_Request *request, MPI_Status *status), (request, status))
WRAP(Waitall, (int n, MPI_Request requests[], MPI_Status *statuses), (n, requests, statuses))
WRAP(Allreduce, (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm))

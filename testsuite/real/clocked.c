/* SPDX-License-Identifier: MIT
 *
 * clocked.c - a second opinion on what MPI calls of an unchanged program take: preloaded, it stands before the
 * calls in C and in Fortran, reads CLOCK_MONOTONIC, and shares nothing with dprof.
 *
 *   LD_PRELOAD=clocked.so CLOCKED=DIR      writes DIR/PID when the process ends, one call a line:
 *
 *       rank 2
 *       MPI_Recv 60484148282558 60484205115412       begin and end, ns
 *
 * Law: a call that is listed here and waits began at or after the first stamp and ended at or before the
 * second. Calls inside of MPI (Fortran's that lead to C's) count once, as the outermost. A thread that does not
 * call MPI costs nothing; programs that call MPI from several threads at a time are not for this.
 *
 * All arguments of these calls are integers or pointers, so one shape of function passes them all on, also those
 * that a call does not have: System V's calling convention for x86-64 lets it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct clocked_call {
	const char *name;
	long begin_ns, end_ns;
};

static struct clocked_call *calls;
static size_t ncalls, room;
static int depth;

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void keep(const char *name, long begin_ns, long end_ns)
{
	if (ncalls == room) {
		room = room ? 2 * room : 1 << 16;
		calls = realloc(calls, room * sizeof(*calls));
		if (!calls)
			abort();
	}
	calls[ncalls++] = (struct clocked_call){ name, begin_ns, end_ns };
}

#define PARAMETERS                                                                                \
	long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10, \
		long a11, long a12, long a13, long a14
#define ARGUMENTS a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14

typedef long function(PARAMETERS);

static void *next(const char *symbol)
{
	void *f = dlsym(RTLD_NEXT, symbol);

	if (!f) {
		fprintf(stderr, "clocked: expected an MPI library with %s, found none\n", symbol);
		abort();
	}
	return f;
}

static long clocked(function *f, const char *name, PARAMETERS)
{
	long begin_ns = now_ns(), result;

	depth++;
	result = f(ARGUMENTS);
	if (--depth == 0)
		keep(name, begin_ns, now_ns());
	return result;
}

#define STAND_BEFORE(symbol, name)                                                                \
	__attribute__((visibility("default"))) long symbol(PARAMETERS);                           \
	long symbol(PARAMETERS)                                                                   \
	{                                                                                         \
		static function *f;                                                               \
                                                                                                  \
		if (!f)                                                                           \
			f = next(#symbol);                                                        \
		return clocked(f, name, ARGUMENTS);                                               \
	}
#define BOTH(C, fortran) STAND_BEFORE(C, #C) STAND_BEFORE(fortran, #C)

/* Those that wait, and those that begin or send something. */
BOTH(MPI_Barrier, mpi_barrier_)
BOTH(MPI_Bcast, mpi_bcast_)
BOTH(MPI_Reduce, mpi_reduce_)
BOTH(MPI_Allreduce, mpi_allreduce_)
BOTH(MPI_Gather, mpi_gather_)
BOTH(MPI_Gatherv, mpi_gatherv_)
BOTH(MPI_Scatter, mpi_scatter_)
BOTH(MPI_Scatterv, mpi_scatterv_)
BOTH(MPI_Allgather, mpi_allgather_)
BOTH(MPI_Allgatherv, mpi_allgatherv_)
BOTH(MPI_Alltoall, mpi_alltoall_)
BOTH(MPI_Alltoallv, mpi_alltoallv_)
BOTH(MPI_Scan, mpi_scan_)
BOTH(MPI_Exscan, mpi_exscan_)
BOTH(MPI_Reduce_scatter, mpi_reduce_scatter_)
BOTH(MPI_Comm_dup, mpi_comm_dup_)
BOTH(MPI_Comm_split, mpi_comm_split_)
BOTH(MPI_Comm_create, mpi_comm_create_)
BOTH(MPI_Cart_create, mpi_cart_create_)
BOTH(MPI_Recv, mpi_recv_)
BOTH(MPI_Irecv, mpi_irecv_)
BOTH(MPI_Probe, mpi_probe_)
BOTH(MPI_Sendrecv, mpi_sendrecv_)
BOTH(MPI_Wait, mpi_wait_)
BOTH(MPI_Waitall, mpi_waitall_)
BOTH(MPI_Waitany, mpi_waitany_)
BOTH(MPI_Waitsome, mpi_waitsome_)
BOTH(MPI_Send, mpi_send_)
BOTH(MPI_Ssend, mpi_ssend_)
BOTH(MPI_Rsend, mpi_rsend_)
BOTH(MPI_Isend, mpi_isend_)
BOTH(MPI_Finalize, mpi_finalize_)

__attribute__((destructor)) static void end(void)
{
	const char *folder = getenv("CLOCKED"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	char path[4096];
	FILE *f;

	if (!ncalls || !folder)
		return;
	snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "rank %s\n", rank ? rank : "0");
	for (size_t i = 0; i < ncalls; i++)
		fprintf(f, "%s %ld %ld\n", calls[i].name, calls[i].begin_ns, calls[i].end_ns);
	fclose(f);
}

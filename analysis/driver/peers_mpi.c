/* SPDX-License-Identifier: MIT
 *
 * peers_mpi.c - struct peer_calls over MPI: all that the analysis asks of it, made once for the ABI of each MPI.
 *
 * MPI waits by asking again and again, as fast as it can. Here whoever waits longer sleeps in between. An error ends the
 * job (MPI_ERRORS_ARE_FATAL). */
#include <mpi.h>
#include <time.h>

#include "analysis/driver/peers.h"

#define TAG          0
#define AT_ONCE      200             /* times it is asked without sleeping */
#define SHORTEST_NS  20000
#define LONGEST_NS   5000000

static void begin(int *rank, int *size)
{
	int given;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	MPI_Comm_size(MPI_COMM_WORLD, size);
}

static void wait_for(MPI_Request *request)
{
	int done = 0;
	long pause = SHORTEST_NS;
	for (unsigned asked = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; asked++) {
		if (asked < AT_ONCE)
			continue;
		nanosleep(&(struct timespec){ .tv_nsec = pause }, NULL);
		pause = 2 * pause < LONGEST_NS ? 2 * pause : LONGEST_NS;
	}
}

static void send(int to, const void *bytes, size_t n)
{
	MPI_Request request;
	MPI_Isend(bytes, (int)n, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
	wait_for(&request);
}

static void receive(int from, void *bytes, size_t n)
{
	MPI_Request request;
	MPI_Irecv(bytes, (int)n, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
	wait_for(&request);
}

static void end(void)
{
	MPI_Finalize();
}

extern const struct peer_calls dprof_peer_calls;
__attribute__((visibility("default"))) const struct peer_calls dprof_peer_calls = { begin, send, receive, end };

/* SPDX-License-Identifier: MIT
 *
 * traffic SECONDS ADDRESS FILE - two ranks that send each other messages, as they were.
 *
 * Rank 0 plays FreeZer's asking part against rank 1 at ADDRESS: a burst at the start, a few exchanges
 * every BACKGROUND_NS, a burst at the end. In between the ranks send messages to and fro through MPI,
 * with pauses of random length; they leave a barrier together at the start and at the end. Every stamp
 * is behind a fence, and both ranks read the same counter (testsuite/hosts.sh makes hosts of one
 * machine), so what is written is the truth; clocks are made up afterwards (recording.h has the format
 * of FILE). */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "freezer/clock.h"
#include "freezer/exchange.h"
#include "freezer/synclog.h"

#define MS            UINT64_C(1000000)
#define BACKGROUND_NS (10 * MS)
#define FINISH_NS     (20 * MS)
#define ANSWER_NS     (300 * MS)
#define MAX_PAUSE_NS  100000
#define MAX_ROUNDS    1000000

static const struct frz_burst at_the_ends = {
	.deadline_ns = 100 * MS, .at_least = 200, .at_most = 4000,
};
static const struct frz_burst now_and_then = {
	.deadline_ns = 2 * MS, .at_least = 4, .at_most = 4,
};

enum what { GO_ON, MEASURE, STOP };

static int rank;
static struct frz_endpoint endpoint;
static char address[FRZ_ADDRESS_SIZE];
static struct frz_synclog packets; /* rank 0's, in memory */
static uint64_t barriers[2];       /* when this rank left them */
static struct traffic_stamps { uint64_t *sent, *received; uint64_t n; } mine;

static void fail(const char *why)
{
	fprintf(stderr, "traffic: rank %d: %s\n", rank, why);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- FreeZer's packets ------------------------------------------------------------------------*/

static void open_endpoint(const char *host)
{
	uint8_t key[FRZ_KEY_SIZE];
	int port = 0;

	if (rank == 0 && frz_make_key(key) < 0)
		fail("no random key");
	MPI_Bcast(key, sizeof key, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (frz_open(&endpoint, NULL, (uint32_t)rank, key) < 0)
		fail("no socket");
	if (frz_synclog_create(&packets, NULL, 0, "") < 0)
		fail("no memory");
	if (rank == 1)
		port = frz_port(&endpoint);
	MPI_Bcast(&port, 1, MPI_INT, 1, MPI_COMM_WORLD);
	snprintf(address, sizeof address, "%s:%d", host, port);
}

static void exchange_packets(struct frz_burst burst)
{
	if (rank == 1) {
		frz_answer(&endpoint, NULL, ANSWER_NS);
		return;
	}
	frz_ask(&endpoint, address, 1, burst, &packets); /* unanswered: then there are fewer links */
	frz_finish(&endpoint, address, 1, FINISH_NS);
}

/* ---- The program's messages -------------------------------------------------------------------*/

static void leave_barrier(uint64_t *stamp)
{
	MPI_Barrier(MPI_COMM_WORLD);
	*stamp = frz_stamp_fenced();
}

static void pause_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = rand() % MAX_PAUSE_NS }, NULL);
}

static void send_message(enum what what)
{
	pause_a_little();
	mine.sent[mine.n] = frz_stamp_fenced();
	MPI_Send(&what, sizeof what, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
}

static enum what receive_message(void)
{
	enum what what;

	MPI_Recv(&what, sizeof what, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	mine.received[mine.n] = frz_stamp_fenced();
	return what;
}

/* Rank 0 says what is done next. */
static void send_and_receive(uint64_t for_ns)
{
	uint64_t begun = frz_monotonic_raw_ns(), measured = begun;
	enum what what = GO_ON;

	for (; what != STOP && mine.n < MAX_ROUNDS; mine.n++) {
		uint64_t now = frz_monotonic_raw_ns();

		if (rank == 0) {
			bool last = now - begun > for_ns || mine.n == MAX_ROUNDS - 1;

			what = last ? STOP : now - measured > BACKGROUND_NS ? MEASURE : GO_ON;
			send_message(what);
		} else {
			what = receive_message();
		}
		if (what == MEASURE) {
			exchange_packets(now_and_then);
			measured = now;
		}
		if (rank == 0)
			receive_message();
		else
			send_message(what);
	}
}

/* ---- What is written --------------------------------------------------------------------------*/

static void write_packets(FILE *file)
{
	for (size_t i = 0; i < packets.nrecords; i++) {
		struct frz_link links[2];
		unsigned n = frz_sync_links(&packets.records[i], links);

		for (unsigned k = 0; k < n; k++)
			fprintf(file, "packet %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n",
				links[k].from, links[k].sent, links[k].to, links[k].received);
	}
}

static void write_all(const char *path, const struct traffic_stamps *theirs, const uint64_t left[2])
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail("cannot write the file");
	fprintf(file, "ghz %.6f\n", frz_ghz());
	for (int i = 0; i < 2; i++)
		fprintf(file, "barrier %" PRIu64 " %" PRIu64 "\n", barriers[i], left[i]);
	write_packets(file);
	for (uint64_t i = 0; i < mine.n; i++)
		fprintf(file,
			"message 0 %" PRIu64 " 1 %" PRIu64 "\n"
			"message 1 %" PRIu64 " 0 %" PRIu64 "\n",
			mine.sent[i], theirs->received[i], theirs->sent[i], mine.received[i]);
	if (fclose(file))
		fail("cannot write the file");
}

static struct traffic_stamps new_stamps(void)
{
	struct traffic_stamps s = { calloc(MAX_ROUNDS, sizeof *s.sent),
			    calloc(MAX_ROUNDS, sizeof *s.received), 0 };

	if (!s.sent || !s.received)
		fail("no memory");
	return s;
}

/* Rank 1 hands what it has stamped to rank 0. */
static void collect(const char *path)
{
	struct traffic_stamps theirs = new_stamps();
	uint64_t left[2];
	int n = (int)mine.n;

	if (rank == 1) {
		MPI_Send(mine.sent, n, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
		MPI_Send(mine.received, n, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
		MPI_Send(barriers, 2, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(theirs.sent, n, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(theirs.received, n, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(left, 2, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		write_all(path, &theirs, left);
	}
	free(theirs.sent);
	free(theirs.received);
}

int main(int argc, char **argv)
{
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 4 || size != 2)
		fail("usage: mpirun -n 2 traffic SECONDS ADDRESS-OF-RANK-1 FILE");
	mine = new_stamps();
	open_endpoint(argv[2]);
	MPI_Barrier(MPI_COMM_WORLD); /* the first one opens connections */
	leave_barrier(&barriers[0]);
	exchange_packets(at_the_ends);
	send_and_receive((uint64_t)(atof(argv[1]) * 1e9));
	exchange_packets(at_the_ends);
	leave_barrier(&barriers[1]);
	collect(argv[3]);
	frz_close(&endpoint);
	frz_synclog_close(&packets);
	free(mine.sent);
	free(mine.received);
	MPI_Finalize();
	return 0;
}

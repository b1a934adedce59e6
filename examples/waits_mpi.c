/* SPDX-License-Identifier: MIT
 *
 * waits_mpi.c - the ways in which ranks wait for each other, one after the other, each with a cause that is known: one of two
 * ranks is late since it has work to do (a region named after the case), and the other one waits for it.
 *
 *   case             who works        in region         who waits  in             dprof-analyze waits says
 *   late_sender      rank 0           before_send       rank 1     MPI_Recv       late_sender
 *   late_receiver    rank 1           before_recv       rank 0     MPI_Ssend      late_receiver
 *   barrier          rank 1           before_barrier    rank 0     MPI_Barrier    wait_at_barrier
 *   all_to_all       rank 1           before_allreduce  rank 0     MPI_Allreduce  wait_at_nxn
 *   late_broadcast   rank 0, root     before_bcast      rank 1     MPI_Bcast      late_broadcast
 *   early_reduce     rank 1           before_reduce     rank 0     MPI_Reduce     early_reduce
 *   polling          rank 1           before_answer     rank 0     MPI_Test       late_sender
 *
 * Law: when a case begins, both ranks have just ended the one before; so the wait is as long as the work, but for the
 * time that a message takes, and that either of them waits for a core. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/cases.h"

static int rank;

/* What is said does not matter. */
static void send(int to)
{
	MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}

static void receive(int from)
{
	int said;
	MPI_Recv(&said, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_sender(int64_t ns)
{
	if (rank == 0) {
#pragma dprof region(before_send)
		case_work(ns);
		send(1);
	} else {
		receive(0);
	}
}

/* A synchronous send is over when the receiver has come; so is that of any message which is too long to be kept. */
static void late_receiver(int64_t ns)
{
	if (rank == 0) {
		MPI_Ssend(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	} else {
#pragma dprof region(before_recv)
		case_work(ns);
		receive(0);
	}
}

static void barrier(int64_t ns)
{
	if (rank == 1) {
#pragma dprof region(before_barrier)
		case_work(ns);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void all_to_all(int64_t ns)
{
	int sum;
	if (rank == 1) {
#pragma dprof region(before_allreduce)
		case_work(ns);
	}
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void late_broadcast(int64_t ns)
{
	int said = rank;
	if (rank == 0) {
#pragma dprof region(before_bcast)
		case_work(ns);
	}
	MPI_Bcast(&said, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void early_reduce(int64_t ns)
{
	int sum;
	if (rank == 1) {
#pragma dprof region(before_reduce)
		case_work(ns);
	}
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* Who asks again and again in vain waits, too. */
static void polling(int64_t ns)
{
	int said, done = 0;
	MPI_Request request;
	if (rank == 1) {
#pragma dprof region(before_answer)
		case_work(ns);
		send(0);
		return;
	}
	MPI_Irecv(&said, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	static const struct example_case cases[] = {
		{ "late_sender", late_sender, "who sends has work before" },
		{ "late_receiver", late_receiver, "who receives has work before, and a synchronous send waits for it" },
		{ "barrier", barrier, "one of two comes later to a barrier" },
		{ "all_to_all", all_to_all, "one of two comes later to an MPI_Allreduce" },
		{ "late_broadcast", late_broadcast, "the root of a broadcast has work before" },
		{ "early_reduce", early_reduce, "the root of a reduction comes first" },
		{ "polling", polling, "who waits asks MPI_Test again and again" },
		{ 0 },
	};
	int size;
	MPI_Init(&argc, &argv);
	atexit((void (*)(void))MPI_Finalize);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2 && !(argc > 1 && strcmp(argv[1], "--help") == 0)) {
		if (rank == 0)
			fprintf(stderr, "waits_mpi: expected 2 ranks, found %d: mpirun -n 2 %s\n", size, argv[0]);
		return 2;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	cases_run(argc, argv, cases, "Shows how ranks wait for each other. Run it under mpirun -n 2.", rank == 0);
	return 0;
}

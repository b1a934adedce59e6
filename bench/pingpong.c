/* SPDX-License-Identifier: MIT
 *
 * pingpong.c - 8 bytes there and back between two ranks; prints the median time of a message, in ns.
 *
 *   mpirun -n 2 pingpong [ROUNDS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 200 /* there and back, between two looks at the clock */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double batch(int rank)
{
	double data = 0, begin = MPI_Wtime();

	for (int i = 0; i < BATCH; i++)
		if (rank == 0) {
			MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
		}
	return (MPI_Wtime() - begin) / (2 * BATCH);
}

int main(int argc, char **argv)
{
	int rank, rounds = argc > 1 ? atoi(argv[1]) : 200;
	double *times = malloc((size_t)(rounds > 0 ? rounds : 1) * sizeof(*times));

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!times || rounds < 1)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int i = 0; i < rounds; i++)
		times[i] = batch(rank);
	qsort(times, (size_t)rounds, sizeof(*times), by_size);
	if (rank == 0)
		printf("%.1f\n", 1e9 * times[rounds / 2]);
	MPI_Finalize();
	free(times);
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * stencil.c - stencil EDGE STEPS: a cube of EDGE cells a rank, on a periodic grid of ranks; each step exchanges all
 * faces, edges and corners with 26 neighbours, computes the mean of each cell's neighbours, and every tenth one
 * adds up the change of all. Nothing is marked. Rank 0 prints seconds and a checksum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 26 };

static struct { int rank, tag, opposite; int from[3], to[3], halo[3]; double *out, *in; int n; } neighbour[NEIGHBOURS];
static int edge, pitch;
static double *now, *next;

static double *cell(double *cube, int x, int y, int z)
{
	return &cube[((long)x * pitch + y) * pitch + z];
}

/* The cells of a side that go to a neighbour, and those behind the other side that come from there. */
static void side(int i, const int d[3])
{
	neighbour[i].n = 1;
	for (int k = 0; k < 3; k++) {
		neighbour[i].from[k] = d[k] > 0 ? edge : 1;
		neighbour[i].to[k] = d[k] < 0 ? 1 : edge;
		neighbour[i].halo[k] = d[k];
		neighbour[i].n *= neighbour[i].to[k] - neighbour[i].from[k] + 1;
	}
	neighbour[i].out = malloc((size_t)neighbour[i].n * sizeof(double));
	neighbour[i].in = malloc((size_t)neighbour[i].n * sizeof(double));
}

static void find_neighbours(MPI_Comm grid, const int at[3])
{
	int i = 0;

	for (int which = 0; which < 27; which++) {
		int d[3] = { which / 9 - 1, which / 3 % 3 - 1, which % 3 - 1 };
		int there[3] = { at[0] + d[0], at[1] + d[1], at[2] + d[2] };

		if (which == 13)
			continue;
		MPI_Cart_rank(grid, there, &neighbour[i].rank);
		neighbour[i].tag = which;
		neighbour[i].opposite = 26 - which;
		side(i++, d);
	}
}

static void copy_side(int i, double *buffer, int shift, int in)
{
	int n = 0;

	for (int x = neighbour[i].from[0]; x <= neighbour[i].to[0]; x++)
		for (int y = neighbour[i].from[1]; y <= neighbour[i].to[1]; y++)
			for (int z = neighbour[i].from[2]; z <= neighbour[i].to[2]; z++) {
				double *c = cell(now, x + shift * neighbour[i].halo[0],
						 y + shift * neighbour[i].halo[1],
						 z + shift * neighbour[i].halo[2]);

				if (in)
					*c = buffer[n++];
				else
					buffer[n++] = *c;
			}
}

static void exchange(MPI_Comm grid)
{
	MPI_Request requests[2 * NEIGHBOURS];

	for (int i = 0; i < NEIGHBOURS; i++)
		MPI_Irecv(neighbour[i].in, neighbour[i].n, MPI_DOUBLE, neighbour[i].rank, neighbour[i].opposite, grid,
			  &requests[i]);
	for (int i = 0; i < NEIGHBOURS; i++) {
		copy_side(i, neighbour[i].out, 0, 0);
		MPI_Isend(neighbour[i].out, neighbour[i].n, MPI_DOUBLE, neighbour[i].rank, neighbour[i].tag, grid,
			  &requests[NEIGHBOURS + i]);
	}
	MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < NEIGHBOURS; i++)
		copy_side(i, neighbour[i].in, 1, 1);
}

static double compute(void)
{
	double change = 0;

	for (int x = 1; x <= edge; x++)
		for (int y = 1; y <= edge; y++)
			for (int z = 1; z <= edge; z++) {
				double sum = 0, mean;

				for (int i = -1; i <= 1; i++)
					for (int j = -1; j <= 1; j++)
						sum += *cell(now, x + i, y + j, z - 1) + *cell(now, x + i, y + j, z) +
						       *cell(now, x + i, y + j, z + 1);
				mean = sum / 27;
				change += (mean - *cell(now, x, y, z)) * (mean - *cell(now, x, y, z));
				*cell(next, x, y, z) = mean;
			}
	return change;
}

/* The change of all cells in the end. */
static __attribute__((noinline)) double simulate(MPI_Comm grid, int steps)
{
	double change, all = 0;

	for (int step = 1; step <= steps; step++) {
		double *old = now;

		exchange(grid);
		change = compute();
		now = next;
		next = old;
		if (step % 10 == 0)
			MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
	}
	return all;
}

int main(int argc, char **argv)
{
	int size, rank, grid_of[3] = { 0, 0, 0 }, round[3] = { 1, 1, 1 }, at[3];
	int steps = argc == 3 ? atoi(argv[2]) : 0;
	double begin, all;
	MPI_Comm grid;

	MPI_Init(&argc, &argv);
	edge = argc == 3 ? atoi(argv[1]) : 0;
	if (edge < 1 || steps < 1) {
		fputs("usage: stencil EDGE STEPS\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	pitch = edge + 2;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 3, grid_of);
	MPI_Cart_create(MPI_COMM_WORLD, 3, grid_of, round, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_coords(grid, rank, 3, at);
	find_neighbours(grid, at);
	now = calloc((size_t)pitch * (size_t)pitch * (size_t)pitch, sizeof(double));
	next = calloc((size_t)pitch * (size_t)pitch * (size_t)pitch, sizeof(double));
	*cell(now, 1, 1, 1) = 1 + rank;
	MPI_Barrier(grid);
	begin = MPI_Wtime();
	all = simulate(grid, steps);
	MPI_Barrier(grid);
	if (rank == 0)
		printf("%.6f %.9g\n", MPI_Wtime() - begin, all);
	MPI_Finalize();
	return 0;
}

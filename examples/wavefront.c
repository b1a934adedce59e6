/* SPDX-License-Identifier: MIT
 *
 * wavefront.c - the edit distance of two random words by a table that ranks fill row by row, annotated for dprof.
 *
 * A cell needs those above it, left of it and above that. Each rank owns a block of the rows, and fills it from left to right in
 * --blocks pieces; for each it needs the last row of the rank above:
 *
 *   MPI_Recv         that piece of the row above (but rank 0)
 *   region(cells)    the piece; progress(piece)
 *   MPI_Send         its last row to the rank below (but the last one)
 *
 * So a wave goes down and to the right. With one piece there is none: one rank after the other works. With many, messages cost
 * more than cells; and behind a slow rank (--imbalance) all others wait.
 *
 * Law: the distance depends neither on the number of ranks nor on that of the pieces. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/block.h"
#include "examples/common/job.h"
#include "examples/common/option.h"

#define TAG_ROW 1
#define LETTERS 4
enum { KEY_LENGTH = 0x200, KEY_BLOCKS };

struct wavefront {
	struct job job; /* first: the common options */
	long length, blocks;
	struct block own;    /* rows */
	int *table;          /* the row above, and own.count rows, each of 1 + length cells */
};

/* The letter of a word, from its number and place alone. */
static int letter(int word, size_t at)
{
	uint64_t z = (at * 2 + (uint64_t)word + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return (int)((z ^ (z >> 31)) % LETTERS);
}

static int *row_at(const struct wavefront *w, size_t row)
{
	return w->table + row * ((size_t)w->length + 1);
}

static int least(int x, int y, int z)
{
	int least = x < y ? x : y;
	return least < z ? least : z;
}

static void fill(const struct wavefront *w, struct block columns)
{
	int64_t begin_ns = job_work_begin(&w->job);
	size_t cells = w->own.count * columns.count;
	for (size_t row = 1; row <= w->own.count; row++) {
		int *above = row_at(w, row - 1), *own = row_at(w, row);
		for (size_t c = columns.first + 1; c <= columns.first + columns.count; c++) {
			int differ = letter(0, w->own.first + row - 1) != letter(1, c - 1);
			own[c] = least(above[c] + 1, own[c - 1] + 1, above[c - 1] + differ);
		}
	}
	job_work_end(&w->job, begin_ns, cells + job_extra(&w->job, cells));
}

static void sweep(const struct wavefront *w)
{
	for (int b = 0; b < w->blocks; b++) {
		struct block columns = block_of((size_t)w->length, (int)w->blocks, b);
		int n = (int)columns.count, rank = w->job.rank;
		if (rank > 0)
			MPI_Recv(row_at(w, 0) + columns.first + 1, n, MPI_INT, rank - 1, TAG_ROW, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
#pragma dprof region(cells)
		fill(w, columns);
#pragma dprof progress(piece)
		if (rank < w->job.size - 1)
			MPI_Send(row_at(w, w->own.count) + columns.first + 1, n, MPI_INT, rank + 1, TAG_ROW, MPI_COMM_WORLD);
	}
}

/* To make of nothing costs as many letters as there are. */
static void begin(struct wavefront *w)
{
	w->own = block_of((size_t)w->length, w->job.size, w->job.rank);
	w->table = job_alloc((w->own.count + 1) * ((size_t)w->length + 1), sizeof *w->table);
	for (size_t row = 0; row <= w->own.count; row++)
		row_at(w, row)[0] = (int)(w->own.first + row);
	for (int c = 0; !w->job.rank && c <= w->length; c++)
		row_at(w, 0)[c] = c;
}

static const struct argp_option options[] = {
	{ "length", KEY_LENGTH, "N", 0, "of both words (240)", 0 },
	{ "blocks", KEY_BLOCKS, "N", 0, "pieces of a row (12)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wavefront *w = state->input;
	switch (key) {
	case KEY_LENGTH: w->length = option_number(state, "--length", arg, 1, 20000); return 0;
	case KEY_BLOCKS: w->blocks = option_number(state, "--blocks", arg, 1, 20000); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Finds the edit distance of two random words.\v"
		"A unit of work is a cell of the table. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct wavefront w = { .job.no_file = true, .length = 240, .blocks = 12 };
	job_begin(&argc, &argv, &argp, &w);
	begin(&w);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	sweep(&w);
	MPI_Barrier(MPI_COMM_WORLD);
	if (w.job.rank == w.job.size - 1 && !w.job.quiet)
		printf("words of %ld letters, distance %d, %.3f s\n", w.length, row_at(&w, w.own.count)[w.length],
		       MPI_Wtime() - start);
	job_tell_late(&w.job);
	free(w.table);
	return 0;
}

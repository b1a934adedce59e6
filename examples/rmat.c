/* SPDX-License-Identifier: MIT
 *
 * rmat.c - writes a random graph, as large as you like, as SNAP's list of edges.
 *
 * Law: the same scale, edges and seed give the same file, byte for byte, everywhere (examples/common/rmat.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/rmat.h"

enum { DIGITS = 10, LINE = 2 * DIGITS + 2, BATCH = 4096 };

/* The number's digits from *at on, which moves behind them. */
static void put_number(char **at, uint64_t number)
{
	char digits[DIGITS];
	int n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*(*at)++ = digits[--n];
}

static void write_edges(struct rmat *r)
{
	static char text[BATCH * LINE];
	uint64_t count = rmat_count(r);
	printf("# R-MAT graph: scale %ld, %ld edges a node, seed %ld\n# FromNodeId\tToNodeId\n",
	       r->scale, r->edges, r->seed);
	while (count) {
		char *at = text;
		for (int i = 0; i < BATCH && count; i++, count--) {
			struct edge edge = rmat_next(r);
			put_number(&at, edge.from);
			*at++ = '\t';
			put_number(&at, edge.to);
			*at++ = '\n';
		}
		if (!fwrite(text, (size_t)(at - text), 1, stdout))
			return;
	}
}

static const struct argp_option options[] = { RMAT_OPTIONS, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	return rmat_parse(key, arg, state, state->input);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL, "Writes a random graph (R-MAT) as SNAP's list of edges.",
		NULL, NULL, NULL,
	};
	struct rmat r = RMAT_USUAL;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	rmat_begin(&r);
	write_edges(&r);
	if (!ferror(stdout) && !fclose(stdout))
		return 0;
	fprintf(stderr, "rmat: cannot write: %s\n", strerror(errno));
	return 1;
}

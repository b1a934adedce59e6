/* SPDX-License-Identifier: MIT
 *
 * points.h - points in a file: one a line, coordinates separated by commas or blanks.
 *
 * Empty lines and lines that begin with '#' say nothing. Every other line must have as many finite
 * numbers as the first. */
#ifndef EXAMPLES_POINTS_H
#define EXAMPLES_POINTS_H

#include <stdbool.h>
#include <stddef.h>

struct point_set {
	size_t count, dimensions;
	double *x;       /* count rows of dimensions */
	double greatest; /* absolute value of a coordinate */
};

/* Reads a file, plain or gzipped. False when it was refused; then why has been said on stderr.
 * Always to be freed. */
bool points_read(struct point_set *p, const char *name);
void points_free(struct point_set *p);

static inline const double *points_at(const struct point_set *p, size_t i)
{
	return p->x + i * p->dimensions;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * points.c - points in a file: one a line, coordinates separated by commas or blanks. */
#include "examples/common/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/lines.h"

#define GREATEST 1e150 /* so that squared distances are finite */

struct growing {
	struct point_set *points;
	size_t used, room; /* coordinates */
};

static bool append(struct growing *g, struct lines *l, double value)
{
	if (fabs(value) > GREATEST)
		return lines_refuse(l, "expected coordinates up to %g, found %g", GREATEST, value);
	if (g->used == g->room) {
		size_t room = g->room ? 2 * g->room : 1024;
		double *x = reallocarray(g->points->x, room, sizeof *x);
		if (!x)
			return lines_refuse(l, "no memory for more than %zu coordinates", g->used);
		g->points->x = x;
		g->room = room;
	}
	g->points->x[g->used++] = value;
	g->points->greatest = fmax(g->points->greatest, fabs(value));
	return true;
}

/* The point on the line that was just read. */
static bool add_point(struct growing *g, struct lines *l)
{
	struct point_set *p = g->points;
	size_t before = g->used;
	char *at = l->text;
	for (double value; lines_number(l, &at, &value);)
		if (!append(g, l, value))
			break;
	if (l->refused)
		return false;
	size_t found = g->used - before;
	if (!p->count)
		p->dimensions = found;
	if (found != p->dimensions)
		return lines_refuse(l, "expected %zu numbers as in the first point, found %zu",
				    p->dimensions, found);
	p->count++;
	return true;
}

bool points_read(struct point_set *p, const char *name)
{
	struct lines l;
	struct growing g = { .points = p };
	*p = (struct point_set){ 0 };
	if (lines_open(&l, name))
		while (lines_next(&l)) {
			const char *text = l.text + strspn(l.text, " \t");
			if (*text && *text != '#' && !add_point(&g, &l))
				break;
		}
	if (!l.refused && !p->count)
		lines_refuse(&l, "expected points, found none");
	lines_close(&l);
	return !l.refused;
}

void points_free(struct point_set *p)
{
	free(p->x);
	p->x = NULL;
}

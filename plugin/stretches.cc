/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stretches.cc - `#pragma dprof off` and `on`.
 *
 * Law: a place is off if the last directive of the two above it, in the order in which the compiler reads
 * its files, is `off`. Bodies of classes are parsed later than what follows them, so the directives
 * are kept in that order and not in the order in which they arrive. */
#include "plugin/parts.h"

static struct region_switch {
	location_t where;
	bool on;
} *changes;
static unsigned count;

/* How many of the changes stand before this place. */
static unsigned before(location_t where)
{
	unsigned n = count;
	while (n && linemap_compare_locations(line_table, changes[n - 1].where, where) <= 0)
		n--;
	return n;
}

void stretches_add(location_t where, bool on)
{
	unsigned n = before(where);
	if (n < count && changes[n].where == where)
		return; /* parsed twice */
	changes = XRESIZEVEC(struct region_switch, changes, count + 1);
	memmove(changes + n + 1, changes + n, (count - n) * sizeof *changes);
	changes[n] = { where, on };
	count++;
}

bool stretches_off(location_t where)
{
	if (!count || where == UNKNOWN_LOCATION)
		return false;
	unsigned n = before(where);
	return n && !changes[n - 1].on;
}

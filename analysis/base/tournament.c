/* SPDX-License-Identifier: MIT
 *
 * tournament.c - the leaves that have changed. */
#include "analysis/base/tournament.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

void tournament_open(struct tournament *t, size_t n)
{
	*t = (struct tournament){ .n = n, .changed = mem_resize(NULL, n + 1, sizeof *t->changed),
				  .is_changed = mem_resize(NULL, n + 1, sizeof *t->is_changed) };
	for (size_t i = 0; i < n; i++) {
		t->is_changed[i] = false;
		tournament_change(t, i);
	}
}

void tournament_close(struct tournament *t)
{
	free(t->changed);
	free(t->is_changed);
}

/* SPDX-License-Identifier: MIT
 *
 * match_log.c - matches one behind the other, and their parts likewise. */
#include "analysis/match/match_log.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/spill.h"

struct match_log {
	struct spill *spill;
	struct match *matches; size_t nmatches;
	struct match_part *parts; size_t nparts;
	size_t match, part;      /* the next ones to be read */
	struct match_tally tally;
	bool full;
};

struct match_log *match_log_open(void)
{
	struct match_log *l = mem_resize(NULL, 1, sizeof *l);
	*l = (struct match_log){ .spill = spill_open(2) };
	return l;
}

void match_log_close(struct match_log *l)
{
	if (!l)
		return;
	spill_close(l->spill);
	free(l);
}

bool match_log_is_full(const struct match_log *l)
{
	return l && l->full;
}

void match_log_begin(struct match_log *l)
{
	l->match = l->part = 0;
	if (!l->full)
		l->nmatches = l->nparts = 0;
}

void match_log_put(struct match_log *l, const struct match *m)
{
	*SPILL_GROW(l->spill, l->matches, l->nmatches) = *m;
	for (size_t i = 0; i < m->nparts; i++)
		*SPILL_GROW(l->spill, l->parts, l->nparts) = m->parts[i];
	spill_relax(l->spill);
}

void match_log_fill(struct match_log *l, const struct match_tally *tally)
{
	l->tally = *tally;
	l->full = true;
}

bool match_log_next(struct match_log *l, struct match *m)
{
	if (l->match == l->nmatches)
		return false;
	*m = l->matches[l->match++];
	m->parts = l->parts + l->part;
	l->part += m->nparts;
	spill_relax(l->spill);
	return true;
}

const struct match_tally *match_log_tally(const struct match_log *l)
{
	return &l->tally;
}

void match_log_end(struct match_log *l)
{
	spill_rest(l->spill);
}

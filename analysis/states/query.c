/* SPDX-License-Identifier: MIT
 *
 * query.c - what a condition's value is. Numbers and conditions are intervals alike; a condition's
 * are [0,0], [1,1] and [0,1]. */
#include "analysis/states/query_private.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

/* ---- Atoms and counts ------------------------------------------------------------------------ */

static bool same_atom(const struct query *q, const struct query_atom *x, const struct query_atom *y)
{
	return x->what == y->what && x->innermost == y->innermost &&
	       x->one_instance == y->one_instance && x->instance == y->instance &&
	       (x->what != ATOM_SITES ||
		memcmp(x->sites, y->sites, q->trace->nsites * sizeof *x->sites) == 0);
}

uint32_t query_add_atom(struct query *q, struct query_atom atom)
{
	uint32_t i = 0;
	while (i < q->natoms && !same_atom(q, &q->atoms[i], &atom))
		i++;
	if (i < q->natoms || i == QUERY_ATOMS) {
		free(atom.sites);
		return i < QUERY_ATOMS ? i : UINT32_MAX;
	}
	q->atoms[q->natoms++] = atom;
	return i;
}

uint32_t query_add_count(struct query *q, struct query_count count)
{
	uint32_t i = 0;
	while (i < q->ncounts &&
	       !(q->counts[i].atom == count.atom && q->counts[i].ranks == count.ranks &&
		 memcmp(q->counts[i].threads, count.threads,
			q->trace->nthreads * sizeof *count.threads) == 0))
		i++;
	if (i < q->ncounts || i == QUERY_COUNTS) {
		free(count.threads);
		return i < QUERY_COUNTS ? i : UINT32_MAX;
	}
	q->counts[q->ncounts++] = count;
	return i;
}

void query_close(struct query *q)
{
	for (uint32_t i = 0; i < q->natoms; i++)
		free(q->atoms[i].sites);
	for (uint32_t i = 0; i < q->ncounts; i++)
		free(q->counts[i].threads);
	for (size_t i = 0; i < q->nnotes; i++)
		free(q->notes[i]);
	free(q->notes);
	free(q->nodes);
}

/* ---- Values ---------------------------------------------------------------------------------- */

struct query_value { int64_t lo, hi; };

static int64_t clamp(__int128 x)
{
	return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

static struct query_value product(struct query_value x, struct query_value y)
{
	__int128 corner[] = { (__int128)x.lo * y.lo, (__int128)x.lo * y.hi, (__int128)x.hi * y.lo,
			      (__int128)x.hi * y.hi };
	__int128 lo = corner[0], hi = corner[0];
	for (int i = 1; i < 4; i++) {
		lo = corner[i] < lo ? corner[i] : lo;
		hi = corner[i] > hi ? corner[i] : hi;
	}
	return (struct query_value){ clamp(lo), clamp(hi) };
}

static struct query_value less(struct query_value x, struct query_value y, bool or_equal)
{
	return (struct query_value){ x.hi < y.lo || (or_equal && x.hi == y.lo),
			       x.lo < y.hi || (or_equal && x.lo == y.hi) };
}

static struct query_value equal(struct query_value x, struct query_value y)
{
	return (struct query_value){ x.lo == x.hi && y.lo == y.hi && x.lo == y.lo,
			       x.lo <= y.hi && y.lo <= x.hi };
}

static struct query_value not(struct query_value x)
{
	return (struct query_value){ !x.hi, !x.lo };
}

static struct query_value apply(enum query_op op, struct query_value x, struct query_value y)
{
	switch (op) {
	case OP_PLUS:
		return (struct query_value){ clamp((__int128)x.lo + y.lo), clamp((__int128)x.hi + y.hi) };
	case OP_MINUS:
		return (struct query_value){ clamp((__int128)x.lo - y.hi), clamp((__int128)x.hi - y.lo) };
	case OP_TIMES: return product(x, y);
	case OP_EQ: return equal(x, y);
	case OP_NE: return not(equal(x, y));
	case OP_LT: return less(x, y, false);
	case OP_LE: return less(x, y, true);
	case OP_GT: return less(y, x, false);
	case OP_GE: return less(y, x, true);
	case OP_NOT: return not(x);
	case OP_AND: return (struct query_value){ x.lo && y.lo, x.hi && y.hi };
	default: return (struct query_value){ x.lo || y.lo, x.hi || y.hi };
	}
}

bool query_asks_roles(const struct query *q)
{
	bool asks = false;
	for (uint32_t i = 0; i < q->natoms; i++)
		asks |= q->atoms[i].what == ATOM_WORKING || q->atoms[i].what == ATOM_WAITING;
	return asks;
}

enum query_verdict query_verdict(const struct query *q, const int32_t *lo, const int32_t *hi)
{
	struct query_value values[QUERY_NODES];
	for (size_t i = 0; i < q->nnodes; i++) {
		const struct query_node *n = &q->nodes[i];
		values[i] = n->op == OP_NUMBER ? (struct query_value){ n->number, n->number } :
			    n->op == OP_COUNT  ? (struct query_value){ lo[n->number], hi[n->number] } :
						 apply(n->op, values[n->left], values[n->right]);
	}
	struct query_value whole = values[q->nnodes - 1];
	return whole.lo ? QUERY_YES : whole.hi ? QUERY_MAYBE : QUERY_NO;
}

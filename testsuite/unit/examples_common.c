/* SPDX-License-Identifier: MIT
 *
 * examples_common.c - what the examples share: blocks, sums in integers, points and graphs from
 * text. */
#include <unistd.h>
#include <zlib.h>

#include "examples/common/block.h"
#include "examples/common/fixed.h"
#include "examples/common/graph.h"
#include "examples/common/points.h"
#include "testsuite/unit/unit.h"

static double uniform(double low, double high)
{
	return low + (high - low) * drand48();
}

static size_t below(size_t n)
{
	return (size_t)(drand48() * (double)n);
}

START_TEST(blocks_cover_everything_once)
{
	for (int round = 0; round < 2000; round++) {
		size_t count = below(100), next = 0;
		int parts = 1 + (int)below(20);
		for (int p = 0; p < parts; p++) {
			struct block b = block_of(count, parts, p);
			ck_assert_uint_eq(b.first, next);
			ck_assert(b.count == count / parts || b.count == count / parts + 1);
			next += b.count;
		}
		ck_assert_uint_eq(next, count);
	}
}
END_TEST

START_TEST(a_sum_does_not_depend_on_the_order)
{
	double term[300];
	for (int round = 0; round < 2000; round++) {
		size_t count = 1 + below(300);
		double greatest = ldexp(uniform(0.5, 1), (int)below(1800) - 900);
		struct fixed f = fixed_for(greatest, count);
		int64_t forth = 0, back = 0;
		long double exact = 0; /* as far as this test needs it */
		for (size_t i = 0; i < count; i++) {
			term[i] = below(3) ? uniform(-greatest, greatest) : greatest;
			forth += fixed_from(f, term[i]);
			exact += term[i];
		}
		for (size_t i = count; i-- > 0;)
			back += fixed_from(f, term[i]);
		ck_assert_int_eq(forth, back);
		double most = (double)count * ldexp(greatest * (double)count, -60) +
			      fabs((double)exact) * 1e-15;
		ck_assert_msg(fabs(fixed_value(f, forth) - (double)exact) <= most,
			      "SEED=%" PRIu64 ": %zu terms up to %g: %.17g, not %.17Lg", unit_seed,
			      count, greatest, fixed_value(f, forth), exact);
	}
}
END_TEST

START_TEST(the_greatest_sum_fits)
{
	for (int round = 0; round < 2000; round++) {
		size_t count = 1 + below((size_t)1 << below(40));
		double greatest = ldexp(uniform(0.5, 1), (int)below(1800) - 900);
		struct fixed f = fixed_for(greatest, count);
		ck_assert((__int128)fixed_from(f, greatest) * (__int128)count <= INT64_MAX);
	}
	ck_assert_int_eq(fixed_from(fixed_for(0, 1000), 0), 0);
	ck_assert(isfinite(fixed_for(5e-324, 1).up));
}
END_TEST

/* Writes rows of random numbers with random separators, some of them gzipped. */
static void write_rows(const char *name, const double *x, size_t count, size_t dimensions)
{
	static const char *const separators[] = { ",", " ", "\t", " , ", "  ", ", " };
	gzFile f = gzopen(name, below(2) ? "wb" : "wbT");
	for (size_t i = 0; i < count; i++) {
		if (!below(5))
			gzputs(f, below(2) ? "\n" : " # a remark\n");
		for (size_t j = 0; j < dimensions; j++)
			gzprintf(f, "%s%.17g", j ? separators[below(6)] : below(2) ? "" : " ",
				 x[i * dimensions + j]);
		gzputs(f, i + 1 == count && below(2) ? "" : below(2) ? "\n" : " \r\n");
	}
	gzclose(f);
}

START_TEST(points_come_back_as_they_were_written)
{
	char name[] = "/tmp/examples-points-XXXXXX";
	close(mkstemp(name));
	for (int round = 0; round < 200; round++) {
		size_t count = 1 + below(30), dimensions = 1 + (below(20) ? below(9) : below(3000));
		double *x = calloc(count * dimensions, sizeof *x);
		for (size_t i = 0; i < count * dimensions; i++)
			x[i] = uniform(-1, 1) * ldexp(1, (int)below(200) - 100);
		write_rows(name, x, count, dimensions);
		struct point_set p;
		ck_assert_msg(points_read(&p, name), "SEED=%" PRIu64 "", unit_seed);
		ck_assert_uint_eq(p.count, count);
		ck_assert_uint_eq(p.dimensions, dimensions);
		for (size_t i = 0; i < count * dimensions; i++)
			ck_assert_msg(p.x[i] == x[i], "SEED=%" PRIu64 ": %.17g became %.17g",
				      unit_seed, x[i], p.x[i]);
		points_free(&p);
		free(x);
	}
	unlink(name);
}
END_TEST

struct listed {
	size_t count;
	uint32_t (*edge)[2]; /* ids */
};

/* Writes random edges among few ids, dense or anywhere, many of them twice. */
static struct listed write_edges(const char *name)
{
	static const char *const blanks[] = { " ", "\t", " \t  " };
	size_t ids = 1 + below(30), width = below(2) ? ids : (size_t)1 << (below(100) ? 20 : 32);
	struct listed l = { .count = 1 + below(100) };
	uint32_t id[30];
	l.edge = calloc(l.count, sizeof *l.edge);
	for (size_t i = 0; i < ids; i++)
		id[i] = (uint32_t)below(width);
	id[0] = (uint32_t)(width - 1);
	gzFile f = gzopen(name, below(2) ? "wb" : "wbT");
	for (size_t i = 0; i < l.count; i++) {
		l.edge[i][0] = id[below(ids)];
		l.edge[i][1] = id[below(ids)];
		if (!below(5))
			gzputs(f, below(2) ? "\n" : "\t# a remark\r\n");
		gzprintf(f, "%s%u%s%u%s", blanks[below(3)] + 1, l.edge[i][0], blanks[below(3)],
			 l.edge[i][1], i + 1 == l.count && below(2) ? "" : "\t \r\n");
	}
	gzclose(f);
	return l;
}

/* Every edge has the numbers of its ids; the ids ascend, and each of them occurs. */
static void check_numbers(const struct listed *l, const struct edge_list *e)
{
	bool occurs[60] = { false };
	ck_assert_uint_eq(e->count, l->count);
	ck_assert_uint_le(e->nodes, 60);
	for (size_t i = 0; i < e->count; i++) {
		ck_assert_msg(e->id[e->edge[i].from] == l->edge[i][0] &&
			      e->id[e->edge[i].to] == l->edge[i][1],
			      "SEED=%" PRIu64 ": edge %zu", unit_seed, i);
		occurs[e->edge[i].from] = occurs[e->edge[i].to] = true;
	}
	for (size_t n = 0; n < e->nodes; n++)
		ck_assert_msg(occurs[n] && (!n || e->id[n - 1] < e->id[n]),
			      "SEED=%" PRIu64 ": id %zu", unit_seed, n);
}

/* Whether the edge is listed. */
static bool is_listed(const struct listed *l, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->edge[i][0] == from && l->edge[i][1] == to)
			return true;
	return false;
}

/* Node by node and pair by pair. */
static void check_graph(const struct listed *l, const struct adjacency *g, const uint32_t *id,
			bool both)
{
	size_t pairs = 0;
	for (size_t to = 0; to < g->rows; to++) {
		uint32_t n = g->start[to];
		for (uint32_t from = 0; from < g->rows; from++) {
			bool wanted = is_listed(l, id[from], id[to]) ||
				      (both && is_listed(l, id[to], id[from]));
			bool found = n < g->start[to + 1] && g->neighbour[n] == from;
			ck_assert_msg(found == wanted, "SEED=%" PRIu64 ": %u to %u", unit_seed, id[from],
				      id[to]);
			n += found;
			pairs += found;
		}
		ck_assert_msg(n == g->start[to + 1], "SEED=%" PRIu64 ": neighbours twice", unit_seed);
	}
	ck_assert_uint_eq(g->start[g->rows], pairs);
}

START_TEST(a_graph_has_every_edge_once)
{
	char name[] = "/tmp/examples-edges-XXXXXX";
	close(mkstemp(name));
	for (int round = 0; round < 200; round++) {
		bool both = below(2);
		struct listed l = write_edges(name);
		struct edge_list e;
		struct adjacency g;
		ck_assert_msg(edges_read(&e, name), "SEED=%" PRIu64 "", unit_seed);
		check_numbers(&l, &e);
		ck_assert(graph_build(&g, &e, both ? GRAPH_BOTH : GRAPH_BACKWARD));
		check_graph(&l, &g, e.id, both);
		graph_free(&g);
		edges_free(&e);
		free(l.edge);
	}
	unlink(name);
}
END_TEST

/* The work of the greatest of so many parts when rows from `first` on are divided best: all ways
 * tried. */
static size_t best(const struct adjacency *g, size_t first, int parts)
{
	size_t least = graph_work(g, g->rows) - graph_work(g, first);
	for (size_t next = first; parts > 1 && next <= g->rows; next++) {
		size_t here = graph_work(g, next) - graph_work(g, first);
		size_t rest = here < least ? best(g, next, parts - 1) : here;
		size_t greatest = here > rest ? here : rest;
		least = greatest < least ? greatest : least;
	}
	return least;
}

START_TEST(parts_of_a_graph_are_as_equal_as_can_be)
{
	for (int round = 0; round < 2000; round++) {
		uint32_t start[13] = { (uint32_t)below(5) }; /* its first row may be any */
		struct adjacency g = { .rows = below(13), .start = start };
		for (size_t i = 0; i < g.rows; i++)
			start[i + 1] = start[i] + (uint32_t)(below(4) ? below(10) : below(100));
		int parts = 1 + (int)below(5);
		size_t next = 0, greatest = 0;
		for (int p = 0; p < parts; p++) {
			struct block b = graph_part(&g, parts, p);
			size_t work = graph_block_work(&g, b);
			ck_assert_uint_eq(b.first, next);
			next += b.count;
			greatest = work > greatest ? work : greatest;
		}
		ck_assert_uint_eq(next, g.rows);
		ck_assert_msg(greatest == best(&g, 0, parts),
			      "SEED=%" PRIu64 ": %zu of %zu rows", unit_seed,
			      greatest, g.rows);
	}
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(900, UNIT_ANEW);

	srand48((long)unit_seed);
	tcase_add_test(laws, blocks_cover_everything_once);
	tcase_add_test(laws, a_sum_does_not_depend_on_the_order);
	tcase_add_test(laws, the_greatest_sum_fits);
	tcase_add_test(laws, points_come_back_as_they_were_written);
	tcase_add_test(laws, a_graph_has_every_edge_once);
	tcase_add_test(laws, parts_of_a_graph_are_as_equal_as_can_be);
	return unit_end();
}

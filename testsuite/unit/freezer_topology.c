/* SPDX-License-Identifier: MIT
 *
 * freezer_topology.c - the law of topology.h, for every shape and many numbers of hosts. */
#include <errno.h>
#include <stdbool.h>

#include "freezer/topology.h"
#include "testsuite/unit/unit.h"

#define MOST 200

static uint32_t parent[MOST];

static uint32_t root_of(uint32_t h)
{
	return parent[h] == h ? h : root_of(parent[h]);
}

static void check_law(struct frz_topology t, uint32_t n, uint32_t most_rounds)
{
	static bool joined[MOST][MOST];
	static uint32_t busy[MOST]; /* 1 + the latest round in which a host had a peer */
	struct frz_edge *e;
	size_t nedges;
	uint32_t parts = n;

	ck_assert_int_eq(frz_topology_edges(t, n, &e, &nedges), 0);
	memset(joined, 0, sizeof joined);
	memset(busy, 0, sizeof busy);
	for (uint32_t h = 0; h < n; h++)
		parent[h] = h;
	for (size_t i = 0; i < nedges; i++) {
		uint32_t a = e[i].asker, b = e[i].answerer;

		ck_assert_uint_lt(a, b);
		ck_assert_uint_lt(b, n);
		ck_assert(!joined[a][b]);
		joined[a][b] = true;
		ck_assert(!i || e[i - 1].round <= e[i].round);
		ck_assert_msg(busy[a] <= e[i].round && busy[b] <= e[i].round,
			      "hosts %u and %u of %u: one is busy in round %u", a, b, n,
			      e[i].round);
		busy[a] = busy[b] = e[i].round + 1;
		ck_assert_uint_lt(e[i].round, most_rounds);
		parts -= root_of(a) != root_of(b);
		parent[root_of(a)] = root_of(b);
	}
	ck_assert_uint_eq(parts, n ? 1 : 0);
	free(e);
}

START_TEST(every_shape_obeys_the_law)
{
	for (uint32_t n = 1; n < MOST; n += 1 + n / 16) {
		check_law((struct frz_topology){ .shape = FRZ_STAR }, n, n);
		check_law((struct frz_topology){ .shape = FRZ_MESH }, n, 2 * n);
		for (uint32_t b = 1; b <= 8; b++)
			check_law((struct frz_topology){ FRZ_TREE, b }, n, b + 1);
	}
}
END_TEST

START_TEST(a_mesh_has_the_links_it_states)
{
	struct frz_edge *e;
	size_t nedges;

	for (uint32_t n = 2; n < 20; n++) {
		frz_topology_edges((struct frz_topology){ .shape = FRZ_MESH }, n, &e, &nedges);
		ck_assert_uint_eq(nedges, n <= FRZ_MESH_ALL ? n * (n - 1) / 2 : 2 * (n - 1));
		free(e);
	}
}
END_TEST

START_TEST(words_are_understood_or_refused)
{
	static const char *const bad[] = { "", "stars", "tree", "tree:", "tree:0", "tree:-1",
					   "tree:2x", "tree:99999", "tree: 2", "mesh:2", "ring" };
	struct frz_topology t;

	ck_assert_int_eq(frz_topology_parse("star", &t), 0);
	ck_assert_int_eq(t.shape, FRZ_STAR);
	ck_assert_int_eq(frz_topology_parse("mesh", &t), 0);
	ck_assert_int_eq(t.shape, FRZ_MESH);
	ck_assert_int_eq(frz_topology_parse("tree:3", &t), 0);
	ck_assert(t.shape == FRZ_TREE && t.branching == 3);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(frz_topology_parse(bad[i], &t) == -EINVAL, "'%s'", bad[i]);
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, 0);

	tcase_add_test(tests, every_shape_obeys_the_law);
	tcase_add_test(tests, a_mesh_has_the_links_it_states);
	tcase_add_test(tests, words_are_understood_or_refused);
	return unit_end();
}

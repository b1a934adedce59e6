/* SPDX-License-Identifier: MIT
 *
 * analysis_audit.c - verdicts on claims (audit.h), beside all true values that the bounds leave: random shares of a run
 * of 100 s. */
#include "unit.h"

#include <math.h>

#include "analysis/audit/audit.h"
#include "analysis/base/memory.h"
#include "freezer_random.h"

#define MOST 5
#define TRUTHS 200

static double uniform(double least, double most)
{
	return least + (most - least) * (double)below(UINT64_C(1) << 40) / (double)(UINT64_C(1) << 40);
}

static void add(struct quantities *q, enum quantity_kind kind, size_t rank, double lo, double hi)
{
	char *name = kind == QUANTITY_RUN ? mem_copy("run") : mem_format("rank %zu", rank);
	*MEM_GROW(q->v, q->n) = (struct quantity){ kind, name, NULL, { lo, hi }, false };
}

static void drop(struct quantities *q)
{
	for (size_t i = 0; i < q->n; i++)
		free(q->v[i].name);
	free(q->v);
}

static const struct audit_claim *find(const struct audit *a, const char *words)
{
	for (size_t i = 0; i < a->n; i++)
		if (strstr(a->claims[i].text, words))
			return &a->claims[i];
	return NULL;
}

struct audit_tally { size_t yes, no; };

static void must_agree(const struct audit_claim *c, struct audit_tally truths)
{
	ck_assert_msg(c->verdict != AUDIT_HOLDS || truths.no == 0, "%s: holds, but not always", c->text);
	ck_assert_msg(c->verdict != AUDIT_FLIPS || truths.yes == 0, "%s: flips, but not always", c->text);
}

/* Of narrow bounds that are far from each other more is known than "undecided". */
START_TEST(verdicts_hold_for_all_truths)
{
	size_t decided[2][3] = { { 0 } };
	for (uint64_t i = 0; i < unit_times(3000); i++) {
		random_begin(unit_seed + i);
		struct quantities recorded = { .sound = true, .related = true }, bounds = recorded;
		size_t n = 2 + below(MOST - 1), first = 0;
		double lo[MOST], hi[MOST], said[MOST], width = below(2) ? 0.5 : 20;
		add(&recorded, QUANTITY_RUN, 0, 100, 100);
		add(&bounds, QUANTITY_RUN, 0, 100, 100);
		for (size_t k = 0; k < n; k++) {
			said[k] = uniform(0, 40);
			lo[k] = below(3) ? fmax(0, said[k] - uniform(0, width)) : uniform(0, 40);
			hi[k] = lo[k] + uniform(0, width);
			add(&recorded, QUANTITY_SCORE, k, said[k], said[k]);
			add(&bounds, QUANTITY_SCORE, k, lo[k], hi[k]);
			first = said[k] > said[first] ? k : first;
		}
		struct audit a;
		struct audit_tally longest = { 0, 0 }, share = { 0, 0 };
		audit_open(&a, &recorded, &bounds, n);
		for (size_t t = 0; t < TRUTHS; t++) {
			double truth[MOST];
			bool is = true;
			for (size_t k = 0; k < n; k++)
				truth[k] = t == 0 ? lo[k] : t == 1 ? hi[k] : t == 2 ? (k == first ? lo[k] : hi[k]) : t == 3 ? (k == first ? hi[k] : lo[k])
												      : uniform(lo[k], hi[k]);
			for (size_t k = 0; k < n; k++)
				is &= k == first || truth[k] < truth[first];
			bool near = fabs(truth[first] - said[first]) <= AUDIT_POINTS;
			longest.yes += is, longest.no += !is;
			share.yes += near, share.no += !near;
		}
		const struct audit_claim *c = find(&a, "longest"), *s = find(&a, "others wait for");
		if (said[first] >= AUDIT_POINTS) {
			ck_assert_ptr_nonnull(c);
			ck_assert_ptr_nonnull(s);
			must_agree(c, longest);
			must_agree(s, share);
			decided[0][c->verdict]++;
			decided[1][s->verdict]++;
		}
		audit_close(&a);
		drop(&recorded);
		drop(&bounds);
	}
	for (int claim = 0; claim < 2; claim++)
		for (int v = 0; v < 3; v++)
			ck_assert_msg(decided[claim][v] > 100, "claim %d %s: only %zu times", claim, audit_word(v),
				      decided[claim][v]);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, UNIT_ANEW);

	tcase_add_test(laws, verdicts_hold_for_all_truths);
	return unit_end();
}

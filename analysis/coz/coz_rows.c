/* SPDX-License-Identifier: MIT
 *
 * coz_rows.c - see coz_rows.h. */
#include "analysis/coz/coz_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/coz/coz.h"

/* The first site of a row; nsites: it has none. */
static size_t site_of(const struct coz_question *q, size_t row, size_t nsites)
{
	size_t site = 0;
	while (site < nsites && q->row_of_site[site] != row)
		site++;
	return site;
}

static bool same_sites(const struct coz_question *p, size_t of_p, const struct coz_question *q, size_t of_q, size_t nsites)
{
	bool same = true;
	for (size_t site = 0; site < nsites && same; site++)
		same = (p->row_of_site[site] == of_p) == (q->row_of_site[site] == of_q);
	return same;
}

/* The row of time that follows the sites of a question's row already; or TR_NO_SITE. */
static uint32_t find_row(const uint32_t *const *row_of, const struct coz_question *questions, size_t question, size_t row,
			 size_t nsites)
{
	const struct coz_question *q = &questions[question];
	size_t site = site_of(q, row, nsites);
	for (size_t k = 0; k < question && site < nsites; k++) {
		uint32_t other = questions[k].row_of_site[site];
		if (other != TR_NO_SITE && same_sites(q, row, &questions[k], other, nsites))
			return row_of[k][other];
	}
	return TR_NO_SITE;
}

/* The rows of each site are those of the questions, each once. */
static void list_rows(struct coz_rows *r, const struct coz_question *questions, uint32_t *const *row_of)
{
	uint32_t n = 0;
	for (size_t site = 0; site < r->nsites; site++) {
		r->first[site] = n;
		for (size_t k = 0; k < r->nquestions; k++) {
			uint32_t row = questions[k].row_of_site[site];
			if (row == TR_NO_SITE)
				continue;
			uint32_t i = r->first[site];
			while (i < n && r->of_site[i] != row_of[k][row])
				i++;
			r->of_site[i] = row_of[k][row];
			n += i == n;
		}
	}
	r->first[r->nsites] = n;
}

void coz_rows_open(struct coz_rows *r, const struct coz_question *questions, size_t nquestions, size_t nsites)
{
	uint32_t *row_of[32], region = 0;
	size_t most = 0;
	assert(nquestions <= 32);
	for (size_t k = 0; k < nquestions; k++)
		most += questions[k].nrows;
	*r = (struct coz_rows){ .nquestions = nquestions, .nsites = nsites,
				.first = mem_resize(NULL, nsites + 1, sizeof *r->first),
				.of_site = mem_resize(NULL, nsites * nquestions + 1, sizeof *r->of_site),
				.asks = mem_resize(NULL, most + 1, sizeof *r->asks),
				.region = mem_resize(NULL, most * nquestions + 1, sizeof *r->region) };
	memset(r->region, 0xff, most * nquestions * sizeof *r->region);
	for (size_t k = 0; k < nquestions; k++) {
		row_of[k] = mem_resize(NULL, questions[k].nrows + 1, sizeof *row_of[k]);
		for (size_t row = 0; row < questions[k].nrows; row++) {
			uint32_t found = find_row((const uint32_t *const *)row_of, questions, k, row, nsites);
			if (found == TR_NO_SITE)
				r->asks[found = (uint32_t)r->n++] = 0;
			row_of[k][row] = found;
			r->asks[found] |= UINT32_C(1) << k;
			r->region[found * nquestions + k] = region++;
		}
	}
	list_rows(r, questions, row_of);
	for (size_t k = 0; k < nquestions; k++)
		free(row_of[k]);
}

void coz_rows_close(struct coz_rows *r)
{
	free(r->first);
	free(r->of_site);
	free(r->asks);
	free(r->region);
}

/* SPDX-License-Identifier: MIT
 *
 * coz_rows.h - whose time is followed where several questions are asked at once.
 *
 * Each question has rows: sites whose time is in question together. A *row of time* is followed for all questions'
 * rows of the same sites, and cut for each question that asks about the thread. So a site has a row of time, or a few.
 * A question's rows have scenarios of their own: each is a *region* of the savings. */
#ifndef ANALYSIS_COZ_ROWS_H
#define ANALYSIS_COZ_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct coz_question;

struct coz_rows {
	size_t nquestions, n;
	size_t nsites;
	uint32_t *first;     /* of each site, and behind the last: into */
	uint32_t *of_site;   /* its rows */
	uint32_t *asks;      /* of each row: bits of the questions that ask about it */
	uint32_t *region;    /* of each row, for each question; TR_NO_SITE where that does not ask */
};

/* Regions are numbered question by question. At most 32 questions. */
void coz_rows_open(struct coz_rows *, const struct coz_question *, size_t nquestions, size_t nsites);
void coz_rows_close(struct coz_rows *);

#endif

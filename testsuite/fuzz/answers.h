/* SPDX-License-Identifier: MIT
 *
 * answers.h - the intervals that a command of dprof-analyze printed as JSON, each under the name of what it
 * says: "threads/rank=0,thread=1/straggler_percent". */
#ifndef TESTSUITE_ANSWERS_H
#define TESTSUITE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

struct fuzz_answer { char *name; double lo, hi; };
struct answers { struct fuzz_answer *at; size_t n; };

/* False with a message in `wrong` (256 bytes) if the text is no JSON. To be freed. */
bool answers_read(struct answers *, const char *text, size_t size, char *wrong);
void answers_free(struct answers *);

/* Of two answers to one question that cannot both be true, the first; NULL if there is none. *other: the one
 * of `b`. Seconds may differ by that part of them: those of a trace without its base clock are ticks of another one. */
const struct fuzz_answer *answers_disjoint(const struct answers *a, const struct answers *b, double seconds,
				      const struct fuzz_answer **other);

#endif

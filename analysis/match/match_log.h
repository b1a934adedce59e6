/* SPDX-License-Identifier: MIT
 *
 * match_log.h - what a walk keeps, for the walks behind it (match.h). */
#ifndef ANALYSIS_MATCH_LOG_H
#define ANALYSIS_MATCH_LOG_H

#include "analysis/match/match.h"

/* A walk begins: to read if the log is full, else to put in all matches anew and then fill it. */
void match_log_begin(struct match_log *);
void match_log_put(struct match_log *, const struct match *);
void match_log_fill(struct match_log *, const struct match_tally *);
bool match_log_next(struct match_log *, struct match *);
const struct match_tally *match_log_tally(const struct match_log *);
void match_log_end(struct match_log *);

#endif

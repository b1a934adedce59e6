/* SPDX-License-Identifier: MIT
 *
 * machine.h - what the machine did to the threads, which the program did not cause: who could have run, and
 * waited for a core that something else had.
 *
 * Said of a thread for which that is certainly so for at least MACHINE_PERCENT of the run. */
#ifndef ANALYSIS_MACHINE_H
#define ANALYSIS_MACHINE_H

#include "analysis/base/json.h"
#include "analysis/report/findings.h"

#define MACHINE_PERCENT 5.0

/* A note for each of the worst, or nothing; `begin` is called before the first one. */
void machine_print(const struct findings *, void (*begin)(const char *heading));

/* An array of all threads of which the kernel told it. */
void machine_json(struct json *, const char *key, const struct findings *);

#endif

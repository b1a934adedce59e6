/* SPDX-License-Identifier: MIT
 *
 * clock_methods.h - what another method makes of the same clocks, beside the proven bounds.
 *
 * A comparison, not an analysis: what is printed here is not proven, and not rounded outward. */
#ifndef ANALYSIS_CLOCK_METHODS_H
#define ANALYSIS_CLOCK_METHODS_H

#include "analysis/base/json.h"
#include "analysis/clocks/times.h"

/* NULL: there is no method of that name; then a sentence on stderr has said which there are. */
const struct baseline_method *clock_method(const char *name);

void clock_methods_json(struct json *, const char *key, const struct times *,
			const struct baseline_method *);
void clock_methods_print(const struct times *, const struct baseline_method *);

#endif

/* SPDX-License-Identifier: MIT
 *
 * json.h - writes JSON as it goes, without building it first.
 *
 * Law: whatever the values, the output is one valid JSON text in UTF-8, and an interval that is
 * written contains the one that was given: 12 significant digits, lo rounded down and hi up.
 *
 * Every value is given its key; NULL inside an array and for the outermost value. The functions are
 * called jw_ because json_ is jansson's, which reads JSON. */
#ifndef ANALYSIS_JSON_H
#define ANALYSIS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/interval.h"

#define JSON_DEPTH 16
struct json {
	FILE *out;
	unsigned depth;
	bool filled[JSON_DEPTH]; /* at each depth: something is there, a comma must follow */
	char closing[JSON_DEPTH];
};

struct json jw_on(FILE *out);

void jw_object(struct json *, const char *key);
void jw_array(struct json *, const char *key);
void jw_end(struct json *); /* of the innermost object or array; a line feed after the outermost */

void jw_string(struct json *, const char *key, const char *value); /* NULL is null */
void jw_integer(struct json *, const char *key, int64_t value);
void jw_bool(struct json *, const char *key, bool value);
void jw_interval(struct json *, const char *key, struct interval); /* an infinite end is null */
void jw_real(struct json *, const char *key, double value); /* as it is; null when infinite */
void jw_up(struct json *, const char *key, double value); /* rounded up; null when infinite */

#endif

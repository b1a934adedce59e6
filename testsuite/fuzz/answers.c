/* SPDX-License-Identifier: MIT
 *
 * answers.c - see answers.h. Things in arrays are told apart by what they are, not by their places, which
 * are a ranking. */
#include "testsuite/fuzz/answers.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

/* What tells things of an array apart. */
static const char *const identity[] = {
	"rank", "pid", "thread", "region", "waiting", "reduce_percent", "instance", "name", "file", "line", "site", "kind",
	"cause", "caused_by", "metric", "what", "factor", "low", "from", "to", "where", "by", "part"
};

/* Questions of which a trace that was damaged without a word must not give another answer. */
static const char *const judged[] = { "span_s", "straggler_percent", "alone_s", "working_s", "waiting_s", "time_s",
				      "speedup_percent", "slope", "holds_s", "share_percent", "cpu_s", "delay_s",
				      "delay_percent", "unclassified_percent",
				      "cost_percent", "seconds", "percent", "lost_percent", "begin_s", "length_s", "load_balance", "communication",
				      "inclusive_s", "exclusive_s", "own_s", "transfer_s", "least_s", "mean_s", "most_s", "imbalance_percent" };

static bool is_judged(const char *key)
{
	for (size_t i = 0; i < sizeof judged / sizeof *judged; i++)
		if (!strcmp(judged[i], key))
			return true;
	return false;
}

static bool interval_of(const json_t *value, double *lo, double *hi)
{
	const json_t *l = json_object_get(value, "lo"), *h = json_object_get(value, "hi");
	if (!l || !h || json_object_size(value) != 2)
		return false;
	*lo = json_is_number(l) ? json_number_value(l) : -INFINITY;
	*hi = json_is_number(h) ? json_number_value(h) : INFINITY;
	return true;
}

static char *name_of(const char *path, const json_t *thing)
{
	char *name = mem_format("%s/", path);
	for (size_t i = 0; i < sizeof identity / sizeof *identity; i++) {
		const json_t *value = json_object_get(thing, identity[i]);
		char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
		if (!text)
			continue;
		char *longer = mem_format("%s%s=%s,", name, identity[i], text);
		free(text);
		free(name);
		name = longer;
	}
	return name;
}

static void walk(struct answers *a, const char *path, json_t *value)
{
	const char *key;
	size_t i;
	json_t *inner;
	json_array_foreach(value, i, inner) {
		char *name = name_of(path, inner);
		walk(a, name, inner);
		free(name);
	}
	if (!json_is_object(value))
		return;
	json_object_foreach(value, key, inner) {
		double lo, hi;
		char *name = mem_format("%s/%s", path, key);
		if (interval_of(inner, &lo, &hi) && is_judged(key))
			*MEM_GROW(a->at, a->n) = (struct fuzz_answer){ mem_copy(name), lo, hi };
		else
			walk(a, name, inner);
		free(name);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct fuzz_answer *)a)->name, ((const struct fuzz_answer *)b)->name);
}

bool answers_read(struct answers *a, const char *text, size_t size, char *wrong)
{
	json_error_t error;
	json_t *root = json_loadb(text, size, 0, &error);
	*a = (struct answers){ 0 };
	if (!root) {
		snprintf(wrong, 256, "no JSON: line %d: %s", error.line, error.text);
		return false;
	}
	walk(a, "", root);
	json_decref(root);
	if (a->n)
		qsort(a->at, a->n, sizeof *a->at, by_name);
	return true;
}

void answers_free(struct answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->at[i].name);
	free(a->at);
}

/* Several things of one name (two threads of one rank in another process) answer nothing. */
static bool is_unique(const struct answers *a, size_t i)
{
	return (i == 0 || strcmp(a->at[i - 1].name, a->at[i].name)) &&
	       (i + 1 == a->n || strcmp(a->at[i + 1].name, a->at[i].name));
}

static bool are_seconds(const char *name)
{
	const char *key = strrchr(name, '/') + 1;
	size_t n = strlen(key);
	return !strcmp(key, "seconds") || (n > 2 && !strcmp(key + n - 2, "_s"));
}

const struct fuzz_answer *answers_disjoint(const struct answers *a, const struct answers *b, double seconds,
				      const struct fuzz_answer **other)
{
	for (size_t i = 0, k = 0; i < a->n; i++) {
		while (k < b->n && strcmp(b->at[k].name, a->at[i].name) < 0)
			k++;
		if (k == b->n || strcmp(b->at[k].name, a->at[i].name) || !is_unique(a, i) || !is_unique(b, k))
			continue;
		double more = are_seconds(a->at[i].name) ? 1 + seconds : 1;
		if (a->at[i].hi * more < b->at[k].lo || b->at[k].hi * more < a->at[i].lo) {
			*other = &b->at[k];
			return &a->at[i];
		}
	}
	return NULL;
}

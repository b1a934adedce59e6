/* SPDX-License-Identifier: MIT
 *
 * truth-clocks.c - tries the solver in random worlds, for as long as one likes: see --help.
 *
 * First the clocks that keep each assumption: no bound may exclude the truth, and no contradiction
 * may be reported.
 *
 * Then clocks that break it. A run in which all clocks are said to be proven is *harmless* if no
 * bound excludes the truth and *silent* if one does; all others are *reported*. Not every break can
 * be reported: where links admit a clock that keeps the assumption, it cannot be told that the true
 * one did not, and the solver finds such a clock whenever there is one (its own tests show that).
 * Such are
 *
 *  - a clock that is set before its first link or behind its last: counted by itself;
 *  - one that is set by less than about twice the width of its bounds: packets do not arrive so
 *    soon that they would show it. So breaks are told apart by their size in widths;
 *  - one that is set by more, just where packets were late for long. */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "testsuite/truth/trials.h"

#define EACH_CASE  20000 /* conversions */
#define EACH_BREAK 8192

struct clocks_settings {
	uint64_t conversions, broken, seed;
	struct plan plan;
	const char *kind;         /* as given */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Command line --------------------------------------------------------------------------- */

/* KIND is a word of any of these: what to draw from is then only that. */
static bool set_kind(struct plan *p, const char *word)
{
	if (clock_kind_of(word) != CLOCK_KINDS_COUNT)
		p->clock = clock_kind_of(word);
	else if (delay_kind_of(word) != DELAY_KINDS_COUNT)
		p->delay = delay_kind_of(word);
	else if (frz_topology_parse(word, &(struct frz_topology){ 0 }) == 0)
		p->topology = word;
	else
		return false;
	return true;
}

static uint64_t number(const char *text, struct argp_state *state)
{
	char *end;
	double n = strtod(text, &end);

	if (*end || !(n >= 0 && n < 1e19))
		argp_error(state, "expected a number, found '%s'", text);
	return n < 9e15 ? (uint64_t)n : strtoull(text, NULL, 10);
}

static error_t option(int key, char *text, struct argp_state *state)
{
	struct clocks_settings *s = state->input;

	switch (key) {
	case 'n': s->conversions = number(text, state); return 0;
	case 'b': s->broken = number(text, state); return 0;
	case 's': s->seed = strtoull(text, NULL, 10); return 0;
	case 'm':
		s->plan.model = strcmp(text, "affine") == 0 ? WORLD_AFFINE : WORLD_DRIFT;
		if (s->plan.model == WORLD_DRIFT && strcmp(text, "drift") != 0)
			argp_error(state, "--model: expected affine or drift, found '%s'", text);
		return 0;
	case 'k':
		s->kind = text;
		if (*text && !set_kind(&s->plan, text))
			argp_error(state, "--kind: '%s' is no kind of clock, delay or topology",
				   text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "conversions", 'n', "N", 0, "under each assumption (10^7)", 0 },
	{ "broken", 'b', "RUNS", 0, "of each kind of clock that breaks the assumption (1000)", 0 },
	{ "seed", 's', "N", 0, "of the first case; the next has the next (1)", 0 },
	{ "model", 'm', "affine|drift", 0, "only this assumption", 0 },
	{ "kind", 'k', "WORD", 0,
	  "only this kind of clock (affine sine walk switch ramp; broken: "
	  "forward back pause excess), of delay (instant symmetric asymmetric bursty exponential heavy "
	  "congested) or topology (star tree:B mesh)",
	  0 },
	{ 0 },
};

/* ---- Clocks that keep the assumption -------------------------------------------------------- */

struct clocks_tally { uint64_t cases, conversions, unlinked; double *width; size_t nwidths; };

static void tally_add(struct clocks_tally *t, const struct verdict *v)
{
	if (!(t->cases & (t->cases - 1))) { /* it has grown to its room */
		t->width = realloc(t->width, 2 * (t->cases + 1) * sizeof *t->width);
		if (!t->width)
			abort();
	}
	t->cases++;
	t->conversions += v->conversions;
	t->unlinked += v->unlinked;
	if (v->width && v->spec.topology.shape == FRZ_STAR)
		t->width[t->nwidths++] = v->width;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static const char *const models[] = { [WORLD_AFFINE] = "affine", [WORLD_DRIFT] = "drift" };

static void print_tally(const char *name, struct clocks_tally *t)
{
	if (!t->cases)
		return;
	qsort(t->width, t->nwidths, sizeof *t->width, by_size);
	printf("  %-12s %8" PRIu64 " %13" PRIu64 " %10d %9" PRIu64 "   ", name, t->cases,
	       t->conversions, 0, t->unlinked);
	if (t->nwidths)
		printf("%.3g (%.3g .. %.3g)", t->width[t->nwidths / 2], t->width[t->nwidths / 20],
		       t->width[t->nwidths - 1 - t->nwidths / 20]);
	putchar('\n');
}

static void progress(const char *what, uint64_t done, uint64_t all, double *shown)
{
	double now = now_s(), apart = isatty(2) ? 0.3 : 60;

	if (now - *shown < apart)
		return;
	*shown = now;
	fprintf(stderr,
		isatty(2) ? "\r\033[K  %s: %" PRIu64 " of %" PRIu64
			  : "  %s: %" PRIu64 " of %" PRIu64 "\n",
		what, done, all);
}

static void progress_end(void)
{
	if (isatty(2))
		fputs("\r\033[K", stderr);
}

static const char *const shapes[] = {
	[FRZ_STAR] = "star", [FRZ_TREE] = "tree", [FRZ_MESH] = "mesh"
};

static bool is_fine(const struct verdict *v)
{
	return !v->outside && !v->contradicted && !v->consistent;
}

static void print_failure(const struct clocks_settings *s, const struct verdict *v, uint64_t seed,
			  int model, uint64_t conversions)
{
	progress_end();
	printf("VIOLATION: %s\n", v->complaint[0]
					  ? v->complaint
					  : "clocks that keep the assumption are said to break it");
	printf("  %s (%" PRIu32
	       " ppb), clocks %s, delays %s, topology %s, %u hosts, run of %.3g s\n",
	       models[v->spec.model], v->ppb, clock_word(v->spec.clock), delay_word(v->spec.delay),
	       shapes[v->spec.topology.shape], v->spec.nhosts, v->spec.run_ns * 1e-9);
	printf("  in the case of seed %" PRIu64 ", after %" PRIu64 " conversions\n", seed,
	       conversions);
	printf("to see it again: make truth SEED=%" PRIu64 " N=1 MODEL=%s%s%s\n", seed,
	       models[model], s->kind && *s->kind ? " KIND=" : "", s->kind ? s->kind : "");
}

static bool keep(const struct clocks_settings *s, int model)
{
	struct clocks_tally tally[CLOCK_FIRST_BROKEN] = { 0 }, all = { 0 };
	struct plan plan = s->plan;
	double begin = now_s(), shown = begin;

	plan.model = model;
	for (uint64_t seed = s->seed; all.conversions < s->conversions; seed++) {
		struct verdict v = try_case(seed, &plan);

		if (!is_fine(&v)) {
			print_failure(s, &v, seed, model, all.conversions + v.conversions);
			return false;
		}
		tally_add(&tally[v.spec.clock], &v);
		tally_add(&all, &v);
		progress(models[model], all.conversions, s->conversions, &shown);
	}
	progress_end();
	printf("Clocks that keep the assumption: %s\n", models[model]);
	printf("  clocks          cases   conversions violations unlinked   width / fastest packets: median (5 %% .. 95 %%)\n");
	for (int k = 0; k < CLOCK_FIRST_BROKEN; k++) {
		if (model == WORLD_DRIFT)
			print_tally(clock_word((enum clock_kind)k), &tally[k]);
		free(tally[k].width);
	}
	print_tally("all", &all);
	printf("  seeds from %" PRIu64 ", %.1f s\n", s->seed, now_s() - begin);
	free(all.width);
	return true;
}

/* ---- Clocks that break it ------------------------------------------------------------------- */

/* By the size of the break, in widths that the bounds would have had without it. */
static const double sizes[] = { 0.5, 1, 2, 4, 10, 100, INFINITY };
#define SIZES (sizeof sizes / sizeof sizes[0])
#define LARGE 5 /* the first class of large breaks: 10 widths and more */
#define VAST  6 /* the first of those of which none may be silent */

struct breaks {
	uint64_t runs, reported, silent, harmless;
	double excess;            /* of silent ones, the most */
	double largest;           /* silent break */
	uint64_t worst;           /* its seed */
};

/* What is reported has no bounds under the assumption: that some clock there is wrong is known. */
static void breaks_add(struct breaks *b, const struct verdict *v, uint64_t seed)
{
	b->runs++;
	if (v->contradicted || v->consistent) {
		b->reported++;
		return;
	}
	b->harmless += !v->silent;
	b->silent += v->silent > 0;
	b->excess = v->excess > b->excess ? v->excess : b->excess;
	if (v->silent && v->break_size > b->largest)
		b->largest = v->break_size, b->worst = seed;
}

static void print_breaks(const char *name, const struct breaks *b)
{
	uint64_t bad = b->reported + b->silent;

	if (!b->runs)
		return;
	printf("  %-16s %8" PRIu64 " %9" PRIu64 " %9" PRIu64 " %7" PRIu64 " %9.4f %%", name,
	       b->runs, b->harmless, b->reported, b->silent,
	       bad ? 100.0 * (double)b->reported / (double)bad : 100);
	if (b->silent)
		printf("   %7.3g %7.3g  (seed %" PRIu64 ")", b->largest, b->excess, b->worst);
	putchar('\n');
}

static size_t size_class(double size)
{
	size_t c = 0;

	while (size >= sizes[c])
		c++;
	return c;
}

static void print_classes(const struct breaks *by_class)
{
	char name[40];

	for (size_t c = 0; c < SIZES; c++) {
		if (c + 1 < SIZES)
			snprintf(name, sizeof name, "  < %g widths", sizes[c]);
		else
			snprintf(name, sizeof name, "  larger");
		print_breaks(name, &by_class[c]);
	}
}

struct broken { struct breaks all, large, vast, unlinked; };

static void break_kind(const struct clocks_settings *s, struct plan plan, struct broken *sum)
{
	struct breaks of_kind = { 0 }, by_class[SIZES] = { 0 };
	double shown = now_s();

	for (uint64_t seed = s->seed; seed < s->seed + s->broken; seed++) {
		struct verdict v = try_case(seed, &plan);
		size_t c = size_class(v.break_size);

		progress(clock_word(plan.clock), seed - s->seed, s->broken, &shown);
		if (v.break_unlinked) {
			breaks_add(&sum->unlinked, &v, seed);
			continue;
		}
		breaks_add(&of_kind, &v, seed);
		breaks_add(&by_class[c], &v, seed);
		breaks_add(&sum->all, &v, seed);
		if (c >= LARGE)
			breaks_add(&sum->large, &v, seed);
		if (c >= VAST)
			breaks_add(&sum->vast, &v, seed);
	}
	progress_end();
	print_breaks(clock_word(plan.clock), &of_kind);
	print_classes(by_class);
}

/* False if a vast break was silent. */
static bool break_them(const struct clocks_settings *s, int model)
{
	struct broken sum = { 0 };
	struct plan plan = s->plan;

	printf("Clocks that break the assumption: %s\n", models[model]);
	printf("  clocks               runs  harmless  reported  silent     caught     silent: largest break, "
	       "and how far outside, in widths\n");
	plan.model = model;
	plan.conversions = EACH_BREAK;
	for (int k = CLOCK_FIRST_BROKEN; k < CLOCK_KINDS_COUNT; k++) {
		if (s->plan.clock != CLOCK_KINDS_COUNT && s->plan.clock != (enum clock_kind)k)
			continue;
		plan.clock = (enum clock_kind)k;
		break_kind(s, plan, &sum);
	}
	print_breaks("all", &sum.all);
	print_breaks("10 widths, more", &sum.large);
	print_breaks("outside links", &sum.unlinked);
	if (sum.vast.silent)
		printf("VIOLATION: %" PRIu64
		       " breaks of more than %g widths are silent, such as that of seed %" PRIu64
		       "\n",
		       sum.vast.silent, sizes[VAST - 1], sum.vast.worst);
	return !sum.vast.silent;
}

int main(int argc, char **argv)
{
	struct clocks_settings s = { .conversions = 10000000,
			      .broken = 1000,
			      .seed = 1,
			      .plan = { -1, CLOCK_KINDS_COUNT, DELAY_KINDS_COUNT, NULL,
					EACH_CASE } };
	static const struct argp argp = {
		options,
		option,
		NULL,
		"Converts stamps of made-up clocks and compares each bound with the truth.",
		NULL,
		NULL,
		NULL
	};

	argp_parse(&argp, argc, argv, 0, NULL, &s);
	bool only_broken = s.plan.clock >= CLOCK_FIRST_BROKEN && s.plan.clock != CLOCK_KINDS_COUNT;
	bool only_kept = s.plan.clock < CLOCK_FIRST_BROKEN;

	for (int model = WORLD_AFFINE; model <= WORLD_DRIFT; model++)
		if ((s.plan.model < 0 || s.plan.model == model) && !only_broken && s.conversions)
			if (!keep(&s, model))
				return 1;
	for (int model = WORLD_AFFINE; model <= WORLD_DRIFT; model++)
		if ((s.plan.model < 0 || s.plan.model == model) && !only_kept && s.broken)
			if (!break_them(&s, model))
				return 1;
	return 0;
}

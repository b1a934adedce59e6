/* SPDX-License-Identifier: MIT
 *
 * sched.c - between which two answers of the kernel something happened. */
#include "analysis/trace/sched.h"

#include <inttypes.h>
#include <math.h>

#define ROUNDING      1e-12
#define NOMINAL_ERROR 1e-3 /* of a clock's nominal frequency against the kernel's seconds */

/* Whether the kernel's answer is certainly of before the thread's event with that stamp, or certainly of
 * behind it. */
static bool is_before(const struct dprof_sched *s, uint64_t stamp, uint64_t slack)
{
	return s->to <= stamp && stamp - s->to >= slack;
}

static bool is_behind(const struct dprof_sched *s, uint64_t stamp, uint64_t slack)
{
	return s->last || (s->from >= stamp && s->from - stamp >= slack);
}

static uint64_t slack_of(const struct trace *trace, const struct tr_thread *t)
{
	return 2 * trace->clocks[t->clock].half_width;
}

/* The last answer that says `what` before a stamp, the first behind it; or NULL. */
static const struct dprof_sched *before(const struct trace *trace, const struct tr_thread *t,
					uint64_t stamp, uint32_t what)
{
	uint64_t slack = slack_of(trace, t);
	size_t least = 0, n = t->nsched;
	while (n > least) {
		size_t middle = (least + n) / 2;
		if (is_before(&t->sched[middle], stamp, slack))
			least = middle + 1;
		else
			n = middle;
	}
	while (n > 0 && !(t->sched[n - 1].known & what))
		n--;
	return n ? &t->sched[n - 1] : NULL;
}

static const struct dprof_sched *behind(const struct trace *trace, const struct tr_thread *t,
					uint64_t stamp, uint32_t what)
{
	uint64_t slack = slack_of(trace, t);
	size_t i = 0, n = t->nsched;
	while (n > i) {
		size_t middle = (i + n) / 2;
		if (is_behind(&t->sched[middle], stamp, slack))
			n = middle;
		else
			i = middle + 1;
	}
	while (i < t->nsched && !(t->sched[i].known & what))
		i++;
	return i < t->nsched ? &t->sched[i] : NULL;
}

uint64_t sched_moves(const struct trace *trace, size_t thread, uint64_t from, uint64_t to)
{
	const struct tr_thread *t = &trace->threads[thread];
	const struct dprof_sched *most = behind(trace, t, to, DPROF_SCHED_MOVES);
	const struct dprof_sched *least = before(trace, t, from, DPROF_SCHED_MOVES);
	if (!most)
		return SCHED_UNKNOWN;
	return most->moves - (least ? least->moves : 0);
}

/* ---- Times ----------------------------------------------------------------------------------- */

enum { CPU, DELAY };

static double count(const struct dprof_sched *s, int which)
{
	return (double)(which == CPU ? s->cpu_ns : s->delay_ns);
}

/* No less than that; the nominal frequency is not exact. */
static double ns_of(const struct trace *trace, const struct tr_thread *t, uint64_t ticks)
{
	return (double)ticks / trace->clocks[t->clock].ghz * (1 + NOMINAL_ERROR);
}

/* At both events the thread ran; so what the kernel has not added up yet, while a thread waits for a core, is
 * no wait of before `from` when it is asked behind that, and none of before `to` when it is asked behind that.
 * Asked behind `to`, the kernel may have counted what came after that. */
static double at_least(const struct trace *trace, const struct tr_thread *t, uint64_t from,
		       uint64_t to, int which)
{
	uint32_t what = which == CPU ? DPROF_SCHED_CPU : DPROF_SCHED_DELAY;
	const struct dprof_sched *first = behind(trace, t, from, what);
	const struct dprof_sched *inner = before(trace, t, to, what), *outer = behind(trace, t, to, what);
	double least = 0;
	if (first && inner && inner > first)
		least = count(inner, which) - count(first, which);
	if (first && outer && outer > first) {
		double after = ns_of(trace, t, outer->to > to ? outer->to - to : 0) +
			       ns_of(trace, t, slack_of(trace, t));
		least = fmax(least, count(outer, which) - count(first, which) - after);
	}
	return least;
}

static double at_most(const struct trace *trace, const struct tr_thread *t, uint64_t from,
		      uint64_t to, int which)
{
	uint32_t what = which == CPU ? DPROF_SCHED_CPU : DPROF_SCHED_DELAY;
	const struct dprof_sched *outer = behind(trace, t, to, what), *least = before(trace, t, from, what);
	double most = ns_of(trace, t, to - from + slack_of(trace, t) + 1);
	if (outer)
		most = fmin(most, count(outer, which) - (least ? count(least, which) : 0));
	return most;
}

static struct interval seconds(const struct trace *trace, const struct tr_thread *t, uint64_t from,
			       uint64_t to, int which)
{
	double lo = at_least(trace, t, from, to, which), hi = at_most(trace, t, from, to, which);
	return (struct interval){ lo * (1 - ROUNDING) / 1e9, fmax(lo, hi) * (1 + ROUNDING) / 1e9 };
}

struct sched_use sched_use(const struct trace *trace, size_t thread, uint64_t from, uint64_t to)
{
	const struct tr_thread *t = &trace->threads[thread];
	const struct dprof_sched *outer = behind(trace, t, to, DPROF_SCHED_INVOLUNTARY);
	const struct dprof_sched *first = behind(trace, t, from, DPROF_SCHED_INVOLUNTARY);
	struct sched_use use = { .cpu_s = seconds(trace, t, from, to, CPU),
				 .delay_s = seconds(trace, t, from, to, DELAY) };
	use.known = behind(trace, t, from, DPROF_SCHED_CPU) && behind(trace, t, from, DPROF_SCHED_DELAY);
	if (first && outer)
		use.involuntary = outer->involuntary - first->involuntary;
	return use;
}

/* ---- Lines -----------------------------------------------------------------------------------*/

struct dprof_sched sched_of_values(const struct ln_value v[SCHED_VALUES])
{
	struct dprof_sched s = { .from = v[0].number, .to = v[1].number };
	const struct ln_value *value = v + 2;
#define X(NAME, field, word)                                                                       \
	s.field = value->number;                                                                   \
	s.known |= value++->given ? DPROF_SCHED_##NAME : 0;
	DPROF_SCHED(X)
#undef X
	s.last = value->number != 0;
	return s;
}

void sched_put(FILE *out, const struct dprof_sched *s)
{
	fprintf(out, " %" PRIu64 " %" PRIu64, s->from, s->to);
#define X(NAME, field, word)                                                                       \
	if (s->known & DPROF_SCHED_##NAME)                                                         \
		fprintf(out, " " word "=%" PRIu64, s->field);
	DPROF_SCHED(X)
#undef X
	fputs(s->last ? " last=1\n" : "\n", out);
}

/* ---- Are the answers possible? --------------------------------------------------------------- */

static bool fell(const struct dprof_sched *s, const struct dprof_sched *next)
{
	uint32_t both = s->known & next->known;
	return (both & DPROF_SCHED_CPU && next->cpu_ns < s->cpu_ns) ||
	       (both & DPROF_SCHED_DELAY && next->delay_ns < s->delay_ns) ||
	       (both & DPROF_SCHED_INVOLUNTARY && next->involuntary < s->involuntary) ||
	       (both & DPROF_SCHED_MOVES && next->moves < s->moves);
}

bool sched_possible(const struct dprof_sched *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].from > s[i].to || (s[i].last && i + 1 < n))
			return false;
		if (i > 0 && (s[i].from < s[i - 1].from || fell(&s[i - 1], &s[i])))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * sched.c - between which two answers of the kernel something happened. */
#include "analysis/trace/sched.h"

#include <inttypes.h>
#include <math.h>

#define ROUNDING 1e-12

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

/* The last answer that says `what` before a stamp, the first behind it; or NULL. */
static const struct dprof_sched *before(const struct trace *trace, const struct tr_thread *t,
					uint64_t stamp, uint32_t what)
{
	uint64_t slack = tr_slack(trace, t->clock);
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
	uint64_t slack = tr_slack(trace, t->clock);
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
	uint64_t moves = most->moves - (least ? least->moves : 0);
	bool by_another = t->nopen && to >= t->ended; /* the stamp of its end may be another thread's */
	return moves + (by_another && moves < SCHED_UNKNOWN);
}

/* ---- Times ----------------------------------------------------------------------------------- */

static double count(const struct dprof_sched *s, uint32_t what)
{
	return (double)(what == DPROF_SCHED_CPU ? s->cpu_ns : s->delay_ns);
}

/* No less than that; the nominal frequency is not exact. */
static double ns_of(const struct trace *trace, const struct tr_thread *t, uint64_t ticks)
{
	return (double)ticks / trace->clocks[t->clock].ghz * (1 + SCHED_NOMINAL_ERROR);
}

/* Of all that was counted until before `to`, at most what passed since the thread was made came before `from`. */
static double since_made(const struct trace *trace, const struct tr_thread *t, uint64_t from, uint64_t to, uint32_t what)
{
	const struct dprof_sched *made = t->nsched ? &t->sched[0] : NULL;
	const struct dprof_sched *end[2] = { before(trace, t, to, what), behind(trace, t, to, what) };
	double least = 0;
	if (!made || made->cpu_ns || made->delay_ns || made->from > from || !(made->known & what))
		return 0;
	for (int i = 0; i < 2; i++) {
		if (!end[i])
			continue;
		uint64_t after = end[i]->to > to ? end[i]->to - to + tr_slack(trace, t->clock) : 0;
		least = fmax(least, count(end[i], what) - ns_of(trace, t, from - made->from + tr_slack(trace, t->clock) + after));
	}
	return least;
}

/* At both events the thread ran; so a wait that goes on when the kernel is asked behind one of them, and is not
 * yet added up, began behind it. Asked behind `to`, all that came after that may have been counted, too. */
static double at_least(const struct trace *trace, const struct tr_thread *t, uint64_t from,
		       uint64_t to, uint32_t what)
{
	const struct dprof_sched *begin = behind(trace, t, from, what);
	const struct dprof_sched *end[2] = { before(trace, t, to, what), behind(trace, t, to, what) };
	double least = 0;
	for (int i = 0; i < 2; i++) {
		if (!begin || !end[i] || end[i] <= begin)
			continue;
		uint64_t after = end[i]->to > to ? end[i]->to - to + tr_slack(trace, t->clock) : 0;
		least = fmax(least, count(end[i], what) - count(begin, what) - ns_of(trace, t, after));
	}
	return fmax(least, since_made(trace, t, from, to, what));
}

static double at_most(const struct trace *trace, const struct tr_thread *t, uint64_t from,
		      uint64_t to, uint32_t what)
{
	const struct dprof_sched *outer = behind(trace, t, to, what), *least = before(trace, t, from, what);
	double most = ns_of(trace, t, to - from + tr_slack(trace, t->clock) + 1);
	if (outer)
		most = fmin(most, count(outer, what) - (least ? count(least, what) : 0));
	return most;
}

static struct interval seconds(const struct trace *trace, const struct tr_thread *t, uint64_t from,
			       uint64_t to, uint32_t what)
{
	double lo = at_least(trace, t, from, to, what), hi = at_most(trace, t, from, to, what);
	return (struct interval){ lo * (1 - ROUNDING) / 1e9, fmax(lo, hi) * (1 + ROUNDING) / 1e9 };
}

struct sched_use sched_use(const struct trace *trace, size_t thread, uint64_t from, uint64_t to)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct sched_use use = { .cpu_s = seconds(trace, t, from, to, DPROF_SCHED_CPU),
				 .delay_s = seconds(trace, t, from, to, DPROF_SCHED_DELAY) };
	use.known = behind(trace, t, from, DPROF_SCHED_CPU) && behind(trace, t, from, DPROF_SCHED_DELAY);
	for (size_t i = 0; i < t->nsched; i++)
		if (t->sched[i].known & DPROF_SCHED_INVOLUNTARY)
			use.involuntary = t->sched[i].involuntary;
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

/* Whether a count is below that of an answer before; takes it over. */
static bool falls(struct dprof_sched *before, const struct dprof_sched *s)
{
	bool any = false;
#define X(NAME, field, word)                                                                       \
	if (s->known & DPROF_SCHED_##NAME) {                                                       \
		any |= s->field < before->field;                                                   \
		before->field = s->field;                                                          \
	}
	DPROF_SCHED(X)
#undef X
	return any;
}

bool sched_possible(const struct dprof_sched *s, size_t n)
{
	struct dprof_sched before = { .known = 0 };
	for (size_t i = 0; i < n; i++) {
		bool goes_back = i > 0 && s[i].from < s[i - 1].from;
		if (goes_back || s[i].from > s[i].to || (s[i].last && i + 1 < n) || falls(&before, &s[i]))
			return false;
	}
	return true;
}

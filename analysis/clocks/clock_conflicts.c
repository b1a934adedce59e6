/* SPDX-License-Identifier: MIT
 *
 * clock_conflicts.c - a contradiction between links, told so that a user can find its cause.
 *
 * Where it lies: of the links between the clock and the base, in the order of the clock's stamps,
 * the longest beginning that agrees with the assumption ends before link `first_bad`, and the
 * longest end that does begins behind link `last_bad`. If the two together are all links, one
 * moment between those two explains everything: what the end says of it, less what the beginning
 * says, is how far the clock jumped there. */
#include "analysis/clocks/clock_conflicts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"

/* ---- The links that contradict each other ---------------------------------------------------- */

static char *link_words(const struct times *t, size_t index)
{
	const struct trace *trace = t->trace;
	bool packet = index < trace->nlinks;
	const struct frz_link *l = packet ? &trace->links[index]
					  : &t->program.links[index - trace->nlinks];
	char *what = packet ? mem_copy("packet") : program_link_words(trace, t->base, l);
	char *words = mem_format("%s, %s %" PRIu64 " -> %s %" PRIu64, what,
				 trace->clocks[l->from].host, l->sent, trace->clocks[l->to].host,
				 l->received);
	free(what);
	return words;
}

static char *all_words(const struct times *t, const struct frz_clock *found)
{
	char *all = mem_copy("");
	for (unsigned i = 0; i < found->nconflicts; i++) {
		char *one = link_words(t, found->conflict[i]);
		char *more = mem_format("%s%s%s", all, i ? "; " : "", one);
		free(all);
		free(one);
		all = more;
	}
	return all;
}

/* ---- Where ----------------------------------------------------------------------------------- */

/* The links between a clock and the base, as a job of two: the base is 0, the clock is 1. */
struct clock_links {
	struct frz_link *links;  /* in the order of the clock's stamps */
	size_t n;
	struct frz_assumption assumption;
};

static uint64_t own_stamp(const struct frz_link *l)
{
	return l->from ? l->sent : l->received;
}

static int by_stamp(const void *a, const void *b)
{
	uint64_t x = own_stamp(a), y = own_stamp(b);
	return ORDER(x, y);
}

static struct clock_links pair_of(const struct times *t, uint32_t clock, bool program)
{
	struct clock_links p = { NULL, 0, t->assumption };
	struct frz_link *all = times_links(t, program);
	size_t n = t->trace->nlinks + (program ? t->program.nlinks : 0);
	for (size_t i = 0; i < n; i++)
		if ((all[i].from == clock && all[i].to == t->base) ||
		    (all[i].from == t->base && all[i].to == clock))
			*MEM_GROW(p.links, p.n) =
				(struct frz_link){ all[i].from == clock, all[i].to == clock,
						   all[i].sent, all[i].received };
	free(all);
	if (p.n)
		qsort(p.links, p.n, sizeof *p.links, by_stamp);
	return p;
}

static struct frz_solution *solve_part(const struct clock_links *p, size_t from, size_t end)
{
	struct frz_solution *s;
	return frz_solve(&s, 2, 0, p->links + from, end - from, p->assumption) ? NULL : s;
}

static bool agrees(const struct clock_links *p, size_t from, size_t end)
{
	struct frz_solution *s = solve_part(p, from, end);
	bool does = s && (frz_clock(s, 1)->status == FRZ_PROVEN ||
			  frz_clock(s, 1)->status == FRZ_UNLINKED);
	frz_solution_free(s);
	return does;
}

/* The link behind the longest beginning that agrees. */
static size_t find_first_bad(const struct clock_links *p)
{
	size_t good = 0, bad = p->n;
	while (bad - good > 1) {
		size_t mid = good + (bad - good) / 2;
		if (agrees(p, 0, mid))
			good = mid;
		else
			bad = mid;
	}
	return good;
}

/* The link before the longest end that agrees. */
static size_t find_last_bad(const struct clock_links *p)
{
	size_t bad = 0, good = p->n;
	while (good - bad > 1) {
		size_t mid = bad + (good - bad) / 2;
		if (agrees(p, mid, p->n))
			good = mid;
		else
			bad = mid;
	}
	return bad;
}

/* How much later a stamp is by the links from `end` on than by those before `begin`. */
static bool find_jump(const struct clock_links *p, size_t begin, size_t end, uint64_t stamp,
		      frz_time *jump)
{
	struct frz_solution *before = solve_part(p, 0, begin), *behind = solve_part(p, end, p->n);
	bool found = before && behind && frz_clock(before, 1)->status == FRZ_PROVEN &&
		     frz_clock(behind, 1)->status == FRZ_PROVEN;
	if (found) {
		struct frz_cursor c = frz_cursor(before, 1), d = frz_cursor(behind, 1);
		frz_time then = frz_time_of(&c, stamp), now = frz_time_of(&d, stamp);
		*jump = time_minus(now, then);
	}
	frz_solution_free(before);
	frz_solution_free(behind);
	return found;
}

static char *jump_words(const struct times *t, const struct clock_links *p, size_t last_bad,
			size_t first_bad)
{
	uint64_t from = own_stamp(&p->links[last_bad]), to = own_stamp(&p->links[first_bad]);
	frz_time jump;
	if (!find_jump(p, last_bad + 1, first_bad, from + (to - from) / 2, &jump))
		return mem_copy("jumped, or changed its rate");
	double ticks = (double)jump.lo / 2 + (double)jump.hi / 2;
	double us = ticks / t->trace->clocks[t->base].ghz / 1e3;
	if (jump.lo <= 0 && jump.hi >= 0)
		return mem_copy("changed its rate");
	return mem_format("%s by about %.3g us (%s)", jump.lo > 0 ? "fell back" : "jumped ahead",
			  us < 0 ? -us : us, jump.lo > 0 ? "a step, or it stood still" : "a step");
}

/* The first stamp of the run on a clock: of its threads and links. */
static uint64_t first_stamp(const struct trace *trace, uint32_t clock, uint64_t first)
{
	for (size_t i = 0; i < trace->nthreads; i++) {
		uint64_t own, last;
		if (trace->threads[i].clock == clock &&
		    trace_ends(&trace->threads[i], &own, &last) && own < first)
			first = own;
	}
	return first;
}

/* NULL when it is not in one place. */
static char *where(const struct times *t, uint32_t clock, bool program)
{
	struct clock_links p = pair_of(t, clock, program);
	char *words = NULL;
	if (p.n > 1 && !agrees(&p, 0, p.n)) {
		size_t first_bad = find_first_bad(&p), last_bad = find_last_bad(&p);
		uint64_t from = own_stamp(&p.links[last_bad]), to = own_stamp(&p.links[first_bad]);
		uint64_t first = first_stamp(t->trace, clock, own_stamp(&p.links[0]));
		double hz = t->trace->clocks[clock].ghz * 1e9;
		if (last_bad < first_bad) {
			char *how = jump_words(t, &p, last_bad, first_bad);
			words = mem_format("between %.6f and %.6f s of its run (its stamps %" PRIu64
					   " and %" PRIu64 ") it seems to have %s",
					   (double)(from - first) / hz, (double)(to - first) / hz,
					   from, to, how);
			free(how);
		}
	}
	free(p.links);
	return words;
}

/* ---- The diagnostic -------------------------------------------------------------------------- */

/* What would reconcile the links, and what is done. Whole ppb are thousandths of ppm, so nothing is
 * rounded. */
static char *cure_of(const struct frz_clock *found, bool used)
{
	if (found->status != FRZ_CONSISTENT)
		return mem_format("no drift reconciles them; %s",
				  used ? "its threads are analysed on their own clock only"
				       : "its times are computed from packets alone");
	return mem_format("--clock-model drift:%" PRIu32 ".%03" PRIu32 " is the least that "
			  "reconciles them; its times are computed %s not proven",
			  found->least_ppb / 1000, found->least_ppb % 1000,
			  used ? "with that, which agrees with all links but is"
			       : "from packets alone, and are");
}

void clock_conflicts_say(struct times *t, uint32_t clock, const struct frz_solution *solution)
{
	const struct frz_clock *found = frz_clock(solution, clock);
	bool used = solution == t->together, program = solution == t->all;
	char *conflicts = all_words(t, found), *cure = cure_of(found, used);
	char *place = t->of_run ? NULL : where(t, clock, program); /* of links that are made up there is nothing to look for */
	trace_diagnose(t->trace,
		       "clock %s: its links %s the assumption about clocks (%s: %s); %s%s%s",
		       t->trace->clocks[clock].host,
		       used ? "contradict" : "from packets agree with, and those from the program "
					     "contradict,",
		       found->nconflicts == 2 ? "these two" : "these", conflicts,
		       place ? place : "", place ? "; " : "", cure);
	free(conflicts);
	free(cure);
	free(place);
}

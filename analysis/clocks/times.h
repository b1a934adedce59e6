/* SPDX-License-Identifier: MIT
 *
 * times.h - from stamps to times, for all clocks of one trace.
 *
 * A *time base* is a time line of its own: time base 0 is the base clock's, and every clock that its links
 * prove to be somewhere on that is on time base 0. So is one whose links contradict the assumption, but not
 * some greater drift: its bounds hold under that. A clock that is unlinked, or whose links no drift
 * reconciles, has a time base to itself, on which its own ticks are the time; nothing relates two time bases.
 *
 * Links are packets and, unless only those are asked for, what the program's own operations prove
 * (program_links.h). These may make bounds tighter and nothing worse: where packets alone agree
 * with the assumption and all links together do not, the bounds are those of the packets, and their
 * clocks are no longer called proven.
 *
 * Law: if the links are true and the assumption holds, the moment at which an event was stamped s
 * on clock c, measured in ticks of c's time base, lies in the interval given for (c, s); and the time
 * between two events that were stamped `ticks` apart on one clock lies in times_duration. The
 * second is not the difference of two of the first: all stamps of one clock are wrong together, so
 * their difference is as exact as the clock's rate. */
#ifndef ANALYSIS_TIMES_H
#define ANALYSIS_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/interval.h"
#include "analysis/base/options.h"
#include "analysis/clocks/program_links.h"
#include "analysis/trace/trace.h"

/* How fast a clock goes, and what two of its stamps may be off by, as its cores differ. */
struct times_speed { struct frz_speed speed; uint64_t off; };

struct times {
	struct trace *trace;
	uint32_t base;                 /* clock */
	struct frz_assumption assumption;
	struct program_links program;  /* what the program proves; none with --links packets */
	const struct program_links *of_run; /* (options.h) */
	bool program_used;             /* false also if it contradicts the packets */
	struct frz_solution *packets;  /* all clocks, against the base, by packets alone */
	struct frz_solution *all;      /* by all links; NULL when there are only packets */
	struct frz_solution *together; /* the one of the two that is used */
	struct frz_solution *alone;    /* one clock, its own base: for the clocks without a place */
	uint32_t *time_base;           /* of each clock; */
	struct times_speed *speed;     /* likewise */
	bool *doubted;                 /* of each clock: the program contradicts its bounds */
	uint32_t ntime_bases;
};

/* Solves once. EXIT_FINE, even when some clocks find no place: each that has threads is then one of
 * the trace's diagnostics. Otherwise the exit status, after a message on stderr, and there is nothing
 * to close. */
int times_open(struct times *, struct trace *, const struct options *);
void times_close(struct times *);

/* All links as they were solved: packets, then, if asked for, those of the program. To be freed. */
struct frz_link *times_links(const struct times *, bool program);

/* Whether a clock's bounds follow from its links and the assumption; otherwise, if it is on the
 * base clock's time base, they only agree with what is known. */
bool times_proven(const struct times *, uint32_t clock);
bool times_all_proven(const struct times *); /* of all clocks on the base clock's time base */

/* All clocks in the order of their hosts' names, whatever order the trace has them in. To be freed. */
uint32_t *times_order(const struct times *);

/* The clock whose ticks are the time on a time base. */
uint32_t times_unit(const struct times *, uint32_t time_base);
struct interval times_seconds(const struct times *, uint32_t time_base, frz_time ticks);

/* Converts the stamps of one clock; use frz_time_of on it. */
struct frz_cursor times_cursor(const struct times *, uint32_t clock);

/* Any of the ticks of a clock may be `off` more or less. */
frz_time times_off_by(const struct times *, uint32_t clock, uint64_t ticks, uint64_t off);

/* Between two events of one clock; never below zero, since the second did come second. */
static inline frz_time times_duration(const struct times *t, uint32_t clock, uint64_t ticks)
{
	const struct times_speed *p = &t->speed[clock];
	return p->off ? times_off_by(t, clock, ticks, p->off) : frz_speed_duration(&p->speed, ticks);
}

/* Between two events of one thread, stamped from <= to: cores that differ matter only if it moved. */
frz_time times_of_thread(const struct times *, size_t thread, uint64_t from, uint64_t to);

/* Of `pieces` separate stretches of one thread, all between two of its stamps, whose own stamps are `ticks`
 * apart in all. Each of their ends may be off by a tick; and each move to another core is in one of them at
 * most. */
struct stretches { uint64_t ticks, pieces, from, to; };
frz_time times_sum(const struct times *, size_t thread, struct stretches);

/* One more, which begins no earlier than those before. */
static inline void stretches_add(struct stretches *s, uint64_t from, uint64_t to)
{
	s->from = s->pieces ? s->from : from;
	s->to = to;
	s->ticks += to - from;
	s->pieces++;
}

/* From a stamp of one clock to a stamp of another or the same on the same time base; negative if the
 * second came first. */
struct moment { uint32_t clock; uint64_t stamp; };
frz_time times_between(const struct times *, struct moment from, struct moment to);

/* The same, with a cursor for each clock: fast where the moments are near to those that it was asked for before.
 * times_cursors makes them, to be freed. */
struct frz_cursor *times_cursors(const struct times *);
frz_time times_between_near(const struct times *, struct frz_cursor *cursors, struct moment from, struct moment to);

/* Whether that is surely more than 0: at half the cost. */
bool times_surely_before(const struct times *, struct frz_cursor *cursors, struct moment first, struct moment then);

/* The same, of moments of which it is known when they were: for whoever asks for many ways between a few. */
struct timed_moment { struct moment at; frz_time time; };
static inline frz_time times_between_timed(const struct times *, const struct timed_moment *from, const struct timed_moment *to);

/* ---- The span of a time base: from its first event to its last ------------------------------- */

struct span {
	bool events;     /* there are some */
	frz_time first, last;
	frz_time length; /* tighter than the difference of the two */
};

/* First and last stamp of a thread; without events first > last. Records that it lost had none before
 * `earliest` or after `latest`; without losses these are the two others, and 0 and UINT64_MAX when nothing is
 * known of that. */
struct ends { uint64_t first, last, earliest, latest; };
struct ends times_ends(const struct tr_thread *);
/* How long a thread with events may have gone on behind its last one (trace_goes_on()), in ticks of its time base; INT64_MAX
 * when nothing is known of that. */
int64_t times_beyond(const struct times *, size_t thread);
struct span times_span(const struct times *, uint32_t time_base, const struct ends *);

/* Bounds may be as far out as int64_t goes, when nothing better is known; they stay there. */
static inline int64_t ticks_plus(int64_t x, int64_t y)
{
	int64_t sum;
	if (__builtin_add_overflow(x, y, &sum))
		return x < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline int64_t ticks_minus(int64_t x, int64_t y)
{
	int64_t difference;
	if (__builtin_sub_overflow(x, y, &difference))
		return x < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* From one time to another: a bound that is not known of either is not known of that. */
static inline frz_time time_apart(frz_time from, frz_time to)
{
	bool any_lo = from.hi == INT64_MAX || to.lo == INT64_MIN;
	bool any_hi = to.hi == INT64_MAX || from.lo == INT64_MIN;
	return (frz_time){ any_lo ? INT64_MIN : ticks_minus(to.lo, from.hi),
			   any_hi ? INT64_MAX : ticks_minus(to.hi, from.lo) };
}

static inline frz_time times_between_timed(const struct times *t, const struct timed_moment *from, const struct timed_moment *to)
{
	frz_time apart = time_apart(from->time, to->time);
	if (from->at.clock != to->at.clock || to->at.stamp < from->at.stamp)
		return apart;
	frz_time passed = times_duration(t, to->at.clock, to->at.stamp - from->at.stamp);
	return (frz_time){ passed.lo > apart.lo ? passed.lo : apart.lo,
			   passed.hi < apart.hi ? passed.hi : apart.hi };
}

static inline frz_time time_add(frz_time x, frz_time y)
{
	return (frz_time){ ticks_plus(x.lo, y.lo), ticks_plus(x.hi, y.hi) };
}

static inline frz_time time_least(frz_time x, frz_time y)
{
	return (frz_time){ x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi };
}

static inline frz_time time_most(frz_time x, frz_time y)
{
	return (frz_time){ x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
}

/* Where it most likely is; and whether x is the longer one, most likely. */
static inline int64_t time_middle(frz_time x)
{
	return x.lo / 2 + x.hi / 2;
}

static inline bool time_exceeds(frz_time x, frz_time y)
{
	return time_middle(x) > time_middle(y);
}

/* Of a duration, which is none below 0. */
static inline frz_time time_positive(frz_time x)
{
	return (frz_time){ x.lo > 0 ? x.lo : 0, x.hi > 0 ? x.hi : 0 };
}

/* The difference, which may be below 0; time_less() is of durations, which are not. */
static inline frz_time time_minus(frz_time x, frz_time y)
{
	return (frz_time){ ticks_minus(x.lo, y.hi), ticks_minus(x.hi, y.lo) };
}

static inline frz_time time_less(frz_time x, frz_time y)
{
	return time_positive(time_minus(x, y));
}

/* 0 .. INT64_MAX where a product is too large. */
static inline frz_time time_times(frz_time x, size_t n)
{
	frz_time product = { 0, INT64_MAX };
	if (__builtin_mul_overflow(x.lo, (int64_t)n, &product.lo) || __builtin_mul_overflow(x.hi, (int64_t)n, &product.hi))
		return (frz_time){ 0, INT64_MAX };
	return product;
}

#endif

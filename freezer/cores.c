/* SPDX-License-Identifier: MIT
 *
 * cores.c - a ping-pong of stamps between pinned threads. */
#define _GNU_SOURCE
#include "freezer/cores.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "freezer/clock.h"

#define ROUNDS      100   /* at least; more while the interval is wider than ... */
#define FINE_TICKS  3000  /* a microsecond */
#define POOR_TICKS  6000  /* wider: no more was seen than that at least one core was busy */
#define SPINS       1000  /* before the processor is offered to another thread */
#define STACK_BYTES ((size_t)128 << 10)
#define GIVE_UP     UINT64_MAX

/* What the two threads share, alone in its cache line. Odd turns are the other side's. */
struct cache_line {
	uint64_t turn;
	uint64_t stamp; /* of the other side, in its turn */
} __attribute__((aligned(128)));

/* ---- One pair ---------------------------------------------------------------------------------*/

/* Until it is turn `wanted`, or the other side will never come. */
static bool wait_for_turn(const struct cache_line *line, uint64_t wanted, uint64_t until_ns)
{
	for (unsigned i = 1;; i++) {
		uint64_t turn = __atomic_load_n(&line->turn, __ATOMIC_ACQUIRE);

		if (turn == wanted)
			return true;
		if (turn == GIVE_UP)
			return false;
		if (i % SPINS)
			continue;
		if (frz_monotonic_raw_ns() > until_ns)
			return false;
		sched_yield();
	}
}

struct other_side { struct cache_line line; uint64_t until_ns; };

static void *answer(void *argument)
{
	struct other_side *s = argument;

	for (uint64_t turn = 1; wait_for_turn(&s->line, turn, s->until_ns); turn += 2) {
		s->line.stamp = frz_stamp_fenced();
		__atomic_store_n(&s->line.turn, turn + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static uint64_t width(const struct frz_core *core)
{
	return (uint64_t)core->hi - (uint64_t)core->lo;
}

static void ask(struct frz_core *core, struct other_side *s)
{
	core->lo = INT64_MIN;
	core->hi = INT64_MAX;
	for (uint64_t turn = 1; core->rounds < ROUNDS || width(core) > FINE_TICKS; turn += 2) {
		uint64_t a = frz_stamp_fenced();

		__atomic_store_n(&s->line.turn, turn, __ATOMIC_RELEASE);
		if (!wait_for_turn(&s->line, turn + 1, s->until_ns))
			break;
		uint64_t c = frz_stamp_fenced(), b = s->line.stamp;
		int64_t lo = (int64_t)(b - c), hi = (int64_t)(b - a);

		core->lo = lo > core->lo ? lo : core->lo;
		core->hi = hi < core->hi ? hi : core->hi;
		core->rounds++;
	}
	__atomic_store_n(&s->line.turn, GIVE_UP, __ATOMIC_RELEASE);
}

static bool disagrees(const struct frz_core *core)
{
	return core->lo > 0 || core->hi < 0;
}

/* The tick that rounding may take, each way. A difference that was not steady leaves nothing in
 * common to all rounds: what was between them then counts. */
static void widen(struct frz_core *core)
{
	int64_t least = core->lo < core->hi ? core->lo : core->hi;
	int64_t most = core->lo < core->hi ? core->hi : core->lo;

	core->lo = least - 1;
	core->hi = most + 1;
}

/* A thread on one core and with no signals; it inherits these. */
static int start_on(pthread_t *thread, int core, void *(*run)(void *), void *argument)
{
	pthread_attr_t attr;
	cpu_set_t one;
	int error;

	CPU_ZERO(&one);
	CPU_SET(core, &one);
	pthread_attr_init(&attr);
	error = pthread_attr_setaffinity_np(&attr, sizeof one, &one);
	if (!error)
		error = pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!error)
		error = pthread_create(thread, &attr, run, argument);
	pthread_attr_destroy(&attr);
	return -error;
}

static void compare(struct frz_core *core, uint64_t until_ns)
{
	struct other_side s = { .until_ns = until_ns };
	pthread_t thread;

	if (start_on(&thread, core->number, answer, &s) < 0)
		return;
	ask(core, &s);
	pthread_join(thread, NULL);
	if (core->rounds)
		widen(core);
	if (width(core) > POOR_TICKS && !disagrees(core))
		core->rounds = 0;
}

/* ---- All pairs with the first core ------------------------------------------------------------*/

struct cores_job { struct frz_cores *cores; uint64_t deadline_ns; };

static void *compare_all(void *argument)
{
	const struct cores_job *job = argument;
	uint64_t end = frz_monotonic_raw_ns() + job->deadline_ns;
	size_t n = job->cores->n;

	for (size_t i = 1; i < n; i++) {
		uint64_t now = frz_monotonic_raw_ns();

		if (now >= end)
			break;
		compare(&job->cores->core[i], now + (end - now) / (n - i));
	}
	return NULL;
}

static void sum_up(struct frz_cores *c)
{
	int64_t least = 0, most = 0;

	c->compared = c->disagree = 0;
	for (size_t i = 1; i < c->n; i++) {
		const struct frz_core *core = &c->core[i];

		if (!core->rounds)
			continue;
		c->compared++;
		c->disagree += disagrees(core);
		least = core->lo < least ? core->lo : least;
		most = core->hi > most ? core->hi : most;
	}
	c->uncertainty = ((uint64_t)most - (uint64_t)least + 1) / 2;
}

static int list_cores(struct frz_cores *c, const cpu_set_t *set)
{
	*c = (struct frz_cores){ .core = calloc((size_t)CPU_COUNT(set) + 1, sizeof *c->core) };
	if (!c->core)
		return -ENOMEM;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set))
			c->core[c->n++].number = i;
	return 0;
}

int frz_cores_compare(struct frz_cores *out, const cpu_set_t *set, uint64_t deadline_ns)
{
	int error = list_cores(out, set);
	struct cores_job job = { out, deadline_ns };
	sigset_t all, before;
	pthread_t thread;

	if (error || out->n < 2)
		return error;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = start_on(&thread, out->core[0].number, compare_all, &job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		frz_cores_free(out);
		return error;
	}
	pthread_join(thread, NULL);
	sum_up(out);
	return 0;
}

void frz_cores_free(struct frz_cores *c)
{
	free(c->core);
	*c = (struct frz_cores){ 0 };
}

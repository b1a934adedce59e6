/* SPDX-License-Identifier: MIT
 *
 * clock.c - which clock this host has, and how fast it nominally runs. */
#define _GNU_SOURCE /* secure_getenv */
#include "freezer/clock.h"

#include <cpuid.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CPUID_TSC_RATIO  0x15u        /* crystal Hz (ecx), TSC ticks per crystal tick (ebx / eax) */
#define CPUID_POWER      0x80000007u
#define POWER_INVARIANT_TSC (1u << 8) /* edx */

#define MEASURE_NS  4000000u
#define PAIR_TRIES  5

enum frz_source frz_source_found;

/* For hosts whose counter claims more than it holds. */
static bool told_not_to_use_tsc(void)
{
	const char *word = secure_getenv("FREEZER_CLOCK");

	return word && !strcmp(word, frz_source_word(FRZ_MONOTONIC_RAW));
}

/* Threads may race here: all of them find and store the same answer. */
enum frz_source frz_source(void)
{
	unsigned a, b, c, d;
	enum frz_source found = __atomic_load_n(&frz_source_found, __ATOMIC_RELAXED);

	if (found != FRZ_SOURCE_UNKNOWN)
		return found;
	found = FRZ_MONOTONIC_RAW;
	if (!told_not_to_use_tsc() && __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && d & POWER_INVARIANT_TSC)
		found = FRZ_TSC;
	__atomic_store_n(&frz_source_found, found, __ATOMIC_RELAXED);
	return found;
}

const char *frz_source_word(enum frz_source source)
{
	static const char *const words[] = {
		[FRZ_SOURCE_UNKNOWN] = "unknown",
		[FRZ_TSC] = "tsc",
		[FRZ_MONOTONIC_RAW] = "monotonic_raw",
		[FRZ_MONOTONIC] = "monotonic",
		[FRZ_REALTIME] = "realtime",
	};
	return words[source];
}

enum frz_source frz_source_named(const char *word)
{
	enum frz_source source = FRZ_TSC;

	while (source < FRZ_SOURCES && strcmp(word, frz_source_word(source)))
		source++;
	return source < FRZ_SOURCES ? source : FRZ_SOURCE_UNKNOWN;
}

uint64_t frz_kernel_fenced(enum frz_source source)
{
	struct timespec t;

	frz_fence();
	clock_gettime(source == FRZ_REALTIME    ? CLOCK_REALTIME
		      : source == FRZ_MONOTONIC ? CLOCK_MONOTONIC
						: CLOCK_MONOTONIC_RAW, &t);
	frz_fence();
	return frz_ns(&t);
}

static double ghz_by_cpuid(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(CPUID_TSC_RATIO, &a, &b, &c, &d) || !a || !b || !c)
		return 0;
	return 1e-9 * c * b / a;
}

/* The same moment on both clocks: of some tries the one whose two TSC reads were closest. */
struct clock_reading { uint64_t tsc, ns; };

static struct clock_reading read_pair(void)
{
	struct clock_reading best = { 0 };
	uint64_t best_gap = UINT64_MAX;

	for (int i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = frz_tsc_fenced();
		uint64_t ns = frz_monotonic_raw_ns();
		uint64_t gap = frz_tsc_fenced() - before;

		if (gap < best_gap) {
			best_gap = gap;
			best = (struct clock_reading){ before + gap / 2, ns };
		}
	}
	return best;
}

static double ghz_by_measuring(void)
{
	struct timespec pause = { .tv_nsec = MEASURE_NS };
	struct clock_reading first = read_pair(), last;

	do { /* a signal may cut the pause short */
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		last = read_pair();
	} while (last.ns - first.ns < MEASURE_NS);
	return (double)(last.tsc - first.tsc) / (double)(last.ns - first.ns);
}

double frz_ghz(void)
{
	static double cached; /* racing threads may both measure; either answer serves */
	int saved_errno = errno;
	double ghz;

	__atomic_load(&cached, &ghz, __ATOMIC_RELAXED);
	if (ghz > 0)
		return ghz;
	ghz = 1; /* CLOCK_MONOTONIC_RAW counts nanoseconds */
	if (frz_source() == FRZ_TSC) {
		ghz = ghz_by_cpuid();
		if (!(ghz > 0))
			ghz = ghz_by_measuring();
	}
	__atomic_store(&cached, &ghz, __ATOMIC_RELAXED);
	errno = saved_errno;
	return ghz;
}

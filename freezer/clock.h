/* SPDX-License-Identifier: MIT
 *
 * clock.h - reading this host's clock.
 *
 * The clock is the processor's time stamp counter where that runs at one rate whatever the
 * processor does (it says so in CPUID), and CLOCK_MONOTONIC_RAW otherwise; which of the two is
 * decided once in a process and never changes. The kernel's other clocks are read only where asked for by name: for a log
 * that is to place the stamps of programs which read those.
 *
 * Law: of two reads of one core, the later one never shows less. A read by frz_stamp_fenced() lies
 * after every load before it and before every instruction behind it, so a stamp that was taken
 * through it really follows what it follows in the program. */
#ifndef FREEZER_CLOCK_H
#define FREEZER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum frz_source { FRZ_SOURCE_UNKNOWN, FRZ_TSC, FRZ_MONOTONIC_RAW, FRZ_MONOTONIC, FRZ_REALTIME, FRZ_SOURCES };

extern enum frz_source frz_source_found; /* for the inline functions below; ask frz_source() */

/* Which clock frz_stamp_fenced() reads; the same answer for the whole life of the process. */
enum frz_source frz_source(void);

/* "tsc", "monotonic_raw", "monotonic" or "realtime"; and back, FRZ_SOURCE_UNKNOWN if it is none of these. */
const char *frz_source_word(enum frz_source);
enum frz_source frz_source_named(const char *word);

/* One of the kernel's clocks in ns, behind everything before it and before everything behind it. Its zero may be any time. */
uint64_t frz_kernel_fenced(enum frz_source);

/* Nominal ticks of this clock per nanosecond, for seconds only: from CPUID where that tells, else
 * measured once against CLOCK_MONOTONIC_RAW, which takes a few milliseconds and is good to some
 * 10 ppm. Leaves errno alone. */
double frz_ghz(void);

static inline uint64_t frz_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static inline uint64_t frz_monotonic_raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return frz_ns(&t);
}

static inline uint64_t frz_tsc(void)
{
	return __builtin_ia32_rdtsc();
}

/* Not the builtin: code that may not touch vector registers does not have it. */
static inline void frz_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

static inline uint64_t frz_tsc_fenced(void)
{
	frz_fence();
	uint64_t stamp = __builtin_ia32_rdtsc();
	frz_fence();
	return stamp;
}

static inline bool frz_known_tsc(void)
{
	return __atomic_load_n(&frz_source_found, __ATOMIC_RELAXED) == FRZ_TSC;
}

/* For both ends of a link: what was received before it has been received, what is sent behind it
 * has not been sent. */
static inline uint64_t frz_stamp_fenced(void)
{
	if (__builtin_expect(!frz_known_tsc(), 0) && frz_source() != FRZ_TSC) {
		frz_fence();
		uint64_t stamp = frz_monotonic_raw_ns();
		frz_fence();
		return stamp;
	}
	return frz_tsc_fenced();
}

#endif

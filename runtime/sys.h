/* SPDX-License-Identifier: MIT
 *
 * sys.h - system calls as they are.
 *
 * Recording interrupts the user's code anywhere, signal handlers and half-cancelled threads
 * included. The C library's wrappers set errno, are points of cancellation and may use vector
 * registers; these do none of that.
 *
 * Law: no register and no memory changes but what the kernel hands back; errors are -errno. */
#ifndef RUNTIME_SYS_H
#define RUNTIME_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "freezer/clock.h"

static inline long sys6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* sys(NUMBER, up to six arguments of any integer or pointer type) */
#define SYS_ARG(x) ((long)(x))
#define sys(...) SYS_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define SYS_PICK(n, a, b, c, d, e, f, ...) \
	sys6(SYS_ARG(n), SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), SYS_ARG(f))

/* mmap's result is an address or, just below the top of the address space, -errno. */
static inline int sys_failed(long result)
{
	return (unsigned long)result > -4096ul;
}

#define SYS_YIELDS  64
#define SYS_WAIT_NS 20000

/* Of who waits for what another thread does in an instant, for the n-th time. Who only yielded would wait for as long
 * as he may run where that one has a lower priority (SCHED_FIFO) and the same core. */
static inline void sys_wait_for_other(unsigned n)
{
	struct timespec soon = { .tv_nsec = SYS_WAIT_NS };

	if (n < SYS_YIELDS)
		sys(SYS_sched_yield);
	else
		sys(SYS_nanosleep, &soon, NULL);
}

/* The clock that stamps are read from (freezer/clock.h), also where the C library must not be
 * called. */
static inline uint64_t dprof_now(void)
{
	struct timespec t;

	if (__builtin_expect(frz_source_found != FRZ_MONOTONIC_RAW, 1))
		return frz_tsc();
	sys(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
	return frz_ns(&t);
}

#endif

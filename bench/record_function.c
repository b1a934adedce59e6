/* SPDX-License-Identifier: MIT
 *
 * record_function.c - two peers: an empty function, compiled with -pg and recorded by `uftrace record`; and
 * compiled with -finstrument-functions, which calls hook.c: the least that a recorder behind GCC's own hooks
 * can cost. */
#include "bench/harness.h"

static __attribute__((noinline)) void body(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((no_instrument_function)) void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++)
		body();
}

/* SPDX-License-Identifier: MIT
 *
 * record_bare.c - the reference: read the counter, store 8 bytes into a warm buffer, and nothing else. */
#include <stdint.h>
#include <x86intrin.h>

#include "bench/harness.h"

#define SLOTS (1 << 17) /* 1 MiB */

static __thread volatile uint64_t slots[SLOTS];
static __thread uint32_t next;

static inline void record(void)
{
	slots[next++ % SLOTS] = __rdtsc();
}

void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		record();
		record();
	}
}

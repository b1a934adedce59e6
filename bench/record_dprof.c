/* SPDX-License-Identifier: MIT
 *
 * record_dprof.c - a region, as the plugin instruments it. */
#include "bench/harness.h"

void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
#pragma dprof region(body)
		{
			__asm__ volatile("" ::: "memory");
		}
	}
}

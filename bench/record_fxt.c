/* SPDX-License-Identifier: MIT
 *
 * record_fxt.c - a peer: FxT's probe with one argument (as StarPU uses it), written to a file when its
 * buffer is full. */
#define CONFIG_FUT
#include <fxt/fxt.h>
#include <fxt/fut.h>
#include <unistd.h>

#include "bench/harness.h"

void bench_begin(void)
{
	fut_set_filename("fxt.trace");
	enable_fut_flush();
	fut_setup(64 << 20, FUT_KEYMASKALL, 0);
}

void bench_end(void)
{
	fut_endup("fxt.trace");
}

void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		FUT_DO_PROBE1(0x100, i);
		FUT_DO_PROBE1(0x101, i);
	}
}

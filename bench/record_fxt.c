/* SPDX-License-Identifier: MIT
 *
 * record_fxt.c - a peer: FxT's probe with one argument (as StarPU uses it), in its biggest buffer that
 * does not wrap here. */
#define CONFIG_FUT
#include <fxt/fxt.h>
#include <fxt/fut.h>
#include <unistd.h>

#include "bench/harness.h"

void bench_begin(void)
{
	fut_set_filename("/dev/null");
	enable_fut_flush();
	fut_setup(64 << 20, FUT_KEYMASKALL, 0);
}

void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		FUT_DO_PROBE1(0x100, i);
		FUT_DO_PROBE1(0x101, i);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * record_lttng.c - a peer: LTTng-UST tracepoints; bench/run starts the session that records them. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/record_lttng_tp.h"

#include "bench/harness.h"

void bench_record_pairs(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		lttng_ust_tracepoint(dprof_bench, enter, 1);
		lttng_ust_tracepoint(dprof_bench, leave, 1);
	}
}

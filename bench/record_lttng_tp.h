/* SPDX-License-Identifier: MIT
 *
 * record_lttng_tp.h - the two tracepoints of record_lttng.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER dprof_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/record_lttng_tp.h"

#if !defined(BENCH_RECORD_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_RECORD_LTTNG_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(dprof_bench, enter, LTTNG_UST_TP_ARGS(unsigned, site),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, site, site)))
LTTNG_UST_TRACEPOINT_EVENT(dprof_bench, leave, LTTNG_UST_TP_ARGS(unsigned, site),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, site, site)))

#endif
#include <lttng/tracepoint-event.h>

/* SPDX-License-Identifier: MIT
 *
 * counters.h - how the site of an atomic number is called at which threads take their work (plugin/counters.cc, counters.c). */
#ifndef RUNTIME_COUNTERS_H
#define RUNTIME_COUNTERS_H

#include <stdint.h>

#define DPROF_COUNTER "atomic counter"

/* Of a flag or a bit by which they claim it (plugin/claims.cc). */
#define DPROF_CLAIM "atomic claim"

/* Of what only decides what they do, and others set (plugin/flags.cc). */
#define DPROF_FLAG "flag in memory"

/* Of what counts down it is told how far it is below this: that only grows, too, and is a small number. */
#define DPROF_COUNTS_DOWN_FROM (INT64_C(1) << 40)

#endif

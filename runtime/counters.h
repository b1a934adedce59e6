/* SPDX-License-Identifier: MIT
 *
 * counters.h - how the site of an atomic number is called at which threads take their work (plugin/counters.cc, counters.c). */
#ifndef RUNTIME_COUNTERS_H
#define RUNTIME_COUNTERS_H

#define DPROF_COUNTER "atomic counter"

#endif

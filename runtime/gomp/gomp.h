/* SPDX-License-Identifier: MIT
 *
 * gomp.h - the parts of the adapter for GCC's OpenMP.
 *
 *   gomp.c    teams, barriers and tasks
 *   locks.c   critical sections, atomic ones, OpenMP's locks
 *
 * Linked only into programs that call libgomp, before it. */
#ifndef RUNTIME_GOMP_H
#define RUNTIME_GOMP_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/adapter.h"

/* libgomp's function of that name. */
#define REAL(name)                                                                               \
	({                                                                                       \
		static __typeof__(&name) found;                                                  \
		if (!__atomic_load_n(&found, __ATOMIC_RELAXED))                                  \
			__atomic_store_n(&found, (__typeof__(&name))dlsym(RTLD_NEXT, #name),     \
					 __ATOMIC_RELAXED);                                      \
		found;                                                                           \
	})

/* Is the call of the exported function in which this stands to be recorded? */
#define IS_OURS (dprof_adapter_recording() && dprof_adapter_is_ours(__builtin_return_address(0)))

#endif

/* SPDX-License-Identifier: MIT
 *
 * instance.c - which of many a region is: what the plugin calls behind the ENTER of
 * `region(NAME) instance(VALUE)`. Nothing, where that ENTER was left out. */
#include "runtime/adapter.h"
#include "runtime/thread.h"

DPROF_EXPORT void dprof_instance(uint64_t id);

void dprof_instance(uint64_t id)
{
	struct dprof_arguments a;

	if (dprof_dropped())
		return;
	a.words = 0;
	dprof_say(&a, DPROF_KEY_ID, id);
	dprof_adapter_add(dprof_adapter_place(), &a);
}

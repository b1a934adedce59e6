/* SPDX-License-Identifier: MIT
 *
 * instance.c - which of many a region is: what the plugin calls behind the ENTER of
 * `region(NAME) instance(VALUE)`. */
#include "runtime/adapter.h"

DPROF_EXPORT void dprof_instance(uint64_t id);

void dprof_instance(uint64_t id)
{
	dprof_adapter_arguments(&(struct dprof_argument){ DPROF_KEY_ID, id }, 1);
}

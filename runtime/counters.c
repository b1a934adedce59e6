/* SPDX-License-Identifier: MIT
 *
 * counters.c - atomic numbers by which threads take their work, where the plugin has seen that (plugin/counters.cc):
 *
 *   POINT atomic counter offset=ADDRESS tag=NUMBER    its thread has got that number
 *
 * A process with one thread has nobody to share it with. Law: the stamp is behind the moment at which it was counted. */
#include "runtime/adapter.h"
#include "runtime/thread.h"

DPROF_EXPORT void dprof_counted(const struct dprof_site *site, const void *object, long value);

void dprof_counted(const struct dprof_site *site, const void *object, long value)
{
	const struct dprof_argument a[] = { { DPROF_KEY_OFFSET, (uint64_t)object }, { DPROF_KEY_TAG, (uint64_t)value } };

	if (dprof_adapter_wanted(DPROF_KIND_WAIT) && !dprof_only_thread())
		dprof_adapter_record_with(site, DPROF_POINT, 0, a, 2);
}

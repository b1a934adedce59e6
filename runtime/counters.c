/* SPDX-License-Identifier: MIT
 *
 * counters.c - atomic numbers by which threads take their work, where the plugin has seen that (plugin/counters.cc):
 *
 *   POINT atomic counter offset=ADDRESS tag=NUMBER    its thread has got that number, or looked at it to get it
 *
 * A process with one thread has nobody to share it with. And pieces of work that take less than what is recorded of a
 * call that blocks (DPROF_BLOCKED_NS) are one piece: else those who take them so would be slower by much.
 *
 * Who looks at one again and again, which is still the same, waits until there is more.
 *
 * Law: the stamp is behind the moment at which it was counted. */
#include "runtime/adapter.h"
#include "runtime/thread.h"

static __thread struct { const void *object; uint64_t stamp; long value; } recorded;

DPROF_EXPORT void dprof_counted(const struct dprof_site *site, const void *object, long value);
DPROF_EXPORT void dprof_counted_by_looks(const struct dprof_site *site, const void *object, long value);

void dprof_counted(const struct dprof_site *site, const void *object, long value)
{
	const struct dprof_argument a[] = { { DPROF_KEY_OFFSET, (uint64_t)object }, { DPROF_KEY_TAG, (uint64_t)value } };

	uint64_t now;

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	now = dprof_adapter_now();
	if ((object == recorded.object && now - recorded.stamp < dprof_adapter_blocked_ticks) || dprof_only_thread())
		return;
	recorded.object = object;
	recorded.stamp = now;
	recorded.value = value;
	dprof_adapter_record_with(site, DPROF_POINT, now, a, 2);
}

void dprof_counted_by_looks(const struct dprof_site *site, const void *object, long value)
{
	if (object != recorded.object || value != recorded.value)
		dprof_counted(site, object, value);
}

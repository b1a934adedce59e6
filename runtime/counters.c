/* SPDX-License-Identifier: MIT
 *
 * counters.c - atomic numbers by which threads take their work, and flags by which they claim it, where the plugin has seen that
 * (plugin/counters.cc, claims.cc):
 *
 *   POINT atomic counter offset=ADDRESS tag=NUMBER    its thread has got that number, or looked at it to get it
 *   POINT atomic claim offset=ADDRESS tag=0           its thread has claimed what is there, or found it claimed
 *   POINT atomic claim offset=0 tag=1                 what it did then because of that is over
 *
 * A process with one thread has nobody to share it with. And pieces of work that take less than what is recorded of a
 * call that blocks (DPROF_BLOCKED_NS) are one piece: else those who take them so would be slower by much.
 *
 * Who looks at one again and again, which is still the same, waits until there is more.
 *
 * Of claims that are over at once, one after the other, only the first ones are said to be over: up to the next claim that is
 * recorded all is then taken for one piece.
 *
 * Law: the stamp is behind the moment at which it was counted, or claimed; nothing is said to be over that may go on. */
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

/* ---- Claims --------------------------------------------------------------------------------------- */

#define MOST_AT_ONCE 16

static __thread struct { const struct dprof_site *site; uint64_t stamp; unsigned at_once; bool open; } claim;

DPROF_EXPORT void dprof_claimed(const struct dprof_site *site, const void *object);
DPROF_EXPORT void dprof_claim_over(const struct dprof_site *site);

static void record_claim(const struct dprof_site *site, uint64_t now, const void *object, bool over)
{
	const struct dprof_argument a[] = { { DPROF_KEY_OFFSET, (uint64_t)object }, { DPROF_KEY_TAG, over } };

	claim.open = !over;
	dprof_adapter_record_with(site, DPROF_POINT, now, a, 2);
}

void dprof_claimed(const struct dprof_site *site, const void *object)
{
	uint64_t now;
	bool same = site == claim.site;

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	now = dprof_adapter_now();
	if ((same && claim.open && now - claim.stamp < dprof_adapter_blocked_ticks) || dprof_only_thread())
		return;
	if (!same || now - claim.stamp >= MOST_AT_ONCE * dprof_adapter_blocked_ticks)
		claim.at_once = 0;
	claim.site = site;
	claim.stamp = now;
	record_claim(site, now, object, false);
}

void dprof_claim_over(const struct dprof_site *site)
{
	uint64_t now;

	if (site != claim.site || !claim.open || claim.at_once == MOST_AT_ONCE)
		return;
	now = dprof_adapter_now();
	claim.at_once = now - claim.stamp < dprof_adapter_blocked_ticks ? claim.at_once + 1 : 0;
	record_claim(site, now, NULL, true);
}

/* SPDX-License-Identifier: MIT
 *
 * counters.c - atomic numbers by which threads take their work, and flags by which they claim it, where the plugin has seen that
 * (plugin/counters.cc, claims.cc):
 *
 *   POINT atomic counter offset=ADDRESS tag=NUMBER    its thread has got that number, or looked at it to get it
 *                        [role=1]                     in memory that processes share: ADDRESS is its number in all of them
 *   POINT atomic claim offset=ADDRESS tag=0           its thread has claimed what is there, or found it claimed
 *   POINT atomic claim offset=0 tag=1                 what it did then because of that is over
 *
 * A process with one thread shares with nobody what other processes have not got. And pieces of work that take less than what is
 * recorded of a call that blocks (DPROF_BLOCKED_NS) are one piece: else those who take them so would be slower by much.
 *
 * Who looks at one again and again, which is still the same, waits until there is more.
 *
 * Of claims that are over at once, one after the other, only the first ones are said to be over: up to the next claim that is
 * recorded all is then taken for one piece.
 *
 * Law: the stamp is behind the moment at which it was counted, or claimed; nothing is said to be over that may go on. */
#include "runtime/adapter.h"
#include "runtime/objects.h"
#include "runtime/thread.h"

static __thread struct { const void *object; uint64_t stamp; long value; } recorded;

DPROF_EXPORT void dprof_counted(const struct dprof_site *site, const void *object, long value);
DPROF_EXPORT void dprof_counted_by_looks(const struct dprof_site *site, const void *object, long value);

struct counted_place { uint64_t number; bool shared; };

static struct counted_place place_of(const void *object)
{
	uint64_t shared = dprof_shared_object_at(object);

	return (struct counted_place){ shared ? shared : (uint64_t)object, shared };
}

static bool is_only_ours(struct counted_place p)
{
	return !p.shared && dprof_only_thread();
}

static void record(const struct dprof_site *site, uint64_t now, struct counted_place p, uint64_t tag)
{
	const struct dprof_argument a[] = { { DPROF_KEY_OFFSET, p.number }, { DPROF_KEY_TAG, tag }, { DPROF_KEY_ROLE, 1 } };

	dprof_adapter_record_with(site, DPROF_POINT, now, a, p.shared ? 3 : 2);
}

void dprof_counted(const struct dprof_site *site, const void *object, long value)
{
	uint64_t now;
	struct counted_place p;

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	now = dprof_adapter_now();
	if (object == recorded.object && now - recorded.stamp < dprof_adapter_blocked_ticks)
		return;
	p = place_of(object);
	if (is_only_ours(p))
		return;
	recorded.object = object;
	recorded.stamp = now;
	recorded.value = value;
	record(site, now, p, (uint64_t)value);
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

static void record_claim(const struct dprof_site *site, uint64_t now, struct counted_place p, bool over)
{
	claim.open = !over;
	record(site, now, p, over);
}

void dprof_claimed(const struct dprof_site *site, const void *object)
{
	uint64_t now;
	struct counted_place p;
	bool same = site == claim.site;

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	now = dprof_adapter_now();
	if (same && claim.open && now - claim.stamp < dprof_adapter_blocked_ticks)
		return;
	p = place_of(object);
	if (is_only_ours(p))
		return;
	if (!same || now - claim.stamp >= MOST_AT_ONCE * dprof_adapter_blocked_ticks)
		claim.at_once = 0;
	claim.site = site;
	claim.stamp = now;
	record_claim(site, now, p, false);
}

void dprof_claim_over(const struct dprof_site *site)
{
	uint64_t now;

	if (site != claim.site || !claim.open || claim.at_once == MOST_AT_ONCE)
		return;
	now = dprof_adapter_now();
	claim.at_once = now - claim.stamp < dprof_adapter_blocked_ticks ? claim.at_once + 1 : 0;
	record_claim(site, now, (struct counted_place){ 0 }, true);
}

/* SPDX-License-Identifier: MIT
 *
 * counters.c - atomic numbers by which threads take their work, and flags by which they claim it, where the plugin has seen that
 * (plugin/counters.cc, claims.cc):
 *
 *   POINT atomic counter offset=ADDRESS tag=NUMBER    its thread has got that number, or looked at it to get it
 *                        [role=1]                     in memory that processes share: ADDRESS is its number in all of them; NUMBER
 *                                                     is -1 of what is none
 *   POINT flag in memory offset=SITE                  once for each place: an asm statement has locked memory and may have found
 *                                                     there what to do, which cannot be followed
 *   POINT atomic claim offset=ADDRESS tag=0           its thread has claimed what is there, or found it claimed
 *   POINT atomic claim offset=0 tag=1                 what it did then because of that is over
 *
 * A process with one thread shares with nobody what other processes have not got. And pieces of work that take less than what is
 * recorded of a call that blocks (DPROF_BLOCKED_NS) are one piece: else those who take them so would be slower by much.
 *
 * Who looks at one again and again, which is still the same, waits until there is more.
 *
 * Of claims that are over at once, one after the other, as of vertices of a graph, only the first ones are said to be over, and
 * few of the others are recorded: up to the next claim that is, all is one piece.
 *
 * Law: the stamp is behind the moment at which it was counted, or claimed; nothing is said to be over that may go on. */
#include "runtime/adapter.h"
#include "runtime/objects.h"
#include "runtime/thread.h"

static __thread struct { const void *object; uint64_t stamp; long value; } recorded;

DPROF_EXPORT void dprof_counted_unseen(const struct dprof_site *site);
DPROF_EXPORT void dprof_counted(const struct dprof_site *site, const void *object, long value);
DPROF_EXPORT void dprof_counted_by_looks(const struct dprof_site *site, const void *object, long value);
DPROF_EXPORT void dprof_counted_bytes(const struct dprof_site *site, const void *object, const void *what, long size);

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

/* Of what is no number of at most 8 bytes, and so is none for those who read the record. */
void dprof_counted_bytes(const struct dprof_site *site, const void *object, const void *what, long size)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (long i = 0; i < size; i++)
		sum = (sum ^ ((const unsigned char *)what)[i]) * UINT64_C(0x100000001b3);
	if (object == recorded.object && (long)sum == recorded.value)
		return;
	dprof_counted(site, object, -1);
	if (object == recorded.object && recorded.value == -1)
		recorded.value = (long)sum;
}

/* ---- What nobody can follow ------------------------------------------------------------------------ */

/* By their addresses. */
static const struct dprof_site *said[256];

void dprof_counted_unseen(const struct dprof_site *site)
{
	const struct dprof_site **s = &said[(uintptr_t)site / sizeof(*site) % 256];
	const struct dprof_argument a[] = { { DPROF_KEY_OFFSET, (uint64_t)site } };

	if (__atomic_load_n(s, __ATOMIC_RELAXED) == site || !dprof_adapter_wanted(DPROF_KIND_WAIT) || dprof_only_thread())
		return;
	if (__atomic_exchange_n(s, site, __ATOMIC_RELAXED) != site)
		dprof_adapter_record_with(site, DPROF_POINT, 0, a, 1);
}

/* ---- Claims --------------------------------------------------------------------------------------- */

#define MOST_AT_ONCE 16
#define A_FEW        8 /* claims at one place between two looks at the clock */
#define PLACES       4

/* Of claims at one place, the last ones of this thread: when one was recorded, when the clock was looked at, how many were over at
 * once, how many came since that look, and how many are not over yet, one in what is done for another. */
static __thread struct claims {
	const struct dprof_site *site;
	uint64_t stamp, looked;
	unsigned at_once, since, depth;
	bool open;
} places[PLACES];

DPROF_EXPORT void dprof_claimed(const struct dprof_site *site, const void *object);
DPROF_EXPORT void dprof_claim_over(const struct dprof_site *site);

static struct claims *claims_at(const struct dprof_site *site)
{
	return &places[(uintptr_t)site / sizeof(*site) % PLACES];
}

static void record_claim(struct claims *c, uint64_t now, struct counted_place p, bool over)
{
	c->open = !over;
	record(c->site, now, p, over);
}

/* One behind the other, so that all are part of the last that was recorded. */
static bool come_at_once(struct claims *c, uint64_t now)
{
	uint64_t apart = now - c->looked;

	c->looked = now;
	if (apart >= A_FEW * MOST_AT_ONCE * dprof_adapter_blocked_ticks)
		c->at_once = 0;
	return c->open && now - c->stamp < (c->at_once < MOST_AT_ONCE ? dprof_adapter_blocked_ticks : dprof_adapter_pause_ticks);
}

void dprof_claimed(const struct dprof_site *site, const void *object)
{
	struct claims *c = claims_at(site);
	struct counted_place p;
	uint64_t now;

	if (c->site != site)
		*c = (struct claims){ .site = site };
	c->depth++;
	if (c->open && c->at_once == MOST_AT_ONCE && ++c->since % A_FEW)
		return;
	if (!dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	now = dprof_adapter_now();
	if (come_at_once(c, now))
		return;
	p = place_of(object);
	if (is_only_ours(p))
		return;
	c->stamp = now;
	record_claim(c, now, p, false);
}

void dprof_claim_over(const struct dprof_site *site)
{
	struct claims *c = claims_at(site);
	uint64_t now;

	if (c->site != site || c->depth == 0 || --c->depth > 0 || !c->open || c->at_once == MOST_AT_ONCE)
		return;
	now = dprof_adapter_now();
	c->at_once = now - c->stamp < dprof_adapter_blocked_ticks ? c->at_once + 1 : 0;
	record_claim(c, now, (struct counted_place){ 0 }, true);
}

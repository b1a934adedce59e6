/* SPDX-License-Identifier: MIT
 *
 * spins.c - waits in memory, where the plugin has seen them (plugin/spins.cc):
 *
 *   ENTER spin wait id=ADDRESS ... EXIT              a thread has looked in vain for as long as a call that blocks
 *   ENTER spin wait until=0 peer=UNKNOWN ... EXIT    likewise; where it looked, or at which of several places, is not known; or it
 *                                                    has given up
 *   ENTER spin wait id=ADDRESS role=0 EXIT           it need not wait, as somebody has stored there before
 *   POINT spin wait                                  it need not wait, and where it looked is not known, or takes a lock: once for
 *                                                    each place in the code
 *   POINT store to memory id=ADDRESS                 something is stored where threads wait so
 *
 * In memory that processes share it is object=NUMBER that says where.
 *
 * Who looks and finds what was found there before leaves no record. Nor does who stores, unless somebody waits there, or need not
 * wait since the last store that was recorded; but in memory that processes share, where nobody knows that, once in as long as a
 * call takes that blocks. As often a thread that need not wait is recorded.
 *
 * Law: a thread that has looked in vain for longer than that has a record from its first look in vain to its last look. */
#include "runtime/spins.h"

#include "runtime/adapter.h"
#include "runtime/objects.h"
#include "runtime/thread.h"

#define PLACES 1024 /* that are remembered */
#define TRIES  8    /* where one may stand */

/* A place in memory. `looked`: somebody has waited there, or looked and need not wait; and has found this number there last;
 * `changed`: it was another one before that; `passed`: somebody need not wait since the last store that was recorded. Key 0:
 * none. */
static struct spin_place {
	uint64_t key, number, stored;
	uint32_t waiting;
	bool looked, changed, passed;
} places[PLACES];

/* One loop, on the stack of whoever runs it: since when it has looked in vain (stamp 0: not yet), where it has looked last, what
 * it has found, and where it is counted as waiting. */
struct dprof_spin { struct dprof_moment since; const void *object; uint64_t number; struct spin_place *at; };

DPROF_EXPORT void dprof_spins(const struct dprof_site *, struct dprof_spin *);
DPROF_EXPORT void dprof_spun(const struct dprof_site *, struct dprof_spin *, enum dprof_spin_how);

DPROF_SITE_OF(site_store, DPROF_KIND_WAIT, DPROF_SPIN_STORE);
#define SITE(s) ((const struct dprof_site *)&(s))

/* Where that is: an address, or a number that all processes have that share it. */
static struct dprof_argument where(const void *object)
{
	uint64_t shared = dprof_known_shared_object(object);

	return (struct dprof_argument){ shared ? DPROF_KEY_OBJECT : DPROF_KEY_ID, shared ? shared : (uint64_t)object };
}

static struct spin_place *place_of(const void *object)
{
	uint64_t key = (uint64_t)object, at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 40;

	for (uint64_t i = 0; object && i < TRIES; i++) {
		struct spin_place *p = &places[(at + i) % PLACES];
		uint64_t there = __atomic_load_n(&p->key, __ATOMIC_RELAXED);

		if (there == 0 && __atomic_compare_exchange_n(&p->key, &there, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			there = key;
		if (there == key)
			return p;
	}
	return NULL;
}

static bool is_set(const bool *what)
{
	return __atomic_load_n(what, __ATOMIC_RELAXED);
}

/* A store takes the line from the others. */
static void set(bool *what, bool value)
{
	if (is_set(what) != value)
		__atomic_store_n(what, value, __ATOMIC_RELAXED);
}

static bool is_alone(const void *object)
{
	return dprof_only_thread() && !dprof_known_shared_object(object);
}

/* The loop in which the calling thread waits, and since when. */
static __thread struct { const struct dprof_spin *loop; uint64_t since; } under_way;

/* A loop that was left by a jump or an exception is none any more: it is not above us, or waits no longer. */
bool dprof_adapter_spins(void)
{
	return under_way.since && dprof_adapter_open_call.since == under_way.since &&
	       (uintptr_t)under_way.loop > (uintptr_t)__builtin_frame_address(0);
}

/* ---- Who looks ------------------------------------------------------------------------------------- */

void dprof_spins(const struct dprof_site *site, struct dprof_spin *spin)
{
	struct dprof_open_call *open = &dprof_adapter_open_call;
	struct spin_place *p;

	if (spin->since.stamp || !dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	spin->since = dprof_adapter_moment();
	open->site = site;
	open->caller = NULL;
	under_way.loop = spin;
	under_way.since = spin->since.stamp;
	__atomic_store_n(&open->since, spin->since.stamp, __ATOMIC_RELEASE);
	p = spin->at = place_of(spin->object);
	if (!p)
		return;
	set(&p->looked, true);
	__atomic_fetch_add(&p->waiting, 1, __ATOMIC_RELAXED);
}

/* Behind what a signal handler has recorded meanwhile. */
static void record_interrupted(const struct dprof_site *site, const struct dprof_spin *spin, uint64_t now,
			       const struct dprof_argument *a, unsigned n)
{
	struct dprof_arguments all = { 0 };

	dprof_say_all(&all, a, n);
	dprof_adapter_record_enter_at(site, spin->since, &all);
	dprof_adapter_record(site, DPROF_EXIT, now, NULL);
}

static void record_wait(const struct dprof_site *site, const struct dprof_spin *spin, uint64_t now)
{
	const struct dprof_argument unknown[] = { { DPROF_KEY_UNTIL, 0 }, { DPROF_KEY_PEER, DPROF_PEER_UNKNOWN } };
	const struct dprof_argument known[] = { where(spin->object) }, *a = spin->object ? known : unknown;
	unsigned n = spin->object ? 1 : 2;

	if (spin->since.place == dprof_adapter_place())
		dprof_adapter_record_visit_with(site, spin->since.stamp, now, a, n);
	else
		record_interrupted(site, spin, now, a, n);
}

/* Whether somebody has stored there since anybody looked last; of what is no number that is not known. */
static bool has_changed(struct spin_place *p, const struct dprof_spin *spin, bool is_number)
{
	if (!is_set(&p->looked)) {
		set(&p->looked, true);
		__atomic_store_n(&p->number, spin->number, __ATOMIC_RELAXED);
		return is_set(&p->changed) || dprof_known_shared_object(spin->object);
	}
	if (is_number && __atomic_load_n(&p->number, __ATOMIC_RELAXED) == spin->number)
		return false;
	__atomic_store_n(&p->number, spin->number, __ATOMIC_RELAXED);
	return true;
}

static void record_found(const struct dprof_site *site, const void *object)
{
	static __thread uint64_t last;
	const struct dprof_argument a[] = { where(object), { DPROF_KEY_ROLE, 0 } };
	uint64_t now = dprof_adapter_now();

	if (now - last < dprof_adapter_blocked_ticks)
		return;
	last = now;
	dprof_adapter_record_visit_with(site, now, now, a, 2);
}

/* Whether it is said already that a thread need not wait there, where it is not known what it finds: once of each site, and of all
 * for which there is no room. */
static bool *said_of(const struct dprof_site *site)
{
	static bool of_others;
	struct spin_place *p = place_of(site);

	return p ? &p->looked : &of_others;
}

static bool was_said(const struct dprof_site *site)
{
	return is_set(said_of(site));
}

static void say(const struct dprof_site *site)
{
	set(said_of(site), true);
}

/* It is over: since when it has looked in vain, for as long that it is recorded. */
static bool has_waited(const struct dprof_site *site, const struct dprof_spin *spin)
{
	uint64_t now = dprof_adapter_now_fenced();

	dprof_adapter_open_call.since = 0;
	under_way.since = 0;
	if (spin->at)
		__atomic_fetch_sub(&spin->at->waiting, 1, __ATOMIC_RELAXED);
	if (now - spin->since.stamp < dprof_adapter_blocked_ticks)
		return false;
	record_wait(site, spin, now);
	return true;
}

/* In another run it may have to wait there. */
static void may_wait(const struct dprof_site *site)
{
	if (was_said(site) || !dprof_adapter_wanted(DPROF_KIND_WAIT))
		return;
	dprof_adapter_point(site);
	say(site);
}

static void found(const struct dprof_site *site, const struct dprof_spin *spin, struct spin_place *p, bool is_number)
{
	if (!has_changed(p, spin, is_number) || !dprof_adapter_wanted(DPROF_KIND_WAIT) || is_alone(spin->object))
		return;
	set(&p->passed, true);
	record_found(site, spin->object);
}

void dprof_spun(const struct dprof_site *site, struct dprof_spin *spin, enum dprof_spin_how how)
{
	struct spin_place *p;

	if ((spin->since.stamp && has_waited(site, spin)) || how == DPROF_SPIN_COMPUTES)
		return;
	p = how == DPROF_SPIN_TAKES ? NULL : place_of(spin->object);
	if (p)
		found(site, spin, p, how == DPROF_SPIN_NUMBER);
	else if (!is_alone(spin->object))
		may_wait(site);
}

/* ---- Who stores ------------------------------------------------------------------------------------ */

static void record_store(const void *object, uint64_t now)
{
	const struct dprof_argument a[] = { where(object) };

	dprof_adapter_record_with(SITE(site_store), DPROF_POINT, now, a, 1);
}

void dprof_changes(const void *object)
{
	struct spin_place *p = place_of(object);
	bool waits = p && __atomic_load_n(&p->waiting, __ATOMIC_RELAXED) > 0;
	uint64_t now;

	if (p && !is_set(&p->looked))
		set(&p->changed, true);
	if (!p || (!waits && !is_set(&p->passed) && !dprof_known_shared_object(object)))
		return;
	now = dprof_adapter_now();
	if (!dprof_adapter_wanted(DPROF_KIND_WAIT) || is_alone(object) ||
	    (!waits && now - __atomic_load_n(&p->stored, __ATOMIC_RELAXED) < dprof_adapter_blocked_ticks))
		return;
	__atomic_store_n(&p->stored, now, __ATOMIC_RELAXED);
	set(&p->passed, false);
	record_store(object, now);
}

void dprof_spins_forget(void)
{
	for (unsigned i = 0; i < PLACES; i++)
		places[i].waiting = 0;
}

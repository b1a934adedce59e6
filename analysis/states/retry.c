/* SPDX-License-Identifier: MIT
 *
 * retry.c - see retry.h. */
#include "analysis/states/retry.h"

#define ROUND_SLEEPS 4 /* a loop may sleep at so many places */
#define ROUND_EVENTS 64 /* and may have so many events between two of its looks */

/* What a thread has begun since it last slept, and has not ended; and how many it has of what it took and has to give back
 * (negative: gave, and has to take). `told`: somebody may wait for signals of conditions. */
struct looking { unsigned inside, locks; uint64_t what; int64_t has; bool told; };

/* It may have got nothing. */
static bool may_be_in_vain(const struct operation *o, const struct tr_event *e)
{
	bool got = trace_has(e, DPROF_KEY_BYTES) || trace_has(e, DPROF_KEY_OBJECT) || trace_has(e, DPROF_KEY_ID) ||
		   trace_has(e, DPROF_KEY_PROCESS);
	return arg_in_vain(o, e) || arg_expired(o, e) || (arg_for_unknown(o, e) && !got);
}

/* A lock is held from its EXIT to a POINT of the same kind. One that is held while the thread sleeps is none that it
 * looked with. */
static bool looks_with_lock(struct looking *l, uint8_t op)
{
	if (op == DPROF_EXIT)
		l->locks++;
	return op != DPROF_POINT || l->locks-- > 0;
}

/* Which semaphore, lock of a file or channel it takes from or gives to; ARG_NONE: none of these. */
static uint64_t exchanged(const struct operation *o, const struct tr_event *e)
{
	bool permits = o->is & OP_SEMAPHORE && !o->carries && !o->makes;
	uint64_t address = permits ? arg_address(o, e) : ARG_NONE;
	uint64_t object = permits || o->locks ? arg_object(o, e) : ARG_NONE;
	return address != ARG_NONE ? address : object != ARG_NONE ? object : arg_channel(o, e);
}

/* Who takes something and gives as much back, or takes bytes that it has given itself, tells nobody anything. What it gives
 * first and takes then may be a lock that it has while it sleeps. */
static bool exchanges(struct looking *l, const struct operation *o, const struct tr_event *e)
{
	uint64_t what = exchanged(o, e);
	if (what == ARG_NONE || (l->has != 0 && l->what != what) || (e->op == DPROF_POINT && l->has <= 0))
		return false;
	int64_t n = arg_channel(o, e) == what ? (int64_t)arg_moved(o, e) : 1;
	l->what = what;
	l->has += e->op == DPROF_POINT || arg_gives_bytes(o, e) ? -n : n;
	return true;
}

/* All of that has been ended. */
static bool is_done(const struct looking *l)
{
	return l->inside == 0 && l->locks == 0 && l->has == 0;
}

/* The event that the cursor has just given. */
static bool is_look(const struct tr_cursor *events, const struct tr_event *e, struct looking *l)
{
	const struct operation *o = tr_operation(events->trace, e);
	struct tr_event x = *e;
	if (o->is & OP_REGION)
		return events->trace->sites[e->site].automatic;
	if (e->op == DPROF_EXIT && l->inside-- == 0)
		return false;
	l->inside += e->op == DPROF_ENTER;
	if (o->kind == DPROF_KIND_LOCK)
		return !(o->is & (OP_MPI | OP_IN_ORDER)) && looks_with_lock(l, e->op);
	if (o->kind == DPROF_KIND_WAIT && e->op != DPROF_EXIT) {
		trace_arguments(events, &x);
		return (o->tells && !l->told) || (e->op == DPROF_ENTER && may_be_in_vain(o, &x)) || exchanges(l, o, &x);
	}
	return o->kind == DPROF_KIND_WAIT || (o->kind == DPROF_KIND_IO && e->op != DPROF_POINT);
}

static bool is_known(const struct tr_event *e)
{
	return e->op != DPROF_LOST && e->site != TR_NO_SITE;
}

/* As retry_until_sleep(); the cursor is then behind the sleep's ENTER, which is *sleep. */
static size_t go_to_sleep(const struct roles *roles, struct tr_cursor *events, uint64_t latest, struct tr_event *sleep)
{
	struct looking l = { .told = roles->told };
	for (size_t n = 1; n <= ROUND_EVENTS && trace_next_bare(events, sleep) && is_known(sleep) && sleep->stamp <= latest; n++) {
		if (tr_is(events->trace, sleep->site, OP_SLEEP))
			return sleep->op == DPROF_ENTER && is_done(&l) ? n : 0;
		if (!is_look(events, sleep, &l))
			break;
	}
	return 0;
}

size_t retry_until_sleep(const struct roles *roles, struct tr_cursor events, uint64_t latest)
{
	struct tr_event sleep;
	return go_to_sleep(roles, &events, latest, &sleep);
}

bool retry_begins(const struct roles *roles, struct tr_cursor events, const struct tr_event *sleep)
{
	struct tr_event begin = *sleep, end;
	uint64_t longest = 0;
	unsigned here = 1;
	for (int n = 0; here < RETRY_SLEEPS && n < RETRY_SLEEPS * ROUND_SLEEPS; n++) {
		if (!trace_next_bare(&events, &end) || end.site != begin.site || end.op != DPROF_EXIT)
			break;
		longest = end.stamp - begin.stamp > longest ? end.stamp - begin.stamp : longest;
		if (!go_to_sleep(roles, &events, end.stamp + longest, &begin))
			break;
		here += begin.site == sleep->site;
	}
	return here == RETRY_SLEEPS;
}

/* Over sleeps and looks, and how long the former took. */
static bool passes(const struct tr_cursor *events, const struct tr_event *e, struct looking *l, uint64_t *slept)
{
	if (!tr_is(events->trace, e->site, OP_SLEEP))
		return is_look(events, e, l);
	*slept += e->op == DPROF_EXIT ? e->stamp : e->op == DPROF_ENTER ? -e->stamp : 0;
	return l->locks == 0 && l->has == 0;
}

size_t retry_until_attempt(const struct roles *roles, struct tr_cursor events)
{
	struct looking l = { .told = roles->told };
	struct tr_event e;
	uint64_t slept = 0;
	for (size_t n = 1; n <= ROUND_EVENTS && trace_next_bare(&events, &e) && is_known(&e); n++) {
		if (e.op == DPROF_ENTER && tr_may_try(events.trace, e.site))
			return l.has == 0 ? n : 0;
		if (!passes(&events, &e, &l, &slept))
			break;
	}
	return 0;
}

/* It takes bytes, of what it has asked for, perhaps, by another call. */
static bool takes(const struct tr_cursor *events, const struct tr_event *e)
{
	const struct operation *o = tr_operation(events->trace, e);
	struct tr_event x = *e;
	if (o->kind != DPROF_KIND_WAIT)
		return false;
	trace_arguments(events, &x);
	return arg_channel(o, &x) != ARG_NONE && !arg_gives_bytes(o, &x);
}

size_t retry_until_wait(const struct roles *roles, struct tr_cursor events, uint32_t site, uint64_t since)
{
	struct looking l = { .told = roles->told };
	struct tr_event e;
	uint64_t slept = 0;
	for (size_t n = 1; n <= ROUND_EVENTS && trace_next_bare(&events, &e) && is_known(&e); n++) {
		bool asks = e.op == DPROF_ENTER && (e.site == site || tr_is(events.trace, e.site, OP_ATTEMPT) ||
						    takes(&events, &e));
		if (asks && slept > 0)
			return e.stamp - since <= 2 * slept && l.has == 0 ? n : 0;
		if (!passes(&events, &e, &l, &slept))
			break;
	}
	return 0;
}

#define SMALL_PART 16 /* of the wait before */

/* From behind a wait's EXIT to the ENTER of the next one at its place, *next; the cursor is then behind that. 0: there is none. */
static size_t go_to_next(const struct roles *roles, struct tr_cursor *events, uint32_t site, uint64_t latest, struct tr_event *next)
{
	struct looking l = { .told = roles->told };
	for (size_t n = 1; n <= ROUND_EVENTS && trace_next_bare(events, next) && is_known(next) && next->stamp <= latest; n++) {
		if (next->op == DPROF_ENTER && next->site == site)
			return l.has == 0 ? n : 0;
		if (!is_look(events, next, &l))
			break;
	}
	return 0;
}

size_t retry_until_told(const struct roles *roles, struct tr_cursor events, uint32_t site, uint64_t since, bool *told)
{
	struct tr_event e;
	size_t n = 0;
	for (*told = false; !*told && trace_next_bare(&events, &e) && e.op == DPROF_EXIT && e.site == site; since = e.stamp) {
		size_t further = go_to_next(roles, &events, site, e.stamp + (e.stamp - since) / SMALL_PART, &e);
		n += 1 + further;
		if (further == 0)
			break;
		trace_arguments(&events, &e);
		*told = !arg_expired(tr_operation(events.trace, &e), &e) && !arg_in_vain(tr_operation(events.trace, &e), &e);
	}
	return n;
}

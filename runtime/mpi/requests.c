/* SPDX-License-Identifier: MIT
 *
 * requests.c - what was begun and is not complete, by MPI's handle for it.
 *
 * Some handles stand for several operations at once: an MPI may give the same one to all sends that
 * were complete as soon as they had begun. It does not matter which of those a wait is said to
 * complete, but each is completed once. And a handle may be given out again before the thread that
 * completed the former operation has come here to drop it. So a call takes its operations before it
 * waits for them, and what is taken is not found.
 *
 * Law: an operation is said to be done once, by the call that completed it; memory is what was under
 * way at most. */
#include "runtime/mpi/adapter.h"

#include <sched.h>
#include <stdlib.h>

#define CHAINS 4096 /* each as long as what is under way is a multiple of that */
#define LOCKS  64

#define SLAB   64 /* are made at once */

static struct request *chains[CHAINS];
uint64_t request_numbers;
static bool locks[LOCKS]; /* ours: those of pthreads may be recorded */
static struct request *unused; /* kept for the next */
static bool unused_lock;

/* Handles are small integers or addresses. */
static unsigned chain_of(uint64_t handle)
{
	return (unsigned)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % CHAINS;
}

/* Where one thread after the other calls MPI they need none. */
static void lock(bool *l)
{
	while (mpi_multiple && __atomic_test_and_set(l, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(bool *l)
{
	if (mpi_multiple)
		__atomic_clear(l, __ATOMIC_RELEASE);
}

static bool *lock_of(unsigned chain)
{
	return &locks[chain % LOCKS];
}

static uint64_t number_of(MPI_Request handle)
{
	return (uint64_t)(uintptr_t)handle;
}

/* More of them, while they are locked; where memory is short, none. */
static void make_slab(void)
{
	struct request *slab = malloc(SLAB * sizeof(*slab));

	for (int i = 0; slab && i < SLAB; i++) {
		slab[i].next = unused;
		unused = &slab[i];
	}
}

static struct request *allocate(void)
{
	struct request *r;

	lock(&unused_lock);
	if (!unused)
		make_slab();
	r = unused;
	if (r)
		unused = r->next;
	unlock(&unused_lock);
	return r;
}

static void give_back(struct request *r)
{
	lock(&unused_lock);
	r->next = unused;
	unused = r;
	unlock(&unused_lock);
}

static struct request *copy(const struct request *what)
{
	struct request *r = allocate();

	if (!r)
		return NULL;
	*r = *what;
	if (r->envelope.group)
		group_keep(r->envelope.group);
	return r;
}

/* While it is locked. */
static void link_to(unsigned chain, struct request *r)
{
	r->next = chains[chain];
	chains[chain] = r;
}

static void put(MPI_Request handle, struct request *r)
{
	unsigned chain = chain_of(number_of(handle));

	r->handle = number_of(handle);
	lock(lock_of(chain));
	link_to(chain, r);
	unlock(lock_of(chain));
}

void request_add(MPI_Request handle, const struct request *what)
{
	struct request *r = copy(what);

	if (!r)
		return;
	if (r->also)
		r->also = copy(r->also);
	put(handle, r);
}

/* What most requests are: nothing else of it is set but this. */
void request_add_message(MPI_Request handle, enum dprof_kind kind, uint64_t id,
			 const struct message_envelope *e)
{
	struct request *r = allocate();

	if (!r)
		return;
	r->again = NULL;
	r->envelope = *e;
	r->id = id;
	r->kind = kind;
	r->taken = r->no_status = false;
	r->also = NULL;
	r->parts = NULL;
	r->made_id = 0;
	if (e->group)
		group_keep(e->group);
	put(handle, r);
}

void request_foreign(MPI_Request handle)
{
	struct request r = { .kind = DPROF_KIND_WAIT, .id = 1 };

	if (mpi_active && dprof_adapter_recording())
		request_add(handle, &r);
}

/* Most that are taken leave their chain: as many may have the same handle as are under way. Of one in parts it
 * may be asked meanwhile. */
static struct request *find(MPI_Request handle, bool take)
{
	uint64_t number = number_of(handle);
	unsigned chain = chain_of(number);
	struct request **at = &chains[chain], *r;

	if (handle == MPI_REQUEST_NULL)
		return NULL;
	lock(lock_of(chain));
	while ((r = *at) && (r->handle != number || (take && r->taken)))
		at = &r->next;
	if (r && take && r->parts)
		r->taken = true;
	else if (r && take)
		*at = r->next;
	unlock(lock_of(chain));
	return r;
}

struct request *request_take(MPI_Request handle)
{
	return find(handle, true);
}

struct request *request_look(MPI_Request handle)
{
	return find(handle, false);
}

void request_put_back(struct request *r)
{
	unsigned chain = chain_of(r->handle);

	lock(lock_of(chain));
	if (r->parts)
		r->taken = false;
	else
		link_to(chain, r);
	unlock(lock_of(chain));
}

static void forget(struct request *r)
{
	if (__builtin_expect(r->also || r->parts, 0)) {
		if (r->also)
			forget(r->also);
		if (r->parts)
			parts_free(r->parts);
	}
	if (r->envelope.group)
		group_release(r->envelope.group);
	give_back(r);
}

static void unlink_from(unsigned chain, const struct request *r)
{
	struct request **at = &chains[chain];

	lock(lock_of(chain));
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	unlock(lock_of(chain));
}

void request_drop(struct request *r)
{
	if (r->parts)
		unlink_from(chain_of(r->handle), r);
	forget(r);
}

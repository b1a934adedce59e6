/* SPDX-License-Identifier: MIT
 *
 * requests.c - requests.h where several threads call MPI, or for what is not plain. */
#include "runtime/mpi/adapter.h"
#include "runtime/sys.h"

#include <stdlib.h>

#define LOCKS  64
#define SLAB   64 /* are made at once */

struct request *request_chains[REQUEST_CHAINS], *requests_unused;
uint64_t request_numbers;
static bool locks[LOCKS]; /* ours: those of pthreads may be recorded */
static bool unused_lock;

/* Where one thread after the other calls MPI they need none. */
static void lock(bool *l)
{
	for (unsigned n = 0; mpi_multiple && __atomic_test_and_set(l, __ATOMIC_ACQUIRE); n++)
		sys_wait_for_other(n);
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

/* More of them, while they are locked; where memory is short, none. */
static void make_slab(void)
{
	struct request *slab = calloc(SLAB, sizeof(*slab));

	for (int i = 0; slab && i < SLAB; i++) {
		slab[i].next = requests_unused;
		requests_unused = &slab[i];
	}
}

struct request *request_new_any(void)
{
	struct request *r;

	lock(&unused_lock);
	if (!requests_unused)
		make_slab();
	r = requests_unused;
	if (r)
		requests_unused = r->next;
	unlock(&unused_lock);
	return r;
}

static void give_back(struct request *r)
{
	if (!r->plain)
		*r = (struct request){ 0 };
	lock(&unused_lock);
	r->next = requests_unused;
	requests_unused = r;
	unlock(&unused_lock);
}

static struct request *copy(const struct request *what)
{
	struct request *r = request_new();

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
	r->next = request_chains[chain];
	request_chains[chain] = r;
}

void request_put_any(struct request *r)
{
	unsigned chain = request_chain_of(r->handle);

	lock(lock_of(chain));
	link_to(chain, r);
	unlock(lock_of(chain));
}

void request_add(MPI_Request handle, const struct request *what)
{
	struct request *r = copy(what);

	if (!r)
		return;
	for (struct request *also = r; also && also->also; also = also->also)
		also->also = copy(also->also);
	request_put(handle, r);
}

static void add_foreign(MPI_Request handle, uint64_t id)
{
	struct request r = { .kind = DPROF_KIND_WAIT, .id = id };

	if (mpi_active && dprof_adapter_recording())
		request_add(handle, &r);
}

void request_foreign(MPI_Request handle)
{
	add_foreign(handle, 1);
}

void request_fetches(MPI_Request handle)
{
	add_foreign(handle, REQUEST_FETCHES);
}

/* Most that are taken leave their chain: as many may have the same handle as are under way. Of one in parts it
 * may be asked meanwhile. */
static struct request *find(MPI_Request handle, bool take)
{
	uint64_t key = request_key(handle);
	unsigned chain = request_chain_of(key);
	struct request **at = &request_chains[chain], *r;

	lock(lock_of(chain));
	while ((r = *at) && (r->handle != key || (take && r->taken)))
		at = &r->next;
	if (r && take && r->parts)
		r->taken = true;
	else if (r && take)
		*at = r->next;
	unlock(lock_of(chain));
	return r;
}

struct request *request_take_any(MPI_Request handle)
{
	return find(handle, true);
}

struct request *request_look(MPI_Request handle)
{
	return find(handle, false);
}

void request_put_back(struct request *r)
{
	unsigned chain = request_chain_of(r->handle);

	lock(lock_of(chain));
	if (r->parts)
		r->taken = false;
	else
		link_to(chain, r);
	unlock(lock_of(chain));
}

static void forget(struct request *r)
{
	for (struct request *also; r; r = also) {
		also = r->also;
		if (r->parts)
			parts_free(r->parts);
		if (r->envelope.group)
			group_release(r->envelope.group);
		give_back(r);
	}
}

static void unlink_from(unsigned chain, const struct request *r)
{
	struct request **at = &request_chains[chain];

	lock(lock_of(chain));
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	unlock(lock_of(chain));
}

void request_drop_any(struct request *r)
{
	if (r->parts)
		unlink_from(request_chain_of(r->handle), r);
	forget(r);
}

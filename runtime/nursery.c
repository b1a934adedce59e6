/* SPDX-License-Identifier: MIT
 *
 * nursery.c - batches of slots, each with a bit for each slot that is still to be taken.
 *
 * A slot is mapped by its own thread, or in a batch. Which of both is settled by the order of three things, each of
 * which all threads see in the same order: a thread's number is given out before it looks whether a batch is being
 * made; and the helper says that it makes one before it looks which numbers are given out. Those it leaves to their
 * threads; all others wait for the batch.
 *
 * What a thread leaves behind stays mapped until its batch is replaced: to unmap one page at a time costs a thread more
 * than its records, as all cores have to hear of it.
 *
 * Of a batch that is replaced, or given back at the end, the bits are cleared first. What is given back at the end has
 * a hole in its place, which the file keeps: so whoever is about to map its own slot never finds the file too short. */
#include "runtime/nursery.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <time.h>

#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define BATCH     32 /* slots */
#define BATCHES   8  /* that are ready, at most */
#define AHEAD     64 /* slots that are mapped before their threads are made; less among few threads */
#define WAKE      8  /* every so many threads the helper looks whether a batch is due */
#define WAIT_NS   1000000
#define WAITS     100   /* of a thread that begins; */
#define END_WAITS 10000 /* of a process that ends: 10 s */

static struct batch {
	uint64_t holds; /* its number, and the bits */
	uint64_t left;  /* its number while `start` is its own, and the bits of slots whose threads have ended */
	char *start;    /* where its slot 0 is, or would be */
} batches[BATCHES];

#define HOLDS(number, bits) ((uint64_t)(number) << 32 | (uint32_t)(bits))
#define BIT(slot)           (UINT32_C(1) << (slot) % BATCH)

#define NO_BATCH            HOLDS(UINT32_MAX, 0)

static uint32_t making; /* a futex: the number of the batch that is being made, and 1; or 0 */
static uint32_t unmade; /* the first batch that was never made */
static bool closed;
static char path[PATH_MAX]; /* or "" */

void dprof_nursery_prepare(void)
{
	if (!dprof_process_path(path, sizeof(path), ".nursery"))
		path[0] = '\0';
}

const char *dprof_nursery_path(void)
{
	return path;
}

/* False if it still is when patience ends. */
static bool wait_for(uint32_t batch, int times)
{
	struct timespec patience = { .tv_nsec = WAIT_NS };
	uint32_t now = __atomic_load_n(&making, __ATOMIC_SEQ_CST);

	for (int i = 0; i < times && now == batch + 1; i++) {
		sys(SYS_futex, &making, FUTEX_WAIT_PRIVATE, now, &patience);
		now = __atomic_load_n(&making, __ATOMIC_SEQ_CST);
	}
	return now != batch + 1;
}

static void *take_from(struct batch *b, uint32_t slot)
{
	uint64_t holds = __atomic_load_n(&b->holds, __ATOMIC_SEQ_CST);
	char *start;

	do {
		if (holds >> 32 != slot / BATCH || !(holds & BIT(slot)))
			return NULL;
		start = __atomic_load_n(&b->start, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&b->holds, &holds, holds & ~(uint64_t)BIT(slot), false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return start + slot % BATCH * DPROF_SLOT;
}

/* Not once slots are given back: this one may be about to be. */
static void *map_own(uint32_t slot)
{
	long at;

	if (__atomic_load_n(&closed, __ATOMIC_SEQ_CST))
		return NULL;
	at = dprof_file_map(path, O_CREAT, (uint64_t)slot * DPROF_SLOT, DPROF_SLOT);
	return sys_failed(at) ? NULL : (void *)at;
}

void *dprof_nursery_take(uint32_t number)
{
	void *slot;

	if (!path[0] || !wait_for(number / BATCH, WAITS))
		return NULL;
	slot = take_from(&batches[number / BATCH % BATCHES], number);
	if (!slot || number % WAKE == 0)
		dprof_helper_wake(); /* to be quicker next time */
	return slot ? slot : map_own(number);
}

static bool leave_to_batch(struct batch *b, uint32_t slot, const char *at)
{
	uint64_t left = __atomic_load_n(&b->left, __ATOMIC_SEQ_CST);

	do
		if (left >> 32 != slot / BATCH || at != __atomic_load_n(&b->start, __ATOMIC_RELAXED) + slot % BATCH * DPROF_SLOT)
			return false;
	while (!__atomic_compare_exchange_n(&b->left, &left, left | BIT(slot), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return true;
}

void dprof_nursery_leave(uint32_t number, void *slot)
{
	if (!leave_to_batch(&batches[number / BATCH % BATCHES], number, slot))
		sys(SYS_munmap, slot, DPROF_SLOT);
}

/* ---- For the helper --------------------------------------------------------------------------- */

/* The end of a row of slots that begins at `slot`, of which all have a bit or none has. */
static uint32_t row_end(uint32_t bits, uint32_t slot)
{
	uint32_t end = slot + 1;

	while (end < BATCH && !(bits & BIT(end)) == !(bits & BIT(slot)))
		end++;
	return end;
}

static void unmap(const char *start, uint32_t bits)
{
	for (uint32_t slot = 0, end; slot < BATCH; slot = end) {
		end = row_end(bits, slot);
		if (bits & BIT(slot))
			sys(SYS_munmap, start + slot * DPROF_SLOT, (end - slot) * DPROF_SLOT);
	}
}

/* No number in the batch is given out from `next` on. */
static void map_batch(struct batch *b, uint32_t batch, uint32_t next)
{
	uint32_t skipped = next > batch * BATCH ? next - batch * BATCH : 0;
	uint64_t before = __atomic_exchange_n(&b->holds, HOLDS(batch, 0), __ATOMIC_SEQ_CST);
	uint64_t left = __atomic_exchange_n(&b->left, NO_BATCH, __ATOMIC_SEQ_CST);
	long at;

	unmap(b->start, (uint32_t)before | (uint32_t)left);
	if (skipped >= BATCH)
		return;
	at = dprof_file_map(path, O_CREAT, ((uint64_t)batch * BATCH + skipped) * DPROF_SLOT,
			    (BATCH - skipped) * DPROF_SLOT);
	if (sys_failed(at))
		return;
	__atomic_store_n(&b->start, (char *)at - skipped * DPROF_SLOT, __ATOMIC_RELAXED);
	__atomic_store_n(&b->left, HOLDS(batch, 0), __ATOMIC_SEQ_CST);
	__atomic_store_n(&b->holds, HOLDS(batch, ~UINT32_C(0) << skipped), __ATOMIC_SEQ_CST);
}

bool dprof_nursery_make(const uint32_t *begun)
{
	uint32_t next = __atomic_load_n(begun, __ATOMIC_RELAXED), batch;

	if (next < 2 || !path[0] || __atomic_load_n(&closed, __ATOMIC_SEQ_CST))
		return false;
	batch = unmade > next / BATCH ? unmade : next / BATCH;
	if (batch > (next + (next / 2 < AHEAD ? next / 2 : AHEAD)) / BATCH)
		return false;
	unmade = batch + 1;
	__atomic_store_n(&making, batch + 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&closed, __ATOMIC_SEQ_CST))
		map_batch(&batches[batch % BATCHES], batch, __atomic_load_n(begun, __ATOMIC_SEQ_CST));
	__atomic_store_n(&making, 0, __ATOMIC_SEQ_CST);
	sys(SYS_futex, &making, FUTEX_WAKE_PRIVATE, INT_MAX);
	return true;
}

/* ---- The end ---------------------------------------------------------------------------------- */

static void give_back(uint32_t batch, uint32_t bits)
{
	for (uint32_t slot = 0, end; slot < BATCH; slot = end) {
		end = row_end(bits, slot);
		if (bits & BIT(slot))
			dprof_file_punch(path, ((uint64_t)batch * BATCH + slot) * DPROF_SLOT, (end - slot) * DPROF_SLOT);
	}
}

void dprof_nursery_close(void)
{
	uint32_t made;

	__atomic_store_n(&closed, true, __ATOMIC_SEQ_CST);
	made = __atomic_load_n(&making, __ATOMIC_SEQ_CST);
	if (made)
		wait_for(made - 1, END_WAITS);
	for (struct batch *b = batches; b < batches + BATCHES; b++) {
		uint64_t holds = __atomic_exchange_n(&b->holds, 0, __ATOMIC_SEQ_CST);

		give_back((uint32_t)(holds >> 32), (uint32_t)holds);
	}
}

void dprof_nursery_forget(void)
{
	for (struct batch *b = batches; b < batches + BATCHES; b++) {
		unmap(b->start, (uint32_t)b->holds | (uint32_t)b->left);
		*b = (struct batch){ 0, 0, NULL };
	}
	making = unmade = 0;
	closed = false;
}

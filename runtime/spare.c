/* SPDX-License-Identifier: MIT
 *
 * spare.c - a table with a place for each number modulo its size. */
#include "runtime/spare.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <time.h>

#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define SPARES      64
#define WAIT_NS     1000000
#define WAITS       100   /* of a thread that begins; */
#define END_WAITS   10000 /* of a process that ends: 10 s */

/* What a place holds is a futex: a spare's number and what is known of it. */
enum { NOTHING, MAKING, READY };
#define HOLDS(number, is) ((uint32_t)(number) << 2 | (is))

static struct spare_slot { uint32_t holds; void *start; } places[SPARES];
static bool removed;

static uint64_t bytes(void)
{
	return DPROF_HEADER_SIZE + dprof_first_chunk();
}

static bool turn(struct spare_slot *p, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&p->holds, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* As long as the helper is making it; what the place holds then. */
static uint32_t wait_for(const struct spare_slot *p, int times)
{
	struct timespec patience = { .tv_nsec = WAIT_NS };
	uint32_t holds = __atomic_load_n(&p->holds, __ATOMIC_SEQ_CST);

	for (int i = 0; i < times && holds % 4 == MAKING; i++) {
		sys(SYS_futex, &p->holds, FUTEX_WAIT_PRIVATE, holds, &patience);
		holds = __atomic_load_n(&p->holds, __ATOMIC_SEQ_CST);
	}
	return holds;
}

void *dprof_spare_take(uint32_t number)
{
	struct spare_slot *p = &places[number % SPARES];
	void *start;

	if (__atomic_load_n(&p->holds, __ATOMIC_ACQUIRE) >> 2 == number)
		wait_for(p, WAITS);
	start = p->start;
	return turn(p, HOLDS(number, READY), NOTHING) ? start : NULL;
}

/* The thread may have been quicker: then the file is there. */
static void make(struct spare_slot *p, uint32_t number)
{
	char path[PATH_MAX];
	long at = -1;

	if (dprof_process_path(path, sizeof(path), "-%u.events", number))
		at = dprof_file_map(path, O_CREAT | O_EXCL, 0, bytes());
	p->start = sys_failed(at) ? NULL : (void *)at;
	__atomic_store_n(&p->holds, p->start ? HOLDS(number, READY) : NOTHING, __ATOMIC_SEQ_CST);
	sys(SYS_futex, &p->holds, FUTEX_WAKE_PRIVATE, INT_MAX);
}

bool dprof_spares_make(uint32_t next)
{
	uint32_t wanted = next < 2 ? 0 : next / 2 < SPARES ? next / 2 : SPARES;

	for (uint32_t n = next; n < next + wanted && !__atomic_load_n(&removed, __ATOMIC_SEQ_CST); n++) {
		struct spare_slot *p = &places[n % SPARES];

		if (!turn(p, NOTHING, HOLDS(n, MAKING)))
			continue;
		make(p, n);
		return p->start != NULL;
	}
	return false;
}

void dprof_spares_remove(void)
{
	char path[PATH_MAX];

	__atomic_store_n(&removed, true, __ATOMIC_SEQ_CST);
	for (struct spare_slot *p = places; p < places + SPARES; p++) {
		uint32_t holds = wait_for(p, END_WAITS);

		if (holds % 4 == READY && turn(p, holds, NOTHING) &&
		    dprof_process_path(path, sizeof(path), "-%u.events", holds >> 2))
			sys(SYS_unlink, path);
	}
}

void dprof_spares_forget(void)
{
	for (struct spare_slot *p = places; p < places + SPARES; p++) {
		if (p->holds % 4 == READY)
			sys(SYS_munmap, p->start, bytes());
		*p = (struct spare_slot){ NOTHING, NULL };
	}
	removed = false;
}

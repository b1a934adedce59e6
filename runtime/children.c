/* SPDX-License-Identifier: MIT
 *
 * children.c - a page of process ids. 0: free. */
#include "runtime/children.h"

#include <stdint.h>
#include <sys/mman.h>

#include "runtime/sys.h"

struct forked_children {
	int32_t pids[DPROF_CHILDREN];
	struct forked_program {
		int32_t pid; /* NAMING: its name is being written */
		char name[DPROF_PROGRAM_BYTES];
	} programs[DPROF_PROGRAMS];
};

#define NAMING (-1)

static struct forked_children *own;  /* of this process, once it forks */
static struct forked_children *among; /* of whom it comes from */

void dprof_children_share(void)
{
	struct forked_children *none = NULL;
	long at;

	if (__atomic_load_n(&own, __ATOMIC_ACQUIRE))
		return;
	at = sys(SYS_mmap, NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!sys_failed(at) && !__atomic_compare_exchange_n(&own, &none, (struct forked_children *)at, false, __ATOMIC_ACQ_REL,
							     __ATOMIC_ACQUIRE))
		sys(SYS_munmap, at, sizeof(*own));
}

void dprof_children_inherit(void)
{
	if (among)
		sys(SYS_munmap, among, sizeof(*among));
	among = own;
	own = NULL;
}

static bool replace(struct forked_children *c, long from, long to)
{
	for (int i = 0; c && i < DPROF_CHILDREN; i++) {
		int32_t expected = (int32_t)from;
		if (__atomic_compare_exchange_n(&c->pids[i], &expected, (int32_t)to, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	}
	return false;
}

void dprof_children_enter(long pid)
{
	replace(among, 0, pid);
}

void dprof_children_leave(long pid)
{
	replace(own, pid, 0);
}

long dprof_children_take(void)
{
	struct forked_children *c = __atomic_load_n(&own, __ATOMIC_ACQUIRE);

	for (int i = 0; c && i < DPROF_CHILDREN; i++) {
		int32_t pid = __atomic_exchange_n(&c->pids[i], 0, __ATOMIC_SEQ_CST);
		if (pid)
			return pid;
	}
	return 0;
}

/* ---- Other programs --------------------------------------------------------------------------- */

static bool replace_program(struct forked_program *p, long from, long to)
{
	int32_t expected = (int32_t)from;

	return __atomic_compare_exchange_n(&p->pid, &expected, (int32_t)to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void dprof_children_ran(bool from_parent, long pid, const char *name, size_t bytes)
{
	struct forked_children *c = from_parent ? among : own;
	size_t kept = bytes < DPROF_PROGRAM_BYTES ? bytes : DPROF_PROGRAM_BYTES - 1;

	for (int i = 0; c && i < DPROF_PROGRAMS; i++) {
		struct forked_program *p = &c->programs[i];

		if (!replace_program(p, 0, NAMING))
			continue;
		for (size_t k = 0; k < kept; k++)
			p->name[k] = name[bytes - kept + k];
		p->name[kept] = '\0';
		__atomic_store_n(&p->pid, (int32_t)pid, __ATOMIC_RELEASE);
		return;
	}
}

void dprof_children_did_not_run(bool from_parent, long pid)
{
	struct forked_children *c = from_parent ? among : own;

	for (int i = 0; c && i < DPROF_PROGRAMS; i++)
		replace_program(&c->programs[i], pid, 0);
}

long dprof_children_take_program(char name[DPROF_PROGRAM_BYTES])
{
	struct forked_children *c = __atomic_load_n(&own, __ATOMIC_ACQUIRE);

	for (int i = 0; c && i < DPROF_PROGRAMS; i++) {
		struct forked_program *p = &c->programs[i];
		long pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);

		if (pid == 0 || pid == NAMING || !replace_program(p, pid, NAMING))
			continue;
		for (size_t k = 0; k < DPROF_PROGRAM_BYTES; k++)
			name[k] = p->name[k];
		name[DPROF_PROGRAM_BYTES - 1] = '\0';
		__atomic_store_n(&p->pid, 0, __ATOMIC_RELEASE);
		return pid;
	}
	return 0;
}

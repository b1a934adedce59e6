/* SPDX-License-Identifier: MIT
 *
 * cores.c - see cores.h. mpirun often binds each process to a core or two. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "analysis/driver/cores.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"

struct cores cores_own(void)
{
	struct cores c;
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	c.machine = mem_copy(host);
	CPU_ZERO(&c.set);
	sched_getaffinity(0, sizeof c.set, &c.set);
	return c;
}

void cores_move(struct cores *c, struct tr_pipe *p)
{
	pipe_string(p, &c->machine);
	pipe_bytes(p, &c->set, sizeof c->set);
}

/* Those of its machine, and how many processes share them. */
static size_t on_machine(const struct cores *all, size_t n, size_t process, cpu_set_t *set)
{
	size_t count = 0;
	CPU_ZERO(set);
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].machine, all[process].machine) == 0) {
			CPU_OR(set, set, &all[i].set);
			count++;
		}
	return count;
}

size_t cores_share(const struct cores *all, size_t n, size_t process)
{
	cpu_set_t set;
	size_t sharing = on_machine(all, n, process, &set), share = (size_t)CPU_COUNT(&set) / sharing;
	return share ? share : 1;
}

size_t cores_take_over(const struct cores *all, size_t n)
{
	cpu_set_t set;
	on_machine(all, n, 0, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		set = all[0].set;
	size_t count = (size_t)CPU_COUNT(&set);
	return count ? count : 1;
}

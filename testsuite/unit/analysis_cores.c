/* SPDX-License-Identifier: MIT
 *
 * analysis_cores.c - the cores of a machine are shared by the processes on it, bound or not; and the first one takes over
 * those that the others had. */
#define _GNU_SOURCE /* cpu_set_t */
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/driver/cores.h"
#include "testsuite/unit/unit.h"

static struct cores on(const char *machine, int from, int to)
{
	struct cores c = { .machine = (char *)machine };
	CPU_ZERO(&c.set);
	for (int i = from; i <= to; i++)
		CPU_SET((size_t)i, &c.set);
	return c;
}

START_TEST(cores_are_shared)
{
	struct cores bound[] = { on("a", 0, 0), on("a", 1, 1), on("b", 0, 0) };
	struct cores loose[] = { on("a", 0, 7), on("b", 0, 7), on("a", 0, 7), on("a", 0, 7) };
	struct cores many[] = { on("a", 0, 1), on("a", 0, 1), on("a", 0, 1) };
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(cores_share(bound, 3, i), 1);
		ck_assert_uint_eq(cores_share(many, 3, i), 1);
	}
	ck_assert_uint_eq(cores_share(loose, 4, 0), 2); /* of 8, three share */
	ck_assert_uint_eq(cores_share(loose, 4, 1), 8);
}
END_TEST

/* In a child: it changes where a process may run. */
static int take_over(void)
{
	struct cores all[3] = { cores_own(), cores_own(), on("elsewhere", 0, 1023) };
	cpu_set_t had = all[1].set, now;
	for (size_t i = 0; i < CPU_SETSIZE; i++) /* bound to the first core that there is */
		if (CPU_COUNT(&all[0].set) > 1 && CPU_ISSET(CPU_SETSIZE - 1 - i, &all[0].set))
			CPU_CLR(CPU_SETSIZE - 1 - i, &all[0].set);
	sched_setaffinity(0, sizeof all[0].set, &all[0].set);
	size_t cores = cores_take_over(all, 3);
	sched_getaffinity(0, sizeof now, &now);
	return cores == (size_t)CPU_COUNT(&had) && CPU_EQUAL(&now, &had);
}

START_TEST(the_first_takes_over)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(take_over() ? 0 : 1);
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, 0);

	tcase_add_test(laws, cores_are_shared);
	tcase_add_test(laws, the_first_takes_over);
	return unit_end();
}

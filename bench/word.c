/* SPDX-License-Identifier: MIT
 *
 * word.c - prints how many bytes of memory a record takes: by how much the thread's cursor advances, once the
 * helper thread is there (until then records are wide). */
#include <stdio.h>
#include <unistd.h>

#include "runtime/record.h"

#define REGIONS 100

static void region(void)
{
#pragma dprof region(empty)
	{
		__asm__ volatile("" ::: "memory");
	}
}

int main(void)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;

	for (int i = 0; i < 20; i++) { /* the first ones make chunks and start the helper */
		region();
		usleep(10000);
	}
	const uint64_t *before = cursor->next;
	for (int i = 0; i < REGIONS; i++)
		region();
	printf("%g\n", (double)(cursor->next - before) * sizeof *before / (2 * REGIONS));
	return 0;
}

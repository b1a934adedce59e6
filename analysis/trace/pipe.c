/* SPDX-License-Identifier: MIT
 *
 * pipe.c - see pipe.h. */
#include "analysis/trace/pipe.h"

#include <string.h>

#include "analysis/base/memory.h"

void *pipe_items(struct tr_pipe *p, void *items, size_t *n, size_t size)
{
	size_t room = 1;
	*n = pipe_value(p, *n);
	while (room < *n)
		room *= 2;
	if (!p->sends)
		items = *n ? mem_resize(NULL, room, size) : NULL;
	pipe_bytes(p, items, *n * size);
	return items;
}

void pipe_string(struct tr_pipe *p, char **string)
{
	size_t n = p->sends && *string ? strlen(*string) + 1 : 0;
	PIPE_ARRAY(p, *string, n);
}

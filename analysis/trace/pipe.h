/* SPDX-License-Identifier: MIT
 *
 * pipe.h - what goes from one process to another: numbers and arrays, one behind the other.
 *
 * One function says of each thing how it is sent and how it is taken in: it calls pipe_bytes() and what is made of that,
 * which read what they are given, or fill it, as the pipe says. So both ends agree about the order. They are the same program on
 * machines of one kind. */
#ifndef ANALYSIS_PIPE_H
#define ANALYSIS_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_pipe {
	bool sends;              /* or takes in */
	void (*bytes)(struct tr_pipe *, void *, size_t); /* all, or it does not return; when it sends, they are only read */
};

static inline void pipe_bytes(struct tr_pipe *p, void *bytes, size_t n)
{
	if (n)
		p->bytes(p, bytes, n);
}

/* `number`, if it sends; else what was sent. */
static inline uint64_t pipe_value(struct tr_pipe *p, uint64_t number)
{
	p->bytes(p, &number, sizeof number);
	return number;
}

/* n items, with their number; of what is taken in there is room as MEM_GROW() wants it, and it is to be freed. */
#define PIPE_ARRAY(pipe, array, n) ((array) = pipe_items((pipe), (array), &(n), sizeof *(array)))
void *pipe_items(struct tr_pipe *, void *items, size_t *n, size_t size);

/* A string, or NULL; what is taken in is to be freed. */
void pipe_string(struct tr_pipe *, char **);

#endif

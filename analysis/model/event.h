/* SPDX-License-Identifier: MIT
 *
 * event.h - an event as the analyses see it. What its arguments mean: arguments.h. */
#ifndef ANALYSIS_EVENT_H
#define ANALYSIS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

struct tr_arg { enum dprof_key key; uint64_t value; };

struct tr_event {
	uint64_t stamp;
	enum dprof_op op;     /* ENTER, EXIT, POINT or LOST */
	uint32_t site;        /* index; TR_NO_SITE for LOST and for a site that is missing */
	uint64_t lost;        /* LOST: how many */
	bool inherited;       /* not of this thread's records: inherit.h */
	bool implied;         /* an EXIT that is in no record: the process ended in the region */
	bool jumped, unsure;  /* an ENTER that has no exit, or of which that is not sure: trace_jumps.h */
	unsigned nargs;
	unsigned keys;        /* bits 1 << key: of the arguments */
	struct tr_arg args[DPROF_KEY_COUNT];
};
#define TR_NO_SITE UINT32_MAX

static inline bool trace_has(const struct tr_event *e, enum dprof_key key)
{
	return e->keys >> key & 1;
}

/* The value of `key` in e, or `otherwise`. */
static inline uint64_t trace_arg(const struct tr_event *e, enum dprof_key key, uint64_t otherwise)
{
	for (unsigned i = 0; i < e->nargs && trace_has(e, key); i++)
		if (e->args[i].key == key)
			return e->args[i].value;
	return otherwise;
}

#endif

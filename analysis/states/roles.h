/* SPDX-License-Identifier: MIT
 *
 * roles.h - which sites are work, and which are waiting: what states.h makes the states of threads of. */
#ifndef ANALYSIS_ROLES_H
#define ANALYSIS_ROLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/clocks/times.h"
#include "analysis/trace/trace.h"

enum { MAY_WORK = 1, MAY_WAIT = 2, MAY_OTHER = 4, MAY_GONE = 8, MAY_BE_UNCLASSIFIED = 16,
       MAY_ANY = 31 };

/* What an event says, if that is no more than that a site is entered or left. */
struct plain_kind {
	uint32_t site;
	uint8_t op;
	uint8_t role;        /* as in struct roles */
	bool plain;          /* it is */
};

/* What the user does not name as waiting is looked through where a thread works anyway; outside of all
 * regions it is an operation, and no work. */
#define ROLE_OTHER_OUTSIDE 0x80

struct roles {
	uint8_t *of_site;    /* the state of a thread on whose stack it is: a set as above, ROLE_OTHER_OUTSIDE, or 0 */
	struct plain_kind *kinds; /* what each of the trace's whats does to a state that hangs on nothing but the stack */
	bool limits;         /* there may be waits that a time limit ended */
	bool told;           /* there may be waits for what is only told: signals of conditions */
	uint8_t *outside;    /* of each process: the state of a thread outside of all sites of a role */
	struct ends *ends;   /* of each clock: stamps of the first event and of the last; `latest` is not used */
};

/* `work` names a region, `wait` a region or another site; NULL: work is any region, and all time outside of
 * operations in a process without marks; wait is any barrier, collective, blocking receive or send, lock,
 * join, or wait for the next team. False, with a message on stderr, when there is no such name or when one
 * site would be both. */
bool roles_open(struct roles *, const struct trace *, const char *work, const char *wait);
/* Likewise, by default, but that who is in any operation in which others take part waits: not to be useful. */
void roles_open_useful(struct roles *, const struct trace *);
bool roles_are_useful(const struct roles *, const struct trace *); /* the same as those */
void roles_close(struct roles *);

#endif

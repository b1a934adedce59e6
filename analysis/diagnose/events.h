/* SPDX-License-Identifier: MIT
 *
 * events.h - abstract events: what several activities of a thread, one after the other, mean to the program.
 *
 *	event TaskLifeCycle at worker
 *	constituent request = send to master
 *	constituent pause = work
 *	constituent assign = receive from master
 *	constituent task = work
 *	expression request . pause? . assign . task
 *	associated TaskService at master
 *	attribute comm = transfer(request, assign)
 *
 * Constituents are activities of the thread: work; send, receive, exchange (both in one), of which it may be said with
 * whom ("to" or "from" a role); collective; other.
 *
 * The expression says in which order: a . b in sequence, a | b one of both, a & b each of both in any order, a+ and a*
 * repeated, a? or not at all; . binds closer than &, and that closer than |. At most 64 constituents stand in it, after
 * each "&" is written out as its orders.
 *
 * An attribute is a sum over constituents: what they took, or what of that was waiting (waited) or not (transfer).
 * Associated is an event of another thread.
 *
 * Law of recognition, which is one pass: an event begins with the first activity that can begin one, and goes on for as
 * long as activities can continue it; at the first that cannot it is over. If it is then whole it is given, else it is
 * left out; and that activity may begin the next one. A constituent has all activities that were taken as it; where one
 * may be several of them, the first in the expression.
 *
 * (After P. Bates, Debugging heterogeneous distributed systems using event-based models of behavior, 1995, which
 * section 3 of Li and Malony uses.) */
#ifndef ANALYSIS_EVENTS_H
#define ANALYSIS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freezer/solve.h"

enum event_kind { EVENT_WORK, EVENT_SEND, EVENT_RECEIVE, EVENT_EXCHANGE, EVENT_COLLECTIVE, EVENT_OTHER, EVENT_KINDS };
enum event_role { ROLE_ANY, ROLE_MASTER, ROLE_WORKER, ROLES };

#define EVENT_CONSTITUENTS 16
#define EVENT_ATTRIBUTES   16
#define EVENT_POSITIONS    64

struct event_type {
	char *name, *associated;         /* associated: or NULL */
	enum event_role at, associated_at;
	struct { char *name; enum event_kind kind; enum event_role with; } constituent[EVENT_CONSTITUENTS];
	size_t nconstituents;
	struct event_attribute { char *name; enum event_measure { EVENT_TOOK, EVENT_WAITED, EVENT_TRANSFER } measure;
				 uint32_t of; /* a bit for each constituent */ } attribute[EVENT_ATTRIBUTES];
	size_t nattributes;
	/* The expression: its places, and which may follow which */
	size_t npositions;
	uint8_t is[EVENT_POSITIONS];     /* constituent */
	uint64_t follow[EVENT_POSITIONS], first, last;
};

/* NULL, and what is wrong, to be freed: "line 3: expected ..., found ...". */
struct event_type *event_type_read(const char *description, char **error);
void event_type_free(struct event_type *);
size_t event_constituent(const struct event_type *, const char *name); /* SIZE_MAX: there is none */

struct event_step {
	enum event_kind kind;
	enum event_role with;            /* the other side's role, or ROLE_ANY if it has none */
	uint64_t from, to;               /* stamps */
	frz_time took, waited, transfer;
	uint64_t tag;                    /* the caller's */
};

struct event_found {
	struct event_part { size_t count; struct event_step sum; } of[EVENT_CONSTITUENTS]; /* from the first to the last; tag of
											      the first */
	uint64_t from, to;
};

struct event_recognizer {
	const struct event_type *type;
	uint64_t positions;              /* at which the last activity may stand */
	struct event_found found;        /* so far */
};

/* True: an event is complete, which ended before this activity. */
bool event_next(struct event_recognizer *, const struct event_step *, struct event_found *complete);
bool event_end(struct event_recognizer *, struct event_found *complete); /* there are no more */

/* 0 of what the event has none of, and if its type has no such attribute. */
frz_time event_attribute(const struct event_type *, const struct event_found *, const char *name);

#endif

/* SPDX-License-Identifier: MIT
 *
 * analysis_arguments.c - each key of an event means one thing, which is what format.h says of it; of any other event that
 * meaning is not asked for in vain. The twin is the table below: a row for each sentence in format.h. */
#include "analysis/model/arguments.h"
#include "testsuite/unit/unit.h"

enum meaning {
	NOTHING,
	REQUEST, ADDRESS, MAKER, DEPENDENCE, TASKS, EVENT_COME, EITHER, /* id; EITHER: request or address */
	MESSAGE_TAG, TASKGROUP, RUN_EVENT,                      /* tag */
	ROOT, FAILED, READER, HOW, EMPTY,                       /* role */
	MADE, RUN, AWAY, AWAITED,                               /* task */
	RANK, DOUBTFUL, UNKNOWN,                                /* peer */
	EXPIRED,                                                /* until */
};

/* `task`: the event has a task as well (1), or has none (0), or may (-1). */
static const struct row {
	enum dprof_key key;
	enum dprof_kind kind;
	unsigned ops;
	int task;
	enum meaning meaning;
} rows[] = {
#define ROW(key, kind, ops, task, meaning) { DPROF_KEY_##key, DPROF_KIND_##kind, ops, task, meaning }
#define ENTER_OR_POINT (ARG_ENTER | ARG_POINT)
#define ANY            (ARG_ENTER | ARG_EXIT | ARG_POINT)
	ROW(ID, SEND, ANY, -1, REQUEST),    ROW(ID, RECV, ANY, -1, REQUEST), ROW(ID, COLL, ANY, -1, REQUEST),
	ROW(ID, LOCK, ANY, -1, ADDRESS),    ROW(ID, WAIT, ARG_POINT, -1, ADDRESS),
	ROW(ID, WAIT, ARG_ENTER | ARG_EXIT, -1, EITHER),
	ROW(ID, FORK, ARG_POINT, 1, MAKER), ROW(ID, FORK, ARG_POINT, 0, DEPENDENCE),
	ROW(ID, JOIN, ARG_ENTER, 0, TASKS), ROW(ID, JOIN, ARG_POINT, -1, EVENT_COME),
	ROW(TAG, SEND, ENTER_OR_POINT, -1, MESSAGE_TAG), ROW(TAG, RECV, ENTER_OR_POINT, -1, MESSAGE_TAG),
	ROW(TAG, FORK, ARG_POINT, 1, TASKGROUP), ROW(TAG, REGION, ARG_ENTER, 1, RUN_EVENT),
	ROW(ROLE, BARRIER, ARG_ENTER, -1, ROOT), ROW(ROLE, COLL, ARG_ENTER, -1, ROOT),
	ROW(ROLE, FORK, ARG_ENTER, -1, ROOT), ROW(ROLE, JOIN, ARG_ENTER, -1, ROOT),
	ROW(ROLE, SEND, ARG_ENTER, -1, FAILED), ROW(ROLE, RECV, ARG_ENTER, -1, FAILED),
	ROW(ROLE, LOCK, ARG_ENTER, -1, READER),
	ROW(ROLE, FORK, ARG_POINT, 0, HOW), ROW(ROLE, FORK, ARG_POINT, 1, EMPTY),
	ROW(TASK, FORK, ARG_POINT, 1, MADE), ROW(TASK, REGION, ARG_ENTER, 1, RUN), ROW(TASK, JOIN, ARG_ENTER, 1, AWAITED),
	ROW(PEER, SEND, ENTER_OR_POINT, -1, RANK), ROW(PEER, RECV, ENTER_OR_POINT, -1, RANK),
	ROW(PEER, BARRIER, ARG_ENTER, -1, DOUBTFUL), ROW(PEER, COLL, ARG_ENTER, -1, DOUBTFUL),
	ROW(PEER, FORK, ARG_ENTER, -1, DOUBTFUL), ROW(PEER, JOIN, ARG_ENTER, -1, DOUBTFUL),
	ROW(PEER, WAIT, ARG_ENTER, -1, UNKNOWN), ROW(PEER, LOCK, ARG_ENTER, -1, UNKNOWN),
	ROW(UNTIL, WAIT, ARG_ENTER, -1, EXPIRED),
};

/* Any exit but a region's may say for which task. */
static enum meaning told(enum dprof_key key, enum dprof_kind kind, enum dprof_op op, bool task)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].key == key && rows[i].kind == kind && rows[i].ops >> op & 1 &&
		    (rows[i].task < 0 || rows[i].task == task))
			return rows[i].meaning;
	bool away = key == DPROF_KEY_TASK && task && op == DPROF_EXIT && kind != DPROF_KIND_REGION;
	return away ? AWAY : NOTHING;
}

/* ---- What is found --------------------------------------------------------------------------- */

#define IT 7777

static void add(struct tr_event *e, enum dprof_key key, uint64_t value)
{
	e->args[e->nargs++] = (struct tr_arg){ key, value };
	e->keys |= 1u << key;
}

static bool means(enum meaning m, const struct operation *o, const struct tr_event *e, uint64_t value)
{
	switch (m) {
	case REQUEST: return arg_request(o, e) == value;
	case ADDRESS: return arg_address(o, e) == value;
	case MAKER: return arg_task_maker(o, e) == value;
	case DEPENDENCE: return arg_dependence(o, e) == value;
	case TASKS: return arg_awaited_tasks(o, e) == value;
	case EVENT_COME: return arg_event_come(o, e) == value;
	case MESSAGE_TAG: return arg_message_tag(o, e) == value;
	case TASKGROUP: return arg_taskgroup(o, e) == value;
	case RUN_EVENT: return arg_run_event(o, e) == value;
	case ROOT: return arg_is_rooted(o, e);
	case FAILED: return arg_message_failed(o, e);
	case READER: return arg_is_reader(o, e);
	case HOW: return arg_dependence_how(o, e) == value;
	case EMPTY: return arg_task_empty(o, e);
	case MADE: return arg_task_made(o, e) == value;
	case RUN: return arg_task_run(o, e) == value;
	case AWAY: return arg_called_away(o, e) == value;
	case AWAITED: return arg_awaited_task(o, e) == value;
	case RANK: return arg_rank(o, e) == value;
	case DOUBTFUL: return arg_is_doubtful(o, e) && !arg_is_rooted(o, e);
	case UNKNOWN: return arg_for_unknown(o, e);
	case EXPIRED: return arg_expired(o, e) && arg_expired_at(o, e) == (value ? value : ARG_NONE);
	default: return false;
	}
}

/* What the key means in this event; the test fails when that is more than one thing. */
static enum meaning found(enum dprof_key key, const struct operation *o, const struct tr_event *e, uint64_t value)
{
	static const struct { enum dprof_key key; enum meaning first, last; } of[] = {
		{ DPROF_KEY_ID, REQUEST, EVENT_COME }, { DPROF_KEY_TAG, MESSAGE_TAG, RUN_EVENT },
		{ DPROF_KEY_ROLE, ROOT, EMPTY }, { DPROF_KEY_TASK, MADE, AWAITED }, { DPROF_KEY_PEER, RANK, UNKNOWN },
		{ DPROF_KEY_UNTIL, EXPIRED, EXPIRED },
	};
	enum meaning found = NOTHING;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		for (enum meaning m = of[i].first; of[i].key == key && m <= of[i].last; m++) {
			if (!means(m, o, e, value))
				continue;
			bool either = found == REQUEST && m == ADDRESS;
			ck_assert_msg(found == NOTHING || either, "key %d of kind %d, operation %d: %d and %d", key,
				      o->kind, e->op, found, m);
			found = either ? EITHER : m;
		}
	return found;
}

static void check(enum dprof_key key, enum dprof_kind kind, enum dprof_op op, bool task, uint64_t value)
{
	struct operation o = operation_of(kind, "whatever");
	struct tr_event e = { .op = op };
	add(&e, key, value);
	if (task && key != DPROF_KEY_TASK)
		add(&e, DPROF_KEY_TASK, IT + 1);
	enum meaning now = found(key, &o, &e, value), then = told(key, kind, op, task || key == DPROF_KEY_TASK);
	ck_assert_msg(now == then, "key %d of kind %d, operation %d%s: %d instead of %d", key, kind, op,
		      task ? ", of a task" : "", now, then);
}

START_TEST(a_task_has_a_priority)
{
	struct operation o = operation_of(DPROF_KIND_FORK, "omp task");
	struct tr_event e = { .op = DPROF_POINT };
	add(&e, DPROF_KEY_ROLE, IT);
	ck_assert_uint_eq(arg_task_priority(&o, &e), 0); /* how the task made before depends on an address */
	add(&e, DPROF_KEY_TASK, 1);
	ck_assert_uint_eq(arg_task_priority(&o, &e), IT);
	ck_assert(!arg_task_empty(&o, &e));
}
END_TEST

START_TEST(each_key_means_one_thing)
{
	for (int kind = DPROF_KIND_NONE + 1; kind < DPROF_KIND_COUNT; kind++)
		for (enum dprof_op op = DPROF_ENTER; op <= DPROF_POINT; op++)
			for (int task = 0; task < 2; task++) {
				enum dprof_kind k = (enum dprof_kind)kind;
				check(DPROF_KEY_ID, k, op, task, IT);
				check(DPROF_KEY_TAG, k, op, task, IT);
				check(DPROF_KEY_TASK, k, op, task, IT);
				check(DPROF_KEY_UNTIL, k, op, task, IT);
				check(DPROF_KEY_UNTIL, k, op, task, 0);
				bool zero = DPROF_KIND_BIT(kind) & (ARG_KIND(LOCK) | ARG_KIND(FORK));
				check(DPROF_KEY_ROLE, k, op, task, zero ? 0 : DPROF_ROLE_UNKNOWN);
				bool wait = DPROF_KIND_BIT(kind) & (ARG_KIND(LOCK) | ARG_KIND(WAIT));
				check(DPROF_KEY_PEER, k, op, task, wait ? DPROF_PEER_UNKNOWN : DPROF_PEER_NONE);
			}
}
END_TEST

START_TEST(what_is_not_said_is_nothing)
{
	for (int kind = DPROF_KIND_NONE + 1; kind < DPROF_KIND_COUNT; kind++)
		for (enum dprof_op op = DPROF_ENTER; op <= DPROF_POINT; op++) {
			struct operation o = operation_of((enum dprof_kind)kind, "whatever");
			struct tr_event e = { .op = op };
			for (enum meaning m = REQUEST; m <= EXPIRED; m++)
				ck_assert_msg(!means(m, &o, &e, IT), "%d of kind %d", m, kind);
		}
}
END_TEST

/* A wait by a name that is known names one of both. */
START_TEST(known_waits_name_a_request_or_an_address)
{
	struct tr_event e = { .op = DPROF_ENTER };
	struct operation mpi = operation_of(DPROF_KIND_WAIT, "MPI_Wait"), sem = operation_of(DPROF_KIND_WAIT, "sem_wait");
	add(&e, DPROF_KEY_ID, IT);
	ck_assert(arg_request(&mpi, &e) == IT && arg_address(&mpi, &e) == ARG_NONE);
	ck_assert(arg_request(&sem, &e) == ARG_NONE && arg_address(&sem, &e) == IT);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, 0);

	tcase_add_test(laws, each_key_means_one_thing);
	tcase_add_test(laws, a_task_has_a_priority);
	tcase_add_test(laws, what_is_not_said_is_nothing);
	tcase_add_test(laws, known_waits_name_a_request_or_an_address);
	return unit_end();
}

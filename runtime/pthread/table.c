/* SPDX-License-Identifier: MIT
 *
 * table.c - objects by address.
 *
 * No lock is held over a fork: what other libraries have called then makes threads, waits for some and forks itself. So
 * one store adds or removes an entry that is else complete, and a child, which has no thread that is at it any more,
 * finds each table as it was before or behind that. */
#include "runtime/pthread/pthread.h"
#include "runtime/sys.h"

void table_lock(struct table *t)
{
	for (unsigned n = 0; __atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE); n++)
		sys_wait_for_other(n);
}

void table_unlock(struct table *t)
{
	__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
}

static struct entry **bucket(const struct table *t, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u;

	return (struct entry **)&t->bucket[hash >> 56];
}

struct entry *table_find(const struct table *t, uint64_t key)
{
	struct entry *e = *bucket(t, key);

	while (e && e->key != key)
		e = e->next;
	return e;
}

void table_add(struct table *t, struct entry *e)
{
	struct entry **first = bucket(t, e->key);

	e->next = *first;
	__atomic_store_n(first, e, __ATOMIC_RELEASE);
}

void table_remove(struct table *t, struct entry *e)
{
	struct entry **at = bucket(t, e->key);

	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		__atomic_store_n(at, e->next, __ATOMIC_RELEASE);
}

static void forked(void)
{
	table_unlock(&threads_table);
	table_unlock(&barriers_table);
	barriers_forked();
}

static void __attribute__((constructor)) start(void)
{
	next_look_up_all();
	dprof_adapter_present(DPROF_ADAPTER_PTHREAD);
	dprof_adapter_forked(forked);
}

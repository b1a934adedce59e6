/* SPDX-License-Identifier: MIT
 *
 * table.c - objects by address. */
#include "runtime/pthread/pthread.h"

#include <sched.h>

void table_lock(struct table *t)
{
	while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
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
	*first = e;
}

void table_remove(struct table *t, struct entry *e)
{
	struct entry **at = bucket(t, e->key);

	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		*at = e->next;
}

static void hold(void)
{
	table_lock(&threads_table);
	table_lock(&barriers_table);
}

static void release(void)
{
	table_unlock(&barriers_table);
	table_unlock(&threads_table);
}

static void release_in_child(void)
{
	barriers_forked();
	release();
}

static void __attribute__((constructor)) start(void)
{
	dprof_adapter_present(DPROF_ADAPTER_PTHREAD);
	pthread_atfork(hold, release, release_in_child);
}

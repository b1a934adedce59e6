/* SPDX-License-Identifier: MIT
 *
 * barriers.c - pthread_barrier_wait: ENTER group=G seq=N ... EXIT, or ENTER object=O [tag=N] ... EXIT.
 *
 * A barrier is a group, and who comes draws a ticket: of a barrier for n threads, each n tickets in a
 * row are one. That is so because no thread comes again before all n have come.
 *
 * Assumed: a barrier for n threads is used by n threads. Where more take turns, only the barrier
 * knows who took part together.
 *
 * Tickets of a barrier that processes share, or whose begin was in another process or not seen, are not counted: then
 * whoever comes says which barrier it is, and its n, if that is known. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/pthread/pthread.h"

DPROF_SITE_OF(site_barrier, DPROF_KIND_BARRIER, "pthread_barrier_wait");

struct barrier {
	struct entry entry;
	uint64_t group, tickets;
	unsigned threads;       /* that take part */
	bool counted;           /* whoever comes draws a ticket here */
};

struct table barriers_table;

static bool is_shared(const pthread_barrierattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (attr)
		pthread_barrierattr_getpshared(attr, &shared);
	return shared != PTHREAD_PROCESS_PRIVATE;
}

static void forget(const pthread_barrier_t *at)
{
	struct entry *e;

	if (dprof_adapter_is_off())
		return;
	table_lock(&barriers_table);
	e = table_find(&barriers_table, (uint64_t)at);
	if (e)
		table_remove(&barriers_table, e);
	table_unlock(&barriers_table);
	free(e);
}

DPROF_EXPORT int pthread_barrier_init(pthread_barrier_t *at, const pthread_barrierattr_t *attr,
				      unsigned threads)
{
	int error = REAL(pthread_barrier_init)(at, attr, threads);
	struct barrier *b;

	if (error)
		return error;
	forget(at);
	b = dprof_adapter_recording() ? calloc(1, sizeof(*b)) : NULL;
	if (!b)
		return 0;
	*b = (struct barrier){ .entry.key = (uint64_t)at, .group = dprof_adapter_new_group(),
			       .threads = threads, .counted = !is_shared(attr) };
	table_lock(&barriers_table);
	table_add(&barriers_table, &b->entry);
	table_unlock(&barriers_table);
	return 0;
}

DPROF_EXPORT int pthread_barrier_destroy(pthread_barrier_t *at)
{
	forget(at);
	return REAL(pthread_barrier_destroy)(at);
}

/* Its memory is not the parent's any more, unless processes share it. */
void barriers_forked(void)
{
	for (size_t i = 0; i < TABLE_BUCKETS; i++)
		for (struct entry *e = barriers_table.bucket[i]; e; e = e->next)
			((struct barrier *)e)->counted = false;
}

struct ticket { uint64_t group, number; unsigned threads; bool counted; };

static struct ticket draw(const pthread_barrier_t *at)
{
	struct ticket t = { 0 };
	struct barrier *b;

	table_lock(&barriers_table);
	b = (struct barrier *)table_find(&barriers_table, (uint64_t)at);
	if (b)
		t = (struct ticket){ b->group, b->tickets++, b->threads, b->counted };
	table_unlock(&barriers_table);
	return t;
}

static void tell(struct ticket t)
{
	char fields[96];

	snprintf(fields, sizeof(fields), "%" PRIu64 " threads=%" PRIu32 " size=%u", t.group,
		 dprof_adapter_thread(), t.threads);
	dprof_adapter_fields("group", fields);
}

/* Whoever comes first writes the line of the group: it is certainly one of its threads. */
static void enter_group(const struct dprof_site *site, struct ticket t)
{
	struct dprof_arguments a = { 0 };

	dprof_say(&a, DPROF_KEY_GROUP, t.group);
	dprof_say(&a, DPROF_KEY_SEQ, t.number / t.threads);
	dprof_adapter_record(site, DPROF_ENTER, 0, &a);
	if (t.number == 0)
		tell(t);
}

static void enter_object(const struct dprof_site *site, const pthread_barrier_t *at, unsigned threads)
{
	struct dprof_arguments a = { 0 };

	say_object(&a, at);
	if (threads)
		dprof_say(&a, DPROF_KEY_TAG, threads);
	dprof_adapter_record(site, DPROF_ENTER, 0, &a);
}

static void enter(const struct dprof_site *site, const pthread_barrier_t *at)
{
	struct ticket t = draw(at);

	if (t.counted)
		enter_group(site, t);
	else
		enter_object(site, at, t.threads);
}

/* Where the program asks who is the serial thread, the plugin gives the call another name. */
static inline const struct dprof_site *site_of_wait(const void *caller)
{
	const struct dprof_site *asks;

	if (!dprof_adapter_wanted(DPROF_KIND_BARRIER))
		return NULL;
	asks = dprof_adapter_call(DPROF_KIND_BARRIER, "pthread_barrier_wait (serial thread)", DPROF_CALL_NEAR);
	return asks ? asks : dprof_adapter_site(SITE(site_barrier), caller);
}

DPROF_EXPORT int pthread_barrier_wait(pthread_barrier_t *at)
{
	const struct dprof_site *site = site_of_wait(__builtin_return_address(0));
	int result;

	if (site)
		enter(site, at);
	result = REAL(pthread_barrier_wait)(at);
	if (site)
		dprof_adapter_exit(site);
	return result;
}

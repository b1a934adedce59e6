/* SPDX-License-Identifier: MIT
 *
 * stored_records.h - the store of a trace that is made up, of one thread. */
#ifndef TESTSUITE_STORED_RECORDS_H
#define TESTSUITE_STORED_RECORDS_H

#include "analysis/trace/store.h"

static inline void store_thread(struct trace *t, struct tr_thread *thread, const struct tr_record *record, size_t n)
{
	const char *kept_in_memory;
	t->store = store_open(t->nsites, 1);
	struct tr_writer *writer = store_writer(t->store);
	store_begin(writer, NULL);
	for (size_t i = 0; i < n; i++)
		store_record(writer, &record[i]);
	thread->blocks = store_end(writer);
	thread->nrecords = n;
	t->whats = store_finish(t->store, &kept_in_memory);
}

static inline void unstore_thread(struct trace *t, struct tr_thread *thread)
{
	blocks_close(thread->blocks);
	store_close(t->store);
	thread->blocks = NULL;
	t->store = NULL;
}

#endif

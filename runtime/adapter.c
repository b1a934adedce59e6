/* SPDX-License-Identifier: MIT
 *
 * adapter.c - events that C code records on behalf of a programming model. */
#include "runtime/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/clock.h"
#include "runtime/process.h"
#include "runtime/record.h"
#include "runtime/settings.h"
#include "runtime/thread.h"

/* The sequence of record.h up to the claimed slot; NULL: not to be recorded. */
static struct dprof_record *claim(void)
{
	struct dprof_record *slot;
	uint8_t none = 0;

	do {
		slot = (struct dprof_record *)sizeof(*slot);
		__asm__ volatile("xaddq %0, %1"
				 : "+r"(slot), "+m"(__dprof_cursor.next) : : "cc", "memory");
		if (slot < *(struct dprof_record *volatile *)&__dprof_cursor.end)
			return slot;
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
				 "call __dprof_slow\n\t"
				 "lea 128(%%rsp), %%rsp\n\t"
				 "setc %0" : "=r"(none) : : "cc", "memory");
	} while (!none);
	return NULL;
}

/* The record before `slot` in the order of recording, or NULL. */
static struct dprof_record *previous(struct dprof_record *slot)
{
	struct dprof_thread *t = dprof_self;

	if (!t)
		return NULL;
	return slot == t->chunk[t->current % DPROF_CHUNKS].start ? t->before : slot - 1;
}

static void write_record(struct dprof_record *slot, uint64_t stamp, uint64_t what)
{
	volatile struct dprof_record *r = slot;

	r->stamp = stamp;
	r->what = what;
}

bool dprof_adapter_recording(void)
{
	return !dprof_off;
}

bool dprof_adapter_entered(const char *name)
{
	const struct dprof_record *last = previous(__dprof_cursor.next);
	const struct dprof_site *site;

	if (dprof_off || !last || !last->what || DPROF_OP(last->what) != DPROF_ENTER)
		return false;
	site = (const struct dprof_site *)DPROF_BODY(last->what);
	return site->kind != DPROF_KIND_REGION && !strcmp(site->strings, name);
}

/* A signal handler may have recorded since; then its event would get what is not its own. What was
 * claimed must be written, and says the truth: something of this thread is lost here. */
void dprof_adapter_arguments(const struct dprof_argument *a, unsigned n)
{
	struct dprof_record *last = previous(__dprof_cursor.next), *slot;

	for (unsigned i = 0; i < n; i++) {
		slot = claim();
		if (!slot)
			return;
		if (!last || previous(slot) != last) {
			__atomic_fetch_add(&dprof_self->header->lost, 1, __ATOMIC_RELAXED);
			write_record(slot, 1, 1 << 3 | DPROF_LOST);
			return;
		}
		write_record(slot, a[i].value, (uint64_t)a[i].key << 3 | DPROF_ARG);
		last = slot;
	}
}

/* An entry is stamped as late, an exit as early as possible: what lies between was inside. */
void dprof_adapter_enter(const struct dprof_site *site)
{
	struct dprof_record *slot = claim();

	if (slot)
		write_record(slot, frz_tsc(), (uint64_t)site | DPROF_ENTER);
}

void dprof_adapter_exit(const struct dprof_site *site)
{
	uint64_t stamp = frz_tsc_fenced(); /* may be the receiving end of a link */
	struct dprof_record *slot = claim();

	if (slot)
		write_record(slot, stamp, (uint64_t)site | DPROF_EXIT);
}

void dprof_adapter_rank(int64_t rank, int64_t size)
{
	dprof_process_rank_known(rank, size);
}

void dprof_adapter_line(const char *key, const char *value)
{
	dprof_process_line(key, value);
}

void dprof_adapter_fields(const char *key, const char *fields)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%s %s\n", key, fields);

	if (n > 0 && (size_t)n < sizeof(line))
		dprof_process_append(line, (size_t)n);
}

void dprof_adapter_group(uint64_t id, const char *ranks)
{
	int saved_errno = errno;
	char *line;
	int n;

	n = asprintf(&line, "group %llu ranks=%s\n", (unsigned long long)id, ranks);
	if (n > 0) {
		dprof_process_append(line, (size_t)n);
		free(line);
	}
	errno = saved_errno;
}

const char *dprof_adapter_host(void)
{
	return dprof_settings.host;
}

const char *dprof_adapter_hostid(void)
{
	return dprof_settings.hostid;
}

const char *dprof_adapter_directory(void)
{
	return dprof_process_directory();
}

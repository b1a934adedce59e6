/* SPDX-License-Identifier: MIT
 *
 * adapter.c - events that C code records on behalf of a programming model. */
#include "runtime/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/clock.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/settings.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define LONGEST_AGO      (UINT64_C(1) << (DPROF_STAMP_BITS - 2)) /* ticks */
#define GROUP_OF_THREADS (UINT64_C(1) << 55)
#define GROUP_OWNERS     ((UINT64_C(1) << 23) - 1) /* a pid has 22 bits */

/* The sequence of record.h up to the claimed slot. NULL: not to be recorded, or, where `what` names
 * an event, recorded already. */
static uint64_t *claim(uint64_t what, uint64_t stamp)
{
	uint64_t *slot;
	uint8_t none = 0;

	do {
		slot = (uint64_t *)sizeof(*slot);
		__asm__ volatile("xaddq %0, %1"
				 : "+r"(slot), "+m"(__dprof_cursor.next) : : "cc", "memory");
		if (slot < *(uint64_t *volatile *)&__dprof_cursor.end)
			return slot;
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
				 "call __dprof_2_needs_libdprof\n\t"
				 "lea 128(%%rsp), %%rsp\n\t"
				 "setc %0" : "=r"(none) : "c"(slot), "d"(what), "a"(stamp)
				 : "cc", "memory");
	} while (!none);
	return NULL;
}

static void write_word(uint64_t *slot, uint64_t word)
{
	*(volatile uint64_t *)slot = word;
}

static uint64_t *previous(uint64_t *slot)
{
	return dprof_self ? dprof_chunk_before(dprof_self, slot) : NULL;
}

/* The last of a wide event's words is its site's address. Between that and an event of one word an
 * epoch stands, as at the beginning of each chunk: what stands two before the latter is no stamp. */
static bool is_end_of_wide(const uint64_t *last)
{
	const uint64_t *start = dprof_self->current->start;

	return !(last >= start && last < start + DPROF_WIDE_WORDS) &&
	       dprof_is(last[1 - DPROF_WIDE_WORDS], DPROF_ESCAPE_WIDE);
}

/* The site at which a thread's last word, which previous() has found, is an ENTER; or NULL. */
static const struct dprof_site *entered_at(const uint64_t *last)
{
	if (last && last == dprof_self->before)
		last = dprof_self->tail + DPROF_WIDE_WORDS - 1;
	if (!last || !*last || dprof_is_escape(*last))
		return NULL;
	if (!is_end_of_wide(last))
		return dprof_modules_site(*last & (DPROF_IDS - 1), DPROF_ENTER);
	return dprof_small(last[1 - DPROF_WIDE_WORDS]) == DPROF_ENTER
		       ? (const struct dprof_site *)*last : NULL;
}

bool dprof_adapter_recording(void)
{
	return !dprof_off;
}

uint32_t dprof_adapter_kinds;

const struct dprof_site *dprof_adapter_entered(const char *name)
{
	const struct dprof_site *site = dprof_off ? NULL : entered_at(previous(__dprof_cursor.next));

	return site && dprof_site_kind(site) != DPROF_KIND_REGION && !strcmp(site->strings, name) ? site : NULL;
}

/* Puts `word` behind *last, which becomes its place; false when there is no room or a signal handler
 * has recorded since: its event would get what is not its own. What was claimed must be written,
 * and says the truth then: something of this thread is lost here. */
static bool add_word(uint64_t **last, uint64_t word)
{
	uint64_t *slot = dprof_open() ? claim(0, 0) : dprof_slow_claim();

	if (!slot)
		return false;
	if (!*last || (slot - 1 != *last && previous(slot) != *last)) {
		__atomic_fetch_add(&dprof_self->header->lost, 1, __ATOMIC_RELAXED);
		write_word(slot, dprof_escape_word(DPROF_ESCAPE_LOST, 0, 1));
		return false;
	}
	write_word(slot, word);
	*last = slot;
	return true;
}

void dprof_adapter_arguments(const struct dprof_argument *a, unsigned n)
{
	uint64_t *last = previous(__dprof_cursor.next);

	if (dprof_settings.left_out && dprof_dropped())
		return;
	for (const struct dprof_argument *end = a + n; a < end; a++) {
		uint64_t high = a->value >> 56;

		if (!add_word(&last, dprof_escape_word(DPROF_ESCAPE_ARG, a->key, a->value)) ||
		    (high && !add_word(&last, dprof_escape_word(DPROF_ESCAPE_ARG_HIGH, a->key,
								high))))
			return;
	}
}

static void record(const struct dprof_site *site, enum dprof_op op, uint64_t early)
{
	uint64_t *slot;

	if (dprof_is_left_out(site)) {
		dprof_drop();
		return;
	}
	slot = claim((uint64_t)site + op, early);
	if (slot)
		write_word(slot, dprof_event_word(early ? early : dprof_now(), (uint64_t)site, op));
}

/* An entry is stamped as late, an exit as early as possible: what lies between was inside. An exit
 * may be the receiving end of a link. */
void dprof_adapter_enter(const struct dprof_site *site)
{
	record(site, DPROF_ENTER, 0);
}

void dprof_adapter_exit(const struct dprof_site *site)
{
	record(site, DPROF_EXIT, frz_stamp_fenced());
}

/* What happened before it was seen behind the fence: this may be the receiving end of a link, too. */
void dprof_adapter_point(const struct dprof_site *site)
{
	__builtin_ia32_lfence();
	record(site, DPROF_POINT, 0);
}

struct dprof_moment dprof_adapter_moment(void)
{
	return (struct dprof_moment){ dprof_now(), previous(__dprof_cursor.next) };
}

/* Where events are recorded wide, the stamp is that of the recording. An older one than words can tell
 * (words.h) is not needed: who waited for that long waited for long. */
void dprof_adapter_enter_at(const struct dprof_site *site, struct dprof_moment m)
{
	uint64_t now = dprof_now();
	bool quiet = previous(__dprof_cursor.next) == m.last;

	record(site, DPROF_ENTER, !quiet ? 0 : now - m.stamp < LONGEST_AGO ? m.stamp
									   : now - LONGEST_AGO);
}

uint32_t dprof_adapter_reserve_thread(void)
{
	return dprof_thread_reserve();
}

void dprof_adapter_return_thread(uint32_t number)
{
	dprof_thread_return(number);
}

void dprof_adapter_be_thread(uint32_t number)
{
	dprof_thread_be(number);
}

uint32_t dprof_adapter_thread(void)
{
	return dprof_self ? dprof_self->header->thread : UINT32_MAX;
}

/* MPI's groups have small numbers. A rank is one of a job; a process without has a job of its own, or
 * is the child of a fork in one. */
uint64_t dprof_adapter_new_group(void)
{
	static uint32_t groups;
	int64_t rank = dprof_process_rank();
	uint64_t owner = rank >= 0 ? (uint64_t)rank << 1 : (uint64_t)sys(SYS_getpid) << 1 | 1;

	return GROUP_OF_THREADS | (owner & GROUP_OWNERS) << 32 |
	       __atomic_fetch_add(&groups, 1, __ATOMIC_RELAXED);
}

bool dprof_adapter_is_ours(const void *code)
{
	return dprof_modules_ours(code);
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

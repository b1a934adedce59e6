/* SPDX-License-Identifier: MIT
 *
 * adapter.c - events that C code records on behalf of a programming model. */
#include "runtime/adapter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/clock.h"
#include "runtime/library.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/settings.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define GROUP_OF_THREADS (UINT64_C(1) << 55)
#define GROUP_OWNERS     ((UINT64_C(1) << 23) - 1) /* a pid has 22 bits */

bool dprof_adapter_recording(void)
{
	return !dprof_off;
}

bool dprof_adapter_is_off(void)
{
	return dprof_settings.off;
}

uint32_t dprof_adapter_kinds;
uint64_t dprof_adapter_blocked_ticks;
bool dprof_adapter_no_tsc;
__thread bool dprof_adapter_apart;
__thread struct dprof_open_call dprof_adapter_open_call;

uint64_t dprof_adapter_other_now(void)
{
	return dprof_now();
}

void dprof_be_apart(void)
{
	dprof_adapter_apart = true;
}

bool dprof_is_apart(void)
{
	return dprof_adapter_apart;
}

static void write_words(volatile uint64_t *at, const uint64_t *word, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = word[i];
}

void dprof_adapter_record_slowly(const struct dprof_site *site, enum dprof_op op, uint64_t stamp,
				 const struct dprof_arguments *a)
{
	struct dprof_event e = { .what = (uint64_t)site + op, .stamp = stamp, .of_adapter = true };

	if (a) {
		e.argument = a->word;
		e.arguments = a->words;
	}
	if (!dprof_off)
		dprof_record(&e);
}

void dprof_adapter_record_enter_at_slowly(const struct dprof_site *site, struct dprof_moment m,
					  const struct dprof_arguments *a)
{
	struct dprof_event e = { .what = (uint64_t)site + DPROF_ENTER, .stamp = m.stamp, .place = m.place,
				 .argument = a->word, .arguments = a->words, .of_adapter = true };

	if (!dprof_off && !dprof_record(&e))
		dprof_adapter_record_enter_late(site, m.stamp, a);
}

void dprof_adapter_record_visit_slowly(const struct dprof_site *site, uint64_t entered, uint64_t left,
				       const struct dprof_arguments *a)
{
	dprof_adapter_record_slowly(site, DPROF_ENTER, entered, a);
	dprof_adapter_record_slowly(site, DPROF_EXIT, left, NULL);
}

void dprof_adapter_record_enter_late(const struct dprof_site *site, uint64_t since, const struct dprof_arguments *a)
{
	struct dprof_arguments more = { 0 };

	if (a)
		more = *a;
	if (since)
		dprof_say(&more, DPROF_KEY_SINCE, since);
	dprof_adapter_record(site, DPROF_ENTER, 0, &more);
}

void dprof_adapter_add(const uint64_t *place, const struct dprof_arguments *a)
{
	uint64_t *at = dprof_adapter_claim_at(place, a->words);

	if (at)
		write_words(at, a->word, a->words);
	else if (place == dprof_adapter_place() && !dprof_off)
		dprof_add_slowly(place, a->word, a->words);
}

/* An entry is stamped as late, an exit as early as possible: what lies between was inside. An exit
 * may be the receiving end of a link. */
void dprof_adapter_enter(const struct dprof_site *site)
{
	dprof_adapter_record(site, DPROF_ENTER, 0, NULL);
}

void dprof_adapter_exit(const struct dprof_site *site)
{
	dprof_adapter_record(site, DPROF_EXIT, dprof_adapter_now_fenced(), NULL);
}

/* What happened before it was seen behind the fence: this may be the receiving end of a link, too. */
void dprof_adapter_point(const struct dprof_site *site)
{
	dprof_adapter_record(site, DPROF_POINT, dprof_adapter_now_fenced(), NULL);
}

uint32_t dprof_adapter_reserve_thread(void)
{
	return dprof_thread_reserve();
}

void dprof_adapter_return_thread(uint32_t number)
{
	dprof_thread_return(number);
}

void dprof_adapter_be_thread(uint32_t number, uint64_t before)
{
	dprof_thread_be(number, before);
}

uint64_t dprof_adapter_hold_signals(void)
{
	uint64_t held = DPROF_SIGNALS_OF_PROGRAM, before;

	return sys(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, sizeof(held)) == 0 ? held & ~before : 0;
}

void dprof_adapter_release_signals(uint64_t held)
{
	if (held)
		sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &held, NULL, sizeof(held));
}

void dprof_adapter_last_point(const struct dprof_site *site)
{
	if (dprof_self)
		dprof_self->last = site;
	else
		dprof_adapter_point(site);
}

uint32_t dprof_adapter_thread(void)
{
	return dprof_self ? dprof_self->header->thread : UINT32_MAX;
}

void dprof_adapter_tells_jumps(void)
{
	dprof_jumps_told = true;
}

void dprof_adapter_jump(void)
{
	struct dprof_thread *t = dprof_self;
	uint64_t now;

	dprof_library_jump();
	if (!t)
		dprof_thread_jumps();
	if (!t || t->header->jumps.first != DPROF_JUMPS_NONE)
		return;
	now = dprof_now();
	t->header->jumps = (struct dprof_jumps){ now, ~now };
}

/* MPI's groups have small numbers. A rank is one of a job; a process without has a job of its own, or is the child of a fork in
 * one. Of those with one pid each counts from elsewhere. */
uint64_t dprof_adapter_new_group(void)
{
	static uint32_t groups;
	int64_t rank = dprof_process_rank();
	uint64_t owner = rank >= 0 ? (uint64_t)rank << 1 : (uint64_t)dprof_process_given_pid() << 1 | 1;

	return GROUP_OF_THREADS | (owner & GROUP_OWNERS) << 32 |
	       (uint32_t)(dprof_process_forked_at() + __atomic_fetch_add(&groups, 1, __ATOMIC_RELAXED));
}

bool dprof_adapter_is_alone(void)
{
	return dprof_only_thread();
}

bool dprof_adapter_is_ours(const void *code)
{
	return dprof_modules_ours(code);
}

bool dprof_adapter_is_for_us(const void *code)
{
	return dprof_modules_served(code);
}

bool dprof_adapter_is_sanitizer(const void *code)
{
	return dprof_modules_sanitizer(code);
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

const char *dprof_adapter_stem(void)
{
	return dprof_process_stem();
}

bool dprof_adapter_gathers(void)
{
	return dprof_settings.gather;
}

void dprof_adapter_stop(void)
{
	dprof_process_stop();
}

void dprof_adapter_end(void)
{
	dprof_process_end();
}

const char *dprof_adapter_hostid(void)
{
	return dprof_settings.hostid;
}

const char *dprof_adapter_directory(void)
{
	return dprof_process_directory();
}

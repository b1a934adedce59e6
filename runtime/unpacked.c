/* SPDX-License-Identifier: MIT
 *
 * unpacked.c - see unpacked.h. General registers only (room.mk): chunks are forgotten in the slow path, too. */
#include "runtime/unpacked.h"

#include <stdio.h>

#include "runtime/process.h"

#define MUCH   (UINT64_C(4) << 20) /* bytes that are worth a note */
#define TENTHS 100000              /* bytes of a tenth of a MB */

static uint64_t bytes;
static long refused;

void dprof_unpacked_add(const struct dprof_chunk *c)
{
	if (!c->in_slot)
		__atomic_fetch_add(&bytes, (uint64_t)((char *)c->claimed - (char *)c->start), __ATOMIC_RELAXED);
}

void dprof_unpacked_refused(long error)
{
	__atomic_store_n(&refused, error, __ATOMIC_RELAXED);
}

/* What came first stands first: without a helper nothing is refused. */
static const char *cause(void)
{
	const char *absent = dprof_helper_absent();
	long error = __atomic_load_n(&refused, __ATOMIC_RELAXED);

	if (absent)
		return absent;
	return error ? dprof_why_text(dprof_why_refused(error)) : "the process ended before its helper came to that";
}

void dprof_unpacked_say(void)
{
	uint64_t n = __atomic_load_n(&bytes, __ATOMIC_RELAXED);
	char text[256];

	if (n < MUCH)
		return;
	snprintf(text, sizeof(text), "%llu.%llu MB of records stand as they were recorded; packed they mostly take less than a "
		 "fourth: %s", (unsigned long long)(n / TENTHS / 10), (unsigned long long)(n / TENTHS % 10), cause());
	dprof_process_line("note", text);
}

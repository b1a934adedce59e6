/* SPDX-License-Identifier: MIT
 *
 * host.c - see host.h. */
#include "freezer/host.h"

#include <stddef.h>
#include <string.h>

#define PART 32
#define PART_AT offsetof(struct frz_sync_record, asked)
#define MOST_UNCERTAINTY (UINT64_C(1) << 40) /* minutes */
#define MOST_HZ          UINT64_C(1000000000000)

_Static_assert(sizeof(struct frz_host) == FRZ_HOST_PARTS * PART, "it is part of the format");
_Static_assert((int)FRZ_SOURCES <= FRZ_LOG_CLOCKS, "each clock has a number");

bool frz_host_is_sound(const struct frz_host *h)
{
	return h->name[0] && memchr(h->name, 0, sizeof h->name) &&
	       (h->source == FRZ_TSC || h->source == FRZ_MONOTONIC_RAW) && h->compared <= 1 &&
	       h->uncertainty <= MOST_UNCERTAINTY && h->hz > 0 && h->hz <= MOST_HZ;
}

/* ---- In a log ---------------------------------------------------------------------------------*/

int frz_synclog_add_host(struct frz_synclog *log, uint32_t number, const struct frz_host *host)
{
	for (uint32_t part = 0; part < FRZ_HOST_PARTS; part++) {
		struct frz_sync_record r = { .kind = FRZ_SYNC_HOST, .asker = number, .answerer = part };

		memcpy((char *)&r + PART_AT, (const char *)host + part * PART, PART);
		frz_synclog_add(log, &r);
	}
	return log->error;
}

int frz_host_part(struct frz_host *host, const struct frz_sync_record *r)
{
	if (r->kind != FRZ_SYNC_HOST || r->answerer >= FRZ_HOST_PARTS)
		return -1;
	memcpy((char *)host + r->answerer * PART, (const char *)r + PART_AT, PART);
	return (int)r->answerer;
}

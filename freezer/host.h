/* SPDX-License-Identifier: MIT
 *
 * host.h - what a log of several hosts says of each, so that it can be related to traces of them.
 *
 * In such a log each host has a number, and each of its clocks one that follows from that: its endpoint's clock and those of its
 * kernel. The host that asks has number 0. The parts of a host stand before the first exchange with it.
 *
 * Law: whatever core of the host a stamp of `source` was read on, it differs from one clock by at most `uncertainty`,
 * if `compared`. */
#ifndef FREEZER_HOST_H
#define FREEZER_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "freezer/clock.h"
#include "freezer/synclog.h"

#define FRZ_HOST_NAME 88

struct frz_host {
	char name[FRZ_HOST_NAME]; /* NUL-terminated */
	uint8_t boot[16];         /* the kernel's, drawn when it started: counters of two boots are two */
	uint32_t source;          /* enum frz_source: of its endpoint */
	uint32_t compared;        /* 1: all cores that are online were; or the kernel's clock was read, which sees to that */
	uint64_t uncertainty;     /* ticks */
	uint64_t hz;              /* nominal, of that clock */
};

/* Of the host on which this runs; its cores are compared within about `deadline_ns`. `name` NULL: its host name. 0 or -errno. */
int frz_host_here(struct frz_host *, const char *name, uint64_t deadline_ns);

/* Whether it is one: it may have come from anywhere. */
bool frz_host_is_sound(const struct frz_host *);

/* ---- In a log ---------------------------------------------------------------------------------*/

#define FRZ_HOST_PARTS 4
#define FRZ_LOG_CLOCKS 8 /* numbers of each host */

static inline uint32_t frz_log_clock(uint32_t host, enum frz_source source)
{
	return host * FRZ_LOG_CLOCKS + (uint32_t)source;
}

/* 0 or the log's first error. */
int frz_synclog_add_host(struct frz_synclog *, uint32_t number, const struct frz_host *);

/* Takes a record of kind FRZ_SYNC_HOST: the part that it has, or -1 if there is no such part. */
int frz_host_part(struct frz_host *, const struct frz_sync_record *);

#endif

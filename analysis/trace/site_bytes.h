/* SPDX-License-Identifier: MIT
 *
 * site_bytes.h - one site as the compiler laid it down (runtime/format.h), in a trace's copy or in an object file. */
#ifndef ANALYSIS_SITE_BYTES_H
#define ANALYSIS_SITE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/trace.h"

/* Reads the site at `bytes`, of which `room` are left: NULL, and it takes *size of them; its strings are among them, and may
 * hold anything. Or what was expected there instead. */
const char *site_read(const uint8_t *bytes, size_t room, struct tr_site *, size_t *size);

/* How far to go on behind what is no site, of which `room` bytes are left. */
static inline size_t site_skip(size_t room)
{
	return room < DPROF_SITE_ALIGN ? room : DPROF_SITE_ALIGN;
}

#endif

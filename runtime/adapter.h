/* SPDX-License-Identifier: MIT
 *
 * adapter.h - what the core offers to adapters: libraries that know a programming model (MPI,
 * ...) and say what a recorded operation was.
 *
 * A call that the plugin saw is recorded by the code around it; the adapter, called inside, only
 * adds arguments to its ENTER. One from code that the plugin never saw is recorded by the
 * adapter, at a site of its own.
 *
 * Law: arguments stand directly behind the event that they belong to, or nowhere. All of this
 * may be called at any time, recording or not, and leaves errno alone. */
#ifndef RUNTIME_ADAPTER_H
#define RUNTIME_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

#define DPROF_EXPORT __attribute__((visibility("default")))

struct dprof_argument { enum dprof_key key; uint64_t value; };

/* False: nothing is recorded here, and what an adapter would find out is in vain. */
DPROF_EXPORT bool dprof_adapter_recording(void);

/* Is the last event of this thread the ENTER of an operation (no region) called `name`? */
DPROF_EXPORT bool dprof_adapter_entered(const char *name);

/* Adds arguments to the last event of this thread. */
DPROF_EXPORT void dprof_adapter_arguments(const struct dprof_argument *, unsigned n);

DPROF_EXPORT void dprof_adapter_enter(const struct dprof_site *);
DPROF_EXPORT void dprof_adapter_exit(const struct dprof_site *);
DPROF_EXPORT void dprof_adapter_point(const struct dprof_site *);

/* This process has this rank among that many. */
DPROF_EXPORT void dprof_adapter_rank(int64_t rank, int64_t size);

/* A line of the process file (format.h); the value is escaped. */
DPROF_EXPORT void dprof_adapter_line(const char *key, const char *value);

/* A line of the process file whose fields stand as they are. */
DPROF_EXPORT void dprof_adapter_fields(const char *key, const char *fields);

/* A line `group ID ranks=RANKS`; ranks are numbers with commas between them. */
DPROF_EXPORT void dprof_adapter_group(uint64_t id, const char *ranks);

/* Who we are. Valid for the life of the process, recording or not; the directory is "" when
 * there is none. */
DPROF_EXPORT const char *dprof_adapter_host(void);
DPROF_EXPORT const char *dprof_adapter_hostid(void);
DPROF_EXPORT const char *dprof_adapter_directory(void);

/* A site as the plugin would make it, for `static const ... = DPROF_SITE(...)`. Not relocated,
 * so it says nothing that the linker would have to fill in. Its name is followed by two empty
 * strings: file and function. */
#define DPROF_SITE_STRINGS(name) \
	(sizeof(name) + 2 < DPROF_SITE_MIN - 16 ? DPROF_SITE_MIN - 16 : (sizeof(name) + 17) & ~15u)
#define DPROF_SITE_OF(variable, kind_, name_)                                              \
	static const struct {                                                              \
		uint32_t magic;                                                            \
		uint16_t size;                                                             \
		uint8_t  kind, version;                                                    \
		uint32_t line, column;                                                     \
		char     strings[DPROF_SITE_STRINGS(name_)];                               \
	} variable __attribute__((section(DPROF_SITE_SECTION), used,                       \
				  aligned(DPROF_SITE_ALIGN))) = {                          \
		DPROF_SITE_MAGIC, sizeof(variable), kind_, DPROF_SITE_VERSION, 0, 0, name_, \
	}

#endif

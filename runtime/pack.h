/* SPDX-License-Identifier: MIT
 *
 * pack.h - the helper stores a chunk in small. */
#ifndef RUNTIME_PACK_H
#define RUNTIME_PACK_H

#include <stddef.h>
#include <stdint.h>

/* Writes n words, the whole of chunk `number` of a thread (dprof_part_owner()), to the file at an offset, at which it must end. The
 * offset behind them, or -errno; then the file is as it was. */
long dprof_pack(const char *path, uint64_t offset, uint32_t owner, uint64_t number, const uint64_t *words,
		size_t n);

/* Gives back the memory for that, which comes again when it is needed. */
void dprof_pack_close(void);

#endif

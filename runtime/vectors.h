/* SPDX-License-Identifier: MIT
 *
 * vectors.h - the registers that are kept when inserted code calls ordinary C (entry.S), and the memory that they take.
 *
 * They are all that XSAVE knows but for AMX's tiles: those take 8 KB of a stack, which may have no more than 16, and neither what
 * records touches them nor what that calls, in the C library. */
#ifndef RUNTIME_VECTORS_H
#define RUNTIME_VECTORS_H

#define DPROF_VECTORS_LEFT_OUT 0x60000 /* bits 17 and 18 of XCR0: how tiles are divided, and what is in them */

#ifndef __ASSEMBLER__
#include <stdint.h>

#define DPROF_LEGACY_BYTES 576 /* x87 and SSE, and the header */

struct dprof_component { unsigned bytes, at; }; /* of an XSAVE area */

/* `enabled`: XCR0, and `of` what the processor says of a bit of it. */
static inline unsigned dprof_vector_area(uint64_t enabled, struct dprof_component (*of)(unsigned bit))
{
	unsigned end = DPROF_LEGACY_BYTES;

	for (unsigned bit = 2; bit < 63; bit++) {
		if (!((enabled & ~(uint64_t)DPROF_VECTORS_LEFT_OUT) >> bit & 1))
			continue;
		struct dprof_component c = of(bit);
		end = c.at + c.bytes > end ? c.at + c.bytes : end;
	}
	return end;
}
#endif

#endif

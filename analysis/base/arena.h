/* SPDX-License-Identifier: MIT
 *
 * arena.h - memory of a bounded size for arrays that are gone through again and again, in huge pages.
 *
 * What is gone through page by page costs a fault of the processor's page table for each 4096 bytes, and in a virtual machine
 * several times as much. In an arena the kernel maps 2 MB at once, where it may (transparent huge pages).
 *
 * Blocks are powers of two: the buddy system (K. C. Knowlton, "A fast storage allocator", CACM 8(10), 1965). One thread at a
 * time uses an arena.
 *
 * Law: blocks that are in use lie in the arena and do not overlap; and where an arena has a free block that is large enough,
 * it is given. */
#ifndef ANALYSIS_ARENA_H
#define ANALYSIS_ARENA_H

#include <stddef.h>

#define ARENA_LEAST ((size_t)1 << 14) /* bytes of a block, and of two that are neighbours: twice as many, and so on */

struct arena;

/* Of so many bytes, a power of two, or of the half of that, and so on, where a limit (RLIMIT_DATA, RLIMIT_AS) does not allow more.
 * NULL: not even 32 MB, or not that many were asked for. Nothing of it is resident before it is used. */
struct arena *arena_open(size_t bytes);
void arena_close(struct arena *); /* or NULL; and all blocks */

/* A block of at least so many bytes, which may be anything; or NULL. It has arena_block(bytes). */
void *arena_take(struct arena *, size_t bytes);
void arena_give(struct arena *, void *block, size_t bytes);

/* The power of two, ARENA_LEAST or above, that is not less. Up to half of what there are addresses for. */
size_t arena_block(size_t bytes);

#endif

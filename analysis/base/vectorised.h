/* SPDX-License-Identifier: MIT
 *
 * vectorised.h - functions that are compiled for processors with wider vectors as well, and chosen when they are loaded.
 *
 * For loops over arrays alone, in files that are compiled with -ftree-vectorize (analysis/room.mk). What they compute is the
 * same on each processor. */
#ifndef ANALYSIS_VECTORISED_H
#define ANALYSIS_VECTORISED_H

#if defined __SANITIZE_ADDRESS__
#define VECTORISED __attribute__((noinline)) /* the resolver would run before the sanitizer */
#else
#define VECTORISED __attribute__((target_clones("avx2", "default"), noinline))
#endif

#endif

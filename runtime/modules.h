/* SPDX-License-Identifier: MIT
 *
 * modules.h - which loaded files contain sites, and copies of these. */
#ifndef RUNTIME_MODULES_H
#define RUNTIME_MODULES_H

#include <stdbool.h>

#include "runtime/format.h"

/* Writes down the modules that are loaded when dprof begins; and those of dprof that were loaded since. Not from the
 * slow path. All others tell of themselves (__dprof_4_loaded). */
void dprof_modules_begin(void);
void dprof_modules_look(void);

/* Has the program or one of its libraries (not counting dprof's own) any site? */
bool dprof_modules_any(void);

/* Why the program's file cannot be read, so that none of its sites is known: an error number; or 0. */
int dprof_modules_unread(void);

/* Is this an address in the program, in a library that has sites (not dprof's own), or in one that
 * works for such: libstdc++, libgomp? */
bool dprof_modules_ours(const void *code);

/* Is it in a sanitizer's library? */
bool dprof_modules_sanitizer(const void *code);

/* In any of those, or in libgfortran: they do input and output for such, too. */
bool dprof_modules_served(const void *code);

/* Writes all loaded modules down once more, for the child of a fork. */
void dprof_modules_retell(void);

/* Around a fork: no other thread looks meanwhile. May be nested. */
void dprof_modules_hold(void);
void dprof_modules_release(void);

#endif

/* SPDX-License-Identifier: MIT
 *
 * nearest.h - what a misspelt name was probably meant to be.
 *
 * Law: the answer is a name that begins so, or else the one with the fewest changed letters, and none when that would
 * change more than a third of it. */
#ifndef ANALYSIS_NEAREST_H
#define ANALYSIS_NEAREST_H

#include <stddef.h>

/* One of `names`, or NULL when none is near. */
const char *nearest(const char *misspelt, const char *const *names, size_t count);

#endif

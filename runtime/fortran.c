/* SPDX-License-Identifier: MIT
 *
 * fortran.c - what pragmas/dprof.inc declares.
 *
 * The plugin turns calls of the first three into events, so these run only where it was not loaded: then
 * nothing is recorded, as with a pragma that no one reads. */
#include <stddef.h>

#include "runtime/adapter.h" /* DPROF_EXPORT */

DPROF_EXPORT void dprof_enter_(const char *name, size_t length);
DPROF_EXPORT void dprof_exit_(const char *name, size_t length);
DPROF_EXPORT void dprof_point_(const char *name, size_t length);

void dprof_enter_(const char *name, size_t length)
{
	(void)name, (void)length;
}

void dprof_exit_(const char *name, size_t length)
{
	(void)name, (void)length;
}

void dprof_point_(const char *name, size_t length)
{
	(void)name, (void)length;
}

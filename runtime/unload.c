/* SPDX-License-Identifier: MIT
 *
 * unload.c - dlclose(), which stands before the C library's.
 *
 * Law: no object with sites is unloaded before its sites are in the trace, and none comes to lie where the
 * sites of an earlier one were. That holds where the program itself is linked with dprof; if only an object
 * is that it loads, dlclose() is the C library's, and modules.c notes what that may have confused. */
#include <dlfcn.h>
#include <stddef.h>

#include "runtime/modules.h"
#include "runtime/thread.h"

__attribute__((visibility("default"))) int dlclose(void *object)
{
	int (*real)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	int failed;

	if (dprof_off)
		return real(object);
	dprof_modules_closing();
	failed = real(object);
	dprof_modules_closed();
	return failed;
}

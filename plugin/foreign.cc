/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * foreign.cc - what is said in a compiler that is not GCC, clang for example, and has loaded the plugin.
 *
 * All that GCC gives a plugin is weak here (room.mk), or else the loader would refuse it with the name of some
 * function. Another GCC calls plugin_init, which refuses it; any other compiler would go on without dprof. */
#include <dlfcn.h>

#include "plugin/parts.h"
#include "plugin-version.h"

__attribute__((constructor)) static void refuse_others()
{
	if (dlsym(RTLD_DEFAULT, "plugin_default_version_check"))
		return;
	fprintf(stderr, "dprof: this compiler is not GCC: dprof's plugin needs GCC %s, for which it was built\n",
		gcc_version.basever);
	exit(1);
}

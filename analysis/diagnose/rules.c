/* SPDX-License-Identifier: MIT
 *
 * rules.c - see rules.h. */
#include "analysis/diagnose/rules.h"

#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"

char *rules_file(const char *name)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
	}
	return mem_format("%s/share/dprof/rules/%s.clp", self, name);
}

/* SPDX-License-Identifier: MIT
 *
 * rules.c - see rules.h. */
#include "analysis/diagnose/rules.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"

char *rules_file(const char *name, const char *ending)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
	}
	return mem_format("%s/share/dprof/rules/%s.%s", self, name, ending);
}

#define MOST_BYTES 65536

char *rules_text(const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return NULL;
	char *text = mem_resize(NULL, MOST_BYTES, 1);
	text[fread(text, 1, MOST_BYTES - 1, file)] = 0;
	fclose(file);
	return text;
}

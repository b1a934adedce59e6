/* SPDX-License-Identifier: MIT
 *
 * source_file.c - see source_file.h. */
#include "analysis/report/source_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "freezer/regular.h"

static bool is_named_as_source(const char *file)
{
	static const char *const ends[] = {
		".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".C", ".hh", ".hpp", ".hxx", ".h++", ".H",
		".inl", ".ipp", ".tcc", ".tpp", ".inc", ".cu", ".cuh",
		".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".FOR", ".fpp",
		".F77", ".F90", ".F95", ".F03", ".F08", ".y", ".l"
	};
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
	for (size_t i = 0; i < sizeof ends / sizeof *ends && dot > name; i++)
		if (strcmp(dot, ends[i]) == 0)
			return true;
	return false;
}

FILE *source_open(const char *file, const char **why)
{
	const char *found;
	*why = *file ? " (not named as source is: only what was recorded)" : "";
	if (!is_named_as_source(file))
		return NULL;
	int fd = frz_open_regular(AT_FDCWD, file, &found);
	FILE *source = fd >= 0 ? fdopen(fd, "r") : NULL;
	*why = source ? "" : " (cannot be read: only what was recorded)";
	return source;
}

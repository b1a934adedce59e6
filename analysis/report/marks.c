/* SPDX-License-Identifier: MIT
 *
 * marks.c - see marks.h. */
#include "analysis/report/marks.h"

#include <string.h>
#include <strings.h>

static bool is_fortran(const char *file)
{
	static const char *const suffixes[] = { ".f", ".for", ".ftn", ".fpp", ".f90", ".f95", ".f03", ".f08", ".f18" };
	const char *dot = strrchr(file, '.');
	for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
		if (strcasecmp(dot, suffixes[i]) == 0)
			return true;
	return false;
}

const char *marks_region(const struct trace *trace)
{
	size_t fortran = 0, others = 0;
	for (size_t i = 0; i < trace->nsites; i++)
		if (*trace->sites[i].file)
			is_fortran(trace->sites[i].file) ? fortran++ : others++;
	return fortran > 0 && others == 0 ? "call dprof_enter('NAME') and call dprof_exit('NAME') (include 'dprof.inc')"
					  : "#pragma dprof region(NAME)";
}

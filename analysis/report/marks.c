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

/* Of the places in sources that are known. */
struct languages { size_t fortran, others; };

static struct languages count_languages(const struct trace *trace)
{
	struct languages l = { 0 };
	for (size_t i = 0; i < trace->nsites; i++)
		if (*trace->sites[i].file)
			is_fortran(trace->sites[i].file) ? l.fortran++ : l.others++;
	return l;
}

static bool all_fortran(const struct trace *trace)
{
	struct languages l = count_languages(trace);
	return l.fortran > 0 && l.others == 0;
}

/* No place in a source is known. */
static bool may_be_fortran(const struct trace *trace)
{
	struct languages l = count_languages(trace);
	return l.fortran == 0 && l.others == 0;
}

/* Its program is the file that it was packed of. */
bool marks_elsewhere(const struct trace *trace)
{
	const char *dot = trace->nprocesses > 0 ? strrchr(trace->processes[0].program, '.') : NULL;
	return dot && (strcmp(dot, ".otf2") == 0 || strcmp(dot, ".json") == 0);
}

const char *marks_region(const struct trace *trace)
{
	if (marks_elsewhere(trace))
		return "a region, as the tool that recorded it does that";
	if (may_be_fortran(trace))
		return "#pragma dprof region(NAME) (in Fortran: call dprof_enter('NAME') and call dprof_exit('NAME'))";
	return all_fortran(trace) ? "call dprof_enter('NAME') and call dprof_exit('NAME') (include 'dprof.inc')"
				  : "#pragma dprof region(NAME)";
}

const char *marks_poll(const struct trace *trace)
{
	if (marks_elsewhere(trace))
		return "Mark work with a region, as the tool that recorded it does that";
	return all_fortran(trace) ? "Mark work with call dprof_enter('NAME') and call dprof_exit('NAME') (include 'dprof.inc')"
				  : "Mark a loop that asks for something with #pragma dprof poll(NAME), and work with "
				    "#pragma dprof region(NAME)";
}

const char *marks_linker(const struct trace *trace, bool mpi)
{
	if (all_fortran(trace))
		return mpi ? "dprof-mpifort" : "dprof-fort";
	return mpi ? "dprof-mpicc" : "dprof-cc";
}

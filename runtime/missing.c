/* SPDX-License-Identifier: MIT
 *
 * missing.c - see missing.h. */
#include "runtime/missing.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Objects are listed in the order in which the loader looks for a function. */
struct missing_seen { bool mpi, adapter, behind, libc, loader, waits_behind; };

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static int visit(struct dl_phdr_info *info, size_t size, void *into)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
	struct missing_seen *seen = into;

	(void)size;
	seen->mpi |= begins(name, "libmpi.so") || begins(name, "libmpich.so");
	if (begins(name, "libdprof-openmpi.so") || begins(name, "libdprof-mpich.so")) {
		seen->adapter = true;
		seen->behind = seen->mpi;
	}
	seen->libc |= begins(name, "libc.so");
	seen->loader |= begins(name, "ld-linux"); /* the last of those that the program begins with */
	seen->waits_behind |= begins(name, "libdprof-pthread.so") && seen->libc && !seen->loader;
	return 0;
}

bool dprof_missing_mpi(void)
{
	struct missing_seen seen = { 0 };

	dl_iterate_phdr(visit, &seen);
	return !seen.mpi;
}

const char *dprof_missing_adapter(void)
{
	struct missing_seen seen = { 0 };

	dl_iterate_phdr(visit, &seen);
	if (seen.mpi && !seen.adapter)
		return "libmpi is there and dprof's library for it is not, so calls of MPI are not recorded, nor ranks: "
		       "link with dprof-mpicc or dprof-mpifort, dprof::mpi (CMake) or, before -lmpi, what pkg-config --libs dprof says";
	if (seen.behind)
		return "dprof's library for MPI stands behind libmpi, so calls of MPI are not recorded, nor ranks: "
		       "link with dprof-mpicc or dprof-mpifort, dprof::mpi (CMake) or, before -lmpi, what pkg-config --libs dprof says";
	return NULL;
}

const char *dprof_missing_waits(void)
{
	struct missing_seen seen = { 0 };

	dl_iterate_phdr(visit, &seen);
	if (!seen.libc)
		return "the program is linked with -static, so nothing that blocks is recorded, but what its own code "
		       "marks: link it without -static to see who waits";
	if (seen.waits_behind)
		return "dprof's libraries stand behind the C library, so joins, locks and what else blocks there are not recorded: "
		       "link with dprof-cc or dprof-fort or, before -lc, what pkg-config --libs dprof says";
	return NULL;
}

bool dprof_missing_used(void)
{
	int (*initialized)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "PMPI_Initialized");
	int yes = 0;

	return initialized && !initialized(&yes) && yes;
}

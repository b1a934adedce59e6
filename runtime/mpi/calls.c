/* SPDX-License-Identifier: MIT
 *
 * calls.c - what all calls have in common; begin and end of MPI. */
#include "runtime/mpi/adapter.h"
#include "runtime/mpi/members.h"

#include <stdio.h>

bool mpi_active, mpi_multiple;

struct call call_begin(const void *site, const char *name)
{
	bool seen = dprof_adapter_entered(name);

	if (!mpi_active || !dprof_adapter_recording() || (!seen && !site))
		return (struct call){ false, NULL };
	if (!seen)
		dprof_adapter_enter(site);
	return (struct call){ true, seen ? NULL : site };
}

void call_end(struct call c)
{
	if (c.due)
		dprof_adapter_exit(c.due);
}

void call_waits(struct call c)
{
	struct dprof_argument somebody = { DPROF_KEY_PEER, DPROF_SOMEBODY };

	if (c.on)
		dprof_adapter_arguments(&somebody, 1);
}

struct call wait_begin(const void *site, const char *name)
{
	struct call c = call_begin(site, name);

	call_waits(c);
	return c;
}

uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = 0;

	if (type == MPI_DATATYPE_NULL || count < 0 ||
	    PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return UNKNOWN_BYTES;
	return (uint64_t)count * (uint64_t)size;
}

/* ---- Begin and end of MPI -------------------------------------------------------------------- */

static void after_init(void)
{
	int level = MPI_THREAD_SINGLE;

	PMPI_Query_thread(&level);
	mpi_multiple = level == MPI_THREAD_MULTIPLE;
	mpi_active = hosts_start();
	if (mpi_active)
		groups_start();
}

/* Not a record: the run begins with what the program does between its events. */
static void say_init(uint64_t since)
{
	char stamps[48];

	snprintf(stamps, sizeof(stamps), "%llu %llu", (unsigned long long)since,
		 (unsigned long long)dprof_adapter_moment().stamp);
	dprof_adapter_fields("init", stamps);
}

DPROF_EXPORT int MPI_Init(int *argc, char ***argv)
{
	uint64_t since = dprof_adapter_moment().stamp;
	int result;

	members_announce();
	result = PMPI_Init(argc, argv);
	if (result == MPI_SUCCESS)
		after_init();
	say_init(since);
	return result;
}

DPROF_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	uint64_t since = dprof_adapter_moment().stamp;
	int result;

	members_announce();
	result = PMPI_Init_thread(argc, argv, required, provided);
	if (result == MPI_SUCCESS)
		after_init();
	say_init(since);
	return result;
}

/* What this rank has recorded is kept whatever becomes of it; the reader should know why it ends.
 * */
DPROF_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
	char text[64];
	int rank = 0;

	if (mpi_active)
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(text, sizeof(text), "rank %d called MPI_Abort with code %d", rank, code);
	dprof_adapter_line("note", text);
	return PMPI_Abort(comm, code);
}

/* Who comes first waits for the others, in hosts_meet() if nowhere else. What we do after that is
 * not the program's, and not recorded. */
DPROF_SITE_OF(site_Finalize, DPROF_KIND_BARRIER, "MPI_Finalize");
DPROF_EXPORT int MPI_Finalize(void)
{
	if (mpi_active) {
		struct call c = collective_begin(&site_Finalize, "MPI_Finalize", MPI_COMM_WORLD,
						 NOT_ROOTED, UNKNOWN_BYTES);

		hosts_meet();
		call_end(c);
		mpi_active = false;
		groups_stop();
		hosts_stop();
	}
	return PMPI_Finalize();
}

/* SPDX-License-Identifier: MIT
 *
 * calls.c - what all calls have in common; begin and end of MPI. */
#include "runtime/mpi/adapter.h"
#include "runtime/mpi/members.h"

#include <stdio.h>

bool mpi_active, mpi_multiple;

static void __attribute__((constructor)) here(void)
{
	dprof_adapter_present(DPROF_ADAPTER_MPI);
}

struct mpi_call call_begin(const void *site, const char *name)
{
	struct mpi_call c = call_of(site, name);

	call_enter(&c, NULL);
	return c;
}

void call_end(struct mpi_call c)
{
	if (c.site)
		call_end_at(c, dprof_adapter_now_fenced());
}

void call_add(struct mpi_call c, enum dprof_key key, uint64_t value)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, key, value);
	if (c.on && c.place)
		dprof_adapter_add(c.place, &a);
}

struct mpi_call wait_begin(const void *site, const char *name)
{
	struct mpi_call c = call_of(site, name);
	struct dprof_arguments a;

	a.words = 0;
	if (c.on)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	call_enter(&c, &a);
	return c;
}

/* ---- How much --------------------------------------------------------------------------------- */

#define SIZES 16

__thread struct type_size type_last;

/* Types that MPI names have a size for good; others may be freed, and their handles be given again. */
static bool is_named(MPI_Datatype type)
{
	int integers, addresses, types, combiner = MPI_UNDEFINED;

	PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

static MPI_Count size_of(MPI_Datatype type)
{
	static __thread struct type_size known[SIZES];
	unsigned at = (unsigned)((uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15) >> 60) % SIZES;
	MPI_Count size = -1;

	if (known[at].type != type || !known[at].size) {
		if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS)
			return -1;
		if (!is_named(type))
			return size;
		known[at] = (struct type_size){ type, size };
	}
	type_last = known[at];
	return type_last.size;
}

uint64_t bytes_of_any(MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = type == MPI_DATATYPE_NULL || count < 0 ? -1 : size_of(type);

	return size < 0 ? UNKNOWN_BYTES : (uint64_t)count * (uint64_t)size;
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
	struct dprof_library_call library;
	int result;

	members_announce();
	dprof_adapter_library_begins(&library);
	result = PMPI_Init(argc, argv);
	if (result == MPI_SUCCESS)
		after_init();
	dprof_adapter_library_ends(&library);
	say_init(since);
	return result;
}

DPROF_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	uint64_t since = dprof_adapter_moment().stamp;
	struct dprof_library_call library;
	int result;

	members_announce();
	dprof_adapter_library_begins(&library);
	result = PMPI_Init_thread(argc, argv, required, provided);
	if (result == MPI_SUCCESS)
		after_init();
	dprof_adapter_library_ends(&library);
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

/* Who comes first waits for the others, in hosts_sync() if nowhere else. What we do after that is
 * not the program's, and not recorded. */
DPROF_SITE_OF(site_Finalize, DPROF_KIND_BARRIER, "MPI_Finalize");
static void leave(void)
{
	struct mpi_call c = collective_begin(&site_Finalize, "MPI_Finalize", MPI_COMM_WORLD, NOT_ROOTED,
					     UNKNOWN_BYTES);
	bool last;

	hosts_sync();
	last = hosts_gather();
	call_end(c);
	mpi_active = false;
	groups_stop();
	hosts_sync_last();
	if (last)
		dprof_adapter_stop();
	hosts_stop();
}

/* What MPI_Finalize calls first are the functions by which attributes of MPI_COMM_SELF are deleted, that of the last one first.
 * What they do is the program's, and others wait for it. So an attribute of ours is set before the program's first one, and
 * when that is deleted, this rank has come. */
static bool finalizing, leaves_with_self;

static int self_goes(MPI_Comm comm, int key, void *value, void *unused)
{
	(void)comm, (void)key, (void)value, (void)unused;
	if (finalizing && mpi_active)
		leave();
	return MPI_SUCCESS;
}

static void has_attribute(MPI_Comm comm)
{
	static bool asked;
	int key;

	if (!mpi_active || comm != MPI_COMM_SELF || __atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
		return;
	leaves_with_self = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, self_goes, &key, NULL) == MPI_SUCCESS &&
			   PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
}

DPROF_EXPORT int MPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
	has_attribute(comm);
	return PMPI_Comm_set_attr(comm, key, value);
}

DPROF_EXPORT int MPI_Attr_put(MPI_Comm comm, int key, void *value)
{
	has_attribute(comm);
	return PMPI_Comm_set_attr(comm, key, value);
}

DPROF_EXPORT int MPI_Finalize(void)
{
	struct dprof_library_call library;
	int result;

	if (mpi_active && !leaves_with_self)
		leave();
	finalizing = true;
	dprof_adapter_library_begins(&library);
	result = PMPI_Finalize();
	dprof_adapter_library_ends(&library);
	return result;
}

/* SPDX-License-Identifier: MIT
 *
 * files.c - what several ranks do together to a file: MPI lets each of them wait for the others, and does not say for whom.
 * An open file has a number among those of groups, since it has collective operations of its own.
 *
 *   MPI_File_open, _write_all, _close, ...   ENTER group seq role=ROLE_UNKNOWN ............ EXIT
 *   MPI_File_iwrite_all                      ENTER group seq role=ROLE_UNKNOWN id EXIT  ...  done id
 *   MPI_File_write_shared                    ENTER peer=UNKNOWN ........................... EXIT
 *
 * Who uses a pointer that all share waits for whoever has it. What one rank does alone waits for the disk and is not recorded. */
#include "runtime/mpi/adapter.h"
#include "runtime/sys.h"

#include <stdlib.h>

/* ---- Open files: those of MPI have no attributes ------------------------------------------------- */

struct mpi_file {
	struct mpi_file *next;
	MPI_File handle;
	struct group *group;
};

static struct mpi_file *files;
static bool files_locked; /* ours: those of pthreads may be recorded */

static void lock(void)
{
	for (unsigned n = 0; mpi_multiple && __atomic_test_and_set(&files_locked, __ATOMIC_ACQUIRE); n++)
		sys_wait_for_other(n);
}

static void unlock(void)
{
	if (mpi_multiple)
		__atomic_clear(&files_locked, __ATOMIC_RELEASE);
}

static struct group *find(MPI_File handle)
{
	struct mpi_file *f;

	if (!mpi_active)
		return NULL;
	lock();
	for (f = files; f && f->handle != handle; f = f->next)
		;
	unlock();
	return f ? f->group : NULL;
}

static void add(MPI_File handle, uint64_t id)
{
	struct mpi_file *f = id ? malloc(sizeof(*f)) : NULL;
	MPI_Group members;

	if (!f || PMPI_File_get_group(handle, &members) != MPI_SUCCESS) {
		free(f);
		return;
	}
	*f = (struct mpi_file){ .handle = handle, .group = group_with(members, id) };
	lock();
	f->next = files;
	files = f;
	unlock();
}

static void forget(MPI_File handle)
{
	struct mpi_file **at = &files, *f;

	lock();
	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	f = *at;
	if (f)
		*at = f->next;
	unlock();
	if (f && f->group)
		group_release(f->group);
	free(f);
}

/* ---- Opened and closed --------------------------------------------------------------------------- */

/* The file itself was the reason, so that all took part. */
static bool is_of_file(int error)
{
	int class = MPI_ERR_UNKNOWN;

	PMPI_Error_class(error, &class);
	switch (class) {
	case MPI_ERR_ACCESS:
	case MPI_ERR_BAD_FILE:
	case MPI_ERR_FILE:
	case MPI_ERR_FILE_EXISTS:
	case MPI_ERR_FILE_IN_USE:
	case MPI_ERR_IO:
	case MPI_ERR_NO_SPACE:
	case MPI_ERR_NO_SUCH_FILE:
	case MPI_ERR_QUOTA:
	case MPI_ERR_READ_ONLY:
		return true;
	default:
		return false;
	}
}

/* The number is made by all, whatever comes of it on some. */
DPROF_SITE_OF(site_File_open, DPROF_KIND_COLL, "MPI_File_open");
DPROF_EXPORT int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
	struct group *parent = mpi_active ? group_of(comm) : NULL;
	uint64_t id = parent ? group_derive(parent) : 0;
	struct mpi_call c = group_operation_begin(NAMED(File_open), parent, ROLE_UNKNOWN, UNKNOWN_BYTES);
	int result = PMPI_File_open(comm, name, mode, info, file);

	if (result != MPI_SUCCESS && mpi_active)
		collective_failed(c, is_of_file(result) ? NULL : parent);
	call_end(c);
	if (result == MPI_SUCCESS)
		add(*file, id);
	return result;
}

DPROF_SITE_OF(site_File_close, DPROF_KIND_COLL, "MPI_File_close");
DPROF_EXPORT int MPI_File_close(MPI_File *file)
{
	MPI_File handle = *file;
	struct group *g = find(handle);
	struct mpi_call c = group_operation_begin(NAMED(File_close), g, ROLE_UNKNOWN, UNKNOWN_BYTES);
	int result = PMPI_File_close(file);

	if (result != MPI_SUCCESS)
		collective_failed(c, g);
	call_end(c);
	if (result == MPI_SUCCESS && g)
		forget(handle);
	return result;
}

/* ---- Together ------------------------------------------------------------------------------------ */

#define TOGETHER_AS(name, called, parameters, arguments)                                          \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct group *g = find(file);                                                     \
		struct mpi_call c = group_operation_begin(NAMED(name), g, ROLE_UNKNOWN, UNKNOWN_BYTES); \
		int result = PMPI_##called arguments;                                             \
                                                                                                  \
		if (result != MPI_SUCCESS)                                                        \
			collective_failed(c, g);                                                  \
		call_end(c);                                                                      \
		return result;                                                                    \
	}
#define TOGETHER(name, parameters, arguments)                                                     \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	TOGETHER_AS(name, name, parameters, arguments)

#define BEGUN_AS(name, called, parameters, arguments)                                             \
	DPROF_EXPORT int MPI_##called parameters                                                  \
	{                                                                                         \
		struct group *g = find(file);                                                     \
		struct post p = collective_begun(NAMED(name), g, ROLE_UNKNOWN, UNKNOWN_BYTES);    \
		int result = PMPI_##called arguments;                                             \
                                                                                                  \
		if (result != MPI_SUCCESS)                                                        \
			collective_failed(p.call, g);                                             \
		post_end(&p, result == MPI_SUCCESS ? request : NULL);                             \
		return result;                                                                    \
	}
#define BEGUN(name, parameters, arguments)                                                        \
	DPROF_SITE_OF(site_##name, DPROF_KIND_COLL, "MPI_" #name);                                \
	BEGUN_AS(name, name, parameters, arguments)

TOGETHER(File_set_view,
	 (MPI_File file, MPI_Offset at, MPI_Datatype type, MPI_Datatype view, const char *form,
	  MPI_Info info),
	 (file, at, type, view, form, info))
TOGETHER(File_set_size, (MPI_File file, MPI_Offset size), (file, size))
TOGETHER(File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
TOGETHER(File_set_atomicity, (MPI_File file, int flag), (file, flag))
TOGETHER(File_sync, (MPI_File file), (file))
TOGETHER(File_seek_shared, (MPI_File file, MPI_Offset at, int whence), (file, at, whence))

TOGETHER(File_read_all_end, (MPI_File file, void *data, MPI_Status *s), (file, data, s))
TOGETHER(File_write_all_end, (MPI_File file, const void *data, MPI_Status *s), (file, data, s))
TOGETHER(File_read_at_all_end, (MPI_File file, void *data, MPI_Status *s), (file, data, s))
TOGETHER(File_write_at_all_end, (MPI_File file, const void *data, MPI_Status *s), (file, data, s))
TOGETHER(File_read_ordered_end, (MPI_File file, void *data, MPI_Status *s), (file, data, s))
TOGETHER(File_write_ordered_end, (MPI_File file, const void *data, MPI_Status *s), (file, data, s))

#define TAKEN(count) MPI_File file, const void *data, count n, MPI_Datatype type
#define GIVEN(count) MPI_File file, void *data, count n, MPI_Datatype type
#define AT(pointer, count) MPI_File file, MPI_Offset at, pointer data, count n, MPI_Datatype type

/* X(name, suffix, parameters, arguments) */
#define DATA_TOGETHER(X, suffix, count)                                                           \
	X(File_read_all, suffix, (GIVEN(count), MPI_Status *s), (file, data, n, type, s))         \
	X(File_write_all, suffix, (TAKEN(count), MPI_Status *s), (file, data, n, type, s))        \
	X(File_read_at_all, suffix, (AT(void *, count), MPI_Status *s),                           \
	  (file, at, data, n, type, s))                                                           \
	X(File_write_at_all, suffix, (AT(const void *, count), MPI_Status *s),                    \
	  (file, at, data, n, type, s))                                                           \
	X(File_read_ordered, suffix, (GIVEN(count), MPI_Status *s), (file, data, n, type, s))     \
	X(File_write_ordered, suffix, (TAKEN(count), MPI_Status *s), (file, data, n, type, s))    \
	X(File_read_all_begin, suffix, (GIVEN(count)), (file, data, n, type))                     \
	X(File_write_all_begin, suffix, (TAKEN(count)), (file, data, n, type))                    \
	X(File_read_at_all_begin, suffix, (AT(void *, count)), (file, at, data, n, type))         \
	X(File_write_at_all_begin, suffix, (AT(const void *, count)), (file, at, data, n, type))  \
	X(File_read_ordered_begin, suffix, (GIVEN(count)), (file, data, n, type))                 \
	X(File_write_ordered_begin, suffix, (TAKEN(count)), (file, data, n, type))
#define DATA_BEGUN(X, suffix, count)                                                              \
	X(File_iread_all, suffix, (GIVEN(count), MPI_Request *request),                           \
	  (file, data, n, type, request))                                                         \
	X(File_iwrite_all, suffix, (TAKEN(count), MPI_Request *request),                          \
	  (file, data, n, type, request))                                                         \
	X(File_iread_at_all, suffix, (AT(void *, count), MPI_Request *request),                   \
	  (file, at, data, n, type, request))                                                     \
	X(File_iwrite_at_all, suffix, (AT(const void *, count), MPI_Request *request),            \
	  (file, at, data, n, type, request))

/* ---- By a pointer that all share ------------------------------------------------------------------ */

#define SHARED(X, suffix, count)                                                                  \
	X(File_read_shared, suffix, (GIVEN(count), MPI_Status *s), (file, data, n, type, s))      \
	X(File_write_shared, suffix, (TAKEN(count), MPI_Status *s), (file, data, n, type, s))
#define SHARED_BEGUN(X, suffix, count)                                                            \
	X(File_iread_shared##suffix, (GIVEN(count), MPI_Request *request),                        \
	  (file, data, n, type, request))                                                         \
	X(File_iwrite_shared##suffix, (TAKEN(count), MPI_Request *request),                       \
	  (file, data, n, type, request))

#define PLAIN(name, suffix, parameters, arguments) TOGETHER(name, parameters, arguments)
#define PLAIN_BEGUN(name, suffix, parameters, arguments) BEGUN(name, parameters, arguments)
#define PLAIN_SHARED(name, suffix, parameters, arguments) WRAP_WAIT(name, parameters, arguments)
DATA_TOGETHER(PLAIN, , int)
DATA_BEGUN(PLAIN_BEGUN, , int)
SHARED(PLAIN_SHARED, , int)
SHARED_BEGUN(WRAP_FOREIGN, , int)
#if MPI_VERSION >= 4
#define LARGE(name, suffix, parameters, arguments) TOGETHER_AS(name, name##suffix, parameters, arguments)
#define LARGE_BEGUN(name, suffix, parameters, arguments) BEGUN_AS(name, name##suffix, parameters, arguments)
#define LARGE_SHARED(name, suffix, parameters, arguments) WRAP_WAIT_AS(name, name##suffix, parameters, arguments)
DATA_TOGETHER(LARGE, _c, MPI_Count)
DATA_BEGUN(LARGE_BEGUN, _c, MPI_Count)
SHARED(LARGE_SHARED, _c, MPI_Count)
SHARED_BEGUN(WRAP_FOREIGN, _c, MPI_Count)
#endif

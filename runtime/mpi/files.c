/* SPDX-License-Identifier: MIT
 *
 * files.c - what several ranks do together to a file: it may wait for the disk or for the others,
 * it is unknown for which. What one rank does alone waits for the disk and is not recorded. */
#include "runtime/mpi/adapter.h"

#define TAKEN(count) MPI_File file, const void *data, count n, MPI_Datatype type
#define GIVEN(count) MPI_File file, void *data, count n, MPI_Datatype type
#define AT(pointer, count) MPI_File file, MPI_Offset at, pointer data, count n, MPI_Datatype type

WRAP_WAIT(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
	  (comm, name, mode, info, file))
WRAP_WAIT(File_close, (MPI_File *file), (file))
WRAP_WAIT(File_set_view,
	  (MPI_File file, MPI_Offset at, MPI_Datatype type, MPI_Datatype view, const char *form,
	   MPI_Info info),
	  (file, at, type, view, form, info))
WRAP_WAIT(File_set_size, (MPI_File file, MPI_Offset size), (file, size))
WRAP_WAIT(File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
WRAP_WAIT(File_set_atomicity, (MPI_File file, int flag), (file, flag))
WRAP_WAIT(File_sync, (MPI_File file), (file))
WRAP_WAIT(File_seek_shared, (MPI_File file, MPI_Offset at, int whence), (file, at, whence))

WRAP_WAIT(File_read_all_end, (MPI_File file, void *data, MPI_Status *s), (file, data, s))
WRAP_WAIT(File_write_all_end, (MPI_File file, const void *data, MPI_Status *s), (file, data, s))
WRAP_WAIT(File_read_at_all_end, (MPI_File file, void *data, MPI_Status *s), (file, data, s))
WRAP_WAIT(File_write_at_all_end, (MPI_File file, const void *data, MPI_Status *s), (file, data, s))
WRAP_WAIT(File_read_ordered_end, (MPI_File file, void *data, MPI_Status *s), (file, data, s))
WRAP_WAIT(File_write_ordered_end, (MPI_File file, const void *data, MPI_Status *s), (file, data, s))

/* X(name, suffix, parameters, arguments) */
#define WITH_COUNT(X, suffix, count)                                                              \
	X(File_read_all, suffix, (GIVEN(count), MPI_Status *s), (file, data, n, type, s))         \
	X(File_write_all, suffix, (TAKEN(count), MPI_Status *s), (file, data, n, type, s))        \
	X(File_read_at_all, suffix, (AT(void *, count), MPI_Status *s),                           \
	  (file, at, data, n, type, s))                                                           \
	X(File_write_at_all, suffix, (AT(const void *, count), MPI_Status *s),                    \
	  (file, at, data, n, type, s))                                                           \
	X(File_read_ordered, suffix, (GIVEN(count), MPI_Status *s), (file, data, n, type, s))     \
	X(File_write_ordered, suffix, (TAKEN(count), MPI_Status *s), (file, data, n, type, s))    \
	X(File_read_shared, suffix, (GIVEN(count), MPI_Status *s), (file, data, n, type, s))      \
	X(File_write_shared, suffix, (TAKEN(count), MPI_Status *s), (file, data, n, type, s))     \
	X(File_read_all_begin, suffix, (GIVEN(count)), (file, data, n, type))                     \
	X(File_write_all_begin, suffix, (TAKEN(count)), (file, data, n, type))                    \
	X(File_read_at_all_begin, suffix, (AT(void *, count)), (file, at, data, n, type))         \
	X(File_write_at_all_begin, suffix, (AT(const void *, count)), (file, at, data, n, type))  \
	X(File_read_ordered_begin, suffix, (GIVEN(count)), (file, data, n, type))                 \
	X(File_write_ordered_begin, suffix, (TAKEN(count)), (file, data, n, type))

#define BEGUN(X, suffix, count)                                                                   \
	X(File_iread_all##suffix, (GIVEN(count), MPI_Request *request),                           \
	  (file, data, n, type, request))                                                         \
	X(File_iwrite_all##suffix, (TAKEN(count), MPI_Request *request),                          \
	  (file, data, n, type, request))                                                         \
	X(File_iread_at_all##suffix, (AT(void *, count), MPI_Request *request),                   \
	  (file, at, data, n, type, request))                                                     \
	X(File_iwrite_at_all##suffix, (AT(const void *, count), MPI_Request *request),            \
	  (file, at, data, n, type, request))                                                     \
	X(File_iread_shared##suffix, (GIVEN(count), MPI_Request *request),                        \
	  (file, data, n, type, request))                                                         \
	X(File_iwrite_shared##suffix, (TAKEN(count), MPI_Request *request),                       \
	  (file, data, n, type, request))

#define PLAIN(name, suffix, parameters, arguments) WRAP_WAIT(name, parameters, arguments)
WITH_COUNT(PLAIN, , int)
BEGUN(WRAP_FOREIGN, , int)
#if MPI_VERSION >= 4
#define LARGE(name, suffix, parameters, arguments) \
	WRAP_WAIT_AS(name, name##suffix, parameters, arguments)
WITH_COUNT(LARGE, _c, MPI_Count)
BEGUN(WRAP_FOREIGN, _c, MPI_Count)
#endif

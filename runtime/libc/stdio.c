/* SPDX-License-Identifier: MIT
 *
 * stdio.c - bytes go through a stream, and with that perhaps through its descriptor.
 *
 * The C library moves them inside of itself; how many is known of what is written, from what waits in the
 * stream's buffer before and afterwards. Formatted input and output (scanf, printf) is not recorded where it
 * stands, but what it leaves in the buffer is when that is flushed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libc/libc.h"

#undef fread_unlocked
#undef fwrite_unlocked

/* ---- What waits in a buffer ----------------------------------------------------------------------------- */

static int64_t unwritten(const FILE *f)
{
	return f->_IO_write_ptr > f->_IO_write_base ? f->_IO_write_ptr - f->_IO_write_base : 0;
}

static bool has_unread(const FILE *f)
{
	return f->_IO_read_ptr < f->_IO_read_end;
}

/* ---- Taken ---------------------------------------------------------------------------------------------- */

size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);

#define TAKE(name, site, type, f, parameters, arguments)            \
	DPROF_EXPORT type name parameters                           \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		if (!is_watched() || !(f))                          \
			return real arguments;                \
		TRANSFER(t, site, (f)->_fileno, TAKES);             \
		return real arguments;                        \
	}
#define TAKE_ONE(name, site, f, parameters, arguments)              \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		if (!is_watched() || !(f) || has_unread(f))         \
			return real arguments;                \
		TRANSFER(t, site, (f)->_fileno, TAKES);             \
		return real arguments;                        \
	}

TRANSFER_SITES(fread);
TRANSFER_SITES(fgets);
TRANSFER_SITES(getline);
TRANSFER_SITES(getc);

TAKE(fread, fread, size_t, f, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
TAKE(fread_unlocked, fread, size_t, f, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
TAKE(__fread_chk, fread, size_t, f, (void *to, size_t room, size_t size, size_t n, FILE *f), (to, room, size, n, f))
TAKE(fgets, fgets, char *, f, (char *to, int n, FILE *f), (to, n, f))
TAKE(__fgets_chk, fgets, char *, f, (char *to, size_t room, int n, FILE *f), (to, room, n, f))
TAKE(getline, getline, ssize_t, f, (char **line, size_t *room, FILE *f), (line, room, f))
TAKE(getdelim, getline, ssize_t, f, (char **line, size_t *room, int end, FILE *f), (line, room, end, f))
TAKE(__getdelim, getline, ssize_t, f, (char **line, size_t *room, int end, FILE *f), (line, room, end, f))
TAKE_ONE(fgetc, getc, f, (FILE *f), (f))
TAKE_ONE(getc, getc, f, (FILE *f), (f))
TAKE_ONE(getchar, getc, stdin, (void), ())

/* ---- Given ------------------------------------------------------------------------------------------------ */

/* So many bytes more, in all, of which some wait in the buffer. */
static void gave(struct transfer *t, const FILE *f, int64_t before, int64_t more)
{
	t->bytes = before + more - unwritten(f);
}

TRANSFER_SITES(fwrite);
TRANSFER_SITES(fputs);
TRANSFER_SITES(puts);
TRANSFER_SITES(fflush);
TRANSFER_SITES(fclose);

#define PUT(name, site, type, f, parameters, arguments, more)       \
	DPROF_EXPORT type name parameters                           \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		type result;                                        \
		int64_t before;                                     \
                                                                    \
		if (!is_watched() || !(f))                          \
			return real arguments;                \
		before = unwritten(f);                              \
		TRANSFER(t, site, (f)->_fileno, GIVES);             \
		result = real arguments;                      \
		gave(&t, f, before, more);                          \
		return result;                                      \
	}

PUT(fwrite, fwrite, size_t, f, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f),
    (int64_t)(result * size))
PUT(fwrite_unlocked, fwrite, size_t, f, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f),
    (int64_t)(result * size))
PUT(fputs, fputs, int, f, (const char *s, FILE *f), (s, f), result < 0 ? 0 : (int64_t)strlen(s))
PUT(puts, puts, int, stdout, (const char *s), (s), result < 0 ? 0 : (int64_t)strlen(s) + 1)
PUT(fflush, fflush, int, f, (FILE *f), (f), 0)

/* ---- Closed ------------------------------------------------------------------------------------------------ */

DPROF_EXPORT int fclose(FILE *f)
{
	__typeof__(&fclose) real = REAL(fclose);
	int fd = f->_fileno, result;
	int64_t bytes = unwritten(f);

	if (!is_watched()) {
		descriptor_forget(fd);
		return real(f);
	}
	TRANSFER(t, fclose, fd, GIVES);
	t.bytes = bytes;
	result = real(f);
	descriptor_forget(fd);
	return result;
}

DPROF_EXPORT FILE *freopen(const char *path, const char *mode, FILE *f)
{
	__typeof__(&freopen) real = REAL(freopen);
	descriptor_forget(f->_fileno);
	return real(path, mode, f);
}

DPROF_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *f)
{
	__typeof__(&freopen64) real = REAL(freopen64);
	descriptor_forget(f->_fileno);
	return real(path, mode, f);
}

DPROF_SITE_OF(site_pclose, DPROF_KIND_WAIT, "pclose");

DPROF_EXPORT int pclose(FILE *f)
{
	__typeof__(&pclose) real = REAL(pclose);
	descriptor_forget(f->_fileno);
	if (!is_watched())
		return real(f);
	PLAIN(p, site_pclose);
	return real(f);
}

DPROF_EXPORT FILE *popen(const char *command, const char *mode)
{
	__typeof__(&popen) real = REAL(popen);
	descriptors_inherited();
	return real(command, mode);
}

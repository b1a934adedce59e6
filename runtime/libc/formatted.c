/* SPDX-License-Identifier: MIT
 *
 * formatted.c - printf and scanf, in every form that the compiler makes of them: with checks (_chk), and as they
 * are since C99 and C23. The names are the linker's, since headers give these functions other ones. */
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#include "runtime/libc/libc.h"

TRANSFER_SITES(printf);
TRANSFER_SITES(fprintf);
TRANSFER_SITES(scanf);
TRANSFER_SITES(fscanf);

/* The function with that symbol, which hands its arguments to the one that takes them as a list. Of bytes that are
 * printed is known how many, of wide characters is not. */
static inline void end_list(va_list *list)
{
	va_end(*list);
}

static inline void printed(struct stream *s, int n)
{
	stream_gave(s, n < 0 ? 0 : n);
}

static inline void scanned(struct stream *s, int n)
{
	(void)s;
	(void)n;
}

#define WITH_LIST(id, symbol, f, own, way, after, type, parameters, arguments)       \
	DPROF_EXPORT int id parameters __asm__(symbol);                              \
	DPROF_EXPORT int id parameters                                               \
	{                                                                            \
		type *real = FOUND(symbol, type);                                    \
		int result;                                                          \
                                                                                     \
		if (!is_watched())                                                   \
			return real arguments;                                       \
		STREAM(s, own, f, way);                                              \
		result = real arguments;                                             \
		after(&s, result);                                                   \
		return result;                                                       \
	}
#define VARIADIC(id, symbol, of_list, f, own, way, after, type, parameters, arguments) \
	DPROF_EXPORT int id parameters __asm__(symbol);                              \
	DPROF_EXPORT int id parameters                                               \
	{                                                                            \
		type *real = FOUND(of_list, type);                                   \
		va_list list AT_END(end_list);                                       \
		int result;                                                          \
                                                                                     \
		va_start(list, format);                                              \
		if (!is_watched())                                                   \
			return real arguments;                                       \
		STREAM(s, own, f, way);                                              \
		result = real arguments;                                             \
		after(&s, result);                                                   \
		return result;                                                       \
	}

/* NAME(FORMAT, ...), fNAME(FILE, FORMAT, ...) and both with a list; the standard stream of those without a file. */
#define FAMILY(id, character, name, fname, vname, vfname, standard, own, way, after)                             \
	typedef int id##_list(const character *, va_list);                                                       \
	typedef int id##_file_list(FILE *, const character *, va_list);                                          \
	VARIADIC(id, name, vname, standard, own, way, after, id##_list, (const character *format, ...),          \
		 (format, list))                                                                                 \
	VARIADIC(f##id, fname, vfname, f, f##own, way, after, id##_file_list,                                    \
		 (FILE * f, const character *format, ...), (f, format, list))                                    \
	WITH_LIST(v##id, vname, standard, own, way, after, id##_list, (const character *format, va_list list),   \
		  (format, list))                                                                                \
	WITH_LIST(vf##id, vfname, f, f##own, way, after, id##_file_list,                                         \
		  (FILE * f, const character *format, va_list list), (f, format, list))

/* The same with a flag for how much is to be checked. */
#define CHECKED_FAMILY(id, character, name, fname, vname, vfname)                                                \
	typedef int id##_list(int, const character *, va_list);                                                  \
	typedef int id##_file_list(FILE *, int, const character *, va_list);                                     \
	VARIADIC(id, name, vname, stdout, printf, GIVES, after_##id, id##_list,                                  \
		 (int flag, const character *format, ...), (flag, format, list))                                 \
	VARIADIC(f##id, fname, vfname, f, fprintf, GIVES, after_##id, id##_file_list,                             \
		 (FILE * f, int flag, const character *format, ...), (f, flag, format, list))                    \
	WITH_LIST(v##id, vname, stdout, printf, GIVES, after_##id, id##_list,                                    \
		  (int flag, const character *format, va_list list), (flag, format, list))                       \
	WITH_LIST(vf##id, vfname, f, fprintf, GIVES, after_##id, id##_file_list,                                  \
		  (FILE * f, int flag, const character *format, va_list list), (f, flag, format, list))

#define after_print_checked  printed
#define after_wprint_checked scanned

FAMILY(print, char, "printf", "fprintf", "vprintf", "vfprintf", stdout, printf, GIVES, printed)
CHECKED_FAMILY(print_checked, char, "__printf_chk", "__fprintf_chk", "__vprintf_chk", "__vfprintf_chk")
FAMILY(wprint, wchar_t, "wprintf", "fwprintf", "vwprintf", "vfwprintf", stdout, printf, GIVES, scanned)
CHECKED_FAMILY(wprint_checked, wchar_t, "__wprintf_chk", "__fwprintf_chk", "__vwprintf_chk", "__vfwprintf_chk")

FAMILY(scan, char, "scanf", "fscanf", "vscanf", "vfscanf", stdin, scanf, TAKES, scanned)
FAMILY(scan99, char, "__isoc99_scanf", "__isoc99_fscanf", "__isoc99_vscanf", "__isoc99_vfscanf", stdin, scanf, TAKES,
       scanned)
FAMILY(scan23, char, "__isoc23_scanf", "__isoc23_fscanf", "__isoc23_vscanf", "__isoc23_vfscanf", stdin, scanf, TAKES,
       scanned)
FAMILY(wscan, wchar_t, "wscanf", "fwscanf", "vwscanf", "vfwscanf", stdin, scanf, TAKES, scanned)
FAMILY(wscan99, wchar_t, "__isoc99_wscanf", "__isoc99_fwscanf", "__isoc99_vwscanf", "__isoc99_vfwscanf", stdin, scanf,
       TAKES, scanned)
FAMILY(wscan23, wchar_t, "__isoc23_wscanf", "__isoc23_fwscanf", "__isoc23_vwscanf", "__isoc23_vfwscanf", stdin, scanf,
       TAKES, scanned)

/* SPDX-License-Identifier: MIT
 *
 * wide.c - streams of wide characters. What waits in their buffers is not to be seen from outside of the C
 * library, nor how many bytes they give. */
#include <stdio.h>
#include <wchar.h>

#include "runtime/libc/libc.h"

wchar_t *__fgetws_chk(wchar_t *, size_t, int, FILE *);
wchar_t *__fgetws_unlocked_chk(wchar_t *, size_t, int, FILE *);
wint_t __wuflow(FILE *);
wint_t __wunderflow(FILE *);
wint_t __woverflow(FILE *, wint_t);

#define WIDE(name, own, way, type, f, parameters, arguments)        \
	DPROF_EXPORT type name parameters                           \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
		if (!is_watched() || !(f))                          \
			return real arguments;                      \
		STREAM(s, own, f, way);                             \
		return real arguments;                              \
	}

TRANSFER_SITES(getwc);
TRANSFER_SITES(fgetws);
TRANSFER_SITES(putwc);
TRANSFER_SITES(fputws);

WIDE(fgetwc, getwc, TAKES, wint_t, f, (FILE *f), (f))
WIDE(getwc, getwc, TAKES, wint_t, f, (FILE *f), (f))
WIDE(getwchar, getwc, TAKES, wint_t, stdin, (void), ())
WIDE(fgetwc_unlocked, getwc, TAKES, wint_t, f, (FILE *f), (f))
WIDE(getwc_unlocked, getwc, TAKES, wint_t, f, (FILE *f), (f))
WIDE(getwchar_unlocked, getwc, TAKES, wint_t, stdin, (void), ())
WIDE(__wuflow, getwc, TAKES, wint_t, f, (FILE *f), (f))
WIDE(__wunderflow, getwc, TAKES, wint_t, f, (FILE *f), (f))
WIDE(fgetws, fgetws, TAKES, wchar_t *, f, (wchar_t *to, int n, FILE *f), (to, n, f))
WIDE(fgetws_unlocked, fgetws, TAKES, wchar_t *, f, (wchar_t *to, int n, FILE *f), (to, n, f))
WIDE(__fgetws_chk, fgetws, TAKES, wchar_t *, f, (wchar_t *to, size_t room, int n, FILE *f), (to, room, n, f))
WIDE(__fgetws_unlocked_chk, fgetws, TAKES, wchar_t *, f, (wchar_t *to, size_t room, int n, FILE *f), (to, room, n, f))
WIDE(fputwc, putwc, GIVES, wint_t, f, (wchar_t c, FILE *f), (c, f))
WIDE(putwc, putwc, GIVES, wint_t, f, (wchar_t c, FILE *f), (c, f))
WIDE(putwchar, putwc, GIVES, wint_t, stdout, (wchar_t c), (c))
WIDE(fputwc_unlocked, putwc, GIVES, wint_t, f, (wchar_t c, FILE *f), (c, f))
WIDE(putwc_unlocked, putwc, GIVES, wint_t, f, (wchar_t c, FILE *f), (c, f))
WIDE(putwchar_unlocked, putwc, GIVES, wint_t, stdout, (wchar_t c), (c))
WIDE(__woverflow, putwc, GIVES, wint_t, f, (FILE *f, wint_t c), (f, c))
WIDE(fputws, fputws, GIVES, int, f, (const wchar_t *text, FILE *f), (text, f))
WIDE(fputws_unlocked, fputws, GIVES, int, f, (const wchar_t *text, FILE *f), (text, f))

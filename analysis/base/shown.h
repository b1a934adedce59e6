/* SPDX-License-Identifier: MIT
 *
 * shown.h - text from elsewhere (names in traces, file names) as it may be shown on a terminal.
 *
 * Law: what is shown is valid UTF-8 of printable characters. `wörk` stays what it is; whatever could move
 * the cursor, ring the bell, hide itself or turn the direction of writing is written \xHH, byte by byte.
 * Text that may be shown is shown as it is. */
#ifndef ANALYSIS_SHOWN_H
#define ANALYSIS_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at s, in valid UTF-8, and which one it is; 0 when there is none, and then `code` says
 * nothing. */
size_t shown_decode(const char *s, uint32_t *code);

/* Bytes of the printable character at s; 0 when there is none. `s` ends with NUL, which is none. */
size_t shown_length(const char *s);

/* How many bytes of the text, which may be shown, fit into `room`: whole characters. */
size_t shown_fit(const char *text, size_t room);

/* How many columns of a terminal so many bytes of such a text take: Chinese and emoji two each, what combines with
 * a letter none. */
size_t shown_width(const char *text, size_t bytes);

/* Whether all of it may be shown. */
bool shown_is(const char *text);

/* A copy that may be shown, to be freed. */
char *shown_copy(const char *text);

/* "dprof-analyze: MESSAGE" and a line feed on stderr, as it may be shown: it may name what the user gave. And: from now on it is
 * "dprof-analyze: SPEAKER: MESSAGE". */
void shown_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void shown_speak_as(const char *speaker);

#endif

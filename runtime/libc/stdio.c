/* SPDX-License-Identifier: MIT
 *
 * stdio.c - streams: bytes go through a stream, and with that perhaps through its descriptor.
 *
 *   ENTER fgets peer=UNKNOWN [until=0] [channel=C] ... EXIT         until=0: a time limit of its socket, or a signal, ended it
 *   ENTER fflush [peer=UNKNOWN] [channel=C] bytes=N role=1 ... EXIT
 *
 * The C library moves them inside of itself; how many is known of what is written, from what waits in the
 * stream's buffer before and afterwards. Also who waits until another thread is done with the stream waits.
 *
 * What finds all that it needs in the buffer, or room for it, cannot block, and costs no more than that look; unless
 * there are several threads: then another one may take it away meanwhile. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libc/libc.h"

#undef fread_unlocked
#undef fwrite_unlocked
#undef _IO_getc
#undef _IO_putc

/* ---- What waits in a buffer ----------------------------------------------------------------------------- */

static int64_t unwritten(const FILE *f)
{
	return f->_IO_write_ptr > f->_IO_write_base ? f->_IO_write_ptr - f->_IO_write_base : 0;
}

static inline bool fits(const char *from, const char *to, size_t size, size_t n)
{
	size_t bytes;

	return from < to && !__builtin_mul_overflow(size, n, &bytes) && bytes <= (size_t)(to - from);
}

/* To be taken; and room for what is put, also in one that is written out at the end of each line (it says that
 * there is none). */
static inline bool has(const FILE *f, size_t size, size_t n)
{
	return fits(f->_IO_read_ptr, f->_IO_read_end, size, n);
}

static inline bool has_room(const FILE *f, size_t size, size_t n)
{
	return fits(f->_IO_write_ptr, f->_IO_write_end, size, n);
}

static inline bool alone(void)
{
	return !program_has_threads;
}

/* ---- A call ----------------------------------------------------------------------------------------------- */

/* As glibc has it. */
struct stream_lock { int taken, depth; void *owner; };

static bool is_held_by_other(const FILE *f)
{
	const struct stream_lock *lock = (const void *)f->_lock;

	return lock && __atomic_load_n(&lock->taken, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != (void *)pthread_self();
}

void stream_begin(struct stream *s, FILE *f, enum way way)
{
	s->file = f;
	s->way = way;
	s->unwritten = way == GIVES ? unwritten(f) : 0;
	s->is_contended = !alone() && is_held_by_other(f);
}

void stream_gave(struct stream *s, int64_t bytes)
{
	s->bytes = s->unwritten + bytes - unwritten(s->file);
}

static void record(const struct stream *s, struct descriptor d, bool blocked)
{
	struct libc_transfer t = { .site = { s->site[NOT_KNOWN], s->site[OF_FILE],
					     s->site[OF_OTHERS] }, .call = s->call,
				   .channel = d.channel[s->way], .what = d.what, .way = s->way,
				   .expired = s->expired, .bytes = s->bytes, .fd = s->file->_fileno };

	t.leads_outside = d.leads_outside && s->way == GIVES && d.what == OF_OTHERS;
	if (d.leads_outside && s->way == GIVES)
		t.what = OF_FILE;
	if (blocked)
		transfer_look_outside(&t, dprof_adapter_now());
	if (s->is_contended && blocked)
		t.what = OF_OTHERS;
	if ((blocked && t.what != NOT_KNOWN) || t.what == OF_OTHERS)
		transfer_record(&t, dprof_adapter_now_fenced(), blocked, false);
}

/* What it took may have been in the buffer; but not always. */
static void take_unseen(const struct stream *s)
{
	struct descriptor d = descriptor_of(s->file->_fileno);

	if (descriptor_takes(&d))
		call_unseen(&s->call, s->site[OF_OTHERS]);
}

/* An error stays with the stream until the program clears it: errno may then be of an earlier call. */
static bool has_expired(FILE *f)
{
	return ferror_unlocked(f) && call_expired(-1);
}

static void stream_over(struct stream *s)
{
	bool blocked = call_blocked(&s->call, dprof_adapter_now());

	if (blocked || (s->way == GIVES && s->bytes > 0))
		record(s, descriptor_of(s->file->_fileno), blocked);
	else if (s->way == TAKES)
		take_unseen(s);
}

void stream_end(struct stream *s)
{
	call_closes(&s->call.open);
	s->expired = has_expired(s->file);
	stream_over(s);
}

void stream_left(struct call_under_way *open)
{
	struct stream *s = CALL_LEFT(open, struct stream, call);

	s->bytes = -1;
	s->expired = true;
	stream_over(s);
	s->call.since = dprof_adapter_moment();
}

/* ---- Taken ---------------------------------------------------------------------------------------------- */

size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
char *__fgets_unlocked_chk(char *, size_t, int, FILE *);
char *__gets_chk(char *, size_t);
char *gets(char *);
int _IO_getc(FILE *);
int __uflow(FILE *);
int __underflow(FILE *);

#define TAKE(name, own, type, f, at_once, parameters, arguments)    \
	DPROF_EXPORT type name parameters                           \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
		if (!is_watched() || !(f) || (at_once))             \
			return real arguments;                      \
		STREAM(s, own, f, TAKES);                           \
		return real arguments;                              \
	}

TRANSFER_SITES(fread);
TRANSFER_SITES(fgets);
TRANSFER_SITES(getline);
TRANSFER_SITES(getc);

TAKE(fread, fread, size_t, f, alone() && has(f, size, n), (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
TAKE(__fread_chk, fread, size_t, f, alone() && has(f, size, n),
     (void *to, size_t room, size_t size, size_t n, FILE *f), (to, room, size, n, f))
TAKE(fread_unlocked, fread, size_t, f, has(f, size, n), (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
TAKE(__fread_unlocked_chk, fread, size_t, f, has(f, size, n),
     (void *to, size_t room, size_t size, size_t n, FILE *f), (to, room, size, n, f))
TAKE(fgets, fgets, char *, f, false, (char *to, int n, FILE *f), (to, n, f))
TAKE(__fgets_chk, fgets, char *, f, false, (char *to, size_t room, int n, FILE *f), (to, room, n, f))
TAKE(fgets_unlocked, fgets, char *, f, false, (char *to, int n, FILE *f), (to, n, f))
TAKE(__fgets_unlocked_chk, fgets, char *, f, false, (char *to, size_t room, int n, FILE *f), (to, room, n, f))
TAKE(gets, fgets, char *, stdin, false, (char *to), (to))
TAKE(__gets_chk, fgets, char *, stdin, false, (char *to, size_t room), (to, room))
TAKE(getline, getline, ssize_t, f, false, (char **line, size_t *room, FILE *f), (line, room, f))
TAKE(getdelim, getline, ssize_t, f, false, (char **line, size_t *room, int end, FILE *f), (line, room, end, f))
TAKE(__getdelim, getline, ssize_t, f, false, (char **line, size_t *room, int end, FILE *f), (line, room, end, f))
TAKE(fgetc, getc, int, f, alone() && has(f, 1, 1), (FILE *f), (f))
TAKE(getc, getc, int, f, alone() && has(f, 1, 1), (FILE *f), (f))
TAKE(_IO_getc, getc, int, f, alone() && has(f, 1, 1), (FILE *f), (f))
TAKE(getchar, getc, int, stdin, alone() && has(stdin, 1, 1), (void), ())
TAKE(fgetc_unlocked, getc, int, f, has(f, 1, 1), (FILE *f), (f))
TAKE(getc_unlocked, getc, int, f, has(f, 1, 1), (FILE *f), (f))
TAKE(getchar_unlocked, getc, int, stdin, has(stdin, 1, 1), (void), ())
TAKE(getw, fread, int, f, alone() && has(f, sizeof(int), 1), (FILE *f), (f))
/* What getc_unlocked has become where it is inlined. */
TAKE(__uflow, getc, int, f, has(f, 1, 1), (FILE *f), (f))
TAKE(__underflow, getc, int, f, has(f, 1, 1), (FILE *f), (f))

/* ---- Given ------------------------------------------------------------------------------------------------ */

int _IO_putc(int, FILE *);
int __overflow(FILE *, int);

TRANSFER_SITES(fwrite);
TRANSFER_SITES(fputs);
TRANSFER_SITES(puts);
TRANSFER_SITES(putc);
TRANSFER_SITES(fflush);
TRANSFER_SITES(fseek);
TRANSFER_SITES(fclose);

/* `more`: so many bytes are put. */
#define PUT(name, own, type, f, at_once, parameters, arguments, more) \
	DPROF_EXPORT type name parameters                           \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
		type result;                                        \
                                                                    \
		if (!is_watched() || !(f) || (at_once))             \
			return real arguments;                      \
		STREAM(s, own, f, GIVES);                           \
		result = real arguments;                            \
		stream_gave(&s, more);                              \
		return result;                                      \
	}

PUT(fwrite, fwrite, size_t, f, alone() && has_room(f, size, n),
    (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f), (int64_t)(result * size))
PUT(fwrite_unlocked, fwrite, size_t, f, has_room(f, size, n),
    (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f), (int64_t)(result * size))
PUT(fputs, fputs, int, f, false, (const char *text, FILE *f), (text, f), result < 0 ? 0 : (int64_t)strlen(text))
PUT(fputs_unlocked, fputs, int, f, false, (const char *text, FILE *f), (text, f),
    result < 0 ? 0 : (int64_t)strlen(text))
PUT(puts, puts, int, stdout, false, (const char *text), (text), result < 0 ? 0 : (int64_t)strlen(text) + 1)
PUT(fputc, putc, int, f, alone() && has_room(f, 1, 1), (int c, FILE *f), (c, f), result != EOF)
PUT(putc, putc, int, f, alone() && has_room(f, 1, 1), (int c, FILE *f), (c, f), result != EOF)
PUT(_IO_putc, putc, int, f, alone() && has_room(f, 1, 1), (int c, FILE *f), (c, f), result != EOF)
PUT(putchar, putc, int, stdout, alone() && has_room(stdout, 1, 1), (int c), (c), result != EOF)
PUT(fputc_unlocked, putc, int, f, has_room(f, 1, 1), (int c, FILE *f), (c, f), result != EOF)
PUT(putc_unlocked, putc, int, f, has_room(f, 1, 1), (int c, FILE *f), (c, f), result != EOF)
PUT(putchar_unlocked, putc, int, stdout, has_room(stdout, 1, 1), (int c), (c), result != EOF)
PUT(putw, fwrite, int, f, alone() && has_room(f, sizeof(int), 1), (int word, FILE *f), (word, f),
    result ? 0 : (int64_t)sizeof(int))
/* What putc_unlocked has become where it is inlined. */
PUT(__overflow, putc, int, f, false, (FILE *f, int c), (f, c), result != EOF && c != EOF)

/* Of one stream, or of all: what is in so many small buffers takes long where others read it late, or where the program
 * itself writes it out (fopencookie). */
DPROF_SITE_OF(site_flush_all, DPROF_KIND_WAIT, "fflush(NULL)");

#define FLUSH(name)                                                         \
	DPROF_EXPORT int name(FILE *f)                                      \
	{                                                                   \
		__typeof__(&name) real = REAL(name);                        \
		int result;                                                 \
                                                                            \
		if (!is_watched())                                          \
			return real(f);                                     \
		if (!f) {                                                   \
			PLAIN(p, site_flush_all);                             \
			return real(f);                                     \
		}                                                           \
		STREAM(s, fflush, f, GIVES);                                \
		result = real(f);                                           \
		stream_gave(&s, 0);                                         \
		return result;                                              \
	}
FLUSH(fflush)
FLUSH(fflush_unlocked)

/* What is in the buffer goes out before the stream goes elsewhere. */
PUT(fseek, fseek, int, f, false, (FILE *f, long at, int from), (f, at, from), 0)
PUT(fseeko, fseek, int, f, false, (FILE *f, off_t at, int from), (f, at, from), 0)
PUT(fseeko64, fseek, int, f, false, (FILE *f, off64_t at, int from), (f, at, from), 0)
PUT(fsetpos, fseek, int, f, false, (FILE *f, const fpos_t *at), (f, at), 0)
PUT(fsetpos64, fseek, int, f, false, (FILE *f, const fpos64_t *at), (f, at), 0)

DPROF_EXPORT void rewind(FILE *f)
{
	__typeof__(&rewind) real = REAL(rewind);

	if (!is_watched()) {
		real(f);
		return;
	}
	STREAM(s, fseek, f, GIVES);
	real(f);
	stream_gave(&s, 0);
}

/* How long the text is that the C library makes up is not known. */
TRANSFER_SITES(perror);

#define TELL(name, parameters, arguments)                           \
	DPROF_EXPORT void name parameters                           \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
                                                                    \
		if (!is_watched()) {                                \
			real arguments;                             \
			return;                                     \
		}                                                   \
		STREAM(s, perror, stderr, GIVES);                   \
		real arguments;                                     \
	}

TELL(perror, (const char *text), (text))
TELL(psignal, (int signal, const char *text), (signal, text))
TELL(psiginfo, (const siginfo_t *info, const char *text), (info, text))

/* ---- Locked ------------------------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_flockfile, DPROF_KIND_WAIT, "flockfile");

DPROF_EXPORT void flockfile(FILE *f)
{
	__typeof__(&flockfile) real = REAL(flockfile);

	if (!is_watched() || alone()) {
		real(f);
		return;
	}
	PLAIN(p, site_flockfile);
	real(f);
}

/* ---- Closed ------------------------------------------------------------------------------------------------ */

struct closing { struct stream s; struct descriptor d; };

/* Also when the thread is cancelled. */
static void closed(struct closing *c)
{
	bool blocked = call_blocked(&c->s.call, dprof_adapter_now());

	if (blocked || c->s.bytes > 0)
		record(&c->s, c->d, blocked);
}

/* Nothing asks afterwards what was unwritten. */
DPROF_EXPORT int fclose(FILE *f)
{
	__typeof__(&fclose) real = REAL(fclose);
	int fd = f->_fileno, result;

	if (!is_watched()) {
		descriptor_forget(fd);
		return real(f);
	}
	struct closing c AT_END(closed) = {
		.s.site = { SITE(wait_fclose), SITE(io_fclose), SITE(wait_fclose) }, .d = descriptor_of(fd) };
	stream_begin(&c.s, f, GIVES);
	c.s.bytes = c.s.unwritten;
	c.s.call = call_begin(SITE(wait_fclose), CALLER);
	result = real(f);
	c.s.expired = call_expired(result);
	descriptor_forget(fd);
	return result;
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
	FILE *f;

	descriptors_inherited();
	f = real(command, mode);
	if (f)
		dprof_adapter_ran(command, readable_name(command), 0);
	return f;
}

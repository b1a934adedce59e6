/* SPDX-License-Identifier: MIT
 *
 * moves.c - bytes that others move between descriptors, or between one and memory: the kernel, or a thread of
 * the C library.
 *
 *   ENTER splice [peer=UNKNOWN] channel=C bytes=N [role=1] ... EXIT
 *
 * What moves to a pipe or a socket is given there; else it is what is taken from one. None of it is counted. */
#include <aio.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/libc/libc.h"

/* ---- By the kernel ---------------------------------------------------------------------------------- */

static bool is_of_others(int fd)
{
	return descriptor_of(fd).what == OF_OTHERS;
}

#define MOVE(name, site, parameters, arguments)                                         \
	DPROF_EXPORT ssize_t name parameters                                            \
	{                                                                               \
		__typeof__(&name) real = REAL(name);                                    \
		bool given;                                                             \
                                                                                        \
		if (!is_watched())                                                      \
			return real arguments;                                          \
		descriptor_lost(from);                                                  \
		descriptor_lost(to);                                                    \
		given = is_of_others(to) || !is_of_others(from);                        \
		TRANSFER(t, site, given ? to : from, given ? GIVES : TAKES);            \
		t.two = true;                                                           \
		return t.bytes = real arguments;                                        \
	}

TRANSFER_SITES(sendfile);
TRANSFER_SITES(splice);
TRANSFER_SITES(tee);
TRANSFER_SITES(vmsplice);
TRANSFER_SITES(copy_file_range);

MOVE(sendfile, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n))
MOVE(sendfile64, sendfile, (int to, int from, off64_t *at, size_t n), (to, from, at, n))
MOVE(splice, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
     (from, from_at, to, to_at, n, flags))
MOVE(tee, tee, (int from, int to, size_t n, unsigned flags), (from, to, n, flags))
MOVE(copy_file_range, copy_file_range,
     (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
     (from, from_at, to, to_at, n, flags))

/* Either way: of the read end of a pipe it takes. */
DPROF_EXPORT ssize_t vmsplice(int fd, const struct iovec *v, size_t n, unsigned flags)
{
	__typeof__(&vmsplice) real = REAL(vmsplice);
	bool reads;

	if (!is_watched())
		return real(fd, v, n, flags);
	descriptor_lost(fd);
	reads = (REAL(fcntl)(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
	TRANSFER(t, vmsplice, fd, reads ? TAKES : GIVES);
	return t.bytes = real(fd, v, n, flags);
}

/* ---- By threads of the C library ---------------------------------------------------------------------- */

#define ASYNCHRONOUS(name, block)                                \
	DPROF_EXPORT int name(struct block *request)             \
	{                                                        \
		__typeof__(&name) real = REAL(name);             \
		descriptor_lost(request->aio_fildes);            \
		call_notified(&request->aio_sigevent, CALLER);   \
		return real(request);                            \
	}
#define SYNCHRONISED(name, block)                                \
	DPROF_EXPORT int name(int operation, struct block *request) \
	{                                                        \
		__typeof__(&name) real = REAL(name);             \
		call_notified(&request->aio_sigevent, CALLER);   \
		return real(operation, request);                 \
	}

ASYNCHRONOUS(aio_read, aiocb)
ASYNCHRONOUS(aio_read64, aiocb64)
ASYNCHRONOUS(aio_write, aiocb)
ASYNCHRONOUS(aio_write64, aiocb64)
SYNCHRONISED(aio_fsync, aiocb)
SYNCHRONISED(aio_fsync64, aiocb64)

TRANSFER_SITES(aio_suspend);
TRANSFER_SITES(lio_listio);

/* Others may end it, if they may end one of what is waited for. */
#define REQUESTS_OF_OTHERS(name, block)                                         \
	static bool name(const struct block *const requests[], int n)           \
	{                                                                       \
		bool some = false;                                              \
                                                                                \
		for (int i = 0; i < n && !some; i++)                            \
			some = requests[i] && is_of_others(requests[i]->aio_fildes); \
		return some;                                                    \
	}
REQUESTS_OF_OTHERS(any_of_others, aiocb)
REQUESTS_OF_OTHERS(any_of_others64, aiocb64)

#define SUSPEND(name, block, of_others)                                                                 \
	DPROF_EXPORT int name(const struct block *const requests[], int n, const struct timespec *most) \
	{                                                                                               \
		__typeof__(&name) real = REAL(name);                                                    \
		if (!is_watched())                                                                      \
			return real(requests, n, most);                                                 \
		PLAIN(p, wait_aio_suspend);                                                             \
		if (!of_others(requests, n))                                                            \
			p.site = SITE(io_aio_suspend);                                                  \
		return real(requests, n, most);                                                         \
	}
SUSPEND(aio_suspend, aiocb, any_of_others)
SUSPEND(aio_suspend64, aiocb64, any_of_others64)

#define LIST(name, block, of_others)                                                                            \
	DPROF_EXPORT int name(int mode, struct block *const requests[], int n, struct sigevent *event)          \
	{                                                                                                       \
		__typeof__(&name) real = REAL(name);                                                            \
		if (mode != LIO_WAIT && mode != LIO_NOWAIT)                                                     \
			return real(mode, requests, n, event);                                                  \
		for (int i = 0; i < n; i++)                                                                     \
			if (requests[i])                                                                        \
				descriptor_lost(requests[i]->aio_fildes);                                       \
		if (mode == LIO_NOWAIT)                                                                         \
			call_notified(event, CALLER);                                                           \
		for (int i = 0; i < n; i++)                                                                     \
			if (requests[i])                                                                        \
				call_notified(&requests[i]->aio_sigevent, CALLER);                              \
		if (!is_watched() || mode != LIO_WAIT)                                                          \
			return real(mode, requests, n, event);                                                  \
		PLAIN(p, wait_lio_listio);                                                                      \
		if (!of_others((const struct block *const *)requests, n))                                       \
			p.site = SITE(io_lio_listio);                                                           \
		return real(mode, requests, n, event);                                                          \
	}
LIST(lio_listio, aiocb, any_of_others)
LIST(lio_listio64, aiocb64, any_of_others64)

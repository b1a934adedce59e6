/* SPDX-License-Identifier: MIT
 *
 * synclog.c - writing and reading HOST.sync.
 *
 * Law: the file is a header and whole records at every moment that a writer lives to see; a batch
 * of records that could not be written whole is cut off again. */
#include "freezer/synclog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "freezer/regular.h"

#define BATCH 64 /* records; 4 KiB */

_Static_assert(sizeof(struct frz_sync_header) == 160, "the header is part of the format");
_Static_assert(sizeof(struct frz_sync_record) == 64, "the record is part of the format");

/* FNV-1a by words. Each step is a bijection, so that a change of any one word is always seen. */
static uint64_t checksum(const void *bytes, size_t size)
{
	uint64_t check = UINT64_C(0xcbf29ce484222325), word;

	for (size_t at = 0; at < size; at += sizeof word) {
		memcpy(&word, (const char *)bytes + at, sizeof word);
		check = (check ^ word) * UINT64_C(0x100000001b3);
	}
	return check;
}

static uint64_t header_check(const struct frz_sync_header *h)
{
	return checksum(h, offsetof(struct frz_sync_header, check));
}

static uint64_t record_check(const struct frz_sync_record *r)
{
	return checksum(r, offsetof(struct frz_sync_record, check));
}

/* ---- Writing ----------------------------------------------------------------------------------*/

/* Writing beyond the limit of a file's size would end the program by SIGXFSZ. So that is not tried; and since the
 * program may lower the limit any time, the signal is blocked meanwhile and taken back if it came for us. */
static bool within_limit(off_t before, size_t more)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || (rlim_t)before + more <= limit.rlim_cur);
}

struct blocked_signals { sigset_t mask, pending, xfsz; };

static void hold(struct blocked_signals *h)
{
	sigemptyset(&h->xfsz);
	sigaddset(&h->xfsz, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &h->xfsz, &h->mask);
	sigpending(&h->pending);
}

static void release(const struct blocked_signals *h, int error)
{
	if (error == -EFBIG && !sigismember(&h->pending, SIGXFSZ))
		sigtimedwait(&h->xfsz, NULL, &(struct timespec){ 0, 0 });
	pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
}

static int write_all(int fd, const void *bytes, size_t size, off_t before)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, (const char *)bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int error = -errno;

			if (ftruncate(fd, before))
				return error; /* the reader will name the torn record */
			return error;
		}
		done += (size_t)n;
	}
	return 0;
}

static int write_whole(int fd, const void *bytes, size_t size)
{
	off_t before = lseek(fd, 0, SEEK_END);
	struct blocked_signals h;
	int error;

	if (before < 0)
		return -errno;
	if (!within_limit(before, size))
		return -EFBIG;
	hold(&h);
	error = write_all(fd, bytes, size, before);
	release(&h, error);
	return error;
}

static int write_header(int fd, uint32_t clock, const char *host)
{
	struct frz_sync_header h = {
		.version = FRZ_SYNC_VERSION,
		.header_size = sizeof h,
		.record_size = sizeof(struct frz_sync_record),
		.clock = clock,
	};

	memcpy(h.magic, FRZ_SYNC_MAGIC, sizeof h.magic);
	strncpy(h.host, host, sizeof h.host - 1);
	h.check = header_check(&h);
	return write_whole(fd, &h, sizeof h);
}

int frz_synclog_create(struct frz_synclog *log, const char *path, uint32_t clock, const char *host)
{
	int error;

	*log = (struct frz_synclog){ .fd = -1, .room = BATCH };
	log->records = malloc(log->room * sizeof *log->records);
	if (!log->records)
		return -ENOMEM;
	if (!path)
		return 0;
	log->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	error = log->fd < 0 ? -errno : write_header(log->fd, clock, host);
	if (error) {
		if (log->fd >= 0)
			close(log->fd);
		free(log->records);
		*log = (struct frz_synclog){ .fd = -1 };
	}
	return error;
}

int frz_synclog_flush(struct frz_synclog *log)
{
	if (log->fd < 0 || log->error)
		return log->error;
	log->error = write_whole(log->fd, log->records, log->nrecords * sizeof *log->records);
	log->stored += log->error ? 0 : log->nrecords;
	log->nrecords = 0;
	return log->error;
}

static int make_room(struct frz_synclog *log)
{
	struct frz_sync_record *more;

	if (log->nrecords < log->room)
		return 0;
	if (log->fd >= 0)
		return frz_synclog_flush(log);
	more = realloc(log->records, 2 * log->room * sizeof *more);
	if (!more)
		return log->error = -ENOMEM;
	log->records = more;
	log->room *= 2;
	return 0;
}

int frz_synclog_add(struct frz_synclog *log, const struct frz_sync_record *record)
{
	if (log->error || make_room(log))
		return log->error;
	struct frz_sync_record *kept = &log->records[log->nrecords++];

	*kept = *record;
	kept->check = record_check(kept);
	return 0;
}

int frz_synclog_add_link(struct frz_synclog *log, struct frz_link link)
{
	return frz_synclog_add(log, &(struct frz_sync_record){
		.kind = FRZ_SYNC_LINK,
		.asker = link.from,
		.answerer = link.to,
		.asked = link.sent,
		.received = link.received,
	});
}

int frz_synclog_close(struct frz_synclog *log)
{
	int error = frz_synclog_flush(log);

	if (log->fd >= 0 && close(log->fd) && !error)
		error = -errno;
	free(log->records);
	*log = (struct frz_synclog){ .fd = -1 };
	return error;
}

/* ---- Reading ----------------------------------------------------------------------------------*/

static int __attribute__((format(printf, 3, 4)))
damaged(struct frz_damage *damage, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	damage->offset = offset;
	va_start(arguments, format);
	vsnprintf(damage->what, sizeof damage->what, format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

static int check_number(struct frz_damage *damage, uint64_t offset, const char *what,
			uint32_t expected, uint32_t found)
{
	if (expected == found)
		return 0;
	return damaged(damage, offset, "expected %s %" PRIu32 ", found %" PRIu32, what, expected,
		       found);
}

static int read_header(struct frz_syncfile *f, struct frz_damage *damage)
{
	struct frz_sync_header h;
	size_t found = fread(&h, 1, sizeof h, f->file);
	int error;

	if (ferror(f->file))
		return -EIO;
	if (found != sizeof h)
		return damaged(damage, found, "expected a header of %zu bytes, found the end",
			       sizeof h);
	if (memcmp(h.magic, FRZ_SYNC_MAGIC, sizeof h.magic))
		return damaged(damage, 0, "expected \"" FRZ_SYNC_MAGIC "\", found other bytes");
	error = check_number(damage, offsetof(struct frz_sync_header, version), "format version",
			     FRZ_SYNC_VERSION, h.version);
	if (!error)
		error = check_number(damage, offsetof(struct frz_sync_header, header_size),
				     "header size", sizeof h, h.header_size);
	if (!error)
		error = check_number(damage, offsetof(struct frz_sync_header, record_size),
				     "record size", sizeof(struct frz_sync_record), h.record_size);
	if (error)
		return error;
	if (h.check != header_check(&h) || memchr(h.host, 0, sizeof h.host) == NULL)
		return damaged(damage, offsetof(struct frz_sync_header, check),
			       "expected check %" PRIx64 " of the header, found %" PRIx64,
			       header_check(&h), h.check);
	f->offset = sizeof h;
	f->clock = h.clock;
	memcpy(f->host, h.host, sizeof f->host);
	return 0;
}

int frz_syncfile_open(struct frz_syncfile *f, const char *path, struct frz_damage *damage)
{
	const char *found;
	int fd = frz_open_regular(AT_FDCWD, path, &found);

	return frz_syncfile_read(f, fd, found, damage);
}

int frz_syncfile_read(struct frz_syncfile *f, int fd, const char *found, struct frz_damage *damage)
{
	int error;

	*f = (struct frz_syncfile){ .file = fd < 0 ? NULL : fdopen(fd, "rb") };
	if (fd == -EBADMSG)
		return damaged(damage, 0, "expected a file of packets, found %s", found);
	if (fd < 0)
		return fd;
	if (!f->file) {
		close(fd);
		return -ENOMEM;
	}
	error = read_header(f, damage);
	if (error)
		frz_syncfile_close(f);
	return error;
}

void frz_syncfile_close(struct frz_syncfile *f)
{
	if (f->file)
		fclose(f->file);
	f->file = NULL;
}

static int check_record(const struct frz_sync_record *r, uint64_t offset, struct frz_damage *damage)
{
	if (r->check != record_check(r))
		return damaged(damage, offset + offsetof(struct frz_sync_record, check),
			       "expected check %" PRIx64 " of the record, found %" PRIx64,
			       record_check(r), r->check);
	if (r->kind == FRZ_SYNC_NONE || r->kind > FRZ_SYNC_HOST)
		return damaged(damage, offset, "expected a record of kind 1, 2 or 3, found %" PRIu32,
			       r->kind);
	if (r->kind != FRZ_SYNC_EXCHANGE)
		return 0;
	if (r->returned < r->asked)
		return damaged(damage, offset + offsetof(struct frz_sync_record, returned),
			       "expected a return at or after %" PRIu64 ", found %" PRIu64,
			       r->asked, r->returned);
	if (r->answered < r->received)
		return damaged(damage, offset + offsetof(struct frz_sync_record, answered),
			       "expected an answer at or after %" PRIu64 ", found %" PRIu64,
			       r->received, r->answered);
	return 0;
}

int frz_syncfile_next(struct frz_syncfile *f, struct frz_sync_record *r, struct frz_damage *damage)
{
	uint64_t offset = f->offset;
	size_t found = fread(r, 1, sizeof *r, f->file);

	f->offset += found;
	if (ferror(f->file))
		return -EIO;
	if (!found)
		return 0;
	if (found != sizeof *r)
		return damaged(damage, offset,
			       "expected a record of %zu bytes, found the end after %zu", sizeof *r,
			       found);
	if (f->garbage == FRZ_SYNC_GARBAGE)
		return 0;
	int error = check_record(r, offset, damage);
	f->garbage = error ? f->garbage + 1 : 0;
	return error ? error : 1;
}

unsigned frz_sync_links(const struct frz_sync_record *r, struct frz_link links[2])
{
	if (r->kind == FRZ_SYNC_HOST)
		return 0;
	links[0] = (struct frz_link){ r->asker, r->answerer, r->asked, r->received };
	if (r->kind == FRZ_SYNC_LINK)
		return 1;
	links[1] = (struct frz_link){ r->answerer, r->asker, r->answered, r->returned };
	return 2;
}

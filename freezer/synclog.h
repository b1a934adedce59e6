/* SPDX-License-Identifier: MIT
 *
 * synclog.h - the file HOST.sync: every exchange of packets, as it was measured.
 *
 *   | header, 160 bytes | record, 64 bytes | record | ...
 *
 * Law: nothing is processed before it is stored, and nothing that was stored is ever changed; so
 * bounds can be computed again, otherwise and elsewhere. A file that was cut short anywhere, or
 * damaged in some records, gives all its other records and says where it is damaged.
 *
 * The writer is a guest in the user's program: errors are -errno, nothing is printed. */
#ifndef FREEZER_SYNCLOG_H
#define FREEZER_SYNCLOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "freezer/link.h"

#define FRZ_SYNC_MAGIC     "frzsync1"
#define FRZ_SYNC_VERSION   1
#define FRZ_SYNC_HOST_SIZE 128

struct frz_sync_header {
	char     magic[8];    /* FRZ_SYNC_MAGIC */
	uint32_t version;     /* FRZ_SYNC_VERSION */
	uint32_t header_size; /* sizeof(struct frz_sync_header) */
	uint32_t record_size; /* sizeof(struct frz_sync_record) */
	uint32_t clock;       /* number of the clock of the host that wrote the file */
	char     host[FRZ_SYNC_HOST_SIZE]; /* NUL-terminated */
	uint64_t check;       /* of all bytes before it */
};

enum frz_sync_kind {
	FRZ_SYNC_NONE,     /* zero is never a valid record */
	FRZ_SYNC_EXCHANGE, /* asker -> answerer -> asker: two links */
	FRZ_SYNC_LINK,     /* one link, from whatever source: `asker` is from, `answerer` to */
	FRZ_SYNC_HOST,     /* part `answerer` of what is known of host `asker` (host.h), 32 bytes from `asked` on; no link */
};

struct frz_sync_record {
	uint32_t kind;        /* enum frz_sync_kind */
	uint32_t reserved;    /* zero */
	uint32_t asker, answerer;
	uint64_t sequence;    /* of the packet */
	uint64_t asked;       /* asker's clock before it sent */
	uint64_t received;    /* answerer's clock after it had received */
	uint64_t answered;    /* answerer's clock before it sent; LINK: zero */
	uint64_t returned;    /* asker's clock after it had received; LINK: zero */
	uint64_t check;       /* of all bytes before it; frz_synclog_add fills it in */
};

/* ---- Writing ----------------------------------------------------------------------------------*/

struct frz_synclog {
	int fd;                          /* -1: everything stays in memory */
	int error;                       /* the first -errno; nothing is written after it */
	struct frz_sync_record *records; /* in memory: all; otherwise those not yet written */
	size_t nrecords, room;
	uint64_t stored;                 /* records that are in the file */
};

/* Makes the file, which must not exist yet; or keeps all records in memory when path is NULL.
 * 0 or -errno; on error the log owns nothing. */
int frz_synclog_create(struct frz_synclog *, const char *path, uint32_t clock, const char *host);

/* Keeps one record, one link. Written to the file in batches. 0 or the log's first error. */
int frz_synclog_add(struct frz_synclog *, const struct frz_sync_record *);
int frz_synclog_add_link(struct frz_synclog *, struct frz_link);

/* Writes what is pending: call it when a burst ends. */
int frz_synclog_flush(struct frz_synclog *);

/* Flushes and closes. 0 or the log's first error; the log owns nothing in either case. */
int frz_synclog_close(struct frz_synclog *);

/* ---- Reading ----------------------------------------------------------------------------------*/

/* What is wrong with a file, and where. */
struct frz_damage {
	uint64_t offset;
	char what[128]; /* "expected ..., found ..." */
};

struct frz_syncfile {
	FILE *file;
	uint64_t offset; /* of the next record */
	uint32_t garbage; /* damaged records just before, in a row */
	uint32_t clock;
	char host[FRZ_SYNC_HOST_SIZE];
};

/* 0; -EBADMSG with *damage when that is no file (a FIFO, a directory) or has no sound header; or another -errno when it cannot be
 * opened or read. On error f owns nothing. */
int frz_syncfile_open(struct frz_syncfile *f, const char *path, struct frz_damage *damage);
/* Likewise what was opened already: `fd` and `found` as frz_open_regular() gives them. Closes it. */
int frz_syncfile_read(struct frz_syncfile *f, int fd, const char *found, struct frz_damage *damage);
void frz_syncfile_close(struct frz_syncfile *);

/* After so many damaged records in a row the file is given up: a sparse one may be of any size. */
#define FRZ_SYNC_GARBAGE 65536

/* 1 with the next record in *r; 0 at the end; -EBADMSG with *damage when the next record is damaged
 * or cut short: go on, the following call gives the one after it, if there is one; -EIO when nothing
 * more can be read. */
int frz_syncfile_next(struct frz_syncfile *, struct frz_sync_record *r, struct frz_damage *damage);

/* The links that a record proves: how many (2, 1 or 0) it wrote to `links`. */
unsigned frz_sync_links(const struct frz_sync_record *, struct frz_link links[2]);

#endif

/* SPDX-License-Identifier: MIT
 *
 * gather.c - DPROF_GATHER=1: what ranks have recorded on other disks comes to rank 0's folder, in MPI_Finalize.
 *
 *   rank 0                              rank R, one after the other
 *   makes a file .gather-...            sees it, and has nothing to send; or does not:
 *   "now you"            ----------->
 *   HOST-R-0.events      <-----------   name, pieces, an empty piece
 *   ...                  <-----------   name, pieces, an empty piece
 *   the end              <-----------   an empty name
 *
 * Where any rank has something to send, recording ends in MPI_Finalize, in all ranks: each is then as at the end of its process,
 * so what is sent is whole, and the run has one end. What programs do later is not recorded; forked children that run
 * on are sent as far as they are.
 *
 * A rank sends the files of its own name; the first such rank of a host also those that are nobody's alone: copies of sections
 * of sites, packets, forked children. Behind a file of events comes that of packed chunks: a chunk that is packed meanwhile is
 * in one of the two. What stays on its own disk stays as it is.
 *
 * Law: all ranks of our communicator take part or none; messages and memory are of one piece at most, however long the files.
 * Nothing that is there is overwritten; what finds no room is taken back, and a note in rank 0's process file
 * names it. The program notices nothing but the time: no signal, no error. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/adapter.h"
#include "runtime/mpi/hosts.h"

#define TAG_GATHER 2
#define PIECE      65536

static char piece[PIECE];

/* ---- Who has to send ------------------------------------------------------------------------- */

#define MARK_SIZE 64

static bool path_of(char to[PATH_MAX], const char *name)
{
	int n = snprintf(to, PATH_MAX, "%s/%s", dprof_adapter_directory(), name);

	return *dprof_adapter_directory() && n > 0 && n < PATH_MAX;
}

static void note_failed(const char *what, int rank, const char *host, const char *why)
{
	char text[512];

	snprintf(text, sizeof(text), "DPROF_GATHER: %.200s of rank %d on %.100s is not here: %.100s", what, rank, host, why);
	dprof_adapter_line("note", text);
}

/* A file that is in rank 0's folder, and nowhere else; "" if that cannot be made. */
static void make_mark(char mark[MARK_SIZE])
{
	char path[PATH_MAX];
	int fd;

	snprintf(mark, MARK_SIZE, ".gather-%ld-%llx", (long)getpid(), (unsigned long long)dprof_adapter_now());
	fd = path_of(path, mark) ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
	else
		*mark = '\0';
}

bool gather_begin(struct hosts *hosts)
{
	char mark[MARK_SIZE] = "", path[PATH_MAX], sends;
	bool any = false;

	if (hosts->n == 0 || !hosts->place[0].gathers || hosts->size > PIECE)
		return false;
	if (hosts->rank == 0)
		make_mark(mark);
	if (PMPI_Bcast(mark, MARK_SIZE, MPI_BYTE, 0, hosts->comm))
		*mark = '\0';
	if (!*mark)
		dprof_adapter_line("note", "DPROF_GATHER: rank 0 has no folder to which files could be brought, or may not "
				   "write there: nothing was");
	sends = *mark && dprof_adapter_recording() && path_of(path, mark) && access(path, F_OK) != 0;
	if (PMPI_Allgather(&sends, 1, MPI_BYTE, piece, 1, MPI_BYTE, hosts->comm))
		return false;
	if (hosts->rank == 0 && *mark && path_of(path, mark))
		unlink(path);
	for (int r = 0; r < hosts->size; r++)
		any |= hosts->place[r].sends = piece[r];
	return any;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static bool send_bytes(const struct hosts *hosts, const void *bytes, size_t n)
{
	return PMPI_Send(bytes, (int)n, MPI_BYTE, 0, TAG_GATHER, hosts->comm) == MPI_SUCCESS;
}

/* One that cannot be read is missing there, or cut: the process file says what should be. */
static void send_file(const struct hosts *hosts, const char *name)
{
	char path[PATH_MAX];
	int fd = path_of(path, name) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	ssize_t n;

	if (fd < 0)
		return;
	send_bytes(hosts, name, strlen(name));
	while ((n = read(fd, piece, PIECE)) > 0 && send_bytes(hosts, piece, (size_t)n))
		;
	send_bytes(hosts, piece, 0);
	close(fd);
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n > m && !strcmp(name + n - m, with);
}

static bool begins(const char *name, const char *with, const char *then)
{
	size_t n = strlen(with);

	return !strncmp(name, with, n) && name[n] && strchr(then, name[n]);
}

/* Of this rank; or, if it speaks for its host, of nobody else. */
static bool is_to_send(const char *name, bool speaks)
{
	char child[160], packets[160];

	snprintf(child, sizeof(child), "%s-p", dprof_adapter_host());
	snprintf(packets, sizeof(packets), "%s.sync", dprof_adapter_host());
	return begins(name, dprof_adapter_stem(), ".-") ||
	       (speaks && (ends(name, ".sites") || !strcmp(name, packets) || begins(name, child, "0123456789")));
}

static void send_files(const struct hosts *hosts, bool speaks)
{
	static const char *const kinds[] = { ".sites", ".sync", ".nursery", ".events", ".packed", ".process" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		DIR *d = opendir(dprof_adapter_directory());
		struct dirent *e;

		while (d && (e = readdir(d)))
			if (ends(e->d_name, kinds[i]) && is_to_send(e->d_name, speaks))
				send_file(hosts, e->d_name);
		if (d)
			closedir(d);
	}
	send_bytes(hosts, piece, 0);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* 0 and less: nothing more comes of that. */
static int receive_piece(const struct hosts *hosts, int rank)
{
	MPI_Status status;
	int n = 0;

	if (PMPI_Recv(piece, PIECE, MPI_BYTE, rank, TAG_GATHER, hosts->comm, &status) != MPI_SUCCESS ||
	    PMPI_Get_count(&status, MPI_BYTE, &n) != MPI_SUCCESS)
		return -1;
	return n;
}

static bool is_zero(const char *bytes, size_t n)
{
	return !n || (!*bytes && !memcmp(bytes, bytes + 1, n - 1));
}

/* 0 or an errno; zeros become holes. */
static int write_piece(int fd, uint64_t at, size_t n)
{
	for (size_t done = 0; done < n && !is_zero(piece + done, n - done);) {
		ssize_t put = pwrite(fd, piece + done, n - done, (off_t)(at + done));

		if (put < 0 && errno != EINTR)
			return errno;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/* Several hosts have the same copy of a section of sites: then ours has the same name. */
static int create(const char *name, int *error)
{
	char path[PATH_MAX];
	int fd = path_of(path, name) && *name != '.' && !strchr(name, '/')
			 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;

	*error = fd >= 0 || (errno == EEXIST && ends(name, ".sites")) ? 0 : errno;
	return fd;
}

/* 0 or an errno. Takes in all pieces, also of a file that cannot be written. */
static int receive_file(const struct hosts *hosts, int rank, const char *name)
{
	char path[PATH_MAX];
	uint64_t size = 0;
	int error, n, fd = create(name, &error);

	while ((n = receive_piece(hosts, rank)) > 0) {
		if (fd >= 0 && !error)
			error = write_piece(fd, size, (size_t)n);
		size += (uint64_t)n;
	}
	if (fd < 0)
		return error;
	if (!error && (n < 0 || ftruncate(fd, (off_t)size) < 0))
		error = n < 0 ? EIO : errno;
	if (close(fd) < 0 && !error)
		error = errno;
	if (error && path_of(path, name))
		unlink(path);
	return error;
}

static void receive_files(const struct hosts *hosts, int rank)
{
	char name[NAME_MAX + 1], first[NAME_MAX + 1] = "", text[NAME_MAX + 64];
	size_t failed = 0;
	int n, error, why = 0;

	if (PMPI_Send(piece, 0, MPI_BYTE, rank, TAG_GATHER, hosts->comm) != MPI_SUCCESS)
		return;
	while ((n = receive_piece(hosts, rank)) > 0) {
		snprintf(name, sizeof(name), "%.*s", n, piece);
		error = receive_file(hosts, rank, name);
		if (error && !failed++) {
			strcpy(first, name);
			why = error;
		}
	}
	if (!failed)
		return;
	snprintf(text, sizeof(text), failed > 1 ? "%.120s and %zu more" : "%.120s", first, failed - 1);
	note_failed(text, rank, hosts->place[rank].hostid, strerrordesc_np(why));
}

/* ---- All ------------------------------------------------------------------------------------- */

/* A limit on the size of files is not to kill the program. */
static void hold_signal(sigset_t *held, sigset_t *before)
{
	sigset_t pending;

	sigemptyset(held);
	sigpending(&pending);
	if (!sigismember(&pending, SIGXFSZ))
		sigaddset(held, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, held, before);
}

static void drop_signal(const sigset_t *held, const sigset_t *before)
{
	struct timespec now = { 0, 0 };

	if (sigismember(held, SIGXFSZ))
		while (sigtimedwait(held, NULL, &now) > 0)
			;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The first of its host's ranks that sends. */
static bool speaks_for_host(const struct hosts *hosts)
{
	for (int r = 0; r < hosts->rank; r++)
		if (hosts->place[r].sends && !strcmp(hosts->place[r].hostid, hosts->place[hosts->rank].hostid))
			return false;
	return true;
}

static void wait_for_turn(const struct hosts *hosts)
{
	MPI_Request turn;

	if (PMPI_Irecv(piece, 0, MPI_BYTE, 0, TAG_GATHER, hosts->comm, &turn) == MPI_SUCCESS)
		sleep_until(&turn);
}

void gather_files(const struct hosts *hosts)
{
	int saved_errno = errno;
	sigset_t held, before;

	hold_signal(&held, &before);
	dprof_adapter_line("note", "recording ended in MPI_Finalize, where files were brought to rank 0's folder "
				   "(DPROF_GATHER): what a program did later is not here");
	for (int r = 1; r < hosts->size && hosts->rank == 0; r++)
		if (hosts->place[r].sends)
			receive_files(hosts, r);
	dprof_adapter_end();
	if (hosts->place[hosts->rank].sends) {
		wait_for_turn(hosts);
		send_files(hosts, speaks_for_host(hosts));
	}
	all_sync(hosts);
	drop_signal(&held, &before);
	errno = saved_errno;
}

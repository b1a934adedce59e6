/* SPDX-License-Identifier: MIT
 *
 * peers.c - see peers.h. */
#include "analysis/driver/peers.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"

/* ---- Who started us -------------------------------------------------------------------------- */

/* What starters of jobs say to a process, in this order: which of how many it is, and of which MPI it may be. PMIx does not say
 * how many there are; Slurm, which speaks it, does. Where nothing does MPI knows. */
static const struct starter { const char *rank, *size, *mpi[2]; } starters[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", { "openmpi", NULL } },
	{ "PMI_RANK", "PMI_SIZE", { "mpich", "openmpi" } },
	{ "PMIX_RANK", "SLURM_STEP_NUM_TASKS", { "openmpi", "mpich" } },
};

static int number_of(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long n = text ? strtol(text, &end, 10) : -1;
	return text && end != text && !*end && n >= 0 && n <= INT32_MAX ? (int)n : -1;
}

/* NULL: none, or there is only one process. */
static const struct starter *started_by(void)
{
	for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
		if (number_of(starters[i].rank) >= 0)
			return number_of(starters[i].size) == 1 ? NULL : &starters[i];
	return NULL;
}

bool peers_are_started(void)
{
	bool any = false;
	for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
		any |= number_of(starters[i].rank) >= 0;
	return any;
}

int peers_rank(void)
{
	const struct starter *s = started_by();
	return s ? number_of(s->rank) : 0;
}

/* ---- The library ----------------------------------------------------------------------------- */

/* Beside the program's directory: ../lib/dprof/driver-MPI.so. NULL if the program does not know where it stands. */
static char *library_of(const char *mpi)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return NULL;
	self[n] = 0;
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
	}
	return mem_format("%s/lib/dprof/driver-%s.so", self, mpi);
}

static const struct peer_calls *load(const char *mpi, char **why)
{
	char *path = library_of(mpi);
	/* Libraries of MPI look for symbols of their own among all that is loaded. */
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	const struct peer_calls *calls = library ? dlsym(library, "dprof_peer_calls") : NULL;
	if (!calls && !*why)
		*why = mem_copy(path ? dlerror() : "/proc is not there");
	free(path);
	return calls;
}

bool peers_begin(struct peers *p, char **why)
{
	const struct starter *s = started_by();
	*p = (struct peers){ .size = 1 };
	*why = NULL;
	for (size_t i = 0; s && i < 2 && s->mpi[i] && !p->calls; i++)
		p->calls = load(s->mpi[i], why);
	if (s && !p->calls)
		return false;
	free(*why);
	*why = NULL;
	if (p->calls)
		p->calls->begin(&p->rank, &p->size);
	return true;
}

void peers_end(struct peers *p)
{
	if (p->calls)
		p->calls->end();
	p->calls = NULL;
}

/* ---- Pipes ----------------------------------------------------------------------------------- */

/* Each piece says first how long it is. */
static void send_piece(struct peer_pipe *p)
{
	uint64_t n = p->n;
	p->peers->calls->send(p->other, &n, sizeof n);
	p->peers->calls->send(p->other, p->buffer, p->n);
	p->n = 0;
}

static void receive_piece(struct peer_pipe *p)
{
	uint64_t n;
	p->peers->calls->receive(p->other, &n, sizeof n);
	p->peers->calls->receive(p->other, p->buffer, n);
	p->n = n;
	p->at = 0;
}

static void put(struct tr_pipe *pipe, void *bytes, size_t n)
{
	struct peer_pipe *p = (struct peer_pipe *)pipe;
	for (const unsigned char *from = bytes; n;) {
		if (p->n == PEER_BYTES)
			send_piece(p);
		size_t piece = PEER_BYTES - p->n < n ? PEER_BYTES - p->n : n;
		memcpy(p->buffer + p->n, from, piece);
		p->n += piece;
		from += piece;
		n -= piece;
	}
}

static void get(struct tr_pipe *pipe, void *bytes, size_t n)
{
	struct peer_pipe *p = (struct peer_pipe *)pipe;
	for (unsigned char *to = bytes; n;) {
		if (p->at == p->n)
			receive_piece(p);
		size_t piece = p->n - p->at < n ? p->n - p->at : n;
		memcpy(to, p->buffer + p->at, piece);
		p->at += piece;
		to += piece;
		n -= piece;
	}
}

void peer_send(struct peer_pipe *p, const struct peers *peers, int to)
{
	*p = (struct peer_pipe){ .pipe = { .sends = true, .bytes = put }, .peers = peers, .other = to,
				 .buffer = mem_resize(NULL, PEER_BYTES, 1) };
}

void peer_receive(struct peer_pipe *p, const struct peers *peers, int from)
{
	*p = (struct peer_pipe){ .pipe = { .bytes = get }, .peers = peers, .other = from,
				 .buffer = mem_resize(NULL, PEER_BYTES, 1) };
}

void peer_close(struct peer_pipe *p)
{
	if (p->pipe.sends && p->n)
		send_piece(p);
	free(p->buffer);
	p->buffer = NULL;
}

/* A tree: a process has it from the one that is without its own highest bit. */
void peers_broadcast(const struct peers *peers, peers_pass *pass, void *of)
{
	int bit = 1;
	struct peer_pipe p;
	for (; bit <= peers->rank; bit *= 2)
		;
	if (peers->rank) {
		peer_receive(&p, peers, peers->rank - bit / 2);
		pass(of, &p.pipe);
		peer_close(&p);
	}
	for (; peers->rank + bit < peers->size; bit *= 2) {
		peer_send(&p, peers, peers->rank + bit);
		pass(of, &p.pipe);
		peer_close(&p);
	}
}

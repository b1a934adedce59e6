/* SPDX-License-Identifier: MIT
 *
 * peers.h - the processes that mpirun has started as one job: what they tell each other.
 *
 *   environment --peers_rank()--> started alone, or as number so and so of a job
 *   dlopen(lib/dprof/driver-openmpi.so or -mpich.so) --struct peer_calls--> send, receive
 *
 * Only that library knows MPI, and it is loaded only where mpirun's environment says that there are several processes: so
 * dprof-analyze runs where there is no MPI. Its ABI is that of one MPI; the environment tells which.
 *
 * Law: what is received is what was sent, in order; and whoever waits sleeps: the cores are for those who work. A process
 * that dies, or ends with an error before peers_end(), takes the whole job along, as mpirun sees to: none waits for ever. */
#ifndef ANALYSIS_DRIVER_PEERS_H
#define ANALYSIS_DRIVER_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/pipe.h"

/* What the library has, under the name dprof_peer_calls. At most PEER_BYTES at once. */
#define PEER_BYTES ((size_t)1 << 20)
struct peer_calls {
	void (*begin)(int *rank, int *size);
	void (*send)(int to, const void *, size_t);
	void (*receive)(int from, void *, size_t);
	void (*end)(void);
};

struct peers {
	int rank, size;
	const struct peer_calls *calls; /* NULL: there is only this one */
};

/* Which process of its job this one is, as the environment says: 0 if it is alone, or the first. */
int peers_rank(void);

/* Whether the environment says that a job was started, of any number of processes. */
bool peers_are_started(void);

/* Loads the library, if there are several. False with *why, to be freed, if it cannot: then this is one of several that
 * know nothing of each other. */
bool peers_begin(struct peers *, char **why);

/* All must call it. */
void peers_end(struct peers *);

/* A pipe to another process, or from it. peer_close() ends it: what was put in is sent. */
struct peer_pipe {
	struct tr_pipe pipe;
	const struct peers *peers;
	int other;
	size_t n, at;            /* bytes at hand, and how many of them are used */
	unsigned char *buffer;
};
void peer_send(struct peer_pipe *, const struct peers *, int to);
void peer_receive(struct peer_pipe *, const struct peers *, int from);
void peer_close(struct peer_pipe *);

/* From the first process to all: it sends what the others take in, each with a `pass` of its own. */
typedef void peers_pass(void *of, struct tr_pipe *);
void peers_broadcast(const struct peers *, peers_pass *, void *of);

#endif

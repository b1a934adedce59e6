/* SPDX-License-Identifier: MIT
 *
 * hosts.h - the parts of measuring between hosts.
 *
 *   hosts.c       which ranks share a clock; begin and end
 *   sync_options.c  what the environment wants of it
 *   endpoint.c    this host's socket, its addresses, its log
 *   measure.c     bursts between endpoints, pair by pair
 *   background.c  a few packets now and then while the program runs
 *   gather.c      files of other disks, at the end
 *
 * The lowest rank of a host is its endpoint; the others only sleep until the endpoints are done: on
 * a full machine their spinning would delay the packets. */
#ifndef RUNTIME_MPI_ADAPTER_HOSTS_H
#define RUNTIME_MPI_ADAPTER_HOSTS_H

#include <mpi.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "freezer/exchange.h"
#include "freezer/synclog.h"
#include "freezer/topology.h"

#define HOSTID_SIZE 192

/* What each rank tells all others of where it runs. */
struct rank_place {
	char hostid[HOSTID_SIZE]; /* equal: same clock */
	char network[96];         /* equal: they communicate over loopback; "": not known */
	cpu_set_t cores;          /* that it may run on */
	bool gathers;             /* DPROF_GATHER; rank 0's counts: */
	bool sends;               /* its files are not in rank 0's folder */
};

struct hosts {
	MPI_Comm comm;            /* all ranks; ours alone, and errors return */
	int rank, size;
	struct rank_place *place; /* by rank */
	int n;
	int *endpoint_of;         /* by host: its lowest rank */
	int mine;
};

/* ---- What is wanted; rank 0's counts, and all ranks have it -----------------------------------*/

struct sync_options {
	uint8_t key[FRZ_KEY_SIZE];      /* of the job's packets */
	struct frz_topology topology;   /* DPROF_SYNC_TOPOLOGY */
	uint64_t interval_ns;           /* DPROF_SYNC_INTERVAL; 0: nothing while the program runs */
};
struct sync_options sync_options_read(void);

/* ---- This host's endpoint; nothing of it is open on other ranks -------------------------------*/

#define OFFERS 8

/* Where an endpoint can be asked; all empty: nowhere. */
struct offer { char address[OFFERS][FRZ_ADDRESS_SIZE]; };

struct own_endpoint {
	struct frz_endpoint endpoint;
	bool open;
	struct frz_synclog log;
	bool logging;
	struct offer offer;
};
extern struct own_endpoint own;

/* The address that DPROF_SYNC_BIND says. False where it says none, or cannot be understood, which is noted. */
bool endpoint_bind(char ip[INET_ADDRSTRLEN]);

void endpoint_open(const struct hosts *, const uint8_t key[FRZ_KEY_SIZE]);
void endpoint_open_log(const struct hosts *);
void endpoint_close(void);

/* ---- Measuring --------------------------------------------------------------------------------*/

/* Called by all ranks, in this order: plan, a burst "start", meanwhile, until all are here, a burst
 * "end", forget. */
void measure_plan(const struct hosts *, const struct sync_options *);
void measure_burst(const struct hosts *, const char *phase);
void measure_meanwhile(void);
void measure_until_all_are_here(const struct hosts *);
void measure_forget(void);

/* Sleeps until all ranks have come here; until a request is complete. */
void all_sync(const struct hosts *);
void sleep_until(MPI_Request *);

/* DPROF_GATHER, by all ranks: whether any has files that are not in rank 0's folder. Then, when recording has been stopped and
 * no log is open: brings them there. */
bool gather_begin(struct hosts *);
void gather_files(const struct hosts *);

/* One phase of an endpoint, from its begin to the line about it in the process file. */
struct sync_phase {
	const char *name;
	struct frz_counts before;
	uint64_t begun_ns;
};
struct sync_phase phase_begin(const char *name);
void phase_end(const struct sync_phase *, uint64_t cpu_ns);
uint64_t thread_cpu_ns(void);

/* Asks these peers, which must stay, and answers others, until background_end(). */
void background_begin(const struct frz_peer *, size_t npeers, uint64_t interval_ns);
void background_end(void);

#endif

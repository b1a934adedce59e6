/* SPDX-License-Identifier: MIT
 *
 * hosts.c - which ranks share a clock, and FreeZer's measuring between those that do not.
 *
 * Hosts are numbered by their lowest rank; that rank is the host's endpoint. Rank 0's endpoint
 * asks all others in turn, right after MPI_Init and right before MPI_Finalize. All this happens
 * on a communicator of our own, in which errors return. Ranks with nothing to do sleep: on a full
 * machine their spinning would delay the packets.
 *
 *   rank 0 (asker)        --turn-->  ask ... finish     --turn-->  ask ... finish     |
 *   endpoint of host 1      answer .................                                  | all meet
 *   endpoint of host 2    (sleeps)                        answer .................    |
 *   everybody else        (sleeps)                                                    | */
#include "runtime/openmpi/openmpi.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "freezer/clock.h"
#include "freezer/exchange.h"
#include "freezer/synclog.h"
#include "runtime/adapter.h"

#define HOSTID_SIZE    192
#define OFFERS         8
#define TAG_TURN       1
#define MS             1000000u
#define BURST_NS       (100 * MS) /* design: what a host may cost at start and at end */
#define PROBE_NS       (20 * MS)  /* for one of several addresses to prove that it is the one */
#define FINISH_NS      (20 * MS)
#define ANSWER_NS      (BURST_NS + FINISH_NS + OFFERS * PROBE_NS)
#define NAP_NS         (MS / 2)
#define AT_LEAST       200
#define AT_MOST        4000

/* What an endpoint tells rank 0. */
struct offer { char address[OFFERS][FRZ_ADDRESS_SIZE]; };

static MPI_Comm ours = MPI_COMM_NULL;
static int rank, size;
static int nhosts;
static int *endpoint_of;           /* by host: its lowest rank */
static char (*host_name)[HOSTID_SIZE]; /* by rank */
static int my_host;
static struct offer *offers;       /* on rank 0, by rank */
static struct frz_endpoint endpoint;
static bool endpoint_open;
static struct frz_synclog synclog;
static bool synclog_open;

/* ---- Who is where ---------------------------------------------------------------------------- */

/* Numbers the hosts by their lowest ranks. */
static void number_hosts(char (*ids)[HOSTID_SIZE])
{
	for (int r = 0; r < size; r++) {
		int h = 0;

		while (h < nhosts && strcmp(ids[endpoint_of[h]], ids[r]))
			h++;
		if (h == nhosts)
			endpoint_of[nhosts++] = r;
		if (r == rank)
			my_host = h;
	}
}

static bool learn_hosts(void)
{
	char mine[HOSTID_SIZE] = "", number[16];

	host_name = calloc((size_t)size, sizeof(*host_name));
	endpoint_of = calloc((size_t)size, sizeof(*endpoint_of));
	offers = calloc((size_t)size, sizeof(*offers));
	if (!host_name || !endpoint_of || !offers)
		return false;
	snprintf(mine, sizeof(mine), "%s", dprof_adapter_hostid());
	if (PMPI_Allgather(mine, HOSTID_SIZE, MPI_CHAR, host_name, HOSTID_SIZE, MPI_CHAR, ours))
		return false;
	number_hosts(host_name);
	snprintf(number, sizeof(number), "%d", my_host);
	dprof_adapter_line("clockid", number);
	return true;
}

static bool is_endpoint(void)
{
	return endpoint_of[my_host] == rank;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* The address that the user chose, or NULL: then all are offered. */
static const char *chosen_address(void)
{
	const char *text = secure_getenv("DPROF_SYNC_BIND");
	struct in_addr ignored;

	if (!text || !*text)
		return NULL;
	if (inet_pton(AF_INET, text, &ignored) == 1)
		return text;
	dprof_adapter_line("note", "DPROF_SYNC_BIND is no IPv4 address; took all of this host's");
	return NULL;
}

static bool is_usable(const struct ifaddrs *i, bool loopback)
{
	return i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP &&
	       !(i->ifa_flags & IFF_LOOPBACK) == !loopback;
}

/* All addresses but loopback's, which means somebody else on every host; unless there is no
 * other. */
static void offer_all(struct offer *o, uint16_t port)
{
	struct ifaddrs *all;
	int n = 0;

	if (getifaddrs(&all) < 0)
		return;
	for (int loopback = 0; loopback <= 1 && n == 0; loopback++)
		for (const struct ifaddrs *i = all; i && n < OFFERS; i = i->ifa_next) {
			const struct sockaddr_in *a = (const void *)i->ifa_addr;
			char ip[INET_ADDRSTRLEN];

			if (!is_usable(i, loopback))
				continue;
			inet_ntop(AF_INET, &a->sin_addr, ip, sizeof(ip));
			snprintf(o->address[n++], FRZ_ADDRESS_SIZE, "%s:%u", ip, port);
		}
	freeifaddrs(all);
}

static struct offer open_endpoint(const uint8_t key[FRZ_KEY_SIZE])
{
	const char *chosen = chosen_address();
	struct offer o = { 0 };

	endpoint_open = frz_open(&endpoint, chosen, (uint32_t)my_host, key) == 0;
	if (!endpoint_open)
		dprof_adapter_line("note", "no socket to measure this host's clock with");
	else if (chosen)
		snprintf(o.address[0], FRZ_ADDRESS_SIZE, "%s:%u", chosen, frz_port(&endpoint));
	else
		offer_all(&o, frz_port(&endpoint));
	return o;
}

static void open_synclog(void)
{
	char path[4096 + 128];
	const char *directory = dprof_adapter_directory();

	if (!dprof_adapter_recording())
		return;
	snprintf(path, sizeof(path), "%s/%s.sync", directory, dprof_adapter_host());
	synclog_open = frz_synclog_create(&synclog, path, (uint32_t)my_host,
					  dprof_adapter_hostid()) == 0;
	if (!synclog_open)
		dprof_adapter_line("note", "the packets between the hosts could not be stored");
}

static bool exchange_addresses(void)
{
	uint8_t key[FRZ_KEY_SIZE] = { 0 };
	struct offer mine = { 0 };

	if (rank == 0 && frz_make_key(key) < 0)
		dprof_adapter_line("note", "no random key: packets are not protected");
	if (PMPI_Bcast(key, sizeof(key), MPI_BYTE, 0, ours))
		return false;
	if (is_endpoint())
		mine = open_endpoint(key);
	if (rank == 0)
		open_synclog();
	return PMPI_Gather(&mine, sizeof(mine), MPI_BYTE, offers, sizeof(mine), MPI_BYTE, 0,
			   ours) == MPI_SUCCESS;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

static void sleep_until(MPI_Request *request)
{
	int done = 0;

	while (PMPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
		nap();
}

/* The one of a host's addresses that answers, or NULL. */
static const char *reachable(const struct offer *o, int host)
{
	struct frz_burst probe = { .deadline_ns = PROBE_NS, .at_least = 1, .at_most = 1 };

	if (!*o->address[1])
		return *o->address[0] ? o->address[0] : NULL;
	for (int i = 0; i < OFFERS && *o->address[i]; i++)
		if (frz_ask(&endpoint, o->address[i], (uint32_t)host, probe, NULL) > 0)
			return o->address[i];
	return NULL;
}

static void ask(int host, const char *when)
{
	struct frz_burst b = { .deadline_ns = BURST_NS, .at_least = AT_LEAST, .at_most = AT_MOST };
	const char *address = reachable(&offers[endpoint_of[host]], host);
	struct frz_synclog *log = synclog_open ? &synclog : NULL;
	char text[2 * HOSTID_SIZE];

	if (address && frz_ask(&endpoint, address, (uint32_t)host, b, log) > 0) {
		frz_finish(&endpoint, address, (uint32_t)host, FINISH_NS);
		return;
	}
	snprintf(text, sizeof(text), "host %s did not answer at the %s: no packets of then",
		 host_name[endpoint_of[host]], when);
	dprof_adapter_line("note", text);
}

static void take_turns(const char *when)
{
	for (int h = 1; h < nhosts; h++) {
		PMPI_Send(NULL, 0, MPI_BYTE, endpoint_of[h], TAG_TURN, ours);
		if (endpoint_open)
			ask(h, when);
	}
	if (synclog_open)
		frz_synclog_flush(&synclog);
}

static void wait_for_turn(void)
{
	MPI_Request turn;

	if (PMPI_Irecv(NULL, 0, MPI_BYTE, 0, TAG_TURN, ours, &turn) != MPI_SUCCESS)
		return;
	sleep_until(&turn);
	if (endpoint_open)
		frz_answer(&endpoint, NULL, ANSWER_NS);
}

static void measure(const char *when)
{
	MPI_Request all_here;

	if (rank == 0)
		take_turns(when);
	else if (is_endpoint())
		wait_for_turn();
	if (PMPI_Ibarrier(ours, &all_here) == MPI_SUCCESS)
		sleep_until(&all_here);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

bool hosts_start(void)
{
	int mine = dprof_adapter_recording(), any = 0;

	frz_source_found = FRZ_TSC; /* the clock of the records, whatever this host thinks of it */
	if (PMPI_Comm_dup(MPI_COMM_WORLD, &ours) != MPI_SUCCESS)
		return false;
	PMPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN);
	PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, ours);
	if (!any) {
		PMPI_Comm_free(&ours);
		return false;
	}
	PMPI_Comm_rank(ours, &rank);
	PMPI_Comm_size(ours, &size);
	dprof_adapter_rank(rank, size);
	if (!learn_hosts())
		nhosts = 0;
	if (nhosts > 1 && exchange_addresses())
		measure("start");
	else
		nhosts = 0;
	return true;
}

void hosts_stop(void)
{
	if (nhosts > 1)
		measure("end");
	if (endpoint_open)
		frz_close(&endpoint);
	if (synclog_open && frz_synclog_close(&synclog) < 0)
		dprof_adapter_line("note", "not all packets between the hosts could be stored");
	endpoint_open = synclog_open = false;
	free(host_name);
	free(endpoint_of);
	free(offers);
	PMPI_Comm_free(&ours);
}

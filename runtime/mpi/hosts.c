/* SPDX-License-Identifier: MIT
 *
 * hosts.c - which ranks share a clock; when FreeZer measures between those that do not.
 *
 * All ranks are those that are linked with the adapter (members.h), and numbered among themselves.
 * Hosts are numbered by their lowest rank; that rank is the host's endpoint. Endpoints exchange
 * packets right after MPI_Init, now and then while the program runs, and right before MPI_Finalize.
 * All messages of ours travel on a communicator of our own, in which errors return. */
#include "runtime/mpi/hosts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "freezer/clock.h"
#include "freezer/cores.h"
#include "runtime/adapter.h"
#include "runtime/mpi/adapter.h"
#include "runtime/mpi/members.h"

#define CORES_NS       2000000u  /* at most, to compare all cores of a host; */
#define CORES_AGAIN_NS 20000000u /* if that did not do, at the end; */
#define CORE_NS        100000u   /* and for each core so much more: one that is idle takes half */

static struct hosts hosts = { .comm = MPI_COMM_NULL };
static bool gathers;

/* ---- Who is where ---------------------------------------------------------------------------- */

static void read_line(char *to, size_t size, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[n < 0 ? 0 : n] = '\0';
	to[strcspn(to, "\n")] = '\0';
}

/* The boot of the machine and its network: a network namespace has a loopback of its own. */
static void name_network(char *to, size_t size)
{
	char boot[48];
	struct stat net;

	read_line(boot, sizeof(boot), "/proc/sys/kernel/random/boot_id");
	if (*boot && stat("/proc/self/ns/net", &net) == 0)
		snprintf(to, size, "%s/%llu", boot, (unsigned long long)net.st_ino);
}

static struct rank_place my_place(void)
{
	struct rank_place p = { .gathers = dprof_adapter_gathers() };

	snprintf(p.hostid, sizeof(p.hostid), "%s", dprof_adapter_hostid());
	name_network(p.network, sizeof(p.network));
	if (sched_getaffinity(0, sizeof(p.cores), &p.cores) < 0)
		CPU_ZERO(&p.cores);
	return p;
}

/* Numbers the hosts by their lowest ranks. */
static void number_hosts(void)
{
	for (int r = 0; r < hosts.size; r++) {
		int h = 0;

		while (h < hosts.n && strcmp(hosts.place[hosts.endpoint_of[h]].hostid,
					     hosts.place[r].hostid))
			h++;
		if (h == hosts.n)
			hosts.endpoint_of[hosts.n++] = r;
		if (r == hosts.rank)
			hosts.mine = h;
	}
}

static bool learn_hosts(void)
{
	struct rank_place mine = my_place();
	char number[16];

	hosts.place = calloc((size_t)hosts.size, sizeof(*hosts.place));
	hosts.endpoint_of = calloc((size_t)hosts.size, sizeof(*hosts.endpoint_of));
	if (!hosts.place || !hosts.endpoint_of)
		return false;
	if (PMPI_Allgather(&mine, sizeof(mine), MPI_BYTE, hosts.place, sizeof(mine), MPI_BYTE,
			   hosts.comm))
		return false;
	number_hosts();
	snprintf(number, sizeof(number), "%d", hosts.mine);
	dprof_adapter_line("clockid", number);
	return true;
}

/* ---- Cores ----------------------------------------------------------------------------------- */

static bool all_compared; /* the cores of this host */

static void tell_cores(const struct frz_cores *c)
{
	char text[128];

	snprintf(text, sizeof(text), c->disagree ? "halfwidth=%llu pairs=%zu disagree=%zu"
						 : "halfwidth=%llu pairs=%zu",
		 (unsigned long long)c->uncertainty, c->compared, c->disagree);
	dprof_adapter_fields("cores", text);
	if (c->disagree)
		dprof_adapter_line("note", "the cores of this host do not share a clock: no stamp "
				   "of it can be placed better than the line cores says");
	all_compared = c->compared + 1 >= c->n;
}

/* One rank of each host compares the cores on which any of its ranks may run, while the others
 * sleep. */
static void compare_cores(uint64_t within_ns)
{
	const char *here = hosts.place[hosts.rank].hostid;
	struct frz_cores cores;
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int r = 0; r < hosts.size; r++)
		if (!strcmp(hosts.place[r].hostid, here))
			CPU_OR(&set, &set, &hosts.place[r].cores);
	within_ns += CORE_NS * (uint64_t)CPU_COUNT(&set);
	if (frz_cores_compare(&cores, &set, within_ns) < 0)
		return;
	tell_cores(&cores);
	frz_cores_free(&cores);
}

static bool compares_cores(void)
{
	return hosts.n > 0 && hosts.endpoint_of[hosts.mine] == hosts.rank &&
	       dprof_adapter_recording();
}

/* A host that was too busy at the start may be idle now. */
static void compare_cores_again(void)
{
	if (!compares_cores() || all_compared)
		return;
	compare_cores(CORES_AGAIN_NS);
	if (!all_compared)
		dprof_adapter_line("note", "not all cores of this host could be compared: it is not "
				   "known whether they share a clock");
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static void measure_start(void)
{
	struct sync_options options = { 0 };

	if (hosts.rank == 0)
		options = sync_options_read();
	if (PMPI_Bcast(&options, sizeof(options), MPI_BYTE, 0, hosts.comm))
		return;
	measure_plan(&hosts, &options);
	measure_burst(&hosts, "start");
	measure_meanwhile();
}

/* On one host nothing is wanted of them; but what cannot be understood would not be with more hosts, either. */
static void say_wrong_options(void)
{
	char ip[INET_ADDRSTRLEN];

	sync_options_read();
	endpoint_bind(ip);
}

static void say_rank(void)
{
	int rank, size;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	dprof_adapter_rank(rank, size);
}

bool hosts_start(void)
{
	int mine = dprof_adapter_recording(), any = 0;

	frz_source_found = FRZ_TSC; /* the clock of the records, whatever this host thinks of it */
	hosts.comm = members_connect();
	if (hosts.comm == MPI_COMM_NULL)
		return false;
	PMPI_Comm_set_errhandler(hosts.comm, MPI_ERRORS_RETURN);
	PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, hosts.comm);
	if (!any) {
		PMPI_Comm_free(&hosts.comm);
		return false;
	}
	PMPI_Comm_rank(hosts.comm, &hosts.rank);
	PMPI_Comm_size(hosts.comm, &hosts.size);
	say_rank();
	if (!learn_hosts())
		hosts.n = 0;
	if (compares_cores())
		compare_cores(CORES_NS);
	all_sync(&hosts);
	if (hosts.n > 1)
		measure_start();
	else if (hosts.rank == 0)
		say_wrong_options();
	return true;
}

void hosts_sync(void)
{
	if (hosts.n > 1)
		measure_until_all_are_here(&hosts);
	else
		all_sync(&hosts);
}

bool hosts_gather(void)
{
	return gathers = gather_begin(&hosts);
}

void hosts_sync_last(void)
{
	if (hosts.n < 2)
		return;
	measure_burst(&hosts, "end");
	endpoint_close();
	measure_forget();
}

void hosts_stop(void)
{
	compare_cores_again();
	if (gathers)
		gather_files(&hosts);
	free(hosts.place);
	free(hosts.endpoint_of);
	PMPI_Comm_free(&hosts.comm);
}

/* SPDX-License-Identifier: MIT
 *
 * endpoint.c - this host's socket, the addresses that others reach it by, its log of packets.
 *
 * Law: the socket is bound to the address that the user chose if there is one, and to loopback if
 * all hosts of the job are names for one machine and network; else to all addresses. */
#include "runtime/mpi/hosts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/adapter.h"

struct own_endpoint own = { .endpoint.fd = -1, .log.fd = -1 };

/* ---- Addresses ------------------------------------------------------------------------------- */

static bool is_up(const struct ifaddrs *i)
{
	return i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP;
}

static struct in_addr address_of(const struct ifaddrs *i)
{
	return ((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
}

/* "10.1.0.0/16": whether `a` is in that network. */
static bool is_in(const char *network, struct in_addr a)
{
	char text[INET_ADDRSTRLEN];
	const char *slash = strchr(network, '/');
	struct in_addr n;
	long bits;
	char *end;

	if (!slash || slash - network >= (long)sizeof(text))
		return false;
	memcpy(text, network, (size_t)(slash - network));
	text[slash - network] = '\0';
	bits = strtol(slash + 1, &end, 10);
	if (end == slash + 1 || *end || bits < 1 || bits > 32 || inet_pton(AF_INET, text, &n) != 1)
		return false;
	return ((ntohl(n.s_addr) ^ ntohl(a.s_addr)) >> (32 - bits)) == 0;
}

/* The first of this host's addresses of which `wanted` is the interface or the network. */
static bool find_address(const char *wanted, char ip[INET_ADDRSTRLEN])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		struct in_addr a;

		if (!is_up(i))
			continue;
		a = address_of(i);
		found = (!strcmp(i->ifa_name, wanted) || is_in(wanted, a)) &&
			inet_ntop(AF_INET, &a, ip, INET_ADDRSTRLEN);
	}
	freeifaddrs(all);
	return found;
}

static bool on_one_machine(const struct hosts *hosts)
{
	for (int r = 0; r < hosts->size; r++)
		if (!*hosts->place[r].network ||
		    strcmp(hosts->place[r].network, hosts->place[0].network))
			return false;
	return true;
}

bool endpoint_bind(char ip[INET_ADDRSTRLEN])
{
	const char *wanted = secure_getenv("DPROF_SYNC_BIND");
	struct in_addr ignored;

	if (!wanted || !*wanted)
		return false;
	if (inet_pton(AF_INET, wanted, &ignored) == 1) {
		snprintf(ip, INET_ADDRSTRLEN, "%s", wanted);
		return true;
	}
	if (find_address(wanted, ip))
		return true;
	dprof_adapter_line("note", "DPROF_SYNC_BIND is not an IPv4 address, nor an interface "
			   "or network (like 10.1.0.0/16) of this host; took all addresses");
	return false;
}

/* False: all addresses. */
static bool choose_address(const struct hosts *hosts, char ip[INET_ADDRSTRLEN])
{
	if (endpoint_bind(ip))
		return true;
	if (on_one_machine(hosts)) {
		strcpy(ip, "127.0.0.1");
		return true;
	}
	return false;
}

/* All addresses but loopback's, which is another machine on every host; unless there is no
 * other. */
static void offer_all(uint16_t port)
{
	struct ifaddrs *all;
	int n = 0;

	if (getifaddrs(&all) < 0)
		return;
	for (unsigned wanted = 0; wanted <= IFF_LOOPBACK && n == 0; wanted += IFF_LOOPBACK)
		for (const struct ifaddrs *i = all; i && n < OFFERS; i = i->ifa_next) {
			char ip[INET_ADDRSTRLEN];
			struct in_addr a;

			if (!is_up(i) || (i->ifa_flags & IFF_LOOPBACK) != wanted)
				continue;
			a = address_of(i);
			inet_ntop(AF_INET, &a, ip, sizeof(ip));
			snprintf(own.offer.address[n++], FRZ_ADDRESS_SIZE, "%s:%u", ip, port);
		}
	freeifaddrs(all);
}

/* ---- Socket and log -------------------------------------------------------------------------- */

void endpoint_open(const struct hosts *hosts, const uint8_t key[FRZ_KEY_SIZE])
{
	char ip[INET_ADDRSTRLEN];
	bool one = choose_address(hosts, ip);

	own.open = frz_open(&own.endpoint, one ? ip : NULL, (uint32_t)hosts->mine, key) == 0;
	if (!own.open)
		dprof_adapter_line("note", "no socket to measure this host's clock with");
	else if (one)
		snprintf(own.offer.address[0], FRZ_ADDRESS_SIZE, "%s:%u", ip,
			 frz_port(&own.endpoint));
	else
		offer_all(frz_port(&own.endpoint));
}

/* That the log is there; and, when no more come, how many records it has. */
static void say_log(const uint64_t *records)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "%s.sync", dprof_adapter_host());

	if (records)
		snprintf(text + n, sizeof(text) - (size_t)n, " records=%llu",
			 (unsigned long long)*records);
	dprof_adapter_fields("sync", text);
}

void endpoint_open_log(const struct hosts *hosts)
{
	char path[4096 + 128];

	if (!dprof_adapter_recording())
		return;
	snprintf(path, sizeof(path), "%s/%s.sync", dprof_adapter_directory(),
		 dprof_adapter_host());
	own.logging = frz_synclog_create(&own.log, path, (uint32_t)hosts->mine,
					 dprof_adapter_hostid()) == 0;
	if (own.logging)
		say_log(NULL);
	else
		dprof_adapter_line("note", "the packets between the hosts could not be stored");
}

void endpoint_close(void)
{
	if (own.open)
		frz_close(&own.endpoint);
	if (own.logging && frz_synclog_flush(&own.log) < 0)
		dprof_adapter_line("note", "not all packets between the hosts could be stored");
	if (own.logging) {
		say_log(&own.log.stored);
		frz_synclog_close(&own.log);
	}
	own.open = own.logging = false;
}

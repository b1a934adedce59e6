/* SPDX-License-Identifier: MIT
 *
 * host_here.c - what there is to say of this host (host.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "freezer/cores.h"
#include "freezer/host.h"

static int read_boot(uint8_t boot[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[40] = "";
	unsigned n = 0, byte;

	if (!file)
		return -errno;
	if (fgets(text, sizeof text, file))
		for (const char *at = text; n < 16 && sscanf(at, "%2x", &byte) == 1; n++) {
			boot[n] = (uint8_t)byte;
			at += 2 + (at[2] == '-');
		}
	fclose(file);
	return n == 16 ? 0 : -EINVAL;
}

/* A core that this process may not use may be one on which the program runs. */
static int compare_cores(struct frz_host *host, uint64_t deadline_ns)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	struct frz_cores cores;
	cpu_set_t set;
	int error;

	if (sched_getaffinity(0, sizeof set, &set))
		return -errno;
	error = frz_cores_compare(&cores, &set, deadline_ns);
	if (error)
		return error;
	host->uncertainty = cores.uncertainty;
	host->compared = cores.compared + 1 == cores.n && (long)cores.n >= online;
	frz_cores_free(&cores);
	return 0;
}

int frz_host_here(struct frz_host *host, const char *name, uint64_t deadline_ns)
{
	*host = (struct frz_host){
		.source = (uint32_t)frz_source(), .compared = 1, .hz = (uint64_t)(frz_ghz() * 1e9 + 0.5),
	};
	if (name)
		strncpy(host->name, name, sizeof host->name - 1);
	else if (gethostname(host->name, sizeof host->name - 1))
		return -errno;
	int error = read_boot(host->boot);
	if (!error && frz_source() == FRZ_TSC)
		error = compare_cores(host, deadline_ns);
	return error;
}

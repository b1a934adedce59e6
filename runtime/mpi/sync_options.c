/* SPDX-License-Identifier: MIT
 *
 * sync_options.c - DPROF_SYNC_*: a value that cannot be understood counts as absent. settings.c has noted it. */
#include "runtime/mpi/hosts.h"

#include <stdlib.h>

#include "runtime/adapter.h"
#include "runtime/values.h"

struct sync_options sync_options_read(void)
{
	const char *interval = secure_getenv("DPROF_SYNC_INTERVAL");
	const char *topology = secure_getenv("DPROF_SYNC_TOPOLOGY");
	char words[VALUES_ROOM] = "";
	struct sync_options w = { .interval_ns = values_interval_ns(interval, words) };

	if (frz_make_key(w.key) < 0)
		dprof_adapter_line("note", "no random key: packets are not protected");
	if (topology && *topology && frz_topology_parse(topology, &w.topology) < 0)
		w.topology = (struct frz_topology){ .shape = FRZ_STAR };
	return w;
}

/* SPDX-License-Identifier: MIT
 *
 * sync_options.c - DPROF_SYNC_*: a value that cannot be understood counts as absent and leaves a note. */
#include "runtime/mpi/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/adapter.h"

#define MS           1000000u
#define INTERVAL_NS  (250 * MS) /* design: drift:10 then adds 1.25 us, a fraction of the packets */
#define SHORTEST_MS  5
#define LONGEST_MS   3600e3

/* "250", "250ms", "1.5s"; plain numbers are milliseconds. */
static bool parse_interval(const char *text, uint64_t *ns)
{
	char *end;
	double ms = strtod(text, &end);

	if (end == text)
		return false;
	if (strcmp(end, "s") == 0)
		ms *= 1000;
	else if (*end && strcmp(end, "ms") != 0)
		return false;
	if (ms != 0 && !(ms >= SHORTEST_MS && ms <= LONGEST_MS))
		return false;
	*ns = (uint64_t)(ms * MS);
	return true;
}

struct sync_options sync_options_read(void)
{
	const char *interval = secure_getenv("DPROF_SYNC_INTERVAL");
	const char *topology = secure_getenv("DPROF_SYNC_TOPOLOGY");
	struct sync_options w = { .interval_ns = INTERVAL_NS };

	if (frz_make_key(w.key) < 0)
		dprof_adapter_line("note", "no random key: packets are not protected");
	if (interval && *interval && !parse_interval(interval, &w.interval_ns))
		dprof_adapter_line("note", "DPROF_SYNC_INTERVAL is not 0 or a time from 5ms to "
				   "3600s (like 250ms, 1s); took 250ms");
	if (topology && *topology && frz_topology_parse(topology, &w.topology) < 0) {
		dprof_adapter_line("note", "DPROF_SYNC_TOPOLOGY is not star, tree:B (like tree:4) "
				   "or mesh; took star");
		w.topology = (struct frz_topology){ .shape = FRZ_STAR };
	}
	return w;
}

/* SPDX-License-Identifier: MIT
 *
 * otf2_sync.c - see otf2_private.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/otf2/otf2_private.h"

#define MOST_LEVELS 64 /* of the system tree, which may be a circle */

/* The host in the logs whose name a node has that the process is in, which is its node then; or SIZE_MAX, and the names
 * of all these nodes, to be freed. */
static size_t host_of(const struct otf2_trace *t, struct otf2_process *p, char **names)
{
	size_t node = ids_find(&t->node_ids, p->node), host = SIZE_MAX;
	*names = mem_copy("");
	for (size_t level = 0; level < MOST_LEVELS && node < t->nnodes && host == SIZE_MAX; level++) {
		const char *name = otf2_string(t, t->nodes[node].name);
		host = sync_logs_find(t->logs, name);
		if (host != SIZE_MAX)
			p->node = (OTF2_SystemTreeNodeRef)t->node_ids.id[node];
		char *more = mem_format("%s%s%s", *names, **names ? " in " : "", name);
		free(*names);
		*names = more;
		node = ids_find(&t->node_ids, t->nodes[node].parent);
	}
	return host;
}

static char *no_host(const struct otf2_trace *t, const struct otf2_process *p, const char *nodes)
{
	char *hosts = mem_copy("");
	for (size_t i = 0; i < t->logs->nhosts; i++) {
		char *more = mem_format("%s%s%s", hosts, *hosts ? ", " : "", t->logs->hosts[i].is.name);
		free(hosts);
		hosts = more;
	}
	char *wrong = mem_format("%s: expected process %s on a host that the logs of --sync have (%s), found it on %s "
				 "(freezer's --name calls a host otherwise)", t->path, otf2_string(t, p->name),
				 *hosts ? hosts : "none", *nodes ? nodes : "none that it names");
	free(hosts);
	return wrong;
}

/* Of one name, they may be two machines. */
static char *two_nodes(const struct otf2_trace *t, size_t process)
{
	const struct otf2_process *p = &t->processes[process];
	for (size_t q = 0; q < process; q++)
		if (t->processes[q].clock == p->clock && t->processes[q].placed && t->processes[q].node != p->node)
			return mem_format("%s: expected one node of the name of each host, found %s and %s on two of "
					  "one name: it is not known on which of them the log was made", t->path,
					  otf2_string(t, t->processes[q].name), otf2_string(t, p->name));
	return NULL;
}

/* Its place among those of the text. */
static size_t clock_place(struct otf2_trace *t, uint32_t clock)
{
	if (ids_add(&t->clock_ids, clock))
		*MEM_GROW(t->clocks, t->nclocks) = clock;
	return ids_find(&t->clock_ids, clock);
}

static bool has_threads(const struct otf2_trace *t, size_t process)
{
	for (size_t i = 0; i < t->nlocations; i++)
		if (t->locations[i].thread && t->locations[i].process == process)
			return true;
	return false;
}

static char *place_process(struct otf2_trace *t, size_t process)
{
	struct otf2_process *p = &t->processes[process];
	char *nodes, *wrong = NULL;
	size_t host = host_of(t, p, &nodes);
	if (host == SIZE_MAX)
		wrong = no_host(t, p, nodes);
	else if (!(wrong = sync_logs_refuse(t->logs, host, t->resolution))) {
		p->clock = clock_place(t, frz_log_clock((uint32_t)host, t->logs->of));
		p->placed = true;
		wrong = two_nodes(t, process);
	}
	free(nodes);
	return wrong;
}

/* Those of processes, and of the endpoints by which they are related. */
static bool relates(const struct otf2_trace *t, uint32_t clock)
{
	const struct sync_host *host = &t->logs->hosts[clock / FRZ_LOG_CLOCKS];
	bool relating = host->asks && clock % FRZ_LOG_CLOCKS == host->is.source;
	return relating || ids_find(&t->clock_ids, clock) != OTF2_NOWHERE;
}

char *otf2_place(struct otf2_trace *t)
{
	for (size_t p = 0; p < t->nprocesses; p++) {
		char *wrong = has_threads(t, p) ? place_process(t, p) : NULL;
		if (wrong)
			return wrong;
	}
	for (size_t i = 0; i < t->logs->nlinks; i++)
		if (relates(t, t->logs->links[i].from) && relates(t, t->logs->links[i].to)) {
			clock_place(t, t->logs->links[i].from);
			clock_place(t, t->logs->links[i].to);
		}
	char *wrong = NULL;
	for (size_t c = 0; c < t->nclocks && !wrong; c++)
		wrong = sync_logs_scattered(t->logs, t->clocks[c]);
	return wrong;
}

/* Stamps of a kernel's clock are the same on all cores. */
void otf2_write_log_clocks(const struct otf2_trace *t)
{
	for (size_t c = 0; c < t->nclocks; c++) {
		const struct frz_host *h = &t->logs->hosts[t->clocks[c] / FRZ_LOG_CLOCKS].is;
		enum frz_source source = (enum frz_source)(t->clocks[c] % FRZ_LOG_CLOCKS);
		const char *word = frz_source_word(source);
		fprintf(t->out, "clock %zu host=", c);
		ln_escaped(t->out, h->name);
		if (source != t->logs->of)
			fprintf(t->out, "'s%%20%s", word);
		fprintf(t->out, " ghz=%.17g source=%s halfwidth=%" PRIu64 "\n",
			(double)(source == t->logs->of ? t->resolution : source == FRZ_TSC ? h->hz : 1000000000) / 1e9, word,
			1 + (source == FRZ_TSC ? h->uncertainty : 0));
	}
}

void otf2_write_links(const struct otf2_trace *t)
{
	for (size_t i = 0; i < t->logs->nlinks; i++) {
		const struct frz_link *l = &t->logs->links[i];
		if (relates(t, l->from) && relates(t, l->to))
			fprintf(t->out, "link %zu %" PRIu64 " %zu %" PRIu64 "\n", ids_find(&t->clock_ids, l->from), l->sent,
				ids_find(&t->clock_ids, l->to), l->received);
	}
}

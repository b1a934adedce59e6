/* SPDX-License-Identifier: MIT
 *
 * measure.c - FreeZer's measuring between the endpoints, pair by pair.
 *
 * The topology says who asks whom, in which round. The two ends of a pair synchronise by a message
 * each way before they begin; so a round needs no barrier, and an endpoint that is late delays its own
 * peers only.
 *
 *   round         0                  1
 *   host 0   sync, ask .. finish | sync, ask .. finish |
 *   host 1   sync, answer ...... | (sleeps)            |  then all sync
 *   host 2   (sleeps)            | sync, answer ...... |
 *
 * Law: a pair costs at most ANSWER_NS from when both are there, whatever becomes of the packets; and
 * a host whose packets did not come is named in the trace. */
#include "runtime/mpi/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "freezer/clock.h"
#include "runtime/adapter.h"

#define TAG_OFFER 1
#define MS        1000000u
#define BURST_NS  (100 * MS) /* design: what a host may cost at start and at end */
#define PROBE_NS  (20 * MS)  /* for one of several addresses to prove that it is the one */
#define FINISH_NS (20 * MS)
#define ANSWER_NS (BURST_NS + FINISH_NS + OFFERS * PROBE_NS)
#define NAP_NS    (MS / 2)
#define AT_LEAST  200
#define AT_MOST   4000
#define TOO_FEW   20         /* exchanges, to be worth a note */

static struct frz_edge *edges; /* those of this host's endpoint, by round */
static size_t nedges;
static struct frz_peer *asked; /* for each edge, once it has answered */
static struct frz_peer *reached; /* those of them that have */
static size_t nreached;
static uint64_t interval_ns;

/* ---- Sleeping -------------------------------------------------------------------------------- */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

void sleep_until(MPI_Request *request)
{
	int done = 0;

	while (PMPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
		nap();
}

void all_sync(const struct hosts *hosts)
{
	MPI_Request all_here;

	if (PMPI_Ibarrier(hosts->comm, &all_here) == MPI_SUCCESS)
		sleep_until(&all_here);
}

/* ---- The line about a phase ------------------------------------------------------------------ */

struct sync_phase phase_begin(const char *name)
{
	return (struct sync_phase){ name, own.endpoint.counts, frz_monotonic_raw_ns() };
}

void phase_end(const struct sync_phase *p, uint64_t cpu_ns)
{
	const struct frz_counts *now = &own.endpoint.counts, *before = &p->before;
	char text[256];

	snprintf(text, sizeof(text),
		 "%s exchanges=%llu unanswered=%llu forged=%llu stale=%llu ns=%llu cpu_ns=%llu",
		 p->name, (unsigned long long)(now->exchanges - before->exchanges),
		 (unsigned long long)(now->unanswered - before->unanswered),
		 (unsigned long long)(now->forged - before->forged),
		 (unsigned long long)(now->stale - before->stale),
		 (unsigned long long)(frz_monotonic_raw_ns() - p->begun_ns),
		 (unsigned long long)cpu_ns);
	dprof_adapter_fields("packets", text);
	if (now->forged > before->forged)
		dprof_adapter_line("note", "packets without the job's key, or damaged, came to this "
				   "host and were dropped");
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

void measure_plan(const struct hosts *hosts, const struct sync_options *options)
{
	uint32_t mine = (uint32_t)hosts->mine;
	bool asks = false;
	size_t all, n = 0;

	interval_ns = options->interval_ns;
	if (hosts->endpoint_of[hosts->mine] != hosts->rank ||
	    frz_topology_edges(options->topology, (uint32_t)hosts->n, &edges, &all) < 0)
		return;
	for (size_t i = 0; i < all; i++)
		if (edges[i].asker == mine || edges[i].answerer == mine)
			edges[n++] = edges[i];
	nedges = n;
	for (size_t i = 0; i < nedges; i++)
		asks |= edges[i].asker == mine;
	asked = calloc(nedges, sizeof(*asked));
	if (!asked)
		nedges = 0;
	endpoint_open(hosts, options->key);
	if (asks && asked)
		endpoint_open_log(hosts);
}

void measure_forget(void)
{
	free(edges);
	free(asked);
	free(reached);
	edges = NULL;
	asked = reached = NULL;
	nedges = nreached = 0;
}

/* Both are here; what the other one offers. */
static bool exchange_offers(const struct hosts *hosts, uint32_t other, struct offer *theirs)
{
	int rank = hosts->endpoint_of[other];
	MPI_Request in, out;

	if (PMPI_Irecv(theirs, sizeof(*theirs), MPI_BYTE, rank, TAG_OFFER, hosts->comm, &in))
		return false;
	if (PMPI_Isend(&own.offer, sizeof(own.offer), MPI_BYTE, rank, TAG_OFFER, hosts->comm, &out))
		return false;
	sleep_until(&in);
	sleep_until(&out);
	return true;
}

/* The one of a host's addresses that answers, or NULL. */
static const char *reachable(const struct offer *o, uint32_t host)
{
	struct frz_burst probe = { .deadline_ns = PROBE_NS, .at_least = 1, .at_most = 1 };

	if (!*o->address[1])
		return *o->address[0] ? o->address[0] : NULL;
	for (int i = 0; i < OFFERS && *o->address[i]; i++)
		if (frz_ask(&own.endpoint, o->address[i], host, probe, NULL) > 0)
			return o->address[i];
	return NULL;
}

static void note_peer(const struct hosts *hosts, uint32_t host, int answers, const char *phase)
{
	const char *name = hosts->place[hosts->endpoint_of[host]].hostid;
	char text[2 * HOSTID_SIZE];

	if (answers > 0)
		snprintf(text, sizeof(text), "host %s answered only %d times at the %s", name,
			 answers, phase);
	else
		snprintf(text, sizeof(text),
			 "host %s did not answer at the %s: no packets of then", name, phase);
	dprof_adapter_line("note", text);
}

static void ask(const struct hosts *hosts, struct frz_peer *peer, uint32_t host,
		const struct offer *theirs, const char *phase)
{
	struct frz_burst b = { .deadline_ns = BURST_NS, .at_least = AT_LEAST, .at_most = AT_MOST };
	const char *address = *peer->address ? peer->address : reachable(theirs, host);
	struct frz_synclog *log = own.logging ? &own.log : NULL;
	int answers = address ? frz_ask(&own.endpoint, address, host, b, log) : 0;

	if (answers < TOO_FEW)
		note_peer(hosts, host, answers, phase);
	if (answers <= 0)
		return;
	frz_finish(&own.endpoint, address, host, FINISH_NS);
	if (address != peer->address)
		snprintf(peer->address, sizeof(peer->address), "%s", address);
	peer->clock = host;
	peer->log = log;
}

static void measure_pair(const struct hosts *hosts, size_t edge, const char *phase)
{
	const struct frz_edge *e = &edges[edge];
	bool asks = e->asker == (uint32_t)hosts->mine;
	uint32_t other = asks ? e->answerer : e->asker;
	struct offer theirs = { 0 };

	if (!exchange_offers(hosts, other, &theirs) || !own.open)
		return;
	if (asks)
		ask(hosts, &asked[edge], other, &theirs, phase);
	else if (*theirs.address[0])
		frz_answer(&own.endpoint, NULL, ANSWER_NS);
}

/* ---- All of them ----------------------------------------------------------------------------- */

void measure_burst(const struct hosts *hosts, const char *phase)
{
	struct sync_phase p = phase_begin(phase);
	uint64_t cpu_ns = thread_cpu_ns();

	for (size_t i = 0; i < nedges; i++)
		measure_pair(hosts, i, phase);
	if (own.open)
		phase_end(&p, thread_cpu_ns() - cpu_ns);
	all_sync(hosts);
}

/* Peers that did not answer at the start are not asked before the end. */
void measure_meanwhile(void)
{
	if (!own.open || !interval_ns)
		return;
	reached = calloc(nedges, sizeof(*reached));
	if (!reached)
		return;
	for (size_t i = 0; i < nedges; i++)
		if (*asked[i].address)
			reached[nreached++] = asked[i];
	background_begin(reached, nreached, interval_ns);
}

void measure_until_all_are_here(const struct hosts *hosts)
{
	all_sync(hosts);
	background_end();
}

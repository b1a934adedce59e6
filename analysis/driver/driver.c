/* SPDX-License-Identifier: MIT
 *
 * driver.c - see driver.h. */
#include "analysis/driver/driver.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/pool.h"
#include "analysis/base/shown.h"
#include "analysis/driver/peers.h"
#include "analysis/driver/together.h"

static struct peers peers = { .size = 1 };

/* What rank 0 wants of the others. */
struct order {
	bool ends;               /* with this status; or a trace is to be opened: */
	int status;
	bool elsewhere;
	size_t jobs;
	char *directory;
};

static void move_order(void *of, struct tr_pipe *p)
{
	struct order *order = of;
	order->ends = pipe_value(p, order->ends);
	order->status = (int)pipe_value(p, (uint64_t)order->status);
	order->elsewhere = pipe_value(p, order->elsewhere);
	order->jobs = pipe_value(p, order->jobs);
	pipe_string(p, &order->directory);
}

bool driver_is_in_job(void)
{
	return peers_are_started();
}

static void speak_as_rank(void)
{
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	char *name = mem_format("rank %d on %s", peers.rank, host);
	shown_speak_as(name);
	free(name);
}

bool driver_begin(void)
{
	char *why;
	if (peers_begin(&peers, &why)) {
		if (peers.rank)
			speak_as_rank();
		return true;
	}
	if (peers_rank() == 0)
		shown_complain("mpirun has started several processes, but this one works alone: %s", why);
	free(why);
	return peers_rank() == 0;
}

bool driver_leads(void)
{
	return peers.rank == 0;
}

int driver_serve(void)
{
	for (;;) {
		struct order order = { 0 };
		char *error;
		peers_broadcast(&peers, move_order, &order);
		if (order.ends) {
			free(order.directory);
			return order.status;
		}
		together_open(&peers, order.directory, order.elsewhere, order.jobs, &error);
		free(order.directory);
	}
}

struct trace *driver_open(const char *directory, bool elsewhere, size_t jobs, char **error)
{
	if (peers.size == 1) {
		pool_set_jobs(jobs);
		return trace_open(directory, error);
	}
	struct order order = { .elsewhere = elsewhere, .jobs = jobs, .directory = (char *)directory };
	peers_broadcast(&peers, move_order, &order);
	return together_open(&peers, directory, elsewhere, jobs, error);
}

int driver_end(int status)
{
	if (peers.size > 1 && driver_leads())
		peers_broadcast(&peers, move_order, &(struct order){ .ends = true, .status = status });
	peers_end(&peers);
	return status;
}
